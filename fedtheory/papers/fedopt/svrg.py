"""Federated Optimization, Sections 3.2 and 3.3: SVRG, and the objective as a mean of local ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import one_shot_averaging, svrg
from fedtheory.classes import Smooth
from fedtheory.kinds.fails import Fails
from fedtheory.kinds.identity import identity
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.kinds.untested import Untested
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedopt.data import RidgeInstances, about, count_of, positive, solvable
from fedtheory.papers.fedopt.predictors import (
    CONSTANTS,
    MODEL,
    L,
    Model,
    gamma,
    h,
    lamda,
    letters,
    m,
    n,
    section,
    setting,
)
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.randomness import expectation, support_of
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

# Section 3.2


def _direction(problem: Problem, params: svrg.Params, state: svrg.State) -> Array:
    """E of the direction of line 7 of Algorithm 1."""
    draws, p = support_of(svrg.draws(problem, params, state), True)
    before = svrg.State(state.w[..., None, :], state.w_tilde[..., None, :])
    after = svrg.step(problem, params, before, draws)
    return expectation((before.w - after.w) / params.eta, p, axis=-2)


def _gradient(problem: Problem, params: svrg.Params, state: svrg.State) -> Array:
    """grad f(w)."""
    return problem.f.gradient(state.w[..., None, :]).sum(axis=-2) / problem.n


_SVRG = Setting(
    "f_1, ..., f_n with Lipschitz gradients, convex or not; any w, snapshot and h",
    letters={L: "L", n: "n", h: "eta"},
    algorithm=svrg.algorithm,
    functions=Smooth(L, optimum="stationary"),
    drawing=Drawing(classes_stated=True),
)

#: c of eq. (5), with the constants of Johnson and Zhang (2013), Theorem 1.
rate = 1 / (lamda * h * (1 - 2 * L * h) * m) + 2 * L * h / (1 - 2 * L * h)


class Epoch(NamedTuple):
    """``h``: stepsize; ``m``: steps of an epoch."""

    h: Scalar
    m: int


def _epoch(recipe: Any, problem: LinearProblem, exact: bool) -> Epoch:
    return Epoch(positive(recipe, "share", exact) / largest_L(problem, None), recipe["m"])


def largest_L(problem: LinearProblem, params: object) -> Scalar:
    """max_i L_i, L_i = |x_i|^2 + lambda."""
    return problem.f.squared_norms.max() + problem.f.lam


def after_epoch(problem: LinearProblem, params: Epoch, state: Model) -> Array:
    """E f(w) - f* after the m steps of an epoch of Algorithm 1 from w = w^t, by its exact second moments."""
    f = problem.f
    single, d = LinearProblem(f.singles, known=problem.optimum), f.d
    inner = svrg.Params(params.h)
    # The linear maps of a step on (w - w*, snapshot - w*), from the code: one column a basis vector.
    zero = 0 * f.X[0, 0]
    basis = np.eye(2 * d, dtype=int) + zero
    state_of = svrg.State(problem.x_star + basis[:, None, :d], problem.x_star + basis[:, None, d:])
    draws, p = support_of(svrg.draws(single, inner, state_of), f.exact)
    maps = np.zeros((len(p), 2 * d, 2 * d), dtype=int) + zero
    maps[:, :d] = np.moveaxis(svrg.step(single, inner, state_of, draws).w - problem.x_star, 0, -1)
    maps[:, d:, d:] = np.eye(d, dtype=int)
    form = np.zeros((2 * d, 2 * d), dtype=int) + zero
    form[:d, :d] = (np.matmul(f.X.T, f.X) / f.examples + f.lam * np.eye(d, dtype=int)) / 2
    for _ in range(params.m):
        form = (p[:, None, None] * np.matmul(np.matmul(np.swapaxes(maps, -1, -2), form), maps)).sum(axis=0)
    both = np.concatenate([state.w - problem.x_star] * 2, axis=-1)
    return (np.matmul(both, form) * both).sum(axis=-1)


def _gap(problem: LinearProblem, params: object, state: Model) -> Array:
    """f(w^t) - f*."""
    return problem.f.objective(state.w) - problem.f.objective(problem.x_star)


EPOCH = setting(
    "f_i(w) = (x_i'w - y_i)^2/2 + (lambda/2) |w|^2 with |x_i|^2 + lambda <= L; m >= 1 steps of an epoch, any w^t",
    RidgeInstances(
        _epoch,
        MODEL,
        {
            "share": about("1/100", "3/4"),
            "m": count_of(1, 2, 3, 5, 8, 12, 20, 40),
        },
    ),
    {**letters(lamda), L: largest_L, h: "h", m: "m"},
)
_after, _before = sympy.Symbol("f(w^(t+1))-f*"), sympy.Symbol("f(w^t)-f*")
_SHORT = Hypothesis("h < 1/(2L)", sympy.Lt(h, 1 / (2 * L), evaluate=False))

#: m as a number that is rounded up.
_steps = sympy.Symbol("m", positive=True)
#: e is less than this, so that c <= 1/_OVER_E divides the gap by more than e in an epoch.
_OVER_E = sympy.Rational(27183, 10000)

AFTER = Quantity(_after, after_epoch)
BEFORE = Quantity(_before, _gap)

section_32 = section("Section 3.2", CONSTANTS, id="svrg")
SECTION_3_2 = (
    section_32(
        "unbiased",
        identity(Quantity("E[grad f_i(w)-grad f_i(w^t)+grad f(w^t)]", _direction), Quantity("grad f(w)", _gradient)),
        "the SVRG direction is unbiased",
        setting=_SVRG,
        tex=r"\nabla f_i(w)-\nabla f_i(w^t)+\nabla f(w^t)",
        reading="the mean over i of the direction of line 7, at any w and any snapshot, is grad f(w)",
    ),
    section("eq. (5)", EPOCH, _SHORT, id="svrg")(
        "eq-5",
        AFTER <= rate * BEFORE,
        "linear rate of SVRG (explicit constant from its source)",
        kind="bound",
        tex=r"\mathbb{E}[f(w^t)-f(w^*)]\leq c^t[f(w^0)-f(w^*)], \quad c=\Theta\left(\frac{1}{mh}\right)+\Theta(h)",
        reading="one epoch from any w^t, from which all follow by conditional expectation; c as in Johnson and Zhang "
        "(2013), "
        "Theorem 1, whose next snapshot is a random iterate of the epoch, while Algorithm 1 takes the last: on least "
        "squares, where E f is known by second moments. That the f_i are convex is taken from the source and from 3.3: "
        "with the hypotheses before (5) alone, f strongly convex and the f_i smooth, c is too small. For all "
        "convex f_i: baseline/svrg/last-iterate",
    ),
    section_32(
        "complexity",
        ParameterRule(
            {h: 1 / (10 * L), _steps: 107 * L / lamda},
            (
                sympy.Lt(h, 1 / (2 * L), evaluate=False),
                sympy.Le(rate.subs(m, _steps), 1 / _OVER_E, evaluate=False),
                sympy.Le(n + 2 * _steps, n + 214 * L / lamda, evaluate=False),
            ),
        ),
        "gradient evaluations",
        kind="order",
        tex=r"(n+\mathcal{O}(L/\lambda))\log(1/\epsilon)",
        uses=("svrg/eq-5",),
        given=("svrg/eq-5",),
        reading="(n + O(L/lambda)) log(1/epsilon), where n has the constant 1: log(1/epsilon) epochs of n + 2m "
        "gradients will do if c <= 1/e, as 10000/27183 is; epsilon is relative to f(w^0) - f*, and m and the number of "
        "epochs are rounded up. It rests on eq. (5), with the constant of a random iterate",
    ),
)

GENERAL_SMOOTH = section_32(
    "general-smooth",
    Untested(
        "for general L-smooth losses the theory is significantly worse, and does not match the practical performance",
        "it compares theorems of another paper, which are not printed here, and says of none of them what is worse",
    ),
    "that for general L-smooth losses the theory is significantly worse",
    kind="property",
    tex="",
    reading="the text at hand has the sentence in Section 3.4, of DANE, after the rounds on linear regression, which "
    "are fedopt/dane/rounds",
)

# Section 3.3


def _objective(problem: LinearProblem, params: object, state: Model) -> Array:
    """f(w), eq. (1)."""
    return problem.f.objective(state.w)


def _combination(problem: LinearProblem, params: object, state: Model) -> Array:
    """sum_k (n_k/n) F_k(w), with the F_k of eq. (6)."""
    f = problem.f
    return (f.shares * f.value(state.w[..., None, :])).sum(axis=-1)


def _average(problem: LinearProblem, params: object, state: object) -> Array:
    """sum_k (n_k/n) argmin F_k."""
    start = one_shot_averaging.State(problem.x_star)
    return one_shot_averaging.step(problem, one_shot_averaging.Params(), start, None).w


def _solution(problem: LinearProblem, params: object, state: object) -> Array:
    """w*."""
    return problem.x_star


_mean, _best = sympy.Symbol("average"), sympy.Symbol("w*")
_SPREAD = RidgeInstances(lam=lambda rng: Fraction(int(rng.integers(0, 4)), 2), plain=True, holds=solvable)
ANY_DATA = setting("any data on any nodes", RidgeInstances(states=MODEL), letters(lamda, gamma))
SPREAD = setting("any data on any nodes, lambda >= 0, each F_k with one minimiser", _SPREAD)

MEAN = Quantity(_mean, _average)
BEST = Quantity(_best, _solution)

SECTION_3_3 = (
    section("eq. (7)", ANY_DATA)(
        "",
        identity(Quantity("f(w)", _objective), Quantity("sum_k((n_k/n) F_k(w))", _combination)),
        "f as a convex combination of the F_k",
        tex=r"f(w)=\sum_{k=1}^K\frac{n_k}{n}F_k(w)=\sum_{k=1}^K\frac{n_k}{n}\cdot\frac{1}{n_k}\sum_{i\in"
        r"\mathcal{P}_k}f_i(w)",
    ),
    section("Section 3.4", SPREAD, id="")(
        "one-shot-averaging",
        Fails(
            identity(MEAN, BEST),
            "the average of the local minimisers is the solution",
        ),
        "averaging local minimisers does not solve the problem",
        kind="property",
        tex=r"w^{t+1}=\sum_{k=1}^K\frac{n_k}{n}w_k^{t+1}",
        reading="in general: for some data the average, weighted by n_k/n, is not the solution",
    ),
)
