"""The registry: ids, places and kinds as listed, changed claims, and errors that help."""

from __future__ import annotations

import csv
import dataclasses
import pickle
import re

import pytest
import sympy
from places import SHARED

from fedtheory import algorithms, claims, plugins
from fedtheory.kinds.bound import Bound
from fedtheory.origins import ORIGINS
from fedtheory.papers import feddcd, locodl

#: What the list says of a statement where it says nothing of what is stated.
SAYS_LITTLE = (
    "as printed",
    "rounds",
    "rounds, Li et al.",
    "rounds, He et al.",
    "reals",
    "FSVRG",
    "a line of the proof of Lemma 4.1",
    "a line of the proof of Lemma 4.1, with its own constant",
)
LIST = SHARED / "claims.csv"
#: What is meant, of which the list tells the letter or the use.
RESTATED = ("fedadmm/eq-45", "locodl/uplink", "locodl/assumption-2.1")
#: What says less than the list, and so says in its gist what it says.
NARROWER = (
    "feddcd/identical-clients",
    "feddcd/gap",
    "fedadmm/eq-14",
    "fedadmm/remark-4.3/eq-28",
    "fedadmm/section-3.5",
)
#: The first of the ids that were added to the list when it was there.
ADDED_FIRST = "fedadmm/eq-14"


@pytest.mark.skipif(not LIST.exists(), reason="the list of claims is not there")
def test_registry_agrees_with_the_list():
    with LIST.open(encoding="utf-8", newline="") as file:
        listed = {row["id"]: row for row in csv.DictReader(file)}
    papers = {id.split("/")[0] for id in listed}
    printed = [c for c in claims.all() if c.repairs is None and c.paper in papers]
    for claim in printed:
        # What the list has no id for is a part of something that it has one for.
        row = listed.get(claim.id) or listed[claim.id.rpartition("/")[0]] | {"kind": claim.kind, "gist": claim.gist}
        assert (claim.where, claim.kind) == (row["where"], row["kind"])
        said = row["gist"] in SAYS_LITTLE and claim.gist not in SAYS_LITTLE
        narrower = claim.id in NARROWER and claim.gist.startswith(row["gist"])
        assert claim.gist == row["gist"] or said or narrower or claim.id in RESTATED
    # What was added to the list later stands at its end, of all papers; in the registry where its paper has it.
    listed_first = list(listed)[: list(listed).index(ADDED_FIRST)]
    order = [id for id in listed_first if id in {c.id for c in claims.all()} and not id.endswith("/literal")]
    assert [c.id for c in printed if c.id in listed_first and not c.id.endswith("/literal")] == order


def test_repaired_claims_follow_what_they_repair():
    ids = [c.id for c in claims.all()]
    for claim in claims.all():
        if claim.repairs is not None:
            # The first is the least change; others say more, or change something else.
            siblings = ids[ids.index(claim.repairs) + 1 : ids.index(claim.id) + 1]
            assert all(id.startswith(f"{claim.repairs}/") for id in siblings)
            repairs = [id for id in siblings if claims.get(id).repairs is not None]
            assert repairs[0] == f"{claim.repairs}/repaired"
            assert all(id.startswith(f"{claim.repairs}/repaired") for id in repairs)


def test_the_formula_of_an_inequality_relates_two_sides():
    relation = re.compile(r"\\leq?(?![a-z])|\\geq?(?![a-z])|=|<|>|\\in(?![a-z])|\\preceq|\\Omega")
    for claim in claims.all():
        if claim.kind in ("inequality", "bound", "one-step") and claim.formula:
            ordered = relation.search(claim.formula) or r"\mathcal{O}" in claim.formula
            assert ordered or claim.id == "fedadmm/lemma-C.2/a", claim.id
        # A letter alone is no formula of a sentence.
        assert not re.fullmatch(r"\\?[A-Za-z]+", claim.formula), claim.id


def test_what_a_later_version_says_is_said_of_its_claim():
    later = {claim.id for claim in claims.all() if claim.later}
    assert later == {"feddcd/projection", "feddcd/versus-mb-sgd-and-fedavg", "feddcd/table-2"}
    assert claims.get("feddcd/projection").variant(left=0).later == ""
    papers = ("feddcd", "fedadmm", "locodl", "fedopt")
    assert all(plugins.get(paper).version.startswith("arXiv ") for paper in papers)


def test_every_statement_is_in_symbols():
    for claim in claims.all():
        for comparison in getattr(claim.statement, "comparisons", ()):
            assert isinstance(comparison.left, sympy.Basic) and isinstance(comparison.right, sympy.Basic)


def test_rates_can_be_read_and_specialised():
    tau = claims.get("locodl/theorem-3.1/one-step").statement.factor
    values = {
        locodl.mu: 1,
        locodl.L: 2,
        locodl.gamma: sympy.Rational(1, 2),
        locodl.p: 1,
        locodl.chi: 1,
        locodl.omega: 0,
    }
    assert tau.subs(values) == sympy.Rational(1, 4)
    bound = claims.get("feddcd/theorem-4.1/eq-3").statement.bound
    assert bound.subs({feddcd.T: 0}) == claims.get("feddcd/theorem-4.1/eq-3").statement.initial


def test_glossaries_map_to_the_common_vocabulary():
    assert str(feddcd.glossary[feddcd.alpha]) == "mu"
    assert locodl.glossary[locodl.omega_av] == locodl.omega_av


def test_variant_changes_only_what_it_names():
    claim = claims.get("feddcd/theorem-4.1/eq-4")
    changed = claim.variant(factor=claim.statement.factor**2)
    assert changed.id == claim.id + "*" and claim.id == "feddcd/theorem-4.1/eq-4"
    assert changed.statement.factor == claim.statement.factor**2
    assert sympy.simplify(changed.statement.bound / claim.statement.bound - claim.statement.factor**feddcd.T) == 0
    assert changed.statement.constant == claim.statement.constant
    other = claim.variant(bound=sympy.Integer(0))
    assert isinstance(other.statement, Bound) and other.statement.bound == 0
    assert changed.variant(factor=0).id == claim.id + "*"


def test_variant_takes_an_algorithm():
    step = lambda problem, params, state, draw: state  # noqa: E731
    frozen = dataclasses.replace(algorithms.get("locodl"), step=step)
    assert claims.get("locodl/theorem-3.1/one-step").variant(algorithm=frozen).statement.algorithm is frozen


@pytest.mark.parametrize(
    ("id", "changes", "message"),
    [
        ("locodl/eq-6", {"factor": 1}, "no part 'factor'"),
        ("locodl/theorem-3.1/one-step", {"bound": 1}, "no part 'bound'"),
        ("feddcd/projection", {"omega": 1}, "no part 'omega'"),
    ],
)
def test_variant_says_what_can_be_changed(id, changes, message):
    with pytest.raises(ValueError, match=message):
        claims.get(id).variant(**changes)


def test_unknown_id_suggests_a_near_one():
    with pytest.raises(ValueError, match=r"did you mean feddcd/lemma-B\.8/rate"):
        claims.get("feddcd/rate")


def test_select_by_paper_prefix_and_id():
    assert {c.paper for c in claims.select(["locodl"])} == {"locodl"}
    assert [c.id for c in claims.select(["feddcd/lemma-B.8"])] == [
        "feddcd/lemma-B.8/descent",
        "feddcd/lemma-B.8/rate",
        "feddcd/lemma-B.8/rate/repaired",
    ]
    assert claims.select([]) == claims.all()
    with pytest.raises(ValueError, match="unknown claim"):
        claims.select(["nothing"])


# Printed, implied, observed


def test_every_claim_says_what_it_is():
    for claim in claims.all():
        assert claim.origin in ORIGINS, claim.id
        # The constructor asks for a numbered place of what is printed. It is one of this paper: no citation.
        assert claim.origin != "printed" or not re.search(r"(19|20)\d\d", claim.where), claim.id


@pytest.mark.parametrize("repaired", [c for c in claims.all() if c.repairs], ids=lambda c: c.id)
def test_a_repair_is_ours_unless_the_paper_prints_it_elsewhere(repaired):
    assert repaired.origin == "observed" or (repaired.origin == "printed" and repaired.formula)


def test_a_letter_is_of_what_is_meant():
    letters = [c for c in claims.all() if c.literal_of]
    assert letters
    for claim in letters:
        meant = claims.get(claim.literal_of)
        assert claim in claims.by_letter(meant.id) and meant.paper == claim.paper
        assert claim.origin == "printed" and meant.literal_of is None
        # What is meant is a claim of the paper, or says what is to be printed instead.
        assert meant.origin == "printed" or meant.repairs == claim.id
    assert {c.id for c in claims.all() if c.id.endswith("/literal")} <= {c.id for c in letters}
    assert all(c.literal_of == c.id.removesuffix("/literal") for c in letters if c.id.endswith("/literal"))


@pytest.mark.parametrize(
    "where", ["", "the text", "Polyak 1987", "a theorem", "Section", "proof of the lemma", "eq. 5"]
)
def test_what_is_printed_has_a_place_with_a_number(where):
    claim = claims.get("locodl/eq-6")
    with pytest.raises(ValueError, match="locodl/eq-6 is printed: where must name a section, theorem, equation"):
        dataclasses.replace(claim, where=where)
    assert dataclasses.replace(claim, where=where, origin="observed", formula="").where == where


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"where": None}, "where and formula of locodl/eq-6 must be texts"),
        ({"formula": 2}, "where and formula of locodl/eq-6 must be texts"),
        ({"origin": "seen"}, "origin of locodl/eq-6 must be one of printed, implied, observed, got 'seen'"),
        ({"origin": "observed"}, "has a formula as it stands in a paper, but is not declared as printed"),
        ({"origin": ""}, "has a formula as it stands in a paper, but is not declared as printed"),
        ({"literal_of": "locodl/eq-6"}, "only what is printed has one, and another meaning"),
        ({"origin": "implied", "formula": "", "literal_of": "locodl/eq-7"}, "only what is printed has one"),
    ],
)
def test_parts_that_do_not_agree_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(claims.get("locodl/eq-6"), **changes)


def test_what_is_changed_is_printed_nowhere():
    for id in ("locodl/eq-6", "feddcd/lemma-B.8/rate"):
        changed = claims.get(id).variant(requires=())
        assert (changed.origin, changed.formula, changed.literal_of) == ("", "", None)


def test_every_claim_of_a_paper_has_an_origin():
    assert [claim.id for claim in claims.all() if not claim.origin] == []


def test_claims_travel_between_processes_by_id():
    claim = claims.get("locodl/eq-6")
    assert pickle.loads(pickle.dumps(claim)) is claim
    with pytest.raises(TypeError, match="cannot be sent"):
        pickle.dumps(claim.variant(requires=()))


def test_what_is_behind_a_claim_is_told_once_and_by_the_way_to_it():
    uses = {"a": "bc", "b": "d", "c": "de", "d": "", "e": "a"}
    near, deep = ([f"{''.join(path)}>{id}" for id, path in claims.behind("a", uses.get, how)] for how in (False, True))
    assert near == [">a", "a>b", "a>c", "ab>d", "ac>e"]
    assert deep == [">a", "a>b", "ab>d", "a>c", "ac>e"]


def test_a_letter_that_the_setting_leaves_out_is_named():
    claim = claims.get("baseline/gradient-descent/one-step")
    n = sympy.Symbol("n", integer=True, positive=True)
    setting = dataclasses.replace(claim.setting, letters=tuple(claim.setting.sources))
    with pytest.raises(ValueError, match="mentions n, which its setting leaves out of its letters"):
        dataclasses.replace(claim.variant(factor=1 + 1 / (n + 1)), setting=setting)
