"""A world in which n and all letters are indeterminates: values of a generic client or of the server, as polynomials.

A vector or a number of each client is its mean over the clients plus the client's deviation from it. A sum over the
clients is n times the shared part; a deviation alone sums to zero, and a product with draws of each client has a sum of
its own. Coefficients are quotients of polynomials in the letters: nothing is ever assumed of n, of d, or of a letter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import sympy

from verify.reading.source import Unread
from verify.reading.terms import Op, Term, written


class Atom(NamedTuple):
    """A vector (``degree`` 1) or a number (0) known by its name alone.

    ``own``: True if each client has its own; ``balanced``: True if these sum to zero over the clients; ``example``:
    True if each example has its own.
    """

    name: str
    degree: int
    own: bool = False
    balanced: bool = False
    example: bool = False


#: The prefix of symbols for sums of numbers over the clients, and the number of these.
SPARE, SUMS = "sum ", 12
#: The largest numbers of factors of a product, and of terms of its expansion.
FACTORS, PRODUCTS = 32, 20_000
#: A product: draws, each equal to its own square; and the other factors, in order.
Monomial = tuple[frozenset[str], tuple[Atom, ...]]
ONE: Monomial = (frozenset(), ())


@dataclass(frozen=True, eq=False)
class WorldValue:
    """A number, a vector or a product of two, of a generic client or of the server: its coefficients by monomial."""

    of: Mapping[Monomial, Any]

    def __add__(self, other: WorldValue) -> WorldValue:
        found = dict(self.of)
        for monomial, c in other.of.items():
            found[monomial] = found[monomial] + c if monomial in found else c
        return WorldValue({monomial: c for monomial, c in found.items() if c})

    def __mul__(self, other: WorldValue) -> WorldValue:
        if self.degree() + other.degree() > FACTORS or len(self.of) * len(other.of) > PRODUCTS:
            raise Unread(f"a product of more than {FACTORS} factors or {PRODUCTS} terms is not expanded")
        products: dict[Monomial, Any] = {}
        for (draws, atoms), c in self.of.items():
            for (more, others), b in other.of.items():
                key = draws | more, tuple(sorted((*atoms, *others)))
                products[key] = products[key] + c * b if key in products else c * b
        return WorldValue({monomial: c for monomial, c in products.items() if c})

    def __neg__(self) -> WorldValue:
        return WorldValue({monomial: -c for monomial, c in self.of.items()})

    def __sub__(self, other: WorldValue) -> WorldValue:
        return self + -other

    def degree(self) -> int:
        """Return the largest number of factors in a monomial of the value."""
        return max((len(atoms) for _, atoms in self.of), default=0)

    def is_zero(self) -> bool:
        """Return True if the value is zero for all letters, vectors and draws."""
        return not self.of

    def name(self) -> str:
        """Return a name, which differs for different values."""
        items = (f"({c}) {sorted(draws)} {[atom.name for atom in atoms]}" for (draws, atoms), c in self.of.items())
        return " + ".join(sorted(items))


@dataclass(eq=False)
class World:
    """The letters of a program as a field, and the names in its values. ``indexed``: the draws and the letters that
    each client has its own of; ``totals``: the number of clients in a draw.
    """

    field: Any
    indexed: frozenset[str]
    totals: dict[str, WorldValue] = field(default_factory=dict)
    #: The arguments of oracles, by the names of their answers.
    answers: dict[str, tuple[str, list[WorldValue]]] = field(default_factory=dict)
    #: For draws of subsets, weights of the clients: a subset's probability is proportional to the sum of its weights.
    weights: dict[str, WorldValue] = field(default_factory=dict)
    #: The symbols of the number of examples of each client, and of all of them.
    held: Any = None
    examples: Any = None
    #: Letters with known, written values.
    fixed: dict[sympy.Symbol, Any] = field(default_factory=dict)
    #: Functions with one gradient at each point, by name: for others it is one of several subgradients.
    smooth: frozenset[str] = frozenset()
    #: Draws of each coordinate's own.
    along: frozenset[str] = frozenset()
    #: The meaning of atoms: the mean or the deviation of a named quantity, or the sum or the inner product of others.
    meaning: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    #: Sums of numbers over the clients, by name: symbols of the field for them, so that one can divide by them.
    sums: dict[str, Any] = field(default_factory=dict)
    #: Divisors, as written with these letters: nothing is claimed where one is zero.
    divisors: list[str] = field(default_factory=list)
    #: The same, as elements of the field.
    divided: list[Any] = field(default_factory=list)
    #: Known values of parts of a state, by name, in place of new vectors.
    known: dict[str, WorldValue] = field(default_factory=dict)
    #: Rules for some operations in place of those here, for instance for oracles of a known class.
    rules: dict[Op, Callable[[World, Term, list[WorldValue]], WorldValue]] = field(default_factory=dict)

    #: The names of atoms that do not depend on the draws over which an expectation is taken; the others may.
    fixed_in_expectation: frozenset[str] = frozenset()
    #: True if what clients have is read as its mean and the client's deviation, False if as one atom.
    split: bool = True

    def is_fixed(self, atom: Atom) -> bool:
        """Return True if an atom does not depend on the draws over which an expectation is taken."""
        if atom.name in self.fixed_in_expectation:
            return True
        kind, *of = self.meaning.get(atom.name, ("",))
        if kind == "sum":
            letters, draws, own = of
            return not draws and bool(own) and all(map(self.is_fixed, own)) and not self.holds_drawn(letters)
        return kind == "inner product" and all(map(self.is_fixed, of))

    def holds_drawn(self, c: Any) -> bool:
        """Return True if a coefficient depends, by a sum of numbers over the clients, on masks of theirs."""
        return any(bool(self.meaning[name][2]) or self.holds_drawn(self.meaning[name][1]) for name in self.sums_in(c))

    def sums_in(self, c: Any) -> list[str]:
        """Return the sums of numbers over the clients that stand in a coefficient, by name."""
        monomials = [monomial for polynomial in (c.numer, c.denom) for monomial in polynomial]
        place = {symbol: k for k, symbol in enumerate(self.field.symbols)}
        return [name for name, symbol in self.sums.items() if any(m[place[symbol]] for m in monomials)]

    def count(self, name: str) -> WorldValue:
        """n or d."""
        return WorldValue({ONE: self.field(sympy.Symbol(name))})

    def letter(self, term: Term) -> WorldValue:
        """Return a parameter, or a number that the problem declares; for a mask, its truth value."""
        symbol = symbol_of(term)
        if symbol in self.fixed:
            return self.constant(self.fixed[symbol])
        return self.drawn(str(symbol)) if term.type.mask else WorldValue({ONE: self.field(symbol)})

    def constant(self, value: Any) -> WorldValue:
        """Return a number that is written."""
        c = self.field(sympy.Rational(value.numerator, value.denominator))
        return WorldValue({ONE: c} if c else {})

    def atom(self, name: str, degree: int) -> WorldValue:
        """Return a vector or a number that is the same for all clients."""
        return WorldValue({(frozenset(), (Atom(name, degree),)): self.field.one})

    def drawn(self, name: str) -> WorldValue:
        """Return a mask."""
        return WorldValue({(frozenset({name}), ()): self.field.one})

    def deviation(self, name: str, degree: int) -> WorldValue:
        """Return the deviation of a generic client's vector or number from the mean."""
        atom = Atom(f"deviation of {name}", degree, True, True)
        self.meaning[atom.name] = ("deviation", name)
        return WorldValue({(frozenset(), (atom,)): self.field.one})

    def of_client(self, name: str, degree: int) -> WorldValue:
        """Return a vector or a number of a generic client: the mean and the client's deviation, if it is split."""
        if not self.split:
            return WorldValue({(frozenset(), (Atom(name, degree, True),)): self.field.one})
        self.meaning[f"mean of {name}"] = ("mean", name)
        return self.atom(f"mean of {name}", degree) + self.deviation(name, degree)

    def of_one(self, value: WorldValue, client: str) -> WorldValue:
        """Return the value of the client that a parameter names, from the value of a generic one."""
        found = WorldValue({})
        for (draws, atoms), c in value.of.items():
            masks = frozenset(at_client(name, client) if name in self.indexed else name for name in draws)
            named = tuple(sorted(self._of_one(a, client) for a in atoms))
            found += WorldValue({(masks, named): self._renamed(c, client)})
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
        """Return a coefficient with the letters of one client in place of those of a generic one."""
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

    def total(self, value: WorldValue) -> WorldValue:
        """Return the sum over the clients."""
        found = WorldValue({})
        for (draws, atoms), c in value.of.items():
            if any(atom.example for atom in atoms):
                raise Unread("what each example has is summed over the clients")
            own_draws = frozenset(name for name in draws if name in self.indexed)
            own = tuple(atom for atom in atoms if atom.own)
            rest = tuple(atom for atom in atoms if not atom.own)
            for own_letters, b in self._apart(c):
                found += self._sum(own_letters, own_draws, own) * WorldValue({(draws - own_draws, rest): b})
        return found

    def of_example(self, name: str, degree: int) -> WorldValue:
        """Return a vector or a number of each example."""
        return WorldValue({(frozenset(), (Atom(name, degree, example=True),)): self.field.one})

    def within(self, value: WorldValue) -> WorldValue:
        """Return the sum over the examples that a generic client holds."""
        found = WorldValue({})
        for (draws, atoms), c in value.of.items():
            held = tuple(atom for atom in atoms if atom.example)
            rest = tuple(atom for atom in atoms if not atom.example)
            found += self._held(held) * WorldValue({(draws, rest): c})
        return found

    def _held(self, held: tuple[Atom, ...]) -> WorldValue:
        """Return the sum over the examples of a client of a product of atoms of each example."""
        if not held:
            return WorldValue({ONE: self.field(self.held)})
        pairs = [(atom, pair) for atom in held if (pair := self._with_others(atom)) is not None]
        if len(pairs) == 1 and not sum(atom.degree for atom in held):
            # In an inner product with a vector that the examples of a client share, the vectors are summed.
            (atom, (vector, other)) = pairs[0]
            rest = list(held)
            rest[rest.index(atom)] = vector
            return self.inner(self._held(tuple(sorted(rest))) * WorldValue({(frozenset(), (other,)): self.field.one}))
        name = f"sum in a client of {[atom.name for atom in held]}"
        self.meaning[name] = ("sum in a client", *held)
        return WorldValue({(frozenset(), (Atom(name, sum(atom.degree for atom in held), True),)): self.field.one})

    def _inside(self, two: list[Atom]) -> WorldValue | None:
        """Return the inner product of a vector with a sum over the examples of a client, taken inside the sum if that
        already contains inner products with shared vectors, so that all are written alike.
        """
        for vector, other in (two, two[::-1]):
            kind, *held = self.meaning.get(vector.name, ("",))
            summed = self.meaning.get(other.name, ("",))[0] == "sum in a client" or other.example
            if kind == "sum in a client" and not summed and any(self._with_others(atom) for atom in held):
                (own,) = (atom for atom in held if atom.degree == 1)
                numbers = WorldValue({(frozenset(), tuple(atom for atom in held if atom.degree != 1)): self.field.one})
                pair = WorldValue({(frozenset(), tuple(sorted((own, other)))): self.field.one})
                return self.within(numbers * self.inner(pair))
        return None

    def _with_others(self, product: Atom) -> tuple[Atom, Atom] | None:
        """Return the two vectors of an inner product, with the one of each example first; None unless just one of them
        is.
        """
        kind, *of = self.meaning.get(product.name, ("",))
        if kind != "inner product" or sum(atom.example for atom in of) != 1:
            return None
        return (of[0], of[1]) if of[0].example else (of[1], of[0])

    def _apart(self, c: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the terms of a coefficient, each as a factor in letters of each client's own and one in the others."""
        own = [k for k, symbol in enumerate(self.field.symbols) if str(symbol) in self.indexed]
        if not own:
            yield self.field.one, c
            return
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

    def _sum(self, letters: Any, draws: frozenset[str], own: tuple[Atom, ...]) -> WorldValue:
        """Return the sum over the clients of a product of their own letters, draws and atoms."""
        if letters == self.field.one:
            if not draws and not own:
                return self.count("n")
            if not draws and len(own) == 1 and own[0].balanced:
                return WorldValue({})
            if not own and len(draws) == 1 and (known := self.totals.get(min(draws))) is not None:
                return known
        if not draws and not own and self.held is not None and letters == self.field(self.held):
            return WorldValue({ONE: self.field(self.examples)})
        if draws & self.along and not sum(atom.degree for atom in own):
            raise Unread("numbers are summed over clients drawn separately for each coordinate")
        if len(own) == 1 and (pair := self._with_shared(own[0])) is not None:
            # In an inner product with a vector that all clients share, the vectors are summed.
            return self.inner(
                self._sum(letters, draws, pair[:1]) * WorldValue({(frozenset(), pair[1:]): self.field.one})
            )
        name = f"sum of ({letters}) {sorted(draws)} {[atom.name for atom in own]}"
        self.meaning[name] = ("sum", letters, draws, own)
        if not own:
            spare = self.sums.setdefault(name, sympy.Symbol(f"{SPARE}{len(self.sums)}"))
            if len(self.sums) > SUMS:
                raise Unread(f"there are more than {SUMS} sums of numbers over the clients")
            return WorldValue({ONE: self.field(spare)})
        return self.atom(name, sum(atom.degree for atom in own))

    def _with_shared(self, product: Atom) -> tuple[Atom, Atom] | None:
        """Return the two vectors of an inner product, with each client's own first and the shared one second; None
        otherwise.
        """
        kind, *of = self.meaning.get(product.name, ("",))
        if kind != "inner product" or sum(atom.own for atom in of) != 1:
            return None
        return (of[0], of[1]) if of[0].own else (of[1], of[0])

    def inner(self, value: WorldValue) -> WorldValue:
        """Return the sum of the coordinates of products of two vectors: inner products, which are numbers."""
        found = WorldValue({})
        for (draws, atoms), c in value.of.items():
            two = [atom for atom in atoms if atom.degree == 1]
            if draws & self.along:
                raise Unread("coordinates are summed of something drawn separately for each")
            if len(two) != 2:
                raise Unread("coordinates are summed of something that is not a product of two vectors")
            rest = tuple(atom for atom in atoms if atom.degree != 1)
            if (inside := self._inside(two)) is not None:
                found += inside * WorldValue({(draws, rest): c})
                continue
            balanced = sum(atom.balanced for atom in two) == 1 == sum(atom.own for atom in two)
            single = any(atom.example for atom in two)
            own = any(atom.own for atom in two) and not single
            product = Atom(f"<{two[0].name}, {two[1].name}>", 0, own, balanced and not single, single)
            self.meaning[product.name] = ("inner product", *two)
            found += WorldValue({(draws, tuple(sorted((*rest, product)))): c})
        return found


#: Operations that are letters of the world, though not of the code: roots, extreme numbers of the clients.
MADE = (Op.ROOT, Op.LEAST, Op.MOST)


def symbol_of(term: Term) -> sympy.Symbol:
    """Return the symbol of a letter, or of a square root: a parameter and a constant of the problem may have the same
    name.
    """
    return sympy.Symbol(f"{term.op} {written(term.of[0]) if term.op in MADE else term.data}")


def at_client(name: str, client: str) -> str:
    """Return the name of an entry of the client that a parameter names."""
    return f"{name} of the client {client}"


def inverse(world: World, value: WorldValue) -> WorldValue:
    """Return the inverse of a number made of letters, which is recorded as a divisor. Raise ``Unread`` for any other
    value.
    """
    if set(value.of) != {ONE}:
        raise Unread("it divides by something that is not a rational function of the letters")
    world.divisors.append(str(value.of[ONE]))
    world.divided.append(value.of[ONE])
    return WorldValue({ONE: 1 / value.of[ONE]})
