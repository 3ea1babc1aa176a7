"""Quantities in whose code something else is read: another part of the state, the same one before or after the step,
the negative, the multiple by a number of the client, the next index.

Which expressions are readings is seen where the code of the quantities runs, at instances of the claim: what a branch
that is not taken would read is not looked at. What is put in place of one has the same shape at all of them. Of these
changes few mend a claim; the others are left out at a handful of states.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import sympy

from fedtheory.claims import Claim
from fedtheory.instances import Instance
from fedtheory.settings.relations import Quantity
from verify.base.evaluate import dimension, meeting, sides
from verify.repair import formulas
from verify.repair.rewriting import Region, Substitution, paired, rebuilt, substituted, text_of, tree_of, written
from verify.repair.trials import Place

#: Instances at which code is run, of so many that are proposed; states of each; how near the same numbers are.
INSTANCES, _PROPOSED, STATES, _NEAR = 10, 200, 3, 1e-9
#: Single changes that mend some line, to which a second one is added; and changes that are told of.
_BEAM, MOST = 3, 12
#: What a reading is replaced by: costs beyond that of another part.
COSTS: Mapping[str, float] = {"part": 0.0, "negative": 0.0, "index": 0.1, "multiple": 0.2}
#: Names in the code that notes what is read: nobody can write them.
_PART, _ANSWER, _RESULT, _INDEX = "the part", "the answer", "the result", "the index"


class Sample(NamedTuple):
    """An instance in floats, with coordinates of some of its states ``(STATES, dimension)``."""

    instance: Instance
    theta: np.ndarray


@dataclass(frozen=True)
class Misreading:
    """One reading exchanged: the substitution, and of which sort it is."""

    substitution: Substitution
    sort: str

    @property
    def text(self) -> str:
        """In words."""
        return f"{self.substitution.new} for {self.substitution.old}"

    @property
    def where(self) -> str:
        """The file and the line."""
        return f"{Path(self.substitution.place.file).name}, line {self.substitution.place.line}"


def samples(claim: Claim, places: Iterable[Place] = ()) -> list[Sample]:
    """States of instances that meet the hypotheses, those where the claim is known to fail first, then those with
    several clients and coordinates."""
    rng = np.random.default_rng(0)
    failing, found = [], []
    for place in islice(places, INSTANCES // 2):
        try:
            instance = claim.instances.build(place.recipe, False)
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
            # A place of a change that was made in another setting.
            continue
        failing.append(Sample(instance, np.array([place.point], dtype=float)))
    for recipe, exact in islice(meeting(claim, islice(claim.instances.recipes(rng), _PROPOSED)), 4 * INSTANCES):
        try:
            instance = claim.instances.build(recipe, False)
            size = dimension(claim, instance)
        except (ValueError, ArithmeticError):
            continue
        n, d = (getattr(exact.problem, name, 1) for name in ("n", "d"))
        found.append(((n > 1) + (d > 1) + (n != d), Sample(instance, rng.normal(size=(STATES, size)))))
    found.sort(key=lambda one: -one[0])
    # Single clients and coordinates tell other things apart.
    half = INSTANCES // 2
    return failing + [sample for _, sample in [*found[:half], *found[half:][-half:]]]


def misread(claim: Claim, by: Iterable[Misreading]) -> dict[str, Any]:
    """What ``variant`` takes of the claim with its quantities so read; nothing where no quantity changes."""
    made = tuple(by)
    try:
        changed = substituted(one.substitution for one in made)
    except SyntaxError:
        return {}
    words = " and ".join(one.text for one in made)
    found, names = [], {}
    for quantity in claim.statement.quantities:
        of = rebuilt(quantity.of, changed)
        if of is not quantity.of:
            names[quantity.expression] = _renamed(quantity.expression, words)
            quantity = Quantity(names[quantity.expression], of, quantity.after, quantity.domain)
        found.append(quantity)
    if not names:
        return {}
    parts = formulas.rewritten(claim.statement, lambda expression: expression.xreplace(names))
    return {**parts, "quantities": tuple(found)} if parts else {}


def told(claim: Claim, by: Iterable[Misreading], parts: Mapping[str, Any]) -> str:
    """A change in words: what is read, of which quantities, and where."""
    pairs = zip(claim.statement.quantities, parts["quantities"], strict=True)
    names = ", ".join(str(old.expression) for old, new in pairs if new is not old)
    changes = " and ".join(f"{one.text} ({one.where})" for one in by)
    return f"{changes} in the code of {names}"


def _renamed(expression: sympy.Expr, words: str) -> sympy.Expr:
    symbols = {s: sympy.Symbol(f"({s} with {words})", **s._assumptions_orig) for s in expression.free_symbols}
    return expression.xreplace(symbols)


def found(
    claim: Claim, places: Iterable[Place] = (), advance: Callable[[], object] = lambda: None
) -> Iterator[tuple[tuple[Misreading, ...], dict[str, Any]]]:
    """Changes of readings, one or two, after which nothing speaks against the claim at a few states, with what
    ``variant`` takes. ``places``: where the claim fails; ``advance`` is called for each change that is tried."""
    if not claim.statement.statewise:
        return
    at = samples(claim, places)
    printed = _lines(claim, at)
    if printed is None or all(line.holds for line in printed):
        return
    equal = equalities(claim)
    singles = [one for one in readings(claim, at) if equal or one.sort != "multiple"]
    known: set[bytes] = {_signature(printed)}
    partly: list[tuple[int, Misreading]] = []
    told = 0
    for single in singles:
        advance()
        parts, lines = _tried(claim, (single,), at)
        if lines is None or _signature(lines) in known:
            continue
        known.add(_signature(lines))
        if all(line.holds for line in lines):
            if _says_something(claim, parts, at, printed, lines):
                told += 1
                yield (single,), parts
            continue
        mended = sum(line.holds for line in lines) - sum(line.holds for line in printed)
        if mended > 0 and not any(was.holds and not now.holds for was, now in zip(printed, lines, strict=True)):
            partly.append((mended, single))
        if told == MOST:
            return
    for _, first in sorted(partly, key=lambda one: -one[0])[:_BEAM]:
        for second in singles:
            if second.substitution.place == first.substitution.place:
                continue
            advance()
            parts, lines = _tried(claim, (first, second), at)
            if lines is None or _signature(lines) in known:
                continue
            known.add(_signature(lines))
            if all(line.holds for line in lines) and _says_something(claim, parts, at, printed, lines):
                told += 1
                yield (first, second), parts
            if told == MOST:
                return


class _Line(NamedTuple):
    """A comparison at the samples: whether it holds, and its sides there."""

    holds: bool
    left: np.ndarray
    right: np.ndarray


def _tried(claim: Claim, by: tuple[Misreading, ...], at: list[Sample]) -> tuple[dict[str, Any], list[_Line] | None]:
    parts = misread(claim, by)
    try:
        return parts, _lines(claim.variant(**parts), at) if parts else None
    except (ValueError, TypeError):
        return parts, None


def _lines(claim: Claim, at: list[Sample], first: int = 0) -> list[_Line] | None:
    """The comparisons at the samples; None where a side is no number there."""
    met: list[list[tuple[np.ndarray, np.ndarray]]] = []
    try:
        with np.errstate(all="ignore"):
            for sample in at:
                pairs = [(np.asarray(a, float), np.asarray(b, float)) for a, b in sides(claim, *sample)]
                if not all(np.isfinite(side).all() for pair in pairs for side in pair):
                    return None
                met.append(pairs)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
        return None
    if not met:
        return None
    lines = []
    for index, comparison in enumerate(claim.statement.comparisons):
        left, right = (np.concatenate([pairs[index][side].ravel() for pairs in met]) for side in (0, 1))
        apart = _NEAR * (1 + abs(left) + abs(right))
        holds = abs(left - right) <= apart if comparison.relation == "==" else left <= right + apart
        lines.append(_Line(bool(holds.all()), left, right))
    return lines


def _signature(lines: list[_Line]) -> bytes:
    """What two changes share that say the same at the samples."""
    numbers = np.concatenate([side for line in lines for side in (line.left, line.right)])
    return np.array([f"{v:.8e}" for v in numbers]).tobytes()


def equalities(claim: Claim) -> bool:
    """Whether something is said to be equal: as such, or by two inequalities."""
    lines = [(c.left, c.right) for c in claim.statement.comparisons]
    return any(c.relation == "==" for c in claim.statement.comparisons) or any((b, a) in lines for a, b in lines)


def _says_something(
    claim: Claim, parts: Mapping[str, Any], at: list[Sample], printed: list[_Line], lines: list[_Line]
) -> bool:
    """Whether what holds is no trifle.

    No side is 0 that was not, unless it is compared with one that was, and none that was positive is negative. With any
    numbers in place of what is read no side is 0 either, and not every line holds.
    """
    for was, now in zip(printed, lines, strict=True):
        for before, after, other in ((was.left, now.left, was.right), (was.right, now.right, was.left)):
            if _nothing(after) and not _nothing(before) and not _nothing(other):
                return False
            if (before >= 0).all() and (after <= 0).all() and not _nothing(before):
                return False
    changed = claim.variant(**parts)
    for seed in range(2):
        anything = [_lines(_noting(one, _Random(seed)), at) for one in (claim, changed)]
        if anything[0] is None or anything[1] is None:
            return False
        for was, now in zip(*anything, strict=True):
            if any(_nothing(b) and not _nothing(a) for a, b in ((was.left, now.left), (was.right, now.right))):
                return False
        if not all(line.holds for line in anything[1]):
            return True
    return False


def _nothing(values: np.ndarray) -> bool:
    """Whether a side is 0, rounding apart."""
    return bool((abs(values) <= _NEAR).all())


# What is read


def readings(claim: Claim, at: list[Sample]) -> list[Misreading]:
    """What may be put in place of the readings of the claim's quantities, those that cost least first."""
    notes = _Notes()
    changed = _noting(claim, notes)
    for sample in at:
        try:
            with np.errstate(all="ignore"):
                sides(changed, *sample)
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
            continue
    made = [
        Misreading(Substitution(place, old, new), sort)
        for place, (old, others) in notes.found.items()
        for new, sort in others.items()
        # What is nowhere negative is a square or a size, and is not negated.
        if sort != "negative" or place in notes.signed
    ]
    return sorted(made, key=lambda one: (COSTS[one.sort], one.substitution.place, one.text))


def _noting(claim: Claim, notes: _Notes) -> Claim:
    """The claim with quantities whose code tells ``notes`` what it reads."""
    changed: dict[Any, Any] = {}
    for file in sorted({code.co_filename for q in claim.statement.quantities for code in written(q.of)}):
        text = text_of(file)
        if text:
            tree = _Noting(file, text, notes).visit(deepcopy(tree_of(file, text)))
            changed |= paired(file, text, compile(ast.fix_missing_locations(tree), file, "exec", dont_inherit=True))
    names: dict[str, Any] = {_PART: notes.part, _ANSWER: notes.answer, _RESULT: notes.result, _INDEX: notes.index}
    quantities = tuple(replace(q, of=rebuilt(q.of, changed, names)) for q in claim.statement.quantities)
    return claim.variant(quantities=quantities)


class _Noting(ast.NodeTransformer):
    """Hands what the expressions of a file read to functions by the names above, each with its place."""

    def __init__(self, file: str, text: str, notes: _Notes) -> None:
        self._file, self._notes = file, notes
        self._lines = text.encode().split(b"\n")

    def _at(self, node: ast.expr) -> ast.Constant:
        # Of an expression of several lines, which is not replaced, nothing that matters.
        place = Region.of(self._file, node)
        self._notes.texts[place] = self._lines[place.line - 1][place.begin : place.end].decode()
        return ast.copy_location(ast.Constant(tuple(place)), node)  # type: ignore[arg-type]

    def _call(self, name: str, node: ast.expr, *arguments: ast.expr, keywords: Any = ()) -> ast.Call:
        here = ast.Call(ast.Name("locals", ast.Load()), [], [])
        return ast.copy_location(
            ast.Call(ast.Name(name, ast.Load()), [self._at(node), here, *arguments], list(keywords)), node
        )

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        call = (
            self._call(_PART, node, self.visit(node.value), ast.Constant(node.attr))
            if isinstance(node.ctx, ast.Load)
            else node
        )
        return call

    def visit_Call(self, node: ast.Call) -> ast.expr:
        given = [self._index(self.visit(argument), argument) for argument in node.args]
        keywords = [ast.keyword(k.arg, self.visit(k.value)) for k in node.keywords]
        if isinstance(node.func, ast.Attribute):
            return self._call(
                _ANSWER, node, self.visit(node.func.value), ast.Constant(node.func.attr), *given, keywords=keywords
            )
        if isinstance(node.func, ast.Name) and node.func.id not in ("locals", "super"):
            return self._call(_RESULT, node, node.func, *given, keywords=keywords)
        return ast.copy_location(ast.Call(self.visit(node.func), given, keywords), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        inner = self._index(self.visit(node.slice), node.slice)
        return ast.copy_location(ast.Subscript(self.visit(node.value), inner, node.ctx), node)

    def _index(self, visited: ast.expr, node: ast.expr) -> ast.expr:
        return self._call(_INDEX, node, visited) if isinstance(node, ast.Name | ast.BinOp) else visited


@dataclass
class _Notes:
    """What is read: by place, what stands there, and what else has the same shape wherever it was run."""

    texts: dict[Region, str] = field(default_factory=dict)
    found: dict[Region, tuple[str, dict[str, str]]] = field(default_factory=dict)
    signed: set[Region] = field(default_factory=set)

    def part(self, place: tuple[Any, ...], scope: Mapping[str, Any], base: Any, name: str) -> Any:
        value = getattr(base, name)
        if _has_parts(base) and _is_array(value):
            others = {n: "part" for n in _parts(base) if n != name and _alike(_got(base, n), value)}
            self._note(place, value, scope, {self._other(place, name, n): s for n, s in others.items()})
        elif _has_parts(base) and hasattr(value, "_fields"):
            others = {n: "part" for n in _parts(base, True) if n != name and _same_parts(_got(base, n), value)}
            self._note(place, None, scope, {self._other(place, name, n): s for n, s in others.items()})
        return self.seen(value) if _has_parts(base) else value

    def answer(self, place: tuple[Any, ...], scope: Mapping[str, Any], base: Any, name: str, *given: Any, **by: Any):
        value = getattr(base, name)(*given, **by)
        if _has_parts(base) and _is_array(value) and not by and not any(_is_array(g) for g in given):
            text = self.texts[Region(*place)]
            others = {}
            for other in _methods(base) if text.count(f".{name}(") == 1 else ():
                if other != name and _alike(_answered(base, other, given), value):
                    others[text.replace(f".{name}(", f".{other}(")] = "part"
            self._note(place, value, scope, others)
        # What a class of functions is known for, too, is what is answered; sums of numbers are none.
        return value if isinstance(base, np.ndarray | ModuleType | type) else self.seen(value)

    def result(self, place: tuple[Any, ...], scope: Mapping[str, Any], function: Any, *given: Any, **by: Any) -> Any:
        value = function(*given, **by)
        # A function that is handed over, by whatever name, is no helper of the quantity's.
        named = self.texts[Region(*place)].startswith(f"{getattr(function, '__name__', '')}(")
        if named and _is_array(value) and not by and not any(_is_array(g) or callable(g) for g in given):
            self._note(place, value, scope, {})
        return value

    def index(self, place: tuple[Any, ...], scope: Mapping[str, Any], value: Any) -> Any:
        if type(value) is int:
            text = self.texts[Region(*place)]
            self._keep(place, {f"{text} + 1": "index", f"max({text} - 1, 0)": "index"})
        return value

    def seen(self, value: Any) -> Any:
        """What the code gets of what it reads."""
        return value

    def _other(self, place: tuple[Any, ...], name: str, other: str) -> str:
        return self.texts[Region(*place)].removesuffix(name) + other

    def _note(self, place: tuple[Any, ...], value: Any, scope: Mapping[str, Any], others: dict[str, str]) -> None:
        text = self.texts[Region(*place)]
        if value is not None:
            others = {**others, f"(-{text})": "negative"}
            if (value < 0).any():
                self.signed.add(Region(*place))
            for letter in _letters(scope, value):
                others[f"({text} * {letter})"] = "multiple"
                others[f"({text} / {letter})"] = "multiple"
        self._keep(place, others)

    def _keep(self, place: tuple[Any, ...], others: dict[str, str]) -> None:
        at = Region(*place)
        _, known = self.found.get(at, ("", others))
        # What is of the same shape by accident is not elsewhere.
        self.found[at] = (self.texts[at], {new: sort for new, sort in known.items() if new in others})


@dataclass
class _Random(_Notes):
    """Puts any numbers in place of what is read: the same for the same, of the same shape."""

    seed: int = 0
    known: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.seed, self.known = seed, {}

    def seen(self, value: Any) -> Any:
        if not (_is_array(value) and value.ndim > 1):
            return value
        key = (value.shape, value.tobytes())
        if key not in self.known:
            self.known[key] = np.random.default_rng([self.seed, len(self.known)]).normal(size=value.shape)
        return self.known[key]

    def _keep(self, place: tuple[Any, ...], others: dict[str, str]) -> None:
        """Nothing is noted."""


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0 and value.dtype.kind in "fi"


def _has_parts(value: Any) -> bool:
    """Whether something is a record: a named tuple, or an object of a data class."""
    return not isinstance(value, ModuleType | type) and (hasattr(value, "_fields") or is_dataclass(value))


def _parts(base: Any, properties: bool = False) -> list[str]:
    names = list(getattr(base, "_fields", ())) or [f.name for f in fields(base)]
    kinds = vars(type(base)).items()
    return [*names, *(n for n, v in kinds if properties and isinstance(v, property) and not n.startswith("_"))]


def _methods(base: Any) -> list[str]:
    return [n for n, v in vars(type(base)).items() if callable(v) and not n.startswith("_") and hasattr(v, "__code__")]


def _got(base: Any, name: str) -> Any:
    try:
        return getattr(base, name)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
        return None


def _answered(base: Any, name: str, given: tuple[Any, ...]) -> Any:
    try:
        return getattr(base, name)(*given)
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
        return None


def _alike(one: Any, other: Any) -> bool:
    return _is_array(one) and one.shape == other.shape


def _same_parts(one: Any, other: Any) -> bool:
    """Whether two records share parts that hold arrays."""
    if not hasattr(one, "_fields") or one is other:
        return False
    shared = set(_parts(one)) & set(_parts(other))
    return any(_alike(_got(one, name), array) for name in shared if _is_array(array := _got(other, name)))


def _letters(scope: Mapping[str, Any], value: np.ndarray) -> Iterator[str]:
    """Positive numbers of the clients, or of the method, that the code can name, with axes as a value has them."""
    for name, holder in scope.items():
        inner = [(name, holder)]
        if is_dataclass(holder) and not isinstance(holder, type):
            inner += [(f"{name}.{f.name}", _got(holder, f.name)) for f in fields(holder)]
        for path, record in inner:
            if not hasattr(record, "_fields"):
                continue
            for part in record._fields:
                letter = getattr(record, part)
                if _is_array(letter) and letter.ndim == 1 and (letter > 0).all():
                    if value.shape[-1:] == letter.shape:
                        yield f"{path}.{part}"
                    if value.ndim > 1 and value.shape[-2:-1] == letter.shape:
                        yield f"{path}.{part}[:, None]"
