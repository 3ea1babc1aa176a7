"""The pages in a real browser: Chromium without a screen, where there is one, driven by playwright."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from atlases import document, entry, pages_of_whole, refuted, whole
from places import ROOT

from verify.evidence import formats
from verify.report.atlas import site

playwright = pytest.importorskip("playwright.sync_api")

#: The claims that fall in the audit that is drawn.
REFUTED = [claim["id"] for claim in whole()["claims"] if claim["verdict"] == "refuted"]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")

KINDS = ("index.html", "papers/feddcd.html", "errata/feddcd.html", "claims/feddcd_theorem-6.1_eq-10.html")
#: Pages with the widest formulas and the longest words.
WIDE = (
    "claims/feddcd_theorem-6.1_eq-10_repaired.html",
    "claims/feddcd_theorem-C.1_parameters.html",
    "claims/fedadmm_lemma-4.1.html",
    "claims/fedadmm_theorem-4.3.html",
    "claims/locodl_table-1_adiana-original.html",
    "papers/fedadmm.html",
    "papers/locodl.html",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def atlas(tmp_path_factory) -> Path:
    """The pages of an audit of all claims."""
    directory = tmp_path_factory.mktemp("atlas")
    for path, text in pages_of_whole().items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text, encoding="utf-8")
    return directory


@pytest.fixture
def opened(browser, atlas) -> Iterator[Any]:
    """Opens a page of the atlas, with what ``new_page`` takes; at the end there was no complaint, and no network."""
    complaints: list[str] = []
    pages = []

    def open_page(path: str, **options: Any) -> Any:
        page = browser.new_page(**options)
        pages.append(page)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith("file:") else complaints.append(request.url))
        page.goto(f"{atlas.as_uri()}/{path}")
        return page

    yield open_page
    for page in pages:
        page.close()
    assert complaints == []


def _shown(page: Any) -> list[str]:
    """The ids of the claims that the overview shows."""
    rows = page.locator(".claims > li:visible > a.id").all_text_contents()
    return [" ".join(row.split()) for row in rows]


@pytest.mark.parametrize("path", KINDS)
def test_a_page_opens(opened, path):
    page = opened(path)
    assert page.locator("h1").count() == 1 and "fedtheory atlas" in page.title()


def test_the_claims_are_filtered_by_the_keyboard(opened):
    page = opened("index.html")
    everything = _shown(page)
    assert len(everything) == len(whole()["claims"])
    page.locator("#v-refuted").focus()
    page.keyboard.press("Space")
    assert _shown(page) == REFUTED
    page.locator("#p-1").focus()
    page.keyboard.press("Space")
    of_paper = [id for id in REFUTED if id.startswith("feddcd/")]
    assert _shown(page) == of_paper
    assert page.locator("output").text_content() == f"{len(of_paper)} of {len(everything)} claims"
    # What is asked for is in the address.
    page.reload()
    assert _shown(page) == of_paper
    page.keyboard.press("Tab")
    for box in ("#v-refuted", "#p-1"):
        page.locator(box).uncheck(force=True)
    page.locator("#q").fill("dual GAP accfeddcd")
    assert _shown(page) == ["feddcd/theorem-6.1/eq-10"]
    # Letters are found by their names too.
    page.locator("#q").fill("alpha-strongly")
    assert "feddcd/block-smoothness" in _shown(page)
    page.locator("#q").fill("nothing of this kind")
    assert _shown(page) == [] and page.locator("output").text_content() == f"0 of {len(everything)} claims"
    page.locator("#q").fill("")
    assert _shown(page) == everything


def test_a_claim_is_reached_from_the_overview_and_left_again(opened):
    page = opened("index.html#verdict=refuted")
    page.locator(".claims > li:visible > a.id").first.click()
    assert page.locator("h1").text_content() == "feddcd/theorem-6.1/eq-10"
    page.locator("a[rel=next]").click()
    assert page.locator("h1").text_content() == "feddcd/theorem-6.1/eq-10/repaired"
    page.locator(".home").click()
    assert page.locator("h1").text_content() == "Is the theorem true?"


def test_the_content_is_one_key_away(opened):
    page = opened("papers/feddcd.html")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.url.endswith("#content")


def test_without_scripts_all_is_read_and_verdicts_are_filtered(browser, opened):
    page = opened("index.html", java_script_enabled=False)
    assert len(_shown(page)) == len(whole()["claims"])
    assert page.locator("#q").is_hidden()
    page.locator("label:has(#v-refuted)").click()
    assert _shown(page) == REFUTED
    page = opened("claims/feddcd_theorem-6.1_eq-10.html", java_script_enabled=False)
    assert page.locator("math").count() > 1 and page.locator("pre.command").first.is_visible()


@pytest.mark.parametrize("path", [*KINDS, *WIDE])
def test_on_a_phone_only_boxes_scroll_sideways(opened, path):
    page = opened(path, viewport={"width": 360, "height": 740})
    page.evaluate("document.querySelectorAll('details').forEach((d) => d.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_wide_formula_is_reached_by_the_keyboard(opened):
    page = opened(WIDE[0], viewport={"width": 360, "height": 740})
    wide = page.locator(".scroll:has(> math[display=block])").first
    assert wide.evaluate("(box) => box.scrollWidth > box.clientWidth")
    assert (wide.get_attribute("tabindex"), wide.get_attribute("aria-label")) == ("0", "statement")
    wide.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("(box) => box.scrollLeft > 0", arg=wide.element_handle())
    page.set_viewport_size({"width": 2400, "height": 740})
    page.wait_for_function(
        "(box) => !box.hasAttribute('tabindex')", arg=page.locator("pre.command").first.element_handle()
    )


def test_a_command_is_copied(opened):
    page = opened("claims/feddcd_theorem-6.1_eq-10.html")
    button = page.locator("button.copy").first
    button.click()
    page.wait_for_function("(b) => ['Copied', 'Selected'].includes(b.textContent)", arg=button.element_handle())


# Accessibility


@pytest.fixture(scope="module")
def axe() -> str:
    """The rules of axe, where npm has put them: in this directory or for all."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node and npm are not here")
    everywhere = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=True).stdout.strip()
    found = subprocess.run(
        [node, "-p", "require.resolve('axe-core/axe.min.js')"],
        cwd=ROOT,
        env={**os.environ, "NODE_PATH": everywhere},
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        pytest.skip("axe-core is not here: npm install -g axe-core")
    return Path(found.stdout.strip()).read_text()


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Path:
    """A few claims, on which the rules are checked fast."""
    directory = tmp_path_factory.mktemp("small")
    kept = ("feddcd/theorem-6.1/eq-10/repaired", "feddcd/gap", "feddcd/eq-1")
    repaired = [found for found in whole()["claims"] if found["id"] in kept]
    audit = document(
        refuted(), *repaired, entry("fedopt/dane/property-b", "ill-posed"), entry("mine/elsewhere", "not-tested")
    )
    site.write(formats.checked_audit(audit), directory)
    return directory


def _violations(page: Any, axe: str) -> list[str]:
    page.evaluate("document.querySelectorAll('details').forEach((d) => d.open = true)")
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    return [f"{rule['id']}: {node['html']}" for rule in found for node in rule["nodes"]]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 360)])
def test_axe_finds_nothing(browser, small, axe, scheme, width):
    for path in (*KINDS, "claims/feddcd_theorem-6.1_eq-10_repaired.html", "claims/mine_elsewhere.html"):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.goto(f"{small.as_uri()}/{path}")
        assert _violations(page, axe) == [], path
        page.close()


def test_axe_finds_what_is_planted(browser, small, axe):
    page = browser.new_page()
    page.goto(f"{small.as_uri()}/index.html")
    page.evaluate("document.querySelector('.lead').style.color = '#ccc'")
    assert any(found.startswith("color-contrast") for found in _violations(page, axe))
    page.close()
