"""Proofs of what one round does with inexact oracles, after any number of rounds of which the sums of drifts are kept.

Where the first answers are exact, the squared errors of the answers are at most the sum of drifts, by induction on the
rounds (Lemma C.2 of FedDCD). One round is then shown of one client and any error e of its answer, as in
:mod:`verify.step_models.inexact_blocks`: with P the projection that subtracts the mean over the clients and
r = (tau - 1)/(N - 1),

    E gap(next) <= gap - r eta alpha <g, P (g + e)> + r eta^2 alpha/2 |P (g + e)|^2,
    E |m|^2 <= r eta^2 |P (g + e)|^2,

for m what the gradient moves by, and a multiple k of the gap is at most k beta/2 |P g|^2, as the y_i sum to zero. What
is left is a quadratic form in P g and P e, which is completed to squares: its weights follow from the statement's.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.bound import Bound
from fedtheory.problems.oracles import worst_case
from fedtheory.randomness import expectation, map_leaves, support_of
from fedtheory.settings.relations import Quantity
from verify.base.case import Case
from verify.base.evaluate import rollout
from verify.exact import symbolic
from verify.pep import posing
from verify.pep.gram import OPTIMUM, ZERO, Sample, row, scalar, strong_convexity, value
from verify.pep.interpolation import Formal
from verify.proofs import identity
from verify.proofs.identity import GapInequality, IdentityWeights, Unprovable, by_role
from verify.step_models import sampled_blocks
from verify.step_models.inexact_blocks import constants, gap_of, is_gap, next_error, starts_from
from verify.step_models.sampled_blocks import coefficients, require_nonnegative, squares

#: The quantities that a claim may involve.
_NEXT, _MOVE, _GAP, _SPREAD, _DRIFT = "next gap", "move", "gap", "spread", "drift"
_THETA = np.zeros((1, 0))
_z, _Pg, _Pe, _g_mean, _e_mean = (row(name) for name in ("z", "Pg", "Pe", "mean g", "mean e"))
_v = value("v")

__all__ = ["constants", "differs", "instances", "larger", "outside", "pose", "special"]

instances, larger, special = sampled_blocks.instances, sampled_blocks.larger, sampled_blocks.special


def pose(claim: Claim) -> Iterator[tuple[GapInequality, IdentityWeights]]:
    """Yield the inequalities to be shown for one client, with their proofs. Raise ``Unprovable`` for claims of other
    forms.
    """
    if not sampled_blocks.sampling_lemma():
        raise Unprovable("the sampling lemma does not hold")
    found, s = _terms(claim), identity.identities_of(claim).letters
    alpha, beta, r, eta = s["mu"], s["L"], (s["tau"] - 1) / (s["n"] - 1), _eta(claim)[1]
    after, moved, drift = -found[_NEXT], -found[_MOVE], found[_DRIFT]
    for nonnegative in (r, after, moved, drift):
        require_nonnegative(claim, nonnegative)
    across, along = after * r * eta * alpha, r * eta**2 * (after * alpha / 2 + moved)
    gap = found[_GAP] * _v + found[_SPREAD] * _Pg**2 + drift * (_Pe + _e_mean) ** 2 - after * _v
    gap = gap + across * ((_Pg + _g_mean) * (_Pg + _Pe)) - along * (_Pg + _Pe) ** 2
    known = {
        "strong convexity": strong_convexity(OPTIMUM, Sample(_z, _Pg + _g_mean, _v), 1 / beta),
        "least at the optimum": -_v,
        # Sums over the clients that vanish: of z, of what P leaves of g and e, and of their products with the means.
        "sum zero": _g_mean * _z,
        "means": -_g_mean * (_Pg + _Pe),
        "mean error": -_e_mean * _Pe,
    }
    multipliers, squared = {"means": across, "mean error": 2 * drift}, [(drift, _e_mean)]
    shrinks, of_g = sympy.factor(after - found[_GAP]), across - along + found[_SPREAD]
    if identity.is_nonnegative(shrinks, claim):
        multipliers |= {"strong convexity": shrinks, "sum zero": shrinks}
        squared.append((shrinks / (2 * beta), _z - beta * _Pg))
        of_g -= shrinks * beta / 2
    else:
        multipliers["least at the optimum"] = -shrinks
    both, of_e = across / 2 - along, drift - along
    of_g, both, of_e = (sympy.factor(c) for c in (of_g, both, of_e))
    if not symbolic.below(sympy.S.Zero, of_g, identity.relations(claim)):
        raise Unprovable(f"{of_g} > 0 does not follow from the hypotheses of {claim.id}")
    squared += [(of_g, _Pg + sympy.factor(both / of_g) * _Pe), (sympy.factor(of_e - both**2 / of_g), _Pe)]
    yield next_error(claim)
    yield GapInequality("one round", gap, known), IdentityWeights(multipliers, tuple(squared))


def _terms(claim: Claim) -> dict[str, sympy.Expr]:
    """The coefficients of the right side less the left one, by the names of quantities; 0 for those that do not
    occur.
    """
    statement = claim.statement
    if not isinstance(statement, Bound) or statement.override is None or not all(q.after for q in statement.quantities):
        raise Unprovable(f"{claim.id} is not about the state after T rounds alone")
    found = coefficients(claim, statement.override - statement.left)
    names = (_NEXT, _MOVE, _GAP, _SPREAD, _DRIFT)
    if not set(found) <= set(names):
        raise Unprovable(f"{claim.id} mentions {', '.join(sorted(set(found) - set(names)))}")
    eta, value = _eta(claim)
    return {name: sympy.factor(found.get(name, sympy.S.Zero).subs(eta, value)) for name in names}


def _eta(claim: Claim) -> tuple[sympy.Expr, sympy.Rational]:
    """The letter of the step length, and the number that a hypothesis says it is."""
    for letter, source in claim.setting.sources.items():
        for relation in identity.relations(claim) if source == "eta" else ():
            found = sympy.solve(relation, letter) if isinstance(relation, sympy.Eq) else []
            if len(found) == 1 and found[0].is_Rational:
                return letter, found[0]
    raise Unprovable(f"no hypothesis of {claim.id} says what eta is")


def outside(claim: Claim, instance: Instance) -> Iterator[tuple[str, Instance]]:
    """The instance with one assumption of the proof broken at a time."""
    params = instance.params
    # With exact oracles no other hypothesis than the one meant is broken.
    exact = params._replace(oracle=worst_case(Fraction(0)))
    for factor in sampled_blocks.BROKEN:
        allowed = params.delta / 2
        if allowed < 1:
            worse = Fraction(math.sqrt(min(allowed * factor, (1 + allowed) / 2)))
            yield "delta/2-inexact oracles", replace(instance, params=params._replace(oracle=worst_case(worse)))
    # A delta that the hypotheses compute is computed anew where it is the instance's own.
    for delta in (Fraction(1, 3), params.delta):
        yield from sampled_blocks.redeclared(replace(instance, params=exact._replace(delta=delta)))
    for Lambda in sampled_blocks.off(params.Lambda):
        yield "Lambda = I/alpha", replace(instance, params=params._replace(Lambda=Lambda))
    for eta in sampled_blocks.off(params.eta):
        yield "the value of eta", replace(instance, params=params._replace(eta=eta))
    yield "tau >= 2", replace(instance, params=exact._replace(tau=1))


def differs(claim: Claim, instance: Instance) -> str | None:
    """The name of something that is not, on formal vectors, what the proof takes it for; None if all agrees."""
    named = by_role(claim)
    if not _starts(claim, instance, named.get(_DRIFT)):
        return "the start"
    posed = posing.pose(claim.setting, instance)
    problem, params = posed.instance.problem, posed.instance.params
    _, state = posed.instance.at(_THETA)
    later, p = rollout(Case.of(claim, posed.instance), problem, state, 1)
    if params.oracle.delta != params.delta / 2 or posed.oracle is None:
        return "the oracle"
    now = problem.f.conjugate_gradient(state.y)
    w, moves = params.oracle.answer(problem.f, state.y, state.w, np.zeros(0)).w, later.y - state.y
    g, eta = now - problem.x_star, Fraction(*_eta(claim)[1].as_numer_denom())
    if not all(v.key == ZERO.key for v in later.y.sum(axis=-2).flat):
        return "the constraint set"
    if not sampled_blocks.steps_as_sampled(posed, g, w, moves, p, eta):
        return "the step"
    gap, moved = gap_of(claim), problem.f.conjugate_gradient(later.y) - now
    before = scalar(gap(problem, params, state))
    if not is_gap(posed, state, before, before, before):
        return "a quantity"
    wanted = {
        _NEXT: scalar(expectation(gap(problem, params, later), p)),
        _MOVE: scalar(expectation((moved**2).sum(axis=(-1, -2)), p)),
        _GAP: before,
        _SPREAD: squares(now - now.sum(axis=-2, keepdims=True) / problem.n),
    }
    for name, form in wanted.items():
        if name in named and not (scalar(named[name].of(problem, params, state)) - form).is_zero:
            return "a quantity"
    return None if _drifts(claim, instance, named.get(_DRIFT), len(p)) else "the sum of drifts"


def _starts(claim: Claim, instance: Instance, drift: Quantity | None) -> bool:
    """Return True if the first answers are exact, and the sum is 0."""
    posed = posing.pose(claim.setting, instance)
    assert posed.instance.initial is not None
    problem, state = posed.instance.initial(_THETA)
    params = posed.instance.params
    errors = params.oracle.answer(problem.f, state.y, state.w, np.zeros(0)).w - problem.f.conjugate_gradient(state.y)
    return drift is not None and squares(errors).is_zero and scalar(drift.of(problem, params, state)).is_zero


def _drifts(claim: Claim, instance: Instance, drift: Quantity | None, count: int) -> bool:
    """Return True if in each draw the sum becomes delta (sum + |moved|^2), and the next call starts from
    this answer.
    """
    assert drift is not None
    return all(_drifts_in(claim, posing.pose(claim.setting, instance), drift, k) for k in range(count))


def _drifts_in(claim: Claim, posed: Formal, drift: Quantity, k: int) -> bool:
    problem, state = posed.instance.at(_THETA)
    params, step = posed.instance.params, claim.statement.algorithm
    draws, _ = support_of(step.draws(problem, params, state), True)
    later = step.step(problem, params, state, map_leaves(lambda a: a[None, k : k + 1], draws))
    now, then = problem.f.conjugate_gradient(state.y), problem.f.conjugate_gradient(later.y)
    w = params.oracle.answer(problem.f, state.y, state.w, np.zeros(0)).w
    errors = params.oracle.answer(problem.f, later.y, later.w, np.zeros(0)).w - then
    before, after = (scalar(drift.of(problem, params, at)) for at in (state, later))
    kept = all(a.key == b.key for a, b in zip(later.w.flat, np.broadcast_to(w, later.w.shape).flat, strict=True))
    oracle = posed.oracle
    assert oracle is not None
    started = starts_from(oracle.errors.values(), later.w - then, errors)
    return kept and started and (after - params.delta * (before + squares(then - now))).is_zero
