"""Sentences with letters of formulas in plain text, such as "norm(grad f_i(w*)) <= zeta", set for a page."""

from __future__ import annotations

import re
import unicodedata

from markupsafe import Markup

from verify.report.names import GREEK

#: A group in braces, which may hold another.
_GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}"
#: Letters that are written out, and the names by which Unicode has some of them.
_UNICODE = {"lambda": "lamda", "Lambda": "Lamda"}
_GREEK = {
    name: unicodedata.lookup(f"GREEK {'CAPITAL' if name[0].isupper() else 'SMALL'} LETTER {_UNICODE.get(name, name)}")
    for name in GREEK
}
_GREEK["eps"] = _GREEK["epsilon"]
_SIGNS = {
    " - ": " − ",
    " (x) ": " ⊗ ",
    "<=": "≤",
    ">=": "≥",
    "->": "→",
    "!=": "≠",
    "...": "…",
    "sqrt": "√",
    "grad ": "∇",
    "sum_": "∑_",
    "prod_": "∏_",
}
_SIGN = re.compile(
    r" - |(?<=\w) \(x\) (?=\w)|<=|>=|(?<!-)->|!=|\.\.\.|\bsqrt(?=\()|\bgrad (?=\w)|\b(?:sum|prod)_(?=[A-Za-z{])"
)
_PRODUCT = re.compile(r"<(?=\S)([^<>]{1,60},[^<>]{1,60})(?<=\S)>")
_LETTER = re.compile(rf"(?<![A-Za-z])(?:{'|'.join(sorted(_GREEK, key=len, reverse=True))})(?![A-Za-z])")
#: What stands beneath or above a letter.
_INSIDE = rf"{_GROUP}|\([^()]*\)|\*|-?\w+?(?=_|\b)"
_STAR = r"\*(?=$|[\s,.;:)\]|>⟩-])"
_SCRIPT = re.compile(rf"(?P<sign>[_^])(?P<script>{_INSIDE})|{_STAR}")
#: A letter, or what closes a bracket, with what is beneath and above it.
_BASE = r"(?<![A-Za-z_])[A-Za-zΑ-Ωα-ω]~?|[0-9∑∏)\]|⟩]"
_SCRIPTED = re.compile(rf"(?P<base>{_BASE})(?P<scripts>(?:[_^](?:{_INSIDE})|{_STAR})+)")


def typeset(text: str) -> Markup:
    """The text, escaped, with Greek letters, signs, subscripts and superscripts."""
    plain = _PRODUCT.sub(r"⟨\1⟩", _SIGN.sub(lambda found: _SIGNS[found[0]], text))
    plain = _LETTER.sub(lambda found: _GREEK[found[0]], plain)
    return _set(plain)


def _set(plain: str) -> Markup:
    """A text in which letters and signs are themselves, with its scripts."""
    parts, at = [Markup("")], 0
    for found in _SCRIPTED.finditer(plain):
        parts += [Markup("{}").format(plain[at : found.start()]), _scripted(found["base"], found["scripts"])]
        at = found.end()
    parts.append(Markup("{}").format(plain[at:]))
    return Markup("").join(parts)


def _scripted(base: str, scripts: str) -> Markup:
    written = Markup("{}").format(base)
    for found in _SCRIPT.finditer(scripts):
        script = (found["script"] or "*").removeprefix("{").removesuffix("}")
        if script == "hat":
            written += "\N{COMBINING CIRCUMFLEX ACCENT}"
        else:
            tag = "sub" if found["sign"] == "_" else "sup"
            written += Markup(f"<{tag}>{{}}</{tag}>").format(_set(script))
    return written
