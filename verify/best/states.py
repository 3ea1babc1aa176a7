"""Lower bounds on the best constant: a function of the class and a state at which no smaller number holds, in
fractions.

A function is given by an instance of the claim's setting, or by its data at the points that a step visits: the Gram
matrix of all vectors, and the function values. The interpolation conditions state that some function of the class (with
compression errors of the allowed moments) has these data; both are evaluated again from the claim's code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.claims import Claim
from fedtheory.instances import Instance, Recipe
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.comparisons.exact import parts
from verify.evidence import references
from verify.evidence.parsing import exact, texts
from verify.pep import programs, rounding
from verify.pep.bounding import nonnegative
from verify.pep.gram import Form
from verify.pep.programs import Certificate, Program, Solution
from verify.pep.prover import Certified, DoesNotHold, Solving
from verify.pep.rounding import FeasiblePoint
from verify.pep.worst_case import certify
from verify.search import hunting, refutation
from verify.search import states as worst_states

#: Rows of a program beyond which it is not solved: minutes, and gigabytes, at twice as many.
ROWS = 40


@dataclass(frozen=True)
class AtInstance:
    """A state of an instance: the ``recipe`` says which functions it is made of, ``point`` are its coordinates."""

    recipe: Recipe
    point: tuple[Fraction, ...]
    rounds: int

    def ratio(self, claim: Claim) -> Fraction:
        """left/right of the claim there, exactly. Raise ``ValueError`` if the instance or the ratio does not exist."""
        found = [
            Fraction(a) / Fraction(b)
            for name, left, right, *_ in parts(Case(claim, self.recipe), self.point, self.rounds)
            # Those of the statement itself have numbers for names.
            if name.isdigit()
            for a, b in zip(left, right, strict=True)
            if _rational(a) and _rational(b) and b > 0
        ]
        if not found:
            raise DoesNotHold(f"the sides of {claim.id} have no ratio at the stored state")
        return max(found)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; :func:`from_json` gives it back."""
        return {"recipe": references.encode(self.recipe), "point": texts(self.point), "rounds": self.rounds}


@dataclass(frozen=True)
class AtPoints:
    """A function by its values and gradients: Gram matrices by block, with the names of their rows, and values."""

    gram: Mapping[str, tuple[tuple[str, ...], tuple[tuple[Fraction, ...], ...]]]
    values: Mapping[str, Fraction]

    def objective(self, program: Program) -> Fraction:
        """The objective of the program there: no smaller number holds. Raise ``DoesNotHold`` if this is not a
        feasible point of it, or the objective is not positive, which says nothing of a ratio."""
        point = self._of(program)
        if any((X != X.T).any() for X in point.gram) or not point.is_feasible(program):
            raise DoesNotHold("the stored vectors and values are of no function of the class")
        found = point.evaluate(program, program.objective)
        if found <= 0:
            raise DoesNotHold("the left side is not positive at the stored vectors and values")
        return found

    def evaluate(self, program: Program, form: Form) -> Fraction:
        """The value of a form in the vectors of a program."""
        return self._of(program).evaluate(program, form)

    def _of(self, program: Program) -> FeasiblePoint:
        rows = {names[0].block: tuple(row.name for row in names) for names in program.blocks}
        if rows != {block: names for block, (names, _) in self.gram.items()} or set(program.values) != set(self.values):
            raise DoesNotHold("the stored vectors are not those of the claim")
        return FeasiblePoint(
            tuple(np.array(self.gram[names[0].block][1], dtype=object) for names in program.blocks),
            tuple(self.values[name] for name in program.values),
        )

    def to_json(self) -> dict[str, Any]:
        """A JSON object; :func:`from_json` gives it back."""
        gram = {block: {"rows": list(names), "gram": texts(X)} for block, (names, X) in self.gram.items()}
        return {"vectors": gram, "values": texts(self.values)}


Witness = AtInstance | AtPoints


def from_json(data: Mapping[str, Any]) -> Witness:
    """Read what ``to_json`` stored."""
    if "recipe" in data:
        return AtInstance(references.recipe(data["recipe"]), exact(data["point"]), data["rounds"])
    gram = {block: (tuple(of["rows"]), exact(of["gram"])) for block, of in data["vectors"].items()}
    return AtPoints(gram, exact(data["values"]))


class Posed:
    """A prover that proves nothing and keeps the programs; ``relaxed``: one of them allows more than the class."""

    def __init__(self) -> None:
        self.programs: list[tuple[Program, bool]] = []
        self.relaxed = False

    def bounds(
        self, step: str, program: Program, claimed: Fraction, homogeneous: bool, relaxed: bool, tight: bool
    ) -> Certified:
        """Keep the program."""
        self.programs.append((program, homogeneous))
        self.relaxed = self.relaxed or relaxed
        size = max(map(len, program.blocks), default=0)
        # Not to be asked again for another program of the same step.
        return Certified(None, None, claimed, Verdict.OPEN, relaxed=False, size=size)

    def prove(
        self, step: str, program: Program, candidates: Callable[[], Iterable[Fraction]], guesses: int
    ) -> Certificate | None:
        """Nothing."""
        return None


def pose(case: Case) -> tuple[Program, bool]:
    """Return the program whose value is the claim's worst ratio, with every point interpolated, and whether it allows
    more than the class. Raise ``ValueError`` if the claim has none."""
    few(case.instance)
    prover = Posed()
    found = certify(case, tight=True, prover=prover)
    if len(prover.programs) != 1:
        raise ValueError(found.note or f"{case.claim.id} has no single worst case")
    program, homogeneous = prover.programs[0]
    if homogeneous:
        raise ValueError(f"a side of {case.claim.id} has a constant term, so no ratio of its sides is the worst case")
    return program, prover.relaxed


def check_sign(claim: Claim, program: Program) -> None:
    """Raise ``ValueError`` unless what the number multiplies is shown to be nonnegative: of what may be negative a
    larger number may hold where a smaller one does, or the other way round."""
    (before,) = (c for c in program.constraints if c.name == programs.BEFORE)
    others = [c for c in program.constraints if c.name != programs.BEFORE]
    if not nonnegative(Solving(), claim.id, before.form + 1, others):
        raise ValueError(
            f"the right side of {claim.id}, but for its number, is not shown to be nonnegative: no number is the best"
        )


def few(instance: Instance) -> None:
    """Raise ``ValueError`` if there are so many clients that the program is too large: each has a row at least."""
    n = getattr(instance.problem, "n", 1)
    if n > ROWS:
        raise ValueError(f"{n} clients have a program of more than {ROWS} rows, the most that is solved: take fewer")


def affordable(program: Program) -> int:
    """The rows of a program. Raise ``ValueError`` if these are too many."""
    size = max(map(len, program.blocks), default=0)
    if size > ROWS:
        raise ValueError(f"the program has {size} rows, and {ROWS} is the most that is solved: take fewer clients")
    return size


def feasible(program: Program, posed: Program, solution: Solution) -> tuple[Fraction, AtPoints] | None:
    """The objective at a function near the solver's, exactly in the class, and that function, or None; ``posed``: the
    program in the solver's units."""
    found = rounding.lower_bound(posed, solution)
    if found is None:
        return None
    gram = {}
    for names, X in zip(program.blocks, found[1].gram, strict=True):
        units = [Fraction(posed.units.get(row, 1)) for row in names]
        lines = tuple(
            tuple(a * b * Fraction(v) for b, v in zip(units, line, strict=True))
            for a, line in zip(units, X, strict=True)
        )
        gram[names[0].block] = (tuple(row.name for row in names), lines)
    units_of = _units(program, posed)
    values = dict(zip(posed.values, found[1].values, strict=True))
    there = AtPoints(gram, {name: units_of[name] * values[name] for name in program.values})
    try:
        return there.objective(program), there
    except DoesNotHold:
        return None


def _units(program: Program, posed: Program) -> dict[str, Fraction]:
    """Return the value of each function value's unit before the program was rescaled."""
    pairs = zip((program.objective, *program.forms), (posed.objective, *posed.forms), strict=True)
    return {name: Fraction(then.values[name]) / Fraction(c) for now, then in pairs for name, c in now.values.items()}


def worst_instance(claim: Claim, recipes: Iterable[Recipe]) -> tuple[Fraction, AtInstance] | None:
    """The largest left/right at the worst states of the instances, exactly, or None where none is seen."""
    found: list[tuple[Fraction, AtInstance]] = []
    for recipe in recipes:
        findings = worst_states.examine(Case(claim, recipe), hunting.generator(claim, 0)) or []
        for finding in [f for f in findings if np.isfinite(f.ratio)][:1]:
            for point in (*refutation.roundings(finding.theta), refutation.nearest(finding.theta)):
                state = AtInstance(recipe, point, finding.rounds)
                try:
                    found.append((state.ratio(claim), state))
                except (ValueError, ArithmeticError):
                    continue
    return max(found, key=lambda pair: pair[0], default=None)


def solved(program: Program) -> tuple[Program, Solution]:
    """The program in units in which it is solved, and what the solver says."""
    posed = programs.equilibrated(program)
    return posed, programs.solve(posed)


def _rational(value: Any) -> bool:
    return isinstance(value, int | Fraction | np.integer)
