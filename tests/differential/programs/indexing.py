"""Subscripts."""

import torch

from ..program import B, Corpus, I, T

corpus = Corpus("indexing")

_INDICES = {
    "int": lambda x: x[0],
    "negative_int": lambda x: x[-1],
    "two_ints": lambda x: x[0, 1],
    "slice": lambda x: x[1:],
    "slice_step": lambda x: x[::2],
    "slice_both": lambda x: x[0:2, 1:3],
    "ellipsis": lambda x: x[..., 0],
    "none": lambda x: x[None],
    "none_in_the_middle": lambda x: x[:, None, :1],
    "mixed": lambda x: x[0, ..., None, 1:],
    "list": lambda x: x[[0, 1]],
    "two_lists": lambda x: x[[0, 1], [1, 0]],
    "bool_mask_of_itself": lambda x: x[x > 0],
    "index_of_a_result": lambda x: x.split(1)[0][0],
    "chained": lambda x: x[0][1],
    "true": lambda x: x[True],
    "argmax_index": lambda x: x[x.sum(1).argmax()],
    "computed_bounds": lambda x: x[:, x.size(1) // 2 :],
    "slice_object": lambda x: x[slice(None, None, 2)],
}
for _name, _fn in _INDICES.items():
    corpus.add(_name, _fn, T(3, 4), also=((T(5, 6),),))

corpus.add("tensor_index", lambda x, i: x[i], T(5, 2), I(3), also=((T(6, 2), I(2)),))
corpus.add("tensor_index_second", lambda x, i: x[:, i], T(2, 5), I(3))
corpus.add("mask_index", lambda x, m: x[m], T(4), B(4))
corpus.add("two_tensor_indices", lambda x, i, j: x[i, j], T(5, 5), I(3), I(3))

_RECORDED = "Item assignment is recorded"


@corpus(T(3, 4), also=((T(5, 2),),), differs=_RECORDED)
def set_row(x):
    y = x.clone()
    y[0] = 1
    return y


@corpus(T(3, 4), also=((T(5, 2),),), differs=_RECORDED)
def set_column_of_input(x):
    x[:, 0] = 0
    return x * 2


@corpus(T(3, 4), T(4), differs=_RECORDED)
def set_to_a_traced_value(x, v):
    y = x.clone()
    y[1:] = v
    return y


@corpus(T(3, 4), differs=_RECORDED)
def set_by_mask(x):
    y = x.clone()
    y[y > 0] = -1.0
    return y


@corpus(T(3, 4), differs=_RECORDED)
def set_through_a_view(x):
    y = x.clone()
    y[0][1] = 5.0
    return y


@corpus(T(3, 4), differs=_RECORDED)
def augmented_item(x):
    y = x.clone()
    y[0] += 10
    y[:, 1] *= 2
    return y


@corpus(T(3, 4), differs=_RECORDED)
def set_into_a_new_tensor(x):
    y = torch.zeros(3, 4)
    y[:2] = x[:2]
    return y
