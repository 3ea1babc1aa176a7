"""Proof objects as LaTeX that a referee reads: the theorem, what is known, and the sum that proves it.

What two cases share is printed once. Forms are printed as few squares and products (:mod:`verify.export.latex_forms`),
numbers as short as they are found (:mod:`verify.export.latex_scalars`). What is written is read again: every formula of
a file is parsed, put in the place of that of the object, and the checker has to accept the result. So what is printed
is what was proved.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from fedtheory import plugins
from fedtheory.claims import Claim
from fedtheory.tables.rendering import by_itself, fitted
from verify import checker
from verify.export.for_all_letters import BLOCKS, SUMMED
from verify.export.latex_layout import PARAGRAPHS, bare, broken
from verify.export.latex_names import symbols
from verify.export.latex_pages import GAP, CaseGroup, grouped, pages
from verify.export.latex_reading import FormulaReader
from verify.export.latex_reasons import summed
from verify.export.latex_text import letters, line, step, updates
from verify.export.latex_words import identifier, mathematical, plain
from verify.export.objects import ProofObjects, sealed
from verify.export.weights import Certificates
from verify.report import statement
from verify.report.letters import meanings

_PACKAGES = ("amsmath", "amssymb", "graphicx")
_HEAD = f"{{\\setlength{{\\parindent}}{{0pt}}\\setlength{{\\parskip}}{{3pt}}\\raggedright{PARAGRAPHS}\n"
_CONVENTIONS = (
    r"\(\Delta\) is the left side less the right one, \(K_k\le 0\) is known. All that \(K_k\) and "
    r"\(-\|\cdot\|^2\) are multiplied by is nonnegative; where this is not seen, the proof object certifies it."
)
_FORMULA = re.compile(r"\$([^$=]+?) = ([^$]+)\$")


def text(claim: Claim, objects: ProofObjects) -> str:
    """Return a file with the proof of each case of a claim. Raise ``ValueError`` unless it is an identity."""
    if any(data["kind"] != "identity" for data in objects) or not objects:
        raise ValueError(f"{claim.id} has no identity to be written")
    paper = plugins.every().get(claim.paper)
    title = paper.title if paper else claim.paper
    parts = [
        f"\\section*{{{plain(', '.join(filter(None, (title, claim.where))))}}}",
        f"{identifier(claim.id)}. Claimed is",
    ]
    shown = [fitted(formula) for formula in statement.formulas(claim)]
    parts.append("\n".join(shown) if shown else plain("; ".join(statement.text(claim))))
    named: dict[str, list[str]] = {}
    for name, meaning in statement.meanings(claim):
        named.setdefault(meaning, []).append(f"\\({name}\\)")
    if named:
        known = statement.written(claim)
        parts.append(
            "; ".join(f"{' and '.join(of)}: {mathematical(meaning, known)}" for meaning, of in named.items()) + "."
        )
    if claim.requires:
        parts.append(f"Under: {line('; '.join(hypothesis.text for hypothesis in claim.requires))}.")
    parts += step(claim)
    # What the step defines is not repeated.
    renewed = " ".join(updates(claim))
    parts += letters([(name, meaning) for name, meaning in meanings(claim) if f"{name} = " not in renewed])
    return document(parts, objects, statement.text(claim))


def document(head: Sequence[str], objects: ProofObjects, stated: Sequence[str]) -> str:
    """A file with paragraphs and then the proof of each case, and what its objects state that is not ``stated``."""
    parts = [*head, " ".join([_CONVENTIONS, *summed(line for data in objects for line in data["says"])])]
    printed: set[str] = set()
    for group in grouped(_without_g(objects)):
        parts += pages(group, list(_besides(stated, group)), printed)
    body = _FORMULA.sub(lambda of: f"${of[1]} = {broken(of[2])}$", "\n\n".join(parts))
    return by_itself(f"{_HEAD}{body}\n\\par}}", _PACKAGES)


def _without_g(objects: ProofObjects) -> ProofObjects:
    """The objects, where none has a g their cases without that word."""
    cases = [str(data["at"].get("case", "")) for data in objects]
    if not all(case.split(", ")[0] == "without g" for case in cases):
        return objects
    each = (
        {**data, "at": {**data["at"], "case": ", ".join(case.split(", ")[1:])}}
        for data, case in zip(objects, cases, strict=True)
    )
    return replace(objects, each=tuple(each))


def checked(claim: Claim, objects: ProofObjects) -> str:
    """As :func:`text`, once the checker has accepted what is read from it. Raise ``ValueError`` if it does not."""
    return accepted(text(claim, objects), objects)


def accepted(written: str, objects: ProofObjects) -> str:
    """The file, once the checker has accepted what is read from it. Raise ``ValueError`` if it does not."""
    for data in read(written, objects):
        checker.check(json.dumps(sealed(data)))
    return written


def read(written: str, objects: ProofObjects) -> list[dict[str, Any]]:
    """The objects with all that a file says of their domains, forms, weights and squares in place of their own.

    ``ValueError`` for what :func:`text` does not write. That it is a proof is for the checker to say.
    """
    formulas = [(name, bare(formula)) for name, formula in _FORMULA.findall(written)][::-1]
    found: list[dict[str, Any]] = []
    for group in grouped(objects):
        found += _group(group, formulas)
    if formulas:
        raise ValueError("there are more formulas than those of the proof")
    return found


def _group(group: CaseGroup, formulas: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    reader = FormulaReader(symbols(group.objects, group.reasons))
    made = [copy.deepcopy(dict(data)) for data in group.objects]
    certificates = [Certificates(data) for data in made]

    def following(name: str) -> str:
        while formulas and formulas[-1][0] != name:
            called, formula = formulas.pop()
            number = reader.define(called, formula)
            if number is not None:
                _bound(group, called, reader.written(number), reader)
        if not formulas:
            raise ValueError(f"{name} was expected")
        return formulas.pop()[1]

    for place, shared in enumerate(group.programs):
        formula = following(GAP) if shared["known"] else ""
        target = reader.form(GAP, formula) if shared["known"] else {}
        lines = [following(f"K_{{{k}}}") for k in range(1, len(shared["known"]) + 1)]
        # Where what is known is what is to be shown, there is nothing to be added up.
        known_already = lines == [GAP]
        forms = [target] if known_already else [reader.form(f"K_{{{k}}}", of) for k, of in enumerate(lines, 1)]
        for form, item in zip(forms, shared["known"], strict=True):
            if not reader.is_same(form, item["form"]):
                raise ValueError("what is listed as known is not what the object says")
        for data, signs in zip(made, certificates, strict=True):
            formula = "K_{1}" if known_already else following(GAP)
            target = target if shared["known"] else reader.form(GAP, formula)
            if not reader.is_same(target, shared["target"]):
                raise ValueError("what is to be shown is not what the object says")
            weights, squares = reader.total(formula)
            if not set(weights) <= set(range(1, len(forms) + 1)):
                raise ValueError("what is added up is not listed")
            program = data["programs"][place]
            known = [
                {**{key: v for key, v in item.items() if key != "by"}, "form": form, **signs.weight(weights[k], reader)}
                for k, (item, form) in enumerate(zip(shared["known"], forms, strict=True), 1)
                if k in weights
            ]
            listed = [{**signs.weight(weight, reader), "vector": vector} for weight, vector in squares]
            program.update(target=target, known=known, squares=listed)
    if reader.unexplained:
        raise ValueError(f"it is not stated what {min(reader.unexplained)} stands for")
    for data, signs in zip(made, certificates, strict=True):
        signs.complete(data)
        yield data


def _bound(group: CaseGroup, called: str, number: Any, reader: FormulaReader) -> None:
    """Raise ``ValueError`` unless what has the name of a bound of the domain is that bound."""
    for data, names in zip(group.objects, group.bounds, strict=True):
        if called in names:
            bound = {"num": data["domain"][names[called]]["is"], "den": [["1", [0] * len(data["letters"])]]}
            if not reader.is_same({"": number}, {"": bound}):
                raise ValueError(f"{called} is another bound")


def _besides(stated: Sequence[str], group: CaseGroup) -> Iterator[str]:
    """Yield once each what the objects state besides."""
    for text in dict.fromkeys(text for data in group.objects for text in data["says"]):
        if text not in stated and text not in (BLOCKS, SUMMED):
            yield text
