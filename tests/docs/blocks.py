"""Code blocks of the documentation, with the output that the text shows for them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Pages of error codes are run by tests/errors: half of their programs must fail.
SKIPPED = ("docs/errors/", "docs/adr/")

_FENCE = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^```\s*$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """One fenced block.

    Attributes:
        line: Where its first line stands in the page.
        language: Word after the fence.
        text: What is between the fences.
        shown: Text of a `text` block that follows directly: the output as the page shows it, or None.
    """

    line: int
    language: str
    text: str
    shown: str | None


def pages() -> list[Path]:
    found = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [p for p in found if p.exists() and not str(p.relative_to(ROOT)).startswith(SKIPPED)]


def blocks(page: Path) -> list[Block]:
    source = page.read_text(encoding="utf-8")
    fences = list(_FENCE.finditer(source))
    found = []
    for index, fence in enumerate(fences):
        after = fences[index + 1] if index + 1 < len(fences) else None
        follows = (
            after is not None
            and after["language"] == "text"
            and not source[fence.end() : after.start()].strip()
        )
        line = source.count("\n", 0, fence.start("text")) + 1
        found.append(
            Block(line, fence["language"], fence["text"], after["text"] if after and follows else None)
        )
    return found


def matches(shown: str, printed: str) -> bool:
    """Compare output with the text of a page, where `...` stands for anything within a line or for lines."""
    pattern = re.escape("\n".join(line.rstrip() for line in shown.strip().splitlines()))
    pattern = pattern.replace(re.escape("..."), "(.|\n)*?")
    actual = "\n".join(line.rstrip() for line in printed.strip().splitlines())
    return re.fullmatch(pattern, actual) is not None
