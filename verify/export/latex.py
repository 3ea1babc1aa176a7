"""Proof objects as LaTeX that a referee reads: the theorem, what is known, the weights, the squares, and their sum.

What is written is read again: every formula of a file is parsed, put in the place of that of the object, and the
checker has to accept the result. So what is printed is what was proved.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.claims import Claim
from verify import checker
from verify.export.latex_reading import Reader, Symbols
from verify.export.objects import sealed
from verify.multipliers.ratios import Ratio, from_terms, polynomials, terms
from verify.report import statement

_GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
)
_HEAD = r"""\documentclass[10pt]{article}
\usepackage[T1]{fontenc}
\usepackage{amsmath,amssymb}
\usepackage[margin=15mm]{geometry}
\setlength{\parindent}{0pt}\setlength{\parskip}{2pt}
\raggedright
\begin{document}
"""
#: Vectors that have a letter of their own.
_NAMED = {"Pi": "\\Pi", "Phi": "\\Phi"}
_SHARED = (
    "What is shared is known only in the sum over all clients: its weights are the same for each of them, and hold no "
    "letters of a client's own, so that it falls out. All else is of one client, of the sort that is named."
)
_SIGNS = {"> 0": ">0", ">= 0": r"\ge 0"}


def text(claim: Claim, objects: Sequence[Mapping[str, Any]]) -> str:
    """A file with the proof of each case of a claim. ``ValueError`` for what is no identity."""
    if any(data["kind"] != "identity" for data in objects) or not objects:
        raise ValueError(f"{claim.id} has no identity to be written")
    parts = [f"\\section*{{{_plain(f'{claim.paper}, {claim.where}')}}}", f"\\texttt{{{_plain(claim.id)}}}. Claimed is"]
    shown = [f"\\[{formula}\\]" for formula in statement.formulas(claim)]
    parts.append("\n".join(shown) if shown else _plain("; ".join(statement.text(claim))))
    parts += [f"Here \\({name}\\) is {_plain(meaning)}." for name, meaning in statement.meanings(claim)]
    parts += [_plain(line) + ("" if line.endswith(":") else ".") for line in _meanings(claim, objects)]
    for data in objects:
        parts += _case(data)
    if any("own" in data for data in objects):
        parts += [_SHARED]
    return _HEAD + "\n\n".join(parts) + "\n\\end{document}\n"


def checked(claim: Claim, objects: Sequence[Mapping[str, Any]]) -> str:
    """As :func:`text`, once the checker has accepted what is read from it. ``ValueError`` where it does not."""
    written = text(claim, objects)
    for data in read(written, objects):
        checker.check(json.dumps(sealed(data)))
    return written


def read(written: str, objects: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The objects with all that a file says of their forms, weights and squares in place of their own.

    ``ValueError`` for what :func:`text` does not write. That it is a proof is for the checker to say.
    """
    found, formulas = [], iter(re.findall(r"\$([^$=]+?) = ([^$]+)\$", written))
    for data in objects:
        reader, made = Reader(symbols(data)), copy.deepcopy(dict(data))
        for program in made["programs"]:
            program["target"] = reader.form(*_next(formulas, "T"))
            for k, item in enumerate(program["known"], 1):
                item["form"] = reader.form(*_next(formulas, f"K_{{{k}}}"))
                item["weight"] = reader.scalar(*_next(formulas, f"\\lambda_{{{k}}}"))
            for k, item in enumerate(program["squares"], 1):
                item["weight"] = reader.scalar(*_next(formulas, f"\\sigma_{{{k}}}"))
                item["vector"] = reader.vector(*_next(formulas, f"q_{{{k}}}"))
            _, total = _next(formulas, "T")
            if total != _total(program):
                raise ValueError(f"what is added up is not all that is listed: {total}")
        found.append(made)
    if next(formulas, None) is not None:
        raise ValueError("there are more formulas than those of the proof")
    return found


def _meanings(claim: Claim, objects: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What the objects say besides the statement: each once."""
    stated = set(statement.text(claim))
    yield from (line for line in dict.fromkeys(line for data in objects for line in data["says"]) if line not in stated)


def _next(formulas: Iterator[tuple[str, str]], name: str) -> tuple[str, str]:
    found = next(formulas, ("", ""))
    if found[0] != name:
        raise ValueError(f"{name} was expected, got {found[0]!r}")
    return found


def symbols(data: Mapping[str, Any]) -> Symbols:
    """How letters, vectors and values of an object are written, each otherwise."""
    forms = [form for p in data["programs"] for form in (p["target"], *(item["form"] for item in p["known"]))]
    squares = [item["vector"] for p in data["programs"] for item in p["squares"]]
    keys = dict.fromkeys(key for form in forms for key in form)
    rows = dict.fromkeys(
        [*(row for key in keys if "|" in key for row in key.split("|")), *(r for s in squares for r in s)]
    )
    taken: set[str] = {"T"}
    letters = _distinct(data["letters"], _letter, r"\theta", taken)
    vectors = _distinct((row for row in rows if row != "1"), _vector, "v", taken)
    values = _distinct((key for key in keys if "|" not in key), _value, "F", taken)
    return Symbols(letters, vectors, values)


def _distinct(names: Iterable[str], written: Any, other: str, taken: set[str]) -> dict[str, str]:
    found = {}
    for k, name in enumerate(names, 1):
        symbol = written(name)
        if symbol in taken or not symbol:
            symbol = f"{other}_{{{k}}}"
        taken.add(symbol)
        found[name] = symbol
    return found


def _letter(name: str) -> str:
    base, _, below = name.rpartition(".")[2].strip("_").replace(" of ", "_").replace(" ", "_").partition("_")
    base = {"max": "M", "slack": "s"}.get(base, base)
    if base in _GREEK.split():
        base = "\\" + base
    elif not re.fullmatch("[A-Za-z]", base):
        return ""
    below = below.strip("_")
    return f"{base}_{{{below}}}" if re.fullmatch("[A-Za-z0-9]+", below) else "" if below else base


def _vector(name: str) -> str:
    of = name.partition(": ")[2] or name
    if of in _NAMED:
        return _NAMED[of]
    for prefix, accent in (("mean of ", r"\overline"), ("deviation of ", r"\widetilde")):
        if of.startswith(prefix):
            inner = _vector(of.removeprefix(prefix))
            return f"{accent}{{{inner}}}" if inner else ""
    if match := re.fullmatch(r"([A-Za-z])(?:_bar)?(\*?)", of):
        accented = f"\\bar{{{match[1]}}}" if "_bar" in of else match[1]
        return f"{accented}^{{\\star}}" if match[2] else accented
    if match := re.fullmatch(r"grad ([fg])\((\d+)\)", of):
        return f"\\nabla {match[1]}_{{{match[2]}}}"
    if match := re.fullmatch(r"error (\d+) of \w+", of):
        return f"e_{{{match[1]}}}"
    return ""


def _value(name: str) -> str:
    return name if re.fullmatch("[a-zA-Z]", name) else ""


def _case(data: Mapping[str, Any]) -> Iterator[str]:
    told, names = symbols(data), list(data["letters"])
    writer = _Writer(told, names)
    if data["at"]:
        yield "\\subsection*{" + _plain(", ".join(f"{k}: {v}" for k, v in data["at"].items())) + "}"
    signs = [f"\\({told.letters[k]}{_SIGNS[sign]}\\)" for k, sign in data["letters"].items()]
    signs += [f"\\({writer.ratio(c['is'])}{_SIGNS[c['sign']]}\\)" for c in data["domain"].values()]
    tops = [f" \\({told.letters[k]}\\) is only bounded from below: it stands for the maximum." for k in data["maxima"]]
    yield "Letters: " + ", ".join(signs) + "." + "".join(tops)
    if told.vectors or told.values:
        named = [*((k.partition(": ")[2] or k, s) for k, s in told.vectors.items()), *told.values.items()]
        listed = [f"\\({s}\\) is {_plain(k)}" for k, s in named if s != k]
        told_of = f"Vectors and values: {'; '.join(listed)}. " if listed else ""
        yield f"{told_of}Products of deviations are summed over the clients."
    for program in data["programs"]:
        target = writer.form(program["target"])
        yield f"\\textbf{{To show}} ({_plain(program['claimed'])}): \\(T \\le 0\\), where $T = {target}$."
        for k, item in enumerate(program["known"], 1):
            shared = " shared:" if "shared" in item else ""
            yield (
                f"\\textbf{{Known ({k}),}}{shared} {_plain(item['words'])}: \\(K_{{{k}}} \\le 0\\), where "
                f"$K_{{{k}}} = {writer.form(item['form'])}$, with the weight "
                f"$\\lambda_{{{k}}} = {writer.coefficient(item['weight'])}$, which is \\(\\ge 0\\)."
            )
        for k, item in enumerate(program["squares"], 1):
            yield (
                f"\\textbf{{Square ({k}),}} with the weight $\\sigma_{{{k}}} = {writer.coefficient(item['weight'])}$, "
                f"which is \\(\\ge 0\\): that of $q_{{{k}}} = {writer.vector(item['vector'])}$."
            )
        yield f"\\textbf{{Adding these up,}} $T = {_total(program)}$, so that \\(T \\le 0\\). \\hfill\\(\\square\\)"


def _total(program: Mapping[str, Any]) -> str:
    known = [f"\\lambda_{{{k}}} K_{{{k}}}" for k, _ in enumerate(program["known"], 1)]
    squares = [f" - \\sigma_{{{k}}} \\|q_{{{k}}}\\|^{{2}}" for k, _ in enumerate(program["squares"], 1)]
    return (" + ".join(known) + "".join(squares)).strip() or "0"


class _Writer:
    """Numbers, forms and vectors of an object in LaTeX."""

    def __init__(self, told: Symbols, names: Sequence[str]) -> None:
        self._told, self._names, self._ring = told, names, polynomials(names)

    def _polynomial(self, of: Any) -> Any:
        pad = () if self._names else (0,)
        found: dict[tuple[int, ...], Fraction] = {}
        for c, m in of:
            found[(*m, *pad)] = found.get((*m, *pad), Fraction(0)) + Fraction(c)
        return from_terms(self._ring, found)

    def coefficient(self, c: Any) -> str:
        """A fraction, or a quotient in factors."""
        if isinstance(c, str):
            return _number(Fraction(c))
        return self._quotient(Ratio.of(self._polynomial(c["num"]), self._polynomial(c["den"])))

    def ratio(self, of: Any) -> str:
        """A polynomial as a sum."""
        return self._sum(self._polynomial(of))

    def _quotient(self, c: Ratio) -> str:
        (top, above), (bottom, below) = c.num.factor(), c.den.factor()
        number = Fraction(int(top.p), int(top.q)) / Fraction(int(bottom.p), int(bottom.q))
        sign, up, down = "-" if number < 0 else "", abs(number).numerator, abs(number).denominator
        over, under = self._product(up, above), self._product(down, below)
        return f"{sign}\\frac{{{over}}}{{{under}}}" if under != "1" else f"{sign}{over}"

    def _product(self, number: int, factors: Any) -> str:
        parts = [] if number == 1 and factors else [str(number)]
        for factor, power in factors:
            inner = self._sum(factor)
            raised = f"^{{{int(power)}}}" if int(power) > 1 else ""
            plain = len(factor) == 1
            parts.append(f"{inner}{raised}" if plain else f"({inner}){raised}")
        return " ".join(parts)

    def _sum(self, p: Any) -> str:
        out = ""
        for m, c in terms(p):
            powers = [
                self._told.letters[name] + (f"^{{{k}}}" if k > 1 else "")
                for name, k in zip(self._names, m, strict=False)
                if k
            ]
            size = "" if abs(c) == 1 and powers else _number(abs(c))
            out += (" - " if c < 0 else " + " if out else "") + " ".join(filter(None, [size, *powers]))
        return out.strip() or "0"

    def form(self, of: Mapping[str, Any]) -> str:
        """A form as a sum of products and values."""
        return self._combination((c, self._told.product(key)) for key, c in of.items())

    def vector(self, of: Mapping[str, Any]) -> str:
        """A vector as a sum of those that are named."""
        return self._combination((c, "1" if name == "1" else self._told.vectors[name]) for name, c in of.items())

    def _combination(self, of: Iterable[tuple[Any, str]]) -> str:
        out = ""
        for c, thing in of:
            written = self.coefficient(c)
            if (
                not written.startswith(("\\frac", "-\\frac"))
                and re.search(r"(?<!^) [+-] ", written)
                and "(" not in written
            ):
                written = f"({written})"
            negative, size = written.startswith("-"), written.removeprefix("-")
            size = "" if size == "1" and thing != "1" else size
            out += (" - " if negative else " + " if out else "") + f"{size} {thing}".strip()
        return out.strip() or "0"


def _number(c: Fraction) -> str:
    sign = "-" if c < 0 else ""
    return f"{sign}\\frac{{{abs(c.numerator)}}}{{{c.denominator}}}" if c.denominator > 1 else str(c.numerator)


def _plain(words: str) -> str:
    found = words.replace("\\", "/").replace("^", "\\^{}").replace("~", " ")
    found = re.sub(r"([&%$#_{}])", lambda m: m[0] if m[0] in "{}" else "\\" + m[0], found)
    return (
        found.replace("<", "\\textless{}")
        .replace(">", "\\textgreater{}")
        .replace("|", "\\textbar{}")
        .replace("*", "{*}")
    )
