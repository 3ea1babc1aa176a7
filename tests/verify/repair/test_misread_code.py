"""Quantities in whose code something else is read: what is put in place of what, and that no trifle is told."""

import re
from functools import wraps
from typing import Any, NamedTuple

import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory import claims
from fedtheory.numbers.rational import square
from verify import check
from verify.repair import misread_code, rewriting
from verify.repair.changes import misreadings
from verify.repair.families import COSTS
from verify.repair.searching import Search
from verify.repair.trials import Bench


def found(claim):
    """The words of what a few states speak not against, and the claims."""
    return {
        " and ".join(one.text for one in by): claim.variant(**misread_code.misread(claim, by))
        for by in misread_code.found(claim)
    }


def test_another_part_of_the_state_is_read():
    claim = claims.get("fedadmm/eq-34")
    ((text, changed),) = found(claim).items()
    assert text == "v.state.Pi for v.state.W"
    # Both sides are read so, in words as well.
    assert all(str(q.expression).endswith("with v.state.Pi for v.state.W)") for q in changed.statement.quantities)
    assert {str(s) for c in changed.statement.comparisons for s in (c.left.free_symbols | c.right.free_symbols)} == {
        "sigma_i",
        "(<Dbar_i^{k+1},Dpi_i^{k+1}> with v.state.Pi for v.state.W)",
        "(|Dpi_i^{k+1}|^2 with v.state.Pi for v.state.W)",
    }


def test_no_branch_is_looked_at_that_is_not_taken():
    claim = claims.get("fedadmm/eq-34")
    at = misread_code.samples(claim)
    lines = {(one.substitution.place.line, one.substitution.old) for one in misread_code.readings(claim, at)}
    # It is W if what is printed is asked for, and else Pi.
    line = next(line for line, old in lines if old == "v.state.W")
    assert (line, "v.state.Pi") not in lines


def test_a_count_is_read_as_twice_as_many_less_2():
    claim = claims.get("fedadmm/eq-67")
    counts = [one for one in misread_code.readings(claim, misread_code.samples(claim)) if one.sort == "count"]
    assert {"(2 * v.run.s0 - 2) for v.run.s0", "(2 * v.run.s0 - 1) for v.run.s0"} <= {one.text for one in counts}
    # What says more comes first.
    assert "- 2) for " in counts[0].text
    (family, *_) = misreadings(claim, [(counts[0],)])
    assert family.sort == "count" and family.cost == COSTS["count"] + 0.7


@pytest.mark.slow
def test_what_is_read_so_is_proved():
    for id, text in (
        ("fedadmm/eq-34", "v.state.Pi for v.state.W"),
        ("fedadmm/appendix-C.5/multipliers", "(-v.phi()) for v.phi()"),
    ):
        changed = found(claims.get(id))[text]
        assert check(changed).verdict == "proved"
        # Quantities that read the same as before are the same, by name and by code.
        assert len(set(changed.statement.quantities) - set(claims.get(id).statement.quantities)) in (1, 2)


class Pair(NamedTuple):
    """Two numbers."""

    x: Any
    y: Any


def _move(problem, params, state, draw):
    return {"x": state.x, "y": state.y}


def _claim(left, right):
    """left = right, of the state of a method that keeps two points."""
    method = ft.method("pair", _move, ["gamma"], {"x": "point", "y": "point"})
    a, b = (ft.Quantity(sympy.Symbol(name), of) for name, of in (("a", left), ("b", right)))
    return ft.Claim(
        "pair/line", setting=ft.Setting(algorithm=method, functions=ft.Convex()), statement=ft.identity(a, b)
    )


def _sum(problem, params, state):
    return square(state.x + state.y)


def test_no_trifle_is_told():
    def difference(problem, params, state):
        return square(state.x - state.y)

    def product(problem, params, state):
        return ((state.x - state.y) * (state.x + state.y)).sum(axis=-1)

    # With -y for y in the sum both sides are |x - y|^2, and with x for y a side is 0.
    claim = _claim(difference, product)
    tried = {one.text for one in misread_code.readings(claim, misread_code.samples(claim))}
    assert {"(-state.y) for state.y", "state.x for state.y"} <= tried
    assert not found(claim)
    # With x for y in both, 0 = 0.
    assert not found(_claim(difference, lambda problem, params, state: 2 * square(state.x - state.y)))


def _slope(problem, params, state):
    return square(problem.f.gradient(state.y[..., None, :])[..., 0, :])


def _bounded(slope):
    """The length of a gradient, or what is made of it, is at most L times a distance."""

    def reach(problem, params, state):
        return problem.f.L**2 * square(state.x - problem.x_star)

    method = ft.method("pair", _move, ["gamma"], {"x": "point", "y": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.SmoothConvex(ft.letters("L")), clients=(1,))
    slope_of, reach_of = (ft.Quantity(sympy.Symbol(of.__name__), of) for of in (slope, reach))
    return ft.Claim("pair/slope", setting=setting, statement=ft.inequality(slope_of <= reach_of))


def test_what_functions_are_known_for_is_no_trifle():
    assert set(found(_bounded(_slope))) == {"state.x for state.y", "state.y for state.x"}


def test_what_decorates_a_quantity_is_computed_too():
    # |grad f(x)|^2 <= L^2 |x - x*|^2, but not twice that.
    assert not found(_bounded(_twice(_slope)))


def _twice(of):
    @wraps(of)
    def twice(*given):
        return 2 * of(*given)

    return twice


def test_places_of_other_settings_are_no_samples():
    claim = claims.get("fedadmm/eq-34")
    assert len(misread_code.samples(claim, [({"k0": 1}, ())])) == len(misread_code.samples(claim))


def test_a_substitution_is_of_one_place(tmp_path):
    file = tmp_path / "own.py"
    file.write_text("def a(s):\n    return s.x + s.x, (lambda: s.x)()\n\n\ndef b(s):\n    return a(s)\n")
    scope: dict[str, Any] = {"__name__": "own"}
    exec(compile(file.read_text(), str(file), "exec", dont_inherit=True), scope)
    region = rewriting.Region(str(file), 2, 17, 2, 20)
    changed = rewriting.substituted([rewriting.Substitution(region, "s.x", "s.y")])
    assert region.meets(region._replace(begin=20 - 1)) and not region.meets(region._replace(begin=20, end=23))
    state = Pair(np.array([1]), np.array([10]))
    assert scope["a"](state) == (2, 1)
    # Of functions that call it, too.
    for name in "ab":
        made = rewriting.rebuilt(scope[name], changed)
        assert made(state) == (11, 1) and scope[name](state) == (2, 1)
    # What does not change stays what it is.
    assert rewriting.rebuilt(_sum, changed) is _sum


def test_search_tells_what_is_read(monkeypatch):
    claim = claims.get("fedadmm/eq-34")
    search = Search(Bench(claim))
    search.agenda = []
    told = [family.change(claim, family.amounts[0]) for family in search._all()]
    assert [re.sub(r"line \d+", "line N", change.text) for change in told] == [
        "v.state.Pi for v.state.W (displays.py, line N) in the code of <Dbar_i^{k+1},Dpi_i^{k+1}>, |Dpi_i^{k+1}|^2"
    ]
    assert told[0].sort == "reading" and told[0].cost == 1.75


def test_code_that_fails_ends_no_search(monkeypatch):
    def fails(*given):
        raise RuntimeError("what it reads instead it cannot use")

    bench = Bench(claims.get("fedadmm/eq-34"))
    monkeypatch.setattr(misread_code, "found", fails)
    assert bench.misreadings() == []
