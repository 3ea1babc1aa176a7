"""What a file does when it is loaded changes nothing that a proof reads: attacks, and what files are written with."""

import atexit
import sys
from pathlib import Path

import numpy as np
import pytest
import sympy

from verify import Verdict, check
from verify.base.own import load
from verify.reading import held, loading

FILE = """\
import fedtheory as ft
{before}
mu, L, gamma = ft.letters("mu L gamma")
K = 1
def step(problem, params, state, draw):
    g = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {{"x": state.x - {k} * params.gamma * g}}
gd = ft.method("gd", step, ["gamma"], {{"x": "point"}})
setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L))
statement = ft.contracts(gd, ft.distance, (1 - gamma * mu) ** 2)
CLAIMS = (ft.Claim("mine/loaded", setting=setting, statement=statement, requires=(gamma * (mu + L) <= 2,)),)
{after}
"""


def written(folder: Path, before: str = "", after: str = "", k: str = "K") -> Path:
    file = folder / "mine.py"
    file.write_text(FILE.format(before=before, after=after, k=k))
    return file


def why(file: Path) -> str:
    """What stands in the way of a proof of the claim of a file."""
    (claim,) = load(file)
    return held.Reached((claim, loading.files(claim.id))).changing()


_G = "def g(*given, **named):\n    globals()['K'] = 3\n    return 1\n"
#: What a file does before and after its claim is made.
ATTACKS = {
    "a hook at the exit": ("import atexit\n" + _G + "atexit.register(g)", ""),
    "a weak reference": ("import weakref\n" + _G + "w = weakref.finalize(step, g)", "", "def step(): pass"),
    "a signal": ("import signal\n" + _G + "s = signal.getsignal(2)", ""),
    "names of its own, set by name": ("", "globals()['K'] = 1"),
    "a module in the place of another": ("import sys", "sys.modules['own'] = 1"),
    "a module of another class": (
        "import sys, types\nclass M(types.ModuleType): pass",
        "sys.modules[__name__].__class__ = M",
    ),
    "a module that makes its names": ("def __getattr__(name):\n    return 3", ""),
    "built-ins of its own": ("__builtins__ = {'len': 3}", ""),
    "the name of a module": ("__name__ = 'numpy'", ""),
    "an object of ours": ("", "object.__setattr__(gd, 'name', 'other')"),
    "an attribute of ours": ("from fedtheory.problems import base", "base.KEPT = 1"),
    "a class of sympy's": ("import sympy", "sympy.Symbol.kept = 1"),
    "what sympy has found out": (
        "import sympy\nx = sympy.Symbol('x', positive=True)",
        "x._assumptions['negative'] = True",
    ),
    "what sympy evaluates": ("import sympy.core.parameters as p", "p.global_parameters.evaluate = True"),
    "how numpy treats errors": ("import numpy as np\nnp.seterr(all='ignore')", ""),
    "errors of numpy, in a context": ("import numpy as np\nwith np.errstate(all='ignore'):\n    A = np.ones(1)", ""),
    "how numpy prints": ("import numpy as np\nnp.set_printoptions(precision=3)", ""),
    "the digits of mpmath": ("import mpmath\nmpmath.mp.dps = 15", ""),
    "a variable of a context": ("import contextvars\nv = contextvars.ContextVar('v')\nv.set(3)", ""),
    "the digits of decimals": ("import decimal\ndecimal.getcontext().prec = 28", ""),
    "what the collector finds": ("import gc\nA = gc.get_objects()[0]", ""),
    "memory, by its address": ("import ctypes\nA = ctypes.py_object(3)", ""),
    "a frame": ("import sys\nsys._getframe(0)", ""),
    "a class that is told of others": (
        "class B:\n    def __init_subclass__(cls):\n        globals()['K'] = 3\nclass C(B):\n    pass",
        "",
    ),
    "a class of classes": (
        "class M(type):\n    def __init__(cls, *given):\n        globals()['K'] = 3\nclass C(metaclass=M):\n    pass",
        "",
    ),
    "a class of classes by itself": (
        "class M(type):\n    def __call__(cls):\n        return 3\nC = M('C', (), {})",
        "",
    ),
    "keywords of a class": ("class C(B, of=3):\n    pass", "", "class B:\n    def __init_subclass__(cls, of): pass"),
    "a descriptor that is told its name": (
        "class D:\n    def __set_name__(self, *given):\n        globals()['K'] = 3\nclass C:\n    k = D()",
        "",
    ),
    "what a class is asked for": ("class C:\n    def __class_getitem__(cls, k):\n        return 3\nC[3]", ""),
    "a body of a class": ("class C:\n    def f():\n        globals()['K'] = 3\n    f()", ""),
    "a decorator of a class": (_G + "@g\nclass C:\n    pass", ""),
    "a decorator of a function": ("def run(f):\n    f()\n    return 1\n@run\ndef g():\n    globals()['K'] = 3", ""),
    "what decorates is another in the end": (
        "def run(f):\n    f()\np = property\nproperty = run\n@property\ndef g():\n    globals()['K'] = 3\nproperty = p",
        "",
    ),
    "another function by its name": ("import functools\n@functools.wraps(len)\ndef g():\n    return 3", ""),
    "a default that is called": (_G + "def f(a=g()):\n    return a", ""),
    "an annotation that is called": (_G + "def f(a: g()):\n    return a", ""),
    "an annotation of a name": (_G + "A: g() = 3", ""),
    "a lambda that is called": ("A = (lambda: setattr(ft, 'kept', 1))()", ""),
    "a function that is another in the end": (_G + "g()\ndef g():\n    return 1", ""),
    "a function that is deleted": (_G + "g()\ndel g", ""),
    "a function made in a loop": ("for k in (1, 2):\n    def g():\n        return k", ""),
    "a number that is another in the end": ("", "K = 3\nK = 1"),
    "a number of a loop": ("", "for K in (3, 1):\n    pass"),
    "a name set in an expression": ("", "A = [(K := k) for k in (3, 1)]"),
    "what sorts by a function": ("A = sorted((2, 1), key=g)", "", _G),
    "a generator that goes on": (_G + "A = (g(k) for k in (1, 2))\nB = next(A)", ""),
    "a generator that has not ended": ("A = (k for k in (3, 1))\nB = [k for k, _ in zip(A, (1,))]", ""),
    "a generator that a function goes on with": ("A = (k for k in (3, 1))\ndef f():\n    return next(A)\nB = f()", ""),
    "a generator of a function that has not begun": ("def f():\n    yield 3\nA = f()\nB = (A,)", ""),
    "generators, of which one has not ended": (
        "A = (k for k in (1, 2))\nB = (k for k in (1, 2))\nC = [*A, B]",
        "",
    ),
    "an object that acts when it is gone": ("class C:\n    def __del__(self):\n        globals()['K'] = 3\nC()", ""),
    "a text that sympy evaluates": ("import sympy\nA = sympy.Max('1 + 1', 1)", ""),
    "a text, put together": ("import sympy\nt = ' + 1'\nA = sympy.Max('1' + t, 1)", ""),
    "a text that is a number in the end": ("import sympy\nt = '1 + 1'\nA = sympy.Max(t, 1)\nt = 1", ""),
    "a text of a loop": ("import sympy\nA = [sympy.Max(t, 1) for t in ('1 + 1', 2)]", ""),
    "a text of a loop's end": ("import sympy\nfor t in ('1 + 1', 2):\n    u = t\n    A = sympy.Max(u, 1)", ""),
    "a text in a list": ("import sympy\nA = sympy.Min(*['1 + 1'])", ""),
    "a text that is formatted": ("import sympy\nA = sympy.Max('%s' % '1 + 1', 1)", ""),
    "a text that a function gives": ("import sympy\ndef t():\n    return '1 + 1'\nA = sympy.Max(t(), 1)", ""),
    "a text in a function": ("import sympy\ndef f(t):\n    return sympy.Max(t, 1)\nA = f('1 + 1')", ""),
    "a text given by another": ("import sympy\nA = list(map(sympy.Max, ['4']))", ""),
    "sympy by another name": ("import sympy\nm = sympy.Max\nA = m('1 + 1', 1)", ""),
    "another name, in a function": ("import sympy\nm = sympy.Max\ndef f():\n    return m('1 + 1', 1)\nA = f()", ""),
    "another name that is passed on": ("import sympy\nm = sympy.Max\nA = list(map(m, ['1 + 1']))", ""),
    "another name of another name": ("import sympy\nm = sympy.Max\nk = m\nA = k('1 + 1', 1)", ""),
    "another name that is set twice": ("import sympy\nm = sympy.Max\nA = m(1, 2)\nm = sympy.Min", ""),
    "another name, set by a loop too": ("import sympy\nm = sympy.Max\nfor m in (1,):\n    pass", ""),
    "another name, set in a class": ("import sympy\nclass C:\n    m = sympy.Max\nA = C.m('1 + 1', 1)", ""),
    "another name, in a class and beside": (
        "import sympy\nm = sympy.Max\nclass C:\n    m = sympy.Min\nA = C.m('1 + 1', 1)",
        "",
    ),
    "other names in a tuple": ("import sympy\nm, k = sympy.Max, sympy.Min\nA = m(1, 2)", ""),
    "another name in a list": ("import sympy\nm = [sympy.Max]\nA = m[0]('1 + 1', 1)", ""),
    "another name that is a default": ("import sympy\ndef f(m=sympy.Max):\n    return m('1 + 1', 1)\nA = f()", ""),
    "another name, by a lambda": ("import sympy\nf = lambda: sympy.Max\nA = f()('1 + 1', 1)", ""),
    "another name for what evaluates": ("import sympy\ns = sympy.sympify\nA = s('1 + 1')", ""),
    "a text in a set": ("import sympy\nA = sympy.Max(*({'1 + 1'} - {1}), 1)", ""),
    "a set of texts": ("import sympy\ns = {'1 + 1'}\nA = sympy.Eq(s - s, s - s)", ""),
    "a tuple of texts by its name": ("import sympy\nt = (1,)\nA = sympy.Max(*(t + ('1 + 1',)))", ""),
    "texts beside letters": ("import sympy\nA = sympy.Eq(ft.letters('a b') + ('1 + 1',), 1)", ""),
    "a tuple of texts": ("import sympy\nA = sympy.Max(2, *(('1 + 1',) + (1,)))", ""),
    "a text in a numpy array": ("import numpy as np\nimport sympy\nA = sympy.Rational(np.array(['4'])[0])", ""),
    "annotations that are evaluated": ("import typing\nA = typing.get_type_hints(g)", "", _G),
    "a code of one's own": ("import types\nA = types.CodeType", ""),
    "an import that is computed": ("import importlib\nA = importlib.import_module('math')", ""),
    "names that are not written": ("from math import *", ""),
    "a package that is not known": ("import pytest", ""),
    "a file that is read": ("A = open(__file__).read()", ""),
    "a class of ours, made again": ("import dataclasses\nclass C:\n    k: int = 3\ndataclasses.dataclass(C)", ""),
    "a list of ours": ("import fedtheory.algorithms as a\na.__all__ += []", ""),
    "a function of the checker": ("from verify.base import uses\nuses.names('a')", ""),
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS)
def test_a_file_that_may_change_what_is_read_has_no_proof(tmp_path, monkeypatch, attack):
    before, after, *first = attack
    monkeypatch.setattr(atexit, "register", lambda *given: None)
    monkeypatch.setattr(sympy.Symbol, "kept", 0, raising=False)
    errors, printing, was = np.geterr(), np.get_printoptions(), set(sys.modules)
    try:
        assert why(written(tmp_path, "\n".join([*first, before]), after))
    except ValueError as refused:
        assert "replaced" in str(refused)
    finally:
        np.seterr(**errors)
        np.set_printoptions(**printing)
        for name in {"own"} & set(sys.modules) - was:
            del sys.modules[name]


def test_beside_a_file_the_same_is_asked(tmp_path):
    (tmp_path / "beside.py").write_text("import sys\nsys.setrecursionlimit(sys.getrecursionlimit())\n")
    assert "beside.py, as it is loaded" in why(written(tmp_path, "import beside"))


def test_a_file_is_told_with_its_line(tmp_path):
    file = written(tmp_path, "import atexit\natexit.register(len, ())")
    (claim,) = load(file)
    found = check(claim)
    assert found.verdict is Verdict.SUPPORTED
    assert any(
        "mine.py, as it is loaded, may change what is read: line 3: it uses atexit.register" in o.note
        for o in found.outcomes
    )
    atexit.unregister(len)


CONSTANTS = """\
import fedtheory as ft
{before}
x, y = ft.letters("x y")
CLAIMS = (ft.Claim("mine/constants", setting=ft.Setting("", letters=(x, y)), statement=ft.Inequality(x, x + y)),)
"""


@pytest.mark.parametrize(("before", "proved"), [("", True), ("import sys\nsys.setrecursionlimit(2000)", False)])
def test_claims_without_code_are_of_a_file_too(tmp_path, before, proved):
    recursion = sys.getrecursionlimit()
    file = tmp_path / "constants.py"
    file.write_text(CONSTANTS.format(before=before))
    try:
        (claim,) = load(file)
        assert (check(claim).verdict is Verdict.PROVED) is proved
    finally:
        sys.setrecursionlimit(recursion)


#: What files are written with.
HARMLESS = {
    "nothing": "",
    "imports": "from __future__ import annotations\nimport sys, scipy.linalg\nfrom math import sqrt",
    "a program": "if __name__ == '__main__':\n    import atexit\n    atexit.register(print)",
    "a record": "from typing import Any, NamedTuple\nclass D(NamedTuple):\n    a: Any\n    b: Any = 3\nA = D(1)",
    "a dataclass": "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    k: int = 3\nA = C(2).k",
    "a dataclass by its name": "from dataclasses import dataclass, field\n@dataclass\nclass C:\n"
    "    k: int = field(default=3)\nA = C(2)",
    "a class": "class C:\n    k = 3\n    def f(self):\n        return self.k\n    @property\n    def g(self):\n"
    "        return 1\nA = C().f()",
    "numbers of sympy": "import sympy\nA = sympy.Rational(1, 3) + sympy.sqrt(2) * sympy.Rational('1/3') - sympy.pi",
    "relations": "import sympy\na, b = ft.letters('a b')\n"
    "A = sympy.And(sympy.Eq(a, b**2), sympy.Max(a, 1 - b) <= sympy.S.One)",
    "sums": "import sympy\na = ft.letters('a')\n"
    "A = sympy.Sum(a**ft.k, (ft.k, 0, ft.n - 1)) + sympy.Product(a, (ft.k, 1, ft.T))",
    "letters of sympy": "from sympy import Symbol, symbols\na = Symbol('a', positive=True)\n"
    "b, c = symbols('b c', real=True)",
    "another name of sympy's": "import sympy\nR = sympy.Rational\nA = R(1, 3) * R('1/2')",
    "a loop": "import sympy\nA = []\nfor k in (1, 2, 3):\n    A.append(sympy.Rational(1, k))",
    "relations of a list": "import sympy\nP = ((ft.n, 3), (ft.d, 2))\nA = tuple(sympy.Eq(a, b) for a, b in P)",
    "a function that is called": "def f(k, *more, **named):\n    return {'k': k + 1}\nA = {**f(1), **f(2, a=3)}",
    "statements of a function": "def f(k):\n"
    "    return ft.contracts(ft.method('m', t, [], {'x': 'point'}), ft.distance, k)\n"
    "def t(problem, params, state, draw):\n    return {'x': state.x}\nA = [f(k) for k in (1, 2)]",
    "arrays": "import numpy as np\nA = np.zeros((2, 2))\nA[0, 0] = 1\nA += np.eye(2)\nB = np.linalg.norm(A)",
    "a generator that has ended": "A = (k for k in (1, 2))\nB = [*A]",
    "a generator of a function that has ended": "def f():\n    yield 1\n    yield 2\nA = f()\nB = tuple(A)",
    "a generator of generators": "A = (k for k in (1, 2))\nB = (k for k in A)\nC = sum(B)",
    "conditions": "A = 3\nif A > 2:\n    B = 1\nelse:\n    B = 2\nassert B == 1, 'no'",
    "names of its own twice": "A = 1\nA = A + 1\nB = [k for k in (1, 2)] + [k for k in (3,)]",
    "functions with names": "from functools import partial\ndef f(a: int, b: float = 3) -> int:\n    return a\n"
    "A = partial(f, b=2)",
}


@pytest.mark.parametrize("before", HARMLESS.values(), ids=HARMLESS)
def test_a_file_that_makes_what_is_its_own_keeps_a_proof(tmp_path, before):
    future, text = before.startswith("from __future__"), FILE.format(before=before, after="", k="K")
    file = tmp_path / "mine.py"
    file.write_text(before + "\n" + FILE.format(before="", after="", k="K") if future else text)
    assert why(file) == ""
    if before.startswith("import sympy\nA = sympy"):
        (claim,) = load(file)
        assert check(claim).verdict is Verdict.PROVED


def test_a_claim_of_a_file_is_of_what_was_loaded_last(tmp_path):
    assert "atexit" in why(written(tmp_path, "import atexit\natexit.unregister(len)"))
    assert why(written(tmp_path)) == ""
