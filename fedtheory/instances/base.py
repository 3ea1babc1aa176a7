"""Instances on which claims are tested, each built from a recipe of small rationals.

A recipe is data: it can be drawn at random, simplified, stored and rebuilt, in floats for speed or in fractions for
proof. A family of recipes is chosen so that every term of a bound is the binding one somewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.rational import Array

#: A recipe: the named rationals, integers, words and tuples of these from which an instance is built.
Recipe = Mapping[str, Any]
#: A problem and a state of shape (M, 1, ...), for M coordinate vectors.
Start = Callable[[Array], tuple[Any, Any]]


@dataclass(frozen=True)
class Instance:
    """A problem with parameters, and a chart of the states a claim speaks of.

    ``at(theta)``: problem and states for coordinates ``theta (M, dimension)``; theta = 0 is the optimum where there
    is one. ``initial(theta)``: the same for the initial state the paper prints (the problem may then depend on theta).
    ``coordinates(state)``: the inverse of the chart on states of one problem. ``start``: the integer matrix that takes
    the coordinates of ``initial`` to those of its state about the optimum. ``quadratic``: whether sides are
    expected to be quadratic in theta. ``text``: the instance in words.
    """

    problem: Any
    params: Any
    dimension: int
    at: Start
    initial: Start | None = None
    coordinates: Callable[[Any], Array] | None = None
    start: Array | None = None
    quadratic: bool = True
    text: str = ""


@dataclass(frozen=True)
class Family:
    """Instances of one setting.

    ``recipes(rng)`` yields recipes without end; ``build(recipe, exact)`` makes an instance, in fractions or floats;
    ``simpler(recipe)`` offers simplifications that change several values together.
    """

    recipes: Callable[[np.random.Generator], Iterator[Recipe]]
    build: Callable[[Recipe, bool], Instance]
    simpler: Callable[[Recipe], Iterator[Recipe]] = lambda recipe: iter(())


def numbers(values: Any, exact: bool) -> Array:
    """An array of fractions, or the same numbers as float64."""
    if not exact:
        return np.array(values, dtype=np.float64)
    out = np.empty(np.shape(np.array(values, dtype=object)), dtype=object)
    for index, value in np.ndenumerate(np.array(values, dtype=object)):
        out[index] = Fraction(value)
    return out


def number(value: Any, exact: bool) -> Any:
    """One fraction, or the same number as a float."""
    return Fraction(value) if exact else float(value)


def check_shape(d: int, *positive: Any) -> None:
    """``ValueError`` unless d >= 1 and all the numbers are positive."""
    if d < 1 or any(v <= 0 for v in positive):
        raise ValueError("an instance needs d >= 1 and positive curvatures")


def pick(rng: np.random.Generator, options: Any) -> Any:
    """One of the options, uniformly."""
    return options[int(rng.integers(len(options)))]


def small(rng: np.random.Generator, size: int) -> tuple[Fraction, ...]:
    """Small random rationals: quarters in [-3, 3]."""
    return tuple(Fraction(int(v), 4) for v in rng.integers(-12, 13, size))


#: Sizes of constants, over several orders of magnitude.
SIZES = (1, 2, 3, 4, 5, 8, 16, 30, 100, 1000)
#: The same for constants that occur as exponents.
EXPONENTS = (1, 2, 3, 4, 7)
#: The same for constants whose extreme values decide.
EXTREMES = (*SIZES, 10**4, 10**6, 10**8)


def constants_family(
    options: Mapping[sympy.Symbol, tuple[int, ...]],
    admissible: Callable[[Recipe], bool] = lambda values: True,
    derive: Callable[[Recipe], Recipe] = lambda values: {},
) -> Family:
    """Values of constants alone: integers from the options, or ratios of two of them for symbols that are not integer.

    ``admissible(values by name)`` rejects what is outside the setting; a claim's hypotheses reject the rest.
    ``derive(values)`` sets those that others determine, half of the time.
    """
    symbols = {str(s): s for s in options}

    def recipes(rng: np.random.Generator) -> Iterator[Recipe]:
        while True:
            values: dict[str, Any] = {}
            for s, sizes in options.items():
                size = int(pick(rng, sizes))
                values[str(s)] = size if s.is_integer else Fraction(size, int(pick(rng, SIZES)))
            if pick(rng, (True, False)):
                values |= derive(values)
            if admissible(values):
                yield values

    def build(recipe: Recipe, exact: bool) -> Instance:
        if any(recipe[name] <= 0 for name in symbols) or not admissible(recipe):
            raise ValueError("these constants cannot occur together")
        values = {s: number(recipe[name], exact) for name, s in symbols.items()}
        text = ", ".join(f"{name}={recipe[name]}" for name in symbols)
        return Instance(None, values, 0, lambda theta: (None, theta), text=text)

    return Family(recipes, build)
