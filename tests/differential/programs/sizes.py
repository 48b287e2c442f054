"""Arithmetic on sizes, and sizes handed to tensor functions."""

import math

import torch

from ..program import Corpus, T

corpus = Corpus("sizes")

_SIZES = {
    "view_flat": lambda x: x.view(x.size(0), -1),
    "view_shape": lambda x: x.view(x.shape[0], x.shape[1] * x.shape[2]),
    "reshape_tuple": lambda x: x.reshape((x.size(0) * x.size(1), x.size(2))),
    "reshape_from_list": lambda x: x.reshape([x.size(0), -1]),
    "view_size": lambda x: x.view(x.size()),
    "expand_sizes": lambda x: x[:, :1].expand(x.size(0), x.size(1), x.size(2)),
    "floor_half": lambda x: x[:, : x.size(1) // 2],
    "slice_tail": lambda x: x[:, x.size(1) - 1 :],
    "slice_with_step": lambda x: x[: x.shape[0] : 2],
    "negative_size": lambda x: x[:, -x.size(1) :],
    "sum_of_sizes": lambda x: x + x.size(0) + x.size(1),
    "scale_by_size": lambda x: x / x.size(-1),
    "scale_by_power": lambda x: x * x.size(-1) ** -0.5,
    "reflected_size_arithmetic": lambda x: x * (2 * x.size(0) - 1 + 10 // x.size(0)),
    "size_compared": lambda x: x * (x.size(0) == 2),
    "shape_slice_view": lambda x: x.view(x.shape[:1] + (-1,)),
    "shape_tail": lambda x: x.sum(0).view(x.shape[1:]),
    "numel_mean": lambda x: x.sum() / x.numel(),
    "unflatten": lambda x: x.flatten(1).unflatten(1, (x.size(1), x.size(2))),
    "split_size": lambda x: torch.cat(x.split(x.size(1) // 2, dim=1), dim=0),
    "narrow_size": lambda x: x.narrow(1, 0, x.size(1) - 1),
    "repeat_size": lambda x: x[:1].repeat(x.size(0), 1, 1),
    "roll_size": lambda x: x.roll(x.size(1) // 2, 1),
    "size_returned": lambda x: (x, x.size(0), x.shape),
    "pad_by_size": lambda x: torch.nn.functional.pad(x, (0, 8 - x.size(2))),
    "interpolate_size": lambda x: torch.nn.functional.interpolate(x, size=x.size(2) * 2),
}
for _name, _fn in _SIZES.items():
    corpus.add(_name, _fn, T(2, 4, 3), also=((T(3, 6, 5),),))

_FACTORY = "Tensor factories are nodes"
_NUMBERS = "Sizes are numbers for Python too"
_FACTORIES = {
    "zeros_tuple": (lambda x: torch.zeros((x.size(0), 3)), None),
    "zeros_separate": (lambda x: torch.zeros(x.size(0), 3), _FACTORY),
    "ones_separate": (lambda x: torch.ones(x.shape[0], x.shape[1]) + 1, _FACTORY),
    "full_sizes": (lambda x: torch.full((x.size(0),), 2.0), None),
    "arange_size": (lambda x: torch.arange(x.size(0)), None),
    "arange_separate": (lambda x: torch.arange(0, x.size(1), 2), None),
    "empty_like": (lambda x: torch.empty_like(x).fill_(1), None),
    "zeros_like": (lambda x: torch.zeros_like(x), None),
    "new_zeros_sizes": (lambda x: x.new_zeros(x.size(0), 2), None),
    "new_ones_tuple": (lambda x: x.new_ones((x.size(1),)), None),
    "linspace_size": (lambda x: torch.linspace(0, 1, x.size(1)), None),
    "eye_size": (lambda x: torch.eye(x.size(1)), None),
    "tensor_of_size": (lambda x: torch.tensor(x.size(0)), _FACTORY),
    "tensor_of_sizes": (lambda x: torch.tensor([x.size(0), x.size(1)]), _FACTORY),
    "torch_size": (lambda x: x.new_zeros(torch.Size([x.size(0), 2])), _FACTORY),
    "randn_separate": (lambda x: torch.randn(x.size(0), 2), _FACTORY),
    "tril_of_ones": (lambda x: torch.tril(torch.ones(x.size(1), x.size(1))), _FACTORY),
    "int_of_size": (lambda x: x[:, : int(x.size(1) * 0.5)], _NUMBERS),
    "float_of_size": (lambda x: x / float(x.size(1)), _NUMBERS),
    "math_sqrt_size": (lambda x: x / math.sqrt(x.size(-1)), None),
    "math_floor_ceil": (lambda x: x[:, : math.ceil(x.size(1) / 4)] * math.floor(x.size(1) / 3), None),
    "round_of_size": (lambda x: x * round(x.size(1) / 3), _NUMBERS),
}
for _name, (_fn, _why) in _FACTORIES.items():
    corpus.add(_name, _fn, T(2, 4, 3), also=((T(3, 6, 5),),), differs=_why)


@corpus(T(2, 4, 3), also=((T(3, 6, 5),),))
def unpack_size_by_statement(x):
    b, c, t = x.size()
    return x.reshape(b, t * c)


@corpus(T(2, 4), also=((T(3, 6),),))
def unpack_shape_by_statement(x):
    rows, columns = x.shape
    return x * rows + columns


@corpus(T(2, 4, 3), also=((T(3, 6, 5),),))
def channel_shuffle(x):
    groups = 2
    n = x.size(0)
    c = x.size(1)
    y = x.view(n, groups, c // groups, x.size(2))
    return y.transpose(1, 2).contiguous().view(n, -1, x.size(2))


@corpus(T(1, 6, 4), also=((T(2, 8, 4),),))
def space_to_depth(x):
    n, h, w = x.shape
    return x.view(n, h // 2, 2, w // 2, 2).permute(0, 2, 4, 1, 3).reshape(n, 4, (h // 2) * (w // 2))
