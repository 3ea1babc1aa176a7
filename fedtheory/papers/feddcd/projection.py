"""FedDCD, Section 3.1 and Lemma B.2: projections onto C_I in a weighted norm."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.identity import identity
from fedtheory.numbers.rational import Array, apply, inverse, is_exact
from fedtheory.papers.feddcd import exceptions
from fedtheory.papers.feddcd.dual import N, d
from fedtheory.papers.feddcd.exceptions import Blocks, ProjectionParams
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity

PROJECTION = Setting(
    "N blocks of size d, a non-empty I in [N], W positive definite, x in R^(Nd)",
    letters={N: lambda problem, params: len(params.mask), d: "d"},
    drawing=Drawing(special=exceptions.PROJECTION),
    hints=Hints(complete=True),
)


def _column(a: Array, like: Array) -> Array:
    return a.astype(object) if is_exact(like) else a.astype(np.float64)


def projection_printed(problem: Any, params: ProjectionParams, state: Blocks) -> Array:
    """The closed form of Section 3.1, with u = e_I (x) e_d as printed: 1 in the blocks in I, and 0 in others."""
    u = _column(np.repeat(params.mask, params.d), params.W)
    Wu = apply(inverse(params.W), u)
    return state.x - Wu * (state.x @ u)[..., None] / (u @ Wu)


def projection_repaired(problem: Any, params: ProjectionParams, state: Blocks) -> Array:
    """The closed form with U = e_I (x) I_d: x - W^{-1} U (U' W^{-1} U)^{-1} U' x."""
    U = _column(np.kron(params.mask[:, None], np.eye(params.d, dtype=int)), params.W)
    WU = inverse(params.W) @ U
    return state.x - apply(WU @ inverse(U.T @ WU), state.x @ U)


def projection_argmin(problem: Any, params: ProjectionParams, state: Blocks) -> Array:
    """argmin_y |y - x|_W^2 subject to sum_{i in I} y_i = 0, from its KKT system."""
    U = _column(np.kron(params.mask[:, None], np.eye(params.d, dtype=int)), params.W)
    zero = 0 * (U.T @ U)
    kkt = np.block([[params.W, U], [U.T, zero]])
    target = np.concatenate([apply(params.W, state.x), 0 * (state.x @ U)], axis=-1)
    return apply(inverse(kkt), target)[..., : params.W.shape[0]]


def _projection(id: str, where: str, gist: str, closed: Quantity, **more: Any) -> Claim:
    statement = identity(closed, Quantity("argmin_y(|y-x|_W^2)", projection_argmin))
    return Claim(id=id, where=where, kind="identity", gist=gist, setting=PROJECTION, statement=statement, **more)


SECTION_3_1 = (
    _projection(
        "feddcd/projection",
        "Section 3.1",
        "closed form printed for proj onto C_I in the W-norm, with u = e_I (x) e_d, any d",
        Quantity("x-(u^T x)/(u^T W^{-1} u) W^{-1} u", projection_printed),
    ),
    _projection(
        "feddcd/projection/repaired",
        "Section 3.1",
        "closed form for proj onto C_I in the W-norm, with the matrix U = e_I (x) I_d in place of the vector u",
        Quantity("x-W^{-1} U(U^T W^{-1} U)^{-1} U^T x", projection_repaired),
        repairs="feddcd/projection",
    ),
)

LEMMA_B2 = (
    _projection(
        "feddcd/lemma-B.2",
        "Lemma B.2",
        "projection onto C_I for scalar blocks",
        Quantity("x-(u^T x)/(u^T W^{-1} u) W^{-1} u", projection_printed),
        requires=(Hypothesis("scalar blocks", sympy.Eq(d, 1, evaluate=False)),),
    ),
)
