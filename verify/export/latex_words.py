"""Words in LaTeX, with the formulas among them set as such."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from verify.export.latex_names import letter_of
from verify.report.names import COMPOSED

#: Words of formulas, beside Greek letters.
_FUNCTIONS = {"grad": r"\nabla", "sum": r"\sum", "prod": r"\prod", "sqrt": r"\surd", "max": r"\max", "min": r"\min"}
_FUNCTIONS |= {"Max": r"\max", "Min": r"\min", "log": r"\log", "exp": r"\exp", "ceiling": r"\mathrm{ceil}"}
_FUNCTIONS |= {"ceil": r"\mathrm{ceil}", "floor": r"\mathrm{floor}"}
_FUNCTIONS |= {name: rf"\operatorname{{{name}}}" for name in ("proj", "diag", "argmin", "clip", "prox")}
#: Those that are words where they stand alone.
_SPOKEN = ("sum", "max", "min", "log", "ceiling", "floor")
_CAPITALS = ("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega")
_PIECES = re.compile(
    r"sqrt\([^() ]*\)|~grad|[A-Za-z]{2,}|<=|>=|[_^]\(([^()]*)\)|[_^]\{((?:[^{}]|\{[^{}]*\})*)\}|"
    r"[_^]\d+(?=sum|prod|sqrt|max|min|grad)|[_^][A-Za-z0-9]+|\^-\d+|\^\*|."
)
#: Accents, which are written as subscripts in words.
_ACCENTS = {"hat": r"\hat", "bar": r"\bar", "tilde": r"\tilde"}
_SIGNS = {"<=": r" \le ", ">=": r" \ge ", "<": r"\langle ", ">": r"\rangle ", "{": r"\{", "}": r"\}"}
#: Those that stand between two formulas, alone.
_ALONE = {"*": r"\cdot", "<": "<", ">": ">", "(x)": r"\otimes"}
#: Numbers of places from one to another, as of assumptions and equations.
_RANGE = re.compile(r"(?<=[\d)])-(?=[\d(])")
#: The first of the characters that stand for formulas in words, which occur in no text.
_FIRST = 0xE100


def mathematical(text: str, known: Mapping[str, str] = MappingProxyType({})) -> str:
    """Words, with formulas among them set as such; ``known``: the LaTeX of names, which are formulas too."""
    names = sorted(known, key=len, reverse=True)
    if names:
        whole = "|".join(map(re.escape, names))
        text = re.sub(rf"(?<![\w\\])(?:{whole})(?![\w(])", lambda m: chr(_FIRST + names.index(m[0])), text)
    return re.sub(f"[{chr(_FIRST)}-\uf8ff]", lambda m: known[names[ord(m[0]) - _FIRST]], _mathematical(text))


def _mathematical(text: str) -> str:
    # Formulas as the first of a pair, what stands behind them as the second; words as the second alone.
    out: list[tuple[str, str]] = []
    for part in re.split(r" (?![^{}]*\})", text):  # what stands in braces is one part
        core = part.rstrip(",.;:")
        if _RANGE.search(core) and not re.search("[A-Za-z]", core):
            out.append(("", plain(part)))
            continue
        end, tex = (
            part[len(core) :],
            "" if core in ("a", "A", "I", "-") or core.strip("(){}") in _SPOKEN else _ALONE.get(core) or _formula(core),
        )
        if tex and len(out) > 1 and out[-1] == ("", "-") and out[-2][0] and not out[-2][1]:
            # Neighbours are one formula.
            out[-2:] = [(f"{out[-2][0]} - {tex}", end)]
        elif tex and out and out[-1][0] and (not out[-1][1] or (out[-1][1] == "," and _is_open(out[-1][0]))):
            out[-1] = (f"{out[-1][0]}{out[-1][1]} {tex}", end)
        elif (
            not tex
            and (kind := re.fullmatch(r"(.+)-([A-Za-z]{3,})", core))
            and re.search(r"[\\_^]|^[B-HJ-Z]$", of := _formula(kind[1]).strip())
        ):
            # As in mu-strongly convex, and (1 - delta)-inexact.
            start = f"{out.pop(-2)[0]} {out.pop()[1]} " if len(out) > 1 and out[-1] == ("", "-") and out[-2][0] else ""
            out.append(("", f"\\({start}{of}\\)-{kind[2]}{end}"))
        else:
            out.append((tex, end) if tex else ("", plain(part)))
    # Numbers alone are no formula.
    return " ".join(
        (tex if re.fullmatch(r"[\d().]+", tex) else f"\\({tex}\\)" if tex else "") + words for tex, words in out
    )


#: Brackets that are closed after what they open.
_PAIRS = (("(", ")"), ("[", "]"), (r"\langle", r"\rangle"))


def _is_open(tex: str) -> bool:
    """Return True if a bracket of a formula is closed after it."""
    return any(tex.count(opening) > tex.count(closing) for opening, closing in _PAIRS)


def _formula(core: str) -> str:
    """Return the LaTeX of text that consists only of words of formulas; empty for other text."""
    found = last = ""
    for match in _PIECES.finditer(core):
        piece, start = match[0], len(found)
        if piece in ("_hat", "_bar", "_tilde") and last and found.endswith(last):
            found = f"{found.removesuffix(last)}{_ACCENTS[piece[1:]]}{{{last.strip()}}}"
        elif piece[0] == "_" and len(piece) > 1 and last == r"\nabla":
            # As in grad_f.
            found += f" {_formula(piece[1:])}"
        elif piece in "<>" and _compares(piece, core, match.start()):
            found += f" {piece} "
        elif piece[0] in "_^" and len(piece) > 1:
            inner = match[1] or match[2] or piece[1:]
            # Letters above are a product, as in R^(Nd).
            product = inner if piece[0] == "^" and re.fullmatch("[A-Za-z]{2}", inner) else ""
            below = r" \in ".join(map(_formula, inner.split(" in "))) or product or f"\\mathrm{{{plain(inner)}}}"
            # A star in braces is one.
            below = r"\star" if below == r"^{\star}" else below
            # A second subscript joins the first.
            joined = piece[0] == "_" and last.startswith("_{") and found.endswith(last)
            found = f"{found[:-1]}, {below}}}" if joined else f"{found}{piece[0]}{{{below}}}"
        elif piece.startswith("sqrt("):
            if not (inner := _formula(piece[5:-1])):
                return ""
            found += f"\\sqrt{{{inner.strip()}}}"
        elif piece == "~grad":
            found += r"\tilde{\nabla} "
        elif re.fullmatch(r"[a-z]{3,}_(i|\d+)", core) and piece not in _FUNCTIONS and not letter_of(piece):
            return rf"\mathrm{{{core.partition('_')[0]}}}_{{{core.partition('_')[2]}}}"
        elif re.fullmatch(r"[A-Za-z]{2,}", piece):
            word = _FUNCTIONS.get(piece) or COMPOSED.get(piece)
            word = word or (f"\\{piece}" if piece in _CAPITALS else letter_of(piece))
            if not word.startswith("\\"):
                return ""
            if piece in _SPOKEN and match.end() == len(core):
                word = f"\\text{{{piece}}}"
            found += word if core[match.end() : match.end() + 1] in ("_", "^") else f"{word} "
        elif piece in ("*", "^*"):
            after, before = core[match.end() : match.end() + 1], core[: match.start()][-1:]
            if after == "^":
                return ""
            # It belongs to a function or a point, as in f*(y) and x*; otherwise it is a product, as behind an exponent,
            # before a norm, or between numbers.
            norm = re.match(r"\|[A-Za-z0-9(]", core[match.end() :])
            ends = not last.startswith("^") and not norm and not before.isdigit() and after in ("", *"-|,.)>]")
            starred = piece == "^*" or ends or (after == "(" and before in ("f", "g", "h"))
            numbers = before.isdigit() and after.isdigit()
            found += r"^{\star}" if starred else r"\cdot " if numbers else r"\, "
        elif piece in _SIGNS or ord(piece) >= _FIRST or re.match(r"[\w|()\[\]{}+\-/=,.^_']", piece):
            found += _SIGNS.get(piece, piece)
        else:
            return ""
        last = found[start:]
    return found


def _compares(sign: str, core: str, place: int) -> bool:
    """Return True if a sign stands between two numbers, and is not a bracket of an inner product."""
    before, after = core[place - 1 : place], core[place + 1 : place + 2]
    if sign == "<":
        return bool(re.match(r"[\w)\]*}]", before))
    return not before or bool(re.match(r"[\w(\\]", after))


#: A slash after which a line may end.
SLASH = r"\slash "
#: Characters that LaTeX reads otherwise in words.
_ESCAPED = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": "/", "^": "\\^{}", "~": " ", "*": "{*}"}
    | {"<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}"}
)


def plain(text: str) -> str:
    """Return words with the characters escaped that LaTeX reads otherwise, and ranges of numbers with their dash."""
    return _RANGE.sub("--", text).translate(_ESCAPED)


def identifier(id: str) -> str:
    """Return the id of a claim in type, where a line may end after each slash."""
    return rf"\texttt{{{id.translate(_ESCAPED).replace('/', SLASH)}}}"
