"""Check proof objects with the standard library alone: ``python checker.py FILE ...``.

What has to be trusted is this file, and the words that it prints: what is claimed, and where each known form comes
from. An object is of one of three kinds.

**identity.** Each of its programs proves that a *target* is at most 0 wherever the *known* forms are at most 0:

    target  =  sum of weight * known  -  sum of weight * |vector|^2,        all weights >= 0.

A form maps products to coefficients: ``"a|b"`` is the inner product of the vectors a and b, ``"1|1"`` the number 1,
and a name without a bar is a number. Nothing else is known of the vectors, so the identity holds in every dimension.

Coefficients and weights are fractions, or quotients {"num": p, "den": q} of polynomials in the *letters*. A
polynomial is a list of [coefficient, exponents]: with the letters x and y, [["3", [2, 0]], ["-1", [0, 1]]] is 3 x^2 -
y. The *domain* is what is assumed: each letter is > 0 or >= 0, and so are the polynomials that are listed there. At
the *point*, which gives each letter a value, all of that is so: from a domain without any point everything would
follow. That a weight is >= 0, and that a denominator is never 0 (*nonzero*), is shown by a certificate: see
:meth:`Identity.check_factors`.

A known form may be *shared*: it is at most 0 when summed over all clients. There is a program for each kind of client
then, and the form has the same weight in all of them, free of the letters that each client has of its *own*.

**arithmetic.** A calculation with fractions that ends in a comparison which is true: see :func:`check_arithmetic`.

**recomputation.** Nothing that can be checked here; the output says so.

No number is a float: fractions are texts, exponents are integers. Whatever is not expected is an error.
"""

import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from operator import add, eq, le, lt, mul, ne, sub, truediv
from typing import Any, NamedTuple

FORMAT = "fedtheory-proof-3"
#: Exponents and powers are below this.
LARGEST_POWER = 1000
OPERATIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": add,
    "-": sub,
    "*": mul,
    "/": truediv,
    "<": lt,
    "<=": le,
    "==": eq,
    "!=": ne,
}

Number = Fraction | int
#: The powers of the letters in a monomial, in the order in which the object lists the letters.
Exponents = tuple[int, ...]
#: Coefficients of monomials, none of which is 0.
Polynomial = dict[Exponents, Number]
#: A polynomial as a key.
Key = frozenset[tuple[Exponents, Number]]
#: Numerator and denominator.
Quotient = tuple[Polynomial, Polynomial]
#: Part of an object, as it is read from JSON.
Json = Mapping[str, Any]


class Bound(NamedTuple):
    """A polynomial that is >= 0, or > 0 if ``strict``."""

    polynomial: Polynomial
    strict: bool


class Region(NamedTuple):
    """The region on which a polynomial is considered: all its variables are >= 0.

    ``positive``: the variables, by index, that are > 0. ``bounds``: what is known besides, by name.
    """

    positive: frozenset[int]
    bounds: Mapping[str, Bound]


def require(condition: object, message: str) -> None:
    """``ValueError`` with the message unless the condition is true."""
    if not condition:
        raise ValueError(message)


def read_fraction(text: object) -> Fraction:
    """The fraction that a text of digits, "-" and "/" stands for."""
    if not isinstance(text, str) or not set(text) <= set("-/0123456789"):
        raise ValueError(f"{text!r} is not a fraction as text")
    return Fraction(text)


# Polynomials.


def collect(*groups: Iterable[tuple[Exponents, Number]]) -> Polynomial:
    """The sum of all terms of all groups."""
    total: Polynomial = {}
    for terms in groups:
        for exponents, coefficient in terms:
            total[exponents] = total.get(exponents, 0) + coefficient
    return {exponents: coefficient for exponents, coefficient in total.items() if coefficient}


def multiply(first: Polynomial, *others: Polynomial) -> Polynomial:
    """The product of all."""
    product = first
    for other in others:
        product = collect(
            (tuple(map(add, j, k)), b * c)  # The exponents of a product are the sums of the exponents.
            for j, b in product.items()
            for k, c in other.items()
        )
    return product


def negative(p: Polynomial) -> Polynomial:
    """-p."""
    return {exponents: -coefficient for exponents, coefficient in p.items()}


def coefficients_of(p: Polynomial, i: int) -> dict[int, Polynomial]:
    """The coefficients of the powers of variable i in p, by power: polynomials in the other variables. That of power 0
    is there, if only as the polynomial 0."""
    by_power: dict[int, Polynomial] = {0: {}}
    for exponents, coefficient in p.items():
        rest = (*exponents[:i], 0, *exponents[i + 1 :])
        by_power.setdefault(exponents[i], {})[rest] = coefficient
    return by_power


def substitute(p: Polynomial, i: int, numerator: Polynomial, denominator: Polynomial) -> Polynomial:
    """denominator^k * p with variable i = numerator/denominator, where k is the degree of p in it.

    It has the sign of p where the denominator is > 0.
    """
    by_power = coefficients_of(p, i)
    degree = max(by_power)
    terms = []
    for power, coefficient in by_power.items():
        factors = [numerator] * power + [denominator] * (degree - power)
        terms.append(multiply(coefficient, *factors).items())
    return collect(*terms)


def has_no_negative_coefficient(p: Polynomial) -> bool:
    """Return True if no coefficient is negative, so that p >= 0 wherever all variables are >= 0."""
    return all(coefficient > 0 for coefficient in p.values())


def is_above_zero(p: Polynomial, positive: Iterable[int]) -> bool:
    """Return True if p > 0 wherever all variables are >= 0 and those in ``positive`` are > 0.

    This is so if no coefficient is negative, and one monomial has no variables but these.
    """
    never_zero = any(all(i in positive for i, power in enumerate(exponents) if power) for exponents in p)
    return never_zero and has_no_negative_coefficient(p)


class Identity:
    """An object of the kind "identity": it is checked when it is made, and ``ValueError`` says what does not hold."""

    def __init__(self, data: Json) -> None:
        self.letters: list[str] = list(data["letters"])
        self.zero_exponents: Exponents = (0,) * len(self.letters)
        self.one: Polynomial = {self.zero_exponents: 1}
        self.variables: list[Polynomial] = [
            {tuple(int(k == i) for k in range(len(self.letters))): 1} for i in range(len(self.letters))
        ]
        require(data["programs"], "nothing is claimed")
        self.domain = self.read_domain(data["letters"], data["domain"])
        self.check_point(data["letters"], data.get("point", {}))
        #: What is nowhere 0 in the domain: the factors that each such polynomial is the product of.
        self.nonzero: dict[Key, list[Key]] = {frozenset(self.one.items()): []}
        for item in data["nonzero"]:
            p = self.read_polynomial(item["of"])
            factors = self.check_factors(p, item["by"], never_zero=True)
            self.nonzero[frozenset(p.items())] = [frozenset(factor.items()) for factor in factors]
        shared = [self.check_program(program) for program in data["programs"]]
        self.check_shared(shared, own={self.letters.index(letter) for letter in data.get("own", ())})

    def read_domain(self, letters: Json, listed: Json) -> Region:
        """Read what is assumed of the letters."""
        signs = [*letters.values(), *(bound["sign"] for bound in listed.values())]
        require(set(signs) <= {"> 0", ">= 0"}, "a sign is neither > 0 nor >= 0")
        positive = frozenset(i for i, letter in enumerate(self.letters) if letters[letter] == "> 0")
        bounds = {
            name: Bound(self.read_polynomial(bound["is"]), bound["sign"] == "> 0") for name, bound in listed.items()
        }
        return Region(positive, bounds)

    def check_point(self, letters: Json, point: Json) -> None:
        """The domain is not empty: the point lies in it."""
        require(point.keys() == letters.keys(), "the point has other letters")
        values = [read_fraction(point[letter]) for letter in self.letters]
        signs = [Bound(x, i in self.domain.positive) for i, x in enumerate(self.variables)]
        for polynomial, strict in [*signs, *self.domain.bounds.values()]:
            value = sum(c * math.prod(map(pow, values, exponents)) for exponents, c in polynomial.items())
            require(value > 0 or (value == 0 and not strict), "the point is not in the domain")

    # What an object holds.

    def read_polynomial(self, terms: Sequence[tuple[object, Sequence[int]]]) -> Polynomial:
        """A polynomial from its list of [coefficient, exponents]."""
        read = []
        for coefficient, exponents in terms:
            require(len(exponents) == len(self.letters), "a term has not one exponent for each letter")
            plain = all(type(power) is int and 0 <= power < LARGEST_POWER for power in exponents)
            require(plain, "an exponent is not an integer from 0 to 999")
            fraction = read_fraction(coefficient)
            # Integers are faster than fractions.
            read.append((tuple(exponents), fraction if fraction % 1 else int(fraction)))
        return collect(read)

    def read_quotient(self, coefficient: Any) -> Quotient:
        """A fraction or a quotient of polynomials, whose denominator is one of those that are never 0."""
        if isinstance(coefficient, str):
            numerator, denominator = self.read_polynomial([(coefficient, self.zero_exponents)]), self.one
        else:
            numerator, denominator = map(self.read_polynomial, (coefficient["num"], coefficient["den"]))
        require(frozenset(denominator.items()) in self.nonzero, "a denominator may be 0")
        return numerator, denominator

    # Signs.

    def check_weight(self, item: Json) -> Quotient:
        """The weight of a known form or of a square, once it is shown to be >= 0."""
        numerator, denominator = weight = self.read_quotient(item["weight"])
        # The sign of a quotient is the sign of the product of both.
        p = multiply(numerator, denominator)
        if not has_no_negative_coefficient(p):
            self.check_factors(p, item["by"], never_zero=False)
        return weight

    def check_factors(self, p: Polynomial, certificate: Json, never_zero: bool) -> list[Polynomial]:
        """Check that p >= 0 in the domain, or with ``never_zero`` that p is nowhere 0. Returns the factors of p.

        The certificate {"constant": c, "factors": [{"of": q, "power": k, "sign": s, "chart": steps}, ...]} says that
        p is c times the product of all q^k. The sign of q is s = 1 or -1: s q, rewritten by the steps, has no
        negative coefficient. It matters for odd k only; to be never 0, each factor has to be.
        """
        constant = read_fraction(certificate["constant"])
        sign: Number = constant
        factors = [self.read_polynomial([(certificate["constant"], self.zero_exponents)])]
        for factor in certificate["factors"]:
            q, power, s = self.read_polynomial(factor["of"]), factor["power"], factor["sign"]
            require(type(s) is int and s in (1, -1), "the sign of a factor is neither 1 nor -1")
            require(type(power) is int and 0 < power < LARGEST_POWER, "the power of a factor is not from 1 to 999")
            factors += [q] * power
            if power % 2 or never_zero:
                sign *= s
                rewritten, positive = self.rewrite(q if s == 1 else negative(q), factor["chart"])
                shown = is_above_zero(rewritten, positive) if never_zero else has_no_negative_coefficient(rewritten)
                require(shown, "the sign of a factor is not shown")
        require(p and multiply(*factors) == p, "the product of the factors is another polynomial")
        require(never_zero or sign > 0, "the factors make a polynomial of the other sign")
        return factors

    def rewrite(self, p: Polynomial, chart: Iterable[Sequence[Any]]) -> tuple[Polynomial, frozenset[int]]:
        """A polynomial that is >= 0, or > 0, only where p is, and the variables in it that are > 0.

        Each step [first, name, times, left, ...] uses a bound that has become times * left, where times > 0: so left
        is >= 0. If ``first`` is a letter, the step solves left for it, and the letter stands for a slack from there
        on. If it is a polynomial, ``first`` * left is taken off.
        """
        region = self.domain
        for first, name, times, left, *multipliers in chart:
            factor, rest = self.read_polynomial(times), self.read_polynomial(left)
            require(region.bounds[name].polynomial == multiply(factor, rest), f"{name} is another polynomial here")
            require(is_above_zero(factor, region.positive), f"what {name} is divided by may be 0")
            if isinstance(first, str):
                require(not multipliers, "a step that solves a bound has no multiples")
                p, region = self.solve(p, region, self.letters.index(first), name, rest)
            else:
                p = self.take_off(p, region, self.read_polynomial(first), rest, multipliers)
        return p, region.positive

    def take_off(
        self, p: Polynomial, region: Region, more: Polynomial, left: Polynomial, multipliers: Iterable[Any]
    ) -> Polynomial:
        """p * product of the multipliers - more * left: p >= 0 follows from its sign, as left >= 0.

        The multipliers are > 0, and more >= 0.
        """
        scales = [self.read_polynomial(terms) for terms in multipliers]
        require(all(is_above_zero(scale, region.positive) for scale in scales), "a multiplier is not > 0")
        require(more and has_no_negative_coefficient(more), "a negative multiple of a bound is taken off")
        return collect(multiply(p, *scales).items(), negative(multiply(more, left)).items())

    def solve(self, p: Polynomial, region: Region, i: int, name: str, left: Polynomial) -> tuple[Polynomial, Region]:
        """p and the region with variable x (number i) in terms of a slack t >= 0, by the bound left = A x + B >= 0.

        If A > 0, the slack is t = left/A: x = (A t - B)/A. If A < 0 and x > 0, the slack is t = left/(-A x): then x =
        B/(-A (1 + t)), and B > 0 takes the place of the bound. In both cases t takes the place of x, and t > 0 where
        the bound is strict. All polynomials are multiplied by powers of the denominator, which is > 0.
        """
        by_power = coefficients_of(left, i)
        require(set(by_power) == {0, 1}, f"{self.letters[i]} is not bounded by {name}")
        A, B, t = by_power[1], by_power[0], self.variables[i]
        strict = region.bounds[name].strict
        bounds = {other: bound for other, bound in region.bounds.items() if other != name}
        if is_above_zero(A, region.positive):
            numerator, denominator = collect(multiply(A, t).items(), negative(B).items()), A
        else:
            below = i in region.positive and is_above_zero(negative(A), region.positive)
            require(below, f"{self.letters[i]} is not bounded by {name}")
            numerator, denominator = B, multiply(negative(A), collect(self.one.items(), t.items()))
            bounds[name] = Bound(B, True)
        changed = {
            other: Bound(substitute(bound.polynomial, i, numerator, denominator), bound.strict)
            for other, bound in bounds.items()
        }
        positive = region.positive | {i} if strict else region.positive - {i}
        return substitute(p, i, numerator, denominator), Region(positive, changed)

    # Programs.

    def check_program(self, program: Json) -> list[tuple[str, Any]]:
        """Check that the target is the sum of the known forms less squares, with weights >= 0.

        Returns the name and the weight of each shared form.
        """
        texts = [program["claimed"], *(item["words"] for item in program["known"])]
        named = all(isinstance(text, str) and text.strip() for text in texts)
        require(named, "there are no words for what is claimed, or for what is known")
        marks = [item["shared"] for item in program["known"] if "shared" in item]
        require(all(mark is True for mark in marks), "shared is something other than true")
        sums = Sums(self)
        for product, c in program["target"].items():
            sums.add(product.split("|"), -1, self.read_quotient(c))
        for item in program["known"]:
            weight = self.check_weight(item)
            for product, c in item["form"].items():
                sums.add(product.split("|"), 1, weight, self.read_quotient(c))
        for item in program["squares"]:
            weight = self.check_weight(item)
            entries = [(name, self.read_quotient(c)) for name, c in item["vector"].items()]
            for a, x in entries:
                for b, y in entries:
                    sums.add([a, b], -1, weight, x, y)
        sums.check_cancel()
        return [(item["name"], item["weight"]) for item in program["known"] if "shared" in item]

    def check_shared(self, shared: Sequence[list[tuple[str, Any]]], own: set[int]) -> None:
        """The shared forms have one weight in all programs, without letters of a client's own."""
        require(all(one == shared[0] for one in shared), "a shared weight is not one for all clients")
        for _, weight in shared[0]:
            for polynomial in self.read_quotient(weight):
                free = not any(exponents[i] for exponents in polynomial for i in own)
                require(free, "a shared weight has a letter of a client's own")


class Sums:
    """Sums of products of quotients, one for each product of vectors, which have to cancel."""

    def __init__(self, identity: Identity) -> None:
        self.identity = identity
        #: For each product of vectors the terms of the numerators, by the factors of their denominators.
        self.terms: dict[tuple[str, ...], dict[tuple[Key, ...], list[tuple[Exponents, Number]]]] = {}

    def add(self, product: Sequence[str], factor: int, *quotients: Quotient) -> None:
        """Add factor * product of the quotients to the coefficient of a product of vectors."""
        numerators, denominators = zip(*quotients, strict=True)
        factors = tuple(q for p in denominators for q in self.identity.nonzero[frozenset(p.items())])
        by_denominator = self.terms.setdefault(tuple(sorted(product)), {})
        scale: Polynomial = {self.identity.zero_exponents: factor}
        by_denominator.setdefault(factors, []).extend(multiply(scale, *numerators).items())

    def check_cancel(self) -> None:
        """Check that each sum is 0, over the least common multiple of its denominators."""
        for product, by_denominator in self.terms.items():
            multiple = {
                q: max(factors.count(q) for factors in by_denominator) for factors in by_denominator for q in factors
            }
            numerators = []
            for factors, terms in by_denominator.items():
                # Short factors first: that is faster.
                lacking = [dict(q) for q in sorted(multiple, key=len) for _ in range(multiple[q] - factors.count(q))]
                numerators.append(multiply(self.identity.one, *lacking, collect(terms)).items())
            require(not collect(*numerators), f"the sides differ at {product}")


def check_arithmetic(data: Json) -> None:
    """Check a calculation: each step is [name, number] or [name, operation, names of what it is made of].

    Every comparison is true, and the last step is one. A number is named by itself, or it is one of those listed under
    "at", all of which occur.
    """
    known: dict[str, Fraction | bool] = {}
    listed = {}
    name = ""
    for name, first, *names in data["steps"]:
        require(name not in known, f"{name} is two things")
        require(name == first or name[:1].isalpha(), f"{name} is not a name for a number")
        require(all(isinstance(known[x], Fraction) for x in names), f"{name} is made of what is not a number")
        if names:
            known[name] = OPERATIONS[first](*(known[x] for x in names))
        else:
            known[name] = read_fraction(first)
            if name != first:
                listed[name] = first
        require(known[name] is not False, f"{name} does not hold")
    require(known and known[name] is True, "nothing is compared in the end")
    require(listed == data["at"], "the numbers are others than those that are listed")


#: The check of each kind of object, and its fields beside those that all have.
KINDS: Mapping[str, tuple[Callable[[Json], object], set[str]]] = {
    "identity": (Identity, {"at", "letters", "own", "domain", "point", "nonzero", "programs"}),
    "arithmetic": (check_arithmetic, {"at", "steps"}),
    "recomputation": (lambda data: None, set()),
}
COMMON = {"format", "kind", "claim", "says", "digest"}


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, in which no name occurs twice."""
    require(len(dict(pairs)) == len(pairs), "a name is given twice")
    return dict(pairs)


def check(text: str) -> dict[str, Any]:
    """Return the object that a text holds, if it proves what it claims.

    Args:
        text: A proof object in JSON, as ``fedtheory export`` writes it.

    Returns:
        The object.

    Raises:
        ValueError: If the object does not hold; the message says why.

    Examples:
        >>> from verify import checker
        >>> checker.check("μ")
        Traceback (most recent call last):
        ...
        ValueError: it has more than plain letters
    """
    try:
        # No letter looks like another, and nothing that is printed hides another line.
        require(text.isascii() and "\\" not in text.replace('\\"', ""), "it has more than plain letters")
        data = json.loads(text, object_pairs_hook=_without_repetition)
        unsealed = json.dumps({**data, "digest": ""}, sort_keys=True)
        require(data["format"] == FORMAT, f"its format is not {FORMAT}")
        digest = hashlib.sha256(unsealed.encode()).hexdigest()
        require(data["digest"] == digest, "it is not as it was written: another digest")
        check_kind, fields = KINDS[data["kind"]]
        require(set(data) <= COMMON | fields, "it has more than what is checked")
        require(COMMON <= set(data), "a field is missing")
        check_kind(data)
    except (LookupError, TypeError, AttributeError, RecursionError, ArithmeticError) as error:
        raise ValueError(f"it is not a proof object: {error!r}") from None
    return data


def written(terms: Sequence[tuple[object, Sequence[int]]], letters: Sequence[str]) -> str:
    """A polynomial in the letters, as people write it."""
    found = []
    for coefficient, exponents in terms:
        powers = [x if k == 1 else f"{x}^{k}" for x, k in zip(letters, exponents, strict=True) if k]
        number = str(coefficient)
        if powers and number in ("1", "-1"):
            found.append(number[:-1] + "*".join(powers))
        else:
            found.append("*".join([number, *powers]))
    return " + ".join(found).replace("+ -", "- ") or "0"


def describe(data: Json) -> list[str]:
    """The words of an object that holds: what is claimed, where, and what is taken as known."""
    lines = [f"    {line}" for line in data["says"]]
    letters, at = data.get("letters") or {}, data.get("at") or {}
    bounds = (data.get("domain") or {}).values()
    listed: dict[str, Iterable[str]] = {
        "at": [f"{x} = {value}" for x, value in at.items()] if isinstance(at, dict) else [str(at)],
        "letters": [f"{letter} {sign}" for letter, sign in letters.items()],
        "own": data.get("own") or (),
        "domain": [f"{written(bound['is'], tuple(letters))} {bound['sign']}" for bound in bounds],
        "point": [f"{letter} = {value}" for letter, value in (data.get("point") or {}).items()],
    }
    lines += [f"  {field}: {', '.join(parts)}" for field, parts in listed.items() if parts]
    for program in data.get("programs", ()):
        lines.append(f"  {program['claimed']}, as")
        lines += [f"  {item['words']}{'; shared' if 'shared' in item else ''}" for item in program["known"]]
    return lines


def main(paths: Sequence[str]) -> None:
    """Check the files, print what they show, and count them by kind; the first that does not hold ends it."""
    outcomes: list[str] = []
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                data = check(file.read())
        except (ValueError, OSError) as error:
            sys.exit(f"{path}: DOES NOT HOLD: {error}")
        outcomes.append("recomputation, NOT CHECKED HERE" if data["kind"] == "recomputation" else "holds")
        print(f"{path}: {outcomes[-1]}: {data['claim']}", *describe(data), sep="\n")
    for outcome in sorted(set(outcomes)):
        print(f"{outcome}: {outcomes.count(outcome)}")


if __name__ == "__main__":
    main(sys.argv[1:])
