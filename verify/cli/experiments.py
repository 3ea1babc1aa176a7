"""The command ``fedtheory experiment``: figures and tables of the papers, on the user's data."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fedtheory.experiments import SEEDS

#: The default folder of results.
OUT = "fedtheory-experiments"

_DESCRIPTION = f"""\
Rerun figures and tables of the papers, over {SEEDS} seeds or more with all methods tuned in the same way, and report
which of the statements in the text are seen. FILE is data of your own, in the format of the paper's data, which for
most figures is LIBSVM's text format, or numbers in a .csv file, the label last; in a FOLDER, the paper's own data files
are looked up by name, and missing ones are listed. Each task is saved in DIR as soon as it is finished: an interrupted
run resumes when the same command is run again.
"""


def register(command: Callable[..., argparse.ArgumentParser], at_least: Callable[..., Any]) -> None:
    """Add the command."""
    added = command(
        "experiment",
        f"{__name__}.run_experiment",
        "rerun a figure or table of a paper on your data; without a name, list them",
        "fedtheory experiment locodl/figure-1 --data a5a --out results",
        "fedtheory experiment fedadmm/figure-2 --seeds 20",
        description=_DESCRIPTION,
    )
    added.add_argument(
        "names", nargs="*", metavar="NAME", help="figures, tables, or papers for all of theirs; or `all`"
    )
    added.add_argument("--data", type=Path, metavar="FILE-OR-FOLDER", help="a data file, or a folder of them")
    added.add_argument(
        "--seeds",
        type=at_least(1, 10_000),
        metavar="N",
        help=f"number of seeds (default: {SEEDS}, and more of the paper's data where so few disagree)",
    )
    added.add_argument(
        "--jobs", type=at_least(1, 4096), metavar="N", help="number of processes (default: one per core)"
    )
    added.add_argument("--out", type=Path, metavar="DIR", default=Path(OUT), help=f"output directory (default: {OUT})")
    added.add_argument(
        "--markdown", action="store_true", help="print the shipped results of all figures as a Markdown page"
    )
    added.add_argument("--carry", action="store_true", help="store the findings as the shipped results of the package")


def run_experiment(args: argparse.Namespace) -> int:
    """Run figures; list them where none is named."""
    from fedtheory import naming
    from verify.audit import sweeping
    from verify.base.plain import clean
    from verify.experiments import figures as stored
    from verify.experiments import running
    from verify.experiments.deciding import LEAST
    from verify.report import consoles, figures
    from verify.results import files
    from verify.results.places import directory

    if args.markdown:
        from verify.report import experiments

        print(experiments.page(), end="")
        return 0
    report = consoles.console(sys.stdout)
    known = stored.figures()
    if not args.names:
        consoles.say(report, *(f"{figure.id}  {figure.where}: {figure.gist}" for figure in known.values()))
        return 0
    names = known if args.names == ["all"] else args.names
    # An unknown id is reported with similar ones.
    meant = [[name] if name in known else naming.select([name], tuple(known), [name]) or [name] for name in names]
    chosen = [stored.get(id) for id in dict.fromkeys(id for ids in meant for id in ids)]
    if args.data is not None and args.data.is_file() and len(chosen) > 1:
        raise ValueError(f"a file is data of one figure, and {len(chosen)} are named")
    if args.seeds and args.seeds < LEAST and args.carry:
        raise ValueError(f"shipped results need at least {LEAST} seeds, got {args.seeds}")
    planned = [
        (figure, data._replace(seeds=args.seeds or data.seeds))
        for figure in chosen
        for data in running.found(figure, args.data)
    ]
    if not planned:
        wanted = (f"{f.id} on {s.name}{s.missing and f', {s.missing}'}" for f in chosen for s in f.sources)
        raise ValueError(f"there are no data of {'; '.join(wanted)}: --data names the file or folder that has them")
    # All data are read, and complained of, before any work.
    count = sum(len(running.tasks(figure, data)) for figure, data in planned)
    out = directory(args.out)
    log = consoles.console(sys.stderr)
    with consoles.progress(log, "tasks", count) as advance:
        found = running.run(planned, out, args.jobs or sweeping.cores(), advance)
        for (figure, data), (record, drawn) in zip(planned, found, strict=True):
            title = f"{figure.where}: {data.name}, medians of {data.seeds} seeds"
            picture = out / f"{naming.file_name(figure.id)}_{naming.file_name(data.name)}.png"
            if drawn:
                with files.replacing(picture) as temporary:
                    figures.draw_curves(title, drawn, temporary)
            if args.carry:
                stored.store(record)
            consoles.say(report, clean(f"{figure.id} on {data.name}: {record.data}; {record.seconds:.0f} s of work"))
            consoles.say(report, *([f"  {picture}"] if drawn else []), *(f"  {note}" for note in record.notes))
            consoles.say(report, *([f"  {figure.fair}"] if figure.fair else []), *(f"  {one}" for one in record.seen))
    for figure in chosen:
        ran = {data.name for known, data in planned if known is figure}
        missing = [s for s in figure.sources if s.name not in ran and (args.data is None or args.data.is_dir())]
        consoles.say(
            report, *(f"{figure.id} on {s.name}: no such data{s.missing and f', {s.missing}'}" for s in missing)
        )
    return 0
