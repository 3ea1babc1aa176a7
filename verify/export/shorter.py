"""Proofs at points with shorter numbers: what a solver and an elimination left with hundreds of digits, rounded.

Multipliers are rounded to few binary digits, but for those that equations determine. The form that is then left is
written as squares with rounded coefficients, and what they miss as squares of sums and differences of two vectors: it
is small, and dominated by the diagonal, from which a little was held back. All of it is exact. Where no proof is found
so, or only a longer one, the one that was given stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

#: Numbers with more characters than this are shortened.
_LONG = 40
#: Binary digits to which multipliers are rounded, one after the other.
_DIGITS = (8, 16, 24, 32, 48, 64, 96)
#: The shares of a diagonal of ones that are held back, as powers of two, one after the other.
_HELD_BACK = (6, 12, 20, 30, 40, 56)

#: The upper triangle of a form in vectors by pairs of names in order, and what stands before values and 1.
Pairs = dict[tuple[str, str], Fraction]
Vector = dict[str, Fraction]


class _Form(NamedTuple):
    products: Pairs
    values: Vector


def shortened(program: Mapping[str, Any]) -> Mapping[str, Any]:
    """The program of an object without letters, its weights and squares with shorter numbers if they are long."""
    squares = [item for item in program["squares"] if set(item["vector"]) != {"1"}]
    if max((len(c) for item in squares for c in (item["weight"], *item["vector"].values())), default=0) <= _LONG:
        return program
    known = [_form(item["form"]) for item in program["known"]]
    target = _form(program["target"])
    weights = [Fraction(item["weight"]) for item in program["known"]]
    basis = _reduced([{row: Fraction(c) for row, c in item["vector"].items()} for item in squares])
    equations = list(_equations(target, known, basis))
    free, solved = _solved(equations, weights)
    for digits in _DIGITS:
        found = {i: _rounded(weights[i], digits) for i in free}
        found |= {i: rest + sum(c * found[j] for j, c in of.items()) for i, (rest, of) in solved.items()}
        ordered = [found[i] for i in range(len(weights))]
        slack = sum((w * f.values.get("1|1", 0) for w, f in zip(ordered, known, strict=True)), Fraction(0))
        slack -= target.values.get("1|1", Fraction(0))
        if min(ordered, default=slack) < 0 or slack < 0:
            continue
        left: Pairs = {pair: -c for pair, c in target.products.items()}
        for w, form in zip(ordered, known, strict=True):
            for pair, c in form.products.items():
                left[pair] = left.get(pair, Fraction(0)) + w * c
        made = _squares(left, basis)
        if made is not None:
            constants = [(slack, {"1": Fraction(1)})] if slack else []
            rounded = {
                **program,
                "known": [{**k, "weight": str(w)} for k, w in zip(program["known"], ordered, strict=True)],
                "squares": [
                    {"weight": str(w), "vector": {row: str(c) for row, c in v.items()}} for w, v in [*made, *constants]
                ],
            }
            return min(program, rounded, key=_length)
    return program


def _length(program: Mapping[str, Any]) -> int:
    numbers = [item["weight"] for item in (*program["known"], *program["squares"])]
    return sum(map(len, numbers)) + sum(len(c) for item in program["squares"] for c in item["vector"].values())


def _form(form: Mapping[str, str]) -> _Form:
    products: Pairs = {}
    for thing, c in form.items():
        if "|" in thing and thing != "1|1":
            a, b = sorted(thing.split("|"))
            products[a, b] = products.get((a, b), Fraction(0)) + Fraction(c)
    return _Form(products, {thing: Fraction(c) for thing, c in form.items() if "|" not in thing or thing == "1|1"})


def _reduced(vectors: list[Vector]) -> dict[str, Vector]:
    """A basis of what vectors span; each of its rows has an entry 1 where all others have 0."""
    basis: dict[str, Vector] = {}
    for vector in vectors:
        for row, other in basis.items():
            vector = _less(vector, vector.get(row, Fraction(0)), other)
        pivot = min(vector, default=None)
        if pivot is None:
            continue
        vector = {row: c / vector[pivot] for row, c in vector.items()}
        basis = {row: _less(other, other.get(pivot, Fraction(0)), vector) for row, other in basis.items()}
        basis[pivot] = vector
    return basis


def _less(a: Vector, factor: Fraction, b: Vector) -> Vector:
    out = dict(a)
    for row, c in b.items() if factor else ():
        out[row] = out.get(row, Fraction(0)) - factor * c
        if not out[row]:
            del out[row]
    return out


def _equations(
    target: _Form, known: list[_Form], basis: Mapping[str, Vector]
) -> Iterator[tuple[dict[int, Fraction], Fraction]]:
    """Yield the equations for the weights, as coefficients and a right side: values cancel, and the remaining form has
    only products of the basis.
    """
    parts = [_apart(form, basis) for form in (target, *known)]
    for thing in sorted({thing for part in parts for thing in part}):
        yield {i: part[thing] for i, part in enumerate(parts[1:]) if thing in part}, parts[0].get(thing, Fraction(0))


def _apart(form: _Form, basis: Mapping[str, Vector]) -> dict[str, Fraction]:
    """Return the part of a form outside the products of the basis: its values, and its products minus those of the
    pivots.
    """
    rest = dict(form.products)
    for a, x in basis.items():
        for b, y in basis.items():
            c = form.products.get((a, b), Fraction(0)) if a <= b else Fraction(0)
            if c:
                for i, p in x.items():
                    for j, q in y.items():
                        pair = (min(i, j), max(i, j))
                        rest[pair] = rest.get(pair, Fraction(0)) - c * p * q
    found = {f"{a}|{b}": c for (a, b), c in rest.items() if c}
    return found | {thing: c for thing, c in form.values.items() if thing != "1|1"}


def _solved(
    equations: list[tuple[dict[int, Fraction], Fraction]], weights: list[Fraction]
) -> tuple[list[int], dict[int, tuple[Fraction, dict[int, Fraction]]]]:
    """Weights that are free, and the others, large ones, as affine functions of them."""
    solved: dict[int, tuple[Fraction, dict[int, Fraction]]] = {}
    for of, right in equations:
        of, right = dict(of), Fraction(right)
        for i, (rest, others) in solved.items():
            if c := of.pop(i, Fraction(0)):
                right -= c * rest
                of = _sum(of, others, c)
        if not of:
            continue
        i = max(of, key=lambda j: weights[j])
        c = of.pop(i)
        row = (right / c, {j: -x / c for j, x in of.items()})
        for k, (rest, others) in solved.items():
            if x := others.pop(i, Fraction(0)):
                solved[k] = (rest + x * row[0], _sum(others, row[1], x))
        solved[i] = row
    return [i for i in range(len(weights)) if i not in solved], solved


def _sum(a: dict[int, Fraction], b: dict[int, Fraction], factor: Fraction) -> dict[int, Fraction]:
    out = dict(a)
    for j, c in b.items():
        out[j] = out.get(j, Fraction(0)) + factor * c
    return {j: c for j, c in out.items() if c}


def _rounded(x: Fraction, digits: int) -> Fraction:
    """A number to so many binary digits."""
    if not x:
        return x
    unit = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - digits)
    return round(x / unit) * unit


def _squares(left: Pairs, basis: Mapping[str, Vector]) -> list[tuple[Fraction, Vector]] | None:
    """A form in a basis as squares with weights, rounded; None where none are found."""
    rows = sorted(basis)
    if any(left.get((row, row), Fraction(0)) <= 0 for row in rows):
        return None
    sizes = {row: Fraction(2) ** -(_exponent(left[row, row]) // 2) for row in rows}
    units = {row: {i: c * 1 / sizes[row] for i, c in basis[row].items()} for row in rows}
    of = [
        [left.get((min(a, b), max(a, b)), Fraction(0)) * sizes[a] * sizes[b] / (1 if a == b else 2) for b in rows]
        for a in rows
    ]
    for held in _HELD_BACK:
        found = _dominated(of, held)
        if found is not None:
            return [(w, _combined(v, [units[row] for row in rows])) for w, v in found]
    return None


def _exponent(x: Fraction) -> int:
    return x.numerator.bit_length() - x.denominator.bit_length()


def _dominated(of: list[list[Fraction]], held: int) -> list[tuple[Fraction, dict[int, Fraction]]] | None:
    """A matrix with a diagonal of about one as weights and squares, 2^-held held back of the diagonal at first."""
    n, unit = len(of), Fraction(1, 2 ** (held + 2 * len(of).bit_length() + 4))

    def near(x: Fraction) -> Fraction:
        return round(x / unit) * unit

    work = [[c - (Fraction(1, 2**held) if i == j else 0) for j, c in enumerate(row)] for i, row in enumerate(of)]
    found: list[tuple[Fraction, dict[int, Fraction]]] = []
    for k in range(n):
        weight = near(work[k][k])
        if weight <= 0:
            return None
        vector = {j: x for j in range(k, n) if (x := Fraction(1) if j == k else near(work[k][j] / weight))}
        found.append((weight, vector))
        for i in range(k + 1, n):
            for j in range(i, n):
                work[i][j] = work[j][i] = near(work[i][j] - work[k][i] * work[k][j] / work[k][k])
    rest = [list(row) for row in of]
    for weight, vector in found:
        for i, x in vector.items():
            for j, y in vector.items():
                rest[i][j] -= weight * x * y
    for i in range(n):
        diagonal = rest[i][i] - sum(abs(rest[i][j]) for j in range(n) if j != i)
        if diagonal < 0:
            return None
        found += [(diagonal, {i: Fraction(1)})] if diagonal else []
        for j in range(i + 1, n):
            if c := rest[i][j]:
                found.append((abs(c), {i: Fraction(1), j: Fraction(1 if c > 0 else -1)}))
    return found


def _combined(of: Mapping[int, Fraction], vectors: list[Vector]) -> Vector:
    out: Vector = {}
    for k, c in of.items():
        out = _less(out, -c, vectors[k])
    return out
