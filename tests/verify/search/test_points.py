"""What is certified at degenerate points only is not certified, where the hypotheses allow others."""

from fractions import Fraction

import pytest
import sympy

import fedtheory as ft
from fedtheory import claims
from fedtheory.instances import numbers
from verify import check
from verify.base.verdict import Verdict
from verify.search import points

mu, L, gamma, p = ft.letters("mu L gamma p")
ONE = (Fraction(1),)


def _step(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :])[..., 0, :]}


GD = ft.method("gradient-descent", _step, ["gamma"], {"x": "point"})
SHORT = ft.Hypothesis("gamma L <= 1", gamma * L <= 1)


def claim(factor, *requires, conditions=(), method=GD, letters=(), drawing=None):
    drawing = drawing or ft.Drawing(conditions=conditions)
    functions = ft.SmoothStronglyConvex(mu, L)
    setting = ft.Setting(algorithm=method, functions=functions, clients=(1,), letters=letters, drawing=drawing)
    return ft.Claim("own/step", setting=setting, statement=ft.contracts(method, ft.distance, factor), requires=requires)


@pytest.fixture
def at_points(monkeypatch):
    """No multipliers for all letters are known: what comes after them is asked."""
    monkeypatch.setattr("verify.methods.multipliers.prove", lambda claim, seconds: "not asked")


@pytest.mark.usefixtures("at_points")
def test_a_claim_that_holds_is_certified_at_points_that_are_told():
    found = check(claim((1 - gamma * mu) ** 2, SHORT))
    assert found.verdict is Verdict.CERTIFIED
    assert "choices of the parameters, among them mu=" in found.note


def test_what_holds_where_mu_is_l_only_is_not_certified():
    """Only code says that the functions have mu = L; away from there it is false by as little as one likes."""
    narrow = ft.Hypothesis("mu = L", met=lambda problem, params: problem.mu == problem.L)
    found = check(claim((1 - gamma * L) ** 2, SHORT, narrow, conditions=ONE))
    assert found.verdict is Verdict.SUPPORTED and "mu = L" in found.note


@pytest.mark.usefixtures("at_points")
def test_what_is_said_of_mu_is_l_only_may_be_certified_there():
    equal = ft.Hypothesis("mu = L", sympy.Eq(mu, L))
    found = check(claim((1 - gamma * L) ** 2, SHORT, equal, conditions=ONE))
    assert found.verdict is Verdict.CERTIFIED


def test_a_letter_that_happens_to_be_drawn_as_one():
    def step(problem, params, state, draw):
        # A method that is slower than gradient descent by a factor that is drawn as 1 only.
        moved = state.x - params.gamma * params.p * problem.f.gradient(state.x[..., None, :])[..., 0, :]
        return {"x": moved}

    slow = ft.method("slow", step, ["gamma", "p"], {"x": "point"})
    share = ft.Hypothesis("0 < p <= 1", sympy.And(p > 0, p <= 1))
    found = check(
        claim(
            (1 - gamma * mu) ** 2,
            SHORT,
            share,
            method=slow,
            letters=(mu, L, gamma, p),
            drawing=ft.Drawing(parameters=lambda recipe, problem, exact: slow.Params(1 / problem.L, 1)),
        )
    )
    assert found.verdict is Verdict.SUPPORTED and "p = 1" in found.note


def test_sides_that_vanish_say_nothing():
    def nothing(problem, params, state):
        return 0 * ft.distance(problem, params, state)

    before, after = ft.Quantity("Z", nothing), ft.Quantity("Z_next", nothing, after=True)
    setting = claim(1).setting
    empty = ft.Claim("own/zero", setting=setting, statement=ft.one_step(GD, ft.E(after) <= before), requires=(SHORT,))
    assert check(empty).verdict not in (Verdict.CERTIFIED, Verdict.PROVED)


def test_points_are_the_same_up_to_scaling():
    about = points.of(claim((1 - gamma * mu) ** 2, SHORT))
    assert [dict(unit) for unit in about.units] == [{mu: 1, L: 1, gamma: -1}]
    client = {"h": (Fraction(1),), "y": (Fraction(0),)}
    recipe = {"d": 1, "x": (Fraction(0),), "clients": (client,), "mu": 1, "L": 2, "gamma": Fraction(1, 4)}
    recipe = {k: Fraction(v) if k in ("mu", "L") else v for k, v in recipe.items()}
    scaled = {**recipe, "mu": Fraction(3), "L": Fraction(6), "gamma": Fraction(1, 12)}
    assert about.place(recipe) == about.place({**scaled, "clients": ({**client, "h": (Fraction(3),)},)})
    assert about.place(recipe) != about.place({**recipe, "gamma": Fraction(1, 5)})


@pytest.mark.parametrize(
    ("relation", "avoidable"),
    [(None, {"p = 1"}), (p <= 1, {"p = 1"}), (sympy.Eq(p, 1), set()), (p >= mu, {"p = 1", "p = mu"})],
)
def test_ways_that_the_hypotheses_allow_to_avoid(relation, avoidable):
    def step(problem, params, state, draw):
        return {"x": params.p * state.x}

    shrunk = ft.method("shrunk", step, ["p"], {"x": "point"})
    requires = () if relation is None else (ft.Hypothesis("p", relation),)
    assert points.of(claim(p**2, *requires, method=shrunk)).avoidable == {"mu = L", *avoidable}


def test_relations_that_force_mu_to_be_l_allow_no_other_points():
    about = points.of(claim(0, SHORT, ft.Hypothesis("gamma mu >= 1", gamma * mu >= 1)))
    assert not about.avoidable
    assert "mu = L" in points.of(claim(0, SHORT)).avoidable


def test_points_lie_on_both_sides_of_a_number_that_stands_in_the_claim():
    of = claim((1 - gamma * mu) ** 2 + sympy.Max(0, L / mu - 1000), SHORT)
    about = points.of(of)
    # Letters have units here, and the condition number has none.
    assert about.far[0] == sympy.Gt(L / mu, 1000, evaluate=False)
    near = {"d": 1, "x": (Fraction(0),), "clients": ({"h": ONE, "y": (Fraction(0),)},), "mu": ONE[0], "L": ONE[0]}
    far = {**near, "L": Fraction(2000)}
    at = [{**recipe, "gamma": Fraction(1, 4000)} for recipe in (near, far)]
    # The other of the two terms of the maximum counts at the first point.
    assert about.near(at[:1]) == (about.far[0], about.far[2]) and about.near(at) == ()
    beyond = next(about.beyond(about.far[0], 0))
    assert beyond["L"] > 1000 * beyond["mu"]


def test_each_term_of_a_maximum_is_to_count_at_a_point():
    third = sympy.Rational(1, 3)
    bump = sympy.Max(0, sympy.Rational(1, 10**5) - (gamma * L - third) ** 2)
    about = points.of(claim((1 - gamma * mu) ** 2 * (1 - bump), SHORT))
    inside, outside = ({"mu": ONE[0], "L": ONE[0], "gamma": at} for at in (Fraction(1, 3), Fraction(1, 2)))
    common = {"d": 1, "x": (Fraction(0),), "clients": ({"h": ONE, "y": (Fraction(0),)},)}
    outer, inner = about.far[-2:]
    assert inner in about.near([{**common, **outside}]) and outer in about.near([{**common, **inside}])
    assert not {inner, outer} & set(about.near([{**common, **inside}, {**common, **outside}]))


# Off the points


u = gamma * L
NARROW = {
    "a dip at a third": 1 + (u - sympy.Rational(1, 3)) ** 2 - sympy.Rational(1, 10**6),
    "the same, expanded": 1 + u**2 - 2 * u / 3 + sympy.Rational(1, 9) - sympy.Rational(1, 10**6),
    "a dip at a root": 1 + (u**2 - sympy.Rational(1, 3)) ** 2 - sympy.Rational(1, 10**6),
    "a cusp": 1 + sympy.Abs(u - sympy.Rational(1, 3)) ** sympy.Rational(1, 3) - sympy.Rational(1, 1000),
    "a dip in the condition number": 1 + (mu / L - sympy.Rational(1, 7)) ** 2 - sympy.Rational(1, 10**6),
}


@pytest.mark.parametrize("times", NARROW.values(), ids=NARROW)
def test_what_is_false_in_a_narrow_range_only_is_not_certified(times):
    found = check(claim((1 - gamma * mu) ** 2 * times, SHORT))
    assert found.verdict in (Verdict.REFUTED, Verdict.SUPPORTED)


def test_a_hypothesis_that_asks_for_less_in_a_narrow_range_is_not_enough():
    wide = u <= 1 + 5 / (1 + (10**4 * (mu / L - sympy.Rational(1, 7))) ** 2)
    assert check(claim((1 - gamma * mu) ** 2, ft.Hypothesis("short but there", wide))).verdict is Verdict.REFUTED


@pytest.mark.parametrize("above", [10, 40])
def test_what_is_false_for_many_clients_only_is_not_certified(above):
    def step(problem, params, state, draw):
        return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)}

    method, n = ft.method("gradient-descent", step, ["gamma"], {"x": "point"}), ft.integers("n")
    functions, letters = ft.SmoothStronglyConvex(mu, L), (mu, L, gamma, n)
    setting = ft.Setting(algorithm=method, functions=functions, clients=(1, 2, 3), letters=letters)
    factor = (1 - gamma * mu) ** 2 * (sympy.Rational(9, 10) + sympy.Integer(above) / n)
    of = ft.Claim("own/many", setting=setting, statement=ft.contracts(method, ft.distance, factor), requires=(SHORT,))
    assert check(of).verdict is (Verdict.REFUTED if above == 10 else Verdict.SUPPORTED)


def test_sums_of_letters_vanish_at_some_point():
    about = points.of(claim((1 - gamma * mu) ** 2 * (2 - gamma * L / 2), SHORT))
    # What cannot vanish is not asked to; and where a hypothesis holds with equality is another matter.
    assert set(about.zeros) == {1 - gamma * mu}
    recipe = {"d": 1, "x": (Fraction(0),), "clients": ({"h": ONE, "y": (Fraction(0),)},), "mu": ONE[0], "L": ONE[0]}
    assert about.passed([{**recipe, "gamma": Fraction(1, 2)}]) == about.zeros
    assert about.passed([{**recipe, "gamma": Fraction(1)}]) == ()


@pytest.mark.parametrize("id", ("feddcd/appendix-F/class/repaired", "feddcd/lemma-B.2"))
def test_instances_that_are_drawn_one_by_one_certify_nothing(id):
    # An error of such a claim may be seen where somebody did not think of.
    found = check(claims.get(id))
    assert found.verdict is Verdict.SUPPORTED and "drawn one by one" in found.note


BOUNDS = (L**2 <= sympy.Rational(41, 10), L + mu < sympy.Rational(21, 10), L / 2 < 1 + sympy.Rational(1, 20) / ft.n)


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_bound_on_letters_that_are_drawn_first_is_to_be_attained(bound):
    # False for L > 2 only, between which and the bound little is drawn.
    def step(problem, params, state, draw):
        return {"x": state.x - problem.f.gradient(state.x[..., None, :])[..., 0, :]}

    whole = ft.method("whole-steps", step, [], {"x": "point"})
    found = check(claim(1, ft.Hypothesis(str(bound), bound), method=whole))
    assert found.verdict in (Verdict.SUPPORTED, Verdict.REFUTED), found.note


def _draw(rng, recipe):
    return {**recipe, "gamma": 1 / recipe["L"]}


def _parameters(recipe, problem, exact):
    return GD.Params(*numbers([recipe["gamma"]], exact))


@pytest.mark.usefixtures("at_points")
@pytest.mark.parametrize("of", ({"draw": _draw}, {"parameters": _parameters}))
def test_points_that_code_of_ones_own_chooses_certify_nothing(of):
    found = check(claim((1 - gamma * mu) ** 2, SHORT, letters=(mu, L, gamma), drawing=ft.Drawing(**of)))
    assert found.verdict is Verdict.SUPPORTED and f"chosen by Drawing({next(iter(of))}=...)" in found.note


@pytest.mark.usefixtures("at_points")
def test_a_hypothesis_that_code_of_ones_own_decides_certifies_nothing():
    found = check(claim((1 - gamma * mu) ** 2, SHORT, ft.Hypothesis("L <= 9", met=lambda problem, params: True)))
    assert found.verdict is Verdict.SUPPORTED and "code of the hypothesis 'L <= 9'" in found.note
