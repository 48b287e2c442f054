"""Generated source as a live function whose text tracebacks can show."""

from __future__ import annotations

import collections
import itertools
import linecache
import types
import weakref
from typing import Any

from ..codegen import PythonCode

__all__ = ["FILE_PREFIX", "Compiled", "compile_source"]

FILE_PREFIX = "<symtrace generated "
_numbers = itertools.count()
_dropped: collections.deque[str] = collections.deque()
"""Files whose text nobody needs. It is taken out later: one who walks through `linecache` may be collecting garbage."""


class Compiled:
    """A compiled `forward` with the source it came from; its text is forgotten some time after it was dropped.

    Attributes:
        function: The function, taking the module first.
        code: The source.
        filename: Name under which tracebacks find the text.
    """

    __slots__ = ("__weakref__", "code", "filename", "function")

    def __init__(self, function: types.FunctionType, code: PythonCode, filename: str) -> None:
        self.function = function
        self.code = code
        self.filename = filename


def compile_source(code: PythonCode, module_name: str, place: str = "") -> Compiled:
    """Compile generated source.

    Args:
        code: Source and globals.
        module_name: Shown in the name of the pseudo file.
        place: Where the program was written, likewise.
    """
    _forget_dropped()
    filename = f"{FILE_PREFIX}{module_name}.{next(_numbers)}>{place}"
    # Without a `__name__`: torch.compile would import the module of that name.
    namespace: dict[str, Any] = dict(code.globals)
    exec(compile(code.executed or code.src, filename, "exec", dont_inherit=True), namespace)
    namespace["forward"].__module__ = "symtrace.generated"
    compiled = Compiled(namespace["forward"], code, filename)
    # Without a time stamp: linecache keeps such an entry until it is taken out.
    linecache.cache[filename] = (len(code.src), None, code.src.splitlines(keepends=True), filename)
    weakref.finalize(compiled, _dropped.append, filename)
    return compiled


def _forget_dropped() -> None:
    while True:
        try:
            filename = _dropped.popleft()
        except IndexError:
            return
        linecache.cache.pop(filename, None)
