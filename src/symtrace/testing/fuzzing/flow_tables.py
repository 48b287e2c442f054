"""Statements in which data decides which way a program goes; see `tables`."""

from __future__ import annotations

from .tables import table

__all__ = ["FLOW"]

FLOW = table("""
{r} = {a} * 2 if {a}.sum() > 0 else {b}
{r} = {a} * ({a}.sum() > 0 and {b}.sum() > 0)
{r} = {a} + (1 if not ({a}.sum() > {k} or {b}.sum() < 0) else 2)
{r} = {a} + (2 if -2 < {a}.sum() <= {k} else 3)
{r} = {a} * 1; if {a}.sum() > 0:;     {r} = {b} * 2
{r} = {a} * 1; if {a}.sum() > {k}:;     {r}.mul_(2); else:;     {r} += {b}
{r} = {a} * 1; if {r}.max() > 1:;     {r}[0] = 0
n = 0; if {a}.sum() > 0:;     n = {k}; elif {b}.sum() > 0:;     n = 2.5; {r} = {a} * n
if {a}.sum() > 0:;     {r} = {a} + torch.rand_like({a}); else:;     {r} = {b} * torch.rand(4)
if {a}.sum() > 0:;     self.seen += 1; {r} = {a} + self.seen | self.register_buffer('seen', torch.zeros(()))
if {a}.sum() > 0:;     self.steps = self.steps + 1; {r} = {a} * self.steps | self.steps = 1
if {a}.sum() > 0:;     self.a = self.a + {b}.detach()[0]; {r} = {a} + self.a | self.register_buffer('a', torch.ones(4))
{r} = {a} * 1; if {a}.sum() > 8:;     raise ValueError('large')
assert {a}.sum() < 9, 'large'; {r} = {a} - 1
{r} = sum(t for t in {a} if t.sum() > 0) + {a}
{r} = {a} + sum([t * 2 for t in {a} if t[0] > 0])
kept = [t for t in {a} if t.sum() > 0]; {r} = {a} + torch.stack(kept).sum(0) if kept else {b}
{r} = {a} + sum(1 for t in {a} if t.max() > 1)
{r} = {a} * (2 if any(t.sum() > 2 for t in {a}) else 3)
{r} = {a} * (2 if all(t.max() > 0 for t in {a}) else 3)
{r} = {a} + max({a}.sum(), {b}.sum())
{r} = {a} + min([{a}.sum(), {b}.mean()])
{r} = sorted([{a}, {b}], key=lambda t: t.sum())[0] * 1
{r} = max([{a}, {b}], key=lambda t: t.mean()) + 1
{r} = torch.stack(sorted({a}, key=lambda t: t[0]))
{r} = torch.stack(sorted({a}.unbind(), key=lambda t: -t[0]))
outs = []; for t in {a}:;     outs.append(t * 2);     if t.sum() > 1:;         break; {r} = {b} + sum(outs)
outs = []; for t in {a}:;     if t.sum() > 1:;         continue;     outs.append(t); {r} = {b} + len(outs)
{r} = {a} * 1; for t in {a}:;     if t.sum() > 3:;         {r} = {r} * 2;         break; else:;     {r} = {r} - 1
{r} = {a} * 1; for t, s in zip({a}, {b}):;     {r} = {r} + (t if t.sum() > s.sum() else s)
{r} = {a} * 1; for i, t in enumerate({a}):;     if t[0] > 0:;         {r} = {r} + i
{r} = {a} * 1; for i in range(int({a}.abs().sum()) % 4):;     {r} = {r} + i
n = 0; {r} = {a} * 1; while {r}.sum() > 0 and n < 3:;     {r} = {r} - 1;     n += 1; {r} = {r} + n
{r} = {a} * 1; while {r}.abs().sum() > 2:;     {r} = {r} / 2
{r} = {a} * 1; while True:;     {r} = {r} / 2;     if {r}.abs().max() < 1:;         break
{r} = {a}; while ({r}.abs().sum()) > 4:;     {r} = {r} * 0.5 * torch.rand(())
{r} = {a} * 1; while (total := {r}.abs().sum()) > 4:;     {r} = {r} / 2; {r} = {r} + total
last = None; for t in {a}:;     if last is None or t.sum() > last.sum():;         last = t; {r} = {a} + last
{r} = {a}; with torch.no_grad():;     if {a}.sum() > 0:;         {r} = {a} * 2
{r} = {a} * 1; try:;     if {a}.sum() > 0:;         {r} = {r} + 1; finally:;     {r} = {r} * 2
{r} = {b}; match int({a}.sum()):;     case 0:;         {r} = {a};     case n if {b}[0, 0] > 0:;         {r} = {a} * n
{r} = {a}; if {a}.sum() > 0:;     if {b}[0, 0] > 0:;         {r} = {b};     else:;         {r} = {r} - torch.rand(4)
x_, y_ = {a} * 1, {b} * 1; if {a}.sum() > {b}.sum():;     x_, y_ = y_, x_; {r} = x_ - 2 * y_
items = {{'k': {a}}}; if {a}.sum() > 0:;     items['k'] = {b}; {r} = items['k'] + 1
def pick(t):;     if t.sum() > 0:;         return t * 2;     return t - 1; {r} = pick({a}) + pick({b})
if {a}.sum() > 0:;     {r} = F.dropout({a}, 0.5, self.training); else:;     {r} = {b}
if self.training and {a}.sum() > 0:;     {r} = {a} + 1; else:;     {r} = {b} * 1
{r} = {a} + {a}[{a}[:, 0] > 0].sum(0)
{r} = {a} * 1; for t in {a}[{a}[:, 0] > 0]:;     {r} = {r} + t
{r} = {a} * (3 if {a}.sum().item() in (0.0, 1.0) else 2)
rows = {a}.nonzero(); {r} = {a} + (rows.shape[0] if rows.numel() > 4 else 0)
""")
