"""LoCoDL: Algorithm 1, Theorem 3.1 and what Section 2.2 says of a step."""

from __future__ import annotations

import sympy

from fedtheory.algorithms import locodl as algorithm_1
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.limit import Limit
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.rational import Array
from fedtheory.numbers.symbols import T
from fedtheory.papers.locodl.compression import CompressionParams, compressed_norm
from fedtheory.papers.locodl.lifted import Lifted, differences, norm
from fedtheory.papers.locodl.setting import (
    CONSTANTS,
    CONVEX,
    DAMPING,
    ORDERED,
    PROBABILITY,
    SETTING,
    STEP,
    VARIANCE,
    chi,
    omega_av,
    rho,
    section,
    tau,
)
from fedtheory.problems.base import Problem
from fedtheory.settings.relations import E, Quantity


def primal_distance(problem: Problem, params: object, state: algorithm_1.State) -> Array:
    """|x - x*|_X^2."""
    x = problem.x_star
    return norm(state.x - x[..., None, :], state.y - x)


def dual_distance(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    """|u - u*|_X^2."""
    target = algorithm_1.fixed_point(problem, params)
    return norm(state.u - target.u, state.v - target.v)


def Psi(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    """|x - x*|_X^2/gamma + (gamma (1 + 2 omega)/(p^2 chi)) |u - u*|_X^2, |x|_X^2 = sum_i |x_i|^2 + n |y|^2, eq. (4).

    u* has u_i* = grad f_i(x*) and v* = grad g(x*).
    """
    gamma, chi, _, p, omega, _ = params
    dual_weight = gamma * (1 + 2 * omega) / (p**2 * chi)
    return primal_distance(problem, params, state) / gamma + dual_weight * dual_distance(problem, params, state)


def hat_of(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Lifted:
    """Return the predictions (x_hat, y_hat). Raise ``ValueError`` if the problem has no g."""
    if problem.g is None:
        raise ValueError("a step of LoCoDL has no y-hat without the function g")
    gradient = problem.g.gradient(state.y[..., None, :])[..., 0, :]
    return Lifted(
        state.x - params.gamma * (problem.f.gradient(state.x) - state.u), state.y - params.gamma * (gradient - state.v)
    )


def _hat_distance(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    hat = hat_of(problem, params, state)
    x = problem.x_star
    return norm(hat.x - x[..., None, :], hat.y - x)


def _predictions(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    """|x_hat - x*|_X^2 + sum_i |x_hat_i - y_hat|^2 + E sum_i |C_i(x_hat_i - y_hat)|^2."""
    hat = hat_of(problem, params, state)
    away = Lifted(hat.x - hat.y[..., None, :], 0 * hat.y)
    compressed = compressed_norm(problem, CompressionParams(params.compressors), away)
    return _hat_distance(problem, params, state) + differences(problem, params, hat) + compressed


HAT_X = Quantity("|x_hat-x*|^2", _hat_distance)
PSI = Quantity("Psi", Psi, names={"zero": "Psi^0", "T": "Psi^t"})
rho_other = sympy.Symbol("rho'", positive=True)

algorithm = section("Algorithm 1", SETTING)
FEASIBILITY = (
    algorithm(
        "feasibility",
        Invariant(algorithm_1.algorithm, algorithm_1.invariant, "(1/n) sum_i u_i + v = 0"),
        "mean of the u_i plus v stays 0",
        tex=r"\frac{1}{n}\sum_{i=1}^{n}u_{i}^{0}+v^{0}=0",
    ),
)

theorem_31 = section("Theorem 3.1", SETTING, CONVEX, VARIANCE, STEP, DAMPING, PROBABILITY)
THEOREM_31 = (
    theorem_31(
        "one-step",
        E(PSI.next) <= tau * PSI,
        "expected contraction of Psi by tau",
        where="eq. (19)",
        tex=r"\mathbb{E}\left[\Psi^{t+1}\;|\;\mathcal{F}^{t}\right]\leq\max\left((1-\gamma\mu)^{2},(1-\gamma L)^{2},"
        r"1-\frac{p^{2}\chi}{1+2\omega}\right)\Psi^{t}",
        uses=("proof/primal-step", "proof/dual-step"),
    ),
    theorem_31(
        "eq-5",
        E(PSI.T) <= tau**T * PSI.zero,
        "E Psi^t <= tau^t Psi^0",
        tex=r"\mathbb{E}\left[\Psi^{t}\right]\leq\tau^{t}\Psi^{0}, \quad \tau\coloneqq\max\left((1-\gamma\mu)^{2},"
        r"(1-\gamma L)^{2},1-\frac{p^{2}\chi}{1+2\omega}\right)",
        uses=("theorem-3.1/one-step", "theorem-3.1/tau"),
    ),
    theorem_31(
        "tau",
        tau < 1,
        "tau < 1 under the conditions",
        tex=r"\tau<1",
        setting=CONSTANTS,
        requires=(ORDERED, STEP, DAMPING, PROBABILITY),
    ),
    theorem_31(
        "limits",
        Limit(algorithm_1.algorithm, PSI, "x_i, y -> x*, u_i -> u_i*, v -> v* almost surely"),
        "x_i, y, u_i, v converge",
        tex="",
        uses=("theorem-3.1/eq-5",),
        reading="almost sure convergence follows when sum_t E Psi^t is finite; tested through the exact second moments",
    ),
)
LIMITS_OF_ALL = theorem_31(
    "limits-of-all",
    Limit(
        algorithm_1.algorithm,
        Quantity("|x_hat-x*|^2+sum_i|x_hat_i-y_hat|^2+E sum_i|C_i(x_hat_i-y_hat)|^2", _predictions),
        "x_hat_i, y_hat -> x*, x_hat_i - y_hat -> 0, C_i(x_hat_i - y_hat) -> 0 almost surely",
    ),
    "convergence of x-hat, y-hat and of the differences",
    where="Theorem 3.1 and its proof",
    tex="",
    uses=("theorem-3.1/limits", "proof/compressed-norm"),
    reading="Section 2.2; of the compressed differences as the expectation over the compressors, which bounds "
    "them where its sum over the iterations is finite. Tested through the exact second moments",
)

section_22 = section("Section 2.2", CONSTANTS)
SECTION_22 = (
    section_22(
        "convex-combination",
        rho <= 1,
        "that the update is a convex combination",
        kind="property",
        tex=r"x_{i}^{t+1}\coloneqq(1-\rho)\hat{x}_{i}^{t}+\rho(\hat{y}^{t}+\bar{d}^{t}), \quad \rho>0",
        requires=(DAMPING,),
        reading="(1 - rho) x_hat_i + rho (y_hat + d_bar) lies between the two for rho <= 1, and not always for larger "
        "ones; of all rho > 0 that Theorem 3.1 allows with some chi > 0. With those of eq. (6) it is -/repaired",
        literal_of="section-2.2/convex-combination/repaired",
        flaw="Algorithm 1 asks for rho > 0 only, and Theorem 3.1 for a chi > 0 of at most 2 rho - rho^2 (1 + "
        "omega_av): with omega_av = 0 any rho below 2 has one.",
    ),
    section_22(
        "convex-combination/repaired",
        ParameterRule({rho: 1 / (1 + omega_av)}, (sympy.Lt(0, rho, evaluate=False), sympy.Le(rho, 1, evaluate=False))),
        "with the rho of eq. (6) it is one: 0 < rho <= 1",
        kind="property",
        repairs="section-2.2/convex-combination",
    ),
)
EQ_6 = section("eq. (6)", CONSTANTS)(
    "",
    ParameterRule(
        {rho: 1 / (1 + omega_av), chi: 1 / (1 + omega_av)},
        (
            sympy.Ge(2 * rho - rho**2 * (1 + omega_av) - chi, 0, evaluate=False),
            sympy.Le(2 * rho_other - rho_other**2 * (1 + omega_av), chi, evaluate=False),
        ),
    ),
    "best rho and chi",
    tex=r"\chi=\rho=\frac{1}{1+\omega_{\mathrm{av}}}",
    reading="chi is admissible with rho, and no rho' > 0 admits a larger chi",
)
