"""Run files: what is written is read again, and what cannot be read is named."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_roofline.runs import JOURNAL, Journal, RunFileError, read, render, save
from tests.runs.made import made_case, made_run

CASE = "copy/cuda/plain/f32/4097"


def test_what_is_written_is_read_again(tmp_path):
    """Every field comes back equal, tuples as tuples, and nothing but the file is left in the folder."""
    run = made_run({CASE: 50e-6, "copy/triton/plain/f32/4097": 60e-6})
    path = save(run, tmp_path / "below" / "run.json")
    assert read(path) == run
    assert [p.name for p in path.parent.iterdir()] == ["run.json"]


def test_a_line_is_a_case():
    """So that a diff of two files shows which cases changed."""
    lines = render(made_run({CASE: 50e-6})).splitlines()
    assert sum(CASE in line for line in lines) == 1


def test_numbers_that_json_has_not_are_refused():
    """NaN would make a file that other readers cannot read."""
    run = made_run({CASE: 50e-6})
    broken = replace(run, cases=(replace(run.cases[0], fraction=float("nan")),))
    with pytest.raises(ValueError, match="not JSON compliant"):
        render(broken)


def test_fields_of_a_newer_version_are_ignored(tmp_path):
    """An addition does not need a new schema."""
    data = json.loads(render(made_run({CASE: 50e-6})))
    data["cases"][0]["added_later"] = 1
    (tmp_path / "run.json").write_text(json.dumps(data))
    assert read(tmp_path / "run.json") == made_run({CASE: 50e-6})


def bracket(data):
    """The bracket of the first case, as JSON."""
    return data["cases"][0]["times"]["bracket"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda d: d.update(schema=99), "schema 99 is not 1: another version"),
        (lambda d: d.pop("format"), "it has no format; --roofline-save=PATH writes one"),
        (lambda d: (d.pop("format"), d.update(benchmarks=[])), "it is pytest-benchmark's own"),
        (lambda d: d.pop("started"), r"run\.started is missing"),
        (lambda d: d.update(kind="guessed"), "neither 'timed' nor 'counted'"),
        (lambda d: d["cases"][0].update(fraction="half"), r"run\.cases\[0\]\.fraction must be a finite number"),
        (lambda d: d["cases"][0]["times"].update(seconds=-1.0), "-1.0 is no time"),
        (lambda d: bracket(d).update(launch_floor=-1.0), f"{CASE}: a launch floor of -1.0 s is no time"),
        (lambda d: bracket(d).update(launch_floor=float("nan")), r"bracket\.launch_floor must be a finite number"),
        (lambda d: d["cases"][0].update(id="../etc"), "bad case id"),
        (lambda d: d["cases"].append(d["cases"][0]), "stands in it twice"),
        (lambda d: bracket(d).update(count=True), r"bracket\.count must be a finite integer"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(tmp_path, edit, message):
    """The file, the place in it, and what is wrong there."""
    data = json.loads(render(made_run({CASE: 50e-6})))
    edit(data)
    path = tmp_path / "run.json"
    path.write_text(json.dumps(data))
    with pytest.raises(RunFileError, match=message) as caught:
        read(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["", "  \n", '{"format": "pytest-roofl', "[" * 100_000, "\xff"])
def test_what_is_no_json_says_so(tmp_path, text):
    """Empty, cut off, nested without end, not even text: never a traceback."""
    path = tmp_path / "run.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(RunFileError, match=r"run\.json"):
        read(path)


def test_what_is_no_file_is_said_in_words(tmp_path):
    """Neither with the number that the system gives an error, nor with a place in bytes."""
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    for name, message in (
        ("missing.json", "missing.json cannot be read: No such file or directory$"),
        ("", "is a folder: name a run file in it$"),
        ("binary.json", "binary.json is no run file: it is no text$"),
    ):
        with pytest.raises(RunFileError, match=message):
            read(tmp_path / name)


def test_a_journal_is_a_run_that_did_not_end(tmp_path):
    """Everything finished before the process died is there; the line that was cut off is not."""
    run = replace(made_run({}), ended=None)
    journal = Journal(tmp_path / ("run" + JOURNAL), run)
    journal.add(made_case(CASE, 50e-6))
    journal.add(made_case("copy/cuda/plain/f32/8", 2e-6))
    journal.add(made_case(CASE, 51e-6))
    with journal.path.open("a") as file:
        file.write('{"id": "copy/cuda/plain/f32/16", "dims": [1')
    found = read(journal.path)
    assert found.ended is None
    assert {case.id: case.seconds for case in found.cases} == {
        CASE: made_case(CASE, 51e-6).seconds,
        "copy/cuda/plain/f32/8": made_case("copy/cuda/plain/f32/8", 2e-6).seconds,
    }
    journal.discard()
    assert not journal.path.exists()


def test_a_journal_damaged_in_the_middle_is_refused(tmp_path):
    """Only its last line can have been cut off by the end of the process."""
    journal = Journal(tmp_path / ("run" + JOURNAL), made_run({}))
    journal.path.write_text(journal.path.read_text() + "{\n" + "{}\n")
    with pytest.raises(RunFileError):
        read(journal.path)


def test_a_peer_is_compared_on_the_same_problem():
    """Above 1 is faster than the fastest library routine; a library routine has none itself."""
    peer = made_case("copy/torch/copy/f32/4097", 40e-6, peer=True)
    other = made_case("copy/torch/copy/f32/8", 1e-6, peer=True)
    run = replace(made_run({CASE: 50e-6}), cases=(made_case(CASE, 50e-6), peer, other))
    assert run.peer_ratio(run.case(CASE)) == pytest.approx(0.8)
    assert run.peer_ratio(peer) is None
    assert made_run({CASE: 50e-6}).peer_ratio(made_case(CASE, 50e-6)) is None
