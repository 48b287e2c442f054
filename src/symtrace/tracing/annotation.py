"""`annotate`: the type of a traced value, told by the program itself."""

from __future__ import annotations

from typing import TypeVar

from ..errors import ArgumentError
from .proxy import isinstance_proxy

__all__ = ["annotate"]

_T = TypeVar("_T")


def annotate(val: _T, type: object) -> _T:
    """Annotate a traced value, so that generated code and TorchScript know its type.

    Args:
        val: A traced value; any other value is returned as it is.
        type: The annotation.

    Returns:
        `val`.

    Raises:
        ArgumentError: ST112, the value has an annotation already.
    """
    if isinstance_proxy(val):
        node = val.node  # type: ignore[attr-defined]
        if node.type is not None:
            raise ArgumentError(
                "ST112", what=f"the type of `{node.name}`", expected="not annotated yet", actual=node.type
            )
        node.type = type
    return val
