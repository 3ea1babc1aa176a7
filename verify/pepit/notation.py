"""How the points, function values and constraints of a model are written: as papers do, with points of a method as
sums of others.

A function's points are numbered by PEPit. What is taken at the point number 1 of f is x_1, its gradient there g_1 and
its value f_1; of other functions these have their letters. Where a gradient is 0 the point is x*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from verify.pepit import exactly

#: Letters of functions; gradients of the first one are g.
_FUNCTIONS = "fhpqrstuvwabcde"
#: A constraint that interpolates a function, by PEPit's name of it.
_INTERPOLATING = re.compile(r"IC_Function_(\d+)_(.+?)\(Point_(\d+)(?:, Point_(\d+))?\)")


@dataclass(frozen=True)
class Notation:
    """The names in a model.

    Attributes:
        points: Of points from which all others are made, by PEPit's counters.
        values: The same of function values.
        defined: Sentences that say which functions there are and what their points are.
        functions: Letters of functions with the names of their points, by PEPit's number of the function.
    """

    points: Mapping[int, str] = field(default_factory=dict)
    values: Mapping[int, str] = field(default_factory=dict)
    defined: tuple[str, ...] = ()
    functions: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)

    def numbered(self, points: Mapping[int, int], values: Mapping[int, int]) -> Notation:
        """The notation by the numbers that a model has for what PEPit counts."""
        return replace(
            self,
            points={number: self.points[c] for c, number in points.items() if c in self.points},
            values={number: self.values[c] for c, number in values.items() if c in self.values},
        )

    def point(self, number: int) -> str:
        """The name of a point."""
        return self.points.get(number, f"{number:03d}")

    def value(self, number: int) -> str:
        """The name of a function value."""
        return self.values.get(number, f"value {number}")

    def constraint(self, name: str) -> str:
        """A constraint in words, by PEPit's name of it; empty where there is no notation."""
        match = _INTERPOLATING.fullmatch(name)
        if match is None or match[1] not in self.functions:
            return name if self.values else ""
        letter, points = self.functions[match[1]]
        ends = [points[int(k)] for k in match.groups()[2:] if k is not None]
        where = f"between {ends[0]} and {ends[1]}" if len(ends) == 2 else f"at {ends[0]}"
        return f"{match[2].replace('_', ' ')} of {letter}, {where}"


def of(problem: Any, number: Callable[[Any], str]) -> Notation:
    """The notation of a ``PEPit.PEP`` whose constraints are prepared.

    ``number``: writes a coefficient.
    """
    from PEPit import Function, Point

    points: dict[int, str] = {}
    values: dict[int, str] = {}
    functions: dict[str, tuple[str, tuple[str, ...]]] = {}
    leaves = [f for f in problem.list_of_functions if f.get_is_leaf()]
    if len(leaves) > len(_FUNCTIONS):
        return Notation()
    # A problem knows the functions that it declared; their sums, which may have minimisers, know themselves.
    of_leaves = {id(f) for f in leaves}
    sums = [
        f
        for f in Function.list_of_functions
        if not f.get_is_leaf() and f.list_of_points and all(id(one) in of_leaves for one in f.decomposition_dict)
    ]
    if len(sums) > len(_FUNCTIONS):
        return Notation()
    optima = {x.counter for f in (*leaves, *sums) for x, _, _ in f.list_of_stationary_points}
    for name, x in enumerate(sorted(k for k in optima if k is not None)):
        points[x] = "x*" if not name else f"y_{name}"
    for letter, f in zip(_FUNCTIONS.upper(), sums, strict=False):
        for k, (_, _, value) in enumerate(f.list_of_points):
            if value.counter is not None:
                values.setdefault(value.counter, f"{letter}_{k}")
    named = {}
    for letter, f in zip(_FUNCTIONS, leaves, strict=False):
        of_points: list[str] = []
        for k, (x, g, value) in enumerate(f.list_of_points):
            here, slope = _names_of(letter, k)
            if x.counter is not None:
                here = points.setdefault(x.counter, here)
            if g.counter is not None:
                points.setdefault(g.counter, slope)
            if value.counter is not None:
                values.setdefault(value.counter, f"{letter}_{k}")
            of_points.append(here)
        named[letter] = tuple(of_points)
        functions[str(f.counter)] = (letter, named[letter])
    others = [x.counter for x in Point.list_of_leaf_points if x.counter not in points]
    points |= {x: "z" if len(others) == 1 else f"z_{k}" for k, x in enumerate(others)}
    defined = []
    for letter, f in zip(_FUNCTIONS, leaves, strict=False):
        lines: list[str] = []
        for k, (x, g, value) in enumerate(f.list_of_points):
            slope = _names_of(letter, k)[1]
            if x.counter is None:
                lines.append(f"{named[letter][k]} = {_sum(x, points, number)}")
            if g.counter is None or points[g.counter] != slope:
                lines.append(f"{slope} = {_sum(g, points, number)}")
            if value.counter is None or values[value.counter] != f"{letter}_{k}":
                lines.append(f"{letter}_{k} = {_sum(value, values, number)}")
        of_gradients = "g_k" if letter == "f" else f"g_{letter}k"
        kind = re.sub(r"(?<!^)(?=[A-Z])", " ", type(f).__name__).lower()
        what = f"its (sub)gradient at number k, and {letter}_k its value"
        if type(f).__module__.startswith("PEPit.operators"):
            what = "what it gives at number k"
        points_of = f"The points of {letter}, numbered from 0, are {', '.join(named[letter])}"
        start = f"{letter} is a {kind}. {points_of}; {of_gradients} is {what}"
        defined.append("; ".join([start, *lines]) + ".")
    letters = {id(f): letter for letter, f in zip(_FUNCTIONS, leaves, strict=False)}
    for letter, f in zip(_FUNCTIONS.upper(), sums, strict=False):
        lines = [
            f"{letter}_{k} is its value at {_sum(x, points, number)}"
            for k, (x, _, value) in enumerate(f.list_of_points)
            if values.get(value.counter) == f"{letter}_{k}"
        ]
        if lines:
            whole = _written([(letters[id(one)], c) for one, c in f.decomposition_dict.items()], number)
            defined.append("; ".join([f"{letter} = {whole}", *lines]) + ".")
    if others:
        them = ", ".join(points[x] for x in others)
        one = len(others) == 1
        defined.append(f"{them} {'is another point' if one else 'are other points'}, such as where a method starts.")
    if problem.objective.counter is not None:
        values[problem.objective.counter] = "tau"
    return Notation(points, values, tuple(defined), functions)


def _names_of(letter: str, k: int) -> tuple[str, str]:
    """The point number k of a function and the gradient there."""
    return (f"x_{k}", f"g_{k}") if letter == "f" else (f"x_{letter}{k}", f"g_{letter}{k}")


def _sum(of: Any, names: Mapping[int, str], number: Callable[[Any], str]) -> str:
    """A point or a function value as a sum of those that have names, the constant of a value last."""
    terms = [
        (names.get(key.counter, "") if hasattr(key, "counter") else "1", c) for key, c in of.decomposition_dict.items()
    ]
    return _written(terms, number) if all(name for name, _ in terms) else "a sum of others"


def _written(terms: Iterable[tuple[str, Any]], number: Callable[[Any], str]) -> str:
    """A sum of names times coefficients."""
    out = ""
    for name, c in terms:
        coefficient = number(c)
        if coefficient == "0":
            continue
        negative = coefficient.startswith("-") and not _is_sum(coefficient[1:])
        size = coefficient[1:] if negative else coefficient
        if _is_sum(size):
            size = f"({size})"
        term = size if name == "1" else name if size == "1" else f"{size}*{name}"
        sign = (" - " if negative else " + ") if out else "-" if negative else ""
        out += sign + term
    return out or "0"


def _is_sum(text: str) -> bool:
    """Return True if a formula has plus or minus outside all parentheses."""
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign in "+-" and not depth:
            return True
    return False


def fraction(c: Any) -> str:
    """A coefficient of a model at a point, in a text."""
    known = exactly.of(float(c) if not isinstance(c, float | int) else c)
    return f"{float(c):.12g}" if known is None or known.known is None else str(known.known)
