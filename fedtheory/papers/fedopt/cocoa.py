"""Federated Optimization, Section 2.3.1: rounds of CoCoA+ with local solutions of accuracy Theta."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import cocoa_plus
from fedtheory.claims import Claim
from fedtheory.hypotheses import Hypothesis
from fedtheory.instances.base import pick
from fedtheory.papers.fedopt.data import Posed, States, one_of, positive, value
from fedtheory.papers.fedopt.dual_states import (
    ADMISSIBLE_SIGMA,
    ANY_GAMMA,
    D_0,
    D_T,
    GAP_0,
    GAP_T,
    LOSSES,
    dual_share,
)
from fedtheory.papers.fedopt.predictors import (
    Theta,
    dominates,
    dual_optimum,
    gamma,
    lamda,
    letters,
    n,
    sigma,
    smax,
)
from fedtheory.problems.dual_blocks import maximisers
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.randomness import Constant
from fedtheory.rational import Array
from fedtheory.settings import Setting
from fedtheory.statements import Bound


def _inexact(contraction: Any, way: str) -> Any:
    """A local solver of accuracy Theta = contraction^2, exactly: the exact step, and ``contraction`` times its image.

    ``way``: "short" of the exact step, "long" beyond it, or "aside": its reflection in the metric of the subproblem.
    """

    def answer(f: LinearModels, alpha: Array, w: Array, sigma: Any, draw: Any) -> Array:
        best = maximisers(f, alpha, w, sigma)
        if way != "aside":
            return best * (1 - contraction if way == "short" else 1 + contraction)
        gram = np.matmul(f.X, f.X.T) * sigma / (f.lam * f.examples)
        metric = np.where(f.owner[:, None] == f.owner, gram, 0 * gram) + f.loss.gamma * np.eye(f.examples, dtype=int)
        # Householder's reflection of each block along its first coordinate.
        first = metric[f.starts[f.owner], np.arange(f.examples)]
        along = f.per_client(best * first, -1) / metric[f.starts, f.starts]
        turned = np.array(best + 0 * first)
        turned[..., f.starts] = turned[..., f.starts] - 2 * along
        return best + contraction * turned

    return cocoa_plus.Solver(f"{way} by {contraction}", lambda f: Constant(), answer)


class Cocoa(NamedTuple):
    """CoCoA+'s ``sigma`` (sigma'), ``gamma`` (the aggregation) and ``solver``, and the accuracy ``Theta`` of that."""

    sigma: Any
    gamma: Any
    solver: Any
    Theta: Any


def _cocoa(recipe: Any, problem: LinearProblem, exact: bool) -> Cocoa:
    contraction = value(recipe, "contraction", exact)
    if not 0 <= contraction < 1 or not 0 < recipe["share"] <= 1:
        raise ValueError("a local solver contracts, and at most all of a step is taken")
    share = positive(recipe, "share", exact)
    solver = _inexact(contraction, recipe["way"])
    return Cocoa(share * positive(recipe, "sigma", exact), share, solver, contraction**2)


def _cocoa_at(problem: LinearProblem, params: Cocoa, theta: Array) -> cocoa_plus.State:
    start = cocoa_plus.Params(params.sigma, params.gamma, params.solver)
    return cocoa_plus.init(problem, start, dual_optimum(problem) + theta[:, None])


_aggregation = sympy.Symbol("g", positive=True)
INEXACT = Setting(
    f"{LOSSES}, on any data and nodes; local solutions of accuracy Theta in [0, 1), a share g of them added, "
    "sigma' = g sigma",
    letters={**letters(lamda, gamma, n, smax), sigma: "sigma", Theta: "Theta", _aggregation: "gamma"},
    special=Posed(
        _cocoa,
        States(lambda problem: problem.f.examples, _cocoa_at),
        {
            **ANY_GAMMA,
            **ADMISSIBLE_SIGMA,
            "contraction": one_of(0, "1/2", "1/3", "9/10"),
            "share": one_of(1, 1, 1, "1/2", "1/3"),
            "way": lambda rng, recipe: pick(rng, ("short", "long", "aside")),
        },
    ).instances,
    complete=True,
)
_SAFE = Hypothesis(
    "sigma' = g sigma with X'X <= sigma B",
    met=lambda problem, params: dominates(problem.f, params.sigma / params.gamma),
)

SECTION_2_3_1 = (
    Claim(
        id="fedopt/cocoa-rounds",
        where="Section 2.3.1",
        kind="order",
        gist="rounds of CoCoA with local accuracy Theta",
        setting=INEXACT,
        statement=Bound(
            cocoa_plus.algorithm,
            D_T,
            1 - _aggregation * (1 - Theta) * dual_share,
            D_0,
            (GAP_T, GAP_0),
        ),
        requires=(_SAFE,),
        reading="the bound from which log(1/epsilon)/((1 - Theta) s) rounds follow, with s = g lambda gamma "
        "n/(lambda gamma n + sigma' s_max), which the O hides; sigma' is written sigma. On quadratic losses, for three "
        "ways of being inexact",
    ),
)
