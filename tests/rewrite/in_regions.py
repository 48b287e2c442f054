"""Programs with control flow: runs of nodes put into regions at random, without changing what they compute."""

from __future__ import annotations

import operator
import random

from symtrace.ir import Region
from symtrace.ops.control_flow import cond, for_each, while_loop
from symtrace.runtime import Graph


def put_into_regions(gm, choices: random.Random) -> int:
    """Make decisions and loops of runs of nodes.

    Both ways of a decision do the same, and a loop has one round, so that the program means what it meant.

    Returns:
        How many there are.
    """
    graph = gm.graph
    first = next(node for node in graph.nodes if node.op == "placeholder")
    behind = first
    while behind.next.op == "placeholder":
        behind = behind.next
    with graph.inserting_after(behind):
        total = graph.call_method("sum", (first,))
    with graph.inserting_after(total):
        if choices.random() < 0.25:
            predicate = graph.get_attr("training")
        else:
            predicate = graph.call_function(operator.gt, (total, choices.choice((-100, 0, 0, 100))))
    made = sum(_wrap(graph, predicate, choices, 0) for _ in range(choices.randint(1, 3)))
    gm.graph.lint()
    return made


def _wrap(graph, predicate, choices, depth):
    nodes = [
        n
        for n in graph.nodes
        if n.op not in ("placeholder", "output") and (n > predicate or depth) and n is not predicate
    ]
    if not nodes:
        return 0
    start = choices.randrange(len(nodes))
    part = nodes[start : start + choices.randint(1, 8)]
    members = set(part)
    inputs = list(
        dict.fromkeys(used for node in part for used in node.all_input_nodes if used not in members)
    )
    outputs = [node for node in part if any(user not in members for user in node.users)]
    if predicate not in inputs:
        inputs.append(predicate)
    kind = choices.choice(("cond", "cond", "cond", "for", "while"))
    with graph.inserting_before(part[-1].next):
        node = _KINDS[kind](graph, predicate, part, inputs, outputs)
        first = 1 if kind == "while" else 0  # of a loop that counts, the count comes first
        places = range(first, first + len(outputs))
        results = [graph.call_function(operator.getitem, (node, place)) for place in places]
    for old, new in zip(outputs, results, strict=True):
        new.meta.update(old.meta)
        old.replace_all_uses_with(new, delete_user_cb=lambda user: user not in members and user is not new)
    for old in reversed(part):
        graph.erase_node(old)
    made = 1
    if depth < 2 and choices.random() < 0.4:
        for value in node.args:
            if type(value) is Region and choices.random() < 0.7:
                inner = value.graph
                flag = next((n for n in inner.nodes if n.op == "placeholder" and n.target == "flag"), None)
                if flag is not None:
                    made += _wrap(inner, flag, choices, depth + 1)
    return made


def _region(part, inputs, outputs, predicate, extra=0):
    graph = Graph()
    for index in range(extra):
        graph.placeholder(f"carried_{index}")
    values = {used: graph.placeholder("flag" if used is predicate else f"{used.name}_in") for used in inputs}
    for node in part:
        values[node] = graph.node_copy(node, values.__getitem__)
    graph.output(tuple(values[node] for node in outputs))
    return Region(graph)


def _cond(graph, predicate, part, inputs, outputs):
    regions = [_region(part, inputs, outputs, predicate) for _ in range(2)]
    return graph.call_function(cond, (predicate, *regions, tuple(inputs), tuple(inputs)))


def _for(graph, predicate, part, inputs, outputs):
    body = _region(part, inputs, outputs, predicate, extra=len(outputs) + 1)
    return graph.call_function(for_each, ((0,), body, (predicate,) * len(outputs), tuple(inputs)))


def _while(graph, predicate, part, inputs, outputs):
    """A loop that runs while a counter is less than one."""
    body = _region(part, inputs, outputs, predicate, extra=len(outputs) + 1)
    count = next(iter(body.graph.nodes))
    output = body.graph.output_node()
    with body.graph.inserting_before(output):
        more = body.graph.call_function(operator.add, (count, 1))
        goes_on = body.graph.call_function(operator.lt, (more, 1))
    output.args = ((goes_on, more, *output.args[0]),)
    carried = (0, *(predicate,) * len(outputs))
    return graph.call_function(while_loop, (True, body, carried, tuple(inputs)))


_KINDS = {"cond": _cond, "for": _for, "while": _while}
