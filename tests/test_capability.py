"""What an architecture's code runs on."""

import pytest

from pytest_roofline.capability import lacking, runs_on


@pytest.mark.parametrize(
    ("wanted", "here", "runs"),
    [
        ("sm_90", (9, 0), True),
        ("sm_90", (10, 0), True),
        ("sm_90", (8, 9), False),
        ("sm_90a", (9, 0), True),
        ("sm_90a", (10, 0), False),
        ("sm_100a", (10, 0), True),
        ("sm_80", (8, 6), True),
    ],
)
def test_architecture_specific_code_runs_on_that_architecture_alone(wanted, here, runs):
    """Plain code runs on all later GPUs as well."""
    assert runs_on(wanted, here) is runs
    assert (lacking(wanted, here) == "") is runs


def test_the_reason_names_both_sides():
    """What is needed, and what is here."""
    assert lacking("sm_90a", (8, 0)) == "needs a GPU of sm_90a, and this one is sm_80"
    assert lacking("sm_90a", None) == "needs a GPU of sm_90a: its instructions have no model on a CPU"
    assert lacking("", None) == lacking("", (8, 0)) == ""


@pytest.mark.parametrize("name", ["90a", "sm_9", "sm_90b", "compute_90"])
def test_other_names_are_refused(name):
    """A misspelt architecture would skip cases for ever."""
    with pytest.raises(ValueError, match="no architecture such as sm_90"):
        runs_on(name, (9, 0))
