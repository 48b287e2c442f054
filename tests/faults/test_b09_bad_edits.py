"""B9: an edit that would break the graph is refused where it is made, and changes nothing."""

import pytest
import torch

import symtrace as fx

from .support import node, shape_of


def traced():
    return fx.symbolic_trace(lambda x, y: torch.relu(x + y) * 2)


def foreign_argument(gm):
    other = traced()
    node(gm, "relu").args = (node(other, "add"),)


def foreign_in_a_list(gm):
    node(gm, "relu").args = ([node(traced(), "add")],)


def foreign_keyword(gm):
    node(gm, "relu").kwargs = {"input": node(traced(), "add")}


def foreign_at_creation(gm):
    gm.graph.call_function(torch.neg, (node(traced(), "x"),))


def foreign_output(gm):
    gm.graph.output_node().args = (node(traced(), "add"),)


def erased_argument(gm):
    with gm.graph.inserting_before(node(gm, "relu")):
        dead = gm.graph.call_function(torch.neg, (node(gm, "x"),))
    gm.graph.erase_node(dead)
    node(gm, "relu").args = (dead,)


def erase_used(gm):
    gm.graph.erase_node(node(gm, "add"))


def erase_foreign(gm):
    gm.graph.erase_node(node(traced(), "mul"))


def second_output(gm):
    gm.graph.output(node(gm, "add"))


def node_after_output(gm):
    with gm.graph.inserting_after(gm.graph.output_node()):
        gm.graph.call_function(torch.neg, (node(gm, "x"),))


def append_after_output(gm):
    gm.graph.output_node().append(node(gm, "relu"))


def use_before_definition(gm):
    node(gm, "add").args = (node(gm, "relu"), 1)


def move_before_its_argument(gm):
    node(gm, "add").prepend(node(gm, "relu"))


def move_behind_its_user(gm):
    node(gm, "mul").append(node(gm, "add"))


def self_reference(gm):
    relu = node(gm, "relu")
    relu.args = (relu,)


def second_parameter_of_one_name(gm):
    gm.graph.placeholder("x")


def name_of_another(gm):
    node(gm, "relu").name = "add"


def keyword_as_name(gm):
    node(gm, "relu").name = "class"


def replace_by_foreign(gm):
    node(gm, "relu").replace_all_uses_with(node(traced(), "add"))


def replace_input_by_foreign(gm):
    node(gm, "relu").replace_input_with(node(gm, "add"), node(traced(), "add"))


def unknown_op(gm):
    gm.graph.create_node("call_magic", torch.neg, (node(gm, "x"),))


def args_not_a_tuple(gm):
    node(gm, "relu").args = node(gm, "add")


def kwargs_not_a_mapping(gm):
    node(gm, "relu").kwargs = [1]


def node_in_a_set(gm):
    node(gm, "relu").args = ({node(gm, "add")},)


EDITS = [
    foreign_argument,
    foreign_in_a_list,
    foreign_keyword,
    foreign_at_creation,
    foreign_output,
    erased_argument,
    erase_used,
    erase_foreign,
    second_output,
    node_after_output,
    append_after_output,
    use_before_definition,
    move_before_its_argument,
    move_behind_its_user,
    self_reference,
    second_parameter_of_one_name,
    name_of_another,
    keyword_as_name,
    replace_by_foreign,
    replace_input_by_foreign,
    unknown_op,
    args_not_a_tuple,
    kwargs_not_a_mapping,
    node_in_a_set,
]


@pytest.mark.parametrize("edit", EDITS, ids=lambda f: f.__name__)
def test_refused_and_nothing_changed(edit):
    gm = traced()
    before, names = shape_of(gm.graph), {n.name for n in gm.graph.nodes}
    from symtrace.errors import SymtraceError

    with pytest.raises(SymtraceError):
        edit(gm)
    assert shape_of(gm.graph) == before
    gm.graph.lint()
    x = torch.tensor([1.0])
    assert gm(x, x).item() == 4.0
    with gm.graph.inserting_before(gm.graph.output_node()):
        fresh = gm.graph.call_function(torch.neg, (node(gm, "mul"),))
    assert fresh.name not in names


def test_names_are_free_again_after_an_erase():
    gm = traced()
    with gm.graph.inserting_before(gm.graph.output_node()):
        for _ in range(2):
            extra = gm.graph.create_node("call_function", torch.neg, (node(gm, "mul"),), name="chosen")
            assert extra.name == "chosen"
            gm.graph.erase_node(extra)


def test_a_placeholder_always_joins_the_others():
    gm = traced()
    with gm.graph.inserting_after(node(gm, "relu")):
        gm.graph.placeholder("z")
    assert [n.op for n in gm.graph.nodes][:4] == ["placeholder"] * 3 + ["call_function"]
    gm.graph.lint()


def test_lint_lists_all_faults_at_once():
    module = torch.nn.Module()
    graph = fx.Graph()
    x = graph.placeholder("x")
    a = graph.call_module("no_such_layer", (x,))
    b = graph.get_attr("no_such_tensor")
    graph.output((a, b))
    graph.owning_module = module
    with pytest.raises(RuntimeError) as caught:
        graph.lint()
    assert "no_such_layer" in str(caught.value)
    assert "no_such_tensor" in str(caught.value)
