"""Runs of a figure: task by task, each in a file of its own as soon as it is done, which any later run takes up."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from fedtheory import plugins
from fedtheory.experiments import SEEDS, Curve, Figure, Result, Source, Span
from fedtheory.naming import file_name
from verify.audit.sweeping import sweep
from verify.experiments import figures as stored
from verify.experiments.deciding import Observed
from verify.experiments.figures import StoredFigure
from verify.results import files

#: Suffixes that files of data may have besides.
COMPRESSED = ("", ".gz", ".bz2")
#: So many data sets a process keeps in memory.
_KEPT = 2


class Data(NamedTuple):
    """A source that is there: its name, the files that hold it, none where it is generated, and the number of seeds of
    its runs."""

    name: str
    paths: tuple[Path, ...] = ()
    seeds: int = SEEDS

    @property
    def digest(self) -> str:
        """The digest of the bytes of its files; empty if it is generated."""
        if not self.paths:
            return ""
        sums = hashlib.sha256()
        for path in self.paths:
            sums.update(path.read_bytes())
        return sums.hexdigest()[:16]


def found(figure: Figure, path: Path | None) -> list[Data]:
    """The data of a figure that there are: those that are generated, and those in a folder, or the one file given.

    ``ValueError`` for a path that is not there, and for a file where the figure takes none.
    """
    if path is not None and not path.exists():
        raise ValueError(
            f"there is no file or folder {path}: the data sets of LIBSVM are at "
            "www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets, and a CSV file with the label last will do"
        )
    if path is not None and not path.is_dir():
        if figure.read is None:
            raise ValueError(f"{figure.id} is of generated data alone, and takes no file")
        return [_own(figure, path)]
    there = [Data(source.name, _files(source, path), source.seeds) for source in figure.sources if not source.missing]
    return [data for data in there if data.paths or not _source(figure, data.name).files]


def tasks(figure: Figure, data: Data) -> tuple[str, ...]:
    """The names of the tasks of a figure on data. Raise ``ValueError`` if these cannot be read."""
    return tuple(_tasks(figure.id, data))


class _FigureOnData(NamedTuple):
    """A figure on data: what marks its results, where those of its tasks are stored, and those that are there."""

    figure: Figure
    data: Data
    key: Mapping[str, Any]
    places: Mapping[str, Path]
    results: dict[str, tuple[Result, float]]


def run(
    work: Sequence[tuple[Figure, Data]], out: Path, jobs: int, progress: Callable[[str], None]
) -> Iterator[tuple[StoredFigure, tuple[Curve, ...]]]:
    """Yield the outcome of each figure on data, and all its curves, in order, each as soon as it is known.

    The tasks of all figures are shared out among the processes together. Results that ``out`` holds of the same code,
    data and seeds are taken from there; ``progress`` is called once for each task, with a line.
    """
    runs = [_begun(figure, data, out) for figure, data in work]
    for one in runs:
        for name, place in one.places.items():
            if (known := _known(place, one.key)) is not None:
                one.results[name] = known
                progress(f"{one.figure.id}, {one.data.name}: {name}, from {place}")
    left = [
        (k, one.figure.id, one.data, name)
        for k, one in enumerate(runs)
        for name in one.places
        if name not in one.results
    ]
    found = sweep(_worked, left, jobs, ordered=False)
    for one in runs:
        while len(one.results) < len(one.places):
            k, name, result, seconds = next(found)
            done = runs[k]
            content = {"key": done.key, "seconds": round(seconds, 1), **_to_json(result)}
            files.write(done.places[name], json.dumps(content) + "\n")
            done.results[name] = (result, seconds)
            progress(f"{done.figure.id}, {done.data.name}: {name}, {seconds:.1f} s")
        yield _judged(one)


def _begun(figure: Figure, data: Data, out: Path) -> _FigureOnData:
    key = {"figure": figure.id, "seeds": data.seeds, "data": data.digest, "code": _code(figure)}
    folder = out / file_name(figure.id) / file_name(data.name)
    folder.mkdir(parents=True, exist_ok=True)
    return _FigureOnData(
        figure, data, key, {name: folder / f"{file_name(name)}.json" for name in tasks(figure, data)}, {}
    )


def _judged(one: _FigureOnData) -> tuple[StoredFigure, tuple[Curve, ...]]:
    figure, data, seeds = one.figure, one.data, range(one.data.seeds)
    ordered = [one.results[name][0] for name in one.places]
    seen = stored.judged(figure, data.name, ordered, seeds)
    dull = all(decision.outcome is not Observed.NOT_SEEN for decision in seen)
    curves = merged(curve for result in ordered for curve in result.curves)
    record = StoredFigure(
        figure.id,
        data.name,
        f"{', '.join(path.name for path in data.paths)}, sha256 {data.digest}..." if data.paths else "generated",
        tuple(seeds),
        date.today().isoformat(),
        commit(),
        round(sum(seconds for _, seconds in one.results.values()), 1),
        seen,
        tuple(note for result in ordered for note in result.notes),
        () if dull else tuple(stored.kept(curves)),
    )
    return record, curves


def merged(curves: Iterable[Curve]) -> tuple[Curve, ...]:
    """Curves with each line once: where several tasks have points of it they are joined, in order."""
    found: dict[tuple[str, str], Curve] = {}
    for curve in curves:
        line = (curve.panel, curve.label)
        known = found.get(line)
        found[line] = curve if known is None else known._replace(x=(*known.x, *curve.x), y=(*known.y, *curve.y))
    return tuple(found.values())


def commit(folder: Path = Path(__file__).parent) -> str:
    """The commit of the checkout that ``folder`` is in, that of this package; empty where there is none.

    It is marked where code was changed since. Shipped results, and pages that report them, are not code: else the first
    figure that is stored would mark all that follow.
    """
    from subprocess import run as call

    def git(*words: str) -> str:
        result = call(["git", *words], cwd=folder, capture_output=True, text=True, check=False)
        return result.stdout.strip()

    try:
        head = git("rev-parse", "HEAD")
        changed = head and git("status", "--porcelain", "--untracked-files=no", "--", ":(top)*.py")
    except OSError:
        return ""
    return f"{head[:10]} and changes" if changed else head[:10]


def _source(figure: Figure, name: str) -> Source:
    return next(source for source in figure.sources if source.name == name)


def _own(figure: Figure, path: Path) -> Data:
    """The data of one file: those of the source that it is, or of somebody's own, named after it."""
    plain = path.name.removesuffix(".gz").removesuffix(".bz2")
    source = next((source for source in figure.sources if source.files[:1] == (plain,)), Source(plain))
    return Data(source.name, (path,), source.seeds)


def _files(source: Source, folder: Path | None) -> tuple[Path, ...]:
    """The files of a source in a folder; none unless all are there."""
    if folder is None:
        return ()
    options = [[folder / f"{name}{suffix}" for suffix in COMPRESSED] for name in source.files]
    there = [next((path for path in paths if path.is_file()), None) for paths in options]
    return tuple(path for path in there if path is not None) if None not in there else ()


def _tasks(id: str, data: Data) -> Mapping[str, Callable[[], Result]]:
    figure = stored.get(id)
    return figure.tasks(_read(id, data.paths) if data.paths else None, tuple(range(data.seeds)))


@lru_cache(_KEPT)
def _read(id: str, paths: tuple[Path, ...]) -> Any:
    read = stored.get(id).read
    assert read is not None
    return read(paths)


def _worked(k: int, id: str, data: Data, name: str) -> tuple[int, str, Result, float]:
    """A task of the k-th run: its name, its result, and the seconds of a processor that it took, whatever else the
    machine does."""
    begun = time.process_time()
    with threadpool_limits(1):
        result = _tasks(id, data)[name]()
    return k, name, result, time.process_time() - begun


def _code(figure: Figure) -> str:
    """A digest of the theory that is of no paper, and of the modules that run the figures of this one."""
    module = import_module(plugins.every()[figure.id.split("/")[0]].experiments)
    theory = plugins.inside(Path(plugins.__file__).parent)
    paths = [path for name, path in theory.items() if name.endswith(".py") and not name.startswith("fedtheory/papers/")]
    paths += sorted(Path(str(module.__file__)).parent.glob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def _known(path: Path, key: Mapping[str, Any]) -> tuple[Result, float] | None:
    """Return a task's stored result and seconds, if the file is of the same figure, code, data and seeds."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return (_from_json(content), float(content["seconds"])) if content["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _to_json(result: Result) -> dict[str, Any]:
    numbers = {name: [stored.nulls(span) for span in spans] for name, spans in result.numbers.items()}
    return {"numbers": numbers, "curves": [curve._asdict() for curve in result.curves], "notes": list(result.notes)}


def _from_json(content: Mapping[str, Any]) -> Result:
    read = stored.floats
    numbers = {name: tuple(Span(*read(ends)) for ends in spans) for name, spans in content["numbers"].items()}
    curves = tuple(Curve(**{**c, "x": tuple(c["x"]), "y": tuple(c["y"])}) for c in content["curves"])
    return Result(numbers, curves, tuple(content["notes"]))
