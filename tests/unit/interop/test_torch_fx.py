"""Conversion to torch.fx and back loses nothing."""

from __future__ import annotations

import collections
import operator
from typing import Any

import pytest
import torch
import torch.fx
from torch import nn

from symtrace.codegen import CodeGen, PyTreeCodeGen, PyTreeInfo
from symtrace.errors import ArgumentError, GraphEditError
from symtrace.interop import from_torch_fx, from_torch_graph, make_fx, to_torch_fx, to_torch_graph
from symtrace.runtime import Graph, GraphModule


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.ReLU()])
        self.scale = nn.Parameter(torch.full((3,), 2.0))
        self.register_buffer("offset", torch.arange(3.0), persistent=False)
        self.depth = 7


def build() -> GraphModule:
    """A module with every op kind, nested arguments, a default and metadata."""
    graph = Graph()
    x = graph.placeholder("x", type_expr=torch.Tensor)
    bias = graph.placeholder("bias", default_value=1.0)
    y = graph.call_module("layers.1", (graph.call_module("layers.0", (x,)),))
    scaled = graph.call_function(operator.mul, (y, graph.get_attr("scale")))
    stacked = graph.call_function(torch.stack, ([scaled, graph.get_attr("offset")],), {"dim": 0})
    part = graph.call_function(operator.getitem, (stacked, (slice(0, 1), None)))
    total = graph.call_method("add", (part, bias), {"alpha": 2})
    graph.output({"total": total, "parts": (scaled, [y])}, type_expr=dict)
    y.meta["tag"] = ["kept"]
    y.name = "activation"
    return GraphModule.from_module(Net(), graph)


def rows(graph: Any) -> list[tuple[Any, ...]]:
    return [(n.op, n.name, n.target, repr(n.args), repr(n.kwargs), n.type, dict(n.meta)) for n in graph.nodes]


def test_nodes_are_the_same():
    gm = build()
    assert rows(to_torch_fx(gm).graph) == rows(gm.graph)
    assert rows(to_torch_graph(gm.graph)) == rows(gm.graph)


def test_results_are_the_same():
    gm = build()
    x = torch.randn(3)
    for args in ((x,), (x, 5.0)):
        torch.testing.assert_close(to_torch_fx(gm)(*args), gm(*args), rtol=0, atol=0)


def test_round_trip_from_ours():
    gm = build()
    back = from_torch_fx(to_torch_fx(gm))
    assert rows(back.graph) == rows(gm.graph)
    assert str(back.graph) == str(gm.graph)
    assert back.code == gm.code
    back.graph.lint()


def test_round_trip_from_theirs():
    def program(x: torch.Tensor, *rest: Any, y: float = 2.0) -> Any:
        return {"a": (x * y).relu().split(1)[0], "b": [x.T, torch.nn.functional.pad(x, (0, 1))]}

    theirs = torch.fx.symbolic_trace(program)
    for n in theirs.graph.nodes:
        n.meta["tag"] = n.name
    back = to_torch_fx(from_torch_fx(theirs))
    assert rows(back.graph) == rows(theirs.graph)
    assert back.code == theirs.code


def test_state_is_shared_and_complete():
    gm = build()
    for other in (to_torch_fx(gm), from_torch_fx(to_torch_fx(gm))):
        assert other.scale is gm.scale
        assert other.offset is gm.offset
        assert other.layers is gm.layers
        assert type(other.layers) is nn.ModuleList
        assert other.depth == 7
        assert list(other.state_dict()) == list(gm.state_dict())
        assert type(other).__name__ == type(gm).__name__
        other.extra = nn.Linear(1, 1)
        assert not hasattr(gm, "extra")


def test_mode_hooks_and_metadata_of_the_module():
    gm = build().eval()
    gm.meta["note"] = 1
    gm.register_forward_hook(lambda module, args, out: {**out, "hooked": True})
    theirs = to_torch_fx(gm)
    assert theirs.training is False
    assert theirs.meta["note"] == 1
    assert theirs(torch.ones(3))["hooked"]
    assert from_torch_fx(theirs)(torch.ones(3))["hooked"]


def test_metadata_dicts_are_copies():
    gm = build()
    theirs = to_torch_fx(gm)
    next(iter(theirs.graph.nodes)).meta["new"] = 1
    assert "new" not in next(iter(gm.graph.nodes)).meta


@pytest.mark.parametrize("kind", ["keyword_only", "positional_only"])
def test_parameter_kinds_survive(kind: str):
    graph = Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    (y if kind == "keyword_only" else x).kind = kind
    graph.output(graph.call_function(operator.sub, (x, y)))
    gm = GraphModule(nn.Module(), graph)
    theirs = to_torch_fx(gm)
    assert ("*, y" if kind == "keyword_only" else "x, /") in theirs.code
    assert theirs(5, y=3) == 2
    back = from_torch_fx(theirs)
    assert [n.kind for n in back.graph.nodes] == [n.kind for n in gm.graph.nodes]
    assert all("symtrace" not in n.meta for n in back.graph.nodes)
    assert back.code == gm.code


def test_nested_arguments():
    ph = torch.fx.PH
    theirs = torch.fx.symbolic_trace(
        lambda xs, d: {"sum": xs[0] + xs[1] * d["k"]}, concrete_args={"xs": [ph, ph], "d": {"k": ph}}
    )
    ours = from_torch_fx(theirs)
    assert isinstance(ours.graph._codegen, PyTreeCodeGen)
    args = ([torch.ones(1), torch.ones(1)], {"k": torch.full((1,), 3.0)})
    assert ours(*args) == theirs(*args) == to_torch_fx(ours)(*args)
    assert from_torch_fx(to_torch_fx(ours)).code == ours.code


def test_nested_arguments_of_a_module():
    class Takes(nn.Module):
        def forward(self, d: Any) -> Any:
            return d["a"] + 1

    theirs = torch.fx.symbolic_trace(Takes(), concrete_args={"d": {"a": torch.fx.PH}})
    ours = from_torch_fx(theirs)
    assert ours({"a": torch.ones(1)}).item() == 2.0
    assert to_torch_fx(ours)({"a": torch.ones(1)}).item() == 2.0


def test_our_own_nested_arguments():
    import torch.utils._pytree as pytree

    graph = Graph()
    a, b = graph.placeholder("xs_1"), graph.placeholder("xs_2")
    graph.output([graph.call_function(operator.add, (a, b))])
    info = PyTreeInfo(["xs"], pytree.tree_structure([[0, 0]]), pytree.tree_structure({"sum": 0}))
    graph.set_codegen(PyTreeCodeGen(info))
    gm = GraphModule(nn.Module(), graph)
    assert gm([1, 2]) == {"sum": 3}
    assert to_torch_fx(gm)([1, 2]) == {"sum": 3}
    assert from_torch_fx(to_torch_fx(gm))([1, 2]) == {"sum": 3}


def test_a_code_generator_of_the_users():
    class Listed(CodeGen):
        def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
            text = super().gen_fn_def(["inputs"], maybe_return_annotation)
            return f"{text}\n    {', '.join(free_vars)}, = inputs"

        def process_inputs(self, *args: Any) -> Any:
            return args[0]

    graph = Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    graph.output(graph.call_function(operator.sub, (x, y)))
    codegen = Listed()
    graph.set_codegen(codegen)
    gm = GraphModule(nn.Module(), graph)
    assert gm([5, 3]) == 2
    theirs = to_torch_fx(gm)
    assert theirs([5, 3]) == 2
    assert from_torch_fx(theirs).graph._codegen is codegen


def test_body_transformers_are_kept():
    gm = build()
    gm.graph.on_generate_code(lambda old: lambda body: ["print('called')\n", *body])
    assert "print('called')" in to_torch_fx(gm).code
    assert "print('called')" in from_torch_fx(to_torch_fx(gm)).code


def test_exported_programs_come_in():
    class Adds(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(2, 2)

        def forward(self, x: torch.Tensor, *, scale: torch.Tensor) -> Any:
            return {"y": self.fc(x) * scale}

    model = Adds()
    x, scale = torch.ones(1, 2), torch.ones(1)
    exported = torch.export.export(model, (x,), {"scale": scale}).module(check_guards=False)
    ours = from_torch_fx(exported)
    torch.testing.assert_close(ours(x, scale=scale), model(x, scale=scale))


def test_make_fx():
    gm = make_fx(lambda x: torch.nn.functional.silu(x) * 2)(torch.randn(3))
    assert isinstance(gm, GraphModule)
    assert [n.target for n in gm.graph.nodes if n.op == "call_function"] == [
        torch.ops.aten.silu.default,
        torch.ops.aten.mul.Tensor,
    ]
    x = torch.randn(3)
    assert torch.equal(gm(x), torch.nn.functional.silu(x) * 2)


def test_a_backend_may_take_and_give_ours():
    seen = []

    def backend(theirs: torch.fx.GraphModule, inputs: Any) -> Any:
        ours = from_torch_fx(theirs)
        seen.append(len(ours.graph.nodes))
        return ours.forward

    torch._dynamo.reset()
    compiled = torch.compile(lambda x: torch.relu(x) * 2, backend=backend, fullgraph=True)
    x = torch.randn(4)
    assert torch.equal(compiled(x), torch.relu(x) * 2)
    assert seen


@pytest.mark.parametrize("convert", [to_torch_fx, from_torch_fx, to_torch_graph, from_torch_graph])
@pytest.mark.parametrize("wrong", [None, 3, nn.Linear(1, 1), collections.OrderedDict()])
def test_what_is_no_graph_is_refused(convert: Any, wrong: Any):
    with pytest.raises(ArgumentError) as caught:
        convert(wrong)
    assert caught.value.code == "ST112"


def test_a_broken_graph_of_theirs_is_refused():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    late = graph.call_function(torch.neg, (x,))
    early = graph.call_function(torch.relu, (x,))
    graph.output(early)
    early.append(late)
    early.args = (late,)
    with pytest.raises((GraphEditError, KeyError)):
        from_torch_graph(graph)
