"""Draw recipes: members of the classes of a setting, and letters that meet hypotheses; many at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import sympy

from fedtheory.algorithms import schedules
from fedtheory.algorithms.base import Algorithm
from fedtheory.instances import ClaimLike, Instance, Recipe, members, numbers, pick, value_of
from fedtheory.instances.members import Sampler, sampler
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.functions import Functions
from fedtheory.problems.nonconvex import LessParabola, less_parabola
from fedtheory.problems.piecewise import PiecewiseQuadratic
from fedtheory.problems.quadratic import Quadratics
from fedtheory.sampling import building, letter_values, own
from fedtheory.sampling.compressors import FEW, samplers
from fedtheory.settings import Setting


@dataclass(frozen=True)
class Profiles:
    """M choices of the functions of P parts, the clients and g where there is one.

    ``slopes (M, P, 3)``: of the gradients from left to right; ``kinks (M, P, 2)``: between them, ascending, relative to
    the optimum.
    """

    slopes: Array
    kinks: Array

    def __getitem__(self, index: Any) -> Profiles:
        return Profiles(self.slopes[index], self.kinks[index])


@dataclass(frozen=True)
class _Many(PiecewiseQuadratic):
    """Replicas of functions, whose constants are those of all of them: one number for each function."""

    @property
    def mu(self) -> Array:
        """The least slope of any replica of each function, shape ``(n,)``."""
        return super().mu.min(axis=(0, 1))

    @property
    def L(self) -> Array:
        """The largest slope of any replica of each function, shape ``(n,)``."""
        return super().L.max(axis=(0, 1))


def line(recipe: Recipe) -> Recipe | None:
    """As :func:`plain`, of one variable; None where there are more."""
    return plain(recipe) if recipe.get("d") == 1 else None


def plain(recipe: Recipe) -> Recipe | None:
    """The recipe of diagonal quadratics with an optimum at 0; None where it has other functions.

    A reference function is |x|^2/2, but for its slope at 0.
    """
    if not {"d", "x", "clients"} <= set(recipe):
        return None
    parts = [*recipe["clients"], *([recipe["g"]] if "g" in recipe else [])]
    if any("h" not in part or "y" not in part for part in parts):
        return None
    dropped = {"turn", *members.SLOPES[1:], *members.KINKS, "dip", "dip_from", "dip_to"}
    clients = tuple({k: v for k, v in c.items() if k not in dropped} for c in recipe["clients"])
    own = {"g": {k: v for k, v in recipe["g"].items() if k not in dropped}} if "g" in recipe else {}
    if "reference" in recipe:
        own["reference"] = {"h": (Fraction(1),) * recipe["d"], "y": recipe["reference"]["y"]}
    return {**recipe, "x": (Fraction(0),) * recipe["d"], "clients": clients, **own}


def with_functions(recipe: Recipe, slopes: list[list[Fraction]], kinks: list[list[Fraction]]) -> Recipe:
    """A recipe of one variable with these slopes and kinks of each part."""
    parts = [
        {name: (value,) for name, value in zip((*members.SLOPES, *members.KINKS), (*s, *k), strict=True)}
        for s, k in zip(slopes, kinks, strict=True)
    ]
    clients = tuple({**c, **part} for c, part in zip(recipe["clients"], parts, strict=False))
    own = {"g": {**recipe["g"], **parts[-1]}} if "g" in recipe else {}
    return {**recipe, "clients": clients, **own}


def build(setting: Setting, recipe: Recipe, profiles: Profiles) -> Instance:
    """The instance of a recipe of one variable in floats, its functions replaced by M others along the first axis.

    Raise ``ValueError`` if the class of the setting has other functions than piecewise quadratics, with or without a
    bend.
    """
    assert setting.functions is not None and setting.algorithm is not None
    functions: Any = _Replicated(setting.functions, profiles)
    # All replicas have one optimum, with the same gradients there: one state at which each of them stays.
    fixed = partial(_fixed, setting.algorithm, building.problem_of(setting, recipe, False))
    algorithm = replace(setting.algorithm, fixed_point=fixed)
    return building.build(replace(setting, functions=functions, algorithm=algorithm), recipe, False)


def _fixed(algorithm: Algorithm, plain: object, problem: object, params: object) -> Any:
    """The fixed point on the plain problem of a recipe, without its replicas."""
    return algorithm.fixed_point(plain, params)


@dataclass(frozen=True)
class _Replicated:
    """A class of functions whose sampler builds those of the profiles."""

    functions: Any
    profiles: Profiles
    #: Gradients at the optimum are as they are given.
    conjugates = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self.functions, name)


@sampler.register(_Replicated)
class _ReplicatedSampler(Sampler):
    """Replicas of the functions of a recipe."""

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, L) as declared of the functions of a recipe."""
        return sampler(self.of.functions, self.drawing).declared(recipe, exact)

    def reference(self, recipe: Recipe, x: Array, exact: bool) -> Functions | None:
        """The reference function of the recipe, the same for all replicas."""
        return sampler(self.of.functions, self.drawing).reference(recipe, x, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` (clients, or g alone), ``(M, 1, n, 1)``."""
        if not isinstance(
            sampler(self.of.functions, self.drawing).build(recipe, parts, x, y, exact), Quadratics | LessParabola
        ):
            raise ValueError("the class has other functions than quadratics and what is one less a parabola")
        n = len(recipe["clients"])
        which = slice(n, n + 1) if "g" in recipe and parts[0] is recipe["g"] else slice(0, n)
        slopes = tuple(np.moveaxis(self.of.profiles.slopes[:, None, which, None], -1, 0))
        kinks = np.moveaxis(self.of.profiles.kinks[:, None, which, None], -1, 0)
        least = min(float(slope.min()) for slope in slopes)
        # A function that is not strongly convex is a strongly convex one less a parabola.
        largest = max(float(abs(slope).max()) for slope in slopes)
        bend = 0 if least > 0 else 2 * largest - least or 1
        slopes = tuple(slope + bend for slope in slopes)
        about = PiecewiseQuadratic(slopes, tuple(kinks), 0 * slopes[0])
        moved = tuple(x[..., None, :] + kink for kink in kinks)
        return less_parabola(_Many(slopes, moved, y - about.gradient(0 * slopes[0])), x, bend)


# Recipes

#: The share of instances with more clients, or of a higher dimension, than decide most bounds.
_OFTEN = 0.16
#: The number of compressors that are examined to find some for many clients.
TRIES = 12
#: The same where there are no instances with other numbers of clients.
ALL_TRIES = 1000


def relations(claim: ClaimLike) -> tuple[Any, ...]:
    """Return the relations between letters in a claim and its setting."""
    return (*claim.setting.domain, *(h.relation for h in claim.requires if h.relation is not None))


def sides(claim: ClaimLike) -> tuple[Any, ...]:
    """Return the sides of a statement's comparisons, or its rate."""
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
    return own.drawn(setting, {**functions.draw(rng, n, d, pick(rng, setting.drawing.g), minimised), **recipe}, rng)


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
    claim: ClaimLike,
    recipe: Recipe,
    relations: tuple[object, ...],
    rng: np.random.Generator,
    cornered: bool = False,
    crossed: bool = True,
) -> Recipe | None:
    """Return the recipe with values of the letters among the parameters; the rest as in :func:`letter_values.draw`.

    What each client has of its own is moved to its bounds then, and now and then the letters are drawn again.
    """
    found = _with_letters(claim, recipe, relations, rng, cornered, crossed)
    if not claim.setting.own or found is None:
        return found
    moved = own.placed(claim, found, rng, cornered)
    if moved is found or pick(rng, (True, False)):
        return moved
    return _with_letters(claim, {**recipe, "clients": moved["clients"]}, relations, rng, cornered, crossed)


def _with_letters(
    claim: ClaimLike,
    recipe: Recipe,
    relations: tuple[object, ...],
    rng: np.random.Generator,
    cornered: bool,
    crossed: bool,
) -> Recipe | None:
    setting = claim.setting
    wanted = {letter: source for letter, source in drawn_letters(setting).items() if source not in recipe}
    problem = building.problem_of(setting, recipe, True)
    given = known(setting, recipe, problem)
    order = tuple(letter for letter in setting.sources if letter in wanted)
    plan = letter_values.plan(order, frozenset(given), relations, sides(claim))
    values = letter_values.draw(plan, given, setting.drawing.typical, rng, cornered=cornered, crossed=crossed)
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

    def __init__(self, Params: object, drawn: Mapping[str, object]) -> None:
        self.Params = Params
        self.__dict__.update(drawn)

    def __getattr__(self, name: str) -> Any:
        raise (_Undrawn if hasattr(self.Params, name) else AttributeError)(name)


def known(setting: Setting, recipe: Recipe, problem: Any) -> dict[sympy.Expr, Any]:
    """Values of the letters that do not depend on what is still to be drawn."""

    n, Params = problem.n, setting.algorithm.Params  # type: ignore[union-attr]
    parts: dict[str, Any] = {s.field: s.build(recipe, n, True) for s in samplers(setting)}
    parts |= {name: recipe[name] for name in getattr(Params, "_fields", ()) if name in recipe and name not in parts}
    parts |= {name: numbers([client[name] for client in recipe["clients"]], True) for name in setting.own}
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
