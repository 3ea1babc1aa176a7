"""Classes of compressors and of inexact oracles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar

from fedtheory.classes.base import WORSE, Outside
from fedtheory.problems.base import Problem


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
