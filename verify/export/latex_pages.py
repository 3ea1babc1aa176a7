"""The cases of a proof on a page: what they share once, then of each the sum that proves it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from verify.export.latex_forms import FormPart, Pairs, Vector, joined, parts, size_of
from verify.export.latex_names import symbols
from verify.export.latex_reading import is_deviation, ratio_of, written
from verify.export.latex_reasons import conventions, heading, sentences, unexplained, words
from verify.export.latex_scalars import Scalars
from verify.export.latex_words import plain
from verify.export.objects import ProofObjects, Reasons
from verify.export.weights import Certificates
from verify.multipliers.ratios import Ratio, key, polynomials
from verify.multipliers.reasons import Between, MaximumLetter

#: Bounds of the domain with more terms than this have a name.
_TERMS = 2
#: Sums of more vectors than this have a name where they are squared.
_VECTORS = 3
#: Words of more characters than this are not repeated.
_SAID = 60
#: Letters for sums of vectors, the first that is free.
_FOR_SUMS = ("q", "s", "r", "b", "d", "z")
#: LaTeX for the quantity that has to be shown to be at most 0.
GAP = "\\Delta"


@dataclass(frozen=True)
class CaseGroup:
    """Cases with the same targets and the same known inequalities."""

    objects: tuple[Mapping[str, Any], ...]
    #: Claimed, target and known of each program; two inequalities with the same weight are one.
    programs: tuple[dict[str, Any], ...]
    #: The names of each case's bounds, by how these are written.
    bounds: tuple[dict[str, str], ...]
    reasons: Reasons


def grouped(objects: ProofObjects) -> list[CaseGroup]:
    """Cases that share what is to be shown and what is known, in the order in which they come."""
    found: dict[str, list[Any]] = {}
    for data in objects:
        made = {**data, "programs": [_merged(list(data["letters"]), p, objects.reasons) for p in data["programs"]]}
        shared = [[p["target"], [(k["name"], k["form"]) for k in p["known"]]] for p in made["programs"]]
        found.setdefault(json.dumps([data["letters"], shared], sort_keys=True), []).append(made)
    groups = []
    for of in found.values():
        called: dict[str, str] = {}
        bounds = []
        for data in of:
            numbers = Certificates(data)
            here = {name: numbers.polynomial(c["is"]) for name, c in data["domain"].items()}
            long = {name: p for name, p in here.items() if len(p) > _TERMS}
            for p in long.values():
                called.setdefault(key(p), f"\\delta_{{{len(called) + 1}}}")
            bounds.append({called[key(p)]: name for name, p in long.items()})
        groups.append(CaseGroup(tuple(of), tuple(of[0]["programs"]), tuple(bounds), objects.reasons))
    return groups


def _merged(letters: list[str], program: Mapping[str, Any], reasons: Reasons) -> dict[str, Any]:
    """Inequalities between two points, both ways, with the same weight, as one."""
    ring = polynomials(tuple(letters))
    known: list[dict[str, Any]] = []
    for item in program["known"]:
        reason = reasons.of(item)
        other = reason.opposite if isinstance(reason, Between) else ""
        place = next((k for k, k_item in enumerate(known) if k_item["name"] == other), None)
        if place is None or known[place]["weight"] != item["weight"] or "shared" in item:
            known.append(dict(item))
            continue
        sums = {name: ratio_of(ring, c) for name, c in known[place]["form"].items()}
        for name, c in item["form"].items():
            sums[name] = sums[name] + ratio_of(ring, c) if name in sums else ratio_of(ring, c)
        form = {name: written(c, len(letters)) for name, c in sums.items() if not c.is_zero}
        known[place] = {**known[place], "form": form, "both": True}
    return {**program, "known": known}


def pages(group: CaseGroup, says: Sequence[str], printed: set[str]) -> Iterator[str]:
    """Yield the paragraphs, with what the objects state besides the claim; what is already ``printed`` is not
    repeated.
    """
    cases = list(dict.fromkeys(heading(data, group.reasons) for data in group.objects))
    if any(cases):
        yield f"\\textbf{{\\large Case {'; '.join(filter(None, cases))}}}"
    page = _Page(group, printed)
    proof = [line for place, shared in enumerate(group.programs) for line in page.program(place, shared)]
    notation = " ".join(
        [page.letters(" ".join(proof)), *conventions(page.symbols), *sentences(says, group.reasons, page.symbols)]
    )
    if paragraph := " ".join([notation, *unexplained(page.symbols, notation)]).strip():
        yield paragraph
    yield from proof


class _Page:
    """Writes what a group has, in the letters of its cases."""

    def __init__(self, group: CaseGroup, printed: set[str]) -> None:
        self._printed = printed
        self._group, data = group, group.objects[0]
        self._symbols, self._names = symbols(group.objects, group.reasons), list(data["letters"])
        self.symbols = self._symbols
        self._ring = polynomials(tuple(self._names))
        self._ratio = partial(ratio_of, self._ring)
        self._one = self._ratio("1")
        self._partners = {mean: deviation for mean, (_, deviation) in self._symbols.clients.items()}
        self._vectors: dict[str, Vector] = {}
        everywhere = set.intersection(*(set(of) for of in group.bounds))
        self._shared = self._scalars(0, everywhere)
        self._own = [self._scalars(k, set(of)) for k, of in enumerate(group.bounds)]
        self._everywhere = everywhere
        self._n = (
            self._ratio({"num": [["1", [int(x == "n") for x in self._names]]], "den": [["1", [0] * len(self._names)]]})
            if "n" in self._names
            else None
        )

    @property
    def _free(self) -> str:
        """A letter that nothing else on the page has, for sums of vectors."""
        taken = {*self._symbols.letters.values(), *self._symbols.vectors.values(), *self._symbols.values.values()}
        taken |= {symbol for of in self._symbols.clients.values() for symbol in of}
        used = {letter for symbol in taken for letter in re.findall(r"(?<![\\A-Za-z])[A-Za-z](?![A-Za-z])", symbol)}
        return next(letter for letter in _FOR_SUMS if letter not in used)

    def _scalars(self, case: int, called: set[str]) -> Scalars:
        data = self._group.objects[case]
        found, numbers = Scalars(self._names, self._symbols.letters, self._ring), Certificates(data)
        for factor, side in numbers.sides():
            found.turn(factor, side)
        for c in data["domain"].values():
            found.turn(numbers.polynomial(c["is"]), 1)
        for symbol, name in self._group.bounds[case].items():
            if symbol in called:
                found.call(symbol, numbers.polynomial(data["domain"][name]["is"]))
        return found

    def letters(self, proof: str) -> str:
        """Return the sentence on what is known of the letters in all cases. Only bounds that the ``proof`` uses by name
        have one.
        """
        data = self._group.objects[0]
        signs = []
        for sign, shown in ((">0", "> 0"), (r"\ge 0", ">= 0")):
            of = [self._symbols.letters[x] for x, s in data["letters"].items() if s == shown]
            signs += [f"\\({', '.join(of)}{sign}\\)"] if of else []
        signs += self._bounds(0, lambda symbol: symbol is None or symbol in self._everywhere, proof)
        tops = [
            f" \\({self._symbols.letters[k]}\\) is the factor of the claim, of which these bounds are used."
            for k in data["letters"]
            if str(MaximumLetter(k)) in data["says"]
        ]
        return ("Letters: " + ", ".join(signs) + "." if signs else "") + "".join(tops)

    def _bounds(self, case: int, taken: Callable[[str | None], bool], proof: str) -> list[str]:
        data, found = self._group.objects[case], []
        numbers, called = Certificates(data), {name: s for s, name in self._group.bounds[case].items()}
        for name, c in data["domain"].items():
            symbol, p = called.get(name), numbers.polynomial(c["is"])
            if not taken(symbol):
                continue
            sign = ">0" if c["sign"] == "> 0" else r"\ge 0"
            bare = Scalars(self._names, self._symbols.letters, self._ring)
            formula = bare.polynomial(p)
            is_named = symbol is not None and symbol in proof
            found.append(f"${symbol} = {formula}$\\({sign}\\)" if is_named else f"\\({formula}{sign}\\)")
        return found

    def program(self, place: int, shared: Mapping[str, Any]) -> Iterator[str]:
        """Yield the claim, the known facts, and the sums of all cases."""
        forms = [self._split(item["form"]) for item in shared["known"]]
        let = []
        for vector in self._long(forms) if place == 0 else ():
            letter = self._free + "'" * len(self._vectors)
            symbol = f"{letter}_{{i}}" if any(map(is_deviation, vector)) else letter
            text = self._vector(vector)
            self._vectors[symbol] = vector
            let.append(f"${symbol} = {text}$")
        if let:
            yield f"Let {', '.join(let)}; of the opposite vector the squares are the same."
        claimed = shared["claimed"].removesuffix(": the target is at most 0")
        part = f", {plain(claimed.partition(': ')[2] or claimed)}" if len(self._group.programs) > 1 else ""
        if shared["known"]:
            yield f"\\textbf{{To show{part}:}} ${GAP} = {self._form(self._split(shared['target']))}$\\({{}}\\le 0\\)."
        known_already = self._is_known(place, shared)
        for k, (item, form) in enumerate(zip(shared["known"], forms, strict=True), 1):
            common = " (shared)" if "shared" in item else ""
            source = words(item, self._group.reasons, self._symbols)
            again = source in self._printed and len(source) > _SAID
            short = f"{re.split(': |, between', source)[0]}, as above" if again else source
            self._printed.add(source)
            if known_already:
                yield f"\\textbf{{({k})}} {short}: $K_{{{k}}} = {GAP}$\\({{}}\\le 0\\). \\hfill\\(\\square\\)"
                return
            yield f"\\textbf{{({k})}}{common} {short}: $K_{{{k}}} = {self._form(form)}$\\({{}}\\le 0\\)."
        for case_place, data in enumerate(self._group.objects):
            totals = [self._total(p, self._own[case_place], Certificates(data)) for p in data["programs"][place:]]
            own = []
            if place == 0:
                own = self._bounds(case_place, lambda s: s is not None and s not in self._everywhere, " ".join(totals))
            start = f"\\textbf{{Where}} {', '.join(own)}: adding these up" if own else "\\textbf{Adding these up}"
            if not shared["known"]:
                start = f"\\textbf{{To show{part}}}"
            yield f"{start}, ${GAP} = {totals[0]}$\\({{}}\\le 0\\). \\hfill\\(\\square\\)"

    def _is_known(self, place: int, shared: Mapping[str, Any]) -> bool:
        """Return True if what is to be shown is the one inequality that is known, in all cases."""
        if len(shared["known"]) != 1 or any(set(of) - self._everywhere for of in self._group.bounds):
            return False
        programs = [data["programs"][place] for data in self._group.objects]
        if any(p["squares"] or not (self._ratio(p["known"][0]["weight"]) - self._one).is_zero for p in programs):
            return False
        known, target = (self._split(form) for form in (shared["known"][0]["form"], shared["target"]))
        return all(_is_same(known[k], target[k]) for k in (0, 1)) and _is_same(known[2], target[2])

    def _split(self, form: Mapping[str, Any]) -> tuple[Pairs, Pairs, dict[str, Ratio]]:
        """The part in means, that in deviations, and the values."""
        blocks: tuple[Pairs, Pairs] = ({}, {})
        values = {}
        for name, c in form.items():
            if "|" not in name or name == "1|1":
                values[name] = self._ratio(c)
                continue
            a, b = sorted(name.split("|"))
            block = blocks[is_deviation(a)]
            block[a, b] = block.get((a, b), self._one - self._one) + self._ratio(c)
        return (*blocks, values)

    def _parts(self, form: tuple[Pairs, Pairs, Any]) -> list[tuple[FormPart, bool]]:
        named = list(self._vectors.values())
        blocks = [
            parts(
                block,
                [v for n in named if (v := {r: c for r, c in n.items() if is_deviation(r) == deviations})],
                size_of,
            )
            for deviations, block in ((False, form[0]), (True, form[1]))
        ]
        return self._joined(*blocks)

    def _joined(self, means: list[FormPart], deviations: list[FormPart]) -> list[tuple[FormPart, bool]]:
        if self._n is None:
            return [(part, False) for part in means] + [(part, True) for part in deviations]
        return joined(means, deviations, self._partners, self._n)

    def _long(self, forms: Iterable[Any]) -> list[Vector]:
        """Sums of many vectors in squares, each once."""
        found: list[Vector] = []
        for form in forms:
            for part, _ in self._parts(form):
                if part.is_square and len(part.left) > _VECTORS and all(_times(v, part.left) is None for v in found):
                    found.append(self._scaled(part)[1])
        return found

    def _form(self, form: tuple[Pairs, Pairs, dict[str, Ratio]]) -> str:
        terms = [(c, "" if name == "1|1" else self._symbols.values[name]) for name, c in form[2].items()]
        return self._sum(self._shared, [*terms, *(self._thing(part, summed) for part, summed in self._parts(form))])

    def _total(self, program: Mapping[str, Any], scalars: Scalars, signs: Certificates) -> str:
        known = [(self._ratio(item["weight"]), f"K_{{{k}}}") for k, item in enumerate(program["known"], 1)]
        blocks: tuple[list[FormPart], list[FormPart]] = ([], [])
        constants = []
        for item in program["squares"]:
            vector = {row: self._ratio(c) for row, c in item["vector"].items()}
            weight = self._ratio(item["weight"])
            if set(vector) == {"1"}:
                constants.append((-weight * vector["1"] ** 2, ""))
            else:
                blocks[any(map(is_deviation, vector))].append(FormPart(-weight, vector, vector))
        squares = [self._thing(part, summed, signs) for part, summed in self._joined(*blocks)]
        return self._sum(scalars, [*known, *squares, *constants], weights=True)

    def _thing(self, part: FormPart, summed: bool, signs: Certificates | None = None) -> tuple[Ratio, str]:
        """The coefficient and what it stands before."""
        over = "\\sum_{i} " if summed else ""
        if part.is_square:
            c, vector = self._scaled(part, signs)
            return c, f"{over}\\|{self._vector(vector)}\\|^{{2}}"
        inner = f"\\langle {self._vector(part.left)}, {self._vector(part.right)}\\rangle"
        return part.coefficient, over + inner

    def _scaled(self, part: FormPart, signs: Certificates | None = None) -> tuple[Ratio, Vector]:
        """A square on the scale on which it is shortest, on that of a name if it has one: where that minus it is
        nonnegative, and that nothing is divided by 0, is shown by ``signs``."""

        def shown(c: Ratio, vector: Vector) -> bool:
            return signs is None or (signs.shows(-c) and all(map(signs.divides, (c, *vector.values()))))

        for named in self._vectors.values():
            for kinds in ((False, True), (False,), (True,)):
                here = {row: c for row, c in named.items() if is_deviation(row) in kinds}
                if here and (times := _times(here, part.left)) is not None:
                    weight = part.coefficient * times * times
                    if shown(weight, here):
                        return weight, here
        best: tuple[int, Ratio, Vector] | None = None
        for c in part.left.values():
            vector = {row: x / c for row, x in part.left.items()}
            whole = {row: x * Ratio.of(c.den, c.num.context().constant(1)) for row, x in part.left.items()}
            turned = {row: -x for row, x in whole.items()}
            down = Ratio.of(c.den, c.num.context().constant(1))
            for scale, v in ((c, vector), (self._one / down, whole), (self._one / down, turned)):
                weight = part.coefficient * scale * scale
                text = self._sum(self._shared, [(weight, "x")]) + self._vector(v)
                cost = len(re.findall(r"\\[a-zA-Z]+|\w|[-+]", text)) + 2 * self._vector(v).startswith("-")
                if (best is None or cost < best[0]) and shown(weight, v):
                    best = cost, weight, v
        return (best[1], best[2]) if best is not None else (part.coefficient, part.left)

    def _vector(self, vector: Vector) -> str:
        for symbol, named in self._vectors.items():
            if _times(named, vector) is not None and _is_same(named, vector):
                return symbol
            base = symbol.removesuffix("_{i}")
            for deviations, accented in ((False, f"\\overline{{{base}}}"), (True, f"\\widetilde{{{base}}}_{{i}}")):
                if base != symbol and _is_same(
                    {r: c for r, c in named.items() if is_deviation(r) == deviations}, vector
                ):
                    return accented
        terms, left = [], dict(vector)
        for row, c in vector.items():
            if row not in left:
                continue
            partner = self._partners.get(row)
            if partner in left and (c - left[partner]).is_zero:
                del left[partner], left[row]
                terms.append((c, self._symbols.clients[row][0]))
        terms += [(c, "1" if row == "1" else self._symbols.vectors[row]) for row, c in left.items()]
        return self._sum(self._shared, terms)

    def _sum(self, scalars: Scalars, terms: Sequence[tuple[Ratio, str]], weights: bool = False) -> str:
        """A sum; ``weights`` where known inequalities have nonnegative coefficients, and squares none that are not."""
        out = ""
        for c, thing in terms:
            if c.is_zero:
                continue
            negative = not thing.startswith("K_") if weights else scalars.ratio(c).startswith("-")
            text = scalars.ratio(-c if negative else c, signed=weights)
            if text.startswith("-"):
                text = f"({text})"
            size = "" if text == "1" and thing else text
            out += (
                " - " if negative and out else "-" if negative else " + " if out else ""
            ) + f"{size} {thing}".strip()
        return out or "0"


def _times(vector: Vector, other: Vector) -> Ratio | None:
    """The number by which a vector is multiplied to be another."""
    if set(vector) != set(other):
        return None
    row = next(iter(vector))
    times = other[row] / vector[row]
    return times if all((c * times - other[r]).is_zero for r, c in vector.items()) else None


def _is_same(one: Mapping[Any, Ratio], other: Mapping[Any, Ratio]) -> bool:
    return set(one) == set(other) and all((c - other[key]).is_zero for key, c in one.items())
