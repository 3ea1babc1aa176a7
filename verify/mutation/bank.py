"""The bank: every claim, method and compressor, changed in one place at a time."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import mpmath
import sympy

from fedtheory.algorithms.base import Algorithm, stepping
from fedtheory.claims import Claim
from fedtheory.numbers.rational import DIGITS, evaluate, real
from fedtheory.settings.hypotheses import Hypothesis
from verify.mutation import changed_code


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
    """All mutants of the claims that hold, and of the methods and compressors they involve."""
    found = [m for claim in holding for m in (*_statements(claim), *_compressors(claim))]
    found += [m for algorithm in _algorithms(holding) for m in _methods(algorithm, holding)]
    return tuple(found)


def _numbered(prefix: str, mutants: Iterator[Mutant]) -> Iterator[Mutant]:
    for number, mutant in enumerate(mutants, 1):
        yield replace(mutant, id=f"{prefix}#{number}")


def _statements(claim: Claim) -> Iterator[Mutant]:
    # An order's constants and a citation's formulas say nothing that is tested, and few limits can be refuted.
    if claim.statement.refutable:
        yield from _numbered(claim.id, chain(_changed_formulas(claim), _changed_hypotheses(claim)))


def _changed_formulas(claim: Claim) -> Iterator[Mutant]:
    for operator, part, text, changed in claim.statement.perturbations(formula_changes):
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
            for _, text, relation in formula_changes(hypothesis.relation):
                requires = (*rest, Hypothesis(f"{hypothesis.text}, {text}", relation, hypothesis.met))
                yield Mutant("", "hypothesis", place, text, (claim.variant(requires=requires),), (claim,))


def _compressors(claim: Claim) -> Iterator[Mutant]:
    """The compressor of a claim, built by a changed function."""
    if (build := claim.statement.compressor) is not None:
        yield from _numbered(f"{claim.id}, code", _changed_compressors(claim, build))


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
    # Cheap tests come first; a limit is never refuted.
    order = ("invariant", "one-step", "bound")
    about = [c for c in holding if c.statement.algorithm is algorithm and c.statement.kind in order]
    originals = tuple(sorted(about, key=lambda c: order.index(c.statement.kind)))
    if not originals or originals[-1].statement.kind == "invariant":
        # Nothing is claimed of what happens on the states that satisfy it.
        return iter(())
    return _numbered(f"{algorithm.name}, code", _changed_methods(algorithm, originals))


def _changed_methods(algorithm: Algorithm, originals: tuple[Claim, ...]) -> Iterator[Mutant]:
    written = getattr(algorithm.step, "__wrapped__", None)
    module, wrapped = (inspect.getmodule(written), False) if written else _home(algorithm)
    assert module is not None
    roots = (written.__name__, algorithm.draws.__name__) if written else ("step", "draws")
    of = algorithm if written else module
    fields = {"params": of.Params._fields, "state": of.State._fields}
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


class FormulaChange(NamedTuple):
    """``operator``: the sort of change, one of ``OPERATORS``; ``text``: it in words; ``result``: what it gives."""

    operator: str
    text: str
    result: sympy.Basic


#: The sorts of change, of formulas and of code.
OPERATORS = ("constant", "sign", "index", "operator", "dropped", "hypothesis")


def formula_changes(expression: sympy.Basic, fixed: frozenset[sympy.Expr] = frozenset()) -> Iterator[FormulaChange]:
    """Every formula, or relation, that differs from ``expression`` in one place, each once.

    ``fixed``: symbols that stand for quantities rather than parameters; they are neither dropped nor exchanged.
    Formulas that take the same values as ``expression`` are left out.
    """
    if isinstance(expression, sympy.Rel):
        for side in (0, 1):
            for operator, text, result in formula_changes(expression.args[side], fixed):
                sides = (result, expression.args[1]) if side == 0 else (expression.args[0], result)
                yield FormulaChange(operator, text, expression.func(*sides, evaluate=False))
        return
    symbols = sorted(expression.free_symbols, key=str)
    letters = [s for s in symbols if s not in fixed]
    seen = [_values(expression, symbols)]
    for operator, place, result in _changed(expression, letters, fixed):
        if result.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo, sympy.I):
            continue
        values = _values(result, symbols)
        if any(_same(values, other) for other in seen):
            continue
        seen.append(values)
        yield FormulaChange(operator, place, result)


def _changed(
    node: sympy.Expr, letters: list[sympy.Symbol], fixed: frozenset[sympy.Expr]
) -> Iterator[tuple[str, str, sympy.Expr]]:
    """(operator, words, result) for each change at the node or below it."""
    if node.is_Number:
        for other in dict.fromkeys((node + 1, node - 1, 2 * node)):
            yield "constant", f"{other} for {node}", other
        return
    if node.is_Symbol:
        if node in letters and len(letters) > 1:
            other = letters[(letters.index(node) + 1) % len(letters)]
            yield "index", f"{other} for {node}", other
        return
    if isinstance(node, sympy.Max | sympy.Min):
        opposite = sympy.Min if isinstance(node, sympy.Max) else sympy.Max
        yield "operator", f"{opposite.__name__} for {node.func.__name__}", _built(opposite, *node.args)
    if isinstance(node, sympy.Add | sympy.Max | sympy.Min):
        for i, argument in enumerate(node.args):
            yield "dropped", f"{argument} left out of {node}", _built(node.func, *node.args[:i], *node.args[i + 1 :])
    if isinstance(node, sympy.Add):
        for i, argument in enumerate(node.args):
            yield (
                "sign",
                f"{-argument} for {argument}",
                _built(node.func, *node.args[:i], -argument, *node.args[i + 1 :]),
            )
    if isinstance(node, sympy.Mul):
        for i, argument in enumerate(node.args):
            if not argument.free_symbols & fixed and argument != -1:
                yield (
                    "dropped",
                    f"{argument} left out of {node}",
                    _built(node.func, *node.args[:i], *node.args[i + 1 :]),
                )
    for i, argument in enumerate(node.args):
        for operator, words, result in _changed(argument, letters, fixed):
            yield operator, words, _built(node.func, *node.args[:i], result, *node.args[i + 1 :])


def _built(function: type[sympy.Expr], *args: sympy.Expr) -> sympy.Expr:
    """The expression; not a number where its arguments are not real."""
    try:
        return function(*args)
    except ValueError:
        return sympy.nan


def _values(expression: sympy.Expr, symbols: list[sympy.Symbol]) -> tuple[Any, ...]:
    """The formula at points with primes, large and small in different orders; None where it has no real value."""
    primes = [Fraction(int(sympy.prime(2 + 2 * i))) for i in range(len(symbols))]
    mixed = [v if i % 2 else 1 / v for i, v in enumerate(primes)]
    points = (primes, primes[::-1], [1 / v for v in primes], mixed, [1 / v for v in mixed])
    return tuple(_value(expression, dict(zip(symbols, point, strict=True))) for point in points)


def _value(expression: sympy.Expr, at: dict[sympy.Symbol, Fraction]) -> Any:
    try:
        return evaluate(expression, at)
    except (ValueError, ArithmeticError):
        return None


def _same(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Return True if two formulas agree wherever either is defined, and both are defined somewhere."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None or y is not None]
    if not pairs or any(x is None or y is None for x, y in pairs):
        return False
    with mpmath.workdps(DIGITS):
        reals = [(real(x), real(y)) for x, y in pairs]
        return all(abs(x - y) <= mpmath.mpf(10) ** -20 * (abs(x) + abs(y)) for x, y in reals)
