"""Why claims do not hold, as a document in LaTeX: for an author, or a referee's report of a paper."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence

from fedtheory import claims, plugins
from fedtheory.claims import Claim
from fedtheory.tables.rendering import by_itself, fitted
from verify.base.verdict import Verdict
from verify.evidence.record import Evidence
from verify.export.latex_layout import PARAGRAPHS
from verify.export.latex_text import capital, code, letters, line, sentence
from verify.export.latex_words import identifier, plain
from verify.report import by_hand, failures, placing, statement, terminal, why
from verify.report.letters import common, meanings

#: The packages of the document.
PACKAGES = ("amsmath", "amssymb", "graphicx", "mathtools")
_ITEMS = "\\begin{itemize}\n\\setlength{\\itemsep}{0pt}"


def document(found: Sequence[Evidence], verdicts: Mapping[str, str]) -> str:
    """Those of the claims that do not hold, each with its counterexample, the step that fails and what holds instead.

    Raise ``ValueError`` if all of them hold.
    """
    falling = [evidence for evidence in found if evidence.verdict in failures.FAILED]
    if not falling:
        raise ValueError("all of these claims hold: there is nothing to explain")
    shared = common([evidence.claim for evidence in falling])
    parts = [_heading(found, falling, verdicts), *letters(shared)] if len(found) > 1 else []
    for mode, evidence_of in _ordered(falling, verdicts):
        title = f"{mode[:1].upper()}{mode[1:]}: {len(evidence_of)}"
        parts += [f"\\section*{{{plain(title)}}}"] if len(found) > 1 else []
        parts += ["\n\n".join(_claim(evidence, verdicts, shared)) for evidence in evidence_of]
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


def _ordered(falling: Sequence[Evidence], verdicts: Mapping[str, str]) -> Iterator[tuple[str, list[Evidence]]]:
    """Yield the claims by why they fail, the most serious first; among these faults that spoil more claims first."""
    of = {evidence.claim.id: evidence for evidence in falling}
    groups = failures.grouped([evidence.claim for evidence in falling], verdicts)
    for mode in sorted(groups, key=failures.SERIOUS.index):
        roots = failures.by_root([of[id].claim for id in groups[mode]]).values()
        yield str(mode), [of[id] for ids in sorted(roots, key=len, reverse=True) for id in ids]


def _claim(evidence: Evidence, verdicts: Mapping[str, str], shared: Container[tuple[str, str]]) -> Iterator[str]:
    claim, example = evidence.claim, evidence.counterexample
    known = statement.written(claim)
    yield f"\\subsection*{{{plain(claim.where or claim.id)}: {plain(str(evidence.verdict))}}}"
    way = failures.failure_mode(claim, verdicts)
    mode = f" ({plain(str(way))})" if way not in (None, failures.FailureMode.UNKNOWN_ORIGIN) else ""
    yield f"{identifier(claim.id)}{mode}. {sentence(capital(claim.gist))}"
    if claim.root:
        yield f"\\textbf{{The fault:}} {sentence(claim.root)}"
    if claim.formula:
        yield f"\\textbf{{As printed:}}\n{fitted(claim.formula)}"
    if evidence.verdict != Verdict.ILL_POSED or statement.formulas(claim):
        yield from _stated("Claimed is", claim)
    yield from letters([found for found in meanings(claim) if found not in shared])
    if claim.requires:
        yield f"\\textbf{{Under:}} {line('; '.join(h.text for h in claim.requires))}."
    if claim.reading:
        yield f"\\textbf{{As read:}} {sentence(capital(claim.reading))}"
    if example is None:
        yield f"\\textbf{{What is wrong:}} {line(evidence.note)}."
    else:
        by = by_hand.lines(example)
        lines = [placing.instance(example, by), *by, terminal.claimed(example)]
        # What names mean stands above.
        stated = [text for text in lines if text and not text.startswith("where ")]
        items = "\n".join(f"\\item {line(text, known)}" for text in stated)
        yield f"\\textbf{{Counterexample.}}\n{_ITEMS}\n{items}\n\\end{{itemize}}"
        yield from code(claim)
    if claim.flaw:
        yield f"\\textbf{{The step that fails:}} {sentence(claim.flaw)}"
    if culprits := [plain(used.claim.where or used.claim.id) for used in why.ends(claim, verdicts)]:
        yield f"\\textbf{{It relies on what does not hold:}} {', '.join(culprits)}."
    for repaired in claims.repairing(claim.id):
        verdict = plain(verdicts.get(repaired.id, "-"))
        yield from _stated(f"What holds instead ({verdict}):", repaired, repaired.gist)


def _stated(title: str, claim: Claim, gist: str = "") -> Iterator[str]:
    if formulas := statement.formulas(claim):
        yield f"\\textbf{{{title}}} {line(gist)}\n" + "\n".join(map(fitted, formulas))
    else:
        yield f"\\textbf{{{title}}} {line('; '.join([*([gist] if gist else []), *statement.text(claim)]))}"
    known = statement.written(claim)
    meanings = zip(statement.meanings(claim), statement.definitions(claim), strict=True)
    if named := [(tex, line(meaning, known)) for (tex, meaning), (name, _) in meanings if name != meaning]:
        yield "where " + "; ".join(f"\\({tex}\\): {meaning}" for tex, meaning in named) + "."


__all__ = ["PACKAGES", "document"]
