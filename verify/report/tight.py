"""Tables and a figure of printed bounds beside the exact worst case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from textwrap import wrap
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter
from rich.table import Table
from rich.text import Text

from fedtheory.claims import Claim
from verify.base.verdict import Verdict
from verify.report import style
from verify.tightness.comparison import Point, Subject, short
from verify.tightness.sweep import rounded, sentence, series

_STYLES = {Verdict.CERTIFIED: "bold green", Verdict.OPEN: "yellow", Verdict.REFUTED: "bold red"}
#: Relative width from which both ends of an interval are drawn.
_WIDE = 0.01
#: The most columns of panels.
_COLUMNS = 5
#: The width and the height of a panel, in inches.
_WIDTH, _HEIGHT = 2.2, 1.9
#: Inches of a letter in the legend, nearly.
_LETTER = 0.07
#: The steps of an axis by which curves are moved apart, so that those that coincide are seen.
_STEP = 0.06


def tables(points: Sequence[Point]) -> list[Table]:
    """A table for each thing that is compared, a row a point. Bounds are rounded outwards."""
    return [_table(subject, part, found) for (subject, part), found in series(points).items()]


def _table(subject: Subject, part: str, points: Sequence[Point]) -> Table:
    rates = subject == Subject.FACTOR
    title = f"{subject}{f', {part}' if part else ''}: printed, and the exact worst case between two bounds"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    names = [*(name for name, _ in points[0].letters), "printed", "at least", "at most"]
    names += ["best/printed 1 - rho", "iterations promised/needed"] if rates else ["printed/best"]
    for name in names:
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for point in points:
        ends = ["-" if v is None else rounded(v, up) for v, up in ((point.lower, False), (point.upper, True))]
        compared = [_between(point.slack), _between(point.iterations)] if rates else [_between(point.slack)]
        verdict = Text(str(point.verdict), style=_STYLES[point.verdict])
        values = [short(value) for _, value in point.letters]
        table.add_row(*values, rounded(point.printed, up=True), *ends, *compared, verdict)
    return table


def _between(ends: tuple[Fraction | float | None, ...]) -> str:
    low, high = ("-" if end is None else f"{float(end):.4g}" for end in ends)
    if low == high:
        return low
    return f"at most {high}" if low == "-" else f"at least {low}" if high == "-" else f"{low} to {high}"


def words(points: Sequence[Point]) -> list[str]:
    """For each thing that is compared how many points have which verdict, and a sentence."""
    lines = []
    for (subject, part), found in series(points).items():
        counts = [(verdict, sum(point.verdict == verdict for point in found)) for verdict in _STYLES]
        shares = ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
        lines.append(f"{subject}{f', {part}' if part else ''}: {len(found)} points, {shares}")
        lines.append(f"  {sentence(found)}")
    return lines


class _Layout(NamedTuple):
    """The letters along the axis and across the columns (None: one column), and those distinguished by colour."""

    axis: str | None
    column: str | None
    rest: tuple[str, ...]


def _layout(claim: Claim, points: Sequence[Point]) -> _Layout:
    if points[0].letters[:1] and points[0].letters[0][0] == "T":
        # Rounds are along the axis, all choices in one panel.
        others = [name for name, _ in points[0].letters[1:]]
        return _Layout("T", None, tuple(name for name in others if len({dict(p.letters)[name] for p in points}) > 1))
    if not claim.setting.drawing.sweep:
        return _Layout(None, None, ())
    varying = [name for name, _ in points[0].letters if len({dict(p.letters)[name] for p in points}) > 1]
    axis = varying[0] if varying else None
    split = len(varying) > 2 and len({dict(p.letters)[varying[1]] for p in points}) <= _COLUMNS
    return _Layout(axis, varying[1] if split else None, tuple(varying[2 if split else 1 :]))


def draw(claim: Claim, points: Sequence[Point], path: Path) -> None:
    """Draw every comparison, a row of panels each: for rates the rate 1 - rho, and how far it is from the best."""
    with style.within():
        _draw(claim, points, path)


def _draw(claim: Claim, points: Sequence[Point], path: Path) -> None:
    layout = _layout(claim, points)
    rows = []
    for (subject, _), found in series(points).items():
        rows.append((found, False))
        if subject == Subject.FACTOR and any(p.slack != (None, None) for p in found):
            rows.append((found, True))
    values = sorted({dict(p.letters)[layout.column] for p in points}) if layout.column else [None]
    width = max(style.COLUMN, 0.4 + _WIDTH * len(values))
    caption = style.caption(words(points), width)
    title = wrap(f"{claim.id} ({claim.where}): printed, and the exact worst case", int(style.TITLE * width))
    combinations = list(dict.fromkeys(_rest(p, layout) for p in points))
    handles = _handles(points, layout, combinations)
    longest = max(len(str(handle.get_label()).replace("$", "")) for handle in handles)
    across = max(1, int(width / max(1.6, 0.5 + _LETTER * longest)))
    height = 0.6 + _HEIGHT * len(rows) + 0.13 * (len(caption) + len(title)) + 0.16 * -(-len(handles) // across)
    figure = style.figure(width, height)
    figure.suptitle("\n".join(title), fontweight="bold")
    panels = figure.subplots(len(rows), len(values), squeeze=False, sharex="col", sharey="row")
    for i, (found, slack) in enumerate(rows):
        for axes, value in zip(panels[i], values, strict=True):
            shown = [p for p in found if layout.column is None or dict(p.letters)[layout.column] == value]
            _panel(axes, shown, layout, combinations, slack)
            if i == 0 and value is not None:
                axes.set_title(style.values([(str(layout.column), short(value))]))
            if i == len(rows) - 1:
                axes.set_xlabel(
                    style.letter(layout.axis) if layout.axis else "choice of the parameters, as in the table"
                )
        panels[i][0].set_ylabel(_label(found[0], slack))
    figure.legend(handles=handles, loc="outside lower center", ncols=across, frameon=False, title="\n".join(caption))
    style.save(figure, path)


def _rest(point: Point, layout: _Layout) -> tuple[Fraction, ...]:
    letters = dict(point.letters)
    return tuple(letters[name] for name in layout.rest)


def _label(point: Point, slack: bool) -> str:
    if slack:
        return r"rate $1-\rho$: best/printed"
    name = r"rate $1-\rho$" if point.subject == Subject.FACTOR else str(point.subject)
    return f"{name}\n{point.part}" if point.part else name


def _panel(
    axes: Axes, points: Sequence[Point], layout: _Layout, combinations: list[tuple[Fraction, ...]], slack: bool
) -> None:
    rates = bool(points) and points[0].subject == Subject.FACTOR
    shares = bool(points) and points[0].subject in (Subject.RATIO, Subject.DECREASE)
    for k, combination in enumerate(combinations):
        mine = [(i, p) for i, p in enumerate(points) if _rest(p, layout) == combination]
        if not mine:
            continue
        aside = k - (len(combinations) - 1) / 2
        x = [_place(layout, p, i, aside) for i, p in mine]
        colour, mark = style.COLOURS[k % len(style.COLOURS)], style.MARKS[k % len(style.MARKS)]
        joined = layout.axis is not None
        if slack:
            _intervals(axes, x, [_floats(p.slack) for _, p in mine], colour, mark, joined)
            continue
        printed = [float(1 - p.printed if rates else p.printed) for _, p in mine]
        worst = [((p.upper, p.lower) if rates else (p.lower, p.upper)) for _, p in mine]
        ends = [_floats(None if v is None else 1 - v if rates else v for v in pair) for pair in worst]
        if not shares:
            axes.plot(
                x,
                printed,
                color="black",
                linewidth=0.8,
                linestyle="--" if joined else "",
                marker="" if joined else "_",
                zorder=4,
            )
        _intervals(axes, x, ends, colour, mark, joined)
        _flags(axes, x, printed, [p for _, p in mine])
    if slack or shares:
        axes.axhline(1, color=style.GREY, linewidth=1, linestyle="--", zorder=4)
    if layout.axis and len({dict(p.letters)[layout.axis] for p in points}) > 1:
        _ticks(axes, sorted({float(dict(p.letters)[layout.axis]) for p in points}))
    if rates and not slack:
        axes.set_yscale("log")
    elif shares:
        # The panels of a row share their axis: the largest of them decides.
        axes.set_ylim(0, max(1.05, axes.get_ylim()[1]))
    style.grid(axes)


def _place(layout: _Layout, point: Point, index: int, aside: float) -> float:
    """The place of a point in a figure, a little aside of its value; in equal ratios, as a grid's values are spaced."""
    if layout.axis is None:
        return index + 1 + _STEP * aside
    return float(dict(point.letters)[layout.axis]) * (1 + _STEP) ** aside


def _floats(values: Iterable[Fraction | None]) -> tuple[float | None, ...]:
    return tuple(None if value is None else float(value) for value in values)


def _intervals(
    axes: Axes,
    x: list[float],
    ends: Sequence[tuple[float | None, ...]],
    colour: str,
    mark: str,
    joined: bool,
) -> None:
    """Draw marks if the ends of an interval coincide on the plot, else a band or bars; triangles if one end is
    known.
    """
    both = [(a, low, high) for a, (low, high) in zip(x, ends, strict=True) if low is not None and high is not None]
    if both:
        at, low, high = zip(*both, strict=True)
        wide = any(abs(b - a) > _WIDE * abs(b) for _, a, b in both)
        if wide and joined:
            axes.fill_between(at, low, high, color=colour, alpha=0.2, linewidth=0)
            for end in (low, high):
                axes.plot(at, end, color=colour, marker=mark, markersize=2.5, linewidth=0.8)
        else:
            axes.vlines(at, low, high, color=colour)
            for end in (low, high) if wide else (low,):
                axes.plot(at, end, color=colour, marker=mark, markersize=3, linestyle="-" if joined else "")
    for mark_one, index in (("^", 0), ("v", 1)):
        one = [(a, pair[index]) for a, pair in zip(x, ends, strict=True) if pair[1 - index] is None]
        shown = [(a, end) for a, end in one if end is not None]
        if shown:
            axes.plot(*zip(*shown, strict=True), color=colour, marker=mark_one, markersize=5, linestyle="")


def _flags(axes: Axes, x: list[float], printed: list[float], points: Sequence[Point]) -> None:
    """Cross out printed values where they are refuted, and mark them with a question mark where they are undecided."""
    for verdict, mark, colour in ((Verdict.REFUTED, "x", style.RED), (Verdict.OPEN, "$?$", style.GREY)):
        at = [(a, y) for a, y, p in zip(x, printed, points, strict=True) if p.verdict is verdict]
        if at:
            axes.plot(*zip(*at, strict=True), color=colour, marker=mark, markersize=7, linestyle="", zorder=5)


def _ticks(axes: Axes, values: list[float]) -> None:
    if values[0] > 0 and values[-1] / values[0] >= 4:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.minorticks_off()
    axes.set_xticks(values, [f"{value:g}" for value in values])


def _handles(points: Sequence[Point], layout: _Layout, combinations: list[tuple[Fraction, ...]]) -> list[Line2D]:
    found = [
        Line2D([], [], color="black", linewidth=0.8, linestyle="--", label="printed"),
        Line2D([], [], color=style.GREY, marker="o", markersize=3, label="exact worst case"),
    ]
    if any((p.lower is None) != (p.upper is None) for p in points):
        found.append(Line2D([], [], color=style.GREY, marker="^", linestyle="", label="bounded on one side only"))
    if any(p.verdict is Verdict.REFUTED for p in points):
        found.append(Line2D([], [], color=style.RED, marker="x", linestyle="", label="does not hold"))
    if any(p.verdict is Verdict.OPEN for p in points):
        found.append(Line2D([], [], color=style.GREY, marker="$?$", linestyle="", label="not decided"))
    if layout.rest:
        for k, combination in enumerate(combinations):
            values = style.values([(name, short(v)) for name, v in zip(layout.rest, combination, strict=True)])
            mark = style.MARKS[k % len(style.MARKS)]
            found.append(
                Line2D([], [], color=style.COLOURS[k % len(style.COLOURS)], marker=mark, markersize=3, label=values)
            )
    return found
