"""What evaluates recorded rounds: intervals, packing, and retests whose processes are rounds."""

import math

import pytest

pytest.importorskip("numpy")

from benchmarks.retests import calibration, retest, undecided
from benchmarks.rounds_data import NEW, OLD, SLOWED, Round, load, main, packed
from benchmarks.screens import campaigns, slowed
from benchmarks.shares import Share, count_limit, interval
from benchmarks.stored_alone import smallest_found, verdict_of
from benchmarks.verdict_rounds import CASE, ROUNDS, affordable, append, drawn, schedule
from pytest_roofline.statistics import alarm, middle
from pytest_roofline.statistics.paired import Outcome
from pytest_roofline.verdict import Kind

LONG = 100e-6


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(0, 10, 0.0, 0.3085), (10, 10, 0.6915, 1.0), (5, 10, 0.1871, 0.8129), (99, 100, 0.9455, 0.9997)],
)
def test_the_interval_of_a_share(hits, of, low, high):
    """Clopper and Pearson's, as tables have it."""
    assert interval(hits, of) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


@pytest.mark.parametrize(("count", "limit"), [(0, 2.9957), (1, 4.7439), (10, 16.9622)])
def test_what_a_count_limits(count, limit):
    """One-sided 95 % limits of a Poisson mean, as tables have them."""
    assert count_limit(count) == pytest.approx(limit, abs=1e-3)


def test_a_share_says_how_sure_it_is():
    """Hits, trials and the interval in percent."""
    share = Share()
    for hit in (True, False, True, True):
        share.add(hit)
    assert str(share) == "3 of 4 = 75.0 % (19.4 to 99.4)"
    assert str(Share()) == "none"


def case_line(noise, planted=0.01, seconds=LONG):
    """What a round records of a case: blocks in which old, new and slowed differ by exactly ``noise`` and more."""
    old = [seconds * (1 + 1e-3 * (k % 3)) for k in range(20)]
    new = [s * math.exp(noise) for s in old]
    slowed = [s * (1 + planted) for s in new]
    return {
        "case": "copy/cuda/scalar/f32/1",
        "planted": planted,
        "samples": [old, new, slowed],
        "clocks_mhz": [1970.0] * 3,
        "reasons": [],
        "code": "c",
        "wall": {"blocks": 0.02},
        "seconds": seconds,
    }


def write(folder, differences, start="aaaaaaaa.bbbbbbbb"):
    """A file of rounds with these differences between old and new."""
    for number, noise in enumerate(differences):
        head = {"environment": {"max_sm_clock_mhz": 1980}, "floor": 5e-7, "turn": 0, "partial": False}
        append(folder / f"{start}.jsonl.gz", {"round": str(number)} | head)
        append(folder / f"{start}.jsonl.gz", {"round": str(number)} | case_line(noise))


@pytest.mark.parametrize("pack", [False, True])
def test_rounds_come_back_as_they_were_recorded(tmp_path, pack):
    """Packed samples are exact to 1e-5, and so is the number of a process."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "packed").mkdir()
    write(tmp_path / "raw", [0.002, -0.001])
    main(tmp_path / "raw", tmp_path / "packed")
    ((name, rounds),) = load(tmp_path / ("packed" if pack else "raw")).items()
    assert name == "aaaaaaaa.bbbbbbbb"
    assert [one.number("copy/cuda/scalar/f32/1", 0.0) for one in rounds] == pytest.approx([0.002, -0.001], abs=2e-5)
    slowed = [one.number("copy/cuda/scalar/f32/1", 0.01) for one in rounds]
    assert slowed == pytest.approx([0.002 + math.log(1.01), -0.001 + math.log(1.01)], abs=2e-5)
    assert rounds[0].number("copy/cuda/scalar/f32/1", 0.05) is None
    assert rounds[0].number("copy/cuda/scalar/f32/2", 0.0) is None


def test_a_file_that_was_cut_off_ends_there(tmp_path):
    """What came before the cut counts."""
    write(tmp_path, [0.0, 0.0])
    path = next(tmp_path.iterdir())
    path.write_bytes(path.read_bytes()[:-40])
    ((_, rounds),) = load(tmp_path).items()
    assert [len(one.cases) for one in rounds] == [1, 0]


def test_packing_keeps_what_a_comparison_needs():
    """Samples as whole numbers, and no stop watch."""
    line = packed(case_line(0.0))
    assert all(isinstance(s, int) for s in line["samples"][NEW])
    assert {"wall", "seconds"}.isdisjoint(line)
    assert packed({"failed": "x"}) == {"failed": "x"}


def rounds_of(differences, tmp_path):
    write(tmp_path, differences)
    return load(tmp_path)


@pytest.mark.parametrize(
    ("differences", "planted", "outcome"),
    [
        ([0.0002, -0.0002] * 2, 0.0, Outcome.SAME),
        ([0.0002, -0.0002] * 2, 0.01, Outcome.SLOWER),
        ([0.004, -0.004] * 2, 0.01, Outcome.UNDECIDED),
        ([0.0002, -0.0002], 0.01, None),
    ],
)
def test_rounds_are_the_processes_of_a_retest(tmp_path, differences, planted, outcome):
    """Four make a look; fewer decide nothing."""
    starts = rounds_of(differences, tmp_path)
    (chain,) = starts.values()
    decision = retest(chain, "copy/cuda/scalar/f32/1", planted, calibration([chain]))
    assert (decision and decision.outcome) == outcome


@pytest.mark.parametrize(("noise", "left"), [(0.0002, []), (0.004, ["copy/cuda/scalar/f32/1"])])
def test_what_is_undecided_goes_on(tmp_path, noise, left):
    """As a retest would."""
    assert undecided(rounds_of([noise, -noise] * 2, tmp_path), 0, {}) == left


@pytest.mark.parametrize(
    ("clock", "highest", "reasons", "limited"),
    [(1970.0, 1980, ["SwPowerCap"], False), (1700.0, 1980, [], True), (None, 1980, ["SwPowerCap"], True)],
)
def test_the_clock_tells_who_is_power_limited(clock, highest, reasons, limited):
    """The driver's reason stands in where the clock is not known."""
    line = case_line(0.0) | {"clocks_mhz": [clock] * 3, "reasons": reasons}
    one = Round("a.b", "1", {"max_sm_clock_mhz": highest}, 5e-7, cases={line["case"]: line})
    assert one.limited(line["case"]) == limited
    assert (OLD, NEW, SLOWED) == (0, 1, 2)


def test_a_noisy_process_of_few_blocks_calibrates_nothing(tmp_path):
    """A retest would have gone on: what it differs by is no measure of a retest."""
    write(tmp_path, [1e-4, -1e-4, 2e-4, -2e-4])
    (rounds,) = load(tmp_path).values()
    case = "copy/cuda/scalar/f32/1"
    assert all(one.precise(case) for one in rounds)
    assert len(calibration([rounds]).pairs[case]) == 4
    samples = rounds[0].cases[case]["samples"]
    samples[NEW] = samples[NEW] * ([1.005, 1.005, 0.995, 0.995] * 5)
    assert not rounds[0].precise(case)
    assert len(calibration([rounds]).pairs[case]) == 3


def test_cases_are_drawn_in_the_same_order_at_every_start():
    """Whatever order they are found in."""
    names = [f"copy/cuda/scalar/f32/{k}" for k in range(50)]
    assert drawn(names) == drawn(reversed(names)) != names
    assert sorted(drawn(names)) == sorted(names)


def test_no_more_cases_are_begun_with_than_can_be_carried_to_the_end():
    """The rounds after the first look are paid for beforehand."""
    assert affordable(ROUNDS) == affordable(0.0) == 0
    assert affordable(ROUNDS + 100 * CASE + 0.01) == 100


def test_a_recording_goes_on_with_the_undecided_alone(tmp_path):
    """Four rounds over all cases; then those whose retest is open, up to sixteen; then the time is over."""
    seconds = iter([ROUNDS + 25 * CASE, 50.0, 30.0, ROUNDS])
    names = ["copy/cuda/scalar/f32/1", *(f"copy/cuda/scalar/f32/{k}" for k in range(2, 40))]
    plan = schedule(tmp_path, {}, names, lambda: next(seconds))
    told = [next(plan) for _ in range(4)]
    assert all(message == {"turn": 0, "only": names[: len(message["only"])], "partial": False} for message in told)
    write(tmp_path, [0.004, -0.004, 0.004, -0.004])  # nothing can be said of that
    told = list(plan)
    assert {message["only"][0] for message in told} == {names[0]}
    assert all(message["partial"] and len(message["only"]) == 1 for message in told)
    assert len(told) == 12


@pytest.mark.parametrize("changed", [1, 400])
def test_the_smallest_slowdown_that_is_found_is_the_verdicts(tmp_path, changed):
    """A little more is called a regression, a little less is not."""
    write(tmp_path, [1e-3, -1e-3, 2e-3, 0.0, 1e-3])
    write(tmp_path, [0.0, 1e-3, -1e-3], start="cccccccc.dddddddd")
    starts, case = load(tmp_path), "copy/cuda/scalar/f32/1"
    name = "aaaaaaaa.bbbbbbbb"
    stored, one = campaigns(starts, name), starts[name][0]
    moved, chain = (stored.moved(one),) * 2, [found.summary(case) for found in starts[name]]
    smallest = smallest_found(stored, one, case, chain, moved, alarm(changed))
    assert 0.01 < smallest < 0.2
    for factor, found in ((1.001, True), (0.999, False)):
        runs = [slowed(run, factor * smallest) for run in chain]
        kind = verdict_of(stored, one, case, runs, moved, alarm(changed))
        assert (kind is Kind.REGRESSION) == found


def test_a_campaign_of_several_processes_is_their_median(tmp_path):
    """One that is far off does not count."""
    write(tmp_path, [0.0])
    write(tmp_path, [0.0, 0.5, 1e-3], start="cccccccc.dddddddd")
    starts, case = load(tmp_path), "copy/cuda/scalar/f32/1"
    (run,) = campaigns(starts, "aaaaaaaa.bbbbbbbb").runs[case].values()
    assert run == middle([found.summary(case) for found in starts["cccccccc.dddddddd"]])
    assert run.seconds == pytest.approx(LONG, rel=5e-3)
