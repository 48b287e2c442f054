"""Heads, cells and blocks as they are written in real models."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from ..program import Corpus, I, T

corpus = Corpus("networks")


@corpus(T(2, 5, 8), also=((T(3, 4, 8),),))
class SelfAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = 2
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)

    def forward(self, x):
        b, t, c = x.shape
        qkv = self.qkv(x).reshape(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attention = (q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5
        out = attention.softmax(dim=-1) @ v
        return self.out(out.transpose(1, 2).reshape(b, t, c))


@corpus(T(2, 2, 5, 4), T(2, 2, 5, 4), T(2, 2, 5, 4))
def attention_function(q, k, v):
    scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(4)
    return torch.matmul(F.softmax(scores, dim=-1), v)


@corpus(T(2, 2, 5, 4), also=((T(1, 3, 6, 4),),))
def attention_scaled_by_size(q):
    scores = q @ q.transpose(-2, -1) / (q.size(-1) ** 0.5)
    return F.softmax(scores, -1) @ q


@corpus(T(2, 3), T(2, 4), T(2, 4))
class LstmCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.x = nn.Linear(3, 16)
        self.h = nn.Linear(4, 16)

    def forward(self, x, h, c):
        i, f, g, o = (self.x(x) + self.h(h)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


@corpus(T(2, 3), (T(2, 4), T(2, 4)))
class LstmCellTupleState(nn.Module):
    def __init__(self):
        super().__init__()
        self.gates = nn.Linear(7, 16)

    def forward(self, x, state):
        h, c = state
        i, f, g, o = self.gates(torch.cat([x, h], dim=1)).split(4, dim=1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        return h, (h, c)


@corpus(T(2, 3), T(2, 4))
class GruCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(12, 3))
        self.u = nn.Parameter(torch.randn(12, 4))

    def forward(self, x, h):
        wx, uh = F.linear(x, self.w), F.linear(h, self.u)
        r, z = torch.sigmoid(wx[:, :8] + uh[:, :8]).chunk(2, dim=-1)
        n = torch.tanh(wx[:, 8:] + r * uh[:, 8:])
        return (1 - z) * n + z * h


class BasicBlock(nn.Module):
    def __init__(self, width, out, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(width, out, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(out)
        self.downsample = nn.Conv2d(width, out, 1, stride) if width != out else None

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        return self.relu(out + identity)


@corpus(T(2, 3, 8, 8), also=((T(1, 3, 8, 8),),))
class TinyResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Sequential(BasicBlock(3, 4), BasicBlock(4, 4))
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        x = self.pool(self.layer1(x))
        return self.fc(torch.flatten(x, 1))


@corpus(T(1, 4, 6, 6))
class SqueezeExcite(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(4, 2, 1)
        self.up = nn.Conv2d(2, 4, 1)

    def forward(self, x):
        scale = F.adaptive_avg_pool2d(x, 1)
        scale = self.up(F.relu(self.down(scale)))
        return x * F.hardsigmoid(scale)


@corpus(T(1, 3, 6, 6))
class Inception(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Conv2d(3, 2, 1)
        self.three = nn.Conv2d(3, 2, 3, padding=1)

    def forward(self, x):
        pool = F.avg_pool2d(x, kernel_size=3, stride=1, padding=1)
        return torch.cat([self.one(x), self.three(x), pool], 1)


@corpus(T(1, 2, 4, 4))
class DenseBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Conv2d(2 + 2 * i, 2, 3, padding=1) for i in range(3)])

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(layer(torch.cat(features, 1)).relu())
        return torch.cat(features, dim=1)


@corpus(T(1, 2, 8, 8))
class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(2, 4, 3, stride=2, padding=1)
        self.up = nn.ConvTranspose2d(4, 2, 2, stride=2)
        self.final = nn.Conv2d(4, 1, 1)

    def forward(self, x):
        y = self.up(torch.relu(self.down(x)))
        return self.final(torch.cat((x, y), dim=1))


@corpus(T(1, 2, 7, 5), also=((T(1, 2, 6, 9),),))
def upsample_like(x):
    small = F.max_pool2d(x, 2)
    return F.interpolate(small, size=x.shape[-2:], mode="bilinear", align_corners=False) + x


@corpus(T(1, 2, 7, 5), also=((T(1, 2, 6, 9),),))
def pad_to_even(x):
    return F.pad(x, (0, x.size(3) % 2, 0, x.size(2) % 2))


@corpus(I(2, 5, high=9), also=((I(3, 7, high=9),),))
class EmbeddingWithPositions(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(9, 4)
        self.position = nn.Embedding(16, 4)

    def forward(self, ids):
        positions = torch.arange(ids.size(1), device=ids.device).unsqueeze(0)
        return self.token(ids) + self.position(positions)


@corpus(T(2, 5, 4))
class TransformerBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(4)
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.norm2 = nn.LayerNorm(4)
        self.mlp = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 4))

    def forward(self, x):
        y = self.norm1(x)
        y, _ = self.attention(y, y, y, need_weights=False)
        x = x + y
        return x + self.mlp(self.norm2(x))


@corpus(T(2, 4, 8))
def rotary(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


@corpus(T(2, 4))
def rms_norm(x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)


@corpus(T(2, 4))
def swish_by_hand(x):
    return x * torch.sigmoid(x)


@corpus(T(2, 4))
def gelu_by_hand(x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


@corpus(T(3, 4), T(3, 4), T(3, 4))
def triplet_loss(anchor, positive, negative):
    gap = (anchor - positive).pow(2).sum(1) - (anchor - negative).pow(2).sum(1) + 0.2
    return gap.clamp(min=0.0).mean()


@corpus(T(4, 3), I(4, high=3))
def focal_loss(logits, target):
    log_p = F.log_softmax(logits, dim=-1).gather(1, target.unsqueeze(1)).squeeze(1)
    return (-((1 - log_p.exp()) ** 2.0) * log_p).mean()


@corpus(T(2, 4, 5))
def masked_mean(x):
    mask = (x.abs() > 0.5).to(x.dtype)
    return (x * mask).sum(1) / mask.sum(1).clamp(min=1)


@corpus(T(2, 6), also=((T(4, 8),),))
def ghost_batches(x):
    first, second = x.chunk(2)
    return torch.cat([part - part.mean() for part in (first, second)], 0)


@corpus(T(2, 3), T(2, 3))
class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(3, 4), nn.Tanh())

    def forward(self, a, b):
        return F.cosine_similarity(self.encoder(a), self.encoder(b))


@corpus(T(4, 3))
class MixtureOfExperts(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(3, 2)
        self.experts = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])

    def forward(self, x):
        weights = self.gate(x).softmax(-1)
        outputs = torch.stack([expert(x) for expert in self.experts], dim=1)
        return (weights.unsqueeze(-1) * outputs).sum(dim=1)


@corpus(T(2, 3))
class WeightStandardised(nn.Linear):
    def __init__(self):
        super().__init__(3, 4)

    def forward(self, x):
        weight = self.weight - self.weight.mean(dim=1, keepdim=True)
        return F.linear(x, weight, self.bias)


@corpus(T(2, 3))
class Parametrised(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))

    def forward(self, x):
        return self.fc(x) * 2
