"""Parameters of which each client has its own: drawn with the functions, and moved to where hypotheses bound them.

A recipe holds them among the entries of its clients, under their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.instances import ClaimLike, Recipe, generic, pick
from fedtheory.numbers.rational import Array
from fedtheory.sampling import building

if TYPE_CHECKING:
    from fedtheory.settings import Setting

#: Shares of the way to a bound where an entry lies: mostly at the bound.
_SHARES = tuple(Fraction(v) for v in (1, 1, 1, 1, "1/2", "9/10"))
#: In how many recipes entries are moved to their bounds.
_MOVED = 0.8


def drawn(setting: Setting, recipe: Recipe, rng: np.random.Generator) -> Recipe:
    """The recipe with an entry of each such parameter for each client."""
    clients = recipe["clients"] if setting.own else ()
    for name in setting.own:
        clients = _with(clients, name, _entries(len(clients), rng))
    return {**recipe, "clients": clients} if setting.own else recipe


def plain(setting: Setting, recipe: Recipe) -> Recipe:
    """The recipe with equal entries, which sum to 1."""
    clients = recipe["clients"] if setting.own else ()
    for name in setting.own:
        clients = _with(clients, name, [Fraction(1, len(clients))] * len(clients))
    return {**recipe, "clients": clients} if setting.own else recipe


def _with(clients: tuple[Recipe, ...], name: str, entries: list[Fraction]) -> tuple[Recipe, ...]:
    return tuple({**client, name: value} for client, value in zip(clients, entries, strict=True))


def _entries(n: int, rng: np.random.Generator) -> list[Fraction]:
    """Positive numbers: shares of 1, all alike, or far apart."""
    kind = pick(rng, ("shares", "shares", "alike", "apart"))
    if kind == "alike":
        return [pick(rng, (Fraction(1), Fraction(1, n), generic(rng, Fraction(1, 4), Fraction(4))))] * n
    if kind == "apart":
        return [generic(rng, Fraction(1, 100), Fraction(100)) for _ in range(n)]
    parts = [Fraction(int(pick(rng, (1, 1, 2, 3, 8, 40)))) for _ in range(n)]
    return [part / sum(parts) for part in parts]


def placed(claim: ClaimLike, recipe: Recipe, rng: np.random.Generator, cornered: bool) -> Recipe:
    """The recipe with entries mostly at the bounds that hypotheses of each client place on them, in one parameter after
    the other; as it is where none does, or now and then."""
    numbers = [of for h in claim.requires if (of := getattr(h.met, "numbers", None)) is not None]
    if not claim.setting.own or not numbers or (not cornered and rng.random() > _MOVED):
        return recipe
    for k in rng.permutation(len(claim.setting.own)):
        name = claim.setting.own[k]
        for i, (low, high) in enumerate(_bounds(claim.setting, recipe, name, numbers)):
            share = Fraction(1) if cornered else pick(rng, _SHARES)
            value = high * share if high is not None else low
            entry = recipe["clients"][i][name]
            within = (low is None or low <= entry) and (high is None or entry <= high)
            if within and not cornered and pick(rng, (True, False)):
                continue
            if value is not None and value > 0 and (low is None or low <= value):
                clients = tuple({**c, name: value} if i == j else c for j, c in enumerate(recipe["clients"]))
                recipe = {**recipe, "clients": clients}
    return recipe


def _bounds(
    setting: Setting, recipe: Recipe, name: str, numbers: list[Callable[..., Array]]
) -> Iterator[tuple[Fraction | None, Fraction | None]]:
    """Yield, for each client, between what its entry lies by those hypotheses that are affine in it."""
    n = len(recipe["clients"])
    problem = building.problem_of(setting, recipe, True)

    def at(value: int) -> Array:
        changed = {**recipe, "clients": _with(recipe["clients"], name, [Fraction(value)] * n)}
        params = building.parameters(setting, changed, problem, True)
        return np.array([np.broadcast_to(of(problem, params), (n,)) for of in numbers], dtype=object)

    one, two, three = map(at, (1, 2, 3))
    for i in range(n):
        lows: list[Fraction] = []
        highs: list[Fraction] = []
        for first, second, third in zip(one[:, i], two[:, i], three[:, i], strict=True):
            slope = second - first
            if slope and third - second == slope:
                (lows if slope > 0 else highs).append(Fraction(1 - first / slope))
        yield max(lows, default=None), min(highs, default=None)
