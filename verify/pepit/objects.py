"""Both ends of a model's worst case as proof objects, for :mod:`verify.checker` and for Rocq.

The upper bound is an identity: the objective less the bound is a sum of the model's constraints and of squares. The
lower one is a calculation: a Gram matrix is a sum of squares with positive weights, and with it and the function values
every constraint holds, and the objective is as stated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial, reduce
from typing import Any

from verify import checker
from verify.exact import elimination
from verify.export import for_all_letters, objects
from verify.export.objects import ProofObjects
from verify.multipliers.proofs import CaseProof
from verify.multipliers.reasons import Stated
from verify.pep.gram import BasisVector, Form
from verify.pep.programs import Certificate, Constraint, Program
from verify.pepit.certifying import Bounds, Lower, Matrix, Upper, fraction
from verify.pepit.model import Inequality, Model, Quantity
from verify.pepit.notation import Notation

_NUMBERS = Notation()
#: A weight, and the entries of a vector by their place.
Square = tuple[Fraction, dict[int, Fraction]]


def of(bounds: Bounds[Fraction], name: str, names: Notation = _NUMBERS) -> dict[str, dict[str, Any]]:
    """The objects of the ends that were found, "upper" and "lower"; ``name``: what the model is called in them,
    ``names``: what its points, function values and constraints are called in the upper one."""
    found = {}
    if bounds.upper is not None:
        found["upper"] = _upper(bounds.model, bounds.upper, name, _rounding(bounds), names)
    if bounds.lower is not None:
        found["lower"] = _lower(bounds.model, bounds.lower, name, _rounding(bounds))
    return found


def _rounding(bounds: Bounds[Fraction]) -> list[str]:
    return [f"{bounds.rounded} coefficients are fractions near what the file says"] if bounds.rounded else []


def of_letters(proofs: Sequence[CaseProof], name: str, says: Sequence[str], names: Mapping[str, str]) -> ProofObjects:
    """The objects of a bound for all letters, one for each case; ``names``: of points and values, by those there."""
    lines = [*map(Stated, says)]
    made = ProofObjects.joined(
        for_all_letters.of_proofs(name, lines, str(k), {name: proof}) for k, proof in enumerate(proofs, 1)
    )
    return replace(made, each=tuple(objects.sealed(_renamed(data, names)) for data in made))


def _renamed(data: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """An object in which rows and values have other names."""

    def key(name: str) -> str:
        parts = (part.rpartition(": ") for part in name.split("|"))
        return "|".join(f"{block}{colon}{names.get(row, row)}" for block, colon, row in parts)

    def form(of: Mapping[str, Any]) -> dict[str, Any]:
        return {key(name): c for name, c in of.items()}

    programs = [
        {
            **program,
            "target": form(program["target"]),
            "known": [{**item, "form": form(item["form"])} for item in program["known"]],
            "squares": [{**square, "vector": form(square["vector"])} for square in program["squares"]],
        }
        for program in data["programs"]
    ]
    return {**data, "programs": programs}


def _upper(model: Model, upper: Upper[Fraction], name: str, says: Sequence[str], names: Notation) -> dict[str, Any]:
    constraints, multipliers = [], {}
    for c in model.constraints:
        if m := upper.multipliers.get(c.name):
            sign = "= 0" if c.is_equality else "<= 0"
            words = names.constraint(c.name) or f"{c.name}, a constraint of the model: it is {sign}"
            form = _form(c.expression, names)
            # An equality is used from either side.
            constraints.append(Constraint(c.name, (1 if m > 0 else -1) * form, partial(str, words)))
            multipliers[c.name] = abs(m)
    for inequality in model.inequalities:
        for number, (weight, vector) in enumerate(elimination.squares(upper.matrices[inequality.name])):
            key = f"{inequality.name}, {number}"
            words = f"{inequality.name}, a positive semidefinite matrix of the model: less its value at a vector"
            constraints.append(Constraint(key, -1 * _form(_value_at(inequality, vector), names), partial(str, words)))
            multipliers[key] = weight
    objective = names.value(model.objective)
    program = Program(Form({}, {objective: 1}), tuple(constraints))
    bound = f"the objective is at most {upper.identity}"
    return objects.sealed(
        {
            "format": checker.FORMAT,
            "kind": "identity",
            "claim": name,
            "says": [bound, f"the objective is {objective}", *says],
            "at": {},
            "letters": {},
            "domain": {},
            "nonzero": [],
            "programs": [objects.program(bound, Certificate(program, multipliers, upper.identity))],
        }
    )


def _form(quantity: Quantity, names: Notation) -> Form:
    entries, values = {}, {}
    for key, c in quantity.coefficients.items():
        if isinstance(key, int):
            values[names.value(key)] = fraction(c)
        else:
            one, other = (BasisVector("point", names.point(k)) for k in key)
            entries[one, other] = fraction(c)
    return Form(entries, values, fraction(quantity.constant))


def _value_at(inequality: Inequality, vector: dict[int, Fraction]) -> Quantity:
    """The quadratic form of a matrix of expressions at a vector; those below the diagonal are equal to those above."""
    zero = Quantity({})
    above = inequality.entries
    terms = [above[min(i, j)][max(i, j)].times(-a * b) for i, a in vector.items() for j, b in vector.items()]
    return reduce(Quantity.minus, terms, zero)


def _lower(model: Model, lower: Lower[Fraction], name: str, says: Sequence[str]) -> dict[str, Any]:
    steps = _Calculation()
    gram = steps.matrix("gram", [*elimination.squares(lower.gram)], model.points)
    values = [steps.given(f"value {k}", v) for k, v in enumerate(lower.values)]

    def at(quantity: Quantity) -> str:
        terms = [
            steps.made("*", steps.number(fraction(c)), values[key] if isinstance(key, int) else gram[key])
            for key, c in quantity.coefficients.items()
        ]
        return steps.total([*terms, steps.number(fraction(quantity.constant))])

    for c in model.constraints:
        steps.compared(c.name, "==" if c.is_equality else "<=", at(c.expression), steps.number(Fraction(0)))
    for inequality in model.inequalities:
        numbers = _entries(inequality, lower)
        matrix = steps.matrix(inequality.name, [*elimination.squares(numbers)], len(numbers))
        for i, j in matrix:
            steps.compared(f"{inequality.name} {i} {j}", "==", at(inequality.entries[i][j]), matrix[i, j])
    steps.compared("the objective", "==", values[model.objective], steps.number(lower.bound))
    bound = f"the objective is {lower.bound} at a point where all constraints of the model hold"
    return objects.sealed(
        {
            "format": checker.FORMAT,
            "kind": "arithmetic",
            "claim": name,
            "says": [bound, f"the objective is {_NUMBERS.value(model.objective)}", *says],
            "at": steps.listed,
            "steps": steps.steps,
        }
    )


def _entries(inequality: Inequality, lower: Lower[Fraction]) -> Matrix[Fraction]:
    def at(quantity: Quantity) -> Fraction:
        terms = (
            fraction(c) * (lower.values[key] if isinstance(key, int) else lower.gram[key[0]][key[1]])
            for key, c in quantity.coefficients.items()
        )
        return sum(terms, fraction(quantity.constant))

    return tuple(tuple(map(at, row)) for row in inequality.entries)


class _Calculation:
    """Steps of a calculation, each made once, and the numbers that are listed."""

    def __init__(self) -> None:
        self.steps: list[list[str]] = []
        self.listed: dict[str, str] = {}
        self._known: dict[tuple[str, ...], str] = {}

    def number(self, value: Fraction) -> str:
        """A number that is named by itself."""
        return self._step(str(value), str(value))

    def given(self, name: str, value: Fraction) -> str:
        """A number of the point."""
        self.listed[name] = str(value)
        return self._step(name, str(value))

    def made(self, operation: str, one: str, other: str) -> str:
        """The result of an operation."""
        return self._step(f"t{len(self.steps)}", operation, one, other)

    def total(self, terms: Sequence[str]) -> str:
        """The sum of numbers."""
        return reduce(lambda a, b: self.made("+", a, b), terms)

    def compared(self, name: str, relation: str, one: str, other: str) -> None:
        """A comparison, which is true."""
        self.steps.append([f"so {len(self.steps)}: {name}", relation, one, other])

    def matrix(self, name: str, of: Sequence[Square], size: int) -> dict[tuple[int, int], str]:
        """The entries (i, j), i <= j, of a sum of squares, whose weights are compared with 0."""
        zero = self.number(Fraction(0))
        terms: dict[tuple[int, int], list[str]] = {(i, j): [] for i in range(size) for j in range(i, size)}
        for k, (weight, vector) in enumerate(of):
            d = self.given(f"{name} weight {k}", weight)
            self.compared(f"{name} weight {k}", "<", zero, d)
            entries = {i: self.given(f"{name} vector {k} {i}", a) for i, a in vector.items()}
            for i, a in entries.items():
                scaled = self.made("*", d, a)
                for j, b in entries.items():
                    if i <= j:
                        terms[i, j].append(self.made("*", scaled, b))
        return {pair: self.total(found) if found else zero for pair, found in terms.items()}

    def _step(self, name: str, by: str, *of: str) -> str:
        key = (by, *of) if of else (name, by)
        if key not in self._known:
            self._known[key] = name
            self.steps.append([name, by, *of])
        return self._known[key]
