"""Exchangeable clients: a worst case whose size does not grow with their number.

When a program does not change as the clients are permuted, its Gram matrix can be averaged over all permutations, and
splits into two blocks: the clients' means (the trivial representation, with the vectors that all clients share) and
their deviations from the mean (the standard representation, of which one copy is enough). A vector of each client,
a_i = mean + deviation, is then a sum of two rows, and (1/n) sum_i <a_i, b_i> is the plain product of two such sums,
because rows of different blocks are orthogonal. :class:`Explicit` keeps all n clients and serves as the oracle.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from verify.pep.gram import ZERO, Form, Number, Sample, Vector, interpolate, quadratic_sample, row, value
from verify.pep.programs import Constraint

#: A vector of each client, or one that all share; a scalar of each client, or one.
Vectors = Any
Scalars = Any


class Clients(Protocol):
    """n clients, and what a model may say of them. All sums over clients are averages."""

    @property
    def n(self) -> Number:
        """How many: a number, or a symbol."""

    def vector(self, name: str, stream: str = "state") -> Vectors:
        """A vector of each client; vectors of different streams are uncorrelated."""

    def centred(self, name: str) -> Vectors:
        """A vector of each client, with sum zero over the clients."""

    def shared(self, name: str) -> Vector:
        """One vector known to all."""

    def value(self, name: str) -> Scalars:
        """A number of each client."""

    def mean(self, vectors: Vectors) -> Vector:
        """(1/n) sum_i a_i."""

    def average(self, scalars: Scalars) -> Form:
        """(1/n) sum_i s_i."""

    def each(self, name: str, scalars: Scalars) -> list[Constraint]:
        """The constraints s_i <= 0."""

    def interpolate(self, name: str, samples: Iterable[Sample], mu: Number, L: Number) -> list[Constraint]:
        """The samples of each client are those of one function of the class."""


@dataclass(frozen=True)
class Explicit:
    """Every client has its own rows: object arrays of length ``n``."""

    n: int

    def vector(self, name: str, stream: str = "state") -> Vectors:
        """A row for each client: ``(n,)``."""
        return np.array([row(f"{name}_{i}", stream) for i in range(self.n)], dtype=object)

    def centred(self, name: str) -> Vectors:
        """A row for each client but the last, whose vector is minus the sum of the others: ``(n,)``."""
        free = self.vector(name)[:-1]
        return np.append(free, [-sum(free, ZERO)])

    def shared(self, name: str) -> Vector:
        """One row."""
        return row(name)

    def value(self, name: str) -> Scalars:
        """A value for each client: ``(n,)``."""
        return np.array([value(f"{name}_{i}") for i in range(self.n)], dtype=object)

    def mean(self, vectors: Vectors) -> Vector:
        """(1/n) sum_i a_i."""
        return self._spread(vectors).sum() / self.n

    def average(self, scalars: Scalars) -> Form:
        """(1/n) sum_i s_i."""
        return self._spread(scalars).sum() / self.n

    def each(self, name: str, scalars: Scalars) -> list[Constraint]:
        """A constraint s_i <= 0 for each client."""
        return [Constraint(f"{name}_{i}", s) for i, s in enumerate(self._spread(scalars))]

    def interpolate(self, name: str, samples: Iterable[Sample], mu: Number, L: Number) -> list[Constraint]:
        """The conditions of interpolation for each client."""
        columns = [[self._spread(part) for part in sample] for sample in samples]
        clients = ([Sample(*(part[i] for part in column)) for column in columns] for i in range(self.n))
        found = (interpolate(f"{name}_{i}", of_client, mu, L) for i, of_client in enumerate(clients))
        return [Constraint(*constraint) for constraints in found for constraint in constraints]

    def _spread(self, a: Any) -> Any:
        out = np.empty(self.n, dtype=object)
        out[:] = a
        return out


@dataclass(frozen=True)
class Exchangeable:
    """One row for the mean and one for the deviation of each vector; ``n`` is a number of clients or a symbol.

    With a single client (``n = 1``) there are no deviations.
    """

    n: Number

    def vector(self, name: str, stream: str = "state") -> Vectors:
        """A row for the mean and one for the deviation."""
        mean = row(name, f"{stream} mean")
        return mean if self.n == 1 else mean + row(name, f"{stream} deviation")

    def centred(self, name: str) -> Vectors:
        """A row for the deviation; zero for a single client."""
        return ZERO if self.n == 1 else row(name, "state deviation")

    def shared(self, name: str) -> Vector:
        """A row without deviation."""
        return row(name, "state mean")

    def value(self, name: str) -> Scalars:
        """One value, the average."""
        return value(name)

    def mean(self, vectors: Vectors) -> Vector:
        """The part of the vector that is its mean."""
        return Vector({r: c for r, c in vectors.coefficients.items() if r.block.endswith(" mean")})

    def average(self, scalars: Scalars) -> Form:
        """The value itself, which is the average."""
        return scalars

    def each(self, name: str, scalars: Scalars) -> list[Constraint]:
        """One constraint, the average of those of the clients."""
        return [Constraint(name, scalars)]

    def interpolate(self, name: str, samples: Iterable[Sample], mu: Number, L: Number) -> list[Constraint]:
        """The conditions of interpolation, averaged over the clients."""
        return [Constraint(*constraint) for constraint in interpolate(name, samples, mu, L)]


#: The minimiser of a function from which its tangent there is subtracted: point, gradient and value are zero.
OPTIMUM = Sample(ZERO, ZERO, Form({}, {}, Fraction(0)))


def sample(clients: Clients, name: str, point: Vectors, mu: Number, L: Number) -> Sample:
    """Gradients and values at ``point`` of one function a client, each with its tangent at the optimum subtracted.

    ``name``: as in :mod:`verify.pep.functions`, the function and the number of the point, so that both can be compared.
    Subtracting a linear function keeps the class; what the methods do is the same, as their models below make plain.
    """
    if mu == L:
        return quadratic_sample(point, L)
    return Sample(point, clients.vector(f"grad {name}"), clients.value(name))


def shared_sample(clients: Clients, name: str, point: Vector, mu: Number, L: Number) -> Sample:
    """The same for one function that all clients share."""
    if mu == L:
        return quadratic_sample(point, L)
    return Sample(point, clients.shared(f"grad {name}"), value(name))
