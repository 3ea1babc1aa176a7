"""Checks proof objects with the standard library alone: ``python checker.py FILE ...``.

An object proves inequalities. Each has a ``target``, a form; ``known`` forms with weights; and ``squares``, vectors
with weights. A *form* is a sum of coefficients times inner products ``a|b`` of vectors that nobody knows (``1|1`` is
the number 1), and times numbers such as function values, whose names have no bar. What is checked is the identity

    target = sum of weight * known - sum of weight * |square|^2        and        all weights >= 0,

so that target <= 0 wherever all known forms are <= 0: in every inner-product space, of any dimension.

Coefficients are fractions, "p/q", or quotients {"num": p, "den": q} of polynomials [["p/q", [exponents]], ...] in the
``letters``, which are "> 0" or ">= 0"; the polynomials of ``domain`` are >= 0. A certificate {"constant": c, "factors":
[{"of": q, "power": k, "sign": s, "chart": steps}, ...]} shows that p >= 0: p = c * product of q^k, and of each odd
power s q >= 0, as its coefficients are >= 0 once letters are written by slacks t >= 0. A step [letter, name] takes a
polynomial of the domain that is A x + B in the letter x, as the steps before have left it. Where A > 0, x = (A t -
B)/A; where A < 0, and x > 0 still, x = B/(-A (1 + t)), and B > 0 replaces the polynomial. The slack takes the letter's
name and may be 0. ``nonzero`` lists the denominators, with certificates by which they are never 0.

What is still to be trusted when this says "holds": that the known forms say what is true of the functions, compressors
and draws, as their ``words`` tell, and that the targets say what is claimed. Both are printed for people to read.
"""

import hashlib
import json
import sys
from fractions import Fraction

FORMAT = "fedtheory-proof-1"


class Wrong(Exception):
    """Why an object proves nothing."""


def need(truth, why):
    if not truth:
        raise Wrong(why)


def once(pairs):
    need(len(dict(pairs)) == len(pairs), "a name stands twice in one place")
    return dict(pairs)


def digest(data):
    text = json.dumps({key: part for key, part in data.items() if key != "digest"}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def add(a, b, factor=1):
    """The sum of polynomials, which are {exponents: coefficient}."""
    out = dict(a)
    for key, c in b.items():
        out[key] = out.get(key, 0) + factor * c
    return {key: c for key, c in out.items() if c}


def multiply(a, *others):
    for b in others:
        out = {}
        for key, c in a.items():
            out = add(out, {tuple(map(sum, zip(key, other))): c * e for other, e in b.items()})
        a = out
    return a


def by_degree(p, i):
    out = {}
    for key, c in p.items():
        out.setdefault(key[i], {})[(*key[:i], 0, *key[i + 1 :])] = c
    return out


def written(p, i, num, den):
    """The numerator of p with num/den, den > 0, for a letter."""
    parts, out = by_degree(p, i), {}
    for k, c in parts.items():
        out = add(out, multiply(c, *[num] * k, *[den] * (max(parts) - k)))
    return out


def above_zero(p, positive):
    """Whether p > 0: no coefficient is below 0, and one term has only letters that are never 0."""
    return all(c > 0 for c in p.values()) and any(all(i in positive for i, k in enumerate(key) if k) for key in p)


class Proof:
    def __init__(self, data):
        need(
            data["format"] == FORMAT and data["digest"] == digest(data), f"it is no {FORMAT}, or not as it was written"
        )
        self.letters, self.programs, signs = list(data["letters"]), data["programs"], list(data["letters"].values())
        need(set(signs) <= {"> 0", ">= 0"} and self.programs, "a letter has no sign, or no inequality is there")
        self.positive = {i for i, sign in enumerate(signs) if sign == "> 0"}
        self.one = {(0,) * len(self.letters): Fraction(1)}
        self.domain = {name: self.polynomial(p) for name, p in data["domain"].items()}
        self.nonzero = [self.one]
        for item in data["nonzero"]:
            self.show(self.polynomial(item["of"]), item["by"], strict=True)
            self.nonzero.append(self.polynomial(item["of"]))

    def polynomial(self, terms):
        out = {}
        for c, key in terms:
            right = len(key) == len(self.letters) and all(type(k) is int and k >= 0 for k in key)
            need(right and isinstance(c, str), "a term has other exponents than the letters, or no text")
            out = add(out, {tuple(key): Fraction(c)})
        return out

    def quotient(self, c):
        zero = [0] * len(self.letters)
        num, den = ([[c, zero]], [["1", zero]]) if isinstance(c, str) else (c["num"], c["den"])
        need(self.polynomial(den) in self.nonzero, "a denominator is not shown to differ from 0")
        return self.polynomial(num), self.polynomial(den)

    def show(self, p, by, strict=False):
        """That p >= 0 on the domain; ``strict``: that it is never 0, whatever its sign."""
        if not strict and all(c >= 0 for c in p.values()):
            return
        sign = Fraction(by["constant"])
        product = {key: sign for key in self.one}
        for factor in by["factors"]:
            of, s = self.polynomial(factor["of"]), factor["sign"]
            need(s in (1, -1) and factor["power"] > 0, "a factor has no sign, or no power")
            product = multiply(product, *[of] * factor["power"])
            if factor["power"] % 2 or strict:
                sign *= s
                self.one_sign({key: s * c for key, c in of.items()}, factor["chart"], strict)
        need(p and product == p and (strict or sign > 0), "the factors make another polynomial, or one of another sign")

    def one_sign(self, p, chart, strict):
        positive, domain = set(self.positive), dict(self.domain)
        for letter, name in chart:
            i = self.letters.index(letter)
            g, x = by_degree(domain.pop(name), i), {tuple(int(k == i) for k in range(len(self.letters))): Fraction(1)}
            need(max(g) == 1, f"{name} is not linear in {letter}")
            A, B = g[1], g.get(0, {})
            if above_zero(A, positive):
                num, den = add(multiply(A, x), B, -1), A
            else:
                A = {key: -c for key, c in A.items()}
                need(i in positive and above_zero(A, positive), f"{letter} is not bounded by {name}")
                num, den, domain[name] = B, multiply(A, add(self.one, x)), B
            positive -= {i}
            p, domain = written(p, i, num, den), {k: written(q, i, num, den) for k, q in domain.items()}
        need(all(c > 0 for c in p.values()), "a coefficient is below 0")
        need(not strict or above_zero(p, positive), "a denominator may be 0")

    def prove(self, program):
        """That target = sum of weight * known - sum of weight * square, with weights >= 0."""
        sums = {}

        def put(key, factor, *quotients):
            num, den = (multiply(self.one, *parts) for parts in zip(*quotients))
            by, den = sums.setdefault("|".join(sorted(key.split("|"))), {}), tuple(sorted(den.items()))
            by[den] = add(by.get(den, {}), num, factor)

        def weight(item):
            found = self.quotient(item["weight"])
            self.show(multiply(*found), item.get("by"))
            return found

        for key, c in program["target"].items():
            put(key, -1, self.quotient(c))
        for item in program["known"]:
            w, _ = weight(item), need(item["words"], "a known form does not say what it is")
            for key, c in item["form"].items():
                put(key, 1, w, self.quotient(c))
        for item in program["squares"]:
            w, rows = weight(item), sorted(item["vector"].items())
            need("|" not in "".join(item["vector"]), "a vector has a bar in its name")
            for k, (a, x) in enumerate(rows):
                for b, y in rows[k:]:
                    put(f"{a}|{b}", -1 if a == b else -2, w, self.quotient(x), self.quotient(y))
        for key, by in sums.items():
            total = {}
            for den, num in by.items():
                total = add(total, multiply(num, *(dict(other) for other in by if other != den)))
            need(not total, f"{program['claimed']}: the two sides differ at {key}")


def check(text):
    """What an object proves, with numbers of known forms and squares; ``Wrong`` where it does not hold."""
    try:
        proof = Proof(json.loads(text, object_pairs_hook=once))
        for program in proof.programs:
            proof.prove(program)
        return [(str(p["claimed"]), len(p["known"]), len(p["squares"])) for p in proof.programs]
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError, ArithmeticError) as error:
        raise Wrong(f"it is no proof object: {error!r}") from None


if __name__ == "__main__":
    for path in sys.argv[1:]:
        try:
            with open(path, encoding="utf-8") as file:
                found = check(file.read())
        except (Wrong, OSError, UnicodeDecodeError) as error:
            sys.exit(f"{path}: DOES NOT HOLD: {error}")
        print(f"{path}: holds: " + "; ".join(f"{claimed} ({k} known, {s} squares)" for claimed, k, s in found))
