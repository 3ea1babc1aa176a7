"""Many problems at once: one recipe's parameters with many piecewise quadratic functions of one variable, in floats.

Runs on functions with kinks depend on where these are; replicas of one array are as cheap as a single run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.algorithms.base import Algorithm
from fedtheory.instances import Instance, Recipe
from fedtheory.numbers.rational import Array
from fedtheory.problems.bent import LessParabola, less_parabola
from fedtheory.problems.functions import Functions
from fedtheory.problems.piecewise import PiecewiseQuadratic
from fedtheory.problems.quadratic import Quadratics
from fedtheory.sampling import building, members
from fedtheory.sampling.functions import Sampler, sampler
from fedtheory.settings import Setting


@dataclass(frozen=True)
class Profiles:
    """M choices of the functions of P parts, the clients and g where there is one.

    ``slopes (M, P, 3)``: of the gradients from left to right; ``kinks (M, P, 2)``: between them, ascending, relative to
    the optimum.
    """

    slopes: Array
    kinks: Array

    def __getitem__(self, index: Any) -> Profiles:
        return Profiles(self.slopes[index], self.kinks[index])


@dataclass(frozen=True)
class _Many(PiecewiseQuadratic):
    """Replicas of functions, whose constants are those of all of them: one number for each function."""

    @property
    def mu(self) -> Array:
        """The least slope of any replica of each function, shape ``(n,)``."""
        return super().mu.min(axis=(0, 1))

    @property
    def L(self) -> Array:
        """The largest slope of any replica of each function, shape ``(n,)``."""
        return super().L.max(axis=(0, 1))


def line(recipe: Recipe) -> Recipe | None:
    """The recipe of plain quadratics of one variable with an optimum at 0; None where it has other functions."""
    if recipe.get("d") != 1 or not {"x", "clients"} <= set(recipe):
        return None
    parts = [*recipe["clients"], *([recipe["g"]] if "g" in recipe else [])]
    if any("h" not in part or "y" not in part for part in parts):
        return None
    dropped = {"turn", *members.SLOPES[1:], *members.KINKS, "dip", "dip_from", "dip_to"}
    clients = tuple({k: v for k, v in c.items() if k not in dropped} for c in recipe["clients"])
    own = {"g": {k: v for k, v in recipe["g"].items() if k not in dropped}} if "g" in recipe else {}
    return {**recipe, "x": (Fraction(0),), "clients": clients, **own}


def with_functions(recipe: Recipe, slopes: list[list[Fraction]], kinks: list[list[Fraction]]) -> Recipe:
    """A recipe of one variable with these slopes and kinks of each part."""
    parts = [
        {name: (value,) for name, value in zip((*members.SLOPES, *members.KINKS), (*s, *k), strict=True)}
        for s, k in zip(slopes, kinks, strict=True)
    ]
    clients = tuple({**c, **part} for c, part in zip(recipe["clients"], parts, strict=False))
    own = {"g": {**recipe["g"], **parts[-1]}} if "g" in recipe else {}
    return {**recipe, "clients": clients, **own}


def build(setting: Setting, recipe: Recipe, profiles: Profiles) -> Instance:
    """The instance of a recipe of one variable in floats, its functions replaced by M others along the first axis.

    ``ValueError`` where the class of the setting has other functions than piecewise quadratics, with or without a bend.
    """
    assert setting.functions is not None and setting.algorithm is not None
    functions: Any = _Replicated(setting.functions, profiles)
    # All replicas have one optimum, with the same gradients there: one state at which each of them stays.
    fixed = partial(_fixed, setting.algorithm, building.problem_of(setting, recipe, False))
    algorithm = replace(setting.algorithm, fixed_point=fixed)
    return building.build(replace(setting, functions=functions, algorithm=algorithm), recipe, False)


def _fixed(algorithm: Algorithm, plain: Any, problem: Any, params: Any) -> Any:
    """The fixed point on the plain problem of a recipe, whatever its replicas are."""
    return algorithm.fixed_point(plain, params)


@dataclass(frozen=True)
class _Replicated:
    """A class of functions whose sampler builds those of the profiles."""

    functions: Any
    profiles: Profiles
    #: Gradients at the optimum are as they are given.
    conjugates = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.functions, name)


@sampler.register(_Replicated)
class _ReplicatedSampler(Sampler):
    """Replicas of the functions of a recipe."""

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, L) as declared of the functions of a recipe."""
        return sampler(self.of.functions, self.drawing).declared(recipe, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` (clients, or g alone), ``(M, 1, n, 1)``."""
        if not isinstance(
            sampler(self.of.functions, self.drawing).build(recipe, parts, x, y, exact), Quadratics | LessParabola
        ):
            raise ValueError("the class has other functions than quadratics and what is one less a parabola")
        n = len(recipe["clients"])
        which = slice(n, n + 1) if "g" in recipe and parts[0] is recipe["g"] else slice(0, n)
        slopes = tuple(np.moveaxis(self.of.profiles.slopes[:, None, which, None], -1, 0))
        kinks = np.moveaxis(self.of.profiles.kinks[:, None, which, None], -1, 0)
        least = min(float(slope.min()) for slope in slopes)
        # What is not strongly convex is strongly convex less a parabola.
        bend = 0 if least > 0 else 2 * max(float(abs(slope).max()) for slope in slopes) - least
        slopes = tuple(slope + bend for slope in slopes)
        about = PiecewiseQuadratic(slopes, tuple(kinks), 0 * slopes[0])
        moved = tuple(x[..., None, :] + kink for kink in kinks)
        return less_parabola(_Many(slopes, moved, y - about.gradient(0 * slopes[0])), x, bend)
