"""The page on the papers' experiments: which of their statements are seen on data, which not, and what follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fedtheory import plugins
from fedtheory.experiments import Figure
from verify.evidence.record import SAID
from verify.experiments import figures as stored
from verify.experiments.deciding import LEVEL, Observed
from verify.experiments.figures import StoredFigure

_HEAD = f"""\
# Experiments

What the papers say about their figures and tables, checked on data. `make experiments` runs everything and writes
this page. `fedtheory experiment NAME --data FILE --out DIR`, with a name from the headings below, runs one experiment
on your own data, in the format of the paper's, which for most figures is LIBSVM's text format, or CSV of numbers with
the label last; if it is interrupted, the same command goes on from what is done.

A statement is *seen* if the hypothesis that it holds for at most half of all seeds is rejected, and *not seen* if the
opposite hypothesis is, each at level {LEVEL / 2:g}, by tests that allow seeds to be added at any time; six
seeds that agree suffice. It is *undecided* if neither is rejected: the seeds disagree, or a run was stopped
before it reached a target that would settle it. None of this is a verdict on a theorem.
"""


def page() -> str:
    """The page, in Markdown."""
    return "\n".join([_HEAD, *_summary(), *(line for paper in _papers() for line in _paper(paper))])


def _papers() -> list[plugins.Paper]:
    return [paper for paper in plugins.every().values() if _figures(paper)]


def _figures(paper: plugins.Paper) -> list[Figure]:
    return [figure for id, figure in stored.figures().items() if id.split("/")[0] == paper.id]


def _summary() -> Iterator[str]:
    yield "| paper | " + " | ".join(SAID) + " |"
    yield "| --- |" + " ---: |" * len(SAID)
    for paper in _papers():
        found = [one for f in _figures(paper) for record in stored.records(f.id) for one in record.seen]
        counts = [sum(one.outcome == outcome for one in found) for outcome in SAID]
        yield f"| {paper.title} | " + " | ".join(map(str, counts)) + " |"
    seconds = sum(r.seconds for paper in _papers() for f in _figures(paper) for r in stored.records(f.id))
    yield f"\nAll of these runs took {seconds / 60:.0f} minutes of one processor together.\n"


def _paper(paper: plugins.Paper) -> Iterator[str]:
    yield f"## {paper.title}\n"
    figures = _figures(paper)
    for fair in dict.fromkeys(figure.fair for figure in figures if figure.fair):
        places = "; ".join(figure.where for figure in figures if figure.fair == fair)
        yield f"How methods were tuned ({places}): {fair}.\n"
    for figure in figures:
        yield f"### {figure.where}: {figure.gist} (`{figure.id}`)\n"
        yield from _figure(figure, stored.records(figure.id))


def _figure(figure: Figure, records: Sequence[StoredFigure]) -> Iterator[str]:
    for record in records:
        if not record.seen:
            continue
        if not record.seeds:
            yield f"**{record.source}**: {record.seen[0].outcome}{f', {record.data}' if record.data else ''}.\n"
            continue
        seconds = f"{record.seconds:.0f} s of work"
        run = f"{len(record.seeds)} seeds; {record.date}, commit {record.commit}; {seconds}"
        yield f"**{record.source}** ({record.data}; {run})\n"
        yield "| the text says | outcome | seeds and numbers |"
        yield "| --- | --- | --- |"
        for one in record.seen:
            outcome = f"**{one.outcome}**" if one.outcome is Observed.NOT_SEEN else str(one.outcome)
            yield f"| {_cell(one.text)} | {outcome} | {_cell(one.summary)} |"
        yield ""
    if figure.remark:
        yield f"What follows: {figure.remark}\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
