"""Reference implementations, one module an algorithm; each module's ``algorithm`` is the frozen description.

The modules load when the first algorithm is asked for by its name.
"""

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from fedtheory.algorithms.base import Algorithm, run
from fedtheory.algorithms.examples import Example
from fedtheory.algorithms.slips import Change, Edit, Table
from fedtheory.algorithms.starts import OtherStart

#: The modules of the algorithms, in the order of :func:`names`.
_MODULES = """
gradient_descent sgd rcd sdca sag saga svrg loopless_svrg feddcd inexact_feddcd accfeddcd rbcd inexact_rbcd
accelerated_rbcd locodl minibatch_sgd fedavg fedprox scaffold diana ef21 adiana scaffnew gradskip compressed_scaffnew
fivegcs_cc fedcomgate fedadmm exact_admm fedavg_stale fedalt fedsim one_shot_averaging dane dane_svrg naive_fsvrg
fsvrg perturbed_primal dual_block_ascent cocoa_plus fedadam fedyogi fedadagrad fedavgm fedexp fednova feddyn fedbuff
diloco ef14 dgc powersgd signsgd
"""

__all__ = ["Algorithm", "example_of", "get", "is_known", "line", "names", "run", "slips_of", "starts_of"]


@cache
def _modules() -> dict[str, ModuleType]:
    """The modules of the algorithms, by the algorithms' names, in order."""
    modules = [import_module(f"{__name__}.{name}") for name in _MODULES.split()]
    return {module.algorithm.name: module for module in modules}


def names() -> tuple[str, ...]:
    """Return the names of all algorithms of the package.

    Returns:
        The names, in the order in which they are listed.

    Examples:
        >>> from fedtheory import algorithms
        >>> "locodl" in algorithms.names()
        True
    """
    return tuple(_modules())


def get(name: str | Algorithm) -> Algorithm:
    """Return the algorithm called ``name``, or the one that is given itself.

    Args:
        name: One of :func:`names`, or an algorithm.

    Returns:
        The algorithm.

    Raises:
        ValueError: If there is no algorithm of this name.

    Examples:
        >>> from fedtheory import algorithms
        >>> algorithms.get("locodl").State._fields
        ('x', 'y', 'u', 'v')
    """
    if isinstance(name, Algorithm):
        return name
    if name not in _modules():
        near = get_close_matches(str(name).lower(), _modules(), n=1)
        hint = f"did you mean {near[0]}?" if near else f"choose from {', '.join(_modules())}"
        raise ValueError(f"unknown algorithm {name!r}: {hint}")
    return _modules()[name].algorithm


def is_known(algorithm: Algorithm) -> bool:
    """Return True for an algorithm of this package, False for anybody's own, whatever its name."""
    return getattr(_modules().get(algorithm.name), "algorithm", None) is algorithm


def _module(of: str | Algorithm) -> ModuleType | None:
    """The module of an algorithm of this package; None for others."""
    if isinstance(of, Algorithm):
        return _modules()[of.name] if is_known(of) else None
    return _modules().get(of)


def slips_of(name: str | Algorithm) -> Table:
    """Return the known mistakes in implementations of an algorithm, with the changed steps for edits of the source;
    empty if it is not of this package."""
    module = _module(name)
    table: Table = getattr(module, "SLIPS", ())
    return tuple((words, letter, _parts(module, change)) for words, letter, change in table)


def starts_of(name: str | Algorithm) -> tuple[OtherStart, ...]:
    """Return the starts of runs that an algorithm allows beside that of ``init``; none if it is not of this package."""
    found: tuple[OtherStart, ...] = getattr(_module(name), "STARTS", ())
    return found


def _parts(module: Any, change: Change) -> Change:
    """The changed step, or the changed parts, of the algorithm of a module."""
    if isinstance(change, Mapping):
        return {name: _parts(module, part) if isinstance(part, Edit) else part for name, part in change.items()}
    return change(module.algorithm.step) if isinstance(change, Edit) else change


def line(name: str | Algorithm, letter: str) -> str:
    """The line of an algorithm that renews a letter of its state, in words; the letter itself where none is known."""
    lines: dict[str, str] = getattr(_module(name), "LINES", {})
    return lines.get(letter, letter)


def example_of(name: str | Algorithm) -> Example | None:
    """Parameters of small problems for an algorithm of this package, where no claim gives them; or None."""
    return getattr(_module(name), "EXAMPLE", None)
