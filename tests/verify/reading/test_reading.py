"""Steps read off their code: what is read computes what the code does, and what is not allowed is refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from read_steps import READ, fitting

from fedtheory import algorithms
from fedtheory.algorithms import parts as algorithm_parts
from fedtheory.algorithms.base import method
from fedtheory.numbers.rational import exact
from fedtheory.problems.base import Problem
from fedtheory.problems.quadratic import diagonal
from verify.reading import comparing, known, oracles
from verify.reading.program import quantities, read
from verify.reading.source import Unread
from verify.reading.terms import Axis, Op, Type, called, leaf


@pytest.mark.parametrize("name", READ)
def test_what_is_read_is_what_the_code_computes(name):
    algorithm, rng = algorithms.get(name), np.random.default_rng(1)
    found = fitting(name)
    problem, params, _ = next((p, q, s) for p, q, s in found if p.n != p.d)
    counts = {count: int(getattr(params, count)) for count in READ[name]}
    program = read(algorithm, problem, params, counts)
    compared = set()
    for problem, params, state in found:
        if program.with_g != (problem.g is not None) or any(getattr(params, k) != v for k, v in counts.items()):
            continue
        try:
            draw = algorithm.draws(problem, params, state).sample(rng)
        except ValueError:
            assert program.raising
            continue
        after = algorithm.step(problem, params, state, draw)
        for part, value in comparing.step(program, problem, params, state, draw).items():
            there = np.broadcast_to(getattr(after, part), value.shape)
            assert (there == value).all() if there.dtype == object else np.allclose(there, value)
        compared.add((problem.n, problem.d))
    assert compared


HEAD = """
import operator, sys, time, collections
from fractions import Fraction
import numpy as np
from functools import partial

SEEN = collections.deque(maxlen=1)
TABLE = {2: 1, 3: 1}
HALF = 0.5
COUNTED = 0

def helper(x):
    return x

def change():
    global helper
    helper = None
"""


def own(tmp_path, text, state=None, **more):
    """The method of one's own whose functions a file defines."""
    path = tmp_path / "statistics.py"
    path.write_text(HEAD + text)
    names = {"__name__": "statistics_of_mine", "__file__": str(path)}
    exec(compile(path.read_text(), str(path), "exec", dont_inherit=True), names)
    functions = {part: names[part] for part in ("draws", "fixed_point") if part in names}
    return method("mine", names["step"], ["gamma", "tau"], state or {"x": "point"}, **functions, **more), names


def example(algorithm):
    """A problem of three clients in four dimensions, and parameters."""
    problem = Problem(diagonal(exact(np.arange(1, 13).reshape(3, 4)), exact(np.zeros((3, 4), dtype=int))))
    return problem, algorithm.Params(gamma=Fraction(1, 12), tau=2)


def refusal(tmp_path, text, **more):
    algorithm, _ = own(tmp_path, text, **more)
    with pytest.raises(Unread) as error:
        read(algorithm, *example(algorithm))
    return str(error.value)


GRADIENT = "problem.f.gradient(state.x[..., None, :])"

#: Steps that are not gradient descent at some n, d, letter, time or type of number, and what is said of them.
ATTACKS = {
    "some clients": (
        f"d = {GRADIENT}\n    x = state.x - params.gamma * d[..., :12, :].sum(axis=-2)",
        "clients is taken",
    ),
    "some coordinates": ("x = state.x[..., :8]", "coordinates is taken"),
    "one client": (f"x = state.x - params.gamma * {GRADIENT}[..., 0, :]", "a part of the clients"),
    "a table by d": ("x = state.x * TABLE[problem.d]", "TABLE"),
    "a table by name": ("x = state.x * TABLE.get(problem.n, 2)", "TABLE"),
    "operator.gt": ("x = state.x * operator.gt(problem.n, 12)", "operator.gt"),
    "a method of numbers": ("x = state.x * problem.n.__gt__(12)", "__gt__"),
    "fmax": ("x = state.x * np.fmax(problem.n, 12)", "np.fmax"),
    "a range to d": ("x = state.x\n    for k in range(8, problem.d):\n        x = x + x", "range(8, problem.d)"),
    "a condition on n": ("x = state.x if problem.n < 12 else 2 * state.x", "a condition depends on the values"),
    "a condition on a letter": ("x = state.x\n    if params.gamma > 1:\n        x = x + x", "a condition depends on"),
    "a type": ("x = state.x * (params.gamma.__class__.__name__ == 'float')", "__class__"),
    "isinstance": ("x = state.x * isinstance(params.gamma, float)", "isinstance"),
    "a dictionary": ("x = state.x * len(params.__dict__)", "__dict__"),
    "memory in a deque": ("SEEN.append(1)\n    x = state.x", "SEEN"),
    "memory by out": ("x = np.add(state.x, 1, out=state.x)", "np.add"),
    "a global": ("global COUNTED\n    COUNTED = COUNTED + 1\n    x = state.x", "global is not supported"),
    "a global that is not reached": ("x = state.x\n    if False:\n        global COUNTED", "global is not supported"),
    "a clock": ("x = state.x * time.time()", "time.time"),
    "modules": ("x = state.x * len(sys.modules)", "sys.modules"),
    "in place": ("x = state.x\n    x += 1", "in place"),
    "into the state": ("x = state.x\n    x[..., 0] = 1", "only names may be"),
    "caught errors": (
        "try:\n        x = state.x\n    except Exception:\n        x = 2 * state.x",
        "try is not supported",
    ),
    "a loop without end": ("while True:\n        x = state.x", "while is not supported"),
    "an import": ("import os\n    x = state.x", "import is not supported"),
    "a string of the code": ("x = eval('state.x')", "eval"),
    "a generator": ("yield state", "yield is not supported"),
    "a mean over replicas": ("x = state.x - state.x.mean(axis=0)", "one of replicas"),
    "a mean over draws": ("x = state.x - state.x.mean(axis=-3)", "one of replicas"),
    "all that there is": ("x = state.x - state.x.sum()", "as literals"),
    "a replica": ("x = state.x[0] + 0 * state.x", "start it with"),
    "a vector and a number": ("x = state.x + params.gamma", "are added"),
    "a sum of entries": ("x = state.x * (state.x.sum(axis=-1))[..., None]", "coordinates of a vector"),
    "a product of entries": ("x = state.x * state.x", "after a step"),
    "a cube": ("x = state.x ** 3", "power 3"),
    "side by side": ("x = np.concatenate([state.x, state.x], axis=-1)[0]", "several"),
    "a function of entries": ("x = np.tanh(state.x)", "np.tanh"),
    "an order": ("x = np.sort(state.x)", "np.sort"),
    "where it is positive": ("x = np.where(state.x > 0, state.x, 0)", "compared"),
    "a cast": ("x = state.x.astype(int)", "astype"),
    "digits": ("x = round(params.gamma, 3) * state.x", "round"),
    "the parity of n": ("x = state.x * (problem.n % 2)", "Mod"),
    "transposed": (f"x = state.x - {GRADIENT}.T", "T of"),
    "a walrus": ("x = (y := state.x) + y", "namedexpr is not supported"),
    "a name that is not set": ("if False:\n        HALF = 1\n    x = HALF * state.x", "has no value yet"),
    "lost": ("state.x + 1\n    x = state.x", "discarded"),
    "a matrix": ("x = state.x @ state.x", "MatMult"),
    "another number of places": ("x = state.x + np.zeros(4)", "not n, d or 1"),
    "powers that begin anew": ("x = (True * params.tau**30) * state.x", "wrap around"),
    "a function that another sets": ("x = helper(state.x)", "helper is set more than once"),
    "three numbers": ("a, b, c = state.x\n    x = state.x", "unpacked"),
    "one for each": ("x = [v for v in state.x][0]", "runs over"),
}


@pytest.mark.parametrize("sort", ATTACKS)
def test_what_is_not_allowed_is_refused(tmp_path, sort):
    body, why = ATTACKS[sort]
    said = refusal(tmp_path, f"def step(problem, params, state, draw):\n    {body}\n    return {{'x': x}}\n")
    assert why in said


#: What Python does with code that is easily taken for something else, in place of ``x = state.x``.
TRAPS = (
    "x = (0 or 5) * state.x",
    "x = (2 and 3) * state.x",
    "x = state.x * np.broadcast_to(1, state.x.shape[:-1])[None].sum(axis=-1)",
    "x = state.x * len((*state.x.shape,))",
    "x = state.x * (*state.x.shape, 5, 7)[1]",
    "x = (2 if draw is None else 1) * state.x",
    "x = [lambda v: k * v for k in (1, 2, 3)][0](state.x)",
    "c = 1\n    g = (c for k in (1,))\n    c = 5\n    x = [v for v in g][0] * state.x",
    "x = state.x\n    z = zip((1, 2), (3, 4))\n    for _ in (1, 2):\n        for a, _ in z:\n            x = x + a * x",
    "a = [1]\n    b = a\n    a *= 3\n    x = len(b) * state.x",
    "x = len((1,) * 400000) * state.x",
    "m = np.square(draw) if False else True\n    x = (m + m) * state.x",
    "a = np.asarray(params.gamma)\n    b = a\n    a *= 2\n    x = b * state.x",
    "x = (2 if hasattr(state, '_replace') else 1) * state.x",
    "x = state.x\n    for k in range(int(0.3 / 0.1)):\n        x = x + state.x",
    "x = (2 if 0.1 + 0.2 == 0.3 else 1) * state.x",
    "x = state.x / 1e400 * 1e400",
    "def f(v: SEEN.append(1)):\n        return v\n    x = f(state.x)",
    "x = (True + True) * state.x",
    "k = 1\n    f = lambda: k\n    k = 2\n    x = f() * state.x",
    "x = state.x\n    for k in ():\n        pass\n    else:\n        x = 3 * x",
    "x = (lambda a, *, b=2: a * b)(state.x)",
    "x = (3 if 1 < 2 < 3 else 1) * state.x",
    "def g(a, b=HALF):\n        return a * b\n    x = g(b=2, a=state.x)",
    "x = -2 ** 2 * state.x",
    "x = 2 ** -1 * state.x",
    "x = 7 // 2 * state.x + -7 // 2 * state.x + 7 % 3 * state.x",
    "len = lambda v: 9\n    x = len((1, 2)) * state.x",
    "x = COUNTED * state.x + state.x",
    "x = len((1, *(k for k in (1, 2)))) * state.x",
    "x = (lambda a, b, c: a * b**c)(*(k + 1 for k in (1, 2)), 3) * state.x",
    "c = 1\n    x = (lambda a, b: a + b)(*(c for k in (1,)), (c := 5)) * state.x",
    "x = np.atleast_2d(params.gamma) * state.x",
    "x = len(np.atleast_2d(params.gamma)) * state.x",
    "x = np.atleast_2d(params.gamma)[0] * state.x",
    "x = np.atleast_2d(params.gamma).sum(axis=-1) * state.x",
    "x = np.atleast_2d(state.x)[..., 0, :] + state.x",
    "x = np.atleast_2d(state.x.sum(axis=-1)).sum(axis=0)[..., None] * state.x",
)


@pytest.mark.parametrize("body", TRAPS)
def test_what_is_easily_misread_is_read_rightly_or_refused(tmp_path, body):
    algorithm, _ = own(tmp_path, f"def step(problem, params, state, draw):\n    {body}\n    return {{'x': x}}\n")
    problem, params = example(algorithm)
    try:
        program = read(algorithm, problem, params)
    except Unread:
        return
    for replicas in (1, 2, 3):
        state = algorithm.State(exact(np.arange(1, 4 * replicas + 1).reshape(replicas, 4)))
        after = algorithm.step(problem, params, state, np.zeros((replicas, 0)))
        assert (comparing.step(program, problem, params, state, None)["x"] == after.x).all()


#: Ways to write gradient descent.
PLAIN = {
    "plainly": f"    return {{'x': state.x - params.gamma * {GRADIENT}.mean(axis=-2)}}",
    "as a tuple": f"    return (state.x - params.gamma * {GRADIENT}.sum(axis=-2) / problem.n,)",
    "with names": f"""    gamma, tau = params
    g = {GRADIENT}
    return {{'x': state.x - gamma * np.mean(g, axis=-2)}}""",
    "with literals": f"    return {{'x': state.x - 2 * HALF * 0.25e1 / 2.5 * params.gamma * {GRADIENT}.mean(axis=-2)}}",
    "with helpers": f"""    def mean(v, axis=-2):
        return v.sum(axis=axis) / v.shape[axis]
    descend = lambda x, g: x - params.gamma * g
    return {{'x': descend(state.x, mean({GRADIENT}))}}""",
    "with a loop": f"""    x = 0 * state.x
    for k in range(4):
        x = x + {GRADIENT}.mean(axis=-2) / 4
    return {{'x': state.x - params.gamma * x}}""",
    "with a comprehension": f"""    x = [w * {GRADIENT}.mean(axis=-2) for w in (0.5, 0.25, 1 / 4)]
    return {{'x': state.x - params.gamma * (x[0] + x[1] + x[-1])}}""",
    "with a listed generator": f"""    add = lambda a, b: a + b
    return {{'x': add(*(v for v in (state.x, -params.gamma * np.mean({GRADIENT}, axis=-2))))}}""",
    "spread": """    x = np.broadcast_to(state.x[..., None, :], (*state.x.shape[:-1], problem.n, problem.d))
    return {'x': state.x - params.gamma * problem.f.gradient(x).mean(axis=-2)}""",
    "guarded": f"""    if params.tau > problem.n:
        raise ValueError("too many")
    assert params is not None
    return {{'x': state.x - params.gamma * {GRADIENT}.mean(axis=-2)}}""",
}


@pytest.mark.parametrize("way", PLAIN)
def test_ways_to_write_a_step_are_read_alike(tmp_path, way):
    algorithm, _ = own(tmp_path, f"def step(problem, params, state, draw):\n{PLAIN[way]}\n")
    problem, params = example(algorithm)
    program = read(algorithm, problem, params)
    x = np.array([[Fraction(3), Fraction(-1, 2), Fraction(0), Fraction(5)]], dtype=object)
    after = comparing.step(program, problem, params, algorithm.State(x), None)["x"]
    slopes = problem.f.gradient(x[..., None, :])
    assert (after == x - params.gamma * slopes.sum(axis=-2) / 3).all()
    assert bool(program.raising) is (way == "guarded")


def test_code_that_is_not_what_its_file_says_is_refused(tmp_path):
    algorithm, names = own(tmp_path, "def step(problem, params, state, draw):\n    return {'x': 2 * state.x}\n")
    code = names["step"].__code__
    names["step"].__code__ = code.replace(co_consts=tuple(3 if c == 2 else c for c in code.co_consts))
    with pytest.raises(Unread, match="is not what its file compiles to"):
        read(algorithm, *example(algorithm))


def test_defaults_and_closures_are_those_that_the_function_has(tmp_path):
    text = "def step(problem, params, state, draw, by=1):\n    return {'x': by * state.x}\n"
    path = tmp_path / "mine.py"
    path.write_text(text)
    names = {}
    exec(compile(text, str(path), "exec", dont_inherit=True), names)
    names["step"].__defaults__ = (Fraction(1, 2),)
    algorithm, _ = own(tmp_path, "def step(problem, params, state, draw):\n    return {'x': state.x}\n")
    problem, params = example(algorithm)
    halved = method("halved", partial(names["step"]), ["gamma", "tau"], {"x": "point"})
    x = np.array([[Fraction(4)] * 4], dtype=object)
    after = comparing.step(read(halved, problem, halved.Params(*params)), problem, params, algorithm.State(x), None)
    assert (after["x"] == 2).all()


def test_a_wrapper_that_names_another_function_is_not_taken_for_it(tmp_path):
    text = """
def honest(problem, params, state, draw):
    return {'x': state.x}

def step(problem, params, state, draw):
    return {'x': 2 * state.x}

step.__wrapped__ = honest
"""
    algorithm, _ = own(tmp_path, text)
    problem, params = example(algorithm)
    x = np.array([[Fraction(4)] * 4], dtype=object)
    after = comparing.step(read(algorithm, problem, params), problem, params, algorithm.State(x), None)
    assert (after["x"] == 8).all()


def test_numpy_that_was_changed_is_not_numpy(tmp_path, monkeypatch):
    algorithm, _ = own(
        tmp_path, "def step(problem, params, state, draw):\n    return {'x': np.square(state.x) * 0 + state.x}\n"
    )
    monkeypatch.setattr(np, "square", np.negative)
    with pytest.raises(Unread, match=r"np\.square"):
        read(algorithm, *example(algorithm))


def test_functions_of_ours_that_were_changed_are_not_ours(tmp_path, monkeypatch):
    text = "from fedtheory.algorithms.parts import zeros\ndef step(problem, params, state, draw):\n"
    algorithm, _ = own(tmp_path, text + "    return {'x': state.x + zeros(problem.d)}\n")
    read(algorithm, *example(algorithm))
    monkeypatch.setattr(algorithm_parts.zeros, "__code__", (lambda *lengths: np.ones(lengths)).__code__)
    with pytest.raises(Unread, match="is not what its file compiles to"):
        read(algorithm, *example(algorithm))


def test_that_there_are_no_proximal_points_is_not_taken_for_true_of_a_class():
    ask = next(rule for thing, rule in known.FUNCTIONS if thing is hasattr).apply
    with_them, without = (oracles.problem(False, resolvents=there).fields["f"] for there in (True, False))
    assert ask(with_them, "resolvent")
    with pytest.raises(ValueError, match="hasattr"):
        ask(without, "resolvent")


def test_a_record_with_code_of_its_own_is_refused(tmp_path):
    text = """
from typing import NamedTuple

class Pair(NamedTuple):
    one: object
    two: object

Pair.one = property(lambda self: 2 * self[0])

def step(problem, params, state, draw):
    return {'x': Pair(state.x, 1).one}
"""
    assert "Pair" in refusal(tmp_path, text)


#: What a class may be given after its objects are made, each of which gives something else when it was asked often.
LATER = {
    "a field that counts": "k = property(lambda self: 1 if next(ASKED) < 10**8 else 2)",
    "a field with an answer of its own": "k = Answer(1, 2)",
    "a method that counts": "times = Answer(lambda v: v, lambda v: 2 * v)",
    "a method that was put in place of one": "times = np.square",
    "a look-up of its own": "__getattribute__ = lambda self, name: (lambda v: v) if name == 'times' else 1",
}


@pytest.mark.parametrize("change", LATER.values(), ids=LATER)
def test_a_class_that_is_changed_later_is_not_read(tmp_path, change):
    text = f"""
from dataclasses import dataclass
from itertools import count

ASKED = count()

class Answer:
    def __init__(self, first, later):
        self.both = first, later

    def __get__(self, instance, owner=None):
        return self.both[next(ASKED) >= 10**8]

    def __set__(self, instance, value):
        pass

@dataclass(frozen=True)
class Scale:
    k: int = 1

    def times(self, v):
        return v

SCALE = Scale()
Scale.{change}

def step(problem, params, state, draw):
    return {{'x': state.x - params.gamma * SCALE.times(SCALE.k * {GRADIENT}).mean(axis=-2)}}
"""
    assert refusal(tmp_path, text)


def test_draws_are_read(tmp_path):
    text = """
from fedtheory.randomness import Bernoulli, Independent, Product, UniformSubset
from typing import NamedTuple

class Draw(NamedTuple):
    talk: object
    who: object

def draws(problem, params, state):
    return Product(Draw, (Bernoulli(params.gamma), Independent(Bernoulli(0.5), problem.n)))

def step(problem, params, state, draw):
    kept = np.where(draw.who[..., None] & ~draw.talk[..., None, None], state.y, 0)
    return {'y': kept}
"""
    algorithm, _ = own(tmp_path, text, {"y": "clients"})
    problem, params = example(algorithm)
    program = read(algorithm, problem, params)
    assert [law.name for law in program.law.of] == ["bernoulli", "independent"]
    assert program.law.of[0].of[0].op is Op.LETTER
    assert "randomness" not in refusal(tmp_path, text.replace("problem.n", "problem.d"), state={"y": "clients"})
    assert "stand" in refusal(tmp_path, text.replace("draw.who[..., None]", "draw.who"), state={"y": "clients"})


def test_quantities_are_read(tmp_path):
    text = """
def step(problem, params, state, draw):
    return {'x': state.x}

def distance(problem, params, state):
    return ((state.x - problem.x_star)**2).sum(axis=-1)

def averaged(problem, params, state):
    return ((state.x - problem.x_star)**2).sum(axis=-1).mean(axis=0)
"""
    algorithm, names = own(tmp_path, text)
    (term,) = quantities(names["distance"], algorithm, *example(algorithm))
    assert term.type.axes == () and term.type.degree == 0 and term.type.batched
    with pytest.raises(Unread, match="one of replicas"):
        quantities(names["averaged"], algorithm, *example(algorithm))


def test_partial_functions_are_read_and_objects_that_are_called_refused(tmp_path):
    text = """
from functools import partial

def _scaled(a, problem, params, state, draw):
    return {'x': a * state.x}

step = partial(_scaled, 3)

def _times(problem, params, state, a=1):
    return a * state.x

twice = partial(_times, a=2)

class Own:
    def __call__(self, problem, params, state):
        return state.x

class Another(partial):
    def __call__(self, *given):
        return 5 * super().__call__(*given)

own, another = Own(), Another(_times, a=2)

def many(*given):
    return given[2].x
"""
    algorithm, names = own(tmp_path, text)
    problem, params = example(algorithm)
    x = np.array([[Fraction(4)] * 4], dtype=object)
    after = comparing.step(read(algorithm, problem, params), problem, params, algorithm.State(x), None)
    assert (after["x"] == 12).all()
    read_as = quantities(replace(algorithm, invariant=names["twice"]).invariant, algorithm, problem, params)
    assert str(read_as[0]) == str(quantities(names["twice"], algorithm, problem, params)[0])
    for name in ("own", "another", "many"):
        held = replace(algorithm, invariant=names[name]).invariant
        assert name == "many" or held is names[name]
        with pytest.raises(Unread):
            quantities(held, algorithm, problem, params)


def test_axes_that_are_mistaken_for_each_other_are_refused(tmp_path):
    state = {"x": "point", "y": "clients"}
    for wrong in ("state.y + state.x[..., :, None]", "state.y.sum(axis=-1)", "state.x - state.y", "state.y * draw"):
        said = refusal(
            tmp_path,
            f"def step(problem, params, state, draw):\n    return {{'x': state.x, 'y': {wrong}}}\n",
            state=state,
        )
        assert "line" in said or "after a step" in said, wrong


def test_the_axes_of_a_program(tmp_path):
    algorithm, _ = own(tmp_path, f"def step(problem, params, state, draw):\n{PLAIN['plainly']}\n")
    program = read(algorithm, *example(algorithm))
    assert program.step["x"].type.axes == (Axis.COORDINATES,)
    assert set(program.letters) == {"gamma", "tau"}


def test_an_oracle_at_a_point_says_how_points_are_handed_to_it():
    x = leaf(Op.PART, "x", Type((Axis.COORDINATES,), True, 1))
    with pytest.raises(ValueError, match=r"vectors of clients are expected: write x\[..., None, :\]"):
        called(Op.ORACLE, "g.resolvent", (x,), (Axis.ONE, Axis.COORDINATES), 1)
