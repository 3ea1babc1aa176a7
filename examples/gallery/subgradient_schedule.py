"""The subgradient method with stepsizes gamma_k = c/(k + 1), and the least of f(x_0) - f*, ..., f(x_{T-1}) - f*.

It is at most (|x_0 - x*|^2 + M^2 sum_k gamma_k^2)/(2 sum_k gamma_k).
Source: Shor (1962); Boyd, Xiao and Mutapcic, Subgradient methods (2003), Section 3.
"""

import sympy

import fedtheory as ft

M, c = ft.letters("M c")
k, T = ft.round_index, ft.T
gamma = c / (k + 1)


def step(problem, params, state, draw):
    slope = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * slope}


method = ft.method("subgradient", step, ["c"], {"x": "point"}, schedules={"gamma": gamma})
setting = ft.Setting(algorithm=method, functions=ft.ConvexLipschitz(M))
F, D_0 = ft.Quantity("F", ft.gap), ft.Quantity("D_0", ft.distance)
lengths, squares = (sympy.Sum(of, (k, 0, T - 1)) for of in (gamma, gamma**2))
two, six = (
    ft.bound(method, ft.minimum(F, expected=True) <= (D_0 + M**2 * squares) / (by * lengths), since=1) for by in (2, 6)
)
CLAIMS = (
    ft.Claim("subgradient-schedule/least", setting=setting, statement=two),
    ft.Claim("subgradient-schedule/thrice-as-fast", setting=setting, statement=six),
)
