"""Random directions, as methods draw them that see values of functions or derivatives along a direction only.

No sum over outcomes is an expectation over all directions. But polynomials in a direction have the same expectation
under a *design*: finitely many vectors with rational coordinates, whose moments are those of the direction up to an odd
order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from itertools import permutations, product
from operator import mul

import numpy as np

from fedtheory.numbers.rational import Array, exact, to_float
from fedtheory.randomness import Distribution, Independent, Product, Size, check_enumerable

#: The orders of designs, and the largest dimension that has some.
ORDERS = (5, 7)
LARGEST_DESIGN = 3


@dataclass(frozen=True)
class Gaussian:
    """A vector of d independent standard normal numbers: draws have shape ``(d,)``, E<u, v>u = v and E|u|^2 = d.

    Args:
        d: The dimension.

    Raises:
        ValueError: If d is not a whole number from 1 on.

    Examples:
        >>> import fedtheory as ft
        >>> import numpy as np
        >>> ft.Gaussian(3).sample(np.random.default_rng(0), size=(2,)).shape
        (2, 3)
    """

    d: int

    def __post_init__(self) -> None:
        _check_dimension(self.d)

    @property
    def count(self) -> int | None:
        """Number of outcomes in the support: None, as there are infinitely many."""
        return None

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        return rng.standard_normal((*size, self.d))

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """``ValueError``: there are infinitely many outcomes."""
        check_enumerable(None)
        raise AssertionError("unreachable")


@dataclass(frozen=True)
class Sphere:
    """A vector of length 1, uniformly distributed on the sphere: draws have shape ``(d,)``, and E<u, v>u = v/d.

    Args:
        d: The dimension.

    Raises:
        ValueError: If d is not a whole number from 1 on.

    Examples:
        >>> import fedtheory as ft
        >>> ft.Sphere(1).support()[0].tolist()
        [[1.0], [-1.0]]
    """

    d: int

    def __post_init__(self) -> None:
        _check_dimension(self.d)

    @property
    def count(self) -> int | None:
        """Number of outcomes in the support: on a line there are two."""
        return 2 if self.d == 1 else None

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        found = rng.standard_normal((*size, self.d))
        return found / np.sqrt((found**2).sum(axis=-1, keepdims=True))

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """Both outcomes on a line, and their probabilities: fractions where ``exact``. ``ValueError`` elsewhere."""
        check_enumerable(self.count)
        return _numbers([(1,), (-1,)], exact), _numbers([Fraction(1, 2)] * 2, exact)


@dataclass(frozen=True)
class Design:
    """Finitely many vectors ``(K, d)`` with their probabilities ``(K,)``, in fractions, in place of a direction."""

    points: Array
    probabilities: Array

    @property
    def count(self) -> int:
        """Number of vectors."""
        return len(self.points)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """``ValueError``: a design is not what a method draws."""
        raise ValueError("a design stands for a direction in expectations, and is not sampled")

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All vectors, and their probabilities: fractions where ``exact``."""
        return (self.points, self.probabilities) if exact else (to_float(self.points), to_float(self.probabilities))


def is_endless(distribution: Distribution) -> bool:
    """Return True if directions are drawn of which there are infinitely many, besides whatever else."""
    match distribution:
        case Product(_, parts):
            return any(map(is_endless, parts))
        case Independent(one, _):
            return is_endless(one)
        case Gaussian() | Sphere():
            return distribution.count is None
    return False


def replaced(distribution: Distribution, by: Callable[[Gaussian | Sphere], Distribution]) -> Distribution:
    """Return a distribution with others in place of the directions of which there are infinitely many."""
    match distribution:
        case Product(_, parts):
            return replace(distribution, parts=tuple(replaced(part, by) for part in parts))
        case Independent(one, _):
            return replace(distribution, one=replaced(one, by))
        case Gaussian() | Sphere():
            return by(distribution) if distribution.count is None else distribution
    return distribution


def with_designs(distribution: Distribution, order: int) -> Distribution:
    """Return a distribution with designs in place of directions: expectations of polynomials in all directions of a
    degree of at most ``order``, 5 or 7, are the same. Raise ``ValueError`` if none is known."""
    return replaced(distribution, partial(design, order=order))


def design(direction: Gaussian | Sphere, order: int) -> Design:
    """Return a design of a direction of an order, 5 or 7. Raise ``ValueError`` if none is known."""
    if order not in ORDERS or direction.d > LARGEST_DESIGN:
        raise ValueError(
            f"no vectors are known with the moments of a direction in {direction.d} dimensions up to order {order}"
        )
    points, weights = (_gaussian if isinstance(direction, Gaussian) else _spherical)(direction.d, order)
    return Design(_numbers(points, True), _numbers(weights, True))


#: For each order, numbers and the probability of each and of its negative, with the moments 1, 3 and 15 of even orders.
_NORMAL = {
    5: {0: Fraction(1, 2), 1: Fraction(1, 6), 2: Fraction(1, 12)},
    7: {0: Fraction(7, 18), 1: Fraction(1, 4), 2: Fraction(1, 20), 3: Fraction(1, 180)},
}

_Weighted = tuple[list[tuple[Fraction | int, ...]], list[Fraction]]


def _gaussian(d: int, order: int) -> _Weighted:
    line = [(sign * v, p) for v, p in _NORMAL[order].items() for sign in ((1, -1) if v else (1,))]
    chosen = list(product(line, repeat=d))
    return [tuple(v for v, _ in each) for each in chosen], [reduce(mul, (p for _, p in each)) for each in chosen]


#: For each dimension, unit vectors and the probability that all that differ from one by signs and by the order of
#: coordinates have together. On a circle and on the sphere these determine all moments up to the seventh order by
#: E u_1^2 u_2^2 = 1/(d (d + 2)) and E u_1^2 u_2^2 u_3^2 = 1/105.
_ORBITS: dict[int, dict[tuple[Fraction, ...], Fraction]] = {
    2: {
        (Fraction(1), Fraction(0)): Fraction(527, 1152),
        (Fraction(3, 5), Fraction(4, 5)): Fraction(625, 1152),
    },
    3: {
        (Fraction(1), Fraction(0), Fraction(0)): Fraction(2581, 10080),
        (Fraction(3, 5), Fraction(4, 5), Fraction(0)): Fraction(625, 2016),
        (Fraction(1, 3), Fraction(2, 3), Fraction(2, 3)): Fraction(243, 560),
    },
}


def _spherical(d: int, order: int) -> _Weighted:
    points: list[tuple[Fraction | int, ...]] = []
    weights: list[Fraction] = []
    for of, weight in _ORBITS[d].items():
        signed = product(*((v, -v) if v else (v,) for v in of))
        orbit = sorted({order_of for signs in signed for order_of in permutations(signs)})
        points += orbit
        weights += [weight / len(orbit)] * len(orbit)
    return points, weights


def _numbers(values: object, in_fractions: bool) -> Array:
    found: Array = exact(np.array(values, dtype=object))
    return found if in_fractions else to_float(found)


def _check_dimension(d: object) -> None:
    if not isinstance(d, int | np.integer) or d < 1:
        raise ValueError(f"the dimension of a direction must be a whole number from 1 on, got {d}")
