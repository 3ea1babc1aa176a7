"""What is compared at one exact state."""

from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.base import Statement
from fedtheory.kinds.invariant import Invariant
from fedtheory.kinds.scope import Scope
from fedtheory.settings.relations import Comparison
from verify.base import evaluate
from verify.base.case import Case
from verify.base.evaluate import NoNumber
from verify.comparisons.exact import parts

mu, L, gamma = ft.letters("mu L gamma")
RECIPE = {
    "d": 1,
    "x": (Fraction(2),),
    "clients": ({"h": (Fraction(1),), "y": (Fraction(3),)}, {"h": (Fraction(2),), "y": (Fraction(-3),)}),
    "mu": Fraction(1),
    "L": Fraction(2),
    "gamma": Fraction(1, 3),
}


def _drift(problem, params, state, draw):
    slopes = problem.f.gradient(state.x[..., None, :])
    mean = slopes.sum(axis=-2, keepdims=True) / problem.n
    return {"x": state.x - params.gamma * mean[..., 0, :], "h": state.h + params.gamma * (slopes - mean)}


METHOD = ft.method("drift", _drift, ["gamma"], {"x": "point", "h": "clients"})


def test_of_a_kind_whose_sides_nobody_computes_nothing_is_said():
    said = {"kind": "own", "scope": Scope.CODE, "algorithm": METHOD, "__annotations__": {"algorithm": "ClassVar"}}
    compared = property(lambda self: (Comparison(mu, "<=", L),))
    own = type("Own", (Statement,), {**said, "comparisons": compared})()
    with pytest.raises(ValueError, match="what statements of kind own compare is not known"):
        _compared(own, (0, 0, 0))


def _compared(statement, point):
    functions = ft.SmoothStronglyConvex(mu, L)
    claim = ft.Claim("own/claim", setting=ft.Setting(algorithm=METHOD, functions=functions), statement=statement)
    (found,) = parts(Case(claim, RECIPE), tuple(map(Fraction, point)), 1)
    return found


def _sum(problem, params, state):
    return state.h.sum(axis=-2)


@pytest.mark.parametrize(("point", "entries"), [((1, 2, -2), 1), ((1, 2, 3), 0)])
def test_an_invariant_speaks_of_states_where_it_holds(point, entries):
    found = _compared(Invariant(METHOD, _sum, "sum h = 0"), point)
    assert len(found.left) == entries and not found.left.any()


def test_an_invariant_that_is_lost():
    found = _compared(Invariant(METHOD, lambda problem, params, state: state.h != 0, "h = 0"), (1, 0, 0))
    assert list(found.left.ravel()) == [1, 1]


@pytest.mark.parametrize(
    ("value", "said"), [(float("nan"), "NaN"), (float("inf"), "infinite"), (-float("inf"), "infinite")]
)
def test_a_side_that_is_no_number_is_told(value, said):
    def of(problem, params, state):
        return np.full(ft.distance(problem, params, state).shape, value)

    with pytest.raises(NoNumber, match=f"the quantity V is {said}"):
        _compared(ft.inequality(ft.Quantity("V", of) <= 5), (1, 0, 0))
    with pytest.raises(NoNumber, match=f"the residual is {said}"):
        _compared(Invariant(METHOD, of, "V = 0"), (1, 0, 0))


def test_what_agrees_has_one_shape():
    seen = (
        lambda problem, params, state: 0 * state.x,
        lambda problem, params, state: 0 * ft.distance(problem, params, state),
    )
    same = Agreement(METHOD, METHOD, lambda problem, params, state: (params, state), seen, "the same")
    with pytest.raises(ValueError, match=r"shapes \(1, 1, 1\) and \(1, 1\)"):
        _compared(same, (1, 0, 0))


def test_the_sides_of_an_identity_have_one_shape():
    vector = ft.Quantity("h", lambda problem, params, state: state.h)
    number = ft.Quantity("V", ft.distance)
    with pytest.raises(ValueError, match=r"h = V have the shapes \(1, 1, 2, 1\) and \(1, 1\)"):
        _compared(ft.identity(vector, number), (1, 2, 3))
    assert _compared(ft.identity(vector, 0), (1, 2, 3)).left.tolist() == [2, 3]


def test_a_statement_without_sides_is_an_error(monkeypatch):
    claim = ft.Claim(
        "own/claim",
        setting=ft.Setting(algorithm=METHOD, functions=ft.SmoothStronglyConvex(mu, L)),
        statement=ft.contracts(METHOD, ft.distance, 1),
    )
    instance = claim.instances.build(RECIPE, True)
    monkeypatch.setattr(evaluate, "_sides", lambda *of: [])
    with pytest.raises(ValueError, match="0 pairs of sides"):
        evaluate.sides(Case.of(claim, instance), np.zeros((1, instance.dimension), dtype=int))
