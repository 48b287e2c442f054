"""`reinplace`, `splitter_base` and `net_min_base` under the names that torch.fx gives them."""

import pytest
import torch
import torch.fx.passes.operator_support as torch_support
import torch.fx.passes.shape_prop as torch_shape_prop
import torch.fx.passes.splitter_base as torch_splitter
import torch.fx.passes.tools_common as torch_tools

import symtrace
from symtrace import symbolic_trace
from symtrace.passes import net_min_base, operator_support, shape_prop, splitter_base, tools_common
from symtrace.passes.operator_support import create_op_support
from symtrace.passes.reinplace import reinplace


def program(x):
    a = torch.sin(x)
    b = torch.cos(a)
    c = torch.sin(b) + torch.sin(x)
    return torch.relu(c)


X = torch.rand(3)
SUPPORT = create_op_support(lambda modules, node: node.target is torch.sin)


def test_a_module_is_split_into_supported_parts_and_the_rest():
    gm = symbolic_trace(program)
    splitter = splitter_base._SplitterBase(gm, (X,), SUPPORT)
    result = splitter.generate_split_results()
    names = [name for name, _ in result.split_module.named_children()]
    assert names == ["_run_on_acc_0", "_run_on_cpu_1", "_run_on_acc_2", "_run_on_cpu_3"]
    assert torch.equal(result.split_module(X), program(X))
    assert torch.equal(result.submodule_inputs["_run_on_acc_0"][0], X)
    assert not hasattr(gm.graph.node("sin"), "tag")
    assert "call_function sin" in splitter.node_support_preview()
    assert splitter.split_preview().startswith("4 parts")


def test_small_parts_are_left_to_the_rest():
    settings = splitter_base._SplitterSettingBase(min_acc_module_size=2)
    split = splitter_base._SplitterBase(symbolic_trace(program), (X,), SUPPORT, settings)()
    names = [name for name, _ in split.named_children()]
    assert names == ["_run_on_acc_0", "_run_on_cpu_1"]
    assert torch.equal(split(X), program(X))


def test_supported_parts_are_lowered():
    class Lowering(splitter_base._SplitterBase):
        def _lower_model_to_backend(self, mod, inputs):
            return torch.nn.Sequential(mod)

    split = Lowering(symbolic_trace(program), (X,), SUPPORT)()
    assert isinstance(split.get_submodule("_run_on_acc_0"), torch.nn.Sequential)
    assert torch.equal(split(X), program(X))


class Minimizer(net_min_base._MinimizerBase):
    def run_a(self, mod, inputs, report_idx=-1):
        return mod(*inputs)

    def run_b(self, mod, inputs, report_idx=-1):
        for node in mod.graph.find_nodes(op="call_function", target=torch.cos):
            node.target = torch.tan
        return mod(*inputs)


@pytest.mark.parametrize("method", ["binary", "sequential"])
def test_the_wrong_node_is_found(method):
    def compare(a, b, names):
        return 0.0, all(torch.allclose(x, y) for x, y in zip(a, b, strict=True))

    settings = net_min_base._MinimizerSettingBase(traverse_method=method)
    found = Minimizer(symbolic_trace(program), (X,), compare, settings).minimize()
    assert [node.name for node in found] == ["cos"]
    right = Minimizer(symbolic_trace(lambda x: torch.sin(x)), (X,), compare, settings)
    assert right.minimize() == set()


def test_reinplacing_with_sample_arguments():
    gm = symbolic_trace(lambda x: (x.neg() + 1).relu())
    assert reinplace(gm, X) is gm
    assert [n.target for n in gm.graph.nodes if n.op == "call_method"] == ["neg", "add_", "relu_"]
    assert torch.equal(gm(X), (1 - X).relu())


def numbers_between(x):
    size = x.size(0)
    number = size + 1
    twice = number * 2
    y = x * twice
    z = x + size
    return y.sin(), z.cos()


def with_number(x, n):
    a = x + n
    b = a * a.size(0)
    return b.sin()


@pytest.mark.parametrize("unsupported", ["", "mul", "mul_1", "add", "size", "sin", "sin,size"])
@pytest.mark.parametrize(("function", "inputs"), [(numbers_between, (X,)), (with_number, (X, 2))])
def test_only_tensors_pass_between_the_backend_and_the_rest(function, inputs, unsupported):
    results = []
    for fx, finder, fusions in (
        (torch.fx, torch_splitter.FxNetAccNodesFinder, torch_tools.FxNetAccFusionsFinder),
        (symtrace, splitter_base.FxNetAccNodesFinder, tools_common.FxNetAccFusionsFinder),
    ):
        gm = fx.symbolic_trace(function)
        (torch_shape_prop if fx is torch.fx else shape_prop).ShapeProp(gm).propagate(*inputs)
        supports = (torch_support if fx is torch.fx else operator_support).create_op_support
        support = supports(lambda _, node: node.name not in unsupported.split(","))
        found = finder(gm, support, False)()
        groups = fusions(gm, found)()
        results.append(
            ({n.name for n in found}, {n.name: {m.name for m in group} for n, group in groups.items()})
        )
    assert results[0] == results[1]


def test_a_splitter_leaves_what_passes_numbers_to_the_rest():
    gm = symbolic_trace(with_number)
    support = create_op_support(lambda _, node: node.name != "mul")
    names = {node.name for node in splitter_base._SplitterBase(gm, (X, 2), support).acc_nodes}
    assert names == {"add", "sin"}
    settings = splitter_base._SplitterSettingBase(allow_non_tensor=True)
    names = {node.name for node in splitter_base._SplitterBase(gm, (X, 2), support, settings).acc_nodes}
    assert names == {"add", "sin", "size"}
    assert torch.equal(splitter_base._SplitterBase(gm, (X, 2), support)()(X, 2), with_number(X, 2))
