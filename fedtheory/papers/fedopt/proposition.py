"""Federated Optimization, Section 3.5: DANE with SVRG for its local solver is naive FSVRG (Proposition 1)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fedtheory.algorithms import dane, dane_svrg, naive_fsvrg
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.identity import identity
from fedtheory.kinds.readings import Readings
from fedtheory.numbers.rational import Array
from fedtheory.papers.fedopt.any_functions import HELD, Held, placed
from fedtheory.papers.fedopt.data import RidgeInstances
from fedtheory.papers.fedopt.predictors import TWO, Two, gamma, lamda, letters, model_of, section, setting
from fedtheory.problems.linear_models import LinearProblem
from fedtheory.settings.relations import Quantity

NAIVE = placed(naive_fsvrg.algorithm, lambda params: naive_fsvrg.Params(params.h, params.m))
#: DANE with eta = 1, mu = 0, an epoch of SVRG for its local solver.
_through_dane = placed(dane_svrg.algorithm, lambda params: dane_svrg.Params(params.h, params.m, 0, 1))
_ON_NODES = "f_1, ..., f_n with Lipschitz gradients, convex or not, on any nodes"
PROPOSITION_1 = replace(HELD, text=f"{_ON_NODES}; any h and m, from any w^t; all samples, shared", algorithm=NAIVE)


# Remark 3


def _general_step(problem: LinearProblem, params: dane_svrg.Params, state: dane.State, draw: Array) -> dane.State:
    """Algorithm 3 for any mu and eta: line 8 has eta grad f(w^t) for grad f(w^t), and mu (w_k - w^t) besides."""
    f, w = problem.f, state.w[..., None, :]
    full = params.eta * f.full_gradient(state.w)[..., None, :]
    local = np.broadcast_to(w, (*w.shape[:-2], f.n, f.d))
    for t in range(params.m):
        change = f.example_change(local, w, draw[..., t]) + params.mu * (local - w)
        local = local - params.h * (change + full)
    return dane.State(state.w + (local - w).sum(axis=-2) / f.n)


def _of_dane(params: Held) -> dane_svrg.Params:
    return dane_svrg.Params(params.h, params.m, params.mu, params.eta)


_general = placed(replace(dane_svrg.algorithm, name="Algorithm 3 with mu and eta", step=_general_step), _of_dane)
_tuned = placed(dane_svrg.algorithm, _of_dane)
REMARK_3 = replace(
    HELD, text=f"{_ON_NODES}; any h, m, mu >= 0 and eta, from any w^t; all samples, shared", algorithm=_general
)


def _example_gradients(problem: LinearProblem, w: Array) -> Array:
    f = problem.f
    slopes = f.loss.slope(f.predictions(w), f.y)
    return slopes[..., None] * f.X + f.lam * w[..., None, :]


def _bracket(problem: LinearProblem, state: Two, w: Array, of_f: Array) -> Array:
    """grad f_i(w) - grad F_k(w^t) - ``of_f``, for every example i: what stands in the brackets of the proof."""
    own = problem.f.gradient(state.w_t[..., None, :])[..., problem.f.owner, :]
    return _example_gradients(problem, w) - own - of_f


def _as_number(problem: LinearProblem, state: Two) -> Array:
    """The number f(w^t), subtracted from every entry: what stands for it cancels."""
    return problem.f.objective(state.w_t)[..., None, None]


def _as_gradient(problem: LinearProblem, state: Two) -> Array:
    """grad f(w^t) in the place of f(w^t)."""
    return problem.f.full_gradient(state.w_t)[..., None, :]


def _display(problem: LinearProblem, params: object, state: Two) -> Array:
    """Both sides of the display, for every i, side by side."""
    full, of_f = _as_gradient(problem, state), _as_number(problem, state)
    difference = _bracket(problem, state, state.w, of_f) - _bracket(problem, state, state.w_t, of_f)
    short = _example_gradients(problem, state.w) - _example_gradients(problem, state.w_t)
    return np.stack([difference + full, short + full], axis=-3)


def _direction(problem: LinearProblem, params: object, state: Two) -> Array:
    """SVRG's direction on (10), twice: the gradient of the i-th summand at w, less that at w^t, plus their mean there.

    The mean is over the examples of the node that holds i.
    """
    f = problem.f
    at_snapshot = _of_summand(problem, params, Two(state.w_t, state.w_t))
    mean = (f.per_client(at_snapshot, -2) / f.sizes[:, None])[..., f.owner, :]
    direction = _of_summand(problem, params, state) - at_snapshot + mean
    return np.stack([direction] * 2, axis=-3)


def _printed_bracket(problem: LinearProblem, params: object, state: Two) -> Array:
    """grad f_i(w) - grad F_k(w^t) - grad f(w^t), for every i in P_k."""
    return _bracket(problem, state, state.w, _as_gradient(problem, state))


def _repaired_bracket(problem: LinearProblem, params: object, state: Two) -> Array:
    """grad f_i(w) - grad F_k(w^t) + grad f(w^t), for every i in P_k."""
    return _bracket(problem, state, state.w, -_as_gradient(problem, state))


def _of_summand(problem: LinearProblem, params: object, state: Two) -> Array:
    """Gradient at w of f_i(w) - (grad F_k(w^t) - grad f(w^t))'w, the summands of (10) with eta = 1 and mu = 0.

    By differences, which are exact on quadratics.
    """
    f = problem.f
    a = f.gradient(state.w_t[..., None, :])[..., f.owner, :] - f.full_gradient(state.w_t)[..., None, :]

    def value(w: Array) -> Array:
        """At ``w (..., d, d)``, a point for each coordinate: ``(..., d, examples)``."""
        losses = f.loss.value(f.predictions(w), f.y) + f.lam * (w**2).sum(axis=-1)[..., None] / 2
        return losses - (a[..., None, :, :] * w[..., None, :]).sum(axis=-1)

    unit, w = np.eye(f.d, dtype=int), state.w[..., None, :]
    slopes: Array = (value(w + unit) - value(w - unit)) / 2
    return np.swapaxes(slopes, -1, -2)


OF_SUMMAND = Quantity("grad g_i(w)", _of_summand)
SUMMANDS = setting("any data on any nodes; any w and w^t", RidgeInstances(states=TWO), letters(lamda, gamma))


proof = section("proof of Proposition 1", SUMMANDS, id="proposition-1")
_AS_A_WHOLE = proof(
    "gradient#display",
    identity(Quantity("both_sides", _display), Quantity("SVRG_direction", _direction)),
    "the display as a whole: both its sides are SVRG's direction on (10), whatever f(w^t) is, since it cancels",
    origin="",
)
_BY_PARTS = proof(
    "gradient#brackets",
    identity(Quantity("grad f_i(w)-grad F_k(w^t)-grad f(w^t)", _printed_bracket), OF_SUMMAND),
    "its brackets, with grad f(w^t) for f(w^t): they are the gradients of the summands of (10), at w and at w^t",
    origin="",
)

SECTION_3_5 = (
    section("Proposition 1", PROPOSITION_1)(
        "",
        Agreement(
            NAIVE,
            _through_dane,
            lambda problem, params, state: (params, dane.State(state.w)),
            (model_of, model_of),
            "Algorithm 3 and DANE with an epoch of SVRG go to the same w^(t+1), for all samples",
        ),
        "DANE (eta = 1, mu = 0) solved by one SVRG epoch is naive FSVRG, sample by sample",
        kind="equivalence",
        tex=r"\eta=1, \quad \mu=0",
        uses=("proposition-1/gradient",),
        reading="a single iteration of SVRG is one outer iteration of Algorithm 1, of m steps; the samples are the "
        "same (Remark 2)",
    ),
    proof(
        "gradient",
        Readings("what f(w^t) is, a number that is subtracted from vectors, is not defined", (_AS_A_WHOLE, _BY_PARTS)),
        "the stochastic gradient of (10), signs as printed",
        kind="identity",
        tex=r"\left[\nabla f_i(w)-\nabla F_k(w^t)-f(w^t)\right]-\left[\nabla f_i(w^t)-\nabla F_k(w^t)-f(w^t)\right]+"
        r"\nabla f(w^t)",
        reading="the display is true, as a whole, of every vector in its place; the sentence before it says what its "
        "brackets are, which they are not",
        literal_of="proposition-1/gradient/repaired",
        flaw="The gradient of a summand of (10) is grad f_i(w) - (grad F_k(w^t) - grad f(w^t)). The printed brackets "
        "have the number f(w^t) for the gradient, and a minus before it; both cancel in the difference of the "
        "brackets.",
    ),
    proof(
        "gradient/repaired",
        identity(Quantity("grad f_i(w)-grad F_k(w^t)+grad f(w^t)", _repaired_bracket), OF_SUMMAND),
        "grad f_i(w) - grad F_k(w^t) + grad f(w^t) is the gradient of the i-th summand of (10)",
        reading="eta = 1, mu = 0",
        repairs="proposition-1/gradient",
    ),
    section("Remark 3", REMARK_3)(
        "",
        Agreement(
            _general,
            _tuned,
            lambda problem, params, state: (params, state),
            (model_of, model_of),
            "Algorithm 3 with eta grad f(w^t) and mu (w_k - w^t) in line 8, and DANE with that mu and eta and an epoch "
            "of SVRG, go to the same w^(t+1), for all samples",
        ),
        "Algorithm 3 and Proposition 1 generalise to any mu and eta",
        kind="equivalence",
        tex="",
        uses=("proposition-1",),
        reading="how they generalise is not printed: line 8 becomes w_k - h (grad f_i(w_k) - grad f_i(w^t) + eta "
        "grad f(w^t) + mu (w_k - w^t)), which is SVRG on (10)",
    ),
)
