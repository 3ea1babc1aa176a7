"""The bank: every claim, method and compressor, changed in one place at a time."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

import sympy

from fedtheory.algorithms.base import Algorithm
from fedtheory.algorithms.method import stepping
from fedtheory.claims import Claim
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.settings.hypotheses import Hypothesis
from verify.base import changed_code
from verify.mutation import expressions


@dataclass(frozen=True)
class Mutant:
    """Something changed in one place, and what is claimed of it.

    ``id``: unique and stable while its source is; ``operator``: the sort of change; ``place``: what was changed;
    ``text``: the change in words; ``claims``: the statements made of it, all true of the original; ``originals``:
    these, in the same order. ``inside(problem, params)``: whether it is changed there, where that is known.
    """

    id: str
    operator: str
    place: str
    text: str
    claims: tuple[Claim, ...]
    originals: tuple[Claim, ...]
    inside: Callable[[Any, Any], bool] | None = None


def bank(holding: tuple[Claim, ...]) -> tuple[Mutant, ...]:
    """All mutants of the claims that hold, and of the methods and compressors they speak of."""
    found = [m for claim in holding for m in (*_statements(claim), *_compressors(claim))]
    found += [m for algorithm in _algorithms(holding) for m in _methods(algorithm, holding)]
    return tuple(found)


def _numbered(prefix: str, mutants: Iterator[Mutant]) -> Iterator[Mutant]:
    for number, mutant in enumerate(mutants, 1):
        yield replace(mutant, id=f"{prefix}#{number}")


def _statements(claim: Claim) -> Iterator[Mutant]:
    # An order's constants and a citation's formulas say nothing that is tested, and few limits can be refuted.
    if claim.statement.perturbable:
        yield from _numbered(claim.id, chain(_changed_formulas(claim), _changed_hypotheses(claim)))


def _changed_formulas(claim: Claim) -> Iterator[Mutant]:
    for operator, part, text, changed in claim.statement.perturbations(expressions.changes):
        try:
            variant = claim.variant(**changed)
        except ValueError:
            # It is ill-typed, as where nothing after a step is left.
            continue
        yield Mutant("", operator, f"{part} of {claim.id}", text, (variant,), (claim,))


def _changed_hypotheses(claim: Claim) -> Iterator[Mutant]:
    """Each hypothesis left out, and each formula in it changed."""
    for index, hypothesis in enumerate(claim.requires):
        rest = (*claim.requires[:index], *claim.requires[index + 1 :])
        place = f"hypotheses of {claim.id}"
        yield Mutant("", "hypothesis", place, f"without {hypothesis.text}", (claim.variant(requires=rest),), (claim,))
        if isinstance(hypothesis.relation, sympy.Rel):
            for _, text, relation in expressions.changes(hypothesis.relation):
                requires = (*rest, Hypothesis(f"{hypothesis.text}, {text}", relation, hypothesis.met))
                yield Mutant("", "hypothesis", place, text, (claim.variant(requires=requires),), (claim,))


def _compressors(claim: Claim) -> Iterator[Mutant]:
    """The compressor of a claim, built by a changed function."""
    if isinstance(claim.statement, CompressorClass):
        yield from _numbered(f"{claim.id}, code", _changed_compressors(claim, claim.statement.compressor))


def _changed_compressors(claim: Claim, build: Any) -> Iterator[Mutant]:
    from fedtheory import compressors

    own = build.__module__ == compressors.__name__
    roots = (build.__name__,) if own else build.__code__.co_names
    for operator, function, text, namespace in changed_code.changes(compressors, tuple(roots), {}):
        changed = namespace[build.__name__] if own else changed_code.rebound(build, namespace, compressors)
        variant = claim.variant(compressor=changed)
        yield Mutant("", operator, f"compressors.{function}", text, (variant,), (claim,))


def _algorithms(holding: tuple[Claim, ...]) -> tuple[Algorithm, ...]:
    found = {c.statement.algorithm.name: c.statement.algorithm for c in holding if c.statement.algorithm}
    return tuple(found.values())


def _methods(algorithm: Algorithm, holding: tuple[Claim, ...]) -> Iterator[Mutant]:
    """A method with changed code, and all that is claimed of it."""
    # What is cheap to test comes first; a limit is never refuted.
    order = ("invariant", "one-step", "bound")
    about = [c for c in holding if c.statement.algorithm is algorithm and c.statement.kind in order]
    originals = tuple(sorted(about, key=lambda c: order.index(c.statement.kind)))
    if not originals or originals[-1].statement.kind == "invariant":
        # Of what happens on the states that satisfy it nothing is claimed.
        return iter(())
    return _numbered(f"{algorithm.name}, code", _changed_methods(algorithm, originals))


def _changed_methods(algorithm: Algorithm, originals: tuple[Claim, ...]) -> Iterator[Mutant]:
    written = getattr(algorithm.step, "__wrapped__", None)
    module, wrapped = (inspect.getmodule(written), False) if written else _home(algorithm)
    assert module is not None
    roots = (written.__name__, algorithm.draws.__name__) if written else ("step", "draws")
    of = algorithm if written else module
    fields = {"params": of.Params._fields, "state": of.State._fields}  # type: ignore[union-attr]
    for operator, function, text, namespace in changed_code.changes(module, roots, fields):
        parts = {
            name: namespace[root] for name, root in zip(("step", "draws"), roots, strict=True) if root in namespace
        }
        if written:
            parts["step"] = stepping(parts["step"], algorithm.State)
        if wrapped:
            parts = {name: changed_code.rebound(getattr(algorithm, name), namespace, module) for name in parts}
        changed = replace(algorithm, **parts)
        variants = tuple(c.variant(algorithm=changed) for c in originals)
        yield Mutant("", operator, f"{Path(str(module.__file__)).stem}.{function}", text, variants, originals)


@cache
def _by_name() -> Mapping[str, ModuleType]:
    prefix = "fedtheory.algorithms."
    return {name.removeprefix(prefix): module for name, module in sys.modules.items() if name.startswith(prefix)}


def _home(algorithm: Algorithm) -> tuple[ModuleType, bool]:
    """The module that holds a method's step, and whether the method only wraps it."""
    module = inspect.getmodule(algorithm.step)
    assert module is not None
    if module in _by_name().values():
        return module, False
    called = [value for value in algorithm.step.__globals__.values() if value in _by_name().values()]
    used = set(algorithm.step.__code__.co_names)
    (home,) = (m for m in called if m.__name__.split(".")[-1] in used and hasattr(m, "step"))
    return home, True
