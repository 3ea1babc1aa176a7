"""FedADMM, what holds at every iteration, from which Theorems 4.1 and 4.2 and Corollary 4.1 are derived."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy

from fedtheory.algorithms.fedadmm import State
from fedtheory.claims import Claim
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array
from fedtheory.papers.fedadmm import iterates, transition
from fedtheory.papers.fedadmm.descent import ACCURACY, MOVED, OBJECTIVE
from fedtheory.papers.fedadmm.iterates import (
    accuracy,
    disagreement,
    downhill,
    gaps,
    lagrangian,
    models,
    multipliers,
    objective,
    residual,
    server_model,
    steepest,
)
from fedtheory.papers.fedadmm.letters import alpha_i, m, nu_i, r_i, section, sigma, sigma_i
from fedtheory.papers.fedadmm.limits import (
    gradient,
)
from fedtheory.papers.fedadmm.transition import BEGINS, CONTINUES, SMOOTH, TRANSITION
from fedtheory.problems.base import Problem
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.quantities import Difference, Image, Inner, Shared, Square, Total
from fedtheory.settings.relations import Comparison, Quantity

# Functions of the state of Algorithm 1


def values(problem: Problem, params: transition.Params, at: Any) -> Array:
    """F(W^k)."""
    return (params.alpha * problem.f.value(at.W)).sum(axis=-1)


def excess(problem: Problem, params: transition.Params, at: State) -> Array:
    """alpha_i (f_i(w_i^k) - f_i(w^{tau_k})), ``(..., m)``."""
    shared = at.w[..., None, :] + 0 * at.W
    return params.alpha * (problem.f.value(at.W) - problem.f.value(shared))


def coupling(problem: Problem, params: transition.Params, at: State) -> Array:
    """<w_i^k - w^{tau_k}, pi_i^k> + sigma_i/2 |w_i^k - w^{tau_k}|^2, ``(..., m)``."""
    gap = gaps(problem, params, at)
    return (gap * (at.Pi + params.sigma[:, None] * gap / 2)).sum(axis=-1)


def spread(problem: Problem, params: transition.Params, at: State) -> Array:
    """sigma_i |w_i^k - w^{tau_k}|^2, ``(..., m)``."""
    return params.sigma * disagreement(problem, params, at)


def sum_of_gradients(problem: Problem, params: transition.Params, at: State) -> Array:
    """The sum of the g_i."""
    return (params.alpha[:, None] * problem.f.gradient(at.W)).sum(axis=-2)


def sum_of_multipliers(problem: Problem, params: object, at: State) -> Array:
    """The sum of the multipliers."""
    return at.Pi.sum(axis=-2)


def _from_zero(problem: Problem, params: transition.Params, at: State) -> Array:
    """-alpha_i grad f_i(0)."""
    return steepest(problem, params, 0 * at.W)


def of_all(name: str, function: Any, later: bool = False) -> Quantity:
    """A function of the state of Algorithm 1, before an iteration or after it."""
    return transition.at(name, function, later)


def each(name: str, function: Any, later: bool = False) -> Quantity:
    """The same of the client i, of a function with a number for each client."""
    return transition.at(name, function, later, each=True)


SERVER_SQUARED, MODEL_SQUARED, MULTIPLIER_SQUARED = (
    of_all("|w|^2", Square(server_model)),
    each("|w_i|^2", Square(models)),
    each("|pi_i|^2", Square(multipliers)),
)
SLOPE_SQUARED, _g_0, _g_0_next = (
    each("|g_i|^2", Square(downhill)),
    each("|g_i(0)|^2", Square(_from_zero)),
    each("|g_i(0)|^2 after", Square(_from_zero), later=True),
)
RESIDUAL_SQUARED, GAP_SQUARED = each("|phi_i|^2", Square(residual)), each("|w_i-w|^2", disagreement)
_excess, _along = each("alpha_i(f_i(w_i)-f_i(w))", excess), each("-<w_i-w,g_i>", Inner(gaps, downhill))
_coupling, _product = (
    each("<w_i-w,pi_i>+sigma_i|w_i-w|^2/2", coupling),
    each("<w_i-w,pi_i>", Inner(gaps, multipliers)),
)
COUPLINGS, _excesses = of_all("sum_i coupling_i", Total(coupling)), of_all("sum_i excess_i", Total(excess))
L_MINUS_F = of_all("L^k-F(W^k)", Difference(lagrangian, values))
F_MINUS_f = of_all("F(W^k)-f(w^{tau_k})", Difference(values, objective))
LAGRANGIAN = of_all("L^k", lagrangian)
_tolerance = each("eps_i/((1-nu_i)sigma_i)", iterates.tolerance)
_spread = each("sigma_i|w_i-w|^2", spread)
_spreads_next = of_all("sum_i(sigma_i|w_i-w|^2) after", Total(spread), later=True)
MULTIPLIERS_SQUARED, _pi_next = (
    of_all(name, Square(sum_of_multipliers), late)
    for name, late in (("|sum_i pi_i|^2", False), ("|sum_i pi_i|^2 after", True))
)
GRADIENTS_SQUARED, GRADIENT_SQUARED = (
    of_all("|sum_i g_i|^2", Square(sum_of_gradients)),
    of_all("|grad f(w)|^2", Square(gradient)),
)
_turned = Square(Difference(downhill, Image(steepest, Shared(server_model))))
_turn, _turns = each("|g_i(w_i)-g_i(w)|^2", _turned), of_all("sum_i|g_i(w_i)-g_i(w)|^2", Total(_turned))
_accuracies = of_all("sum_i eps_i", Total(accuracy))

# Relations that hold at every iteration


def _part(name: str, gist: str, left: sympy.Expr, right: sympy.Expr, *parts: object) -> Claim:
    """left <= right for each iteration; ``parts``: quantities and hypotheses."""
    place = f"Theorem {name.split('/')[0].rpartition('-')[2]}"
    requires = (p for p in parts if isinstance(p, Hypothesis))
    statement = Inequality(left, right, tuple(p for p in parts if isinstance(p, Quantity)))
    return section(place, TRANSITION, *requires, id="")(name, statement, gist, origin="implied")


def _between(name: str, gist: str, low: sympy.Expr, middle: sympy.Expr, high: sympy.Expr, *parts: object) -> Claim:
    """low <= middle <= high, as two differences that are not negative: signs of the sides are not known."""
    claim = _part(name, gist, sympy.S.Zero, high - middle, *parts)
    assert isinstance(claim.statement, Inequality)
    return replace(claim, statement=replace(claim.statement, also=(Comparison(sympy.S.Zero, "<=", middle - low),)))


def _equal(name: str, gist: str, left: sympy.Expr, right: sympy.Expr, *parts: object) -> Claim:
    """left = right."""
    claim = _part(name, gist, left, right, *parts)
    return replace(claim, kind="identity", statement=Identity(left, right, claim.statement.quantities))


def _e(*quantities: Quantity) -> tuple[sympy.Expr, ...]:
    return tuple(q.expression for q in quantities)


def _parts_a() -> tuple[Claim, ...]:
    w, w_i, pi_i, g_i, phi, D_i, eps = _e(
        SERVER_SQUARED, MODEL_SQUARED, MULTIPLIER_SQUARED, SLOPE_SQUARED, RESIDUAL_SQUARED, GAP_SQUARED, ACCURACY
    )
    g_0, g_0_next = _e(_g_0, _g_0_next)
    return (
        _part(
            "theorem-4.1/a/models",
            "models by that of the server",
            w_i,
            2 * w + 2 * D_i,
            MODEL_SQUARED,
            SERVER_SQUARED,
            GAP_SQUARED,
        ),
        _part("theorem-4.1/a/origin", "the gradient at 0 stays", g_0_next, g_0, _g_0, _g_0_next),
        _part(
            "theorem-4.1/a/multipliers",
            "multipliers by models, through (37)",
            pi_i,
            3 * eps + 3 * alpha_i**2 * r_i**2 * w_i + 3 * g_0,
            *(MULTIPLIER_SQUARED, ACCURACY, MODEL_SQUARED, _g_0, SMOOTH),
        ),
        _part(
            "theorem-4.1/a/gradients",
            "gradients by multipliers",
            g_i,
            2 * eps + 2 * pi_i,
            SLOPE_SQUARED,
            ACCURACY,
            MULTIPLIER_SQUARED,
        ),
        _part("theorem-4.2/a/residual", "eq. (37) at every iteration", phi, eps, RESIDUAL_SQUARED, ACCURACY),
    )


def _parts_b() -> tuple[Claim, ...]:
    coupling, product, D_i, along, excess = _e(_coupling, _product, GAP_SQUARED, _along, _excess)
    couplings, excesses, LF, Ff, lagrange, f = _e(COUPLINGS, _excesses, L_MINUS_F, F_MINUS_f, LAGRANGIAN, OBJECTIVE)
    of_each, eps = _e(_tolerance, ACCURACY)
    bend = alpha_i * r_i / 2 * D_i
    return (
        _equal(
            "theorem-4.1/b/coupling",
            "the terms of (12) that couple the clients",
            coupling,
            product + sigma_i / 2 * D_i,
            *(_coupling, _product, GAP_SQUARED),
        ),
        _equal("theorem-4.1/b/couplings", "eq. (54)", LF, couplings, L_MINUS_F, COUPLINGS),
        _between(
            "theorem-4.1/b/excess",
            "alpha_i (f_i(w_i) - f_i(w)) from both sides, by the Lipschitz gradient",
            -along - bend,
            excess,
            -along + bend,
            *(_excess, _along, GAP_SQUARED, SMOOTH),
        ),
        _equal("theorem-4.1/b/excesses", "F - f by clients", Ff, excesses, F_MINUS_f, _excesses),
        _equal(
            "theorem-4.1/b/difference",
            "the two differences of (23)",
            lagrange - f,
            LF + Ff,
            *(LAGRANGIAN, OBJECTIVE, L_MINUS_F, F_MINUS_f),
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
    own, D_i, spreads_next, moved = _e(_spread, GAP_SQUARED, _spreads_next, MOVED)
    pi, pi_next, g, slope, accuracies = _e(
        MULTIPLIERS_SQUARED, _pi_next, GRADIENTS_SQUARED, GRADIENT_SQUARED, _accuracies
    )
    return (
        _equal("theorem-4.1/c/spread", "one client's weighted gap", own, sigma_i * D_i, _spread, GAP_SQUARED),
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
            *(_pi_next, MULTIPLIERS_SQUARED, _spreads_next, CONTINUES),
        ),
        _part(
            "theorem-4.1/c/gradients",
            "the sum of the g_i by that of the multipliers",
            g,
            2 * pi + 2 * m * accuracies,
            *(GRADIENTS_SQUARED, MULTIPLIERS_SQUARED, _accuracies),
        ),
        _part(
            "theorem-4.1/c/gradient",
            "the gradient of f by the sum of the g_i",
            slope,
            2 * g + 2 * m * turns,
            *(GRADIENT_SQUARED, GRADIENTS_SQUARED, _turns),
        ),
        _part(
            "theorem-4.1/c/turn",
            "how one gradient changes between the models of client and server",
            turn,
            alpha_i**2 * r_i**2 * D_i,
            *(_turn, GAP_SQUARED, SMOOTH),
        ),
    )


PARTS_A, PARTS_B, PARTS_C = _parts_a(), _parts_b(), _parts_c()
