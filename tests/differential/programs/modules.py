"""Modules: leaves, containers, parameters, buffers, nesting."""

from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn

from ..program import B, Corpus, I, T

corpus = Corpus("modules")


def _one_layer(make):
    class OneLayer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = make()

        def forward(self, x):
            return self.layer(x)

    return OneLayer


_LEAVES = {
    "Linear": (lambda: nn.Linear(4, 3), T(2, 4)),
    "Linear_no_bias": (lambda: nn.Linear(4, 3, bias=False), T(2, 4)),
    "Conv1d": (lambda: nn.Conv1d(2, 3, 3), T(1, 2, 6)),
    "Conv2d": (lambda: nn.Conv2d(2, 4, 3, padding=1, groups=2), T(1, 2, 5, 5)),
    "Conv3d": (lambda: nn.Conv3d(1, 2, 2), T(1, 1, 3, 3, 3)),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(2, 1, 2), T(1, 2, 3, 3)),
    "BatchNorm1d": (lambda: nn.BatchNorm1d(3), T(4, 3)),
    "BatchNorm2d": (lambda: nn.BatchNorm2d(3), T(4, 3, 2, 2)),
    "LayerNorm": (lambda: nn.LayerNorm(4), T(2, 4)),
    "GroupNorm": (lambda: nn.GroupNorm(2, 4), T(2, 4, 3)),
    "InstanceNorm1d": (lambda: nn.InstanceNorm1d(3), T(2, 3, 4)),
    "ReLU": (nn.ReLU, T(3)),
    "GELU": (nn.GELU, T(3)),
    "Sigmoid": (nn.Sigmoid, T(3)),
    "Softmax": (lambda: nn.Softmax(dim=-1), T(3)),
    "PReLU": (nn.PReLU, T(3)),
    "Hardswish": (nn.Hardswish, T(3)),
    "MaxPool2d": (lambda: nn.MaxPool2d(2), T(1, 1, 4, 4)),
    "AvgPool2d": (lambda: nn.AvgPool2d(2), T(1, 1, 4, 4)),
    "AdaptiveAvgPool2d": (lambda: nn.AdaptiveAvgPool2d(1), T(1, 2, 4, 4)),
    "Dropout": (lambda: nn.Dropout(0.5), T(8)),
    "Embedding": (lambda: nn.Embedding(5, 3), I(2, 3)),
    "Flatten": (nn.Flatten, T(2, 3, 4)),
    "Identity": (nn.Identity, T(3)),
    "Upsample": (lambda: nn.Upsample(scale_factor=2), T(1, 1, 3)),
    "ZeroPad2d": (lambda: nn.ZeroPad2d(1), T(1, 1, 2, 2)),
    "PixelShuffle": (lambda: nn.PixelShuffle(2), T(1, 4, 2, 2)),
    "GRU": (lambda: nn.GRU(3, 4), T(5, 3)),
    "LSTM": (lambda: nn.LSTM(3, 4, batch_first=True), T(2, 5, 3)),
    "RMSNorm": (lambda: nn.RMSNorm(4), T(2, 4)),
    "CosineSimilarity_free": (lambda: nn.Tanhshrink(), T(3)),
    "TransformerEncoderLayer": (lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), T(2, 3, 4)),
}
for _name, (_make, _input) in _LEAVES.items():
    corpus.add(f"leaf_{_name}", _one_layer(_make), _input)


@corpus(T(2, 4))
class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.second = nn.Linear(8, 2)

    def forward(self, x):
        return self.second(F.relu(self.first(x)))


@corpus(T(2, 4))
class PlainSequential(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))

    def forward(self, x):
        return self.net(x)


@corpus(T(2, 4))
class NamedSequential(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(OrderedDict(fc=nn.Linear(4, 3), act=nn.ReLU()))

    def forward(self, x):
        return self.net.act(self.net.fc(x)) + self.net(x)


@corpus(T(2, 4))
class IteratedModuleList(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x).relu()
        return x


@corpus(T(2, 4))
class IndexedModuleList(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Tanh()])

    def forward(self, x):
        return self.layers[1](self.layers[0](x)) + len(self.layers)


@corpus(T(2, 4))
class ModuleDictByKey(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.ModuleDict({"cls": nn.Linear(4, 2), "box": nn.Linear(4, 4)})

    def forward(self, x):
        return {name: head(x) for name, head in self.heads.items()}


@corpus(T(2, 4))
class DeepSequential(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.ReLU()), nn.Sequential(nn.Linear(4, 1)))

    def forward(self, x):
        return self.a(x)


class Block(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.fc = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return x + self.norm(self.fc(x)).relu()


@corpus(T(2, 4))
class NestedUserModules(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = Block()
        self.blocks = nn.Sequential(Block(), Block())

    def forward(self, x):
        return self.blocks(self.stem(x))


@corpus(T(2, 4))
class SameModuleTwice(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(self.fc(x)) + self.fc(x)


@corpus(T(2, 4))
class UserModuleTwice(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(self.block(x))


@corpus(T(2, 4))
class ModuleWithKeywords(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = TwoInputs()

    def forward(self, x):
        return self.inner(x, y=x * 2)


class TwoInputs(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x, y, scale=3.0):
        return self.fc(x) + y * scale


@corpus(T(3, 2, 4))
class AttentionLeaf(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2)

    def forward(self, x):
        out, weights = self.attention(x, x, x, need_weights=True)
        return out, weights


@corpus(T(2, 3))
class Parameter(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.full((3,), 2.0))

    def forward(self, x):
        return x * self.scale


@corpus(T(2, 3))
class ParameterUsedTwice(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3, 3))

    def forward(self, x):
        return x @ self.w + (x @ self.w).relu()


@corpus(T(2, 3))
class ParameterArithmetic(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(3))

    def forward(self, x):
        return x + self.w.exp() * 2 - self.w


@corpus(T(2, 3))
class ParameterInFunction(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 3))
        self.bias = nn.Parameter(torch.randn(4))

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


@corpus(T(2, 3))
class ParameterReadLate(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(3))
        self.b = nn.Parameter(torch.ones(3))

    def forward(self, x):
        y = x * self.b
        return y + self.a


@corpus(T(2, 3))
class ParameterOfSubmodule(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x):
        return F.linear(x, self.fc.weight.t(), self.fc.bias)


@corpus(T(2, 3))
class ParameterList(nn.Module):
    def __init__(self):
        super().__init__()
        self.ws = nn.ParameterList([nn.Parameter(torch.randn(3)) for _ in range(3)])

    def forward(self, x):
        for w in self.ws:
            x = x * w
        return x


@corpus(T(2, 3))
class ParameterDict(nn.Module):
    def __init__(self):
        super().__init__()
        self.ws = nn.ParameterDict({"a": nn.Parameter(torch.randn(3))})

    def forward(self, x):
        return x + self.ws["a"]


@corpus(T(2, 3))
class NestedParameter(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = Gate()
        self.gates = nn.ModuleList([Gate(), Gate()])

    def forward(self, x):
        x = self.gate(x)
        for gate in self.gates:
            x = gate(x)
        return x


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.g = nn.Parameter(torch.rand(3))

    def forward(self, x):
        return x * torch.sigmoid(self.g)


@corpus(T(2, 3))
class ParameterReturned(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(3))

    def forward(self, x):
        return x, self.w


@corpus(T(2, 3))
class ParameterInList(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(1, 3))

    def forward(self, x):
        return torch.cat([self.w, x], dim=0)


@corpus(T(2, 3))
class ParameterNone(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, 3))
        self.register_parameter("bias", None)

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


@corpus(T(2, 3))
class Buffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.arange(3.0))

    def forward(self, x):
        return x + self.offset


@corpus(T(2, 3))
class BufferTwice(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.arange(3.0))

    def forward(self, x):
        return x.relu() * self.offset + x / (1 + x.abs() + 2).add(1) - self.offset


@corpus(T(2, 3))
class BufferNotPersistent(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", torch.arange(3.0), persistent=False)

    def forward(self, x):
        return torch.mul(x, self.offset)


@corpus(T(2, 3))
class NestedBuffer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        return (x - self.norm.running_mean) / self.norm.running_var


_BUFFERS = "Buffers are read at every call"
_PLAIN = "Tensors from outside are interned"


@corpus(T(2, 3), differs=_BUFFERS)
class BufferExpression(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("log_scale", torch.zeros(3))

    def forward(self, x):
        return x * self.log_scale.exp()


@corpus(T(2, 3), differs=_BUFFERS)
class BufferSlice(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.randn(5, 3))

    def forward(self, x):
        return x + self.table[:2]


@corpus(T(2, 3), differs=_BUFFERS)
class BufferCounter(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return x * self.calls


@corpus(T(2, 3), differs=_BUFFERS)
class BufferReassigned(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, x):
        self.mean = self.mean * 0.5 + x.mean(0).detach() * 0.5
        return x - self.mean


@corpus(T(2, 3), differs="State changes happen at every call")
class PythonCounter(nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * self.calls


@corpus(T(2, 3), differs=_PLAIN)
class PlainTensorAttribute(nn.Module):
    def __init__(self):
        super().__init__()
        self.shift = torch.ones(3)

    def forward(self, x):
        return x + self.shift


_GLOBAL = torch.arange(3.0)


@corpus(T(2, 3))
def global_tensor(x):
    return x * _GLOBAL


@corpus(T(2, 3))
class PlainNumberAttribute(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = 2.5
        self.dims = (0, 1)

    def forward(self, x):
        return (x * self.factor).mean(self.dims)


@corpus(T(2, 4))
class HelperMethods(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def body(self, x):
        return self.fc(x).relu()

    def forward(self, x):
        return self.body(self.body(x))


@corpus(T(2, 4))
class SubmoduleMethod(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = HelperMethods()

    def forward(self, x):
        return self.inner.body(x)


@corpus(T(2, 4))
class InheritedForward(Mlp):
    pass


@corpus(T(2, 4))
class SuperForward(Mlp):
    def forward(self, x):
        return super().forward(x) * 2


@corpus(T(2, 4))
class SequentialSubclass(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(4, 4), nn.ReLU())

    def forward(self, x):
        return super().forward(x) + x


@corpus(T(2, 4))
class InplaceActivation(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(self.fc(x))


@corpus(T(2, 4))
class OptionalLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.downsample = None

    def forward(self, x):
        skip = x if self.downsample is None else self.downsample(x)
        return self.fc(x) + skip


@corpus(T(2, 4))
class LoopOverConfiguration(nn.Module):
    def __init__(self):
        super().__init__()
        self.depth = 3
        self.fcs = nn.ModuleDict({f"fc{i}": nn.Linear(4, 4) for i in range(3)})

    def forward(self, x):
        outputs = []
        for i in range(self.depth):
            x = self.fcs[f"fc{i}"](x)
            outputs.append(x)
        return outputs


corpus.add(
    "root_Sequential",
    type(
        "Root",
        (nn.Sequential,),
        {
            "__init__": lambda self: nn.Sequential.__init__(
                self, nn.Linear(3, 3), nn.ReLU(), nn.Sequential(nn.Linear(3, 1))
            )
        },
    ),
    T(2, 3),
)


@corpus(T(2, 4), differs="Every registered name of a module is kept")
class RegisteredTwice(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(4, 4)
        self.decoder = self.encoder

    def forward(self, x):
        return self.decoder(self.encoder(x))


@corpus(I(2, 3, high=5))
class TiedParameters(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(5, 4)
        self.head = nn.Linear(4, 5, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, i):
        return self.head(self.embedding(i))


_TRAINING = "The training flag is read live"


@corpus(T(8), differs=_TRAINING)
class FunctionalDropout(nn.Module):
    def forward(self, x):
        return F.dropout(x, 0.5, self.training)


@corpus(T(8), differs=_TRAINING)
class FunctionalDropoutKeyword(nn.Module):
    def forward(self, x):
        return F.dropout(x, p=0.3, training=self.training) + F.alpha_dropout(x, training=self.training)


@corpus(T(4, 3), differs=_TRAINING)
class FunctionalBatchNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.bn = nn.BatchNorm1d(3)

    def forward(self, x):
        bn = self.bn
        return F.batch_norm(x, bn.running_mean, bn.running_var, bn.weight, bn.bias, self.training, 0.1, 1e-5)


@corpus(T(2, 3))
class RootHook(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.fc.register_forward_hook(lambda module, args, out: out * 2)

    def forward(self, x):
        return self.fc(x) + 1


def _subclass(base, *sizes):
    return type("Root", (base,), {"__init__": lambda self: base.__init__(self, *sizes)})


corpus.add("root_is_Linear", _subclass(nn.Linear, 3, 2), T(4, 3))
corpus.add("root_is_LayerNorm", _subclass(nn.LayerNorm, 3), T(4, 3))
corpus.add("root_is_ReLU", _subclass(nn.ReLU), T(4, 3))
corpus.add("root_is_Conv2d", _subclass(nn.Conv2d, 1, 2, 3), T(1, 1, 4, 4))
corpus.add("root_is_Flatten", _subclass(nn.Flatten), T(2, 3, 4))
corpus.add("root_is_Identity", _subclass(nn.Identity), T(2, 3))


@corpus(T(2, 4), differs="Modules built in forward")
class BuiltInForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return nn.ReLU()(self.fc(x))


def _named(name):
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.box = nn.Sequential(OrderedDict([(name, nn.Linear(3, 3)), ("other", nn.ReLU())]))

        def forward(self, x):
            return self.box(x)

    return Named


corpus.add("submodule_named_0", _named("0"), T(2, 3))
corpus.add("submodule_named_input", _named("input"), T(2, 3))
corpus.add("submodule_named_training_data", _named("training_data"), T(2, 3))
corpus.add("submodule_named_a-b", _named("a-b"), T(2, 3))
corpus.add("submodule_named_a b", _named("a b"), T(2, 3))
for _name in ("class", "def", 'q"x', "a\\nb"):
    corpus.add(f"submodule_named_{_name}", _named(_name), T(2, 3), differs="Submodules of any name")


@corpus(T(2, 3), B(2, 3))
class MaskedHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)

    def forward(self, x, mask):
        return self.fc(x).masked_fill(mask, -1e9).softmax(-1)
