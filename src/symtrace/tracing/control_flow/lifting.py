"""Puts lifted functions in place for the time of a capture, and finds out which ones are wanted."""

from __future__ import annotations

import types
from collections.abc import Collection

from ..frames import user_frame
from ..hooks import PatchSet
from ..state import Need, Restart
from .flow import flow
from .functions import function_of
from .lift import FLOW, lifted_code

__all__ = ["lift", "lift_asking"]

_MOST_OF_ONE_TEXT = 8
"""How many functions made from one piece of text are lifted: one that each trace makes anew never would be."""


def lift(patches: PatchSet, function: types.FunctionType, lifted: set[int]) -> None:
    """Have a function tell which way it goes, if its text can be found.

    Args:
        patches: Receives the change.
        function: The function.
        lifted: Identities of functions that were tried before; receives that of this one.
    """
    lifted.add(id(function))
    code = lifted_code(function.__code__)
    if code is not None:
        patches.patch(function.__globals__, FLOW, lambda before: flow)
        patches.patch_code(function, lambda before: code)


def lift_asking(needs: Collection[Need], lifted: set[int]) -> None:
    """Start the trace again with the function lifted that is asking for a decision, if there is a way.

    Args:
        needs: What is watched already.
        lifted: Identities of functions that are lifted.

    Raises:
        Restart: There is.
    """
    frame = user_frame(3)
    function = None if frame is None else function_of(frame)
    if function is None or id(function) in lifted:
        return
    place = function.__code__.co_filename, function.__code__.co_firstlineno, function.__qualname__
    if sum(_text_place(need.place) == place for need in needs) >= _MOST_OF_ONE_TEXT:
        return
    need = Need.of(function, "control flow")
    if need not in needs and lifted_code(function.__code__) is not None:
        raise Restart(need)


def _text_place(place: object) -> tuple[str, int, str] | None:
    """Return where a function was defined, which lifting leaves as it is."""
    if type(place) is not types.FunctionType:
        return None
    return place.__code__.co_filename, place.__code__.co_firstlineno, place.__qualname__
