"""Convex functions that are smooth in blocks of coordinates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import sympy

from fedtheory.classes.base import WORSE, FunctionClass, Outside, each, only_declared
from fedtheory.instances import OF_BLOCK, Recipe, Source, check_shape, members, number, numbers, pick, small
from fedtheory.instances.members import Sampler, sampler
from fedtheory.numbers.rational import Array, apply, exact, inverse
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.blocks import Blocks, smoothness
from fedtheory.problems.functions import Functions
from fedtheory.problems.nonconvex import less_parabola
from fedtheory.problems.quadratic import Turned

#: Curvatures of sums over coordinates, and entries of the vectors of coupled ones, relative to what a block allows.
_SHARES = tuple(Fraction(v) for v in (1, 1, 1, 0, 0, "1/2"))


_WEIGHTS = tuple(Fraction(v) for v in (1, 1, -1, -1, "1/2", 0))


#: Vectors of length 1, by their number of entries: those of more have one entry that is not 0.
_UNIT = {2: tuple(tuple(map(Fraction, v)) for v in (("3/5", "4/5"), ("4/5", "-3/5"), (1, 0)))}


#: Digits of a root that is not rational, from below.
_ROOT = 10**6


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

    Args:
        L: The letters of the constants, one for each block.
        optimum: "consensus".

    Examples:
        >>> import fedtheory as ft
        >>> ft.BlockSmoothConvex(ft.letters("L_1 L_2")).text
        'each convex, and smooth with L_1, L_2 along 2 blocks of coordinates'
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

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance are known to belong to the class."""
        own = smoothness(problem.f, problem.optimum.x, self._blocks(problem).sizes)
        return bool(min(problem.f.mu) >= 0 and (own <= self._blocks(problem).L).all())

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
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

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Instances with one function a little less convex than allowed, or less smooth along a block."""
        f: Any = problem.f
        own, L = smoothness(f, problem.optimum.x, problem.blocks.sizes), self.along(problem)  # type: ignore[union-attr]
        for i in range(f.n):
            here = np.arange(f.n) == i
            less = np.where(here, min(0 * problem.L, *f.mu) - WORSE, f.mu)
            for mu, j in ((less, None), *((f.mu, j) for j in range(len(L)))):
                along = own.copy()
                if j is not None:
                    along[i, j] = L[j] * (1 + WORSE)
                changed = only_declared(f, mu, f.L, block_smoothness=along)
                yield f"less {'convex' if j is None else 'smooth'} functions", replace(problem, f=changed), params


@sampler.register(BlockSmoothConvex)
class BlockSmoothSampler(Sampler):
    r"""Sums over coordinates of functions with one or two slopes, and functions a'(x - x*) squared, which couple all
    coordinates.

    A recipe says them relative to the constants of the class: ``h`` and ``h_above`` are shares of the L_j, and
    ``toward`` is a relative to their roots. ``times``: what each is multiplied by, 1 for members.
    """

    relative = True

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        b = len(self.of.L)
        d = max(b, min(d, b + 2))
        sizes = _split(rng, d, b)
        sort = pick(rng, ("coupled", "coupled", "separable", "kinks"))

        def client() -> Recipe:
            one: dict[str, Any] = {"times": Fraction(1), "y": small(rng, d)}
            if sort == "coupled":
                return {**one, "toward": tuple(v for size in sizes for v in _direction(rng, size))}
            one["h"] = tuple(pick(rng, _SHARES) for _ in range(d))
            if sort == "kinks":
                one |= {"h_above": tuple(pick(rng, _SHARES) for _ in range(d)), "kink": small(rng, d)}
            return one

        L = {str(letter): members.scale(rng) * pick(rng, (1, 1, 4, 9, Fraction(1, 4))) for letter in self.of.L}
        clients = tuple(client() for _ in range(n))
        return {"d": d, "blocks": sizes, "x": small(rng, d), "clients": clients, **L}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(0, the sum of the L_j) for the L_j of a recipe; ``ValueError`` unless these are positive."""
        L = self._constants(recipe)
        check_shape(recipe["d"], *L)
        return number(0, exact), number(sum(L), exact)

    def blocks(self, recipe: Recipe, exact: bool) -> Blocks:
        """The blocks of a recipe; ``ValueError`` unless they are of all coordinates."""
        sizes = recipe["blocks"]
        if sum(sizes) != recipe["d"]:
            raise ValueError(f"blocks of {sizes} coordinates are not of {recipe['d']} coordinates")
        return Blocks(tuple(sizes), tuple(number(L, exact) for L in self._constants(recipe)))

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` with gradients ``y (..., n, d)`` at ``x (..., d)``; ``ValueError`` where only some
        are coupled."""
        clients = self.clients_of(recipe)
        vectors = [c["a"] for c in clients if "a" in c]
        if not vectors:
            return members.curved(clients, x, y, exact)
        if len(vectors) < len(clients):
            raise ValueError("all functions are coupled, or none is")
        return _squares(vectors, x, y, exact)

    def clients_of(self, recipe: Recipe) -> tuple[Recipe, ...]:
        """The clients with what they are, rather than with shares of the constants of the class."""
        sizes = self.blocks(recipe, True).sizes
        of_each = [L for size, L in zip(sizes, self._constants(recipe), strict=True) for _ in range(size)]

        def client(given: Recipe) -> Recipe:
            times, kept = given["times"], {k: v for k, v in given.items() if k not in ("times", "toward")}
            if "toward" in given:
                # A root that is irrational is a little too small.
                return {**kept, "a": tuple(v * _root(times * L) for v, L in zip(given["toward"], of_each, strict=True))}
            slopes = {k: given[k] for k in members.SLOPES if k in given}
            return {
                **kept,
                **{k: tuple(times * v * L for v, L in zip(h, of_each, strict=True)) for k, h in slopes.items()},
            }

        return tuple(map(client, recipe["clients"]))

    def _constants(self, recipe: Recipe) -> list[Fraction]:
        return [recipe[str(letter)] for letter in self.of.L]


def _split(rng: np.random.Generator, d: int, b: int) -> tuple[int, ...]:
    """Sizes of b blocks of d coordinates."""
    cuts = sorted(int(v) for v in rng.choice(np.arange(1, d), size=b - 1, replace=False)) if b > 1 else []
    return tuple(end - start for start, end in zip((0, *cuts), (*cuts, d), strict=True))


def _direction(rng: np.random.Generator, size: int) -> tuple[Fraction, ...]:
    """A vector of length 1 at most, in small rationals."""
    unit = pick(rng, _UNIT[2]) if size == 2 else (Fraction(1), *(Fraction(0),) * (size - 1))
    weight = pick(rng, _WEIGHTS)
    return tuple(weight * v for v in unit)


def _root(of: Fraction) -> Fraction:
    """The root of a positive number, or a rational just below it."""
    if of <= 0:
        raise ValueError("functions are multiplied by positive numbers")
    size = of.numerator * of.denominator
    if math.isqrt(size) ** 2 == size:
        return Fraction(math.isqrt(size), of.denominator)
    return Fraction(math.isqrt(size * _ROOT**2), of.denominator * _ROOT)


def _squares(vectors: Sequence[tuple[Fraction, ...]], x: Array, y: Array, exactly: bool) -> Functions:
    """Half the squares of a_i'(z - x), plus what is linear."""
    lengths = [sum(v * v for v in a) for a in vectors]
    bend = max(*lengths, Fraction(0)) or Fraction(1)
    a, size = numbers(vectors, exactly), numbers(lengths, exactly)
    lift = number(bend, exactly)
    d = a.shape[-1]
    one = exact(np.eye(d, dtype=int)) if exactly else np.eye(d)
    # Singular Hessians are regular ones less a multiple of the identity.
    H = lift * one + a[:, :, None] * a[:, None, :]
    spectra = np.repeat(0 * size[:, None] + lift, d, axis=-1)
    spectra[:, -1] = lift + size
    return less_parabola(Turned(H, x[..., None, :] - apply(inverse(H), y), spectra=spectra), x, lift)
