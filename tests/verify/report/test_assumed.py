"""What a verdict takes from the author of a claim is said in the line of its verdict, and beside the hypotheses."""

import fedtheory as ft
from verify.base.verdict import Verdict
from verify.checking import assumptions
from verify.evidence.record import Evidence
from verify.report import terminal

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


METHOD = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
SETTING = ft.Setting(algorithm=METHOD, functions=ft.SmoothStronglyConvex(mu, L))


def claim(hypothesis):
    return ft.Claim(
        "mine/step", setting=SETTING, statement=ft.contracts(METHOD, ft.distance, 1), requires=(hypothesis,)
    )


def told(claim, verdict):
    assumed = assumptions(claim, verdict, ("sdp",))
    return terminal.over(Evidence(claim, verdict, 0.0, (), 1, note="bounded", assumed=assumed))


def test_code_that_says_something_else_than_its_words_is_told_first():
    said = claim(ft.Hypothesis("gamma L <= 2", met=lambda problem, params: 100 * params.gamma * problem.L <= 1))
    for verdict in (Verdict.CERTIFIED, Verdict.SUPPORTED):
        line = told(said, verdict)
        assert line.startswith("assuming that the code of the hypothesis 'gamma L <= 2', ") and "bounded" in line
    assert "  gamma L <= 2: as its code decides" in terminal.description(said)


def test_a_relation_stands_beside_words_that_may_miss_it():
    said = claim(ft.Hypothesis("steps are short", gamma * L <= 1))
    assert told(said, Verdict.CERTIFIED) == "bounded"
    assert "  steps are short: L*gamma <= 1" in terminal.description(said)
    assert "  L*gamma <= 1" in terminal.description(claim(gamma * L <= 1))
