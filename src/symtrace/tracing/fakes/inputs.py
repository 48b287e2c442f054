"""From example inputs to placeholders and traced values."""

from __future__ import annotations

import dataclasses
import inspect
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from ...errors import ArgumentError
from ...ir import Node
from .. import hooks
from ..inputs import Argument, arguments_of
from ..snapshot import Snapshot
from .operations import Part

if TYPE_CHECKING:
    from ...runtime import Graph
    from .evaluate import Evaluator

__all__ = ["ExampleInputs"]

_MISSING = hooks.MISSING


class ExampleInputs:
    """Makes the inputs of a trace from examples."""

    dynamic: Any = True
    """As the argument of `capture`."""

    follows_data: bool = False
    """Whether what the data of the examples decides is followed, each decision with a guard."""

    _input_containers: Snapshot

    if TYPE_CHECKING:
        root: Any
        graph: Graph
        _evaluator: Evaluator
        _inputs: list[Any]
        _given: dict[Node, Any]
        real_examples: dict[Node, Any]
        given: dict[int, Any]
        _example_values: dict[str, Any]
        _placeholder: Callable[..., Node]
        _specialise: Callable[..., None]
        _concrete: Callable[..., dict[str, Any]]
        _call_node: Callable[..., Node]
        _guard: Callable[..., None]
        _culprit: Any
        _by_keyword: frozenset[str]
        node_of: Callable[[Any], Node]
        track: Callable[..., Any]
        note_example: Callable[..., None]
        guard_container: Callable[..., None]

    def create_args_for_root(
        self, root_fn: Callable[..., Any], is_module: bool, concrete_args: Any = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """Make a placeholder for each parameter of the root, and a traced value for each example.

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
        checks: list[Callable[[], None]] = []
        values: dict[str, Any] = {}
        self._free = {} if hooks.original_isinstance(self.dynamic, bool) else dict(self.dynamic)
        for argument in arguments:
            default = argument.default
            args = () if default is inspect.Parameter.empty else (default,)
            node = self._placeholder(argument.target, args, argument.annotation)
            node.kind = argument.node_kind
            example = concrete.get(argument.name, self._example_values.get(argument.name, _MISSING))
            if example is _MISSING and type(default) in (int, float) and not hasattr(root_fn, "has_hooks"):
                example = default  # the input stays one
            if example is _MISSING:
                self._check_value(node, _left_out(argument), checks)
            elif argument.name in concrete and not hooks.original_isinstance(example, torch.Tensor):
                self._check_value(node, example, checks)
                values[argument.name] = example
            else:
                values[argument.name] = self._given[node] = self._example(example, node, checks)
                if self.follows_data or argument.name in concrete:
                    self.real_examples[node] = example
        if self._free:
            known = "the name of a parameter that is a tensor"
            raise ArgumentError(
                "ST031", argument="dynamic", expected=known, actual=repr(next(iter(self._free)))
            )
        for check in checks:
            check()
        # The program works on copies: what it did to one of them, the caller would miss.
        self._input_containers = Snapshot(torch.nn.Module(), None)
        for name, value in values.items():
            self._input_containers.watch(name, value)
        if self._culprit is not None:
            what = self._culprit.what
            self._culprit.ask(lambda: self._input_containers.has_changed(what))
        call = _caller(root_fn, arguments, len(leading), list(values), self._by_keyword)
        return call, [*leading, *values.values()]

    def _check_value(self, node: Node, expected: Any, checks: list[Callable[[], None]]) -> None:
        checks.append(lambda: self._specialise(node, expected))

    def _example(self, example: Any, source: Any, checks: list[Callable[[], None]]) -> Any:
        """Return the traced value of an example, and add what has to be checked of its structure to `checks`."""
        cls = type(example)
        is_packed = not isinstance(source, Part) and str(source.target).startswith("*")
        if _is_container(cls) and not is_packed:
            checks.append(lambda: self.guard_container(source, example))
        if hooks.original_isinstance(example, torch.Tensor):
            fake = self.track(self._evaluator.fresh(example, self._device), None, source)
            self._inputs.append(fake)
            self.note_example(fake, example)
            free = self._free.pop(source.target, None) if hooks.original_isinstance(source, Node) else None
            if free is not None:
                self._evaluator.keep_other(fake, self._evaluator.larger(fake, free))
            return fake
        if cls in (int, float):
            return self.track(example, example, source)
        if dataclasses.is_dataclass(cls) or hasattr(cls, "_fields"):
            names = getattr(cls, "_fields", None) or [field.name for field in dataclasses.fields(cls)]
            parts = {
                name: self._example(getattr(example, name), Part(source, getattr, name), checks)
                for name in names
            }
            return self._note_given(cls(**parts), source)
        if issubclass(cls, dict):
            keys = list(example)
            checks.append(lambda: self._guard(self._call_node(list, (self.node_of(source),)), keys))
            result = cls()
            for key, item in example.items():
                result[key] = self._example(item, Part(source, operator.getitem, key), checks)
            return self._note_given(result, source)
        if cls in (tuple, list):
            count = len(example)
            checks.append(
                lambda: self._guard(self._call_node(hooks.original_len, (self.node_of(source),)), count)
            )
            items = [
                self._example(item, Part(source, operator.getitem, index), checks)
                for index, item in enumerate(example)
            ]
            return self._note_given(cls(items), source)
        checks.append(lambda: self._guard(self.node_of(source), example))
        return example

    def _note_given(self, container: Any, source: Any) -> Any:
        if not issubclass(type(container), tuple):
            self.given[id(container)] = container, source
        return container

    def given_node(self, identity: int) -> Node:
        """Return the node of a container that is an input."""
        return self.node_of(self.given[identity][1])

    @property
    def _device(self) -> torch.device | None:
        return None


def _caller(
    function: Callable[..., Any],
    arguments: list[Argument],
    leading: int,
    names: list[str],
    by_keyword: frozenset[str],
) -> Callable[..., Any]:
    """Return what calls a function with values for some of its parameters, as a user who gives just these would."""

    def call(*given: Any) -> Any:
        by_name = dict(zip(names, given[leading:], strict=True))
        args: list[Any] = list(given[:leading])
        kwargs: dict[str, Any] = {}
        by_position = True
        for argument in arguments:
            kind = argument.kind
            if argument.name not in by_name:
                by_position = by_position and kind is inspect.Parameter.VAR_POSITIONAL
                continue
            value = by_name[argument.name]
            if kind is inspect.Parameter.VAR_POSITIONAL:
                args.extend(value)
            elif kind is inspect.Parameter.VAR_KEYWORD:
                kwargs.update(value)
            elif kind is inspect.Parameter.KEYWORD_ONLY or not by_position or argument.name in by_keyword:
                kwargs[argument.name] = value  # as hooks see it
                by_position = by_position and kind is inspect.Parameter.KEYWORD_ONLY
            else:
                args.append(value)
        return function(*args, **kwargs)

    return call


def _is_container(cls: type) -> bool:
    return dataclasses.is_dataclass(cls) or issubclass(cls, dict | list | tuple)


def _left_out(argument: Any) -> Any:
    if argument.kind is inspect.Parameter.VAR_POSITIONAL:
        return ()
    if argument.kind is inspect.Parameter.VAR_KEYWORD:
        return {}
    return argument.default
