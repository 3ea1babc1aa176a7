"""Docstrings as a page shows them: formulas are formulas, and stars and underscores of words are no markup."""

from __future__ import annotations

import re
from typing import Any

import griffe

from verify.report.atlas import mathml

#: Code, formulas in LaTeX, and the roles before names.
_PARTS = re.compile(r"(``[^`]*``|`[^`]*`|\$[^$]+\$)")
_MARKUP = re.compile(r"(?<!\\)([*_])")
#: What stays as it is: an example, from its prompt to the next empty line, and the name of an argument.
_EXAMPLE = re.compile(r"(?m)(^[ ]*>>> (?:.+\n?)+)")
_NAME = re.compile(r"(?m)(^[ ]{4}\*{0,2}\w+: )")


class Docstrings(griffe.Extension):  # type: ignore[misc]
    """Sets the docstrings of all objects."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Set one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = shown(obj.docstring.value)


def shown(text: str) -> str:
    """The text in Markdown."""
    return "".join(part if k % 2 else _prose(part) for k, part in enumerate(_EXAMPLE.split(text)))


def _prose(text: str) -> str:
    return "".join(part if k % 2 else _words(part) for k, part in enumerate(_NAME.split(text)))


def _words(text: str) -> str:
    found = []
    for k, part in enumerate(_PARTS.split(text)):
        if k % 2 == 0:
            found.append(_MARKUP.sub(r"\\\1", part))
        elif part.startswith("$"):
            found.append(f"<span>{mathml.inline(part.strip('$'))}</span>")
        else:
            found.append(part)
    return "".join(found)
