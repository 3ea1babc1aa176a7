"""Figures of runs: what was measured against its bound, and the panels of an experiment in the layout of its paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill, wrap

import numpy as np
from matplotlib.axes import Axes

from fedtheory.experiments import Curve
from verify.report import style
from verify.tightness.measure import MeasuredCurve, Measurement

# Below this fraction of its initial value a quantity is rounding error.
_FLOOR = 1e-14


def draw(measurement: Measurement, path: Path) -> None:
    """Draw every measured quantity against its bound, a panel each. The same measurement gives the same file."""
    with style.within():
        experiment, curves = measurement.experiment, measurement.curves
        width = style.COLUMN * len(curves)
        caption = style.caption(experiment.setup, width)
        figure = style.figure(width, 2.9 + 0.13 * len(caption))
        title = wrap(f"{experiment.name}: measured, and the bound", int(style.TITLE * width))
        figure.suptitle("\n".join(title), fontweight="bold")
        panels = figure.subplots(1, len(curves), squeeze=False)[0]
        for panel, curve in zip(panels, curves, strict=True):
            _panel(panel, curve)
        figure.supxlabel("\n".join(caption), fontsize=6.5, color="0.25")
        style.save(figure, path)


def _panel(axes: Axes, curve: MeasuredCurve) -> None:
    mean = curve.measured.mean(axis=-1)
    low, high = np.quantile(curve.measured, (0.1, 0.9), axis=-1)
    floor = _FLOOR * mean[0]
    below = np.flatnonzero(mean <= floor)
    shown = slice(0, int(below[0]) if below.size else len(mean))
    steps = np.arange(len(mean))
    seeds = curve.measured.shape[1]
    axes.fill_between(
        steps[shown],
        np.maximum(low[shown], floor),
        high[shown],
        color=style.MEASURED,
        alpha=0.25,
        linewidth=0,
        label=f"10 % to 90 % of {seeds} seeds",
    )
    axes.plot(steps[shown], mean[shown], color=style.MEASURED, label=f"mean of {seeds} seeds")
    axes.plot(steps, curve.bound, color=style.PRINTED, linestyle="--", label=f"bound, {_place(curve)}")
    axes.set_yscale("log")
    axes.set_xlim(0, len(mean) - 1)
    axes.set_xlabel(f"{curve.unit} $t$")
    axes.set_ylabel(f"{curve.label}  {curve.symbol}")
    axes.set_title(f"{curve.label},\nat most {curve.ratio[curve.worst]:.3g} of the bound ($t\\geq 1$)", fontsize=7)
    style.grid(axes)
    axes.legend(loc="best", frameon=True)


def _place(curve: MeasuredCurve) -> str:
    number = curve.claim.id.rsplit("-", 1)[-1]
    return f"{curve.claim.where}, eq. ({number})"


#: Panels beside each other, inches of one, and letters of a title above one.
_ACROSS, _WIDE, _HIGH, _LETTERS = 3, 2.9, 2.5, 36
#: A method's line keeps its colour in all panels; from so many on it gets another pattern besides.
_PLAIN = len(style.COLOURS) - 2
#: Columns of a legend at most, inches of a line in it, and of a letter beside.
_COLUMNS, _LINE, _LETTER = 4, 0.48, 0.05
#: Points of a line that have marks, so that few are seen at all.
_MARKED = 12


def draw_curves(title: str, curves: Sequence[Curve], path: Path) -> None:
    """Draw the panels of these curves into a PNG or SVG file. ``ValueError`` where there are no curves."""
    if not curves:
        raise ValueError("there are no curves to plot: no run has recorded any")
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    labels = list(dict.fromkeys(curve.label for curve in curves))
    # Four are a square.
    across = 2 if len(panels) == 4 else min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    columns = _columns(labels, _WIDE * across)
    with style.within():
        legend = 0.16 * -(-len(labels) // columns)
        figure = style.figure(_WIDE * across, _HIGH * down + legend + 0.3)
        figure.suptitle(fill(title, _LETTERS * across))
        grid = figure.subplots(down, across, squeeze=False).ravel()
        for axes, panel in zip(grid, panels, strict=False):
            for curve in (curve for curve in curves if curve.panel == panel):
                place = labels.index(curve.label)
                shown = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if np.isfinite(x) and np.isfinite(y)]
                x, y = ([pair[i] for pair in shown] for i in (0, 1))
                axes.plot(
                    x,
                    y,
                    color=style.COLOURS[place % _PLAIN],
                    linestyle=style.DASHES[place // _PLAIN % len(style.DASHES)],
                    marker=style.MARKS[place % len(style.MARKS)] if len(x) <= _MARKED else None,
                    label=curve.label,
                )
                axes.set_xlabel(curve.across)
                axes.set_ylabel(curve.up)
                axes.set_xscale("log" if "x" in curve.log else "linear")
                axes.set_yscale("log" if "y" in curve.log else "linear")
            axes.set_title(panel)
            style.grid(axes)
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        handles = {text: line for axes in grid for line, text in zip(*axes.get_legend_handles_labels(), strict=True)}
        reached = {curve.label for curve in curves if np.isfinite(curve.y).any()}
        told = [label if label in reached else f"{label} (not reached)" for label in labels]
        figure.legend(
            [handles[label] for label in labels], told, loc="outside lower center", ncols=columns, frameon=False
        )
        style.save(figure, path)


def _columns(labels: Sequence[str], width: float) -> int:
    """How many columns a legend has that is filled column by column and no wider than these inches."""

    def needed(columns: int) -> float:
        rows = -(-len(labels) // columns)
        longest = (max(map(len, labels[k : k + rows])) for k in range(0, len(labels), rows))
        return sum(_LINE + _LETTER * length for length in longest)

    return next((k for k in range(min(_COLUMNS, len(labels)), 1, -1) if needed(k) <= width), 1)
