"""From the parameters of the root to the placeholders of the graph."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)

from .._base.signatures import signature_of
from ..errors import ArgumentError, RootError
from .hooks import original_isinstance

__all__ = [
    "PH",
    "Argument",
    "PHBase",
    "PHWithMeta",
    "arguments_of",
    "bind_examples",
    "call_positionally",
    "is_nested",
    "is_placeholder",
]


class PHBase:
    """Marks, inside a concrete argument, a part that stays an input."""

    def __repr__(self) -> str:
        return "PH"


class PHWithMeta(PHBase):
    """A mark that carries metadata for the placeholder made from it."""

    def __init__(self, ph_key: str | None = None) -> None:
        super().__init__()
        self.ph_key = ph_key


PH = PHBase()


def is_placeholder(value: Any) -> bool:
    """Tell whether `value` marks an input; the mark of torch.fx is taken for ours."""
    return any(base.__name__ == "PHBase" for base in type(value).__mro__)


@dataclass(frozen=True)
class Argument:
    """One parameter of the root.

    Attributes:
        name: Its name.
        kind: As `inspect.Parameter` has it.
        default: Default value, or `inspect.Parameter.empty`.
        annotation: Annotation, or None.
    """

    name: str
    kind: Any
    default: Any
    annotation: Any

    @property
    def target(self) -> str:
        """Target of its placeholder."""
        stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
        return stars.get(self.kind, "") + self.name

    @property
    def node_kind(self) -> str | None:
        """What `Node.kind` says of its placeholder."""
        kinds = {
            inspect.Parameter.KEYWORD_ONLY: "keyword_only",
            inspect.Parameter.POSITIONAL_ONLY: "positional_only",
        }
        return kinds.get(self.kind)


def arguments_of(function: Callable[..., Any], skip_first: bool) -> tuple[list[Argument], Any]:
    """Return the parameters of a function in the order of its signature, and its return annotation.

    Args:
        function: The function.
        skip_first: Leave out the first parameter, which is the module.

    Raises:
        RootError: ST014, its signature can't be told.
    """
    try:
        signature = signature_of(function)
    except (TypeError, ValueError) as error:
        raise RootError("ST014", root=repr(function), reason=str(error)) from None
    parameters = list(signature.parameters.values())
    if skip_first:
        if not parameters or parameters[0].kind not in (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.VAR_POSITIONAL,
        ):
            raise RootError("ST014", root=repr(function), reason="`self` argument cannot be *args expanded!")
        if parameters[0].kind is not inspect.Parameter.VAR_POSITIONAL:
            parameters = parameters[1:]
    empty = inspect.Parameter.empty
    found = [
        Argument(item.name, item.kind, item.default, None if item.annotation is empty else item.annotation)
        for item in parameters
    ]
    returns = None if signature.return_annotation is inspect.Signature.empty else signature.return_annotation
    return found, returns


def call_positionally(
    function: Callable[..., Any], arguments: list[Argument], leading: list[Any], values: dict[str, Any]
) -> Any:
    """Call `function` with one value per parameter; those of `*args` and `**kwargs` are passed as they are.

    A traced value can stand for the whole of `*args` or `**kwargs` only if the function takes it as an ordinary
    parameter, so that a copy of the function is called whose code takes it so.

    Raises:
        RootError: ST014, the function takes `*args` or `**kwargs` and is no plain Python function.
    """
    variable = [
        a for a in arguments if a.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    ]
    stand_ins = [a for a in variable if type(values[a.name]) not in (tuple, dict)]
    if not stand_ins and hasattr(function, "sees_keywords"):
        args, kwargs = _as_hooks_see(arguments, values, function.sees_keywords)
        return function(*leading, *args, **kwargs)
    if not stand_ins:
        return function(*leading, *_positional(arguments, values), **_keywords(arguments, values))
    plain = inspect.unwrap(function)
    if hasattr(function, "has_hooks"):
        raise RootError(
            "ST014",
            root="the module",
            reason="it has hooks, to which *args and **kwargs would be passed one by one",
        )
    if not isinstance(plain, types.FunctionType):
        raise RootError(
            "ST014", root=repr(function), reason="it takes *args or **kwargs and is no plain function"
        )
    code = plain.__code__
    if code.co_argcount < len(leading):
        raise RootError(
            "ST014", root=repr(function), reason="`self` cannot be part of *args expansion without examples"
        )
    count = code.co_argcount + code.co_kwonlyargcount
    names = list(code.co_varnames[: count + len(variable)])
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    flat = types.FunctionType(
        code.replace(co_argcount=len(names), co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags),
        plain.__globals__, plain.__name__, None, plain.__closure__,
    )  # fmt: skip
    flat.__wrapped__ = plain  # type: ignore[attr-defined]
    return flat(*leading, *[values[name] for name in names[len(leading) :]])


def _as_hooks_see(
    arguments: list[Argument], values: dict[str, Any], sees_keywords: bool
) -> tuple[list[Any], dict[str, Any]]:
    """Return arguments as callers give them: optional ones by keyword, or not at all where hooks see keywords."""
    args = _positional([a for a in arguments if not _is_optional(a)], values)
    kwargs = _keywords(arguments, values)
    for argument in filter(_is_optional, arguments):
        value = values[argument.name]
        kwargs.pop(argument.name, None)
        if value is not argument.default and not (sees_keywords and hasattr(type(value), "__graph_node__")):
            kwargs[argument.name] = value
    return args, kwargs


def _is_optional(argument: Argument) -> bool:
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return argument.kind in named and argument.default is not inspect.Parameter.empty


def _positional(arguments: list[Argument], values: dict[str, Any]) -> list[Any]:
    result: list[Any] = []
    for argument in arguments:
        if argument.kind is inspect.Parameter.VAR_POSITIONAL:
            result.extend(values[argument.name])
        elif argument.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD):
            result.append(values[argument.name])
    return result


def _keywords(arguments: list[Argument], values: dict[str, Any]) -> dict[str, Any]:
    result = {a.name: values[a.name] for a in arguments if a.kind is inspect.Parameter.KEYWORD_ONLY}
    for argument in arguments:
        if argument.kind is inspect.Parameter.VAR_KEYWORD:
            result.update(values[argument.name])
    return result


def bind_examples(
    arguments: list[Argument], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the example value of each parameter that was given one.

    Raises:
        ArgumentError: ST015, the examples do not fit the parameters.
    """
    signature = inspect.Signature([inspect.Parameter(a.name, a.kind, default=a.default) for a in arguments])
    try:
        return dict(signature.bind(*args, **kwargs).arguments)
    except TypeError as error:
        raise ArgumentError("ST015", reason=str(error), parameters=str(signature)) from None


def is_nested(value: Any) -> bool:
    """Tell whether a concrete argument is a container that is taken apart."""
    if is_placeholder(value) or original_isinstance(value, torch.Tensor):
        return False
    leaves = pytree.tree_leaves(value)
    return not (len(leaves) == 1 and leaves[0] is value)
