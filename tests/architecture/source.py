"""Reading the package's own source: files, layers and the imports in their syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "symtrace"

LAYERS = [
    "_base",
    "diagnostics",
    "errors",
    "ir",
    "values",
    "ops",
    "codegen",
    "visualize",
    "analysis",
    "runtime",
    "tracing",
    "rewrite",
    "passes",
    "partition",
    "serialize",
    "interop",
    "testing",
    "cli",
]


COMPAT = [
    "passes/net_min_base.py",
    "passes/split_module.py",
    "passes/split_utils.py",
    "passes/splitter_base.py",
    "passes/infra/partitioner.py",
    "passes/utils/fuser_utils.py",
]
"""FX's spellings that lie in the folder of a layer but re-export from one above it."""


@dataclass(frozen=True)
class Import:
    """One import statement's target, absolute."""

    line: int
    target: str


def files(folder: Path = PACKAGE) -> list[Path]:
    return sorted(path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def layer(path: Path) -> str | None:
    """The layer a file is in, or None for the package root and the compat modules, which stand above all."""
    relative = path.relative_to(PACKAGE)
    first = relative.parts[0].removesuffix(".py")
    return first if first in LAYERS and relative.as_posix() not in COMPAT else None


def _package_parts(path: Path) -> list[str]:
    parts = ["symtrace", *path.relative_to(PACKAGE).with_suffix("").parts]
    return parts[:-1]


def imports(path: Path) -> Iterator[Import]:
    """All imports of a file, also those inside functions, with relative ones made absolute."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom):
            parts = _package_parts(path)
            base = parts[: len(parts) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                yield Import(node.lineno, f"{module}.{alias.name}")


def imported_layer(target: str) -> str | None:
    """The layer that an import reaches, "" for root and compat modules, None for other packages."""
    parts = target.split(".")
    if parts[0] != "symtrace":
        return None
    return parts[1] if len(parts) > 1 and parts[1] in LAYERS else ""
