"""FedDCD, the proof of Theorem D.1: eq. (37)."""

from __future__ import annotations

from typing import Any

import sympy

from fedtheory.algorithms import accelerated_rbcd, rbcd
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.rational import Array
from fedtheory.papers.feddcd import appendix_b
from fedtheory.papers.feddcd.accelerated import SETTING_D, A, B, z_distance
from fedtheory.papers.feddcd.appendix_b import r
from fedtheory.papers.feddcd.dual import section
from fedtheory.problems.base import Problem
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity


def _y(params: accelerated_rbcd.Params, state: accelerated_rbcd.State) -> Array:
    """y^{(t)}."""
    return (1 - params.a) * state.x + params.a * state.z


def _h_at_y(problem: Problem, params: accelerated_rbcd.Params, state: accelerated_rbcd.State) -> Array:
    """h(y) - h(x*)."""
    return appendix_b.h_gap(problem, params, rbcd.State(_y(params, state)))


def _towards(problem: Problem, params: accelerated_rbcd.Params, state: accelerated_rbcd.State) -> Array:
    """<grad h(y), x* - z>."""
    away = rbcd.constrained_minimiser(problem) - state.z
    return (problem.f.gradient(_y(params, state)) * away).sum(axis=(-1, -2))


def _y_distance(problem: Problem, params: accelerated_rbcd.Params, state: accelerated_rbcd.State) -> Array:
    """|x* - y|_L^2."""
    return z_distance(problem, params, state._replace(z=_y(params, state)))


_h_next, _z_next, _h_y, _slope, _z, _to_y = (
    sympy.Symbol(name)
    for name in ("h(x_next)-h*", "|x*-z_next|_L^2", "h(y)-h*", "<grad h(y), x*-z>", "|x*-z|_L^2", "|x*-y|_L^2")
)
_STRUCTURE: Any = Hypothesis("each h_i is convex and L_i-smooth", met=SETTING_D.functions.contains)  # type: ignore[union-attr]
EQ_37 = section("eq. (37)", SETTING_D, _STRUCTURE, appendix_b.SIZE)(
    "",
    OneStep(
        accelerated_rbcd.algorithm,
        _h_next + (A**2 + B) / (2 * r**2) * _z_next,
        _h_y + A * _slope + (A**2 * _z + B * _to_y) / (2 * r**2),
        (
            Quantity(_h_next, appendix_b.h_gap, after=True),
            Quantity(_z_next, z_distance, after=True),
            Quantity(_h_y, _h_at_y),
            Quantity(_slope, _towards),
            Quantity(_z, z_distance),
            Quantity(_to_y, _y_distance),
        ),
    ),
    "expected decrease of h from y in a step of Algorithm 4, through the distances of y, z and z_next to x*",
    kind="inequality",
    tex=r"\mathbb{E}\left[h(x^{(t+1)})-h(y^{(t)})\mid y^{(t)}\right]\leq a\langle\nabla h(y^{(t)}),x^*-z^{(t)}"
    r"\rangle+\frac{1}{2r^2}\left(a^2\|x^*-z^{(t)}\|_{\mathbf{L}}^2+b\|x^*-y^{(t)}\|_{\mathbf{L}}^2\right)-"
    r"\frac{a^2+b}{2r^2}\mathbb{E}\left[\|x^*-z^{(t+1)}\|_{\mathbf{L}}^2\right]",
    uses=("lemma-B.8/descent", "lemma-B.7", "lemma-B.3/eq-21", "lemma-D.2", "lemma-D.3"),
    reading="its first side and its last; the number is not printed in the text at hand, where a later line cites it",
)
