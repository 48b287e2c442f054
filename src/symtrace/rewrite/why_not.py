"""Why a pattern does not match at a node."""

from __future__ import annotations

from typing import Any

from ..analysis import EffectAnalysis, computes_number
from ..errors import ArgumentError
from ..ir import Node
from ..ops.canonical import same_literal
from .matcher import InternalMatch, SubgraphMatcher, same_constant, same_module
from .pattern import call_of, head, is_node
from .placement import Placer
from .sources import graph_of
from .wildcard import is_wildcard, wildcard_call

__all__ = ["why_not"]


def why_not(pattern: Any, node: Node, *, normalize: bool = False, any_path: bool = False) -> str | None:
    """Return the first reason why a pattern does not end at a node, or None if `replace_pattern` would take
    it.

    Args:
        pattern: A callable, an nn.Module, a GraphModule or a Graph.
        node: The node that should compute the first result of the pattern.
        normalize: As for `replace_pattern`.
        any_path: As for `replace_pattern`.

    Raises:
        PatternError: The pattern can't be used (ST202, ST203, ST207).
        ArgumentError: `node` is no node of a graph (ST112).

    >>> import torch, symtrace
    >>> gm = symtrace.symbolic_trace(lambda x: torch.flatten(x, 2))
    >>> why_not(lambda x: torch.flatten(x, 1), gm.graph.node("flatten"))
    '`flatten` of the pattern: 1 is wanted, `flatten` has 2'
    """
    if not isinstance(node, Node) or node.erased:
        raise ArgumentError("ST112", what="node", expected="a node of a graph", actual=type(node).__name__)
    graph, _ = graph_of("pattern", pattern)
    matcher = SubgraphMatcher(graph, remove_overlapping_matches=False, normalize=normalize, any_path=any_path)
    anchor = matcher.compiled.anchors[0]
    found: list[InternalMatch] = []

    def accept(match: InternalMatch) -> bool:
        if match.nodes_map[anchor] is node:
            found.append(match)
        return False

    matcher.match(node.graph, accept=accept)
    if found:
        if any(Placer(EffectAnalysis(node.graph)).place(match) for match in found):
            return None
        return "the nodes match, but an effect that must not be crossed stands between them"
    return _difference(matcher, anchor, node) or (
        f"everything up to `{node}` agrees, but a node inside the match is used outside it too, or another result"
        " of the pattern has no match"
    )


def _difference(matcher: SubgraphMatcher, anchor: Node, node: Node) -> str | None:
    """Return the first difference, walking both graphs against the flow of values."""
    bound: dict[Node, Any] = {}
    pairs: list[tuple[Any, Any, Node, Node]] = [(anchor, node, anchor, node)]
    while pairs:
        wanted, value, owner, holder = pairs.pop()
        where = f"`{owner}` of the pattern"
        if not is_node(wanted):
            reason = _literals(wanted, value, pairs, owner, holder)
            if reason is not None:
                return f"{where}: {reason}"
        elif wanted in bound:
            if bound[wanted] is not value:
                return f"{where}: `{wanted}` stands for `{bound[wanted]}` already, `{holder}` has `{value}`"
        elif wanted.op == "placeholder":
            if is_node(value) and value in bound.values():
                return f"{where}: `{wanted}` and another input would both stand for `{value}`"
            bound[wanted] = value
        elif not is_node(value):
            return f"{where}: the value of `{wanted}` is wanted, `{holder}` has {value!r}"
        else:
            reason = _calls(matcher, wanted, value, pairs)
            if reason is not None:
                return reason
            bound[wanted] = value
    return None


def _literals(
    wanted: Any, value: Any, pairs: list[tuple[Any, Any, Node, Node]], owner: Node, holder: Node
) -> str | None:
    both = isinstance(wanted, list | tuple) and isinstance(value, list | tuple)
    if both and len(wanted) == len(value):
        pairs += [(w, v, owner, holder) for w, v in reversed(list(zip(wanted, value, strict=True)))]
        return None
    if is_node(value) or not same_literal(wanted, value):
        return f"{wanted!r} is wanted, `{holder}` has {value!r}"
    return None


def _calls(
    matcher: SubgraphMatcher, wanted: Node, value: Node, pairs: list[tuple[Any, Any, Node, Node]]
) -> str | None:
    """Compare what two nodes call, and put their operands on the list."""
    pattern = matcher.compiled
    if is_wildcard(wanted):
        mine, theirs = (wildcard_call(node).forms[0][1] for node in (wanted, value))
        if not value.op.startswith("call_") or len(mine) != len(theirs):
            return f"`{wanted}` of the pattern is a call of {len(mine)} values, `{value}` is not"
        pairs += [(w, v, wanted, value) for w, v in reversed(list(zip(mine, theirs, strict=True)))]
        return None
    if head(wanted, pattern.normalize) != head(value, pattern.normalize):
        return f"`{wanted}` of the pattern calls {_target(wanted)}, `{value}` calls {_target(value)}"
    if {wanted.op, value.op} == {"call_module"} and not same_module(wanted, value, matcher.any_path):
        return f"`{wanted}` of the pattern and `{value}` call modules with other settings, weights or paths"
    if value.target is not wanted.target and computes_number(value):
        return f"`{value}` computes a number, `{wanted}` of the pattern need not"
    if wanted.op == "get_attr" and not same_constant(wanted, value):
        return f"`{wanted}` of the pattern and `{value}` are constants with different values"
    call, forms = pattern.call(wanted), dict(call_of(value, pattern.normalize).forms)
    common = next(((values, forms[index]) for index, values in call.forms if index in forms), None)
    if common is None or len(common[0]) != len(common[1]):
        return f"`{wanted}` of the pattern and `{value}` have arguments for different overloads"
    pairs += [(w, v, wanted, value) for w, v in reversed(list(zip(*common, strict=True)))]
    return None


def _target(node: Node) -> str:
    target = node.target
    return f"`{target}`" if isinstance(target, str) else f"`{getattr(target, '__name__', target)}`"
