"""More of the algorithms as people write them: recurrent nets, beam search, the best so far."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from ..program import program, t


def _seeded(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# ---------------------------------------------------------------------- recurrent nets


class _Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(4)
        self.cell = nn.GRUCell(3, 4)


STEPS = (_seeded(5, 3) * 0.3, _seeded(5, 3, seed=2) * 4)


@program(*STEPS)
class RecurrentRows(_Recurrent):
    def forward(self, xs):
        h = torch.zeros(4)
        outs = []
        for x in xs:
            h = self.cell(x, h)
            outs.append(h)
            if h.abs().max() > 0.6:
                break
        return torch.stack(outs), h


@program(*STEPS)
class RecurrentStopsBefore(_Recurrent):
    def forward(self, xs):
        h = xs.new_zeros(4)
        for step in range(xs.size(0)):
            new = self.cell(xs[step], h)
            if torch.norm(new - h) < 0.15:
                return h, step
            h = new
        return h, xs.size(0)


@program((STEPS[0], torch.tensor(5)), (STEPS[1], torch.tensor(2)), (STEPS[1], torch.tensor(0)))
class RecurrentLength(_Recurrent):
    def forward(self, xs, length):
        h = torch.zeros(4)
        t = 0
        while t < length and h.norm() < 1.0:
            h = self.cell(xs[t], h)
            t = t + 1
        return h, t


@program((_seeded(2, 4, 3), torch.tensor([4, 2])), (_seeded(2, 4, 3), torch.tensor([1, 1])))
class RecurrentBatch(_Recurrent):
    def forward(self, xs, lengths):
        h = torch.zeros(xs.size(0), 4)
        for step in range(int(lengths.max())):
            new = self.cell(xs[:, step], h)
            alive = (step < lengths).unsqueeze(1)
            h = torch.where(alive, new, h)
        return h


# ---------------------------------------------------------------------- beam search


@program(torch.tensor([1]), torch.tensor([2]))
class BeamWithStop(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.table = nn.Parameter(torch.randn(4, 4))

    def forward(self, start):
        beams = [(start, torch.tensor(0.0))]
        for _ in range(3):
            grown = []
            for seq, score in beams:
                logp = F.log_softmax(self.table[seq[-1]], dim=-1)
                for k in range(4):
                    grown.append((torch.cat([seq, torch.tensor([k])]), score + logp[k]))
            grown.sort(key=lambda b: b[1], reverse=True)
            beams = grown[:2]
        best = max(beams, key=lambda b: b[1])
        return best


@program(torch.tensor([1]), torch.tensor([2]))
class BeamTensors(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.table = nn.Parameter(torch.randn(4, 4))

    def forward(self, start):
        seqs = start.view(1, 1)
        scores = torch.zeros(1)
        for _ in range(4):
            logp = F.log_softmax(self.table[seqs[:, -1]], dim=-1)
            total = scores.unsqueeze(1) + logp
            scores, flat = total.view(-1).topk(2)
            beam = torch.div(flat, 4, rounding_mode="floor")
            token = flat % 4
            seqs = torch.cat([seqs[beam], token.unsqueeze(1)], dim=1)
            if (token == 0).all():
                break
        return seqs[scores.argmax()], scores


@program(torch.tensor([1]), torch.tensor([2]), torch.tensor([3]))
class BeamFinished(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(7)
        self.table = nn.Parameter(torch.randn(4, 4))

    def forward(self, start):
        beams = [(torch.tensor(0.0), start)]
        for _ in range(3):
            candidates = []
            for score, seq in beams:
                if seq[-1] == 0:
                    candidates.append((score, seq))
                    continue
                logp = self.table[seq[-1]].log_softmax(0)
                top, idx = logp.topk(2)
                for s, i in zip(top, idx):
                    candidates.append((score + s, torch.cat([seq, i.view(1)])))
            candidates = sorted(candidates, key=lambda c: c[0], reverse=True)
            beams = candidates[:2]
        return beams[0][1]


# ---------------------------------------------------------------------- the best so far


@program(_seeded(4, 3), _seeded(4, 3, seed=3), -_seeded(4, 3).abs())
def best_row(x):
    best = None
    best_score = None
    for row in x:
        score = row.sum()
        if best_score is None or score > best_score:
            best, best_score = row, score
    return best, best_score


@program(_seeded(4, 3), _seeded(4, 3, seed=3), -_seeded(4, 3).abs())
def best_score_inf(x):
    best, best_score = x[0], -math.inf
    for row in x:
        score = row.sum().item()
        if score > best_score:
            best, best_score = row, score
    return best


@program(_seeded(4, 3), _seeded(4, 3, seed=3), -_seeded(4, 3).abs())
def first_positive(x):
    found = None
    for row in x:
        if row.sum() > 0:
            found = row
            break
    if found is None:
        return torch.zeros(3)
    return found * 2


@program(_seeded(4, 3), _seeded(4, 3, seed=3), -_seeded(4, 3).abs())
def first_index(x):
    for i, row in enumerate(x):
        if row.max() > 1:
            return i
    return -1


@program(t(1.0, 2.0), t(-1.0, -2.0))
def mask_or_none(x):
    mask = None
    if x.sum() > 0:
        mask = x > 1
    if mask is not None:
        x = x.masked_fill(mask, 0.0)
    return x


@program(t(1.0, 2.0), t(-1.0, -2.0))
def named_mode(x):
    mode = "add" if x.sum() > 0 else "sub"
    if mode == "add":
        return x + 1
    return x - 1


@program(t(1.0, 2.0, 3.0), t(-1.0, -2.0, 3.0), t(-1.0, -2.0, -3.0))
def grouped(x):
    groups = {"pos": [], "neg": []}
    for v in x:
        if v > 0:
            groups["pos"].append(v)
        else:
            groups["neg"].append(v)
    return len(groups["pos"]), len(groups["neg"])


@program(t(1.0, 2.0, 3.0), t(-1.0, -2.0, 3.0), t(-1.0, -2.0, -3.0))
def partitioned(x):
    pos = [v for v in x if v > 0]
    neg = [v for v in x if not v > 0]
    return sum(pos), sum(neg), len(pos)


@program(t(1.0, 2.0, 3.0), t(-1.0, -2.0, 3.0), t(-1.0, -2.0, -3.0))
def early_exit_layers(x):
    for k in range(4):
        x = torch.tanh(x * (k + 1))
        confidence = x.softmax(0).max()
        if confidence > 0.6:
            return x, k
    return x, -1


@program(t(3.0), t(0.2))
def line_search(x):
    step = 1.0
    f = x * x
    while ((x - step * 2 * x) ** 2 > f - 0.5 * step * 4 * x * x).item():
        step *= 0.5
    return x - step * 2 * x
