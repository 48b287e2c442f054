"""B13: the printed graph names its parameters."""

import torch

import symtrace as fx


def test_header_lists_parameters():
    def f(x, y: torch.Tensor, *, scale=2.0):
        return x * scale + y

    header = str(fx.symbolic_trace(f).graph).splitlines()[0]
    assert header.startswith("graph(")
    assert all(name in header for name in ("x", "y", "scale"))
    assert "Tensor" in header


def test_header_shows_varargs_and_result_type():
    def f(*xs, **extra) -> torch.Tensor:
        return xs[0]

    header = str(fx.symbolic_trace(f).graph).splitlines()[0]
    assert "*xs" in header
    assert "**extra" in header
    assert header.endswith(" -> torch.Tensor:")


def test_a_graph_without_parameters():
    graph = fx.Graph()
    graph.output(1)
    assert str(graph).splitlines()[0] == "graph():"
