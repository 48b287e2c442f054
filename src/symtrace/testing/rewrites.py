"""Does a pass turn this into that, and into nothing wrong?"""

from __future__ import annotations

import copy
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from ..runtime import GraphModule
from .equivalence import assert_equivalent

__all__ = ["assert_rewrites"]


def assert_rewrites(
    module: GraphModule,
    rewrite: Callable[[GraphModule], Any],
    expected: str | None,
    inputs: Sequence[Any] | None = None,
    **options: Any,
) -> GraphModule:
    """Check what a pass or any other edit makes of a module.

    Args:
        module: Stays as it is; a copy is rewritten.
        rewrite: Edits the module it is given, or returns another (or a result with a `graph_module`).
        expected: Code of the result, indentation aside, or None when nothing may change.
        inputs: Arguments on which the result must mean what `module` means; see `assert_equivalent`.
        **options: Passed on to `assert_equivalent`.

    Returns:
        The rewritten module.

    Raises:
        AssertionError: The code is another, the graph is broken, or the meaning has changed.

    >>> from symtrace.runtime import Graph
    >>> import torch
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> dead = graph.call_function(torch.neg, (x,))
    >>> result = graph.output(x)
    >>> module = GraphModule(torch.nn.Module(), graph)
    >>> rewritten = assert_rewrites(module, lambda gm: gm.graph.eliminate_dead_code(), '''
    ...     def forward(self, x):
    ...         return x
    ... ''')
    """
    before = module.code
    dup = copy.deepcopy(module)
    result = rewrite(dup)
    rewritten = getattr(result, "graph_module", result)
    if not isinstance(rewritten, GraphModule):
        rewritten = dup
    if module.code != before:
        raise AssertionError("the rewrite changed the module that was to stay as it is")
    rewritten.graph.lint()
    wanted = _plain(before if expected is None else expected)
    if _plain(rewritten.code) != wanted:
        raise AssertionError(f"expected\n{wanted}\nbut got\n{_plain(rewritten.code)}")
    if inputs is not None:
        assert_equivalent(module, rewritten, inputs, **options)
    return rewritten


def _plain(code: str) -> str:
    lines = [line.rstrip() for line in textwrap.dedent(code).splitlines()]
    return "\n".join(line for line in lines if line)
