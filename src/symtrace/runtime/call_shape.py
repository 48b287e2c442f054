"""How the root was called at capture: its hooks, which are part of the graph, have seen it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..diagnostics import Location
from ..errors import GuardError

__all__ = ["CallShape"]

_KEY = "call_shape"


@dataclass(frozen=True)
class CallShape:
    """What hooks saw of the way in which the root was called, which each call is checked for.

    Attributes:
        positional: How many arguments were given by position; None where nothing saw it.
        keywords: The names of those given by keyword, sorted; None where nothing saw it.
        file: File of what saw it.
        line: Its line.
    """

    positional: int | None
    keywords: tuple[str, ...] | None
    file: str = ""
    line: int = 0

    @property
    def location(self) -> Location | None:
        """Where the function begins that saw it."""
        return Location(self.file, self.line) if self.file else None

    @property
    def condition(self) -> str:
        """The guard in words."""
        parts = []
        if self.positional is not None:
            parts.append(f"{self.positional} arguments are given by position")
        if self.keywords is not None:
            parts.append(f"by keyword are given: {', '.join(self.keywords) or 'none'}")
        return ", ".join(parts)

    def put_on(self, meta: dict[str, Any]) -> None:
        """Have calls of a module checked.

        Args:
            meta: Its metadata, which its copies and those who take over its graph have too.
        """
        meta[_KEY] = asdict(self)

    @staticmethod
    def check(meta: Mapping[str, Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Check a call of a module.

        Raises:
            GuardError: ST301, hooks would see another way of calling.
        """
        fields = meta.get(_KEY)
        if fields is None:
            return
        shape = CallShape(**fields)
        if shape.positional not in (None, len(args)) or (
            shape.keywords is not None and shape.keywords != tuple(sorted(kwargs))
        ):
            condition = f"{shape.condition}, as the hooks of the module saw it"
            raise GuardError("ST301", location=shape.location, condition=condition)

    @staticmethod
    def take_off(meta: dict[str, Any]) -> bool:
        """Have calls of a module checked no more; tell whether they were."""
        return meta.pop(_KEY, None) is not None
