"""The rules of derivations, one by one: what each gives, and that it gives nothing once a premise is less."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import sympy

from fedtheory.kinds.inequality import Inequality
from fedtheory.meanings import BoundedBelow, Coercive, Everywhere, Isolated, Lipschitz, Recurs
from fedtheory.papers.fedadmm.transition import BEGINS, CONTINUES, IDLE, ITERATION, SELECTED
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.iterations import At, Overall
from fedtheory.settings.quantities import Away, Difference, Image, Inner, Shared, Square, Total, Value
from fedtheory.settings.relations import Quantity
from verify.derivation import rules
from verify.derivation.facts import Fact, term
from verify.derivation.rules import BOUNDED, CONVERGES, VANISHES


def _function(name):
    def of(problem, params, state):
        raise AssertionError(f"{name} is not computed by a rule")

    return of


u, v, f, V, W, h, other, e = (_function(name) for name in ("u", "v", "f", "V", "W", "h", "other", "e"))
a, b = (lambda problem, params: 0), (lambda problem, params: 1)


def at(function, later=False, each=False):
    return At(ITERATION, function, later, each)


def fact(*terms, case=None, client=0):
    """sum of coefficient * quantity >= 0."""
    return Fact(None, {term(of, client): Fraction(c) for c, of in terms}, case, client)


def says(*meanings):
    return [Hypothesis("said", says=meanings)]


def derived(facts, *wanted, meanings=(), clients=1):
    """The strongest of what is said of each of the quantities wanted, of the last client."""
    terms = [term(of, clients - 1) for of in wanted]
    found = rules.derive(ITERATION, says(*meanings), facts, terms)
    kinds = (VANISHES, CONVERGES, BOUNDED)
    return [next((kind for kind in kinds if found.how(kind, t) is not None), None) for t in terms]


def vanishing(*of):
    """Facts by which quantities vanish: each is at most the decrease of a square."""
    for number, one in enumerate(of):
        square = Square(_function(f"decreasing {number}"))
        yield fact((1, at(square)), (-1, at(square, later=True)), (-1, Overall(ITERATION, one)))
        yield fact((1, Overall(ITERATION, one)), (-1, one))
        yield fact((-1, Overall(ITERATION, one)), (1, one))


def bounded(*of):
    """Facts by which squares are bounded: they do not increase."""
    for one in of:
        yield fact((1, one), (-1, replace(one, later=True)))


DECREASE = fact((1, at(V)), (-1, at(V, later=True)))
BELOW = fact((1, at(V)), (-2, at(f)))
COERCIVE = Coercive(f, u)

# Monotone sequences and level sets


def test_what_decreases_and_is_bounded_below_converges_and_its_level_sets_are_bounded():
    found = derived([DECREASE, BELOW], at(V), at(Square(u)), meanings=[COERCIVE])
    assert found == [CONVERGES, BOUNDED]
    assert derived([DECREASE, BELOW], at(V), at(Square(u)), meanings=[BoundedBelow(f)]) == [CONVERGES, None]


@pytest.mark.parametrize(
    "facts, meanings",
    [
        # V(k) = -k decreases for ever.
        ([DECREASE], [COERCIVE]),
        ([DECREASE, BELOW], []),
        ([DECREASE, BELOW], [Coercive(other, u)]),
        # V(k) = k is at least f = 0, and V(k) = -k at most -f.
        ([fact((-1, at(V)), (1, at(V, later=True))), BELOW], [COERCIVE]),
        ([DECREASE, fact((-1, at(V)), (-2, at(f)))], [COERCIVE]),
        ([DECREASE, fact((1, at(V)), (2, at(f)))], [COERCIVE]),
        # V + k, and what holds in some iterations only.
        ([fact((1, at(V)), (-1, at(V, later=True)), (1, at(W))), BELOW], [COERCIVE]),
        ([replace(DECREASE, case=SELECTED), BELOW], [COERCIVE]),
        ([DECREASE, replace(BELOW, case=SELECTED)], [COERCIVE]),
        # One is at least f, and another decreases.
        ([fact((1, at(V)), (-1, at(W, later=True))), BELOW], [COERCIVE]),
        ([DECREASE, fact((1, at(W)), (-2, at(f)))], [COERCIVE]),
        ([DECREASE, fact((1, at(V)), (-2, at(f)), (1, at(W)))], [COERCIVE]),
        ([DECREASE, fact((1, at(V, later=True)), (-2, at(f)))], [COERCIVE]),
    ],
)
def test_less_gives_no_limit_and_no_bound(facts, meanings):
    assert derived(facts, at(V), at(Square(u)), meanings=meanings) == [None, None]


def test_a_term_that_is_added_to_the_decrease_is_none():
    grows = fact((1, at(V)), (-1, at(V, later=True)), (1, Overall(ITERATION, other)))
    assert derived([grows, BELOW], at(V), at(Square(u)), meanings=[COERCIVE]) == [None, None]


def test_squares_are_bounded_below_and_others_are_not():
    square = at(Square(u))
    assert derived(bounded(square), square) == [CONVERGES]
    assert derived(bounded(at(V)), at(V)) == [None]
    assert derived([fact((-1, square), (1, at(Square(u), later=True)))], square) == [None]


def test_sums_of_squares_are_bounded_below():
    total = Total(Square(u))
    assert derived(bounded(at(total)), at(total)) == [CONVERGES]
    assert derived(bounded(at(Total(u))), at(Total(u))) == [None]


def test_what_clients_share_is_added_to_what_is_of_none_in_particular():
    # |u(k+1)|^2 <= |u(k)|^2 + 5 |u(k+1)|^2 holds of every sequence, in whichever order its terms are written.
    shared = at(Square(Shared(u)), later=True, each=True)
    terms = [(5, shared), (1, at(Square(u))), (-1, at(Square(u), later=True))]
    for order in (terms, terms[::-1]):
        assert derived([fact(*order)], at(Square(u))) == [None]
    assert derived([fact((-2, shared), (1, at(Square(Shared(u)), each=True)), *terms[2:])], at(Square(u))) == [None]
    halves = [(-1, shared), (2, at(Square(u))), (-1, at(Square(u), later=True))]
    assert derived([fact(*halves)], at(Square(u))) == [CONVERGES]


def test_a_part_of_a_potential_bounds_nothing():
    # V = g + W is at least f, where g(k) = k is coercive and W(k) = -k: only what bounds it below has level sets.
    parts = [(1, at(W)), (1, at(other))]
    decrease = fact(*parts, *((-c, replace(of, later=True)) for c, of in parts))
    below = fact(*parts, (-1, at(f)))
    meanings = [BoundedBelow(f), Coercive(other, u)]
    assert derived([decrease, below], at(Square(u)), meanings=meanings) == [None]
    assert derived([decrease, below], at(Square(u)), meanings=[*meanings, COERCIVE]) == [BOUNDED]


# Equations


def test_an_equation_gives_the_last_of_its_terms():
    one = [fact((1, at(V)), (-3, at(W))), fact((-1, at(V)), (3, at(W)))]
    assert derived([*one, *vanishing(at(W))], at(V)) == [VANISHES]
    assert derived([*one, DECREASE, BELOW], at(W), meanings=[COERCIVE]) == [CONVERGES]


def test_an_inequality_is_no_equation():
    # V(k) = -k is at most 0, and signs are not known.
    half = fact((-1, at(V)), (3, at(W)))
    found = rules.derive(ITERATION, [], [half, *vanishing(at(W))])
    step = found.steps[found.how(VANISHES, term(at(V), 0))]
    assert step.rule == "domination" and step.nonnegative == (term(at(V), None),)
    assert derived([fact((1, at(V)), (3, at(W))), *vanishing(at(W))], at(V)) == [None]


def test_equations_have_opposite_coefficients():
    facts = [fact((1, at(V)), (-3, at(W))), fact((-2, at(V)), (3, at(W)))]
    found = rules.derive(ITERATION, says(COERCIVE), [*facts, DECREASE, BELOW])
    # It remains that W is at most V/3, if it is not negative.
    assert found.how(CONVERGES, term(at(W), 0)) is None


def test_a_sequence_that_stays_need_not_vanish():
    stays = [fact((s, at(V)), (-s, at(V, later=True))) for s in (1, -1)]
    assert derived(stays, at(V)) == [None]
    # W(k) = V(k + 1) - V(k) for V(k) = k.
    moves = [fact((s, at(V, later=True)), (-s, at(V)), (-s, at(W))) for s in (1, -1)]
    assert derived(moves, at(V), at(W)) == [None, None]


def test_of_a_sum_that_converges_the_parts_need_not():
    together = [
        fact((1, at(V)), (2, at(W)), (-1, at(V, later=True)), (-2, at(W, later=True))),
        fact((1, at(V)), (2, at(W)), (-1, at(f))),
    ]
    assert derived(together, at(V), at(W), meanings=[COERCIVE]) == [None, None]
    assert derived([*together, *vanishing(at(W))], at(V), meanings=[COERCIVE]) == [CONVERGES]


def test_what_converges_need_not_vanish():
    same = [fact((s, at(W)), (-s, at(V))) for s in (1, -1)]
    assert derived([*same, DECREASE, BELOW], at(W), at(V), meanings=[COERCIVE]) == [CONVERGES, CONVERGES]


# Domination


def test_squares_are_bounded_by_what_is_bounded():
    big, small = at(Square(u)), at(Square(v))
    bound = fact((-1, small), (2, big), (5, at(W)))
    assert derived([bound, *bounded(big), *vanishing(at(W))], small) == [BOUNDED]
    assert derived([bound, *bounded(big)], small) == [None]
    assert derived([bound, *vanishing(big, at(W))], small) == [VANISHES]
    turned = fact((1, small), (2, big), (5, at(W)))
    assert derived([turned, *bounded(big), *vanishing(at(W))], small) == [None]
    sometimes = replace(bound, case=SELECTED)
    assert derived([sometimes, *vanishing(big, at(W))], small) == [None]


# Recurrence

AFTER = at(Square(u), later=True)
NOW = at(Square(u))


def _recurring(case, otherwise, inside=(0, 1), outside=(2, 1)):
    """x(k + 1) <= b x(k) + y in a case, and b' x(k) + y otherwise, where y vanishes."""
    return [
        fact((-1, AFTER), (inside[0], NOW), (inside[1], at(W)), case=case),
        fact((-1, AFTER), (outside[0], NOW), (outside[1], at(W)), case=otherwise),
        *vanishing(at(W)),
    ]


def test_what_is_renewed_in_every_step_vanishes():
    assert derived(_recurring(BEGINS, CONTINUES), NOW) == [VANISHES]


def test_what_is_not_renewed_does_not():
    assert derived(_recurring(CONTINUES, BEGINS), NOW) == [None]
    assert derived(_recurring(BEGINS, CONTINUES)[:1], NOW) == [None]
    assert derived(_recurring(BEGINS, CONTINUES)[1:], NOW) == [None]
    assert derived(_recurring(BEGINS, CONTINUES, inside=(1, 1), outside=(1, 1)), NOW) == [None]
    assert derived(_recurring(BEGINS, CONTINUES, inside=(Fraction(1, 2), 1)), NOW) == [None]
    assert derived(_recurring(BEGINS, CONTINUES)[:2], NOW) == [None]
    assert derived(_recurring(SELECTED, IDLE), NOW) == [None]
    assert derived(_recurring(SELECTED, IDLE), NOW, meanings=[Recurs(SELECTED)]) == [VANISHES]


def test_cases_of_two_clients_do_not_make_all_iterations():
    first, second, *rest = _recurring(SELECTED, IDLE)
    # Neither is said where the second client takes part and the first does not.
    mixed = [first, replace(second, client=1), *rest]
    assert derived(mixed, NOW, meanings=[Recurs(SELECTED)], clients=2) == [None]


# Vectors

PRODUCT, SQUARES = at(Inner(u, v)), (at(Square(u)), at(Square(v)))


def test_products_of_what_vanishes_and_what_is_bounded():
    small, big = SQUARES
    assert derived([*vanishing(small), *bounded(big)], PRODUCT) == [VANISHES]
    assert derived([*vanishing(big), *bounded(small)], PRODUCT) == [VANISHES]
    assert derived([*bounded(small), *bounded(big)], PRODUCT) == [BOUNDED]
    # u = 1/k and v = k^2.
    assert derived(vanishing(small), PRODUCT) == [None]
    # The vector of another client, or of all of them.
    each = at(Square(v), each=True)
    assert derived([*vanishing(small), *bounded(each)], PRODUCT) == [None]


def test_the_distance_to_what_is_fixed_is_bounded():
    away = at(Square(Away(u, a)))
    assert derived(bounded(at(Square(u))), away) == [BOUNDED]
    assert derived(bounded(at(Square(v))), away) == [None]
    # What vanishes is not near a.
    assert derived(vanishing(at(Square(u))), away) == [BOUNDED]


def test_the_triangle_leads_to_the_same_limit():
    gap, away = at(Square(Difference(u, v))), at(Square(Away(u, a)))
    assert derived([*vanishing(gap), *vanishing(at(Square(Away(v, a))))], away) == [VANISHES]
    for wrong in (at(Square(Away(v, b))), at(Square(Away(other, a))), at(Square(v))):
        assert derived([*vanishing(gap), *vanishing(wrong)], away) != [VANISHES]
    assert derived([*vanishing(at(Square(Away(v, a)))), *bounded(gap)], away) == [None]
    assert derived(vanishing(at(Square(Difference(v, u))), at(Square(Away(v, a)))), away) == [None]


def test_the_triangle_of_numbers():
    gap, away = at(Difference(V, W)), at(Away(V, a))
    assert derived(vanishing(gap, at(Away(W, a))), away) == [VANISHES]
    assert derived(vanishing(gap, at(Away(W, b))), away) == [None]
    assert derived(vanishing(at(Square(Difference(V, W))), at(Away(W, a))), away) == [None]


def test_images_converge_where_the_map_is_lipschitz():
    image, point = at(Square(Away(Image(h, u), Value(h, a))), each=True), at(Square(Away(u, a)), each=True)
    lipschitz = Lipschitz(h, lambda problem, params: 1)
    assert derived(vanishing(point), image, meanings=[lipschitz]) == [VANISHES]
    assert derived(vanishing(point), image) == [None]
    assert derived(vanishing(point), image, meanings=[replace(lipschitz, map=other)]) == [None]
    for wrong in (Value(h, b), Value(other, a), a):
        image = at(Square(Away(Image(h, u), wrong)), each=True)
        assert derived(vanishing(point), image, meanings=[lipschitz]) == [None]


def test_a_sequence_with_an_isolated_accumulation_point_converges_if_its_moves_vanish():
    move = Overall(ITERATION, other)
    isolated = Isolated(u, move)
    assert derived(vanishing(move), at(u), meanings=[isolated]) == [CONVERGES]
    # Without the moves, the hypothesis, or with those of another vector; and of nothing else.
    assert derived([], at(u), meanings=[isolated]) == [None]
    assert derived(vanishing(move), at(u)) == [None]
    assert derived(vanishing(Overall(ITERATION, e)), at(u), meanings=[isolated]) == [None]
    assert derived(vanishing(move), at(v), meanings=[isolated]) == [None]


def test_what_comes_near_to_what_converges_does_too():
    move, lipschitz = Overall(ITERATION, other), Lipschitz(h, lambda problem, params: 1)
    settled = [*vanishing(move)]
    shared, own = at(Square(Difference(v, Shared(u))), each=True), at(Square(Difference(W, Image(h, v))), each=True)
    wanted = (at(v, each=True), at(W, each=True))
    says_so = [Isolated(u, move), lipschitz]
    assert derived([*settled, *vanishing(shared, own)], *wanted, meanings=says_so) == [CONVERGES, CONVERGES]
    assert derived([*settled, *vanishing(shared, own)], *wanted, meanings=says_so[:1]) == [CONVERGES, None]
    assert derived([*settled, *vanishing(own)], *wanted, meanings=says_so) == [None, None]
    assert derived([*settled, *bounded(shared), *vanishing(own)], *wanted, meanings=says_so) == [None, None]
    assert derived(vanishing(shared, own), *wanted, meanings=[lipschitz]) == [None, None]


def test_what_clients_share_is_one_vector():
    each = at(Square(Shared(u)), each=True)
    assert derived(vanishing(at(Square(u))), each) == [VANISHES]
    assert derived(vanishing(at(Square(u))), at(Square(u), each=True)) == [None]


def test_what_clients_share_has_one_distance_to_one_vector_only():
    # |u - h_i(a)| of one client says nothing of that of another.
    each = at(Square(Away(Shared(u), Value(h, a))), each=True)
    facts = list(vanishing(each))
    assert derived([*facts, fact((0, at(V)), client=1)], each, clients=2) == [None]
    problem, points = SimpleNamespace(n=2), lambda problem, params, state: np.ones((3, 5))
    with pytest.raises(ValueError, match="one vector"):
        Away(Shared(points), lambda problem, params: np.ones((2, 5)))(problem, None, None)


# Sums over clients


def test_a_sum_needs_the_part_of_every_client():
    total, part = at(Total(e)), at(e, each=True)

    def of(client):
        return [replace(k, terms={term(t.of, client): c for t, c in k.terms.items()}, client=client) for k in facts]

    facts = list(vanishing(part))
    idle = fact((0, at(V)), client=1)
    assert derived([*of(0), *of(1)], total, clients=2) == [VANISHES]
    assert derived([*of(0), idle], total, clients=2) == [None]
    assert derived(of(0), total) == [VANISHES]
    assert derived([*of(0), *of(1)], at(Total(other)), clients=2) == [None]


def test_a_sum_is_over_the_clients():
    problem = SimpleNamespace(n=2)
    assert Total(lambda problem, params, state: np.ones((3, 2)))(problem, None, None).tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="a sum over 2 clients has 4 parts"):
        Total(lambda problem, params, state: np.ones(4))(problem, None, None)


# What hypotheses mean

ABOVE, TOWARDS = at(Away(f, a)), at(Inner(h, Away(u, b)))


def _everywhere(left, right, **of):
    return Everywhere(Inequality(left, right, tuple(Quantity(sympy.Symbol(name), q) for name, q in of.items())))


x, y = sympy.symbols("x y")
BELOW_TANGENT, LEAST = _everywhere(x, y, x=ABOVE, y=TOWARDS), _everywhere(sympy.S.Zero, x, x=ABOVE)


def test_values_of_a_convex_function_tend_to_the_least():
    facts = [*vanishing(at(Square(h))), *bounded(at(Square(u)))]
    assert derived(facts, ABOVE, meanings=[BELOW_TANGENT, LEAST]) == [VANISHES]


def test_without_convexity_a_minimum_or_a_bounded_point_they_need_not():
    gradient, point = vanishing(at(Square(h))), bounded(at(Square(u)))
    gradient, point = list(gradient), list(point)
    both = [BELOW_TANGENT, LEAST]
    # exp(-u) as u grows; a stationary point that is no minimum; a gradient that does not vanish.
    assert derived(gradient, ABOVE, meanings=both) == [None]
    assert derived([*gradient, *point], ABOVE, meanings=[LEAST]) == [None]
    assert derived(point, ABOVE, meanings=both) == [None]
    turned = _everywhere(y, x, x=ABOVE, y=TOWARDS)
    assert derived([*gradient, *point], ABOVE, meanings=[turned, LEAST]) == [None]


def test_of_an_inequality_with_letters_the_signs_are_used_and_nothing_else():
    c, z = sympy.Symbol("c", positive=True), sympy.Symbol("z")
    far = at(Square(Away(u, a)))
    sharp = replace(_everywhere(c * z, y, z=far, y=TOWARDS), positive={c: lambda problem, params: 1})
    facts = [*vanishing(at(Square(h))), *bounded(at(Square(u)))]
    assert derived(facts, far, meanings=[sharp]) == [VANISHES]
    # V(k) - c q >= V(k + 1) is a decrease for some c only where V is the same on both sides: its coefficients are.
    falls = _everywhere(z, c * y, z=at(V, later=True), y=at(V))
    assert derived([BELOW], at(V), meanings=[replace(falls, positive=sharp.positive), COERCIVE]) == [None]
    with pytest.raises(ValueError, match="sign"):
        derived(facts, far, meanings=[replace(_everywhere((c - 1) * z, y, z=far, y=TOWARDS), positive=sharp.positive)])


def test_hypotheses_mean_nothing_of_a_single_iteration():
    for of in (at(f, each=True), Overall(ITERATION, f), f):
        with pytest.raises(ValueError, match="is not a function of the state"):
            derived([DECREASE], at(V), meanings=[_everywhere(sympy.S.Zero, x, x=of)])


def test_facts_of_other_iterations_are_refused():
    # Before and after are those of one iteration: with another they are two sequences.
    elsewhere = At(replace(ITERATION, before=ITERATION.after), V)
    for facts, wanted in (([fact((1, at(V)), (-1, elsewhere))], at(V)), ([DECREASE], elsewhere)):
        with pytest.raises(ValueError, match="other iterations"):
            derived(facts, wanted)


# What a conclusion rests on


def test_conclusions_rest_on_what_they_use_only():
    facts = [*vanishing(at(W)), DECREASE, BELOW]
    found = rules.derive(ITERATION, says(COERCIVE), facts)
    steps = found.traced(found.holds(CONVERGES, term(at(V), 0)))
    assert [step.rule for step in steps] == ["monotone sequence"]
    assert all(k in (DECREASE, BELOW) for step in steps for k in step.facts)
