"""Loops over the steps of a pass, read as folds: what agrees is shown for any number of steps, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pytest

from fedtheory import claims
from fedtheory.algorithms import dane
from fedtheory.claims import Claim
from fedtheory.kinds.identity import identity
from fedtheory.papers.fedopt import fsvrg, proposition
from fedtheory.papers.fedopt.any_functions import on_nodes
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import meeting
from verify.data import folds, nodes, proving
from verify.methods import any_data
from verify.reading.source import Unread
from verify.search import hunting

SHOWN = ("proposition-1", "remark-3", "fsvrg/expectation", "fsvrg/single-node/repaired")


@cache
def _drawn(name: str, alone: bool) -> list[Any]:
    claim = claims.get(name)
    claim = claim if alone else replace(claim, requires=())
    recipes = claim.instances.recipes(hunting.generator(claim, 0))
    return [instance for _, instance in meeting(claim, islice(recipes, 60))]


def _instances(claim: Claim) -> list[Any]:
    return _drawn(claim.id, bool(claim.requires))


def _why(claim: Claim) -> str:
    """Return why a claim is not shown for all data; empty if it is."""
    try:
        return proving.prove(claim, _instances(claim))
    except Unread as error:
        return str(error)


@pytest.mark.parametrize("name", SHOWN)
def test_true_claims_are_shown(name: str) -> None:
    claim = claims.get(f"fedopt/{name}")
    assert any_data.METHOD.speaks_of(claim)
    assert not _why(claim)


# Steps of two methods, as Remark 3 has them


def _start(f: Any, w: Any) -> Any:
    return np.broadcast_to(w, (*w.shape[:-2], f.n, f.d))


def _moved(f: Any, params: Any, local: Any, w: Any, rows: Any) -> Any:
    return params.h * (f.example_change(local, w, rows) + params.eta * f.full_gradient(w[..., 0, :])[..., None, :])


def _plain(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _renamed(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    full = params.eta * f.full_gradient(state.w)[..., None, :]
    local = w + 0 * _start(f, w)
    for step in range(params.m):
        rows = draw[..., step]
        change = f.example_gradient(local, rows) + full
        local = local - params.h * (change - f.example_gradient(w, rows))
    return dane.State(state.w + (local - w).sum(axis=-2) / f.n)


def _from_elsewhere(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = 2 * _start(f, w)
    for t in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _reset(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """Each step begins at w again."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = _start(f, w)
        v = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _twice(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """Each row is used for two steps."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., t])
        v = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _two_passes(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., t])
    for t in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _own_slope(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """The gradient of the node's own loss in place of that of all."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - params.h * (f.example_change(v, w, draw[..., t]) + params.eta * f.gradient(w))
    return dane.State(v.sum(axis=-2) / f.n)


def _summed(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """The moves are added, not averaged."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(state.w + (v - w).sum(axis=-2))


def _at_the_start(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """All gradients are taken at w."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - _moved(f, params, w, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _last_move(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """An accumulator that each step begins anew."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    total = 0 * _start(f, w)
    for t in range(params.m):
        total = 0 * total + _moved(f, params, w - total, w, draw[..., t])
    return dane.State((w - total).sum(axis=-2) / f.n)


def _all_moves(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    total = 0 * _start(f, w)
    for t in range(params.m):
        total = total + _moved(f, params, w - total, w, draw[..., t])
    return dane.State((w - total).sum(axis=-2) / f.n)


OTHERS = (_from_elsewhere, _reset, _twice, _two_passes, _own_slope, _summed, _at_the_start, _last_move)


def _agreeing(one: Callable[..., Any], other: Callable[..., Any]) -> Claim:
    claim = claims.get("fedopt/remark-3")
    statement: Any = claim.statement
    first, second = (replace(proposition._general, step=step) for step in (one, other))
    return replace(claim, statement=replace(statement, algorithm=first, second=second))


def test_steps_of_one_normal_form_agree_after_any_number() -> None:
    assert not _why(_agreeing(_plain, _renamed))
    assert not _why(_agreeing(_two_passes, _two_passes))


@pytest.mark.parametrize("other", OTHERS)
def test_other_passes_do_not_agree(other: Callable[..., Any]) -> None:
    assert "do not reduce" in _why(_agreeing(_plain, other))
    assert "do not reduce" in _why(_agreeing(other, _plain))


def test_an_accumulator_that_is_reset_is_another() -> None:
    assert "do not reduce" in _why(_agreeing(_all_moves, _last_move))


# What one step hands to the next


def _two(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """Momentum that is used before it is renewed."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v, p = _start(f, w), 0 * _start(f, w)
    for t in range(params.m):
        move = _moved(f, params, v, w, draw[..., t])
        v = v - p
        p = p + move
    return dane.State(v.sum(axis=-2) / f.n)


def _two_at_once(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v, p = _start(f, w), 0 * _start(f, w)
    for t in range(params.m):
        v, p = v - p, p + _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _two_in_turn(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """The gradient is taken where the step has moved to."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v, p = _start(f, w), 0 * _start(f, w)
    for t in range(params.m):
        v = v - p
        p = p + _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _two_exchanged(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """The sum of the other of the two arrays that the steps renew."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v, p = _start(f, w), 0 * _start(f, w)
    for t in range(params.m):
        v, p = v - p, p + _moved(f, params, v, w, draw[..., t])
    return dane.State(p.sum(axis=-2) / f.n)


def _aliased(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """Two names of one array, of which each is renewed."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = p = _start(f, w)
    for t in range(params.m):
        v, p = v - p, p + _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def test_a_step_reads_what_the_step_before_wrote() -> None:
    assert not _why(_agreeing(_two, _two_at_once))
    for other in (_two_in_turn, _two_exchanged, _aliased):
        assert "do not reduce" in _why(_agreeing(_two_at_once, other))


# What is not read


def _backwards(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., params.m - 1 - t])
    return dane.State(v.sum(axis=-2) / f.n)


def _one_before(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., t - 1])
    return dane.State(v.sum(axis=-2) / f.n)


def _first_row(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for _ in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., 0])
    return dane.State(v.sum(axis=-2) / f.n)


def _all_but_first(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(1, params.m):
        v = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _all_but_last(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m - 1):
        v = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _clients_in_turn(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """A loop as long as there are nodes, of what is drawn for steps."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(f.n):
        v = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _decreasing(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., t]) / (t + 1)
    return dane.State(v.sum(axis=-2) / f.n)


def _first_step_alone(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        if t == 0:
            v = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _stopped(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., t])
        break
    return dane.State(v.sum(axis=-2) / f.n)


def _passed_over(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        continue
        v = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _at_last(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., t])
    else:
        v = _start(f, w)
    return dane.State(v.sum(axis=-2) / f.n)


def _returned(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., t])
        return dane.State(v.sum(axis=-2) / f.n)
    return dane.State(v.sum(axis=-2) / f.n)


def _in_place(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = 1 * _start(f, w)
    for t in range(params.m):
        v -= _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _written_into(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = 1 * _start(f, w)
    for t in range(params.m):
        v[...] = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _out_of(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = 1 * _start(f, w)
    for t in range(params.m):
        np.subtract(v, _moved(f, params, v, w, draw[..., t]), out=v)
    return dane.State(v.sum(axis=-2) / f.n)


def _nested(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        for t in range(params.m):
            v = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _within_a_call(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """A loop within another, through a function."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for _ in range(params.m):
        v = v - (w - _plain(problem, params, state, draw).w[..., None, :])
    return dane.State(v.sum(axis=-2) / f.n)


def _left_over(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """What the last step computed on the way, after the loop."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        move = _moved(f, params, v, w, draw[..., t])
        v = v - move
    return dane.State((v + move).sum(axis=-2) / f.n)


def _rows_left_over(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        rows = draw[..., t]
        v = v - _moved(f, params, v, w, rows)
    v = v - _moved(f, params, v, w, rows)
    return dane.State(v.sum(axis=-2) / f.n)


def _of_the_step_before(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """A name that has no value in the first step."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - move  # noqa: F821
        move = _moved(f, params, v, w, draw[..., t])  # noqa: F841
    return dane.State(v.sum(axis=-2) / f.n)


def _of_other_axes(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """The first step makes a model of each client out of one of all."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = w
    for t in range(params.m):
        v = v - _moved(f, params, v, w, draw[..., t])
    return dane.State(v.sum(axis=-2) / f.n)


def _drawn_from_rows(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """Rows as numbers."""
    f, w = on_nodes(problem, params).f, state.w[..., None, :]
    v = _start(f, w)
    for t in range(params.m):
        v = v - draw[..., t][..., None]
    return dane.State(v.sum(axis=-2) / f.n)


NOT_READ = (
    _backwards,
    _one_before,
    _first_row,
    _all_but_first,
    _all_but_last,
    _clients_in_turn,
    _decreasing,
    _first_step_alone,
    _stopped,
    _passed_over,
    _at_last,
    _returned,
    _in_place,
    _written_into,
    _out_of,
    _nested,
    _within_a_call,
    _left_over,
    _rows_left_over,
    _of_the_step_before,
    _of_other_axes,
    _drawn_from_rows,
)


@pytest.mark.parametrize("step", NOT_READ)
def test_what_is_no_fold_of_one_step_is_not_read(step: Callable[..., Any]) -> None:
    """Rows of other steps, loops of other lengths, steps that differ, ways out, arrays that are written into."""
    why = _why(_agreeing(step, step))
    assert why and "do not reduce" not in why and "what was read" not in why


# Functions on nodes


def _neighbour(name: str, left: Callable[..., Any], right: Callable[..., Any] = fsvrg._slope, **changes: Any) -> Claim:
    claim = claims.get(f"fedopt/fsvrg/{name}")
    return replace(claim, statement=identity(Quantity("left", left), Quantity("right", right)), **changes)


def _plain_mean(problem: Any, params: Any, state: Any) -> Any:
    """Nodes that count alike, whatever they hold."""
    return fsvrg._means(problem, params, state).sum(axis=-2) / len(params.sizes)


def _without_correction(problem: Any, params: Any, state: Any) -> Any:
    f = on_nodes(problem, params).f
    sizes = np.array(params.sizes)[:, None]
    return (sizes * f.per_node(f.every(state.w[..., None, :]) - f.every(state.w_t[..., None, :]))).sum(
        axis=-2
    ) / sizes.sum()


def _of_the_mean(problem: Any, params: Any, state: Any) -> Any:
    """The gradient at the mean of two points, and the mean of two gradients."""
    f = on_nodes(problem, params).f
    return f.full_gradient((state.w + state.w_t) / 2)


def _mean_of(problem: Any, params: Any, state: Any) -> Any:
    f = on_nodes(problem, params).f
    return (f.full_gradient(state.w) + f.full_gradient(state.w_t)) / 2


def _second(problem: Any, params: Any, state: Any) -> Any:
    return fsvrg._means(problem, params, state)[..., 1, :]


def _last(problem: Any, params: Any, state: Any) -> Any:
    return fsvrg._means(problem, params, state)[..., -1, :]


def test_other_means_over_nodes_are_told_apart() -> None:
    assert "do not reduce" in _why(_neighbour("expectation", _plain_mean))
    assert "do not reduce" in _why(_neighbour("expectation", _without_correction))
    assert "do not reduce" in _why(_neighbour("expectation", fsvrg._first))
    assert "do not reduce" in _why(_neighbour("expectation", fsvrg._combined, fsvrg._at_snapshot))
    assert "do not reduce" in _why(_neighbour("expectation", _of_the_mean, _mean_of))


def test_the_first_node_is_all_of_them_where_it_is_the_only_one() -> None:
    assert not _why(_neighbour("single-node/repaired", _plain_mean))
    assert "do not reduce" in _why(_neighbour("single-node/repaired", fsvrg._first, requires=()))
    assert "do not reduce" in _why(_neighbour("single-node/repaired", fsvrg._first, fsvrg._at_snapshot))
    for other in (_second, _last):
        assert "a part of the clients" in _why(_neighbour("single-node/repaired", other))


def test_numbers_that_deal_out_no_functions_are_not_sizes() -> None:
    """A node without functions, too few of them, and several parameters of which each could say it."""
    instances = [i for i in _instances(claims.get("fedopt/remark-3")) if i.problem.n == 3]
    assert nodes.dealt_out(instances) == "sizes"
    for sizes in ((0, 3), (1, 1), (2, 2), [1, 2]):
        one = replace(instances[0], params=instances[0].params._replace(sizes=sizes))
        assert nodes.dealt_out([*instances, one]) is None
    one = replace(instances[0], params=instances[0].params._replace(eta=(1, 2)))
    assert nodes.dealt_out([one]) is None


def test_what_loops_leave_is_compared_with_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were a step left out of what is read, instances would show it."""
    run = folds.Fold.run
    monkeypatch.setattr(folds.Fold, "run", lambda fold, there: run(replace(fold, steps=fold.starts), there))
    assert "not what was read" in _why(_agreeing(_plain, _renamed))
