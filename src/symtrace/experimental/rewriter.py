"""Rewriting source before tracing: assertions and annotated assignments become calls that are recorded."""

from __future__ import annotations

import ast
import copy
import inspect
import types
from collections.abc import Callable
from typing import Any, cast

import torch
from torch import nn

from ..runtime import Graph
from ..tracing import Proxy, Tracer

__all__ = ["AST_Rewriter", "RewritingTracer"]


def _annotate(value: Any, annotation: Any) -> Any:
    """Note the annotation of an assignment on the node of a traced value."""
    if isinstance(value, Proxy) and value.node.type is None:
        value.node.type = annotation
    return value


_HELPERS: dict[str, Callable[..., Any]] = {"_symtrace_assert": torch._assert, "_symtrace_annotate": _annotate}


class AST_Rewriter(ast.NodeTransformer):
    """Rewrites the source of a function; a subclass may add `visit_...` methods.

    `assert condition, message` becomes `torch._assert(condition, message)`; `name: type = value` notes the
    type on the node of the value.
    """

    def rewrite(self, fn: types.FunctionType) -> types.FunctionType:
        """Return the rewritten function; `fn` is left as it is.

        The new function has the globals, the closure and the defaults of `fn`. A function without source is
        returned as it is.

        Args:
            fn: A Python function.
        """
        try:
            lines, first = inspect.getsourcelines(fn)
        except (OSError, TypeError):
            return fn
        # Not dedented, since lines of a string may have less indentation than the function.
        indented = lines[0][:1].isspace()
        try:
            tree = ast.parse("".join(["if True:\n", *lines] if indented else lines))
        except SyntaxError:  # a lambda in the middle of an expression
            return fn
        definition = tree.body[0].body[0] if isinstance(tree.body[0], ast.If) else tree.body[0]
        if not isinstance(definition, ast.FunctionDef):
            return fn
        definition.decorator_list = []
        self.visit(definition)
        ast.increment_lineno(definition, first - (2 if indented else 1))
        return _compiled(definition, fn)

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Return a call of `torch._assert`."""
        message = node.msg if node.msg is not None else ast.Constant("")
        return ast.Expr(_call("_symtrace_assert", node.test, message))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """Return an assignment that notes the annotation."""
        if node.value is None:
            return node
        return ast.Assign(
            targets=[node.target], value=_call("_symtrace_annotate", node.value, node.annotation)
        )


def _call(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=list(args), keywords=[])


def _compiled(definition: ast.FunctionDef, fn: types.FunctionType) -> types.FunctionType:
    """Compile a definition as a closure, so that the user's globals need not be touched for the helpers."""
    names = (*fn.__code__.co_freevars, *_HELPERS)
    module = ast.parse(f"def _outer({', '.join(names)}): pass")
    outer = module.body[0]
    assert isinstance(outer, ast.FunctionDef)
    outer.body = [definition]
    ast.fix_missing_locations(module)
    code = compile(module, fn.__code__.co_filename, "exec", dont_inherit=True, flags=_future_flags(fn))
    outer_code = next(c for c in code.co_consts if isinstance(c, types.CodeType))
    inner = next(
        c for c in outer_code.co_consts if isinstance(c, types.CodeType) and c.co_name == fn.__name__
    )
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    cells |= {name: types.CellType(helper) for name, helper in _HELPERS.items()}
    closure = tuple(cells[name] for name in inner.co_freevars)
    made = types.FunctionType(inner, fn.__globals__, fn.__name__, fn.__defaults__, closure)
    made.__kwdefaults__ = fn.__kwdefaults__
    made.__annotations__ = fn.__annotations__
    made.__qualname__, made.__module__, made.__doc__ = fn.__qualname__, fn.__module__, fn.__doc__
    return made


def _future_flags(fn: types.FunctionType) -> int:
    import __future__

    known = (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
    return sum({flag for flag in known if fn.__code__.co_flags & flag})


class RewritingTracer(Tracer):
    """Traces the rewritten form of a function, or of the forward of a module and of the modules in it."""

    def trace(self, root: Any, concrete_args: Any = None, *args: Any, **kwargs: Any) -> Graph:
        """Return the graph of the rewritten program; `root` is left as it is.

        Args:
            root: A module or a function.
            concrete_args: As for `Tracer.trace`.
            *args: As for `Tracer.trace`.
            **kwargs: As for `Tracer.trace`.
        """
        return super().trace(_rewrite(root), concrete_args, *args, **kwargs)


def _rewrite(root: Any) -> Any:
    """Return a copy of a module with rewritten forwards and the same parameters, or a rewritten function."""
    if isinstance(root, nn.Module):
        return _rewrite_module(root, {})
    return AST_Rewriter().rewrite(root) if isinstance(root, types.FunctionType) else root


def _rewrite_module(module: nn.Module, done: dict[nn.Module, nn.Module]) -> nn.Module:
    if module in done:
        return done[module]
    if type(module).__module__.startswith("torch.nn") and not any(True for _ in module.children()):
        return module
    copied = done[module] = copy.copy(module)
    children = {
        name: child if child is None else _rewrite_module(child, done)
        for name, child in module._modules.items()
    }
    copied.__dict__["_modules"] = children
    forward = type(module).forward
    is_plain = isinstance(forward, types.FunctionType) and "forward" not in vars(module)
    if is_plain and not type(module).__module__.startswith("torch.nn"):
        copied.__dict__["forward"] = types.MethodType(
            AST_Rewriter().rewrite(cast(types.FunctionType, forward)), copied
        )
    return copied
