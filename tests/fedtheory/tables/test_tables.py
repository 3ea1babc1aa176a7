"""Complexity tables and maps: derived entries, comparison, numbers, formats, bad input."""

from __future__ import annotations

import csv
import html.parser
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
import sympy

from fedtheory import claims, compressors, tables
from fedtheory.kinds.order import Order
from fedtheory.papers.locodl import complexity, d, k, kappa, n, omega
from fedtheory.papers.locodl import tables as locodl_tables
from fedtheory.tables import growth
from fedtheory.tables.regions import LetterRange, axis, regions
from fedtheory.tables.rendering import plain, prose, render
from verify.cli import main
from verify.comparisons import orders
from verify.exact import magnitudes
from verify.report import figures

AT = {"n": 100, "d": 300, "kappa": 1e4}


def le(left, right):
    return sympy.Le(left, right, evaluate=False)


KAPPA, CLIENTS, DIMENSION, SMALL = le(1, kappa), le(1, n), le(1, d), le(n, d)
EVERYWHERE = (KAPPA, CLIENTS, DIMENSION)


def column(table, index):
    return {row.key: row.entries[index] for row in table.rows}


def labelled(table, heading):
    index = [c.text for c in table.columns].index(heading)
    return {row.key: row.entries[index] for row in table.rows}


def best(table, index):
    return {key for key, entry in column(table, index).items() if entry.best}


def same(a, b):
    return sympy.expand(a - b) == 0


# Orders of growth


def test_domination_is_decided_on_the_cone():
    root = d * sympy.sqrt(kappa) / sympy.sqrt(n)
    assert growth.dominated(root, (kappa, d**2 / n), ())  # their geometric mean
    assert growth.dominated(d * sympy.sqrt(n), (d**2,), (SMALL, DIMENSION))
    assert not growth.dominated(d * sympy.sqrt(n), (d**2,), (SMALL,))  # d below 1
    assert not growth.dominated(d * sympy.sqrt(n), (d**2,), EVERYWHERE)
    assert not growth.dominated(kappa, (sympy.sqrt(kappa), d), EVERYWHERE)
    assert not growth.dominated(sympy.S.One, (omega,), (le(omega, n),))


def test_simplification_agrees_with_values_on_a_grid_and_a_planted_error_does_not():
    grid = np.meshgrid(*[np.geomspace(1, 1e8, 9)] * 3)
    s = sympy.Max(1, n / d)
    expression = sympy.ceiling(s * d / n) * sympy.sqrt(kappa) + sympy.Min(d, n) + d
    simple = growth.simplify(expression, EVERYWHERE)

    def spread(claimed):
        continuous = expression.subs(sympy.ceiling(s * d / n), sympy.Max(1, d / n))
        wide = [{"amax": lambda p, axis: np.maximum(*p), "amin": lambda p, axis: np.minimum(*p)}, "numpy"]
        ratio = sympy.lambdify((n, d, kappa), continuous / claimed, wide)(*grid)
        return ratio.max() / ratio.min()

    assert same(simple, sympy.sqrt(kappa) + d * sympy.sqrt(kappa) / n + d)
    assert spread(simple) < 10
    assert spread(simple - d) > 1e3


def test_what_is_no_sum_of_monomials_is_refused():
    with pytest.raises(ValueError, match="monomial"):
        growth.monomials(sympy.log(kappa))
    with pytest.raises(ValueError, match="monomial"):
        growth.monomials(kappa - d)
    with pytest.raises(ValueError, match="no sum of monomials"):
        growth.simplify(sympy.Min(d, n), EVERYWHERE)


# Tables of LoCoDL


def test_table_1_and_its_regimes_are_those_printed():
    table = tables.get("locodl/table-1")
    for key, (few, equal) in complexity.TABLE_1_REGIMES.items():
        first, second, third = (e.value for e in next(r for r in table.rows if r.key == key).entries)
        assert same(first, complexity.TABLE_1[key]) and same(second, few) and same(third, equal)


def test_table_2_is_the_one_printed_from_the_formulas_of_table_1(monkeypatch):
    table = tables.get("locodl/table-2")
    for row in table.rows:
        printed = complexity.TABLE_2[row.key]
        assert all(same(entry.value, value) for entry, value in zip(row.entries, printed, strict=True))
    # It is derived: a changed Table 1 changes it.
    changed = {**complexity.TABLE_1, "diana": complexity.TABLE_1["diana"] * sympy.sqrt(omega)}
    monkeypatch.setattr(locodl_tables, "TABLE_1", changed)
    assert not same(locodl_tables.uplink("diana", EVERYWHERE), complexity.TABLE_2["diana"][0])
    monkeypatch.setattr(locodl_tables, "BEST_K", {**complexity.BEST_K, "locodl": sympy.S.One})
    assert not same(locodl_tables.uplink("locodl", EVERYWHERE), complexity.TABLE_2["locodl"][0])


@pytest.mark.parametrize("key", list(complexity.BEST_K))
def test_the_derived_entries_have_the_order_of_what_they_simplify(key):
    # rand-k's own omega = d/k - 1, not the d/k of the derivation.
    exact = (k * complexity.TABLE_1[key]).subs(omega, d / k - 1).subs(k, complexity.BEST_K[key])
    claim = claims.get("locodl/table-2/from-table-1")
    derived = column(tables.get("locodl/table-2"), 0)[key].value
    for left, right in ((exact, derived), (derived, exact)):
        part = Order(left, right)
        assert not list(magnitudes.directions(part, orders.relations(claim, part)))


def test_state_of_the_art_by_comparison_in_each_regime():
    first, second = tables.get("locodl/table-1"), tables.get("locodl/table-2")
    ties = {"5gcs-cc", "adiana-refined", "locodl"}
    assert best(first, 0) == best(first, 1) == {"adiana-refined"}
    assert best(first, 2) == ties | {"adiana-original"}
    assert best(second, 0) == {"adiana-refined"}
    assert best(second, 1) == ties | {"compressedscaffnew"}


# Numbers


def test_at_gives_values_rounds_and_bits_with_the_best_marked():
    table = tables.get("locodl/table-2").at({**AT, "epsilon": 1e-6})
    value, rounds, bits = (labelled(table, c.text) for c in table.measures)
    assert value["locodl"].value == pytest.approx((300**0.5 + 30) * 100 + 300)
    assert {key for key, e in value.items() if e.best} == {"adiana-refined"}
    # DIANA, rand-1: the iterations of its theorem, 9 + 32 bits each.
    diana = max(1e4 * (1 + 6 * 299 / 100), 600) * np.log(1e6)
    assert rounds["diana"].value == pytest.approx(diana)
    assert bits["diana"].value == pytest.approx(diana * 41)
    # LoCoDL, rand-3 (k = ceil(d/n)): p iterations.
    p = ((1 + 0.99) * 100 / 1e4) ** 0.5
    rate = max((1 - 1e-4) ** 2, 1 - p**2 / (1.99 * 199))
    assert rounds["locodl"].value == pytest.approx(-p / np.log(rate) * np.log(1e6))
    assert bits["locodl"].value == pytest.approx(rounds["locodl"].value * compressors.rand_k(300, 3).bits)
    assert rounds["fedcomgate"].value is None and bits["fedcomgate"].value is None
    assert sum(e.best for e in bits.values()) == 1 and bits["5gcs-cc"].best


def test_without_epsilon_rounds_are_for_one_e_folding():
    with_epsilon = tables.get("locodl/table-2").at({**AT, "epsilon": float(np.exp(-10))})
    without = tables.get("locodl/table-2").at(AT)
    a, b = (labelled(t, "rounds, theorem")["locodl"].value for t in (with_epsilon, without))
    assert a == pytest.approx(10 * b) and "units of log(1/epsilon)" in without.note
    assert "units" not in with_epsilon.note


@pytest.mark.parametrize("power", [1, 3, 29, 47, 62])
def test_bits_are_exact_at_powers_of_two(power):
    size = 2**power
    table = tables.get("locodl/table-2").at({"n": size, "d": size, "kappa": 2})
    rounds, bits = (labelled(table, f"{what}, theorem")["diana"].value for what in ("rounds", "bits"))
    assert bits / rounds == pytest.approx(32 + power, rel=1e-12)


def test_edges_of_the_theorems_are_numbers_or_nothing():
    table = tables.get("locodl/table-2").at({"n": 1, "d": 1, "kappa": 1})
    rounds = labelled(table, "rounds, theorem")
    assert rounds["locodl"].value == 1  # a rate of 0 still takes a round
    assert all(e.value is None or np.isfinite(e.value) for row in table.rows for e in row.entries[2:])


def test_table_1_takes_omega_or_the_k_of_rand_k():
    table = tables.get("locodl/table-1")
    by_omega = labelled(table.at({"n": 100, "kappa": 1e4, "omega": 99}), "value of O()")
    by_k = table.at({"n": 100, "kappa": 1e4, "d": 300, "k": 3})
    assert by_omega == labelled(by_k, "value of O()")
    assert labelled(by_k, "bits, theorem")["locodl"].value > 0
    assert not by_omega["lower-bound"].best and by_omega["adiana-refined"].best
    with pytest.raises(ValueError, match="omega = d/k - 1 is 99, not 5"):
        table.at({"n": 100, "kappa": 1e4, "d": 300, "k": 3, "omega": 5})


def test_table_of_feddcd_with_common_letters():
    values = {"mu": 1, "L": 100, "n": 50, "m": 10, "zeta": 1, "sigma": 1, "K": 5, "epsilon": 1e-4}
    table = tables.get("feddcd/table-1").at(values)
    value, rounds = (labelled(table, c.text) for c in table.measures)
    log = np.log(1e4)
    assert value["mb-sgd"].value == pytest.approx(1e3 + 0.8 * 1e3 + 100 * log)
    assert value["fedavg"].value == pytest.approx(200 + 10 * (5 + 5**0.5) * 100 + 100 * log)
    assert value["scaffold"].value == pytest.approx(200 + 105 * log)
    assert value["feddcd"].value == pytest.approx(49 / 9 * 100 * log)
    assert value["accfeddcd"].best and rounds["accfeddcd"].best and rounds["mb-sgd"].value is None
    # eq. (5): zeta^2/alpha^2 (1 - r alpha/beta)^T <= epsilon.
    assert rounds["feddcd"].value == pytest.approx(log / -np.log(1 - 9 / 49 / 100))


def test_rates_in_the_common_vocabulary():
    table = tables.get("rates")
    m, clients = sympy.symbols("m n", integer=True, positive=True)
    factors = {row.label: row.entries[1].value for row in table.rows}
    assert sympy.simplify(factors["feddcd"] - (1 - (m - 1) / ((clients - 1) * kappa))) == 0
    assert factors["diana"] == claims.get("baseline/diana/one-step").statement.factor
    assert len(factors) == len(table.rows) >= 14
    values = {"n": 100, "d": 300, "kappa": 1e4, "m": 10, "omega": 99}
    rounds = {r.label: r.entries[2] for r in table.at(values).rows}
    first = tables.get("locodl/table-1").at({"n": 100, "kappa": 1e4, "omega": 99})
    theorems = {r.key: r.entries[4].value for r in first.rows}
    assert rounds["locodl"].value == pytest.approx(theorems["locodl"])
    # Rates in place of iterations: log(1/rate) >= 1 - rate.
    for name in ("diana", "ef21", "5gcs-cc"):
        assert 0.99 * theorems[name] < rounds[name].value <= theorems[name]
    assert rounds["scaffnew"].value == pytest.approx(100, rel=1e-3) and rounds["scaffnew"].best
    assert rounds["inexact-rbcd"].value is None


# Formats


class _Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.cells = [], 0

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.cells += tag in ("td", "th")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def every_table():
    values = {"n": 100, "d": 300, "kappa": 1e4}
    feddcd = {"mu": 1, "L": 100, "n": 50, "m": 10, "zeta": 1, "sigma": 1, "K": 5, "epsilon": 1e-4}
    numbers = {"feddcd/table-1": feddcd, "locodl/table-1": {"n": 9, "omega": 5, "kappa": 100}}
    for name in tables.builders():
        yield (table := tables.get(name))
        if table.letters:
            yield table.at(numbers.get(name) or {x: v for x, v in values.items() if x in table.letters})


def test_every_table_renders_in_every_format():
    for table in every_table():
        size = len(table.columns) + 1
        rendered = {format: render(table, format) for format in tables.FORMATS}
        assert all(text.endswith("\n") for text in rendered.values())
        for format, text in rendered.items():
            assert all((prose(row.label) if format == "latex" else row.label) in text for row in table.rows)
        assert "**" not in rendered["text"] and "sqrt{" not in rendered["text"]
        pipes = [line for line in rendered["markdown"].splitlines() if line.startswith("|")]
        assert len(pipes) == len(table.rows) + 2 and {line.count("|") for line in pipes} == {size + 1}
        lines = list(csv.reader(io.StringIO(rendered["csv"])))
        assert len(lines) == len(table.rows) + 1 and {len(line) for line in lines} == {size + 1}
        kept = json.loads(rendered["json"])
        assert [len(row["entries"]) for row in kept["rows"]] == [size - 1] * len(table.rows)
        tags = _Tags()
        tags.feed(rendered["html"])
        assert not tags.open and tags.cells == size * (len(table.rows) + 1)


def balanced(text):
    text = re.sub(r"(?<!\\)%.*", "", text)
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", text):
        depth += 1 if brace == "{" else -1
        assert depth >= 0
    environments = [sorted(re.findall(rf"\\{word}\{{(\w+)\}}", text)) for word in ("begin", "end")]
    brackets = [len(re.findall(rf"\\{word}(?![a-z])", text)) for word in ("left", "right")]
    dollars = len(re.findall(r"(?<!\\)\$", text))
    return depth == 0 and environments[0] == environments[1] and brackets[0] == brackets[1] and dollars % 2 == 0


def test_latex_is_a_float_with_caption_label_and_note():
    for table in every_table():
        text = render(table, "latex")
        assert balanced(text) and text.isascii()
        assert text.count(r"\caption{") == text.count(r"\label{tab:") == 1
        assert text.count(r"\begin{table*}") == 1 and r"\footnotesize" in text
        panels = re.findall(r"\\toprule\n(.*?)\\bottomrule", text, re.DOTALL)
        sizes = []
        for panel in panels:
            counts = {len(re.findall(r"(?<!\\)&", line)) for line in panel.splitlines() if r"\\" in line}
            assert len(counts) == 1
            sizes += counts
        assert sum(sizes) == len(table.columns)
        assert ("Bold:" in text) == any(e.best for row in table.rows for e in row.entries)
        outside = re.sub(r"\$[^$]*\$", "", re.sub(r"(?m)^%.*|\\label\{.*\}", "", text))
        assert not re.search(r"(?<!\\)[_^]", outside)
        assert not re.search(r"\b(epsilon|kappa|omega|sigma|alpha)\b", outside)
    assert not balanced(text.replace("{tabular}", "{tabular", 1))


def test_the_latex_of_table_2_reads_as_printed():
    rows = dict(
        line.split(" & ", 1) for line in render(tables.get("locodl/table-2"), "latex").splitlines() if " & " in line
    )
    formula = r"$\sqrt{\kappa} \left(\sqrt{d} + \dfrac{d}{\sqrt{n}}\right) + d$"
    assert rows["LoCoDL"] == formula + r" & {\boldmath $\dfrac{d \sqrt{\kappa}}{\sqrt{n}} + d$} \\"
    assert rows["EF21"] == r"$d \kappa$ & $d \kappa$ \\ \addlinespace"


def test_formulas_in_sentences_are_typeset():
    assert prose("gaps f(w) - f*, of eq. (5) and a node") == r"gaps $f(w) - f^{\star}$, of eq. (5) and a node"
    assert prose("log(1/epsilon) (sigma = K = 3)") == r"$\log(1/\epsilon)$ $(\sigma = K = 3)$"
    assert prose("(1, for LoCoDL ceil(d/n)); 50 %") == r"(1, for LoCoDL $\lceil d/n\rceil $); 50 \%"


def test_the_best_is_bold():
    table = tables.get("locodl/table-2").at(AT)
    row = next(line for line in render(table, "markdown").splitlines() if "ADIANA" in line)
    assert "**3400**" in row
    rows = [line for line in render(table, "latex").splitlines() if line.startswith("ADIANA")]
    assert any(r"\textbf{3400}" in row for row in rows)
    assert "<strong>3400</strong>" in render(table, "html")
    starred = next(line for line in render(table).splitlines() if line.startswith("ADIANA"))
    assert "* 3400" in starred
    entries = json.loads(render(table, "json"))["rows"][3]["entries"]
    assert entries[2] == {"column": "value of O()", "best": True, "value": pytest.approx(3400)}
    with pytest.raises(ValueError, match="unknown format 'doc'"):
        render(table, "doc")


def test_special_characters_are_escaped():
    table = tables.get("rates")
    odd = replace(table, rows=(replace(table.rows[0], label="50% _<a>"),))
    assert r"50\% \_<a>" in render(odd, "latex")
    assert "50% _&lt;a&gt;" in render(odd, "html")


def test_formulas_read_in_the_order_of_the_papers():
    table = tables.get("locodl/table-1")
    shown = {key: plain(entry.value) for key, entry in column(table, 1).items()}
    assert shown["diana"] == "kappa + omega"
    assert shown["locodl"] == "sqrt(kappa)*(1 + sqrt(omega)) + omega"
    assert shown["adiana-original"] == "sqrt(kappa)*(1 + omega^(3/4)/n^(1/4)) + omega"


# Maps


@pytest.fixture(scope="module")
def table_2_map():
    return regions(tables.get("locodl/table-2"), LetterRange("n", 1, 1e6), LetterRange("d", 1, 1e6), {"kappa": 1e4})


def winners(found, n_value, d_value):
    column = np.abs(np.log(found.x.values / n_value)).argmin()
    row = np.abs(np.log(found.y.values / d_value)).argmin()
    index = found.index[row, column]
    return set(found.groups[index]) if index >= 0 else set()


def test_the_map_of_table_2_shows_the_regimes_of_the_paper(table_2_map):
    ties = {"5GCS-CC", "ADIANA (He et al. 2023)", "CompressedScaffnew", "LoCoDL"}
    x, y = np.meshgrid(table_2_map.x.values, table_2_map.y.values)
    tied = [table_2_map.methods.index(name) for name in ties]
    # n = O(d): the four tie; the factor 2 is attained in the limit n = d.
    assert table_2_map.winners[tied][:, x <= y].all()
    assert winners(table_2_map, 100, 1000) == ties
    # n = Omega(d^2): ADIANA alone, where sqrt(d) is a factor and kappa exceeds d.
    alone = {"ADIANA (He et al. 2023)"}
    assert all(winners(table_2_map, value**2, value) == alone for value in (12, 30, 100, 300))
    assert winners(table_2_map, 1e6, 1e5) == ties | {"DIANA"}
    # In between too: by the printed formulas LoCoDL costs up to sqrt(d) times what ADIANA does.
    assert winners(table_2_map, 1e3, 100) == alone


def test_the_leading_terms_change_at_n_equal_to_d_squared(table_2_map):
    terms, leads = table_2_map.leading()
    x, y = np.meshgrid(table_2_map.x.values, table_2_map.y.values)
    by_term = dict(zip(terms, leads > 0, strict=True))
    far, low = x > 1.1 * y**2, y < 90
    assert by_term[sympy.sqrt(kappa)][far & low & (y > 1.1)].all()
    assert by_term[d * sympy.sqrt(kappa) / sympy.sqrt(n)][(x < y**2 / 1.1) & (x < 9e3)].all()
    assert not by_term[kappa].any()


def test_without_adiana_the_local_methods_win_between(table_2_map):
    table = tables.get("locodl/table-2")
    others = replace(table, rows=tuple(r for r in table.rows if r.key != "adiana-refined"))
    found = regions(others, LetterRange("n", 1, 1e6), LetterRange("d", 1, 1e6), {"kappa": 1e4})
    assert winners(found, 1e3, 100) == winners(found, 1e5, 100) == {"5GCS-CC", "CompressedScaffnew", "LoCoDL"}


def test_a_map_agrees_with_the_numbers_of_the_table(table_2_map):
    row, col = 100, 80
    values = {"n": 100, "d": 1000, "kappa": 1e4}
    assert table_2_map.x.values[col] == pytest.approx(100) and table_2_map.y.values[row + 20] == pytest.approx(1000)
    numbers = labelled(tables.get("locodl/table-2").at(values), "value of O()")
    assert table_2_map.costs[:, row + 20, col] == pytest.approx([e.value for e in numbers.values()])
    assert sum(table_2_map.share(i) for i in range(len(table_2_map.groups))) == pytest.approx(1)


def test_a_map_compares_every_method_of_table_1_without_the_lower_bound():
    found = regions(
        tables.get("locodl/table-1"), LetterRange("n", 1, 1e4), LetterRange("omega", 0.01, 1e4), {"kappa": 1}
    )
    assert len(found.methods) == 6 and not any("bound" in name for name in found.methods)
    assert "EF21" in winners(found, 1, 0.01)
    # ADIANA is of the order of the lower bound everywhere.
    assert found.winners[found.methods.index("ADIANA (He et al. 2023)")].all()


def test_impossible_values_belong_to_nobody(tmp_path):
    found = regions(
        tables.get("rates"), LetterRange("n", 2, 100), LetterRange("m", 2, 100), {"kappa": 10, "omega": 1, "d": 3}
    )
    x, y = np.meshgrid(found.x.values, found.y.values)
    assert ((found.index >= 0) == (y <= x)).all()
    figures.draw_map(found, tmp_path / "m.png")


def test_map_writes_a_picture_and_words(tmp_path, capsys):
    out = tmp_path / "map.png"
    line = f"map locodl/table-2 --x n=1:1e6 --y d=1:1e6 --at kappa=1e4 --out {out}"
    assert main(line.split()) == 0
    text = capsys.readouterr().out.splitlines()
    assert out.read_bytes().startswith(b"\x89PNG")
    assert text[-1] == str(out) and len(text) == 5
    assert any("ADIANA (He et al. 2023) (as at" in line and "tie" not in line for line in text)


# The command


def test_table_prints_each_format(capsys):
    for format in tables.FORMATS:
        assert main(["table", "locodl/table-2", "--format", format, "--at", "n=100", "d=300", "kappa=1e4"]) == 0
        assert capsys.readouterr().out == render(tables.get("locodl/table-2").at(AT), format)
    assert main(["table", "locodl/table-2", "--at", "n=100", "--at", "d=300", "kappa=1e4"]) == 0
    assert capsys.readouterr().out == render(tables.get("locodl/table-2").at(AT))
    assert main(["table", "rates"]) == 0
    assert capsys.readouterr().out == render(tables.get("rates"))


TABLE = "table locodl/table-2"
MAP = "map locodl/table-2 --x n=1:10 --y d=1:10"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("table", "TABLE"),
        ("table locodl/table-3", "unknown table 'locodl/table-3': did you mean locodl/table-2?"),
        ("table zzz", "there are feddcd/table-1"),
        (f"{TABLE} --format doc", "invalid choice: 'doc'"),
        (f"{TABLE} --at n=100 kappa=10", "needs a value for d"),
        (f"{TABLE} --at n=100 d=10 kappa=0.5", "kappa >= 1"),
        (f"{TABLE} --at n=100 d=10 kappa=10 q=3", "has no letter 'q': it has d, epsilon, kappa, n"),
        (f"{TABLE} --at n=1.5 d=10 kappa=10", "n must be an integer at least 1, got 1.5"),
        (f"{TABLE} --at n=0 d=10 kappa=10", "n must be an integer at least 1, got 0"),
        (f"{TABLE} --at n=nan d=10 kappa=10", "n must be an integer"),
        (f"{TABLE} --at n=9 d=10 kappa=inf", "kappa must be a number above 0, got inf"),
        (f"{TABLE} --at n=9 d=10 kappa=10 epsilon=1", "epsilon < 1"),
        (f"{TABLE} --at n", "LETTER=NUMBER was expected, such as kappa=1e4, got 'n'"),
        (f"{TABLE} --at n=ten", "got 'n=ten'"),
        (f"{TABLE} --at =3", "got '=3'"),
        (f"{TABLE} --at n=1 n=2", "n is given twice"),
        ("table locodl/table-1 --at n=9 kappa=2 d=3 k=4", "k <= d"),
        ("table rates --at n=9 kappa=2 m=10", "m <= n"),
        ("table feddcd/table-1 --at N=9", "needs a value for alpha, beta, tau"),
        ("map locodl/table-2 --x n=1:10", "--y"),
        (f"{MAP}", "needs a value for kappa"),
        (f"{MAP} --at kappa=0.1", "kappa >= 1"),
        (f"{MAP} --at kappa=2 n=3", "n is given twice"),
        (f"{MAP} --at kappa=2 --out map.jpg", "ends in .png or .svg"),
        (f"{MAP} --at kappa=2 --out nowhere/map.png", "cannot write the file nowhere/map.png"),
        ("map zzz --x n=1:10 --y d=1:10", "unknown table 'zzz'"),
        ("map locodl/table-2 --x n=1 --y d=1:10 --at kappa=2", "LETTER=LOW:HIGH was expected, such as n=1:1e6"),
        ("map locodl/table-2 --x n=10:1 --y d=1:10 --at kappa=2", "0 < LOW < HIGH"),
        ("map locodl/table-2 --x n=0:1 --y d=1:10 --at kappa=2", "0 < LOW < HIGH"),
        ("map locodl/table-2 --x n=1:inf --y d=1:10 --at kappa=2", "0 < LOW < HIGH"),
        ("map locodl/table-2 --x q=1:10 --y d=1:10 --at kappa=2", "no letter 'q'"),
        ("map locodl/table-2 --x n=1:10 --y n=1:10 --at kappa=2", "n is given twice"),
        ("map locodl/table-2 --x n=0.1:10 --y d=1:10 --at kappa=2", "n must be an integer at least 1"),
        ("map locodl/table-2 --x n=1:10 --y kappa=0.1:10 --at d=2", "kappa >= 1"),
        ("map rates --x m=10:20 --y n=2:9 --at kappa=2", "no values in these ranges are possible"),
    ],
)
def test_bad_input_is_one_line_and_status_2(tmp_path, monkeypatch, capsys, command, message):
    monkeypatch.chdir(tmp_path)
    assert main(command.split()) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.startswith("fedtheory: ") and captured.err.count("\n") == 1
    assert message in captured.err and "Traceback" not in captured.err
    assert not list(tmp_path.iterdir())


def test_a_range_is_read():
    assert axis("n=1:1e6") == LetterRange("n", 1.0, 1e6)
    assert axis("n=1:1e6").values[[0, -1]] == pytest.approx([1, 1e6])
