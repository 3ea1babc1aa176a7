"""FedADMM, Theorem 4.3, the chain of constants in its proof, and Remark 4.3. The proof's displays are in rate_proof."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedadmm import ages, along, iterates, transition
from fedtheory.papers.fedadmm.letters import c, k, k0, m, parts, q, s0, sigma_bar, varepsilon
from fedtheory.papers.fedadmm.runs import (
    RUN,
    SCHEME,
    SMOOTH,
    START,
    STEP,
    RunView,
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
    found: Array = Fraction(704, 15) * (1 + nu) + 11 * nu
    return found


def smallest(v: RunView, k: int) -> Array:
    found = [v.slope(s + 1) for s in range(1, k + 1)]
    return np.min(np.stack(found), axis=0) if found else v.slope(k + 1)


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
THEOREM_43 = Claim(
    id="fedadmm/theorem-4.3",
    where="Theorem 4.3",
    kind="bound",
    gist="rate of the smallest squared gradient norm, with the printed c",
    setting=along.RUNS,
    statement=Inequality(_least, CONSTANT * k0 / (k - s0 * k0), (_LEAST, *OF_CONSTANT)),
    requires=(transition.SMOOTH, START, transition.STEP, ages.SCHEME, AFTER),
    reading="eps_i in c, which is not defined, is eps_i^0; w^{tau_0} in Lt^0 is any. In the runs that are looked at "
    "the bound is a thousand times too large, so that they could not tell a smaller c from it: it follows by adding "
    "falls, for all functions and without coerciveness. That the gradient vanishes is theorem-4.3/limit",
    follows=tuple(claim.id for claim in ages.ITERATIONS),
)

_eps_sharp = q("sum_i(eps_i^0/(1-nu_i)((1+theta)128/3(1+nu_i)+(1+1/theta)nu_i))")
_theta = _Q(1, 10)
SHARPER = Claim(
    id="fedadmm/theorem-4.3/sharper",
    where="Theorem 4.3",
    kind="bound",
    gist="the rate with the smaller constant c_2",
    setting=RUN,
    statement=Inequality(
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
    requires=(SMOOTH, START, STEP, SCHEME, AFTER),
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

CONSTANTS = (
    Claim(
        id="fedadmm/theorem-4.3/proof-constants",
        where="eqs. (59)-(67)",
        kind="parameter-rule",
        gist="the chain of constants 10/3, 34/9, 8/9, 20/3, 169, 940/9 follows from its steps",
        setting=Setting("no letters", letters=()),
        statement=_constants(_PRINTED),
        reading=f"{_LINKS}; (65) is taken as printed, which is false itself. The first of the relations that fails is "
        "the link where the error enters",
    ),
    Claim(
        id="fedadmm/theorem-4.3/proof-constants/repaired",
        where="eqs. (59)-(67)",
        kind="parameter-rule",
        gist="the chain that does follow: 28/3, 476/45, 112/45, 56/3, 457, 2632/9",
        setting=Setting("no letters", letters=()),
        statement=_constants(dict(zip(_a, map(_Q, _THEN), strict=True))),
        reading=f"{_LINKS}; from (65) as printed, and from eq-65/repaired with max(2 s_0 - 2, 1) in place of s_0 and "
        "eps_i^{k_i} in place of eps_i^k",
        repairs="fedadmm/theorem-4.3/proof-constants",
    ),
)

# Remark 4.3

_steps = sympy.ceiling((c + varepsilon * s0) * k0 / varepsilon)
_ACCURACY = Setting("all c, varepsilon > 0 and integers k_0, s_0 >= 1", letters=(c, varepsilon, k0, s0))

REMARK_43 = (
    Claim(
        id="fedadmm/remark-4.3/eq-28",
        where="Remark 4.3",
        kind="bound",
        gist="iterations that meet (27): after k of them (26) is at most varepsilon, so that one of them met it",
        setting=_ACCURACY,
        statement=Inequality(c * k0 / (_steps - s0 * k0), varepsilon),
        reading="after k iterations the bound (26) is at most varepsilon: one of them met (27)",
    ),
    Claim(
        id="fedadmm/remark-4.3/eq-29",
        where="Remark 4.3",
        gist="communication rounds from (28)",
        setting=_ACCURACY,
        statement=identity(2 * sympy.ceiling(_steps / k0), 2 * sympy.ceiling((c + varepsilon * s0) / varepsilon)),
        reading="two communications in each of the ceil(k/k_0) rounds; its letter, in which the factor 2 stands inside "
        "both ceilings, is eq-29/literal",
    ),
    Claim(
        id="fedadmm/remark-4.3/eq-29/literal",
        where="Remark 4.3",
        gist="ceil(2 k/k_0) with the k of (28) is ceil(2 (c + varepsilon s_0)/varepsilon)",
        setting=_ACCURACY,
        statement=identity(sympy.ceiling(2 * _steps / k0), sympy.ceiling(2 * (c + varepsilon * s0) / varepsilon)),
        literal_of="fedadmm/remark-4.3/eq-29",
    ),
)

__all__ = ["CONSTANTS", "REMARK_43", "SHARPER", "THEOREM_43"]
