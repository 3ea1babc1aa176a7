"""What recipes are drawn from: members of the classes of a setting, and letters that meet hypotheses."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms import schedules
from fedtheory.instances import Posed, Recipe, pick, value_of
from fedtheory.sampling import building, letters
from fedtheory.sampling.compressors import FEW, samplers
from fedtheory.sampling.functions import sampler
from fedtheory.settings import Setting

#: The share of instances with more clients, or of a higher dimension, than decide most bounds.
_OFTEN = 0.16
#: How many compressors are looked at to find some for many clients.
TRIES = 12
#: The same where there are no instances with other numbers of clients.
ALL_TRIES = 1000


def relations(claim: Posed) -> tuple[Any, ...]:
    """What a claim and its setting say of letters."""
    return (*claim.setting.domain, *(h.relation for h in claim.requires if h.relation is not None))


def sides(claim: Posed) -> tuple[Any, ...]:
    """What a statement compares, or its rate."""
    statement = claim.statement
    factor = getattr(statement, "factor", None)
    if factor is not None:
        return (factor,)
    return tuple(side for c in getattr(statement, "comparisons", ()) for side in (c.left, c.right))


def drawn(setting: Setting, rng: np.random.Generator, clients: int | None = None) -> Recipe:
    """Functions and compressors, and the round of a method whose parameters vary with it; of so many ``clients`` in one
    dimension, if a number is given."""
    n, d = int(pick(rng, setting.clients)), int(pick(rng, (1, 1, 1, 1, 1, 2, 2, 3)))
    if rng.random() < _OFTEN:
        many = setting.any_clients and rng.integers(2)
        few = min(n, 2) if len(set(setting.clients)) > 1 else n
        n, d = (int(rng.integers(5, 13)), 1) if many else (few, int(rng.integers(4, 9)))
    if clients is not None:
        n, d = clients, 1
    recipe: dict[str, Any] = {}
    for compressors in samplers(setting):
        n, d, more = _compressors(compressors, rng, n, d, setting.any_clients)
        recipe |= more
    if schedules.ROUND in drawn_letters(setting).values():
        recipe[schedules.ROUND] = schedules.drawn(rng)
    if setting.functions is None:
        return {"n": n, "d": d, **recipe}
    minimised = setting.optimum == "consensus"
    functions = sampler(setting.functions, setting.drawing)
    return {**functions.draw(rng, n, d, pick(rng, setting.drawing.g), minimised), **recipe}


def _compressors(drawn: Any, rng: np.random.Generator, n: int, d: int, fewer: bool) -> tuple[int, int, Recipe]:
    """Compressors for n clients if it can be, else where ``fewer`` will do for fewer, such that their draws can be
    enumerated."""
    for _ in range((TRIES if n > FEW else 1) if fewer else ALL_TRIES):
        dimension, more = drawn.draw(rng, d)
        fit = drawn.clients({**more, "d": dimension}, n)
        if fit == n:
            break
    return fit, dimension, more


def with_letters(
    claim: Posed,
    recipe: Recipe,
    relations: tuple[Any, ...],
    rng: np.random.Generator,
    cornered: bool = False,
    crossed: bool = True,
) -> Recipe | None:
    """The recipe with values of the letters that are fields of the parameters; the rest as in :func:`letters.draw`."""
    setting = claim.setting
    wanted = {letter: source for letter, source in drawn_letters(setting).items() if source not in recipe}
    problem = building.problem_of(setting, recipe, True)
    given = known(setting, recipe, problem)
    order = tuple(letter for letter in setting.sources if letter in wanted)
    plan = letters.plan(order, frozenset(given), relations, sides(claim))
    values = letters.draw(plan, given, setting.drawing.typical, rng, cornered=cornered, crossed=crossed)
    if values is None:
        return None
    return {**recipe, **{wanted[letter]: value for letter, value in values.items()}}


def drawn_letters(setting: Setting) -> dict[sympy.Expr, str]:
    """The letters that are fields of the parameters by name, with these names."""
    fields = getattr(setting.algorithm.Params, "_fields", ()) if setting.algorithm is not None else ()
    return {x: source for x, source in setting.sources.items() if isinstance(source, str) and source in fields}


class _Undrawn(Exception):
    """A letter that depends on parameters not drawn yet."""


class _Partial:
    """Parameters of which some are drawn: ``Params`` says which there will be."""

    def __init__(self, Params: Any, drawn: Mapping[str, Any]) -> None:
        self.Params = Params
        self.__dict__.update(drawn)

    def __getattr__(self, name: str) -> Any:
        raise (_Undrawn if hasattr(self.Params, name) else AttributeError)(name)


def known(setting: Setting, recipe: Recipe, problem: Any) -> dict[sympy.Expr, Any]:
    """Values of the letters that do not depend on what is still to be drawn."""

    n, Params = problem.n, setting.algorithm.Params  # type: ignore[union-attr]
    parts: dict[str, Any] = {s.field: s.build(recipe, n, True) for s in samplers(setting)}
    parts |= {name: recipe[name] for name in getattr(Params, "_fields", ()) if name in recipe and name not in parts}
    if setting.functions is None:
        parts |= {"n": n, "d": recipe["d"]}
    partial = _Partial(Params, parts)
    found = {}
    for letter, source in setting.sources.items():
        try:
            found[letter] = value_of(source, problem if setting.functions is not None else None, partial)
        except _Undrawn:
            continue
    return found


def times(value: Any, factor: Fraction) -> Any:
    """A constant, or each of several, times a factor."""
    return tuple(v * factor for v in value) if isinstance(value, tuple) else value * factor


def fractions(values: Recipe) -> list[str]:
    """The names of the constants that are not 0."""
    return [name for name, value in values.items() if isinstance(value, Fraction) and value != 0 and name != "turn"]
