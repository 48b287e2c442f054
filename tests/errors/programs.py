"""Running the examples of the codes, and what their errors look like."""

from __future__ import annotations

import linecache
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from symtrace.errors import SymtraceError

GOLDEN = Path(__file__).with_name("golden")


def run_python(source: str, name: str) -> None:
    """Run `source` as a program whose lines can be found by name, as a file's lines are."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    # Where Python and symtrace look for the text of a program.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    exec(compile(source, name, "exec"), {"__name__": "__main__"})


def run_console(source: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the one command of a console example in `folder`."""
    if "torchvision" in source:
        pytest.importorskip("torchvision")
    words = shlex.split(source.removeprefix("$ "))
    assert words[0] == "symtrace"
    command: list[Any] = [sys.executable, "-m", "symtrace", *words[1:]]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def rendered(error: SymtraceError) -> str:
    """The error as a traceback ends with it, without addresses and line ends that vary."""
    text = f"{type(error).__module__}.{type(error).__qualname__}: {error}\n"
    return re.sub(r"0x[0-9a-f]+", "0x...", text)
