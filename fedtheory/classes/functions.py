"""Classes of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy

from fedtheory.instances import members
from fedtheory.instances.base import Recipe, check_shape, generic, number, numbers, pick, small
from fedtheory.problems.base import Problem
from fedtheory.problems.bent import Bent
from fedtheory.problems.functions import Functions
from fedtheory.problems.quadratic import diagonal
from fedtheory.rational import Array, square_root

#: How much worse a member is that must be just outside a class.
WORSE = Fraction(1, 10**6)
#: A named instance just outside a class.
Outside = Iterator[tuple[str, Problem, Any]]


def _each(value: Any, n: int) -> Array:
    return np.array([value] * n, dtype=object)


@dataclass(frozen=True)
class SmoothStronglyConvex:
    """f_1, ..., f_n (and g, where the problem has one), each mu-strongly convex and L-smooth.

    ``mu``, ``L``: the letters of the constants declared of all. ``conjugates``: the method sees the f_i through their
    conjugates. ``kinks``: whether functions with two slopes are among the members; ``turned``: whether Hessians with
    other eigenvectors are; ``identical``: f_1 = ... = f_n; ``quadratics``: the class is of quadratics only.
    ``conditions``: options for L/mu, any if there are none.
    """

    mu: sympy.Symbol
    L: sympy.Symbol
    conjugates: bool = False
    kinks: bool = True
    turned: bool = True
    identical: bool = False
    quadratics: bool = False
    conditions: tuple[Fraction, ...] = ()
    #: Whether the formulas say less than all that is known of the class.
    loose = False

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.mu}-strongly convex and {self.L}-smooth"

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance have the constants declared."""
        return all(min(part.mu) >= problem.mu and max(part.L) <= problem.L for part in members.parts(problem))

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool) -> Recipe:
        """The part of a recipe that says the functions: curvatures mostly at the ends of the class."""
        L = self._scale(rng)
        mu = L / self._condition(rng)
        return {**self._functions(rng, n, d, mu, L, with_g), str(self.mu): mu, str(self.L): L}

    def _scale(self, rng: np.random.Generator) -> Fraction:
        return members.scale(rng)

    def _condition(self, rng: np.random.Generator) -> Fraction:
        return pick(rng, self.conditions) if self.conditions else members.condition(rng)

    def _functions(self, rng: np.random.Generator, n: int, d: int, mu: Any, L: Any, with_g: bool) -> Recipe:
        style = members.draw_style(rng, d, self.kinks and not self.quadratics, self.turned)
        clients = tuple(members.draw_client(rng, d, mu, L, style) for _ in range(n))
        if self.identical:
            clients = ({**clients[0], "y": (Fraction(0),) * d},) * n
        recipe: dict[str, Any] = {"d": d, "x": small(rng, d), "clients": clients}
        if with_g:
            recipe["g"] = {**members.draw_client(rng, d, mu, L, style._replace(turned=False)), "y": (Fraction(0),) * d}
        return recipe

    def at(self, values: Mapping[str, Fraction], n: int, stiff: int, with_g: bool) -> Recipe:
        """The functions of a grid's point, L/mu = ``values["kappa"]``: L for the first ``stiff`` clients, mu for
        others.

        ``ValueError`` for a condition number below 1, or one that the class does not have.
        """
        kappa = values["kappa"]
        if kappa < 1:
            raise ValueError(f"kappa must be at least 1, got {kappa}")
        if self.conditions and not isinstance(square_root(kappa), Fraction):
            raise ValueError(f"kappa must be the square of a rational here, so that the stepsizes are: got {kappa}")
        mu, L = (Fraction(1), kappa) if self.conjugates else (1 / kappa, Fraction(1))
        flat = (Fraction(0),)
        clients = tuple({"h": (L if i < stiff else mu,), "y": flat} for i in range(n))
        g = {"g": {"h": (mu,), "y": flat}} if with_g else {}
        return {"d": 1, "x": flat, "clients": clients, **g, str(self.mu): mu, str(self.L): L}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, L) as declared of the functions of a recipe; ``ValueError`` unless positive."""
        mu, L = recipe[str(self.mu)], recipe[str(self.L)]
        check_shape(recipe["d"], mu, L)
        return number(mu, exact), number(L, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` (clients, or g alone) with gradients ``y (..., n, d)`` at ``x (..., d)``."""
        return members.bent(members.functions(parts, x, y, exact), x, number(recipe.get("bend", 0), exact))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: as declared, or as of functions that do not keep to it."""
        mu, L = members.curvatures(problem)
        return _each(mu, problem.n), _each(L, problem.n)

    def constants(self, problem: Problem, params: Any) -> tuple[Array, Array] | None:
        """mu and L of the f_i as letters take them from the functions; None for the curvatures of the class."""
        return None

    def average(self, problem: Problem, params: Any) -> Callable[..., Iterator[tuple[str, Any]]] | None:
        """What is known of the average of the f_i beyond the f_i: see :class:`StronglyConvexOnAverage`."""
        return None

    def outside(self, problem: Problem, params: Any, known: Problem) -> Outside:
        """Instances whose functions are a little worse than the class allows, or than those of ``known``."""
        for part in ("f", "g"):
            functions = getattr(problem, part, None)
            if functions is None:
                continue
            posed = getattr(known, part)
            mu, L = np.minimum(functions.mu, problem.mu), np.maximum(np.maximum(functions.L, posed.L), problem.L)
            # The class of each function may be wider than what is declared of all.
            lower = (mu - WORSE * abs(mu), np.minimum(mu, posed.mu) - WORSE * L)
            worse = [("less smooth", functions.mu, (1 + WORSE) * L)]
            worse += [("less convex", below, functions.L) for below in lower]
            for name, of_mu, of_L in worse:
                changed: Any = SimpleNamespace(n=functions.n, d=functions.d, mu=of_mu, L=of_L)
                yield f"{name} functions", replace(problem, **{part: changed}), params


@dataclass(frozen=True)
class Smooth(SmoothStronglyConvex):
    """Each function L-smooth, convex or not; ``mu`` is the letter of what the members happen to have."""

    loose = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each {self.L}-smooth, convex or not"

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        return all(min(part.mu) >= -problem.L and max(part.L) <= problem.L for part in members.parts(problem))

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        # In sevenths, so that no function becomes flat: one flatter yet would not be another.
        recipe = super().draw(rng, n, d, with_g)
        share = pick(rng, tuple(Fraction(v) for v in (0, 0, 0, "3/7", "6/7", "11/7", 3)))
        return {**recipe, "bend": share * recipe[str(self.L)]} if share else recipe

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        mu, L = members.curvatures(problem)
        largest = max(L, -mu)
        return _each(-largest, problem.n), _each(largest, problem.n)


@dataclass(frozen=True)
class WeaklyConvex(SmoothStronglyConvex):
    """Each function with curvatures between -s and r >= s; ``mu`` is the letter of s, ``L`` that of r.

    ``symmetric``: s = r, so that all that is known is that gradients are r-Lipschitz.
    """

    symmetric: bool = False

    @property
    def text(self) -> str:
        """The class, in words."""
        if self.symmetric:
            return f"each with an {self.L}-Lipschitz gradient"
        return f"each with curvatures between -{self.mu} and {self.L}"

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        # Declared are -s and r.
        return bool(min(problem.f.mu) >= problem.mu and max(problem.f.L) <= problem.L)

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        r = self._scale(rng)
        s = r * (Fraction(1) if self.symmetric else pick(rng, tuple(Fraction(v) for v in (0, "1/7", "3/7", 1, 1))))
        recipe = self._functions(rng, n, d, (r + s) / self._condition(rng), r + s, with_g)
        return {**recipe, str(self.mu): s, str(self.L): r}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, L) as declared of the functions of a recipe."""
        s, r = recipe[str(self.mu)], recipe[str(self.L)]
        check_shape(recipe["d"], r)
        if not 0 <= s <= r or (self.symmetric and s != r):
            raise ValueError(f"curvatures lie between -{self.mu} and {self.L} >= {self.mu} >= 0")
        return number(-s, exact), number(r, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` with gradients ``y (..., n, d)`` at ``x (..., d)``."""
        return members.bent(super().build(recipe, parts, x, y, exact), x, number(recipe[str(self.mu)], exact))

    def outside(self, problem: Problem, params: Any, known: Problem) -> Outside:
        """Named instances just outside the class, each worse by a little."""
        f: Any = problem.f
        mu, L = np.minimum(f.mu, known.f.mu), np.maximum(f.L, known.f.L)
        for name, of_mu, of_L in (("less smooth", mu, (1 + WORSE) * L), ("less convex", mu - WORSE * L, L)):
            changed: Any = SimpleNamespace(n=f.n, d=f.d, mu=of_mu, L=of_L)
            yield f"{name} functions", replace(problem, f=changed), params


@dataclass(frozen=True)
class SmoothOwn(SmoothStronglyConvex):
    """f_i with an r_i-Lipschitz gradient, convex or not, each with the r_i of ``Params``.

    Nothing is known of an optimum. The members are quadratics, and quadratics less a bend; ``mu``, ``L`` are no letters
    of theirs.
    """

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each with an r_i-Lipschitz gradient"

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        f = problem.f
        return all(-r <= mu and r >= L for mu, L, r in zip(f.mu, f.L, params.r, strict=True))

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool) -> Recipe:
        """The part of a recipe that says the functions of a random member."""

        def client() -> Recipe:
            h = tuple(pick(rng, tuple(Fraction(v) for v in (1, 1, "1/2", "1/50"))) for _ in range(d))
            bend = pick(rng, tuple(Fraction(v) for v in (0, 0, 1, 2, 2)))
            width = pick(rng, (Fraction(1), Fraction(100)))
            if pick(rng, (True, False, False)):
                # Nearly as concave as the class allows, wherever states are.
                h, bend, width = (Fraction(1, 50), *h[1:]), Fraction(2), Fraction(100)
            size = max(*h, bend - min(h))
            scale = pick(rng, (Fraction(1), Fraction(1), Fraction(3)))
            more = {"c": small(rng, d), "width": width}
            return {"h": tuple(scale * v for v in h), "bend": scale * bend, "r": scale * size, **more}

        return {"d": d, "clients": tuple(client() for _ in range(n))}

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, L) as declared of the functions of a recipe."""
        r = max(c["r"] for c in recipe["clients"])
        return number(-r, exact), number(r, exact)

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """Functions with their bends at the origin."""
        check_shape(recipe["d"], *(v for c in parts for v in (*c["h"], c["r"], c["width"])))
        if any(c["bend"] < 0 for c in parts):
            raise ValueError("bends must not be negative")
        h, c, b, width = (numbers([client[key] for client in parts], exact) for key in ("h", "c", "bend", "width"))
        if not any(client["bend"] for client in parts):
            return diagonal(h, c)
        u = np.zeros(h.shape, dtype=int) + (b > 0)[:, None] * np.eye(1, recipe["d"], dtype=int)
        f: Any = Bent(h, c, u.astype(h.dtype), np.where(b > 0, b, 1 + 0 * b), 0 * b, width)
        return f

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        r = np.maximum(params.r, np.maximum(problem.f.L, -problem.f.mu))
        return -r, r

    def outside(self, problem: Problem, params: Any, known: Problem) -> Outside:
        """Named instances just outside the class, each worse by a little."""
        r = (1 + WORSE) * known.f.L
        for i in range(problem.n):
            L = np.where(np.arange(problem.n) == i, r, problem.f.L)
            for name, mu in (("less smooth", problem.f.mu), ("less convex", -L)):
                changed: Any = SimpleNamespace(n=problem.n, d=problem.f.d, mu=mu, L=L)
                yield f"{name} functions", replace(problem, f=changed), params


@dataclass(frozen=True)
class OneStronglyConvex(SmoothStronglyConvex):
    """f_1 mu-strongly convex, the others convex; all L-smooth."""

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"f_1 {self.mu}-strongly convex, the others convex, all {self.L}-smooth"

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        f = problem.f
        return bool(f.mu[0] >= problem.mu and min(f.mu) >= 0 and max(f.L) <= problem.L)

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        recipe = super().draw(rng, n, d, with_g)
        share = pick(rng, (Fraction(1), Fraction(1, 100)))
        others = tuple(
            {**c, **{k: tuple(share * v for v in c[k]) for k in _SLOPES & set(c)}} for c in recipe["clients"]
        )
        return {**recipe, "clients": (recipe["clients"][0], *others[1:])}

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        f: Any = problem.f
        first: Any = SimpleNamespace(n=1, d=f.d, mu=f.mu[:1], L=f.L[:1])
        mu, L = members.curvatures(replace(problem, f=first))
        lower = _each(Fraction(0), problem.n)
        lower[0] = mu
        return lower, _each(max(L, *problem.f.L), problem.n)


#: The curvatures of a client in a recipe.
_SLOPES = {"h", "h_above"}


@dataclass(frozen=True)
class StronglyConvexOnAverage(SmoothStronglyConvex):
    """Each f_i convex and L-smooth, their average mu-strongly convex; of the average only pairs with x* are used."""

    loose = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"each convex and {self.L}-smooth, their average {self.mu}-strongly convex"

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        f = problem.f
        return bool(min(f.mu) >= 0 and max(f.L) <= problem.L and f.mu.mean() >= problem.mu)

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        recipe = super().draw(rng, n, d, with_g)
        mu, L = recipe[str(self.mu)], recipe[str(self.L)]
        mean = sum(min((*c["h"], *c.get("h_above", ()))) for c in recipe["clients"]) / n
        declared = pick(rng, (mu, min(mean, L), min(mean, L), min(2 * mean, L)))
        bend = pick(rng, ({},) * 8 + ({"bend": 2 * mu}, {"bend": L}))
        return {**recipe, **bend, str(self.mu): declared}

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        mu, L = members.curvatures(problem)
        return _each(min(Fraction(0), mu), problem.n), _each(L, problem.n)

    def average(self, problem: Problem, params: Any) -> Callable[..., Iterator[tuple[str, Any]]]:
        """What is known of the average f: formulas <= 0 of x - x*, f(x) - f* and grad f(x), each with its name."""
        mu = min(problem.mu, problem.f.mu.mean())

        def formulas(x: Any, gap: Any, gradient: Any | None) -> Iterator[tuple[str, Any]]:
            """mu/2 |x - x*|^2 <= f(x) - f* <= <grad f(x), x - x*> - mu/2 |x - x*|^2, for ``x`` relative to x*."""
            square = mu / 2 * x**2
            yield "average from x*", square - gap
            if gradient is not None:
                yield "average to x*", gap + square - gradient * x

        return formulas


@dataclass(frozen=True)
class PolyakLojasiewicz(SmoothStronglyConvex):
    """Each f_i L_i-smooth, convex or not; the average has the Polyak-Lojasiewicz constant mu, the mean of the mu_i.

    The letters stand for means over the functions. The members are convex.
    """

    loose = True

    @property
    def text(self) -> str:
        """The class, in words."""
        return f"f {self.mu}-Polyak-Lojasiewicz and {self.L}-smooth, f_i L_i-smooth"

    def _scale(self, rng: np.random.Generator) -> Fraction:
        # Stepsizes have nine digits: of a size far from 1 they leave certificates no room.
        return pick(rng, (Fraction(1), Fraction(1), generic(rng, Fraction(1, 2), Fraction(4))))

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        return True

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return -problem.f.L, problem.f.L

    def constants(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """The mu_i and the L_i, ``(n,)`` each; means of them are the letters."""
        return problem.f.mu, problem.f.L

    def average(self, problem: Problem, params: Any) -> Callable[..., Iterator[tuple[str, Any]]]:
        """What is known of the average f: formulas <= 0 of x - x*, f(x) - f* and grad f(x), each with its name."""
        mu, L = (constants.sum() / problem.n for constants in (problem.f.mu, problem.f.L))

        def formulas(x: Any, gap: Any, gradient: Any | None) -> Iterator[tuple[str, Any]]:
            """|grad f(x)|^2/(2L) <= f(x) - f* <= |grad f(x)|^2/(2 mu)."""
            if gradient is not None:
                yield "f at least f*", gradient**2 / (2 * L) - gap
                yield "Polyak-Lojasiewicz", gap - gradient**2 / (2 * mu)

        return formulas


@dataclass(frozen=True)
class SmoothEach(SmoothStronglyConvex):
    """f_i mu-strongly convex and L_i-smooth, each with the constant L_i that it has."""

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return _each(members.curvatures(problem)[0], problem.n), problem.f.L


@dataclass(frozen=True)
class SmoothBlocks(SmoothStronglyConvex):
    """h_1, ..., h_n, each of a variable of its own, mu_i-strongly convex and L_i-smooth with the L_i of ``Params``.

    ``mu``, ``L``: the least of the mu_i and the largest of the L_i. ``common``: whether one mu is declared of all. The
    members are quadratics with any centres.
    """

    common: bool = False

    @property
    def text(self) -> str:
        """The class, in words."""
        return "each mu_i-strongly convex and L_i-smooth"

    def contains(self, problem: Problem, params: Any) -> bool:
        """Whether the functions of an instance belong to the class."""
        convex = not self.common or min(problem.f.mu) >= problem.mu
        return convex and all(h <= bound for h, bound in zip(problem.f.L, params.L, strict=True))

    def draw(self, rng: np.random.Generator, n: int, d: int, with_g: bool) -> Recipe:
        """The part of a recipe that says the functions of a random member."""
        top = members.scale(rng)
        mu = top / self._condition(rng)
        spread = pick(rng, ((1,), (1, 2, 3, 4), (1, 10, 100), (1, 4))) if not self.common else (1, 1, 2)
        bounds = [max(mu, top / pick(rng, spread)) for _ in range(n - 1)] + [top]
        # Each function at the ends of its own class, or flatter.
        clients = tuple(
            {"L": L, "h": tuple(pick(rng, (L, L, mu, (L + mu) / 2)) for _ in range(d)), "c": small(rng, d)}
            for L in bounds
        )
        level = Fraction(0) if self.common else pick(rng, tuple(Fraction(v) for v in (0, 0, 1, -2, 50)))
        recipe = {"d": d, "level": level, "clients": clients}
        return {**recipe, str(self.mu): mu} if self.common else recipe

    def at(self, values: Mapping[str, Fraction], n: int, stiff: int, with_g: bool) -> Recipe:
        """L_1 = 1, the other L_i = 1/``values["spread"]``, or all of them 1; mu = 1/kappa."""
        base, spread = super().at(values, n, stiff, False), values.get("spread", Fraction(1))
        mu = 1 / values["kappa"]
        if not mu <= 1 / spread <= 1:
            raise ValueError("spread = L_max/L_min must lie between 1 and kappa")
        bounds = [Fraction(1), *[1 / spread] * (n - 1)]
        slopes = [c["h"] if self.common else (mu,) for c in base["clients"]]
        clients = tuple({"L": L, "h": h, "c": (Fraction(0),)} for L, h in zip(bounds, slopes, strict=True))
        recipe = {"d": 1, "level": Fraction(0), "clients": clients}
        return {**recipe, str(self.mu): mu} if self.common else recipe

    def declared(self, recipe: Recipe, exact: bool) -> tuple[Any, Any]:
        """(mu, L) as declared of the functions of a recipe."""
        check_shape(recipe["d"], *(v for c in recipe["clients"] for v in c["h"]))
        low = min(v for c in recipe["clients"] for v in c["h"])
        return number(recipe[str(self.mu)] if self.common else low, exact), number(
            max(v for c in recipe["clients"] for v in c["h"]), exact
        )

    def build(self, recipe: Recipe, parts: Any, x: Array, y: Array, exact: bool) -> Functions:
        """The functions of ``parts`` with gradients ``y (..., n, d)`` at ``x (..., d)``."""
        h, c = (numbers([client[key] for client in parts], exact) for key in ("h", "c"))
        return diagonal(h, c, number(recipe["level"], exact) / len(parts))

    def curvatures(self, problem: Problem, params: Any) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``."""
        return _each(problem.mu, problem.n) if self.common else problem.f.mu, params.L
