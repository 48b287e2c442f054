"""Control flow as operations: what a node calls that has regions among its arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..errors import ArgumentError
from ..ir import Region, map_arg
from .effect import OPAQUE, Effect
from .node_effects import effects

__all__ = ["CONTROL_FLOW", "cond", "for_each", "run_region", "while_loop"]


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


def while_loop(
    test: Region, body: Region, carried: Any, test_operands: Any, operands: Any
) -> tuple[Any, ...]:
    """Run a region as long as another one gives a true value.

    Args:
        test: Takes the carried values and `test_operands`; its only result tells whether to go on.
        body: Takes the carried values and `operands`; gives the carried values for the next round.
        carried: Values for the first round.
        test_operands: Further values that `test` sees.
        operands: Further values that `body` sees.

    Returns:
        The carried values after the last round.
    """
    values = tuple(carried)
    while run_region(test, (*values, *test_operands))[0]:
        values = run_region(body, (*values, *operands))
    return values


def for_each(items: Any, body: Region, carried: Any, operands: Any) -> tuple[Any, ...]:
    """Run a region for each item of an iterable.

    Args:
        items: The iterable.
        body: Takes an item, the carried values and `operands`; gives the carried values for the next round.
        carried: Values for the first round.
        operands: Further values that `body` sees.

    Returns:
        The carried values after the last round.
    """
    values = tuple(carried)
    for item in items:
        values = run_region(body, (item, *values, *operands))
    return values


def _effect(args: Any, kwargs: Any) -> Effect:
    """Return what the operations in all regions do together; a write in one may reach any operand."""
    found = Effect(returns_alias=True)
    for region in (value for value in args if isinstance(value, Region)):
        for node in region.graph.nodes:
            one = effects(node.op, node.target, node.args, node.kwargs)
            if one.mutates or one.impure or one.writes_state or one.barrier or one.check:
                return OPAQUE
            found = replace(found, random=found.random or one.random)
    return found


for _operation in (cond, while_loop, for_each):
    setattr(_operation, "__symtrace_effect__", _effect)  # noqa: B010 - functions have no such attribute by type

CONTROL_FLOW = frozenset({cond, while_loop, for_each})
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
