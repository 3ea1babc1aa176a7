"""Classes of compressors, of stochastic gradients and of inexact oracles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from fedtheory.classes.delays import Delays
from fedtheory.classes.mixing import MixingMatrix
from fedtheory.problems.base import ParamsFunction, Problem


@dataclass(frozen=True)
class UnbiasedCompressors:
    """Compressors C_1, ..., C_n in U(omega): unbiased, E|C(x) - x|^2 <= omega |x|^2; in a field of ``Params``.

    Args:
        field: The parameter of the method that holds the compressors.
        average: True if the theorem mentions omega_av.
        independent: True if the compressors of different clients must be independent.

    Examples:
        >>> import fedtheory as ft
        >>> ft.UnbiasedCompressors(independent=True).text
        'independent compressors in U(omega)'
    """

    field: str = "compressors"
    average: bool = False
    independent: bool = False

    #: The letters that stand for a constant of the compressors.
    letters: ClassVar[tuple[str, ...]] = ("omega", "joint")

    @property
    def text(self) -> str:
        """The class, in words."""
        return "independent compressors in U(omega)" if self.independent else "compressors in U(omega)"

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the compressors of an instance belong to the class that the method assumes."""
        used = getattr(params, self.field)
        declared = getattr(params, "omega", used.omega)
        return used.omega <= declared and (not self.independent or self.mutually_independent(problem, params))

    def mutually_independent(self, problem: Problem, params: object) -> bool:
        """Return True if the compressors of different clients are independent."""
        return getattr(params, self.field).joint == "independent"


@dataclass(frozen=True)
class ContractiveCompressors:
    """One compressor for every client with E|C(x) - x|^2 <= (1 - alpha) |x|^2, biased or not; a field of ``Params``.

    Args:
        field: The parameter of the method that holds the compressor.

    Examples:
        >>> import fedtheory as ft
        >>> ft.ContractiveCompressors().text
        'compressors that contract by 1 - alpha'
    """

    field: str = "compressor"

    #: The letters that stand for a constant of the compressors.
    letters: ClassVar[tuple[str, ...]] = ("alpha",)

    @property
    def text(self) -> str:
        """The class, in words."""
        return "compressors that contract by 1 - alpha"

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the compressor of an instance contracts with the alpha given to the method."""
        used = getattr(params, self.field)
        return 0 < getattr(params, "alpha", used.alpha) <= used.alpha


@dataclass(frozen=True)
class NoisyGradients:
    """Noise added to the clients' gradients, of mean zero and of variance at most sigma^2 at every point, or at most
    sigma^2/b for the mean of a minibatch of b; in a field of ``Params``, beside the fields ``sigma`` and b.

    ``params.noise.apply(draw, problem.f.gradient(x))`` are stochastic gradients at x. Two vectors with the same draw
    are evaluated on the same sample; nothing is assumed of the correlation of their noise. ``batch``: the name of b,
    where there is one. ``independent``: True if the noise of different clients must be independent.

    Args:
        field: The parameter of the method that holds the noise.
        independent: True if the noise of different clients must be independent.
        batch: The name of the parameter b, the size of the minibatches, "" if there is none.

    Examples:
        >>> import fedtheory as ft
        >>> ft.NoisyGradients(batch="b").text
        'noise of variance at most sigma^2/b'
    """

    field: str = "noise"
    independent: bool = False
    batch: str = ""

    #: The letters that stand for a constant of the noise.
    letters: ClassVar[tuple[str, ...]] = ("sigma",)

    @property
    def text(self) -> str:
        """The class, in words."""
        bound = f"sigma^2/{self.batch}" if self.batch else "sigma^2"
        return f"{'independent ' if self.independent else ''}noise of variance at most {bound}"

    def variance(self, params: Any) -> Any:
        """The variance that is allowed."""
        return params.sigma**2 / (getattr(params, self.batch) if self.batch else 1)

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the noise of an instance is as small, and as independent, as the method assumes."""
        used = getattr(params, self.field)
        small = used.variance <= self.variance(params)
        return bool(small and (not self.independent or self.mutually_independent(problem, params)))

    def mutually_independent(self, problem: Problem, params: object) -> bool:
        """Return True if the noise of different clients is independent."""
        return getattr(params, self.field).joint == "independent"


@dataclass(frozen=True)
class BoundedNoise:
    """Noise of mean zero whose variance the step itself bounds; in a field of ``Params``.

    ``params.noise.apply(draw, v, bound)`` are vectors v + e with E e = 0 and E|e|^2 <= ``bound``, for ``v (..., n, d)``
    and a number, or one for each client ``(..., n)``: such as 2A (f(x) - f*) + B |grad f(x)|^2 + C of the ABC
    condition. Nothing is assumed of the correlation of the noise of two vectors with the same draw. A negative bound
    allows no noise, so proofs ask that it is seen not to be: made of squares and nonnegative numbers by + * and /.

    Args:
        field: The parameter of the method that adds the noise.
        independent: True if the noise of different clients is independent.

    Examples:
        >>> import fedtheory as ft
        >>> ft.BoundedNoise().text
        'noise of variances within the bounds of the step'
    """

    field: str = "noise"
    independent: bool = False

    letters: ClassVar[tuple[str, ...]] = ()

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"{'independent ' if self.independent else ''}noise of variances within the bounds of the step"

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the noise of an instance is as small as the step says, and as independent."""
        small = abs(getattr(params, self.field).share) <= 1
        return bool(small and (not self.independent or self.mutually_independent(problem, params)))

    def mutually_independent(self, problem: Problem, params: object) -> bool:
        """Return True if the noise of different clients is independent."""
        return getattr(params, self.field).joint == "independent"


@dataclass(frozen=True)
class InexactOracles:
    """Oracles of grad f_i^*, each ``delta(problem, params)``-inexact (FedDCD, Definition 5.1); in a field of
    ``Params``."""

    delta: ParamsFunction
    field: str = "oracle"

    letters: ClassVar[tuple[str, ...]] = ()

    @property
    def text(self) -> str:
        """The class, in words."""
        return "delta-inexact oracles"

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the oracle of an instance is as accurate as the class requires."""
        return bool(getattr(params, self.field).delta <= self.delta(problem, params))


@dataclass(frozen=True)
class Adversary:
    """An adversary that answers in a step with any vector near enough to another; in a field of ``Params``.

    ``params.adversary.answer(centre, bound)`` is any vector r with |r - centre|^2 <= ``bound``, or any of each client
    where ``centre`` is one of each: of what it is asked twice it may say two things. It knows the state, functions and
    letters, but not what else the step draws. ``bound``: a number, or one for each vector; where it is negative no
    answer exists, so proofs require that it is visibly nonnegative: made of squares and nonnegative numbers by +, * and
    /.

    ``answer(centre, bound, within=((c, b), ...), along=((v, s), ...), feasible=w)``: r is in the other balls too,
    |r - c|^2 <= b, and <r, v> >= s. The vector ``w``, by default the centre, is to meet all of these, so that there is
    an answer.

    Args:
        field: The parameter of the method that gives the answers.

    Examples:
        >>> import fedtheory as ft
        >>> ft.Adversary().text
        'any answers of params.adversary within the bounds of the step'
    """

    field: str = "adversary"

    letters: ClassVar[tuple[str, ...]] = ()

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"any answers of params.{self.field} within the bounds of the step"

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the answers of an instance are as near as the step says."""
        return bool(abs(getattr(params, self.field).share) <= 1)


#: Everything that a method meets besides functions.
Met = (
    UnbiasedCompressors
    | ContractiveCompressors
    | NoisyGradients
    | BoundedNoise
    | InexactOracles
    | Adversary
    | Delays
    | MixingMatrix
)
