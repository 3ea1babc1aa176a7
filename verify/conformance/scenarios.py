"""Small problems, parameters and states on which an implementation is compared with the reference.

Where an algorithm has claims they come from the claims' own instances, hypotheses met; else from here.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np

from fedtheory import algorithms
from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.examples import Given
from fedtheory.algorithms.schedules import at_round
from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from fedtheory.kinds.scope import Scope
from fedtheory.learning import batches
from fedtheory.learning.logistic import Logistic
from fedtheory.numbers.rational import Array
from fedtheory.problems.base import Problem
from fedtheory.problems.linear_models import LinearModels, LinearProblem
from fedtheory.problems.losses import LOGISTIC, SQUARED
from fedtheory.problems.quadratic import Quadratics, diagonal, with_spectra
from fedtheory.randomness import map_leaves, support_of
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.conformance.references import claims_about

#: Features of an implementation beyond the plain method, each tested only on request.
FEATURES = (
    *("counts", "momentum", "server stepsize", "option I", "minibatches", "shared compressors", "exact solver"),
    *("own local steps", "plain local steps", "bias correction", "bias-corrected stepsize", "v from zero"),
    *("own memory", "function g"),
)
#: Draws of a step beyond which a scenario is not enumerated.
LARGEST_SUPPORT = 400

# Recipes proposed.
_PROPOSED = 120
# Scenarios kept.
_KEPT = 9
# Draws that are compared with one another, at most.
_COMPARED = 256
# The distance of the last state from 0: code that clips gradients, or gives up on large models, acts only far away.
_FAR = 1000.0
# Rounds of the longest run that is compared.
_LONGEST = 160
# A number whose square overflows soon.
_OVERFLOWING = 1e100


@dataclass(frozen=True)
class Scenario:
    """A problem with parameters, and states (without leading axes) at which steps are compared.

    ``claim``, ``recipe``, ``instance``: whose instance it is, if any; ``role``: what it is there for, of those that
    :mod:`verify.conformance.beyond` makes.
    """

    problem: Problem
    params: Any
    states: tuple[Any, ...]
    claim: Claim | None = None
    recipe: Recipe | None = None
    instance: Instance | None = None
    support: int = field(default=1)
    role: str = ""

    @property
    def size(self) -> tuple[int, int, int]:
        """(values of a state, clients, draws), by which scenarios are ordered."""
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
            elif isinstance(f, LinearModels):
                words.append(f"{f.loss.name} loss, clients with {shown(f.sizes)} examples, lambda = {shown(f.lam)}")
                words.append(f"X = {shown(f.X)}, y = {shown(f.y)}")
            elif isinstance(f, Logistic):
                words.append(f"logistic losses of {f.m} rows a client, mu = {shown(f.mu)}")
                words.append(f"A = {shown(f.A)}, b = {shown(f.b)}")
        return "; ".join((*words, parameters_in_words(self.params)))


def shown(value: Any, digits: int = 4) -> str:
    """Numbers in so many digits, on one line."""
    if isinstance(value, np.ndarray | list):
        return " ".join(np.array2string(np.asarray(value), precision=digits, threshold=40, separator=", ").split())
    return f"{value:.{digits + 2}g}" if isinstance(value, float) else str(value)


def distinguishable(one: Array, other: Array) -> tuple[str, str]:
    """Two arrays in four digits, or in as many as it takes to see that they differ."""
    pairs = ((shown(one, digits), shown(other, digits)) for digits in range(4, 18))
    return next((pair for pair in pairs if pair[0] != pair[1]), (shown(one), shown(other)))


def parameters_in_words(params: Any) -> str:
    """The parameters of a method in a line; compressors and oracles by their names."""
    words = []
    for name, value in zip(params._fields, params, strict=True):
        if name == "compressors":
            words.append(f"{value.compressor.name}, {value.joint}")
        elif name in ("compressor", "oracle", "solver", "selection"):
            words.append(getattr(value, "name", None) or " ".join(repr(value).split()))
        elif name == "batches":
            if value != batches.AllRows():
                rows = f" of {value.parts.m} rows" if hasattr(value.parts, "m") else ""
                last = "" if value.drop_last or value.parts.m % value.size == 0 else ", the last one too"
                words.append(f"batches of {value.size}{rows}{last}")
        elif value is not None:
            words.append(f"{name} = {shown(value)}")
    return ", ".join(words)


def claims_of(algorithm: str | Algorithm) -> tuple[Claim, ...]:
    """The claims about one step or a run of an algorithm, without those that a repair replaces.

    Those whose instances are derived from a class of functions: others have data of their own.
    """
    found = list(claims_about(algorithms.get(algorithm)))
    repaired = {c.repairs for c in found}
    # Where runs end says nothing of one step.
    plain = [c for c in found if c.setting.drawing.special is None and c.statement.searched]
    return tuple(c for c in plain if c.id not in repaired)


def decreases(about: Iterable[Claim]) -> list[Claim]:
    """Those claims that bound what is expected after one step."""
    return [c for c in about if c.statement.stepping and not c.statement.horizon]


def known() -> tuple[str, ...]:
    """The algorithms that have scenarios: of their own, or from their claims."""
    return tuple(name for name in algorithms.names() if algorithms.example_of(name) or claims_of(name))


def scenarios(name: str | Algorithm, seed: int, features: Collection[str] = ()) -> tuple[Scenario, ...]:
    """The scenarios of an algorithm, smallest first. The same for the same arguments.

    ``ValueError`` for an unknown algorithm.
    """
    algorithm = algorithms.get(name)
    rng = np.random.default_rng([seed, len(algorithm.name)])
    found = _own(algorithm, rng, features) if algorithms.example_of(algorithm) else _of_claims(algorithm, rng, features)
    return tuple(sorted(found, key=lambda s: s.size))


def posed(algorithm: Algorithm, problem: Problem, params: Any, seed: int) -> Scenario:
    """The scenario of the user's own problem and parameters."""
    rng = np.random.default_rng([seed, 1])
    params = at_round(algorithm.schedules, problem, params, 0, False)
    states = tuple(_visited(algorithm, problem, params, [algorithm.init(problem, params)], rng))
    return Scenario(problem, params, states, support=_count(algorithm, problem, params, states[0]))


def later(algorithm: Algorithm, scenario: Scenario, t: int) -> Scenario:
    """The scenario with the parameters of round t, where the algorithm has some that vary with it."""
    if not algorithm.schedules:
        return scenario
    return replace(scenario, params=at_round(algorithm.schedules, scenario.problem, scenario.params, t, False))


def started(algorithm: Algorithm, problem: Problem, params: Any, rng: np.random.Generator, role: str = "") -> Scenario:
    """The scenario of a problem and parameters at the initial state, at a random one, and where they lead."""
    start = algorithm.init(problem, params)
    starts = [start, _anywhere(algorithm, problem, params, start, rng)]
    states = tuple(_visited(algorithm, problem, params, starts, rng))
    far = _anywhere(algorithm, problem, params, start, rng.spawn(1)[0], _FAR)
    states += _reached(algorithm, problem, params, far)
    return Scenario(problem, params, states, support=_count(algorithm, problem, params, states[0]), role=role)


def lasts(algorithm: Algorithm, problem: Problem, params: Any) -> bool:
    """Return True if a long run of the algorithm does not overflow; an overflowing one tests nothing."""
    state, rng = algorithm.init(problem, params), np.random.default_rng(0)
    with np.errstate(all="ignore"):
        for t in range(_LONGEST):
            params = at_round(algorithm.schedules, problem, params, t, False)
            state = algorithm.step(problem, params, state, algorithm.draws(problem, params, state).sample(rng, ()))
    return all((abs(np.asarray(f, dtype=float)) < _OVERFLOWING).all() for f in state)


def _count(algorithm: Algorithm, problem: Problem, params: Any, state: Any) -> int:
    count = algorithm.draws(problem, params, state).count
    return 10**9 if count is None else int(count)


# Instances of claims


def _of_claims(algorithm: Algorithm, rng: np.random.Generator, features: Collection[str]) -> Iterator[Scenario]:
    leading = _leading(algorithm)
    if not leading:
        raise ValueError(
            f"no problems are known for {algorithm.name}: give problems=[(problem, params), ...], or CLAIMS about it"
        )
    found = list(_instances(algorithm, leading[0], rng, features, _PROPOSED))
    if "function g" not in features:
        # Of a method that does without a function beside the f_i, most implementations have none.
        found = [scenario for scenario in found if scenario.problem.g is None] or found
    if not found and not algorithms.is_known(algorithm):
        raise ValueError(
            f"no problems are known for {algorithm.name}, as no instances of its claims are quadratic with few draws: "
            "give problems=[(problem, params), ...]"
        )
    yield from _chosen(algorithm, found)


def _leading(algorithm: Algorithm) -> list[Claim]:
    """The claims whose instances are scenarios, the most telling first."""
    about = claims_of(algorithm)
    leading = decreases(about)
    leading += [c for c in about if c.statement.horizon]
    leading += [c for c in about if c.statement.scope is Scope.LIMIT or c.statement.residual is not None]
    return leading if algorithms.is_known(algorithm) else [*leading, *about]


def proposed(
    algorithm: Algorithm, rng: np.random.Generator, features: Collection[str], most: int
) -> Iterator[Scenario]:
    """Scenarios of so many instances of the algorithm's claims, if it has any and no example, as they are drawn."""
    leading = _leading(algorithm) if algorithms.example_of(algorithm) is None else []
    for claim in leading[:1]:
        yield from _instances(algorithm, claim, rng, features, most)


def _instances(
    algorithm: Algorithm, claim: Claim, rng: np.random.Generator, features: Collection[str], most: int
) -> Iterator[Scenario]:
    for recipe, _ in meeting(claim, islice(claim.instances.recipes(rng), most)):
        case = Case(claim, recipe, exact=False)
        if _plain(case.instance, features):
            scenario = _of_instance(algorithm, case, rng)
            lasting = algorithms.is_known(algorithm) or lasts(algorithm, scenario.problem, scenario.params)
            if lasting and 1 <= scenario.support <= LARGEST_SUPPORT:
                yield scenario


def _plain(instance: Instance, features: Collection[str]) -> bool:
    problem, joint = instance.problem, getattr(getattr(instance.params, "compressors", None), "joint", None)
    if joint == "shared" and problem.n > 1 and "shared compressors" not in features:
        return False
    return isinstance(problem.f, Quadratics) and (problem.g is None or isinstance(problem.g, Quadratics))


def _chosen(algorithm: Algorithm, found: list[Scenario]) -> list[Scenario]:
    """Return the first two scenarios of each size, up to nine; those with several clients and distinguishable draws
    first.
    """
    ordered = sorted(found, key=lambda s: (s.support == 1, s.problem.n == 1, not _reveals_draw(algorithm, s), s.size))
    kept: list[Scenario] = []
    seen: dict[tuple[int, int], int] = {}
    for scenario in ordered:
        key = (scenario.problem.n, scenario.problem.d)
        if seen.get(key, 0) < 2 and len(kept) < _KEPT:
            seen[key] = seen.get(key, 0) + 1
            kept.append(scenario)
    return kept


def _reveals_draw(algorithm: Algorithm, scenario: Scenario) -> bool:
    """Return True if a step reveals which draw was made; SVRG on functions that differ only by their
    slopes never does.
    """
    if not 1 < scenario.support <= _COMPARED:
        return True
    problem, params, state = scenario.problem, scenario.params, scenario.states[0]
    draws, _ = support_of(algorithm.draws(problem, params, state), False)
    repeated = type(state)(*(np.repeat(field[None], scenario.support, axis=0) for field in state))
    after = algorithm.step(problem, params, repeated, draws)
    ends = (np.broadcast_to(a, b.shape) for a, b in zip(after, repeated, strict=True))
    return any(not np.allclose(end, end[:1], rtol=1e-6, atol=0) for end in ends)


def _of_instance(algorithm: Algorithm, case: Case, rng: np.random.Generator) -> Scenario:
    # A run begins with round 0.
    params = at_round(algorithm.schedules, case.problem, case.params, 0, False)
    theta = np.stack([rng.standard_normal(case.instance.dimension), rng.integers(-3, 4, case.instance.dimension) + 0.5])
    problem, state = case.instance.at(np.concatenate([theta, _FAR * theta[:1]]))
    starts = [type(state)(*(np.array(f[i, 0], dtype=float) for f in state)) for i in range(len(theta))]
    states = tuple(_visited(algorithm, problem, params, starts, rng))
    far = type(starts[0])(*(np.array(f[2, 0], dtype=float) for f in state))
    states += _reached(algorithm, problem, params, far)
    support = _count(algorithm, problem, params, states[0])
    return Scenario(problem, params, states, case.claim, case.recipe, case.instance, support)


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


def _own(algorithm: Algorithm, rng: np.random.Generator, features: Collection[str]) -> Iterator[Scenario]:
    for problem, params in examples(algorithm, rng, features):
        scenario = started(algorithm, problem, params, rng)
        if scenario.support <= LARGEST_SUPPORT:
            yield scenario


def _reached(algorithm: Algorithm, problem: Problem, params: Any, state: Any) -> tuple[Any, ...]:
    """The state, unless a step from it is not finite."""
    draw = algorithm.draws(problem, params, state).sample(np.random.default_rng(0), ())
    with np.errstate(all="ignore"):
        after = algorithm.step(problem, params, state, draw)
    return (state,) if all(np.isfinite(np.asarray(f, dtype=float)).all() for f in after) else ()


def _anywhere(
    algorithm: Algorithm, problem: Problem, params: Any, start: Any, rng: np.random.Generator, size: float = 2.0
) -> Any:
    """A random state: the parts that ``init`` takes are random, those of all clients sum to zero."""
    free = [name for name in inspect.signature(algorithm.init).parameters if name in start._fields]
    parts = {name: rng.standard_normal(getattr(start, name).shape) * size for name in free}
    for name, value in parts.items():
        if value.shape == (problem.n, problem.d):
            parts[name] = value - value.mean(axis=0)
    return algorithm.init(problem, params, **parts)


def draw_at(draws: Any, k: int) -> Any:
    """One of several draws."""
    return map_leaves(lambda a: a[k], draws)


def examples(
    algorithm: Algorithm, rng: np.random.Generator, features: Collection[str]
) -> Iterator[tuple[Problem, Any]]:
    """Problems with parameters for a method that has an example of them."""
    example = algorithms.example_of(algorithm)
    assert example is not None
    for given in _given(example.problem, rng, features):
        params = example.params(given)
        if params is not None:
            yield given.problem, varied(params, rng)


def varied(params: Any, rng: np.random.Generator) -> Any:
    """Parameters whose real numbers are somewhat smaller, each by a factor of its own, but for 0 and 1.

    No two problems then have one in common, nor a relation between two, for which it could be mistaken.
    """
    factors = rng.spawn(1)[0].uniform(0.7, 1, len(params))
    changed = zip(params, factors, strict=True)
    return type(params)(*(v * float(u) if isinstance(v, float) and v not in (0, 1) else v for v, u in changed))


def _given(kind: str, rng: np.random.Generator, features: Collection[str]) -> Iterator[Given]:
    if kind == "clients" and "minibatches" in features:
        for n, d, tau, epochs, m, size, drop_last in _BATCHED:
            problem, parts = _in_parts(rng, n, d, m)
            yield Given(rng, problem, features, tau, epochs, batches.Minibatches(parts, size, drop_last))
    elif kind == "clients":
        for n, d, tau, epochs in _SHAPES:
            yield Given(rng, _quadratic(rng, n, d), features, tau, epochs)
    elif kind == "sum":
        for n, d in _SUM_SHAPES:
            yield Given(rng, _quadratic(rng, n, d), features)
    elif kind == "wide":
        for n, d in _WIDE_SHAPES:
            yield Given(rng, _untied(rng, n, d), features)
    else:
        for k, (sizes, d, epochs) in enumerate(_ROWS):
            logistic = kind == "rows, any loss" and k % 2 == 1
            yield Given(rng, _linear(rng, sizes, d, logistic), features, epochs=epochs)


#: (n, d, tau, epochs): clients, dimension, participants, local epochs.
_SHAPES = ((2, 1, 2, 2), (2, 1, 1, 3), (3, 1, 2, 2), (3, 2, 2, 3), (4, 1, 2, 1), (4, 2, 3, 4), (5, 1, 3, 2))
#: The same, rows of a client, rows of a batch, and whether those that are left over sit an epoch out.
_BATCHED = (
    (2, 1, 2, 1, 2, 1, True),
    (2, 1, 1, 1, 3, 2, False),
    (3, 1, 2, 1, 2, 2, True),
    (2, 2, 2, 1, 3, 2, True),
    (2, 2, 1, 2, 2, 1, True),
    (3, 2, 1, 1, 3, 2, False),
    (2, 3, 2, 1, 4, 3, False),
    (3, 3, 2, 1, 2, 1, True),
    (4, 2, 3, 2, 3, 3, True),
    (3, 3, 3, 1, 3, 1, True),
)
#: (n, d): functions, dimension.
_SUM_SHAPES = ((1, 1), (2, 1), (2, 3), (3, 1), (4, 2), (5, 2))
#: The same for methods that compress: several entries, of matrices too.
_WIDE_SHAPES = ((2, 2), (2, 3), (3, 2), (2, 4), (3, 4), (3, 6), (2, 9))
#: Examples of each client, features, local epochs.
_ROWS = (((1, 1), 1, 1), ((2, 1), 1, 2), ((2, 1), 2, 1), ((2, 2), 3, 3), ((1, 3), 2, 1), ((3, 1, 2), 3, 2))


def _quadratic(rng: np.random.Generator, n: int, d: int) -> Problem:
    """No two clients alike: a step would not show which of them took part."""
    if d > 1 and rng.random() < 0.5:
        return Problem(with_spectra(rng.uniform(0.5, 3, (n, d)), rng))
    centres = rng.permuted(np.tile(np.arange(-8, 9), (d, 1)), axis=1)[:, :n].T
    return Problem(diagonal(rng.integers(2, 12, (n, d)) / 4, centres / 4 + 1 / 3))


def _untied(rng: np.random.Generator, n: int, d: int) -> Problem:
    """No two entries of a gradient at 0 are as large as one another: which of them is sent first, nobody says."""
    while True:
        problem = _quadratic(rng, n, d)
        sizes = np.sort(abs(problem.f.gradient(np.zeros((n, d)))), axis=-1)
        if (np.diff(sizes, axis=-1) > 1e-3 * sizes[:, 1:]).all():
            return problem


def _in_parts(rng: np.random.Generator, n: int, d: int, m: int) -> tuple[Problem, batches.Split]:
    """A problem whose f_i are means of m parts, and these."""
    h, c = rng.integers(2, 12, (m * n, d)) / 4, rng.integers(-8, 9, (m * n, d)) / 4 + 1 / 3
    mean = h.reshape(n, m, d).mean(axis=1)
    centre = (h * c).reshape(n, m, d).mean(axis=1) / mean
    return Problem(diagonal(mean, centre)), batches.Split(diagonal(h, c), m)


def _linear(rng: np.random.Generator, sizes: tuple[int, ...], d: int, logistic: bool) -> LinearProblem:
    """Examples that lack some features, none of them all; where there are two, the first client lacks the first."""
    n = sum(sizes)
    held = (rng.random((n, d)) < 0.6) | (np.arange(d) == rng.integers(d, size=(n, 1)))
    if d > 1:
        # Scalings by how many clients hold a feature are else 1 now and then.
        held[: sizes[0], :2] = False, True
        held[sizes[0], 0] = True
    X = np.where(held, rng.choice([-1, 1], (n, d)) * rng.integers(2, 7, (n, d)) / 4, 0.0)
    y = rng.choice([-1.0, 1.0], n) if logistic else rng.integers(-8, 9, n) / 4 + 1 / 3
    return LinearProblem(LinearModels(X, y, np.array(sizes), 0.25, LOGISTIC if logistic else SQUARED))
