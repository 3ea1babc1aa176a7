"""What is written as LaTeX is a document by itself, and part of a paper in two columns."""

import pytest
import tex

from fedtheory import tables
from fedtheory.tables.rendering import render
from verify.cli import main
from verify.report import names
from verify.results import PROOFS

VALUES = ["n=100", "d=300", "kappa=1e4"]
NUMBERS = {
    "feddcd/table-1": ["mu=1", "L=100", "n=50", "m=10", "zeta=1", "sigma=1", "K=5", "epsilon=1e-4"],
    "locodl/table-1": ["n=9", "omega=5", "kappa=100"],
    "locodl/table-2": VALUES,
    "rates": VALUES,
}


@pytest.mark.parametrize("name", sorted(tables.builders()))
def test_tables_stand_alone_and_in_a_paper(name, tmp_path):
    tex.check(render(tables.get(name), "latex"), tmp_path)


def test_every_table_with_letters_has_numbers():
    assert sorted(NUMBERS) == sorted(name for name in tables.builders() if tables.get(name).letters)


@pytest.mark.parametrize("name", sorted(NUMBERS))
def test_tables_with_numbers_stand_alone_and_in_a_paper(name, tmp_path):
    tex.check(render(tables.get(name).at(tables.assignments(NUMBERS[name])), "latex"), tmp_path)


def test_the_halves_of_a_table_with_numbers_are_of_one_width(tmp_path):
    written = render(tables.get("locodl/table-2").at(tables.assignments(VALUES)), "latex")
    tex.check(written, tmp_path)
    assert r"\edef\fedtheorywidth{\ifdim\wd0>\wd2 \the\wd0\else\the\wd2\fi}" in written
    assert written.count(r"\begin{tabular*}{\fedtheorywidth}") == 2
    assert written.index(r"\edef\fedtheorywidth") < written.index(r"\begin{tabular*}")


@pytest.mark.parametrize("path", sorted(PROOFS.glob("*.tex")), ids=lambda path: path.stem)
def test_proofs_stand_alone_and_in_a_paper(path, tmp_path):
    tex.check(path.read_text(encoding="utf-8"), tmp_path)


@pytest.mark.parametrize("name", ["feddcd/theorem-6.1/eq-10", "fedadmm/lemma-C.1", "locodl", "feddcd"])
def test_why_is_a_document_of_one_claim_and_a_report_of_a_paper(name, tmp_path, capsys):
    assert main(["why", name, "--format", "latex"]) == 0
    written = capsys.readouterr().out
    tex.check(written, tmp_path)
    assert r"\textbf{Counterexample.}" in written and "What holds instead" in written


def test_why_has_nothing_to_say_of_what_holds(capsys):
    assert main(["why", "locodl/eq-6", "--format", "latex"]) == 2
    assert "all of these claims hold" in capsys.readouterr().err


def test_heterogeneity_has_its_letter():
    assert names.latex("heterogeneity") == r"{\sigma_{\star}^{2}}"
