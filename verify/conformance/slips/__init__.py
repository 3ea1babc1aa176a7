"""What goes wrong in the wild, as changed references: an implementation that does one of these is told which.

A slip is a whole algorithm, whose state may hold more than the reference's, so that runs can be compared with it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from fedtheory import algorithms
from fedtheory.randomness import Distribution
from verify.conformance.slips import admm, averaging, compressed, finite_sum, linear, scaffold
from verify.conformance.slips.changes import Slip, Table, biased

__all__ = ["Slip", "slips"]

_STEPS: Mapping[str, Table] = {
    "scaffold": scaffold.SCAFFOLD,
    "fedavg": averaging.FEDAVG,
    "fedprox": averaging.FEDPROX,
    "minibatch-sgd": averaging.MINIBATCH_SGD,
    "diana": compressed.DIANA,
    "ef21": compressed.EF21,
    "scaffnew": compressed.SCAFFNEW,
    "locodl": compressed.LOCODL,
    "fedadmm": admm.FEDADMM,
    "exact-admm": admm.EXACT_ADMM,
    "fedavg-stale": admm.FEDAVG_STALE,
    "svrg": finite_sum.SVRG,
    "saga": finite_sum.SAGA,
    "sag": finite_sum.SAG,
    "sdca": finite_sum.SDCA,
    "fsvrg": linear.FSVRG,
    "naive-fsvrg": linear.NAIVE_FSVRG,
    "dane": linear.DANE,
    "cocoa-plus": linear.COCOA_PLUS,
}
_PARTICIPANTS = "participants are drawn with replacement: fewer than there should be"
_REPLACED: Mapping[str, tuple[str, Callable[[Any, Any, Any], Distribution]]] = {
    "fedadmm": (_PARTICIPANTS, admm.replaced),
    "fedavg-stale": (_PARTICIPANTS, admm.replaced_stale),
    "fsvrg": ("a client's examples are drawn with replacement instead of each once", linear.replaced),
    "cocoa-plus": ("a client's examples are drawn with replacement instead of each once", linear.replaced_passes),
}


def slips(name: str) -> Iterator[Slip]:
    """The slips known of an algorithm, the most specific first."""
    reference = algorithms.get(name)
    for text, letter, step in _STEPS.get(name, ()):
        yield Slip(text, replace(reference, step=step), letter)
    if name == "scaffold":
        yield from scaffold.late_server()
    if name in _REPLACED:
        text, draws = _REPLACED[name]
        yield Slip(text, replace(reference, draws=draws))
    for factor in (1.01, 0.99, 1.02, 0.98, 1.05, 0.95, 1.1, 0.9):
        if {"compressors", "compressor"} & set(reference.Params._fields):  # type: ignore[attr-defined]
            text = f"the compressed messages are {factor:g} times what they should be: the compressor is biased"
            yield Slip(text, replace(reference, step=biased(reference.step, factor)))
