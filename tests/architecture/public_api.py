"""Prints the public names of the package root with their signatures.

`python tests/architecture/public_api.py > tests/architecture/public_api.txt` renews the stored list.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import symtrace


def _signature(value: object) -> str:
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def _members(cls: type) -> Iterator[str]:
    own = [base for base in reversed(cls.__mro__) if base.__module__.startswith("symtrace")]
    members = {name: value for base in own for name, value in vars(base).items()}
    for name, value in sorted(members.items()):
        if name.startswith("_"):
            continue
        if isinstance(value, property):
            yield f"    {name}: property"
        elif isinstance(value, staticmethod | classmethod):
            yield f"    {name}{_signature(value.__func__)}"
        elif inspect.isdatadescriptor(value):
            yield f"    {name}: attribute"
        elif callable(value):
            yield f"    {name}{_signature(value)}"


def public_api() -> str:
    """One line per public name, with the members of classes below it."""
    lines = []
    for name in sorted(symtrace.__all__):
        value = getattr(symtrace, name)
        if inspect.isclass(value):
            bases = ", ".join(base.__name__ for base in value.__bases__)
            lines.append(f"class {name}({bases})")
            lines += _members(value)
        elif inspect.ismodule(value):
            lines.append(f"module {name}")
        elif callable(value):
            lines.append(f"{name}{_signature(value)}")
        else:
            lines.append(f"{name}: {type(value).__name__}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(public_api(), end="")
