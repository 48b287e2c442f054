"""TARGET: from `module.path:name` or `file.py:name` to a program that can be captured."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ..errors import UsageError

__all__ = ["load_program", "load_target"]


def _refusal(target: str, reason: str) -> UsageError:
    return UsageError("ST401", target=target, reason=reason)


def _brief(error: BaseException) -> str:
    """Return class and first line of an exception, with the place of a syntax error."""
    lines = str(error).strip().splitlines()
    text = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    return text if len(text) <= 300 else text[:299] + "…"


def _import_file(target: str, path: Path) -> types.ModuleType:
    if not path.is_file():
        raise _refusal(target, f"there is no file `{path}`")
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # as `python file.py` does, so that its own imports are found
    name = path.stem
    if name in sys.modules and getattr(sys.modules[name], "__file__", None) != str(path.resolve()):
        name = f"symtrace_target_{name}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise _refusal(target, f"`{path}` is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def _import_module(target: str, name: str) -> types.ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise _refusal(target, f"`{name}` is neither a module nor a file")
    here = os.getcwd()
    if here not in sys.path:
        sys.path.insert(0, here)  # as `python -m` does; a console script leaves it out
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise _refusal(target, f"there is no module `{error.name}`") from None
        raise


def _find(target: str, module: types.ModuleType, dotted: str) -> Any:
    found: Any = module
    for part in dotted.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            place = getattr(found, "__name__", type(found).__name__)
            near = _near(part, found)
            raise _refusal(
                target, f"`{place}` has no `{part}`" + (f"; did you mean {near}?" if near else "")
            ) from None
    return found


def _near(name: str, holder: Any) -> str:
    import difflib

    public = [candidate for candidate in dir(holder) if not candidate.startswith("_")]
    return " or ".join(f"`{match}`" for match in difflib.get_close_matches(name, public, n=2, cutoff=0.7))


def load_target(target: str) -> Any:
    """Import what `target` names.

    Args:
        target: `module.path:name` or `path/to/file.py:name`; the name may have dots.

    Raises:
        UsageError: It can't be imported, or there is no such name (ST401).
    """
    place, colon, dotted = target.rpartition(":")
    if not colon or not place or not dotted or not all(part.isidentifier() for part in dotted.split(".")):
        raise _refusal(target, "it has not the form `module.path:name` or `file.py:name`")
    try:
        if place.endswith(".py") or os.sep in place:
            module = _import_file(target, Path(place))
        else:
            module = _import_module(target, place)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:
        raise _refusal(target, f"importing `{place}` failed: {_brief(error)}") from error
    return _find(target, module, dotted)


def _returns_module(function: Any, module_class: type) -> bool:
    try:
        annotation = typing.get_type_hints(function).get("return")
    except Exception:  # annotations are the user's and may name anything
        return False
    return isinstance(annotation, type) and issubclass(annotation, module_class)


def _parameters(function: Any) -> list[inspect.Parameter] | None:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None


def _needed(parameters: list[inspect.Parameter], config: Mapping[str, Any]) -> list[str]:
    """Return the names of parameters that a call with `config` lacks."""
    fillers = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [
        p.name
        for p in parameters
        if p.default is inspect.Parameter.empty and p.kind not in fillers and p.name not in config
    ]


def _from_factory(target: str, function: Any, module_class: type, config: Mapping[str, Any]) -> Any:
    """Return the module that `function` makes, or the function itself where it is the program."""
    parameters = _parameters(function)
    needed = None if parameters is None else _needed(parameters, config)
    makes_module = _returns_module(function, module_class) or bool(config)
    if needed and makes_module:
        raise _refusal(target, f"it makes a module but needs arguments: {', '.join(needed)}")
    if needed or (needed is None and not config):
        return function
    try:
        made = function(**config)
    except Exception as error:
        if makes_module or not parameters:
            raise _refusal(target, f"calling it failed: {_brief(error)}") from error
        return function
    if config and not isinstance(made, module_class):
        raise _refusal(
            target, f"with --config it gives an object of class `{type(made).__name__}`, not a module"
        )
    return made if isinstance(made, module_class) else function


def _from_class(target: str, cls: Any, config: Mapping[str, Any]) -> Any:
    """Return a module of a class, which may take one object with its configuration, as models of transformers do."""
    configuration = getattr(cls, "config_class", None)
    given = ", ".join(f"{name}={value!r}" for name, value in config.items())
    try:
        if isinstance(configuration, type):
            return cls(configuration(**config))
        return cls(**config)
    except Exception as error:
        raise _refusal(target, f"`{cls.__name__}({given})` failed: {_brief(error)}") from error


def load_program(target: str, config: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Return the program that `target` names: an `nn.Module` or a function.

    A module object is the program. A class of modules is called with `config`, or with an object of its `config_class`
    made from it. A function that can be called with `config` and then returns a module is a factory, and that module is
    the program; any other function is itself the program.

    Args:
        target: As `load_target` takes it.
        config: Keyword arguments.

    Raises:
        UsageError: There is no such thing, it is no program, or making the module failed (ST401).
    """
    found = load_target(target)
    from torch import nn

    if isinstance(found, nn.Module):
        if config:
            raise _refusal(target, "it is a module already; --config is for classes and factories")
        return found
    if isinstance(found, type):
        if not issubclass(found, nn.Module):
            raise _refusal(target, f"`{found.__name__}` is a class, but not of modules")
        return _from_class(target, found, config)
    if not callable(found):
        raise _refusal(target, f"it is an object of class `{type(found).__name__}`, not a program")
    return _from_factory(target, found, nn.Module, config)
