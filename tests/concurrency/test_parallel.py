"""Traces in parallel, beside running models: equal graphs, right results, nothing left behind."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import torch
import torch.nn.functional as F
from torch import nn

import symtrace as fx


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 4)))
        self.scale = nn.Parameter(torch.ones(4))
        self.register_buffer("offset", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.body(x) * self.scale + self.offset
        y = F.dropout(y + torch.zeros(4), 0.5, self.training)
        return y.relu() if isinstance(y, torch.Tensor) else y


def patched() -> list[object]:
    """What tracing might patch, to compare by identity."""
    owners = [
        (nn.Module, ("__call__", "__getattr__", "__setattr__")),
        (torch, ("zeros", "relu", "rand", "is_tensor")),
        (F, ("dropout",)),
        (torch.autograd.Function, ("apply",)),
        (torch.Tensor, ("add_",)),
    ]
    return [inspect.getattr_static(owner, name, None) for owner, names in owners for name in names] + [
        isinstance,
        len,
    ]


def in_threads(work: Callable[[int], object], count: int) -> list[object]:
    """Run `work` in as many threads at once; the first error is raised."""
    barrier = threading.Barrier(count)

    def run(number: int) -> object:
        barrier.wait(30)
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_parallel_traces_of_different_models():
    before = patched()
    models = [Net() for _ in range(8)]
    graphs = in_threads(lambda i: str(fx.symbolic_trace(models[i]).graph), 8)
    assert len(set(graphs)) == 1
    assert graphs[0] == str(fx.symbolic_trace(Net()).graph)
    assert all(a is b for a, b in zip(before, patched(), strict=True))


def test_parallel_traces_of_one_model():
    model = Net()
    graphs = in_threads(lambda i: str(fx.symbolic_trace(model).graph), 8)
    assert len(set(graphs)) == 1


def test_models_run_beside_traces():
    model = Net().eval()
    x = torch.randn(3, 4)
    expected = model(x)
    stop = threading.Event()

    def work(number: int) -> int:
        if number < 2:
            while True:  # once at least, however late a busy machine starts the thread
                fx.symbolic_trace(Net())
                if stop.is_set():
                    return 1
        try:
            for _ in range(150):
                assert torch.equal(model(x), expected)
                assert type(torch.zeros(2)) is torch.Tensor
                assert not isinstance(3, torch.Tensor)
            return 1
        finally:
            if number == 2:
                stop.set()

    assert all(in_threads(work, 4))


def test_training_beside_traces():
    stop = threading.Event()

    def tracing(number: int) -> bool:
        while not stop.is_set():
            fx.symbolic_trace(Net())
        return True

    def train() -> list[float]:
        torch.manual_seed(0)
        model = Net().eval()
        x = torch.linspace(-1, 1, 12).view(3, 4)
        optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(20):
            optimiser.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        return losses

    alone = train()
    worker = threading.Thread(target=tracing, args=(0,))
    worker.start()
    try:
        assert train() == alone
    finally:
        stop.set()
        worker.join()


def test_failing_traces_in_parallel_leave_nothing():
    before = patched()

    class Bad(Net):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = super().forward(x)
            return y if y.sum() > 0 else x

    def work(number: int) -> str:
        if number % 2:
            try:
                fx.symbolic_trace(Bad())
            except fx.TraceError as error:
                return error.code
        return str(len(fx.symbolic_trace(Net()).graph.nodes))

    results = in_threads(work, 8)
    assert len(set(results)) == 2
    assert all(a is b for a, b in zip(before, patched(), strict=True))


def test_captured_modules_run_in_parallel():
    gm = fx.symbolic_trace(Net()).eval()
    x = torch.randn(3, 4)
    expected = gm(x)
    assert all(torch.equal(out, expected) for out in in_threads(lambda i: gm(x), 8))


def test_first_call_of_a_fresh_capture_may_come_from_many_threads():
    for _ in range(5):
        gm = fx.symbolic_trace(Net()).eval()
        x = torch.ones(3, 4)
        results = in_threads(lambda i: gm(x), 6)
        assert all(torch.equal(out, results[0]) for out in results)


def test_modes_of_other_threads_are_not_changed():
    inside, go = threading.Event(), threading.Event()

    def program(x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            inside.set()
            go.wait(30)
            return x * 2

    worker = threading.Thread(target=fx.symbolic_trace, args=(program,))
    worker.start()
    inside.wait(30)
    w = torch.ones(2, requires_grad=True)
    assert (w * 2).requires_grad
    go.set()
    worker.join()
