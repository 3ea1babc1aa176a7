"""The pages of an atlas, as texts: nothing here reads or writes a file but the templates."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from shlex import quote
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from verify.base.verdict import Verdict
from verify.evidence import formats
from verify.report.atlas import figures
from verify.report.atlas.cards import Atlas, Card
from verify.report.atlas.mathml import typeset
from verify.report.failures import FAILED
from verify.report.outcomes import LISTED, short
from verify.results import files

#: The meaning of a verdict, for readers of the pages.
MEANINGS: Mapping[Verdict, str] = {
    Verdict.PROVED: "true for all values of its constants: by symbolic execution of the code, by multipliers in closed "
    "form, or by a decision procedure over the reals",
    Verdict.CERTIFIED: "true over the whole class of functions, in all dimensions, at the parameters that it fixes: "
    "rational multipliers prove it, and are stored",
    Verdict.SUPPORTED: "a search that finds planted errors found no violation; read the margin and the number of "
    "instances",
    Verdict.REFUTED: "there is a counterexample, recomputed in exact fractions or in rigorous intervals",
    Verdict.ILL_POSED: "the statement uses something undefined, or one of its sides is not a real number where it "
    "should hold",
    Verdict.NOT_TESTED: "with the reason: a cited result, or an experiment that was not seen in full on data",
}
_RELATIONS = {"<=": "≤", "<": "<", "==": "="}
#: Characters of a list of margins that are shown at once.
_LONG = 200


@dataclass(frozen=True)
class Place:
    """The addresses of the pages: their own ``address`` in the web, the ``home`` page that they belong to, and the
    ``repository`` in which a wrong verdict is reported; "" if there is none.
    """

    address: str = ""
    home: str = ""
    repository: str = ""


def pages(audit: Mapping[str, Any], at: Place | None = None) -> Iterator[tuple[str, str]]:
    """Yield (path, text) of each file; the overview last, so that its links lead to existing pages. The same audit
    gives the same texts.
    """
    atlas, _render = Atlas(audit), partial(_page, at or Place())
    for paper in atlas.papers:
        for before, card, after in zip((None, *paper.cards), paper.cards, (*paper.cards[1:], None), strict=False):
            more = {"card": card, "paper": paper, "before": before, "after": after, "here": paper.name}
            if card.replayable and card.example is not None:
                yield f"counterexamples/{card.slug}.json", formats.text("counterexample", card.example)
            if card.proof is not None:
                yield f"proofs/{card.slug}.tex", card.proof
            yield f"claims/{card.slug}.html", _render("claim.html", atlas, "../", **more)
        if paper.failures:
            yield f"errata/{paper.slug}.html", _render("errata.html", atlas, "../", paper=paper, here=paper.name)
        yield f"papers/{paper.slug}.html", _render("paper.html", atlas, "../", paper=paper, here=paper.name)
    yield "index.html", _render("index.html", atlas, "", here="")


def write(audit: Mapping[str, Any], directory: Path, at: Place | None = None) -> Path:
    """Write the pages into a directory, each file completely or not at all. Return the path of the overview.

    Raise ``OSError`` with the file if one cannot be written.
    """
    for path, text in pages(audit, at):
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        files.write(target, text)
    return directory / "index.html"


def _page(at: Place, template: str, atlas: Atlas, root: str, **more: Any) -> str:
    found = _templates().get_template(template).render(at=at, atlas=atlas, root=root, **more)
    return _squeezed(found)


def _squeezed(text: str) -> str:
    """Return the text without the empty lines of blocks that are left out."""
    return re.sub(r"\n\s*\n+", "\n", text)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("verify.report.atlas"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["typeset"] = typeset
    script = _squeezed(environment.get_template("atlas.js").render())
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    environment.globals.update(
        # Pages load nothing, from nowhere, and run nothing but their own script.
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'",
        script=Markup(script),
        meanings=MEANINGS,
        failed=FAILED,
        note=_note,
        number=figures.number,
        citation=_citation,
        report=_report,
        quote=quote,
        paper_bar=figures.shares,
        relation=lambda text: _RELATIONS.get(text, text),
        short=short,
    )
    return environment


def _citation(card: Card, at: Place) -> str:
    """Return a BibTeX entry with the verdict and the version of the code."""
    audit = card.atlas.audit
    provenance = (
        f"fedtheory {audit['version']}",
        f"commit {audit['commit']}" if audit.get("commit") else "",
        audit.get("date"),
    )
    fields = {
        "title": f"{card.id}: {card.verdict}",
        "author": "{The fedtheory authors}",
        "year": str(audit.get("date") or "")[:4],
        "note": ", ".join(filter(None, provenance)),
        "url": f"{at.address.rstrip('/')}/claims/{card.slug}.html" if at.address else "",
    }
    lines = (f"  {name} = {{{value}}}," for name, value in fields.items() if value)
    return "\n".join((f"@misc{{fedtheory:{card.slug},", *lines, "}"))


def _report(card: Card, at: Place) -> str:
    """Return the address of the form in which a wrong verdict is reported, with the claim filled in."""
    about = {"template": "wrong-verdict.yml", "title": f"{card.id} is {card.verdict}", "claim": card.id}
    return f"{at.repository.rstrip('/')}/issues/new?{urlencode(about)}"


def _note(text: str) -> Markup:
    """Return a note as a paragraph; long lists of margins are folded away."""
    found = LISTED.fullmatch(text)
    if found is None or len(found["list"]) < _LONG:
        return Markup("<p>{}</p>").format(typeset(text))
    kept = "; ".join(part.strip("; ") for part in (found["before"], found["after"] or "") if part.strip("; "))
    return Markup("<p>{}</p><details><summary>Margins after T rounds</summary><p>{}</p></details>").format(
        typeset(kept), found["list"].removeprefix("margin at ")
    )
