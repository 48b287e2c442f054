"""Passes of other packages: installed with an entry point, found by name, listed, and told apart when broken."""

import importlib
import sys

import pytest
import torch
from click.testing import CliRunner

import symtrace
from symtrace.cli.main import cli
from symtrace.passes import Pass, PassError, Pipeline, available_passes, find_pass
from symtrace.passes.registry import unusable_passes

MODULE = '''
from dataclasses import dataclass
from typing import Any

import torch
from symtrace.passes import Pass


@dataclass(frozen=True)
class DropSigmoid(Pass):
    """Takes sigmoids away."""

    name = "drop-sigmoid"
    at_most: int = 100

    def run(self, graph, ctx):
        found = [node for node in graph.nodes if node.target is torch.sigmoid][: self.at_most]
        for node in found:
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
        return bool(found)


class Other(DropSigmoid):
    name = "another-name"


not_a_pass = 3
'''

POINTS = """
[symtrace.passes]
drop-sigmoid = their_passes:DropSigmoid
dce = their_passes:DropSigmoid
gone = their_passes.missing:Pass
lacks = their_passes:Missing
no-pass = their_passes:not_a_pass
renamed = their_passes:Other
"""


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package as pip leaves it: a module, and what is written down of it beside it."""
    (tmp_path / "their_passes.py").write_text(MODULE)
    written = tmp_path / "their_passes-1.0.dist-info"
    written.mkdir()
    (written / "METADATA").write_text("Metadata-Version: 2.1\nName: their-passes\nVersion: 1.0\n")
    (written / "entry_points.txt").write_text(POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield
    sys.modules.pop("their_passes", None)


def sigmoids(x):
    return torch.sigmoid(torch.sigmoid(x) + 1)


def test_a_pass_of_another_package_runs_by_its_name(installed):
    assert issubclass(find_pass("drop-sigmoid"), Pass)
    pipeline = Pipeline("dce,drop-sigmoid{at-most=1}")
    assert str(pipeline) == "dce,drop-sigmoid{at-most=1}"
    gm = pipeline(symtrace.symbolic_trace(sigmoids)).graph_module
    x = torch.rand(3)
    assert torch.equal(gm(x), torch.sigmoid(x + 1))
    assert [step.name for step in pipeline.history if step.modified] == ["drop-sigmoid{at-most=1}"]


def test_a_broken_one_spoils_no_other(installed):
    known = available_passes()
    assert "drop-sigmoid" in known
    assert known["dce"].__module__.startswith("symtrace.")
    assert unusable_passes().keys() == {"dce", "gone", "lacks", "no-pass", "renamed"}
    assert not unusable_passes().keys() & known.keys() - {"dce"}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gone", "ModuleNotFoundError: No module named 'their_passes.missing'"),
        ("lacks", "AttributeError"),
        ("no-pass", "gives 3, which is no Pass"),
        ("renamed", "whose own name is 'another-name'"),
        ("drop-sigmoyd", "drop-sigmoid"),
    ],
)
def test_what_is_wrong_is_said(installed, name, reason):
    with pytest.raises(PassError, match="ST241") as caught:
        Pipeline(name)
    assert reason in str(caught.value)


def test_the_command_lists_and_runs_it(installed, tmp_path):
    listed = CliRunner().invoke(cli, ["passes"])
    assert listed.exit_code == 0
    assert "drop-sigmoid\n    Takes sigmoids away.\n    at-most=100\n" in listed.output
    assert "gone: not usable" in listed.output
    (tmp_path / "program.py").write_text("import torch\n\ndef f(x):\n    return torch.sigmoid(x) * 2\n")
    ran = CliRunner().invoke(cli, ["passes", f"{tmp_path}/program.py:f", "--run", "drop-sigmoid", "--diff"])
    assert ran.exit_code == 0, ran.output
    assert "drop-sigmoid" in ran.output
