"""Numbers that a step computes of a state by a root or a quotient, as a length or Polyak's stepsize: new letters, with
what defines them.

Such a number s is the same for all clients, and nothing that is drawn has a part in it. It is a letter as a parameter
is: what is shown for all values of the letters, of all states where they are what defines them, is shown of each state.
The root s of a form a is at least 0, and a - s^2 = 0. Of a quotient t of a by b that is t b - a = 0, where b is not 0:
where the code divides by 0 it says nothing. That t is nonnegative is seen of both.

Of the larger of two numbers a state decides which it is. Each number is written by letters, z of a form a with
z - a = 0 and z >= 0, and the two cases are polynomials in the letters: every state is in one of them, as long as the
letters stand for the same in both (``known``). A form is nonnegative if it is so for all vectors, by elimination.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import sympy

from verify.multipliers.generic_functions import KnownInequality
from verify.multipliers.reasons import Phrase, Reason
from verify.reading.source import Unread
from verify.reading.terms import NUMBER, Op, Term, leaf, parts
from verify.reading.worlds import ONE, Atom, World, WorldValue, symbol_of

#: Letters for such numbers, of each sort: those that are at least 0, and those that are divided by.
SPARE = 3
_SIZE, _DIVISOR = "number", "divisor"
#: The operations that depend on the state.
_OF_STATE = frozenset({Op.PART, Op.ORACLE, Op.ANY})


def depends(term: Term) -> bool:
    """Return True if a term depends on the state."""
    return any(part.op in _OF_STATE for part in parts(term))


def occur(*terms: Term) -> bool:
    """Return True if numbers of a state that have letters of their own occur in terms."""
    return any(
        part.op is Op.SIZE
        or (part.op is Op.DIVIDE and depends(part.of[1]))
        or (part.op is Op.LARGER and any(map(depends, part.of)))
        for part in parts(*terms)
    )


def leaves() -> list[Term]:
    """Return the terms that stand for the letters."""
    return [leaf(Op.GIVEN, f"{kind} {k}", NUMBER) for kind in (_SIZE, _DIVISOR) for k in range(SPARE)]


def places(names: list[str]) -> tuple[set[int], set[int]]:
    """Return the places of the nonnegative letters and of the positive ones, given the names of all."""
    of = {
        kind: {names.index(str(symbol_of(one))) for one in leaves() if one.data.startswith(kind)}
        for kind in (_SIZE, _DIVISOR)
    }
    return of[_SIZE], of[_DIVISOR]


@dataclass(eq=False)
class StateNumbers:
    """The numbers that were met.

    ``is_drawn``: whether something depends on a draw; ``gaps``: the names of values of functions above the least;
    ``is_least``: whether a number that is not drawn is nonnegative for all vectors; ``known``: the names of letters
    that stand in a case, by what they stand for.
    """

    world: World
    is_drawn: Callable[[Atom], bool]
    gaps: Callable[[], frozenset[str]]
    is_least: Callable[[WorldValue], bool]
    known: Mapping[str, str] = field(default_factory=dict)
    divisors: frozenset[int] = frozenset()
    named: dict[str, tuple[str, WorldValue]] = field(default_factory=dict)
    facts: list[KnownInequality] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        world: World,
        is_drawn: Callable[[Atom], bool],
        gaps: Callable[[], frozenset[str]],
        is_least: Callable[[WorldValue], bool],
        terms: list[Term],
        known: Mapping[str, str],
    ) -> StateNumbers:
        """Return the numbers of the given terms, which also show what is divided by."""
        below = [part.of[1] for part in parts(*terms) if part.op is Op.DIVIDE]
        divisors = frozenset(id(factor) for one in below for factor in _factors(one))
        return cls(world, is_drawn, gaps, is_least, known, divisors)

    def keys(self) -> dict[str, str]:
        """Return the names of all letters so far, by what they stand for."""
        return {**self.known, **{key: name for key, (name, _) in self.named.items()}}

    def root(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        """The root of a number of a state."""
        number = of[0]
        self._check(number)
        if not self._is_at_least_0(number):
            raise Unread("the root is taken of a number that is not a sum of squares")
        kind = _DIVISOR if id(term) in self.divisors else _SIZE
        size = self._letter(kind, f"root of {number.name()}")
        if isinstance(size, str):
            return self._known_letter(size)
        letter, name = size
        self._define(name, letter * letter, number, Phrase((f"{name} is the root of ", number)))
        return letter

    def quotient(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        """A quotient by a number of a state: of a vector it is a multiple by the quotient of 1."""
        above, below = of
        self._check(below)
        vector = any(atom.degree for _, atoms in above.of for atom in atoms)
        one = WorldValue({ONE: world.field.one})
        top = one if vector else above
        self._check(top)
        if not (self._is_at_least_0(top) and self._is_at_least_0(below)):
            raise Unread("the sign of a quotient by a number of the state is not known")
        found = self._letter(_SIZE, f"{top.name()} by {below.name()}")
        if isinstance(found, str):
            letter = self._known_letter(found)
        else:
            letter, name = found
            self._define(name, letter * below, top, Phrase((f"{name} is (", top, ") / (", below, ")")))
        return above * letter if vector else letter

    def in_letters(self, number: WorldValue) -> WorldValue:
        """A number of a state, written by letters."""
        self._check(number)
        rest = {monomial: c for monomial, c in number.of.items() if monomial != ONE}
        found = WorldValue({monomial: c for monomial, c in number.of.items() if monomial == ONE})
        if (whole := self._as_letter(WorldValue(rest))) is not None:
            return found + whole
        for monomial, c in rest.items():
            if (one := self._as_letter(WorldValue({monomial: c}))) is None:
                raise Unread("which of two numbers of the state is larger is not read, as one of them has any sign")
            found += one
        return found

    def _as_letter(self, form: WorldValue) -> WorldValue | None:
        """A multiple of a form that is nonnegative, as that of a letter or of the square of one; or None."""
        if form.is_zero():
            return form
        c = form.of[min(form.of)]
        unit = form * WorldValue({ONE: 1 / c})
        if (root := self.named.get(f"root of {unit.name()}")) is not None:
            return root[1] * root[1] * WorldValue({ONE: c})
        # The divisor of the form must be shown to be other than 0.
        if not (_has_no_negative(c) or _has_no_negative(-c)) or not self._is_at_least_0(unit):
            return None
        found = self._letter(_SIZE, f"number {unit.name()}")
        if isinstance(found, str):
            return self._known_letter(found) * WorldValue({ONE: c})
        letter, name = found
        self._define(name, letter, unit, Phrase((f"{name} is ", unit)))
        return letter * WorldValue({ONE: c})

    def _is_at_least_0(self, number: WorldValue) -> bool:
        """Return True if a number that was checked is nonnegative."""
        return self.is_nonnegative(number) or self.is_least(number)

    def _letter(self, kind: str, key: str) -> tuple[WorldValue, str] | str:
        """A new letter with its name; or the key of one that is known."""
        if key in self.named:
            return key
        taken = self.keys()
        free = (name for name in (f"{kind} {k}" for k in range(SPARE)) if name not in taken.values())
        name = taken.get(key) or next(free, "")
        if not name:
            raise Unread(f"more than {SPARE} numbers are computed of a state by roots or quotients")
        letter = WorldValue({ONE: self.world.field(sympy.Symbol(f"{Op.GIVEN} {name}"))})
        self.named[key] = name, letter
        return letter, name

    def _known_letter(self, key: str) -> WorldValue:
        return self.named[key][1]

    def _define(self, name: str, one: WorldValue, other: WorldValue, why: Reason) -> None:
        """Record that two numbers are equal."""
        for sign, word in ((1, "at most"), (-1, "at least")):
            value = (one - other) * self.world.constant(sympy.Integer(sign))
            self.facts.append(KnownInequality(f"{name}, {word}", why, value))

    def _check(self, number: WorldValue) -> None:
        """``Unread`` where a number is not the same for all clients and draws."""
        for draws, atoms in number.of:
            if draws or any(map(self.is_drawn, atoms)):
                raise Unread("a root, or a quotient by a number of the state, depends on what is drawn")
            if any(atom.own or atom.example or atom.degree for atom in atoms) or len(atoms) > 1:
                raise Unread("a root, or a quotient, is taken of more than a number that is the same for all clients")

    def is_nonnegative(self, number: WorldValue) -> bool:
        """Return True if a number is a sum of squares, values above the least, and letters, with nonnegative
        coefficients.
        """
        return all(_has_no_negative(c) and all(map(self._is_square, atoms)) for (_, atoms), c in number.of.items())

    def _is_square(self, atom: Atom) -> bool:
        kind, *of = self.world.meaning.get(atom.name, ("",))
        if kind == "inner product":
            return bool(of[0] == of[1])
        if kind == "sum":
            letters, draws, own = of
            return not draws and len(own) == 1 and _has_no_negative(letters) and self._is_square(own[0])
        return atom.name in self.gaps()

    def equal(self) -> dict[str, str]:
        """The names of what is 0, each with that of its negative."""
        names = [fact.name for fact in self.facts]
        return dict(zip(names[::2], names[1::2], strict=True))

    def meanings(self) -> Iterator[Reason]:
        """Yield the meanings of the letters."""
        yield from dict.fromkeys(fact.why for fact in self.facts)


def _factors(term: Term) -> Iterator[Term]:
    """Yield a term and the factors of a product: where one is 0, the product is."""
    yield term
    if term.op in (Op.VIEW, Op.MULTIPLY) or (term.op is Op.POWER and term.data > 0):
        for one in term.of:
            yield from _factors(one)


def _has_no_negative(c: Any) -> bool:
    """Return True if all coefficients of a quotient of polynomials in nonnegative letters are nonnegative too."""
    return all(number >= 0 for p in (c.numer, c.denom) for _, number in p.terms())
