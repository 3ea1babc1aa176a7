"""Federated Optimization, Section 3.1: the properties A to D of each method, decided by running it on named data.

A: started at the optimum, it stays there. B: with all data on a single node, C: with each feature on a single node, D:
with the same data on every node, it converges in O(1) rounds: ideally in one, exactly. A cell says what was seen:
nothing in it is typed but the names of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.algorithms import (
    cocoa_plus,
    dane,
    dual_block_ascent,
    fsvrg,
    gradient_descent,
    naive_fsvrg,
    perturbed_primal,
)
from fedtheory.numbers.rational import exact, to_float
from fedtheory.papers.fedopt.dane import with_empty_nodes
from fedtheory.papers.fedopt.rounds import ROUNDS, SHARE, best_rate
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.problems.losses import SQUARED
from fedtheory.randomness import expectation
from fedtheory.tables import Column, Entry, Row, Table


def ridge(X: object, y: Any, sizes: tuple[int, ...], lam: Any) -> LinearProblem:
    """Ridge regression in fractions; where all n_k are equal, as here, the F_k of eqs. (6) and (12) are the same."""
    data = LinearModels(exact(np.array(X)), exact(np.array(y)), np.array(sizes), Fraction(lam), SQUARED)
    return LinearProblem(data)


#: The data of the cells. ``general`` decides A; the other names are those of the properties.
_BLOCK, _LABELS = [[1, 2], [3, -1], [0, 1]], [1, 2, -1]
GENERAL = ridge([[1, 2], [3, -1], [0, 1], [2, 2]], [1, 2, -1, 1], (2, 2), "1/3")
ONE_NODE = ridge(_BLOCK, _LABELS, (3,), "1/10")
SEPARATE = ridge(np.kron(np.eye(3, dtype=int), [[1, 2], [3, 1]]), [1, 2, 3, 1, 2, 5], (2, 2, 2), "1/5")
IDENTICAL = ridge(_BLOCK * 3, _LABELS * 3, (3, 3, 3), "1/3")
#: Few examples and a large condition number, where methods are gradient descent.
STIFF = {
    "B": ridge([[60, 0]], [0], (1,), 1),
    "C": ridge([[1, 0], [0, 60]], [0, 0], (1, 1), 1),
    "D": ridge([[60, 0]] * 2, [0, 0], (1, 1), 1),
}
#: Data on which DANE diverges, and on which naive FSVRG is not better.
APART = ridge([[3, 0], [0, 3]], [0, 0], (1, 1), 1)
UNEQUAL = ridge([[1, 0], [0, 10]], [0, 0], (1, 1), "1/100")

_DATA = {"A": GENERAL, "B": ONE_NODE, "C": SEPARATE, "D": IDENTICAL}


def gap_of(problem: LinearProblem, w: Any) -> Any:
    """f(w) - f*."""
    return problem.f.objective(w) - problem.f.objective(problem.x_star)


@dataclass(frozen=True)
class Dual:
    """A method that starts from dual variables: its module, and its parameters for sigma."""

    module: Any
    params: Callable[[Any], Any]

    def model(self, problem: LinearProblem, state: Any) -> Any:
        """The model w of a state, ``(..., d)``: w = X alpha/(lambda n) where the state holds alpha."""
        return state.w if hasattr(state, "w") else problem.f.primal(state.alpha)

    def share(self, problem: LinearProblem, sigma: object) -> Any:
        """The share of D* - D(alpha) that a round leaves; of f(w) - f* for Algorithm 5, which has no alpha."""
        f, params = problem.f, self.params(sigma)
        alpha = exact(np.arange(f.examples) % 3 - 1)
        state = self.module.init(problem, params, alpha)
        after = self.module.step(problem, params, state, np.zeros(0))
        if hasattr(state, "alpha"):
            best = f.dual(f.dual_of(problem.x_star))
            return (best - f.dual(after.alpha)) / (best - f.dual(alpha))
        return gap_of(problem, after.w) / gap_of(problem, state.w)

    def stays(self, problem: LinearProblem, alpha: object) -> bool:
        """Return True if a round with sigma = K leaves the model of ``alpha`` unchanged."""
        state = self.module.init(problem, self.params(Fraction(problem.n)), alpha)
        after = self.module.step(problem, self.params(Fraction(problem.n)), state, np.zeros(0))
        return bool((self.model(problem, after) == self.model(problem, state)).all())

    def cells(self) -> dict[str, str]:
        """Return the observed properties A, B, C and D, in words, for the row of the table."""
        found = {"A": self._at_optimum()}
        for name, sigma in (("B", 1), ("C", 1), ("D", 3)):
            found[name] = _after_a_round(self.share(_DATA[name], Fraction(sigma)), f"sigma = {sigma}")
        other = self.share(SEPARATE, Fraction(3))
        found["C"] += f"; with sigma = K = 3 a round leaves {_short(other)}"
        return found

    def _at_optimum(self) -> str:
        """From alpha*, and from an alpha that has the same image w* with other duals, on x = 1, 2 and y = 1, 0."""
        star = self.stays(GENERAL, GENERAL.f.dual_of(GENERAL.x_star))
        line = LinearProblem(LinearModels(exact([[1], [2]]), exact([1, 0]), np.array([1, 1]), Fraction(1, 2), SQUARED))
        image = self.stays(line, exact([line.f.examples * line.f.lam * line.x_star[0], 0]))
        words = [
            "yes" if star else "no",
            "from alpha*, exactly;",
            "yes" if image else "no",
            "from w* with another alpha",
        ]
        return " ".join(words)


def _short(value: Any) -> str:
    return f"{float(value):.3g}"


def _after_a_round(share: Any, where: str) -> str:
    if share == 0:
        return f"yes: exact after one round ({where})"
    if share < 1:
        return f"not exact: a round leaves {_short(share)} of the gap ({where})"
    return f"no: a round multiplies the gap by {_short(share)} ({where})"


def _stays(module: Any, params: object) -> str:
    state = module.State(GENERAL.x_star)
    draws, _ = module.algorithm.draws(GENERAL, params, state).support()
    after = module.step(GENERAL, params, state, draws)[0]
    return "yes, exactly, for all draws" if (after == GENERAL.x_star).all() else "no"


def _best(module: object, problem: LinearProblem, params_at: Callable[[Any], Any], data: str) -> str:
    """Say whether the best stepsize reduces the gap to a quarter in this many rounds, on data where an
    error is scaled.
    """
    rate = best_rate(module, problem, params_at, np.arange(problem.f.examples))
    left = rate ** (2 * ROUNDS)
    seen = f"{ROUNDS} rounds at the best stepsize leave {_short(left)} of the gap on {data}"
    return f"no: {seen}" if left > Fraction(int(SHARE.p), int(SHARE.q)) else f"seen: {seen}"


_STIFF_WORDS = {
    "B": "x = (60, 0), lambda = 1",
    "C": "x = (1, 0) and (0, 60), lambda = 1",
    "D": "x = (60, 0) twice, lambda = 1",
}


def _descent() -> dict[str, str]:
    found = {"A": _stays(gradient_descent, gradient_descent.Params(Fraction(1, 9)))}
    for name, data in _STIFF_WORDS.items():
        found[name] = _best(gradient_descent, STIFF[name], gradient_descent.Params, data)
    return found


def _fsvrg() -> dict[str, str]:
    found = {"A": _stays(fsvrg, fsvrg.theory(GENERAL, Fraction(5)))}
    for name, data in _STIFF_WORDS.items():
        problem = STIFF[name]
        found[name] = _best(fsvrg, problem, partial(fsvrg.theory, problem), data)
    return found


def _dane() -> dict[str, str]:
    def share(problem: LinearProblem) -> Any:
        start = problem.x_star + exact(np.arange(problem.d) % 2 + 1)
        after = dane.step(problem, dane.Params(), dane.State(start), np.zeros(0)).w
        return gap_of(problem, after) / gap_of(problem, start)

    line = ridge([[2]], [0], (1,), 1)
    idle = with_empty_nodes(1, line.f.lam)
    empty = gap_of(line, idle.step(line, dane.Params(), dane.State(exact([1])), None).w) / gap_of(line, exact([1]))
    return {
        "A": _stays(dane, dane.Params(Fraction(2), Fraction(3))),
        "B": f"{_after_a_round(share(ONE_NODE), 'K = 1')}; {_after_a_round(empty, 'x = 2, an empty node, lambda = 1')}",
        "C": _after_a_round(share(APART), "x = (3, 0) and (0, 3), lambda = 1"),
        "D": _after_a_round(share(IDENTICAL), "mu = 0, eta = 1"),
    }


#: Long local runs of naive FSVRG: stepsize and steps, and the seed and the number of the runs that are averaged.
_LONG, _RUNS = (0.02, 3000), 60


def _naive() -> dict[str, str]:
    def left(problem: LinearProblem, h: float, m: int, offset: object) -> float:
        """The mean share of the gap that a round of long local runs leaves, from w* and an offset."""
        f = problem.f
        floats = LinearModels(to_float(f.X), to_float(f.y), f.sizes, float(f.lam), SQUARED)
        posed, params = LinearProblem(floats), naive_fsvrg.Params(h, m)
        start = naive_fsvrg.State(np.broadcast_to(to_float(problem.x_star) + offset, (_RUNS, f.d)))
        draws = naive_fsvrg.draws(posed, params, start).sample(np.random.default_rng(0), (_RUNS,))
        after = naive_fsvrg.step(posed, params, start, draws).w
        least = floats.objective(to_float(problem.x_star))
        return float((floats.objective(after).mean() - least) / (floats.objective(start.w[0]) - least))

    params = naive_fsvrg.Params(Fraction(1, 20), 2)
    h, m = _LONG
    found = {"A": _stays(naive_fsvrg, naive_fsvrg.Params(Fraction(1, 3), 2))}
    for name in ("B", "D"):
        problem = _DATA[name]
        start = problem.x_star + exact([1, 1])
        draws, p = naive_fsvrg.draws(problem, params, naive_fsvrg.State(start)).support(True)
        after = naive_fsvrg.step(problem, params, naive_fsvrg.State(start), draws).w
        one = expectation(gap_of(problem, after), p) / gap_of(problem, start)
        mean = left(problem, h, m, 1.0)
        verdict = "in the limit of long local runs" if mean < 0.05 else "no"
        found[name] = f"{verdict}: two steps leave {_short(one)} of the gap, {m} of h = {h} leave {_short(mean)}"
    # One example a node: an error along a feature stays along it, and the worse of the two counts.
    lengths = (0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 1.0)
    grid = {T: max(left(UNEQUAL, T / 1000, 1000, offset) for offset in np.eye(2)) for T in lengths}
    best = min(grid, key=grid.__getitem__)
    found["C"] = (
        f"not seen: runs of length m h = {best} leave {_short(grid[best])} of the gap, of 1 {_short(grid[1.0])}, "
        "on x = (1, 0) and (0, 10), lambda = 1/100"
    )
    return found


def _cocoa(contraction: Fraction) -> Callable[[], dict[str, str]]:
    method = Dual(cocoa_plus, lambda sigma: cocoa_plus.Params(sigma, 1, cocoa_plus.scaled(contraction)))
    return method.cells


#: The rows: how their cells are found.
ROWS: dict[str, tuple[str, Callable[[], dict[str, str]]]] = {
    "gradient-descent": ("gradient descent", _descent),
    "dane": ("DANE", _dane),
    "naive-fsvrg": ("naive FSVRG", _naive),
    "fsvrg": ("FSVRG", _fsvrg),
    "algorithm-5": ("Algorithm 5", Dual(perturbed_primal, perturbed_primal.Params).cells),
    "algorithm-6": ("Algorithm 6", Dual(dual_block_ascent, dual_block_ascent.Params).cells),
    "cocoa-plus": ("CoCoA+, exact local steps", _cocoa(Fraction(0))),
    "cocoa-plus-1/4": ("CoCoA+, Theta = 1/4", _cocoa(Fraction(1, 2))),
}
_PROPERTIES = {
    "A": "A: stays at the optimum",
    "B": "B: one node",
    "C": "C: each feature on one node",
    "D": "D: the same data",
}


def build(name: str) -> Table:
    """The matrix of properties; every cell is what the method did on the data that it names."""
    rows = []
    for key, (label, cells) in ROWS.items():
        found = cells()
        rows.append(Row(key, label, tuple(Entry(found[letter]) for letter in _PROPERTIES), ()))
    return Table(
        name,
        tuple(Column(text, text) for text in _PROPERTIES.values()),
        tuple(rows),
        "Ridge regression in fractions, but for the long runs of naive FSVRG. Yes is about the data of the cell, no "
        "about the property, which concerns all data. Gaps are f(w) - f*, for the dual methods D* - D(alpha). DANE "
        "with mu = 0, eta = 1 (A: any).",
        title="Which method has which of the properties A to D (Federated Optimization, Section 3.1).",
    )
