"""Instances on which claims are tested, each built from a recipe of small rationals.

A recipe is data: it can be drawn at random, simplified, stored and rebuilt, in floats for speed or in fractions for
proof. Recipes are chosen so that every term of a bound is the binding one somewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from fedtheory.numbers.quotients import Quotient
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.numbers.symbols import round_index

#: A recipe: the named rationals, integers, words and tuples of these from which an instance is built.
Recipe = Mapping[str, Any]
#: A problem and a state of shape (M, 1, ...), for M coordinate vectors.
Start = Callable[[Array], tuple[Any, Any]]
#: Where the value of a letter comes from: a constant of the problem or a field of the parameters, by name, or a
#: function of the two.
Source = str | Callable[[Any, Any], Any]
#: The beginning of sources that are smoothness constants of blocks of coordinates, counted from 0.
OF_BLOCK = "L of block "
_OF_PROBLEM = ("mu", "L", "n", "d", "kappa")


class ClaimLike(Protocol):
    """The part of a claim's interface from which instances are derived."""

    @property
    def setting(self) -> Any:
        """The :class:`fedtheory.settings.Setting`."""

    @property
    def statement(self) -> Any:
        """One of :mod:`fedtheory.kinds`."""

    @property
    def requires(self) -> tuple[Any, ...]:
        """Each a :class:`fedtheory.settings.hypotheses.Hypothesis`."""


@dataclass(frozen=True)
class Instance:
    """A problem with parameters, and a chart of the states that a claim is about.

    ``at(theta)``: problem and states for coordinates ``theta (M, dimension)``; theta = 0 is the optimum where there
    is one. ``initial(theta)``: the same for the initial state the paper prints (the problem may then depend on theta).
    ``coordinates(state)``: the inverse of the chart on states of one problem. ``initial_dimension``: the number of
    coordinates of ``initial``, ``dimension`` unless given. ``around(problem)``: ``at`` and ``coordinates`` on another
    problem of the same sizes, about its own fixed point. ``quadratic``: whether sides are expected to be quadratic in
    theta. ``text``: the instance in words.
    """

    problem: Any
    params: Any
    dimension: int
    at: Start
    initial: Start | None = None
    initial_dimension: int | None = None
    coordinates: Callable[[Any], Array] | None = None
    around: Callable[[Any], tuple[Start, Callable[[Any], Array]]] | None = None
    quadratic: bool = True
    text: str = ""

    @property
    def size_of_start(self) -> int:
        """The number of coordinates of ``initial``."""
        return self.dimension if self.initial_dimension is None else self.initial_dimension


@dataclass(frozen=True)
class Instances:
    """Instances of one setting.

    ``recipes(rng)`` yields recipes without end; ``build(recipe, exact)`` makes an instance, in fractions or floats;
    ``simpler(recipe)`` offers simplifications that change several values together; ``nearby(recipe, rng)``: a recipe
    with one constant changed and the letters at their bounds, None where there is none; ``narrow(recipe, rng)``: one
    whose functions, if they are beyond the class, are so where the class is narrowest; ``crossings(recipe, rng)``:
    those with mu = L and the letters at their bounds where two terms of a maximum in the statement are equal;
    ``far(recipe, rng)``: one with constants on wide scales, for what a single step shows where long runs would not end;
    ``boundaries(rng)``: some that are seldom drawn, where parts of a statement about constants vanish, or right beside;
    those of a single client; and those of several clients, one with other constants than the rest.
    """

    recipes: Callable[[np.random.Generator], Iterator[Recipe]]
    build: Callable[[Recipe, bool], Instance]
    simpler: Callable[[Recipe], Iterator[Recipe]] = lambda recipe: iter(())
    nearby: Callable[[Recipe, np.random.Generator], Recipe | None] = lambda recipe, rng: None
    narrow: Callable[[Recipe, np.random.Generator], Recipe | None] = lambda recipe, rng: None
    crossings: Callable[[Recipe, np.random.Generator], Iterator[Recipe]] = lambda recipe, rng: iter(())
    far: Callable[[Recipe, np.random.Generator], Recipe | None] = lambda recipe, rng: None
    boundaries: Callable[[np.random.Generator], Iterator[Recipe]] = lambda rng: iter(())


def numbers(values: object, exact: bool) -> Array:
    """An array of fractions, or the same numbers as float64."""
    if not exact:
        return np.array(values, dtype=np.float64)
    source = np.array(values, dtype=object)
    out = np.empty(source.shape, dtype=object)
    out.flat[:] = [Quotient(value) for value in source.flat]
    return out


def number(value: Scalar, exact: bool) -> Any:
    """One fraction, or the same number as a float."""
    return Quotient(value) if exact else float(value)


def check_shape(d: int, *positive: Any) -> None:
    """Raise ``ValueError`` unless d >= 1 and all the numbers are positive."""
    if d < 1 or any(v <= 0 for v in positive):
        raise ValueError("an instance needs d >= 1 and positive curvatures")


def pick(rng: np.random.Generator, options: Any) -> Any:
    """One of the options, uniformly."""
    return options[int(rng.integers(len(options)))]


def small(rng: np.random.Generator, size: int) -> tuple[Fraction, ...]:
    """Small random rationals: quarters in [-3, 3]."""
    return tuple(Fraction(int(v), 4) for v in rng.integers(-12, 13, size))


def generic(rng: np.random.Generator, low: Fraction, high: Fraction) -> Fraction:
    """A rational between two positive ones, uniform on a logarithmic scale, with two significant digits or so."""
    value = float(low) * float(high / low) ** float(rng.random())
    simple = Fraction(value).limit_denominator(12) if value >= 1 else 1 / Fraction(1 / value).limit_denominator(12)
    return min(max(simple, low), high)


def value_of(source: Source, problem: Any, params: object) -> Any:
    """The value of one letter. Raise ``ValueError`` if neither problem nor parameters have it."""
    if callable(source):
        return source(problem, params)
    if source.startswith(OF_BLOCK):
        return problem.blocks.L[int(source.removeprefix(OF_BLOCK))]
    if source == "kappa":
        if problem.mu == 0:
            raise ValueError("kappa = L/mu has no value where mu = 0")
        return problem.L / problem.mu
    if source in _OF_PROBLEM and not (problem is None and hasattr(params, source)):
        return getattr(problem, source)
    if hasattr(params, source):
        return getattr(params, source)
    if source in ("omega", "omega_av") and hasattr(params, "compressors"):
        return getattr(params.compressors, source)
    if source in ("omega", "omega_av"):
        raise ValueError(
            f"{source} is the variance of the compressors of a setting with adversaries=(UnbiasedCompressors(),), and "
            "there are none: give the setting some, or the method a parameter of this name"
        )
    if source == str(round_index):
        raise ValueError(
            "k is the round only inside a sum or product over rounds, or where parameters have schedules: for a number "
            "k of its own, add it to the names of the parameters"
        )
    raise ValueError(
        f"neither the problem nor the parameters of the method have a value for {source!r}: "
        "add it to the names of the parameters"
    )
