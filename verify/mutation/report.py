"""Tables and sentences on the checker's verdicts on mutants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rich.table import Table

from verify.base.verdict import Verdict
from verify.mutation import Mutant
from verify.mutation.attack import Attack
from verify.mutation.bank import OPERATORS
from verify.mutation.selftest import FOR_ALL, Alarm, Label, Trial


class Calibration(NamedTuple):
    """False alarms by distribution, among so many true cases of each, at a level."""

    level: float
    cases: int
    wrong: Mapping[str, int]


_METHODS = ("exact", "spectral", "search", "sdp", "sequential")


def brief(trial: Trial, mutant: Mutant) -> str:
    """One mutant's fate in a line."""
    return f"{trial.id} {trial.label}: {mutant.place}: {mutant.text}; {trial.reason}"


def by_operator(trials: Sequence[Trial], mutants: Sequence[Mutant]) -> Table:
    """For each sort of change, how many mutants have which label, and of the false ones how many were killed."""
    table = Table("change", box=None, pad_edge=False)
    for name in ("mutants", *Label, "killed at quick", "killed at full", "survived"):
        table.add_column(str(name), justify="right")
    pairs = list(zip(trials, mutants, strict=True))
    for operator in (*OPERATORS, "all"):
        chosen = [t for t, m in pairs if operator in (m.operator, "all")]
        false = [t for t in chosen if t.label is Label.FALSE]
        counts = [sum(t.label is label for t in chosen) for label in Label]
        killed = [sum(t.budget == budget for t in false) for budget in ("quick", "full", None)]
        table.add_row(operator, str(len(chosen)), *map(str, counts), *map(str, killed))
    return table


def by_region(attacks: Sequence[Attack], mutants: Sequence[Mutant]) -> Table:
    """For each sort of change in a region, how many mutants are false, and what the checker says of these."""
    table = Table("in a region", box=None, pad_edge=False)
    for name in ("mutants", "do not run", "false", "refuted at quick", "refuted", "proved or certified", "left"):
        table.add_column(name, justify="right")
    pairs = list(zip(attacks, mutants, strict=True))
    for sort in (*sorted({m.operator for m in mutants}), "all"):
        chosen = [a for a, m in pairs if sort in (m.operator, "all")]
        false = [a for a in chosen if a.false]
        refuted = sum(a.verdict is Verdict.REFUTED for a in false)
        believed = sum(a.believed for a in false)
        counts = [len(chosen), sum(a.quick is None for a in chosen), len(false)]
        counts += [sum(a.quick is Verdict.REFUTED for a in false), refuted, believed]
        table.add_row(sort, *map(str, counts), str(len(false) - refuted - believed))
    return table


def standing(attacks: Sequence[Attack], mutants: Sequence[Mutant]) -> list[str]:
    """A line for each mutant that is false in a region and not refuted: those that are believed first."""
    pairs = [(a, m) for a, m in zip(attacks, mutants, strict=True) if a.false and a.verdict is not Verdict.REFUTED]
    return [
        f"{a.id} is false and {a.verdict}: {m.place}: {m.text}; {a.note}"
        for a, m in sorted(pairs, key=lambda pair: not pair[0].believed)
    ]


def by_method(trials: Sequence[Trial]) -> Table:
    """For each method, on the false mutants: to how many it applied, how many it alone killed at the quick budget."""
    table = Table("method", box=None, pad_edge=False)
    for name in ("applied", "killed alone", "rate"):
        table.add_column(name, justify="right")
    false = [t for t in trials if t.label is Label.FALSE]
    for method in _METHODS:
        tried = [t for t in false if method in t.tried]
        killed = sum(method in t.killed for t in tried)
        table.add_row(method, str(len(tried)), str(killed), percent(killed, len(tried)))
    return table


def percent(part: int, whole: int) -> str:
    """A share, rounded down to a tenth of a percent, so that 100 % means all."""
    return "-" if not whole else f"{1000 * part // whole / 10:g} %"


def sentences(trials: Sequence[Trial], budget: str) -> list[str]:
    """The rates that count, then every mutant that is false and survived, or whose truth is not known."""
    false = [t for t in trials if t.label is Label.FALSE]
    quick = sum(t.budget == "quick" for t in false)
    found = [f"false mutants killed at budget quick: {quick} of {len(false)} ({percent(quick, len(false))})"]
    if budget == "full":
        killed = sum(t.budget is not None for t in false)
        found.append(f"false mutants killed at budget full: {killed} of {len(false)} ({percent(killed, len(false))})")
    proved = sum(bool(t.vouching) and t.vouching <= FOR_ALL for t in false)
    certified = sum(bool(t.vouching) for t in false) - proved
    found.append(
        f"false mutants with a proof: {proved}; certified at the parameters tried, false at others: {certified}"
    )
    compared = [t for t in false if t.contradicted is not None]
    wrong = sum(bool(t.contradicted) for t in compared)
    found.append(f"certified at the very parameters of a counterexample: {wrong} of {len(compared)}")
    undecided = sum(t.label is Label.OPEN for t in trials)
    live = sum(t.label in (Label.FALSE, Label.TRUE, Label.OPEN) for t in trials)
    found.append(f"neither refuted nor shown true: {undecided} of {live} ({percent(undecided, live)})")
    return found


def left_over(trials: Sequence[Trial], mutants: Sequence[Mutant]) -> list[str]:
    """A line for each mutant that is false and survived, or is neither refuted nor shown true."""
    pairs = zip(trials, mutants, strict=True)
    return [brief(t, m) for t, m in pairs if t.label is Label.OPEN or (t.label is Label.FALSE and t.budget is None)]


def false_alarms(found: Sequence[Alarm], claims: int, seeds: int) -> list[str]:
    """Lines about claims that hold and were refuted."""
    lines = [f"false alarms: {len(found)} in {claims * seeds} searches ({claims} claims that hold, {seeds} seeds each)"]
    return lines + [f"{alarm.id} was refuted at seed {alarm.seed}" for alarm in found]


def calibrated(strict: Calibration, loose: Calibration, found: Mapping[str, float]) -> list[str]:
    """Lines about the sequential tests: error rates at two levels, and their power at the smallest defect stated."""
    lines = []
    for level, cases, wrong in (strict, loose):
        rates = [100 * count / cases for count in wrong.values()]
        lines.append(
            f"sequential tests at level {level:g}: {sum(wrong.values())} false alarms in {cases} true cases of each of "
            f"{len(wrong)} distributions, at most {max(rates):.2g} % in one"
        )
    share = 100 * min(found.values())
    return [*lines, f"means off by the smallest defect stated: found in at least {share:.4g} % of the cases"]


def to_json(
    trials: Sequence[Trial],
    mutants: Sequence[Mutant],
    attacks: Sequence[Attack],
    local: Sequence[Mutant],
    alarms: Sequence[Alarm],
) -> dict[str, Any]:
    """All trials, attacks (of the mutants ``local`` to a region) and alarms as one JSON object."""
    return {
        "mutants": [
            {
                "id": t.id,
                "change": m.operator,
                "place": m.place,
                "text": m.text,
                "label": str(t.label),
                "killed by": sorted(t.killed),
                "budget": t.budget,
                "vouching": sorted(t.vouching),
                "contradicted": t.contradicted,
                "reason": t.reason,
            }
            for t, m in zip(trials, mutants, strict=True)
        ],
        "regions": [
            {
                "id": a.id,
                "change": m.operator,
                "place": m.place,
                "text": m.text,
                "false": a.false,
                "quick": None if a.quick is None else str(a.quick),
                "full": None if a.full is None else str(a.full),
                "note": a.note,
            }
            for a, m in zip(attacks, local, strict=True)
        ],
        "alarms": [{"claim": a.id, "seed": a.seed} for a in alarms],
    }
