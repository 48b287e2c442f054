"""Functions of symtrace that captured programs call, as text: a written file has its own copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops import program

__all__ = ["embedded_text"]

_TEXTS: dict[Callable[..., Any], str] = {
    program.enter_mode: '''\
def {name}(manager, *args, **kwargs):
    """Enter a context such as `torch.no_grad()` and return it."""
    context = manager(*args, **kwargs)
    context.__enter__()
    return context''',
    program.exit_mode: '''\
def {name}(context):
    """Leave a context."""
    context.__exit__(None, None, None)''',
    program.write_attribute: '''\
def {name}(owner, attribute, value):
    """Set an attribute of a module."""
    setattr(owner, attribute, value)''',
    program.is_given: '''\
def {name}(value):
    """Tell whether an optional argument was given."""
    return value is not None''',
    program.guard: '''\
def {name}(value, expected, condition, file="", line=0):
    """Check an assumption that was made at capture."""
    if value is expected or (type(value) is type(expected) and value == expected):
        return
    if expected is None or value is None or value != expected:
        place = f" ({{file}}:{{line}})" if file else ""
        raise RuntimeError(
            f"this call breaks an assumption made at capture: {{condition}}{{place}}; now it is {{value!r}}"
        )''',
}


def embedded_text(value: Any, name: str) -> str | None:
    """Return a definition of `name` that does what `value` does, or `None` if `value` is not one of these."""
    try:
        template = _TEXTS.get(value)
    except TypeError:  # not hashable
        return None
    return None if template is None else template.format(name=name)
