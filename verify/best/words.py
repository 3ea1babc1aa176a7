"""Describe search results in words."""

from __future__ import annotations

from fractions import Fraction

from verify.base.case import Case
from verify.base.plain import counted
from verify.best.factors import Interval
from verify.best.potentials import Potential
from verify.best.record import Record
from verify.best.states import AtInstance
from verify.best.subjects import INEQUALITY, MULTIPLE, OF_POTENTIAL, RATE, subject
from verify.comparisons import naming
from verify.tightness.sweep import rounded

#: The errors of a recipe that describes no instance.
_NONE = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError)
#: Characters of a fraction that is printed as it is.
_SHORT = 20


def number(value: Fraction, up: bool = False) -> str:
    """A fraction with its decimals, or where it is long nine digits, rounded so that a bound stays one."""
    if value.denominator == 1:
        return str(value)
    decimals = rounded(value, up, 9)
    if len(str(value)) > _SHORT:
        return decimals
    return str(value) if Fraction(decimals) == value and len(str(value)) < 8 else f"{value} ({decimals})"


#: What the number of a claim means.
_MEANS = {
    RATE: "the least c for which E[the potential after a step] <= c (the potential)",
    OF_POTENTIAL: "the least c for which E[the potential after a step] <= c (the potential), which gives the bound",
    MULTIPLE: "the least c for which left <= c right",
}


def plain(found: Record) -> dict[str, object]:
    """Return the result in a few words: the constant where it is known exactly, what it means, its ends, and where the
    lower one is attained."""
    ends = found.found
    if found.letter:
        holds, fails = (Fraction(one.letters[found.letter]) for one in ends)
        means = f"the values of {found.letter} up to which what is stated holds, and at which it fails"
        return {"means": means, "holds_at": str(holds), "fails_at": str(fails), "letters": place(ends[0])}
    (one,) = ends
    name = RATE if found.weights is not None else found.of.name
    return {
        "constant": str(one.lower) if one.closed else None,
        "means": _MEANS.get(name, f"the least {name} that holds"),
        "lower": None if one.lower is None else str(one.lower),
        "upper": None if one.upper is None else str(one.upper),
        "stated": str(one.printed),
        "letters": place(one),
        "attained": _state(found, one.witness) if isinstance(one.witness, AtInstance) else None,
    }


def report_lines(found: Record) -> list[str]:
    """The lines of a report."""
    strict = any(comparison.relation == "<" for comparison in found.claim.statement.comparisons)
    # The least number that holds with <= need not hold with <: both sides may be 0.
    aside = ["  the claim says <, and this concerns <=: where both sides are 0 the first does not hold"]
    return _result_lines(found) + (aside if strict else [])


def _result_lines(found: Record) -> list[str]:
    if found.letter:
        return _threshold(found)
    (one,) = found.found
    if found.weights is not None:
        return _potential(found, one)
    name = found.of.name
    varied = f", where {' and '.join(found.over)} {'is' if len(found.over) == 1 else 'are'} best" if found.over else ""
    return [
        f"{found.claim.id} at {place(one)}{varied}",
        f"  the smallest {name} that holds: {_interval(one)}",
        f"  stated{_dropped(found)}: {number(one.printed)}{_compared(one, name)}",
        *_shown(one, found),
    ]


def _dropped(found: Record) -> str:
    """Return a remark if the varied parameters may violate hypotheses of the statement; empty otherwise."""
    if not found.over:
        return ""
    kept = len(found.of.claim.requires) == len(found.claim.requires)
    return "" if kept else f", hypotheses on {' and '.join(found.over)} aside"


def _potential(found: Record, one: Interval) -> list[str]:
    assert found.weights is not None
    formula, name = Potential(found.weights, one).formula, "V" if "V" not in found.weights else "W"
    lines = [f"{found.claim.id} at {place(one)}", f"  the best potential found: {name} = {formula}"]
    if one.upper is not None:
        lines.append(f"  E {name} after a step <= {number(one.upper, True)} {name}")
    if one.lower is not None:
        lines.append(f"  no weights give less than {number(one.lower)}; weighed were {', '.join(found.weights)}")
    else:
        lines.append(f"  other weights may give less; weighed were {', '.join(found.weights)}")
    if (stated := _stated(found, one)) is not None:
        lines.append(f"  stated for the potential of the claim: {number(stated)}")
    return [*lines, *_shown(one, found)]


def _stated(found: Record, one: Interval) -> Fraction | None:
    """The rate that the claim states, if it states one."""
    try:
        of = subject(found.claim)
        rate = of.stated(of.claim.instances.build(one.recipe, True))
    except _NONE:
        return None
    return rate if of.name != MULTIPLE else None


def _without(found: Record) -> list[str]:
    """The line that names the hypotheses on the letter, which are not used; none if there are none."""
    used = found.of.claim.requires
    dropped = [hypothesis.text for hypothesis in found.claim.requires if hypothesis not in used]
    return [f"  without the hypothesis {' and '.join(dropped)}: how far it may go is what is asked"] if dropped else []


def _threshold(found: Record) -> list[str]:
    holds, fails = found.found
    letter, others = found.letter, {k: v for k, v in holds.letters.items() if k != found.letter}
    inside, outside = (Fraction(one.letters[letter]) for one in found.found)
    return [
        f"{found.claim.id} at {', '.join(f'{name} = {value}' for name, value in others.items())}",
        f"  the {found.of.name} that is stated holds at {letter} = {number(inside)} and fails at {letter} ="
        f" {number(outside)}",
        *(
            []
            if found.of.name == INEQUALITY
            else [f"  there it is {number(holds.printed)} and {number(fails.printed)}"]
        ),
        *_without(found),
        *_shown(holds, found),
        *_shown(fails, found),
    ]


def every_n(rate: Fraction | None, why: str) -> str:
    """The line about every number of clients."""
    if rate is None:
        return f"  for every number of clients nothing is proved: {why}"
    proof = "is proved, by multipliers in closed form"
    return f"  for every number of clients that the hypotheses allow, {number(rate)} {proof}"


def place(of: Interval) -> str:
    """The letters and their values."""
    return ", ".join(f"{name} = {value}" for name, value in of.letters.items())


def _interval(of: Interval) -> str:
    if of.lower is not None and of.lower == of.upper:
        return f"exactly {number(of.lower)}"
    if of.upper is None:
        below = "" if of.lower is None else f"at least {number(of.lower)}, "
        return f"{below}nothing is known from above"
    if of.lower is None:
        return f"at most {number(of.upper, True)}, nothing is known from below"
    return f"between {number(of.lower)} and {number(of.upper, True)}"


def _compared(of: Interval, name: str) -> str:
    # A bound may hold whose potential grows now and then, and where it begins and ends is not looked at here.
    through = " of its potential" if name == OF_POTENTIAL else ""
    if of.lower is not None and of.lower > of.printed:
        return f", which does not hold{through}"
    if of.upper is None or of.upper > of.printed:
        return ""
    if of.upper == of.printed:
        return f", which is the best possible{through}" if of.lower == of.upper else f", which holds{through}"
    if not name.startswith("rate") or not 0 <= of.printed < 1:
        return f", {float(of.printed / of.upper):.4g} times as large as need be" if of.upper > 0 else ""
    speed = (1 - of.upper) / (1 - of.printed)
    return f": 1 - rate is {float(rounded(speed, False, 5)):g} times as large as stated" if speed > 1 else ""


def _shown(of: Interval, found: Record) -> list[str]:
    lines = []
    if of.upper is not None:
        used = sum(len(step.multipliers) for step in of.steps.values())
        lines.append(f"  above: a certificate with {counted(used, 'rational multiplier')}, checked exactly")
    if isinstance(of.witness, AtInstance):
        lines.append(f"  below: attained in fractions at {_state(found, of.witness)}")
    elif of.witness is not None:
        rows = sum(len(names) for names, _ in of.witness.gram.values())
        lines.append(
            f"  below: a function of the class by the Gram matrix of {counted(rows, 'vector')}, checked in fractions"
        )
    if of.note:
        lines.append(f"  {of.note}")
    return lines


def _state(found: Record, at: AtInstance) -> str:
    """The instance and the state in words, as its recipe has them."""
    claim = found.of.claim
    try:
        case = Case(claim, at.recipe)
        return f"{case.instance.text}{naming.clause(case, at.point)}"
    except _NONE:
        return "what is not an instance of the claim"
