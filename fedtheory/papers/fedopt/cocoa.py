"""Federated Optimization, Section 2.3.1 and A.3: CoCoA+, its rounds with local accuracy Theta, and Algorithm 6."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import cocoa_plus, dual_block_ascent, perturbed_primal
from fedtheory.instances import pick
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.identity import identity
from fedtheory.learning.dual_blocks import maximisers
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedopt import dual_steps
from fedtheory.papers.fedopt.data import Letter, RidgeInstances, States, few, one_of, positive, value
from fedtheory.papers.fedopt.predictors import (
    ADMISSIBLE_SIGMA,
    ANY_GAMMA,
    ANY_SIGMA,
    D_0,
    D_T,
    GAP_0,
    GAP_T,
    LOSSES,
    STEPS,
    Steps,
    Theta,
    dominates,
    dual_optimum,
    dual_share,
    gamma,
    lamda,
    letters,
    n,
    of_primal,
    section,
    setting,
    sigma,
    smax,
)
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.randomness import Constant
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity


def _inexact(contraction: Scalar, way: str) -> cocoa_plus.Solver:
    """A local solver of accuracy Theta = contraction^2, exactly: the exact step, and ``contraction`` times its image.

    ``way``: "short" of the exact step, "long" beyond it, or "aside": its reflection in the metric of the subproblem.
    """

    def answer(f: LinearModels, alpha: Array, w: Array, sigma: Scalar, draw: object) -> Array:
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

    sigma: Scalar
    gamma: Scalar
    solver: cocoa_plus.Solver
    Theta: Scalar


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


_ACCURACY: dict[str, Letter] = {
    "contraction": one_of(0, "1/2", "1/3", "9/10"),
    "way": lambda rng, recipe: pick(rng, ("short", "long", "aside")),
}
_aggregation = sympy.Symbol("g", positive=True)
INEXACT = Setting(
    f"{LOSSES}, on any data and nodes; local solutions of accuracy Theta in [0, 1), a share g of them added, "
    "sigma' = g sigma",
    letters={**letters(lamda, gamma, n, smax), sigma: "sigma", Theta: "Theta", _aggregation: "gamma"},
    drawing=Drawing(
        special=RidgeInstances(
            _cocoa,
            States(lambda problem: problem.f.examples, _cocoa_at),
            {
                **ANY_GAMMA,
                **ADMISSIBLE_SIGMA,
                **_ACCURACY,
                "share": one_of(1, 1, 1, "1/2", "1/3"),
            },
        ).instances
    ),
    hints=Hints(complete=True),
)
_SAFE = Hypothesis(
    "sigma' = g sigma with X'X <= sigma B",
    met=lambda problem, params: dominates(problem.f, params.sigma / params.gamma),
)

# After Theorem 5


def _inexact_step(
    problem: LinearProblem, params: Cocoa, state: dual_block_ascent.State, draw: Array
) -> dual_block_ascent.State:
    """A round of Algorithm 6 whose Step 5 is solved inexactly."""
    f, alpha = problem.f, state.alpha
    return dual_block_ascent.State(alpha + params.solver.answer(f, alpha, f.primal(alpha), params.sigma, draw))


_inexactly = replace(
    dual_block_ascent.algorithm,
    name="Algorithm 6 with an inexact Step 5",
    Params=Cocoa,  # type: ignore[arg-type]
    draws=lambda problem, params, state: params.solver.draws(problem.f),  # type: ignore[attr-defined]
    step=_inexact_step,  # type: ignore[arg-type]
)


def _both(problem: LinearProblem, params: object, state: cocoa_plus.State) -> Array:
    """alpha and w, side by side."""
    return np.concatenate([state.alpha, state.w], axis=-1)


def _with_image(problem: LinearProblem, params: object, state: dual_block_ascent.State) -> Array:
    """alpha and X alpha/(lambda n), side by side."""
    return np.concatenate([state.alpha, problem.f.primal(state.alpha)], axis=-1)


def _own_subproblem(f: LinearModels, sigma: Scalar, alpha: Array, u: Array) -> Array:
    """Return the objective that a node of CoCoA+ maximises (Ma et al. 2015, eq. (9)), for every k: ``(..., K)``."""
    w = f.primal(alpha)
    images = f.per_client(u[..., None] * f.X, -2)
    linear = (w[..., None, :] * images).sum(axis=-1) / f.examples
    square = sigma * (images**2).sum(axis=-1) / (2 * f.lam * f.examples**2)
    conjugates = f.per_client(f.loss.conjugate(alpha + u, f.y), -1) / f.examples
    return -conjugates - f.lam * (w**2).sum(axis=-1)[..., None] / (2 * f.n) - linear - square


def _change(problem: LinearProblem, params: perturbed_primal.Params, state: Steps) -> Array:
    """CoCoA+'s local objective less its value at 0, for every k."""
    f, (alpha, h) = problem.f, state
    return _own_subproblem(f, params.sigma, alpha, h) - _own_subproblem(f, params.sigma, alpha, 0 * h)


def _change_of_15(problem: LinearProblem, params: perturbed_primal.Params, state: Steps) -> Array:
    """D_k(0) - D_k(h), eq. (15), for every k."""
    f, (alpha, h) = problem.f, state
    image, images = f.combined(alpha)[..., None, :], f.per_client(h[..., None] * f.X, -2)
    coupled = (image * images + params.sigma * images**2 / 2).sum(axis=-1) / (f.lam * f.examples**2)
    conjugates = f.per_client(f.loss.conjugate(alpha + h, f.y) - f.loss.conjugate(alpha, f.y), -1)
    return -coupled - conjugates / f.examples


ADDED = setting(
    f"{LOSSES}, on any data and nodes; any sigma > 0, local solutions of any accuracy, added",
    RidgeInstances(
        _cocoa,
        States(lambda problem: problem.f.examples, _cocoa_at),
        {**ANY_GAMMA, **ANY_SIGMA, **_ACCURACY, "share": one_of(1)},
        holds=lambda recipe, f: bool(recipe["share"] == 1),
        clients=few,
    ),
    {**letters(lamda, gamma), sigma: "sigma", _aggregation: "gamma"},
    (sympy.Eq(_aggregation, 1, evaluate=False),),
)
SUBPROBLEMS = setting(
    f"{LOSSES}, on any data and nodes; any sigma > 0, alpha and h",
    RidgeInstances(of_primal, STEPS, {**ANY_GAMMA, **ANY_SIGMA}, clients=few),
    letters(lamda, gamma),
)

after_theorem_5 = section("after Theorem 5", ADDED, id="cocoa/is-algorithm-6")
AFTER_THEOREM_5 = (
    after_theorem_5(
        "",
        Agreement(
            cocoa_plus.algorithm,
            _inexactly,
            lambda problem, params, state: (params, dual_block_ascent.State(state.alpha)),
            (_both, _with_image),
            "CoCoA+, which adds the steps of its nodes, and Algorithm 6 with the same inexact answers to (15) have the "
            "same alpha and w = X alpha/(lambda n)",
        ),
        "CoCoA+ is Algorithm 6 with an inexact Step 5",
        kind="equivalence",
        tex="",
        reading="CoCoA+ with gamma = 1 and sigma' = sigma, from a w that is X alpha/(lambda n); that its nodes have "
        "(15) to solve is fedopt/cocoa/is-algorithm-6/subproblem",
    ),
    after_theorem_5(
        "subproblem",
        identity(Quantity("G_k(h)-G_k(0)", _change), Quantity("D_k(0)-D_k(h)", _change_of_15)),
        "what a node of CoCoA+ maximises is -D_k(u), eq. (15), and a number",
        kind="identity",
        setting=SUBPROBLEMS,
        # The subproblem of CoCoA+ at a node is stated elsewhere.
        origin="implied",
        reading="G_k is the local objective of Ma et al. (2015), eq. (9); accuracy Theta is relative to its maximum, "
        "and so is the same of both",
    ),
)

section_231 = section("Section 2.3.1", dual_steps.SETTING, dual_steps.CONVEX, id="cocoa-rounds")
SECTION_2_3_1 = (
    section_231(
        "",
        dual_steps.GAP_AFTER <= (1 - (1 - Theta) * dual_steps.SHARE) * dual_steps.GAP_BEFORE,
        "rounds of CoCoA with local accuracy Theta",
        kind="order",
        tex=r"\mathcal{I}(\epsilon,\Theta)=\frac{\mathcal{O}(\log(1/\epsilon))}{1-\Theta}",
        reading="what a round leaves, whatever the local solver is, from which log(1/epsilon)/((1 - Theta) s) rounds "
        "follow, with s = lambda n/(lambda n + sigma beta), which the O hides; steps are added, as in CoCoA+",
    ),
    section_231(
        "shares",
        Bound(
            cocoa_plus.algorithm,
            D_T,
            1 - _aggregation * (1 - Theta) * dual_share,
            D_0,
            (GAP_T, GAP_0),
        ),
        "the same where a share g of the steps is added, on quadratic losses",
        kind="order",
        setting=INEXACT,
        requires=(_SAFE,),
        origin="observed",
        reading="s = g lambda gamma n/(lambda gamma n + sigma' s_max); sigma' is written sigma. Of CoCoA+ as it is "
        "run, for three ways of being inexact",
    ),
)
