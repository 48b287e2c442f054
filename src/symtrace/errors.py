"""Exception classes. Each carries a `Diagnostic`: a code, the user's line, the reason and the remedy."""

from __future__ import annotations

from typing import Any

from . import diagnostics
from .diagnostics import Diagnostic, Label, Location

__all__ = [
    "ArgumentError",
    "DataDependentError",
    "GraphEditError",
    "GuardError",
    "LintError",
    "MutableOperationError",
    "PatternError",
    "ReplayError",
    "RootError",
    "SymtraceError",
    "SymtraceWarning",
    "TargetError",
    "TraceError",
    "UsageError",
    "explain",
]


class SymtraceError(Exception):
    """Base of every error that symtrace raises on purpose.

    Args:
        code: A code of the diagnostics table, such as `"ST012"`.
        location: The user's line.
        labels: Remarks on other places.
        hints: Remedies; by default those of the definition.
        **fields: Values for the message template of the code.
    """

    def __init__(
        self,
        code: str,
        *,
        location: Location | None = None,
        labels: tuple[Label, ...] = (),
        hints: tuple[str, ...] | None = None,
        **fields: Any,
    ) -> None:
        self.diagnostic = Diagnostic.of(code, location=location, labels=labels, hints=hints, **fields)
        super().__init__(code)

    def __reduce__(self) -> tuple[Any, ...]:
        d = self.diagnostic
        fields = {key: v if isinstance(v, str | int) else str(v) for key, v in d.fields.items()}
        return _rebuild, (type(self), d.code, d.location, d.labels, d.hints, fields)

    @property
    def code(self) -> str:
        """Code of the fault, such as `"ST012"`."""
        return self.diagnostic.code

    @property
    def location(self) -> Location | None:
        """The user's line, if known."""
        return self.diagnostic.location

    @property
    def hints(self) -> tuple[str, ...]:
        """Remedies, most useful first."""
        return self.diagnostic.hints

    def __str__(self) -> str:
        return diagnostics.render_text(self.diagnostic)


def _rebuild(
    cls: type[SymtraceError],
    code: str,
    location: Location | None,
    labels: tuple[Label, ...],
    hints: tuple[str, ...],
    fields: dict[str, Any],
) -> SymtraceError:
    return cls(code, location=location, labels=labels, hints=hints, **fields)


class TraceError(SymtraceError, ValueError):
    """A program can't be captured as it stands."""


class DataDependentError(TraceError, TypeError, RuntimeError):
    """The program asks a traced value for something that only a real value can answer."""


class MutableOperationError(TraceError, RuntimeError):
    """A tracer that refuses operations which write to their arguments met one."""


class ReplayError(TraceError):
    """The program does something that a captured graph could not do again."""


class GraphEditError(SymtraceError, RuntimeError, ValueError):
    """An edit would break the graph; the graph is as it was."""


class LintError(SymtraceError, RuntimeError):
    """A graph breaks its invariants; the message lists all faults."""


class ArgumentError(SymtraceError, TypeError, ValueError, RuntimeError):
    """An argument has the wrong type or value."""


class RootError(ArgumentError, AttributeError, AssertionError):
    """What was given as the root has no parameters that could be told, or no method of the name to trace."""


class TargetError(SymtraceError, AttributeError, RuntimeError):
    """A target does not resolve in the module that owns the graph."""


class PatternError(SymtraceError, ValueError):
    """A pattern or its replacement can't be used."""


class GuardError(SymtraceError, AssertionError, RuntimeError):
    """An assumption made at capture does not hold for this call; nothing has been run or changed."""


class UsageError(SymtraceError, ValueError):
    """A command line can't be carried out."""


class SymtraceWarning(UserWarning):
    """Something was assumed or lost, and the program should say so."""


def explain(code: str) -> str:
    """Return the long form of a diagnostic code: why it happens, what provokes it, what works instead.

    Args:
        code: A code such as `"ST012"`; `"st012"` and `"12"` do too.

    Returns:
        Markdown text.

    Raises:
        UsageError: No such code (ST402); the message names the nearest ones.

    Example:
        >>> print(explain("ST103").splitlines()[0])
        # ST103: node still in use
    """
    from .diagnostics import pages

    found = pages.find_code(code)
    if found is None:
        raise UsageError("ST402", text=code, nearest=", ".join(pages.nearest_codes(code)))
    return pages.page(found)
