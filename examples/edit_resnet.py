"""Capture a ResNet-18, look at it, edit it, and run it again.

python examples/edit_resnet.py
"""

from __future__ import annotations

import torch
import torchvision
from rich import print as show
from torch import nn

import symtrace as fx
from symtrace.passes.shape_prop import ShapeProp
from symtrace.visualize import graph_tree


def capture_and_print(model: nn.Module, x: torch.Tensor) -> fx.GraphModule:
    """Capture `model`, and print its graph by module, with shapes."""
    gm = fx.symbolic_trace(model)
    ShapeProp(gm).propagate(x)
    show(graph_tree(gm))
    assert torch.equal(gm(x), model(x))
    print("\nThe captured module gives the same results as the original.\n")
    return gm


def use_gelu(gm: fx.GraphModule) -> int:
    """Put a GELU in the place of every ReLU; return how many there were."""
    count = 0
    for node in gm.graph.find_nodes(op="call_module"):
        if isinstance(gm.get_submodule(node.target), nn.ReLU):
            with gm.graph.inserting_after(node):
                gelu = gm.graph.call_function(nn.functional.gelu, node.args)
            node.replace_all_uses_with(gelu)
            gm.graph.erase_node(node)
            count += 1
    gm.graph.lint()
    return count


def main() -> None:
    """Run the example."""
    torch.manual_seed(0)
    model = torchvision.models.resnet18().eval()
    x = torch.randn(1, 3, 64, 64)
    gm = capture_and_print(model, x)

    before = gm(x)
    print(f"Replaced {use_gelu(gm)} ReLUs by GELUs. The code follows:\n")
    print("\n".join(gm.code.strip().splitlines()[:8]), "\n    ...\n")
    after = gm(x)
    print(f"It runs: {tuple(after.shape)}; results moved by up to {(after - before).abs().max():.3f}.")

    node = gm.graph.find_nodes(op="call_module", target="conv1")[0]
    print("\nAn edit that would break the graph is refused, and says what to do:\n")
    try:
        gm.graph.erase_node(node)
    except fx.errors.GraphEditError as error:
        print(error)


if __name__ == "__main__":
    main()
