"""A method, and what is claimed of it."""

import fedtheory as ft

mu, L, gamma = ft.letters("mu L gamma")


def step(problem, params, state, draw):
    """A step of gradient descent on the average of the clients' functions."""
    gradient = problem.f.gradient(state.x[..., None, :]).sum(axis=-2) / problem.n
    return {"x": state.x - params.gamma * gradient}


method = ft.method("descent", step, ["gamma"], {"x": "point"})
setting = ft.Setting(algorithm=method, functions=ft.SmoothStronglyConvex(mu, L), clients=(1, 2))
D = ft.Quantity("D", ft.distance)

theorem_1 = ft.section("sketch", "Theorem 1", setting, gamma * L <= 1)
corollary_1_1 = ft.section("sketch", "Corollary 1.1", setting, gamma * L <= 1)
CLAIMS = (
    theorem_1(
        "",
        ft.E(D.next) <= (1 - gamma * mu) ** 3 * D,
        "a step shrinks the squared distance to the optimum",
        tex=r"\|x^{t+1}-x^\star\|^2 \le (1-\gamma\mu)^3 \|x^t-x^\star\|^2",
        flaw="The distance is multiplied by 1 - gamma mu, and its square by no more than the square of that.",
    ),
    theorem_1("repaired", ft.E(D.next) <= (1 - gamma * mu) ** 2 * D, "with the square", repairs="theorem-1"),
    corollary_1_1(
        "",
        ft.E(D.T) <= (1 - gamma * mu) ** ft.T * D.zero,
        "and so do T steps",
        tex=r"\|x^T-x^\star\|^2 \le (1-\gamma\mu)^T \|x^0-x^\star\|^2",
        uses=("theorem-1",),
    ),
    corollary_1_1(
        "factor",
        (1 - gamma * mu) ** 2 <= 1 - gamma * mu,
        "the square is the smaller factor",
        origin="implied",
        setting=ft.Setting("all values of the constants"),
        requires=(mu <= L, gamma * L <= 1),
    ),
)
