"""Algorithms as people write them."""

from __future__ import annotations

import torch
from torch import nn

from ..program import program, t


@program(t(4.0), t(1.0), t(100.0))
def newton_square_root(a):
    x = a
    while (x * x - a).abs().max() > 1e-4:
        x = 0.5 * (x + a / x)
    return x


@program((t(3.0, 4.0), 1.0), (t(0.3, 0.4), 1.0))
def clip_by_norm(x, limit):
    norm = x.norm()
    if norm > limit:
        x = x * (limit / norm)
    return x


@program((torch.tensor([[0.0, 0, 2, 2], [0, 0, 2, 2], [5, 5, 6, 6]]), t(0.9, 0.8, 0.7)),
         (torch.tensor([[0.0, 0, 2, 2], [3, 3, 4, 4], [5, 5, 6, 6]]), t(0.9, 0.8, 0.95)))  # fmt: skip
def non_maximum_suppression(boxes, scores):
    def overlap(a, b):
        left_top = torch.maximum(a[:2], b[:2])
        right_bottom = torch.minimum(a[2:], b[2:])
        wh = (right_bottom - left_top).clamp(min=0)
        inter = wh[0] * wh[1]
        area = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
        return inter / (area - inter)

    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        i = order[0]
        keep.append(i)
        rest = []
        for j in order[1:]:
            if overlap(boxes[i], boxes[j]) <= 0.5:
                rest.append(j)
        order = torch.stack(rest) if rest else order[:0]
    return torch.stack(keep)


@program((torch.arange(12.0).reshape(3, 4), torch.tensor([4, 1, 2])),
         (torch.arange(12.0).reshape(3, 4), torch.tensor([1, 1, 1])))  # fmt: skip
def ragged_means(x, lengths):
    outs = []
    for row, length in zip(x, lengths):
        outs.append(row[: length.item()].mean())
    return torch.stack(outs)


@program(torch.tensor([1]), torch.tensor([3]))
class GreedyDecoder(nn.Module):
    """Appends the best token until the stop token or a limit."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embed = nn.Embedding(6, 4)
        self.out = nn.Linear(4, 6)
        self.stop = 0

    def forward(self, tokens):
        for _ in range(8):
            logits = self.out(self.embed(tokens).mean(0))
            token = logits.argmax()
            tokens = torch.cat([tokens, token[None]])
            if token == self.stop:
                break
        return tokens


@program(torch.tensor([1]), torch.tensor([3]))
class WhileDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.embed = nn.Embedding(6, 4)
        self.out = nn.Linear(4, 6)

    def forward(self, tokens):
        step = 0
        while tokens[-1] != 0 and step < 6:
            token = self.out(self.embed(tokens[-1]) + step).argmax()
            tokens = torch.cat([tokens, token[None]])
            step += 1
        return tokens


@program(t(0.1, 0.2, 0.3, 0.4), t(5.0, 5.0, 5.0, 5.0), t(-5.0, -5.0, -5.0, -5.0))
class AdaptiveComputationTime(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.cell = nn.Linear(4, 4)
        self.halt = nn.Linear(4, 1)

    def forward(self, x):
        total = torch.zeros(1)
        out = torch.zeros(4)
        steps = 0
        while total < 0.99 and steps < 10:
            x = torch.tanh(self.cell(x))
            p = torch.sigmoid(self.halt(x))
            if total + p > 0.99:
                p = 1 - total
            out = out + p * x
            total = total + p
            steps += 1
        return out, steps


@program(torch.randn(6, 4, generator=torch.Generator().manual_seed(0)),
         -torch.randn(6, 4, generator=torch.Generator().manual_seed(1)))  # fmt: skip
class MixtureOfExperts(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        choice = self.gate(x).argmax(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = (choice == i).nonzero().flatten()
            if rows.numel() > 0:
                out[rows] = expert(x[rows])
        return out


@program((torch.randn(5, 3, generator=torch.Generator().manual_seed(0)), torch.tensor(5)),
         (torch.randn(5, 3, generator=torch.Generator().manual_seed(0)), torch.tensor(1)),
         (torch.randn(5, 3, generator=torch.Generator().manual_seed(0)), torch.tensor(0)))  # fmt: skip
class StoppingRNN(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(4)
        self.cell = nn.RNNCell(3, 4)

    def forward(self, x, length):
        h = torch.zeros(4)
        for i in range(length.item()):
            h = self.cell(x[i], h)
            if h.norm() > 1.6:
                break
        return h


@program(torch.tensor([1]), torch.tensor([2]))
class BeamSearch(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.table = nn.Parameter(torch.randn(5, 5))

    def forward(self, start):
        beams = [(start, torch.zeros(()))]
        for _ in range(3):
            grown = []
            for tokens, score in beams:
                logp = self.table[tokens[-1]].log_softmax(-1)
                values, indices = logp.topk(2)
                for value, index in zip(values.unbind(), indices.unbind()):
                    grown.append((torch.cat([tokens, index[None]]), score + value))
            beams = sorted(grown, key=lambda beam: beam[1], reverse=True)[:2]
        return beams[0]


@program((t(0.0, 0.0), t(1.0, 2.0)), (t(1.0, 2.0), t(1.0, 2.0)))
def gradient_descent_until_flat(x, target):
    for _ in range(20):
        g = 2 * (x - target)
        if g.norm() < 1e-2:
            break
        x = x - 0.25 * g
    return x


@program(t(2.0), t(0.5))
def bisection(a):
    low, high = torch.zeros(1), torch.maximum(a, torch.ones(1))
    while (high - low).max() > 1e-3:
        mid = (low + high) / 2
        if (mid * mid < a).all():
            low = mid
        else:
            high = mid
    return (low + high) / 2


@program(t(3.0), t(7.0), t(1.0))
def collatz(x):
    n = int(x.item())
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return x * steps


@program(
    (torch.tensor(12), torch.tensor(18)),
    (torch.tensor(7), torch.tensor(5)),
    (torch.tensor(3), torch.tensor(0)),
)
def greatest_common_divisor(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@program((torch.eye(2) * 2, t(1.0, 0.0)), (torch.tensor([[2.0, 1.0], [1.0, 3.0]]), t(1.0, 1.0)))
def power_iteration(m, v):
    previous = v * 0
    steps = 0
    while (v - previous).norm() > 1e-3 and steps < 50:
        previous = v
        v = m @ v
        v = v / v.norm()
        steps += 1
    return v


@program(t(3.0, 1.0, 2.0), t(1.0, 2.0, 3.0))
def bubble_sort(x):
    values = list(x.unbind())
    for i in range(3):
        for j in range(2 - i):
            if values[j] > values[j + 1]:
                values[j], values[j + 1] = values[j + 1], values[j]
    return torch.stack(values)


@program((torch.tensor([[4.0, 1.0], [1.0, 3.0]]), t(1.0, 2.0)), (torch.eye(2), t(0.0, 0.0)))
def conjugate_gradient(a, b):
    x = torch.zeros_like(b)
    r = b - a @ x
    p = r
    rs = r @ r
    for _ in range(5):
        if rs < 1e-8:
            break
        ap = a @ p
        alpha = rs / (p @ ap)
        x = x + alpha * p
        r = r - alpha * ap
        new = r @ r
        p = r + (new / rs) * p
        rs = new
    return x


@program((torch.tensor([1, 3, 5, 7]), torch.tensor(5)), (torch.tensor([1, 3, 5, 7]), torch.tensor(4)))
def binary_search(values, key):
    low, high = 0, 4
    while low < high:
        mid = (low + high) // 2
        if values[mid] < key:
            low = mid + 1
        else:
            high = mid
    return low


@program(t(1.0, float("nan")), t(1.0, 2.0))
def replaces_nan(x):
    if torch.isnan(x).any():
        x = torch.nan_to_num(x)
    return x * 2
