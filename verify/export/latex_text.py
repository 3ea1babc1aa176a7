"""Sentences, letters and steps in LaTeX, with the formulas in them set as such."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from inspect import getsource, unwrap
from pathlib import Path
from textwrap import dedent
from types import MappingProxyType

from fedtheory.claims import Claim
from fedtheory.kinds.scope import Scope
from verify.export.latex_layout import listed
from verify.export.latex_words import mathematical, plain
from verify.report import by_hand
from verify.report.letters import latex

#: Signs of several characters, which a formula of words does not have.
_ARROWS = {"<-": r"\(\leftarrow\)", "<=": r"\(\le\)", ">=": r"\(\ge\)", "==": r"\(=\)", "->": r"\(\to\)", "<": r"\(<\)"}
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
#: The statements that are about the steps of a method.
_OF_STEPS = (Scope.STEP, Scope.ROUNDS, Scope.CODE, Scope.RESIDUAL, Scope.LIMIT, Scope.RUNS)
#: The beginning of a step that is described by the place of its code.
_FUNCTION = "step: the function "
#: The beginnings of the names of modules whose steps are described in words.
_OURS = ("fedtheory.", "verify.")


def code(claim: Claim) -> Iterator[str]:
    """Yield the code of a user's step and of its draws."""
    algorithm = claim.statement.algorithm
    functions = [] if algorithm is None else [unwrap(f) for f in (algorithm.draws, algorithm.step)]
    theirs = [f for f in functions if not f.__module__.startswith(_OURS) and Path(f.__code__.co_filename).exists()]
    if code := "\n\n".join(dedent(getsource(f)).rstrip() for f in theirs):
        yield f"\\textbf{{The step in code:}}\n{{\\footnotesize\\begin{{verbatim}}\n{code}\n\\end{{verbatim}}}}"


def updates(claim: Claim) -> list[str]:
    """Return the lines that renew the parts of the state, in words; nothing where the claim is about no step."""
    algorithm = claim.statement.algorithm
    if algorithm is None or claim.statement.scope not in _OF_STEPS:
        return []
    described = next(by_hand.step(algorithm, algorithm.State), "")
    return [] if not described or described.startswith(_FUNCTION) else described.partition(": ")[2].split("; ")


def step(claim: Claim) -> Iterator[str]:
    """Yield the step of the method in words, or a user's code."""
    if found := updates(claim):
        yield "\\textbf{A step:} " + "; ".join(map(line, found)) + "."
    else:
        yield from code(claim)


def letters(found: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a paragraph on what letters mean; nothing if there are none."""
    if found:
        meanings = "; ".join(f"\\({latex(name)}\\): {line(meaning)}" for name, meaning in found)
        yield f"\\textbf{{Letters:}} {meanings}."


def capital(text: str) -> str:
    """A sentence with a capital, unless it begins with a formula."""
    return text[:1].upper() + text[1:] if re.match(r"[a-z]{3,}[ ,;-]|a ", text) else text


def sentence(text: str) -> str:
    """A line that ends as a sentence does."""
    return line(text) + ("" if text.endswith((".", "!", "?")) or not text else ".")


def line(text: str, known: Mapping[str, str] = MappingProxyType({})) -> str:
    """A line with the formulas in it set as such; ``known``: the LaTeX of names."""
    if place := _PLACE.search(text):
        before, after = line(text[: place.start()], known), line(text[place.end() :], known)
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
