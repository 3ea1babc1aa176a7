"""Figures: what was measured against its bound, the panels of an experiment in the layout of its paper, and maps of the
methods of a table, also in words.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill, wrap

import numpy as np
import sympy
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.contour import QuadContourSet
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from fedtheory.experiments import Curve
from fedtheory.tables.regions import Regions
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


#: Panels beside each other.
_ACROSS = 3
#: The width and the height of a panel, in inches.
_WIDE, _HIGH = 2.9, 2.5
#: Letters of a line of a panel's title.
_LETTERS = 36
#: A method's line keeps its colour in all panels; from so many on it gets another pattern besides.
_PLAIN = len(style.COLOURS) - 2
#: Columns of a legend at most, inches of a line in it, and of a letter beside.
_COLUMNS, _LINE, _LETTER = 4, 0.48, 0.05
#: A method with so few points in some panel has marks in all: as many, about.
_MARKED = 12


def draw_curves(title: str, curves: Sequence[Curve], path: Path) -> None:
    """Draw the panels of these curves into a PNG or SVG file. Raise ``ValueError`` if there are no curves."""
    if not curves:
        raise ValueError("there are no curves to plot: no run has recorded any")
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    labels = list(dict.fromkeys(curve.label for curve in curves))
    # Four are a square.
    across = 2 if len(panels) == 4 else min(_ACROSS, len(panels))
    down = -(-len(panels) // across)
    columns = _columns(labels, _WIDE * across)
    marked = {curve.label for curve in curves if 0 < sum(np.isfinite(curve.y)) <= _MARKED}
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
                    marker=style.MARKS[place % len(style.MARKS)] if curve.label in marked else None,
                    markevery=max(len(x) // _MARKED, 1),
                    label=curve.label,
                )
                axes.set_xlabel(curve.across)
                axes.set_ylabel(curve.up)
                axes.set_xscale("log" if "x" in curve.log else "linear")
                axes.set_yscale("log" if "y" in curve.log else "linear")
            axes.set_title(panel)
            style.grid(axes)
            counted = [curve for curve in curves if curve.panel == panel and "x" not in curve.log]
            if counted and all(float(x).is_integer() for curve in counted for x in curve.x):
                # Rounds are counted: there is no half of one.
                axes.xaxis.get_major_locator().set_params(integer=True)
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        handles = {text: line for axes in grid for line, text in zip(*axes.get_legend_handles_labels(), strict=True)}
        reached = {curve.label for curve in curves if np.isfinite(curve.y).any()}
        names = [label if label in reached else f"{label} (not reached)" for label in labels]
        figure.legend(
            [handles[label] for label in labels], names, loc="outside lower center", ncols=columns, frameon=False
        )
        style.save(figure, path)


def _columns(labels: Sequence[str], width: float) -> int:
    """The number of columns of a legend that is filled column by column and not wider than these inches."""

    def needed(columns: int) -> float:
        rows = -(-len(labels) // columns)
        longest = (max(map(len, labels[k : k + rows])) for k in range(0, len(labels), rows))
        return sum(_LINE + _LETTER * length for length in longest)

    return next((k for k in range(min(_COLUMNS, len(labels)), 1, -1) if needed(k) <= width), 1)


#: Fills, pale enough for the letters on them; each has a hatching of its own too.
_FILLS = ("#bfe1f6", "#fbdc9b", "#99d8c3", "#ecc9dc", "#f8f3a6", "#99c6e0", "#f0b791")
_GREY, _EDGE = "#dddddd", "black"
#: A rim that parts what is written from the fill below it.
_RIM = withStroke(linewidth=2.5, foreground="white")
#: The leads of the best method over the next at which lines are drawn.
_LEADS = (4.0, 16.0, 64.0)
#: Zones with at least this share of the map are named.
_NAMED = 0.01
#: Characters of a line of the legend.
_LABEL = 52


def draw_map(found: Regions, path: Path) -> None:
    """Draw the regions with a legend, each with a fill and a hatching of its own.

    Thick lines part the zones in which one term, which is named, leads the least cost; broken lines show where the
    best method leads the next by a power of 4.
    """
    with style.within():
        _draw(found, path)


def _draw(found: Regions, path: Path) -> None:
    handles = [
        Patch(
            facecolor=_fill(i),
            edgecolor="0.35",
            hatch=_hatch(i),
            label=_wrapped(f"{_tied(group)} ({found.share(i):.0%})"),
        )
        for i, group in enumerate(found.groups)
    ]
    lines = 6 + sum(str(h.get_label()).count("\n") + 1 for h in handles)
    figure = style.figure(style.COLUMN, 2.9 + 0.13 * lines)
    axes = figure.subplots()
    x, y = found.x.values, found.y.values
    fills = ListedColormap([_fill(i) for i in range(len(found.groups))])
    shown = np.ma.masked_less(found.index, 0)
    axes.pcolormesh(
        x, y, shown, cmap=fills, vmin=-0.5, vmax=len(found.groups) - 0.5, shading="nearest", rasterized=True
    )
    for i in range(len(found.groups)):
        if _hatch(i):
            inside = (found.index == i).astype(float)
            axes.contourf(x, y, inside, levels=[0.5, 1.5], colors="none", hatches=[_hatch(i)]).set_edgecolor("0.55")
    every: list[Patch | Line2D] = [*handles]
    leads = lead(found)
    levels = [level for level in _LEADS if level < np.nanmax(leads)]
    if found.leading()[0]:
        every.append(Line2D([], [], color=_EDGE, linewidth=1.8, label="another term leads the least cost"))
    axes.set_xscale("log")
    axes.set_yscale("log")
    if levels:
        contours = axes.contour(x, y, leads, levels=levels, colors=_EDGE, linewidths=0.8, linestyles="--")
        for label in axes.clabel(contours, manual=_places(contours), fmt=lambda level: f"{level:g}×", fontsize=7):
            label.set_path_effects([_RIM])
        every.append(Line2D([], [], color=_EDGE, linewidth=0.8, linestyle="--", label="lead over the next method"))
    _terms(found, axes)
    axes.set_xlabel(style.letter(found.x.name))
    axes.set_ylabel(style.letter(found.y.name))
    fixed = style.values([(name, style.power(value)) for name, value in found.at.items()])
    measure = found.table.measures[0].latex
    axes.set_title(f"{found.table.name}: least {measure}" + (f", {fixed}" if fixed else ""), fontweight="bold")
    title = f"best, or within a factor {found.tie:g} of it"
    figure.legend(handles=every, loc="outside lower center", title=title, handleheight=1.2, handlelength=2.4)
    style.save(figure, path)


def _places(contours: QuadContourSet) -> list[tuple[float, float]]:
    """For each level a place on its longest line, where its label stands: away from its ends and its middle."""
    longest = [max(lines, key=len) for lines in contours.allsegs if lines]
    return [(float(x), float(y)) for x, y in (line[len(line) // 4] for line in longest)]


def _fill(group: int) -> str:
    return _FILLS[group] if group < len(_FILLS) else _GREY


def _hatch(group: int) -> str:
    return style.HATCHES[group % len(style.HATCHES)]


def _wrapped(text: str) -> str:
    return "\n".join(wrap(text, _LABEL))


def _terms(found: Regions, axes: Axes) -> None:
    """Name the term that leads the least cost, zone by zone, with a line where another takes over."""
    x, y = found.x.values, found.y.values
    for term, leads in zip(*found.leading(), strict=True):
        zone = leads > 0
        if zone.any() and not zone.all():
            axes.contour(x, y, leads, levels=[0], colors=_EDGE, linewidths=1.8)
        if zone.mean() >= _NAMED:
            row, column = _inside(zone)
            axes.text(
                x[column], y[row], f"${sympy.latex(term)}$", ha="center", va="center", fontsize=10, path_effects=[_RIM]
            )


def _inside(zone: np.ndarray) -> tuple[int, int]:
    """The point of a zone that is nearest to its middle, so that it is not on the border if that can be helped."""
    places = np.argwhere(zone)
    row, column = places[np.argmin(((places - places.mean(axis=0)) ** 2).sum(axis=1))]
    return int(row), int(column)


def lead(found: Regions) -> np.ndarray:
    """The ratio of the next method's cost to the best one's ``(ny, nx)``; NaN where values are impossible."""
    if len(found.methods) < 2:
        return np.ones_like(found.costs[0])
    best, second = np.partition(found.costs, 1, axis=0)[:2]
    return second / best


def words(found: Regions) -> list[str]:
    """A line for each region: who wins there, on what share of the map, and a point of it."""
    x, y = found.x, found.y
    lines = [f"{found.table.name}: best, or within a factor {found.tie:g} of it"]
    for i, group in enumerate(found.groups):
        row, column = _inside(found.index == i)
        where = f"{x.name} = {x.values[column]:.3g}, {y.name} = {y.values[row]:.3g}"
        lines.append(f"  {found.share(i):6.1%}  {_tied(group)} (as at {where})")
    return lines


def _tied(group: tuple[str, ...]) -> str:
    return group[0] if len(group) == 1 else "tie: " + ", ".join(group)
