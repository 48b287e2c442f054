"""Renews the output that pages show: `python tests/docs/refresh.py README.md docs/tour.md`.

A `text` block right after a `python` block gets what the block prints, a `$ symtrace` line of a `console`
block what the command prints. Blocks that use `...` for parts of the output are left alone.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import os
import re
import shlex
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator
from pathlib import Path

FENCE = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^```[ ]*$", re.M | re.S)


def console(text: str, folder: str) -> str:
    parts = re.split(r"^\$ ", text, flags=re.M)
    out = [parts[0]]
    for part in parts[1:]:
        command, _, shown = part.partition("\n")
        words = shlex.split(command)
        if words[0] == "cat" and len(words) == 2:
            Path(folder, words[1]).write_text(shown)
        if words[0] == "symtrace":
            run = [sys.executable, "-m", "symtrace", *words[1:]]
            done = subprocess.run(run, capture_output=True, text=True, cwd=folder)
            printed = done.stdout + done.stderr
            if "Traceback (most recent call last)" in printed:
                raise SystemExit(f"{command} fails:\n{printed}")
            shown = shown if "..." in shown else printed
        out.append(f"$ {command}\n{shown}")
    return "".join(out)


@contextlib.contextmanager
def inside(folder: str) -> Iterator[None]:
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def refresh(page: Path) -> None:
    source = page.read_text(encoding="utf-8")
    module = types.ModuleType("page")
    printed: str | None = None
    end = 0
    pieces = []
    with tempfile.TemporaryDirectory() as folder, inside(folder):
        for fence in FENCE.finditer(source):
            between, text = source[end : fence.start("text")], fence["text"]
            if fence["language"] == "python":
                out = io.StringIO()
                name = "model.py"  # as the page shows it in errors
                linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
                with contextlib.redirect_stdout(out):
                    exec(compile(text, name, "exec", dont_inherit=True), vars(module))
                printed = out.getvalue()
            elif fence["language"] == "text" and printed is not None and not between.split("```")[1].strip():
                text = (
                    text
                    if "..." in text
                    else "".join(f"{x.rstrip()}\n" for x in printed.strip("\n").splitlines())
                )
                printed = None
            elif fence["language"] == "console":
                text = console(text, folder)
            pieces += [between, text]
            end = fence.end("text")
    page.write_text("".join([*pieces, source[end:]]), encoding="utf-8")


if __name__ == "__main__":
    source_folder = str(Path(__file__).resolve().parents[2] / "src")
    os.environ["PYTHONPATH"] = os.pathsep.join([source_folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    for name in sys.argv[1:]:
        refresh(Path(name).resolve())
