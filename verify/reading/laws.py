"""Distributions as they are read: of what kind they are, and on which terms they depend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from verify.reading import terms
from verify.reading.values import Probabilities, Randomness, Rule


@dataclass(frozen=True, eq=False)
class Law:
    """A distribution: its name, the terms that it depends on, and those that it consists of."""

    name: str
    of: tuple[Any, ...] = ()
    make: type | None = None

    @property
    def fields(self) -> Mapping[str, Any]:
        """What code may ask it for: all draws, and their probabilities."""
        return {"support": Rule("support", partial(support, self))}

    def terms(self) -> Iterator[terms.Term]:
        """The terms that it and what it consists of depend on."""
        for part in self.of:
            if isinstance(part, terms.Term):
                yield part
            elif isinstance(part, Law):
                yield from part.terms()


def support(law: Law, exact: Any = False) -> tuple[Any, Any]:
    """All draws of subsets of clients, or of compressors, and their probabilities."""
    if law.name == "compression":
        drawn = terms.all_compressions(law.of[0])
        return Randomness(drawn), Probabilities(drawn)
    if law.name not in ("subset", "weighted subset"):
        raise ValueError(f"all draws are asked for of a distribution of the kind {law.name}")
    draws = terms.all_draws(law.name, law.of)
    return draws, Probabilities(draws)
