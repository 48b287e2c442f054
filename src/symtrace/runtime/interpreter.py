"""`Interpreter`: runs a graph node by node."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, cast

from torch import nn

from ..errors import ArgumentError, TargetError
from ..ir import Node, Region, last_uses, map_aggregate
from ..ir.args import LEAF_TYPES
from ..ops.program import enter_mode, exit_mode
from .graph import Graph
from .node_meta import has_preserved_node_meta, set_current_meta
from .notes import add_note, note_for_node

__all__ = ["Interpreter"]

_MISSING = object()


class Interpreter:
    """Runs a graph one node at a time; each step is a method that a subclass may replace.

    Args:
        module: The module whose attributes and submodules the graph uses.
        garbage_collect_values: Drop each value after its last use.
        graph: The graph to run; that of `module` by default.

    Attributes:
        env: Values by node during a run.

    >>> import torch, symtrace
    >>> module = symtrace.symbolic_trace(lambda x: torch.relu(x) + 1)
    >>> Interpreter(module).run(torch.tensor([-1.0, 2.0]))
    tensor([1., 3.])
    """

    def __init__(
        self, module: nn.Module, garbage_collect_values: bool = True, graph: Graph | None = None
    ) -> None:
        self.module = module
        if graph is None:
            graph = getattr(module, "graph", None)
            if graph is None:
                raise ArgumentError("ST112", what="module", expected="a GraphModule, or given with a graph",
                                    actual=type(module).__name__)  # fmt: skip
        self.graph: Graph = graph
        self.submodules = dict(module.named_modules())
        self.env: dict[Node, Any] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.args_iter: Iterator[Any] = iter(())
        self._plan_version = -1
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        self._region_plans: dict[Region, tuple[dict[Node, list[Node]], int]] = {}
        self._refresh()

    def _refresh(self) -> None:
        """Find the last uses again if the graph was edited since."""
        if self.garbage_collect_values and self._plan_version != self.graph.version:
            self.user_to_last_uses = last_uses(self.graph)
            self._plan_version = self.graph.version

    # ------------------------------------------------------------------ runs

    def run(
        self,
        *args: Any,
        initial_env: dict[Node, Any] | None = None,
        enable_io_processing: bool = True,
        **kwargs: Any,
    ) -> Any:
        """Run the graph.

        Args:
            *args: Arguments as the module takes them.
            initial_env: Values of nodes that are known already and are not run.
            enable_io_processing: Take arguments apart and build the result as the module does.
            **kwargs: Keyword arguments as the module takes them.

        Returns:
            What the module returns.

        Raises:
            ArgumentError: ST123, an argument is missing or surplus.
        """
        self._refresh()
        self.env = {} if initial_env is None else initial_env
        values = self.graph.process_inputs(*args) if enable_io_processing and not kwargs else args
        self.args_iter = iter(self._bind(tuple(values), kwargs))
        env, dying = self.env, self.user_to_last_uses
        run_node = self._run_node_with_meta if has_preserved_node_meta() else self.run_node
        for node in self.graph.nodes:
            if node in env:
                continue
            try:
                value = env[node] = run_node(node)
            except Exception as error:
                self._leave_modes()
                if self.extra_traceback:
                    add_note(error, note_for_node(node))
                raise
            if node in dying:
                for gone in dying[node]:
                    env.pop(gone, None)
            if node._op == "output":
                if self.garbage_collect_values:
                    for used in node.all_input_nodes:
                        env.pop(used, None)
                return self.graph.process_outputs(value) if enable_io_processing else value
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """Run the graph on a list of arguments that is emptied at once, so that inputs can be freed during the run.

        Args:
            args_list: One value per placeholder.
        """
        self._refresh()
        values = self._bind(tuple(args_list), {})
        if any(value is _MISSING for value in values):
            names = [node._target for node in self.graph.nodes if node._op == "placeholder"]
            missing = ", ".join(name for name, value in zip(names, values, strict=True) if value is _MISSING)
            raise ArgumentError("ST123", reason=f"missing arguments: {missing}", parameters=", ".join(names))
        args_list.clear()
        env: dict[Node, Any] = {}
        self.env = env
        self.args_iter = iter(())
        for node, value in zip(self.graph.nodes, values, strict=False):
            env[node] = value
        del values
        for node in self.graph.nodes:
            if node not in env:
                env[node] = self.run_node(node)
            if node._op == "output":
                return env[node]
            for gone in self.user_to_last_uses.get(node, ()):
                env.pop(gone, None)
            if not node._users:
                env.pop(node, None)
        return None

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Return one value per placeholder, as a call of the module would bind them."""
        values: list[Any] = []
        position = 0
        rest = dict(kwargs)
        takes_rest = False
        keywords_only = False
        names: list[str] = []
        for node in self.graph.nodes:
            if node._op != "placeholder":
                break
            target = node._target
            names.append(target)
            if target.startswith("**"):
                takes_rest = True
                values.append(rest)
            elif target.startswith("*"):
                values.append(args[position:])
                position = max(position, len(args))
                keywords_only = True
            else:
                keywords_only = keywords_only or node.kind == "keyword_only"
                if position < len(args) and not keywords_only:
                    if target in rest and node.kind != "positional_only":
                        raise ArgumentError(
                            "ST123", reason=f"got two values for `{target}`", parameters=names
                        )
                    values.append(args[position])
                    position += 1
                elif target in rest and node.kind != "positional_only":
                    values.append(rest.pop(target))
                else:
                    values.append(node._args[0] if node._args else _MISSING)
        if position < len(args):
            raise ArgumentError("ST123", reason=f"extra arguments: takes {position} but {len(args)} were given",
                                parameters=", ".join(names))  # fmt: skip
        if rest and not takes_rest:
            unknown = ", ".join(f"`{key}`" for key in rest)
            raise ArgumentError("ST123", reason=f"takes no argument {unknown}", parameters=", ".join(names))
        return values

    # ------------------------------------------------------------------ steps

    def run_node(self, n: Node) -> Any:
        """Run one node on the values of `env` and return its value."""
        args, kwargs = self.fetch_args_from_env(n)
        return getattr(self, n._op)(n._target, args, kwargs)

    def _run_node_with_meta(self, n: Node) -> Any:
        with set_current_meta(n):
            return self.run_node(n)

    def placeholder(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the next argument of the run, or the default value `args[0]`.

        Raises:
            ArgumentError: ST123, the argument was not given and has no default.
        """
        value = next(self.args_iter, _MISSING)
        if value is _MISSING:
            if args:
                return args[0]
            reason = f"Expected positional argument for parameter {target}, but one was not passed in"
            raise ArgumentError("ST123", reason=reason, parameters=target)
        return value

    def get_attr(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the attribute at the dotted path `target`."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the function `target`; an operation with regions runs them on the module, node by node."""
        if len(args) > 2 and Region in map(type, args):
            args = tuple(
                [
                    functools.partial(self._run_region, value) if type(value) is Region else value
                    for value in args
                ]
            )
        return target(*args, **kwargs)

    def _run_region(self, region: Region, *operands: Any) -> Any:
        """Run a region with this very interpreter, so that the steps of a subclass see what is in it."""
        outer = self.graph, self.env, self.args_iter, self.user_to_last_uses, self._plan_version
        plan = self._region_plans.get(region)
        self.graph = cast(Graph, region.graph)
        self.user_to_last_uses, self._plan_version = ({}, -1) if plan is None else plan
        try:
            result = Interpreter.run(self, *operands, enable_io_processing=False)
            self._region_plans[region] = self.user_to_last_uses, self._plan_version
            return result
        finally:
            self.graph, self.env, self.args_iter, self.user_to_last_uses, self._plan_version = outer

    def call_method(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the method `target` of the first argument."""
        receiver, *rest = args
        return getattr(receiver, target)(*rest, **kwargs)

    def call_module(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the submodule at the dotted path `target`."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the value of the output node."""
        return args[0] if args else None

    # ------------------------------------------------------------------ values

    def fetch_attr(self, target: str) -> Any:
        """Return the attribute of the module at a dotted path.

        Raises:
            TargetError: ST115, nothing is there.
        """
        found: Any = self.module
        seen: list[str] = []
        for atom in target.split(".") if target else ():
            if not hasattr(found, atom):
                raise TargetError("ST115", node=target, kind="get_attr", target=target, nearest="none",
                                  module=".".join(seen) or type(self.module).__name__)  # fmt: skip
            found = getattr(found, atom)
            seen.append(atom)
        return found

    def fetch_args_from_env(self, n: Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments of a node with nodes replaced by their values."""
        args = n._args
        # Arguments without nodes and flat ones are by far the commonest; they need no walk of the tree.
        if args:
            env = self.env
            values = []
            for value in args:
                if type(value) is Node:
                    values.append(env[value] if value in env else self._missing(n, value))
                elif type(value) in LEAF_TYPES:
                    values.append(value)
                else:
                    values.append(self.map_nodes_to_values(value, n))
            args = tuple(values)
        return args, self.map_nodes_to_values(n._kwargs, n) if n._kwargs else {}

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Return an argument tree with nodes replaced by their values.

        Args:
            args: The tree.
            n: Node whose arguments they are.
        """
        env = self.env

        def load(leaf: Any) -> Any:
            if type(leaf) is not Node:
                return leaf
            return env[leaf] if leaf in env else self._missing(n, leaf)

        return map_aggregate(args, load)

    def _leave_modes(self) -> None:
        """Leave the contexts that the run has entered, innermost first."""
        for node in reversed([node for node in self.env if node._target is enter_mode]):
            exit_mode(self.env[node])

    def _missing(self, n: Node, value: Node) -> Any:
        raise ArgumentError("ST124", node=n.name, value=value.name)
