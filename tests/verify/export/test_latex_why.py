"""Reports of claims that do not hold, as a referee reads them."""

import re

import pytest

from fedtheory import claims
from verify.evidence.record import Evidence
from verify.export import latex_text, latex_why
from verify.results import PROOFS, shipped

STORED = sorted(PROOFS.glob("*.tex"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("u = e_I (x) e_d", r"\(u = e_{I} \otimes e_{d}\)"),
        ("x in R^(Nd)", r"\(x\) in \(R^{Nd}\)"),
        ("Assumptions 3.1-3.2, eqs. (59)-(67)", "Assumptions 3.1--3.2, eqs. (59)--(67)"),
        ("sigma in [1, K]", r"\(\sigma \) in \([1, K]\)"),
        ("0 < gamma < 2/L", r"\(0 < \gamma  < 2/L\)"),
        ("claimed 1 <= 1/9, which is false", r"claimed \(1 \le 1/9\), which is false"),
        ("claimed 4 == 3", r"claimed \(4 = 3\)"),
        ("(1 - delta)/4-inexact and L-smooth", r"\((1 - \delta )/4\)-inexact and \(L\)-smooth"),
        ("slope_i <- -g, |~grad h|", r"\(\mathrm{slope}_{i} \leftarrow -g\), \(|\tilde{\nabla}  h|\)"),
        ("step: the function step (own.py, line 3)", r"step: the function \texttt{step} (own.py, line 3)"),
    ],
)
def test_lines_of_a_report_are_set_as_a_paper_sets_them(text, expected):
    assert latex_text.line(text) == expected


def test_names_of_a_claim_are_formulas_in_the_lines_of_its_report():
    known = {"idle": r"\mathrm{idle}", "rate": r"\mathrm{rate}", "D_next": "D^{+}", "E[D_next]": r"\mathbb{E}[D^{+}]"}
    assert latex_text.line("left: idle*zeta^2", known) == r"left: \(\mathrm{idle}\, \zeta^{2}\)"
    assert latex_text.line("left: rate^200 = 1/2", known) == r"left: \(\mathrm{rate}^{200} = 1/2\)"
    assert latex_text.line("left: E[D_next] = 1", known).startswith(r"left: \(\mathbb{E}[D^{+}] = 1")


def shipped_report(paper):
    results = shipped()
    ids = [id for id in results.entries if id.startswith(f"{paper}/")]
    records = [Evidence.from_json(claims.get(id), results.entries[id]) for id in ids]
    return latex_why.document(records, results.verdicts)


@pytest.mark.parametrize("paper", ["feddcd", "fedadmm"])
def test_a_report_begins_with_the_most_serious_faults_and_uses_no_words_of_insiders(paper):
    report = shipped_report(paper)
    modes = re.findall(r"\\section\*\{(False as meant|Ill-posed|False, but not printed|False only if read)", report)
    order = ["False as meant", "Ill-posed", "False, but not printed", "False only if read"]
    assert modes == [mode for mode in order if mode in modes] and len(modes) > 2
    words = re.sub(r"\\texttt\{[^}]*\}|What is wrong:.*", "", report)
    for insider in ("bernoulli(", "worst-case(", "scale=", "gist", "recipe", r"\textbar", r"argmin\_"):
        assert not re.search(rf"(?<![a-z]){re.escape(insider)}", words), insider
    # Letters have one line, and a name one meaning.
    for claim in report.split(r"\subsection*")[1:]:
        items = re.findall(r"^\\item (.*)$", claim, re.M)
        assert len(items) == len(set(items))


def test_bounds_that_a_proof_does_not_use_have_no_name():
    for path in STORED:
        text = path.read_text(encoding="utf-8")
        for name in re.findall(r"\\delta_\{\d+\}", text):
            assert text.count(name) > 1, (path.name, name)
