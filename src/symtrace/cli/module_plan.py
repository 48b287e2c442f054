"""How each submodule of a captured module is made again in a written file."""

from __future__ import annotations

import ast
import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import UsageError
from .expressions import Writer, quoted

if TYPE_CHECKING:
    from torch import nn

__all__ = ["ModulePlan"]

_OWN_TENSORS = "the module's own parameters"


class ModulePlan:
    """Statements that make the submodules of a module again.

    Attributes:
        lines: One `add(path, module)` per submodule, parents first.
        helpers: Names of the helper functions that the lines call.
        first_paths: The modules themselves by the path at which each is met first; the root is at `""`.
    """

    def __init__(self, root: nn.Module, called: set[str], writer: Writer) -> None:
        self.lines: list[str] = []
        self.helpers: set[str] = {"add"}
        self.first_paths: dict[str, nn.Module] = {"": root}
        self._writer = writer
        _refuse_hooks("", root)
        if root._parameters or root._buffers:
            self.lines.append(self._declared("self", root))
        known: dict[int, str] = {id(root): ""}
        for path, module in _submodules(root):
            first = known.get(id(module))
            if first is not None:
                origin = f"self.get_submodule({quoted(first)})" if first else "self"
                self.lines.append(f"add({quoted(path)}, {origin})")
                continue
            known[id(module)] = path
            self.first_paths[path] = module
            kept = any(path == name or path.startswith(f"{name}.") for name in called)
            self.lines.append(
                f"add({quoted(path)}, {self._made(path, module) if kept else self._container(module)})"
            )

    def _declared(self, text: str, module: nn.Module) -> str:
        """Return `text` with the names of the module's own parameters and buffers registered."""
        self.helpers.add("declare")
        parameters = self._writer.expression(list(module._parameters), "names")
        buffers = {name: name not in module._non_persistent_buffers_set for name in module._buffers}
        return f"_declare({text}, {parameters}, {self._writer.expression(buffers, 'names')})"

    def _container(self, module: nn.Module) -> str:
        from torch import nn

        text = "torch.nn.Module()"
        for kind in (nn.Sequential, nn.ModuleList, nn.ModuleDict):
            if type(module) is kind:
                text = f"torch.nn.{kind.__name__}()"
        return self._declared(text, module) if module._parameters or module._buffers else text

    def plain_module(self, path: str, module: nn.Module) -> str:
        """Return text for a module that is no submodule: one that the program makes itself and keeps nothing in."""
        if module._modules or module._parameters or module._buffers:
            raise UsageError(
                "ST409", what=path, reason="it is a module with tensors that is made by the program"
            )
        return self._made(path, module)

    def _made(self, path: str, module: nn.Module) -> str:
        _refuse_hooks(path, module)
        return self._constructed(path, module) or self._restored(path, module)

    def _constructed(self, path: str, module: nn.Module) -> str | None:
        """Return a call of the constructor that makes an equal module, or `None` if none is found."""
        import torch

        cls = type(module)
        if not cls.__module__.startswith("torch.nn.") or getattr(torch.nn, cls.__name__, None) is not cls:
            return None
        text = f"torch.nn.{cls.__name__}({module.extra_repr()})"
        if not _is_plain_call(text):
            return None
        try:
            with torch.device("meta"):
                again = eval(text, {"torch": torch})
            same = not again._modules and self._description(path, again) == self._description(path, module)
        except Exception:  # a constructor may refuse in any way; the module is then restored instead
            return None
        return text if same else None

    def _description(self, path: str, module: nn.Module) -> Any:
        tensors = {
            name: None if value is None else tuple(value.shape)
            for name, value in (*module._parameters.items(), *module._buffers.items())
        }
        buffers = list(module._buffers)
        return self._attributes(path, module), tensors, buffers, module._non_persistent_buffers_set

    def _attributes(self, path: str, module: nn.Module) -> dict[str, str]:
        """Return the attributes of `module` that `nn.Module` itself does not have, as source text."""
        from torch import nn

        standard = vars(nn.Module())
        found = {}
        for name, value in vars(module).items():
            if name in standard:
                continue
            if _holds_own_tensors(module, value):
                found[name] = _OWN_TENSORS
            else:
                found[name] = self._writer.expression(value, f"{path}.{name}")
        return found

    def _restored(self, path: str, module: nn.Module) -> str:
        self.helpers.add("restore")
        attributes = self._attributes(path, module)
        if _OWN_TENSORS in attributes.values():
            names = ", ".join(name for name, text in attributes.items() if text == _OWN_TENSORS)
            raise UsageError("ST409", what=path, reason=f"its attribute `{names}` holds its own parameters")
        kind = self._writer.expression(type(module), path)
        pairs = ", ".join(f"{quoted(name)}: {text}" for name, text in attributes.items())
        text = f"_restore({kind}, {{{pairs}}})"
        return self._declared(text, module) if module._parameters or module._buffers else text


def _submodules(root: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Yield path and module below `root`, parents first; what is below a module met before is left out."""
    seen = {id(root)}
    stack = [("", root)]
    while stack:
        prefix, parent = stack.pop()
        below = []
        for name, child in parent._modules.items():
            if child is None:
                continue
            path = f"{prefix}.{name}" if prefix else name
            yield path, child
            if id(child) not in seen:
                seen.add(id(child))
                below.append((path, child))
        stack.extend(reversed(below))


def _holds_own_tensors(module: nn.Module, value: Any) -> bool:
    if not isinstance(value, list | tuple) or not value:
        return False
    own = {id(tensor) for tensor in module._parameters.values()}
    return all(id(v() if isinstance(v, weakref.ref) else v) in own or v is None for v in value)


def _is_plain_call(text: str) -> bool:
    """Tell whether `text` is one call whose arguments are literals."""
    try:
        call = ast.parse(text, mode="eval").body
        if not isinstance(call, ast.Call):
            return False
        for value in (*call.args, *(keyword.value for keyword in call.keywords)):
            ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return False
    return True


def _refuse_hooks(path: str, module: nn.Module) -> None:
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    if any(getattr(module, name, None) for name in hooks):
        raise UsageError("ST409", what=path or "the module", reason="its hooks can't be written")
