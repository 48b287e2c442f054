"""Lists and dicts that can't be changed, for the arguments of a node."""

from __future__ import annotations

from typing import Any, NoReturn, SupportsIndex, TypeVar

__all__ = ["EMPTY_DICT", "immutable_dict", "immutable_list"]

_T = TypeVar("_T")
_K = TypeVar("_K")
_V = TypeVar("_V")


def _refuse(self: object, *args: Any, **kwargs: Any) -> NoReturn:
    raise TypeError(
        f"{type(self).__name__!r} object does not support mutation. Arguments of a node are changed by assigning "
        "new ones:\n\n    new_args = ...  # a changed copy of node.args\n    node.args = new_args"
    )


class immutable_list(list[_T]):
    """A list that refuses every change and hashes by content.

    >>> immutable_list([1, 2])[0]
    1
    """

    append = clear = extend = insert = pop = remove = reverse = sort = _refuse
    __delitem__ = __iadd__ = __imul__ = __setitem__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_list, (list(self),)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return self.__reduce__()


class immutable_dict(dict[_K, _V]):
    """A dict that refuses every change and hashes by content.

    >>> immutable_dict(a=1)["a"]
    1
    """

    clear = pop = popitem = setdefault = update = _refuse
    __delitem__ = __ior__ = __setitem__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[Any, ...]:
        return immutable_dict, (dict(self),)

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        return self.__reduce__()


EMPTY_DICT: immutable_dict[Any, Any] = immutable_dict()
"""The one empty mapping that nodes without keyword arguments share."""
