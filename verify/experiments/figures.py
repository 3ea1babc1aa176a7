"""Outcomes of figures and tables, as the packages of their papers carry them; written by the program, never by hand.

The figures of a paper are in the package that its record names (``experiments``), in ``FIGURES``; their outcomes are in
``seen.json`` beside it, one entry for each figure and data set, with seeds, date and commit.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from fedtheory import naming, plugins
from fedtheory.experiments import Curve, Figure, Less, Result, SeedComparison, Span, Stated, numbers_of
from fedtheory.kinds.experiment import Experiment
from verify.evidence.record import Sighting
from verify.experiments.deciding import MOST, Observed, decide
from verify.results import files

#: The name of the file beside a paper's figures.
NAME = "seen.json"
#: Points of a curve that are kept.
POINTS = 24
#: The number of comparisons of a statement whose numbers are listed.
_LISTED = 2


class StoredDecision(NamedTuple):
    """A statement, its outcome, for which seeds it held, how many seeds a decision takes (None where that cannot
    be determined), and the numbers."""

    text: str
    outcome: Observed
    held: tuple[bool | None, ...]
    seeds: int | None
    numbers: str

    def __str__(self) -> str:
        return f"{self.text}: {self.outcome}" + (f" ({self.summary})" if self.summary else "")

    @property
    def summary(self) -> str:
        """In how many seeds it holds, in how many that is open, how many would decide it, and the numbers."""
        if not self.held:
            return self.numbers
        count = f"in {self.held.count(True)} of {len(self.held)} seeds"
        if left := self.held.count(None):
            count = f"{count}, open in {left}"
        if self.outcome is Observed.UNDECIDED:
            count = f"{count}, {self._wanted(left)}"
        return f"{count}; {self.numbers}" if self.numbers else count

    def _wanted(self, left: int) -> str:
        """Return what would decide an open statement, in words."""
        if self.seeds is not None:
            return f"{self.seeds} seeds would decide it"
        return "only longer runs could decide it" if left else f"{MOST} seeds would not decide it"


class StoredFigure(NamedTuple):
    """The outcome of a ``figure`` on the data ``source``: ``data`` in words, with a digest; ``seeds``; ``date``,
    ``commit`` and ``seconds`` of processor time of the run; ``notes``: what was tuned; ``curves``: kept if something
    was not observed.
    """

    figure: str
    source: str
    data: str
    seeds: tuple[int, ...]
    date: str
    commit: str
    seconds: float
    seen: tuple[StoredDecision, ...]
    notes: tuple[str, ...] = ()
    curves: tuple[Curve, ...] = ()


@cache
def figures() -> Mapping[str, Figure]:
    """The figures and tables of all papers, by their ids."""
    return {figure.id: figure for paper in plugins.every().values() for figure in _of(paper)}


def get(id: str) -> Figure:
    """The figure with this id; ``ValueError`` suggests near ids where there is none."""
    if id not in figures():
        raise ValueError(naming.unknown(id, tuple(figures()), "figure", "fedtheory experiment"))
    return figures()[id]


def file_of(figure: str) -> Path:
    """The file that holds what was seen of a figure."""
    return Path(str(_module(plugins.every()[figure.split("/")[0]]).__file__)).with_name(NAME)


def records(figure: str) -> tuple[StoredFigure, ...]:
    """Return the outcomes of a figure on each data set, including a record of those that are unavailable or were not
    run.
    """
    known = [_from_json(entry) for entry in _entries(file_of(figure)) if entry["figure"] == figure]
    ran, wanted = {record.source for record in known}, get(figure)
    absent = [source for source in wanted.sources if source.name not in ran]
    return (*known, *(_absent(wanted, source.name, source.missing) for source in absent))


def sightings(statement: Experiment) -> tuple[Sighting, ...]:
    """Return the stored outcomes of a claim's figures."""
    return tuple(
        Sighting(
            figure,
            record.source,
            one.text,
            str(one.outcome),
            one.summary,
            len(record.seeds),
            record.date,
            record.commit,
        )
        for figure in statement.figures
        for record in records(figure)
        for one in record.seen
        if not statement.about or one.text.startswith(statement.about)
    )


def store(record: StoredFigure) -> None:
    """Put a record into the package of its paper, in the place of that on the same figure and data."""
    path = file_of(record.figure)
    kept = [e for e in _entries(path) if (e["figure"], e["source"]) != (record.figure, record.source)]
    found = sorted([*kept, to_json(record)], key=lambda entry: (entry["figure"], entry["source"]))
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in found)
    files.write(path, f"[\n{lines}\n]\n")
    _entries.cache_clear()


def judged(figure: Figure, source: str, results: Sequence[Result], seeds: Sequence[int]) -> tuple[StoredDecision, ...]:
    """Decide a figure's statements from the results of all tasks on one source, omitting those that compare nothing."""
    numbers = [numbers_of(results, place) for place in range(len(seeds))]
    found = []
    for stated in _about(figure, source):
        if not stated.left(numbers[0]):
            continue
        held = tuple(stated.holds(of) for of in numbers)
        outcome, wanted = decide(held)
        found.append(StoredDecision(stated.text, outcome, held, wanted, _comparisons_summary(stated, numbers)))
    return tuple(found)


def kept(curves: Iterable[Curve]) -> Iterator[Curve]:
    """The curves, each with as many points as are kept, and as many digits as are seen."""
    for curve in curves:
        step = max(1, math.ceil(len(curve.x) / POINTS))
        x, y = (tuple(float(f"{v:.3g}") for v in values[::step]) for values in (curve.x, curve.y))
        yield curve._replace(x=x, y=y)


def to_json(record: StoredFigure) -> dict[str, Any]:
    """A JSON object; an infinite number in it is null."""
    seen = [{**one._asdict(), "outcome": str(one.outcome)} for one in record.seen]
    curves = [{**one._asdict(), "x": nulls(one.x), "y": nulls(one.y)} for one in record.curves]
    return {**record._asdict(), "seen": seen, "curves": curves}


def _from_json(entry: Mapping[str, Any]) -> StoredFigure:
    seen = tuple(
        StoredDecision(**{**one, "outcome": Observed(one["outcome"]), "held": tuple(one["held"])})
        for one in entry["seen"]
    )
    curves = tuple(Curve(**{**one, "x": floats(one["x"]), "y": floats(one["y"])}) for one in entry["curves"])
    return StoredFigure(
        **{**entry, "seeds": tuple(entry["seeds"]), "notes": tuple(entry["notes"]), "seen": seen, "curves": curves}
    )


def nulls(values: Sequence[float]) -> list[float | None]:
    """Numbers for JSON, which has no infinity; :func:`floats` gives them back."""
    return [value if math.isfinite(value) else None for value in values]


def floats(values: Sequence[float | None]) -> tuple[float, ...]:
    """The numbers of which :func:`nulls` made null what is infinite."""
    return tuple(math.inf if value is None else value for value in values)


@cache
def _entries(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return json.loads(path.read_text(encoding="utf-8"))


def _module(paper: plugins.Paper) -> Any:
    return import_module(paper.experiments)


def _of(paper: plugins.Paper) -> tuple[Figure, ...]:
    return tuple(_module(paper).FIGURES) if paper.experiments else ()


def _about(figure: Figure, source: str) -> list[Stated]:
    """The statements about a source; of data of somebody's own those of no source, and of those with files."""
    mine = source not in {known.name for known in figure.sources}
    filed = {known.name for known in figure.sources if known.files}
    return [s for s in figure.statements if not s.only or source in s.only or (mine and filed & set(s.only))]


def _absent(figure: Figure, source: str, why: str) -> StoredFigure:
    outcome = Observed.NO_DATA if why else Observed.NOT_RUN
    seen = tuple(StoredDecision(s.text, outcome, (), None, why) for s in _about(figure, source))
    return StoredFigure(figure.id, source, why, (), "", "", 0.0, seen)


def _comparisons_summary(stated: Stated, numbers: Sequence[Mapping[str, Span]]) -> str:
    """The number of comparisons that hold for most seeds; the medians of those that do not, or are open, or of one."""
    parts, most = stated.left(numbers[0]), len(numbers) / 2

    def mostly(value: bool) -> list[SeedComparison]:
        return [part for part in parts if sum(part.holds(of) is value for of in numbers) > most]

    held, against = mostly(True), mostly(False)
    left = [part for part in parts if part not in held and part not in against]
    lines = [f"{len(held)} of {len(parts)} comparisons"] if len(parts) > 1 else []
    for head, some in (("not: ", against), ("open: ", left)) if against or left else (("", held),):
        shown = "; ".join(_medians(part, numbers) for part in some[:_LISTED])
        more = f"; {len(some) - _LISTED} more" if head and len(some) > _LISTED else ""
        lines += [f"{head if len(parts) > 1 else ''}{shown}{more}"] if some else []
    return "; ".join(lines)


def _medians(part: SeedComparison, numbers: Sequence[Mapping[str, Span]]) -> str:
    """Return the medians that a comparison compares; for a minimum of several series, the smallest."""

    def middle(key: str) -> Span:
        return Span(median(of[key].low for of in numbers), median(of[key].high for of in numbers))

    sides = (part.left, part.right) if isinstance(part, Less) else [(key,) for key in part.keys]
    shown = [min(side, key=middle) for side in sides]
    return (" against " if isinstance(part, Less) else ", ").join(f"{key} {_number(middle(key))}" for key in shown)


def _number(span: Span) -> str:
    low, high = span
    if math.isinf(low):
        return "never"
    short = [f"{value:.4g}" for value in span]
    return short[0] if low == high else f"> {short[0]}" if math.isinf(high) else " to ".join(short)
