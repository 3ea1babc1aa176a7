"""Small drawings as inline SVG, in the colours of the style sheet, each with its content in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import mpmath
from markupsafe import Markup

from verify.base.verdict import Verdict
from verify.evidence.parsing import real
from verify.report import terminal
from verify.report.terminal import shown

#: Characters of fractions that need no decimals beside them.
_SHORT = 3
#: Width of a drawing in its own units, and of the bars within.
_WIDTH = 320.0
#: A margin this close to 0 is one that is attained.
_ATTAINED = 1e-9


def margin_words(margin: float, equality: bool) -> str:
    """Return the meaning of a margin for the two sides; for an ``equality`` it is minus the relative residual."""
    if equality:
        return "the sides agree" if margin >= -_ATTAINED else "the sides differ"
    if margin < -_ATTAINED:
        # With a right side that is not positive the margin is at least -1, and not a ratio.
        times = f": the left side is {1 - margin:.3g} times the right one" if margin < -1 else ""
        return f"at the worst instance found the bound is exceeded{times}"
    return "the bound is attained" if margin <= _ATTAINED else f"the bound has room: {100 * margin:.3g} %"


def margin(value: float) -> Markup:
    """Return a scale from -1 to 1, ends included, with the margin marked: violated, attained or loose."""
    x = _WIDTH / 2 * (1 + max(-1.0, min(1.0, value)))
    x = max(6.0, min(_WIDTH - 6, x))
    title = f"margin {value:.3g}: {margin_words(value, equality=False)}"
    return Markup(
        '<svg class="margin" viewBox="0 0 {w} 44" role="img" aria-label="{title}">'
        '<rect class="violated" x="0" y="14" width="{half}" height="10"/>'
        '<rect class="kept" x="{half}" y="14" width="{half}" height="10"/>'
        '<line class="zero" x1="{half}" x2="{half}" y1="8" y2="28"/>'
        '<path class="mark" d="M{x} 16l-6 -12h12z"/>'
        '<text x="0" y="40">violated</text><text x="{half}" y="40" text-anchor="middle">attained</text>'
        '<text x="{w}" y="40" text-anchor="end">loose</text></svg>'
    ).format(w=f"{_WIDTH:g}", half=f"{_WIDTH / 2:g}", x=f"{x:.1f}", title=title)


def sides(left: str, relation: str, right: str) -> Markup:
    """Return the two sides of a counterexample as bars; empty if one of them is not a finite number."""
    values = [_float(left), _float(right)]
    if not all(math.isfinite(v) for v in values) or values[0] == values[1]:
        return Markup("")
    low, high = min(0.0, *values), max(0.0, *values)
    scale = _WIDTH / (high - low)
    zero = -low * scale
    bars = Markup("")
    for row, (name, value, exact) in enumerate((("left", values[0], left), ("right", values[1], right))):
        length = abs(value) * scale
        x = zero if value >= 0 else zero - length
        y = 14 + 40 * row
        bars += Markup(
            '<text x="0" y="{y}">{name} = {exact}</text>'
            '<rect class="side {name}" x="{x}" y="{bar}" width="{length}" height="12"/>'
        ).format(y=y, name=name, exact=_both(exact, value), x=f"{x:.1f}", bar=y + 6, length=f"{max(length, 1.0):.1f}")
    label = f"left side {number(left)}, right side {number(right)}; claimed: left {relation} right"
    return Markup(
        '<svg class="sides" viewBox="-1 0 {w} 76" role="img" aria-label="{label}">{bars}'
        '<path class="zero" d="M{zero} 18v16m0 24v16"/></svg>'
    ).format(w=f"{_WIDTH + 2:g}", label=label, bars=bars, zero=f"{zero:.1f}")


def excess(left: str, relation: str, right: str) -> str:
    """Return the ratio of the left side to the right one, in words; empty if that has no meaning."""
    try:
        return terminal.excess(real(left), relation, real(right))
    except ValueError:
        return ""


def shares(counts: Mapping[Verdict, int]) -> Markup:
    """Return one bar with the number of claims of each verdict."""
    total = sum(counts.values())
    if not total:
        return Markup("")
    bar, at = Markup(""), 0.0
    for verdict, count in counts.items():
        width = _WIDTH * count / total
        if count:
            bar += Markup('<rect class="v-{v}" x="{x}" y="0" width="{w}" height="14"/>').format(
                v=str(verdict), x=f"{at:.1f}", w=f"{max(width - 1, 0.5):.1f}"
            )
        at += width
    label = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    return Markup(
        '<svg class="shares" viewBox="0 0 {w} 14" preserveAspectRatio="none" role="img" aria-label="{label}">'
        "{bar}</svg>"
    ).format(w=f"{_WIDTH:g}", label=label, bar=bar)


def number(text: str) -> str:
    """Return a stored number, as a fraction if that is short, else with twelve digits; unchanged if it is not a
    number.
    """
    try:
        return shown(real(text))
    except ValueError:
        return text


def _both(exact: str, value: float) -> str:
    """Return a number as it is stored, and a long fraction as a decimal too: 3/4 needs none."""
    text = number(exact)
    return f"{text}, about {value:.8g}" if "/" in text and len(text) > _SHORT else text


def _float(text: str) -> float:
    try:
        value = real(text)
    except ValueError:
        return math.nan
    try:
        return float(Fraction(value)) if isinstance(value, int | Fraction) else float(mpmath.mpf(value))
    except OverflowError:
        return math.inf
