"""FedDCD, Table 1 and the step counts of Section 5; the experiments of Section 8."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.inequality import inequality
from fedtheory.kinds.order import Order
from fedtheory.kinds.untested import Untested
from fedtheory.numbers.rational import Array, apply
from fedtheory.papers.feddcd import accelerated, exceptions
from fedtheory.papers.feddcd.dual import N, alpha, beta, rate, tau, zeta
from fedtheory.papers.feddcd.exceptions import Guess, NewtonParams
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

epsilon, delta = sympy.symbols("epsilon delta", positive=True)
n_i = sympy.Symbol("n_i", integer=True, positive=True)
#: Table 1: local steps, and a bound on the standard deviation of stochastic gradients.
K = sympy.Symbol("K", integer=True, positive=True)
sigma = sympy.Symbol("sigma", nonnegative=True)
#: The row of MB-SGD says n, which the paper uses for no number of clients but N.
n = sympy.Symbol("n", integer=True, positive=True)
_forcing = sympy.Symbol("eta", positive=True)
_steps = sympy.Symbol("K", integer=True, positive=True)


ROUNDS = Setting("all values of the constants")
NEWTON = Setting(
    "f(w) with f'(w) = alpha w + (beta - alpha) clip(w, -1, 1): alpha-strongly convex, beta-smooth, minimised at 0",
    letters=(delta,),
    drawing=Drawing(special=exceptions.NEWTON),
)
NEWTON_QUADRATIC = Setting(
    "f(w) = (alpha w_1^2 + beta w_2^2)/2, alpha <= beta; inexact steps whose residual is the gradient turned and "
    "scaled by eta < 1",
    letters={alpha: "alpha", beta: "beta", _forcing: "forcing", _steps: "steps"},
    drawing=Drawing(special=exceptions.NEWTON_QUADRATIC),
    hints=Hints(complete=True),
    domain=(sympy.Le(alpha, beta, evaluate=False), sympy.Lt(_forcing, 1, evaluate=False)),
)


def newton_error(problem: Any, params: NewtonParams, state: Guess) -> Array:
    """|w_K - w*|^2 after K exact Newton steps on the function of the setting."""
    w, alpha, beta = state.w, params.alpha, params.beta
    for _ in range(params.steps):
        inner = abs(w) <= 1
        slope = np.where(inner, beta * w, alpha * w + (beta - alpha) * np.sign(w))
        w = w - slope / np.where(inner, beta + 0 * w, alpha + 0 * w)
    return (w**2).sum(axis=-1)


def inexact_newton_error(problem: Any, params: NewtonParams, state: Guess) -> Array:
    """|w_K - w*|^2 after K steps with H s = grad - eta R grad, R a rotation: the residual is eta |grad| long."""
    turn = np.array([[3, -4], [4, 3]])
    h = np.array([params.alpha, params.beta])
    w = state.w
    for _ in range(params.steps):
        w = params.forcing * apply(turn, h * w) / 5 / h
    return (w**2).sum(axis=-1)


def first_error(problem: Any, params: NewtonParams, state: Guess) -> Array:
    """|w_0 - w*|^2."""
    return (state.w**2).sum(axis=-1)


_error, _first = sympy.symbols("|w_K-w*|^2 |w_0-w*|^2")
_accuracy = sympy.log(zeta**2 / (alpha**2 * epsilon))
_PARTICIPATION = Hypothesis("2 <= tau <= N", sympy.And(sympy.Ge(tau, 2), sympy.Le(tau, N)))
_ORDERED = Hypothesis("alpha <= beta", sympy.Le(alpha, beta, evaluate=False))
_READING = (
    "rounds until the bound on E|w - w*|^2 is epsilon; order as epsilon tends to 0 with the others fixed (otherwise "
    "log(1/alpha) adds to it)"
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


def _row(name: str, gist: str, source: str) -> Claim:
    statement = Untested(gist, f"cited from {source}: no theorem of the paper implies it")
    return Claim(
        id=f"feddcd/table-1/{name}", where="Table 1", kind="order", gist=gist, setting=ROUNDS, statement=statement
    )


def _derived(name: str, where: str, gist: str, factor: Any, order: Any) -> Claim:
    statement = Order(_accuracy / -sympy.log(factor), order * sympy.log(zeta / epsilon), small=epsilon)
    return Claim(
        id=f"feddcd/table-1/{name}",
        where=where,
        kind="order",
        gist=gist,
        setting=ROUNDS,
        statement=statement,
        requires=(_PARTICIPATION, _ORDERED),
        reading=_READING,
    )


TABLE_1 = (
    _row("mb-sgd", "rounds of MB-SGD", "Woodworth et al. (2020)"),
    _row("fedavg", "rounds of FedAvg", "Woodworth et al. (2020)"),
    _row("scaffold", "rounds of SCAFFOLD", "Karimireddy et al. (2020)"),
    _derived("feddcd", "Table 1", "rounds of FedDCD follow from eq. (5)", rate, (N - 1) * beta / ((tau - 1) * alpha)),
    _derived(
        "accfeddcd",
        "Table 1 and eq. (13)",
        "rounds of AccFedDCD follow from eq. (12)",
        accelerated.rate,
        (N - 1) / (tau - 1) * sympy.sqrt(beta / alpha),
    ),
)

#: N - tau, and the logarithms of 1/epsilon and zeta/epsilon, which are positive for small epsilon.
_idle = sympy.Symbol("N-tau", integer=True, nonnegative=True)
_log_1, _log_zeta = sympy.symbols("log(1/epsilon) log(zeta/epsilon)", positive=True)
_fed_dcd, _mb_sgd = (N - 1) * beta / ((tau - 1) * alpha) * sympy.log(zeta / epsilon), CITED["mb-sgd"].subs(n, N)


def _for_small_epsilon(other: Any) -> Order:
    """FedDCD's rounds are no more than a constant times the others' as epsilon tends to 0."""
    return Order(_fed_dcd.subs(N, tau + _idle), other.subs(N, tau + _idle), small=epsilon)


def _for_many_clients(other: Any) -> Order:
    """The others' rounds are no more than a constant times FedDCD's as N grows; 1 - tau/N is 1 at most."""
    logarithms = {sympy.log(1 / epsilon): _log_1, sympy.log(zeta / epsilon): _log_zeta, 1 - tau / N: sympy.S.One}
    return Order(other.subs(logarithms), _fed_dcd.subs(logarithms), large=N)


VERSUS = (
    Claim(
        id="feddcd/versus-mb-sgd-and-fedavg",
        where="Section 4.1",
        kind="order",
        gist="when FedDCD needs fewer rounds",
        setting=ROUNDS,
        statement=replace(
            _for_small_epsilon(_mb_sgd),
            also=(_for_small_epsilon(CITED["fedavg"]), *map(_for_many_clients, (_mb_sgd, CITED["fedavg"]))),
        ),
        requires=(Hypothesis("2 <= tau", sympy.Ge(tau, 2)), _ORDERED),
        reading="the rows of Table 1, as printed, n read as N: as epsilon tends to 0, for any N/tau, FedDCD needs no "
        "more than a constant times the rounds of MB-SGD and FedAvg, and as N grows, tau and epsilon fixed, they no "
        "more than that of its. How large N/tau may be for a given epsilon is not said",
    ),
)

_saga_step = 1 / (2 * (alpha * n_i + beta))
_saga_start = 1 + beta * _saga_step * (1 - _saga_step * alpha) * n_i

FIRST = Quantity(_first, first_error)
AFTER_STEPS = inequality(Quantity(_error, newton_error) <= delta * FIRST)

ORACLES = (
    Claim(
        id="feddcd/oracle/gradient-descent",
        where="Section 5",
        kind="bound",
        gist="gradient steps that realise a delta-inexact oracle",
        setting=ROUNDS,
        statement=Order(
            n_i * sympy.log(1 / delta) / (-2 * sympy.log(1 - alpha / beta)),
            n_i * beta / alpha * sympy.log(1 / delta),
            small=delta,
        ),
        requires=(_ORDERED,),
        reading="n_i component gradients a step; the stepsize 1/beta contracts |w - w*|^2 by (1 - alpha/beta)^2",
    ),
    Claim(
        id="feddcd/oracle/variance-reduced",
        where="Section 5",
        kind="bound",
        gist="stochastic steps that realise a delta-inexact oracle",
        setting=ROUNDS,
        statement=Order(
            sympy.log(_saga_start / delta) / -sympy.log(1 - alpha * _saga_step),
            (beta / alpha + n_i) * sympy.log(1 / delta),
            small=delta,
        ),
        requires=(_ORDERED,),
        reading="steps of SAGA that its theorem grants, from a gradient table at the warm start; order as delta "
        "tends to 0 "
        "(for a fixed delta the theorem adds a factor log min(n_i, beta/alpha))",
    ),
    Claim(
        id="feddcd/oracle/newton",
        where="Section 5",
        kind="bound",
        gist="inexact Newton steps that realise a delta-inexact oracle",
        setting=NEWTON,
        statement=AFTER_STEPS,
        requires=(),
        reading="from any warm start, without line search, as printed; K steps for K far above log(1/delta)",
    ),
    Claim(
        id="feddcd/oracle/newton/repaired",
        where="Section 5",
        kind="bound",
        gist="on quadratics: |w_K - w*|^2 <= (beta/alpha)^2 eta^(2K) |w_0 - w*|^2 with the forcing term eta",
        setting=NEWTON_QUADRATIC,
        statement=inequality(
            Quantity(_error, inexact_newton_error) <= (beta / alpha) ** 2 * _forcing ** (2 * _steps) * FIRST
        ),
        repairs="feddcd/oracle/newton",
    ),
)


def _experiment(name: str, where: str, gist: str, text: str) -> Claim:
    reason = "needs MNIST and RCV1, which are not there; no theorem implies the curves"
    return Claim(
        id=f"feddcd/{name}", where=where, kind="experiment", gist=gist, setting=ROUNDS, statement=Untested(text, reason)
    )


SECTION_8 = (
    _experiment(
        "table-2",
        "Table 2",
        "rounds to reach an objective gap, 5 algorithms, 3 models, tau in {5,10,30}",
        "FedDCD and AccFedDCD need fewer rounds than FedAvg, FedProx and SCAFFOLD in almost all setups",
    ),
    _experiment(
        "figure-1",
        "Figure 1",
        "objective gap against rounds, i.i.d. split, tau = 30",
        "FedDCD and AccFedDCD converge faster than the primal methods",
    ),
    _experiment(
        "figure-2",
        "Figure 2 and Table 4 (Table 3)",
        "non-i.i.d. split (two classes a client): curves and test accuracy",
        "AccFedDCD is best for the linear model; both dual methods are like SCAFFOLD for the perceptron",
    ),
)
