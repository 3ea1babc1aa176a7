"""Identities between arrays whose lengths are letters: true ones are shown, and false neighbours stay open."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from math import comb

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.kinds.identity import identity
from fedtheory.learning.lower_bounds import chain
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import meeting
from verify.entries import proving
from verify.methods import entry_by_entry

SUM, SOLUTION, MGF = (f"feddcd/appendix-F/{name}" for name in ("sum", "solution", "mgf"))
N, tau, t = sympy.symbols("N tau t", integer=True, positive=True)
alpha, beta, s = sympy.symbols("alpha beta s", positive=True)


def why_not(claim, count=40):
    """Return why a claim is not shown; empty if it is."""
    found = meeting(claim, islice(claim.instances.recipes(np.random.default_rng(0)), count))
    try:
        return proving.prove(claim, [instance for _, instance in found])
    except ValueError as error:
        return str(error)


def sides(id, left, right, **changed):
    """Return a claim with other sides."""
    one, other = (Quantity(f"q{k}", side) if callable(side) else side for k, side in enumerate((left, right)))
    return replace(claims.get(id), statement=identity(one, other), **changed)


@pytest.mark.parametrize("id", [SUM, SOLUTION, MGF])
def test_the_chain_of_appendix_f_is_shown(id):
    assert entry_by_entry.METHOD.speaks_of(claims.get(id))
    assert why_not(claims.get(id)) == ""


# Bands of matrices, and the functions whose sum they are


def all_rows(problem, params, state):
    return np.asarray(sum(chain(k, params.m, params.size) for k in range(1, params.m + 1)))


def but_last(problem, params, state):
    return np.asarray(sum(chain(k, params.m, params.size) for k in range(1, params.m + 1)))[:-1]


def one_less(problem, params, state):
    return np.asarray(sum(chain(k, params.m, params.size) for k in range(1, params.m)))[:-1]


def one_more(problem, params, state):
    return np.asarray(sum(chain(k, params.m + 1, params.size) for k in range(1, params.m + 1)))[:-1]


def first_alone(problem, params, state):
    return np.asarray(sum(chain(1, params.m, params.size) for k in range(1, params.m + 1)))[:-1]


def tridiagonal(problem, params, state):
    eye, up, down = (np.eye(params.size, k=k, dtype=int) for k in (0, 1, -1))
    return 2 * eye - up - down


def tridiagonal_but_last(problem, params, state):
    matrix = (
        2 * np.eye(params.size, dtype=int) - np.eye(params.size, k=1, dtype=int) - np.eye(params.size, k=-1, dtype=int)
    )
    return matrix[:-1]


def tridiagonal_but_first(problem, params, state):
    matrix = (
        2 * np.eye(params.size, dtype=int) - np.eye(params.size, k=1, dtype=int) - np.eye(params.size, k=-1, dtype=int)
    )
    return matrix[1:]


def one_in_the_corner(problem, params, state):
    matrix = (
        2 * np.eye(params.size, dtype=int) - np.eye(params.size, k=1, dtype=int) - np.eye(params.size, k=-1, dtype=int)
    )
    corner = np.zeros((params.size, params.size), dtype=int)
    corner[0, 0] += 1
    return (matrix - corner)[:-1]


def upper(problem, params, state):
    matrix = 2 * np.eye(params.size, dtype=int) - 2 * np.eye(params.size, k=1, dtype=int)
    return matrix[:-1]


def test_a_sum_is_shown_for_its_rows_and_no_others():
    assert why_not(sides(SUM, but_last, tridiagonal_but_last)) == ""
    # The last row has a block that is cut off.
    assert why_not(sides(SUM, all_rows, tridiagonal)) == ""
    for false in (
        (but_last, one_in_the_corner),
        (but_last, upper),
        (but_last, tridiagonal_but_first),
        (one_less, tridiagonal_but_last),
        (one_more, tridiagonal_but_last),
        (first_alone, tridiagonal_but_last),
    ):
        assert why_not(sides(SUM, *false))


def test_without_the_hypothesis_that_all_functions_are_there_nothing_is_owed_that_it_says():
    # It says m = N, and so that m is at least 1: else the sum is of nothing.
    assert "hypotheses do not imply" in why_not(replace(claims.get(SUM), requires=()))


# Numbers and powers


def moment(problem, params, state):
    p = (0 * params.s + params.tau) / params.N
    return sum(comb(params.t, i) * (p * params.s) ** i * (1 - p) ** (params.t - i) for i in range(params.t + 1))


def without_last(problem, params, state):
    p = (0 * params.s + params.tau) / params.N
    return sum(comb(params.t, i) * (p * params.s) ** i * (1 - p) ** (params.t - i) for i in range(params.t))


def from_one(problem, params, state):
    p = (0 * params.s + params.tau) / params.N
    return sum(comb(params.t, i) * (p * params.s) ** i * (1 - p) ** (params.t - i) for i in range(1, params.t + 1))


def both_rising(problem, params, state):
    p = (0 * params.s + params.tau) / params.N
    return sum(comb(params.t, i) * (p * params.s) ** i * (1 - p) ** i for i in range(params.t + 1))


def other_coefficients(problem, params, state):
    p = (0 * params.s + params.tau) / params.N
    return sum(comb(params.t + 1, i) * (p * params.s) ** i * (1 - p) ** (params.t - i) for i in range(params.t + 1))


def twice(problem, params, state):
    p = (0 * params.s + params.tau) / params.N
    return sum(2 * comb(params.t, i) * (p * params.s) ** i * (1 - p) ** (params.t - i) for i in range(params.t + 1))


def negative_exponents(problem, params, state):
    p = (0 * params.s + params.tau) / params.N
    return sum(comb(params.t, i) * (p * params.s) ** i * (1 - p) ** (params.t - i) for i in range(params.t + 1)) * (
        1 - p
    ) ** (params.t - params.N)


PGF = (1 - tau / N + tau / N * s) ** t


def test_a_generating_function_is_that_of_a_binomial_variable_alone():
    assert why_not(sides(MGF, moment, PGF)) == ""
    assert why_not(sides(MGF, moment, ((N - tau + tau * s) / N) ** t)) == ""
    assert why_not(sides(MGF, moment, PGF / 2 + PGF / 2)) == ""
    assert why_not(sides(MGF, twice, 2 * PGF)) == ""
    for left, right in (
        (moment, (1 + tau / N + tau / N * s) ** t),
        (moment, (1 - tau / N + tau / N * s) ** (t + 1)),
        (moment, (1 - tau / N + tau / N * s) ** N),
        (moment, 1 - tau / N + tau / N * s),
        (twice, PGF),
        (without_last, PGF),
        (from_one, PGF),
        (both_rising, PGF),
        (other_coefficients, PGF),
        # Where tau is N it is divided by 0, or 0 to the power 0.
        (negative_exponents, PGF * (1 - tau / N) ** (t - N)),
    ):
        assert why_not(sides(MGF, left, right))


def geometric(problem, params, state):
    return sum(params.s**i for i in range(params.t))


def geometric_of_ratio(problem, params, state):
    q = (params.s - 1) / (params.s + 1)
    return sum(q ** (i + 1) for i in range(params.t))


def counted(problem, params, state):
    return sum(params.s for i in range(params.t))


def test_geometric_sums_are_closed_where_the_ratio_is_not_1():
    q = (s - 1) / (s + 1)
    assert why_not(sides(MGF, geometric, (s**t - 1) / (s - 1))) == ""
    assert why_not(sides(MGF, geometric_of_ratio, (q - q ** (t + 1)) / (1 - q))) == ""
    assert why_not(sides(MGF, counted, t * s)) == ""
    # Without s > 1 the ratio may be 1.
    assert why_not(sides(MGF, geometric, (s**t - 1) / (s - 1), requires=()))
    for left, right in (
        (geometric, (s ** (t + 1) - 1) / (s - 1)),
        (geometric, (s**t - 1) / s),
        (geometric_of_ratio, (1 - q**t) / (1 - q)),
        (counted, (t + 1) * s),
    ):
        assert why_not(sides(MGF, left, right))


# Solutions of systems


def residual(problem, params, state):
    q = (params.s - 1) / (params.s + 1)
    w = np.array([q ** (i + 1) for i in range(params.size)])
    first = np.eye(params.size, dtype=int)[0]
    smooth = params.N * params.alpha * (params.s**2 - 1) / 4
    matrix = tridiagonal(problem, params, state)
    return smooth * (matrix @ w - first) + params.N * params.alpha * w


def residual_but_last(problem, params, state):
    return residual(problem, params, state)[:-1]


def shifted(problem, params, state):
    q = (params.s - 1) / (params.s + 1)
    w = np.array([q**i for i in range(params.size)])
    first = np.eye(params.size, dtype=int)[0]
    smooth = params.N * params.alpha * (params.s**2 - 1) / 4
    matrix = tridiagonal(problem, params, state)
    return (smooth * (matrix @ w - first) + params.N * params.alpha * w)[:-1]


def other_root(problem, params, state):
    q = (params.s + 1) / (params.s - 1)
    w = np.array([q ** (i + 1) for i in range(params.size)])
    first = np.eye(params.size, dtype=int)[0]
    smooth = params.N * params.alpha * (params.s**2 - 1) / 4
    matrix = tridiagonal(problem, params, state)
    return (smooth * (matrix @ w - first) + params.N * params.alpha * w)[:-1]


def second_unit(problem, params, state):
    q = (params.s - 1) / (params.s + 1)
    w = np.array([q ** (i + 1) for i in range(params.size)])
    second = np.eye(params.size, dtype=int)[1]
    smooth = params.N * params.alpha * (params.s**2 - 1) / 4
    matrix = tridiagonal(problem, params, state)
    return (smooth * (matrix @ w - second) + params.N * params.alpha * w)[:-1]


def zero(problem, params, state):
    return np.zeros((), dtype=int)


def test_a_solution_solves_the_rows_that_are_kept():
    # A solution that grows solves the same rows: the last alone tells them apart.
    assert why_not(sides(SOLUTION, residual_but_last, zero)) == ""
    assert why_not(sides(SOLUTION, other_root, zero)) == ""
    for false in (residual, shifted, second_unit):
        assert why_not(sides(SOLUTION, false, zero))


def state_twice(problem, params, state):
    return 2 * state.x


def test_states_are_not_read():
    assert "replicas" in why_not(sides(SUM, state_twice, state_twice))


# What Python and numpy do otherwise than algebra


def alias(problem, params, state):
    matrix = np.zeros((params.size, params.size), dtype=int)
    other = matrix
    matrix[0, 0] += 1
    return other


def view(problem, params, state):
    matrix = np.zeros((params.size, params.size), dtype=int)
    row = matrix[0]
    matrix[0, 0] += 1
    return row


def changed_argument(problem, params, state):
    return _changed(np.zeros((params.size, params.size), dtype=int))


def _changed(matrix):
    matrix[0, 0] += 1
    return matrix


def clipped(problem, params, state):
    matrix = np.zeros((params.size, params.size), dtype=int)
    for start in range(params.size):
        matrix[start : start + 2, start : start + 2] += np.array([[1, -1], [-1, 1]])
    return matrix


def beyond(problem, params, state):
    return np.eye(params.size, dtype=int)[params.size]


def doubled(problem, params, state):
    return np.array([2**i for i in range(params.size)])


def truths(problem, params, state):
    return np.array([i == 0 for i in range(params.size)]) + np.array([i == 0 for i in range(params.size)])


def branching(problem, params, state):
    return sum((params.s if i == 0 else 1 * params.s) for i in range(params.t))


def truncated(problem, params, state):
    return np.array([params.s, params.s], dtype=int)


def of_int64(problem, params, state):
    one = np.array([3, 5])[0]
    return one**params.t


def backwards(problem, params, state):
    return sum(params.s for i in range(params.t, 0, -1))


def generator_twice(problem, params, state):
    values = (params.s for i in range(params.t))
    return sum(values) + sum(values)


def nothing(problem, params, state):
    return 0 * params.s


@pytest.mark.parametrize(
    "code",
    [
        alias,
        view,
        changed_argument,
        clipped,
        beyond,
        doubled,
        truths,
        branching,
        truncated,
        of_int64,
        backwards,
        generator_twice,
    ],
)
def test_what_runs_otherwise_than_it_reads_is_refused(code):
    why = why_not(sides(MGF, code, code))
    assert why
    assert "not shown to be equal" not in why
    assert "not what was read" not in why


def test_letters_of_code_outside_the_theory_are_the_only_numbers_known():
    claim = claims.get(MGF)
    special = claim.setting.drawing.special
    own = replace(special, build=lambda recipe, exact: special.build(recipe, exact))
    there = replace(claim, setting=replace(claim.setting, drawing=replace(claim.setting.drawing, special=own)))
    assert why_not(replace(there, statement=identity(Quantity("E", moment), PGF), requires=())) == ""
    of_sum = claims.get(SUM)
    # There its letters say nothing of how many functions there are.
    assert why_not(replace(of_sum, setting=there.setting))


def test_a_hypothesis_that_cannot_be_read_is_not_assumed():
    odd = Hypothesis("odd", met=lambda problem, params: str(params.s) != "1")
    assert why_not(sides(MGF, geometric, (s**t - 1) / (s - 1), requires=(odd,)))
