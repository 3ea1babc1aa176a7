"""What is proved does not hang on the last digits of a solver, which are others on every processor."""

from fractions import Fraction as Fr

import pytest
from models import gradient_descent

from verify.base.verdict import Verdict
from verify.pep import centring, faces, programs
from verify.pep.gram import OPTIMUM, Form, Sample, interpolate, row, value
from verify.pep.programs import Constraint, Program, excess
from verify.pep.prover import bounds


def of_ef21(L, gamma):
    """f(x - gamma g) <= f(x) - gamma <g, grad f(x)> + gamma/2 |g|^2 at the end of the class, where mu = L in the
    Polyak-Lojasiewicz inequality: that is an equation, and multipliers have no bound."""
    x, g = row("x"), row("g")
    at, after = Sample(x, row("G"), value("f")), Sample(x - gamma * g, row("G+"), value("f+"))
    constraints = [Constraint(*c) for c in interpolate("f", [after, OPTIMUM, at], -L, L)]
    for name, s in (("at", at), ("after", after)):
        gap = s.gradient**2 / (2 * L) - s.value
        constraints += [Constraint(f"above {name}", gap), Constraint(f"below {name}", -gap)]
    left = after.value - at.value + gamma * (g * at.gradient) - gamma / 2 * g**2
    return bounds(excess(left, 0 * left, constraints), Fr(0), homogeneous=True, relaxed=True, tight=False).verdict


@pytest.mark.usefixtures("solver")
class TestVerdicts:
    @pytest.mark.parametrize("L", [Fr(45, 5348), Fr(1), Fr(9999)])
    def test_where_multipliers_have_no_bound(self, L):
        assert of_ef21(L, 1 / L) is Verdict.CERTIFIED

    @pytest.mark.parametrize("L", [Fr(45, 5348), Fr(1), pytest.param(Fr(9999), marks=pytest.mark.slow)])
    def test_where_a_step_is_longer_than_is_shown(self, L):
        # A proof that there is not is looked for in every way.
        assert of_ef21(L, Fr(11, 10) / L) is not Verdict.CERTIFIED

    @pytest.mark.parametrize("gamma", [Fr(1), Fr(20, 11), Fr(19, 10)])
    def test_where_a_rate_is_attained(self, gamma):
        program = gradient_descent(Fr(1, 10), Fr(1), gamma)
        factor = max((1 - gamma / 10) ** 2, (1 - gamma) ** 2)
        assert bounds(program, factor).verdict is Verdict.CERTIFIED
        assert bounds(program, factor * (1 - Fr(1, 10**5))).verdict is Verdict.REFUTED


class TestCentre:
    @pytest.mark.parametrize("start", [(0, 0), (1e9, 1e-9), (-1e9, 1e9)])
    @pytest.mark.parametrize("k", [8, 16])
    def test_is_found_from_wherever_one_begins(self, start, k):
        # x^2 <= 10^k y^2 and y^2 <= z^2: multipliers of x^2 - 2 * 10^k z^2 <= 0 between 10^k and twice as much.
        x, y, z = row("x"), row("y"), row("z")
        size = Fr(10) ** k
        first, second = Constraint("first", x**2 - size * y**2), Constraint("second", y**2 - z**2)
        program = Program(x**2 - 2 * size * z**2, (first, second))
        face = centring.Face.of(program, Fr(0))
        a, b = next(centring.multipliers(program, face, start))
        assert programs.Certificate(program, {"first": a, "second": b}, Fr(0)).check()
        # The centre: a, b and the eigenvalues a - 1, b - a, 2 - b (b in units of size) have the greatest product.
        assert (float(a), float(b / size)) == pytest.approx((1.4119, 1.7307), rel=0.05)

    def test_is_none_where_there_is_no_room(self):
        x, y, far = row("x"), row("y"), 10**8
        program = Program(x**2 - far * y**2, (Constraint("only", x**2 - far * y**2),))
        assert not list(centring.multipliers(program, centring.Face.of(program, Fr(0)), [1.0]))
        # On the face on which there is only one solution there is nothing to look for.
        face = centring.Face.of(program, Fr(0), [({0: Fr(1)}, Fr(1))])
        assert not list(centring.multipliers(program, face, [1.0]))

    def test_is_not_looked_for_where_floats_see_everything(self):
        x, y = row("x"), row("y")
        program = Program(x**2 - 2 * y**2, (Constraint("only", x**2 - y**2),))
        assert not list(centring.multipliers(program, centring.Face.of(program, Fr(0)), [1.0]))


def test_the_leanest_multipliers_are_those_that_are_needed():
    x = row("x")
    forms = {"needed": x**2, "and back": -(x**2), "idle": Form({}, {}, -1)}
    program = Program(3 * x**2, tuple(Constraint(*c) for c in forms.items()))
    found = centring.leanest(program, centring.Face.of(program, Fr(0)))
    assert found == pytest.approx([3, 0, 0], abs=1e-6)


def test_unknowns_that_equations_determine_are_told_apart():
    equations = [
        ({0: Fr(1), 1: Fr(1)}, Fr(3)),
        ({1: Fr(2)}, Fr(2)),
        ({0: Fr(1), 1: Fr(3)}, Fr(5)),
        ({2: Fr(1), 3: Fr(1)}, Fr(0)),
    ]
    found = faces.independent(equations, 4)
    assert len(found.equations) == 3 and found.determined == {0, 1}
    with pytest.raises(ValueError, match="no solution"):
        faces.independent([*equations, ({0: Fr(1)}, Fr(1))], 4)


class PanicException(BaseException):
    """What the solver's own code raises, by the name that it has there."""


class Interrupt(BaseException):
    """What somebody else raises."""


class Failing:
    """A problem at which a solver fails."""

    status = None

    def __init__(self, error):
        self.error = error

    def solve(self, **_):
        raise self.error


def test_a_solver_that_fails_in_its_own_code_gives_no_answer():
    assert programs.run(Failing(PanicException())) == "solver_error"
    with pytest.raises(Interrupt):
        programs.run(Failing(Interrupt()))
