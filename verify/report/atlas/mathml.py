"""Formulas as MathML, the differences between two of them, and sentences with letters such as "norm(grad f_i(w*))"."""

from __future__ import annotations

import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache

from latex2mathml.converter import convert
from markupsafe import Markup

from verify.report.names import GREEK

_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
#: The class of parts that another formula does not have.
CHANGED = "changed"
#: Elements whose children have fixed places.
_PLACES = frozenset(("mfrac", "msup", "msub", "msubsup", "munder", "mover", "munderover", "mroot"))

ET.register_namespace("", _NAMESPACE)


@cache
def formula(latex: str) -> Markup:
    """Return a displayed formula; LaTeX that is not understood as code."""
    element = _element(latex)
    return Markup("<code>{}</code>").format(latex) if element is None else _written(element)


@cache
def inline(latex: str) -> Markup:
    """Return a formula within a line."""
    element = _element(latex)
    if element is None:
        return Markup("<code>{}</code>").format(latex)
    element.set("display", "inline")
    return _written(element)


def compared(first: Sequence[str], second: Sequence[str]) -> tuple[tuple[Markup, ...], tuple[Markup, ...]]:
    """Return two lists of displayed formulas, with the differences from the other list marked in each."""
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
    """Return the element ``math``; None if the LaTeX is not understood."""
    try:
        element = ET.fromstring(convert(latex, display="block"))
    except Exception:  # A user's letters may be anything, and the converter raises many kinds of errors.
        return None
    for part in element.iter():
        tag = part.tag.rpartition("}")[2]
        # Words are set as operands of a relation: beside text, which counts as space, it would have no space.
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


#: A group in braces, which may hold another.
_GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}"
#: Letters that are written out, and the names by which Unicode has some of them.
_UNICODE = {"lambda": "lamda", "Lambda": "Lamda"}
_GREEK = {
    name: unicodedata.lookup(f"GREEK {'CAPITAL' if name[0].isupper() else 'SMALL'} LETTER {_UNICODE.get(name, name)}")
    for name in GREEK
}
# As code has it, where lambda is another word.
_GREEK["lamda"] = _GREEK["lambda"]
_GREEK["eps"] = _GREEK["varepsilon"] = _GREEK["epsilon"]
_SIGNS = {
    " - ": " − ",
    " (x) ": " ⊗ ",
    "<=": "≤",
    ">=": "≥",
    "->": "→",
    "<-": "←",
    "!=": "≠",
    "...": "…",
    "sqrt": "√",
    "grad ": "∇",
    "grad_": "∇",
    "~grad ": "∇\N{COMBINING TILDE}",
    "*": "·",
    "sum_": "∑_",
    "prod_": "∏_",
}
#: The star of a conjugate function at a point, as in f_i*(y).
_CONJUGATE = r"(?:(?<=\bf)|(?<=\bf_\w))\*(?=\()"
_SIGN = re.compile(
    r" - |(?<=\w) \(x\) (?=\w)|<=|>=|(?<!-)->|(?<= )<-(?= )|!=|\.\.\."
    r"|\bsqrt(?=\()|~?\bgrad (?=\w)|\bgrad_(?=[A-Za-z])|(?<![A-Za-z_])(?:sum|prod)_(?=[A-Za-z{])"
    rf"|(?<=[\w)\]|}}])(?!{_CONJUGATE})\*(?=[A-Za-z0-9(\[]|\|[A-Za-z(])"
)
#: Names of several words, joined by the mark of subscripts elsewhere.
_WORDS = re.compile(
    rf"\b(?!(?:{'|'.join(GREEK)})_)[A-Za-z']{{2,}}(?:_(?!(?:hat|bar|next|min|max)\b)(?:of|in|T|[a-z']{{3,}}|[0-9]\.[0-9]))+\b"
)
#: Increments and a letter with a tilde, as :mod:`verify.report.names` writes them too.
_COMPOSED = {"Dbar": "Δw\N{COMBINING MACRON}", "Dw": "Δw", "Dpi": "Δπ", "Deps": "Δε", "Lt": "L\N{COMBINING TILDE}"}
_COMPOSITE = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(_COMPOSED)})(?![A-Za-z])")
_ACCENTS = {"hat": "\N{COMBINING CIRCUMFLEX ACCENT}", "bar": "\N{COMBINING MACRON}"}
_PRODUCT = re.compile(r"<(?=\S)([^<>]{1,60},[^<>]{1,60})(?<=\S)>")
_LETTER = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(sorted(_GREEK, key=len, reverse=True))})(?![A-Za-z])")
#: Marks beneath or above a letter.
_INSIDE = rf"{_GROUP}|\([^()]*\)|\*|-?(?:[0-9]+|\w+?(?=_|\b))"
_STAR = rf"(?:\*(?=$|[\s,.;:)\]|>⟩-])|{_CONJUGATE})"
#: Numbers of places from one to another.
_RANGE = re.compile(r"(?<=\d\.\d)-(?=\d+\.\d)|(?<=\d\))-(?=\(\d)")
_SCRIPT = re.compile(rf"(?P<sign>[_^])(?P<script>{_INSIDE})|{_STAR}")
#: A letter, or what closes a bracket, with what is beneath and above it.
_LETTERS = r"[A-Za-zΑ-Ωα-ω]"
_NAME = rf"(?:proj|max|min|[a-z]{{3,}}(?=_[a-z]\b)|{_LETTERS}[\u0303\u0304]?)"
_CLOSING = r"[0-9∑∏)\]|⟩]"
_TILDE = re.compile(rf"(?<![A-Za-z])({_LETTERS})~")
_SCRIPTS = rf"(?P<scripts>(?:[_^](?:{_INSIDE})|{_STAR})+)"
_SCRIPTED = re.compile(rf"(?P<base>(?<![A-Za-z_]){_NAME}|{_CLOSING}){_SCRIPTS}")
#: In scripts letters side by side are products.
_SCRIPTED_INSIDE = re.compile(rf"(?P<base>{_NAME}|{_CLOSING}){_SCRIPTS}")


def typeset(text: str) -> Markup:
    """Return the text, escaped, with Greek letters, signs, subscripts and superscripts."""
    plain = _WORDS.sub(lambda found: found[0].replace("_", " "), _RANGE.sub("–", text.replace("**", "^")))
    plain = _PRODUCT.sub(r"⟨\1⟩", _SIGN.sub(lambda found: _SIGNS[found[0]], plain))
    plain = _LETTER.sub(lambda found: _GREEK[found[0]], plain)
    plain = _COMPOSITE.sub(lambda found: _COMPOSED[found[0]], plain)
    return _set(_TILDE.sub("\\1\N{COMBINING TILDE}", plain), _SCRIPTED)


def _set(plain: str, scripted: re.Pattern[str]) -> Markup:
    """Return a text in which letters and signs are themselves, with its scripts."""
    parts, at = [Markup("")], 0
    for found in scripted.finditer(plain):
        parts += [Markup("{}").format(plain[at : found.start()]), _scripted(found["base"], found["scripts"])]
        at = found.end()
    parts.append(Markup("{}").format(plain[at:]))
    return Markup("").join(parts)


def _scripted(base: str, scripts: str) -> Markup:
    written = Markup("{}").format(base)
    for found in _SCRIPT.finditer(scripts):
        script = (found["script"] or "*").removeprefix("{").removesuffix("}")
        if script in _ACCENTS:
            written += _ACCENTS[script]
        else:
            tag = "sub" if found["sign"] == "_" else "sup"
            # Brackets around a subscript, or around a fraction as an exponent, only hold it together.
            if tag == "sub" or "/" in script:
                script = script.removeprefix("(").removesuffix(")") if script[:1] == "(" else script
            written += Markup(f"<{tag}>{{}}</{tag}>").format(_set(script, _SCRIPTED_INSIDE))
    return written
