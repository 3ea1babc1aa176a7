"""A step exists only where its draw does: without the hypotheses that say so nothing is proved."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import pytest

import fedtheory as ft
from fedtheory.numbers.symbols import n
from fedtheory.randomness import WeightedSubset
from fedtheory.randomness.masks import Pattern
from verify.multipliers.proving import prove
from verify.multipliers.work import STEP
from verify.reading import terms
from verify.reading.drawable import undrawable, undrawable_in
from verify.reading.source import Unread
from verify.reading.terms import Axis, Op, Type
from verify.reading.values import Law

mu, L, gamma, p, q = ft.letters("mu L gamma p q")
tau, real = ft.integers("tau"), ft.letters("tau")


class Two(NamedTuple):
    """A set of clients and a coin."""

    sampled: Any
    coin: Any


def _step(problem: Any, params: Any, state: Any, draw: Any) -> Any:
    """A gradient step, for which the draw does not matter."""
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n}


def _claim(draws: Any, *requires: Any, **more: Any) -> ft.Claim:
    names = [str(letter) for letter in (gamma, tau, p, q) if letter is gamma or letter in _letters(requires, more)]
    method = ft.method(
        "mine", _step, names, {"x": "point"}, draws=lambda problem, params, state: draws(problem, params)
    )
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))
    statement = ft.contracts(method, ft.distance, 1 - gamma * mu)
    return ft.Claim("mine/drawn", setting=setting, statement=statement, requires=(gamma * L <= 1, *requires))


def _letters(requires: Any, more: Any) -> set[Any]:
    return set().union(*(relation.free_symbols for relation in requires), more.get("of", ()))


def _shown(claim: ft.Claim) -> str:
    found = prove(claim, STEP)
    return found if isinstance(found, str) else ""


EXISTING = {
    "one of all": _claim(lambda problem, params: ft.UniformSubset(problem.n, 1)),
    "all of all": _claim(lambda problem, params: ft.UniformSubset(problem.n, problem.n)),
    "some of all": _claim(lambda problem, params: ft.UniformSubset(problem.n, params.tau), tau <= n),
    "the others": _claim(lambda problem, params: ft.UniformSubset(problem.n, problem.n - params.tau), tau <= n - 1),
    "one more": _claim(lambda problem, params: ft.UniformSubset(problem.n, params.tau + 1), tau <= n - 1),
    "one twice": _claim(lambda problem, params: ft.UniformSubset(problem.n, 2), n >= 2),
    "a coin": _claim(lambda problem, params: ft.Bernoulli(params.p), p <= 1),
    "a coin by its other side": _claim(lambda problem, params: ft.Bernoulli(1 - params.p), p <= 1),
    "a coin by two numbers": _claim(lambda problem, params: ft.Bernoulli(params.p * params.q), p <= 1, q <= 1),
    "a coin by a quotient": _claim(lambda problem, params: ft.Bernoulli(params.p / params.q), p <= q),
    "a coin by a mean": _claim(lambda problem, params: ft.Bernoulli(1 / (1 + params.p)), of={p}),
    "a coin for each client": _claim(lambda problem, params: ft.Independent(ft.Bernoulli(params.p), problem.n), p <= 1),
    "a set and a coin": _claim(
        lambda problem, params: ft.Product(Two, (ft.UniformSubset(problem.n, params.tau), ft.Bernoulli(params.p))),
        *(tau <= n, p <= 1),
    ),
}
MISSING = {
    "some of all": (_claim(lambda problem, params: ft.UniformSubset(problem.n, params.tau), tau >= 2), "more clients"),
    "some of all, beyond": (
        _claim(lambda problem, params: ft.UniformSubset(problem.n, params.tau), tau <= n + 1),
        "more clients",
    ),
    "one more": (
        _claim(lambda problem, params: ft.UniformSubset(problem.n, params.tau + 1), tau <= n),
        "more clients",
    ),
    "twice as many": (
        _claim(lambda problem, params: ft.UniformSubset(problem.n, 2 * params.tau), tau <= n),
        "more clients",
    ),
    "one twice": (_claim(lambda problem, params: ft.UniformSubset(problem.n, 2)), "more clients"),
    "the others, perhaps none": (
        _claim(lambda problem, params: ft.UniformSubset(problem.n, problem.n - params.tau), tau <= n),
        "fewer than 1",
    ),
    "half of them": (
        _claim(lambda problem, params: ft.UniformSubset(problem.n, params.tau / 2), tau <= n, tau >= 2),
        "whole",
    ),
    "a coin": (_claim(lambda problem, params: ft.Bernoulli(params.p), of={p}), "exceeds 1"),
    "a coin of twice the chance": (_claim(lambda problem, params: ft.Bernoulli(2 * params.p), p <= 1), "exceeds 1"),
    "a coin by its other side": (_claim(lambda problem, params: ft.Bernoulli(1 - params.p), of={p}), "negative"),
    "a coin by a sum": (
        _claim(lambda problem, params: ft.Bernoulli(params.p + params.q), p <= 1, q <= 1),
        "exceeds 1",
    ),
    "a coin by a quotient": (
        _claim(lambda problem, params: ft.Bernoulli(params.p / params.q), p <= 1, of={q}),
        "exceeds 1",
    ),
    "a coin for each client": (
        _claim(lambda problem, params: ft.Independent(ft.Bernoulli(params.p), problem.n), of={p}),
        "exceeds 1",
    ),
    "a set and a coin, of which one is none": (
        _claim(
            lambda problem, params: ft.Product(Two, (ft.UniformSubset(problem.n, params.tau), ft.Bernoulli(params.p))),
            *(tau <= n, p <= 2),
        ),
        "exceeds 1",
    ),
}


@pytest.mark.parametrize("claim", EXISTING.values(), ids=EXISTING)
def test_where_the_draw_exists_a_step_is_proved(claim):
    assert _shown(claim) == ""


@pytest.mark.parametrize(("claim", "why"), MISSING.values(), ids=MISSING)
def test_where_the_draw_need_not_exist_nothing_is_proved(claim, why):
    assert why in _shown(claim)


def test_clients_are_counted_in_whole_numbers():
    claim = _claim(lambda problem, params: ft.UniformSubset(problem.n, params.tau), real <= n, real >= 1, of={tau})
    assert _shown(claim)


def _conditions(law: Law) -> list[str]:
    return [condition.by for _, condition in undrawable(law)]


def test_other_distributions_have_conditions_of_their_own():
    count, size = terms.leaf(Op.COUNT, "n", terms.NUMBER), terms.leaf(Op.LETTER, "s", terms.NUMBER, True)
    weights = terms.leaf(Op.LETTER, "w", Type((Axis.CLIENTS,)))
    two, one = (list(undrawable(Law(name, of))) for name, of in (("pattern", (count, size)), ("subset", (count, size))))
    assert [[condition.by for _, condition in of] for of in (two, one)] == [["<=", "<"]] * 2
    assert [of[0][1].of[1].data for of in (two, one)] == [1, 0]
    assert _conditions(Law("weighted subset", (weights, size))) == ["<=", "<", "<="]
    assert _conditions(Law("coins", (weights,))) == ["<", "<"]
    assert not _conditions(Law("constant")) and not _conditions(Law("compression", ("compressors",)))
    with pytest.raises(Unread, match="whole"):
        list(undrawable(Law("weighted subset", (weights, terms.leaf(Op.LETTER, "s", terms.NUMBER)))))


@pytest.mark.parametrize(
    "make",
    (
        *(lambda tau=tau: ft.UniformSubset(3, tau) for tau in (0, 4)),
        *(lambda s=s: Pattern(3, 2, s) for s in (1, 4)),
        *(lambda p=p: ft.Bernoulli(p) for p in (-1, 2)),
        *(lambda w=w: WeightedSubset(w, 1) for w in ((1, 0), (1, -1))),
        lambda: WeightedSubset((1, 1), 3),
    ),
)
def test_the_conditions_are_those_of_the_distributions(make):
    with pytest.raises(ValueError):
        make()


def test_a_hypothesis_that_is_not_used_otherwise_is_missed():
    claim = EXISTING["some of all"]
    without = replace(claim, requires=tuple(h for h in claim.requires if "tau" not in h.text))
    assert "more clients are drawn than there are" in _shown(without)


def _raising(above: int) -> Any:
    def distance(problem: Any, params: Any, state: Any) -> Any:
        if params.gamma * problem.L > above:
            raise ValueError("there is no distance")
        return ((state.x - problem.x_star) ** 2).sum(axis=-1)

    return distance


@pytest.mark.parametrize(("above", "right"), ((1, True), (0, False)))
def test_a_quantity_that_may_raise_an_error_is_none_everywhere(above, right):
    method = ft.method("mine", _step, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L))
    statement = ft.contracts(method, _raising(above), 1 - gamma * mu)
    found = _shown(ft.Claim("mine/raising", setting=setting, statement=statement, requires=(gamma * L <= 1,)))
    assert found == "" if right else "an error may be raised" in found


def _source(raises: Any) -> Any:
    def rate(problem: Any, params: Any) -> Any:
        if raises(problem, params):
            raise ValueError("there is no rate")
        return 1 - params.gamma * problem.mu

    return rate


@pytest.mark.parametrize(
    ("raises", "right"),
    (
        (lambda problem, params: params.gamma * problem.L > 2, True),
        (lambda problem, params: params.gamma * problem.mu > 1, True),
        (lambda problem, params: problem.mu > problem.L, True),
        (lambda problem, params: params.gamma * problem.L >= 1, False),
        (lambda problem, params: problem.mu > 1000, False),
        (lambda problem, params: problem.n > 1000, False),
        (lambda problem, params: problem.L == 1234567, False),
        (lambda problem, params: problem.mu > 1000 and params.gamma * problem.L > Fraction(1, 2), False),
    ),
)
def test_a_letter_whose_source_may_raise_an_error_is_none_everywhere(raises, right):
    method = ft.method("mine", _step, ["gamma"], {"x": "point"})
    letters = {mu: "mu", L: "L", gamma: "gamma", p: _source(raises)}
    setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), letters=letters)
    statement = ft.contracts(method, ft.distance, p)
    found = _shown(ft.Claim("mine/raising", setting=setting, statement=statement, requires=(gamma * L <= 1,)))
    assert found == "" if right else found


def test_of_a_kind_of_draws_that_is_not_listed_nothing_is_shown():
    with pytest.raises(Unread, match="nothing says when a distribution of the kind unheard exists"):
        list(undrawable(Law("product", (Law("constant"), Law("unheard", (2,))))))


def test_draws_that_a_quantity_enumerates_exist_too():
    n_clients, size = terms.leaf(Op.COUNT, "n", terms.NUMBER), terms.leaf(Op.LETTER, "tau", terms.NUMBER, True)
    every = terms.all_draws("subset", (n_clients, size))
    found = [(condition.by, condition.of[1]) for _, condition in undrawable_in([terms.total(every, -1, False)])]
    assert [by for by, _ in found] == ["<=", "<"] and found[1][1] is size
    assert not list(undrawable_in([terms.all_compressions("compressors")]))
