"""Theorems that the package has never heard of: files with a module-level ``CLAIMS``."""

from __future__ import annotations

import ast
import tokenize
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import sympy

from fedtheory import claims
from fedtheory.claims import Claim
from fedtheory.numbers import sourcecode
from fedtheory.settings.relations import Composed, Quantity
from verify.base import neighbours, originals
from verify.base.plain import quoted

#: Substitutes for functions of sympy that are given quantities.
_QUANTITIES_IN_SYMPY = (
    "a function of sympy takes letters and numbers, and is given a quantity: write a quantity of your own, whose "
    "function returns np.maximum(ft.gap(problem, params, state), ft.distance(problem, params, state)), say"
)


def load(path: Path) -> tuple[Claim, ...]:
    """Return the claims of a Python file, which are registered: commands then know them by their ids.

    The file is run; it may import files beside it.

    Args:
        path: The file, with a module-level ``CLAIMS``.

    Returns:
        The claims.

    Raises:
        ValueError: In one sentence, where the file cannot be read, fails, replaces a function of a library, has no
            ``CLAIMS``, or holds something else than claims.

    Examples:
        >>> from pathlib import Path
        >>> load(Path("theorem.txt"))
        Traceback (most recent call last):
        ...
        ValueError: theorem.txt is not a Python file: its name must end in .py
    """
    found, strange = sorted_out(path, read(path))
    if strange:
        raise ValueError(strange[0])
    return found


def sorted_out(path: Path, module: ModuleType) -> tuple[tuple[Claim, ...], list[str]]:
    """The claims of a module, which are registered, and what else its ``CLAIMS`` hold, in a sentence each; raise
    ``ValueError`` if there is no claim."""
    found = getattr(module, "CLAIMS", None)
    if isinstance(found, Claim):
        raise ValueError(f"{path}: CLAIMS is a single claim, and a comma is missing: write CLAIMS = (Claim(...),)")
    if found is not None and not isinstance(found, list | tuple):
        raise ValueError(f"{path}: CLAIMS is {quoted(found)}, and not claims: write CLAIMS = (Claim(...), ...)")
    if not found:
        raise ValueError(f"{path} has no CLAIMS: write CLAIMS = (Claim(...), ...)")
    own = tuple(claim for claim in found if isinstance(claim, Claim))
    strange = [
        f"{path}: CLAIMS holds {quoted(one)}, which is not a claim" for one in found if not isinstance(one, Claim)
    ]
    if not own:
        raise ValueError(strange[0])
    claims.register(own)
    neighbours.claimed(path, (claim.id for claim in own))
    return own, strange


class Failed(ValueError):
    """A user's file fails at ``error``; ``module``: as far as it was run; ``tree``: its code."""

    def __init__(self, message: str, module: ModuleType, tree: ast.Module, error: BaseException) -> None:
        super().__init__(message)
        self.module, self.tree, self.error = module, tree, error


def read(path: Path, change: Callable[[ast.Module], ast.Module] | None = None) -> ModuleType:
    """The module of a file, which is run; ``change``: of its code before that.

    ``ValueError`` of one sentence, with the line, where it cannot be read, fails, replaces a function of a library, or
    has a number that is not taken as it is written.
    """
    if path.suffix != ".py":
        raise ValueError(f"{path} is not a Python file: its name must end in .py")
    if not path.is_file():
        raise ValueError(f"cannot read {path}: no such file")
    before, running = originals.before_loading(), originals.running()
    module = neighbours.fresh(path)
    _check_numbers(path)
    loader = None if module.__spec__ is None else module.__spec__.loader
    assert isinstance(loader, neighbours.Loader)
    loader.change = change or loader.change
    try:
        loader.exec_module(module)
    except SyntaxError as error:
        line = "" if error.lineno is None else f", line {error.lineno}"
        raise ValueError(f"{_place(path, error.filename)}{line}: {error.msg}") from error
    except (Exception, SystemExit) as error:  # A user's file may fail in any way, and may not end this.
        read = neighbours.loaded(module.__name__).get(module.__name__)
        tree = ast.Module([], []) if read is None else read.tree
        raise Failed(_failure(path, module, error), module, tree, error) from error
    if (name := originals.replaced() or before.changed()) is not None:
        raise ValueError(f"{path}: {name} was replaced, so what it says is not known: a file may replace no function")
    if originals.running() != running:
        raise ValueError(
            f"{path}: it starts a thread, or code that runs while other code does, so what it says may change"
        )
    return module


def _check_numbers(path: Path) -> None:
    """Raise ``ValueError`` if a number in a file, or in one beside it that it imports, is not taken as it is
    written.
    """
    for file in neighbours.files(path).values():
        # Code that cannot be read fails where it is run.
        with suppress(OSError, SyntaxError, UnicodeError), tokenize.open(file) as opened:
            sourcecode.check_numbers(_place(path, str(file)), opened.read())


def _failure(path: Path, module: ModuleType, error: BaseException) -> str:
    """Return where and why a file, or one beside it, fails."""
    theirs = {str(file) for file in neighbours.files(path).values()} | {module.__file__}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in theirs]
    where = f"{_place(path, frames[-1].filename)}, line {frames[-1].lineno}" if frames else str(path)
    if isinstance(error, sympy.SympifyError) and any(kind.__name__ in str(error) for kind in (Quantity, Composed)):
        return f"{where}: {_QUANTITIES_IN_SYMPY}"
    message = f"{error!s:.1000}".replace(f"{module.__package__}.", "")
    # Why a name is not there may be that it is looked for elsewhere.
    hidden = neighbours.hidden(path) if isinstance(error, ImportError | AttributeError) else []
    why = "".join(f"; {file} beside it is not imported: an installed module has this name" for file in hidden)
    return f"{where}: {type(error).__name__}: {message}{why}"


def _place(path: Path, file: str | None) -> str:
    """A file of the user's in words: that which was asked for as it was named, one beside it after that."""
    if file is None or Path(file).resolve() == path.resolve():
        return str(path)
    found = Path(file).resolve()
    folder = path.resolve().parent
    return f"{path}: {found.relative_to(folder) if found.is_relative_to(folder) else found}"
