"""Papers by section: what the claims of a theorem share is written once, and what is printed stands with each claim."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypedDict, Unpack

import sympy

from fedtheory.claims import Claim
from fedtheory.kinds.base import Statement
from fedtheory.kinds.bound import bound
from fedtheory.kinds.inequality import inequality
from fedtheory.kinds.one_step import one_step
from fedtheory.settings import Setting
from fedtheory.settings.hypotheses import Hypothesis
from fedtheory.settings.relations import Relation, stated


class Parts(TypedDict, total=False):
    """The parts of a claim that are its own, as :class:`fedtheory.claims.Claim` has them."""

    where: str
    kind: str
    setting: Setting
    requires: tuple[Hypothesis | sympy.Rel, ...]
    reading: str
    origin: str
    repairs: str
    literal_of: str
    uses: tuple[str, ...]
    flaw: str
    follows: tuple[str, ...]
    later: str
    given: tuple[str, ...]
    root: str


@dataclass(frozen=True)
class Section:
    """A section, a theorem or another place of a paper, and what the claims that stand there share.

    ``paper``: the paper's id; ``where``: the place, as its claims name it; ``setting``, ``requires``: theirs; ``id``:
    what their ids begin with after the paper's, "" for nothing.
    """

    paper: str
    where: str
    setting: Setting
    requires: tuple[Hypothesis | sympy.Rel, ...]
    id: str

    def __call__(
        self,
        id: str,
        statement: Statement | Relation | sympy.Rel,
        gist: str = "",
        *,
        tex: str | None = None,
        **parts: Unpack[Parts],
    ) -> Claim:
        """Return the claim that stands here under this id, "" where the claim is the whole section.

        ``statement``: a relation as it is printed, which is about one step where quantities are taken ``.next``, about
        T rounds where they are taken at ``.T``, and about one state otherwise; or a statement of any kind. ``tex``: the
        formula as printed, "" where a sentence has none; what is not printed has an ``origin`` in its place, or
        ``repairs`` another claim. Other parts of the claim come before those of the section, and other claims of the
        paper are named by their ids after the paper's. Raise ``ValueError`` if the origin of the claim is missing, or
        the relation is about no single time.
        """
        if not isinstance(id, str):
            raise ValueError(f"a claim of {self.where} has an id in words, '' where it is all of it, got {id!r:.100}")
        name = "/".join(part for part in (self.paper, self.id, id) if part)
        if "origin" not in parts:
            if tex is None and "repairs" not in parts:
                choices = "tex=, its formula as printed ('' for words alone), or origin='implied' or 'observed'"
                raise ValueError(f"it is not stated whether {name} is printed, implied or observed: write {choices}")
            parts["origin"] = "observed" if tex is None else "printed"
        for one in ("repairs", "literal_of"):
            if one in parts:
                parts[one] = self._named(parts[one])
        for several in ("uses", "follows", "given"):
            if several in parts:
                if not isinstance(parts[several], tuple | list):
                    raise ValueError(f"{several} of {name} is a tuple of ids of claims, got {parts[several]!r:.100}")
                parts[several] = tuple(map(self._named, parts[several]))
        shared: Parts = {"where": self.where, "setting": self.setting, "requires": self.requires}
        own: Parts = {**shared, **parts}
        return Claim(name, gist=gist, statement=_statement(name, own["setting"], statement), formula=tex or "", **own)

    def _named(self, id: str) -> str:
        return id if id.startswith(f"{self.paper}/") else f"{self.paper}/{id}"


def section(
    paper: str, where: str, setting: Setting, *requires: Hypothesis | sympy.Rel, id: str | None = None
) -> Section:
    """Return a place of a paper, whose claims are about one setting and under the same hypotheses.

    Args:
        paper: The paper's id.
        where: The place, as its claims name it: "Theorem 3.1".
        setting: The setting of its claims.
        requires: Their hypotheses.
        id: What the ids of its claims begin with after the paper's; "Theorem 3.1" gives theorem-3.1 by default.

    Returns:
        The place; called with an id, a statement and a gist it makes a claim.

    Raises:
        ValueError: If the place is not a text, or the setting is not a setting.

    Examples:
        >>> import fedtheory as ft
        >>> mu, L = ft.letters("mu L")
        >>> setting = ft.Setting(functions=ft.SmoothStronglyConvex(mu, L))
        >>> D, F = ft.Quantity("D", ft.distance), ft.Quantity("F", ft.gap)
        >>> lemma_1 = ft.section("mine", "Lemma 1", setting)
        >>> lemma_1("growth", mu / 2 * D <= F, "values grow quadratically", tex="").id
        'mine/lemma-1/growth'
    """
    if not isinstance(where, str) or not isinstance(setting, Setting):
        raise ValueError(f"a section is a place in words, with a Setting, got {where!r:.100} and {setting!r:.100}")
    return Section(paper, where, setting, requires, _slug(where) if id is None else id)


def _slug(where: str) -> str:
    """Return a place as a part of an id: eq-13 for "eq. (13)", appendix-A for "Appendix A"."""
    words = re.sub(r"(?:\.(?!\d)|[^\w.])+", "-", where).strip("-")
    return re.sub(r"[A-Za-z]{2,}", lambda word: word.group().lower(), words)


def _statement(name: str, setting: Setting, written: Statement | Relation | sympy.Rel) -> Statement:
    """Return what is written as a statement of its kind; relations are of the setting's method."""
    if isinstance(written, Statement):
        return written
    relation = stated(written)
    times = {quantity.time for quantity in relation.quantities if quantity.after or quantity.time}
    if not times:
        return inequality(relation)
    method = setting.algorithm
    if method is None:
        raise ValueError(f"{name} is about a step or a run, and its setting has no method")
    if times == {"next"}:
        return one_step(method, relation)
    if times in ({"T"}, {"zero", "T"}):
        return bound(method, relation)
    advice = "write .next after one step, .T after T rounds and .zero where runs begin, or a statement of a kind"
    raise ValueError(f"it is not clear after how many steps the quantities of {name} are taken: {advice}")
