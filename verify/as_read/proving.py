"""Claims shown as they are read: two sides that are one expression, residuals that a step leaves zero.

The conclusions hold for every n, d, state, function and value of the letters that meet the hypotheses, and for all
draws: nothing was ever assumed of any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.fixed_point import Stays
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.scope import Scope
from verify.as_read.obligations import Ground, ground, learn_sums, unmet
from verify.exact import reals
from verify.reading import comparing, generic_client
from verify.reading.claimed import CodePath, cases
from verify.reading.declarations import declarations
from verify.reading.generic_client import evaluated
from verify.reading.source import Unread
from verify.reading.terms import NUMBER, Op, Term
from verify.reading.worlds import ONE, World, WorldValue, inverse, symbol_of


def applies(claim: Claim) -> bool:
    """Return True if the method covers the claim: it states that two sides are equal or ordered in every state, that a
    step preserves an invariant or an observed quantity, or relates constants to numbers that code computes.

    An inequality in every state is shown only where both sides are the same expression.
    """
    statement = claim.statement
    if statement.residual is not None or statement.observed is not None:
        # Another kind may have parts of these names with another meaning.
        return isinstance(statement, Invariant | Stays)
    equal = all(comparison.relation in ("==", "<=") for comparison in statement.comparisons)
    either = statement.scope in (Scope.STATE, Scope.LETTERS)
    return either and bool(statement.quantities) and bool(statement.comparisons) and equal


def read(claim: Claim, instances: Sequence[Instance]) -> list[CodePath]:
    """Return the cases of a claim. Raise ``Unread`` if something in its code is not read."""
    statement = claim.statement
    if statement.residual is not None:
        return list(cases(claim, instances, (statement.residual,), True))
    if statement.observed is not None:
        own, kept = claim.setting.algorithm, _kept(claim)
        if own is None or statement.algorithm.State is not own.State:
            raise Unread("the method has other states than the setting")
        return list(cases(claim, instances, (statement.observed, *([] if kept is None else [kept])), True))
    return list(cases(claim, instances, tuple(q.of for q in statement.quantities), False))


def unshown(claim: Claim, case: CodePath) -> str:
    """Return why a claim is not shown in one case; empty if it is, or if the case never occurs."""
    about = grounded(claim, case)
    here = about.world
    if about.never_occurs():
        return ""
    if claim.statement.residual is not None:
        assert case.program is not None
        if not generic_client.leaves_zero(here, case.program, case.quantities[claim.statement.residual]):
            return "a step is not shown to leave the residual zero"
    elif claim.statement.observed is not None:
        if not all((after - before).is_zero() for after, before in _observed(claim, case, here)):
            return "a step is not shown to change nothing that is observed"
    else:
        ordered = cycle(
            c.relation == "<=" and claim.statement.scope is not Scope.STATE for c in claim.statement.comparisons
        )
        for (left, right), order in zip(_sides(claim, case, about), ordered, strict=False):
            if not ((left - right).is_zero() or (order and _at_most(about, left, right))):
                return "the two sides do not reduce to the same expression"
        if claim.statement.assignments and reals.undefined(claim) is not None:
            return "a constant is not shown to be a number"
    learn_sums(about)
    return next(unmet(about, case), "")


def obstacle(claim: Claim, instances: Sequence[Instance], rng: np.random.Generator) -> str:
    """Return why a claim is not shown as its code is read; empty if it is shown.

    ``instances``: some that meet the hypotheses, at which what is read is compared with the code. Raise ``ValueError``
    if the code is not read.
    """
    paths = read(claim, instances)
    why = next((why for path in paths if (why := unshown(claim, path))), "")
    if why or not paths:
        return why or "no letters meet the hypotheses"
    comparing.check(claim, paths, instances, rng)
    return ""


def sides(claim: Claim, case: CodePath) -> tuple[World, list[tuple[WorldValue, WorldValue]]]:
    """Return the two sides of each comparison in one case, of vectors one after the other, and the world of their
    values.

    There are none if the case never occurs. For an invariant, they are the residual after a step, and its value before
    times a number; for a conserved quantity, its values after a step and before it. Raise ``Unread`` if something in
    them is not read, or if there is no such number.
    """
    about = grounded(claim, case)
    if about.never_occurs():
        return about.world, []
    if claim.statement.residual is not None:
        assert case.program is not None
        residuals = case.quantities[claim.statement.residual]
        return about.world, list(generic_client.multiplied(about.world, case.program, residuals))
    if claim.statement.observed is not None:
        return about.world, list(_observed(claim, case, about.world))
    return about.world, list(_sides(claim, case, about))


def _at_most(about: Ground, left: WorldValue, right: WorldValue) -> bool:
    """Return True if both sides are numbers made of letters and the first is provably at most the second."""
    numbers = [about.number(side) for side in (left, right) if set(side.of) <= {ONE}]
    return len(numbers) == 2 and about.implies(sympy.Le(*numbers, evaluate=False))


def grounded(claim: Claim, case: CodePath, split: bool = True) -> Ground:
    """Return what is known in a case; ``split``: True if what a client has is read as the mean and a deviation."""
    here = _world(case)
    here.split, here.smooth = split, _smooth(claim)
    return ground(claim, case, here)


def _kept(claim: Claim) -> Any:
    """Return the algorithm's invariant, a residual that vanishes in all states of the setting; None if any state is
    allowed.
    """
    return None if claim.setting.algorithm is None else claim.setting.algorithm.invariant


def _observed(claim: Claim, case: CodePath, here: World) -> Iterator[tuple[WorldValue, WorldValue]]:
    """Yield the observed quantity after a step from a state of the setting, and before it."""
    assert case.program is not None
    if _balances(claim) and not case.program.with_g:
        generic_client.know_optimum(here)
    residuals = case.quantities.get(_kept(claim), ())
    return generic_client.changed(here, case.program, residuals, case.quantities[claim.statement.observed])


def _balances(claim: Claim) -> bool:
    """Return True if x* is known to satisfy grad f_i(x*) = y*_i with the y*_i summing to zero, for
    differentiable f_i.
    """
    setting, of = claim.setting, claim.setting.functions
    member = any(h.states_membership((of,), ("contains",)) for h in claim.requires)
    plain = set(setting.drawing.g) == {False} and setting.drawing.special is None
    return declarations(of).differentiable and member and plain and setting.optimum in ("consensus", "stationary")


def _smooth(claim: Claim) -> frozenset[str]:
    """Return the functions of a claim that its class declares smooth."""
    known = declarations(claim.setting.functions)
    if not known.differentiable:
        return frozenset()
    return frozenset({"f", "g"} if known.of_g is None else {"f"})


def _world(case: CodePath) -> World:
    """Return the world of all that was read in a case."""
    terms = [term for several in case.quantities.values() for term in several]
    terms += [term for term, _ in case.signs]
    terms += [*case.letters.values(), *(term for c, _ in case.conditions for term in c.terms())]
    terms += [term for _, c in case.raising for term in c.terms()]
    terms += [quotient for quotient, _ in case.quotients]
    here = generic_client.world_of(*terms) if case.program is None else generic_client.world(case.program, *terms)
    for condition, answer in case.conditions:
        if condition.by == "==" and answer:
            here.fixed |= _number(*condition.of)
    return here


def _number(one: Term, other: Term) -> Mapping[sympy.Symbol, Any]:
    """Return the letter with a written value, if one of two sides is a letter and the other a number."""
    for letter, number in ((one, other), (other, one)):
        if letter.op in (Op.LETTER, Op.GIVEN) and letter.type == NUMBER and number.op is Op.CONSTANT:
            return {symbol_of(letter): number.data}
    return {}


# Two sides


def _sides(claim: Claim, case: CodePath, about: Ground) -> Iterator[tuple[WorldValue, WorldValue]]:
    """Yield the two sides of each comparison, for each of the vectors that a quantity gives side by side."""
    statement, here = claim.statement, about.world
    found = {q.expression: evaluated(here, case.quantities[q.of]) for q in statement.quantities}
    known = {letter: term for letter, term in case.letters.items() if term.op not in (Op.LEAST, Op.MOST)}
    letters = {letter: evaluated(here, [term])[0] for letter, term in known.items()}
    counts = {len(values) for values in found.values()}
    if len(counts) > 1:
        raise Unread("quantities stack different numbers of vectors")
    for k in range(counts.pop()):
        env = {**letters, **{expression: values[k] for expression, values in found.items()}}
        for comparison in statement.comparisons:
            yield of_expression(comparison.left, env, here), of_expression(comparison.right, env, here)


def of_expression(expression: sympy.Expr, env: Mapping[sympy.Expr, WorldValue], world: World) -> WorldValue:
    """Return the value of an expression in letters and quantities. Raise ``Unread`` unless it is a quotient of
    polynomials.
    """
    if expression in env:
        return env[expression]
    if expression.is_Rational:
        return world.constant(expression)
    if isinstance(expression, sympy.Add | sympy.Mul):
        found = world.constant(sympy.Integer(0 if isinstance(expression, sympy.Add) else 1))
        for part in expression.args:
            value = of_expression(part, env, world)
            found = found + value if isinstance(expression, sympy.Add) else found * value
        return found
    if isinstance(expression, sympy.Pow) and expression.exp.is_Integer:
        base, power = of_expression(expression.base, env, world), int(expression.exp)
        if power < 0:
            base = inverse(world, base)
        found = WorldValue({ONE: world.field.one})
        for _ in range(abs(power)):
            found *= base
        return found
    raise Unread(f"{expression} is not known from what was read")
