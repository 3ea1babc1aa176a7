"""Steps that look at what a proof does not see, one of each sort: none is read, the same step without it is."""

import collections
import operator
import sys
import time
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from first_found import first_found

import fedtheory as ft
from verify import check
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.base.verdict import Verdict
from verify.reading import whole

mu, L, gamma = ft.letters("mu L gamma")
TABLE, MEMORY = {20: 5}, collections.deque(maxlen=50)


def moved(q, p, s, seen=lambda slopes: slopes):
    return -p.gamma * seen(q.f.gradient(s.x[..., None, :])).sum(axis=-2) / q.n


#: What is added to x. It differs from a step of gradient descent for many clients, in many dimensions, or never.
LOOKING = {
    "some clients": lambda q, p, s: moved(q, p, s, lambda slopes: slopes[..., :12, :]),
    "a polynomial of n": lambda q, p, s: moved(q, p, s) * (1 + prod(q.n - k for k in range(1, 13))),
    "a polynomial of a stepsize": lambda q, p, s: (
        moved(q, p, s) * (1 + prod(p.gamma - Fraction(1, k) for k in range(1, 18)))
    ),
    "some coordinates": lambda q, p, s: np.concatenate([moved(q, p, s)[..., :8], 0 * s.x[..., 8:]], axis=-1),
    "a table": lambda q, p, s: moved(q, p, s) * TABLE.get(q.d, 1),
    "an operator": lambda q, p, s: moved(q, p, s) * (1 + 9 * operator.gt(q.n, 40)),
    "an operator by its name": lambda q, p, s: moved(q, p, s) * (1 + 9 * q.n.__gt__(40)),
    "a maximum": lambda q, p, s: moved(q, p, s) * np.fmax(1, q.n - 40),
    "a range": lambda q, p, s: moved(q, p, s) * (1 + sum(9 for _ in range(8, q.d))),
    "what is missing": lambda q, p, s: moved(q, p, s) * (1 if TABLE.get(q.n) is None else 9),
    "a class": lambda q, p, s: moved(q, p, s) * (1 + 9 * (p.gamma.__class__.__name__ == "float32")),
    "a dictionary of fields": lambda q, p, s: moved(q, p, s) * (1 + 9 * ("none" in q.__dict__)),
    "memory": lambda q, p, s: moved(q, p, s) * (1 + 9 * (MEMORY.append(1) is not None)),
    "a clock": lambda q, p, s: moved(q, p, s) * (1 + 9 * (time.time() < 0)),
    "modules": lambda q, p, s: moved(q, p, s) * (1 + 9 * ("nothing" in sys.modules)),
    "replicas": lambda q, p, s: moved(q, p, s) + 0 * s.x.mean(axis=0),
}


def stepping(added):
    def step(problem, params, state, draw):
        return {"x": state.x + added(problem, params, state)}

    method = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))
    statement = ft.contracts(method, ft.distance, (1 - gamma * mu) ** 2)
    return ft.Claim("mine/looking", setting=setting, statement=statement, requires=(gamma * (mu + L) <= 2,))


def unread(claim):
    recipe, _ = next(meeting(claim, claim.instances.recipes(np.random.default_rng(0))))
    return whole.unread(Case(claim, recipe))


@pytest.mark.parametrize("added", LOOKING.values(), ids=LOOKING)
def test_a_step_that_looks_is_not_read(added):
    assert unread(stepping(added))


def test_a_step_that_does_not_is():
    assert not unread(stepping(moved))
    assert check(stepping(moved)).verdict is Verdict.PROVED


@pytest.mark.parametrize("name", ["some clients", "an operator", "a clock"])
def test_what_is_not_read_is_not_shown(name):
    assert first_found(stepping(LOOKING[name])).verdict in (Verdict.SUPPORTED, Verdict.REFUTED)
