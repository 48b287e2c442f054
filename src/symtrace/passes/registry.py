"""Finding passes by name: those of this package, those registered, and those of other packages."""

from __future__ import annotations

import difflib
import importlib
from dataclasses import MISSING, fields
from typing import Any, TypeVar, cast

from .core import Pass
from .errors import PassError

__all__ = ["GROUP", "available_passes", "find_pass", "make_pass", "register_pass", "unusable_passes"]

GROUP = "symtrace.passes"
"""Group of entry points under which other packages offer passes: a name, and the class it stands for."""

_BUILTIN = {
    "const-fold": ("fold_constants", "FoldConstants"),
    "cse": ("cse", "EliminateCommonSubexpressions"),
    "dce": ("dce", "EliminateDeadCode"),
    "decompose": ("decompose", "Decompose"),
    "functionalize": ("functionalize", "Functionalize"),
    "fuse-conv-bn": ("fuse_conv_bn", "FuseConvBatchNorm"),
    "fuse-conv-conv": ("fuse_conv_scale", "FuseConvConv"),
    "fuse-conv-scale": ("fuse_conv_scale", "FuseConvScale"),
    "inline": ("inline", "InlineModules"),
    "lower-control-flow": ("lower_control_flow", "LowerControlFlow"),
    "merge-linear": ("merge_linear", "MergeLinear"),
    "merge-matmul": ("merge_matmul", "MergeMatmul"),
    "normalize": ("spellings", "NormalizeSpellings"),
    "outline": ("..partition.outline", "OutlineModules"),
    "quantize-dynamic": ("quantize", "QuantizeDynamic"),
    "quantize-weights": ("quantize", "QuantizeWeights"),
    "reinplace": ("reinplace", "Reinplace"),
    "remove-dropout": ("dropout", "RemoveDropout"),
    "remove-identity": ("identity", "RemoveIdentity"),
    "specialize-evaluation": ("specialize_evaluation", "SpecializeEvaluation"),
}

_REGISTERED: dict[str, type[Pass]] = {}

_P = TypeVar("_P", bound=type[Pass])


def register_pass(cls: _P) -> _P:
    """Make a pass known by its name; serves as a decorator.

    Args:
        cls: A frozen dataclass that inherits `Pass` and has a `name`.

    Raises:
        PassError: It has no name, or the name stands for another pass (ST241).
    """
    name = cls.name
    known = _REGISTERED.get(name)
    is_taken = name in _BUILTIN or (known is not None and known.__qualname__ != cls.__qualname__)
    if not name or is_taken:
        reason = f"{cls.__qualname__} has no name of its own: {name!r}"
        raise PassError("ST241", name=name, nearest=reason)
    _REGISTERED[name] = cls
    return cls


def _offered() -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


def available_passes() -> dict[str, type[Pass]]:
    """Return every known pass by its name, in alphabetical order; what is offered and broken is left out.

    >>> "dce" in available_passes()
    True
    """
    names = sorted({*_BUILTIN, *_REGISTERED, *_offered()} - unusable_passes().keys() | _BUILTIN.keys())
    return {name: find_pass(name) for name in names}


def unusable_passes() -> dict[str, str]:
    """Return what other packages offer and can't be used, by its name, with the reason."""
    found: dict[str, str] = {}
    for name, point in _offered().items():
        if name in _BUILTIN:
            found[name] = f"the entry point {point.value!r} has a name that is taken"
        elif name not in _REGISTERED:
            try:
                _loaded(name, point)
            except PassError as error:
                found[name] = error.diagnostic.message
    return found


def find_pass(name: str) -> type[Pass]:
    """Return the class of the pass called `name`.

    Args:
        name: Name of a pass of this package, of one that was registered with `register_pass`, or of an entry
            point of the group `symtrace.passes`.

    Raises:
        PassError: There is none, or the package that offers it is broken (ST241); the message names the nearest
            ones, or what is wrong.
    """
    if name in _BUILTIN:
        module, cls = _BUILTIN[name]
        found: Any = getattr(
            importlib.import_module(module if module[0] == "." else f".{module}", __package__), cls
        )
    elif name in _REGISTERED:
        found = _REGISTERED[name]
    else:
        offered = _offered()
        if name not in offered:
            known = sorted({*_BUILTIN, *_REGISTERED, *offered})
            nearest = difflib.get_close_matches(name, known, 3) or known
            raise PassError("ST241", name=name, nearest=", ".join(nearest))
        return _loaded(name, offered[name])
    return cast("type[Pass]", found)


def _loaded(name: str, point: Any) -> type[Pass]:
    """Return the class that an entry point stands for."""
    try:
        found = point.load()
    except Exception as error:  # the package of others may fail in any way
        reason = f"the entry point {point.value!r} can't be loaded: {type(error).__name__}: {error}"
        raise PassError("ST241", name=name, nearest=reason) from error
    if not (isinstance(found, type) and issubclass(found, Pass)):
        raise PassError("ST241", name=name, nearest=f"the entry point gives {found!r}, which is no Pass")
    if found.name != name:  # a pipeline is written with the names of its passes, and has to be read again
        reason = f"the entry point gives {found.__qualname__}, whose own name is {found.name!r}"
        raise PassError("ST241", name=name, nearest=reason)
    return found


def make_pass(name: str, options: dict[str, str] | None = None) -> Pass:
    """Return a pass with options given as text.

    Args:
        name: Name of the pass.
        options: Options by name, with dashes or underscores; values as a user types them.

    Raises:
        PassError: There is no such pass (ST241) or option, or a value does not fit (ST242).
    """
    cls = find_pass(name)
    known = {option.name: option for option in fields(cls) if option.init}
    values: dict[str, Any] = {}
    for key, text in (options or {}).items():
        option = known.get(key.replace("-", "_"))
        if option is None:
            names = ", ".join(option_name.replace("_", "-") for option_name in known) or "none"
            raise PassError("ST242", name=name, reason=f"it has no option {key!r}; its options: {names}")
        default = None if option.default is MISSING else option.default
        values[option.name] = _value(name, key, text, default)
    try:
        return cls(**values)
    except (TypeError, ValueError) as error:
        raise PassError("ST242", name=name, reason=str(error)) from error


_WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def _value(name: str, key: str, text: str, default: Any) -> Any:
    """Return the value that `text` stands for, of the type of the option's default."""
    kind = type(default)
    try:
        if kind is bool:
            return _WORDS[text.lower()]
        if kind in (int, float):
            return kind(text)
    except (KeyError, ValueError):
        reason = f"{key}={text}: a {kind.__name__} is wanted"
        raise PassError("ST242", name=name, reason=reason) from None
    return text
