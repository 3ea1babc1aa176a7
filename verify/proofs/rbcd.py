"""Proofs of what a step on tau random blocks does, for every n, tau and choice of the L_i.

All is said of one client i and summed over the clients. z is x_i - x_i*, g the gradient of h_i at x_i minus the common
gradient at the x_i*, and c the mean of the g weighted by 1/L_i, so that |G_[n] grad h|_L^2 = sum_i |g_i - c|^2 / L_i.
The values are those of h_i minus its tangent at x_i*.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from fedtheory.kinds.one_step import OneStep
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import rollout
from verify.pep import functions, posing
from verify.pep.gram import OPTIMUM, ZERO, Form, Sample, interpolation, row, smoothness, strong_convexity, value
from verify.proofs import identity
from verify.proofs.identity import (
    GapInequality,
    Unprovable,
    Weights,
    coefficients,
    is_zero,
    require_at_least,
    require_nonnegative,
)

Letters = dict[str, sympy.Expr]
Pieces = Iterator[tuple[GapInequality, Weights]]

#: r = (tau - 1)/(n - 1); by how much the claimed number exceeds what it must; 1/L_i - 1/L_max;
#: by how much a coefficient exceeds what it must. Nothing that a claim speaks of is one of them.
_r, _s_F, _s_L, _s_b = sympy.symbols("r s_F s_L s_b", nonnegative=True, cls=sympy.Dummy)
_F, _over_L = sympy.symbols("F 1/L_i", positive=True, cls=sympy.Dummy)

_z, _g, _c = row("z"), row("g"), row("c")
_AT = Sample(_z, _g, value("h"))
_SQUARE = (_g - _c) ** 2

_VECTORS = {"z": _z, "g": _g, "c": _c}
_LETTERS = {"r": _r, "s_F": _s_F, "s_L": _s_L, "s_b": _s_b, "1/L_i": _over_L}


def _known(mu: sympy.Expr, L: sympy.Expr) -> dict[str, Form]:
    """What holds of one client, and of their sum: the z_i add up to zero, so <c, z_i> does."""
    return {
        "strong convexity": strong_convexity(OPTIMUM, _AT, mu),
        "least at the optimum": OPTIMUM.value - _AT.value,
        "sum zero": _c * _z,
        "smooth above": smoothness(_AT, OPTIMUM, L),
        "smooth below": interpolation(_AT, OPTIMUM, sympy.S.Zero, L),
    }


def pose(claim: Claim) -> Pieces:
    """What is to be shown of one client, and its proof. ``Unprovable`` if the claim is of another form."""
    statement, k = claim.statement, _letters(claim)
    known = _known(k["mu"], k["L"])
    if isinstance(statement, OneStep):
        right = coefficients(statement.right, [q.expression for q in statement.quantities])
        before = _before(claim)
        if set(right) == {str(before.expression)} and statement.factor is not None:
            yield _contraction(claim, right[str(before.expression)], k, known)
        elif set(right) <= {str(before.expression), "|G grad h|_L^2"}:
            yield _descent(claim, right.get(str(before.expression), sympy.S.Zero), right, k)
        else:
            raise Unprovable(f"{claim.id} bounds by {', '.join(right)}")
    else:
        raise Unprovable(f"{claim.id} is of kind {statement.kind}")


def _letters(claim: Claim) -> Letters:
    """n, tau, the largest L_i, the smallest mu_i and r, in the letters of the setting."""
    k = dict(identity.told(claim).letters)
    # A paper may name the smallest strong convexity mu or mu_min, in one statement never both.
    least = k.pop("mu_min", None)
    if least is not None and claim.statement.right.has(least):  # type: ignore[attr-defined]
        k["mu"] = least
    return {**k, "r": (k["tau"] - 1) / (k["n"] - 1)}


def _stated(claim: Claim, name: str, k: Letters, **more: sympy.Expr) -> Weights:
    return identity.stated(claim, name, {**k, **_LETTERS, **more}, _VECTORS)


def _before(claim: Claim) -> Quantity:
    """The potential before the step, of which the left side is the expectation after it."""
    statement = claim.statement
    assert isinstance(statement, OneStep)
    for after in (q for q in statement.quantities if q.expression == statement.left and q.after):
        for before in statement.quantities:
            if not before.after and after.of is before.of:
                return before
    raise Unprovable(f"the left side of {claim.id} is not a potential that its right side speaks of")


def _descent(
    claim: Claim, share: sympy.Expr, right: dict[str, sympy.Expr], k: Letters
) -> tuple[GapInequality, Weights]:
    """share h + b |G grad h|_L^2 - E h(y) >= 0, where E h(y) <= h - (r/2) |G grad h|_L^2 by the sampling lemma."""
    excess = right.get("|G grad h|_L^2", sympy.S.Zero) + k["r"] / 2
    require_nonnegative(claim, k["r"])
    require_nonnegative(claim, excess)
    gap = (share - 1) * _AT.value + excess * _over_L * _SQUARE
    return GapInequality("descent", gap, {}, {_s_b: excess}), _stated(claim, "descent", k)


def _contraction(claim: Claim, factor: sympy.Expr, k: Letters, known: dict[str, Form]) -> tuple[GapInequality, Weights]:
    """F V - E V(next) >= 0 for V = h - h*, where E V(next) <= V - (r/2) |G grad h|_L^2 by the sampling lemma."""
    mu, L = k["mu"], k["L"]
    require_nonnegative(claim, k["r"])
    require_at_least(claim, factor, 1 - k["r"] * mu / L)
    gap = (_F - 1) * _AT.value + _r / 2 * (1 / L + _s_L) * _SQUARE
    return GapInequality("contraction", gap, known, {_s_F: _F - 1 + _r * mu / L}), _stated(claim, "contraction", k)


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


def instances(claim: Claim) -> Iterator[Instance]:
    """Exact instances that meet the hypotheses, of which no constant is 1, which would hide that it is lost.

    Every mu_i < L_i, the L_i differ where they may, and some of at least three clients sit out. ``Unprovable`` when
    none of the first recipes gives one.
    """
    return identity.instances(claim, _generic)


def _generic(recipe: Recipe, instance: Instance) -> bool:
    problem, params = instance.problem, instance.params
    if problem.n < 3 or params.tau == problem.n:
        return False
    if hasattr(params, "Lambda"):
        return 1 not in (problem.mu, problem.L) and problem.mu < problem.L
    return bool((params.L != 1).all() and (problem.f.mu < params.L).all() and len(set(params.L)) > 1)


def special(claim: Claim) -> Iterator[Instance]:
    """Exact instances that meet the hypotheses, with every pair of cases that a step may treat apart."""
    return identity.varied(claim, _possible, _traits)


def _possible(recipe: Recipe, instance: Instance) -> bool:
    problem, params = instance.problem, instance.params
    ordered = problem.mu <= problem.L if hasattr(params, "Lambda") else (problem.f.mu <= params.L).all()
    return bool(problem.n <= 4 and ordered)


def _traits(instance: Instance) -> tuple[Hashable, ...]:
    problem, params = instance.problem, instance.params
    n, tau = problem.n, params.tau
    if hasattr(params, "Lambda"):
        return (n, tau == n, tau == 2, problem.mu == problem.L)
    return (n, tau == n, tau == 2, bool((problem.f.mu == params.L).all()), len(set(params.L)) == 1)


def constants(instance: Instance) -> dict[str, Any]:
    """The constants of the model, by the names of its letters."""
    problem, params = instance.problem, instance.params
    least = min(problem.f.mu)
    sizes = {"L": max(params.L), "mu": least, "mu_min": least}
    return {"n": problem.n, "tau": params.tau, **sizes}


def outside(claim: Claim, instance: Instance) -> Iterator[tuple[str, Instance]]:
    """The instance with one assumption of the proof broken at a time."""
    problem, params = instance.problem, instance.params
    for factor in identity.BROKEN:
        yield "smoothness", replace(instance, params=params._replace(L=problem.f.L / factor))
    yield "tau >= 2", replace(instance, params=params._replace(tau=1))


def redeclared(instance: Instance) -> Iterator[tuple[str, Instance]]:
    """As :func:`identity.redeclared`, with Lambda = I/alpha for what is declared."""
    mu, Lambda = instance.problem.mu, instance.params.Lambda
    for name, other in identity.redeclared(instance):
        scaled = Lambda * mu / other.problem.mu
        yield name, replace(other, params=other.params._replace(Lambda=scaled))


def differs(claim: Claim, instance: Instance) -> str | None:
    """The name of something that is not, on formal vectors, what the proof takes it for; None if all agrees."""
    statement = claim.statement
    assert isinstance(statement, OneStep)
    posed = posing.pose(claim.setting, instance)
    problem, state = posed.instance.at(np.zeros((1, 0)))
    # The first point at which the gradients are asked is the state; at the reference points all is zero.
    problem.f.gradient(state.x)
    meaning = _meaning(posed.records[0])
    quantities = {str(q.expression): q for q in statement.quantities if not q.after}
    for name, quantity in quantities.items():
        value = _form(quantity.of(problem, posed.instance.params, state))
        if name in meaning and not (value - meaning[name]).is_zero:
            return name
    return _step_differs(claim, posed, problem, state, meaning)


def _meaning(record: functions.Record) -> dict[str, Form]:
    """What each quantity is, as a sum over the clients."""
    at = [next(iter(known.values())) for known in record.asked]
    gradients = [ZERO if a.gradient is None else a.gradient for a in at]
    if not record.anchored:
        # Gradients at the origins are no common one there.
        gradients = [g + slope for g, slope in zip(gradients, record.slope[:, 0], strict=True)]
    weights = [1 / L for L in record.L]
    mean = sum((w * g for w, g in zip(weights, gradients, strict=True)), ZERO) / sum(weights)
    gap = _total(a.value for a in at)
    return {
        "|G grad h|_L^2": _total(w * (g - mean) ** 2 for w, g in zip(weights, gradients, strict=True)),
        "h-h*": gap,
    }


def _step_differs(
    claim: Claim, posed: functions.Formal, problem: Any, state: Any, meaning: dict[str, Form]
) -> str | None:
    """Whether the step is what the sampling lemma is about: E V(next) <= V - (r/2) |G grad h|_L^2, by smoothness."""
    statement, params, record = claim.statement, posed.instance.params, posed.records[0]
    assert isinstance(statement, OneStep)
    potential = posing.potential(claim)
    before = _form(potential.of(problem, params, state))
    if statement.factor is not None and not (before - meaning["h-h*"]).is_zero:
        return "the potential"
    later, probabilities = rollout(claim, posed.instance, problem, state, 1)
    if potential.domain is not None and any(v.coefficients for v in potential.domain(problem, params, later).flat):
        return "the domain"
    expected = (potential.of(problem, params, later)[0] * probabilities).sum()
    for asked, L in zip(record.asked, record.L, strict=True):
        current, *others = asked.values()
        assert current.gradient is not None
        for other in (o for o in others if o.gradient is None):
            (name,) = other.value.values
            share = expected.values.get(name, 0)
            if share < 0:
                return "the step"
            sample = Sample(current.point, current.gradient, current.value)
            expected = expected - share * smoothness(Sample(other.point, ZERO, other.value), sample, L)
    r = Fraction(params.tau - 1, problem.n - 1)
    return None if (expected - before + r / 2 * meaning["|G grad h|_L^2"]).is_zero else "the step"


def _form(value: Any) -> Form:
    form: Form = np.asarray(value, dtype=object).ravel()[0] + Form({}, {})
    return form


def _total(forms: Iterable[Form]) -> Form:
    return sum(forms, Form({}, {}))
