"""B12: whatever way an argument gets into a node, it is frozen and its nodes are counted as used."""

import pytest
import torch

import symtrace as fx


def by_insert_arg(n, value):
    n.insert_arg(0, value)


def by_update_arg(n, value):
    n.update_arg(0, value)


def by_args(n, value):
    n.args = (value,)


def by_update_kwarg(n, value):
    n.update_kwarg("tensors", value)


def by_kwargs(n, value):
    n.kwargs = {"tensors": value}


WAYS = [by_insert_arg, by_update_arg, by_args, by_update_kwarg, by_kwargs]


@pytest.mark.parametrize("way", WAYS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("kind", ["list", "dict"])
def test_mutable_containers_are_frozen(way, kind):
    graph = fx.Graph()
    x = graph.placeholder("x")
    n = graph.call_function(torch.cat, (x,))
    value = [x, [x]] if kind == "list" else {"a": x, "b": [x]}
    way(n, value)
    held = n.kwargs["tensors"] if "tensors" in n.kwargs else n.args[0]
    with pytest.raises((TypeError, NotImplementedError)):
        held["a" if kind == "dict" else 0] = 1
    value.clear()
    assert len(held) == 2
    assert list(x.users) == [n]


def test_at_creation_too():
    graph = fx.Graph()
    x = graph.placeholder("x")
    n = graph.call_function(torch.cat, ([x, x],), {"dim": 0})
    with pytest.raises((TypeError, NotImplementedError)):
        n.args[0].append(x)
    with pytest.raises((TypeError, NotImplementedError)):
        n.kwargs["dim"] = 1
