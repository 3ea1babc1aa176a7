"""n as a letter: what a generic client says is what n clients compute, and steps that break an invariant are told."""

from __future__ import annotations

import importlib
import inspect
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from read_steps import READ, fitting

from fedtheory import algorithms
from fedtheory.algorithms.base import Algorithm, method
from fedtheory.numbers.rational import exact
from fedtheory.numbers.symbols import round_index
from verify.reading import comparing, generic_client, terms
from verify.reading.generic_client import ONE, World, evaluated, leaves_zero, world
from verify.reading.known import Law
from verify.reading.program import StepProgram, quantities, read
from verify.reading.source import Unread
from verify.reading.terms import Axis, Op, Type

#: Algorithms whose invariant is shown for every n, d, all letters and all draws.
PRESERVED = (
    "feddcd",
    "accfeddcd",
    "rbcd",
    "accelerated-rbcd",
    "locodl",
    "scaffold",
    "diana",
    "ef21",
    "adiana",
    "scaffnew",
    "fedcomgate",
)


def posed(algorithm, name):
    problem, params, _ = next((p, q, s) for p, q, s in fitting(name) if p.n != p.d)
    counts = {count: int(getattr(params, count)) for count in READ[name]}
    return read(algorithm, problem, params, counts), *quantities(
        algorithm.invariant, algorithm, problem, params, counts
    )


def preserves(program, *residuals):
    return leaves_zero(world(program, *residuals), program, residuals)


@pytest.mark.parametrize("name", PRESERVED)
def test_invariants_hold_for_every_number_of_clients(name):
    assert preserves(*posed(algorithms.get(name), name))


#: Steps changed in one place, so that they leave what they preserve.
SLIPS = (
    ("locodl", "state.v + dual_step * d_bar", "state.v - dual_step * d_bar"),
    ("locodl", "d.sum(axis=-2) / (2 * problem.n)", "d.sum(axis=-2) / problem.n"),
    ("locodl", "y=np.where(talk, y_hat + rho * d_bar, y_hat)", "y=y_hat"),
    ("scaffold", "change.sum(axis=-2) / problem.n", "change.sum(axis=-2) / params.tau"),
    ("scaffold", "c_i + change", "c_i + 2 * change"),
    ("diana", "/ problem.n", "/ (problem.n + 1)"),
    ("ef21", "state.g + c,", "state.g + 2 * c,"),
    ("ef21", "c.sum(axis=-2) / problem.n)", "c.sum(axis=-2) / 3)"),
    ("scaffnew", "(x - x_hat))", "(x + x_hat))"),
    ("scaffnew", "x_hat.shape[-2]", "3"),
)


@pytest.mark.parametrize(("name", "right", "wrong"), SLIPS)
def test_slips_that_leave_an_invariant_are_not_shown(tmp_path, name, right, wrong):
    true = algorithms.get(name)
    module = importlib.import_module(f"fedtheory.algorithms.{name}")
    text = inspect.getsource(module)
    assert right in text
    path = tmp_path / f"slip_{name}.py"
    path.write_text(text.replace(right, wrong))
    names = {"__name__": f"slip_{name}", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), names)
    slip = Algorithm(
        "slip", true.Params, true.State, true.init, true.draws, names["step"], true.fixed_point, true.invariant
    )
    # A slip that leaves the invariant alone is shown to do so.
    assert preserves(*posed(slip, name)) is ((name, wrong) == ("locodl", "y=y_hat"))


HEAD = """
import numpy as np
from typing import NamedTuple
from fedtheory.randomness import Bernoulli, Constant, Independent, Product, UniformSubset

class Two(NamedTuple):
    a: object
    b: object
"""

#: Steps that do not leave ``residual`` zero, and draws with which they seem to.
FALSE = {
    "coins of each client": (
        "return Independent(Product(Two, (Bernoulli(0.5), Bernoulli(0.5))), problem.n)",
        "mean = u.sum(axis=-2, keepdims=True) / problem.n\n    u = np.where(draw.a[..., None], mean, u)",
        "state.u.sum(axis=-2)",
    ),
    "as many as letters say": (
        "return UniformSubset(problem.n, params.r.sum(axis=-1))",
        "r, told = params.r[:, None], draw[..., None].sum(axis=-2, keepdims=True)\n"
        "    u = u + r * (told - problem.n * r) * x[..., None, :]",
        "state.u.sum(axis=-2)",
    ),
    "a mask in place of its square": (
        "return Independent(Bernoulli(0.5), problem.n)",
        "u = u + (draw[..., None] + 0) * x[..., None, :]",
        "state.u.sum(axis=-2)",
    ),
    "pairs": (
        "return Constant()",
        "y = x[..., None, :]\n"
        "    u = u + (y * y).sum(axis=-1, keepdims=True) * y - (y * u).sum(axis=-1, keepdims=True) * u",
        "state.u.sum(axis=-2)",
    ),
}


@pytest.mark.parametrize("sort", FALSE)
def test_what_is_false_of_some_clients_is_not_shown(tmp_path, sort):
    draws, body, residual = FALSE[sort]
    path = tmp_path / "mine.py"
    path.write_text(
        f"{HEAD}\ndef draws(problem, params, state):\n    {draws}\n\n"
        f"def step(problem, params, state, draw):\n    x, u = state\n    {body}\n    return (x, u)\n\n"
        f"def residual(problem, params, state):\n    return {residual}\n"
    )
    names = {"__name__": "mine", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), names)
    mine = method("mine", names["step"], ["r"], {"x": "point", "u": "clients"}, draws=names["draws"])
    given = mine, SimpleNamespace(n=3, d=4, g=None), mine.Params(exact(np.array([1, 2, 3])))
    if sort == "as many as letters say":
        # Of a sum of letters it is not known to be a whole number: there may be no such draw.
        with pytest.raises(Unread, match="whole"):
            read(*given)
        return
    assert not preserves(read(*given), *quantities(names["residual"], *given))


def test_parameters_that_vary_with_the_round_are_not_read(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text("def step(problem, params, state, draw):\n    return (params.gamma * state.x,)\n")
    names = {"__name__": "mine", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), names)
    varying = method("mine", names["step"], [], {"x": "point"}, schedules={"gamma": 1 / (round_index + 1)})
    with pytest.raises(ValueError, match="vary with the round"):
        read(varying, SimpleNamespace(n=3, d=4, g=None), varying.Params(gamma=1))


# Terms at random, as n clients compute them and as a generic client says

N, D, REPLICAS = 3, 2, 2
SUBSET = Law("subset", (terms.leaf(Op.COUNT, "n", terms.NUMBER), terms.leaf(Op.LETTER, "tau", terms.NUMBER)))


def leaves():
    mask = Type((Axis.CLIENTS,), True, 0, True)
    return [
        terms.leaf(Op.PART, "x", terms.CLIENTS),
        terms.leaf(Op.PART, "y", terms.POINT),
        terms.leaf(Op.PART, "z", terms.CLIENTS),
        terms.leaf(Op.LETTER, "gamma", terms.NUMBER),
        terms.leaf(Op.LETTER, "tau", terms.NUMBER),
        terms.view(terms.leaf(Op.LETTER, "r", Type((Axis.CLIENTS,))), (Axis.CLIENTS, Axis.ONE)),
        terms.leaf(Op.COUNT, "n", terms.NUMBER),
        terms.constant(Fraction(-2, 3)),
        terms.view(terms.leaf(Op.DRAW, "draw", mask), (Axis.CLIENTS, Axis.ONE)),
    ]


def grown(rng):
    """A term made of leaves by random operations; those that have no type are left out."""
    found = leaves()
    for _ in range(60):
        a, b, c = (found[int(k)] for k in rng.integers(len(found), size=3))
        make = [
            lambda a, b, c: terms.add(a, b),
            lambda a, b, c: terms.multiply(a, b),
            lambda a, b, c: terms.choose(c, a, b),
            lambda a, b, c: terms.total(a, -2, True),
            lambda a, b, c: terms.total(a, -1, True),
            lambda a, b, c: terms.view(a, (Axis.ONE, *a.type.axes)),
            lambda a, b, c: terms.power(a, 2),
            lambda a, b, c: terms.divide(a, b),
            lambda a, b, c: terms.logical(Op.NOT, a),
        ][int(rng.integers(9))]
        try:
            term = make(a, b, c)
        except ValueError:
            continue
        if len(term.type.axes) <= 2:
            found.append(term)
    return found[len(leaves()) :]


class Numbers:
    """What stands in a world, at numbers: ``(replicas, n, d)``, or with one place on some of these axes."""

    def __init__(self, world, given, letters, mask):
        self.world, self.given, self.letters, self.mask = world, given, letters, mask

    def coefficient(self, c):
        spare = {str(symbol): name for name, symbol in self.world.sums.items()}

        def of(symbol):
            return self.named(spare[symbol]) if symbol in spare else self.letters[symbol]

        def polynomial(p):
            total = 0
            for monomial, number in p.terms():
                product = Fraction(int(number.numerator), int(number.denominator))
                for symbol, power in zip(self.world.field.symbols, monomial, strict=True):
                    product = product * of(str(symbol)) ** power if power else product
                total = total + product
            return total

        return polynomial(c.numer) / polynomial(c.denom)

    def named(self, name):
        kind, *of = self.world.meaning.get(name, ("same", name))
        if kind in ("mean", "deviation"):
            mean = self.given[of[0]].sum(axis=-2, keepdims=True) / N
            return mean if kind == "mean" else self.given[of[0]] - mean
        if kind == "inner product":
            return (self.named(of[0].name) * self.named(of[1].name)).sum(axis=-1, keepdims=True)
        if kind == "sum":
            product = np.ones((REPLICAS, N, 1), dtype=int) * self.coefficient(of[0])
            for value in (*(self.mask for _ in of[1]), *(self.named(atom.name) for atom in of[2])):
                product = product * value
            return product.sum(axis=-2, keepdims=True)
        return self.given[of[0]]

    def value(self, value):
        total = np.zeros((1, 1, 1), dtype=int)
        for (draws, atoms), c in value.of.items():
            product = np.ones((1, 1, 1), dtype=int) * self.coefficient(c)
            for factor in (*(self.mask for _ in draws), *(self.named(atom.name) for atom in atoms)):
                product = product * factor
            total = total + product
        return total


@pytest.mark.parametrize("seed", range(60))
def test_a_generic_client_says_what_n_clients_compute(seed):
    rng = np.random.default_rng(seed)
    made = [term for term in grown(rng) if len(term.type.axes) == 2]
    program = StepProgram("random", {}, {}, {}, False, SUBSET, {str(k): term for k, term in enumerate(made)}, ())
    world = generic_client.world(program)
    state = SimpleNamespace(
        x=exact(rng.integers(-3, 4, (REPLICAS, N, D))),
        y=exact(rng.integers(-3, 4, (REPLICAS, D))),
        z=exact(rng.integers(-3, 4, (REPLICAS, N, D))),
    )
    draw = np.array([[True, False, True], [False, True, True]])
    r = exact(np.array([2, 3, 5]))
    problem, params = SimpleNamespace(n=N, d=D), SimpleNamespace(gamma=Fraction(2, 7), tau=2, r=r)
    letters = {"n": N, "d": D, "letter gamma": params.gamma, "letter tau": params.tau, "letter r": r[:, None]}
    given = {"x": state.x, "y": state.y[:, None], "z": state.z}
    numbers = Numbers(world, given, letters, draw[..., None])
    for term, value in zip(made, safely(world, made), strict=True):
        # Products of vectors have values when their coordinates are summed.
        if value is not None and term.type.degree < 2:
            found = np.broadcast_arrays(comparing.evaluated(term, problem, params, state, draw), numbers.value(value))
            assert (found[0] == found[1]).all()


def safely(world: World, made):
    """The values of terms, None of those that a letter divides by what is no letter."""
    for term in made:
        try:
            yield evaluated(world, [term])[0]
        except (ValueError, ZeroDivisionError):
            yield None


def test_products_of_numbers_and_vectors_keep_their_pairs():
    x, y, z = (terms.leaf(Op.PART, name, terms.POINT) for name in "xyz")

    def inner(a, b):
        return terms.total(terms.multiply(a, b), -1, True)

    one = terms.multiply(inner(x, y), z)
    other = terms.multiply(inner(x, z), y)
    program = StepProgram("pairs", {}, {}, {}, False, Law("constant"), {"one": one}, ())
    world = generic_client.world(program)
    first, second = evaluated(world, [one, other])
    assert not (first - second).is_zero()
    assert (first - first).is_zero() and ONE not in first.of


def test_two_axes_of_clients_are_refused():
    x = terms.leaf(Op.PART, "x", terms.CLIENTS)
    numbers = terms.total(terms.multiply(x, x), -1, True)
    turned = terms.view(terms.total(terms.multiply(x, x), -1, False), (Axis.ONE, Axis.CLIENTS))
    with pytest.raises(ValueError, match="two axes run over the clients"):
        terms.multiply(numbers, turned)
