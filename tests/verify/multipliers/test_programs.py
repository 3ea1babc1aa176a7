"""What is posed with n a letter is what the code computes with 2 to 4 clients, and wrong programs are told."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import islice, product

import numpy as np
import pytest
from in_turn import in_turn

from fedtheory import claims
from fedtheory.randomness import support_of
from verify.base.case import Case
from verify.base.evaluate import meeting, sides
from verify.multipliers import forms, generic_functions, posing
from verify.multipliers.cases import cases
from verify.multipliers.posing import _Posing
from verify.multipliers.proving import stored
from verify.multipliers.ratios import terms
from verify.reading.worlds import WorldValue

#: Programs in which vectors stand that are told by what they solve, or of which no moments are known.
APART = ("baseline/5gcs-cc/one-step", "baseline/ef21/descent", "baseline/ef21/one-step")
#: Of whose draws there are many.
LONG = [("baseline/adiana/one-step", 1)]
ALL = [(id, k) for id in sorted(set(stored()) - set(APART)) for k in range(len(cases(claims.get(id))))]
#: In the fast subset of each claim one case.
CASES = [
    *in_turn([case for case in ALL if case not in LONG], lambda case: case[0]),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in LONG),
]


class Numbers:
    """The vectors and numbers of a posed program at an instance: ``(n, d)`` each, in fractions."""

    def __init__(self, claim, posing, posed, instance, seed):
        # None is 0: few of them may tell a whole state.
        rng, size = np.random.default_rng(seed), (1, instance.dimension)
        theta = (rng.integers(1, 5, size) * rng.choice([-1, 1], size)).astype(object)
        theta = np.vectorize(Fraction, otypes=[object])(theta)
        self.posing, self.params = posing, instance.params
        self.problem, state = instance.at(theta)
        problem = self.problem
        self.theta = theta
        self.n, self.d = problem.n, problem.d
        fixed, told = claim.setting.algorithm.fixed_point(problem, self.params), posing._fixed_point()
        self.atoms = {"1": Fraction(1), "x*": self._wide(problem.x_star)}
        self._split("y*", np.broadcast_to(problem.y_star, (self.n, self.d)))
        for name in state._fields:
            # Where the fixed point is not read, a program tells all parts relative to x*.
            about = problem.x_star if told[name].data == "x_star" else getattr(fixed, name)
            difference = np.asarray(getattr(state, name))[0] - np.asarray(about)
            if difference.ndim == 3:
                difference = difference[0]
            self.atoms[name] = self._wide(difference)
            self._split(name, self._wide(difference))
        self.letters = self._letters(posed)
        asked = [
            (name, k, functions, one)
            for name, functions in posing.answers.functions.items()
            for k, one in enumerate(functions.asked.values())
        ]
        while asked:
            # Where a function is asked may depend on what another one answered.
            ready = [one for one in asked if self._told(one[3].point)]
            assert ready
            for one in ready:
                self._ask(*one)
            asked = [one for one in asked if one not in ready]

    def _told(self, value):
        return all(atom.name in self.atoms for _, atoms in value.of for atom in atoms)

    def _about(self, name, functions, at):
        """The gradients and values at points relative to x*, or to the gradients there, less their tangents."""
        slope = self.vector(functions.slope)
        if name == "f*":
            f, anchor = self.problem.f, np.broadcast_to(self.problem.y_star, (self.n, self.d))
            gradient, value = f.conjugate_gradient, f.conjugate
        else:
            of, anchor = getattr(self.problem, name), self.atoms["x*"]
            gradient, value = of.gradient, of.value
        if name == "g":
            at, slope, anchor = at[..., :1, :], slope[:1], anchor[:1]
        return gradient(at + anchor) - slope, value(at + anchor) - value(anchor) - (slope * at).sum(axis=-1)

    def _ask(self, name, k, functions, one):
        gradient, value = self._about(name, functions, self.vector(one.point))
        self.atoms[f"grad {name}({k})"] = self._wide(gradient[0])
        self._split(f"grad {name}({k})", self._wide(gradient))
        self.atoms[f"{name}({k})"] = self.atoms[f"mean of {name}({k})"] = sum(value) / len(value)

    def _wide(self, a):
        return np.broadcast_to(np.asarray(a, dtype=object), (self.n, self.d))

    def _split(self, name, a):
        mean = self._wide(a.sum(axis=0) / self.n)
        self.atoms[f"mean of {name}"], self.atoms[f"deviation of {name}"] = mean, a - mean

    def _letters(self, posed):
        found = {"n": Fraction(self.n), "d": Fraction(self.d), "mu": self.problem.mu, "L": self.problem.L}
        for name in posed.names:
            if name.startswith("compressors."):
                found[name] = getattr(self.params.compressors, name.partition(".")[2])
            elif hasattr(self.params, name):
                found[name] = getattr(self.params, name)
        values = [Fraction(found.get(name, 1)) for name in posed.names]
        for letter, bounds in posed.branches.items():
            values[letter] = max(self.ratio(b, values) for b in bounds)
        return values

    @staticmethod
    def ratio(r, values):
        def of(p):
            return sum((c * np.prod([v**k for v, k in zip(values, m, strict=True)]) for m, c in terms(p)), Fraction(0))

        return of(r.num) / of(r.den)

    def _fallen(self, value, masks):
        """A vector or a number ``(n, ...)`` at one draw: ``masks (n,)``, by name."""
        total = 0
        for (draws, atoms), c in value.of.items():
            term = np.prod([masks[name] for name in draws] or [np.ones(self.n, dtype=int)], axis=0)[:, None]
            for atom in atoms:
                kind, *of = self.posing.world.meaning.get(atom.name, ("",))
                if kind == "sum":
                    _, own_draws, own = of
                    term = term * self._fallen(WorldValue({(own_draws, own): self.posing.world.field.one}), masks).sum(
                        axis=0
                    )
                else:
                    term = term * self.atoms[atom.name]
            total = total + self.ratio(self.posing.letters.converted(c), self.letters) * term
        return total

    def _masks(self):
        """The masks of each draw ``(n,)``, by name, and its chance; errors of messages are those of the draw."""
        draws, p = support_of(self.posing.algorithm.draws(self.problem, self.params, None), True)
        whole = {f"draw.{name}": of for name, of in draws._asdict().items()} if hasattr(draws, "_fields") else {}
        parts = {name: of for name, of in (whole or {"draw": draws}).items() if getattr(of, "dtype", None) in (bool,)}
        for k, chance in enumerate(p):
            for field, errors in self.posing.answers.errors.items():
                for j, ((by, _), (x, _)) in enumerate(errors.seen.items()):
                    at = self.vector(x)
                    message = getattr(self.params, field).apply(_taken(whole[by], k), at[None])
                    self.atoms[f"error {j} of {field}"] = message[0] - at
            yield {name: np.broadcast_to(of[k], (self.n,)).astype(int) for name, of in parts.items()}, chance

    def _drawn(self, names):
        """The expectation of a value at points that are drawn, where masks are true."""
        told, _, what = names[0].rpartition("] ")
        name, _, k = what.removeprefix("sum of ").rpartition(" drawn ")
        functions = self.posing.answers.functions[name]
        at = list(functions.drawn.values())[int(k.strip("()"))]
        total = 0
        for masks, chance in self._masks():
            _, value = self._about(name, functions, self._fallen(at.point, masks))
            where = np.prod([of for mask, of in masks.items() if f"'{mask}'" in told] or [np.ones(self.n, int)], axis=0)
            total += chance * (where * value).sum()
        return total

    def bound(self, functions, at, b, c):
        """The expectation, summed over the clients, of a value at a drawn point less the parabola of curvature c that
        has the gradient at another point."""
        slopes, low = self._about(functions.name, functions, self.vector(b.point))
        total = 0
        for masks, chance in self._masks():
            point = self._fallen(at.point, masks)
            x = point - self.vector(b.point)
            _, high = self._about(functions.name, functions, point)
            above = high - low - (slopes * x).sum(axis=-1) - c / 2 * (x**2).sum(axis=-1)
            total += chance * (self._fallen(at.when, masks)[:, 0] * above).sum()
        return total

    def bounds(self, posed):
        """Of each value at a drawn point what the program says, and what that is."""
        for of in self.posing.answers.functions.values():
            ends = {"least": self.problem.mu, "largest": self.problem.L}
            if of.name == "f*":
                ends = {"least": 1 / self.problem.L, "largest": 1 / self.problem.mu}
            for (k, at), (j, b) in product(enumerate(of.drawn.values()), enumerate(of.asked.values())):
                for (word, c), sign in zip(ends.items(), (-1, 1), strict=True):
                    said = posed.known[f"{of.name} {word} [{k}, {j}]"]
                    yield self.form(said), sign * self.bound(of, at, b, c)

    def vector(self, value):
        total = np.full((self.n, self.d), Fraction(0))
        for (draws, atoms), c in value.of.items():
            assert not draws and len(atoms) == 1
            total = total + self.ratio(self.posing.letters.converted(c), self.letters) * self.atoms[atoms[0].name]
        return total

    def _error(self, block, names):
        which, _, field = block.removeprefix("error ").partition(" of ")
        field = field.split(" ")[0]
        x, _ = list(self.posing.answers.errors[field].seen.values())[int(which)]
        at, family = self.vector(x), getattr(self.params, field)
        draws, p = support_of(family.draws, True)
        e = family.apply(draws, at[None]) - at
        mean = e.sum(axis=-2, keepdims=True) / self.n
        if names[0].startswith("mean"):
            return (p * (mean**2).sum(axis=(-1, -2))).sum()
        part = e - mean if names[0].startswith("deviation") else e
        return (p * (part**2).sum(axis=(-1, -2))).sum()

    def form(self, form):
        total = Fraction(0)
        for (block, *names), c in form.of.items():
            if block.startswith("error"):
                v = self._error(block, names)
            elif block == "value":
                v = self._drawn(names) if " drawn " in names[0] else self.atoms[names[0]]
            else:
                products = (self.atoms[names[0]] * self.atoms[names[1]]).sum(axis=-1)
                v = products[0] if block == "mean" else products.sum()
            total += self.ratio(c, self.letters) * v
        return total


def _taken(draws, k):
    """One of several draws, as the only one."""
    if isinstance(draws, tuple):
        return type(draws)(*(_taken(part, k) for part in draws)) if hasattr(draws, "_fields") else draws
    return draws[k : k + 1]


def _posed(claim, case):
    """A case as it is posed, of several clients where one alone is a case of its own."""
    try:
        made = _Posing(claim, case, claim)
        return made, made.posed()
    except posing.OfOneClient:
        return _posed(claim, replace(case, alone=False))


def compared(id, k, seed):
    """What the program says and what the code says, left side minus right side, at instances of a case; and whether
    what the program takes to be known is so there."""
    claim = claims.get(id)
    case = cases(claim)[k]
    found = []
    for _, instance in islice(meeting(claim, claim.instances.recipes(np.random.default_rng(seed))), 400):
        problem = instance.problem
        equal = case.equal is not None and problem.mu == problem.L
        if (
            (problem.g is not None) is not case.with_g
            or problem.n not in ((1,) if case.single else (2, 3, 4))
            or equal is not bool(case.equal)
        ):
            continue
        made, posed = _posed(claim, case)
        numbers = Numbers(claim, made, posed, instance, seed)
        ((left, right),) = sides(Case.of(claim, instance), numbers.theta)
        true = all(numbers.form(known) <= 0 for known in posed.known.values())
        true = true and all(said == found for said, found in numbers.bounds(posed))
        found.append((numbers.form(posed.target), Fraction((left - right).ravel()[0]), true))
        if len(found) == 2:
            return found
    return found


@pytest.mark.parametrize(("id", "k"), CASES)
def test_programs_are_what_the_code_computes(id, k):
    found = compared(id, k, 1)
    assert len(found) == 2 and all(read == computed and true for read, computed, true in found)


SCAFFNEW = "baseline/scaffnew/one-step"


def differs():
    return any(read != computed for seed in (1, 2) for read, computed, _ in compared(SCAFFNEW, 1, seed))


def test_a_program_in_which_all_clients_have_one_gradient_is_told(monkeypatch):
    at = generic_functions.ClassFunctions.at

    def alike(functions, world, point, apart=False):
        found = at(functions, world, point, apart)
        found.gradient = WorldValue({k: c for k, c in found.gradient.of.items() if not any(atom.own for atom in k[1])})
        return found

    monkeypatch.setattr(generic_functions.ClassFunctions, "at", alike)
    assert differs()


def test_a_program_of_one_branch_is_told(monkeypatch):
    monkeypatch.setattr(posing, "masks", lambda law, name, number: [(name, forms.Mask(number(law.of[0]) * 0 + 1))])
    assert differs()


ROUND = "feddcd/varying-participation"


def test_clients_that_are_drawn_one_by_one_are_no_subset(monkeypatch):
    def alone(law, name, number):
        n, tau = (number(term) for term in law.of[:2])
        return [(name, forms.Mask(tau / n, True, tau * tau / (n * n)))]

    monkeypatch.setattr(posing, "masks", alone)
    assert any(read != computed or not true for read, computed, true in compared(ROUND, 1, 1))


def test_a_curvature_that_is_not_the_class_s_is_told(monkeypatch):
    made = generic_functions.ClassFunctions._at_drawn_points

    def swapped(functions, world):
        least, largest = functions.curvatures
        functions.curvatures = largest, least
        yield from made(functions, world)
        functions.curvatures = least, largest

    monkeypatch.setattr(generic_functions.ClassFunctions, "_at_drawn_points", swapped)
    assert not all(true for _, _, true in compared(ROUND, 1, 1))
