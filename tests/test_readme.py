"""What the README shows is what happens."""

import importlib.util
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
FILES = dict(
    re.findall(r"^`([\w/.]+)`\n\n```\w+\n(.*?)^```$", README.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
)


@pytest.fixture
def own(pytester, imported_once, monkeypatch):
    """The project of the section on own kernels, file by file."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("Triton is not installed")
    for name, content in FILES.items():
        path = pytester.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p pytest_roofline.plugin --roofline-on=cpu --roofline-profile=ci")
    return pytester


def test_the_own_project_is_complete():
    """Its five files are found in the text."""
    assert set(FILES) == {"operations/scale.py", "mykernels.py", "scale.cu", "test_kernels.py", "pyproject.toml"}


def test_the_own_project_passes(own):
    """Copied as it stands, with the plugin alone."""
    result = own.runpytest_subprocess("--correctness-only", "-rs")
    result.assert_outcomes(passed=6, deselected=4)


def test_the_planted_bug_is_told_as_shown(own):
    """One comparison changed gives the lines that the README prints."""
    source = own.path / "scale.cu"
    source.write_text(source.read_text().replace("if (i < n)", "if (i <= n)"))
    result = own.runpytest_subprocess("--correctness-only", "-k", "drawn and cuda", "-rs")
    if result.parseoutcomes().get("skipped"):
        pytest.skip(result.stdout.str().splitlines()[-2])
    shown = re.search(r"^scale/cuda/plain/f32/1 with .*?^reproduce: .*?$", README.read_text(), re.DOTALL | re.MULTILINE)
    assert shown is not None
    assert shown.group() in result.stdout.str()
