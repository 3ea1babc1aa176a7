"""Stated rates that promise nothing: a factor of 1 or more, or one that is not better than a baseline's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from verify.tightness.comparison import Point, Subject


class Baseline(NamedTuple):
    """A method that needs nothing but gradients: what it is in words, and its factor, from mu/L."""

    words: str
    factor: Callable[[Fraction], Fraction]


#: By name. Of the squared distance a step, on mu-strongly convex and L-smooth functions (Nesterov 2004, Th. 2.1.15).
BASELINES: Mapping[str, Baseline] = {
    "gradient-descent": Baseline("1 - mu/L, which gradient descent has with steps 1/L", lambda ratio: 1 - ratio),
    "best-gradient-descent": Baseline(
        "((L - mu)/(L + mu))^2, which gradient descent has with steps 2/(mu + L)",
        lambda ratio: ((1 - ratio) / (1 + ratio)) ** 2,
    ),
}


def words(points: Sequence[Point], baseline: str | None = None) -> list[str]:
    """Return at how many points the stated factor is at least 1, and at how many it is not below the baseline's. Only
    the factors are compared, not the cost of a step."""
    rates = [point for point in points if point.subject is Subject.FACTOR]
    empty = [point for point in rates if point.printed >= 1]
    lines = []
    if empty:
        lines.append(
            f"the stated factor is 1 or more at {len(empty)} of {len(rates)} points (as at {empty[0].where}): it "
            "promises nothing there"
        )
    if baseline is None:
        return lines
    known = [(point, ratio) for point in rates if (ratio := _ratio(point)) is not None]
    if not known:
        return [
            *lines,
            "no factor is compared to the baseline: a factor and the letters mu and L, or kappa, are needed",
        ]
    against = BASELINES[baseline]
    worse = [point for point, ratio in known if point.printed >= against.factor(ratio)]
    beaten = [p for p, ratio in known if p in worse and p.upper is not None and p.upper < against.factor(ratio)]
    text = f"the stated factor is not better than {against.words}, at {len(worse)} of {len(known)} points"
    if worse:
        text += f" (as at {worse[0].where}); the worst case itself is better at {len(beaten)} of these"
    return [*lines, text]


def _ratio(point: Point) -> Fraction | None:
    """mu/L of a point; None where its letters do not tell."""
    letters = dict(point.letters)
    if "mu" in letters and letters.get("L"):
        return letters["mu"] / letters["L"]
    return 1 / letters["kappa"] if letters.get("kappa") else None
