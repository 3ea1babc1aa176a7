"""FedDCD, Section 7 and Appendix F: the lower bound and the hard functions it rests on.

Appendix F writes n for N in places; N is meant throughout. s stands for sqrt(beta/(N alpha)), which is above 1 in the
case alpha < beta/N.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.order import Order
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.rational import Array, apply
from fedtheory.numbers.symbols import Max, Min
from fedtheory.papers.feddcd import exceptions, reach
from fedtheory.papers.feddcd.dual import N, alpha, beta, tau
from fedtheory.papers.feddcd.exceptions import HardParams, Vector
from fedtheory.problems.lower_bounds import chain
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


#: What is shown of a counterexample, besides the number.
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
FIRST_CASE = Hypothesis("alpha < beta/N", met=lambda problem, params: params.m == params.N and params.s > 1)
SECOND_CASE = Hypothesis("alpha >= beta/N", sympy.Le(kappa, N))
BLOCKS = Hypothesis(
    "m is the largest integer with m alpha < beta",
    sympy.And(sympy.Lt(m, kappa, evaluate=False), sympy.Ge(m + 1, kappa, evaluate=False)),
)

_class = Inequality(alpha * _xx, beta * _xx, (Quantity(_xHx, _curvature), Quantity(_xx, _square)), middle=_xHx)
_READING_14 = (
    "AccFedDCD is such a procedure with four communications an iteration, so its rate (Theorem 6.1, up to a constant "
    "factor) may not beat the bound; eq. (14) is compared with that rate alone, on no other procedure"
)

SECTION_7 = (
    Claim(
        id="feddcd/theorem-7.1/eq-14",
        where="Theorem 7.1",
        kind="lower-bound",
        gist="lower bound for black-box procedures under random participation, as printed (min of three terms)",
        setting=CONSTANTS,
        statement=Inequality(_accelerated, _printed),
        requires=(PARTICIPATION,),
        reading=_READING_14,
    ),
    reach.LOWER_BOUND,
    Claim(
        id="feddcd/theorem-7.1/eq-14/consistency",
        where="Theorem 7.1",
        kind="inequality",
        gist="one procedure, AccFedDCD, does not beat 1 - (tau/N) min{4 sqrt(N)/sqrt(beta/alpha), 1}, for "
        "alpha < beta/N",
        setting=CONSTANTS,
        statement=Inequality(_accelerated, _proved),
        requires=(PARTICIPATION, Hypothesis("alpha < beta/N", sympy.Gt(kappa, N))),
        reading="no lower bound: the factor that Appendix F gives in its first case is compared with the rate of "
        "AccFedDCD (Theorem 6.1, up to a constant factor) and with no other procedure. That no procedure beats it is "
        "theorem-7.1/eq-14/repaired",
    ),
    Claim(
        id="feddcd/theorem-7.1/complexity",
        where="Theorem 7.1",
        gist="iteration complexity lower bound printed after Theorem 7.1",
        given=("feddcd/theorem-7.1/eq-14/repaired",),
        setting=CONSTANTS,
        statement=Order(
            sympy.sqrt(N) / tau * _root * sympy.log(1 / epsilon),
            sympy.log(1 / epsilon) / -sympy.log(1 - _proved),
            small=epsilon,
            large=kappa,
        ),
        requires=(PARTICIPATION,),
        reading="conditional: no procedure is looked at. The printed order is at most a constant times the rounds that "
        "the factor 1 - (tau/N) min{4 sqrt(N)/sqrt(beta/alpha), 1} implies, for large kappa; that this factor bounds "
        "all procedures is theorem-7.1/eq-14/repaired, without which it says nothing. Of eq. (14) as it is printed it "
        "does not follow, which is false",
    ),
    Claim(
        id="feddcd/gap",
        where="Section 7",
        kind="order",
        gist="a sqrt(N) gap separates AccFedDCD from the lower bound: eq. (13) from the order after Theorem 7.1",
        given=("feddcd/theorem-7.1/complexity", "feddcd/table-1/accfeddcd"),
        setting=CONSTANTS,
        statement=Inequality(
            sympy.Rational(1, 2) * sympy.sqrt(N) * sympy.sqrt(N) / tau * _root,
            2 * sympy.sqrt(N) * sympy.sqrt(N) / tau * _root,
            middle=(N - 1) / (tau - 1) * _root,
        ),
        requires=(MANY, PARTICIPATION),
        reading="eq. (13) is between 1/2 and 2 times sqrt(N) times the printed complexity; whether that bounds all "
        "procedures is theorem-7.1/complexity",
    ),
)

APPENDIX_F = (
    *reach.RISE,
    Claim(
        id="feddcd/appendix-F/class",
        where="Appendix F",
        kind="property",
        gist="the hard functions are alpha-strongly convex and beta-smooth",
        setting=HARD,
        statement=_class,
    ),
    Claim(
        id="feddcd/appendix-F/class/repaired",
        where="Appendix F",
        kind="property",
        gist="the hard functions of the case alpha < beta/N are alpha-strongly convex and beta-smooth",
        setting=HARD,
        statement=_class,
        requires=(FIRST_CASE,),
        repairs="feddcd/appendix-F/class",
    ),
    Claim(
        id="feddcd/appendix-F/sum",
        where="Appendix F",
        gist="sum of the M^(k) is the tridiagonal matrix",
        setting=HARD,
        statement=identity(Quantity("sum_k(M^{(k)})", _sum_of_M), Quantity("tridiag(-1, 2, -1)", _tridiagonal)),
        requires=(FIRST_CASE,),
        reading="the sum runs over k in [N]; M^(k) is defined for these k only",
    ),
    Claim(
        id="feddcd/appendix-F/solution",
        where="Appendix F",
        gist="closed form of the minimiser",
        setting=HARD,
        statement=identity(Quantity("sum_i(grad f_i(w*))", _gradient_at_solution), Quantity("0", _zero)),
        requires=(FIRST_CASE,),
    ),
    Claim(
        id="feddcd/appendix-F/mgf",
        where="Appendix F",
        gist="expectation of delta^K through the binomial generating function",
        setting=HARD,
        statement=identity(Quantity("E[delta^K]", _expected_power), _generated),
        requires=(FIRST_CASE, PARTICIPATION),
        reading="K_t is taken to be binomial, as the paper does; that each round reaches a new coordinate with "
        "probability tau/N is appendix-F/rise",
    ),
    Claim(
        id="feddcd/appendix-F/bound-step",
        where="Appendix F",
        kind="inequality",
        gist="the bound with 4/min{...,4} that follows the generating function, as printed",
        setting=CONSTANTS,
        statement=ParameterRule(
            {},
            (
                sympy.Ge(_generated, (1 - tau / N * 4 / Min(s, 4)) ** t, evaluate=False),
                sympy.Eq((1 - tau / N * 4 / Min(s, 4)) ** t, (1 - tau / N * Min(4 / s, 1)) ** t, evaluate=False),
            ),
        ),
        requires=(PARTICIPATION, Hypothesis("alpha < beta/N", sympy.Gt(s, 1))),
        literal_of="feddcd/appendix-F/bound-step/repaired",
    ),
    Claim(
        id="feddcd/appendix-F/bound-step/repaired",
        where="Appendix F",
        kind="inequality",
        gist="the bound with 4/max{...,4}, which is (tau/N) min{4/s, 1}",
        setting=CONSTANTS,
        statement=ParameterRule(
            {},
            (
                sympy.Ge(_generated, (1 - tau / N * 4 / Max(s, 4)) ** t, evaluate=False),
                sympy.Eq((1 - tau / N * 4 / Max(s, 4)) ** t, (1 - tau / N * Min(4 / s, 1)) ** t, evaluate=False),
            ),
        ),
        requires=(PARTICIPATION, Hypothesis("alpha < beta/N", sympy.Gt(s, 1))),
        repairs="feddcd/appendix-F/bound-step",
    ),
    Claim(
        id="feddcd/appendix-F/case-2",
        where="Appendix F",
        gist="the chain of inequalities of the case alpha >= beta/N, as printed",
        setting=CONSTANTS,
        statement=Inequality(_case_2[2] ** t, _case_2[0] ** t, middle=_case_2[1] ** t),
        requires=(PARTICIPATION, SECOND_CASE, BLOCKS),
    ),
    Claim(
        id="feddcd/appendix-F/case-2/repaired",
        where="Appendix F",
        gist="the chain of inequalities of the case alpha >= beta/N, with tau kept",
        setting=CONSTANTS,
        statement=Inequality(_kept[2] ** t, _case_2[0] ** t, middle=_kept[1] ** t),
        requires=(PARTICIPATION, SECOND_CASE, BLOCKS),
        repairs="feddcd/appendix-F/case-2",
    ),
)
