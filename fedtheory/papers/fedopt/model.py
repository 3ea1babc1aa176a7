"""Federated Optimization, Sections 1.1, 2.3.1 and 4: the logistic loss as printed, the time that rounds take, and what
the text says about the experiments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from fedtheory.kinds.experiment import Experiment
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedopt.predictors import CONSTANTS, section
from fedtheory.settings import Setting
from fedtheory.settings.relations import Comparison

# Section 1.1

_t, _u, _x, _y = sympy.symbols("t u x y", real=True)
_odds = sympy.Symbol("q", positive=True)
_margin = -_y * (_u + _t * _x)


def curvature(loss: sympy.Expr) -> sympy.Expr:
    """The second derivative in t of a loss at w + tv, for labels y with y^2 = 1; in x and q = exp(-y (u + t x))."""
    second = sympy.diff(loss, _t, 2).subs(sympy.exp(_margin), _odds)
    return sympy.factor(second.subs(_y**2, 1))


#: At w + tv, u = x_i'w and x = x_i'v.
PRINTED_LOSS = -sympy.log(1 + sympy.exp(_margin))
_LOSS_READING = (
    "convex in R^d: along every line w + tv the second derivative of f_i plus t^2/2 is at least 1; x is x_i'v, y in "
    "{-1, 1}, of which the square is left, and q = exp(-y x_i'(w + tv))"
)


# Section 2.3.1


@dataclass(frozen=True)
class Network:
    """The costs of a round: ``latency`` seconds, ``bandwidth`` bits a second, and ``speed`` multiplications a second of
    a node.
    """

    latency: float
    bandwidth: float
    speed: float

    def communication(self, d: int) -> float:
        """c: seconds for one vector of d reals of 64 bits."""
        return self.latency + 64 * d / self.bandwidth

    def work(self, multiplications: float) -> float:
        """Seconds of local work."""
        return multiplications / self.speed


def time_of_rounds(rounds: Array, c: Scalar, each: Array) -> Array:
    """TIME with communication, eq. (3): rounds of ``c`` seconds on the network and ``each`` of local work."""
    return rounds * (c + each)


def time_at_accuracy(log_accuracy: Scalar, Theta: Any, c: Scalar, fold: Scalar, log: Any = np.log) -> Array:
    """TIME of local solutions of accuracy Theta, eq. (4): log(1/epsilon)/(1 - Theta) rounds.

    ``fold``: seconds in which a linearly convergent local solver gains a factor e of accuracy: T(Theta) = fold
    log(1/Theta). ``log``: the logarithm to use.
    """
    return time_of_rounds(log_accuracy / (1 - Theta), c, -fold * log(Theta))


def best_accuracy(c: float, fold: float) -> float:
    """The Theta in (0, 1) at which eq. (4) takes the least time: (1 - Theta)/Theta = c/fold + log(1/Theta).

    It is the only root: the difference of the sides falls from infinity to -c/fold. Raise ``ValueError`` unless c and
    fold are positive.
    """
    from scipy.optimize import brentq

    if not (c > 0 and fold > 0):
        raise ValueError(f"the costs of a round must be positive, got {c} and {fold}")
    # In s = log(1/Theta): exp(s) - 1 = c/fold + s.
    return float(np.exp(-brentq(lambda s: np.expm1(s) - s - c / fold, 0.0, 2 + np.log1p(c / fold), xtol=1e-14)))


def threshold(root: Scalar) -> Scalar:
    """Theta_0 = 1/(1 + sqrt(c/fold))^2: at and below it a finer local accuracy only costs time."""
    return 1 / (1 + root) ** 2


_c, _fold, _Theta = sympy.symbols("c tau Theta", positive=True)
_THETA_0 = threshold(sympy.sqrt(_c / _fold))
TIMES = Setting(
    "c > 0, T(Theta) = tau log(1/Theta) with tau > 0; Theta_0 = 1/(1 + sqrt(c/tau))^2 and every Theta <= Theta_0",
    domain=(sympy.Le(_Theta, _THETA_0, evaluate=False),),
)
#: TIME of eq. (4) at Theta_0 and at a finer accuracy, in units of log(1/epsilon).
_AT_THRESHOLD, _FINER = (time_at_accuracy(1, Theta, _c, _fold, sympy.log) for Theta in (_THETA_0, _Theta))

section_11 = section("Section 1.1", CONSTANTS, id="logistic-loss")
SECTIONS_1_AND_2 = (
    section_11(
        "",
        Inequality(sympy.S.One, 1 + curvature(PRINTED_LOSS)),
        "the printed logistic loss is a convex loss",
        kind="property",
        tex=r"f_i(w)=-\log(1+\exp(-y_ix_i^Tw)), \quad y_i\in\{-1,1\}",
        reading=_LOSS_READING,
        literal_of="logistic-loss/repaired",
        flaw="The sign is wrong: log(1 + exp(.)) is convex, so that what is printed, with a minus before it, is "
        "concave.",
    ),
    section_11(
        "repaired",
        Inequality(
            sympy.S.One,
            1 + curvature(-PRINTED_LOSS),
            also=(Comparison(curvature(-PRINTED_LOSS), "<=", _x**2 / 4),),
        ),
        "log(1 + exp(-y x'w)), without the minus, is convex, and as a function of x'w 1/4-smooth",
        kind="property",
        reading=f"{_LOSS_READING}; at most x^2/4 it is 1/gamma-smooth in x_i'w with gamma = 4, as A.2 asks of losses",
        repairs="logistic-loss",
    ),
    section("eqs. (2)-(4)", TIMES, id="")(
        "eq-4",
        Inequality(_AT_THRESHOLD, _FINER),
        "time to accuracy with communication cost and local accuracy Theta",
        kind="model",
        tex=r"\text{TIME}=\mathcal{I}(\epsilon,\Theta)\times(c+\mathcal{T}_{\mathcal{A}}(\Theta))",
        reading="(2)-(4) define TIME; what follows from them is that very small Theta is not efficient, read as: there "
        "is a Theta_0 > 0 below which every Theta takes longer. The local solver converges linearly. TIME falls up to "
        "the Theta* with (1 - Theta)/Theta = c/tau + log(1/Theta), and Theta_0 <= Theta*, since (1 - Theta_0)/Theta_0 "
        "= c/tau + 2 sqrt(c/tau) and log(1 + sqrt(c/tau)) <= sqrt(c/tau)",
    ),
)


_NOT_THERE = "the paper's posts are not to be had: what the text says of them is looked for on speeches of plays"

SECTION_4 = (
    section("Figure 1", CONSTANTS)(
        "",
        Experiment(
            "some features are on every node, most on few, and some on almost every node and in few examples",
            figures=("fedopt/figure-1",),
        ),
        "how features are spread over nodes",
        kind="experiment",
        tex="",
        reading=_NOT_THERE,
    ),
    section("Section 4.1", CONSTANTS, id="figure-2")(
        "naive-errors",
        Experiment(
            "33.16 % for -1, 26.27 % for the optimum, 17.14 % for the majority of each author; lambda = 1/n is best",
            figures=("fedopt/section-4.1",),
        ),
        "the three errors of naive predictors",
        kind="experiment",
        tex=r"33.16\%, \quad 26.27\%, \quad 17.14\%",
        reading=f"{_NOT_THERE}: the order of the three errors, not their values",
    ),
)

FIGURE_2 = (
    section("Figure 2", CONSTANTS)(
        "",
        Experiment(
            "CoCoA+ is worse than GD; FSVRG is better than both, reaches the optimum's test error, and hardly loses by "
            "data that are not reshuffled",
            figures=("fedopt/figure-2",),
        ),
        "GD, CoCoA+, FSVRG, FSVRGR on sparse, unbalanced, non-i.i.d. data",
        kind="experiment",
        tex="",
        reading=_NOT_THERE,
    ),
)
