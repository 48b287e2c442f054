"""Renews the stored texts: `PYTHONPATH=src python -m tests.errors.renew`, from the root of the repository."""

from __future__ import annotations

import contextlib
import io
import warnings

from symtrace.diagnostics import definitions
from symtrace.errors import SymtraceError

from .programs import GOLDEN, rendered, run_python


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    warnings.simplefilter("error")
    for entry in definitions():
        if not entry.example or entry.example.startswith("$ "):
            continue
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                run_python(entry.example, "example.py")
        except SymtraceError as error:
            (GOLDEN / f"{entry.code}.txt").write_text(rendered(error), encoding="utf-8")
        except Exception as error:
            print(f"{entry.code}: the example fails with {type(error).__name__}: {error}")
        else:
            print(f"{entry.code}: the example provokes nothing")


if __name__ == "__main__":
    main()
