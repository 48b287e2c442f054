"""B19: cost grows with the work, not with its square."""

import time

import torch
from torch import nn

import symtrace as fx


def fastest(work, tries=3):
    times = []
    for _ in range(tries):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


class ManyParameters(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.ws = nn.ParameterList([nn.Parameter(torch.zeros(1)) for _ in range(n)])

    def forward(self, x):
        for w in self.ws:
            x = x + w
        return x


def test_parameter_access_is_linear():
    small, big = ManyParameters(500), ManyParameters(2000)
    ratio = fastest(lambda: fx.symbolic_trace(big)) / fastest(lambda: fx.symbolic_trace(small))
    assert ratio < 4 * 1.75


def chain(n):
    def program(x):
        for _ in range(n):
            x = torch.relu(x)
        return x

    return program


def test_recording_stack_traces_is_cheap():
    def traced(record):
        tracer = fx.Tracer()
        tracer.record_stack_traces = record
        tracer.trace(chain(2000))

    extra = fastest(lambda: traced(True)) - fastest(lambda: traced(False))
    assert extra / 2000 < 100e-6


def test_replace_pattern_is_linear():
    def replaced(n):
        gm = fx.symbolic_trace(chain(n))
        return fastest(lambda: fx.replace_pattern(gm, lambda x: torch.relu(x), lambda x: torch.relu(x)), 1)

    replaced(100)
    assert min(replaced(2000) / replaced(500) for _ in range(2)) < 4 * 2
