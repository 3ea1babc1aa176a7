"""FedDCD, Section 3.1 and Lemma B.2: projections onto C_I in a weighted norm."""

from __future__ import annotations

import numpy as np
import sympy

from fedtheory.algorithms.rbcd import Params
from fedtheory.kinds.identity import Identity, identity
from fedtheory.numbers.rational import Array, apply, inverse, is_exact
from fedtheory.papers.feddcd import exceptions
from fedtheory.papers.feddcd.appendix_b import OPERATORS, SIZE, G, P, of_every_set
from fedtheory.papers.feddcd.dual import N, d, section
from fedtheory.papers.feddcd.exceptions import Blocks, ProjectionParams
from fedtheory.randomness import WeightedSubset
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Comparison, Quantity

PROJECTION = Setting(
    "N blocks of size d, a non-empty I in [N], W positive definite, x in R^(Nd)",
    letters={N: lambda problem, params: len(params.mask), d: "d"},
    drawing=Drawing(special=exceptions.PROJECTION),
    hints=Hints(complete=True),
)


def _column(a: Array, like: Array) -> Array:
    return a.astype(object) if is_exact(like) else a.astype(np.float64)


def projection_printed(problem: object, params: ProjectionParams, state: Blocks) -> Array:
    """The closed form of Section 3.1, with u = e_I (x) e_d as printed: 1 in the blocks in I, and 0 in others."""
    u = _column(np.repeat(params.mask, params.d), params.W)
    Wu = apply(inverse(params.W), u)
    return state.x - Wu * (state.x @ u)[..., None] / (u @ Wu)


def projection_repaired(problem: object, params: ProjectionParams, state: Blocks) -> Array:
    """The closed form with U = e_I (x) I_d: x - W^{-1} U (U' W^{-1} U)^{-1} U' x."""
    U = _column(np.kron(params.mask[:, None], np.eye(params.d, dtype=int)), params.W)
    WU = inverse(params.W) @ U
    return state.x - apply(WU @ inverse(U.T @ WU), state.x @ U)


def projection_argmin(problem: object, params: ProjectionParams, state: Blocks) -> Array:
    """argmin_y |y - x|_W^2 subject to sum_{i in I} y_i = 0, from its KKT system."""
    U = _column(np.kron(params.mask[:, None], np.eye(params.d, dtype=int)), params.W)
    zero = 0 * (U.T @ U)
    kkt = np.block([[params.W, U], [U.T, zero]])
    target = np.concatenate([apply(params.W, state.x), 0 * (state.x @ U)], axis=-1)
    return apply(inverse(kkt), target)[..., : params.W.shape[0]]


ARGMIN = Quantity("argmin_y(|y-x|_W^2)", projection_argmin)
AS_PRINTED = Quantity("x-(u^T x)/(u^T W^{-1} u) W^{-1} u", projection_printed)

section_31 = section("Section 3.1", PROJECTION, id="projection")
SECTION_3_1 = (
    section_31(
        "",
        identity(AS_PRINTED, ARGMIN),
        "closed form printed for proj onto C_I in the W-norm, with u = e_I (x) e_d, any d",
        kind="identity",
        tex=r"\operatorname{proj}_{\mathcal{C}_I}^{W}(x)=\left(I-\frac{1}{u^TW^{-1}u}W^{-1}uu^T\right)x, \quad u=e_I"
        r"\otimes e_d",
        flaw="e_d is printed for I_d. With e_d u is a vector, and u'y = 0 one equation: that all coordinates of the "
        "blocks in I add up to 0. C_I asks for d of them, one a coordinate. Lemma B.2 proves the case d = 1, "
        "where the two are the same.",
        later="the closed form of the projection is left out",
        literal_of="projection/repaired",
    ),
    section_31(
        "repaired",
        identity(Quantity("x-W^{-1} U(U^T W^{-1} U)^{-1} U^T x", projection_repaired), ARGMIN),
        "closed form for proj onto C_I in the W-norm, with the matrix U = e_I (x) I_d in place of the vector u",
        kind="identity",
        repairs="projection",
    ),
)

# P_I and G_I


def _of_sets(params: Params, x: Array) -> tuple[Array, Array]:
    """Return the printed P_I of x for every set I, ``(..., K, n)``, and the sets ``(K, n)``."""
    masks = WeightedSubset(1 / params.L, params.tau).support(is_exact(params.L))[0]
    inverses = np.where(masks, 1 / params.L, 0 * params.L)
    within = np.where(masks, x[..., None, :], 0 * x[..., None, :])
    found: Array = within - inverses * within.sum(axis=-1, keepdims=True) / inverses.sum(axis=-1, keepdims=True)
    return found, masks


def _printed_P(problem: object, params: Params, state: exceptions.Pair) -> Array:
    """(I_I - L^{-1} e_I e_I'/(e_I' L^{-1} e_I)) x for every set I."""
    return _of_sets(params, state.x)[0]


def _printed_G(problem: object, params: Params, state: exceptions.Pair) -> Array:
    """(I_I L^{-1} - L^{-1} e_I e_I' L^{-1}/(e_I' L^{-1} e_I)) x for every set I."""
    return _of_sets(params, state.x / params.L)[0]


def _sum_over_set(problem: object, params: Params, state: exceptions.Pair) -> Array:
    """e_I' P_I x, P_I as printed, for every set I."""
    d, masks = _of_sets(params, state.x)
    return np.where(masks, d, 0 * d).sum(axis=-1)


def _normal(problem: object, params: Params, state: exceptions.Pair) -> Array:
    """<P_I x - I_I x, y>_L, P_I as printed, for every set I, where y is moved into C_I: any vector of C_I is such."""
    d, masks = _of_sets(params, state.x)
    x, y = state.x[..., None, :], state.y[..., None, :]
    away = d - np.where(masks, x, 0 * x)
    balanced = np.where(masks, y - np.where(masks, y, 0 * y).sum(axis=-1, keepdims=True) / params.tau, y)
    return (params.L * away * balanced).sum(axis=-1)


def _zero(problem: object, params: object, state: object) -> Array:
    return np.zeros((), dtype=int)


_sum, _product, _none, _p, _p_printed, _g, _g_printed = (
    sympy.Symbol(name)
    for name in (
        "e_I^T P_I x",
        "<P_I x-I_I x, y>_L",
        "0",
        "P_I x",
        "(I_I-L^{-1} e_I e_I^T/(e_I^T L^{-1} e_I)) x",
        "G_I x",
        "(I_I L^{-1}-L^{-1} e_I e_I^T L^{-1}/(e_I^T L^{-1} e_I)) x",
    )
)
P_AND_G = section("after Lemma B.2", OPERATORS, SIZE, id="lemma-B.2")(
    "P-and-G",
    Identity(
        _sum,
        _none,
        (
            Quantity(_sum, _sum_over_set),
            Quantity(_product, _normal),
            Quantity(_none, _zero),
            Quantity(_p, of_every_set(P)),
            Quantity(_p_printed, _printed_P),
            Quantity(_g, of_every_set(G)),
            Quantity(_g_printed, _printed_G),
        ),
        also=(
            Comparison(_product, "==", _none),
            Comparison(_p, "==", _p_printed),
            Comparison(_g, "==", _g_printed),
        ),
    ),
    "the displays that give P_I and G_I",
    kind="identity",
    tex=r"P_I=\mathbb{I}_I-\frac{1}{e_I^T\mathbf{L}^{-1}e_I}\mathbf{L}^{-1}e_Ie_I^T, \quad G_I=\mathbb{I}_I"
    r"\mathbf{L}^{-1}-\frac{1}{e_I^T\mathbf{L}^{-1}e_I}\mathbf{L}^{-1}e_Ie_I^T\mathbf{L}^{-1}",
    uses=("lemma-B.2",),
    reading="for every I and x: what is printed for P_I x is in C_I, and I_I x less it is orthogonal to C_I in the "
    "L-norm, so that it is the nearest point there, as P_I is defined; it is what the other claims use; the same of "
    "G_I = P_I L^{-1}",
)

LEMMA_B2 = (
    section("Lemma B.2", PROJECTION, Hypothesis("scalar blocks", sympy.Eq(d, 1, evaluate=False)))(
        "",
        identity(AS_PRINTED, ARGMIN),
        "projection onto C_I for scalar blocks",
        kind="identity",
        tex=r"\operatorname{proj}_{\mathcal{C}_I}^{W}(x)=\left(I-\frac{1}{e_I^TW^{-1}e_I}W^{-1}e_Ie_I^T\right)x",
    ),
)
