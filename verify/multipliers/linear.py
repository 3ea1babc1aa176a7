"""A linear operator K and its adjoint in a program of a generic client: the images of vectors, and what is known of
them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

from verify.multipliers.generic_functions import KnownInequality
from verify.multipliers.reasons import Phrase
from verify.reading.linear import ADJOINT, K
from verify.reading.source import Unread
from verify.reading.worlds import ONE, World, WorldValue

#: The function that is taken at K x, and the optimum of the dual problem.
OUTER, U_STAR = "h", "u*"
#: The beginning of the names of the function's answers, which are vectors of the space of K x.
_OF_OUTER = (f"grad {OUTER}(", f"prox {OUTER}(")


@dataclass(eq=False)
class Images:
    """The vectors that one operator was asked, each with its image.

    ``asked``: all of them, by name; ``basis``: what earlier ones leave of them, whose images are vectors by themselves;
    ``rows``: the same over the coefficient of a leading vector, which later ones do not contain.
    """

    asked: dict[str, tuple[WorldValue, WorldValue]] = field(default_factory=dict)
    basis: list[tuple[WorldValue, WorldValue]] = field(default_factory=list)
    rows: list[tuple[Any, WorldValue, WorldValue]] = field(default_factory=list)


@dataclass(eq=False)
class CoupledSpaces:
    """K and its adjoint: |K x| is at most ``norm`` |x|, and at least ``least`` |x|, |K' y| at least ``adjoint_least``
    |y|, where these are not None.

    ``dual``: the names of the vectors of the space of K x. All others are of the space of x: no operator is applied to
    sums of both, nor to those of the other space.
    """

    world: World
    norm: Any
    least: WorldValue | None
    adjoint_least: WorldValue | None
    dual: set[str]
    images: dict[str, Images] = field(default_factory=lambda: {K: Images(), ADJOINT: Images()})

    def __post_init__(self) -> None:
        self.dual.add(U_STAR)
        self.x_image = self.apply(K, self.world.atom("x*", 1))
        self.pull = self.apply(ADJOINT, self.world.atom(U_STAR, 1))

    def apply(self, name: str, at: WorldValue) -> WorldValue:
        """Return K or K' of a vector: of a sum of multiples of others the sum of the same multiples of their images."""
        if not self.is_of(name == ADJOINT, at):
            wrong = (
                "is not seen to be of the space of K x, as dual parts of a state are"
                if name == ADJOINT
                else ("is of the space of K x, or each client's")
            )
            raise Unread(f"{name} is taken of a vector that {wrong}")
        images = self.images[name]
        key = at.name()
        if key not in images.asked:
            images.asked[key] = at, self._image(name, images, at)
        return images.asked[key][1]

    def is_of(self, dual: bool, value: WorldValue) -> bool:
        """Return True if a value is a vector that all clients share, in the space of K x, or of x, for all draws."""
        for draws, atoms in value.of:
            if len(atoms) != 1 or atoms[0].degree != 1 or atoms[0].own or atoms[0].example:
                return False
            name = atoms[0].name
            if (name in self.dual or name.startswith(_OF_OUTER)) is not dual or draws & self.world.along:
                return False
        return True

    def _image(self, name: str, images: Images, at: WorldValue) -> WorldValue:
        rest, found = at, WorldValue({})
        for leading, row, image in images.rows:
            if leading in rest.of:
                c = WorldValue({ONE: rest.of[leading]})
                rest, found = rest - c * row, found + c * image
        if rest.is_zero():
            return found
        image = self.world.atom(f"{name}({len(images.basis)})", 1)
        if name == K:
            self.dual |= _names(image)
        images.basis.append((rest, image))
        # Only numbers are divided by: other coefficients may be 0 for some letters.
        leading = next((m for m, c in rest.of.items() if c.numer.is_ground and c.denom.is_ground), None)
        if leading is not None:
            over = WorldValue({ONE: self.world.field.one / rest.of[leading]})
            images.rows.append((leading, rest * over, image * over))
        return found + image

    def inequalities(self) -> Iterator[KnownInequality]:
        """Yield what is known: K' is the adjoint of K, and what the norm and the least singular values say of the
        vectors that were asked and of their differences."""
        inner = self.world.inner
        for (i, (x, image)), (j, (y, pull)) in product(*(enumerate(self.images[name].basis) for name in (K, ADJOINT))):
            form = inner(image * y) - inner(x * pull)
            why = Phrase(("<K v, w> = <v, K' w> for v = ", x, " and w = ", y))
            if not form.is_zero():
                yield KnownInequality(f"{self._adjoint(i, j)} +", why, form)
                yield KnownInequality(f"{self._adjoint(i, j)} -", why, -form)
        for name, least in ((K, self.least), (ADJOINT, self.adjoint_least)):
            asked = list(self.images[name].asked.values())
            pairs = ((a[0] - b[0], a[1] - b[1]) for a, b in combinations(asked, 2))
            distinct = {v.name(): (v, image) for v, image in (*asked, *pairs)}
            for k, (v, image) in enumerate(distinct.values()):
                square, of_image = inner(v * v), inner(image * image)
                shown = name.replace(".T", "'")
                why = Phrase((f"|{shown} v| <= ", self.norm, " |v| for v = ", v))
                yield KnownInequality(f"{shown} norm[{k}]", why, of_image - self.norm * self.norm * square)
                if least is not None:
                    why = Phrase((f"|{shown} v| >= ", least, " |v| for v = ", v))
                    yield KnownInequality(f"{shown} least[{k}]", why, least * least * square - of_image)

    @staticmethod
    def _adjoint(i: int, j: int) -> str:
        return f"adjoint[{i},{j}]"

    def equal(self) -> dict[str, str]:
        """The names of the equalities in one sign, with those in the other."""
        counts = (range(len(self.images[name].basis)) for name in (K, ADJOINT))
        return {f"{self._adjoint(i, j)} +": f"{self._adjoint(i, j)} -" for i, j in product(*counts)}


def _names(value: WorldValue) -> set[str]:
    return {atom.name for _, atoms in value.of for atom in atoms}
