"""Passes with conditions, and schedules of passes."""

import pytest
import torch

from symtrace import symbolic_trace
from symtrace.passes.infra.pass_base import PassBase, PassResult
from symtrace.passes.infra.pass_manager import (
    PassManager,
    pass_result_wrapper,
    this_before_that_pass_constraint,
)


def changes(gm):
    return PassResult(gm, True)


def keeps(gm):
    return PassResult(gm, False)


@pytest.fixture
def gm():
    return symbolic_trace(lambda x: torch.relu(x))


def test_conditions_are_checked_on_the_module_before_and_on_the_result(gm):
    seen = []

    class Replaced(PassBase):
        def requires(self, graph_module):
            seen.append(("requires", graph_module))

        def call(self, graph_module):
            return PassResult(other, True)

        def ensures(self, graph_module):
            seen.append(("ensures", graph_module))

    other = symbolic_trace(lambda x: torch.neg(x))
    result = Replaced()(gm)
    assert result == (other, True)
    assert seen == [("requires", gm), ("ensures", other)]


def test_a_pass_may_return_nothing(gm):
    class Looks(PassBase):
        def call(self, graph_module):
            return None

    assert Looks()(gm) is None
    with pytest.raises(TypeError):
        PassBase()


def test_passes_run_until_nothing_changes(gm):
    left = [3]

    def counts(module):
        left[0] -= 1
        return PassResult(module, left[0] > 0)

    assert PassManager(passes=[counts], steps=10)(gm).modified
    assert left == [0]
    assert PassManager(passes=[keeps])(gm).modified is False


def test_constraints(gm):
    first = this_before_that_pass_constraint(keeps, changes)
    manager = PassManager(passes=[changes, keeps], constraints=[first])
    with pytest.raises(RuntimeError, match="pass schedule constraint violated"):
        manager.validate_constraints()
    manager.solve_constraints()
    assert manager.passes == [keeps, changes]
    manager.validate_constraints()
    manager.add_constraint(this_before_that_pass_constraint(changes, keeps))
    with pytest.raises(RuntimeError, match="Circular dependency detected"):
        manager.solve_constraints()
    assert manager.passes == [keeps, changes]


def test_checks_run_and_failures_name_the_pass(gm):
    seen = []
    manager = PassManager(passes=[changes], run_checks_after_each_pass=True)
    manager.add_checks(seen.append)
    manager(gm)
    assert seen == [gm, gm]
    with pytest.raises(TypeError, match="only take in one variable"):
        manager.add_checks(lambda a, b: None)

    def fails(module):
        raise ZeroDivisionError("boo")

    manager.add_pass(fails)
    with pytest.raises(
        RuntimeError, match=r"running the 'fails' pass after the following passes: \['changes'\]"
    ) as caught:
        manager(gm)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(RuntimeError, match="wrap it with pass_result_wrapper"):
        PassManager(passes=[lambda module: 3])(gm)


def test_failing_checks_can_be_warnings(gm):
    def refuses(module):
        raise ValueError("no")

    manager = PassManager(passes=[changes], run_checks_after_each_pass=True, suppress_check_failures=True)
    manager.add_checks(refuses)
    with pytest.warns(UserWarning, match="no"):
        assert manager(gm).modified


def test_wrapper(gm):
    def edits(module):
        module.graph.lint()

    wrapped = pass_result_wrapper(edits)
    assert wrapped(gm) == PassResult(gm, True)
    assert wrapped.__name__ == "edits"
    assert pass_result_wrapper(wrapped)(gm) == PassResult(gm, True)
    assert pass_result_wrapper(None) is None
