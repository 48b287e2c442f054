"""`GraphModule.to_folder` writes a package that builds the same module."""

import importlib
import math
import sys

import torch
from torch import nn

import symtrace as fx


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 2)])
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer("shift", torch.ones(2), persistent=False)

    def forward(self, x, bound=math.inf, dtype=torch.float32):
        for block in self.blocks:
            x = block(x)
        with torch.no_grad():
            y = x.clamp(max=bound)
        return (x * self.scale + self.shift).to(dtype), y


def test_the_package_gives_equal_results(tmp_path, monkeypatch):
    gm = fx.symbolic_trace(Model())
    gm.to_folder(tmp_path / "written_model", "Written")
    monkeypatch.syspath_prepend(str(tmp_path))
    try:
        again = importlib.import_module("written_model").Written()
    finally:
        for name in ("written_model", "written_model.module"):
            sys.modules.pop(name, None)
    x = torch.randn(3, 2)
    for ours, theirs in zip(again(x, 0.5), gm(x, 0.5), strict=True):
        assert torch.equal(ours, theirs)
    assert list(again.state_dict()) == list(gm.state_dict())
