"""Example inputs: `--input 1x3x224x224:float32`, `--input mask=1x8:bool` and `--inputs EXPR`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import UsageError

if TYPE_CHECKING:
    import torch

__all__ = ["Inputs", "parse_inputs", "parse_tensor"]

_SPEC = re.compile(r"(?P<sizes>scalar|\d+(x\d+)*)(:(?P<dtype>\w+))?")
_SEED = 0


@dataclass(frozen=True)
class Inputs:
    """Arguments of one call of the program."""

    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.args or self.kwargs)


def _dtype(text: str, name: str) -> torch.dtype:
    import difflib

    import torch

    found = getattr(torch, name, None)
    if isinstance(found, torch.dtype):
        return found
    known = sorted(key for key, value in vars(torch).items() if isinstance(value, torch.dtype))
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    raise UsageError("ST403", text=text, reason=f"`{name}` is not a dtype of torch{hint}")


def parse_tensor(text: str, seed: int = _SEED) -> torch.Tensor:
    """Make the tensor that `text` describes.

    Args:
        text: Sizes joined by `x`, or `scalar`; then optionally a colon and a dtype.
        seed: Of the values; the global random state is left alone.

    Returns:
        Normally distributed values for floating and complex dtypes, zeros for others.

    Raises:
        UsageError: It is no such text, or torch can't make such a tensor (ST403).
    """
    import torch

    match = _SPEC.fullmatch(text.strip())
    if match is None:
        raise UsageError("ST403", text=text, reason="it is not sizes joined by `x`, such as 1x3x224x224")
    dtype = _dtype(text, match["dtype"] or "float32")
    shape = () if match["sizes"] == "scalar" else tuple(int(size) for size in match["sizes"].split("x"))
    try:
        if dtype.is_floating_point or dtype.is_complex:
            values = torch.randn(
                shape,
                generator=torch.Generator().manual_seed(seed),
                dtype=dtype if dtype.is_complex else torch.float32,
            )
            return values.to(dtype)
        return torch.zeros(shape, dtype=dtype)
    except (RuntimeError, TypeError, OverflowError, MemoryError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UsageError("ST403", text=text, reason=f"torch can't make it: {reason}") from None


def _call_arguments(*args: Any, **kwargs: Any) -> Inputs:
    return Inputs(args, kwargs)


def parse_inputs(tensors: Sequence[str], expression: str | None) -> Inputs:
    """Make the arguments that the options describe.

    Raises:
        UsageError: One can't be read (ST403, ST404), or both kinds are given (ST404).
    """
    if expression is None:
        args: list[torch.Tensor] = []
        kwargs: dict[str, torch.Tensor] = {}
        for seed, text in enumerate(tensors):
            name, is_named, described = text.partition("=")
            if is_named:
                kwargs[name.strip()] = parse_tensor(described, seed)
            else:
                args.append(parse_tensor(text, seed))
        return Inputs(tuple(args), kwargs)
    if tensors:
        raise UsageError("ST404", text=expression, reason="give either --input or --inputs, not both")
    import torch

    try:
        made: Inputs = eval(f"arguments({expression}\n)", {"torch": torch, "arguments": _call_arguments})
    except Exception as error:
        lines = str(error).strip().splitlines() or [""]
        raise UsageError("ST404", text=expression, reason=f"{type(error).__name__}: {lines[0]}") from None
    if not isinstance(made, Inputs):
        raise UsageError(
            "ST404", text=expression, reason="it is not what stands between the parentheses of a call"
        )
    return made
