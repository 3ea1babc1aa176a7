"""Functions described by recipes, in small rationals: quadratics, rotated, less a parabola, or with a strip of another
curvature, and piecewise ones; drawn, built and simplified.

Curvatures are mostly at the bounds of the class. Every function is placed by a point x and its gradients there, so that
x is stationary where the gradients balance; :func:`fedtheory.problems.separable.is_minimised` decides whether it is a
minimiser.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import singledispatch
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from fedtheory.instances import Recipe, check_shape, generic, number, numbers, pick, small
from fedtheory.numbers.rational import Array, apply, inverse
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.blocks import Blocks
from fedtheory.problems.coupling import Coupling
from fedtheory.problems.functions import Functions
from fedtheory.problems.nonconvex import LessHuber, less_parabola
from fedtheory.problems.piecewise import Kinked, PiecewiseQuadratic
from fedtheory.problems.quadratic import Turned, diagonal
from fedtheory.problems.separable import is_minimised

#: Tangents of half the angles by which Hessians are turned.
_TURNS = tuple(Fraction(v) for v in (0, "1/10", "-1/10", "1/3", "-1/3", "2/3", "-2/3"))
#: The shares of the members' own constants by which those declared of them are weaker.
SHARES = tuple(Fraction(v) for v in (1, 1, 1, 1, "1/2"))
#: A recipe's names for the slopes of a client's gradient from left to right, and for the kinks between, relative to x.
SLOPES, KINKS = ("h", "h_above", "h_beyond"), ("kink", "kink_beyond")
#: What it calls half the jump of the derivative at a kink in each coordinate, where that is relative to x, which
#: subgradient is given there, and at x which one balances, if it is another.
JUMPS = ("jump", "jump_at", "choice", "balancing")
#: The share of extreme condition numbers.
_EXTREME = 0.03


def curved(parts: Sequence[Recipe], x: Array, y: Array, exact: bool) -> Functions:
    """As :func:`functions`, with curvatures of any sign, 0 included, and jumps: functions of positive curvatures less a
    parabola, with kinks.

    ``ValueError`` without clients, where Hessians are turned outside the plane, or where jumps are negative.
    """
    if any("jump" in c for c in parts):
        return _kinked(parts, x, y, exact)
    slopes = [v for c in parts for v in slopes_of(c)]
    if not slopes or min(slopes) > 0:
        return functions(parts, x, y, exact)
    # Scaled like them, so that rounding stays as small as they are.
    bend = max(map(abs, slopes)) - min(slopes) or Fraction(1)
    lifted = [
        {
            **c,
            **{key: tuple(v + bend for v in c[key]) for key in SLOPES if key in c},
            **({"dip": c["dip"] + bend} if "dip" in c else {}),
        }
        for c in parts
    ]
    return less_parabola(functions(lifted, x, y, exact), x, number(bend, exact))


def functions(parts: Sequence[Recipe], x: Array, y: Array, exact: bool) -> Functions:
    """Functions with gradients ``y (..., n, d)`` at ``x (..., d)``: quadratics, diagonal or turned, piecewise ones, or
    quadratics with a strip.

    ``ValueError`` without clients or positive curvatures, where Hessians are turned outside the plane, or where kinks
    do not ascend.
    """
    if not parts:
        raise ValueError("there must be at least one client")
    check_shape(len(parts[0]["h"]), *(v for c in parts for v in slopes_of(c)))
    if any("dip" in c for c in parts):
        return _dipped(parts, x, y, exact)
    below = numbers([c["h"] for c in parts], exact)
    if any("h_above" in c for c in parts):
        every = [pieces(c) for c in parts]
        slopes = tuple(numbers([own[k] for own, _ in every], exact) for k in range(len(SLOPES)))
        kinks = tuple(numbers([own[k] for _, own in every], exact) for k in range(len(KINKS)))
        if not any("h_beyond" in c for c in parts):
            slopes, kinks = slopes[:2], kinks[:1]
        if any((slope != below).any() for slope in slopes[1:]):
            about = PiecewiseQuadratic(slopes, kinks, 0 * below)
            return PiecewiseQuadratic(
                slopes, tuple(x[..., None, :] + kink for kink in kinks), y - about.gradient(0 * below)
            )
    if any(c.get("turn", 0) for c in parts):
        H = _turned(numbers([c.get("turn", 0) for c in parts], exact), below)
        return Turned(H, x[..., None, :] - apply(inverse(H), y), spectra=below)
    return diagonal(below, x[..., None, :] - y / below)


def _kinked(parts: Sequence[Recipe], x: Array, y: Array, exact: bool) -> Functions:
    """Functions whose derivatives jump by twice ``jump`` at ``jump_at`` from ``x``, in each coordinate; the subgradient
    there is the one of ``choice``, and y that of ``balancing``."""
    none = (Fraction(0),) * len(parts[0]["h"])
    parts = [{"balancing": c.get("choice", none), **c} for c in parts]
    jump, at, choice, balancing = (numbers([c.get(key, none) for c in parts], exact) for key in JUMPS)
    if abs(balancing).max() > 1:
        raise ValueError("what balances is a subgradient, between -1 and 1 in the place of the sign")
    sign = np.where(at < 0, 1, np.where(at > 0, -1, balancing))
    plain = [{key: v for key, v in c.items() if key not in JUMPS} for c in parts]
    return cast(Functions, Kinked(curved(plain, x, y - jump * sign, exact), x[..., None, :] + at, jump, choice))


def _dipped(parts: Sequence[Recipe], x: Array, y: Array, exact: bool) -> Functions:
    """Quadratics, some with the curvature ``dip`` where the first coordinate is between ``dip_from`` and
    ``dip_to`` beyond that of ``x``. Raise ``ValueError`` unless it is a smaller one than elsewhere."""
    plain = [
        {"dip": c["h"][0] - 1, "dip_from": Fraction(0), "dip_to": Fraction(2)} if "dip" not in c else c for c in parts
    ]
    h = numbers([c["h"] for c in parts], exact)
    low, start, end = (numbers([c[key] for c in plain], exact) for key in ("dip", "dip_from", "dip_to"))
    if any("h_above" in c or c.get("turn", 0) for c in parts) or (low >= h[:, 0]).any() or (start >= end).any():
        raise ValueError("a strip of a quadratic has two ends, and a smaller curvature than the rest")
    has = np.array([["dip" in c] for c in parts])
    u = np.where(has, np.eye(1, h.shape[-1], dtype=int), 0).astype(h.dtype)
    middle, width, bend = (start + end) / 2, (end - start) / 2, h[:, 0] - low
    # At x the strip's part of the gradient is what its curvature takes away up to its nearer end.
    taken = bend * np.maximum(-width, np.minimum(width, -middle))
    return cast(
        Functions, LessHuber(h, x[..., None, :] - (y + taken[:, None] * u) / h, u, bend, x[..., :1] + middle, width)
    )


def slopes_of(client: Recipe) -> tuple[Fraction, ...]:
    """All curvatures that a client's function has somewhere, but for that of a strip."""
    return tuple(v for key in SLOPES for v in client.get(key, ()))


def pieces(client: Recipe) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """All slopes and kinks of a client: what a recipe leaves out is as before it."""
    slopes = [client["h"]]
    for key in SLOPES[1:]:
        slopes.append(client.get(key, slopes[-1]))
    kinks = [client.get("kink", (0,) * len(client["h"]))]
    kinks.append(client.get("kink_beyond", kinks[0]))
    return tuple(slopes), tuple(kinks)


def _turned(t: Array, h: Array) -> Array:
    """Every Hessian diag(h) turned in the plane, by twice the angle whose tangent is ``t``."""
    if h.shape[-1] != 2:
        raise ValueError("Hessians are turned in the plane only")
    cos, sin = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
    Q = np.stack([np.stack([cos, -sin], axis=-1), np.stack([sin, cos], axis=-1)], axis=-2)
    return np.matmul(Q * h[:, None, :], np.swapaxes(Q, -1, -2))


def sizes(client: Recipe) -> list[Any]:
    """The sizes of a client's curvatures."""
    return [*map(abs, (*slopes_of(client), *((client["dip"],) if "dip" in client else ())))]


# Drawing


class Style(NamedTuple):
    """The style of one recipe's functions: whether they have kinks or are rotated, and where their curvatures lie."""

    kinks: bool
    turned: bool
    places: tuple[Fraction, ...]


def scale(rng: np.random.Generator) -> Fraction:
    """A size of the functions: sizes far from 1 show what is of the wrong dimension."""
    return pick(rng, (Fraction(1), Fraction(1), Fraction(1), generic(rng, Fraction(1, 100), Fraction(100))))


def condition(rng: np.random.Generator) -> Fraction:
    """A condition number: 1, near 1, moderate or large."""
    low, high = pick(rng, ((1, 1), (1, 2), (1, 10), (2, 10), (10, 100), (100, 1000)))
    if rng.random() < _EXTREME:
        low, high = 1000, 10**5
    return max(Fraction(1), generic(rng, Fraction(low), Fraction(high)))


def draw_style(rng: np.random.Generator, d: int, kinks: bool, turned: bool) -> Style:
    """A style for functions on R^d: where curvatures lie, whether they have ``kinks``, whether axes are ``turned``."""
    places = pick(
        rng, ((0,), (1,), (0, 1), (0, 1), (0, 1, Fraction(1, 2)), (0, 1, generic(rng, Fraction(1, 20), Fraction(1))))
    )
    two = kinks and bool(pick(rng, (False, False, False, True)))
    return Style(two, turned and d == 2 and not two and bool(pick(rng, (True, False))), tuple(map(Fraction, places)))


def draw_functions(
    rng: np.random.Generator,
    n: int,
    d: int,
    ends: tuple[Fraction, Fraction],
    with_g: bool,
    kinks: bool = True,
    turned: bool = True,
) -> dict[str, Any]:
    """The part of a recipe that says the functions, with curvatures between the ``ends``, and mostly at them."""
    style = draw_style(rng, d, kinks, turned)
    clients = tuple(draw_client(rng, d, *ends, style) for _ in range(n))
    recipe: dict[str, Any] = {"d": d, "x": small(rng, d), "clients": clients}
    if with_g:
        recipe["g"] = {**draw_client(rng, d, *ends, style._replace(turned=False)), "y": (Fraction(0),) * d}
    return recipe


def draw_client(rng: np.random.Generator, d: int, mu: Fraction, L: Fraction, style: Style) -> Recipe:
    """One function: ``h``, its curvatures; ``y``, its gradient; what else the style asks for."""

    def somewhere() -> tuple[Fraction, ...]:
        return tuple(mu + (L - mu) * pick(rng, style.places) for _ in range(d))

    client: dict[str, Any] = {"h": somewhere(), "y": small(rng, d)}
    if style.kinks:
        client |= {"h_above": tuple(pick(rng, (mu, L)) for _ in range(d)), "kink": small(rng, d)}
        if pick(rng, (True, False)):
            beyond = tuple(kink + abs(width) for kink, width in zip(client["kink"], small(rng, d), strict=True))
            client |= {"h_beyond": tuple(pick(rng, (mu, L)) for _ in range(d)), "kink_beyond": beyond}
    if style.turned:
        client["turn"] = pick(rng, _TURNS)
    return client


def draw_strips(
    rng: np.random.Generator, recipe: Recipe, low: Fraction, high: Fraction, monotone: bool = False
) -> Recipe:
    """The recipe with quadratics, the first of which, and others perhaps, have a strip of curvature ``low`` < 0, or
    half of it, beside x; ``monotone``: beyond it the functions go on growing."""
    # With a share of -1 the function is least at a second point too.
    shares = tuple(Fraction(v) for v in (0, "1/10", "1/2", *(() if monotone else ("-1/2", -1, -1))))

    def client(given: Recipe, has: bool) -> Recipe:
        h, dip = pick(rng, (high, high, high / 2)), pick(rng, (low, low, low / 2))
        start, sign = pick(rng, tuple(Fraction(v) for v in ("1/4", 1, 2))), pick(rng, (1, -1))
        # Where the strip begins the derivative is h start; where it ends a share of that is left.
        share = pick(rng, shares)
        ends = sorted((sign * start, sign * (start + (1 - share) * h * start / -dip)))
        strip = {"dip": dip, "dip_from": ends[0], "dip_to": ends[1]} if has else {}
        return {"h": (h,) * recipe["d"], "y": given["y"], **strip}

    clients = [client(given, not i or pick(rng, (True, False))) for i, given in enumerate(recipe["clients"])]
    return {**recipe, "clients": tuple(clients)}


def minimised(recipe: Recipe) -> Recipe:
    """The recipe with functions made convex, one after the other, until the sum is least at x."""
    d, clients = recipe["d"], list(recipe["clients"])
    x = numbers((0,) * d, True)

    def built(parts: Sequence[Recipe]) -> Functions:
        return curved(parts, x, numbers([(0,) * d] * len(parts), True), True)

    for i, client in enumerate(clients):
        if is_minimised(built(clients), built([recipe["g"]]) if "g" in recipe else None, x):
            break
        clients[i] = _convex(client)
    more = {} if "g" not in recipe or min(recipe["g"]["h"]) >= 0 else {"g": _convex(recipe["g"])}
    return {**recipe, "clients": tuple(clients), **more}


def _convex(client: Recipe) -> Recipe:
    """The client with the sizes of its curvatures, and no strip."""
    plain = {name: value for name, value in client.items() if name not in ("dip", "dip_from", "dip_to")}
    return {**plain, **{key: tuple(map(abs, client[key])) for key in SLOPES if key in client}}


# Simplifying


def simpler(recipe: Recipe, ends: tuple[str, str] | None) -> Iterator[Recipe]:
    """The same problem with plain quadratics, with the least constant 1, and with smaller condition numbers.

    ``ends``: the names of the least and of the largest curvature, where the class has letters for both.
    """
    clients = recipe["clients"]
    odd = ("turn", *SLOPES[1:], *KINKS, "dip", "dip_from", "dip_to")
    extra = [name for name in odd if any(name in c for c in clients)]
    if extra:
        for slopes in ("h", *(name for name in SLOPES[1:] if name in extra)):
            plain = tuple(
                {k: v for k, v in {**c, "h": c.get(slopes, c["h"])}.items() if k not in extra} for c in clients
            )
            yield {**recipe, "clients": plain}
    if "h_beyond" in extra:
        yield {**recipe, "clients": tuple(_without_last(c) for c in clients)}
        yield {**recipe, "clients": tuple(_without_first(c) for c in clients)}
    for names in (JUMPS, JUMPS[1:]):
        plain = tuple({**c, **{k: (Fraction(0),) * recipe["d"] for k in names if k in c}} for c in clients)
        if plain != clients:
            yield {**recipe, "clients": plain}
    if ends is None or not set(ends) <= set(recipe):
        return
    mu, L = ends
    low, high = recipe[mu], recipe[L]
    for end in (low, high):
        yield {**recipe, "clients": tuple({**c, "h": (end,) * recipe["d"]} for c in clients)}
    if low <= 0 or high < low:
        return
    for kappa in map(Fraction, (1, 2, 4, 9, 16, 25, high / low)):
        # Curvatures at the ends of the class stay there; others keep their place between the ends.
        span = (kappa - 1) / (high - low) if high != low else Fraction(0)

        def moved(client: Recipe, kappa: Fraction = kappa, span: Fraction = span) -> Recipe:
            places = {low: Fraction(1), high: kappa}
            slopes = {k: tuple(places.get(v, 1 + (v - low) * span) for v in client[k]) for k in SLOPES if k in client}
            return {**client, **slopes}

        yield {**recipe, mu: Fraction(1), L: kappa, "clients": tuple(map(moved, clients))}


def _without_last(client: Recipe) -> Recipe:
    """Two slopes of the three, without what is beyond the second kink."""
    return {name: value for name, value in client.items() if name not in ("h_beyond", "kink_beyond")}


def _without_first(client: Recipe) -> Recipe:
    """Two slopes of the three, without what is before the first kink."""
    if "h_beyond" not in client:
        return client
    moved = {"h": client["h_above"], "h_above": client["h_beyond"], "kink": client["kink_beyond"]}
    return {**_without_last(client), **moved}


# Samplers of classes of functions


class Drawing(Protocol):
    """Options for the drawing of functions that samplers use: see :class:`fedtheory.settings.Drawing`."""

    @property
    def conditions(self) -> tuple[Fraction, ...]:
        """Options for L/mu of strongly convex functions, any if there are none."""

    @property
    def kinks(self) -> bool:
        """True if some functions have curvatures of several sizes."""


@dataclass(frozen=True)
class Sampler:
    """The sampler of a class of functions, ``of``: members are drawn for a setting, and built from recipes."""

    of: Any
    drawing: Drawing

    #: True if recipes describe functions relative to the constants of the class, so that they scale with these.
    relative = False

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool, minimised: bool = True) -> Recipe:
        """The part of a recipe that says the functions of a random member.

        ``minimised``: their average has to have a minimiser, x.
        """
        raise NotImplementedError

    def at(self, values: Mapping[str, Fraction], n: int, stiff: int, with_g: bool) -> Recipe:
        """The functions of a grid's point. Raise ``ValueError`` if the class has none."""
        raise ValueError(f"there is no grid of parameters for functions {self.of.text}")

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, L) as declared of the functions of a recipe. Raise ``ValueError`` unless positive."""
        mu, L = recipe[str(self.of.mu)], recipe[str(self.of.L)]
        check_shape(recipe["d"], mu, L)
        return number(mu, exact), number(L, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` (clients, or g alone) with gradients ``y (..., n, d)`` at ``x (..., d)``."""
        return curved(parts, x, y, exact)

    def clients_of(self, recipe: Recipe) -> tuple[Recipe, ...]:
        """Return the clients of a recipe with explicit constants."""
        return recipe["clients"]

    def reference(self, recipe: Recipe, x: Array, exact: bool) -> Functions | None:
        """The reference function of a recipe about ``x (..., d)``, where the class has one."""
        return None

    def blocks(self, recipe: Recipe, exact: bool) -> Blocks | None:
        """The blocks of coordinates of a recipe, where the class has them."""
        return None

    def coupling(self, recipe: Recipe, x: Array, exact: bool) -> Coupling | None:
        """The linear operator of a recipe and the function of its values about ``x (..., d)``, where the class has
        them."""
        return None


class InnerSampler(Sampler):
    """The base of the sampler of a class whose f_i are those of another class, ``of.of``."""

    @property
    def inner(self) -> Sampler:
        """The sampler of the class of the f_i."""
        return sampler(self.of.of, self.drawing)

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Scalar, ...]:
        """(mu, L) as declared of the f_i of a recipe. Raise ``ValueError`` unless positive."""
        return self.inner.declared(recipe, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` (clients, or g alone) with gradients ``y (..., n, d)`` at ``x (..., d)``."""
        return self.inner.build(recipe, parts, x, y, exact)


@singledispatch
def sampler(functions: object, drawing: Drawing) -> Sampler:
    """The sampler of a class of functions for a setting's ``drawing``. Raise ``ValueError`` if it has none."""
    raise ValueError(f"no sampler is registered for {type(functions).__name__}")
