"""B1: overlapping traces leave nothing patched behind."""

from .support import in_own_process

PREAMBLE = """
    import threading, torch, symtrace as fx
    from torch import nn
    before = (nn.Module.__call__, nn.Module.__getattr__, nn.Module.__setattr__, torch.relu, torch.zeros)
    class Net(nn.Module):
        def __init__(self, mine, wait):
            super().__init__()
            self.a, self.b = nn.Linear(1, 1), nn.Linear(1, 1)
            self.scale = nn.Parameter(torch.ones(1))
            self.events = (mine, wait)
        def forward(self, x):
            x = self.a(x) * self.scale
            self.events[0].set(); self.events[1].wait(5)
            return self.b(x)
    def restored():
        after = (nn.Module.__call__, nn.Module.__getattr__, nn.Module.__setattr__, torch.relu, torch.zeros)
        return all(a is b for a, b in zip(before, after))
"""

FIRST_OUT_LAST = """
    one, two, three = (threading.Event() for _ in range(3))
    results = {}
    def run(key, net):
        results[key] = [n.name for n in fx.symbolic_trace(net).graph.nodes]
        three.set()
    first = threading.Thread(target=run, args=("first", Net(one, two))); first.start(); one.wait(5)
    second = threading.Thread(target=run, args=("second", Net(two, three))); second.start()
    first.join(); second.join()
    x = torch.ones(1)
    print(results["first"] == results["second"] == ["x", "a", "scale", "mul", "b", "output"], restored(),
          tuple(nn.Sequential(nn.Linear(1, 1))(x).shape))
"""

FAILING = """
    one, two = threading.Event(), threading.Event()
    class Bad(nn.Module):
        def forward(self, x):
            one.set(); two.wait(5)
            raise KeyError("user error")
    errors = []
    def run():
        try:
            fx.symbolic_trace(Bad())
        except KeyError as error:
            errors.append(error)
    worker = threading.Thread(target=run); worker.start(); one.wait(5)
    gm = fx.symbolic_trace(nn.Sequential(nn.Linear(1, 1), nn.ReLU()))
    two.set(); worker.join()
    print(len(errors), restored(), len(gm.graph.nodes), nn.Linear(1, 1)(torch.ones(1)).shape[0])
"""


def test_traces_that_end_in_the_order_they_began():
    assert in_own_process(PREAMBLE + FIRST_OUT_LAST).split() == ["True", "True", "(1,)"]


def test_a_trace_that_fails_while_another_runs():
    assert in_own_process(PREAMBLE + FAILING).split() == ["1", "True", "4", "1"]
