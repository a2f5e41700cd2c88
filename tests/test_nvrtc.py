"""CUDA C++ is compiled once, under our own options, and errors show the compiler's words."""

import sys
import types

import pytest

from pytest_roofline import nvrtc
from pytest_roofline.counting.cuda_cpu import include_directory


class CompilerError(Exception):
    """NVRTC's error."""


@pytest.fixture
def compiler(monkeypatch, tmp_path):
    """An NVRTC that records what it is asked for."""
    calls = []

    def compile_program(program, arguments):
        calls.append((program, arguments))
        if "broken" in program["text"]:
            raise CompilerError

    fake = types.SimpleNamespace(
        NVRTCError=CompilerError,
        getVersion=lambda: (13, 0),
        createProgram=lambda text, name, headers, names: {"text": text, "file": name},
        addNameExpression=lambda program, name: program.update(name=name),
        compileProgram=compile_program,
        getProgramLog=lambda program: f"{program['file']}(1): error: broken",
        getCUBIN=lambda program: b"cubin of " + program["name"].encode(),
        getLoweredName=lambda program, name: f"_Z{name}",
        destroyProgram=lambda program: None,
    )
    cuda = types.ModuleType("cupy.cuda")
    cuda.nvrtc = fake
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    monkeypatch.setattr(nvrtc, "include_folders", lambda: (tmp_path / "headers",))
    monkeypatch.setenv("PYTEST_ROOFLINE_CACHE", str(tmp_path / "cache"))
    return calls


def build(tmp_path, text="text", name="add<float>", options=(), arch="sm_90", fingerprint=""):
    """Compile a kernel of k.cu."""
    return nvrtc.compile_kernel(tmp_path / "k.cu", text, name, options, arch, fingerprint)


def test_a_kernel_is_compiled_for_the_device_without_flushing_subnormals(compiler, tmp_path):
    """The options are nvcc's defaults, the device's machine code and what the source asks for."""
    built = build(tmp_path, options=("-DN=3",))
    assert built.path.read_bytes() == b"cubin of add<float>"
    assert built.symbol == "_Zadd<float>"
    ((_, arguments),) = compiler
    assert arguments[:3] == ["--gpu-architecture=sm_90", "-std=c++17", "-DN=3"]
    assert {f"-I{tmp_path}", f"-I{include_directory()}"} <= set(arguments)
    assert not any("ftz" in argument for argument in arguments)


def test_the_same_kernel_is_not_compiled_again(compiler, tmp_path):
    """A second process finds the cubin of the first."""
    assert build(tmp_path) == build(tmp_path)
    assert len(compiler) == 1


def test_the_same_files_in_another_folder_are_not_compiled_again(compiler, tmp_path):
    """A revision that was exported to be compared with lies elsewhere each time."""
    first = build(tmp_path / "tree")
    assert build(tmp_path / "export") == first
    assert len(compiler) == 1


@pytest.mark.parametrize(
    "change", [{"text": "t"}, {"name": "add<int>"}, {"options": ("-DN",)}, {"arch": "sm_80"}, {"fingerprint": "h"}]
)
def test_whatever_matters_makes_another_cubin(compiler, tmp_path, change):
    """Text, instance, options, architecture and headers are all part of the key."""
    assert build(tmp_path).path != build(tmp_path, **change).path
    assert len(compiler) == 2


def test_an_error_names_the_file_and_shows_the_log(compiler, tmp_path):
    """The compiler's own words are in the message, and nothing is kept."""
    with pytest.raises(
        nvrtc.CudaCompileError, match=r"(?s)k\.cu: add<float> does not compile:\nk\.cu\(1\): error: broken"
    ):
        build(tmp_path, text="broken")
    assert not list((tmp_path / "cache").rglob("*.cubin"))
