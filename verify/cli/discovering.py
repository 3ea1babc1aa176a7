"""The command ``fedtheory discover``: a potential of a method, in closed form."""

from __future__ import annotations

import argparse
import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verify.cli.checking import assumptions, limits

if TYPE_CHECKING:
    import sympy

    from fedtheory.settings import Setting

_DISCOVER = """\
Find a potential of a method and prove it, from the method and its class of functions alone: a sum of squared distances,
function values and gradients with weights that are functions of the letters, and the rate by which it contracts, or
what a step gains. What the file claims is not looked at. What is found is a claim, and is printed only if it is proved
for all letters that meet the conditions. See docs/best.md.
"""


def register(
    command: Callable[..., argparse.ArgumentParser],
    at_least: Callable[..., Callable[[str], int]],
) -> None:
    """Add the command; ``command`` and ``at_least`` as :mod:`verify.cli.arguments` has them."""
    asking = command(
        "discover",
        f"{__name__}.run_discover",
        "find a potential of a method in closed form, and prove it",
        "fedtheory discover examples/gallery/gradient_descent.py --where 'gamma*(mu + L) <= 2'",
        "fedtheory discover examples/gallery/nesterov.py --where 'a*L >= 1' --json",
        description=_DISCOVER,
        found="no potential was found and proved",
    )
    asking.add_argument("file", type=Path, metavar="FILE.py", help="a Python file with a setting: method and functions")
    assumptions(asking)
    asking.add_argument("--setting", metavar="NAME", help="the name of the setting, where the file has several")
    limits(asking, at_least, "the search")


def run_discover(args: argparse.Namespace) -> int:
    """Print the first potential that is proved; 1 if there is none."""
    import sys

    from verify.base.limits import limited
    from verify.cli import answering
    from verify.report import consoles

    log = consoles.console(sys.stderr)
    found = limited(
        lambda: _discovered(args.file, args.setting, args.where, lambda text: consoles.say(log, text)),
        args.seconds,
        args.memory * 2**30,
        str(args.file),
    )
    report = consoles.console(sys.stdout)
    if found is None:
        more = "" if args.where else ": it may need what is assumed of the letters, as --where 'gamma*L <= 1'"
        consoles.say(report, f"no potential was found and proved, which does not say that there is none{more}")
        return 1
    answering.add(potential={name: part for name, part in found.items() if name != "lines"})
    consoles.say(report, *found["lines"])
    return 0


def _discovered(path: Path, name: str | None, where: Sequence[str], say: Callable[[str], None]) -> Any:
    """The first potential that is proved, as data, with the lines that report it; None if there is none."""
    import verify
    from fedtheory.numbers.symbols import Plain, positive_first
    from verify.base.verdict import Verdict
    from verify.best import closed_forms
    from verify.multipliers.proving import prove
    from verify.report import statement

    plain = Plain(positive_first).doprint
    setting, larger = _posed(setting_of(path, name))
    requires = [_condition(text, _letters(setting)) for text in where]
    for found in closed_forms.discover(setting, requires, say):
        weights = {words: plain(w) for words, w in found.weights.items()}
        say(f"is it proved? V = {_potential(weights)}")
        # The other ways of checking take longer where this one finds nothing.
        if isinstance(prove(found.claim), str):
            continue
        evidence = verify.check(found.claim)
        if evidence.verdict is not Verdict.PROVED or isinstance(prove(found.floor), str):
            continue
        gain = None if found.gain is None else {"of": found.gain[0], "weight": plain(found.gain[1])}
        rate = None if found.rate is None else plain(found.rate)
        says = f"E V after a step <= {'V' if rate is None else f'{rate} V'}"
        if gain is not None and gain["of"].startswith("|grad"):
            says += f" - {gain['weight']} {gain['of']}"
        elif gain is not None:
            says = says.replace(" <=", f" + {gain['weight']} ({gain['of']} after it) <=")
        return {
            "weights": weights,
            "rate": rate,
            "gain": gain,
            "statement": statement.text(found.claim),
            "hypotheses": list(where),
            "larger_class": larger,
            "verdict": str(evidence.verdict),
            "note": evidence.note,
            "silent": list(found.silent),
            "lines": [
                f"V = {_potential(weights)}",
                says,
                f"proved for {', '.join(['all letters of the class', *where])}: {evidence.note}",
                *([] if larger is None else [f"of a larger class of functions: {larger}"]),
                *([f"V says nothing of {', '.join(found.silent)}"] if found.silent else []),
            ],
        }
    return None


def _posed(setting: Setting) -> tuple[Setting, str | None]:
    """The setting with functions of a class that is posed; that class in words if it is larger than the setting's, for
    whose members holds what holds for all of it."""
    from fedtheory import classes

    of = setting.functions
    if type(of) is not classes.SmoothEach:
        return setting, None
    larger = classes.SmoothStronglyConvex(of.mu, of.L, optimum=of.optimum)
    return replace(setting, functions=larger), larger.text


def _potential(weights: Mapping[str, str]) -> str:
    return " + ".join(words if w == "1" else f"{w} ({words})" for words, w in weights.items())


def setting_of(path: Path, name: str | None) -> Setting:
    """The setting of a file. Raise ``ValueError`` if it has none, or several and none is named."""
    from fedtheory.settings import Setting
    from verify.base import own

    found = {k: v for k, v in vars(own.read(path)).items() if isinstance(v, Setting)}
    if name is not None:
        if name not in found:
            raise ValueError(f"{path} has no setting {name!r}: it has {', '.join(found) or 'none'}")
        return found[name]
    if len({id(v) for v in found.values()}) != 1:
        several = f"has several settings, name one by --setting: {', '.join(found)}"
        raise ValueError(f"{path} {several if found else 'has no setting: write setting = ft.Setting(...)'}")
    return next(iter(found.values()))


def _letters(setting: Setting) -> dict[str, sympy.Symbol]:
    """The letters of a setting, by name."""
    import sympy

    from fedtheory.numbers import symbols

    of_class = () if setting.functions is None else setting.functions.letters
    known = [*of_class, *setting.letters, *sympy.Tuple(*setting.domain).free_symbols, symbols.n, symbols.omega]
    fields = getattr(getattr(setting.algorithm, "Params", None), "_fields", ())
    of_method = {name: sympy.Symbol(name, positive=True) for name in fields}
    return of_method | {str(x): x for x in known if isinstance(x, sympy.Symbol)}


_RELATIONS = {ast.LtE: "Le", ast.Lt: "Lt", ast.GtE: "Ge", ast.Gt: "Gt", ast.Eq: "Eq"}
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def _condition(text: str, letters: Mapping[str, sympy.Symbol]) -> Any:
    """A comparison of rational functions of the letters, from its text. ``ValueError`` for anything else."""
    import sympy

    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        tree = ast.Constant(None)
    if not isinstance(tree, ast.Compare) or len(tree.ops) != 1 or type(tree.ops[0]) not in _RELATIONS:
        raise ValueError(f"--where takes a comparison such as 'gamma*L <= 1', got {text!r}")
    sides = [_value(side, text, letters) for side in (tree.left, tree.comparators[0])]
    found = getattr(sympy, _RELATIONS[type(tree.ops[0])])(*sides)
    if not isinstance(found, sympy.core.relational.Relational):
        raise ValueError(f"--where {text!r} says nothing of the letters: it is {str(found).lower()}")
    return found


def _value(node: ast.expr, text: str, letters: Mapping[str, sympy.Symbol]) -> Any:
    import sympy

    if isinstance(node, ast.Name):
        if node.id not in letters:
            raise ValueError(f"--where {text!r}: {node.id} is none of the letters {', '.join(letters)}")
        return letters[node.id]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return sympy.Rational(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand, text, letters)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        left, right = (_value(side, text, letters) for side in (node.left, node.right))
        if isinstance(node.op, ast.Div) and right == 0:
            raise ValueError(f"--where {text!r} divides by 0")
        return _OPERATIONS[type(node.op)](left, right)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant):
        power = node.right.value
        if isinstance(power, int) and 0 <= power <= 20:
            return _value(node.left, text, letters) ** power
    raise ValueError(f"--where takes quotients of polynomials in the letters, got {ast.unparse(node)}")
