"""What a program asks of the machine and the process around it: answered as at capture, and listed in its report."""

from __future__ import annotations

import builtins
import io
import os
import pathlib
import platform
import socket
import sys
from typing import Any

import torch

from .blame import here, trace_error
from .frames import is_users_call
from .hooks import PatchSet, active_tracer

__all__ = ["ANSWERS", "ASKING", "patch_answer", "patch_files_and_environment", "patch_surroundings"]

_MACHINE: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (torch.cuda, ("current_device", "device_count", "get_device_capability", "get_device_name",
                  "get_device_properties", "is_available", "is_bf16_supported", "is_initialized", "mem_get_info",
                  "memory_allocated", "memory_reserved")),
    (torch.backends.mps, ("is_available", "is_built")),
    (torch.distributed, ("get_rank", "get_world_size", "is_available", "is_initialized")),
    (torch, ("get_num_interop_threads", "get_num_threads")),
    (os, ("cpu_count", "getcwd", "getlogin", "getloadavg", "listdir", "scandir", "stat", "uname")),
    (os.path, ("exists", "getmtime", "getsize", "isdir", "isfile")),
    (pathlib.Path, ("exists", "is_dir", "is_file", "iterdir", "stat")),
    (platform, ("machine", "node", "platform", "processor", "release", "system", "version")),
    (socket, ("gethostname", "getfqdn")),
    (sys, ("getrecursionlimit", "getswitchinterval")),
)  # fmt: skip
for _optional in ("mps", "xpu", "accelerator", "mtia"):
    if hasattr(torch, _optional):
        _MACHINE += ((getattr(torch, _optional), ("current_accelerator", "current_device", "device_count",
                                                  "is_available")),)  # fmt: skip

_PLACES = [(place, name) for place, names in _MACHINE for name in names if name in vars(place)]

_Environment: type = type(vars(os)["environ"])
_SHOWN = {os.path: "os.path", pathlib.Path: "pathlib.Path"}
_NAMES = {
    id(getattr(place, name)): f"{_SHOWN.get(place) or place.__name__}.{name}"
    for place, name in reversed(_PLACES)
}
ANSWERS = {id(getattr(place, name)): getattr(place, name) for place, name in _PLACES}
"""Functions that ask the machine or the process, by identity."""

ASKING = frozenset(name for _, name in _PLACES) | {"input"}
"""Names by which a program that asks can be told."""


def patch_answer(original: Any) -> Any:
    """Return a function that has its answer listed as frozen."""
    shown = _NAMES.get(id(original), "call")

    def hook(*args: Any, **kwargs: Any) -> Any:
        tracer = active_tracer()
        if tracer is not None and is_users_call(sys._getframe(1)):
            tracer.report.add("frozen", f"what `{shown}` gives", here())
        return original(*args, **kwargs)

    hook.__name__ = shown.rpartition(".")[2]
    hook.__wrapped__ = original  # type: ignore[attr-defined]
    return hook


def _environment(original: Any) -> Any:
    def __getitem__(self: Any, key: Any) -> Any:
        tracer = active_tracer()
        if tracer is not None and is_users_call(sys._getframe(1)):
            tracer.report.add("frozen", f"the environment variable `{key}`", here())
        return original(self, key)

    return __getitem__


def _changes_environment(original: Any) -> Any:
    def change(self: Any, key: Any, *value: Any) -> Any:
        if active_tracer() is not None and is_users_call(sys._getframe(1)):
            raise trace_error("ST026", what=f"changes the environment variable `{key}`")
        return original(self, key, *value)

    return change


def _files(original: Any) -> Any:
    def open(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        tracer = active_tracer()
        if tracer is not None and "r" in mode and is_users_call(sys._getframe(1)):
            tracer.report.add("frozen", f"what the file {str(file)!r} holds", here())
        return original(file, mode, *args, **kwargs)

    open.__wrapped__ = original  # type: ignore[attr-defined]
    return open


def _typed(original: Any) -> Any:
    def input(*args: Any) -> Any:
        tracer = active_tracer()
        if tracer is not None and is_users_call(sys._getframe(1)):
            tracer.report.add("frozen", "what `input` gives", here())
        return original(*args)

    return input


def patch_files_and_environment(patches: PatchSet) -> None:
    """Have reads of files and of environment variables listed while `patches` are in force."""
    patches.patch(_Environment, "__getitem__", _environment)
    for name in ("__delitem__", "__setitem__"):
        patches.patch(_Environment, name, _changes_environment)
    for place in (builtins, io):
        patches.patch(place, "open", _files)


def patch_surroundings(patches: PatchSet) -> None:
    """Have questions about the machine and the process listed, for a program that names one."""
    for place, name in _PLACES:
        patches.patch(place, name, patch_answer)
    patches.patch(builtins, "input", _typed)
