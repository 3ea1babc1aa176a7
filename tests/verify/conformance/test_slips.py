"""Slips are other methods than the reference, and their source is their own."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from fedtheory import algorithms
from fedtheory.algorithms import diana, slips
from fedtheory.algorithms.slips import edit, edits
from verify.conformance.scenarios import FEATURES, known, scenarios
from verify.conformance.slips import slips as with_slips
from verify.reading.source import tree_of

#: What a method's slips need beside the plain scenarios.
ASKED = {
    "fedavg": ("counts", "momentum", "own local steps"),
    "fednova": ("counts", "momentum"),
    "scaffold": ("own local steps", "option I"),
    "powersgd": ("own memory",),
    "signsgd": ("momentum",),
    **dict.fromkeys(("fedavgm", "fedadagrad"), ("counts",)),
    **dict.fromkeys(("fedadam", "fedyogi"), ("counts", "bias correction", "bias-corrected stepsize")),
}
#: What a method does itself: of the slips that the three adaptive servers share, and where control variates sum to
#: zero.
ITS_OWN = {
    "scaffnew": {"the average leaves out the control variates, which do not sum to zero here"},
    "fedadam": {"v is FedAdam's"},
    "fedadagrad": {
        "the bias is not corrected",
        "the bias is corrected for one step more than were made",
        "v is never decayed: it adds up the squares, as FedAdagrad does",
    },
}
WITH_SLIPS = [name for name in known() if algorithms.slips_of(name)]


def settings(name):
    asked = ASKED.get(name, ())
    assert set(asked) <= set(FEATURES)
    return [(), *((feature,) for feature in asked)]


def run(algorithm, scenario, start, rounds=6):
    """The states of a run, from ``start`` if that is a state of the algorithm; None if the scenario is not for it."""
    rng, found = np.random.default_rng(7), []
    with np.errstate(all="ignore"):
        try:
            state = algorithm.init(scenario.problem, scenario.params)
            state = start if isinstance(start, algorithm.State) else state
            for _ in range(rounds):
                draw = algorithm.draws(scenario.problem, scenario.params, state).sample(rng, ())
                state = algorithm.step(scenario.problem, scenario.params, state, draw)
                found.append(state)
        except (TypeError, ValueError, AttributeError, IndexError):
            return None
    return found


def differ(one, other):
    if other is None:
        return False
    pairs = [(getattr(a, k), getattr(b, k)) for a, b in zip(one, other, strict=True) for k in one[0]._fields]
    return any(a.shape != b.shape or not np.allclose(a, b, rtol=1e-7) for a, b in map(_arrays, pairs))


def _arrays(pair):
    return [np.asarray(value, dtype=float) for value in pair]


@pytest.mark.parametrize("name", WITH_SLIPS)
def test_each_slip_departs_from_the_method(name):
    own = algorithms.get(name)
    left = list(with_slips(own))[: len(algorithms.slips_of(name))]
    for features in settings(name):
        for scenario in sorted(scenarios(name, 0, features), key=lambda s: -s.problem.n)[:3]:
            for start in (None, scenario.states[1]):
                due = run(own, scenario, start) if left else None
                left = [slip for slip in left if not differ(due, run(slip.algorithm, scenario, start))]
    assert {slip.text for slip in left} == ITS_OWN.get(name, set())


def test_each_slip_is_told_by_its_letter():
    for name in WITH_SLIPS:
        found = algorithms.slips_of(name)
        assert {letter for _, letter, _ in found} <= {"", *algorithms.get(name).State._fields}
        assert len({words for words, *_ in found}) == len(found)


def test_the_source_of_a_slip_is_its_own():
    """So that nothing is proved of it by the source of the method."""
    _, _, slip = algorithms.slips_of("diana")[0]
    assert "gamma * (m_bar - state.h_bar)" in inspect.getsource(slip)
    node, module = tree_of(slip)
    assert node.name == "step" and "(m_bar - state.h_bar)" in module.text
    assert "(m_bar - state.h_bar)" not in inspect.getsource(diana.step)


def test_functions_that_the_step_calls_are_changed_for_the_slip_alone():
    def first(of):
        return next(step for words, _, step in algorithms.slips_of("scaffnew") if words.startswith(of))

    slip, own = first("the average leaves out"), algorithms.get("scaffnew").step
    assert slip.__globals__["communicate"] is not own.__globals__["communicate"]
    assert slip.__globals__["State"] is own.__globals__["State"]


@pytest.mark.parametrize(
    ("replacement", "times"), [("gamma * (state.x => 0", 0), ("state.h_bar => 0", 2), ("no_arrow", 0)]
)
def test_a_text_that_is_not_there_once_is_refused(replacement, times):
    with pytest.raises(ValueError, match=f"which is there {times} times"):
        edit(replacement)(diana.step)


def test_a_list_of_slips():
    found = edits("\nx: sign: swapped\n    a => b\n    c =>\nh: never\n    d => e\n", "f => g")
    assert found == (
        ("sign: swapped", "x", slips.Edit((("f", "g"), ("a", "b"), ("c", "")))),
        ("never", "h", slips.Edit((("f", "g"), ("d", "e")))),
    )
