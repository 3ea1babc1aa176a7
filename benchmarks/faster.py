"""How much faster methods provably are than their theorems say, and at which parameters: a table and a figure.

At each choice of the letters the smallest rate that holds over the class is found as by ``fedtheory best``, and both of
its ends are checked again without a solver; the speed is (1 - the certified rate)/(1 - the stated rate). Run as

    python -m benchmarks.faster --out faster.json --page docs/best.md --figure docs/faster.png

it keeps what it finds in the first file, from which it goes on (all of it takes some ten minutes), writes the table
into the page, and draws the figure.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes

from fedtheory import claims
from verify.best import factors, places, potentials
from verify.best.subjects import subject
from verify.report import style
from verify.results import files
from verify.tightness import sweep

SCAFFNEW, DIANA = "baseline/scaffnew/one-step", "baseline/diana/one-step"
DUAL, FAST_DUAL = "feddcd/theorem-4.1/eq-3", "feddcd/theorem-6.1/eq-10/repaired"
LOCODL = "locodl/theorem-3.1/one-step"

#: The rows of the table: a claim, and its letters.
TABLE = (
    (SCAFFNEW, "kappa=10 p=1/2 n=2"),
    (SCAFFNEW, "kappa=100 p=1/5 n=2"),
    (SCAFFNEW, "kappa=100 p=1/10 n=2"),
    (DIANA, "kappa=10 omega=0 n=2"),
    (DIANA, "kappa=10 omega=1 n=2"),
    (DIANA, "kappa=100 omega=10 n=2"),
    (DUAL, "kappa=10 N=2 tau=2"),
    (DUAL, "kappa=10 N=3 tau=2"),
    (FAST_DUAL, "kappa=16 N=2 tau=2"),
    (LOCODL, "kappa=10 omega=1 n=2 p=1"),
    (LOCODL, "kappa=10 omega=1 n=2 p=1/2"),
    (LOCODL, "kappa=100 omega=1 n=2 p=1/10"),
)
#: The rows of the table in the page.
_ROWS = r"(?m)(?<=\| --- \| --- \| --- \| --- \| --- \|\n)(?:\|.*\n)+"
#: Seconds after which nothing further is begun for a point.
_SECONDS = 300


class Panel(NamedTuple):
    """A panel of the figure: a claim, the letter along the axis with its values, and curves: a text with the letters
    that they fix, and whether the potential is the best instead of the claim's."""

    title: str
    claim: str
    letter: str
    values: tuple[str, ...]
    curves: tuple[tuple[str, str, bool], ...]


_PROBABILITIES = ("1/40", "1/20", "1/10", "1/8", "1/7", "1/5", "1/4", "1/3", "2/5", "1/2", "2/3", "1")
_CONDITIONS = ("2", "4", "10", "25", "100")
#: Of which the square roots are rational, as the accelerated stepsizes ask.
_SQUARES = ("4", "9", "16", "25", "100")
PANELS = (
    Panel("Scaffnew", SCAFFNEW, "p", _PROBABILITIES, tuple((f"κ = {k}", f"kappa={k} n=2", False) for k in (10, 100))),
    Panel(
        "DIANA",
        DIANA,
        "omega",
        ("0", "1/4", "1", "3", "10", "30", "100"),
        tuple((f"κ = {k}", f"kappa={k} n=2", False) for k in (10, 100)),
    ),
    Panel(
        "LoCoDL, ω = 1",
        LOCODL,
        "p",
        ("1/10", "1/5", "1/3", "1/2", "2/3", "1"),
        (
            ("κ = 10", "kappa=10 omega=1 n=2", False),
            ("κ = 100", "kappa=100 omega=1 n=2", False),
            ("κ = 10, best potential", "kappa=10 omega=1 n=2", True),
        ),
    ),
    Panel(
        "FedDCD",
        DUAL,
        "kappa",
        _CONDITIONS,
        tuple((f"N = {n}, τ = {t}", f"N={n} tau={t}", False) for n, t in ((2, 2), (3, 2), (4, 2))),
    ),
    Panel(
        "Accelerated FedDCD, repaired",
        FAST_DUAL,
        "kappa",
        _SQUARES,
        tuple((f"N = {n}, τ = 2", f"N={n} tau=2", False) for n in (2, 3)),
    ),
)


class Speed(NamedTuple):
    """The certified and the stated rate, the first None where nothing is certified."""

    best: Fraction | None
    stated: Fraction

    @property
    def times(self) -> Fraction | None:
        """By how much 1 - rate is larger than stated."""
        return None if self.best is None else (1 - self.best) / (1 - self.stated)


def key(id: str, letters: str, potential: bool = False) -> str:
    """The name of a point in the file, letters in the order of their names."""
    return f"{id} {' '.join(sorted(letters.split()))}{' best potential' if potential else ''}"


def points() -> Iterator[tuple[str, str, bool]]:
    """All that is asked for, the table first."""
    yield from ((id, letters, False) for id, letters in TABLE)
    for panel in PANELS:
        for _, fixed, potential in panel.curves:
            yield from ((panel.claim, f"{fixed} {panel.letter}={value}", potential) for value in panel.values)


def speed(id: str, letters: str, potential: bool = False) -> Speed:
    """The smallest rate that holds there, between ends that are checked again."""
    claim, at, deadline = claims.get(id), sweep.letters(letters.split()), time.perf_counter() + _SECONDS
    of = subject(claim)
    stated = of.stated(places.instance(of.claim, places.recipe(of.claim, at)))
    if potential:
        best = potentials.best(claim, at, deadline, lambda text: None)
        potentials.check(claim, best)
        return Speed(best.rate.upper, stated)
    found = factors.smallest(of, at, deadline)
    factors.check(of, found)
    return Speed(found.upper, stated)


def rows(known: dict[str, Speed]) -> str:
    """The rows of the table, rates rounded up and speeds down."""
    lines = []
    for id, letters in TABLE:
        found = known[key(id, letters)]
        if found.best is None or found.times is None:
            raise ValueError(f"nothing is certified of {id} at {letters}")
        cells = (
            sweep.rounded(found.best, True),
            sweep.rounded(found.stated, True),
            sweep.rounded(found.times, False, 4),
        )
        lines.append(f"| {id} | {letters} | {' | '.join(cells)} |\n")
    return "".join(lines)


def draw(known: dict[str, Speed], path: Path) -> None:
    """A panel for each method: how much faster than stated, along one letter."""
    with style.within():
        figure = style.figure(style.PAGE, 4.6)
        figure.suptitle(
            "Certified 1 - rate relative to the stated one, at the stated stepsizes (above: n = 2)", fontweight="bold"
        )
        axes = figure.subplots(2, 3, sharey=True).ravel()
        for place, panel in zip(axes, PANELS, strict=False):
            _panel(place, panel, known)
        for place in axes[len(PANELS) :]:
            place.axis("off")
        for place in axes[::3]:
            place.set_ylabel("times as fast as stated")
        style.save(figure, path)


def _panel(axes: Axes, panel: Panel, known: dict[str, Speed]) -> None:
    for k, (label, fixed, potential) in enumerate(panel.curves):
        found = {v: known[key(panel.claim, f"{fixed} {panel.letter}={v}", potential)].times for v in panel.values}
        shown = [(float(Fraction(v)), float(times)) for v, times in found.items() if times is not None]
        shift = panel.letter == "omega"
        axes.plot(
            [x + shift for x, _ in shown],
            [y for _, y in shown],
            color=style.COLOURS[k],
            linestyle=style.DASHES[k],
            marker=style.MARKS[k],
            label=label,
        )
    ends = [float(Fraction(panel.values[k])) + (panel.letter == "omega") for k in (0, -1)]
    axes.plot(ends, [1, 1], color=style.GREY, linewidth=1, linestyle="--", zorder=1)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel(rf"$1 + {style.letter('omega')[1:]}" if panel.letter == "omega" else style.letter(panel.letter))
    axes.set_title(panel.title)
    axes.set_ylim(0.95, 2.05)
    style.grid(axes)
    # Above the line of what is stated.
    axes.legend(loc="best", bbox_to_anchor=(0, 0.1, 1, 0.9))


def load(path: Path) -> dict[str, Speed]:
    """What the file holds, nothing if there is none."""
    if not path.exists():
        return {}
    stored = json.loads(path.read_text())
    return {name: Speed(b if b is None else Fraction(b), Fraction(s)) for name, (b, s) in stored.items()}


def store(known: dict[str, Speed], path: Path) -> None:
    """Keep what is known."""
    content = {name: (None if v.best is None else str(v.best), str(v.stated)) for name, v in known.items()}
    files.write(path, json.dumps(content, indent=1) + "\n")


def main(arguments: Sequence[str]) -> None:
    """Find what is not in the file yet, then write the table and the figure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("faster.json"), help="what is found, kept point by point")
    parser.add_argument("--page", type=Path, help="the page whose table is replaced (default: it is printed)")
    parser.add_argument("--figure", type=Path, help="a PNG or SVG file")
    args = parser.parse_args(arguments)
    known, asked = load(args.out), list(points())
    for number, (id, letters, potential) in enumerate(asked, 1):
        name = key(id, letters, potential)
        if name not in known:
            print(f"{number}/{len(asked)} {name}", file=sys.stderr, flush=True)
            known[name] = speed(id, letters, potential)
            store(known, args.out)
    table = rows(known)
    if args.page is None:
        print(table, end="")
    else:
        written, count = re.subn(_ROWS, table.replace("\\", r"\\"), args.page.read_text())
        if count != 1:
            sys.exit(f"{args.page} has {count} tables of five columns, and one was expected")
        files.write(args.page, written)
    if args.figure is not None:
        draw(known, style.checked(args.figure))


if __name__ == "__main__":
    main(sys.argv[1:])
