"""The line of a claim says what its verdict is over, and what kept it from a better one."""

import fedtheory as ft
from verify.base.verdict import Verdict
from verify.evidence.record import Evidence
from verify.report import terminal


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n}


mu, L = ft.letters("mu L")
METHOD = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
SETTING = ft.Setting(algorithm=METHOD, functions=ft.SmoothStronglyConvex(mu, L))
CLAIM = ft.Claim("mine/step", setting=SETTING, statement=ft.contracts(METHOD, ft.distance, 1))


def told(verdict, note):
    return terminal.over(Evidence(CLAIM, verdict, 0.0, (), 103, note=note))


def test_the_first_of_several_cases_does_not_stand_alone():
    note = (
        "1 multiplier in closed form, for all letters and every number of clients: without g, mu = L; without g, mu < L"
    )
    assert told(Verdict.PROVED, note) == "1 multiplier in closed form, for all letters and every number of clients"


def test_what_certificates_fall_short_of_is_told():
    over = "bounded over the whole class, in all dimensions, at 8 choices of the parameters"
    note = f"no violation at the worst states; seen: quadratics; {over}, among them mu=1, but mu may have other values"
    assert told(Verdict.SUPPORTED, note) == f"{over}, but mu may have other values"
    assert told(Verdict.SUPPORTED, "no violation; seen: quadratics") == "103 instances: no violation"


def test_what_keeps_the_class_from_being_looked_at_is_told():
    note = "no violation; seen: quadratics; over the class: parameters vary with the round: state one; sampled"
    said = "103 instances: no violation; left open over the class: parameters vary with the round: state one"
    assert told(Verdict.SUPPORTED, note) == said
