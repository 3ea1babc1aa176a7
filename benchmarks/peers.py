"""Beside peers, in one run: PEPit on one step of five methods with n clients, AutoLyap on methods without randomness.

``python -m benchmarks.peers [--seconds S] [N ...]`` prints the tables of ``benchmarks/README.md`` (n = 2, 5, 10, 20).
Of each method it is the inequality of the claim that is named, at mu = 1/10 and L = 1. PEPit's time is that of posing
and solving; its bound is a float with a dual solution that holds up to the tolerance of the solver. Ours ends with
rational multipliers whose identity is checked exactly. The last columns are of the proof for all letters and all n,
10^6 and beyond: of checking the multipliers that are stored, as an audit does, and of finding them.

A program that took more than S seconds (60) is not tried with more clients. AutoLyap is measured where it is installed.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from PEPit import PEP, Point
from PEPit.functions import SmoothFunction, SmoothStronglyConvexFunction

from benchmarks.timing import Line
from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.classes import PolyakLojasiewicz
from fedtheory.instances import Recipe
from fedtheory.sampling import derived
from verify.base.case import Case
from verify.base.own import load
from verify.base.verdict import Verdict
from verify.multipliers import proving
from verify.multipliers.cases import cases
from verify.multipliers.posing import NeverOccurs, OfOneClient, Posed, pose
from verify.multipliers.search import search
from verify.multipliers.work import Work
from verify.pep.worst_case import certify

MU, L = Fraction(1, 10), Fraction(1)
#: Numbers of clients, unless others are asked for.
SIZES = (2, 5, 10, 20)
#: Units of work for a search for multipliers in all letters.
PATIENCE = 1_000_000


class Method(NamedTuple):
    """``id``: the claim; ``letters``: what is fixed besides mu, L and n; ``posed(n)``: PEPit's program of it."""

    id: str
    letters: Callable[[int], dict[str, Fraction]]
    posed: Callable[[int], PEP]


def _sum(terms: Sequence[Any]) -> Any:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _functions(problem: PEP, n: int) -> list[Any]:
    """f_1, ..., f_n, mu-strongly convex and L-smooth."""
    return [problem.declare_function(SmoothStronglyConvexFunction, mu=float(MU), L=float(L)) for _ in range(n)]


def _optimum(functions: Sequence[Any]) -> tuple[Point, list[Point]]:
    """x* and the grad f_i(x*)."""
    x_star = (_sum(functions) / len(functions)).stationary_point()
    return x_star, [f.gradient(x_star) for f in functions]


def _contraction(problem: PEP, before: Any, after: Any) -> PEP:
    problem.set_initial_condition(before <= 1)
    problem.set_performance_metric(after)
    return problem


def _gradient_descent(n: int) -> PEP:
    problem = PEP()
    functions = _functions(problem, n)
    x_star, _ = _optimum(functions)
    x = problem.set_initial_point()
    moved = x - float(_GD["gamma"]) * _sum([f.gradient(x) for f in functions]) / n
    return _contraction(problem, (x - x_star) ** 2, (moved - x_star) ** 2)


def _saga(n: int) -> PEP:
    problem = PEP()
    functions = _functions(problem, n)
    x_star, slopes = _optimum(functions)
    gamma = float(_saga_letters(n)["gamma"])
    c = 1 / (2 * gamma * (1 - gamma * float(MU)) * n)
    x = problem.set_initial_point()
    table = [problem.set_initial_point() for _ in range(n)]
    stored = [f.gradient(phi) for f, phi in zip(functions, table, strict=True)]
    fresh = [f.gradient(x) for f in functions]

    def tangent(i: int, at: Point) -> Any:
        """f_i at a point above its tangent at x*."""
        return functions[i](at) - functions[i](x_star) - slopes[i] * (at - x_star)

    kept = [tangent(i, phi) for i, phi in enumerate(table)]
    after = []
    for i in range(n):
        moved = x - gamma * (fresh[i] - stored[i] + _sum(stored) / n)
        after.append(c * (moved - x_star) ** 2 + (_sum(kept) - kept[i] + tangent(i, x)) / n)
    return _contraction(problem, c * (x - x_star) ** 2 + _sum(kept) / n, _sum(after) / n)


def _diana(n: int) -> PEP:
    """Errors of unbiased, independent compressors add omega times the squares of what is compressed."""
    problem = PEP()
    functions = _functions(problem, n)
    x_star, slopes = _optimum(functions)
    gamma, alpha, omega = (float(_diana_letters(n)[x]) for x in ("gamma", "alpha", "omega"))
    x = problem.set_initial_point()
    h = [Point() for _ in range(n)]
    sent = [f.gradient(x) - h_i for f, h_i in zip(functions, h, strict=True)]
    spread = omega * _sum([delta**2 for delta in sent])
    moved = x - gamma * _sum([h_i + delta for h_i, delta in zip(h, sent, strict=True)]) / n
    weight = 4 * omega * gamma**2 / (n**2 * alpha)
    old = _sum([(h_i - s) ** 2 for h_i, s in zip(h, slopes, strict=True)])
    new = _sum([(h_i + alpha * delta - s) ** 2 for h_i, delta, s in zip(h, sent, slopes, strict=True)])
    after = (moved - x_star) ** 2 + gamma**2 / n**2 * spread + weight * (new + alpha**2 * spread)
    return _contraction(problem, (x - x_star) ** 2 + weight * old, after)


def _ef21(n: int) -> PEP:
    """f_i L-smooth; of f, that |grad f|^2 >= 2 mu (f - f*) at both points."""
    problem = PEP()
    functions = [problem.declare_function(SmoothFunction, L=float(L)) for _ in range(n)]
    gamma, alpha = float(_EF21["gamma"]), float(_EF21["alpha"])
    theta = 1 - (1 - alpha) ** 0.5
    x_star, _ = _optimum(functions)
    best = _sum([f(x_star) for f in functions]) / n
    x = problem.set_initial_point()
    g = [Point() for _ in range(n)]
    moved = x - gamma * _sum(g) / n
    for at in (x, moved):
        gap = _sum([f(at) for f in functions]) / n - best
        problem.add_constraint((_sum([f.gradient(at) for f in functions]) / n) ** 2 >= 2 * float(MU) * gap)
        problem.add_constraint(gap >= 0)
    renewed = [Point() for _ in range(n)]
    for f, g_i, new in zip(functions, g, renewed, strict=True):
        problem.add_constraint((f.gradient(moved) - new) ** 2 <= (1 - alpha) * (f.gradient(moved) - g_i) ** 2)

    def potential(at: Point, estimates: Sequence[Point]) -> Any:
        errors = _sum([(g_i - f.gradient(at)) ** 2 for f, g_i in zip(functions, estimates, strict=True)]) / n
        return _sum([f(at) for f in functions]) / n - best + gamma / theta * errors

    return _contraction(problem, potential(x, g), potential(moved, renewed))


def _scaffnew(n: int) -> PEP:
    problem = PEP()
    functions = _functions(problem, n)
    x_star, slopes = _optimum(functions)
    gamma, p = float(_SCAFFNEW["gamma"]), float(_SCAFFNEW["p"])
    x = [problem.set_initial_point() for _ in range(n)]
    h = [Point() for _ in range(n - 1)]
    h.append(-1 * _sum(h))
    local = [x_i - gamma * (f.gradient(x_i) - h_i) for f, x_i, h_i in zip(functions, x, h, strict=True)]
    mean = _sum(local) / n

    def potential(models: Sequence[Point], control: Sequence[Point]) -> Any:
        far = _sum([(x_i - x_star) ** 2 for x_i in models])
        return far + (gamma / p) ** 2 * _sum([(h_i - s) ** 2 for h_i, s in zip(control, slopes, strict=True)])

    corrected = [h_i + p / gamma * (mean - x_i) for h_i, x_i in zip(h, local, strict=True)]
    after = p * potential([mean] * n, corrected) + (1 - p) * potential(local, h)
    return _contraction(problem, potential(x, h), after)


_GD = {"gamma": Fraction(1)}
_EF21 = {"gamma": Fraction(2, 5), "alpha": Fraction(3, 4)}
_SCAFFNEW = {"gamma": Fraction(1), "p": Fraction(1, 4)}


def _saga_letters(n: int) -> dict[str, Fraction]:
    return {"gamma": 1 / (2 * (MU * n + L))}


def _diana_letters(n: int) -> dict[str, Fraction]:
    omega = Fraction(1)
    return {"omega": omega, "alpha": 1 / (1 + omega), "gamma": 1 / (L * (1 + 6 * omega / n))}


METHODS = (
    Method("baseline/gradient-descent/one-step", lambda n: _GD, _gradient_descent),
    Method("baseline/saga/one-step", _saga_letters, _saga),
    Method("baseline/diana/one-step", _diana_letters, _diana),
    Method("baseline/ef21/one-step", lambda n: _EF21, _ef21),
    Method("baseline/scaffnew/one-step", lambda n: _SCAFFNEW, _scaffnew),
)


class Found(NamedTuple):
    """Seconds of processor time, and the factor by which the potential contracts at most."""

    seconds: float
    factor: float


def timed(run: Callable[[], float]) -> Found:
    """A run's result, and its processor time."""
    begun = time.process_time()
    factor = run()
    return Found(time.process_time() - begun, factor)


def theirs(method: Method, n: int) -> float:
    """PEPit's bound."""
    return float(method.posed(n).solve(wrapper="cvxpy", solver="CLARABEL", verbose=0))


def ours(method: Method, n: int) -> float:
    """The least factor for which rational multipliers were found, at most 1e-6 above what the solver returned."""
    claim = claims.get(method.id)
    letters = {"mu": MU, "L": L, "n": Fraction(n), **method.letters(n)}
    if isinstance(claim.setting.functions, PolyakLojasiewicz):
        # A class without a grid: n functions of curvature L, of which the program only takes the constants.
        client = {"h": (L,), "y": (Fraction(0),)}
        recipe: Recipe = {"d": 1, "x": (Fraction(0),), "clients": (client,) * n, "k": 0, **letters}
    else:
        recipe = derived.at_letters(claim, {"kappa": L / MU, **letters}, 0)
    found = certify(Case(claim, recipe), tight=True)
    if found.verdict is not Verdict.CERTIFIED or found.upper is None:
        raise ValueError(f"nothing is certified of {method.id} at n = {n}: {found.note}")
    return float(found.upper)


def checked(claim: Claim) -> float:
    """Processor seconds of checking the multipliers that are stored, for all letters and all n."""
    begun = time.process_time()
    shown = proving.prove(claim, 0)
    if isinstance(shown, str):
        raise ValueError(f"{claim.id}: {shown}")
    return time.process_time() - begun


def searched(claim: Claim) -> float | None:
    """Processor seconds of finding multipliers in all letters and n, of which nothing is known; None if none were."""
    begun = time.process_time()
    for posed in _cases(claim):
        if isinstance(search(posed, Work(PATIENCE)), str):
            return None
    return time.process_time() - begun


def _cases(claim: Claim) -> Iterator[Posed]:
    """The cases that a proof for all letters distinguishes, posed."""
    waiting = cases(claim)
    while waiting:
        case = waiting.pop(0)
        try:
            yield pose(claim, case)
        except OfOneClient:
            waiting = [replace(case, alone=alone) for alone in (True, False)] + waiting
        except NeverOccurs:
            continue


def measured(
    method: Method, run: Callable[[Method, int], float], sizes: Sequence[int], patience: float
) -> Iterator[Found]:
    """One program of a method at several numbers of clients, up to the first that takes longer than ``patience``."""
    for n in sizes:
        found = timed(partial(run, method, n))
        yield found
        if found.seconds > patience:
            return


def lines() -> Iterator[Line]:
    """The same without the search for all n, and without AutoLyap; of what takes long fewer clients."""
    for method in METHODS:
        for name, run in (("PEPit", theirs), ("ours", ours)):
            for n, found in zip(SIZES, measured(method, run, SIZES, 20.0), strict=False):
                note = f"factor {found.factor:.6f}"
                yield Line(method.id, f"{name}, n = {n}", found.seconds, "s", note=note)
        yield Line(method.id, "ours, every n", checked(claims.get(method.id)), "s", note="a stored proof is checked")


def with_clients(sizes: Sequence[int], patience: float) -> Iterator[list[str]]:
    """The rows of the table of methods with n clients."""
    for method in METHODS:
        claim = claims.get(method.id)
        row = [method.id]
        for run in (theirs, ours):
            found = list(measured(method, run, sizes, patience))
            row += [f"{one.seconds:.2f} ({one.factor:.6f})" for one in found]
            row += ["-"] * (len(sizes) - len(found))
        seconds = searched(claim)
        yield [*row, f"{checked(claim):.2f}", "not found" if seconds is None else f"{seconds:.1f}"]


class Deterministic(NamedTuple):
    """``file``: where our claim is; ``letters``: its values; ``factor``: the theorem's; ``peer``: AutoLyap's method
    and problem, of which some quadratic potential above the squared distance to the optimum should contract by it."""

    file: str
    letters: Mapping[str, Fraction]
    factor: Fraction
    peer: Callable[[Any], tuple[Any, Any]]


#: At kappa = 9, a square, as Nesterov's method takes the root.
_KAPPA = {"mu": Fraction(1, 9), "L": Fraction(1)}


def _smooth(autolyap: Any) -> Any:
    return autolyap.problemclass.InclusionProblem([autolyap.problemclass.SmoothStronglyConvex(1 / 9, 1.0)])


DETERMINISTIC = (
    Deterministic(
        "examples/gallery/gradient_descent.py",
        {**_KAPPA, "gamma": Fraction(9, 5)},
        Fraction(16, 25),
        lambda autolyap: (autolyap.algorithms.GradientMethod(1.8), _smooth(autolyap)),
    ),
    Deterministic(
        "examples/proximal_point.py",
        {**_KAPPA, "gamma": Fraction(3)},
        Fraction(9, 16),
        lambda autolyap: (autolyap.algorithms.ProximalPoint(3.0), _smooth(autolyap)),
    ),
    Deterministic(
        "examples/gallery/nesterov_strongly_convex.py",
        {**_KAPPA, "q": Fraction(1, 3)},
        Fraction(2, 3),
        lambda autolyap: (autolyap.algorithms.NesterovConstant(1 / 9, 1.0), _smooth(autolyap)),
    ),
)


def _contracts(autolyap: Any, example: Deterministic) -> float:
    """The factor, by which AutoLyap finds that a potential contracts; ``ValueError`` where it finds none."""
    algorithm, problem = example.peer(autolyap)
    independent = autolyap.IterationIndependent
    P, p, T, t = independent.LinearConvergence.get_parameters_distance_to_solution(algorithm)
    options = autolyap.solver_options.SolverOptions(backend="cvxpy", cvxpy_solver="CLARABEL")
    rho = float(example.factor) * (1 + 1e-6)
    found = independent.search_lyapunov(problem, algorithm, P, T, p, t, rho=rho, solver_options=options, verbosity=0)
    if found["status"] != "feasible":
        raise ValueError(f"AutoLyap says {found['status']} of {example.file}")
    return float(example.factor)


def _holds(claim: Claim, letters: Mapping[str, Fraction]) -> float:
    """The factor of a claim that is certified at these letters."""
    recipe = derived.at_letters(claim, {"n": Fraction(1), "kappa": Fraction(9), **letters}, 0)
    found = certify(Case(claim, recipe))
    if found.verdict is not Verdict.CERTIFIED:
        raise ValueError(f"{claim.id} is {found.verdict}: {found.note}")
    return float(found.claimed)


def without_randomness() -> Iterator[list[str]]:
    """The rows of methods without randomness: does the theorem's factor hold?"""
    autolyap = importlib.import_module("autolyap")
    for name in ("algorithms", "problemclass", "solver_options"):
        importlib.import_module(f"autolyap.{name}")
    for example in DETERMINISTIC:
        claim = load(Path(example.file))[0]
        runs = (partial(_contracts, autolyap, example), partial(_holds, claim, example.letters))
        least = [min(timed(run).seconds for _ in range(4)) for run in runs]
        yield [claim.id, *(f"{seconds:.3f}" for seconds in least)]


def table(heads: Sequence[str], rows: Iterator[list[str]]) -> None:
    """A table in Markdown, a row as soon as it is measured."""
    print("| " + " | ".join(heads) + " |")
    print("| --- |" + " ---: |" * (len(heads) - 1), flush=True)
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def main() -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(description="Beside PEPit and AutoLyap.", allow_abbrev=False)
    parser.add_argument("sizes", nargs="*", type=int, metavar="N", help="numbers of clients (2 5 10 20)")
    parser.add_argument("--seconds", type=float, default=60.0, help="beyond which more clients are not tried (60)")
    asked = parser.parse_args()
    sizes = asked.sizes or SIZES
    if min(sizes) < 1:
        parser.error("a number of clients must be at least 1")
    heads = [f"PEPit, n = {n}" for n in sizes] + [f"ours, n = {n}" for n in sizes]
    if importlib.util.find_spec("autolyap") is None:
        print("AutoLyap is not installed", flush=True)
    else:
        table(["does the factor hold?", "AutoLyap", "ours, in fractions"], without_randomness())
    table(["seconds (factor)", *heads, "all n: checked", "all n: found"], with_clients(sizes, asked.seconds))


if __name__ == "__main__":
    main()
