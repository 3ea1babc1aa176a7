"""Code that is not read has no certificate, although formal vectors have one entry and few clients."""

from __future__ import annotations

import re
import time
from collections import deque
from dataclasses import replace
from itertools import islice
from operator import gt

import numpy as np
import pytest

from fedtheory import claims
from fedtheory.algorithms import diana, feddcd, locodl, rbcd
from verify.as_read import proving
from verify.base.case import Case
from verify.base.evaluate import meeting
from verify.pep import posing
from verify.reading import whole

LOCODL = claims.get("locodl/theorem-3.1/one-step")
EQ_3 = claims.get("feddcd/theorem-4.1/eq-3")
RATE = claims.get("feddcd/lemma-B.8/rate/repaired")
DIANA = claims.get("baseline/diana/one-step")

#: Claims over a class whose code is not read: they speak of how many nodes there are.
NOT_READ = ("fedopt/dane/property-b/repaired", "fedopt/dane/property-d")
_OVER_A_CLASS = [c for c in claims.all() if posing.posable(c.setting) and c.statement.bounding and c.id not in NOT_READ]
#: One claim of each setting.
ABOUT = {id(claim.setting): claim for claim in reversed(_OVER_A_CLASS)}.values()


def first(claim):
    recipes = claim.instances.recipes(np.random.default_rng(0))
    return next(instance for _, instance in meeting(claim, islice(recipes, 40)))


@pytest.mark.parametrize("claim", ABOUT, ids=lambda claim: claim.id)
def test_the_code_of_registered_claims_over_a_class_is_read(claim):
    assert whole.unread(Case.of(claim, first(claim))) == ""


@pytest.mark.parametrize("id", NOT_READ)
def test_what_is_not_read_is_told_with_its_line(id):
    assert re.search(r"\w+ \(\w+\.py\), line \d+: ", whole.unread(Case.of(claims.get(id), first(claims.get(id)))))


@pytest.mark.parametrize("name", ["a product over n", "a product over stepsizes"])
def test_high_powers_are_refused_as_such(name):
    assert "powers of the" in whole.unread(Case.of(stepping(LOCODL, LOOKS[name]), first(LOCODL)))


# Planted errors: none does anything to vectors with one entry, or to three clients.

ENTRIES = {
    "reversed": lambda x: x[..., ::-1],
    "sorted": lambda x: np.sort(x, axis=-1),
    "summed up": lambda x: np.cumsum(x, axis=-1),
    "the first": lambda x: x[..., :1] + 0 * x,
    "the largest": lambda x: x.max(axis=-1, keepdims=True) + 0 * x,
    "divided": lambda x: x / x.shape[-1],
    "shifted by two": lambda x: np.roll(x, 2, axis=-1),
    "from the eighth on": lambda x: np.concatenate([x[..., :8], 0 * x[..., 8:]], axis=-1),
    "one alone": lambda x: x * np.where(np.arange(x.shape[-1]) == 1, 2, 1),
}
STEPS = ((LOCODL, locodl, "v"), (EQ_3, feddcd, "y"), (RATE, rbcd, "x"), (DIANA, diana, "h"))


def stepping(claim, change):
    """The claim of a method whose state after a step is ``change(problem, params, state, new)``."""
    algorithm = claim.statement.algorithm

    def step(problem, params, state, draw):
        return change(problem, params, state, algorithm.step(problem, params, state, draw))

    return claim.variant(algorithm=replace(algorithm, step=step))


@pytest.mark.parametrize("change", ENTRIES.values(), ids=ENTRIES)
@pytest.mark.parametrize(("claim", "module", "name"), STEPS, ids=lambda v: getattr(v, "id", None))
def test_steps_that_mix_coordinates_are_not_read(claim, module, name, change):
    changed = stepping(claim, lambda problem, params, state, new: new._replace(**{name: change(getattr(new, name))}))
    assert whole.unread(Case.of(changed, first(claim)))


SEEN, COUNTED, LATE = deque(maxlen=1), [0], {2: 1, 3: 1}
COUNTS, STEPSIZES = tuple(range(1, 13)), tuple(range(2, 19))


def remembers(problem, params, state, new):
    SEEN.append(problem.n)
    return new._replace(x=new.x * (1 + (SEEN[-1] > 12)))


def product(letter, values):
    found = 1
    for value in values:
        found = found * (letter - value)
    return found


LOOKS = {
    "the server sums twelve": lambda q, p, s, new: new._replace(v=new.v + new.u[..., 12:, :].sum(axis=-2)),
    "a product over n": lambda q, p, s, new: new._replace(x=new.x * (1 + product(q.n, COUNTS))),
    "a product over stepsizes": lambda q, p, s, new: new._replace(x=new.x * (1 + product(p.gamma, STEPSIZES))),
    "a table of d": lambda q, p, s, new: new._replace(x=new.x * LATE.get(q.d, 1)),
    "a table of n": lambda q, p, s, new: new._replace(x=new.x * (1 if LATE.get(q.n) is None else LATE[q.n])),
    "operator.gt": lambda q, p, s, new: new._replace(x=new.x * (1 + gt(q.n, 12))),
    "__gt__": lambda q, p, s, new: new._replace(x=new.x * (1 + (12).__lt__(q.n))),
    "fmax": lambda q, p, s, new: new._replace(x=new.x * np.fmax(1, q.n - 12)),
    "range(8, d)": lambda q, p, s, new: new._replace(x=new.x * (1 + len(range(8, q.d)))),
    "the name of a class": lambda q, p, s, new: new if s.x.__class__.__name__ == "ndarray" else s,
    "__dict__": lambda q, p, s, new: new._replace(x=new.x * q.__dict__.get("weight", 1)),
    "a deque": remembers,
    "out=": lambda q, p, s, new: new._replace(x=np.multiply(new.x, 1, out=new.x)),
    "a clock": lambda q, p, s, new: new._replace(x=new.x * (1 + (time.time() < 0))),
    "sys.modules": lambda q, p, s, new: new if "numpy" in __import__("sys").modules else s,
    "an average over replicas": lambda q, p, s, new: new._replace(x=new.x + 0 * new.x.sum(axis=0)),
    "an average over draws": lambda q, p, s, new: new._replace(x=new.x.mean(axis=1, keepdims=True)),
    # Others
    "bits": lambda q, p, s, new: new._replace(x=new.x * (1 + (q.n >> 4))),
    "a slice by n": lambda q, p, s, new: new._replace(x=new.x * "1111111"[: q.n].count("1") / q.n),
    "a sign": lambda q, p, s, new: new._replace(x=new.x * np.sign(p.gamma)),
    "a hash": lambda q, p, s, new: new._replace(x=new.x * (1 + (hash(q.n) > 12))),
    "any": lambda q, p, s, new: new._replace(x=new.x * (1 + any(k > 12 for k in range(q.n)))),
    "an einsum": lambda q, p, s, new: new._replace(x=np.einsum("...ij->...ij", new.x)),
    "a string": lambda q, p, s, new: new._replace(x=new.x * len(f"{q.n}")),
    "a matching": lambda q, p, s, new: new._replace(x=new.x * {True: 1, False: 2}[q.n < 12]),
    "whole numbers that begin anew": lambda q, p, s, new: new._replace(x=new.x * (1 + np.ones((), dtype=int) * 2**62)),
    "a changed global": lambda q, p, s, new: new._replace(x=new.x * (1 + COUNTED[0])),
}


@pytest.mark.parametrize("change", LOOKS.values(), ids=LOOKS)
def test_code_that_looks_is_not_certified(change):
    changed = stepping(LOCODL, change)
    with pytest.raises(ValueError, match="is not read"):
        posing.check_read(Case.of(changed, first(LOCODL)))


SHARE = 1


def test_a_constant_that_was_changed_is_not_read(monkeypatch):
    changed = stepping(LOCODL, lambda q, p, s, new: new._replace(x=new.x * SHARE))
    assert whole.unread(Case.of(changed, first(LOCODL))) == ""
    monkeypatch.setitem(globals(), "SHARE", 2)
    assert "SHARE differs from the constant in the source" in whole.unread(Case.of(changed, first(LOCODL)))


FEASIBLE = claims.get("locodl/algorithm-1/feasibility")


@pytest.mark.parametrize("name", [name for name in LOOKS if not name.startswith("a product")])
def test_code_that_looks_is_not_proved(name):
    """Of what is left out polynomials in letters are read: a proof for all letters says what they are."""
    recipes = FEASIBLE.instances.recipes(np.random.default_rng(0))
    seen = [instance for _, instance in islice(meeting(FEASIBLE, recipes), 6)]
    with pytest.raises(ValueError, match=r"line \d+"):
        proving.read(stepping(FEASIBLE, LOOKS[name]), seen)


def test_a_step_that_is_wrong_for_many_clients_is_not_proved():
    seen = [first(FEASIBLE)]
    changed = stepping(FEASIBLE, lambda q, p, s, new: new._replace(v=new.v + product(q.n, COUNTS) * s.y))
    assert all(proving.unshown(changed, case) for case in proving.read(changed, seen))
