"""The server for agents over standard input and output, by the package ``mcp``.

Every tool runs one command with ``--json`` in a process of its own (:mod:`verify.agent.isolated`), in an empty folder,
and gives its answer. An agent writes a theorem as the text of a Python file: it is checked, explained, repaired, and
its proof exported.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mcp.server import MCPServer

import verify

#: The file that holds an agent's text.
FILE = "theorem.py"
#: Bytes of such a text.
_MOST = 200_000
#: Values of letters, as texts such as "n=100" or as an object.
Values = list[str] | dict[str, str | int | float] | None
#: How many times its processor time a command may last, and the number of lines of an error that are returned.
_WAITING, _TOLD = 4, 5
_INSTRUCTIONS = """\
fedtheory tests theorems about optimisation methods by computation. Write a theorem as the text of a Python file with a
module-level CLAIMS (see the tool `example`), and give it to `check`: the verdict is proved, certified, supported (read
what was not searched), refuted (with a counterexample in exact fractions), ill-posed or not-tested. Then use `why`,
`repair`, `best` or `export`. Verdicts come from computation alone; nothing that you say of a claim changes them.
"""


class Limits(NamedTuple):
    """Of each command: seconds of processor time, bytes of memory, and whether the network is left as it is."""

    seconds: int
    size: int
    network: bool


def answer(
    arguments: Sequence[str], limits: Limits, text: str | None = None, as_json: str = "--json"
) -> dict[str, Any]:
    """The answer of a command to these arguments, as data; ``text``: of the file :data:`FILE` in its folder.

    Bad input, and a command that was stopped, have an ``error`` and the status 2.
    """
    if text is not None and len(text.encode()) > _MOST:
        return _failed(arguments, f"the text is longer than {_MOST} bytes")
    with tempfile.TemporaryDirectory() as folder:
        if text is not None:
            Path(folder, FILE).write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "verify.agent.isolated", str(limits.seconds), str(limits.size)]
        command += ["network" if limits.network else "alone", *arguments, *as_json.split()]
        root = str(Path(verify.__file__).resolve().parents[1])
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "FEDTHEORY_CACHE", "TMPDIR") if name in os.environ}
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env={**kept, "PYTHONPATH": root, "NO_COLOR": "1"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_WAITING * limits.seconds,
            )
        except subprocess.TimeoutExpired:
            return _failed(arguments, f"stopped after {_WAITING * limits.seconds} s")
        files = {path.name: path for path in Path(folder).rglob("*") if path.is_file() and path.name != FILE}
        try:
            found: dict[str, Any] = json.loads(done.stdout)
        except ValueError:
            why = " ".join(done.stderr.splitlines()[-_TOLD:]) or f"stopped with the status {done.returncode}"
            return _failed(arguments, why)
        if arguments[0] == "export":
            found["files"] = {name: path.read_text(encoding="utf-8") for name, path in sorted(files.items())}
        return found


def words(given: Sequence[str]) -> list[str]:
    """Return the names and values that an agent gave. Raise ``ValueError`` if one would be read as an option."""
    for word in given:
        if word.startswith("-"):
            raise ValueError(f"a name or a value was expected, and {word[:40]!r} begins with -")
    return list(given)


def values(at: Sequence[str] | Mapping[str, Any]) -> list[str]:
    """Return values of letters as the commands take them, from such texts or from an object. Raise as :func:`words`."""
    return words([f"{name}={value}" for name, value in at.items()] if isinstance(at, Mapping) else at)


def _failed(arguments: Sequence[str], why: str) -> dict[str, Any]:
    from verify.cli.answering import FORMAT

    return {"format": FORMAT, "command": arguments[0], "status": 2, "error": why, "lines": []}


def _version() -> str:
    try:
        return importlib.metadata.version("fedtheory")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def server(limits: Limits) -> MCPServer:
    """The server, with its tools."""
    found = MCPServer("fedtheory", instructions=_INSTRUCTIONS, version=_version())

    def tool(run: Callable[..., dict[str, Any]]) -> None:
        """Add a tool that is described by its docstring, without the margin of the source."""
        found.tool(description=inspect.getdoc(run))(run)

    def own(text: str | None) -> list[str]:
        return [] if text is None else ["--own", FILE]

    @tool
    def example() -> dict[str, Any]:
        """A complete file with two theorems, one true and one false: the text that `check` takes."""
        return {"text": _EXAMPLE}

    @tool
    def list_claims(names: list[str] | None = None, verdict: str | None = None) -> dict[str, Any]:
        """The registered claims of papers with their verdicts. names: papers or beginnings of ids, such as "feddcd";
        verdict: only those with it."""
        only = [] if verdict is None else ["--verdict", *words([verdict])]
        return answer(["list", *words(names or []), *only], limits)

    @tool
    def show(id: str, text: str | None = None) -> dict[str, Any]:
        """A claim and the evidence for it. text: of a file of your own that has the claim."""
        return answer(["show", *words([id]), *own(text)], limits, text)

    @tool
    def why(id: str, text: str | None = None) -> dict[str, Any]:
        """Why a claim does not hold, and what holds instead; or what a claim that holds rests on."""
        return answer(["why", *words([id]), *own(text)], limits, text)

    @tool
    def table(name: str, at: Values = None) -> dict[str, Any]:
        """A complexity table, such as "locodl/table-2"; at: values, such as {"n": 100, "kappa": "1e4"}."""
        return answer(["table", *words([name]), *(["--at", *values(at)] if at else [])], limits)

    @tool
    def check(text: str, ids: list[str] | None = None, budget: str = "quick") -> dict[str, Any]:
        """Test the theorems in the text of a Python file, of a method or of a compressor (`ft.compressor_claim`):
        verdict, what was not searched, counterexample, next step. ids: only these; budget: "quick" or "full"."""
        return answer(["check", FILE, *words(ids or []), "--budget", *words([budget])], limits, text, "--json -")

    @tool
    def certify(text: str, call: str | None = None, at: Values = None) -> dict[str, Any]:
        """Prove both ends of the worst case of a model written for PEPit, the text of a Python file. call: a function
        of it, with the arguments at, such as {"L": 1, "gamma": "1/2"}."""
        more = [*(["--call", *words([call])] if call else []), *(["--at", *values(at)] if at else [])]
        return answer(["certify", FILE, *more], limits, text, "--json -")

    @tool
    def check_trace(algorithm: str, file: str) -> dict[str, Any]:
        """Compare a loop of any language with the theory: a run recorded in an .npz file on this machine, of an
        algorithm such as "locodl" (docs/conformance.md)."""
        return answer(["check-trace", *words([algorithm]), str(Path(file).resolve())], limits)

    @tool
    def repair(id: str, text: str | None = None, seconds: int | None = None) -> dict[str, Any]:
        """The least change that makes a refuted claim true, with its verdict. text: of a file that has the claim."""
        more = [] if seconds is None else ["--seconds", str(seconds)]
        return answer(["repair", *words([id]), *own(text), *more], limits, text)

    @tool
    def best(id: str, text: str | None = None, at: Values = None, largest: str | None = None) -> dict[str, Any]:
        """The smallest rate for which a claim is true, as an exact interval with proofs, at values such as
        {"kappa": 10}; largest: a letter whose largest value is wanted instead, such as a stepsize."""
        more = [*(["--at", *values(at)] if at else []), *(["--largest", *words([largest])] if largest else [])]
        return answer(["best", *words([id]), *own(text), *more], limits, text)

    @tool
    def discover(text: str, where: list[str] | None = None) -> dict[str, Any]:
        """A potential of the method of a file, in closed form and proved: weights and rate as functions of the letters.
        text: with a setting; where: what is assumed of its letters, such as "gamma*L <= 1"."""
        more = [word for condition in words(where or []) for word in ("--where", condition)]
        return answer(["discover", FILE, *more], limits, text)

    @tool
    def export(id: str | None = None, text: str | None = None, format: str = "json") -> dict[str, Any]:
        """The proof of a claim as files that need nothing of this package: json, latex or rocq. text: of a file
        that has the claim; without an id all of its proved claims are exported."""
        of = [*(words([id]) if id is not None else []), *own(text)]
        return answer(["export", *of, "--format", *words([format]), "--out", "proofs"], limits, text)

    return found


_EXAMPLE = """\
import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    target = state.x[..., None, :] / params.gamma
    return {"x": problem.f.resolvent(1 / params.gamma, target)[..., 0, :]}


prox = ft.method("proximal-point", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=prox, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
CLAIMS = (
    ft.Claim("prox/step", setting=setting, statement=ft.contracts(prox, ft.distance, 1 / (1 + gamma * mu) ** 2)),
    ft.Claim("prox/faster", setting=setting, statement=ft.contracts(prox, ft.distance, 1 / (1 + gamma * mu) ** 3)),
)
"""
