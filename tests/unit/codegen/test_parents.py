"""Modules in the middle of a path are asked for as often as in the original, and nobody sees how."""

import ast
import inspect

import pytest
import torch
from torch import nn

import symtrace


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Linear(2, 2)
        self.norm = nn.LayerNorm(2)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(self.norm(self.conv(x)))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Module()
        self.first.blocks = nn.ModuleList([Block(), Block()])
        self.second = Block()

    def forward(self, x):
        for block in self.first.blocks:
            x = block(x)
        return self.second(x)


def executed(gm):
    return gm._python_code().executed


def test_modules_are_asked_about_as_often_as_in_the_original(monkeypatch):
    model = Model()
    gm = symtrace.symbolic_trace(model)
    gm(torch.ones(2))  # compiles
    asked = []
    for cls in (nn.Module, symtrace.GraphModule):
        answer = cls.__getattr__

        def counting(self, name, answer=answer):
            asked.append(name)
            return answer(self, name)

        monkeypatch.setattr(cls, "__getattr__", counting)
    names = ("first", "second", "blocks", "conv", "norm", "act")
    counts = []
    for module in (model, gm):
        asked.clear()
        module(torch.ones(2))
        counts.append(len([name for name in asked if name in names]))
    # Full paths would ask 24 times; to bind a parent may take its path once more.
    assert counts[0] == 12
    assert counts[1] <= 15


def test_the_text_that_is_shown_has_full_paths():
    gm = symtrace.symbolic_trace(Model())
    gm(torch.ones(2))
    assert 'getattr(self.first.blocks, "0").norm(' in gm.code
    assert "_m" not in gm.code
    assert inspect.getsource(gm.forward).strip() == gm.code.strip()
    assert "_m3" in executed(gm)


def test_every_line_has_the_columns_of_the_text_that_is_shown():
    gm = symtrace.symbolic_trace(Model())
    shown, run = (ast.parse(text).body[0].body for text in (gm.code, executed(gm)))
    by_line = {}
    for statement in run:
        by_line.setdefault(statement.lineno, statement)
    lines = set()
    for statement in shown:
        if statement.lineno not in lines:
            lines.add(statement.lineno)
            other = by_line[statement.lineno]
            places = [(one.value.col_offset, one.value.end_col_offset) for one in (statement, other)]
            assert places[0] == places[1]
    assert len(lines) == len(gm.graph.nodes) - 1


@pytest.mark.parametrize("path", ["first", "first.blocks.1", "second", "second.act"])
def test_a_module_that_is_replaced_between_calls_is_used(path):
    model = Model()
    gm = symtrace.symbolic_trace(model)
    x = torch.randn(3, 2)
    gm(x)
    replacement = {"first": Model().first, "second.act": nn.Sigmoid()}.get(path, Block())
    for module in (model, gm):
        parent, _, name = path.rpartition(".")
        setattr(module.get_submodule(parent), name, replacement)
    assert torch.equal(gm(x), model(x))


def test_parameters_and_nodes_of_the_same_names_are_not_touched():
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()

        def forward(self, _m1, _m2):
            return self.block(_m1) + _m2

    model = Named()
    x, y = torch.randn(2), torch.randn(2)
    gm = symtrace.symbolic_trace(model)
    assert torch.equal(gm(x, y), model(x, y))
    assert "_m1_1" in executed(gm)


def test_blocks_ask_for_themselves():
    class Modes(Model):
        def forward(self, x):
            with torch.no_grad():
                x = self.second(x)
            x = self.second(x)
            if x.sum() > 1:
                x = self.first.blocks[0](x)
            for _ in range(2):
                x = self.first.blocks[1](x)
            return self.second(x)

    model = Modes()
    gm = symtrace.capture(model, (torch.randn(2, 2),))
    for _ in range(6):
        x = torch.randn(2, 2)
        assert torch.equal(gm(x), model(x))


def test_a_body_that_somebody_changed_is_run_as_it_is():
    gm = symtrace.symbolic_trace(Model())

    def changed(lines):
        return [*lines[:2], "self.first.blocks[1] = self.first.blocks[0]\n", *lines[2:]]

    gm.graph.on_generate_code(lambda _: changed)
    x = torch.randn(3, 2)
    block, second = gm.first.blocks[0], gm.second
    expected = second.act(second.norm(second.conv(block.act(block.norm(block.conv(x))))))
    expected = block.act(block.norm(block.conv(block.act(block.norm(block.conv(x))))))
    assert torch.equal(gm(x), second.act(second.norm(second.conv(expected))))
    assert not executed(gm)


def test_an_error_names_the_line_that_is_shown():
    gm = symtrace.symbolic_trace(Model())
    gm.second.norm = nn.LayerNorm(3)
    with pytest.raises(RuntimeError) as caught:
        gm(torch.ones(2))
    assert any("second_norm = self.second.norm(second_conv)" in note for note in caught.value.__notes__)
