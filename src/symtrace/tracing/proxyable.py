"""`ProxyableClassMeta`: classes of the user's that may be built from traced values."""

from __future__ import annotations

from typing import Any

from .proxy import Proxy, collect_proxies

__all__ = ["ProxyableClassMeta"]


class ProxyableClassMeta(type):
    """Metaclass of classes whose construction is recorded when an argument is traced.

    >>> import torch, symtrace
    >>> class Pair(metaclass=ProxyableClassMeta):
    ...     def __init__(self, left, right):
    ...         self.left, self.right = left, right
    ...     def total(self):
    ...         return self.left + self.right
    >>> symtrace.symbolic_trace(lambda x, y: Pair(x, y).total())(torch.tensor(1), torch.tensor(2))
    tensor(3)
    """

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Build an instance, running its constructor while a trace sees what it does."""
        found: list[Proxy] = []
        collect_proxies((args, kwargs), found)
        if not found:
            return super().__call__(*args, **kwargs)
        return found[0].tracer.call_function(cls, args, kwargs)
