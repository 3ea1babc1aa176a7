"""What authors assert of their methods and settings, where it is not so."""

from collections import namedtuple
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import claims
from fedtheory.algorithms.parts import zeros
from fedtheory.classes import ContractiveCompressors, SmoothStronglyConvex, UnbiasedCompressors
from fedtheory.compressors import Layout
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.limit import Limit
from fedtheory.sampling.chart import ties_less
from verify import Verdict, check, checking
from verify.base.case import Case
from verify.base.evaluate import meets_grounds
from verify.comparisons import asserted
from verify.methods import METHODS
from verify.methods.base import Inquiry
from verify.pep import bounding, posing
from verify.reading import theory

mu, L, gamma = ft.letters("mu L gamma")
SHORT = (gamma * L <= 1,)
SEARCH = next(method for method in METHODS if method.name == "search")
CLIENT = {"h": (Fraction(1),), "y": (Fraction(3),)}
RECIPE = {
    "d": 1,
    "x": (Fraction(2),),
    "clients": (CLIENT, {"h": (Fraction(2),), "y": (Fraction(0),)}),
    "mu": Fraction(1),
    "L": Fraction(2),
    "gamma": Fraction(1, 3),
}


def _descent(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)}


def _claim(method, statement, requires=SHORT, **setting):
    functions = SmoothStronglyConvex(mu, L)
    return ft.Claim(
        "own/claim",
        setting=ft.Setting(algorithm=method, functions=functions, **setting),
        statement=statement,
        requires=requires,
    )


def _contracts(method, **more):
    return _claim(method, ft.contracts(method, ft.distance, (1 - gamma * mu) ** 2), **more)


def _built(claim, recipe=RECIPE):
    return claim.instances.build(recipe, True)


def searched(claim, size=12):
    return SEARCH.run(SEARCH, Inquiry(claim, 0, size))


GD = ft.method("gd", _descent, ["gamma"], {"x": "point"})

# Draws


@dataclass(frozen=True)
class Coin:
    """Whether to take the step: in fractions and in floats."""

    p: Any
    floats: Any = None
    count: int = 2

    def sample(self, rng, size=()):
        return rng.random(size) < 0.5

    def support(self, exact=False):
        p = self.p if exact or self.floats is None else self.floats
        return np.array([1, 0]), np.array([p, 1 - p], dtype=object if exact else float)


def _lazy(draws):
    def step(problem, params, state, draw):
        return {"x": state.x + draw[..., None] * (_descent(problem, params, state, None)["x"] - state.x)}

    return ft.method("lazy", step, ["gamma"], {"x": "point"}, draws=draws)


def _shy(problem, params, state):
    try:
        return _near(problem, params, state)
    except Exception:
        # As at the states that are looked at.
        return Coin(Fraction(1, 4))


def _near(problem, params, state):
    far = (np.asarray(state.x, dtype=float) ** 2).sum() > 1
    return Coin(Fraction(1, 4) if far else Fraction(1, 2))


@pytest.mark.parametrize(
    ("draws", "said"),
    [
        (_near, "what lazy draws depends on the state"),
        (_shy, "what lazy draws depends on the state"),
        (
            lambda problem, params, state: Coin(Fraction(1, 2), 0.25),
            "depends on whether numbers are floats or fractions",
        ),
        (lambda problem, params, state: Coin(Fraction(3, 2)), "negative"),
    ],
)
def test_draws_that_are_no_one_distribution_are_told(draws, said):
    with pytest.raises(ValueError, match=said):
        asserted.check_draws(Case(_contracts(_lazy(draws)), RECIPE))


def test_draws_that_are_one_distribution_are_not():
    asserted.check_draws(Case(_contracts(_lazy(lambda problem, params, state: Coin(Fraction(1, 2)))), RECIPE))


# Fixed points


def _with_gradients(problem, params, state, draw):
    gradients = problem.f.gradient(state.x[..., None, :] + 0 * state.u)
    return {"x": state.x - params.gamma * gradients.mean(axis=-2), "u": gradients}


def _remembering(right):
    def fixed(problem, params):
        gradients = problem.f.gradient(problem.x_star[..., None, :])
        return made.State(problem.x_star, gradients if right(problem) else 0 * gradients)

    made = ft.method("remembering", _with_gradients, ["gamma"], {"x": "point", "u": "clients"}, fixed_point=fixed)
    return made


TO_OPTIMUM = {"text": "x tends to x*", "potential": ft.Quantity("V", ft.distance)}


@pytest.mark.parametrize(
    "right", [lambda problem: False, lambda problem: problem.n == 1, lambda problem: problem.d == 2]
)
def test_a_limit_at_a_fixed_point_that_is_none_is_ill_posed_and_not_refuted(right):
    method = _remembering(right)
    found = searched(_claim(method, Limit(method, **TO_OPTIMUM), clients=(1, 2, 3)))
    assert found.verdict is Verdict.ILL_POSED
    assert "a step of remembering leaves what is given as its fixed point" in found.note


@pytest.mark.parametrize(("kind", "at"), [("gradients", ""), ("clients", "u = 0"), ("models", "u = x*")])
def test_parts_are_where_their_kinds_say_at_the_optimum(kind, at):
    """A step keeps the gradients of the f_i at x*; copies of x*, or 0, it does not."""
    method = ft.method("remembering", _with_gradients, ["gamma"], {"x": "point", "u": kind})
    found = searched(_claim(method, Limit(method, **TO_OPTIMUM), clients=(1, 2, 3)))
    assert found.verdict is (Verdict.ILL_POSED if at else None)
    assert not at or f"a step of remembering leaves x = x*, {at}, which is taken for its fixed point" in found.note


def test_a_limit_is_refuted_at_a_state_that_every_step_leaves_as_it_is():
    true = _remembering(lambda problem: True)
    assert searched(_claim(true, Limit(true, **TO_OPTIMUM))).verdict is None

    def drifting(problem, params, state, draw):
        return {"x": _descent(problem, params, state, draw)["x"] + 1}

    off = ft.method("drifting", drifting, ["gamma"], {"x": "point"})
    found = searched(_claim(off, Limit(off, **TO_OPTIMUM)))
    assert found.verdict is Verdict.REFUTED
    left, right = found.counterexample.replay()
    assert left > right == 0


# Invariants, what is known


def _invariant(of, **more):
    return ft.method("gd", _descent, ["gamma"], {"x": "point"}, invariant=of, **more)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (lambda problem, params, state: state.x - problem.x_star, "does not hold at its initial states"),
        (lambda problem, params, state: state.x, "breaks its invariant"),
        (lambda problem, params, state: 0 * state.x + 1, "does not hold at its initial states"),
    ],
)
def test_an_invariant_that_is_none_is_told(of, said):
    claim = _contracts(_invariant(of))
    assert said in asserted.unheld(Case.of(claim, _built(claim)))
    assert searched(claim).verdict is Verdict.ILL_POSED


def test_an_invariant_that_is_one_of_other_problems_only_is_told():
    """The chart is of the simplest problem, of mu = L: there h would be 0, and here it is any."""

    def step(problem, params, state, draw):
        return {"x": _descent(problem, params, state, draw)["x"] + state.h, "h": state.h}

    def fixed(problem, params):
        return {"x": problem.x_star, "h": zeros(problem.d)}

    def tied(factor):
        parts = {"x": "point", "h": "point"}
        return _contracts(
            ft.method("held", step, ["gamma"], parts, fixed_point=fixed, invariant=lambda p, q, s: factor(p) * s.h)
        )

    void, real = tied(lambda problem: 2 * problem.mu - problem.L), tied(lambda problem: problem.mu)
    assert "ties less of a state" in asserted.unheld(Case.of(void, _built(void)))
    assert not asserted.unheld(Case.of(real, _built(real)))


def test_an_invariant_that_init_keeps_only_in_part_is_told():
    def init(problem, params, x=None):
        x = zeros(problem.d) if x is None else x
        return made.State(x, problem.f.gradient(x[..., None, :]))

    def sums(problem, params, state):
        return state.u.sum(axis=-2) - problem.f.gradient(state.x[..., None, :]).sum(axis=-2)

    made = ft.method("tied", _with_gradients, ["gamma"], {"x": "point", "u": "clients"}, init=init, invariant=sums)
    with pytest.raises(ValueError, match="ties to the others only in part"):
        asserted.check_chart(Case.of(_contracts(made), _built(_contracts(made))))


def test_what_is_known_of_states_holds_of_those_that_are_searched():
    def known(sign):
        return ft.Hints(known=lambda problem, params, state: sign * ((state.x - problem.x_star) ** 2).sum(axis=-1))

    true, false = _contracts(GD, hints=known(-1)), _contracts(GD, hints=known(1))
    assert not asserted.unknown(Case.of(true, _built(true)))
    assert "known of all states fails" in asserted.unknown(Case.of(false, _built(false)))
    assert searched(false).verdict is Verdict.ILL_POSED


def test_what_is_known_of_states_at_the_start_bounds_no_run():
    V_0, V_T = ft.Quantity("V_0", ft.distance), ft.Quantity("V_T", ft.distance, after=True)
    bound = ft.bound(GD, ft.E(V_T) <= (1 - gamma * mu) ** (2 * ft.T) * V_0)
    claim = _claim(GD, bound, hints=ft.Hints(known=lambda problem, params, state: 0 * state.x.sum(axis=-1)))
    with pytest.raises(bounding.Refused, match="is not known of those after it"):
        bounding.posed_as_claimed(Case.of(claim, _built(claim)))


def test_what_is_known_of_the_functions_that_are_drawn_is_no_ground_of_a_certificate():
    """Without kinks only quadratics are drawn, whose gradients double with the distance from x*."""

    def slope(problem, at):
        return problem.f.gradient(at[..., None, :]).mean(axis=-2)

    def beyond(problem, params, state):
        return (slope(problem, 2 * state.x - problem.x_star) ** 2).sum(axis=-1)

    def here(problem, params, state):
        return (slope(problem, state.x) ** 2).sum(axis=-1)

    def known(problem, params, state):
        return beyond(problem, params, state) - 4 * here(problem, params, state)

    sides = ft.Quantity("G_2", beyond), ft.Quantity("G", here)
    claim = _claim(
        None,
        ft.inequality(sides[0] <= 4 * sides[1]),
        (),
        drawing=ft.Drawing(kinks=False),
        hints=ft.Hints(known=known),
        clients=(1,),
    )
    claim = replace(claim, setting=replace(claim.setting, algorithm=GD))
    assert check(claim).verdict is Verdict.SUPPORTED
    with pytest.raises(bounding.Refused, match="no ground of a certificate"):
        bounding.posed_as_claimed(Case.of(claim, _built(claim, {**RECIPE, "clients": (CLIENT,)})))


def test_what_a_paper_knows_of_states_is_built_on_where_no_functions_are_kept_from_being_drawn():
    setting = claims.get("fedadmm/lemma-4.1/repaired").setting
    assert theory.vouches(setting)
    assert not theory.vouches(replace(setting, drawing=replace(setting.drawing, kinks=False)))
    made = replace(
        setting.algorithm, init=lambda problem, params, **parts: setting.algorithm.init(problem, params, **parts)
    )
    assert not theory.vouches(replace(setting, algorithm=made))


def test_what_has_no_entries_is_not_said_to_hold():
    def nothing(problem, params, state):
        return state.x[..., :0]

    for statement in (ft.Invariant(GD, nothing, "nothing"), ft.Stays(GD, nothing, "nothing")):
        with pytest.raises(ValueError, match="has no entries"):
            searched(_claim(GD, statement))
    claim = _claim(GD, ft.Invariant(GD, nothing, "nothing"))
    with pytest.raises(ValueError, match="has no entries"):
        posing.closed(
            Case.of(
                replace(claim, setting=replace(claim.setting, algorithm=replace(GD, invariant=nothing))), _built(claim)
            )
        )


@pytest.mark.parametrize(("moves", "verdict"), ((False, Verdict.REFUTED), (True, None)))
def test_a_run_that_begins_in_one_state_and_stays_there_has_no_other_limit(moves, verdict):
    def step(problem, params, state, draw):
        return _descent(problem, params, state, draw) if moves else {"x": state.x}

    method = ft.method(
        "begun-at-0",
        step,
        ["gamma"],
        {"x": "point"},
        init=lambda problem, params: {"x": zeros(problem.d)},
        fixed_point=lambda problem, params: {"x": problem.x_star},
    )
    assert searched(_claim(method, Limit(method, **TO_OPTIMUM))).verdict is verdict


# Hypotheses given as code


class _Picky:
    def contains(self, problem, params):
        return hasattr(problem.f, "gradient")

    __call__ = contains


def _of_declared_class(problem, params):
    return min(problem.f.mu) >= problem.mu and max(problem.f.L) <= problem.L


@pytest.mark.parametrize(
    "met", [_of_declared_class, _Picky(), _Picky().contains, lambda problem, params: hasattr(problem.f, "gradient")]
)
def test_code_is_no_ground_of_a_proof_and_a_membership_is(met):
    code = ft.Hypothesis("as the code says", met=met)
    stated = {"letters": {mu: "mu", L: "L", gamma: "gamma"}, "drawing": ft.Drawing(classes_stated=True)}
    claim = _contracts(GD, requires=(gamma * L <= 1, code), **stated)
    # Functions beyond the class are not shut out, so that nothing of the class may be posed.
    assert posing.any_functions(Case.of(claim, _built(claim)))
    own = _contracts(GD, requires=(gamma * L <= 1, code), letters=stated["letters"])
    assert not posing.any_functions(Case.of(own, _built(own)))
    assert checking.assumptions(own, Verdict.CERTIFIED, ("sdp",)) == (
        "the code of the hypothesis 'as the code says', which chose the instances, says what its text does",
    )


def test_a_proof_names_the_code_that_it_uses():
    never = ft.Hypothesis("never", met=lambda problem, params: False)
    claim = _contracts(GD, requires=(gamma * L <= 1, never))
    assert meets_grounds(Case.of(claim, _built(claim)))
    assert not meets_grounds(Case.of(claim, _built(claim)), (never,))


def test_compressors_are_posed_as_independent_only_where_the_class_says_so():
    recipe = RECIPE | {"k": 0, "omega": Fraction(1), "joint": "independent"}
    for independent, joint in ((False, "shared"), (True, "independent")):
        dcgd = ft.method("dcgd", _descent, ["gamma", "compressors"], {"x": "point"})
        claim = _contracts(dcgd, adversaries=(UnbiasedCompressors(independent=independent),))
        posed = posing.pose(claim.setting, _built(claim, recipe)).instance
        assert posed.params.compressors.joint == joint
        dropped = claim.variant(requires=claim.requires[:2])
        with pytest.raises(ValueError, match="compressors than those posed"):
            posing.any_functions(Case.of(dropped, _built(dropped, recipe)))


def test_memberships_are_told_by_their_class():
    functions, compressors = SmoothStronglyConvex(mu, L), UnbiasedCompressors()
    contains = ft.Hypothesis("of the class", met=functions.contains)
    assert contains.states_membership((compressors, functions))
    assert not contains.states_membership((compressors, ContractiveCompressors()))
    assert not ft.Hypothesis("other", met=UnbiasedCompressors("up").contains).states_membership((compressors,))
    assert not checking.assumptions(_claim(GD, Inequality(mu, L)), Verdict.PROVED, ())


def test_states_made_by_hand_that_are_all_are_not_assumed():
    claim = _contracts(GD)
    assert asserted.reaches(_built(claim))
    half = _built(claim)
    assert not asserted.reaches(type(half)(None, None, 1, lambda theta: (None, np.concatenate([theta, theta], axis=1))))
    assert not asserted.reaches(type(half)(None, None, 1, lambda theta: (None, theta**2)))


# Replicas


def _at_random(share):
    """Gradient descent with twice the step or none, by a coin; ``share(draw)``: what is made of the coin."""

    def step(problem, params, state, draw):
        gradient = problem.f.gradient(state.x[..., None, :]).mean(axis=-2)
        return {"x": state.x - 2 * share(np.asarray(draw)) * params.gamma * gradient}

    return ft.method("coin", step, ["gamma"], {"x": "point"}, draws=lambda problem, params, state: Coin(Fraction(1, 2)))


@pytest.mark.parametrize("share", [lambda draw: draw.mean(axis=0), lambda draw: Fraction(int(draw.sum()), draw.size)])
def test_a_step_that_averages_over_draws_is_no_step(share):
    claim = _contracts(_at_random(share))
    with pytest.raises(ValueError, match="mixes replicas"):
        asserted.check_replicas(Case.of(claim, _built(claim)))


def test_a_step_of_one_state_and_one_draw():
    claim = _contracts(_at_random(lambda draw: draw[..., None]))
    asserted.check_replicas(Case.of(claim, _built(claim)))


def _largest(problem, params, state):
    return 0 * ft.distance(problem, params, state) + ft.distance(problem, params, state).max()


def test_a_quantity_of_all_states_together_is_none_of_each():
    claim = _claim(GD, ft.inequality(ft.Quantity("V", ft.distance) <= ft.Quantity("W", _largest)))
    with pytest.raises(ValueError, match=r"_largest .* mixes replicas"):
        asserted.check_replicas(Case.of(claim, _built(claim)))


def _moving_the_optimum(problem, params, state):
    problem.x_star[...] = state.x.reshape(-1, problem.d)[0]
    return ft.distance(problem, params, state)


def _moving_the_state(problem, params, state):
    off = state.x
    off -= problem.x_star
    return (off**2).sum(axis=-1)


@pytest.mark.parametrize("of", [_moving_the_optimum, _moving_the_state])
def test_a_quantity_changes_nothing_that_it_is_given(of):
    A = ft.Quantity("A", of)
    claim = _claim(GD, ft.inequality(A + ft.Quantity("B", ft.distance) <= A))
    with pytest.raises(ValueError, match="read-only"):
        searched(claim)


@pytest.mark.parametrize("value", [None, "a", 1j])
def test_a_quantity_is_of_real_numbers(value):
    claim = _claim(
        GD, ft.identity(ft.Quantity("A", lambda problem, params, state: value), ft.Quantity("B", ft.distance))
    )
    with pytest.raises(ValueError, match="does not return a real number"):
        asserted.check_replicas(Case.of(claim, _built(claim)))


@pytest.mark.parametrize("bits, told", [(None, True), (1, False)])
def test_bits_of_messages_that_nothing_writes_are_assumed(bits, told):
    def kept(d, k):
        return ft.Compressor(
            "kept",
            d,
            ft.UniformSubset(d, k),
            lambda mask, x: np.where(mask, Fraction(d, k), 0) * x,
            d / k - 1,
            bits or 0,
        )

    said = checking.assumptions(ft.compressor_claim("own/kept", kept, ft.d / ft.k - 1, bits), Verdict.PROVED, ())
    assert (said == ()) is told


@pytest.mark.parametrize("name", ["rand-k", "natural", "rand-k-natural"])
def test_bits_of_messages_that_are_read_back_are_not(name):
    assert not checking.assumptions(claims.get(f"locodl/eq-2/{name}"), Verdict.PROVED, ())


def test_a_layout_whose_messages_are_not_read_back_says_nothing():
    said = claims.get("locodl/eq-2/rand-k").statement
    made = said.compressor
    shorter = said.changed({"compressor": lambda d, k: replace(made(d, k), layout=Layout(1, indexed=True))})
    assert not asserted.writes(shorter)


def test_an_invariant_of_other_problems_is_told_beside_a_part_without_coordinates():
    State = namedtuple("State", "x h t")
    method = ft.Algorithm(
        "counting",
        namedtuple("Params", "gamma"),
        State,
        lambda problem, params, x=0, h=0: State(x + zeros(problem.d), h + zeros(problem.d), np.zeros((), dtype=int)),
        lambda problem, params, state: ft.Constant(),
        lambda problem, params, state, draw: State(state.x, state.h, state.t + 1),
        lambda problem, params: State(problem.x_star, zeros(problem.d), np.zeros((), dtype=int)),
        lambda problem, params, state: (2 * problem.mu - problem.L) * state.h,
    )
    instance = _built(_contracts(GD))
    assert ties_less(method, instance.problem, instance.params)
    firm = replace(method, invariant=lambda problem, params, state: problem.L * state.h)
    assert not ties_less(firm, instance.problem, instance.params)


def test_an_invariant_may_tie_a_part_without_coordinates_to_all_of_a_vector():
    State = namedtuple("State", "x t")
    method = ft.Algorithm(
        "summing",
        namedtuple("Params", "gamma"),
        State,
        lambda problem, params, x=None: State(*((x, x.sum(axis=-1)) if x is not None else (zeros(problem.d), 0))),
        lambda problem, params, state: ft.Constant(),
        lambda problem, params, state, draw: state,
        lambda problem, params: State(problem.x_star, problem.x_star.sum(axis=-1)),
        lambda problem, params, state: state.t - state.x.sum(axis=-1),
    )
    for d in (1, 3):
        clients = tuple({"h": c["h"] * d, "y": c["y"] * d} for c in RECIPE["clients"])
        instance = _built(_contracts(GD), {**RECIPE, "d": d, "x": RECIPE["x"] * d, "clients": clients})
        assert not ties_less(method, instance.problem, instance.params)
