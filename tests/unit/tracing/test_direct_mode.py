"""The fake mode of captures gives what torch's own fake mode gives."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
import torch.utils._pytree as pytree

from symtrace.values import DirectMode, FakeTensor, FakeTensorMode

_CALLS = {
    "view": lambda x, y: x.view(3, 2, 4),
    "views": lambda x, y: (x.t(), x.unsqueeze(1), x[1:], x[:, 2], x[None].expand(5, 6, 4), x.permute(1, 0)),
    "parts": lambda x, y: (x.split(2), x.unbind(1), x.chunk(3)),
    "reshape of a transposed one": lambda x, y: x.t().reshape(-1),
    "strides": lambda x, y: (
        x.t() + 1,
        x.t() * y.t(),
        x.t() + y.t().contiguous(),
        x.t().clone(),
        torch.exp(x.t()),
    ),
    "dtypes": lambda x, y: (x + y.long(), x.long() + 1.5, x.half() * y, x > y, x.long() // 2, x == 1),
    "scalars": lambda x, y: (x**2, x * 2, 1 - x, x / 3, x + torch.ones(()), torch.where(x > 0, x, y)),
    "products": lambda x, y: (x @ y.t(), F.linear(x, y), F.linear(x, y, y[:, 0]), x[None] @ y.t()[None]),
    "reductions": lambda x, y: (
        x.mean(1),
        x.sum((0, 1)),
        x.sum(0, keepdim=True),
        x.softmax(-1),
        x.mean(-1, True),
    ),
    "layers": lambda x, y: (
        F.layer_norm(x, (4,)),
        F.layer_norm(x.t(), (6,)),
        F.layer_norm(x, (4,), y[0], y[1]),
    ),
    "joined": lambda x, y: (torch.cat([x, y]), torch.cat([x, y], 1), torch.cat([x, y.long()])),
    "rows": lambda x, y: F.embedding(torch.zeros(2, 3, dtype=torch.long), x),
    "attention": lambda x, y: F.scaled_dot_product_attention(x[None, None], y[None, None], y[None, None]),
    "complex": lambda x, y: (torch.complex(x, y).conj() * 2, torch.complex(x, y).conj().imag.view(-1)),
}


def _described(value, inputs):
    storages = {tensor.untyped_storage()._cdata for tensor in inputs}
    return [
        (
            type(leaf), tuple(leaf.shape), leaf.stride(), leaf.dtype, leaf.device, leaf.storage_offset(),
            leaf.requires_grad, leaf.is_conj(), leaf.is_neg(), leaf.untyped_storage()._cdata in storages,
        )
        for leaf in pytree.tree_leaves(value)
    ]  # fmt: skip


@pytest.mark.parametrize("with_gradients", [False, True])
@pytest.mark.parametrize("name", _CALLS)
def test_results_are_described_alike(name, with_gradients):
    found = []
    for mode in (DirectMode(allow_non_fake_inputs=True), FakeTensorMode(allow_non_fake_inputs=True)):
        inputs = [mode.from_tensor(torch.rand(6, 4).requires_grad_(with_gradients)) for _ in range(2)]
        with mode:
            found.append(_described(_CALLS[name](*inputs), inputs))
    assert found[0] == found[1]


def test_what_fails_says_the_same():
    texts = []
    for mode in (DirectMode(), FakeTensorMode()):
        with mode:
            x = torch.rand(6, 4)
            with pytest.raises(RuntimeError) as raised:
                x @ x
            texts.append(str(raised.value))
    assert texts[0] == texts[1]


def test_numbers_are_computed_where_all_is_real():
    mode = DirectMode(allow_non_fake_inputs=True)
    with mode:
        one = torch.tensor(2.0) + 1
    assert isinstance(one, FakeTensor)
    assert one.constant is not None
    assert one.item() == 3
