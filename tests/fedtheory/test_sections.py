"""Claims by section of a paper: what they share, what is printed, and what a relation is about."""

from __future__ import annotations

import copy
import dataclasses
import re

import pytest
import sympy

import fedtheory as ft
from fedtheory.claims import Claim
from fedtheory.kinds.bound import Bound
from fedtheory.kinds.inequality import Inequality
from fedtheory.kinds.one_step import OneStep
from fedtheory.numbers.symbols import T
from fedtheory.settings import Setting
from verify.multipliers.contraction import chain_of

L, mu, gamma, rate = ft.letters("L mu gamma rate")


def _step(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)}


METHOD = ft.method("descent", _step, ["gamma"], {"x": "point"})
SETTING = ft.Setting(algorithm=METHOD, functions=ft.SmoothConvex(L))
D, F = ft.Quantity("D", ft.distance), ft.Quantity("F", ft.gap)
theorem_2 = ft.section("mine", "Theorem 2", SETTING, gamma * L <= 1)


def test_a_claim_has_what_its_section_shares_and_what_is_its_own():
    claim = theorem_2("eq-3", ft.E(D.next) <= D, "no step leads away", tex=r"D^+\le D", uses=("lemma-1", "mine/eq-2"))
    assert (claim.id, claim.where, claim.gist) == ("mine/theorem-2/eq-3", "Theorem 2", "no step leads away")
    assert (claim.origin, claim.formula) == ("printed", r"D^+\le D")
    assert claim.uses == ("mine/lemma-1", "mine/eq-2")
    assert next(h.relation for h in claim.requires) == (gamma * L <= 1)
    written = Claim(
        "mine/theorem-2/eq-3",
        setting=SETTING,
        statement=ft.one_step(METHOD, ft.E(ft.Quantity("D_next", ft.distance, after=True)) <= D),
        requires=(gamma * L <= 1,),
    )
    assert (claim.statement, claim.setting.letters) == (written.statement, written.setting.letters)


def test_the_parts_of_a_claim_come_before_those_of_its_section():
    other = ft.Setting(algorithm=METHOD, functions=ft.Smooth(L))
    claim = theorem_2("b", ft.E(D.next) <= D, tex="", where="eq. (7)", setting=other, requires=(gamma * L <= 2,))
    assert claim.where == "eq. (7)" and claim.setting.functions == ft.Smooth(L)
    assert next(h.relation for h in claim.requires) == (gamma * L <= 2)


def test_origins():
    relation = ft.E(D.next) <= D
    assert theorem_2("", relation, tex="").origin == "printed"
    assert theorem_2("", relation, origin="implied").origin == "implied"
    repaired = theorem_2("repaired", relation, repairs="theorem-2")
    assert (repaired.origin, repaired.repairs) == ("observed", "mine/theorem-2")
    assert theorem_2("repaired", relation, tex="", repairs="theorem-2").origin == "printed"
    literal = theorem_2("literal", relation, tex="", literal_of="theorem-2")
    assert literal.literal_of == "mine/theorem-2"
    with pytest.raises(
        ValueError, match="not stated whether mine/theorem-2 is printed, implied or observed: write tex"
    ):
        theorem_2("", relation)
    with pytest.raises(ValueError, match="not declared as printed"):
        theorem_2("", relation, tex="x", origin="implied")


@pytest.mark.parametrize(
    ("where", "id"),
    [
        ("Theorem 3.1", "theorem-3.1"),
        ("Lemma B.3", "lemma-B.3"),
        ("Appendix A", "appendix-A"),
        ("eq. (13)", "eq-13"),
        ("eqs. (14)-(15)", "eqs-14-15"),
        ("Figures 1-3", "figures-1-3"),
        ("Section 3, before Corollary 3.2", "section-3-before-corollary-3.2"),
    ],
)
def test_ids_are_those_of_places(where, id):
    assert ft.section("mine", where, SETTING)("", ft.E(D.next) <= D, tex="").id == f"mine/{id}"
    assert ft.section("mine", where, SETTING, id="")("a", ft.E(D.next) <= D, tex="").id == "mine/a"
    assert ft.section("mine", where, SETTING, id="b")("a", ft.E(D.next) <= D, tex="").id == "mine/b/a"


def test_a_quantity_is_declared_once_for_steps_and_for_runs():
    assert [str(q.expression) for q in (D, D.next, D.zero, D.T)] == ["D", "D_next", "D_0", "D_T"]
    assert [q.after for q in (D, D.next, D.zero, D.T)] == [False, True, False, True]
    assert all(q.of is D.of for q in (D.next, D.zero, D.T))
    assert D.next == D.next == ft.Quantity("D_next", ft.distance, after=True) and D.T != D.next
    named = ft.Quantity("|x-x*|^2", ft.distance, names={"next": "|x_next-x*|^2"})
    assert str(named.next.expression) == "|x_next-x*|^2"
    square = ft.Quantity(sympy.Symbol("r", real=True) ** 2, ft.distance)
    assert square.T.expression == sympy.Symbol("r_T", real=True) ** 2


@pytest.mark.parametrize("time", ["next", "zero", "T"])
def test_a_time_is_not_taken_twice(time):
    for of in (D.next, D.zero, D.T, ft.Quantity("D_next", ft.distance, after=True)):
        with pytest.raises(ValueError, match=f"is taken at a time already: write .{time} of the quantity before"):
            getattr(of, time)


def test_a_changed_copy_is_at_no_stated_time():
    assert [q.time for q in (D, D.next, D.zero, D.T)] == ["", "next", "zero", "T"]
    assert dataclasses.replace(D.T, after=False).time == ""
    assert copy.deepcopy(D.T).time == "T"


def test_names_are_of_times():
    with pytest.raises(ValueError, match="the times of D are next, zero, T, got 'later'"):
        ft.Quantity("D", ft.distance, names={"later": "D+"})


@pytest.mark.parametrize(
    ("relation", "kind"),
    [
        (ft.E(D.next + 2 * gamma * F.next) <= D, OneStep),
        (ft.E(D.next * F.next) <= D * F, OneStep),
        (ft.E(F.T) <= rate**T * F.zero, Bound),
        # No letter tells that this is about T rounds.
        (ft.E(F.T) <= F.zero, Bound),
        (ft.E(F.T) <= F, Bound),
        (ft.E(D.T * F.T) <= D.zero, Bound),
        (ft.E(ft.total(F)) <= D.zero, Bound),
        (F <= L * D, Inequality),
        (rate < 1, Inequality),
    ],
)
def test_a_relation_is_about_a_step_a_run_or_a_state(relation, kind):
    claim = theorem_2("a", relation, tex="")
    assert type(claim.statement) is kind


AFTER = ft.Quantity("D_after", ft.distance, after=True)


@pytest.mark.parametrize(
    "relation",
    [
        ft.E(AFTER) <= D,
        ft.E(AFTER) <= rate**T * D.zero,
        ft.E(D.next) <= D.zero,
        ft.E(D.next) <= ft.E(F.T),
        ft.E(D.next + AFTER) <= D,
        D.zero <= L * F,
        D.zero <= L * F.zero,
    ],
)
def test_what_is_about_no_single_time_is_refused(relation):
    with pytest.raises(ValueError, match=re.escape("write .next after one step, .T after T rounds and .zero where")):
        theorem_2("a", relation, tex="")


@pytest.mark.parametrize(
    ("make", "advice"),
    [
        (
            lambda: ft.one_step(METHOD, ft.E(F.T) <= F),
            "F_T is taken at .T: write .next in this statement",
        ),
        (lambda: ft.one_step(METHOD, ft.E(F.next) <= F.zero), "F_0 is taken at .zero"),
        (lambda: ft.bound(METHOD, ft.E(F.next) <= F), "F_next is taken at .next: write .zero or .T in"),
        (lambda: ft.bound(METHOD, ft.E(ft.total(F)) <= ft.E(F.next)), "F_next is taken at .next"),
        (lambda: ft.inequality(F.zero <= L * D), "F_0 is taken at .zero: write the quantity as it is"),
        (lambda: ft.identity(F.zero, F), "F_0 is taken at .zero"),
    ],
)
def test_a_kind_has_its_times(make, advice):
    with pytest.raises(ValueError, match=advice):
        make()


def test_a_bound_is_proved_by_induction_however_it_is_written():
    """The step of the induction has the quantities of the bound, which are taken after T rounds there."""
    rate = (1 - gamma * mu) ** 2
    shared = {"setting": ft.Setting(algorithm=METHOD, functions=ft.SmoothStronglyConvex(mu, L)), "id": "mine/a"}
    once = ft.bound(METHOD, ft.E(D.T) <= rate**T * D.zero)
    names = ft.Quantity("D_0", ft.distance), ft.Quantity("D_T", ft.distance, after=True)
    twice = ft.bound(METHOD, ft.E(names[1]) <= rate**T * names[0])
    chains = [chain_of(Claim(statement=statement, requires=(gamma * L <= 1,), **shared)) for statement in (once, twice)]
    assert chains[0].step.statement == chains[1].step.statement


def test_products_are_of_one_time():
    with pytest.raises(ValueError, match="those of D_next F_T are of two times"):
        ft.E(D.next * F.T)


@pytest.mark.parametrize("relation", [ft.E(D.next) <= D, ft.E(D.T) <= D.zero])
def test_a_step_needs_a_method(relation):
    bare = ft.section("mine", "Theorem 2", Setting("all values of the constants"))
    with pytest.raises(ValueError, match="mine/theorem-2 is about a step or a run, and its setting has no method"):
        bare("", relation, tex="")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ft.section("mine", 3, SETTING), "a section is a place in words, with a Setting, got 3 and"),
        (
            lambda: ft.section("mine", "Theorem 2", METHOD),
            "a section is a place in words, with a Setting, got 'Theorem",
        ),
        (lambda: theorem_2(3, ft.E(D.next) <= D, tex=""), "a claim of Theorem 2 has an id in words"),
        (lambda: theorem_2("a", ft.E(D.next) <= D, tex=3), "formula of mine/theorem-2/a must be texts"),
        (lambda: theorem_2("a", ft.E(D.next) <= D, tex="", uses="b"), "uses of mine/theorem-2/a is a tuple of ids of"),
        (lambda: theorem_2("a", D, tex=""), "a statement is a relation by <=, <, >= or >"),
    ],
)
def test_what_is_no_section_or_claim_gets_a_sentence(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("part", ["repairs", "literal_of", "uses", "follows", "given"])
def test_a_paper_has_the_claims_that_its_claims_name(part):
    single = part in ("repairs", "literal_of")
    claims = [
        theorem_2("a", ft.E(D.next) <= D, tex="", **{part: id if single else (id,)})
        for id in ("theorem-2", "theorem-3", "mine/theorem-2")
    ]
    whole = theorem_2("", ft.E(D.next) <= D, tex="")
    for claim in (claims[0], claims[2]):
        assert ft.Paper("mine", "A", (whole, claim)).claims[1] is claim
    with pytest.raises(ValueError, match="mine/theorem-2/a names mine/theorem-3, and the paper mine has no claim of"):
        ft.Paper("mine", "A", (whole, claims[1]))
