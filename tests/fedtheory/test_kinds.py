"""Statements that are ill-typed are refused where they are made, in one sentence that says what is wrong."""

from fractions import Fraction

import pytest
import sympy

import fedtheory as ft
from fedtheory import claims
from fedtheory.kinds.base import Statement
from fedtheory.kinds.bound import Bound, bound
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.eventually import Eventually
from fedtheory.kinds.fails import Fails
from fedtheory.kinds.fixed_point import Stays
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality, inequality
from fedtheory.kinds.limit import Limit
from fedtheory.kinds.one_step import OneStep, contracts, one_step
from fedtheory.kinds.order import Order
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.kinds.reached import Reached
from fedtheory.kinds.readings import Readings
from fedtheory.kinds.scope import Scope
from fedtheory.kinds.untested import Untested
from fedtheory.numbers.rational import Undefined, evaluate
from fedtheory.numbers.symbols import T, round_index
from fedtheory.settings import Drawing, Setting
from fedtheory.settings.relations import Comparison, E, Quantity

mu, L, gamma = ft.letters("mu L gamma")
real, other = sympy.Symbol("gamma", real=True), sympy.Symbol("T", positive=True)


def step(problem, params, state, draw):
    return {"x": state.x}


METHOD = ft.method("still", step, ["gamma"], {"x": "point"})
COMPRESSED = ft.method("c", step, ["compressors"], {"x": "point"})
OTHER = ft.method("other", step, ["beta"], {"x": "point"})
SETTING = Setting(algorithm=METHOD, functions=ft.SmoothStronglyConvex(mu, L))
D, GAP = ft.distance, ft.gap
V, W, V_next, W_next = Quantity("V", D), Quantity("W", GAP), Quantity("V'", D, True), Quantity("W'", GAP, True)
v, w, v_next, w_next = (q.expression for q in (V, W, V_next, W_next))
SQUARE = Quantity(sympy.Symbol("z") ** 2, D)
STEP, RULE = contracts(METHOD, D, 1 - gamma * mu), ParameterRule({gamma: mu}, (gamma <= L,))


def claim(statement=STEP, setting=SETTING, **more):
    return ft.Claim("own/claim", setting=setting, statement=statement, **more)


def noise():
    def n(problem, params, state):
        return 0

    return n


def of(letter):
    return lambda: contracts(METHOD, D, 1 - letter)


ILL_TYPED = {
    # A symbol belongs to one quantity, and a quantity's symbol is no letter.
    "stands for two functions": lambda: one_step(METHOD, E(V_next) <= 2 * V - Quantity("V", GAP)),
    "V' stands for two functions": lambda: E(V_next * Quantity("V'", GAP, True)),
    "same before a step and after": lambda: one_step(METHOD, E(Quantity("V", D, True)) <= V),
    "n stands for two functions": lambda: contracts(METHOD, D, 1, {noise(): 1, noise(): mu}),
    "gamma is a letter, so the quantity": lambda: claim(one_step(METHOD, E(V_next) <= Quantity("gamma", D))),
    "gamma may be declared real and nothing else": lambda: Quantity(gamma, D),
    "the parameter kappa has the name of a part of the problem": lambda: ft.method(
        "m", step, ["kappa"], {"x": "point"}
    ),
    "two symbols named mu": lambda: one_step(METHOD, E(V_next) <= mu * Quantity("mu", D)),
    "two symbols named T": lambda: bound(METHOD, E(V_next) <= 2 * Quantity("T", D)),
    "only z..2 is a quantity": lambda: Inequality(sympy.Symbol("z") ** 4, 1, (SQUARE,)),
    "a quantity must be a name, a symbol or the square": lambda: Quantity(mu * L, D),
    "must be a name, a symbol or the square of one, got 3": lambda: Quantity(3, D),
    "must be a function of": lambda: Quantity("V", 3),
    r"function of \(problem, params, state\), and <lambda> takes \(x\)": lambda: Quantity("V", lambda x: x),
    # Methods and settings.
    "the step of m must be a function of": lambda: ft.method("m", lambda p, q, s: {}, ["a"], {"x": "point"}),
    "the draws of m must be a function of": lambda: ft.method("m", step, ["a"], {"x": "point"}, draws=lambda: None),
    "params are names in a list": lambda: ft.method("m", step, "gamma", {"x": "point"}),
    "clients are numbers of clients .* got 3": lambda: Setting(clients=3),
    "clients are numbers of clients .* got .0,.": lambda: Setting(clients=(0,)),
    "compressors is of no class: write adversaries=.UnbiasedCompressors": lambda: Setting(algorithm=COMPRESSED),
    "draws from params.compressors, and Adversary draws nothing": lambda: Setting(
        algorithm=COMPRESSED, adversaries=(ft.Adversary("compressors"),)
    ),
    "has no parameter 'compressors'": lambda: Setting(algorithm=METHOD, adversaries=(ft.UnbiasedCompressors(),)),
    # What comes after a step.
    "V' comes after a step, and .* inequality has none": lambda: inequality(E(V_next) <= 2 * V),
    "V' comes after a step, and .* identity has none": lambda: identity(V_next, V),
    "V' comes after a step, and .* eventually has none": lambda: Eventually(METHOD, vanishing=(V_next,)),
    "mentions no quantity that comes after": lambda: one_step(METHOD, V <= 2 * V),
    "one-step mentions no quantity that comes": lambda: claim().variant(left=v),
    r"write E\(V'\)": lambda: one_step(METHOD, V_next <= V),
    # Expectations.
    "not affine": lambda: OneStep(METHOD, v_next**2, v, (V_next, V)),
    "V'.*W' is not affine": lambda: OneStep(METHOD, v_next * w_next, v, (V_next, W_next, V)),
    r"Max\(1, V'\) is not affine": lambda: OneStep(METHOD, sympy.Max(v_next, 1), v, (V_next, V)),
    "V'..2 is not affine": lambda: one_step(METHOD, E(V_next) ** 2 <= V),
    "V'..2 is not affine in": lambda: Bound(METHOD, v_next, 1, v, (V_next, V), override=v_next**2),
    "holds an expectation already": lambda: E(E(V_next) + W_next),
    "of sums and products": lambda: E(V_next ** Fraction(1, 2)),
    "may be infinite": lambda: E(Quantity("A", D, True, domain=D) * V_next),
    "E is taken of quantities": lambda: E("V"),
    # Relations.
    "one of <=, <, ==, >=, >, got '!='": lambda: Inequality(mu, L, also=(Comparison(mu, "!=", L),)),
    "must be comparisons": lambda: Inequality(mu, L, also=(sympy.And(mu < 1, L < 1),)),
    "must be a sympy expression or a number, got True": lambda: Inequality(True, 1),
    "got mu < L": lambda: Inequality(mu < L, 1),
    "got Eq": lambda: inequality(sympy.Eq(mu, L)),
    "got False": lambda: inequality(V == W),
    "is True whatever the letters are": lambda: claim(requires=(gamma > 0,)),
    "got Ne": lambda: claim(requires=(sympy.Ne(gamma, 1),)),
    r"got \(L < 1\) \| \(mu < 1\)": lambda: Setting(domain=(sympy.Or(mu < 1, L < 1),)),
    "must be a tuple of relations": lambda: Setting(domain=mu < 1),
    "the hypothesis .* or Eq, .* got 'mu <= L'": lambda: claim(requires=("mu <= L",)),
    # Letters.
    "declared prime=True": of(sympy.Symbol("q", prime=True)),
    "declared even=True": of(sympy.Symbol("q", even=True)),
    "declared negative=True": of(sympy.Symbol("q", negative=True)),
    "declared nothing": of(sympy.Symbol("gamma")),
    "declared commutative=False": of(sympy.Symbol("A", commutative=False)),
    "two symbols named gamma": lambda: contracts(METHOD, D, real * gamma),
    "own/claim: two symbols named gamma": lambda: claim(requires=(real * L <= 1,)),
    "must be a letter, a sympy symbol": of(sympy.Dummy("gamma", positive=True)),
    "the letter W is declared nothing": lambda: claim().variant(right=w),
    "the letters of a setting: the letter a": lambda: Setting(letters=(sympy.Symbol("a"),)),
    "on scales": lambda: Order(sympy.Symbol("x", real=True), mu),
    "further orders": lambda: Order(mu, L, also=(Inequality(mu, L),)),
    "to 0 and to infinity": lambda: Order(mu, L, small=mu, large=mu),
    "in d and k, and mention mu": lambda: CompressorClass(lambda d, k: None, mu, 1, ft.d, ft.k),
    # T and k.
    "one-step mentions T": lambda: contracts(METHOD, D, 1 - 1 / T),
    "one-step mentions T, the number": lambda: claim().variant(right=v / (T + 1)),
    "own/claim: a hypothesis mentions T": lambda: claim(bound(METHOD, E(V_next) <= V), requires=(T >= 2,)),
    "own/claim: two symbols named T": lambda: claim(bound(METHOD, E(V_next) <= V / T), requires=(other >= 2,)),
    "two symbols named k": lambda: contracts(METHOD, D, ft.k / (round_index + 1)),
    "goes from 0 on, and its index k is declared otherwise": lambda: bound(
        METHOD, E(V_next) <= sympy.Sum(ft.k, (ft.k, 0, T)) * V
    ),
    "oo is none of": lambda: bound(METHOD, E(V_next) <= sympy.Sum(mu, (round_index, 0, sympy.oo)) * V),
    "has 1000001 terms, and at most 1000 are computed": lambda: inequality(
        V <= sympy.Sum(1 / (round_index + 1), (round_index, 0, 10**6)) * V
    ),
    "is a power beyond 10000, which is not computed": lambda: inequality(V <= (1 + mu) ** 10001 * V),
    # Numbers.
    "0.5 is a float, .* as -1/2": lambda: contracts(METHOD, D, 1 - 0.5 * gamma * mu),
    "2.00000000000001 is a float": lambda: inequality((2 + 1e-14) * mu * L <= mu**2 + L**2),
    "0.1 is a float, .* as 1/10": lambda: claim(requires=(gamma <= 0.1,)),
    "typical of gamma: 0.5 is a float": lambda: Setting(drawing=Drawing(typical={gamma: 0.5})),
    "the part 'middle' .* 0.5 is a float": lambda: Inequality(mu, 1, middle=0.5),
    "nan is none of": lambda: contracts(METHOD, D, float("nan")),
    "zoo is none of": lambda: contracts(METHOD, D, sympy.zoo),
    "I is none of": lambda: contracts(METHOD, D, sympy.I),
    "sin.* is none of what a statement": lambda: contracts(METHOD, D, sympy.sin(gamma)),
    "Piecewise.* is none of": lambda: contracts(METHOD, D, sympy.Piecewise((1, gamma > 1), (2, True))),
    "or a number, got None": lambda: contracts(METHOD, D, None),
    # Kinds.
    "mentions mu, which is assigned too": lambda: ParameterRule({gamma: mu, mu: gamma}, (gamma <= L,)),
    "gamma, which is assigned too": lambda: ParameterRule({gamma: 2 * gamma}, (gamma <= L,)),
    "hypothesis mentions gamma": lambda: claim(RULE, Setting("constants"), requires=(gamma <= 1,)),
    "must be a number, but mentions the quantity V": lambda: Bound(METHOD, v_next, v, 1, (V_next, V)),
    "is of a method with Params": lambda: claim(contracts(OTHER, D, 1)),
    "the initial value must come before": lambda: Bound(METHOD, v, 1, v_next, (V, V_next)),
    "what a factor multiplies must come before": lambda: OneStep(METHOD, v, v_next, (V, V_next), sympy.S.One),
    "the part 'of' .* must be a statement, got 3": lambda: Fails(3, "three"),
    "must be claims, got 3": lambda: Readings("what is open", (3,)),
    "must be a quantity, got <function": lambda: Limit(METHOD, D, "it vanishes"),
    "'observed' .* must be a function": lambda: Stays(METHOD, "x", "x stays"),
    "must be an algorithm, got None": lambda: claim().variant(algorithm=None),
    "'rounds' .* an integer, got True": lambda: Reached(METHOD, D, True),
    "a share of at least 0": lambda: Reached(METHOD, D, 1, -sympy.S.One),
    "'strict' .* True or False": lambda: claim().variant(strict="yes"),
    "must have a statement and a setting": lambda: ft.Claim("own/claim", setting=SETTING, statement=3),
}


@pytest.mark.parametrize("said", ILL_TYPED)
def test_what_is_ill_typed_is_refused(said):
    with pytest.raises(ValueError, match=said) as found:
        ILL_TYPED[said]()
    assert "\n" not in str(found.value)


def test_sides_are_brought_to_one_form():
    turned = Inequality(0, Fraction(1, 2), also=(Comparison(mu, ">=", 0), Comparison(1, ">", L)))
    assert turned.left is sympy.S.Zero and turned.right == sympy.Rational(1, 2)
    assert turned.also == (Comparison(sympy.S.Zero, "<=", mu), Comparison(L, "<", sympy.S.One))
    assert inequality(mu >= L) == Inequality(L, mu) and inequality(mu > L) == Inequality(L, mu, strict=True)
    assert ParameterRule({gamma: 1}, (sympy.And(gamma <= L, mu <= L),)).relations == (gamma <= L, mu <= L)
    assert claims.get("locodl/theorem-3.1/one-step").variant(factor=0).statement.right is sympy.S.Zero


def test_a_bound_from_below_is_taken_whole():
    found = bound(METHOD, V <= E(V_next))
    assert (found.left, found.override) == (v, v_next)


def test_what_is_the_same_by_value_is_the_same():
    again = one_step(METHOD, E(Quantity("V'", D, True)) <= Quantity("V", D) + V)
    assert again.quantities == (V_next, V) and again.factor == 2


def test_an_expectation_of_products_is_of_products_sample_by_sample():
    found = one_step(METHOD, E(gamma * V_next**2 + 2 * V_next * W - V_next * W_next + 1) <= V**2)
    square, product = sympy.symbols("(V')^2 V'\\ W'")
    assert sympy.expand(found.left - (gamma * square + 2 * w * v_next - product + 1)) == 0
    parts = {str(q.expression): q for q in found.quantities}
    assert all(parts[str(e)].after for e in (square, product, v_next)) and not parts["W"].after
    assert v_next not in found.left.diff(square).free_symbols
    two, three = Quantity("a", lambda *_: 2, True), Quantity("b", lambda *_: 3, True)
    monomial = next(q for q in E(two**2 * three).quantities)
    assert monomial.of(None, None, None) == 12


def test_what_cancels_is_affine():
    assert E((V_next + 1) ** 2 - V_next**2).quantities == (V_next,)
    assert OneStep(METHOD, (v_next + 1) ** 2 - v_next**2, v, (V_next, V)).factor is None


ALGORITHM, QUANTITIES = {"algorithm": "Algorithm"}, {"quantities": "tuple[Quantity, ...]"}
READ = {"kind": "own", "lines": lambda self, plain: ["own"]}
COMPARED = {"kind": "own", "comparisons": property(lambda self: (Comparison(v, "<=", w),))}


@pytest.mark.parametrize(
    ("said", "parts", "message"),
    [
        ({"comparisons": COMPARED["comparisons"]}, {}, "has no name"),
        ({**COMPARED, "kind": "bound"}, {}, "has the name of another one in reports: bound"),
        ({"kind": "own"}, {}, "does not say how it is read"),
        (READ | {"scope": Scope.STATE}, {}, "does not say what is compared"),
        (READ, {}, "does not say what it depends on: write scope"),
        (READ | {"scope": "state"}, {}, "does not say what it depends on: write scope"),
        ({**COMPARED, "scope": Scope.ROUNDS}, QUANTITIES, "not of which algorithm: give it the part algorithm"),
        ({**COMPARED, "scope": Scope.CODE}, {}, "not of which algorithm: give it the part algorithm"),
        (COMPARED, {}, "does not say what it depends on"),
        ({**COMPARED, "scope": Scope.LIMIT}, ALGORITHM, "write another scope"),
        ({**COMPARED, "scope": Scope.STEP}, ALGORITHM, "give it the part quantities"),
        ({**COMPARED, "scope": Scope.STATE}, {"residual": "Callable"}, "name the part otherwise"),
    ],
)
def test_a_kind_that_leaves_something_out_is_refused_where_it_is_defined(said, parts, message):
    with pytest.raises(TypeError, match=f"^the kind of statement Own [^.]*{message}"):
        type("Own", (Statement,), {**said, "__annotations__": parts})


def test_the_scope_of_a_statement_says_how_it_is_checked():
    bound_of_runs, limit = bound(METHOD, V <= E(V_next)), Limit(METHOD, V, "V")
    equation, rule = identity(V, 2 * W), ParameterRule({gamma: 1 / L}, (gamma * L <= 1,))
    asked = ("stepping", "horizon", "searched", "refutable", "bounding")
    found = {
        s.scope: [name for name in asked if getattr(s, name)] for s in (STEP, bound_of_runs, limit, equation, rule)
    }
    assert found == {
        Scope.STEP: ["stepping", "searched", "refutable", "bounding"],
        Scope.ROUNDS: list(asked),
        Scope.LIMIT: ["searched"],
        Scope.STATE: ["searched", "refutable"],
        Scope.LETTERS: ["searched", "refutable"],
    }
    assert inequality(V <= 2 * W).bounding and not Untested("", "").searched


def test_any_statement_can_be_asked_for_what_only_some_kinds_have():
    own = type("Own", (Statement,), READ | {"scope": Scope.NONE})()
    assert own.algorithm is own.factor is own.residual is own.iteration is None
    assert own.quantities == own.ends == () and not own.assignments
    assert STEP.algorithm is METHOD and STEP.quantities and STEP.factor is not None
    with pytest.raises(TypeError, match="algorithm"):
        OneStep(left=v, right=w, quantities=(V, W_next))


def test_what_comes_after_a_step_is_expected_on_either_side():
    own = OneStep(METHOD, v, 2 * v_next, (V, V_next))
    assert own.lines(str) == ["V <= E[2*V']"]
    assert own.formulas(str) == [r"V \le \mathbb{E}\left[2*V'\right]"]
    assert STEP.lines(str)[0] == "E[V_next] <= V*(-gamma*mu + 1)"


@pytest.mark.parametrize(
    ("value", "more"),
    [
        (1 / L, ()),
        (L - 2 * mu, (Comparison(sympy.S.Zero, "<", L - 2 * mu),)),
        (1 - L, (Comparison(sympy.S.Zero, "<", 1 - L),)),
    ],
)
def test_what_is_assigned_has_the_sign_that_its_letter_is_declared_to_have(value, more):
    """Abs(gamma) is gamma at once, for a letter that is positive."""
    rule = ParameterRule({gamma: value}, (sympy.Abs(gamma) * L <= 1,))
    assert rule.comparisons == (Comparison(value * L, "<=", sympy.S.One), *more)


def test_whether_what_is_assigned_is_a_number_is_asked_of_it_as_it_is_written():
    """The square of the root of what is negative is a number."""
    value = sympy.sqrt(L - 2 * mu)
    rule = ParameterRule({sympy.Symbol("v", real=True): value}, (mu <= 2 * L,))
    (_, asked) = rule.comparisons
    with pytest.raises(Undefined, match="square root"):
        evaluate(asked.right, {mu: Fraction(1), L: Fraction(1)})
    assert evaluate(asked.right, {mu: Fraction(1), L: Fraction(3)}) == 1


def test_an_integer_is_assigned_what_is_seen_to_be_one():
    t = ft.integers("t")
    assert ParameterRule({t: sympy.ceiling(L / mu)}, (L <= t * mu,)).assignments
    with pytest.raises(ValueError, match="t is an integer, and L/mu is not seen to be one"):
        ParameterRule({t: L / mu}, (L <= t * mu,))
