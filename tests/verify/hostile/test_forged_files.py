"""Files that say what is false: certificates of other kinds of statement, and instances beyond a claim."""

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy

import fedtheory as ft
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.eventually import Eventually
from fedtheory.kinds.fails import Fails
from fedtheory.kinds.fixed_point import Stays
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.limit import Limit
from fedtheory.kinds.one_step import OneStep
from fedtheory.kinds.order import Order
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.kinds.reached import Reached
from fedtheory.kinds.untested import Untested
from verify.base.case import Case
from verify.comparisons import number_types, parts, samplers
from verify.evidence import references
from verify.evidence.certificates import ClassCertificate
from verify.evidence.counterexamples import Counterexample
from verify.pep import certifying
from verify.pep.prover import ProofStep

mu, L, gamma = ft.letters("mu L gamma")


def _descent(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :])[..., 0, :]}


GD = ft.method("gradient descent", _descent, ["gamma"], {"x": "point"})
SETTING = ft.Setting(
    algorithm=GD, functions=ft.SmoothStronglyConvex(mu, L), letters={mu: "mu", L: "L", gamma: "gamma"}, clients=(1,)
)
SHORT = (gamma * L <= 1,)
V = ft.Quantity("V", ft.distance)
V_NEXT, V_T = (ft.Quantity(name, ft.distance, after=True) for name in ("V_next", "V_T"))
#: 2^T - 2 <= 0 holds at T = 1, and at no later T.
SPAN = 2**ft.T - 2
#: A false statement of each kind; some are refused when they are made.
FALSE = {
    "bound of constants": lambda: Bound(GD, SPAN, sympy.S.One, sympy.S.Zero, (), override=sympy.S.Zero),
    "bound": lambda: ft.bound(GD, ft.E(V_T) <= (1 - gamma * mu) ** (3 * ft.T) * V),
    "inequality of constants": lambda: Inequality(SPAN, sympy.S.Zero),
    "inequality": lambda: ft.inequality(2 * V <= V),
    "identity of constants": lambda: Identity(SPAN, sympy.S.Zero, ()),
    "identity": lambda: ft.identity(2 * V, V),
    "step of constants": lambda: OneStep(GD, SPAN, sympy.S.Zero, ()),
    "step": lambda: ft.one_step(GD, ft.E(V_NEXT) <= (1 - gamma * mu) ** 4 * V),
    "rule": lambda: ParameterRule({}, (sympy.Le(SPAN, 0, evaluate=False),)),
    "invariant": lambda: Invariant(GD, lambda problem, params, state: state.x - 1, "x = 1"),
    "limit": lambda: Limit(
        GD, ft.Quantity("x", lambda problem, params, state: (state.x**2).sum(axis=-1)), "x tends to 0"
    ),
    "eventually": lambda: Eventually(GD, vanishing=(ft.Quantity("1", lambda problem, params, state: 1 + ft.distance),)),
    "stays": lambda: Stays(GD, lambda problem, params, state: state.x, "x stays"),
    "reached": lambda: Reached(GD, ft.distance),
    "agreement": lambda: Agreement(
        GD, GD, lambda p, q, s: (q, s), (lambda p, q, s: s.x, lambda p, q, s: 2 * s.x), "x is twice x"
    ),
    "order": lambda: Order(L**2, L),
    "untested": lambda: Untested("1 = 2", "nobody tests it"),
    "fails": lambda: Fails(ft.inequality(V <= V), "V is more than V"),
}
CLIENT = {"h": (Fraction(1),), "y": (Fraction(0),)}
RECIPE = {"d": 1, "x": (Fraction(0),), "clients": (CLIENT,), "mu": 1, "L": Fraction(2), "gamma": Fraction(1, 2)}
LETTERS = {"mu": "1", "L": "2", "gamma": "1/2"}
METHODS = (*certifying.FORMAL, certifying.WORST_CASE, "derivation", "")


def _claim(statement):
    return ft.Claim("own/forged", setting=SETTING, statement=statement, requires=SHORT)


@pytest.mark.parametrize("steps", [{}, {"comparison 1": ProofStep(Fraction(0), {}, ())}], ids=["none", "one"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", FALSE)
def test_no_certificate_of_any_kind_holds_of_a_false_statement_of_any_kind(kind, method, steps):
    with pytest.raises(ValueError, match=r"\w+"):
        ClassCertificate(_claim(FALSE[kind]()), method, RECIPE, LETTERS, steps, "").replay()


def test_a_certificate_holds_only_where_the_hypotheses_do():
    true = ft.Claim("own/same", setting=SETTING, statement=ft.identity(V, V), requires=SHORT)
    assert ClassCertificate(true, "all states", RECIPE, LETTERS, {}, "").replay()
    long = RECIPE | {"gamma": Fraction(2)}
    with pytest.raises(ValueError, match="hypotheses"):
        ClassCertificate(true, "all states", long, LETTERS | {"gamma": "2"}, {}, "").replay()


OUTSIDE = {
    "less smooth": RECIPE | {"clients": ({**CLIENT, "h": (Fraction(9),)},)},
    "less convex": RECIPE | {"clients": ({**CLIENT, "h": (Fraction(1, 9),)},)},
    "a long step": RECIPE | {"gamma": Fraction(9)},
    "two clients": RECIPE | {"clients": (CLIENT, {**CLIENT, "h": (Fraction(2),)})},
}
CONTRACTS = ft.contracts(GD, ft.distance, (1 - gamma * mu) ** 2)
PARTS = ("0", f"{number_types.FLOATS}0 left", f"{number_types.AGAIN}0 left", f"{samplers.PREFIX}mean at 0")


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", OUTSIDE)
def test_no_counterexample_is_of_an_instance_beyond_class_and_hypotheses(name, part):
    recipe = OUTSIDE[name] | ({"seed": 0, "tests": 1} if part.startswith(samplers.PREFIX) else {})
    with pytest.raises(ValueError, match=r"hypotheses|no instance"):
        parts.evaluate_at(Case(_claim(CONTRACTS), recipe), (Fraction(1),), 1, part, 0)


def test_the_class_of_a_setting_is_a_hypothesis_of_each_of_its_claims_once():
    claim = _claim(CONTRACTS)
    assert [h.text for h in claim.requires] == ["L*gamma <= 1", SETTING.functions.text]
    assert replace(claim, gist="again").requires == claim.requires
    assert claim.variant(factor=1 - gamma * mu).requires == claim.requires
    assert claim.variant(requires=claim.requires[:1]).requires == claim.requires[:1]
    assert _claim(CONTRACTS).setting.classes == (SETTING.functions,)


def test_a_file_that_changes_a_claim_says_so():
    claim = _claim(CONTRACTS)
    assert references.gist(claim) == claim.gist
    changed = replace(claim, gist="descent").variant(factor=sympy.S.One)
    assert references.gist(changed) == "descent; changed to factor = 1"


POSED = {"d": 1, "x": (Fraction(0),), "clients": ({"h": (Fraction(1),), "y": (Fraction(0),)},)}
POSED |= {"mu": Fraction(1), "L": Fraction(1), "gamma": Fraction(1, 2)}


def test_what_is_told_of_an_instance_is_what_it_is_and_not_what_a_file_says():
    false = _claim(ft.contracts(GD, ft.distance, 0))
    sides = Fraction(1, 4), Fraction(0), "<="
    found = Counterexample(false, POSED, (Fraction(1),), 1, "0", 0, *sides, "all of them; x = 9")
    assert found.replay() == sides[:2]
    told = found.place()
    assert told.startswith("n=1, d=1, mu=1, L=1, gamma=1/2; ") and told.endswith("; x = 1, after 1 round")
    assert (
        replace(found, text=f"{told}: the code remembers earlier calls").place()
        == f"{told}: the code remembers earlier calls"
    )
    for lie in (told.replace("x = 1", "x = 9"), told.replace("x = 1", "x = 12"), f"{told}, y = 9", f"{told}: x = 9"):
        assert replace(found, text=lie).place() == told


def test_a_recipe_has_the_vectors_that_its_sizes_say():
    with pytest.raises(ValueError, match="vectors of 2 coordinates are due"):
        _claim(ft.contracts(GD, ft.distance, 0)).instances.build({**POSED, "d": 2}, True)
