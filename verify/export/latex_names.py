"""How letters, vectors and values of an object are written in LaTeX, and where what is known comes from, in words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from verify.export.latex_reading import Symbols

_GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
)
#: What has a letter of its own.
_NAMED = {"Pi": "\\Pi", "Phi": "\\Phi", "eps": "\\varepsilon", "fallen": "\\varepsilon^{+}"}
_BETWEEN = re.compile(
    r"(?:each )?(\w\*?)(?:_i)? has curvatures between \((.+?)\) and \((.+?)\), between (.+?) and (.+?)"
    r"(?:, summed over the clients)?"
)
_LARGEST = re.compile(
    r"the largest curvature of (\w\*?) is \((.+?)\): at .*, which is drawn, by the gradient at (.+?)(?:, where .*)?"
)
_COMPRESSED = re.compile(r"E\|(mean of )?C_i\(v_i\) - v_i\|\^2 <= \(\((.+?)\)\) .*")
#: Ends of names of blocks of vectors that stand for those of each client, less their mean.
DEVIATION = "deviation"


def symbols(objects: Sequence[Mapping[str, Any]]) -> Symbols:
    """How all is written, each otherwise."""
    programs = [p for data in objects for p in data["programs"]]
    forms = [form for p in programs for form in (p["target"], *(item["form"] for item in p["known"]))]
    squares = [item["vector"] for p in programs for item in p["squares"]]
    keys = dict.fromkeys(key for form in forms for key in form)
    rows = dict.fromkeys([*(r for key in keys if "|" in key for r in key.split("|")), *(r for s in squares for r in s)])
    rows.pop("1", None)
    points = _points(item for p in programs for item in p["known"])
    counts = {name[0] for of in rows if (name := _gradient(_base(of)))}
    many = {f for f in counts if len({_base(r) for r in rows if (g := _gradient(_base(r))) and g[0] == f}) > 1}

    def of_base(base: str, index: str) -> str:
        if found := _gradient(base):
            at = points.get(found, "")
            star = "^{\\star}" if found[0].endswith("*") else ""
            below = index if found[0][0] == "f" else ""
            return f"\\nabla {found[0][0]}{star}{below}" + (f"({at or found[1]})" if found[0] in many else "")
        if match := re.fullmatch(r"error (\d+) of \w+", base):
            return ("e" if match[1] == "0" else f"e'_{match[1]}") + index
        written = _letter(base)
        return written + index if (written and "_" not in written) or not index else ""

    def vector(row: str) -> str:
        base, kind = _base(row), _kind(row)
        accent = {"mean": "\\overline{%s}", "deviation": "\\widetilde{%s}_{i}", "": "%s"}[kind]
        plain = of_base(base, "" if kind or not row.partition(": ")[0].endswith(DEVIATION) else "_{i}")
        return accent % plain if plain else ""

    taken: set[str] = {"\\Delta"}
    letters = _distinct(dict.fromkeys(x for data in objects for x in data["letters"]), _letter, r"\theta", taken)
    vectors = _distinct(rows, vector, "v", taken)
    partners = dict(_partners(rows))
    both = _distinct(partners, lambda row: of_base(_base(row), "_{i}"), "v_{i}", taken)
    values = _distinct((key for key in keys if "|" not in key), lambda name: _value(name, points), "F", taken)
    return Symbols(letters, vectors, values, {row: (symbol, partners[row]) for row, symbol in both.items()})


def _partners(rows: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Means of what each client has, with the deviations from them."""
    deviations = {_base(row): row for row in rows if _kind(row) == "deviation"}
    for row in rows:
        if _kind(row) == "mean" and _base(row) in deviations:
            yield row, deviations[_base(row)]


def _kind(row: str) -> str:
    name = row.partition(": ")[2] or row
    if name.startswith("deviation of "):
        return "deviation"
    return "mean" if name.startswith("mean of ") or name.endswith("_bar") else ""


def _base(row: str) -> str:
    name = row.partition(": ")[2] or row
    return name.removeprefix("deviation of ").removeprefix("mean of ").removesuffix("_bar")


def _gradient(base: str) -> tuple[str, str] | None:
    match = re.fullmatch(r"grad (\w\*?)\((\d+)\)", base)
    return (match[1], match[2]) if match else None


def _points(known: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str], str]:
    """The letters of points, by the function that is taken there and their number, as inequalities between two tell."""
    found = {}
    for item in known:
        match, said = re.match(r"(\w\*?)\[(\d+),(\d+)\]", item["name"]), _BETWEEN.fullmatch(_said(item))
        if match and said:
            for number, of in ((match[2], said[4]), (match[3], said[5])):
                if letter := _point_letter(of):
                    found[match[1], number] = letter
    return found


def _said(item: Mapping[str, Any]) -> str:
    return re.sub(r"\b(given|letter) |^known \d+, of ", "", item["words"])


def _distinct(names: Iterable[str], written: Callable[[str], str], other: str, taken: set[str]) -> dict[str, str]:
    found = {}
    for k, name in enumerate(names, 1):
        symbol = written(name)
        if symbol in taken or not symbol:
            symbol = f"{other}_{{{k}}}"
        taken.add(symbol)
        found[name] = symbol
    return found


def _letter(name: str) -> str:
    if name in _NAMED:
        return _NAMED[name]
    base, _, below = name.rpartition(".")[2].strip("_").replace(" of ", "_").replace(" ", "_").partition("_")
    base = {"max": "M", "slack": "s"}.get(base, base)
    star = "^{\\star}" if base.endswith("*") else ""
    base = base.removesuffix("*")
    if base in _GREEK.split():
        base = "\\" + base
    elif not re.fullmatch("[A-Za-z]", base):
        return ""
    below = below.strip("_")
    if base == "M" and below == "0":
        return "r"
    return f"{base}_{{{below}}}" if re.fullmatch("[A-Za-z0-9]+", below) else "" if below else base + star


def _value(name: str, points: Mapping[tuple[str, str], str]) -> str:
    if match := re.fullmatch(r"(mean of )?(\w)(\*?)\((\d+)\)", name):
        star = "^{\\star}" if match[3] else ""
        at = points.get((match[2] + match[3], match[4]), "").removesuffix("_{i}")
        if not at:
            return ""
        return ("\\overline{D}" if match[1] else "D") + f"_{{{match[2]}{star}}}({at})"
    if match := re.fullmatch(r"\['draw'\] sum of (\w\*?) drawn \(\d+\)", name):
        return f"S_{{{_star(match[1])}}}"
    return _letter(name)


def words(item: Mapping[str, Any], told: Symbols) -> str:
    """Where a known inequality comes from."""
    said = _said(item)
    if match := _BETWEEN.fullmatch(said):
        function, low, high, one, other = match.groups()
        two = ", both ways" if item.get("both") else ""
        return (
            f"{_each(said, function)} is \\({math(low, told)}\\)-strongly convex and \\({math(high, told)}\\)-smooth, "
            f"between {_point(one)} and {_point(other)}{two}"
        )
    if match := _LARGEST.fullmatch(said):
        return (
            f"each \\({_star(match[1])}_{{i}}\\) is \\({math(match[2], told)}\\)-smooth: at the point after "
            f"the step, by the gradient at {_point(match[3])}, for the clients that are drawn"
        )
    if match := _COMPRESSED.fullmatch(said):
        return f"compression, of the {'mean error' if match[1] else 'errors'}, with \\({math(match[2], told)}\\)"
    return plain(said.rstrip("."))


def _star(function: str) -> str:
    return function.replace("*", "^{\\star}")


def _each(said: str, function: str) -> str:
    of = _star(function)
    return f"each \\({of}_{{i}}\\)" if said.startswith("each ") else f"\\({of}\\)"


def _point(of: str) -> str:
    """A point, as its letter where it is one of the method's."""
    letter = _point_letter(of)
    return f"\\({letter}\\)" if letter else plain(of)


def _point_letter(of: str) -> str:
    star, _, rest = of.partition(" + ")
    if not star.endswith("*"):
        return ""
    if rest == "0":
        return f"{star[:-1]}^{{\\star}}"
    match = re.fullmatch(r"(?:\(1\)\*(?:mean of (\w+)|(\w+)_bar) \+ )?\(1\)\*(deviation of )?(\w+)", rest)
    if match and (match[1] or match[2] or match[4]) == match[4]:
        return f"{_letter(match[4])}{'_{i}' if match[3] else ''}"
    return ""


def said(line: str) -> str:
    """What an object says, with its sums and letters as formulas."""
    found = plain(line)
    for match in re.finditer(r"sum of \(([\w-]+)\) \[('\w+')?\] \[('\w+')?\]", line):
        weight, over, of = match.groups()
        below = f"i\\,\\text{{{over.strip(chr(39))}}}" if over else "i"
        vector = _letter(of.strip("'")) + "_{i}" if of else ""
        size = "" if weight == "1" else _letter(weight) + "_{i}"
        found = found.replace(plain(match[0]), f"\\(\\sum_{{{below}}} {size} {vector}\\)")
    return found


def case(of: Mapping[str, str]) -> str:
    """The heading of a case."""
    words = plain(", ".join(of.values()))
    words = words.replace("mu = L", "\\(\\mu=L\\)").replace("mu \\textless{} L", "\\(\\mu<L\\)")
    return f"Case {words}" if words else ""


def math(of: str, told: Symbols) -> str:
    """A number in words as a formula."""
    for name, symbol in sorted(told.letters.items(), key=lambda pair: -len(pair[0])):
        if of == name:
            return symbol
        if of == f"1/{name}":
            return f"1/{symbol}"
    return f"\\text{{{plain(of)}}}"


def plain(text: str) -> str:
    """Words with what LaTeX reads otherwise escaped."""
    found = text.replace("\\", "/").replace("^", "\\^{}").replace("~", " ")
    found = re.sub(r"([&%$#_{}])", lambda m: m[0] if m[0] in "{}" else "\\" + m[0], found)
    return (
        found.replace("<", "\\textless{}")
        .replace(">", "\\textgreater{}")
        .replace("|", "\\textbar{}")
        .replace("*", "{*}")
    )
