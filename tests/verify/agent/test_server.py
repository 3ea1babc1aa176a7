"""The server for agents: every tool gives the answer of a command; what agents write has no network, and limits."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import jsonschema
import pytest
from places import ROOT

import verify.agent
from verify.agent import isolated

mcp = pytest.importorskip("mcp")
from verify.agent import server  # noqa: E402

LIMITS = server.Limits(300, 8 * 2**30, False)
ANSWER = jsonschema.Draft202012Validator(json.loads(Path(verify.agent.__file__).with_name("answer.json").read_text()))

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are kept apart on Linux")


def valid(found):
    ANSWER.validate(found)
    return found


def test_what_an_agent_writes_has_no_network():
    text = "import socket\nsocket.create_connection(('192.0.2.1', 9), 3)\nCLAIMS = ()\n"
    found = valid(server.answer(["check", server.FILE], LIMITS, text, "--json -"))
    assert found["status"] == 2 and ("unreachable" in found["error"] or "network" in found["error"])


def test_what_takes_too_long_is_stopped():
    found = valid(
        server.answer(["check", server.FILE], LIMITS._replace(seconds=4), "while True:\n    pass\n", "--json -")
    )
    assert found["status"] == 2 and found["error"]


def test_a_long_text_and_an_option_in_place_of_a_name_are_refused():
    assert "longer than" in server.answer(["check"], LIMITS, "#" * 10**6)["error"]
    with pytest.raises(ValueError, match="begins with -"):
        server.words(["--own", "other.py"])


def test_an_argument_that_a_tool_does_not_take_is_refused():
    from mcp import Client

    async def run():
        async with Client(server.server(LIMITS)) as client:
            return await client.call_tool("list_claims", {"papers": ["locodl"]})

    found = asyncio.run(run())
    assert found.is_error and "list_claims takes names, verdict; there is no argument 'papers'" in found.content[0].text


def test_values_of_letters_are_texts_or_an_object():
    assert server.values(["n=100"]) == server.values({"n": 100}) == ["n=100"]
    assert server.values({"kappa": "1e4", "gamma": 0.5}) == ["kappa=1e4", "gamma=0.5"]
    for at in (["--own=x"], {"--own": "x"}):
        with pytest.raises(ValueError, match="begins with -"):
            server.values(at)


def test_a_process_that_cannot_be_kept_from_the_network_runs_nothing(monkeypatch, capsys):
    monkeypatch.setattr(isolated, "alone", lambda: False)
    assert isolated.main(["10", str(2**33), "alone", "list"]) == isolated.REFUSED
    assert "the network cannot be kept away" in capsys.readouterr().err


def session(steps):
    """What an agent does, by the package's own client."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    async def run():
        given = StdioServerParameters(
            command=sys.executable, args=["-m", "verify", "serve"], env={"PYTHONPATH": str(ROOT)}
        )
        async with Client(given) as client:

            async def call(tool, /, **arguments):
                result = await client.call_tool(tool, arguments)
                assert not result.is_error, result.content
                return result.structured_content

            return await steps(client, call)

    return asyncio.run(run())


def test_an_agent_lists_tools_shows_and_asks_why():
    async def steps(client, call):
        tools = {tool.name: tool.description for tool in (await client.list_tools()).tools}
        at = {"n": 100, "d": 300, "kappa": "1e4"}
        return tools, await call("show", id="nosuch/claim"), await call("table", name="locodl/table-2", at=at)

    tools, unknown, table = session(steps)
    assert not any("  " in text for text in tools.values())
    wanted = {"list_claims", "show", "why", "table", "check", "certify", "check_trace", "repair", "best", "export"}
    wanted |= {"discover", "conform"}
    assert wanted <= set(tools)
    assert valid(unknown)["status"] == 2 and "unknown claim" in unknown["error"]
    assert valid(table)["table"]["table"] == "locodl/table-2"


def test_progress_is_reported_while_a_command_works(monkeypatch):
    from mcp import Client

    monkeypatch.setattr(server, "_BETWEEN", 0.1)
    said = []

    async def heard(seconds, total, message):
        said.append((seconds, message))

    async def run():
        async with Client(server.server(LIMITS)) as client:
            text = (await client.call_tool("example", {})).structured_content["text"]
            given = {"text": text, "ids": ["prox/faster"]}
            return (await client.call_tool("check", given, progress_callback=heard)).structured_content

    found = valid(asyncio.run(run()))
    assert found["claims"][0]["verdict"] == "refuted"
    assert said[0] == (0, "fedtheory check: 0 s") and [seconds for seconds, _ in said] == sorted({s for s, _ in said})
    assert any("prox/faster" in message for _, message in said)
    assert len({message.partition(" s: ")[2] for _, message in said}) > 2


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("repair a/b --own theorem.py", {"tool": "repair", "arguments": {"id": "a/b"}, "as_before": ["text"]}),
        ("why a/b", {"tool": "why", "arguments": {"id": "a/b"}}),
        ("export --own theorem.py", {"tool": "export", "arguments": {}, "as_before": ["text"]}),
        ("export a/b", {"tool": "export", "arguments": {"id": "a/b"}}),
        (
            "check theorem.py a/b --budget full",
            {"tool": "check", "arguments": {"ids": ["a/b"], "budget": "full"}, "as_before": ["text"]},
        ),
        ("tight a/b", None),
        ("show a/b --check --budget full", None),
    ],
)
def test_what_may_be_next_is_the_call_of_a_tool(command, call):
    assert server.call_of(f"fedtheory {command}") == call


def run_tool(tool, **given):
    command = tool(**given)
    return valid(server.answer(command.arguments, LIMITS, *command[1:]))


LOOP = """\
import numpy as np
from verify.conformance import client


def run(problem, params, rounds, rng):
    x, found = np.zeros(problem.d), []
    for _ in range(rounds):
        x = x - SIZE * params.gamma * np.mean([client(problem, i).gradient(x) for i in range(problem.n)], axis=0)
        found.append(x)
    return found


def half(x):
    return x / 2
"""


def test_the_code_of_an_agent_is_tested():
    right, wrong = LOOP.replace("SIZE", "1"), LOOP.replace("SIZE", "2")
    assert run_tool(server.conform, text=right, algorithm="gradient-descent")["conformance"]["ok"]
    found = run_tool(server.conform, text=wrong, algorithm="gradient-descent")
    (failure,) = found["conformance"]["failures"]
    assert found["status"] == 1 and "`2 gamma` in place of `gamma`" in failure["evidence"]
    assert failure["violates"] == "the update of gradient-descent"
    found = run_tool(server.conform, text=right, function="half", d=2, alpha=0.75)
    assert found["conformance"]["ok"] and found["status"] == 0


def test_errors_name_the_arguments_of_tools():
    for given, words in (
        ({"omega": 3.0}, "name an algorithm, or for a compressor give d, and omega or alpha"),
        ({"algorithm": "dgc", "features": ["momentum"]}, "dgc does not have the feature 'momentum'"),
        ({"algorithm": "dgc", "function": "other"}, "has no function other: it has run, half"),
    ):
        found = run_tool(server.conform, text=LOOP, **given)
        assert found["status"] == 2 and words in found["error"]
    assert "--" not in run_tool(server.certify, text="x = 1", where=["L <= 1"])["error"]
    assert (
        server.in_arguments("a - -b, x--y: --where or --own (see fedtheory best --help)")
        == "a - -b, x--y: where or text"
    )


def test_what_was_just_done_is_not_what_may_be_next():
    done = {"tool": "why", "arguments": {"id": "a/b"}}
    assert server._is_done(done, ["why", "a/b"])
    assert not server._is_done(done, ["why", "a/c"]) and not server._is_done(done, ["check", "a/b"])


def test_arguments_of_certify_and_repair():
    given = server.certify("", "f", {"n": 1}, ["L", "gamma"], ["gamma*L <= 1"]).arguments
    assert given[2:] == ["--call", "f", "--at", "n=1", "--letters", "L", "gamma", "--where", "gamma*L <= 1"]
    assert server.repair("a/b", effort=7).arguments == ["repair", "a/b", "--effort", "7"]


PATIENT = """\
import signal, sys, time

signal.signal(signal.SIGTERM, lambda *_: sys.exit(print("so far")))
print("begun", file=sys.stderr, flush=True)
time.sleep(600)
"""


def test_a_command_whose_time_is_over_says_what_it_has_found():
    command = [sys.executable, "-c", PATIENT]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    process.stderr.readline()
    assert server._printed(process, 1, threading.Event()) == "so far\n"


@pytest.mark.slow
def test_a_wrong_theorem_is_written_refuted_repaired_proved_and_exported():
    async def steps(client, call):
        text = (await call("example"))["text"]
        wrong = text.replace('ft.Claim("prox/step"', 'ft.Claim("prox/other"')
        refuted = await call("check", text=wrong, ids=["prox/faster"])
        repaired = await call("repair", id="prox/faster", text=wrong)
        right = wrong.replace(") ** 3)", ") ** 2)")
        proved = await call("check", text=right, ids=["prox/faster"])
        return refuted, repaired, proved, await call("export", id="prox/faster", text=right)

    refuted, repaired, proved, exported = map(valid, session(steps))
    (claim,) = refuted["claims"]
    assert claim["verdict"] == "refuted" and claim["counterexample"]["by_hand"][0].startswith("f_1(x) = ")
    assert claim["next"][0] == {"tool": "repair", "arguments": {"id": "prox/faster"}, "as_before": ["text"]}
    assert repaired["repairs"][0]["verdict"] == "proved" and "^2" in repaired["repairs"][0]["statement"][0]
    (claim,) = proved["claims"]
    assert claim["verdict"] == "proved" and claim["counterexample"] is None and not claim["not_searched"]
    assert set(exported["files"]) == {"checker.py", "prox_faster_1.json", "prox_faster_2.json"}


STARTS = """\
import pathlib, subprocess, sys, time

other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path(sys.argv[1]).write_text(str(other.pid))
time.sleep(600)
"""


def _runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def test_what_nobody_waits_for_is_ended_with_all_that_it_started(tmp_path):
    named, stop = tmp_path / "pid", threading.Event()
    stop.set()
    command = [sys.executable, "-c", STARTS, str(named)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    while not (named.exists() and named.read_text(encoding="utf-8")):
        time.sleep(0.1)
    assert server._printed(process, 600, stop) is None
    other = int(named.read_text(encoding="utf-8"))
    while _runs(other):
        time.sleep(0.1)
    assert process.returncode == -signal.SIGKILL


def of_client(steps):
    """What a client within this process gets."""
    from mcp import Client

    async def run():
        async with Client(server.server(LIMITS)) as client:
            return await steps(client)

    return asyncio.run(run())


def test_the_manual_is_there_without_a_shell():
    async def steps(client):
        resources = (await client.list_resources()).resources
        read = {str(r.name): (await client.read_resource(r.uri)).contents[0].text for r in resources}
        listed = (await client.call_tool("manual", {})).structured_content["pages"]
        page = (await client.call_tool("manual", {"page": "methods"})).structured_content["text"]
        saga = (await client.call_tool("example", {"name": "saga"})).structured_content["text"]
        return read, listed, page, saga, await client.call_tool("manual", {"page": "nosuch"})

    read, listed, page, saga, unknown = of_client(steps)
    assert set(read) == set(listed) >= {"own-theorem", "claims", "conformance", "pepit", "glossary", "methods", "names"}
    assert all(len(text) > 1000 for text in read.values()) and "CLAIMS" in saga
    for name in ("SmoothStronglyConvex(mu, L", "UnbiasedCompressors(", "UniformSubset(n, tau)", "bound(", "`ft.E`"):
        assert name in read["names"]
    assert page == read["methods"] and "## scaffold\n" in page and "draw: `clients`, `rows`" in page
    assert unknown.is_error and "there is no 'nosuch': choose from" in unknown.content[0].text


def test_prompts_name_tools_and_pages_that_there_are():
    given = {"theorem": "E|x+ - x*|^2 <= {1 - mu/L} |x - x*|^2", "algorithm": "scaffold", "code": "def run(): ..."}

    async def steps(client):
        offered = (await client.list_prompts()).prompts
        taken = {p.name: [a.name for a in p.arguments if a.required] for p in offered}
        got = {}
        for name, own in taken.items():
            found = await client.get_prompt(name, {argument: given[argument] for argument in own})
            got[name] = found.messages[0].content.text
        return offered, taken, got, {tool.name for tool in (await client.list_tools()).tools}

    offered, taken, got, tools = of_client(steps)
    assert taken == {
        "check_theorem": ["theorem"],
        "repair_theorem": ["theorem"],
        "check_implementation": ["algorithm", "code"],
    }
    assert all(p.description and "\n" not in p.description for p in offered)
    for name, text in got.items():
        assert all(given[argument] in text for argument in taken[name])
        # Besides tools: the parts of answers that are quoted.
        assert set(re.findall(r"`(\w+)`", text)) - tools <= {"names", "by_hand"}
        assert set(re.findall(r"pages? (\w+(?:-\w+)?)(?: and (\w+))? of `manual`", text)) <= {
            ("own-theorem", ""), ("conformance", "methods"),
        }  # fmt: skip


@pytest.mark.parametrize(
    ("tool", "given", "words"),
    [
        ("check", {}, "check needs the argument text, and takes text, ids, budget"),
        ("check", {"text": 3}, "check: the argument text is of another type: "),
        ("conform", {"text": "", "d": "many"}, "conform: the argument d is of another type: "),
    ],
)
def test_arguments_that_are_missing_or_of_another_type_are_named_in_a_sentence(tool, given, words):
    found = of_client(lambda client: client.call_tool(tool, given))
    said = found.content[0].text
    assert found.is_error and said.startswith(words) and "http" not in said and "\n" not in said


def test_an_unknown_algorithm_is_no_fault_of_the_file():
    found = run_tool(server.conform, text=LOOP, algorithm="scafold")
    assert found["error"].startswith("unknown algorithm 'scafold': did you mean scaffold?")
    found = run_tool(server.conform, text="x = ", algorithm="scaffold")
    assert "code.py" in found["error"] and server.FILE not in found["error"]


def test_a_failure_is_shown_again_by_the_name_of_the_function():
    text = "def first(x, rng):\n    return x[:1]\n"
    found = run_tool(server.conform, text=text, function="first", d=2, omega=1)
    assert "compressor(first, d=2" in found["conformance"]["failures"][0]["replay"][-1]


def test_a_default_that_is_a_function_is_kept():
    from verify import conformance

    def half(x):
        return x / 2

    assert conformance.compressor(lambda x, half=half: half(x), d=2, alpha=0.75, samples=2000).ok


def best_at(alpha):
    text = (ROOT / "examples/gallery/ef21.py").read_text(encoding="utf-8")
    return run_tool(server.best, id="ef21/step", text=text, at={"alpha": alpha})


def test_an_alpha_whose_root_is_irrational_is_answered_by_others_that_will_do():
    error = best_at("1/2")["error"]
    assert error.startswith("1 - alpha must be the square of a rational") and error.endswith("near it 7/16 and 5/9 do")


def test_an_error_of_an_author_is_placed_at_an_instance():
    text = server._EXAMPLE.replace("/ params.gamma\n", "/ params.gama\n").split('    ft.Claim("prox/faster"')[0] + ")\n"
    (claim,) = run_tool(server.check, text=text)["claims"]
    assert claim["verdict"] == "not-tested" and ", at the instance n=1, d=2, mu=" in claim["failed"]
    assert "recipe" not in claim["failed"] and len(claim["failed"]) < 300


FAR = """\
import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n}


gd = ft.method("gd", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=gd, functions=ft.SmoothStronglyConvex(mu, L))
rate = ft.contracts(gd, ft.distance, (1 - gamma * mu) * (1 + 1 / (1 + (ft.n - 556) ** 2)))
CLAIMS = (ft.Claim("gd/far", setting=setting, statement=rate, requires=(gamma * L <= 1,)),)
"""


@pytest.mark.slow
def test_a_supported_verdict_says_how_far_was_searched():
    (claim,) = run_tool(server.check, text=FAR)["claims"]
    assert claim["verdict"] == "supported" and claim["not_searched"][0].startswith("searched at n <= ")


def test_what_is_left_open_for_one_reason_is_said_once():
    from verify.report import answers

    found = answers._by_reason(["at n=1; f_1: x^2: too large", "at n=2: too large", "at n=3: no proof", "plain"])
    assert found == ["at n=1, and at 1 more place: too large", "at n=3: no proof", "plain"]


def test_the_best_is_said_in_short_before_its_proof():
    from fractions import Fraction as F

    from fedtheory import claims
    from verify.best import places, record, words
    from verify.best.factors import Interval

    claim = claims.get("locodl/theorem-3.1/one-step")
    recipe = places.recipe(claim, {})
    of = record.Record(claim, "", (Interval(recipe, {"n": "2"}, F(1, 2), F(1, 3), F(1, 3)),))
    found = words.plain(of)
    assert list(found)[:2] == ["constant", "means"] and found["constant"] == found["upper"] == "1/3"
    assert found["stated"] == "1/2" and found["letters"] == "n = 2" and "least c" in found["means"]


def test_how_far_was_searched():
    from verify.report.answers import reached
    from verify.search.seen import LARGEST, FunctionsSeen

    looked = {FunctionsSeen("quadratics", 3, 1, clients=4), FunctionsSeen("kinks", 1, 20, clients=2)}
    assert reached(looked).startswith("searched at n <= 4, d <= 3, T <= 20 only") and not reached(())
    assert "T" not in reached({FunctionsSeen("quadratics", 3, LARGEST + 1)})
