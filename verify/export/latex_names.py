"""Letters, vectors and values of an object in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from verify.export.latex_reading import Symbols
from verify.export.objects import Reasons
from verify.multipliers.reasons import Between, FunctionPoint, Reason
from verify.reading.worlds import Monomial

GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta kappa lambda mu nu xi pi rho sigma tau phi chi psi omega"
)
#: The things that have a letter of their own.
_NAMED = {"Pi": "\\Pi", "Phi": "\\Phi", "eps": "\\varepsilon", "fallen": "\\varepsilon^{+}", "ratio": "\\varrho"}
_NAMED |= {"root 0": "\\theta", "root 1": "\\vartheta", "the mean of the L_i^2": "\\Lambda"}
#: The proximal point of a client's function, or of g.
_PROX = re.compile(r"prox (\w\d*)\(\d+\)")
#: Ends of names of blocks of vectors that stand for those of each client, less their mean.
DEVIATION = "deviation"


def symbols(objects: Sequence[Mapping[str, Any]], reasons: Reasons) -> Symbols:
    """The LaTeX of each name, all distinct."""
    programs = [p for data in objects for p in data["programs"]]
    forms = [form for p in programs for form in (p["target"], *(item["form"] for item in p["known"]))]
    squares = [item["vector"] for p in programs for item in p["squares"]]
    keys = dict.fromkeys(key for form in forms for key in form)
    rows = dict.fromkeys([*(r for key in keys if "|" in key for r in key.split("|")), *(r for s in squares for r in s)])
    rows.pop("1", None)
    points, symbols_of_points = _points(reasons.of(item) for p in programs for item in p["known"])
    counts = {name[0] for of in rows if (name := gradient_of(_base(of)))}
    many = {f for f in counts if len({_base(r) for r in rows if (g := gradient_of(_base(r))) and g[0] == f}) > 1}

    def of_base(base: str, index: str) -> str:
        if found := gradient_of(base):
            at = points.get(found, "")
            below = index if found[0] in ("f", "f*") else ""
            return f"\\nabla {function_symbol(found[0])}{below}" + (f"({at or found[1]})" if found[0] in many else "")
        if match := _PROX.fullmatch(base):
            return "\\mathrm{prox}" + (index if match[1] == "f" else f"^{{{function_symbol(match[1])}}}")
        if match := re.fullmatch(r"error (\d+) of \w+", base):
            return "e" + "'" * int(match[1]) + index
        written = letter_of(base)
        return written + index if (written and "_" not in written) or not index else ""

    def vector(row: str) -> str:
        base, kind = _base(row), _kind(row)
        accent = {"mean": "\\overline{%s}", "deviation": "\\widetilde{%s}_{i}", "": "%s"}[kind]
        plain = of_base(base, "" if kind or not row.partition(": ")[0].endswith(DEVIATION) else "_{i}")
        return accent % plain if plain else ""

    taken: set[str] = {"\\Delta"}
    letters = _distinct(
        dict.fromkeys(x for data in objects for x in data["letters"]), letter_of, lambda _: r"\theta_{%d}", taken
    )
    vectors = _distinct(rows, vector, lambda row: "v_{i, %d}" if _kind(row) == "deviation" else "v_{%d}", taken)
    partners = dict(_partners(rows))
    both = _distinct(partners, lambda row: of_base(_base(row), "_{i}"), lambda _: "v_{i, %d}", taken)
    names = (key for key in keys if "|" not in key)
    values = _distinct(names, lambda name: _value(name, points), lambda _: "F_{%d}", taken)
    clients = {row: (symbol, partners[row]) for row, symbol in both.items()}
    return Symbols(letters, vectors, values, clients, symbols_of_points)


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


def gradient_of(base: str) -> tuple[str, str] | None:
    """The function of a gradient and the number of the point, by the name of the gradient."""
    match = re.fullmatch(r"grad (\w\d*\*?)\((\d+)\)", base)
    return (match[1], match[2]) if match else None


def _points(reasons: Iterable[Reason | None]) -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    """The symbols of points, by the function that is taken there and their number, as inequalities between two have
    them; and by their descriptions those of points that are not letters, as the one after a step."""
    found: dict[tuple[str, str], str] = {}
    others: dict[str, str] = {}
    for point, function in ((p, r.function) for r in reasons if isinstance(r, Between) for p in r.points if p.anchor):
        letter = point_letter(point)
        if not letter:
            of = str(point)
            after = _is_after_step(point) and "x^{+}" not in set(others.values()) - {others.get(of)}
            # Points of several functions have numbers of their own.
            numbers = (f"x_{{{k}}}" for k in count(point.number))
            free = next(symbol for symbol in numbers if symbol not in others.values())
            letter = others.setdefault(of, "x^{+}" if after else free)
        found[function, str(point.number)] = letter
    return found, others


def _is_after_step(point: FunctionPoint) -> bool:
    """Return True if a point is x and more that is added to it."""
    first = next(iter(point.offset.of.items()), None)
    return first is not None and point.anchor == "x*" and len(point.offset.of) > 1 and _is_vector(first, "x")


def _is_vector(term: tuple[Monomial, Any], name: str) -> bool:
    (draws, atoms), c = term
    return c == 1 and not draws and [atom.name for atom in atoms] == [name]


def point_letter(point: FunctionPoint) -> str:
    """The letter of a point that is one of the method's; empty for others."""
    if point.offset.is_zero():
        return f"{point.anchor.removesuffix('*')}^{{\\star}}"
    terms = point.offset.of
    names = [atom.name for (draws, atoms), c in terms.items() if c == 1 and not draws for atom in atoms]
    if len(names) != len(terms) or any(len(atoms) != 1 for _, atoms in terms):
        return ""
    own = names[-1].startswith("deviation of ")
    name = names[-1].removeprefix("deviation of ")
    if not re.fullmatch(r"\w+", name) or names[:-1] not in ([], [f"mean of {name}"], [f"{name}_bar"]):
        return ""
    letter = letter_of(name)
    return f"{letter}_{{i}}" if letter and own else letter


def _distinct(
    names: Iterable[str], written: Callable[[str], str], other: Callable[[str], str], taken: set[str]
) -> dict[str, str]:
    """The symbols of names; what has none, or one that is taken, has its number in one of the form ``other``."""
    found = {}
    for k, name in enumerate(names, 1):
        symbol = written(name)
        if symbol in taken or not symbol:
            symbol = other(name) % k
        taken.add(symbol)
        found[name] = symbol
    return found


def letter_of(name: str) -> str:
    """The symbol of a name; empty where it has none of its own."""
    if name in _NAMED:
        return _NAMED[name]
    base, _, below = name.rpartition(".")[2].strip("_").replace(" of ", "_").replace(" ", "_").partition("_")
    base = {"max": "M", "slack": "s"}.get(base, base)
    star = "^{\\star}" if base.endswith("*") else ""
    base = base.removesuffix("*")
    if base in GREEK.split():
        base = "\\" + base
    elif not re.fullmatch("[A-Za-z]", base):
        return ""
    below = below.strip("_")
    if base == "M" and below == "0":
        return "r"
    return f"{base}_{{{below}}}" if re.fullmatch("[A-Za-z0-9]+", below) else "" if below else base + star


def _value(name: str, points: Mapping[tuple[str, str], str]) -> str:
    if match := re.fullmatch(r"(mean of )?(\w\d*\*?)\((\d+)\)", name):
        at = points.get((match[2], match[3]), "").removesuffix("_{i}")
        if not at:
            return ""
        return ("\\overline{D}" if match[1] else "D") + f"_{{{function_symbol(match[2])}}}({at})"
    if match := re.fullmatch(r"\['draw'\] sum of (\w\*?) drawn \(\d+\)", name):
        return f"S_{{{function_symbol(match[1])}}}"
    return letter_of(name)


def function_symbol(function: str) -> str:
    """A function's symbol: of f2, of f*."""
    return re.sub(r"(\d+)$", r"_{\1}", function).replace("*", "^{\\star}")
