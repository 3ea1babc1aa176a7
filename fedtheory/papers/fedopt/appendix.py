"""Federated Optimization, Appendix A: the new primal method, the dual method, and their equivalence."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import cocoa_plus, dual_block_ascent, perturbed_primal
from fedtheory.claims import Claim, Hypothesis
from fedtheory.instances.base import pick
from fedtheory.papers.fedopt.data import Posed, States, clients_of, one_of, positive, value
from fedtheory.papers.fedopt.predictors import (
    DOMINATES,
    DUALS,
    IN_RANGE,
    LEARNT,
    LEFT,
    RIGHT,
    STEPS,
    Duals,
    K,
    Steps,
    Theta,
    dominates,
    dual_gap,
    dual_optimum,
    gamma,
    gap,
    lamda,
    letters,
    n,
    setting,
    sigma,
    sigma_at,
    smax,
)
from fedtheory.problems.dual_blocks import maximisers
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.rational import Array, apply, inverse
from fedtheory.settings import Setting
from fedtheory.statements import Agreement, Bound, Identity, Inequality, Limit, Quantity, Stays

# Instances


def _sigma(recipe: Any, problem: LinearProblem, exact: bool) -> perturbed_primal.Params:
    return perturbed_primal.Params(positive(recipe, "sigma", exact))


def _dual_sigma(recipe: Any, problem: LinearProblem, exact: bool) -> dual_block_ascent.Params:
    return dual_block_ascent.Params(positive(recipe, "sigma", exact))


_ADMISSIBLE = {"sigma": sigma_at(0, 0, "1/2", 1)}
_ANY_SIGMA = {"sigma": one_of("1/2", 1, "3/2", 2, 3, 5)}


def _few(rng: np.random.Generator, kind: str, single: bool) -> tuple[int, tuple[Any, ...]]:
    return clients_of(rng, kind, single, most=2)


LEARNING = setting(
    "ridge regression on any data and nodes, the F_k of eq. (12); any sigma > 0, from any alpha^0",
    Posed(_sigma, LEARNT, _ANY_SIGMA, share="equal"),
)

# A.1


def _perturbations(problem: LinearProblem, params: perturbed_primal.Params, state: perturbed_primal.State) -> Array:
    """(1/K) sum_k a_k, a_k = grad F_k(w) - (eta grad F_k(w) + g_k)."""
    eta = perturbed_primal.eta(problem, params)
    own = problem.f.gradient(state.w[..., None, :])
    return (own - (eta * own + state.g)).sum(axis=-2) / problem.n


def _of_gradient(problem: LinearProblem, params: perturbed_primal.Params, state: perturbed_primal.State) -> Array:
    """(1 - eta) grad f(w)."""
    return (1 - perturbed_primal.eta(problem, params)) * problem.f.full_gradient(state.w)


def round_map(problem: LinearProblem, params: Any) -> Array:
    """The linear map of a round of Algorithm 5 on (w - w*, g_1 - g_1*, ..., g_K - g_K*), from its code."""
    d, size = problem.d, problem.d * (problem.n + 1)
    rest = perturbed_primal.fixed_point(problem, params)
    basis = np.eye(size, dtype=int) + 0 * problem.f.X[0, 0]
    state = perturbed_primal.State(rest.w + basis[:, :d], rest.g + basis[:, d:].reshape(size, problem.n, d))
    after = perturbed_primal.step(problem, params, state, None)
    images = np.concatenate([after.w - rest.w, (after.g - rest.g).reshape(size, -1)], axis=1)
    return images.T


def determinant(A: Array) -> Any:
    """The determinant of a matrix of fractions or floats, by elimination."""
    A, found = np.array(A), 1
    for j in range(len(A)):
        pivot = j + max(range(len(A) - j), key=abs(A[j:, j]).tolist().__getitem__)
        if A[pivot, j] == 0:
            return 0 * A[0, 0]
        if pivot != j:
            A[[j, pivot]], found = A[[pivot, j]], -found
        found = found * A[j, j]
        A[j + 1 :] = A[j + 1 :] - (A[j + 1 :, j] / A[j, j])[:, None] * A[j]
    return found


def _beyond(problem: LinearProblem, params: perturbed_primal.Params, state: Any) -> Array:
    """det(I + M), M the linear map of a round about the optimum."""
    M = round_map(problem, params)
    return np.asarray(determinant(M + np.eye(len(M), dtype=int)))[None, None]


_det = sympy.Symbol("det(I+M)", real=True)


class At(NamedTuple):
    """No state: the data and sigma are all."""


_AT = States(lambda problem: 0, lambda problem, params, theta: At())


def _identical_line(rng: np.random.Generator, kind: str, single: bool) -> tuple[int, tuple[Any, ...]]:
    if rng.random() < 0.5:
        return clients_of(rng, kind, single, most=2)
    one = {"examples": ({"x": (Fraction(int(rng.integers(1, 4))),), "y": Fraction(0)},)}
    return 1, (one,) * int(rng.integers(2, 5))


PRINTED_RANGE = setting(
    "ridge regression on any data and nodes, the F_k of eq. (12)",
    Posed(
        _sigma,
        _AT,
        {"sigma": one_of(1, 1, 1, "3/2", 2, 3)},
        share="equal",
        lam=lambda rng: Fraction(1, int(pick(rng, (1, 2, 4, 20)))),
        clients=_identical_line,
    ),
    letters(sigma, K),
)


def _coordinates(problem: LinearProblem, params: Any, state: Any) -> Array:
    """alpha - alpha* of a state of the dual method: ``(..., n)``."""
    return np.asarray(state.alpha - dual_optimum(problem))


_DUAL_STATES = States(
    lambda problem: problem.f.examples,
    lambda problem, params, theta: dual_block_ascent.State(dual_optimum(problem) + theta[:, None]),
    _coordinates,
)
ADMISSIBLE = setting(
    "ridge regression on any data and nodes, from any alpha^0",
    Posed(_dual_sigma, _DUAL_STATES, _ADMISSIBLE),
    letters(lamda, gamma, n, sigma, smax),
)


def _free(problem: LinearProblem, params: Any, theta: Array) -> perturbed_primal.State:
    """Any w, and any g_k of sum 0."""
    rest, d = perturbed_primal.fixed_point(problem, params), problem.d
    first = rest.g[:-1] + theta[:, None, d:].reshape(len(theta), 1, problem.n - 1, d)
    last = -first.sum(axis=-2, keepdims=True) if problem.n > 1 else rest.g + 0 * theta[:, None, None, :1]
    return perturbed_primal.State(rest.w + theta[:, None, :d], np.concatenate([first, last], axis=-2))


def _freed(problem: LinearProblem, params: Any, state: perturbed_primal.State) -> Array:
    """The inverse of that chart: ``(..., K d)``."""
    rest = perturbed_primal.fixed_point(problem, params)
    w, g = state.w - rest.w, (state.g - rest.g)[..., :-1, :]
    return np.concatenate([w, g.reshape(*g.shape[:-2], problem.d * (problem.n - 1))], axis=-1)


CONVERGING = setting(
    "ridge regression on any data and nodes, the F_k of eq. (12)",
    Posed(
        _sigma,
        States(lambda problem: problem.d * problem.n, _free, _freed),
        _ADMISSIBLE,
        share="equal",
        clients=_few,
    ),
)

_A1 = "Appendix A.1"
_gap_T = sympy.Symbol("f(w^t)-f*")
APPENDIX_A1 = (
    Claim(
        "fedopt/perturbation-average",
        _A1,
        "identity",
        "mean of the a_k of the new method",
        LEARNING,
        Identity(LEFT, RIGHT, (Quantity(LEFT, _perturbations), Quantity(RIGHT, _of_gradient))),
        reading="(1 - eta) grad f(w^t) for Algorithm 5; DANE's a_k have this mean too where all n_k are equal",
    ),
    Claim(
        "fedopt/lemma-4",
        "Lemma 4",
        "invariant",
        "sum of the g_k stays 0",
        LEARNING,
        Stays(perturbed_primal.algorithm, perturbed_primal.invariant, "sum_k g_k stays 0, where it starts"),
    ),
)

# A.3


def _dual_solution(f: LinearModels) -> Array:
    """The maximiser of (13) from its own normal equations, (X'X/(lambda n) + I) alpha = y."""
    gram = np.matmul(f.X, f.X.T) / (f.lam * f.examples)
    return apply(inverse(gram + np.eye(f.examples, dtype=int)), f.y)


def _most(problem: LinearProblem, params: Any, state: Any) -> Array:
    """max D, eq. (13)."""
    return np.asarray(problem.f.dual(_dual_solution(problem.f)))


def _least(problem: LinearProblem, params: Any, state: Any) -> Array:
    """min f, eq. (11)."""
    return np.asarray(problem.f.objective(problem.x_star))


def _image_of_solution(problem: LinearProblem, params: Any, state: Any) -> Array:
    """X alpha*/(lambda n), alpha* from the normal equations of the dual."""
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
_bound, _value = sympy.Symbol("model(h)"), sympy.Symbol("D(alpha+h)")
ANY_STEP = setting("any data on any nodes, any h", Posed(states=DUALS), letters(K))
DATA = setting("ridge regression on any data and nodes", Posed(states=_AT))
ANY_DUALS = setting("ridge regression on any data and nodes, any alpha", Posed(states=DUALS))
STEPPING = setting(
    "ridge regression on any data and nodes, any alpha and h", Posed(_sigma, STEPS, _ADMISSIBLE, clients=_few)
)

#: Of the dual gap, what a step with exact blocks leaves; of CoCoA+ with local accuracy Theta, below.
_share = lamda * gamma * n / (lamda * gamma * n + sigma * smax)
_D_T, _D_0 = sympy.Symbol("D*-D(alpha^T)"), sympy.Symbol("D*-D(alpha^0)")
_DUAL_T, _DUAL_0 = Quantity(_D_T, dual_gap, after=True), Quantity(_D_0, dual_gap)


def _negative_dual(problem: LinearProblem, params: Any, state: Duals) -> Array:
    """-D(alpha), D of eq. (13)."""
    return -problem.f.dual(state.alpha)


def _minimised(problem: LinearProblem, params: Any, state: Duals) -> Array:
    """|X alpha|^2/(2 lambda n^2) + |alpha|^2/(2n) - y'alpha/n, eq. (17)."""
    f, alpha = problem.f, state.alpha
    square, n = _xi(f, alpha), f.examples
    return square / (2 * f.lam * n**2) + (alpha**2).sum(axis=-1) / (2 * n) - (f.y * alpha).sum(axis=-1) / n


_A3 = "Appendix A.3"
APPENDIX_A3 = (
    Claim(
        "fedopt/eq-13",
        "eq. (13)",
        "identity",
        "dual of L2-regularised ERM",
        DATA,
        Identity(LEFT, RIGHT, (Quantity(LEFT, _most), Quantity(RIGHT, _least))),
        reading="max D = min f, on ridge regression, where each has normal equations of its own",
    ),
    Claim(
        "fedopt/eq-14",
        "eq. (14)",
        "identity",
        "dual to primal map at the optimum",
        DATA,
        Identity(LEFT, RIGHT, (Quantity(LEFT, _image_of_solution), Quantity(RIGHT, _solution))),
        reading="on ridge regression, where each problem has normal equations of its own",
    ),
    Claim(
        "fedopt/sigma",
        _A3,
        "inequality",
        "X'X <= sigma B with 1 <= sigma <= K",
        ANY_STEP,
        Inequality(_square, K * _blocks, (Quantity(_square, _of_step(_xi)), Quantity(_blocks, _of_step(_in_blocks)))),
        reading="sigma = K will do: |Xh|^2 <= K |h|_B^2 for all h, so the least sigma is at most K; it is at least 1, "
        "since both sides are the same for h of one client alone with sigma = 1",
    ),
    Claim(
        "fedopt/lower-bound-step",
        _A3,
        "inequality",
        "separable lower bound on D(alpha + h)",
        STEPPING,
        Inequality(_bound, _value, (Quantity(_bound, _lower_bound), Quantity(_value, _after_step))),
        (DOMINATES,),
        "on ridge regression",
    ),
    Claim(
        "fedopt/algorithm-6/linear",
        _A3,
        "bound",
        "the dual method converges linearly",
        ADMISSIBLE,
        Bound(dual_block_ascent.algorithm, _D_T, 1 - _share, _D_0, (_DUAL_T, _DUAL_0)),
        (DOMINATES,),
        "with sigma as A.3 defines it, and the explicit rate of proximal gradient ascent, s_max = max_k |X_k|^2: on "
        "ridge regression, gamma = 1",
    ),
    Claim(
        "fedopt/algorithm-5/any-partition",
        _A1,
        "limit",
        "ridge regression, any partition: converges",
        PRINTED_RANGE,
        Inequality(sympy.S.Zero, _det, (Quantity(_det, _beyond),), strict=True),
        (IN_RANGE,),
        "with any sigma in [1, K], as Algorithm 5 prints. A round is a linear map M about the optimum; where "
        "det(I + M) <= 0 it has a real eigenvalue of -1 or less, and does not converge from that eigenvector",
    ),
    Claim(
        "fedopt/algorithm-5/any-partition/repaired",
        _A1,
        "limit",
        "Algorithm 5 converges on any ridge regression and partition if X'X <= sigma B",
        CONVERGING,
        Limit(perturbed_primal.algorithm, Quantity(_gap_T, gap, after=True), "f(w^t) -> f*"),
        (DOMINATES,),
        "from any w and g_k of sum 0",
        "fedopt/algorithm-5/any-partition",
    ),
)

# A.4


def _from_dual(
    problem: LinearProblem, params: dual_block_ascent.Params, state: dual_block_ascent.State
) -> tuple[perturbed_primal.Params, perturbed_primal.State]:
    """Algorithm 5 with the same sigma, as its lines 4 and 5 start from alpha."""
    primal = perturbed_primal.Params(params.sigma)
    return primal, perturbed_primal.init(problem, primal, state.alpha)


def _images(problem: LinearProblem, params: dual_block_ascent.Params, state: dual_block_ascent.State) -> Array:
    """w = X alpha/(lambda n), and eta ((K/n) X_k alpha_k - lambda w) for every k: ``(..., K+1, d)``."""
    f = problem.f
    w = f.primal(state.alpha)[..., None, :]
    own = f.per_client(state.alpha[..., None] * f.X, -2) * f.n / f.examples
    return np.concatenate([w, f.n / params.sigma * (own - f.lam * w)], axis=-2)


def _primal_state(problem: LinearProblem, params: Any, state: perturbed_primal.State) -> Array:
    """w, and the g_k."""
    return np.concatenate([state.w[..., None, :], state.g], axis=-2)


EQUIVALENT = setting(
    "ridge regression on any data and nodes, the F_k of eq. (12); any sigma > 0, from any alpha^0",
    Posed(_dual_sigma, _DUAL_STATES, _ANY_SIGMA, share="equal"),
)


class Lines(NamedTuple):
    """``w``, ``w_t (..., d)``: where L_k is taken, and the current model; ``alpha (..., n)``."""

    w: Array
    w_t: Array
    alpha: Array


def _lines_at(problem: LinearProblem, params: Any, theta: Array) -> Lines:
    d = problem.d
    return Lines(theta[:, None, :d], theta[:, None, d : 2 * d], theta[:, None, 2 * d :])


def _printed(which: int) -> Any:
    """L_k(w) as the lines from (23) to the last have it, for every k; the first one, or the five others."""

    def value(problem: LinearProblem, params: perturbed_primal.Params, state: Lines) -> Array:
        lines = _chain(problem.f, params.sigma, state)
        return np.stack(lines[:1] * 5 if which == 0 else lines[1:], axis=-2)

    value.__doc__ = ("L_k(w) of eq. (23), five times", "the five lines that follow")[which]
    return value


def _chain(f: LinearModels, sigma: Any, state: Lines) -> list[Array]:
    """The six forms of L_k(w), ``(..., K)`` each, with beta_1 and beta_2 as printed."""
    K, n, lam = f.n, f.examples, f.lam
    w, w_t, alpha = state.w[..., None, :], state.w_t[..., None, :], state.alpha

    def over(values: Array) -> Array:
        """Sums over the examples of each client."""
        return f.per_client(values, -1)

    def dot(a: Array, b: Array) -> Array:
        product: Array = (a * b).sum(axis=-1)
        return product

    at_w, at_t = f.predictions(state.w), f.predictions(state.w_t)
    c = f.y - at_t - alpha
    dk = at_t - f.y + K * c / sigma
    image_of_d = f.per_client(dk[..., None] * f.X, -2)
    eta, scale = K / sigma, sigma**2 / Fraction(K) ** 3 if f.exact else sigma**2 / K**3
    mu = lam * (eta - 1)
    F, slope = f.value(w + 0 * image_of_d), f.gradient(w_t + 0 * image_of_d)
    own = f.per_client((at_t - f.y + alpha)[..., None] * f.X, -2)
    g = eta * (f.per_client(alpha[..., None] * f.X, -2) * K / n - lam * w_t)
    far, size, size_t = dot(w - w_t, w - w_t), dot(w, w), dot(w_t, w_t)
    half = scale * lam * size / 2
    move = lam * sigma * far / (2 * K**2)
    beta_1 = scale * K * over(dk**2) / (2 * n) + scale * K * over(f.y * dk) / n
    beta_2 = scale * lam * size_t / 2 + beta_1
    return [
        over((sigma * (at_w - at_t) / K - c) ** 2) / (2 * n) + lam / sigma * (sigma / K) ** 2 * far / 2,
        scale * F - scale * K * over((at_w - f.y) * dk) / n + scale * K * over(dk**2) / (2 * n) - half + move,
        scale * F - scale * K * dot(image_of_d, w) / n - half + move + beta_1,
        scale * (F - dot(image_of_d * K / n + lam * w_t, w) + lam * (K / sigma - 1) * far / 2) + beta_2,
        scale * (F - dot(slope - K**2 * own / (sigma * n), w) + mu * far / 2) + beta_2,
        scale * (F - dot(slope - (eta * slope + g), w) + mu * far / 2) + beta_2,
    ]


REWRITTEN = setting(
    "ridge regression on any data and nodes, the F_k of eq. (12); any sigma > 0, w, w^t and alpha",
    Posed(
        _sigma,
        States(lambda problem: 2 * problem.d + problem.f.examples, _lines_at),
        _ANY_SIGMA,
        share="equal",
        clients=_few,
    ),
)

APPENDIX_A4 = (
    Claim(
        "fedopt/theorem-5",
        "Theorem 5",
        "equivalence",
        "Algorithms 5 and 6 on ridge regression",
        EQUIVALENT,
        Agreement(
            dual_block_ascent.algorithm,
            perturbed_primal.algorithm,
            _from_dual,
            (_images, _primal_state),
            "after a round from w = X alpha/(lambda n), g_k = eta ((K/n) X_k alpha_k - lambda w) both hold again",
        ),
        reading="w^t = X alpha^t/(lambda n) for all t, with the g_k that the induction carries along; where the n_k "
        "differ the F_k are those of eq. (12)",
    ),
    Claim(
        "fedopt/eq-17",
        "eq. (17)",
        "identity",
        "dual of ridge regression, as a minimisation",
        ANY_DUALS,
        Identity(LEFT, RIGHT, (Quantity(LEFT, _minimised), Quantity(RIGHT, _negative_dual))),
        reading="(17) is minus (13) at every alpha, so that its minimum is -min f: one letter D is used for both",
    ),
    Claim(
        "fedopt/eq-23",
        "eq. (23) onwards",
        "identity",
        "L_k rewritten as a perturbed F_k",
        REWRITTEN,
        Identity(LEFT, RIGHT, (Quantity(LEFT, _printed(0)), Quantity(RIGHT, _printed(1)))),
        reading="each of the forms of L_k(w) is the first, for every k",
    ),
)

# Section 2.3.1


def _inexact(contraction: Any, way: str) -> Any:
    """A local solver of accuracy Theta = contraction^2, exactly: the exact step, and ``contraction`` times its image.

    ``way``: "short" of the exact step, "long" beyond it, or "aside": its reflection in the metric of the subproblem.
    """

    def answer(f: LinearModels, alpha: Array, w: Array, sigma: Any, draw: Any) -> Array:
        best = maximisers(f, alpha, w, sigma)
        if way != "aside":
            return best * (1 - contraction if way == "short" else 1 + contraction)
        gram = np.matmul(f.X, f.X.T) * sigma / (f.lam * f.examples)
        metric = np.where(f.owner[:, None] == f.owner, gram, 0 * gram) + np.eye(f.examples, dtype=int)
        # Householder's reflection of each block along its first coordinate.
        first = metric[f.starts[f.owner], np.arange(f.examples)]
        along = f.per_client(best * first, -1) / metric[f.starts, f.starts]
        turned = np.array(best + 0 * first)
        turned[..., f.starts] = turned[..., f.starts] - 2 * along
        return best + contraction * turned

    from fedtheory.randomness import Constant

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
    "ridge regression on any data and nodes; local solutions of accuracy Theta in [0, 1), a share g of them added, "
    "sigma' = g sigma",
    letters={**letters(lamda, gamma, n, smax), sigma: "sigma", Theta: "Theta", _aggregation: "gamma"},
    special=Posed(
        _cocoa,
        States(lambda problem: problem.f.examples, _cocoa_at),
        {
            **_ADMISSIBLE,
            "contraction": one_of(0, "1/2", "1/3", "9/10"),
            "share": one_of(1, 1, 1, "1/2", "1/3"),
            "way": lambda rng, recipe: pick(rng, ("short", "long", "aside")),
        },
    ).family,
    complete=True,
)
_SAFE = Hypothesis(
    "sigma' = g sigma with X'X <= sigma B",
    met=lambda problem, params: dominates(problem.f, params.sigma / params.gamma),
)

SECTION_2_3_1 = (
    Claim(
        "fedopt/cocoa-rounds",
        "Section 2.3.1",
        "order",
        "rounds of CoCoA with local accuracy Theta",
        INEXACT,
        Bound(
            cocoa_plus.algorithm,
            _D_T,
            1 - _aggregation * (1 - Theta) * _share.subs(sigma, sigma / _aggregation),
            _D_0,
            (_DUAL_T, _DUAL_0),
        ),
        (_SAFE,),
        "the bound from which log(1/epsilon)/((1 - Theta) s) rounds follow, with s = g lambda gamma n/(lambda gamma n "
        "+ sigma s_max), which the O hides: on ridge regression, for three ways of being inexact",
    ),
)
