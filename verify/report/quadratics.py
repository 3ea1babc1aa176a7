"""The functions of a problem written out, where they are quadratics of few variables: "f_1(x) = 9/2 (x - 1)^2"."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.numbers.rational import Array, exact
from verify.comparisons.naming import number

#: Variables up to which functions are written out.
FEW = 3
#: Points at which a formula must agree with the code: near, far and in between, on both sides.
_CHECKED = tuple(Fraction(v) for v in ("7/3", "-7/3", "1/997", "-1/997", "1009", "-1009", "1000000007", "-1000000007"))


def written(problem: Any) -> list[str]:
    """A line for each function of a problem, equal ones together; nothing where one is no quadratic of few variables.

    A formula is interpolated from values, and compared with more of them: functions with kinks are not written so.
    """
    told: dict[str, list[str]] = {}
    for name, functions in (("f", problem.f), ("g", getattr(problem, "g", None))):
        if functions is None:
            continue
        formulas = _formulas(functions)
        if not formulas:
            return []
        for i, formula in enumerate(formulas, 1):
            told.setdefault(formula, []).append(f"f_{i}(x)" if name == "f" else "g(x)")
    return [f"{' = '.join(names)} = {formula}" for formula, names in told.items()]


def _formulas(functions: Any) -> list[str]:
    d, n = functions.d, functions.n
    if d > FEW or not hasattr(functions, "value"):
        return []

    def values(x: Sequence[Any]) -> Array:
        at = exact([list(x)] * n)
        return np.asarray(functions.value(at)).reshape(-1)[-n:]

    axes = np.eye(d, dtype=int)
    try:
        zero = values([0] * d)
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
        found.append(quadratic(curved, slope, level))
    return found


def quadratic(H: Sequence[Sequence[Any]], slope: Sequence[Any], level: Any) -> str:
    """x'Hx/2 + slope'x + level in words: squares completed where no two variables are multiplied."""
    d = len(slope)
    names = ["x"] if d == 1 else [f"x[{j + 1}]" for j in range(d)]
    mixed = any(H[j][k] for j in range(d) for k in range(d) if j != k)
    terms: list[tuple[Any, str]] = []
    for j, name in enumerate(names):
        h, s = H[j][j], slope[j]
        if h and not mixed:
            centre = -Fraction(s) / h
            level -= h * centre**2 / 2
            shifted = f"({name} {'-' if centre > 0 else '+'} {number(abs(centre))})" if centre else name
            terms.append((Fraction(h) / 2, f"{shifted}^2"))
            continue
        terms += [(Fraction(h) / 2, f"{name}^2"), (s, name)]
    terms += [(H[j][k], f"{names[j]} {names[k]}") for j in range(d) for k in range(j) if mixed]
    return _sum([*terms, (level, "")])


def _sum(terms: Sequence[tuple[Any, str]]) -> str:
    found = ""
    for coefficient, name in terms:
        if not coefficient:
            continue
        size = abs(coefficient)
        told = name if size == 1 and name else " ".join(filter(None, (number(size), name)))
        sign = "-" if coefficient < 0 else "+"
        found += f" {sign} {told}" if found else f"{'-' if coefficient < 0 else ''}{told}"
    return found or "0"
