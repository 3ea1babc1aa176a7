"""Recipes of several clients whose own constants differ by orders of magnitude: one dominates, another nearly vanishes.

Draws have about as many clients with a large constant as with a small one. What is claimed of the mean of the clients'
constants may fail only where a single one of many makes up most of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.classes import SmoothEach
from fedtheory.instances import ClaimLike, Recipe, generic, members, pick
from fedtheory.sampling import drawing

if TYPE_CHECKING:
    from fedtheory.settings import Setting

#: Recipes that are proposed.
_RECIPES = 24
#: Numbers of clients of recipes where a claim is about any number of them.
_CLIENTS = (3, 5, 6, 8, 12)
#: The factor by which one constant exceeds the others.
_APART = Fraction(10), Fraction(10**4)
#: The entries of a client that are dropped, so that its function is the quadratic of its curvatures.
_ODD = {"turn", *members.SLOPES[1:], *members.KINKS, "dip", "dip_from", "dip_to"}


def uneven(claim: ClaimLike, rng: np.random.Generator) -> Iterator[Recipe]:
    """Yield recipes of several clients of which one has larger constants than the others, or smaller ones.

    None unless clients have constants of their own, or letters are computed from those of all.
    """
    setting = claim.setting
    if not _of_each(setting) or setting.drawing.draw is not None:
        return
    for index in range(_RECIPES):
        n = int(pick(rng, _CLIENTS if setting.any_clients else setting.clients))
        recipe = _apart(setting, drawing.drawn(setting, rng, n), rng)
        if recipe is None:
            return
        try:
            found = drawing.with_letters(
                claim, recipe, drawing.relations(claim), rng, cornered=not index % 2, crossed=False
            )
        except (ValueError, ArithmeticError):
            # There may be no such member.
            continue
        if found is not None:
            yield found


def _of_each(setting: Setting) -> bool:
    """Return True if there are several clients with constants of their own, or letters computed from those of all."""
    own = setting.own or isinstance(setting.functions, SmoothEach)
    return max(setting.clients) > 1 and bool(own or any(map(callable, setting.sources.values())))


def _apart(setting: Setting, recipe: Recipe, rng: np.random.Generator) -> Recipe | None:
    """The recipe with curvatures, and what clients have of their own, of two sizes, and gradients at x* of the one;
    None where its functions are drawn otherwise, and clients have nothing else of their own."""
    # Claims about compressors alone have vectors, and no functions of clients.
    if "clients" not in recipe:
        return None
    clients = [dict(client) for client in recipe["clients"]]
    one, functions = int(rng.integers(len(clients))), setting.functions
    top = None if functions is None else next((str(x) for x, of in functions.letters.items() if of == "L"), None)
    plain = top is not None and all({"h", "y"} <= set(client) <= {"h", "y", *_ODD, *setting.own} for client in clients)
    if not plain and not setting.own:
        return None
    if plain and top is not None:
        high: Fraction = recipe[top]
        low = high / generic(rng, *_APART)
        most, rest = pick(rng, ((high, low), (high, low), (low, high)))
        alone = pick(rng, (True, False))
        for i, client in enumerate(clients):
            slopes = (most if i == one else rest,) * recipe["d"]
            kept = {name: client[name] for name in setting.own}
            clients[i] = {**kept, "h": slopes, "y": tuple(v * (i == one or not alone) for v in client["y"])}
        if functions is not None and functions.ends is not None:
            recipe = {**recipe, str(functions.ends[0]): low}
    for name in setting.own:
        most, rest = pick(rng, ((_APART[1], Fraction(1)), (Fraction(1), _APART[0]), (Fraction(1), Fraction(1))))
        entries = [most if i == one else rest for i in range(len(clients))]
        # Shares of 1, as probabilities and weights are.
        clients = [{**client, name: v / sum(entries)} for client, v in zip(clients, entries, strict=True)]
    return {**recipe, "clients": tuple(clients)}
