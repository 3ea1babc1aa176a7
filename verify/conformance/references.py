"""References: algorithms of this package by their names, and anybody's own, as objects or in files."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from fedtheory import algorithms, claims
from fedtheory.algorithms.base import Algorithm, stepping
from fedtheory.algorithms.slips import StepFunction
from fedtheory.claims import Claim
from verify.base import own

_SUFFIX = ".py"


def reference(given: str | Algorithm) -> Algorithm:
    """The algorithm with this name; that of a file, ``FILE.py:NAME``, or ``FILE.py`` where it has one; or one itself.

    ``ValueError`` of one sentence where there is none.
    """
    if isinstance(given, Algorithm):
        return given
    if not isinstance(given, str):
        raise ValueError(f"an algorithm is given by its name, or as an Algorithm, got a {type(given).__name__}")
    path, suffix, name = given.rpartition(_SUFFIX)
    if suffix and (not name or name.startswith(":")):
        return _of_file(Path(path + suffix), name[1:])
    return algorithms.get(given)


def _of_file(path: Path, name: str) -> Algorithm:
    """The method of a file that is called so, or has this variable; the only one for an empty name."""
    module = own.read(path)
    found = {variable: value for variable, value in vars(module).items() if isinstance(value, Algorithm)}
    about = (claim.statement.algorithm for claim in _listed(module))
    named = {value.name: value for value in (*found.values(), *about) if value is not None}
    if not named:
        raise ValueError(f"{path} has no method: write NAME = fedtheory.method(...)")
    if name in found or name in named:
        return found[name] if name in found else named[name]
    listed = ", ".join(f"{path}:{other}" for other in named)
    if name:
        raise ValueError(f"{path} has no method {name!r}: choose from {listed}")
    if len(set(map(id, named.values()))) > 1:
        raise ValueError(f"{path} has several methods, name one: {listed}")
    return next(iter(named.values()))


def _listed(module: ModuleType) -> list[Claim]:
    """The claims that a module lists as its own; nothing is loaded to find them."""
    listed = getattr(module, "__dict__", {}).get("CLAIMS", ())
    return [claim for claim in listed if isinstance(claim, Claim)] if isinstance(listed, list | tuple) else []


def claims_about(algorithm: Algorithm) -> Iterator[Claim]:
    """Registered claims about an algorithm; of anybody's own, those in ``CLAIMS`` of the modules that are loaded."""
    if algorithms.is_known(algorithm):
        candidates: list[Claim] = list(claims.all())
    else:
        candidates = [claim for module in list(sys.modules.values()) for claim in _listed(module)]
    seen: set[int] = set()
    for claim in candidates:
        if claim.statement.algorithm is algorithm and id(claim) not in seen:
            seen.add(id(claim))
            yield claim


@dataclass(frozen=True)
class Written:
    """The function that a step is written as, its ``module``, and how another one in its place becomes a step."""

    function: FunctionType
    module: ModuleType
    as_step: Callable[[FunctionType], StepFunction]

    @property
    def place(self) -> str:
        """The module in words: a user's file by its name."""
        name = self.module.__name__
        return name if name.startswith("fedtheory.") else Path(str(self.module.__file__)).name


def written(algorithm: Algorithm) -> Written | None:
    """Return the source of a step; None unless it is a function of a module whose source is known."""
    inner: Any = inspect.unwrap(algorithm.step)
    given: list[partial[Any]] = []
    while isinstance(inner, partial):
        given.append(inner)
        inner = inspect.unwrap(inner.func)
    module = sys.modules.get(getattr(inner, "__module__", ""))
    if not isinstance(inner, FunctionType) or module is None or getattr(module, "__file__", None) is None:
        return None

    def as_step(function: FunctionType) -> StepFunction:
        if inner is algorithm.step:
            return function
        changed: Any = function
        for outer in reversed(given):
            changed = partial(changed, *outer.args, **outer.keywords)
        return stepping(changed, algorithm.State)

    return Written(inner, module, as_step)


def line(algorithm: Algorithm, letter: str) -> str:
    """The line that renews a letter of the state: in words where they are known, else as the step has it."""
    if algorithms.is_known(algorithm):
        return algorithms.line(algorithm, letter)
    own_step = written(algorithm)
    if own_step is None:
        return letter
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(own_step.function)))
    except (OSError, TypeError, SyntaxError):
        return letter
    returned = [node.value for node in ast.walk(tree) if isinstance(node, ast.Return)]
    if len(returned) != 1 or not isinstance(returned[0], ast.Dict):
        return letter
    parts = zip(returned[0].keys, returned[0].values, strict=True)
    found = [value for key, value in parts if isinstance(key, ast.Constant) and key.value == letter]
    return f"{letter} <- {ast.unparse(found[0])}" if found else letter
