"""Numbers and expressions from untrusted text, read by a grammar of our own, never run as code; and numbers as text.

Everything is bounded before it is computed: the length of a text, the digits of a number, how deep parentheses nest,
and the powers, so that no few characters stand for a number that does not fit a computer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath
import sympy

from fedtheory.numbers import rational
from fedtheory.numbers.intervals import Interval
from verify.base.plain import quoted

#: Digits of an integer (Python reads 4300 at most) and size of a decimal exponent.
DIGITS, EXPONENT = 4000, 100_000
#: Characters of an expression, and how deep its parentheses nest.
LENGTH, DEPTH = 20_000, 60
#: To which power anything in an expression is raised, the powers of its powers counted in.
POWER = 1000
#: Bits of the integers that are written out: Python reads no more than 4300 digits.
_LONGEST = 12_000

_INTEGER = f"[0-9]{{1,{DIGITS}}}"
_RATIO = re.compile(
    rf"(?P<sign>[+-]?)(?P<top>{_INTEGER})(e(?P<up>\d{{1,6}}))?(/(?P<low>{_INTEGER})(e(?P<down>\d{{1,6}}))?)?", re.ASCII
)
_DECIMAL = re.compile(
    rf"(?P<sign>[+-]?)(?P<whole>{_INTEGER})?(\.(?P<part>[0-9]{{0,{DIGITS}}}))?(e(?P<exponent>[+-]?\d{{1,6}}))?",
    re.ASCII | re.IGNORECASE,
)
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d[\d.]*(?:e[+-]?\d+)?)|(?P<operator>\*\*|[-+*/(),])|(?P<name>[^\W\d]\w*))", re.ASCII
)
_NOT_FINITE = {"nan": "nan", "inf": "inf", "+inf": "inf", "-inf": "-inf"}


def fraction(text: Any) -> Fraction:
    """The number written as an integer, a ratio "3/4" or a decimal "0.75", exactly. ``ValueError`` for all else."""
    if isinstance(text, str):
        if (found := _RATIO.fullmatch(text)) is not None:
            top, low = _scaled(found["top"], found["up"]), _scaled(found["low"] or "1", found["down"])
            if low == 0:
                raise ValueError(f"{quoted(text)} divides by zero")
            return Fraction(-top if found["sign"] == "-" else top, low)
        found = _DECIMAL.fullmatch(text)
        if found is not None and (found["whole"] or found["part"]):
            part = found["part"] or ""
            digits = int(found["whole"] or "0") * 10 ** len(part) + int(part or "0")
            power = _bounded(found["exponent"]) - len(part)
            value = Fraction(digits * 10**power) if power >= 0 else Fraction(digits, 10**-power)
            return -value if found["sign"] == "-" else value
    raise ValueError(f"a number such as 3, 3/4 or 0.75 was expected, got {quoted(text)}")


def _scaled(digits: str, exponent: str | None) -> int:
    return int(digits) * 10 ** _bounded(exponent)


def _bounded(exponent: str | None) -> int:
    value = int(exponent or "0")
    if abs(value) > EXPONENT:
        raise ValueError(f"a number below 1e{EXPONENT} was expected, got an exponent of {value}")
    return value


def real(text: Any) -> Fraction | mpmath.mpf:
    """A number as :func:`fraction` reads it; "nan", "inf" and "-inf" too, as mpmath's numbers."""
    if isinstance(text, str) and text in _NOT_FINITE:
        return mpmath.mpf(_NOT_FINITE[text])
    return fraction(text)


def written(value: Fraction | int) -> str:
    """The text that :func:`fraction` reads as this number. Raise ``ValueError`` if it has too many digits."""
    ratio = Fraction(value)
    sign, top, low = "-" if ratio < 0 else "", abs(ratio.numerator), ratio.denominator
    return f"{sign}{_digits(top)}" + ("" if low == 1 else f"/{_digits(low)}")


def _digits(value: int) -> str:
    """The digits of a natural number; those at the end of a long one that are zero as an exponent."""
    zeros = 0
    if value.bit_length() > 1000:
        while value % 10 == 0:
            value, zeros = value // 10, zeros + 1
    if value.bit_length() > 3 * DIGITS or zeros > EXPONENT:
        raise ValueError(f"numbers of more than {DIGITS} digits cannot be stored")
    return f"{value}e{zeros}" if zeros else str(value)


def texts(value: Any) -> Any:
    """Exact numbers as "a" or "a/b", alone or in lists and by name, for a file; None stays. :func:`exact` reads them.

    Unlike :func:`written`, it writes every digit, as certificates have them.
    """
    if isinstance(value, Mapping):
        return {name: texts(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [texts(part) for part in value]
    return None if value is None else str(Fraction(value))


def exact(data: Any) -> Any:
    """The numbers that :func:`texts` wrote, lists as tuples. Raise ``ValueError`` if a text is not a number."""
    if isinstance(data, Mapping):
        return {name: exact(part) for name, part in data.items()}
    return tuple(map(exact, data)) if isinstance(data, list) else None if data is None else fraction(data)


def number(value: Any) -> str:
    """A fraction as "a/b"; the middle of an interval, a number of mpmath or a fraction too long to be read with 30
    digits; a float as it is."""
    if isinstance(value, int | Fraction) and max(abs(value.numerator), value.denominator).bit_length() > _LONGEST:
        with mpmath.workdps(rational.DIGITS):
            return mpmath.nstr(rational.real(Fraction(value)), 30)
    if isinstance(value, Interval):
        with mpmath.workdps(rational.DIGITS):
            return mpmath.nstr(rational.real(value), 30)
    return mpmath.nstr(value, 30) if isinstance(value, mpmath.mpf) else str(value)


class _Parsed(NamedTuple):
    """A part of an expression, and the largest power in it."""

    value: sympy.Expr
    power: int = 1


def expression(text: Any, symbols: Mapping[str, sympy.Symbol]) -> sympy.Expr:
    """The expression written by ``str``: the arithmetic of Python, ``Max``, ``Min``, ``sqrt``, ``log``, ``ceiling``,
    ``floor``, integers, decimals, and the ``symbols`` by name, with any characters in names.

    ``ValueError`` for all else, and for a power above ``POWER``.
    """
    if not isinstance(text, str):
        raise ValueError(f"the text of an expression was expected, got {quoted(text)}")
    if len(text) > LENGTH:
        raise ValueError(f"an expression of at most {LENGTH} characters was expected, got {len(text)}")
    reader = _TokenReader(_tokens(text, symbols), symbols)
    found = reader.sum(0)
    reader.expect("")
    if found.value.has(sympy.oo, sympy.zoo, sympy.nan, sympy.I):
        raise ValueError(f"an expression with a real value was expected, got {quoted(text)}")
    return found.value


def _tokens(text: str, symbols: Mapping[str, sympy.Symbol]) -> list[tuple[str, str]]:
    """(kind, text) of each token. A symbol is the longest name that fits, as quantities are called |x-y|^2, h(x*)."""
    names = sorted(symbols, key=len, reverse=True)
    found, at = [], 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        name = next((n for n in names if text.startswith(n, at) and not _goes_on(text, at + len(n), n, symbols)), None)
        if name is not None:
            found.append(("symbol", name))
            at += len(name)
            continue
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise ValueError(f"an expression was expected, got {quoted(text[at:])}")
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return [*found, ("end", "")]


def _goes_on(text: str, at: int, name: str, symbols: Mapping[str, sympy.Symbol]) -> bool:
    """Return True if the text continues the name: as a longer word or, where both x and x* are symbols, as x**2."""
    if name.endswith("*") and name[:-1] in symbols:
        return text.startswith("*", at) and not text.startswith("**", at)
    word = re.compile(r"\w", re.ASCII)
    return bool(word.match(name[-1]) and word.match(text, at))


class _TokenReader:
    """Reads tokens one after the other, by recursive descent."""

    def __init__(self, tokens: Sequence[tuple[str, str]], symbols: Mapping[str, sympy.Symbol]) -> None:
        self._tokens, self._symbols, self._at = tokens, symbols, 0

    def _take(self, *texts: str) -> str | None:
        kind, text = self._tokens[self._at]
        if kind == "operator" and text in texts:
            self._at += 1
            return text
        return None

    def expect(self, text: str) -> None:
        """Raise ``ValueError`` unless this operator, or the end, comes next."""
        kind, found = self._tokens[self._at]
        if found != text or kind not in ("operator", "end"):
            wanted = repr(text) if text else "the end"
            raise ValueError(f"{wanted} of an expression was expected, got {quoted(found) if found else 'its end'}")
        self._at += 1

    def sum(self, depth: int) -> _Parsed:
        if depth > DEPTH:
            raise ValueError(f"an expression nested at most {DEPTH} deep was expected")
        terms = [self._product(depth)]
        while (sign := self._take("+", "-")) is not None:
            term = self._product(depth)
            terms.append(term if sign == "+" else _Parsed(-term.value, term.power))
        return (
            terms[0] if len(terms) == 1 else _Parsed(sympy.Add(*(t.value for t in terms)), max(t.power for t in terms))
        )

    def _product(self, depth: int) -> _Parsed:
        found = self._signed(depth)
        while (sign := self._take("*", "/")) is not None:
            factor = self._signed(depth)
            if sign == "/" and factor.value.is_zero:
                raise ValueError("an expression divides by zero")
            value = found.value * factor.value if sign == "*" else found.value / factor.value
            found = _Parsed(value, max(found.power, factor.power))
        return found

    def _signed(self, depth: int) -> _Parsed:
        negative = False
        while (sign := self._take("+", "-")) is not None:
            negative ^= sign == "-"
        found = self._power(depth)
        return _Parsed(-found.value, found.power) if negative else found

    def _power(self, depth: int) -> _Parsed:
        base = self._atom(depth)
        if self._take("**") is None:
            return base
        # The exponent is a level of its own: 2**2**2**... nests without parentheses.
        if depth >= DEPTH:
            raise ValueError(f"an expression nested at most {DEPTH} deep was expected")
        exponent = self._signed(depth + 1)
        if exponent.value.is_number:
            size = exponent.value
            if not ((size.is_Float or (size.is_Rational and size.q <= POWER)) and abs(size) <= POWER):
                raise ValueError(f"a power of at most {POWER} was expected in an expression")
            power = base.power * max(1, math.ceil(abs(size)))
            if power > POWER:
                raise ValueError(f"powers of powers of at most {POWER} were expected in an expression")
            if base.value.is_zero and size < 0:
                raise ValueError("an expression divides by zero")
        else:
            power = max(base.power, exponent.power)
        return _Parsed(base.value**exponent.value, power)

    def _atom(self, depth: int) -> _Parsed:
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "symbol":
            return _Parsed(self._symbols[text])
        if kind == "number":
            return _Parsed(_literal(text))
        if kind == "operator" and text == "(":
            found = self.sum(depth + 1)
            self.expect(")")
            return found
        if kind == "name" and text in _FUNCTIONS:
            return self._call(text, depth)
        if kind == "name":
            raise ValueError(f"a symbol of the claim was expected, got {quoted(text)}")
        raise ValueError(f"an expression was expected, got {quoted(text) if text else 'its end'}")

    def _call(self, name: str, depth: int) -> _Parsed:
        self.expect("(")
        parts = [self.sum(depth + 1)]
        while self._take(",") is not None:
            parts.append(self.sum(depth + 1))
        self.expect(")")
        if len(parts) > 1 and name not in ("Max", "Min"):
            raise ValueError(f"{name} of one expression was expected, got {len(parts)}")
        return _Parsed(_FUNCTIONS[name](*(p.value for p in parts)), max(p.power for p in parts))


def _literal(text: str) -> sympy.Expr:
    value = fraction(text)
    if value.denominator == 1 and text.isdigit():
        return sympy.Integer(value.numerator)
    return sympy.Float(text)


def _exponential(exponent: sympy.Expr) -> sympy.Expr:
    """``ValueError`` for one that nothing can evaluate."""
    if exponent.has(sympy.exp) or (exponent.is_number and not abs(exponent) <= POWER):
        raise ValueError(f"exp of at most {POWER}, and of no other exp, was expected in an expression")
    return sympy.exp(exponent)


#: Maxima are not looked through for the largest argument: what ``str`` wrote has been.
_FUNCTIONS: dict[str, Callable[..., sympy.Expr]] = {
    "Max": lambda *parts: sympy.Max(*parts, evaluate=False),
    "Min": lambda *parts: sympy.Min(*parts, evaluate=False),
    "sqrt": sympy.sqrt,
    "log": sympy.log,
    "exp": _exponential,
    "ceiling": sympy.ceiling,
    "floor": sympy.floor,
}
