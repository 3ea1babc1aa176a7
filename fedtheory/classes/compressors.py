"""Classes of compressors and of inexact oracles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb, log
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from fedtheory import compressors
from fedtheory.classes.base import WORSE, Outside
from fedtheory.compressors import Family as Compressors
from fedtheory.compressors import contractive
from fedtheory.instances.base import Recipe, generic, number, pick
from fedtheory.numbers.rational import square_root
from fedtheory.problems.base import Problem

#: Joint outcomes of independent compressors that are enumerated for ``FEW`` clients, and for more.
SOME, MANY, FEW = 17, 65, 4
#: Dimensions from which compressors are drawn for the dimension that is asked for.
LARGE = 4


@dataclass(frozen=True)
class UnbiasedCompressors:
    """Compressors C_1, ..., C_n in U(omega): unbiased, E|C(x) - x|^2 <= omega |x|^2; in a field of ``Params``.

    ``independent``: whether those of different clients must be. ``average``: whether the theorem
    speaks of the joint constant omega_av; without it compressors are told apart by whether they are independent.
    ``only``: options for (k, d, omega): rand-k, or Bernoulli's compressor where k = 0; any if there are none.
    """

    field: str = "compressors"
    average: bool = False
    only: tuple[tuple[int, int, Fraction], ...] = ()
    independent: bool = False

    #: The letters that stand for a constant of the compressors.
    letters: ClassVar[tuple[str, ...]] = ("omega", "joint")

    @property
    def text(self) -> str:
        """The class, in words."""
        return "independent compressors in U(omega)" if self.independent else "compressors in U(omega)"

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the compressors of an instance are of the class that the method is told of."""
        used = getattr(params, self.field)
        told = getattr(params, "omega", used.omega)
        return used.omega <= told and (not self.independent or self.mutually_independent(problem, params))

    def mutually_independent(self, problem: Problem, params: Any) -> bool:
        """Whether the compressors of different clients are independent."""
        independent: bool = getattr(params, self.field).joint == "independent"
        return independent

    def draw(self, rng: np.random.Generator, d: int) -> tuple[int, Recipe]:
        """A dimension, ``d`` if that is large, and a compressor: mostly Bernoulli's, the extreme point of U(omega)."""
        k, few = pick(rng, ((0, 1),) * 6 + ((0, 2), (1, 2), (1, 3), (2, 3)))
        k, d = (k, few) if d < LARGE else (int(pick(rng, (0, 0, 1, d - 1))), d)
        joint = pick(
            rng, ("independent", "independent", "shared") if self.average else ("independent",) * 5 + ("shared",)
        )
        omega = (
            Fraction(d, k) - 1 if k else pick(rng, (Fraction(0), *(generic(rng, Fraction(1, 8), Fraction(10)),) * 4))
        )
        if self.only:
            k, d, omega = pick(rng, self.only)
        return d, {"k": k, "omega": omega, "joint": joint}

    def clients(self, recipe: Recipe, n: int) -> int:
        """A number of clients whose draws can be enumerated."""
        if recipe["joint"] != "independent" or recipe["omega"] == 0:
            return n
        outcomes = comb(recipe["d"], recipe["k"]) if recipe["k"] else 2
        return min(n, int(log(MANY if n > FEW else SOME, outcomes)))

    def build(self, recipe: Recipe, n: int, exact: bool) -> Compressors:
        """The n compressors of a recipe; ``ValueError`` where the setting has no such one."""
        d, k = recipe["d"], recipe["k"]
        if self.only and (k, d, recipe["omega"]) not in self.only:
            raise ValueError("the setting has no such compressor")
        one = compressors.rand_k(d, k) if k else compressors.bernoulli(d, number(recipe["omega"], exact))
        return Compressors(one, n, recipe["joint"])

    def outside(self, problem: Problem, params: Any, known: Any) -> Outside:
        """Instances whose compressors are a little noisier than the class allows, or than those ``known``."""
        family = getattr(params, self.field)
        omega = max(family.omega, getattr(known, self.field).omega) + WORSE
        noisier: Any = replace(family, compressor=replace(family.compressor, omega=omega))
        yield "noisier compressors", problem, params._replace(**{self.field: noisier})
        # With errors of other dependence the joint constant may be the same.
        same = {"n": family.n, "joint": family.joint, "omega_av": family.omega_av}
        other: Any = SimpleNamespace(compressor=noisier.compressor, omega=omega, **same)
        yield "noisier compressors", problem, params._replace(**{self.field: other})
        dependent = replace(family, joint="shared")
        if dependent.omega_av > getattr(known, self.field).omega_av:
            yield "dependent compressors", problem, params._replace(**{self.field: dependent})


#: (d, k, alpha): top-k, or a scaled Bernoulli compressor where k = 0. 1 - alpha is a square: theta is then rational.
_CONTRACTIONS = (
    *((1, 0, Fraction(a)) for a in (1, "3/4", "3/4", "5/9", "5/9", "19/100", "19/100")),
    (2, 0, Fraction(5, 9)),
    (2, 1, Fraction(7, 16)),
    (2, 1, Fraction(3, 4)),
    (3, 2, Fraction(5, 9)),
)


@dataclass(frozen=True)
class ContractiveCompressors:
    """One compressor for every client with E|C(x) - x|^2 <= (1 - alpha) |x|^2, biased or not; a field of ``Params``."""

    field: str = "compressor"

    #: The letters that stand for a constant of the compressors.
    letters: ClassVar[tuple[str, ...]] = ("alpha",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return "compressors that contract by 1 - alpha"

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the compressor of an instance contracts as the method is told."""
        used = getattr(params, self.field)
        return 0 < getattr(params, "alpha", used.alpha) <= used.alpha

    def draw(self, rng: np.random.Generator, d: int) -> tuple[int, Recipe]:
        """A dimension, ``d`` if that is large, and a compressor: top-k, or a scaled one where k is 0."""
        few, k, alpha = pick(rng, _CONTRACTIONS)
        return (few, {"k": k, "alpha": alpha}) if d < LARGE else (d, {"k": 0, "alpha": alpha})

    def clients(self, recipe: Recipe, n: int) -> int:
        """A number of clients, at most n, whose draws can be enumerated."""
        if recipe["alpha"] == 1 or (recipe["k"] and n > FEW):
            return n
        return min(n, 2 if recipe["k"] else int(log(MANY if n > FEW else SOME / 2, 2)))

    def build(self, recipe: Recipe, n: int, exact: bool) -> contractive.Contractive:
        """The compressor of a recipe; ``ValueError`` unless 1 - alpha is the square of a rational."""
        d, k, alpha = recipe["d"], recipe["k"], number(recipe["alpha"], exact)
        if alpha > 1 or not isinstance(square_root(1 - Fraction(recipe["alpha"])), Fraction):
            raise ValueError("1 - alpha must be the square of a rational")
        return contractive.top_k(d, k) if k else contractive.scaled(compressors.bernoulli(d, 1 / alpha - 1))

    def outside(self, problem: Problem, params: Any, known: Any) -> Outside:
        """The instance with compressors whose alpha is just below what the class asks for."""
        one = getattr(params, self.field)
        alpha = min(one.alpha, getattr(known, self.field).alpha) * (1 - WORSE)
        yield "weaker compressors", problem, params._replace(**{self.field: replace(one, alpha=alpha)})


@dataclass(frozen=True)
class InexactOracles:
    """Oracles of grad f_i^*, each ``delta(problem, params)``-inexact (FedDCD, Definition 5.1); in a field of
    ``Params``."""

    delta: Callable[[Problem, Any], Any]
    field: str = "oracle"

    letters: ClassVar[tuple[str, ...]] = ()

    @property
    def text(self) -> str:
        """The class, in words."""
        return "delta-inexact oracles"

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the oracle of an instance is as exact as the class asks."""
        return bool(getattr(params, self.field).delta <= self.delta(problem, params))

    def outside(self, problem: Problem, params: Any, known: Any) -> Outside:
        """The instance with oracles whose delta is just above what the class allows."""
        wrong = replace(getattr(known, self.field), delta=getattr(known, self.field).delta + WORSE)
        yield "worse oracles", problem, params._replace(**{self.field: wrong})


#: Whatever a method meets beside functions.
Adversary = UnbiasedCompressors | ContractiveCompressors | InexactOracles
