"""One-step inequalities for all letters and every n: what is proved, and what must not be."""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
import sympy
from places import EXAMPLES

import fedtheory as ft
from fedtheory import algorithms, claims
from fedtheory.algorithms import diana, scaffnew
from fedtheory.numbers.symbols import L, Max, Min, mu, n, omega
from fedtheory.settings.hypotheses import Hypothesis
from verify.base.own import load
from verify.multipliers import posing, proofs
from verify.multipliers.cases import cases
from verify.multipliers.charts import has_no_negative
from verify.multipliers.domains import Domain
from verify.multipliers.points import Programs, SamplePoints
from verify.multipliers.proving import prove, stored
from verify.multipliers.ratios import Ratio, parsed, polynomials, text
from verify.multipliers.work import STEP, Work

gamma, p, alpha = sympy.symbols("gamma p alpha", positive=True)

SCAFFNEW, DIANA, EF21 = "baseline/scaffnew/one-step", "baseline/diana/one-step", "baseline/ef21/one-step"


def shown(claim, work=STEP):
    return not isinstance(prove(claim, work), str)


#: Whose multipliers are long: `make golden` proves these claims by them.
LONG = {
    "baseline/5gcs-cc/one-step",
    "baseline/adiana/one-step",
    "baseline/compressed-scaffnew/one-step",
    "baseline/ef21/descent",
    "baseline/ef21/one-step",
    "baseline/scaffold-sampled/one-step",
    "locodl/theorem-3.1/one-step",
}


@pytest.mark.parametrize("id", sorted(set(stored()) - LONG))
def test_stored_multipliers_prove_their_claims(id):
    # Without time for a search: everything but the multipliers is derived again.
    found = prove(claims.get(id), 0)
    assert not isinstance(found, str), found
    assert not any(name.endswith("n = 1") for name in found.cases)


def test_multipliers_are_found_again():
    assert shown(replace(claims.get(SCAFFNEW), id="mine/scaffnew"))


def test_a_program_without_unknowns_is_decided_without_the_solver():
    claim = claims.get(SCAFFNEW)
    posed = posing.pose(claim, cases(claim)[1])
    programs = Programs(posed, SamplePoints(posed, np.random.default_rng(0)).choose(2), Work(99))
    assert not programs.feasible(0, [], {})
    every = list(range(len(programs.names)))
    found = programs.solve(0, np.ones(len(every)), every, {})
    assert programs.feasible(0, every, dict(enumerate(found)))


def _other(claim, **parts):
    return replace(claim.variant(**parts), id="mine/other")


@pytest.mark.parametrize(
    ("id", "factor"),
    (
        (SCAFFNEW, 1 - Min(gamma * mu, p**2) - Fraction(1, 100) * gamma * mu),
        (SCAFFNEW, 1 - Min(gamma * mu, p)),
        # Not defined where p = 1, and wrong where n is more than 6.
        (SCAFFNEW, 1 - Min(gamma * mu, p**2) + p / (1 - p)),
        (SCAFFNEW, 1 - Min(gamma * mu, p**2) - p**2 * (n - 6) / 10**6),
        (DIANA, Max(1 - gamma * mu, 1 - alpha / 2) * sympy.Rational(99, 100)),
    ),
)
def test_smaller_factors_are_not_proved(id, factor):
    assert not shown(_other(claims.get(id), factor=factor))


@pytest.mark.parametrize(
    ("id", "old", "new"),
    (
        (SCAFFNEW, "0 < gamma <= 1/L", sympy.Le(gamma, sympy.Rational(101, 100) / L * 2, evaluate=False)),
        (DIANA, "alpha <= 1/(1 + omega)", sympy.Le(alpha, sympy.Rational(101, 100) * 2 / (1 + omega), evaluate=False)),
        (SCAFFNEW, "f_1, ..., f_n mu-strongly convex and L-smooth", None),
    ),
)
def test_weaker_hypotheses_do_not_do(id, old, new):
    claim = claims.get(id)
    kept = tuple(h for h in claim.requires if h.text != old)
    assert len(kept) < len(claim.requires)
    more = () if new is None else (Hypothesis("weaker", new),)
    assert not shown(_other(claim, requires=(*kept, *more)))


def _slipped(algorithm, slip):
    return replace(algorithm, step=slip)


@pytest.mark.parametrize(("id", "algorithm"), ((SCAFFNEW, scaffnew), (DIANA, diana)))
def test_slips_of_the_step_are_not_proved(id, algorithm):
    _, _, slip = algorithms.slips_of(algorithm.algorithm)[1]
    assert not shown(_other(claims.get(id), algorithm=_slipped(algorithm.algorithm, slip)))


def test_a_bent_object_proves_nothing():
    claim = claims.get(SCAFFNEW)
    case = cases(claim)[1]
    posed = posing.pose(claim, case)
    good = stored()[SCAFFNEW][case.name]
    proofs.checked(posed, good)
    for name in good["multipliers"]:
        for bent in ("3 [gamma]", "-2 [gamma]", "2 [gamma]^2", "2 [gamma] [n]", "2 [gamma] / 1 [p] + -1", "x", "0"):
            other = copy.deepcopy(good)
            other["multipliers"][name] = bent
            with pytest.raises(proofs.Wrong):
                proofs.checked(posed, other)
    for block in good["plans"]:
        other = copy.deepcopy(good)
        other["plans"][block]["order"] = ["nobody"]
        with pytest.raises(proofs.Wrong):
            proofs.checked(posed, other)
    with pytest.raises(proofs.Wrong):
        proofs.checked(posed, {"multipliers": {}})


@cache
def _shown_ef21():
    """The proof that is stored, and the same with all squares stated, so that nothing is left to eliminate."""
    claim = claims.get(EF21)
    (case,) = cases(claim)
    proof = proofs.checked(posing.pose(claim, case), stored()[EF21][case.name])
    whole = {block: proofs.Elimination(None, {}, ("nobody",), squares) for block, squares in proof.squares.items()}
    return proof, proofs.written(replace(proof, plans=whole))


def _ef21():
    proof, whole = _shown_ef21()
    return proof.posed, copy.deepcopy(whole)


def _bend_first(change):
    def bend(squares):
        squares[0] = {**squares[0], **change(squares[0])}

    return bend


def _of_row(row, value):
    return _bend_first(lambda square: {"vector": {**square["vector"], row: value}})


@pytest.mark.parametrize(
    "bend",
    (
        _bend_first(lambda square: {"weight": "2 [gamma]"}),
        _bend_first(lambda square: {"weight": "0"}),
        _bend_first(lambda square: {"weight": f"{square['weight']} + 1 [gamma]^2"}),
        _bend_first(lambda square: {"weight": square["weight"].replace("-1 ", "-2 ")}),
        _bend_first(lambda square: {"vector": {}}),
        # What is a vector of another block, of none, or no vector of states.
        _of_row("x", "1"),
        _of_row("deviation of g", "1"),
        _of_row("g_bar", "1"),
        _of_row("nobody", "0"),
        _of_row("", "1"),
        # What is right once it is added up, with weights that are negative somewhere, or everywhere.
        lambda squares: squares.extend([{**squares[0], "weight": w} for w in ("1 [gamma]", "-1 [gamma]")]),
        lambda squares: squares.extend(
            [{**squares[0], "weight": w} for w in ("1 [gamma] + -1 [L]", "-1 [gamma] + 1 [L]")]
        ),
        lambda squares: squares.append(squares[0]),
        lambda squares: squares.clear(),
        lambda squares: squares.append({"weight": "1"}),
        lambda squares: squares.append("1"),
    ),
)
def test_bent_squares_prove_nothing(bend):
    posed, good = _ef21()
    bend(good["plans"]["mean"]["stated"])
    with pytest.raises(proofs.Wrong):
        proofs.checked(posed, good)


def test_squares_may_make_up_whole_blocks():
    posed, good = _ef21()
    again = proofs.checked(posed, good)
    assert {name: plan.order for name, plan in again.plans.items()} == {"mean": (), "deviation": ()}


def test_squares_of_ef21_show_no_more_than_it_says():
    claim = claims.get(EF21)
    kept = [h for h in claim.requires if h.text != "gamma <= theta/(2 mu)"]
    assert len(kept) < len(claim.requires)
    _, good = _ef21()
    for part in ({"factor": 1 - 2 * gamma * mu}, {"requires": tuple(kept)}):
        other = claim.variant(**part)
        with pytest.raises(proofs.Wrong):
            proofs.checked(posing.pose(other, cases(other)[0]), good)


# Signs


def _domain(*constraints, positive=(0, 1, 2)):
    ring = polynomials(("x", "y", "z"))
    domain = Domain(ring, frozenset(positive))
    for make, strict in constraints:
        domain = domain.with_constraint(make(*ring.gens()), strict)
    return domain, ring.gens()


def test_signs_follow_from_constraints():
    domain, (x, y, z) = _domain((lambda x, y, z: 1 - x * y, False), (lambda x, y, z: y - z, True))
    assert domain.regular_chart() is not None
    assert domain.sign(1 - x * z) and domain.sign(1 - x * z, True)
    assert domain.sign(1 - x * y) and not domain.sign(1 - x * y, True)
    assert domain.never_zero(y - z) and not domain.never_zero(1 - x * y)
    assert not domain.sign(z - y) and not domain.sign(1 - x) and not domain.sign(x - z)
    assert domain.sign((x - z) ** 2) and not domain.sign((x - z) ** 2, True)


def test_a_letter_that_may_be_zero_is_not_divided_by():
    domain, (x, y, z) = _domain((lambda x, y, z: z - x * y, False), positive=(1, 2))
    assert not domain.never_zero(x)
    # Where x is zero, z - x y >= 0 says nothing of y.
    assert domain.sign(z - x * y) and not domain.sign(z - y)


def test_thin_domains_are_not_regular():
    # x = 1 alone: nothing that holds elsewhere says anything there.
    domain, _ = _domain((lambda x, y, z: -((x - 1) ** 2), False))
    assert domain.regular_chart() is None
    pair, _ = _domain((lambda x, y, z: x - y, False), (lambda x, y, z: (x - y) * (x - y - 1), False))
    assert pair.regular_chart() is None


def test_a_domain_that_leads_outside_on_the_way_is_not_regular():
    # z <= x + y, and then x <= z + y: of the slacks of the first what the second leaves is asked too.
    domain, _ = _domain((lambda x, y, z: x + y - z, False), (lambda x, y, z: z + y - x, False))
    chart = domain.regular_chart()
    assert chart is not None
    for k, (i, _, den) in enumerate(chart.steps, 1):
        assert all(has_no_negative(chart.image(q, k)) for q in (domain.ring.gen(i), den))
    # Nothing is in it.
    empty, _ = _domain((lambda x, y, z: -x * y, False))
    assert empty.regular_chart() is None
    # y = z alone, of which a positive multiple of everything that vanishes there would be said.
    line, _ = _domain((lambda x, y, z: y - z, False), (lambda x, y, z: z - y, False))
    assert line.regular_chart() is None


def _corrected(problem, state, gamma):
    return state.x - gamma * (problem.f.gradient(state.x[..., None, :]) + state.h).sum(axis=-2) / problem.n


def _still(problem, params, state, draw):
    return {"x": _corrected(problem, state, params.gamma), "h": state.h}


def _drifting(problem, params, state, draw):
    return {"x": _corrected(problem, state, params.gamma), "h": state.h + problem.f.gradient(state.x[..., None, :])}


def _sum(problem, params, state):
    return state.h.sum(axis=-2)


@pytest.mark.parametrize("step", (_still, _drifting))
def test_a_step_must_keep_the_invariant(step):
    parts = {"x": "point", "h": "clients"}
    algorithm = ft.method("corrected", step, ["gamma"], parts, invariant=_sum)
    setting = ft.Setting(algorithm=algorithm, functions=ft.SmoothStronglyConvex(mu, L))
    statement = ft.contracts(algorithm, ft.distance, 1 - gamma * mu)
    claim = ft.Claim("mine/corrected", setting=setting, statement=statement, requires=(gamma * L <= 1,))
    found = prove(claim)
    assert ("preserve the invariant" in found) if step is _drifting else not isinstance(found, str)


def test_ratios_are_read_as_they_are_written():
    ring = polynomials(("a b", "c"))
    x, y = (Ratio(g, ring.constant(1)) for g in ring.gens())
    r = (1 - 2 * x * y) / (x * x + Fraction(1, 3)) + y**3
    assert (parsed(text(r, ("a b", "c")), ("a b", "c")) - r).is_zero
    with pytest.raises(ValueError, match="not a term in the letters"):
        parsed("1 [d]", ("a b", "c"))


def test_inequalities_are_left_out_in_either_order():
    """Left out from the end, those that remain have multipliers without a name; left out from the start, with one."""
    *_, true, false = load(EXAMPLES / "gallery" / "fedexprox_guarantee.py")
    assert not isinstance(prove(true), str)
    assert isinstance(prove(false), str)
