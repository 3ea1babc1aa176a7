"""FedDCD, Table 1 and the step counts of Section 5; the experiments of Section 8."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.experiment import Experiment
from fedtheory.kinds.inequality import inequality
from fedtheory.kinds.order import Order
from fedtheory.numbers.rational import Array
from fedtheory.numbers.symbols import Max, Min
from fedtheory.papers.feddcd import accelerated, exceptions, inexact_newton
from fedtheory.papers.feddcd.dual import FAR_NEWTON, LOGARITHM, N, alpha, beta, rate, section, tau, zeta
from fedtheory.papers.feddcd.exceptions import Guess, NewtonParams
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

epsilon, delta = sympy.symbols("epsilon delta", positive=True)
n_i = sympy.Symbol("n_i", integer=True, positive=True)
#: Table 1: local steps, and a bound on the standard deviation of stochastic gradients.
K = sympy.Symbol("K", integer=True, positive=True)
sigma = sympy.Symbol("sigma", nonnegative=True)
#: The row of MB-SGD says n, which the paper uses for no number of clients but N.
n = sympy.Symbol("n", integer=True, positive=True)


ROUNDS = Setting("all values of the constants")
NEWTON = Setting(
    "f(w) with f'(w) = alpha w + (beta - alpha) clip(w, -1, 1): alpha-strongly convex, beta-smooth, minimised at 0",
    letters=(delta,),
    drawing=Drawing(special=exceptions.NEWTON),
)


def newton_error(problem: object, params: NewtonParams, state: Guess) -> Array:
    """|w_K - w*|^2 after K exact Newton steps on the function of the setting."""
    w, alpha, beta = state.w, params.alpha, params.beta
    for _ in range(params.steps):
        inner = abs(w) <= 1
        slope = np.where(inner, beta * w, alpha * w + (beta - alpha) * np.sign(w))
        w = w - slope / np.where(inner, beta + 0 * w, alpha + 0 * w)
    return (w**2).sum(axis=-1)


def first_error(problem: object, params: object, state: Guess) -> Array:
    """|w_0 - w*|^2."""
    return (state.w**2).sum(axis=-1)


_error, _first = sympy.symbols("|w_K-w*|^2 |w_0-w*|^2")
#: The logarithms of a bound at the start over epsilon: of E|w - w*|^2, and of f - f* of the averaged risk f.
_accuracy, _accuracy_of_risk = (sympy.log(c * zeta**2 / (alpha**2 * epsilon)) for c in (1, beta / 2))
_PARTICIPATION = Hypothesis("2 <= tau <= N", sympy.And(sympy.Ge(tau, 2), sympy.Le(tau, N)))
_ORDERED = Hypothesis("alpha <= beta", sympy.Le(alpha, beta, evaluate=False))
_READING = (
    "rounds until the bound on E|w - w*|^2 is epsilon, and until that on the averaged risk, which is beta/2 times this "
    "at most, is; order as epsilon tends to 0 with the others fixed (otherwise log(1/alpha) adds to it)"
)


_noise = sigma**2 / (tau * alpha * epsilon)
_log = sympy.log(1 / epsilon)
#: The cited rows of Table 1, as printed.
CITED: dict[str, Any] = {
    "mb-sgd": _noise + (1 - tau / n) * zeta**2 / (tau * alpha * epsilon) + beta / alpha * _log,
    "fedavg": _noise / K
    + sympy.sqrt(beta) * (zeta * K + sigma * sympy.sqrt(K)) / (alpha * sympy.sqrt(epsilon))
    + beta / alpha * _log,
    "scaffold": _noise / K + (beta / alpha + N / tau) * _log,
}


#: The potential at the start; N - tau; 1 - tau/n; and V, the variance of an answer of MB-SGD at most.
_idle = sympy.Symbol("idle", integer=True, nonnegative=True)
_start = sympy.Symbol("V_0", positive=True)
_absent = sympy.Symbol("absent", nonnegative=True)
_variance = (sigma**2 + 4 * _absent * zeta**2) / tau


def _of_gaps(label: str, rounds: Any, order: Any, reading: str, tex: str) -> Claim:
    return section("Table 1", ROUNDS, _ORDERED)(
        label.lower(),
        Order(rounds, order, small=epsilon),
        f"rounds of {label}",
        kind="order",
        tex=tex,
        reading="rounds until E f - f* is epsilon at a weighted mean of the points; order as epsilon tends to 0 with "
        f"the others fixed. {reading} The sums are in the notes",
    )


#: The bounds on E|w - w*|^2 whose rounds the rows of the two methods are, and the rows as printed.
_DISTANCES = {"feddcd": "theorem-4.1/eq-5", "accfeddcd": "theorem-6.1/eq-12"}
_ROWS = {
    "feddcd": r"\mathcal{O}\left(\frac{(N-1)\beta}{(\tau-1)\alpha}\log\left(\frac{\zeta}{\epsilon}"
    r"\right)\right)",
    "accfeddcd": r"\mathcal{O}\left(\frac{(N-1)}{(\tau-1)}\sqrt{\frac{\beta}{\alpha}}\log\left(\frac{"
    r"\zeta}{\epsilon}\right)\right)",
}


def _derived(name: str, where: str, gist: str, factor: sympy.Expr, order: sympy.Expr) -> Claim:
    distance, risk = (
        Order(accuracy / -sympy.log(factor), order * sympy.log(zeta / epsilon), small=epsilon)
        for accuracy in (_accuracy, _accuracy_of_risk)
    )
    return section(where, ROUNDS, _PARTICIPATION, _ORDERED, id="table-1")(
        name,
        replace(distance, also=(risk,)),
        gist,
        kind="order",
        tex=_ROWS[name],
        uses=(_DISTANCES[name],),
        reading=_READING,
        given=(_DISTANCES[name],),
    )


#: log(zeta/epsilon), log(zeta/alpha^2), and log(zeta^2/(alpha^2 epsilon)), which is their sum.
_log_zeta, _log_accuracy = sympy.symbols("ell_epsilon ell", positive=True)
_log_alpha = sympy.Symbol("ell_alpha", nonnegative=True)


def _at_all_values(name: str, where: str, factor: sympy.Expr, order: sympy.Expr) -> Iterator[Claim]:
    """A row with one constant for all values of the letters: with its logarithm as printed, and with that of the
    theorem."""
    rounds = 1 / -sympy.log(factor)
    row = section(where, ROUNDS, _PARTICIPATION, _ORDERED, id=f"table-1/{name}")
    yield row(
        "literal",
        Order((_log_zeta + _log_alpha) * rounds, order * _log_zeta),
        f"the same with one constant for all alpha, beta, zeta and epsilon, of {name}",
        kind="order",
        tex=_ROWS[name],
        uses=(_DISTANCES[name],),
        flaw="The bound is zeta^2/alpha^2 times a power of the rate, so that it is epsilon after log(zeta^2/(alpha^2 "
        "epsilon)) over the rate; the row has log(zeta/epsilon), which is smaller without bound where alpha is "
        "small.",
        root=LOGARITHM,
        requires=(_PARTICIPATION, _ORDERED, Hypothesis("ell_epsilon >= 1", sympy.Ge(_log_zeta, 1))),
        reading="rounds until the bound on E|w - w*|^2 is epsilon; ell_epsilon is log(zeta/epsilon), and ell_alpha, "
        "which is log(zeta/alpha^2), is any number of 0 and more, as alpha and beta may tend to 0 together. So it is "
        "of the method too: with all clients, tau = N, whose functions have one curvature beta, "
        "|w - w*|^2 = (1 - alpha/beta)^(2T) (zeta/beta)^2",
        literal_of=f"table-1/{name}",
    )
    yield row(
        "all-values",
        Order(_log_accuracy * rounds, order * _log_accuracy),
        f"with log(zeta^2/(alpha^2 epsilon)) for log(zeta/epsilon), one constant for all values, of {name}",
        kind="order",
        origin="observed",
        reading="rounds until the bound on E|w - w*|^2 is epsilon, where it is not from the start; ell is "
        "log(zeta^2/(alpha^2 epsilon))",
        given=(_DISTANCES[name],),
    )


_FED_DCD = (rate, (N - 1) * beta / ((tau - 1) * alpha))
_ACC_FED_DCD = (accelerated.rate, (N - 1) / (tau - 1) * sympy.sqrt(beta / alpha))
table_1 = section("Table 1", ROUNDS, _ORDERED)
TABLE_1 = (
    _of_gaps(
        "MB-SGD",
        4 * beta / alpha * sympy.log(beta * _start / epsilon)
        + 8 * _variance / (alpha * epsilon)
        + 9 * beta / alpha * (2 + sympy.sqrt(_variance / (2 * beta * epsilon))),
        CITED["mb-sgd"].subs(tau / n, 1 - _absent),
        "n is read as N, and absent is 1 - tau/n. By baseline/mb-sgd/gap: gamma = 1/(4 beta) at first, then "
        "2/(alpha s) in rounds s > 8 beta/alpha, of which s - 1 is the weight",
        tex=r"\mathcal{O}\left(\frac{\sigma^2}{\tau\alpha\epsilon}+\left(1-\frac{\tau}{n}\right)\frac{\zeta^2}{\tau"
        r"\alpha\epsilon}+\frac{\beta}{\alpha}\log\left(\frac{1}{\epsilon}\right)\right)",
    ),
    table_1(
        "mb-sgd/fixed-step",
        Order(
            sympy.log(2 * _start / epsilon) * Max(2 * beta / alpha, 2 * _variance / (alpha**2 * epsilon)),
            ((sigma**2 + _absent * zeta**2) / (tau * alpha**2 * epsilon) + beta / alpha) * _log,
            small=epsilon,
        ),
        "of |w - w*|^2, by a fixed step: sigma^2/(tau alpha^2 epsilon) + (1 - tau/n) zeta^2/(tau alpha^2 epsilon) "
        "+ beta/alpha, times log(1/epsilon), of MB-SGD",
        kind="order",
        origin="observed",
        reading="rounds after which the bound of baseline/mb-sgd/one-step is epsilon, with gamma = min{1/(2 beta), "
        "alpha epsilon/(2 V)}, V = (sigma^2 + 4 (1 - tau/n) zeta^2)/tau, by which the variance is half of it; "
        "(n - tau)/(n - 1) is at most 2 (1 - tau/n), and absent is 1 - tau/n",
    ),
    _of_gaps(
        "FedAvg",
        24 * beta / alpha * sympy.log(beta * _start / epsilon)
        + 1152 * _noise / K
        + sympy.sqrt(beta) * (554 * zeta + 271 * sigma / sympy.sqrt(K)) / (alpha * sympy.sqrt(epsilon))
        + 291 * beta / alpha,
        CITED["fedavg"],
        "tau = N, as no term tells of a draw of clients (fedavg/literal). By baseline/fedavg/local-step, -/drift and "
        "-/gradients: K gamma = 1/(12 beta) at first, then 8/(alpha s) in rounds s > 96 beta/alpha, of which "
        "(s - 1)(s - 2)(s - 3) is the weight; the points are means of the clients' at all local steps",
        tex=r"\mathcal{O}\left(\frac{\sigma^2}{\tau K\alpha\epsilon}+\frac{\sqrt{\beta}(\zeta K+\sigma\sqrt{K})}{"
        r"\alpha\sqrt{\epsilon}}+\frac{\beta}{\alpha}\log\left(\frac{1}{\epsilon}\right)\right)",
    ),
    table_1(
        "fedavg/literal",
        Order(_idle * zeta**2 / (4 * (tau + _idle) * tau * alpha * epsilon), CITED["fedavg"], small=epsilon),
        "rounds of FedAvg if any tau of the N clients take part",
        kind="order",
        tex=r"\mathcal{O}\left(\frac{\sigma^2}{\tau K\alpha\epsilon}+\frac{\sqrt{\beta}(\zeta K+\sigma\sqrt{K})}{"
        r"\alpha\sqrt{\epsilon}}+\frac{\beta}{\alpha}\log\left(\frac{1}{\epsilon}\right)\right)",
        reading="idle = N - tau; rounds that are needed where f_i = alpha |w - b_i|^2/2, |b_i - w*| = zeta/alpha, with "
        "any steps, K "
        "and weights: every mean of models is one of w_0 and of the means of the participants' b_i, so that after T "
        "rounds E|w - w*|^2 is at least 1/(1/|w_0 - w*|^2 + T/V), V = (N - tau) zeta^2/((N - 1) tau alpha^2)",
        literal_of="table-1/fedavg",
        flaw="The row is that of all clients: it has no term for the draw of those that take part, as MB-SGD's has.",
    ),
    _of_gaps(
        "SCAFFOLD",
        2 * Max(150 * beta / alpha, 2 * N / tau) * (sympy.log(alpha * _start / epsilon) + 2) + 621 * _noise / K + 5,
        CITED["scaffold"],
        "By baseline/scaffold/drift, -/gradients and -/turn: the server goes sqrt(tau) times as far as the mean of the "
        "participants, K gamma sqrt(tau) = min{1/(150 beta), tau/(2 N alpha)} at first, then half of it again and "
        "again; the points are the server's",
        tex=r"\mathcal{O}\left(\frac{\sigma^2}{\tau K\alpha\epsilon}+\left(\frac{\beta}{\alpha}+\frac{N}{\tau}\right)"
        r"\log\left(\frac{1}{\epsilon}\right)\right)",
    ),
    table_1(
        "scaffold/full-gradients",
        Order(
            sympy.log(_start / epsilon) / -sympy.log(1 - Min(alpha / (162 * beta), tau / (30 * N))),
            (beta / alpha + N / tau) * _log,
            small=epsilon,
        ),
        "(beta/alpha + N/tau) log(1/epsilon), with full gradients, of SCAFFOLD",
        kind="order",
        requires=(_PARTICIPATION, _ORDERED),
        origin="observed",
        reading="sigma = 0 and K = 2: rounds after which the bound of baseline/scaffold-sampled/one-step is epsilon, "
        "with the longest step that it allows",
    ),
    _derived("feddcd", "Table 1", "rounds of FedDCD follow from eq. (5)", *_FED_DCD),
    *_at_all_values("feddcd", "Table 1", *_FED_DCD),
    _derived("accfeddcd", "Table 1 and eq. (13)", "rounds of AccFedDCD follow from eq. (12)", *_ACC_FED_DCD),
    *_at_all_values("accfeddcd", "Table 1 and eq. (13)", *_ACC_FED_DCD),
)

#: The logarithm of 1/epsilon, which is positive for small epsilon.
_log_1 = sympy.Symbol("ell_1", positive=True)
_fed_dcd, _mb_sgd = (N - 1) * beta / ((tau - 1) * alpha) * sympy.log(zeta / epsilon), CITED["mb-sgd"].subs(n, N)


def _for_small_epsilon(other: sympy.Expr, when: tuple[sympy.Basic, ...] = ()) -> Order:
    """FedDCD's rounds are no more than a constant times the others' as epsilon tends to 0."""
    return Order(_fed_dcd.subs(N, tau + _idle), other.subs(N, tau + _idle), small=epsilon, when=when)


def _for_many_clients(other: sympy.Expr) -> Order:
    """The others' rounds are no more than a constant times FedDCD's as N grows; 1 - tau/N is 1 at most."""
    logarithms = {sympy.log(1 / epsilon): _log_1, sympy.log(zeta / epsilon): _log_zeta, 1 - tau / N: sympy.S.One}
    return Order(other.subs(logarithms), _fed_dcd.subs(logarithms), large=N)


VERSUS = (
    section("Section 4.1", ROUNDS, Hypothesis("2 <= tau", sympy.Ge(tau, 2)), _ORDERED, id="")(
        "versus-mb-sgd-and-fedavg",
        replace(
            _for_small_epsilon(_mb_sgd),
            also=(
                _for_small_epsilon(CITED["fedavg"]),
                _for_small_epsilon(CITED["scaffold"], (sympy.Gt(sigma, 0),)),
                *map(_for_many_clients, (_mb_sgd, CITED["fedavg"])),
            ),
        ),
        "when FedDCD needs fewer rounds",
        kind="order",
        tex="",
        uses=("table-1/feddcd",),
        reading="the rows of Table 1, as printed, n read as N: as epsilon tends to 0, for any N/tau, FedDCD needs no "
        "more than a constant times the rounds of MB-SGD and FedAvg, and where sigma > 0 of SCAFFOLD, and as N grows, "
        "tau and epsilon fixed, the first two no more than that of its. How large N/tau may be for a given epsilon is "
        "not stated; with full gradients, sigma = 0, SCAFFOLD's row is of no larger order than its",
        later="the abstract says under certain situations, where it said under mild conditions",
    ),
)

_saga_step = 1 / (2 * (alpha * n_i + beta))
_log_granted = sympy.Symbol("ell_granted", positive=True)
_saga_start = 1 + beta * _saga_step * (1 - _saga_step * alpha) * n_i

FIRST = Quantity(_first, first_error)
AFTER_STEPS = inequality(Quantity(_error, newton_error) <= delta * FIRST)

section_5 = section("Section 5", ROUNDS, _ORDERED, id="oracle")
ORACLES = (
    section_5(
        "gradient-descent",
        Order(
            n_i * sympy.log(1 / delta) / (-2 * sympy.log(1 - alpha / beta)),
            n_i * beta / alpha * sympy.log(1 / delta),
            when=(sympy.Lt(delta, 1, evaluate=False),),
        ),
        "gradient steps that realise a delta-inexact oracle",
        kind="bound",
        tex=r"\mathcal{O}\left(\frac{n_i\beta}{\alpha}\log\left(\frac{1}{\delta}\right)\right)",
        reading="n_i component gradients a step; the stepsize 1/beta contracts |w - w*|^2 by (1 - alpha/beta)^2",
    ),
    section_5(
        "variance-reduced",
        Order(
            sympy.log(_saga_start / delta) / -sympy.log(1 - alpha * _saga_step),
            (beta / alpha + n_i) * sympy.log(1 / delta),
            small=delta,
        ),
        "stochastic steps that realise a delta-inexact oracle",
        kind="bound",
        tex=r"\mathcal{O}\left(\left(\frac{\beta}{\alpha}+n_i\right)\log\left(\frac{1}{\delta}\right)\right)",
        reading="steps of SAGA that its theorem grants, from a gradient table at the warm start; order as delta "
        "tends to 0 "
        "(for a fixed delta the theorem adds a factor log min(n_i, beta/alpha))",
    ),
    section_5(
        "variance-reduced/every-delta",
        Order(
            _log_granted / -sympy.log(1 - alpha * _saga_step),
            (beta / alpha + n_i) * _log_granted,
            also=(Order(_saga_start, 1 + sympy.Min(n_i, beta / alpha)),),
        ),
        "the same for every delta, with log((1 + min(n_i, beta/alpha))/delta) for log(1/delta)",
        kind="bound",
        origin="observed",
        reading="ell_granted is the logarithm that SAGA's theorem has, log(V_0/(delta |w_0 - w*|^2)), and V_0 of a "
        "gradient table at the warm start is at most a constant times 1 + min(n_i, beta/alpha) times |w_0 - w*|^2; "
        "that log(1/delta) alone serves at a fixed delta is not stated by the theorem",
    ),
    section_5(
        "newton",
        AFTER_STEPS,
        "inexact Newton steps that realise a delta-inexact oracle",
        kind="bound",
        setting=NEWTON,
        requires=(),
        tex=r"\mathcal{O}\left(\log\left(\frac{1}{\delta}\right)\right)",
        reading="from any warm start, without line search, as printed; K steps for K far above log(1/delta)",
        flaw="No proof is printed. The work that is cited bounds the steps from a guess near the solution. The warm "
        "start need not be near it: far away Newton's method without line search can oscillate for ever. "
        "With beta > 2 alpha it does so on the function of the setting: a step from w = beta/alpha - 1 leads to "
        "-w, and the next one back, so that no number K of steps is enough.",
        root=FAR_NEWTON,
    ),
    section_5(
        "newton/repaired",
        inexact_newton.FROM_THE_START,
        "on quadratics: |w_T - w*|^2 <= (beta/alpha)^2 eta^(2T) |w_0 - w*|^2 with the forcing term eta",
        kind="bound",
        setting=inexact_newton.SETTING,
        requires=(inexact_newton.QUADRATIC,),
        reading="a step of f(w) = w'Hw/2 + ... goes to the w_(t+1) with H (w_(t+1) - w_t) = -grad f(w_t) + r_t, where "
        "the residual is any r_t with |r_t| <= eta |grad f(w_t)|: that is the point at which the gradient is r_t",
        repairs="oracle/newton",
    ),
)


SECTION_8 = (
    section("Table 2", ROUNDS)(
        "",
        Experiment(
            "FedDCD and AccFedDCD need fewer rounds than FedAvg, FedProx and SCAFFOLD in almost all setups",
            figures=("feddcd/figure-1",),
            about=("Table 2",),
        ),
        "rounds to reach an objective gap, 5 algorithms, 3 models, tau in {5,10,30}",
        tex="",
        later="other rounds of the primal methods FedAvg, FedProx and SCAFFOLD, for tau = 30: of the linear model on "
        "MNIST 51, 47 and 45 at 1e-3, where each had > 100, and 17, 17 and 17 at 1e-2, where each had 6; on "
        "RCV1 at 1e-2 10, 10 and 11, where each had > 100",
    ),
    section("Figure 1", ROUNDS)(
        "",
        Experiment(
            "FedDCD and AccFedDCD converge faster than the primal methods",
            figures=("feddcd/figure-1",),
            about=("Figure 1",),
        ),
        "objective gap against rounds, i.i.d. split, tau = 30",
        tex="",
    ),
    section("Figure 2 and Table 4 (Table 3)", ROUNDS, id="figure-2")(
        "",
        Experiment(
            "AccFedDCD is best for the linear model; both dual methods are like SCAFFOLD for the perceptron",
            figures=("feddcd/figure-2",),
        ),
        "non-i.i.d. split (two classes a client): curves and test accuracy",
        tex="",
    ),
)
