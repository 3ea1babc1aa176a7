"""Numbers that a file computes, with what they exactly are: a PEPit model runs on them unchanged.

PEPit takes floats. :class:`Exact` is a float that carries the fraction that it stands for, so the coefficients of a
model are what its file says and not what their rounding left. A file is rewritten as it is loaded: ``0.1`` is one
tenth, and quotients, powers and square roots of numbers stay exact. An irrational number carries
what it is in a field with square roots, beside a fraction of 40 digits; where the field would be too large, only that.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from verify.pepit.algebraic import Algebraic, Field, TooLarge

#: Digits of what is not a fraction.
DIGITS = 40
#: The most digits of a fraction: a longer one is rounded to ``DIGITS``.
_LONGEST = 400
_ZERO = Fraction(0)


class Exact(float):
    """A float that carries the fraction it stands for.

    ``surd``: what was computed, if it is irrational and known; the fraction is then near it. Without it the number lies
    within ``error`` of the fraction.
    """

    __slots__ = ("_error", "exact", "surd")
    exact: Fraction
    surd: Algebraic | None
    _error: Fraction
    #: numpy's own numbers leave operations to these, as they would lose what is carried.
    __array_priority__ = 1000.0
    #: True if the number is a function of letters, as those of :mod:`verify.pepit.numbers_in_letters`.
    varies = False

    def __new__(cls, exact: Fraction, error: Fraction = _ZERO, surd: Algebraic | None = None) -> Exact:
        """The float nearest to a fraction."""
        if exact.denominator > 10**_LONGEST:
            short = _shortened(exact)
            exact, error = short, error + abs(exact - short)
        self = super().__new__(cls, exact)
        self.exact, self._error, self.surd = exact, _up(error), surd
        return self

    @property
    def rounded(self) -> bool:
        """Return True if the fraction is only near the number."""
        return self.surd is not None or self._error > 0

    @property
    def error(self) -> Fraction:
        """A bound of the distance of the number from the fraction; 0 where they are equal."""
        if self.surd is None:
            return self._error
        return _up(max(abs(end - self.exact) for end in self.surd.between(_BITS)))

    @property
    def known(self) -> Fraction | Algebraic | None:
        """The exact number, or None if only digits are left of it."""
        return self.surd if self.rounded else self.exact

    def raised(self, exponent: int) -> Exact:
        """The power with an integer exponent."""
        if self.surd is not None and abs(exponent) <= _POWERS:
            return surd(self.surd**exponent)
        if exponent < 0:
            return _made("truediv", lambda a, b: a / b, Exact(Fraction(1)), self.raised(-exponent))
        size, error = abs(self.exact), self.error
        return Exact(self.exact**exponent, (size + error) ** exponent - size**exponent if error else _ZERO)

    def rooted(self) -> Exact:
        """The square root, of a number that is not negative."""
        known = self.known
        if known is not None:
            try:
                return surd((known if isinstance(known, Algebraic) else Field().element([known])).sqrt())
            except TooLarge:
                pass
        found, error = root(self.exact), self.error
        if error:
            # Roots of a and b differ by |a - b| / (root of a + root of b), and at most by the root of |a - b|.
            least = found.exact - found.error
            error = error / least if least > 0 and least**2 > error else _bracket(error)[1]
        return Exact(found.exact, found.error + error)

    def __neg__(self) -> Exact:
        return Exact(-self.exact, self._error, None if self.surd is None else -self.surd)

    def __pos__(self) -> Exact:
        return self

    def __pow__(self, exponent: Any, modulus: None = None) -> Any:
        return power(self, exponent)

    def __rpow__(self, base: Any, modulus: None = None) -> Any:
        return power(base, self)

    def __abs__(self) -> Exact:
        return -self if self.exact < 0 else self

    __hash__ = float.__hash__

    def __reduce__(self) -> tuple[Any, ...]:
        return Exact, (self.exact, self._error, self.surd)


def _shortened(value: Fraction) -> Fraction:
    """The value to as many digits as an irrational number has."""
    size = len(str(abs(value.numerator))) - len(str(value.denominator))
    unit = Fraction(10) ** (size - DIGITS)
    return round(value / unit) * unit


def _up(error: Fraction) -> Fraction:
    """A number of few digits, at least an error."""
    if max(error.numerator.bit_length(), error.denominator.bit_length()) <= _FEW:
        return error
    unit = Fraction(2) ** (error.numerator.bit_length() - error.denominator.bit_length() - _FEW)
    return math.ceil(error / unit) * unit


#: Binary digits of an error.
_FEW = 24


def of(value: Any, small: bool = False) -> Exact | None:
    """The number with what it exactly is, None where it is none that is known: an infinity, or another object.

    One that varies is what it is. ``small``: as :func:`read` has it.
    """
    if isinstance(value, Exact) or getattr(type(value), "varies", False):
        return value
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return Exact(Fraction(int(value)))
    if isinstance(value, Fraction):
        return Exact(value)
    if isinstance(value, float) and math.isfinite(value):
        return read(float(value), small)
    return None


#: The largest denominator with which a float is read as a fraction.
_DENOMINATOR = 10**6
#: The largest relative error with which it is read as one.
_ERROR = Fraction(1, 2**52)
#: The largest number that may be 0 after rounding: a few units of the last digits that numbers of size one have.
NOISE = Fraction(1, 2**51)
#: Such a number is a multiple of this; a small number that was meant has more digits.
_UNIT = Fraction(1, 2**60)
#: Units in its last place within which the number lies that any other float stands for.
ULPS = 4
#: What may be 0 after rounding lies within so many times its size of 0.
_NOISY = 2


def read(value: float, small: bool = False) -> Exact:
    """The fraction that a float is the rounding of: a simple one within its last digit; else what it is, and what lies
    within :data:`ULPS` units in its last place.

    What is left where numbers of size one cancel is 0, and what lies within twice as much of it. ``small``: the number
    is none of these, however small it is.
    """
    written = Fraction(value)
    if not small and 0 < abs(written) <= NOISE and not written % _UNIT:
        return Exact(_ZERO, _NOISY * abs(written))
    simple = written.limit_denominator(_DENOMINATOR)
    if abs(simple - written) <= _ERROR * abs(written):
        return Exact(simple)
    return Exact(written, ULPS * Fraction(math.ulp(value)))


def surd(value: Algebraic) -> Exact:
    """The number with its fraction of 40 digits; a plain fraction where it is one, or has become too long."""
    simple = value.simplified()
    if not isinstance(simple, Algebraic):
        return Exact(Fraction(int(simple.p), int(simple.q)))
    longest = max(int(c.q) for c in value.coordinates)
    near = _shortened(Fraction(value.fixed(_BITS), 1 << _BITS))
    found = Exact(near, surd=value)
    return found if longest <= 10**_LONGEST else Exact(near, found.error)


#: Binary digits from which the fraction beside an irrational number is taken.
_BITS = 512
#: The largest exponent of an irrational number whose power is computed.
_POWERS = 64


def _made(name: str, operation: Callable[[Any, Any], Any], one: Exact, other: Exact) -> Exact:
    """The result of an operation on numbers."""
    if one.surd is not None or other.surd is not None:
        left, right = one.known, other.known
        if left is not None and right is not None:
            try:
                return surd(operation(left, right))
            except TooLarge:
                pass
    return Exact(operation(one.exact, other.exact), _error(name, one, other))


def _error(name: str, one: Exact, other: Exact) -> Fraction:
    """A bound of the distance between the result of an operation and its result on fractions."""
    a, b = one.error, other.error
    if name in ("add", "sub") or not (a or b):
        return a + b
    left, right = abs(one.exact), abs(other.exact)
    if name == "mul":
        return left * b + right * a + a * b
    if b >= right:
        raise ValueError(f"the file divides by {float(other)!r}, which may be 0: it is known up to {float(b):.1g} only")
    return (left * b + right * a) / (right * (right - b))


def _binary(name: str, operation: Callable[[Any, Any], Any]) -> None:
    """Give :class:`Exact` an operation, from both sides."""
    plain, swapped = getattr(float, f"__{name}__"), getattr(float, f"__r{name}__")

    def forward(self: Exact, other: object) -> Any:
        if isinstance(other, np.ndarray):
            return operation(float(self), other)
        right = of(other)
        if right is not None and right.varies:
            return NotImplemented
        if right is None or (name == "truediv" and not right.exact):
            return plain(self, other)
        return _made(name, operation, self, right)

    def backward(self: Exact, other: object) -> Any:
        if isinstance(other, np.ndarray):
            return operation(other, float(self))
        left = of(other)
        if left is None or (name == "truediv" and not self.exact):
            return swapped(self, other)
        return _made(name, operation, left, self)

    setattr(Exact, f"__{name}__", forward)
    setattr(Exact, f"__r{name}__", backward)


_binary("add", lambda a, b: a + b)
_binary("sub", lambda a, b: a - b)
_binary("mul", lambda a, b: a * b)
_binary("truediv", lambda a, b: a / b)


def root(value: Fraction) -> Exact:
    """The square root of a number that is not negative, to 40 digits where it is irrational."""
    above, below = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if above**2 == value.numerator and below**2 == value.denominator:
        return Exact(Fraction(above, below))
    low, high = _bracket(value)
    return Exact(low, high - low)


def _bracket(value: Fraction) -> tuple[Fraction, Fraction]:
    """Fractions of 40 digits, at most and at least the square root of a positive number."""
    unit = 10 ** (DIGITS + max(0, len(str(value.denominator)) - len(str(value.numerator))))
    found = math.isqrt(value.numerator * unit**2 // value.denominator)
    return Fraction(found, unit), Fraction(found + 1, unit)


# Stand-ins for operators and functions in a file


def literal(text: str) -> Any:
    """The number that a literal is."""
    value = float(text.replace("_", ""))
    return Exact(Fraction(text.replace("_", ""))) if math.isfinite(value) else value


def divide(left: Any, right: Any) -> Any:
    """The quotient; exact where both are numbers that are known."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        above, below = of(left), of(right)
        if above is not None and below is not None and below.exact:
            return above / below
    return left / right


#: The number of square roots in a power, by the denominator of the exponent.
_HALVED = {2: 1, 4: 2}


def power(base: Any, exponent: Any) -> Any:
    """The power; as exact as roots are for exponents that are integers, halves or quarters."""
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        return base**exponent
    one, other = (of(v) if isinstance(v, int | float) else None for v in (base, exponent))
    if one is not None and other is not None and (one.exact or other.exact >= 0) and abs(other.exact) <= 1000:
        if other.varies:
            raise ValueError("an exponent depends on the letters")
        if other.exact.denominator == 1:
            return one.raised(int(other.exact))
        if other.exact.denominator in _HALVED and one.exact >= 0:
            below = one.raised(abs(other.exact.numerator))
            for _ in range(_HALVED[other.exact.denominator]):
                below = below.rooted()
            return below if other.exact > 0 else 1 / below
    if any(v is not None and v.varies for v in (one, other)):
        raise ValueError("a power is not a quotient of polynomials in the letters")
    return (float(base) if isinstance(base, Exact) else base) ** (
        float(exponent) if isinstance(exponent, Exact) else exponent
    )


def call(function: Any, *arguments: Any, **named: Any) -> Any:
    """Call a function; square roots of known numbers are exact, or have 40 digits."""
    if function in _ROOTS and len(arguments) == 1 and not named and isinstance(arguments[0], int | float):
        number = of(arguments[0])
        if number is not None and number.exact >= 0:
            return number.rooted()
    return function(*arguments, **named)


_ROOTS = (math.sqrt, np.sqrt)
_NAMES = {"__literal__": literal, "__divide__": divide, "__power__": power, "__call__": call}


class _Exactly(ast.NodeTransformer):
    """Literals, quotients, powers and square roots of a file, as functions of this module."""

    def __init__(self, source: str) -> None:
        self.source = source

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if type(node.value) is not float:
            return node
        text = ast.get_source_segment(self.source, node)
        return node if text is None else self._called("__literal__", node, ast.Constant(text))

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        name = {ast.Div: "__divide__", ast.Pow: "__power__"}.get(type(node.op))
        return node if name is None else self._called(name, node, node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name) or type(node.op) not in (ast.Div, ast.Pow):
            return node
        before = ast.Name(node.target.id, ast.Load())
        value = self._called("__divide__" if type(node.op) is ast.Div else "__power__", node, before, node.value)
        return ast.fix_missing_locations(ast.copy_location(ast.Assign([node.target], value), node))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name != "sqrt":
            return node
        node.args, node.func = [node.func, *node.args], ast.Name("__call__", ast.Load())
        return ast.fix_missing_locations(node)

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.pattern:
        # A pattern may hold literals only.
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        # Printed text is unchanged.
        return node

    @staticmethod
    def _called(name: str, node: ast.AST, *arguments: ast.expr) -> ast.Call:
        called = ast.copy_location(ast.Call(ast.Name(name, ast.Load()), list(arguments), []), node)
        return ast.fix_missing_locations(called)


def compiled(source: str, name: str) -> tuple[Any, dict[str, Any]]:
    """The code of a file that computes exactly, and the names that it needs. ``SyntaxError`` if it is not Python."""
    tree = _Exactly(source).visit(ast.parse(source, name))
    return compile(tree, name, "exec", dont_inherit=True), dict(_NAMES)
