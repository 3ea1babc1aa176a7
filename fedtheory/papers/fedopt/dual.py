"""Federated Optimization, Appendices A.2 and A.3, and eq. (17): the dual problem and the dual method, Algorithm 6."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms import perturbed_primal
from fedtheory.claims import Claim
from fedtheory.papers.fedopt.data import Posed, few
from fedtheory.papers.fedopt.dual_states import (
    ADMISSIBLE_SIGMA,
    ANY_GAMMA,
    LOSSES,
    NO_STATE,
    of_primal,
)
from fedtheory.papers.fedopt.predictors import (
    DOMINATES,
    DUALS,
    STEPS,
    Duals,
    K,
    Steps,
    dual_optimum,
    letters,
    setting,
)
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.rational import Array, apply, inverse
from fedtheory.statements import Comparison, Inequality, Quantity, identity, inequality


def _dual_solution(f: LinearModels) -> Array:
    """The maximiser of (13) from its own normal equations, (X'X/(lambda n) + gamma I) alpha = y."""
    gram = np.matmul(f.X, f.X.T) / (f.lam * f.examples)
    return apply(inverse(gram + f.loss.gamma * np.eye(f.examples, dtype=int)), f.y)


def _most(problem: LinearProblem, params: Any, state: Any) -> Array:
    """max D, eq. (13)."""
    return np.asarray(problem.f.dual(_dual_solution(problem.f)))


def _least(problem: LinearProblem, params: Any, state: Any) -> Array:
    """min f, eq. (11)."""
    return np.asarray(problem.f.objective(problem.x_star))


def _image_of_solution(problem: LinearProblem, params: Any, state: Any) -> Array:
    """(1/(lambda n)) X alpha*, alpha* from the normal equations of the dual."""
    return problem.f.primal(_dual_solution(problem.f))


def _solution(problem: LinearProblem, params: Any, state: Any) -> Array:
    """w*, from the normal equations of the primal problem."""
    return problem.x_star


def _xi(f: LinearModels, h: Array) -> Array:
    """|Xh|^2."""
    return (f.combined(h) ** 2).sum(axis=-1)


def _in_blocks(f: LinearModels, h: Array) -> Array:
    """|h|_B^2 = sum_k |X_k h_k|^2."""
    return (f.per_client(h[..., None] * f.X, -2) ** 2).sum(axis=(-1, -2))


def _alone(f: LinearModels, h: Array) -> Array:
    """h, and 0 on the examples of all clients but the first."""
    return np.where(f.owner == 0, h, 0 * h)


def _xi_alone(f: LinearModels, h: Array) -> Array:
    """|X h|^2 for the part of h that the first client holds."""
    return _xi(f, _alone(f, h))


def _in_blocks_alone(f: LinearModels, h: Array) -> Array:
    """|h|_B^2 for the part of h that the first client holds."""
    return _in_blocks(f, _alone(f, h))


def _of_step(function: Any) -> Any:
    def quantity(problem: LinearProblem, params: Any, state: Duals) -> Array:
        found: Array = function(problem.f, state.alpha - dual_optimum(problem))
        return found

    quantity.__doc__ = function.__doc__
    return quantity


def _after_step(problem: LinearProblem, params: Any, state: Steps) -> Array:
    """D(alpha + h)."""
    return problem.f.dual(state.alpha + state.h)


def _lower_bound(problem: LinearProblem, params: perturbed_primal.Params, state: Steps) -> Array:
    """-(xi(alpha) + <grad xi(alpha), h> + (sigma/2) |h|_B^2)/(lambda n^2) - (1/n) sum_i phi_i^*(-alpha_i - h_i)."""
    f, (alpha, h) = problem.f, state
    image = f.combined(alpha)
    model = (image**2).sum(axis=-1) / 2 + (image * f.combined(h)).sum(axis=-1) + params.sigma * _in_blocks(f, h) / 2
    conjugates = f.loss.conjugate(alpha + h, f.y).sum(axis=-1)
    return -model / (f.lam * f.examples**2) - conjugates / f.examples


_square, _blocks = sympy.Symbol("|Xh|^2"), sympy.Symbol("|h|_B^2")
_square_alone, _blocks_alone = sympy.Symbol("|X h_1|^2"), sympy.Symbol("|h_1|_B^2")
_bound, _value = sympy.Symbol("model(h)"), sympy.Symbol("D(alpha+h)")
ANY_STEP = setting("any data on any nodes, X != 0, any h", Posed(states=DUALS), letters(K))
DATA = setting(f"{LOSSES}, on any data and nodes", Posed(states=NO_STATE, letters=ANY_GAMMA))
STEPPING = setting(
    f"{LOSSES}, on any data and nodes, any alpha and h",
    Posed(of_primal, STEPS, {**ANY_GAMMA, **ADMISSIBLE_SIGMA}, clients=few),
)


_A3 = "Appendix A.3"
SQUARE = Quantity(_square, _of_step(_xi))
BLOCKS = Quantity(_blocks, _of_step(_in_blocks))
SQUARE_ALONE = Quantity(_square_alone, _of_step(_xi_alone))
BLOCKS_ALONE = Quantity(_blocks_alone, _of_step(_in_blocks_alone))
BOUND = Quantity(_bound, _lower_bound)
VALUE = Quantity(_value, _after_step)

APPENDIX_A3 = (
    Claim(
        id="fedopt/eq-13",
        where="eq. (13)",
        gist="dual of L2-regularised ERM",
        setting=DATA,
        statement=identity(Quantity("max_{alpha} D(alpha)", _most), Quantity("min_w f(w)", _least)),
        reading="max D = min f, on quadratic losses, where each has normal equations of its own",
    ),
    Claim(
        id="fedopt/eq-14",
        where="eq. (14)",
        gist="dual to primal map at the optimum",
        setting=DATA,
        statement=identity(Quantity("(1/(lambda n)) X alpha*", _image_of_solution), Quantity("w*", _solution)),
        reading="on quadratic losses, where each problem has normal equations of its own",
    ),
    Claim(
        id="fedopt/sigma",
        where=_A3,
        gist="X'X <= sigma B with 1 <= sigma <= K",
        setting=ANY_STEP,
        statement=Inequality(
            _square,
            K * _blocks,
            (SQUARE, BLOCKS, SQUARE_ALONE, BLOCKS_ALONE),
            also=(Comparison(_blocks_alone, "<=", _square_alone),),
        ),
        reading="of the least sigma, for X != 0: at most K, since |Xh|^2 <= K |h|_B^2 for all h; at least 1, since "
        "|h_1|_B^2 <= |X h_1|^2 (they are equal) for h_1, what the first client holds of h, so that sigma < 1 would "
        "need X h_1 = 0 for all h, and so for every client. Every larger sigma has X'X <= sigma B too",
    ),
    Claim(
        id="fedopt/lower-bound-step",
        where=_A3,
        gist="separable lower bound on D(alpha + h)",
        setting=STEPPING,
        statement=inequality(BOUND <= VALUE),
        requires=(DOMINATES,),
        reading="on quadratic losses",
    ),
)
