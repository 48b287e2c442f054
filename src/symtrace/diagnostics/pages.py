"""The long form of a code, as Markdown: read in the terminal by `symtrace explain` and in the docs."""

from __future__ import annotations

import difflib
import re
import sys
from pathlib import Path

from .registry import Definition, definition, definitions

__all__ = ["find_code", "nearest_codes", "page", "write_pages"]

_FIELD = re.compile(r"\{\w+\}")
_FAMILIES = {
    "0": "Capturing a program",
    "1": "Edits, invariants and arguments of a graph",
    "2": "Patterns, passes and rewriting",
    "3": "Running a captured module",
    "4": "The command line and files",
}


def find_code(text: str) -> str | None:
    """Return the code that `text` spells (`"ST012"`, `"st012"`, `"12"`), or `None` if there is none."""
    digits = text.strip().upper().removeprefix("ST")
    code = f"ST{digits.zfill(3)}" if digits.isascii() and digits.isdigit() else ""
    return code if any(entry.code == code for entry in definitions()) else None


def nearest_codes(text: str, limit: int = 3) -> tuple[str, ...]:
    """Return the codes nearest to the number in `text`, or those whose title looks most like it."""
    codes = [entry.code for entry in definitions()]
    number = re.search(r"[0-9]+", text)
    if number is not None:
        wanted = int(number.group())
        return tuple(sorted(codes, key=lambda code: abs(int(code[2:]) - wanted))[:limit])
    titles = {entry.title.lower(): entry.code for entry in definitions()}
    near = difflib.get_close_matches(text.lower(), titles, n=limit, cutoff=0.3)
    return tuple(titles[title] for title in near) or tuple(codes[:limit])


def _code_block(source: str) -> str:
    language = "console" if source.startswith("$ ") else "python"
    return f"```{language}\n{source.strip()}\n```\n"


def _general(template: str) -> str:
    return _FIELD.sub("…", template)


def page(code: str) -> str:
    """Return the long form of `code` as Markdown, ending with a newline.

    Raises:
        KeyError: No such code.
    """
    entry: Definition = definition(code)
    parts = [f"# {entry.code}: {entry.title}\n", f"> {_general(entry.message)}\n"]
    if entry.explain:
        parts.append(entry.explain.strip() + "\n")
    if entry.example:
        parts += ["## What provokes it\n", _code_block(entry.example)]
    if entry.remedy:
        parts += ["## What works\n", _code_block(entry.remedy)]
    if entry.help:
        parts.append("## Remedies\n")
        parts.append("".join(f"- {_general(hint)}\n" for hint in entry.help))
    return "\n".join(parts)


def index_page() -> str:
    """Return the page that lists all codes by family, as Markdown."""
    parts = [
        "# Error codes\n",
        "Each error carries a code; `symtrace explain CODE` prints its page in the terminal.\n",
    ]
    family = ""
    for entry in definitions():
        if entry.code[2] != family:
            family = entry.code[2]
            parts.append(f"\n## {_FAMILIES.get(family, 'Other')}\n\n")
        parts.append(f"- [{entry.code}]({entry.code}.md): {entry.title}\n")
    return "\n".join(parts[:2]) + "".join(parts[2:])


def write_pages(folder: Path) -> list[Path]:
    """Write one page per code and an index into `folder`, and drop pages of codes that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {f"{entry.code}.md": page(entry.code) for entry in definitions()}
    wanted["index.md"] = index_page()
    for stale in folder.glob("ST*.md"):
        if stale.name not in wanted:
            stale.unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in sorted(wanted)]


if __name__ == "__main__":
    written = write_pages(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/errors"))
    print(f"{len(written)} pages")
