"""Shapes, normal forms, merged products, support tables, sources, drawings, order."""

import operator

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import symtrace.passes
from symtrace import GraphModule, symbolic_trace
from symtrace.errors import GraphEditError
from symtrace.experimental.merge_matmul import are_nodes_independent, may_depend_on, merge_matmul
from symtrace.experimental.normalize import NormalizeArgs, NormalizeOperators
from symtrace.passes.graph_drawer import FxGraphDrawer
from symtrace.passes.operator_support import OperatorSupport, OpSupports, any_chain, chain, create_op_support
from symtrace.passes.shape_prop import ShapeProp, TensorMetadata
from symtrace.passes.tools_common import (
    get_acc_ops_name,
    get_node_target,
    is_node_output_tensor,
    legalize_graph,
    stable_topological_sort,
)
from symtrace.passes.utils.source_matcher_utils import check_subgraphs_connected, get_source_partitions
from symtrace.runtime import Graph


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 3)

    def forward(self, x):
        a = self.lin(x)
        return a.split(1, 1)[0] + a.size(0), a.transpose(0, 1)


def nodes_of(gm):
    return {node.name: node for node in gm.graph.nodes}


def test_shapes_are_noted():
    gm = symbolic_trace(Net())
    x = torch.rand(4, 2)
    result = ShapeProp(gm).propagate(x)
    assert torch.equal(result[1], gm(x)[1])
    nodes = nodes_of(gm)
    assert nodes["lin"].meta["tensor_meta"] == TensorMetadata(
        torch.Size([4, 3]), torch.float32, True, (3, 1), torch.contiguous_format, False, {}
    )
    assert nodes["transpose"].meta["tensor_meta"].memory_format is None
    assert isinstance(nodes["split"].meta["tensor_meta"], tuple)
    assert nodes["size"].meta["type"] is int
    assert "tensor_meta" not in nodes["size"].meta
    assert is_node_output_tensor(nodes["lin"])
    assert not is_node_output_tensor(nodes["size"])


def test_shapes_without_computing():
    from torch._subclasses.fake_tensor import FakeTensorMode

    gm = symbolic_trace(nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)))
    before = {k: v.clone() for k, v in gm.state_dict().items()}
    ShapeProp(gm, FakeTensorMode()).propagate(torch.rand(4, 2))
    assert gm.graph.output_node().meta["tensor_meta"].shape == (4, 3)
    assert all(torch.equal(v, before[k]) for k, v in gm.state_dict().items())


def test_shapes_that_do_not_fit_name_the_node():
    with pytest.raises(
        RuntimeError, match=r"ShapeProp error for: node=%lin .*cannot be multiplied"
    ) as caught:
        ShapeProp(symbolic_trace(Net())).propagate(torch.rand(4, 5))
    assert caught.value.code == "ST234"


def test_arguments_by_keyword():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.act = nn.ReLU()

        def forward(self, x, w):
            return F.linear(self.act(x), w).add(1)

    gm = symbolic_trace(Model())
    text = str(gm.graph)
    normal = NormalizeArgs(gm).transform()
    nodes = nodes_of(normal)
    assert nodes["act"].kwargs.keys() == {"input"}
    assert nodes["linear"].kwargs.keys() == {"input", "weight", "bias"}
    assert nodes["add"].args == (nodes["linear"], 1)
    assert nodes_of(NormalizeArgs(gm, False).transform())["linear"].kwargs == {"bias": None}
    x, w = torch.rand(2), torch.rand(2, 2)
    assert torch.equal(normal(x, w), gm(x, w))
    assert str(gm.graph) == text


def test_one_function_for_each_operator():
    def model(x, y):
        a = torch.add(x, y) * torch.add(x, y, alpha=2)
        return a - torch.div(x, y, rounding_mode="floor") + torch.mul(x, other=y) + torch.lt(x, y)

    gm = symbolic_trace(model)
    normal = NormalizeOperators(gm).transform()
    functions = [n.target for n in normal.graph.nodes if n.op == "call_function"]
    assert functions.count(operator.add) == 3
    assert functions.count(torch.add) == functions.count(torch.div) == 1
    assert {operator.mul, operator.lt} <= set(functions)
    x, y = torch.rand(3), torch.rand(3)
    assert torch.equal(normal(x, y), model(x, y))


class Products(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.rand(3, 3))

    def forward(self, x, y):
        return torch.matmul(x, self.w), torch.matmul(y, self.w)


def products(gm):
    return [n for n in gm.graph.nodes if n.target in (torch.matmul, operator.matmul)]


def test_products_with_one_right_operand_are_merged():
    gm = symbolic_trace(Products())
    x, y = torch.rand(2, 3), torch.rand(4, 3)
    assert len(products(merge_matmul(gm))) == 2
    ShapeProp(gm).propagate(x, y)
    merged = merge_matmul(gm)
    merged.graph.lint()
    assert len(products(merged)) == 1
    assert all(torch.allclose(a, b) for a, b in zip(merged(x, y), gm(x, y), strict=True))
    assert len(products(gm)) == 2


def test_products_that_depend_on_each_other_are_not_merged():
    class Chained(Products):
        def forward(self, x):
            return torch.matmul(torch.matmul(x, self.w), self.w)

    gm = symbolic_trace(Chained())
    ShapeProp(gm).propagate(torch.rand(2, 3))
    assert len(products(merge_matmul(gm))) == 2
    first, second = products(gm)
    assert may_depend_on(second, first)
    assert not may_depend_on(first, second)
    assert not are_nodes_independent([first, second])


def test_support_by_table_and_combined():
    gm = symbolic_trace(Net())
    ShapeProp(gm).propagate(torch.rand(4, 2))
    modules, nodes = dict(gm.named_modules()), nodes_of(gm)
    table = {
        "torch.nn.modules.linear.Linear": None,
        "_operator.add": (([torch.float16],), {}),
        "transpose": None,
    }
    support = OperatorSupport(table)
    verdicts = {
        name: support.is_node_supported(modules, nodes[name]) for name in ("lin", "add", "split", "transpose")
    }
    assert verdicts == {"lin": True, "add": False, "split": False, "transpose": True}
    named = create_op_support(lambda modules, node: node.name == "split")
    assert any_chain(support, named).is_node_supported(modules, nodes["split"])
    assert not chain(support, named).is_node_supported(modules, nodes["lin"])
    assert not OpSupports.decline_if_input_dtype(torch.float32).is_node_supported(modules, nodes["transpose"])
    assert not OpSupports.decline_if_node_in_names({"lin"}).is_node_supported(modules, nodes["lin"])


@pytest.mark.parametrize(
    "target",
    [torch.relu, F.relu, F.gelu, operator.add, torch.ops.aten.add.Tensor, len, torch.einsum,
     torch.linalg.inv, torch.fft.fft, torch.special.erf, F.max_pool2d, torch.conv2d],
)  # fmt: skip
def test_names_of_functions_are_those_of_fx(target):
    import torch.fx
    from torch.fx.passes.tools_common import get_node_target as reference

    graph, theirs = Graph(), torch.fx.Graph()
    ours = graph.call_function(target, ())
    assert get_node_target({}, ours) == reference({}, theirs.call_function(target, ()))
    assert get_acc_ops_name("add") == "add"


def test_graphs_are_brought_into_order():
    graph = Graph()
    x = graph.placeholder("x")
    a = graph.call_function(torch.neg, (x,))
    b = graph.call_function(torch.relu, (x,))
    graph.output((a, b))
    gm = GraphModule({}, graph)
    assert stable_topological_sort(gm) is gm
    assert gm.graph is graph
    assert [n.name for n in legalize_graph(gm).graph.nodes] == ["x", "neg", "relu", "output"]
    assert issubclass(GraphEditError, RuntimeError)


def test_sources():
    gm = symbolic_trace(lambda x: torch.neg(torch.sin(x) + 1))
    nodes = nodes_of(gm)
    nodes["sin"].meta["source_fn_stack"] = [("first", F.silu)]
    nodes["add"].meta["source_fn_stack"] = [("first", F.silu)]
    nodes["neg"].meta["source_fn_stack"] = [("second", F.gelu)]
    found = get_source_partitions(gm.graph, [F.silu, F.gelu, F.relu])
    assert found.keys() == {F.silu, F.gelu}
    (silu,), (gelu,) = found[F.silu], found[F.gelu]
    assert silu.nodes == [nodes["sin"], nodes["add"]]
    assert silu.input_nodes == [nodes["x"]]
    assert silu.output_nodes == [nodes["add"]]
    assert check_subgraphs_connected(silu, gelu)
    assert not check_subgraphs_connected(gelu, silu)
    assert get_source_partitions(gm.graph, [F.silu], lambda node: False) == {}


def test_drawings(tmp_path):
    gm = symbolic_trace(Net())
    drawer = FxGraphDrawer(gm, "net", ignore_getattr=True)
    assert drawer.get_dot_graph().to_string().startswith('digraph "net"')
    drawer.get_dot_graph().write_raw(tmp_path / "net.dot")
    assert "lin" in (tmp_path / "net.dot").read_text()
    assert list(drawer.get_all_dot_graphs()) == ["net"]


def test_modules_are_reached_from_the_package():
    assert symtrace.passes.shape_prop.ShapeProp is ShapeProp
    assert "cse" in dir(symtrace.passes)
    with pytest.raises(AttributeError):
        symtrace.passes.no_such_pass


def test_finding_shapes_leaves_statistics_alone():
    gm = symbolic_trace(nn.Sequential(nn.BatchNorm1d(3)))
    before = {name: value.clone() for name, value in gm.state_dict().items()}
    ShapeProp(gm).propagate(torch.rand(4, 3))
    assert all(torch.equal(value, before[name]) for name, value in gm.state_dict().items())
