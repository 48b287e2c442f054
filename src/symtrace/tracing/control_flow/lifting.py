"""Puts lifted functions in place for the time of a capture, and finds out which ones are wanted."""

from __future__ import annotations

import functools
import types
from collections.abc import Collection
from types import CodeType, FrameType
from typing import Any

from ..apart import apart
from ..frames import branches_on, user_frame
from ..hooks import PatchSet
from ..identity import asks
from ..state import Need, Restart
from .flow import flow
from .functions import around, function_of, functions_of, key_of, maker_of, makers_of, with_inner
from .lift import FLOW, asking_code, lifted_code
from .trees import is_block

__all__ = ["lift", "lift_asking", "lift_flagged", "show_questions"]

_OWN = "control flow"
_FLAGS = ("training", "is_grad_enabled")
_MOST_OF_ONE_TEXT = 8
"""How many functions made from one piece of text are lifted: one that each trace makes anew never would be."""


def lift(patches: PatchSet, needs: Collection[Need], lifted: set[int], shown: int) -> None:
    """Have functions tell which way they go, where their text can be found.

    Args:
        patches: Receives the changes.
        needs: Tell the functions, and those that others make anew each time they run.
        lifted: Receives the identities of the functions.
        shown: What they are to tell, too; see `lifted_code`.
    """
    inner: dict[int, set[Any]] = {}
    functions: dict[int, types.FunctionType] = {}
    for need in needs:
        if type(need.place) is types.FunctionType:
            functions[need.identity] = need.place
            keys = inner.setdefault(need.identity, set())
            if type(need.name) is tuple:
                keys.add(need.name)
            else:
                lifted.add(need.identity)
    for identity, function in functions.items():
        with apart():
            code = _changed(function.__code__, identity in lifted, inner[identity], shown)
        if code is not None:
            _put(patches, function, code)


def lift_flagged(patches: PatchSet, function: types.FunctionType, lifted: set[int], shown: int) -> None:
    """Lift a function, before it runs, that goes two ways by a flag: the trace need not start again for it.

    Args:
        patches: Receives the change.
        function: A function that the program may call.
        lifted: Receives its identity.
        shown: See `lift`.
    """
    if id(function) not in lifted and branches_on(function.__code__, _FLAGS):
        with apart():
            code = lifted_code(function.__code__, shown)
        if code is not None:
            lifted.add(id(function))
            _put(patches, function, code)


def show_questions(patches: PatchSet, function: types.FunctionType, shown: int) -> bool:
    """Have the comparisons of a function by `is` go through `flow`; return whether all its questions are seen then.

    Args:
        patches: Receives the change.
        function: A function that the program may call, and that asks.
        shown: See `lift`.
    """
    with apart():
        code = asking_code(function.__code__, shown)
    if code is not None:
        _put(patches, function, code)
    return not asks(function.__code__)


def _put(patches: PatchSet, function: types.FunctionType, code: CodeType) -> None:
    patches.patch(function.__globals__, FLOW, lambda before: flow)
    patches.patch_code(function, functools.partial(_given, code))


def _given(code: CodeType, before: Any) -> CodeType:
    return code


def _changed(code: CodeType, is_asked: bool, keys: set[Any], shown: int) -> CodeType | None:
    """Return code that is lifted, and so are functions that it makes; None if nothing of it can be."""
    lifted = functools.partial(lifted_code, shown=shown)
    own = lifted(code) if is_asked else None
    if not keys:
        return own
    return with_inner(own or code, keys, lifted)


@apart()
def lift_asking(
    needs: Collection[Need], lifted: set[int], outside: FrameType | None, asking: FrameType | None = None
) -> None:
    """Start the trace again with the function lifted that is asking for a decision, if there is a way.

    Args:
        needs: What is watched already.
        lifted: Identities of functions that are lifted.
        outside: The frame that runs the trace.
        asking: The frame that asks; by default the innermost one of the program.

    Raises:
        Restart: There is.
    """
    frame = asking or user_frame(3)
    frame = None if frame is None else around(frame)
    if frame is None or is_block(frame.f_code):  # which is lifted already
        return
    maker = maker_of(frame, outside)
    if maker is not None:
        function = function_of(maker)
        if function is None or lifted_code(frame.f_code) is None:
            return
        need = Need(function, key_of(frame.f_code), id(function))
        if need not in needs:
            raise Restart(need)
        return
    functions = functions_of(frame)
    if not functions or any(id(function) in lifted for function in functions):
        return
    function = functions[0]
    place = function.__code__.co_filename, function.__code__.co_firstlineno, function.__qualname__
    alike = sum(_text_place(need.place) == place for need in needs)
    if alike and "<locals>" in function.__qualname__ and lifted_code(function.__code__) is not None:
        made = [Need(maker, key_of(frame.f_code), id(maker)) for maker in makers_of(function.__code__)]
        missing = [need for need in made if need not in needs]
        if missing:
            raise Restart(*missing)
    if alike >= _MOST_OF_ONE_TEXT:
        return
    wanted = [need for need in (Need.of(function, _OWN) for function in functions) if need not in needs]
    if wanted and lifted_code(function.__code__) is not None:
        raise Restart(*wanted)


def _text_place(place: object) -> tuple[str, int, str] | None:
    """Return where a function was defined, which lifting leaves as it is."""
    if type(place) is not types.FunctionType:
        return None
    return place.__code__.co_filename, place.__code__.co_firstlineno, place.__qualname__
