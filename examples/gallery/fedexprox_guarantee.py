"""FedExProx: the guarantee first shown for it is no better than that of gradient descent, for no gamma and no alpha.

With L_gamma = L/(1 + gamma L) and a = alpha gamma it is the factor 1 - a (2 - a L_gamma) mu/(1 + gamma L), least
where a = 1/L_gamma: 1 - mu/(L_gamma (1 + gamma L)) = 1 - mu/L. What is attained is far better:
`fedtheory tight fedexprox-guarantee/step --own FILE --baseline gradient-descent`.
Source: Li, Acharya and Richtarik, The power of extrapolation in federated learning (2024), complexity
L_gamma (1 + gamma L_max); Anyszka, Gruntkowska, Tyurin and Richtarik, Tighter performance theory of FedExProx (2024).
"""

import fedtheory as ft

mu, L, gamma, extra = ft.letters("mu L gamma extra")


def after(problem, params, x):
    points = problem.f.resolvent(1 / params.gamma, x[..., None, :] / params.gamma + 0 * problem.y_star)
    return x + params.extra * (points.sum(axis=-2) / problem.n - x)


def step(problem, params, state, draw):
    return {"x": after(problem, params, state.x), "z": after(problem, params, state.z)}


def apart(problem, params, state):
    return ((state.x - state.z) ** 2).sum(axis=-1)


fedexprox = ft.method("fedexprox", step, ["gamma", "extra"], {"x": "point", "z": "point"})
setting = ft.Setting(algorithm=fedexprox, functions=ft.SmoothStronglyConvex(mu, L))
a, smooth = extra * gamma, L / (1 + gamma * L)
stated, without = (ft.contracts(fedexprox, apart, 1 - a * (2 - a * smooth) * c) for c in (mu / (1 + gamma * L), mu))
short = (a * smooth <= 2,)
CLAIMS = (
    ft.Claim("fedexprox-guarantee/step", setting=setting, statement=stated, requires=short),
    ft.Claim("fedexprox-guarantee/without-the-prox", setting=setting, statement=without, requires=short),
)
