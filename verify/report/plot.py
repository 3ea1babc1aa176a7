"""A picture of a counterexample of one function of one variable: the function, its minimiser, the rounds of the run."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from verify.base.case import Case
from verify.base.evaluate import rollout
from verify.comparisons import naming
from verify.comparisons.exact import is_enumerable
from verify.evidence.counterexamples import Counterexample
from verify.report import by_hand, formulas, style

#: Points of the curve.
_POINTS = 400
#: The share of the shown range by which the curve goes beyond it on each side.
_BEYOND = 0.25
#: Letters of a line above the curve.
_LETTERS = 52


def draw(example: Counterexample, path: Path) -> None:
    """Draw a counterexample into a PNG or SVG file. Raise ``ValueError`` if it is not of one function of one variable
    that can be written out."""
    claim, case = example.claim, example.case
    problem, state = by_hand.posed(example, case)
    f = getattr(problem, "f", None)
    lines = [] if f is None or f.n != 1 or getattr(problem, "g", None) is not None else formulas.lines_of(f)
    if not lines or state is None:
        raise ValueError(f"the counterexample of {claim.id} has no picture: it is not of one function of one variable")
    line = lines[0]
    visited = _visited(example, case, problem, state)
    marks = [float(t) for t in visited] + [float(t) for t in _ends(line)]
    known = getattr(problem, "known", None)
    least = None if known is None else float(np.ravel(known.x)[0])
    marks += [] if least is None else [least]
    low, high = min(marks), max(marks)
    width = (high - low) or 1.0
    x = np.linspace(low - _BEYOND * width, high + _BEYOND * width, _POINTS)
    with style.within():
        figure = style.figure(style.COLUMN, 2.9)
        axes = figure.subplots()
        axes.plot(x, [_at(line, t) for t in x], color=style.COLOURS[0], label="$f$")
        if least is not None:
            axes.plot(least, _at(line, least), "*", color=style.RED, markersize=9, label="$x^*$", zorder=4)
        steps = [float(t) for t in visited]
        label = "start and rounds" if len(steps) > 1 else "state"
        axes.plot(steps, [_at(line, t) for t in steps], "o--", color="0.2", linewidth=0.8, label=label, zorder=3)
        for k, t in enumerate(steps):
            axes.annotate(str(k), (t, _at(line, t)), textcoords="offset points", xytext=(-8, 4), fontsize=7)
        axes.set_xlabel("$x$")
        axes.set_ylabel("$f(x)$")
        style.grid(axes)
        axes.legend(loc="best", frameon=True)
        relation = {"<=": r"$\leq$", "==": "="}.get(example.relation, example.relation)
        numbers = f"{naming.number(example.left)} {relation} {naming.number(example.right)} is false"
        axes.set_title(f"{claim.id}\n{numbers}", fontsize=7)
        style.save(figure, path)


def _at(line: formulas.Line, t: float) -> float:
    return float(line.at(Fraction(t)))


def _ends(line: formulas.Line) -> list[Fraction]:
    return list(line.places)


def _visited(example: Counterexample, case: Case, problem: Any, state: Any) -> list[Any]:
    """The first point of the state, at the start and after each round, as long as nothing is drawn; of a whole run,
    that of each of its states."""
    claim = example.claim
    if hasattr(state, "states"):
        states = state.states()
        models = [name for name in states[0]._fields if name.lower() in ("w", "x")]
        of = [[np.ravel(getattr(one, name))[0] for one in states] for name in models]
        # The server's model, or the clients' if that stays.
        return next((points for points in of if len(set(points)) > 1), of[0])
    name = next((part for part in state._fields if np.ndim(getattr(state, part)) == 3), None)
    if name is None:
        raise ValueError(f"the counterexample of {claim.id} has no picture: its state has no point")
    found, rounds = [getattr(state, name)], example.rounds if claim.statement.stepping else 0
    for k in range(1, rounds + 1):
        if not is_enumerable(case, k):
            break
        later, probabilities = rollout(case, problem, state, k)
        if len(probabilities) > 1:
            break
        found.append(getattr(later, name))
    return [np.ravel(point)[0] for point in found]
