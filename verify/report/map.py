"""A map of the methods that win, as a figure and in words."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap

import numpy as np
import sympy
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.contour import QuadContourSet
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from fedtheory.tables.regions import Regions
from verify.report import style

#: Fills, pale enough for the letters on them; each has a hatching of its own too.
_FILLS = ("#bfe1f6", "#fbdc9b", "#99d8c3", "#ecc9dc", "#f8f3a6", "#99c6e0", "#f0b791")
_GREY, _LINE = "#dddddd", "black"
#: A rim that parts what is written from the fill below it.
_RIM = withStroke(linewidth=2.5, foreground="white")
#: How far the best method leads the next where a line is drawn.
_LEADS = (4.0, 16.0, 64.0)
#: Zones with at least this share of the map are named.
_NAMED = 0.01
#: Characters of a line of the legend.
_LABEL = 52


def draw(found: Regions, path: Path) -> None:
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
        every.append(Line2D([], [], color=_LINE, linewidth=1.8, label="another term leads the least cost"))
    axes.set_xscale("log")
    axes.set_yscale("log")
    if levels:
        contours = axes.contour(x, y, leads, levels=levels, colors=_LINE, linewidths=0.8, linestyles="--")
        for label in axes.clabel(contours, manual=_places(contours), fmt=lambda level: f"{level:g}×", fontsize=7):
            label.set_path_effects([_RIM])
        every.append(Line2D([], [], color=_LINE, linewidth=0.8, linestyle="--", label="lead over the next method"))
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
            axes.contour(x, y, leads, levels=[0], colors=_LINE, linewidths=1.8)
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
    """How many times the next method costs what the best one does ``(ny, nx)``; NaN where values are impossible."""
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
