"""The doors to capture: `symbolic_trace` and `capture`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import nn

from .._base.signatures import signature_of
from ..errors import ArgumentError, TraceError
from ..ir import Node
from ..ops import program
from ..runtime import Graph, GraphModule
from ..runtime.own_tensors import OwnTensors
from ..runtime.submodules import own_modules
from .fallback import POLICIES
from .options import CaptureOptions, make_tracer
from .tracer import Tracer

__all__ = ["capture", "symbolic_trace"]

_FORWARD_HOOKS = (
    "_forward_hooks", "_forward_hooks_always_called", "_forward_hooks_with_kwargs", "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
)  # fmt: skip


def symbolic_trace(
    root: nn.Module | Callable[..., Any],
    concrete_args: dict[str, Any] | None = None,
    *,
    leaves: Iterable[Any] = (),
) -> GraphModule:
    """Capture a module or function without example inputs.

    Args:
        root: A module, or a callable that takes tensors.
        concrete_args: Values, by name, that parameters are specialised to, with a guard; nested values keep their
            structure, and `PH` marks parts that stay inputs. A tensor is an example: the parameter stays an input, and
            decisions follow the example, each with a guard.
        leaves: Functions, module classes and names of packages that stay one node.

    Returns:
        A stand-in for `root`: the same parameters, and buffers and flags of its own.

    Raises:
        TraceError: The program can't be captured as it stands; the message shows the line and the ways out.
        ArgumentError: `root` or `concrete_args` is of a wrong kind.

    >>> import torch
    >>> module = symbolic_trace(lambda x: torch.relu(x) + 1)
    >>> print(module.graph.to_code())
    def forward(self, x):
        relu = torch.relu(x);  x = None
        add = relu + 1;  relu = None
        return add
    """
    return _capture(root, concrete_args, (), {}, CaptureOptions(tuple(leaves), keeps_control_flow=False))


def capture(
    root: nn.Module | Callable[..., Any],
    args: tuple[Any, ...] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    *,
    concrete_args: dict[str, Any] | None = None,
    leaves: Iterable[Any] = (),
    control_flow: str = "graph",
    dynamic: bool | Mapping[str, Mapping[int, str]] = True,
    values: str = "fake",
    on_guard_failure: str = "raise",
) -> GraphModule:
    """Capture a module or function, with example inputs where they are given.

    What the program decides on shapes, dtypes, devices and types of the examples is followed, and each decision becomes
    a guard that is checked at every call.

    Args:
        root: A module, or a callable that takes tensors.
        args: Example arguments. Tensors on the device `meta` tell shape and dtype alone.
        kwargs: Example keyword arguments.
        concrete_args: As for `symbolic_trace`.
        leaves: As for `symbolic_trace`.
        control_flow: `"graph"` records both ways of decisions that tensors and `self.training` make; `"refuse"`
            stops at them, as `symbolic_trace` does.
        dynamic: Whether sizes stay free where the program does not decide on them. False has every size of every
            example checked. A mapping from names of parameters to names for their dimensions, as in
            `{"x": {0: "batch"}}`, tells which have to stay free: a decision that would pin one is an error.
        values: What is known of the examples: `"fake"` for shapes, dtypes and devices; `"real"` for their data, too, so
            that decisions on data follow the examples, each with a guard. That runs the program on copies of the module
            and of the examples; what random draws decide is kept as a decision.
        on_guard_failure: What a call does that breaks a guard: `"raise"` raises `GuardError`; `"original"` runs the
            original program on the state of the captured module; `"recapture"` captures again with the arguments of
            the call as examples, and keeps both graphs.

    Returns:
        A stand-in for `root`; `report` lists what was decided.

    Raises:
        TraceError: The program can't be captured as it stands.
        ArgumentError: ST031, an argument is of a wrong kind.

    >>> import torch
    >>> module = capture(lambda x: x if x.dim() == 2 else x[None], (torch.ones(3),))
    >>> module(torch.ones(5)).shape
    torch.Size([1, 5])
    """
    if on_guard_failure not in POLICIES:
        raise ArgumentError("ST031", argument="on_guard_failure", expected=", ".join(map(repr, POLICIES)),
                            actual=repr(on_guard_failure))  # fmt: skip
    if values not in ("fake", "real"):
        raise ArgumentError("ST031", argument="values", expected="'fake' or 'real'", actual=repr(values))
    if control_flow not in ("graph", "refuse"):
        raise ArgumentError("ST031", argument="control_flow", expected="'graph' or 'refuse'",
                            actual=repr(control_flow))  # fmt: skip
    examples = tuple(args or ()), dict(kwargs or {})
    options = CaptureOptions(tuple(leaves), control_flow == "graph", dynamic, values == "real")
    module = _capture(root, concrete_args, *examples, options)
    policy = POLICIES[on_guard_failure]
    if policy is not None:
        module.__dict__["on_guard_failure"] = policy(root, options)
    return module


def _capture(
    root: Any,
    concrete_args: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    options: CaptureOptions,
) -> GraphModule:
    tracer = make_tracer(options, has_examples=bool(args or kwargs))
    graph = _trace(tracer, root, concrete_args, args, kwargs)
    if isinstance(root, nn.Module):
        tensors = OwnTensors(root)
        owned = own_modules(root, tensors, graph)
        # Tensors in lists and dicts of the module are part of its state, and the stand-in's own like the lists.
        graph.interned = {name: tensors.known(value) for name, value in graph.interned.items()}
        for table in _FORWARD_HOOKS:
            # They ran during the trace and are part of the graph now.
            getattr(owned, table).clear()
        module = GraphModule.from_module(owned, graph)
        # What hooks and attributes hold of the root has the very state of the stand-in.
        object.__setattr__(owned, "__dict__", module.__dict__)
    else:
        module = GraphModule(tracer.root, graph, getattr(root, "__name__", type(root).__name__))
    module.__dict__["report"] = tracer.report
    if tracer.call_shape is not None:
        tracer.call_shape.put_on(module.meta)
    return module


def _trace(
    tracer: Tracer, root: Any, concrete_args: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Graph:
    """Trace, taking a parameter with default None as left out where the program treats None differently."""
    optional = _optional(root) - set(concrete_args or ()) if not (args or kwargs) else set()
    if not optional:
        return tracer.trace(root, concrete_args, *args, **kwargs)
    given: Graph | None = None
    try:
        given = tracer.trace(root, concrete_args)
    except TraceError:
        pass
    tracer.absent = frozenset(optional)
    try:
        left_out = tracer.trace(root, concrete_args)
    except Exception as error:
        # The program needs the value: then it is what the caller has to give.
        if given is None or isinstance(error, MemoryError):
            raise
        _guard_given(given, optional)
        return given
    finally:
        del tracer.absent
    return given if given is not None and _same_program(given, left_out) else left_out


def _optional(root: Any) -> set[str]:
    function = type(root).forward if isinstance(root, nn.Module) else root
    try:
        parameters = signature_of(function).parameters
    except (TypeError, ValueError):
        return set()
    return {name for name, item in parameters.items() if item.default is None}


def _same_program(given: Graph, left_out: Graph) -> bool:
    """Tell whether two traces differ only in None standing where the input is used."""
    first = list(given.nodes)
    second = [node for node in left_out.nodes if node.target is not program.guard]
    if len(first) != len(second):
        return False
    partner: dict[Node, Any] = {}
    for one, other in zip(first, second, strict=True):
        if one.op != other.op or one.target != other.target:
            return False
        partner[one] = other
        if not _same_argument(one.args, other.args, partner) or not _same_argument(
            one.kwargs, other.kwargs, partner
        ):
            return False
    return True


def _same_argument(one: Any, other: Any, partner: dict[Node, Any]) -> bool:
    if isinstance(one, Node):
        if other is None:
            return one.op == "placeholder" and one.args == (None,)
        return partner.get(one) is other
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(
            _same_argument(a, b, partner) for a, b in zip(one, other, strict=True)
        )
    if isinstance(one, dict):
        return list(one) == list(other) and all(_same_argument(one[key], other[key], partner) for key in one)
    if isinstance(one, slice):
        pairs = ((one.start, other.start), (one.stop, other.stop), (one.step, other.step))
        return all(_same_argument(a, b, partner) for a, b in pairs)
    if isinstance(one, torch.Tensor):
        return one is other
    return one is other or bool(one == other)


def _guard_given(graph: Graph, names: set[str]) -> None:
    """Check at each call that parameters are given which the program can't do without."""
    last = None
    for node in graph.nodes:
        if node.op != "placeholder":
            break
        last = node
    with graph.inserting_after(last):
        for node in [node for node in graph.nodes if node.op == "placeholder" and node.target in names]:
            check = graph.call_function(program.is_given, (node,))
            graph.call_function(program.guard, (check, True, f"{node.target} is not None"))
