"""Cases C40 and C42: Interpreter and Transformer."""

import pytest
import torch

import symtrace as fx
import symtrace.traceback


def varkw(x, **extra):
    return x + extra["bias"]


def varargs_and_varkw(*xs, **extra):
    return xs[0] + xs[1] * extra["bias"]


def keyword_only(x, *, bias, scale=2.0):
    return x * scale + bias


def default(x, bias=1.0):
    return x + bias


ONE, TWO = torch.tensor(1.0), torch.tensor(2.0)
CALLS = [
    (varkw, (ONE,), {"bias": TWO}),
    (varargs_and_varkw, (ONE, TWO), {"bias": TWO}),
    (keyword_only, (ONE,), {"bias": TWO}),
    (keyword_only, (ONE,), {"bias": TWO, "scale": 5.0}),
    (default, (ONE,), {}),
    (default, (ONE,), {"bias": TWO}),
    (default, (), {"x": ONE, "bias": TWO}),
]


@pytest.mark.parametrize(("f", "args", "kwargs"), CALLS)
def test_c40_keywords_work_in_the_interpreter(f, args, kwargs):
    gm = fx.symbolic_trace(f)
    expected = f(*args, **kwargs).item()
    assert gm(*args, **kwargs).item() == expected
    assert fx.Interpreter(gm).run(*args, **kwargs).item() == expected


@pytest.mark.parametrize(("args", "kwargs"), [((), {}), ((ONE, TWO, ONE), {}), ((ONE,), {"wrong": TWO})])
def test_c40_wrong_arguments_are_refused_by_both(args, kwargs):
    gm = fx.symbolic_trace(default)
    with pytest.raises(TypeError):
        gm(*args, **kwargs)
    with pytest.raises((TypeError, RuntimeError)):
        fx.Interpreter(gm).run(*args, **kwargs)


def test_c42_an_identity_transformer_keeps_metadata():
    gm = fx.symbolic_trace(lambda x, y: torch.relu(x) + y.neg())
    for n in gm.graph.nodes:
        n.meta["tag"] = n.name
    with symtrace.traceback.preserve_node_meta():
        out = fx.Transformer(gm).transform()
    assert [(n.name, n.meta.get("tag")) for n in out.graph.nodes] == [
        (n.name, n.name) for n in gm.graph.nodes
    ]


def test_c42_a_replaced_node_inherits_too():
    class Negate(fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(torch.neg if target is torch.relu else target, args, kwargs)

    gm = fx.symbolic_trace(lambda x: torch.relu(x))
    for n in gm.graph.nodes:
        n.meta["tag"] = n.name
    with symtrace.traceback.preserve_node_meta():
        out = Negate(gm).transform()
    assert [n.meta.get("tag") for n in out.graph.nodes] == ["x", "relu", "output"]
