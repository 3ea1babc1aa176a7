"""Gradient descent and the variance-reduced methods of finite sums: one step of each, in each paper's letters.

The problem is min_x (1/n) sum_i f_i(x), for gradient descent (1/n) sum_i f_i(x) + g(x). The statements were gathered
from several papers: ``where`` names the paper of each.
"""

from __future__ import annotations

from dataclasses import replace

import sympy

from fedtheory.algorithms import gradient_descent, loopless_svrg, saga, svrg
from fedtheory.claims import Claim
from fedtheory.classes import Smooth, SmoothStronglyConvex, StronglyConvexOnAverage
from fedtheory.kinds.bound import bound
from fedtheory.kinds.one_step import one_step
from fedtheory.numbers.rational import Array
from fedtheory.numbers.symbols import Max, Min, T
from fedtheory.papers.baseline import potentials
from fedtheory.papers.baseline.rival_settings import CONVEX, L, eta, gamma, mu, n, p
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import bregman
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity

# Potentials


def _distance_of_x(problem: Problem, params: object, state: gradient_descent.State) -> Array:
    """|x - x*|^2."""
    return potentials.distance(problem, state.x)


def _gap_of_x(problem: Problem, params: object, state: gradient_descent.State) -> Array:
    """f(x) - f*."""
    return potentials.gap(problem, state.x)


def _slope(problem: Problem, params: object, state: gradient_descent.State) -> Array:
    """|grad f(x)|^2."""
    x = state.x[..., None, :]
    gradient: Array = problem.f.gradient(x).sum(axis=-2) / problem.n
    if problem.g is not None:
        gradient = gradient + problem.g.gradient(x)[..., 0, :]
    return (gradient**2).sum(axis=-1)


def T_saga(problem: Problem, params: saga.Params, state: saga.State) -> Array:
    """(1/n) sum_i (f_i(phi_i) - f_i(x*) - <grad f_i(x*), phi_i - x*>) + c |x - x*|^2, c = 1/(2 gamma (1 - gamma mu) n).

    Not defined where gamma mu = 1.
    """
    table: Array = bregman(problem.f, state.phi, problem.x_star, problem.y_star).sum(axis=-1) / problem.n
    c = 1 / (2 * params.gamma * (1 - params.gamma * problem.mu) * problem.n)
    distance: Array = c * potentials.distance(problem, state.x)
    return table + distance


def _distance_of_w(problem: Problem, params: svrg.Params, state: svrg.State) -> Array:
    """|w - w*|^2."""
    return potentials.distance(problem, state.w)


def _gap_of_w(problem: Problem, params: svrg.Params, state: svrg.State) -> Array:
    """f(w) - f*."""
    return potentials.gap(problem, state.w)


def _gap_of_snapshot(problem: Problem, params: svrg.Params, state: svrg.State) -> Array:
    """f(w~) - f*."""
    return potentials.gap(problem, state.w_tilde)


def Phi_loopless_svrg(problem: Problem, params: loopless_svrg.Params, state: loopless_svrg.State) -> Array:
    """|x - x*|^2 + (4 eta^2/(p n)) sum_i |grad f_i(w) - grad f_i(x*)|^2."""
    difference = problem.f.gradient(state.w[..., None, :]) - problem.y_star
    staleness: Array = 4 * params.eta**2 / (params.p * problem.n) * (difference**2).sum(axis=(-1, -2))
    return potentials.distance(problem, state.x) + staleness


# Settings


def _parts(problem: Problem) -> int:
    """The constants of f are the sums of those of the mean of the f_i and of g."""
    return 1 if problem.g is None else 2


_FUNCTIONS = SmoothStronglyConvex(mu, L)
DESCENT = Setting(
    "f mu-strongly convex and L-smooth",
    letters={
        mu: lambda problem, params: _parts(problem) * problem.mu,
        L: lambda problem, params: _parts(problem) * problem.L,
        gamma: "gamma",
    },
    algorithm=gradient_descent.algorithm,
    functions=_FUNCTIONS,
    drawing=Drawing(classes_stated=True, g=(False, True)),
)
SMOOTH_DESCENT = replace(
    DESCENT,
    text="f L-smooth, convex or not",
    letters={letter: source for letter, source in DESCENT.sources.items() if letter != mu},
    functions=Smooth(L, optimum="stationary"),
)
_OF_PROBLEM = {letter: str(letter) for letter in (mu, L, n)}
SAGA = Setting(
    CONVEX.text,
    letters={**_OF_PROBLEM, gamma: "gamma"},
    algorithm=saga.algorithm,
    functions=_FUNCTIONS,
    drawing=Drawing(classes_stated=True),
)
_ON_AVERAGE = StronglyConvexOnAverage(mu, L)
_AVERAGE = "f_1, ..., f_n convex and L-smooth, their average mu-strongly convex"
SVRG = Setting(
    _AVERAGE,
    letters={**_OF_PROBLEM, eta: "eta"},
    algorithm=svrg.algorithm,
    functions=_ON_AVERAGE,
    drawing=Drawing(classes_stated=True),
)
LOOPLESS_SVRG = Setting(
    _AVERAGE + "; 0 < p <= 1",
    letters={**_OF_PROBLEM, eta: "eta", p: "p"},
    algorithm=loopless_svrg.algorithm,
    functions=_ON_AVERAGE,
    drawing=Drawing(classes_stated=True),
    domain=(sympy.Le(p, 1, evaluate=False),),
)

# Hypotheses

STRONGLY_CONVEX = Hypothesis("f mu-strongly convex and L-smooth", met=_FUNCTIONS.contains)
SMOOTH = Hypothesis("f L-smooth", met=SMOOTH_DESCENT.functions.contains)  # type: ignore[union-attr]
AVERAGE = Hypothesis(_AVERAGE, met=_ON_AVERAGE.contains)


def _stepsize(largest: sympy.Expr, text: str) -> Hypothesis:
    return Hypothesis(text, sympy.Eq(gamma, largest, evaluate=False))


# Claims

_SUM = "f is the mean of the f_i, plus g where there is one: its constants are those of all parts, added up"
_SAGA_WHERE = "Defazio, Bach, Lacoste-Julien 2014, Theorem 1"
_x_next, _x = sympy.Symbol("|x_next-x*|^2"), sympy.Symbol("|x-x*|^2")
_f_next, _f, _norm = sympy.Symbol("f(x_next)-f*"), sympy.Symbol("f(x)-f*"), sympy.Symbol("|grad f(x)|^2")
_T_next, _T, _Phi_next, _Phi = sympy.symbols("T_next T Phi_next Phi")
_w_next, _w = sympy.Symbol("|w_next-w*|^2"), sympy.Symbol("|w-w*|^2")
_gap, _gap_snapshot = sympy.Symbol("f(w)-f*"), sympy.Symbol("f(w~)-f*")


def _saga_step(
    name: str, where: str, gist: str, rate: sympy.Expr, stepsize: Hypothesis, reading: str = "", origin: str = "implied"
) -> Claim:
    statement = one_step(saga.algorithm, E(Quantity(_T_next, T_saga, after=True)) <= rate * Quantity(_T, T_saga))
    return Claim(
        id=f"baseline/saga/{name}",
        where=where,
        gist=gist,
        origin=origin,
        setting=SAGA,
        statement=statement,
        requires=(CONVEX, stepsize),
        reading=reading,
    )


X_NEXT = Quantity(_x_next, _distance_of_x, after=True)
X = Quantity(_x, _distance_of_x)
F_NEXT = Quantity(_f_next, _gap_of_x, after=True)
F = Quantity(_f, _gap_of_x)
NORM = Quantity(_norm, _slope)
W_NEXT = Quantity(_w_next, _distance_of_w, after=True)
GAP = Quantity(_gap, _gap_of_w)
GAP_T = Quantity(sympy.Symbol("f(w_T)-f*"), _gap_of_w, after=True)
#: What a step leaves of |w - w*|^2 where the snapshot is the optimum, and what it adds up to where it is not.
_decay, _noise = 1 - eta * mu * (1 - 2 * L * eta), 2 * L * eta / (1 - 2 * L * eta)
W = Quantity(_w, _distance_of_w)
GAP_SNAPSHOT = Quantity(_gap_snapshot, _gap_of_snapshot)
PHI_NEXT = Quantity(_Phi_next, Phi_loopless_svrg, after=True)
PHI = Quantity(_Phi, Phi_loopless_svrg)

CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="baseline/gradient-descent/one-step",
        where="Polyak 1987",
        gist="contraction of the squared distance to the optimum, for every stepsize",
        origin="implied",
        setting=DESCENT,
        statement=one_step(
            gradient_descent.algorithm, E(X_NEXT) <= Max((1 - gamma * mu) ** 2, (1 - gamma * L) ** 2) * X
        ),
        requires=(STRONGLY_CONVEX,),
        reading=_SUM,
    ),
    Claim(
        id="baseline/gradient-descent/nonconvex",
        where="Nesterov 2004",
        gist="decrease of a smooth f, convex or not, by gamma (1 - L gamma/2) |grad f(x)|^2",
        origin="observed",
        setting=SMOOTH_DESCENT,
        statement=one_step(gradient_descent.algorithm, E(F_NEXT) <= F - gamma * (1 - L * gamma / 2) * NORM),
        requires=(SMOOTH,),
        reading=_SUM + "; f* is its value at a stationary point, and cancels",
    ),
    _saga_step(
        "one-step",
        _SAGA_WHERE,
        "expected contraction of SAGA's Lyapunov function",
        1 - gamma * mu,
        _stepsize(1 / (2 * (mu * n + L)), "gamma = 1/(2 (mu n + L))"),
    ),
    _saga_step(
        "adaptive",
        _SAGA_WHERE + " and the remarks on it",
        "expected contraction of SAGA's Lyapunov function, with a stepsize that does not ask for mu",
        1 - Min(1 / (4 * n), mu / (3 * L)),
        _stepsize(1 / (3 * L), "gamma = 1/(3L)"),
        "the Lyapunov function is that of Theorem 1, with its c at this gamma",
        "observed",
    ),
    Claim(
        id="baseline/svrg/one-step",
        where="Johnson, Zhang 2013, proof of Theorem 1",
        gist="expected squared distance to the optimum after one step of the inner loop, for every stepsize",
        origin="implied",
        setting=SVRG,
        statement=one_step(
            svrg.algorithm, E(W_NEXT + 2 * eta * (1 - 2 * L * eta) * GAP) <= W + 4 * L * eta**2 * GAP_SNAPSHOT
        ),
        requires=(AVERAGE,),
        reading="the gain 2 eta (1 - 2 L eta) (f(w) - f*) is put on the left side; their gamma is mu",
    ),
    Claim(
        id="baseline/svrg/last-iterate",
        where="Johnson, Zhang 2013, proof of Theorem 1",
        gist="linear rate of SVRG with the last iterate for its snapshot: L/mu times the constant of a random one",
        origin="implied",
        setting=replace(SVRG, drawing=replace(SVRG.drawing, start=("w",))),
        statement=bound(svrg.algorithm, E(GAP_T) <= L / mu * (_decay**T + _noise) * GAP),
        requires=(AVERAGE, Hypothesis("eta < 1/(2L)", sympy.Lt(eta, 1 / (2 * L), evaluate=False))),
        reading="not printed: after T steps of the inner loop, from the snapshot. (1 - eta mu (1 - 2 L eta))^T is "
        "at most 1/(mu eta (1 - 2 L eta) T), which gives L/mu times their constant. From baseline/svrg/one-step and "
        "(mu/2) |w - w*|^2 <= f(w) - f* <= (L/2) |w - w*|^2",
    ),
    Claim(
        id="baseline/loopless-svrg/one-step",
        where="Kovalev, Horvath, Richtarik 2020",
        gist="expected contraction of loopless SVRG's Lyapunov function",
        origin="observed",
        setting=LOOPLESS_SVRG,
        statement=one_step(loopless_svrg.algorithm, E(PHI_NEXT) <= Max(1 - eta * mu, 1 - p / 2) * PHI),
        requires=(AVERAGE, Hypothesis("eta <= 1/(6L)", sympy.Le(eta, 1 / (6 * L), evaluate=False))),
    ),
)
