"""The masks that distributions draw, and their moments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from verify.multipliers.forms import Mask
from verify.reading.source import Unread
from verify.reading.terms import Term


def sizes(law: Any) -> Iterator[Term]:
    """How many clients are in the subsets that a distribution draws."""
    if law.name == "product":
        for of in law.of:
            yield from sizes(of)
    elif law.name in ("subset", "pattern"):
        yield law.of[1]


def masks(law: Any, name: str, number: Any) -> Iterator[tuple[str, Mask]]:
    """The masks of a distribution, by name."""
    if law.name == "product":
        for part, of in zip(law.make._fields, law.of, strict=True):
            yield from masks(of, f"{name}.{part}", number)
    elif law.name == "bernoulli":
        yield name, Mask(number(law.of[0]))
    elif law.name == "independent" and law.of[0].name == "bernoulli":
        p = number(law.of[0].of[0])
        yield name, Mask(p, True, p * p)
    elif law.name in ("subset", "pattern"):
        n, tau = (number(term) for term in law.of[:2])
        if (n - 1).is_zero and not (tau - 1).is_zero:
            raise Unread("subsets of one client are told to have other sizes")
        # One of n at random: two different ones never are.
        pair = tau * 0 if (tau - 1).is_zero else tau * (tau - 1) / (n * (n - 1))
        yield name, Mask(tau / n, True, pair)
