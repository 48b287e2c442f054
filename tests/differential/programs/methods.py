"""Tensor methods and properties."""

import torch

from ..program import B, Corpus, I, P, T

corpus = Corpus("methods")

_ONE = {
    "relu": lambda x: x.relu(),
    "sigmoid": lambda x: x.sigmoid(),
    "tanh": lambda x: x.tanh(),
    "exp": lambda x: x.exp(),
    "abs": lambda x: x.abs(),
    "neg": lambda x: x.neg(),
    "sum": lambda x: x.sum(),
    "sum_dim": lambda x: x.sum(dim=1),
    "sum_keepdim": lambda x: x.sum(1, keepdim=True),
    "mean": lambda x: x.mean(),
    "mean_dims": lambda x: x.mean([0, 1]),
    "mean_tuple": lambda x: x.mean((0, 1)),
    "max": lambda x: x.max(),
    "max_dim_values": lambda x: x.max(dim=0).values,
    "max_dim_index": lambda x: x.max(dim=0)[1],
    "min": lambda x: x.min(),
    "argmax": lambda x: x.argmax(dim=1),
    "std": lambda x: x.std(unbiased=False),
    "var": lambda x: x.var(1),
    "norm": lambda x: x.norm(p=2, dim=1),
    "clamp": lambda x: x.clamp(min=0, max=1),
    "clamp_min": lambda x: x.clamp_min(0.1),
    "view": lambda x: x.view(-1),
    "view_tuple": lambda x: x.view((3, 2)),
    "view_list": lambda x: x.view([6]),
    "view_dtype": lambda x: x.view(torch.int32),
    "reshape": lambda x: x.reshape(3, -1),
    "permute": lambda x: x.permute(1, 0),
    "transpose": lambda x: x.transpose(0, 1),
    "t": lambda x: x.t(),
    "flatten": lambda x: x.flatten(),
    "unsqueeze": lambda x: x.unsqueeze(0),
    "squeeze": lambda x: x.unsqueeze(1).squeeze(1),
    "expand": lambda x: x.unsqueeze(0).expand(4, -1, -1),
    "repeat": lambda x: x.repeat(2, 1),
    "chunk": lambda x: x.chunk(2)[0],
    "split_index": lambda x: x.split(1)[1],
    "narrow": lambda x: x.narrow(1, 0, 2),
    "select": lambda x: x.select(0, 1),
    "contiguous": lambda x: x.transpose(0, 1).contiguous(),
    "clone": lambda x: x.clone(),
    "detach": lambda x: x.detach(),
    "float": lambda x: x.float(),
    "double": lambda x: x.double(),
    "half": lambda x: x.half(),
    "long": lambda x: x.long(),
    "to_dtype": lambda x: x.to(torch.float64),
    "to_device": lambda x: x.to("cpu"),
    "to_device_object": lambda x: x.to(torch.device("cpu"), torch.float16),
    "to_keywords": lambda x: x.to(dtype=torch.int64, copy=True),
    "type_as": lambda x: x.double().type_as(x),
    "masked_fill": lambda x: x.masked_fill(x > 0, float("-inf")),
    "where": lambda x: x.where(x > 0, -x),
    "softmax": lambda x: x.softmax(dim=-1),
    "log_softmax": lambda x: x.log_softmax(-1),
    "cumsum": lambda x: x.cumsum(0),
    "sort_values": lambda x: x.sort(dim=1, descending=True)[0],
    "topk": lambda x: x.topk(2, dim=1).indices,
    "tril": lambda x: x.tril(),
    "diagonal": lambda x: x.diagonal(),
    "roll": lambda x: x.roll(1, dims=0),
    "flip": lambda x: x.flip([0]),
    "addmm": lambda x: x.addmm(x[:, :2], x, beta=0.5, alpha=2),
    "matmul": lambda x: x.matmul(x.t()),
    "mm": lambda x: x.mm(x.t()),
    "add_alpha": lambda x: x.add(x, alpha=2),
    "sub_number": lambda x: x.sub(1),
    "mul_div": lambda x: x.mul(2).div(3),
    "pow": lambda x: x.pow(2),
    "rsqrt": lambda x: x.abs().rsqrt(),
    "logsumexp": lambda x: x.logsumexp(dim=1),
    "any_all": lambda x: ((x > 0).any(), (x < 9).all()),
    "eq_method": lambda x: x.eq(0),
    "isnan": lambda x: x.isnan(),
    "unfold": lambda x: x.unfold(1, 2, 1),
    "chained": lambda x: x.relu().sum(0).view(1, -1).mean(),
    "in_place": lambda x: x.clone().add_(1),
    "in_place_twice": lambda x: x.clone().mul_(2).relu_(),
    "index_select": lambda x: x.index_select(0, torch.tensor([1, 0])),
    "new_name": lambda x: x.sum().add(x.sum()).add(x.sum()),
    "requires_grad_": lambda x: x.detach().requires_grad_(False),
}
_DIFFERS = {"index_select": "Tensor factories are nodes"}
for _name, _fn in _ONE.items():
    _width = 3 if _name in ("view_tuple", "view_list", "reshape") else 5
    _also = () if _name in ("view_tuple", "view_list", "addmm") else ((T(4, _width),),)
    _first = T(2, 3) if _name != "addmm" else T(2, 2)
    corpus.add(_name, _fn, _first, also=_also, differs=_DIFFERS.get(_name))

corpus.add("gather", lambda x, i: x.gather(0, i), T(4), I(3))
corpus.add("scatter", lambda x, i: x.scatter(0, i, 9.0), T(5), I(2))
corpus.add("index_add", lambda x, i, s: x.index_add(0, i, s), T(5, 2), I(2), T(2, 2))
corpus.add("bmm", lambda x, y: x.bmm(y), T(2, 3, 4), T(2, 4, 3))
corpus.add("expand_as", lambda x, y: x.expand_as(y), T(1, 3), T(4, 3))
corpus.add("view_as", lambda x, y: x.view_as(y), T(6), T(2, 3))
corpus.add("where_three", lambda m, x, y: torch.where(m, x, y), B(3), T(3), T(3))
corpus.add("masked_select", lambda x, m: x.masked_select(m), T(6), B(6))
corpus.add("nonzero", lambda x: (x > 0).nonzero(), T(6))
corpus.add("item_returned", lambda x: x.sum().item(), P(3))
corpus.add("copy_", lambda x, y: x.clone().copy_(y), T(3), T(3))
corpus.add("method_with_kwargs_only", lambda x: x.clamp(max=0.5), T(3))

_PROPERTIES = {
    "shape": lambda x: x.shape,
    "shape_index": lambda x: x.shape[0],
    "dtype": lambda x: x.dtype,
    "device": lambda x: x.device,
    "T": lambda x: x.T,
    "mT": lambda x: x.mT,
    "ndim": lambda x: x.ndim,
    "requires_grad": lambda x: x.requires_grad,
    "is_cuda": lambda x: x.is_cuda,
    "data": lambda x: x.data + 1,
    "real": lambda x: x.real,
    "grad": lambda x: x.grad,
    "layout": lambda x: x.layout,
    "property_of_a_property": lambda x: x.T.shape,
    "property_then_method": lambda x: x.T.sum(0),
    "property_used_twice": lambda x: (x.T + 1, x.T + 2),
    "namedtuple_field": lambda x: x.max(0).indices + x.max(0).values,
    "property_as_argument": lambda x: x.double().to(x.dtype),
    "device_as_argument": lambda x: x.to(device=x.device),
    "size": lambda x: x.size(),
    "size_index": lambda x: x.size(1),
    "size_then_item": lambda x: x.size()[0],
    "dim": lambda x: x.dim(),
    "numel": lambda x: x.numel(),
    "stride": lambda x: x.stride(),
    "element_size": lambda x: x.element_size(),
    "is_contiguous": lambda x: x.is_contiguous(),
    "is_floating_point": lambda x: x.is_floating_point(),
    "get_device": lambda x: x.get_device(),
}
for _name, _fn in _PROPERTIES.items():
    corpus.add(_name, _fn, T(2, 3), also=((T(5, 4),),))
