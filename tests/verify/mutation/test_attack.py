"""The attack by mutants that are wrong in a region only: it tells what is false, and what the checker believes."""

import dataclasses

import pytest

from fedtheory import claims
from verify import check
from verify.base.verdict import Verdict
from verify.mutation import Mutant, attack, regions
from verify.mutation import report as told

DESCENT = claims.get("baseline/gradient-descent/one-step")


def mutant(change, inside=None):
    algorithm = DESCENT.statement.algorithm

    def step(problem, params, state, draw):
        return change(problem, state, algorithm.step(problem, params, state, draw))

    variant = DESCENT.variant(algorithm=dataclasses.replace(algorithm, step=step))
    return Mutant("planted#1", "step", DESCENT.id, "planted", (variant,), (DESCENT,), inside)


def test_what_is_false_in_a_region_is_refuted():
    wrong = mutant(lambda problem, state, new: new._replace(x=2 * new.x) if problem.d >= 3 else new)
    (found,) = attack.attacks((wrong,))
    assert found.false and found.verdict is Verdict.REFUTED and not found.believed


def test_what_makes_no_difference_is_not_called_false():
    (found,) = attack.attacks((mutant(lambda problem, state, new: new._replace(x=state.x + (new.x - state.x))),))
    assert not found.false and found.verdict in (Verdict.CERTIFIED, Verdict.PROVED)


def test_the_region_is_searched_where_the_check_found_nothing(monkeypatch):
    wrong = mutant(
        lambda problem, state, new: new._replace(x=2 * new.x) if problem.d >= 3 else new,
        lambda problem, params: problem.d >= 3,
    )
    # A checker that believes all it is told.
    monkeypatch.setattr(
        attack, "check", lambda claim, seed, budget: dataclasses.replace(check(DESCENT), verdict=Verdict.CERTIFIED)
    )
    (found,) = attack.attacks((wrong,), budget="full")
    assert found.false and found.believed
    assert told.standing([found], [wrong])[0].startswith("planted#1 is false and certified")
    counts = [list(column.cells) for column in told.by_region([found], [wrong]).columns]
    assert [cells[-1] for cells in counts] == ["all", "1", "0", "1", "0", "0", "1", "0"]


def test_what_does_not_run_is_said():
    def broken(problem, state, new):
        raise RuntimeError("no")

    (found,) = attack.attacks((mutant(broken),))
    assert found.verdict is None and not found.false and "no" in found.note


@pytest.mark.parametrize("seed", (1, 2))
def test_mutants_are_the_same_again(seed):
    holding = tuple(claims.get(id) for id in ("locodl/theorem-3.1/one-step", "locodl/eq-13", DESCENT.id))
    first, again = (attack.drawn(holding, seed, 20) for _ in range(2))
    assert [(m.id, m.text) for m in first] == [(m.id, m.text) for m in again]
    assert {m.operator for m in first} <= set(regions.SORTS)
