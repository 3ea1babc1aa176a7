"""The functions of an instance written out, with their minimisers: "f_1(x) = 9/2 (x - 1)^2, least at x = 1".

Quadratics of few variables are, and sums over the coordinates of functions that are quadratic between some places, with
kinks or without. What is written is compared with the code, exactly, in every piece.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import exact
from fedtheory.problems.nonconvex import LessParabola
from fedtheory.problems.operators import GradientOperators, TurningOperators
from fedtheory.problems.piecewise import Kinked, PiecewiseQuadratic
from fedtheory.problems.separable import profiles
from verify.comparisons.naming import number, vector
from verify.report.quadratics import quadratic

#: Variables up to which functions are written out.
FEW = 3
#: The places beside its pieces where a formula must agree with the code: near, far and in between, on both sides.
_CHECKED = tuple(Fraction(v) for v in ("7/3", "-7/3", "1/997", "-1/997", "1009", "-1009", "1000000007", "-1000000007"))

#: f_i at a point: one number for each function.
_Values = Callable[[Sequence[Fraction]], Any]


class Piece(NamedTuple):
    """a t^2 + b t + c."""

    a: Fraction
    b: Fraction
    c: Fraction

    def at(self, t: Fraction) -> Fraction:
        """The value at t."""
        return (self.a * t + self.b) * t + self.c

    def slope(self, t: Fraction) -> Fraction:
        """The derivative at t."""
        return 2 * self.a * t + self.b

    def written(self, name: str = "x") -> str:
        """The piece in words."""
        return quadratic([[2 * self.a]], [self.b], self.c, [name])


class Line(NamedTuple):
    """A continuous function of one variable: ``pieces[k]`` from ``places[k - 1]`` to ``places[k]``, which ascend."""

    places: tuple[Fraction, ...]
    pieces: tuple[Piece, ...]

    def at(self, t: Fraction) -> Fraction:
        """The value at t."""
        return self.pieces[sum(t > place for place in self.places)].at(t)

    def parts(self) -> list[tuple[Fraction | None, Fraction | None, Piece]]:
        """Each piece with its ends; None at infinity."""
        ends = (None, *self.places, None)
        return [(ends[k], ends[k + 1], piece) for k, piece in enumerate(self.pieces)]

    def least(self) -> list[tuple[Fraction | None, Fraction | None]] | None:
        """The intervals, mostly points, where the function is least; None where it has no least value."""
        low: list[tuple[Fraction, Fraction | None, Fraction | None]] = []
        for start, end, piece in self.parts():
            decreasing = (start is None and (piece.a < 0 or (piece.a == 0 and piece.b > 0))) or (
                end is None and (piece.a < 0 or (piece.a == 0 and piece.b < 0))
            )
            if decreasing:
                return None
            if piece.a == 0 == piece.b:
                low.append((piece.c, start, end))
                continue
            low += [(piece.at(t), t, t) for t in (start, end) if t is not None]
            if piece.a > 0:
                centre = -piece.b / (2 * piece.a)
                if (start is None or start <= centre) and (end is None or centre <= end):
                    low.append((piece.at(centre), centre, centre))
        best = min(value for value, _, _ in low)
        found = list(dict.fromkeys((a, b) for value, a, b in low if value == best))
        flat = [(a, b) for a, b in found if a != b or a is None]
        ends = {end for pair in flat for end in pair}
        return [pair for pair in found if pair in flat or pair[0] not in ends]

    def written(self, name: str, alone: bool) -> str:
        """The function in words: of one that stands ``alone`` its pieces in braces, else with positive parts."""
        if not self.places:
            return self.pieces[0].written(name)
        if alone:
            return "{" + "; ".join(f"{p.written(name)} for {_between(name, a, b)}" for a, b, p in self.parts()) + "}"
        terms = [self.pieces[0].written(name)]
        for place, before, after in zip(self.places, self.pieces, self.pieces[1:], strict=False):
            beyond = f"max(0, {_less(name, place)})"
            # Both have the same value at the place between them.
            changes = ((after.a - before.a, f"{beyond}^2"), (after.slope(place) - before.slope(place), beyond))
            terms += [_times(coefficient, what) for coefficient, what in changes if coefficient]
        return _sum([term for term in terms if term != "0"] or ["0"])


def written(problem: Any) -> list[str]:
    """Return a formula for each function of a problem, grouping equal ones, and its linear operator, if there is one;
    empty if some function has no formula."""
    if isinstance(problem.f, TurningOperators | GradientOperators):
        return _operators(problem.f)
    named: dict[str, list[str]] = {}
    coupling = getattr(problem, "coupling", None)
    outer = getattr(problem, "reference", None) if coupling is None else coupling.h
    for name, functions in (("f", problem.f), ("g", getattr(problem, "g", None)), ("h", outer)):
        if functions is None:
            continue
        formulas = _formulas(functions)
        if not formulas:
            return []
        for i, formula in enumerate(formulas, 1):
            named.setdefault(formula, []).append(f"f_{i}(x)" if name == "f" else f"{name}(x)")
    operator = [] if coupling is None else [f"K = {_matrix(coupling.K)}"]
    return [*(f"{' = '.join(names)} = {formula}" for formula, names in named.items()), *operator]


def _matrix(K: Any) -> str:
    """The rows of a linear operator to a space of as many dimensions, or a number."""
    rows = [vector(row) for row in K.matrix[: K.rows]]
    return "0" if not K.matrix.any() else rows[0] if K.d == 1 else f"rows {', '.join(rows)}"


def lines_of(functions: Any) -> list[Line]:
    """The functions of one variable; nothing where they are of several, or not quadratic between some places."""
    found = _separable(functions) if functions.d == 1 else None
    return [] if found is None else [lines[0] for lines in found]


def _formulas(functions: Any) -> list[str]:
    if functions.d > FEW or not hasattr(functions, "value"):
        return []
    separable = _separable(functions)
    if separable is not None:
        return [f"{_written(lines)}{_least(lines)}{_given(functions, i)}" for i, lines in enumerate(separable)]
    return _mixed(functions)


def _values(functions: Any) -> _Values:
    def values(x: Sequence[Fraction]) -> Any:
        return np.asarray(functions.value(exact([list(x)] * functions.n))).reshape(-1)[-functions.n :]

    return values


# Sums over the coordinates


def _separable(functions: Any) -> list[list[Line]] | None:
    """For each function its parts along the coordinates; None where it has none, or another formula."""
    d, n = functions.d, functions.n
    places = _places(functions)
    if places is None:
        return None
    values, zero = _values(functions), [Fraction(0)] * d

    def along(i: int, j: int) -> Callable[[Fraction], Any]:
        return lambda t: values([t if k == j else zero[k] for k in range(d)])[i]

    try:
        level = values(zero)
        found = [[_line(along(i, j), places[i][j]) for j in range(d)] for i in range(n)]
        if d > 1:
            # The level is in the first part.
            for i, lines in enumerate(found):
                lines[1:] = [Line(p, tuple(q._replace(c=q.c - level[i]) for q in pieces)) for p, pieces in lines[1:]]
        points = [[v * (j + 1) for j in range(d)] for v in _CHECKED]
        inner = [_inside(line) for lines in found for line in lines]
        points += [[t] * d for ts in inner for t in ts]
        for x in points:
            now = values(x)
            if any(
                sum(line.at(t) for line, t in zip(lines, x, strict=True)) != now[i] for i, lines in enumerate(found)
            ):
                return None
    except (ValueError, TypeError, ArithmeticError, AttributeError):
        return None
    return found


def _places(functions: Any) -> list[list[list[Fraction]]] | None:
    """For each function and coordinate where its curvature or derivative may change; None where that is not known."""
    if isinstance(functions, Kinked):
        inner = _places(functions.f)
        kinks = np.asarray(functions.kink).reshape(-1, functions.n, functions.d)[0]
        if inner is None:
            return None
        return [[sorted({*of, kinks[i, j]}) for j, of in enumerate(row)] for i, row in enumerate(inner)]
    if isinstance(functions, LessParabola):
        return _places(functions.f)
    zero = exact(np.zeros(functions.d, dtype=int))
    try:
        known = profiles(_one(functions), zero)
    except (ValueError, TypeError, IndexError, AttributeError):
        return None
    if known is None:
        return None
    return [[sorted(set(known[j][i].knots)) for j in range(functions.d)] for i in range(functions.n)]


def _one(functions: Any) -> Any:
    """The functions of the first replica."""
    if not isinstance(functions, PiecewiseQuadratic):
        return functions
    shape = (functions.n, functions.d)
    kinks = tuple(np.asarray(kink).reshape(-1, *shape)[0] for kink in functions.kinks)
    return replace(functions, kinks=kinks, tilt=np.asarray(functions.tilt).reshape(-1, *shape)[0])


def _line(value: Callable[[Fraction], Any], places: Sequence[Fraction]) -> Line:
    """The function through its values, quadratic between the places; Raise ``ValueError`` if a value is not a
    fraction.
    """
    ends = [None, *map(Fraction, places), None]
    pieces = []
    for a, b in itertools.pairwise(ends):
        points = _three(a, b)
        at = [value(t) for t in points]
        if not all(isinstance(v, int | Fraction) for v in at):
            raise ValueError("a value in floats says nothing exact")
        pieces.append(_through(points, [Fraction(v) for v in at]))
    kept = [k for k in range(len(places)) if pieces[k] != pieces[k + 1]]
    return Line(tuple(Fraction(places[k]) for k in kept), (pieces[0], *(pieces[k + 1] for k in kept)))


def _three(a: Fraction | None, b: Fraction | None) -> tuple[Fraction, Fraction, Fraction]:
    """Three points between two ends."""
    if a is not None and b is not None:
        return a + (b - a) / 4, (a + b) / 2, b - (b - a) / 4
    start = a if a is not None else b if b is not None else Fraction(0)
    away = 1 if a is not None or b is None else -1
    return start + away, start + 2 * away, start + 3 * away


def _through(t: Sequence[Fraction], v: Sequence[Fraction]) -> Piece:
    first, second = (v[1] - v[0]) / (t[1] - t[0]), (v[2] - v[1]) / (t[2] - t[1])
    a = (second - first) / (t[2] - t[0])
    b = first - a * (t[0] + t[1])
    return Piece(a, b, v[0] - (a * t[0] + b) * t[0])


def _inside(line: Line) -> list[Fraction]:
    """Points in every piece, others than those through which it was drawn."""
    found = []
    for a, b, _ in line.parts():
        points = _three(a, b)
        found += [points[0] + (points[1] - points[0]) / 3, points[2] + (points[1] - points[2]) / 7]
    return [*found, *line.places]


def _written(lines: Sequence[Line]) -> str:
    if len(lines) == 1:
        return lines[0].written("x", alone=True)
    terms = [line.written(f"x[{j}]", alone=False) for j, line in enumerate(lines, 1)]
    # Numbers of the parts are one number.
    level = sum((line.pieces[0].c for line in lines if line.pieces[0][:2] == (0, 0)), Fraction(0))
    terms = [t for t, line in zip(terms, lines, strict=True) if line.places or line.pieces[0][:2] != (0, 0)]
    return _sum([*terms, *([number(level)] if level or not terms else [])])


def _least(lines: Sequence[Line]) -> str:
    """The minimiser of the sum of the functions of one variable."""
    each = [line.least() for line in lines]
    if any(found is None for found in each):
        return ", without a least value"
    if all(found == [(None, None)] for found in each):
        return ", least everywhere"
    names = ["x"] if len(lines) == 1 else [f"x[{j}]" for j in range(1, len(lines) + 1)]
    if all(found is not None and len(found) == 1 and _is_point(found[0]) for found in each):
        return f", least at x = {vector([found[0][0] for found in each if found is not None])}"
    minimisers = [
        " or ".join(f"{name} = {number(a)}" if _is_point((a, b)) else _between(name, a, b) for a, b in found or ())
        for name, found in zip(names, each, strict=True)
    ]
    return f", least where {' and '.join(minimisers)}"


def _is_point(ends: tuple[Fraction | None, Fraction | None]) -> bool:
    return ends[0] is not None and ends[0] == ends[1]


def _given(functions: Any, i: int) -> str:
    """The subgradients that are given where the derivative jumps."""
    if not isinstance(functions, Kinked) or not functions.jump[i].any():
        return ""
    kink = np.asarray(functions.kink).reshape(-1, functions.n, functions.d)[0]
    subgradients = []
    for j in np.flatnonzero(functions.jump[i]):
        at = np.asarray(functions.gradient(exact(kink))).reshape(-1, functions.n, functions.d)[0]
        name = "x" if functions.d == 1 else f"x[{j + 1}]"
        subgradients.append(f"{number(at[i, j])} at {name} = {number(kink[i, j])}")
    return f", with the subgradient {', '.join(subgradients)}"


# Operators


def _operators(F: TurningOperators | GradientOperators) -> list[str]:
    """Affine operators in few coordinates: "F_1(x) = (x[1] - x[2], x[1] + x[2])"; nothing of others."""
    d, n = F.d, F.n
    if d > FEW or not F.is_affine:
        return []

    def at(x: Sequence[Fraction]) -> Any:
        return F.gradient(np.broadcast_to(exact(np.array(x, dtype=object)), (n, d))).reshape(n, d)

    units = np.eye(d, dtype=int)
    zero = at([Fraction(0)] * d)
    columns = [at(list(e)) - zero for e in units]
    for v in _CHECKED:
        x = [v * (j + 1) for j in range(d)]
        if (at(x) != sum((t * column for t, column in zip(x, columns, strict=True)), zero)).any():
            return []
    letters = ["x"] if d == 1 else [f"x[{j}]" for j in range(1, d + 1)]
    named: dict[str, list[str]] = {}
    for i in range(n):
        rows = []
        for j in range(d):
            terms = [_times(column[i, j], name) for column, name in zip(columns, letters, strict=True) if column[i, j]]
            rows.append(_sum([*terms, *([number(zero[i, j])] if zero[i, j] or not terms else [])]))
        named.setdefault(rows[0] if d == 1 else f"({', '.join(rows)})", []).append(f"F_{i + 1}(x)")
    return [f"{' = '.join(names)} = {formula}" for formula, names in named.items()]


# Quadratics that are no such sums


def _mixed(functions: Any) -> list[str]:
    d, n = functions.d, functions.n
    values, axes = _values(functions), np.eye(d, dtype=int)
    try:
        zero = values([Fraction(0)] * d)
        up, down = (np.array([values(list(sign * e)) for e in axes]) for sign in (1, -1))
        both = np.array([[values(list(e + other)) for other in axes] for e in axes])
        generic = [[v * (j + 1) for j in range(d)] for v in _CHECKED]
        seen = [values(x) for x in generic]
    except (ValueError, TypeError, ArithmeticError):
        return []
    if not all(isinstance(v, int | Fraction) for row in (zero, *up, *down, *seen) for v in row):
        return []
    # f(x) = x'Hx/2 + s'x + f(0).
    H = [[both[j][k] - up[j] - up[k] + zero for k in range(d)] for j in range(d)]
    s = [(up[j] - down[j]) / Fraction(2) for j in range(d)]
    found = []
    for i in range(n):
        curved, slope, level = [[H[j][k][i] for k in range(d)] for j in range(d)], [part[i] for part in s], zero[i]
        for x, at in zip(generic, seen, strict=True):
            square = sum(curved[j][k] * x[j] * x[k] for j in range(d) for k in range(d))
            if square / 2 + sum(a * b for a, b in zip(slope, x, strict=True)) + level != at[i]:
                return []
        found.append(f"{quadratic(curved, slope, level)}{_centre(curved, slope)}")
    return found


def _centre(H: Sequence[Sequence[Any]], slope: Sequence[Any]) -> str:
    """The minimiser of a quadratic, if it is strongly convex."""
    import sympy

    matrix = sympy.Matrix([[sympy.Rational(str(v)) for v in row] for row in H])
    if matrix.is_positive_definite:
        centre = matrix.LUsolve(-sympy.Matrix([sympy.Rational(str(v)) for v in slope]))
        return f", least at x = {vector([Fraction(int(v.p), int(v.q)) for v in centre])}"
    return "" if matrix.is_positive_semidefinite else ", without a least value"


# Words


def _between(name: str, a: Fraction | None, b: Fraction | None) -> str:
    if a is None or b is None:
        return "any " + name if a is b else f"{name} <= {number(b)}" if a is None else f"{name} >= {number(a)}"
    return f"{number(a)} <= {name} <= {number(b)}"


def _less(name: str, place: Fraction) -> str:
    return f"{name} {'-' if place > 0 else '+'} {number(abs(place))}" if place else name


def _times(coefficient: Fraction, what: str) -> str:
    sign, size = "-" if coefficient < 0 else "", abs(coefficient)
    return f"{sign}{what}" if size == 1 else f"{sign}{number(size)} {what}"


def _sum(terms: Sequence[str]) -> str:
    found = terms[0]
    for term in terms[1:]:
        found += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return found


__all__ = ["FEW", "Line", "Piece", "lines_of", "written"]
