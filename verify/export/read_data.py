"""Objects of what is read off code about data in index notation: the sums that both sides are, and what adds up to
their difference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy

from fedtheory.claims import Claim
from verify import checker
from verify.data import arrays, proving, sums
from verify.data.arrays import Array
from verify.data.proving import Shown
from verify.data.space import Product
from verify.data.squares import Used
from verify.data.words import Wording
from verify.export.instances import examples
from verify.export.objects import sealed
from verify.report import statement
from verify.search import hunting

_SAYS = (
    "read off the code in index notation, for any numbers of examples, clients and features: both sides are sums of "
    "the quantities below, for each value of the indices that are not summed over, with polynomials in the letters "
    "before them once they are multiplied by what they are divided by, which the hypotheses say is not 0. That the "
    "code computes these sums is not shown here"
)
_ORDERED = "what is known of sums, that squares are not negative for one, holds term by term and is not shown here"


def of(claim: Claim) -> list[dict[str, Any]]:
    """An object for each path through the conditions of the code. Raise ``ValueError`` if there is none."""
    instances = examples(claim, hunting.generator(claim, 0))
    found = proving.shown(claim, instances)
    if isinstance(found, str):
        raise ValueError(found)
    return [_object(claim, str(case), one) for case, one in enumerate(found, 1) if one.of]


@dataclass(frozen=True)
class _Writing:
    """How numbers and quantities are written: ``letters``: those that occur, by name; ``places``: theirs in the field;
    ``names``: of products, which are given as they are met."""

    letters: Mapping[str, sympy.Symbol]
    places: tuple[int, ...]
    names: dict[Product, str]

    def quotient(self, c: Any, below: Any, also: Any = None) -> dict[str, Any]:
        """Return a coefficient times a number that its divisors divide; less ``also`` times it."""
        terms = [*_terms(c * below, 1), *(() if also is None else _terms(also * below, -1))]
        written = [[str(number), [powers[k] for k in self.places]] for powers, number in terms]
        return {"num": written, "den": [["1", [0] * len(self.places)]]}

    def form(self, of: Mapping[Product, Any], below: Any) -> dict[str, Any]:
        return {self.name(made): self.quotient(c, below) for made, c in of.items()}

    def name(self, made: Product) -> str:
        return self.names.setdefault(made, f"v{len(self.names)}")


def _terms(c: Any, sign: int) -> list[tuple[tuple[int, ...], Fraction]]:
    """Return the terms of a polynomial times a sign. Raise ``ValueError`` for a quotient."""
    if not c.denom.is_ground:
        raise ValueError("a number is divided by letters")
    below = sign * Fraction(int(c.denom.LC.numerator), int(c.denom.LC.denominator))
    return [(powers, Fraction(int(b.numerator), int(b.denominator)) / below) for powers, b in c.numer.terms()]


def _object(claim: Claim, case: str, shown: Shown) -> dict[str, Any]:
    writing = _writing(shown)
    programs = [
        {"claimed": f"comparison {k}: the target, left - right, is {'at most ' if used else ''}0", "squares": []}
        | (_ordered(left, right, used, shown, writing) if used else _equal(left, right, shown, writing))
        for k, (left, right, used) in enumerate(shown.of, 1)
    ]
    symbols = shown.space.field.symbols
    renamed = {symbols[k]: sympy.Symbol(name) for k, name in enumerate(_names(shown))}
    words = Wording(shown.space, renamed)
    meant = {name: words.product(made) for made, name in writing.names.items() if made}
    says = [*statement.text(claim), _SAYS, *([_ORDERED] if any(used for _, _, used in shown.of) else [])]
    return sealed(
        {
            "format": checker.FORMAT,
            "kind": "identity",
            "claim": claim.id,
            "says": [*says, *(f"{name} is {meaning}" for name, meaning in (meant | words.meanings).items())],
            "at": {"case": case},
            "letters": {name: "> 0" if s.is_positive else ">= 0" for name, s in writing.letters.items()},
            "domain": {},
            "point": dict.fromkeys(writing.letters, "1"),
            "nonzero": [],
            "programs": programs,
        }
    )


def _names(shown: Shown) -> list[str]:
    """Return the names of all letters: those of the claim, or what they are in the code where it has none."""
    theirs = {str(s) for s in shown.about.names.values() if not isinstance(s, sympy.Dummy)}
    found = []
    for s in shown.space.field.symbols:
        letter, name = shown.about.names[s], str(s).replace(".", "_").replace(" ", "_")
        if isinstance(letter, sympy.Dummy):
            found.append(f"{name}_in_code" if name in theirs else name)
        else:
            found.append(str(letter))
    if len(set(found)) < len(found):
        raise ValueError("two letters have one name")
    return found


def _writing(shown: Shown) -> _Writing:
    """Return how the numbers of what is shown are written."""
    numbers = [c for left, right, used in shown.of for c in (*left.of.values(), *right.of.values())]
    numbers += [c for _, _, used in shown.of for one in used for c in (one.times, *one.of.values())]
    met = {k for c in numbers for p in (c.numer, c.denom) for powers in p for k, power in enumerate(powers) if power}
    names, places = _names(shown), tuple(sorted(met))
    symbols = shown.space.field.symbols
    return _Writing({names[k]: shown.about.names[symbols[k]] for k in places}, places, {(): "1|1"})


def _equal(left: Array, right: Array, shown: Shown, writing: _Writing) -> dict[str, Any]:
    """A comparison of sides that are one sum, times what both are divided by."""
    below, none = _below([*left.of.values(), *right.of.values()], shown), shown.space.field.zero
    products = dict.fromkeys([*left.of, *right.of])
    target = {writing.name(p): writing.quotient(left.of.get(p, none), below, right.of.get(p, none)) for p in products}
    return {"target": target, "known": []}


def _ordered(left: Array, right: Array, used: tuple[Used, ...], shown: Shown, writing: _Writing) -> dict[str, Any]:
    """A comparison of sides whose difference is a sum of what is not negative, times what they are divided by.

    Raise ``ValueError`` unless all signs are seen.
    """
    if any(not s.is_nonnegative for s in writing.letters.values()):
        raise ValueError("a letter has no sign")
    cleared = [(one, _below(one.of.values(), shown)) for one in used]
    weights = [one.times / own for one, own in cleared]
    below = _below(weights, shown)
    if not all(_has_no_minus(c) for c in (below, *(own for _, own in cleared), *(w * below for w in weights))):
        raise ValueError("the sign of a number is not seen")
    whole: dict[Product, Any] = {}
    for one in used:
        whole = sums.added(whole, sums.scaled(one.of, -one.times))
    difference = sums.scaled(arrays.add(right, arrays.negative(left)).of, -shown.space.field.one)
    moved = "" if difference == whole else ", of states of which parts are moved by what does not depend on the state"
    known = [
        {
            "name": f"K{number}",
            "words": f"{one.how}, of the other sign{moved}",
            "form": writing.form(sums.scaled(one.of, -shown.space.field.one), own),
            "weight": writing.quotient(weight, below),
        }
        for number, ((one, own), weight) in enumerate(zip(cleared, weights, strict=True), 1)
    ]
    return {"target": writing.form(whole, below), "known": known}


def _has_no_minus(c: Any) -> bool:
    return all(number > 0 for _, number in _terms(c, 1))


def _below(coefficients: Iterable[Any], shown: Shown) -> Any:
    """Return the least multiple of what the coefficients are divided by."""
    field = shown.space.field
    below = field.one.numer
    for c in coefficients:
        below = below.lcm(c.denom)
    return field(below)
