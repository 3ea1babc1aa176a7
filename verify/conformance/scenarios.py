"""Small problems, parameters and states on which an implementation is compared with the reference.

Where an algorithm has claims they come from the claims' own instances, hypotheses met; else from here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from fedtheory import algorithms, claims, oracles
from fedtheory.algorithms import fedavg, fedprox, inexact_feddcd, minibatch_sgd, scaffold
from fedtheory.algorithms.base import Algorithm
from fedtheory.claims import Claim
from fedtheory.instances.base import Instance, Recipe
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import Quadratics, diagonal, with_spectra
from fedtheory.randomness import map_leaves
from fedtheory.rational import to_float
from fedtheory.statements import Bound, Eventually, Invariant, Limit, OneStep
from verify.evaluate import meeting

#: What an implementation may do beyond the plain method, each tested only on request.
FEATURES = ("counts", "momentum", "server stepsize", "option I", "minibatches", "shared compressors")
#: Draws of a step beyond which a scenario is not enumerated.
LARGEST_SUPPORT = 400

# Recipes proposed, and scenarios kept.
_PROPOSED, _KEPT = 60, 9


@dataclass(frozen=True)
class Scenario:
    """A problem with parameters, and states (without leading axes) at which steps are compared.

    ``claim``, ``recipe``, ``instance``: whose instance it is, if any.
    """

    problem: Problem
    params: Any
    states: tuple[Any, ...]
    claim: Claim | None = None
    recipe: Recipe | None = None
    instance: Instance | None = None
    support: int = field(default=1)

    @property
    def size(self) -> tuple[int, int, int]:
        return (self.problem.n * self.problem.d, self.problem.n, self.support)

    @property
    def text(self) -> str:
        """The scenario in words and numbers, for a message."""
        problem = self.problem
        words = [f"n = {problem.n}, d = {problem.d}"]
        for name, f in (("f", problem.f), ("g", problem.g)):
            if isinstance(f, Quadratics) and f.n * f.d <= 8:
                H = np.diagonal(f.H, axis1=-2, axis2=-1)
                plain = np.array_equal(f.H, H[..., None] * np.eye(f.d))
                words.append(f"{name}: Hessians {'diag ' if plain else ''}{shown(H if plain else f.H)}")
                words.append(f"{name}: centres {shown(f.c)}")
        return "; ".join((*words, parameters_in_words(self.params)))


def shown(value: Any) -> str:
    """Numbers in four digits, on one line."""
    if isinstance(value, np.ndarray | list):
        return " ".join(np.array2string(np.asarray(value), precision=4, threshold=40, separator=", ").split())
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def parameters_in_words(params: Any) -> str:
    words = []
    for name, value in zip(params._fields, params, strict=True):
        if name == "compressors":
            words.append(f"{value.compressor.name}, {value.joint}")
        elif name in ("compressor", "oracle"):
            words.append(value.name)
        elif name == "batches":
            if value != oracles.AllRows():
                words.append(f"batches of {value.size}")
        elif value is not None:
            words.append(f"{name} = {shown(value)}")
    return ", ".join(words)


def claims_of(name: str) -> tuple[Claim, ...]:
    """The registered claims about one step or a run of an algorithm, without those that a repair replaces."""
    repaired = {c.repairs for c in claims.all()}
    own = algorithms.get(name)
    # Where runs end says nothing of one step.
    about = [c for c in claims.all() if not isinstance(c.statement, Eventually)]
    found = [c for c in about if own is getattr(c.statement, "algorithm", None)]
    return tuple(c for c in found if c.id not in repaired)


def known() -> tuple[str, ...]:
    """The algorithms that have scenarios: of their own, or from their claims."""
    return tuple(name for name in algorithms.names() if name in _OWN or claims_of(name))


def scenarios(name: str, seed: int, features: Collection[str] = ()) -> tuple[Scenario, ...]:
    """The scenarios of an algorithm, smallest first. The same for the same arguments.

    ``ValueError`` for an unknown algorithm or feature.
    """
    algorithm = algorithms.get(name)
    unknown = set(features) - set(FEATURES)
    if unknown:
        raise ValueError(f"unknown feature {min(unknown)!r}: choose from {', '.join(FEATURES)}")
    rng = np.random.default_rng([seed, len(name)])
    found = _own(algorithm, rng, features) if name in _OWN else _of_claims(algorithm, rng, features)
    return tuple(sorted(found, key=lambda s: s.size))


def posed(algorithm: Algorithm, problem: Problem, params: Any, seed: int) -> Scenario:
    """The scenario of somebody's own problem and parameters."""
    rng = np.random.default_rng([seed, 1])
    states = tuple(_visited(algorithm, problem, params, [algorithm.init(problem, params)], rng))
    return Scenario(problem, params, states, support=_count(algorithm, problem, params, states[0]))


def _count(algorithm: Algorithm, problem: Problem, params: Any, state: Any) -> int:
    count = algorithm.draws(problem, params, state).count
    return 10**9 if count is None else int(count)


# Instances of claims


def _of_claims(algorithm: Algorithm, rng: np.random.Generator, features: Collection[str]) -> Iterator[Scenario]:
    about = claims_of(algorithm.name)
    leading = [c for c in about if isinstance(c.statement, OneStep)]
    leading += [c for c in about if isinstance(c.statement, Bound)]
    leading += [c for c in about if isinstance(c.statement, Limit | Invariant)]
    if not leading:
        raise ValueError(f"no scenarios are known for {algorithm.name}: give problems=[(problem, params), ...]")
    claim = leading[0]
    found: list[Scenario] = []
    for recipe, _ in meeting(claim, islice(claim.family.recipes(rng), _PROPOSED)):
        instance = claim.family.build(recipe, False)
        if _plain(instance, features):
            scenario = _of_instance(algorithm, claim, recipe, instance, rng)
            if 1 <= scenario.support <= LARGEST_SUPPORT:
                found.append(scenario)
    yield from _chosen(found)


def _plain(instance: Instance, features: Collection[str]) -> bool:
    problem, joint = instance.problem, getattr(getattr(instance.params, "compressors", None), "joint", None)
    if joint == "shared" and problem.n > 1 and "shared compressors" not in features:
        return False
    return isinstance(problem.f, Quadratics) and (problem.g is None or isinstance(problem.g, Quadratics))


def _chosen(found: list[Scenario]) -> list[Scenario]:
    """Of each size the first two, up to nine, several clients and random draws first of all."""
    ordered = sorted(found, key=lambda s: (s.support == 1, s.problem.n == 1, s.size))
    kept: list[Scenario] = []
    seen: dict[tuple[int, int], int] = {}
    for scenario in ordered:
        key = (scenario.problem.n, scenario.problem.d)
        if seen.get(key, 0) < 2 and len(kept) < _KEPT:
            seen[key] = seen.get(key, 0) + 1
            kept.append(scenario)
    return kept


def _of_instance(
    algorithm: Algorithm, claim: Claim, recipe: Recipe, instance: Instance, rng: np.random.Generator
) -> Scenario:
    theta = np.stack([rng.standard_normal(instance.dimension), rng.integers(-3, 4, instance.dimension) + 0.5])
    problem, state = instance.at(theta)
    starts = [type(state)(*(np.array(f[i, 0], dtype=float) for f in state)) for i in range(len(theta))]
    states = tuple(_visited(algorithm, problem, instance.params, starts, rng))
    return Scenario(
        problem,
        instance.params,
        states,
        claim,
        recipe,
        instance,
        _count(algorithm, problem, instance.params, states[0]),
    )


def _visited(
    algorithm: Algorithm, problem: Problem, params: Any, starts: Sequence[Any], rng: np.random.Generator
) -> Iterator[Any]:
    """The states given, and those that the reference reaches from each in two steps."""
    for start in starts:
        state = type(start)(*(np.array(f, dtype=float) for f in start))
        for _ in range(3):
            yield state
            draw = algorithm.draws(problem, params, state).sample(rng, ())
            after = algorithm.step(problem, params, state, draw)
            state = type(after)(
                *(np.array(np.broadcast_to(a, b.shape), dtype=float) for a, b in zip(after, state, strict=True))
            )


# Methods without claims of their own


def _problem(rng: np.random.Generator, n: int, d: int) -> Problem:
    if d > 1 and rng.random() < 0.5:
        return Problem(with_spectra(rng.uniform(0.5, 3, (n, d)), rng))
    return Problem(diagonal(rng.integers(2, 12, (n, d)) / 4, rng.integers(-8, 9, (n, d)) / 4 + 1 / 3))


#: (n, d, tau, epochs): clients, dimension, participants, local epochs.
_SHAPES = ((2, 1, 2, 2), (2, 1, 1, 3), (3, 1, 2, 2), (3, 2, 2, 3), (4, 1, 2, 1), (4, 2, 3, 2), (5, 1, 3, 2))


def _own(algorithm: Algorithm, rng: np.random.Generator, features: Collection[str]) -> Iterator[Scenario]:
    for n, d, tau, epochs in _SHAPES:
        problem = _problem(rng, n, d)
        batches: Any = oracles.AllRows()
        if "minibatches" in features and n <= 3:
            problem, batches = _in_parts(rng, n, d)
            epochs = 1
        params = _OWN[algorithm.name](rng, problem, tau, epochs, batches, features)
        if params is None:
            continue
        start = algorithm.init(problem, params)
        starts = [start, _anywhere(algorithm, problem, params, start, rng)]
        states = tuple(_visited(algorithm, problem, params, starts, rng))
        count = _count(algorithm, problem, params, states[0])
        if count <= LARGEST_SUPPORT:
            yield Scenario(problem, params, states, support=count)


def _in_parts(rng: np.random.Generator, n: int, d: int) -> tuple[Problem, oracles.Minibatches]:
    """A problem whose f_i are means of two parts, in batches of one."""
    h, c = rng.integers(2, 12, (2 * n, d)) / 4, rng.integers(-8, 9, (2 * n, d)) / 4
    mean = h.reshape(n, 2, d).mean(axis=1)
    centre = (h * c).reshape(n, 2, d).mean(axis=1) / mean
    return Problem(diagonal(mean, centre)), oracles.Minibatches(oracles.Split(diagonal(h, c), 2), 1)


def _anywhere(algorithm: Algorithm, problem: Problem, params: Any, start: Any, rng: np.random.Generator) -> Any:
    """A random state: the parts that ``init`` takes are random, dual variables sum to zero."""
    free = [name for name in inspect.signature(algorithm.init).parameters if name in start._fields]
    parts = {name: rng.standard_normal(getattr(start, name).shape) * 2 for name in free}
    if "y" in parts and parts["y"].ndim == 2:
        parts["y"] -= parts["y"].mean(axis=0)
    return algorithm.init(problem, params, **parts)


def _fedavg_params(
    rng: np.random.Generator, problem: Problem, tau: int, epochs: int, batches: Any, features: Collection[str]
) -> Any:
    counts = rng.permutation(np.arange(1.0, problem.n + 1) ** 2) if "counts" in features else None
    eta_g = 1.5 if "server stepsize" in features else 1
    momentum = 0.75 if "momentum" in features else 0
    return fedavg.Params(tau, max(epochs, 2), 0.2 / problem.L, eta_g, batches, counts, momentum)


def _fedprox_params(
    rng: np.random.Generator, problem: Problem, tau: int, epochs: int, batches: Any, features: Collection[str]
) -> Any:
    return fedprox.Params(tau, 0.5 + problem.n / 4, epochs + 1, 0.25 / problem.L, batches)


def _scaffold_params(
    rng: np.random.Generator, problem: Problem, tau: int, epochs: int, batches: Any, features: Collection[str]
) -> Any:
    option = "I" if "option I" in features else "II"
    return scaffold.Params(tau, epochs, 0.25 / problem.L, 0.8, batches, option)


def _sgd_params(
    rng: np.random.Generator, problem: Problem, tau: int, epochs: int, batches: Any, features: Collection[str]
) -> Any:
    return minibatch_sgd.Params(tau, 0.4 / problem.L, batches)


def _feddcd_params(
    rng: np.random.Generator, problem: Problem, tau: int, epochs: int, batches: Any, features: Collection[str]
) -> Any:
    if tau < 2:
        return None
    Lambda = to_float(problem.f.L)
    return inexact_feddcd.Params(tau, Lambda, 0.7, oracles.gradient_descent(epochs, 1 / Lambda))


_OWN: Mapping[str, Callable[..., Any]] = {
    "fedavg": _fedavg_params,
    "fedprox": _fedprox_params,
    "scaffold": _scaffold_params,
    "minibatch-sgd": _sgd_params,
    "inexact-feddcd": _feddcd_params,
}


def draw_at(draws: Any, k: int) -> Any:
    """One of several draws."""
    return map_leaves(lambda a: a[k], draws)
