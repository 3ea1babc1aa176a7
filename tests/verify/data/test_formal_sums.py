"""What is done to formal sums is what numpy does to arrays, at random data with clients of any sizes."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fedtheory.numbers.rational import Array as Numbers
from fedtheory.numbers.rational import exact, inverse
from fedtheory.problems.linear_models import LinearModels
from verify.data import arrays, comparing, squares
from verify.data.arrays import Array, Owners
from verify.data.comparing import There
from verify.data.problem import SMOOTHNESS, STRENGTH, X, Y, space_of
from verify.data.solving import solved
from verify.data.space import COUNTS, SIZE, Factor, Space
from verify.reading.source import Unread
from verify.reading.terms import Axis

Pair = tuple[Array, Numbers]


def _start(rng: np.random.Generator, sizes: tuple[int, ...], d: int) -> tuple[Space, There, list[Pair]]:
    n = sum(sizes)
    data = exact(rng.integers(-1, 3, (n, d)))
    f = LinearModels(data, exact(rng.integers(-2, 3, n)), np.array(sizes), Fraction(1, 2))
    state = SimpleNamespace(v=exact(rng.integers(-2, 3, (1, 1, n))), w=exact(rng.integers(-2, 3, (1, 1, d))))
    letters = {COUNTS[Axis.EXAMPLES]: n, COUNTS[Axis.CLIENTS]: len(sizes), COUNTS[Axis.COORDINATES]: d}
    there = There(SimpleNamespace(f=f), None, state, {**letters, STRENGTH: f.lam, SMOOTHNESS: Fraction(1)})
    space = space_of([])
    owner = Owners((Axis.EXAMPLES,))
    together = arrays.as_numbers(arrays.same_owner(space, Owners((Axis.EXAMPLES, Axis.ONE)), owner))
    first = arrays.as_numbers(arrays.owned_by(space, owner, 0))
    made = [
        arrays.leaf(space, X, (Axis.EXAMPLES, Axis.COORDINATES)),
        arrays.leaf(space, Y, (Axis.EXAMPLES,)),
        arrays.leaf(space, SIZE, (Axis.CLIENTS,)),
        arrays.leaf(space, "state.v", (Axis.EXAMPLES,)),
        arrays.leaf(space, "state.w", (Axis.COORDINATES,)),
        together,
        first,
        arrays.identity(space, Axis.CLIENTS),
        arrays.identity(space, Axis.EXAMPLES),
    ]
    values = [data, f.y, exact(f.sizes), state.v[0, 0], state.w[0, 0]]
    values += [exact((f.owner[:, None] == f.owner).astype(int)), exact((f.owner == 0).astype(int))]
    values += [exact(np.eye(k, dtype=int)) for k in (f.n, n)]
    return space, there, list(zip(made, values, strict=True))


def _next(rng: np.random.Generator, pool: list[Pair], f: LinearModels) -> Pair:
    """Return the result of a random operation on some of the arrays, as a formal sum and in numbers."""
    (one, a), (other, b) = (pool[int(rng.integers(len(pool)))] for _ in range(2))
    way = int(rng.integers(8))
    if way == 0:
        return arrays.add(one, other), a + b
    if way == 1:
        return arrays.multiply(one, other), a * b
    if way == 2 and one.axes:
        place = int(rng.integers(len(one.axes)))
        return arrays.total(one, [place], False), np.asarray(a.sum(axis=place), dtype=object)
    if way == 3 and len(one.axes) < 3:
        place = int(rng.integers(len(one.axes) + 1))
        return arrays.inserted(one, place), np.expand_dims(a, place)
    if way == 4 and one.axes:
        order = list(rng.permutation(len(one.axes)))
        return arrays.transposed(one, [int(k) for k in order]), np.transpose(a, np.argsort(np.argsort(order)))
    if way == 5 and Axis.CLIENTS in one.axes:
        place = one.axes.index(Axis.CLIENTS)
        return arrays.held(one, place), np.take(a, f.owner, axis=place)
    if way == 6 and Axis.EXAMPLES in one.axes:
        place = one.axes.index(Axis.EXAMPLES)
        return arrays.within(one, place), np.add.reduceat(a, f.starts, axis=place)
    if way == 7 and Axis.ONE not in one.axes:
        return arrays.as_numbers(arrays.positive(one)), exact(np.asarray(a > 0).astype(int))
    raise ValueError("this does not apply")


@pytest.mark.parametrize("sizes", [(1,), (3,), (1, 1, 1), (2, 1), (1, 3, 2)])
@pytest.mark.parametrize("d", [1, 3])
def test_operations_on_formal_sums_are_those_on_numbers(sizes: tuple[int, ...], d: int) -> None:
    rng = np.random.default_rng([*sizes, d])
    _, there, pool = _start(rng, sizes, d)
    compared = 0
    for _ in range(400):
        try:
            made, value = _next(rng, pool, there.problem.f)
            if len(made.of) > 4 or len(made.axes) > 3 or max(map(len, made.of), default=0) > 8:
                continue
            here = comparing.evaluated(made, there)
        except (ValueError, Unread):
            continue
        assert np.shape(here) == np.shape(value)
        assert bool(np.all(here == value)), arrays.text(made)
        pool.append((made, value))
        compared += 1
    assert compared > 60


@pytest.mark.parametrize("sizes", [(3,), (1, 2), (2, 1, 2)])
@pytest.mark.parametrize("block", [True, False])
def test_systems_of_examples_and_of_features_are_solved(sizes: tuple[int, ...], block: bool) -> None:
    rng = np.random.default_rng([*sizes, int(block)])
    space, there, pool = _start(rng, sizes, 2)
    f: Any = there.problem.f
    (data, a), (v, b), (together, c) = pool[0], pool[3], pool[5]
    three, half = arrays.constant(space, 3), arrays.constant(space, Fraction(1, 2))
    gram = arrays.total(arrays.multiply(arrays.inserted(data, 1), arrays.inserted(data, 0)), [2], False)
    gram = arrays.multiply(gram, together) if block else gram
    shift = arrays.multiply(three, arrays.identity(space, Axis.EXAMPLES))
    u = solved(arrays.add(arrays.multiply(half, gram), shift), v)
    matrix = np.matmul(a, a.T) * (c if block else 1) / 2 + 3 * exact(np.eye(f.examples, dtype=int))
    found = np.matmul(inverse(matrix), b)
    assert bool(np.all(comparing.evaluated(u, there) == found))
    # The matrix times the solution is the right side again, by the rule for products of examples.
    product = arrays.multiply(arrays.add(arrays.multiply(half, gram), shift), arrays.inserted(u, 0))
    assert arrays.add(arrays.total(product, [1], False), arrays.negative(v)).is_zero()
    outer = arrays.multiply(arrays.inserted(data, 2), arrays.inserted(data, 1))
    inside = arrays.within(outer, 0) if block else arrays.total(outer, [0], False)
    system = arrays.add(inside, arrays.identity(space, Axis.COORDINATES))
    weighted = arrays.multiply(arrays.inserted(v, 1), data)
    right = arrays.within(weighted, 0) if block else arrays.total(weighted, [0], False)
    s = solved(system, right)
    blocks = [slice(start, start + size) for start, size in zip(f.starts, f.sizes, strict=True)]
    eye = exact(np.eye(2, dtype=int))
    of = [np.matmul(inverse(np.matmul(a[k].T, a[k]) + eye), np.matmul(a[k].T, b[k])) for k in blocks]
    whole = np.matmul(inverse(np.matmul(a.T, a) + eye), np.matmul(a.T, b))
    assert bool(np.all(comparing.evaluated(s, there) == (np.stack(of) if block else whole)))
    assert {space.kernels[name].block for name in space.kernels} == {block}


def test_a_mask_of_the_first_client_is_1_beside_its_examples_alone() -> None:
    space, there, _ = _start(np.random.default_rng(0), (1, 2, 1), 1)
    first = arrays.positive(arrays.as_numbers(arrays.owned_by(space, Owners((Axis.EXAMPLES,)), 0)))
    held = arrays.within(arrays.as_numbers(first), 0)
    assert list(comparing.evaluated(held, there)) == [1, 0, 0]


def test_indices_that_are_summed_over_have_no_names() -> None:
    space = space_of([])
    data = arrays.leaf(space, X, (Axis.EXAMPLES, Axis.COORDINATES))
    square = arrays.multiply(data, data)
    one = arrays.total(arrays.total(square, [0], False), [0], False)
    other = arrays.total(arrays.total(square, [1], False), [0], False)
    assert one.of == other.of
    assert list(one.of) == [(Factor(X, (1001, 1000), 2),)] or list(one.of) == [(Factor(X, (1000, 1001), 2),)]


def _is_nonnegative(c: Any) -> bool:
    """Return True if a coefficient has no negative term, as counts are positive."""
    return all(number >= 0 for polynomial in (c.numer, c.denom) for number in polynomial.values())


def test_what_is_shown_to_be_at_least_0_is_so_at_random_data() -> None:
    """Differences of squares of sums over examples, clients and features, times numbers and counts."""
    rng = np.random.default_rng(0)
    shown = hidden = 0
    for sizes, d in (((2, 1), 2), ((1, 3, 2), 1), ((3,), 3)):
        space, there, pool = _start(rng, sizes, d)
        for _ in range(60):
            _, others, _ = _start(rng, sizes, d)
            terms: list[Array] = []
            for _term in range(2):
                one = pool[0][0]
                factor = arrays.inserted(pool[int(rng.choice([1, 3, 6]))][0], 1)
                one = arrays.multiply(one, factor) if rng.random() < 0.8 else one
                one = arrays.within(one, 0) if rng.random() < 0.6 else one
                for place in (0, 1):
                    one = arrays.total(one, [place], True) if rng.random() < 0.4 else one
                if rng.random() < 0.8:
                    one = arrays.multiply(one, one)
                one = arrays.total(arrays.total(one, [1], False), [0], False)
                count = space.count(list(COUNTS)[int(rng.integers(3))])
                number = arrays.letter(space, count if rng.random() < 0.5 else space.field(int(rng.integers(1, 3))))
                terms.append(arrays.multiply(number, one))
            of = arrays.add(terms[0], arrays.negative(terms[1]))
            if squares.added_up(of, squares.Knowledge(space, _is_nonnegative, lambda c: False)) is not None:
                shown += 1
                assert comparing.evaluated(of, there) >= 0, arrays.text(of)
                assert comparing.evaluated(of, others) >= 0, arrays.text(of)
            else:
                hidden += 1
    assert shown >= 3
    assert hidden > 50
