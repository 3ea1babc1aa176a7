"""Smaller counterexamples: fewer clients, smaller dimensions, simpler numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain
from typing import Any

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from verify.evidence import Counterexample
from verify.faults import attributed
from verify.methods.states import violation


def smallest(
    counterexample: Counterexample,
    tries: int = 400,
    again: Callable[[Claim, Recipe], Counterexample | None] = violation,
) -> Counterexample:
    """A simpler counterexample to the same claim: fewer clients, smaller dimension, simpler rationals.

    Greedy: a simplification is kept when it still violates the claim exactly; ``tries`` bounds the attempts.
    ``again(claim, recipe)``: the counterexample at a recipe, if there is one.
    """
    best = counterexample
    progress = True
    while progress and tries > 0:
        progress = False
        offers = best.claim.family.simpler(best.recipe)
        for candidate in chain(offers, _simpler(best.recipe)):
            if complexity(candidate) >= complexity(best.recipe):
                continue
            tries -= 1
            found = _attempt(best.claim, candidate, again)
            if found is not None:
                best, progress = found, True
                break
            if tries <= 0:
                break
    return best


def _attempt(
    claim: Claim, candidate: Recipe, again: Callable[[Claim, Recipe], Counterexample | None]
) -> Counterexample | None:
    try:
        with attributed(claim, candidate):
            return again(claim, candidate)
    except (ValueError, ArithmeticError):
        # The method does not run at these numbers, which no hypothesis excludes.
        return None


def complexity(recipe: Any) -> tuple[int, int, int]:
    """(number of values, length of the different ones, length of all), by which recipes are compared."""
    leaves = list(_leaves(recipe))
    return len(leaves), sum(_length(v) for v in set(leaves)), sum(_length(v) for v in leaves)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for v in value.values():
            yield from _leaves(v)
    elif isinstance(value, tuple):
        for v in value:
            yield from _leaves(v)
    else:
        yield value


def _length(value: Any) -> int:
    if isinstance(value, str):
        return 0
    ratio = Fraction(value)
    return 2 * (ratio.denominator != 1) + abs(ratio.numerator) + ratio.denominator + (ratio < 0)


def _simpler(recipe: Recipe) -> Iterator[Recipe]:
    """Simplifications of a recipe, boldest first."""
    clients = recipe.get("clients", ())
    for i in range(len(clients)):
        yield {**recipe, "clients": clients[:i] + clients[i + 1 :]}
    if recipe.get("d", 1) > 1:
        yield _shorter(recipe, recipe["d"])
    values = sorted({v for v in _leaves(recipe) if isinstance(v, Fraction)}, key=lambda v: (-_length(v), v))
    for value in values:
        for simple in _simpler_numbers(value):
            yield _replace(recipe, value, simple)
    for path in _paths(recipe):
        # The dimension goes with the lengths of the vectors, above.
        if path != ("d",):
            for simple in _simpler_numbers(_at(recipe, path)):
                yield _put(recipe, path, simple)


def _simpler_numbers(value: Any) -> Iterator[Any]:
    if isinstance(value, str):
        return
    options: tuple[Any, ...]
    if isinstance(value, int):
        options = (0, 1, 2, 3, 4, 10, value // 2, value - 1)
    else:
        options = (
            *(Fraction(v) for v in (0, 1, 2, 3, 4, 10)),
            Fraction(1, 2),
            Fraction(round(value)),
            Fraction(value) / 10,
        )
    for option in options:
        if _length(option) < _length(value):
            yield option


def _shorter(value: Any, d: int) -> Any:
    """The recipe in dimension d - 1: every vector of length d loses its last entry."""
    if isinstance(value, dict):
        return {
            key: d - 1 if key == "d" else _shorter(v, d) if key != "clients" else tuple(_shorter(c, d) for c in v)
            for key, v in value.items()
        }
    if isinstance(value, tuple) and len(value) == d:
        return value[:-1]
    return value


def _replace(value: Any, old: Any, new: Any) -> Any:
    if isinstance(value, dict):
        return {key: _replace(v, old, new) for key, v in value.items()}
    if isinstance(value, tuple):
        return tuple(_replace(v, old, new) for v in value)
    return new if isinstance(value, Fraction) and value == old else value


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, v in value.items():
            yield from _paths(v, (*path, key))
    elif isinstance(value, tuple):
        for i, v in enumerate(value):
            yield from _paths(v, (*path, i))
    else:
        yield path


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def _put(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(value, dict):
        return {**value, key: _put(value[key], rest, new)}
    return (*value[:key], _put(value[key], rest, new), *value[key + 1 :])
