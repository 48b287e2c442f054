"""What a program gets from outside of torch: generators of its own, clocks, iterators, threads."""

from __future__ import annotations

import builtins
import concurrent.futures
import datetime
import os
import random
import sys
import threading
import time
import types
import uuid
from typing import Any

from .blame import here, trace_error
from .frames import is_users_call
from .hooks import PatchSet, active_tracer

__all__ = ["CLOCKS", "patch_clock", "patch_outside", "reads_date"]

CLOCKS = {
    id(getattr(place, name)): getattr(place, name)
    for place, names in (
        (time, ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
                "process_time", "process_time_ns", "localtime", "gmtime", "ctime", "strftime", "thread_time")),
        (os, ("urandom", "getpid", "times")),
        (uuid, ("uuid1", "uuid4")),
    )
    for name in names
}  # fmt: skip
"""Functions that give another value at each call, by identity."""

_DATES = frozenset({"now", "today", "utcnow"})
_DRAWS = ("getrandbits", "random")


def patch_clock(original: Any) -> Any:
    """Return a function that has its value listed as frozen."""
    name = getattr(original, "__name__", "clock")

    def hook(*args: Any, **kwargs: Any) -> Any:
        tracer = active_tracer()
        caller = sys._getframe(1)
        is_log = caller.f_globals.get("__name__") == "logging"  # where it is only shown
        if tracer is not None and not is_log and is_users_call(caller):
            tracer.report.add("frozen", f"what `{name}` gives", here())
        return original(*args, **kwargs)

    hook.__wrapped__ = original  # type: ignore[attr-defined]
    return hook


def reads_date(name: str, table: dict[str, Any], code: types.CodeType) -> bool:
    """Tell whether `name` in a function is a method that gives the present date or time."""
    if name not in _DATES:
        return False
    named = [table.get(other) for other in code.co_names]
    return any(value in (datetime, datetime.datetime, datetime.date) for value in named if value is not None)


def _refusing(what: str) -> Any:
    """Make a hook that refuses the call, before anything is drawn or started."""

    def make(original: Any) -> Any:
        def hook(self: Any, *args: Any, **kwargs: Any) -> Any:
            if active_tracer() is not None and is_users_call(sys._getframe(1)):
                raise trace_error("ST026", what=what)
            return original(self, *args, **kwargs)

        return hook

    return make


def _drawing(name: str) -> Any:
    def make(before: Any) -> Any:
        original = getattr(random.Random.__base__, name)

        def draw(self: Any, *args: Any) -> Any:
            if active_tracer() is not None and is_users_call(sys._getframe(1)):
                raise trace_error("ST026", what="draws from a random generator of its own")
            return original(self, *args)

        return draw

    return make


def _numpy_generator(original: Any) -> Any:
    def default_rng(*args: Any, **kwargs: Any) -> Any:
        if active_tracer() is not None and is_users_call(sys._getframe(1)):
            raise trace_error("ST026", what="makes a random generator of numpy's")
        return original(*args, **kwargs)

    return default_rng


def _next(original: Any) -> Any:
    def hook(iterator: Any, /, *default: Any) -> Any:
        tracer = active_tracer()
        if tracer is not None and id(iterator) in tracer._snapshot.iterators:
            raise trace_error("ST022", attribute=tracer._snapshot.iterators[id(iterator)])
        return original(iterator, *default)

    hook.__wrapped__ = original  # type: ignore[attr-defined]
    return hook


def patch_outside(patches: PatchSet) -> None:
    """Have draws from generators of the program's own, threads and clocks refused or listed."""
    for name in _DRAWS:
        patches.patch(random.Random, name, _drawing(name))
    patches.patch(threading.Thread, "start", _refusing("starts a thread"))
    pool = concurrent.futures.thread.ThreadPoolExecutor
    patches.patch(pool, "submit", _refusing("gives work to another thread"))
    patches.patch(builtins, "next", _next)
    for place in (time, uuid):
        for name, value in list(vars(place).items()):
            if id(value) in CLOCKS:
                patches.patch(place, name, patch_clock)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        patches.patch(numpy.random, "default_rng", _numpy_generator)
