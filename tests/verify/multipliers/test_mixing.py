"""Mixing matrices: what symmetry, the sums of rows and the spectral gap give is proved, and no more.

Every attack is false of some matrix on a real graph, and only what a matrix is not known to be could let it through.
"""

from fractions import Fraction as Fr
from itertools import islice

import numpy as np
import pytest
from first_found import first_found

import fedtheory as ft
from fedtheory.numbers.rational import has_nonnegative_pivots
from fedtheory.problems.mixing import GRAPHS, Mixing, of_graph
from fedtheory.sampling import building, drawing
from fedtheory.sampling.outside import outside
from verify import Verdict
from verify.base.faults import Unrunnable
from verify.multipliers.proving import prove
from verify.multipliers.search import Search
from verify.multipliers.work import STEP

L, gamma, delta, eps, p, sigma = ft.letters("L gamma delta eps p sigma")
E, LITTLE = ft.E, STEP // 20
ONE, TWO = {"x": "clients"}, {"x": "clients", "y": "clients"}
W, V = ft.MixingMatrix(), ft.MixingMatrix("V", "eps")


def mean(v):
    return v.mean(axis=-2)[..., None, :]


def total(v):
    return (v**2).sum(axis=(-1, -2))


def disagreement(problem, params, state):
    return total(state.x - mean(state.x))


def of_y(problem, params, state):
    return total(state.y - mean(state.y))


def size(problem, params, state):
    return total(state.x - problem.x_star[..., None, :])


def length_of_y(problem, params, state):
    return total(state.y)


def left(problem, params, state):
    """<W x, x> without the mean."""
    return ((params.W.mix(state.x) - mean(state.x)) * (state.x - mean(state.x))).sum(axis=(-1, -2))


def off(problem, params, state):
    return total(state.x - params.W.mix(state.x))


def twice(problem, params, state):
    once = params.W.mix(state.x)
    return total(params.W.mix(once) - once)


def apart(problem, params, state):
    """<W x, y> - <x, W y>."""
    return (params.W.mix(state.x) * state.y - state.x * params.W.mix(state.y)).sum(axis=(-1, -2))


def order(problem, params, state):
    return total(params.W.mix(params.V.mix(state.x)) - params.V.mix(params.W.mix(state.x)))


def of_gradients(problem, params, state):
    return total(params.W.mix(problem.f.gradient(state.x)) - problem.f.gradient(params.W.mix(state.x)))


def gossip(problem, params, state, draw):
    return {"x": params.W.mix(state.x)}


def gossip_twice(problem, params, state, draw):
    return {"x": params.W.mix(params.W.mix(state.x))}


def lazy(problem, params, state, draw):
    return {"x": (state.x + params.W.mix(state.x)) / 2}


def both(problem, params, state, draw):
    return {"x": params.W.mix(params.V.mix(state.x))}


def descent(problem, params, state, draw):
    return {"x": params.W.mix(state.x) - params.gamma * problem.f.gradient(state.x)}


def tracked(problem, params, state, draw):
    x = params.W.mix(state.x) - params.gamma * state.y
    return {"x": x, "y": params.W.mix(state.y) + problem.f.gradient(x) - problem.f.gradient(state.x)}


def kept(problem, params, state, draw):
    """What is added to the mean of x."""
    return {"x": state.x, "y": params.W.mix(state.x) - state.x}


def mean_of_y(problem, params, state):
    return total(mean(state.y) + 0 * state.y)


def still(problem, params, state, draw):
    return state._asdict()


def quantities(name, of):
    return ft.Quantity(name, of), ft.Quantity(f"{name}_next", of, after=True)


(C, C_next), (Y, Y_next), (D, D_next) = (quantities(*of) for of in (("C", disagreement), ("Y", of_y), ("D", size)))
Z, Z_next = quantities("Z", length_of_y)
N_next = ft.Quantity("N_next", mean_of_y, after=True)
P, O, T, S, R, H = (
    ft.Quantity(*of) for of in (("P", left), ("O", off), ("T", twice), ("S", apart), ("R", order), ("H", of_gradients))
)
SMALL = (delta <= 1,)


def solved(of):
    """The quantity of a residual of solutions."""

    def residual(problem, params, state):
        return total(of(problem, params, state.x))

    return residual


UNSOLVED, SHIFT, SIZE, UNDONE, COMMUTED, SHIFTED, UNDONE_WHOLE, OTHERS, GRADIENTS = (
    ft.Quantity(f"S{k}", solved(of))
    for k, of in enumerate(
        (
            lambda f, params, x: params.W.solve(x) - params.W.mix(params.W.solve(x)) - x + mean(x),
            lambda f, params, x: mean(params.W.solve(x)) + 0 * x,
            lambda f, params, x: params.W.solve(x),
            lambda f, params, x: params.W.solve(x - params.W.mix(x)) - x + mean(x),
            lambda f, params, x: params.W.mix(params.W.solve(x)) - params.W.solve(params.W.mix(x)),
            lambda f, params, x: params.W.solve(x) - params.W.mix(params.W.solve(x)) - x,
            lambda f, params, x: params.W.solve(x - params.W.mix(x)) - x,
            lambda f, params, x: params.W.solve(x) - params.V.solve(x),
            lambda f, params, x: params.W.solve(f.f.gradient(x)) - f.f.gradient(params.W.solve(x)),
        )
    )
)


def claim(step, relation, state=ONE, matrices=(W,), params=("gamma",), requires=(), domain=SMALL, draws=None, **more):
    names = [*params, *(name for matrix in matrices for name in (matrix.gap, matrix.field))]
    adversaries = (*matrices, *more.pop("more", ()))
    method = ft.method("m", step, [*names, *(a.field for a in adversaries[len(matrices) :])], state, draws=draws)
    setting = ft.Setting(algorithm=method, functions=ft.Smooth(L), adversaries=adversaries, domain=domain, **more)
    after = any(q.after for q in relation.quantities)
    statement = ft.one_step(method, relation) if after else ft.inequality(relation)
    return ft.Claim("mine/step", setting=setting, statement=statement, requires=requires)


def proves(of, work=LITTLE):
    return not isinstance(prove(of, work), str)


PAIR = {"matrices": (W, V), "domain": (delta <= 1, eps <= 1)}
TRUE = {
    "once": (gossip, E(C_next) <= (1 - delta) ** 2 * C, {}),
    "twice": (gossip_twice, E(C_next) <= (1 - delta) ** 4 * C, {}),
    "lazily": (lazy, E(C_next) <= (1 - delta / 2) ** 2 * C, {}),
    "no farther from the optimum": (gossip, E(D_next) <= D, {}),
    "the mean is kept": (kept, E(N_next) <= 0 * C, {"state": TWO}),
    # The multipliers that are found divide by 1 - delta.
    "as far as it moves": (still, O <= (2 - delta) ** 2 * C, {"domain": (delta < 1,)}),
    "it does move": (still, delta**2 * C <= O, {}),
    "no eigenvalue below": (still, -(1 - delta) * C <= P, {}),
    "no eigenvalue above": (still, P <= (1 - delta) * C, {}),
    "symmetric": (still, S <= 0 * C, {"state": TWO}),
    "symmetric, the other way": (still, 0 * C <= S, {"state": TWO}),
    "a solution": (still, UNSOLVED <= 0 * C, {}),
    "a solution of the mean 0": (still, SHIFT <= 0 * C, {}),
    "a solution is not far away": (still, delta**2 * SIZE <= C, {}),
    "a solution is not near": (still, C <= (2 - delta) ** 2 * SIZE, {"domain": (delta < 1,)}),
    "it undoes": (still, UNDONE <= 0 * C, {}),
    "what is mixed and solved": (still, COMMUTED <= 0 * C, {}),
    "a tracked gradient": (
        tracked,
        E(C_next) <= (1 - delta) * C + gamma**2 / delta * Y,
        {"state": TWO, "domain": (delta < 1,)},
    ),
}
FALSE = {
    "once, faster": (gossip, E(C_next) <= (1 - delta) ** 3 * C, {}),
    "twice, faster": (gossip_twice, E(C_next) <= (1 - delta) ** 5 * C, {}),
    "lazily, as fast": (lazy, E(C_next) <= (1 - delta) ** 2 * C, {}),
    "nearer to the optimum": (gossip, E(D_next) <= (1 - delta) ** 2 * D, {}),
    "by two, as if by one that is better": (both, E(C_next) <= (1 - delta) ** 2 * (1 - eps) ** 3 * C, PAIR),
    "it mixes what it is not told": (kept, E(Y_next) <= delta**2 * C, {"state": TWO}),
    "positive semidefinite": (still, 0 * C <= P, {}),
    "positive semidefinite, moving": (still, O <= C, {}),
    "it moves by more": (still, delta * C <= O, {}),
    "a projection": (still, T <= 0 * C, {}),
    "matrices commute": (still, R <= 0 * C, PAIR),
    "it commutes with gradients": (still, H <= 0 * C, {}),
    "antisymmetric": (still, P <= 0 * C, {}),
    "it does not move the mean of anything": (descent, E(C_next) <= (1 - delta) * C, {}),
    "a solution keeps the mean": (still, SHIFTED <= 0 * D, {}),
    "a solution is nearer": (still, SIZE <= C, {}),
    "a solution is nearer than the gap allows": (still, delta**2 * SIZE <= (1 - delta) * C, {}),
    "a solution is farther": (still, C <= SIZE, {}),
    "it undoes the mean": (still, UNDONE_WHOLE <= 0 * D, {}),
    "another matrix": (still, OTHERS <= 0 * C, PAIR),
    "solved at gradients": (still, GRADIENTS <= 0 * C, {}),
    "a tracked gradient, faster": (tracked, E(C_next) <= (1 - delta) ** 2 * C + gamma**2 * Y, {"state": TWO}),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_a_gap_gives_is_proved(name):
    step, relation, more = TRUE[name]
    assert proves(claim(step, relation, **more), STEP)


def test_what_has_an_infinite_multiplier_is_left_out(monkeypatch):
    """As on processors whose floats leave out the other inequality, the first search takes the one that does not do."""
    usable = Search._usable

    def other(self):
        return [k for k in usable(self) if self.without or self.names[k] != "W below[0]"]

    step, relation, more = TRUE["no eigenvalue below"]
    monkeypatch.setattr(Search, "_usable", other)
    assert proves(claim(step, relation, **more), STEP)
    monkeypatch.setattr(Search, "_usable", lambda self: [k for k in usable(self) if self.names[k] != "W below[0]"])
    assert "finite" in prove(claim(step, relation, **more), STEP)


@pytest.mark.parametrize("name", FALSE)
def test_what_some_graph_contradicts_is_refuted(name):
    step, relation, more = FALSE[name]
    of = claim(step, relation, **more)
    assert not proves(of)
    assert first_found(of).verdict is Verdict.REFUTED


def test_points_are_not_mixed():
    def step(problem, params, state, draw):
        return {"x": params.W.mix(mean(state.x)) + 0 * state.x}

    of = claim(step, E(C_next) <= C)
    assert "W.mix takes a vector of each client" in prove(of, LITTLE)
    with pytest.raises(Unrunnable):
        first_found(of)


def test_what_is_drawn_is_not_mixed_as_if_it_were_known():
    def drawn(problem, params, state, draw):
        return {"x": params.W.mix(draw[..., None] * state.x)}

    def clients(problem, params, state):
        return ft.Independent(ft.Bernoulli(params.p), problem.n)

    of = claim(drawn, E(C_next) <= (1 - delta) ** 2 * p * C, params=("p",), domain=(delta <= 1, p <= 1), draws=clients)
    assert isinstance(prove(of, LITTLE), str)
    assert first_found(of).verdict is Verdict.REFUTED

    def noisy(problem, params, state, draw):
        return {"x": params.W.mix(params.noise.apply(draw, state.x))}

    noise = (ft.NoisyGradients(independent=True),)
    of = claim(noisy, E(C_next) <= (1 - delta) ** 2 * C + sigma**2, params=("sigma",), more=noise)
    assert "drawn" in prove(of, LITTLE)

    def solved_noise(problem, params, state, draw):
        return {"x": params.W.solve(params.noise.apply(draw, state.x))}

    of = claim(solved_noise, E(C_next) <= C / delta**2 + sigma**2, params=("sigma",), more=noise)
    assert "drawn" in prove(of, LITTLE)


def test_that_a_matrix_is_one_is_a_hypothesis():
    for name in ("once", "symmetric", "the mean is kept"):
        step, relation, more = TRUE[name]
        of = claim(step, relation, drawing=ft.Drawing(classes_stated=True), **more)
        assert isinstance(prove(of, LITTLE), str)


def test_a_gap_is_at_most_1_and_nothing_is_proved_of_larger_ones():
    assert proves(claim(gossip, E(D_next) <= D, domain=()), STEP)
    for relation in (E(D_next) <= D, E(D_next) <= 0 * D):
        assert not proves(claim(gossip, relation, domain=(delta >= 2,)))
        assert not proves(claim(gossip, relation, domain=(), requires=(delta >= 2,)))


@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("n", range(1, 8))
def test_matrices_of_graphs_have_the_gap_that_they_are_made_for(graph, n):
    seen = set()
    for gap in map(Fr, ("1/10", "1/3", "1/2", "2/3", 1)):
        made = of_graph(graph, n, gap)
        assert made.is_doubly_stochastic() and made.has_gap(gap)
        assert n == 1 or gap == 1 or not made.has_gap(gap + Fr(1, 100))
        values = np.sort(np.abs(np.linalg.eigvalsh(made.matrix.astype(float))))
        assert n == 1 or abs(values[-2] - float(1 - gap)) < 1e-9
        x = np.array([[Fr(i * j) for j in range(2)] for i in range(n)])
        assert (made.mix(x).sum(axis=0) == x.sum(axis=0)).all()
        z, apart = made.solve(x), x - x.sum(axis=0) / n
        assert (z - made.mix(z) == apart).all() and (z.sum(axis=0) == 0).all()
        assert np.allclose(made.solve(x.astype(float)), z.astype(float))
        seen.add(made.graph)
    known = {("star", n): n > 2, ("ring", 4): True, ("ring", 6): True, ("path", 2): True, ("path", 3): True}
    assert (graph in seen) is (graph == "complete" or (graph == "flipped" and n == 2) or known.get((graph, n), False))


def test_members_are_mixing_matrices_of_several_graphs_and_what_is_outside_is_not():
    method = ft.method("m", gossip, ["delta", "W"], ONE)
    setting = ft.Setting(algorithm=method, functions=ft.Smooth(L), adversaries=(W,), letters=(delta,))
    rng, graphs = np.random.default_rng(0), set()
    for _ in range(60):
        recipe = drawing.drawn(setting, rng)
        instance = building.build(setting, recipe, True)
        assert W.contains(instance.problem, instance.params)
        graphs.add(instance.params.W.graph)
        for _, problem, params in islice(outside(W, instance.problem, instance.params, None), 1):
            assert problem.n == 1 or not W.contains(problem, params)
    assert {"complete", "star", "path", "flipped"} <= graphs


def test_membership_asks_for_symmetry_rows_signs_and_the_gap():
    def of(rows):
        return Mixing(np.array([[Fr(v) for v in row] for row in rows], dtype=object), "given")

    good = of([["1/2", "1/2"], ["1/2", "1/2"]])
    assert good.is_doubly_stochastic() and good.has_gap(Fr(1)) and not good.has_gap(Fr(11, 10))
    assert not of([["1/2", "1/2"], [1, 0]]).is_doubly_stochastic()
    assert not of([["1/2", "1/4"], ["1/4", "1/2"]]).is_doubly_stochastic()
    assert not of([["3/2", "-1/2"], ["-1/2", "3/2"]]).is_doubly_stochastic()
    assert not of([[0, 1], [1, 0]]).has_gap(Fr(1, 100))


def test_elimination_decides_semidefiniteness():
    for rows, right in (
        ([[1, 1], [1, 1]], True),
        ([[0, 1], [1, 5]], False),
        ([[0, 0], [0, 0]], True),
        ([[2, 1, 0], [1, 2, 1], [0, 1, 2]], True),
        ([[1, 2], [2, 3]], False),
        ([[1, 0], [0, -1]], False),
    ):
        assert has_nonnegative_pivots(np.array([[Fr(v) for v in row] for row in rows], dtype=object)) is right
