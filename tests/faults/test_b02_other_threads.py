"""B2: a trace in one thread is not felt by modules that run in another."""

from .support import in_own_process

PROGRAM = """
    import threading, torch, symtrace as fx
    from torch import nn
    stop, inside = threading.Event(), threading.Event()
    class Slow(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)
            self.w = nn.Parameter(torch.ones(2))
        def forward(self, x):
            for _ in range(20):
                x = self.fc(x) * self.w
            inside.set()
            return x + torch.zeros(2)
    def tracing():
        while not stop.is_set():
            fx.symbolic_trace(Slow())
    worker = threading.Thread(target=tracing); worker.start(); inside.wait(10)
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1)); x = torch.ones(3, 2)
    expected, wrong = model(x), 0
    for _ in range(600):
        try:
            out = model(x)
            wrong += type(out) is not torch.Tensor or not torch.equal(out, expected)
            wrong += type(torch.zeros(2)) is not torch.Tensor
        except Exception:
            wrong += 1
    stop.set(); worker.join()
    print(wrong)
"""


def test_models_run_beside_a_trace():
    assert in_own_process(PROGRAM).strip() == "0"
