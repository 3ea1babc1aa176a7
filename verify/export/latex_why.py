"""Why claims do not hold, as a document in LaTeX: for an author, or a referee's report of a paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from fedtheory import claims, plugins
from fedtheory.claims import Claim
from fedtheory.tables.rendering import by_itself, fitted
from verify.evidence.record import Evidence
from verify.export.latex_layout import PARAGRAPHS, listed
from verify.export.latex_words import identifier, mathematical, plain
from verify.report import by_hand, failures, statement, terminal, why

#: The packages of the document.
PACKAGES = ("amsmath", "amssymb", "graphicx", "mathtools")
#: Signs of several characters, which a formula of words does not have.
_ARROWS = {"<-": r"\(\leftarrow\)", "<=": r"\(\le\)", ">=": r"\(\ge\)", "==": r"\(=\)", "->": r"\(\to\)", "<": r"\(<\)"}
_ITEMS = "\\begin{itemize}\n\\setlength{\\itemsep}{0pt}"
#: Braces around the pieces of a function.
_PIECES = re.compile(r"= \{(.*?)\}")


def document(found: Sequence[Evidence], verdicts: Mapping[str, str]) -> str:
    """Those of the claims that do not hold, each with its counterexample, the step that fails and what holds instead.

    Raise ``ValueError`` if all of them hold.
    """
    falling = [evidence for evidence in found if evidence.verdict in failures.FAILED]
    if not falling:
        raise ValueError("all of these claims hold: there is nothing to explain")
    parts = [_heading(found, falling, verdicts)] if len(found) > 1 else []
    parts += ["\n\n".join(_claim(evidence, verdicts)) for evidence in falling]
    body = "\n\n".join(parts)
    return by_itself(f"{{\\raggedright\\setlength{{\\parindent}}{{0pt}}{PARAGRAPHS}\n{body}\n\\par}}", PACKAGES)


def _heading(found: Sequence[Evidence], falling: Sequence[Evidence], verdicts: Mapping[str, str]) -> str:
    papers = dict.fromkeys(evidence.claim.paper for evidence in found)
    named = [plugins.every()[id].title if id in plugins.every() else id for id in papers]
    groups = failures.grouped([e.claim for e in falling], verdicts)
    counts = failures.counted(groups, [e.claim for e in falling])
    return (
        f"\\section*{{{plain(', '.join(named))}: statements that do not hold}}\n"
        f"Of {len(found)} statements that were tested {len(falling)} do not hold: {plain(counts)}. "
        "Each counterexample is exact, and can be followed by hand."
    )


def _claim(evidence: Evidence, verdicts: Mapping[str, str]) -> Iterator[str]:
    claim, example = evidence.claim, evidence.counterexample
    yield f"\\subsection*{{{plain(claim.where or claim.id)}: {plain(str(evidence.verdict))}}}"
    way = failures.failure_mode(claim, verdicts)
    mode = f" ({plain(str(way))})" if way not in (None, failures.FailureMode.UNKNOWN_ORIGIN) else ""
    yield f"{identifier(claim.id)}{mode}. {_sentence(claim.gist)}"
    if claim.formula:
        yield f"\\textbf{{As printed:}}\n{fitted(claim.formula)}"
    yield from _stated("Claimed is", claim)
    if claim.requires:
        yield f"\\textbf{{Under:}} {_line('; '.join(h.text for h in claim.requires))}."
    if example is None:
        yield f"\\textbf{{What is wrong:}} {_line(evidence.note)}."
    else:
        by = by_hand.lines(example)
        lines = [by_hand.instance(example, by), *by, terminal.claimed(example)]
        items = "\n".join(f"\\item {_line(line)}" for line in lines if line)
        yield f"\\textbf{{Counterexample.}}\n{_ITEMS}\n{items}\n\\end{{itemize}}"
    if claim.flaw:
        yield f"\\textbf{{The step that fails:}} {_sentence(claim.flaw)}"
    if culprits := [plain(used.claim.where or used.claim.id) for used in why.ends(claim, verdicts)]:
        yield f"\\textbf{{It relies on what does not hold:}} {', '.join(culprits)}."
    for repaired in claims.repairing(claim.id):
        verdict = plain(verdicts.get(repaired.id, "-"))
        yield from _stated(f"What holds instead ({verdict}):", repaired, repaired.gist)


def _stated(title: str, claim: Claim, gist: str = "") -> Iterator[str]:
    if formulas := statement.formulas(claim):
        yield f"\\textbf{{{title}}} {_line(gist)}\n" + "\n".join(map(fitted, formulas))
    else:
        yield f"\\textbf{{{title}}} {_line('; '.join([*([gist] if gist else []), *statement.text(claim)]))}"
    if meanings := statement.definitions(claim):
        yield "where " + "; ".join(f"{_line(name)}: {_line(meaning)}" for name, meaning in meanings) + "."


def _sentence(text: str) -> str:
    return _line(text) + ("" if text.endswith((".", "!", "?")) or not text else ".")


def _line(text: str) -> str:
    """A line with the formulas in it set as such."""
    plainer = _PIECES.sub(r"= \1 ", text)
    found = []
    for part in re.split(r"( (?:<-|<=|>=|==|->|<) )", plainer):
        sign = _ARROWS.get(part.strip())
        found.append(f" {sign} " if sign and part.startswith(" ") else mathematical(part))
    # A sign between formulas is part of one.
    joined = "".join(found).replace(r"^{^{\star}}", r"^{\star}")
    whole = re.sub(r"\\\) \\\((\\le|\\ge|=|\\leftarrow|\\to|<)\\\) \\\(", r" \1 ", joined)
    return re.sub(r"\\\(.*?\\\)", lambda formula: listed(formula[0]), whole)


__all__ = ["PACKAGES", "document"]
