"""FedADMM, Section 5: Figures 1 to 5 with their medians, and what the text says of each, seen or not seen.

    python benchmarks/fedadmm_experiments.py [--data FILE.libsvm] [--quick] [--figures 1 2 3 4 5] [--out DIR] [--seed S]

Example 5.1 is synthetic; Example 5.2 needs ``--data``, a file in LIBSVM's text format with two labels, and is left out
without it. A round is one exchange with the server: the communications (CR) of the paper are twice as many. FedADMM
runs until (30), the others until f is within 2e-4 (1 + |f|) of what it reached, or of the least value where it did not
stop; more than ``--most`` rounds count as never. The times are those of the methods' steps on this machine, without the
evaluation of f; all methods compute with all clients at once. At full size this takes hours: see ``--clients``,
``--instances`` and ``--most``.

The paper gives no stepsizes of the other methods, no proximal weight of FedProx, and no order of FedAlt's steps: the
stepsizes are tuned on the first instance of every setting, see ``fedadmm_runs.py`` for the rest. Figure 5 is scaled
down: fewer clients, and 100 features instead of 1000. "Seen" means that all comparisons of medians came out as the text
says (for "most" of them: four fifths); a trend is a rank correlation beyond 0.5 between the parameter and the medians.

``--record FILE`` puts what was seen into a JSON file, beside what it holds of other figures and data. The claims
``fedadmm/figure-*`` read the one in ``fedtheory/papers/fedadmm/figures.json``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from fedadmm_runs import METHODS, RIVALS, Instance, Point, Setting, real, sweep, synthetic
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from scipy.stats import rankdata, spearmanr

from fedtheory.data import load_libsvm

_COLOURS = dict(zip(METHODS, ("#cc0000", "#7f7f7f", "#b8860b", "#0b5394", "#38761d"), strict=True))

#: A trend, "most" scenarios, and a level that is stable.
_TREND, _MOST, _STABLE = 0.5, 0.8, 1.3

FIRST, SECOND = "Example 5.1", "Example 5.2"


class Scale(NamedTuple):
    """Clients and features, ``instances`` of each setting, ``most`` rounds, and what the figures vary."""

    m: int
    n: int
    instances: int
    most: int
    few_k0: tuple[int, ...]
    k0: tuple[int, ...]
    rho: tuple[float, ...]
    many: tuple[int, ...]
    larger: tuple[int, ...]


FULL = Scale(
    100,
    100,
    20,
    300,
    (1, 10, 30, 50),
    (1, 5, 10, 20, 30, 40, 50),
    (0.1, 0.3, 0.5, 0.7, 0.9),
    (50, 100, 150, 200),
    (250, 500, 750, 1000),
)
QUICK = Scale(10, 8, 3, 60, (1, 5), (1, 5, 10), (0.3, 0.9), (6, 12, 18), (20, 40))

Curves = Mapping[tuple[str, int], list[Point]]


def experiment(
    sources: Mapping[str, Callable[[int, np.random.Generator], Instance]],
    figures: Sequence[int],
    scale: Scale,
    seed: int,
    progress: Callable[[str], None],
) -> dict[tuple[str, int], list[Point]]:
    """The points of each figure by example: Figure 1 has one instance of Example 5.1 for each k_0."""
    m, found = scale.m, {}
    for example, make in sources.items():
        for figure in figures:
            if figure == 1 and example != FIRST:
                continue
            settings, instances = {
                1: ([Setting(m, 0.5, k) for k in scale.few_k0], 1),
                2: ([Setting(m, 0.5, k) for k in scale.k0], scale.instances),
                3: ([Setting(m, rho, 10) for rho in scale.rho], scale.instances),
                4: ([Setting(k, 0.5, 10) for k in scale.many], scale.instances),
                5: ([Setting(k, 0.5, 10) for k in scale.larger], max(1, scale.instances // 4)),
            }[figure]
            progress(f"Figure {figure}, {example}")
            found[example, figure] = sweep(make, settings, instances, scale.most, seed, progress)
    return found


def varied(points: Sequence[Point], figure: int) -> list[float]:
    """The parameter that the figure varies."""
    return [{3: p.setting.rho, 4: p.setting.m, 5: p.setting.m}.get(figure, p.setting.k0) for p in points]


_NAMES = {1: "k0", 2: "k0", 3: "rho", 4: "m", 5: "m"}


def table(results: Curves, most: int) -> str:
    """Median rounds and seconds in Markdown, the fewest and the shortest in bold."""
    lines = ["| figure | data | at | " + " | ".join(METHODS) + " |", "| --- " * 3 + "| ---: " * len(METHODS) + "|"]
    for (example, figure), points in results.items():
        for value, at in zip(varied(points, figure), points, strict=True):
            rounds = {method: at.rounds(method) for method in METHODS}
            seconds = {method: at.seconds(method) for method in METHODS}
            cells = [
                f"{_bold(rounds, method, f'> {most}', '.0f')}, {_bold(seconds, method, '-', '.2g')} s"
                for method in METHODS
            ]
            lines.append(f"| {figure} | {example} | {_NAMES[figure]} = {value:g} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _bold(numbers: Mapping[str, float], method: str, never: str, how: str) -> str:
    value = numbers[method]
    if np.isinf(value):
        return never
    return f"**{value:{how}}**" if value == min(numbers.values()) else f"{value:{how}}"


class Seen(NamedTuple):
    """What the text says (in our words), whether it was seen (None: not decided), and the numbers."""

    text: str
    seen: bool | None
    numbers: str

    def __str__(self) -> str:
        outcome = "not decided" if self.seen is None else "seen" if self.seen else "not seen"
        return f"{self.text}: {outcome} ({self.numbers})"


def trend(values: Sequence[float], numbers: Sequence[float]) -> float:
    """Rank correlation, where never is more than any number; 0 where all are equal, nan where all are never."""
    if not np.isfinite(numbers).any():
        return np.nan
    ranks = rankdata(numbers)
    return 0.0 if np.ptp(ranks) == 0 else float(spearmanr(values, ranks).statistic)


def trends(
    text: str, points: Sequence[Point], figure: int, methods: Sequence[str], direction: int, of: str = "rounds"
) -> Seen:
    """Whether the medians of all methods rise (``direction`` 1) or fall (-1) with the figure's parameter.

    Not decided if none contradicts and one of them never finished.
    """
    values = varied(points, figure)
    found = {method: trend(values, [getattr(p, of)(method) for p in points]) for method in methods}
    agree = [direction * v >= _TREND for v in found.values() if np.isfinite(v)]
    seen = False if not all(agree) else True if len(agree) == len(methods) else None
    numbers = ", ".join(f"{method} {v:+.2f}" if np.isfinite(v) else f"{method} none" for method, v in found.items())
    return Seen(text, seen, f"rank correlation {numbers}")


def least(text: str, points: Sequence[Point], of: str, share: float) -> Seen:
    """Whether FedADMM has the least median at that share of the settings; those where nobody finished are left out."""
    pairs = [(getattr(p, of)("FedADMM"), min(getattr(p, of)(method) for method in RIVALS)) for p in points]
    decided = [(a, b) for a, b in pairs if np.isfinite(min(a, b))]
    held = sum(a <= b for a, b in decided)
    return Seen(text, held >= share * len(decided) if decided else None, f"{held} of {len(decided)} settings")


def orderings(results: Curves) -> Iterator[Seen]:
    """What Section 5.4 says of its figures, in our words."""
    if (FIRST, 1) in results:
        yield from _figure_1(results[FIRST, 1])
    for example in (FIRST, SECOND):
        head = f"{{}}, {example}: {{}}"
        if points := results.get((example, 2)):
            name = head.format("Figure 2", "{}").format
            falling, others = ("fall", "rise") if example == FIRST else ("fall", "fall")
            yield trends(name(f"FedADMM's rounds {falling} with k0"), points, 2, METHODS[:1], -1)
            yield trends(name(f"the others' rounds {others} with k0"), points, 2, RIVALS, 1 if others == "rise" else -1)
            yield trends(name("times rise with k0"), points, 2, METHODS, 1, "seconds")
            yield least(name("FedADMM needs the fewest rounds"), points, "rounds", 1)
            yield least(name("FedADMM is the fastest"), points, "seconds", 1)
        if points := results.get((example, 3)):
            name = head.format("Figure 3", "{}").format
            if example == FIRST:
                yield trends(name("rounds fall with rho"), points, 3, METHODS, -1)
                yield trends(name("times fall with rho"), points, 3, METHODS, -1, "seconds")
            else:
                rounds = [p.rounds("FedADMM") for p in points]
                stable = max(rounds) <= _STABLE * min(rounds) if np.isfinite(max(rounds)) else None
                yield Seen(name("FedADMM's rounds stay level"), stable, ", ".join(f"{v:g}" for v in rounds))
                yield trends(name("times rise with rho"), points, 3, METHODS, 1, "seconds")
            yield least(name("FedADMM needs the fewest rounds at most rho"), points, "rounds", _MOST)
            yield least(name("FedADMM is the fastest at most rho"), points, "seconds", _MOST)
        if points := results.get((example, 4)):
            name = head.format("Figure 4", "{}").format
            if example == FIRST:
                yield trends(name("rounds fall with m"), points, 4, METHODS, -1)
                yield trends(name("times rise with m"), points, 4, METHODS, 1, "seconds")
            else:
                yield trends(name("FedADMM's rounds fall with m"), points, 4, METHODS[:1], -1)
                first, rest = points[:2], points[1:]
                yield trends(name("the others' rounds fall up to the second m"), first, 4, RIVALS, -1)
                yield trends(name("the others' rounds rise after the second m"), rest, 4, RIVALS, 1)
            yield least(name("FedADMM needs the fewest rounds at almost all m"), points, "rounds", _MOST)
            yield least(name("FedADMM is the fastest at almost all m"), points, "seconds", _MOST)
        if points := results.get((example, 5)):
            name = head.format("Figure 5", "{}").format
            direction, word = (-1, "fall") if example == FIRST else (1, "rise")
            yield trends(name(f"rounds {word} with m"), points, 5, METHODS, direction)
            yield trends(name("times rise with m"), points, 5, METHODS, 1, "seconds")
            yield least(name("FedADMM is the fastest"), points, "seconds", 1)


def _figure_1(points: Sequence[Point]) -> Iterator[Seen]:
    name = "Figure 1, Example 5.1: {}".format
    unfinished = [
        f"{method} at k0 = {p.setting.k0}" for p in points for method in METHODS if np.isinf(p.rounds(method))
    ]
    yield Seen(
        name("all methods reach the same objective value"),
        not unfinished,
        "all did" if not unfinished else "not " + ", ".join(unfinished),
    )
    one = next((p for p in points if p.setting.k0 == 1), None)
    if one is not None:
        start = {method: one.outcomes[method][0].values[:6] for method in METHODS}
        behind = sum(start["FedADMM"][-1] >= start[method][-1] for method in RIVALS if len(start[method]) == 6)
        numbers = f"after 6 rounds behind {behind} of the other methods"
        yield Seen(name("at k0 = 1 FedADMM is slow in its first rounds"), behind == len(RIVALS), numbers)
    yield least(
        name("for k0 > 1 FedADMM needs the fewest rounds"), [p for p in points if p.setting.k0 > 1], "rounds", 1
    )


Record = dict[str, list[dict[str, object]]]


def recorded(path: Path | None) -> Record:
    """What a file holds of figures, nothing if there is none; ``ValueError`` for a file that holds something else."""
    if path is None or not path.exists():
        return {}
    known = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(known, dict) or not all(isinstance(entries, list) for entries in known.values()):
        raise ValueError(f"{path} does not hold what was seen of figures")
    return known


def record(known: Record, results: Curves, name: str, scale: Scale, seed: int) -> Record:
    """``known`` with what was seen on the data ``name``, in the place of what it says of the same figure and data."""
    known = dict(known)
    for (example, figure), points in results.items():
        key, instances = f"figure-{figure}", len(points[0].outcomes[METHODS[0]])
        sizes = f"m = {points[0].setting.m}" if figure < 4 else ""
        features = f"n = {scale.n}" if example == FIRST else ""
        runs = f"{instances} instances" if instances > 1 else "one instance"
        data = ", ".join(filter(None, (name, sizes, features, runs, f"at most {scale.most} rounds", f"seed {seed}")))
        seen = [
            {
                "text": line.text.split(": ", 1)[1],
                "seen": None if line.seen is None else bool(line.seen),
                "numbers": line.numbers,
            }
            for line in orderings({(example, figure): points})
        ]
        others = [entry for entry in known.get(key, []) if entry["name"] != name]
        known[key] = sorted([*others, {"name": name, "data": data, "orderings": seen}], key=lambda e: str(e["name"]))
    return dict(sorted(known.items()))


def draw(results: Curves, example: str, figure: int, path: Path) -> None:
    """Figure 1: f against rounds, a panel for each k_0. The others: median rounds and seconds against the parameter."""
    points = results[example, figure]
    panels = len(points) if figure == 1 else 2
    picture = Figure(figsize=(1 + 3.6 * panels, 4.2), layout=ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.08))
    FigureCanvasAgg(picture)
    picture.suptitle(f"FedADMM, Figure {figure}: {example}", fontsize=12, fontweight="bold")
    axes = picture.subplots(1, panels, squeeze=False)[0]
    for method in METHODS:
        style = {"color": _COLOURS[method], "linewidth": 1.6, "label": method}
        if figure == 1:
            for panel, at in zip(axes, points, strict=True):
                values = at.outcomes[method][0].values
                panel.plot(np.arange(1, len(values) + 1), values, **style)
                panel.set_title(f"k0 = {at.setting.k0}", fontsize=10)
            continue
        for panel, of in zip(axes, ("rounds", "seconds"), strict=True):
            numbers = np.array([getattr(p, of)(method) for p in points])
            shown = np.where(np.isfinite(numbers), numbers, np.nan)
            panel.plot(varied(points, figure), shown, marker="o", markersize=4, **style)
    for panel, label in zip(axes, ["objective"] * panels if figure == 1 else ["rounds", "seconds"], strict=True):
        if figure != 1:
            panel.set_yscale("log")
        panel.set_ylabel(label)
        panel.set_xlabel("rounds" if figure == 1 else _NAMES[figure])
        panel.grid(True, which="major", alpha=0.3)
    axes[0].legend(fontsize=8, frameon=False)
    picture.savefig(path, dpi=150, metadata={"Software": None})


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], allow_abbrev=False)
    parser.add_argument("--data", type=Path, help="a file in LIBSVM's text format, for Example 5.2")
    parser.add_argument("--quick", action="store_true", help="few clients, features and instances: under a minute")
    parser.add_argument("--figures", type=int, nargs="+", choices=range(1, 6), default=[1, 2, 3, 4, 5])
    parser.add_argument("--instances", type=int, help="instances of each setting (20)")
    parser.add_argument("--clients", type=int, help="clients where they are not varied (100)")
    parser.add_argument("--most", type=int, help="rounds after which a run is given up (300)")
    parser.add_argument("--out", type=Path, default=Path("build/fedadmm"), help="folder of the results (build/fedadmm)")
    parser.add_argument("--record", type=Path, help="a JSON file that receives what was seen")
    parser.add_argument("--seed", type=int, default=0, help="seed of instances and runs (0)")
    given = parser.parse_args(arguments)
    scale, begun = QUICK if given.quick else FULL, time.perf_counter()
    chosen = {"instances": given.instances, "m": given.clients, "most": given.most}
    scale = scale._replace(**{name: value for name, value in chosen.items() if value is not None})
    try:
        if given.seed < 0 or min(scale.instances, scale.m, scale.most) < 1:
            raise ValueError("the seed must be 0 or more; instances, clients and rounds 1 or more")
        sources: dict[str, Callable[[int, np.random.Generator], Instance]] = {}
        if given.data is None:
            sources[FIRST] = lambda m, rng: synthetic(m, scale.n, rng)
        else:
            data = load_libsvm(given.data)
            sources[SECOND] = lambda m, rng: real(data, m, rng)
        given.out.mkdir(parents=True, exist_ok=True)
        known = recorded(given.record)
        results = experiment(
            sources, given.figures, scale, given.seed, lambda line: print(line, file=sys.stderr, flush=True)
        )
    except (ValueError, OSError) as error:
        print(f"fedadmm_experiments: {error}", file=sys.stderr)
        return 2
    name = "synthetic" if given.data is None else given.data.name.removesuffix(".gz")
    if given.record is not None:
        known = record(known, results, FIRST if given.data is None else name, scale, given.seed)
        given.record.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
    text = table(results, scale.most)
    lines = [str(line) for line in orderings(results)]
    file = given.out / f"table-{name}.md"
    file.write_text(text + "\n\n" + "\n".join(f"- {line}" for line in lines) + "\n", encoding="utf-8")
    for example, figure in results:
        draw(results, example, figure, given.out / f"figure-{figure}-{name}.png")
    print(f"{name}: {scale.instances} instances, at most {scale.most} rounds\n\n{text}\n\nThe paper's text:")
    print(*lines, sep="\n- ")
    print(f"\nWritten to {given.out}; {time.perf_counter() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
