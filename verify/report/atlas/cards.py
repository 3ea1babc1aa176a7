"""The content of a claim's page: the entry of the audit beside the registered claim, as data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from markupsafe import Markup

from fedtheory import claims, plugins
from fedtheory.claims import Claim
from fedtheory.naming import file_name
from fedtheory.origins import ORIGINS
from verify.base.verdict import Verdict
from verify.evidence.counterexamples import Counterexample
from verify.report import by_hand, failures, letters, outcomes, placing, statement, terminal
from verify.report.atlas import figures, mathml
from verify.report.atlas.mathml import typeset
from verify.report.failures import FAILED, FailureMode
from verify.results import printed

#: Verdicts that a claim can have, in the order in which pages list them.
VERDICTS: tuple[Verdict, ...] = tuple(verdict for verdict in Verdict if verdict is not Verdict.OPEN)
_NAMED = re.compile(r"\\text\{[^{}]*\}|\\(?:le|frac|left|right)\b")


@dataclass(frozen=True)
class Paper:
    """A paper: its short name, its title, the version of its text, and the cards of its claims in order."""

    name: str
    title: str
    version: str
    cards: tuple[Card, ...] = field(repr=False)

    @property
    def slug(self) -> str:
        """The name of its page."""
        return file_name(self.name)

    @property
    def counts(self) -> dict[Verdict, int]:
        """The number of its claims with each verdict."""
        return counts(self.cards)

    @property
    def tested(self) -> int:
        """The number of printed statements that were tested; a literal reading counts apart from the claim as meant."""
        return sum(card.origin == "printed" and card.verdict is not Verdict.NOT_TESTED for card in self.cards)

    @property
    def failures(self) -> dict[FailureMode, tuple[Card, ...]]:
        """The cards on an errata page, by failure mode; those with one root stand together."""
        return {way: tuple(card for of in faults for card in of) for way, faults in self.faults.items()}

    @cached_property
    def faults(self) -> dict[FailureMode, list[tuple[Card, ...]]]:
        """The same, by failure mode and then by root, in the order of the paper."""
        found: dict[FailureMode, list[tuple[Card, ...]]] = {}
        for way in FailureMode:
            cards = {card.id: card for card in self.cards if card.failure_mode is way}
            if cards:
                found[way] = [tuple(cards[id] for id in ids) for ids in failures.by_root(cards.values()).values()]
        return found

    @property
    def failure_counts(self) -> list[str]:
        """The number of claims of each failure mode, in words; unprinted ones are split into implied and our own."""
        found = [
            failures.number(cards, way) for way, cards in self.failures.items() if way is not FailureMode.UNPRINTED
        ]
        for origin, words in (("implied", "false, though only implied"), ("observed", "false, but ours")):
            cards = tuple(card for card in self.failures.get(FailureMode.UNPRINTED, ()) if card.origin == origin)
            found += [failures.number(cards, words)] if cards else []
        return found

    @property
    def failed(self) -> int:
        """The number of printed statements that do not hold."""
        return sum(card.origin == "printed" for cards in self.failures.values() for card in cards)


@dataclass(frozen=True)
class Link:
    """A claim that another one refers to; ``card`` is None if the audit has no entry for it."""

    id: str
    card: Card | None

    @property
    def gist(self) -> str:
        """The claim in a line."""
        return self.card.gist if self.card else claims.get(self.id).gist

    @property
    def failed(self) -> bool:
        """True if the audit refutes it or finds it ill-posed."""
        return self.card is not None and self.card.verdict in FAILED


@dataclass(frozen=True)
class Culprit:
    """A failed claim on which a printed proof rests, ``through`` other failed claims, the nearest first."""

    link: Link
    through: tuple[Link, ...]

    @property
    def flaw(self) -> str:
        """The error in its own proof, in words; empty if that is not known."""
        return self.link.card.claim.flaw if self.link.card and self.link.card.claim else ""


@dataclass(frozen=True)
class Card:
    """All that pages show of a claim: its ``entry`` in an audit; ``claim``: None if the package does not know it."""

    entry: Mapping[str, Any]
    claim: Claim | None = field(repr=False)
    atlas: Atlas = field(repr=False, compare=False)

    @property
    def id(self) -> str:
        """The claim's id."""
        return self.entry["id"]

    @property
    def verdict(self) -> Verdict:
        """The verdict of the audit."""
        return Verdict(self.entry["verdict"])

    @property
    def example(self) -> Mapping[str, Any] | None:
        """The counterexample, as it is stored."""
        return self.entry["counterexample"]

    @property
    def slug(self) -> str:
        """The name of its page."""
        return file_name(self.id)

    @property
    def where(self) -> str:
        """Its place in the paper."""
        return self.claim.where if self.claim else str(self.entry["where"])

    @property
    def gist(self) -> str:
        """The claim in a line; empty if the package does not know it."""
        return self.claim.gist if self.claim else ""

    @property
    def kind(self) -> str:
        """The sort of statement."""
        return self.claim.kind if self.claim else str(self.entry["kind"])

    @property
    def margin(self) -> str:
        """The margin to three digits, or a dash."""
        margin = self.entry["margin"]
        return "–" if margin is None else f"{margin:.3g}".replace("-", "−")

    # The paper's text

    @property
    def origin(self) -> str:
        """The origin: printed, implied or observed; "" if that is not declared."""
        return self.claim.origin if self.claim else ""

    @property
    def origin_words(self) -> str:
        """The meaning of the origin."""
        return ORIGINS.get(self.origin, "")

    @property
    def literal_of(self) -> str | None:
        """The id of the claim as meant, if this one is the literal reading of what is printed."""
        return self.claim.literal_of if self.claim else None

    @property
    def root(self) -> str:
        """The fault that makes it fail, if several claims share one; "" otherwise."""
        return self.claim.root if self.claim else ""

    @property
    def meant(self) -> Link | None:
        """The claim as meant, if this one is its literal reading."""
        return self.atlas.link(self.literal_of) if self.literal_of else None

    @cached_property
    def letters(self) -> tuple[Link, ...]:
        """The literal readings of this claim."""
        return tuple(map(self.atlas.link, self.atlas.letters.get(self.id, ())))

    @property
    def printed(self) -> Markup:
        """The formula as it stands in the paper, in MathML; empty if there is none."""
        return mathml.formula(self.claim.formula) if self.claim and self.claim.formula else Markup("")

    @property
    def failure_mode(self) -> FailureMode | None:
        """The failure mode of the claim; None if it holds."""
        return failures.failure_mode(self, self.atlas.verdicts)

    # The statement

    @cached_property
    def prose(self) -> list[str]:
        """The statement in words, for the kinds that have no formula."""
        return statement.prose(self.claim) if self.claim else []

    @cached_property
    def latex(self) -> list[str]:
        """The statement in LaTeX, a formula each."""
        return statement.formulas(self.claim) if self.claim else []

    @property
    def formulas(self) -> list[Markup]:
        """The statement in MathML, a formula each."""
        return [mathml.formula(latex) for latex in self.latex]

    @property
    def only_words(self) -> bool:
        """True if the formulas have no letter, only names that are words, so that they convey little by themselves."""
        return bool(self.latex) and not any(re.search(r"[A-Za-z]", _NAMED.sub("", latex)) for latex in self.latex)

    @property
    def meanings(self) -> list[tuple[Markup, str]]:
        """Quantities in the statement with their meanings; each meaning once."""
        found = statement.meanings(self.claim) if self.claim else []
        return [(mathml.inline(name), meaning) for name, meaning in dict.fromkeys(found)]

    @property
    def symbols(self) -> list[tuple[Markup, str]]:
        """The letters of the paper that the page uses, with their meanings."""
        found = letters.meanings(self.claim) if self.claim else []
        return [(mathml.inline(letters.latex(name)), meaning) for name, meaning in found]

    @property
    def equality(self) -> bool:
        """True if the statement consists of equalities only, so that its margin is a residual."""
        comparisons = getattr(self.claim.statement, "comparisons", ()) if self.claim else ()
        return bool(comparisons) and all(comparison.relation == "==" for comparison in comparisons)

    @property
    def scope(self) -> str:
        """The setting in which it is stated and tested, with every restriction."""
        return statement.scope(self.claim) if self.claim else ""

    # Related claims

    @property
    def repairs(self) -> Link | None:
        """The claim that this one repairs."""
        return self.atlas.link(self.claim.repairs) if self.claim and self.claim.repairs else None

    @cached_property
    def repaired(self) -> tuple[Link, ...]:
        """The claims that repair this one."""
        return tuple(map(self.atlas.link, self.atlas.repaired.get(self.id, ())))

    @property
    def uses(self) -> tuple[Link, ...]:
        """The claims on which its printed proof rests."""
        return tuple(map(self.atlas.link, self.claim.uses)) if self.claim else ()

    @property
    def follows(self) -> tuple[Link, ...]:
        """The claims whose printed proofs rest on this one."""
        return tuple(map(self.atlas.link, self.atlas.follows.get(self.id, ())))

    @cached_property
    def culprits(self) -> tuple[Culprit, ...]:
        """The failed claims on which the printed proof rests, directly or through other failed claims; the nearest
        first.
        """
        link = self.atlas.link

        def uses(id: str) -> list[str]:
            card = link(id).card
            return [used.id for used in card.uses if used.failed] if card else []

        _, *found = claims.behind(self.id, uses)
        return tuple(Culprit(link(id), tuple(map(link, path[1:]))) for id, path in found)

    @property
    def rounds(self) -> int | None:
        """The number of rounds after which the counterexample contradicts a bound for every number of them; None
        otherwise.
        """
        bound = self.claim is not None and self.claim.statement.horizon
        return self.example["rounds"] if bound and self.example else None

    @property
    def beside(self) -> Beside | None:
        """This claim beside the first that repairs it."""
        found = next((link for link in self.repaired if link.card and link.card.claim), None)
        return Beside(self, found.card) if found and found.card and self.claim else None

    # The evidence

    @property
    def applied(self) -> tuple[Mapping[str, Any], ...]:
        """The outcomes of the methods that ran."""
        return tuple(outcome for outcome in self.entry["outcomes"] if outcome["applied"])

    @property
    def deciding(self) -> list[str]:
        """The methods that reached a verdict."""
        return [outcome["method"] for outcome in self.applied if outcome["verdict"] is not None]

    @property
    def skipped(self) -> dict[str, list[str]]:
        """The methods that were not run, by the reason."""
        found: dict[str, list[str]] = {}
        for outcome in self.entry["outcomes"]:
            if not outcome["applied"]:
                found.setdefault(outcome["note"], []).append(outcome["method"])
        return found

    @cached_property
    def proof(self) -> str | None:
        """The proof in LaTeX, if the package carries one and the audit agrees that the claim is proved."""
        return printed(self.id) if self.verdict == Verdict.PROVED else None

    @property
    def margin_figure(self) -> Markup:
        """The margin on a scale; empty for equalities, and without a margin."""
        margin = self.entry["margin"]
        return Markup("") if margin is None or self.equality else figures.margin(margin)

    @property
    def margin_words(self) -> str:
        """The meaning of the margin, in words."""
        margin = self.entry["margin"]
        if margin is None:
            return ""
        found = figures.margin_words(margin, self.equality)
        return (
            f"{found}; {terminal.NO_RATIO}" if self.counterexample and terminal.no_ratio(self.counterexample) else found
        )

    @property
    def sides(self) -> Markup:
        """Both sides of the counterexample as bars."""
        return Markup("") if self.example is None else figures.sides(*self._sides)

    @property
    def excess(self) -> str:
        """The ratio of the left side of the counterexample to the right one; empty if that has no meaning."""
        return "" if self.example is None else figures.excess(*self._sides)

    @property
    def _sides(self) -> tuple[str, str, str]:
        example = self.entry["counterexample"]
        return example["left"], example["relation"], example["right"]

    @cached_property
    def counterexample(self) -> Counterexample | None:
        """The counterexample, if the package knows the claim; None if it cannot be rebuilt."""
        if not self.replayable:
            return None
        try:
            return Counterexample.from_json(self.example or {})
        except ValueError:
            return None

    @property
    def place(self) -> str:
        """The instance of the counterexample and its state, in words."""
        if self.counterexample:
            return placing.instance(self.counterexample, self.by_hand)
        return str(self.example["text"] if self.example else "")

    @cached_property
    def by_hand(self) -> list[str]:
        """Instructions to follow the counterexample by hand."""
        return by_hand.lines(self.counterexample) if self.counterexample else []

    @property
    def scalars(self) -> list[tuple[str, str]]:
        """Names and values of the numbers in the counterexample's recipe."""
        return outcomes.scalars(self.example["recipe"]) if self.example else []

    @property
    def tables(self) -> list[outcomes.LetterTable]:
        """The parts of the counterexample's recipe that have rows, such as the clients."""
        return outcomes.tables(self.example["recipe"]) if self.example else []

    @property
    def replayable(self) -> bool:
        """True if there is a counterexample to a claim that the package knows."""
        return self.claim is not None and self.example is not None


@dataclass(frozen=True)
class Beside:
    """A printed statement beside the one that holds; each is marked where it differs from the other."""

    printed: Card
    repaired: Card

    @cached_property
    def formulas(self) -> tuple[Sequence[Markup], Sequence[Markup]]:
        """The formulas of both, with the differences marked."""
        first, second = self.printed.latex, self.repaired.latex
        return mathml.compared(first, second) if first and second else (self.printed.formulas, self.repaired.formulas)

    @property
    def same_formulas(self) -> bool:
        """True if they differ in their hypotheses or readings only."""
        return self.printed.latex == self.repaired.latex

    @property
    def hypotheses(self) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
        """The hypotheses of both, each with True if the other lacks it."""
        ours, theirs = ([h.text for h in card.claim.requires] if card.claim else [] for card in self._both)
        # If one of them states none there is nothing to compare.
        both = bool(ours and theirs)
        return [(h, both and h not in theirs) for h in ours], [(h, both and h not in ours) for h in theirs]

    @property
    def settings(self) -> tuple[Markup, Markup] | None:
        """The settings of both, with the words marked that the other does not have; None if they are the same."""
        first, second = (card.scope for card in self._both)
        return None if first == second else (_marked(first, second), _marked(second, first))

    @property
    def _both(self) -> tuple[Card, Card]:
        return self.printed, self.repaired


class Atlas:
    """All cards of an audit, and the links between claims."""

    def __init__(self, audit: Mapping[str, Any]) -> None:
        self.audit = audit
        known = {claim.id: claim for claim in claims.all()}
        for entry in audit["claims"]:
            if entry["id"] not in known and (own := _own(entry["id"])) is not None:
                known[entry["id"]] = own
        self.cards = tuple(Card(entry, known.get(entry["id"]), self) for entry in audit["claims"])
        self._by_id = {card.id: card for card in self.cards}
        self.repaired = _inverse((claim.id, (claim.repairs,)) for claim in known.values() if claim.repairs)
        self.follows = _inverse((claim.id, claim.uses) for claim in known.values())
        self.letters = _inverse((claim.id, (claim.literal_of,)) for claim in known.values() if claim.literal_of)
        self.verdicts = {card.id: str(card.verdict) for card in self.cards}

    def link(self, id: str) -> Link:
        """Return the link to the claim of this id."""
        return Link(id, self._by_id.get(id))

    @cached_property
    def papers(self) -> tuple[Paper, ...]:
        """The papers in the registry's order, then others as they come."""
        by_paper: dict[str, list[Card]] = {name: [] for name in plugins.every()}
        for card in self.cards:
            by_paper.setdefault(card.entry["paper"], []).append(card)
        return tuple(Paper(name, *_title(name), tuple(cards)) for name, cards in by_paper.items() if cards)

    @property
    def counts(self) -> dict[Verdict, int]:
        """The number of claims with each verdict."""
        return counts(self.cards)


def counts(cards: Iterable[Card]) -> dict[Verdict, int]:
    """Return the number of cards with each verdict."""
    found: dict[Verdict, int] = dict.fromkeys(VERDICTS, 0)
    for card in cards:
        found[card.verdict] += 1
    return found


def _marked(text: str, other: str) -> Markup:
    """Return the text, with those words marked that the other does not have; all of it if they are hardly alike."""
    parts = re.split(f"[{statement.OPEN}{statement.CLOSE}]", statement.against(text, [other]))
    return Markup("").join(
        Markup("<mark>{}</mark>" if i % 2 else "{}").format(typeset(part)) for i, part in enumerate(parts)
    )


def _own(id: str) -> Claim | None:
    """Return a user's claim that this process knows."""
    try:
        return claims.get(id)
    except ValueError:
        return None


def _inverse(pairs: Iterable[tuple[str, tuple[str, ...]]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for id, others in pairs:
        for other in others:
            found.setdefault(other, []).append(id)
    return found


def _title(paper: str) -> tuple[str, str]:
    """Return the first sentence on a registered paper and its version; the name of another."""
    known = plugins.every().get(paper)
    return (paper, "") if known is None else (known.title, known.version)
