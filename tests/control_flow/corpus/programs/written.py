"""The algorithms of `algorithms`, each in the other ways in which people write it."""

from __future__ import annotations

import torch
from torch import nn

from ..program import program, t


def _seeded(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


BOXES = torch.tensor([[0.0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6], [5, 5, 6, 6.1]])
APART = torch.tensor([[0.0, 0, 2, 2], [3, 3, 4, 4], [5, 5, 6, 6], [8, 8, 9, 9]])
SCORES = t(0.9, 0.8, 0.7, 0.95)


# ---------------------------------------------------------------------- Newton and its like


@program(t(4.0), t(1.0), t(100.0))
def newton_with_limit(a, tol=1e-5, max_iter=30):
    x = a / 2
    for _ in range(max_iter):
        nxt = 0.5 * (x + a / x)
        if torch.abs(nxt - x).item() < tol:
            x = nxt
            break
        x = nxt
    return x


@program(t(4.0), t(1.0), t(100.0))
def newton_while_true(a):
    x = a
    steps = 0
    while True:
        step = (x * x - a) / (2 * x)
        x = x - step
        steps += 1
        if step.abs().max() < 1e-5:
            break
    return x, steps


@program(t(4.0), t(1.0), t(100.0))
def newton_with_error(a):
    x = torch.ones_like(a)
    err = float("inf")
    n = 0
    while err > 1e-4 and n < 50:
        new = 0.5 * (x + a / x)
        err = (new - x).abs().max().item()
        x = new
        n += 1
    return x


@program(t(0.5), t(1.5))
def newton_raises(a):
    x = a
    for _ in range(3):
        x = x - (x**3 - 2) / (3 * x**2)
        if (x**3 - 2).abs() < 1e-2:
            return x
    raise RuntimeError("no convergence")


@program(t(1.0, 2.0), t(0.0, 0.1))
def fixed_point(x):
    prev = torch.full_like(x, float("inf"))
    k = 0
    while not torch.allclose(x, prev, atol=1e-4):
        prev, x = x, torch.cos(x)
        k += 1
        if k >= 100:
            break
    return x


# ---------------------------------------------------------------------- clipping


@program((t(3.0, 4.0), t(1.0)), (t(0.1, 0.2), t(0.1)))
def clip_several(x, y):
    grads = [x, y]
    total = torch.sqrt(sum(g.pow(2).sum() for g in grads))
    if total > 1.0:
        grads = [g / total for g in grads]
    return tuple(grads)


@program((t(3.0, 4.0), t(1.0)), (t(0.1, 0.2), t(0.1)))
def clip_in_place(x, y):
    grads = [x.detach().clone(), y.detach().clone()]
    total = torch.norm(torch.stack([torch.norm(g) for g in grads]))
    coef = 1.0 / (total + 1e-6)
    if coef < 1:
        for g in grads:
            g.mul_(coef)
    return tuple(grads)


@program(t(3.0, 4.0), t(0.3, 0.4), t(0.0, 0.0))
def clip_returns_norm(x):
    norm = x.norm().item()
    if norm > 1.0:
        return x * (1.0 / norm), norm
    return x, norm


# ---------------------------------------------------------------------- decoding


class _Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embed = nn.Embedding(6, 4)
        self.cell = nn.GRUCell(4, 4)
        self.out = nn.Linear(4, 6)


@program(torch.tensor([1]), torch.tensor([3]), torch.tensor([5]))
class ListDecoder(_Decoder):
    def forward(self, start):
        h = torch.zeros(1, 4)
        token = start
        tokens = []
        for _ in range(7):
            h = self.cell(self.embed(token), h)
            token = self.out(h).argmax(-1)
            tokens.append(token)
            if token.item() == 0:
                break
        return torch.cat(tokens)


@program(torch.tensor([1]), torch.tensor([3]), torch.tensor([5]))
class LengthDecoder(_Decoder):
    def forward(self, tokens):
        h = torch.zeros(1, 4)
        while tokens.size(0) < 6:
            h = self.cell(self.embed(tokens[-1:]), h)
            token = self.out(h).argmax(-1)
            tokens = torch.cat([tokens, token])
            if (token == 2).all():
                return tokens
        return tokens


@program(torch.tensor([[1], [2]]), torch.tensor([[3], [5]]))
class BatchDecoder(_Decoder):
    def forward(self, tokens):
        done = torch.zeros(tokens.size(0), dtype=torch.bool)
        h = torch.zeros(tokens.size(0), 4)
        for _ in range(6):
            h = self.cell(self.embed(tokens[:, -1]), h)
            token = self.out(h).argmax(-1)
            token = torch.where(done, torch.zeros_like(token), token)
            tokens = torch.cat([tokens, token.unsqueeze(1)], dim=1)
            done = done | (token == 0)
            if done.all():
                break
        return tokens


@program(torch.tensor([1]), torch.tensor([4]))
class NoGradDecoder(_Decoder):
    @torch.no_grad()
    def generate(self, tokens, limit):
        for _ in range(limit):
            logits = self.out(self.embed(tokens).mean(0))
            token = int(logits.argmax())
            if token == 3:
                break
            tokens = torch.cat([tokens, torch.tensor([token])])
        return tokens

    def forward(self, tokens):
        return self.generate(tokens, 5)


@program(torch.tensor([1]), torch.tensor([4]))
class NoGradBlockDecoder(_Decoder):
    def forward(self, tokens):
        with torch.no_grad():
            for _ in range(5):
                token = self.out(self.embed(tokens).mean(0)).argmax()
                tokens = torch.cat([tokens, token.view(1)])
                if token == 3:
                    return tokens
            return tokens


# ---------------------------------------------------------------------- adaptive computation time


class _Ponder(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.cell = nn.Linear(4, 4)
        self.halt = nn.Linear(4, 1)


PONDER = (t(0.1, 0.2, 0.3, 0.4), t(5.0, 5.0, 5.0, 5.0), t(-5.0, -5.0, -5.0, -5.0))


@program(*PONDER)
class PonderWithBreak(_Ponder):
    def forward(self, x):
        remainder = torch.ones(1)
        out = torch.zeros_like(x)
        for step in range(8):
            x = torch.tanh(self.cell(x))
            p = torch.sigmoid(self.halt(x))
            if remainder - p < 0.01:
                out = out + remainder * x
                break
            out = out + p * x
            remainder = remainder - p
        return out


@program(*PONDER)
class PonderWithNumbers(_Ponder):
    def forward(self, x):
        total, n = 0.0, 0
        out = 0
        while total < 0.99 and n < 6:
            x = torch.tanh(self.cell(x))
            p = torch.sigmoid(self.halt(x)).item()
            p = min(p, 1 - total)
            out = out + p * x
            total += p
            n += 1
        return out, n


@program(torch.stack(PONDER), torch.stack(PONDER) * 0.01)
class PonderBatch(_Ponder):
    def forward(self, x):
        halting = torch.zeros(x.size(0))
        out = torch.zeros_like(x)
        steps = 0
        while (halting < 0.99).any() and steps < 6:
            p = torch.sigmoid(self.halt(x)).squeeze(-1)
            running = (halting < 0.99).float()
            x = torch.tanh(self.cell(x))
            out = out + (running * p).unsqueeze(-1) * x
            halting = halting + running * p
            steps += 1
        return out, halting


# ---------------------------------------------------------------------- ragged batches


RAGGED = (_seeded(3, 5, 2), torch.tensor([5, 1, 3])), (_seeded(3, 5, 2), torch.tensor([1, 1, 2]))


@program(*RAGGED)
def ragged_by_index(x, lengths):
    outs = []
    for i in range(x.size(0)):
        n = int(lengths[i])
        outs.append(x[i, :n].mean(0))
    return torch.stack(outs)


@program(*RAGGED)
def ragged_comprehension(x, lengths):
    return torch.stack([row[:n].sum(0) for row, n in zip(x, lengths)])


@program(*RAGGED)
def ragged_tolist(x, lengths):
    return torch.cat([row[:n] for row, n in zip(x, lengths.tolist())])


@program(*RAGGED)
def ragged_padded(x, lengths):
    out = torch.zeros_like(x)
    for i, n in enumerate(lengths):
        out[i, : n.item()] = x[i, : n.item()] * 2
    return out


@program((torch.tensor([1.0, 2, 3, 4, 5, 6]), torch.tensor([1, 3, 2])),
         (torch.tensor([1.0, 2, 3, 4, 5, 6]), torch.tensor([2, 2, 2])))  # fmt: skip
def ragged_flat(values, lengths):
    start = 0
    outs = []
    for n in lengths:
        stop = start + n
        outs.append(values[start:stop].sum())
        start = stop
    return torch.stack(outs)


# ---------------------------------------------------------------------- mixture of experts


class _Experts(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])


TOKENS = (_seeded(6, 4), -_seeded(6, 4, seed=1), torch.ones(6, 4))


@program(*TOKENS)
class ExpertsWhere(_Experts):
    def forward(self, x):
        top = self.gate(x).argmax(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            (idx,) = torch.where(top == i)
            if idx.numel() == 0:
                continue
            out.index_add_(0, idx, expert(x[idx]))
        return out


@program(*TOKENS)
class ExpertsTopTwo(_Experts):
    def forward(self, x):
        weights, chosen = torch.topk(self.gate(x).softmax(-1), 2)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            token, slot = torch.where(chosen == i)
            if token.shape[0] > 0:
                out[token] += weights[token, slot, None] * expert(x[token])
        return out


@program(*TOKENS)
class ExpertsMask(_Experts):
    def forward(self, x):
        top = self.gate(x).argmax(-1)
        out = x.new_zeros(x.shape)
        for i in range(3):
            mask = top == i
            if mask.any():
                out[mask] = self.experts[i](x[mask])
        return out


@program(*TOKENS)
class ExpertsHit(_Experts):
    def forward(self, x):
        top = self.gate(x).argmax(-1)
        out = torch.zeros_like(x)
        for i in range(len(self.experts)):
            idx = torch.nonzero(top == i).squeeze(-1)
            if len(idx) > 0:
                out = out.index_copy(0, idx, self.experts[i](x.index_select(0, idx)))
        return out


# ---------------------------------------------------------------------- non-maximum suppression


def _iou(a, b):
    lt = torch.max(a[:2], b[:2])
    rb = torch.min(a[2:], b[2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[0] * wh[1]
    return inter / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter)


@program((BOXES, SCORES), (APART, SCORES), (BOXES.flip(0), SCORES))
def nms_kept_boxes(boxes, scores):
    order = scores.argsort(descending=True)
    keep = []
    for i in order:
        ok = True
        for j in keep:
            if _iou(boxes[i], boxes[j]) > 0.5:
                ok = False
                break
        if ok:
            keep.append(i)
    return torch.stack(keep)


@program((BOXES, SCORES), (APART, SCORES), (BOXES.flip(0), SCORES))
def nms_all(boxes, scores):
    order = scores.argsort(descending=True)
    keep = []
    for i in order:
        if all(_iou(boxes[i], boxes[j]) <= 0.5 for j in keep):
            keep.append(i)
    return torch.stack(keep)


@program((BOXES, SCORES), (APART, SCORES), (BOXES.flip(0), SCORES))
def nms_vectorised(boxes, scores):
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        i = order[0]
        keep.append(i)
        if order.numel() == 1:
            break
        rest = order[1:]
        lt = torch.maximum(boxes[i, :2], boxes[rest, :2])
        rb = torch.minimum(boxes[i, 2:], boxes[rest, 2:])
        wh = (rb - lt).clamp(min=0)
        inter = wh[:, 0] * wh[:, 1]
        iou = inter / (area[i] + area[rest] - inter)
        order = rest[iou <= 0.5]
    return torch.stack(keep)


@program((BOXES, SCORES), (APART, SCORES), (BOXES.flip(0), SCORES))
def nms_suppressed(boxes, scores):
    n = boxes.shape[0]
    order = scores.argsort(descending=True)
    suppressed = torch.zeros(n, dtype=torch.bool)
    keep = []
    for i in range(n):
        a = order[i]
        if suppressed[a]:
            continue
        keep.append(a)
        for j in range(i + 1, n):
            b = order[j]
            if not suppressed[b] and _iou(boxes[a], boxes[b]) > 0.5:
                suppressed[b] = True
    return torch.stack(keep)


@program((BOXES, SCORES), (APART, SCORES), (BOXES.flip(0), SCORES))
def nms_items(boxes, scores):
    order = scores.argsort(descending=True).tolist()
    keep = []
    while len(order) > 0:
        best = order.pop(0)
        keep.append(best)
        order = [k for k in order if _iou(boxes[best], boxes[k]) <= 0.5]
    return torch.tensor(keep)
