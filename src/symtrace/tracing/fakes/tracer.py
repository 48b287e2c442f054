"""`ExampleTracer`: runs a program on fake tensors made from example inputs, and records what it does."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)
from torch import nn

from ...diagnostics import Location
from ...errors import DataDependentError, TraceError
from ...ir import Node
from ...values import FakeTensor
from .. import hooks
from ..arguments import ATOMS, holds
from ..blame import data_dependent, names_traced, trace_error
from ..frames import last_line, last_user_frame, untraced
from ..guard_placement import RESIZING, place_guards
from ..guards import add_guard
from ..identity import comes_from_region, may_be_one
from ..proxy import COMPUTED, Proxy
from ..state import Need, Restart
from .answers import ExampleAnswers
from .asked import InputQuestions
from .content import Content
from .evaluate import Contradiction, Evaluator, Undecided
from .facts import ExampleFacts
from .higher_order import HIGHER_ORDER, evaluate_function
from .inputs import ExampleInputs
from .joints import ExampleJoints, another
from .leaves import leaving_state
from .lists import TracedList
from .mode import ExampleMode, holds_values
from .numbers import NUMBERS, TracedBool, _Traced, wrap_number
from .operations import COUNTED, PURE_NUMBERS, SILENT, SQUEEZING, Part, unchecked
from .optionals import evaluated
from .ranks import ExampleRanks
from .results import Results, known_by, module_known_by

__all__ = ["ExampleTracer"]


_PLAIN_BOOLS = Need(bool, "plain", 0)
"""That a C function was given a traced bool, which it does not take: bools have to be plain, with a guard each."""


_KNOWN_OWNERS = frozenset({"torch", "torchvision", "_operator", "builtins", "math", "symtrace"})
"""Packages whose functions give results of a rank that follows from ranks."""


class ExampleTracer(InputQuestions, ExampleInputs, ExampleFacts, ExampleRanks, ExampleJoints, ExampleAnswers):
    """Traces with example inputs: the traced values are fake tensors, and numbers that know their value.

    What the program decides on sizes, types, dtypes and devices follows the examples; each decision becomes a guard.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._results = Results()  # which a trace that starts again finds as they were
        super().__init__(*args, **kwargs)

    def _begin(self) -> None:
        super()._begin()
        self._evaluator = Evaluator(self._results)
        self._sources: dict[int, Any] = {}
        self._alive: list[Any] = []
        self._parts: dict[Any, Node] = {}
        self._reads: dict[Any, Node] = {}
        self._pinned: set[Node] = set()
        self._checked: set[Any] = set()
        self._content = Content(self)
        self._given: dict[Node, Any] = {}
        self._failed: tuple[Any, ...] | None = None
        self.values: dict[Node, Any] = {}
        self.facts: dict[Node, Any] = {}
        self.several: dict[int, Any] = {}
        self.ranks: dict[Node, int] = {}
        self.origins: dict[int, Any] = {}
        self._inputs: list[FakeTensor] = []
        self._originals = {}
        self._requires_grad: dict[str, bool | None] = {}
        self._read_flags: list[Any] = []
        self._ranks_pinned = self._sizes_pinned = False

    def _run(self, call: Callable[..., Any], args: list[Any]) -> Any:
        try:
            return super()._run(call, args)
        except TypeError as error:
            if TracedBool.__name__ in str(error) and _PLAIN_BOOLS not in self._needs:
                raise Restart(_PLAIN_BOOLS) from None
            self._explain(error)
            raise
        except Exception as error:
            self._explain(error)
            raise

    def _explain(self, error: Exception) -> None:
        """Raise, for what fake tensors alone do not take, what names the user's line."""
        if hooks.original_isinstance(error, TraceError) or not names_traced(error):
            return
        frame = last_user_frame(error)
        location = None if frame is None else Location(frame.f_code.co_filename, last_line(error))
        first = str(error).partition("\n")[0]
        raise DataDependentError(
            "ST024", location=location, reason=f"on fake tensors it fails: {first}"
        ) from error

    def _mode(self) -> ExampleMode:
        return ExampleMode(self)

    # ------------------------------------------------------------------ values and nodes

    def track(self, value: Any, other: Any, source: Any, is_open: bool = False) -> Any:
        """Return a value of the run as the program gets it, and remember what computes it.

        Args:
            value: For the example.
            other: For other data.
            source: The node, or part of one, that computes it.
            is_open: Whether data has a say in it.
        """
        cls = type(value)
        if cls is FakeTensor:
            if id(value) in self._sources or self._evaluator.real(value) is not None:
                value = self._alias(value)
            self._sources[id(value)] = source
            self._alive.append(value)
            if isinstance(source, Node):
                self.values[source] = value
            return value
        if cls is bool and _PLAIN_BOOLS in self._needs and value == other and not is_open:
            self._guard(self.node_of(source), value)
            return value
        if cls in NUMBERS:
            return wrap_number(self, source, value, other if type(other) is cls else value, is_open)
        if value is None or issubclass(cls, _Traced):
            return value
        is_of_any_length = (
            is_open and cls in (tuple, list) and cls is type(other) and len(value) != len(other)
        )
        if is_of_any_length and self._follows(source):
            self._guard_length(source, value)
        elif is_of_any_length and self.keeps_control_flow:
            return TracedList(self.node_of(source), self, value, other, cls)
        if issubclass(cls, tuple | list):
            others = (
                other if issubclass(type(other), tuple | list) and len(other) == len(value) else list(value)
            )
            items = [
                self.track(item, others[index], Part(source, operator.getitem, index), is_open)
                for index, item in enumerate(value)
            ]
            if cls in (tuple, list, hooks.real_size):
                return cls(items)
            if hasattr(cls, "_fields"):
                return cls(*items)
            return cls(items)
        if issubclass(cls, dict):
            for key in list(value):
                other_item = other.get(key) if isinstance(other, dict) else value[key]
                value[key] = self.track(value[key], other_item, Part(source, operator.getitem, key), is_open)
            return value
        if issubclass(cls, torch.Tensor):
            fake = self._evaluator.fresh(value)
            if type(fake) is not FakeTensor:
                reason = "a transform that was made before the capture hands over tensors of its own"
                self.refusal = trace_error("ST024", reason=reason)
                raise self.refusal
            return self.track(fake, other, source)
        node = self.node_of(source)
        if cls in ATOMS:
            self._guard(node, value)
            return value
        return Proxy(node, self)

    def _alias(self, value: FakeTensor) -> Any:
        """Return another object for a tensor that an operation has given back: each result has a node of its own."""
        with hooks.unwatched(), untraced(), self._evaluator.mode:
            try:
                alias = torch.ops.aten.alias.default(value)
            except (
                RuntimeError
            ):  # a view made without gradients, whose base was written to: as it is, no more is asked
                with torch.no_grad():
                    alias = torch.ops.aten.alias.default(value)
        other = self._evaluator.other(value)
        if other is not value:
            self._evaluator.keep_other(alias, other)
        return alias

    def node_of(self, source: Any) -> Node:
        """Return the node of a source, recording the reading of a part."""
        if isinstance(source, Node):
            return source
        whole = self.node_of(source.whole)
        key = (id(self.graph), whole, source.read, source.key)
        node = self._parts.get(key)
        if node is None:
            node = self._parts[key] = self.create_node("call_function", source.read, (whole, source.key), {})
        return node

    def node_of_number(self, number: Any) -> Node:
        """Return the node of a traced number."""
        return self.node_of(number._source)

    def _nodes_in(self, value: Any) -> list[Node]:
        """Return the nodes of the traced values in containers."""
        found = super()._nodes_in(value)
        stack, seen = [value], set()
        while stack:
            item = stack.pop()
            source = item._source if isinstance(item, _Traced) else self._sources.get(id(item))
            while isinstance(source, Part):
                source = source.whole
            if isinstance(source, Node):
                found.append(source)
            elif isinstance(item, list | tuple | set | dict | slice) and id(item) not in seen:
                seen.add(id(item))
                parts = (item.start, item.stop, item.step) if isinstance(item, slice) else item
                stack.extend(item.values() if isinstance(item, dict) else parts)
        return found

    def as_proxy(self, value: Any) -> Proxy:
        """Return a proxy for the node of a traced value."""
        return Proxy(self.create_arg(value), self)

    def create_arg(self, a: Any) -> Any:
        """Return a value as an argument of a node."""
        cls = type(a)
        if cls is FakeTensor:
            source = self._sources.get(id(a))
            if source is not None:
                return self.node_of(source)
            real = self._evaluator.real(a)
            if real is not None:
                return self._read_tensor(real)
            return self._unseen(a)
        if issubclass(cls, _Traced):
            return self.node_of_number(a)
        if cls is hooks.real_size and holds_values(a):
            return self._size_node(a)
        if issubclass(cls, torch.Tensor):
            return self._read_tensor(a)
        return super().create_arg(a)

    def holds_values(self, value: Any) -> bool:
        """Tell whether there are traced values in containers, and in the attributes of objects in them."""
        return holds(value, self._is_proxy)

    def _size_node(self, size: Any) -> Node:
        """Return the node of a `torch.Size`: the one that was read from a tensor, or one that is put together."""
        sources = [item._source if isinstance(item, _Traced) else None for item in size]
        first = sources[0]
        if isinstance(first, Part) and isinstance(first.whole, Node) and first.whole.target is getattr:
            whole = [Part(first.whole, operator.getitem, index) for index in range(len(sources))]
            if sources == whole and self.ranks.get(first.whole) == len(sources):
                return first.whole
        return self._call_node(hooks.real_size, ([self.create_arg(item) for item in size],))

    def _read_tensor(self, tensor: torch.Tensor) -> Node:
        if id(tensor) in self._replaced:
            return self._read_before(tensor)
        path = self._path_of_tensor(tensor)
        key = (id(self.graph), path)
        node = self._reads.get(key)
        if node is None:
            node = self._reads[key] = self.create_node("get_attr", path, (), {})
        return node

    def _unseen(self, tensor: FakeTensor) -> Node:
        self.refusal = trace_error(
            "ST024", reason="a tensor was made by a call that torch hands over to nobody"
        )
        raise self.refusal

    # ------------------------------------------------------------------ recording

    def create_proxy(
        self,
        kind: str,
        target: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Any:
        """Record an operation, and return what it gives for the example."""
        args_ = self.create_arg(args)
        kwargs_ = self.create_arg(kwargs) if kwargs else {}
        node = self.create_node(kind, target, args_, kwargs_, name, type_expr)
        if kind == "call_function" and target in SILENT:
            return Proxy(node, self)
        is_optional = False
        try:
            if kind == "call_function" and target in HIGHER_ORDER:
                value, other, is_open = evaluate_function(self, target, args)
            elif self.optionals:
                value, other, is_open, is_optional = evaluated(self, node, args, kwargs)
            else:
                value, other, is_open = self._evaluate(kind, target, args, kwargs)
        except Undecided:
            return Proxy(node, self)
        except Contradiction:
            self.graph.erase_node(node)
            raise self._refuse_made_up((args, kwargs), target) from None
        except BaseException as error:
            if not node.users:
                self.graph.erase_node(node)  # the program may go on without it
            self._failed = error, kind, target, args, kwargs
            raise
        if target in RESIZING or (target is setattr and args[1] in RESIZING):
            self._parts.clear()  # what was read of a shape is no longer so
        if not is_open and (type(value) in NUMBERS or type(value) is hooks.real_size):
            self.facts[node] = value
        if is_open:
            value = self._as_given(node, value)
        result = self.track(value, other, node, is_open)
        if self._evaluator.has_ranks and not self.check_ranks((args, kwargs), result):
            return Proxy(node, self)
        if self.several:
            self.pass_on_several((args, kwargs), result)
        if is_optional:
            self.note_optional(result)
        if kind == "get_attr" or target in SQUEEZING or self._is_opaque_call(kind, target):
            # Their ranks do not follow from those of the inputs.
            for leaf in pytree.tree_leaves(result):
                if type(leaf) is FakeTensor:
                    self._guard_rank(leaf)
        if type(result) in (tuple, list) and (kind == "get_attr" or target in COUNTED):
            self._guard_length(node, value)
        if kind == "get_attr" and type(result) is list:
            self._input_containers.watch(f"self.{target}", result)
        return result

    def has_failed_with(self, error: BaseException) -> bool:
        """Tell whether an operation of the program has raised an exception at the capture."""
        return self._failed is not None and self._failed[0] is error

    def record_failed(self, error: BaseException) -> None:
        """Record an operation that has failed on fake tensors: at the run it fails with an error of its own."""
        if self._failed is not None and self.has_failed_with(error):
            _, kind, target, args, kwargs = self._failed
            self.create_node(kind, target, self.create_arg(args), self.create_arg(kwargs) if kwargs else {})

    def _copied(self, path: str, value: Any) -> Any:
        """Return a list or tuple that the program later assigns anew, with fake tensors for its tensors."""
        copied = type(value)(
            [self._evaluator.fresh(item) if isinstance(item, torch.Tensor) else item for item in value]
        )
        if not all(
            type(item) is FakeTensor or type(item) in ATOMS or type(item) in NUMBERS for item in copied
        ):
            raise trace_error("ST023", attribute=path, what="reads and later assigns")
        return copied

    def _is_opaque_call(self, kind: str, target: Any) -> bool:
        """Tell whether what is called is a leaf of the user's own, which may do anything with sizes."""
        if kind == "call_module":
            return not type(self.attribute(target)).__module__.startswith("torch.")
        owner = getattr(target, "__module__", None) or "torch"
        return kind == "call_function" and owner.partition(".")[0] not in _KNOWN_OWNERS

    def _refuse_made_up(self, given: Any, target: Any) -> Exception:
        """Return the error for an operation that needs the very number or size that the data decides."""
        made_up = [
            leaf
            for leaf in pytree.tree_leaves(given)
            if self._is_proxy(leaf) and (type(leaf) is TracedList or self._evaluator.other(leaf) is not leaf)
        ]
        asked_for = getattr(target, "__name__", str(target))
        self.refusal = data_dependent(self.as_proxy(made_up[0]), asked_for, "ST013")
        return self.refusal

    def _guard_length(self, node: Node, value: Any) -> None:
        count = self.create_node("call_function", hooks.original_len, (node,), {})
        self._guard(count, len(value))

    def _evaluate(self, kind: str, target: Any, args: Any, kwargs: Any) -> tuple[Any, Any, bool]:
        if kind == "get_attr":
            value = self.attribute(target)
            if isinstance(value, torch.Tensor):
                return self._evaluator.fresh(value), None, False
            if type(value) in (list, tuple):
                return self._copied(target, value), None, False
            if type(value) not in NUMBERS:
                # Its parts would be taken for what they are now.
                raise trace_error("ST023", attribute=target, what="reads and later assigns")
            return self._flag(value, target.rpartition(".")[2] == "training")
        if kind == "call_method":

            def function(first: Any, *rest: Any, **named: Any) -> Any:
                return getattr(first, target)(*rest, **named)

        else:
            function = target
        if target is hooks.original_grad_mode:
            return self._flag(function(*args, **kwargs), True)
        if kind == "call_module":
            module = self.attribute(target)
            function = leaving_state(self.root, module, self._evaluator.module(module))
            known, state = module_known_by(module)
        else:
            known, state = known_by(kind, target, args[0] if args else None), ()
        try:
            value, other, is_open = self._evaluator.call(function, args, kwargs, None, known, state)
        except (Contradiction, Undecided):
            simpler = unchecked(target)
            if simpler is None:
                raise
            value, other, is_open = self._evaluator.call(simpler[0], args, kwargs, simpler[1])
        reads = (kind == "call_method" and target == "item") or target in (int, float, bool)
        if reads and not is_open and type(args[0]) is FakeTensor and self.keeps_control_flow:
            # A fake tensor may know its number, but the next call has another.
            is_open = not self._has_content(args[0])
            other = another(value) if is_open else other
        return value, other, is_open

    def _flag(self, value: Any, is_flag: bool) -> tuple[Any, Any, bool]:
        """Return what `_evaluate` gives for a value that may be a flag, whose both ways are recorded."""
        is_flag = is_flag and self.keeps_control_flow and _PLAIN_BOOLS not in self._needs
        return value, not value if is_flag else value, is_flag

    # ------------------------------------------------------------------ decisions

    def _guard(self, node: Node, value: Any) -> None:
        if self._is_pinned(node):
            return
        self._pinned.add(node)
        same = (
            (node.target, node.args) if node.op == "call_function" and node.target in PURE_NUMBERS else node
        )
        if same not in self._checked:
            self._checked.add(same)
            add_guard(self, node, value)

    def _forget_nodes(self, erased: set[Node]) -> None:
        """Forget nodes that were taken out of the graph: what they read is read again."""
        super()._forget_nodes(erased)
        for table in (self._parts, self._reads):
            for key, node in list(table.items()):
                if node in erased:
                    del table[key]
        self._pinned -= erased

    def _tables(self) -> dict[str, Any]:
        flags = {name: getattr(self, name) for name in ("_ranks_pinned", "_sizes_pinned")}
        return {**super()._tables(), **flags, "_pinned": set(self._pinned), "_checked": set(self._checked)}

    def _is_pinned(self, node: Node) -> bool:
        """Tell whether a value is checked, or is reckoned from such as are."""
        reckoned: set[Node] = set()
        stack = [node]
        while stack:
            current = stack.pop()
            if current in self._pinned or current in reckoned:
                continue
            used = current.all_input_nodes
            if current.op != "call_function" or current.target not in PURE_NUMBERS or not used:
                return False
            reckoned.add(current)
            stack += used
        self._pinned |= reckoned
        return True

    def input_value(self, placeholder: Node) -> Any:
        """Return the traced value of an input, with plain numbers for traced ones."""
        value = self._given[placeholder]
        return pytree.tree_map(lambda leaf: leaf._value if isinstance(leaf, _Traced) else leaf, value)

    def _output(self, result: Any, returns: Any) -> None:
        # Each call gets others, so that to put even a constant into one changes it at each call.
        change = self._input_containers.restore(self._nodes_in, lambda nodes: False)
        if change is not None:
            raise TraceError("ST022", attribute=change.what)
        super()._output(result, returns)
        with hooks.tracing_as(None):
            place_guards(self.graph, self.attribute, self._is_number)
        self._erase_unused()

    def _is_number(self, node: Node) -> bool:
        """Tell whether an input, or what is read from the module, is a number or such."""
        value = self._given.get(node) if node.op == "placeholder" else self.attribute(node.target)
        return isinstance(value, _Traced) or type(value) in NUMBERS

    def _erase_unused(self) -> None:
        """Erase reads of sizes, parts and flags that nothing uses; what computes a tensor stays, since it may raise."""
        parts = set(self._parts.values())
        for node in reversed(list(self.graph.nodes)):
            if node.users or node.op != "call_function":
                continue
            reads = node.target is getattr and node.args[1] not in COMPUTED
            if (
                reads
                or node.target is hooks.original_grad_mode
                or (node.target is operator.getitem and node in parts)
            ):
                self.graph.erase_node(node)

    # ------------------------------------------------------------------ what the hooks ask

    @staticmethod
    def _is_proxy(value: Any) -> bool:
        cls = type(value)
        return cls is FakeTensor or issubclass(cls, _Traced | Proxy)

    def _find_proxy(self, args: Any, kwargs: Any) -> Any:
        found = holds_values(args) or (bool(kwargs) and holds_values(kwargs))
        return _Found(self) if found else super()._find_proxy(args, kwargs)

    def _on_question(self, asked: str, values: list[Any]) -> None:
        sources = [self._sources[id(value)] for value in values if id(value) in self._sources]
        if asked == "is" and len(sources) == 2 and values[0] is not values[1]:
            parts = [source for source in sources if isinstance(source, Part)]
            of_inputs = all(id(value) in self._originals for value in values)
            if of_inputs or len(parts) < 2 or parts[0].whole != parts[1].whole:
                one, other = map(self.create_arg, values)
                inner = any(comes_from_region(self, node) for node in (one, other))
                if one is not other and (inner or (not of_inputs and may_be_one(one, other))):
                    self.refusal = data_dependent(self.as_proxy(values[0]), "is", "ST013")
                    raise self.refusal
                self.check_distinct(*values)
            return
        flag = next((value for value in values if self._is_proxy(value) and self.may_be_bool(value)), None)
        if asked == "is" and flag is not None:
            self.refusal = data_dependent(self.as_proxy(flag), "is", "ST013")
            raise self.refusal
        super()._on_question(asked, values)

    def _on_fake_property(self, tensor: Any, name: str, read: Callable[[Any], Any]) -> Any:
        return self.pin_property(tensor, name) if id(tensor) in self._sources else read(tensor)

    def class_of(self, value: Any) -> type:
        """Return the class that `type(value)` would give for the value itself."""
        self.refuse_several(value)
        if isinstance(value, _Traced):
            return type(value._value)
        if type(value) is TracedList:
            return value.kind
        return torch.Tensor if isinstance(value, torch.Tensor) else super().class_of(value)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Return what the program gets when it reads a parameter or buffer: the thing itself."""
        return attr_val

    def _record_write(self, mod: nn.Module, name: str, value: Any) -> None:
        super()._record_write(mod, name, value)
        for path in self._paths.modules[id(mod)]:
            self._reads.pop((id(self.graph), f"{path}.{name}" if path else name), None)


class _Found:
    """Tells a hook which tracer records a call."""

    def __init__(self, tracer: ExampleTracer) -> None:
        self.tracer = tracer
