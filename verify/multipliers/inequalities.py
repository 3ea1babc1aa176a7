"""Inequalities of states, or of one step, posed for all letters and every number of clients: client by client.

Left less right is a sum over the clients of what a generic client adds, its density, and of what the one adds of whom
the statement speaks. Each density is to be at most 0: in each way in which the masks of a client may fall, with letters
and vectors of its own. What is *linked* sums to zero, or to at most 0, only over all clients: it has one multiplier
for all, which may not depend on what a client has of its own. A step draws coins, whose mean is taken
in each density, or sets of clients, whose mean is taken in each quantity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.classes.base import Declared
from fedtheory.numbers import validation
from verify.as_read.obligations import Ground, ground, learn_sums, unmet
from verify.as_read.proving import of_expression
from verify.multipliers import curvatures
from verify.multipliers.cases import are_quadratics, stated
from verify.multipliers.clients import GenericClients, fallen
from verify.multipliers.coins import CoinChances
from verify.multipliers.compressed import Compressed, variance
from verify.multipliers.curvatures import between_points, of_quadratics
from verify.multipliers.drawn import DrawnClients, SetRelation, draws_sets
from verify.multipliers.forms import BLOCK, ProductSum, unneeded, without
from verify.multipliers.grounds import GroundLetters, Space, nonzero, without_maxima
from verify.multipliers.meanings import meanings, of_setting
from verify.multipliers.posing import PREMISE, Posed
from verify.multipliers.reasons import Reason, Stated, ZeroSum
from verify.multipliers.sorts import sorts
from verify.reading.claimed import CodePath
from verify.reading.declarations import declarations
from verify.reading.generic_client import evaluated
from verify.reading.program import StepProgram
from verify.reading.source import Unread
from verify.reading.terms import NUMBER, Axis, Op, Term, leaf
from verify.reading.worlds import ONE, Atom, WorldValue, at_client

#: Known inequalities that are linked: under what name, and with which sign.
Links = Mapping[str, tuple[str, int]]
#: Masks that decide what a client adds, at most.
_MASKS = 4


@dataclass(frozen=True, eq=False)
class ComparisonProof:
    """A comparison as the densities of all sorts of clients.

    ``linked``: the known inequalities that have one multiplier in all, under what name, and with which sign; ``own``:
    the places of letters of each client's own; ``meanings``: what names of vectors and letters stand for.
    """

    name: str
    parts: Mapping[str, Posed]
    linked: Links
    own: frozenset[int]
    meanings: tuple[Reason, ...]


@dataclass(frozen=True, eq=False)
class _Part:
    """A density: what is to be at most 0, and what is known to be.

    ``vectors``: what adds up to zero; ``linked``: what is known of sums alone; ``mine``: whether it is of the client of
    whom a statement speaks; ``reasons``: where what is known comes from.
    """

    target: WorldValue
    known: Mapping[str, WorldValue]
    vectors: Mapping[str, WorldValue]
    linked: frozenset[str]
    mine: bool
    reasons: Mapping[str, Reason]

    @property
    def values(self) -> list[WorldValue]:
        return [self.target, *self.known.values(), *self.vectors.values()]


def invariant_of(claim: Claim) -> Any:
    """Return the invariant, zero in all states that a claim covers; None if there is none."""
    return None if claim.setting.algorithm is None else claim.setting.algorithm.invariant


def pose(claim: Claim, case: CodePath, name: str, premises: Sequence[sympy.Expr] = ()) -> list[ComparisonProof]:
    """Return the densities to be shown nonpositive in one case of a claim, where ``premises`` are at most 0. Raise
    ``Unread`` with the obstacle if there is one.
    """
    return _InequalityPosing(claim, case, name).groups(premises)


class _InequalityPosing:
    """The state of one posing: values of what was read, and what is known of them."""

    def __init__(self, claim: Claim, case: CodePath, name: str) -> None:
        self.claim, self.name = claim, name
        of = claim.setting.functions
        if any(q.domain is not None or (q.after and case.program is None) for q in claim.statement.quantities):
            raise Unread("a quantity is taken after a step, or is not finite everywhere")
        if claim.setting.adversaries and case.program is not None:
            raise Unread("draws other than sets and coins are not supported client by client")
        own = claim.setting.algorithm
        if case.program is not None and (own is None or claim.statement.algorithm.State is not own.State):
            raise Unread("the method has other states than the setting")
        self.declared = declarations(of) if stated(claim, of) else Declared()
        client = self.declared.client
        self.ends = None if client is None else curvatures.ends(client)
        self.maxima, self.comparisons = without_maxima(claim.statement.comparisons)
        letters = {letter: leaf(Op.LETTER, str(letter), NUMBER) for letter in self.maxima}
        signs = () if client is None or of is None else curvatures.signs(client, of.ends)
        self.case = case = replace(case, letters={**case.letters, **letters}, signs=(*case.signs, *signs))
        terms = [t for several in case.quantities.values() for t in several]
        terms += [*case.letters.values(), *case.known, *case.masks, *(self.ends or ()), *variance(claim)]
        terms += [term for term, _ in case.signs]
        terms += [t for c, _ in case.conditions for t in c.terms()]
        terms += [t for _, c in case.raising for t in c.terms()]
        terms += [quotient for quotient, _ in case.quotients]
        if case.program is not None:
            terms += [*case.program.step.values(), *case.program.law.terms()]
        anchored = of is not None and claim.setting.optimum in ("consensus", "stationary")
        convex = client is not None and client.conjugates
        conjugates = bool(getattr(of, "conjugates", False)) if convex else None
        alone = set(claim.setting.drawing.g) == {False}
        sets = case.program is not None and draws_sets(case.program.law)
        naming = sets or (case.program is None and not claim.setting.adversaries)
        with_g = client is not None and client.of_g
        self.clients = GenericClients.of(terms, anchored and alone, conjugates, naming, with_g)
        compressed = Compressed.of(self.clients, claim) if claim.setting.adversaries else None
        self.world = self.clients.world
        self.curvatures = None if self.ends is None else evaluated(self.world, self.ends)
        for k, value in enumerate(evaluated(self.world, case.quantities.get(invariant_of(claim), ()))):
            self.clients.relations[f"invariant {k}"] = value
        if len(case.whose) > (case.program is None):
            raise Unread("a statement involves several clients, or one after a step")
        self.whose = next(iter(case.whose), None)
        #: The known inequalities of the moves of drawn clients, and of the draws of compressors.
        self.draw_relations: list[SetRelation] = []
        drawn = DrawnClients.of(self.clients, case.program.law) if case.program is not None and sets else None
        # Points at which a step asks come first.
        step = [] if drawn is None or case.program is None else evaluated(self.world, case.program.step.values())
        before = [q for q in claim.statement.quantities if not q.after]
        self.quantities = {q.expression: self._number(case.quantities[q.of]) for q in before}
        self.known = evaluated(self.world, case.known)
        if drawn is not None:
            self._moved(drawn, step)
        if compressed is not None:
            self.draw_relations += compressed.known()
        self.true = {name for value in evaluated(self.world, case.masks) for name in _mask(value)}
        self.about: Ground = ground(claim, case, self.world)
        self.about.relations.extend(self._ends())
        self.about.relations.extend(self._signs())
        self._check_maxima()
        self.coins = None if case.program is None or sets else self._tossed(case.program)

    def _moved(self, drawn: DrawnClients, step: list[WorldValue]) -> None:
        """The quantities after a step on sets of clients, in expectation, and what is known of it."""
        known = self.world.known
        known.update(zip(self.case.types, map(drawn.moved, step), strict=True))
        for q in (q for q in self.claim.statement.quantities if q.after):
            self.quantities[q.expression] = drawn.expectation(self._number(self.case.quantities[q.of]))
        if self.curvatures is not None:
            self.draw_relations += drawn.known(self._curvatures(self.curvatures, False), self._equal)
        self.draw_relations += drawn.linked()
        known.clear()

    def _tossed(self, program: StepProgram) -> CoinChances | None:
        """The quantities after a step that tosses coins, and these; None where expectations are taken already."""
        coins = CoinChances.of(self.clients, program.law)
        self.world.known.update(zip(program.step, evaluated(self.world, program.step.values()), strict=True))
        after = {q.expression: self.case.quantities[q.of] for q in self.claim.statement.quantities if q.after}
        values = {expression: self._number(terms) for expression, terms in after.items()}
        coins.check_asked()
        if not coins.chances or any(map(coins.multiplies, values.values())):
            later = list(after)
            if not all(validation.affine(side, later) for c in self.comparisons for side in (c.left, c.right)):
                raise Unread("the expectation is taken of a product of quantities, or of a maximum")
            self.quantities |= {expression: coins.expectation(value) for expression, value in values.items()}
            return None
        self.quantities |= values
        return coins

    def _number(self, terms: tuple[Term, ...]) -> WorldValue:
        if len(terms) != 1 or set(terms[0].type.axes) - {Axis.ONE}:
            raise Unread("a quantity is not a number")
        return evaluated(self.world, terms)[0]

    def _ends(self) -> Iterator[sympy.Basic]:
        """There are functions of the class."""
        of = self.claim.setting.functions
        if self.ends is not None and of is not None and of.ends is not None:
            yield sympy.Le(*of.ends, evaluate=False)
        if self.curvatures is not None:
            least, largest = map(self.about.number, self.curvatures)
            yield sympy.Le(least, largest, evaluate=False)
            if self.declared.weak:
                yield sympy.Le(-least, largest, evaluate=False)

    def _signs(self) -> Iterator[sympy.Basic]:
        """Yield the signs that the setting declares for numbers of each client, and so for the one the statement is
        about.
        """
        for term, strict in self.case.signs:
            value = evaluated(self.world, [term])[0]
            of_one = () if self.whose is None else (self.world.of_one(value, self.whose),)
            for number in map(self.about.number, (value, *of_one)):
                yield (sympy.Gt if strict else sympy.Ge)(number, 0, evaluate=False)

    def _check_maxima(self) -> None:
        """``Unread`` where a maximum may be negative."""
        for maximum in self.maxima.values():
            if not any(self.about.implies(sympy.Ge(bound, 0)) for bound in maximum.args):
                raise Unread(f"{maximum} may be negative")

    @property
    def _equal(self) -> bool:
        """True if the two curvatures of a function may be one."""
        return self.declared.client is not None and self.declared.client.equal

    def _curvatures(self, ends: list[WorldValue], mine: bool) -> list[WorldValue]:
        """The least and the largest curvature of a generic client's function; ``mine``: of that of whom it speaks."""
        one = None if self.declared.client is None else self.declared.client.one
        return ends if one is None or (mine and one == self.whose) else [WorldValue({}), *ends[1:]]

    # Groups

    def groups(self, premises: Sequence[sympy.Expr]) -> list[ComparisonProof]:
        """One for each comparison."""
        if self.about.never_occurs():
            return []
        env = dict(self.quantities)
        for letter, term in self.case.letters.items():
            env[letter] = evaluated(self.world, [term])[0]
        for k, premise in enumerate(premises):
            value, name = of_expression(premise, env, self.world), f"{PREMISE}{k}"
            why = Stated("an inequality between sums over the clients that is assumed")
            self.draw_relations.append(SetRelation(name, value, why, (name, 1)))
        learn_sums(self.about)
        found: list[ComparisonProof] = []
        for k, comparison in enumerate(self.comparisons):
            left, right = (of_expression(side, env, self.world) for side in (comparison.left, comparison.right))
            differences = {"<=": [left - right], "==": [left - right, right - left]}.get(comparison.relation)
            if differences is None:
                raise Unread(f"it says that one side is {comparison.relation} the other")
            for difference in differences:
                if not difference.is_zero():
                    found.append(self._group(difference, f"{self.name}{k}{'' if len(differences) < 2 else len(found)}"))
        if missing := next(unmet(self.about, self.case), ""):
            raise Unread(missing)
        return found

    def _group(self, difference: WorldValue, name: str) -> ComparisonProof:
        why = "no sum of numbers is shown to be positive"
        found: list[tuple[int, int, WorldValue, WorldValue, dict[str, WorldValue], str]] = []
        for weight in filter(self._is_positive, self.clients.weights()):
            try:
                number, relations = self.clients.shared(difference, weight) if self.coins is None else (difference, {})
                density, rest = self.clients.density(number, weight, self.whose)
                if self.coins is not None:
                    density, rest = self.coins.expected(density), self.coins.expected(rest)
                density, rest = self._lighter(weight, density, rest)
            except Unread as error:
                why = str(error)
            else:
                sums = self._sums(density, rest)
                found.append((len(sums), len(found), density, rest, relations, weight))
        if not found:
            raise Unread(why)
        # The plainest, in which fewest sums are letters.
        _, _, density, rest, relations, weight = min(found, key=lambda way: way[:2])
        relations = {**self.clients.relations, **relations}
        if self.coins is not None:
            relations = {key: value for key, value in relations.items() if not self.coins.is_drawn(value)}
        return self._of(density, rest, relations, weight, name)

    def _sums(self, *values: WorldValue) -> set[str]:
        """The sums of numbers over the clients that are letters in some values."""
        symbols = {str(s) for value in values for c in value.of.values() for s in c.as_expr().free_symbols}
        return symbols & set(self.clients.weights())

    def _is_positive(self, weight: str) -> bool:
        symbol = sympy.Symbol(weight)
        if self.coins is not None and self.coins.is_drawn(WorldValue({ONE: self.world.field(symbol)})):
            return False
        letter = self.about.names[symbol]
        return bool(letter.is_positive) or sympy.Gt(letter, 0) in self.about.relations

    def _lighter(self, weight: str, density: WorldValue, rest: WorldValue) -> tuple[WorldValue, WorldValue]:
        """Both over a sum of numbers that is positive, as often as it divides them."""
        symbol = sympy.Symbol(weight)
        over = WorldValue({ONE: 1 / self.world.field(symbol)})
        k = self.world.field.symbols.index(symbol)
        parts = [*density.of.values(), *rest.of.values()]
        while parts and all(all(monomial[k] for monomial in c.numer) for c in parts):
            density, rest = density * over, rest * over
            parts = [*density.of.values(), *rest.of.values()]
        return density, rest

    def _of(
        self, density: WorldValue, rest: WorldValue, relations: Mapping[str, WorldValue], weight: str, name: str
    ) -> ComparisonProof:
        # Whatever does not involve one client is alike for all.
        whose = self.whose if self.clients.occurs(density + rest, self.whose) else None
        known, relations = self._known(relations, weight)
        linked = {key: self._spread(value, weight) for key, value in relations.items()}
        targets: dict[str, tuple[WorldValue, bool]] = {}
        if whose is not None:
            targets["the client"] = self.clients.of_anybody(density + rest, whose), True
            if density.is_zero():
                # Nothing is asked of the others, and nothing taken of what is known of all together.
                linked = {}
            else:
                targets["another client"] = density, False
        elif density.is_zero() and not linked:
            targets["all"] = rest, False
        else:
            targets["each client"] = density + self._share(rest, weight), False
        names = sorted({name for target, _ in targets.values() for name in _masks(target)})
        found: dict[str, _Part] = {}
        for who, (target, mine) in targets.items():
            own = {key: self._mine(value, mine) for key, value in linked.items()}
            for words, true in self._outcomes(names, mine):
                found[f"{name}: {who}{words}"] = self._part(target, known, own, true, mine, weight)
        return self._posed(name, found)

    def _mine(self, value: WorldValue, mine: bool) -> WorldValue:
        return self.clients.of_anybody(value, self.whose) if mine and self.whose is not None else value

    def _known(
        self, relations: Mapping[str, WorldValue], weight: str
    ) -> tuple[dict[str, WorldValue], dict[str, WorldValue]]:
        """Return the properties of a generic client in this setting, and the relations that hold for sums only."""
        own: dict[str, WorldValue] = {}
        linked = dict(relations)
        for k, value in enumerate(self.known):
            # A client has no part of a sum but its share.
            share, more = self.clients.shared(value, weight, _is_own(value))
            linked |= more
            (own if _is_own(value) else linked)[f"known {k}"] = share
        for relation in self.draw_relations:
            share, more = self.clients.shared(relation.value, weight, relation.link is None)
            (own if relation.link is None else linked)[relation.name] = share
            linked |= more
        for asked in self.clients.asked.values():
            for vector in (asked.point, asked.gradient):
                linked |= self.clients.shared(self.world.inner(vector * vector), weight, True)[1]
        return own, linked

    def _spread(self, value: WorldValue, weight: str) -> WorldValue:
        """The density of what is zero, or at most 0."""
        density, rest = self.clients.density(value, weight, None)
        return density + self._share(rest, weight)

    def _share(self, rest: WorldValue, weight: str) -> WorldValue:
        """Return a value that is not a sum, shared out among the clients by the weight of each."""
        one = self.world.field.one
        return rest * WorldValue({ONE: one / self.world.field(sympy.Symbol(weight))}) * self.clients.of_weight(weight)

    def _outcomes(self, names: list[str], mine: bool) -> Iterator[tuple[str, dict[str, bool]]]:
        """The ways in which the masks of a client may fall on which depends what clients add, in words."""
        if not set(names) <= self.world.indexed or len(names) > _MASKS:
            raise Unread("a client's contribution depends on too many masks, or on other clients' masks")
        assumed = {name: fell for name in names if mine for fell in (True, False) if self._is_assumed(name, fell)}
        for outcomes in product((True, False), repeat=len(names)):
            true = dict(zip(names, outcomes, strict=True))
            if all(true[name] is fell for name, fell in assumed.items()):
                yield "".join(f", {'' if v else 'not '}{name.rpartition(' ')[2]}" for name, v in true.items()), true

    def _is_assumed(self, name: str, fell: bool) -> bool:
        """Return True if a hypothesis states that the mask of the client has the value ``fell``."""
        assert self.whose is not None
        return f"{'' if fell else 'not '}{at_client(name, self.whose)}" in self.true

    # One density

    def _part(
        self,
        target: WorldValue,
        own: Mapping[str, WorldValue],
        linked: Mapping[str, WorldValue],
        true: Mapping[str, bool],
        mine: bool,
        weight: str,
    ) -> _Part:
        known: dict[str, tuple[WorldValue, str]] = {}
        for name, value in own.items():
            # Terms that depend on masks irrelevant here are left out.
            if _masks(value) <= set(true):
                known.setdefault(fallen(value, true).name(), (fallen(value, true), name))
        found = {name: value for value, name in known.values()}
        about = {key: fallen(value, true) for key, value in linked.items() if _masks(value) <= set(true)}
        target = fallen(target, true)
        vectors = {key: value for key, value in about.items() if _is_vector(value)}
        found |= {key: value for key, value in about.items() if key not in vectors}
        draws = {relation.name: relation.why for relation in self.draw_relations}
        reasons = {key: draws.get(key) or of_setting(self.claim, key) for key in found}
        values = [target, *found.values(), *vectors.values()]
        if self.curvatures is not None:
            ends = self._curvatures(self.curvatures, mine)
            for form, reason in between_points(self.clients, self._equal, ends, values):
                found[reason.name] = self.clients.shared(form, weight, True)[0]
                reasons[reason.name] = reason
        if are_quadratics(self.claim):
            for of_two, form, why in of_quadratics(self.clients, values):
                found[of_two] = self.clients.shared(form, weight, True)[0]
                reasons[of_two] = why
        return _Part(target, found, vectors, frozenset(about) - frozenset(vectors), mine, reasons)

    def _posed(self, name: str, found: Mapping[str, _Part]) -> ComparisonProof:
        """Forms of all parts, in the same vectors: what is linked means the same in all."""
        coefficients = [c for part in found.values() for v in part.values for c in v.of.values()]
        spaces = {mine: self._space(coefficients, mine) for mine in {part.mine for part in found.values()}}
        forms, vectors = {}, {}
        for key, part in found.items():
            space = spaces[part.mine]
            forms[key] = {"": self._form(part.target, space)}
            forms[key] |= {known: self._form(value, space) for known, value in part.known.items()}
            vectors[key] = {relation: self._vector(value, space) for relation, value in part.vectors.items()}
            nonzero(space, (c for form in forms[key].values() for c in form.of.values()))
            nonzero(space, (c for vector in vectors[key].values() for c in vector.values()))
        space = next(iter(spaces.values()))
        shared = frozenset(a.name for part in found.values() for a in _shared_vectors(part.values, self.clients))
        out = unneeded(
            [form for of in forms.values() for form in of.values()],
            [vector for of in vectors.values() for vector in of.values()],
            shared,
            space.own,
            space.one,
        )
        parts: dict[str, Posed] = {}
        links: dict[str, tuple[str, int]] = {}
        link_of = {of.name: of.link for of in self.draw_relations}
        for key, part in found.items():
            known = {of: form for of, f in forms[key].items() if (form := without(f, out)).of}
            goal = known.pop("", ProductSum({}))
            reasons = dict(part.reasons)
            links |= {of: link_of.get(of) or (of, 1) for of in part.linked if of in known}
            for relation, vector in vectors[key].items():
                for row in sorted(shared - out):
                    along = sum(
                        (ProductSum({(BLOCK, *sorted((r, row))): c}) for r, c in vector.items() if r not in out),
                        ProductSum({}),
                    )
                    for sign, word in ((1, "+"), (-1, "-")):
                        known[f"{relation} along {row} {word}"] = along * sign
                        reasons[f"{relation} along {row} {word}"] = ZeroSum(part.vectors[relation], row)
                        links[f"{relation} along {row} {word}"] = f"{relation} along {row}", sign
            of_part = spaces[part.mine]
            reasons = {of: reasons[of] for of in known}
            posed = Posed(of_part.names, of_part.domain, goal, known, reasons, of_part.branches)
            parts |= {f"{key}{sort}": of for sort, of in sorts(posed, of_part.own)}
        return ComparisonProof(name, parts, links, space.own, tuple(meanings(self.clients, self.case, out)))

    def _space(self, coefficients: list[Any], mine: bool) -> Space:
        bounds = {letter: maximum.args for letter, maximum in self.maxima.items()}
        return GroundLetters(self.case, self.about, self.whose, mine, bounds).domain(coefficients)

    def _vector(self, value: WorldValue, space: Space) -> dict[str, Any]:
        """A vector that sums to zero, by rows."""
        found: dict[str, Any] = {}
        for (draws, atoms), c in value.of.items():
            if draws or len(atoms) != 1:
                raise Unread("a relation between vectors does not hold once the masks are known")
            found[atoms[0].name] = space.ratio(c)
        return found

    def _form(self, value: WorldValue, space: Space) -> ProductSum:
        found: dict[tuple[str, ...], Any] = {}
        for (draws, atoms), c in value.of.items():
            assert not draws, "masks have fallen"
            if len(atoms) > 1:
                raise Unread("a product of two quantities is not a quadratic form")
            key: tuple[str, ...] = ("constant", "1", "1")
            if atoms:
                pair = self.clients.parts(atoms[0])
                key = (BLOCK, *sorted(a.name for a in pair)) if len(pair) == 2 else ("value", atoms[0].name)
            found[key] = space.ratio(c) + found.get(key, space.one * 0)
        return ProductSum({key: c for key, c in found.items() if not c.is_zero})


def _mask(value: WorldValue) -> Iterator[str]:
    """The mask that a value is, or ``not`` with the one that it is the complement of."""
    draws = {draws: c for (draws, atoms), c in value.of.items() if not atoms}
    names = [key for key in draws if key]
    if len(value.of) == len(draws) and len(names) == 1 and len(names[0]) == 1:
        (name,) = names[0]
        constant = draws.get(frozenset(), 0)
        if draws[names[0]] == 1 and not constant:
            yield name
        if draws[names[0]] == -1 and constant == 1:
            yield f"not {name}"


def _is_own(value: WorldValue) -> bool:
    """Return True if each client has such a number of its own."""
    return any(atom.own for _, atoms in value.of for atom in atoms)


def _is_vector(value: WorldValue) -> bool:
    return any(sum(atom.degree for atom in atoms) for _, atoms in value.of)


def _masks(value: WorldValue) -> set[str]:
    return {name for draws, _ in value.of for name in draws}


def _shared_vectors(values: Iterable[WorldValue], clients: GenericClients) -> list[Atom]:
    """The vectors that all share."""
    found = {part for v in values for _, atoms in v.of for atom in atoms for part in clients.parts(atom)}
    return sorted(atom for atom in found if atom.degree == 1 and not atom.own)
