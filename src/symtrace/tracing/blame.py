"""What an error says: the user's line, and what a traced value depends on."""

from __future__ import annotations

import operator
import re
from collections import deque
from typing import Any

from ..diagnostics import Label, Location
from ..errors import DataDependentError, TraceError
from ..ir import Node
from .frames import is_programs, user_frame

__all__ = ["data_dependent", "dependence", "expression", "here", "names_traced", "shown_by", "trace_error"]

_STATEMENTS = ("if", "elif", "while", "assert", "for", "return", "match", "with")


def here(depth: int = 2) -> Location | None:
    """Return the user's line that is running: that which calls Python's own library, where such code runs."""
    frame = first = user_frame(depth)
    while frame is not None and not is_programs(frame):
        frame = frame.f_back
    frame = frame or first
    return None if frame is None else Location.of_frame(frame)


_SHOWS = re.compile(
    r"(?:^|[:;])\s*(?:((?:[\w.\[\]]+\.)?(print|log\w*|debug|info|warn\w*|error|exception|critical|write|_assert"
    r"|_check\w*)\s*\()|(raise|assert)\b)"
)
"""Statements in which the text of a value is for people to read: nothing that they give back is used."""

_TEXT = re.compile(r"""\"[^\"]*\"|'[^']*'""")


def shown_by(location: Location) -> str | None:
    """Return the name of the call, or the statement, whose message a line is making, None if it makes no message.

    The condition of an assertion is none. Where columns are not recorded, as by Python 3.10, it is the line that tells.
    """
    text, span = location.text, location.span
    for match in _SHOWS.finditer(text):
        name = match[2] or match[3]
        if span is None:
            return name
        is_quoted = any(text[: match.start()].count(quote) % 2 for quote in "\"'")
        before = _arguments_before(text[match.end() : span[0]])
        needed = 1 if "assert" in name or "_check" in name else 0
        if (
            not is_quoted
            and span[0] >= match.start(1 if match[2] else 3)
            and before is not None
            and before >= needed
        ):
            return name
    return None


def _arguments_before(text: str) -> int | None:
    """Return how many arguments end in a text, None if the call or the statement does."""
    depth = count = 0
    for character in _TEXT.sub("", text):
        depth += (character in "([{") - (character in ")]}")
        count += character == "," and not depth
        if depth < 0 or (character == ";" and not depth):
            return None
    return count


_TRACED = re.compile(
    r"\b(Parameter)?Proxy\b|'Attribute' object|FakeTensor|numpy\.object_|\bTraced(Int|Float|Bool)\b"
)


def names_traced(error: BaseException) -> bool:
    """Tell whether an exception is about traced values, which the program itself knows nothing of."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    file = "" if trace is None else trace.tb_frame.f_code.co_filename
    is_fake = file.endswith("fake_tensor.py") or "Fake" in type(error).__name__
    if "doesn't define" in str(error):  # what no tensor has either
        return False
    return is_fake or _TRACED.search(str(error)) is not None


def _place(node: Node) -> Location | None:
    if node.origin is None or not node.origin.frames:
        return None
    frame = node.origin.frames[-1]
    return Location(frame.file, frame.line)


_SIGNS = {
    operator.eq: "==", operator.ne: "!=", operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=",
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.floordiv: "//", operator.mod: "%",
    operator.truediv: "/",
}  # fmt: skip


def expression(value: Any, depth: int = 4) -> str:
    """Return a value as the user might have written it."""
    if not isinstance(value, Node):
        return repr(value)
    op, target, args = value.op, value.target, value.args
    if op == "placeholder":
        return str(target)
    if op == "get_attr":
        return f"self.{target}" if target else "self"
    if depth == 0:
        return value.name
    inner = [expression(arg, depth - 1) for arg in args]
    if op == "call_method":
        return f"{inner[0]}.{target}({', '.join(inner[1:])})"
    if target in _SIGNS and len(inner) == 2:
        return f"{inner[0]} {_SIGNS[target]} {inner[1]}"
    if target is getattr and len(args) == 2:
        return f"{inner[0]}.{args[1]}"
    if target is operator.getitem and len(inner) == 2:
        return f"{inner[0]}[{inner[1]}]"
    name = target if isinstance(target, str) else getattr(target, "__name__", str(target))
    return f"{name}({', '.join(inner)})"


def dependence(node: Node) -> tuple[Label, ...]:
    """Return remarks that lead from a value back to the inputs it depends on."""
    chain: list[Node] = []
    inputs: dict[Node, None] = {}
    seen = {node}
    queue = deque([node])
    while queue:
        current = queue.popleft()
        if current.op in ("placeholder", "get_attr"):
            inputs[current] = None
        elif len(chain) < 6:
            chain.append(current)
        for used in current.all_input_nodes:
            if used not in seen:
                seen.add(used)
                queue.append(used)
    labels = [Label(f"value `{node.name}` is `{expression(node)}`", _place(node))] if chain else []
    labels.extend(Label(f"from `{step.name}`", _place(step)) for step in chain[1:])
    for source in inputs:
        what = "argument" if source.op == "placeholder" else "attribute"
        labels.append(Label(f"`{node.name}` depends on {what} `{source.target}`"))
    return tuple(labels)


def data_dependent(
    proxy: Any, asked_for: str, code: str = "ST012", note: str | None = None
) -> DataDependentError:
    """Return the error for a question that only a real value can answer, with a further remark if there is one."""
    location = here(3)
    text = location.text if location is not None else ""
    word = text.split(maxsplit=1)[0].rstrip(":(") if text else ""
    construct = f"`{word}`" if word in _STATEMENTS else f"`{asked_for}`"
    labels = dependence(proxy.node) if note is None else (Label(note), *dependence(proxy.node))
    return DataDependentError(
        code, location=location, labels=labels, construct=construct, asked_for=asked_for,
        node=proxy.node.name,
    )  # fmt: skip


def trace_error(code: str, **fields: Any) -> TraceError:
    """Return a `TraceError` at the user's line."""
    return TraceError(code, location=here(3), **fields)
