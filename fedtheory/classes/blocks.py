"""Convex functions that are smooth in blocks of coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import sympy

from fedtheory.classes.base import FunctionClass, each
from fedtheory.instances import OF_BLOCK, Source
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.blocks import Blocks, smoothness


@dataclass(frozen=True)
class BlockSmoothConvex(FunctionClass):
    r"""Each f_i is convex, and L_j-smooth along the coordinates of block j:
    $|P_j \nabla f_i(x + P_j h) - P_j \nabla f_i(x)| \le L_j |P_j h|$, P_j the projection on the block.

    ``L``: the letters of the constants, one for each of the blocks of coordinates, which are of any sizes.
    In code ``problem.part(v, j)`` is P_j v, for ``v (..., d)`` and j counted from 0; ``problem.L`` is the sum of the
    L_j, with which each f_i is smooth. There is no mu, and no kappa.

    That $f(y) \ge f(x) + \langle \nabla f(x), y - x \rangle + |P_j(\nabla f(y) - \nabla f(x))|^2/(2 L_j)$ for every j
    follows: f less its tangent at x is least there, and falls by so much when a step is made along block j from y. At
    finitely many points more may be known.
    """

    L: tuple[sympy.Symbol, ...]

    alike = True
    loose = True
    constants: ClassVar[tuple[str, ...]] = ()
    optima: ClassVar[tuple[str, ...]] = ("consensus",)

    def __post_init__(self) -> None:
        letters = self.L
        if not isinstance(letters, tuple) or not all(isinstance(letter, sympy.Symbol) for letter in letters):
            raise ValueError(
                f"the letters of the blocks are a tuple of symbols, as letters('L_1 L_2'): got {letters!r}"
            )
        if len(set(letters)) < max(2, len(letters)):
            raise ValueError("there are two blocks at least, each with a letter of its own: else write SmoothConvex(L)")
        if not self.optimum:
            object.__setattr__(self, "optimum", self.optima[0])
        if self.optimum not in self.optima:
            raise ValueError(f"functions smooth in blocks have no members for the optimum {self.optimum!r}")

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex, and smooth with {', '.join(map(str, self.L))} along {len(self.L)} blocks of coordinates"

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the blocks, and where their values come from."""
        return {letter: f"{OF_BLOCK}{j}" for j, letter in enumerate(self.L)}

    def contains(self, problem: Problem, params: Any) -> bool:
        """Return True if the functions of an instance are known to belong to the class."""
        own = smoothness(problem.f, problem.optimum.x, self._blocks(problem).sizes)
        return bool(min(problem.f.mu) >= 0 and (own <= self._blocks(problem).L).all())

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: 0 and the sum of the L_j, or those of functions that do not
        keep to it."""
        return each(min(0 * problem.L, *problem.f.mu), problem.n), each(max(problem.L, *problem.f.L), problem.n)

    def along(self, problem: Problem) -> tuple[Any, ...]:
        """The smoothness constant along each block: as declared, or as of functions that do not keep to it."""
        own = smoothness(problem.f, problem.optimum.x, self._blocks(problem).sizes)
        return tuple(max(L, *of) for L, of in zip(self._blocks(problem).L, own.T, strict=True))

    def _blocks(self, problem: Problem) -> Blocks:
        if problem.blocks is None or len(problem.blocks.L) != len(self.L):
            raise ValueError(f"the coordinates of the problem are not split into {len(self.L)} blocks")
        return problem.blocks
