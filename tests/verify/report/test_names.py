"""Names of quantities in LaTeX."""

from __future__ import annotations

import pytest

from verify.report.names import latex


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Psi", r"\Psi"),
        ("Psi_next", r"\Psi^{+}"),
        ("|x_hat-x*|^2", r"\|\hat{x} - x^{*}\|^2"),
        ("|h|_B^2", r"\|h\|_B^2"),
        ("<u-u*,x_hat>", r"\langle u - u^{*}, \hat{x}\rangle "),
        ("x'Gx", r"x^{\top}G x"),
        ("D*-D(alpha^T)", r"D^{*} - D(\alpha^T)"),
        ("f(w^(t+1))-f*", r"f(w^{t + 1}) - f^{*}"),
        ("u(z+)+D(x,z+)", "u(z^+) + D(x, z^+)"),
        ("grad_f(w^{tau_{k+1}})", r"\nabla f(w^{\tau_{k + 1}})"),
        ("sum_i(alpha_i*grad_f_i(w_i^k))", r"\sum_i(\alpha_i\, \nabla f_i(w_i^k))"),
        ("sum_{s<=t<k}|Dw^t|^2", r"\sum_{s \le t < k}\|\Delta w^t\|^2"),
        ("1-prod_j(1-|Omega^{tau+j}|/m)", r"1 - \prod_j(1 - |\Omega^{\tau + j}|/m)"),
        ("Lt^{max(k-s_0k_0,0)}", r"\tilde{L}^{\max(k - s_0k_0, 0)}"),
        ("P(one_window_covers)", r"P(\text{one window covers})"),
        ("sum_of_drifts", r"\text{sum of drifts}"),
        ("second_line_of_(15)", r"\text{second line of (15)}"),
        ("objective_of_(15)(v^2)", r"\text{objective of (15)}(v^2)"),
        ("right", r"\text{right}"),
        ("f(w~)", r"f(\tilde{w})"),
        ("|~grad h-grad h|^2", r"\|\tilde{\nabla} h - \nabla h\|^2"),
        ("P(K_t rises)", r"P(K_t\;\text{rises})"),
        ("<slope at z+, x-z+>", r"\langle \text{slope at}\;z^+, x - z^+\rangle "),
        ("lambda w, their mean", r"\lambda w, \text{their mean}"),
        ("X_k'w-y_k", r"X_k^{\top}w - y_k"),
    ],
)
def test_a_name(name, expected):
    assert latex(name) == expected


def test_a_sum_within_a_product_is_in_brackets():
    assert latex("G-G*", alone=False) == r"\left(G - G^{*}\right)"
    assert latex("|G-G*|", alone=False) == r"\|G - G^{*}\|"
    assert latex("sum_of_gaps", alone=False) == r"\,\text{sum of gaps}"


@pytest.mark.parametrize("name", ["(", "a^", "b_", "|x", "<", "}", "*", "_", ""])
def test_a_name_that_is_cut_off_is_read_all_the_same(name):
    assert isinstance(latex(name), str)
