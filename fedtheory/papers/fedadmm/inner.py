"""FedADMM, Theorem 3.1: the inner steps (15), their contraction, and how many of them meet (6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms.base import method
from fedtheory.classes import WeaklyConvex
from fedtheory.instances import Instance, Instances, Recipe, check_shape, members, number, numbers, pick
from fedtheory.kinds.inequality import Inequality
from fedtheory.learning.subproblems import InnerSteps, Task
from fedtheory.numbers.rational import Array, square
from fedtheory.numbers.scalar import Scalar
from fedtheory.numbers.symbols import T
from fedtheory.papers.fedadmm.letters import alpha_i, parts, q, r_i, rho, s_i, section, sigma_i
from fedtheory.problems.base import Problem
from fedtheory.problems.nonconvex import is_quadratic
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity


class Root(NamedTuple):
    """``v (..., d)``: an inner iterate."""

    v: Array


def inner_step(problem: Problem, params: Any, state: Any, draw: object) -> dict[str, Array]:
    """(15) around w = v*, which every w and pi with the same root gives too: the residual at v differs from that at v*
    by what does not depend on them."""
    alpha, sigma = (np.array([value]) for value in (params.alpha, params.sigma))
    task = Task(problem.x_star, -params.alpha * problem.y_star, sigma, np.ones(1, dtype=bool), alpha, sigma)
    v = state.v[..., None, :]
    return {"v": (v - task.residual(problem, v) / (params.alpha * problem.L + params.sigma))[..., 0, :]}


def _from_root(problem: Problem, params: object, state: Any) -> Array:
    return square(state.v - problem.x_star)


inner = method("inner step", inner_step, ["alpha", "sigma", "rho"], {"v": "point"})
WEAKLY_CONVEX = WeaklyConvex(s_i, r_i, optimum="stationary")
INNER = Setting(
    "f_i with Hessians between -s_i I and r_i I, s_i <= r_i; any v, w and pi_i",
    letters={s_i: lambda problem, params: -problem.mu, r_i: "L", alpha_i: "alpha", rho: "rho", sigma_i: "sigma"},
    algorithm=inner,
    functions=WEAKLY_CONVEX,
    drawing=Drawing(
        classes_stated=True, typical={rho: sympy.Integer(4), sigma_i: alpha_i * s_i + rho * alpha_i * r_i / 2}
    ),
    clients=(1,),
)
CURVED = Hypothesis("-s_i I <= hess f_i <= r_i I", met=WEAKLY_CONVEX.contains)
PENALTY = Hypothesis(
    "sigma_i >= alpha_i s_i + rho alpha_i r_i/2", sympy.Ge(sigma_i, alpha_i * s_i + rho * alpha_i * r_i / 2)
)
_ABOVE_ONE = Hypothesis("rho > 1", sympy.Gt(rho, 1, evaluate=False))
FROM = Quantity(q("|v^l-v*|^2"), _from_root, names={"next": "|v^{l+1}-v*|^2"})

CONTRACTION = section("Theorem 3.1 and eq. (35)", INNER, CURVED, PENALTY, _ABOVE_ONE, id="theorem-3.1")(
    "contraction",
    E(FROM.next) <= (1 / rho) * FROM,
    "inner steps contract by 1/rho",
    tex=r"\|\mathbf{v}_i^{\ell+1}-\mathbf{v}_i^*\|^2\le\varrho^{-1}\|\mathbf{v}_i^{\ell}-\mathbf{v}_i^*\|^2",
    uses=("eq-32", "eq-33"),
    reading="of the printed proof the lines do not follow (a sign, and two misprints); r_i is a Lipschitz "
    "constant: s_i <= r_i",
)


class Inner(NamedTuple):
    """Constants of a client; ``X``: 2 (alpha^2 r^2 + sigma^2) |w - v*|^2 / eps; ``low``, ``high``: the least and the
    largest second derivative of f_i."""

    alpha: Scalar
    r: Scalar
    s: Scalar
    sigma: Scalar
    rho: Fraction | float
    X: Fraction | float
    low: Scalar
    high: Scalar


def _inner_recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        r, share = Fraction(1), pick(rng, tuple(Fraction(v) for v in (0, "1/2", 1)))
        ratio = pick(rng, tuple(Fraction(v) for v in (4, 9, 9, 16, 16, 2, "11/10")))
        # The next power of rho is just missed: then the most is asked of as many whole steps as there are.
        missed = -(-(ratio ** int(rng.integers(2, 4))) // 1) - 1
        curvatures = (r, r / 2, Fraction(0), -share * r, -share * r, -share * r)
        yield {
            "alpha": pick(rng, (Fraction(1), Fraction(1, 3))),
            "r": r,
            "s": share * r,
            "h": pick(rng, curvatures),
            # The curvature beyond a point, and that point.
            "beyond": (pick(rng, curvatures), pick(rng, (Fraction(1), Fraction(1, 3)))) if rng.random() < 0.4 else (),
            "rho": ratio,
            "excess": pick(rng, tuple(Fraction(v) for v in (1, 1, 1, 1, 2, "1/2"))),
            "X": pick(rng, (missed, missed, missed, ratio, ratio**2, Fraction(3), Fraction(100, 7), Fraction(1000))),
        }


def _inner_build(recipe: Recipe, exact: bool) -> Instance:
    values = {name: number(recipe[name], exact) for name in ("alpha", "r", "s", "rho", "X")}
    check_shape(1, *(recipe[name] for name in ("alpha", "r", "X", "excess")), recipe["rho"] - 1)
    if recipe["s"] < 0:
        raise ValueError("s must not be negative")
    alpha, r, s = (values[name] for name in ("alpha", "r", "s"))
    sigma = number(recipe["excess"], exact) * (alpha * s + values["rho"] * alpha * r / 2)
    h, beyond = recipe["h"], recipe["beyond"]
    low, high = min((h, *beyond[:1])), max((h, *beyond[:1]))
    origin, part = numbers([0], exact), {"h": (h,)}
    text = ", ".join(f"{name}={recipe[name]}" for name in values)
    text += f", sigma={Fraction(sigma) if exact else sigma}, f_i'' = {h}"
    if beyond:
        part |= {"h_above": beyond[:1], "kink": beyond[1:]}
        text += f", but {beyond[0]} beyond {beyond[1]}"
    problem = Problem(members.curved([part], origin, origin[None], exact))
    params = Inner(alpha, r, s, sigma, values["rho"], values["X"], low, high)

    def at(theta: Array) -> tuple[Problem, Root]:
        return problem, Root(theta[:, None])

    if steps := _printed_steps(params):
        text += f", steps l = 0, ..., {steps - 1}"
    return Instance(problem, params, 1, at, quadratic=is_quadratic(problem.f), text=f"{text}, v* = 0")


def _straight(recipe: Recipe) -> Iterator[Recipe]:
    """The quadratic functions of the same constants."""
    for h in (recipe["h"], *recipe["beyond"][:1]):
        yield {**recipe, "h": h, "beyond": ()}


def _residual_after(steps: Any) -> Any:
    """The squared residual of (6), v after the steps l = 0, ..., kappa of (15) from v^0 = w, pi_i such that v* = 0."""

    def of(problem: Problem, params: Inner, state: Root) -> Array:
        w, one = state.v, np.ones(1, dtype=bool)
        alpha, sigma = (np.array([value]) for value in (params.alpha, params.sigma))
        Pi = sigma[:, None] * w[..., None, :] - alpha[:, None] * problem.f.gradient(0 * w[..., None, :])
        task = Task(w, Pi, 0 * sigma, one, alpha, sigma)
        v = InnerSteps(np.array([params.r]), steps=steps(params)).answer(problem, task, None, 0).w
        return square(task.residual(problem, v))[..., 0]

    of.__doc__ = _residual_after.__doc__
    return of


def _tolerance(problem: object, params: Inner, state: Root) -> Array:
    """eps = 2 (alpha^2 r^2 + sigma^2) |v^0 - v*|^2 / X."""
    return 2 * (params.alpha**2 * params.r**2 + params.sigma**2) * square(state.v) / params.X


def _printed_steps(params: Inner) -> int:
    """The l = 0, ..., kappa with kappa = log_rho(ceil(X)) - 1: as many as powers of rho, from the first, in ceil(X)."""
    top, steps = -(-Fraction(params.X) // 1), 0
    while Fraction(params.rho) ** (steps + 1) <= top:
        steps += 1
    return steps


_INNER_STEPS = Setting(
    "f_i of one variable, quadratic or of two curvatures; any w and pi_i",
    letters={alpha_i: "alpha", r_i: "r", s_i: "s", sigma_i: "sigma", rho: "rho"},
    drawing=Drawing(special=Instances(_inner_recipes, _inner_build, _straight)),
)
_CURVATURE = Hypothesis(
    "|f_i''| <= r_i and f_i'' >= -s_i",
    met=lambda problem, params: -min(params.s, params.r) <= params.low and params.high <= params.r,
)
_NOT_NEGATIVE = Hypothesis("kappa >= 0", met=lambda problem, params: _printed_steps(params) > 0)
_residual, _eps = parts("|alpha_i*grad_f_i(v)+pi_i+sigma_i(v-w)|^2 eps_i^{k+1}")


def _eq_16(steps: object) -> Inequality:
    return Inequality(_residual, _eps, (Quantity(_residual, _residual_after(steps)), Quantity(_eps, _tolerance)))


def _residual_at(problem: Problem, params: Any, state: Any) -> Array:
    """|alpha_i grad f_i(v) + pi_i + sigma_i (v - w)|^2, which vanishes at v*."""
    found = params.alpha * (problem.f.gradient(state.v[..., None, :])[..., 0, :] - problem.y_star[0])
    return square(found + params.sigma * (state.v - problem.x_star))


RESIDUAL = Quantity(_residual, _residual_at, names={"T": "|alpha_i*grad_f_i(v^T)+pi_i+sigma_i(v^T-w)|^2"})
#: The steps of (15) on all functions of Theorem 3.1, with what each of them contracts.
STEPS = replace(INNER, potential=Quantity("|v-v*|^2", _from_root, after=True))
eq_16 = section("eq. (16)", _INNER_STEPS, _CURVATURE, PENALTY, _NOT_NEGATIVE, id="theorem-3.1/eq-16")
EQ_16 = (
    eq_16(
        "",
        _eq_16(_printed_steps),
        "number of inner steps that meets (6)",
        kind="bound",
        tex=r"\kappa=\log_{\varrho}\left\lceil\frac{2(\alpha_i^2r_i^2+\sigma_i^2)\|\mathbf{w}^{\tau_{k+1}}-"
        r"\mathbf{v}_i^*\|^2}{\epsilon_i^{k+1}}\right\rceil-1",
        uses=("theorem-3.1/contraction", "eq-33"),
        reading="kappa = log_rho(ceil(X)) - 1 is not an integer: the steps l = 0, ..., kappa are those with l <= "
        "kappa. Rounded up it would be enough: the repaired statement, with ceil(X) for X. Below 0, which leaves no "
        "step, it is not looked at",
        literal_of="theorem-3.1/eq-16/repaired",
        flaw="X/rho^(kappa+1) <= 1 is solved with the ceiling inside the logarithm, log_rho(ceil(X)) - 1, which is not "
        "an integer, and negative for small X; a number of steps is its ceiling, outside.",
    ),
    eq_16(
        "repaired",
        E(RESIDUAL.T) <= 2 * (alpha_i**2 * r_i**2 + sigma_i**2) * (1 / rho) ** T * FROM,
        "ceil(log_rho X) inner steps meet (6), with the ceiling outside of the logarithm",
        kind="bound",
        setting=STEPS,
        requires=(CURVED, PENALTY, _ABOVE_ONE),
        reading="v^0 = w, so that |w - v*|^2 is |v^0 - v*|^2. The right side is X eps_i/rho^T, which is eps_i at most "
        "from T = ceil(log_rho X) on, and at no smaller T whatever X is",
        repairs="theorem-3.1/eq-16",
    ),
)

__all__ = ["CONTRACTION", "CURVED", "EQ_16", "WEAKLY_CONVEX"]
