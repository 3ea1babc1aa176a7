"""Adversaries: answers of a step of which no more is known than how near they are. What holds is proved, and no more.

Every attack is a false statement, or one of states without an answer, that only answers of an adversary could let
through: such a one must not be proved, and the search must find it or say that there is no answer.
"""

import re

import numpy as np
import pytest
import sympy
from first_found import first_found

import fedtheory as ft
from fedtheory.numbers.rational import exact
from fedtheory.problems.hostile import Hostile
from verify import Verdict
from verify.base.faults import Unrunnable
from verify.methods import worst_cases
from verify.methods.base import Inquiry
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP
from verify.pep.adversaries import FreeAnswers
from verify.pep.gram import row, value

L, mu, gamma, delta, zeta, p = ft.letters("L mu gamma delta zeta p")
eta = sympy.Symbol("eta", real=True)
E, LITTLE = ft.E, STEP // 20
short = (gamma * L <= 1,)
ANY = ft.Adversary()
BOTH = {"x": "point", "w": "point"}
NOISY = ft.UnbiasedCompressors(independent=True)


def square(v):
    return (v**2).sum(axis=-1)


def slopes(problem, state):
    return problem.f.gradient(state.x[..., None, :])


def slope(problem, state):
    return slopes(problem, state).mean(axis=-2)


def of_mean(problem, params, state):
    return square(slope(problem, state))


def of_each(problem, params, state):
    return square(slopes(problem, state)).mean(axis=-1)


def moved(problem, params, state):
    return square(state.x - state.w)


D, D_next = ft.Quantity("D", ft.distance), ft.Quantity("D_next", ft.distance, after=True)
F, F_next = ft.Quantity("F", ft.gap), ft.Quantity("F_next", ft.gap, after=True)
G, H, M_next = ft.Quantity("G", of_mean), ft.Quantity("H", of_each), ft.Quantity("M_next", moved, after=True)


def claim(step, relation, params, requires=(), state=None, draws=None, adversaries=(ANY,), **more):
    own = [adversary.field for adversary in adversaries]
    method = ft.method("m", step, [*params, *own], state or {"x": "point"}, draws=draws)
    functions = more.pop("functions", ft.Smooth(L))
    setting = ft.Setting(algorithm=method, functions=functions, adversaries=adversaries, **more)
    return ft.Claim("mine/step", setting=setting, statement=ft.one_step(method, relation), requires=requires)


def relative(problem, params, state, draw):
    g = slope(problem, state)
    return {"x": state.x - params.gamma * params.adversary.answer(g, params.delta**2 * square(g)), "w": state.x}


def each(problem, params, state, draw):
    g = slopes(problem, state)
    r = params.adversary.answer(g, params.delta**2 * square(g))
    return {"x": state.x + (r - g).mean(axis=-2), "w": state.x}


def ask(params, g):
    return params.adversary.answer(g, params.delta**2 * square(g))


def twice(problem, params, state, draw):
    g = slope(problem, state)
    return {"x": state.x + ask(params, g) - ask(params, g)}


def in_turn(problem, params, state, draw):
    x = state.x
    for k in range(2):
        x = x + (1 - 2 * k) * ask(params, slope(problem, state))
    return {"x": x}


def chained(problem, params, state, draw):
    r = params.adversary.answer(0 * slope(problem, state), params.zeta**2)
    return {"x": state.x + params.adversary.answer(r, params.zeta**2), "w": state.x}


def two(problem, params, state, draw):
    g = slope(problem, state)
    difference = params.one.answer(g, params.zeta**2) - params.other.answer(g, params.zeta**2)
    return {"x": state.x + difference, "w": state.x}


def coin(problem, params, state):
    return ft.Bernoulli(params.p)


def about_a_draw(problem, params, state, draw):
    g = slope(problem, state)
    return {"x": state.x + params.adversary.answer(draw[..., None] * g, params.zeta**2), "w": state.x}


def bounded_by_a_draw(problem, params, state, draw):
    g = slope(problem, state)
    return {"x": state.x + params.adversary.answer(0 * g, draw * params.zeta**2 + 0 * square(g)), "w": state.x}


def used_by_a_draw(problem, params, state, draw):
    r = params.adversary.answer(0 * slope(problem, state), params.zeta**2)
    return {"x": state.x + draw[..., None] * r, "w": state.x}


def about_what_is_compressed(problem, params, state, draw):
    sent = params.compressors.apply(draw, slopes(problem, state)).mean(axis=-2)
    return {"x": state.x + params.adversary.answer(sent, params.zeta**2), "w": state.x}


def compressed(problem, params, state, draw):
    r = params.adversary.answer(slopes(problem, state), params.zeta**2)
    return {"x": state.x + params.compressors.apply(draw, r).mean(axis=-2), "w": state.x}


def by_the_gap(problem, params, state, draw):
    gap = (problem.f.value(state.x[..., None, :]) - problem.f.value(problem.x_star[..., None, :])).mean(axis=-1)
    return {"x": state.x - params.gamma * params.adversary.answer(slope(problem, state), params.zeta * gap)}


WITH_COIN = {"draws": coin, "domain": (p <= 1,), "state": BOTH}
SENT = {"adversaries": (NOISY, ft.Adversary()), "state": BOTH}
#: A step, its parameters, a bound that holds, one that does not, and what else.
CASES = {
    "relative": (
        relative,
        ("gamma", "delta"),
        E(F_next) <= F - gamma / 2 * (1 - delta**2) * G,
        E(F_next) <= F - gamma / 2 * (1 - delta**2 / 2) * G,
        {"requires": short, "state": BOTH},
    ),
    "each, not their mean": (each, ("delta",), E(M_next) <= delta**2 * H, E(M_next) <= delta**2 * G, {"state": BOTH}),
    "a length, not of right angles": (
        relative,
        ("gamma", "delta"),
        E(M_next) <= gamma**2 * (1 + delta) ** 2 * G,
        E(M_next) <= gamma**2 * (1 + delta**2) * G,
        {"state": BOTH},
    ),
    "one about the other": (
        chained,
        ("zeta",),
        E(M_next) <= 4 * zeta**2,
        E(M_next) <= 2 * zeta**2,
        {"state": BOTH},
    ),
    "two adversaries": (
        two,
        ("zeta",),
        E(M_next) <= 4 * zeta**2,
        E(M_next) <= 2 * zeta**2,
        {"state": BOTH, "adversaries": (ft.Adversary("one"), ft.Adversary("other"))},
    ),
    "used by a draw": (
        used_by_a_draw,
        ("p", "zeta"),
        E(M_next) <= p * zeta**2,
        E(M_next) <= p**2 * zeta**2,
        WITH_COIN,
    ),
    "compressed": (
        compressed,
        ("zeta",),
        E(M_next) <= 2 * (1 + ft.omega) * (H + zeta**2),
        E(M_next) <= G + ft.omega * H / ft.n + zeta**2,
        SENT,
    ),
    "as near as the gap": (
        by_the_gap,
        ("gamma", "zeta"),
        E(F_next) <= F * (1 + gamma * zeta / 2) - gamma / 2 * G,
        E(F_next) <= F * (1 + gamma * zeta / 3) - gamma / 2 * G,
        {"requires": short},
    ),
}
#: Statements that are false for all that is known.
FALSE = {
    "of the wrong sign": (relative, ("gamma", "delta"), E(F_next) <= F - gamma / 2 * (1 + delta**2) * G, BOTH),
    "independent": (each, ("delta",), E(M_next) <= delta**2 * H / ft.n, BOTH),
    "unbiased": (relative, ("gamma", "delta"), E(M_next) <= gamma**2 * G + delta**2 * G, BOTH),
    "twice one answer": (twice, ("delta",), E(D_next) <= D, None),
    "one answer in a loop": (in_turn, ("delta",), E(D_next) <= D, None),
}


def proves(of, work=LITTLE):
    return not isinstance(prove(of, work), str)


@pytest.mark.parametrize("name", CASES)
def test_what_adversaries_leave_is_proved_and_no_more(name):
    step, params, true, false, more = CASES[name]
    assert proves(claim(step, true, params, **more), STEP)
    assert not proves(claim(step, false, params, **more))
    assert first_found(claim(step, false, params, **more)).verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", FALSE)
def test_two_answers_are_two_vectors_of_which_nothing_else_is_known(name):
    step, params, relation, state = FALSE[name]
    of = claim(step, relation, params, short if "gamma" in params else (), state)
    assert not proves(of)
    assert first_found(of).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("step", "relation", "more"),
    [
        (about_a_draw, E(M_next) <= p * G + zeta**2, WITH_COIN),
        (bounded_by_a_draw, E(M_next) <= p**2 * zeta**2, WITH_COIN),
        (about_what_is_compressed, E(M_next) <= G + ft.omega * H / ft.n + zeta**2, SENT),
    ],
)
def test_an_answer_about_what_is_drawn_is_another_one_for_each_draw(step, relation, more):
    of = claim(step, relation, ("p", "zeta") if more is WITH_COIN else ("zeta",), **more)
    assert "asked about something that is drawn" in prove(of, LITTLE)
    assert first_found(of).verdict is Verdict.REFUTED


def never(problem, params, state, draw):
    g = slope(problem, state)
    return {"x": state.x - params.adversary.answer(g, -square(g) - 1)}


def not_always(problem, params, state, draw):
    g = slope(problem, state)
    return {"x": state.x - params.adversary.answer(g, square(state.x - problem.x_star) - square(g))}


def by_a_quotient(problem, params, state, draw):
    g = slope(problem, state)
    return {"x": state.x - params.adversary.answer(g, square(g) / (2 - params.gamma))}


def by_any_letter(problem, params, state, draw):
    g = slope(problem, state)
    return {"x": state.x - params.adversary.answer(g, params.eta * square(g))}


def by_a_product(problem, params, state, draw):
    g = slope(problem, state)
    return {"x": state.x - params.adversary.answer(g, (g * (problem.x_star - state.x)).sum(axis=-1))}


@pytest.mark.parametrize(
    ("step", "params", "relation"),
    [
        (never, (), E(F_next) <= F - 100 * G),
        (not_always, (), E(D_next) + G <= 9 * D),
        (by_a_quotient, ("gamma",), E(D_next) * (2 - gamma) <= 9 * (2 - gamma) * D + 9 * G),
        (by_any_letter, ("eta",), E(D_next) - eta * G <= 9 * D + 9 * G),
        (by_a_product, (), E(D_next) <= 9 * D + 9 * G),
    ],
)
def test_nothing_is_proved_of_states_without_an_answer(step, params, relation):
    of = claim(step, relation, params)
    assert re.search("not seen to be nonnegative|the sign of eta is not known", prove(of, LITTLE))
    with pytest.raises(Unrunnable, match="no answer of an adversary is there"):
        first_found(of)


def test_the_same_quotient_is_read_where_the_letters_keep_it_positive():
    relation = E(D_next) * (2 - gamma) <= 9 * (2 - gamma) * D + 9 * (1 + L) ** 2 * D * (3 - gamma)
    assert "not seen" not in str(prove(claim(by_a_quotient, relation, ("gamma",), (gamma <= 1,)), LITTLE))


def test_a_quantity_asks_no_adversary():
    def answered(problem, params, state):
        return square(ask(params, slope(problem, state)))

    def still(problem, params, state, draw):
        return {"x": state.x}

    A, A_next = ft.Quantity("A", answered), ft.Quantity("A_next", answered, after=True)
    of = claim(still, E(A_next) <= A, ("delta",))
    assert "outside of a step" in prove(of, LITTLE)
    with pytest.raises(Unrunnable, match="asked outside of a step"):
        first_found(of)


def test_that_answers_are_near_is_a_hypothesis():
    drawing = ft.Drawing(classes_stated=True)
    step, params, true, _, _ = CASES["relative"]
    of = claim(step, true, params, (*short, delta <= 1), BOTH, drawing=drawing)
    assert isinstance(prove(of, LITTLE), str)
    assert first_found(of).verdict is Verdict.REFUTED


def test_one_bound_for_the_vectors_of_all_clients_is_refused():
    def step(problem, params, state, draw):
        g = slopes(problem, state)
        return {"x": state.x + params.adversary.answer(g, square(slope(problem, state))).mean(axis=-2)}

    of = claim(step, E(D_next) <= 9 * D, ())
    assert "one bound for vectors of all clients" in prove(of, LITTLE)
    with pytest.raises(Unrunnable, match=re.escape("bound[..., None]")):
        first_found(of)


def test_one_bound_for_all_clients_is_read_as_that_of_each():
    def step(problem, params, state, draw):
        g = slopes(problem, state)
        r = params.adversary.answer(g, square(slope(problem, state))[..., None])
        return {"x": state.x + (r - g).mean(axis=-2), "w": state.x}

    assert proves(claim(step, E(M_next) <= G, (), state=BOTH), STEP)
    assert not proves(claim(step, E(M_next) <= G / ft.n, (), state=BOTH))


@pytest.mark.parametrize("radial", [False, True])
@pytest.mark.parametrize("turning", [False, True])
def test_answers_are_as_near_as_they_may_be(radial, turning):
    direction = exact([sympy.Rational(3, 5), sympy.Rational(4, 5)])
    hostile = Hostile(-1, direction, radial, turning).in_step()
    centre, bound = exact([[[3, 4], [0, 0]]]), exact([[36, 4]])
    first, second = hostile.answer(centre, bound), hostile.answer(centre, bound)
    for found in (first, second):
        assert (((found - centre) ** 2).sum(axis=-1) == bound).all()
    assert (first == second).all() is not turning


def test_a_certificate_takes_what_is_asked_alike_for_one_answer_and_each_call_for_another():
    free = FreeAnswers("adversary")
    centre = np.zeros((1, 2, 1), dtype=int)
    one, other = free.answer(centre, 1), free.answer(centre, 1)
    assert one[0, 0, 0].key == one[0, 1, 0].key != other[0, 0, 0].key
    assert len(list(free.constraints())) == 2


def _shared(free, bounds, **more):
    """Whether two draws that ask about one vector, within these bounds, get one answer."""
    centre = np.zeros((1, 2, 1), dtype=int)
    answer = free.answer(centre, np.array([bounds], dtype=object), **more)
    return answer[0, 0, 0].key == answer[0, 1, 0].key


def test_draws_share_an_answer_only_if_they_ask_within_the_same_bounds():
    free, x = FreeAnswers("adversary"), row("x")
    assert _shared(free, [1, 1]) and _shared(free, [x**2, x**2])
    for bounds in ([1, 2], [0, 1], [x**2, 2 * x**2], [x**2, row("y") ** 2], [x**2, x**2 + 1], [0, value("f")]):
        assert not _shared(free, bounds), bounds
    centre = np.zeros((1, 2, 1), dtype=int)
    for bounds, alike in (([2, 2], True), ([2, 3], False)):
        within = ((centre, np.array([bounds], dtype=object)),)
        assert _shared(free, [1, 1], within=within) is alike
        along = ((centre + x, np.array([[-v for v in bounds]], dtype=object)),)
        assert _shared(free, [1, 1], along=along) is alike
    directions = np.array([[[x], [2 * x]]], dtype=object)
    assert not _shared(free, [1, 1], along=((directions, -1),))


def test_no_certificate_takes_the_answers_of_two_bounds_for_one():
    """Where the coin does not fall the bound is 0: as one answer for both, nothing would ever move."""
    fixed = (sympy.Eq(L, 1), sympy.Eq(zeta, 1), sympy.Eq(p, sympy.Rational(1, 2)))
    for share, bounded in ((sympy.Rational(1, 2), True), (sympy.Rational(1, 3), False), (0, False)):
        of = claim(bounded_by_a_draw, E(M_next) <= share, ("p", "zeta"), fixed, draws=coin, state=BOTH, clients=(1,))
        found = worst_cases.METHOD.run(worst_cases.METHOD, Inquiry(of, 0, 4))
        assert ("bounded over the whole class" in found.note) is bounded
