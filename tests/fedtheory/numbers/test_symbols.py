"""Letters from their names."""

import pytest
import sympy

import fedtheory as ft


def test_one_name_gives_one_symbol_and_several_a_tuple():
    assert ft.letters("q") == sympy.Symbol("q", positive=True)
    assert ft.letters("mu L") == ft.letters("mu, L") == sympy.symbols("mu L", positive=True)
    assert ft.integers("tau") == sympy.Symbol("tau", integer=True, positive=True)
    assert len(ft.integers("n tau")) == 2
    with pytest.raises(ValueError, match="no symbols"):
        ft.letters("")
