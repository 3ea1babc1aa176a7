"""Functions that this package uses are theirs: what is replaced is noticed, what libraries do of their own is not."""

import builtins
import functools
import math
import numbers
import sys
from fractions import Fraction
from types import CellType, FunctionType, ModuleType

import mpmath
import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory.numbers import exact_functions
from verify.base import originals, uses
from verify.checking import check
from verify.reading import known, listed


def other(*given, **named):
    return 0


#: What is replaced, by what, and the name that is reported.
REPLACED = {
    "a ufunc": (np, "square", other, "numpy.square"),
    "a ufunc by another": (np, "sqrt", np.emath.sqrt, "numpy.sqrt"),
    "linear algebra": (np.linalg, "norm", other, "numpy.linalg.norm"),
    "a constant of numpy": (np, "pi", 3.0, "numpy.pi"),
    "a constant": (math, "pi", 3.0, "math.pi"),
    "a function that is built in": (builtins, "sum", other, "builtins.sum"),
    "a type that is built in": (builtins, "float", Fraction, "builtins.float"),
    "an operation of fractions": (Fraction, "__sub__", other, "fractions.Fraction.__sub__"),
    "what fractions inherit": (numbers.Rational, "__float__", other, "numbers.Rational.__float__"),
    "a property of fractions": (Fraction, "numerator", property(other), "fractions.Fraction.numerator"),
    "a comparison of sympy": (sympy.Rational, "__lt__", other, "sympy.core.numbers.Rational.__lt__"),
    "an operation of all of sympy": (sympy.Expr, "__add__", other, "sympy.core.expr.Expr.__add__"),
    "how sympy simplifies": (sympy.Sum, "doit", other, "sympy.concrete.summations.Sum.doit"),
    "a rule of sympy": (sympy.Max, "_eval_is_positive", other, "._eval_is_positive"),
    "what makes sympy's powers": (sympy.Pow, "__new__", staticmethod(other), "sympy.core.power.Pow.__new__"),
    "a function of mpmath's contexts": (type(mpmath.mp), "cot", other, "MPContext.cot"),
}


@pytest.mark.parametrize(("owner", "name", "by", "reported"), REPLACED.values(), ids=REPLACED)
def test_what_is_replaced_is_named(monkeypatch, owner, name, by, reported):
    before = originals.kept(ours=False)
    monkeypatch.setattr(owner, name, by)
    changed = before.changed()
    monkeypatch.undo()
    assert changed is not None and changed.endswith(reported)
    assert before.changed() is None and originals.replaced() is None


def test_what_is_recorded_before_loading_is_kept_while_nothing_changes():
    assert originals.before_loading() is originals.before_loading()


RECORDED_ANEW = {
    "a function of ours": (uses, "beyond", other),
    "a function of a library": (np, "sum", other),
    "a number of ours that is new": (uses, "made_for_this", 3),
    "a function of ours that is new": (uses, "made_for_this", other),
    "an attribute of a class of ours": (ft.Claim, "made_for_this", 3),
}


@pytest.mark.parametrize(("owner", "name", "by"), RECORDED_ANEW.values(), ids=RECORDED_ANEW)
def test_what_changed_between_two_files_is_recorded_anew(monkeypatch, owner, name, by):
    before = originals.before_loading()
    monkeypatch.setattr(owner, name, by, raising=False)
    again = originals.before_loading()
    assert again is not before and again.changed() is None
    monkeypatch.undo()
    # What was there while it was recorded, and is not now, is a change.
    assert again.changed() is not None or by == 3


def test_a_module_of_ours_that_is_loaded_is_recorded_anew(monkeypatch):
    before = originals.before_loading()
    monkeypatch.setitem(sys.modules, "verify.made_for_this", ModuleType("verify.made_for_this"))
    assert originals.before_loading() is not before


def test_what_a_class_had_of_another_may_not_be_put_into_it(monkeypatch):
    before = originals.kept(ours=False)
    monkeypatch.setattr(sympy.Symbol, "__mul__", other, raising=False)
    assert before.changed() == "sympy.core.symbol.Symbol.__mul__"


#: Functions of this package's, of a library's, of one inside what is called in its place; how each is changed.
PARTS = {
    "code": (ft.distance, "__code__", other.__code__),
    "defaults": (uses.beyond, "__defaults__", (3,)),
    "defaults by name": (originals.kept, "__kwdefaults__", {"ours": 3}),
    "code of a library's": (Fraction.limit_denominator, "__code__", other.__code__),
    "code of numpy's": (np.linalg.norm._implementation, "__code__", other.__code__),
    "code of a property": (Fraction.numerator.fget, "__code__", other.__code__),
    "code of what is kept": (listed._public.__wrapped__, "__code__", other.__code__),
    "code of what makes objects": (Fraction.from_float.__func__, "__code__", other.__code__),
}


@pytest.mark.parametrize(("function", "part", "by"), PARTS.values(), ids=PARTS)
def test_a_function_of_other_parts_is_another(function, part, by):
    before, was = originals.kept(), getattr(function, part)
    setattr(function, part, by)
    try:
        assert before.changed() is not None
    finally:
        setattr(function, part, was)
    assert before.changed() is None


def test_what_a_function_closes_over_is_a_part_of_it():
    before = originals.kept(ours=False)
    add = Fraction.__add__
    cell = next(c for c in add.__closure__ if callable(c.cell_contents))
    was = cell.cell_contents
    cell.cell_contents = other
    try:
        assert before.changed() is not None
    finally:
        cell.cell_contents = was


def test_a_function_made_of_the_same_parts_is_the_same(monkeypatch):
    before = originals.kept(ours=False)
    add = Fraction.__add__
    again = FunctionType(add.__code__, add.__globals__, "__add__", None, add.__closure__)
    monkeypatch.setattr(Fraction, "__add__", again)
    assert before.changed() is None
    cells = tuple(CellType(other) for _ in add.__closure__)
    monkeypatch.setattr(Fraction, "__add__", FunctionType(add.__code__, add.__globals__, "__add__", None, cells))
    assert before.changed() == "fractions.Fraction.__add__"


def test_what_libraries_do_of_their_own_is_no_replacement(monkeypatch):
    before = originals.kept()
    mpmath.MPContext()
    monkeypatch.setattr(builtins, "_", 3, raising=False)
    monkeypatch.setattr(builtins, "display", other, raising=False)
    monkeypatch.setattr(sympy, "_counted", [1], raising=False)
    monkeypatch.setattr(np, "of_a_later_version", other, raising=False)
    assert sympy.Symbol("x", positive=True).is_real
    sympy.Function("h")(sympy.Symbol("x")).diff()
    with np.errstate(all="ignore"), np.printoptions(precision=3), mpmath.workdps(20):
        pass
    assert before.changed() is None and originals.replaced() is None


def test_what_is_replaced_stops_a_check(monkeypatch):
    claim = ft.Claim(
        "own/sum",
        setting=ft.Setting("constants", letters=(ft.n,)),
        statement=ft.Inequality(ft.n, 2 * ft.n),
    )
    monkeypatch.setattr(np, "square", other)
    with pytest.raises(ValueError, match=r"numpy\.square was replaced"):
        check(claim)


def test_each_table_of_known_functions_has_what_is_kept():
    """What code is read to do, or is computed in fractions, is on the one list of what may be used."""
    listed = {id(value) for value in uses.NUMERIC.values()}
    meant = [function for function, _ in known.FUNCTIONS] + [*exact_functions._KNOWN, *exact_functions._PURE]
    of_numpy = [f for f in meant if str(getattr(f, "__module__", "")).partition(".")[0] == "numpy"]
    assert len(of_numpy) > 30
    assert [f for f in of_numpy if id(f) not in listed] == []


def test_functions_are_known_by_what_they_are(monkeypatch):
    assert listed.is_numeric(np.square) and listed.is_known(functools.partial)
    monkeypatch.setattr(np, "square", other)
    monkeypatch.setattr(other, "__name__", "square")
    assert not listed.is_numeric(np.square)


def test_modules_of_libraries_that_name_one_another_are_looked_through(monkeypatch):
    # A name of both in one function: numpy's module of the one is asked for the other, and so on.
    monkeypatch.setattr(np.linalg, "fft", np.fft, raising=False)
    monkeypatch.setattr(np.fft, "linalg", np.linalg, raising=False)
    code = compile("np.linalg.fft.linalg.norm", "file.py", "eval")
    assert (np.linalg, "norm") in set(originals._asked(np, code))
