"""FedDCD, Section 7 and Appendix F: the lower bound and the hard functions it rests on.

Appendix F writes n for N in places; N is meant throughout. s stands for sqrt(beta/(N alpha)), which is above 1 in the
case alpha < beta/N.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import sympy

from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.order import Order
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.learning.lower_bounds import chain
from fedtheory.numbers.rational import Array, apply
from fedtheory.numbers.symbols import Max, Min
from fedtheory.papers.feddcd import exceptions, reach
from fedtheory.papers.feddcd.dual import OTHER_CASE, N, alpha, beta, section, tau
from fedtheory.papers.feddcd.exceptions import HardParams, Vector
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

s, kappa = sympy.symbols("s kappa", positive=True)
m, t = sympy.symbols("m t", integer=True, positive=True)
epsilon = sympy.Symbol("epsilon", positive=True)


HARD = Setting(
    "the functions of Appendix F, cut to finitely many coordinates",
    letters={
        **{letter: str(letter) for letter in (N, alpha, s, tau, t)},
        beta: lambda problem, params: params.m * params.alpha * params.s**2,
    },
    drawing=Drawing(special=exceptions.HARD),
    hints=Hints(complete=True),
)
CONSTANTS = Setting("kappa >= 1", domain=(sympy.Ge(kappa, 1, evaluate=False),))


def hessian(params: HardParams) -> Array:
    """Hessian of f_i, eq. (41); with m < N functions each is shared by ``block`` clients, divided by their number."""
    smooth = params.m * params.alpha * (params.s**2 - 1) / 4
    whole = smooth * chain(params.client, params.m, params.size) + params.alpha * np.eye(params.size, dtype=int)
    return whole / params.block


def _curvature(problem: object, params: HardParams, state: Vector) -> Array:
    """x'Hx, H the Hessian of the f_i of the client, eq. (41)."""
    return (state.x * apply(hessian(params), state.x)).sum(axis=-1)


def _square(problem: object, params: HardParams, state: Vector) -> Array:
    """|x|^2."""
    return (state.x**2).sum(axis=-1)


#: Quantities of a counterexample to be shown, besides the number.
_curvature.parts = {"H": lambda problem, params: hessian(params)}  # type: ignore[attr-defined]


def _sum_of_M(problem: object, params: HardParams, state: Vector) -> Array:
    """M^(1) + ... + M^(m), all rows but the last."""
    total = sum(chain(k, params.m, params.size) for k in range(1, params.m + 1))
    return np.asarray(total)[:-1]


def _tridiagonal(problem: object, params: HardParams, state: Vector) -> Array:
    """The matrix with 2 on its diagonal and -1 beside it, all rows but the last."""
    matrix = (
        2 * np.eye(params.size, dtype=int) - np.eye(params.size, k=1, dtype=int) - np.eye(params.size, k=-1, dtype=int)
    )
    return matrix[:-1]


def _gradient_at_solution(problem: object, params: HardParams, state: Vector) -> Array:
    """The first size - 1 entries of sum_i grad f_i(w*), with w*_i = q^i, q = (s - 1)/(s + 1)."""
    q = (params.s - 1) / (params.s + 1)
    w = np.array([q ** (i + 1) for i in range(params.size)])
    smooth = params.N * params.alpha * (params.s**2 - 1) / 4
    first = np.eye(params.size, dtype=int)[0]
    tridiagonal = np.concatenate([_tridiagonal(problem, params, state), first[None]])
    return (smooth * (tridiagonal @ w - first) + params.N * params.alpha * w)[:-1]


def _expected_power(problem: object, params: HardParams, state: Vector) -> Any:
    """E[delta^K] for K binomial with t trials of probability tau/N, delta = ((s - 1)/(s + 1))^2."""
    delta = ((params.s - 1) / (params.s + 1)) ** 2
    p = (0 * params.s + params.tau) / params.N
    return sum(comb(params.t, i) * (p * delta) ** i * (1 - p) ** (params.t - i) for i in range(params.t + 1))


def _zero(problem: object, params: object, state: object) -> Array:
    return np.zeros((), dtype=int)


_xHx, _xx = sympy.symbols("x'Hx |x|^2")
_generated = (1 - tau / N * 4 / (s + 2 + 1 / s)) ** t
_root = sympy.sqrt(kappa)
#: An iteration of AccFedDCD has four communications, and its gap contracts by 1 - a in each (Theorem 6.1).
_accelerated = (tau - 1) / (N - 1) / (sympy.sqrt(kappa) + (tau - 1) / (N - 1)) / 4
#: Decrease per round that eq. (14) grants at most, as printed.
_printed = Min(tau / sympy.sqrt(N) * 4 / _root, 8 * sympy.sqrt(2) / kappa, 1)
_proved = tau / N * Min(4 * sympy.sqrt(N) / _root, 1)
_case_2 = (
    1 - Min(tau * sympy.ceiling(N / m) / N * 4 * sympy.sqrt(m) / _root, 1),
    1 - Min(8 / (sympy.sqrt(m) * _root), 1),
    1 - Min(8 * sympy.sqrt(2) / kappa, 1),
)
_kept = (
    _case_2[0],
    1 - Min(8 * tau / (sympy.sqrt(m) * _root), 1),
    1 - Min(8 * sympy.sqrt(2) * tau / kappa, 1),
)
PARTICIPATION = Hypothesis("2 <= tau <= N", sympy.And(sympy.Ge(tau, 2), sympy.Le(tau, N)))
MANY = Hypothesis("N >= 2", sympy.Ge(N, 2))
FIRST_CASE = Hypothesis(
    "alpha < beta/N", met=lambda problem, params: params.m == params.N and params.block == 1 and params.s > 1
)
SECOND_CASE = Hypothesis("alpha >= beta/N", sympy.Le(kappa, N))
BLOCKS = Hypothesis(
    "m is the largest integer with m alpha < beta",
    sympy.And(sympy.Lt(m, kappa, evaluate=False), sympy.Ge(m + 1, kappa, evaluate=False)),
)

_class = Inequality(alpha * _xx, beta * _xx, (Quantity(_xHx, _curvature), Quantity(_xx, _square)), middle=_xHx)
_READING_14 = (
    "AccFedDCD is such a procedure with four communications an iteration, so its rate (theorem-6.1/eq-10/repaired) may "
    "not beat the bound; eq. (14) is compared with that rate alone, on no other procedure"
)

theorem_71 = section("Theorem 7.1", CONSTANTS, PARTICIPATION)
SECTION_7 = (
    theorem_71(
        "eq-14",
        Inequality(_accelerated, _printed),
        "lower bound for black-box procedures under random participation, as printed (min of three terms)",
        kind="lower-bound",
        tex=r"\mathbb{E}_{\mathcal{N}_i,i\in[T]}\left[f(w^{(T)})-f(w^*)\right]\geq\Omega\left(\left(1-\min\left\{"
        r"\frac{\tau}{\sqrt{N}}\frac{4}{\sqrt{\beta/\alpha}},\frac{8\sqrt{2}}{\beta/\alpha},1\right\}\right)^T"
        r"\right)",
        uses=(
            "appendix-F/class",
            "appendix-F/rise",
            "appendix-F/sum",
            "appendix-F/solution",
            "appendix-F/mgf",
            "appendix-F/bound-step",
            "appendix-F/case-2",
        ),
        reading=_READING_14,
        flaw="The proof has two cases, alpha < beta/N and alpha >= beta/N, each with a term of its own. The statement "
        "takes the smaller of both terms in either case, and so claims more than is proved: where beta/alpha is "
        "large the term of the second case is far below that of the first.",
        root=OTHER_CASE,
    ),
    reach.LOWER_BOUND,
    theorem_71(
        "eq-14/consistency",
        Inequality(_accelerated, _proved),
        "one procedure, AccFedDCD, does not beat 1 - (tau/N) min{4 sqrt(N)/sqrt(beta/alpha), 1}, for alpha < beta/N",
        kind="inequality",
        requires=(PARTICIPATION, Hypothesis("alpha < beta/N", sympy.Gt(kappa, N))),
        origin="observed",
        reading="no lower bound: the factor that Appendix F gives in its first case is compared with the rate of "
        "AccFedDCD (Theorem 6.1, up to a constant factor) and with no other procedure. That no procedure beats it is "
        "theorem-7.1/eq-14/repaired",
    ),
    theorem_71(
        "complexity",
        Order(
            sympy.sqrt(N) / tau * _root * sympy.log(1 / epsilon),
            sympy.log(1 / epsilon) / -sympy.log(1 - _proved),
            small=epsilon,
            large=kappa,
        ),
        "iteration complexity lower bound printed after Theorem 7.1",
        tex=r"\Omega\left(\frac{\sqrt{N}}{\tau}\sqrt{\frac{\beta}{\alpha}}\ln\left(\frac{1}{\epsilon}\right)\right)",
        uses=("theorem-7.1/eq-14",),
        given=("theorem-7.1/eq-14/repaired",),
        reading="conditional: no procedure is looked at. The printed order is at most a constant times the rounds that "
        "the factor 1 - (tau/N) min{4 sqrt(N)/sqrt(beta/alpha), 1} implies, for large kappa; that this factor bounds "
        "all procedures is theorem-7.1/eq-14/repaired, without which it says nothing. Of eq. (14) as it is printed it "
        "does not follow, which is false",
    ),
    section("Section 7", CONSTANTS, MANY, PARTICIPATION, id="")(
        "gap",
        Inequality(
            sympy.Rational(1, 2) * sympy.sqrt(N) * sympy.sqrt(N) / tau * _root,
            2 * sympy.sqrt(N) * sympy.sqrt(N) / tau * _root,
            middle=(N - 1) / (tau - 1) * _root,
        ),
        "a sqrt(N) gap separates AccFedDCD from the lower bound: eq. (13) from the order after Theorem 7.1",
        kind="order",
        tex=r"\sqrt{N}",
        uses=("theorem-7.1/complexity", "table-1/accfeddcd"),
        given=("theorem-7.1/complexity", "table-1/accfeddcd"),
        reading="eq. (13) is between 1/2 and 2 times sqrt(N) times the printed complexity; whether that bounds all "
        "procedures is theorem-7.1/complexity",
    ),
)

appendix_f = section("Appendix F", HARD, FIRST_CASE)
APPENDIX_F = (
    *reach.RISE,
    appendix_f(
        "class",
        _class,
        "the hard functions are alpha-strongly convex and beta-smooth",
        kind="property",
        requires=(),
        tex=r"f_i=\frac{1}{|\mathcal{B}_i|}\tilde{f}_j \quad \text{if } i\in\mathcal{B}_j",
        flaw="In the case alpha >= beta/N every f_i is 1/|B_j| times an alpha-strongly convex function, where B_j is "
        "the block of i. With more than one function in the block f_i is only alpha/|B_j|-strongly convex.",
        root=OTHER_CASE,
    ),
    appendix_f(
        "class/repaired",
        _class,
        "the hard functions of the case alpha < beta/N are alpha-strongly convex and beta-smooth",
        kind="property",
        repairs="appendix-F/class",
    ),
    appendix_f(
        "sum",
        identity(Quantity("sum_k(M^{(k)})", _sum_of_M), Quantity("tridiag(-1, 2, -1)", _tridiagonal)),
        "sum of the M^(k) is the tridiagonal matrix",
        tex=r"\sum_{k=1}^{\infty}M^{(k)}",
        reading="the sum runs over k in [N]; M^(k) is defined for these k only",
    ),
    appendix_f(
        "solution",
        identity(Quantity("sum_i(grad f_i(w*))", _gradient_at_solution), Quantity("0", _zero)),
        "closed form of the minimiser",
        tex=r"w_i^*=\left(\frac{\sqrt{\beta/(N\alpha)}-1}{\sqrt{\beta/(N\alpha)}+1}\right)^i",
    ),
    appendix_f(
        "mgf",
        identity(Quantity("E[delta^K]", _expected_power), _generated),
        "expectation of delta^K through the binomial generating function",
        requires=(FIRST_CASE, PARTICIPATION),
        tex=r"\frac{\delta}{1-\delta}\mathbb{E}\left[\delta^{K_t}\right]=\frac{\delta}{1-\delta}\left(\frac{\tau}{N}"
        r"\delta+1-\frac{\tau}{N}\right)^t",
        reading="K_t is taken to be binomial, as the paper does; that each round reaches a new coordinate with "
        "probability tau/N is appendix-F/rise",
    ),
    appendix_f(
        "bound-step",
        ParameterRule(
            {},
            (
                sympy.Ge(_generated, (1 - tau / N * 4 / Min(s, 4)) ** t, evaluate=False),
                sympy.Eq((1 - tau / N * 4 / Min(s, 4)) ** t, (1 - tau / N * Min(4 / s, 1)) ** t, evaluate=False),
            ),
        ),
        "the bound with 4/min{...,4} that follows the generating function, as printed",
        kind="inequality",
        setting=CONSTANTS,
        requires=(PARTICIPATION, Hypothesis("alpha < beta/N", sympy.Gt(s, 1))),
        tex=r"\frac{\delta}{1-\delta}\left(1-\frac{\tau}{N}\frac{4}{\sqrt{\beta/(N\alpha)}+2+\sqrt{(N\alpha)/\beta}}"
        r"\right)^t\geq\frac{\delta}{1-\delta}\left(1-\frac{\tau}{N}\frac{4}{\min\{\sqrt{\beta/(N\alpha)},4\}}"
        r"\right)^t=\frac{\delta}{1-\delta}\left(1-\frac{\tau}{N}\min\left\{\frac{4\sqrt{N}}{\sqrt{\beta/"
        r"\alpha}},1\right\}\right)^t",
        uses=("appendix-F/mgf",),
        literal_of="appendix-F/bound-step/repaired",
        flaw="min is printed for max: s + 2 + 1/s is at least s and at least 4, so 4/(s + 2 + 1/s) <= 4/max{s, 4}, "
        "and it is 4/max{s, 4} = min{4/s, 1} that the next line has.",
    ),
    appendix_f(
        "bound-step/repaired",
        ParameterRule(
            {},
            (
                sympy.Ge(_generated, (1 - tau / N * 4 / Max(s, 4)) ** t, evaluate=False),
                sympy.Eq((1 - tau / N * 4 / Max(s, 4)) ** t, (1 - tau / N * Min(4 / s, 1)) ** t, evaluate=False),
            ),
        ),
        "the bound with 4/max{...,4}, which is (tau/N) min{4/s, 1}",
        kind="inequality",
        setting=CONSTANTS,
        requires=(PARTICIPATION, Hypothesis("alpha < beta/N", sympy.Gt(s, 1))),
        repairs="appendix-F/bound-step",
    ),
    appendix_f(
        "case-2",
        Inequality(_case_2[2] ** t, _case_2[0] ** t, middle=_case_2[1] ** t),
        "the chain of inequalities of the case alpha >= beta/N, as printed",
        setting=CONSTANTS,
        requires=(PARTICIPATION, SECOND_CASE, BLOCKS),
        tex=r"\frac{\delta}{1-\delta}\left(1-\min\left\{\frac{\tau\lceil N/m\rceil}{N}\frac{4\sqrt{m}}{\sqrt{\beta/"
        r"\alpha}},1\right\}\right)^t\geq\frac{\delta}{1-\delta}\left(1-\min\left\{\frac{8}{\sqrt{m}\sqrt{\beta/"
        r"\alpha}},1\right\}\right)^t\geq\frac{\delta}{1-\delta}\left(1-\min\left\{\frac{8\sqrt{2}}{\beta/"
        r"\alpha},1\right\}\right)^t",
        flaw="tau is lost between the first line and the second: ceiling(N/m)/N <= 2/m makes the first term at most 8 "
        "tau/(sqrt(m) sqrt(beta/alpha)), and the second line has 8/(sqrt(m) sqrt(beta/alpha)).",
        root=OTHER_CASE,
    ),
    appendix_f(
        "case-2/repaired",
        Inequality(_kept[2] ** t, _case_2[0] ** t, middle=_kept[1] ** t),
        "the chain of inequalities of the case alpha >= beta/N, with tau kept",
        setting=CONSTANTS,
        requires=(PARTICIPATION, SECOND_CASE, BLOCKS),
        repairs="appendix-F/case-2",
    ),
)
