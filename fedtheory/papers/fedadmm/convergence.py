"""FedADMM, Theorems 4.1 and 4.2 and Corollary 4.1: limits, derived from what holds of each iteration."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms import fedadmm
from fedtheory.claims import Claim, Hypothesis
from fedtheory.classes import SmoothStronglyConvex
from fedtheory.composed import Away, Difference, Image, Inner, Shared, Square, Total, Value
from fedtheory.instances.base import Recipe, numbers
from fedtheory.iterations import Root
from fedtheory.papers.fedadmm import transition
from fedtheory.papers.fedadmm.descent import ACCURACY, MOVED, OBJECTIVE
from fedtheory.papers.fedadmm.letters import alpha_i, m, nu_i, q, r_i, sigma, sigma_i
from fedtheory.papers.fedadmm.limits import (
    ABOVE,
    ASSUMED,
    CONVEX,
    LONG,
    SCHEME,
    START,
    STRONG,
    gradient,
    least,
    optimum,
)
from fedtheory.papers.fedadmm.transition import (
    BEGINS,
    CONTINUES,
    ITERATION,
    SMOOTH,
    STEP,
    TRANSITION,
    accuracy,
    disagreement,
    gaps,
    lagrangian,
    models,
    multipliers,
    objective,
    server_model,
    steepest,
)
from fedtheory.problems.base import Problem
from fedtheory.rational import Array
from fedtheory.selections import Fixed
from fedtheory.settings import Setting
from fedtheory.statements import Comparison, Eventually, Identity, Inequality, Limit, Quantity, Readings
from fedtheory.subproblems import Exact
from fedtheory.symbols import L, mu

# Functions of the state of Algorithm 1


def values(problem: Problem, params: Any, at: Any) -> Array:
    """F(W^k)."""
    total: Array = (params.alpha * problem.f.value(at.W)).sum(axis=-1)
    return total


def excess(problem: Problem, params: Any, at: Any) -> Array:
    """alpha_i (f_i(w_i^k) - f_i(w^{tau_k})), ``(..., m)``."""
    shared = at.w[..., None, :] + 0 * at.W
    found: Array = params.alpha * (problem.f.value(at.W) - problem.f.value(shared))
    return found


def coupling(problem: Problem, params: Any, at: Any) -> Array:
    """<w_i^k - w^{tau_k}, pi_i^k> + sigma_i/2 |w_i^k - w^{tau_k}|^2, ``(..., m)``."""
    gap = gaps(problem, params, at)
    found: Array = (gap * (at.Pi + params.sigma[:, None] * gap / 2)).sum(axis=-1)
    return found


def spread(problem: Problem, params: Any, at: Any) -> Array:
    """sigma_i |w_i^k - w^{tau_k}|^2, ``(..., m)``."""
    found: Array = params.sigma * disagreement(problem, params, at)
    return found


def sum_of_gradients(problem: Problem, params: Any, at: Any) -> Array:
    """The sum of the g_i."""
    total: Array = (params.alpha[:, None] * problem.f.gradient(at.W)).sum(axis=-2)
    return total


def sum_of_multipliers(problem: Problem, params: Any, at: Any) -> Array:
    """The sum of the multipliers."""
    total: Array = at.Pi.sum(axis=-2)
    return total


def _from_zero(problem: Problem, params: Any, at: Any) -> Array:
    """-alpha_i grad f_i(0)."""
    return steepest(problem, params, 0 * at.W)


#: -g_i, and pi_i + g_i.
_downhill = Image(steepest, models)
_residual = Difference(multipliers, _downhill)


def _of(name: str, function: Any, later: bool = False) -> Quantity:
    return transition.at(name, function, later)


def _each(name: str, function: Any, later: bool = False) -> Quantity:
    return transition.at(name, function, later, each=True)


_w, _w_i, _pi_i = (
    _of("|w|^2", Square(server_model)),
    _each("|w_i|^2", Square(models)),
    _each("|pi_i|^2", Square(multipliers)),
)
_g_i, _g_0, _g_0_next = (
    _each("|g_i|^2", Square(_downhill)),
    _each("|g_i(0)|^2", Square(_from_zero)),
    _each("|g_i(0)|^2 after", Square(_from_zero), later=True),
)
_phi, _D_i = _each("|phi_i|^2", Square(_residual)), _each("|w_i-w|^2", disagreement)
_excess, _along = _each("alpha_i(f_i(w_i)-f_i(w))", excess), _each("-<w_i-w,g_i>", Inner(gaps, _downhill))
_coupling, _product = (
    _each("<w_i-w,pi_i>+sigma_i|w_i-w|^2/2", coupling),
    _each("<w_i-w,pi_i>", Inner(gaps, multipliers)),
)
_couplings, _excesses = _of("sum_i coupling_i", Total(coupling)), _of("sum_i excess_i", Total(excess))
_LF = _of("L^k-F(W^k)", Difference(lagrangian, values))
_Ff = _of("F(W^k)-f(w^{tau_k})", Difference(values, objective))
_L = _of("L^k", lagrangian)
_tolerance = _each("eps_i/((1-nu_i)sigma_i)", transition.tolerance)
_spread = _each("sigma_i|w_i-w|^2", spread)
_spreads_next = _of("sum_i(sigma_i|w_i-w|^2) after", Total(spread), later=True)
_pi, _pi_next = (
    _of(name, Square(sum_of_multipliers), late)
    for name, late in (("|sum_i pi_i|^2", False), ("|sum_i pi_i|^2 after", True))
)
_g, _slope = _of("|sum_i g_i|^2", Square(sum_of_gradients)), _of("|grad f(w)|^2", Square(gradient))
_turned = Square(Difference(_downhill, Image(steepest, Shared(server_model))))
_turn, _turns = _each("|g_i(w_i)-g_i(w)|^2", _turned), _of("sum_i|g_i(w_i)-g_i(w)|^2", Total(_turned))
_accuracies = _of("sum_i eps_i", Total(accuracy))

# What holds at every iteration


def _part(name: str, gist: str, left: Any, right: Any, *parts: Any) -> Claim:
    """left <= right for each iteration; ``parts``: quantities and hypotheses."""
    return Claim(
        id=f"fedadmm/{name}",
        where=f"Theorem {name.split('/')[0].rpartition('-')[2]}",
        gist=gist,
        setting=TRANSITION,
        statement=Inequality(left, right, tuple(p for p in parts if isinstance(p, Quantity))),
        requires=tuple(p for p in parts if isinstance(p, Hypothesis)),
    )


def _between(name: str, gist: str, low: Any, middle: Any, high: Any, *parts: Any) -> Claim:
    """low <= middle <= high, as two differences that are not negative: signs of the sides are not known."""
    claim = _part(name, gist, sympy.S.Zero, high - middle, *parts)
    assert isinstance(claim.statement, Inequality)
    return replace(claim, statement=replace(claim.statement, also=(Comparison(sympy.S.Zero, "<=", middle - low),)))


def _equal(name: str, gist: str, left: Any, right: Any, *parts: Any) -> Claim:
    """left = right."""
    claim = _part(name, gist, left, right, *parts)
    return replace(claim, kind="identity", statement=Identity(left, right, claim.statement.quantities))  # type: ignore[union-attr]


def _e(*quantities: Quantity) -> tuple[sympy.Expr, ...]:
    return tuple(q.expression for q in quantities)


def _parts_a() -> tuple[Claim, ...]:
    w, w_i, pi_i, g_i, phi, D_i, eps = _e(_w, _w_i, _pi_i, _g_i, _phi, _D_i, ACCURACY)
    g_0, g_0_next = _e(_g_0, _g_0_next)
    return (
        _part("theorem-4.1/a/models", "models by that of the server", w_i, 2 * w + 2 * D_i, _w_i, _w, _D_i),
        _part("theorem-4.1/a/origin", "the gradient at 0 stays", g_0_next, g_0, _g_0, _g_0_next),
        _part(
            "theorem-4.1/a/multipliers",
            "multipliers by models, through (37)",
            pi_i,
            3 * eps + 3 * alpha_i**2 * r_i**2 * w_i + 3 * g_0,
            *(_pi_i, ACCURACY, _w_i, _g_0, SMOOTH),
        ),
        _part("theorem-4.1/a/gradients", "gradients by multipliers", g_i, 2 * eps + 2 * pi_i, _g_i, ACCURACY, _pi_i),
        _part("theorem-4.2/a/residual", "eq. (37) at every iteration", phi, eps, _phi, ACCURACY),
    )


def _parts_b() -> tuple[Claim, ...]:
    coupling, product, D_i, along, excess = _e(_coupling, _product, _D_i, _along, _excess)
    couplings, excesses, LF, Ff, lagrange, f = _e(_couplings, _excesses, _LF, _Ff, _L, OBJECTIVE)
    of_each, eps = _e(_tolerance, ACCURACY)
    bend = alpha_i * r_i / 2 * D_i
    return (
        _equal(
            "theorem-4.1/b/coupling",
            "the terms of (12) that couple the clients",
            coupling,
            product + sigma_i / 2 * D_i,
            *(_coupling, _product, _D_i),
        ),
        _equal("theorem-4.1/b/couplings", "eq. (54)", LF, couplings, _LF, _couplings),
        _between(
            "theorem-4.1/b/excess",
            "alpha_i (f_i(w_i) - f_i(w)) from both sides, by the Lipschitz gradient",
            -along - bend,
            excess,
            -along + bend,
            *(_excess, _along, _D_i, SMOOTH),
        ),
        _equal("theorem-4.1/b/excesses", "F - f by clients", Ff, excesses, _Ff, _excesses),
        _equal(
            "theorem-4.1/b/difference", "the two differences of (23)", lagrange - f, LF + Ff, *(_L, OBJECTIVE, _LF, _Ff)
        ),
        _equal(
            "theorem-4.1/b/tolerance",
            "one tolerance of (22)",
            (1 - nu_i) * sigma_i * of_each,
            eps,
            *(_tolerance, ACCURACY),
        ),
    )


def _parts_c() -> tuple[Claim, ...]:
    turn, turns = _e(_turn, _turns)
    own, D_i, spreads_next, moved = _e(_spread, _D_i, _spreads_next, MOVED)
    pi, pi_next, g, slope, accuracies = _e(_pi, _pi_next, _g, _slope, _accuracies)
    return (
        _equal("theorem-4.1/c/spread", "one client's weighted gap", own, sigma_i * D_i, _spread, _D_i),
        _part(
            "theorem-4.1/c/begins",
            "the sum of the multipliers in the first iteration of a round, by (36)",
            pi_next,
            2 * sigma * (spreads_next + moved),
            *(_pi_next, _spreads_next, MOVED, BEGINS),
        ),
        _part(
            "theorem-4.1/c/continues",
            "the sum of the multipliers in the other iterations",
            pi_next,
            2 * pi + 2 * sigma * spreads_next,
            *(_pi_next, _pi, _spreads_next, CONTINUES),
        ),
        _part(
            "theorem-4.1/c/gradients",
            "the sum of the g_i by that of the multipliers",
            g,
            2 * pi + 2 * m * accuracies,
            *(_g, _pi, _accuracies),
        ),
        _part(
            "theorem-4.1/c/gradient",
            "the gradient of f by the sum of the g_i",
            slope,
            2 * g + 2 * m * turns,
            *(_slope, _g, _turns),
        ),
        _part(
            "theorem-4.1/c/turn",
            "how one gradient changes between the models of client and server",
            turn,
            alpha_i**2 * r_i**2 * D_i,
            *(_turn, _D_i, SMOOTH),
        ),
    )


PARTS_A, PARTS_B, PARTS_C = _parts_a(), _parts_b(), _parts_c()

# The theorems

_THEOREM_A, _THEOREM_B, _THEOREM_C = (f"fedadmm/theorem-4.1/{part}" for part in ("a", "b", "c/repaired"))


def _root(name: str, quantity: Quantity) -> Quantity:
    return Quantity(q(name), Root(quantity.of))


def _long(**said: tuple[Quantity, ...]) -> Eventually:
    return Eventually(fedadmm.algorithm, iteration=ITERATION, **said)  # type: ignore[arg-type]


_STATE = (_root("|w^{tau_k}|", _w), _root("|w_i^k|", _w_i), _root("|pi_i^k|", _pi_i))
_STATIONARY = (
    _root("|alpha_i*grad_f_i(w_i^k)+pi_i^k|", _phi),
    _root("|w_i^k-w^{tau_k}|", _D_i),
    _root("|sum_i(pi_i^k)|", _pi),
)
_GRADIENT, _SUM = _root("|grad_f(w^{tau_k})|", _slope), _root("|sum_i(g_i^k)|", _g)
_OPTIMAL = (
    *(_of(f"{name}-f*", Away(of, least)) for name, of in (("L^k", lagrangian), ("F(W^k)", values))),
    ABOVE,
)
_TO_OPTIMUM = (
    _root("|w^{tau_k}-w*|", _of("", Square(Away(server_model, optimum)))),
    _root("|w_i^k-w*|", _each("", Square(Away(models, optimum)))),
    _root("|pi_i^k-pi_i*|", _each("", Square(Away(multipliers, Value(steepest, optimum))))),
)
_ASSUMED = (*ASSUMED, START)


# The literal reading of grad F, at a stationary point, which Algorithm 1 does not leave


def _squared_blocks(problem: Problem, params: Any, state: Any) -> Array:
    """sum_i |g_i|^2, the squared gradient of F as a function of m blocks."""
    total: Array = (steepest(problem, params, state.W) ** 2).sum(axis=(-1, -2))
    return total


def _exact_params(recipe: Recipe, problem: Problem, exact: bool) -> fedadmm.Params:
    m = problem.n
    alpha = numbers([Fraction(1, m)] * m, exact)
    half, accuracy = (numbers([v] * m, exact) for v in (Fraction(1, 2), Fraction(1)))
    return fedadmm.theory(problem, alpha, Fixed(np.ones((1, m), dtype=bool)), Exact(), 1, half, accuracy)


_QUADRATIC = Setting(
    "Algorithm 1 with full participation, exact answers and sigma_i = 3 alpha_i r_i on quadratic functions",
    letters={mu: "mu", L: "L"},
    algorithm=fedadmm.algorithm,
    functions=SmoothStronglyConvex(mu, L, quadratics=True),
    parameters=_exact_params,
    clients=(2, 3),
)
_LITERAL = Claim(
    id="fedadmm/theorem-4.1/c#blocks",
    where="Theorem 4.1",
    gist="grad F(W) has the m blocks g_i, as (11) makes F a function of m blocks",
    setting=_QUADRATIC,
    statement=Limit(
        fedadmm.algorithm, Quantity(q("|(g_1,...,g_m)|^2"), _squared_blocks), "the m blocks of grad F vanish"
    ),
)
_SUMMED = Claim(
    id="fedadmm/theorem-4.1/c#sum",
    where="Theorem 4.1",
    kind="limit",
    gist="grad F(W) is sum_i g_i, as (57) has it",
    setting=LONG,
    statement=_long(vanishing=(_SUM, _GRADIENT)),
    requires=_ASSUMED,
)

THEOREM_41 = (
    Claim(
        id=_THEOREM_A,
        where="Theorem 4.1",
        kind="property",
        gist="bounded sequences",
        setting=LONG,
        statement=_long(bounded=_STATE),
        requires=_ASSUMED,
        follows=("fedadmm/lemma-C.2/c", *(claim.id for claim in PARTS_A)),
    ),
    Claim(
        id=_THEOREM_B,
        where="Theorem 4.1",
        kind="limit",
        gist="three sequences share a limit",
        setting=LONG,
        statement=_long(vanishing=(_LF, _Ff), converging=(OBJECTIVE,)),
        requires=_ASSUMED,
        follows=(_THEOREM_A, *(claim.id for claim in PARTS_B)),
    ),
    Claim(
        id="fedadmm/theorem-4.1/c",
        where="Theorem 4.1",
        kind="limit",
        gist="gradients vanish",
        setting=LONG,
        statement=Readings(
            "grad F(W) of (24) is defined by (11), which gives F m blocks, and used as sum_i g_i by (57): "
            "the two disagree",
            (_LITERAL, _SUMMED),
        ),
    ),
    Claim(
        id=_THEOREM_C,
        where="Theorem 4.1",
        kind="limit",
        gist="sum_i alpha_i grad f_i(w_i^k) and grad f(w^{tau_k}) vanish",
        setting=LONG,
        statement=_long(vanishing=(_SUM, _GRADIENT)),
        requires=_ASSUMED,
        repairs="fedadmm/theorem-4.1/c",
        follows=("fedadmm/lemma-C.2/c", *(claim.id for claim in PARTS_C)),
    ),
    *PARTS_A,
    *PARTS_B,
    *PARTS_C,
)
THEOREM_42 = (
    Claim(
        id="fedadmm/theorem-4.2/a",
        where="Theorem 4.2",
        kind="limit",
        gist="accumulation points are stationary",
        setting=LONG,
        statement=_long(vanishing=(*_STATIONARY, _GRADIENT)),
        requires=_ASSUMED,
        reading="the residuals of (19) vanish along the whole sequence, and are continuous",
        follows=(_THEOREM_C, "fedadmm/theorem-4.2/a/residual"),
    ),
    Claim(
        id="fedadmm/theorem-4.2/b",
        where="Theorem 4.2",
        kind="limit",
        gist="isolated accumulation point: the whole sequence converges",
        setting=LONG,
        statement=Eventually(
            fedadmm.algorithm,
            converging=tuple(
                Quantity(q(name), of)
                for name, of in (("w^{tau_k}", server_model), ("W^k", models), ("Pi^k", multipliers))
            ),
        ),
        requires=ASSUMED,
        reading="the stationary points of these functions are isolated for almost all of them",
    ),
)
COROLLARY_41 = (
    Claim(
        id="fedadmm/corollary-4.1/a",
        where="Corollary 4.1",
        kind="limit",
        gist="convex f: values converge to f*",
        setting=LONG,
        statement=_long(vanishing=_OPTIMAL),
        requires=(*_ASSUMED, CONVEX),
        follows=(_THEOREM_B, _THEOREM_C),
    ),
    Claim(
        id="fedadmm/corollary-4.1/b",
        where="Corollary 4.1",
        kind="limit",
        gist="convex f: accumulation points are optimal",
        setting=LONG,
        statement=_long(vanishing=(*_STATIONARY, ABOVE)),
        requires=(*_ASSUMED, CONVEX),
        reading="a limit w with f(w) = f* is optimal, and W, Pi with the residuals of (19) zero go with it",
        follows=("fedadmm/theorem-4.2/a", "fedadmm/corollary-4.1/a"),
    ),
    Claim(
        id="fedadmm/corollary-4.1/c",
        where="Corollary 4.1",
        kind="limit",
        gist="strongly convex f: the sequence converges",
        setting=LONG,
        statement=_long(vanishing=_TO_OPTIMUM),
        requires=(SMOOTH, STEP, SCHEME, START, STRONG),
        reading="strong convexity implies Assumption 4.2; its modulus is at least 1/1000",
        follows=("fedadmm/corollary-4.1/b",),
    ),
)

__all__ = ["COROLLARY_41", "THEOREM_41", "THEOREM_42"]
