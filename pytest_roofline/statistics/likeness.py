"""Which stored campaigns a run is like, as all of its kernels together tell. Pure; values are ln(seconds) or
ln(cycles).

Cards come in kinds. On one start of five, both cards ran latency-bound kernels 2 to 4 % faster and large sums 2 %
slower than all others, at the same clock; a few kernels fall into two groups of cards 1 % apart. So a run is held
against that mixture of the stored campaigns which predicts it best, and not against their mean: ordinary kriging
(Matheron 1963; Cressie, "Statistics for Spatial Data", 1993, section 3.2), with campaigns in place of places. The
distance of two campaigns (semivariance) is half of the mean squared difference of their kernels, each in units of its
own noise. The kriging variance says how well the mixture can be trusted: a card like no stored one has a large one.

Where campaigns are equally far from each other and from the run, this is the mean of them, and the variance 1 + 1/K.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_roofline.statistics.noise import Prior, Spread, blend, by_start, fit_prior

CAPPED = 9.0  # squared difference of a kernel: one that has changed counts as three standard deviations
FEWEST = 30  # kernels that two campaigns have in common, before their distance is known
NEAREST = 0.02  # distance: campaigns never count as the same one
LEAST = 0.5  # of a kriging variance: no run is known better than half of what two campaigns share
STARTS = 4  # of the machine; below them likeness is not known from noise: cards of one start are like each other
STRANGE = 3.2  # times the usual kriging variance, from where a run is like no stored campaign
_ROUNDS = 3  # of distances and noise in turn; they have settled after two on every baseline seen

Values = Mapping[str, Mapping[str, float]]  # case -> campaign -> value


@dataclass(frozen=True)
class Mixture:
    """What a run is held against: ``weights`` of campaigns, none negative, and the variance of the difference in units
    of a case's own."""

    weights: tuple[float, ...]
    variance: float


@dataclass(frozen=True)
class Likeness:
    """What stored campaigns say of each other: their ``values`` without what each has in common, ``distances`` of pairs
    that have enough in common, the noise that is left of each case, the prior of those variances, and the ``usual``
    kriging variance of a stored campaign among those of other starts. All of it is empty for campaigns of fewer than
    four ``starts`` (campaign -> start of the machine, the campaign itself where that is not known).

    ``trust`` is the share of the differences among distances that is none of chance.
    """

    values: Values = field(default_factory=dict)
    distances: Mapping[frozenset[str], float] = field(default_factory=dict)
    spreads: Mapping[str, Spread] = field(default_factory=dict)
    prior: Prior = field(default_factory=Prior)
    usual: float | None = None
    trust: float = 1.0
    starts: Mapping[str, str] = field(default_factory=dict)
    _mixtures: dict[tuple[object, ...], Mixture] = field(default_factory=dict, repr=False, compare=False)

    def to(self, current: Mapping[str, float]) -> dict[str, float]:
        """How far a run is from each campaign, as far as it can be told."""
        scales = {case: math.sqrt(spread.variance) for case, spread in self.spreads.items() if case in current}
        found = {name: distance(current, run, scales) for name, run in _by_campaign(self.values).items()}
        return {name: far for name, far in found.items() if far is not None and self.near(name)}

    def expected(self, case: str, to: Mapping[str, float]) -> tuple[float, float] | None:
        """The value of a case in a run that is so far from each campaign, and the variance of the difference in units
        of the case's own; ``None`` for a case, or one of campaigns, whose likeness is not known."""
        runs = {name: value for name, value in self.values.get(case, {}).items() if name in to}
        if not runs:
            return None
        found = self.mixed(tuple(sorted(runs)), to)
        return math.fsum(w * runs[name] for w, name in zip(found.weights, sorted(runs), strict=True)), found.variance

    def mixed(self, names: Sequence[str], to: Mapping[str, float]) -> Mixture:
        """The mixture of those campaigns for a run that is so far from each. Where distances differ by chance alone, it
        is nearly the mean."""
        key = (*names, *(to[name] for name in names))
        if key not in self._mixtures:
            middle, here = statistics.median(self.distances.values()), statistics.median(to[name] for name in names)
            between = [
                [self._drawn(self.distances.get(frozenset((a, b)), middle), middle) for b in names] for a in names
            ]
            self._mixtures[key] = mixture(between, [self._drawn(to[name], here) for name in names])
        return self._mixtures[key]

    def _drawn(self, far: float, middle: float) -> float:
        return middle + self.trust * (far - middle)

    def near(self, name: str) -> dict[str, float]:
        """The distances of a stored campaign from those of other starts: another card of its own start says more of it
        than any campaign can say of a run to come."""
        others = {next(iter(pair - {name})): far for pair, far in self.distances.items() if name in pair}
        return {other: far for other, far in others.items() if self.start(other) != self.start(name)}

    def start(self, name: str) -> str:
        """The start of the machine that a campaign was taken on."""
        return self.starts.get(name, name)

    def strangeness(self, to: Mapping[str, float]) -> float:
        """The kriging variance of a run, over that of a stored campaign among the others; 1 where neither is known."""
        if not to or self.usual is None:
            return 1.0
        return self.mixed(sorted(to), to).variance / self.usual


def fit(values: Values, stated: Mapping[str, float], starts: Mapping[str, str] | None = None) -> Likeness:
    """From values without the campaigns' shifts, the stated noise of each case, and the start of each campaign.

    Distances need each case's noise, and that is what is left of it once the campaigns' likeness is known: both are
    found in turn. Each campaign is predicted from the others; what a case then differs by is its noise.
    """
    spreads, prior = {case: Spread(noise**2, math.inf) for case, noise in stated.items()}, Prior()
    for _ in range(_ROUNDS):
        known = _distances(values, spreads, starts or {})
        if len(set(map(known.start, frozenset().union(*known.distances)))) < STARTS:
            return Likeness()
        own = _left(known, statistics.median(known.distances.values()))
        prior = fit_prior((variance / stated[case] ** 2, degrees) for case, (variance, degrees) in own.items())
        # A case of one start is predicted by no other, and scatters at least as its cards do there.
        scatter = {case: own.get(case) or by_start(runs, starts or {})[1:] for case, runs in values.items()}
        spreads = {case: blend(prior, stated[case], *scatter[case]) for case in values}
    known = _distances(values, spreads, starts or {})
    return replace(known, prior=prior, usual=_usual(known))


def _distances(values: Values, spreads: Mapping[str, Spread], starts: Mapping[str, str]) -> Likeness:
    columns, scales = _by_campaign(values), {case: math.sqrt(spread.variance) for case, spread in spreads.items()}
    found, chance = {}, []
    for one, other in itertools.combinations(sorted(columns), 2):
        far = distance(columns[one], columns[other], scales)
        if far is not None:
            found[frozenset((one, other))] = far
            # Variance of a mean of n squares of normal variables.
            chance.append(2 * far**2 / len(columns[one].keys() & columns[other].keys()))
    spread = statistics.variance(found.values()) if len(found) > 2 else 0.0
    trust = max(0.0, 1 - statistics.fmean(chance) / spread) if spread else 0.0
    return Likeness(values, found, spreads, trust=trust, starts=starts)


def _left(known: Likeness, unit: float) -> dict[str, tuple[float, int]]:
    """The variance of what each case differs by from the mixture of campaigns of other starts, with its degrees of
    freedom, which is one less than starts; in units in which the distance ``unit`` is 1, since noise and distances
    share a factor that is free."""
    squares: dict[str, dict[str, list[float]]] = {}
    for name, column in _by_campaign(known.values).items():
        near = known.near(name)
        found = {case: (value, expected) for case, value in column.items() if (expected := known.expected(case, near))}
        differences = {case: value - expected[0] for case, (value, expected) in found.items()}
        middle = statistics.median(differences.values()) if differences else 0.0
        for case, difference in differences.items():
            scaled = (difference - middle) ** 2 * unit / found[case][1][1]
            squares.setdefault(case, {}).setdefault(known.start(name), []).append(scaled)
    return {
        case: (statistics.fmean(map(statistics.fmean, some.values())), len(some) - 1)
        for case, some in squares.items()
        if len(some) > 1
    }


def _usual(known: Likeness) -> float | None:
    """The median kriging variance of campaigns that are each predicted from at least two others."""
    nears = [near for name in _by_campaign(known.values) if len(near := known.near(name)) > 1]
    return statistics.median(known.mixed(sorted(near), near).variance for near in nears) if nears else None


def _by_campaign(values: Values) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for case, runs in values.items():
        for name, value in runs.items():
            found.setdefault(name, {})[case] = value
    return found


def distance(one: Mapping[str, float], other: Mapping[str, float], scales: Mapping[str, float]) -> float | None:
    """Half of the mean squared difference over common cases, in units of their ``scales`` and without what all of them
    differ by; ``None`` for too few common cases."""
    differences = {case: value - other[case] for case, value in one.items() if case in other and case in scales}
    if len(differences) < FEWEST:
        return None
    middle = statistics.median(differences.values())
    squares = (min(((d - middle) / scales[case]) ** 2, CAPPED) for case, d in differences.items())
    return max(NEAREST, statistics.fmean(squares) / 2)


def mixture(between: Sequence[Sequence[float]], to: Sequence[float]) -> Mixture:
    """Ordinary kriging without negative weights: campaigns at distances ``between`` each other (symmetric, zero on the
    diagonal, else positive) and ``to`` the run. Those that would get a negative weight are left out, the worst first.
    Raises ``ValueError`` for none."""
    if not to:
        raise ValueError("there is no campaign to mix")
    used = list(range(len(to)))
    while True:
        solved = _solved([[between[a][b] if a != b else 0.0 for b in used] for a in used], [to[a] for a in used])
        if solved is not None and (min(solved[:-1]) >= 0 or len(used) == 1):
            break
        worst = min(range(len(used)), key=lambda k: solved[k]) if solved else len(used) - 1
        del used[worst]
    weights = dict(zip(used, solved[:-1], strict=True))
    variance = math.fsum(w * to[k] for k, w in weights.items()) + solved[-1]
    return Mixture(tuple(weights.get(k, 0.0) for k in range(len(to))), max(LEAST, variance))


def _solved(between: Sequence[Sequence[float]], to: Sequence[float]) -> list[float] | None:
    """Weights that sum to 1, and the Lagrange multiplier, by elimination with pivots; ``None`` if there are none."""
    rows = [[*row, 1.0, far] for row, far in zip(between, to, strict=True)]
    rows.append([*(1.0 for _ in to), 0.0, 1.0])
    size = len(rows)
    for k in range(size):
        pivot = max(range(k, size), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        if abs(rows[k][k]) < 1e-9:
            return None
        for i in range(size):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return [rows[k][-1] / rows[k][k] for k in range(size)]


def controls(names: Iterable[str], unchanged: Iterable[str]) -> set[str]:
    """The cases that a run's likeness is judged by: those whose code is known to be the stored one, where they are
    enough; else all."""
    known = set(names)
    same = known.intersection(unchanged)
    return same if len(same) >= FEWEST else known
