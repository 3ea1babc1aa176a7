"""Words in LaTeX, with the formulas among them set as such."""

from __future__ import annotations

import re

from verify.export.latex_names import letter_of
from verify.report.names import COMPOSED

#: Words of formulas, beside Greek letters.
_FUNCTIONS = {"grad": r"\nabla", "sum": r"\sum", "prod": r"\prod", "sqrt": r"\surd", "max": r"\max", "min": r"\min"}
_FUNCTIONS |= {"Max": r"\max", "Min": r"\min", "log": r"\log", "exp": r"\exp", "ceiling": r"\mathrm{ceil}"}
_FUNCTIONS |= {"ceil": r"\mathrm{ceil}", "floor": r"\mathrm{floor}"}
#: Those that are words where they stand alone.
_SPOKEN = ("sum", "max", "min", "log", "ceiling", "floor")
_CAPITALS = ("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega")
_PIECES = re.compile(
    r"sqrt\([^() ]*\)|[A-Za-z]{2,}|<=|>=|[_^]\(([^()]*)\)|[_^]\{((?:[^{}]|\{[^{}]*\})*)\}|"
    r"[_^]\d+(?=sum|prod|sqrt|max|min|grad)|[_^][A-Za-z0-9]+|\^\*|."
)
#: Accents, which are written as subscripts in words.
_ACCENTS = {"hat": r"\hat", "bar": r"\bar", "tilde": r"\tilde"}
_SIGNS = {"<=": r" \le ", ">=": r" \ge ", "<": r"\langle ", ">": r"\rangle ", "{": r"\{", "}": r"\}"}
#: Those that stand between two formulas, alone.
_ALONE = {"*": r"\cdot", "<": "<", ">": ">"}


def mathematical(text: str) -> str:
    """Words, with formulas among them set as such."""
    # Formulas as the first of a pair, what stands behind them as the second; words as the second alone.
    out: list[tuple[str, str]] = []
    for part in re.split(r" (?![^{}]*\})", text):  # what stands in braces is one part
        core = part.rstrip(",.;:")
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
            and re.search(r"[\\_^]", of := _formula(kind[1]).strip())
        ):
            # As in mu-strongly convex.
            out.append(("", f"\\({of}\\)-{kind[2]}{end}"))
        else:
            out.append((tex, end) if tex else ("", plain(part)))
    # Numbers alone are no formula.
    return " ".join(
        (tex if re.fullmatch(r"[\d().]+", tex) else f"\\({tex}\\)" if tex else "") + words for tex, words in out
    )


def _is_open(tex: str) -> bool:
    """Return True if a bracket of a formula is closed after it."""
    return tex.count("(") > tex.count(")") or tex.count(r"\langle") > tex.count(r"\rangle")


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
            below = r" \in ".join(map(_formula, inner.split(" in "))) or f"\\mathrm{{{plain(inner)}}}"
            # A second subscript joins the first.
            joined = piece[0] == "_" and last.startswith("_{") and found.endswith(last)
            found = f"{found[:-1]}, {below}}}" if joined else f"{found}{piece[0]}{{{below}}}"
        elif piece.startswith("sqrt("):
            if not (inner := _formula(piece[5:-1])):
                return ""
            found += f"\\sqrt{{{inner.strip()}}}"
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
        elif piece in _SIGNS or re.match(r"[\w|()\[\]{}+\-/=,.^_']", piece):
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
    """Return words with the characters escaped that LaTeX reads otherwise."""
    return text.translate(_ESCAPED)


def identifier(id: str) -> str:
    """Return the id of a claim in type, where a line may end after each slash."""
    return rf"\texttt{{{plain(id).replace('/', SLASH)}}}"
