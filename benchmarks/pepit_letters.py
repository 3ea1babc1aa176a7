"""The values that PEPit's own examples state, for all values of their letters.

``python -m benchmarks.pepit_letters [--seconds S] [--out FILE.md] [--unstated] [NAME ...]`` takes examples of the
installed package, unedited, with what is assumed of their letters, each in a process of its own with at most S seconds
(300), and writes a table: the value, if it is proved for all letters, and if it is attained at the base point.
With --unstated the functions return PEPit's number alone, and the value is to be found.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.pepit_examples import examples
from verify.base import limits
from verify.pepit import for_all


class Task(NamedTuple):
    """An example, its letters, what is assumed of them, and its other arguments."""

    name: str
    letters: str
    where: tuple[str, ...] = ()
    at: dict[str, Fraction | int | str] = {}  # noqa: RUF012


_SHORT, _CURVED = ("gamma*L <= 1",), ("mu < L",)
_BOTH = _CURVED + _SHORT
#: With the numbers of steps for which proofs are found; what is beyond is tried by hand.
TASKS = (
    Task(
        "adaptive_methods/polyak_steps_in_distance_to_optimum",
        "L mu gamma",
        (*_CURVED, "gamma*L >= 1", "gamma*mu <= 1"),
    ),
    Task("adaptive_methods/polyak_steps_in_function_value", "L mu gamma", (*_CURVED, "gamma*L >= 1", "gamma*L <= 2")),
    Task("composite_convex_minimization/accelerated_proximal_gradient_simplified", "L", (), {"n": 1, "mu": 0}),
    Task("composite_convex_minimization/bregman_proximal_point", "gamma", (), {"n": 1}),
    Task(
        "composite_convex_minimization/douglas_rachford_splitting_contraction",
        "mu L alpha",
        _CURVED,
        {"n": 1, "theta": 1},
    ),
    Task("composite_convex_minimization/no_lips_in_function_value", "L gamma", _SHORT, {"n": 1}),
    Task("composite_convex_minimization/proximal_gradient", "L mu gamma", _BOTH, {"n": 1}),
    Task("continuous_time_models/accelerated_gradient_flow_convex", "t"),
    Task("continuous_time_models/gradient_flow_convex", "t"),
    Task("continuous_time_models/gradient_flow_strongly_convex", "mu"),
    Task("monotone_inclusions_variational_inequalities/accelerated_proximal_point", "alpha", (), {"n": 2}),
    Task("monotone_inclusions_variational_inequalities/optimal_strongly_monotone_proximal_point", "mu", (), {"n": 1}),
    Task("monotone_inclusions_variational_inequalities/proximal_point", "alpha", (), {"n": 1}),
    Task("nonconvex_optimization/gradient_descent", "L", (), {"n": 5, "gamma": "1/L"}),
    Task("nonconvex_optimization/no_lips_1", "L gamma", ("gamma*L < 1",), {"n": 1}),
    Task("nonconvex_optimization/no_lips_2", "L gamma", _SHORT, {"n": 1}),
    Task("online_learning/online_gradient_descent", "M D", (), {"n": 1}),
    Task("potential_functions/gradient_descent_lyapunov_1", "L", (), {"n": 10, "gamma": "1/L"}),
    Task(
        "stochastic_and_randomized_convex_minimization/randomized_coordinate_descent_smooth_convex",
        "L",
        (),
        {"d": 2, "gamma": "1/L", "t": 3},
    ),
    Task("stochastic_and_randomized_convex_minimization/saga", "L mu", _CURVED, {"n": 2}),
    Task("stochastic_and_randomized_convex_minimization/sgd_overparametrized", "L mu gamma", _BOTH, {"n": 2}),
    Task("tutorials/gradient_descent_contraction", "L mu gamma", (*_CURVED, "gamma*(L + mu) <= 2"), {"n": 1}),
    Task("unconstrained_convex_minimization/accelerated_gradient_convex_simplified", "L", (), {"n": 1, "mu": 0}),
    Task("unconstrained_convex_minimization/conjugate_gradient_qg_convex", "L", (), {"n": 4}),
    Task("unconstrained_convex_minimization/epsilon_subgradient_method", "M gamma eps R", (), {"n": 1}),
    Task("unconstrained_convex_minimization/gradient_descent", "L gamma", _SHORT, {"n": 1}),
    Task("unconstrained_convex_minimization/gradient_descent_qg_convex", "L gamma", ("gamma*L <= 1/2",), {"n": 1}),
    Task("unconstrained_convex_minimization/gradient_exact_line_search", "L mu", _CURVED, {"n": 1}),
    Task("unconstrained_convex_minimization/heavy_ball_momentum_qg_convex", "L", (), {"n": 3}),
    Task(
        "unconstrained_convex_minimization/inexact_gradient_descent",
        "L mu epsilon",
        (*_CURVED, "epsilon < 1"),
        {"n": 1},
    ),
    Task(
        "unconstrained_convex_minimization/inexact_gradient_exact_line_search",
        "L mu epsilon",
        (*_CURVED, "epsilon < 1"),
        {"n": 1},
    ),
    Task("unconstrained_convex_minimization/proximal_point", "gamma", (), {"n": 1}),
    Task("unconstrained_convex_minimization/subgradient_method_rsi_eb", "mu L", _CURVED, {"n": 1, "gamma": "mu/L**2"}),
)


#: How the examples return the value that they state.
_RETURNED = "return pepit_tau, theoretical_tau"


def row(task: Task, file: Path, unstated: bool) -> str:
    """One line of the table."""
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        if unstated:
            text = file.read_text(encoding="utf-8")
            file = Path(folder) / file.name
            assert _RETURNED in text
            file.write_text(text.replace(_RETURNED, "return pepit_tau"), encoding="utf-8")
        found = for_all.prove(file, task.letters.split(), task.where, None, task.at)
    seconds = time.perf_counter() - begun
    arguments = ", ".join(f"{name} = {x}" for name, x in task.at.items())
    conditions = ", ".join(found.conditions) or "all positive"
    outcome = f"no: {found.why}" if found.why else "yes"
    attained = "yes" if found.is_attained else ""
    return f"| {task.name} | {arguments} | {conditions} | {found.stated} | {outcome} | {attained} | {seconds:.1f} |"


def main(names: Sequence[str], seconds: int, out: Path | None, unstated: bool = False) -> None:
    """Print each row as it comes, and write the table."""
    files = dict(examples(()))
    head = "| example | with | where | stated | proved for all | attained there | s |\n" + "|---" * 7 + "|"
    rows = []
    for task in TASKS:
        if names and not any(name in task.name for name in names):
            continue
        try:
            rows.append(limits.limited(partial(row, task, files[task.name], unstated), seconds, name=task.name))
        except ValueError as error:
            rows.append(f"| {task.name} |  |  |  | no: {error} |  |  |")
        print(rows[-1], flush=True)
        proved = sum(line.split(" | ")[4] == "yes" for line in rows)
        if out is not None:
            text = f"Of {len(rows)} examples {proved} are proved for all letters.\n\n{head}\n" + "\n".join(rows) + "\n"
            out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=int, default=300, metavar="S")
    parser.add_argument("--out", type=Path, metavar="FILE.md")
    parser.add_argument("--unstated", action="store_true")
    args = parser.parse_args()
    main(args.names, args.seconds, args.out, args.unstated)
