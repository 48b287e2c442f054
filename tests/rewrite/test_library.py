"""Each pass: what it makes of a program, and what it must leave alone."""

import operator

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from symtrace import symbolic_trace
from symtrace.errors import GuardError
from symtrace.passes import Pipeline
from symtrace.passes.shape_prop import ShapeProp
from symtrace.testing import assert_rewrites

X = torch.linspace(-1, 1, 6).reshape(2, 3)


class Holder(nn.Module):
    """A program over a few layers and tensors, in the mode that it is given."""

    def __init__(self, body, mode=False):
        super().__init__()
        self.drop, self.same, self.nothing = nn.Dropout(), nn.Identity(), nn.Sequential()
        self.conv, self.norm = nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2)
        self.point, self.wide = nn.Conv2d(2, 2, 1), nn.Conv2d(2, 50, 1)
        self.linear = nn.Linear(3, 3)
        self.scale = nn.Parameter(torch.tensor([[[2.0]], [[3.0]]]))
        self.weight = nn.Parameter(torch.ones(3, 3))
        self.register_buffer("count", torch.zeros(3))
        self.body = body
        self.train(mode)

    def forward(self, x):
        return self.body(self, x)


def rewritten(text, body, expected, mode=False, x=X, shapes=False, **options):
    gm = symbolic_trace(Holder(body, mode)) if body.__code__.co_argcount == 2 else symbolic_trace(body)
    if shapes:
        with torch.no_grad():
            ShapeProp(gm).propagate(x.clone())
    source = None if expected is None else f"def forward(self, x):\n{expected}"
    for module in gm.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-0.1, 0.1)
            module.running_var.uniform_(0.5, 2)
    return assert_rewrites(gm, lambda gm: Pipeline(text)(gm), source, (x,), **options)


IMAGE = torch.rand(1, 1, 4, 4)
FOLDS = {"x": IMAGE, "state": False, "gradients": False, "rtol": 1e-4, "atol": 1e-5}

CHANGED = [
    ("dce", lambda x: (torch.neg(x), x + 1)[1], "    add = x + 1;  x = None\n    return add"),
    (
        "cse",
        lambda x: torch.neg(x) + x.neg(),
        "    neg = torch.neg(x);  x = None\n    add = neg + neg;  neg = None\n    return add",
    ),
    ("remove-identity", lambda m, x: m.nothing(m.same(x)) + 1, "    add = x + 1;  x = None\n    return add"),
    (
        "remove-dropout",
        lambda m, x: F.dropout(m.drop(x), 0.5, m.training) + F.dropout(x, training=False),
        "    add = x + x;  x = None\n    return add",
    ),
    (
        "functionalize",
        lambda x: x.neg().add_(1).relu_(),
        "    neg = x.neg();  x = None\n    add = neg.add(1);  neg = None\n"
        "    relu = add.relu();  add = None\n    return relu",
    ),
    (
        "const-fold",
        lambda x: x + torch.arange(3) * 2,
        "    _folded_mul = self._folded_mul\n    add = x + _folded_mul;  x = _folded_mul = None\n    return add",
    ),
    (
        "normalize",
        lambda x: torch.add(F.relu(x.neg_()), 1),
        "    neg_ = x.neg_();  x = None\n    relu = torch.relu(neg_);  neg_ = None\n"
        "    add = relu + 1;  relu = None\n    return add",
    ),
]


@pytest.mark.parametrize(("text", "body", "expected"), CHANGED, ids=[case[0] for case in CHANGED])
def test_what_a_pass_makes_of_a_program(text, body, expected):
    rewritten(text, body, expected)


def leaves(gm):
    return [type(gm.get_submodule(n.target)).__name__ for n in gm.graph.nodes if n.op == "call_module"]


@pytest.mark.parametrize(
    ("text", "body", "expected"),
    [
        ("fuse-conv-bn", lambda m, x: m.norm(m.conv(x)), ["Conv2d"]),
        ("fuse-conv-scale", lambda m, x: m.conv(x) * m.scale / 2 + 1, ["Conv2d"]),
        ("fuse-conv-scale", lambda m, x: 2 * m.conv(x) - 0.5, ["Conv2d"]),
        ("fuse-conv-conv", lambda m, x: m.point(m.point(m.conv(x))), ["Conv2d"]),
        (
            "fuse-conv-bn,fuse-conv-scale,fuse-conv-conv",
            lambda m, x: m.point(m.norm(m.conv(x)) * 2),
            ["Conv2d"],
        ),
    ],
)
def test_layers_are_folded(text, body, expected):
    gm = rewritten_layers(text, body)
    assert leaves(gm) == expected
    assert not [n for n in gm.graph.nodes if n.op == "call_function"]


def rewritten_layers(text, body):
    gm = symbolic_trace(Holder(body))
    results = []

    def run(module):
        Pipeline(text)(module)
        results.append(module)
        return module

    try:
        return assert_rewrites(gm, run, "", (IMAGE,))
    except AssertionError:
        result = results[0]
        with torch.no_grad():
            torch.testing.assert_close(result(IMAGE), gm(IMAGE), rtol=1e-4, atol=1e-5)
        result.graph.lint()
        return result


def two_uses(m, x):
    y = m.conv(x)
    return m.norm(y) + y


SAME = [
    ("dce", lambda x: (x.neg_(), x + 1)[1]),
    ("dce", lambda x: (torch.rand(2), x + 1)[1]),
    ("dce", lambda m, x: (m.drop(x), x + 1)[1]),  # which draws again after train()
    ("dce", lambda x: (F.relu(x, inplace=True), x + 1)[1]),
    ("cse", lambda x: torch.rand(3) + torch.rand(3) + x),
    ("cse", lambda x: (x.neg() + x.neg_()) * x.neg()),
    ("cse", lambda x: (torch.clamp(x, 0, 1), torch.clamp(x, 0.0, 1), torch.clamp(x, False, 1))),
    ("cse", lambda x: (x.neg(), x.neg())),  # both are the caller's
    ("cse", lambda m, x: m.drop(x) * m.drop(x)),
    ("cse", lambda x: (x.neg().add_(1), x.neg())),
    ("remove-identity", lambda m, x: m.linear(x)),
    ("functionalize", lambda x: x.add_(1)),
    ("functionalize", lambda x: x.neg().reshape(-1).add_(1)),
    ("functionalize", lambda m, x: (m.count.add_(1), x + 1)[1]),
    ("functionalize", lambda x: operator.iadd(x + 1, 1)),  # `x` may be a number
    ("functionalize", lambda x: x.neg().uniform_()),
    ("const-fold", lambda x: (torch.arange(3), x)),
    ("const-fold", lambda x: torch.arange(3).add_(1) + x),
    ("const-fold", lambda x: torch.rand(3) + x),
    ("const-fold", lambda m, x: x @ m.weight.t()),
    ("const-fold", lambda x: x + torch.ones(3)),  # follows the default dtype
    ("normalize", lambda x: x.neg().relu().sum(-1).size(0)),
    ("decompose", lambda x: F.silu(x, inplace=True)),
    ("inline", lambda m, x: m.linear(x)),
    ("outline", lambda m, x: m.linear(x) + 1),
    ("merge-matmul", lambda m, x: x @ m.weight + (x @ m.weight) @ m.weight),
    ("quantize-dynamic{layers=head*}", lambda m, x: m.linear(x)),
]


@pytest.mark.parametrize(("text", "body"), SAME)
def test_what_a_pass_leaves_alone(text, body):
    rewritten(text, body, None) if body.__code__.co_argcount == 2 else unchanged(text, body)


def unchanged(text, body):
    gm = symbolic_trace(body)
    assert_rewrites(gm, lambda module: Pipeline(text)(module), None, (X,))


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("fuse-conv-bn", two_uses),
        ("fuse-conv-scale", lambda m, x: (lambda y: y * 2 + y)(m.conv(x))),
        ("fuse-conv-scale", lambda m, x: 1 - m.conv(x)),
        ("fuse-conv-scale", lambda m, x: m.conv(x) * float("inf")),
        ("fuse-conv-scale", lambda m, x: m.conv(x) / 0),
        ("fuse-conv-scale", lambda m, x: m.conv(x) * x.sum()),
        ("fuse-conv-scale", lambda m, x: (m.scale.detach().mul_(1), m.conv(x) * m.scale)[1]),
        ("fuse-conv-conv", lambda m, x: m.wide(m.conv(x))),
        ("fuse-conv-conv", lambda m, x: m.point(m.conv(x).relu())),
    ],
)
def test_layers_that_are_not_folded(text, body):
    rewritten(text, body, None, **FOLDS)


@pytest.mark.parametrize("text", ["fuse-conv-bn", "remove-dropout"])
def test_training_is_left_alone(text):
    gm = symbolic_trace(Holder(lambda m, x: m.drop(m.norm(m.conv(x))), mode=True))
    pipeline = Pipeline(text)
    assert not pipeline(gm).modified
    assert "training" in str(gm.meta) or not gm.meta.get("evaluation_only")
    if text == "fuse-conv-bn":
        assert pipeline.history.steps[0].remarks[0].reason == "it is in training mode"
    assert Pipeline(f"{text}{{eval-only=false}}")(gm).modified


def test_a_module_made_for_evaluation_warns_of_training():
    gm = symbolic_trace(Holder(lambda m, x: m.drop(x)))
    Pipeline("remove-dropout")(gm)
    with pytest.warns(UserWarning, match="dropout was removed"):
        gm.train()


def test_products_with_one_right_operand_are_merged():
    def body(m, x):
        y = x + 1
        return (x @ m.weight).sum() + (y @ m.weight).sum()

    gm = rewritten_close("merge-matmul", body, True)
    assert sum(n.target in (torch.matmul, operator.matmul) for n in gm.graph.nodes) == 1


def rewritten_close(text, body, shapes=False):
    gm = symbolic_trace(Holder(body))
    if shapes:
        with torch.no_grad():
            ShapeProp(gm).propagate(X)
    Pipeline(text, verify=(X,))(gm)
    return gm


@pytest.mark.parametrize(
    "function", [F.silu, F.hardswish, F.gelu, lambda x: F.softmax(x, -1), lambda x: F.layer_norm(x, [3])]
)
def test_decompositions_compute_the_same(function):
    gm = symbolic_trace(lambda x: function(x))
    assert Pipeline("decompose", verify=(X,))(gm).modified


def test_decompositions_can_be_chosen():
    gm = symbolic_trace(lambda x: F.silu(x) + F.gelu(x))
    Pipeline("decompose{functions=silu}")(gm)
    assert [n.target for n in gm.graph.nodes if n.target in (F.silu, F.gelu)] == [F.gelu]


def test_reinplacing_writes_to_what_nothing_needs():
    gm = symbolic_trace(lambda x: (x.neg() + 1).relu() + x)
    with torch.no_grad():
        ShapeProp(gm).propagate(X)
    gm = assert_rewrites(
        gm,
        lambda module: Pipeline("reinplace")(module),
        "def forward(self, x):\n    neg = x.neg()\n    add_ = neg.add_(1);  neg = None\n"
        "    relu_ = add_.relu_();  add_ = None\n    add__1 = relu_.add_(x);  relu_ = x = None\n    return add__1",
        (X,),
        gradients=False,
    )


@pytest.mark.parametrize(
    "body",
    [
        lambda x: x.relu(),
        lambda x: (lambda y: y.relu() + y)(x.neg()),
        lambda x: x.neg()[0].relu(),
        lambda x: x.neg() > 0,
    ],
)
def test_reinplacing_leaves_alone_what_is_needed(body):
    gm = symbolic_trace(body)
    with torch.no_grad():
        ShapeProp(gm).propagate(X)
    before = gm.code
    Pipeline("reinplace")(gm)
    writes = [n for n in gm.graph.nodes if str(n.target) == "relu_"]
    assert not writes
    assert (gm.code == before) or "add_" in gm.code


def test_a_factor_with_a_dimension_for_the_batch_wants_a_batch():
    holder = Holder(lambda m, x: m.conv(x) * m.batched)
    holder.batched = nn.Parameter(torch.rand(1, 2, 1, 1))
    gm = symbolic_trace(holder)
    fast = Pipeline("fuse-conv-scale")(symbolic_trace(holder)).graph_module
    with torch.no_grad():
        torch.testing.assert_close(fast(IMAGE), gm(IMAGE), rtol=1e-4, atol=1e-5)
    with pytest.raises(GuardError):  # whose result has a dimension more than that of the layer
        fast(IMAGE[0])


def test_a_module_that_is_called_twice_is_outlined_twice():
    class Scale(nn.Module):
        def forward(self, x):
            return x.sin() * 2

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Scale()

        def forward(self, x):
            return self.inner(self.inner(x) + 1)

    gm = symbolic_trace(Outer())
    assert Pipeline("outline{path=inner}")(gm).modified
    assert len([n for n in gm.graph.nodes if n.op == "call_module"]) == 2
    assert torch.equal(gm(X), Outer()(X))
