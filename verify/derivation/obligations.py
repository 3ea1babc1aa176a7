"""Collect what a derivation rests on besides the claims it names, and what the rules yield for one choice
of constants.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType, MappingProxyType
from typing import Any

import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from fedtheory.kinds.base import Statement
from fedtheory.kinds.inequality import Inequality
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Iteration, Root
from fedtheory.settings.relations import Comparison, Quantity
from verify.derivation import facts, rules
from verify.derivation.facts import ClientQuantity, Fact, Of
from verify.derivation.rules import RuleUse

# Obligations that several limits share are proved once per process, as long as the code stays the same.

#: Packages whose functions a proof may reach.
_PACKAGES = ("fedtheory", "verify")
#: The functions with which what is remembered was found, by where they stand, and their code.
_found_with: dict[tuple[str, ...], tuple[Any, Any]] = {}


def refresh() -> bool:
    """Forget what was found with functions that others have taken the place of, or whose code was changed; whether
    there were any."""
    now = {place: (function, getattr(function, "__code__", None)) for place, function in _functions()}
    # Modules loaded later add functions and change none.
    changed = any(place in now and now[place] != found for place, found in _found_with.items())
    if changed:
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


@dataclass(frozen=True)
class Premise:
    """A claim on which a derivation may rest, and the case of who takes part in which it holds, None for all."""

    claim: Claim
    case: Hypothesis | None


def missing(claim: Claim, premises: Sequence[Premise], recipe: Recipe) -> str:
    """The first thing that the rules do not derive at the constants of a recipe; empty where they derive all.

    Raise ``ValueError`` if an iteration that may be drawn is not one that the premises cover.
    """
    iteration = iteration_of(claim)
    letters: dict[int, Mapping[sympy.Expr, Any]] = {}
    clients = 0
    for each in iteration.every(recipe):
        instance = premises[0].claim.instances.build(each, True)
        _one_case(iteration, instance)
        values = iteration.setting.bind(instance.problem, instance.params)
        if not all(_meets(Hypothesis(str(limit), limit), instance, values) for limit in iteration.limits):
            raise ValueError("the constants of an iteration are outside their stated limits")
        client, clients = getattr(instance.params, iteration.each), instance.problem.n
        if letters.setdefault(client, values) != values:
            raise ValueError("a letter changes its value from one iteration of a run to another")
    if set(letters) != set(range(clients)):
        raise ValueError("an iteration does not cover every client")
    known = [fact for client, values in letters.items() for fact in _facts(premises, values, client)]
    wanted = list(ends(claim.statement, letters))
    derived = rules.derive(iteration, claim.requires, known, [t for _, _, t in wanted])
    return next((name for name, kind, t in wanted if not derived.holds(kind, t)), "")


def iteration_of(claim: Claim) -> Iteration:
    """The iteration that a claim is about. Raise ``ValueError`` if there is none."""
    if claim.statement.iteration is None:
        raise ValueError(f"{claim.id} mentions no iterations")
    return claim.statement.iteration


def _facts(premises: Sequence[Premise], values: Mapping[sympy.Expr, Any], client: int) -> Iterator[Fact]:
    for premise in premises:
        yield from facts.known(premise.claim, values, premise.case, client)


def ends(statement: Statement, clients: Iterable[int]) -> Iterator[tuple[str, str, ClientQuantity]]:
    """Yield for each client the name of a quantity, its asserted behaviour, and the quantity itself."""
    for end, quantity in statement.ends:
        for client in clients:
            yield str(quantity.expression), end, facts.term(quantity.of, client)


def nonnegative(steps: Iterable[RuleUse], wanted: Iterable[tuple[str, str, ClientQuantity]]) -> list[Of]:
    """Return the quantities that must be nonnegative, because a rule requires it or because their root is taken."""
    terms = [t for step in steps for t in step.nonnegative]
    terms += [facts.term(t.of.of, t.client) for _, _, t in wanted if isinstance(t.of, Root)]
    return list(dict.fromkeys(t.of for t in terms if not t.never_negative))


def _one_case(iteration: Iteration, instance: Instance) -> None:
    for pair in iteration.cases:
        if sum(_meets(h, instance) for h in pair) != 1:
            raise ValueError(f"an iteration falls into only one of two cases: {pair[0].text}, {pair[1].text}")


def _meets(case: Hypothesis, instance: Instance, values: Mapping[sympy.Expr, Any] = MappingProxyType({})) -> bool:
    return case.holds(instance.problem, instance.params, values)


def own(iteration: Iteration, quantities: Iterable[Of]) -> Iterator[Claim]:
    """Yield claims that the terms that rules require are nonnegative, and that iterations preserve their
    preconditions.
    """
    each = [Quantity(sympy.Symbol(f"x_{number}", real=True), of) for number, of in enumerate(quantities)]
    if each:
        first, *others = (Comparison(sympy.S.Zero, "<=", quantity.expression) for quantity in each)
        statement = Inequality(first.left, first.right, tuple(each), also=tuple(others))
        yield Claim("what-is-nonnegative", setting=iteration.setting, statement=statement)
    kept = Quantity(_SYMBOL, At(iteration, iteration.kept, later=True, each=True))
    yield Claim("what-is-kept", setting=iteration.setting, statement=Inequality(_SYMBOL, sympy.S.Zero, (kept,)))


_SYMBOL = sympy.Symbol("x", real=True)
