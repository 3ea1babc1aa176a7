"""Word the statements of proof objects for a proof in LaTeX: where facts come from, what names stand for, and which
case is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from verify.export.latex_names import BETWEEN, letter_of, point_letter, source, star_of
from verify.export.latex_reading import Symbols
from verify.report.names import COMPOSED

_CURVED = re.compile(r"(?:each )?(\w\*?)(?:_i)? has curvatures between (\(.+?\)|\S+) and (\(.+?\)|\S+), between .*")
_LARGEST = re.compile(
    r"the largest curvature of (\w\*?) is \((.+?)\): at .*, which is drawn, by the gradient at (.+?)(?:, where .*)?"
)
_COMPRESSED = re.compile(r"E\|(mean of )?C_i\(v_i\) - v_i\|\^2 <= \(\((.+?)\)\) .*")
_OF_CLASS = re.compile(r"the class says of the average of the f_i, at (.+?): (.+)")
_OF_CLIENT = re.compile(
    r"the client's (function|conjugate) has curvatures in \[(.+?), (.+?)\]: between \((.+)\) and \((.+)\)"
)
_OF_SETTING = re.compile(r"what the setting says is at most 0: (.+)")
_ZERO = re.compile(r"summed over the clients this is zero: <(.+), (.+)>")
_SMOOTH = {
    "each f_i is L_i-smooth": r"each \(f_{i}\) is \(L_{i}\)-smooth",
    "the average is L-smooth": r"the average is \(L\)-smooth",
}
_SUM = re.compile(r"sum of \(([^)]*)\) \[('\w+')?\] \[('\w+')?\]")
_CASE = re.compile(r"in this case it is (not )?so that (.+) (!=|==|<=|<) (.+)")
_TANGENT = re.compile(r"(\w\*?\(\d+\)), grad \1: of the client's (\w\*?) at \((.+)\), less its tangent at \((.+)\)")
_ADDED = "left - right is a sum over the clients"
_ALIKE = "nothing changes where all vectors move alike, so that of these some are 0: "
_ADD = (
    "Up to a positive factor, the left side less the right one is a sum over the clients. So it is enough that what "
    "each client adds is at most 0, of each sort of clients, up to what is known only in the sum over all of them: "
    "that is marked as shared, and has the same weight for all clients, without letters of a client's own."
)


def words(item: Mapping[str, Any], symbols: Symbols) -> str:
    """Where a known inequality comes from."""
    origin = source(item)
    if match := _CURVED.fullmatch(origin):
        two = ", both ways" if item.get("both") else ""
        return f"{_each(origin, match[1])} {_curved(match[2], match[3], symbols)}, {_between(origin, symbols)}{two}"
    for start, written in _SMOOTH.items():
        if origin.startswith(f"{start}, "):
            return f"{written}, {_between(origin, symbols)}"
    if match := _OF_CLASS.fullmatch(origin):
        return f"the {plain(match[2])} inequality of the average, at {_point(match[1], symbols)}"
    if match := _LARGEST.fullmatch(origin):
        return (
            f"each \\({star_of(match[1])}_{{i}}\\) is \\({math(match[2], symbols)}\\)-smooth: at the point after "
            f"the step, by the gradient at {_point(match[3], symbols)}, for the clients that are drawn"
        )
    if match := _COMPRESSED.fullmatch(origin):
        return f"compression, of the {'mean error' if match[1] else 'errors'}, with \\({math(match[2], symbols)}\\)"
    if match := _OF_CLIENT.fullmatch(origin):
        ends = [combination(of, symbols) for of in match.groups()[1:]]
        if all(ends):
            what = "conjugate" if match[1] == "conjugate" else "function"
            return (
                f"the client's {what} has curvatures between \\({ends[0]}\\) and \\({ends[1]}\\), "
                f"between \\({ends[2]}\\) and \\({ends[3]}\\)"
            )
    if match := _OF_SETTING.fullmatch(origin):
        return f"by the setting, in which these are at most 0: {mathematical(match[1].rstrip('.'))}"
    if (
        (match := _ZERO.fullmatch(origin))
        and (one := combination(match[1], symbols))
        and (by := combination(match[2], symbols))
    ):
        return f"\\({one}\\) is 0 in the sum over the clients, so also its product with \\({by}\\)"
    return mathematical(origin.rstrip(".,"))


def _curved(least: str, largest: str, symbols: Symbols) -> str:
    """Name functions by the ends of their curvatures, which are in brackets unless they are digits or "any"."""
    low, high = (math(of.removeprefix("(").removesuffix(")"), symbols) for of in (least, largest))
    if low.startswith("-"):
        return f"has curvatures between \\({low}\\) and \\({high}\\)"
    convex = "is convex" if least == "0" else f"is \\({low}\\)-strongly convex"
    return convex if largest == "any" else f"{convex} and \\({high}\\)-smooth"


def _between(origin: str, symbols: Symbols) -> str:
    match = BETWEEN.fullmatch(origin)
    assert match is not None, "it says between which points"
    return f"between {_point(match[1], symbols)} and {_point(match[2], symbols)}"


def _each(origin: str, function: str) -> str:
    of = star_of(function)
    return f"each \\({of}_{{i}}\\)" if origin.startswith("each ") else f"\\({of}\\)"


def _point(of: str, symbols: Symbols) -> str:
    """A point, as its letter where it is one of the method's, or by a formula."""
    formula = point_letter(of) or combination(of, symbols)
    called = symbols.points.get(of, "")
    if formula:
        return f"\\({called}={formula}\\)" if called else f"\\({formula}\\)"
    return f"\\({called}\\): {mathematical(of)}" if called else mathematical(of)


def combination(of: str, symbols: Symbols) -> str:
    """A sum of products of letters and vectors in words as a formula; empty where a name is not known.

    Vectors are less their values at the optimum, so that x* + x is a point x.
    """
    out = ""
    for term in re.split(r" \+ (?![^()]*\))", re.sub(r"^\w\* \+ ", "", of)):
        match = re.fullmatch(r"\((.+)\)\*(.+)", term) or re.fullmatch(r"(-?)(.+)", term)
        if match is None:
            return ""
        size, thing = "" if match[1] in ("", "-", "1", "-1") else _size(match[1], symbols), _product(match[2], symbols)
        if not thing or (match[1] not in ("", "-", "1", "-1") and not size):
            return ""
        negative = size.startswith("-") or match[1] in ("-", "-1")
        sign = " - " if negative and out else "-" if negative else " + " if out else ""
        out += sign + f"{size.removeprefix('-')} {thing}".strip()
    return out


def _size(of: str, symbols: Symbols) -> str:
    """A product of letters and numbers, or a sum of such in brackets, as a formula; empty for other texts."""
    terms = []
    for term in re.split(r" (?=[+-] )", of):
        negative, product = term.startswith("-"), term.lstrip("+- ")
        factors = [x if x.isdigit() else symbols.letters.get(x) or letter_of(x) for x in product.split("*")]
        if not all(factors):
            return ""
        terms.append(("-" if negative else "+", " ".join(factors)))
    terms.sort(key=lambda term: term[0] == "-")
    written = " ".join(f"{sign} {product}" for sign, product in terms).removeprefix("+ ")
    return f"({written})" if len(terms) > 1 else written.replace("- ", "-", 1)


def _product(of: str, symbols: Symbols) -> str:
    """A product of names: the longest that is known first."""
    names = {**{row.partition(": ")[2] or row: symbol for row, symbol in symbols.vectors.items()}, **symbols.letters}
    if of.endswith("_bar") and of not in names:
        names[of] = f"\\overline{{{letter_of(of.removesuffix('_bar'))}}}" if letter_of(of.removesuffix("_bar")) else ""
    found = []
    while of:
        name = max((n for n in names if of == n or of.startswith(f"{n} ")), key=len, default=None)
        first = of.split(" ")[0]
        symbol = names[name] if name is not None else first if first.isdigit() else letter_of(first)
        if name is None and (slope := re.match(r"grad (\w\*?)\((\d+)\)", of)):
            first, symbol = slope[0], f"\\nabla {star_of(slope[1])}({slope[2]})"
        if not symbol:
            return ""
        found.append(symbol)
        of = of[len(name or first) :].strip()
    return " ".join(found)


#: Words of formulas, beside Greek letters.
_FUNCTIONS = {"grad": r"\nabla", "sum": r"\sum", "prod": r"\prod", "sqrt": r"\surd", "max": r"\max", "min": r"\min"}
#: Those that are words where they stand alone.
_SPOKEN = ("sum", "max", "min")
_CAPITALS = ("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega")
_PIECES = re.compile(
    r"[A-Za-z]{2,}|<=|>=|<(?=\S)|(?<=\S)>|[_^]\(([^()]*)\)|[_^]\{((?:[^{}]|\{[^{}]*\})*)\}|"
    r"[_^]\d+(?=sum|prod|sqrt|max|min|grad)|[_^][A-Za-z0-9]+|\^\*|."
)
#: Accents, which are written as subscripts in words.
_ACCENTS = {"hat": r"\hat", "bar": r"\bar", "tilde": r"\tilde"}
_SIGNS = {"<=": r" \le ", ">=": r" \ge ", "<": r"\langle ", ">": r"\rangle ", "{": r"\{", "}": r"\}"}


def mathematical(text: str) -> str:
    """Words, with formulas among them set as such."""
    # Formulas as the first of a pair, what stands behind them as the second; words as the second alone.
    out: list[tuple[str, str]] = []
    for part in re.split(r" (?![^{}]*\})", text):  # what stands in braces is one part
        core = part.rstrip(",.;:")
        end, tex = (
            part[len(core) :],
            "" if core in ("a", "A", "I", "-") or core.strip("(){}") in _SPOKEN else _formula(core),
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
        elif piece[0] in "_^" and len(piece) > 1:
            inner = match[1] or match[2] or piece[1:]
            below = r" \in ".join(map(_formula, inner.split(" in "))) or f"\\mathrm{{{plain(inner)}}}"
            # A second subscript joins the first.
            joined = piece[0] == "_" and last.startswith("_{") and found.endswith(last)
            found = f"{found[:-1]}, {below}}}" if joined else f"{found}{piece[0]}{{{below}}}"
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
            # Of a function or a point, as f*(y) and x* are; otherwise a product, as behind an exponent.
            ends = not last.startswith("^") and after in ("", *"-|,.)>]")
            starred = piece == "^*" or ends or (after == "(" and before in ("f", "g", "h"))
            found += r"^{\star}" if starred else r"\, "
        elif piece in _SIGNS or re.match(r"[\w|()\[\]{}+\-/=,.^_']", piece):
            found += _SIGNS.get(piece, piece)
        else:
            return ""
        last = found[start:]
    return found


def added(lines: Iterable[str]) -> Iterator[str]:
    """Yield the remark that something is shown client by client, if it is."""
    if any(line.startswith(_ADDED) for line in lines):
        yield _ADD


def sentences(lines: Sequence[str], symbols: Symbols) -> Iterator[str]:
    """Yield what objects state besides the claim."""
    sums = dict(line.split(" = ", 1) for line in lines if re.match(r"(sum|total) \d+ = ", line))
    for line in lines:
        match = re.fullmatch(r"(quotient \d+): 0 = (\S+ \d+) \+ -(\S+ \d+) \1", line)
        if line.startswith(_ALIKE):
            names = [_product(name, symbols) or plain(name) for name in line.removeprefix(_ALIKE).split(", ")]
            yield f"Nothing changes where vectors are shifted so that \\({' = '.join(names)} = 0\\), as they are here."
        elif tangent := _TANGENT.fullmatch(line):
            value, ends = symbols.values.get(tangent[1], ""), [combination(of, symbols) for of in tangent.groups()[2:]]
            if value and all(ends):
                slope = _product(f"grad {tangent[1]}", symbols)
                yield (
                    f"\\({value}\\) and \\({slope}\\) are the value and the gradient of the client's "
                    f"\\({star_of(tangent[2])}\\) at \\({ends[0]}\\), less its tangent at \\({ends[1]}\\)."
                )
        elif match and {match[2], match[3]} <= set(sums):
            top, bottom = (_sums(sums[name]) for name in match.groups()[1:])
            name = combination(match[1], symbols)
            # Symbols that occur in no formula need no definition.
            if name:
                yield f"\\({name} = ({top})/{bottom}\\)."
        elif line.partition(" = ")[0] in sums or line.startswith(_ADDED) or _CASE.fullmatch(line):
            continue
        elif (match := re.fullmatch(r"(\w[\w.]*) = (.*root.*)", line)) and letter_of(match[1]):
            yield f"\\({letter_of(match[1])} = {_polynomial(match[2], symbols)}\\)."
        elif match := re.fullmatch(r"of (\S+), which follows from it (by [^:]+):", line):
            yield f"From this {plain(match[1])} follows {mathematical(match[2])}:"
        else:
            yield mathematical(line) + ("" if line.endswith((":", ".")) else ".")


def _sums(of: str) -> str:
    """Sums over the clients as formulas."""
    found = []
    for weight, over, vector in _SUM.findall(of):
        below = f"i\\,\\text{{{over.strip(chr(39))}}}" if over else "i"
        size = "" if weight == "1" else letter_of(weight) + "_{i}"
        thing = letter_of(vector.strip("'")) + "_{i}" if vector else ""
        found.append(" ".join(filter(None, [f"\\sum_{{{below}}}", size, thing])))
    return " + ".join(found)


def _polynomial(of: str, symbols: Symbols) -> str:
    """A polynomial in letters."""
    for name, symbol in sorted(symbols.letters.items(), key=lambda pair: -len(pair[0])):
        of = re.sub(rf"(?<![\w\\]){re.escape(name)}(?!\w)", symbol.replace("\\", r"\\"), of)
    return re.sub(r"\^(\d+)", r"^{\1}", of).replace("*", " ")


def conventions(symbols: Symbols) -> Iterator[str]:
    """Yield the meaning of the symbols used; what clients have is given by formulas, which are read again."""
    if symbols.clients:
        both = [
            f"${one} = {symbols.vectors[mean]} + {symbols.vectors[other]}$"
            for mean, (one, other) in symbols.clients.items()
        ]
        yield (
            "Vectors are those less their values at the optimum. What a client has is the mean over the clients and a "
            f"deviation from it, of which the sum is 0: {', '.join(both)}."
        )
    if any(re.fullmatch(r"\\\w+\{e\}(_\{i\})?|e_\{i\}", symbol) for symbol in symbols.vectors.values()):
        yield "Of a compressor, \\(e_{i}\\) is the error."
    if any(re.match(r"(\\overline\{)?D", symbol) for symbol in symbols.values.values()):
        yield "Of a function, \\(D\\) is what it is larger by than its linear model at the optimum."
    for name, symbol in symbols.letters.items():
        if symbol == "\\Lambda" or (symbol.startswith("\\theta_") and letter_of(name) != symbol):
            yield f"\\({symbol}\\) is {mathematical(name)}."


def unexplained(symbols: Symbols, written: str) -> Iterator[str]:
    """Yield what symbols without a name of their own stand for, unless it is ``written`` already."""
    for name, symbol in {**symbols.vectors, **symbols.values}.items():
        if re.fullmatch(r"[vF]_\{(i, )?\d+\}", symbol) and f"\\({symbol}" not in written:
            yield f"\\({symbol}\\) is {mathematical(name.partition(': ')[2] or name)}."


def heading(of: Mapping[str, Any]) -> str:
    """The heading of a case: its name, or what is true of the letters in it."""
    met = [match for line in of["says"] if (match := _CASE.fullmatch(line))]
    if met:
        return "; ".join(filter(None, map(_condition, met)))
    name = ", ".join(of["at"].values())
    if re.fullmatch(r"[\d.]+", name):
        return ""
    return plain(name).replace("mu = L", "\\(\\mu=L\\)").replace("mu \\textless{} L", "\\(\\mu<L\\)")


def _condition(match: re.Match[str]) -> str:
    by = {"!=": "==", "==": "!=", "<=": ">", "<": ">="}[match[3]] if match[1] else match[3]
    sign = {"!=": r"\ne", "==": "=", "<=": r"\le", "<": "<", ">": ">", ">=": r"\ge"}[by]
    sides = [letter_of(side) or f"\\text{{{plain(side)}}}" for side in (match[2], match[4])]
    return f"\\({sides[0]} {sign} {sides[1] if not match[4].isdigit() else match[4]}\\)"


def math(of: str, symbols: Symbols) -> str:
    """A number in words as a formula."""
    for name, symbol in sorted(symbols.letters.items(), key=lambda pair: -len(pair[0])):
        if of == name:
            return symbol
        if of == f"1/{name}":
            return f"1/{symbol}"
    parts = [part.removeprefix("-") for part in of.split(" + ")]
    if all(part.isdigit() or letter_of(part) for part in parts):
        terms = sorted(zip(of.split(" + "), parts, strict=True), key=lambda pair: pair[0].startswith("-"))
        signed = [
            ("-" if of.startswith("-") else "+", part if part.isdigit() else letter_of(part)) for of, part in terms
        ]
        return "".join(f"{sign}{size}" for sign, size in signed).removeprefix("+")
    return f"\\text{{{plain(of)}}}"


#: Characters that LaTeX reads otherwise in words.
_ESCAPED = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": "/", "^": "\\^{}", "~": " ", "*": "{*}"}
    | {"<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}"}
)


def plain(text: str) -> str:
    """Return words with the characters escaped that LaTeX reads otherwise."""
    return text.translate(_ESCAPED)
