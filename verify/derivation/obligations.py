"""What a derivation rests on, certified at one choice of a run's constants for everything that may be drawn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import FunctionType, MappingProxyType
from typing import Any, NamedTuple

import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from fedtheory.kinds.base import Statement
from fedtheory.kinds.inequality import Inequality
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Iteration, Root
from fedtheory.settings.relations import Comparison, Quantity
from verify.base.evaluate import hypotheses_hold
from verify.base.verdict import Verdict
from verify.derivation import facts, rules
from verify.derivation.facts import ClientQuantity, Fact, Of
from verify.derivation.rules import RuleUse
from verify.evidence import certificates
from verify.evidence.certificates import ClassCertificate, Part
from verify.pep import certifying, posing
from verify.pep.prover import DoesNotHold

# Certificates on which several limits rest, made once in a process for as long as its code stays as it is.

#: Packages whose functions a certificate may reach.
_PACKAGES = ("fedtheory", "verify")
#: How what is no bound is certified.
FORMALLY = "all states"
#: The functions with which what is remembered was found, by where they stand, and their code.
_found_with: dict[tuple[str, ...], tuple[Any, Any]] = {}


class Tried(NamedTuple):
    """Why a claim is not certified at the constants and draws of a recipe, empty if it is, and then the certificate."""

    why: str
    certificate: ClassCertificate | None = None


def tried(claim: Claim, recipe: Recipe) -> Tried:
    """What is found of a claim at the constants and draws of a recipe.

    ``ValueError`` where the worst case over the class exceeds it.
    """
    return _tried(claim, _Place(recipe))


def checked(parts: Sequence[Part]) -> Callable[[Claim, Recipe], Tried]:
    """What stored certificates show, in place of :func:`tried`: each is checked, and nothing is solved.

    ``ValueError`` where one does not hold.
    """
    known = {(part.name, _Place(part.recipe)): part for part in parts}

    def look(claim: Claim, recipe: Recipe) -> Tried:
        part = known.get((claim.id, _Place(recipe)))
        if part is None:
            return Tried("no certificate is stored")
        _check(claim, _Place(recipe), _Stored(part))
        return Tried("")

    return look


def refresh() -> bool:
    """Forget what was found with functions that others have taken the place of, or whose code was changed; whether
    there were any."""
    now = {place: (function, getattr(function, "__code__", None)) for place, function in _functions()}
    # What is loaded later adds functions, and changes none.
    changed = any(place in now and now[place] != found for place, found in _found_with.items())
    if changed:
        _tried.cache_clear()
        _check.cache_clear()
        _found_with.clear()
    _found_with.update(now)
    return changed


def _functions() -> Iterator[tuple[tuple[str, ...], Any]]:
    """The functions of modules and of their classes, by their places."""
    for module, loaded in list(sys.modules.items()):
        if module.partition(".")[0] in _PACKAGES:
            for name, value in list(vars(loaded).items()):
                if isinstance(value, FunctionType):
                    yield (module, name), value
                elif isinstance(value, type):
                    for part, member in list(vars(value).items()):
                        if isinstance(member, FunctionType | property | staticmethod | classmethod):
                            yield (module, name, part), member


@dataclass(frozen=True, eq=False)
class _Place:
    """A recipe as a key."""

    recipe: Recipe

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Place) and self.recipe == other.recipe

    def __hash__(self) -> int:
        return hash(repr(self.recipe))


@dataclass(frozen=True, eq=False)
class _Stored:
    """A stored certificate as a key: two are the same where all that they say is."""

    part: Part

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Stored) and self.part == other.part

    def __hash__(self) -> int:
        return hash((self.part.name, repr(self.part.recipe)))


@lru_cache(maxsize=4096)
def _tried(claim: Claim, place: _Place) -> Tried:
    recipe = place.recipe
    try:
        if not claim.statement.bounding:
            posing.check_read(claim, claim.instances.build(recipe, True))
            held = certificates.formal(claim, FORMALLY, recipe)
            return Tried("", held) if held is not None else Tried("it does not hold in all states")
        found, certificate = certificates.certified(claim, recipe)
    except (ValueError, ArithmeticError) as error:
        return Tried(str(error))
    if found.verdict is Verdict.REFUTED:
        raise ValueError(f"{claim.id} is exceeded over the class")
    return Tried("" if certificate is not None else found.note or str(found.verdict), certificate)


@lru_cache(maxsize=4096)
def _check(claim: Claim, place: _Place, stored: _Stored) -> None:
    if not claim.statement.bounding:
        posing.check_read(claim, claim.instances.build(place.recipe, True))
    wanted = certifying.WORST_CASE if claim.statement.bounding else FORMALLY
    if stored.part.method != wanted:
        raise DoesNotHold(f"a certificate of the kind {wanted!r} is wanted of {claim.id}")
    stored.part.check(claim)


@dataclass(frozen=True)
class Premise:
    """A claim on which a derivation may rest, and the case of who takes part in which it holds, None for all."""

    claim: Claim
    case: Hypothesis | None


@dataclass(frozen=True)
class Found:
    """What was found at one choice of the constants: the ``steps`` of the derivation, the ids of the claims that these
    use, the first thing that is not derived (``missing``), what is not certified, and the certificates of the rest."""

    steps: tuple[RuleUse, ...]
    used: tuple[str, ...] = ()
    missing: str = ""
    left_open: tuple[str, ...] = ()
    programs: int = 0
    certificates: tuple[ClassCertificate, ...] = ()


class _Derived(NamedTuple):
    """What the rules give at the constants of a recipe: its iterations, the facts, and how what is wanted follows."""

    rows: list[tuple[Recipe, Instance]]
    known: list[Fact]
    wanted: list[tuple[str, str, ClientQuantity]]
    steps: list[RuleUse]
    missing: str


def missing(claim: Claim, premises: Sequence[Premise], recipe: Recipe) -> str:
    """The first thing that the rules do not derive at the constants of a recipe; ``ValueError`` as :func:`at`."""
    return _derived(claim, premises, recipe).missing


def _derived(claim: Claim, premises: Sequence[Premise], recipe: Recipe) -> _Derived:
    iteration = iteration_of(claim)
    rows = [(each, premises[0].claim.instances.build(each, True)) for each in iteration.every(recipe)]
    letters: dict[int, Mapping[sympy.Expr, Any]] = {}
    for _, instance in rows:
        _one_case(iteration, instance)
        values = iteration.setting.bind(instance.problem, instance.params)
        if not all(_meets(Hypothesis(str(limit), limit), instance, values) for limit in iteration.limits):
            raise ValueError("the constants of an iteration are beyond the limits that it says of them")
        client = getattr(instance.params, iteration.each)
        if letters.setdefault(client, values) != values:
            raise ValueError("a letter has another value in another iteration of the same run")
    if set(letters) != set(range(rows[0][1].problem.n)):
        raise ValueError("an iteration does not speak of each of the clients")
    known = [fact for client, values in letters.items() for fact in _facts(premises, values, client)]
    wanted = list(ends(claim.statement, letters))
    derived = rules.derive(iteration, claim.requires, known, [t for _, _, t in wanted])
    sought = [(name, derived.holds(kind, t)) for name, kind, t in wanted]
    steps = derived.traced(c for _, how in sought for c in how)
    return _Derived(rows, known, wanted, steps, next((name for name, how in sought if not how), ""))


def at(
    claim: Claim,
    premises: Sequence[Premise],
    recipe: Recipe,
    certify: Callable[[Claim, Recipe], Tried] = tried,
) -> Found:
    """What follows at the constants of a recipe, and whether all that it rests on is certified there.

    ``certify(claim, recipe)``: what is found of a claim at the constants and draws of a recipe, or was stored of it.
    ``ValueError`` where an iteration that may be drawn is not one of those of which the premises speak.
    """
    rows, known, wanted, steps, missing = _derived(claim, premises, recipe)
    if missing:
        return Found((), missing=missing)
    refresh()
    iteration = iteration_of(claim)
    used = rules.claims_of(steps)
    cases = {p.claim.id: p.case for p in premises}
    rests_on = [Premise(used[id], cases[id]) for id in used]
    rests_on += [Premise(more, None) for more in own(iteration, nonnegative(steps, wanted))]
    left_open, programs = [], 0
    certificates: list[ClassCertificate] = []
    for premise in rests_on:
        of_case = [row for row in rows if premise.case is None or _meets(premise.case, row[1])]
        if not all(hypotheses_hold(premise.claim, instance) for _, instance in of_case):
            left_open.append(f"{premise.claim.id}: a hypothesis does not hold in every iteration")
            continue
        for each, instance in _rows(premise, of_case, iteration, known):
            why, certificate = _uncertified(premise.claim, each, instance, certify)
            programs += 1
            certificates += [] if certificate is None else [certificate]
            if why:
                left_open.append(f"{premise.claim.id} at {instance.text}: {why}")
                break
    return Found(tuple(steps), tuple(used), "", tuple(left_open), programs, tuple(certificates))


def iteration_of(claim: Claim) -> Iteration:
    """The iteration of which a claim speaks; ``ValueError`` where it speaks of none."""
    if claim.statement.iteration is None:
        raise ValueError(f"{claim.id} speaks of no iterations")
    return claim.statement.iteration


def _facts(premises: Sequence[Premise], values: Mapping[sympy.Expr, Any], client: int) -> Iterator[Fact]:
    for premise in premises:
        yield from facts.known(premise.claim, values, premise.case, client)


def _rows(
    premise: Premise, rows: Sequence[tuple[Recipe, Instance]], iteration: Iteration, known: Iterable[Fact]
) -> Sequence[tuple[Recipe, Instance]]:
    """The iterations at which a premise is to be certified: for one client only, where it says the same of each."""
    own = [fact for fact in known if fact.claim is premise.claim]
    first = [fact.terms for fact in own if fact.client == 0]
    alone = premise.case is None and all(t.client is None for terms in first for t in terms)
    if not first or not alone or any(fact.terms not in first for fact in own):
        return rows
    return [row for row in rows if getattr(row[1].params, iteration.each) == 0]


def ends(statement: Statement, clients: Iterable[int]) -> Iterator[tuple[str, str, ClientQuantity]]:
    """What is said of which quantities, for each of the clients, with their names."""
    for end, quantity in statement.ends:
        for client in clients:
            yield str(quantity.expression), end, facts.term(quantity.of, client)


def nonnegative(steps: Iterable[RuleUse], wanted: Iterable[tuple[str, str, ClientQuantity]]) -> list[Of]:
    """What must not be negative: for a rule, or because there is its root."""
    terms = [t for step in steps for t in step.nonnegative]
    terms += [facts.term(t.of.of, t.client) for _, _, t in wanted if isinstance(t.of, Root)]
    return list(dict.fromkeys(t.of for t in terms if not t.never_negative))


def _one_case(iteration: Iteration, instance: Instance) -> None:
    for pair in iteration.cases:
        if sum(_meets(h, instance) for h in pair) != 1:
            raise ValueError(f"an iteration meets one of two cases, and not both: {pair[0].text}, {pair[1].text}")


def _meets(case: Hypothesis, instance: Instance, values: Mapping[sympy.Expr, Any] = MappingProxyType({})) -> bool:
    return case.holds(instance.problem, instance.params, values)


def own(iteration: Iteration, quantities: Iterable[Of]) -> Iterator[Claim]:
    """That what the rules take for nonnegative is, and that an iteration keeps what the next one rests on."""
    each = [Quantity(sympy.Symbol(f"x_{number}", real=True), of) for number, of in enumerate(quantities)]
    if each:
        first, *others = (Comparison(sympy.S.Zero, "<=", quantity.expression) for quantity in each)
        statement = Inequality(first.left, first.right, tuple(each), also=tuple(others))
        yield Claim("what-is-nonnegative", setting=iteration.setting, statement=statement)
    kept = Quantity(_SYMBOL, At(iteration, iteration.kept, later=True, each=True))
    yield Claim("what-is-kept", setting=iteration.setting, statement=Inequality(_SYMBOL, sympy.S.Zero, (kept,)))


_SYMBOL = sympy.Symbol("x", real=True)


def _uncertified(
    claim: Claim,
    recipe: Recipe,
    instance: Instance,
    certify: Callable[[Claim, Recipe], Tried] = tried,
) -> Tried:
    """Why a claim is not certified at the constants and draws of a recipe; empty if it is.

    Several limits rest on the same claims at the same constants, which are certified once.
    """
    holds = hypotheses_hold(claim, instance)
    return certify(claim, recipe) if holds else Tried("a hypothesis does not hold")
