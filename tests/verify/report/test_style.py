"""The style of figures: files, letters, and that what is drawn can be told apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.cli import main
from verify.report import style


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_same_map_is_the_same_file(suffix, tmp_path, capsys):
    found = []
    for name in ("a", "b"):
        out = tmp_path / f"{name}{suffix}"
        assert main(f"map locodl/table-1 --x n=1:1e3 --y omega=1:1e3 --at kappa=100 --out {out}".split()) == 0
        found.append(out.read_bytes())
    assert found[0] == found[1]
    start = b"\x89PNG" if suffix == ".png" else b"<?xml"
    assert found[0].startswith(start)


@pytest.mark.parametrize("name", ["a.pdf", "a", "a.svg.gz"])
def test_another_suffix_is_refused(name):
    with pytest.raises(ValueError, match=r"ends in \.png or \.svg"):
        style.checked(Path(name))


def test_letters_and_numbers():
    assert style.letter("kappa") == r"$\kappa$" and style.letter("L_max") == "$L_{max}$"
    assert style.power(300) == "300" and style.power(1e4) == "$10^{4}$" and style.power(25000) == r"$2.5 \cdot 10^{4}$"
    assert style.greek("1 - rho at kappa=2, alphabet") == "1 - ρ at κ=2, alphabet"


def test_a_caption_fits_and_keeps_values_with_their_letters():
    lines = style.caption(["a sentence of some length, kappa = 1000, and more words after it"], 1.5)
    assert all(len(line) <= 30 for line in lines)
    assert any("κ\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}1000" in line for line in lines)


def test_curves_and_fills_are_told_apart_without_colour():
    for kinds in (style.COLOURS, style.MARKS, style.HATCHES):
        assert len(set(kinds)) == len(kinds)
