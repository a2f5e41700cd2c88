"""The comparison admits what is right and nothing else."""

import pytest

torch = pytest.importorskip("torch")

from pytest_roofline.checking.compare import compare  # noqa: E402
from pytest_roofline.contract import Bound  # noqa: E402
from pytest_roofline.dtypes import element  # noqa: E402

INF, NAN, MAX = float("inf"), float("nan"), element("f32").largest


def judge(got, exact, absolute=1.0, **bound):
    """The problem found between two scalars, or None."""
    actual = torch.tensor([got], dtype=torch.float32)
    wanted = torch.tensor([exact], dtype=torch.float64)
    limit = Bound(torch.tensor(absolute, dtype=torch.float64), **bound)
    return compare("y", actual, wanted, limit, element("f32"), torch.zeros(1, dtype=torch.bool)).problem


@pytest.mark.parametrize(
    ("got", "exact"),
    [(1.0, 1.0), (2.0, 1.0), (NAN, NAN), (INF, INF), (-INF, -INF), (INF, 1e39), (MAX, 1e38 * 3.4028236)],
)
def test_right_results_pass(got, exact):
    """Within the bound, the same special value, or the infinity that the exact value rounds to."""
    bound = 1e32 if exact > 1e38 and got != INF else 1.0
    assert judge(got, exact, bound) is None


@pytest.mark.parametrize(("got", "problem"), [(-(2**31), False), (2**31 - 1, True), (0, True)])
def test_integers_wrap_around_as_those_of_torch(got, problem):
    """2^31 in 32 bits is -2^31, and nothing else; in 64 bits it is itself."""
    exact, limit, unwritten = torch.tensor([2**31]), Bound(torch.zeros(1)), torch.zeros(1, dtype=torch.bool)
    found = compare("y", torch.tensor([got], dtype=torch.int32), exact, limit, element("i32"), unwritten).problem
    assert (found is not None) == problem
    assert compare("y", torch.tensor([got]), exact, limit, element("i64"), unwritten).problem is not None


@pytest.mark.parametrize(
    ("got", "exact"),
    [(2.1, 1.0), (NAN, 1.0), (1.0, NAN), (INF, 1.0), (INF, -INF), (NAN, INF), (1.0, INF), (INF, NAN), (-INF, 1e39)],
)
def test_wrong_results_fail(got, exact):
    """Beyond the bound, or a special value that the exact result is not."""
    assert judge(got, exact) is not None


def test_possible_overflow_admits_non_finite_results_only():
    """Where some order of evaluation overflows, infinity and NaN are right, a finite error is still wrong."""
    mask = torch.tensor([True])
    assert judge(INF, 1.0, may_overflow=mask) is None
    assert judge(NAN, 1.0, may_overflow=mask) is None
    assert judge(3.0, 1.0, may_overflow=mask) is not None


def test_an_infinite_bound_does_not_admit_everything():
    """Where the exact result is infinite, a finite one is wrong however wide the bound."""
    assert judge(1.0, INF, INF) is not None
    assert judge(1.0, NAN, INF) is not None
    assert judge(INF, INF, INF) is None


def test_sign_of_zero_counts_only_when_asked():
    """-0.0 for 0.0 is wrong exactly under signed_zero."""
    assert judge(-0.0, 0.0) is None
    assert "error bound" in judge(-0.0, 0.0, signed_zero=True)
    assert judge(-0.0, -0.0, signed_zero=True) is None


def test_a_zero_bound_asks_for_equality():
    """Exact operations have the bound 0, and integers are compared as integers."""
    assert judge(1.0, 1.0, 0.0) is None
    assert judge(1.0000001, 1.0, 0.0) is not None


def test_the_message_counts_places_and_unwritten_elements():
    """A failure says how many, where, what, and whether the element was ever written."""
    got = torch.tensor([[0.0, NAN], [0.0, 0.0]])
    exact = torch.zeros(2, 2, dtype=torch.float64)
    zero = Bound(torch.tensor(0.0, dtype=torch.float64))
    found = compare("y", got, exact, zero, element("f32"), torch.isnan(got))
    assert found.problem == (
        "y: 1 of 4 elements wrong, the first at [0, 1]: got nan, exact 0.0, error bound 0; 1 of them were never written"
    )


def test_worst_is_the_error_in_units_of_the_bound():
    """The caller learns how much of the bound a right result used."""
    got = torch.tensor([1.5])
    bound = Bound(torch.tensor(2.0, dtype=torch.float64))
    found = compare("y", got, torch.tensor([1.0], dtype=torch.float64), bound, element("f32"), torch.zeros(1).bool())
    assert found.worst == 0.25


def test_a_reference_of_another_shape_is_an_error_of_the_operation():
    """A reference that returns the wrong shape is named, not broadcast."""
    with pytest.raises(ValueError, match=r"returns y with shape \(2,\)"):
        compare(
            "y", torch.zeros(1), torch.zeros(2).double(), Bound(torch.zeros(())), element("f32"), torch.zeros(1).bool()
        )
