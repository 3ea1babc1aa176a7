"""Reads what is printed of a counterexample back: functions, states, letters and sides, from the text alone."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import sympy


def parts(line: str, between: str = "; ") -> list[str]:
    """The items of a line, parted outside of brackets."""
    found, depth, start = [], 0, 0
    for i, letter in enumerate(line):
        depth += {"{": 1, "(": 1, "}": -1, ")": -1}.get(letter, 0)
        if depth == 0 and line.startswith(between, i):
            found.append(line[start:i])
            start = i + len(between)
    return [*found, line[start:]]


def number(text: str) -> Fraction:
    return Fraction(text.removeprefix("about ").strip())


def vector(text: str) -> tuple[Fraction, ...]:
    return tuple(number(v) for v in text.strip("()").split(", "))


class Function:
    """A printed function, "1/2 (x - 1)^2" or "{-x for x <= 0; x for x >= 0}", with its minimiser as it is printed."""

    def __init__(self, text: str) -> None:
        formula, _, rest = re.sub(r", (?=least|without|with the)", "\n", text).partition("\n")
        self.least, _, given = rest.partition("\n")
        self.subgradients = {}
        for pair in given.removeprefix("with the subgradient ").split(", ") if given else ():
            value, _, place = pair.partition(" at ")
            self.subgradients[place] = number(value)
        self._pieces = [piece.partition(" for ") for piece in parts(formula.strip("{}"))]

    def __call__(self, *x: Fraction) -> Fraction:
        for formula, _, where in self._pieces:
            if not where or self._evaluated(where, x):
                return self._evaluated(formula, x)
        raise AssertionError("no piece of the function is for this point")

    def _evaluated(self, text: str, x: tuple[Fraction, ...]):
        code = re.sub(r"(\d|\)|\])\s+(?=[(xm])", r"\1 * ", text).replace("^", "**")
        code = re.sub(r"x\[(\d)\]", lambda m: f"X[{int(m[1]) - 1}]", code)
        code = re.sub(r"(?<![\[\w])(\d+(?:\.\d+)?)(?!\])", r"F('\1')", code)
        return eval(code, {"F": lambda v: Fraction(v), "x": x[0], "X": x, "max": max, "Fraction": Fraction})

    def slope(self, x: Fraction) -> Fraction:
        """The derivative of one of one variable; at a kink the printed subgradient."""
        if (given := self.subgradients.get(f"x = {x}")) is not None:
            return given
        h = Fraction(1, 10**9)
        (left, right), (far, near) = (self(x - h), self(x + h)), (self(x - 2 * h), self(x + 2 * h))
        # Of a quadratic exact on either side; pieces of one derivative meet.
        ahead, behind = (4 * right - near - 3 * self(x)) / (2 * h), (3 * self(x) - 4 * left + far) / (2 * h)
        assert ahead == behind, f"a kink at {x} without a printed subgradient"
        return ahead


def functions(line: str) -> tuple[dict[str, Function], dict[str, tuple[Fraction, ...]]]:
    """The functions of a line by name, f_1, f_2, ..., g, and the points that follow, such as x*."""
    found, points = {}, {}
    for part in parts(line):
        names = re.match(r"((?:(?:f_\d+|g)\(x\) = )+)", part)
        if names is not None:
            function = Function(part.removeprefix(names[1]))
            found |= {name.strip().removesuffix("(x)"): function for name in names[1].split(" = ") if name}
        elif re.fullmatch(r"x\* = .*", part):
            points["x*"] = vector(part.removeprefix("x* = "))
    return found, points


def values(line: str) -> dict[str, str]:
    """The values of a line "a = 1, b = (2, 3), c_i = d_i = 0" by name."""
    found: dict[str, str] = {}
    for item in parts(line, ", "):
        *names, value = item.split(" = ")
        found |= dict.fromkeys(names, value)
    return found


def side(text: str, known: dict[str, str]) -> sympy.Expr | None:
    """The value of a printed expression, from printed numbers alone; None where a name in it has no printed value."""
    numbers: dict[str, Fraction] = {}
    # A mean of a sum is the sum of the means.
    plain = {
        name[2:-1] if name.startswith("E[") and name.endswith("]") else name: value for name, value in known.items()
    }
    code = text.removeprefix("E[").removesuffix("]") if text.startswith("E[") and text.endswith("]") else text
    for name in sorted(plain, key=len, reverse=True):
        pattern = rf"(?<!\w){re.escape(name)}(?!\w)" if re.fullmatch(r"\w+", name) else re.escape(name)
        key = f"Q{len(numbers)}_"
        code, count = re.subn(pattern, key, code)
        if count:
            numbers[key] = number(plain[name])
    if set(re.findall(r"[A-Za-z_]\w*", code)) - {*numbers, "sqrt", "Min", "Max", "ceiling", "floor", "log", "exp"}:
        return None
    try:
        return sympy.sympify(
            code.replace("^", "**"),
            locals={k: sympy.Rational(v.numerator, v.denominator) for k, v in numbers.items()},
        )
    except (SyntaxError, TypeError, sympy.SympifyError, AttributeError):
        return None


def state(line: str, kind: type, n: int, d: int) -> dict[str, np.ndarray]:
    """The parts of a state by name, arrays ``(n, d)`` or ``(d,)``."""
    found: dict[str, np.ndarray] = {}
    printed = values(line)
    for field in kind._fields:
        row = field.lower() if field.istitle() and field.lower() > "n" else field
        # With a matrix W its rows are w_1, w_2, ..., and w is a point.
        alone = field.islower() and field.title() in kind._fields
        if f"{row}_i" in printed and not alone:
            found[field] = np.zeros((n, d), dtype=object)
        elif f"{row}_1" in printed and not alone:
            found[field] = np.array([vector(printed[f"{row}_{i}"]) for i in range(1, n + 1)], dtype=object)
        elif row in printed and re.fullmatch(r"[-\d/., ()]+", printed[row]):
            found[field] = np.array(vector(printed[row]), dtype=object)
    return found
