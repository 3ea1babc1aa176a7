"""Federated Optimization, Appendix A.4: Theorem 5 and the forms of L_k in its proof."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.algorithms import dual_block_ascent, perturbed_primal
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.identity import identity
from fedtheory.numbers.rational import Array, apply, inverse
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedopt.data import RidgeInstances, States, few
from fedtheory.papers.fedopt.predictors import (
    ANY_SIGMA,
    DUAL_STATES,
    DUALS,
    MODEL,
    STEPS,
    Duals,
    Model,
    Steps,
    gamma,
    lamda,
    letters,
    of_dual,
    of_primal,
    section,
    setting,
    sigma,
)
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.settings.relations import Quantity


def _from_dual(
    problem: LinearProblem, params: dual_block_ascent.Params, state: dual_block_ascent.State
) -> tuple[perturbed_primal.Params, perturbed_primal.State]:
    """Algorithm 5 with the same sigma, as its lines 4 and 5 start from alpha."""
    primal = perturbed_primal.Params(params.sigma)
    return primal, perturbed_primal.init(problem, primal, state.alpha)


def _images(problem: LinearProblem, params: dual_block_ascent.Params, state: dual_block_ascent.State) -> Array:
    """w = X alpha/(lambda n), and eta ((K/n) X_k alpha_k - lambda w) for every k: ``(..., K+1, d)``."""
    w = problem.f.primal(state.alpha)[..., None, :]
    return np.concatenate([w, _perturbations(problem, params, state)], axis=-2)


def _perturbations(problem: LinearProblem, params: dual_block_ascent.Params, state: dual_block_ascent.State) -> Array:
    """eta ((K/n) X_k alpha_k - lambda w) for every k: ``(..., K, d)``."""
    f = problem.f
    own = f.per_client(state.alpha[..., None] * f.X, -2) * f.n / f.examples
    found: Array = f.n / params.sigma * (own - f.lam * f.primal(state.alpha)[..., None, :])
    return found


def _primal_state(problem: LinearProblem, params: object, state: perturbed_primal.State) -> Array:
    """w, and the g_k."""
    return np.concatenate([state.w[..., None, :], state.g], axis=-2)


#: Where it matters: the loss is (t - y)^2/2.
_RIDGE_LOSS = (sympy.Eq(gamma, 1, evaluate=False),)
ANY_DUALS = setting(
    "ridge regression on any data and nodes, any alpha",
    RidgeInstances(states=DUALS),
    letters(lamda, gamma),
    _RIDGE_LOSS,
)
EQUIVALENT = setting(
    "ridge regression on any data and nodes, the F_k of eq. (12); any sigma > 0, from any alpha^0",
    RidgeInstances(of_dual, DUAL_STATES, ANY_SIGMA, share="equal"),
    {**letters(lamda, gamma), sigma: "sigma"},
    _RIDGE_LOSS,
)


class Lines(NamedTuple):
    """``w``, ``w_t (..., d)``: where L_k is taken, and the current model; ``alpha (..., n)``."""

    w: Array
    w_t: Array
    alpha: Array


def _lines_at(problem: LinearProblem, params: object, theta: Array) -> Lines:
    d = problem.d
    return Lines(theta[:, None, :d], theta[:, None, d : 2 * d], theta[:, None, 2 * d :])


def _printed(which: int) -> Any:
    """L_k(w) as the lines from (23) to the last have it, for every k; the first one, or the twelve others."""

    def value(problem: LinearProblem, params: perturbed_primal.Params, state: Lines) -> Array:
        lines = _chain(problem.f, params.sigma, state)
        return np.stack(lines[:1] * 12 if which == 0 else lines[1:], axis=-2)

    value.__doc__ = ("L_k(w) of eq. (23), twelve times", "the twelve lines that follow")[which]
    return value


def _chain(f: LinearModels, sigma: Scalar, state: Lines) -> list[Array]:
    """The thirteen forms of L_k(w), ``(..., K)`` each, with beta_1 and beta_2 as printed."""
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
    eta, scale = K / sigma, sigma**2 / K**3
    mu = lam * (eta - 1)
    F, slope = f.value(w + 0 * image_of_d), f.gradient(w_t + 0 * image_of_d)
    own = f.per_client((at_t - f.y + alpha)[..., None] * f.X, -2)
    g = eta * (f.per_client(alpha[..., None] * f.X, -2) * K / n - lam * w_t)
    far, size, size_t = dot(w - w_t, w - w_t), dot(w, w), dot(w_t, w_t)
    half = scale * lam * size / 2
    move = lam * sigma * far / (2 * K**2)
    beta_1 = scale * K * over(dk**2) / (2 * n) + scale * K * over(f.y * dk) / n
    beta_2 = scale * lam * size_t / 2 + beta_1
    fit, square, product = over((at_w - f.y) ** 2), over(dk**2), over((at_w - f.y) * dk)
    far_first = lam / sigma * (sigma / K) ** 2 * far / 2
    z = own * K / n
    return [
        over((sigma * (at_w - at_t) / K - c) ** 2) / (2 * n) + far_first,
        scale * K * over((at_w - f.y - dk) ** 2) / (2 * n) + half - half + far_first,
        scale * K * (fit + square - 2 * product) / (2 * n) + half - half + move,
        scale * (K * fit / (2 * n) + K * square / (2 * n) - K * product / n) + half - half + move,
        scale * (K * fit / (2 * n) + lam * size / 2) + scale * K * (square / 2 - product) / n - half + move,
        scale * F - scale * K * over((at_w - f.y) * dk) / n + scale * K * over(dk**2) / (2 * n) - half + move,
        scale * F - scale * K * dot(image_of_d, w) / n - half + move + beta_1,
        scale * F
        - scale * K * dot(image_of_d, w) / n
        - scale * lam * (far - size_t + 2 * dot(w_t, w)) / 2
        + move
        + beta_1,
        scale * F
        - scale * K * dot(image_of_d, w) / n
        - scale * lam * dot(w_t, w)
        + (lam * sigma / (2 * K**2) - scale * lam / 2) * far
        + beta_2,
        scale * (F - dot(image_of_d * K / n + lam * w_t, w) + lam * (K / sigma - 1) * far / 2) + beta_2,
        scale * (F - dot(slope - K**2 * own / (sigma * n), w) + mu * far / 2) + beta_2,
        scale * (F - dot(slope - K * z / sigma, w) + mu * far / 2) + beta_2,
        scale * (F - dot(slope - (eta * slope + g), w) + mu * far / 2) + beta_2,
    ]


REWRITTEN = setting(
    "ridge regression on any data and nodes, the F_k of eq. (12); any sigma > 0, w, w^t and alpha",
    RidgeInstances(
        of_primal,
        States(lambda problem: 2 * problem.d + problem.f.examples, _lines_at),
        ANY_SIGMA,
        share="equal",
        clients=few,
    ),
    {**letters(lamda, gamma), sigma: "sigma"},
    _RIDGE_LOSS,
)


def _negative_dual(problem: LinearProblem, params: object, state: Duals) -> Array:
    """-D(alpha), D of eq. (13)."""
    return -problem.f.dual(state.alpha)


def _minimised(problem: LinearProblem, params: object, state: Duals) -> Array:
    """|X alpha|^2/(2 lambda n^2) + |alpha|^2/(2n) - y'alpha/n, eq. (17)."""
    f, alpha = problem.f, state.alpha
    square, n = (f.combined(alpha) ** 2).sum(axis=-1), f.examples
    return square / (2 * f.lam * n**2) + (alpha**2).sum(axis=-1) / (2 * n) - (f.y * alpha).sum(axis=-1) / n


# Eqs. (18) to (22), and the closed form of g_k


def _gradients(problem: LinearProblem, params: object, state: Model) -> Array:
    """grad F_k(w) for every k, and grad f(w), from the code of the losses: ``(..., K+1, d)``."""
    own = problem.f.gradient(state.w[..., None, :])
    return np.concatenate([own, problem.f.full_gradient(state.w)[..., None, :]], axis=-2)


def _printed_gradients(problem: LinearProblem, params: object, state: Model) -> Array:
    """(K/n) X_k (X_k'w - y_k) + lambda w for every k, eq. (18), and their mean."""
    f, w = problem.f, state.w
    own = f.per_client((f.predictions(w) - f.y)[..., None] * f.X, -2) * f.n / f.examples + f.lam * w[..., None, :]
    return np.concatenate([own, own.sum(axis=-2, keepdims=True) / f.n], axis=-2)


def _local_problem(f: LinearModels, sigma: Scalar, alpha: Array, u: Array) -> Array:
    """D_k(u), eq. (15), for every k; phi_i^*(-a) = a^2/2 - y_i a."""
    coupled = (f.combined(alpha)[..., None, :] * f.per_client(u[..., None] * f.X, -2)).sum(axis=-1)
    square = (f.per_client(u[..., None] * f.X, -2) ** 2).sum(axis=-1)
    conjugates = f.per_client((alpha + u) ** 2 / 2 - f.y * (alpha + u), -1)
    return (coupled + sigma * square / 2) / (f.lam * f.examples**2) + conjugates / f.examples


def _of_19(f: LinearModels, sigma: Scalar, alpha: Array, u: Array) -> Array:
    """The objective of eq. (19), for every k."""
    square = (f.per_client(u[..., None] * f.X, -2) ** 2).sum(axis=-1)
    c = f.y - f.predictions(f.primal(alpha)) - alpha
    return sigma * square / (2 * f.lam * f.examples) + f.per_client(u**2 / 2 - c * u, -1)


def _over_start(local: Any, count: bool) -> Any:
    """A local objective less its value at h = 0, for every k."""

    def value(problem: LinearProblem, params: perturbed_primal.Params, state: Steps) -> Array:
        f, (alpha, h) = problem.f, state
        change = local(f, params.sigma, alpha, h) - local(f, params.sigma, alpha, 0 * h)
        return f.examples * change if count else change

    value.__doc__ = local.__doc__
    return value


def _responses(f: LinearModels, sigma: Scalar, alpha: Array) -> tuple[Array, Array]:
    """c_k = y_k - X_k'w - alpha_k of all nodes, and h_k from the normal equations of (19): ``(..., n)`` each."""
    c = f.y - f.predictions(f.primal(alpha)) - alpha
    gram = np.matmul(f.X, f.X.T) * sigma / (f.lam * f.examples)
    blocks = np.where(f.owner[:, None] == f.owner, gram, 0 * gram) + np.eye(f.examples, dtype=int)
    return c, apply(inverse(blocks), c)


def _moved(f: LinearModels, sigma: Scalar, alpha: Array, s: Array) -> Array:
    """w_k^(t+1) = w^t + (K/sigma) s_k for every k: ``(..., K, d)``."""
    moved: Array = f.primal(alpha)[..., None, :] + f.n / sigma * s
    return moved


def _substituted(problem: LinearProblem, params: perturbed_primal.Params, state: Duals) -> Array:
    """Eq. (21) for every k, the w_k^(t+1) that it gives, and X alpha^(t+1)/(lambda n)."""
    f, alpha = problem.f, state.alpha
    _, h = _responses(f, params.sigma, alpha)
    s = f.per_client(h[..., None] * f.X, -2) * params.sigma / (f.lam * f.examples)
    return np.concatenate([s, _moved(f, params.sigma, alpha, s), f.primal(alpha + h)[..., None, :]], axis=-2)


def _minimising(problem: LinearProblem, params: perturbed_primal.Params, state: Duals) -> Array:
    """The minimisers of (22) from its normal equations, those of (23) by w = w^t + (K/sigma) s, and their mean."""
    f, alpha = problem.f, state.alpha
    c, _ = _responses(f, params.sigma, alpha)
    outer = f.per_client(f.X[:, :, None] * f.X[:, None, :], 0) / f.examples
    H = outer + f.lam / params.sigma * np.eye(f.d, dtype=int)
    s = apply(inverse(H), f.per_client(c[..., None] * f.X, -2) / f.examples)
    moved = _moved(f, params.sigma, alpha, s)
    return np.concatenate([s, moved, moved.sum(axis=-2, keepdims=True) / f.n], axis=-2)


def _learnt(problem: LinearProblem, params: dual_block_ascent.Params, state: dual_block_ascent.State) -> Array:
    """The g_k^(t+1) that lines 7 to 13 of Algorithm 5 make of the closed form at t."""
    return perturbed_primal.step(problem, *_from_dual(problem, params, state), None).g


def _closed_form(problem: LinearProblem, params: dual_block_ascent.Params, state: dual_block_ascent.State) -> Array:
    """eta ((K/n) X_k alpha_k^(t+1) - lambda w^(t+1)), alpha^(t+1) after a round of Algorithm 6."""
    return _perturbations(problem, params, dual_block_ascent.step(problem, params, state, None))


_RIDGE = "ridge regression on any data and nodes"
GRADIENTS = setting(
    f"{_RIDGE}, the F_k of eq. (12); any w",
    RidgeInstances(states=MODEL, share="equal"),
    letters(lamda, gamma),
    _RIDGE_LOSS,
)
LOCAL = setting(
    f"{_RIDGE}; any sigma > 0, alpha and h",
    RidgeInstances(of_primal, STEPS, ANY_SIGMA, clients=few),
    letters(lamda, gamma),
)
CHANGED = setting(
    f"{_RIDGE}; any sigma > 0 and alpha",
    RidgeInstances(of_primal, DUALS, ANY_SIGMA, clients=few),
    {**letters(lamda, gamma), sigma: "sigma"},
    _RIDGE_LOSS,
)

APPENDIX_A4 = (
    section("Theorem 5", EQUIVALENT)(
        "",
        Agreement(
            dual_block_ascent.algorithm,
            perturbed_primal.algorithm,
            _from_dual,
            (_images, _primal_state),
            "after a round from w = X alpha/(lambda n), g_k = eta ((K/n) X_k alpha_k - lambda w) both hold again",
        ),
        "Algorithms 5 and 6 on ridge regression",
        kind="equivalence",
        tex=r"w^t=\frac{1}{\lambda n}X\alpha^t",
        uses=("eq-14", "eq-17", "eq-21-and-22", "eq-23", "algorithm-5/g-closed-form"),
        reading="w^t = X alpha^t/(lambda n) for all t, with the g_k that the induction carries along; where the n_k "
        "differ the F_k are those of eq. (12)",
    ),
    section("eq. (17)", ANY_DUALS)(
        "",
        identity(
            Quantity("|X alpha|^2/(2 lambda n^2)+(1/(2n))|alpha|^2-y'alpha/n", _minimised),
            Quantity("-D(alpha)", _negative_dual),
        ),
        "dual of ridge regression, as a minimisation",
        tex=r"D(\alpha)=\frac{1}{2\lambda n^2}\|X\alpha\|^2+\frac{1}{2n}\|\alpha\|^2-\frac{1}{n}y^T\alpha",
        reading="(17) is minus (13) at every alpha, so that its minimum is -min f: one letter D is used for both",
    ),
    section("eq. (18)", GRADIENTS)(
        "",
        identity(
            Quantity("(grad F_k(w), grad f(w))", _gradients),
            Quantity("((K/n)X_k(X_k'w-y_k)+lambda w, their mean)", _printed_gradients),
        ),
        "the gradients of F_k and f on ridge regression",
        tex=r"\nabla F_k(w)=\frac{K}{n}X_k(X_k^Tw-y_k)+\lambda w, \quad \nabla f(w)=\frac{1}{K}\sum_k\nabla F_k(w)",
    ),
    section("eqs. (15) and (19)", LOCAL, id="")(
        "eq-15-and-19",
        identity(
            Quantity("n (D_k(h)-D_k(0))", _over_start(_local_problem, True)),
            Quantity("what (19) minimises, less its value at 0", _over_start(_of_19, False)),
        ),
        "the two local problems are the same on ridge regression",
        tex=r"h_k^t=\operatorname{argmin}_{h_k}\frac{\sigma}{2\lambda n}\|X_kh_k\|^2+"
        r"\frac{1}{2}\|h_k\|^2-(y_k-X_k^Tw^t-\alpha_k^t)^Th_k",
        reading="n times what (15) minimises is what (19) does, up to a number that does not depend on h, for every k; "
        "with w^t = X alpha^t/(lambda n)",
    ),
    section("eqs. (21) and (22)", CHANGED, id="")(
        "eq-21-and-22",
        identity(
            Quantity("(s_k of (21), w^t+(K/sigma)s_k, X alpha^(t+1)/(lambda n))", _substituted),
            Quantity("(argmin of (22), argmin of (23), (1/K) sum_k(w_k^(t+1)))", _minimising),
        ),
        "the change of variables",
        tex=r"s_k^t=\frac{1}{(\lambda/\sigma)n}X_kh_k^t=\operatorname{argmin}_s\frac{1}{2n}\|X_k^Ts-c_k\|^2+\frac{"
        r"\lambda/\sigma}{2}\|s\|^2",
        uses=("eq-17",),
        reading="h_k^t from the normal equations of (19), the minimiser of (22) from its own; w = w^t + (K/sigma) s; "
        "the mean of the w_k^(t+1) is w^(t+1)",
    ),
    section("proof of Theorem 5, Appendix A.4", EQUIVALENT, id="algorithm-5")(
        "g-closed-form",
        identity(Quantity("g_k^(t+1)", _learnt), Quantity("eta((K/n)X_k alpha_k^(t+1)-lambda w^(t+1))", _closed_form)),
        "g_k^t in closed form",
        tex=r"g_k^t=\eta\left(\frac{K}{n}X_k\alpha_k^t-\lambda w^t\right)",
        reading="true at t = 0 by line 5 of Algorithm 5, and at t + 1 where it is at t; the text at hand ends where "
        "its proof begins",
    ),
    section("eq. (23) onwards", REWRITTEN, id="")(
        "eq-23",
        identity(Quantity("L_k(w)", _printed(0)), Quantity("rewritten(L_k(w))", _printed(1))),
        "L_k rewritten as a perturbed F_k",
        tex=r"L_k(w)=\frac{\sigma^2}{K^3}\left(F_k(w)-\left(\nabla F_k(w^t)-(\eta\nabla F_k(w^t)+g_k^t)\right)^Tw+"
        r"\frac{\mu}{2}\|w-w^t\|^2\right)+\beta_2",
        uses=("eq-18", "eq-21-and-22"),
        reading="all thirteen forms of L_k(w) that are printed are equal for every k",
    ),
)
