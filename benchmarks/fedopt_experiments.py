"""Federated Optimization, Figure 2: GD, CoCoA+, FSVRG and FSVRGR against rounds, objective and test error.

    python benchmarks/fedopt_experiments.py [--plays FILE.txt.gz] [--clients K] [--features d] [--mean M] [--rounds T]
                                            [--quick] [--out DIR] [--seed S]

Without ``--plays`` data are generated (fedtheory.text): bags of words of authors. Logistic regression, lambda = 1/n,
from w = 0. A round is one exchange with all clients. FSVRGR is FSVRG on the same examples dealt out at random, as many
to each client as before. Every method is tuned in retrospect over a small grid, as the paper does with its stepsize:
what is shown is the setting with the lowest objective after the last round. CoCoA+ adds the steps of its clients, each
one pass of coordinate ascent, with sigma' = K, which is safe, and with smaller ones, which may diverge. The optimum is
from Newton's method.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from scipy.sparse.linalg import svds

from fedtheory.algorithms import Algorithm, cocoa_plus, fsvrg
from fedtheory.problems.linear_models import LinearModels, LinearProblem, minimiser
from fedtheory.problems.local_features import local_features
from fedtheory.problems.losses import LOGISTIC
from fedtheory.text import Authors, generated, plays, reshuffled

METHODS = ("GD", "CoCoA+", "FSVRG", "FSVRGR")

_COLOURS = dict(zip(METHODS, ("#128277", "#6a3d9a", "#38761d", "#cc0000"), strict=True))
_MARKS = dict(zip(METHODS, ("D", "^", "o", "*"), strict=True))

# Stepsizes of GD over 1/L, sigma' of CoCoA+ over K, stepsizes h of FSVRG.
_DESCENT, _SIGMA, _H = (1.0, 2.0, 4.0), (1.0, 0.1, 0.01), (0.3, 1.0, 3.0, 10.0, 30.0)

# "Optimal test accuracy": this close. "Subtle": this share of what there is to gain. "Most features", "few nodes".
_CLOSE, _SUBTLE, _MOST, _FEW = 0.001, 0.1, 0.88, 0.1


@dataclass(frozen=True)
class Curve:
    """One setting of one method: ``objective (T+1,)``; ``error (T+1,)``, the share of test examples it gets wrong."""

    setting: str
    objective: np.ndarray
    error: np.ndarray


Results = dict[str, list[Curve]]


def best(curves: Sequence[Curve]) -> Curve:
    """The setting with the lowest last objective; one that diverged is not it."""
    return min(curves, key=lambda c: np.nan_to_num(c.objective[-1], nan=np.inf))


def problem_of(data: Authors) -> LinearProblem:
    train = data.train
    return LinearProblem(LinearModels(train.X, train.y, train.sizes, 1 / len(train.y), LOGISTIC))


def error(data: Authors, w: np.ndarray) -> float:
    """Share of the test examples that w gets wrong; a tie is a -1."""
    return float((np.where(data.test.X @ w > 0, 1, -1) != data.test.y).mean())


def run(
    method: Algorithm,
    data: Authors,
    problem: LinearProblem,
    params: Any,
    rounds: int,
    seed: int,
    setting: str,
    model: Callable[[Any], np.ndarray],
) -> Curve:
    rng, state = np.random.default_rng(seed), method.init(problem, params)
    objective, wrong = [], []
    for t in range(rounds + 1):
        w = np.asarray(model(state), dtype=np.float64)
        objective.append(float(problem.f.objective(w)))
        wrong.append(error(data, w))
        if t < rounds:
            state = method.step(problem, params, state, method.draws(problem, params, state).sample(rng))
    return Curve(setting, np.array(objective), np.array(wrong))


def experiment(data: Authors, rounds: int, seed: int, say: Callable[[str], None], grid: float = 1.0) -> Results:
    """All methods with all their settings; ``grid`` < 1 keeps only the middle of the grids."""
    problem, results = problem_of(data), Results()
    f = problem.f
    smoothness = float(svds(f.X, k=1, return_singular_vectors=False, rng=seed)[0]) ** 2 / (4 * f.examples) + f.lam
    dealt = reshuffled(data, np.random.default_rng(seed + 1))

    def add(name: str, curve: Curve, begun: float) -> None:
        results.setdefault(name, []).append(curve)
        last = f"f = {curve.objective[-1]:.6f}, error {curve.error[-1]:.2%}"
        say(f"{name}, {curve.setting}: {last} ({time.perf_counter() - begun:.0f} s)")

    for factor in _DESCENT:
        begun = time.perf_counter()
        add("GD", _descend(data, f, factor / smoothness, rounds, f"h = {factor:g}/L"), begun)
    sparse = cocoa_plus.SparsePasses(f, 1)
    for factor in _SIGMA if grid == 1 else _SIGMA[:1]:
        begun = time.perf_counter()
        params = cocoa_plus.Params(max(1.0, factor * f.n), 1, sparse)
        setting = f"sigma' = {params.sigma:g}"
        with np.errstate(over="ignore", invalid="ignore"):
            curve = run(cocoa_plus.algorithm, data, problem, params, rounds, seed, setting, lambda s: s.w)
        add("CoCoA+", curve, begun)
    for name, of in (("FSVRG", data), ("FSVRGR", dealt)):
        posed = problem_of(of)
        scaled = fsvrg.theory(posed, 1.0)
        for h in _H if grid == 1 else (10.0,):
            begun = time.perf_counter()
            params = scaled._replace(h=h)
            add(name, run(fsvrg.algorithm, of, posed, params, rounds, seed, f"h = {h:g}", lambda s: s.w), begun)
    return results


def _descend(data: Authors, f: LinearModels, h: float, rounds: int, setting: str) -> Curve:
    """Gradient descent, of which sparse data need no more than the gradient."""
    w, objective, wrong = np.zeros(f.d), [], []
    for _ in range(rounds + 1):
        objective.append(float(f.objective(w)))
        wrong.append(error(data, w))
        w = w - h * f.full_gradient(w)
    return Curve(setting, np.array(objective), np.array(wrong))


def orderings(data: Authors, results: Results, optimum: tuple[float, float]) -> Iterator[str]:
    """One sentence for each statement of the text on the data and the figure: seen, or not seen."""
    f = problem_of(data).f
    value, wrong = optimum
    gd, cocoa, ours, dealt = (best(results[name]) for name in METHODS)
    start = ours.objective[0]

    def outcome(text: str, seen: bool, numbers: str) -> str:
        return f"{text}: {'seen' if seen else 'not seen'} ({numbers})."

    holders = np.bincount(local_features(f).feature, minlength=f.d)
    rare = float((holders < _FEW * f.n).mean())
    text = f"Section 4.1: over {_MOST:.0%} of the features are on fewer than a tenth of the nodes"
    yield outcome(text, rare > _MOST, f"{rare:.1%}")
    majority = np.where(np.add.reduceat(f.y, f.starts) > 0, 1, -1)
    by_author = float((np.repeat(majority, data.test.sizes) != data.test.y).mean())
    constant = float((data.test.y > 0).mean())
    yield outcome(
        "Section 4.1: the optimum errs less than the prediction -1, and the majority of each author less than both",
        by_author < wrong < constant,
        f"{constant:.2%}, {wrong:.2%}, {by_author:.2%}",
    )
    yield outcome(
        "Section 4.1: lambda = 1/n has the least test error of the optimum, here among 1/n, 10/n, 100/n",
        wrong <= min(error(data, minimiser(_with(f, factor / f.examples))) for factor in (10, 100)),
        f"{wrong:.2%} at 1/n",
    )
    safe = results["CoCoA+"][0]
    for which, curve in (("sigma' = K", safe), (f"the best sigma' of the grid, {cocoa.setting}", cocoa)):
        behind = float((curve.objective[1:] > gd.objective[1:]).mean())
        yield outcome(
            f"Figure 2: CoCoA+ with {which} is worse than GD",
            behind > 0.5 and curve.objective[-1] > gd.objective[-1],
            f"higher objective in {behind:.0%} of the rounds, at the end {curve.objective[-1]:.4f} against "
            f"{gd.objective[-1]:.4f}",
        )
    yield outcome(
        "Figure 2: CoCoA+ is worse than GD in test error too",
        float((cocoa.error[1:] > gd.error[1:]).mean()) > 0.5 and cocoa.error[-1] > gd.error[-1],
        f"higher in {(cocoa.error[1:] > gd.error[1:]).mean():.0%} of the rounds, at the end {cocoa.error[-1]:.2%} "
        f"against {gd.error[-1]:.2%}",
    )
    for other in (gd, cocoa):
        name = "GD" if other is gd else "CoCoA+"
        yield outcome(
            f"Figure 2: FSVRG is better than {name}",
            bool((ours.objective[1:] < other.objective[1:]).all()),
            f"lower objective in {(ours.objective[1:] < other.objective[1:]).mean():.0%} of the rounds",
        )
    rounds = min(30, len(ours.error) - 1)
    first = np.flatnonzero(ours.error[: rounds + 1] <= wrong + _CLOSE)
    at = f"from round {first[0]}" if len(first) else f"{ours.error[rounds]:.2%} against {wrong:.2%}"
    yield outcome(f"Figure 2: FSVRG has the optimum's test error within {rounds} rounds", len(first) > 0, at)
    gained = [(start - c.objective[-1]) / (start - value) for c in (ours, dealt)]
    yield outcome(
        "Figure 2: the difference between FSVRG and FSVRGR is subtle",
        abs(gained[0] - gained[1]) <= _SUBTLE,
        f"{gained[0]:.1%} and {gained[1]:.1%} of the way to the optimum",
    )
    yield outcome(
        "Section 4.1: the largest number of nodes that hold a feature, a bound on the best sigma', is K",
        int(holders.max()) == f.n,
        f"{holders.max()} of {f.n}",
    )


def _with(f: LinearModels, lam: float) -> LinearModels:
    return LinearModels(f.X, f.y, f.sizes, lam, f.loss)


def draw(results: Results, optimum: tuple[float, float], title: str, path: Path) -> None:
    figure = Figure(figsize=(11.5, 4.8), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
    FigureCanvasAgg(figure)
    figure.suptitle(title, fontsize=12, fontweight="bold")
    panels = figure.subplots(1, 2)
    for panel, field, level, label in zip(
        panels, ("objective", "error"), optimum, ("objective f", "test error"), strict=True
    ):
        start = getattr(best(results["FSVRG"]), field)[0]
        for name, curves in results.items():
            curve = best(curves)
            values = getattr(curve, field)
            style = {"color": _COLOURS[name], "marker": _MARKS[name], "markersize": 4, "linewidth": 1.3}
            panel.plot(values, label=f"{name} ({curve.setting})", **style)
        panel.axhline(level, color="#1155cc", linestyle="--", linewidth=1.2, label="optimum")
        least = min(level, *(float(np.nanmin(getattr(best(curves), field))) for curves in results.values()))
        panel.set_ylim(least - 0.1 * abs(start - least), start + 0.15 * abs(start - least))
        panel.set_xlabel("rounds of communication")
        panel.set_ylabel(label)
        panel.grid(True, alpha=0.3)
        panel.legend(fontsize=8)
    figure.savefig(path, dpi=150, metadata={"Software": None})


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--plays", type=Path, help="a file of plays; generated data if left out")
    parser.add_argument("--clients", type=int, default=1000, help="K of generated data (1000)")
    parser.add_argument("--features", type=int, default=5002, help="d (5002; at most as many as the plays have)")
    parser.add_argument("--mean", type=float, default=60, help="mean examples of a generated client (60)")
    parser.add_argument("--rounds", type=int, default=30, help="rounds of communication (30)")
    parser.add_argument("--quick", action="store_true", help="200 clients, 1002 features, 10 rounds")
    parser.add_argument("--single", action="store_true", help="one setting of CoCoA+ and FSVRG, for the largest data")
    parser.add_argument("--out", type=Path, default=Path("build/fedopt"), help="folder of the figure (build/fedopt)")
    parser.add_argument("--seed", type=int, default=0, help="seed of data and runs (0)")
    given = parser.parse_args(arguments)
    K, d, rounds = (200, 1002, 10) if given.quick else (given.clients, given.features, given.rounds)
    begun = time.perf_counter()
    try:
        if given.seed < 0 or rounds < 1:
            raise ValueError(f"expected a seed of 0 or more and at least one round, got {given.seed} and {rounds}")
        data = plays(given.plays, d) if given.plays else generated(K, d, given.mean, np.random.default_rng(given.seed))
        given.out.mkdir(parents=True, exist_ok=True)
    except (ValueError, OSError) as problem:
        print(f"fedopt_experiments: {problem}", file=sys.stderr)
        return 2
    f = problem_of(data).f
    results = experiment(
        data, rounds, given.seed, lambda line: print(line, file=sys.stderr, flush=True), 0.5 if given.single else 1.0
    )
    w = minimiser(f)
    optimum = float(f.objective(w)), error(data, w)
    path = given.out / f"figure-2-{'plays' if given.plays else 'generated'}.png"
    draw(results, optimum, f"Federated Optimization, Figure 2: {data.name}", path)
    print(
        f"{data.name}: {f.n} clients, {f.examples} training examples (n_k from {f.sizes.min()} to {f.sizes.max()}), "
        f"d = {f.d}, lambda = 1/n, {rounds} rounds; optimum: f = {optimum[0]:.6f}, test error {optimum[1]:.2%}\n"
    )
    print("| method | setting | objective | test error |\n| --- | --- | ---: | ---: |")
    for name in METHODS:
        curve = best(results[name])
        print(f"| {name} | {curve.setting} | {curve.objective[-1]:.6f} | {curve.error[-1]:.2%} |")
    print("\nThe paper's statements:", *orderings(data, results, optimum), sep="\n- ")
    print(f"\nWritten: {path}\n\n{time.perf_counter() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
