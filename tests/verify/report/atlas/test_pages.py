"""The pages of an audit, without a browser: links resolve, all is escaped, the same audit gives the same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from atlases import CERTIFICATE, COUNTEREXAMPLE, document, entry, outcome, pages_of_whole, refuted, whole
from places import ROOT

from fedtheory import claims
from fedtheory.naming import file_name
from verify import results
from verify.base.verdict import Verdict
from verify.cli import main
from verify.evidence import counterexamples, formats
from verify.evidence.counterexamples import Counterexample
from verify.report.atlas import cards, mathml, site
from verify.report.atlas.mathml import typeset

#: Elements of HTML that have no end.
VOID = {"meta", "input", "br", "wbr", "link", "img", "hr"}
#: Elements within a line: what is before them and after them is not apart.
INLINE = {"sub", "sup", "wbr", "span", "a", "code", "mark", "small", "strong"}
#: Elements by which a page loads something else than itself.
LOADING = {"img", "link", "iframe", "object", "embed", "source", "video", "audio", "base"}


class Page(HTMLParser):
    """A page's elements; ``errors``: where they are not nested as they must be."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.errors: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        self.errors += self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names):
            self.errors.append(f"{tag} has an attribute twice")
        self.elements.append((tag, dict(attrs)))
        self.text += "" if tag in INLINE else " "
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.errors.append(f"</{tag}> closes something else")
        self.text += "" if tag in INLINE else " "

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] not in ("script", "style"):
            self.text += data

    def values(self, name: str) -> Iterator[str]:
        return (attributes[name] or "" for _, attributes in self.elements if name in attributes)


#: All tests read the same pages of all claims.
read = cache(Page)


def drawn(audit: dict[str, Any]) -> dict[str, str]:
    return dict(site.pages(formats.checked_audit(audit)))


@pytest.fixture(scope="module")
def atlas() -> dict[str, str]:
    return pages_of_whole()


def words(page: str) -> str:
    """What is read on a page, with single blanks."""
    return " ".join(Page(page).text.split())


# All pages


def test_every_claim_has_a_page_and_the_overview_is_last(atlas):
    assert list(atlas)[-1] == "index.html"
    assert sum(path.startswith("claims/") for path in atlas) == len(claims.all()) + 1
    assert {path for path in atlas if path.startswith("errata/")} == {
        "errata/feddcd.html",
        "errata/locodl.html",
        "errata/fedopt.html",
        "errata/mine.html",
    }


def test_pages_are_nested_as_they_must_be_and_ids_are_single(atlas):
    for path, text in atlas.items():
        if path.endswith(".html"):
            page = read(text)
            assert page.errors == [], path
            ids = list(page.values("id"))
            assert len(set(ids)) == len(ids), path
            assert text.startswith('<!DOCTYPE html>\n<html lang="en-GB">')


def dangling(atlas: dict[str, str]) -> list[str]:
    """The links that lead nowhere: out of the atlas, to a page or to a place in a page that is not there."""
    anchors = {path: set(read(text).values("id")) for path, text in atlas.items() if path.endswith(".html")}
    found = []
    for path in anchors:
        for href in read(atlas[path]).values("href"):
            link = urlsplit(href)
            target = _joined(path, unquote(link.path)) if link.path else path
            if (
                link.scheme
                or link.netloc
                or target not in atlas
                or (link.fragment and link.fragment not in anchors[target])
            ):
                found.append(href)
    return found


def test_every_link_resolves(atlas):
    assert sum(len(list(read(text).values("href"))) for text in atlas.values()) > 1000
    assert dangling(atlas) == []


def test_what_is_planted_in_a_page_is_found():
    planted = {"a/b.html": '<a href="../c.html#x"><a href="#y"><a href="d.html"><a href="//e.f">', "c.html": "<p id=x>"}
    assert dangling(planted) == ["#y", "d.html", "//e.f"]
    assert Page("<p><b></p>").errors and Page("<p>").errors and Page("<p a=1 a=2></p>").errors


def _joined(path: str, relative: str) -> str:
    parts: list[str] = []
    for part in (PurePosixPath(path).parent / relative).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def test_a_page_loads_nothing(atlas):
    for path, text in atlas.items():
        if path.endswith(".html"):
            page = read(text)
            assert not {tag for tag, _ in page.elements} & LOADING, path
            assert not list(page.values("src")) and "url(" not in text and "@import" not in text
            assert "default-src &#39;none&#39;" in text


def test_the_same_audit_gives_the_same_bytes(atlas):
    assert drawn(whole()) == atlas


def test_every_statement_is_typeset():
    for claim in claims.all():
        (card,) = cards.Atlas(formats.checked_audit(document(entry(claim.id)))).cards
        assert card.prose or card.formulas, claim.id
        for formula in card.formulas:
            assert formula.startswith("<math") and "\\" not in formula, (claim.id, formula)
        for name, _ in card.meanings:
            assert name.startswith("<math") and "\\" not in name, (claim.id, name)


# What a page says


def test_the_page_of_a_claim_that_fell(atlas):
    text = atlas["claims/feddcd_theorem-6.1_eq-10.html"]
    said = words(text)
    for part in (
        "Statement, and what holds instead",
        "Sense false as meant Origin printed printed in the paper Where Theorem 6.1",
        "Refutation By hand, and why: fedtheory why feddcd/theorem-6.1/eq-10 Computed again: fedtheory replay",
        "As an object: fedtheory export feddcd/theorem-6.1/eq-10",
        "Instances 12 Methods search",
        "Statement refuted As printed Theorem 6.1",
        "As read",
        "What holds instead certified",
        "the same with the factor that the Lyapunov function",
        "left = 64/729, about 0.087791495",
        "right = 1/12, about 0.083333333",
        "Claimed: left ≤ right, here after 1 round. That is false here: left is 1.05 times right.",
        "fedtheory replay counterexamples/feddcd_theorem-6.1_eq-10.json",
        "Assumption 3.4: 2 ≤ τ ≤ N",
        "T = 0 is trivial",
        "Margin -0.05 over 13 instances",
        "worst cases not run: refuted by the method",
    ):
        assert part in said, part
    assert 'class="changed"' in text
    example = Counterexample.from_json(json.loads(atlas["counterexamples/feddcd_theorem-6.1_eq-10.json"]))
    assert example.to_json() == COUNTEREXAMPLE


def test_the_page_of_a_claim_that_is_certified(atlas):
    said = words(atlas["claims/feddcd_theorem-6.1_eq-10_repaired.html"])
    for part in (
        "Proof fedtheory export feddcd/theorem-6.1/eq-10/repaired",
        "Instances 12 Methods worst cases",
        "1 certificate,",
        "α = 1/16, β = 1",
        "V ≤ c V: bound 8/9, 2 multipliers",
        "Left open: β=2: too large",
    ):
        assert part in said, part
    assert "Repairs feddcd/theorem-6.1/eq-10 refuted" in said


def test_the_errata_of_a_paper(atlas):
    said = words(atlas["errata/feddcd.html"])
    for part in (
        "Errata Fan, Fang, Friedlander: A dual approach",
        "that were tested 2 do not hold",
        "False as meant Theorem 6.1",
        "1. Theorem 6.1 refuted",
        "False only if read literally 2. Lemma B.8 refuted",
        "What is meant: feddcd/lemma-B.8/rate/repaired supported",
        "What holds instead certified",
        "left = 64/729",
    ):
        assert part in said, part
    said = words(atlas["errata/fedopt.html"])
    assert "1. Section 3.4 ill-posed" in said and "Why it does not hold a note" in said
    assert "tested 1 does not hold" in said and "False, but not printed 2. Section 3.1 refuted" in said
    assert "Observed: not printed: an addition of ours." in said


def test_errata_are_ordered_by_the_fault(monkeypatch):
    first, other, third = (claims.get(id) for id in ("locodl/eq-6", "locodl/eq-13", "locodl/eq-15"))
    known = (replace(first, root="a <sign>"), replace(other, root=""), replace(third, root="a <sign>"))
    monkeypatch.setattr(claims, "all", lambda: known)
    page = drawn(document(*(entry(claim.id, "refuted") for claim in known)))["errata/locodl.html"]
    said = words(page)
    assert said.count("One fault, 2 statements: a <sign>") == 2
    order = re.findall(r"All the evidence: locodl/<wbr>(eq-\d+)", page)
    assert order == ["eq-6", "eq-15", "eq-13"]


def test_a_claim_is_cited_and_a_wrong_verdict_reported():
    audit = formats.checked_audit(document(refuted(), date="2026-11-28", commit="abc"))
    at = site.Place("https://example.org/atlas/", "../index.html", "https://example.org/code")
    page = dict(site.pages(audit, at))["claims/feddcd_theorem-6.1_eq-10.html"]
    said = words(page)
    assert "@misc{fedtheory:feddcd_theorem-6.1_eq-10, title = {feddcd/theorem-6.1/eq-10: refuted}," in said
    assert "year = {2026}, note = {fedtheory 1.0, commit abc, 2026-11-28}" in said
    assert "url = {https://example.org/atlas/claims/feddcd_theorem-6.1_eq-10.html}" in said
    (report,) = (href for href in Page(page).values("href") if "issues/new" in href)
    assert urlsplit(report).query.endswith("&claim=feddcd%2Ftheorem-6.1%2Feq-10")
    assert (ROOT / ".github" / "ISSUE_TEMPLATE" / "wrong-verdict.yml").exists()
    assert "../../index.html" in Page(page).values("href")
    # By themselves the pages link to nothing outside.
    assert "Report it to the maintainers" in words(drawn(audit)["claims/feddcd_theorem-6.1_eq-10.html"])


def test_what_the_paper_prints_stands_above_what_is_tested(atlas):
    for id in ("feddcd/theorem-6.1/eq-10", "locodl/uplink", "feddcd/lemma-B.8/rate"):
        text = atlas[f"claims/{file_name(id)}.html"]
        printed = str(mathml.formula(claims.get(id).formula))
        assert text.count(printed) == 1 and text.index(">As printed") < text.index(printed) < text.index(">As read<")
    said = words(atlas["claims/locodl_uplink.html"])
    assert "This is what is meant. What is printed, read literally: locodl/uplink/literal refuted" in said
    said = words(atlas["claims/fedopt_fsvrg_property-b.html"])
    assert "Why it fails The paper does not say it" in said and "printed proof fails" not in said
    assert (
        "As printed" not in said
        and "Sense false, but not printed Origin observed not printed: an addition of ours" in said
    )
    assert "As printed" not in words(atlas["claims/mine_elsewhere.html"])


def test_the_overview_counts_what_falls_apart(atlas):
    said = words(atlas["index.html"])
    assert "Errata of feddcd: 1 false as meant; 1 false only if read literally" in said
    assert "Errata of locodl: 1 false only if read literally" in said
    assert "Errata of fedopt: 1 ill-posed; 1 false, but ours" in said
    assert "Errata of mine: 1 false" in said


def test_a_claim_that_the_package_does_not_know(atlas):
    said = words(atlas["claims/mine_elsewhere.html"])
    assert "which was not loaded here" in said and "left = 64/729" in said
    assert "fedtheory replay" not in said and "counterexamples/mine_elsewhere.json" not in atlas
    assert "mine" in words(atlas["index.html"])


def test_what_a_proof_rests_on_and_where_it_fails(monkeypatch):
    base, middle, above = (claims.get(id) for id in ("locodl/eq-6", "locodl/eq-13", "locodl/eq-15"))
    linked = (
        replace(base, flaw="the sum <is> over i", uses=()),
        replace(middle, flaw="", uses=(base.id,)),
        replace(above, flaw="", uses=(middle.id,)),
    )
    monkeypatch.setattr(claims, "all", lambda: linked)
    fallen = entry(base.id, "refuted", counterexample=COUNTEREXAMPLE), entry(middle.id, "refuted")
    found = drawn(document(*fallen, entry(above.id, "refuted")))
    below = words(found["claims/locodl_eq-6.html"])
    assert "Where the printed proof fails the sum <is> over i" in below
    assert "Printed proofs that use it, and so are in doubt locodl/eq-13 refuted" in below
    over = words(found["claims/locodl_eq-15.html"])
    assert "It relies on what is itself false: locodl/eq-13 refuted" in over
    assert "; through locodl/eq-13 the sum <is> over i" in over
    assert "Its printed proof uses locodl/eq-13 refuted" in over
    errata = words(found["errata/locodl.html"])
    assert "Where the proof fails the sum <is> over i" in errata and "; through locodl/eq-13 the sum <is>" in errata
    holding = words(drawn(document(*fallen, entry(above.id, "proved")))["claims/locodl_eq-15.html"])
    assert "So the printed proof fails as it stands" in holding
    assert "Where the printed proof fails" not in holding


def test_of_a_setting_only_the_words_that_change_are_marked():
    page = drawn(document(entry("feddcd/theorem-5.2/eq-8", "refuted"), entry("feddcd/theorem-5.2/eq-8/repaired")))
    marked = re.findall("<mark>(.*?)</mark>", page["errata/feddcd.html"])
    assert marked and all("oracles" not in part for part in marked)
    assert "0" in marked and any("∇f" in part for part in marked)


def test_an_audit_that_is_not_complete_says_so():
    said = words(drawn(document(refuted(), missing=["feddcd/gap", "feddcd/eq-1"]))["index.html"])
    assert "This audit is incomplete: 2 claims are missing" in said
    assert "not in this audit" in words(drawn(document(refuted()))["claims/feddcd_theorem-6.1_eq-10.html"])


def test_a_long_list_of_margins_is_folded_away():
    margins = ", ".join(f"T={t}: 0.{t:03}" for t in range(100))
    found = drawn(document(entry("locodl/eq-6", note=f"bounded; margin at {margins}; sampled at level 1e-08")))
    said = words(found["claims/locodl_eq-6.html"])
    assert "bounded; sampled at level 1e-08 Margins after T rounds T=0: 0.000, T=1: 0.001" in said


# Data are not trusted


EVIL = "<script>alert(1)</script>\"'&{{ 1234*5678 }}"


def test_everything_from_the_data_is_escaped():
    example = {**COUNTEREXAMPLE, "text": EVIL, "part": EVIL}
    steps = {EVIL: {"bound": "1", "multipliers": {EVIL: "1"}, "squares": []}}
    certificate = {**CERTIFICATE, "certificate": EVIL, "letters": {EVIL: EVIL}, "text": EVIL, "steps": steps}
    found = outcome(EVIL, note=EVIL, covers=EVIL, left_open=[EVIL + "!"], verdict="refuted", certificates=[certificate])
    wrong = entry(
        EVIL,
        "refuted",
        paper=EVIL,
        where=EVIL,
        kind=EVIL,
        note=EVIL,
        methods=[EVIL],
        outcomes=[found],
        counterexample=example,
    )
    pages = drawn(document(wrong, entry("locodl/eq-6", note=EVIL), version=EVIL, budget=EVIL))
    for path, text in pages.items():
        assert re.fullmatch(r"[A-Za-z0-9_./-]+", path) and ".." not in path
        page = Page(text)
        assert page.errors == []
        assert [tag for tag, _ in page.elements].count("script") == 1
        assert "alert(1)</script>" not in text and "{{ 1234*5678 }}" in page.text and "7006652" not in page.text
    assert sum("<script>alert(1)" in Page(text).text for text in pages.values()) == len(pages)


@pytest.mark.parametrize(
    "wrong",
    [
        {"recipe": {EVIL: 1}},
        {"recipe": {"x": EVIL}},
        {"point": [EVIL]},
        {"left": EVIL},
        {"right": EVIL},
        {"relation": EVIL},
    ],
    ids=str,
)
def test_what_is_no_number_and_no_letter_is_not_drawn(wrong):
    with pytest.raises(ValueError, match=re.escape(f"claims[0].counterexample.{next(iter(wrong))}")):
        formats.checked_audit(document(entry("a/b", counterexample={**COUNTEREXAMPLE, **wrong})))


def test_characters_that_act_are_written_out():
    text = drawn(document(entry("locodl/eq-6", note="a\x1b[2Jb\x00\u202e")))["claims/locodl_eq-6.html"]
    assert r"a\x1b[2Jb\x00\u202e" in Page(text).text and "\x1b" not in text


@pytest.mark.parametrize(
    "ids",
    [
        (
            "../../etc/passwd",
            "a/../b",
            ".",
            "..",
            "a_b",
            "a/b",
            "A/b",
            "a b",
            "a?b#c",
            "%2e%2e",
            "ß",
            "x" * 300,
            "x" * 301,
        ),
        ("con/aux", "mine/step", "mine step", "mine\nstep"),
    ],
)
def test_names_of_pages_are_safe_and_differ(ids):
    names = [file_name(id) for id in ids]
    assert len(set(names)) == len(names)
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", name) and len(name) < 150


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "this is not a stored audit: an object was expected, got []"),
        (document() | {"claims": 3}, "claims: a list was expected, got 3"),
        (document({"verdict": "proved"}), "claims[0]: id, paper, "),
        (
            document() | {"format": "fedtheory-audit-2"},
            "format: 'fedtheory-audit-1' was expected, got 'fedtheory-audit-2'",
        ),
        (document(entry("")), "claims[0].id: a name was expected, got ''"),
        (document(entry("a/b", "true")), "claims[0].verdict: a verdict was expected, got 'true'"),
        (document(entry("a/b", "open")), "claims[0].verdict: a verdict was expected, got 'open'"),
        (document(entry("a/b", margin="0")), "claims[0].margin: a number or null was expected, got '0'"),
        (document(entry("a/b"), entry("a/b")), "the claim 'a/b' is there twice"),
        (document(entry("a/b", counterexample={"left": 1})), "claims[0].counterexample: claim, changes, "),
        (document(entry("a/b", unknown=1)), "claims[0]: unknown field 'unknown'"),
        (document(entry("a/b", outcomes=[outcome(1)])), "claims[0].outcomes[0].method: a text was expected"),
    ],
)
def test_what_is_no_audit_is_one_line_and_status_2(tmp_path, capsys, data, message):
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(data))
    assert main(["atlas", str(path), "--html", str(tmp_path / "pages")]) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1 and "Traceback" not in err
    assert not (tmp_path / "pages").exists()


# The parts


def test_what_differs_between_two_formulas_is_marked():
    printed, repaired = mathml.compared([r"x \le \frac{1}{\beta}", "y = 1"], [r"x \le \frac{1}{\alpha}", "y = 1", "z"])
    assert re.findall(r'<(\w+) class="changed">(.)', printed[0]) == [("mi", "β")]
    assert re.findall(r'<(\w+) class="changed">(.)', repaired[0]) == [("mi", "α")]
    assert "changed" not in printed[1] + repaired[1] and "changed" in repaired[2]
    (same,), _ = mathml.compared(["x^2"], ["x^2"])
    assert "changed" not in same
    (less,), (more,) = mathml.compared(["a + b"], ["a + b + c"])
    assert "changed" not in less and more.count("changed") == 2


def test_latex_that_is_not_understood_is_shown_as_it_is():
    assert mathml.formula("a_b_c<d>") == "<code>a_b_c&lt;d&gt;</code>"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("norm(y_i*) <= zeta", "norm(y<sub>i</sub><sup>*</sup>) ≤ ζ"),
        ("w^{tau_{k+1}} -> 0", "w<sup>τ<sub>k+1</sub></sup> → 0"),
        ("|w_K - w*|^2 and 10^6", "|w<sub>K</sub> − w<sup>*</sup>|<sup>2</sup> and 10<sup>6</sup>"),
        ("grad f(w) - <w,y>", "∇f(w) − ⟨w,y⟩"),
        ("x_hat, mu_min; eps_i^0", "x\u0302, μ<sub>min</sub>; ε<sub>i</sub><sup>0</sup>"),
        ("a < b > c & sub-linear, 3.1-3.2", "a &lt; b &gt; c &amp; sub-linear, 3.1–3.2"),
        ("eqs. (59)-(67), x-1", "eqs. (59)–(67), x-1"),
        ("grad f_i*(y), L*(x)", "∇f<sub>i</sub><sup>*</sup>(y), L·(x)"),
        ("proj_{C_I}(v), max_i(r_i)", "proj<sub>C<sub>I</sub></sub>(v), max<sub>i</sub>(r<sub>i</sub>)"),
        ("A_(t+1), N^(1/2), x <- varepsilon", "A<sub>t+1</sub>, N<sup>1/2</sup>, x ← ε"),
        ("second_moments of alphabets in mini-batches", "second moments of alphabets in mini-batches"),
        ("sum_of_drifts, x_hat_i, d_bar", "sum of drifts, x\u0302<sub>i</sub>, d\u0304"),
        ("2*|Dbar_i|^2, Lt^k", "2·|Δw\u0304<sub>i</sub>|<sup>2</sup>, L\u0303<sup>k</sup>"),
        ("|grad_f(w*)|, ~grad h, f~_i", "|∇f(w<sup>*</sup>)|, ∇\u0303h, f\u0303<sub>i</sub>"),
        ("w^{tau_{pk_0}}, slope_i <- 0", "w<sup>τ<sub>pk<sub>0</sub></sub></sup>, slope<sub>i</sub> ← 0"),
    ],
)
def test_letters_of_formulas_in_sentences(text, expected):
    assert str(typeset(text)) == expected


def test_every_verdict_has_a_meaning_and_a_colour():
    style = (Path(site.__file__).parent / "templates" / "atlas.css").read_text()
    assert set(site.MEANINGS) == set(Verdict) - {Verdict.OPEN}
    for verdict in Verdict:
        assert style.count(f"--{verdict}:") == 2 and f".v-{verdict}{{" in style


# The commands


def test_help_has_an_example_and_the_exit_status(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["atlas", "--help"])
    text = capsys.readouterr().out
    assert "  fedtheory atlas " in text and "exit status: 0 success; 2 bad input" in text
    assert max(map(len, text[: text.index("example")].splitlines())) <= 80


def test_a_stored_audit_is_drawn(tmp_path, capsys):
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(document(refuted())))
    assert main(["atlas", str(path), "--html", str(tmp_path / "deep" / "pages")]) == 0
    out = capsys.readouterr().out.strip()
    assert out == str(tmp_path / "deep" / "pages" / "index.html") and Path(out).is_file()
    files = sorted(p.relative_to(tmp_path / "deep" / "pages").as_posix() for p in Path(out).parent.rglob("*.*"))
    assert files == [
        "claims/feddcd_theorem-6.1_eq-10.html",
        "counterexamples/feddcd_theorem-6.1_eq-10.json",
        "errata/feddcd.html",
        "index.html",
        "papers/feddcd.html",
    ]
    assert main(["replay", str(Path(out).parent / "counterexamples" / "feddcd_theorem-6.1_eq-10.json")]) == 0


def test_the_carried_results_are_drawn_where_no_audit_is_named(tmp_path):
    assert main(["atlas", "--out", str(tmp_path)]) == 0
    found = {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.rglob("*.*")}
    assert sum(path.startswith("claims/") for path in found) == len(claims.all())
    assert dangling(found) == []
    shipped = results.shipped()
    assert f"seed {shipped.seed}, budget {shipped.budget}, {shipped.date}, commit " in words(found["index.html"])
    for id in shipped.entries:
        assert f"Verdict {shipped.verdict(id)} " in words(found[f"claims/{file_name(id)}.html"])
    # Every refuted statement can be computed again from what is beside the pages.
    fallen = [id for id in shipped.entries if shipped.verdict(id) == "refuted"]
    for id in fallen:
        assert counterexamples.load(tmp_path / "counterexamples" / f"{file_name(id)}.json").claim.id == id


def test_an_audit_draws_its_pages(tmp_path, capsys):
    arguments = ("--jobs", "1", "--out", str(tmp_path / "out"), "--html", str(tmp_path / "pages"))
    assert main(["audit", "locodl/regimes", *arguments]) == 0
    assert str(tmp_path / "pages" / "index.html") in capsys.readouterr().out
    page = (tmp_path / "pages" / "claims" / "locodl_regimes.html").read_text()
    assert "proved" in words(page)
    assert main(["atlas", str(tmp_path / "out" / "audit.json"), "--html", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / "claims" / "locodl_regimes.html").read_text() == page


def test_pages_that_cannot_be_written_are_one_line_and_status_2(tmp_path, capsys):
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(document(refuted())))
    assert main(["atlas", str(path), "--html", str(path)]) == 2
    assert main(["audit", "locodl/eq-6", "--out", str(tmp_path / "out"), "--html", str(path)]) == 2
    assert capsys.readouterr().err.count("\n") == 2
