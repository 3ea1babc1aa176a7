"""Heavy ball with Polyak's parameters: optimal on quadratics, but on other functions of the class it may cycle.

gamma = 4/(sqrt(L) + sqrt(mu))^2 and beta = ((sqrt(L) - sqrt(mu))/(sqrt(L) + sqrt(mu)))^2, here with L = 25 mu.
Source: Polyak (1964); the counterexample is of Lessard, Recht and Packard, Analysis and design of optimization
algorithms via integral quadratic constraints (2016), Section 4.6.
"""

import sympy

import fedtheory as ft

mu, L, gamma, beta = ft.letters("mu L gamma beta")


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope + params.beta * (state.x - state.before), "before": state.x}


heavy_ball = ft.method("heavy-ball", step, ["gamma", "beta"], {"x": "point", "before": "point"})
# Runs begin at any two points.
anywhere = ft.Drawing(start=("x", "before"))
quadratics, all_functions = (
    ft.Setting(
        algorithm=heavy_ball,
        functions=ft.SmoothStronglyConvex(mu, L, quadratics=only),
        clients=(1,),
        drawing=anywhere,
    )
    for only in (True, False)
)
vanishes = ft.Limit(heavy_ball, ft.Quantity("D", ft.distance), "x -> x*")
tuned = (sympy.Eq(L, 25 * mu), sympy.Eq(gamma, 1 / (9 * mu)), sympy.Eq(beta, sympy.Rational(4, 9)))
CLAIMS = (
    ft.Claim("heavy-ball-polyak/quadratics", setting=quadratics, statement=vanishes, requires=tuned),
    ft.Claim("heavy-ball-polyak/all-functions", setting=all_functions, statement=vanishes, requires=tuned),
)
