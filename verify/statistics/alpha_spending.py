"""The error level of a whole audit, shared out over its tests."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from verify.statistics.e_process import check_level


class Ledger:
    """The error level of a whole audit, shared out by name before anything is tested.

    ``total``: the chance of any false alarm in the audit. ``names``: what is tested; each has the share total/len, or
    total * weight / sum of weights where ``names`` maps them to weights. Shares depend on the names alone, so any order
    and any number of parallel workers spend alike; each worker has a copy, and ``merge`` adds up what they spent.
    Amounts are fractions, so that nothing is lost to rounding. ``ValueError`` for a bad total, name or weight, and for
    spending more than a name has left.
    """

    def __init__(self, names: Iterable[str] | Mapping[str, Any], total: Any = Fraction(1, 10**6)) -> None:
        check_level(total)
        listed = list(names)
        weights = {name: Fraction(names[name]) if isinstance(names, Mapping) else Fraction(1) for name in listed}
        if not weights or len(weights) < len(listed) or any(w <= 0 for w in weights.values()):
            raise ValueError("a ledger needs names, each once, with positive weights")
        self.total = Fraction(total)
        self._shares = {name: self.total * w / sum(weights.values()) for name, w in weights.items()}
        self._spent = dict.fromkeys(weights, Fraction(0))

    def __iter__(self) -> Iterator[str]:
        return iter(self._shares)

    def has(self, name: str) -> bool:
        """Whether ``name`` has a share."""
        return name in self._shares

    def share(self, name: str) -> Fraction:
        """What ``name`` has in all."""
        if name not in self._shares:
            raise ValueError(f"the ledger has no share for {name!r}")
        return self._shares[name]

    def left(self, name: str) -> Fraction:
        """What ``name`` has left."""
        return self.share(name) - self._spent[name]

    def spend(self, name: str, level: Any = None) -> float:
        """Take ``level``, by default all that is left, from the share of ``name``; the level to test at."""
        amount = self.left(name) if level is None else Fraction(level)
        if not 0 < amount <= self.left(name):
            wanted = "all that is left" if level is None else f"{float(amount):g}"
            raise ValueError(f"{name!r} cannot spend {wanted}: {float(self.left(name)):g} of its share is left")
        self._spent[name] += amount
        return _rounded_down(amount)

    def split(self, name: str, k: int) -> float:
        """Take share/(k (k + 1)), k = 1, 2, ...: for tests whose number is not known beforehand. Each k once."""
        if not isinstance(k, int) or k < 1:
            raise ValueError(f"the parts of a share are numbered 1, 2, ..., got {k}")
        return self.spend(name, self.share(name) / (k * (k + 1)))

    @property
    def spent(self) -> Fraction:
        """What is spent in all: at most ``total``."""
        return sum(self._spent.values(), Fraction(0))


def _rounded_down(amount: Fraction) -> float:
    value = float(amount)
    return value if Fraction(value) <= amount else math.nextafter(value, 0.0)
