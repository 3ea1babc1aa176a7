"""Numbers of a file for PEPit as functions of its letters, so that a model is one for all their values.

:class:`NumberInLetters` is a quotient of polynomials that passes for a float where PEPit asks for one. It holds no
float: it supports nothing but arithmetic, square roots and comparisons, and whatever would turn it into a plain number
is refused. Where such numbers are compared, the answer is that of one point, the base, and is kept: what is shown holds
where all comparisons have these answers.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

from verify.multipliers.ratios import Ratio, polynomials, terms
from verify.pepit import exactly


class Answer(NamedTuple):
    """The condition that a function of the letters is > 0 (``strict``), >= 0, or not 0 (``apart``)."""

    of: Ratio
    strict: bool
    apart: bool = False


@dataclass
class Run:
    """A run of a file with letters: their values at the base point, the answers of comparisons there, and what was
    refused: a file that goes on after that has lost a letter. ``written``: True if a number was turned into text."""

    base: Mapping[str, Fraction]
    answers: dict[str, Answer] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    written: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The letters."""
        return tuple(self.base)

    @property
    def ring(self) -> Any:
        """The polynomials in the letters."""
        return polynomials(self.names)

    def constant(self, value: Fraction | int) -> Ratio:
        """A number, as a function of the letters."""
        return Ratio(self.ring.constant(0), self.ring.constant(1)) + value

    def letter(self, name: str) -> NumberInLetters:
        """A letter, as a number that the file can compute with."""
        place = self.names.index(name)
        return NumberInLetters(Ratio(self.ring.gen(place), self.ring.constant(1)), self)

    def at(self, of: Ratio, point: Mapping[str, Fraction]) -> Fraction:
        """The value of a function of the letters. ``ZeroDivisionError`` where it has none."""
        values = [point[name] for name in self.names]

        def value(p: Any) -> Fraction:
            total = Fraction(0)
            for exponents, c in terms(p):
                for x, k in zip(values, exponents, strict=True):
                    c *= x**k
                total += c
            return total

        return value(of.num) / value(of.den)

    def keep(self, difference: Ratio, strict: bool, apart: bool = False) -> None:
        """Keep the answer of a comparison, once."""
        if difference.letters():
            self.answers.setdefault(f"{difference.key} {strict} {apart}", Answer(difference, strict, apart))

    def refuse(self, why: str) -> NoReturn:
        """Raise ``ValueError``, and keep why: the file may catch it."""
        self.refused.append(why)
        raise ValueError(why)

    def check(self) -> None:
        """Raise ``ValueError`` if anything was refused."""
        if self.refused:
            raise ValueError(self.refused[0])


class NumberInLetters:
    """A function of the letters, ``of``; ``exact`` is its value at the base point of the ``run``."""

    __slots__ = ("exact", "of", "run")
    #: numpy's own numbers leave operations to these.
    __array_ufunc__ = None
    varies, rounded, surd = True, False, None

    @property
    def known(self) -> Fraction:
        """The number at the base point."""
        return self.exact

    def __init__(self, of: Ratio, run: Run) -> None:
        self.of, self.run, self.exact = of, run, run.at(of, run.base)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class that ``isinstance`` sees: PEPit takes floats."""
        return float

    def _refused(self, *arguments: object) -> Any:
        self.run.refuse(f"{self} is turned into a plain number: what depends on the letters has to stay so")

    __float__ = __int__ = __index__ = __complex__ = __trunc__ = __floor__ = __ceil__ = __round__ = _refused
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = _refused
    # Of a float these tell its value: a file that asks whether there are such finds them.
    as_integer_ratio = is_integer = hex = conjugate = _refused
    real = imag = property(_refused)

    def __str__(self) -> str:
        self.run.written = True
        return shown(self.of, self.run.names)

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return str(self)

    def __pow__(self, exponent: Any) -> Any:
        return exactly.power(self, exponent)

    def __rpow__(self, base: Any) -> Any:
        return exactly.power(base, self)

    def __pos__(self) -> NumberInLetters:
        return self

    def raised(self, exponent: int) -> NumberInLetters:
        """The power with an integer exponent."""
        return NumberInLetters(self.of**exponent, self.run)

    def rooted(self) -> NumberInLetters:
        """The square root, where it is a quotient of polynomials; its sign is that at the base point."""
        root = _root(self.of)
        if root is None:
            self.run.refuse(f"the square root of {shown(self.of, self.run.names)} is not a quotient of polynomials")
        found = NumberInLetters(root, self.run)
        return found if found >= 0 else -found

    def __neg__(self) -> NumberInLetters:
        return NumberInLetters(-self.of, self.run)

    def __abs__(self) -> NumberInLetters:
        return self if self >= 0 else -self

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        # Hashes of numbers that are equal for some letters only would differ, and nobody would be asked.
        self.run.refuse(f"{self} is a key of a dict or in a set: for some letters it may equal another; compare by ==")

    def __eq__(self, other: object) -> bool:
        right = self._other(other)
        if right is None:
            return False
        difference = self.of - right
        if difference.is_zero:
            return True
        if self.run.at(difference, self.run.base) == 0:
            one, two = (shown(of, self.run.names) for of in (self.of, right))
            self.run.refuse(f"{one} equals {two} at the values of --at alone: give others")
        if not _prunes(sys._getframe(1)):
            self.run.keep(difference, False, apart=True)
        return False

    def __ne__(self, other: object) -> bool:
        right = self._other(other)
        if right is not None and _prunes(sys._getframe(1)):
            return not (self.of - right).is_zero
        return not self == other

    def __gt__(self, other: object) -> bool:
        return self._compared(other, operator.gt, True, True)

    def __ge__(self, other: object) -> bool:
        return self._compared(other, operator.ge, False, True)

    def __lt__(self, other: object) -> bool:
        return self._compared(other, operator.lt, True, False)

    def __le__(self, other: object) -> bool:
        return self._compared(other, operator.le, False, False)

    def _compared(self, other: object, relation: Callable[[Any, Any], bool], strict: bool, larger: bool) -> bool:
        """The answer at the base point, which is kept; ``larger``: the relation says that this is the larger one."""
        right = self._other(other)
        if right is None:
            # An infinity.
            return relation(float(self.exact), other)
        difference = self.of - right if larger else right - self.of
        value = self.run.at(difference, self.run.base)
        holds = relation(value, 0) if larger else relation(0, value)
        # Where it does not hold, the other side is larger, strictly unless this is strict.
        self.run.keep(difference if holds else -difference, strict if holds else not strict)
        return holds

    def _other(self, other: object) -> Ratio | None:
        """The function that another number is; None for an infinity, or what is not a number. ``ValueError`` for one
        that is not known exactly."""
        if type(other) is NumberInLetters:
            return other.of
        number = exactly.of(other)
        if number is None:
            return None
        if number.rounded:
            self.run.refuse(f"the file combines {float(number)!r}, which is not a simple fraction, with its letters")
        return self.run.constant(number.exact)


def _prunes(frame: Any) -> bool:
    """Return True where PEPit leaves out terms that are 0: then only what is 0 for all letters is."""
    return str(frame.f_globals.get("__name__", "")).startswith("PEPit.tools")


def _root(of: Ratio) -> Ratio | None:
    roots = []
    for p in (of.num, of.den):
        constant, factors = p.factor()
        scale = exactly.root(Fraction(int(constant.p), int(constant.q))) if constant > 0 else None
        if scale is None or scale.rounded or any(power % 2 for _, power in factors):
            return None
        found = p.context().constant(1)
        for factor, power in factors:
            found *= factor ** (power // 2)
        roots.append((found, scale.exact))
    (above, a), (below, b) = roots
    return Ratio.of(above, below) * (a / b)


def _combined(name: str, operation: Callable[[Ratio, Ratio], Ratio]) -> None:
    """Give :class:`NumberInLetters` an operation, from both sides."""

    def forward(self: NumberInLetters, other: object) -> Any:
        right = self._other(other)
        return NotImplemented if right is None else NumberInLetters(operation(self.of, right), self.run)

    def backward(self: NumberInLetters, other: object) -> Any:
        left = self._other(other)
        return NotImplemented if left is None else NumberInLetters(operation(left, self.of), self.run)

    setattr(NumberInLetters, f"__{name}__", forward)
    setattr(NumberInLetters, f"__r{name}__", backward)


_combined("add", lambda a, b: a + b)
_combined("sub", lambda a, b: a - b)
_combined("mul", lambda a, b: a * b)
_combined("truediv", lambda a, b: a / b)


def shown(of: Ratio, names: tuple[str, ...]) -> str:
    """A function of the letters in factors, as one writes it."""
    import sympy

    symbols = [sympy.Symbol(name, positive=True) for name in names]

    def sides(p: Any) -> sympy.Expr:
        return sympy.Add(
            *(
                sympy.Rational(c.numerator, c.denominator) * sympy.Mul(*(x**k for x, k in zip(symbols, m, strict=True)))
                for m, c in terms(p)
            )
        )

    return str(sympy.factor(sides(of.num) / sides(of.den)))
