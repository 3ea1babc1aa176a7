"""Grids of parameters on which a claim is compared with its worst case, derived from its setting.

The units are those in which the smaller of two scales is 1: L = 1 and mu = 1/kappa, or alpha = 1 and beta = kappa where
the method sees conjugates. A grid gives an instance its class, its number of clients and its parameters; a worst case
over the class depends on nothing else. Letters that are neither swept nor given have the setting's typical value, or
lie at the boundary of a hypothesis.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from fedtheory.sampling import derived, drawing
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold, meeting

#: Values of the paper's letters.
Letters = Mapping[str, Fraction]


@dataclass(frozen=True)
class GridLimits:
    """The choices taken from a setting without a sweep."""

    choices: int = 12  # the first distinct ones
    recipes: int = 400  # among which they are looked for
    clients: int = 4  # the most: a worst case takes seconds with more


_LIMITS = GridLimits()
#: The source of the letter that is the number of clients, in a setting that has one.
_CLIENTS = "n"


class Choice(NamedTuple):
    """One point of a grid: its letters, and recipes of instances there, of one class and one set of parameters."""

    letters: tuple[tuple[str, Fraction], ...]
    recipes: tuple[Recipe, ...]


def choices(claim: Claim, at: Letters) -> list[Choice]:
    """The points of the grid of a claim's setting that meet its hypotheses, some letters fixed by ``at``.

    A setting without a sweep gives the first distinct choices among its own recipes. ``ValueError`` for a letter that
    the setting does not have, and when no point is left.
    """
    found = _swept(claim, at) if claim.setting.drawing.sweep else _drawn(claim, at)
    if not found:
        values = ", ".join(f"{name}={value}" for name, value in at.items())
        raise ValueError(f"no point of the grid meets the hypotheses of {claim.id}" + (f" at {values}" if at else ""))
    return found


def _known(claim: Claim, at: Letters, names: tuple[str, ...]) -> None:
    unknown = [name for name in at if name not in names]
    if unknown:
        raise ValueError(f"the grid of {claim.id} has no letter {unknown[0]!r}: it has {', '.join(names)}")


def _swept(claim: Claim, at: Letters) -> list[Choice]:
    sweep = {name: tuple(map(Fraction, values)) for name, values in claim.setting.drawing.sweep.items()}
    given = tuple(str(letter) for letter in drawing.drawn_letters(claim.setting) if str(letter) not in sweep)
    _known(claim, at, (*sweep, *given))
    names = (*sweep, *(name for name in given if name in at))
    options = [(at[name],) if name in at else sweep[name] for name in names]
    found, reason = [], None
    for values in product(*options):
        letters = dict(zip(names, values, strict=True))
        try:
            recipe = derived.at_letters(claim, letters, 0)
            if not hypotheses_hold(Case(claim, recipe)):
                continue
        except ValueError as error:
            reason = error
            continue
        more = (derived.at_letters(claim, letters, stiff) for stiff in range(1, len(recipe.get("clients", ())) + 1))
        distinct = [recipe]
        distinct += [r for r in more if r not in distinct]
        found.append(Choice(tuple(letters.items()), tuple(distinct)))
    if not found and reason is not None:
        raise reason
    return found


def _drawn(claim: Claim, at: Letters) -> list[Choice]:
    """The first distinct choices among a setting's own recipes; if none has the letters ``at``, those with them put
    in the place of the drawn ones.
    """
    found: dict[tuple[tuple[str, Fraction], ...], Choice] = {}
    others: list[Recipe] = []
    examined = islice(claim.instances.recipes(np.random.default_rng(0)), _LIMITS.recipes)
    small = (recipe for recipe in examined if len(recipe.get("clients", ())) <= _LIMITS.clients)
    for recipe, instance in meeting(claim, small):
        letters = _letters(claim, instance, at)
        _known(claim, at, tuple(letters))
        if all(letters[name] == value for name, value in at.items()):
            found.setdefault(tuple(letters.items()), Choice(tuple(letters.items()), (recipe,)))
        elif not found and len(others) < _LIMITS.choices:
            others += _replaced(claim, letters, instance, at)
        if len(found) == _LIMITS.choices:
            break
    for recipe in others if not found else ():
        letters = _letters(claim, Case(claim, recipe).instance, at)
        if all(letters[name] == value for name, value in at.items()):
            found.setdefault(tuple(letters.items()), Choice(tuple(letters.items()), (recipe,)))
    return list(found.values())


def _letters(claim: Claim, instance: Instance, at: Letters) -> dict[str, Fraction]:
    letters = dict(_rational(claim.setting.bind(instance.problem, instance.params)))
    if "n" in at and _CLIENTS not in claim.setting.sources.values() and hasattr(instance.problem, "n"):
        # The statement does not mention the number of clients, which may be fixed all the same.
        letters["n"] = Fraction(instance.problem.n)
    return letters


def _replaced(claim: Claim, letters: Letters, instance: Instance, at: Letters) -> Iterator[Recipe]:
    """Yield the recipe with some letters of an instance replaced, if they can occur together."""
    values = {"n": Fraction(getattr(instance.problem, "n", 1)), **letters, **at}
    if values.get("mu") and "L" in values:
        # Classes are built in the units in which L is 1.
        values["kappa"] = (values["L"] if "L" in at else 1) / values["mu"]
    try:
        recipe = derived.at_letters(claim, values, 0)
        if hypotheses_hold(Case(claim, recipe)):
            yield recipe
    except (ValueError, TypeError, LookupError, ArithmeticError):
        # A setting of its own recipes is only drawn.
        return


def _rational(values: Mapping[Any, Any]) -> Iterator[tuple[str, Fraction]]:
    for symbol, value in values.items():
        if isinstance(value, int | Fraction | np.integer):
            yield str(symbol), Fraction(value if isinstance(value, Fraction) else int(value))
