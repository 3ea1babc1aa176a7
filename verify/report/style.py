"""The style of every figure: colours, sizes for a journal's column, letters, and the files they are written to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from textwrap import wrap
from typing import Any

import sympy
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.rcsetup import cycler
from sympy.core.alphabets import greeks
from sympy.printing.pretty.pretty_symbology import pretty_symbol

#: Colour-blind safe (Okabe and Ito): what is measured, what is printed, then the rest.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#f0e442", "#000000")
MEASURED, PRINTED = COLOURS[:2]
RED, GREY = "#d55e00", "0.4"
#: A pattern and a mark for each colour, so that curves and fills differ without it.
DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
MARKS = "os^Dv<>P"
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "oo", "||||")
#: Inches of a journal's column, and of its page.
COLUMN, PAGE = 3.4, 7.0
#: Suffixes of the files that a figure is written to.
SUFFIXES = (".png", ".svg")
#: Characters of a title that fit an inch.
TITLE = 13
#: Resolution of PNG files, and characters of a caption that fit an inch.
_DPI, _CHARACTERS = 300, 20

#: Settings of matplotlib for every figure, a notebook's too.
SETTINGS: dict[Any, Any] = {
    "font.size": 8,
    "axes.titlesize": 8,
    "axes.labelsize": 8,
    "figure.titlesize": 8.5,
    "legend.fontsize": 7,
    "legend.title_fontsize": 7,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "hatch.linewidth": 0.5,
    "axes.prop_cycle": cycler(color=COLOURS),
    "mathtext.fontset": "dejavusans",
    # The same figure is the same file.
    "svg.hashsalt": "fedtheory",
}


def figure(width: float, height: float) -> Figure:
    """An empty figure of these inches, laid out so that nothing overlaps. To be drawn and saved :func:`within`."""
    found = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.04, h_pad=0.04))
    FigureCanvasAgg(found)
    return found


def within() -> AbstractContextManager[None]:
    """The context in which figures are drawn, and saved."""
    return rc_context(SETTINGS)


def save(drawn: Figure, path: Path) -> None:
    """Write a figure as PNG or SVG, by the suffix of ``path``; without a date, so that the same is the same file."""
    metadata = {"Date": None} if path.suffix.lower() == ".svg" else {"Software": None}
    drawn.savefig(path, dpi=_DPI, metadata=metadata)


def checked(path: Path) -> Path:
    """``path``. Raise ``ValueError`` unless its suffix is one of :data:`SUFFIXES`."""
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"a figure is a PNG or SVG file: a name that ends in .png or .svg was expected, got {path}")
    return path


def letter(name: str) -> str:
    """The mathematical text of a letter: kappa is $\\kappa$, L_max has an index."""
    return f"${sympy.latex(sympy.Symbol(name))}$"


def values(pairs: Sequence[tuple[str, str]]) -> str:
    """Letters and their values, as n = 2, kappa = 5."""
    return ", ".join(f"{letter(name)} = {value}" for name, value in pairs)


def power(value: float) -> str:
    """A number, from ten thousand on with a power of ten."""
    if abs(value) < 1e4:
        return f"{value:g}"
    mantissa, _, exponent = f"{value:e}".partition("e")
    factor = "" if float(mantissa) == 1 else rf"{float(mantissa):g} \cdot "
    return f"${factor}10^{{{int(exponent)}}}$"


def greek(text: str) -> str:
    """A sentence with kappa, rho, ... as letters."""
    return re.sub(rf"\b({'|'.join(greeks)})\b", lambda match: pretty_symbol(match.group()), text)


def caption(lines: Sequence[str], width: float) -> list[str]:
    """The lines of a caption below a figure of this width, in inches; what is equal to what stays together."""
    bound = [greek(line.strip()).replace(" = ", "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}") for line in lines]
    return [part for line in bound for part in wrap(line, int(_CHARACTERS * width))]


def grid(axes: Axes) -> None:
    """Light lines at the major ticks, below what is drawn."""
    axes.set_axisbelow(True)
    axes.grid(True, which="major", color="0.88", linewidth=0.5)
