"""FedDCD, Lemma B.7: the three-point property, for any convex u and any mirror map, in all dimensions.

That z+ minimises u + D_Phi(., z) over a convex set with x in it says of the two that <x - z+, slope> >= 0 for the slope
of u + D_Phi(., z) at z+, and no more than that: the segment between them is such a set.
"""

from __future__ import annotations

from typing import NamedTuple

import sympy

from fedtheory.claims import Claim
from fedtheory.classes import Convex
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array
from fedtheory.papers.feddcd.dual import Nothing
from fedtheory.problems.base import Problem, everywhere
from fedtheory.settings import Drawing, Setting, points
from fedtheory.settings.relations import Quantity

_NEEDS_G = "Phi is g, and the problem has none"


class Three(NamedTuple):
    """``x``: a point of C; ``z``: the given vector; ``plus``: the minimiser; ``(..., d)`` each."""

    x: Array
    z: Array
    plus: Array


def _centre(problem: Problem, params: object) -> Three:
    return Three(problem.x_star, problem.x_star, problem.x_star)


def _u(problem: Problem, at: Array) -> Array:
    """u at a point, ``(...)``."""
    return problem.f.value(everywhere(problem, at)).sum(axis=-1)


def _phi(problem: Problem, at: Array) -> Array:
    """Phi at a point, ``(...)``."""
    if problem.g is None:
        raise ValueError(_NEEDS_G)
    return problem.g.value(at[..., None, :])[..., 0]


def _slope(problem: Problem, at: Array) -> Array:
    """A subgradient of Phi at a point, ``(..., d)``."""
    if problem.g is None:
        raise ValueError(_NEEDS_G)
    return problem.g.gradient(at[..., None, :])[..., 0, :]


def _divergence(problem: Problem, x: Array, z: Array) -> Array:
    """D_Phi(x, z) = Phi(x) - Phi(z) - <grad Phi(z), x - z>."""
    return _phi(problem, x) - _phi(problem, z) - (_slope(problem, z) * (x - z)).sum(axis=-1)


def _sum_before(problem: Problem, params: object, state: Three) -> Array:
    """u(x) + D_Phi(x, z)."""
    return _u(problem, state.x) + _divergence(problem, state.x, state.z)


def _sum_after(problem: Problem, params: object, state: Three) -> Array:
    """u(z+) + D_Phi(z+, z) + D_Phi(x, z+)."""
    of_z = _divergence(problem, state.plus, state.z)
    return _u(problem, state.plus) + of_z + _divergence(problem, state.x, state.plus)


def _increase(problem: Problem, params: object, state: Three) -> Array:
    """<grad u(z+) + grad Phi(z+) - grad Phi(z), x - z+>, where grad is a subgradient."""
    of_u = problem.f.gradient(everywhere(problem, state.plus)).sum(axis=-2)
    slope = of_u + _slope(problem, state.plus) - _slope(problem, state.z)
    return (slope * (state.x - state.plus)).sum(axis=-1)


SETTING = Setting(
    "u = f_1 + ... + f_n and Phi = g, all convex, in R^d; any x, z and z+, and a subgradient at each point",
    algorithm=points(Three, Nothing, _centre),
    functions=Convex(),
    drawing=Drawing(g=(True,)),
)
_before, _after, _rise = (
    sympy.Symbol(name) for name in ("u(x)+D(x,z)", "u(z+)+D(z+,z)+D(x,z+)", "<slope at z+, x-z+>")
)
BEFORE, AFTER, RISE = Quantity(_before, _sum_before), Quantity(_after, _sum_after), Quantity(_rise, _increase)
CLAIM = Claim(
    id="feddcd/lemma-B.7",
    where="Lemma B.7",
    kind="inequality",
    gist="three-point property with constraint",
    setting=SETTING,
    statement=Inequality(sympy.S.Zero, _before - _after - _rise, (BEFORE, AFTER, RISE)),
    reading="z+ is any point; where it minimises u + D_Phi(., z) over a convex C with x in it, <slope at z+, x - z+> "
    "is at least 0 for one of the slopes there",
)
