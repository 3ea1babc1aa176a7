"""A picture of a counterexample in one dimension: the functions, their mean, its minimiser, the rounds of the run."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import numpy as np
from matplotlib.axes import Axes

from verify.base.case import Case
from verify.base.evaluate import rollout
from verify.comparisons import naming, orders
from verify.comparisons.exact import is_enumerable
from verify.evidence.counterexamples import Counterexample
from verify.report import formulas, placing, style

#: Points of the curve.
_POINTS = 400
#: The share of the shown range by which the curve goes beyond it on each side.
_BEYOND = 0.25
#: Functions that have a colour and a label each, and outcomes of a random round that are drawn.
_FEW = 4
#: Names of parts of a state that are a point for each client, where no kind is declared: others may be dual vectors.
_MODELS = ("w", "W", "X")


class _Visited(NamedTuple):
    """The points of a run: for each round those of the clients, or a single one; and the outcomes of a round that is
    random.
    """

    rounds: list[list[float]]
    outcomes: list[list[float]]


class _Curve(NamedTuple):
    """The average of functions of one variable; of a single one the function."""

    lines: Sequence[formulas.Line]

    def at(self, t: float) -> float:
        """The value at t."""
        return float(sum(line.at(Fraction(t)) for line in self.lines) / len(self.lines))


def draw(example: Counterexample, path: Path) -> None:
    """Draw a counterexample into a PNG or SVG file. Raise ``ValueError`` if it is not of functions of one variable that
    can be written out."""
    claim, case = example.claim, example.case
    if example.part.startswith(orders.PREFIX):
        raise ValueError(f"the counterexample of {claim.id} has no picture: it is a curve of constants")
    problem, state = placing.posed(example, case)
    f = getattr(problem, "f", None)
    composed = getattr(problem, "g", None) is not None or getattr(problem, "coupling", None) is not None
    lines = [] if f is None or composed else formulas.lines_of(f)
    if not lines:
        why = f"it is in {f.d} dimensions" if f is not None and f.d > 1 else "it is not of functions of one variable"
        raise ValueError(f"the counterexample of {claim.id} has no picture: {why}")
    visited = _visited(example, case, problem, state)
    known = getattr(problem, "known", None)
    least = None if known is None else float(np.ravel(known.x)[0])
    marks = [t for points in (*visited.rounds, *visited.outcomes) for t in points]
    marks += [float(t) for line in lines for t in (*line.places, *_minimiser(line))]
    marks += [] if least is None else [least]
    low, high = (min(marks), max(marks)) if marks else (0.0, 0.0)
    width = (high - low) or 1.0
    x = np.linspace(low - _BEYOND * width, high + _BEYOND * width, _POINTS)
    each, average = [_Curve([line]) for line in lines], _Curve(lines)
    with style.within():
        figure = style.figure(style.COLUMN, 2.9)
        axes = figure.subplots()
        if len(lines) > 1:
            for i, curve in enumerate(each):
                colour = style.COLOURS[(i + 1) % len(style.COLOURS)] if len(lines) <= _FEW else "0.75"
                label = f"$f_{{{i + 1}}}$" if len(lines) <= _FEW else "$f_i$" if i == 0 else None
                dash = style.DASHES[(i + 1) % len(style.DASHES)] if len(lines) <= _FEW else "-"
                axes.plot(x, [curve.at(t) for t in x], color=colour, linestyle=dash, linewidth=0.9, label=label)
        # Weights of a method are not those of the picture: the curve is the plain mean.
        mean = "$f$" if len(lines) == 1 else r"$\frac{1}{n} \sum f_i$"
        axes.plot(x, [average.at(t) for t in x], color=style.COLOURS[0], label=mean)
        if least is not None:
            axes.plot(least, average.at(least), "*", color=style.RED, markersize=9, label="$x^*$", zorder=4)
        _draw_run(axes, visited, each, average)
        axes.set_xlabel("$x$")
        axes.set_ylabel("$f(x)$" if len(lines) == 1 else "$f_i(x)$")
        style.grid(axes)
        axes.legend(loc="best", frameon=True)
        relation = {"<=": r"$\leq$", "==": "="}.get(example.relation, example.relation)
        numbers = f"{naming.number(example.left)} {relation} {naming.number(example.right)} is false"
        axes.set_title(f"{claim.id}\n{numbers}", fontsize=7)
        style.save(figure, path)


def _draw_run(axes: Axes, visited: _Visited, each: Sequence[_Curve], average: _Curve) -> None:
    """Draw the points of a run: a server's on the average, the clients' on their functions."""
    rounds = visited.rounds
    for i in range(len(rounds[0]) if rounds else 0):
        curve = average if len(rounds[0]) == 1 else each[i]
        steps = [points[i] for points in rounds]
        label = ("start and rounds" if len(steps) > 1 else "start") if i == 0 else None
        axes.plot(steps, [curve.at(t) for t in steps], "o--", color="0.2", linewidth=0.8, label=label, zorder=3)
        for k, t in enumerate(steps):
            axes.annotate(str(k), (t, curve.at(t)), textcoords="offset points", xytext=(-8, 4), fontsize=7)
        after = [points[i] for points in visited.outcomes]
        label = "after the round, by the draw" if i == 0 else None
        if after:
            heights = [curve.at(t) for t in after]
            axes.plot(after, heights, "s", color="0.2", markerfacecolor="white", label=label, zorder=3)


def _minimiser(line: formulas.Line) -> list[Fraction]:
    """The point where a function is least, if there is a single one."""
    found = line.least() or []
    return [a for a, b in found if a is not None and a == b and len(found) == 1]


def _visited(example: Counterexample, case: Case, problem: Any, state: Any) -> _Visited:
    """The point of the state, or those of the clients, at the start and after each round up to one that is random; of a
    whole run, those of each of its states. Nothing of a state of dual vectors.
    """
    claim = example.claim
    if state is None:
        return _Visited([], [])
    if hasattr(state, "states"):
        states = state.states()
        models = [name for name in states[0]._fields if name.lower() in ("w", "x")]
        of = [[_points(getattr(one, name)) for one in states] for name in models]
        # The server's model, or the clients' if that stays.
        return _Visited(next((run for run in of if any(points != run[0] for points in run)), of[0]), [])
    name = next((part for part in state._fields if np.ndim(getattr(state, part)) == 3), None)
    name = name or next((part for part in state._fields if _is_model(state, part)), None)
    if name is None:
        return _Visited([], [])
    found, rounds = [_points(getattr(state, name))], example.rounds if claim.statement.stepping else 0
    for k in range(1, rounds + 1):
        if not is_enumerable(case, k):
            break
        later, probabilities = rollout(case, problem, state, k)
        after = getattr(later, name)
        if len(probabilities) > 1:
            outcomes = [_points(after[:, j : j + 1]) for j in range(np.shape(after)[1])]
            distinct = [points for j, points in enumerate(outcomes) if points not in outcomes[:j]]
            return _Visited(found, distinct[:_FEW])
        found.append(_points(after))
    return _Visited(found, [])


def _is_model(state: Any, part: str) -> bool:
    """Return True if a part of a state is a point for each client."""
    declared = getattr(get_type_hints(type(state), include_extras=True).get(part), "__metadata__", ())
    return np.ndim(getattr(state, part)) == 4 and ("models" in declared or part in _MODELS)


def _points(array: Any) -> list[float]:
    return [float(t) for t in np.ravel(array)]
