"""Figures of measured runs."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap

import numpy as np
from matplotlib.axes import Axes

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
