"""Formulas as MathML, and what differs between two of them."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache

from latex2mathml.converter import convert
from markupsafe import Markup

_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
#: The class of what another formula does not have.
CHANGED = "changed"
#: Elements whose children have fixed places.
_PLACES = frozenset(("mfrac", "msup", "msub", "msubsup", "munder", "mover", "munderover", "mroot"))

ET.register_namespace("", _NAMESPACE)


@cache
def formula(latex: str) -> Markup:
    """A displayed formula; where its LaTeX is not understood, that as code."""
    element = _element(latex)
    return Markup("<code>{}</code>").format(latex) if element is None else _written(element)


@cache
def inline(latex: str) -> Markup:
    """A formula within a line."""
    element = _element(latex)
    if element is None:
        return Markup("<code>{}</code>").format(latex)
    element.set("display", "inline")
    return _written(element)


def compared(first: Sequence[str], second: Sequence[str]) -> tuple[tuple[Markup, ...], tuple[Markup, ...]]:
    """Two lists of displayed formulas; what the other list does not have is marked in each."""
    ours, theirs = ([_element(latex) for latex in lines] for lines in (first, second))
    for tag, i, j, k, l in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        left, right = ours[i:j], theirs[k:l]
        for a, b in zip(left, right, strict=False):
            if a is not None and b is not None:
                _mark(a, b)
        for extra in (*left[len(right) :], *right[len(left) :]):
            if extra is not None:
                extra.set("class", CHANGED)

    def written(lines: Sequence[str], elements: Sequence[ET.Element | None]) -> tuple[Markup, ...]:
        pairs = zip(lines, elements, strict=True)
        return tuple(formula(latex) if element is None else _written(element) for latex, element in pairs)

    return written(first, ours), written(second, theirs)


def _element(latex: str) -> ET.Element | None:
    """The element ``math``; None where the LaTeX is not understood."""
    try:
        element = ET.fromstring(convert(latex, display="block"))
    except Exception:  # Somebody's own letters may be anything, and the converter raises many kinds of errors.
        return None
    for part in element.iter():
        tag = part.tag.rpartition("}")[2]
        # Words are what a relation stands between: beside text, which counts as space, it would have no space.
        part.tag = "mi" if tag == "mtext" else tag
    return element


def _written(element: ET.Element) -> Markup:
    # In HTML the elements of MathML need no namespace; all that is text in them is escaped here.
    return Markup(ET.tostring(element, encoding="unicode"))


def _text(element: ET.Element) -> str:
    return ET.tostring(element, encoding="unicode")


def _mark(a: ET.Element, b: ET.Element) -> None:
    """Mark the smallest parts in which two elements differ."""
    if _text(a) == _text(b):
        return
    ours, theirs = list(a), list(b)
    if a.tag != b.tag or not ours or not theirs:
        _changed(a, b)
    elif a.tag in _PLACES:
        for x, y in zip(ours, theirs, strict=True):
            _mark(x, y)
    else:
        texts, others = [_text(part) for part in ours], [_text(part) for part in theirs]
        for tag, i, j, k, l in SequenceMatcher(None, texts, others, autojunk=False).get_opcodes():
            if tag == "replace" and j - i == l - k:
                for x, y in zip(ours[i:j], theirs[k:l], strict=True):
                    _mark(x, y)
            elif tag != "equal":
                _changed(*ours[i:j], *theirs[k:l])


def _changed(*elements: ET.Element) -> None:
    for element in elements:
        element.set("class", CHANGED)
