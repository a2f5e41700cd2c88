"""The command as a whole: exit codes, and what it needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pytest_roofline
from pytest_roofline.runs import save
from tests.absent_gpu import alike
from tests.runs.made import made_run

BLOCKED = """
import sys
for name in ("torch", "triton", "cupy", "pynvml", {more}):
    sys.modules[name] = None
from pytest_roofline.cli import main
sys.argv[1:] = {arguments!r}
main()
"""


def blocked(*arguments, more=""):
    """Run the command in a process in which no GPU library can be imported."""
    script = BLOCKED.format(arguments=[str(x) for x in arguments], more=more)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def test_everything_works_without_a_gpu_library(tmp_path):
    """Reports, comparisons, baselines and devices on files of another machine."""
    path = save(made_run({"copy/cuda/a/f32/8": 20e-6}), tmp_path / "run.json")
    folder = tmp_path / "baselines"
    assert blocked("baseline", "promote", path, "--baselines", folder).returncode == 0
    for arguments in (
        ("report", path),
        ("report", path, "--format=markdown"),
        ("export", path),
        ("compare", folder / "h200", path),
        ("baseline", "verify", "--baselines", folder),
        ("devices", "show", "h200"),
    ):
        done = blocked(*arguments)
        assert (done.returncode, done.stderr) == (0, ""), arguments


def test_the_plugin_needs_no_extra(project):
    """A run is timed, reported and saved without any package of the command, the history or the HTML report."""
    pytester = project()
    blocked = "import sys\nfor name in ('typer', 'rich', 'duckdb', 'fsspec', 'ruptures', 'jinja2', 'matplotlib'):\n"
    pytester.makeconftest(f"{blocked}    sys.modules[name] = None\n{alike(50e-6)}")
    arguments = ("--benchmark-only", "--roofline-ceilings=off", "--roofline-save=run.json")
    found = pytester.runpytest_subprocess(*arguments)
    assert found.ret == 0
    found.stdout.fnmatch_lines(["1 cases timed: 1 new", "roofline: saved this run in *run.json"])


def test_a_missing_package_is_named_with_its_extra():
    """Without typer nothing works, without DuckDB only the history does not."""
    done = blocked("--help", more="'typer'")
    assert (done.returncode, done.stdout) == (4, "")
    assert "pip install 'pytest-roofline[cli]'" in done.stderr
    done = blocked("history", "list", more="'duckdb'")
    assert done.returncode == 4
    assert "duckdb is not installed: pip install 'pytest-roofline[history]'" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [["bogus"], ["report"], ["compare", "a"], ["report", "x", "--format=pdf"], ["history", "list", "-n", "0"]],
)
def test_usage_errors_end_with_4_as_in_pytest(command, arguments):
    """Not with click's own 2."""
    assert command(*arguments).code == 4


def test_the_version_is_that_of_the_plugin(command):
    """And help is no error."""
    assert command("--version").out == f"pytest-roofline {pytest_roofline.__version__}\n"
    ended = command("--help")
    assert ended.code == 0
    assert "baseline" in ended.out


def test_a_file_that_is_not_there_is_said_on_standard_error(command, tmp_path):
    """One line, no traceback, exit code 4."""
    ended = command("report", tmp_path / "none.json")
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.startswith("pytest-roofline: ")
    assert ended.err.count("\n") == 1


def test_what_cannot_be_written_is_named_without_a_number(command, tmp_path):
    """The file that was asked for, and why not."""
    run = save(made_run({"copy/cuda/a/f32/8": 20e-6}), tmp_path / "run.json")
    (tmp_path / "file").write_text("kept")
    ended = command("export", run, "-o", tmp_path / "file" / "x.csv")
    assert (ended.code, ended.out) == (4, "")
    assert f"{tmp_path / 'file'} cannot be used: " in ended.err
    assert "Errno" not in ended.err
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize(
    ("arguments", "code"), [("report -v {run}", 0), ("export {run}", 0), ("compare {old} {run}", 1)]
)
def test_a_reader_that_leaves_early_changes_no_exit_code(tmp_path, arguments, code):
    """``pytest-roofline compare A B | head -1`` is no error of its own and hides none."""
    cases = {f"copy/cuda/v{k}/f32/8": 20e-6 for k in range(1000)}
    run = save(made_run(cases), tmp_path / "run.json")
    old = save(made_run({**cases, "copy/cuda/v0/f32/8": 1e-6}), tmp_path / "old.json")
    words = f"{sys.executable} -m pytest_roofline.cli {arguments.format(run=run, old=old)}"
    script = f"{words} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, "")
    assert len(done.stdout.splitlines()) == 1


def test_an_interrupt_while_it_starts_ends_quietly():
    """Ctrl-C while the libraries are imported: 130 as of any interrupted program, and no traceback."""
    script = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'pytest_roofline.cli.app':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from pytest_roofline.cli import main\n"
        "main()\n"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (130, "")


def test_without_a_standard_output_nothing_breaks(tmp_path):
    """``>&-``: what is written to a file is written all the same."""
    save(made_run({"copy/cuda/a/f32/8": 1e-5}), tmp_path / "run.json")
    command = f"{sys.executable} -m pytest_roofline.cli report run.json -o report.txt >&-"
    ended = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "copy" in (tmp_path / "report.txt").read_text()
