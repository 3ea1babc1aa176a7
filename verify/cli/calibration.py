"""Error rates of the tests of :mod:`verify.statistics.sequential`, and their power at the stated defects."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from fedtheory.compressors import Compressor, natural, rand_k
from fedtheory.numbers.rational import Array, to_float
from fedtheory.randomness import Size
from verify.statistics.e_process import Assumed
from verify.statistics.sequential import ROUNDING, Ruling, prepare, race


class _Samples(NamedTuple):
    """Samples ``draw(rng, (n, cases))`` with the given mean, and what a test assumes of them."""

    draw: Callable[[np.random.Generator, Size], Array]
    mean: float
    relation: str
    assumed: Assumed


def _cases() -> dict[str, _Samples]:
    x = np.array([3.0, -1.0, 0.5, 2.0])
    v = np.array([1.0, 0.5, -1.0, 0.25])
    sparse, rounded = rand_k(4, 1), natural(4)
    unit = Assumed(0.0, 1.0)

    def coin(p: float) -> _Samples:
        return _Samples(lambda rng, size: (rng.random(size) < p) * 1.0, p, "==", unit)

    def along(one: Compressor) -> _Samples:
        values = to_float(one.outcomes(x)[0]) @ v
        return _Samples(
            lambda rng, size: one.sample(rng, np.broadcast_to(x, (*size, 4))) @ v,
            float(x @ v),
            "==",
            Assumed(values.min() - ROUNDING, values.max() + ROUNDING),
        )

    def error(rng: np.random.Generator, size: Size) -> Array:
        return ((sparse.sample(rng, np.broadcast_to(x, (*size, 4))) - x) ** 2).sum(axis=-1)

    return {
        "Bernoulli 1/100": coin(0.01),
        "Bernoulli 1/2": coin(0.5),
        "Bernoulli 9/10": coin(0.9),
        "uniform": _Samples(lambda rng, size: rng.random(size), 0.5, "==", unit),
        "rare and large": _Samples(lambda rng, size: 200.0 * (rng.random(size) < 0.005), 1.0, "<=", Assumed(0.0)),
        "Pareto 3/2": _Samples(lambda rng, size: rng.pareto(1.5, size), 2.0, "<=", Assumed(0.0)),
        "lognormal 2": _Samples(lambda rng, size: rng.lognormal(-2.0, 2.0, size), 1.0, "<=", Assumed(0.0)),
        "lognormal 1, known variance": _Samples(
            lambda rng, size: rng.lognormal(-0.5, 1.0, size), 1.0, "==", Assumed(variance=math.e - 1)
        ),
        "Student 3, known variance": _Samples(
            lambda rng, size: rng.standard_t(3, size), 0.0, "==", Assumed(variance=3.0)
        ),
        "rand-1, mean": along(sparse),
        "natural, mean": along(rounded),
        "rand-1, variance": _Samples(error, 3 * float(x @ x), "<=", Assumed(0.0)),
    }


def false_alarms(cases: int = 10_000, level: float = 1e-6, seed: int = 0, size: int = 400) -> dict[str, int]:
    """The number of ``cases`` true statements that are refuted within ``size`` samples, by distribution.

    Every mean is on the boundary of what is claimed, and nothing is accepted early. What accepts is the same capital
    with the sign of the samples changed, which an equality tests as well.
    """
    rng = np.random.default_rng(seed)
    found = {}
    for name, case in _cases().items():
        plan = prepare(np.full(cases, case.mean), case.relation, case.assumed, level, size, math.inf, ROUNDING)

        def source(n: int, case: _Samples = case) -> Array:
            return case.draw(rng, (n, cases))

        decisions, _ = race(plan, source, first=16, largest=16)
        found[name] = int((decisions != Ruling.UNDECIDED).sum())
    return found


def power(cases: int = 1000, level: float = 0.05, seed: int = 0, size: int = 1000) -> dict[str, float]:
    """The share of ``cases`` refuted within ``size`` samples where the mean is off by the smallest defect stated.

    It is proved to be at least 1 - ``level``/2 for each. The first three have two values, one of them the least
    possible: the worst case for betting.
    """
    rng = np.random.default_rng(seed)

    def two_values(D: float, shape: Size) -> Array:
        top = 1 + D + 2 / (1 + D)
        return top * (rng.random(shape) < (1 + D) / top)

    def lognormal(D: float, shape: Size) -> Array:
        s2 = math.log1p(2 / (1 + D) ** 2)
        return (1 + D) * rng.lognormal(-s2 / 2, math.sqrt(s2), shape)

    unit, skewed = Assumed(0.0, 1.0), Assumed(low=0.0, variance=2.0)
    planted: dict[str, tuple[float, str, Assumed, Callable[[float, Size], Array]]] = {
        "Bernoulli": (0.2, "==", unit, lambda D, shape: (rng.random(shape) < 0.2 + D) * 1.0),
        "Bernoulli, mean too small": (0.9, "==", unit, lambda D, shape: (rng.random(shape) < 0.9 - D) * 1.0),
        "two values, known variance": (1.0, "<=", skewed, two_values),
        "lognormal, known variance": (1.0, "<=", skewed, lognormal),
        "Student 3, known variance": (0.0, "==", Assumed(variance=3.0), lambda D, shape: D + rng.standard_t(3, shape)),
        "signs, known variance": (
            0.0,
            "==",
            Assumed(variance=1.0),
            lambda D, shape: D + rng.choice([-1.0, 1.0], shape),
        ),
    }
    found = {}
    for name, (target, relation, assumed, draw) in planted.items():
        plan = prepare(np.full(cases, target), relation, assumed, level, size, math.inf)
        defect = float(plan.smallest_defect[0])

        def source(n: int, draw: Callable[[float, Size], Array] = draw, defect: float = defect) -> Array:
            return draw(defect, (n, cases))

        decisions, _ = race(plan, source)
        found[name] = float((decisions != Ruling.UNDECIDED).mean())
    return found
