"""Federated Optimization, Figure 2: GD, CoCoA+, FSVRG and FSVRGR against rounds, objective and test error.

    python benchmarks/fedopt_experiments.py [--plays FILE.txt.gz] [--clients K] [--features d] [--mean M] [--rounds T]
                                            [--quick] [--out DIR] [--seed S]

Without ``--plays`` data are generated (fedtheory.papers.fedopt.text): bags of words of authors. Logistic regression,
lambda = 1/n, from w = 0. A round is one exchange with all clients. FSVRGR is FSVRG on the same examples dealt out at
random, as many to each client as before. Every method is tuned in retrospect over a small grid, as the paper does with
its stepsize: what is shown is the setting with the lowest objective after the last round. CoCoA+ adds the steps of its
clients, each one pass of coordinate ascent, with sigma' = K, which is safe, and with smaller ones, which may diverge.
The optimum is from Newton's method.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from fedtheory.papers.fedopt.figure import METHODS, Results, best, error, experiment, orderings, problem_of
from fedtheory.papers.fedopt.text import generated, plays
from fedtheory.problems.linear_models import minimiser

_COLOURS = dict(zip(METHODS, ("#128277", "#6a3d9a", "#38761d", "#cc0000"), strict=True))
_MARKS = dict(zip(METHODS, ("D", "^", "o", "*"), strict=True))


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
    told = (f"{s.text}: {'seen' if s.seen else 'not seen'} ({s.numbers})." for s in orderings(data, results, optimum))
    print("\nThe paper's statements:", *told, sep="\n- ")
    print(f"\nWritten: {path}\n\n{time.perf_counter() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
