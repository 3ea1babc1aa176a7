"""Functions of a claim that run and are not read change nothing that is: false theorems of files of one's own."""

import inspect
import subprocess
import sys
from pathlib import Path

import mpmath
import pytest

import fedtheory as ft
from verify import Verdict, check
from verify.base import originals
from verify.base.own import load
from verify.reading import held, operations, theory

FILE = """\
import dataclasses
import sys
import fedtheory as ft
mu, L, gamma = ft.letters("mu L gamma")
@dataclasses.dataclass(frozen=True)
class C:
    k: int
c = C(1)
K = 1
def make(one):
    def inner():
        return one
    return inner
def plain(one=1):
    return one
cell = make(1)
def step(problem, params, state, draw):
    g = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {{"x": state.x - {k} * params.gamma * g}}
def init(problem, params, x=None):
    if problem.n > 300:
        {do}
    return {{"x": 0 * problem.x_star if x is None else x}}
gd = ft.method("gd", step, ["gamma"], {{"x": "point"}}, init=init)
setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L))
statement = ft.contracts(gd, ft.distance, (1 - gamma * mu) ** 2)
CLAIMS = (ft.Claim("mine/held", setting=setting, statement=statement, requires=(gamma * (mu + L) <= 2,)),)
"""
CHANGES = {
    "globals": ("K", "globals()['K'] = 3"),
    "a module": ("K", "sys.modules[__name__].K = 3"),
    "a frozen dataclass": ("c.k", "object.__setattr__(c, 'k', 3)"),
    "a default": ("plain()", "plain.__defaults__ = (3,)"),
    "a closure cell": ("cell()", "cell.__closure__[0].cell_contents = 3"),
    "setattr": ("K", "setattr(sys, 'K', 3)"),
}


def written(path: Path, k: str, do: str) -> Path:
    file = path / "mine.py"
    file.write_text(FILE.format(k=k, do=do))
    return file


@pytest.mark.parametrize(("k", "do"), CHANGES.values(), ids=CHANGES)
def test_what_runs_may_not_change_what_is_read(tmp_path, k, do):
    (claim,) = load(written(tmp_path, k, do))
    assert held.Reached(claim).changing()


@pytest.mark.parametrize("name", ["globals", pytest.param("a frozen dataclass", marks=pytest.mark.slow)])
def test_what_may_change_is_the_reason_that_is_given(tmp_path, name):
    (claim,) = load(written(tmp_path, *CHANGES[name]))
    found = check(claim)
    assert found.verdict is Verdict.SUPPORTED
    assert any("may change what is read" in o.note or "is not read" in o.note for o in found.outcomes)


#: How a function reaches and changes the number that the step multiplies by, each another way; the first part stands
#: before the functions of the file.
ATTACKS = {
    "a function under another name": ("f = setattr", "K", "f(sys, 'K', 3)"),
    "a builtin in a container": ("F = {'a': setattr}", "K", "F['a'](sys, 'K', 3)"),
    "a builtin in an array": ("import numpy as np\nF = np.array([setattr, 1])", "K", "F[0](sys, 'K', 3)"),
    "a builtin as a default": ("def g(f=exec):\n    f('K = 3', G)\nG = globals()", "K", "g()"),
    "getattr of a computed name": ("", "c.k", "getattr(object, '__set' + 'attr__')(c, 'k', 3)"),
    "getattr under another name": ("g = getattr", "c.k", "g(object, '__setattr__')(c, 'k', 3)"),
    "getattr passed on": ("", "c.k", "list(map(getattr, [object], ['__setattr__']))[0](c, 'k', 3)"),
    "an operator of items": ("import operator\nG = globals()", "K", "operator.setitem(G, 'K', 3)"),
    "its own names, kept": ("G = globals()", "K", "G['K'] = 3"),
    "its own names, updated": ("G = globals()", "K", "G.update(K=3)"),
    "its own names, by an operator": ("G = globals()", "K", "g = G; g |= {'K': 3}"),
    "a loop over its own names": ("G = globals()", "K", "for G['K'] in (3,): pass"),
    "the frame of a generator": ("", "K", "g = (i for i in ()); g.gi_frame.f_globals['K'] = 3"),
    "the frame of an error": ("", "K", "try: 1 / 0\n        except ArithmeticError as e: e.with_traceback(None)"),
    "sympy evaluates a text": (
        "import sympy",
        "c.k",
        "sympy.sympify('object.__setattr__', {'object': object})(c, 'k', 3)",
    ),
    "a class of sympy's": ("from sympy import Max", "K", "Max('__import__(\"sys\")', 1)"),
    "a module within numpy": ("import numpy as np", "K", "np.lib.array_utils"),
    "a thread": ("import threading\ndef g():\n    globals()['K'] = 3", "K", "threading.Thread(target=g).start()"),
    "a weak reference": ("import weakref\ndef g(*a):\n    globals()['K'] = 3", "K", "weakref.finalize(problem, g)"),
    "at the exit": ("import atexit\ndef g():\n    globals()['K'] = 3", "K", "atexit.register(g)"),
    "the class of an object": ("class D:\n    k = 3", "c.k", "c.__class__ = D"),
    "an attribute of a class": ("", "c.k", "C.k = 3"),
    "an attribute of a class of states": ("", "K", "type(params).gamma = property(lambda self: 3)"),
    "a descriptor": (
        "class D:\n    def __get__(self, *a):\n        globals()['K'] = 3\nclass E:\n    k = D()\ne = E()",
        "K",
        "e.k",
    ),
    "an operator of a class": (
        "G = globals()\nclass D:\n    def __radd__(self, o):\n        return G\nD = D()",
        "K",
        "g = 0; g += D; g |= {'K': 3}",
    ),
    "an operator of a class that is made of its parts": (
        "P = {'k': 1}",
        "P['k']",
        "D = type('D', (), {'__radd__': lambda s, o: P})(); g = 0; g += D; g['k'] = 3",
    ),
    "a class made of its parts by another name": (
        "P = {'k': 1}\nt = type",
        "P['k']",
        "D = t('D', (), {'__radd__': lambda s, o: P})(); g = 0; g += D; g['k'] = 3",
    ),
    "a class made of its parts by what maps": (
        "P = {'k': 1}",
        "P['k']",
        "(D,) = map(type, ['D'], [()], [{'__radd__': lambda s, o: P}]); g = 0; g += D(); g['k'] = 3",
    ),
    "a class that deletes": ("class D:\n    def __del__(self):\n        globals()['K'] = 3", "K", "D()"),
    "a function that remembers": (
        "import functools\n@functools.lru_cache\ndef g(a):\n    globals()['K'] = a",
        "K",
        "g(3)",
    ),
    "what a partial has by name": (
        "import functools\ndef g(k=1):\n    return k\np = functools.partial(g, k=1)",
        "p()",
        "p.keywords['k'] = 3",
    ),
    "a list as a default": ("def g(a=[1]):\n    return a[0]", "g()", "g.__defaults__[0].append(3)"),
    "a module with names of its own": ("class M(type(sys)):\n    k = 1\nm = M('m')", "K", "m.k"),
    "an import": ("", "K", "import sys as s; s.modules[__name__].K = 3"),
    "a class that is made": ("", "K", "class D:\n            globals()['K'] = 3"),
    "the name of a comprehension": ("", "K", "[setattr for setattr in ()]; setattr(sys, 'K', 3)"),
    "a class of containers": ("class D(dict):\n    pass\nF = D(a=setattr)", "K", "F['a'](sys, 'K', 3)"),
    "a record's function with an underscore": (
        "import typing as t\nclass R(t.NamedTuple):\n    k: int\n    def _g(self):\n        exec('K = 3')\nr = R(1)",
        "K",
        "r._g()",
    ),
    "what makes a default": (
        "def g():\n    globals()['K'] = 3\n@dataclasses.dataclass(frozen=True)\nclass D:\n"
        "    k: int = dataclasses.field(default_factory=g)",
        "K",
        "D()",
    ),
    "a class of classes": (
        "class M(type):\n    def __call__(cls):\n        globals()['K'] = 3\nclass D(metaclass=M):\n    pass",
        "K",
        "D()",
    ),
    "a dictionary that is computed": (
        "class D:\n    @property\n    def __dict__(self):\n        return {}\n    f = setattr\nD = D()",
        "K",
        "D.f(sys, 'K', 3)",
    ),
    "names that are looked up otherwise": (
        "class N(dict):\n    def __missing__(self, name):\n        return 3\ng = type(make)(make.__code__, N())",
        "K",
        "g(1)",
    ),
    "a method of a container": ("g = globals().update", "K", "g(K=3)"),
    "a text that our functions evaluate": ("from fedtheory.numbers.rational import evaluate", "K", "evaluate('K', {})"),
    "what makes objects, by another name": (
        "class D:\n    def __init__(self, k):\n        self.k = k\nD(1)\ng = D.__init__",
        "c.k",
        "D(1); g(C, 3)",
    ),
    "an object that is made and is another": (
        "class D:\n    def __init__(self):\n        self = C\n        self.k = 3",
        "c.k",
        "D()",
    ),
    "an object within what makes objects": (
        "class D:\n    def __init__(self):\n        def f(self):\n            self.k = 3\n        f(C)",
        "c.k",
        "D()",
    ),
    "an array that is not copied": (
        "import numpy as np\nA = np.ones(1)",
        "K",
        "a = np.array(A, **{'copy': False}); a[0] = 3",
    ),
    "what numpy writes to": ("import numpy as np\nA = np.ones(1)", "K", "np.square(3 * np.ones(1), out=A)"),
    "where a method writes to": ("import numpy as np\nA = np.ones(1)", "A[0]", "(3 * np.ones(1)).conj(A)"),
    "where a median is written to": (
        "import numpy as np\nA = np.ones(1)",
        "A[0]",
        "np.median(3 * np.ones((2, 1)), 0, A)",
    ),
    "where random numbers are written to": (
        "import numpy as np\nA = np.ones(1)\nR = np.random.default_rng(0)",
        "A[0]",
        "R.random(1, float, A)",
    ),
    "what a function of numpy has": ("import numpy as np\nA = np.ones(1)", "A[0]", "np.add.at(A, 0, 3)"),
    "what a function of numpy has, by another name": (
        "import numpy as np\nA = np.ones(1)",
        "A[0]",
        "f = np.add; f.at(A, 0, 3)",
    ),
    "a field by the name of what changes arrays": (
        "import typing\nimport numpy as np\nA = np.ones(1)\nclass R(typing.NamedTuple):\n    fill: int\nr = R(1)",
        "A[0]",
        "r.fill; A.fill(3)",
    ),
    "where numpy writes to": ("import numpy as np\nA = np.ones(1)", "K", "np.square(3 * np.ones(1), A)"),
}


@pytest.mark.parametrize(("before", "k", "do"), ATTACKS.values(), ids=ATTACKS)
def test_an_attack_leaves_no_proof(tmp_path, before, k, do):
    file = written(tmp_path, k, do)
    file.write_text(file.read_text().replace("cell = make(1)\n", f"cell = make(1)\n{before}\n"))
    (claim,) = load(file)
    assert held.Reached(claim).changing()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [name for name, of in ATTACKS.items() if of[2].startswith(("f(", "G[", "p.k", "c.__"))]
)
def test_an_attack_leaves_the_verdict_supported(tmp_path, name):
    before, k, do = ATTACKS[name]
    file = written(tmp_path, k, do)
    file.write_text(file.read_text().replace("cell = make(1)\n", f"cell = make(1)\n{before}\n"))
    (claim,) = load(file)
    assert check(claim).verdict is Verdict.SUPPORTED


BESIDE = {
    "a thread": "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()",
    "a trace": "import sys\nsys.setprofile(lambda *a: None)",
    "a callback": "import gc\ngc.callbacks.append(lambda *a: None)",
}


@pytest.mark.parametrize("text", BESIDE.values(), ids=BESIDE)
def test_a_file_starts_nothing_that_runs_beside_it(tmp_path, text):
    import gc

    file, before, callbacks = tmp_path / "mine.py", sys.getprofile(), list(gc.callbacks)
    file.write_text(text)
    try:
        with pytest.raises(ValueError, match="starts a thread"):
            load(file)
    finally:
        sys.setprofile(before)
        gc.callbacks[:] = callbacks


#: A function of mpmath's own code that closes over another function.
CLOSED_OVER = """
import types, mpmath
of = type(mpmath.mp)
of.cot = types.FunctionType(of.cot.__code__, of.cot.__globals__, "cot", None, (types.CellType(lambda *a, **k: 0),))
"""


def test_a_function_of_mpmath_that_closes_over_something_else_is_refused(tmp_path, monkeypatch):
    of = type(mpmath.mp)
    monkeypatch.setattr(of, "cot", of.cot)
    file = tmp_path / "mine.py"
    file.write_text(CLOSED_OVER)
    with pytest.raises(ValueError, match=r"MPContext\.cot was replaced"):
        load(file)


def test_a_context_that_mpmath_makes_replaces_nothing():
    before = originals.kept()
    mpmath.MPContext()
    assert before.changed() is None


@pytest.mark.parametrize("text", ["math.pi = 3", "np.pi = 3", "known.LARGEST = 1", "base.Evil = type('E', (), {})"])
def test_a_file_that_sets_a_name_of_a_library_is_refused(tmp_path, monkeypatch, text):
    import math

    import numpy as np

    from fedtheory.problems import base

    for module, name in ((math, "pi"), (np, "pi")):
        monkeypatch.setattr(module, name, getattr(module, name))
    file = tmp_path / "mine.py"
    file.write_text(
        "import math\nimport numpy as np\nfrom fedtheory.problems import base\n"
        f"from verify.reading import operations as known\n{text}\n"
    )
    monkeypatch.setattr(operations, "LARGEST", operations.LARGEST)
    try:
        with pytest.raises(ValueError, match="was replaced"):
            load(file)
    finally:
        vars(base).pop("Evil", None)


def test_our_code_with_other_names_is_not_ours():
    code = ft.distance.__code__
    assert theory.stands(ft.distance) and theory.stands(ft.distance.__class__) is False
    forged = type(written)(code, {**ft.distance.__globals__})
    assert not theory.stands(forged) and not theory.holds(forged)


#: What a start of one's own may do.
HARMLESS = {
    "a list of its own": ("", "a = []; a.append(3); a[0] = 2"),
    "an array of its own": ("import numpy as np", "a = np.zeros(3); a[0] = 1; a += 1"),
    "a copy": ("", "a = problem.x_star.copy(); a[..., 0] = 1"),
    "a sum": ("", "s = 0\n        for i in range(3): s += i * problem.n"),
    "functions within": ("", "f = lambda y, z=1: y + z; f(problem.d)"),
    "functions of numpy and of ours": ("import numpy as np", "ft.gap; np.linalg.norm(np.ones(3)).round(2)"),
    "records of its own": ("", "c.k + C(3).k"),
    "an object of its own": (
        "class B:\n    pass\nclass D(B):\n    def __init__(self, k):\n        self.k = k",
        "D(1).k",
    ),
    "a mapping": ("P = {'a': 1}", "{**P, 'b': 2}.get('a'); [v for v in P.values()]"),
    "errors": ("", "try: 1 / problem.n\n        except ZeroDivisionError as e: raise ValueError(f'{e}') from e"),
    "getattr of a name that is written": ("", "getattr(problem, 'n', 3); hasattr(problem, 'g')"),
}


@pytest.mark.parametrize(("before", "do"), HARMLESS.values(), ids=HARMLESS)
def test_a_start_that_changes_nothing_keeps_a_proof(tmp_path, before, do):
    file = written(tmp_path, "K", do)
    file.write_text(file.read_text().replace("cell = make(1)\n", f"cell = make(1)\n{before}\n"))
    (claim,) = load(file)
    assert held.Reached(claim).changing() == ""


OTHERS = {
    "the source of a letter": ("mu, L))\nst", "mu, L), letters={mu: 'mu', L: 'L', gamma: 'gamma', q: other})\nst"),
    "a fixed point": ("init=init", "init=init, fixed_point=other"),
    "a quantity": ("gd, ft.distance", "gd, other"),
    "a hypothesis": ("(mu + L) <= 2,)", "(mu + L) <= 2, ft.Hypothesis('it holds', met=other))"),
}


@pytest.mark.parametrize(("old", "new"), OTHERS.values(), ids=OTHERS)
def test_other_functions_of_a_claim_change_nothing_either(tmp_path, old, new):
    file = written(tmp_path, "K", "pass")
    other = "q = ft.letters('q')\ndef other(problem, params, *state):\n    globals()['K'] = 3\n    return 1\ndef init"
    text = file.read_text().replace("def init", other)
    assert old in text
    file.write_text(text.replace(old, new))
    (claim,) = load(file)
    assert "globals()" in held.Reached(claim).changing()


def test_what_was_changed_since_is_noticed(tmp_path):
    (claim,) = load(written(tmp_path, "K", "pass"))
    reached = held.Reached(claim)
    assert reached.changing() == ""
    inspect.unwrap(claim.setting.algorithm.step).__globals__["K"] = 3
    assert "was changed" in reached.changing()


def test_a_start_of_ones_own_keeps_a_proof(tmp_path):
    (claim,) = load(written(tmp_path, "K", "pass"))
    assert check(claim).verdict is Verdict.PROVED


@pytest.mark.parametrize("change", ["np.square = lambda x: x", "fractions.Fraction.__add__ = lambda one, other: one"])
def test_a_file_that_replaces_a_function_is_refused(tmp_path, monkeypatch, change):
    import fractions

    import numpy as np

    # What the file sets is set back.
    monkeypatch.setattr(np, "square", np.square)
    monkeypatch.setattr(fractions.Fraction, "__add__", fractions.Fraction.__add__)
    file = tmp_path / "mine.py"
    file.write_text(f"import fractions\nimport numpy as np\n{change}\n")
    with pytest.raises(ValueError, match="was replaced"):
        load(file)


FIRST = """\
import numpy as np
def square(x):
    return x * x * (1 + (x.shape[-1] > 300))
np.square = {what}
import fedtheory as ft
from verify.base import originals
print(originals.replaced())
"""


@pytest.mark.parametrize("what", ["square", "np.sqrt", "np.frompyfunc(square, 1, 1)", "np.linalg.norm", "np.square"])
def test_a_function_that_was_replaced_at_first_is_noticed(tmp_path, what):
    file = tmp_path / "first.py"
    file.write_text(FIRST.format(what=what))
    found = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True).stdout.strip()
    assert found == ("None" if what == "np.square" else "numpy.square")
