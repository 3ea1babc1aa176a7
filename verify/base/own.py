"""Theorems that the package has never heard of: files with a module-level ``CLAIMS``."""

from __future__ import annotations

import sys
import traceback
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from fedtheory import claims
from fedtheory.claims import Claim
from verify.base.plain import quoted


def load(path: Path) -> tuple[Claim, ...]:
    """The claims of a file, which are registered: commands then know them by their ids.

    The file is Python and is run. ``ValueError`` of one sentence, with the line, where it cannot be read, fails, has no
    ``CLAIMS``, or holds something else than claims.
    """
    # So that no file name can be that of another module.
    name = f"own_{path.stem}"
    spec = spec_from_file_location(name, path)
    if path.suffix != ".py" or spec is None or spec.loader is None:
        raise ValueError(f"{path} is not a Python file: its name must end in .py")
    if not path.is_file():
        raise ValueError(f"cannot read {path}: no such file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        raise ValueError(f"{path}, line {error.lineno}: {error.msg}") from error
    except (Exception, SystemExit) as error:  # A user's file may fail in any way, and may not end this.
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f.lineno for f in frames if f.filename == module.__file__]
        where = f", line {lines[-1]}" if lines else ""
        raise ValueError(f"{path}{where}: {type(error).__name__}: {error!s:.1000}") from error
    found = getattr(module, "CLAIMS", None)
    if not isinstance(found, list | tuple) or not found:
        raise ValueError(f"{path} has no CLAIMS: write CLAIMS = (Claim(...), ...)")
    for index, claim in enumerate(found):
        if not isinstance(claim, Claim):
            raise ValueError(f"{path}: CLAIMS[{index}] is no claim, but {quoted(claim)}")
    claims.register(found)
    return tuple(found)


def asked(path: Path | None, id: str | None) -> Claim:
    """The claim that is named, among those of a file too; without a name the only one of the file."""
    loaded = () if path is None else load(path)
    if id is not None:
        return claims.get(id)
    if path is None:
        raise ValueError("name a claim, as `fedtheory list` lists them, or a file with --own")
    if len(loaded) > 1:
        raise ValueError(f"{path} has several claims, name one: {', '.join(c.id for c in loaded)}")
    return loaded[0]
