"""Proofs of what a step on tau random blocks does with inexact oracles, for all parameters, every n and T.

Everything is shown for one client and summed over the clients. g is its gradient minus w*, e the error of its answer in
this round, m what its gradient moves by in the step, and p the error of its next answer; a is the answer minus w* and b
the next gradient minus w*. The next call starts from this answer, so that its guess is off by e - m = a - b. D is the
squared error of the guess in this round, z is y_i - y_i^*, and v the value of f_i^* minus its tangent at y_i^*.

What bounds a state by sums over the rounds before it is its own induction hypothesis. A rate is shown, for functions
alpha-strongly convex and beta-smooth, through V = gap + A D with A = 3 alpha/16, from E |e|^2 <= delta/2 D and
E D(next) <= 2 |e|^2 + 2 E |m|^2. With P the projection that subtracts the mean over the clients, r = (tau - 1)/(N - 1)
and eta = 1/4, the sampling lemma gives

    E gap(next) <= gap - r alpha/4 <g, P (g + e)> + r alpha/32 |P (g + e)|^2,    E |m|^2 <= r/16 |P (g + e)|^2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from fedtheory.randomness import map_leaves, support_of
from fedtheory.settings.relations import Quantity
from verify.base.case import Case
from verify.base.evaluate import rollout
from verify.pep import posing
from verify.pep.gram import (
    OPTIMUM,
    ZERO,
    Form,
    Sample,
    Vector,
    interpolation,
    row,
    scalar,
    smoothness,
    strong_convexity,
    value,
)
from verify.pep.interpolation import Formal
from verify.proofs import identity
from verify.proofs.identity import GapInequality, IdentityWeights, Unprovable, by_role, role
from verify.step_models import sampled_blocks
from verify.step_models.sampled_blocks import coefficients, require_at_least, require_nonnegative, squares

Gap = Callable[[Any, Any, Any], Any]

#: Bounds of a distance from y = 0: |y*|^2, and the largest |y_i*|^2 of a client.
OF_OPTIMUM = ("dual norm", "heterogeneity")

_THETA = np.zeros((1, 0))
_e, _m, _p, _a, _b = (row(name) for name in "empab")
_z, _Pg, _Pe, _g_mean, _e_mean = (row(name) for name in ("z", "Pg", "Pe", "mean g", "mean e"))
_g = _Pg + _g_mean
_v, _D = value("v"), value("D")
#: r = (tau - 1)/(N - 1), and by how much the factor, delta and 1 exceed what they must.
_r, _s_F, _s_D, _s_r = sympy.symbols("r s_F s_D s_r", nonnegative=True, cls=sympy.Dummy)

instances, larger, special = sampled_blocks.instances, sampled_blocks.larger, sampled_blocks.special

_VECTORS = {
    **{"e": _e, "m": _m, "p": _p, "a": _a, "b": _b},
    **{"z": _z, "g": _g, "Pg": _Pg, "Pe": _Pe, "mean e": _e_mean},
}
_LETTERS = {"r": _r, "s_F": _s_F, "s_D": _s_D, "s_r": _s_r}


def pose(claim: Claim) -> Iterator[tuple[GapInequality, IdentityWeights]]:
    """Yield the inequalities to be shown for one client, with their proofs. Raise ``Unprovable`` for claims of other
    forms.
    """
    s = identity.identities_of(claim).letters
    if (bound := claim.statement.geometric) is not None:
        yield from _theorem(claim, bound, s)
    else:
        yield from _lemma(claim, s)


def _lemma(claim: Claim, s: Mapping[str, sympy.Expr]) -> Iterator[tuple[GapInequality, IdentityWeights]]:
    statement, right = _sides(claim)
    delta, alpha, N = s["delta"], s["mu"], s["n"]
    # The sums are nonnegative, so that a larger multiple of one is a weaker claim.
    if set(right) == {"drift"}:
        require_nonnegative(claim, right["drift"] - 1)
        yield next_error(claim)
    elif set(right) == {"gaps"}:
        require_nonnegative(claim, right["gaps"] - 8 / (N * alpha))
        smooth = interpolation(Sample(ZERO, _b, _v), OPTIMUM, sympy.S.Zero, 1 / alpha)
        known = {"smooth below": smooth, "oracle": _p**2 - delta / 2 * (_a - _b) ** 2}
        whole = 8 / alpha * (1 + delta)
        gap = delta * _a**2 + whole * _v - (_b + _p) ** 2
        yield GapInequality("next distance", gap, known), _stated(claim, "next distance")
        first = GapInequality("first distance", 8 / alpha * _v - _b**2, {"smooth below": smooth})
        yield first, _stated(claim, first.name)
    else:
        raise Unprovable(f"{claim.id} bounds {statement.left} by {', '.join(right)}")


def next_error(claim: Claim) -> tuple[GapInequality, IdentityWeights]:
    """|p|^2 <= delta (|e|^2 + |m|^2), by which the squared errors are at most the sum of drifts."""
    delta = identity.identities_of(claim).letters["delta"]
    gap = delta * _e**2 + delta * _m**2 - _p**2
    known = {"oracle": _p**2 - delta / 2 * (_e - _m) ** 2}
    return GapInequality("next error", gap, known), _stated(claim, "next error")


def _theorem(
    claim: Claim, statement: Bound, s: Mapping[str, sympy.Expr]
) -> Iterator[tuple[GapInequality, IdentityWeights]]:
    """E V(next) <= F V, left <= c V and gap <= c' initial at the start, with c c' at most the constant."""
    delta, alpha, beta, N, tau = (s[name] for name in ("delta", "mu", "L", "n", "tau"))
    if statement.factor.has(T) or statement.constant.has(T) or not sampled_blocks.sampling_lemma():
        raise Unprovable(f"the bound of {claim.id} is not a constant times factor^T times the initial value")
    r, kappa = (tau - 1) / (N - 1), _r * alpha / (32 * beta)
    A = 3 * alpha / 16
    require_nonnegative(claim, r)
    require_nonnegative(claim, 1 - r)
    require_at_least(claim, statement.factor, (1 - kappa).subs(_r, r))
    known = {
        "strong convexity": strong_convexity(OPTIMUM, Sample(_z, _g, _v), 1 / beta),
        "least at the optimum": -_v,
        # Sums over the clients that vanish: of z, of what P leaves of g and e, and of their products with the means.
        "sum zero": _g_mean * _z,
        "means": -_g_mean * (_Pg + _Pe),
        "mean error": -_e_mean * _Pe,
        "oracle": (_Pe + _e_mean) ** 2 - delta / 2 * _D,
        "square": -_D,
    }
    moved = (_Pg + _Pe) ** 2
    after = _v - _r * alpha / 4 * (_g * (_Pg + _Pe)) + _r * alpha / 32 * moved
    error_after = 2 * (_Pe + _e_mean) ** 2 + _r / 8 * moved
    gap = (1 - kappa + _s_F) * (_v + A * _D) - after - A * error_after
    # 1 - kappa >= 2 delta is a hypothesis: instances that break it must not meet the claim's.
    slack = {_s_F: statement.factor - 1 + kappa, _s_D: 1 - kappa - 2 * delta, _s_r: 1 - _r}
    slack = {_r: r} | {symbol: expression.subs(_r, r) for symbol, expression in slack.items()}
    yield GapInequality("contraction", gap, known, slack), _stated(claim, "contraction")
    yield from _constant(claim, statement, s)


def _stated(claim: Claim, name: str) -> IdentityWeights:
    return identity.stated(claim, name, _LETTERS, _VECTORS)


def _constant(
    claim: Claim, statement: Bound, s: Mapping[str, sympy.Expr]
) -> Iterator[tuple[GapInequality, IdentityWeights]]:
    """left <= c V and, from y = 0, gap <= |y*|^2/(2 alpha) with |y*|^2 <= N zeta^2."""
    delta, alpha, N = (s[name] for name in ("delta", "mu", "n"))
    sides = (role(claim, statement.left), role(claim, statement.initial))
    if sides == ("gap", "first gap"):
        require_nonnegative(claim, statement.constant - 1)
        return
    if sides[0] != "distance" or sides[1] not in OF_OPTIMUM:
        raise Unprovable(f"{claim.id} bounds {statement.left} through {statement.initial}")
    least = sympy.Rational(20, 3) / alpha**2 / (N if sides[1] == "dual norm" else 1)
    require_nonnegative(claim, statement.constant - least)
    smooth = interpolation(Sample(ZERO, _g, _v), OPTIMUM, sympy.S.Zero, 1 / alpha)
    known = {
        "smooth below": smooth,
        "least at the optimum": -_v,
        "oracle": _e**2 - delta / 2 * _D,
        "square": -_D,
    }
    c = sympy.Rational(40, 3) / alpha
    gap = c * (_v + 3 * alpha / 16 * _D) - (_g + _e) ** 2
    slack = {_s_D: sympy.Rational(1, 2) - delta}
    yield GapInequality("primal distance", gap, known, slack), _stated(claim, "primal distance")
    above = {"smooth above": smoothness(Sample(_z, _g, _v), OPTIMUM, 1 / alpha)}
    yield GapInequality("start", _z**2 / (2 * alpha) - _v, above), _stated(claim, "start")


def _sides(claim: Claim) -> tuple[Bound, dict[str, sympy.Expr]]:
    """The statement, and the coefficients of its right side; all must involve the state after T rounds."""
    statement = claim.statement
    if not isinstance(statement, Bound) or statement.override is None:
        raise Unprovable(f"{claim.id} is not a bound given as a whole")
    if not all(q.after for q in statement.quantities) or statement.left not in {
        q.expression for q in statement.quantities
    }:
        raise Unprovable(f"{claim.id} is not about the state after T rounds alone")
    return statement, coefficients(claim, statement.override)


def constants(instance: Instance) -> dict[str, Any]:
    """The constants of the model, by the names of its letters."""
    problem, params = instance.problem, instance.params
    found = {"n": problem.n, "tau": params.tau, "mu": problem.mu, "L": problem.L}
    return {**found, "delta": params.delta} if hasattr(params, "delta") else found


def outside(claim: Claim, instance: Instance) -> Iterator[tuple[str, Instance]]:
    """The instance with one assumption of the proof broken at a time."""
    problem, params = instance.problem, instance.params
    whole = claim.statement.geometric is not None
    # With exact oracles and this delta no other hypothesis than the one meant is broken.
    exact = params._replace(oracle=worst_case(Fraction(0)), delta=Fraction(1, 3))
    for factor in sampled_blocks.BROKEN:
        # The square of what the oracle shrinks errors by: less than 1, and more than the claim allows.
        allowed = params.delta / 2
        if allowed < 1:
            worse = Fraction(math.sqrt(min(allowed * factor, (1 + allowed) / 2)))
            yield "delta/2-inexact oracles", replace(instance, params=params._replace(oracle=worst_case(worse)))
    if whole or "gaps" in _sides(claim)[1]:
        for name, other in sampled_blocks.redeclared(replace(instance, params=exact)):
            if whole or name == "strong convexity":
                yield name, other
    if whole:
        kappa = inexact_feddcd.kappa(problem, params.tau)
        for factor in sampled_blocks.BROKEN:
            large = min((1 - kappa) / 2 * factor, Fraction(999, 1000))
            yield "delta <= (1 - kappa)/2", replace(instance, params=params._replace(delta=large))
        for Lambda in sampled_blocks.off(params.Lambda):
            yield "Lambda = I/alpha", replace(instance, params=params._replace(Lambda=Lambda))
        for eta in sampled_blocks.off(params.eta):
            yield "eta = 1/4", replace(instance, params=params._replace(eta=eta))
        yield "tau >= 2", replace(instance, params=exact._replace(tau=1))


def differs(claim: Claim, instance: Instance) -> str | None:
    """The name of something that is not, on formal vectors, what the proof takes it for; None if all agrees."""
    if (bound := claim.statement.geometric) is not None:
        return _theorem_differs(claim, bound, instance)
    (statement, right), named = _sides(claim), by_role(claim)
    left, (other,) = named[role(claim, statement.left)], [named[name] for name in right]
    drifts = "drift" in right
    start = posing.pose(claim.setting, instance)
    assert start.instance.initial is not None
    problem, state = start.instance.initial(_THETA)
    gap = gap_of(claim)
    if not _starts(left, other, None if drifts else gap, start, problem, state):
        return "the start"
    _, p = support_of(statement.algorithm.draws(problem, start.instance.params, state), True)
    for k in range(len(p)):
        posed = posing.pose(claim.setting, instance)
        problem, state = posed.instance.at(_THETA)
        draws, _ = support_of(statement.algorithm.draws(problem, posed.instance.params, state), True)
        one = map_leaves(lambda a, k=k: a[None, k : k + 1], draws)
        later = statement.algorithm.step(problem, posed.instance.params, state, one)
        if not _steps(left, other, None if drifts else gap, posed, state, later):
            return "the step"
    return None


def _theorem_differs(claim: Claim, statement: Bound, instance: Instance) -> str | None:
    named = {q.expression: q for q in statement.quantities}
    left, initial = named[statement.left], named[statement.initial]
    of_gap = role(claim, statement.left) == "gap"
    posed = posing.pose(claim.setting, instance)
    problem, params = posed.instance.problem, posed.instance.params
    if params.oracle.delta != params.delta / 2 or not left.after or initial.after:
        return "the oracle"
    _, state = posed.instance.at(_THETA)
    g = problem.f.conjugate_gradient(state.y) - problem.x_star
    later, p = rollout(Case.of(claim, posed.instance), problem, state, 1)
    if not all(v.key == ZERO.key for v in later.y.sum(axis=-2).flat):
        return "the constraint set"
    # In every draw the next guess is this round's answer.
    w = params.oracle.answer(problem.f, state.y, state.w, np.zeros(0)).w
    errors = w - g - problem.x_star
    assert posed.oracle is not None
    if not starts_from(posed.oracle.errors.values(), state.w - g - problem.x_star, errors):
        return "the oracle's calls"
    if any(a.key != b.key for a, b in zip(later.w.flat, np.broadcast_to(w, later.w.shape).flat, strict=True)):
        return "the guesses"
    if not sampled_blocks.steps_as_sampled(posed, g, w, later.y - state.y, p, Fraction(1, 4)):
        return "the step"
    found, gap = scalar(left.of(problem, params, state)), scalar(gap_of(claim)(problem, params, state))
    wanted = gap if of_gap else squares(g + errors) / problem.n
    same = (found - wanted).is_zero and is_gap(posed, state, gap, gap, gap)
    return None if same and starts_well(claim, instance, left, initial) else "a quantity"


def starts_well(claim: Claim, instance: Instance, left: Quantity, initial: Quantity) -> bool:
    """y = 0 and exact guesses at the start, and the initial value as declared: that of the left side, |y*|^2, or at
    least the mean of the |y_i*|^2 over the clients.
    """
    declared = role(claim, initial.expression)
    if (left.of is initial.of) != (declared == "first gap"):
        return False
    posed = posing.pose(claim.setting, instance)
    assert posed.instance.initial is not None
    problem, state = posed.instance.initial(_THETA)
    exact = problem.f.conjugate_gradient(state.y)
    if any(a.key != b.key for a, b in zip(state.w.flat, exact.flat, strict=True)) or any(
        y.coefficients for y in state.y.flat
    ):
        return False
    if declared == "first gap":
        return True
    if declared == "dual norm":
        return bool((scalar(initial.of(problem, posed.instance.params, state)) - squares(problem.y_star)).is_zero)
    # A maximum over the clients is not a form: here its value on the instance itself.
    given, start = instance.at(np.zeros((1, instance.dimension), dtype=int))
    largest = initial.of(given, instance.params, start)
    return bool(np.all(largest * given.n >= (given.y_star**2).sum(axis=(-1, -2))))


def _starts(left: Quantity, other: Quantity, gap_at: Gap | None, posed: Formal, problem: Any, state: Any) -> bool:
    """The first answers are exact; a sum of drifts starts with 0, and one of gaps with the gap, ``gap_at``."""
    params = posed.instance.params
    exact = problem.f.conjugate_gradient(state.y)
    before, after = (scalar(q.of(problem, params, state)) for q in (left, other))
    if gap_at is None:
        return before.is_zero and after.is_zero
    gap = scalar(gap_at(problem, params, state))
    return (before - squares(exact - problem.x_star) / problem.n).is_zero and is_gap(posed, state, after, gap, gap)


def _steps(left: Quantity, other: Quantity, gap_at: Gap | None, posed: Formal, state: Any, later: Any) -> bool:
    """One step with one draw does to both sides what the proof says, and the next call starts from this answer.

    ``gap_at``: the gap, for a sum of gaps; None for a sum of drifts.
    """
    problem, params = posed.instance.problem, posed.instance.params
    delta, gradient = params.delta, problem.f.conjugate_gradient
    answer, now, then = later.w, gradient(state.y), gradient(later.y)
    old, new = scalar(left.of(problem, params, state)), scalar(left.of(problem, params, later))
    before, after = scalar(other.of(problem, params, state)), scalar(other.of(problem, params, later))
    oracle = posed.oracle
    assert oracle is not None
    if not all(v.key == ZERO.key for v in later.y.sum(axis=-2).flat) or oracle.delta != delta / 2:
        return False
    errors = params.oracle.answer(problem.f, later.y, answer, np.zeros(0)).w - then
    if not starts_from(oracle.errors.values(), answer - then, errors):
        return False
    if gap_at is None:
        shown = (old - squares(answer - now), new - squares(errors), after - delta * (before + squares(then - now)))
        return all(form.is_zero for form in shown)
    gap = scalar(gap_at(problem, params, later))
    distances = [squares(w - problem.x_star) / problem.n for w in (answer, then + errors)]
    same = (old - distances[0]).is_zero and (new - distances[1]).is_zero
    return same and is_gap(posed, later, after - delta * before, (1 + delta) * gap, gap)


def gap_of(claim: Claim) -> Gap:
    """The value above the least one, as the setting states it. Raise ``Unprovable`` if it does not."""
    gap = identity.identities_of(claim).quantities.get("gap")
    if gap is None:
        raise Unprovable(f"the setting of {claim.id} does not say what the gap is")
    return gap.of


def is_gap(posed: Formal, state: Any, found: Form, wanted: Form, gap: Form) -> bool:
    """Return True if a form is the wanted multiple of the gap, and the gap is the sum of the values less their
    tangents.
    """
    (record,) = posed.records
    points = [y - origin for y, origin in zip(state.y.flat, record.origin.flat, strict=True)]
    total = Form({}, {}, 0)
    for point, known in zip(points, record.asked, strict=True):
        total = total + known[point.key].value
    return bool((found - wanted).is_zero and (gap - total).is_zero)


def starts_from(calls: Iterable[tuple[int, Vector, Vector]], guesses: Array, errors: Array) -> bool:
    """Return True if each error belongs to a call whose initial guess is off by the given vector."""
    known = {(i, guess.key, error.key) for i, guess, error in calls}
    pairs = zip(guesses.flat, errors.flat, strict=True)
    return all((i, guess.key, error.key) in known for i, (guess, error) in enumerate(pairs))
