"""Torch's own schemas, found for every way to name an operator."""

import operator

import pytest
import torch
import torch.nn.functional as F

from symtrace.ops import schemas_of, signatures_of

aten = torch.ops.aten


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (torch.add, "aten::add"),
        (aten.add, "aten::add"),
        (aten.add.Tensor, "aten::add"),
        (torch.Tensor.add, "aten::add"),
        ("add", "aten::add"),
        (operator.add, "aten::add"),
        (operator.iadd, "aten::add_"),
        (operator.setitem, "aten::index_put_"),
        (F.gelu, "aten::gelu"),
        (torch.linalg.inv, "aten::linalg_inv"),
    ],
)
def test_schemas(target, name):
    found = schemas_of(target)
    assert found
    assert {schema.name for schema in found} == {name}


@pytest.mark.parametrize("target", [len, "no_such_method", operator.itemgetter, lambda x: x, F.relu])
def test_nothing_else_has_schemas(target):
    assert schemas_of(target) == ()


def test_signatures_of_python_functions():
    (signature,) = signatures_of(F.dropout)
    assert [p.name for p in signature.parameters] == ["input", "p", "training", "inplace"]
    assert signature.fewest == 1
    (pool,) = signatures_of(F.max_pool2d)
    assert [p.name for p in pool.parameters][:2] == ["input", "kernel_size"]
    assert signatures_of(lambda *args: args) == ()


def test_signatures_tell_writes_and_keyword_only_parameters():
    (signature,) = signatures_of(aten.add_.Tensor)
    assert [p.name for p in signature.parameters if p.writes] == ["input"]
    assert [p.name for p in signature.parameters if p.keyword_only] == ["alpha"]
    assert signature.writes
    assert [p.name for p in signature.positional] == ["input", "other"]
