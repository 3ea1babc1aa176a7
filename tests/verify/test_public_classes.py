"""Every public class, kind of statement and distribution: a true theorem and a false one, brought as a user's file."""

from dataclasses import replace
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import sympy
from first_found import first_found

import fedtheory as ft
from verify import Verdict, check
from verify.base.evaluate import meeting
from verify.base.own import load

#: What every file begins with: gradient descent, and what theorems speak of.
HEAD = """\
import numpy as np
import sympy
import fedtheory as ft
from fedtheory import classes
from fedtheory.compressors import bernoulli
from fedtheory.algorithms.parts import zeros
from fedtheory.instances import numbers

mu, L, gamma, alpha, beta, s, r, p, M, t, sigma = ft.letters("mu L gamma alpha beta s r p M t sigma")
n, omega, T, E = ft.n, ft.omega, ft.T, ft.E


def slope(problem, x):
    return problem.f.gradient(x[..., None, :]).sum(axis=-2) / problem.n


def step(problem, params, state, draw):
    return {"x": state.x - params.gamma * slope(problem, state.x)}


def norm(problem, params, state):
    return (slope(problem, state.x) ** 2).sum(axis=-1)


def quantities(of, name):
    return ft.Quantity(name, of), ft.Quantity(name + "_next", of, after=True)


gd = ft.method("gradient-descent", step, ["gamma"], {"x": "point"})
(D, D_next), (F, F_next), (G, _) = quantities(ft.distance, "D"), quantities(ft.gap, "F"), quantities(norm, "G")
short = (gamma * L <= 1,)


def of(functions, **more):
    return ft.Setting(algorithm=gd, functions=functions, **more)


def pair(setting, true, false, requires=(), of_false=None):
    of_false = requires if of_false is None else of_false
    return (
        ft.Claim("mine/true", setting=setting, statement=true, requires=requires),
        ft.Claim("mine/false", setting=setting, statement=false, requires=of_false),
    )


def prox(problem, params, state, draw):
    return {"x": problem.f.resolvent(1 / params.gamma, state.x[..., None, :] / params.gamma)[..., 0, :]}


descent = ft.one_step(gd, E(F_next) <= F - gamma * (1 - gamma * L / 2) * G)
proximal = ft.method("proximal-point", prox, ["gamma"], {"x": "point"})
rooted = ft.method("gradient-descent", step, ["gamma", "p"], {"x": "point"})
"""

CLASSES = {
    "SmoothStronglyConvex": """
small, large = ft.contracts(gd, ft.distance, 1 - gamma * mu), ft.contracts(gd, ft.distance, (1 - gamma * mu) ** 3)
CLAIMS = pair(of(ft.SmoothStronglyConvex(mu, L), clients=(1, 2)), small, large, short)
""",
    "SmoothStronglyConvex, with a g": """
def with_g(problem, params, state, draw):
    both = slope(problem, state.x) + problem.g.gradient(state.x[..., None, :])[..., 0, :]
    return {"x": state.x - params.gamma * both}


both = ft.method("both", with_g, ["gamma"], {"x": "point"})
drawing = ft.Drawing(g=(True,))
setting = ft.Setting(algorithm=both, functions=ft.SmoothStronglyConvex(mu, L), drawing=drawing, clients=(1, 2))
twice, thrice = (ft.contracts(both, ft.distance, (1 - c * gamma * mu) ** 2) for c in (2, 3))
CLAIMS = pair(setting, twice, thrice, (2 * gamma * L <= 1,))
""",
    # Flat members: what holds for mu > 0 only falls.
    "SmoothConvex": """
setting = of(ft.SmoothConvex(L), clients=(1, 2))
CLAIMS = pair(setting, ft.contracts(gd, ft.distance, 1), ft.contracts(gd, ft.distance, 1 - gamma * L / 10**6), short)
""",
    "SmoothConvex, a gradient that tells": """
CLAIMS = pair(of(ft.SmoothConvex(L), clients=(1,)), ft.inequality(G <= 2 * L * F), ft.inequality(D <= F * 10**6 / L))
""",
    "SmoothConvex, a proximal point": """
setting = ft.Setting(algorithm=proximal, functions=ft.SmoothConvex(L), clients=(1,))
same, less = (ft.contracts(proximal, ft.distance, c) for c in (1, 1 - gamma * L / 10**6))
CLAIMS = pair(setting, same, less)
""",
    "Convex": """
setting = ft.Setting(algorithm=proximal, functions=ft.Convex(), clients=(1,))
CLAIMS = pair(setting, *(ft.one_step(proximal, E(D_next + c * gamma * F_next) <= D) for c in (2, 3)))
""",
    # Functions that need not be smooth have no bound from above.
    "Convex, a subgradient": """
def product(problem, params, state):
    return (slope(problem, state.x) * (state.x - problem.x_star)).sum(axis=-1)


P, _ = quantities(product, "P")
CLAIMS = pair(of(ft.Convex(), clients=(1, 2)), ft.inequality(F <= P), ft.inequality(G <= 10**6 * F))
""",
    # The subgradient that is given at x* need not be the one that balances.
    "Convex, the subgradient at x*": """
def at_optimum(problem, params, state):
    return problem.x_star + 0 * state.x


def still(problem, params, state, draw):
    return {"x": state.x - params.gamma * slope(problem, at_optimum(problem, params, state))}


def away(problem, params, state):
    return (slope(problem, at_optimum(problem, params, state)) * (state.x - problem.x_star)).sum(axis=-1)


lazy = ft.method("lazy", still, ["gamma"], {"x": "point"})
P, _ = quantities(away, "P")
setting = ft.Setting(algorithm=lazy, functions=ft.Convex(), clients=(1, 2))
CLAIMS = pair(setting, ft.inequality(P <= F), ft.one_step(lazy, E(D_next) <= D))
""",
    # The subgradient by which a proximal point is known need not be the one that is given there.
    "Convex, the subgradient at a proximal point": """
def apart(problem, params, state):
    at = state.x[..., None, :]
    point = problem.f.resolvent(1 / params.gamma, at / params.gamma)
    return ((problem.f.gradient(point) - (at - point) / params.gamma) ** 2).sum(axis=(-1, -2))


def along(problem, params, state):
    at = state.x[..., None, :]
    point = problem.f.resolvent(1 / params.gamma, at / params.gamma)
    return ((at - point) * (point - problem.x_star[..., None, :])).sum(axis=(-1, -2))


setting = ft.Setting(algorithm=proximal, functions=ft.Convex(), clients=(1,))
(A, _), (P, _) = quantities(apart, "A"), quantities(along, "P")
CLAIMS = pair(setting, ft.inequality(-P <= 0), ft.inequality(A <= 0))
""",
    "StronglyConvex": """
setting = ft.Setting(algorithm=proximal, functions=ft.StronglyConvex(mu), clients=(1,))
CLAIMS = pair(setting, *(ft.contracts(proximal, ft.distance, 1 / (1 + gamma * mu) ** c) for c in (2, 3)))
""",
    "StronglyConvex, not smooth": """
setting = of(ft.StronglyConvex(mu), clients=(1, 2))
CLAIMS = pair(setting, ft.inequality(mu / 2 * D <= F), ft.contracts(gd, ft.distance, 1), (), (gamma * mu * 10**6 <= 1,))
""",
    "ConvexLipschitz": """
setting = of(ft.ConvexLipschitz(M), clients=(1, 2))
full, less = (ft.one_step(gd, E(D_next) <= D - 2 * gamma * F + gamma**2 * M**2 * c) for c in (1, sympy.Rational(9, 10)))
CLAIMS = pair(setting, full, less)
""",
    "ConvexLipschitz, gradients at x*": """
Y = ft.Quantity("Y", ft.heterogeneity)
CLAIMS = pair(of(ft.ConvexLipschitz(M), clients=(2, 3)), *(ft.inequality(Y <= M**2 / c) for c in (1, 2)))
""",
    "ConvexLipschitz, its values": """
def root(problem, params, state):
    return ft.gap(problem, params, state) - params.p * ft.distance(problem, params, state)


method = ft.method("gradient-descent", step, ["gamma", "p"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.ConvexLipschitz(M), clients=(1, 2))
V, _ = quantities(root, "V")
CLAIMS = pair(setting, *(ft.inequality(V <= M**2 / (c * p)) for c in (4, 5)))
""",
    "BoundedDissimilarity": """
setting = of(ft.BoundedDissimilarity(ft.SmoothConvex(L), s), clients=(2, 3))
H, _ = quantities(ft.heterogeneity, "H")
CLAIMS = pair(setting, ft.inequality(H <= s**2), ft.inequality(2 * H <= s**2))
""",
    # Beyond M/L from x* values grow as a line does: neither smoothness nor the bound of the gradients says it alone.
    "SmoothConvexLipschitz": """
setting = ft.Setting(algorithm=rooted, functions=ft.SmoothConvexLipschitz(L, M), clients=(1,))
lines = (ft.inequality(F <= p * D + M**2 / (4 * p) - c * M**2 / (10 * L)) for c in (5, 6))
CLAIMS = pair(setting, *lines, (2 * p <= L,))
""",
    "SmoothConvexLipschitz, each": """
setting = of(ft.SmoothConvexLipschitz(alpha, beta), clients=(2,))
half = sympy.Rational(1, 2)
CLAIMS = pair(setting, *(ft.one_step(gd, E(D_next) <= D - 2 * gamma * F + c * (gamma * beta) ** 2) for c in (1, half)))
""",
    "SmoothConvexLipschitz, smooth": """
falls = ft.one_step(gd, E(F_next) <= F - gamma * (1 - gamma * L / 2) * G)
setting = of(ft.SmoothConvexLipschitz(L, M), clients=(1, 2))
CLAIMS = pair(setting, falls, ft.inequality(G <= M**2 / 2), short)
""",
    # What holds of smooth functions up to 2/L holds up to 1/L.
    "ConvexQuadraticGrowth": """
setting = of(ft.ConvexQuadraticGrowth(L), clients=(1, 2))
steps = (ft.one_step(gd, E(D_next) <= D - 2 * gamma * F) for _ in range(2))
CLAIMS = pair(setting, *steps, short, (5 * gamma * L <= 6,))
""",
    "ConvexQuadraticGrowth, steep": """
setting = of(ft.ConvexQuadraticGrowth(alpha), clients=(1,))
CLAIMS = pair(setting, *(ft.inequality(G <= c * alpha**2 * D) for c in (4, sympy.Rational(39, 10))))
""",
    "ConvexQuadraticGrowth, not smooth": """
setting = of(ft.ConvexQuadraticGrowth(L), clients=(1, 2))
CLAIMS = pair(setting, ft.inequality(2 * F <= L * D), ft.one_step(gd, E(F_next) <= F), (), short)
""",
    "BlockSmoothConvex": """
def along(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.part(slope(problem, state.x), 0)}


def part(problem, params, state):
    return (problem.part(slope(problem, state.x), 0) ** 2).sum(axis=-1)


block = ft.method("one-block", along, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=block, functions=ft.BlockSmoothConvex((alpha, beta)), clients=(1, 2))
falls = ft.one_step(block, E(F_next) <= F - gamma * (1 - gamma * alpha / 2) * ft.Quantity("P", part))
CLAIMS = pair(setting, falls, ft.one_step(block, E(D_next) <= D), (gamma * alpha <= 1,))
""",
    # Along all coordinates together f is smooth with the sum.
    "BlockSmoothConvex, the sum": """
setting = of(ft.BlockSmoothConvex((alpha, beta)), clients=(1, 2))
CLAIMS = pair(setting, *(ft.inequality(G <= 2 * c * F) for c in (alpha + beta, sympy.Max(alpha, beta))))
""",
    "RestrictedSecant": """
setting = of(ft.RestrictedSecant(mu, L), clients=(1, 2))
one, other = (ft.contracts(gd, ft.distance, 1 - 2 * gamma * mu + c * gamma**2 * L**2) for c in (1, 0))
CLAIMS = pair(setting, one, other)
""",
    # Of smooth functions f falls.
    "RestrictedSecant, neither convex nor smooth": """
setting = of(ft.RestrictedSecant(mu, L), clients=(1,))
CLAIMS = pair(setting, ft.inequality(mu * D <= 2 * F), ft.one_step(gd, E(F_next) <= F), (), (gamma * L <= 1,))
""",
    "RestrictedSecant, its bounds": """
setting = of(ft.RestrictedSecant(alpha, beta), clients=(2,))
CLAIMS = pair(setting, ft.inequality(G <= beta**2 * D), ft.inequality(G <= 2 * beta * F))
""",
    "Composite": """
def both(problem, params, state, draw):
    target = (state.x - params.gamma * slope(problem, state.x))[..., None, :] / params.gamma
    return {"x": problem.g.resolvent(1 / params.gamma, target)[..., 0, :]}


splitting = ft.method("proximal-gradient", both, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=splitting, functions=ft.Composite(ft.SmoothStronglyConvex(mu, L)), clients=(1, 2))
CLAIMS = pair(setting, *(ft.contracts(splitting, ft.distance, (1 - gamma * mu) ** c) for c in (2, 3)), short)
""",
    "Constrained": """
def projected(problem, params, state, draw):
    return {"x": problem.project(state.x - params.gamma * slope(problem, state.x))}


projecting = ft.method("projected-gradient", projected, ["gamma"], {"x": "feasible"})
setting = ft.Setting(algorithm=projecting, functions=ft.Constrained(ft.SmoothStronglyConvex(mu, L)), clients=(1, 2))
CLAIMS = pair(setting, *(ft.contracts(projecting, ft.distance, (1 - gamma * mu) ** c) for c in (2, 3)), short)
""",
    "Coupled": """
k, tau = ft.letters("k tau")


def coupled(problem, params, state, draw):
    target = state.x / params.tau - problem.K.T(state.y)
    x = problem.f.resolvent(1 / params.tau, target[..., None, :])[..., 0, :]
    y = state.y + params.sigma * problem.K(2 * x - state.x)
    return {"x": x, "y": y - params.sigma * problem.h.resolvent(params.sigma, y[..., None, :])[..., 0, :]}


def energy(problem, params, state):
    x, y = state.x - problem.x_star, state.y - problem.u_star
    return (x * (x / params.tau - 2 * problem.K.T(y))).sum(axis=-1) + (y**2).sum(axis=-1) / params.sigma


primal_dual = ft.method("primal-dual", coupled, ["tau", "sigma"], {"x": "point", "y": "dual"})
setting = ft.Setting(algorithm=primal_dual, functions=ft.Coupled(ft.Convex(), k), clients=(1,))
V, V_next = quantities(energy, "V")
step_of = ft.one_step(primal_dual, E(V_next) <= V)
CLAIMS = pair(setting, step_of, step_of, (tau * sigma * k**2 <= 1,), (tau * sigma * k**2 <= 2,))
""",
    "ConvexSet": """
def averaged(problem, params, state, draw):
    return {"x": problem.f.project(state.x[..., None, :]).mean(axis=-2)}


projections = ft.method("averaged-projections", averaged, [], {"x": "point"})
setting = ft.Setting(algorithm=projections, functions=ft.ConvexSet(), clients=(1, 2))
CLAIMS = pair(setting, ft.one_step(projections, E(D_next) <= D), ft.one_step(projections, E(D_next) <= D / 2))
""",
    "Relative": """
def mirrored(problem, params, state, draw):
    at = state.x[..., None, :]
    return {"x": problem.mirror(problem.h.gradient(at)[..., 0, :] - params.gamma * slope(problem, state.x))}


def divergence(problem, params, state):
    return problem.divergence(problem.x_star, state.x)


mirroring = ft.method("mirror-descent", mirrored, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=mirroring, functions=ft.Relative(ft.SmoothStronglyConvex(mu, L)), clients=(1, 2))
V, V_next = quantities(divergence, "V")
CLAIMS = pair(setting, *(ft.one_step(mirroring, E(V_next) <= (1 - gamma * mu) ** c * V) for c in (1, 2)), short)
""",
    # x* is no minimiser of f alone.
    "Composite, the f_i alone": """
def of_y(problem, params, state):
    return (problem.y_star.sum(axis=-2) ** 2).sum(axis=-1) / problem.n**2


functions = ft.Composite(ft.SmoothStronglyConvex(mu, L))
setting = of(functions, clients=(1, 2))
kept = ft.one_step(gd, E(D_next) <= (1 - gamma * mu) * D)
tilted = ft.one_step(gd, E(D_next) <= (1 - gamma * mu) * D + gamma / mu * ft.Quantity("Y", of_y))
CLAIMS = pair(setting, tilted, kept, short)
""",
    # Members without convexity: what holds of convex functions falls.
    "Smooth": """
CLAIMS = pair(of(ft.Smooth(L), clients=(1, 2)), descent, ft.contracts(gd, ft.distance, 1), (), short)
""",
    "Smooth, with a letter that says nothing": """
CLAIMS = pair(of(ft.Smooth(mu, L), clients=(1, 2)), descent, ft.one_step(gd, E(F_next) <= F - gamma * G), ())
""",
    "Smooth, at least f*": """
CLAIMS = pair(of(ft.Smooth(L), clients=(1,)), ft.inequality(G <= 2 * L * F), ft.inequality(F <= L / 4 * D))
""",
    "WeaklyConvex": """
falls = ft.one_step(gd, E(F_next) <= F - gamma * (1 - gamma * r / 2) * G)
CLAIMS = pair(of(ft.WeaklyConvex(s, r), clients=(1,)), falls, ft.contracts(gd, ft.distance, 1), (), (gamma * r <= 1,))
""",
    "WeaklyConvex, its modulus": """
def product(problem, params, state):
    return (slope(problem, state.x) * (state.x - problem.x_star)).sum(axis=-1)


P, _ = quantities(product, "P")
CLAIMS = pair(of(ft.WeaklyConvex(s, r), clients=(1,)), ft.inequality(F <= P + s / 2 * D), ft.inequality(F <= P))
""",
    "StronglyConvexOnAverage": """
one, ten = ft.contracts(gd, ft.distance, 1 - gamma * mu), ft.contracts(gd, ft.distance, (1 - gamma * mu) ** 10)
CLAIMS = pair(of(ft.StronglyConvexOnAverage(mu, L), clients=(2,)), one, ten, short)
""",
    "StronglyConvexOnAverage, not each": """
def apart(problem, params, state):
    return ((problem.f.gradient(state.x[..., None, :]) - problem.y_star) ** 2).sum(axis=(-1, -2)) / problem.n


A, _ = quantities(apart, "A")
setting = of(ft.StronglyConvexOnAverage(mu, L), clients=(2,))
CLAIMS = pair(setting, ft.inequality(A <= 2 * L * F), ft.inequality(A <= L * F))
""",
    "OneStronglyConvex": """
shared, alone = ft.contracts(gd, ft.distance, 1 - gamma * mu / n), ft.contracts(gd, ft.distance, 1 - gamma * mu)
CLAIMS = pair(of(classes.OneStronglyConvex(mu, L), clients=(2,)), shared, alone, short)
""",
    "SmoothEach": """
one, three = ft.contracts(gd, ft.distance, 1 - gamma * mu), ft.contracts(gd, ft.distance, (1 - gamma * mu) ** 3)
CLAIMS = pair(of(ft.SmoothEach(mu, L), clients=(1, 2)), one, three, short)
""",
    "SmoothOwn": """
def first(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x)}


def gap(problem, params, state):
    return problem.f.value(state.x).sum(axis=-1)


def squares(problem, params, state):
    return (problem.f.gradient(state.x) ** 2).sum(axis=(-1, -2))


def parameters(recipe, problem, exact):
    each = [c["r"] for c in recipe["clients"]]
    return own.Params(*numbers([recipe["gamma"], max(each)], exact), numbers(each, exact))


def origin(problem, params):
    return own.State(zeros(problem.n, problem.d))


own = ft.method("own", first, ["gamma", "r_max", "r"], {"x": "clients"}, fixed_point=origin)
top = sympy.Symbol("r_max", positive=True)
(H, H_next), (S, _) = quantities(gap, "H"), quantities(squares, "S")
setting = ft.Setting(
    algorithm=own,
    functions=classes.SmoothOwn(),
    letters={gamma: "gamma", top: "r_max"},
    drawing=ft.Drawing(parameters=parameters),
    clients=(1, 2),
)
falls = ft.one_step(own, E(H_next) <= H - gamma * (1 - gamma * top / 2) * S)
CLAIMS = pair(setting, falls, ft.one_step(own, E(H_next) <= H - gamma * S))
""",
    "SmoothBlocks": """
def first(problem, params, state, draw):
    return {"x": state.x - params.gamma * problem.f.gradient(state.x)}


def gap(problem, params, state):
    return problem.f.value(state.x).sum(axis=-1)


def squares(problem, params, state):
    return (problem.f.gradient(state.x) ** 2).sum(axis=(-1, -2))


def parameters(recipe, problem, exact):
    return blocks.Params(numbers([recipe["gamma"]], exact)[0], numbers([c["L"] for c in recipe["clients"]], exact))


def origin(problem, params):
    return blocks.State(zeros(problem.n, problem.d))


blocks = ft.method("blocks", first, ["gamma", "L"], {"x": "clients"}, fixed_point=origin)
top = sympy.Symbol("L_max", positive=True)
(H, H_next), (S, _) = quantities(gap, "H"), quantities(squares, "S")
setting = ft.Setting(
    algorithm=blocks,
    functions=classes.SmoothBlocks(mu, top, optimum="none"),
    letters={gamma: "gamma", mu: "mu", top: "L"},
    drawing=ft.Drawing(parameters=parameters),
    clients=(1, 2),
)
falls = ft.one_step(blocks, E(H_next) <= H - gamma * (1 - gamma * top / 2) * S)
CLAIMS = pair(setting, falls, ft.one_step(blocks, E(H_next) <= H - gamma * S))
""",
    "PolyakLojasiewicz": """
one, three = ft.contracts(gd, ft.gap, 1 - gamma * mu), ft.contracts(gd, ft.gap, (1 - gamma * mu) ** 3)
CLAIMS = pair(of(ft.PolyakLojasiewicz(mu, L), clients=(1, 2)), one, three, short)
""",
    "PolyakLojasiewicz, other letters": """
one = ft.contracts(gd, ft.gap, 1 - gamma * alpha)
other = ft.contracts(gd, ft.distance, 1 - gamma * alpha)
CLAIMS = pair(of(ft.PolyakLojasiewicz(alpha, beta), clients=(1, 2)), one, other, (gamma * beta <= 1,))
""",
    # Of convex functions f(x) - f* is at most <grad f(x), x - x*>.
    "PolyakLojasiewicz, not convex": """
def product(problem, params, state):
    return (slope(problem, state.x) * (state.x - problem.x_star)).sum(axis=-1)


P, _ = quantities(product, "P")
CLAIMS = pair(of(ft.PolyakLojasiewicz(mu, L), clients=(1,)), ft.inequality(2 * mu * F <= G), ft.inequality(F <= P))
""",
    # The condition is of the average.
    "PolyakLojasiewicz, not each": """
def squares(problem, params, state):
    return ((problem.f.gradient(state.x[..., None, :]) - problem.y_star) ** 2).sum(axis=(-1, -2)) / problem.n


S, _ = quantities(squares, "S")
setting = of(ft.PolyakLojasiewicz(mu, L), clients=(2,))
CLAIMS = pair(setting, ft.inequality(2 * mu * F <= S), ft.inequality(S <= 2 * L * F))
""",
}

ADVERSARIES = {
    "UnbiasedCompressors": """
def compressed(problem, params, state, draw):
    sent = params.compressors.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * sent.sum(axis=-2) / problem.n}


dcgd = ft.method("dcgd", compressed, ["gamma", "compressors"], {"x": "point"})
setting = ft.Setting(
    algorithm=dcgd, functions=ft.SmoothStronglyConvex(mu, L), adversaries=(ft.UnbiasedCompressors(),), clients=(1,)
)
one, three = (ft.contracts(dcgd, ft.distance, (1 - gamma * mu) ** c) for c in (1, 3))
CLAIMS = pair(setting, one, three, (gamma * L * (1 + omega) <= 1,))
""",
    "UnbiasedCompressors, independent": """
def mean(problem, params, state, draw):
    sent = params.compressors.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * sent.sum(axis=-2) / problem.n}


def noise(problem, params, state):
    return (problem.f.gradient(state.x[..., None, :]) ** 2).sum(axis=(-1, -2)) / problem.n


dcgd = ft.method("dcgd", mean, ["gamma", "compressors"], {"x": "point"})
functions, U = ft.SmoothStronglyConvex(mu, L), ft.UnbiasedCompressors
independent, any_ = (
    ft.Setting(algorithm=dcgd, functions=functions, adversaries=(U(independent=alone),), clients=(2,))
    for alone in (True, False)
)
N, _ = quantities(noise, "N")
statement = ft.one_step(dcgd, E(D_next) <= (1 - gamma * mu) * D + gamma**2 * omega / n * N)
CLAIMS = (
    ft.Claim("mine/true", setting=independent, statement=statement, requires=short),
    ft.Claim("mine/false", setting=any_, statement=statement, requires=short),
)
""",
    "ContractiveCompressors": """
def sent(problem, params, state, draw):
    return {"x": state.x, "e": state.e - params.compressor.apply(draw, state.e)}


def left(problem, params, state):
    return (state.e**2).sum(axis=(-1, -2))


memory = ft.method("memory", sent, ["alpha", "compressor"], {"x": "point", "e": "clients"})
setting = ft.Setting(
    algorithm=memory,
    functions=ft.SmoothStronglyConvex(mu, L),
    adversaries=(ft.ContractiveCompressors(),),
    clients=(1, 2),
)
CLAIMS = pair(setting, ft.contracts(memory, left, 1 - alpha), ft.contracts(memory, left, (1 - alpha) ** 2))
""",
}

ADVERSARIES["NoisyGradients"] = """
def noisy(problem, params, state, draw):
    sent = params.noise.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * sent.sum(axis=-2) / problem.n}


sgd = ft.method("sgd", noisy, ["gamma", "sigma", "noise"], {"x": "point"})
functions = ft.SmoothStronglyConvex(mu, L)
independent, any_ = (
    ft.Setting(algorithm=sgd, functions=functions, adversaries=(ft.NoisyGradients(independent=alone),), clients=(2,))
    for alone in (True, False)
)
statement = ft.one_step(sgd, E(D_next) <= (1 - gamma * mu) * D + gamma**2 * sigma**2 / n)
CLAIMS = (
    ft.Claim("mine/true", setting=independent, statement=statement, requires=short),
    ft.Claim("mine/false", setting=any_, statement=statement, requires=short),
)
"""
ADVERSARIES["NoisyGradients, minibatches"] = """
b = ft.integers("b")


def noisy(problem, params, state, draw):
    sent = params.noise.apply(draw, problem.f.gradient(state.x[..., None, :]))
    return {"x": state.x - params.gamma * sent[..., 0, :]}


sgd = ft.method("sgd", noisy, ["gamma", "sigma", "b", "noise"], {"x": "point"})
setting = ft.Setting(
    algorithm=sgd, functions=ft.Smooth(L), adversaries=(ft.NoisyGradients(batch="b"),), clients=(1,)
)
fall = F - gamma * (1 - gamma * L / 2) * G
one, root = (ft.one_step(sgd, E(F_next) <= fall + gamma**2 * L * sigma**2 / (2 * b**c)) for c in (1, 2))
CLAIMS = pair(setting, one, root)
"""
# Two answers to one sample have noise of which nothing else is known.
ADVERSARIES["NoisyGradients, one sample at two points"] = """
def noisy(problem, params, state, draw):
    one, other = (params.noise.apply(draw, problem.f.gradient(v[..., None, :]))[..., 0, :] for v in (state.x, state.y))
    return {"x": state.x - params.gamma * one, "y": state.y - params.gamma * other}


def apart(problem, params, state):
    return ((state.x - state.y) ** 2).sum(axis=-1)


two = ft.method("two", noisy, ["gamma", "sigma", "noise"], {"x": "point", "y": "point"})
functions = ft.SmoothStronglyConvex(mu, L)
setting = ft.Setting(algorithm=two, functions=functions, adversaries=(ft.NoisyGradients(),), clients=(1,))
A, A_next = quantities(apart, "A")
both = ft.one_step(two, E(A_next) <= (1 - gamma * mu) * A + 4 * gamma**2 * sigma**2)
less = ft.one_step(two, E(A_next) <= (1 - gamma * mu) * A)
CLAIMS = pair(setting, both, less, short)
"""

ADVERSARIES["InexactOracles"] = """
from fedtheory.problems.oracles import worst_case
from fedtheory.randomness import Constant

delta = sympy.Symbol("delta", positive=True)


def asked(problem, params, state, draw):
    return {"y": state.y, "w": params.oracle.answer(problem.f, state.y, state.w, draw).w}


def error(problem, params, state):
    return ((state.w - problem.f.conjugate_gradient(state.y)) ** 2).sum(axis=(-1, -2))


def fixed(problem, params):
    return asking.State(problem.y_star, problem.f.conjugate_gradient(problem.y_star))


def drawn(rng, recipe):
    share = sympy.Rational(int(rng.integers(1, 5)), 5)
    clients = tuple({**c, "slack": Fraction(int(share.p), int(share.q))} for c in recipe["clients"])
    return {**recipe, "delta": clients[0]["slack"] ** 2, "clients": clients}


def parameters(recipe, problem, exact):
    delta = numbers([recipe["delta"]], exact)[0]
    return asking.Params(delta, worst_case(numbers([c["slack"] for c in recipe["clients"]], exact)))


from fractions import Fraction

parts = {"y": "clients", "w": "clients"}
asking = ft.method("asking", asked, ["delta", "oracle"], parts, draws=lambda *_: Constant(), fixed_point=fixed)
setting = ft.Setting(
    algorithm=asking,
    functions=ft.SmoothStronglyConvex(mu, L, conjugates=True),
    adversaries=(classes.InexactOracles(lambda problem, params: params.delta),),
    letters={delta: "delta"},
    drawing=ft.Drawing(draw=drawn, parameters=parameters),
    clients=(1, 2),
)
CLAIMS = pair(setting, ft.contracts(asking, error, delta), ft.contracts(asking, error, delta**2))
"""

#: Each with the verdict of the true one.
KINDS = {
    "Bound": (
        "supported",
        """
D_T = ft.Quantity("D_T", ft.distance, after=True)
setting = of(ft.SmoothStronglyConvex(mu, L), drawing=ft.Drawing(start=("x",)), clients=(1,))
one, three = (ft.bound(gd, E(D_T) <= (1 - gamma * mu) ** (c * T) * D) for c in (1, 3))
CLAIMS = pair(setting, one, three, short)
""",
    ),
    "Inequality": (
        "supported",
        """
setting = of(ft.SmoothStronglyConvex(mu, L), clients=(1,))
CLAIMS = pair(setting, ft.inequality(mu * D <= 2 * F), ft.inequality(mu * D <= F))
""",
    ),
    "Identity": (
        "supported",
        """
def twice(problem, params, state):
    return ((2 * state.x - 2 * problem.x_star) ** 2).sum(axis=-1)


W, _ = quantities(twice, "W")
setting = of(ft.SmoothStronglyConvex(mu, L), clients=(1,))
CLAIMS = pair(setting, ft.identity(W, 4 * D), ft.identity(W, 2 * D))
""",
    ),
    "OneStep": (
        "supported",
        """
def product(problem, params, state):
    return (slope(problem, state.x) * (state.x - problem.x_star)).sum(axis=-1)


P, _ = quantities(product, "P")
exact, half = (ft.one_step(gd, E(D_next) <= D - 2 * gamma * P + c * gamma**2 * G) for c in (1, sympy.Rational(1, 2)))
CLAIMS = pair(of(ft.SmoothConvex(L), clients=(1,)), exact, half)
""",
    ),
    "Invariant": (
        "supported",
        """
def moved(problem, params, state, draw):
    return {"x": state.x - params.gamma * state.h, "h": state.h}


def gone(problem, params, state, draw):
    return {"x": state.x - params.gamma * state.h, "h": 2 * state.h + state.x}


def none(problem, params, state):
    return state.h


def fixed(problem, params):
    return still.State(problem.x_star, 0 * problem.x_star)


parts = {"x": "point", "h": "point"}
still, growing = (
    ft.method(one.__name__, one, ["gamma"], parts, fixed_point=fixed, invariant=none) for one in (moved, gone)
)
setting = ft.Setting(algorithm=still, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,))
CLAIMS = pair(setting, ft.Invariant(still, none, "h = 0"), ft.Invariant(growing, none, "h = 0"))
""",
    ),
    "Limit": (
        "supported",
        """
def away(problem, params, state, draw):
    return {"x": problem.x_star + 2 * (state.x - problem.x_star)}


gone = ft.method("gone", away, ["gamma"], {"x": "point"})
functions = ft.SmoothStronglyConvex(mu, L)
here, there = (ft.Setting(algorithm=m, functions=functions, clients=(1,)) for m in (gd, gone))
D_gone = ft.Quantity("D", ft.distance)
CLAIMS = (
    ft.Claim("mine/true", setting=here, statement=ft.Limit(gd, D_gone, "x -> x*"), requires=short),
    ft.Claim("mine/false", setting=there, statement=ft.Limit(gone, D_gone, "x -> x*"), requires=short),
)
""",
    ),
    "ParameterRule": (
        "proved",
        """
rule, wrong = (ft.ParameterRule({gamma: c / (mu + L)}, (gamma * L <= 2,)) for c in (2, 3))
CLAIMS = pair(ft.Setting("0 < mu <= L", letters=(mu, L), domain=(mu <= L,)), rule, wrong)
""",
    ),
    "Order": (
        "supported",
        """
setting = ft.Setting("mu, L > 0", letters=(mu, L), domain=(mu <= L,))
CLAIMS = pair(setting, ft.Order(mu + L, L, when=(mu <= L,)), ft.Order(L, mu, when=(mu <= L,)))
""",
    ),
    "CompressorClass": (
        "supported",
        """
def kept(d, k):
    from fractions import Fraction

    return bernoulli(d, Fraction(d, k) - 1)


CLAIMS = (
    ft.compressor_claim("mine/true", kept, omega=ft.d / ft.k - 1, bits=32 * ft.d + 1),
    ft.compressor_claim("mine/false", kept, omega=ft.d / ft.k - 1 - ft.d / (100 * ft.k), bits=32 * ft.d + 1),
)
""",
    ),
    "Bernoulli": (
        "supported",
        """
def lazily(problem, params, state, draw):
    return {"x": np.where(np.asarray(draw)[..., None], state.x - params.gamma * slope(problem, state.x), state.x)}


def draws(problem, params, state):
    return ft.Bernoulli(params.p)


coin = ft.method("lazy", lazily, ["gamma", "p"], {"x": "point"}, draws=draws)
setting = ft.Setting(algorithm=coin, functions=ft.SmoothStronglyConvex(mu, L), clients=(1,), domain=(p <= 1,))
one, three = (ft.contracts(coin, ft.distance, 1 - c * p * gamma * mu) for c in (1, 3))
CLAIMS = pair(setting, one, three, short)
""",
    ),
    "Independent": (
        "supported",
        """
def some(problem, params, state, draw):
    g = problem.f.gradient(state.x[..., None, :])
    return {"x": state.x - params.gamma * np.where(np.asarray(draw)[..., None], g, 0 * g).sum(axis=-2) / problem.n}


def draws(problem, params, state):
    return ft.Independent(ft.Bernoulli(params.p), problem.n)


coins = ft.method("coins", some, ["gamma", "p"], {"x": "point"}, draws=draws)


def squares(problem, params, state):
    return (problem.f.gradient(state.x[..., None, :]) ** 2).sum(axis=(-1, -2)) / problem.n


S, _ = quantities(squares, "S")
setting = ft.Setting(algorithm=coins, functions=ft.SmoothStronglyConvex(mu, L), clients=(2,), domain=(p <= 1,))
noise = gamma**2 * p / n * S
full, less = (ft.one_step(coins, E(D_next) <= (1 - p * gamma * mu) * D + c * noise) for c in (1 - p, (1 - p) / 4))
CLAIMS = pair(setting, full, less, (gamma * p * L <= 1,))
""",
    ),
    "Permutation": (
        "certified",
        """
def order(problem, params, state):
    return ft.Permutation(2)


def epoch(problem, params, state, draw):
    x = state.x
    for here in draw:
        x = x - params.gamma * (here[..., None] * problem.f.gradient(x[..., None, :])).sum(axis=-2)
    return {"x": x}


reshuffling = ft.method("reshuffling", epoch, ["gamma"], {"x": "point"}, draws=order)
setting = ft.Setting(algorithm=reshuffling, functions=ft.SmoothStronglyConvex(mu, L), clients=(2,))
noisy, less = (
    ft.contracts(reshuffling, ft.distance, (1 - gamma * mu) ** 2, {ft.heterogeneity: gamma**3 * L * 2 / c})
    for c in (1, 20)
)
CLAIMS = pair(setting, noisy, less, (sympy.Eq(mu, 1), sympy.Eq(L, 2), sympy.Eq(4 * gamma, 1)))
""",
    ),
    "Coins": (
        "proved",
        """
def some(problem, params, state, draw):
    return {"x": state.x * np.where(draw[..., None], 1 + 0 * state.x, 0 * state.x)}


def all_coins(problem, params, state):
    return ft.Coins(params.p)


def square(problem, params, state):
    return (state.x**2).sum(axis=(-1, -2))


thinned = ft.method("thinned", some, ["p"], {"x": "clients"}, draws=all_coins)
largest, smallest = ft.letters("p_max p_min")
extremes = {largest: lambda problem, params: max(params.p), smallest: lambda problem, params: min(params.p)}
setting = ft.Setting(algorithm=thinned, functions=ft.SmoothConvex(L), own=("p",), letters=extremes)
CLAIMS = pair(setting, *(ft.contracts(thinned, square, c) for c in (largest, smallest)), (largest <= 1,))
""",
    ),
    "Categorical": (
        "proved",
        """
def one(problem, params, state, draw):
    taken = np.where(draw[..., None], state.x / params.p[..., None], 0 * state.x).sum(axis=-2, keepdims=True)
    return {"x": taken + 0 * state.x}


def choice(problem, params, state):
    return ft.Categorical(params.p)


def mean_square(problem, params, state):
    return (state.x**2).sum(axis=(-1, -2)) / problem.n


def rates(problem, params, state):
    return ((state.x**2).sum(axis=-1) / params.p).sum(axis=-1)


gathered = ft.method("gathered", one, ["p"], {"x": "clients"}, draws=choice)
total = ft.letters("p_sum")
setting = ft.Setting(
    algorithm=gathered,
    functions=ft.SmoothConvex(L),
    own=("p",),
    letters={total: lambda problem, params: params.p.sum()},
)
R, (_, V_next) = ft.Quantity("R", rates), quantities(mean_square, "V")
full, less = (ft.one_step(gathered, E(V_next) <= R * c) for c in (1, sympy.Rational(9, 10)))
CLAIMS = pair(setting, full, less, (sympy.Eq(total, 1),))
""",
    ),
    "UniformSubset": (
        "supported",
        """
tau = ft.integers("tau")


def some(problem, params, state, draw):
    g = problem.f.gradient(state.x[..., None, :])
    taken = np.where(np.asarray(draw)[..., None], g, 0 * g).sum(axis=-2) / params.tau
    return {"x": state.x - params.gamma * taken}


def draws(problem, params, state):
    return ft.UniformSubset(problem.n, params.tau)


subset = ft.method("subset", some, ["gamma", "tau"], {"x": "point"}, draws=draws)
setting = ft.Setting(algorithm=subset, functions=ft.SmoothStronglyConvex(mu, L), clients=(2,), domain=(tau <= n,))
noisy, plain = (
    ft.contracts(subset, ft.distance, 1 - gamma * mu, {ft.heterogeneity: c * gamma**2}) for c in (2, 0)
)
CLAIMS = pair(setting, noisy, plain, (2 * gamma * L <= 1,))
""",
    ),
}


def claims_of(path, text):
    file = path / "mine.py"
    file.write_text(HEAD + text)
    return load(file)


#: Verdicts on a true theorem, each stronger than those before it.
STRONGER = (Verdict.SUPPORTED, Verdict.CERTIFIED, Verdict.PROVED)


def examined(path, text, verdict):
    """Both theorems of a file get their verdicts; the counterexample to the false one is one when it is replayed."""
    true, false = claims_of(path, text)
    found, fallen = check(true), first_found(false)
    # What is certified at some parameters may be proved at all of them.
    assert found.verdict in STRONGER[STRONGER.index(verdict) :], found.note
    assert fallen.verdict is Verdict.REFUTED, fallen.note
    if fallen.counterexample is not None:
        left, right = fallen.counterexample.replay()
        assert left != right if fallen.counterexample.relation == "==" else left > right


#: Those that are tried each time; each takes seconds, and the others are with the slow tests.
FAST = {
    "Smooth",
    "Convex",
    "ConvexLipschitz",
    "Composite",
    "UnbiasedCompressors",
    "NoisyGradients",
    "OneStep",
    "Bernoulli",
}


def cases(names):
    return [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in names]


@pytest.mark.parametrize("name", cases(CLASSES))
def test_of_a_class_of_functions_what_is_true_is_not_refuted_and_what_is_false_is(tmp_path, name):
    examined(tmp_path, CLASSES[name], "supported")


#: Classes that have more constants than their letters.
OWN = ("SmoothEach", "SmoothOwn", "SmoothBlocks", "ConvexBlocks", "OneStronglyConvex", "StronglyConvexOnAverage")


#: Of each class of functions the file that tells nothing but the class, or its first.
PLAIN = {name.partition(",")[0]: name for name in reversed(CLASSES) if not name.startswith(OWN)}


@pytest.mark.parametrize("name", cases(PLAIN.values()))
def test_of_a_class_of_functions_what_is_true_is_certified_where_all_letters_are_numbers(tmp_path, name):
    true, _ = claims_of(tmp_path, CLASSES[name])
    found = check(at_numbers(true))
    # Constants that a class has and no letter names, as s = -mu, are not known to be fixed.
    sure = found.verdict in (Verdict.CERTIFIED, Verdict.PROVED)
    assert sure or "but its code depends on" in found.note, found.note


def at_numbers(claim):
    """The claim with the letters, and the number of clients, of one instance that meets its hypotheses."""
    recipes = islice(claim.instances.recipes(np.random.default_rng(0)), 200)
    built = [claim.instances.build(recipe, True) for recipe, _ in meeting(claim, recipes)]
    at = min((one for one in built if one.problem.L != one.problem.mu), key=lambda one: len(one.text))
    equations = (
        sympy.Eq(x, sympy.Rational(value.numerator, value.denominator), evaluate=False)
        for x, value in claim.setting.bind(at.problem, at.params).items()
        if isinstance(value, int | Fraction)
    )
    setting = replace(claim.setting, clients=(at.problem.n,))
    return replace(claim, setting=setting, requires=(*claim.requires, *(ft.Hypothesis(str(e), e) for e in equations)))


@pytest.mark.parametrize("name", cases(ADVERSARIES))
def test_of_a_class_of_compressors_too(tmp_path, name):
    examined(tmp_path, ADVERSARIES[name], "supported")


@pytest.mark.parametrize("name", cases(KINDS))
def test_of_a_kind_of_statement_or_a_distribution_too(tmp_path, name):
    verdict, text = KINDS[name]
    examined(tmp_path, text, verdict)
