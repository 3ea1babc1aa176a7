"""Grids of parameters, setting by setting, on which a claim is compared with its worst case.

The units are those in which the smaller of two scales is 1: L = 1 and mu = 1/kappa, for FedDCD alpha = 1 and
beta = kappa. A grid gives an instance its class, its number of clients and its parameters; a worst case over the class
depends on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import islice, product
from typing import Any, NamedTuple

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances.base import Recipe
from fedtheory.rational import square_root
from verify.evaluate import hypotheses_hold, meeting

#: Values of the paper's letters.
Letters = Mapping[str, Fraction]

#: Clients of an instance at most.
MOST = 1000
#: Choices taken from a setting that has no grid of its own, and recipes among which they are looked for.
_DRAWN, _EXAMINED = 12, 400
#: Clients of such a choice at most: a worst case takes seconds beyond.
_CLIENTS = 4


class Grid(NamedTuple):
    """All combinations of the ``swept`` values, the letter along the axis first.

    ``given``: letters with a default that may depend on the others, which only a user fixes. ``recipe(letters, stiff)``
    makes a recipe, with the largest curvature for the first ``stiff`` clients where that does not change the class;
    ``ValueError`` where the letters cannot occur together.
    """

    swept: Mapping[str, tuple[Fraction, ...]]
    recipe: Callable[[Letters, int], Recipe]
    given: tuple[str, ...] = ()


class Choice(NamedTuple):
    """One point of a grid: its letters, and recipes of instances there, of one class and one set of parameters."""

    letters: tuple[tuple[str, Fraction], ...]
    recipes: tuple[Recipe, ...]


def _values(*texts: Any) -> tuple[Fraction, ...]:
    return tuple(Fraction(text) for text in texts)


def _number(at: Letters, name: str) -> int:
    if at[name].denominator != 1 or at[name] < 1:
        raise ValueError(f"{name} must be a positive integer, got {at[name]}")
    if at[name] > MOST:
        raise ValueError(f"{name} must be at most {MOST}, got {at[name]}: every client is written out")
    return int(at[name])


def _mu(at: Letters) -> Fraction:
    if at["kappa"] < 1:
        raise ValueError(f"kappa must be at least 1, got {at['kappa']}")
    return 1 / at["kappa"]


def _root(at: Letters) -> Fraction:
    root = square_root(at["kappa"])
    if not isinstance(root, Fraction):
        raise ValueError(f"kappa must be the square of a rational here, so that the stepsizes are: got {at['kappa']}")
    return root


def _curvatures(n: int, stiff: int, low: Fraction, high: Fraction) -> list[tuple[Fraction]]:
    return [(high if i < stiff else low,) for i in range(n)]


_ZERO = (Fraction(0),)


def _locodl(at: Letters, stiff: int) -> Recipe:
    n, mu, omega = _number(at, "n"), _mu(at), at["omega"]
    rho = at.get("rho", 1 / (1 + omega / n))
    flat = {"u": _ZERO, "kink": _ZERO}
    clients = tuple({"h": h, "h_above": h, **flat} for h in _curvatures(n, stiff, mu, Fraction(1)))
    return {
        "d": 1,
        "k": 0,
        "omega": omega,
        "joint": "independent",
        "mu": mu,
        "L": Fraction(1),
        "gamma": at["gamma"],
        "rho": rho,
        "chi": at.get("chi", 2 * rho - rho**2 * (1 + omega / n)),
        "p": at.get("p", Fraction(1, 2)),
        "x": _ZERO,
        "g": {"h": (mu,), "h_above": (mu,), **flat},
        "clients": clients,
    }


def _feddcd(at: Letters, stiff: int) -> Recipe:
    n, alpha, beta = _number(at, "N"), Fraction(1), 1 / _mu(at)
    return {
        "d": 1,
        "tau": _number(at, "tau"),
        "alpha": alpha,
        "beta": beta,
        "scale": Fraction(1),
        "eta": at.get("eta", Fraction(1)),
        "w": _ZERO,
        "clients": tuple({"h": h, "h_above": h, "y": _ZERO, "kink": _ZERO} for h in _curvatures(n, stiff, alpha, beta)),
    }


def _accfeddcd(at: Letters, stiff: int) -> Recipe:
    _root(at)
    return _feddcd(at, stiff)


def _rbcd(at: Letters, stiff: int) -> Recipe:
    """L_1 = 1, the other L_i = 1/spread, all mu_i = 1/kappa."""
    mu, smallest = _mu(at), 1 / at["spread"]
    if not mu <= smallest <= 1:
        raise ValueError("spread = L_max/L_min must lie between 1 and kappa")
    bounds = [Fraction(1), *[smallest] * (_number(at, "n") - 1)]
    clients = tuple({"L": bound, "h": (mu,), "c": _ZERO} for bound in bounds)
    return {"d": 1, "tau": _number(at, "tau"), "level": Fraction(0), "clients": clients}


def _accelerated_rbcd(at: Letters, stiff: int) -> Recipe:
    _root(at)
    mu, one = _mu(at), Fraction(1)
    clients = tuple({"L": one, "h": h, "c": _ZERO} for h in _curvatures(_number(at, "n"), stiff, mu, one))
    return {"d": 1, "tau": _number(at, "tau"), "mu": mu, "clients": clients}


def _baseline(at: Letters, curvatures: list[tuple[Fraction]]) -> Recipe:
    clients = tuple({"h": h, "y": _ZERO} for h in curvatures)
    return {"d": 1, "mu": _mu(at), "L": Fraction(1), "x": _ZERO, "clients": clients}


def _diana(at: Letters, stiff: int) -> Recipe:
    n, omega = _number(at, "n"), at["omega"]
    return {
        **_baseline(at, _curvatures(n, stiff, _mu(at), Fraction(1))),
        "k": 0,
        "omega": omega,
        "joint": "independent",
        "gamma": at.get("gamma", 1 / (1 + 6 * omega / n)),
        "alpha": at.get("alpha", 1 / (1 + omega)),
    }


def _scaffnew(at: Letters, stiff: int) -> Recipe:
    """Curvatures L for all: the smoothness constants of the class are those of the functions."""
    curvatures = _curvatures(_number(at, "n"), 0, Fraction(1), Fraction(1))
    return {**_baseline(at, curvatures), "gamma": at.get("gamma", Fraction(1)), "p": at["p"]}


def _gradskip(at: Letters, stiff: int) -> Recipe:
    """L_1 = 1, the other L_i = 1/spread; q_i and p as printed, and the largest gamma."""
    mu, smallest, root = _mu(at), 1 / at["spread"], _root(at)
    if not mu <= smallest <= 1 or mu == 1:
        raise ValueError("spread = L_max/L_min must lie between 1 and kappa, and kappa above 1")
    bounds = [Fraction(1), *[smallest] * (_number(at, "n") - 1)]
    recipe = _baseline(at, [(bound,) for bound in bounds])
    p, q = at.get("p", 1 / root), [(1 - mu / bound) / (1 - mu) for bound in bounds]
    gamma = min(p**2 / (bound * (1 - w * (1 - p**2))) for bound, w in zip(bounds, q, strict=True))
    clients = tuple({**c, "q": w} for c, w in zip(recipe["clients"], q, strict=True))
    return {**recipe, "clients": clients, "gamma": at.get("gamma", gamma), "p": p}


def _compression(at: Letters, stiff: int) -> Recipe:
    return {"n": _number(at, "n"), "d": 1, "k": 0, "omega": at["omega"], "joint": "independent"}


def _consensus(at: Letters, stiff: int) -> Recipe:
    return {"n": _number(at, "n"), "d": 1}


_KAPPAS, _SQUARES = _values(2, 5, 10, 30, 100), _values(4, 9, 25, 64, 100)
_RBCD = Grid(
    {"kappa": _values(2, 10, 30, 100), "n": _values(2, 3, 4), "tau": _values(2, 3, 4), "spread": _values(1, 2)}, _rbcd
)

GRIDS: Mapping[str, Grid] = {
    "locodl": Grid(
        {
            "kappa": _KAPPAS,
            "omega": _values(0, 1, 10),
            "n": _values(2, 4),
            "gamma": _values(1, "3/2"),
        },
        _locodl,
        ("p", "rho", "chi"),
    ),
    "feddcd": Grid({"kappa": _KAPPAS, "N": _values(2, 3, 4), "tau": _values(2, 3, 4)}, _feddcd, ("eta",)),
    "accfeddcd": Grid({"kappa": _SQUARES, "N": _values(2, 3), "tau": _values(2, 3)}, _accfeddcd),
    "rbcd": _RBCD,
    "rbcd-anywhere": _RBCD,
    "accelerated-rbcd": Grid({"kappa": _SQUARES, "n": _values(2, 3), "tau": _values(2, 3)}, _accelerated_rbcd),
    "diana": Grid({"kappa": _KAPPAS, "omega": _values(0, 1, 10), "n": _values(1, 2, 4)}, _diana, ("gamma", "alpha")),
    "scaffnew": Grid({"kappa": _KAPPAS, "p": _values(1, "1/2", "1/4"), "n": _values(2, 3)}, _scaffnew, ("gamma",)),
    "gradskip": Grid({"kappa": _SQUARES, "spread": _values(1, 2, 4), "n": _values(2, 3)}, _gradskip, ("gamma", "p")),
    "compression": Grid({"omega": _values("1/8", "1/2", 1, 3, 10), "n": _values(1, 2, 3, 4)}, _compression),
    "consensus": Grid({"n": _values(1, 2, 3, 5, 8)}, _consensus),
}


def choices(claim: Claim, at: Letters) -> list[Choice]:
    """The points of the grid of a claim's setting that meet its hypotheses, some letters fixed by ``at``.

    A setting without a grid gives the first distinct choices among its own recipes. ``ValueError`` for a letter that
    the setting does not have, and when no point is left.
    """
    grid = GRIDS.get(claim.setting.name)
    found = _drawn(claim, at) if grid is None else _swept(claim, grid, at)
    if not found:
        values = ", ".join(f"{name}={value}" for name, value in at.items())
        raise ValueError(f"no point of the grid meets the hypotheses of {claim.id}" + (f" at {values}" if at else ""))
    return found


def _known(claim: Claim, at: Letters, names: tuple[str, ...]) -> None:
    unknown = [name for name in at if name not in names]
    if unknown:
        raise ValueError(f"the grid of {claim.id} has no letter {unknown[0]!r}: it has {', '.join(names)}")


def _swept(claim: Claim, grid: Grid, at: Letters) -> list[Choice]:
    _known(claim, at, (*grid.swept, *grid.given))
    names = (*grid.swept, *(name for name in grid.given if name in at))
    options = [(at[name],) if name in at else grid.swept[name] for name in names]
    combinations = list(product(*options))
    found, reason = [], None
    for values in combinations:
        letters = dict(zip(names, values, strict=True))
        try:
            recipe = grid.recipe(letters, 0)
            if not _admissible(claim, recipe):
                continue
        except ValueError as error:
            reason = error
            continue
        more = (grid.recipe(letters, stiff) for stiff in range(1, len(recipe.get("clients", ())) + 1))
        distinct = [recipe]
        distinct += [r for r in more if r not in distinct]
        found.append(Choice(tuple(letters.items()), tuple(distinct)))
    if not found and reason is not None:
        raise reason
    return found


def _admissible(claim: Claim, recipe: Recipe) -> bool:
    return hypotheses_hold(claim, claim.family.build(recipe, True))


def _drawn(claim: Claim, at: Letters) -> list[Choice]:
    found: dict[tuple[tuple[str, Fraction], ...], Choice] = {}
    examined = islice(claim.family.recipes(np.random.default_rng(0)), _EXAMINED)
    small = (recipe for recipe in examined if len(recipe.get("clients", ())) <= _CLIENTS)
    for recipe, instance in meeting(claim, small):
        letters = dict(_rational(claim.setting.bind(instance.problem, instance.params)))
        _known(claim, at, tuple(letters))
        key = tuple(letters.items())
        if key not in found and all(letters[name] == value for name, value in at.items()):
            found[key] = Choice(key, (recipe,))
        if len(found) == _DRAWN:
            break
    return list(found.values())


def _rational(values: Mapping[Any, Any]) -> Iterator[tuple[str, Fraction]]:
    for symbol, value in values.items():
        if isinstance(value, int | Fraction | np.integer):
            yield str(symbol), Fraction(value if isinstance(value, Fraction) else int(value))
