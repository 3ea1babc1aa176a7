"""FedADMM, what its proofs and remarks say of rounds: eqs. (53), (55) and (68), the last steps of the proof of Theorem
4.3, and what is read off eq. (29)."""

from __future__ import annotations

import sympy

from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import square
from fedtheory.papers.fedadmm import ages, along, iterates, transition, waiting
from fedtheory.papers.fedadmm.letters import LONG_WAIT, SIGN, c, k, k0, parts, s0, section, sigma_i, varepsilon
from fedtheory.papers.fedadmm.rate import CONSTANT, OF_CONSTANT
from fedtheory.papers.fedadmm.rate_proof import SELECTED, last_of, waited
from fedtheory.papers.fedadmm.runs import (
    ROUND,
    RUN,
    SCHEME,
    SMOOTH,
    START,
    STEP,
    ScheduledRun,
    of_client,
)
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Least
from fedtheory.settings.relations import Comparison, Composed, Quantity

# Equation (53)

_away, _jump, _waits = parts("|Dbar_i^{k+1}|^2 |Dpi_i^{k_i+1}|^2 sum_{tau_{k_i+1}<=t<tau_{k+1}}|w^{t+1}-w^t|^2")


EQ_53 = (
    section("eq. (53)", RUN, SMOOTH, START, STEP, SCHEME, SELECTED)(
        "",
        Inequality(
            _away,
            2 * _jump / sigma_i**2 + 2 * s0 * _waits,
            (
                of_client(_away.name, lambda v, k: v.away(k + 1)),
                of_client(_jump.name, last_of(lambda v, j: square(v.history.Pi[j + 1] - v.history.Pi[j]))),
                of_client(_waits.name, waited),
            ),
        ),
        "with s_0 as printed",
        tex=r"\|\triangle\overline{\mathbf{w}}_i^{k+1}\|^2\leq\frac{2}{\sigma_i^2}\|\triangle\boldsymbol{"
        r"\pi}_i^{k_i+1}\|^2+2s_0\sum_{t=\tau_{k_i+1}}^{\tau_{k+1}-1}\|\mathbf{w}^{t+1}-\mathbf{w}^t\|^2",
        uses=("eq-21",),
        reading="its two ends, of a client that was selected before; under Scheme 4.1 it may wait for 2 s_0 - 2 "
        "rounds. The limit that is drawn from it does not depend on the number",
        flaw="The sum over the rounds in which a client waits is taken as one of at most s_0 terms; under Scheme 4.1 "
        "there may be 2 s_0 - 2.",
        root=LONG_WAIT,
    ),
    waiting.EQ_53,
)

# Section 3.5

_kept = parts("|z_i^{k+1}-z_i^k|^2")[0]


def _begins_without(problem: object, run: ScheduledRun) -> bool:
    """Return True if k is in K, and i not in Omega^{tau_k}; Omega^0 is [m]."""
    begins = run.k % run.fed.k0 == 0 and run.round > 1
    return begins and not run.masks[run.round - 2][run.i]


section_35 = section("Section 3.5", ROUND, Hypothesis("k is in K, and i is not in Omega^{tau_k}", met=_begins_without))
SECTION_35_LITERAL = section_35(
    "literal",
    Inequality(_kept, sympy.S.Zero, (of_client(_kept.name, lambda v, k: square(v.history.Z[k + 1] - v.history.Z[k])),)),
    "clients outside Omega^{tau_k} do nothing at steps k, k + 1, ..., k + k_0 - 1",
    kind="identity",
    tex=r"\Omega^{\tau_k}, \quad k,k+1,\cdots,k+k_0-1",
    reading="of the first of these steps. At step k in K the clients of Omega^{tau_{k+1}} go on, which are selected "
    "then; Omega^{tau_k} is that of the round before",
    literal_of="section-3.5",
    flaw="Omega^{tau_k} is printed for Omega^{tau_{k+1}}: at a step k in K those of the next round are selected.",
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
eq_55 = section("eq. (55)", _ITERATIONS)
EQ_55 = (
    eq_55(
        "",
        _eq_55(_tau - 1 - 1 / k0),
        "rounds and iterations: the ceiling as printed, and the order of the tolerances after it",
        tex=r"\tau_{\ell+1}=\lceil(\ell+1)/k_0\rceil=\lceil\tau_{k+1}-1-1/k_0\rceil=\tau_{k+1}",
        reading=f"{_L_READ}; (l + 1)/k_0 is tau_{{k+1}} - 1 + 1/k_0, with a plus. The order of the tolerances is "
        "eq-55/tolerances",
        literal_of="eq-55/repaired",
        flaw="(l + 1)/k_0 is tau_{k+1} - 1 + 1/k_0: the sign of 1/k_0 is printed as a minus, with which the ceiling "
        "is tau_{k+1} - 1 or, for k_0 = 1, tau_{k+1} - 2.",
        root=SIGN,
    ),
    eq_55(
        "repaired",
        _eq_55(_tau - 1 + 1 / k0),
        "with + 1/k_0 in the ceiling",
        kind="inequality",
        repairs="eq-55",
    ),
    eq_55(
        "tolerances",
        Inequality(_eps_l, _eps_k, _TOLERANCES),
        "eps_i^{l+1} <= eps_i^{k+1}",
        setting=RUN,
        tex=r"\epsilon_i^{\ell+1}\leq\epsilon_i^{k+1}",
        uses=("eq-55",),
        reading=f"{_L_READ}, so that the tolerances are those of an earlier iteration, and they fall: the order is the "
        "other one. In the lines that follow 6 eps_i^{l+1} stands for 6 eps_i^{k+1}; their limits are the same",
        literal_of="eq-55/tolerances/repaired",
        flaw="By eq. (55) l <= k, and the tolerances do not increase: the one at l + 1 is the larger.",
        root=SIGN,
    ),
    eq_55(
        "tolerances/repaired",
        along.then("eps_i^{k+1}", iterates.accuracy, k, later=True, each=True)
        <= along.then("eps_i^{l+1}", iterates.accuracy, _FIRST, later=True, each=True),
        "eps_i^{k+1} <= eps_i^{l+1}",
        setting=along.RUNS,
        requires=(START,),
        reading="l = floor(k/k_0) k_0, which is (tau_{k+1} - 1) k_0",
        follows=("lemma-C.2/c/accuracy", "lemma-C.2/c/accuracy-idle"),
        repairs="eq-55/tolerances",
    ),
)

# The proof of Theorem 4.3


def _lyapunov(at: str, index: sympy.Expr) -> Composed:
    """Lt after the iteration of an index."""
    lagrange = along.then(f"L^{{{at}}}", iterates.lagrangian, index, later=True)
    return lagrange + 29 * along.then(
        f"sum_i(eps_i^{{{at}}}/((1-nu_i)sigma_i))", iterates.tolerances, index, later=True
    )


EQ_68 = section("eq. (68)", along.RUNS, transition.SMOOTH, transition.STEP, START)(
    "",
    _lyapunov("k+1", k) <= _lyapunov("l+1", _FIRST),
    "the Lyapunov function falls within a round, as printed",
    tex=r"\widetilde{\mathcal{L}}^{(p+1)k_0}-\widetilde{\mathcal{L}}^{pk_0+1}\le 0, \quad \forall p\geq 0",
    uses=("lemma-C.2/a",),
    reading="l = floor(k/k_0) k_0 is the first iteration of the round of k: at k = (p + 1) k_0 - 1 it is p k_0. For "
    "k_0 = 1 both ends are one",
    follows=("lemma-C.2/a",),
)

_least, _least_late, _least_odd = parts(
    "min_{s=1,2,...,k}|grad_f(w^{tau_{s+1}})|^2 min_{p=s_0,...,t}|grad_f(w^{tau_{pk_0+1}})|^2 "
    "min_{s=1,3,...,k}|grad_f(w^{tau_{s+1}})|^2"
)
_t = along.t
_LATER = Hypothesis("k = t k_0 > s_0 k_0", sympy.And(sympy.Eq(k, _t * k0), sympy.Gt(_t, s0)))
_ODD = Hypothesis("k is odd", met=lambda problem, run: run.k % 2 == 1)


def _least_of(name: sympy.Symbol, first: sympy.Expr | int, every: sympy.Expr | int) -> Quantity:
    """The least |grad f(w^{tau_{s+1}})|^2 over the s = first, first + every, ... up to k."""
    letters = ((s0, along.RUNS.sources[s0]), (k0, along.RUNS.sources[k0]))
    return Quantity(name, Least(ages.ALONG, At(ages.ITERATION, ages.SLOPE, later=True), first, every, letters))


def _last_display(least: Quantity) -> Inequality:
    return Inequality(
        least.expression,
        _least_late,
        (least, _least_of(_least_late, s0 * k0, k0), *OF_CONSTANT),
        also=(
            Comparison(_least_late, "<=", CONSTANT / (_t - s0 + 1)),
            Comparison(CONSTANT / (_t - s0 + 1), "<=", CONSTANT * k0 / (k - s0 * k0)),
        ),
    )


_bound = sympy.floor(k / k0)
_MET = (transition.SMOOTH, START, transition.STEP, ages.SCHEME, _LATER)
end_of_appendix_c6 = section("end of Appendix C.6", along.AT_ROUNDS, *_MET, id="appendix-C.6/last")
LAST = (
    end_of_appendix_c6(
        "",
        _last_display(_least_of(_least, 1, 1)),
        "the last display",
        kind="inequality",
        tex=r"\min_{p=s_0,s_0+1,\cdots,t}\|\nabla f(\mathbf{w}^{\tau_{pk_0+1}})\|^2\leq\frac{c}{t-s_0+1}\leq"
        r"\frac{ck_0}{k-s_0k_0}",
        uses=("eq-67", "eq-68", "eq-69", "lemma-C.2/b"),
        reading="k = t k_0 > s_0 k_0; eps_i in c is eps_i^0. That s = 1, 3, ..., k is printed for 1, 2, ..., k is "
        "appendix-C.6/last/literal",
        follows=tuple(claim.id for claim in ages.ITERATIONS),
    ),
    end_of_appendix_c6(
        "literal",
        _last_display(_least_of(_least_odd, 1, 2)),
        "the last display, with the least over s = 1, 3, ..., k",
        requires=(*_MET, _ODD),
        tex=r"\min_{s=1,3,\cdots,k}\|\nabla f(\mathbf{w}^{\tau_{s+1}})\|^2\leq\min_{p=s_0,s_0+1,\cdots,t}\|\nabla f("
        r"\mathbf{w}^{\tau_{pk_0+1}})\|^2",
        uses=("eq-67", "eq-68", "eq-69", "lemma-C.2/b"),
        reading="as the text at hand prints it; for odd k, of which alone it makes sense",
        literal_of="appendix-C.6/last",
        flaw="3 is printed for 2 in the range of s: the even p k_0 of the next line are then missing from it.",
    ),
    section(
        "proof of Theorem 4.3",
        Setting("all k > s_0 k_0", letters=(k, k0, s0, c)),
        Hypothesis("k > s_0 k_0", sympy.Gt(k, s0 * k0, evaluate=False)),
        id="theorem-4.3",
    )(
        "any-k",
        Inequality(c / (_bound - s0 + 1), c * k0 / (k - s0 * k0)),
        "from k = t k_0 to every k (implied, not printed)",
        kind="inequality",
        origin="implied",
        uses=("appendix-C.6/last",),
        reading="t = floor(k/k_0): the least over s = 1, ..., k is at most that over 1, ..., t k_0",
    ),
)

# Consequences of eq. (29)

_more = sympy.Symbol("A", nonnegative=True), sympy.Symbol("B", nonnegative=True)


def _rounds_needed(k0: sympy.Expr, c: sympy.Expr = c, s0: sympy.Expr = s0) -> sympy.Expr:
    """CR of (29), as remark-4.3/eq-29 reads it, with the k of (28)."""
    return 2 * sympy.ceiling(sympy.ceiling((c + varepsilon * s0) * k0 / varepsilon) / k0)


def _c_of(s0: sympy.Expr) -> sympy.Expr:
    """The c of Theorem 4.3, as a function of s_0."""
    A, B = _more
    return A * s0 * (s0 + 1) + B * s0


_COUNTED = Setting("all c, varepsilon > 0 and integers k_0, s_0 >= 1", letters=(c, varepsilon, k0, s0))
against_remark_43 = section("Sections 1.2 a) and 5.4.1, against Remark 4.3", _COUNTED, id="remark-4.3/k0-and-rounds")
_OF_S0 = Setting("all varepsilon > 0, A, B >= 0 and integers s_0 >= 1", letters=(varepsilon, s0, *_more))
READ_OFF = (
    against_remark_43(
        "",
        Inequality(_rounds_needed(k0 + 1), _rounds_needed(k0), strict=True),
        "larger k_0, fewer rounds of communication, against (29)",
        kind="order",
        origin="observed",
        uses=("remark-4.3/eq-29",),
        reading="ours: the sections see it in Figure 2, and do not draw it from (29); whether it is seen is "
        "fedadmm/figure-2. By (29), with the c of Theorem 4.3, in which k_0 does not occur, the rounds are as many for "
        "all k_0",
        flaw="k_0 cancels in eq. (29), and does not occur in c: what the experiments see is not what the theorem "
        "grants.",
    ),
    against_remark_43(
        "repaired",
        identity(_rounds_needed(k0), _rounds_needed(sympy.S.One)),
        "by (29) the rounds do not depend on k_0",
        kind="order",
        repairs="remark-4.3/k0-and-rounds",
    ),
    section("Remark 4.3", _OF_S0, id="experiments")(
        "s0",
        Inequality(
            2 * sympy.ceiling((_c_of(s0) + varepsilon * s0) / varepsilon),
            2 * sympy.ceiling((_c_of(s0 + 1) + varepsilon * (s0 + 1)) / varepsilon),
            strict=True,
        ),
        "larger s_0, more rounds of communication, read off (29)",
        kind="order",
        tex="",
        uses=("remark-4.3/eq-29", "theorem-4.3"),
        reading="c = A s_0 (s_0 + 1) + B s_0 with the numbers A, B >= 0 of Theorem 4.3: of what (29) grants, which "
        "is a "
        "bound on the rounds",
    ),
)

__all__ = ["EQ_53", "EQ_55", "EQ_68", "LAST", "READ_OFF", "SECTION_35_LITERAL"]
