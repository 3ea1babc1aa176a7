"""LoCoDL: letters, quantities, compressors, Algorithm 1, Theorem 3.1 and its proof.

The problem is min_x (1/n) sum_i f_i(x) + g(x).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory import compressors
from fedtheory.algorithms import locodl as algorithm_1
from fedtheory.algorithms.base import zeros
from fedtheory.claims import Claim
from fedtheory.classes import SmoothStronglyConvex, UnbiasedCompressors
from fedtheory.compressors import Family as Compressors
from fedtheory.kinds.bound import bound
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality, inequality
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.limit import Limit
from fedtheory.kinds.one_step import one_step
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers import symbols
from fedtheory.numbers.rational import Array, is_exact
from fedtheory.numbers.symbols import Max, T
from fedtheory.problems.base import Problem
from fedtheory.randomness import expectation, support_of
from fedtheory.settings import COMPRESSOR, Drawing, Setting, points
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import E, Quantity

mu, L, kappa, n, d, omega, omega_av = (
    symbols.mu,
    symbols.L,
    symbols.kappa,
    symbols.n,
    symbols.d,
    symbols.omega,
    symbols.omega_av,
)
gamma, chi, rho = sympy.symbols("gamma chi rho", positive=True)
p = sympy.Symbol("p", positive=True)
k = symbols.k

#: The paper's letters in the common vocabulary: LoCoDL's are the common ones.
glossary = {s: s for s in (mu, L, kappa, n, d, omega, omega_av)}

#: The dual stepsize of Algorithm 1, lines 12 and 14.
lam = p * chi / (gamma * (1 + 2 * omega))
#: The rate of Theorem 3.1, eq. (5).
tau = Max((1 - gamma * mu) ** 2, (1 - gamma * L) ** 2, 1 - p**2 * chi / (1 + 2 * omega))


class ConsensusParams(NamedTuple):
    """``n``: number of clients."""

    n: int


class Lifted(NamedTuple):
    """A point of the lifted space X: ``x (..., n, d)``, ``y (..., d)``."""

    x: Array
    y: Array


def _origin(space: Any, params: Any) -> Lifted:
    return Lifted(zeros(space.n, space.d), zeros(space.d))


class CompressionParams(NamedTuple):
    """``compressors``: the family at work."""

    compressors: Compressors


# Settings

FUNCTIONS = SmoothStronglyConvex(mu, L)
_COMPRESSORS = UnbiasedCompressors(average=True)
SETTING = Setting(
    "f_1, ..., f_n and g mu-strongly convex and L-smooth; compressors in U(omega) with joint constant omega_av; "
    "0 < p <= 1",
    letters=(mu, L, n, d, gamma, rho, chi, p, omega, omega_av),
    algorithm=algorithm_1.algorithm,
    functions=FUNCTIONS,
    drawing=Drawing(
        g=(True,),
        classes_stated=True,
        start=("x", "y", "u"),
        typical={rho: 1 / (1 + omega_av), chi: 2 * rho - rho**2 * (1 + omega_av), p: sympy.Rational(1, 2)},
        sweep={"kappa": (2, 5, 10, 30, 100), "omega": (0, 1, 10), "n": (2, 4), "gamma": (1, "3/2")},
    ),
    adversaries=(_COMPRESSORS,),
    domain=(sympy.Le(p, 1, evaluate=False),),
)
CONSENSUS = Setting(
    "x_1, ..., x_n, y in R^d",
    letters=(n,),
    algorithm=points(Lifted, ConsensusParams, _origin),
    drawing=Drawing(sweep={"n": (1, 2, 3, 5, 8)}),
)
COMPRESSION = Setting(
    "a family of n compressors in U(omega); x_1, ..., x_n in R^d",
    letters={n: lambda problem, params: params.compressors.n, omega: "omega"},
    algorithm=points(Lifted, CompressionParams, _origin),
    # Of omega_av nothing may be known where it is asked for.
    adversaries=(UnbiasedCompressors(),),
    drawing=Drawing(classes_stated=True, sweep={"omega": ("1/8", "1/2", 1, 3, 10), "n": (1, 2, 3, 4)}),
)
_INDEPENDENT = UnbiasedCompressors(independent=True)
INDEPENDENT = replace(
    COMPRESSION,
    text="a family of n mutually independent compressors in U(omega); x_1, ..., x_n in R^d",
    adversaries=(_INDEPENDENT,),
)
CONSTANTS = Setting("all values of the constants")


# Quantities of Algorithm 1 and its proof. |(x, y)|_X^2 = sum_i |x_i|^2 + n |y|^2 is the norm of eq. (12).


def _X_norm(x: Array, y: Array) -> Array:
    return (x**2).sum(axis=(-1, -2)) + x.shape[-2] * (y**2).sum(axis=-1)


def primal_distance(problem: Problem, params: Any, state: algorithm_1.State) -> Array:
    """|x - x*|_X^2."""
    x = problem.x_star
    return _X_norm(state.x - x[..., None, :], state.y - x)


def dual_distance(problem: Problem, params: Any, state: algorithm_1.State) -> Array:
    """|u - u*|_X^2."""
    target = algorithm_1.fixed_point(problem, params)
    return _X_norm(state.u - target.u, state.v - target.v)


def Psi(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    """|x - x*|_X^2/gamma + (gamma (1 + 2 omega)/(p^2 chi)) |u - u*|_X^2, |x|_X^2 = sum_i |x_i|^2 + n |y|^2, eq. (4).

    u* has u_i* = grad f_i(x*) and v* = grad g(x*).
    """
    gamma, chi, _, p, omega, _ = params
    dual_weight = gamma * (1 + 2 * omega) / (p**2 * chi)
    return primal_distance(problem, params, state) / gamma + dual_weight * dual_distance(problem, params, state)


def _hat(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Lifted:
    if problem.g is None:
        raise ValueError("a step of LoCoDL has no y-hat without the function g")
    gradient = problem.g.gradient(state.y[..., None, :])[..., 0, :]
    return Lifted(
        state.x - params.gamma * (problem.f.gradient(state.x) - state.u),
        state.y - params.gamma * (gradient - state.v),
    )


def _W(point: Lifted) -> Lifted:
    """W x = x - S x, eq. (14)."""
    mean = _mean_of(point)
    return Lifted(point.x - mean[..., None, :], point.y - mean)


def _mean_of(point: Lifted) -> Array:
    size = point.x.shape[-2]
    return (point.x.sum(axis=-2) + size * point.y) / (2 * size)


def _hat_distance(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    hat = _hat(problem, params, state)
    x = problem.x_star
    return _X_norm(hat.x - x[..., None, :], hat.y - x)


def _W_hat_norm(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    return _X_norm(*_W(_hat(problem, params, state)))


def _dual_product(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    """<u - u*, x_hat>_X."""
    hat, target = _hat(problem, params, state), algorithm_1.fixed_point(problem, params)
    product = ((state.u - target.u) * hat.x).sum(axis=(-1, -2))
    return product + problem.n * ((state.v - target.v) * hat.y).sum(axis=-1)


# Operators on the lifted space, as arrays with n + 1 rows.


def _rows(point: Lifted) -> Array:
    return np.concatenate([point.x, point.y[..., None, :]], axis=-2)


def _S_printed(problem: Any, params: Any, state: Lifted) -> Array:
    """S x = 1 x_bar, eq. (13)."""
    return _everywhere(_mean_of(state), state)


def _consensus_projection(problem: Any, params: ConsensusParams, state: Lifted) -> Array:
    """The minimiser over a of sum_i |x_i - a|^2 + n |y - a|^2: one Newton step from a = 0, which is exact."""
    slope = -2 * state.x.sum(axis=-2) - 2 * params.n * state.y
    curvature = 2 * params.n + 2 * params.n
    return _everywhere(-slope / curvature, state)


def _everywhere(a: Array, like: Lifted) -> Array:
    """The rows of a point at which all clients and the server agree."""
    return _rows(Lifted(a[..., None, :] + 0 * like.x, a))


def _W_rows(problem: Any, params: Any, state: Lifted) -> Array:
    """W applied to (x, y): its n + 1 rows."""
    return _rows(_W(state))


def _W_differences(problem: Any, params: Any, state: Lifted) -> Array:
    """(d_1 - d_bar, ..., d_n - d_bar, -d_bar) with d_i = x_i - y and d_bar = (1/2n) sum_i d_i, eq. (15)."""
    difference = state.x - state.y[..., None, :]
    mean = difference.sum(axis=-2) / (2 * state.x.shape[-2])
    return _rows(Lifted(difference - mean[..., None, :], -mean))


def _differences(problem: Any, params: Any, state: Lifted) -> Array:
    """sum_i |x_i - y|^2."""
    return ((state.x - state.y[..., None, :]) ** 2).sum(axis=(-1, -2))


def _W_norm(problem: Any, params: Any, state: Lifted) -> Array:
    """|W(x, y)|^2 in the norm of X, in which y counts n times."""
    return _X_norm(*_W(state))


# Compression of n vectors at once.


def _compressed(params: CompressionParams, x: Array) -> tuple[Array, Array]:
    """C_i(x_i) for every draw, ``(..., K, n, d)``, and the probabilities."""
    draws, probabilities = support_of(params.compressors.draws, is_exact(x))
    return params.compressors.apply(draws, x[..., None, :, :]), probabilities


def _mean_error(problem: Any, params: CompressionParams, state: Lifted) -> Array:
    """E|(1/n) sum_i (C_i(x_i) - x_i)|^2."""
    values, probabilities = _compressed(params, state.x)
    error = (values - state.x[..., None, :, :]).sum(axis=-2) / state.x.shape[-2]
    return expectation((error**2).sum(axis=-1), probabilities)


def _compressed_norm(problem: Any, params: CompressionParams, state: Lifted) -> Array:
    """E sum_i |C_i(x_i - y)|^2."""
    values, probabilities = _compressed(params, state.x - state.y[..., None, :])
    return expectation((values**2).sum(axis=(-1, -2)), probabilities)


def _mean_square(problem: Any, params: Any, state: Lifted) -> Array:
    """(1/n) sum_i |x_i|^2."""
    return (state.x**2).sum(axis=(-1, -2)) / state.x.shape[-2]


_Psi, _Psi_next, _Psi_0, _Psi_t = (sympy.Symbol(s) for s in ("Psi", "Psi_next", "Psi^0", "Psi^t"))
_u, _u_next, _x_next, _hat_x, _W_hat, _ux = (
    sympy.Symbol(s)
    for s in ("|u-u*|^2", "|u_next-u*|^2", "|x_next-x*|^2", "|x_hat-x*|^2", "|W x_hat|^2", "<u-u*,x_hat>")
)
_MEAN_ERROR = Quantity("E|(1/n) sum_i(C_i(x_i)-x_i)|^2", _mean_error)
_MEAN_SQUARE = Quantity("(1/n) sum_i|x_i|^2", _mean_square)
_DIFFERENCES = Quantity("sum_i|x_i-y|^2", _differences)
PSI = Quantity(_Psi, Psi)
PSI_NEXT = Quantity(_Psi_next, Psi, after=True)

CONVEX = Hypothesis(
    "Assumption 1.1: the f_i and g are mu-strongly convex and L-smooth",
    met=FUNCTIONS.contains,
)
VARIANCE = Hypothesis(
    "Assumption 2.1: the compressors are in U(omega)",
    met=_COMPRESSORS.contains,
)
STEP = Hypothesis("0 < gamma < 2/L", sympy.Lt(gamma, 2 / L, evaluate=False))
DAMPING = Hypothesis(
    "2 rho - rho^2 (1 + omega_av) - chi >= 0",
    sympy.Ge(2 * rho - rho**2 * (1 + omega_av) - chi, 0, evaluate=False),
)
PROBABILITY = Hypothesis("0 < p <= 1", sympy.Le(p, 1, evaluate=False))
ORDERED = Hypothesis("mu <= L", sympy.Le(mu, L, evaluate=False))
_THEOREM = (CONVEX, VARIANCE, STEP, DAMPING, PROBABILITY)


def _compressor(name: str, gist: str, build: Any, variance: Any, bits: Any) -> Claim:
    statement = CompressorClass(build, variance, bits, d, k)
    return Claim(
        id=f"locodl/eq-2/{name}",
        where="Section 4",
        kind="compressor",
        gist=gist,
        setting=COMPRESSOR,
        statement=statement,
    )


_index_bits = sympy.ceiling(sympy.log(d, 2))
rho_other = sympy.Symbol("rho'", positive=True)
_best = 1 / (1 + omega_av)

COMPRESSORS = (
    _compressor(
        "rand-k",
        "rand-k: unbiased, omega = d/k - 1, bits",
        compressors.rand_k,
        d / k - 1,
        32 * k + k * _index_bits,
    ),
    _compressor(
        "natural",
        "natural compression: unbiased, omega = 1/8, 9 bits a float",
        lambda d, k: compressors.natural(d),
        sympy.Rational(1, 8),
        9 * d,
    ),
    _compressor(
        "rand-k-natural",
        "rand-k with natural compression: omega = 9d/(8k) - 1, bits",
        compressors.rand_k_natural,
        9 * d / (8 * k) - 1,
        9 * k + k * _index_bits,
    ),
    _compressor(
        "l1-selection",
        "l1-selection: omega = d - 1, bits",
        lambda d, k: compressors.l1_selection(d),
        d - 1,
        32 + _index_bits,
    ),
    Claim(
        id="locodl/eq-3/default",
        where="Section 1.3",
        gist="omega_av = omega is always valid",
        setting=COMPRESSION,
        statement=inequality(_MEAN_ERROR <= omega * _MEAN_SQUARE),
    ),
    Claim(
        id="locodl/eq-3/independent",
        where="Section 1.3",
        gist="independent compressors: omega_av = omega/n",
        setting=INDEPENDENT,
        statement=inequality(_MEAN_ERROR <= omega / n * _MEAN_SQUARE),
        requires=(
            Hypothesis(
                "the compressors are mutually independent",
                met=_INDEPENDENT.mutually_independent,
            ),
        ),
    ),
)

FEASIBILITY = (
    Claim(
        id="locodl/algorithm-1/feasibility",
        where="Algorithm 1",
        gist="mean of the u_i plus v stays 0",
        setting=SETTING,
        statement=Invariant(algorithm_1.algorithm, algorithm_1.invariant, "(1/n) sum_i u_i + v = 0"),
    ),
)

PSI_T = Quantity(_Psi_t, Psi, after=True)
PSI_0 = Quantity(_Psi_0, Psi)

THEOREM_31 = (
    Claim(
        id="locodl/theorem-3.1/one-step",
        where="eq. (19)",
        gist="expected contraction of Psi by tau",
        setting=SETTING,
        statement=one_step(algorithm_1.algorithm, E(PSI_NEXT) <= tau * PSI),
        requires=_THEOREM,
    ),
    Claim(
        id="locodl/theorem-3.1/eq-5",
        where="Theorem 3.1",
        gist="E Psi^t <= tau^t Psi^0",
        setting=SETTING,
        statement=bound(algorithm_1.algorithm, E(PSI_T) <= tau**T * PSI_0),
        requires=_THEOREM,
    ),
    Claim(
        id="locodl/theorem-3.1/tau",
        where="Theorem 3.1",
        gist="tau < 1 under the conditions",
        setting=CONSTANTS,
        statement=Inequality(tau, sympy.Integer(1), strict=True),
        requires=(ORDERED, STEP, DAMPING, PROBABILITY),
    ),
    Claim(
        id="locodl/theorem-3.1/limits",
        where="Theorem 3.1",
        gist="x_i, y, u_i, v converge",
        setting=SETTING,
        statement=Limit(algorithm_1.algorithm, PSI, "x_i, y -> x*, u_i -> u_i*, v -> v* almost surely"),
        requires=_THEOREM,
        reading="almost sure convergence follows when sum_t E Psi^t is finite; tested through the exact second moments",
    ),
    Claim(
        id="locodl/eq-6",
        where="eq. (6)",
        gist="best rho and chi",
        setting=CONSTANTS,
        statement=ParameterRule(
            {rho: _best, chi: _best},
            (
                sympy.Ge(2 * rho - rho**2 * (1 + omega_av) - chi, 0, evaluate=False),
                sympy.Le(2 * rho_other - rho_other**2 * (1 + omega_av), chi, evaluate=False),
            ),
        ),
        reading="chi is admissible with rho, and no rho' > 0 admits a larger chi",
    ),
)

# Section 2.2: what the predictions and their differences do, and how x_i are updated


def _predictions(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    """|x_hat - x*|_X^2 + sum_i |x_hat_i - y_hat|^2 + E sum_i |C_i(x_hat_i - y_hat)|^2."""
    hat = _hat(problem, params, state)
    away = Lifted(hat.x - hat.y[..., None, :], 0 * hat.y)
    compressed = _compressed_norm(problem, CompressionParams(params.compressors), away)
    return _hat_distance(problem, params, state) + _differences(problem, params, hat) + compressed


SECTION_2_2 = (
    Claim(
        id="locodl/section-2.2/convex-combination",
        where="Section 2.2",
        kind="property",
        gist="that the update is a convex combination",
        setting=CONSTANTS,
        statement=Inequality(rho, sympy.Integer(1)),
        requires=(DAMPING,),
        reading="(1 - rho) x_hat_i + rho (y_hat + d_bar) lies between the two for rho <= 1, and not always for larger "
        "ones; of all rho > 0 that Theorem 3.1 allows with some chi > 0. With those of eq. (6) it is -/repaired",
        literal_of="locodl/section-2.2/convex-combination/repaired",
    ),
    Claim(
        id="locodl/section-2.2/convex-combination/repaired",
        where="Section 2.2",
        kind="property",
        gist="with the rho of eq. (6) it is one: 0 < rho <= 1",
        setting=CONSTANTS,
        statement=ParameterRule({rho: _best}, (sympy.Lt(0, rho, evaluate=False), sympy.Le(rho, 1, evaluate=False))),
        repairs="locodl/section-2.2/convex-combination",
    ),
)
LIMITS_OF_ALL = Claim(
    id="locodl/theorem-3.1/limits-of-all",
    where="Theorem 3.1 and its proof",
    gist="convergence of x-hat, y-hat and of the differences",
    setting=SETTING,
    statement=Limit(
        algorithm_1.algorithm,
        Quantity("|x_hat-x*|^2+sum_i|x_hat_i-y_hat|^2+E sum_i|C_i(x_hat_i-y_hat)|^2", _predictions),
        "x_hat_i, y_hat -> x*, x_hat_i - y_hat -> 0, C_i(x_hat_i - y_hat) -> 0 almost surely",
    ),
    requires=_THEOREM,
    reading="said in Section 2.2; of the compressed differences as the expectation over the compressors, which bounds "
    "them where its sum over the iterations is finite. Tested through the exact second moments",
)

U_NEXT = Quantity(_u_next, dual_distance, after=True)
U = Quantity(_u, dual_distance)
W_HAT = Quantity(_W_hat, _W_hat_norm)
UX = Quantity(_ux, _dual_product)
X_NEXT = Quantity(_x_next, primal_distance, after=True)
HAT_X = Quantity(_hat_x, _hat_distance)

APPENDIX_A = (
    Claim(
        id="locodl/eq-13",
        where="eq. (13)",
        gist="S is the orthogonal projector onto consensus in the weighted space",
        setting=CONSENSUS,
        statement=identity(
            Quantity("S(x, y)", _S_printed), Quantity("argmin_a(sum_i|x_i-a|^2+n|y-a|^2)", _consensus_projection)
        ),
    ),
    Claim(
        id="locodl/eq-15",
        where="eqs. (14)-(15)",
        gist="W through differences",
        setting=CONSENSUS,
        statement=identity(Quantity("W(x, y)", _W_rows), Quantity("(d_i-d_bar, -d_bar)", _W_differences)),
    ),
    Claim(
        id="locodl/proof/compressed-norm",
        where="Appendix A",
        gist="second moment of the compressed differences",
        setting=COMPRESSION,
        statement=inequality(Quantity("E sum_i|C_i(x_i-y)|^2", _compressed_norm) <= (1 + omega) * _DIFFERENCES),
    ),
    Claim(
        id="locodl/eq-18",
        where="eq. (18)",
        gist="norm of differences against the norm of W x",
        setting=CONSENSUS,
        statement=inequality(_DIFFERENCES <= 2 * Quantity("|W(x, y)|^2", _W_norm)),
    ),
    Claim(
        id="locodl/proof/dual-step",
        where="Appendix A",
        gist="expected dual distance after a step",
        setting=SETTING,
        statement=one_step(
            algorithm_1.algorithm, E(U_NEXT) <= U + p * lam**2 * (1 + 2 * omega) * W_HAT - 2 * p * lam * UX
        ),
        requires=(VARIANCE, PROBABILITY),
    ),
    Claim(
        id="locodl/proof/primal-step",
        where="Appendix A",
        gist="expected primal distance after a step",
        setting=SETTING,
        statement=one_step(algorithm_1.algorithm, E(X_NEXT) <= HAT_X - p * (2 * rho - rho**2 * (1 + omega_av)) * W_HAT),
        requires=(VARIANCE, PROBABILITY),
    ),
)
