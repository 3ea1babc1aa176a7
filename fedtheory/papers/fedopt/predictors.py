"""Federated Optimization: letters, states, settings and quantities that its statements share.

f(w) = (1/n) sum_i phi_i(x_i'w) + (lambda/2) |w|^2 on the examples of K nodes; the statements are tested on ridge
regression, phi_i(t) = (t - y_i)^2 / 2, where everything is a fraction.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import dual_block_ascent, perturbed_primal
from fedtheory.algorithms.fsvrg import State
from fedtheory.learning.dual_blocks import least_sigma
from fedtheory.numbers import symbols
from fedtheory.numbers.rational import Array, to_float
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedopt.data import Letter, RidgeInstances, States, about, one_of, positive, problem_of
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.sections import section as section_of
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

#: A section of the paper, by its place, its setting and its hypotheses.
section = partial(section_of, "fedopt")
#: A fault that makes two claims fail.
SIGMA_AS_LISTED = "sigma is any number in [1, K]"

lamda, gamma, eta, mu, L, h = sympy.symbols("lamda gamma eta mu L h", positive=True)
sigma, smax = sympy.symbols("sigma s_max", positive=True)
n, K, m, n_k = sympy.symbols("n K m n_k", integer=True, positive=True)
Theta = sympy.Symbol("Theta", nonnegative=True)
epsilon = symbols.epsilon

#: The paper's letters in the common vocabulary.
glossary = {lamda: symbols.mu, L: symbols.L, epsilon: symbols.epsilon}

CONSTANTS = Setting("all values of the constants")

# States


class Model(NamedTuple):
    """``w (..., d)``."""

    w: Array


class Two(NamedTuple):
    """The current model ``w (..., d)`` and the snapshot ``w_t (..., d)``."""

    w: Array
    w_t: Array


class Duals(NamedTuple):
    """``alpha (..., n)``: dual variables, one an example."""

    alpha: Array


class Steps(NamedTuple):
    """``alpha (..., n)``, and a step ``h (..., n)`` from there."""

    alpha: Array
    h: Array


def dual_optimum(problem: LinearProblem) -> Array:
    """The maximiser of D, ``(n,)``."""
    return problem.f.dual_of(problem.x_star)


def _two(problem: LinearProblem, params: object, theta: Array) -> Two:
    first, second = np.split(theta, 2, axis=1)
    return Two(problem.x_star + first[:, None], problem.x_star + second[:, None])


def _steps(problem: LinearProblem, params: object, theta: Array) -> Steps:
    first, second = np.split(theta, 2, axis=1)
    return Steps(dual_optimum(problem) + first[:, None], second[:, None])


def models(State: Any) -> States:
    """States that are one model w."""
    return States(lambda problem: problem.d, lambda problem, params, theta: State(problem.x_star + theta[:, None]))


def optimum(State: Any) -> States:
    """States that are one model w, the optimum alone."""

    def at(problem: LinearProblem, params: object, theta: Array) -> State:
        return State(np.broadcast_to(problem.x_star, (len(theta), 1, problem.d)))

    return States(lambda problem: 0, at)


MODEL = models(Model)
TWO = States(lambda problem: 2 * problem.d, _two)
DUALS = States(
    lambda problem: problem.f.examples,
    lambda problem, params, theta: Duals(dual_optimum(problem) + theta[:, None]),
)
STEPS = States(lambda problem: 2 * problem.f.examples, _steps)


# Settings


def setting(
    text: str,
    posed: RidgeInstances,
    letters: dict[sympy.Symbol, object] | None = None,
    domain: tuple[sympy.Basic, ...] = (),
) -> Setting:
    """Ridge regression with these instances; the state is all that a statement there depends on."""
    drawing, hints = Drawing(special=posed.instances), Hints(complete=True)
    return Setting(text, letters=letters or {}, domain=domain, drawing=drawing, hints=hints)


def of(name: str) -> Any:
    """The source of a letter's value: a number of the data, or a field of the parameters."""
    sources = {
        "lamda": lambda problem, params: problem.f.lam,
        "n": lambda problem, params: problem.f.examples,
        "K": lambda problem, params: problem.f.n,
        "gamma": lambda problem, params: problem.f.loss.gamma,
        "s_max": lambda problem, params: largest_block(problem.f),
    }
    return sources.get(name, name)


def letters(*names: sympy.Symbol) -> dict[sympy.Symbol, Any]:
    """Letters with the sources of their values."""
    return {name: of(str(name)) for name in names}


def largest_block(f: LinearModels) -> Scalar:
    """max_k |X_k|_2^2, for fractions a fraction that is at most 1e-9 larger."""
    blocks = np.split(to_float(f.X), f.starts[1:])
    top = max(float(np.linalg.norm(block, 2)) ** 2 for block in blocks)
    if not f.exact:
        return top
    simple = Fraction(top).limit_denominator(10**4)
    near = abs(float(simple) - top) <= 1e-12 * (1 + top)
    return simple if near else Fraction(top) * (1 + Fraction(1, 10**9))


def sigma_at(*shares: Any) -> Letter:
    """sigma: a share of the way from the least admissible one, rounded up, to K; 0 is the least, 1 is K."""

    def drawn(rng: np.random.Generator, recipe: Any) -> Fraction:
        f = problem_of({**recipe, "lam": Fraction(1)}, True).f
        least = Fraction(int(np.ceil(max(least_sigma(f), 0.01) * 1000 - 1e-6)), 1000)
        share = Fraction(shares[int(rng.integers(len(shares)))])
        return max(least + share * (f.n - least), Fraction(1, 100))

    return drawn


def dominates(f: Any, value: Scalar) -> bool:
    """Return True if X'X <= sigma B at this sigma, to nine digits."""
    return float(value) >= least_sigma(f) * (1 - 1e-9)


def forms(f: LinearModels, h: Array) -> tuple[Array, Array]:
    """|X h|^2, and |h|_B^2 = sum_k |X_k h_k|^2, for ``h (..., n)``."""
    blocks: Array = (f.per_client(h[..., None] * f.X, -2) ** 2).sum(axis=(-1, -2))
    return (f.combined(h) ** 2).sum(axis=-1), blocks


def _dominated(problem: LinearProblem, params: Any, h: Array) -> tuple[Array, Array]:
    """h'X'Xh, and sigma h'Bh."""
    whole, blocks = forms(problem.f, h)
    return whole, params.sigma * blocks


DOMINATES = Hypothesis(
    "X'X <= sigma B, B = Diag(X_k'X_k)",
    met=lambda problem, params: dominates(problem.f, params.sigma),
    every=_dominated,
)
IN_RANGE = Hypothesis("sigma in [1, K]", sympy.And(sympy.Ge(sigma, 1), sympy.Le(sigma, K)))

# Quantities


def gap(problem: LinearProblem, params: object, state: State) -> Array:
    """f(w) - f*."""
    return problem.f.objective(state.w) - problem.f.objective(problem.x_star)


def dual_gap(problem: LinearProblem, params: object, state: Any) -> Array:
    """D* - D(alpha)."""
    return problem.f.dual(dual_optimum(problem)) - problem.f.dual(state.alpha)


def model_of(problem: LinearProblem, params: object, state: Any) -> Array:
    """w."""
    return np.asarray(state.w)


def gradient_of(problem: LinearProblem, params: object, state: Model) -> Array:
    """grad f(w)."""
    return problem.f.full_gradient(state.w)


def of_primal(recipe: Any, problem: LinearProblem, exact: bool) -> perturbed_primal.Params:
    """The parameter sigma of Algorithm 5 in a recipe. Raise ``ValueError`` unless it is positive."""
    return perturbed_primal.Params(positive(recipe, "sigma", exact))


def of_dual(recipe: Any, problem: LinearProblem, exact: bool) -> dual_block_ascent.Params:
    """The parameter sigma of Algorithm 6 in a recipe. Raise ``ValueError`` unless it is positive."""
    return dual_block_ascent.Params(positive(recipe, "sigma", exact))


ADMISSIBLE_SIGMA = {"sigma": sigma_at(0, 0, "1/2", 1)}
ANY_SIGMA = {"sigma": one_of("1/2", 1, "3/2", 2, 3, 5)}
#: The losses whose conjugates are exact on fractions; at gamma = 1, ridge regression, a gamma that is lost is not seen.
LOSSES = "phi_i(t) = (t - y_i)^2/(2 gamma)"
ANY_GAMMA = {"gamma": about("1/20", 20)}


def _coordinates(problem: LinearProblem, params: object, state: Any) -> Array:
    """alpha - alpha* of a state of the dual method: ``(..., n)``."""
    return np.asarray(state.alpha - dual_optimum(problem))


DUAL_STATES = States(
    lambda problem: problem.f.examples,
    lambda problem, params, theta: dual_block_ascent.State(dual_optimum(problem) + theta[:, None]),
    _coordinates,
)


class At(NamedTuple):
    """No state: the data and sigma are all."""


NO_STATE = States(lambda problem: 0, lambda problem, params, theta: At())


#: The share of the dual gap that a step with exact blocks leaves; CoCoA+ with local accuracy Theta is below.
dual_share = lamda * gamma * n / (lamda * gamma * n + sigma * smax)
D_T, D_0 = sympy.Symbol("D*-D(alpha^T)"), sympy.Symbol("D*-D(alpha^0)")
GAP_T, GAP_0 = Quantity(D_T, dual_gap, after=True), Quantity(D_0, dual_gap)
