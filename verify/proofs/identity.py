"""An inequality between forms, and the identity that proves it for all values of its parameters.

The weights of an identity stand in the hints of the claim's setting; nothing that they say is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, cycle, islice
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from fedtheory.settings import Identities
from verify.base.evaluate import meeting
from verify.exact import symbolic
from verify.pep.gram import ZERO, Form, Vector

#: Recipes among which instances that meet a claim's hypotheses are looked for, at all and with special parameters.
PROPOSED, SPECIAL = 1000, 300
#: Clients of whom as many may take part as do in a smaller instance.
FEW = 7
#: Clients of the instances on which code and model are compared in every way.
MOST = 5

#: By how much each assumption of a proof is broken, one at a time; a hypothesis may ask for a little less than it.
BROKEN = tuple(Fraction(v) for v in ("1000001/1000000", "1001/1000", "21/20", "13/10", 2, 7, 100))


class Unprovable(ValueError):
    """The claim is not of a kind that is proved here, or a condition of the proof does not follow from it."""


@dataclass(frozen=True)
class GapInequality:
    """``gap >= 0`` is to be shown, from ``known`` forms that are <= 0.

    ``slack``: symbols that stand for nonnegative expressions, with those expressions; their sign has been derived.
    """

    name: str
    gap: Form
    known: Mapping[str, Form]
    slack: Mapping[sympy.Symbol, sympy.Expr] = field(default_factory=dict)


@dataclass(frozen=True)
class IdentityWeights:
    """The proof: gap = - sum of ``multipliers[k] * known[k]`` + sum of coefficient * |vector|^2 over ``squares``.

    Multipliers and coefficients are nonnegative closed forms in the parameters and slack symbols.
    """

    multipliers: Mapping[str, sympy.Expr]
    squares: tuple[tuple[sympy.Expr, Vector], ...]

    def prove(self, posed: GapInequality, claim: Claim) -> bool:
        """Return True if the identity expands to zero and every weight is nonnegative by the assumptions on its
        symbols.
        """
        if not set(self.multipliers) <= set(posed.known):
            return False
        if not all(is_nonnegative(w, claim) for w in (*self.multipliers.values(), *(c for c, _ in self.squares))):
            return False
        residual = posed.gap
        for name, weight in self.multipliers.items():
            residual = residual + weight * posed.known[name]
        for weight, vector in self.squares:
            residual = residual - weight * vector**2
        return vanishes(residual, posed.slack)


def stated(
    claim: Claim, name: str, letters: Mapping[str, sympy.Expr], vectors: Mapping[str, Vector]
) -> IdentityWeights:
    """The weights of the identity ``name``, with what its letters and vectors stand for; ``Unprovable`` without any."""
    hints = identities_of(claim)
    if name not in hints.weights:
        raise Unprovable(f"no weights are stated for {name} of {claim.id}")
    given = hints.weights[name]

    def at(expression: Any) -> sympy.Expr:
        value = sympy.sympify(expression)
        return value.xreplace({s: letters[s.name] for s in value.free_symbols if s.name in letters})

    squares = []
    for coefficient, parts in given.squares:
        if not set(parts) <= set(vectors):
            raise Unprovable(f"{name} of {claim.id} has squares of other vectors than {', '.join(vectors)}")
        squares.append((at(coefficient), sum((at(times) * vectors[v] for v, times in parts.items()), ZERO)))
    return IdentityWeights({known: at(weight) for known, weight in given.multipliers.items()}, tuple(squares))


def identities_of(claim: Claim) -> Identities:
    """Return the proofs known in the claim's setting. Raise ``Unprovable`` if there are none."""
    hints = claim.setting.hints.identities
    if hints is None:
        raise Unprovable(f"no proofs are known in the setting of {claim.id}")
    return hints


def vanishes(form: Form, slack: Mapping[sympy.Symbol, sympy.Expr]) -> bool:
    """Return True if every coefficient is identically zero after substituting for the slack symbols."""
    coefficients = (*form.entries.values(), *form.values.values(), form.constant)
    return all(is_zero(sympy.sympify(c).subs(slack)) for c in coefficients)


def is_zero(expression: sympy.Expr) -> bool:
    """Return True if a rational function is identically zero: its numerator is expanded."""
    numerator, _ = sympy.fraction(sympy.together(expression))
    return bool(sympy.expand(numerator) == 0)


def relations(claim: Claim) -> list[sympy.Basic]:
    """Return the assumptions of the claim and its setting on the letters, with conjunctions split."""
    return symbolic.conjuncts(symbolic.assumed(claim))


def is_nonnegative(expression: sympy.Expr, claim: Claim) -> bool:
    """Return True if an expression is proved >= 0 from its symbols' assumptions and the claim's simple hypotheses."""
    value = sympy.sympify(expression)
    return bool(value.is_nonnegative) or symbolic.at_most(sympy.S.Zero, value, relations(claim))


def require_at_least(claim: Claim, expression: sympy.Expr, least: sympy.Expr) -> None:
    """Raise ``Unprovable`` unless expression >= least follows; a maximum is at least each of its arguments."""
    options = expression.args if isinstance(expression, sympy.Max) else (expression,)
    if least in options:
        return
    if not any(is_nonnegative(option - least, claim) for option in options):
        raise Unprovable(f"{expression} >= {least} does not follow from the hypotheses of {claim.id}")


def require_nonnegative(claim: Claim, expression: sympy.Expr) -> None:
    """Raise ``Unprovable`` unless expression >= 0 follows."""
    if not is_nonnegative(expression, claim):
        raise Unprovable(f"{expression} >= 0 does not follow from the hypotheses of {claim.id}")


def coefficients(side: sympy.Expr, quantities: Sequence[sympy.Expr]) -> dict[str, sympy.Expr]:
    """The coefficients of an expression that is linear in the quantities, by their names. Raise ``Unprovable`` if
    not.
    """
    stand_in = {q: sympy.Dummy(str(q)) for q in quantities}
    expression = sympy.expand(side.subs(stand_in))
    found = {str(q): expression.coeff(dummy) for q, dummy in stand_in.items()}
    rest = expression - sum(found[str(q)] * dummy for q, dummy in stand_in.items())
    if not is_zero(rest) or any(c.has(*stand_in.values()) for c in found.values()):
        raise Unprovable(f"{side} is not linear in {', '.join(map(str, quantities))}")
    return {name: c for name, c in found.items() if c != 0}


def instances(claim: Claim, wanted: Callable[[Recipe, Instance], bool]) -> Iterator[Instance]:
    """Exact instances that meet the hypotheses and are wanted, with few clients: :func:`larger` gives those with many.

    Raise ``Unprovable`` if none of the first recipes is.
    """
    found = _met(claim, PROPOSED, lambda recipe, instance: instance.problem.n <= MOST and wanted(recipe, instance))
    first = next(found, None)
    if first is None:
        raise Unprovable(f"no instance was found that meets the hypotheses of {claim.id}")
    yield first
    yield from found


def varied(
    claim: Claim, wanted: Callable[[Recipe, Instance], bool], traits: Callable[[Instance], tuple[Hashable, ...]]
) -> Iterator[Instance]:
    """Exact instances that meet the hypotheses and are wanted, each with two traits that none before it had at once."""
    seen: set[Hashable] = set()
    for instance in _met(claim, SPECIAL, wanted):
        pairs = set(combinations(enumerate(traits(instance)), 2))
        if not pairs <= seen:
            seen |= pairs
            yield instance


def _met(claim: Claim, count: int, wanted: Callable[[Recipe, Instance], bool]) -> Iterator[Instance]:
    proposed = islice(claim.instances.recipes(np.random.default_rng(0)), count)
    return (instance for recipe, instance in meeting(claim, proposed) if wanted(recipe, instance))


def larger(claim: Claim, sizes: Iterable[int]) -> Iterator[Instance]:
    """For each number of clients an exact instance that meets the hypotheses, its clients those of a smaller one.

    The smaller ones are not the same. Raise ``Unprovable`` if none of the first recipes can be enlarged.
    """
    proposed = islice(claim.instances.recipes(np.random.default_rng(1)), PROPOSED)
    smaller = (recipe for recipe, instance in meeting(claim, proposed) if instance.problem.mu != instance.problem.L)
    for n in sizes:
        # Few of them take part, so that the draws are few.
        few = {"tau": 2} if n > FEW else {}
        grown = (
            {**recipe, "clients": tuple(islice(cycle(recipe["clients"]), n)), **{k: few[k] for k in few if k in recipe}}
            for recipe in smaller
        )
        found = next((instance for _, instance in meeting(claim, grown)), None)
        if found is None:
            raise Unprovable(f"no instance with {n} clients was found that meets the hypotheses of {claim.id}")
        yield found


def redeclared(instance: Instance) -> Iterator[tuple[str, Instance]]:
    """The instance with mu declared larger, or L smaller, than its functions allow, by a little and by much."""
    problem = instance.problem
    mu, L = problem.mu, problem.L
    parts = (problem.f,) if problem.g is None else (problem.f, problem.g)
    least, largest = min(v for part in parts for v in part.mu), max(v for part in parts for v in part.L)
    for factor in BROKEN:
        too_convex, too_smooth = least * factor, largest / factor
        for name, declared in (
            ("strong convexity", (too_convex, max(L, too_convex))),
            ("smoothness", (min(mu, too_smooth), too_smooth)),
        ):
            yield name, replace(instance, problem=replace(problem, declared=declared))


def off(value: Any) -> Iterator[Any]:
    """A value times factors a little, and much, above 1 and below."""
    for factor in BROKEN:
        yield value * factor
        yield value / factor
