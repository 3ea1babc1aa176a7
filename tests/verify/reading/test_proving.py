"""Claims proved as they are read, and claims that are false of some n, d, letters or clients, which are not."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms.base import method
from fedtheory.claims import Claim
from fedtheory.classes import Convex, SmoothStronglyConvex
from fedtheory.kinds.identity import identity
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.numbers.symbols import L, mu
from fedtheory.randomness.masks import Pattern
from fedtheory.settings import Setting
from fedtheory.settings.relations import Quantity
from verify.as_read import proving
from verify.base.evaluate import meeting
from verify.export import read_code
from verify.reading import comparing
from verify.reading.source import Unread
from verify.reading.worlds import FACTORS, Atom, WorldValue

pytest_plugins = ["pytester"]

SHOWN = (
    "locodl/algorithm-1/feasibility",
    "baseline/diana/invariant",
    "baseline/ef21/invariant",
    "baseline/adiana/invariant",
    "baseline/scaffnew/invariant",
    "fedadmm/eq-13",
    "fedadmm/eq-15",
    "fedadmm/definition-4.1",
    "fedadmm/theorem-4.1/b/tolerance",
    "fedadmm/theorem-4.1/b/coupling",
    "fedadmm/theorem-4.1/b/couplings",
    "fedadmm/theorem-4.1/b/excesses",
    "fedadmm/theorem-4.1/b/difference",
    "fedadmm/theorem-4.1/c/spread",
    "fedadmm/theorem-3.1/proof/repaired-equalities",
    "fedadmm/eq-34/repaired",
    "fedadmm/eq-46",
    "fedadmm/eq-47/equality",
    "fedadmm/eq-48",
    "fedadmm/eq-49",
    "locodl/eq-13",
    "locodl/eq-15",
    "baseline/compressed-scaffnew/invariant",
    "baseline/fedcomgate/invariant",
    "feddcd/algorithm-1/feasibility",
    "feddcd/lemma-B.3/symmetric",
    "feddcd/lemma-B.3/idempotent",
    "feddcd/lemma-B.3/eq-17",
    "feddcd/lemma-B.3/eq-18",
    "feddcd/lemma-B.3/eq-19",
    "feddcd/lemma-B.3/eq-20",
    "feddcd/lemma-B.3/eq-21",
    "feddcd/lemma-B.5",
    "feddcd/lemma-D.2",
    pytest.param("feddcd/lemma-D.3", marks=pytest.mark.slow),
    "fedadmm/theorem-4.1/a/origin",
    "fedadmm/lemma-C.1/a",
    "fedadmm/lemma-C.1/a/intermediate/repaired",
    "fedadmm/lemma-C.1/b/start",
    "fedopt/eq-14",
    "fedopt/svrg/unbiased",
    "fedopt/perturbation-average",
    "fedopt/lemma-4",
    "fedopt/dane/perturbation",
)
#: Claims that are false, or that are no more than inequalities.
FALSE = ("fedadmm/eq-34", "fedadmm/eq-57", "fedopt/fsvrg/single-node", "fedadmm/theorem-4.1/a/models")


def instances(claim, count=12):
    found = meeting(claim, islice(claim.instances.recipes(np.random.default_rng(0)), 4 * count))
    return [instance for _, instance in islice(found, count)]


def why_not(claim, seen=None):
    """Why a claim is not shown by reading; empty where it is."""
    seen = seen or instances(claim)
    try:
        cases = proving.read(claim, seen)
        why = next((why for case in cases if (why := proving.unshown(claim, case))), "" if cases else "no case")
        if not why:
            comparing.check(claim, cases, seen, np.random.default_rng(1))
    except ValueError as error:
        return str(error)
    return why


@pytest.mark.parametrize("id", SHOWN)
def test_claims_are_shown_as_they_are_read(id):
    assert why_not(claims.get(id)) == ""


@pytest.mark.parametrize("id", FALSE)
def test_what_is_no_equality_is_not_shown(id):
    assert why_not(claims.get(id))


def test_states_that_are_no_records_are_left_to_others():
    assert why_not(claims.get("fedadmm/experiments/initial-point/repaired"))


HEAD = """
import numpy as np
from fractions import Fraction

CALLS = []
"""
_N = sympy.Symbol("n", integer=True, positive=True)
_MU, _L, _GAMMA = sympy.symbols("mu L gamma", positive=True)


def own(tmp_path, left, right, body="    return (state.x, state.y)", params=("gamma",), requires=(), more=""):
    """The identity of two quantities of one's own, in a setting of smooth strongly convex functions."""
    text = f"{HEAD}\n{more}\ndef step(problem, params, state, draw):\n{body}\n\n"
    for name, side in (("left", left), ("right", right)):
        text += f"def {name}(problem, params, state):\n{side}\n\n"
    path = tmp_path / "mine.py"
    path.write_text(text)
    names = {"__name__": "mine", "__file__": str(path)}
    exec(compile(text, str(path), "exec", dont_inherit=True), names)
    mine = method("mine", names["step"], list(params), {"x": "point", "y": "clients"})
    setting = Setting(
        "smooth strongly convex functions",
        letters=(_MU, _L, _N, *(sympy.Symbol(p, positive=True, integer=p == "tau" or None) for p in params)),
        algorithm=mine,
        functions=SmoothStronglyConvex(_MU, _L),
    )
    statement = identity(Quantity("left", names["left"]), Quantity("right", names["right"]))
    return Claim(id="own/identity", setting=setting, statement=statement, requires=requires)


#: Sides that are equal for all n, d and letters.
TRUE = {
    "means": ("    return state.y.mean(axis=-2)", "    return state.y.sum(axis=-2) / problem.n"),
    "a variance": (
        "    m = state.y.mean(axis=-2, keepdims=True)\n    return ((state.y - m)**2).sum(axis=(-1, -2)) / problem.n",
        "    m = state.y.mean(axis=-2)\n    return (state.y**2).sum(axis=(-1, -2)) / problem.n - (m**2).sum(axis=-1)",
    ),
    "both branches": (
        "    if params.gamma > 1:\n        return state.x * (params.gamma**2 - 1) / (params.gamma - 1)\n"
        "    return state.x * (1 + params.gamma)",
        "    return state.x + params.gamma * state.x",
    ),
}


@pytest.mark.parametrize("sort", TRUE)
def test_sides_that_are_equal_are_shown(tmp_path, sort):
    assert why_not(own(tmp_path, *TRUE[sort])) == ""


_ZERO = "    return 0 * state.x"
#: Sides that differ at some n, d or letters, or are undefined there: (left, right), each against 0.
ATTACKS = {
    "a part of the clients": "    return state.x - state.x + 0 * state.y[..., :12, :].sum(axis=-2)",
    "a product over n": "    c = 1\n    for k in range(1, 9):\n        c = c * (problem.n - k)\n    return c * state.x",
    "a divisor that vanishes": "    return state.x / (problem.n - 7) - state.x / (problem.n - 7)",
    "a divisor of letters": "    return state.x / (params.gamma - 1) - state.x / (params.gamma - 1)",
    "a quotient that is not used": "    unused = 1 / (params.gamma - 1)\n    return 0 * state.x",
    "a condition that divides": "    return 0 * state.x if 1 / (params.gamma - 1) > 5 else 0 * state.x",
    "a branch on n": "    if problem.n > 12:\n        return state.x\n    return 0 * state.x",
    "a branch on d": "    return state.x if problem.d == 9 else 0 * state.x",
    "a branch on a letter": "    return state.x if params.gamma == Fraction(1, 3) else 0 * state.x",
    "a dunder": "    return state.x * problem.n.__gt__(12)",
    "an error": "    if problem.n > 12:\n        raise ValueError('too many')\n    return 0 * state.x",
    "an assertion": "    assert problem.n < 12\n    return 0 * state.x",
    "memory": "    CALLS.append(1)\n    return 0 * state.x",
    "a clock": "    import time\n    return state.x * (time.time() < 0)",
    "a truth value of n": "    return state.x if problem.n - 5 else 0 * state.x",
    "and": "    return state.x if problem.n > 5 and problem.d > 5 else 0 * state.x",
    "a chain": "    return state.x if 5 < problem.n < 7 else 0 * state.x",
    "not": "    return 0 * state.x if not problem.n == 7 else state.x",
    "a comparison of replicas": "    return np.where(state.x > 10**6, state.x, 0 * state.x)",
    "a power of a letter": "    return (params.gamma**2 - params.gamma) * (params.gamma - 2) * state.x",
    "the number of a client": "    return state.x * state.y[..., problem.n - 1, :].sum(axis=-1)",
    "a class of one's own": "    return Odd(state.x).value",
    "a property": "    return Seen(problem.n).odd * state.x",
    "a default that is changed": "    return late(state.x)",
    "a name that another function sets": "    return held(state.x)",
    "a loop to a letter": "    x = 0 * state.x + state.x\n    for _ in range(params.tau):\n        x = 2 * x\n"
    "    return (params.tau - 2) * (params.tau - 1) * (x - 2 * state.x)",
    "a loop that is not run": "    for _ in range(params.tau):\n        late = 0 * state.x\n    return late",
}
MORE = """
from dataclasses import dataclass
from typing import NamedTuple

class Odd:
    def __init__(self, value):
        self.value = value * (len(CALLS) > 3)

@dataclass(frozen=True)
class Seen:
    n: object
    def __post_init__(self):
        object.__setattr__(self, "n", 0 if self.n < 12 else 1)
    @property
    def odd(self):
        return self.n - self.n

def late(x, by=CALLS):
    return len(by) * x

def kept():
    c = 0

    def read(x):
        return c * x

    def later():
        nonlocal c
        c = 1

    return read, later

held, later = kept()
"""


@pytest.mark.parametrize("sort", ATTACKS)
def test_what_is_false_somewhere_is_not_shown(tmp_path, sort):
    params = ("gamma", "tau") if "tau" in ATTACKS[sort] else ("gamma",)
    assert why_not(own(tmp_path, ATTACKS[sort], _ZERO, params=params, more=MORE))


def test_a_branch_that_the_hypotheses_exclude_is_left_out(tmp_path):
    side = "    return state.x if problem.n > 12 else 0 * state.x"
    assert why_not(own(tmp_path, side, _ZERO, requires=(sympy.Le(_N, 12),))) == ""
    assert why_not(own(tmp_path, side, _ZERO, requires=(sympy.Le(_N, 13),)))


def test_a_divisor_is_shown_to_be_nonzero_from_the_hypotheses(tmp_path):
    side = "    return state.x / (2 - params.gamma) - state.x / (2 - params.gamma)"
    assert "may be zero" in why_not(own(tmp_path, side, _ZERO))
    assert why_not(own(tmp_path, side, _ZERO, requires=(sympy.Lt(_GAMMA, 2),))) == ""
    assert "may be zero" in why_not(own(tmp_path, side, _ZERO, requires=(sympy.Le(_GAMMA, 2),)))


def test_parameters_of_which_values_are_not_told_are_not_used(tmp_path):
    claim = own(tmp_path, "    return state.x if params.way == 'plain' else 2 * state.x", "    return state.x")
    seen = [
        instance.__class__(**{**vars(instance), "params": type(instance.params)(gamma="plain")})
        for instance in instances(claim)
    ]
    text = "    return state.x if params.gamma == 'plain' else 2 * state.x"
    assert "value is not known" in why_not(own(tmp_path, text, "    return state.x"), seen)


def test_a_step_that_looks_at_n_leaves_nothing(tmp_path):
    body = "    c = 0 if problem.n < 12 else 1\n    y = state.y - state.y.mean(axis=-2, keepdims=True) + c * state.y"
    claim = own(tmp_path, "    return state.y.sum(axis=-2)", _ZERO, body=f"{body}\n    return (state.x, y)")
    algorithm, left = claim.setting.algorithm, claim.statement.quantities[0].of
    invariant = Claim(id="own/invariant", setting=claim.setting, statement=Invariant(algorithm, left, "sum_i y_i = 0"))
    assert why_not(invariant) == ""
    path = tmp_path / "mine.py"
    path.write_text(path.read_text().replace("+ c * state.y", "+ c * state.x[..., None, :]"))
    with pytest.raises(Unread, match="not what its file compiles to"):
        proving.read(invariant, instances(invariant))


#: Quantities of subsets of two clients whose expectation is not that of the right side.
MOMENTS = {
    "how many draws there are": ("0 * np.where(masks, z, 0 * z).sum(axis=-1) + masks.shape[-2]", "problem.d", False),
    "one draw": ("np.where(masks, z, 0 * z).sum(axis=-1)", "z.sum(axis=-1) * 2 / problem.n", True),
    "a product": ("np.where(masks, z, 0 * z).sum(axis=-1)**2", "(z.sum(axis=-1) * 2 / problem.n)**2", False),
    "a square": ("(np.where(masks, z, 0 * z)**2).sum(axis=-1)", "(z**2).sum(axis=-1) * 2 / problem.n", True),
}


#: Without two clients there is no subset of two.
_TWO = sympy.Ge(_N, 2, evaluate=False)


@pytest.mark.parametrize("sort", MOMENTS)
def test_expectations_over_subsets_are_exact(tmp_path, sort):
    of, right, true = MOMENTS[sort]
    left = f"""    masks, p = support_of(UniformSubset(problem.n, 2), True)
    z = (state.y**2).sum(axis=-1)[..., None, :]
    return expectation({of}, p)"""
    more = "from fedtheory.randomness import UniformSubset, expectation, support_of"
    claim = own(tmp_path, left, f"    z = (state.y**2).sum(axis=-1)\n    return {right}", more=more, requires=(_TWO,))
    seen = [instance for instance in instances(claim, 40) if instance.problem.n >= 2]
    assert (why_not(claim, seen) == "") is true


def test_a_pattern_has_as_many_clients_for_each_coordinate():
    for n, d in ((2, 5), (5, 2), (7, 3), (4, 4)):
        for s in range(2, n + 1):
            assert (Pattern(n, d, s).columns.sum(axis=0) == s).all()


#: Claims about labelled examples, with one side changed so that they are false.
DATA = ("fedopt/eq-7", "fedopt/eq-17", "fedopt/eq-18", "fedopt/eq-15-and-19", "fedopt/cocoa/is-algorithm-6/subproblem")


@pytest.mark.parametrize("id", [*DATA, "fedopt/eq-23"])
def test_claims_about_data_are_shown_for_all_data(id):
    assert why_not(claims.get(id), instances(claims.get(id), 60)) == ""


@pytest.mark.parametrize("id", DATA)
def test_claims_about_data_that_are_false_are_not_shown(id):
    claim = claims.get(id)
    right = claim.statement.right
    assert "same expression" in why_not(claim.variant(right=2 * right), instances(claim, 60))


def test_ridge_regression_is_what_the_setting_says():
    claim = claims.get("fedopt/eq-17")
    free = replace(claim, setting=replace(claim.setting, domain=()))
    assert "same expression" in why_not(free, instances(claim, 60))


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("(p * p).sum(axis=-1)", "(of(p) * w[..., None, :]).sum(axis=(-1, -2))", True),
        ("(p * q).sum(axis=-1)", "(of(q) * w[..., None, :]).sum(axis=(-1, -2))", True),
        ("(p * q * q).sum(axis=-1)", "(of(q * q) * w[..., None, :]).sum(axis=(-1, -2))", True),
        ("(p * q).sum(axis=-1)", "(p * p).sum(axis=-1)", False),
        ("p.sum(axis=-1)**2", "(p * p).sum(axis=-1)", False),
        ("f.per_client(p, -1).sum(axis=-1)", "p.sum(axis=-1)", True),
        ("(f.per_client(p, -1)**2).sum(axis=-1)", "(p**2).sum(axis=-1)", False),
        ("p.mean(axis=-1)", "p.sum(axis=-1) / f.examples", True),
        ("p.mean(axis=-1)", "p.sum(axis=-1) / f.d", False),
        ("p.shape[-1] * p", "f.d * p", False),
        ("len(f.y) * p", "f.examples * p", True),
        ("(1 / f.sizes).sum() * p", "f.n * p", False),
        ("p / (f.examples - 7) - p / (f.examples - 7)", "0 * p", False),
        ("f.shares.sum(axis=-1) * p.sum(axis=-1)", "p.sum(axis=-1)", True),
        ("(f.sizes**2).sum() * p.sum(axis=-1)", "f.examples**2 * p.sum(axis=-1)", False),
        ("(f.y * p).sum(axis=-1) * (f.y * p).sum(axis=-1)", "(f.y**2).sum() * (p * p).sum(axis=-1)", False),
    ],
)
def test_sums_over_examples_are_alike_where_they_are_equal(tmp_path, left, right, same):
    text = "".join(
        f"def {name}(problem, params, state):\n    f, w = problem.f, state.w\n"
        f"    p, q = f.predictions(w), f.predictions(2 * w)\n"
        f"    of = lambda c: f.per_client(c[..., None] * f.X, -2)\n    return {side}\n\n"
        for name, side in (("left", left), ("right", right))
    )
    path = tmp_path / "mine.py"
    path.write_text(text)
    names = {"__name__": "mine", "__file__": str(path)}
    exec(compile(text, str(path), "exec", dont_inherit=True), names)
    statement = identity(Quantity("left", names["left"]), Quantity("right", names["right"]))
    claim = replace(claims.get("fedopt/eq-18"), statement=statement, id="own/data", changes=())
    assert (why_not(claim, instances(claims.get("fedopt/eq-18"), 60)) == "") is same


def _slope(problem, params, state):
    target = state.x[..., None, :] / params.gamma
    return problem.f.gradient(problem.f.resolvent(1 / params.gamma, target))


def _root(problem, params, state):
    target = state.x[..., None, :] / params.gamma
    return target - problem.f.resolvent(1 / params.gamma, target) / params.gamma


@pytest.mark.parametrize(("of", "same"), [(SmoothStronglyConvex(mu, L), True), (Convex(), False)])
def test_a_subgradient_at_a_proximal_point_is_any(of, same):
    still = method("still", lambda problem, params, state, draw: {"x": state.x}, ["gamma"], {"x": "point"})

    def size(of):
        return lambda problem, params, state: (of(problem, params, state) ** 2).sum(axis=-1).sum(axis=-1)

    statement = identity(Quantity("V", size(_slope)), Quantity("W", size(_root)))
    claim = Claim("own/kink", setting=Setting(algorithm=still, functions=of), statement=statement)
    assert (why_not(claim, instances(claim, 60)) == "") is same


def test_code_is_read_in_a_pytest_that_rewrites_assertions(pytester):
    """Of this package too, as the package has a plugin: what is read has no assertions."""
    pytester.makeconftest("import pytest\npytest.register_assert_rewrite('fedtheory', 'verify')")
    pytester.makepyfile(
        """
        import numpy as np
        from fedtheory import claims
        from fedtheory.papers.locodl import method
        from verify.as_read import proving
        from verify.reading import theory

        def test_the_claim_is_read():
            assert all(theory.holds(c.setting.drawing.special) for c in claims.select(["fedopt"]))
            assert type(method.__loader__).__name__ == "AssertionRewritingHook"
            for id in ("locodl/eq-13", "locodl/algorithm-1/feasibility"):
                claim = claims.get(id)
                recipes = claim.instances.recipes(np.random.default_rng(0))
                seen = [claim.instances.build(next(recipes), True) for _ in range(8)]
                assert all(proving.unshown(claim, case) == "" for case in proving.read(claim, seen))
        """
    )
    pytester.runpytest_subprocess("--assert=rewrite", "-p", "no:cacheprovider").assert_outcomes(passed=1)


def test_products_of_many_factors_are_not_expanded():
    one = WorldValue({(frozenset(), (Atom("a", 0),)): sympy.Integer(1)})
    product = one
    for _ in range(FACTORS - 1):
        product *= one
    with pytest.raises(Unread, match=f"more than {FACTORS} factors"):
        product *= one
    many = WorldValue({(frozenset(), (Atom(f"a{k}", 0),)): sympy.Integer(1) for k in range(200)})
    with pytest.raises(Unread, match="is not expanded"):
        many *= many


_CONSTANTS = claims.get("feddcd/theorem-4.1/proof-constants")
_alpha, _beta = _CONSTANTS.setting.functions.ends
_mu_min, _L_max = _CONSTANTS.statement.assignments


def _relates(of, relation, requires=_CONSTANTS.requires, more=()):
    """Why it is not shown that a number of the f_i, of code, is to the constants of their class as a relation says."""
    x = sympy.Symbol("x", real=True)
    rule = ParameterRule({_mu_min: 1 / _beta, _L_max: 1 / _alpha}, (relation(x), *more), (Quantity(x, of),))
    return why_not(replace(_CONSTANTS, statement=rule, requires=requires, literal_of=None))


@pytest.mark.parametrize(
    "of, relation",
    [
        (lambda problem, params, state: 1 / min(problem.f.mu), lambda x: sympy.Le(x, _L_max)),
        (lambda problem, params, state: 1 / max(problem.f.L), lambda x: sympy.Ge(x, _mu_min)),
        (lambda problem, params, state: min(problem.f.L), lambda x: sympy.Ge(x, _alpha)),
        (lambda problem, params, state: max(problem.f.mu) / min(problem.f.L), lambda x: sympy.Le(x, _beta / _alpha)),
        (lambda problem, params, state: min(problem.f.mu) / problem.n, lambda x: sympy.Le(2 * x, _beta)),
    ],
)
def test_the_class_says_between_which_constants_functions_lie(of, relation):
    assert _relates(of, relation) == ""
    assert _relates(of, relation, _CONSTANTS.requires[1:])


def test_an_order_of_numbers_is_exported_as_no_identity():
    relations = (*_CONSTANTS.statement.relations[:2],)
    rule = replace(_CONSTANTS.statement, assignments={_mu_min: 1 / _beta, _L_max: 1 / _alpha}, relations=relations)
    claim = replace(_CONSTANTS, statement=rule, literal_of=None)
    assert why_not(claim) == ""
    with pytest.raises(ValueError, match="no identity"):
        read_code.of(claim)


@pytest.mark.parametrize(
    "of, relation",
    [
        (lambda problem, params, state: 1 / min(problem.f.mu), lambda x: sympy.Le(x, _mu_min)),
        (lambda problem, params, state: 1 / max(problem.f.L), lambda x: sympy.Ge(x, _L_max)),
        (lambda problem, params, state: 1 / min(problem.f.mu), lambda x: sympy.Le(100 * x, 99 * _L_max)),
        (lambda problem, params, state: max(problem.f.mu) - min(problem.f.mu), lambda x: sympy.Le(x, 0)),
        (
            lambda problem, params, state: max(problem.f.L) - min(problem.f.mu),
            lambda x: sympy.Ge(_beta - _alpha, 2 * x),
        ),
        (lambda problem, params, state: sum(problem.f.mu), lambda x: sympy.Le(x, _beta)),
        (lambda problem, params, state: max(problem.f.mu) * problem.n, lambda x: sympy.Le(x, _beta)),
        (lambda problem, params, state: min(problem.f.mu) ** 2, lambda x: sympy.Le(x, _beta)),
        (lambda problem, params, state: 1 / (min(problem.f.mu) - max(problem.f.mu)), lambda x: sympy.Le(x, 0)),
        (lambda problem, params, state: min(state.w[0, 0]), lambda x: sympy.Le(x, _beta)),
        (lambda problem, params, state: min(params.Lambda), lambda x: sympy.Le(x, _beta)),
        (lambda problem, params, state: min(problem.f.mu), lambda x: sympy.Ge(x - _beta + _beta**2 * _mu_min, _beta)),
    ],
)
def test_nothing_else_is_said_of_their_constants(of, relation):
    assert _relates(of, relation)
