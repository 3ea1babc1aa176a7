"""FedDCD, Section 6: statements on f_i that are strongly convex and not smooth, and so on a dual that is only smooth.

No method for them is printed, and no theorem. Here Algorithm 4 is taken with b = 0, as mu = 0 has it, and with the
usual a_t = 2/(t + 2) for an a that would be 0.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import sympy

from fedtheory.algorithms import accelerated_rbcd
from fedtheory.algorithms.accfeddcd import Subsets
from fedtheory.classes import ConvexBlocks
from fedtheory.instances import Recipe, check_shape, number, numbers
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import one_step
from fedtheory.kinds.order import Order
from fedtheory.kinds.readings import Readings
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.feddcd import accelerated, appendix_b
from fedtheory.papers.feddcd.accelerated import A
from fedtheory.papers.feddcd.dual import CONSTANTS, section
from fedtheory.papers.feddcd.lower_bound import epsilon, kappa
from fedtheory.problems.base import Problem
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity


class Params(NamedTuple):
    """``tau``, ``L``: as of Algorithm 4; ``a``: its weight, b being 0."""

    tau: int
    L: Array
    a: Scalar


def _of_algorithm_4(params: Params) -> accelerated_rbcd.Params:
    return accelerated_rbcd.Params(params.tau, params.L, params.a, 0)


def _draws(problem: Problem, params: Params, state: accelerated_rbcd.State) -> Any:
    return accelerated_rbcd.draws(problem, _of_algorithm_4(params), state)


def _step(problem: Problem, params: Params, state: accelerated_rbcd.State, draw: Subsets) -> accelerated_rbcd.State:
    return accelerated_rbcd.step(problem, _of_algorithm_4(params), state, draw)


unregularised = replace(
    accelerated_rbcd.algorithm,
    name="Algorithm 4 with b = 0",
    Params=Params,  # type: ignore[arg-type]
    draws=_draws,  # type: ignore[arg-type]
    step=_step,  # type: ignore[arg-type]
)


def _parameters(recipe: Recipe, problem: Problem, exact: bool) -> Params:
    check_shape(recipe["d"], recipe["a"])
    L = numbers([c["L"] for c in recipe["clients"]], exact)
    return Params(recipe["tau"], L, number(recipe["a"], exact))


def _z_distance(problem: Problem, params: Any, state: accelerated_rbcd.State) -> Array:
    return accelerated.z_distance(problem, params, state)


FUNCTIONS = ConvexBlocks(appendix_b.mu, appendix_b.L_max)
CONVEX = replace(
    accelerated.SETTING_D,
    text="each h_i convex and L_i-smooth; x, z in C; 1 < tau <= n; 0 < a <= 1",
    letters={appendix_b.n: "n", appendix_b.tau: "tau", A: "a", appendix_b.L_min: accelerated.least_smoothness},
    algorithm=unregularised,
    functions=FUNCTIONS,
    domain=(*appendix_b.BLOCKS, sympy.Le(A, 1)),
    drawing=replace(accelerated.SETTING_D.drawing, parameters=_parameters, sweep={}, conditions=()),
    potential=None,
    clients=(2, 3, 3, 3, 3),
)
_h, _h_next, _z, _z_next = (sympy.Symbol(name) for name in ("h(x)-h*", "h(x_next)-h*", "|x*-z|_L^2", "|x*-z_next|_L^2"))
_weight = A**2 / (2 * appendix_b.r**2)
_after = Quantity(_h_next, appendix_b.h_gap, after=True) + _weight * Quantity(_z_next, _z_distance, after=True)
_t = sympy.Symbol("t", integer=True, positive=True)
_D, _share = sympy.symbols("D r", positive=True)
section_6 = section("Section 6", CONSTANTS, id="")
_USUAL = section_6(
    "non-smooth#usual-weights",
    Order(sympy.sqrt(2) * _D / (_share * sympy.sqrt(epsilon)), _D / (_share * sympy.sqrt(epsilon)), small=epsilon),
    "with b = 0 and a_t = 2/(t + 2) in Algorithm 4: O(epsilon^(-1/2)) rounds",
    origin="",
    reading="T such that the bound 2 D^2/(r^2 (T+1)^2) of non-smooth/repaired is epsilon, where D = |x* - x^0|_L",
)
_AS_PRINTED = section_6(
    "non-smooth#as-printed",
    Order(sympy.sqrt(kappa) * sympy.log(1 / epsilon), 1 / sympy.sqrt(epsilon), large=kappa),
    "with Algorithm 2 as it is printed, as beta grows: O(epsilon^(-1/2)) rounds",
    origin="",
    reading="the rounds of Theorem 6.1, which are all that is shown of it, grow with beta/alpha without bound; at "
    "alpha/beta = 0 both a and b are 0, and line 26 divides by their sum",
)

NON_SMOOTH = (
    section_6(
        "non-smooth",
        Readings(
            "which method is meant is not defined: Algorithms 2 and 4 need a finite beta, or mu > 0, and the appendix "
            "at hand has no method and no theorem without them",
            (_USUAL, _AS_PRINTED),
        ),
        "O(eps^(-1/2)) for f_i that are not smooth, said to be shown in the appendix",
        kind="order",
        tex=r"\mathcal{O}(\epsilon^{-\frac{1}{2}})",
        reading="true of the method with the usual weights, and not of the printed ones",
        flaw="The paper claims to show it in the appendix, which has no such theorem in the text at hand: Appendix D "
        "asks for h to be mu-strongly convex, and its a and b are 0 where mu is.",
    ),
    section_6(
        "non-smooth/repaired",
        one_step(
            unregularised, E(_after) <= (1 - A) * Quantity(_h, appendix_b.h_gap) + _weight * Quantity(_z, _z_distance)
        ),
        "for convex h: h(x) - h* + a^2/(2 r^2) |x* - z|_L^2 after a step of Algorithm 4 with b = 0 is at most "
        "(1 - a)(h(x) - h*) + a^2/(2 r^2) |x* - z|_L^2 in the mean",
        kind="one-step",
        setting=CONVEX,
        requires=(
            Hypothesis("each h_i is convex and L_i-smooth", met=FUNCTIONS.contains),
            appendix_b.SIZE,
        ),
        reading="the Lyapunov inequality of Appendix D for mu = 0. With a_t = 2/(t + 2), of which (1 - a_t)/a_t^2 <= "
        "1/a_(t-1)^2 (non-smooth/repaired-weights), it adds up to E[h(x^T) - h*] <= 2 |x* - x^0|_L^2/(r^2 (T+1)^2)",
        repairs="non-smooth",
    ),
    section_6(
        "non-smooth/repaired-weights",
        Inequality((1 - 2 / (_t + 2)) * (_t + 2) ** 2 / 4, (_t + 1) ** 2 / 4),
        "(1 - a_t)/a_t^2 <= 1/a_(t-1)^2 for a_t = 2/(t + 2)",
        kind="inequality",
        reading="for all t >= 1; a_0 = 1",
        repairs="non-smooth",
    ),
)
