"""The claim at one instance, each part of which is made once."""

from collections import Counter

import numpy as np
import pytest

from fedtheory import claims
from fedtheory.sampling import derived
from verify.base.case import Case
from verify.base.evaluate import hypotheses_hold, tree_size

BOUND = claims.get("feddcd/lemma-B.8/rate")
RECIPE = next(BOUND.instances.recipes(np.random.default_rng(0)))


def test_an_instance_is_built_once_in_each_arithmetic():
    case = Case(BOUND, RECIPE)
    assert case.instance is case.instance and case.floats is case.floats
    assert case.floats.instance is case.floats.instance is not case.instance
    assert not case.floats.exact and case.floats.recipe is RECIPE and case.floats.claim is BOUND


def test_nothing_is_shared_with_a_case_that_is_made_anew():
    case = Case(BOUND, RECIPE)
    again = case.anew()
    assert again.instance is not case.instance and again.floats.instance is not case.floats.instance
    assert again.letters is not case.letters and again.letters == case.letters
    assert not case.floats.anew().exact


def test_an_instance_that_cannot_be_built_raises_each_time():
    case = Case(BOUND, {**RECIPE, "clients": ()})
    assert not case.exists
    for _ in range(2):
        with pytest.raises(ValueError, match="at least one client"):
            hypotheses_hold(case)
    assert Case(BOUND, RECIPE).exists


def test_a_given_instance_is_taken_as_it_is():
    instance = BOUND.instances.build(RECIPE, True)
    case = Case.of(BOUND, instance, RECIPE)
    assert case.instance is instance and case.problem is instance.problem and case.params is instance.params
    stated = claims.get("feddcd/lemma-B.8/descent")
    assert case.with_claim(stated).instance is instance and case.with_claim(stated).claim is stated
    assert case.with_instance(case.floats.instance).problem is case.floats.problem


def test_letters_and_draws_are_made_once(monkeypatch):
    case, asked = Case(BOUND, RECIPE), Counter()
    bind = type(BOUND.setting).bind
    monkeypatch.setattr(type(BOUND.setting), "bind", lambda *given: asked.update(["bind"]) or bind(*given))
    assert case.letters is case.letters and hypotheses_hold(case) and hypotheses_hold(case)
    assert asked["bind"] <= 2
    assert case.draws is case.draws and tree_size(case, 2) == tree_size(case, 1) ** 2 == case.draws.count**2


def test_code_that_looks_at_the_optimum_is_run_once_for_both_arithmetics(monkeypatch):
    """Where runs begin depends on it, and it is run on fractions."""
    claim, asked, built = claims.get("feddcd/theorem-4.1/eq-3"), [], []
    original, build = derived._about_any_optimum, derived.building.build
    monkeypatch.setattr(derived, "_about_any_optimum", lambda *given: asked.append(given) or original(*given))
    monkeypatch.setattr(derived.building, "build", lambda *given: built.append(given[-1]) or build(*given))
    case = Case(claim, next(claim.instances.recipes(np.random.default_rng(0))))
    assert case.instance is not None and case.floats.instance is not None
    assert len(asked) == 1 and built == [True, False]
