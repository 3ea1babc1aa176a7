"""The command ``fedtheory repair``: the least change that makes a refuted claim true."""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedtheory.claims import Claim
    from verify.repair.searching import Repair, Search

_DESCRIPTION = """\
Search for the least change that makes a refuted claim true: another constant, factor, term, sign, exponent or grouping,
a letter that is missing, something else that the code of a quantity reads, another start of the runs, a stronger
hypothesis. Changes are tried from the least on, each against the counterexamples known so far and by a short search;
what stands is examined by all methods. The first line says with which verdict the repaired claim holds: supported means
that searches found nothing against it, not that it is shown. With --out, what was tried is stored: an interrupted
search resumes when the same command is run again.
"""


def register(
    command: Callable[..., argparse.ArgumentParser],
    owned: Callable[[argparse.ArgumentParser, str], None],
    at_least: Callable[..., Callable[[str], int]],
) -> None:
    """Add the command; the arguments as :mod:`verify.cli.arguments` has them."""
    added = command(
        "repair",
        f"{__name__}.run_repair",
        "search for the least change that makes a refuted claim true",
        "fedtheory repair fedadmm/eq-45/use",
        "fedtheory repair prox/faster --own examples/proximal_point.py --out repair.json",
        description=_DESCRIPTION,
        found="no change was found that makes the claim true",
    )
    added.add_argument(
        "id",
        nargs="?",
        metavar="ID",
        help="a refuted claim, as `fedtheory list --verdict refuted` lists them; of a file with a single one it may be "
        "left out, or be the file",
    )
    owned(added, "its claims can be repaired too")
    added.add_argument("--seed", type=at_least(0), metavar="S", default=0, help="random seed (default: 0)")
    added.add_argument(
        "--seconds",
        type=at_least(1),
        metavar="S",
        help="after which no trial begins (default: none; the number of trials is limited)",
    )
    added.add_argument(
        "--effort",
        type=at_least(1),
        metavar="N",
        help="how much is tried: a short search counts 1, a check by all methods 10 (default: 600)",
    )
    added.add_argument("--out", type=Path, metavar="FILE.json", help="store the result and what was tried there")


def run_repair(args: Any) -> int:
    """Search, and report the least repair; 1 where none is found."""
    from verify.cli import answering, own_files
    from verify.repair.searching import Search
    from verify.repair.trials import EFFORT, Bench
    from verify.report import consoles
    from verify.results.places import writable

    claim = own_files.asked(args.own, args.id)
    out = None if args.out is None else writable(args.out)
    begun = time.monotonic()
    key = _key(claim, args)
    known = {} if out is None else _known(out, key)
    log = consoles.console(sys.stderr)
    until = math.inf if args.seconds is None else begun + args.seconds
    bench = Bench(claim, args.seed, EFFORT if args.effort is None else args.effort, until)
    _check_refuted(bench)
    search = Search(bench, known)
    with consoles.progress(log, "kinds of change", len(search.agenda)) as advance:
        search.advance = advance
        search.say = lambda text: consoles.say(log, text)
        try:
            search.run()
        finally:
            # Also if the process is asked to end.
            answering.add(repairs=_repairs(search))
            if out is not None:
                _store(out, key, search)
    consoles.say(consoles.console(sys.stdout), *report_lines(search))
    return 0 if search.found.repairs else 1


def _check_refuted(bench: Any) -> None:
    """``ValueError`` for a claim that is not refuted."""
    from verify import results

    shipped = results.shipped().entries.get(bench.claim.id)
    word = shipped["verdict"] if shipped is not None else bench.check(bench.claim).word
    if word != "refuted":
        raise ValueError(f"{bench.claim.id} is {word}, and only a claim that is refuted can be repaired")


def report_lines(search: Search) -> list[str]:
    """Return the lines that report a search; the first gives the verdict of the repaired claim."""
    from verify.report import statement

    found, claim = search.found, search.claim
    rest = "; the others change as much or more" if found.complete else "; then the search ended"
    tried = f"{found.tried} of {found.of} kinds of change were tried{rest if found.tried < found.of else ''}"
    first = found.first
    if first is None:
        ended = "the time was over before a change was tried: give more by --seconds"
        return [f"no repair of {claim.id} was found", tried if found.of else ended]
    others = [r for r in found.repairs if r is not first]
    lines = _repair(claim, first)
    for other in sorted(others, key=lambda r: r.change.cost):
        lines.append(f"also {other.word}: {other.change.text}{_remark(other)}")
        lines += [f"  {line}" for line in statement.text(other.change.claim)]
    return [*lines, tried]


def _repair(claim: Claim, repair: Repair) -> list[str]:
    """A repair in words."""
    from verify.report import statement

    changed = repair.change.claim
    begun = "algorithm" in changed.changes
    elsewhere = changed.setting is not claim.setting and not begun
    hedged = ", which is not a proof" if repair.word == "supported" else ""
    hedged += ", in another setting of the paper" if elsewhere else ""
    lines = [f"{repair.word}{hedged}: {claim.id} with {repair.change.text}{_remark(repair)}"]
    lines += [f"  {line}" for line in statement.text(changed)]
    if elsewhere or begun:
        lines.append(f"  of {changed.setting.text}")
    known = {h.text for h in claim.requires}
    added = [h.text for h in changed.requires if h.text not in known]
    lines += [f"  under the further hypothesis {text}" for text in added]
    lines.append(f"  {repair.verdict.note.split('; margin at')[0]}")
    if added or repair.word == "supported":
        # A hypothesis that few instances meet may leave little of the claim.
        lines.append(f"  {repair.verdict.instances} instances met the hypotheses")
    if repair.word != "proved":
        lines.append(f"  searches at {repair.searches} further seeds found nothing")
    if repair.nearer:
        lines.append(f"  a short search finds nothing against {repair.nearer} either")
    return lines


def _remark(repair: Repair) -> str:
    return f" ({repair.change.remark})" if repair.change.remark else ""


def _key(claim: Claim, args: Any) -> dict[str, Any]:
    """Return what identifies stored trials: the claim, the seed and the code."""
    from verify.base import neighbours
    from verify.report import statement
    from verify.results import digests as code

    return {
        "id": claim.id,
        "statement": statement.text(claim),
        "hypotheses": [h.text for h in claim.requires],
        "seed": args.seed,
        "code": code.everything(),
        "file": "" if args.own is None else neighbours.digest(args.own),
    }


def _known(path: Path, key: dict[str, Any]) -> dict[str, bool]:
    """Return the trials that the file records, none if there is no file or it belongs to other code.

    Raise ``ValueError`` if the file holds anything else.
    """
    from verify.evidence import formats

    if not path.exists():
        return {}
    stored = formats.read(path, formats.AUDIT)
    if not isinstance(stored, dict) or stored.get("of", {}).get("id") != key["id"]:
        raise ValueError(f"{path} holds no repair of {key['id']}: name another file, or remove it")
    tried = stored.get("tried", {}) if stored["of"] == key else {}
    return {text: stands for text, stands in tried.items() if isinstance(stands, bool)}


def _store(path: Path, key: dict[str, Any], search: Search) -> None:
    from verify.results import files

    repairs = _repairs(search)
    content = {"of": key, "complete": search.found.complete, "repairs": repairs, "tried": search.known}
    files.write(path, json.dumps(content, indent=2) + "\n")


def _repairs(search: Search) -> list[dict[str, Any]]:
    """Return the repairs found as JSON data: the one that is reported first, then the smallest change first."""
    from verify.report import statement

    return [
        {
            "change": r.change.text,
            "sort": r.change.sort,
            "cost": round(r.change.cost, 3),
            "remark": r.change.remark,
            "verdict": r.word,
            "note": r.verdict.note,
            "margin": r.verdict.margin,
            "instances": r.verdict.instances,
            "statement": statement.text(r.change.claim),
            "hypotheses": [h.text for h in r.change.claim.requires],
            "nearer": r.nearer,
        }
        for r in sorted(search.found.repairs, key=lambda r: (r is not search.found.first, r.change.cost))
    ]
