"""Every number that is printed of a counterexample follows from what is printed beside it."""

from __future__ import annotations

import re
from fractions import Fraction
from types import SimpleNamespace

import by_text
import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory.numbers.rational import exact
from verify import check
from verify.base.case import Case
from verify.comparisons.exact import as_row
from verify.evidence.counterexamples import Counterexample
from verify.report import by_hand, formulas, terminal
from verify.results import shipped

#: Of an order there is a curve, and no instance.
EXAMPLES = [id for id, e in shipped().entries.items() if e["counterexample"] and e["kind"] != "order"]
L = ft.letters("L")
POINTS = [Fraction(v) for v in ("0", "1", "-5/2", "17/3", "-1/7", "100")]


def carried(id):
    return Counterexample.from_json(shipped().entries[id]["counterexample"])


def posed(example):
    instance = example.claim.instances.build(example.recipe, True)
    problem = instance.problem
    state = None
    if example.point and problem is not None:
        problem, state = Case.of(example.claim, instance).start(as_row(example.point))
    return instance, problem, state


def printed(example):
    """The lines by how they begin, and the functions with the points."""
    lines = by_hand.lines(example)
    named = {}
    for line in lines:
        head, sep, rest = line.partition(": ") if not line.startswith("with ") else ("with", " ", line[5:])
        if sep and head in ("with", "start", "left", "right"):
            named[head] = rest
    first = next((line for line in lines if line.startswith(("f_1(x)", "g(x)"))), "")
    apart = [line for line in lines if not re.match(r"[\w ]+: |with |f_1|The |No ", line)]
    return named, *by_text.functions(first), apart


@pytest.mark.parametrize("id", EXAMPLES)
def test_functions_minimisers_states_and_letters_are_those_of_the_instance(id):
    example = carried(id)
    instance, problem, state = posed(example)
    named, functions, points, _ = printed(example)
    f = getattr(problem, "f", None)
    assert bool(functions) == (f is not None and hasattr(f, "value") and f.d <= formulas.FEW)
    for i in range(f.n if functions else 0):
        function = functions[f"f_{i + 1}"]
        for t in POINTS:
            x = [t * (j + 1) for j in range(f.d)]
            assert function(*x) == np.asarray(f.value(exact([x] * f.n))).reshape(-1)[i]
        if function.least.startswith("least at x = "):
            least = by_text.vector(function.least.removeprefix("least at x = "))
            for t in (*POINTS[1:], *(v / 10**6 for v in POINTS[1:])):
                for j in range(f.d):
                    assert function(*least) <= function(*(v + t * (k == j) for k, v in enumerate(least)))
    known = getattr(problem, "known", None)
    assert ("x*" in points) == bool(functions and known is not None)
    if "x*" in points:
        assert points["x*"] == tuple(np.asarray(known.x).ravel())
    state = state.states()[0] if hasattr(state, "states") else state
    if "start" in named and hasattr(state, "_fields"):
        read = by_text.state(named["start"], type(state), f.n if f is not None else 1, f.d if f is not None else 1)
        for field, value in read.items():
            assert (np.asarray(getattr(state, field)).reshape(-1) == value.reshape(-1)).all(), field
    for name, value in by_text.values(named["with"]).items() if "with" in named else ():
        bound = {
            str(s).replace("lamda", "lambda"): v
            for s, v in example.claim.setting.bind(problem, instance.params).items()
        }
        if name in bound and not value.startswith("about") and value not in ("true", "false"):
            assert by_text.number(value) == bound[name]


def followed(example):
    """How many of both sides can be computed from what is printed; they are as printed."""
    named, _, _, apart = printed(example)
    known = by_text.values(named.get("with", "")) if "with" in named else {}
    for line in apart:
        known |= by_text.values(line)
    known = {k: v for k, v in known.items() if re.fullmatch(r"(about )?-?[\d/.e+-]+", v)}
    count = 0
    for which in ("left", "right"):
        text, sep, value = named.get(which, "").split(", about ")[0].rpartition(" = ")
        if not sep or "entry" in text:
            continue
        found = by_text.side(text, known)
        if found is not None:
            expected = by_text.number(value)
            difference = abs(sympy.N(found, 30) - sympy.Rational(expected.numerator, expected.denominator))
            assert difference <= 1e-9 * max(1, abs(expected)), (text, found, value)
            count += 1
    return count


def test_sides_follow_from_the_letters_and_quantities_that_are_printed():
    counts = {id: followed(carried(id)) for id in EXAMPLES}
    assert sum(count > 0 for count in counts.values()) >= 36


# Theorems of one's own, from the first line to the last


def averaged():
    def step(problem, params, state, draw):
        gradient = problem.f.gradient(state.x[..., None, :])[..., 0, :]
        x = state.x - gradient / problem.L
        return {"x": x, "total": state.total + x}

    method = ft.method("averaging", step, [], {"x": "point", "total": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.SmoothConvex(L), clients=(1,))
    gap = ft.Quantity("F_T", ft.gap, after=True)
    D = ft.Quantity("D_0", ft.distance)
    bound = ft.bound(method, ft.E(gap) <= L * D / (6 * ft.T + 2))
    return ft.Claim("averaging/too-fast", setting=setting, statement=bound), step


def kinked():
    M = ft.letters("M")

    def step(problem, params, state, draw):
        return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n}

    method = ft.method("subgradient", step, ["gamma"], {"x": "point"})
    setting = ft.Setting(algorithm=method, functions=ft.ConvexLipschitz(M), clients=(1,))
    D_next, D = ft.Quantity("D_next", ft.distance, after=True), ft.Quantity("D", ft.distance)
    return ft.Claim("kinked/too-fast", setting=setting, statement=ft.one_step(method, ft.E(D_next) <= D)), step


class Printed:
    """The functions that are printed, as a method sees them."""

    def __init__(self, functions):
        self.of = [functions[f"f_{i}"] for i in range(1, len(functions) + 1)]

    def gradient(self, x):
        every = np.broadcast_to(x, (*x.shape[:-2], len(self.of), 1))
        slopes = [np.vectorize(f.slope, otypes=[object])(every[..., i, :]) for i, f in enumerate(self.of)]
        return np.stack(slopes, axis=-2)

    def value(self, x):
        every = np.broadcast_to(x, (*x.shape[:-2], len(self.of), 1))
        return np.stack([np.vectorize(f, otypes=[object])(every[..., i, 0]) for i, f in enumerate(self.of)], axis=-1)


@pytest.mark.parametrize("made", [averaged, kinked])
def test_a_run_from_the_text_alone_gives_both_sides(made):
    claim, step = made()
    found = check(claim)
    example = found.counterexample
    assert example is not None
    named, functions, points, _ = printed(example)
    text = "\n".join(terminal.example_lines(example))
    assert "slopes" not in text and "x* = " in text and "step: the function step (test_from_the_text.py, line " in text
    letters = {k: by_text.number(v) for k, v in by_text.values(named["with"]).items()}
    x = by_text.vector(by_text.values(named["start"])["x"])
    problem = SimpleNamespace(f=Printed(functions), n=len(functions), x_star=exact(list(points["x*"])), **letters)
    params = SimpleNamespace(**letters)
    state = SimpleNamespace(x=exact([list(x)])[0], total=exact([0]))
    begun = state
    for _ in range(int(letters.get("T", 1))):
        state = SimpleNamespace(**step(problem, params, state, None))
    rows = by_text.values(next(line for line in by_hand.lines(example) if line.startswith("after ")).partition(": ")[2])
    assert by_text.vector(rows["x"]) == tuple(state.x)
    told = {
        "F_T": ft.gap(problem, params, state) if "F_T" in named["left"] else None,
        "D_next": ft.distance(problem, params, state),
        "D_0": ft.distance(problem, params, begun),
        "D": ft.distance(problem, params, begun),
    }
    known = {k: str(Fraction(v)) for k, v in told.items() if v is not None} | {k: str(v) for k, v in letters.items()}
    for side, value in (("left", example.left), ("right", example.right)):
        expression, _, shown = named[side].split(", about ")[0].rpartition(" = ")
        assert by_text.number(shown) == value == Fraction(str(by_text.side(expression or shown, known)))
