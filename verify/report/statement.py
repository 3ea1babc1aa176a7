"""A claim's statement in words, for reading, and in LaTeX, for pasting; and what differs between two statements.

Two statements, such as the printed and the repaired one, are compared as trees: terms of sums, factors of products and
the alternatives of a maximum in any order, all else place by place. What is left without the common parts is marked in
both. Texts are compared word by word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import partial
from inspect import isroutine
from itertools import chain, groupby
from typing import NamedTuple

import sympy
from rich.text import Text

from fedtheory import plugins
from fedtheory.algorithms.base import place as code_of
from fedtheory.algorithms.next_round import NextRound
from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement
from fedtheory.numbers.symbols import Latex, Plain, positive_first
from fedtheory.settings import Setting
from fedtheory.settings.iterations import At, Infimum, Least, Overall, Root, Start, Then
from fedtheory.settings.quantities import Among, Away, Difference, Image, Inner, Square, Total
from fedtheory.settings.relations import Monomial, OfRun, Quantity
from verify.base.plain import clean
from verify.report import names, whole_runs

#: LaTeX's spelling of characters that have a meaning of their own there.
_ESCAPED = r"\\\1"
#: The shape of an array, which says nothing of a quantity.
_SHAPE = re.compile(r"[:,]? ``\([^`]*\)``")
_WORD_BELOW = r"_\{([a-z]{3,}|av)\}"
#: The end of a sentence, before the next one.
_SENTENCE = re.compile(r"\.(?= [A-Z])")


# Functions that are made by others have names that say nothing of a quantity, as private ones have.
_NO_NAMES = ("<lambda>", "of", "value", "formula")
#: The beginnings of the names of modules whose functions are named after what they compute.
_OURS = ("fedtheory.", "verify.")

#: Characters before and after a marked part of a text, which occur in no other text.
OPEN, CLOSE = "\ue000", "\ue001"


class _Words(Plain):
    """Names of quantities that are differences are in brackets; Euler's number is exp(1), as its powers are."""

    def _print_Exp1(self, expr: sympy.Expr) -> str:
        return "exp(1)"

    def _print_Symbol(self, expr: sympy.Symbol) -> str:
        if expr.name.startswith(OPEN):
            return expr.name
        outside = re.sub(r"\|[^|]*\||<[^>]*>", "", expr.name)
        return f"({expr.name})" if "-" in outside else _spelled(expr.name)


def text(claim: Claim, written: Callable[[sympy.Expr], str] | None = None) -> list[str]:
    """The statement, one line a comparison, with the factor of a rate and the constants of a rule apart.

    ``written`` gives the text of an expression; it is asked once for each, in the order in which they are read.
    """
    return claim.statement.lines(written or expression) or [claim.gist]


def definitions(claim: Claim, text: str | None = None) -> list[tuple[str, str]]:
    """(name, meaning) of the quantities in the statement, or in what is ``text`` of it, whose meaning says more than
    their name, and then of what the paper's notation says of these."""
    # A statement about a whole run is about its iterates.
    parts = [p for q in claim.statement.named for p in (q.of.inner if isinstance(q.of, OfRun) else (q,))]
    listed = [q for q in dict.fromkeys(parts) if text is None or expression(q.expression) in text]
    named = [(expression(q.expression), _timed(q, listed, claim.statement)) for q in listed]
    found = [(name, meaning) for name, meaning in named if meaning not in ("", name)]
    if getattr(claim.setting.functions, "operators", False):
        found = [(name, meaning.replace("grad f_i", "F_i")) for name, meaning in found]
    return [*found, *_notation(claim, " ".join(chain(*named)))]


def _notation(claim: Claim, text: str) -> list[tuple[str, str]]:
    """The paper's notation that a text uses, with what is used to explain it."""
    paper = plugins.every().get(claim.paper)
    # A claim may give a name another meaning, as a slip of the pen does.
    known = {} if paper is None else {k: v for k, v in paper.notation.items() if f"{k} = " not in claim.reading}
    found: list[tuple[str, str]] = []
    while used := [name for name in known if _notes(name).search(text)]:
        found += [(name, known.pop(name)) for name in used]
        text = " ".join(meaning for _, meaning in found[-len(used) :])
    return found


def _notes(name: str) -> re.Pattern[str]:
    """A name of any iteration, "g_i^k" of all g_i; a letter, as in "L^k" and "tau_{k+1}", is known by what follows."""
    base, *rest = re.split(r"(\^|_\{)", name)
    follows = re.escape(rest[0]) if rest and not base.endswith("_i") else r"(?![A-Za-z_])"
    return re.compile(rf"(?<![A-Za-z]){re.escape(base)}{follows}")


def meanings(claim: Claim) -> list[tuple[str, str]]:
    """As :func:`definitions`, with the names in LaTeX."""
    written = {expression(q.expression): _latex(q.expression, claim.statement) for q in claim.statement.named}
    return [(written.get(name) or names.latex(name), meaning) for name, meaning in definitions(claim)]


def scope(claim: Claim) -> str:
    """For what it is stated and tested: the setting in words, with the restrictions that its words leave out."""
    setting, drawing = claim.setting, claim.setting.drawing
    functions = setting.functions if drawing.special is None else None
    found = [setting.text] if setting.text else []
    if functions is not None and (restricted := of_clients(setting)):
        found.append(restricted)
    if functions is not None and functions.quadratics and "quadratic" not in setting.text:
        found.append("quadratic functions only")
    if drawing.conditions:
        found.append(f"tested at L/mu = {', '.join(map(str, drawing.conditions))}")
    if drawing.compressors:
        compressors = (
            f"rand-{k} of d = {d}" if k else f"Bernoulli's with omega = {omega}" for k, d, omega in drawing.compressors
        )
        found.append(f"tested with the compressors {', '.join(compressors)}")
    return "; ".join(found)


def of_clients(setting: Setting) -> str:
    """The numbers of clients to which a setting is restricted, in words; "" where it is to none."""
    if setting.functions is None or setting.any_clients:
        return ""
    counts = sorted(set(setting.clients))
    return f"{' or '.join(map(str, counts))} client{'s' if counts[-1] > 1 else ''} only"


def parts(claim: Claim) -> list[str]:
    """Names of what ``claim.variant`` can change."""
    return [*claim.statement.part_names(), "requires"]


def latex(claim: Claim) -> str:
    """The statement in LaTeX, one formula a line; what its quantities mean follows in comments."""
    prose_lines = [rf"\text{{{re.sub(r'([_%{}])', _ESCAPED, line)}}}".replace("^", r"\^{}") for line in prose(claim)]
    meanings = [f"% {name}: {meaning}" for name, meaning in definitions(claim)]
    return "\n".join([*prose_lines, *formulas(claim), *meanings])


def prose(claim: Claim) -> list[str]:
    """The statement in words, for the kinds that have no formula; else nothing."""
    return [] if formulas(claim) else [" ".join(text(claim))]


def formulas(claim: Claim) -> list[str]:
    """The statement in LaTeX, a formula each; nothing for a statement in words."""
    return claim.statement.formulas(lambda expression: _latex(expression, claim.statement))


def _meaning(quantity: Quantity) -> str:
    """The first sentence on what computes the quantity, or that function's name, or "" when it has none."""
    of = quantity.of
    if isinstance(of, Among | Root | Away | Difference | Image | Inner | Monomial | Square | Total):
        # Their names say how they are composed.
        return ""
    if isinstance(of, NextRound):
        meaning = _documented(of.of)
        return f"{meaning}, in the mean over the draws of the next round" if meaning else ""
    if isinstance(of, Overall):
        return _meaning(Quantity(quantity.expression, of.of))
    if isinstance(of, At):
        meaning = _meaning(Quantity(quantity.expression, of.function))
        return f"{meaning}, after the iteration" if meaning and of.later else meaning
    if isinstance(of, Start | Least | Infimum | Then):
        return _along(of, _meaning(Quantity(quantity.expression, of.of.function)))
    return _documented(of)


def _timed(quantity: Quantity, listed: Sequence[Quantity], statement: Statement) -> str:
    """The meaning of a quantity; with its time, if the same stands in the list at another one, and once for all."""
    meaning = _meaning(quantity)
    same = [q for q in listed if _meaning(q) == meaning] if meaning else []
    if len({q.after for q in same}) < 2:
        return meaning
    times = ("at the start", "after T rounds") if statement.horizon else ("before the step", "after the step")
    first = meaning if same[0] == quantity else f"as {expression(same[0].expression)}"
    return f"{first}, {times[quantity.after]}"


def _documented(of: Callable[..., object]) -> str:
    """The first sentence on a function, or its name, or "" when it has none."""
    while isinstance(of, partial):
        of = of.func
    # A callable object has the docstring of its class, which does not describe the number.
    if isroutine(of) and of.__doc__:
        # The first paragraph may be of several lines, and of several sentences.
        paragraph = " ".join(of.__doc__.strip().split("\n\n")[0].split())
        return _SHAPE.sub("", _SENTENCE.split(paragraph)[0]).rstrip(".")
    name = getattr(of, "__name__", "<lambda>")
    if name in _NO_NAMES or name.startswith("_"):
        return ""
    # Of a user's function a bare name says nothing.
    theirs = hasattr(of, "__code__") and not of.__module__.startswith(_OURS)
    return code_of(of) if theirs else name.replace("_", " ")


def _along(of: Start | Least | Infimum | Then, meaning: str) -> str:
    """Return a quantity's ``meaning`` with the iterations of the run that it refers to."""
    if not meaning:
        return ""
    if isinstance(of, Then):
        return f"{meaning}, {'after' if of.of.later else 'before'} the iteration {expression(of.index)}"
    if isinstance(of, Least):
        return f"{meaning}: the least after the iterations {of.first}, ..., {of.along.last}"
    return f"{meaning}: {'at the start' if isinstance(of, Start) else 'the infimum'}"


def expression(given: sympy.Expr) -> str:
    """An expression in words of one line."""
    # A name that stands alone needs no brackets.
    return _spelled(given.name) if given.is_Symbol else str(_Words(positive_first).doprint(given))


def _spelled(name: str) -> str:
    # In code lambda is another word.
    return "lambda" if name == "lamda" else name


def written(claim: Claim) -> dict[str, str]:
    """Return the LaTeX of the names in a claim's statement, by their text: its quantities, their expectations, and its
    letters.
    """
    kind = claim.statement
    sides = [side for c in kind.comparisons for side in (c.left, c.right)]
    letters = {s for e in (*sides, *claim.setting.letters) for s in sympy.sympify(e).free_symbols}
    names = {expression(e): _latex(e, kind) for e in (*letters, *(q.expression for q in kind.named))}
    later = [expression(q.expression) for q in kind.named if q.after]
    return names | {f"E[{name}]": rf"\mathbb{{E}}[{names[name]}]" for name in later}


def _latex(expression: sympy.Expr, statement: Statement) -> str:
    quantities = {s for q in statement.named for s in q.expression.free_symbols}
    # Letters too may be named by a formula, as sum_i(alpha_i) is.
    written = {
        s: names.latex(s.name, alone=expression == s)
        for s in {*quantities, *(s for s in expression.free_symbols if "(" in s.name)}
    }
    written |= {
        q.expression: whole_runs.latex(q.of, expression == q.expression)
        for q in statement.named
        if isinstance(q.of, OfRun) and q.expression.is_Symbol
    }
    written |= {s: f"{sympy.latex(sympy.Symbol(s.name[:-1]))}'" for s in expression.free_symbols if s.name[-1] == "'"}
    found = str(Latex(positive_first, symbol_names=written, parenthesize_super=False).doprint(expression))
    # Subscripts that are words are upright, and a bar is above its letter.
    return re.sub(_WORD_BELOW, r"_{\\mathrm{\1}}", re.sub(r"(\\?[A-Za-z]+)_\{bar\}", r"\\bar{\1}", found))


#: Kinds of expressions whose parts have no order.
_UNORDERED = (sympy.Add, sympy.Mul, sympy.Min, sympy.Max)
_ASSUMPTIONS = ("positive", "nonnegative", "real")
#: The share of words that two lines have in common at least, for their words to be compared.
_ALIKE = 0.6
#: A word, or a sign that ends a part of a sentence.
_WORDS = re.compile(r"[,;:](?=\s|$)|\S+?(?=[,;:]?(?:\s|$))")
#: A line that is marked as a whole.
_WHOLE = re.compile(f"{OPEN}[^{OPEN}{CLOSE}]*{CLOSE}")
#: The style of a marked part on a terminal, besides its braces.
_STYLE = "bold underline"


class Section(NamedTuple):
    """A part of a claim under its heading: its lines, with marks."""

    heading: str
    lines: list[str]


def marked(printed: Claim, repaired: Claim) -> tuple[list[Section], list[Section]]:
    """Return the sections of both claims with their differences marked; of the printed claim only those that the repair
    changes.

    Nothing is marked of statements that have nothing in common.
    """
    first, second = [_statement(printed, repaired)], [_statement(repaired, printed)]
    for heading, a, b in (
        ("where", _meanings(printed), _meanings(repaired)),
        ("for", [scope(printed)], [scope(repaired)]),
        ("hypotheses", [h.text for h in printed.requires], [h.text for h in repaired.requires]),
    ):
        if a != b:
            first.append(Section(heading, _words(a, b)))
            second.append(Section(heading, _words(b, a)))
    if all(_WHOLE.fullmatch(line) for line in [*first[0].lines, *second[0].lines]):
        return _plain(first), _plain(second)
    return first, second


def _plain(sections: list[Section]) -> list[Section]:
    return [Section(s.heading, [re.sub(f"[{OPEN}{CLOSE}]", "", line) for line in s.lines]) for s in sections]


def shown(line: str) -> Text:
    """The line with its marked parts in braces, and in bold and underlined where there are colours."""
    parts = re.split(f"[{OPEN}{CLOSE}]", line)
    styled = [(f"{{{clean(p)}}}", _STYLE) if i % 2 else clean(p) for i, p in enumerate(parts)]
    return Text.assemble(*styled)


def is_marked(line: str) -> bool:
    """Return True if part of the line is marked."""
    return OPEN in line


def _statement(claim: Claim, other: Claim) -> Section:
    """The claim's statement, with what the other's has not marked."""
    mine, theirs = expressions_of(claim), expressions_of(other)
    lines, others = text(claim), text(other)
    if len(mine) != len(theirs) or len(lines) != len(others) or not mine:
        return Section("statement", _words(lines, others))
    pieces = iter([expression(expressions(a, b)[0]) for a, b in zip(mine, theirs, strict=True)])
    return Section("statement", text(claim, lambda _: next(pieces)))


def expressions_of(claim: Claim) -> list[sympy.Expr]:
    """The expressions of a statement, in the order in which they are written."""
    found: list[sympy.Expr] = []

    def note(expression: sympy.Expr) -> str:
        found.append(expression)
        return ""

    text(claim, note)
    return found


def expressions(a: sympy.Expr, b: sympy.Expr) -> tuple[sympy.Expr, sympy.Expr]:
    """Both expressions, each with what the other has not in place of a symbol with the marked text as its name."""
    if a == b:
        return a, b
    if isinstance(a, sympy.Mul) or isinstance(b, sympy.Mul):
        # A sign belongs to the whole product.
        negative = [e.as_coeff_Mul()[0].is_negative for e in (a, b)]
        if all(negative):
            first, second = expressions(-a, -b)
            return -first, -second
        if any(negative):
            return _mark(a), _mark(b)
    if all(isinstance(e, sympy.Pow) and e.exp.could_extract_minus_sign() for e in (a, b)):
        # Of quotients the denominators are compared.
        below = expressions(1 / a, 1 / b)
        return 1 / below[0], 1 / below[1]
    for kind in _UNORDERED:
        if isinstance(a, kind) or isinstance(b, kind):
            mine, theirs = (list(kind.make_args(e)) if isinstance(e, kind) else [e] for e in (a, b))
            common = list((Counter(mine) & Counter(theirs)).elements())
            if common or (isinstance(a, kind) and isinstance(b, kind)):
                rest = _without(mine, common), _without(theirs, common)
                first, second = _rest(kind, *rest)
                return kind(*common, *first), kind(*common, *second)
    if a.func == b.func and len(a.args) == len(b.args) and a.args:
        pairs = [expressions(x, y) for x, y in zip(a.args, b.args, strict=True)]
        if any(x == y for x, y in zip(a.args, b.args, strict=True)) or len(pairs) == 1:
            return a.func(*(x for x, _ in pairs)), b.func(*(y for _, y in pairs))
    return _mark(a), _mark(b)


def _rest(
    kind: type[sympy.Expr], mine: Sequence[sympy.Expr], theirs: Sequence[sympy.Expr]
) -> tuple[list[sympy.Expr], list[sympy.Expr]]:
    """Return the parts of both that have no equal on the other side: pairs that resemble each other compared, the
    others marked.
    """
    left, right = list(mine), list(theirs)
    first, second = [], []
    for a in mine:
        best = max(right, key=lambda b: _alike(a, b), default=None)
        if best is not None and (_alike(a, best) > 0 or len(mine) == len(theirs) == 1):
            left.remove(a)
            right.remove(best)
            x, y = expressions(a, best)
            first.append(x)
            second.append(y)
    # A single mark around all that is left.
    if left:
        first.append(_mark(kind(*left)))
    if right:
        second.append(_mark(kind(*right)))
    return first, second


def _alike(a: sympy.Expr, b: sympy.Expr) -> int:
    """The number of parts that two expressions have in common, besides numbers."""
    parts = [{p for p in chain([e], e.args) if not p.is_number} for e in (a, b)]
    return len(parts[0] & parts[1])


def _without(parts: Sequence[sympy.Expr], taken: Sequence[sympy.Expr]) -> list[sympy.Expr]:
    return list((Counter(parts) - Counter(taken)).elements())


def _mark(part: sympy.Expr) -> sympy.Symbol:
    """A symbol named by its text, marked; with its sign, so that what holds it is written alike."""
    assumptions = {name: True for name in _ASSUMPTIONS if getattr(part, f"is_{name}")}
    return sympy.Symbol(f"{OPEN}{expression(part)}{CLOSE}", **assumptions)


def _meanings(claim: Claim) -> list[str]:
    return [f"{name}: {meaning}" for name, meaning in definitions(claim)]


def _words(mine: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """The lines of the one: as they are where the other has them too, with other words marked where one is like them,
    and else marked as a whole."""
    unknown = [line for line in theirs if line not in mine]
    return [line if line in theirs else against(line, unknown) for line in mine]


def against(line: str, others: Sequence[str]) -> str:
    """Return a line with the words marked that the one of the others that is most like it does not have."""
    words = _WORDS.findall(line)
    matchers = [SequenceMatcher(None, words, _WORDS.findall(other), autojunk=False) for other in others]
    best = max(matchers, key=lambda m: m.ratio(), default=None)
    if best is None or best.ratio() < _ALIKE:
        return f"{OPEN}{line}{CLOSE}"
    marked = [tag != "equal" for tag, start, end, *_ in best.get_opcodes() for _ in range(start, end)]
    places = iter(m.span() for m in _WORDS.finditer(line))
    spans = [(*place, changed) for place, changed in zip(places, marked, strict=True)]
    found, end = "", 0
    for changed, group in groupby(spans, key=lambda span: span[2]):
        pieces = list(group)
        start, stop = pieces[0][0], pieces[-1][1]
        text = line[start:stop]
        found += line[end:start] + (f"{OPEN}{text}{CLOSE}" if changed else text)
        end = stop
    return found


__all__ = ["Section", "against", "expressions", "is_marked", "marked", "shown"]
