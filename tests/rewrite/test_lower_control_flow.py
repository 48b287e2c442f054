"""Decisions as `torch.cond`: in eager, under torch.export and torch.compile; and what can't be."""

import operator

import pytest
import torch
from torch import nn

from symtrace import capture
from symtrace.ir import Region, all_graphs
from symtrace.ops.control_flow import for_each, torch_cond
from symtrace.passes import PassError, Pipeline
from symtrace.runtime import Graph, GraphModule
from symtrace.testing import assert_equivalent

from .region_programs import NEGATIVE, POSITIVE, WAYS, Net


def two_ways(m, x, y):
    if x.sum() > 0:
        z = m.linear(y).relu()
    else:
        z = y * 2
    return z + 1


def returns_inputs(m, x, y):
    return y if x.sum() > 0 else x


def inside_each_other(m, x, y):
    z = x
    if x.sum() > 0:
        if y.max() > 0:
            z = m.linear(y)
        z = z * 2
    return z.sin()


def several_results(m, x, y):
    if (x > 0).all():
        a, b = y * 2, x
    else:
        a, b = m.weight @ y.t(), y.neg()
        a = a.t().contiguous()
    return a, b


PROGRAMS = [two_ways, returns_inputs, inside_each_other, several_results]


def lowered(body):
    program = Net(body)
    gm = capture(program)
    assert Pipeline("lower-control-flow")(gm).modified
    gm.graph.lint()
    return program, gm


@pytest.mark.parametrize("body", PROGRAMS, ids=[body.__name__ for body in PROGRAMS])
def test_it_runs_in_eager(body):
    program, gm = lowered(body)
    assert "torch.cond(" in gm.code
    for ways in WAYS:
        torch.testing.assert_close(gm(*ways), program(*ways))


@pytest.mark.parametrize("body", PROGRAMS, ids=[body.__name__ for body in PROGRAMS])
def test_it_is_exported_with_both_ways(body):
    program, gm = lowered(body)
    exported = torch.export.export(gm, (POSITIVE, POSITIVE * 2), strict=False)
    assert any("cond" in str(node.target) for node in exported.graph.nodes)
    for ways in WAYS:
        torch.testing.assert_close(exported.module()(*ways), program(*ways))


@pytest.mark.parametrize("body", PROGRAMS, ids=[body.__name__ for body in PROGRAMS])
def test_it_compiles_as_one_graph(body):
    program, gm = lowered(body)
    torch.compiler.reset()
    compiled = torch.compile(gm, backend="eager", fullgraph=True)
    for ways in WAYS:
        torch.testing.assert_close(compiled(*ways), program(*ways))


def test_gradients_flow_through_it():
    program, gm = lowered(two_ways)
    for ways in WAYS:
        found = []
        for module in (program, gm):
            inputs = [value.clone().requires_grad_() for value in ways]
            module(*inputs).sum().backward()
            found.append(inputs[1].grad)
        torch.testing.assert_close(*found)


def halves(m, x, y):
    while x.sum() > 1:
        x = x * 0.5
    return x + y


def decides_inside(m, x, y):
    count = torch.zeros((), dtype=torch.int64)
    while (x * y).norm() > 1:
        if x.sum() > 3:
            x = m.linear(x).tanh()
        else:
            x = x * 0.5
        y = y * 0.5
        count = count + 1
    return x, count


LOOPS = [halves, decides_inside]


@pytest.mark.parametrize("body", LOOPS, ids=[body.__name__ for body in LOOPS])
def test_a_loop_runs_in_eager_and_is_exported_and_compiled_as_one(body):
    program, gm = lowered(body)
    assert "while_loop(" in gm.code
    exported = torch.export.export(gm, (POSITIVE, POSITIVE * 2), strict=False)
    graphs = [part.graph for part in exported.graph_module.modules() if hasattr(part, "graph")]
    assert any("while_loop" in str(node.target) for graph in graphs for node in graph.nodes)
    torch.compiler.reset()
    compiled = torch.compile(gm, backend="eager", fullgraph=True)
    for ways in WAYS:
        expected = program(*ways)
        for run in (gm, exported.module(), compiled):
            torch.testing.assert_close(run(*ways), expected)


def over_a_range(x, n):
    y = x
    for i in range(n.item()):
        y = y * 2 + i
    return y


def backwards_over_a_range(x, n):
    y = x
    for i in range(n.item(), 0, -1):
        y = y + x[i - 1] * i
    return y


def leaves_a_range(x, n):
    for i in range(n.item()):
        if x.sum() > 5:
            break
        x = x + i
    return x


def leaves_a_while(x, n):
    while True:
        x = x * 2
        if x.sum() > n:
            break
    return x


def watches_a_flag(x, n):
    found = False
    while x.sum() < 20 and not found:
        x = x + 1
        if x.max() > n:
            found = True
    return x


def goes_on_and_leaves_inside(x, n):
    y = x
    for i in range(n.item()):
        if x[i] > 2:
            continue
        y = y + i
        for _ in range(i):
            if y.sum() > 30:
                break
            y = y + 1
    return y


COUNTED = [
    over_a_range, backwards_over_a_range, leaves_a_range, leaves_a_while, watches_a_flag, goes_on_and_leaves_inside,
]  # fmt: skip


@pytest.mark.parametrize("body", COUNTED, ids=[body.__name__ for body in COUNTED])
def test_a_loop_that_counts_or_breaks_runs_in_eager_and_is_exported_and_compiled_as_one(body):
    gm = capture(body)
    assert Pipeline("lower-control-flow")(gm).modified
    gm.graph.lint()
    assert "while_loop(" in gm.code
    x = torch.tensor([3.0, 1.0, 2.0, 0.5])
    exported = torch.export.export(gm, (x, torch.tensor(3)), strict=False).module()
    torch.compiler.reset()
    compiled = torch.compile(gm, backend="eager", fullgraph=True)
    for count in (0, 1, 3, 4):
        for run in (gm, exported, compiled):
            assert torch.equal(run(x, torch.tensor(count)), body(x, torch.tensor(count)))


def test_a_range_takes_whole_numbers_only():
    gm = capture(over_a_range)
    Pipeline("lower-control-flow")(gm)
    for run in (over_a_range, gm):
        with pytest.raises(TypeError):
            run(torch.ones(2), torch.tensor(1.5))


def test_gradients_flow_through_a_loop():
    program, gm = lowered(halves)
    for ways in WAYS:
        found = []
        for module in (program, gm):
            inputs = [value.clone().requires_grad_() for value in ways]
            module(*inputs).sum().backward()
            found.append([value.grad for value in inputs])
        torch.testing.assert_close(*found)


def carries_a_float(m, x, y):
    total = 0.5
    while x.sum() > 1:
        x = x * 0.5
        total = total + 1.0
    return x * total + y


def writes(m, x, y):
    if x.sum() > 0:
        m.count.add_(1)
    return y + 1


def numbers(m, x, y):
    return y * (2 if x.sum() > 0 else 3)


def not_a_bool(m, x, y):
    return y * 2 if x.sum() else y * 3


def raises(m, x, y):
    if x.sum() > 100:
        raise ValueError("too much")
    return y + 1


def result_written_to(m, x, y):
    z = x if x.sum() > 0 else y
    z.add_(1)
    return x + y


def carries_a_number(m, x, y):
    count = 0
    while x.sum() < 10:
        x = x + 1
        if x.max() > 3:
            count = count + 1
    return x * count


def gives_a_flag(m, x, y):
    found = False
    while x.sum() < 10:
        x = x + 1
        if x.max() > 3:
            found = not found
    return x, found


REFUSED = [
    writes, numbers, not_a_bool, raises, result_written_to, carries_a_float, carries_a_number, gives_a_flag,
]  # fmt: skip


@pytest.mark.parametrize("body", REFUSED, ids=[body.__name__ for body in REFUSED])
def test_what_can_not_be_lowered_is_an_error(body):
    gm = capture(Net(body))
    before = gm.code
    with pytest.raises(PassError, match="ST247"):
        Pipeline("lower-control-flow")(gm)
    assert gm.code == before
    pipeline = Pipeline("lower-control-flow{skip=true}")
    assert not pipeline(gm).modified
    assert pipeline.history.steps[0].remarks


def test_passes_go_into_what_was_lowered():
    def doubled(m, x, y):
        return (y.sin() + y.sin()) if x.sum() > 0 else y.tan() * 1

    program, gm = lowered(doubled)
    assert Pipeline("cse,dce")(gm).modified
    assert gm.code.count("sin()") == 1
    for ways in WAYS:
        assert_equivalent(program, gm, ways, gradients=False)


def test_loops_over_a_range_are_unrolled():
    body = Graph()
    item, total, x = (body.placeholder(name) for name in ("item", "total", "x"))
    body.output((body.call_method("add", (total, body.call_method("mul", (x, item)))),))
    graph = Graph()
    x = graph.placeholder("x")
    node = graph.call_function(for_each, ((1, 2, 3), Region(body), (x,), (x,)))
    graph.output(graph.call_function(operator.getitem, (node, 0)))
    gm = GraphModule(nn.Module(), graph)
    before = gm(POSITIVE)
    Pipeline("lower-control-flow")(gm)
    assert len(list(all_graphs(gm.graph))) == 1
    assert torch.equal(gm(POSITIVE), before)
    assert gm.code.count("mul(") == 3


def test_the_operation_by_itself_takes_the_way_too():
    program, gm = lowered(two_ways)
    from symtrace import Interpreter

    assert gm.graph.find_nodes(op="call_function", target=torch_cond)
    for ways in ((POSITIVE, NEGATIVE), (NEGATIVE, POSITIVE)):
        torch.testing.assert_close(Interpreter(gm).run(*ways), program(*ways))


def test_a_decision_around_one_that_stays_stays_too():
    def body(m, x, y):
        z = x
        if x.sum() > 0:
            if x.max():
                z = y * 2
            z = z + 1
        return z

    program = Net(body)
    gm = capture(program)
    pipeline = Pipeline("lower-control-flow{skip=true}")
    assert not pipeline(gm).modified
    assert_equivalent(program, gm, POSITIVE)


def test_a_way_that_writes_to_state_in_training_stays_in_evaluation():
    class Normed(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.BatchNorm1d(3)

        def forward(self, x):
            return self.norm(x) if x.sum() > 0 else x * 2

    gm = capture(Normed().eval())
    assert not Pipeline("lower-control-flow{skip=true}")(gm).modified


def over_rows(x: torch.Tensor, h: torch.Tensor):
    for row in x:
        h = torch.tanh(h + row)
    return h


def over_rows_of_a_list(x, h: torch.Tensor):
    for row in x:
        h = torch.tanh(h + row)
    return h


def until_large(x: torch.Tensor, h: torch.Tensor):
    body = Graph()
    row, total = body.placeholder("row"), body.placeholder("total")
    added = body.call_function(operator.add, (total, row))
    small = body.call_function(operator.lt, (body.call_method("sum", (added,)), 5))
    body.output((small, added))
    graph = Graph()
    x, h = (graph.placeholder(name, torch.Tensor) for name in ("x", "h"))
    node = graph.call_function(for_each, (x, Region(body), (h,), (), True))
    graph.output(graph.call_function(operator.getitem, (node, 0)))
    return GraphModule(nn.Module(), graph)


@pytest.mark.parametrize("make", [lambda: capture(over_rows), lambda: until_large(None, None)])
def test_loops_over_the_rows_of_a_tensor_are_counted(make):
    original, gm = make(), make()
    assert Pipeline("lower-control-flow")(gm).modified
    gm.graph.lint()
    assert "while_loop" in gm.code
    for count in (0, 1, 4):
        rows, start = torch.ones(count, 3), torch.zeros(3)
        given = [
            (one.clone().requires_grad_(), two.clone().requires_grad_()) for one, two in [(rows, start)] * 2
        ]
        expected, actual = original(*given[0]), gm(*given[1])
        assert torch.equal(actual, expected)
        expected.sum().backward()
        actual.sum().backward()
        for one, two in zip(*given, strict=True):
            assert torch.equal(torch.zeros(()) if two.grad is None else two.grad.sum(),
                               torch.zeros(()) if one.grad is None else one.grad.sum())  # fmt: skip
    exported = torch.export.export(gm, (torch.ones(4, 3), torch.zeros(3)))
    assert torch.equal(
        exported.module()(torch.ones(4, 3), torch.zeros(3)), original(torch.ones(4, 3), torch.zeros(3))
    )


def test_a_loop_over_what_may_be_a_list_is_not_counted():
    with pytest.raises(PassError, match="not known to be a tensor"):
        Pipeline("lower-control-flow")(capture(over_rows_of_a_list))


def test_an_input_may_have_the_name_of_a_method_that_gives_numbers():
    def decide(size):
        return size * 2 if size.sum() > 0 else size

    gm = capture(decide)
    assert Pipeline("lower-control-flow")(gm).modified
    for value in (torch.ones(2), -torch.ones(2)):
        assert torch.equal(gm(value), decide(value))


def test_loops_over_the_rows_of_what_torch_makes_are_counted():
    def over_products(x, y):
        for row in torch.mul(x, 2):
            y = y + row
        return y

    gm = capture(over_products)
    assert Pipeline("lower-control-flow")(gm).modified
    assert torch.equal(gm(torch.ones(3, 2), torch.zeros(2)), over_products(torch.ones(3, 2), torch.zeros(2)))


def test_a_way_with_thousands_of_operations_is_lowered():
    def decide(x):
        y = x
        if x.sum() > 0:
            for _ in range(3000):
                y = y + 1
        return y

    gm = capture(decide)
    assert Pipeline("lower-control-flow")(gm).modified
    gm.graph.lint()
