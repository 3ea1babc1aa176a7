"""Slips: what implementations are known to do instead, most of them as replacements in the source of a step."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from types import FunctionType
from typing import Any

#: ``step(problem, params, state, draw) -> state``.
StepFunction = Callable[[Any, Any, Any, Any], Any]

#: Between what stands in the source and what stands there instead.
_ARROW = "=>"


@dataclass(frozen=True)
class Edit:
    """Replacements ``(old, new)`` in the source of a step and of the functions of its module that it calls."""

    replacements: tuple[tuple[str, str], ...]

    def __call__(self, step: Any) -> StepFunction:
        """The step with the replacements. Raise ``ValueError`` for a text that is not there exactly once."""
        return _edited(step, self.replacements)


#: What is changed: the step's source, the step, or all parts of the algorithm that differ, whose state may then hold
#: more than the reference's.
Change = Edit | StepFunction | Mapping[str, Any]
#: The mistake in words, the first letter that departs or "", and the change. The most specific come first.
Table = tuple[tuple[str, str, Change], ...]


def edit(*replacements: str) -> Edit:
    """Return the edit of these replacements, each ``"old => new"``."""
    pairs = (one.partition(_ARROW) for one in replacements)
    return Edit(tuple((old.strip(), new.strip()) for old, _, new in pairs))


def edits(text: str, *also: str) -> Table:
    """Return the slips that are listed: ``letter: what is done in words``, and below, indented, the replacements.

    ``also``: replacements that all of them need.

    Examples:
        >>> edits('''
        ... x: the stepsize is doubled
        ...     params.gamma => 2 * params.gamma
        ... ''')
        (('the stepsize is doubled', 'x', Edit(replacements=(('params.gamma', '2 * params.gamma'),))),)
    """
    found: list[tuple[str, str, list[str]]] = []
    for line in filter(None, text.splitlines()):
        if line.startswith(" "):
            found[-1][2].append(line)
        else:
            letter, _, words = line.partition(": ")
            found.append((words, letter, list(also)))
    return tuple((words, letter, edit(*lines)) for words, letter, lines in found)


@cache
def _edited(step: FunctionType, replacements: Sequence[tuple[str, str]]) -> StepFunction:
    sources = {name: inspect.getsource(function) for name, function in _called(step).items()}
    for old, new in replacements:
        places = [name for name, source in sources.items() for _ in range(source.count(old))]
        if len(places) != 1:
            raise ValueError(f"a slip of {step.__module__} replaces {old!r}, which is there {len(places)} times")
        sources[places[0]] = sources[places[0]].replace(old, new)
    text = "from __future__ import annotations\n\n" + "\n\n".join(sources.values())
    # Under a name of its own, so that nobody who reads the source takes it for the method's.
    file = f"<a slip of {step.__module__} {sha256(text.encode()).hexdigest()[:12]}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    names = dict(step.__globals__)
    exec(compile(text, file, "exec", dont_inherit=True), names)
    return names[step.__name__]


def _called(step: FunctionType) -> dict[str, FunctionType]:
    """The step and the functions of its module that it calls, directly or not, by their names."""
    found: dict[str, FunctionType] = {}
    waiting = [step]
    while waiting:
        function = waiting.pop()
        if function.__name__ not in found:
            found[function.__name__] = function
            codes = [function.__code__, *(c for c in function.__code__.co_consts if inspect.iscode(c))]
            named = (step.__globals__.get(name) for code in codes for name in code.co_names)
            waiting += [f for f in named if inspect.isfunction(f) and f.__module__ == step.__module__]
    return found
