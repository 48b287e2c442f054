"""A captured module as a file of its own: imported without symtrace, it is the same module."""

import importlib.util
import math
import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F
from torch import nn

import symtrace as fx
from symtrace.cli.code import _check, _files
from symtrace.cli.inputs import Inputs
from symtrace.cli.standalone import standalone
from symtrace.errors import UsageError


def imported(gm, folder, inputs=()):
    """Write `gm`, check it as the command does, and import the result."""
    written = standalone(gm)
    files = _files(written, folder / "written.py")
    _check(gm, files, "written.py", written.model, Inputs(tuple(inputs)))
    for path, data in files.items():
        path.write_bytes(data)
    spec = importlib.util.spec_from_file_location("written", folder / "written.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def same_results(program, folder, *inputs):
    gm = fx.symbolic_trace(program)
    module = imported(gm, folder, inputs)
    torch.manual_seed(0)
    expected = gm(*inputs)
    torch.manual_seed(0)
    assert torch.equal(module.model(*inputs), expected)
    return gm, module


class Everything(nn.Module):
    """Leaves of many kinds, parameters of its own, buffers, ties, and layers in different modes."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.tied = nn.Linear(3, 3)
        self.tied.weight = self.first.weight
        self.again = self.first
        self.scale = nn.Parameter(torch.ones(3), requires_grad=False)
        self.register_buffer("shift", torch.arange(3.0))
        self.register_buffer("hidden", torch.ones(1), persistent=False)
        self.norm = nn.BatchNorm1d(3)
        self.drop = nn.Dropout(0.5).eval()
        self.attention = nn.MultiheadAttention(3, 1)
        self.rnn = nn.GRU(3, 3)
        self.stack = nn.ModuleList([nn.Conv1d(2, 2, 1, bias=False), nn.Sequential(nn.ReLU(inplace=True))])

    def forward(self, x):
        x = self.again(self.tied(self.first(x))) * self.scale + self.shift * self.hidden
        x = self.drop(self.norm(x))
        x = x + self.attention(x, x, x)[0]
        x = self.rnn(x)[0]
        for layer in self.stack:
            x = layer(x[None])[0]
        return F.gelu(x).clamp(max=math.inf)


def test_all_kinds_of_state_survive(tmp_path):
    x = torch.randn(2, 3)
    gm, module = same_results(Everything(), tmp_path, x)
    model = module.model
    assert list(model.state_dict()) == list(gm.state_dict())
    assert model.tied.weight is model.first.weight
    assert model.again is model.first
    assert not model.scale.requires_grad
    assert model.first.weight.requires_grad
    assert not model.drop.training
    assert model.norm.training
    assert model.norm.num_batches_tracked == 1
    module.Everything().load_state_dict(gm.state_dict())


def test_small_tensors_are_in_the_text_and_large_ones_beside_it(tmp_path):
    small = standalone(fx.symbolic_trace(nn.Linear(2, 2)))
    large = standalone(fx.symbolic_trace(nn.Linear(200, 2)))
    assert small.weights == {}
    assert "torch.tensor(" in small.source
    assert set(large.weights) == {"weight", "bias"}
    assert "torch.tensor(" not in large.source
    same_results(nn.Sequential(nn.Linear(200, 2)), tmp_path, torch.ones(1, 200))


def test_each_object_has_tensors_of_its_own(tmp_path):
    _, module = same_results(nn.Sequential(nn.Linear(2, 2)), tmp_path, torch.ones(1, 2))
    one, two = type(module.model)(), module.model
    with torch.no_grad():
        next(one.parameters()).zero_()
    assert next(two.parameters()).any()


def test_the_file_needs_no_symtrace(tmp_path):
    imported(fx.symbolic_trace(Everything()), tmp_path)
    script = "import sys, torch, written; written.model(torch.ones(2, 3)); print('symtrace' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout.strip() == "False", done.stderr


def test_making_the_module_draws_no_random_numbers(tmp_path):
    gm = fx.symbolic_trace(nn.Sequential(nn.Linear(4, 4)))
    state = torch.get_rng_state()
    module = imported(gm, tmp_path)
    assert module.model is not None
    assert torch.equal(torch.get_rng_state(), state)


def test_the_mode_is_kept(tmp_path):
    assert not imported(fx.symbolic_trace(nn.Sequential(nn.Dropout()).eval()), tmp_path).model.training


def test_a_function_named_like_the_object_keeps_its_name(tmp_path, monkeypatch):
    helper = tmp_path / "standalone_helper.py"
    helper.write_text("def model(x):\n    return x * 3 if x.sum() > 0 else x\n")
    monkeypatch.syspath_prepend(tmp_path)
    import standalone_helper

    fx.wrap(standalone_helper.model)
    _, module = same_results(lambda x: standalone_helper.model(x) + 1, tmp_path, torch.ones(2))
    assert module.model(torch.ones(2)).tolist() == [4.0, 4.0]


class Stateful(nn.Module):
    """State that changes at each call, modes, a guard, and a layer made in forward."""

    def __init__(self):
        super().__init__()
        self.calls = 0
        self.register_buffer("average", torch.zeros(3))

    def forward(self, x, mask=None):
        self.calls += 1
        self.average = self.average * 0.5 + x.mean(0)
        with torch.no_grad():
            shift = x * 2
        if mask is not None:
            x = x * mask
        return nn.ReLU()(x) + shift + self.average + self.calls


def test_state_modes_and_guards_work_without_symtrace(tmp_path):
    x = torch.randn(2, 3, requires_grad=True)
    gm = fx.capture(Stateful(), (x,))
    module = imported(gm, tmp_path)
    for _ in range(3):
        assert torch.equal(module.model(x), gm(x))
    assert module.model.calls == 3
    assert torch.equal(
        torch.autograd.grad(module.model(x).sum(), x)[0], torch.autograd.grad(gm(x).sum(), x)[0]
    )
    assert "symtrace" not in "".join(line for line in (tmp_path / "written.py").open() if "import" in line)


def test_a_broken_guard_says_so(tmp_path):
    gm = fx.capture(lambda x: x + 1 if x.shape[0] > 2 else x - 1, (torch.ones(3),))
    module = imported(gm, tmp_path)
    assert module.model(torch.zeros(4)).tolist() == [1.0] * 4
    with pytest.raises(RuntimeError, match=r"breaks an assumption made at capture: x.shape\[0\] > 2"):
        module.model(torch.zeros(1))


def test_hooks_are_refused():
    model = nn.Sequential(nn.Linear(2, 2))
    model[0].register_forward_hook(lambda *_: None)
    with pytest.raises(UsageError, match="its hooks can't be written"):
        standalone(fx.symbolic_trace(model))


def test_a_leaf_class_of_a_function_is_refused_by_its_path():
    class Local(nn.Module):
        def forward(self, x):
            return x

    class Keep(fx.Tracer):
        def is_leaf_module(self, module, path):
            return True

    model = nn.Sequential(Local())
    gm = fx.GraphModule(model, Keep().trace(model))
    with pytest.raises(UsageError, match="Local` can't be imported by its name") as caught:
        standalone(gm)
    assert caught.value.code == "ST409"


@pytest.mark.zoo
@pytest.mark.parametrize(
    "name", ["resnet18", "swin_t", "efficientnet_b0", "mobilenet_v3_small", "shufflenet_v2_x0_5"]
)
def test_models_of_torchvision(name, tmp_path):
    models = pytest.importorskip("torchvision.models")
    same_results(getattr(models, name)().eval(), tmp_path, torch.randn(1, 3, 64, 64))
