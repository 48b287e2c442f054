"""The tree of a graph: nodes under the modules whose code they stand in, in running order."""

import pytest
import torch
import torch.fx
from rich.console import Console
from torch import nn

from symtrace.visualize import graph_tree


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(2, 2)

    def forward(self, x):
        return torch.relu(self.lin(x)) + x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(2, 1)

    def forward(self, x, scale=2):
        return self.head(self.blocks(x) * scale).view(-1)


def printed(tree, width=100, **options):
    console = Console(width=width, **options)
    with console.capture() as capture:
        console.print(tree)
    return [line.rstrip() for line in capture.get().splitlines()]


def test_nodes_stand_under_the_modules_they_come_from():
    assert printed(graph_tree(torch.fx.symbolic_trace(Net()))) == [
        "Net",
        "├── x  input",
        "├── scale  input, default 2",
        "├── blocks (Sequential)",
        "│   ├── 0 (Block)",
        "│   │   ├── blocks_0_lin  Linear(x)",
        "│   │   ├── relu  torch.relu(blocks_0_lin)",
        "│   │   └── add  operator.add(relu, x)",
        "│   └── 1 (Block)",
        "│       ├── blocks_1_lin  Linear(add)",
        "│       ├── relu_1  torch.relu(blocks_1_lin)",
        "│       └── add_1  operator.add(relu_1, add)",
        "├── mul  operator.mul(add_1, scale)",
        "├── head  Linear(mul)",
        "├── view  head.view(-1)",
        "└── output  return view",
    ]


def test_a_module_that_is_called_twice_has_two_branches():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def forward(self, x):
            return self.block(self.block(x))

    lines = printed(graph_tree(torch.fx.symbolic_trace(Twice())))
    assert sum(line.endswith("block (Block)") for line in lines) == 2


def test_without_metadata_the_target_gives_the_branch():
    gm = torch.fx.symbolic_trace(Net())
    for node in gm.graph.nodes:
        node.meta.clear()
    lines = printed(graph_tree(gm))
    start = lines.index("├── blocks")
    assert lines[start : start + 4] == [
        "├── blocks",
        "│   └── 0",
        "│       └── blocks_0_lin  Linear(x)",
        "├── relu  torch.relu(blocks_0_lin)",
    ]


def test_shapes_are_shown_where_the_metadata_has_them():
    gm = torch.fx.symbolic_trace(nn.Linear(2, 3))
    for node in gm.graph.nodes:
        node.meta["val"] = torch.ones(4, 3, dtype=torch.bfloat16)
    assert printed(graph_tree(gm))[1].endswith("bf16[4, 3]")


def test_several_values_show_a_shape_each():
    gm = torch.fx.symbolic_trace(lambda x: x.split(1))
    split = next(n for n in gm.graph.nodes if n.op == "call_method")
    split.meta["val"] = (torch.ones(1, 2), torch.ones(1, 2, dtype=torch.int64))
    assert any(line.endswith("(f32[1, 2], i64[1, 2])") for line in printed(graph_tree(gm)))


def test_a_narrow_terminal_cuts_lines_and_keeps_one_per_node():
    gm = torch.fx.symbolic_trace(Net())
    lines = printed(graph_tree(gm), width=24)
    assert len(lines) == len(printed(graph_tree(gm)))
    assert max(map(len, lines)) <= 24


@pytest.mark.parametrize("text", ["[bold]", "[/x]"])
def test_square_brackets_in_arguments_are_no_markup(text):
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(len, (x, text))
    assert text in "".join(printed(graph_tree(graph)))
