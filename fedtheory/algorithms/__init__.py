"""Reference implementations, one module an algorithm; each module's ``algorithm`` is the frozen description."""

from fedtheory.algorithms import (
    accelerated_rbcd,
    accfeddcd,
    adiana,
    cocoa_plus,
    compressed_scaffnew,
    dane,
    dane_svrg,
    diana,
    dual_block_ascent,
    ef21,
    exact_admm,
    fedadmm,
    fedalt,
    fedavg,
    fedavg_stale,
    fedcomgate,
    feddcd,
    fedprox,
    fedsim,
    fivegcs_cc,
    fsvrg,
    gradient_descent,
    gradskip,
    inexact_feddcd,
    inexact_rbcd,
    locodl,
    loopless_svrg,
    minibatch_sgd,
    naive_fsvrg,
    one_shot_averaging,
    perturbed_primal,
    rbcd,
    rcd,
    sag,
    saga,
    scaffnew,
    scaffold,
    sdca,
    sgd,
    svrg,
)
from fedtheory.algorithms.base import Algorithm, run
from fedtheory.algorithms.examples import Example, Table

_MODULES = (
    gradient_descent,
    sgd,
    rcd,
    sdca,
    sag,
    saga,
    svrg,
    loopless_svrg,
    feddcd,
    inexact_feddcd,
    accfeddcd,
    rbcd,
    inexact_rbcd,
    accelerated_rbcd,
    locodl,
    minibatch_sgd,
    fedavg,
    fedprox,
    scaffold,
    diana,
    ef21,
    adiana,
    scaffnew,
    gradskip,
    compressed_scaffnew,
    fivegcs_cc,
    fedcomgate,
    fedadmm,
    exact_admm,
    fedavg_stale,
    fedalt,
    fedsim,
    one_shot_averaging,
    dane,
    dane_svrg,
    naive_fsvrg,
    fsvrg,
    perturbed_primal,
    dual_block_ascent,
    cocoa_plus,
)
_SLIPS: dict[str, Table] = {module.algorithm.name: getattr(module, "SLIPS", ()) for module in _MODULES}
_LINES: dict[str, dict[str, str]] = {module.algorithm.name: getattr(module, "LINES", {}) for module in _MODULES}
_EXAMPLES: dict[str, Example] = {m.algorithm.name: m.EXAMPLE for m in _MODULES if hasattr(m, "EXAMPLE")}
_ALL = {module.algorithm.name: module.algorithm for module in _MODULES}

__all__ = ["Algorithm", "example_of", "get", "line", "names", "run", "slips_of"]


def names() -> tuple[str, ...]:
    """Names of all algorithms."""
    return tuple(_ALL)


def get(name: str) -> Algorithm:
    """The algorithm called ``name``; ``ValueError`` if there is none."""
    if name not in _ALL:
        raise ValueError(f"unknown algorithm {name!r}: choose from {', '.join(_ALL)}")
    return _ALL[name]


def slips_of(name: str) -> Table:
    """What implementations of the algorithm called ``name`` are known to do instead; nothing for an unknown one."""
    return _SLIPS.get(name, ())


def line(name: str, letter: str) -> str:
    """The line of an algorithm that renews a letter of its state, in words; the letter itself where none is known."""
    return _LINES.get(name, {}).get(letter, letter)


def example_of(name: str) -> Example | None:
    """Parameters of small problems for the algorithm called ``name``, where no claim gives them; or None."""
    return _EXAMPLES.get(name)
