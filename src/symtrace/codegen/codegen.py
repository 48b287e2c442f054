"""How the generated function takes its arguments and gives its result; subclass `CodeGen` to change it."""

from __future__ import annotations

import re
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch.utils._pytree as pytree  # the public home of pytrees, underscore and all (torch 2.13, 2.14)

from ..errors import ArgumentError
from ..ir import immutable_dict, immutable_list
from .globals import Globals
from .literals import value_text

__all__ = ["CodeGen", "PyTreeCodeGen", "PyTreeInfo", "parameter_names"]

_NAME = re.compile(r"\*{0,2}\s*([^\W\d]\w*)")


def parameter_names(free_vars: list[str]) -> list[str]:
    """Return the bare names in a list of parameters such as `["x", "y : int = 3", "*args"]`."""
    found = (_NAME.match(text) for text in free_vars)
    return [match[1] for match in found if match]


class CodeGen:
    """Takes arguments and gives results as a plain function does.

    A subclass may pack them in another way; then `process_inputs` and `process_outputs` do to real values what the
    generated text does, so that the Interpreter agrees.
    """

    def __init__(self) -> None:
        self._body_transformer: Any = None
        self._names: Globals | None = None

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """Return the `def` line.

        Args:
            free_vars: Parameters with annotations and defaults, as they stand between the parentheses.
            maybe_return_annotation: Text such as ` -> int`, or nothing.
        """
        root = root_name(free_vars)
        # Positional-only, so that a parameter may have any name.
        return f"def forward({', '.join([root, *free_vars])}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any) -> str:
        """Return the `return` statement for a value."""
        return f"return {self._text(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """Return the values of the placeholders for the arguments of a call."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """Return what a call gives for the value of the output node."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Return pairs of a name and an object that the generated text uses."""
        return []

    def _text(self, value: Any) -> str:
        if self._names is None:
            return repr(value)
        return value_text(value, self._names)

    def _gen_python_code(
        self, nodes: Any, root_module: str, namespace: Any = None, *, verbose: bool = False
    ) -> Any:
        """Return the `PythonCode` of a graph or of its list of nodes."""
        from .source import generate

        return generate(getattr(nodes, "_graph", nodes), self, root_module, verbose=verbose)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_names": None, "_body_transformer": None}


def root_name(free_vars: list[str]) -> str:
    """Return the name of the module itself in the generated function: `self` unless a parameter is called so."""
    taken = parameter_names(free_vars)
    name = "self"
    while name in taken:
        name = f"_{name}"
    return name


@dataclass(frozen=True)
class PyTreeInfo:
    """How the arguments and the result of the original are built from the inputs and outputs of the graph.

    Attributes:
        orig_args: Names of the original parameters.
        in_spec: Structure of the list of their values.
        out_spec: Structure of the result, or None if it is returned as it is.
    """

    orig_args: list[str]
    in_spec: pytree.TreeSpec
    out_spec: pytree.TreeSpec | None


class PyTreeCodeGen(CodeGen):
    """Takes nested arguments apart and puts a nested result together."""

    def __init__(self, pytree_info: PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *args: Any) -> Any:
        """Return the leaves of the arguments.

        Raises:
            ArgumentError: ST113 to ST123, the arguments are built in another way than at capture.
        """
        return flatten(list(args), self.pytree_info.in_spec)

    def process_outputs(self, outputs: Any) -> Any:
        """Return the result, built as the original builds it."""
        if not isinstance(outputs, list | tuple):
            outputs = [outputs]
        if self.pytree_info.out_spec is None:
            return outputs
        return pytree.tree_unflatten(list(outputs), self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """Return the `def` line with the original parameters, and a line that takes them apart."""
        info = self.pytree_info
        names = parameter_names(free_vars)
        own = info.orig_args
        head = f"def forward({', '.join([root_name(own), *own])}){maybe_return_annotation}:"
        if not names:
            return head
        bare = ", ".join(parameter_names(own))
        return f"{head}\n    {', '.join(names)}, = {self._flatten_text()}([{bare}], {self._spec_text(info.in_spec)})"

    def generate_output(self, output_args: Any) -> str:
        """Return the `return` statement that builds the result."""
        spec = self.pytree_info.out_spec
        if spec is None or self._names is None:
            return super().generate_output(output_args)
        unflatten = f"{self._names.add('pytree', pytree)}.tree_unflatten"
        return f"return {unflatten}({self._text(output_args)}, {self._spec_text(spec)})"

    def _flatten_text(self) -> str:
        assert self._names is not None
        return self._names.add("tree_flatten_spec", flatten)

    def _spec_text(self, spec: pytree.TreeSpec) -> str:
        assert self._names is not None
        return self._names.add("_in_spec" if spec is self.pytree_info.in_spec else "_out_spec", spec)


_PARTS: dict[type, Callable[[Any, pytree.TreeSpec], list[Any]]] = {
    dict: lambda value, spec: [value[key] for key in spec.context],
    OrderedDict: lambda value, spec: [value[key] for key in spec.context],
    defaultdict: lambda value, spec: [value[key] for key in spec.context[1]],
}
"""How to take a traced value apart that stands for an instance of a class."""


def register_flatten(
    cls: type,
    flatten_fn_spec: Callable[[Any, pytree.TreeSpec], list[Any]],
    flatten_fn_exact_match_spec: Any = None,
) -> None:
    """Tell how a traced value is taken apart that stands for an instance of a class.

    Real instances are taken apart as `torch.utils._pytree` does it.

    Args:
        cls: The class.
        flatten_fn_spec: Takes a value and its structure, and returns the parts.
        flatten_fn_exact_match_spec: Not used: real instances are always matched exactly.
    """
    _PARTS[cls] = flatten_fn_spec


def _is_traced(value: Any) -> bool:
    return hasattr(type(value), "__graph_node__")


def _flatten_traced(value: Any, spec: pytree.TreeSpec) -> list[Any]:
    if spec.is_leaf():
        return [value]
    if not _is_traced(value):
        parts = pytree.tree_structure(value, is_leaf=lambda item: item is not value)
        if parts.type is not spec.type or parts.num_children != spec.num_children:
            raise ArgumentError("ST122", reason=f"expected {spec.type}, but got {type(value)}")
        items = pytree.tree_leaves(value, is_leaf=lambda item: item is not value)
    elif spec.type in _PARTS:
        items = list(_PARTS[spec.type](value, spec))
    else:
        items = [value[index] for index in range(spec.num_children)]
    return [
        leaf
        for item, child in zip(items, spec.children(), strict=True)
        for leaf in _flatten_traced(item, child)
    ]


def flatten(values: Any, spec: pytree.TreeSpec) -> list[Any]:
    """Return the leaves of `values`, which must be built as `spec` says.

    Raises:
        ArgumentError: ST122, they are built differently.
    """
    try:
        return list(spec.flatten_up_to(values))
    except (ValueError, TypeError, KeyError) as error:
        if any(_is_traced(leaf) for leaf in pytree.tree_leaves(values)):
            return _flatten_traced(values, spec)
        raise ArgumentError("ST122", reason=str(error)) from None


def _register_frozen() -> None:
    """Let frozen arguments be taken apart as the lists and dicts that they are."""
    pytree.register_pytree_node(
        immutable_list,
        lambda value: (list(value), None),
        lambda parts, _: immutable_list(parts),
        serialized_type_name="symtrace.immutable_collections.immutable_list",
    )
    pytree.register_pytree_node(
        immutable_dict,
        lambda value: (list(value.values()), list(value)),
        lambda parts, keys: immutable_dict(zip(keys, parts, strict=True)),
        serialized_type_name="symtrace.immutable_collections.immutable_dict",
    )


_register_frozen()
