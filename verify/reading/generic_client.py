"""A program for every number of clients: n is a letter, and what clients have is told of a generic one.

What each client has, a vector or a number, is its mean over the clients and the client's deviation from it. A sum over
the clients is n times what is the same for all, a deviation alone sums to zero, and what draws of each client
stand in front of has a sum of its own. Coefficients are quotients of polynomials in the letters: nothing is ever asked
of n, of d, or of a letter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy

from verify.reading.program import Program
from verify.reading.source import Unread
from verify.reading.terms import Axis, Op, Term, parts


class Atom(NamedTuple):
    """A vector (``degree`` 1) or a number (0) of which nothing but its name is known.

    ``own``: whether each client has another; ``balanced``: whether these sum to zero over the clients.
    """

    name: str
    degree: int
    own: bool = False
    balanced: bool = False


#: Letters that stand for sums of numbers over the clients, and how many there are.
_SPARE, _SUMS = "sum ", 12
#: A product: draws, of which each is its own square; and what else is multiplied, in order.
Monomial = tuple[frozenset[str], tuple[Atom, ...]]
ONE: Monomial = (frozenset(), ())


@dataclass(frozen=True, eq=False)
class Value:
    """A number, a vector or a product of two, of a generic client or of the server: its coefficients by monomial."""

    of: Mapping[Monomial, Any]

    def __add__(self, other: Value) -> Value:
        found = dict(self.of)
        for monomial, c in other.of.items():
            found[monomial] = found[monomial] + c if monomial in found else c
        return Value({monomial: c for monomial, c in found.items() if c})

    def __mul__(self, other: Value) -> Value:
        total = Value({})
        for (draws, atoms), c in self.of.items():
            products: dict[Monomial, Any] = {}
            for (more, others), b in other.of.items():
                key = draws | more, tuple(sorted((*atoms, *others)))
                products[key] = products[key] + c * b if key in products else c * b
            total += Value(products)
        return Value({monomial: c for monomial, c in total.of.items() if c})

    def __neg__(self) -> Value:
        return Value({monomial: -c for monomial, c in self.of.items()})

    def __sub__(self, other: Value) -> Value:
        return self + -other

    def is_zero(self) -> bool:
        """Whether it is zero whatever the letters, the vectors and what is drawn."""
        return not self.of

    def name(self) -> str:
        """A name that another value has only if it is the same."""
        items = (f"({c}) {sorted(draws)} {[atom.name for atom in atoms]}" for (draws, atoms), c in self.of.items())
        return " + ".join(sorted(items))


@dataclass(eq=False)
class World:
    """The letters of a program as a field, and the names of what stands in its values.

    ``indexed``: the draws and the letters that each client has of its own; ``totals``: of draws, how many there are.
    """

    field: Any
    indexed: frozenset[str]
    totals: dict[str, Value] = field(default_factory=dict)
    #: What atoms stand for: the mean or the deviation of what has a name, or the sum or the inner product of others.
    meaning: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    #: Sums of numbers over the clients, by name: letters of the field that stand for them, so that they divide.
    sums: dict[str, Any] = field(default_factory=dict)
    #: What is divided by, as it is written with these letters: where it is zero, nothing is said.
    divisors: list[str] = field(default_factory=list)
    #: The same, as elements of the field.
    divided: list[Any] = field(default_factory=list)
    #: What parts of a state are known to be, by name, in place of new vectors.
    known: dict[str, Value] = field(default_factory=dict)

    def count(self, name: str) -> Value:
        """n or d."""
        return Value({ONE: self.field(sympy.Symbol(name))})

    def letter(self, term: Term) -> Value:
        """A parameter, or a number that the problem declares; of a mask, whether it is true."""
        return self.drawn(str(_symbol(term))) if term.type.mask else Value({ONE: self.field(_symbol(term))})

    def constant(self, value: Any) -> Value:
        """A number that is written."""
        c = self.field(sympy.Rational(value.numerator, value.denominator))
        return Value({ONE: c} if c else {})

    def atom(self, name: str, degree: int) -> Value:
        """A vector or a number that is the same for all clients."""
        return Value({(frozenset(), (Atom(name, degree),)): self.field.one})

    def drawn(self, name: str) -> Value:
        """A mask."""
        return Value({(frozenset({name}), ()): self.field.one})

    def deviation(self, name: str, degree: int) -> Value:
        """By how much a vector or a number of a generic client differs from the mean."""
        atom = Atom(f"deviation of {name}", degree, True, True)
        self.meaning[atom.name] = ("deviation", name)
        return Value({(frozenset(), (atom,)): self.field.one})

    def of_client(self, name: str, degree: int) -> Value:
        """A vector or a number of a generic client: the mean and the client's deviation."""
        self.meaning[f"mean of {name}"] = ("mean", name)
        return self.atom(f"mean of {name}", degree) + self.deviation(name, degree)

    def of_one(self, value: Value, client: str) -> Value:
        """What the client has that a parameter says, of what each of them has."""
        found = Value({})
        for (draws, atoms), c in value.of.items():
            masks = frozenset(at_client(name, client) if name in self.indexed else name for name in draws)
            named = tuple(sorted(self._of_one(a, client) for a in atoms))
            found += Value({(masks, named): self._renamed(c, client)})
        return found

    def _of_one(self, atom: Atom, client: str) -> Atom:
        if not atom.own:
            return atom
        kind, *of = self.meaning.get(atom.name, ("",))
        if kind != "inner product":
            return Atom(at_client(atom.name, client), atom.degree)
        one, other = sorted(self._of_one(vector, client) for vector in of)
        product = Atom(f"<{one.name}, {other.name}>", 0)
        self.meaning[product.name] = ("inner product", one, other)
        return product

    def _renamed(self, c: Any, client: str) -> Any:
        """A coefficient with the letters of one client in place of those of each client's own."""
        found = []
        for polynomial in (c.numer, c.denom):
            total = self.field.zero
            for monomial, number in polynomial.terms():
                product = self.field(number)
                for symbol, power in zip(self.field.symbols, monomial, strict=True):
                    named = sympy.Symbol(at_client(str(symbol), client)) if str(symbol) in self.indexed else symbol
                    product = product * self.field(named) ** power if power else product
                total += product
            found.append(total)
        return found[0] / found[1]

    def total(self, value: Value) -> Value:
        """The sum over the clients."""
        found = Value({})
        for (draws, atoms), c in value.of.items():
            own_draws = frozenset(name for name in draws if name in self.indexed)
            own = tuple(atom for atom in atoms if atom.own)
            rest = tuple(atom for atom in atoms if not atom.own)
            for own_letters, b in self._apart(c):
                found += self._sum(own_letters, own_draws, own) * Value({(draws - own_draws, rest): b})
        return found

    def _apart(self, c: Any) -> Iterator[tuple[Any, Any]]:
        """The terms of a coefficient, each a factor in letters of each client's own and one in the others."""
        own = [k for k, symbol in enumerate(self.field.symbols) if str(symbol) in self.indexed]
        constant, factors = c.denom.factor_list()
        below, rest_below = self.field.one, self.field(constant)
        for factor, power in factors:
            if any(monomial[k] for monomial in factor for k in own):
                below *= self.field(factor) ** power
            else:
                rest_below *= self.field(factor) ** power
        for monomial, number in c.numer.terms():
            one, rest = self.field.one, self.field(number)
            for k, (generator, power) in enumerate(zip(self.field.gens, monomial, strict=True)):
                if k in own:
                    one *= generator**power
                else:
                    rest *= generator**power
            yield one / below, rest / rest_below

    def _sum(self, letters: Any, draws: frozenset[str], own: tuple[Atom, ...]) -> Value:
        """The sum over the clients of what each of them has of its own."""
        if letters == self.field.one:
            if not draws and not own:
                return self.count("n")
            if not draws and len(own) == 1 and own[0].balanced:
                return Value({})
            if not own and len(draws) == 1 and (known := self.totals.get(min(draws))) is not None:
                return known
        if len(own) == 1 and (pair := self._with_shared(own[0])) is not None:
            # An inner product with what all share: the sum is taken of the vectors.
            return self.inner(self._sum(letters, draws, pair[:1]) * Value({(frozenset(), pair[1:]): self.field.one}))
        name = f"sum of ({letters}) {sorted(draws)} {[atom.name for atom in own]}"
        self.meaning[name] = ("sum", letters, draws, own)
        if not own:
            spare = self.sums.setdefault(name, sympy.Symbol(f"{_SPARE}{len(self.sums)}"))
            if len(self.sums) > _SUMS:
                raise Unread(f"there are more than {_SUMS} sums of numbers over the clients")
            return Value({ONE: self.field(spare)})
        return self.atom(name, sum(atom.degree for atom in own))

    def _with_shared(self, product: Atom) -> tuple[Atom, Atom] | None:
        """The two vectors of an inner product, of which the first is each client's own and the other is shared."""
        kind, *of = self.meaning.get(product.name, ("",))
        if kind != "inner product" or sum(atom.own for atom in of) != 1:
            return None
        return (of[0], of[1]) if of[0].own else (of[1], of[0])

    def inner(self, value: Value) -> Value:
        """The sum of the coordinates of products of two vectors: inner products, which are numbers."""
        found = Value({})
        for (draws, atoms), c in value.of.items():
            two = [atom for atom in atoms if atom.degree == 1]
            if len(two) != 2:
                raise Unread("the coordinates are summed of what is no product of two vectors")
            balanced = sum(atom.balanced for atom in two) == 1 == sum(atom.own for atom in two)
            product = Atom(f"<{two[0].name}, {two[1].name}>", 0, any(atom.own for atom in two), balanced)
            self.meaning[product.name] = ("inner product", *two)
            rest = tuple(atom for atom in atoms if atom.degree != 1)
            found += Value({(draws, tuple(sorted((*rest, product)))): c})
        return found


def world(program: Program, *more: Term) -> World:
    """The world of a program, and of more terms in what it speaks of."""
    made = world_of(*program.step.values(), *_laws(program.law), *more)
    for name, law in _subsets(program.law, "draw"):
        made.totals[name] = evaluated(made, [law.of[1]])[0]
    return made


def world_of(*terms: Term) -> World:
    """The world in which terms speak of the same letters, and of no draws whose number is known."""
    symbols = {sympy.Symbol("n"), sympy.Symbol("d"), *(sympy.Symbol(f"{_SPARE}{k}") for k in range(_SUMS))}
    indexed: set[str] = set()
    whose: set[str] = set()
    for term in parts(*terms):
        if term.op in (Op.LETTER, Op.GIVEN) and term.type.degree == 0:
            symbols.add(_symbol(term))
        if term.op in (Op.LETTER, Op.GIVEN, Op.DRAW) and Axis.CLIENTS in term.type.axes and term.type.degree == 0:
            indexed.add(str(term.data) if term.op is Op.DRAW else str(_symbol(term)))
        if term.op is Op.CLIENT:
            whose.add(str(term.data))
    symbols |= {sympy.Symbol(at_client(name, i)) for name in indexed for i in whose}
    return World(sympy.QQ.frac_field(*sorted(symbols, key=str)), frozenset(indexed), {})


def at_client(name: str, client: str) -> str:
    """What the client has that a parameter says."""
    return f"{name} of the client {client}"


def _symbol(term: Term) -> sympy.Symbol:
    """What stands for a letter: a parameter and what the problem declares may have the same name."""
    return sympy.Symbol(f"{term.op} {term.data}")


def _laws(law: Any) -> Iterable[Term]:
    for part in law.of:
        if isinstance(part, Term):
            yield part
        elif hasattr(part, "of"):
            yield from _laws(part)


def _subsets(law: Any, name: str) -> Iterable[tuple[str, Any]]:
    """The subsets of clients that are drawn, once, by the names of their masks."""
    if law.name == "product":
        for part, of in zip(law.make._fields, law.of, strict=True):
            yield from _subsets(of, f"{name}.{part}")
    elif law.name in ("subset", "weighted subset"):
        yield name, law


def evaluated(world: World, of: Iterable[Term]) -> list[Value]:
    """The values of terms. ``Unread`` for what has none with n a letter."""
    wanted = list(of)
    found: dict[int, Value] = {}
    for term in parts(*wanted):
        found[id(term)] = _value(world, term, [found[id(part)] for part in term.of])
    return [found[id(term)] for term in wanted]


def _value(world: World, term: Term, of: list[Value]) -> Value:
    rule = _RULES.get(term.op)
    if rule is None:
        raise Unread(f"with n a letter, nothing says what {term.op} is")
    return rule(world, term, of)


def _part(world: World, term: Term, of: list[Value]) -> Value:
    if term.data in world.known:
        return world.known[term.data]
    return _named(world, term, term.data)


def _named(world: World, term: Term, name: str) -> Value:
    known = world.of_client if Axis.CLIENTS in term.type.axes else world.atom
    return known(name, term.type.degree)


def _given(world: World, term: Term, of: list[Value]) -> Value:
    return world.letter(term) if term.type.degree == 0 else _named(world, term, f"the given {term.data}")


def _drawn(world: World, term: Term, of: list[Value]) -> Value:
    return world.drawn(term.data if isinstance(term.data, str) else term.data[0])


def _asked(world: World, term: Term, of: list[Value]) -> Value:
    """An answer that is known by what was asked."""
    return _named(world, term, f"{term.data}({'; '.join(value.name() for value in of)})")


def _quotient(world: World, term: Term, of: list[Value]) -> Value:
    return of[0] * inverse(world, of[1])


def inverse(world: World, value: Value) -> Value:
    """One by a number that is made of letters, which is remembered as a divisor. ``Unread`` for any other value."""
    if set(value.of) != {ONE}:
        raise Unread("it is divided by what is no quotient of polynomials in letters")
    world.divisors.append(str(value.of[ONE]))
    world.divided.append(value.of[ONE])
    return Value({ONE: 1 / value.of[ONE]})


def _power(world: World, term: Term, of: list[Value]) -> Value:
    base, found = of[0] if term.data >= 0 else inverse(world, of[0]), world.constant(1)
    for _ in range(abs(term.data)):
        found *= base
    return found


def _chosen(world: World, term: Term, of: list[Value]) -> Value:
    mask, one, other = of
    return mask * (one - other) + other


def _summed(world: World, term: Term, of: list[Value]) -> Value:
    along = term.data[0]
    return world.total(of[0]) if along is Axis.CLIENTS else world.inner(of[0]) if along is Axis.COORDINATES else of[0]


_RULES: Mapping[Op, Callable[[World, Term, list[Value]], Value]] = {
    Op.CONSTANT: lambda world, term, of: world.constant(term.data),
    Op.LETTER: lambda world, term, of: world.letter(term),
    Op.COUNT: lambda world, term, of: world.count(term.data),
    Op.GIVEN: _given,
    Op.PART: _part,
    Op.DRAW: _drawn,
    Op.ORACLE: _asked,
    Op.COMPRESSED: _asked,
    Op.ADD: lambda world, term, of: of[0] + of[1],
    Op.MULTIPLY: lambda world, term, of: of[0] * of[1],
    Op.DIVIDE: _quotient,
    Op.POWER: _power,
    Op.CHOOSE: _chosen,
    Op.NOT: lambda world, term, of: world.constant(1) - of[0],
    Op.AND: lambda world, term, of: of[0] * of[1],
    Op.OR: lambda world, term, of: of[0] + of[1] - of[0] * of[1],
    Op.SUM: _summed,
    Op.VIEW: lambda world, term, of: of[0],
    Op.CLIENT: lambda world, term, of: world.of_one(of[0], term.data),
}


# What a step preserves


@dataclass(frozen=True)
class Preserved:
    """That a step leaves residuals zero, for every n, d, letters and draws for which no ``divisors`` are zero.

    ``divisors``: what the code divides by, in the letters; ``sums``: sums over the clients, by the letters that stand
    for them there.
    """

    divisors: tuple[str, ...]
    sums: Mapping[str, str]


def preserves(program: Program, *residuals: Term) -> Preserved | None:
    """That a step leaves residuals zero wherever all are, whatever n, d, the letters and what is drawn.

    ``residuals``: terms in the parts of the state, ``(..., d)``, linear in them. None says that this does not show it;
    ``Unread`` where it cannot be asked.
    """
    here = world(program, *residuals)
    if not leaves_zero(here, program, residuals):
        return None
    divisors = (divisor for divisor in dict.fromkeys(here.divisors) if divisor != "n")
    return Preserved(tuple(divisors), {str(letter): name for name, letter in here.sums.items()})


def leaves_zero(here: World, program: Program, residuals: Sequence[Term]) -> bool:
    """Whether a step leaves residuals zero, as :func:`preserves`, in the world of the program and of more terms."""
    for residual in residuals:
        here.known.update(_solved(here, evaluated(here, [residual])[0], program))
    if not all(value.is_zero() for value in evaluated(here, residuals)):
        raise Unread("parts of the state are not told by the residuals")
    after = dict(zip(program.step, evaluated(here, program.step.values()), strict=True))
    here.known.update(after)
    return all(value.is_zero() for value in evaluated(here, residuals))


def _solved(here: World, residual: Value, program: Program) -> dict[str, Value]:
    """A part of the state by the others, where the residual is zero."""
    for name, kind in program.parts.items():
        per_client = Axis.CLIENTS in kind.axes
        own: Monomial = (frozenset(), (Atom(f"mean of {name}" if per_client else name, kind.degree),))
        c = residual.of.get(own)
        if c is not None and _is_never_zero(c):
            rest = Value({monomial: b for monomial, b in residual.of.items() if monomial != own})
            solved = rest * Value({ONE: -1 / c})
            return {name: solved + here.deviation(name, kind.degree) if per_client else solved}
    raise Unread("the residual is linear in no part of the state")


def _is_never_zero(c: Any) -> bool:
    """Whether a coefficient is zero for no letters: n and d are not."""
    powers = [dict(zip(map(str, c.numer.ring.symbols), monomial, strict=True)) for monomial in c.numer]
    return len(powers) == 1 and not any(power for name, power in powers[0].items() if name not in ("n", "d"))
