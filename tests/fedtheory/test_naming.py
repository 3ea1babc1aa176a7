"""What an id is, and that files made from ids do not share a name."""

import re

import pytest

import fedtheory as ft
from fedtheory import claims, naming, tables

IDS = ("a", "a/b", "a_b", "a__b", "a/b_c", "a_b/c", "a/b/c", "a.b-c/1", "A/b", "a*", "a/b*", "../../etc", "a b", "a-b")


@pytest.mark.parametrize(
    "id", ["../../etc", "a//b", "/a", "a/", "", ".a", "a_/b", "a b", "a\nb", "ω", "a*b", "x" * 121, 3]
)
def test_what_is_no_id_is_refused(id):
    with pytest.raises(ValueError, match=r"the id of a claim is at most 120 letters") as error:
        ft.Claim(id)
    assert "\n" not in str(error.value)


def test_ids_of_the_papers_are_ids():
    for claim in claims.all():
        naming.check_id(claim.id)
        naming.check_id(claim.id + "*")
        assert naming.file_name(claim.id) == claim.id.replace("/", "_")


def test_names_of_files_differ_and_are_safe():
    names = [naming.file_name(id) for id in IDS]
    assert len(set(names)) == len(IDS)
    assert all(re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", name) for name in names)


def test_an_unknown_id_suggests_one_of_its_paper_first():
    known = ("one/theorem-4/eq-3", "one/theorem-4/eq-5", "two/eq-33")
    message = naming.unknown("one/theorem-4/eq-33", known)
    assert message.endswith("did you mean one/theorem-4/eq-3 or two/eq-33?")


def test_few_ids_are_all_named():
    assert naming.unknown("gd/none", ("gd/too-fast", "gd/right")).endswith(": there are gd/too-fast, gd/right")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("FedADMM", "fedadmm"),
        ("FSVRG", "fedopt"),
        ("fsvrg", "fedopt"),
        ("Federated Optimization", "fedopt"),
        ("federated-optimization/fsvrg/single-node", "fedopt/fsvrg/single-node"),
        ("LoCoDL/Theorem-3.1/eq-5", "locodl/theorem-3.1/eq-5"),
        ("locodl/theorem-3.1", "locodl/theorem-3.1"),
        ("no-such-paper", "no-such-paper"),
    ],
)
def test_papers_are_known_by_the_names_that_people_write(name, found):
    ids = [claim.id for claim in claims.all()]
    assert naming.meant(name, ids) == found
    if found != "no-such-paper":
        assert naming.select([name], ids) == naming.select([found], ids)


def test_an_id_of_ones_own_is_not_another_papers():
    assert naming.meant("FSVRG/mine", ["FSVRG/mine", "fedopt/mine"]) == "FSVRG/mine"
    assert claims.get("FSVRG/fsvrg/single-node") is claims.get("fedopt/fsvrg/single-node")


def test_a_table_is_known_by_its_paper_if_that_has_one():
    assert tables.get("FSVRG") is tables.get("fedopt/properties")
    with pytest.raises(ValueError, match="did you mean locodl/table-1 or locodl/table-2"):
        tables.get("LoCoDL")
