"""The digest of what ran: the same for the same machine code, another for another launch."""

from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

from pytest_roofline import evidence
from pytest_roofline.timing import code


def test_a_digest_depends_on_code_and_launch(monkeypatch):
    """Order, code and configuration count, and so do the numbers that a kernel is given, in a part of their own."""
    monkeypatch.setattr(code, "nodes", lambda graph: 2)
    graph = object()
    a, b = code.Launch("aa (1, 1, 1) (256, 1, 1) 0", "[1000, 20]"), code.Launch("bb (1, 1, 1) (256, 1, 1) 0", "[1000]")
    first = code.of([a, b], graph)
    assert first == code.of([a, b], graph)
    assert (
        first.partition(".")[0] != code.of([a._replace(code="aa (2, 1, 1) (256, 1, 1) 0"), b], graph).partition(".")[0]
    )
    assert first.partition(".")[0] != code.of([b, a], graph).partition(".")[0]
    other = code.of([a._replace(numbers="[1000, 400]"), b], graph)
    assert first != other
    assert first.partition(".")[0] == other.partition(".")[0]


@pytest.mark.parametrize(("launches", "nodes"), [([], 0), (["aa"], 2), (["aa"], None)])
def test_what_is_not_fully_known_has_no_digest(monkeypatch, launches, nodes):
    """A library routine or a memset beside the kernels, or a driver that cannot be asked."""
    monkeypatch.setattr(code, "nodes", lambda graph: nodes)
    assert code.of(launches, object()) is None


def test_launches_are_recorded_only_meanwhile(monkeypatch):
    """The kernel is launched as always; outside the body nothing is noted."""
    from pytest_roofline.driver import LoadedKernel

    launched = []
    monkeypatch.setattr(LoadedKernel, "launch", lambda self, *arguments: launched.append(arguments))
    monkeypatch.setattr(code, "_digests_of", lambda image: (f"digest of {image}", "constants"))
    kernel = LoadedKernel.__new__(LoadedKernel)
    kernel.image, kernel.numbers = "k.cubin", (False, True, True)
    with code.recording() as found:
        kernel.launch((2, 1, 1), (64, 1, 1), [0x7F00, 1000, 0.5], 16, 0)
    kernel.launch((3, 1, 1), (64, 1, 1), [0x7F00, 1000, 0.5], 0, 0)
    assert found == [("digest of k.cubin (2, 1, 1) (64, 1, 1) 16", "constants [1000, 0.5]")]
    assert len(launched) == 2


def test_triton_launches_are_recorded(monkeypatch):
    """Triton asks a kernel for its metadata in front of every launch."""
    compiler = pytest.importorskip("triton.compiler.compiler")
    monkeypatch.setattr(compiler.CompiledKernel, "launch_metadata", lambda self, grid, stream, *arguments: "as before")
    kernel = compiler.CompiledKernel.__new__(compiler.CompiledKernel)
    kernel.__dict__.update(asm={"cubin": b"no elf"}, metadata=SimpleNamespace(shared=8, num_warps=4))
    with code.recording() as found:
        assert kernel.launch_metadata((7, 1, 1), 0, object(), 1000, "") == "as before"
    assert found == [(f"{code.digest(b'no elf')} (7, 1, 1) 4 8", " [1000]")]


SCALE = """// SPACE
__constant__ int passes[2] = {PASSES, PASSES};
extern "C" __global__ void scale(float* x, float factor) {
    for (int i = 0; i < passes[blockIdx.x % 2]; ++i) x[threadIdx.x] *= FACTOR;
}
"""


def cubin_of(path, **words):
    """``SCALE`` with these words replaced; a skip where no compiler is."""
    from pytest_roofline.counting.compiled import cuda

    text = SCALE
    for word, meaning in {"SPACE": "", "PASSES": "20", "FACTOR": "factor", **words}.items():
        text = text.replace(word, meaning)
    path.write_text(text)
    try:
        return cuda.compile_kernel(path, text, "scale", ("-lineinfo",), "sm_90", "").binary
    except cuda.CompilerMissing as reason:
        pytest.skip(str(reason))


def test_only_what_runs_counts(tmp_path):
    """Comments, names of files and line numbers do not, even with line tables in the cubin; the arithmetic does."""
    once = cubin_of(tmp_path / "a.cu")
    moved = cubin_of(tmp_path / "b.cu", SPACE="\n\n")
    other = cubin_of(tmp_path / "c.cu", FACTOR="factor * factor")
    assert once != moved
    assert code.digest(once) == code.digest(moved)
    assert code.digest(once) != code.digest(other)


def test_constants_count_as_numbers(tmp_path):
    """A table that a kernel reads how much it has to do from leaves its code as it is, and its time does not."""
    few, many = cubin_of(tmp_path / "a.cu"), cubin_of(tmp_path / "b.cu", PASSES="400")
    assert code.digest(few) == code.digest(many)
    assert code.digest_of_data(few) != code.digest_of_data(many)
    assert code.digest_of_data(few) == code.digest_of_data(cubin_of(tmp_path / "c.cu", SPACE="\n"))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("aa.11", "aa.11", True),
        ("aa.11", "aa.22", False),
        ("aa.11", "bb.11", False),
        ("aa", "aa.11", True),
        ("aa", "bb", False),
    ],
)
def test_digests_agree_in_what_both_tell(one, other, same):
    """One that was stored before numbers counted has none to differ in."""
    assert evidence.same_code(one, other) is same
    assert evidence.same_code(other, one) is same
