"""Command lines whose output is stored, and how it is stored.

`PYTHONPATH=src python -m tests.golden.cli_cases` renews it, from the root of the repository.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).with_name("cli")

CASES = {
    "help": ["--help"],
    "show_help": ["show", "--help"],
    "show_tree": ["show", "net.py:Net"],
    "show_tree_shapes": ["show", "net.py:Net", "--input", "3x4"],
    "show_table": ["show", "net.py:Net", "--format", "table"],
    "show_code": ["show", "net.py:Net", "--format", "code"],
    "show_branch": ["show", "net.py:branch"],
    "show_misspelt": ["show", "net.py:Nett"],
    "show_bad_input": ["show", "net.py:Net", "--input", "3x5"],
    "explain": ["explain", "ST103"],
    "explain_unknown": ["explain", "ST999"],
    "draw": ["draw", "net.py:Net", "-o", "net.dot"],
    "code": ["code", "net.py:Net", "-o", "captured.py", "--input", "3x4"],
    "unknown_command": ["shoe"],
}


def output_of(name: str) -> str:
    """Run a case in a folder of its own: its command line, exit code, output, errors and files."""
    arguments = CASES[name]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "net.py").write_text((FOLDER / "net.py").read_text(encoding="utf-8"))
        command = [sys.executable, "-B", "-m", "symtrace", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
        parts = [f"$ symtrace {' '.join(arguments)}\n", done.stdout]
        parts += [f"--- stderr\n{done.stderr}"] if done.stderr else []
        parts += [f"--- exit code {done.returncode}\n"]
        for path in sorted(Path(folder).iterdir()):
            if path.name != "net.py":
                parts.append(f"--- {path.name}\n{path.read_text(encoding='utf-8')}")
    text = "".join(parts).replace(folder, ".")
    return re.sub(r"0x[0-9a-f]+", lambda found: "0x" + "." * (len(found[0]) - 2), text)


if __name__ == "__main__":
    for case in CASES:
        (FOLDER / f"{case}.txt").write_text(output_of(case), encoding="utf-8")
