"""Pipelines: reading their text, running all or nothing, contracts, history."""

from dataclasses import dataclass, field
from typing import ClassVar

import pytest
import torch
from torch import nn

from symtrace import symbolic_trace
from symtrace.passes import Pass, PassError, PassManager, Pipeline, available_passes, find_pass, register_pass
from symtrace.passes import registry as registry_module
from symtrace.passes.infra.pass_manager import pass_result_wrapper


def twice():
    return symbolic_trace(lambda x: torch.relu(x) + torch.relu(x) + torch.tanh(x).sum() * 0)


@dataclass(frozen=True)
class Swap(Pass):
    """Calls tanh for relu."""

    name: ClassVar[str] = "swap"
    claim: bool = True
    times: int = field(default=1)

    def run(self, graph, ctx):
        for node in graph.find_nodes(op="call_function", target=torch.relu)[: self.times]:
            node.target = torch.tanh
        return self.claim


@dataclass(frozen=True)
class Fails(Pass):
    """Edits everything it can reach and raises."""

    name: ClassVar[str] = "fails"
    changes_state: ClassVar[bool] = True

    def run(self, graph, ctx):
        first = next(node for node in graph.nodes if node.op == "call_function")
        first.name = "renamed"
        first.meta["mark"] = 1
        with graph.inserting_after(first):
            extra = graph.call_function(torch.neg, (first,))
        first.replace_all_uses_with(extra, delete_user_cb=lambda user: user is not extra)
        graph.eliminate_dead_code()
        ctx.module.add_module("extra", nn.Linear(1, 1))
        ctx.module.register_buffer("more", torch.ones(1))
        raise KeyError("no such thing")


def state_of(gm):
    nodes = [
        (n, n.name, n.op, n.target, n.args, dict(n.kwargs), dict(n.meta), dict(n.users))
        for n in gm.graph.nodes
    ]
    return nodes, gm.code, list(gm.state_dict()), [name for name, _ in gm.named_modules()]


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("", ""),
        ("dce", "dce"),
        (" dce , cse ", "dce,cse"),
        ("fuse-conv-bn{eval-only=false}", "fuse-conv-bn{eval-only=false}"),
        ("fuse-conv-bn{eval_only=true},dce", "fuse-conv-bn,dce"),
        ("const-fold{parameters=yes, max-elements=7}", "const-fold{parameters=true max-elements=7}"),
        ("quantize-dynamic{layers=encoder.*}", "quantize-dynamic{layers=encoder.*}"),
    ],
)
def test_a_text_is_read_and_spelled(text, spelled):
    assert str(Pipeline(text)) == spelled
    assert str(Pipeline(spelled)) == spelled


@pytest.mark.parametrize(
    ("text", "code", "part"),
    [
        ("dce,,cse", "ST240", "nothing between"),
        ("dce{", "ST240", "not closed"),
        ("dce}", "ST240", "no partner"),
        ("fuse-conv-bn{eval-only}", "ST240", "option=value"),
        ("fuse-conv-bn{eval-only=true}dce", "ST240", "comma is missing"),
        ("dced", "ST241", "dce"),
        ("dce{depth=1}", "ST242", "no option 'depth'"),
        ("const-fold{max-elements=many}", "ST242", "int is wanted"),
    ],
)
def test_a_text_that_can_not_be_read(text, code, part):
    with pytest.raises(PassError) as caught:
        Pipeline(text)
    assert caught.value.code == code
    assert part in str(caught.value)


def test_the_history_says_what_each_pass_did():
    gm = twice()
    pipeline = Pipeline("cse,dce,cse", keep_diffs=True)
    assert pipeline(gm).modified
    assert [(step.name, step.modified) for step in pipeline.history] == [
        ("cse", True),
        ("dce", False),
        ("cse", False),
    ]
    first = pipeline.history[0]
    assert first.nodes == (9, 8)
    assert first.seconds > 0
    assert "- relu_1 = torch.relu(x)" in pipeline.history.diff
    lines = str(pipeline.history).splitlines()
    assert lines[0].split() == ["pass", "changed", "nodes", "ms"]
    assert lines[1].split()[:4] == ["cse", "yes", "9", "->"]


def test_repeating_ends_when_nothing_changes():
    gm = symbolic_trace(lambda x: torch.relu(torch.relu(torch.relu(x))))
    pipeline = Pipeline([Once()], repeat=10)
    assert pipeline(gm).modified
    assert [step.modified for step in pipeline.history] == [True, True, True, False]


@dataclass(frozen=True)
class Once(Pass):
    """Replaces one relu at each run."""

    name: ClassVar[str] = "once"

    def run(self, graph, ctx):
        found = graph.find_nodes(op="call_function", target=torch.relu)[:1]
        for node in found:
            node.target = torch.tanh
        return bool(found)


@pytest.mark.parametrize("run", [Fails(), Pipeline([Swap(), Fails()])], ids=["pass", "pipeline"])
def test_a_failure_changes_nothing(run):
    gm = symbolic_trace(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    gm = symbolic_trace(lambda x: torch.relu(x) + gm(x))
    before = state_of(gm)
    with pytest.raises((KeyError, PassError)):
        run(gm)
    assert state_of(gm) == before
    gm.graph.lint()
    assert gm(torch.ones(1, 2)).shape == (1, 2)
    with gm.graph.inserting_before(gm.graph.output_node()):
        assert gm.graph.call_function(torch.neg, (gm.graph.node("relu"),)).name == "neg"


def test_a_pass_manager_takes_a_failed_pass_back_too():
    gm = twice()
    before = state_of(gm)

    def fail(module):
        module.graph.node("relu").target = torch.tanh
        raise KeyError

    with pytest.raises(PassError, match="ST230"):
        PassManager([pass_result_wrapper(fail)])(gm)
    assert state_of(gm) == before


@dataclass(frozen=True)
class State(Pass):
    """Changes the state without saying that it may."""

    name: ClassVar[str] = "state"

    def run(self, graph, ctx):
        ctx.module.register_buffer("more", torch.ones(1))
        return True


@dataclass(frozen=True)
class Signature(Pass):
    """Changes the result without saying that it may."""

    name: ClassVar[str] = "signature"

    def run(self, graph, ctx):
        output = graph.output_node()
        output.args = ((output.args[0],),)
        return True


@pytest.mark.parametrize(
    ("run", "part"),
    [
        (Swap(claim=False), "nothing has changed, and something has"),
        (Swap(times=0), "something has changed, and nothing has"),
        (State(), "parameters, buffers or modules"),
        (Signature(), "structure of the result"),
    ],
)
def test_a_broken_contract_is_refused(run, part):
    gm = twice()
    before = state_of(gm)
    with pytest.raises(PassError, match="ST243") as caught:
        run(gm)
    assert part in str(caught.value)
    assert state_of(gm) == before


def test_a_pass_that_changes_the_meaning_is_refused():
    gm = twice()
    before = state_of(gm)
    with pytest.raises(PassError, match="ST244") as caught:
        Pipeline(["cse" and find_pass("cse")(), Swap()], verify=(torch.ones(2),))(gm)
    assert "'swap'" in str(caught.value)
    assert state_of(gm) == before


@pytest.mark.parametrize("source", ["x.add_(1)", "x + torch.rand(2)"])
def test_verifying_draws_and_writes_nothing(source):
    gm = symbolic_trace(eval(f"lambda x: {source}", {"torch": torch}))
    x = torch.ones(2)
    state = torch.get_rng_state()
    Pipeline("dce,cse", verify=(x,))(gm)
    assert torch.equal(x, torch.ones(2))
    assert torch.equal(torch.get_rng_state(), state)


def test_functions_of_a_module_are_passes_too():
    def swap(gm):
        gm.graph.node("relu").target = torch.tanh

    pipeline = Pipeline([swap, find_pass("dce")()])
    gm = twice()
    assert pipeline(gm).modified
    assert gm.graph.node("relu").target is torch.tanh
    assert str(pipeline) == "swap,dce"


def test_passes_run_in_a_pass_manager_too():
    gm = twice()
    result = PassManager([find_pass("cse")(), find_pass("dce")()])(gm)
    assert result.modified
    assert result.graph_module is gm


def test_every_pass_has_its_own_name_a_text_and_defaults():
    for name, cls in available_passes().items():
        assert cls.name == name
        assert cls.__doc__
        assert cls().spell() == name
        assert cls() == cls()


def test_a_registered_pass_is_found_by_name(monkeypatch):
    monkeypatch.setattr(registry_module, "_REGISTERED", {})
    register_pass(Swap)
    assert str(Pipeline("swap{times=2}")) == "swap{times=2}"
    with pytest.raises(PassError, match="ST241"):
        register_pass(type("Dce", (Swap,), {"name": "dce"}))


def test_a_pass_after_which_the_example_does_not_run_is_refused():
    def spoil(gm):
        node = gm.graph.node("add")
        node.args = (node.args[0], "one")
        return gm

    gm = symbolic_trace(lambda x: x + 1)
    before = gm.code
    with pytest.raises(PassError, match="ST244.*raises TypeError"):
        Pipeline([spoil], verify=(torch.ones(2),))(gm)
    assert gm.code == before
