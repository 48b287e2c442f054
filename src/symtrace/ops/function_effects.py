"""Effects of `call_function` targets and of Tensor methods.

Known to be pure or to have exactly the stated effect: operators with a torch schema, the functions of
`torch.nn.functional` and its siblings, `operator`, `math`, Python's builtins, and what users declare.
Everything else is opaque: it may do anything.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

from . import program, registry
from .effect import ALIAS, BARRIER, CHECK, OPAQUE, PURE, RANDOM, Effect
from .schemas import Signature, operator_name, python_signature, signatures_of
from .tables import (
    ALIASING_NAMES,
    CONTAINER_WRITERS,
    FRESH_BUILTINS,
    IMPURE_NAMES,
    INPLACE_OPERATORS,
    PURE_BUILTINS,
    PURE_CONTAINER_METHODS,
    PURE_TORCH_NAMES,
    RANDOM_NAMES,
    TRAINING_SWITCHES,
)

__all__ = ["function_effect", "method_effect", "random_operators"]

_Args = Sequence[Any]
_Kwargs = Mapping[str, Any]


@dataclass(frozen=True)
class _Rule:
    """Effect of a target: `base` for short calls without keywords, else what `when` says."""

    base: Effect
    plain: int = 1 << 30
    when: Callable[[_Args, _Kwargs], Effect] | None = None


_RULES: dict[Any, _Rule] = {}
_METHODS: dict[str, Effect] = {}


def _forget(fn: Callable[..., Any]) -> None:
    _RULES.pop(fn, None)


registry.on_change(_forget)


def function_effect(target: Any, args: _Args, kwargs: _Kwargs) -> Effect:
    """Return the effect of calling `target` with these arguments."""
    try:
        rule = _RULES.get(target)
    except TypeError:  # unhashable callables are users' own
        return OPAQUE
    if rule is None:
        rule = _learn(target)
    if rule.when is None or (not kwargs and len(args) <= rule.plain):
        return rule.base
    return rule.when(args, kwargs)


def _learn(target: Any) -> _Rule:
    kind = registry.declared(target)
    if kind is not None:
        return _Rule({"pure": ALIAS, "random": Effect(random=True, returns_alias=True)}.get(kind, OPAQUE))
    own = getattr(target, "__symtrace_effect__", None)
    if own is not None:
        return _Rule(OPAQUE, plain=-1, when=own)
    rule = _known(target)
    if rule is None:
        return _Rule(_unknown(target))  # not kept: a user's function must not live on in a cache
    _RULES[target] = rule
    return rule


def _unknown(target: Any) -> Effect:
    """Return the effect of a target without rule; those of torch mostly switch a mode."""
    owner = getattr(target, "__module__", None)
    name = getattr(target, "__name__", "")
    switches = isinstance(owner, str) and (owner == "torch" or owner.startswith("torch."))
    if not switches:
        return OPAQUE
    return CHECK if "assert" in name or name.startswith("_check") else BARRIER


def _known(target: Any) -> _Rule | None:
    if target in INPLACE_OPERATORS or target is setattr or target is delattr or target is next:
        return _Rule(Effect(mutates=(0,), returns_alias=True))
    if target in (program.enter_mode, program.exit_mode):
        return _Rule(BARRIER)
    if target is program.guard:
        return _Rule(CHECK)
    if target in _torch_side_effects():
        return _Rule(_unknown(target))
    if target in PURE_BUILTINS:
        return _Rule(PURE if target in FRESH_BUILTINS else ALIAS)
    if isinstance(target, torch._ops.OpOverload | torch._ops.OpOverloadPacket):
        return _operator_rule(target)
    if isinstance(target, type):
        return _class_rule(target)
    name = getattr(target, "__name__", "")
    if getattr(torch.Tensor, name, None) is target:
        return _Rule(method_effect(name))
    if isinstance(target, types.BuiltinFunctionType):
        return _builtin_rule(target, name)
    if isinstance(target, types.FunctionType) and target in _functional():
        return _functional_rule(target, name)
    if isinstance(target, types.FunctionType) and (target.__module__ or "").startswith(_VISION):
        return _vision_rule(target)
    if getattr(target, "__module__", None) == "random" or _is_random_method(target):
        return _Rule(RANDOM)
    return None


def _is_random_method(target: Any) -> bool:
    import random

    owner = getattr(target, "__self__", None)
    return isinstance(owner, random.Random)


@lru_cache(maxsize=1)
def _functional() -> frozenset[Callable[..., Any]]:
    """Return the Python functions of torch whose effects `_functional_rule` knows."""
    found: set[Callable[..., Any]] = set()
    for module in (
        torch.nn.functional,
        torch.functional,
        torch.linalg,
        torch.fft,
        torch.special,
        torch.masked,
    ):
        for name, value in vars(module).items():
            if not isinstance(value, types.FunctionType) or name.startswith("_"):
                continue
            if value.__module__.startswith("torch"):
                found.add(value)
    found |= {
        value
        for value in (getattr(torch, name, None) for name in PURE_TORCH_NAMES)
        if isinstance(value, types.FunctionType)
    }
    found |= {value for name, value in vars(torch.nn.init).items() if name.endswith("_") and callable(value)}
    return frozenset(found)


# torch.fx keeps the functions that must survive dead-code elimination; other libraries add theirs to it.
# Read as it stands when a target is first met. Checked on torch 2.13 and 2.14.
def _torch_side_effects() -> Any:
    import sys

    node = sys.modules.get("torch.fx.node")
    return getattr(node, "_side_effectful_functions", ()) if node is not None else ()


def _class_rule(target: type) -> _Rule | None:
    if target in PURE_BUILTINS or issubclass(target, torch.Size | torch.device | torch.dtype):
        return _Rule(ALIAS)
    if getattr(torch, target.__name__, None) is target and target.__name__ in PURE_TORCH_NAMES:
        return _Rule(PURE)
    named = issubclass(target, tuple) and hasattr(target, "_fields")
    plain_tuple = named and target.__init__ is object.__init__
    plain_data = (
        dataclasses.is_dataclass(target)
        and not hasattr(target, "__post_init__")
        and target.__init__.__qualname__.endswith("__create_fn__.<locals>.__init__")
    )
    return _Rule(ALIAS) if plain_tuple or plain_data else None


def _writes(signature: Signature, args: _Args, kwargs: _Kwargs) -> tuple[int | str, ...]:
    found: list[int | str] = []
    for position, parameter in enumerate(signature.parameters):
        if not parameter.writes:
            continue
        if not parameter.keyword_only and position < len(args):
            found.append(position)
        elif kwargs.get(parameter.name) is not None:
            found.append(parameter.name)
        elif position == 0 and "self" in kwargs:
            found.append("self")
    return tuple(found)


def _operator_rule(target: Any) -> _Rule:
    """Return the rule of an `OpOverload` or a packet: its schemas and tags are a contract."""
    single = isinstance(target, torch._ops.OpOverload)
    overloads = [target] if single else [getattr(target, name) for name in target.overloads()]
    namespace, _, name = (operator_name(target) or "").partition("::")
    if not overloads or name in IMPURE_NAMES or _is_effectful(namespace, overloads):
        return _Rule(OPAQUE)
    if any(not overload._schema.returns and not overload._schema.is_mutable for overload in overloads):
        return _Rule(OPAQUE)  # an operator without result and without writes is there for another effect
    random = any(torch.Tag.nondeterministic_seeded in overload.tags for overload in overloads)
    return _schema_rule(
        name, tuple(s for o in overloads for s in signatures_of(o)), random, _aliases(overloads)
    )


_TRUSTED_NAMESPACES = frozenset({"aten", "prims", "quantized", "torchvision"})


def _is_effectful(namespace: str, overloads: Sequence[Any]) -> bool:
    if namespace in _TRUSTED_NAMESPACES:
        return False
    if namespace.lstrip("_").startswith("c10d") or namespace in {"profiler", "inductor"}:
        return True
    # Users register ordered operators with torch.library._register_effectful_op; torch's own question is
    # torch._library.utils.is_impure. Checked on torch 2.13 and 2.14.
    try:
        from torch._library.utils import is_impure
    except ImportError:
        return False
    return any(
        not o._schema.is_mutable and is_impure(o, args=(), kwargs={}, impure_random=False) for o in overloads
    )


def _aliases(overloads: Sequence[Any]) -> bool:
    return any(
        result.alias_info is not None for overload in overloads for result in overload._schema.returns
    ) or any(o._schema.name.partition("::")[2] in ALIASING_NAMES for o in overloads)


def _schema_rule(name: str, signatures: tuple[Signature, ...], random: bool, aliases: bool) -> _Rule:
    positional: dict[int, None] = {}
    for signature in signatures:
        for position, parameter in enumerate(signature.parameters):
            if parameter.writes and not parameter.keyword_only:
                positional[position] = None
    base = Effect(mutates=tuple(positional), random=random, returns_alias=aliases or bool(positional))
    special = _SPECIAL.get(name)
    if special is None and not any(signature.writes for signature in signatures):
        return _Rule(base)

    def when(args: _Args, kwargs: _Kwargs) -> Effect:
        found = dict.fromkeys(key for signature in signatures for key in _writes(signature, args, kwargs))
        effect = _writing(base, tuple(found))
        return special(effect, args, kwargs) if special is not None else effect

    return _Rule(base, plain=-1 if special is not None or positional else 1 << 30, when=when)


def _builtin_rule(target: Any, name: str) -> _Rule | None:
    if name in IMPURE_NAMES:
        return _Rule(BARRIER if "seed" in name else OPAQUE)
    signatures = signatures_of(target)
    if not signatures:
        known = name in PURE_TORCH_NAMES and getattr(torch, name, None) is target
        return _Rule(ALIAS if name in ALIASING_NAMES else PURE) if known else None
    qualified = operator_name(target) or ""
    overloads = _aten_overloads(qualified)
    if any(signature.text.endswith("-> ()") and not signature.writes for signature in signatures):
        return _Rule(OPAQUE)
    random = any(torch.Tag.nondeterministic_seeded in overload.tags for overload in overloads)
    short = qualified.partition("::")[2]
    aliases = _aliases([o for o in overloads if not _is_out(o)]) or short in ALIASING_NAMES
    return _schema_rule(short, signatures, random, aliases)


def _is_out(overload: Any) -> bool:
    arguments = overload._schema.arguments
    return any(a.kwarg_only and a.alias_info is not None and a.alias_info.is_write for a in arguments)


def _aten_overloads(qualified: str) -> list[Any]:
    namespace, _, name = qualified.partition("::")
    packet = getattr(getattr(torch.ops, namespace), name, None) if namespace else None
    if not isinstance(packet, torch._ops.OpOverloadPacket):  # as `__mul__` of the namespace itself
        return []
    names = packet.overloads()  # type: ignore[no-untyped-call]
    return [getattr(packet, overload) for overload in names]


def _functional_rule(target: Callable[..., Any], name: str) -> _Rule:
    """Return the rule of a Python function of torch: inplace, out and training make the difference."""
    if name in IMPURE_NAMES:
        return _Rule(OPAQUE)
    signature = python_signature(target)
    views = target.__module__ in ("torch.functional", "torch.masked._ops") and name not in {"norm", "cdist"}
    base = Effect(
        mutates=(0,) if _trails(name) else (),
        random=_always_random(target, name),
        returns_alias=views or name in ALIASING_NAMES,
    )
    places = {p.name: i for i, p in enumerate(signature.parameters)} if signature is not None else {}
    special = _SPECIAL.get(name)
    switches = [place for key, place in places.items() if key in ("inplace", "out")]
    if special is None and not switches:
        return _Rule(base)

    def when(args: _Args, kwargs: _Kwargs) -> Effect:
        effect = base
        if _argument("inplace", places.get("inplace"), args, kwargs, False) is not False:
            effect = _writing(effect, (0,))
        if _argument("out", places.get("out"), args, kwargs, None) is not None:
            key: int | str = "out" if "out" in kwargs else places["out"]
            effect = _writing(effect, (*effect.mutates, key))
        return special(effect, args, kwargs) if special is not None else effect

    return _Rule(base, plain=-1 if special is not None else min(switches), when=when)


@lru_cache(maxsize=1024)
def _writing(effect: Effect, mutates: tuple[int | str, ...]) -> Effect:
    """Return `effect` with exactly these writes; a call that writes to an argument returns it, as a rule."""
    return dataclasses.replace(effect, mutates=mutates, returns_alias=effect.returns_alias or bool(mutates))


_VISION = ("torchvision.ops.", "torchvision.models.")


def _vision_rule(target: Callable[..., Any]) -> _Rule:
    """Return the rule of a function that torchvision keeps as one node: random in training, if it has a flag."""
    signature = python_signature(target)
    places = {p.name: (i, p) for i, p in enumerate(signature.parameters)} if signature is not None else {}
    if "training" not in places:
        return _Rule(ALIAS)
    place, parameter = places["training"]

    def when(args: _Args, kwargs: _Kwargs) -> Effect:
        value = _argument("training", place, args, kwargs, parameter.default)
        return ALIAS if value is False else Effect(random=True, returns_alias=True)

    return _Rule(ALIAS, plain=-1, when=when)


def _trails(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _always_random(target: Callable[..., Any], name: str) -> bool:
    if target.__module__ == "torch.nn.init":
        return name not in {"constant_", "ones_", "zeros_", "eye_", "dirac_"}
    return name in RANDOM_NAMES


def _argument(name: str, place: int | None, args: _Args, kwargs: _Kwargs, default: Any) -> Any:
    if name in kwargs:
        return kwargs[name]
    return args[place] if place is not None and place < len(args) else default


_Special = Callable[[Effect, _Args, _Kwargs], Effect]


def _switched(name: str) -> _Special:
    keyword, place, default = TRAINING_SWITCHES[name]

    def special(effect: Effect, args: _Args, kwargs: _Kwargs) -> Effect:
        value = _argument(keyword, place, args, kwargs, default)
        if keyword == "training" and "train" in kwargs:
            value = kwargs["train"]
        off = isinstance(value, bool | int | float) and not value
        return dataclasses.replace(effect, random=not off)

    return special


def _normalising(flag: str, flag_place: int, first: int, default: bool) -> _Special:
    """Batch and instance norm write to running statistics that their schema declares read-only."""

    def special(effect: Effect, args: _Args, kwargs: _Kwargs) -> Effect:
        if _argument(flag, flag_place, args, kwargs, default) is False:
            return effect
        found: list[int | str] = [i for i in (first, first + 1) if i < len(args) and args[i] is not None]
        found += [name for name in ("running_mean", "running_var") if kwargs.get(name) is not None]
        return dataclasses.replace(effect, mutates=(*effect.mutates, *found))

    return special


def _batch_norm(effect: Effect, args: _Args, kwargs: _Kwargs) -> Effect:
    functional = len(args) > 5 and isinstance(args[5], bool)
    # F.batch_norm(input, running_mean, running_var, weight, bias, training) and
    # torch.batch_norm(input, weight, bias, running_mean, running_var, training, ...) share their name
    if functional and len(args) < 9:
        return _normalising("training", 5, 1, False)(effect, args, kwargs)
    if len(args) >= 9:
        return _normalising("training", 5, 3, False)(effect, args, kwargs)
    both = _normalising("training", 5, 1, False)(effect, args, kwargs)
    if both is effect:
        return effect
    return dataclasses.replace(both, mutates=(*both.mutates, *range(3, min(len(args), 5))))


def _embedding(place: int, weight: int) -> _Special:
    def special(effect: Effect, args: _Args, kwargs: _Kwargs) -> Effect:
        if _argument("max_norm", place, args, kwargs, None) is None:
            return effect
        key: int | str = "weight" if "weight" in kwargs else weight
        return dataclasses.replace(effect, mutates=(*effect.mutates, key))

    return special


_SPECIAL: dict[str, _Special] = {
    **{name: _switched(name) for name in TRAINING_SWITCHES},
    "dropout_": _switched("dropout"),
    "alpha_dropout_": _switched("dropout"),
    "feature_dropout": _switched("dropout"),
    "feature_dropout_": _switched("dropout"),
    "feature_alpha_dropout_": _switched("dropout"),
    "batch_norm": _batch_norm,
    "native_batch_norm": _normalising("training", 5, 3, True),
    "cudnn_batch_norm": _normalising("training", 5, 3, True),
    "miopen_batch_norm": _normalising("training", 5, 3, True),
    "_batch_norm_impl_index": _normalising("training", 5, 3, True),
    "instance_norm": _normalising("use_input_stats", 5, 1, True),
    "embedding": _embedding(3, 1),
    "embedding_bag": _embedding(3, 1),
}


def method_effect(name: str) -> Effect:
    """Return the effect of calling the method `name` on a tensor or on a container that holds some."""
    effect = _METHODS.get(name)
    if effect is None:
        effect = _METHODS[name] = _learn_method(name)
    return effect


def _learn_method(name: str) -> Effect:
    if name in CONTAINER_WRITERS or _writes_by_name(name):
        return Effect(mutates=(0,), random=_is_random_operator(name), returns_alias=True)
    if name in ("__enter__", "__exit__"):
        return BARRIER
    if name in IMPURE_NAMES:
        return OPAQUE
    if name in PURE_CONTAINER_METHODS:
        return ALIAS
    if not hasattr(torch.Tensor, name):
        return OPAQUE
    overloads = _aten_overloads(f"aten::{name}")
    aliases = name in ALIASING_NAMES or not overloads or _aliases([o for o in overloads if not _is_out(o)])
    return Effect(random=_is_random_operator(name), returns_alias=aliases)


def _writes_by_name(name: str) -> bool:
    if _trails(name):
        return True
    if name in {"__setitem__", "__delitem__", "__setattr__", "__delattr__", "__setstate__"}:
        return True
    inplace = name.startswith("__i") and name.endswith("__") and name not in {"__int__", "__index__"}
    return inplace and hasattr(torch.Tensor, "__" + name[3:])


def _is_random_operator(name: str) -> bool:
    overloads = _aten_overloads(f"aten::{name}")
    return any(torch.Tag.nondeterministic_seeded in overload.tags for overload in overloads)


@lru_cache(maxsize=1)
def random_operators() -> frozenset[Any]:
    """Return the ATen operators that draw random numbers, as packets such as `torch.ops.aten.rand`."""
    # torch lists its operators only here; checked on torch 2.13 and 2.14.
    names = {
        name.partition(".")[0] for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")
    }
    found = [
        getattr(torch.ops.aten, name.removeprefix("aten::"))
        for name in names
        if _is_random_operator(name[6:])
    ]
    return frozenset(found)
