"""Capture with example inputs: what is known of a value, what stays free, and what is checked."""

import collections
import copy
import dataclasses
import inspect

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import symtrace
from symtrace.errors import ArgumentError, GuardError, TraceError

X = torch.randn(2, 5, 8)


def agree(program, module, *inputs):
    """Check that a captured program and the original give the same for the same inputs."""
    for given in inputs:
        expected, actual = program(*given), module(*given)
        flat = torch.utils._pytree.tree_leaves
        for one, two in zip(flat(expected), flat(actual), strict=True):
            assert torch.equal(one, two) if isinstance(one, torch.Tensor) else one == two


class TestSizes:
    def attention(self, x):
        batch, length, width = x.shape
        heads = x.view(batch, length, 2, width // 2).transpose(1, 2)
        scores = heads @ heads.transpose(-1, -2) / (width // 2) ** 0.5
        mask = torch.ones(length, length, dtype=torch.bool, device=x.device).tril()
        scores = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        return (scores @ heads).transpose(1, 2).reshape(batch, length, -1) + torch.arange(length)[:, None]

    def test_a_graph_is_right_for_other_sizes(self):
        module = symtrace.capture(self.attention, (X,))
        agree(
            self.attention,
            module,
            (X,),
            (torch.randn(1, 5, 8),),
            (torch.randn(7, 3, 8),),
            (torch.randn(2, 1, 4),),
        )

    def test_numbers_made_from_sizes_stay_numbers(self):
        def program(x):
            rows = x.size(0)
            return (
                rows * 2 + len(x),
                x.numel() // 3,
                x.shape[-1] / 2,
                -rows,
                rows**2,
                divmod(rows, 2),
                round(rows / 3),
            )

        agree(program, symtrace.capture(program, (X,)), (X,), (torch.randn(3, 4, 6),))

    def test_a_loop_over_a_size_is_unrolled_and_checked(self):
        def program(x):
            return sum(x[:, index] * index for index in range(x.shape[1]))

        module = symtrace.capture(program, (X,))
        agree(program, module, (X,), (torch.randn(3, 5, 2),))
        with pytest.raises(GuardError, match=r"x\.shape\[1\] is 5"):
            module(torch.randn(2, 6, 8))

    def test_isinstance_and_type_tell_the_truth(self):
        def program(x):
            n = x.shape[0]
            assert isinstance(n, int)
            assert not isinstance(n, float)
            assert isinstance(x, torch.Tensor)
            assert not isinstance(x, nn.Parameter)
            assert torch.is_tensor(x)
            assert isinstance(x.shape, torch.Size)
            assert not isinstance(x, torch._subclasses.FakeTensor)
            return x * n

        agree(program, symtrace.capture(program, (X,)), (X,), (torch.randn(3, 2, 2),))

    def test_a_dict_key_pins_a_size(self):
        table = {2: 10.0, 3: 20.0}
        module = symtrace.capture(lambda x: x * table[x.shape[0]], (X,))
        with pytest.raises(GuardError):
            module(torch.randn(3, 5, 8))

    def test_the_number_of_parts_is_checked(self):
        module = symtrace.capture(lambda x: torch.stack([part.sum() for part in x.split(2, 1)]), (X,))
        with pytest.raises(GuardError, match="len"):
            module(torch.randn(2, 7, 8))

    def test_frozen_sizes_are_constants(self):
        module = symtrace.capture(lambda x: x.view(x.shape[0] * x.shape[1], -1), (X,), dynamic=False)
        assert "x.view(10, -1)" in module.code
        with pytest.raises(GuardError):
            module(torch.randn(2, 6, 8))

    def test_a_named_size_must_not_be_pinned(self):
        def program(x):
            return x.flatten() if len(range(x.shape[1])) == 5 else x

        symtrace.capture(program, (X,), dynamic={"x": {0: "batch"}})
        with pytest.raises(TraceError, match="time") as caught:
            symtrace.capture(program, (X,), dynamic={"x": {1: "time"}})
        assert caught.value.code == "ST032"
        assert caught.value.location.file == __file__
        with pytest.raises(ArgumentError, match="dynamic"):
            symtrace.capture(program, (X,), dynamic={"y": {0: "batch"}})


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.register_buffer("calls", torch.zeros(()))
        self.count = 0

    def forward(self, x):
        self.calls += 1
        self.count += 1
        flat = self.norm(x.reshape(-1, 8))
        if flat.shape[0] % 2 == 0:
            flat = flat + 1
        return flat + torch.rand(8)


class Halving(nn.Module):
    def forward(self, x):
        return x * 2 if x.shape[0] % 2 == 0 else x


class TestShapes:
    def test_a_shape_is_read_anew_after_a_change_in_place(self):
        def program(x):
            x = x.clone()
            before = x.shape[0]
            x.transpose_(0, 1)
            return x.reshape(-1) * x.shape[0] - before

        agree(program, symtrace.capture(program, (X,)), (X,), (torch.randn(3, 4, 2),))

    @pytest.mark.parametrize("squeeze", [torch.squeeze, torch.Tensor.squeeze, lambda x: x.squeeze(1)])
    def test_the_rank_of_what_sizes_squeeze_is_checked(self, squeeze):
        def program(x):
            y = squeeze(x) * 2
            return y if y.dim() == 3 else -y

        module = symtrace.capture(program, (X,))
        agree(program, module, (torch.randn(3, 4, 5),))
        with pytest.raises(GuardError):
            module(torch.randn(3, 1, 5))

    def test_the_rank_of_what_a_leaf_gives_is_checked(self):
        def leaf(x):
            return x.squeeze()

        def program(x):
            y = leaf(x) * 2
            return y if y.dim() == 3 else -y

        module = symtrace.capture(program, (X,), leaves=[leaf])
        agree(program, module, (torch.randn(3, 4, 5),))
        with pytest.raises(GuardError):
            module(torch.randn(3, 1, 5))

    def test_a_leaf_may_give_anything(self):
        def leaf(x):
            return x * 2, {"n": x.shape[0]}

        def program(x):
            y, facts = leaf(x)
            return y + facts["n"]

        module = symtrace.capture(program, (X,), leaves=[leaf])
        assert any(node.meta.get("is_wrapped") for node in module.graph.nodes)
        agree(program, module, (X,), (torch.randn(3, 1, 2),))

    def test_whether_there_is_a_gradient_function_is_checked(self):
        module = symtrace.capture(lambda x: x * 2 if x.grad_fn is None else -x, (X,))
        with pytest.raises(GuardError):
            module(X.clone().requires_grad_() + 1)

    @pytest.mark.parametrize("change", [lambda items: items.append(1), lambda items: items.pop()])
    def test_a_change_of_a_container_of_the_callers_is_refused(self, change):
        def program(items):
            change(items)
            return items[0]

        with pytest.raises(TraceError) as caught:
            symtrace.capture(program, ([X, X],))
        assert caught.value.code == "ST022"


class TestGuards:
    def test_they_are_listed_with_their_lines(self):
        module = symtrace.capture(lambda x: x if x.dim() == 3 and x.shape[2] > 4 else -x, (X,))
        assert [guard.condition for guard in module.guards] == ["x.dim() is 3", "x.shape[2] > 4 is True"]
        assert all(guard.location.file == __file__ for guard in module.guards)

    def test_they_can_be_removed_with_what_only_they_used(self):
        module = symtrace.capture(lambda x: x * 2 if x.shape[2] > 4 else -x, (X,))
        assert module.remove_guards() == 2
        assert [node.op for node in module.graph.nodes] == ["placeholder", "call_function", "output"]
        assert module.guards == ()

    def test_a_size_that_is_known_by_an_earlier_guard_needs_no_other(self):
        def program(x):
            for _ in range(x.shape[1]):
                x = x + 1
            return x if x.shape[0] < 10 and x.shape[0] < 10 else -x

        conditions = [guard.condition for guard in symtrace.capture(program, (X,)).guards]
        assert len(conditions) == len(set(conditions))

    def test_those_on_inputs_stand_before_what_changes_state(self):
        class Late(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("calls", torch.zeros(()))

            def forward(self, x):
                self.calls += 1
                return x * 2 if x.shape[1] > 4 else x

        module = symtrace.capture(Late(), (X,))
        with pytest.raises(GuardError):
            module(torch.randn(2, 2, 8))
        assert module.calls == 0

    @pytest.mark.parametrize("training", [True, False])
    def test_a_refused_call_leaves_no_trace(self, training):
        module = symtrace.capture(Counting(), (X,)).train(training)
        before = copy.deepcopy(module.state_dict())
        given, state = torch.randn(1, 5, 8), torch.get_rng_state()
        with pytest.raises(GuardError):
            module(given)
        assert all(torch.equal(value, before[key]) for key, value in module.state_dict().items())
        assert module.count == 0
        assert torch.equal(torch.get_rng_state(), state)

    def test_a_refused_call_leaves_no_trace_after_a_switch_to_training(self):
        model = nn.Sequential(nn.BatchNorm1d(8), Halving())
        module = symtrace.capture(model.eval(), (torch.randn(2, 8),))
        module(torch.randn(4, 8))
        module.train()
        before = copy.deepcopy(module.state_dict())
        with pytest.raises(GuardError):
            module(torch.randn(3, 8))
        assert all(torch.equal(value, before[key]) for key, value in module.state_dict().items())

    @pytest.mark.parametrize("policy", ["original", "recapture"])
    def test_a_refused_call_can_be_answered(self, policy):
        reference = Counting()
        module = symtrace.capture(copy.deepcopy(reference), (X,), on_guard_failure=policy)
        for shape in ((2, 5, 8), (1, 5, 8), (3, 3, 8), (2, 2, 8), (1, 3, 8)):
            given = torch.randn(shape)
            torch.manual_seed(0)
            expected = reference(given)
            torch.manual_seed(0)
            assert torch.equal(module(given), expected)
            assert module.count == reference.count
            assert torch.equal(module.norm.running_mean, reference.norm.running_mean)
        if policy == "recapture":
            assert len(module.on_guard_failure.variants) == 1
        copied = copy.deepcopy(module)
        assert copied(torch.randn(1, 5, 8)).shape == (5, 8)

    def test_an_unknown_policy_is_refused(self):
        with pytest.raises(ArgumentError, match="on_guard_failure"):
            symtrace.capture(lambda x: x, (X,), on_guard_failure="ignore")


Pair = collections.namedtuple("Pair", ["first", "second"])


@dataclasses.dataclass
class Record:
    value: torch.Tensor
    scale: float = 2.0


class TestInputs:
    def test_nested_inputs_and_outputs_keep_their_types(self):
        def program(pair, record, table, items):
            total = pair.first + pair.second * record.scale + record.value
            for item in items:
                total = total + item
            return Pair(total, {"t": table["a"]}), Record(total * 2), [total, (total,)]

        given = (Pair(X, X + 1), Record(X * 2), {"a": X, "b": 3}, [X, X])
        module = symtrace.capture(program, given)
        other = (Pair(X[:1], X[:1]), Record(X[:1], 5.0), {"a": X[:1], "b": 3}, [X[:1], X[1:]])
        for inputs in (given, other):
            expected, actual = program(*inputs), module(*inputs)
            assert type(actual[0]) is Pair
            assert type(actual[1]) is Record
            assert torch.equal(actual[0].first, expected[0].first)
            assert torch.equal(actual[1].value, expected[1].value)
        with pytest.raises(GuardError):
            module(*given[:3], [X, X, X])

    def test_parameters_left_out_keep_their_defaults(self):
        def program(x, mask=None, scale=2, *, flag=True, **rest):
            x = x * scale if mask is None else x * mask
            return x if flag else -x

        module = symtrace.capture(program, (X,))
        assert inspect.signature(module.forward) == inspect.signature(program)
        agree(program, module, (X,), (X[:1],))
        with pytest.raises(GuardError, match="mask"):
            module(X, X)

    def test_a_model_without_memory_is_captured(self):
        with torch.device("meta"):
            model = nn.Sequential(nn.Linear(8, 4), nn.ReLU())
        module = symtrace.capture(model, (torch.empty(2, 8, device="meta"),))
        assert [node.name for node in module.graph.nodes] == ["input_1", "_0", "_1", "output"]

    def test_no_example_is_computed_with(self):
        huge = torch.empty(1, device="meta").expand(1 << 20, 1 << 20)
        assert symtrace.capture(lambda x: x.sum(), (huge,))(torch.ones(2, 2)) == 4

    def test_examples_and_model_stay_as_they_were(self):
        model, given = Counting(), X.clone()
        before = copy.deepcopy(model.state_dict())
        state = torch.get_rng_state()
        symtrace.capture(lambda x: model(x.add_(1)), (given,))
        assert torch.equal(given, X)
        assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
        assert model.count == 0
        assert torch.equal(torch.get_rng_state(), state)


class TestPrograms:
    def test_positions_and_masks_are_known_where_sizes_tell_them(self):
        def program(x):
            positions = torch.arange(x.shape[1])
            if (positions.diff() == 1).all():
                return x + positions[:, None]
            return x

        module = symtrace.capture(program, (X,))
        assert "cond" not in module.code
        agree(program, module, (X,), (torch.randn(3, 9, 1),))

    def test_functions_that_are_mapped(self):
        def program(x):
            index = torch.arange(x.shape[1])
            mask = torch.vmap(lambda i: torch.vmap(lambda j: i >= j)(index))(index)
            return x * mask.sum()

        agree(program, symtrace.capture(program, (X,)), (X,), (torch.randn(1, 3, 2),))

    def test_operators_and_names_are_those_of_fx(self):
        module = symtrace.capture(lambda x: (1 - x * 2 + x.relu()) @ x.mT, (X,))
        names = [node.name for node in module.graph.nodes]
        assert names == ["x", "mul", "sub", "relu", "add", "getattr_1", "matmul", "output"]

    def test_gradients_flow(self):
        module = symtrace.capture(lambda x: F.gelu(x).sum() * x.shape[0], (X,))
        one, two = X.clone().requires_grad_(), X.clone().requires_grad_()
        module(one).backward()
        (F.gelu(two).sum() * 2).backward()
        assert torch.equal(one.grad, two.grad)

    def test_data_dependent_sizes_flow_on(self):
        def program(x):
            picked = x[x > 0]
            return picked.sum(), torch.cat([picked, picked]).shape[0]

        agree(program, symtrace.capture(program, (X,)), (X,), (-X.abs(),), (torch.randn(3, 1, 1),))

    def test_state_that_changes_is_read_again(self):
        class Cache(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("past", torch.zeros(0, 8))

            def forward(self, x):
                self.past = torch.cat([self.past, x])
                return self.past * self.past.shape[0]

        reference = Cache()
        module = symtrace.capture(copy.deepcopy(reference), (torch.ones(2, 8),))
        for rows in (2, 1, 3):
            given = torch.randn(rows, 8)
            assert torch.equal(module(given), reference(given))

    def test_a_buffer_read_before_it_is_replaced_is_the_old_one(self):
        class Replacing(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("offset", torch.zeros(8))

            def forward(self, x):
                old = self.offset
                self.offset = self.offset + 1
                return x + old

        reference = Replacing()
        module = symtrace.capture(copy.deepcopy(reference), (X,))
        for _ in range(3):
            assert torch.equal(module(X), reference(X))

    def test_a_layer_called_with_other_parameters_uses_them(self):
        layer = nn.Linear(8, 4)

        def program(x):
            tensors = {"weight": layer.weight * 2, "bias": layer.bias}
            return torch.func.functional_call(layer, tensors, (x,))

        agree(program, symtrace.capture(program, (X,)), (X,))

    def test_gradient_modes_follow_flags_and_what_was_in_force(self):
        class Switching(nn.Module):
            def forward(self, x):
                with torch.set_grad_enabled(self.training):
                    y = x * 2
                before = torch.is_grad_enabled()
                torch.set_grad_enabled(False)
                z = x * 3
                torch.set_grad_enabled(before)
                return y, z, x * 4

        module, given = symtrace.capture(Switching(), (X,)), X.clone().requires_grad_()
        for training in (True, False):
            module.train(training)
            assert [value.requires_grad for value in module(given)] == [training, False, True]
        with torch.no_grad():
            assert not any(value.requires_grad for value in module.eval()(given))


def product_of_positive_ones(x):
    kept = x[torch.where(x > 0)[0]]
    if kept.numel() == 0:
        return x.sum()
    return kept.prod()


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_a_number_of_elements_that_data_decides_is_never_taken_for_known(count):
    module = symtrace.capture(product_of_positive_ones, (torch.ones(count),))
    for x in (torch.ones(count), -torch.ones(count), torch.linspace(-1, 2, count)):
        assert torch.equal(module(x), product_of_positive_ones(x))
