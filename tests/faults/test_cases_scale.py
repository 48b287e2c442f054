"""Cases C86 and C87: scale."""

import gc
import time

import torch
from torch import nn

import symtrace as fx


def _propose(n):
    from symtrace.passes.infra.partitioner import CapabilityBasedPartitioner
    from symtrace.passes.operator_support import OperatorSupport

    class NegOnly(OperatorSupport):
        def is_node_supported(self, submodules, node):
            return node.op == "call_function" and node.target is torch.neg

    def f(x):
        for i in range(n):
            x = torch.neg(x) if i % 10 else torch.relu(x)
        return x

    gm = fx.symbolic_trace(f)
    # A collection of the whole process costs more than the work that is measured.
    gc.collect()
    gc.disable()
    try:
        start = time.process_time()
        partitions = CapabilityBasedPartitioner(gm, NegOnly()).propose_partitions()
        elapsed = time.process_time() - start
    finally:
        gc.enable()
    assert len(partitions) == n // 10
    return elapsed


def test_c86_partitioning_is_linear():
    _propose(100)
    small, big = min(_propose(300) for _ in range(3)), min(_propose(1200) for _ in range(3))
    assert big / small < 4 * 2


def chain(n, op=torch.neg):
    def f(x):
        for _ in range(n):
            x = op(x)
        return x

    return f


def test_c87_a_long_pattern():
    assert len(fx.replace_pattern(fx.symbolic_trace(chain(1300)), chain(1200), lambda x: x)) == 1


def test_c87_a_long_pattern_that_fails_late():
    gm = fx.symbolic_trace(lambda x: chain(1199)(torch.relu(x)))
    assert fx.replace_pattern(gm, chain(1200), lambda x: x) == []


def test_c87_deep_modules_trace_where_they_run():
    m = nn.Identity()
    for _ in range(200):
        m = nn.Sequential(m)
    x = torch.ones(1)
    assert m(x).shape == (1,)
    gm = fx.symbolic_trace(m)
    assert gm(x).shape == (1,)


def test_c87_deep_user_modules():
    class Wrapper(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x)

    m = nn.ReLU()
    for _ in range(150):
        m = Wrapper(m)
    x = torch.ones(1)
    m(x)
    gm = fx.symbolic_trace(m)
    assert gm(x).item() == 1.0
    assert [n.op for n in gm.graph.nodes] == ["placeholder", "call_module", "output"]
