"""Tables of statements, one a line: `lines; separated; so | setup; lines`. See `forms` for the names in braces."""

from __future__ import annotations

__all__ = ["CALLS", "CONTAINERS", "DRAWS", "FUNCTIONS", "MODES", "QUESTIONS", "REFUSED", "STATE", "WRITES"]


def table(text: str) -> tuple[str, ...]:
    return tuple(line for line in text.splitlines() if line)


FUNCTIONS = table("""
{r} = torch.relu({a})
{r} = -{a}
{r} = {a}.tanh()
{r} = torch.sigmoid({a})
{r} = {a} * 0.5 + 1
{r} = 2 - {a}
{r} = 1 / ({a}.abs() + 1)
{r} = {a} ** 2 * 0.1
{r} = F.softmax({a}, dim=-1)
{r} = F.gelu({a})
{r} = {a} - {a}.mean(dim=-1, keepdim=True)
{r} = {a}.clamp(min=-1.0, max=1.0)
{r} = {a}.transpose(0, 1).contiguous().transpose(0, 1)
{r} = {a}.reshape(-1).view({a}.size(0), -1)
{r} = {a} / {a}.size(0)
{r} = {a} * {a}.shape[1]
{r} = torch.cat([{a}[:, 1:], {a}[:, :1]], dim=1)
{r} = torch.where({a} > 0, {a}, {b})
{r} = {a}.clone()
{r} = {a}.detach()
{r} = {a} + {b}
{r} = torch.sub({a}, {b}, alpha=2)
{r} = {a}.mul({b})
{r} = torch.maximum({a}, {b})
{r} = torch.lerp({a}, {b}, 0.25)
{r} = torch.stack([{a}, {b}], dim=0).sum(0)
{r} = {a} @ ({b}.transpose(0, 1) @ {b}) * 0.1
{r} = torch.einsum('ij,ij->ij', {a}, {b})
{r} = {a}.sort(dim=1)[0]
{r} = {a}.max(dim=1, keepdim=True).values + {b}
{r} = torch.zeros({a}.shape) + {a}
{r} = {a} + torch.ones({a}.size(0), 4)
{r} = {a} + torch.arange(4)
{r} = {a} * torch.arange({b}.size(0))[:, None]
{r} = {a} + torch.tensor([1.0, 2.0, 3.0, 4.0])
{r} = {a} @ torch.eye(4)
{r} = {a} + {b}.new_ones({b}.shape)
{r} = {a} + torch.full(({b}.size(0), 1), 2.0)
{r} = {a} + torch.zeros_like({b})
{r} = {a} * TABLE
n, d = {a}.shape; {r} = {a}.view(n * d).view(n, d) + n
{r} = {a} / math.sqrt({a}.size(1))
{r} = {a} * len({b})
{r} = {a}.expand({a}.shape) + {a}.numel()
{r} = {a}.unsqueeze(1).repeat(1, 2, 1).sum(1)
{r} = {a}[:, [0, 2, 1, 3]]
{r} = {a}[..., ::2].repeat(1, 2)
{r} = {a}[{a}.size(0) // 2:].sum(0, keepdim=True) + {b}
{r} = {a}.to(torch.float64).float()
{r} = {a}.to({b}.dtype)
{r} = {a}.type_as({b})
{r} = {a}.float().flatten(1)
{r} = ({a} > {b}).float()
{r} = {a}.T.T
{r} = torch.nn.functional.pad({a}, (1, 0))[:, 1:]
{r} = {a}.norm(dim=1, keepdim=True) + {b}
{r} = torch.nan_to_num({a} / {b})
{r} = {a}.masked_fill({b} > 0, 0.5)
{r} = {a}.cumsum(0)
{r} = {a}.data * 1
{r} = abs({a})
{r} = {a} // 1 + {b} % 2
{r} = round({a})
{r} = {a}.type(torch.float32)
{r} = +{a}
{r} = torch.Tensor.add({a}, {b})
""")

WRITES = table("""
{a}.add_({b})
{a}.mul_(0.5)
F.relu({a}, inplace=True)
torch.relu_({a})
{a}[:, 0] = 0.25
{a}[0] = {b}[0]
{a}[1:].sub_(0.5)
{a}[:, 1] += 1
{a} += {b}
{a} *= 2
{a}.copy_({b} * 0.5)
v = {a}.view(-1); v[0] = 5.0; {r} = v.view(-1, 4)
{r} = {a}.t(); {r}.mul_(2); {r} = {r}.t()
{r} = torch.empty_like({a}); torch.add({a}, {b}, out={r})
{r} = {a}.clone(); torch.mul({a}, 2, out={r})
{a}.data.mul_(0.5)
{a}.data = {a}.data * 2
{a}.detach().add_(1)
{a}.masked_fill_({b} > 0, 0.1)
{a}.zero_()
{a}.clamp_(-1, 1)
p, q = {a}.split(2, dim=1); p.add_(q); {r} = {a} * 1
{r} = {a} * 1; {r} += 1
{r} = {a} * 1; {r}[{b} > 0] = 0.0
{r} = {a} * 1; {r}.index_add_(0, torch.tensor([0]), {b}[:1])
{r} = {a}.clone(); {r}.requires_grad_()
{r} = {a}.detach(); {r}.requires_grad = True
{r} = {a}.detach().requires_grad_(); {r} = {r} * 2
{a}.unsqueeze_(0); {a}.squeeze_(0)
{a}.t_(); {a}.t_()
{r} = {a}.squeeze(); {r}.add_(1); {r} = {r}.view(-1, 4)
{r} = torch.zeros({a}.size(0), 4); {r}[:, :2] = {a}[:, 2:]; {r}[:, 2:] += {b}[:, :2]
torch.nn.init.constant_({a}, 0.3)
{r} = {a} * 1; {r}.fill_diagonal_(1.0)
{r} = {a} * 1; {r}.neg_()
{r} = torch.clone({a}); {r}.resize_as_({b})
{r} = {a} * 1; {r}[:, 1:3][:, 0].add_(3)
torch.Tensor.mul_({a}, 0.5)
{r} = {a} * 1; {r}.__setitem__(0, 1.0)
{r} = {a} * 1; {r}.swapaxes(0, 1)[0] = 7.0
{r} = {a} * 1; operator.iadd({r}, {b})
{r} = {a}.expand_as({b}).contiguous(); {r}.sub_({b})
""")

DRAWS = table("""
{r} = {a} + torch.rand_like({a})
{r} = {a} * torch.rand(4)
{r} = F.dropout({a}, 0.5, training=True)
{r} = F.dropout({a}, 0.5, self.training)
{r} = F.dropout({a}, p=0.3, training=self.training)
{r} = F.dropout({a}, self.p, self.training) | self.p = 0.4
{r} = {a} + torch.randn({a}.shape)
{r} = {a} + torch.randn({a}.size(0), 4)
{r} = {a}[:, torch.randperm(4)]
{r} = torch.bernoulli(torch.sigmoid({a}))
{r} = {a} * 1; {r}.normal_()
{r} = {a} + {b}.new_empty({b}.shape).uniform_(-1, 1)
{r} = {a} + torch.randint(0, 5, ({a}.size(0), 1))
{r} = torch.normal({a}, 0.5)
{r} = {a} + torch.empty(4).exponential_()
torch.manual_seed({k})
{r} = self.drop({a}) | self.drop = nn.Dropout(0.5)
{r} = F.rrelu({a}, training=self.training)
{r} = nn.Dropout(0.5)({a})
{r} = {a} + torch.rand(1).item() * 0
g = torch.Generator(); g.manual_seed({k}); {r} = {a} + torch.rand(4, generator=g)
{r} = {a} + torch.randn_like({b}) * self.sigma | self.sigma = 0.1
{r} = F.alpha_dropout({a}, 0.2, self.training)
{r} = F.gumbel_softmax({a}, dim=1)
{r} = {a} * (1 if self.training else 2)
{r} = {a} + torch.distributions.Normal(0.0, 1.0).sample((4,))
""")

STATE = table("""
{r} = {a} + self.offset | self.register_buffer('offset', torch.rand(4))
self.offset.add_(0.1) | self.register_buffer('offset', torch.rand(4))
self.offset += 1 | self.register_buffer('offset', torch.rand(4))
self.offset = self.offset * 0.9 + {a}.detach().mean(0) | self.register_buffer('offset', torch.rand(4))
self.offset[0] = 1.5 | self.register_buffer('offset', torch.rand(4))
self.offset.data.mul_(0.5) | self.register_buffer('offset', torch.rand(4))
self.offset.copy_({a}.detach()[0]) | self.register_buffer('offset', torch.rand(4))
self.offset.zero_() | self.register_buffer('offset', torch.rand(4))
self.offset.data = self.offset.data + 1 | self.register_buffer('offset', torch.rand(4))
torch.nn.init.constant_(self.offset, 0.3) | self.register_buffer('offset', torch.rand(4))
self.get_buffer('offset').add_(1) | self.register_buffer('offset', torch.rand(4))
self._buffers['offset'].mul_(2) | self.register_buffer('offset', torch.rand(4))
for b in self.buffers():;     b.add_(0.5) | self.register_buffer('offset', torch.rand(4))
setattr(self, 'offset', self.offset + 1) | self.register_buffer('offset', torch.rand(4))
self.offset[:] = {a}.detach().amax(0) | self.register_buffer('offset', torch.rand(4))
{r} = {a} + self.offset; self.offset.sub_(1) | self.register_buffer('offset', torch.rand(4))
old = self.offset; self.offset.add_(1); {r} = {a} * old | self.register_buffer('offset', torch.rand(4))
old = self.offset.clone(); self.offset.add_(1); {r} = {a} * old | self.register_buffer('offset', torch.rand(4))
old = self.offset; self.offset = self.offset + 1; {r} = {a} * old | self.register_buffer('offset', torch.rand(4))
view = self.offset.view(2, 2); view[0] = 9.0; {r} = {a} + self.offset | self.register_buffer('offset', torch.rand(4))
torch.add(self.offset, 1, out=self.offset) | self.register_buffer('offset', torch.rand(4))
self.count += 1 | self.count = 0
self.busy = True; {r} = {a} * (2 if self.busy else 3); self.busy = False | self.busy = False
self.phase = 0; {r} = {a} + self.phase; self.phase = 5 | self.phase = 0
{r} = {a}.to(self.offset.dtype) * (2 if self.offset.dtype is torch.float32 else 3) | self.register_buffer('offset', torch.rand(4))
{r} = {a} * (2 if self.scale.requires_grad else 3) | self.scale = nn.Parameter(torch.rand(4))
{r} = {a} * (2 if self.plain.grad is None else 3) | self.plain = torch.ones(4)
with torch.enable_grad():;     leaf = {a}.detach().clone().requires_grad_();     (leaf * leaf).sum().backward(); {r} = {b} * leaf.grad
self.count = self.count + 2; {r} = {a} * self.count | self.count = 0
{r} = {a} + self.count; self.count += 1 | self.count = 0
self.count -= 1; {r} = {a} + getattr(self, 'count') | self.count = 0
self.last = {a}.detach() | self.last = torch.zeros(1, 4)
{r} = {a} + self.last.sum(); self.last = {b}.detach() * 0.5 | self.last = torch.zeros(1, 4)
{r} = {a} + self.last.mean(0) | self.last = torch.zeros(1, 4)
self.last.add_(1) | self.last = torch.zeros(1, 4)
self.last[:, 0] = 2.0 | self.last = torch.zeros(1, 4)
self.last = self.last + 1; self.last.mul_(0.5) | self.last = torch.zeros(1, 4)
{r} = {a} * self.scale | self.scale = nn.Parameter(torch.rand(4))
with torch.no_grad():;     self.scale.mul_(0.9) | self.scale = nn.Parameter(torch.rand(4))
self.scale.data.add_(0.1) | self.scale = nn.Parameter(torch.rand(4))
self.scale.data = self.scale.data * 0.5 | self.scale = nn.Parameter(torch.rand(4))
{r} = {a} * self.scale.sum() | self.scale = nn.Parameter(torch.rand(4))
self.scale.requires_grad_(False) | self.scale = nn.Parameter(torch.rand(4))
{r} = {a} * self.rate; self.rate = self.rate * 0.5 | self.rate = 0.5
{r} = {a} * self.rate | self.rate = 0.5
self.rate = 0.25 | self.rate = 0.5
self.training_rate = self.rate | self.rate = 0.5; self.training_rate = 0.1
{r} = {a} + self.plain | self.plain = torch.ones(4)
self.plain.mul_(1.5) | self.plain = torch.ones(4)
{r} = {a} + self.held[0] | self.held = [torch.ones(4)]
self.held[0].add_(1); {r} = {a} + self.held[0] | self.held = [torch.ones(4)]
{r} = {a} + self.table['k'] | self.table = dict(k=torch.ones(4))
self.table['k'].mul_(2) | self.table = dict(k=torch.ones(4))
{r} = self.{child}({a})
{r} = self.{child}({a}, {b})
{r} = self.{child}({a}, y={b})
{r} = self.{child}(x={a})
{r} = self.{child}(self.{child}({a}))
{r} = self.twin({a}) + self.{child}({b}) | self.twin = self.inner0
{r} = self.{child}.forward({a})
TABLE.add_(1); {r} = {a} * TABLE
{r} = {a} + TABLE.sum()
{r} = {a} * self.switch | self.switch = True
self.first, self.second = {a}.detach(), self.first | self.first = torch.zeros(()); self.second = torch.zeros(())
self.flags = self.flags + (1,) | self.flags = ()
{r} = {a} + self.state_dict()['offset'] | self.register_buffer('offset', torch.rand(4))
{r} = {a} + dict(self.named_buffers())['offset'] | self.register_buffer('offset', torch.rand(4))
{r} = {a} * next(self.parameters()).sum() | self.scale = nn.Parameter(torch.rand(4))
{r} = {a} * sum(p.sum() for p in self.parameters()) | self.scale = nn.Parameter(torch.rand(4))
""")

CALLS = table("""
{r} = self.linear({a}) | self.linear = nn.Linear(4, 4)
{r} = self.linear(input={a}) | self.linear = nn.Linear(4, 4)
{r} = F.linear({a}, self.linear.weight, self.linear.bias) | self.linear = nn.Linear(4, 4)
{r} = {a} @ self.linear.weight.t() + self.linear.bias | self.linear = nn.Linear(4, 4)
{r} = self.norm({a}) | self.norm = nn.BatchNorm1d(4)
{r} = self.layer_norm({a}) | self.layer_norm = nn.LayerNorm(4)
{r} = self.block({a}) | self.block = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.BatchNorm1d(4))
{r} = self.block[0]({a}) | self.block = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.BatchNorm1d(4))
{r} = self.counting({a}) | self.counting = CountingNorm(4)
{r} = self.modules_by_name['act']({a}) | self.modules_by_name = nn.ModuleDict(dict(act=nn.Tanh()))
{r} = F.batch_norm({a}, self.mean, self.var, training=self.training) | self.register_buffer('mean', torch.zeros(4)); self.register_buffer('var', torch.ones(4))
{r} = F.batch_norm({a}, self.norm.running_mean, self.norm.running_var, self.norm.weight, self.norm.bias, self.training) | self.norm = nn.BatchNorm1d(4)
{r} = self.halved({a}) | self.halved = parametrize.register_parametrization(nn.Linear(4, 4), 'weight', Halved())
{r} = {a} @ self.halved.weight | self.halved = parametrize.register_parametrization(nn.Linear(4, 4), 'weight', Halved())
with parametrize.cached():;     {r} = self.halved({a}) + self.halved({b}) | self.halved = parametrize.register_parametrization(nn.Linear(4, 4), 'weight', Halved())
{r} = self.weight_norm({a}) | self.weight_norm = utils.parametrizations.weight_norm(nn.Linear(4, 4))
{r} = self.old_norm({a}) | self.old_norm = utils.weight_norm(nn.Linear(4, 4))
{r} = self.spectral({a}) | self.spectral = utils.parametrizations.spectral_norm(nn.Linear(4, 4))
{r} = self.old_spectral({a}) | self.old_spectral = utils.spectral_norm(nn.Linear(4, 4))
{r} = self.pruned({a}) | self.pruned = prune.l1_unstructured(nn.Linear(4, 4), 'weight', amount=0.3)
{r} = self.orthogonal({a}) | self.orthogonal = utils.parametrizations.orthogonal(nn.Linear(4, 4))
{r} = self.hooked({a}) | self.hooked = nn.Linear(4, 4); self.hooked.register_forward_hook(doubled)
{r} = self.pre({a}) | self.pre = nn.Linear(4, 4); self.pre.register_forward_pre_hook(shifted)
{r} = self.pre_kw(input={a}) if {k} > 9 else self.pre_kw({a}) | self.pre_kw = nn.Tanh(); self.pre_kw.register_forward_pre_hook(with_keywords, with_kwargs=True)
{r} = self.after_kw({a}) | self.after_kw = nn.Tanh(); self.after_kw.register_forward_hook(after_keywords, with_kwargs=True)
{r} = self.watched({a}) | self.watched = nn.Linear(4, 4); self.watched.seen_by_hook = 0; self.watched.register_forward_hook(watching)
{r} = self.counted({a}) + self.counted.hits | self.counted = nn.Linear(4, 4); self.counted.hits = 0; self.counted.register_full_backward_hook(counting_back)
{r} = self.once({a}) | self.once = nn.Tanh(); self.once._handle = self.once.register_forward_hook(only_once)
{r} = self.back({a}) | self.back = nn.Linear(4, 4); self.back.register_full_backward_hook(scaled_gradient)
{r} = self.hooked_inner({a}) | self.hooked_inner = nn.Sequential(nn.Linear(4, 4)); self.hooked_inner.register_forward_hook(doubled); self.hooked_inner.register_forward_pre_hook(shifted)
{r} = self.removed({a}) | self.removed = nn.Linear(4, 4); self.removed.register_forward_hook(doubled).remove()
{r} = self.back_inner({a}) | self.back_inner = nn.Sequential(nn.Linear(4, 4), nn.Tanh()); self.back_inner.register_full_backward_hook(scaled_gradient)
{r} = nn.ReLU()({a})
{r} = nn.Sequential(nn.ReLU(), nn.Tanh())({a})
{r} = nn.functional.layer_norm({a}, (4,))
{r} = self.gru({a})[0] | self.gru = nn.GRU(4, 4)
{r} = self.cell({a}, {b}) | self.cell = nn.GRUCell(4, 4)
{r}, _ = self.attention({a}, {b}, {b}) | self.attention = nn.MultiheadAttention(4, 2)
{r} = self.act({a}) | self.act = nn.ReLU(inplace=True)
{r} = self.twice(self.twice({a})) | self.twice = nn.Linear(4, 4)
{r} = self.alias({a}) | self.linear = nn.Linear(4, 4); self.alias = self.linear
{r} = self.tied({a}) | self.linear = nn.Linear(4, 4); self.tied = nn.Linear(4, 4); self.tied.weight = self.linear.weight
{r} = Snap.apply({a})
{r} = Scaled.apply({a}, 2.0)
p, q = Both.apply({a}, {b}); {r} = p * q
{r} = sum(Both.apply({a}, {b}))
{r} = Both.apply({a}, {b})[{k} % 2]
{r} = frozen({a})
{r} = thawed({a})
{r} = plain({a})
{r} = mixed({a}, {b}, scale=0.5)
{r} = mixed({a}, {b}, {b}, z={b}, c={a})
{r} = mixed(*[{a}, {b}], **dict(q={b}))
{r} = functools.partial(mixed, {a})({b})
{r} = (lambda t: t * 2)({a})
{r} = checkpoint(lambda t: t.relu() * 2, {a}, use_reentrant=False)
{r} = checkpoint(self.linear, {a}, use_reentrant=False) | self.linear = nn.Linear(4, 4)
{r} = checkpoint(self.{child}, {a}, use_reentrant=False)
{r} = checkpoint(torch.tanh, {a}, use_reentrant=True)
{r} = checkpoint(self.linear, {a}, use_reentrant=True) | self.linear = nn.Linear(4, 4)
{r} = torch.func.vmap(lambda t: t * 2 + t.sum())({a})
{r} = torch.func.grad(lambda t: (t ** 2).sum())({a})
{r} = torch.func.vmap(torch.func.grad(lambda t: t.sin().sum()))({a})
{r} = torch.func.jvp(torch.sin, ({a},), ({b},))[1]
{r} = torch.func.vmap(lambda t, s: t * s, in_dims=(0, None))({a}, {b}.sum())
{r} = torch.vmap(lambda t: t + {b}.sum())({a})
{r} = torch.func.functional_call(self.linear, dict(weight=self.linear.weight * 2, bias=self.linear.bias), ({a},)) | self.linear = nn.Linear(4, 4)
{r} = F.scaled_dot_product_attention({a}[None], {b}[None], {b}[None])[0]
{r} = torch.utils.checkpoint.checkpoint_sequential(self.block, 2, {a}, use_reentrant=False) | self.block = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.BatchNorm1d(4))
{r} = torch.linalg.norm({a}, dim=1, keepdim=True) * {b}
{r} = F.multi_margin_loss({a}, torch.zeros({a}.size(0), dtype=torch.long), reduction='none')[:, None] + {b}
{r} = F.cross_entropy({a}, torch.zeros({a}.size(0), dtype=torch.long), reduction='none')[:, None] + {b}
{r} = F.embedding(torch.arange({a}.size(0)) % 4, self.linear.weight) + {a} | self.linear = nn.Linear(4, 4)
{r} = torch.nn.utils.rnn.pad_sequence([{a}, {b}], batch_first=True).sum(0)
with attention_kernel(SDPBackend.MATH):;     {r} = F.scaled_dot_product_attention({a}[None], {b}[None], {b}[None])[0]
""")

CONTAINERS = table("""
d = {{'a': {a}, 'b': {b}}}; {r} = d['a'] + d['b']
d = dict(a={a}); d['c'] = {b}; {r} = sum(d.values())
items = [{a}, {b}]; items.append({a} + 1); {r} = torch.stack(items).sum(0)
pair = Pair({a}, {b}); {r} = pair.first - pair.second
box = Box({a}, 3.0); {r} = box.value * box.factor
p, q = ({a}, {b}); {r} = p * q
p, *rest = [{a}, {b}, {a}]; {r} = p + rest[0] + rest[1]
{r} = sum([v * 2 for v in ({a}, {b})])
{r} = torch.cat([v[:, i * 2:i * 2 + 2] for i, v in enumerate(({a}, {b}))], dim=1)
p, q = {a}.chunk(2, dim=1); {r} = torch.cat([q, p], 1)
p, q = {a}.split(2, dim=1); {r} = torch.cat((p, q * 2), dim=-1)
p, q, s, t = {a}.unbind(1); {r} = torch.stack([t, s, q, p], 1)
values, indices = {a}.max(1); {r} = {b} + values[:, None] + indices[:, None]
{r} = functools.reduce(lambda p, q: p + q, [{a}, {b}, {a}])
{r} = [{a}, {b}][{k} % 2] * 2
box = Box({a}); box.value = box.value + 1; {r} = box.value
pair = Pair(first={b}, second={a})._replace(first={a}); {r} = pair.first + pair[1]
first = {{**{{'a': {a}}}, 'b': {b}}}; {r} = mixed(**{{'x': first['a'], 'c': first['b']}})
{r} = torch.stack(list(map(lambda t: t + 1, [{a}, {b}]))).mean(0)
{r} = sum(p * q for p, q in zip([{a}, {b}], [{b}, 2.0]))
values = {a}.topk(2, dim=1); {r} = {b} + values.values.sum(1, keepdim=True)
{r} = {a}; {r} = {r} if {r} is not None else {b}
items = []; items += [{a}]; items.extend([{b}]); {r} = items[0] * items[-1]
q, r_ = torch.linalg.qr({a} @ {a}.t() + torch.eye({a}.size(0))); {r} = {b} + (q @ r_).diagonal()[:, None]
shape = {a}.shape; {r} = ({b} * 2 if self.training else {b}).reshape(shape)
size = {a}.size(); {r} = {b} + size[0] * size[-1]
{r} = torch.stack([{a}, {b}], dim=-1).flatten(1)[:, :4]
cache = {{}}; cache[0] = {a}; {r} = cache.get(0) + cache.get(1, {b})
{r} = torch.broadcast_tensors({a}, {b})[0] * 1
""")

QUESTIONS = table("""
{r} = {a} if isinstance({a}, torch.Tensor) else {b}
{r} = {a} * 2 if torch.is_tensor({a}) else {b}
{r} = {a} if type({a}) is torch.Tensor else {b}
{r} = {a} if {a} is not None else {b}
{r} = {a} if hasattr({a}, 'shape') else {b}
{r} = {a} + 1 if hasattr({a}, 'nothing') else {a} - 1
{r} = {a} if getattr({a}, 'nothing', None) is None else {b}
{r} = {a} * (2 if callable({a}) else 3)
{r} = {a} if isinstance({a}, (list, tuple)) else {b}
{r} = {a} * (2 if torch.jit.is_scripting() else 3)
{r} = {a} * (2 if torch.jit.is_tracing() else 3)
{r} = {a} * (2 if torch.compiler.is_compiling() else 3)
{r} = {a} * (2 if isinstance({a}, nn.Parameter) else 3)
{r} = {a} if {a} is {a} else {b}
{r} = {a} if {a} is not {b} else {a} * 2
same = {a}; {r} = {a} * (2 if same is {a} else 3)
{r} = {a} if isinstance({a}.size(0), int) else {b}
{r} = {a} * (2 if isinstance({a}.dtype, torch.dtype) else 3)
{r} = {a} + (1 if 'x' in {{'x': {a}}} else 2)
{r} = {a} + len([{a}, {b}])
{r} = {a} * {a}.is_floating_point()
{r} = {a} + ({a}.dim() == 2)
{r} = {a} * {a}.requires_grad
{r} = {a} * {a}.is_contiguous()
{r} = {a} * (3 if issubclass(type({a}), torch.Tensor) else 1)
{r} = {a} * (2 if isinstance(self.training, bool) else 3)
{r} = {a} * int(self.training)
{r} = {a} * (self.training + 1)
name = f'{{type({a}).__name__}}'; {r} = {a} * len(name)
{r} = {a} * (2 if bool(TABLE is not None) else 3)
{r} = {a} + float(TABLE.numel())
{r} = {a} * torch.is_floating_point({a})
""")

MODES = table("""
torch.set_grad_enabled(False); {r} = {a} * 2; torch.set_grad_enabled(True)
{r} = {a} * 2 if torch.is_grad_enabled() else {b}
mode = torch.is_grad_enabled(); {r} = {a} * (1 + mode)
was = torch.is_grad_enabled(); torch.set_grad_enabled(False); {r} = {a} * 2; torch.set_grad_enabled(was)
mode = torch.no_grad(); mode.__enter__(); {r} = {a} * 2; mode.__exit__(None, None, None)
{r} = torch.no_grad()(lambda t: t * 2)({a})
{r} = torch.enable_grad()(lambda t: t * 2)({a})
{r} = {a} * (2 if torch.is_autocast_enabled('cpu') else 3)
{r} = {a}.detach() if not torch.is_grad_enabled() else {a} * 1
{r} = {a} * (2 if torch.is_inference_mode_enabled() else 3)
""")

REFUSED = table("""
{r} = {a}.view(*{a}.shape) * {a}.dim()
for row in {a}.unbind(0)[:1]:;     row.mul_(2)
{r} = {a}.new_zeros(*{a}.shape[:-1], 4) + {b}
{r} = {a}.reshape(*{a}.shape[:1], 2, 2).flatten(1)
self.history.append(1) | self.history = []
self.memo['n'] = 1 | self.memo = dict()
TOTAL = TOTAL + 1
self.{child}.rate2 = 3 | self.inner_note = 1
LOG.append(1)
del self.rate | self.rate = 0.5
{r} = {a} * random.random()
self.added = {a}.detach()
self.register_buffer('late', torch.ones(2))
{r} = {a} + len(str({a}))
{r} = {a} if {a}.sum() > 0 else {b}
{r} = {a} + int({a}.sum())
{r} = torch.stack([row for row in {a}])
{r} = {a} if len({a}) > 2 else {a} * 2
""")
"""Statements that need an example, or that no graph can keep."""
