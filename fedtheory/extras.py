"""What auditing needs beyond the core, and what is said where it is not installed."""

from __future__ import annotations

from importlib.util import find_spec

#: What the extra ``audit`` brings, by the names under which it is imported.
AUDIT = ("clarabel", "cvxpy", "flint", "jinja2", "joblib", "latex2mathml", "markupsafe", "matplotlib", "sklearn", "z3")


class MissingExtra(ImportError):
    """Something of the extra ``audit`` is not installed; the message says how to get it."""


def require(*names: str) -> None:
    """``MissingExtra`` unless all these can be imported; without names, all that the extra brings."""
    missing = [name for name in names or AUDIT if not _there(name)]
    if missing:
        raise MissingExtra(
            f"{', '.join(missing)} cannot be imported: conformance tests do without, this does not; "
            "pip install 'fedtheory[audit]' brings all that audits, checks and figures need"
        )


def explained(error: ImportError) -> ImportError:
    """The error itself, or, of what the extra brings, one that says so."""
    name = (error.name or "").split(".")[0]
    if name not in AUDIT or isinstance(error, MissingExtra):
        return error
    try:
        require(name)
    except MissingExtra as missing:
        return missing
    return error


def _there(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False
