"""Exact elimination: symmetric matrices as sums of squares, and equations from which others follow.

Every certificate that leaves a form to be positive semidefinite is checked here, or by :mod:`verify.checker`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    # A core install lacks it, in which stored results are read without any of this.
    import flint


class ExactNumber:
    """A number of an ordered field with roots, as fractions are computed with, and modulo some primes."""

    __slots__ = ()

    if TYPE_CHECKING:

        def residue(self, prime: int) -> int:
            """The number modulo a prime that its field has."""

        def __sub__(self, other: Any) -> Any: ...

        def __mul__(self, other: Any) -> Any: ...

        def __truediv__(self, other: Any) -> Any: ...

        def __neg__(self) -> Any: ...

        def __lt__(self, other: Any) -> Any: ...


#: Numbers that are computed with: those of a matrix are all of one type, or integers and Python's fractions.
Number = TypeVar("Number", Fraction, "flint.fmpq", ExactNumber)
#: The same, or quotients of polynomials.
Entry = TypeVar("Entry", bound=Any)


def squares(matrix: Iterable[Iterable[Number]]) -> Iterator[tuple[Number, dict[int, Number]]]:
    """A symmetric matrix as a sum of pivot * vector vector^T, by LDL^T: pivots > 0, and entries of vectors by place.

    Raise ``ValueError`` at the pivot that shows that it is not positive semidefinite, or if it is not symmetric.
    """
    rows = [list(row) for row in matrix]
    if any(len(row) != len(rows) for row in rows) or any(
        row[j] != rows[j][i] for i, row in enumerate(rows) for j in range(i)
    ):
        raise ValueError("the matrix is not symmetric")
    left = [{j: _exact(c) for j, c in enumerate(row) if j >= i and c} for i, row in enumerate(rows)]
    for k, line in enumerate(left):
        if not line:
            continue
        pivot = line.get(k)
        if pivot is None or pivot < 0:
            raise ValueError("the matrix is not positive semidefinite")
        vector = {j: c / pivot for j, c in line.items()}
        yield pivot, vector
        for i in vector:
            if i == k:
                continue
            row, factor = left[i], line[i]
            for j, c in vector.items():
                if j >= i:
                    value = row[j] - factor * c if j in row else -(factor * c)
                    if value:
                        row[j] = value
                    else:
                        del row[j]


def _exact(value: Any) -> Any:
    import flint

    return value if isinstance(value, flint.fmpq | ExactNumber) else Fraction(value)


def is_positive_semidefinite(matrix: Iterable[Iterable[Number]]) -> bool:
    """Return True if a matrix is symmetric and positive semidefinite."""
    try:
        for _ in squares(matrix):
            pass
    except ValueError:
        return False
    return True


# Linear equations modulo a prime: what it hides costs a proof, never its exactness, since each is checked afterwards.

PRIME = 2**61 - 1


class Independent(NamedTuple):
    """Rows from which the others follow, the first that do; pivots, one a row, the first columns that determine them;
    and those pivots beside which a row of the reduced echelon form has nothing in ``columns`` that count."""

    rows: list[int]
    pivots: list[int]
    alone: list[int]


def independent(
    rows: Sequence[Mapping[int, Number]],
    columns: Sequence[int],
    counted: int | None = None,
    prime: int = PRIME,
) -> Independent:
    """Return the rows and pivots that determine the rank of some sparse rows.

    ``columns``: their order; the first ``counted`` of these count. ``prime``: one modulo which all numbers exist.
    """
    import flint

    if not rows:
        return Independent([], [], [])
    place = {column: k for k, column in enumerate(columns)}
    width = len(columns)
    entries = [0] * (len(rows) * width)
    for r, row in enumerate(rows):
        for column, c in row.items():
            entries[r * width + place[column]] = residue(c, prime)
    table = flint.nmod_mat(len(rows), width, entries, prime)
    echelon, rank = table.rref()
    found = leading(echelon, rank)
    last = width if counted is None else counted
    alone = [
        columns[p] for r, p in enumerate(found) if not any(int(echelon[r, column]) for column in range(p + 1, last))
    ]
    return Independent(pivots(table.transpose()), [columns[p] for p in found], alone)


def residue(value: Any, prime: int = PRIME) -> int:
    """A rational number modulo a prime; one with roots modulo a prime that its field has."""
    if isinstance(value, ExactNumber):
        return value.residue(prime)
    below = int(value.denominator)
    return int(value.numerator) * (1 if below == 1 else pow(below, -1, prime)) % prime


def pivots(table: flint.nmod_mat) -> list[int]:
    """The columns of the pivots of a matrix's reduced row echelon form."""
    return leading(*table.rref())


def leading(echelon: flint.nmod_mat | flint.fmpq_mat, rank: int) -> list[int]:
    """The columns of the first entries of the rows of a reduced row echelon form."""
    found: list[int] = []
    column = 0
    for r in range(rank):
        while not echelon[r, column]:
            column += 1
        found.append(column)
        column += 1
    return found


def eliminate(rows: list[list[Entry]], columns: Iterable[int], is_zero: Callable[[Entry], bool]) -> list[int]:
    """Bring a matrix of exact numbers to reduced form in place, with pivots in these columns, tried in this order.

    Return the column of the pivot of each row, from the first row on; the rows after them have zeros in all columns.
    """
    pivots: list[int] = []
    for c in columns:
        r = len(pivots)
        k = next((k for k in range(r, len(rows)) if not is_zero(rows[k][c])), None)
        if k is None:
            continue
        rows[r], rows[k] = rows[k], rows[r]
        first = rows[r][c]
        rows[r] = [v / first for v in rows[r]]
        for j, row in enumerate(rows):
            if j != r and not is_zero(f := row[c]):
                rows[j] = [v - f * w for v, w in zip(row, rows[r], strict=True)]
        pivots.append(c)
    return pivots
