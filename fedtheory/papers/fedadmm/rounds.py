"""FedADMM, what its proofs and remarks say of rounds: eqs. (53), (55) and (68), the last steps of the proof of Theorem
4.3, and what is read off eq. (29)."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality, inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedadmm import along, iterates, transition, waiting
from fedtheory.papers.fedadmm.letters import c, k, k0, parts, s0, sigma_i, varepsilon
from fedtheory.papers.fedadmm.rate import CONSTANT, OF_CONSTANT, smallest
from fedtheory.papers.fedadmm.rate_proof import SELECTED, last_of, waited
from fedtheory.papers.fedadmm.runs import (
    ROUND,
    RUN,
    SCHEME,
    SMOOTH,
    START,
    STEP,
    RunView,
    ScheduledRun,
    of_client,
    quantity,
)
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Comparison, Composed

# Equation (53)

_away, _jump, _waits = parts("|Dbar_i^{k+1}|^2 |Dpi_i^{k_i+1}|^2 sum_{tau_{k_i+1}<=t<tau_{k+1}}|w^{t+1}-w^t|^2")


EQ_53 = (
    Claim(
        id="fedadmm/eq-53",
        where="eq. (53)",
        gist="with s_0 as printed",
        setting=RUN,
        statement=Inequality(
            _away,
            2 * _jump / sigma_i**2 + 2 * s0 * _waits,
            (
                of_client(_away.name, lambda v, k: v.away(k + 1)),
                of_client(_jump.name, last_of(lambda v, j: square(v.history.Pi[j + 1] - v.history.Pi[j]))),
                of_client(_waits.name, waited),
            ),
        ),
        requires=(SMOOTH, START, STEP, SCHEME, SELECTED),
        reading="its two ends, of a client that was selected before; under Scheme 4.1 it may wait for 2 s_0 - 2 "
        "rounds. The limit that is drawn from it does not depend on the number",
    ),
    waiting.EQ_53,
)

# Section 3.5

_kept = parts("|z_i^{k+1}-z_i^k|^2")[0]


def _begins_without(problem: object, run: ScheduledRun) -> bool:
    """Return True if k is in K, and i not in Omega^{tau_k}; Omega^0 is [m]."""
    begins = run.k % run.fed.k0 == 0 and run.round > 1
    return begins and not run.masks[run.round - 2][run.i]


SECTION_35_LITERAL = Claim(
    id="fedadmm/section-3.5/literal",
    where="Section 3.5",
    kind="identity",
    gist="clients outside Omega^{tau_k} do nothing at steps k, k + 1, ..., k + k_0 - 1",
    setting=ROUND,
    statement=Inequality(
        _kept, sympy.S.Zero, (of_client(_kept.name, lambda v, k: square(v.history.Z[k + 1] - v.history.Z[k])),)
    ),
    requires=(Hypothesis("k is in K, and i is not in Omega^{tau_k}", met=_begins_without),),
    reading="of the first of these steps. At step k in K the clients of Omega^{tau_{k+1}} go on, which are selected "
    "then; Omega^{tau_k} is that of the round before",
    literal_of="fedadmm/section-3.5",
)

# Equation (55)

_tau = sympy.ceiling((k + 1) / k0)
_l = (_tau - 1) * k0
_ITERATIONS = Setting("all k >= 0 and k_0 >= 1", letters=(k, k0))


def _eq_55(inside: sympy.Expr) -> Inequality:
    """l + 1 <= k + 1 <= tau_{k+1} k_0, and tau_{l+1} = ceil(inside) = tau_{k+1}."""
    return Inequality(
        _l + 1,
        _tau * k0,
        middle=k + 1,
        also=tuple(
            Comparison(*sides)
            for one in (sympy.ceiling((_l + 1) / k0), sympy.ceiling(inside))
            for sides in ((one, "<=", _tau), (_tau, "<=", one))
        ),
    )


#: The first iteration of the round of k.
_FIRST = sympy.floor(k / k0) * k0
_eps_l, _eps_k = parts("eps_i^{l+1} eps_i^{k+1}")
_TOLERANCES = (
    of_client(_eps_l.name, lambda v, k: v.history.eps[(v.run.round - 1) * v.fed.k0 + 1]),
    of_client(_eps_k.name, lambda v, k: v.history.eps[k + 1]),
)
_L_READ = "l = (tau_{k+1} - 1) k_0 is the first iteration of the round of k"
EQ_55 = (
    Claim(
        id="fedadmm/eq-55",
        where="eq. (55)",
        gist="rounds and iterations: the ceiling as printed, and the order of the tolerances after it",
        setting=_ITERATIONS,
        statement=_eq_55(_tau - 1 - 1 / k0),
        reading=f"{_L_READ}; (l + 1)/k_0 is tau_{{k+1}} - 1 + 1/k_0, with a plus. The order of the tolerances is "
        "eq-55/tolerances",
        literal_of="fedadmm/eq-55/repaired",
    ),
    Claim(
        id="fedadmm/eq-55/repaired",
        where="eq. (55)",
        kind="inequality",
        gist="with + 1/k_0 in the ceiling",
        setting=_ITERATIONS,
        statement=_eq_55(_tau - 1 + 1 / k0),
        repairs="fedadmm/eq-55",
    ),
    Claim(
        id="fedadmm/eq-55/tolerances",
        where="eq. (55)",
        gist="eps_i^{l+1} <= eps_i^{k+1}",
        setting=RUN,
        statement=Inequality(_eps_l, _eps_k, _TOLERANCES),
        reading=f"{_L_READ}, so that the tolerances are those of an earlier iteration, and they fall: the order is the "
        "other one. In the lines that follow 6 eps_i^{l+1} stands for 6 eps_i^{k+1}; their limits are the same",
        literal_of="fedadmm/eq-55/tolerances/repaired",
    ),
    Claim(
        id="fedadmm/eq-55/tolerances/repaired",
        where="eq. (55)",
        gist="eps_i^{k+1} <= eps_i^{l+1}",
        setting=along.RUNS,
        statement=inequality(
            along.then("eps_i^{k+1}", iterates.accuracy, k, later=True, each=True)
            <= along.then("eps_i^{l+1}", iterates.accuracy, _FIRST, later=True, each=True)
        ),
        requires=(START,),
        reading="l = floor(k/k_0) k_0, which is (tau_{k+1} - 1) k_0",
        follows=("fedadmm/lemma-C.2/c/accuracy", "fedadmm/lemma-C.2/c/accuracy-idle"),
        repairs="fedadmm/eq-55/tolerances",
    ),
)

# The proof of Theorem 4.3


def _lyapunov(at: str, index: sympy.Expr) -> Composed:
    """Lt after the iteration of an index."""
    lagrange = along.then(f"L^{{{at}}}", iterates.lagrangian, index, later=True)
    return lagrange + 29 * along.then(
        f"sum_i(eps_i^{{{at}}}/((1-nu_i)sigma_i))", iterates.tolerances, index, later=True
    )


EQ_68 = Claim(
    id="fedadmm/eq-68",
    where="eq. (68)",
    gist="the Lyapunov function falls within a round, as printed",
    setting=along.RUNS,
    statement=inequality(_lyapunov("k+1", k) <= _lyapunov("l+1", _FIRST)),
    requires=(transition.SMOOTH, transition.STEP, START),
    reading="l = floor(k/k_0) k_0 is the first iteration of the round of k: at k = (p + 1) k_0 - 1 it is p k_0. For "
    "k_0 = 1 both ends are one",
    follows=("fedadmm/lemma-C.2/a",),
)

_least, _least_late, _least_odd = parts(
    "min_{s=1,2,...,k}|grad_f(w^{tau_{s+1}})|^2 min_{p=s_0,...,t}|grad_f(w^{tau_{pk_0+1}})|^2 "
    "min_{s=1,3,...,k}|grad_f(w^{tau_{s+1}})|^2"
)


def _over(v: RunView, iterations: range) -> Array:
    """The least |grad f(w^{tau_{s+1}})|^2 over so many s."""
    found: Array = np.min(np.stack([v.slope(s + 1) for s in iterations]), axis=0)
    return found


def _late(v: RunView, k: int) -> Array:
    return _over(v, range(v.run.s0 * v.fed.k0, k + 1, v.fed.k0))


_t = k / k0
_LATER = Hypothesis("k = t k_0 > s_0 k_0", met=lambda problem, run: run.k > run.s0 * run.fed.k0)
_ODD = Hypothesis("k is odd", met=lambda problem, run: run.k % 2 == 1)


def _last_display(least: sympy.Expr, of: Any) -> Inequality:
    return Inequality(
        least,
        _least_late,
        (quantity(least.name, of), quantity(_least_late.name, _late), *OF_CONSTANT),
        also=(
            Comparison(_least_late, "<=", CONSTANT / (_t - s0 + 1)),
            Comparison(CONSTANT / (_t - s0 + 1), "<=", CONSTANT * k0 / (k - s0 * k0)),
        ),
    )


_bound = sympy.floor(k / k0)
LAST = (
    Claim(
        id="fedadmm/appendix-C.6/last",
        where="end of Appendix C.6",
        kind="inequality",
        gist="the last display",
        setting=ROUND,
        statement=_last_display(_least, smallest),
        requires=(SMOOTH, START, STEP, SCHEME, _LATER),
        reading="k = t k_0 > s_0 k_0; eps_i in c is eps_i^0. That s = 1, 3, ..., k is printed for 1, 2, ..., k is "
        "appendix-C.6/last/literal",
    ),
    Claim(
        id="fedadmm/appendix-C.6/last/literal",
        where="end of Appendix C.6",
        gist="the last display, with the least over s = 1, 3, ..., k",
        setting=ROUND,
        statement=_last_display(_least_odd, lambda v, k: _over(v, range(1, k + 1, 2))),
        requires=(SMOOTH, START, STEP, SCHEME, _LATER, _ODD),
        reading="as the text at hand prints it; for odd k, of which alone it makes sense",
        literal_of="fedadmm/appendix-C.6/last",
    ),
    Claim(
        id="fedadmm/theorem-4.3/any-k",
        where="proof of Theorem 4.3",
        kind="inequality",
        gist="from k = t k_0 to every k (implied, not printed)",
        setting=Setting("all k > s_0 k_0", letters=(k, k0, s0, c)),
        statement=Inequality(c / (_bound - s0 + 1), c * k0 / (k - s0 * k0)),
        requires=(Hypothesis("k > s_0 k_0", sympy.Gt(k, s0 * k0, evaluate=False)),),
        reading="t = floor(k/k_0): the least over s = 1, ..., k is at most that over 1, ..., t k_0",
    ),
)

# What is read off eq. (29)

_more = sympy.Symbol("A", nonnegative=True), sympy.Symbol("B", nonnegative=True)


def _rounds_needed(k0: sympy.Expr, c: sympy.Expr = c, s0: sympy.Expr = s0) -> sympy.Expr:
    """CR of (29), as remark-4.3/eq-29 reads it, with the k of (28)."""
    return 2 * sympy.ceiling(sympy.ceiling((c + varepsilon * s0) * k0 / varepsilon) / k0)


def _c_of(s0: sympy.Expr) -> sympy.Expr:
    """The c of Theorem 4.3, as a function of s_0."""
    A, B = _more
    return A * s0 * (s0 + 1) + B * s0


_COUNTED = Setting("all c, varepsilon > 0 and integers k_0, s_0 >= 1", letters=(c, varepsilon, k0, s0))
READ_OFF = (
    Claim(
        id="fedadmm/remark-4.3/k0-and-rounds",
        where="Sections 1.2 a) and 5.4.1, against Remark 4.3",
        kind="order",
        gist="larger k_0, fewer rounds of communication, against (29)",
        setting=_COUNTED,
        statement=Inequality(_rounds_needed(k0 + 1), _rounds_needed(k0), strict=True),
        reading="ours: the sections see it in Figure 2, and do not draw it from (29); whether it is seen is "
        "fedadmm/figure-2. By (29), with the c of Theorem 4.3, in which k_0 does not occur, the rounds are as many for "
        "all k_0",
    ),
    Claim(
        id="fedadmm/remark-4.3/k0-and-rounds/repaired",
        where="Sections 1.2 a) and 5.4.1, against Remark 4.3",
        kind="order",
        gist="by (29) the rounds do not depend on k_0",
        setting=_COUNTED,
        statement=identity(_rounds_needed(k0), _rounds_needed(sympy.S.One)),
        repairs="fedadmm/remark-4.3/k0-and-rounds",
    ),
    Claim(
        id="fedadmm/experiments/s0",
        where="Remark 4.3",
        kind="order",
        gist="larger s_0, more rounds of communication, read off (29)",
        setting=Setting("all varepsilon > 0, A, B >= 0 and integers s_0 >= 1", letters=(varepsilon, s0, *_more)),
        statement=Inequality(
            2 * sympy.ceiling((_c_of(s0) + varepsilon * s0) / varepsilon),
            2 * sympy.ceiling((_c_of(s0 + 1) + varepsilon * (s0 + 1)) / varepsilon),
            strict=True,
        ),
        reading="c = A s_0 (s_0 + 1) + B s_0 with the numbers A, B >= 0 of Theorem 4.3: of what (29) grants, which "
        "is a "
        "bound on the rounds",
    ),
)

__all__ = ["EQ_53", "EQ_55", "EQ_68", "LAST", "READ_OFF", "SECTION_35_LITERAL"]
