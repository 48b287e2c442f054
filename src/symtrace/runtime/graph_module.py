"""`GraphModule`: a module whose `forward` is generated from a graph."""

from __future__ import annotations

import copy
import inspect
import os
import types
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import torch
from torch import nn

from .._base.qualified import resolve_qualified
from ..codegen import PythonCode, PyTreeCodeGen
from ..errors import ArgumentError, GuardError, SymtraceWarning, TargetError
from ..ir import Event, all_graphs
from . import folder, readable
from .call_shape import CallShape
from .compiled import Compiled, compile_source
from .graph import Graph, find_module
from .guards import Guard, guards_of, remove_guards
from .notes import note_generated_line
from .rollback import LateGuards
from .storing import storable_state
from .submodules import adopt_target, assign_attribute, shallow_module

__all__ = ["GraphModule"]


_Module = TypeVar("_Module", bound="GraphModule")


class _LazyForward:
    """`forward` of a module whose graph has been edited since it was last compiled."""

    def __get__(self, instance: GraphModule | None, owner: type[GraphModule]) -> Any:
        if instance is None:
            return _uncompiled_forward
        return types.MethodType(instance._compile().function, instance)


def _uncompiled_forward(self: GraphModule, *args: Any, **kwargs: Any) -> Any:
    """Run the graph."""
    return self._compile().function(self, *args, **kwargs)


class GraphModule(nn.Module):
    """An ordinary module that runs a graph.

    The source of `forward` is generated and compiled when it is first needed and again after an edit of the graph; it
    is never stale.

    Args:
        root: Where `get_attr` and `call_module` targets are found: a module, or a dict from dotted paths to objects.
            Only what the graph uses is taken over; modules and tensors are shared with `root`.
        graph: The graph to run.
        class_name: Name of the class as it is printed.

    Raises:
        ArgumentError: ST112, `root` or `graph` is of a wrong type.
        TargetError: ST115, a target of the graph is not in `root`.

    >>> import torch
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> result = graph.output(graph.call_module("act", (x,)))
    >>> module = GraphModule({"act": torch.nn.ReLU()}, graph)
    >>> module(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    _is_instance_class = False
    # TorchScript would compile every property, and takes annotations for the types of attributes.
    __jit_unused_properties__ = (
        "_code", "_lineno_map", "_prologue_start", "code", "graph", "guards", "meta",
    )  # fmt: skip
    if TYPE_CHECKING:
        _graph: Graph
    forward = cast(Any, _LazyForward())

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        """Make an instance of a class of its own."""
        # A class for each instance: TorchScript and the profilers of torch know a program by its class.
        base = next(base for base in cls.__mro__ if not base.__dict__.get("_is_instance_class", False))
        instance_class = type(
            "GraphModuleImpl", (base,), {"_is_instance_class": True, "__module__": base.__module__}
        )
        return super().__new__(instance_class)

    def __init__(
        self, root: nn.Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule"
    ) -> None:
        super().__init__()
        if not isinstance(graph, Graph):
            raise ArgumentError("ST112", what="graph", expected="a symtrace Graph", actual=_kind(graph))
        type(self).__name__ = class_name
        # In the order of the graph, which is the order of the module's tables.
        used = _targets(graph)
        self._set_interned(graph, set(used) - {""})
        targets = [
            target
            for target in used
            if target not in ("", "training") and target.partition(".")[0] not in graph.interned
        ]
        targets.sort(key=lambda path: path.count("."))
        if isinstance(root, nn.Module):
            self.training = root.training
            for target in targets:
                adopt_target(self, root, target)
            if isinstance(root, GraphModule):
                self.meta.update(root.meta)
        elif isinstance(root, dict):
            for target in targets:
                if target not in root:
                    raise TargetError("ST115", node=target, kind="", target=target, module="root",
                                      nearest=", ".join(list(root)[:8]) or "none")  # fmt: skip
                assign_attribute(self, target, root[target], lambda path: nn.Module())
        else:
            raise ArgumentError("ST112", what="root", expected="an nn.Module or a dict", actual=_kind(root))
        self.graph = graph

    @classmethod
    def from_module(cls, module: nn.Module, graph: Graph, class_name: str | None = None) -> GraphModule:
        """Return a stand-in for `module`: everything registered in it or set on it is there, and `forward` is `graph`.

        Args:
            module: Taken over as it is, not copied; the stand-in has its tables of parameters, buffers and modules.
            graph: The graph to run.
            class_name: Name of the class as it is printed; that of `module` by default.
        """
        self = cls.__new__(cls)
        nn.Module.__init__(self)
        state = shallow_module(module).__dict__
        state.pop("forward", None)
        self.__dict__.update(state)
        if isinstance(module, GraphModule):
            self.__dict__.pop("_compiled", None)
            self.__dict__.pop("_graph", None)
        else:
            self.__dict__["original_class"] = type(module)
        type(self).__name__ = class_name or type(module).__name__
        self.hold_interned(graph)
        self.graph = graph
        return self

    def hold_interned(self, graph: Graph) -> None:
        """Take over what a graph has from outside the module that it was captured from."""
        self._set_interned(graph, set(_targets(graph)))

    def _set_interned(self, graph: Graph, targets: set[str]) -> None:
        """Hold what capture came across outside the module; none of it is part of the state dict."""
        heads = {target.partition(".")[0] for target in targets}
        for target, value in graph.interned.items():
            if target in heads:
                if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
                    self.register_buffer(target, value, persistent=False)
                else:
                    self.__dict__[target] = value

    # ------------------------------------------------------------------ graph and code

    @property
    def graph(self) -> Graph:
        """The graph that runs; assigning another makes this module run that one."""
        return cast("Graph", self.__dict__["_graph"])

    @graph.setter
    def graph(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise ArgumentError("ST112", what="graph", expected="a symtrace Graph", actual=_kind(graph))
        self._forget()
        self.__dict__["_graph"] = graph
        graph.owning_module = self

    @property
    def meta(self) -> dict[str, Any]:
        """Free-form metadata of the module."""
        return cast("dict[str, Any]", self.__dict__.setdefault("meta", {}))

    @meta.setter
    def meta(self, value: dict[str, Any]) -> None:
        self.__dict__["meta"] = value

    @property
    def code(self) -> str:
        """Source of `forward` for the graph as it is now."""
        return self._python_code().src

    @property
    def _code(self) -> str:
        return self.code

    @property
    def _prologue_start(self) -> int:
        """Line of `def forward` in the source."""
        return self.code[: self.code.index("def forward(")].count("\n") + 1

    @property
    def _lineno_map(self) -> dict[int, int]:
        """Positions of nodes in the graph by line, counted from `def forward`."""
        position = {node.name: index for index, node in enumerate(self.graph.nodes)}
        start = self._prologue_start
        return {line - start: position[name] for line, name in self._python_code().line_map.items()}

    @property
    def guards(self) -> tuple[Guard, ...]:
        """What capture assumed and each call checks, in the order of the checks."""
        return guards_of(self.graph)

    def remove_guards(self) -> int:
        """Take the guards out of the graph: calls that break an assumption are then computed as if they kept it.

        Returns:
            How many there were.
        """
        return remove_guards(self.graph) + CallShape.take_off(self.meta)

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.code}\n# For more, see `print_readable()`"

    def recompile(self) -> PythonCode:
        """Return the source for the graph as it is now.

        The module never runs a stale graph, so that nothing has to be done; the call is there for programs that
        expect to make it.
        """
        return self._python_code()

    def _python_code(self) -> PythonCode:
        compiled = self.__dict__.get("_compiled")
        if compiled is not None:
            return cast("PythonCode", compiled.code)
        cached = self.__dict__.get("_source")
        if cached is not None and cached[0] is self._graph and cached[1] == self._graph.version:
            return cast("PythonCode", cached[2])
        code = self._graph.python_code("self")
        self.__dict__["_source"] = (self._graph, self._graph.version, code)
        return code

    def _compile(self) -> Compiled:
        compiled = self.__dict__.get("_compiled")
        if compiled is not None:
            return cast("Compiled", compiled)
        graph = self._graph
        codegen = graph._codegen
        if isinstance(codegen, PyTreeCodeGen):
            self.__dict__["_in_spec"] = codegen.pytree_info.in_spec
            self.__dict__["_out_spec"] = codegen.pytree_info.out_spec
        compiled = compile_source(self._python_code(), type(self).__name__, _place_of(graph))
        self.__dict__.pop("_source", None)
        self.__dict__["_compiled"] = compiled
        # A plain function on the class is what torch's compilers look for; the first edit takes it away again.
        type(self).forward = compiled.function
        unsubscribe = graph.subscribe(lambda event: self._forget(event))
        self.__dict__["_unsubscribe"] = unsubscribe
        return compiled

    def _forget(self, event: Event | None = None) -> None:
        """Drop what was compiled, since the graph has changed."""
        if self.__dict__.pop("_compiled", None) is not None:
            unsubscribe = self.__dict__.pop("_unsubscribe", None)
            if unsubscribe is not None:
                unsubscribe()
            if "forward" in type(self).__dict__:
                del type(self).forward

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Run the graph, hooks included; an error names the generated line and the user's line."""
        if "self" in kwargs:  # the machinery of nn.Module has a parameter of that name itself
            bound = inspect.signature(self.forward).bind(*args, **kwargs)
            args, kwargs = bound.args, bound.kwargs
        late = self._late_guards()
        rollback = late.rollback(self, (args, kwargs)) if late.exist() else None
        try:
            CallShape.check(self.meta, args, kwargs)
            return super().__call__(*args, **kwargs)
        except Exception as error:
            if isinstance(error, GuardError):
                if rollback is not None:
                    rollback.undo()
                answer = self.__dict__.get("on_guard_failure")
                if answer is not None:
                    return answer(self, args, kwargs)
            compiled = self.__dict__.get("_compiled")
            if compiled is not None:
                note_generated_line(error, self, compiled.filename, compiled.code)
            raise

    def _checks_late(self) -> bool:
        """Tell whether a guard of the graph as it is now stands behind something that changes state."""
        return self._late_guards().exist()

    def _late_guards(self) -> LateGuards:
        graph = self._graph
        cached = self.__dict__.get("_late")
        if cached is None or cached[0] is not graph or cached[1] != graph.version:
            late = LateGuards(graph, lambda path: find_module(self, path))
            cached = self.__dict__["_late"] = (graph, graph.version, late)
        return cast(LateGuards, cached[2])

    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        **_: Any,
    ) -> str:
        """Return the source of this module and of the graph modules in it, with the user's lines as comments.

        Args:
            print_output: Print it too.
            include_stride: Show strides with shapes.
            include_device: Show devices with shapes.
            colored: Highlight the printed text for a terminal.
        """
        text = readable.readable_source(self, include_stride=include_stride, include_device=include_device)
        if print_output:
            readable.show(text, colored=colored)
        return text

    def to_folder(self, folder_path: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Write an importable package with the source of this module and its weights.

        Args:
            folder_path: Folder to write; it is made if missing.
            module_name: Name of the class in it.
        """
        folder.write_folder(self, Path(folder_path), module_name)

    # ------------------------------------------------------------------ submodules

    def add_submodule(self, target: str, m: nn.Module) -> bool:
        """Put a module at a dotted path, making empty modules on the way.

        Returns:
            Whether it was done; False when an attribute on the way is no module, and then nothing has changed.
        """
        *prefix, field = target.split(".")
        module: Any = self
        missing: list[str] = []
        for atom in prefix:
            if missing or not hasattr(module, atom):
                missing.append(atom)
            else:
                module = getattr(module, atom)
                if not isinstance(module, nn.Module):
                    return False
        for atom in missing:
            child = nn.Module()
            module.add_module(atom, child)
            module = child
        module.add_module(field, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module at a dotted path.

        Returns:
            Whether there was a module; the graph is not looked at.
        """
        prefix, _, field = target.rpartition(".")
        module = find_module(self, prefix) if prefix else self
        if not isinstance(module, nn.Module) or not isinstance(getattr(module, field, None), nn.Module):
            return False
        delattr(module, field)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove every module that no node calls or reads from, directly or as part of a called module."""
        used: set[str] = set()
        for node in (node for graph in all_graphs(self.graph) for node in graph.nodes):
            if node.op in ("call_module", "get_attr"):
                atoms = node.target.split(".")
                used.update(".".join(atoms[:count]) for count in range(1, len(atoms) + 1))
                if node.op == "call_module":
                    called = find_module(self, node.target)
                    if isinstance(called, nn.Module):
                        used.update(f"{node.target}.{name}" for name, _ in called.named_modules() if name)
        for name in [name for name, _ in self.named_modules(remove_duplicate=False)]:
            if name and name not in used:
                self.delete_submodule(name)

    # ------------------------------------------------------------------ the original's other attributes

    def __getattr__(self, name: str) -> Any:
        modules = self.__dict__.get("_modules")
        if modules is not None and name in modules:  # what generated code asks for at every turn
            return modules[name]
        try:
            return super().__getattr__(name)
        except AttributeError:
            original = self._original_class()
            if name == "original_class" and original is not None:
                return original
            found = inspect.getattr_static(original, name, None) if original is not None else None
            if found is None or (name.startswith("__") and name.endswith("__")):
                raise
        bind = getattr(type(found), "__get__", None)
        return found if bind is None else bind(found, self, original)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        saved = self._as_original("_save_to_state_dict", "get_extra_state")
        save = super()._save_to_state_dict if saved is None else saved._save_to_state_dict
        save(destination, prefix, keep_vars)

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        loaded = self._as_original("_load_from_state_dict", "set_extra_state")
        (super()._load_from_state_dict if loaded is None else loaded._load_from_state_dict)(*args, **kwargs)

    def _as_original(self, *names: str) -> nn.Module | None:
        """Return an instance of the original's class with the very state of this one, if it has methods of its own.

        Args:
            names: The methods in question.
        """
        original: Any = self._original_class()
        if original is None or issubclass(original, GraphModule):
            return None
        if all(getattr(original, name, None) is getattr(nn.Module, name) for name in names):
            return None
        stand_in: nn.Module = original.__new__(original)
        object.__setattr__(stand_in, "__dict__", self.__dict__)
        return stand_in

    def _original_class(self) -> type | None:
        """Return the class of the original; of a module that was loaded, it is imported when it is asked for."""
        name = self.__dict__.get("original_class_name")
        if "original_class" not in self.__dict__ and name is not None:
            try:
                self.__dict__["original_class"] = resolve_qualified(name)
            except LookupError:
                self.__dict__["original_class_name"] = None
        return self.__dict__.get("original_class")

    def train(self: _Module, mode: bool = True) -> _Module:
        """Switch between training and evaluation, as the original's class does it.

        Args:
            mode: Training, rather than evaluation.
        """
        lost = self.meta.get("evaluation_only")
        if mode and lost and not self.training:
            warnings.warn(
                f"this module was made for evaluation ({', '.join(lost)}): train() does not bring it back",
                SymtraceWarning,
                stacklevel=2,
            )
        stand_in = self._as_original("train")  # whose methods need an instance of it
        if stand_in is None:
            return super().train(mode)
        stand_in.train(mode)
        return self

    # ------------------------------------------------------------------ copies

    def _copy_state(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in _OWN_STATE}

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        result = self.__new__(type(self))
        memo[id(self)] = result
        nn.Module.__init__(result)
        graph = copy.deepcopy(self._graph, memo)
        result.__dict__.update(copy.deepcopy(self._copy_state(), memo))
        type(result).__name__ = type(self).__name__
        result.graph = graph
        return result

    def __copy__(self) -> GraphModule:
        result = self.__new__(type(self))
        result.__dict__.update(shallow_module(self).__dict__)
        for key in _OWN_STATE:
            result.__dict__.pop(key, None)
        result.__dict__["meta"] = dict(self.meta)
        type(result).__name__ = type(self).__name__
        result.graph = copy.copy(self._graph)
        return result

    def __reduce__(self) -> Any:
        base = next(base for base in type(self).__mro__ if not base.__dict__.get("_is_instance_class", False))
        called = {node.target for node in self._graph.nodes if node.op == "call_module"}
        state = storable_state(self, self._copy_state(), called)
        return _restore, (base, type(self).__name__, self._graph), state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _replicate_for_data_parallel(self) -> GraphModule:
        replica = cast("GraphModule", super()._replicate_for_data_parallel())  # type: ignore[no-untyped-call]
        type(replica).__name__ = type(self).__name__
        for key in _OWN_STATE - {"_graph"}:
            replica.__dict__.pop(key, None)
        return replica


_OWN_STATE = frozenset({"_graph", "_compiled", "_late", "_unsubscribe", "_source"})


def _targets(graph: Graph) -> dict[str, None]:
    """Return what a graph, and the regions in it, read and call, in their order."""
    return dict.fromkeys(
        node.target
        for inner in all_graphs(graph)
        for node in inner.nodes
        if node.op in ("get_attr", "call_module")
    )


def _place_of(graph: Graph) -> str:
    """Return where the program of a graph was written, as far as its nodes tell."""
    for node in graph.nodes:
        # A placeholder is made by the capture itself, on behalf of whoever asked for it.
        if node.op != "placeholder" and node.origin is not None and node.origin.frames:
            frame = node.origin.frames[0]
            return f" from {frame.file}:{frame.line} in {frame.function}"
    return ""


def _kind(value: object) -> str:
    cls = type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def _restore(base: type[GraphModule], class_name: str, graph: Graph) -> GraphModule:
    module = base.__new__(base)
    nn.Module.__init__(module)
    type(module).__name__ = class_name
    module.graph = graph
    return module
