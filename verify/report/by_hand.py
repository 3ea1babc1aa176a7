"""A counterexample to follow by hand: the problem, the step and the two numbers, in the paper's letters.

The functions of an instance are written out, each with its minimiser: "f_1(x) = 9/2 (x - 1)^2, least at x = 1".
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import singledispatch
from numbers import Rational
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory import algorithms
from fedtheory.algorithms.base import Algorithm, no_step
from fedtheory.algorithms.base import place as code_of
from fedtheory.instances import Instance
from fedtheory.kinds.base import Statement
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.order import Order
from fedtheory.kinds.parameter_rule import ParameterRule
from fedtheory.kinds.scope import Scope
from fedtheory.problems.hostile import Hostile
from fedtheory.randomness import expectation
from fedtheory.settings.relations import Comparison, Quantity
from verify.base.along_runs import of_runs
from verify.base.case import Case
from verify.base.evaluate import along_run, differing, params_after, rollout
from verify.comparisons import asserted, limits, naming, number_types, orders, samplers
from verify.comparisons.exact import as_row, is_enumerable
from verify.comparisons.starts import begun
from verify.evidence.counterexamples import Counterexample
from verify.report import placing, statement

#: Lines at most.
MOST = 10
#: Outcomes of a step that are listed.
_OUTCOMES = 4
#: Characters of fractions that need no decimals beside them.
_SIMPLE = 4
#: The words with which the text of an instance introduces its gradients at an optimum.
_GRADIENTS = re.compile(r", gradient \([^)]*\) less the mean")
#: The text of a setting that says only that its letters are constants.
_CONSTANTS = "all values of the constants"
#: Entries of vectors that are printed.
_ENTRIES = 6


class SideNames(NamedTuple):
    """The names of the two sides of a comparison, as the claim writes them."""

    left: str
    right: str


def sides(example: Counterexample) -> SideNames:
    """The names of both sides of a counterexample, in the letters of its claim."""
    claim, part = example.claim, example.part
    compared = _comparison(example)
    if compared is not None:
        expected = claim.statement.stepping
        return SideNames(*(_named(claim.statement, side, expected) for side in (compared.left, compared.right)))
    return _SIDES.get(part) or _others(claim.statement, example)


def _comparison(example: Counterexample) -> Comparison | None:
    """The comparison of the statement that is violated, constants that are assigned by their names; None of others."""
    kind, part = example.claim.statement, example.part
    if not part.isdigit() or int(part) >= len(kind.comparisons):
        return None
    named = kind.printed if isinstance(kind, ParameterRule) else ()
    return (*named, *kind.comparisons[len(named) :])[int(part)]


#: Comparisons that statements do not list.
_SIDES = {
    "domain": SideNames("the residual of the constraints after one step", "0"),
    "residual": SideNames("the residual of the invariant after one step", "0"),
    limits.PRODUCTS: SideNames("the least |det A| over the maps A of all draws", "1"),
    limits.SCHUR_COHN: SideNames("|a_0| in the Schur-Cohn test", "|a_m|"),
}


@singledispatch
def _others(kind: Statement, example: Counterexample) -> SideNames:
    part = example.part
    if part == "fixed point":
        return SideNames(str(kind.ends[0][1].expression), "its limit")
    if part == limits.CYCLE:
        name = str(limits.vanishing(example.claim)[example.entry].expression)
        return SideNames(f"{name} after {example.rounds} rounds", f"{name} before them")
    if part.startswith(number_types.FLOATS):
        return SideNames("in fractions", "in floats")
    if part.startswith(number_types.AGAIN):
        return SideNames("at first", "asked again")
    if part.startswith(samplers.PREFIX):
        return SideNames("the mean of the samples", "the mean claimed")
    return SideNames("left", "right")


@_others.register
def _(kind: CompressorClass, example: Counterexample) -> SideNames:
    # For its own omega, first that of the errors, then the two constants.
    own = SideNames("E|C(x) - x|^2", "omega |x|^2 with the omega of the code")
    own = own if example.entry == 0 else SideNames("omega of the code", "omega claimed")
    known = {
        "mean": SideNames(f"coordinate {example.entry + 1} of E C(x)", "that of x"),
        "variance": SideNames("E|C(x) - x|^2", "omega |x|^2"),
        "its own omega": own,
        "floats": SideNames("the distance of outcomes in floats from those in fractions, in units of |x|", "0"),
        "sampled": SideNames("the distance of a sample from the enumerated outcomes, in units of |x|", "0"),
        "bits": SideNames("bits of the code", "bits claimed"),
    }
    return known.get(example.part, SideNames("left", "right"))


def _named(kind: Statement, side: sympy.Expr, expected: bool) -> str:
    later = {s for q in kind.quantities if q.after for s in q.expression.free_symbols}
    text = statement.expression(side)
    return f"E[{text}]" if expected and side.free_symbols & later else text


def lines(example: Counterexample) -> list[str]:
    """The counterexample in at most ten lines that can be followed by hand; nothing where its text says all."""
    if example.part.startswith(orders.PREFIX):
        # There is a curve, and no instance.
        kind = example.claim.statement
        assert isinstance(kind, Order)
        order = kind.parts[int(example.part.removeprefix(orders.PREFIX))]
        return [f"left: {statement.expression(order.left)}", f"right: {statement.expression(order.right)}"]
    try:
        case = example.case
        body = [*_problem(example, case), *_run(example, case), *_meant(example)]
        return [*body, *_where(example, " ".join(body))][:MOST]
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError):
        # Code that fails in fractions was run in floats.
        return []


def _problem(example: Counterexample, case: Case) -> Iterator[str]:
    problem, _ = placing.posed(example, case)
    instance = case.instance
    letters = {name: f"{name} = {value}" for name, value in _letters(example, instance, problem).items()}
    if functions := placing.written(problem):
        yield "; ".join((*functions, *placing.least(problem)))
    elif instance.text:
        # Functions that are not written out are described by the setting's text.
        general = example.claim.setting.text
        text = placing.without(_instance_text(instance, problem), letters.values())
        yield from filter(None, (general if general != _CONSTANTS else "", text))
    oracle = placing.extreme_oracle(instance)
    if oracle:
        factors = oracle.removeprefix(placing.EXTREME)
        answer = "g + c_i (h - g), where g is the exact gradient and h its guess, and is c_i^2-inexact"
        yield f"the oracle of client i answers {answer}: c = {factors}"
    if letters:
        yield f"{placing.WITH}{', '.join(letters.values())}"


def _instance_text(instance: Instance, problem: Any) -> str:
    """The words of an instance; of one that was moved where it is."""
    if problem is instance.problem or getattr(problem, "known", None) is None:
        return instance.text
    where = naming.optimum(problem)
    return naming.place(_GRADIENTS.sub("", instance.text), f"; {where}")


def _letters(example: Counterexample, instance: Instance, problem: Any) -> dict[str, str]:
    """The values of the setting's letters; of bare constants the instance itself is those."""
    claim = example.claim
    if claim.setting.of_constants:
        return {}
    values = claim.setting.bind(problem, instance.params)
    found = {
        statement.expression(s): naming.number(v)
        for s, v in values.items()
        if np.ndim(v) == 0 and not isinstance(v, str)
    }
    return (
        found | _parameters(example, instance, found) | ({"T": str(example.rounds)} if claim.statement.horizon else {})
    )


def _parameters(example: Counterexample, instance: Instance, known: Collection[str]) -> dict[str, str]:
    """The parameters that the step names and that are no letters of the setting, those of clients one by one."""
    algorithm = example.claim.statement.algorithm
    if algorithm is None or not hasattr(instance.params, "_asdict"):
        return {}
    text, found = " ".join(step(algorithm, algorithm.State)), {}
    for field, value in instance.params._asdict().items():
        name = re.sub(r"(?<=[a-zA-Z])(\d+)$", r"_\1", field)
        numbers = np.asarray(value, dtype=object)
        if {name, f"{name}_i"} & set(known) or not all(isinstance(v, Rational | float) for v in numbers.ravel()):
            continue
        if numbers.ndim == 0 and re.search(rf"\b{name}\b(?!_)", text):
            found[name] = naming.number(value)
        elif numbers.ndim == 1 and f"{name}_i" in text:
            same = len(set(numbers)) == 1
            rows = {f"{name}_i": numbers[0]} if same else {f"{name}_{i}": v for i, v in enumerate(numbers, 1)}
            found |= {row: naming.number(v) for row, v in rows.items()}
    return found


def _run(example: Counterexample, case: Case) -> Iterator[str]:
    """The start of the run, its step and where that leads, and what is compared."""
    kind = example.claim.statement
    values: dict[str, Any] = {}
    if not example.point and (case.instance.dimension or not kind.quantities):
        # There is no state, or any is as good.
        if kind.algorithm is not None:
            yield from step(kind.algorithm, kind.algorithm.State)
        yield from _compared(example, values)
        return
    problem, state = case.start(as_row(example.point))
    if example.part == "fixed point":
        problem, state, kept = _at_rest(case)
        yield f"state: {naming.words(state, kept)}"
    elif place := naming.words(state):
        yield f"start: {place}"
    later, probabilities = state, np.ones(1, dtype=int)
    moves = (kind.stepping or kind.scope is Scope.CODE) and kind.algorithm is not None
    if kind.algorithm is not None or hasattr(state, "states") or _parts(type(state)):
        first = state.states()[0] if hasattr(state, "states") else state
        yield from step(kind.algorithm, type(first), type(state))
    if moves and example.rounds and is_enumerable(case, example.rounds):
        recorded, answers = _recording(case.instance)
        case = case.with_instance(recorded)
        later, probabilities = rollout(case, problem, state, example.rounds)
        yield from answers
        yield from _outcomes(state, later, probabilities, example.rounds)
    elif moves and example.rounds:
        return
    elif hasattr(state, "states"):
        yield from _history(state)
    then = params_after(case, problem, example.rounds) if moves else case.params
    along = along_run(case, problem, state, example.rounds) if of_runs(kind) else {}
    for q in _asked(example):
        after = q.after and kind.stepping
        if q.expression in along:
            values[statement.expression(q.expression)] = naming.vector(along[q.expression])
            continue
        found = q.of(problem, then if after else case.params, later if after else state)
        value = expectation(found, probabilities) if after else np.asarray(found)
        if np.size(value) <= _ENTRIES:
            name = statement.expression(q.expression)
            values[f"E[{name}]" if after else name] = naming.vector(value)
        for part, matrix in getattr(q.of, "parts", {}).items():
            values[part] = f"({', '.join(naming.vector(row) for row in matrix(problem, case.params))})"
    yield from _compared(example, values)


class _Recorded:
    """An adversary that keeps in words what it answers: the first state's, with its first draw."""

    def __init__(self, of: Hostile, name: str, answers: list[str]) -> None:
        self.of, self.asked, self.name, self.answers = of, of.in_step(), name, answers

    def in_step(self) -> _Recorded:
        """The adversary as one step asks it."""
        return _Recorded(self.of, self.name, self.answers)

    def answer(self, *given: Any, **named: Any) -> Any:
        """As the adversary answers."""
        found = self.asked.answer(*given, **named)
        if len(self.answers) < _OUTCOMES:
            rows = found[0, 0].reshape(-1, found.shape[-1])
            self.answers.append(f"{self.name} answers " + ", ".join(map(naming.vector, rows)))
        return found


def _recording(instance: Instance) -> tuple[Instance, list[str]]:
    """The instance, and what its adversaries will have answered, in words."""
    answers: list[str] = []
    named = [(name, getattr(instance.params, name)) for name in getattr(instance.params, "_fields", ())]
    hostile = {name: _Recorded(value, name, answers) for name, value in named if isinstance(value, Hostile)}
    return (replace(instance, params=instance.params._replace(**hostile)) if hostile else instance), answers


def _at_rest(case: Case) -> tuple[Any, Any, Sequence[str]]:
    """The problem, a state that every step leaves as it is, and the parts that this is about: those that others do
    not depend on."""
    rest = asserted.resting(case)
    if rest is None:
        raise ValueError(f"every state of {case.claim.id} that was looked at is left")
    problem, state = rest
    if case.instance.coordinates is not None:
        problem, state = begun(case, np.asarray(case.instance.coordinates(state)).reshape(1, -1))
    moved = differing(rollout(case, problem, state, 1)[0], state)
    return problem, state, [part for part in state._fields if part not in moved]


def _asked(example: Counterexample) -> Sequence[Quantity]:
    """The quantities in the comparison that is violated."""
    kind, compared = example.claim.statement, _comparison(example)
    if compared is None:
        return kind.quantities
    return [q for q in kind.quantities if q.expression.free_symbols & _letters_of(compared)]


def _letters_of(compared: Comparison) -> set[sympy.Symbol]:
    return compared.left.free_symbols | compared.right.free_symbols


def step(algorithm: Algorithm | None, state: Any, run: Any = None) -> Iterator[str]:
    """Yield the update of each part of a ``state``, as described by the algorithm, the type of the state or the type of
    the ``run``; otherwise the place of the step's code.
    """
    name = next((a for a in algorithms.names() if algorithms.get(a).State is state), "")
    own = {**_parts(state), **_parts(run or state)}
    if updates := [line for part in state._fields if (line := own.get(part, algorithms.line(name, part))) != part]:
        yield f"step: {'; '.join(updates)}"
    elif algorithm is not None and algorithm.step is not no_step and not name:
        yield f"step: the function {code_of(algorithm.step)}"


def _parts(state: Any) -> Mapping[str, str]:
    """Return the descriptions of the parts of a type of states, from ``PARTS`` of its module: a field of the type would
    be a part itself.
    """
    return getattr(sys.modules[state.__module__], "PARTS", {})


def _outcomes(state: Any, later: Any, probabilities: Any, rounds: int) -> Iterator[str]:
    """The states of a run after the rounds, with their probabilities: the parts that differ from those at the start in
    some of them."""
    found: dict[str, Any] = {}
    later = [np.asarray(part) for part in later]
    changed = [n for n, a, b in zip(state._fields, later, state, strict=True) if (a != np.asarray(b)).any()]
    for k, p in enumerate(probabilities):
        at = naming.words(type(state)(*(part[:, k : k + 1] for part in later)), changed) or "as before"
        found[at] = found.get(at, 0) + p
    after = f"after {rounds} round{'s' if rounds != 1 else ''}"
    if len(found) > _OUTCOMES:
        yield f"{after}: {len(found)} outcomes, depending on the draws"
    elif len(found) == 1:
        yield f"{after}: {next(iter(found))}"
    else:
        yield f"{after}: " + "; ".join(f"with probability {naming.number(p)}, {at}" for at, p in found.items())


def _history(run: Any) -> Iterator[str]:
    """The last iterations of a whole run."""
    states = run.states()
    for k in range(max(1, len(states) - 2), len(states)):
        yield f"after {k} iteration{'s' if k != 1 else ''}: {naming.words(states[k])}"


def _compared(example: Counterexample, values: dict[str, Any]) -> Iterator[str]:
    """The quantities, and both sides with their values."""
    names, kind, compared = sides(example), example.claim.statement, _comparison(example)
    if isinstance(kind, ParameterRule) and compared is not None:
        assigned = [letter for letter in kind.assignments if letter in _letters_of(compared)]
        if assigned:
            yield ", ".join(f"{letter} = {statement.expression(kind.assignments[letter])}" for letter in assigned)
    if apart := {name: value for name, value in values.items() if name not in names}:
        yield ", ".join(f"{name} = {value}" for name, value in apart.items())
    for side, name, value in zip(("left", "right"), names, (example.left, example.right), strict=True):
        shown = values.get(name, "")
        whole = f" = {shown}, entry {example.entry + 1} of which" if shown.startswith("(") else ""
        yield f"{side}: {name}{whole}{_equals(name, value)}"


def _equals(name: str, value: Any) -> str:
    written = naming.number(value)
    return "" if written == name else f" = {written}{about(value)}"


def _meant(example: Counterexample) -> Iterator[str]:
    """Yield what the counterexample means for the method, if the two numbers do not show it."""
    if example.part == limits.PRODUCTS:
        yield (
            "No draw shrinks volumes about the optimum, so no product of draws does: among any starts that span the "
            "space, at least one does not converge to it."
        )
    elif example.part == limits.SCHUR_COHN:
        yield (
            "The linear map of a step has an eigenvalue on or outside the unit circle: from almost every start, the "
            "method does not converge."
        )
    elif example.part == "fixed point":
        yield "The method stays in that state forever, and it is not the claimed limit."
    elif example.part == limits.CYCLE:
        yield "The method returns to that state forever, and the quantity that is claimed to vanish is not 0 there."


def _where(example: Counterexample, text: str) -> Iterator[str]:
    """Yield the meanings of the quantities named in the text ``text``."""
    alike: dict[str, list[str]] = {}
    for name, meaning in statement.definitions(example.claim, text):
        alike.setdefault(meaning, []).append(name)
    if alike:
        yield "where " + "; ".join(f"{', '.join(names)}: {meaning}" for meaning, names in alike.items())


def about(value: Any) -> str:
    """Return a decimal approximation of a fraction that is too long to read; empty for others."""
    written = naming.number(value)
    return f", about {float(value):.6g}" if "/" in written and len(written) > _SIMPLE else ""
