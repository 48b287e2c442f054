"""The table of diagnostic codes: one definition per code, registered at import."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Definition", "define", "definition", "definitions"]


@dataclass(frozen=True)
class Definition:
    """What one code means.

    Attributes:
        code: Stable identifier, such as `"ST012"`.
        title: Short name of the fault, in a few words.
        message: One-line `str.format` template, filled from the fields of each occurrence.
        help: Remedies shown with each occurrence, `str.format` templates too.
        explain: Long form in Markdown: why it happens and how to get rid of it.
        example: Smallest program that provokes it, or `""`.
        remedy: The same program written so that it works, or `""`.
    """

    code: str
    title: str
    message: str
    help: tuple[str, ...] = ()
    explain: str = ""
    example: str = ""
    remedy: str = ""


_DEFINITIONS: dict[str, Definition] = {}


def define(
    code: str,
    title: str,
    message: str,
    *,
    help: tuple[str, ...] = (),
    explain: str = "",
    example: str = "",
    remedy: str = "",
) -> Definition:
    """Register the definition of `code`.

    Raises:
        ValueError: The code is defined already.
    """
    if code in _DEFINITIONS:
        raise ValueError(f"diagnostic {code} is defined twice")
    entry = Definition(code, title, message, help, explain, example, remedy)
    _DEFINITIONS[code] = entry
    return entry


def definition(code: str) -> Definition:
    """Return the definition of `code`.

    Raises:
        KeyError: No such code.
    """
    return _DEFINITIONS[code]


def definitions() -> tuple[Definition, ...]:
    """Return all definitions, ordered by code."""
    return tuple(_DEFINITIONS[code] for code in sorted(_DEFINITIONS))
