"""The interface of classes of functions: letters, membership, curvatures, and what is known of the average."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
import sympy

from fedtheory.instances import Source
from fedtheory.numbers.rational import Array
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.base import Problem
from fedtheory.problems.functions import Functions

#: What is known of the average f of the f_i: formulas <= 0 of x - x*, f(x) - f* and grad f(x), which is None where it
#: was not asked, each with its name.
Average = Callable[[Any, Any, Any | None], Iterator[tuple[str, Any]]]

#: The constants of a problem in what a class declares, and the s of a least curvature -s.
MU, ELL = sympy.symbols("mu L", positive=True)
S = sympy.Symbol("s", nonnegative=True)


class Bounds(NamedTuple):
    """Bounds of every f_i, in ``MU``, ``ELL`` and ``S``: the least and the largest curvature, each None where there is
    none, and ``steepest``, of the squares of the lengths of gradients, None where nothing is known of them. ``own``:
    the curvatures are those of the average, and each f_i is smooth with a constant of its own."""

    least: sympy.Expr | None
    largest: sympy.Expr | None
    steepest: sympy.Expr | None = None
    own: bool = False


class OfClient(NamedTuple):
    """The least and the largest curvature of a single client's function, by name: "0", "mu" and "L" for constants of
    the problem, "f.mu" and "f.L" for the client's own ("f.L" lies between mu and L), "params.r" for its entry of the
    parameter r; each may have a minus.

    ``conjugates``: the functions are strongly convex, or treated so where the least is 0, and their conjugates are
    posed. ``equal``: the two curvatures may be one. ``of_g``: g has them too. ``one``: the parameter that says which
    client has the least curvature, that of the others being 0; empty if none does, None if all have it.
    """

    least: str
    largest: str
    conjugates: bool = False
    equal: bool = False
    of_g: bool = False
    one: str | None = None


class OfOperators(NamedTuple):
    """The inequalities of each operator that is asked as gradients are, in ``MU`` and ``ELL``, for the differences
    x of two points and g of the values there: <g, x> >= ``least`` |x|^2; |g| <= ``lipschitz`` |x|, and |g|^2 <=
    ``cocoercive`` <g, x>, each None where it is not known."""

    least: sympy.Expr
    lipschitz: sympy.Expr | None = None
    cocoercive: sympy.Expr | None = None


class Linear(NamedTuple):
    """Functions as ``of`` declares them, beside a convex h taken at K x, whose optimum is a saddle point. K is a
    linear operator of a known norm; ``least``, ``adjoint_least``: True if |K x|/|x| and |K' y|/|y| are known to be at
    least other numbers."""

    of: Declared
    least: bool
    adjoint_least: bool


@dataclass(frozen=True)
class Declared:
    """The facts about the members of a class that proofs may assume, as data. Nothing else is assumed.

    ``bounds``: of every f_i, where programs of all clients pose the class; ``of_g``: of g, where it has others.
    ``average``: what is known of the average, with the constants ``MU`` and ``ELL``. ``client``: how inequalities of a
    single client's function pose the class. ``convex``: the average is convex. ``differentiable``: each f_i has a
    gradient at every point, and g too unless ``of_g`` is given. ``between``: each mu_i and L_i lies between mu and L.
    ``weak``: ``problem.mu`` is the least curvature -s, and s is at most L. ``operators``: these are no gradients, and
    nothing else is declared; they are maximally monotone. ``sets``: g, or each f_i where there is none, is a closed
    convex set that contains x*, ``bounded`` by a diameter D. ``named``: what is declared of each of a few
    functions in classes of their own; then nothing else is declared of all together. ``linear``: the same of
    functions beside one of K x. ``relative``: of every f_i relative to h; of h itself only that grad h
    is strictly monotone and takes every value. ``dissimilar``: the mean of |grad f_i(x) - grad f(x)|^2 is at most
    ``problem.M``^2 at every x. ``linear_gradients``: the functions, and g, are
    quadratics, whose Hessians are constant and symmetric.
    """

    bounds: Bounds | None = None
    of_g: Bounds | None = None
    average: Average | None = None
    client: OfClient | None = None
    convex: bool = False
    differentiable: bool = False
    between: bool = False
    weak: bool = False
    operators: OfOperators | None = None
    sets: bool = False
    bounded: bool = False
    named: tuple[Declared, ...] = ()
    linear: Linear | None = None
    relative: Bounds | None = None
    dissimilar: bool = False
    linear_gradients: bool = False


#: The share by which a member just outside a class is worse; and named instances of such.
WORSE = Fraction(1, 10**6)
Outside = Iterator[tuple[str, Problem, Any]]


def each(value: Scalar, n: int) -> Array:
    """One value for each of n functions, ``(n,)``."""
    return np.array([value] * n, dtype=object)


def only_declared(f: Functions, mu: Array, L: Array, **more: object) -> Functions:
    """Functions in the place of ``f`` with the constants ``mu (n,)``, ``L (n,)`` and ``more``, and without oracles."""
    return cast(Functions, SimpleNamespace(n=f.n, d=f.d, mu=mu, L=L, **more))


def with_part(problem: Problem, part: str, functions: Functions) -> Problem:
    """The problem with other functions f, or another g."""
    return replace(problem, f=functions) if part == "f" else replace(problem, g=functions)


@dataclass(frozen=True)
class FunctionClass:
    """The base of a class of functions f_1, ..., f_n: each class states its members, curvatures and formulas itself.

    ``optimum``: what x* is: "consensus", a minimiser of the sum; "sum zero", a minimiser of sum_i h_i(x_i) over the x
    whose sum is zero; "stationary", a point where the gradients balance, a minimiser or not; "saddle", a saddle
    point with a dual u*, beside a linear operator; "none" if the theorem has no optimum. By default the first of
    ``optima``.

    - ``alike``: True if its letters are all the constants of the class, the same for each f_i.
    - ``loose``: True if the formulas are weaker than what is known of the class, so that a bound that does not follow
      from them may hold.
    - ``conjugates``: True if the method sees the f_i through their conjugates.
    - ``quadratics``: True if the class has quadratics only.
    - ``constants``: the constants of the problem that letters may name.
    - ``optima``: the kinds of optimum that the class may have.
    - ``has_g``, ``with_g``: True if the class defines g; True if there always is a g.
    - ``flat``: the class that it becomes where mu = 0, as it is written.
    - ``ends``: the letters of the least and the largest curvature, if the class has both.
    - ``operators``: True if the gradients are values of an operator, which need not be the gradient of a function.
    - ``sets``: True if g, or each f_i, is a closed convex set.
    - ``coupled``: True if there is a function that is taken at K x, with K a linear operator.
    - ``reference``: True if curvatures are relative to a function h.
    - ``named``: the number of functions that code asks one by one, each of its own class; else 0.

    Args:
        optimum: What x* is; the first of ``optima`` by default.

    Raises:
        ValueError: For an optimum that the class does not have, or a constant that is not a letter.
    """

    alike = False
    operators = False
    sets = False
    coupled = False
    reference = False
    loose = False
    conjugates = False
    quadratics = False
    constants: ClassVar[tuple[str, ...]] = ("mu", "L", "kappa")
    optima: ClassVar[tuple[str, ...]] = ("consensus", "stationary")
    has_g = False
    with_g = False
    flat: ClassVar[str] = ""

    optimum: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if not self.optimum:
            object.__setattr__(self, "optimum", self.optima[0])
        if self.optimum not in self.optima:
            name, meant = type(self).__name__, " or ".join(map(repr, self.optima))
            raise ValueError(f"{name} has no members for the optimum {self.optimum!r}: write optimum={meant}")
        self._check_letters({f.name: getattr(self, f.name) for f in fields(self) if f.name in ("mu", "L", "M")})

    def _check_letters(self, letters: Mapping[str, Any]) -> None:
        """Raise ``ValueError`` if a constant of the class is not a letter, or two of them are the same."""
        name = type(self).__name__
        for constant, given in letters.items():
            if isinstance(given, sympy.Symbol):
                continue
            if constant == "mu" and given == 0 and self.flat:
                meant = (
                    f"with {constant} = 0 these are the functions of {self.flat.format(*list(letters)[1:])}: write that"
                )
            else:
                meant = f"write a letter, as ft.letters({constant!r}) gives"
                if isinstance(given, int | Fraction | sympy.Rational):
                    meant += f", and requires=(sympy.Eq({constant}, {given}),) in the claim"
            raise ValueError(f"the constant {constant} of {name} is {given!r}, and must be a letter: {meant}")
        if len(set(letters.values())) < len(letters):
            same = next(iter(letters.values()))
            raise ValueError(
                f"the constants {' and '.join(letters)} of {name} are both {same}: give each a letter of its own, and "
                f"requires=(sympy.Eq({', '.join(letters)}),) in the claim if they are equal"
            )

    @property
    def named(self) -> int:
        """The number of functions that are of a class of their own."""
        return 0

    @property
    def text(self) -> str:
        """The class, in words."""
        raise NotImplementedError

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from: its constants, unless a class says otherwise."""
        own = [f.name for f in fields(self) if isinstance(getattr(self, f.name), sympy.Symbol)]
        if not set(own) <= set(self.constants):
            raise NotImplementedError
        return {getattr(self, name): name for name in own}

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol] | None:
        """The letters of the least and the largest curvature, where the class has both."""
        return None

    @property
    def declares(self) -> Declared:
        """The facts about the members that proofs may assume: none, unless the class itself declares some."""
        return Declared()

    def contains(self, problem: Problem, params: object) -> bool:
        """Return True if the functions of an instance belong to the class."""
        raise NotImplementedError

    def curvatures(self, problem: Problem, params: object) -> tuple[Array, Array]:
        """Least and largest curvature of each f_i ``(n,)``: as declared, or as of functions that do not keep to it."""
        raise NotImplementedError

    def curvatures_of_g(self, problem: Problem, params: object) -> tuple[Scalar, Scalar]:
        """Least and largest curvature of g, where there is one: those of f_1, unless a class says otherwise."""
        mu, L = self.curvatures(problem, params)
        return mu[0], L[0]

    def steepest(self, problem: Problem, params: object) -> Scalar | None:
        """The square of the length of each gradient, at most; None where nothing is known of it."""
        return None

    def outside(self, problem: Problem, params: object, known: Problem) -> Outside:
        """Named instances whose functions are a little worse than the class allows, or than those of ``known``.

        One function after the other: a hypothesis may forget about some of them.
        """
        low, high = self.curvatures(problem, params)
        for part, own in (("f", problem.f), ("g", problem.g)):
            if own is None:
                continue
            posed = getattr(known, part)
            for i in range(own.n):
                here = np.arange(own.n) == i
                below = np.minimum(low[: own.n], posed.mu) - WORSE * high[: own.n]
                above = np.maximum(high[: own.n], posed.L) * (1 + WORSE)
                worse = (("less smooth", own.mu, np.where(here, above, own.L)), ("less convex", below, own.L))
                for name, mu, L in worse:
                    changed = only_declared(own, np.where(here, mu, own.mu), L)
                    yield f"{name} functions", with_part(problem, part, changed), params

    def average(self, problem: Problem, params: object) -> Average | None:
        """Return what is known of the average of the f_i beyond the f_i, where x* is its minimiser."""
        return None


@dataclass(frozen=True)
class OfTwoConstants(FunctionClass):
    """The base of a class with two constants, ``mu`` at most ``L``: its ends."""

    mu: sympy.Symbol
    L: sympy.Symbol

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol]:
        """The letters of the two constants."""
        return self.mu, self.L


class WithLettersOf(FunctionClass):
    """The base of a class with the constants, the letters and the ends of another, ``lettered``."""

    @property
    def lettered(self) -> FunctionClass:
        """The class whose constants are letters."""
        raise NotImplementedError

    @property
    def constants(self) -> tuple[str, ...]:  # type: ignore[override]
        """The constants of the problem that the class has."""
        return self.lettered.constants

    @property
    def letters(self) -> Mapping[sympy.Symbol, Source]:
        """The letters of the class, and where their values come from."""
        return self.lettered.letters

    @property
    def ends(self) -> tuple[sympy.Symbol, sympy.Symbol] | None:
        """The letters of the least and the largest curvature, where the class has both."""
        return self.lettered.ends


@dataclass(frozen=True)
class OfAnother(WithLettersOf):
    """The base of a class whose f_i are those of the class ``of``, beside or relative to something else: constants,
    letters and ends are those of ``of``, unless a class says otherwise."""

    of: FunctionClass

    @property
    def lettered(self) -> FunctionClass:
        """The class of the f_i."""
        return self.of


def f_star(L: Scalar) -> Average:
    """|grad f(x)|^2/(2L) <= f(x) - f*: all that an L-smooth f with the minimum f* must satisfy at one point."""

    def formulas(x: Array, gap: Scalar, gradient: Array | None) -> Iterator[tuple[str, Scalar]]:
        yield "f at least f*", -1 * gap if gradient is None else gradient**2 / (2 * L) - gap

    return formulas


def parts(problem: Problem) -> tuple[Functions, ...]:
    """f, and g where there is one."""
    return (problem.f,) if problem.g is None else (problem.f, problem.g)


def extremes(problem: Problem) -> tuple[Scalar, Scalar]:
    """Least mu and largest L of the f_i and g: the declared ones, or those of a problem that does not keep to them."""
    known = parts(problem)
    return min(problem.mu, *(v for part in known for v in part.mu)), max(problem.L, *(v for p in known for v in p.L))
