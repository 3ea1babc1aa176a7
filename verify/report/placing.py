"""The instance and the state of a counterexample in words, beside the lines to follow by hand or without them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from fedtheory.instances import Instance
from verify.base.case import Case
from verify.comparisons import naming, orders
from verify.comparisons.exact import as_row
from verify.evidence.counterexamples import Counterexample
from verify.report import formulas

#: The beginning of the names of oracles at the extremes of their definition, before the clients' factors.
EXTREME = "worst-case"
#: The beginning of the line by hand that gives the values of letters.
WITH = "with "
#: The words with which the text of an instance introduces its functions.
_FUNCTIONS = "; f_1: "
#: Letters of papers for the number of clients, beside n.
_CLIENTS = ("N", "m", "K")
#: The sides that are compared, at the end of an instance's text, which the lines by hand name.
_SIDES = re.compile(r" \([^()]* against [^()]*\)$")
#: Names of recipes, with the letters that have their values; and what changes nothing.
_OWN = (("regulariser", "mu"), ("steps", "m"), ("ratio", "max_i(alpha_i*r_i/sigma_i)"))
_NOTHING = ("level=0",)
#: What the names of compressors, and of what clients share, mean.
_WORDS = (
    (
        re.compile(r"bernoulli\(omega=([^()]*)\)"),
        r"C_i(x) = (1 + omega) x with probability 1/(1 + omega), otherwise 0, with omega = \1",
    ),
    (re.compile(r"rand-(\d+)\b"), r"C_i keeps \1 random coordinates, times d/\1"),
    (re.compile(r"top-(\d+)\b"), r"C_i keeps the \1 largest coordinates"),
    (re.compile(r"\bsizes=\(1,?\)"), "one node with one example"),
    (re.compile(r"\bsizes=\((\d+),?\)"), r"one node with \1 examples"),
    (re.compile(r"\bsizes=\((\d+(?:, \d+)+)\)"), r"nodes with \1 examples"),
    (re.compile(r"\bbegins=1\b"), "k is in K"),
    (re.compile(r"\bbegins=0\b"), "k is not in K"),
    (re.compile(r"\bshared\b"), "the same draw for all clients"),
)
_CLIENT = re.compile(r"(k is (?:not )?in K, )i=(\d+)")


def place(example: Counterexample) -> str:
    """The instance and its state in words, with the functions as they are written out, if they can be."""
    return _place(example, True)


def instance(example: Counterexample, by: Sequence[str]) -> str:
    """Return the part of the instance in words that ``by``, the lines to follow by hand, leave out; all of it if there
    are no such lines.
    """
    if not by or example.part.startswith(orders.PREFIX):
        # An order has a curve, and no instance.
        return in_words(place(example))
    found, case = _place(example, False), example.case
    if not written(posed(example, case)[0]):
        # These lines have the state too.
        known = naming.place(case.instance.text, naming.clause(case, example.point))
        return in_words(found.removeprefix(known).lstrip(",;: "))
    if oracle := extreme_oracle(case.instance):
        found = found.replace(f", {oracle}", "")
    values = [entry for line in by if line.startswith(WITH) for entry in line.removeprefix(WITH).split(", ")]
    head, colon, why = found.partition(": ")
    entries = without(head, values).split(", ")
    left = ", ".join(entry for entry in entries if not any(line.startswith(f"{entry}:") for line in by))
    return in_words(f"{left}{colon if left else ''}{_SIDES.sub('', why)}")


def without(text: str, values: Collection[str]) -> str:
    """Return an instance's text without the letters whose ``values``, as "gamma = 1/2", stand elsewhere."""
    stated = {value.replace("_", "").replace(" ", "") for value in values}
    stated |= {f"n={value.partition(' = ')[2]}" for value in values if value.partition(" = ")[0] in _CLIENTS}
    # The factor of Lambda is a number of the recipe only; 1 changes nothing.
    inner = "scale=" if any(value.startswith("Lambda") for value in values) else "scale=1"
    stated |= {
        f"{own}={value.partition(' = ')[2]}"
        for own, letter in _OWN
        for value in values
        if value.startswith(f"{letter} = ")
    }
    entries = (entry for entry in text.split(", ") if entry not in stated and entry not in _NOTHING)
    return ", ".join(
        entry for entry in entries if entry != inner and not (inner[-1] == "=" and entry.startswith(inner))
    )


def in_words(text: str) -> str:
    """Return an instance's text with the names of compressors explained."""
    for name, meaning in _WORDS:
        text = name.sub(meaning, text)
    # A recipe counts clients from 0.
    return _CLIENT.sub(lambda match: f"{match[1]}i = {int(match[2]) + 1}", text)


def extreme_oracle(instance: Instance) -> str:
    """Return the name of an oracle at the extreme of its definition; empty for others."""
    name = str(getattr(getattr(instance.params, "oracle", None), "name", ""))
    return name if name.startswith(EXTREME) else ""


def _place(example: Counterexample, whole: bool) -> str:
    place = example.place()
    try:
        case = example.case
        problem, state = posed(example, case)
        functions, text = written(problem), case.instance.text
        known = naming.place(text, naming.clause(case, example.point))
    except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError):
        return place
    if not functions or _FUNCTIONS not in text:
        return place
    why = place.removeprefix(known)
    if why == place:
        # The state is none from which a run begins.
        state, why = None, place.removeprefix(text)
        if why == place:
            return place
    more = [*functions, *least(problem), naming.words(state)] if whole else []
    return "; ".join(filter(None, [text.partition("; ")[0], *more])) + why


def posed(example: Counterexample, case: Case) -> tuple[Any, Any]:
    """The problem, about its optimum in the counterexample, and the state."""
    if example.point and case.problem is not None:
        return case.start(as_row(example.point))
    return case.problem, None


def written(problem: Any) -> list[str]:
    """The functions of a problem, nothing where they are not written out."""
    return formulas.written(problem) if hasattr(problem, "f") else []


def least(problem: Any) -> Iterator[str]:
    """The minimiser of the sum of the functions, as far as it is known, and the gradients there, where a function has
    several."""
    known = getattr(problem, "known", None)
    if known is None:
        return
    yield f"x* = {naming.vector(known.x)}"
    if getattr(problem, "coupling", None) is not None:
        yield f"u* = {naming.vector(problem.u_star)}"
    given = np.asarray(problem.f.gradient(known.x[..., None, :] + 0 * np.asarray(known.y)))
    if (given != known.y).any():
        rows = np.asarray(known.y).reshape(-1, problem.n, problem.d)[0]
        yield ", ".join(f"y*_{i} = {naming.vector(row)}" for i, row in enumerate(rows, 1)) + " balance there"
