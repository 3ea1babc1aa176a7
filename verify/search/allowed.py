"""What a claim may be made of that is certified at points: what it does between and beyond them shows at them, or where
its sums vanish.

A list of what is allowed: numbers and letters; sums and products; maxima, minima and sizes; powers by numbers, or by
what is linear in whole letters, as T rounds, and sums and products that end there; ceilings and floors of quotients of
whole letters. Of what turns somewhere a product has one factor at most: where several are positive at once no single
one tells. Powers and numbers are small, for a narrow bump takes a large one: those of the code too, which is read
(:mod:`verify.reading.whole`). A schedule has no differences and no powers by letters: between two rounds it changes
by a power of their ratio at most, and has no narrow bumps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import ceil, prod
from typing import NamedTuple

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.base import measured
from fedtheory.numbers.symbols import T, n
from fedtheory.numbers.validation import conjuncts
from fedtheory.sampling import drawing
from verify.exact import reals, symbolic
from verify.reading import theory, whole
from verify.reading.whole import Code, letter
from verify.search import critical, points

#: The largest product of numbers.
NUMBERS = 1000
#: The most maxima, minima and sizes in a sum: where it turns is looked for between each of their ends.
KINKS = 6


class _Size(NamedTuple):
    """The largest product of numbers in an expression, and in which powers it has its letters, all at most."""

    number: Fraction
    powers: Mapping[sympy.Basic, Fraction]


def refused(claim: Claim, code: Code) -> str:
    """What a claim or its code is made of that is not on the list, in words; empty if nothing is."""
    if code.largest_number() > NUMBERS:
        return f"its code has numbers beyond {NUMBERS}, for which a letter may stand"
    if claim.setting.drawing.special is not None:
        return "its instances are drawn one by one, and are no members of a class of which all is known"
    if by := _chosen_by_hand(claim):
        return f"its instances are chosen by {by}, which is not part of this package"
    relations = symbolic.assumed(claim)
    if (r := _beside_its_end(claim, relations)) is not None:
        return f"at the end of the bound {r} on constants that are drawn before all else nothing is seen"
    if whole.foreign(claim) and (e := _may_vanish(claim, code)):
        return f"its code divides by {e}, which may be 0"
    return unlisted(claim)


def _chosen_by_hand(claim: Claim) -> str:
    """What of somebody's code draws or chooses the instances of a claim, or makes their parameters; or empty.

    Such instances may have the letters where a false claim holds, and nowhere else.
    """
    code = {f"Drawing({name}=...)": getattr(claim.setting.drawing, name) for name in ("draw", "parameters")}
    code |= {f"the code of the hypothesis {h.text!r}": h.met for h in claim.requires}
    return next((name for name, chosen_by in code.items() if not theory.holds(chosen_by)), "")


def _beside_its_end(claim: Claim, relations: Sequence[sympy.Rel]) -> sympy.Rel | None:
    """A bound on letters that are all drawn before those that meet hypotheses, and that is not on the list, or None.

    On the list: bounds by sums of letters alone, as mu < L, and of whole letters; equations; and linear bounds on
    constants of the classes that may hold with equality, as they are drawn at their ends.
    """
    late = set(drawing.drawn_letters(claim.setting))
    early = [r for given in relations for r in conjuncts(given) if r.free_symbols and not r.free_symbols & late]
    constants = set(points.bounds(claim, relations))
    for r in early:
        linear = all(sympy.diff(r.lhs - r.rhs, s, t) == 0 for s, t in _pairs(r))
        whole_ones = all(s.is_integer for s in r.free_symbols)
        if isinstance(r, sympy.Eq) or (linear and (whole_ones or _is_homogeneous(r))):
            continue
        if not (linear and r in constants and isinstance(r, sympy.Le | sympy.Ge)):
            return r
    return None


def _is_homogeneous(r: sympy.Rel) -> bool:
    """Whether a linear bound compares a sum of letters with another, each of them once."""
    terms = sympy.Add.make_args(sympy.expand(r.lhs - r.rhs))
    return all(term in (0,) or term.is_Symbol or (-term).is_Symbol for term in terms)


def _pairs(r: sympy.Rel) -> Iterable[tuple[sympy.Symbol, sympy.Symbol]]:
    return product(sorted(r.free_symbols, key=str), repeat=2)


def _may_vanish(claim: Claim, code: Code) -> str:
    """What somebody's code divides by that is not seen to be another number than 0; or empty."""
    setting = claim.setting
    told: dict[sympy.Expr, sympy.Expr] = {letter("n"): n, **critical.in_its_letters(claim)}
    if setting.functions is not None:
        told |= {letter(source): x for x, source in setting.functions.letters.items() if isinstance(source, str)}
    for name in getattr(getattr(setting.algorithm, "Params", None), "_fields", ()):
        # Parameters of which nothing is said are drawn positive.
        told.setdefault(letter(name), sympy.Dummy(name, positive=True))
    given = [*symbolic.assumed(claim), *points.of_class(claim)]
    for e in code.divisors():
        if e is None:
            return "what is made of more than letters"
        if not reals.implied(sympy.Ne(e.subs(told), 0, evaluate=False), given):
            return str(e)
    return ""


def unlisted(claim: Claim) -> str:
    """What stands in sides, hypotheses or schedules of a claim and is not on the list, in words; or empty."""
    if power := _may_grow(claim):
        return f"{power} is a power by a letter that may not only shrink with it"
    schedules = tuple(getattr(claim.statement.algorithm, "schedules", {}).values())
    if e := next((e for e in schedules if not _is_slow(e)), None):
        return f"the schedule {e} is not made of positive terms by sums, products, maxima and powers by numbers"
    for e in (*drawing.sides(claim), *drawing.relations(claim), *schedules):
        try:
            size = _size(e)
        except ValueError as error:
            return str(error)
        if size.number > NUMBERS:
            return f"{e} has numbers beyond {NUMBERS}, for which a letter may stand"
        if high := [letter for letter, power in size.powers.items() if power > whole.POWERS]:
            return f"{e} has powers of {high[0]} beyond the {whole.POWERS}th"
    return ""


def _is_slow(e: sympy.Basic) -> bool:
    """Whether an expression changes by a power of their ratio at most where letters do."""
    if isinstance(e, sympy.Pow):
        return bool(e.exp.is_Rational) and _is_slow(e.base)
    positive = isinstance(e, sympy.Rational | sympy.Symbol) and bool(e.is_nonnegative)
    return positive or (isinstance(e, _SLOW) and all(map(_is_slow, e.args)))


def _may_grow(claim: Claim) -> sympy.Expr | None:
    """A power by a letter, other than the rounds, that need not shrink as this grows, or has it beside it too.

    Between letters that are larger and larger such powers make narrower and narrower bumps.
    """
    said, given = sympy.Tuple(*drawing.sides(claim)), [*symbolic.assumed(claim), *points.of_class(claim)]
    powers = [p for p in said.atoms(sympy.Pow) if p.exp.free_symbols - {T}]
    # What a quantity of this package's theory is depends on letters as its code says.
    known = set() if whole.foreign(claim) else measured(claim.statement)
    rest = said.xreplace({p: p.base for p in powers}).free_symbols
    for p in sorted(powers, key=str):
        rates = [sympy.diff(p.exp, x) for x in p.exp.free_symbols - {T}]
        one, small = sympy.S.One, all(rate.is_nonnegative for rate in rates)
        ends = (-one <= p.base, p.base <= one) if small else (p.base >= one,)
        alike = small or all(rate.is_nonpositive for rate in rates)
        if p.base in known:
            continue
        if not alike or (p.exp.free_symbols - {T}) & rest or not all(_follows(end, given) for end in ends):
            return p
    return None


def _follows(relation: sympy.Basic, given: Sequence[sympy.Basic]) -> bool:
    return relation == sympy.true or (relation != sympy.false and reals.implied(relation, given))


def _size(e: sympy.Basic) -> _Size:
    """``ValueError`` names what is not on the list."""
    if isinstance(e, sympy.Rational):
        return _Size(Fraction(max(abs(int(e.p)), int(e.q))), {})
    if isinstance(e, sympy.Symbol):
        return _Size(Fraction(1), {e: Fraction(1)})
    if isinstance(e, sympy.Pow):
        return _of_power(_size(e.base), e.exp)
    if isinstance(e, sympy.Sum | sympy.Product):
        return _repeated(e)
    of = [_size(part) for part in e.args]
    if isinstance(e, sympy.Mul):
        if sum(part.has(*_TURNING) for part in e.args) > 1:
            raise ValueError(f"{e} is a product of several maxima, minima, sizes or whole parts")
        return _Size(prod((size.number for size in of), start=Fraction(1)), _joined(of, sum))
    if isinstance(e, sympy.Add) and len(e.atoms(*critical.KINKED)) > KINKS:
        raise ValueError(f"{e} is a sum with more than {KINKS} maxima, minima or sizes")
    if isinstance(e, sympy.ceiling | sympy.floor) and not all(s.is_integer for s in e.free_symbols):
        raise ValueError(f"{e} is a whole number made of letters that are none")
    if isinstance(e, _OF_PARTS):
        return _largest(of)
    raise ValueError(f"{e} is no sum, product, maximum, or power by a number or by what is linear in whole letters")


#: What of slow parts is slow.
_SLOW = (sympy.Add, sympy.Mul, sympy.Max, sympy.Min)
#: What turns where two of its parts are equal, or at a number.
_TURNING = (*critical.KINKED, sympy.ceiling, sympy.floor)
#: What has no larger numbers, and no higher powers, than its parts.
_OF_PARTS = (
    sympy.Add,
    sympy.Max,
    sympy.Min,
    sympy.Abs,
    sympy.ceiling,
    sympy.floor,
    sympy.And,
    sympy.Rel,
    sympy.logic.boolalg.BooleanAtom,
)


def _of_power(base: _Size, exponent: sympy.Expr) -> _Size:
    if isinstance(exponent, sympy.Rational):
        power = abs(Fraction(int(exponent.p), int(exponent.q)))
        # A number that is too large is not made larger.
        number = base.number ** ceil(power) if max(base.number, power) <= NUMBERS else base.number * NUMBERS + 1
        return _Size(number, {letter: power * of for letter, of in base.powers.items()})
    if _is_linear(exponent):
        return _largest([base, _size(exponent)])
    raise ValueError(f"{exponent} is an exponent that is not linear in whole letters")


def _repeated(e: sympy.Expr) -> _Size:
    """Of a sum or a product that ends at whole letters: what ends at a number may be as long, or as high, as any."""
    (_, low, high), *_ = e.limits
    if not high.free_symbols or not all(end.is_Rational or _is_linear(end) for end in (low, high)):
        raise ValueError(f"{e} does not end at what is linear in whole letters")
    return _largest(list(map(_size, (e.function, low, high))))


def _is_linear(e: sympy.Expr) -> bool:
    """Whether an expression is linear in letters that are whole."""
    letters = e.free_symbols
    whole_ones = all(s.is_integer for s in letters) and e.is_polynomial(*letters)
    return bool(letters and whole_ones and sympy.Poly(e, *letters).total_degree() <= 1)


def _largest(of: Sequence[_Size]) -> _Size:
    return _Size(max((size.number for size in of), default=Fraction(1)), _joined(of, max))


def _joined(of: Sequence[_Size], by: Callable[[Iterable[Fraction]], Fraction | int]) -> Mapping[sympy.Basic, Fraction]:
    letters = {letter for size in of for letter in size.powers}
    return {x: Fraction(by([size.powers.get(x, Fraction(0)) for size in of])) for x in sorted(letters, key=str)}
