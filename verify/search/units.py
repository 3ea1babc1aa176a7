"""Units, read off a claim: the scalings of its letters that leave every relation and every side homogeneous."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import sympy

from fedtheory.claims import Claim


def scalings(claim: Claim, relations: Sequence[sympy.Basic]) -> Iterator[Mapping[sympy.Expr, Fraction]]:
    """Return a basis of the scalings of the letters that leave the claim invariant, as powers; the first is 1.

    Each basis vector has a letter with the power 1 that is in no other one. A part without letters does not scale.
    """
    letters = list(claim.setting.sources)
    quantities = [q.expression for q in claim.statement.quantities]
    degrees = _Degrees({*letters, *quantities})
    for part in (*relations, *(sympy.Le(*c[::2], evaluate=False) for c in claim.statement.comparisons)):
        degrees.of(part)
    same: dict[Any, sympy.Expr] = {}
    for q in claim.statement.quantities:
        # A quantity has the same unit before and after a step.
        degrees.equal(degrees.of(q.expression), degrees.of(same.setdefault(q.of, q.expression)))
    functions = claim.setting.functions
    if functions is not None and functions.ends is not None:
        degrees.equal(*map(degrees.of, functions.ends))
    fixed = [s for s, source in claim.setting.sources.items() if source in ("n", "d", "kappa") or s.is_integer]
    unknown = [s for s in (*letters, *quantities) if s in degrees.met]
    if not unknown:
        return
    rows = [[row.get(s, 0) for s in unknown] for row in (*degrees.equations, *({s: 1} for s in fixed))]
    kernel = sympy.Matrix(rows or [[0] * len(unknown)]).nullspace()
    scaling = [s for s in unknown if s in letters]
    basis = sympy.Matrix([[v[unknown.index(s)] for s in scaling] for v in kernel]) if kernel and scaling else None
    if basis is None:
        return
    reduced, pivots = basis.rref()
    for row, _ in enumerate(pivots):
        powers = {s: Fraction(int(e.p), int(e.q)) for s, e in zip(scaling, reduced.row(row), strict=True) if e}
        yield dict(sorted(powers.items(), key=lambda item: scaling.index(item[0])))


class _Degrees:
    """The degree to which each part of the claim scales, as a linear form in the powers of the letters.

    ``equations``: forms that vanish; ``met``: the letters that occur.
    """

    def __init__(self, unknown: set[sympy.Expr]) -> None:
        self.unknown, self.equations, self.met = unknown, [], set()  # type: ignore[var-annotated]

    def equal(self, a: Mapping[sympy.Expr, Any] | None, b: Mapping[sympy.Expr, Any] | None) -> None:
        """Two parts scale alike; None is 0, which scales as anything."""
        if a is not None and b is not None:
            self.equations.append({s: a.get(s, 0) - b.get(s, 0) for s in {*a, *b}})

    def of(self, part: sympy.Basic) -> Mapping[sympy.Expr, Any] | None:
        """The form of an expression; of a relation that of its sides, which are alike."""
        if part in self.unknown:
            self.met.add(part)
            return {part: 1}
        if part.is_zero:
            return None
        if isinstance(part, sympy.Mul):
            forms = [self.of(a) for a in part.args]
            return _sum((form or {}, 1) for form in forms)
        if isinstance(part, sympy.Pow) and part.exp.is_Rational:
            return _sum([(self.of(part.base) or {}, part.exp)])
        forms = [self.of(a) for a in part.args]
        if isinstance(part, sympy.Add | sympy.Max | sympy.Min | sympy.Rel):
            known = [form for form in forms if form is not None]
            for form in known[1:]:
                self.equal(known[0], form)
            return known[0] if known else None
        # The arguments of anything else, as a power with letters in it, are numbers without a unit.
        for known_or_not in forms:
            self.equal(known_or_not, {})
        return {}


def _sum(forms: Iterable[tuple[Mapping[sympy.Expr, Any], Any]]) -> dict[sympy.Expr, Any]:
    found: dict[sympy.Expr, Any] = {}
    for form, times in forms:
        for s, power in form.items():
            found[s] = found.get(s, 0) + times * power
    return found
