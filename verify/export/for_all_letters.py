"""Proof objects of what is proved for all letters and every number of clients.

The vectors of a block are those of a generic client: what is the same for all, or how far each is from the mean. A
product of two deviations stands for the sum over the clients, so that an identity of forms is one for every n.

So it is with inequalities that are proved client by client: what every client adds is at most 0, in each situation.
What is known only of sums over all clients is "shared": it has one weight in all programs of an object, without letters
of a client's own, so that it falls out where all that is added is summed.

What a derivation for all letters shows besides the claims that it takes has objects of its own; those claims have
theirs, and the rules by which all of it gives the claim are stated in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from types import MappingProxyType
from typing import Any

from fedtheory.claims import Claim
from verify import checker
from verify.derivation import combined
from verify.export import graded, inside
from verify.export.factored import content
from verify.export.instances import examples
from verify.export.objects import ProofObjects, Reasons, in_ascii, sealed
from verify.methods import derivation
from verify.multipliers import client_proofs
from verify.multipliers.charts import Multiples, Pick, SlackChart, has_no_negative
from verify.multipliers.domains import Domain
from verify.multipliers.forms import ProductSum
from verify.multipliers.inequalities import ComparisonProof
from verify.multipliers.proofs import CaseProof, Tree, leaves
from verify.multipliers.proving import Shown
from verify.multipliers.ratios import Ratio, degree, from_terms, replaced, terms
from verify.multipliers.reasons import MaximumLetter, Reason, Stated
from verify.report import statement
from verify.search import hunting

#: Known inequalities about all clients together: under what name each is linked, and with which sign.
Links = Mapping[str, tuple[str, int]]
_NONE: Links = MappingProxyType({})


def of(shown: Shown) -> ProofObjects:
    """An object for each case of a claim, and for each part of its letters where cases are split."""
    says = [*statement.text(shown.claim), *_numbers_of_clients(shown.claim), BLOCKS]
    return ProofObjects.joined(
        of_proofs(shown.claim.id, [*map(Stated, says)], case, {case: proof})
        for case, tree in shown.cases.items()
        for proof in leaves(tree)
    )


def of_proofs(
    id: str,
    says: Sequence[Reason],
    case: str,
    proofs: Mapping[str, CaseProof],
    own: Iterable[int] = (),
    links: Links = _NONE,
) -> ProofObjects:
    """The object of proofs about the same letters, where these are alike allowed, by what they are proofs of.

    ``own``: the places of letters that each client has of its own; ``links``: what is known of all clients together.
    """
    posed = next(iter(proofs.values())).posed
    used = sorted({i for proof in proofs.values() for i in _used(proof)})
    writing = Writing(posed.domain, posed.names, used)
    programs = [_program(writing, name, proof, links) for name, proof in proofs.items()]
    shared = {"own": [posed.names[i] for i in used if i in set(own)]} if links else {}
    says = [*says, *posed.meanings, *(MaximumLetter(posed.names[i]) for i in posed.domain.bounded)]
    lines = {str(line): line for line in says}
    at = {"case": case}
    head = {"format": checker.FORMAT, "kind": "identity", "claim": id, "says": [*map(str, says)], "at": at}
    known = {
        (in_ascii(item["name"]), in_ascii(item["words"])): proof.posed.reasons[item["name"]]
        for program, proof in zip(programs, proofs.values(), strict=True)
        for item in program["known"]
    }
    reasons = Reasons(known, {in_ascii(text): line for text, line in lines.items()})
    return ProofObjects((sealed({**head, **shared, "programs": programs, **writing.signs()}),), reasons)


def _program(writing: Writing, name: str, proof: CaseProof, links: Links) -> dict[str, Any]:
    posed = proof.posed
    known = [
        {"name": of, "words": str(posed.reasons[of]), "form": writing.form(posed.known[of]), **writing.weight(weight)}
        for of, weight in _signed(proof).items()
        if not weight.is_zero and of not in links
    ]
    return {
        "claimed": f"{name}: the target is at most 0",
        "target": writing.form(posed.target),
        "known": [*known, *_shared(writing, proof, links)],
        "squares": [
            {
                **writing.weight(square.weight),
                "vector": {_row(block, row): writing.ratio(c) for row, c in square.vector.items()},
            }
            for block, squares in graded.squares(proof).items()
            for square in squares
            if not square.weight.is_zero
        ],
    }


def _signed(proof: CaseProof) -> dict[str, Ratio]:
    """The multipliers, none of them negative: a quantity that is 0 has them for its negative, with the other sign."""
    posed, found = proof.posed, dict(proof.multipliers)
    for name in sorted(found.keys() & posed.equal.keys()):
        weight = found[name]
        if posed.domain.ratio_sign(weight) is not None:
            continue
        above, below = terms(weight.num * weight.den), weight.den * weight.den
        parts = ({m: abs(c) for m, c in above if (c > 0) is up} for up in (True, False))
        found[name], less = (Ratio.of(from_terms(posed.domain.ring, part), below) for part in parts)
        other = posed.equal[name]
        found[other] = found.get(other, posed.zero) + less
    return found


def _shared(writing: Writing, proof: CaseProof, links: Links) -> Iterator[dict[str, Any]]:
    """Yield the facts about all clients together, each once, in the direction in which its multiplier is
    nonnegative.
    """
    posed = proof.posed
    for link in sorted({link for link, _ in links.values()}):
        ways = {sign: of for of, (one, sign) in links.items() if one == link}
        nets = [proof.multipliers[of] * sign for sign, of in ways.items() if of in proof.multipliers]
        net = sum(nets, posed.zero)
        # For what is zero, the direction in which its multiplier is nonnegative, or both where it has no sign.
        sign = next((s for s in ways if posed.domain.ratio_sign(net * s) is not None), None)
        weights = (
            {ways[sign]: net * sign}
            if sign is not None
            else {of: proof.multipliers.get(of, posed.zero) for of in ways.values()}
        )
        for of, weight in weights.items():
            if not weight.is_zero:
                form = writing.form(posed.known[of])
                named = {"name": of, "words": str(posed.reasons[of]), "form": form}
                yield {**named, **writing.weight(weight), "shared": True}


def _used(proof: CaseProof) -> list[int]:
    """The places of the letters in a proof."""
    posed = proof.posed
    forms = (posed.target, *(posed.known[name] for name in proof.multipliers))
    ratios = [c for form in forms for c in form.of.values()] + list(proof.multipliers.values())
    ratios += [c for squares in proof.squares.values() for s in squares for c in (s.weight, *s.vector.values())]
    used = {i for c in ratios for i in c.letters()} | set(posed.domain.bounded)
    for constraint in posed.domain.constraints:
        used |= Ratio(constraint.poly, posed.one.den).letters()
    return sorted(used)


#: The meaning of the products in an object.
BLOCKS = "for every n: a product of deviations from the mean over the clients is summed over the clients"


def _numbers_of_clients(claim: Claim) -> list[str]:
    """Which numbers of clients the claim is about, where these are not all: the identity is one for every n, and by
    which steps its vectors come to be is stated for those."""
    restricted = statement.of_clients(claim.setting)
    return [f"stated for {restricted}"] if restricted else []


class Writing:
    """Polynomials and signs as an object has them, and the denominators that were written so far."""

    def __init__(self, domain: Domain, names: tuple[str, ...], used: Sequence[int]) -> None:
        self._domain, self._names, self._used = domain, names, used
        self._constraints = {f"({k})": c for k, c in enumerate(domain.constraints)}
        self._below: dict[str, Any] = {}
        #: The constraints by which signs are shown: the others are not needed.
        self._needed: set[str] = set()

    def signs(self) -> dict[str, Any]:
        """Return an object's facts about its letters, once everything in it is written. Raise ``ValueError`` if no
        values are allowed.
        """
        nonzero, values = self._nonzero(), inside.point(self._domain)
        point = {self._names[i]: str(values[i]) for i in self._used}
        return {"letters": self._letters(), "domain": self._of_domain(), "point": point, "nonzero": nonzero}

    def keep(self, p: Any) -> None:
        """Record that a polynomial is never zero, too."""
        self._below.setdefault(str(p), p)

    def _letters(self) -> dict[str, str]:
        return {self._names[i]: "> 0" if i in self._domain.positive else ">= 0" for i in self._used}

    def _of_domain(self) -> dict[str, Any]:
        return {
            name: {"is": self.polynomial(c.poly), "sign": "> 0" if c.strict else ">= 0"}
            for name, c in self._constraints.items()
            if name in self._needed
        }

    def polynomial(self, p: Any) -> list[Any]:
        """Coefficients with the exponents of the letters."""
        return [[str(c), [m[i] for i in self._used]] for m, c in terms(p)]

    def ratio(self, c: Ratio) -> Any:
        """Write a coefficient, and record that its denominator is never zero."""
        if c.den == 1 and len(c.num) <= 1 and c.num.is_constant():
            return str(Fraction(0) if c.is_zero else terms(c.num)[0][1])
        num, den = _whole(c)
        if den != 1:
            self.keep(den)
        return {"num": self.polynomial(num), "den": self.polynomial(den)}

    def form(self, form: ProductSum) -> dict[str, Any]:
        """A form's coefficients, by the products and values before which they stand."""
        found = {}
        for (kind, *rows), c in form.of.items():
            name = rows[0] if kind == "value" else "|".join(_row(kind, row) for row in rows)
            found["1|1" if (kind, *rows) == ProductSum.ONE else name] = self.ratio(c)
        return found

    def weight(self, c: Ratio) -> dict[str, Any]:
        """A weight, and why it is nonnegative, unless that is seen. Raise ``ValueError`` if it is not shown."""
        num, den = _whole(c)
        shown = {} if has_no_negative(num * den) else {"by": self.sign(num * den, False)}
        return {"weight": self.ratio(c), **shown}

    def _nonzero(self) -> list[dict[str, Any]]:
        return [{"of": self.polynomial(p), "by": self.sign(p, True)} for p in self._below.values()]

    def sign(self, p: Any, strict: bool) -> dict[str, Any]:
        """The certificate of a sign, found again. Raise ``ValueError`` if none is."""
        if p == 0:
            return {"constant": "0", "factors": []}
        constant, factors = p.factor()
        positive, shown = constant > 0, []
        for factor, power in factors:
            needed = strict or int(power) % 2
            side, chart = self._shown(factor, strict) if needed else (1, [])
            entry = {"of": self.polynomial(factor), "power": int(power), "sign": side, "chart": chart}
            shown.append(entry)
            positive = positive == (side > 0 or int(power) % 2 == 0)
        if not positive and not strict:
            raise ValueError(f"{p} is negative")
        return {"constant": str(Fraction(int(constant.p), int(constant.q))), "factors": shown}

    def _shown(self, factor: Any, strict: bool) -> tuple[int, list[Any]]:
        """The sign of a factor and the chart that shows it: of the bound of a maximum, if it is one."""
        bounded = not strict and any(degree(factor, letter) for letter in self._domain.bounded)
        for chart in self._bounded() if bounded else ():
            for side in (1, -1):
                image = chart.image(factor * side)
                if image is not None and has_no_negative(image):
                    return side, self._steps(chart.picks)
        for side in (1, -1):
            found = self._domain.sign(factor * side, strict)
            if found is not None:
                # An irreducible polynomial is its own only factor.
                return side, self._steps(found.factors[0][2], *self._domain.taken_off(factor * side, strict))
        raise ValueError(f"the sign of {factor} is not shown")

    def _bounded(self) -> Iterator[SlackChart]:
        """Charts that end by a letter that stands for a maximum: some bounds are solved once others are replaced."""
        regular = self._domain.regular_chart()
        for here in (self._domain.plain, *([regular] if regular else [])):
            for place, letter in product(range(len(here.left)), self._domain.bounded):
                after = here.step((place, letter))
                if after is not None:
                    yield after

    def _steps(self, picks: tuple[Pick, ...], by: Any = 1, taken: Multiples = ()) -> list[Any]:
        """The steps of a chart, with the constraint that each uses by name, and then multiples that are taken off, the
        first of the product with ``by``."""
        chart, polynomials, found = self._domain.plain, {k: c.poly for k, c in self._constraints.items()}, []
        for place, i in picks:
            left = chart.left[place].poly
            name, times = next(_multiples(chart, polynomials, left))
            self._needed.add(name)
            found.append([self._names[i], name, self.polynomial(times), self.polynomial(left)])
            after = chart.step((place, i))
            assert after is not None, "the picks are those of a chart"
            _, num, den = after.steps[-1]
            rest = _at_zero(left, i)
            polynomials[name] = rest if den.degrees()[i] else None
            polynomials = {k: replaced(q, i, num, den) for k, q in polynomials.items() if q is not None}
            chart = after
        for k, (c, left) in enumerate(taken):
            name, times = next(_multiples(chart, polynomials, left))
            self._needed.add(name)
            found.append([self.polynomial(c), name, self.polynomial(times), self.polynomial(left)])
            found[-1] += [self.polynomial(by)] if k == 0 and by != 1 else []
        return found


def _whole(c: Ratio) -> tuple[Any, Any]:
    """The polynomials of a quotient with integers, which are calculated with much faster than fractions."""
    size = content([c.num, c.den])
    return c.num / size, c.den / size


def _at_zero(p: Any, i: int) -> Any:
    """Return a polynomial with one letter set to 0."""
    return p.context().from_dict({m: c for m, c in p.to_dict().items() if not m[i]})


def _multiples(chart: SlackChart, polynomials: Mapping[str, Any], left: Any) -> Iterator[tuple[str, Any]]:
    """Constraints that are a positive multiple of a polynomial, and the multiple."""
    for name, p in polynomials.items():
        times, rest = divmod(p, left)
        if rest == 0 and has_no_negative(times) and chart.is_positive(times):
            yield name, times


def _row(block: str, row: str) -> str:
    return f"{block}: {row}".replace("|", "/")


SUMMED = (
    "left - right is a sum over the clients of what each adds, times what is positive: each program shows of one sort "
    "of clients that this is at most 0, and what is shared is at most 0 once it is summed over all"
)


def of_each_client(claim: Claim) -> ProofObjects:
    """An object for each comparison of a claim in each of its cases. ``ValueError`` says what stands in the way."""
    rng = hunting.generator(claim, 0)
    shown = client_proofs.shown(claim, examples(claim, rng), rng)
    if isinstance(shown, str):
        raise ValueError(shown)
    return ProofObjects.joined(
        _of_group(claim, group, proofs) for group, trees in shown for proofs in _alike(group, trees)
    )


def _alike(group: ComparisonProof, trees: Mapping[str, Tree]) -> Iterator[dict[str, CaseProof]]:
    """The proofs of all sorts of clients. Raise ``ValueError`` if they are not about the same letters."""
    found = {name: [*leaves(tree)] for name, tree in trees.items()}
    proofs = {name if len(of) == 1 else f"{name}, part {k}": p for name, of in found.items() for k, p in enumerate(of)}
    domains = {(p.posed.names, *map(str, p.posed.domain.constraints), p.posed.domain.positive) for p in proofs.values()}
    if len(domains) == 1:
        yield proofs
    elif group.linked:
        raise ValueError("what is linked is shown for letters that are not allowed alike")
    else:
        yield from ({name: proof} for name, proof in proofs.items())


def _of_group(claim: Claim, group: ComparisonProof, proofs: Mapping[str, CaseProof]) -> ProofObjects:
    says = [*map(Stated, [*statement.text(claim), SUMMED]), *group.meanings]
    return of_proofs(claim.id, says, group.name, proofs, group.own, group.linked)


def of_derived(claim: Claim) -> ProofObjects:
    """An object for each inequality that is shown besides the claims. ``ValueError`` says what stands in the way."""
    premises = derivation.premises_of(claim)
    if combined.speaks_of(claim):
        raise ValueError("nothing is shown besides the claims that are added up, which have objects of their own")
    found = derivation.following(claim, premises)
    rules = sorted({step.rule for step in found.steps})
    ids = sorted(premise.id for premise in found.used)
    says = f"of {claim.id}, which follows from it and from {', '.join(ids)}, by the rules: {', '.join(rules)}"
    made = ProofObjects.joined(map(of_each_client, found.own))
    return made.saying(Stated(says), claim=claim.id)
