"""The words of a proof in LaTeX: where known inequalities come from, what names stand for, which case is meant.

The data are those of :mod:`verify.multipliers.reasons`, whose ``str`` is the same in English. What has no formula, as a
name that stands nowhere in the proof, is left to the English words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from verify.export.for_all_letters import SUMMED
from verify.export.latex_names import function_symbol, gradient_of, letter_of
from verify.export.latex_reading import Symbols
from verify.export.latex_values import added, combination, in_order, in_sentence, number, point, size, terms_of, vector
from verify.export.latex_words import mathematical, plain
from verify.export.objects import Reasons
from verify.multipliers import reasons as data
from verify.multipliers.ratios import terms
from verify.multipliers.reasons import Reason, without_kinds
from verify.reading.worlds import WorldValue

_ADD = (
    "Up to a positive factor, the left side less the right one is a sum over the clients. So it is enough that what "
    "each client adds is at most 0, of each sort of clients, up to what is known only in the sum over all of them: "
    "that is marked as shared, and has the same weight for all clients, without letters of a client's own."
)
_SIGNS = {"!=": r"\ne", "==": "=", "<=": r"\le", "<": "<", ">": ">", ">=": r"\ge"}
_OPPOSITE = {"!=": "==", "==": "!=", "<=": ">", "<": ">="}


# Where known inequalities come from


def words(item: Mapping[str, Any], reasons: Reasons, symbols: Symbols) -> str:
    """The source of a known inequality."""
    reason = reasons.of(item)
    written = "" if reason is None else _source(reason, symbols)
    both = ", both ways" if isinstance(reason, data.Curvatures) and item.get("both") else ""
    return (written or mathematical(without_kinds(item["words"]).rstrip(".,"))) + both


def _source(reason: Reason, symbols: Symbols) -> str:
    """The source of an inequality; empty where that has no formula."""
    match reason:
        case data.Phrase():
            return _phrase(reason, symbols)
        case data.Curvatures():
            return f"{_whose(reason)} {_curved(reason.least, reason.largest, symbols)}, {_between(reason, symbols)}"
        case data.Smoothness():
            who = r"each \(f_{i}\) is \(L_{i}\)-smooth" if reason.each else r"the average is \(L\)-smooth"
            return f"{who}, {_between(reason, symbols)}"
        case data.OfOperators():
            return f"each \\(F_{{i}}\\) {plain(reason.does)}, {_between(reason, symbols)}"
        case data.ClientCurvatures():
            points = [combination(of.offset, symbols) for of in reason.points]
            what = {"f*": "the client's conjugate", "g": r"\(g\)"}.get(reason.function, "the client's function")
            between = f"between \\({points[0]}\\) and \\({points[1]}\\)"
            return f"{what} {_range(reason, symbols)}, {between}" if all(points) else ""
        case data.MovedCurvatures():
            return f"the client's function {_range(reason, symbols)}: by the tangent from which it moves, if drawn"
        case data.DrawnCurvature():
            least, largest = (reason.curvature, None) if reason.end == "least" else (None, reason.curvature)
            at = f"at the point after the step, by the gradient at {point(reason.by, symbols)}"
            drawn = ", for the clients that are drawn" if reason.each else ""
            return f"{_whose(reason)} {_curved(least, largest, symbols)}: {at}{drawn}"
        case data.GradientBound():
            most = number(reason.square, symbols.letters)
            return f"{_whose(reason)} has gradients of squares of at most \\({most}\\), at {point(reason.at, symbols)}"
        case data.Dissimilarity():
            f, zeta = function_symbol(reason.function), number(reason.most, symbols.letters)
            apart = f"\\(\\frac{{1}}{{n}}\\sum_{{i}}|\\nabla {f}_{{i}} - \\nabla {f}|^2 \\leq ({zeta})^2\\)"
            return f"{apart}, at {point(reason.at, symbols)}"
        case data.OfAverage():
            return f"the {plain(reason.inequality)} inequality of the average, at {point(reason.at, symbols)}"
        case data.Compression():
            at = f" at {in_sentence(reason.vector, symbols)}" if reason.of == "error" else ""
            return f"compression, of the {reason.of}{at}, with \\({number(reason.factor, symbols.letters)}\\)"
        case data.Noise():
            of = reason.variance
            most = "what the step says" if of is None else f"\\({number(of, symbols.letters)}\\)"
            at = f", at \\({of_what}\\)," if (of_what := combination(reason.vector, symbols)) else ""
            return f"the noise of each client{at} has a variance of at most {most}"
        case data.OfSetting():
            return f"by the setting, in which these are at most 0: {mathematical(reason.text.rstrip('.'))}"
        case data.ZeroSum():
            one, by = combination(reason.vector, symbols), vector(reason.shared, symbols)
            zero = f"\\({one}\\) is 0 in the sum over the clients, so also its product with \\({by}\\)"
            return zero if one and by else ""
    return ""


def _phrase(reason: data.Phrase, symbols: Symbols) -> str:
    return "".join(mathematical(p) if isinstance(p, str) else in_sentence(p, symbols) for p in reason.parts)


def _whose(reason: data.Curvatures | data.DrawnCurvature | data.GradientBound) -> str:
    of = function_symbol(reason.function)
    return f"each \\({of}_{{i}}\\)" if reason.each else f"\\({of}\\)"


def _between(reason: data.Between, symbols: Symbols) -> str:
    return f"between {point(reason.points[0], symbols)} and {point(reason.points[1], symbols)}"


def _range(reason: data.ClientCurvatures | data.MovedCurvatures, symbols: Symbols) -> str:
    low, high = (number(end, symbols.letters) for end in (reason.least, reason.largest))
    return f"has curvatures between \\({low}\\) and \\({high}\\)"


def _curved(least: WorldValue | None, largest: WorldValue | None, symbols: Symbols) -> str:
    """Name functions by the ends of their curvatures, as far as these are known."""
    low, high = (None if end is None else number(end, symbols.letters) for end in (least, largest))
    smooth = None if high is None else f"\\({high}\\)-smooth"
    if low is None:
        return f"is {smooth}"
    if low.startswith("-"):
        ends = f"of at least \\({low}\\)" if high is None else f"between \\({low}\\) and \\({high}\\)"
        return f"has curvatures {ends}"
    convex = "is convex" if low == "0" else f"is \\({low}\\)-strongly convex"
    return f"{convex} and {smooth}" if smooth else convex


# The meanings of names


def summed(lines: Iterable[str]) -> Iterator[str]:
    """Yield the remark that something is shown client by client, if it is."""
    if SUMMED in lines:
        yield _ADD


def sentences(lines: Sequence[str], reasons: Reasons, symbols: Symbols) -> Iterator[str]:
    """Yield what objects state besides the claim."""
    known = [reasons.lines[line] for line in lines if line in reasons.lines]
    names = _Names(symbols, known)
    for line in lines:
        written = _meaning(reasons.lines.get(line), names)
        if written is None:
            yield mathematical(line) + ("" if line.endswith((":", ".")) else ".")
        elif written:
            yield written


class _Names:
    """The sums over the clients that have names, and all symbols."""

    def __init__(self, symbols: Symbols, known: Sequence[Reason]) -> None:
        self.symbols = symbols
        self.totals = {reason.name: reason for reason in known if isinstance(reason, data.Total)}
        self._numbers = {r.letter: self.sum(r.sum) for r in known if isinstance(r, data.SumLetter)}
        #: Letters, with sums of numbers written out.
        self._letters = {**symbols.letters, **{letter: f"({of})" for letter, of in self._numbers.items()}}

    def sum(self, of: data.ClientSum) -> str:
        """A sum over the clients of what each has."""
        over = ", ".join(sorted(of.masks))
        below = f"i\\,\\text{{{plain(over)}}}" if over else "i"
        letters = [without_kinds(str(s)) for s in of.letters.numer.ring.symbols]
        negative, factor = size(of.letters, {name: self._own(name) for name in letters}) or (False, "")
        things = [self._own(atom.name) for atom in of.vectors]
        return f"\\sum_{{{below}}} {added('', negative, factor, ' '.join(things))}".removesuffix(" 1")

    def _own(self, name: str) -> str:
        """A letter or a vector of each client."""
        if of := gradient_of(name):
            many = self.symbols.named.get(name, "").endswith(")")
            return f"\\nabla {function_symbol(of[0])}_{{i}}" + (f"({of[1]})" if many else "")
        if letter := letter_of(name):
            return f"{letter}_{{i}}"
        return self.symbols.named.get(name) or f"\\text{{{plain(name)}}}"

    def total(self, value: WorldValue, sums: Mapping[str, data.ClientSum]) -> str:
        """A sum of sums over the clients, of their totals and of vectors; empty where a name is not known."""
        out = ""
        for (draws, atoms), c in value.of.items():
            of, (atom, *more) = size(c, self._letters), atoms or (None,)
            if draws or of is None or atom is None or more:
                return ""
            if atom.name in sums:
                thing = self.sum(sums[atom.name])
            elif atom.name in self.totals:
                total = self.totals[atom.name]
                thing = self.total(total.value, total.sums)
                thing = f"({thing})" if thing and of != (False, "1") else thing
            else:
                thing = vector(atom.name, self.symbols)
            if not thing:
                return ""
            out = added(out, *of, thing)
        return out

    def divisor(self, c: Any) -> str:
        """A number by which a sum is divided; empty where a letter is not known, or it is negative."""
        if (known := self._numbers.get(str(c))) is not None:
            return known
        negative, of = size(c, self._letters) or (True, "")
        alone = " " not in of or (of[0] == "(" and of.index(")") == len(of) - 1)
        return "" if negative else of if alone else f"({of})"


def _meaning(reason: Reason | None, names: _Names) -> str | None:
    """A sentence; empty where none is needed, and None where the English words are to be taken."""
    symbols = names.symbols
    match reason:
        case data.Total() | data.SumLetter() | data.InCase() | data.MaximumLetter():
            # Sums are written out where they are used; cases are headings; letters are listed.
            return ""
        case data.Phrase():
            return f"{_phrase(reason, symbols)}."
        case data.Shifted():
            of = " = ".join(vector(name, symbols) or plain(name) for name in reason.vectors)
            return f"Nothing changes where vectors are shifted so that \\({of} = 0\\), as they are here."
        case data.Tangent():
            value, slope = symbols.values.get(reason.name, ""), vector(f"grad {reason.name}", symbols)
            ends = [combination(of, symbols) for of in (reason.at, reason.base)]
            whose = ("the client's " if reason.each else "") + f"\\({function_symbol(reason.function)}\\)"
            known = f"\\({value}\\) and \\({slope}\\) are the value and the gradient of {whose}"
            # Symbols that occur in no formula need no definition.
            return f"{known} at \\({ends[0]}\\), less its tangent at \\({ends[1]}\\)." if value and all(ends) else ""
        case data.Relation():
            return _related(reason, names)
        case data.RootLetter():
            letter, of_value = letter_of(reason.letter), (reason.value.num, reason.value.den)
            num, den = (terms_of(terms(p), reason.names, symbols.letters) for p in of_value)
            if not letter or num is None or den is None:
                return None
            over = "" if reason.value.den == 1 else f"/({in_order(den)})"
            return f"\\({letter} = {f'({in_order(num)})' if over else in_order(num)}{over}\\)."
        case data.Follows():
            return f"From this {plain(reason.claim)} follows {mathematical(reason.by)}:"
    return None


def _related(reason: data.Relation, names: _Names) -> str | None:
    """Return the value of the vector that a relation defines, or that the relation is zero."""
    own = [key for key in reason.value.of if [atom.name for atom in key[1]] == [reason.name]]
    if not own:
        zero = names.total(reason.value, reason.sums)
        return f"\\({zero} = 0\\)." if zero else None
    if not (name := vector(reason.name, names.symbols)):
        return ""
    rest, below = {key: c for key, c in reason.value.of.items() if key not in own}, -reason.value.of[own[0]]
    if plainly := combination(WorldValue({key: c / below for key, c in rest.items()}), names.symbols):
        return f"\\({name} = {plainly}\\)."
    top, bottom = names.total(WorldValue(rest), reason.sums), names.divisor(below)
    return f"\\({name} = ({top})/{bottom}\\)." if top and bottom else None


def heading(of: Mapping[str, Any], reasons: Reasons) -> str:
    """The heading of a case: its name, or what is true of the letters in it."""
    met = [reason for line in of["says"] if isinstance(reason := reasons.lines.get(line), data.InCase)]
    if met:
        return "; ".join(_condition(reason.condition, reason.holds) for reason in met)
    name = ", ".join(of["at"].values())
    if re.fullmatch(r"[\d.]+", name):
        return ""
    return plain(name).replace("mu = L", "\\(\\mu=L\\)").replace("mu \\textless{} L", "\\(\\mu<L\\)")


def _condition(condition: data.Comparison | data.Combined | str, holds: bool) -> str:
    if isinstance(condition, data.Comparison):
        by = condition.by if holds else _OPPOSITE[condition.by]
        left, right = (number(side, {}) for side in (condition.left, condition.right))
        return f"\\({left} {_SIGNS[by]} {right}\\)"
    if isinstance(condition, str):
        return f"{'' if holds else 'not '}{condition}"
    if condition.by == "not":
        return _condition(condition.of[0], not holds)
    # Not both is not the one or not the other.
    by = condition.by if holds else {"and": "or", "or": "and"}[condition.by]
    return f" {by} ".join(
        f"({_condition(part, holds)})" if isinstance(part, data.Combined) else _condition(part, holds)
        for part in condition.of
    )


def conventions(symbols: Symbols) -> Iterator[str]:
    """Yield the meaning of the symbols used; what clients have is given by formulas, which are read again."""
    if symbols.clients:
        both = [
            f"${one} = {symbols.vectors[mean]} + {symbols.vectors[other]}$"
            for mean, (one, other) in symbols.clients.items()
        ]
        yield (
            "Vectors are those less their values at the optimum. What a client has is the mean over the clients and a "
            f"deviation from it, of which the sum is 0: {', '.join(both)}."
        )
    elif any(symbol.startswith((r"\overline", r"\widetilde")) for symbol in symbols.vectors.values()):
        yield "A bar is a mean over the clients, and a tilde a deviation from it, of which the sum is 0."
    drawn = " ".join([*symbols.vectors.values(), *(symbol for symbol, _ in symbols.clients.values())])
    if r"\mathrm{prox}" in drawn:
        yield "\\(\\mathrm{prox}\\) is the point that a proximal step gives."
    if "y^{\\star}" in drawn:
        yield "\\(y^{\\star}_{i}\\) is the gradient of \\(f_{i}\\) at \\(x^{\\star}\\)."
    if any(re.fullmatch(r"\\\w+\{e\}(_\{i\})?|e_\{i\}", symbol) for symbol in symbols.vectors.values()):
        yield "Of a compressor, \\(e_{i}\\) is the error."
    if any(re.match(r"(\\overline\{)?D", symbol) for symbol in symbols.values.values()):
        yield "Of a function, \\(D\\) is what it is larger by than its linear model at the optimum."
    for name, symbol in symbols.letters.items():
        if symbol == "\\Lambda" or (symbol.startswith("\\theta_") and letter_of(name) != symbol):
            yield f"\\({symbol}\\) is {mathematical(name)}."


def unexplained(symbols: Symbols, written: str) -> Iterator[str]:
    """Yield what symbols without a name of their own stand for, unless it is ``written`` already."""
    for name, symbol in {**symbols.vectors, **symbols.values}.items():
        defined = f"\\({symbol} =" in written or f"\\({symbol}\\) and" in written
        meaning = mathematical(name.partition(": ")[2] or name)
        if re.fullmatch(r"[vF]_\{(i, )?\d+\}", symbol) and not defined and meaning != f"\\({symbol}\\)":
            yield f"\\({symbol}\\) is {meaning}."
