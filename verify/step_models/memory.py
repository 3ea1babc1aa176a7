"""Proofs of what a step on tau random blocks does with inexact oracles of which the idle keep their answers.

Everything is shown for one client and summed over the clients. g is its gradient minus w*, h the error of the answer
that it holds and e that of the answer that it gives if it is called; z is y_i - y_i^*, and v the value of f_i^* minus
its tangent at y_i^*. An idle client keeps y_i and its answer, so that its error stays h; a participant starts its next
call from e - m, where m is what its gradient moves by. With P the projection that subtracts the mean over the clients,
r = (tau - 1)/(N - 1), q = tau/N >= r and eta = 1/4, the sampling lemma gives

    E gap(next) <= gap - r alpha/4 <g, P (g + e)> + r alpha/32 |P (g + e)|^2,    E |m|^2 <= r/16 |P (g + e)|^2,

so that E |h(next)|^2 <= (1 - q) |h|^2 + 2 q |e|^2 + r/8 |P (g + e)|^2, where |e|^2 <= (1 - kappa)/4 |h|^2. Shown is
that gap + A |h|^2 with A = 3 alpha/16 contracts by 1 - 8 kappa = 1 - r alpha/(4 beta). Where the first guesses are
exact that is the gap at the start, and at most |y*|^2/(2 alpha) from y = 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms import inexact_feddcd
from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.kinds.bound import Bound
from fedtheory.numbers.rational import Array
from fedtheory.numbers.symbols import T
from fedtheory.problems.oracles import worst_case
from fedtheory.randomness import expectation, support_of
from verify.base.case import Case
from verify.base.evaluate import rollout
from verify.pep import posing
from verify.pep.gram import OPTIMUM, ZERO, Sample, interpolation, row, scalar, smoothness, strong_convexity, value
from verify.proofs import identity
from verify.proofs.identity import GapInequality, IdentityWeights, Unprovable, role
from verify.step_models import sampled_blocks
from verify.step_models.inexact_blocks import OF_OPTIMUM, constants, gap_of, is_gap, starts_from, starts_well
from verify.step_models.sampled_blocks import require_at_least, require_nonnegative, squares

_THETA = np.zeros((1, 0))
_z, _Pg, _Pe, _g_mean, _e_mean, _h = (row(name) for name in ("z", "Pg", "Pe", "mean g", "mean e", "h"))
_g, _e = _Pg + _g_mean, _Pe + _e_mean
_v = value("v")
#: r and q; by how much the factor exceeds what it must; q - r, 1 - q and 1 - alpha/beta.
_r, _q, _s_F, _s_q, _s_1, _s_x = sympy.symbols("r q s_F s_q s_1 s_x", nonnegative=True, cls=sympy.Dummy)

__all__ = ["constants", "differs", "instances", "larger", "outside", "pose", "special"]

instances, larger, special = sampled_blocks.instances, sampled_blocks.larger, sampled_blocks.special

_VECTORS = {"z": _z, "g": _g, "e": _e, "h": _h, "Pg": _Pg, "Pe": _Pe, "mean e": _e_mean}
_LETTERS = {"r": _r, "q": _q, "s_F": _s_F, "s_q": _s_q, "s_1": _s_1, "s_x": _s_x}


def pose(claim: Claim) -> Iterator[tuple[GapInequality, IdentityWeights]]:
    """Yield the inequalities to be shown for one client, with their proofs. Raise ``Unprovable`` for claims of other
    forms.
    """
    statement = claim.statement.geometric
    if statement is None:
        raise Unprovable(f"{claim.id} is not a bound with a factor")
    if statement.factor.has(T) or statement.constant.has(T) or not sampled_blocks.sampling_lemma():
        raise Unprovable(f"the bound of {claim.id} is not a constant times factor^T times the initial value")
    yield _contraction(claim, statement)
    yield from _left(claim, statement)


def _contraction(claim: Claim, statement: Bound) -> tuple[GapInequality, IdentityWeights]:
    """F V - E V(next) >= 0."""
    alpha, beta, N, tau = _letters(claim)
    r, share, A = (tau - 1) / (N - 1), _r + _s_q, 3 * alpha / 16
    theta, kappa = _r * alpha / (4 * beta), _r * alpha / (32 * beta)
    require_nonnegative(claim, r)
    require_nonnegative(claim, (N - tau) / (N * (N - 1)))
    require_nonnegative(claim, 1 - alpha / beta)
    require_at_least(claim, statement.factor, 1 - r * alpha / (4 * beta))
    known = {
        "strong convexity": strong_convexity(OPTIMUM, Sample(_z, _g, _v), 1 / beta),
        "least at the optimum": -_v,
        # Sums over the clients that vanish: of z, of what P leaves of g and e, and of their products with the means.
        "sum zero": _g_mean * _z,
        "means": -_g_mean * (_Pg + _Pe),
        "mean error": -_e_mean * _Pe,
        "oracle": _e**2 - (1 - kappa) / 4 * _h**2,
    }
    moved = (_Pg + _Pe) ** 2
    after = _v - _r * alpha / 4 * (_g * (_Pg + _Pe)) + _r * alpha / 32 * moved
    error_after = (1 - share) * _h**2 + 2 * share * _e**2 + _r / 8 * moved
    gap = (1 - theta + _s_F) * (_v + A * _h**2) - after - A * error_after
    slack = {
        _s_F: statement.factor - 1 + r * alpha / (4 * beta),
        _s_q: tau / N - r,
        _s_x: 1 - alpha / beta,
        _r: r,
    }
    return GapInequality("contraction", gap, known, slack), identity.stated(claim, "contraction", _LETTERS, _VECTORS)


def _letters(claim: Claim) -> tuple[sympy.Expr, ...]:
    """alpha, beta, N and tau."""
    letters = identity.identities_of(claim).letters
    return tuple(letters[name] for name in ("mu", "L", "n", "tau"))


def _left(claim: Claim, statement: Bound) -> Iterator[tuple[GapInequality, IdentityWeights]]:
    """left <= constant V, where V is at most a square at the start if the bound is through it."""
    left, initial, (alpha, _, N, tau) = role(claim, statement.left), role(claim, statement.initial), _letters(claim)
    if left == "gap" and initial in ("potential", "first gap"):
        require_nonnegative(claim, statement.constant - 1)
        return
    if left != "distance" or initial not in ("potential", *OF_OPTIMUM):
        raise Unprovable(f"{claim.id} bounds {statement.left} through {statement.initial}")
    require_nonnegative(claim, N - tau)
    c = sympy.Rational(32, 3) / alpha
    # |y*|^2 is at most N zeta^2.
    above = {"potential": 1 / N, "dual norm": 1 / (2 * alpha * N), "heterogeneity": 1 / (2 * alpha)}
    require_nonnegative(claim, statement.constant - c * above[initial])
    known = {
        "smooth below": interpolation(Sample(ZERO, _g, _v), OPTIMUM, sympy.S.Zero, 1 / alpha),
        "least at the optimum": -_v,
        "oracle": _e**2 - _h**2 / 4,
    }
    gap = c * (_v + 3 * alpha / 16 * _h**2) - _q * (_g + _e) ** 2 - _s_1 * (_g + _h) ** 2
    posed = GapInequality("primal distance", gap, known, {_s_1: 1 - tau / N, _q: tau / N})
    yield posed, identity.stated(claim, posed.name, _LETTERS, _VECTORS)
    if initial in OF_OPTIMUM:
        smooth = {"smooth above": smoothness(Sample(_z, _g, _v), OPTIMUM, 1 / alpha)}
        first = GapInequality("start", _z**2 / (2 * alpha) - _v, smooth)
        yield first, identity.stated(claim, first.name, _LETTERS, _VECTORS)


def _allowed(instance: Instance) -> Any:
    """(1 - kappa)/4, by how much the oracles shrink squared errors at least."""
    return (1 - inexact_feddcd.kappa(instance.problem, instance.params.tau)) / 4


def outside(claim: Claim, instance: Instance) -> Iterator[tuple[str, Instance]]:
    """The instance with one assumption of the proof broken at a time."""
    params = instance.params
    # With exact oracles no other hypothesis than the one meant is broken.
    exact = params._replace(oracle=worst_case(Fraction(0)))
    for factor in sampled_blocks.BROKEN:
        worse = Fraction(math.sqrt(min(_allowed(instance) * factor, Fraction(999, 1000))))
        yield "(1 - kappa)/4-inexact oracles", replace(instance, params=params._replace(oracle=worst_case(worse)))
    yield from sampled_blocks.redeclared(replace(instance, params=exact))
    for Lambda in sampled_blocks.off(params.Lambda):
        yield "Lambda = I/alpha", replace(instance, params=params._replace(Lambda=Lambda))
    for eta in sampled_blocks.off(params.eta):
        yield "eta = 1/4", replace(instance, params=params._replace(eta=eta))
    yield "tau >= 2", replace(instance, params=exact._replace(tau=1))


def differs(claim: Claim, instance: Instance) -> str | None:
    """The name of something that is not, on formal vectors, what the proof takes it for; None if all agrees."""
    statement = claim.statement.geometric
    named = {q.expression: q for q in statement.quantities}
    left, initial = named[statement.left], named[statement.initial]
    posed = posing.pose(claim.setting, instance)
    problem, params = posed.instance.problem, posed.instance.params
    if params.oracle.delta != _allowed(posed.instance) or not left.after or initial.after:
        return "the oracle"
    _, state = posed.instance.at(_THETA)
    g = problem.f.conjugate_gradient(state.y) - problem.x_star
    held = state.w - g - problem.x_star
    w = params.oracle.answer(problem.f, state.y, state.w, np.zeros(0)).w
    errors = w - g - problem.x_star
    assert posed.oracle is not None
    if not starts_from(posed.oracle.errors.values(), held, errors):
        return "the oracle's calls"
    later, p = rollout(Case.of(claim, posed.instance), problem, state, 1)
    if not all(v.key == ZERO.key for v in later.y.sum(axis=-2).flat):
        return "the constraint set"
    draws, _ = support_of(statement.algorithm.draws(problem, params, state), True)
    if not _remembers(draws.clients, p, params.tau, state, w, later):
        return "the memory"
    if not sampled_blocks.steps_as_sampled(posed, g, w, later.y - state.y, p, Fraction(1, 4)):
        return "the step"
    gap = scalar(gap_of(claim)(problem, params, state))
    potential = gap + Fraction(3, 16) * problem.mu * squares(held)
    share = Fraction(params.tau, problem.n)
    distance = (share * squares(g + errors) + (1 - share) * squares(g + held)) / problem.n
    wanted = gap if role(claim, left.expression) == "gap" else distance
    found = scalar(left.of(problem, params, state))
    if not (found - wanted).is_zero or not is_gap(posed, state, gap, gap, gap):
        return "a quantity"
    if role(claim, initial.expression) == "potential":
        before = scalar(initial.of(problem, params, state))
        return None if (before - potential).is_zero else "a quantity"
    return None if starts_well(claim, instance, left, initial) else "the start"


def _remembers(clients: Array, p: Array, tau: int, state: Any, w: Array, later: Any) -> bool:
    """Return True if each client takes part with probability tau/N and then stores its answer, and otherwise keeps its
    own.
    """
    n = clients.shape[-1]
    if any(expectation(clients[None, :, i].astype(object), p)[0] != Fraction(tau, n) for i in range(n)):
        return False
    sampled = clients[None, :, :, None]
    held = np.where(sampled, w, state.w)
    kept = np.where(sampled, later.y, state.y)
    pairs = ((later.w, held), (later.y, kept))
    return all(
        a.key == b.key
        for one, other in pairs
        for a, b in zip(one.flat, np.broadcast_to(other, one.shape).flat, strict=True)
    )
