"""Federated Optimization: data sets on which its statements are tested, as recipes of small rationals.

A recipe holds the examples of every client, lambda and the letters of a method; the instance is ridge regression, exact
on fractions, with a chart of the states of the method about the optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from fedtheory.instances import Instance, Instances, Recipe, check_shape, generic, number, numbers, pick
from fedtheory.numbers.rational import Array, inverse, to_float
from fedtheory.numbers.scalar import Scalar
from fedtheory.problems.linear_models import LinearModels, LinearProblem, Share
from fedtheory.problems.losses import squared
from fedtheory.problems.optimum import Optimum

#: The distribution of the data over the nodes.
ANYWHERE = "anywhere"
ONE_NODE = "all data on a single node"
SEPARATE = "each feature on a single node"
IDENTICAL = "the same data on every node"


#: The share of data sets with more features, or nodes, than decide most bounds.
OFTEN = 0.1


class Nothing(NamedTuple):
    """No parameters."""


def _entries(rng: np.random.Generator, count: int) -> tuple[Fraction, ...]:
    """Integers in [-3, 3], or rationals at another scale."""
    scale = pick(rng, (Fraction(1), Fraction(1), Fraction(1, 2), Fraction(1, 5), Fraction(4), Fraction(20)))
    return tuple(int(v) * scale for v in rng.integers(-3, 4, count))


def _examples(rng: np.random.Generator, count: int, d: int, features: Any, single: bool) -> tuple[Recipe, ...]:
    """``count`` examples on these features; ``single``: each has one of them."""
    found = []
    for _ in range(count):
        held = [pick(rng, features)] if single else [j for j in features if rng.random() < 0.8]
        values = _entries(rng, d)
        found.append({"x": tuple(values[j] if j in held else Fraction(0) for j in range(d)), "y": _entries(rng, 1)[0]})
    return tuple(found)


def clients_of(rng: np.random.Generator, kind: str, single: bool, most: int = 3) -> tuple[int, tuple[Recipe, ...]]:
    """(d, clients) of a random data set; ``most``: clients, and examples of each, at most."""
    d = int(rng.integers(1, 4) if rng.random() > OFTEN else rng.integers(4, 9))
    K = 1 if kind == ONE_NODE else int(rng.integers(2 if kind == IDENTICAL else 1, most + 1))
    if kind in (ANYWHERE, IDENTICAL) and most > 2 and rng.random() < OFTEN:
        K, d, most = int(rng.integers(4, 13)), min(d, 2), 1
    if kind == SEPARATE:
        K = int(rng.integers(2, max(most, 2) + 1))
        d = max(d, K)
        owner = [*range(K), *(int(v) for v in rng.integers(0, K, d - K))]
        held = [[j for j in range(d) if owner[j] == k] for k in range(K)]
        return d, tuple({"examples": _examples(rng, int(rng.integers(1, 3)), d, held[k], single)} for k in range(K))
    first = _examples(rng, int(rng.integers(1, most + 1)), d, range(d), single)
    if kind == IDENTICAL:
        return d, tuple({"examples": first} for _ in range(K))
    others = (_examples(rng, int(rng.integers(1, most + 1)), d, range(d), single) for _ in range(K - 1))
    return d, tuple({"examples": examples} for examples in (first, *others))


def few(rng: np.random.Generator, kind: str, single: bool) -> tuple[int, tuple[Recipe, ...]]:
    """At most two nodes with at most two examples each: all draws of two steps are enumerated."""
    return clients_of(rng, kind, single, most=2)


def _lies(kind: str, f: LinearModels) -> bool:
    """Return True if the data are distributed as the kind requires."""
    if (f.n == 1) != (kind == ONE_NODE) and kind != ANYWHERE:
        return False
    blocks = np.split(f.X, f.starts[1:])
    if kind == SEPARATE:
        held = np.array([(block != 0).any(axis=0) for block in blocks])
        return bool((held.sum(axis=0) <= 1).all() and held.any(axis=1).all())
    if kind == IDENTICAL:
        labels = np.split(f.y, f.starts[1:])
        same = all(block.shape == blocks[0].shape for block in blocks)
        return same and all(
            (b == blocks[0]).all() and (y == labels[0]).all() for b, y in zip(blocks, labels, strict=True)
        )
    return True


def problem_of(recipe: Recipe, exact: bool, share: Share = "own") -> LinearProblem:
    """Ridge regression on the data of a recipe, with the loss (t - y)^2/(2 gamma) where it has a gamma.

    Raise ``ValueError`` if there are no data, or there is no single optimum.
    """
    d, sizes = recipe["d"], [len(client["examples"]) for client in recipe["clients"]]
    check_shape(d, 1 + recipe["lam"])
    rows = [example for client in recipe["clients"] for example in client["examples"]]
    if not any(any(row["x"]) for row in rows) or any(len(row["x"]) != d for row in rows):
        raise ValueError("a data set needs examples with d features, not all zero")
    gamma, lam = (Fraction(v) for v in (recipe.get("gamma", 1), recipe["lam"]))
    if gamma <= 0:
        raise ValueError("gamma must be positive")
    X, y = numbers([row["x"] for row in rows], True), numbers([row["y"] for row in rows], True)
    problem = LinearProblem(LinearModels(X, y, np.array(sizes), lam, squared(gamma), share))
    if exact:
        return problem
    f = LinearModels(to_float(X), to_float(y), np.array(sizes), float(lam), squared(float(gamma)), share)
    return LinearProblem(f, known=Optimum(to_float(problem.x_star), to_float(problem.optimum.y), 0.0))


def _words(recipe: Recipe, letters: tuple[str, ...]) -> str:
    def vector(values: Any) -> str:
        return f"({', '.join(map(str, values))})"

    nodes = "; ".join(
        f"node {k}: " + ", ".join(f"x = {vector(e['x'])}, y = {e['y']}" for e in client["examples"])
        for k, client in enumerate(recipe["clients"], 1)
    )
    others = [f"{name} = {vector(v) if isinstance(v := recipe[name], tuple) else v}" for name in letters]
    return ", ".join((f"lambda = {recipe['lam']}", *others)) + "; " + nodes


def _simpler(recipe: Recipe) -> Iterator[Recipe]:
    """Fewer clients, examples and features."""
    clients = recipe["clients"]
    for k in range(len(clients)):
        yield {**recipe, "clients": clients[:k] + clients[k + 1 :]}
    for i in range(max(len(c["examples"]) for c in clients) if clients else 0):
        # From every client at once, which keeps data sets the same; then from each alone.
        yield {**recipe, "clients": tuple({"examples": c["examples"][:i] + c["examples"][i + 1 :]} for c in clients)}
    for k, client in enumerate(clients):
        for i in range(len(client["examples"])):
            fewer = {"examples": client["examples"][:i] + client["examples"][i + 1 :]}
            yield {**recipe, "clients": (*clients[:k], fewer, *clients[k + 1 :])}
    for j in range(recipe["d"] if recipe["d"] > 1 else 0):
        yield _without(recipe, j)


def _without(recipe: Recipe, j: int) -> Recipe:
    def kept(values: tuple[object, ...]) -> tuple[Any, ...]:
        return values[:j] + values[j + 1 :]

    clients = tuple({"examples": tuple({**e, "x": kept(e["x"])} for e in c["examples"])} for c in recipe["clients"])
    vectors = {name: kept(v) for name, v in recipe.items() if name != "clients" and isinstance(v, tuple)}
    return {**recipe, **vectors, "d": recipe["d"] - 1, "clients": clients}


def solvable(recipe: Recipe, f: LinearModels) -> bool:
    """Return True if every F_k has one minimiser."""
    try:
        inverse(f.hessian(np.zeros((1, f.d), dtype=int)))
    except ValueError:
        return False
    return True


#: A letter of a method in a recipe: drawn with the data at hand.
Letter = Callable[[np.random.Generator, Recipe], Any]


@dataclass(frozen=True)
class States:
    """A chart of states: ``size(problem)`` coordinates, ``at(problem, params, theta (M, size))`` of shape (M, 1, ...).

    theta = 0 is the optimum.
    """

    size: Callable[[LinearProblem], int]
    at: Callable[[LinearProblem, Any, Array], Any]
    coordinates: Callable[[LinearProblem, Any, Any], Array] | None = None


def _no_state(problem: LinearProblem, params: object, theta: Array) -> Nothing:
    return Nothing()


NO_STATE = States(lambda problem: 0, _no_state)


#: ``(recipe, problem, exact)``: the parameters of a method, of its type.
Parameters = Callable[[Recipe, LinearProblem, bool], object]


@dataclass(frozen=True)
class RidgeInstances:
    """Instances of ridge regression, and of a method on it.

    ``params(recipe, problem, exact)``; ``states``; ``letters``: those of the method, drawn in this order; ``kind``: how
    the data lie; ``share``: which F_k are meant; ``single``: every example has one feature; ``lam``: how lambda is
    drawn; ``holds(recipe, f)``: what else is asked of the exact data; ``clients``: how they are drawn.
    """

    params: Parameters = lambda recipe, problem, exact: Nothing()
    states: States = NO_STATE
    letters: Mapping[str, Letter] = field(default_factory=dict)
    kind: str = ANYWHERE
    share: Share = "own"
    single: bool = False
    lam: Callable[[np.random.Generator], Fraction] = lambda rng: generic(rng, Fraction(1, 50), Fraction(5))
    plain: bool = False
    holds: Callable[[Recipe, LinearModels], bool] = lambda recipe, f: True
    clients: Callable[[np.random.Generator, str, bool], tuple[int, tuple[Recipe, ...]]] = clients_of

    @property
    def instances(self) -> Instances:
        """The instances, as recipes and what builds them."""
        return Instances(self._recipes, self._build, _simpler)

    def _recipes(self, rng: np.random.Generator) -> Iterator[Recipe]:
        while True:
            d, clients = self.clients(rng, self.kind, self.single)
            recipe: dict[str, Any] = {"d": d, "lam": self.lam(rng), "clients": clients}
            try:
                for name, letter in self.letters.items():
                    recipe[name] = letter(rng, recipe)
            except ValueError:
                # These are no data, of which letters could depend.
                continue
            yield recipe

    def _build(self, recipe: Recipe, exact: bool) -> Instance:
        problem = problem_of(recipe, exact, self.share)
        of_fractions = problem.f if exact else problem_of(recipe, True, self.share).f
        if recipe["lam"] == 0 and not self.plain:
            raise ValueError("lambda must be positive")
        if not _lies(self.kind, of_fractions) or not self.holds(recipe, of_fractions):
            raise ValueError(f"the data are not those of the setting: {self.kind}")
        params, states = self.params(recipe, problem, exact), self.states
        # Where the optimum is not one point there is no instance.
        if problem.x_star is None:
            raise ValueError("the minimiser is not unique")

        def at(theta: Array) -> tuple[LinearProblem, Any]:
            return problem, states.at(problem, params, theta)

        chart = states.coordinates
        return Instance(
            problem,
            params,
            states.size(problem),
            at,
            initial=at,
            coordinates=None if chart is None else lambda state: chart(problem, params, state),
            text=_words(recipe, tuple(self.letters)),
        )


def value(recipe: Recipe, name: str, exact: bool) -> Any:
    """A letter as a fraction or a float."""
    return number(recipe[name], exact)


def positive(recipe: Recipe, name: str, exact: bool) -> Scalar:
    """A letter that is positive. Raise ``ValueError`` if it is not."""
    if recipe[name] <= 0:
        raise ValueError(f"{name} must be positive")
    return value(recipe, name, exact)


def one_of(*values: object) -> Letter:
    """A letter that is one of some numbers."""
    return lambda rng, recipe: Fraction(pick(rng, values))


def count_of(*values: int) -> Letter:
    """A letter that is one of some integers."""
    return lambda rng, recipe: pick(rng, values)


def about(low: str, high: Any) -> Letter:
    """A letter between two positive numbers, on a logarithmic scale."""
    return lambda rng, recipe: generic(rng, Fraction(low), Fraction(high))
