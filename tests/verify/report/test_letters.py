"""What letters mean stands on the page of each claim: those of its statement, and of the formula as printed."""

from __future__ import annotations

import re

import pytest

from fedtheory import claims, plugins
from verify.export import latex_text
from verify.report import letters, placing, statement
from verify.report.names import GREEK

PAPERS = ("feddcd", "fedadmm", "locodl", "fedopt")
OF_PAPERS = [claim for claim in claims.all() if claim.paper in PAPERS]
#: How the words of a setting, a hypothesis or a reading say what a letter is.
_SAYS = r"(?<![A-Za-z_]){0}(?:'? (?:is|are|=)(?! (?:at|any)\b)|, \.\.\., |-(?:strongly|smooth))"
#: Names of methods, which stand for themselves in statements on two of them.
_METHODS = re.compile(r"[ -]|^(?:before|after)$")


@pytest.mark.parametrize("claim", OF_PAPERS, ids=lambda claim: claim.id)
def test_every_letter_of_a_statement_is_explained(claim):
    explained = dict([*statement.definitions(claim), *letters.meanings(claim)])
    words = "; ".join([statement.scope(claim), *(h.text for h in claim.requires), claim.reading])
    unknown = [
        name
        for name in letters.free_letters(claim) - explained.keys()
        if not _METHODS.search(name) and not re.search(_SAYS.format(re.escape(name)), words)
    ]
    assert not unknown


#: Commands of LaTeX that are not letters, in printed formulas once their shapes are taken away.
_NO_LETTERS = frozenset(
    re.findall(
        r"\S+",
        """
        le leq ge geq sum prod max min log ln nabla quad qquad forall in cdot cdots ldots dots sqrt infty langle rangle
    exp top neq ne coloneqq colon lceil rceil lfloor rfloor partial times otimes bigcap cap cup mid to rightarrow succeq
    preceq arg argmin proj tag text mbox where with and if prime equiv approx sim subset subseteq lim operatorname
    stackrel displaystyle big Big bigl bigr triangle hess Omega O E P I R d T i j""",
    )
)


@pytest.mark.parametrize("claim", [c for c in OF_PAPERS if c.formula], ids=lambda claim: claim.id)
def test_every_letter_of_a_printed_formula_occurs_in_the_words(claim):
    explained = [*statement.definitions(claim), *letters.meanings(claim)]
    words = " ".join([statement.scope(claim), *(h.text for h in claim.requires), claim.reading, claim.gist])
    known = set(re.findall(r"[A-Za-z]+", words + " " + " ".join(f"{name} {meaning}" for name, meaning in explained)))
    # Claims spell a tolerance "eps".
    known |= {"epsilon"} & {f"{name}ilon" for name in known}
    found = set(re.findall(r"[A-Za-z]+", letters.plain(claim.formula))) - _NO_LETTERS
    unknown = {name for name in found if len(name) == 1 or name in GREEK} - known
    assert not unknown


def test_longest_beginning_decides():
    known = {"": {"kappa": "the rate", "n": "clients"}, "theorem-7.1": {"kappa": "beta/alpha"}}
    assert letters.of_claim(known, "theorem-7.1/eq-14") == {"kappa": "beta/alpha", "n": "clients"}
    assert letters.of_claim(known, "theorem-5.2") == {"kappa": "the rate", "n": "clients"}


def test_letters_of_papers_begin_ids():
    for name in PAPERS:
        ids = [claim.id.partition("/")[2] for claim in plugins.every()[name].claims]
        for start in plugins.every()[name].letters:
            assert any(id.startswith(start) for id in ids), start


def test_names_are_formulas():
    written = {"L_max": r"L_{\mathrm{max}}", "ell_alpha": r"\ell_{\alpha}", "x_hat_i": r"\hat{x}_i", "k_0": "k_0"}
    assert {name: letters.latex(name) for name in written} == written


def test_printed_formulas_are_searched_for_letters_as_claims_write_them():
    assert letters.plain(r"\frac{\mu_{\min}}{L_{\max}^{2}}\mathbf{x}^{\star}").split() == [
        "{",
        "mu_min",
        "}{L_max^2",
        "}x^*",
    ]
    assert letters.plain(r"\sum_{i=1}^{n}u_{i}^{0}").endswith("^n u_i^0 ")


def test_letters_of_the_theorem_of_inexact_blocks():
    known = dict(letters.meanings(claims.get("feddcd/theorem-C.1")))
    assert known["eta"].startswith("the step length") and known["delta"].startswith("(1 - kappa)/2")
    assert "min{1/4" in known["kappa"] and known["L_max"] == "the largest of the L_i"


def test_the_step_of_a_proof_is_written_out():
    (step,) = latex_text.step(claims.get("locodl/theorem-3.1/one-step"))
    assert r"d_{i} = C_{i}(\hat{x}_{i} - \hat{y})" in step and "with probability" in step
    assert not list(latex_text.step(claims.get("locodl/theorem-3.1/tau")))


@pytest.mark.parametrize(
    ("text", "by_hand", "expected"),
    [
        ("d=1, level=0", [], "d=1"),
        ("sizes=(1,), steps=2, regulariser=1", ["m = 2", "mu = 1"], "one node with one example"),
        ("sizes=(3,)", [], "one node with 3 examples"),
        ("sizes=(1, 2)", [], "nodes with 1, 2 examples"),
        ("d=1, begins=0, i=0", [], "d=1, k is not in K, i = 1"),
    ],
)
def test_names_of_recipes_are_words(text, by_hand, expected):
    assert placing.in_words(placing.without(text, by_hand)) == expected
