"""`symtrace passes` and `symtrace diff` from the outside."""

import sys

import pytest

from symtrace.cli.main import run

MODEL = """
import torch
from torch import nn

def net():
    return nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU(), nn.Dropout())

def other():
    return nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.Tanh(), nn.Dropout())
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = tmp_path / f"cli_passes_{abs(hash(tmp_path))}.py"
    path.write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return path.name


def test_all_passes_are_listed(capsys):
    assert run(["passes"]) == 0
    out = capsys.readouterr().out
    assert "fuse-conv-bn\n    Fold each batch normalisation" in out
    assert "    eval-only=true" in out


def test_passes_are_run_and_checked(model, capsys):
    assert (
        run(
            ["passes", f"{model}:net", "--input", "1x1x3x3", "--run", "remove-dropout,fuse-conv-bn", "--diff"]
        )
        == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["pass", "changed", "nodes", "ms"]
    assert [line.split()[:2] for line in lines[1:3]] == [["remove-dropout", "yes"], ["fuse-conv-bn", "yes"]]
    assert "- _1 = BatchNorm2d(_0)" in lines


def test_training_leaves_alone_and_says_why(model, capsys):
    assert run(["passes", f"{model}:net", "--training", "--run", "fuse-conv-bn"]) == 0
    assert "fuse-conv-bn: _1 is left alone: it is in training mode" in capsys.readouterr().out


def test_the_difference_of_two_programs(model, capsys):
    assert run(["diff", f"{model}:net", f"{model}:other"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("nodes: ")
    assert "Tanh" in out


def test_the_difference_that_passes_make(model, capsys):
    assert run(["diff", f"{model}:net", "--run", "fuse-conv-bn"]) == 0
    assert "- _1 = BatchNorm2d(_0)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["passes", "--run", "dce"], 2),
        (["diff", "net.py:net"], 2),
        (["passes", "x.py:net", "--run", "dcee"], 1),
    ],
)
def test_slips(arguments, code, capsys):
    assert run(arguments) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "ST" in captured.err
