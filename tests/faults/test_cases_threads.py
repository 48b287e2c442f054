"""Cases C83 and C84: threads. Each runs in a process of its own, which it could break."""

from .support import in_own_process

C83 = """
    import threading, torch, symtrace as fx
    inside, go = threading.Event(), threading.Event()
    class Slow(torch.nn.Module):
        def forward(self, x):
            inside.set(); go.wait(5)
            return x + 1
    done = []
    worker = threading.Thread(target=lambda: done.append(fx.symbolic_trace(Slow())))
    worker.start(); inside.wait(5)
    print(tuple(torch.nn.Sequential(torch.nn.Linear(1, 1))(torch.ones(1)).shape))
    print(type(torch.zeros(2) + torch.rand(2)).__name__, isinstance(3, torch.Tensor))
    class Param(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(1)); self.register_buffer("n", torch.zeros(1))
        def forward(self, x):
            self.n += 1
            return x * self.w + self.n
    p = Param()
    print(type(p.w).__name__, p(torch.ones(1)).item())
    go.set(); worker.join()
    print(len(done))
"""

C84 = """
    import threading, torch, symtrace as fx
    from torch import nn
    e = [threading.Event() for _ in range(3)]
    class Net(nn.Module):
        def __init__(self, mine, wait):
            super().__init__()
            self.a, self.b, self.mine, self.wait = nn.Linear(1, 1), nn.Linear(1, 1), mine, wait
        def forward(self, x):
            x = self.a(x); e[self.mine].set(); e[self.wait].wait(3)
            return self.b(x)
    def run(i, net):
        try:
            fx.symbolic_trace(net); print("ok")
        except BaseException as ex:
            print("another trace is active" if "another trace" in str(ex) else repr(ex))
        e[2].set()
    ts = [threading.Thread(target=run, args=(1, Net(0, 1)))]; ts[0].start(); e[0].wait(3)
    ts.append(threading.Thread(target=run, args=(2, Net(1, 2)))); ts[1].start(); [t.join() for t in ts]
    print(tuple(nn.Sequential(nn.Linear(1, 1))(torch.ones(1)).shape))
"""


def test_c83_a_model_runs_while_another_thread_traces():
    assert in_own_process(C83).splitlines() == ["(1,)", "Tensor False", "Parameter 2.0", "1"]


def test_c84_overlapping_traces():
    *traces, later = in_own_process(C84).splitlines()
    assert len(traces) == 2
    assert set(traces) <= {"ok", "another trace is active"}
    assert later == "(1,)"
