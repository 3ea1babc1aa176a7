"""What users write that once ended in a message of no use, or in no verdict: it is tested, and told in one sentence."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from first_found import first_found

import fedtheory as ft
from fedtheory.kinds.limit import Limit
from verify import Verdict, check
from verify.base.case import Case
from verify.best import record, thresholds, words
from verify.cli import main
from verify.comparisons import asserted
from verify.multipliers.proving import prove
from verify.reading import whole
from verify.search import critical

mu, L, gamma, c, omega = ft.letters("mu L gamma c omega")
g_1, g_2 = ft.letters("g_1 g_2")


def gradient(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def descend(problem, params, state, draw):
    return {"x": state.x - params.gamma * gradient(problem, state.x)}


def setting(method, **more):
    return ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), **more)


plain = ft.method("descent", descend, ["gamma"], {"x": "point"})
short = (gamma * L <= 1,)


def contraction(method, power=2, requires=short, factor=1 - gamma * mu, **more):
    statement = ft.contracts(method, ft.distance, factor**power)
    return ft.Claim(f"mine/{power}", setting=setting(method, **more), statement=statement, requires=requires)


# A start that init asks for


def _from(problem, params, x):
    return {"x": x}


asking = ft.method("descent", descend, ["gamma"], {"x": "point"}, init=_from)
V_0, V_T = ft.Quantity("V_0", ft.distance), ft.Quantity("V_T", ft.distance, after=True)


@pytest.mark.parametrize("start", [(), ("x",)])
def test_a_start_that_init_asks_for_is_given(start):
    drawing = ft.Drawing(start=start)
    assert not isinstance(prove(contraction(asking, drawing=drawing)), str)
    assert first_found(contraction(asking, 3, drawing=drawing)).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("power", "verdict"), [pytest.param(2, Verdict.PROVED, marks=pytest.mark.slow), (3, Verdict.REFUTED)]
)
def test_a_bound_from_any_start_that_init_asks_for(power, verdict):
    free = setting(asking, drawing=ft.Drawing(start=("x",)))
    statement = ft.bound(asking, ft.E(V_T) <= (1 - gamma * mu) ** (power * ft.T) * V_0)
    claim = ft.Claim("mine/bound", setting=free, statement=statement, requires=short)
    assert (check(claim) if power == 2 else first_found(claim)).verdict is verdict
    with pytest.raises(ValueError, match=r"asks for x, which nothing gives: .* Drawing\(start=\('x',\)\)"):
        ft.Claim("mine/bound", setting=setting(asking), statement=statement, requires=short)


def test_all_parts_that_init_asks_for_are_to_be_given():
    def both(problem, params, x, y):
        return {"x": x, "y": y}

    two = ft.method("two", lambda p, q, s, draw: s._asdict(), ["gamma"], {"x": "point", "y": "point"}, init=both)
    statement = ft.bound(two, ft.E(V_T) <= V_0)
    with pytest.raises(ValueError, match=r"asks for y, which nothing gives: .*start=\('x', 'y'\)"):
        ft.Claim("mine/two", setting=setting(two, drawing=ft.Drawing(start=("x",))), statement=statement)


@pytest.mark.parametrize(
    "init",
    [lambda p, q, z: {"x": z}, lambda p, q, *x: {"x": x[0]}, lambda p, q, **parts: parts, 3, lambda p, q, x, /: x],
)
def test_an_init_of_something_else_gets_a_sentence(init):
    with pytest.raises(ValueError, match=r"the init of m must be a function of \(problem, params\) and of parts"):
        ft.method("m", descend, ["gamma"], {"x": "point"}, init=init)


# Hypotheses that are functions


def inside(problem, params):
    return params.gamma * problem.L <= 1


def test_a_function_decides_a_hypothesis_in_its_own_words():
    claim = contraction(plain, requires=(inside, gamma * mu <= 1))
    assert [h.text for h in claim.requires[:2]] == ["inside", "gamma*mu <= 1"]
    assert first_found(contraction(plain, 3, requires=(inside,))).verdict is Verdict.REFUTED
    with pytest.raises(ValueError, match=r"mine/2, requires must be a function of \(problem, params\)"):
        contraction(plain, requires=(lambda problem: True,))


@pytest.mark.parametrize("found", [None, "yes", np.array([True, True])])
def test_a_hypothesis_that_gives_no_truth_value_is_told(found):
    with pytest.raises(ValueError, match=r"gives an object of type .*, where True or False is due"):
        check(contraction(plain, requires=(lambda problem, params: found,)))


# Fixed points that nobody gave


def _remembers(problem, params, state, draw):
    new = gradient(problem, state.x)
    return {"x": state.x - params.gamma * new, "v": new, "u": 0 * state.u}


def test_a_fixed_point_that_was_not_given_is_told():
    shapes = {"x": "point", "v": "point", "u": "clients"}
    method = ft.method("m", _remembers, ["gamma"], shapes)
    statement = Limit(method, ft.Quantity("V", ft.distance), "x tends to x*")
    claim = ft.Claim("mine/limit", setting=setting(method), statement=statement, requires=short)
    recipe = next(claim.instances.recipes(np.random.default_rng(0)))
    said = asserted.unfixed(Case(claim, recipe))
    assert "a step of m leaves x = x*, v = x*, u = 0, which is taken for its fixed point as none is given" in said
    assert "fixed_point=" in said
    given = ft.method("m", _remembers, ["gamma"], shapes, fixed_point=lambda p, q: (p.x_star, 0 * p.x_star, p.y_star))
    claim = ft.Claim("mine/limit", setting=setting(given), statement=replace(statement, algorithm=given))
    assert "leaves what is given" in asserted.unfixed(Case(claim, recipe))


# Arrays of letters


def _weighted(problem, params, state, draw):
    steps = np.array([[params.g_1], [params.g_2]])
    return {"x": state.x - (steps * problem.f.gradient(state.x[..., None, :])).sum(axis=-2) / 2}


def _flat(problem, params, state, draw):
    steps = np.array([params.g_1, params.g_2])
    return {"x": state.x - (steps[..., None] * problem.f.gradient(state.x[..., None, :])).sum(axis=-2) / 2}


def _along(problem, params, state, draw):
    return {"x": state.x - np.array([params.g_1, params.g_2]) * gradient(problem, state.x)}


def _read(step, **more):
    method = ft.method("weighted", step, ["g_1", "g_2"], {"x": "point"})
    claim = contraction(method, requires=(g_1 * L <= 1, sympy.Eq(g_1, g_2)), factor=1 - g_1 * mu, **more)
    recipe = next(claim.instances.recipes(np.random.default_rng(0)))
    return whole.unread(Case(claim, recipe))


@pytest.mark.parametrize("step", [_weighted, _flat])
def test_an_array_of_a_letter_for_each_client_is_read(step):
    assert _read(step, clients=(2,)) == ""
    assert "an array of 2 is listed, where the number of clients is 3: write clients=(2,)" in _read(step, clients=(3,))


def test_an_array_of_letters_lies_along_no_coordinates():
    assert "clients of the one stand where the other has coordinates" in _read(_along, clients=(2,))


# Letters of compressors


def test_what_compressors_have_may_be_a_letter_of_the_method_too():
    def step(problem, params, state, draw):
        sent = params.compressors.apply(draw, problem.f.gradient(state.x[..., None, :]))
        return {"x": state.x - params.gamma / (1 + params.compressors.omega) * sent.sum(axis=-2) / problem.n}

    for fields, said in ((["gamma", "compressors", "omega"], omega), (["gamma", "compressors"], ft.omega)):
        method = ft.method("dcgd", step, fields, {"x": "point"})
        statement = ft.contracts(method, ft.distance, 1 - gamma * mu / (1 + said), {ft.heterogeneity: 2 * gamma**2})
        of = setting(method, adversaries=(ft.UnbiasedCompressors(),))
        claim = ft.Claim("mine/dcgd", setting=of, statement=statement, requires=short)
        # Of compressors that are exact omega is 0, which is no value of this letter.
        recipe = next(r for r in claim.instances.recipes(np.random.default_rng(0)) if r["omega"] > 0)
        code = whole.read(Case(claim, recipe))
        for e in critical.in_code(claim, code):
            assert critical.letters(Case(claim, recipe), e)


# Options before names


def test_names_may_stand_after_options(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(
        "import fedtheory as ft\na, b = ft.letters('a b')\nS = ft.Setting(letters=(a, b))\n"
        "I = [ft.inequality(k * a * b <= k * (a**2 + b**2)) for k in (1, 2)]\n"
        "CLAIMS = tuple(ft.Claim(f'mine/{k}', setting=S, statement=I[k - 1]) for k in (1, 2))\n"
    )
    assert main(["check", str(file), "--seconds", "60", "mine/2", "--budget", "quick", "mine/1"]) == 0
    out = capsys.readouterr().out
    assert "mine/1" in out and "mine/2" in out
    assert main(["check", str(file), "--seconds", "60", "mine/2"]) == 0
    assert "mine/1" not in capsys.readouterr().out
    assert main(["check", str(file), "--second", "60", "mine/2"]) == 2
    assert "unrecognized arguments: --second" in capsys.readouterr().err
    assert main(["best", "--largest", "gamma", "no/such", "other"]) == 2
    assert "unrecognized arguments" in capsys.readouterr().err


# Roots of numbers in schedules


@pytest.mark.slow
def test_a_schedule_with_the_root_of_a_number_is_tested():
    step = c * sympy.sqrt(2)
    silver = ft.method("silver", descend, ["c"], {"x": "point"}, schedules={"gamma": step})
    for power, verdict in ((2, Verdict.SUPPORTED), (3, Verdict.REFUTED)):
        claim = contraction(silver, power, (step * L <= 1,), 1 - step * mu)
        assert first_found(claim).verdict is verdict


# Thresholds of what may be negative


def _descent(problem, params, state):
    x = state.x - params.gamma * gradient(problem, state.x)
    values = [problem.f.value(at[..., None, :]).sum(axis=-1) / problem.n for at in (state.x, x)]
    return values[0] - values[1]


D = ft.Quantity("D", _descent)


@pytest.mark.slow
def test_the_largest_step_at_which_values_do_not_grow():
    of = ft.Setting(algorithm=plain, functions=ft.SmoothConvex(L))
    claim = ft.Claim("mine/descent", setting=of, statement=ft.inequality(D >= 0), requires=(gamma * L <= 3,))
    ends = thresholds.threshold(claim, "gamma", {"L": Fraction(1)}, True, float("inf"), lambda text: None)
    inside, outside = (Fraction(end.letters["gamma"]) for end in ends)
    assert inside == 2 < outside < Fraction(2001, 1000)
    found = record.Record(claim, "gamma", ends)
    found.check()
    said = "\n".join(words.report_lines(found))
    assert "the inequality that is stated holds at gamma = 2 and fails at gamma = " in said
    with pytest.raises(ValueError, match="is not shown"):
        record.Record(claim, "gamma", ends[::-1]).check()


# Letters beyond what files have as numbers, and sides that are 0

m = ft.integers("m")
x, y = ft.letters("x y")


@pytest.mark.slow
def test_a_letter_beyond_what_files_have_as_numbers_is_told(tmp_path, capsys):
    file = tmp_path / "mine.py"
    file.write_text(
        "import fedtheory as ft\nx, m = ft.letters('x'), ft.integers('m')\nS = ft.Setting(letters=(x, m))\n"
        "CLAIMS = (ft.Claim('mine/far', setting=S, statement=ft.inequality(x * m <= x * 10**20),"
        " requires=(m >= 10**20,)),)\n"
    )
    assert main(["check", str(file), "--out", str(tmp_path)]) == 0
    assert "refuted" in capsys.readouterr().out
    stored = tmp_path / "counterexamples" / "mine_far.json"
    assert main(["replay", str(stored), "--own", str(file)]) == 0


def test_what_is_compared_with_zero_may_be_proved():
    of = ft.Setting(letters=(x, y))
    root = ft.inequality(0 * x <= sympy.sqrt(1 - x * y))
    assert check(ft.Claim("mine/root", setting=of, statement=root, requires=(x + y <= 2,))).verdict is Verdict.PROVED
    found = check(ft.Claim("mine/root", setting=of, statement=root, requires=(x + y <= 3,)))
    assert found.verdict is Verdict.ILL_POSED


def _nothing(problem, params, state):
    return ((state.x - state.x) ** 2).sum(axis=-1)


def _hidden(problem, params, state):
    return abs((state.x - state.x).sum(axis=-1))


@pytest.mark.slow
def test_sides_that_are_always_zero_are_told():
    Z, Y = ft.Quantity("Z", _nothing), ft.Quantity("Y", _hidden)
    found = check(ft.Claim("mine/zero", setting=setting(plain), statement=ft.inequality(Y <= Z)))
    assert found.verdict is Verdict.NOT_TESTED and "that met the hypotheses both sides are 0" in found.note
    assert check(ft.Claim("mine/zero", setting=setting(plain), statement=ft.inequality(Z <= D))).verdict in (
        Verdict.REFUTED,
        Verdict.ILL_POSED,
    )


def test_what_no_instance_meets_is_not_proved():
    nowhere = ft.Setting(letters=(x, y))
    claim = ft.Claim(
        "mine/none", setting=nowhere, statement=ft.inequality(x * y <= x**2 + y**2), requires=(x**2 + y**2 <= x * y,)
    )
    assert check(claim).verdict is Verdict.NOT_TESTED


def test_the_line_that_voids_a_proof_is_told(tmp_path, capsys):
    text = (
        "import sympy\nimport fedtheory as ft\na, b = ft.letters('a b')\nR = {R}\nS = ft.Setting(letters=(a, b))\n"
        "CLAIMS = (ft.Claim('mine/one', setting=S, statement=ft.inequality(a * b <= a**2 + b**2)),)\n"
    )
    file = tmp_path / "mine.py"
    for by, said in (
        ("[sympy.Rational]", "mine.py, as it is loaded, may change what is read: line 4"),
        ("sympy.Rational", "proved"),
    ):
        file.write_text(text.format(R=by))
        assert main(["check", str(file)]) == 0
        assert said in capsys.readouterr().out
