"""FedADMM, Appendix B: displays of the proof of Theorem 3.1, on the inner steps."""

from __future__ import annotations

from typing import Any

import sympy

from fedtheory.kinds.identity import Identity
from fedtheory.kinds.inequality import Inequality
from fedtheory.numbers.rational import Array, square
from fedtheory.papers.fedadmm.displays import equal, inner_product
from fedtheory.papers.fedadmm.inner import CURVED, INNER, PENALTY, inner_step
from fedtheory.papers.fedadmm.letters import alpha_i, parts, r_i, rho, s_i, section, sigma_i
from fedtheory.problems.base import Problem
from fedtheory.settings.relations import Comparison, Quantity


def _next(problem: Problem, params: object, state: object) -> Array:
    """v^{l+1}."""
    return inner_step(problem, params, state, None)["v"]


def _slope(problem: Problem, params: Any, at: Array) -> Array:
    """alpha_i grad f_i at a point ``(..., d)``."""
    return params.alpha * problem.f.gradient(at[..., None, :])[..., 0, :]


def _against(of: Any) -> Any:
    """<v^{l+1} - v*, of(problem, params, v^l, v^{l+1})>."""

    def value(problem: Problem, params: object, state: Any) -> Array:
        after = _next(problem, params, state)
        return inner_product(after - problem.x_star, of(problem, params, state.v, after))

    return value


def _fresh(problem: Problem, params: object, v: Array, after: Array) -> Array:
    return _slope(problem, params, after) - _slope(problem, params, problem.x_star + 0 * v)


def _turned(problem: Problem, params: object, v: Array, after: Array) -> Array:
    return _slope(problem, params, after) - _slope(problem, params, v)


def _third_line(printed: bool) -> Any:
    """The first inner product of the third line: of grad f(v^{l+1}) - grad f(v^{l+1} - v^l), or as it should be."""

    def of(problem: Problem, params: object, v: Array, after: Array) -> Array:
        if printed:
            return _slope(problem, params, after) - _slope(problem, params, after - v)
        return _slope(problem, params, v) - _slope(problem, params, problem.x_star + 0 * v)

    return _against(of)


_e, _e_next, _step = parts("|v^l-v*|^2 |v^{l+1}-v*|^2 |v^{l+1}-v^l|^2")

_mixed, _first, _odd, _even, _second = parts(
    "<v^{l+1}-v*,v*-v^l> <v^{l+1}-v*,alpha_i(grad_f(v^{l+1})-grad_f(v*))> "
    "<v^{l+1}-v*,alpha_i(grad_f(v^{l+1})-grad_f(v^{l+1}-v^l))> <v^{l+1}-v*,alpha_i(grad_f(v^l)-grad_f(v*))> "
    "<v^{l+1}-v*,alpha_i(grad_f(v^{l+1})-grad_f(v^l))>"
)

_low = -alpha_i * s_i * _e_next

_QUANTITIES = {
    _e: lambda problem, params, state: square(state.v - problem.x_star),
    _e_next: lambda problem, params, state: square(_next(problem, params, state) - problem.x_star),
    _step: lambda problem, params, state: square(_next(problem, params, state) - state.v),
    _mixed: _against(lambda problem, params, v, after: problem.x_star - v),
    _first: _against(_fresh),
    _odd: _third_line(True),
    _even: _third_line(False),
    _second: _against(_turned),
}


def _of_lines(*symbols: sympy.Symbol) -> tuple[Quantity, ...]:
    return tuple(Quantity(symbol, _QUANTITIES[symbol]) for symbol in symbols)


def _lines(step: sympy.Symbol, sign: int) -> tuple[Any, Any, Any]:
    """The last three lines, with what Young's inequality leaves and the sign of the last term."""
    young = alpha_i * r_i / 2 * (_e_next + step)
    fourth = -(sigma_i + alpha_i * r_i) * _e_next - alpha_i * r_i * _mixed + young
    rest = sign * alpha_i * r_i / 2 * _e
    return fourth, -sigma_i * _e_next + rest, -(alpha_i * s_i + rho * alpha_i * r_i / 2) * _e_next + rest


def _printed_proof() -> Inequality:
    """The chain as printed: each line, and its ends."""
    fourth, fifth, last = _lines(_e_next, -1)
    links = (
        Comparison(_low, "<=", _first),
        *equal(_first, _odd + _second),
        Comparison(_odd + _second, "<=", fourth),
        *equal(fourth, fifth),
        Comparison(fifth, "<=", last),
    )
    return Inequality(_low, last, _of_lines(_e, _e_next, _mixed, _first, _odd, _second), also=links)


def _proof() -> tuple[Inequality, Identity]:
    """The inequalities of the chain, as differences that are not negative, and its equalities."""
    fourth, fifth, last = _lines(_step, 1)
    links = ((_low, _first), (_even + _second, fourth), (fifth, last))
    also = tuple(Comparison(sympy.S.Zero, "<=", high - low) for low, high in links)
    quantities = _of_lines(_e, _e_next, _step, _mixed, _first, _even, _second)
    below = Inequality(sympy.S.Zero, last - _low, quantities, also=also)
    return below, Identity(_first, _even + _second, quantities, also=(Comparison(fourth, "==", fifth),))


_BELOW, _EQUALITIES = _proof()

proof_of_theorem_31 = section("proof of Theorem 3.1", INNER, CURVED, PENALTY, id="theorem-3.1/proof")
APPENDIX_B = (
    proof_of_theorem_31(
        "",
        _printed_proof(),
        "the display that leads to (16), as printed (its signs and indices)",
        kind="inequality",
        tex=r"-\alpha_is_i\|\mathbf{v}_i^{\ell+1}-\mathbf{v}_i^*\|^2\leq\cdots\leq-(\alpha_is_i+\frac{\varrho"
        r"\alpha_ir_i}{2})\|\mathbf{v}_i^{\ell+1}-\mathbf{v}_i^*\|^2-\frac{\alpha_ir_i}{2}\|\mathbf{v}_i^{\ell}-"
        r"\mathbf{v}_i^*\|^2",
        uses=("eq-31", "eq-32", "eq-33"),
        reading="the chain that is to give (35), each of its lines, as the text at hand prints them. With the minus "
        "before alpha_i r_i/2 |v^l - v*|^2 it would say that v^l = v*; below it, w^{k+1} = v^{k+1} stands for "
        "v^{kappa+1}",
        literal_of="theorem-3.1/proof/repaired",
        flaw="The terms alpha_i r_i/2 (|v^{l+1} - v*|^2 + |v^{l+1} - v^l|^2) of Young's inequality, printed with the "
        "first of the two squares twice, leave + alpha_i r_i/2 |v^l - v*|^2, printed with a minus.",
    ),
    proof_of_theorem_31(
        "repaired",
        _BELOW,
        "the chain with grad f(v^l) - grad f(v*) in its third line, |v^{l+1} - v^l|^2 after Young's inequality, "
        "and "
        "a plus before alpha_i r_i/2 |v^l - v*|^2",
        kind="inequality",
        repairs="theorem-3.1/proof",
    ),
    proof_of_theorem_31(
        "repaired-equalities",
        _EQUALITIES,
        "the equalities of that chain",
        requires=(CURVED,),
        repairs="theorem-3.1/proof",
    ),
)

__all__ = ["APPENDIX_B"]
