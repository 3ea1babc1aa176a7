"""Names of quantities, which are plain text such as "sum_i(sigma_i|w_i^{k+1}-w_i^k|^2)", as LaTeX."""

from __future__ import annotations

import re

#: Letters that are written out.
_SMALL = "alpha beta gamma delta epsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
_CAPITAL = "Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
GREEK = (*_SMALL.split(), *_CAPITAL.split())
#: Words that are commands of LaTeX under the same or another name.
_COMMANDS = {name: rf"\{name}" for name in ("sum", "prod", "min", "max", "det")}
_COMMANDS |= {"ell": r"\ell", "grad": r"\nabla", "eps": r"\varepsilon", "varepsilon": r"\varepsilon"}
#: The mean of |grad f_i(x*)|^2, in braces since powers of it are taken.
_COMMANDS["heterogeneity"] = r"{\sigma_{\star}^{2}}"
#: The effect of a word after an underscore on the letter before it.
_ACCENTS = {"hat": r"\hat{%s}", "bar": r"\bar{%s}", "next": "%s^{+}"}
#: Increments, and letters with a tilde.
COMPOSED = {"Dbar": r"\overline{\Delta w}", "Dw": r"\Delta w", "Dpi": r"\Delta \pi", "Deps": r"\Delta \varepsilon"}
COMPOSED |= {"Lt": r"\tilde{L}"}

#: Names that are words, and what the names of several words have.
_WORDS = ("left", "right", "argmin")
_WORD_AFTER = r"_(?!(?:hat|bar|next)\b)[a-z]{3,}"

#: Words that are subscripts, and no products.
_BELOW = ("av", "min", "max")

#: Between a factor and a word.
_GAP = r"\,"

_TOKENS = re.compile(
    r"(?P<words>(?!(?:sum|prod|grad)_)[A-Za-z']+"
    r"(?:_(?!(?:hat|bar|next)(?![a-z]))(?:[a-z]{3,}'?|of|[0-9]+\.[0-9]+|\([0-9]+\)))+)"
    rf"|(?P<prose>(?!(?:{'|'.join((*GREEK, *_COMMANDS))})\b)\b(?:(?<= )[a-z]{{2,}}\b|[a-z]{{2,}}(?= ))"
    r"(?: (?!grad\b)[a-z]{2,}\b)*)"
    r"|(?P<word>[A-Za-z]+)|(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<relation><=|->)|(?P<sign>\S)|\s+"
)
_CLOSES = {"(": ")", "{": "}", "<": ">", "|": "|"}
_BRACKETS = {"(": ("(", ")"), "{": (r"\{", r"\}"), "<": (r"\langle ", r"\rangle "), "|": (r"\|", r"\|")}
_SIGNS = {"<=": r" \le ", "->": r" \to ", "+": " + ", "=": " = ", "<": " < ", ",": ", "}


def latex(name: str, alone: bool = True) -> str:
    """The name in LaTeX; in brackets where it is a sum that does not stand ``alone``."""
    if name in _WORDS or (re.fullmatch(r"[a-z]{2,}(_[a-z]+)+", name) and re.search(_WORD_AFTER, name)):
        return rf"{'' if alone else _GAP}\text{{{name.replace('_', ' ')}}}"
    reader = _NameReader(name)
    # Words need no blank where a bracket begins or ends.
    found = re.sub(r"(^|[(\[{] ?|, |\\langle )\\;|\\;(?=$|[)\],])", r"\1", reader.until(None))
    return found if alone or not reader.is_sum else rf"\left({found}\right)"


def _word(word: str) -> str:
    if word in GREEK:
        return rf"\{word}"
    if word in _COMMANDS or word in COMPOSED:
        return _COMMANDS.get(word) or COMPOSED[word]
    # A few letters side by side are a product; what is longer is a word.
    return " ".join(word) if len(word) <= 2 or (len(word) == 3 and word.isupper()) else rf"\mathrm{{{word}}}"


def _joined(parts: list[str]) -> str:
    """The parts side by side, with a blank where a command would swallow a letter; minus signs within a sum apart."""
    found = ""
    for part in parts:
        if part == "-" and found:
            part = " - "
        if part[:1].isalnum() and re.search(r"\\[A-Za-z]+$", found):
            found += " "
        found += part
    return found


def _braced(text: str) -> str:
    return text if len(text) == 1 and text != "*" else f"{{{text}}}"


class _NameReader:
    """Reads a name from left to right. ``is_sum``: whether a sign was met outside of all brackets."""

    def __init__(self, name: str) -> None:
        self._tokens = [(m.lastgroup, m.group()) for m in _TOKENS.finditer(name) if m.lastgroup is not None]
        self._at = 0
        self.is_sum = False

    def _next(self, ahead: int = 0) -> str:
        return self._tokens[self._at + ahead][1] if self._at + ahead < len(self._tokens) else ""

    def _take(self) -> tuple[str, str]:
        kind, text = self._tokens[self._at]
        self._at += 1
        return kind or "", text

    def until(self, closing: str | None, script: bool = False) -> str:
        """Read up to a closing bracket; in a ``script``, < and > are relations."""
        parts: list[str] = []
        while self._at < len(self._tokens) and self._next() != closing:
            if closing is None and parts and self._next() in "+-":
                self.is_sum = True
            parts.append(self._item(script))
        self._at += 1
        return _joined(parts)

    def _item(self, script: bool) -> str:
        kind, text = self._take()
        if text in _BRACKETS and not (script and text == "<"):
            inner = self.until(_CLOSES[text], script)
            # For a set of clients it is the size, not the norm.
            opening, closing = ("|", "|") if text == "|" and inner.startswith(r"\Omega") else _BRACKETS[text]
            return self._scripts(f"{opening}{inner}{closing}")
        if kind == "words":
            return self._scripts(rf"\text{{{text.replace('_', ' ')}}}")
        if text == "~" and self._next() == "grad":
            self._take()
            return r"\tilde{\nabla} "
        if kind == "prose":
            return rf"\;\text{{{text}}}\;"
        if kind == "word":
            return self._scripts(_word(text))
        if kind == "number":
            return self._scripts(text)
        return r"\, " if text == "*" else _SIGNS.get(text, text)

    def _scripts(self, base: str) -> str:
        """The base with its accents, subscripts and superscripts."""
        lower = upper = ""
        while sign := self._next():
            if sign == "_" and self._next(1) in _ACCENTS:
                self._at += 2
                base = _ACCENTS[self._tokens[self._at - 1][1]] % base
            elif sign == "_" and base == r"\nabla":
                # The gradient of something, which has the subscripts.
                self._at += 1
                return f"{base} {self._item(False)}"
            elif sign in "_^":
                self._at += 1
                if sign == "_":
                    lower += self._script()
                else:
                    upper += self._script()
            elif sign == "~":
                self._at += 1
                base = rf"\tilde{{{base}}}"
            elif sign == "'":
                self._at += 1
                upper += r"\top"
            elif sign in "*+" and self._next(1) in ("", "-", ")", "|", ",", ">", "^"):
                self._at += 1
                upper += sign
            else:
                break
        return base + "".join(f"{sign}{_braced(text)}" for sign, text in (("_", lower), ("^", upper)) if text)

    def _script(self) -> str:
        """One script: a group, or a single letter or number."""
        kind, text = self._take() if self._at < len(self._tokens) else ("", "")
        if text in ("{", "("):
            return self.until(_CLOSES[text], script=True)
        if kind == "word":
            if text in _BELOW:
                return rf"\mathrm{{{text}}}"
            return rf"\text{{{text}}}" if len(text) > 3 and text not in GREEK else _word(text)
        return text
