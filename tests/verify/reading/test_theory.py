"""What is taken for code of this package's theory: what is listed as such, and no subclasses of it."""

from fractions import Fraction
from functools import partial
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory import claims
from verify.reading import listed, theory


class _Called:
    def __call__(self, *given):
        return 1


def _called(data, *given):
    """A value of a subclass of its type that can be called, as settings call what makes their parameters."""
    return type(data.__name__, (_Called, data), {})(*given)


@pytest.mark.parametrize(
    "thing",
    [
        *(_called(data, *given) for data, *given in ((tuple,), (dict,), (int, 1), (str, "x"), (Fraction, 1))),
        _called(sympy.Symbol, "x"),
        np.array([_Called()], dtype=object),
        partial(eval, "1"),
        eval,
        np.load,
        lambda problem, params: 1,
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_what_may_run_code_of_ones_own_is_no_theory(thing):
    assert not theory.holds(thing)
    assert not theory.holds((1, {"inside": thing}))


def test_data_and_the_theory_itself_are():
    assert theory.holds((1, "x", Fraction(1, 2), sympy.Symbol("x") + 1, ft.distance, {"a": None}))
    assert all(theory.holds((c.setting.hints.signs, c.setting.hints.known)) for c in claims.all())


def test_the_names_of_code_that_is_not_read_do_not_depend_on_what_is_loaded():
    """They are read from files, and are those of the classes when all modules are loaded."""
    public = set()
    for part in listed._TAKING_PART:
        package = import_module(part)
        for module in map(import_module, (part, *(m.name for m in walk_packages(package.__path__, f"{part}.")))):
            for cls in vars(module).values():
                if isinstance(cls, type) and cls.__module__ == module.__name__:
                    public |= {*vars(cls), *getattr(cls, "__annotations__", ())}
    assert listed._public() == {name for name in public if not name.startswith("_")}
