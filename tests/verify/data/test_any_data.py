"""Claims about labelled examples that are shown for all data, and their false neighbours, which are not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import pytest
import sympy

from fedtheory import claims
from fedtheory.algorithms import dual_block_ascent, perturbed_primal
from fedtheory.claims import Claim
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.identity import identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.learning.local_features import appearances, local_scaling
from fedtheory.numbers.rational import apply, inverse
from fedtheory.papers.fedopt import dual, equivalence, predictors, proposition, scaling
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import meeting
from verify.data import arrays, proving
from verify.data.problem import space_of
from verify.data.reader import _shifts
from verify.methods import any_data
from verify.reading.source import Unread
from verify.reading.terms import Axis
from verify.search import hunting

SHOWN = (
    "fedopt/theorem-5",
    "fedopt/eq-18",
    "fedopt/eq-21-and-22",
    "fedopt/algorithm-5/g-closed-form",
    "fedopt/cocoa/is-algorithm-6",
    "fedopt/sigma",
    "fedopt/sigma/sparsity",
    "fedopt/scaling/absent-feature/repaired",
    "fedopt/proposition-1/gradient/repaired",
    "fedopt/lower-bound-step",
    "fedopt/naive-fsvrg/scale-of-gradients",
)


def _why(claim: Claim) -> str:
    """Return why a claim is not shown for all data; empty if it is."""
    recipes = claim.instances.recipes(hunting.generator(claim, 0))
    instances = [instance for _, instance in meeting(claim, islice(recipes, 90))]
    try:
        return proving.prove(claim, instances)
    except Unread as error:
        return str(error)


def _stating(of: str, left: Callable[..., Any], right: Callable[..., Any], **changes: Any) -> Claim:
    """Return a claim in the setting of another that two functions of data are equal."""
    claim = claims.get(of)
    return replace(claim, statement=identity(Quantity("left", left), Quantity("right", right)), **changes)


@pytest.mark.parametrize("name", SHOWN)
def test_true_claims_are_shown(name: str) -> None:
    claim = claims.get(name)
    assert any_data.METHOD.speaks_of(claim)
    assert not _why(claim)


# Identities


def _own_sums(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    return f.per_client(f.y, -1) / f.sizes


def _sums_of_all(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    return f.y.sum(axis=-1) / f.examples + 0 * f.sizes


def _weighted(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    return (f.sizes / f.examples * _own_sums(problem, params, state)).sum(axis=-1)


def _plain(problem: Any, params: Any, state: Any) -> Any:
    return _own_sums(problem, params, state).sum(axis=-1) / problem.f.n


def _mean(problem: Any, params: Any, state: Any) -> Any:
    return problem.f.y.sum(axis=-1) / problem.f.examples


def _count(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    return f.per_client(0 * f.y + 1, -1)


def _sizes(problem: Any, params: Any, state: Any) -> Any:
    return problem.f.sizes + 0 * problem.f.y.sum(axis=-1)


def _equal_sizes(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    return f.examples / f.n + 0 * f.sizes


def _gram(problem: Any, params: Any, state: Any) -> Any:
    return np.matmul(problem.f.X, problem.f.X.T)


def _blocks_of_gram(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    gram = np.matmul(f.X, f.X.T)
    return np.where(f.owner[:, None] == f.owner, gram, 0 * gram)


def _features(problem: Any, params: Any, state: Any) -> Any:
    return np.matmul(problem.f.X.T, problem.f.X)


def _sum_of_blocks(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    return f.per_client(f.X[:, :, None] * f.X[:, None, :], 0).sum(axis=0)


def _held(problem: Any, params: Any, state: Any) -> Any:
    return (appearances(problem.f) > 0).astype(int).sum(axis=0)


def _seen(problem: Any, params: Any, state: Any) -> Any:
    return appearances(problem.f).sum(axis=0)


def _trace(problem: Any, params: Any, state: Any) -> Any:
    return (problem.f.X**2).sum(axis=(-1, -2))


def _of_blocks(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    images = f.per_client(f.X, 0)
    return (images**2).sum(axis=(-1, -2))


def _squares(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    return f.per_client((f.X * f.X).sum(axis=-1), -1).sum(axis=-1)


GRADIENTS = "fedopt/eq-18"


@pytest.mark.parametrize(
    ("left", "right"),
    [(_weighted, _mean), (_count, _sizes), (_features, _sum_of_blocks), (_trace, _squares)],
)
def test_equal_sums_have_one_form(left: Callable[..., Any], right: Callable[..., Any]) -> None:
    assert not _why(_stating(GRADIENTS, left, right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        # Means of clients that have as many examples each, or the mean of those means.
        (_own_sums, _sums_of_all),
        (_plain, _mean),
        (_count, _equal_sizes),
        # Products of examples of different clients.
        (_gram, _blocks_of_gram),
        # How many clients, and how many examples, have a feature.
        (_held, _seen),
        # The square of a sum, and the sum of squares.
        (_trace, _of_blocks),
    ],
)
def test_other_sums_are_told_apart(left: Callable[..., Any], right: Callable[..., Any]) -> None:
    assert "do not reduce" in _why(_stating(GRADIENTS, left, right))


# Systems


def _without_blocks(problem: Any, params: Any, state: Any) -> Any:
    f, alpha = problem.f, state.alpha
    c = f.y - f.predictions(f.primal(alpha)) - alpha
    gram = np.matmul(f.X, f.X.T) * params.sigma / (f.lam * f.examples)
    h = apply(inverse(gram + np.eye(f.examples, dtype=int)), c)
    s = f.per_client(h[..., None] * f.X, -2) * params.sigma / (f.lam * f.examples)
    w = f.primal(alpha)[..., None, :] + f.n / params.sigma * s
    return np.concatenate([s, w, f.primal(alpha + h)[..., None, :]], axis=-2)


def _other_shift(problem: Any, params: Any, state: Any) -> Any:
    f, alpha = problem.f, state.alpha
    c = f.y - f.predictions(f.primal(alpha)) - alpha
    outer = f.per_client(f.X[:, :, None] * f.X[:, None, :], 0) / f.examples
    H = outer + params.sigma / f.lam * np.eye(f.d, dtype=int)
    s = apply(inverse(H), f.per_client(c[..., None] * f.X, -2) / f.examples)
    w = f.primal(alpha)[..., None, :] + f.n / params.sigma * s
    return np.concatenate([s, w, w.sum(axis=-2, keepdims=True) / f.n], axis=-2)


def _indefinite(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    outer = np.matmul(f.X.T, f.X)
    return apply(inverse(f.lam * np.eye(f.d, dtype=int) - outer), f.primal(state.alpha))


@pytest.mark.parametrize("right", [_without_blocks, _other_shift])
def test_other_systems_have_other_solutions(right: Callable[..., Any]) -> None:
    assert "do not reduce" in _why(_stating("fedopt/eq-21-and-22", equivalence._minimising, right))
    assert not _why(_stating("fedopt/eq-21-and-22", equivalence._minimising, equivalence._substituted))


def test_a_matrix_that_may_be_singular_is_not_inverted() -> None:
    assert "positive definite" in _why(_stating("fedopt/eq-21-and-22", _indefinite, _indefinite))


def test_a_letter_that_may_be_0_is_no_divisor() -> None:
    claim = claims.get("fedopt/eq-21-and-22")
    unsigned = {
        sympy.Symbol("s", real=True): "sigma",
        sympy.Symbol("l", real=True): lambda problem, params: problem.f.lam,
    }
    assert "may be zero" in _why(replace(claim, setting=replace(claim.setting, letters=unsigned, domain=())))


# Methods


def _other_weights(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """Algorithm 6 with steps that are averaged, not added."""
    after = dual_block_ascent.step(problem, params, state, draw)
    return dual_block_ascent.State(state.alpha + (after.alpha - state.alpha) / problem.f.n)


def _other_sigma(problem: Any, params: Any, state: Any) -> Any:
    primal = perturbed_primal.Params(2 * params.sigma)
    return primal, perturbed_primal.init(problem, primal, state.alpha)


def test_methods_that_differ_do_not_agree() -> None:
    claim = claims.get("fedopt/theorem-5")
    statement: Any = claim.statement
    assert isinstance(statement, Agreement)
    averaged = replace(statement.algorithm, step=_other_weights)
    assert "do not reduce" in _why(replace(claim, statement=replace(statement, algorithm=averaged)))
    assert "do not reduce" in _why(replace(claim, statement=replace(statement, counterpart=_other_sigma)))


def _own_shares(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f = problem.f
    u = params.solver.answer(f, state.alpha, 2 * f.primal(state.alpha), params.sigma, draw)
    return dual_block_ascent.State(state.alpha + u)


def test_a_solver_of_which_nothing_is_known_gives_the_same_for_the_same_alone() -> None:
    claim = claims.get("fedopt/cocoa/is-algorithm-6")
    statement: Any = claim.statement
    elsewhere = replace(statement.second, step=_own_shares)
    assert "do not reduce" in _why(replace(claim, statement=replace(statement, second=elsewhere)))
    # Where a share of the steps is taken, and Algorithm 6 takes all of them.
    assert _why(replace(claim, setting=replace(claim.setting, domain=())))


# Inequalities


def _ordered(of: str, left: Quantity, right: Any, *others: Quantity) -> Claim:
    quantities = (left, *others)
    return replace(claims.get(of), statement=Inequality(left.expression, right, quantities))


def test_squares_of_sums_are_bounded_by_the_number_of_clients_that_hold_a_feature_and_by_no_less() -> None:
    square, blocks = dual.SQUARE, dual.BLOCKS
    assert not _why(_ordered("fedopt/sigma", square, (dual.K + 1) * blocks.expression, blocks))
    assert "do not reduce" in _why(_ordered("fedopt/sigma", square, (dual.K - 1) * blocks.expression, blocks))
    assert "do not reduce" in _why(_ordered("fedopt/sigma", blocks, square.expression, square))
    assert "do not reduce" in _why(_ordered("fedopt/sigma", square, blocks.expression, blocks))
    less = _ordered("fedopt/sigma/sparsity", square, (dual.omega - 1) * blocks.expression, blocks)
    assert "do not reduce" in _why(less)


def _most_examples(problem: Any, params: Any) -> Any:
    return int(appearances(problem.f).max())


def _fewest(problem: Any, params: Any) -> Any:
    return int((appearances(problem.f) > 0).astype(int).sum(axis=-1).max())


@pytest.mark.parametrize("source", [_most_examples, _fewest])
def test_other_counts_of_what_is_not_0_bound_nothing(source: Callable[..., Any]) -> None:
    """The most examples of a client with a feature, and the most features of a client."""
    claim = claims.get("fedopt/sigma/sparsity")
    letters: dict[Any, Any] = {**dict(claim.setting.letters), dual.omega: source}
    assert "do not reduce" in _why(replace(claim, setting=replace(claim.setting, letters=letters)))


# Hypotheses of the data


def _half_of_sigma(problem: Any, params: Any, state: Any) -> Any:
    return dual._lower_bound(problem, perturbed_primal.Params(params.sigma / 2), state)


def _as_a_user(problem: Any, params: Any, h: Any) -> Any:
    f = problem.f
    return (f.combined(h) ** 2).sum(axis=-1), params.sigma * (f.combined(h) ** 2).sum(axis=-1)


def _reversed(problem: Any, params: Any, h: Any) -> Any:
    whole, blocks = predictors.forms(problem.f, h)
    return params.sigma * blocks, whole


def test_what_a_hypothesis_asserts_of_all_vectors_is_used_as_it_is_asserted() -> None:
    claim = claims.get("fedopt/lower-bound-step")
    smaller, sides = Quantity(dual.BOUND.expression, _half_of_sigma), (dual.BOUND.expression, dual.VALUE.expression)
    less = Inequality(*sides, (smaller, dual.VALUE))
    assert "do not reduce" in _why(replace(claim, statement=less))
    assert "do not reduce" in _why(replace(claim, statement=Inequality(*sides[::-1], (dual.BOUND, dual.VALUE))))
    assert "do not reduce" in _why(replace(claim, requires=()))
    (known,) = claim.requires
    # Code of others may assert more than what is asked of instances.
    assert "do not reduce" in _why(replace(claim, requires=(replace(known, every=_as_a_user),)))
    assert _why(replace(claim, requires=(replace(known, every=_reversed),)))


def test_a_hypothesis_of_all_vectors_is_decided_on_instances() -> None:
    (known,) = claims.get("fedopt/lower-bound-step").requires
    with pytest.raises(ValueError, match="met must decide it"):
        replace(known, met=None)


def _on_two_nodes(problem: Any, params: Any) -> bool:
    return bool((appearances(problem.f) > 0).astype(int).sum(axis=0).max() <= 2)


def _one_feature_a_node(problem: Any, params: Any) -> bool:
    return bool((appearances(problem.f) > 0).astype(int).sum(axis=-1).max() <= 1)


def _one_example_a_node(problem: Any, params: Any) -> bool:
    return bool(appearances(problem.f).sum(axis=0).max() <= 1)


@pytest.mark.parametrize("met", [None, _on_two_nodes, _one_feature_a_node, _one_example_a_node])
def test_other_hypotheses_of_the_data_put_no_feature_on_one_node(met: Callable[..., Any] | None) -> None:
    claim = claims.get("fedopt/naive-fsvrg/scale-of-gradients")
    other = () if met is None else (Hypothesis("another", met=met),)
    recipes = claim.instances.recipes(hunting.generator(claim, 0))
    # Of the claim's own data, which the hypothesis does not select: it would not be shown of others.
    instances = [instance for _, instance in meeting(claim, islice(recipes, 90))]
    assert "do not reduce" in proving.prove(replace(claim, requires=other), instances)


def _of_mean(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    whole = f.full_gradient(state.w) - f.lam * state.w
    return scaling._held(f, f.n * whole[..., None, :] + 0 * f.sizes[:, None])


def test_slopes_are_larger_by_the_shares_of_examples_and_by_nothing_else() -> None:
    assert "do not reduce" in _why(_stating("fedopt/naive-fsvrg/scale-of-gradients", scaling._own_slopes, _of_mean))


# Masks


def _unmasked(absent: int) -> Callable[..., Any]:
    def of(problem: Any, params: Any, state: Any) -> Any:
        return local_scaling(problem.f, absent)[problem.f.owner, :] * (state.w - state.w_t)[..., None, :]

    return of


def test_what_is_absent_counts_where_it_is_not_multiplied_by_0() -> None:
    assert "do not reduce" in _why(_stating("fedopt/scaling/absent-feature/repaired", _unmasked(1), _unmasked(7)))
    shown = scaling._scaled_changes
    assert not _why(_stating("fedopt/scaling/absent-feature/repaired", shown(2), shown(3)))


def _by_count(problem: Any, params: Any, state: Any) -> Any:
    return 1 / appearances(problem.f)


def _by_label(problem: Any, params: Any, state: Any) -> Any:
    return problem.f.y / problem.f.y


def _paired(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    block = np.matmul(f.per_client(f.X, 0), f.per_client(f.X, 0).T)
    return block[f.owner, f.owner]


def _part(problem: Any, params: Any, state: Any) -> Any:
    return problem.f.X[0]


def _powers(problem: Any, params: Any, state: Any) -> Any:
    return problem.f.sizes**4


@pytest.mark.parametrize("of", [_by_count, _by_label, _paired, _part, _powers])
def test_what_may_be_undefined_or_means_something_else_in_numpy_is_not_read(of: Callable[..., Any]) -> None:
    """Numbers that may be 0 as divisors, indices that numpy pairs, single examples, and whole numbers that wrap."""
    assert _why(_stating(GRADIENTS, of, of))


def _first_then_all(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    one, labels = f.y.sum(axis=-1, keepdims=True), 0 * f.sizes + f.lam
    return np.concatenate((one, labels), axis=-1)


def _all_then_first(problem: Any, params: Any, state: Any) -> Any:
    f = problem.f
    one, labels = 0 * f.y.sum(axis=-1, keepdims=True) + f.lam, 0 * f.sizes + f.y.sum(axis=-1)
    return np.concatenate((labels, one), axis=-1)


def test_arrays_side_by_side_are_compared_place_by_place() -> None:
    """Of [s, l, ..., l] and [s, ..., s, l] both parts are equal where one place stands for all."""
    assert _why(_stating(GRADIENTS, _first_then_all, _all_then_first))
    assert not _why(_stating(GRADIENTS, _first_then_all, _first_then_all))


def _rounded(problem: Any, params: Any, state: Any) -> Any:
    return problem.f.y.sum(axis=-1) * int(problem.f.examples / problem.f.n)


def _unrounded(problem: Any, params: Any, state: Any) -> Any:
    return problem.f.y.sum(axis=-1) * problem.f.examples / problem.f.n


def test_what_need_not_be_whole_is_not_its_integer() -> None:
    assert "an integer" in _why(_stating(GRADIENTS, _rounded, _unrounded))
    space = space_of([])
    n, half = (arrays.letter(space, space.count(Axis.CLIENTS) * c) for c in (1, space.field(sympy.Rational(1, 2))))
    labels = arrays.leaf(space, "f.y", (Axis.EXAMPLES,))
    whole = [n, arrays.multiply(n, n), arrays.leaf(space, "f.sizes", (Axis.CLIENTS,)), arrays.nonzero(labels)]
    assert all(map(arrays.is_whole, whole))
    assert not any(map(arrays.is_whole, (half, labels, arrays.letter(space, 1 / space.count(Axis.CLIENTS)))))


def test_a_sum_that_is_not_0_is_no_number_of_what_is_not_0() -> None:
    space = space_of([])
    data = arrays.leaf(space, "f.X", (Axis.EXAMPLES, Axis.COORDINATES))
    assert arrays.nonzero(data).mask
    with pytest.raises(ValueError, match="only entries"):
        arrays.nonzero(arrays.total(data, [1], False))


def test_functions_of_arrays_of_other_axes_are_others() -> None:
    space = space_of([])
    one, other = (arrays.spread(arrays.constant(space, 1), (axis,), False) for axis in (Axis.CLIENTS, Axis.EXAMPLES))
    assert arrays.text(one) != arrays.text(other)


def test_a_state_is_not_moved_by_what_is_made_of_it() -> None:
    """Not all states are a state plus a function of it."""
    space = space_of([])
    part, data = (arrays.leaf(space, name, (Axis.EXAMPLES,)) for name in ("state.alpha", "f.y"))
    assert [name for name, _ in _shifts(arrays.add(part, data))] == ["state.alpha"]
    assert not list(_shifts(arrays.add(part, arrays.opaque(part, "a function of"))))
    assert not list(_shifts(arrays.add(part, arrays.as_numbers(arrays.nonzero(part)))))


# Derivatives


def _other_bracket(problem: Any, params: Any, state: Any) -> Any:
    return proposition._bracket(problem, state, state.w, 2 * proposition._as_gradient(problem, state))


def test_other_brackets_are_not_the_gradient_of_a_summand() -> None:
    claim = "fedopt/proposition-1/gradient/repaired"
    assert "do not reduce" in _why(_stating(claim, _other_bracket, proposition._of_summand))
    assert "do not reduce" in _why(_stating(claim, proposition._printed_bracket, proposition._of_summand))
