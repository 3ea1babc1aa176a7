"""The server for agents over standard input and output, by the package ``mcp``.

Every tool runs one command with ``--json`` in a process of its own (:mod:`verify.agent.isolated`), in an empty folder,
and gives its answer, with notifications of progress until then. An agent writes a theorem as the text of a Python file:
it is checked, explained, repaired, and its proof exported.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import importlib.metadata
import inspect
import itertools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

import verify
from verify.agent import pages, prompts
from verify.cli import answering
from verify.cli.arguments import parser

#: The file that holds an agent's text: theorems, unless a tool takes something else.
FILE, _MODEL, _CODE = "theorem.py", "model.py", "code.py"
#: Bytes of such a text.
_MOST = 200_000
#: Values of letters, as texts such as "n=100" or as an object.
Values = list[str] | dict[str, str | int | float] | None
#: The time that a command may last, as a multiple of its processor time.
_WAITING = 4
#: Seconds in which a command that is asked to end prints what it has found.
_ENDING = 10
#: How much a repair tries, unless an agent says otherwise.
_EFFORT = 100
#: The most lines of an error that are returned.
_LINES = 5
#: Seconds between notifications of progress.
_BETWEEN = 5
#: The most characters of a notification.
_LONGEST = 200
# An option of a command, and where an error says that there is help.
_OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")
_HELP = re.compile(r" \(see fedtheory( [\w-]+)? --help\)")
# Arguments of tools that are called otherwise than the option.
_ARGUMENTS = {"own": "text", "feature": "features"}
_INSTRUCTIONS = """\
fedtheory tests theorems about optimisation methods by computation. Read the page own-theorem (the tool `manual`, or the
resources), write a theorem as the text of a Python file with a module-level CLAIMS (see the tool `example`), and give
it to `check`: the verdict is proved, certified, supported (read
what was not searched), refuted (with a counterexample in exact fractions), ill-posed or not-tested. Then use `why`,
`repair`, `best` or `export`. Verdicts come from computation alone; nothing that you say of a claim changes them.
"""


class Limits(NamedTuple):
    """The limits of each command: seconds of processor time, bytes of memory, and whether it may use the network."""

    seconds: int
    size: int
    network: bool


class Command(NamedTuple):
    """A command: its arguments, the text of a file in its folder, how it is asked for data, and the file's name."""

    arguments: list[str]
    text: str | None = None
    as_json: str = "--json"
    file: str = FILE


def answer(
    arguments: Sequence[str],
    limits: Limits,
    text: str | None = None,
    as_json: str = "--json",
    file: str = FILE,
    messages: Path | None = None,
    stop: threading.Event | None = None,
) -> dict[str, Any]:
    """Return the answer of a command to these arguments, as data.

    Bad input, and a command that was stopped, have an ``error`` and the status 2.

    Args:
        arguments: The words of the command line.
        limits: Those of the process.
        text: The text of a file in its folder.
        as_json: The option by which the command prints data.
        file: The name of that file.
        messages: Where the command's messages are written, for a reader in the meantime.
        stop: Set where nobody waits for the answer any more.
    """
    if text is not None and len(text.encode()) > _MOST:
        return _failed(arguments, f"the text is longer than {_MOST} bytes")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as beside:
        messages = messages or Path(beside, "messages")
        if text is not None:
            Path(folder, file).write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "verify.agent.isolated", str(limits.seconds), str(limits.size)]
        command += ["network" if limits.network else "alone", *arguments, *as_json.split()]
        root = str(Path(verify.__file__).resolve().parents[1])
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "FEDTHEORY_CACHE", "TMPDIR") if name in os.environ}
        most = f"{limits.seconds} s of processor time"
        with messages.open("w", encoding="utf-8") as log:
            process = subprocess.Popen(
                command,
                cwd=folder,
                env={**kept, "PYTHONPATH": root, "NO_COLOR": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
            )
            printed = _printed(process, _WAITING * limits.seconds, stop or threading.Event())
        if printed is None:
            return _failed(arguments, f"stopped after {_WAITING * limits.seconds} s, before it had {most}")
        files = {path.name: path for path in Path(folder).rglob("*") if path.is_file() and path.name != file}
        try:
            found: dict[str, Any] = json.loads(printed)
        except ValueError:
            lines = [line for line in _lines(messages) if not line.startswith(answering.PROGRESS)]
            used_up = process.returncode in (-signal.SIGKILL, -signal.SIGXCPU)
            ended = f"stopped after {most}" if used_up else f"stopped with the status {process.returncode}"
            why = " ".join(lines[-_LINES:]) or ended
            return _failed(arguments, in_arguments(why))
        found |= {"error": in_arguments(found["error"])} if "error" in found else {}
        found["lines"] = [in_arguments(line) for line in found.get("lines", ())]
        for claim in found.get("claims", ()):
            if "next" in claim:
                calls = (call_of(command) for command in claim["next"])
                # It is not advised to do again what was just done.
                claim["next"] = [call for call in calls if call is not None and not _is_done(call, arguments)]
        if arguments[0] == "export":
            found["files"] = {name: path.read_text(encoding="utf-8") for name, path in sorted(files.items())}
        return found


def _printed(process: subprocess.Popen[str], seconds: int, stop: threading.Event) -> str | None:
    """Return what a process prints; None if it was ended, with all that it started, as nobody waits for it any more, or
    if it does not end when it is asked to after so many seconds: what it had found by then is printed."""
    client = os.getppid()
    try:
        for second in range(seconds + _ENDING):
            try:
                return process.communicate(timeout=1)[0]
            except subprocess.TimeoutExpired:
                if stop.is_set() or os.getppid() != client:
                    break
                if second == seconds - 1:
                    process.terminate()
        return None
    finally:
        # Its group is left where it started others.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def words(given: Sequence[str]) -> list[str]:
    """Return the names and values that an agent gave. Raise ``ValueError`` if one would be read as an option."""
    for word in given:
        if word.startswith("-"):
            raise ValueError(f"a name or a value was expected, and {word[:40]!r} begins with -")
    return list(given)


def values(at: Sequence[str] | Mapping[str, Any]) -> list[str]:
    """Return values of letters as the commands take them, from such texts or from an object. Raise as :func:`words`."""
    return words([f"{name}={value}" for name, value in at.items()] if isinstance(at, Mapping) else at)


def call_of(command: str) -> dict[str, Any] | None:
    """Return the call of a tool that does what a command does: its name, its arguments, and those that are as in the
    call before; None if no tool does.

    Args:
        command: A line for a shell, such as "fedtheory repair my/claim --own theorem.py".
    """
    args = vars(parser().parse_args(shlex.split(command)[1:]))
    tool = next((tool for tool in TOOLS if tool.__name__ == args["command"]), None)
    if tool is None or args.get("check"):
        return None
    own = args.get("own") is not None or args.get("file") is not None
    named = {**args, "id": args.get("id") or next(iter(args.get("names", ())), None)}
    taken = inspect.signature(tool).parameters
    given = {name: named[name] for name in ("id", "ids", "budget") if name in taken and named.get(name)}
    return {"tool": tool.__name__, "arguments": given, **({"as_before": ["text"]} if own else {})}


def _is_done(call: Mapping[str, Any], arguments: Sequence[str]) -> bool:
    return call["tool"] == arguments[0] and call["arguments"].get("id") == arguments[1]


def in_arguments(error: str) -> str:
    """Return an error of a command in the arguments of tools: what is an option there is an argument here.

    Examples:
        >>> in_arguments("--at takes NAME=NUMBER, such as mu=1/10, got x (see fedtheory certify --help)")
        'at takes NAME=NUMBER, such as mu=1/10, got x'
    """
    return _OPTION.sub(lambda found: _ARGUMENTS.get(found[1], found[1]), _HELP.sub("", error))


def _lines(messages: Path) -> list[str]:
    return messages.read_text(encoding="utf-8", errors="replace").splitlines() if messages.exists() else []


def _failed(arguments: Sequence[str], why: str) -> dict[str, Any]:
    return {"format": answering.FORMAT, "command": arguments[0], "status": 2, "error": why, "lines": []}


def _version() -> str:
    try:
        return importlib.metadata.version("fedtheory")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _own(text: str | None) -> list[str]:
    return [] if text is None else ["--own", FILE]


def example(name: str | None = None) -> dict[str, Any]:
    """A complete file with two theorems, one true and one false: the text that `check` takes. name: another one, of
    `names`."""
    return {"text": _EXAMPLE if name is None else _found(pages.example, name), "names": list(pages.examples())}


def manual(page: str | None = None) -> dict[str, Any]:
    """How to write theorems and to test code. page: its name; without it, what pages there are: `methods` has the
    letters of params, state and draw of each algorithm, `names` all classes, adversaries, draws and statements."""
    return {"pages": pages.listed()} if page is None else {"text": _found(pages.text, page)}


def _found(read: Callable[[str], str], name: str) -> str:
    try:
        return read(name)
    except ValueError as error:
        raise ToolError(str(error)) from None


def list_claims(names: list[str] | None = None, verdict: str | None = None) -> Command:
    """The registered claims of papers with their verdicts. names: papers or beginnings of ids, such as "feddcd";
    verdict: only those with it."""
    only = [] if verdict is None else ["--verdict", *words([verdict])]
    return Command(["list", *words(names or []), *only])


def show(id: str, text: str | None = None) -> Command:
    """A claim and the evidence for it. text: of a file of your own that has the claim."""
    return Command(["show", *words([id]), *_own(text)], text)


def why(id: str, text: str | None = None) -> Command:
    """Why a claim does not hold, and what holds instead; or what a claim that holds rests on."""
    return Command(["why", *words([id]), *_own(text)], text)


def table(name: str, at: Values = None) -> Command:
    """A complexity table, such as "locodl/table-2"; at: values, such as {"n": 100, "kappa": "1e4"}."""
    return Command(["table", *words([name]), *(["--at", *values(at)] if at else [])])


def check(text: str, ids: list[str] | None = None, budget: str = "quick") -> Command:
    """Test the theorems in the text of a Python file, of a method or of a compressor (`ft.compressor_claim`):
    verdict, what was not searched, counterexample, next step. ids: only these; budget: "quick" or "full"."""
    return Command(["check", FILE, *words(ids or []), "--budget", *words([budget])], text, "--json -")


def certify(
    text: str,
    call: str | None = None,
    at: Values = None,
    letters: list[str] | None = None,
    where: list[str] | None = None,
) -> Command:
    """Prove both ends of the worst case of a model written for PEPit, the text of a Python file. call: a function
    of it, with the arguments at, such as {"L": 1, "gamma": "1/2"}; letters: arguments that stay letters;
    what the function returns beside PEPit's number, or a formula that is found, is then proved for all their values;
    where: what is assumed of these, such as "gamma*L <= 1"."""
    more = [*(["--call", *words([call])] if call else []), *(["--at", *values(at)] if at else [])]
    more += ["--letters", *words(letters)] if letters else []
    return Command(["certify", _MODEL, *more, *_assumed(where)], text, "--json -", _MODEL)


def _assumed(where: list[str] | None) -> list[str]:
    return [word for condition in words(where or []) for word in ("--where", condition)]


def conform(
    text: str,
    algorithm: str | None = None,
    function: str | None = None,
    features: list[str] | None = None,
    d: int | None = None,
    omega: float | None = None,
    alpha: float | None = None,
    bits: int | None = None,
    tolerance: float | None = None,
) -> Command:
    """Test code against the theory, the text of a Python file: a loop run(problem, params, rounds, rng) that returns
    the models of all rounds, or a step(problem, params, state, draw), of an algorithm such as "diana", with features
    such as "momentum"; or, without an algorithm, a compressor compress(x, rng) of vectors of d entries, with the
    claimed omega (unbiased) or alpha (a contraction). function: its name, where it is another one. What departs
    comes with the line at fault, the slip if it is known, and the smallest problem. Pages of the manual:
    conformance, and methods, which has the letters of params, state and draw."""
    given = {"function": function, "d": d, "omega": omega, "alpha": alpha, "bits": bits, "tolerance": tolerance}
    more = [f"--{name}={value}" for name, value in given.items() if value is not None]
    more += [f"--feature={feature}" for feature in features or []]
    return Command(["conform", _CODE, *words([algorithm] if algorithm else []), *more], text, file=_CODE)


def check_trace(algorithm: str, file: str) -> Command:
    """Compare a loop of any language with the theory: a run recorded in an .npz file on this machine, of an
    algorithm such as "locodl" (page conformance of the manual)."""
    return Command(["check-trace", *words([algorithm]), str(Path(file).resolve())])


def repair(id: str, text: str | None = None, effort: int = _EFFORT) -> Command:
    """The least change that makes a refuted claim true, with its verdict. text: of a file that has the claim; effort:
    how much is tried before the best so far is the answer, 1 for a short search and 10 for a check by all methods (600
    at the command line)."""
    return Command(["repair", *words([id]), *_own(text), "--effort", str(effort)], text)


def best(id: str, text: str | None = None, at: Values = None, largest: str | None = None) -> Command:
    """The smallest rate for which a claim is true, as an exact interval with proofs, at values of its letters, such as
    {"mu": "1/10", "L": 1}; largest: a letter whose largest value is wanted instead, such as a stepsize."""
    more = [*(["--at", *values(at)] if at else []), *(["--largest", *words([largest])] if largest else [])]
    return Command(["best", *words([id]), *_own(text), *more], text)


def discover(text: str, where: list[str] | None = None) -> Command:
    """A potential of the method of a file, in closed form and proved: weights and rate as functions of the letters.
    text: with a setting; where: what is assumed of its letters, such as "gamma*L <= 1"."""
    return Command(["discover", FILE, *_assumed(where)], text)


def export(id: str | None = None, text: str | None = None, format: str = "json") -> Command:
    """The proof of a claim as files that need nothing of this package: json, latex or rocq. text: of a file
    that has the claim; without an id all of its proved claims are exported."""
    of = [*(words([id]) if id is not None else []), *_own(text)]
    return Command(["export", *of, "--format", *words([format]), "--out", "proofs"], text)


#: The tools that run a command.
TOOLS: tuple[Callable[..., Command], ...] = (
    list_claims,
    show,
    why,
    table,
    check,
    certify,
    conform,
    check_trace,
    repair,
    best,
    discover,
    export,
)


class _Strict(MCPServer):
    """A server that refuses an argument that a tool does not take, where the package would ignore it, and says in a
    sentence which one is missing or of another type."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context[Any] | None = None) -> Any:
        """Call a tool. Raise ``ToolError`` if the arguments are not those that it takes."""
        schema = next((tool.input_schema for tool in await self.list_tools() if tool.name == name), {})
        taken = schema.get("properties", arguments)
        for argument in arguments:
            if argument not in taken:
                takes = ", ".join(taken) or "no arguments"
                raise ToolError(f"{name} takes {takes}; there is no argument {argument!r}")
        if missing := [argument for argument in schema.get("required", ()) if argument not in arguments]:
            raise ToolError(f"{name} needs the argument {missing[0]}, and takes {', '.join(taken)}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                wrong = error.__cause__.errors()[0]
                why = wrong["msg"].lower()
                raise ToolError(f"{name}: the argument {wrong['loc'][0]} is of another type: {why}") from None
            raise


def server(limits: Limits) -> MCPServer:
    """Return the server, with its tools and prompts, each described by its docstring."""
    found = _Strict("fedtheory", instructions=_INSTRUCTIONS, version=_version())
    for plain in (manual, example):
        found.tool(description=inspect.getdoc(plain))(plain)
    for tool in TOOLS:
        found.tool(description=inspect.getdoc(tool))(_answering(tool, limits))
    for prompt in prompts.PROMPTS:
        found.prompt(description=inspect.getdoc(prompt))(prompt)
    for page, about in pages.listed().items():
        read: Callable[[], str] = functools.partial(pages.text, page)
        found.resource(f"fedtheory://manual/{page}", name=page, description=about, mime_type="text/markdown")(read)
    return found


def _answering(tool: Callable[..., Command], limits: Limits) -> Callable[..., Awaitable[dict[str, Any]]]:
    """Return what a client calls: it takes what the tool takes, runs the command, and reports progress meanwhile."""

    async def run(context: Context[Any], **given: Any) -> dict[str, Any]:
        command, stop = tool(**given), threading.Event()
        with tempfile.TemporaryDirectory() as folder:
            messages = Path(folder, "messages")
            reports = asyncio.create_task(_report(context, command.arguments[0], messages))
            try:
                return await asyncio.to_thread(answer, command.arguments, limits, *command[1:], messages, stop)
            finally:
                stop.set()
                reports.cancel()

    taken = inspect.signature(tool, eval_str=True).replace(return_annotation=dict[str, Any])
    run.__name__, run.__annotations__ = tool.__name__, {"context": Context}
    run.__dict__["__signature__"] = taken
    return run


async def _report(context: Context[Any], name: str, messages: Path) -> None:
    """Send notifications of progress until cancelled: how many seconds, and the last message of the command."""
    for seconds in itertools.count(0, _BETWEEN):
        last = next(reversed(_lines(messages)), "").removeprefix(answering.PROGRESS)
        doing = f"fedtheory {name}: {seconds} s{': ' if last else ''}{last}"
        await context.report_progress(seconds, message=doing[:_LONGEST])
        await asyncio.sleep(_BETWEEN)


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
