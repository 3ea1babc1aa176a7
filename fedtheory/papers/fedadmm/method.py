"""FedADMM, Section 3 with its closed forms and local invariance; Definition 4.1."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import exact_admm
from fedtheory.instances import Instance, Instances, Recipe, check_shape, numbers, pick, small
from fedtheory.kinds.identity import Identity, identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.learning.subproblems import InnerSteps, Task
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedadmm import transition
from fedtheory.papers.fedadmm.letters import parts, section
from fedtheory.papers.fedadmm.transition import IDLE, TRANSITION
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import diagonal
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.relations import Comparison, Quantity

# Any point of the server and the clients, with quadratic functions: one gradient or root of each is asked


class Penalties(NamedTuple):
    """``alpha``, ``sigma``, ``r (m,)``: weights, penalties, Lipschitz constants."""

    alpha: Array
    sigma: Array
    r: Array


class Variables(NamedTuple):
    """``w (..., 1)``; ``W``, ``Pi``, ``U (..., m, 1)``: U are more points of the clients."""

    w: Array
    W: Array
    Pi: Array
    U: Array


def _recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        positive = tuple(Fraction(v) for v in (1, 2, "1/2", 3, 5))
        clients = tuple(
            {
                "weight": pick(rng, positive),
                "h": pick(rng, positive),
                "c": small(rng, 1)[0],
                "sigma": pick(rng, positive),
                "declared": pick(rng, (Fraction(1), Fraction(2))),
            }
            for _ in range(int(pick(rng, (1, 2, 3))))
        )
        yield {"clients": clients}


def _build(recipe: Recipe, exact: bool, agreed: bool = False) -> Instance:
    clients = recipe["clients"]
    if not clients:
        raise ValueError("there must be at least one client")
    check_shape(1, *(c[name] for c in clients for name in ("weight", "h", "sigma", "declared")))
    weight, h, c, sigma, declared = (
        numbers([client[name] for client in clients], exact) for name in ("weight", "h", "c", "sigma", "declared")
    )
    problem = Problem(diagonal(h[:, None], c[:, None]))
    params = Penalties(weight / weight.sum(), sigma, declared * h)
    size = len(clients)

    def at(theta: Array) -> tuple[Problem, Variables]:
        w, rest = theta[:, None, :1], theta[:, None, 1:, None]
        W = w[..., None, :] + 0 * rest if agreed else rest[..., :size, :]
        return problem, Variables(w, W, rest[..., -size:, :], W if agreed else rest[..., size : 2 * size, :])

    text = "; ".join(", ".join(f"{name}={client[name]}" for name in client) for client in clients)
    return Instance(problem, params, 1 + size * (1 if agreed else 3), at, text=f"m={size}: {text}")


least_alpha = sympy.Symbol("min(alpha)", positive=True)

#: The least of the clients' weights, penalties and Lipschitz constants.
LEAST = {
    least_alpha: lambda problem, params: min(params.alpha),
    sympy.Symbol("min(sigma)", positive=True): lambda problem, params: min(params.sigma),
    sympy.Symbol("min(r)", positive=True): lambda problem, params: min(params.r),
}

POINTS = Setting(
    "any w, w_i, v_i^l and pi_i, one coordinate of each; the functions, of which one gradient or proximal point is "
    "asked, are quadratic",
    letters=LEAST,
    drawing=Drawing(special=Instances(_recipes, _build)),
    hints=Hints(complete=True),
)

AGREED = Setting(
    "any w = w_1 = ... = w_m and pi_i, one coordinate of each; the functions, of which the gradients at w are asked, "
    "are quadratic",
    drawing=Drawing(special=Instances(_recipes, partial(_build, agreed=True))),
    hints=Hints(complete=True),
)


def _augmented(params: Penalties, w: Array, state: Variables) -> Array:
    """The terms of the augmented Lagrangian that depend on w."""
    gap = state.W - w[..., None, :]
    return ((gap * state.Pi).sum(axis=-1) + params.sigma * square(gap) / 2).sum(axis=-1)


def _at_any(problem: Problem, params: Penalties, state: Variables) -> Array:
    return _augmented(params, state.w, state)


def _at_closed_form(problem: Problem, params: Penalties, state: Variables) -> Array:
    """The value at the w of the step of exact ADMM, and what is added on the way to any w."""
    admm = exact_admm.Params(params.alpha, params.sigma)
    w = exact_admm.step(problem, admm, exact_admm.State(*state[:3]), np.zeros(()))[0]
    return _augmented(params, w, state) + params.sigma.sum() * square(state.w - w) / 2


def _task(params: Penalties, state: Variables) -> Task:
    everyone = np.ones(len(params.alpha), dtype=bool)
    return Task(state.w, state.Pi, 0 * params.sigma, everyone, params.alpha, params.sigma)


def _inner_steps(problem: Problem, params: Penalties, state: Variables, steps: int) -> Array:
    """v^steps, by the algorithm."""
    return InnerSteps(params.r, steps=steps).answer(problem, _task(params, state), None, 0).w


def _two_inner_steps(problem: Problem, params: Penalties, state: Variables) -> Array:
    """v^2, by the algorithm."""
    return _inner_steps(problem, params, state, 2)


def _second_line(problem: Problem, params: Penalties, state: Variables, v: Array) -> Array:
    """v^{l+1} from v^l, by the second line of (15)."""
    alpha, sigma, r = params.alpha[:, None], params.sigma[:, None], params.r[:, None]
    total: Array = alpha * r * v + sigma * state.w[..., None, :] - (alpha * problem.f.gradient(v) + state.Pi)
    return total / (alpha * r + sigma)


def _closed_inner_step(problem: Problem, params: Penalties, state: Variables) -> Array:
    """v^2 from v^1, by the second line of (15)."""
    return _second_line(problem, params, state, _inner_steps(problem, params, state, 1))


def _inner_objective(problem: Problem, params: Penalties, state: Variables, u: Array) -> Array:
    """Return the objective of (15) at u, where v^l are the w_i of the state."""
    v, w = state.W, state.w[..., None, :]
    linear = problem.f.value(v) + (problem.f.gradient(v) * (u - v)).sum(axis=-1) + params.r * square(u - v) / 2
    near: Array = ((u - w) * state.Pi).sum(axis=-1) + params.sigma * square(u - w) / 2
    return near + params.alpha * linear


def _inner_at_any(problem: Problem, params: Penalties, state: Variables) -> Array:
    """The objective of (15), at any points."""
    return _inner_objective(problem, params, state, state.U)


def _inner_at_closed_form(problem: Problem, params: Penalties, state: Variables) -> Array:
    """The value at the formula's v^{l+1}, and what is added on the way to any points."""
    v = _second_line(problem, params, state, state.W)
    added: Array = (params.alpha * params.r + params.sigma) * square(state.U - v) / 2
    return _inner_objective(problem, params, state, v) + added


def _gradient(problem: Problem, params: Penalties, state: Variables) -> Array:
    """grad f(w)."""
    return (params.alpha[:, None] * problem.f.gradient(state.W)).sum(axis=-2)


def _lines(problem: Problem, params: Penalties, state: Variables) -> Array:
    """The sum over i of the first line of (19), less the third."""
    first = params.alpha[:, None] * problem.f.gradient(state.W) + state.Pi
    return first.sum(axis=-2) - state.Pi.sum(axis=-2)


_L_w, _L_min, _inner_u, _inner_min, _v, _v_closed, _grad, _res = parts(
    "sum_i<w_i-w,pi_i>+sigma_i/2|w_i-w|^2 its_least_value+sum_i(sigma_i)/2|w-w^{k+1}|^2 "
    "objective_of_(15)(w_i) objective_of_(15)(v_i^{l+1})+(alpha_i*r_i+sigma_i)/2|w_i-v_i^{l+1}|^2 "
    "v_i^2 second_line_of_(15)(v_i^1) grad_f(w) sum_i(alpha_i*grad_f_i(w_i)+pi_i)-sum_i(pi_i)"
)

L_W = Quantity(_L_w, _at_any)

L_MIN = Quantity(_L_min, _at_closed_form)

EQ_13 = section("eq. (13)", POINTS)(
    "",
    identity(L_W, L_MIN),
    "closed form of the averaging step",
    tex=r"\mathbf{w}^{k+1}=\operatorname{argmin}_{\mathbf{w}}\mathcal{L}(\mathbf{w},W^k,\Pi^k)=\frac{1}{\sum_{i=1}^m"
    r"\sigma_i}\sum_{i=1}^m(\sigma_i\mathbf{w}_i^k+\boldsymbol{\pi}_i^k)",
    reading="w^{k+1} is the minimiser: away from it the augmented Lagrangian is larger by "
    "sum_i(sigma_i)/2 |w - w^{k+1}|^2",
)

V = Quantity(_v, _two_inner_steps)

V_CLOSED = Quantity(_v_closed, _closed_inner_step)

INNER_U = Quantity(_inner_u, _inner_at_any)

INNER_MIN = Quantity(_inner_min, _inner_at_closed_form)

EQ_15 = section("eq. (15)", POINTS)(
    "",
    Identity(_inner_u, _inner_min, (INNER_U, INNER_MIN, V, V_CLOSED), also=(Comparison(_v, "==", _v_closed),)),
    "closed form of the inner step",
    tex=r"\mathbf{v}_i^{\ell+1}=\frac{1}{\alpha_ir_i+\sigma_i}(\alpha_ir_i\mathbf{v}_i^\ell+\sigma_i\mathbf{w}^{"
    r"\tau_{k+1}}-(\alpha_i\nabla f_i(\mathbf{v}_i^\ell)+\boldsymbol{\pi}_i^k))",
    reading="the second line is the minimiser of the first: away from it the objective is larger by "
    "(alpha_i r_i + sigma_i)/2 |w_i - v_i^{l+1}|^2, at any v_i^l. It is also the step of the algorithm, "
    "looked at from v_i^1 to v_i^2",
)

GRAD = Quantity(_grad, _gradient)

RES = Quantity(_res, _lines)

DEFINITION_41 = section("Definition 4.1 and eq. (20)", AGREED, id="")(
    "definition-4.1",
    identity(GRAD, RES),
    "stationary points of (10) and of (2)",
    kind="property",
    tex=r"\nabla f(\mathbf{w}^*)=\sum_{i=1}^m\alpha_i\nabla f_i(\mathbf{w}^*)=-\sum_{i=1}^m\pi_i^*=0",
    reading="eq. (20): where w_i = w, grad f(w) is the sum of the residuals of the first and third lines of (19), and "
    "vanishes with them. That local optima of (10) meet (19), and that for convex f_i (19) is optimality, are "
    "definition-4.1/local and definition-4.1/convex",
)

# Section 3.5


_moved, _unlike = (
    transition.of_client(name, of)
    for name, of in (
        ("|z_i^{k+1}-z_i^k|^2", lambda v: square(v.after.Z - transition.before(v.problem, v.params, v.state).Z)),
        (
            "|z_i^{k+1}-sigma_i*w_i^{k+1}-pi_i^{k+1}|^2",
            lambda v: square(v.after.Z - v.params.sigma[:, None] * v.after.W - v.after.Pi),
        ),
    )
)

SECTION_35 = section("Section 3.5", TRANSITION, IDLE)(
    "",
    Inequality(
        _moved.expression,
        sympy.S.Zero,
        (_moved, _unlike),
        also=(Comparison(_unlike.expression, "<=", sympy.S.Zero),),
    ),
    "the server's sum over stale and fresh z_i is (4): in each iteration the idle keep their z_i",
    kind="identity",
    tex=r"\mathbf{w}^{\tau_{k+1}}=\frac{1}{\sigma}(\sum_{i\in\Omega^{\tau_k}}\mathbf{z}_i^k+\sum_{i\notin\Omega^{"
    r"\tau_k}}\mathbf{z}_i^{k_i})=\frac{1}{\sigma}\sum_{i=1}^m\mathbf{z}_i^k",
    reading="term by term: in every iteration the z_i of a client that is not selected stays what it was, so that "
    "z_i^{k_i} is z_i^k, and (8) holds of it as of the others; k_i = 0 for clients never selected. Which clients do "
    "nothing at steps k, ..., k + k_0 - 1 is section-3.5/literal",
)

__all__ = ["DEFINITION_41", "EQ_13", "EQ_15", "SECTION_35"]
