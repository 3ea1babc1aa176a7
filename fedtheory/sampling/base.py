"""What a sampler of a class of functions is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any

import numpy as np

from fedtheory.instances import Recipe, check_shape, number
from fedtheory.numbers.rational import Array
from fedtheory.problems.functions import Functions
from fedtheory.sampling import members
from fedtheory.settings import Drawing


@dataclass(frozen=True)
class Sampler:
    """How members of a class of functions, ``of``, are drawn for a setting, and built from recipes."""

    of: Any
    drawing: Drawing

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member.

        ``minimised``: their average has to have a minimiser, x.
        """
        raise NotImplementedError

    def at(self, values: Mapping[str, Fraction], n: int, stiff: int, with_g: bool) -> Recipe:
        """The functions of a grid's point; ``ValueError`` where the class has none."""
        raise ValueError(f"there is no grid of parameters for functions {self.of.text}")

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, L) as declared of the functions of a recipe; ``ValueError`` unless positive."""
        mu, L = recipe[str(self.of.mu)], recipe[str(self.of.L)]
        check_shape(recipe["d"], mu, L)
        return number(mu, exact), number(L, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` (clients, or g alone) with gradients ``y (..., n, d)`` at ``x (..., d)``."""
        return members.curved(parts, x, y, exact)


@singledispatch
def sampler(functions: Any, drawing: Drawing) -> Sampler:
    """The sampler of a class of functions for a setting's ``drawing``; ``ValueError`` where it has none."""
    raise ValueError(f"nothing draws members of {type(functions).__name__}")
