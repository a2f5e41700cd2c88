"""``--roofline-save`` and ``roofline_save``: what makes no sense is a usage error."""

from __future__ import annotations

import pytest

USAGE = 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--roofline-save=run.json"], "*--roofline-save stores a benchmark run: it needs --benchmark-only*"),
        (["--benchmark-only", "--roofline-save="], "*--roofline-save needs the path of a .json file or of a folder*"),
        (["--benchmark-only", "--roofline-save=folder.json"], "*folder.json is a folder: name a file, or a folder*"),
        (["--benchmark-only", "--roofline-save=tox.ini/run.json"], "*nothing can be written into *tox.ini: *"),
        (["--benchmark-only", "--roofline-save=tox.ini"], "*tox.ini is a file: give it the ending .json*"),
    ],
)
def test_a_place_that_makes_no_sense_is_refused(project, arguments, message):
    """Before anything runs, with exit code 4."""
    pytester = project()
    (pytester.path / "folder.json").mkdir()
    found = pytester.runpytest("--roofline-on=cpu", *arguments)
    assert found.ret == USAGE
    found.stderr.fnmatch_lines([message])
