"""Text made safe for a terminal or a pipe."""

from __future__ import annotations

import unicodedata
from typing import Any

#: Kinds of characters that are not shown but do something: control, format (direction of writing), lone surrogates,
#: private use, and separators of lines.
_ACTING = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
#: Characters of what was got that are quoted in a message.
_QUOTED = 40


def clean(text: str) -> str:
    r"""The text with each character that would act on a terminal written out, such as \x1b; line feeds stay."""
    if text.isprintable():
        return text
    return "".join(c if c == "\n" or unicodedata.category(c) not in _ACTING else ascii(c)[1:-1] for c in text)


def counted(number: int, noun: str) -> str:
    """Return a number of things in words, such as "1 run" and "2 runs"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def quoted(value: Any) -> str:
    """Return a value as text for an error message, shortened if necessary."""
    try:
        shown = repr(value)
    except RecursionError:
        return "a value that is nested too deeply"
    except Exception:  # Objects of a user's file.
        return f"a {type(value).__name__} that cannot be shown"
    return shown if len(shown) <= _QUOTED else f"{shown[:_QUOTED]}... ({len(shown)} characters)"
