"""Statements that fail only where a part of them vanishes, or for a single client, and true neighbours."""

import pytest
import sympy
from sympy import Abs, Integer, Product, Sum, ceiling, floor, log

import fedtheory as ft
from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.symbols import Max
from fedtheory.sampling import boundaries
from verify import check
from verify.base.case import Case
from verify.base.verdict import Verdict
from verify.methods import polynomials
from verify.methods.base import Inquiry
from verify.search import hunting, states

x, y = ft.letters("x y")
n, m = ft.integers("n m")
k, i, l = ft.round_index, sympy.Symbol("i"), sympy.Symbol("l")
j = sympy.Symbol("j", integer=True, nonnegative=True)
v, w = sympy.symbols("v w", nonnegative=True)
r, s = sympy.symbols("r s", real=True)


def claim(left, relation, right, *requires):
    left, right = map(sympy.sympify, (left, right))
    statement = Identity(left, right, ()) if relation == "==" else Inequality(left, right, strict=relation == "<")
    letters = sympy.Tuple(left, right, *requires).free_symbols
    setting = ft.Setting(letters=tuple(sorted(letters, key=str)))
    return ft.Claim("own/constants", setting=setting, statement=statement, requires=requires)


def found(claim):
    recipes = claim.instances.boundaries(hunting.generator(claim, hunting.BOUNDARIES))
    return next((v for v in (states.violation(Case(claim, recipe)) for recipe in recipes) if v is not None), None)


FALSE = {
    "ends reversed far away": claim(Sum(x, (k, n, m + 20000)), "<=", x * (m + 20001 - n)),
    "cut in two far beyond its end": claim(
        Sum(x, (k, 1, m)) + Sum(x, (k, m + 1, n + 20000)), "<=", Sum(x, (k, 1, n + 20000))
    ),
    "a power of 0": claim(-r, "<=", ((r - 1234567) ** 2) ** j),
    "the root of a base, far away": claim(1, "<=", ((n - 765432) ** 2) ** m),
    "where two bases vanish": claim(1, "<=", ((n - 765432) ** 2) ** m + (m - 99991) ** 2),
    "a base that is expanded": claim(0, "<", ((r**2 - 2000003 * r + 2000002) ** 2) ** n * x),
    "a sum of nothing": claim(1, "<=", Sum(k, (k, n, 2**30))),
    "a product of nothing": claim(2, "<=", Product(2, (k, n, 33333))),
    "equal arguments": claim(x * y, "<", Max(x, y * 123456) ** n * x * y + Abs(x - 123456 * y)),
    "an absolute value": claim(0, "<", Abs(r - s - 314159) ** x),
    "a logarithm": claim(0, "<", log(x / 271828) ** 2),
    "rounded up": claim(ceiling(n / Integer(10007)), "<=", 1 + n / Integer(10008)),
    "rounded down": claim(floor(n / Integer(10007)), "<=", n / Integer(10007) - 1 / Integer(10008)),
    "to the power 0": claim(v**w, "<=", Max(v, v ** (w + 1))),
}
TRUE = {
    "ends in order": claim(Sum(x, (k, n, m + 20000)), "<=", x * (m + 20001 - n), n <= m + 20001),
    "cut in two": claim(
        Sum(x, (k, 1, m)) + Sum(x, (k, m + 1, n + 20000)), "<=", Sum(x, (k, 1, n + 20000)), m <= n + 20000
    ),
    "a power of an integer": claim(0, "<=", ((n - 765432) ** 2) ** m),
    "off the root": claim(1, "<=", ((n - 765432) ** 2) ** m, n >= 765433),
    "a sum of nothing": claim(0, "<=", Sum(k, (k, n, 2**30))),
    "a product of nothing": claim(1, "<=", Product(2, (k, n, 33333))),
    "rounded up": claim(ceiling(n / Integer(10007)), "<", 1 + n / Integer(10007)),
    "equal arguments": claim(x * y, "<=", Max(x, y * 123456) * y + Abs(x - 123456 * y)),
    "to the power 0": claim(v**w, "<=", 1 + Max(v, v ** (w + 1))),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_fails_where_a_part_vanishes_is_refuted(name):
    assert found(FALSE[name]) is not None


@pytest.mark.parametrize("name", TRUE)
def test_what_holds_there_is_not_refuted(name):
    assert found(TRUE[name]) is None


def test_the_parts_that_vanish():
    assert boundaries.gaps(FALSE["ends reversed far away"]) == (m - n + 20001,)
    assert set(boundaries.gaps(FALSE["a base that is expanded"])) >= {r - 1, r - 2000002}
    # Of an index there is no value outside its sum.
    assert boundaries.gaps(claim(Sum((i - x) ** 2, (i, 1, n)), "<=", x * n)) == ()


@pytest.mark.parametrize(("bound", "holds"), [(ft.n - 1, False), (ft.n, True)])
def test_a_claim_of_every_number_of_clients_is_one_of_a_single_client_too(bound, holds):
    mu, L = ft.letters("mu L")

    def step(problem, params, state, draw):
        return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).mean(axis=-2)}

    gd = ft.method("gd", step, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L), clients=(2, 3))
    distance = ft.Quantity("V", ft.distance)
    own = ft.Claim("own/n", setting=setting, statement=ft.inequality(distance <= bound * distance))
    assert (found(own) is None) is holds


NESTED = {
    "a product in a sum": claim(Sum(Product(x, (l, 1, i)), (i, 0, n)), "<=", (n + 1) * Max(1, x) ** n),
    "a sum in a sum": claim(Sum(x * Sum(y / (x + l), (l, 1, i)), (i, 1, n)), "<=", y * n * (n + 1) / 2, n <= 1000),
    "a maximum beyond the floats": claim(x, "<=", x * Max(1, ((x - 1234567) ** 2) ** n)),
    "long fractions": claim(Sum(1 / (i + x) ** 3, (i, 1, n)), "<=", 2),
}


@pytest.mark.parametrize("name", NESTED)
def test_sums_and_powers_that_are_long_end(name):
    assert check(NESTED[name]).verdict in (Verdict.SUPPORTED, Verdict.PROVED)


@pytest.mark.parametrize(("right", "verdict"), [(x ** (r * s), Verdict.REFUTED), (x**r, Verdict.REFUTED)])
def test_identities_of_powers(right, verdict):
    assert check(claim(x**r * x**s, "==", right)).verdict is verdict


def test_sums_over_two_indices_say_what_to_write():
    with pytest.raises(ValueError, match=r"goes over 2 indices.*Sum\(i \* Sum\(l, \(l, 1, m\)\), \(i, 1, n\)\)"):
        claim(Sum(Sum(i + l, (l, 1, m)), (i, 1, n)), "<=", x)
    claim(Sum(i * Sum(l, (l, 1, m)), (i, 1, n)), "<=", x)


def test_an_identity_of_powers_is_proved_by_the_signs_of_polynomials():
    one = claim(x**r * x**s, "==", x ** (r + s))
    assert polynomials.METHOD.run(polynomials.METHOD, Inquiry(one)).verdict is Verdict.PROVED
