"""What each kind of call does besides computing its value."""

import math
import operator

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from symtrace import ops
from symtrace.ops import Effect, effects, is_removable
from symtrace.ops.program import enter_mode, exit_mode, guard
from symtrace.runtime import Graph, GraphModule

aten = torch.ops.aten


def of(target, *args, **kwargs):
    return effects("call_function", target, args, kwargs)


PURE = [
    torch.add,
    torch.relu,
    F.relu,
    F.gelu,
    torch.zeros,
    torch.tensor,
    torch.cat,
    operator.add,
    operator.getitem,
    len,
    getattr,
    math.sqrt,
    aten.add.Tensor,
    aten.view.default,
    torch.linalg.inv,
    torch.fft.fft,
    torch.finfo,
    torch.special.erf,
    torch.einsum,
    F.max_pool2d,
    torch.norm,
    torch.Size,
    torch.Tensor.add,
    torch.is_grad_enabled,
    isinstance,
    F.scaled_dot_product_attention,
    torch.split,
    torch.device,
]


@pytest.mark.parametrize("target", PURE)
def test_plain_functions_are_pure(target):
    assert of(target, "x").is_pure
    assert is_removable(of(target, "x"))


WRITES = [
    (torch.relu_, ("x",), {}, ("x",)),
    (F.relu_, ("x",), {}, ("x",)),
    (F.relu, ("x", True), {}, ("x",)),
    (F.relu, ("x",), {"inplace": True}, ("x",)),
    (F.leaky_relu, ("x", 0.1, True), {}, ("x",)),
    (F.hardtanh, ("x", -1.0, 1.0, True), {}, ("x",)),
    (torch.add, ("x", 5), {"out": "o"}, ("o",)),
    (torch.norm, ("x",), {"out": "o"}, ("o",)),
    (operator.iadd, ("x", 1), {}, ("x",)),
    (operator.setitem, ("x", 0, 1), {}, ("x",)),
    (operator.delitem, ("x", 0), {}, ("x",)),
    (setattr, ("x", "n", 1), {}, ("x",)),
    (next, ("it",), {}, ("it",)),
    (torch.Tensor.add_, ("x", 1), {}, ("x",)),
    (aten.add_.Tensor, ("x", 1), {}, ("x",)),
    (aten.add.out, ("x", "y"), {"out": "o"}, ("o",)),
    (torch._foreach_add_, (["x"], 1), {}, (["x"],)),
    (nn.init.zeros_, ("x",), {}, ("x",)),
    (F.batch_norm, ("x", "m", "v", "w", "b", True), {}, ("m", "v")),
    (F.batch_norm, ("x", "m", "v"), {"training": True}, ("m", "v")),
    (torch.batch_norm, ("x", "w", "b", "m", "v", True, 0.1, 1e-5, False), {}, ("m", "v")),
    (F.instance_norm, ("x", "m", "v"), {}, ("m", "v")),
    (F.embedding, ("i", "w"), {"max_norm": 1.0}, ("w",)),
]


@pytest.mark.parametrize(("target", "args", "kwargs", "written"), WRITES)
def test_writes_name_their_operands(target, args, kwargs, written):
    effect = effects("call_function", target, args, kwargs)
    assert effect.written(args, kwargs) == written
    assert not is_removable(effect)


READS = [
    (F.relu, ("x", False), {}),
    (F.relu, ("x",), {"inplace": False}),
    (torch.add, ("x", 5), {"out": None}),
    (F.batch_norm, ("x", "m", "v", "w", "b", False), {}),
    (F.batch_norm, ("x", None, None, "w", "b", True), {}),
    (F.instance_norm, ("x", "m", "v"), {"use_input_stats": False}),
    (F.embedding, ("i", "w"), {}),
    (F.dropout, ("x", 0.5, False), {}),
    (F.dropout, ("x",), {"training": False}),
    (torch.dropout, ("x", 0.5, False), {}),
    (F.rrelu, ("x",), {}),
]


@pytest.mark.parametrize(("target", "args", "kwargs"), READS)
def test_switched_off_effects_are_none(target, args, kwargs):
    assert effects("call_function", target, args, kwargs).is_pure


RANDOM = [
    (torch.rand, (3,), {}),
    (torch.randperm, (3,), {}),
    (torch.randn_like, ("x",), {}),
    (torch.bernoulli, ("x",), {}),
    (torch.multinomial, ("x", 1), {}),
    (F.dropout, ("x",), {}),
    (F.dropout, ("x", 0.5, "training"), {}),
    (torch.dropout, ("x", 0.5, True), {}),
    (F.rrelu, ("x",), {"training": True}),
    (F.gumbel_softmax, ("x",), {}),
    (F.scaled_dot_product_attention, ("q", "k", "v"), {"dropout_p": 0.1}),
    (aten.poisson.default, ("x",), {}),
    (nn.init.normal_, ("x",), {}),
]


@pytest.mark.parametrize(("target", "args", "kwargs"), RANDOM)
def test_random_draws(target, args, kwargs):
    effect = effects("call_function", target, args, kwargs)
    assert effect.random
    assert not is_removable(effect)


def test_random_draws_may_go_on_request():
    assert is_removable(of(torch.rand, 3), keep_random=False)


IMPURE = [
    torch.manual_seed,
    torch._C._set_grad_enabled,
    torch.set_grad_enabled,
    print,
    lambda x: x,
    torch.set_autocast_enabled,
    torch.amp.autocast_mode._enter_autocast,
]


@pytest.mark.parametrize("target", IMPURE)
def test_other_effects_and_unknown_functions(target):
    assert of(target, "x").impure
    assert not is_removable(of(target, "x"))


@pytest.mark.parametrize("target", [torch._assert, aten._assert_async.msg, guard, torch._check])
def test_checks_stay_but_touch_nothing(target):
    effect = of(target, "x")
    assert effect.check
    assert not effect.impure
    assert not effect.is_pure
    assert not is_removable(effect)


@pytest.mark.parametrize("target", [enter_mode, exit_mode, torch._C._set_grad_enabled, torch.manual_seed])
def test_modes_are_barriers(target):
    assert of(target, "x").barrier


def test_declarations_change_the_answer_at_once():
    def mine(x):
        return x

    assert of(mine, "x").impure
    assert ops.pure(mine) is mine
    assert of(mine, "x").is_pure
    assert ops.has_side_effect(mine) is mine
    assert of(mine, "x").impure
    assert ops.random(mine) is mine
    assert of(mine, "x").random


def test_functions_registered_with_torch_fx_count():
    import torch.fx

    @torch.fx.has_side_effect
    def theirs(x):
        return x

    assert of(theirs, "x").impure


def test_target_states_its_own_effect():
    def mine(x):
        return x

    mine.__symtrace_effect__ = lambda args, kwargs: Effect(mutates=(1,)) if len(args) > 1 else Effect()
    assert of(mine, "x").is_pure
    assert of(mine, "x", "y").mutates == (1,)


@pytest.mark.parametrize(
    "name", ["add_", "copy_", "relu_", "requires_grad_", "__setitem__", "__iadd__", "append", "pop"]
)
def test_writing_methods(name):
    assert effects("call_method", name, ("x",), {}).mutates == (0,)


@pytest.mark.parametrize(
    "name", ["add", "view", "size", "item", "sort", "clone", "keys", "__getitem__", "__int__"]
)
def test_pure_methods(name):
    assert effects("call_method", name, ("x",), {}).is_pure


def test_methods_that_no_tensor_has_are_unknown():
    assert effects("call_method", "frobnicate", ("x",), {}).impure
    assert effects("call_method", "backward", ("x",), {}).impure
    assert effects("call_method", "bernoulli", ("x",), {}).random


@pytest.mark.parametrize(
    ("target", "aliases"),
    [("view", True), ("detach", True), ("to", True), ("add", False), ("clone", False), ("type_as", True)],
)
def test_aliasing_of_methods(target, aliases):
    assert effects("call_method", target, ("x",), {}).returns_alias is aliases


class Marked(nn.ReLU):
    _is_impure = True


class Own(nn.Module):
    def forward(self, x):
        return x


class Promised(Own):
    _is_impure = False


class Inherited(nn.Linear):
    pass


def hooked():
    module = nn.Linear(2, 2)
    module.register_forward_hook(lambda *_: None)
    return module


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        (nn.ReLU(), Effect()),
        (Inherited(2, 2), Effect()),
        (nn.BatchNorm2d(3).eval(), Effect()),
        (nn.Identity(), Effect(returns_alias=True)),
        (nn.ReLU(inplace=True), Effect(mutates=(0,), returns_alias=True)),
        (nn.Sequential(nn.Linear(2, 2), nn.ReLU(True)), Effect(mutates=(0,), returns_alias=True)),
        (nn.Dropout(), Effect(random=True, returns_alias=True)),
        (nn.Dropout().eval(), Effect(returns_alias=True)),
        (nn.BatchNorm2d(3), Effect(writes_state=True)),
        (nn.InstanceNorm2d(3), Effect()),
        (nn.InstanceNorm2d(3, track_running_stats=True), Effect(writes_state=True)),
        (nn.Embedding(3, 3, max_norm=1.0), Effect(writes_state=True)),
        (nn.TransformerEncoderLayer(4, 2), Effect(random=True, returns_alias=True)),
        (nn.TransformerEncoderLayer(4, 2).eval(), Effect(returns_alias=True)),
        (Promised(), Effect(returns_alias=True)),
    ],
    ids=lambda v: type(v).__name__,
)
def test_modules(module, expected):
    assert effects("call_module", "m", ("x",), {}, module) == expected


@pytest.mark.parametrize("module", [None, Own(), Marked(), hooked(), nn.Sequential(Own()), nn.LazyLinear(2)])
def test_unknown_modules_may_do_anything(module):
    assert effects("call_module", "m", ("x",), {}, module).impure


def test_structural_nodes_have_no_effect():
    for op in ("placeholder", "get_attr", "output"):
        assert effects(op, "x", (), {}).is_pure


def graph_module(*functions):
    graph = Graph()
    value = graph.placeholder("x")
    for function in functions:
        value = graph.call_function(function, (value,))
    graph.output(value)
    return GraphModule({}, graph)


@pytest.mark.parametrize(
    ("functions", "expected"),
    [
        ((torch.sin, torch.neg), Effect(returns_alias=True)),
        ((torch.sin, torch.bernoulli), Effect(random=True, returns_alias=True)),
        ((torch.sin, torch.relu_), Effect(impure=True, returns_alias=True)),
        ((print,), Effect(impure=True, returns_alias=True)),
    ],
)
def test_a_module_that_runs_a_graph_has_the_effects_of_its_nodes(functions, expected):
    module = graph_module(*functions)
    assert effects("call_module", "m", ("x",), {}, module) == expected
    outer = Graph()
    outer.output(outer.call_module("inner", (outer.placeholder("x"),)))
    assert effects("call_module", "m", ("x",), {}, GraphModule({"inner": module}, outer)) == expected
    module.register_forward_hook(lambda *_: None)
    assert effects("call_module", "m", ("x",), {}, module).impure
