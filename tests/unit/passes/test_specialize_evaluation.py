"""What training flags decide, fixed for modules in evaluation mode, and `batch_norm` as a function folded."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from symtrace import capture, optimize, symbolic_trace
from symtrace.analysis import known_ranks
from symtrace.ops.control_flow import cond
from symtrace.passes import Pipeline


class NormAct(nn.BatchNorm2d):
    """Normalises by the function, as libraries of models do."""

    asserts = True

    def forward(self, x):
        if self.asserts:
            torch._assert(x.ndim == 4, "four dimensions are wanted")
        if self.training and self.track_running_stats:
            self.num_batches_tracked.add_(1)
        training = True if self.training else self.running_mean is None
        x = F.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, training, self.momentum, self.eps
        )
        return F.relu(x, inplace=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 1), NormAct(4)
        self.again, self.other = nn.Conv2d(4, 4, 1), NormAct(4)
        with torch.no_grad():
            for norm in (self.norm, self.other):
                norm.running_mean.uniform_(-0.1, 0.1)
                norm.running_var.uniform_(0.5, 2)

    def forward(self, x):
        x = self.norm(self.conv(x))
        return self.other(self.again(x)) + x


X = torch.rand(2, 3, 5, 5)


def functions(gm):
    return [node.target for node in gm.graph.nodes if node.op == "call_function"]


def test_decisions_on_flags_go_and_the_function_is_folded():
    model = Net().eval()
    gm = capture(model, (X,))
    assert cond in functions(gm)
    fast = optimize(gm)
    assert cond not in functions(fast)
    assert F.batch_norm not in functions(fast)
    torch.testing.assert_close(fast(X), model(X), rtol=1e-4, atol=1e-5)
    assert cond in functions(gm)
    with pytest.warns(UserWarning, match="training"):
        fast.train()


def test_modules_in_training_keep_their_decisions():
    gm = capture(Net().train(), (X,))
    before = gm.code
    Pipeline("specialize-evaluation")(gm)
    assert gm.code == before


def test_each_module_has_a_mode_of_its_own():
    model = Net().eval()
    model.other.train()
    fast = optimize(capture(model, (X,)))
    assert functions(fast).count(cond) == functions(capture(model, (X,))).count(cond) / 2
    twin = Net()
    twin.load_state_dict(model.state_dict())
    twin.eval()
    twin.other.train()
    torch.testing.assert_close(fast(X), twin(X), rtol=1e-4, atol=1e-5)
    assert fast.get_buffer("other.num_batches_tracked") == twin.other.num_batches_tracked == 1


class Setting(nn.Module):
    def forward(self, x):
        self.training = True
        return F.dropout(x, training=self.training) if self.training else x


def test_a_flag_that_the_program_sets_stays():
    gm = capture(Setting().eval(), (torch.ones(100),))
    Pipeline("specialize-evaluation")(gm)
    torch.manual_seed(0)
    assert (gm(torch.ones(100)) == 0).any()


def test_without_known_dimensions_the_function_is_not_folded():
    """Without a batch the function normalises another dimension than the layer."""
    model = Net().eval()
    model.norm.asserts = model.other.asserts = False
    gm = capture(model, (X,))
    fast = optimize(gm)
    single = torch.rand(3, 4, 5)
    torch.testing.assert_close(fast(single), model(single), rtol=1e-4, atol=1e-5)
    assert functions(fast).count(F.batch_norm) == 2
    assert F.batch_norm not in functions(optimize(gm, example_inputs=(X,)))


def test_statistics_that_the_program_writes_to_are_not_folded():
    class Writing(Net):
        def forward(self, x):
            self.norm.running_mean.mul_(0.5)
            return super().forward(x)

    model = Writing().eval()
    fast = optimize(capture(model, (X,)))
    assert F.batch_norm in functions(fast)
    for _ in range(2):
        torch.testing.assert_close(fast(X), model(X), rtol=1e-4, atol=1e-5)


def test_guards_behind_what_only_training_changes_are_early_in_evaluation():
    class Guarded(Net):
        def forward(self, x):
            y = super().forward(x)
            a, b = y.unbind(0)
            return a + b

    gm = capture(Guarded().eval(), (X,))
    assert gm.guards
    assert not gm._checks_late()
    gm.norm.train()
    assert gm._checks_late()


def test_ranks_that_the_program_tells():
    gm = capture(Net().eval(), (X,))
    ranks = known_ranks(gm.graph)
    assert {ranks.get(node) for node in gm.graph.nodes if node.op == "call_module"} == {4}


def test_the_function_is_folded_behind_a_question_about_the_shape():
    gm = symbolic_trace(Net().eval())
    assert gm.guards
    fast = optimize(gm)
    assert F.batch_norm not in functions(fast)
    assert not fast.guards
    torch.testing.assert_close(fast(X), gm(X), rtol=1e-4, atol=1e-5)
    with pytest.raises(AssertionError, match="four dimensions"):
        fast(X[0])
