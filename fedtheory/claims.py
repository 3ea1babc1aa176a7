"""Claims: the statements of the papers, transcribed as printed, and the registry that holds them."""

from __future__ import annotations

import builtins
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from inspect import Parameter, signature
from typing import Any

import sympy

from fedtheory import definitions, naming, plugins
from fedtheory.algorithms.base import OF_PROBLEM
from fedtheory.algorithms.schedules import ROUND
from fedtheory.classes import FunctionClass
from fedtheory.instances import Instances
from fedtheory.kinds.agreement import Agreement
from fedtheory.kinds.base import Statement, free_symbols, measured
from fedtheory.kinds.compressor_class import CompressorClass
from fedtheory.kinds.scope import Scope
from fedtheory.kinds.untested import Untested
from fedtheory.numbers import validation
from fedtheory.numbers.symbols import T, d, k, round_index
from fedtheory.origins import checked
from fedtheory.settings import COMPRESSOR, Setting
from fedtheory.settings.hypotheses import Hypothesis, hypothesis
from fedtheory.settings.quantities import composite_gap, gap
from fedtheory.settings.relations import of_one_state

#: The setting and the statement of a claim whose author wrote none.
NOWHERE, NOTHING = Setting(), Untested("", "")


@dataclass(frozen=True)
class Claim:
    """A statement of a paper.

    Only ``id``, ``setting`` and ``statement`` are needed for a theorem of one's own; the rest says where a paper prints
    what, and how its claims hang together.

    Args:
        id: As in the list of claims: "paper/where/what", with the paper's short name first.
        where: The place in the paper.
        kind: The sort of statement; that of ``statement`` by default.
        gist: The claim in one line.
        setting: What it quantifies over.
        statement: What it states.
        requires: The hypotheses as printed: relations between letters, :class:`Hypothesis` objects, or functions of
            (problem, params). Membership in the classes of the setting is added.
        reading: How something that the paper leaves open is read.
        origin: "printed" in its paper, "implied" by it or "observed" by us (:mod:`fedtheory.origins`), "" where its
            author does not say.
        formula: What is printed, in LaTeX as it stands there, "" where it is words alone.
        repairs: The id of the claim that this one repairs.
        literal_of: The id of the claim for what is meant, where this one is about the letter of what is printed.
        uses: The ids of the claims on which its printed proof rests.
        flaw: Where its printed proof goes wrong, in words, should the claim be refuted and no claim that it uses be to
            blame.
        follows: The ids of claims from which it is to be derived, by rules that are checked.
        later: What a later version of the paper says in its place.
        given: The ids of claims whose bounds its own sides restate, as rounds restate a rate: it holds only if they do,
            and no verdict of it is stronger than theirs.
        root: The fault of the paper that makes it fail, in a few words, where several claims share one fault.
        changes: What :meth:`variant` changed.

    Raises:
        ValueError: If statement, setting and hypotheses do not fit together: a name that stands for two things, a
            letter without a value, a constant that the class does not have.

    Examples:
        >>> import fedtheory as ft
        >>> x, y = ft.letters("x y")
        >>> setting = ft.Setting("all x, y > 0", letters=(x, y))
        >>> claim = ft.Claim("own/am-gm", setting=setting, statement=ft.Inequality(4 * x * y, (x + y) ** 2))
        >>> claim.paper, claim.kind
        ('own', 'inequality')
    """

    id: str
    where: str = ""
    kind: str = ""
    gist: str = ""
    setting: Setting = NOWHERE
    statement: Statement = NOTHING
    requires: tuple[Hypothesis, ...] = ()
    reading: str = ""
    origin: str = ""
    formula: str = ""
    repairs: str | None = None
    literal_of: str | None = None
    uses: tuple[str, ...] = ()
    flaw: str = ""
    follows: tuple[str, ...] = ()
    later: str = ""
    given: tuple[str, ...] = ()
    root: str = ""
    changes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        naming.check_id(self.id)
        if self.statement is NOTHING or self.setting is NOWHERE:
            missing = "statement" if self.statement is NOTHING else "setting"
            raise ValueError(f"the claim {self.id} has no {missing}: write {missing}=...")
        if not isinstance(self.statement, Statement) or not isinstance(self.setting, Setting):
            raise ValueError(f"the claim {self.id} must have a statement and a setting")
        checked(self.id, self.origin, self.where, self.formula, self.literal_of)
        # A relation alone is a hypothesis in its own words.
        given = self.requires if isinstance(self.requires, tuple | list) else (self.requires,)
        requires = tuple(h if isinstance(h, Hypothesis) else hypothesis(f"{self.id}, requires", h) for h in given)
        if self.setting.algorithm is not None and not self.setting.letters:
            statement, requires = definitions.put_in(self.statement, requires, self._valued())
            object.__setattr__(self, "statement", statement)
        object.__setattr__(self, "requires", requires)
        object.__setattr__(self, "kind", self.kind or self.statement.kind)
        self._check_letters()
        self._check_sources()
        self._check_start()
        plain = not self.setting.letters or bool(self.setting.own)
        if self.setting.algorithm is not None and plain and not self.setting.drawing.parameters:
            # Parts that the author leaves out follow from the statement.
            letters, text = self._default_letters(), self._setting_text()
            object.__setattr__(self, "setting", replace(self.setting, letters=letters, text=text))
        if not self.setting.drawing.classes_stated and "requires" not in self.changes:
            object.__setattr__(self, "requires", (*self.requires, *self._classes()))
        self._check_schedules()
        self._check_gaps()

    def _check_gaps(self) -> None:
        """Raise ``ValueError`` if a gap is not that of the problems of the setting."""
        functions, used = self.setting.functions, {q.of for q in of_one_state(self.statement.quantities)}
        if functions is None or not used & {gap, composite_gap}:
            return
        if functions.operators:
            raise ValueError(f"{self.id} is about operators, which have no values: ft.gap is of functions")
        beside_g = functions.with_g and not functions.sets
        if gap in used and beside_g and not functions.coupled:
            raise ValueError(
                f"{self.id} is about f + g, and ft.gap is f(x) - f(x*) alone: write ft.composite_gap, "
                "or a quantity of your own if g is left out on purpose"
            )
        if composite_gap in used and not beside_g:
            raise ValueError(f"{self.id} uses ft.composite_gap, and its functions have no g: write ft.gap")

    def _classes(self) -> Iterator[Hypothesis]:
        """Yield the hypotheses of membership in those classes of the setting that no given hypothesis states."""
        for part in self.setting.classes:
            if not any(h.states_membership((part,), ("contains",)) for h in self.requires):
                yield Hypothesis(part.text, met=part.contains)

    def _valued(self) -> frozenset[str]:
        """The names of letters that an instance gives values, and of what is measured: no hypothesis defines them."""
        algorithm, functions = self.setting.algorithm, self.setting.functions
        named = {*getattr(getattr(algorithm, "Params", None), "_fields", ()), *OF_PROBLEM, "mu", "L", "T", ROUND, "k"}
        named |= {str(letter) for letter in getattr(functions, "letters", ())}
        for adversary in self.setting.adversaries:
            named |= set(adversary.letters)
        others = (*measured(self.statement), *self.statement.assignments, *self.setting.drawing.typical)
        return frozenset(named | set(map(str, others)))

    def _setting_text(self) -> str:
        """Return what the statement quantifies over, in words, with the schedules of its method."""
        schedules = getattr(self.setting.algorithm, "schedules", {})
        schedules_text = ", ".join(f"{name} = {schedule}" for name, schedule in schedules.items())
        return f"{self.setting.text}; in round k, {schedules_text}" if schedules_text else self.setting.text

    def _check_letters(self) -> None:
        """Raise ``ValueError`` if a name stands for two things, a hypothesis contains no letter, or the method has
        other parameters or states than that of the setting."""
        subject, setting = f"the claim {self.id}", self.setting
        method = self.statement.algorithm
        for named in ("Params", "State") if method is not None and setting.algorithm is not None else ():
            theirs, ours = (getattr(getattr(of, named), "_fields", ()) for of in (method, setting.algorithm))
            if theirs != ours:
                raise ValueError(f"{subject} is of a method with {named} {theirs}, where its setting's has {ours}")
        relations = [h.relation for h in self.requires if h.relation is not None]
        known, assigned = measured(self.statement), set(self.statement.assignments)
        stated = sympy.Tuple(*relations, *setting.domain).free_symbols
        rounds = {T} if self.statement.horizon else set()
        for symbol in sorted(stated & (known | assigned | rounds), key=str):
            raise ValueError(
                f"{subject}: a hypothesis mentions {symbol}, and is a condition on letters that have values"
            )
        of_class = {getattr(setting.functions, end, None) for end in ("mu", "L")}
        letters = {*free_symbols(self.statement), *stated, *setting.letters, *setting.drawing.typical, *of_class}
        letters = {letter for letter in letters if isinstance(letter, sympy.Symbol)}
        for letter in sorted(assigned & set(getattr(setting.functions, "letters", ())), key=str):
            raise ValueError(f"{subject}: a rule assigns parameters, and {letter} is given with the class of functions")
        for letter in sorted(letters & of_class, key=str):
            if not validation.letter(f"{subject}, its class of functions", letter).is_nonnegative:
                raise ValueError(f"{subject}: the constant {letter} of its functions must be positive or nonnegative")
        params = getattr(getattr(setting.algorithm, "Params", None), "_fields", ())
        for symbol in sorted(known, key=str):
            if symbol in letters or str(symbol) in params:
                raise ValueError(f"{subject}: {symbol} is a letter, so the quantity of that name needs another one")
        validation.one_name_each(subject, letters | known | assigned | rounds)

    def _check_sources(self) -> None:
        """Raise ``ValueError`` if the setting says which letters there are, and a claim uses another one."""
        if not self.setting.letters or self.setting.own or self.setting.of_constants:
            return
        known = set().union(*(letter.free_symbols for letter in self.setting.sources))
        for letter in sorted(self._free_symbols() - known, key=str):
            raise ValueError(
                f"the claim {self.id} mentions {letter}, which its setting leaves out of its letters: add it"
            )

    def _check_start(self) -> None:
        """Raise ``ValueError`` if runs begin at what ``init`` makes, and it asks for a part that nothing gives."""
        setting, algorithm = self.setting, self.statement.algorithm
        start = setting.drawing.start
        if algorithm is None or not self.statement.horizon or setting.functions is None or not setting.centred:
            return
        if setting.drawing.special is not None:
            return
        for part in list(signature(algorithm.init).parameters.values())[2:]:
            kinds = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
            if part.default is Parameter.empty and part.kind in kinds and part.name not in start:
                raise ValueError(
                    f"the claim {self.id}: init of {algorithm.name} asks for {part.name}, which nothing gives: "
                    f"write {part.name}=None, or leave it free by Drawing(start={(*start, part.name)})"
                )

    def _check_schedules(self) -> None:
        """Raise ``ValueError`` if parameters vary with the round, and statement or setting do not allow for it."""
        statement, subject = self.statement, f"the claim {self.id}"
        methods = [getattr(of, name, None) for of in (statement, self.setting) for name in ("algorithm", "second")]
        varying = [set(method.schedules) for method in methods if method is not None]
        if not any(varying):
            return
        if any(names != varying[0] for names in varying):
            raise ValueError(f"{subject}: other parameters vary with the round than in its setting")
        if statement.scope in (Scope.LIMIT, Scope.RUNS) or isinstance(statement, Agreement):
            raise ValueError(f"{subject}: limits and whole runs are not tested where parameters vary with the round")
        free = self._free_symbols()
        named = sorted({str(letter) for letter in free} & varying[0])
        if named:
            raise ValueError(f"{subject} mentions {named[0]}, which has a schedule: write its expression in k")
        if any(str(letter) == str(round_index) and letter != round_index for letter in free):
            raise ValueError(f"{subject} uses a k other than fedtheory.round_index, which may be 0")
        if statement.horizon:
            if round_index in free:
                raise ValueError(
                    f"{subject} is a bound after T rounds: k may only be the index of a sum or product in it"
                )
        elif ROUND not in self.setting.sources.values():
            raise ValueError(f"{subject} is of every round: give its setting the letter round_index: {ROUND!r}")

    def _free_symbols(self) -> set[sympy.Symbol]:
        """The letters of the statement, of the hypotheses and of what the setting says, quantities left out."""
        relations = [h.relation for h in self.requires if h.relation is not None] + list(self.setting.domain)
        found: set[sympy.Symbol] = sympy.Tuple(*relations).free_symbols
        return found | free_symbols(self.statement)

    def _default_letters(self) -> Mapping[sympy.Expr, Any] | tuple[sympy.Symbol, ...]:
        """The letters of the statement and of the hypotheses, each with its own name, and the round, if any varies."""
        algorithm: Any = self.setting.algorithm
        functions = self.setting.functions
        of_class = {} if functions is None else dict(functions.letters)
        found = self._free_symbols() | set(of_class)
        if functions is not None:
            self._check_constants(functions, found - set(of_class))
        known = {str(letter) for letter in found} | {adversary.field for adversary in self.setting.adversaries}
        varying = {*algorithm.schedules, ROUND} if algorithm.schedules else set()
        fields = [
            name for name in getattr(algorithm.Params, "_fields", ()) if name not in {*varying, *self.setting.own}
        ]
        # Parameters that the statement does not mention may have any value.
        others = [sympy.Symbol(name, positive=True) for name in fields if name not in known]
        letters = (*of_class, *sorted(found - set(of_class), key=str), *others)
        if self.setting.own:
            # Letters for what each client has of its own have the sources that the author states.
            given = dict(self.setting.sources)
            return {letter: given.get(letter, of_class.get(letter, str(letter))) for letter in letters}
        if not varying or self.statement.horizon:
            return letters
        # Every round is meant; a bound is about the runs that begin with round 0.
        return {letter: of_class.get(letter, str(letter)) for letter in letters} | {round_index: ROUND}

    def _check_constants(self, functions: FunctionClass, letters: set[sympy.Basic]) -> None:
        """Raise ``ValueError`` if a letter, or a parameter, has the name of a constant that the class does not have."""
        named = {str(letter) for letter in letters} & {"mu", "L", "kappa"}
        missing = sorted(named - set(functions.constants))
        if missing:
            raise ValueError(f"the claim {self.id} mentions {missing[0]}, and functions {functions.text} have none")
        parameters = set(getattr(getattr(self.setting.algorithm, "Params", None), "_fields", ()))
        taken = sorted(parameters & {"mu", "L", "kappa"} - {str(letter) for letter in functions.letters})
        if taken:
            parameter = f"a parameter {taken[0]}, a constant of the problem that is not a letter of its class"
            raise ValueError(f"the claim {self.id} is of a method with {parameter}: give it another name")

    @property
    def paper(self) -> str:
        """The paper's short name."""
        return self.id.split("/")[0]

    @property
    def instances(self) -> Instances:
        """The instances on which the claim is tested. Raise ``ValueError`` if none are known."""
        from fedtheory.sampling.derived import instances

        return instances(self)

    def __reduce__(self) -> Any:
        # Statements hold functions, which do not travel between processes; the id of a registered claim does.
        if self.changes:
            raise TypeError(f"the changed claim {self.id} cannot be sent to another process")
        return get, (self.id,)

    def variant(self, **changes: object) -> Claim:
        """Return the claim with parts of its statement, or its hypotheses, replaced; its id gains a "*".

        Args:
            **changes: The new parts by name: the statement's fields, such as ``factor=``, ``bound=``, ``algorithm=``,
                ``omega=`` or ``left=``, and ``requires=``, a tuple of hypotheses that takes the place of all.

        Returns:
            The changed claim; nobody printed it, so it has no origin.

        Raises:
            ValueError: If a name is not a part of the statement; the message lists the parts.

        Examples:
            >>> import fedtheory as ft
            >>> x, y = ft.letters("x y")
            >>> statement = ft.Inequality(4 * x * y, (x + y) ** 2)
            >>> claim = ft.Claim("own/am-gm", setting=ft.Setting(letters=(x, y)), statement=statement)
            >>> claim.variant(left=5 * x * y).id
            'own/am-gm*'
        """
        names = tuple(changes)
        requires = changes.pop("requires", self.requires)
        if not isinstance(requires, tuple | list) or not builtins.all(isinstance(h, Hypothesis) for h in requires):
            raise ValueError("requires must be a tuple of hypotheses")
        statement = self.statement.changed(changes)
        return replace(
            self,
            id=self.id.rstrip("*") + "*",
            statement=statement,
            requires=tuple(requires),
            # A changed claim is printed nowhere.
            origin="",
            formula="",
            literal_of=None,
            later="",
            changes=(*self.changes, *names),
        )


def compressor_claim(
    id: str, compressor: Callable[[int, int], Any], omega: object, bits: object = None, **more: Any
) -> Claim:
    """Return the claim that a compressor is unbiased and in U(omega), and that its message has a length.

    Args:
        id: The id of the claim.
        compressor: ``compressor(d, k)`` makes the :class:`Compressor` of dimension d that keeps k coordinates.
        omega: The variance, an expression in ``fedtheory.d`` and ``fedtheory.k``.
        bits: The length of the longest message in bits, an expression in d and k; None to assert nothing of it.
        **more: Further fields of :class:`Claim`.

    Returns:
        The claim, about all d >= 1 and 1 <= k <= d.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory.compressors import rand_k
        >>> claim = ft.compressor_claim("own/rand-k", rand_k, omega=ft.d / ft.k - 1)
        >>> claim.statement.omega
        d/k - 1
    """
    length = None if bits is None else sympy.sympify(bits)
    statement = CompressorClass(compressor, sympy.sympify(omega), length, d, k)
    return Claim(id, setting=COMPRESSOR, statement=statement, **more)


@cache
def of_paper(paper: str) -> Mapping[str, Claim]:
    """The claims of a paper, by id; none where there is no such paper. No other paper is loaded."""
    found: dict[str, Claim] = {}
    for claim in plugins.get(paper).claims if paper in plugins.places() else ():
        if not isinstance(claim, Claim):
            raise ValueError(f"the claims of the paper {paper} must be claims, got {claim!r:.100}")
        if claim.id in found:
            raise ValueError(f"the claim {claim.id} is registered twice")
        found[claim.id] = claim
    return found


@cache
def _registry() -> dict[str, Claim]:
    return {id: claim for paper in plugins.every() for id, claim in of_paper(paper).items()}


#: The user's own claims, by id: known to this process, and part of no paper.
_own: dict[str, Claim] = {}


def register(own: Iterable[Claim]) -> None:
    """Make claims known by their ids to this process; a claim registered before under the same id is replaced.

    Args:
        own: The claims.

    Raises:
        ValueError: For an id that a paper's claim has, or that two of them have.

    Examples:
        >>> import fedtheory as ft
        >>> from fedtheory import claims
        >>> x = ft.letters("x")
        >>> mine = ft.Claim("own/square", setting=ft.Setting(letters=(x,)), statement=ft.Inequality(2 * x, 1 + x**2))
        >>> claims.register([mine])
        >>> claims.get("own/square") is mine
        True
    """
    found: dict[str, Claim] = {}
    for claim in own:
        if claim.id in of_paper(claim.paper) or claim.id in found:
            raise ValueError(f"the claim {claim.id} is registered twice: ids must differ")
        found[claim.id] = claim
    _own.update(found)


def all() -> tuple[Claim, ...]:
    """Return all claims of the papers, in their order; a repaired claim follows the one that it repairs.

    Returns:
        The claims of the papers in this package, and of those that are installed.
    """
    return tuple(_registry().values())


def get(id: str) -> Claim:
    """Return the claim with this id.

    Args:
        id: The id, as ``fedtheory list`` prints it, or that of a claim that was registered.

    Returns:
        The claim.

    Raises:
        ValueError: If there is no such claim; the message suggests ids that are near.

    Examples:
        >>> from fedtheory import claims
        >>> claims.get("locodl/theorem-3.1/one-step").where
        'eq. (19)'
    """
    # Ids of a paper's claims begin with the paper's, so that no other paper is loaded for one.
    found = of_paper(id.split("/")[0]).get(id) or _own.get(id)
    if found is None:
        known = {**_registry(), **_own}
        found = known.get(naming.meant(id, known))
        if found is None:
            raise ValueError(naming.unknown(id, tuple(known)))
    return found


def behind(id: str, on: Callable[[str], Iterable[str]], deep: bool = False) -> Iterator[tuple[str, tuple[str, ...]]]:
    """A claim and all that it rests on, each once, with the claims through which it does, that one first.

    ``on``: the ids of those on which one rests directly, such as its ``uses`` or its ``follows``. The nearest come
    first; where ``deep``, what each rests on follows it, and of a circle the last leads to one in its own path.
    """
    seen: set[str] = set()
    left: deque[tuple[str, tuple[str, ...]]] = deque([(id, ())])
    while left:
        found, path = left.popleft()
        if found in seen:
            continue
        seen.add(found)
        yield found, path
        following = [(other, (*path, found)) for other in on(found)]
        if deep:
            left.extendleft(reversed(following))
        else:
            left.extend(following)


def repairing(id: str) -> tuple[Claim, ...]:
    """The claims that repair the one with this id: those of the papers, and those that were registered."""
    return tuple(claim for claim in (*_registry().values(), *_own.values()) if claim.repairs == id)


def by_letter(id: str) -> tuple[Claim, ...]:
    """The claims about the letter of what the one with this id means, registered ones too."""
    return tuple(claim for claim in (*_registry().values(), *_own.values()) if claim.literal_of == id)


def select(names: list[str] | tuple[str, ...]) -> tuple[Claim, ...]:
    """Return the claims named by paper, by id, or by the beginning of an id, without repetitions.

    Args:
        names: The names; all claims if there are none. Where a name ends with a part of an id, longer parts that begin
            with it are not meant: theorem-1 is not theorem-10.

    Returns:
        The claims, in the order of the papers.

    Raises:
        ValueError: If a name selects nothing.
    """
    return tuple(_registry()[id] for id in naming.select(names, tuple(_registry()), _own))
