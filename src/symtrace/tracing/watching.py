"""What the hooks ask while a program runs: about modules, types of values, modes and objects from outside."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import CheckpointFunction

from ..diagnostics import Location
from ..errors import TraceError
from ..ir import Node
from ..ops import program
from ..runtime.call_shape import CallShape
from ..runtime.graph import find_module
from . import hooks
from .assigned import AssignedContainers
from .blame import data_dependent, here, trace_error
from .constants import Constants
from .contexts import is_settled
from .frames import is_compared_by_identity, is_own, looks_up, returned_length, user_frame
from .given import guard_given
from .guards import add_guard
from .identity import answer_question
from .joints import NOT_WRITTEN, Joints, asks_for_flag
from .kinds import class_matches, names_tensor_type, rests_on_dtype
from .known import Unknown
from .later import LATER, OF_FUNCTION, run_unseen
from .live_dicts import needs_of_held, read_dict, takes_as_dict
from .process_state import swapped_tensor
from .proxy import Proxy, collect_proxies
from .scanning import is_users
from .shims import SHIMS
from .state import Need, Paths, Replaced, Restart, has_setter
from .transforms import checkpointed

__all__ = ["Watcher", "asks_for_flag"]

_BACKWARD = ("backward", torch.autograd.backward)
_TENSOR_NAMES = frozenset(dir(torch.Tensor))
_NUMBERS = frozenset({torch.Size, int, float, bool})


class Watcher(Joints):
    """Answers the hooks on behalf of one trace.

    Attributes:
        root: The module that is traced; an empty one for a function.
    """

    root: nn.Module
    _traced: Any = None
    _example_values: dict[str, Any]
    _constants: Constants

    def _watch(self, needs: frozenset[Need]) -> None:
        """Start afresh for a trace of `root`.

        Args:
            needs: What earlier tries found out that has to be watched from the start.
        """
        self._paths = Paths(self.root)
        self._accesses: dict[int, list[str]] = {}
        self._parameters: dict[str, Any] = {}
        self._written: dict[tuple[int, str], Any] = {}
        self._ran_backward = self._asks_for_none = False
        self._asked_class: set[Node] = set()
        self._handed_out: set[tuple[int, bool]] = set()
        self._replaced: dict[int, Replaced] = {}
        self._assigned = AssignedContainers()
        self._dicts: dict[tuple[int, str], Any] = {}
        self._kinds: dict[Node, type] = {}
        self._modes: list[bool] = []
        self._table_reads: tuple[str, types.CodeType] | None = None
        self._training: dict[str, Any] = {}
        self._contexts: dict[int, Any] = {}
        self._module_nodes: dict[str, Node] = {}
        self._module_calls: dict[str, int] = {}
        self._kept: dict[Any, Any] = {}
        self._needs = needs
        self._scanned: set[int] = set()

    call_shape: CallShape | None = None
    """How the root was called, where its hooks see that."""

    def _note_call(self, shape: CallShape) -> None:
        self.call_shape = shape
        self.report.add("guard", shape.condition, shape.location)

    # ------------------------------------------------------------------ what a tracer overrides

    def call_module(
        self, m: nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Record or inline a call of a module; see `Tracer.call_module`."""
        return forward(*args, **kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Return what the program gets when it reads a parameter or buffer; see `Tracer.getattr`."""
        return attr_val

    def _patch_globals(self, function: Any, owner: nn.Module | None = None) -> None:
        """Have names that a function uses answer for traced values."""

    def _patch_hooks(self, mod: nn.Module) -> None:
        """Do so for the hooks of a module."""

    def get_fresh_qualname(self, prefix: str) -> str:
        """Return `prefix` with the first number that makes it no attribute of the root."""
        number = 0
        while (name := f"{prefix}{number}") in self.graph.interned or hasattr(self.root, name):
            number += 1
        return name

    def _forget_nodes(self, erased: set[Node]) -> None:
        """Forget nodes that were taken out of the graph: what they read is read again."""
        for table in (self._parameters, self._training, self._module_nodes):
            for key, value in list(table.items()):
                if getattr(value, "node", value) in erased:
                    del table[key]
        for key, kept in list(self._kept.items()):
            if not erased.isdisjoint(kept[1]):
                del self._kept[key]

    def _on_node(self, kind: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if kind == "call_method" and target in LATER:
            run_unseen(self, (*args[1:], *kwargs.values()))
        elif kind == "call_function" and type(target) is types.FunctionType and is_users(target.__module__):
            self._constants.opaque.add(target)
            run_unseen(self, (target,), bool(self._module_nodes))
        if target in _BACKWARD:
            self._ran_backward = True

    def _finish(self, output: Node) -> None:
        if self._asks_for_none or self._asked_class:
            with hooks.tracing_as(None):
                guard_given(self)

    # ------------------------------------------------------------------ what the hooks ask

    @staticmethod
    def _is_proxy(value: Any) -> bool:
        return issubclass(type(value), Proxy)

    def _find_proxy(self, args: Any, kwargs: Any) -> Any:
        """Return a traced value among arguments, as something that tells its tracer, or None."""
        for value in args:
            if issubclass(type(value), Proxy):
                return value  # type: ignore[no-any-return]
        found: list[Proxy] = []
        collect_proxies((args, kwargs), found)
        return found[0] if found else None

    def _on_module_call(self, mod: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if id(mod) not in self._paths.modules:
            self._intern_module(mod)

        def forward(*args: Any, **kwargs: Any) -> Any:
            return hooks.original_call(mod, *args, **kwargs)

        if hooks.original_isinstance(mod, torch.jit.ScriptModule):
            # Its program is torch's own; only its result is seen.
            return self.call_method("forward", (mod, *args), kwargs)
        self._patch_globals(type(mod).forward, mod)
        if mod._forward_hooks or mod._forward_pre_hooks:
            self._patch_hooks(mod)
        return self.call_module(mod, forward, args, kwargs)

    def _on_getattr(self, mod: nn.Module, name: str, value: Any) -> Any:
        written = self.written_value((id(mod), name)) if self._written else NOT_WRITTEN
        if written is not NOT_WRITTEN:
            return written
        names = self._paths.modules.get(id(mod))
        if names is None:
            return value
        if hooks.original_isinstance(value, nn.Module):
            self._note_read(mod, name, value)
            return value
        return self.getattr(name, value, self._parameters)

    def _note_read(self, owner: nn.Module, name: str, module: nn.Module) -> None:
        """Remember under which name a module that has several was read."""
        if len(self._paths.modules.get(id(module), ())) > 1 and id(owner) in self._paths.modules:
            names = self._paths.modules[id(owner)]
            prefix = (self._accesses.get(id(owner)) or names)[-1 if len(names) > 1 else 0]
            self._accesses.setdefault(id(module), []).append(f"{prefix}.{name}" if prefix else name)

    def _on_training(self, mod: nn.Module, value: bool) -> Any:
        written = self.written_value((id(mod), "training"))
        if written is not NOT_WRITTEN:
            return written
        names = self._paths.modules.get(id(mod))
        if names is None:
            return value
        target = f"{names[0]}.training" if names[0] else "training"
        if target not in self._training:
            self._training[target] = self.create_proxy("get_attr", target, (), {})
        proxy = self._training[target]
        return self.to_identity(proxy, "is") if is_compared_by_identity(sys._getframe(2)) else proxy

    def _on_setattr(self, mod: nn.Module, name: str, value: Any) -> bool:
        if id(mod) not in self._paths.modules:
            return False
        state = mod.__dict__
        registered = any(name in state[table] for table in ("_parameters", "_buffers", "_modules"))
        if not registered and name != "training":
            need = Need.of(type(mod), name)
            if need not in self._needs:
                if name not in state and has_setter(type(mod), name):
                    return False  # a property of the program's, whose own assignments are seen
                if name in state and state[name] is value:
                    return True  # nothing changes, unless the program assigns another value too: see there
                raise Restart(need)
        self._record_write(mod, name, value)
        return True

    def _record_write(self, mod: nn.Module, name: str, value: Any) -> None:
        if hooks.original_isinstance(value, nn.Module):
            if mod._modules.get(name) is value:
                return  # nothing changes, and nothing else was assigned there before
            raise trace_error("ST023", attribute=name, what="assigns a module to")
        if self._table_reads is not None:
            raise self._table_error(name)
        if (id(mod), name) in self._dicts:
            raise trace_error("ST023", attribute=name, what="reads and later assigns")
        self.report.add("state", f"self.{name} is assigned at each call", here())
        before = self._held_tensor(mod, name)
        write = self.create_proxy("call_function", program.write_attribute, (mod, name, value), {})
        if before is not None and id(before) not in self._replaced:
            path = self._paths.tensors[id(before)]
            self._replaced[id(before)] = Replaced(before, path, write.node, (id(mod), name))
        self._written[id(mod), name] = value
        self._assigned.note(mod, name, value, len(self.levels), write.node, self.versions)

    def _note_table(self, name: str, code: types.CodeType) -> None:
        """Note that a function of the program looks into the tables of modules, where assignments are not seen.

        Raises:
            TraceError: ST023, it reads the training flag there, or the program has assigned attributes.
        """
        if name == "_parameters":  # which `get_parameter` and the like read; few assign parameters
            return
        self._table_reads = name, code
        if name in ("__dict__", "vars") and "training" in code.co_consts:
            raise self._table_error("training")
        if self._written:
            raise self._table_error(next(iter(self._written))[1])

    def _table_error(self, attribute: str) -> TraceError:
        assert self._table_reads is not None
        name, code = self._table_reads
        location = Location(code.co_filename, code.co_firstlineno)
        what = f"looks into `{name}` of a module, past what it reads or assigns as"
        return TraceError("ST023", location=location, attribute=attribute, what=what)

    def _held_tensor(self, mod: nn.Module, name: str) -> torch.Tensor | None:
        """Return the tensor that an attribute has held since before the trace, if it is the only one that holds it."""
        if (id(mod), name) in self._written:
            return None
        for table in (mod._buffers, mod.__dict__, mod._parameters):
            value = table.get(name)
            if hooks.original_isinstance(value, torch.Tensor):
                if id(value) in self._paths.shared:
                    raise trace_error(
                        "ST023", attribute=name, what="assigns to one of several names of a tensor,"
                    )
                return value if id(value) in self._paths.tensors else None
        return None

    def _read_before(self, tensor: torch.Tensor) -> Node:
        """Return the node that reads a tensor of a module before the program puts another in its place."""
        replaced = self._replaced[id(tensor)]
        if replaced.node is None:
            graph = replaced.write.graph
            with graph.inserting_before(replaced.write):
                replaced.node = graph.create_node("get_attr", replaced.path, (), {})
        return replaced.node

    def _runs_backward(self) -> bool:
        """Tell whether the program has computed gradients; see `TracerBase._runs_backward`."""
        return self._ran_backward

    def _is_of_module(self, tensor: Any) -> bool:
        """Tell whether a tensor is held by the module that is traced."""
        path = self._paths.tensors.get(id(tensor))
        return path is not None and path.partition(".")[0] not in self.graph.interned

    def _property_of_held(self, tensor: torch.Tensor, name: str) -> Any:
        """Return a property of a tensor of the module, as it is at each call."""
        proxy = self.call_function(getattr, (tensor, name), {})
        if name in ("grad", "grad_fn"):
            with hooks.unwatched():
                is_absent = getattr(tensor, name) is None
            if is_absent and not self._ran_backward:
                add_guard(self, proxy.node, None)
                return None
        frame = sys._getframe(3)  # behind those of the mode
        return self.to_identity(proxy, "is") if is_compared_by_identity(frame) else proxy

    def _current_tensor(self, tensor: Any) -> Any:
        """Return what the program has put in the place of a tensor of a module."""
        replaced = self._replaced.get(id(tensor))
        written = NOT_WRITTEN if replaced is None else self.written_value(replaced.key)
        return tensor if written is NOT_WRITTEN else written

    def _on_delattr(self, mod: nn.Module, name: str) -> bool:
        if id(mod) not in self._paths.modules:
            return False
        raise trace_error("ST023", attribute=name, what="deletes")

    def _on_state_read(self, mod: nn.Module, name: str, value: Any) -> Any:
        """A read of a plain attribute that the program also writes: it is not the same at each call."""
        written = self.written_value((id(mod), name))
        if written is not NOT_WRITTEN:
            return written
        names = self._paths.modules.get(id(mod))
        if names is None:
            return value
        if takes_as_dict(self, mod, name, value):
            return self._dicts.setdefault((id(mod), name), read_dict(self, mod, name, value))
        if is_compared_by_identity(sys._getframe(2)):
            raise trace_error("ST023", attribute=name, what="asks by `is` for, and later assigns")
        if value is None or value is hooks.MISSING:
            how = "reads, while it is None," if value is None else "looks for, before it is there,"
            raise trace_error("ST023", attribute=name, what=f"{how} and later assigns")
        if is_users(type(value).__module__) and not hooks.original_isinstance(value, tuple | torch.Tensor):
            raise trace_error("ST023", attribute=name, what="reads and later assigns")
        proxy = self.create_proxy("get_attr", f"{names[0]}.{name}" if names[0] else name, (), {})
        self._written[id(mod), name] = proxy
        return proxy

    def _on_isinstance(self, value: Any, classes: Any) -> bool:
        if not issubclass(type(value), Proxy) or hooks.original_isinstance(classes, types.GenericAlias):
            return False
        with hooks.tracing_as(None):
            kind = self._kind_there(value)
            answer = class_matches(kind, classes)
            self.refuse_optional(value, classes, answer)
        if (not answer and issubclass(kind, torch.Tensor) and names_tensor_type(classes)) or (
            kind is float
            and rests_on_dtype(value.node)
            and class_matches(float, classes) != class_matches(int, classes)
        ):
            asked = self.create_proxy("call_function", hooks.original_isinstance, (value, classes), {})
            return bool(asked)  # of its dtype, which only a call tells
        self._assume_class(value, kind)
        return answer

    def _on_callable(self, value: Any) -> bool:
        """What `callable` says of a traced value."""
        if issubclass(type(value), Proxy):
            self._assume_class(value, self._kind_there(value))
        return False

    def _assume_length(self, value: Proxy, count: int) -> None:
        super()._assume_length(value, count)
        if value.node.op == "placeholder" and value.node not in self.examples:
            self.report.add("assumption", f"`{value.node.target}` has {count} items", here(3))

    def _assume_class(self, value: Proxy, kind: type) -> None:
        if value.node.op == "placeholder" and value.node.type is None and value.node not in self.examples:
            self.report.add("assumption", f"`{value.node.target}` is a {kind.__name__}", here(2))

    def _on_fake_isinstance(self, value: Any, classes: Any) -> bool:
        """What `isinstance` says of a fake tensor: the truth, where it stands for nothing else."""
        return True

    def _on_fake_property(self, tensor: Any, name: str, read: Callable[[Any], Any]) -> Any:
        """A property of a fake tensor, which no traced value is without examples."""
        return read(tensor)

    def class_of(self, value: Proxy) -> type:
        """Return the class that `type(value)` would give for the value itself."""
        kind = self._kind(value)
        self._assume_class(value, kind)
        return kind

    def type_of(self, value: Any) -> type:
        """Answer `type(value)`.

        Raises:
            DataDependentError: ST013, a number that was read from a tensor whose dtype is not known.
        """
        kind = self.class_of(value)
        if kind is float and hooks.original_isinstance(value, Proxy) and rests_on_dtype(value.node):
            self.refusal = data_dependent(value, "type", "ST013")
            raise self.refusal
        return kind

    def _kind(self, value: Proxy) -> type:
        self.refuse_optional(value)
        return self._kind_there(value)

    def lacks_attribute(self, value: Proxy, name: str) -> bool:
        """Tell whether the value is a tensor, as far as is known, and tensors have no such attribute."""
        kind = self.class_of(value)
        if kind is torch.Tensor:
            return name not in _TENSOR_NAMES
        return kind in _NUMBERS and not hasattr(kind, name)

    def _settled(self, value: Any) -> Any:
        """Return a traced number that was pinned as a plain one."""
        return value

    def _holds_only_numbers(self, value: Any) -> bool:
        """Tell whether the traced values in containers are numbers and sizes."""
        found: list[Proxy] = []
        collect_proxies(value, found)
        return all(self._kind(proxy) in _NUMBERS for proxy in found)

    def to_number(self, obj: Proxy, what: str) -> Any:
        """Answer `int`, `float` and the like, recording the conversion where the call can be seen."""
        if what in SHIMS and what != "range":
            frame = user_frame(2)
            need = None if frame is None else Need.of(frame.f_globals, what)
            if need is not None and need not in self._needs:
                raise Restart(need)
        return super().to_number(obj, what)

    def to_hash(self, obj: Proxy) -> int:
        """Answer `hash(value)`: that of the object for tensors, else that of the value, where it is known."""
        if self._is_opaque(obj):
            node, frame = obj.node, user_frame(2)
            unknown = node.op == "placeholder" and node.type is None and node not in self.examples
            if unknown and frame is not None and looks_up(frame):
                raise data_dependent(obj, "hash", "ST013")  # a number or a dtype would be found by its value
            return object.__hash__(obj)
        try:
            return hash(self.to_identity(obj, "hash"))
        except TraceError:
            self.lift_asking()
            raise

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Iterate over a traced value; an autograd function tells by its code how many results it gives."""
        forward = getattr(getattr(obj.node.target, "__self__", None), "forward", None)
        if (
            forward is not None
            and hooks.original_isinstance(forward, types.FunctionType)
            and obj.node.op == "call_function"
        ):
            count = returned_length(forward.__code__)
            if count is not None:
                return iter([obj[index] for index in range(count)])  # type: ignore[index]
        return super().iter(obj)

    def _on_question(self, asked: str, values: list[Any]) -> None:
        answer_question(self, asked, values)

    def _is_opaque(self, obj: Proxy) -> bool:
        """Tell whether only the object counts, as with tensors, whose content is never looked at."""
        kind = self._kind(obj)
        return kind is object or issubclass(kind, torch.Tensor | list | dict)

    def to_bool(self, obj: Proxy) -> bool:
        """Answer `bool(value)`; where the flag of a module decides, both ways are recorded if there is a way."""
        if self.keeps_control_flow and asks_for_flag(obj.node):
            self.lift_asking()
        return super().to_bool(obj)

    def keys(self, obj: Proxy) -> Any:
        """Return the keys of a traced dict where an example tells them."""
        try:
            value, assumed = self._known.value(obj.node)
        except Unknown:
            return super().keys(obj)
        if not hooks.original_isinstance(value, dict):
            return super().keys(obj)
        keys = sorted(value)
        if assumed and obj.node not in self._guarded:
            self._guarded.add(obj.node)
            add_guard(self, self._call_node(sorted, (obj.node,)), keys)
        return keys

    def _on_enter(self, manager: Any, args: tuple[Any, ...] = ()) -> None:
        kwargs: dict[str, Any] = {}
        if hooks.original_isinstance(manager, torch.autocast):
            kind: Any = torch.autocast
            args = (manager.device,)
            kwargs = {
                "dtype": manager.fast_dtype,
                "enabled": manager._enabled,
                "cache_enabled": manager._cache_enabled,
            }
        else:
            kind = type(manager)
            if kind is torch.inference_mode:
                args = (manager.mode,)
        proxy = self.create_proxy(
            "call_function", program.enter_mode, (kind, *args), kwargs, name=kind.__name__
        )
        decides = kind is not torch.autocast
        self._contexts.setdefault(id(manager), []).append((manager, proxy, len(self._modes)))
        if decides:
            self._modes.append(self._find_proxy(args, kwargs) is None)

    def _on_enter_context(
        self, manager: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Record that a context is entered that a function of torch makes."""
        given = (function, *args)
        proxy = self.create_proxy("call_function", program.enter_mode, given, kwargs, name=function.__name__)
        self._contexts.setdefault(id(manager), []).append((manager, proxy, None))

    def _on_exit(self, manager: Any) -> None:
        entered = self._contexts.get(id(manager))
        if entered:  # a manager may be entered again before it is left
            _, proxy, depth = entered.pop()
            self.call_function(program.exit_mode, (proxy,), {})
            if depth is not None:
                del self._modes[depth:]  # with what was set inside without a block of its own

    def _on_mode_query(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer whether a mode is on: a constant where the program has set it, else asked at each call."""
        value = function(*args, **kwargs)
        if function.__name__ == "is_grad_enabled":
            if self._modes and self._modes[-1]:
                return value
        elif is_settled(self._contexts, function.__name__):
            return value
        proxy = self.create_proxy("call_function", function, args, kwargs)
        if not self._is_proxy(proxy):
            return proxy  # a dtype, with a guard
        self.examples[proxy.node] = value
        frame = sys._getframe(3 if is_own(sys._getframe(2)) else 2)
        return self.to_identity(proxy, "is") if is_compared_by_identity(frame) else proxy

    @staticmethod
    def _on_hidden_apply(name: str) -> None:
        raise trace_error("ST025", function=name.removesuffix("Backward"))

    def _on_apply(self, cls: Any, bound: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        has_values = self._find_proxy(args, kwargs) is not None or any(
            hooks.original_isinstance(arg, torch.Tensor) for arg in args
        )
        if cls is CheckpointFunction:
            function, preserve, *rest = args
            return checkpointed(self, preserve, function, tuple(rest))
        if not has_values:
            with hooks.tracing_as(None):
                return bound(*args, **kwargs)
        own = vars(cls)
        run_unseen(
            self,
            tuple(own[name].__func__ for name in OF_FUNCTION if type(own.get(name)) is staticmethod),
            any(hooks.original_isinstance(arg, nn.Module) for arg in args),
        )
        return self.create_proxy("call_function", bound, args, kwargs, name=cls.__name__.lower())

    # ------------------------------------------------------------------ what comes from outside

    def attribute(self, target: str) -> Any:
        """Return what a target reads from the root or from what was interned."""
        head, _, rest = target.partition(".")
        with hooks.tracing_as(None):
            if head in self.graph.interned:
                return find_module(self.graph.interned[head], rest) if rest else self.graph.interned[head]
            return find_module(self.root, target)

    def _path_of_tensor(self, tensor: torch.Tensor) -> str:
        path = self._paths.tensors.get(id(tensor))
        if path is None:
            with hooks.tracing_as(None):
                if needs := needs_of_held(self, tensor):
                    raise Restart(*needs)
                path = self.get_fresh_qualname("_tensor_constant")
            self.graph.interned[path] = tensor
            self._paths.tensors[id(tensor)] = path
            self._paths.keep(tensor)
        return path

    def _intern_module(self, mod: nn.Module) -> None:
        name = swapped_tensor(mod, self._is_proxy, plain=True)
        if name is not None:
            what = f"makes a {type(mod).__name__} whose `{name}` is new at each call"
            raise trace_error("ST026", what=what)
        with hooks.tracing_as(None):
            path = self.get_fresh_qualname("_module_constant")
            self._paths.add_tree(path, mod)
        self.graph.interned[path] = mod

    def _module_node(self, mod: nn.Module) -> Node:
        if id(mod) not in self._paths.modules:
            self._intern_module(mod)
        path = self._paths.modules[id(mod)][0]
        if path not in self._module_nodes:
            self._module_nodes[path] = self.create_node(
                "get_attr", path, (), {}, name=path.replace(".", "_") or "owner"
            )
        return self._module_nodes[path]
