"""Features by name: what they are called, what they are, in both modes."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from symtrace import capture, symbolic_trace
from symtrace.passes import PassError, extract_features, feature_names


class Block(nn.Module):
    def __init__(self, inplace=False):
        super().__init__()
        self.conv, self.norm, self.act = nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2), nn.ReLU(inplace=inplace)

    def forward(self, x):
        y = self.act(self.norm(self.conv(x)))
        y += x
        return self.act(y)


class Net(nn.Module):
    def __init__(self, inplace=False):
        super().__init__()
        self.body = nn.Sequential(Block(inplace), Block(inplace))
        self.head, self.aux = nn.Conv2d(2, 1, 1), nn.Conv2d(2, 1, 1)

    def forward(self, x):
        y = self.body(x)
        if self.training:
            return self.head(y), self.aux(y)
        return F.adaptive_avg_pool2d(self.head(y), 1)


X = torch.rand(2, 2, 3, 3)


def test_names_follow_the_modules():
    training, evaluation = feature_names(Net())
    common = ["x"]
    for number in range(2):
        path = f"body.{number}"
        common += [f"{path}.{name}" for name in ("conv", "norm", "act", "add", "act_1")]
    assert [n for n in training if n not in ("guard", "training")] == [*common, "head", "aux"]
    assert [n for n in evaluation if n not in ("guard", "training")] == [
        *common,
        "head",
        "adaptive_avg_pool2d",
    ]


def test_features_have_the_values_of_the_model():
    model = Net().eval()
    features = extract_features(model, {"body.0": "first", "body.1.norm": "norm", "head": "head"})
    assert not features.training
    with torch.no_grad():
        found = features(X)
        first = model.body[0](X)
        norm = model.body[1].norm(model.body[1].conv(first))
        assert list(found) == ["first", "norm", "head"]
        assert torch.equal(found["first"], first)
        assert torch.equal(found["norm"], norm)
        assert torch.equal(found["head"], model.head(model.body[1](first)))


def test_a_feature_that_is_written_to_is_as_it_was_computed():
    model = Net(inplace=True).eval()
    with torch.no_grad():
        found = extract_features(model, ["body.0.norm", "body.0.add", "body.0"])(X)
        block = model.body[0]
        norm = block.norm(block.conv(X))
        assert torch.equal(found["body.0.norm"], norm)
        assert torch.equal(found["body.0.add"], F.relu(norm) + X)
        assert torch.equal(found["body.0"], F.relu(F.relu(norm) + X))


def test_each_mode_has_its_own_nodes():
    model = Net()
    features = extract_features(model, train_nodes=["aux"], eval_nodes={"adaptive_avg_pool2d": "pool"})
    assert list(features(X)) == ["aux"]
    assert list(features.eval()(X)) == ["pool"]
    assert list(features.train()(X)) == ["aux"]


def test_what_no_feature_needs_is_not_run():
    features = extract_features(Net().train(), ["body.0"])
    assert not hasattr(features, "head")
    assert [name for name, _ in features.named_children()] == ["body"]
    before = {name: value.clone() for name, value in features.named_buffers()}
    features(X)
    changed = [name for name, value in features.named_buffers() if not torch.equal(value, before[name])]
    assert changed == [
        f"body.0.norm.{name}" for name in ("running_mean", "running_var", "num_batches_tracked")
    ]


def test_parameters_are_shared_with_the_model_and_it_is_left_alone():
    model = Net().eval()
    features = extract_features(model, ["body.0"])
    assert features.get_parameter("body.0.conv.weight") is model.body[0].conv.weight
    assert not any(part.training for part in model.modules())
    assert features(X)["body.0"].requires_grad


def test_a_captured_module_has_features_too():
    gm = symbolic_trace(nn.Sequential(nn.ReLU(), nn.Flatten()))
    assert torch.equal(extract_features(gm, ["0"])(-X)["0"], torch.zeros_like(X))


@pytest.mark.parametrize("name", ["body.2", "adaptive_avg_pool2d", "nothing"])
def test_an_unknown_name_is_refused(name):
    with pytest.raises(PassError, match="ST245"):
        extract_features(Net(), [name])


class Deciding(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4, bias=False), nn.Linear(4, 4)

    def forward(self, x):
        h = self.first(x)
        if h.sum() > 0:
            y = self.second(h)
            y = y.relu_()
        else:
            y = self.second(-h)
        rounds = 0
        while y.abs().sum() > 1 and rounds < 3:
            y = y * 0.5
            if rounds > 0:
                y = y.sin()
            rounds = rounds + 1
        return y.mul_(2)


def test_features_inside_decisions_and_loops():
    torch.manual_seed(0)
    model = Deciding()
    gm = capture(model)
    before = gm.code
    extractor = extract_features(gm, ["second", "second_1", "mul", "sin"])
    assert gm.code == before
    x = torch.randn(3, 4) * 4
    x = x if model.first(x).sum() > 0 else -x
    h = model.first(x)
    for given, name, other in ((x, "second", "second_1"), (-x, "second_1", "second")):
        found = extractor(given)
        value = model.second(h)
        assert torch.equal(found[name], value)
        assert found[other] is None
        y = value.relu() if name == "second" else value
        halved = [y := y * 0.5]
        while y.abs().sum() > 1 and len(halved) < 3:
            halved.append(y := y * 0.5)
            y = y.sin()
        assert torch.allclose(found["mul"], halved[-1])
        assert torch.allclose(found["sin"], y)


def test_a_feature_of_a_loop_without_rounds_is_none():
    model = Deciding()
    nn.init.zeros_(model.second.bias)
    extractor = extract_features(capture(model), ["mul"])
    assert extractor(torch.zeros(1, 4)) == {"mul": None}
