"""How two captures of one program, and their results, are compared."""

from __future__ import annotations

import ast
import contextlib
import io
import sys
import types
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.utils import _pytree as pytree

from .program import PLACE, Program


def capture(fx: Any, program: Program, root: Any) -> Any:
    """Trace `root` with `fx`, which is torch.fx or symtrace, and return the GraphModule."""
    concrete_args = pytree.tree_map(lambda leaf: fx.PH if leaf is PLACE else leaf, program.concrete_args)
    if not program.tracer:
        return fx.symbolic_trace(root, concrete_args=concrete_args)
    tracer = fx.Tracer(**program.tracer)
    graph = tracer.trace(root, concrete_args=concrete_args)
    name = type(root).__name__ if isinstance(root, nn.Module) else root.__name__
    return fx.GraphModule(tracer.root, graph, name)


def rows(gm: Any) -> list[tuple[Any, ...]]:
    """Return the graph as plain rows."""
    return [(n.op, n.name, n.target, repr(n.args), repr(n.kwargs), n.type) for n in gm.graph.nodes]


class _Plain(ast.NodeTransformer):
    """Takes away the differences of spelling that docs/differences.md names under "Code reads as people
    write it"."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        node.slice = self._index(node.slice)
        return node

    def _index(self, index: ast.expr) -> ast.expr:
        if isinstance(index, ast.Tuple):
            index.elts = [self._index(item) for item in index.elts]
        elif isinstance(index, ast.Call) and isinstance(index.func, ast.Name) and index.func.id == "slice":
            bounds = [None if isinstance(a, ast.Constant) and a.value is None else a for a in index.args]
            return ast.Slice(*bounds)
        elif isinstance(index, ast.Name) and index.id == "Ellipsis":
            return ast.Constant(...)
        return index

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "complex":  # torch.fx up to 2.13 writes `2j`
            return ast.Constant(complex(*(ast.literal_eval(arg) for arg in node.args)))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if node.attr in ("tree_flatten_spec", "_in_spec", "_out_spec"):
            return ast.Name(node.attr)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if "_symbolic_trace.wrap" in ast.unparse(node) else node


def code_lines(gm: Any) -> list[str]:
    """Return the statements of the generated code, spelled in one way, without annotations.

    Annotations are compared on the nodes; torch.fx prints them with names of its own.
    """
    return ast.unparse(_Plain().visit(ast.parse(gm.code))).splitlines()


def _plain_table(rows: Any, headers: Any = ()) -> str:
    """Left-aligned columns, two spaces apart and wider than their headers: what torch.fx asks of `tabulate`."""
    cells = [[str(cell) for cell in row] for row in [headers, *rows]]
    widths = [max(len(cells[0][i]) + 2, *(len(row[i]) for row in cells)) for i in range(len(headers))]
    cells.insert(1, ["-" * width for width in widths])
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells
    )


@contextlib.contextmanager
def _with_tabulate() -> Iterator[None]:
    """Give torch.fx a `tabulate` while it prints, where none is installed."""
    try:
        import tabulate  # noqa: F401

        yield
    except ImportError:
        stand_in = types.ModuleType("tabulate")
        stand_in.tabulate = _plain_table  # type: ignore[attr-defined]
        sys.modules["tabulate"] = stand_in
        try:
            yield
        finally:
            del sys.modules["tabulate"]


def table(gm: Any) -> list[str]:
    """Return the lines that `print_tabular` prints."""
    out = io.StringIO()
    with _with_tabulate(), contextlib.redirect_stdout(out):
        gm.graph.print_tabular()
    return [line.rstrip() for line in out.getvalue().strip().splitlines()]


def assert_same_graph(ours: Any, theirs: Any) -> None:
    """Node names, ops, targets, arguments, every printed form and the code agree."""
    assert rows(ours) == rows(theirs)
    header, *lines = str(ours.graph).splitlines()
    assert lines == str(theirs.graph).splitlines()[1:]
    parameters = [n.target for n in theirs.graph.nodes if n.op == "placeholder"]
    assert all(parameter in header for parameter in parameters)  # torch.fx's header names none
    formatted = [n.format_node() for n in ours.graph.nodes]
    assert formatted == [n.format_node() for n in theirs.graph.nodes]
    assert table(ours) == table(theirs)
    assert code_lines(ours) == code_lines(theirs)


def assert_same_value(actual: Any, expected: Any, what: str = "result", *, subclass: bool = False) -> None:
    """Equal types, structure, dtypes, devices and bits; `subclass` lets a list be an immutable list."""
    same_type = isinstance(actual, type(expected)) if subclass else type(actual) is type(expected)
    assert same_type, f"{what}: {type(actual)} instead of {type(expected)}"
    if isinstance(expected, torch.Tensor):
        assert actual.requires_grad == expected.requires_grad, f"{what}: requires_grad"
        torch.testing.assert_close(
            actual, expected, rtol=0, atol=0, equal_nan=True, msg=lambda m: f"{what}: {m}"
        )
    elif isinstance(expected, dict):
        assert list(actual) == list(expected), what
        for key in expected:
            assert_same_value(actual[key], expected[key], f"{what}[{key!r}]", subclass=subclass)
    elif isinstance(expected, list | tuple):
        assert len(actual) == len(expected), what
        for index, (a, e) in enumerate(zip(actual, expected, strict=True)):
            assert_same_value(a, e, f"{what}[{index}]", subclass=subclass)
    elif isinstance(expected, float) and expected != expected:
        assert actual != actual, what
    else:
        assert actual == expected, f"{what}: {actual!r} instead of {expected!r}"


def run_all(model: Any, program: Program, repeat: int = 2) -> list[Any]:
    """Call `model` with each set of arguments, `repeat` times; return results and inputs after the call."""
    results: list[Any] = []
    for _ in range(repeat):
        for args, kwargs in program.arguments():
            torch.manual_seed(5)
            results.append((model(*args, **kwargs), args, kwargs))
    return results


def state(model: Any) -> dict[str, torch.Tensor]:
    """Return the model's state, copied."""
    return {k: v.clone() for k, v in model.state_dict().items()} if isinstance(model, nn.Module) else {}


def gradients(model: Any, program: Program) -> list[Any] | None:
    """Return the gradients of the summed outputs for inputs and parameters; None where there can be none."""
    args, kwargs = next(program.arguments())
    leaves = [
        t for t in pytree.tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor) and t.is_floating_point()
    ]
    for leaf in leaves:
        leaf.requires_grad_()
    torch.manual_seed(5)
    out = model(*args, **kwargs)
    outs = [t for t in pytree.tree_leaves(out) if isinstance(t, torch.Tensor) and t.requires_grad]
    outs = [t.abs() if t.is_complex() else t for t in outs]
    if not outs:
        return None
    parameters = dict(model.named_parameters()) if isinstance(model, nn.Module) else {}
    sources = leaves + [parameters[name] for name in sorted(parameters)]
    return list(torch.autograd.grad([t.sum() for t in outs], sources, allow_unused=True))


def assert_means_the_same(program: Program, captured: Any, original: Any) -> None:
    """`captured` gives eager's values, writes, state and gradients over several calls, in both modes."""
    assert_same_value(run_all(captured, program), run_all(original, program))
    if isinstance(original, nn.Module):
        assert_same_value(state(captured), state(original), "state after the calls")
        for mode in (False, True):
            captured.train(mode), original.train(mode)
            assert_same_value(run_all(captured, program, 1), run_all(original, program, 1), f"train({mode})")
    try:
        expected = gradients(original, program)
    except RuntimeError:  # the program writes to its inputs, or an operator has no derivative
        return
    assert_same_value(gradients(captured, program), expected, "gradients")
