"""Sums over the clients as what one generic client adds to them, with letters and vectors of its own: its *density*.

What each client has is one vector here, with no mean set apart. A sum of vectors over the clients, and a quotient of
such sums, is a vector that all share, of which a relation is known. An inequality between sums holds where the density
of every client is shown to be nonnegative, and densities may be changed by whatever sums to zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import sympy

from verify.multipliers.answers import by_masks
from verify.reading.generic_client import world_of
from verify.reading.oracles import MULTIPLIER
from verify.reading.source import Unread
from verify.reading.terms import Axis, Op, Term
from verify.reading.worlds import ONE, SPARE, Atom, World, WorldValue, at_client, inverse

#: A name of a vector that all share and that is a quotient of sums, of one that is a share of a sum, and the optimum.
_QUOTIENT, _SHARE, OPTIMUM = "quotient", "share", "x*"
#: A point of a client's own at which its function has a gradient that is given.
_MINIMISER = "minimiser"
#: A point of a client's own at which its gradient and a multiple of the point are given together.
_ROOT = "proximal point"
#: What is known of the optimum, by the name of the relation: of the sum of the gradients there, which is one vector.
_STATIONARY = "the gradients at x* sum to zero"
#: A generic client's function and its conjugate, and the function g that all share.
FUNCTION, CONJUGATE, SHARED = "f", "f*", "g"


class OfEach(World):
    """A world in which what each client has is one vector, or number, of its own."""

    def of_client(self, name: str, degree: int) -> WorldValue:
        """A vector or a number of a generic client."""
        return WorldValue({(frozenset(), (Atom(name, degree, True),)): self.field.one})


#: The answers of oracles of the f_i: the function, and the kind of answer.
_KNOWN: Mapping[str, tuple[str, str]] = {
    "gradient": (FUNCTION, "gradient"),
    "value": (FUNCTION, "value"),
    "conjugate_gradient": (CONJUGATE, "gradient"),
    "conjugate": (CONJUGATE, "value"),
}


@dataclass(eq=False)
class ClientsAt:
    """The functions of the clients at one point; ``atoms``: the names of what is new there."""

    point: WorldValue
    gradient: WorldValue
    value: WorldValue
    atoms: frozenset[str]


class DrawnSets(Protocol):
    """The sets of clients that a step draws, as :class:`verify.multipliers.drawn.Drawn` has them."""

    def at(self, point: WorldValue, base: WorldValue) -> ClientsAt:
        """A client's function at a point that may depend on the sets."""

    def depends(self, value: WorldValue) -> bool:
        """Return True if a value depends on the sets."""


@dataclass(eq=False)
class GenericClients:
    """Values of terms in a world of one generic client, what was asked of its function, and relations between sums.

    ``relations``: vectors that are zero, by name. ``anchored``: whether the gradients at x* sum to zero.
    ``conjugates``: of smooth convex functions, whether the conjugates are treated as functions of their own, or by
    where a function has a gradient; None of others, whose conjugates are not known. ``naming``: whether combinations of
    sums of vectors have names of their own, so that their squares are single ones; without, they cancel term by term.
    ``with_g``: True if there is a g in the same class as the f_i. ``asked``: by the function, and
    what it was asked.
    """

    world: OfEach
    anchored: bool
    conjugates: bool | None = None
    naming: bool = True
    with_g: bool = False
    asked: dict[tuple[str, str], ClientsAt] = field(default_factory=dict)
    relations: dict[str, WorldValue] = field(default_factory=dict)
    #: Sums of vectors that have names of their own.
    totals: dict[str, WorldValue] = field(default_factory=dict)
    #: Short names of quotients and shares, by what they are of.
    names: dict[str, str] = field(default_factory=dict)
    #: The known properties of the sets of clients that a step draws, if there is one.
    drawn: DrawnSets | None = None

    @classmethod
    def of(
        cls,
        terms: list[Term],
        anchored: bool,
        conjugates: bool | None = None,
        naming: bool = True,
        with_g: bool = False,
    ) -> GenericClients:
        """The world of some terms."""
        plain = world_of(*terms)
        if plain.held is not None:
            raise Unread("examples lie on the clients")
        found = cls(OfEach(plain.field, plain.indexed, along=plain.along), anchored, conjugates, naming, with_g)
        rules = {Op.ORACLE: found._answer, Op.DIVIDE: found._divide, Op.GIVEN: found._given, Op.SUM: found._sum}
        found.world.rules.update(rules)
        return found

    # Questions to oracles and their answers

    def _given(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        if term.type.degree == 0:
            return world.letter(term)
        if term.data == "x_star":
            return world.atom(OPTIMUM, 1)
        if term.data == "y_star":
            return self.at(world.atom(OPTIMUM, 1), Axis.CLIENTS in term.type.axes).gradient
        if term.data == MULTIPLIER:
            return world.atom(MULTIPLIER, 1)
        raise Unread(f"what {term.data} is, is not known")

    def _answer(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        name, _, what = term.data.partition(".")
        own, known = Axis.CLIENTS in term.type.axes, _KNOWN.get(what)
        unknown = Unread(f"what {term.data} answers is not known")
        if (name, what) == (FUNCTION, "resolvent") and own:
            return by_masks(world, of[-1], lambda target, _: self._root(of[-2], self._fixed(target)))
        if name == SHARED and self.with_g and known is not None and known[0] == FUNCTION:
            return by_masks(world, of[-1], lambda point, _: getattr(self.at(self._fixed(point), False, name), known[1]))
        if name != FUNCTION or known is None or (known[0] == CONJUGATE and self.conjugates is None):
            raise unknown
        function, part = known
        if function == CONJUGATE and not self.conjugates:
            if what != "conjugate_gradient" or not own or self.anchored:
                raise unknown
            return by_masks(world, of[-1], lambda gradient, _: self._with_gradient(self._fixed(gradient)))
        if self.drawn is not None and function == FUNCTION and own:
            # Where the client is not drawn it is asked at the base.
            base, drawn = fallen_out(of[-1]), self.drawn
            return by_masks(world, of[-1], lambda point, _: getattr(drawn.at(point, base), part))
        return by_masks(world, of[-1], lambda point, _: getattr(self.at(self._fixed(point), own, function), part))

    def _fixed(self, value: WorldValue) -> WorldValue:
        """A value; ``Unread`` where it depends on the sets that are drawn."""
        if self.drawn is not None and self.drawn.depends(value):
            raise Unread("a function is evaluated at a point that depends on the set drawn")
        return value

    def at(self, point: WorldValue, own: bool = True, function: str = FUNCTION) -> ClientsAt:
        """A generic client's function at a point, or (not ``own``) the only function that there is, or g.

        It is given relative to its tangent at the first point at which it was evaluated.
        """
        key = function, point.name()
        if key not in self.asked:
            k, here = len(self.asked), self.world
            optimum = here.atom(OPTIMUM, 1)
            known = here.of_client if own else here.atom
            gradient, value = known(f"grad {function}({k})", 1), known(f"{function}({k})", 0)
            there = self.anchored and function == FUNCTION and point.name() == optimum.name()
            optimal = there and not own
            if optimal:
                gradient = WorldValue({})
            elif function == CONJUGATE and self._is_y_star(point):
                optimal, gradient = True, optimum
            atoms = frozenset(atom.name for v in (gradient, value) for _, of in v.of for atom in of)
            if not optimal and (first := next((a for (of, _), a in self.asked.items() if of == function), None)):
                value += first.value + here.inner(first.gradient * (point - first.point))
                gradient += first.gradient
            self.asked[key] = ClientsAt(point, gradient, value, atoms)
            if there and own:
                self.relations[_STATIONARY] = here.total(gradient)
        return self.asked[key]

    def _is_y_star(self, point: WorldValue) -> bool:
        """Return True if a point is the gradient at x*, at which the conjugate has the gradient x*."""
        at = self.asked.get((FUNCTION, self.world.atom(OPTIMUM, 1).name())) if self.anchored else None
        return at is not None and (point - at.gradient).is_zero()

    def _with_gradient(self, gradient: WorldValue) -> WorldValue:
        """Return the point where a client's function has a gradient: for the constraint's multiplier these points sum
        to zero.
        """
        name = self.names.setdefault(f"gradient {gradient.name()}", f"{_MINIMISER} {len(self.names)}")
        point = self.world.of_client(name, 1)
        if self._tell(point, gradient, point, gradient) and gradient.name() == self.world.atom(MULTIPLIER, 1).name():
            self.relations["minimisers"] = self.world.total(point)
        return point

    def _root(self, shift: WorldValue, target: WorldValue) -> WorldValue:
        """The u with grad f(u) + ``shift`` u = ``target``: what is shown holds of every such point."""
        name = self.names.setdefault(f"root of {shift.name()} and {target.name()}", f"{_ROOT} {len(self.names)}")
        point = self.world.of_client(name, 1)
        self._tell(point, target - shift * point, point)
        return point

    def _tell(self, point: WorldValue, gradient: WorldValue, *new: WorldValue) -> bool:
        """Make known a client's gradient at a point of its own, and return whether nothing was known there before.

        ``new``: what stands nowhere else yet, besides the value at the point.
        """
        if (FUNCTION, point.name()) in self.asked:
            return False
        value = self.world.of_client(f"f({len(self.asked)})", 0)
        atoms = frozenset(atom.name for v in (*new, value) for _, of in v.of for atom in of)
        self.asked[FUNCTION, point.name()] = ClientsAt(point, gradient, value, atoms)
        return True

    def _divide(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        """A quotient; one of vectors by a sum over the clients has a name of its own."""
        over = inverse(world, of[1])
        vectors = [atom for _, atoms in of[0].of for atom in atoms]
        summed = any(self._is_sum(str(symbol)) for symbol in symbols(of[1].of[ONE]))
        plain = not (self.naming and summed and term.type.degree == 1 and vectors)
        if plain or any(atom.own for atom in vectors):
            return of[0] * over
        whole = (of[0] * over).name()
        name = self.names.setdefault(whole, f"{_QUOTIENT} {len(self.names)}")
        found = world.atom(name, 1)
        self.relations[name] = of[0] - found * of[1]
        return found

    def _sum(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        if term.data[0] is Axis.COORDINATES:
            return world.inner(of[0])
        if term.data[0] is Axis.ONE:
            return of[0]
        if term.data[0] is not Axis.CLIENTS:
            raise Unread(f"a sum is taken over the {term.data[0]}")
        return self.named_total(of[0]) if term.type.degree == 1 else self.summed(of[0])

    def named_total(self, value: WorldValue) -> WorldValue:
        """A sum of vectors; one of several vectors of each client has a name of its own, so that its square is one."""
        found = self.summed(value)
        if not self.naming or len(found.of) < 2:
            return found
        name = self.names.setdefault(found.name(), f"total {len(self.names)}")
        self.totals[name] = found
        return self.world.atom(name, 1)

    def summed(self, value: WorldValue) -> WorldValue:
        """A sum over the clients without its terms in which a vector stands that is a sum known to be zero."""
        # A combination of several vectors that is zero says nothing of one of them.
        alone = [(k, c) for of in self.relations.values() if len(of.of) == 1 for k, c in of.of.items()]
        zero = {atoms[0] for (draws, atoms), c in alone if not draws and len(atoms) == 1 and not symbols(c)}
        total = self.world.total(value).of
        return WorldValue({k: c for k, c in total.items() if not any(zero.intersection(self.parts(a)) for a in k[1])})

    def _is_sum(self, symbol: str) -> bool:
        return symbol == "n" or symbol.startswith(SPARE)

    # Densities

    def shared(self, value: WorldValue, weight: str, every: bool = False) -> tuple[WorldValue, dict[str, WorldValue]]:
        """A number in which products of two sums of vectors (or with ``every`` all with one) are products of their
        shares, with the relations of these: each sum is ``weight`` times its share."""
        scale, one = WorldValue({ONE: self.world.field(sympy.Symbol(weight))}), self.world.field.one
        found, relations = WorldValue({}), {}
        for (draws, atoms), c in value.of.items():
            term = WorldValue({(draws, ()): c})
            for atom in atoms:
                parts = self.parts(atom)
                summed = [part for part in parts if self.is_summed(part)]
                if len(parts) == 2 and len(summed) >= (1 if every else 2):
                    for part in parts:
                        if part not in summed:
                            term *= WorldValue({(frozenset(), (part,)): one})
                            continue
                        name = self.names.setdefault(part.name, f"{_SHARE} {len(self.names)}")
                        share = self.world.atom(name, 1)
                        relations[name] = self.world.atom(part.name, 1) - share * scale
                        term *= share * scale
                    # One product of two vectors.
                    term = self.world.inner(term)
                else:
                    term *= WorldValue({(frozenset(), (atom,)): one})
            found += term
        return found, relations

    def is_summed(self, atom: Atom) -> bool:
        """Return True if a vector, or a number, is a sum over the clients."""
        return atom.name in self.totals or self.world.meaning.get(atom.name, ("",))[0] == "sum"

    def density(self, value: WorldValue, weight: str, whose: str | None) -> tuple[WorldValue, WorldValue]:
        """Return what each client adds to a number or a vector, and the rest, which is not a sum over the clients.

        ``weight``: the sum that is taken apart last; ``whose``: the client that the statement is about. Raise
        ``Unread`` if a product of sums over the clients is compared.
        """
        found, rest = WorldValue({}), WorldValue({})
        for (draws, atoms), c in value.of.items():
            summed = [atom for atom in atoms if any(map(self.is_summed, self.parts(atom)))]
            if any(atom.own for atom in atoms) or len(summed) > 1:
                raise Unread("a product of sums over the clients is compared")
            if summed:
                others = WorldValue({(draws, tuple(a for a in atoms if a != summed[0])): c})
                found += self.of_each(summed[0]) * others
                continue
            for weigh, term in self._apart(c, weight):
                if weigh is None or (whose is not None and self._is_of(whose, draws, atoms, term)):
                    whole = term if weigh is None else term * self.world.field(sympy.Symbol(weigh))
                    rest += WorldValue({(draws, atoms): whole})
                else:
                    found += WorldValue({(draws, atoms): term}) * self.of_weight(weigh)
        return found, rest

    def parts(self, atom: Atom) -> tuple[Atom, ...]:
        """The two vectors of an inner product, or what it is."""
        meaning = self.world.meaning.get(atom.name, ("",))
        return meaning[1:] if meaning[0] == "inner product" else (atom,)

    def of_each(self, atom: Atom) -> WorldValue:
        """Return what each client adds to a sum, or to an inner product with a sum.

        Raise ``Unread`` if it is neither.
        """
        parts = self.parts(atom)
        summed = [part for part in parts if self.is_summed(part)]
        if len(summed) != 1:
            raise Unread("no sum over the clients, or a product of sums, is compared")
        if summed[0].name in self.totals:
            each, rest = self.density(self.totals[summed[0].name], "n", None)
            if not rest.is_zero():
                raise Unread("the argument of a sum over the clients is not a sum")
        else:
            _, letters, draws, own = self.world.meaning[summed[0].name]
            each = WorldValue({(draws, own): letters})
        if len(parts) == 1:
            return each
        (other,) = (part for part in parts if part != summed[0])
        return self.world.inner(each * WorldValue({(frozenset(), (other,)): self.world.field.one}))

    def occurs(self, value: WorldValue, whose: str | None) -> bool:
        """Return True if a value depends on what one client has."""
        return whose is not None and any(self._is_of(whose, draws, atoms, c) for (draws, atoms), c in value.of.items())

    def _is_of(self, whose: str, draws: frozenset[str], atoms: tuple[Atom, ...], c: Any) -> bool:
        """Return True if a product belongs to the client that the statement is about."""
        names = [*draws, *(part.name for atom in atoms for part in self.parts(atom)), *map(str, symbols(c))]
        return any(name.endswith(at_client("", whose)) for name in names)

    def weights(self) -> list[str]:
        """The sums of numbers over the clients."""
        return ["n", *(str(symbol) for symbol in self.world.sums.values())]

    def of_weight(self, name: str) -> WorldValue:
        """Return what each client adds to a sum of numbers."""
        if name == "n":
            return WorldValue({ONE: self.world.field.one})
        _, letters, draws, _ = self.world.meaning[next(k for k, s in self.world.sums.items() if str(s) == name)]
        return WorldValue({(draws, ()): letters})

    def _of_some(self, name: str) -> bool:
        """Return True if a sum is over the clients whose mask is true."""
        return any(str(s) == name and bool(self.world.meaning[k][2]) for k, s in self.world.sums.items())

    def _apart(self, c: Any, weight: str) -> Iterator[tuple[str | None, Any]]:
        """The terms of a coefficient, each without one of the sums in it, and which."""
        names = [str(symbol) for symbol in self.world.field.symbols]
        below = self.world.field(c.denom)
        for monomial, number in c.numer.terms():
            term = self.world.field(number) / below
            for g, power in zip(self.world.field.gens, monomial, strict=True):
                term = term * g**power if power else term
            # Sums over some clients first, about which nothing else is known, and then all but the weight.
            ordered = sorted(self.weights(), key=lambda w: (not self._of_some(w), w == weight))
            weigh = next((w for w in ordered if monomial[names.index(w)]), None)
            yield weigh, term if weigh is None else term / self.world.field(sympy.Symbol(weigh))

    # One client, and any

    def of_anybody(self, value: WorldValue, whose: str) -> WorldValue:
        """A value with what any client has in place of what one client has."""
        found = WorldValue({})
        for (draws, atoms), c in value.of.items():
            term = WorldValue({(frozenset(without(name, whose) for name in draws), ()): self._generic(c, whose)})
            for atom in atoms:
                parts = [self._any(part, whose) for part in self.parts(atom)]
                product = WorldValue({(frozenset(), tuple(sorted(parts))): self.world.field.one})
                term *= self.world.inner(product) if len(parts) == 2 else product
            found += term
        return found

    def _any(self, atom: Atom, whose: str) -> Atom:
        name = without(atom.name, whose)
        return atom if name == atom.name else Atom(name, atom.degree, True)

    def _generic(self, c: Any, whose: str) -> Any:
        own = {s: sympy.Symbol(without(str(s), whose)) for s in self.world.field.symbols}
        return self.world.field.from_sympy(c.as_expr().xreplace(own)) if own else c


def symbols(c: Any) -> list[sympy.Symbol]:
    """The letters in an element of a field."""
    return sorted(c.as_expr().free_symbols, key=str)


def without(name: str, whose: str) -> str:
    """The name of what any client has, from that of what one client has; others as they are."""
    return name.removesuffix(at_client("", whose))


def fallen_out(value: WorldValue) -> WorldValue:
    """A value where all masks are false."""
    return WorldValue({monomial: c for monomial, c in value.of.items() if not monomial[0]})


def fallen(value: WorldValue, true: Mapping[str, bool]) -> WorldValue:
    """A value where it is known of each mask whether it is true."""
    found = WorldValue({})
    for (draws, atoms), c in value.of.items():
        if all(true[name] for name in draws):
            found += WorldValue({(frozenset(), atoms): c})
    return found
