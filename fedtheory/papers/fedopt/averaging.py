"""Federated Optimization, Section 2.3.3: one-shot averaging against the output of a single machine."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.instances import Instance, Instances, Recipe, check_shape, generic, number
from fedtheory.kinds.fails import Fails
from fedtheory.kinds.inequality import inequality
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.papers.fedopt.predictors import section
from fedtheory.settings import Drawing, Hints, Setting
from fedtheory.settings.relations import Quantity


class Source(NamedTuple):
    """A machine's example has x = 1 with probability ``p``, else x = 0, and y = x; ``lam``: lambda of its least
    squares."""

    p: Scalar
    lam: Scalar


class At(NamedTuple):
    """No state: the distribution is all."""


def _recipes(rng: np.random.Generator) -> Iterator[Recipe]:
    while True:
        yield {
            "p": generic(rng, Fraction(1, 100), Fraction(99, 100)),
            "lam": generic(rng, Fraction(1, 100), Fraction(1)),
        }


def _build(recipe: Recipe, exact: bool) -> Instance:
    check_shape(1, recipe["p"], recipe["lam"])
    if not 0 < recipe["p"] < 1 or recipe["lam"] <= 0:
        raise ValueError("a probability in (0, 1) and a positive lambda are due")
    source = Source(number(recipe["p"], exact), number(recipe["lam"], exact))
    text = f"P(x = 1) = {recipe['p']}, lambda = {recipe['lam']}"
    return Instance(None, source, 1, lambda theta: (None, theta), text=text)


def _output(source: Source) -> Any:
    """argmin_w (1 - w)^2/2 + lambda w^2/2, of a machine that has x = 1; it is 0 for one that has x = 0."""
    return 1 / (1 + source.lam)


def _best(source: Source) -> Any:
    """argmin_w E (x w - y)^2/2 + lambda w^2/2, with all data there are."""
    return source.p / (source.p + source.lam)


def _bias(problem: object, source: Source, state: Array) -> Array:
    """(E w_1 - w*)^2, of which the average of any number of machines has no less."""
    return (source.p * _output(source) - _best(source)) ** 2 + 0 * state[:, :1]


def _error(problem: object, source: Source, state: Array) -> Array:
    """E (w_1 - w*)^2 of a single machine."""
    one, best = _output(source), _best(source)
    return source.p * (one - best) ** 2 + (1 - source.p) * best**2 + 0 * state[:, :1]


SOURCES = Setting(
    "one feature; each machine has one example, x = 1 with probability p and else 0, y = x, and lambda > 0",
    drawing=Drawing(special=Instances(_recipes, _build)),
    hints=Hints(complete=True),
)

SECTION_2_3_3 = (
    section("Section 2.3.3", SOURCES, id="one-shot-averaging")(
        "no-better",
        Fails(
            inequality(2 * Quantity("(E[w_1]-w*)^2", _bias) <= Quantity("E[(w_1-w*)^2]", _error)),
            "the average of enough machines has at most half of the expected squared error of one",
        ),
        "averaging can be no better than one machine",
        kind="property",
        tex="",
        reading="in general, on i.i.d. data: for some of them the mean of any number of outputs has more than half of "
        "the expected squared error that one output has, since all of them have the same bias. No better at all it is "
        "only where data are the same; a cited result (Shamir et al. 2014, Appendix A) says as much, up to a constant",
    ),
)
