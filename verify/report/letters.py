"""The letters of a claim that its paper explains, with their meanings: those of its statement, its hypotheses, its
printed formula and the words that explain these."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from fedtheory import plugins
from fedtheory.claims import Claim
from verify.report import names, statement
from verify.report.names import GREEK

#: Letters that are words too.
_WORDS = ("a", "A", "I")
#: Commands of printed formulas that are not letters, and those that change the shape of one.
_SHAPES = re.compile(
    r"\\(?:left|right|[bB]igg?|d?frac|math(?:bf|bb|cal|rm)|operatorname|boldsymbol|text|overline|widetilde|hat|bar|tilde)"
    r"(?![A-Za-z])"
)


def meanings(claim: Claim, text: str | None = None) -> list[tuple[str, str]]:
    """Return (letter, meaning) of the letters of the claim, or of those in a ``text``, and of those that explain them;
    nothing of names that the claim's own quantities have."""
    paper = plugins.every().get(claim.paper)
    known = {} if paper is None else of_claim(paper.letters, claim.id.partition("/")[2])
    for name in [name for name, meaning in known.items() if not meaning]:
        del known[name]
    for name, _ in statement.definitions(claim):
        known.pop(name, None)
    free = set() if text is not None else free_letters(claim)
    printed = plain(claim.formula) if text is None else ""
    searched = [text] if text is not None else list(_texts(claim))
    used: dict[str, str] = {}

    def _is_used(name: str) -> bool:
        pattern = _pattern(name, known)
        return (
            name in free or bool(pattern.search(printed)) or (name not in _WORDS and any(map(pattern.search, searched)))
        )

    while found := [name for name in known if name not in used and _is_used(name)]:
        used |= {name: known[name] for name in found}
        # What explains a letter may have letters itself.
        searched = [known[name] for name in found]
        free, printed = set(), ""
    return [(name, known[name]) for name in known if name in used]


def latex(name: str) -> str:
    """Return a letter in LaTeX; words are upright subscripts."""
    base, _, below = name.partition("_")
    if re.fullmatch(r"[A-Za-z]{2,}", below) and base.isalpha() and below not in ("hat", "bar"):
        word = names.latex(below) if below in GREEK else f"\\mathrm{{{below}}}"
        return f"{names.latex(base)}_{{{word}}}"
    return names.latex(name)


def common(of: Sequence[Claim]) -> list[tuple[str, str]]:
    """Return the letters with one meaning in all of the claims, where several use them, in the order of their paper."""
    if len(of) == 1:
        return []
    found: defaultdict[str, list[str]] = defaultdict(list)
    for claim in of:
        for name, meaning in meanings(claim):
            found[name].append(meaning)
    papers = [
        plugins.every()[paper] for paper in dict.fromkeys(claim.paper for claim in of) if paper in plugins.every()
    ]
    order = dict.fromkeys(name for paper in papers for known in paper.letters.values() for name in known)
    return [(name, found[name][0]) for name in order if len(found[name]) > 1 and len(set(found[name])) == 1]


def of_claim(letters: Mapping[str, Mapping[str, str]], id: str) -> dict[str, str]:
    """Return the meanings of a paper's letters in the claim with this id, without the name of the paper."""
    found: dict[str, str] = {}
    for start in sorted((start for start in letters if id.startswith(start)), key=len):
        found |= letters[start]
    return found


def free_letters(claim: Claim) -> set[str]:
    """Return the symbols in the statement's expressions that are not quantities, as they are written."""
    quantities = {s for q in claim.statement.named for s in q.expression.free_symbols}
    symbols = {s for e in statement.expressions_of(claim) for s in e.free_symbols}
    return {statement.expression(s) for s in symbols - quantities}


def plain(formula: str) -> str:
    """Return a printed formula with its letters as claims write them: "L_max" for ``L_{\\max}``."""
    found = _SHAPES.sub("", formula).replace(r"\star", "*")
    # Scripts may have braces within braces.
    for _ in range(2):
        found = re.sub(r"([_^])\s*\{\s*\\?(\w+)\s*\}", r"\1\2 ", found)
        found = re.sub(r"\{\s*(\w+|\*)\s*\}", r"\1", found)
    found = re.sub(r"_\\([A-Za-z]+)", r"_\1", found)
    return re.sub(r"\\([A-Za-z]+)", r" \1 ", found).replace(" _", "_").replace(" ^", "^")


def _texts(claim: Claim) -> Iterable[str]:
    yield from (hypothesis.text for hypothesis in claim.requires)
    for name, meaning in statement.definitions(claim):
        yield from (name, meaning)
    yield from (statement.expression(q.expression) for q in claim.statement.named)


def _pattern(name: str, known: Mapping[str, str]) -> re.Pattern[str]:
    """A letter as it stands in a text, "x_i" also as "x" and as "x_i^t", and a norm by its index."""
    if name.startswith("|"):
        return re.compile(rf"\|{re.escape(name[name.rindex('|') + 1 :])}(?![A-Za-z])")
    base, sign, _ = name.partition("^")
    if sign and not base.endswith("*"):
        return re.compile(rf"(?<![A-Za-z_\\]){re.escape(name)}(?![A-Za-z])")
    alone = name.removesuffix("_i")
    star = r"(?!\^?\*)" if f"{alone}*" in known else ""
    index = "(?:_i)?" if alone != name and alone not in known else re.escape(name.removeprefix(alone))
    # Tolerances are printed with another epsilon than accuracies.
    letter = "eps(?:ilon)?" if alone == "eps" else re.escape(alone)
    return re.compile(rf"(?<![A-Za-z_\\]){letter}{index}{star}(?![A-Za-z_0-9])")
