"""Checking that a pass has done what it says, and nothing else."""

from __future__ import annotations

from typing import Any

from ..ir import Node, map_arg
from ..runtime import Graph, GraphModule
from .base import PassResult
from .core import Context, FunctionPass, Pass
from .errors import PassError
from .transaction import ModuleCheckpoint

__all__ = ["run_checked"]


def run_checked(run: Pass, module: GraphModule, ctx: Context) -> PassResult:
    """Run a pass and check its contract.

    A pass keeps the signature of the module, and parameters, buffers and submodules unless it is declared to
    change them; it leaves a graph that holds its invariants; and it says that it changed something if, and only
    if, it did.

    Args:
        run: The pass.
        module: Module to run it on, in place.
        ctx: Its context.

    Raises:
        PassError: The contract is broken (ST243). Like after any error of the pass, the module is as it was.
    """
    before = ModuleCheckpoint(module)
    signature = None if run.changes_signature else _signature(module.graph)
    try:
        result = run.apply(ctx)
        _check(run, before, result, signature)
    except BaseException:
        before.restore()
        raise
    return result


def _check(run: Pass, before: ModuleCheckpoint, result: PassResult, signature: Any) -> None:
    after = result.graph_module
    if isinstance(after, GraphModule):
        try:
            after.graph.lint()
        except Exception as error:
            raise _broken(run, f"it left a broken graph: {error}") from error
    if after is not before.module:
        return
    graph_differs = before.graph_differs()
    module_differs = before.module_differs()
    if module_differs and not run.changes_state:
        raise _broken(run, "it changed parameters, buffers or modules, and does not say that it may")
    if signature is not None and isinstance(after, GraphModule) and _signature(after.graph) != signature:
        raise _broken(
            run, "it changed the inputs or the structure of the result, and does not say that it may"
        )
    if isinstance(run, FunctionPass):  # which can't tell
        return
    if (graph_differs or module_differs) and not result.modified:
        raise _broken(run, "it says that nothing has changed, and something has")
    if result.modified and not (graph_differs or module_differs):
        raise _broken(run, "it says that something has changed, and nothing has")


def _broken(run: Pass, reason: str) -> PassError:
    return PassError("ST243", name=run.name or run.spell(), reason=reason)


def _signature(graph: Graph) -> Any:
    inputs = [(node.target, node.kind, len(node.args)) for node in graph.nodes if node.op == "placeholder"]
    skeleton: Any = map_arg(graph.output_node().args[0], _leaf)
    return inputs, _shape(skeleton)


def _leaf(node: Node) -> Any:
    return node


def _shape(value: Any) -> Any:
    """Return the structure of a result; what its leaves are is left out of account."""
    if isinstance(value, tuple | list):
        return (type(value).__name__, [_shape(item) for item in value])
    if isinstance(value, dict):
        return ("dict", [(key, _shape(item)) for key, item in value.items()])
    return None
