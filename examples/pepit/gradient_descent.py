"""Gradient descent on smooth convex functions, as a model for PEPit: f(x_n) - f* after n steps from |x_0 - x*| <= 1."""

from PEPit import PEP
from PEPit.functions import SmoothConvexFunction


def wc_gradient_descent(L=1, gamma=1, n=3, verbose=1):
    """The worst case of n steps of length gamma on convex functions with an L-Lipschitz gradient."""
    problem = PEP()
    f = problem.declare_function(SmoothConvexFunction, L=L)
    minimiser = f.stationary_point()
    x = problem.set_initial_point()
    problem.set_initial_condition((x - minimiser) ** 2 <= 1)
    for _ in range(n):
        x = x - gamma * f.gradient(x)
    problem.set_performance_metric(f(x) - f(minimiser))
    # Beside PEPit's number what is known: Drori and Teboulle (2014), for gamma <= 1/L.
    return problem.solve(verbose=verbose), L / (4 * n * gamma * L + 2)


if __name__ == "__main__":
    wc_gradient_descent(L=1, gamma=1, n=3)
