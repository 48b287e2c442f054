"""Control flow as operations: what a node calls that has regions among its arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import ArgumentError
from ..ir import CHANGING, Region, map_arg
from .effect import OPAQUE, Effect
from .node_effects import effects

__all__ = ["CONTROL_FLOW", "cond", "for_each", "run_region", "torch_cond", "torch_while", "while_loop"]


def cond(predicate: Any, then: Region, orelse: Region, operands: Any, else_operands: Any) -> tuple[Any, ...]:
    """Run one of two regions.

    Args:
        predicate: Which one: `then` if it is true.
        then: A region that takes `operands`.
        orelse: A region that takes `else_operands`, and gives as many results.
        operands: Values for the placeholders of `then`.
        else_operands: Values for the placeholders of `orelse`.

    Returns:
        The results of the region that ran.
    """
    if predicate:
        return run_region(then, operands)
    return run_region(orelse, else_operands)


def torch_cond(
    predicate: Any, then: Region, orelse: Region, operands: Any, else_operands: Any
) -> tuple[Any, ...]:
    """Run one of two regions, as `cond` does; generated code calls `torch.cond` for it, which compilers keep."""
    return cond(predicate, then, orelse, operands, else_operands)


def while_loop(predicate: Any, body: Region, carried: Any, operands: Any) -> tuple[Any, ...]:
    """Run a region as long as it says so.

    Args:
        predicate: Whether to run it at all.
        body: Takes the carried values and `operands`; gives whether to go on, and the carried values of the next round.
        carried: Values for the first round.
        operands: Further values that `body` sees.

    Returns:
        The carried values after the last round.
    """
    values = tuple(carried)
    while predicate:
        predicate, *results = run_region(body, (*values, *operands))
        values = tuple(results)
    return values


def torch_while(predicate: Any, body: Region, carried: Any, operands: Any) -> tuple[Any, ...]:
    """Run a region as `while_loop` does; generated code calls `torch.while_loop` for it, which compilers keep."""
    return while_loop(predicate, body, carried, operands)


def for_each(items: Any, body: Region, carried: Any, operands: Any, stops: bool = False) -> tuple[Any, ...]:
    """Run a region for each item of an iterable.

    Args:
        items: The iterable.
        body: Takes an item, the carried values and `operands`; gives the carried values for the next round.
        carried: Values for the first round.
        operands: Further values that `body` sees.
        stops: Whether the first result of `body` tells, before the carried values, whether to go on.

    Returns:
        The carried values after the last round.
    """
    values = tuple(carried)
    for item in items:
        results = run_region(body, (item, *values, *operands))
        values = results[1:] if stops else results
        if stops and not results[0]:
            break
    return values


def _effect(args: Any, kwargs: Any) -> Effect:
    """Return what the operations in all regions do together; a write in one may reach any operand."""
    found = Effect(returns_alias=True)
    for region in (value for value in args if isinstance(value, Region)):
        for node in region.graph.nodes:
            module = _called(region, node.target) if node.op == "call_module" else None
            one = effects(node.op, node.target, node.args, node.kwargs, module, any_mode=True)
            if one.mutates or one.impure or one.writes_state or one.barrier or one.check:
                return OPAQUE
            found = replace(found, random=found.random or one.random)
    return found


def _called(region: Region, path: str) -> Any:
    """Return the module that a node of a region calls, if it is known where the region belongs."""
    found = region.graph.owning_module
    for atom in path.split("."):
        found = getattr(found, atom, None)
    return found


def _cond_regions(args: Any) -> Any:
    """Describe the regions of a call; see `symtrace.ir.region.RegionUse`."""
    _, then, orelse, operands, else_operands = args
    results = _count(then)
    return (
        (then, 1, tuple(operands), (3, 0), results),
        (orelse, 2, tuple(else_operands), (4, 0), results),
    )


def _while_regions(args: Any) -> Any:
    _, body, carried, operands = args
    count = len(carried)
    return ((body, 1, ((CHANGING,) * count + tuple(operands)), (3, count), count + 1, 2),)


def _for_regions(args: Any) -> Any:
    _, body, carried, operands, *stops = args
    count = len(carried)
    inputs = (CHANGING,) * (count + 1)
    return ((body, 1, (*inputs, *operands), (3, count + 1), count + any(stops), 2),)


def _count(region: Region) -> int | None:
    given = region.graph.output_node().args
    return len(given[0]) if given and isinstance(given[0], tuple) else None


for _operation, _regions in (
    (cond, _cond_regions),
    (torch_cond, _cond_regions),
    (while_loop, _while_regions),
    (torch_while, _while_regions),
    (for_each, _for_regions),
):
    setattr(_operation, "__symtrace_effect__", _effect)  # noqa: B010 - functions have no such attribute by type
    setattr(_operation, "__symtrace_regions__", _regions)  # noqa: B010

CONTROL_FLOW = frozenset({cond, torch_cond, while_loop, torch_while, for_each})
"""The operations that have regions."""


def run_region(region: Any, operands: Any) -> tuple[Any, ...]:
    """Return the results of a region that reads nothing from a module, or of a function that runs one.

    Raises:
        ArgumentError: ST112, it calls a module or reads an attribute: an `Interpreter` runs it on its module.
    """
    if not isinstance(region, Region):
        return tuple(region(*operands))
    given = iter(operands)
    env: dict[Any, Any] = {}
    for node in region.graph.nodes:
        if node.op == "placeholder":
            env[node] = next(given)
            continue
        args = map_arg(node.args, env.__getitem__)
        kwargs = map_arg(node.kwargs, env.__getitem__)
        if node.op == "call_function":
            env[node] = node.target(*args, **kwargs)
        elif node.op == "call_method":
            env[node] = getattr(args[0], node.target)(*args[1:], **kwargs)
        elif node.op == "output":
            return tuple(args[0])
        else:
            raise ArgumentError("ST112", what="region", expected="a region without modules", actual=node.op)
    return ()
