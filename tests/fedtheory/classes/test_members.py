"""What is drawn of a class belongs to it, and is least where the class says so."""

import math
from fractions import Fraction as Fr
from itertools import islice

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import classes
from fedtheory.classes.restricted_secant import secants
from fedtheory.instances.members import sampler
from fedtheory.numbers.rational import exact
from fedtheory.problems.growth import steepest_squared
from fedtheory.problems.noise import Noise
from fedtheory.problems.quadratic import Quadratics
from fedtheory.problems.ridged import Ridged
from fedtheory.randomness import expectation, support_of
from fedtheory.sampling import building, drawing

mu, L, gamma, alpha, beta, s, r, kappa, zeta = ft.letters("mu L gamma alpha beta s r kappa zeta")
PARAMS = ("gamma",)


def step(problem, params, state, draw):
    return {"x": state.x}


own = ft.method("m", step, ["mu"], {"x": "point"})
still = ft.method("still", step, PARAMS, {"x": "point"})
CLASSES = {
    "SmoothConvex": ft.SmoothConvex(L),
    "Smooth": ft.Smooth(L),
    "WeaklyConvex": ft.WeaklyConvex(s, r),
    "OneStronglyConvex": classes.OneStronglyConvex(mu, L),
    "PolyakLojasiewicz": ft.PolyakLojasiewicz(alpha, beta),
    "PolyakLojasiewicz, own": ft.PolyakLojasiewicz(mu, L, own=True),
    "Convex": ft.Convex(),
    "StronglyConvex": ft.StronglyConvex(mu),
    "ConvexLipschitz": ft.ConvexLipschitz(L),
    "SmoothConvexLipschitz": ft.SmoothConvexLipschitz(alpha, beta),
    "ConvexQuadraticGrowth": ft.ConvexQuadraticGrowth(L),
    "RestrictedSecant": ft.RestrictedSecant(mu, L),
    "BlockSmoothConvex": ft.BlockSmoothConvex((alpha, beta)),
    "BoundedDissimilarity": ft.BoundedDissimilarity(ft.SmoothStronglyConvex(mu, L), zeta),
    "BoundedDissimilarity, Smooth": ft.BoundedDissimilarity(ft.Smooth(L), zeta),
}


def problems(functions, **more):
    setting = ft.Setting(algorithm=still, functions=functions, letters=tuple(functions.letters), **more)
    rng = np.random.default_rng(0)
    while True:
        recipe = drawing.drawn(setting, rng)
        yield building.problem_of(setting, recipe, True), rng


# RestrictedSecant says nothing of the curvatures of any f_i.
@pytest.mark.parametrize("name", sorted(CLASSES.keys() - {"RestrictedSecant"}))
def test_members_belong_to_their_class_and_are_least_at_x_star(name):
    functions, curved, others = CLASSES[name], 0, 0
    for problem, rng in islice(problems(functions), 60):
        assert functions.contains(problem, None)
        low, high = functions.curvatures(problem, None)
        x, y = (
            np.array([Fr(int(v), 4) for v in rng.integers(-40, 41, problem.d)], dtype=object) + problem.x_star
            for _ in range(2)
        )
        slopes = [problem.f.gradient(z[None, :] + np.zeros((problem.n, 1), dtype=int)) for z in (x, y)]
        product, square = ((slopes[0] - slopes[1]) * (x - y)).sum(axis=-1), ((x - y) ** 2).sum()
        assert (low * square <= product).all()
        assert np.isinf(high.astype(float)).all() or (product <= high * square).all()
        average = slopes[0].sum(axis=0) / problem.n
        assert (
            problem.f.value(x[None, :]) >= problem.f.value(y[None, :]) + (slopes[1] * (x - y)).sum(axis=-1)
        ).all() or (min(low) < 0)
        gap = (problem.f.value(x[None, :]) - problem.f.value(problem.x_star[None, :])).sum() / problem.n
        assert gap >= 0
        # The subgradients that balance need not be those that are given at x*.
        tangents = problem.f.value(problem.x_star[None, :]) + (problem.y_star * (x - problem.x_star)).sum(axis=-1)
        assert min(low) < 0 or (problem.f.value(x[None, :]) >= tangents).all()
        assert (problem.y_star.sum(axis=0) == 0).all()
        given = problem.f.gradient(problem.x_star[None, :]) != problem.y_star
        others += bool(given.any())
        if "Lojasiewicz" in name:
            assert (average**2).sum() >= 2 * problem.mu * gap
        curved += bool(min(problem.f.mu) < 0)
    assert (others > 5) == (name in ("Convex", "StronglyConvex", "ConvexLipschitz"))
    assert (curved > 5) == (name.endswith("Smooth") or name == "WeaklyConvex" or "Lojasiewicz" in name)


def points(problem, rng, recipe):
    """Points that are looked at: anywhere, and where derivatives bend or jump."""
    for _ in range(6):
        yield problem.x_star + np.array([Fr(int(v), 4) for v in rng.integers(-40, 41, problem.d)], dtype=object)
    for client in recipe["clients"]:
        for name in ("jump_at", "kink", "kink_beyond", "dip_from", "dip_to"):
            at = client.get(name, ())
            at = at if isinstance(at, tuple) else (at,)
            if at:
                yield problem.x_star + np.array([*at, *[Fr(0)] * (problem.d - len(at))], dtype=object)


def told(functions, x, gap, slopes, problem):
    """The inequalities from which bounds of the three classes are derived: by name, what is at most 0."""
    slope, square = slopes.sum(axis=0) / problem.n, (x**2).sum()
    product, length = (slope * x).sum(), (slope**2).sum()
    if type(functions) is ft.SmoothConvexLipschitz:
        return {"steep": max((slopes**2).sum(axis=-1)) - problem.M**2}
    if type(functions) is ft.ConvexQuadraticGrowth:
        growth = gap - problem.L / 2 * square
        return {"growth": growth, "slope": gap + length / (2 * problem.L) - product}
    return {
        "below": problem.mu / 2 * square - gap,
        "above": gap - problem.L / 2 * square,
        "secant": problem.mu * square - product,
        "error": length - problem.L**2 * square,
    }


@pytest.mark.parametrize("name", [name for name in CLASSES if name.startswith("BoundedDissimilarity")])
def test_gradients_differ_as_much_as_declared_and_no_more(name):
    apart = set()
    setting = ft.Setting(algorithm=still, functions=CLASSES[name], letters=tuple(CLASSES[name].letters))
    rng = np.random.default_rng(2)
    for _ in range(60):
        recipe = drawing.drawn(setting, rng)
        problem = building.problem_of(setting, recipe, True)
        for x in points(problem, rng, recipe):
            slopes = problem.f.gradient(x[None, :] + np.zeros((problem.n, 1), dtype=int))
            found = ((slopes - slopes.sum(axis=0) / problem.n) ** 2).sum() / problem.n
            assert found <= problem.M**2
            apart.add((found == problem.M**2, (slopes - problem.y_star != 0).any() and found > 0))
    # At x* and elsewhere, by as much as there may be, and by less.
    assert len(apart) == 4


@pytest.mark.parametrize("name", ["SmoothConvexLipschitz", "ConvexQuadraticGrowth", "RestrictedSecant"])
def test_what_bounds_are_derived_from_holds_of_members_and_is_attained(name):
    functions, attained = CLASSES[name], set()
    setting = ft.Setting(algorithm=still, functions=functions, letters=tuple(functions.letters))
    rng = np.random.default_rng(1)
    for _ in range(40):
        recipe = drawing.drawn(setting, rng)
        problem = building.problem_of(setting, recipe, True)
        each = np.zeros((problem.n, 1), dtype=int)
        least = problem.f.value(problem.x_star + each).sum()
        seen = []
        for x in points(problem, rng, recipe):
            values, slopes = problem.f.value(x + each), problem.f.gradient(x + each)
            gap = (values.sum() - least) / problem.n
            for which, form in told(functions, x - problem.x_star, gap, slopes, problem).items():
                assert form <= 0, (which, recipe)
                attained |= {which} if form == 0 and gap else set()
            seen.append((x, values, slopes))
        if "Convex" in name:
            for x, values, slopes in seen:
                for y, others, tangents in seen:
                    bend = ((slopes - tangents) ** 2).sum(axis=-1) / (2 * problem.L) if "Smooth" in name else 0
                    assert (others + (tangents * (x - y)).sum(axis=-1) + bend <= values).all()
    assert attained == set(told(functions, x - problem.x_star, gap, slopes, problem))


def test_ridges_are_differentiable_and_lead_off_a_ray():
    f = Ridged(*(np.array(v, dtype=object) for v in ([Fr(1)], [Fr(1, 4)], [Fr(1), Fr(-2), Fr(3)], [[Fr(0)] * 3])))
    at = np.array([2.25, -1.3, 3.5])
    near = at + 1e-6 * np.concatenate([np.eye(3), -np.eye(3)])
    values = f.value(near[:, None, :])[:, 0].astype(float)
    assert np.allclose((values[:3] - values[3:]) / 2e-6, f.gradient(at[None, :])[0].astype(float), atol=1e-6)
    ray = f.centre + np.array([Fr(1), Fr(0), Fr(0)], dtype=object)
    assert (f.gradient(ray[None, :])[0] == [1, 4, 0]).all()
    assert (f.gradient(f.centre[None, :])[0] == 0).all()
    least, largest = secants(f, f.centre)
    assert least == Fr(1, 2) and 17 < largest**2 < Fr(171, 10)


def test_a_constant_that_is_too_large_is_no_constant_of_the_class():
    functions = ft.PolyakLojasiewicz(mu, L)
    for problem, _ in islice(problems(functions, clients=(1,)), 20):
        larger = type(problem)(problem.f, None, (3 * problem.mu, problem.L), problem.known)
        smoother = type(problem)(problem.f, None, (problem.mu, problem.L * Fr(99, 100)), problem.known)
        assert not functions.contains(larger, None)
        assert not functions.contains(smoother, None) or max(problem.f.L) < problem.L


def test_a_stationary_point_need_not_be_a_minimiser():
    below = 0
    for problem, _ in islice(problems(ft.Smooth(L, optimum="stationary")), 60):
        assert (problem.f.gradient(problem.x_star[None, :]).sum(axis=0) == 0).all()
        below += bool(sum(problem.f.mu) < 0)
    assert below > 5


def claim(functions, statement=None, **more):
    setting = ft.Setting(algorithm=more.pop("algorithm", still), functions=functions, **more)
    return ft.Claim("mine/one", setting=setting, statement=statement or ft.contracts(still, ft.distance, 1))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ft.SmoothStronglyConvex(mu, mu), "the constants mu and L of SmoothStronglyConvex are both mu"),
        (lambda: ft.PolyakLojasiewicz("mu", "L"), "the constant mu of PolyakLojasiewicz is 'mu', and must be a letter"),
        (
            lambda: ft.SmoothStronglyConvex(0, L),
            r"with mu = 0 these are the functions of SmoothConvex\(L\): write that",
        ),
        (lambda: ft.StronglyConvex(0), r"these are the functions of Convex\(\)"),
        (lambda: ft.PolyakLojasiewicz(0, L), r"these are the functions of Smooth\(L\)"),
        (lambda: ft.SmoothStronglyConvex(mu, 1), r"requires=\(sympy.Eq\(L, 1\),\) in the claim"),
        (lambda: ft.SmoothConvexLipschitz(L, 2), "the constant M of SmoothConvexLipschitz is 2"),
        (lambda: ft.Smooth(mu, L, s), "one letter"),
        (lambda: classes.SmoothOwn(optimum="consensus"), "optimum='none'"),
        (lambda: claim(ft.PolyakLojasiewicz(mu, L), drawing=ft.Drawing(g=(True,))), "does not say what g is"),
        (lambda: claim(ft.SmoothConvex(L), ft.contracts(still, ft.distance, 1 / kappa)), "mentions kappa"),
        (lambda: claim(ft.Smooth(mu, L), ft.contracts(still, ft.distance, 1 - gamma * mu)), "mentions mu"),
        (lambda: claim(ft.SmoothConvex(L), ft.contracts(own, ft.distance, 1), algorithm=own), "a parameter mu"),
        (
            lambda: claim(ft.PolyakLojasiewicz(alpha, beta), adversaries=(ft.ContractiveCompressors(),)),
            "means something else",
        ),
    ],
)
def test_what_a_class_does_not_have_is_told(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_letters_of_any_name_have_the_constants_of_the_class():
    stated = claim(ft.PolyakLojasiewicz(alpha, beta), ft.contracts(still, ft.gap, 1 - alpha / beta))
    recipe = next(stated.instances.recipes(np.random.default_rng(0)))
    instance = stated.instances.build(recipe, True)
    values = stated.setting.bind(instance.problem, instance.params)
    assert (values[alpha], values[beta]) == (recipe["alpha"], recipe["beta"])


def test_weakly_convex_members_turn_back_as_steeply_as_they_can():
    """Steep beside x*, and then of curvature -s for so long that there is a second minimiser: the slope points away."""
    functions, rng, worst = ft.WeaklyConvex(mu, L), np.random.default_rng(0), Fr(0)
    for recipe in (sampler(functions, ft.Drawing()).draw(rng, 1, 1, False) for _ in range(400)):
        (client,) = recipe["clients"]
        if "dip" in client:
            near, far = sorted(map(abs, (client["dip_from"], client["dip_to"])))
            slope = client["h"][0] * near + client["dip"] * (far - near)
            worst = min(worst, slope / far / recipe["mu"])
    assert worst < Fr(-48, 100)


def test_lipschitz_members_are_no_steeper_than_declared_and_some_as_steep():
    attained = 0
    for problem, rng in islice(problems(ft.ConvexLipschitz(alpha)), 60):
        x = np.array([Fr(int(v), 4) for v in rng.integers(-40, 41, problem.d)], dtype=object) + problem.x_star
        lengths = (problem.f.gradient(x[None, :]) ** 2).sum(axis=-1)
        assert max(lengths) <= problem.L**2
        attained += max(lengths) == problem.L**2
        flatter = type(problem)(problem.f, None, (0, problem.L * Fr(9, 10)), problem.known)
        assert ft.ConvexLipschitz(alpha).contains(flatter, None) == (max(problem.f.steepest_squared) <= flatter.L**2)
    assert attained > 5


def test_a_composite_problem_has_a_convex_g_and_is_least_at_x_star():
    functions = ft.Composite(ft.SmoothStronglyConvex(mu, L))
    kinks = 0
    for problem, rng in islice(problems(functions), 40):
        assert functions.contains(problem, None) and problem.g is not None
        x = np.array([Fr(int(v), 4) for v in rng.integers(-40, 41, problem.d)], dtype=object)
        there, here = (
            problem.f.value(v[None, :]).sum() / problem.n + problem.g.value(v[None, :])[0] for v in (problem.x_star, x)
        )
        assert there <= here
        gamma = Fr(int(rng.integers(1, 9)), 4)
        near = problem.g.resolvent(1 / gamma, x[None, :] / gamma)
        # What a proximal point is least of, beside it.
        values = [
            problem.g.value(v)[0] + ((v - x) ** 2).sum() / (2 * gamma) for v in (near, near + Fr(1, 9), x[None, :])
        ]
        assert values[0] <= min(values[1:])
        kinks += (near == problem.g.kink).any()
    assert kinks > 5


@pytest.mark.parametrize(
    "of", [ft.Smooth(L), ft.ConvexLipschitz(L), ft.PolyakLojasiewicz(mu, L), ft.Composite(ft.Convex()), mu]
)
def test_classes_that_speak_of_the_average_alone_are_no_part_of_a_composite_problem(of):
    with pytest.raises(ValueError, match=r"without a regulariser g|a class of functions"):
        ft.Composite(of)


def test_noise_has_the_mean_and_the_variance_that_it_says():
    along = np.array([Fr(3, 5), Fr(4, 5)], dtype=object)
    for joint, skew, batch in (("independent", Fr(3), 2), ("shared", Fr(1), 1), ("independent", Fr(1, 3), 1)):
        noise = Noise(2, Fr(5), along, batch, skew, joint)
        draws, p = support_of(noise.draws, True)
        x = np.array([[Fr(1), Fr(2)], [Fr(-3), Fr(7)]], dtype=object)
        added = noise.apply(draws, x) - x
        assert (expectation(added, p, 0) == 0).all()
        assert (expectation((added**2).sum(axis=-1), p, 0) == noise.variance).all() and noise.variance == Fr(25, batch)
        across = expectation((added[:, 0] * added[:, 1]).sum(axis=-1), p)
        assert across == (0 if joint == "independent" else noise.variance)


def test_noise_without_the_parameter_that_bounds_it_is_told():
    method = ft.method("sgd", step, ["gamma", "noise"], {"x": "point"})
    with pytest.raises(ValueError, match="no parameter 'sigma', which bounds its noise"):
        ft.Setting(algorithm=method, functions=ft.Smooth(L), adversaries=(ft.NoisyGradients(),))
    with pytest.raises(ValueError, match=r"the parameter noise is of no class: write adversaries=\(NoisyGradients"):
        ft.Setting(algorithm=method, functions=ft.Smooth(L))


def test_noise_that_turns_is_noise_of_the_same_variance_and_other_at_other_vectors():
    noise = Noise(1, Fr(2), np.array([Fr(1)], dtype=object), skew=Fr(3), turning=True)
    draws, p = support_of(noise.draws, True)
    x = np.array([[Fr(3)]], dtype=object)
    one, other = noise.apply(draws, x) - x, noise.apply(draws, -x) + x
    assert (one == -other).all()
    assert (expectation(other, p, 0) == 0).all() and (expectation(other**2, p, 0) == noise.variance).all()


def test_a_quadratic_has_no_lipschitz_constant():
    # Its slope has no bound, whatever numbers it is computed in.
    f = Quadratics(exact([[[1]], [[2]]]), exact([[0], [1]]))
    for numbers in (f, Quadratics(np.array([[[1.0]], [[2.0]]]), np.zeros((2, 1)))):
        assert list(steepest_squared(numbers, 0 * numbers.c[0])) == [math.inf, math.inf]


def test_along_blocks_members_are_as_smooth_as_the_class_allows_and_some_exactly():
    functions, attained, sizes = CLASSES["BlockSmoothConvex"], 0, set()
    for problem, rng in islice(problems(functions), 40):
        each = np.zeros((problem.n, 1), dtype=int)
        x, y = (exact(rng.integers(-9, 10, problem.d)) / 2 for _ in range(2))
        values, slopes = zip(*((problem.f.value(z + each), problem.f.gradient(z + each)) for z in (x, y)), strict=True)
        for j, constant in enumerate(problem.blocks.L):
            turned = (problem.part(slopes[0] - slopes[1], j) ** 2).sum(axis=-1)
            assert (values[1] + (slopes[1] * (x - y)).sum(axis=-1) + turned / (2 * constant) <= values[0]).all()
            moved = problem.part(exact(rng.integers(1, 5, problem.d)), j)
            change = problem.part(problem.f.gradient(x + moved + each) - slopes[0], j)
            gap = (change**2).sum(axis=-1) - constant**2 * (moved**2).sum()
            assert (gap <= 0).all()
            attained += bool((gap == 0).any())
        sizes.add(problem.blocks.sizes)
        assert sum(problem.blocks.sizes) == problem.d
    assert attained > 10 and {(1, 1), (1, 2)} <= sizes


@pytest.mark.parametrize("letters", [(), (alpha,), (alpha, alpha), "ab", (alpha, 2), alpha])
def test_blocks_have_letters_of_their_own(letters):
    with pytest.raises(ValueError, match="blocks"):
        ft.BlockSmoothConvex(letters)


def test_blocks_stand_beside_no_regulariser():
    with pytest.raises(ValueError, match="BlockSmoothConvex requires functions without a regulariser"):
        ft.Composite(CLASSES["BlockSmoothConvex"])


def test_only_problems_with_blocks_have_parts():
    with pytest.raises(ValueError, match="no blocks"):
        next(problems(CLASSES["Smooth"]))[0].part(np.zeros(1), 0)
    problem, _ = next(problems(CLASSES["BlockSmoothConvex"]))
    for block in (-1, 2, True, 0.0):
        with pytest.raises(ValueError, match="counted from 0 to 1"):
            problem.part(problem.x_star, block)
