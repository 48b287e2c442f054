"""Algorithms with decisions, each in several styles that people write them in."""

# ruff: noqa: F402, D101, D102, D103, D107, E702, F841, PLW2901, SIM102

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from ..program import program, t


def seeded(*shape, k=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(k))


class BeamDicts(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(6, 4)
        self.out = nn.Linear(4, 6)

    def step(self, tokens):
        return F.log_softmax(self.out(self.emb(tokens).mean(0)), -1)

    def forward(self, start):
        beams = [([start], torch.zeros(()))]
        for _ in range(3):
            candidates = []
            for seq, score in beams:
                logp = self.step(torch.stack(seq))
                values, ids = logp.topk(2)
                for k in range(2):
                    candidates.append((seq + [ids[k]], score + values[k]))
            candidates.sort(key=lambda c: c[1], reverse=True)
            beams = candidates[:2]
        best, score = beams[0]
        return torch.stack(best), score


program(torch.tensor(0), torch.tensor(3))(BeamDicts)


class BeamEos(nn.Module):
    EOS = 5

    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(6, 4)
        self.rnn = nn.GRUCell(4, 4)
        self.out = nn.Linear(4, 6)

    def forward(self, start):
        h = torch.zeros(1, 4)
        beams = [(start.view(1), torch.zeros(()), h, False)]
        for _ in range(4):
            all_done = True
            cand = []
            for seq, score, h, done in beams:
                if done:
                    cand.append((seq, score, h, True))
                    continue
                all_done = False
                h2 = self.rnn(self.emb(seq[-1:]), h)
                lp = F.log_softmax(self.out(h2)[0], -1)
                v, i = lp.topk(2)
                for k in range(2):
                    cand.append((torch.cat([seq, i[k : k + 1]]), score + v[k], h2, (i[k] == self.EOS).item()))
            if all_done:
                break
            cand = sorted(cand, key=lambda c: c[1].item(), reverse=True)
            beams = cand[:2]
        return beams[0][0], beams[0][1]


program(torch.tensor(0), torch.tensor(3))(BeamEos)


class BeamTopk(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(6, 4)
        self.out = nn.Linear(4, 6)

    def forward(self, start, beam: int = 3, steps: int = 4):
        seqs = start.view(1, 1).expand(beam, 1)
        scores = torch.full((beam,), -1e9)
        scores[0] = 0.0
        done = torch.zeros(beam, dtype=torch.bool)
        for t in range(steps):
            lp = F.log_softmax(self.out(self.emb(seqs[:, -1])), -1)
            lp = torch.where(done[:, None], torch.full_like(lp, -1e9), lp)
            total = scores[:, None] + lp
            flat, idx = total.view(-1).topk(beam)
            beam_idx, tok = idx // 6, idx % 6
            seqs = torch.cat([seqs[beam_idx], tok[:, None]], 1)
            scores = flat
            done = done[beam_idx] | (tok == 5)
            if done.all():
                break
        best = scores.argmax()
        return seqs[best], scores[best]


program(torch.tensor(0), torch.tensor(3), torch.tensor(5))(BeamTopk)


class GreedyWhile(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(6, 4)
        self.rnn = nn.GRUCell(4, 4)
        self.out = nn.Linear(4, 6)
        self.max_len = 6
        self.eos_id = 2

    def forward(self, src):
        h = src.mean(0, keepdim=True)
        token = torch.zeros(1, dtype=torch.long)
        result = []
        while len(result) < self.max_len:
            h = self.rnn(self.emb(token), h)
            token = self.out(h).argmax(-1)
            if token.item() == self.eos_id:
                break
            result.append(token.item())
        return result


program(seeded(3, 4), seeded(2, 4, k=1), seeded(3, 4, k=5), seeded(3, 4, k=9))(GreedyWhile)


class GreedyCat(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(6, 4)
        self.lin = nn.Linear(4, 6)

    @torch.no_grad()
    def forward(self, ids):
        for _ in range(5):
            logits = self.lin(self.emb(ids).cumsum(1)[:, -1])
            nxt = torch.argmax(logits, dim=-1, keepdim=True)
            ids = torch.cat((ids, nxt), dim=1)
            if (nxt == 4).all():
                break
        return ids


program(torch.tensor([[0, 1]]), torch.tensor([[3, 2]]), torch.tensor([[4, 2]]))(GreedyCat)


class GreedyFinished(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(6, 4)
        self.lin = nn.Linear(4, 6)

    def forward(self, ids):
        B = ids.size(0)
        finished = [False] * 2
        outs = [[], []]
        for t in range(4):
            logits = self.lin(self.emb(ids).mean(1))
            nxt = logits.argmax(-1)
            for b in range(2):
                if not finished[b]:
                    outs[b].append(nxt[b])
                    if nxt[b] == 2:
                        finished[b] = True
            if all(finished):
                break
            ids = torch.cat([ids, nxt[:, None]], 1)
        return [len(o) for o in outs], ids


program(torch.tensor([[0, 1], [3, 3]]), torch.tensor([[3, 2], [1, 1]]), torch.tensor([[4, 2], [5, 5]]))(
    GreedyFinished
)


class GreedySample(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(6, 4)
        self.lin = nn.Linear(4, 6)

    def forward(self, tok, temperature: float = 1.0):
        out = [tok]
        while True:
            p = F.softmax(self.lin(self.emb(out[-1])) / temperature, -1)
            nxt = torch.multinomial(p, 1)[0]
            out.append(nxt)
            if nxt == 1 or len(out) >= 6:
                break
        return torch.stack(out)


program(torch.tensor(0), torch.tensor(3), torch.tensor(1))(GreedySample)


class ActLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(4, 4)
        self.halt = nn.Linear(4, 1)

    def forward(self, x):
        eps = 0.01
        halting = x.new_zeros(x.size(0))
        remain = x.new_zeros(x.size(0))
        updates = x.new_zeros(x.size(0))
        acc = torch.zeros_like(x)
        step = 0
        while ((halting < 1.0 - eps) & (updates < 8)).any():
            p = torch.sigmoid(self.halt(x)).squeeze(-1)
            running = (halting < 1.0).float()
            new_halted = (halting + p * running > 1.0 - eps).float() * running
            running = (halting + p * running <= 1.0 - eps).float() * running
            halting = halting + p * running
            remain = remain + new_halted * (1 - halting)
            halting = halting + new_halted * remain
            updates = updates + running + new_halted
            w = p * running + new_halted * remain
            x = torch.tanh(self.cell(x))
            acc = acc * (1 - w.unsqueeze(-1)) + x * w.unsqueeze(-1)
            step += 1
        return acc, remain, updates, step


program(seeded(3, 4), seeded(3, 4, k=2) * 5, seeded(3, 4, k=3) - 10)(ActLoop)


class ActScalar(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 4)
        self.halt = nn.Linear(4, 1)

    def forward(self, x):
        h = torch.zeros_like(x)
        total_p, n = 0.0, 0
        ys, ps = [], []
        for n in range(1, 7):
            h = self.cell(x, h)
            p = torch.sigmoid(self.halt(h)).mean()
            ys.append(h)
            if total_p + p > 0.95 or n == 6:
                ps.append(1 - total_p)
                break
            ps.append(p)
            total_p = total_p + p
        out = sum(p * y for p, y in zip(ps, ys))
        return out, n + ps[-1]


program(seeded(3, 4), seeded(3, 4, k=2) * 5, seeded(3, 4, k=3) - 10)(ActScalar)


class PonderNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Linear(4, 4)
        self.lam = nn.Linear(4, 1)

    def forward(self, x):
        un = torch.ones(x.shape[0])
        halted = torch.zeros(x.shape[0])
        y = torch.zeros_like(x)
        for n in range(1, 6):
            lam = torch.sigmoid(self.lam(x))[:, 0] if n < 5 else torch.ones(x.shape[0])
            p = un * lam
            un = un * (1 - lam)
            halt = torch.bernoulli(lam) * (1 - halted)
            y = y * (1 - halt[:, None]) + x * halt[:, None]
            halted = halted + halt
            x = torch.tanh(self.f(x))
            if not self.training and halted.sum() == x.shape[0]:
                break
        return y


program(seeded(3, 4), seeded(3, 4, k=2) * 5, seeded(3, 4, k=3) - 10)(PonderNet)


def cubic(x):
    return x**3 - 2 * x - 5


@program(t(2.0), t(3.0), t(-1.0), t(0.5))
def newton_autograd(x0):
    x = x0
    for i in range(20):
        fx = cubic(x)
        dfx = 3 * x**2 - 2
        if torch.abs(dfx) < 1e-12:
            raise ZeroDivisionError("derivative is zero")
        x_new = x - fx / dfx
        if torch.abs(x_new - x) < 1e-6:
            return x_new, i
        x = x_new
    raise RuntimeError(f"no convergence after {20} steps, x = {x.item():.4f}")


@program(t(2.0), t(9.0), t(0.0))
def newton_sqrt(a):
    x = a if a > 1 else torch.ones_like(a)
    err = float("inf")
    it = 0
    while err > 1e-5 and it < 50:
        nxt = 0.5 * (x + a / x)
        err = (nxt - x).abs().item()
        x = nxt
        it += 1
    return x, it


@program(seeded(3), seeded(3, k=2) * 4)
def newton_multi(x):
    A = torch.tensor([[3.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 5.0]])
    converged = False
    k = 0
    while not converged:
        grad = A @ x + x**3
        H = A + torch.diag(3 * x**2)
        dx = torch.linalg.solve(H, -grad)
        step = 1.0
        while ((A @ (x + step * dx) + (x + step * dx) ** 3).norm() > grad.norm()) and step > 1e-3:
            step *= 0.5
        x = x + step * dx
        k += 1
        converged = dx.norm() < 1e-5 or k >= 20
    return x


class NewtonClass:
    def __init__(self, tol=1e-5, max_iter=30):
        self.tol, self.max_iter = tol, max_iter
        self.history = []

    def solve(self, x):
        for it in range(self.max_iter):
            fx = cubic(x)
            self.history.append(fx)
            if fx.abs().max() <= self.tol:
                break
            x = x - fx / (3 * x * x - 2)
        return x


@program(t(2.0), t(3.0))
def newton_object(x):
    s = NewtonClass()
    r = s.solve(x)
    return r, len(s.history)


@program((seeded(3), seeded(2, 2)), (seeded(3) * 100, seeded(2, 2)))
def clip_total(a, b):
    grads = [a, b]
    max_norm = 1.0
    total_norm = 0
    for p in grads:
        param_norm = p.norm(2)
        total_norm += param_norm.item() ** 2
    total_norm = total_norm ** (1.0 / 2)
    clip_coef = max_norm / (total_norm + 1e-6)
    if clip_coef < 1:
        for i, p in enumerate(grads):
            grads[i] = p * clip_coef
    return grads


@program((seeded(3), 1.0), (seeded(3) * 100, 1.0))
def clip_inf(x, m):
    norm = max(v.abs().max() for v in x.split(1))
    if torch.isnan(norm) or torch.isinf(norm):
        raise RuntimeError("non-finite")
    return x if norm <= m else x * (m / norm)


@program(seeded(3, 4), seeded(3, 4) * 9)
def clip_rows(x):
    out = []
    for row in x.unbind(0):
        n = torch.linalg.vector_norm(row)
        out.append(row / n if n > 1 else row)
    return torch.stack(out)


@program((seeded(3, 5), torch.tensor([2, 5, 1])), (seeded(3, 5), torch.tensor([1, 1, 3])))
def ragged_mean(x, lengths):
    outs = []
    for i in range(x.shape[0]):
        n = lengths[i].item()
        outs.append(x[i, :n].mean())
    return torch.stack(outs)


@program((seeded(3, 5), torch.tensor([2, 5, 1])), (seeded(3, 5), torch.tensor([1, 1, 3])))
def ragged_zip(x, lengths):
    return torch.stack([row[:n].max() for row, n in zip(x, lengths)])


@program((seeded(3, 5), torch.tensor([2, 5, 1])), (seeded(3, 5), torch.tensor([1, 1, 3])))
def ragged_pack(x, lengths):
    parts = [x[i][: int(l)] for i, l in enumerate(lengths.tolist())]
    flat = torch.cat(parts)
    return flat, [p.numel() for p in parts]


@program((seeded(3, 5), torch.tensor([2, 5, 1])), (seeded(3, 5), torch.tensor([1, 1, 3])))
def ragged_offsets(x, lengths):
    flat = x.reshape(-1)
    start = 0
    sums = []
    for n in lengths:
        end = start + n.item()
        sums.append(flat[start:end].sum())
        start = end
    return sums[0] + sums[1] + sums[2], start


@program((seeded(8), torch.tensor([2, 5, 1])), (seeded(8), torch.tensor([1, 4, 3])))
def ragged_split(x, lengths):
    return [p.sum() for p in torch.split(x, lengths.tolist())]


class MoeLoop(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        w, sel = torch.topk(F.softmax(self.gate(x), -1), 2)
        w = w / w.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for i, ex in enumerate(self.experts):
            rows, nth = torch.where(sel == i)
            out[rows] += w[rows, nth, None] * ex(x[rows])
        return out


program(seeded(5, 4), seeded(5, 4, k=2), seeded(5, 4, k=3) * 9)(MoeLoop)


class MoeSkip(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        top = probs.argmax(-1)
        out = x.clone()
        for e in range(len(self.experts)):
            idx = (top == e).nonzero(as_tuple=True)[0]
            if idx.numel() == 0:
                continue
            out = out.index_add(0, idx, probs[idx, e].unsqueeze(1) * self.experts[e](x[idx]))
        return out


program(seeded(5, 4), seeded(5, 4, k=2), seeded(5, 4, k=3) * 9)(MoeSkip)


class MoeCapacity(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])

    def forward(self, x):
        top = self.gate(x).argmax(-1)
        outs = []
        idxs = []
        for e, ex in enumerate(self.experts):
            idx = torch.nonzero(top == e).flatten()
            if idx.shape[0] > 2:
                idx = idx[:2]
            if len(idx) > 0:
                outs.append(ex(x[idx]))
                idxs.append(idx)
        y = torch.zeros_like(x)
        if idxs:
            y[torch.cat(idxs)] = torch.cat(outs)
        return y


program(seeded(5, 4), seeded(5, 4, k=2), seeded(5, 4, k=3) * 9)(MoeCapacity)


def iou(a, b):
    x1 = max(a[0], b[0])
    y1 = max(a[1], b[1])
    x2 = min(a[2], b[2])
    y2 = min(a[3], b[3])
    inter = max(x2 - x1, 0) * max(y2 - y1, 0)
    area = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter
    return inter / area


BX = torch.tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.1, 2.0], [3.0, 3.0, 5.0, 5.0], [3.0, 3.0, 5.0, 5.2]])
BY = torch.tensor([[0.0, 0.0, 2.0, 2.0], [5.0, 5.0, 7.0, 7.0], [3.0, 3.0, 5.0, 5.0], [9.0, 9.0, 10.0, 10.0]])
S = torch.tensor([0.9, 0.8, 0.7, 0.95])


@program((BX, S), (BY, S), (BX, S.flip(0)))
def nms_while(boxes, scores):
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        i = order[0]
        keep.append(i)
        if order.numel() == 1:
            break
        rest = order[1:]
        xx1 = boxes[rest, 0].clamp(min=boxes[i, 0])
        yy1 = boxes[rest, 1].clamp(min=boxes[i, 1])
        xx2 = boxes[rest, 2].clamp(max=boxes[i, 2])
        yy2 = boxes[rest, 3].clamp(max=boxes[i, 3])
        inter = (xx2 - xx1).clamp(min=0) * (yy2 - yy1).clamp(min=0)
        area = (boxes[rest, 2] - boxes[rest, 0]) * (boxes[rest, 3] - boxes[rest, 1])
        ai = (boxes[i, 2] - boxes[i, 0]) * (boxes[i, 3] - boxes[i, 1])
        ov = inter / (ai + area - inter)
        order = rest[ov <= 0.5]
    return torch.stack(keep)


@program((BX, S), (BY, S), (BX, S.flip(0)))
def nms_loops(boxes, scores):
    idx = torch.argsort(scores, descending=True)
    suppressed = [False] * 4
    keep = []
    for a in range(4):
        if suppressed[a]:
            continue
        keep.append(idx[a])
        for b in range(a + 1, 4):
            if suppressed[b]:
                continue
            if iou(boxes[idx[a]], boxes[idx[b]]) > 0.5:
                suppressed[b] = True
    return torch.stack(keep)


@program((BX, S), (BY, S), (BX, S.flip(0)))
def nms_any(boxes, scores):
    keep = []
    for i in scores.argsort(descending=True):
        if all(iou(boxes[i], boxes[j]) <= 0.5 for j in keep):
            keep.append(i)
    return torch.stack(keep)


@program((BX, S), (BY, S), (BX, S.flip(0)))
def nms_list(boxes, scores):
    items = sorted([(scores[i], i) for i in range(4)], key=lambda p: p[0], reverse=True)
    kept = []
    while items:
        s, i = items.pop(0)
        kept.append(i)
        items = [(t, j) for t, j in items if iou(boxes[i], boxes[j]) <= 0.5]
    return kept
