"""The wheel, its metadata and the files around it: constraints, the README's commands, the workflows."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import sysconfig
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import pytest_roofline

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "pytest_roofline"
IMPORT_NAMES = {"nvidia-ml-py": "pynvml", "cupy-cuda12x": "cupy", "cupy-cuda13x": "cupy"}
HEAVY = ("torch", "triton", "cupy")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> metadata.Distribution:
    """The wheel built from the source tree or, where the tests run without one, the wheel that is installed."""
    if not SOURCE.exists():
        return metadata.distribution("pytest-roofline")
    pytest.importorskip("hatchling", reason="building the wheel needs hatchling, which the extra `dev` installs")
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    archive = zipfile.ZipFile(next(folder.glob("*.whl")))
    info = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA")).split("/")[0]
    return metadata.PathDistribution(zipfile.Path(archive, f"{info}/"))  # type: ignore[arg-type]


def names(wheel: metadata.Distribution) -> set[str]:
    """What a wheel brings, without the byte code that an installer adds."""
    return {path.as_posix() for path in wheel.files or () if "__pycache__" not in path.parts}


def test_the_wheel_holds_only_the_plugin(wheel: metadata.Distribution) -> None:
    """Neither suite/, kernels_*/ nor tests/ lands in a user's site-packages."""
    # Installed, it also lists the command, which lies outside site-packages: ../../../bin/pytest-roofline.
    top = {name.split("/")[0] for name in names(wheel) if not name.endswith("bin/pytest-roofline")}
    assert top == {"pytest_roofline", f"pytest_roofline-{wheel.version}.dist-info"}


@pytest.mark.skipif(not SOURCE.exists(), reason="there is no source tree to compare the wheel with")
def test_the_wheel_lacks_no_file_of_the_package(wheel: metadata.Distribution) -> None:
    """An ignore rule or a build setting cannot drop a module or a data file."""
    tree = {
        path.relative_to(ROOT).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names(wheel) if name.startswith("pytest_roofline/")} == tree


def test_the_wheel_carries_data_types_and_licence(wheel: metadata.Distribution) -> None:
    """CUDA sources, device records, the report's page, typing marker and licence are installed with the code."""
    inside = names(wheel)
    assert "pytest_roofline/py.typed" in inside
    assert {".cu", ".json", ".j2", ".css", ".js"} <= {Path(name).suffix for name in inside}
    assert f"pytest_roofline-{wheel.version}.dist-info/licenses/LICENSE" in inside


def test_the_version_is_the_same_everywhere(wheel: metadata.Distribution) -> None:
    """`pytest_roofline.__version__` is the version of the distribution."""
    assert wheel.version == pytest_roofline.__version__


def test_the_entry_point_is_named_like_its_module(wheel: metadata.Distribution) -> None:
    """Under any other name, pytest refuses to load the plugin a second time by `-p` or `pytest_plugins`."""
    points = [point for point in wheel.entry_points if point.group == "pytest11"]
    assert [(point.name, point.value) for point in points] == [("pytest_roofline.plugin",) * 2]


def test_every_import_of_the_package_is_declared(wheel: metadata.Distribution) -> None:
    """What the package imports, at once or late, is the standard library, a dependency or in an extra."""
    declared = {IMPORT_NAMES.get(r.name, r.name.replace("-", "_")) for r in map(Requirement, wheel.requires or ())}
    imported: dict[str, str] = {}
    for path in Path(pytest_roofline.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported.update({alias.name.split(".")[0]: path.name for alias in node.names})
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported[node.module.split(".")[0]] = path.name
    known = declared | {"pytest_roofline", "_pytest"} | sys.stdlib_module_names  # _pytest comes with pytest
    assert {name: where for name, where in imported.items() if name not in known} == {}


@pytest.mark.parametrize("module", ["pytest_roofline", "pytest_roofline.plugin", "pytest_roofline.contract"])
def test_importing_loads_no_gpu_library(module: str) -> None:
    """A project that only has the plugin installed pays for neither torch, triton nor cupy."""
    code = f"import sys, {module}; print(*sorted(set({HEAVY}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_tests_run_against_the_tree_or_else_the_installed_wheel() -> None:
    """With a source tree the tests see that tree; in a copy without one they see site-packages, nothing between."""
    expected = ROOT if SOURCE.exists() else Path(sysconfig.get_path("purelib"))
    assert Path(pytest_roofline.__file__).resolve().parent.parent == expected.resolve()


def pins(name: str) -> list[str]:
    """The lines of a constraints file, without comments."""
    lines = (ROOT / "constraints" / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize("name", ["ci.txt", "ci-triton36.txt", "oldest.txt"])
def test_constraints_are_exact(name: str) -> None:
    """Every constraint names one version, so that the same commit gets the same packages on every day."""
    specifiers = [[s.operator for s in Requirement(line).specifier] for line in pins(name)]
    assert specifiers == [["=="]] * len(specifiers)


def test_the_two_constraint_sets_differ_only_in_triton() -> None:
    """A difference between the two CI runs can only come from Triton."""
    differing = set(pins("ci.txt")) ^ set(pins("ci-triton36.txt"))
    assert {Requirement(line).name for line in differing} == {"triton"}
    assert len(differing) == 2


def test_the_oldest_set_is_the_lower_bound_of_every_dependency(wheel: metadata.Distribution) -> None:
    """A lower bound is not raised or lowered without CI trying exactly that release series."""
    lowest = {Requirement(line).name: next(iter(Requirement(line).specifier)).version for line in pins("oldest.txt")}
    plain = [r for r in map(Requirement, wheel.requires or ()) if r.marker is None]
    bounds = {r.name: s.version for r in plain for s in r.specifier if s.operator == ">="}
    assert bounds == {name: ".".join(lowest[name].split(".")[:2]) for name in bounds}


def test_constraints_pin_every_requirement(wheel: metadata.Distribution) -> None:
    """No package that `.[dev]` names directly floats in CI."""
    pinned = {Requirement(line).name for line in pins("ci.txt")}
    required = [Requirement(text) for text in wheel.requires or ()]
    wanted = {r.name for r in required if r.marker is None or r.marker.evaluate({"extra": "dev"})}
    assert wanted - pinned == set()


def test_ci_runs_the_commands_of_the_readme() -> None:
    """The set-up and the test command that the README gives are the ones that .ci/run executes."""
    script = [line.strip() for line in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"```sh\n(pip install[^\n]*) && (pytest -n auto)\n```", readme)
    assert block is not None, "README.md shows no block `pip install ... && pytest -n auto`"
    for command in block.groups():
        assert command in script


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_permissions_least(path: Path) -> None:
    """An action is a full commit hash with its release beside it; a workflow may read the contents, nothing more."""
    text = path.read_text(encoding="utf-8")
    uses = re.findall(r"uses: (.*)", text)
    assert uses
    assert [line for line in uses if not re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line)] == []
    assert "\npermissions:\n  contents: read\n\n" in text
    assert not re.search(r"permissions: *write-all|: write\b", text)


def test_ci_covers_the_python_versions_that_are_declared(wheel: metadata.Distribution) -> None:
    """The classifiers promise what the workflow tries, no more and no less."""
    classifiers = "\n".join(wheel.metadata.get_all("Classifier") or ())
    declared = re.findall(r"Python :: (3\.\d+)$", classifiers, re.MULTILINE)
    matrix = re.search(r"python: \[(.*)\]", (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    assert matrix is not None
    assert declared == re.findall(r"3\.\d+", matrix[1])
