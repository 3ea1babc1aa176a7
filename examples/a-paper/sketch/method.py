"""A method, and what is claimed of it."""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    """A step of gradient descent on the average of the clients' functions."""
    gradient = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * gradient}


method = ft.method("descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), clients=(1, 2))


def claim(name, factor, **more):
    """That the squared distance to the optimum shrinks by a factor in every step."""
    statement = ft.contracts(method, ft.distance, factor)
    return ft.Claim(f"sketch/{name}", setting=setting, statement=statement, requires=(gamma * L <= 1,), **more)


CLAIMS = (
    claim("theorem", (1 - gamma * mu) ** 3, origin="printed", where="Theorem 1"),
    claim("theorem/repaired", (1 - gamma * mu) ** 2, repairs="sketch/theorem"),
    claim("corollary", 1 - gamma * mu, origin="printed", where="Corollary 1.1"),
    claim("weak", 1),
    claim("wrong", 0),
)
