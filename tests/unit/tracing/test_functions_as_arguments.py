"""Functions given to functions of torch: one node, on a captured function that takes what it uses from outside."""

import copy
import pickle

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import symtrace as fx
from symtrace.ops import program
from symtrace.testing import assert_equivalent

INPUTS = [(torch.randn(3, 4), torch.randn(3, 4)), (torch.randn(5, 4), torch.randn(5, 4))]


class Model(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.lin = nn.Linear(4, 4)
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("offset", torch.rand(4))
        self.body = body

    def forward(self, x, y):
        return self.body(self, x, y)


def reentrant(function, *args):
    return checkpoint(function, *args, use_reentrant=True)


BODIES = {
    "vmap": lambda m, x, y: torch.func.vmap(lambda t: t * 2 + t.sum())(x),
    "vmap of outer values": lambda m, x, y: torch.vmap(lambda t: t * 2 + y.sum() + m.offset)(x),
    "vmap of containers": lambda m, x, y: torch.vmap(lambda t, u: (t * 2, {"a": u + m.offset}))(x, y)[1]["a"],
    "vmap with in_dims": lambda m, x, y: torch.vmap(lambda t, u: t * u, in_dims=(0, None))(x, y.sum()),
    "vmap of an attribute": lambda m, x, y: (lambda turned: torch.vmap(lambda t: t + turned.sum())(x))(y.T),
    "vmap that draws": lambda m, x, y: torch.vmap(
        lambda t: torch.nn.functional.dropout(t, 0.5), randomness="different"
    )(x),
    "grad": lambda m, x, y: torch.func.grad(lambda t: (m.lin(t) ** 2).sum())(x),
    "grad and value": lambda m, x, y: torch.func.grad_and_value(lambda t: (m.lin(t) ** 2).sum())(x)[0],
    "vmap of grad": lambda m, x, y: torch.vmap(torch.func.grad(lambda t: (t.sin() * y.sum()).sum()))(x),
    "jvp": lambda m, x, y: torch.func.jvp(torch.sin, (x,), (y,))[1],
    "vjp": lambda m, x, y: torch.func.vjp(lambda t: m.lin(t), x)[1](y)[0],
    "jacrev": lambda m, x, y: torch.func.jacrev(lambda t: m.lin(t).sum(0))(x),
    "hessian": lambda m, x, y: torch.func.hessian(lambda t: (t**3).sum())(x[0]),
    "jacobian": lambda m, x, y: torch.autograd.functional.jacobian(
        lambda t: (t**3).sum(0), x, create_graph=True
    ),
    "checkpoint": lambda m, x, y: reentrant(lambda t: m.norm(m.lin(t)) * y, x),
    "checkpoint of a layer": lambda m, x, y: reentrant(m.lin, x),
    "checkpoint of two": lambda m, x, y: reentrant(lambda a, b: (a * b, a + m.offset), x, y)[1],
    "functional call": lambda m, x, y: torch.func.functional_call(m.lin, {"weight": m.lin.weight * 2}, (x,)),
}


@pytest.mark.parametrize("name", BODIES)
def test_results_and_gradients_are_those_of_the_original(name):
    model = Model(BODIES[name])
    gm = fx.symbolic_trace(model)
    assert_equivalent(model, gm, INPUTS, modes=(True, False))
    for again in (copy.deepcopy(gm), pickle.loads(pickle.dumps(fx.GraphModule(gm, gm.graph)))):
        torch.manual_seed(0)
        first = gm.eval()(*INPUTS[0])
        torch.manual_seed(0)
        assert torch.equal(again.eval()(*INPUTS[0]), first)


@pytest.mark.parametrize("name", ["vmap", "grad", "checkpoint of two"])
def test_one_node_stands_for_the_call(name):
    gm = fx.symbolic_trace(Model(BODIES[name]))
    targets = [n.target for n in gm.graph.nodes if n.op == "call_function"]
    assert len([t for t in targets if t in (program.transform, program.call_with)]) == 1
    gm.graph.lint()


def up(x):
    return x * 2


def chosen(x):
    return torch.cond(x.sum() > 0, up, lambda t: -t, (x,)) + 1


def chosen_with_outer_values(x):
    y = x * 2
    return torch.cond(x.sum() > 0, lambda z: z + y, lambda z: z - y, (x,))


@pytest.mark.parametrize("value", [3.0, -3.0])
@pytest.mark.parametrize("function", [chosen, chosen_with_outer_values])
def test_cond_decides_at_every_call(function, value):
    gm = fx.symbolic_trace(function)
    calls = [n for n in gm.graph.nodes if n.target is program.call_with_several]
    assert [call.args[0] for call in calls] == [torch.cond]
    x = torch.tensor([value])
    assert torch.equal(gm(x), function(x))


def test_while_loop():
    def program(x):
        return torch.while_loop(lambda i, t: i < 3, lambda i, t: (i + 1, t * 2), (torch.tensor(0), x))[1]

    x = torch.randn(3)
    assert torch.equal(fx.symbolic_trace(program)(x), x * 8)


def test_state_that_such_a_function_assigns_is_refused():
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 0

        def step(self, t):
            self.count = self.count + 1
            return t

        def forward(self, x):
            return torch.vmap(self.step)(x)

    with pytest.raises(fx.TraceError) as caught:
        fx.symbolic_trace(Counts())
    assert caught.value.code == "ST023"


class Recomputed(nn.Module):
    """Changes state in a checkpoint, which does so again backwards."""

    def __init__(self, body):
        super().__init__()
        self.norm = nn.BatchNorm1d(4)
        self.register_buffer("offset", torch.rand(4))
        self.body = body

    def step(self, x):
        return self.body(self, x)

    def forward(self, x, y):
        return checkpoint(self.step, x * y, use_reentrant=False)


def swaps_data(m, x):
    m.offset.data = m.offset.data + 1
    m.offset.add_(1)
    return x * m.offset


@pytest.mark.parametrize("body", [lambda m, x: m.norm(x), swaps_data, lambda m, x: x.relu() * 2])
def test_a_checkpoint_changes_state_again_backwards(body):
    model, twin = Recomputed(body), Recomputed(body)
    twin.load_state_dict(model.state_dict())
    gm = fx.symbolic_trace(twin)
    for number in range(3):
        results = []
        for module in (model, gm):
            torch.manual_seed(number)
            x = torch.randn(3, 4, requires_grad=True)
            result = module(x, torch.randn(3, 4))
            results.append((result, torch.autograd.grad(result.sum(), x)[0], *module.state_dict().values()))
        for one, other in zip(*results, strict=True):
            assert torch.equal(one, other)
