"""Signatures of functions whose annotations may name what does not exist at run time."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, ForwardRef

__all__ = ["as_text", "signature_of"]


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function.

    Python 3.14 evaluates annotations when they are asked for. Those that can't be, such as names that are imported
    for type checkers only, are given as text, as `from __future__ import annotations` would.

    Args:
        function: The function.

    Raises:
        TypeError: It is not callable.
        ValueError: It has no signature.
    """
    if sys.version_info >= (3, 14):
        import annotationlib

        found = inspect.signature(function, annotation_format=annotationlib.Format.FORWARDREF)
        parameters = [p.replace(annotation=as_text(p.annotation)) for p in found.parameters.values()]
        return found.replace(parameters=parameters, return_annotation=as_text(found.return_annotation))
    else:
        return inspect.signature(function)


def as_text(annotation: Any) -> Any:
    """Return the text of a forward reference, and any other annotation as it is."""
    return annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
