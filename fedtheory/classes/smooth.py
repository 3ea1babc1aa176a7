"""Smooth functions, convex or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from fedtheory.classes.base import Average, FunctionClass, each, extremes, f_star, parts
from fedtheory.instances import Source
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem


@dataclass(frozen=True, init=False)
class Smooth(FunctionClass):
    """Each f_i, and g where there is one, is L-smooth, convex or not: a property of each f_i, so that the average is
    L-smooth too. The sum has a minimiser, x*.

    There is no mu, and no kappa: where two letters are given, as to other classes, the first says nothing.
    """

    L: sympy.Symbol

    loose = True
    constants: ClassVar[tuple[str, ...]] = ("L",)
    has_g = True

    def __init__(self, *letters: sympy.Symbol, L: sympy.Symbol | None = None, optimum: str = "") -> None:
        """``Smooth(L)``, or ``Smooth(mu, L)``; ``ValueError`` for anything else."""
        given = letters if L is None else (*letters, L)
        if len(given) not in (1, 2):
            raise ValueError(f"Smooth takes one letter, L, got {len(given)}")
        object.__setattr__(self, "L", given[-1])
        object.__setattr__(self, "optimum", optimum)
        self.__post_init__()

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.L}-smooth, convex or not"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from."""
        return {self.L: "L"}

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        return all(min(part.mu) >= -problem.L and max(part.L) <= problem.L for part in parts(problem))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: -L and L, or those of functions that do not keep to it."""
        mu, L = extremes(problem)
        largest = max(L, -mu)
        return each(-largest, problem.n), each(largest, problem.n)

    def average(self, problem: Problem, params: Any) -> Average:
        """What is known of the average f: it is L-smooth, and at least f*."""
        return f_star(max(problem.L, *problem.f.L))
