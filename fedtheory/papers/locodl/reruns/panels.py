"""The panels of LoCoDL's figures: for each number of clients, all methods, tuned and run for all seeds at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from fedtheory.data import Dataset, split
from fedtheory.experiments import Curve, Result, Tuned, spent, tune
from fedtheory.numbers.rational import Array
from fedtheory.papers.locodl.reruns.methods import (
    CurvePlan,
    CurveRun,
    Limits,
    Task,
    dirichlet,
    plans,
    pose,
    run,
    with_k,
)
from fedtheory.papers.locodl.reruns.names import BOTH, COMPRESSED, FEW, MANY, MORE, TARGETS, key

#: The condition number of the paper.
KAPPA = 1e4
#: A rival may spend so many times the bits of the best LoCoDL, and one that sends floats, which the text compares with
#: LoCoDL alone, so many; and any that is compared with runs that came to the target so many times their bits.
_MULTIPLE, _PLAINLY, _SETTLED = 200.0, 20.0, 1.2
#: A run may take so many iterations, of large data as many as handle so many numbers.
_ITERATIONS, _WORK = 400_000, 6e10
#: Numbers that an iteration handles for each entry of the data that is not zero, for each of a client's model, and for
#: each of these where it communicates; of matrices these many are as fast as one.
_ENTRY, _MODEL, _MESSAGE, _DENSE = 4, 6, 24, 8
_FLOATS = ("GradSkip", "SCAFFOLD")
#: Data of so many numbers are compared at the first target alone: the last takes ten times the iterations.
_LARGE = 50_000
#: While stepsizes are tuned, a run may cost so many times what the best before it did.
_PATIENCE = 1.05
#: Runs whose median tunes a stepsize: in a single one errors jump below the target by luck.
_TRIED = 3
#: Points of a curve.
_POINTS = 60
#: The shuffle of the data, and the draws that tune; those of a seed begin with 1.
_SHUFFLE, _TUNING = 0, 2


def tasks(
    data: Dataset, clients: tuple[int, ...], methods: tuple[str, ...], tuning: bool, seeds: tuple[int, ...]
) -> Mapping[str, Callable[[], Result]]:
    """A task for each regime: with the clients of the paper's figure where there are rows for them, else with one
    number for each regime that the data allow. ``ValueError`` for data too small for any. ``tuning``: whether stepsizes
    are tuned, or those of the theorems."""
    regimes = dict(zip((FEW, MORE, MANY), clients, strict=False))
    fitting = {name: n for name, n in regimes.items() if n <= data.rows and _regime(n, data.d) == name}
    chosen = fitting if len(fitting) == len(regimes) else numbers(data.rows, data.d)
    if not chosen:
        raise ValueError(f"{data.name} has {data.rows} rows, too few for two clients with two rows each")
    targets = TARGETS if data.rows * data.d <= _LARGE else TARGETS[:1]
    return {
        (panel := f"n = {n}"): partial(_panel, data, n, panel, regime, methods, targets, tuning, seeds)
        for regime, n in chosen.items()
    }


def numbers(rows: int, d: int) -> dict[str, int]:
    """A number of clients for each regime in which they have two rows or more: n < d, 2 d < n, d^2 < n."""
    options = {FEW: 5 * d // 7, MORE: 7 * d // 3, MANY: 9 * d * d // 8}
    return {name: n for name, n in options.items() if 2 <= n and 2 * n <= rows and _regime(n, d) == name}


def _regime(n: int, d: int) -> str:
    return FEW if n < d else MORE if n <= d * d else MANY


def dirichlet_tasks(
    methods: tuple[str, ...], tuning: bool, seeds: tuple[int, ...]
) -> Mapping[str, Callable[[], Result]]:
    """Figure 7: a task for each parameter of the distribution."""
    return {f"alpha = {alpha}": partial(_dirichlet, alpha, methods, tuning, seeds) for alpha in (1, 10)}


def _dirichlet(alpha: int, methods: tuple[str, ...], tuning: bool, seeds: tuple[int, ...]) -> Result:
    data, panel = dirichlet(alpha, np.random.default_rng(_SHUFFLE)), f"alpha = {alpha}"
    return _panel(data, data.rows, panel, panel, methods, TARGETS, tuning, seeds)


def adiana_tasks(data: Dataset, seeds: tuple[int, ...]) -> Mapping[str, Callable[[], Result]]:
    """ADIANA with two values of k, at the numbers of clients of Figure 1."""
    regimes = {FEW: 87, MORE: 288} if data.rows >= 288 else numbers(data.rows, data.d)
    if data.d < 30:
        raise ValueError(f"{data.name} has {data.d} features, and rand-30 takes 30 at least")
    return {f"n = {n}": partial(_adiana, data, n, regime, seeds) for regime, n in regimes.items()}


def _adiana(data: Dataset, n: int, regime: str, seeds: tuple[int, ...]) -> Result:
    task, target = _posed(data, n), TARGETS[0]
    measured, curves = {}, []
    for k in (20, 30):
        plan = with_k(task, "ADIANA", BOTH, k)
        found = run(plan, task, Limits(target, np.inf, _iterations(plan, task, len(seeds))), len(seeds), _rng(seeds, n))
        measured[key("ADIANA", f"rand-{k} natural", regime, target)] = found.costs(target)
        curves.append(_curve(found, f"n = {n}")._replace(label=plan.label))
    return Result({name: spent(*costs) for name, costs in measured.items()}, tuple(curves))


def _posed(data: Dataset, n: int) -> Task:
    return pose(*split(data, n, "equal", np.random.default_rng(_SHUFFLE)), data.name, KAPPA)


def _iterations(plan: CurvePlan, task: Task, replicas: int) -> int:
    """Iterations that a run may take."""
    n, d, m = task.n, task.d, task.losses.m
    entries = _ENTRY * np.count_nonzero(task.losses.A)
    if plan.local:
        alone = n * m * m / _DENSE if m <= d else entries + _MODEL * n * d
        numbers = alone + plan.params.p * (entries + (_MODEL + _MESSAGE) * n * d)
    elif plan.few:
        numbers = entries + n * m * plan.k
    else:
        numbers = entries + (_MODEL + _MESSAGE) * n * d
    return min(_ITERATIONS, max(1, int(_WORK / (replicas * numbers))))


def _rng(seeds: Sequence[int], n: int) -> np.random.Generator:
    return np.random.default_rng([1, n, *seeds])


def _panel(
    data: Dataset,
    n: int,
    panel: str,
    regime: str,
    methods: tuple[str, ...],
    targets: tuple[float, ...],
    tuning: bool,
    seeds: tuple[int, ...],
) -> Result:
    """LoCoDL first, then ADIANA: by their bits the budgets of the others go."""
    task = _posed(data, n)
    last, ends = min(targets), dict[tuple[str, str], float]()
    measured: dict[str, Any] = {}
    curves, notes = [], []
    for method in methods:
        for plan in plans(task, method, COMPRESSED.get(method, ())):
            tuned = _tuned(plan, task, last, _allowed(method, ends)) if tuning else None
            limits = Limits(last, _budget(method, ends), _iterations(plan, task, len(seeds)))
            chosen = plan if tuned is None else plan.scaled(tuned.factor)
            found = run(chosen, task, limits, len(seeds), _rng(seeds, n))
            for target in targets:
                measured[key(method, plan.compressor, regime, target)] = spent(*found.costs(target))
            ends[method, plan.compressor] = max(
                span.high for span in measured[key(method, plan.compressor, regime, last)]
            )
            curves.append(_curve(found, panel))
            notes += [f"{panel}, {plan.label}: {tuned}"] if tuned is not None else []
    return Result(measured, tuple(curves), tuple(notes))


def _allowed(method: str, ends: Mapping[tuple[str, str], float]) -> float:
    """The bits that a method may spend, by those ``ends`` at which the last seed of others came to the last target."""
    multiple = _PLAINLY if method in _FLOATS else _MULTIPLE
    return multiple * min((end for (other, _), end in ends.items() if other == "LoCoDL"), default=np.inf)


def _budget(method: str, ends: Mapping[tuple[str, str], float]) -> float:
    """Those that a run may spend: no more than settles what the text says of it, whether it comes to the target or not.
    A compressor is compared with both together, a rival with LoCoDL and with ADIANA."""
    both, allowed = ends.get((method, BOTH), np.inf), _allowed(method, ends)
    if method in ("LoCoDL", "ADIANA"):
        return min(allowed, _SETTLED * both)
    if method in _FLOATS:
        return allowed
    best = min((end for (other, _), end in ends.items() if other == "ADIANA"), default=np.inf)
    return min(allowed, _SETTLED * max(best, ends.get(("LoCoDL", BOTH), np.inf)))


def _tuned(plan: CurvePlan, task: Task, target: float, budget: float) -> Tuned:
    """The factor with which a few runs, on draws of their own, need the fewest bits to the target in the median."""
    least, iterations = budget, _iterations(plan, task, _TRIED)

    def cost(factor: float) -> float:
        nonlocal least
        rng = np.random.default_rng([_TUNING, task.n])
        found = run(plan.scaled(factor), task, Limits(target, _PATIENCE * least, iterations), _TRIED, rng)
        bits = float(np.median(found.costs(target)[0]))
        # Among those that do not get there the nearest is the best.
        least = min(least, bits)
        return bits if np.isfinite(bits) else 1e30 * (1 + float(np.median(found.errors[-1])))

    return tune(cost)


def _curve(found: CurveRun, panel: str) -> Curve:
    """The medians of short pieces of a run: LoCoDL's errors jump at every communication."""
    bits, errors = found.bits[1:], np.median(found.errors, axis=1)[1:]
    pieces: list[Array] = []
    if len(bits):
        cuts = np.searchsorted(bits, np.geomspace(max(bits[0], 1.0), max(bits[-1], 2.0), _POINTS))[1:]
        pieces = [piece for piece in np.split(np.arange(len(bits)), np.unique(cuts)) if len(piece)]
    x, y = (tuple(float(np.median(values[piece])) for piece in pieces) for values in (bits, errors))
    label = f"{found.plan.method}, {found.plan.compressor}"
    return Curve(panel, "bits per client", "relative gap", label, x, y, "xy")
