"""Shared parts of the models of steps on tau random blocks: the sampling lemma, what claims say and assume, and the
instances at which models and code are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, cycle, islice
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.numbers.rational import Array
from fedtheory.randomness import expectation
from verify.base.evaluate import meeting
from verify.pep.gram import Form, scalar
from verify.pep.interpolation import Formal
from verify.proofs.identity import Unprovable, by_role, is_nonnegative, is_zero

#: Recipes among which instances that meet a claim's hypotheses are looked for, at all and with special parameters.
PROPOSED, SPECIAL = 1000, 300
#: Clients of whom as many may take part as do in a smaller instance.
FEW = 7
#: Clients of the instances on which code and model are compared in every way.
MOST = 5

#: The factor by which each assumption of a proof is broken, one at a time; a hypothesis may ask for a little less.
BROKEN = tuple(Fraction(v) for v in ("1000001/1000000", "1001/1000", "21/20", "13/10", 2, 7, 100))


def sampling_lemma() -> bool:
    """E h(y) <= h(x) - (r/2) |G_[n] grad h(x)|_L^2 for y = x - G_I grad h(x), for every n, tau and L_1, ..., L_n.

    For fixed I, with b the weighted mean of the g over I, client i moves by -(g - b)/L and smoothness bounds its
    decrease by (|g|^2 - |b|^2)/(2 L). Summed over I and multiplied by P(I) = (sum_I 1/L)/Z this is 1/(2 Z) times the
    sum over pairs in I of |g_i - g_j|^2/(L_i L_j), by Lagrange's identity. A pair is in comb(n-2, tau-2) subsets, and
    Z = comb(n-1, tau-1) sum 1/L; the same sum over all pairs, over sum 1/L, is |G_[n] grad h|_L^2.
    """
    g, b, L = sympy.symbols("g b L")
    step = -(g - b) / L
    decrease = -(g * step + L * step**2 / 2) - (g**2 - b**2) / (2 * L)
    g_i, g_j = sympy.symbols("g_i g_j")
    # One pair of (sum 1/L)(sum |g|^2/L) - |sum g/L|^2, without the common 1/(L_i L_j).
    pair = (g_i**2 + g_j**2) - 2 * g_i * g_j - (g_i - g_j) ** 2
    n, tau = sympy.symbols("n tau", integer=True, positive=True)
    share = sympy.binomial(n - 2, tau - 2) / sympy.binomial(n - 1, tau - 1) - (tau - 1) / (n - 1)
    return is_zero(decrease) and is_zero(pair) and sympy.gammasimp(share.rewrite(sympy.gamma)) == 0


def steps_as_sampled(posed: Formal, g: Array, w: Array, moves: Array, p: Array, eta: Any) -> bool:
    """Return True if the moves ``(K, n, d)`` with probabilities p are those along w on tau random blocks, Lambda =
    I/alpha.

    With P the projection that subtracts the mean, E <g, move> is -r eta alpha <g, P w> and E |move|^2 is r eta^2
    alpha^2 |P w|^2.
    """
    problem, params = posed.instance.problem, posed.instance.params
    r, length = Fraction(params.tau - 1, problem.n - 1), eta * problem.mu
    P = w - w.sum(axis=-2, keepdims=True) / problem.n
    across = scalar(expectation((g * moves).sum(axis=(-1, -2)), p)) + r * length * scalar((g * P).sum())
    squared = scalar(expectation((moves**2).sum(axis=(-1, -2)), p)) - r * length**2 * squares(P)
    return across.is_zero and squared.is_zero


def squares(vectors: Array) -> Form:
    """The sum of the squares of vectors ``(m, d)``."""
    return scalar((vectors**2).sum(axis=(-1, -2)))


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


def coefficients(claim: Claim, side: sympy.Expr) -> dict[str, sympy.Expr]:
    """The coefficients of a side that is linear in the claim's quantities, by what these are in the model. Raise
    ``Unprovable`` if it is not linear, or the setting does not declare what they are.
    """
    stand_in = {q.expression: sympy.Dummy(name) for name, q in by_role(claim).items()}
    expression = sympy.expand(side.subs(stand_in))
    found = {dummy.name: expression.coeff(dummy) for dummy in stand_in.values()}
    rest = expression - sum(found[dummy.name] * dummy for dummy in stand_in.values())
    if not is_zero(rest) or any(c.has(*stand_in.values()) for c in found.values()):
        raise Unprovable(f"{side} is not linear in {', '.join(map(str, stand_in))}")
    return {name: c for name, c in found.items() if c != 0}


def instances(claim: Claim) -> Iterator[Instance]:
    """Exact instances that meet the hypotheses, of which no constant is 1, which would hide that it is lost.

    mu < L, and some of three to five clients sit out. Raise ``Unprovable`` if none of the first recipes gives one.
    """
    found = _met(claim, PROPOSED, _generic)
    first = next(found, None)
    if first is None:
        raise Unprovable(f"no instance was found that meets the hypotheses of {claim.id}")
    yield first
    yield from found


def _generic(instance: Instance) -> bool:
    problem, params = instance.problem, instance.params
    some = 3 <= problem.n <= MOST and problem.n != params.tau
    return bool(some and 1 not in (problem.mu, problem.L) and problem.mu < problem.L)


def special(claim: Claim) -> Iterator[Instance]:
    """Exact instances that meet the hypotheses, each with two cases that a step may treat apart and that none before it
    had at once.
    """
    seen: set[Hashable] = set()
    for instance in _met(claim, SPECIAL, _possible):
        pairs = set(combinations(enumerate(_traits(instance)), 2))
        if not pairs <= seen:
            seen |= pairs
            yield instance


def _possible(instance: Instance) -> bool:
    return bool(instance.problem.n <= 4 and instance.problem.mu <= instance.problem.L)


def _traits(instance: Instance) -> tuple[Hashable, ...]:
    problem, params = instance.problem, instance.params
    n, tau = problem.n, params.tau
    return (n, tau == n, tau == 2, problem.mu == problem.L)


def _met(claim: Claim, count: int, wanted: Callable[[Instance], bool]) -> Iterator[Instance]:
    proposed = islice(claim.instances.recipes(np.random.default_rng(0)), count)
    return (instance for _, instance in meeting(claim, proposed) if wanted(instance))


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
    """The instance with mu declared larger, or L smaller, than its functions allow, by a little and by much, and with
    Lambda = I/alpha for what is declared.
    """
    problem, Lambda = instance.problem, instance.params.Lambda
    mu, L = problem.mu, problem.L
    least, largest = min(problem.f.mu), max(problem.f.L)
    for factor in BROKEN:
        too_convex, too_smooth = least * factor, largest / factor
        for name, declared in (
            ("strong convexity", (too_convex, max(L, too_convex))),
            ("smoothness", (min(mu, too_smooth), too_smooth)),
        ):
            other = replace(problem, declared=declared)
            params = instance.params._replace(Lambda=Lambda * mu / other.mu)
            yield name, replace(instance, problem=other, params=params)


def off(value: Any) -> Iterator[Any]:
    """A value times factors a little, and much, above 1 and below."""
    for factor in BROKEN:
        yield value * factor
        yield value / factor
