"""Options that every command with a TARGET has: how it is made, and example inputs for it."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from ..errors import UsageError

__all__ = ["TargetOptions", "parse_config", "target_options"]


@dataclass(frozen=True)
class TargetOptions:
    """What the command line tells of a target.

    Attributes:
        config: Values, by name, that the target is made with.
        tensors: Texts of `--input`.
        expression: Text of `--inputs`.
    """

    config: dict[str, Any] = field(default_factory=dict)
    tensors: tuple[str, ...] = ()
    expression: str | None = None


def parse_config(texts: Sequence[str]) -> dict[str, Any]:
    """Read `NAME=VALUE` texts; a value that is no Python literal is a string.

    Raises:
        UsageError: ST410, a text has no such form, or a name is given twice.
    """
    values: dict[str, Any] = {}
    for text in texts:
        name, is_given, value = text.partition("=")
        name = name.strip()
        if not is_given or not name.isidentifier():
            raise UsageError("ST410", text=text, reason="it is not NAME=VALUE")
        if name in values:
            raise UsageError("ST410", text=text, reason=f"`{name}` is given twice")
        try:
            values[name] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError):
            values[name] = value
    return values


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--config`, `--input` and `--inputs` to a command, which gets them as `options`."""

    @click.option(
        "--input",
        "tensors",
        metavar="[NAME=]SIZES[:DTYPE]",
        multiple=True,
        help="One tensor argument, e.g. 1x3x224x224 or mask=8x16:bool; may be repeated.",
    )
    @click.option(
        "--inputs",
        "expression",
        metavar="EXPR",
        help="All arguments as Python, e.g. 'torch.ones(2), mask=None'.",
    )
    @click.option(
        "--config",
        "config",
        metavar="NAME=VALUE",
        multiple=True,
        help="A value that a class or factory is called with, e.g. num_classes=10, or that its configuration "
        "class is, as in transformers, e.g. n_layer=2; may be repeated.",
    )
    @functools.wraps(command)
    def with_options(
        *args: Any, tensors: tuple[str, ...], expression: str | None, config: tuple[str, ...], **kwargs: Any
    ) -> Any:
        return command(*args, options=TargetOptions(parse_config(config), tensors, expression), **kwargs)

    return with_options
