"""Checks proof objects with the standard library alone: ``python checker.py FILE ...``.

An "identity" proves that a ``target`` is <= 0 wherever ``known`` forms are, in every inner-product space: sums of
coefficients times inner products ``a|b`` of vectors (``1|1`` is 1), and numbers, named without a bar. Weights are >= 0;
target = sum of weight * known - sum of weight * |square|^2. Coefficients are "p/q", or quotients {"num": p, "den": q}
of polynomials [["p/q", [exponents]], ...] in the ``letters``, which, and what "is" in the ``domain``, are "> 0" or ">=
0", as at the ``point``; all q are ``nonzero``. That p >= 0 is shown by {"constant": c, "factors": [{"of": q, "power":
k, "sign": s, "chart": steps}, ...]}: p = c * product of q^k, and for odd k s q has no coefficient below 0 once letters
are written by slacks t >= 0. A step [letter x, name, times, left] takes out of the domain what was made times * left,
times > 0 and left = A x + B. If A > 0, x = (A t - B)/A; if A < 0, and x > 0 still, x = B/(-A (1 + t)), and B > 0
replaces it. With a polynomial for x, so much of left is taken off, of a multiple if told. The "shared" is <= 0 summed
over clients, of one weight, without ``own`` letters. "arithmetic" has ``steps``, [name, number] or [name, operation,
names]; what they compare is so, ``at`` the numbers with names. To be trusted: ``words`` of the known, and the claim."""

import hashlib
import json
import math
import sys
from fractions import Fraction
from operator import add, eq, le, lt, mul, ne, sub, truediv

FORMAT = "fedtheory-proof-3"
OPERATIONS = {"+": add, "-": sub, "*": mul, "/": truediv, "<": lt, "<=": le, "==": eq, "!=": ne}


def need(truth, why):
    if not truth:
        raise ValueError(why)


def number(text):
    need(isinstance(text, str) and set(text) <= set("-/0123456789"), f"{text!r} is no fraction as text")
    return Fraction(text)


def collected(*several):  # The polynomial, {exponents: coefficient}, that all their terms make.
    out = {}
    for key, c in (term for terms in several for term in terms):
        out[key] = out.get(key, 0) + c
    return {key: c for key, c in out.items() if c}


def multiply(a, *others):
    for b in others:
        a = collected((tuple(map(sum, zip(k, m))), c * e) for k, c in a.items() for m, e in b.items())
    return a


def by_degree(p, i):
    out = {0: {}}
    for key, c in p.items():
        out.setdefault(key[i], {})[(*key[:i], 0, *key[i + 1 :])] = c
    return out


def written(p, i, num, den):  # The numerator of p with num/den, den > 0, for a letter.
    parts = by_degree(p, i)
    return collected(*(multiply(c, *[num] * k, *[den] * (max(parts) - k)).items() for k, c in parts.items()))


def above_zero(p, positive):  # No coefficient is below 0, and one term has only letters that are never 0.
    return all(c > 0 for c in p.values()) and any(all(i in positive for i, k in enumerate(key) if k) for key in p)


class Proof:
    def __init__(self, data):
        self.letters, domain = list(data["letters"]), data["domain"]
        places, signs = range(len(self.letters)), [*data["letters"].values(), *(c["sign"] for c in domain.values())]
        need(set(signs) <= {"> 0", ">= 0"} and data["programs"], "a sign is not right, or nothing is claimed")
        self.positive = {i for i in places if signs[i] == "> 0"}
        own = {self.letters.index(x) for x in data.get("own", ())}
        self.one, self.minus = ({(0,) * len(places): c} for c in (1, -1))
        self.domain = {name: (self.polynomial(c["is"]), c["sign"] == "> 0") for name, c in domain.items()}
        self.units = [{tuple(int(k == i) for k in places): 1} for i in places]
        need((at := data.get("point", {})).keys() == data["letters"].keys(), "the point has other letters")
        for p, strict in [*self.domain.values(), *((x, i in self.positive) for i, x in enumerate(self.units))]:
            value = sum(c * math.prod(number(at[x]) ** k for x, k in zip(self.letters, key)) for key, c in p.items())
            need(value > 0 or (value == 0 and not strict), "the point is not in the domain")
        proofs = (self.show(self.polynomial(item["of"]), item["by"], strict=True) for item in data["nonzero"])
        self.nonzero = {frozenset(self.one.items()): [], **dict(proofs)}
        shared = [self.prove(program) for program in data["programs"]]
        mine = any(key[i] for _, c in shared[0] for p in self.quotient(c) for key in p for i in own)
        need(shared.count(shared[0]) == len(shared) and not mine, "a shared weight is not one for all clients")

    def polynomial(self, terms):
        for _, key in terms:
            need(len(key) == len(self.letters) and all(type(k) is int and 0 <= k < 1000 for k in key), "exponents")
        return collected((tuple(key), x if x % 1 else int(x)) for c, key in terms for x in [number(c)])

    def quotient(self, c):
        both = ([[x, key] for key in self.one] for x in (c, "1")) if isinstance(c, str) else (c["num"], c["den"])
        num, den = map(self.polynomial, both)
        need(frozenset(den.items()) in self.nonzero, "a denominator may be 0")
        return num, den

    def show(self, p, by, strict=False):  # That p >= 0; strict: that it is never 0, whatever its sign. Its factors.
        if not strict and all(c >= 0 for c in p.values()):
            return None
        sign, made = number(by["constant"]), [self.polynomial([[by["constant"], *self.one]])]
        for factor in by["factors"]:
            of, s, k = self.polynomial(factor["of"]), factor["sign"], factor["power"]
            need(type(s) is type(k) is int and abs(s) == 1 and 0 < k < 1000, "a factor has no sign, or no power")
            made += [of] * k
            if k % 2 or strict:
                sign *= s
                image, positive = self.follow(factor["chart"], {key: s * c for key, c in of.items()})
                need(above_zero(image, positive) if strict else all(c > 0 for c in image.values()), "a sign is not so")
        need(p and multiply(*made) == p and (strict or sign > 0), "the factors make another, or one of another sign")
        return frozenset(p.items()), [frozenset(q.items()) for q in made]

    def follow(self, chart, image):  # What is >= 0 or > 0 only where it is, in slacks, and those that are never 0.
        positive, domain = set(self.positive), dict(self.domain)
        for letter, name, times, left, *by in chart:
            (p, strict), times, left = domain[name], self.polynomial(times), self.polynomial(left)
            need(p == multiply(times, left) and above_zero(times, positive), f"{name} is another polynomial here")
            if not isinstance(letter, str):
                more, by = self.polynomial(letter), [self.polynomial(c) for c in by]
                need(min(more.values()) > 0 and all(above_zero(c, positive) for c in by), "a multiple is not >= 0")
                image = collected(multiply(image, *by).items(), multiply(more, left, self.minus).items())
                continue
            parts, _ = by_degree(left, i := self.letters.index(letter)), domain.pop(name)
            up = above_zero(parts[1], positive)
            A = parts[1] if up else {key: -c for key, c in parts[1].items()}
            holds = set(parts) == {0, 1} and not by and (up or (i in positive and above_zero(A, positive)))
            need(holds, f"{letter} is not bounded by {name}")
            B, Ax = parts[0], multiply(A, self.units[i]).items()
            num, den = (collected(Ax, multiply(B, self.minus).items()), A) if up else (B, collected(A.items(), Ax))
            domain |= {} if up else {name: (B, True)}
            positive = positive | {i} if strict else positive - {i}
            image = written(image, i, num, den)
            domain = {key: (written(q, i, num, den), s) for key, (q, s) in domain.items()}
        return image, positive

    def prove(self, program):
        said = [program["claimed"], *(item["words"] for item in program["known"])]
        need(all(isinstance(x, str) and x.strip() for x in said), "it is not said what is claimed, or what is known")
        need(all(item.get("shared", True) is True for item in program["known"]), "shared is not told by true")
        parts = [(key.split("|"), -1, [self.quotient(c)]) for key, c in program["target"].items()]
        for item in program["known"]:
            self.show(multiply(*(weight := self.quotient(item["weight"]))), item.get("by"))
            parts += [(key.split("|"), 1, [weight, self.quotient(c)]) for key, c in item["form"].items()]
        for item in program["squares"]:
            self.show(multiply(*(weight := self.quotient(item["weight"]))), item.get("by"))
            rows = [(name, self.quotient(c)) for name, c in item["vector"].items()]
            parts += [((a, b), -1, [weight, x, y]) for a, x in rows for b, y in rows]
        sums = {}
        for key, factor, quotients in parts:
            den = tuple(q for _, den in quotients for q in self.nonzero[frozenset(den.items())])
            terms = sums.setdefault(tuple(sorted(key)), {}).setdefault(den, [])
            terms += multiply({key: factor for key in self.one}, *(num for num, _ in quotients)).items()
        for key, by in sums.items():  # Over the least that all denominators divide, short factors first.
            most = {q: max(den.count(q) for den in by) for den in by for q in den}
            lacks = {den: [dict(q) for q in sorted(most, key=len) for _ in range(most[q] - den.count(q))] for den in by}
            left = collected(*(multiply(self.one, *lacks[den], collected(c)).items() for den, c in by.items()))
            need(not left, f"the sides differ at {key}")
        return [(item["name"], item["weight"]) for item in program["known"] if "shared" in item]


def calculate(data):
    known = {}
    for name, by, *of in data["steps"]:
        need(name not in known and (name == by or name[:1].isalpha()), f"{name} is two things")
        need(all(isinstance(known[x], Fraction) for x in of), f"{name} is made of what is no number")
        known[name] = OPERATIONS[by](*(known[x] for x in of)) if of else number(by)
        need(known[name] is not False, f"{name} is not so")
    need(known and known[name] is True, "nothing is compared in the end")
    need({name: by for name, by, *of in data["steps"] if not of and name != by} == data["at"], "numbers are others")


def check(text):
    """The object, if it proves what it claims; ``ValueError`` says why not."""
    kinds = {"identity": (Proof, "at", "letters", "own", "domain", "point", "nonzero", "programs")}
    kinds |= {"arithmetic": (calculate, "at", "steps"), "recomputation": (dict,)}
    try:
        need(text.isascii() and "\\" not in text.replace('\\"', ""), "it has more than plain letters")
        data = json.loads(text, object_pairs_hook=lambda p: need(len(dict(p)) == len(p), "a name twice") or dict(p))
        digest = hashlib.sha256(json.dumps({**data, "digest": ""}, sort_keys=True).encode()).hexdigest()
        need((data["format"], data["digest"]) == (FORMAT, digest), f"it is not a {FORMAT} as it was written")
        shows, *fields = kinds[data["kind"]]
        need(set(data) <= {"format", "kind", "claim", "says", "digest", *fields}, "it has more than what is checked")
        shows(data)
        return data
    except (LookupError, TypeError, AttributeError, RecursionError, ArithmeticError) as error:
        raise ValueError(f"it is no proof object: {error!r}") from None


if __name__ == "__main__":
    kinds = []
    for path in sys.argv[1:]:
        try:
            with open(path, encoding="utf-8") as file:
                found = check(file.read())
        except (ValueError, OSError) as error:
            sys.exit(f"{path}: DOES NOT HOLD: {error}")
        kinds.append("recomputation, NOT CHECKED HERE" if found["kind"] == "recomputation" else "holds")
        print(f"{path}: {kinds[-1]}: {found['claim']}", *found["says"], sep="\n    ")
        print(*(f"  {x}: {found[x]}" for x in ("at", "letters", "own", "domain", "point") if found.get(x)), sep="\n")
        for p in found.get("programs", ()):
            print(f"  {p['claimed']}, as", *(k["words"] + "; shared" * ("shared" in k) for k in p["known"]), sep="\n  ")
    print(*(f"{kind}: {kinds.count(kind)}" for kind in sorted(set(kinds))), sep="\n")
