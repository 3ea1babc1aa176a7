"""What a derivation rests on, certified at one choice of a run's constants for everything that may be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy

from fedtheory.claims import Claim, Hypothesis
from fedtheory.instances import Instance
from fedtheory.instances.base import Recipe
from fedtheory.iterations import At, Iteration
from fedtheory.statements import Inequality, Quantity
from verify.derivation import rules
from verify.derivation.rules import Derivation, Known, Of
from verify.evaluate import hypotheses_hold
from verify.evidence import Verdict
from verify.methods import replay


@dataclass(frozen=True)
class Premise:
    """A claim on which a derivation may rest, and the case of who takes part in which it holds, None for all."""

    claim: Claim
    case: Hypothesis | None


@dataclass(frozen=True)
class Found:
    """What was found at one choice of the constants: derivations by the client, and what is not certified."""

    derived: tuple[Derivation, ...]
    left_open: tuple[str, ...] = ()
    programs: int = 0


def at(iteration: Iteration, assumed: Sequence[Hypothesis], premises: Sequence[Premise], recipe: Recipe) -> Found:
    """What follows at the constants of a recipe, and whether all that it rests on is certified there.

    ``ValueError`` where an iteration that may be drawn is not one of those of which the premises speak.
    """
    rows = [(each, premises[0].claim.instances.build(each, True)) for each in iteration.every(recipe)]
    letters: dict[Any, Mapping[sympy.Expr, Any]] = {}
    for _, instance in rows:
        _one_case(iteration, instance)
        values = iteration.setting.bind(instance.problem, instance.params)
        client = getattr(instance.params, iteration.each)
        if letters.setdefault(client, values) != values:
            raise ValueError("a letter has another value in another iteration of the same run")
    derived = tuple(rules.derive(iteration, assumed, list(_facts(premises, values))) for values in letters.values())
    cases = {p.claim.id: p.case for p in premises}
    used = {id: claim for d in derived for id, claim in d.used.items()}
    rests_on = [Premise(claim, cases[id]) for id, claim in used.items()]
    rests_on += [Premise(claim, None) for claim in _own(iteration, (of for d in derived for of in d.nonnegative))]
    left_open, programs = [], 0
    for premise in rests_on:
        for each, instance in rows:
            if premise.case is not None and not premise.case.holds(instance.problem, instance.params, {}):
                continue
            why = _uncertified(premise.claim, each, instance)
            programs += 1
            if why:
                left_open.append(f"{premise.claim.id} at {instance.text}: {why}")
                break
    return Found(derived, tuple(left_open), programs)


def _facts(premises: Sequence[Premise], values: Mapping[sympy.Expr, Any]) -> Iterator[Known]:
    for premise in premises:
        yield from rules.known(premise.claim, values, premise.case)


def _one_case(iteration: Iteration, instance: Instance) -> None:
    cases = [h.holds(instance.problem, instance.params, {}) for h in (iteration.selected, iteration.idle)]
    if sum(cases) != 1:
        raise ValueError("a client takes part in an iteration or does not, and not both")


def _own(iteration: Iteration, nonnegative: Iterable[Of]) -> Iterator[Claim]:
    """That what the rules take for nonnegative is, and that an iteration keeps what the next one rests on."""
    found = {of: Inequality(sympy.S.Zero, _SYMBOL, (Quantity(_SYMBOL, of),)) for of in nonnegative}
    for number, statement in enumerate(found.values(), 1):
        yield Claim(f"quantity {number} is nonnegative", setting=iteration.setting, statement=statement)
    kept = Quantity(_SYMBOL, At(iteration, iteration.kept, later=True, each=True))
    yield Claim("what is kept", setting=iteration.setting, statement=Inequality(_SYMBOL, sympy.S.Zero, (kept,)))


_SYMBOL = sympy.Symbol("x", real=True)


def _uncertified(claim: Claim, recipe: Recipe, instance: Instance) -> str:
    """Why a claim is not certified at the constants and draws of a recipe; empty if it is."""
    if not hypotheses_hold(claim, instance):
        return "a hypothesis does not hold"
    try:
        found, _ = replay.certified(claim, recipe)
    except (ValueError, ArithmeticError) as error:
        return str(error)
    return "" if found.verdict is Verdict.CERTIFIED else found.note or str(found.verdict)
