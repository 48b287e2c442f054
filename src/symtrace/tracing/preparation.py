"""What a trace changes in the process before a program runs: hooks, and the functions that it can name."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import types
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from ..diagnostics import Location
from ..errors import TraceError
from . import hooks
from .apart import apart
from .blame import data_dependent, here, shown_by
from .caches import keeping
from .checks import patch_checks
from .contexts import patch_contexts
from .control_flow.lifting import lift, lift_asking, lift_flagged, show_questions
from .frames import is_internal, is_programs, user_frame
from .given import asks_for_none
from .identity import asks, asks_class, asks_whether_none, none_questions
from .operands import compares_results
from .outside import CLOCKS, patch_clock, patch_outside, reads_date
from .patching import gated_descriptor, shim, state_property
from .positions import READING
from .process_state import patch_process_state
from .proxy import Proxy
from .reads import stores_of
from .scanning import CACHED, is_transform, is_users, names_used
from .shims import SHIMS
from .surroundings import ANSWERS, ASKING, patch_answer, patch_files_and_environment, patch_surroundings
from .transforms import MASKED, patch_made_before, patch_transforms
from .watching import Watcher
from .wrapping import patch_wrapped

if TYPE_CHECKING:
    from .snapshot import Snapshot

__all__ = ["Preparation"]

_TENSOR_NAMES = frozenset(dir(torch.Tensor))
_TABLES_OF_MODULES = frozenset({"__dict__", "_buffers", "_parameters", "vars"})


_LAYERS = os.path.dirname(os.path.abspath(torch.nn.modules.__file__)) + os.sep


class Preparation(Watcher):
    """The part of a tracer that patches, for the time of a trace, what the program may use."""

    _snapshot: Snapshot
    _watch_questions: Callable[[], None] | None
    _watch_frames: Callable[[Callable[[FrameType], bool], list[FrameType]], None]
    _autowrap_search: list[types.ModuleType]
    _autowrapped: set[int]
    _wrapped_tables: set[int]
    leaf_functions: tuple[Callable[..., Any], ...]

    def _patch(self, patches: hooks.PatchSet, function: Any) -> None:
        self._patches = patches
        self._lifted: set[int] = set()
        self._asks_machine = False
        patch_process_state(patches)
        patch_transforms(patches)
        patch_contexts(patches)
        patch_outside(patches)
        patch_checks(patches)
        patch_files_and_environment(patches)
        patch_wrapped(patches, (*self.leaf_functions, *MASKED))
        for module in self._autowrap_search:
            self._patch_table(patches, vars(module))
        lift(patches, self._needs, self._lifted, self.shown)
        for need in self._needs:
            if need.place in (bool, dict):  # which are no places, but tell the tracer itself
                continue
            if hooks.original_isinstance(need.place, types.FunctionType):
                continue
            if hooks.original_isinstance(need.place, dict):
                patches.patch(need.place, need.name, functools.partial(shim, need.name))
            elif need.place is torch.Tensor:
                method = getattr(torch.Tensor, need.name)
                patches.patch(torch.Tensor, need.name, functools.partial(gated_descriptor, method))
            else:
                patches.patch(need.place, need.name, state_property(need.name))
        if any(len(names) > 1 for names in self._paths.modules.values()):
            hooks.patch_containers(patches)
        self._patch_globals(getattr(function, "inner", function), self.root)
        self._patch_hooks(self.root)

    def lift_asking(self) -> None:
        """Start again with the function lifted that needs an answer now, if there is a way.

        Raises:
            Restart: There is.
        """
        if self.keeps_control_flow:
            lift_asking(self._needs, self._lifted, self._outside)

    def lift_text(self) -> None:
        """Start again with the function lifted that makes a text, if it is the program's.

        Python's own library shows values in messages that it makes and drops, as `signal` does.

        Raises:
            Restart: There is a way.
        """
        frame = user_frame(2)
        if frame is not None and is_programs(frame):
            self.lift_asking()

    def to_text(self, obj: Proxy, spec: str) -> str:
        """Answer `str(value)` and `format(value, spec)`: the true text, or a symbolic one that is only shown."""
        if self._is_only_shown():
            return repr(obj)
        try:
            if self._is_opaque(obj):
                raise data_dependent(obj, "format", "ST013")
            return format(self.to_identity(obj, "format"), spec)
        except TraceError:
            self.lift_text()
            raise

    def _is_only_shown(self) -> bool:
        """Tell whether the user's line makes a text for people to read, and list it where that is shown at capture."""
        location = here(4)
        shown = None if location is None else shown_by(location)
        is_error = shown in ("raise", "assert")
        if shown is not None and not (is_error or shown.startswith("_")):
            self.report.add("print", "the text of a traced value is shown at capture only", location)
        if is_error and self.levels:  # which the run may raise, with its values
            self.lift_text()
            return False
        return shown is not None

    def _patch_globals(self, function: Any, owner: nn.Module | None = None) -> None:
        if id(function) in self._scanned:
            return
        with apart():
            self._scan(function, owner)

    def _scan(self, function: Any, owner: nn.Module | None) -> None:
        """Prepare for what a function, and those that it may call, can name."""
        plain = inspect.unwrap(function) if callable(function) else function
        if type(function) is types.FunctionType and is_transform(function):
            plain = function
        table = getattr(plain, "__globals__", None)
        if table is not None and id(table) not in self._wrapped_tables:
            self._patch_table(self._patches, table)
        if self.keeps_control_flow and type(plain) is types.FunctionType:
            lift_flagged(self._patches, plain, self._lifted, self.shown)
        for place, name, code in names_used(plain, self._scanned, owner, self._prepare):
            if type(place) is not dict or type(place.get(name)) is CACHED:
                self._patches.patch(place, name, keeping)
                continue
            if not name:
                self._asks_for_none = self._asks_for_none or asks_for_none(code)
            self._snapshot.watch_global(place, name)
            if id(place.get(name)) in CLOCKS:
                self._patches.patch(place, name, patch_clock)
            elif id(place.get(name)) in ANSWERS:
                self._patches.patch(place, name, patch_answer)
            elif reads_date(name, place, code):
                where = Location(code.co_filename, code.co_firstlineno)
                self.report.add("frozen", f"what `{name}` of datetime gives", where)
            if name in ASKING and not self._asks_machine:
                self._asks_machine = True
                patch_surroundings(self._patches)
            if name in _TABLES_OF_MODULES:
                self._note_table(name, code)
            if name == "type" and "type" not in place:
                # Nothing asks a traced value for its class: the name has to answer from the start.
                self._patches.patch(place, "type", lambda before: SHIMS["type"])

    def _watch_stores(self, function: types.FunctionType) -> None:
        """Watch what a function may attach to modules of other packages and to tensors."""
        for store in stores_of(function.__code__):
            *path, name = store.names
            if store.root == "global":
                holder = function.__globals__.get(path[0])
                for part in path[1:]:
                    holder = getattr(holder, part, None)
                if type(holder) is types.ModuleType and not is_users(holder.__name__):
                    self._snapshot.watch_attribute(".".join(path), holder, name)
            elif name not in _TENSOR_NAMES:
                self._snapshot.watch_tensors(self.root)

    def _note_frame(self, frame: types.FrameType) -> None:
        self._constants.note(frame)

    def _prepare(self, function: types.FunctionType) -> None:
        """Prepare for a function that the program may call."""
        self._snapshot.watch_function(function)
        patch_made_before(self._patches, function)
        self._constants.functions.append(function)
        self._snapshot.reads_files |= not READING.isdisjoint(function.__code__.co_names)
        self._watch_stores(function)
        code, watch = function.__code__, self._watch_questions
        shows_none = self.keeps_optionals and asks_whether_none(code)
        if shows_none or asks_class(code) or compares_results(code) or (watch is not None and asks(code)):
            are_seen = show_questions(self._patches, function, self.shown)
            if not are_seen and watch is not None:
                watch()
                self._watch_questions = None

    def _watch_for_none(self) -> None:
        """Have functions seen that ask whether something is None, those that are running among them."""
        frame: FrameType | None = sys._getframe(1)
        found = []
        while frame is not None and frame is not self._outside:
            if none_questions(frame.f_code) and self._meets_none(frame):
                found.append(frame)
            frame = frame.f_back
        self._watch_frames(self._meets_none, found)

    def _meets_none(self, frame: FrameType) -> bool:
        """Tell whether a function that asks for None has to be watched, which is not lifted.

        Raises:
            Restart: It is lifted at the next try.
        """
        if hooks.active_tracer() is not self:
            return False
        if is_internal(frame):
            return frame.f_code.co_filename.startswith(_LAYERS)
        if is_programs(frame):
            lift_asking(self._needs, self._lifted, self._outside, frame)
        return True

    def _patch_hooks(self, mod: nn.Module) -> None:
        for table in (mod._forward_hooks, mod._forward_pre_hooks):
            for hook in table.values():
                self._patch_globals(getattr(hook, "__func__", hook))

    def _patch_table(self, patches: hooks.PatchSet, table: dict[str, Any]) -> None:
        self._wrapped_tables.add(id(table))
        autowrapped = self._autowrapped
        for name, value in list(table.items()):
            if id(value) in autowrapped and not name.startswith("_"):
                patches.patch(table, name, hooks._gated)
