"""Limits that fail by determinants: what must be refuted is, and no limit that holds, or of which nothing is known."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from fedtheory import claims
from fedtheory.algorithms.base import Algorithm
from fedtheory.claims import Claim
from fedtheory.instances import Instance, Instances
from fedtheory.kinds.limit import Limit
from fedtheory.numbers.rational import is_exact
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.relations import Quantity
from verify import Counterexample, Verdict, check
from verify.comparisons import limits as comparison
from verify.methods import METHODS
from verify.methods.base import Inquiry

METHOD = next(m for m in METHODS if m.name == "determinants")


class Point(NamedTuple):
    z: Any


class Draws(NamedTuple):
    """Maps ``(K, 2, 2)`` with their probabilities, which may depend on the state."""

    A: Any
    p: Any

    @property
    def count(self):
        return len(self.p)

    def sample(self, rng, size=()):
        return self.A[rng.choice(len(self.p), size=size, p=np.asarray(self.p, dtype=float))]

    def support(self, exact=False):
        return (self.A, self.p) if exact else (self.A.astype(float), np.asarray(self.p, dtype=float))


def _fractions(values):
    return np.vectorize(Fraction, otypes=[object])(np.array(values, dtype=object))


def _squares(problem, params, state):
    return (state.z**2).sum(axis=-1)


def _first(problem, params, state):
    return state.z[..., 0] ** 2


def _linear(problem, params, state, draw):
    return Point((draw * state.z[..., None, :]).sum(axis=-1))


def run(maps, p, step=_linear, potential=_squares, draws=None) -> Claim:
    """That a state in the plane tends to 0 where one of the maps is drawn in every step."""
    A, p = _fractions(maps), _fractions(p)
    of = draws or (lambda problem, params, state: Draws(A, p))
    algorithm = Algorithm(
        "plane", tuple, Point, lambda problem, params: Point(np.zeros(2)), of, step, lambda problem, params: Point(0)
    )

    def build(recipe, exact):
        def at(theta):
            return None, Point(theta[:, None, :])

        return Instance(None, (), 2, at, coordinates=lambda state: state.z, text="the plane")

    setting = Setting("the plane", drawing=Drawing(special=Instances(lambda rng: iter([{"clients": ()}] * 9), build)))
    return Claim("mine/limit", setting=setting, statement=Limit(algorithm, Quantity("V", potential), "z -> 0"))


def found(claim: Claim):
    return METHOD.run(METHOD, Inquiry(claim, 0, 8)).counterexample


HALF, ONE = "1/2", [[1, 0], [0, 1]]
SHRINK, SWAP, GROW = [[HALF, 0], [0, HALF]], [[0, 1], [1, 0]], [[2, 0], [0, 2]]
SHEAR = [[2, 0], [0, HALF]]


@pytest.mark.parametrize(
    ("maps", "p", "least"),
    [
        ([ONE, GROW], [HALF, HALF], 1),
        ([SHEAR], [1], 1),
        # It contracts half of the space at every step, and not the same half.
        ([SHEAR, np.matmul(SWAP, _fractions(SHEAR)).tolist()], [HALF, HALF], 1),
        # What is never drawn does not count.
        ([GROW, SHRINK], [1, 0], 4),
    ],
)
def test_a_limit_that_fails_is_refuted(maps, p, least):
    example = found(run(maps, p))
    assert (example.left, example.right, example.relation) == (least, 1, "<")


def _bent(problem, params, state, draw):
    """The identity on integers and the fractions that are looked at, but half of it where a coordinate is large."""
    return Point(np.where(abs(state.z) > 1, state.z / 2, state.z) + 0 * draw[..., 0])


def _chosen(problem, params, state):
    """At the axes the identity is drawn, elsewhere what shrinks."""
    on_axis = bool((np.asarray(state.z)[..., :1] * np.asarray(state.z)[..., 1:] == 0).all())
    A = _fractions([ONE if on_axis else SHRINK])
    return Draws(A, _fractions([1]))


@pytest.mark.parametrize(
    "claim",
    [
        run([SHRINK], [1]),
        # Almost surely it shrinks, though it grows with a probability of one half: E log|det| < 0.
        run([[["1/8", 0], [0, "1/8"]], GROW], [HALF, HALF]),
        # One coordinate grows as the other vanishes, and only that one is spoken of.
        run([[[HALF, 0], [0, 2]]], [1], potential=_first),
        run([ONE], [1], step=_bent),
        run([ONE], [1], draws=_chosen),
    ],
    ids=["shrinks", "shrinks on average", "one coordinate", "not linear", "draws depend on the state"],
)
def test_what_holds_or_is_not_linear_is_not_refuted(claim):
    assert found(claim) is None


def test_a_step_that_remembers_more_than_its_coordinates_is_not_refuted():
    class More(NamedTuple):
        z: Any
        count: Any

    claim = run([ONE], [1])

    def step(problem, params, state, draw):
        # The count, which the chart does not tell, ends it.
        return More(state.z * (1 - state.count[..., None]) + 0 * draw[..., 0], 1 + 0 * state.count)

    def build(recipe, exact):
        def at(theta):
            count = np.zeros((len(theta), 1), dtype=int)
            return None, More(theta[:, None, :], count if is_exact(theta) else 0.0 * count)

        return Instance(None, (), 2, at, coordinates=lambda state: state.z, text="the plane")

    setting = Setting("the plane", drawing=Drawing(special=Instances(claim.setting.drawing.special.recipes, build)))
    algorithm = dataclasses.replace(claim.statement.algorithm, step=step, State=More)
    statement = dataclasses.replace(claim.statement, algorithm=algorithm)
    assert found(dataclasses.replace(claim, setting=setting, statement=statement)) is None


def test_fedcomgate_with_strong_compression_does_not_converge():
    claim = claims.get("baseline/fedcomgate/limit")
    example = check(claim).counterexample
    assert example.part == comparison.PRODUCTS and example.left >= example.right == 1
    again = Counterexample.from_json(json.loads(json.dumps(example.to_json())))
    assert again.replay() == (example.left, example.right)
    instance = claim.instances.build(example.recipe, True)
    assert instance.problem.n == 2 and instance.params.K == 1
    # The maps themselves, from their formula: M = [[1 - eta a, eta b], [b, 1 - a]].
    omega, eta = instance.params.compressors.omega, instance.params.eta * instance.params.gamma
    C = 1 + omega
    dets = [(1 - eta * a) * (1 - a) - eta * b**2 for a, b in ((0, 0), (C / 2, C / 2), (C / 2, -C / 2), (C, 0))]
    assert min(map(abs, dets)) == example.left


@pytest.mark.slow
@pytest.mark.parametrize(
    "id",
    ["baseline/fedcomgate/limit/repaired", "fedopt/algorithm-5/any-partition", "locodl/theorem-3.1/limits"],
)
def test_limits_that_hold_have_no_such_instance_at_another_seed(id):
    assert METHOD.run(METHOD, Inquiry(claims.get(id), 1, 120)).verdict is not Verdict.REFUTED
