"""Samplers of classes of compressors: recipes of extreme members, and the compressors that these describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb, log

import numpy as np

from fedtheory import compressors
from fedtheory.classes import (
    Adversary,
    BoundedNoise,
    ContractiveCompressors,
    Delays,
    InexactOracles,
    Met,
    MixingMatrix,
    NoisyGradients,
    UnbiasedCompressors,
)
from fedtheory.compressors import Family as Compressors
from fedtheory.compressors import contractive
from fedtheory.compressors.turned import turned
from fedtheory.instances import Recipe, generic, number, numbers, pick
from fedtheory.numbers.rational import Array, square_root
from fedtheory.problems.hostile import Hostile
from fedtheory.problems.mixing import GRAPHS, Mixing, of_graph
from fedtheory.problems.noise import Noise, NoiseWithin
from fedtheory.sampling.delays import DelaysSampler
from fedtheory.sampling.field_sampler import FieldSampler
from fedtheory.settings import Setting

# Sampler of stochastic gradients: recipes of noise, and the noise that these describe.

#: Coins of all clients together that are enumerated at most.
_COINS = 6
#: Directions of answers, of all clients or of each: ``(K, m, d)``.
Directions = tuple[tuple[tuple[Fraction, ...], ...], ...]
#: A unit vector that is none of the axes, by its first coordinates.
_SLANTED = (Fraction(3, 5), Fraction(4, 5))


def _direction(d: int, slanted: bool, exact: bool) -> Array:
    """A unit vector, the first axis or none of the axes: ``(d,)``."""
    first = _SLANTED if slanted and d > 1 else (Fraction(1),)
    return numbers((*first, *(Fraction(0),) * (d - len(first))), exact)


@dataclass(frozen=True)
class NoiseSampler(FieldSampler[NoisyGradients]):
    """Noise of two values along a line, symmetric or not: as large as the class allows, or not."""

    def draw(self, rng: np.random.Generator, d: int) -> tuple[int, Recipe]:
        """A dimension, and noise of a size."""
        sigma = pick(rng, (Fraction(1), Fraction(1), generic(rng, Fraction(1, 20), Fraction(20))))
        recipe: Recipe = {
            "sigma": sigma,
            "skew": pick(rng, tuple(Fraction(v) for v in (1, 1, 1, 3, "1/3"))),
            "slanted": int(rng.integers(2)),
            "turning": int(pick(rng, (0, 0, 0, 1))),
            "dependence": pick(rng, ("independent",) * 3 + ("shared",)),
        }
        return d, {**recipe, **({self.of.batch: int(pick(rng, (1, 1, 2, 3)))} if self.of.batch else {})}

    def clients(self, recipe: Recipe, n: int) -> int:
        """A number of clients, at most n, whose coins can be enumerated."""
        return n if recipe["dependence"] == "shared" else max(1, min(n, _COINS // self._batch(recipe)))

    def at(self, values: Mapping[str, Fraction]) -> Recipe:
        """The noise at a grid's point."""
        batch = {self.of.batch: int(values[self.of.batch])} if self.of.batch else {}
        plain = {"skew": Fraction(1), "slanted": 0, "turning": 0, "dependence": "independent"}
        return {"sigma": values["sigma"], **plain, **batch}

    def build(self, recipe: Recipe, n: int, exact: bool) -> Noise:
        """The noise of a recipe. Raise ``ValueError`` unless it has a positive skew, a batch, and coins that are
        few.
        """
        d, batch = recipe["d"], self._batch(recipe)
        if recipe["skew"] <= 0 or batch < 1:
            raise ValueError("noise has a positive skew, and batches of at least 1")
        if batch * (n if recipe["dependence"] == "independent" else 1) > 4 * _COINS:
            raise ValueError("there are too many clients to enumerate their coins")
        direction = _direction(d, bool(recipe["slanted"]), exact)
        sigma, skew = number(recipe["sigma"], exact), number(recipe["skew"], exact)
        return Noise(n, sigma, direction, batch, skew, recipe["dependence"], bool(recipe["turning"]))

    def _batch(self, recipe: Recipe) -> int:
        return int(recipe[self.of.batch]) if self.of.batch else 1


@dataclass(frozen=True)
class BoundedNoiseSampler(FieldSampler[BoundedNoise]):
    """Noise of two values along a line, symmetric or not: as large as the step allows, or not."""

    @property
    def entries(self) -> tuple[str, ...]:
        """The entries of a recipe: its share of the size, its skew and direction, whether it turns, how it is drawn."""
        return tuple(f"{self.field}_{part}" for part in ("share", "skew", "slanted", "turning", "dependence"))

    def draw(self, rng: np.random.Generator, d: int) -> tuple[int, Recipe]:
        """The dimension, and noise of a size."""
        share = pick(rng, (Fraction(1),) * 6 + (generic(rng, Fraction(1, 8), Fraction(1)), Fraction(0)))
        skew = pick(rng, tuple(Fraction(v) for v in (1, 1, 1, 3, "1/3")))
        slanted, turning = int(rng.integers(2)), int(pick(rng, (0, 0, 0, 1)))
        dependence = pick(rng, ("independent",) * 3 + ("shared",))
        return d, dict(zip(self.entries, (share, skew, slanted, turning, dependence), strict=True))

    def clients(self, recipe: Recipe, n: int) -> int:
        """A number of clients, at most n, whose coins can be enumerated."""
        return n if recipe[self.entries[-1]] == "shared" else min(n, _COINS)

    def at(self, values: Mapping[str, Fraction]) -> Recipe:
        """The noise at a grid's point."""
        return dict(zip(self.entries, (Fraction(1), Fraction(1), 0, 0, "independent"), strict=True))

    def build(self, recipe: Recipe, n: int, exact: bool) -> NoiseWithin:
        """The noise of a recipe. Raise ``ValueError`` unless it has a positive skew, and coins that are few."""
        share, skew, slanted, turning, dependence = (recipe[entry] for entry in self.entries)
        if skew <= 0:
            raise ValueError("noise has a positive skew")
        if dependence == "independent" and n > 4 * _COINS:
            raise ValueError("there are too many clients to enumerate their coins")
        direction = _direction(recipe["d"], bool(slanted), exact)
        return NoiseWithin(n, number(share, exact), direction, number(skew, exact), dependence, bool(turning))


@dataclass(frozen=True)
class HostileSampler(FieldSampler[Adversary]):
    """Answers of an adversary: as far as they may be, or not, along a line or along what it is asked."""

    @property
    def entries(self) -> tuple[str, str, str, str]:
        """The entries of a recipe for its share of the distance, its direction, and whether it turns; and, where there
        is one, for a direction of each answer and client."""
        return f"{self.field}_share", f"{self.field}_along", f"{self.field}_turns", f"{self.field}_directions"

    def draw(self, rng: np.random.Generator, d: int) -> tuple[int, Recipe]:
        """The dimension, and a share of the distance with a direction: an axis, a slanted one, or the centre's."""
        size = pick(rng, (Fraction(1),) * 6 + (generic(rng, Fraction(1, 8), Fraction(1)), Fraction(0)))
        sign, along, turns = pick(rng, (1, -1)), int(pick(rng, (0, 1, 2, 2))), int(pick(rng, (0, 0, 1)))
        return d, dict(zip(self.entries[:-1], (sign * size, along, turns), strict=True))

    def at(self, values: Mapping[str, Fraction]) -> Recipe:
        """The adversary at a grid's point."""
        return dict(zip(self.entries[:-1], (Fraction(-1), 2, 0), strict=True))

    def along(self, recipe: Recipe, directions: Directions) -> Recipe:
        """The recipe with an adversary that goes as far as it may, in these directions."""
        return {**recipe, **dict(zip(self.entries, (Fraction(1), 0, 0, directions), strict=True))}

    def build(self, recipe: Recipe, n: int, exact: bool) -> Hostile:
        """The adversary of a recipe."""
        share, along, turns = (recipe[entry] for entry in self.entries[:-1])
        if along not in (0, 1, 2):
            raise ValueError("an adversary answers along an axis, a slanted one, or the centre: 0, 1 or 2")
        direction = _direction(recipe["d"], along == 1, exact)
        given = recipe.get(self.entries[-1])
        directions = None if given is None else numbers(_directions(given, recipe["d"], n), exact)
        return Hostile(number(share, exact), direction, along == 2, bool(turns), directions)


def _directions(given: Directions, d: int, n: int) -> list[list[tuple[Fraction, ...]]]:
    """Directions of each answer and client, or of all clients; ``ValueError`` if one is longer than 1, or
    has other coordinates."""
    sizes = {len(answer) for answer in given}
    if len(sizes) != 1 or not sizes <= {1, n}:
        raise ValueError("each answer of an adversary has a direction for all clients, or one for each")
    if any(len(u) != d or sum(v * v for v in u) > 1 for answer in given for u in answer):
        raise ValueError(f"a direction of an adversary is a vector of {d} coordinates, of length at most 1")
    return [list(answer) for answer in given]


@dataclass(frozen=True)
class MixingSampler(FieldSampler[MixingMatrix]):
    """Matrices of graphs whose spectral gap is a fraction, and is what the letter says."""

    @property
    def entries(self) -> tuple[str]:
        """The entry of a recipe for the graph."""
        return (f"{self.field}_graph",)

    def draw(self, rng: np.random.Generator, d: int) -> tuple[int, Recipe]:
        """The dimension, a graph and a gap."""
        delta = pick(rng, tuple(Fraction(v) for v in ("1/2", "1/3", "1/4", "2/3", "1/10", 1)))
        delta = pick(rng, (delta, delta, generic(rng, Fraction(1, 50), Fraction(1))))
        return d, {self.of.gap: delta, self.entries[0]: int(rng.integers(len(GRAPHS)))}

    def at(self, values: Mapping[str, Fraction]) -> Recipe:
        """The complete graph with a grid's gap."""
        return {self.of.gap: values[self.of.gap], self.entries[0]: 0}

    def build(self, recipe: Recipe, n: int, exact: bool) -> Mixing:
        """The matrix of a recipe, in fractions. Raise ``ValueError`` unless the gap is between 0 and 1."""
        delta = Fraction(recipe[self.of.gap])
        if not 0 < delta <= 1 or recipe[self.entries[0]] not in range(len(GRAPHS)):
            raise ValueError("a spectral gap is positive and at most 1, and graphs have numbers")
        return of_graph(GRAPHS[recipe[self.entries[0]]], n, delta)


#: Joint outcomes of independent compressors that are enumerated for ``FEW`` clients.
SOME = 17
#: Joint outcomes that are enumerated for more clients.
MANY = 65
#: The largest number of clients that counts as small.
FEW = 4
#: Dimensions from which compressors are drawn for the dimension that is asked for.
LARGE = 4
#: (d, k, alpha): top-k, or a scaled Bernoulli compressor where k = 0. 1 - alpha is a square: theta is then rational.
_CONTRACTIONS = (
    *((1, 0, Fraction(a)) for a in (1, "3/4", "3/4", "5/9", "5/9", "19/100", "19/100")),
    (2, 0, Fraction(5, 9)),
    (2, 1, Fraction(7, 16)),
    (2, 1, Fraction(3, 4)),
    (3, 2, Fraction(5, 9)),
)


@dataclass(frozen=True)
class UnbiasedSampler(FieldSampler[UnbiasedCompressors]):
    """Compressors in U(omega), independent or shared."""

    #: Options for (k, d, omega), any if there are none.
    only: tuple[tuple[int, int, Fraction], ...] = ()

    def draw(self, rng: np.random.Generator, d: int) -> tuple[int, Recipe]:
        """A dimension, ``d`` if that is large, and a compressor: mostly Bernoulli's, the extreme point of U(omega)."""
        k, few = pick(rng, ((0, 1),) * 6 + ((0, 2), (1, 2), (1, 3), (2, 3)))
        k, d = (k, few) if d < LARGE else (int(pick(rng, (0, 0, 1, d - 1))), d)
        joint = pick(
            rng, ("independent", "independent", "shared") if self.of.average else ("independent",) * 5 + ("shared",)
        )
        omega = (
            Fraction(d, k) - 1 if k else pick(rng, (Fraction(0), *(generic(rng, Fraction(1, 8), Fraction(10)),) * 4))
        )
        if self.only:
            k, d, omega = pick(rng, self.only)
        return d, {"k": k, "omega": omega, "joint": joint}

    def at(self, values: Mapping[str, Fraction]) -> Recipe:
        """Independent compressors at a grid's point."""
        return {"k": 0, "omega": values["omega"], "joint": "independent"}

    def clients(self, recipe: Recipe, n: int) -> int:
        """A number of clients whose draws can be enumerated."""
        if recipe["joint"] != "independent" or recipe["omega"] == 0:
            return n
        outcomes = comb(recipe["d"], recipe["k"]) if recipe["k"] else 2
        return min(n, int(log(MANY if n > FEW else SOME, outcomes)))

    def build(self, recipe: Recipe, n: int, exact: bool) -> Compressors:
        """The n compressors of a recipe. Raise ``ValueError`` if the setting has no such one."""
        d, k = recipe["d"], recipe["k"]
        if self.only and (k, d, recipe["omega"]) not in self.only:
            raise ValueError("the setting does not have this compressor")
        one = compressors.rand_k(d, k) if k else compressors.bernoulli(d, number(recipe["omega"], exact))
        return Compressors(turned(one) if recipe.get("turned") else one, n, recipe["joint"])


def _check_root(alpha: Fraction) -> None:
    """Raise ``ValueError``, with values that will do, unless 1 - alpha is the square of a rational."""
    if alpha <= 1 and isinstance(square_root(1 - alpha), Fraction):
        return
    # Those of short fractions, and that of 1 - alpha/2.
    known = sorted({1 - Fraction(k, m) ** 2 for m in range(1, 5) for k in range(m)} | {alpha - alpha**2 / 4})
    near = [str(v) for v in known if 0 < v < alpha][-1:] + [str(v) for v in known if v > alpha][:1]
    why = "1 - alpha must be the square of a rational, as its root is taken in fractions"
    raise ValueError(f"{why}: alpha = {alpha} will not do, but near it {' and '.join(near)} do")


@dataclass(frozen=True)
class ContractiveSampler(FieldSampler[ContractiveCompressors]):
    """Top-k and scaled Bernoulli compressors."""

    def draw(self, rng: np.random.Generator, d: int) -> tuple[int, Recipe]:
        """A dimension, ``d`` if that is large, and a compressor: top-k, or a scaled one where k is 0."""
        few, k, alpha = pick(rng, _CONTRACTIONS)
        return (few, {"k": k, "alpha": alpha}) if d < LARGE else (d, {"k": 0, "alpha": alpha})

    def at(self, values: Mapping[str, Fraction]) -> Recipe:
        """Scaled compressors at a grid's point."""
        _check_root(values["alpha"])
        return {"k": 0, "alpha": values["alpha"]}

    def clients(self, recipe: Recipe, n: int) -> int:
        """A number of clients, at most n, whose draws can be enumerated."""
        if recipe["alpha"] == 1 or (recipe["k"] and n > FEW):
            return n
        return min(n, 2 if recipe["k"] else int(log(MANY if n > FEW else SOME / 2, 2)))

    def build(self, recipe: Recipe, n: int, exact: bool) -> contractive.Contractive:
        """The compressor of a recipe. Raise ``ValueError`` unless 1 - alpha is the square of a rational."""
        d, k, alpha = recipe["d"], recipe["k"], number(recipe["alpha"], exact)
        _check_root(Fraction(recipe["alpha"]))
        plain = contractive.shrinking(d, alpha) if recipe.get("shrinking") else None
        one = plain or (contractive.top_k(d, k) if k else contractive.scaled(compressors.bernoulli(d, 1 / alpha - 1)))
        return turned(one) if recipe.get("turned") else one


def with_turned(setting: Setting, recipe: Recipe) -> Recipe | None:
    """The recipe with compressors whose errors are of opposite sign at some vectors.

    None where there are no compressors, where they make no errors, or where the setting lists those that there are.
    """
    classes = (UnbiasedCompressors, ContractiveCompressors)
    if setting.drawing.compressors or not any(isinstance(a, classes) for a in setting.adversaries):
        return None
    exact = recipe.get("omega", 1) == 0 or recipe.get("alpha", 0) == 1
    return None if exact else {**recipe, "turned": 1}


#: A sampler of what a method meets besides functions.
Sampled = (
    UnbiasedSampler
    | ContractiveSampler
    | NoiseSampler
    | BoundedNoiseSampler
    | HostileSampler
    | DelaysSampler
    | MixingSampler
)


def samplers(setting: Setting) -> tuple[Sampled, ...]:
    """The samplers of a setting's classes of compressors and of noise; oracles are made by its ``parameters``."""
    return tuple(_sampler(a, setting) for a in setting.adversaries if not isinstance(a, InexactOracles))


def _sampler(of: Met, setting: Setting) -> Sampled:
    if isinstance(of, MixingMatrix):
        return MixingSampler(of)
    if isinstance(of, NoisyGradients):
        return NoiseSampler(of)
    if isinstance(of, BoundedNoise):
        return BoundedNoiseSampler(of)
    if isinstance(of, Adversary):
        return HostileSampler(of)
    if isinstance(of, Delays):
        return DelaysSampler(of)
    if isinstance(of, UnbiasedCompressors):
        return UnbiasedSampler(of, setting.drawing.compressors)
    assert isinstance(of, ContractiveCompressors)
    return ContractiveSampler(of)
