"""Federated Optimization, Appendix A.1: the new primal method, Algorithm 5."""

from __future__ import annotations

from fedtheory.algorithms import perturbed_primal
from fedtheory.claims import Claim
from fedtheory.kinds.fixed_point import Stays
from fedtheory.kinds.identity import identity
from fedtheory.numbers.rational import Array
from fedtheory.papers.fedopt.data import Posed
from fedtheory.papers.fedopt.dual_states import (
    ANY_SIGMA,
    of_primal,
)
from fedtheory.papers.fedopt.predictors import (
    LEARNT,
    setting,
)
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.settings.relations import Quantity

LEARNING = setting(
    "ridge regression on any data and nodes, the F_k of eq. (12); any sigma > 0, from any alpha^0",
    Posed(of_primal, LEARNT, ANY_SIGMA, share="equal"),
)


def _perturbations(problem: LinearProblem, params: perturbed_primal.Params, state: perturbed_primal.State) -> Array:
    """(1/K) sum_k a_k, a_k = grad F_k(w) - (eta grad F_k(w) + g_k)."""
    eta = perturbed_primal.eta(problem, params)
    own = problem.f.gradient(state.w[..., None, :])
    return (own - (eta * own + state.g)).sum(axis=-2) / problem.n


def _of_gradient(problem: LinearProblem, params: perturbed_primal.Params, state: perturbed_primal.State) -> Array:
    """(1 - eta) grad f(w)."""
    return (1 - perturbed_primal.eta(problem, params)) * problem.f.full_gradient(state.w)


_A1 = "Appendix A.1"

APPENDIX_A1 = (
    Claim(
        id="fedopt/perturbation-average",
        where=_A1,
        gist="mean of the a_k of the new method",
        setting=LEARNING,
        statement=identity(Quantity("(1/K) sum_k(a_k)", _perturbations), Quantity("(1-eta) grad f(w)", _of_gradient)),
        reading="(1 - eta) grad f(w^t) for Algorithm 5; DANE's a_k have this mean too where all n_k are equal",
    ),
    Claim(
        id="fedopt/lemma-4",
        where="Lemma 4",
        kind="invariant",
        gist="sum of the g_k stays 0",
        setting=LEARNING,
        statement=Stays(perturbed_primal.algorithm, perturbed_primal.invariant, "sum_k g_k stays 0, where it starts"),
    ),
)
