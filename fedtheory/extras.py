"""Optional dependencies, for auditing and compiled loops, and the messages shown where they are not installed."""

from __future__ import annotations

from importlib.util import find_spec

#: The packages of the extra ``audit``, by the names under which they are imported.
AUDIT = (
    "clarabel",
    "cvxpy",
    "flint",
    "jinja2",
    "joblib",
    "latex2mathml",
    "markupsafe",
    "matplotlib",
    "scipy",
    "sklearn",
    "z3",
)


#: The purpose of each extra, for the message that something of it is missing.
_BRINGS = {
    "agent": "{} brings the protocol that agents speak",
    "audit": "conformance tests do without, this does not; {} brings all that audits, checks, tables and figures need",
    "compiled": "{} brings what compiles loops",
    "pepit": "{} brings what reads its models",
}


class MissingExtra(ImportError):
    """Something of an extra is not installed; the message says how to get it."""


def install(extra: str) -> str:
    """The command that installs an extra, in words, as long as the package is on no index."""
    return f"pip install '.[{extra}]' in a copy of the source, or pip install 'FILE.whl[{extra}]' of a wheel,"


def require(*names: str, extra: str = "audit") -> None:
    """Raise ``MissingExtra`` unless all these can be imported; without names, all that the extra ``audit`` brings."""
    missing = [name for name in names or AUDIT if not _there(name)]
    if missing:
        raise MissingExtra(f"{', '.join(missing)} cannot be imported: {_BRINGS[extra].format(install(extra))}")


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
