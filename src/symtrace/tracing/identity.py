"""Questions that Python answers without asking a value: `is`, and patterns of sequences and mappings in `match`.

Functions that ask one of a local variable get other code for the time of a capture, which shows the question. Where
there is no way to, for want of the text or for a pattern, the program runs with a trace function that looks at the
variable first, which is slow.
"""

from __future__ import annotations

import dis
import operator
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import torch

from ..ir import Node, region_uses
from ..ops import effects
from .blame import data_dependent, here, trace_error
from .code_cache import cached_by_code
from .control_flow.levels import refusal
from .frames import is_own, is_programs
from .operands import UNSEEN, Operand, comparisons, operand_value
from .proxy import Proxy

if TYPE_CHECKING:
    from .watching import Watcher

__all__ = [
    "Question",
    "answer_question",
    "asks",
    "asks_class",
    "comes_from_region",
    "may_be_one",
    "none_questions",
    "questions_of",
    "recorded_identity",
    "watching_questions",
]

Question = tuple[str, tuple[Operand, ...]]
"""What is asked, `"is"` or `"match"`, and the local variables, or parts of them, it is asked of."""

_Ask = Callable[[str, list[Any]], None]


@cached_by_code
def questions_of(code: CodeType) -> dict[int, Question]:
    """Return the questions that a function asks of its local variables, by the offset of the instruction."""
    if not any(name in _OPCODES for name in code.co_code[::2]):
        return {}
    found: dict[int, Question] = {}
    loaded: list[str | None] = []
    names: list[str] = []
    for offset, pair in comparisons(code).items():
        asked = tuple([operand for operand in pair if operand.root])
        of_results = any(operand.root is None for operand in pair)
        of_classes = any(operand.path[-1:] == ("__class__",) for operand in asked)
        if asked and not of_results and not of_classes and (len(asked) == 2 or not asked[0].path):
            found[offset] = "is", asked
    for item in dis.get_instructions(code):
        name = item.opname
        if name in ("CACHE", "EXTENDED_ARG", "NOP"):
            continue
        if name in ("MATCH_SEQUENCE", "MATCH_MAPPING"):
            if names and names[-1].startswith(("CALL", "PRECALL")):
                found[item.offset] = "match", ()
            subject = next((variable for variable in reversed(loaded[-4:]) if variable), None)
            if subject is not None and item.offset not in found:
                found[item.offset] = "match", (Operand(subject),)
        loaded.append(_loaded(item))
        if not name.startswith(("COPY", "DUP_TOP")):
            names.append(name)
    return found


_OPCODES = frozenset(
    dis.opmap[name] for name in ("IS_OP", "MATCH_SEQUENCE", "MATCH_MAPPING") if name in dis.opmap
)


def _loaded(item: dis.Instruction) -> str | None:
    """Return the local variable that an instruction loads last, None for anything else."""
    if not item.opname.startswith(("LOAD_FAST", "LOAD_DEREF")):
        return None
    return str(item.argval[-1] if type(item.argval) is tuple else item.argval)


@cached_by_code
def asks(code: CodeType) -> bool:
    """Tell whether a function, or one that is defined in it, asks such a question."""
    return bool(questions_of(code)) or any(
        type(const) is CodeType and asks(const) for const in code.co_consts
    )


_MATCH_CLASS = dis.opmap.get("MATCH_CLASS", -1)


@cached_by_code
def asks_class(code: CodeType) -> bool:
    """Tell whether a function, or one that is defined in it, reads `__class__` of something or matches classes."""
    matches = _MATCH_CLASS in code.co_code[::2] and any(
        item.opcode == _MATCH_CLASS for item in dis.get_instructions(code)
    )
    return (
        matches
        or "__class__" in code.co_names
        or any(type(const) is CodeType and asks_class(const) for const in code.co_consts)
    )


class _Watch:
    """A trace function that puts questions to `ask`.

    Args:
        ask: Takes what is asked and the values of the variables; what it raises, the program raises.
    """

    def __init__(self, ask: _Ask) -> None:
        self._ask = ask
        self._watches_questions = self._is_set = False
        self._meets: Callable[[FrameType], bool] | None = None
        self.before = sys.gettrace()

    def start(self) -> None:
        """Watch the questions of functions that are called from now on."""
        self._watches_questions = True
        self._set()

    def watch_frames(self, meets: Callable[[FrameType], bool], running: list[FrameType]) -> None:
        """Watch where functions ask whether something is None.

        Args:
            meets: Given a frame of a function that does, tells whether to watch it.
            running: Frames to watch that are there already.
        """
        self._meets = meets
        self._set()
        for frame in running:
            frame.f_trace, frame.f_trace_opcodes = self._beside(frame.f_trace), True

    def _set(self) -> None:
        self._is_set = True
        sys.settrace(self._entered)

    def restore(self) -> None:
        """Have the trace function that was there before the capture back."""
        now = sys.gettrace()  # none at all after what was asked raised
        if self._is_set and (now is None or getattr(now, "__self__", None) is self):
            sys.settrace(self.before)

    def _beside(self, other: Any) -> Any:
        """Return what watches a frame beside a debugger that looks at its lines."""
        if other is None:
            return self._local

        def local(frame: FrameType, event: str, argument: Any) -> Any:
            nonlocal other
            if event != "opcode" and other is not None:
                other = other(frame, event, argument)
            self._local(frame, event, argument)
            return local

        return local

    def _entered(self, frame: FrameType, event: str, argument: Any) -> Any:
        """Watch a function that asks, and let a debugger see it, too; what is written in C takes no part meanwhile."""
        debugs = type(self.before) in (types.FunctionType, types.MethodType)
        before: Any = self.before
        other = before(frame, event, argument) if debugs else None
        if is_own(frame):
            return other
        is_watched = self._watches_questions and bool(questions_of(frame.f_code))
        if self._meets is not None and none_questions(frame.f_code):
            is_watched = self._meets(frame) or is_watched
        if not is_watched:
            return other
        frame.f_trace_opcodes = True
        return self._beside(other)

    def _local(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "opcode":
            question = questions_of(frame.f_code).get(frame.f_lasti) if self._watches_questions else None
            if question is not None:
                values = [operand_value(operand, frame) for operand in question[1]]
                if all(value is not UNSEEN for value in values):
                    self._ask(question[0], values)
            if self._meets is not None:
                name = none_questions(frame.f_code).get(frame.f_lasti)
                if name is not None and (name or is_programs(frame)):
                    held = frame.f_locals
                    self._ask("is None", [held[name]] if name in held else [])
        return self._local


@cached_by_code
def asks_whether_none(code: CodeType) -> bool:
    """Tell whether a function, or one that is defined in it, asks whether something is None."""
    return bool(none_questions(code)) or any(
        type(const) is CodeType and asks_whether_none(const) for const in code.co_consts
    )


@contextmanager
def watching_questions(ask: _Ask) -> Iterator[_Watch]:
    """Have questions put to `ask`, once what is yielded is told to.

    Args:
        ask: Takes what is asked and the values of the variables; what it raises, the program raises.
    """
    watch = _Watch(ask)
    try:
        yield watch
    finally:
        watch.restore()


@cached_by_code
def none_questions(code: CodeType) -> dict[int, str]:
    """Return where a function asks whether something is None: the variable, or an empty text, by the offset."""
    found: dict[int, str] = {}
    before: list[dis.Instruction] = []
    for item in dis.get_instructions(code):
        if item.opname in ("CACHE", "EXTENDED_ARG", "NOP", "NOT_TAKEN"):
            continue
        if item.opname.endswith("_NONE"):
            found[item.offset] = _variable(before[-1])
        elif item.opname == "IS_OP" and _is_none(before[-1]):
            found[item.offset] = _variable(before[-2])
        elif item.opname == "IS_OP" and _is_none(before[-2]):
            found[item.offset] = _variable(before[-1])
        before.append(item)
    return found


def _is_none(item: dis.Instruction) -> bool:
    return item.opname == "LOAD_CONST" and item.argval is None


def _variable(item: dis.Instruction) -> str:
    is_variable = item.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) and type(item.argval) is str
    return str(item.argval) if is_variable else ""


def may_be_one(one: Node, other: Node) -> bool:
    """Tell whether two values may be the same object, as `x.float()` may be `x`."""
    return not _objects(one).isdisjoint(_objects(other))


def _objects(node: Node) -> set[Node]:
    """Return the nodes whose object a value may be."""
    found: set[Node] = set()
    stack = [node]
    while stack:
        current = stack.pop()
        if current in found:
            continue
        found.add(current)
        if (
            current.op == "call_module"
            or current.target in _SAME
            or (
                current.op == "call_function"
                and (getattr(current.target, "__module__", None) or "").startswith("torch.nn")
            )
        ):
            stack.extend(current.all_input_nodes)
        elif current.op in ("call_function", "call_method"):
            effect = effects(current.op, current.target, current.args, current.kwargs)
            stack.extend(arg for arg in effect.written(current.args, current.kwargs) if isinstance(arg, Node))
    return found


_CASTS = (
    "bfloat16", "bool", "byte", "char", "contiguous", "cpu", "cuda", "double", "flatten", "float", "half", "int",
    "long", "positive", "real", "conj", "requires_grad_", "resolve_conj", "resolve_neg", "short", "to", "to_dense",
    "type", "type_as", "pin_memory", "expand_as", "view_as", "reshape", "reshape_as", "squeeze",
)  # fmt: skip
_SAME: frozenset[Any] = frozenset(
    {*_CASTS, *(getattr(torch, name) for name in _CASTS if callable(getattr(torch, name, None))), operator.pos,
     torch.dropout, torch.as_tensor, torch.asarray, torch.atleast_1d, torch.atleast_2d, torch.atleast_3d,
     torch.feature_dropout, torch.alpha_dropout, torch.broadcast_tensors, operator.getitem}
)  # fmt: skip
"""Operations that may give back the object they were given."""


def recorded_identity(tracer: Watcher, left: Any, right: Any) -> Any:
    """Return `left is right` as the run will tell, `NotImplemented` where that is known or refused.

    That is so for flags, which are one of two objects, and for values that come out of decisions and loops.
    """
    for value, other in ((left, right), (right, left)):
        if type(other) is bool and tracer._is_proxy(value) and tracer.may_be_bool(value):
            if not issubclass(type(value), torch.Tensor) and not tracer.is_open(value):
                return bool(value) is other
            return _recorded(tracer, left, right)
    if left is right or not (tracer.is_traced(left) and tracer.is_traced(right)):
        return NotImplemented
    nodes = tracer.create_arg(left), tracer.create_arg(right)
    if nodes[0] is not nodes[1] and any(comes_from_region(tracer, node) for node in nodes):
        return _recorded(tracer, left, right)
    return NotImplemented


def _recorded(tracer: Watcher, left: Any, right: Any) -> Any:
    args = tracer.create_arg(left), tracer.create_arg(right)
    return tracer.renewed(True, tracer.create_node("call_function", operator.is_, args, {}))


def comes_from_region(tracer: Watcher, node: Node) -> bool:
    """Tell whether a value is one of several objects, as a decision or loop tells."""
    if node.op == "placeholder":
        return any(node.graph is level.graph for level in tracer.levels)
    source = node.args[0] if node.target is operator.getitem and node.args else None
    return isinstance(source, Node) and bool(region_uses(source))


def answer_question(tracer: Watcher, asked: str, values: list[Any]) -> None:
    """Refuse what Python would answer wrongly for a traced value, without asking it.

    Raises:
        DataDependentError: ST013, an `is` with something else than None; ST020, a pattern of a sequence or mapping.
        TraceError: ST024, such a pattern for a value that has no name.
    """
    if asked == "is None":
        if not values or any(map(tracer.is_optional, values)):
            raise refusal(tracer, "asks, where capture can't see it, whether something is None that may be")
        return
    if not values:
        raise trace_error("ST024", reason="a pattern looks into the result of a call; give that a name first")
    traced = [value for value in values if issubclass(type(value), Proxy)]
    if len(traced) == 2:
        if traced[0] is not traced[1] and any(comes_from_region(tracer, value.node) for value in traced):
            tracer.refusal = data_dependent(traced[0], "is", "ST013")
            raise tracer.refusal
        if traced[0] is not traced[1] and all(value.node.op == "placeholder" for value in traced):
            names = " and ".join(f"`{value.node.target}`" for value in traced)
            tracer.report.add("assumption", f"{names} are not the same object", here())
        elif traced[0].node is not traced[1].node and may_be_one(traced[0].node, traced[1].node):
            tracer.refusal = data_dependent(traced[0], "is", "ST013")
            raise tracer.refusal
        return
    for value in traced:
        known = value.node.op in ("placeholder", "get_attr") or value.node.target in (
            getattr,
            operator.getitem,
        )
        is_tensor = issubclass(tracer._kind(value), torch.Tensor)
        is_told = value.node in tracer.examples or value.node in tracer._kinds or value.node.type is not None
        if is_tensor and (not known or is_told):
            continue
        code, text = ("ST013", "is") if asked == "is" else ("ST020", "match")
        tracer.refusal = data_dependent(value, text, code)
        raise tracer.refusal
