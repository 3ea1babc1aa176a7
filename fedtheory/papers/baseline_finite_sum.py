"""Gradient descent and the variance-reduced methods of finite sums: one step of each, in each paper's letters.

The problem is min_x (1/n) sum_i f_i(x), for gradient descent (1/n) sum_i f_i(x) + g(x). The statements were gathered
from several papers: ``where`` names the paper of each.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy

from fedtheory.algorithms import gradient_descent, loopless_svrg, saga, svrg
from fedtheory.claims import Claim, Hypothesis
from fedtheory.classes import Smooth, SmoothStronglyConvex, StronglyConvexOnAverage
from fedtheory.papers import baseline_potentials as potentials
from fedtheory.papers.baseline import CONVEX, L, eta, gamma, mu, n, p
from fedtheory.problems.base import Problem
from fedtheory.rational import Array
from fedtheory.settings import Setting
from fedtheory.statements import OneStep, Quantity, contraction

# Potentials


def _distance_of_x(problem: Problem, params: Any, state: gradient_descent.State) -> Array:
    """|x - x*|^2."""
    return potentials.distance(problem, state.x)


def _gap_of_x(problem: Problem, params: Any, state: gradient_descent.State) -> Array:
    """f(x) - f*."""
    return potentials.gap(problem, state.x)


def _slope(problem: Problem, params: Any, state: gradient_descent.State) -> Array:
    """|grad f(x)|^2."""
    x = state.x[..., None, :]
    gradient: Array = problem.f.gradient(x).sum(axis=-2) / problem.n
    if problem.g is not None:
        gradient = gradient + problem.g.gradient(x)[..., 0, :]
    square: Array = (gradient**2).sum(axis=-1)
    return square


def T_saga(problem: Problem, params: saga.Params, state: saga.State) -> Array:
    """(1/n) sum_i (f_i(phi_i) - f_i(x*) - <grad f_i(x*), phi_i - x*>) + c |x - x*|^2, c = 1/(2 gamma (1 - gamma mu) n).

    Not defined where gamma mu = 1.
    """
    table: Array = potentials.bregman(problem.f, state.phi, problem.x_star, problem.y_star).sum(axis=-1) / problem.n
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


def _mean_curvature(problem: Problem, params: gradient_descent.Params) -> Any:
    """What the functions have: smoothness alone declares no mu."""
    return sum(part.mu.mean() for part in (problem.f, problem.g) if part is not None)


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
    g=(False, True),
)
SMOOTH_DESCENT = replace(
    DESCENT,
    text="f L-smooth, convex or not",
    letters={**DESCENT.letters, mu: _mean_curvature},  # type: ignore[dict-item]
    functions=Smooth(mu, L),
)
_OF_PROBLEM = {letter: str(letter) for letter in (mu, L, n)}
SAGA = Setting(CONVEX.text, letters={**_OF_PROBLEM, gamma: "gamma"}, algorithm=saga.algorithm, functions=_FUNCTIONS)
_ON_AVERAGE = StronglyConvexOnAverage(mu, L)
_AVERAGE = "f_1, ..., f_n convex and L-smooth, their average mu-strongly convex"
SVRG = Setting(_AVERAGE, letters={**_OF_PROBLEM, eta: "eta"}, algorithm=svrg.algorithm, functions=_ON_AVERAGE)
LOOPLESS_SVRG = Setting(
    _AVERAGE + "; 0 < p <= 1",
    letters={**_OF_PROBLEM, eta: "eta", p: "p"},
    algorithm=loopless_svrg.algorithm,
    functions=_ON_AVERAGE,
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


def _saga_step(name: str, where: str, gist: str, rate: sympy.Expr, stepsize: Hypothesis, reading: str = "") -> Claim:
    statement = contraction(saga.algorithm, Quantity(_T_next, T_saga, after=True), rate, Quantity(_T, T_saga))
    return Claim(f"baseline/saga/{name}", where, "one-step", gist, SAGA, statement, (CONVEX, stepsize), reading)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "baseline/gradient-descent/one-step",
        "Polyak 1987",
        "one-step",
        "contraction of the squared distance to the optimum, for every stepsize",
        DESCENT,
        contraction(
            gradient_descent.algorithm,
            Quantity(_x_next, _distance_of_x, after=True),
            sympy.Max((1 - gamma * mu) ** 2, (1 - gamma * L) ** 2),
            Quantity(_x, _distance_of_x),
        ),
        (STRONGLY_CONVEX,),
        _SUM,
    ),
    Claim(
        "baseline/gradient-descent/nonconvex",
        "Nesterov 2004",
        "one-step",
        "decrease of a smooth f, convex or not, by gamma (1 - L gamma/2) |grad f(x)|^2",
        SMOOTH_DESCENT,
        OneStep(
            gradient_descent.algorithm,
            _f_next,
            _f - gamma * (1 - L * gamma / 2) * _norm,
            (Quantity(_f_next, _gap_of_x, after=True), Quantity(_f, _gap_of_x), Quantity(_norm, _slope)),
        ),
        (SMOOTH,),
        _SUM + "; f* is its value at a stationary point, and cancels",
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
        1 - sympy.Min(1 / (4 * n), mu / (3 * L)),
        _stepsize(1 / (3 * L), "gamma = 1/(3L)"),
        "the Lyapunov function is that of Theorem 1, with its c at this gamma",
    ),
    Claim(
        "baseline/svrg/one-step",
        "Johnson, Zhang 2013, proof of Theorem 1",
        "one-step",
        "expected squared distance to the optimum after one step of the inner loop, for every stepsize",
        SVRG,
        OneStep(
            svrg.algorithm,
            _w_next + 2 * eta * (1 - 2 * L * eta) * _gap,
            _w + 4 * L * eta**2 * _gap_snapshot,
            (
                Quantity(_w_next, _distance_of_w, after=True),
                Quantity(_gap, _gap_of_w),
                Quantity(_w, _distance_of_w),
                Quantity(_gap_snapshot, _gap_of_snapshot),
            ),
        ),
        (AVERAGE,),
        "the gain 2 eta (1 - 2 L eta) (f(w) - f*) is put on the left side; their gamma is mu",
    ),
    Claim(
        "baseline/loopless-svrg/one-step",
        "Kovalev, Horvath, Richtarik 2020",
        "one-step",
        "expected contraction of loopless SVRG's Lyapunov function",
        LOOPLESS_SVRG,
        contraction(
            loopless_svrg.algorithm,
            Quantity(_Phi_next, Phi_loopless_svrg, after=True),
            sympy.Max(1 - eta * mu, 1 - p / 2),
            Quantity(_Phi, Phi_loopless_svrg),
        ),
        (AVERAGE, Hypothesis("eta <= 1/(6L)", sympy.Le(eta, 1 / (6 * L), evaluate=False))),
    ),
)
