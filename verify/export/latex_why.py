"""Why claims do not hold, as a document in LaTeX: for an author, or a referee's report of a paper."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import getsource, unwrap
from pathlib import Path
from textwrap import dedent
from types import MappingProxyType

from fedtheory import claims, plugins
from fedtheory.claims import Claim
from fedtheory.tables.rendering import by_itself, fitted
from verify.base.verdict import Verdict
from verify.evidence.record import Evidence
from verify.export.latex_layout import PARAGRAPHS, listed
from verify.export.latex_words import identifier, mathematical, plain
from verify.report import by_hand, failures, placing, statement, terminal, why

#: The packages of the document.
PACKAGES = ("amsmath", "amssymb", "graphicx", "mathtools")
#: Signs of several characters, which a formula of words does not have.
_ARROWS = {"<-": r"\(\leftarrow\)", "<=": r"\(\le\)", ">=": r"\(\ge\)", "==": r"\(=\)", "->": r"\(\to\)", "<": r"\(<\)"}
_ITEMS = "\\begin{itemize}\n\\setlength{\\itemsep}{0pt}"
#: Braces around the pieces of a function.
_PIECES = re.compile(r"= \{(.*?)\}")
#: A sign between formulas, and with a number before or after it.
_SIGN = r"(\\le|\\ge|=|\\leftarrow|\\to|<)"
_BETWEEN = re.compile(rf"\\\) \\\({_SIGN}\\\) \\\(")
_NUMBER = r"-?\d[\d./]*(?<=\d)(?![\w/])"
_OF_NUMBERS = re.compile(rf"(?<![^ ])({_NUMBER}) \\\({_SIGN}\\\) ({_NUMBER})")
_NUMBER_BEFORE = re.compile(rf"(?<![^ ])({_NUMBER}) \\\({_SIGN}\\\) \\\(")
_NUMBER_AFTER = re.compile(rf"\\\) \\\({_SIGN}\\\) ({_NUMBER})")
#: The place of a function in a user's file.
_PLACE = re.compile(r"\b(\w+) \((\S+\.py, line \d+)\)")
#: The beginnings of the names of modules whose steps are described in words.
_OURS = ("fedtheory.", "verify.")


def document(found: Sequence[Evidence], verdicts: Mapping[str, str]) -> str:
    """Those of the claims that do not hold, each with its counterexample, the step that fails and what holds instead.

    Raise ``ValueError`` if all of them hold.
    """
    falling = [evidence for evidence in found if evidence.verdict in failures.FAILED]
    if not falling:
        raise ValueError("all of these claims hold: there is nothing to explain")
    parts = [_heading(found, falling, verdicts)] if len(found) > 1 else []
    for mode, evidence_of in _ordered(falling, verdicts):
        title = f"{mode[:1].upper()}{mode[1:]}: {len(evidence_of)}"
        parts += [f"\\section*{{{plain(title)}}}"] if len(found) > 1 else []
        parts += ["\n\n".join(_claim(evidence, verdicts)) for evidence in evidence_of]
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


def _claim(evidence: Evidence, verdicts: Mapping[str, str]) -> Iterator[str]:
    claim, example = evidence.claim, evidence.counterexample
    known = statement.written(claim)
    yield f"\\subsection*{{{plain(claim.where or claim.id)}: {plain(str(evidence.verdict))}}}"
    way = failures.failure_mode(claim, verdicts)
    mode = f" ({plain(str(way))})" if way not in (None, failures.FailureMode.UNKNOWN_ORIGIN) else ""
    yield f"{identifier(claim.id)}{mode}. {_sentence(_capital(claim.gist))}"
    if claim.root:
        yield f"\\textbf{{The fault:}} {_sentence(claim.root)}"
    if claim.formula:
        yield f"\\textbf{{As printed:}}\n{fitted(claim.formula)}"
    if evidence.verdict != Verdict.ILL_POSED or statement.formulas(claim):
        yield from _stated("Claimed is", claim)
    if claim.requires:
        yield f"\\textbf{{Under:}} {_line('; '.join(h.text for h in claim.requires))}."
    if example is None:
        yield f"\\textbf{{What is wrong:}} {_line(evidence.note)}."
    else:
        by = by_hand.lines(example)
        lines = [placing.instance(example, by), *by, terminal.claimed(example)]
        # What names mean stands above.
        stated = [line for line in lines if line and not line.startswith("where ")]
        items = "\n".join(f"\\item {_line(line, known)}" for line in stated)
        yield f"\\textbf{{Counterexample.}}\n{_ITEMS}\n{items}\n\\end{{itemize}}"
        yield from _code(claim)
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
    known = statement.written(claim)
    meanings = zip(statement.meanings(claim), statement.definitions(claim), strict=True)
    if named := [(tex, _line(meaning, known)) for (tex, meaning), (name, _) in meanings if name != meaning]:
        yield "where " + "; ".join(f"\\({tex}\\): {meaning}" for tex, meaning in named) + "."


def _code(claim: Claim) -> Iterator[str]:
    """Yield the code of a user's step and of its draws."""
    algorithm = claim.statement.algorithm
    functions = [] if algorithm is None else [unwrap(f) for f in (algorithm.draws, algorithm.step)]
    theirs = [f for f in functions if not f.__module__.startswith(_OURS) and Path(f.__code__.co_filename).exists()]
    if code := "\n\n".join(dedent(getsource(f)).rstrip() for f in theirs):
        yield f"\\textbf{{The step in code:}}\n{{\\footnotesize\\begin{{verbatim}}\n{code}\n\\end{{verbatim}}}}"


def _capital(text: str) -> str:
    """A sentence with a capital, unless it begins with a formula."""
    return text[:1].upper() + text[1:] if re.match(r"[a-z]{3,}[ ,;-]|a ", text) else text


def _sentence(text: str) -> str:
    return _line(text) + ("" if text.endswith((".", "!", "?")) or not text else ".")


def _line(text: str, known: Mapping[str, str] = MappingProxyType({})) -> str:
    """A line with the formulas in it set as such; ``known``: the LaTeX of names."""
    if place := _PLACE.search(text):
        before, after = _line(text[: place.start()], known), _line(text[place.end() :], known)
        return f"{before}\\texttt{{{plain(place[1])}}} ({plain(place[2])}){after}"
    plainer = _PIECES.sub(r"= \1 ", text)
    found = []
    for part in re.split(r"( (?:<-|<=|>=|==|->|<) )", plainer):
        sign = _ARROWS.get(part.strip())
        found.append(f" {sign} " if sign and part.startswith(" ") else mathematical(part, known))
    # A sign between formulas is part of one.
    joined = "".join(found)
    joined = _OF_NUMBERS.sub(r"\\(\1 \2 \3\\)", joined)
    joined = _NUMBER_AFTER.sub(r" \1 \2\\)", _NUMBER_BEFORE.sub(r"\\(\1 \2 ", joined))
    whole = _BETWEEN.sub(r" \1 ", joined)
    return re.sub(r"\\\(.*?\\\)", lambda formula: listed(formula[0]), whole)


__all__ = ["PACKAGES", "document"]
