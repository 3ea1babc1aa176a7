"""FedADMM, Theorem 4.3, the chain of constants in its proof, and Remark 4.3. The proof's displays are in rate_proof."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedadmm import ages, along, iterates, transition
from fedtheory.papers.fedadmm.letters import c, k, k0, m, parts, q, s0, section, sigma_bar, varepsilon
from fedtheory.papers.fedadmm.runs import (
    RUN,
    SCHEME,
    SMOOTH,
    START,
    STEP,
    ScheduledRun,
    lowest,
    quantity,
)
from fedtheory.problems.base import Problem
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Infimum, Least, Start
from fedtheory.settings.quantities import Total
from fedtheory.settings.relations import Quantity

_Q = sympy.Rational

# Theorem 4.3

_least, _L_0, _E_0, _f_star, _eps_all = parts(
    "min_{s<=k}|grad_f(w^{tau_{s+1}})|^2 L^0 sum_i(eps_i^0/((1-nu_i)sigma_i)) f^* sum_i(eps_i^0/(1-nu_i))"
)
AFTER = Hypothesis("k > s_0 k_0", sympy.Gt(k, s0 * k0, evaluate=False))


def _per_client(nu: Array) -> Array:
    """(1 + theta) 128/3 (1 + nu_i) + (1 + 1/theta) nu_i with theta = 1/10, ``(m,)``."""
    return Fraction(704, 15) * (1 + nu) + 11 * nu


def _start(name: sympy.Symbol, function: Any) -> Quantity:
    """A number of the state with which a run begins."""
    return Quantity(name, Start(ages.ALONG, At(ages.ITERATION, function)))


def _infimum(problem: Problem, run: ScheduledRun) -> Scalar:
    """f*."""
    return lowest(problem, run.fed.alpha)


#: The c of Theorem 4.3, in which Lt^0 is written out, and the quantities of which it is made.
_above = _L_0 + 29 * _E_0 - _f_star
CONSTANT = _Q(940, 9) * s0 * (s0 + 1) * m * sigma_bar * _above + 169 * m * s0 * _eps_all
OF_CONSTANT = (
    _start(_L_0, iterates.lagrangian),
    _start(_E_0, iterates.tolerances),
    Quantity(_f_star, Infimum(ages.ALONG, At(ages.ITERATION, iterates.objective), _infimum)),
    _start(_eps_all, Total(ages.share)),
)
_LEAST = Quantity(_least, Least(ages.ALONG, At(ages.ITERATION, ages.SLOPE, later=True), 1))
theorem_43 = section("Theorem 4.3", along.RUNS, transition.SMOOTH, START, transition.STEP, ages.SCHEME, AFTER)
THEOREM_43 = theorem_43(
    "",
    Inequality(_least, CONSTANT * k0 / (k - s0 * k0), (_LEAST, *OF_CONSTANT)),
    "rate of the smallest squared gradient norm, with the printed c",
    kind="bound",
    tex=r"\min_{s=1,2,\cdots,k}\|\nabla f(\mathbf{w}^{\tau_{s+1}})\|^2\le\frac{ck_0}{k-s_0k_0}",
    uses=("eq-67", "eq-69", "lemma-C.2/a", "lemma-C.2/b", "theorem-4.3/proof-constants"),
    reading="eps_i in c, which is not defined, is eps_i^0; w^{tau_0} in Lt^0 is any. In the runs that are looked at "
    "the bound is a thousand times too large, so that they could not tell a smaller c from it: it follows by adding "
    "falls, for all functions and without coerciveness. That the gradient vanishes is theorem-4.3/limit",
    follows=tuple(claim.id for claim in ages.ITERATIONS),
)

_eps_sharp = q("sum_i(eps_i^0/(1-nu_i)((1+theta)128/3(1+nu_i)+(1+1/theta)nu_i))")
_theta = _Q(1, 10)
SHARPER = theorem_43(
    "sharper",
    Inequality(
        _least,
        ((1 + _theta) * _Q(128, 9) * s0 * (2 * s0 - 1) * m * sigma_bar * _above + m * s0 * _eps_sharp)
        * k0
        / (k - s0 * k0),
        (
            _LEAST,
            *OF_CONSTANT[:3],
            quantity(
                _eps_sharp.name,
                lambda v, k: (v.history.eps[0] / (1 - v.fed.nu) * _per_client(v.fed.nu)).sum(axis=-1),
            ),
        ),
    ),
    "the rate with the smaller constant c_2",
    kind="bound",
    setting=RUN,
    requires=(SMOOTH, START, STEP, SCHEME, AFTER),
    origin="observed",
    reading="theta = 1/10. It follows, for all functions, from theorem-4.3/gradient at every p k_0, eq-53/repaired and "
    "lemma-C.1/c for the distances in it, theorem-4.3/descent, of which every iteration counts for 2 s_0 rounds at "
    "most, "
    "and eq-69; that it gives Theorem 4.3 is theorem-4.3/constants. Coerciveness is not used",
)

_a = sympy.symbols("a_1:10", positive=True)
_NAMES = ("10/3", "34/9", "8/9", "20/3", "169", "340/9", "80/9", "200/3", "940/9")
_PRINTED = dict(zip(_a, map(_Q, _NAMES), strict=True))


def _constants(values: dict[object, object]) -> ParameterRule:
    a10, a34, a8, a20, a169, a340, a80, a200, a940 = _a
    from_previous = (
        (a10, _Q(1, 3) + 3 * 3),
        (a34, a10 * (1 + _Q(2, 15))),
        (a8, a10 * _Q(4, 15)),
        (a20, 2 * a10),
        (a169, 48 * a10 + 9),
        (a340, 10 * a34),
        (a80, 10 * a8),
        (a200, 10 * a20),
        (a200, a80),
        (a940, a340 + a200),
    )
    return ParameterRule(values, tuple(sympy.Ge(*pair, evaluate=False) for pair in from_previous))


_THEN = ("28/3", "476/45", "112/45", "56/3", "457", "952/9", "224/9", "560/3", "2632/9")
_LINKS = (
    "a_1, ..., a_9 are 10/3, 34/9, 8/9, 20/3, 169, 340/9, 80/9, 200/3, 940/9, each at least what its step gives: (59) "
    "+ 3 times (66), then (65) twice for each sort of term and for the tolerances, (60), and s_0 >= 1"
)

eqs_59_67 = section("eqs. (59)-(67)", Setting("no letters", letters=()), id="theorem-4.3/proof-constants")
CONSTANTS = (
    eqs_59_67(
        "",
        _constants(_PRINTED),
        "the chain of constants 10/3, 34/9, 8/9, 20/3, 169, 940/9 follows from its steps",
        kind="parameter-rule",
        tex=r"\frac{10m\sigma_i^2}{3}, \quad \frac{34m}{9}, \quad \frac{8m}{9}, \quad 169m, \quad \frac{20ms_0}{3}, "
        r"\quad \frac{940ms_0\overline{\sigma}}{9}",
        uses=("eq-59", "eq-65", "eq-66"),
        reading=f"{_LINKS}; (65) is taken as printed, which is false itself. The first of the relations that fails is "
        "the link where the error enters",
        flaw="Eq. (59) and three times eq. (66) add up to the coefficient 1/3 + 3 * 3 = 28/3. The printed 10/3 = 1/3 "
        "+ 3 takes eq. (66) once; every later constant follows from it.",
    ),
    eqs_59_67(
        "repaired",
        _constants(dict(zip(_a, map(_Q, _THEN), strict=True))),
        "the chain that does follow: 28/3, 476/45, 112/45, 56/3, 457, 2632/9",
        kind="parameter-rule",
        reading=f"{_LINKS}; from (65) as printed, and from eq-65/repaired with max(2 s_0 - 2, 1) in place of s_0 and "
        "eps_i^{k_i} in place of eps_i^k",
        repairs="theorem-4.3/proof-constants",
    ),
)

# Remark 4.3

_steps = sympy.ceiling((c + varepsilon * s0) * k0 / varepsilon)
_ACCURACY = Setting("all c, varepsilon > 0 and integers k_0, s_0 >= 1", letters=(c, varepsilon, k0, s0))

remark_43 = section("Remark 4.3", _ACCURACY)
REMARK_43 = (
    remark_43(
        "eq-28",
        Inequality(c * k0 / (_steps - s0 * k0), varepsilon),
        "iterations that meet (27): after k of them (26) is at most varepsilon, so that one of them met it",
        kind="bound",
        tex=r"k=\left\lceil\frac{(c+\varepsilon s_0)k_0}{\varepsilon}\right\rceil",
        uses=("theorem-4.3",),
        reading="after k iterations the bound (26) is at most varepsilon: one of them met (27)",
    ),
    remark_43(
        "eq-29",
        identity(2 * sympy.ceiling(_steps / k0), 2 * sympy.ceiling((c + varepsilon * s0) / varepsilon)),
        "communication rounds from (28)",
        tex=r"CR:=\left\lceil\frac{2k}{k_0}\right\rceil=\left\lceil\frac{2(c+\epsilon s_0)}{\varepsilon}\right\rceil",
        uses=("remark-4.3/eq-28",),
        reading="two communications in each of the ceil(k/k_0) rounds; its letter, in which the factor 2 stands inside "
        "both ceilings, is eq-29/literal",
    ),
    remark_43(
        "eq-29/literal",
        identity(sympy.ceiling(2 * _steps / k0), sympy.ceiling(2 * (c + varepsilon * s0) / varepsilon)),
        "ceil(2 k/k_0) with the k of (28) is ceil(2 (c + varepsilon s_0)/varepsilon)",
        tex=r"CR:=\left\lceil\frac{2k}{k_0}\right\rceil=\left\lceil\frac{2(c+\epsilon s_0)}{\varepsilon}\right\rceil",
        uses=("remark-4.3/eq-28",),
        literal_of="remark-4.3/eq-29",
        flaw="The k of eq. (28) is a ceiling itself, which the second expression drops; and a factor 2 goes into a "
        "ceiling, though 2 ceil(x) is not ceil(2x).",
    ),
)

__all__ = ["CONSTANTS", "REMARK_43", "SHARPER", "THEOREM_43"]
