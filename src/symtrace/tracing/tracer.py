"""`Tracer`: runs a module or function on traced values and records what it does."""

from __future__ import annotations

import copy
import functools
import inspect
import math
import re
import sys
import types
from collections.abc import Callable
from typing import Any

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)
from torch import nn
from torch.overrides import TorchFunctionMode

from ..codegen import PyTreeCodeGen, PyTreeInfo
from ..diagnostics import Location
from ..errors import ArgumentError, DataDependentError, GraphEditError, RootError, TraceError
from ..ir import Node
from ..ops import program
from ..runtime import Graph
from . import hooks
from .blame import trace_error
from .caches import is_constant, refuse_written
from .constants import Constants
from .contexts import Flags
from .control_flow.unused import drop_unused
from .culprit import Culprit, refusal_of, with_line
from .frames import last_line, last_user_frame
from .identity import watching_questions
from .inputs import PH, Argument, arguments_of, bind_examples, call_positionally, is_nested, is_placeholder
from .later import needs_of_hooks
from .live_dicts import needs_of_dict
from .mode import CaptureMode
from .preparation import Preparation
from .process_state import RandomStates, new_hooks, next_hook, swapped_tensor
from .proxy import ParameterProxy, Proxy
from .real_values import RealValues
from .recording import Scope
from .roots import as_called, is_lazy, with_self
from .scanning import is_users
from .shared_containers import make_shared
from .shared_names import KeptNames, has_programs_hooks
from .snapshot import Change, Snapshot, nodes_of_proxies
from .state import Need, Restart

__all__ = ["Tracer"]

_MISSING = hooks.MISSING
_TENSOR_NAMES = frozenset(dir(torch.Tensor))
_DESCRIPTOR = re.compile(r"descriptor '(\w+)' for 'torch\._C\.TensorBase' objects")
_NAMES_PROXY = re.compile(r"\b(Parameter)?Proxy\b|'Attribute' object")


class Tracer(Preparation):
    """Traces a module or function; override the hooks to change what is recorded.

    Args:
        autowrap_modules: Python modules whose functions stay one node.
        autowrap_functions: Functions that stay one node.
        param_shapes_constant: Give the shapes of parameters as plain numbers.

    >>> import torch
    >>> graph = Tracer().trace(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()))
    >>> [node.name for node in graph.nodes]
    ['input_1', '_0', '_1', 'output']
    """

    def __init__(
        self,
        autowrap_modules: tuple[types.ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        self.param_shapes_constant = param_shapes_constant
        self.leaf_functions: tuple[Callable[..., Any], ...] = ()
        self._autowrap_search = list(autowrap_modules)
        self._autowrapped = {
            id(value)
            for module in autowrap_modules
            for name, value in vars(module).items()
            if not name.startswith("_") and callable(value)
        } | {id(function) for function in autowrap_functions}
        self.root: nn.Module = nn.Module()

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        result = object.__new__(type(self))
        memo[id(self)] = result
        for name, value in vars(self).items():
            # Python modules can't be copied.
            result.__dict__[name] = list(value) if name == "_autowrap_search" else copy.deepcopy(value, memo)
        return result

    # ------------------------------------------------------------------ hooks

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Tell whether a module stays one node; by default everything from `torch.nn` but `Sequential`.

        Args:
            m: The module.
            module_qualified_name: Its dotted path.
        """
        return m.__module__.startswith(("torch.nn", "torch.ao.nn")) and not hooks.original_isinstance(
            m, nn.Sequential
        )

    def path_of_module(self, mod: nn.Module) -> str:
        """Return the dotted path of a module of the root.

        Raises:
            NameError: It is not in the root.
        """
        names = self._paths.modules.get(id(mod))
        if names is None:
            raise NameError("module is not installed as a submodule")
        if len(names) == 1:
            return names[0]
        # Registered under several names: what the user wrote is the latest read that no call has answered yet.
        reads = self._accesses.get(id(mod))
        if not reads:
            return names[0]
        return reads.pop() if len(reads) > 1 else reads[0]

    def call_module(
        self, m: nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Record or inline a call of a module.

        Args:
            m: The module.
            forward: Calls it for real, hooks included.
            args: Arguments of the call.
            kwargs: Keyword arguments of the call.
        """
        path = self.path_of_module(m)
        is_leaf = self._has_backward_hooks(m) or self.is_leaf_module(m, path)
        if is_leaf and (
            id(m) in self._paths.around
            or self._has_swapped_tensors(m)
            or self._has_new_hooks(m)
            or self._keeps(m)
            or self._meets_changes(m)
        ):
            is_leaf = False  # as a node, it would run with the tensors, hooks and modules of its own
        if is_leaf and is_users(type(m).__module__):
            self._constants.opaque.add(type(m))
        calls = self._module_calls.get(path, 0)
        self._module_calls[path] = calls + 1
        scope, stack = self.scope, self.module_stack
        self.scope = Scope(path, type(m))
        self.module_stack = {**stack, f"{path}@{calls}" if calls else path: (path, type(m))}
        try:
            return (
                self.create_proxy("call_module", path, args, kwargs) if is_leaf else forward(*args, **kwargs)
            )
        finally:
            self.scope, self.module_stack = scope, stack

    def _has_swapped_tensors(self, m: nn.Module) -> bool:
        """Tell whether traced values stand for tensors of a module, so that it has to be traced into.

        Raises:
            TraceError: ST026, it stays one node for its hooks.
        """
        name = swapped_tensor(m, self._is_proxy)
        if name is not None and self._has_backward_hooks(m):
            what = f"puts a traced value in place of `{name}` of a {type(m).__name__} that is one node"
            raise trace_error("ST026", what=what)
        return name is not None

    def _meets_changes(self, m: nn.Module) -> bool:
        """Tell whether hooks of a layer of torch's may see what the program has changed, for the time being perhaps.

        Raises:
            TraceError: ST026, it has hooks that run backwards, for which it stays one node.
        """
        is_seen = m.__module__.startswith("torch.") and has_programs_hooks(m) and self._snapshot.is_changed()
        if is_seen and self._has_backward_hooks(m):
            what = f"changes state while a {type(m).__name__} is called whose hooks may see it"
            raise trace_error("ST026", what=what)
        return is_seen

    def _has_new_hooks(self, m: nn.Module) -> bool:
        """Tell whether the program itself has registered hooks, on a module or all; backward ones are refused."""
        if new_hooks(m, self._first_hook, backward=True):
            raise trace_error("ST026", what="registers a backward hook")
        return new_hooks(m, self._first_hook)

    @staticmethod
    def _has_backward_hooks(m: nn.Module) -> bool:
        # They wrap what goes in and out for autograd, which only real tensors can bear.
        return bool(m._backward_hooks) or bool(getattr(m, "_backward_pre_hooks", None))

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Return what the program gets when it reads a parameter or buffer of a module.

        Args:
            attr: Name of the attribute.
            attr_val: Its value.
            parameter_proxy_cache: Traced values of parameters read before, by path.
        """
        is_parameter = hooks.original_isinstance(attr_val, nn.Parameter)
        if not is_parameter and not (
            self.proxy_buffer_attributes and hooks.original_isinstance(attr_val, torch.Tensor)
        ):
            return attr_val
        path = self._paths.tensors.get(id(attr_val))
        if path is None:
            return attr_val
        if path not in parameter_proxy_cache:
            factory = None
            if is_parameter and self.param_shapes_constant:

                def factory(node: Node) -> Proxy:
                    return ParameterProxy(self, node, path, attr_val)

            parameter_proxy_cache[path] = self.create_proxy(
                "get_attr", path, (), {}, proxy_factory_fn=factory
            )
        return parameter_proxy_cache[path]

    def create_arg(self, a: Any) -> Any:
        """Return a value as an argument of a node; tensors and modules are read from the module or interned."""
        if hooks.original_isinstance(a, torch.Tensor):
            if id(a) in self._replaced:
                return self._read_before(a)
            return self.create_node("get_attr", self._path_of_tensor(a), (), {})
        if hooks.original_isinstance(a, nn.Module):
            return self._module_node(a)
        return super().create_arg(a)

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: Any = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """Make a placeholder for each parameter of the root.

        Args:
            root_fn: Function to be traced.
            is_module: Its first parameter is the module.
            concrete_args: Values, by name, that parameters are specialised to.

        Returns:
            A function that takes one value per parameter, and the values.
        """
        arguments, _ = arguments_of(inspect.unwrap(root_fn), is_module)
        concrete = self._concrete(arguments, concrete_args)
        leading = [self.root] if is_module else []
        if any(is_nested(value) for value in concrete.values()):
            return self._nested_inputs(root_fn, arguments, leading, concrete)
        values = {}
        guards: list[tuple[Node, Any]] = []
        for argument in arguments:
            values[argument.name] = self._input(argument, concrete.get(argument.name, _MISSING), guards)
        for node, expected in guards:
            self._specialise(node, expected)

        def call(*given: Any) -> Any:
            by_name = dict(zip([a.name for a in arguments], given[len(leading) :], strict=True))
            return call_positionally(root_fn, arguments, list(given[: len(leading)]), by_name)

        return call, [*leading, *values.values()]

    # ------------------------------------------------------------------ inputs

    def _concrete(self, arguments: list[Argument], concrete_args: Any) -> dict[str, Any]:
        names = [argument.name for argument in arguments]
        if concrete_args is None:
            return {}
        if hooks.original_isinstance(concrete_args, tuple):
            if len(concrete_args) != len(names):
                raise ArgumentError("ST015", reason=f"{len(concrete_args)} concrete arguments were given",
                                    parameters=", ".join(names))  # fmt: skip
            return dict(zip(names, concrete_args, strict=True))
        unknown = [key for key in concrete_args if key not in names]
        if unknown:
            raise ArgumentError("ST021", unknown=", ".join(map(repr, unknown)), parameters=", ".join(names))
        return dict(concrete_args)

    def _input(self, argument: Argument, concrete: Any, guards: list[tuple[Node, Any]]) -> Any:
        default = argument.default
        args = () if default is inspect.Parameter.empty else (default,)
        # As in FX, the name tells that a mark was given for the parameter; the parameter keeps its own.
        name = f"{argument.name}_1" if is_placeholder(concrete) else None
        node = self._placeholder(argument.target, args, argument.annotation, name)
        node.kind = argument.node_kind
        if concrete is _MISSING or is_placeholder(concrete):
            if concrete is not _MISSING:
                _hand_over(concrete, node)
            example = self._example_values.get(argument.name, _MISSING)
            if example is None or (example is _MISSING and argument.name in self._left_out):
                guards.append((node, None))
                return None
            if example is not _MISSING:
                self.examples[node] = example
            return self.proxy(node)
        if hooks.original_isinstance(concrete, torch.Tensor):
            return self._real_input(node, concrete)
        guards.append((node, concrete))
        return concrete

    def _real_input(self, node: Node, example: torch.Tensor) -> Proxy:
        self.examples[node] = self.real_examples[node] = example
        return self.proxy(node)

    def _placeholder(
        self, target: str, args: tuple[Any, ...], annotation: Any, name: str | None = None
    ) -> Node:
        # Defaults are objects of the user's and stay as they are: no conversion, no node.
        if name is None:
            return self.create_node("placeholder", target, args, {}, type_expr=annotation)
        return self.create_node("placeholder", target, args, {}, name, annotation)

    def _specialise(self, node: Node, expected: Any) -> None:
        condition = f"{node.target} is {expected!r}"
        self.report.add("guard", condition, None)
        self.create_node("call_function", program.guard, (node, expected, condition), {})

    def _nested_inputs(
        self,
        root_fn: Callable[..., Any],
        arguments: list[Argument],
        leading: list[Any],
        concrete: dict[str, Any],
    ) -> tuple[Callable[..., Any], list[Any]]:
        values = [concrete.get(argument.name, PH) for argument in arguments]
        leaves, in_spec = pytree.tree_flatten(values)
        names = [
            argument.name
            for argument, value in zip(arguments, values, strict=True)
            for _ in pytree.tree_leaves([value])
        ]
        given: list[Any] = []
        guards: list[tuple[Node, Any]] = []
        counts: dict[str, int] = {}
        for name, leaf in zip(names, leaves, strict=True):
            nested = is_nested(concrete.get(name, PH))
            counts[name] = counts.get(name, 0) + 1
            node = self._placeholder(f"{name}_{counts[name]}" if nested else name, (), None)
            if is_placeholder(leaf):
                _hand_over(leaf, node)
                given.append(self.proxy(node))
            elif hooks.original_isinstance(leaf, torch.Tensor):
                given.append(self._real_input(node, leaf))
            else:
                guards.append((node, leaf))
                given.append(leaf)
        for node, expected in guards:
            self._specialise(node, expected)
        tree_args = pytree.tree_unflatten(given, in_spec)

        def call(*flat: Any) -> Any:
            by_name = dict(zip([a.name for a in arguments], tree_args, strict=True))
            result = call_positionally(root_fn, arguments, list(leading), by_name)
            out_leaves, out_spec = pytree.tree_flatten(result)
            self.graph._codegen = PyTreeCodeGen(PyTreeInfo([a.name for a in arguments], in_spec, out_spec))
            return out_leaves

        return call, [*leading, *given]

    # ------------------------------------------------------------------ the trace

    def trace(self, root: Any, concrete_args: Any = None, *examples: Any, **example_kwargs: Any) -> Graph:
        """Trace a module or function.

        Args:
            root: A module, or a callable.
            concrete_args: Values, by name, that parameters are specialised to; a tensor is an example value, which
                decisions follow. A tensor given here itself is the first example input.
            *examples: Example inputs.
            **example_kwargs: Example inputs by keyword.

        Returns:
            The graph. It has no owner yet; give it to a `GraphModule` with `tracer.root`.

        Raises:
            TraceError: The program can't be captured as it stands.
            ArgumentError: ST001, ST014, ST015, ST021: `root` or the arguments are of a wrong kind.
        """
        if concrete_args is not None and not hooks.original_isinstance(concrete_args, dict | tuple):
            examples, concrete_args = (concrete_args, *examples), None
        if not hooks.original_isinstance(root, nn.Module) and not callable(root):
            raise ArgumentError("ST001", actual=type(root).__name__)
        needs: frozenset[Need] = needs_of_hooks(root)
        while True:
            try:
                return self._trace_once(root, concrete_args, examples, example_kwargs, needs)
            except Restart as again:
                needs |= frozenset(again.needs)
            except TraceError as error:
                if error.location is not None or error.code not in ("ST022", "ST023", "ST026"):
                    raise

                def run(culprit: Culprit, needs: frozenset[Need] = needs) -> None:
                    self._culprit = culprit
                    self._trace_once(root, concrete_args, examples, example_kwargs, needs)

                raise with_line(error, run) from None
            finally:
                self._culprit = None

    def _trace_once(
        self, root: Any, concrete_args: Any, examples: Any, example_kwargs: Any, needs: frozenset[Need]
    ) -> Graph:
        is_module = hooks.original_isinstance(root, nn.Module)
        self._begin()
        self.root = root if is_module else nn.Module()
        self.graph = Graph(tracer_cls=type(self))
        self.node_name_to_scope = {}
        self.module_stack = {}
        self.scope = Scope("", type(self.root))
        self._watch(needs)
        self._wrapped_tables: set[int] = set()
        self._scanned: set[int] = set()
        function = self._traced = self._function_of(root, is_module)
        self._keeps = KeptNames(self.root, function)
        arguments, returns = arguments_of(inspect.unwrap(function), is_module)
        self._example_values = bind_examples(arguments, tuple(examples), example_kwargs) if (
            examples or example_kwargs) else {}  # fmt: skip
        self._by_keyword = frozenset(example_kwargs)
        self._left_out = self._left_out_arguments(arguments, bool(examples or example_kwargs))
        self._outside = sys._getframe(2)
        self._constants = Constants(self._outside)
        snapshot = self._snapshot = Snapshot(self.root, root)
        self._first_hook = next_hook()
        random_states, grad_mode, flags = RandomStates(), torch.is_grad_enabled(), Flags()
        if self._culprit is not None:
            what = self._culprit.what
            self._culprit.ask(lambda: snapshot.has_changed(what))
            self._culprit.ask(random_states.has_moved)
            self._culprit.ask(flags.has_changed)
        leaked = drawn = changed = unplaced = None
        try:
            with watching_questions(self._on_question) as watch, hooks.installed(self) as patches:
                self._watch_questions: Callable[[], None] | None = watch.start
                self._watch_frames = watch.watch_frames
                self._patch(patches, function)
                with self._mode():
                    call, args = self.create_args_for_root(function, is_module, concrete_args)
                    if self.real_examples:
                        self._real = RealValues(self, self.root, self.real_examples)
                    result = self._run(call, args)
                    self._output(result, returns)
            refuse_written(self)
        except GraphEditError as error:  # after a region the program uses what was computed in it
            unplaced = error
        finally:
            leaked = snapshot.restore(self._nodes_in, functools.partial(is_constant, self))
            drawn = random_states.restore()
            changed = flags.restore()
            torch.set_grad_enabled(grad_mode)
            self._written.clear()
            self._outside = None
        if self.refusal is not None:
            raise self.refusal  # which the program has caught
        if unplaced is not None:
            self._refuse_leaked(leaked)  # in which it was kept
            raise unplaced
        if self.keeps_control_flow:
            drop_unused(self.graph)
        if self.record_stack_traces:
            self._note_stack_traces()
        if drawn is not None:
            raise TraceError("ST026", what=f"draws from {drawn}")
        if changed is not None:
            raise TraceError("ST026", what=f"changes {changed}")
        self._refuse_leaked(leaked)
        self.report.add_later(self._constants.reader(snapshot, self.graph.interned, needs))
        return self.graph

    def _refuse_leaked(self, leaked: Change | None) -> None:
        """Stop where the program has put traced values into what outlives the trace, or start again to see it do so."""
        if leaked is not None:
            if missing := needs_of_dict(self, leaked.container):
                raise Restart(*missing)
            raise refusal_of(leaked)

    _nodes_in = staticmethod(nodes_of_proxies)
    _culprit: Culprit | None = None

    def _mode(self) -> TorchFunctionMode:
        """Return the mode that sees what the program calls."""
        return CaptureMode(self)

    def _run(self, call: Callable[..., Any], args: list[Any]) -> Any:
        try:
            return call(*args)
        except TypeError as error:
            if hooks.original_isinstance(error, TraceError) or not _NAMES_PROXY.search(str(error)):
                raise
            frame = last_user_frame(error)
            if frame is None:
                raise
            need = None
            if "interpreted as an integer" in str(error) and "range" in frame.f_code.co_names:
                need = Need.of(frame.f_globals, "range")
            method = _DESCRIPTOR.match(str(error))
            if method is not None:  # `torch.Tensor.add(x, y)`
                need = Need.of(torch.Tensor, method[1])
            if need is not None and need not in self._needs:
                raise Restart(need) from None
            # A C function that takes no traced value; say whose line called it.
            raise DataDependentError(
                "ST024", location=Location(frame.f_code.co_filename, last_line(error)), reason=str(error)
            ) from error

    def _note_stack_traces(self) -> None:
        for node in self.graph.nodes:
            if node.origin is not None and node.origin.frames and "stack_trace" not in node.meta:
                node.meta["stack_trace"] = node.origin.format()

    def _left_out_arguments(self, arguments: list[Argument], has_examples: bool) -> frozenset[str]:
        """Return the parameters that are traced as left out, so that the program sees their default None."""
        if has_examples:
            return frozenset(
                a.name for a in arguments if a.default is None and a.name not in self._example_values
            )
        return self.absent

    absent: frozenset[str] = frozenset()
    """Names of parameters with default None that are traced as left out."""

    def _function_of(self, root: Any, is_module: bool) -> Callable[..., Any]:
        if not is_module:
            return root  # type: ignore[no-any-return]
        name = self.traced_func_name
        if name in root.__dict__:  # put on the instance, and what a call of it runs
            bound = root.__dict__[name]

            def instance_function(module: Any, /, *args: Any, **kwargs: Any) -> Any:
                return bound(*args, **kwargs)

            instance_function.__signature__ = with_self(inspect.signature(bound))  # type: ignore[attr-defined]
            own: Any = instance_function
            return as_called(root, own, self._note_call) if name == "forward" else own
        function = getattr(type(root), name, None)
        if function is None:
            raise RootError(
                "ST014", root=type(root).__name__, reason=f"traced_func_name={name!r} doesn't exist in it"
            )
        if is_lazy(function):
            function = getattr(root, name).__func__
        return as_called(root, function, self._note_call) if name == "forward" else function

    def _output(self, result: Any, returns: Any) -> None:
        self.record_filled()
        make_shared(self, result)
        self._finish(self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=returns))


def _hand_over(mark: Any, node: Node) -> None:
    """Give a placeholder what the mark that it was made for carries, save what it has already."""
    for name, value in vars(mark).items():
        if not hasattr(node, name):
            setattr(node, name, value)
