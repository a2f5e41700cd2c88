"""The digest of what ran: the same for the same machine code, another for another launch."""

from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

from pytest_roofline.timing import code


def test_a_digest_depends_on_code_and_launch(monkeypatch):
    """Order, code and configuration count."""
    monkeypatch.setattr(code, "nodes", lambda graph: 2)
    graph = object()
    first = code.of(["aa (1, 1, 1) (256, 1, 1) 0", "bb (1, 1, 1) (256, 1, 1) 0"], graph)
    assert first == code.of(["aa (1, 1, 1) (256, 1, 1) 0", "bb (1, 1, 1) (256, 1, 1) 0"], graph)
    assert first != code.of(["aa (2, 1, 1) (256, 1, 1) 0", "bb (1, 1, 1) (256, 1, 1) 0"], graph)
    assert first != code.of(["bb (1, 1, 1) (256, 1, 1) 0", "aa (1, 1, 1) (256, 1, 1) 0"], graph)


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
    monkeypatch.setattr(code, "_digest_of", lambda image: f"digest of {image}")
    kernel = LoadedKernel.__new__(LoadedKernel)
    kernel.image = "k.cubin"
    with code.recording() as found:
        kernel.launch((2, 1, 1), (64, 1, 1), [], 16, 0)
    kernel.launch((3, 1, 1), (64, 1, 1), [], 0, 0)
    assert found == ["digest of k.cubin (2, 1, 1) (64, 1, 1) 16"]
    assert len(launched) == 2


def test_triton_launches_are_recorded(monkeypatch):
    """Triton asks a kernel for its metadata in front of every launch."""
    compiler = pytest.importorskip("triton.compiler.compiler")
    monkeypatch.setattr(compiler.CompiledKernel, "launch_metadata", lambda self, grid, stream, *arguments: "as before")
    kernel = compiler.CompiledKernel.__new__(compiler.CompiledKernel)
    kernel.__dict__.update(asm={"cubin": b"no elf"}, metadata=SimpleNamespace(shared=8, num_warps=4))
    with code.recording() as found:
        assert kernel.launch_metadata((7, 1, 1), 0, "x") == "as before"
    assert found == [f"{code.digest(b'no elf')} (7, 1, 1) 4 8"]


SCALE = """// SPACE
extern "C" __global__ void scale(float* x, float factor) { x[threadIdx.x] *= FACTOR; }
"""


def test_only_what_runs_counts(tmp_path):
    """Comments, names of files and line numbers do not, even with line tables in the cubin; the arithmetic does."""
    from pytest_roofline.counting.compiled import cuda

    def cubin(name, text):
        path = tmp_path / name
        path.write_text(text)
        try:
            return cuda.compile_kernel(path, text, "scale", ("-lineinfo",), "sm_90", "").binary
        except cuda.CompilerMissing as reason:
            pytest.skip(str(reason))

    once = cubin("a.cu", SCALE.replace("FACTOR", "factor"))
    moved = cubin("b.cu", SCALE.replace("FACTOR", "factor").replace("SPACE", "\n\n"))
    other = cubin("c.cu", SCALE.replace("FACTOR", "factor * factor"))
    assert once != moved
    assert code.digest(once) == code.digest(moved)
    assert code.digest(once) != code.digest(other)
