"""The clients that take part in a round, each with a probability of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedtheory.numbers.rational import Array, to_float
from fedtheory.numbers.rational import exact as to_fractions
from fedtheory.randomness import Bernoulli, Product, Size, checked_probabilities


@dataclass(frozen=True)
class Coins:
    """A coin for each client: client i takes part with the probability p_i, and no client depends on another. Draws are
    boolean masks of shape ``(n,)``.

    Args:
        p: The probabilities, ``(n,)``.

    Raises:
        ValueError: If a probability is not in [0, 1].

    Examples:
        >>> import fedtheory as ft
        >>> import numpy as np
        >>> masks, probabilities = ft.Coins(np.array([0.5, 0.25])).support()
        >>> masks.astype(int).tolist(), probabilities.tolist()
        ([[1, 1], [1, 0], [0, 1], [0, 0]], [0.125, 0.375, 0.125, 0.375])
    """

    p: Array

    def __post_init__(self) -> None:
        # Each coin checks its own.
        self._tossed()

    def _tossed(self) -> Product:
        return Product(_side_by_side, tuple(map(Bernoulli, self.p)))

    @property
    def count(self) -> int | None:
        """Number of outcomes in the support."""
        return self._tossed().count

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        return self._tossed().sample(rng, size)

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``. Raise ``ValueError`` if there are too
        many.
        """
        return self._tossed().support(exact)


def _side_by_side(*coins: Array) -> Array:
    return np.stack(coins, axis=-1)


@dataclass(frozen=True)
class Categorical:
    """One client takes part, client i with the probability p_i. Draws are boolean masks of shape ``(n,)``.

    Args:
        p: The probabilities, ``(n,)``, whose sum is 1.

    Raises:
        ValueError: If a probability is negative, or if their sum is not 1.

    Examples:
        >>> import fedtheory as ft
        >>> import numpy as np
        >>> masks, probabilities = ft.Categorical(np.array([0.25, 0.75])).support()
        >>> masks.astype(int).tolist(), probabilities.tolist()
        ([[1, 0], [0, 1]], [0.25, 0.75])
    """

    p: Array

    def __post_init__(self) -> None:
        given: Array = np.asarray(self.p)
        checked_probabilities(given, given.dtype == object, "the choice of a client")

    @property
    def count(self) -> int:
        """Number of outcomes in the support."""
        return len(self.p)

    def sample(self, rng: np.random.Generator, size: Size = ()) -> Array:
        """Independent draws, with leading axes ``size``."""
        p = to_float(self.p)
        return np.eye(len(p), dtype=bool)[rng.choice(len(p), size=size, p=p / p.sum())]

    def support(self, exact: bool = False) -> tuple[Array, Array]:
        """All outcomes, and their probabilities: fractions where ``exact``."""
        return np.eye(len(self.p), dtype=bool), to_fractions(self.p) if exact else to_float(self.p)
