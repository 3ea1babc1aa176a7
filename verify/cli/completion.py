"""Scripts that complete the command's arguments in a shell, generated from its parser: no package is needed for it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from shlex import quote
from typing import NamedTuple

#: The names of positional arguments that take ids of claims.
_IDS = ("id", "names")


class _Command(NamedTuple):
    """A command: what it does in a line, its options with what they do, the words that it takes otherwise, and for each
    option that has them the values to choose from."""

    name: str
    help: str
    options: dict[str, str]
    words: tuple[str, ...]
    values: dict[str, tuple[str, ...]]


def script(shell: str, parser: argparse.ArgumentParser, ids: Sequence[str]) -> str:
    """The script for ``bash``, ``zsh`` or ``fish``; ``ids``: those of the claims. ``ValueError`` for another shell."""
    makers = {"bash": _bash, "zsh": _zsh, "fish": _fish}
    if shell not in makers:
        raise ValueError(f"one of {', '.join(makers)} was expected, got {shell!r}")
    return "\n".join(makers[shell](list(_commands(parser, ids)))) + "\n"


def _commands(parser: argparse.ArgumentParser, ids: Sequence[str]) -> Iterator[_Command]:
    group = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    help = {choice.dest: choice.help or "" for choice in group._choices_actions}
    for name, sub in group.choices.items():
        options, words, values = {}, [], {}
        for action in sub._actions:
            choices = tuple(str(choice) for choice in action.choices or ())
            for option in action.option_strings:
                options[option] = action.help or ""
                if choices:
                    values[option] = choices
            if not action.option_strings:
                words += [*choices, *(ids if action.dest in _IDS else ())]
        yield _Command(name, help[name], options, tuple(words), values)


def _bash(commands: list[_Command]) -> Iterator[str]:
    yield "_fedtheory() {"
    yield "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]} words="
    yield from _cases(commands, 'if [ "$COMP_CWORD" -eq 1 ]; then', 'words="{}"', '"$command $before"')
    yield '  COMPREPLY=($(compgen -W "$words" -- "$current"))'
    yield "}"
    yield "complete -o default -F _fedtheory fedtheory"


def _zsh(commands: list[_Command]) -> Iterator[str]:
    yield "#compdef fedtheory"
    yield "_fedtheory() {"
    yield "  local -a candidates"
    yield from _cases(commands, "if (( CURRENT == 2 )); then", "candidates=({})", '"$words[2] $words[CURRENT-1]"')
    yield "  compadd -a candidates || _files"
    yield "}"
    yield 'if [ "$funcstack[1]" = _fedtheory ]; then _fedtheory "$@"; else compdef _fedtheory fedtheory; fi'


def _cases(commands: list[_Command], first: str, assign: str, subject: str) -> Iterator[str]:
    """The words that can follow: commands first, then what the option before takes, then all of the command's."""
    yield f"  {first}"
    yield f"    {assign.format(' '.join(['--help', '--version', *(c.name for c in commands)]))}"
    yield f"  else case {subject} in"
    for command in commands:
        for option, values in command.values.items():
            yield f"    {quote(f'{command.name} {option}')}) {assign.format(' '.join(values))} ;;"
        yield f"    {quote(f'{command.name} ')}*) {assign.format(' '.join((*command.options, *command.words)))} ;;"
    yield "  esac; fi"


def _fish(commands: list[_Command]) -> Iterator[str]:
    yield "complete -c fedtheory -n __fish_use_subcommand -l version -d 'print the version and exit'"
    for command in commands:
        yield f"complete -c fedtheory -n __fish_use_subcommand -f -a {command.name} -d {quote(command.help)}"
        seen = f"complete -c fedtheory -n '__fish_seen_subcommand_from {command.name}'"
        for option, help in command.options.items():
            named = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            values = f" -x -a {quote(' '.join(command.values[option]))}" if option in command.values else ""
            yield f"{seen} {named}{values} -d {quote(help)}"
        if command.words:
            yield f"{seen} -f -a {quote(' '.join(command.words))}"
