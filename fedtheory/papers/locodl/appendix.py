"""LoCoDL, Appendix A: the proof of Theorem 3.1."""

from __future__ import annotations

from fedtheory.algorithms import locodl as algorithm_1
from fedtheory.kinds.identity import identity
from fedtheory.numbers.rational import Array
from fedtheory.papers.locodl.compression import COMPRESSED_NORM, COMPRESSION
from fedtheory.papers.locodl.lifted import (
    CONSENSUS,
    DIFFERENCES,
    PROJECTION,
    S_PRINTED,
    W_DIFFERENCES,
    W_NORM,
    W_ROWS,
    W,
    norm,
)
from fedtheory.papers.locodl.method import HAT_X, dual_distance, hat_of, primal_distance
from fedtheory.papers.locodl.setting import PROBABILITY, SETTING, VARIANCE, lam, omega, omega_av, p, rho, section
from fedtheory.problems.base import Problem
from fedtheory.settings.relations import E, Quantity


def _W_hat_norm(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    return norm(*W(hat_of(problem, params, state)))


def _dual_product(problem: Problem, params: algorithm_1.Params, state: algorithm_1.State) -> Array:
    """<u - u*, x_hat>_X."""
    hat, target = hat_of(problem, params, state), algorithm_1.fixed_point(problem, params)
    product = ((state.u - target.u) * hat.x).sum(axis=(-1, -2))
    return product + problem.n * ((state.v - target.v) * hat.y).sum(axis=-1)


U = Quantity("|u-u*|^2", dual_distance, names={"next": "|u_next-u*|^2"})
X = Quantity("|x-x*|^2", primal_distance, names={"next": "|x_next-x*|^2"})
W_HAT = Quantity("|W x_hat|^2", _W_hat_norm)
UX = Quantity("<u-u*,x_hat>", _dual_product)

operators = section("Appendix A", CONSENSUS, id="")
proof = section("Appendix A", SETTING, VARIANCE, PROBABILITY, id="proof")

APPENDIX_A = (
    operators(
        "eq-13",
        identity(S_PRINTED, PROJECTION),
        "S is the orthogonal projector onto consensus in the weighted space",
        where="eq. (13)",
        tex=r"S:\mathbf{x}\mapsto\mathbf{1}\bar{x}, \quad \bar{x}=\frac{1}{2n}\left(\sum_{i=1}^{n}x_{i}+ny\right)",
    ),
    operators(
        "eq-15",
        identity(W_ROWS, W_DIFFERENCES),
        "W through differences",
        where="eqs. (14)-(15)",
        tex=r"W:\mathbf{x}\mapsto\left(d_{1}-\bar{d},\ldots,d_{n}-\bar{d},-\bar{d}\right)",
        uses=("eq-13",),
    ),
    operators(
        "proof/compressed-norm",
        COMPRESSED_NORM <= (1 + omega) * DIFFERENCES,
        "second moment of the compressed differences",
        tex=r"\mathbb{E}\left[\left\|\mathbf{d}^{t}\right\|^{2}\;|\;\mathcal{F}^{t},\theta^{t}=1\right]\leq(1+\omega)"
        r"\left\|\mathbf{\hat{x}}^{t}-\mathbf{1}\hat{y}^{t}\right\|^{2}",
        setting=COMPRESSION,
    ),
    operators(
        "eq-18",
        DIFFERENCES <= 2 * W_NORM,
        "norm of differences against the norm of W x",
        where="eq. (18)",
        tex=r"\left\|\mathbf{\hat{x}}^{t}-\mathbf{1}\hat{y}^{t}\right\|^{2}\leq 2\left\|W\mathbf{\hat{x}}^{t}\right"
        r"\|^{2}",
        uses=("eq-13",),
    ),
    proof(
        "dual-step",
        E(U.next) <= U + p * lam**2 * (1 + 2 * omega) * W_HAT - 2 * p * lam * UX,
        "expected dual distance after a step",
        tex=r"\mathbb{E}\left[\left\|\mathbf{u}^{t+1}-\mathbf{u}^{\star}\right\|^{2}\;|\;\mathcal{F}^{t}\right]"
        r"\leq\left\|\mathbf{u}^{t}-\mathbf{u}^{\star}\right\|^{2}+p\lambda^{2}(1+2\omega)\left\|W\mathbf{\hat{x}}^{t}"
        r"\right\|^{2}-2p\lambda\langle\mathbf{u}^{t}-\mathbf{u}^{\star},\mathbf{\hat{x}}^{t}\rangle",
        uses=("proof/compressed-norm", "eq-18", "eq-13"),
    ),
    proof(
        "primal-step",
        E(X.next) <= HAT_X - p * (2 * rho - rho**2 * (1 + omega_av)) * W_HAT,
        "expected primal distance after a step",
        tex=r"\mathbb{E}\left[\left\|\mathbf{x}^{t+1}-\mathbf{x}^{\star}\right\|^{2}\;|\;\mathcal{F}^{t}\right]"
        r"\leq\left\|\mathbf{\hat{x}}^{t}-\mathbf{x}^{\star}\right\|^{2}-p\left(2\rho-\rho^{2}(1+\omega_{\mathrm{av}})"
        r"\right)\left\|W\mathbf{\hat{x}}^{t}\right\|^{2}",
        uses=("eq-18", "eq-13"),
    ),
)
