"""Adversaries known only by the conditions that their answers meet, as an algorithm sees them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from fedtheory.numbers.rational import Array
from fedtheory.randomness import Distribution, Draw
from verify.exact.elimination import is_positive_semidefinite
from verify.pep.gram import ZERO, Form, Vector, row
from verify.pep.oracles import NOISE, NumberedDraws, noisy
from verify.pep.programs import Constraint

NOTHING = Form({}, {}, 0)


@dataclass
class FreeAnswers:
    """An adversary of whose answers no more is known than the conditions that it is asked to meet.

    Each time it is asked its answer is another one; it does not know what the step draws.
    """

    name: str
    answers: list[tuple[Array, _Conditions]] = field(default_factory=list)

    def answer(
        self,
        centre: Array,
        bound: Any,
        within: Sequence[tuple[Array, Any]] = (),
        along: Sequence[tuple[Array, Any]] = (),
        feasible: Array | None = None,
    ) -> Array:
        """Vectors of the shape of ``centre``, ``(..., d)`` or ``(..., n, d)``, with new rows for what they are off by;
        ``bound``: a number, or one for each vector. The other conditions are as :class:`fedtheory.Adversary` has them.

        Raise ``ValueError`` where the conditions are not seen to leave an answer.
        """
        out, asked = np.empty(centre.shape, dtype=object), dict[Any, Array]()
        balls, halves = (self._pairs(pairs, centre.shape) for pairs in ([(centre, bound), *within], along))
        met = centre if feasible is None else np.broadcast_to(feasible, centre.shape)
        for index in np.ndindex(centre.shape[:-1]):
            here = _Conditions(*([(_vectors(c[index]), NOTHING + b[index]) for c, b in of] for of in (balls, halves)))
            # Draws share the answer to what they ask alike; clients have one each.
            at = index[2:], here.key
            if at not in asked:
                if here.is_noisy:
                    raise ValueError(f"{self.name} is asked about what is noisy: its answer may depend on the noise")
                if (within or along) and not all(map(_is_sum_of_squares, here.beyond(_vectors(met[index])))):
                    raise ValueError(f"that a vector meets all conditions of {self.name} is not seen")
                k = len(self.answers)
                error = np.array([row(f"answer({k}) part {j}") for j in range(centre.shape[-1])], dtype=object)
                asked[at] = here.balls[0][0] + error
                self.answers.append((asked[at], here))
            out[index] = asked[at]
        return out

    def _pairs(self, pairs: Sequence[tuple[Array, Any]], shape: tuple[int, ...]) -> list[tuple[Array, Array]]:
        of = [(np.broadcast_to(v, shape), np.asarray(b, dtype=object)) for v, b in pairs]
        return [(v, np.broadcast_to(b, shape[:-1])) for v, b in of]

    def constraints(self) -> Iterator[Constraint]:
        """The conditions on every answer."""
        for k, (answer, conditions) in enumerate(self.answers):
            why = f"|r - c|^2 is bounded, for answer {k} of {self.name}, r, to what it is asked about, c"
            for j, number in enumerate(conditions.beyond(answer)):
                if j >= len(conditions.balls):
                    why = f"<r, v> is at least what it has to be, for answer {k} of {self.name}, r"
                name = f"{self.name}[{k}]" if not j else f"{self.name}[{k}] {j}"
                yield Constraint(name, -number, partial(str, why))


@dataclass
class BoundedNoise:
    """Noise of mean zero in what n clients answer, each of a variance of at most what the step says.

    That of separate draws is uncorrelated; so is that of different clients, if ``joint`` is "independent".
    """

    n: int
    joint: str
    errors: dict[Any, tuple[Vector, Form]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)

    @property
    def draws(self) -> Distribution:
        """A number for the noise of each client: ``(n, 1)``."""
        return NumberedDraws((self.n, 1), self.numbers)

    def apply(self, draw: Draw, x: Array, bound: Any) -> Array:
        """x_i plus noise, ``(..., n, 1) -> (..., n, 1)``; ``bound``: a number, or one for each client."""
        numbers = np.broadcast_to(draw[..., 0], x.shape[:-1])
        bounds = np.broadcast_to(np.asarray(bound, dtype=object), x.shape[:-1])
        out = np.empty(x.shape, dtype=object)
        for index in np.ndindex(x.shape[:-1]):
            at = _Conditions([(_vectors(x[index]), NOTHING + bounds[index])], [])
            if at.is_noisy:
                raise ValueError("noise is added to what is noisy: only its moments are known")
            number, i = int(numbers[index]), index[-1]
            key = number, i, at.key
            if key not in self.errors:
                block = f"{NOISE} {number}_{i}" if self.joint == "independent" else f"{NOISE} {number}"
                self.errors[key] = row(f"noise({len(self.errors)})_{i}", block), at.balls[0][1]
            out[index] = at.balls[0][0] + self.errors[key][0]
        return out

    def constraints(self) -> Iterator[Constraint]:
        """E|noise|^2 <= bound for every vector."""
        for k, (error, bound) in enumerate(self.errors.values()):
            why = f"the variance of noise {k} is at most what the step says"
            yield Constraint(f"variance[{k}]", error**2 - bound, partial(str, why))


class _Conditions(NamedTuple):
    """The conditions on one vector: balls, by their centres and the squares of their radii, and half-spaces, by
    directions and least inner products with them."""

    balls: list[tuple[Array, Form]]
    halves: list[tuple[Array, Form]]

    @property
    def key(self) -> Any:
        """A key that distinguishes conditions."""
        return tuple(tuple((tuple(v.key for v in vector), _key(number)) for vector, number in of) for of in self)

    @property
    def is_noisy(self) -> bool:
        """True if something in the conditions contains compression errors."""
        return any(
            any(map(noisy, vector)) or any(r.block.startswith(NOISE) for pair in number.entries for r in pair)
            for of in self
            for vector, number in of
        )

    def beyond(self, point: Array) -> Iterator[Form]:
        """Yield the numbers that are nonnegative where a vector meets the conditions."""
        for centre, bound in self.balls:
            yield bound - _inner(point - centre, point - centre)
        for direction, least in self.halves:
            yield _inner(direction, point) - least


def _key(form: Form) -> Any:
    return frozenset(form.entries.items()), frozenset(form.values.items()), form.constant


def _vectors(parts: Array) -> Array:
    return np.array([ZERO + v for v in parts], dtype=object)


def _inner(one: Array, other: Array) -> Form:
    return sum((a * b for a, b in zip(one, other, strict=True)), NOTHING)


def _is_sum_of_squares(form: Form) -> bool:
    """Return True if a form is nonnegative for all vectors, whatever function values are."""
    return not form.values and form.constant >= 0 and is_positive_semidefinite(form.matrix(sorted(form.rows)))
