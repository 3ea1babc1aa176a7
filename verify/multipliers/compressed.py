"""Expectations of the vectors that compressors of the clients return, over all their draws.

The errors have mean zero. As random vectors they are elements of a Hilbert space, in which the expectation of an inner
product is the inner product: those with vectors that are not random are 0, and so are those of errors of two clients
whose compressors are independent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fedtheory.claims import Claim
from fedtheory.classes import UnbiasedCompressors
from verify.multipliers.cases import stated
from verify.multipliers.clients import GenericClients
from verify.multipliers.drawn import SetRelation
from verify.multipliers.reasons import Compression
from verify.reading.generic_client import evaluated
from verify.reading.source import Unread
from verify.reading.terms import COMPRESSION, NUMBER, Op, Term, leaf
from verify.reading.worlds import Atom, World, WorldValue

_NONE: frozenset[str] = frozenset()


def variance(claim: Claim) -> list[Term]:
    """The omega of E|C_i(x) - x|^2 <= omega |x|^2, where a setting has compressors: the number that the method uses, if
    a hypothesis says that it is at least what their family declares, which it is otherwise."""
    setting = claim.setting
    if any(type(adversary) is not UnbiasedCompressors for adversary in setting.adversaries):
        raise Unread("biased compressors and oracles are not supported client by client")
    own = setting.algorithm is not None and "omega" in setting.algorithm.Params._fields
    return [
        leaf(Op.LETTER, "omega", NUMBER)
        if own and stated(claim, adversary)
        else leaf(Op.GIVEN, f"{adversary.field}.omega", NUMBER)
        for adversary in setting.adversaries
    ]


@dataclass(eq=False)
class Compressed:
    """The errors of compressors, by what is compressed, with that. ``independent``: True if those of clients are."""

    clients: GenericClients
    name: str
    factor: WorldValue
    independent: bool
    errors: dict[str, tuple[WorldValue, WorldValue]] = field(default_factory=dict)

    @classmethod
    def of(cls, clients: GenericClients, claim: Claim) -> Compressed:
        """Return the compressors of a setting. Raise ``Unread`` if there are none, or several families."""
        if len(claim.setting.adversaries) != 1:
            raise Unread("there are several families of compressors")
        (adversary,) = claim.setting.adversaries
        (factor,) = evaluated(clients.world, variance(claim))
        independent = stated(claim, adversary, "mutually_independent")
        found = cls(clients, adversary.field, factor, independent)
        rules = {Op.ALL: found._all, Op.COMPRESSED: found._compressed, Op.EXPECTED: found._expected}
        clients.world.rules.update(rules)
        return found

    def _all(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        if term.data != (COMPRESSION, self.name):
            raise Unread("a step draws something besides the compressors' draws")
        return WorldValue({})

    def _compressed(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        x = of[-1]
        if term.of[0].op is not Op.ALL or any(draws for draws, _ in x.of):
            raise Unread("a compressed vector is itself random, or one draw compresses several")
        if x.is_zero():
            return x
        known = self.errors.setdefault(x.name(), (x, world.of_client(f"error {len(self.errors)}", 1)))
        return x + known[1]

    def _expected(self, world: World, term: Term, of: list[WorldValue]) -> WorldValue:
        found = WorldValue({})
        for (draws, atoms), c in of[0].of.items():
            random = [atom for atom in atoms if self._errors_in(atom)]
            if len(random) > 1:
                raise Unread("the expectation of a product of random numbers is taken")
            of_atom = self._mean(random[0]) if random else WorldValue({(_NONE, ()): world.field.one})
            rest = tuple(atom for atom in atoms if atom not in random)
            found += of_atom * WorldValue({(draws, rest): c})
        return found

    def _mean(self, atom: Atom) -> WorldValue:
        """The expectation of an error, of an inner product with one or two, or of a sum of such."""
        world, errors = self.clients.world, self._errors_in(atom)
        if errors == 1:
            # It is linear in errors, which have mean zero.
            return WorldValue({})
        kind, *of = world.meaning.get(atom.name, ("",))
        if kind == "sum" and atom.degree == 0:
            letters, masks, own = of
            if len(own) == 1:
                return world.total(WorldValue({(masks, ()): letters}) * self._mean(own[0]))
        if kind != "inner product" or [self._errors_in(vector) for vector in of] != [1, 1]:
            raise Unread("the expectation of a product of random numbers is taken")
        one, other = of
        if self.independent and not one.own and not other.own:
            each = [self.clients.of_each(vector) for vector in of]
            if all(self._is_own(atom) for value in each for _, atoms in value.of for atom in atoms):
                return world.total(world.inner(each[0] * each[1]))
        return WorldValue({(_NONE, (atom,)): world.field.one})

    def _is_error(self, atom: Atom) -> bool:
        return any((_NONE, (atom,)) in error.of for _, error in self.errors.values())

    def _errors_in(self, atom: Atom) -> int:
        """Return the number of errors multiplied in an atom. Raise ``Unread`` if it is neither made of errors nor
        fixed.
        """
        if self._is_error(atom):
            return 1
        if self.clients.world.is_fixed(atom):
            return 0
        kind, *of = self.clients.world.meaning.get(atom.name, ("",))
        if kind == "sum":
            return sum(map(self._errors_in, of[2]))
        if kind == "inner product":
            return sum(map(self._errors_in, of))
        raise Unread(f"what {atom.name} is in expectation is not known")

    def _is_own(self, atom: Atom) -> bool:
        """Return True if the only random part of an atom is a client's own error."""
        if self._is_error(atom):
            return atom.own
        kind, *of = self.clients.world.meaning.get(atom.name, ("",))
        return self.clients.world.is_fixed(atom) or (kind == "inner product" and all(map(self._is_own, of)))

    def known(self) -> Iterator[SetRelation]:
        """Yield the bounds on the errors that the variance of the compressors gives."""
        inner = self.clients.world.inner
        for k, (x, error) in enumerate(self.errors.values()):
            form = inner(error * error) - self.factor * inner(x * x)
            yield SetRelation(f"error {k}", form, Compression("error", self.factor, x))
