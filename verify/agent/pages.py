"""The manual for agents: pages of the documentation, examples, and lists that are made from the code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import fedtheory
from fedtheory import algorithms, classes, randomness
from fedtheory.numbers import symbols
from fedtheory.randomness import participation

#: The pages of the documentation, each with what it is about.
WRITTEN = {
    "own-theorem": "how to write a theorem, in ten minutes",
    "theorem-reference": "all that a file of theorems may say: steps, draws, classes, statements, hypotheses",
    "gallery": "theorems to begin from, with their verdicts",
    "claims": "kinds of claims and their parts",
    "verdicts": "what each verdict means",
    "conformance": "how to test a loop, a step or a compressor",
    "best": "best rates, stepsizes and potentials",
    "pepit": "models written for PEPit",
    "glossary": "the words that are used",
}
_FIELD = re.compile(r"``([^`]+)``")
# Types of parts that say nothing beside their names.
_PLAIN = ("Any", "Array", "Clients", "Gradients", "Models", "Momentum", "Point", "Scalar", "")
_LONGEST = 40


class Method(NamedTuple):
    """A method of the package: its name, what it is, and the parts of its parameters, its state and a draw."""

    name: str
    what: str
    params: str
    state: str
    draw: str


def methods() -> Iterator[Method]:
    """Yield all methods, with the types and the meaning of their letters."""
    for name in algorithms.names():
        method = algorithms.get(name)
        step = inspect.unwrap(method.step)
        module = inspect.getmodule(step)
        what = " ".join((inspect.getdoc(module) or "").split("\n\n")[0].split()) if module else ""
        drawn = get_type_hints(step).get("draw")
        parts = _letters(drawn) if hasattr(drawn, "_fields") else ""
        how = _first(inspect.unwrap(method.draws))
        yield Method(name, what, _letters(method.Params), _letters(method.State), ": ".join(filter(None, (parts, how))))


def _letters(kind: Any) -> str:
    """The fields of a NamedTuple with their types, and what its docstring says of them."""
    types = {} if kind.__annotations__ is None else kind.__annotations__
    fields = ", ".join(f"`{field}`{_type(types.get(field))}" for field in kind._fields) or "none"
    text = inspect.getdoc(kind) or ""
    return f"{fields}. {' '.join(text.split())}" if _FIELD.search(text) else fields


def _type(of: Any) -> str:
    name = str(getattr(of, "__forward_arg__", None) or getattr(of, "__name__", of or ""))
    return "" if name in _PLAIN else f" ({name.replace('|', 'or')})"


def _first(of: Any) -> str:
    """The first sentence of a docstring."""
    return " ".join((inspect.getdoc(of) or "").split("\n\n")[0].split())


def _methods() -> str:
    head = "# All methods\n\n`params`, `state` and `draw` of a step have these letters, in this order.\n"
    rows = (
        f"## {m.name}\n\n{m.what}\n\n- params: {m.params}\n- state: {m.state}\n- draw: {m.draw}\n" for m in methods()
    )
    return "\n".join((head, *rows))


def _names() -> str:
    """All names that ``fedtheory`` offers, each with a sentence."""
    drawn = {*vars(randomness), *vars(participation)}
    sorts: dict[str, list[str]] = {"Classes": [], "Adversaries": [], "Draws": [], "Statements and their parts": []}
    for name in fedtheory.__all__:
        of = getattr(fedtheory, name)
        if name in classes.PUBLIC:
            sort = "Classes" if issubclass(of, classes.FunctionClass) else "Adversaries"
        else:
            sort = "Draws" if name in drawn else "Statements and their parts"
        if callable(of):
            sorts[sort].append(f"- `ft.{name}{_call(of)}`: {_first(of)}")
    parts = (f"## {sort}\n\n" + "\n".join(lines) + "\n" for sort, lines in sorts.items())
    letters = " ".join((inspect.getdoc(symbols) or "").split("\n\n")[1].split())
    return "\n".join(("# The names of `import fedtheory as ft`\n", *parts, f"## Letters\n\n{letters}\n"))


def _call(of: Any) -> str:
    try:
        parameters = inspect.signature(of).parameters.values() if callable(of) and of is not fedtheory.E else ()
    except ValueError:
        parameters = ()
    given = []
    for p in parameters:
        default = "" if p.default is p.empty else f"={p.default!r}"
        given.append(f"{p.name}{default if len(default) < _LONGEST and ' at 0x' not in default else '=...'}")
    return f"({', '.join(given)})" if given else ""


#: The pages that are made from the code.
MADE: dict[str, tuple[str, Callable[[], str]]] = {
    "methods": ("the methods that code can be tested against, with the letters of params, state and draw", _methods),
    "names": ("classes, adversaries, draws and statements: all names of fedtheory, a line each", _names),
}


def listed() -> dict[str, str]:
    """Return the names of all pages, each with what it is about."""
    return {**{name: about for name, (about, _) in MADE.items()}, **WRITTEN}


def text(name: str) -> str:
    """Return the text of a page, in Markdown. Raise ``ValueError`` if there is none of this name."""
    if name in MADE:
        return MADE[name][1]()
    return _read(name, WRITTEN, _folder("docs"), ".md")


def examples() -> tuple[str, ...]:
    """Return the names of all examples."""
    return tuple(sorted(path.stem for path in _folder("examples/gallery").glob("*.py")))


def example(name: str) -> str:
    """Return the text of an example. Raise ``ValueError`` if there is none of this name."""
    return _read(name, examples(), _folder("examples/gallery"), ".py")


def _read(name: str, there: Any, folder: Path, ending: str) -> str:
    if name not in there:
        raise ValueError(f"there is no {name!r}: choose from {', '.join(there)}")
    return (folder / f"{name}{ending}").read_text(encoding="utf-8")


def _folder(name: str) -> Path:
    """A folder of the source, which an installed package has beside this file (``setup.py``)."""
    installed = Path(__file__).with_name("manual")
    return (installed if installed.is_dir() else Path(__file__).resolve().parents[2]) / name
