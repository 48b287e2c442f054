"""B8: after an edit, `code`, `forward`, the interpreter and a copy all show the edited graph."""

import copy
import gc
import linecache
import pickle

import pytest
import torch

import symtrace as fx

from .support import node


def retarget(gm):
    node(gm, "relu").target = torch.neg


def new_arguments(gm):
    node(gm, "add").args = (node(gm, "relu"), 10)


def erase(gm):
    add = node(gm, "add")
    add.replace_all_uses_with(node(gm, "relu"))
    gm.graph.erase_node(add)


def insert(gm):
    relu = node(gm, "relu")
    with gm.graph.inserting_after(relu):
        negated = gm.graph.call_function(torch.neg, (relu,))
    relu.replace_all_uses_with(negated, delete_user_cb=lambda user: user is not negated)


def output(gm):
    gm.graph.output_node().args = ((node(gm, "relu"), node(gm, "add")),)


def keyword(gm):
    node(gm, "add").update_arg(1, 5)


def new_graph(gm):
    gm.graph = fx.symbolic_trace(lambda x: x * 3).graph


def codegen(gm):
    gm.graph.on_generate_code(
        lambda old: lambda body: [*body[:-1], body[-1].replace("return add", "return add * 2")]
    )


EDITS = [retarget, new_arguments, erase, insert, output, keyword, new_graph, codegen]


def program(x):
    return torch.relu(x) + 1


@pytest.mark.parametrize("edit", EDITS, ids=lambda f: f.__name__)
def test_everything_shows_the_edit_without_recompile(edit):
    edited, recompiled = fx.symbolic_trace(program), fx.symbolic_trace(program)
    x = torch.tensor([-1.0, 2.0])
    edited(x), edited.code  # so that the old code is there to become stale
    edit(edited)
    edit(recompiled)
    recompiled.recompile()
    assert edited.code == recompiled.code
    torch.testing.assert_close(edited(x), recompiled(x))
    torch.testing.assert_close(edited.forward(x), recompiled(x))
    torch.testing.assert_close(copy.deepcopy(edited)(x), recompiled(x))
    if edit is not codegen:
        torch.testing.assert_close(pickle.loads(pickle.dumps(edited))(x), recompiled(x))


@pytest.mark.parametrize("edit", EDITS, ids=lambda f: f.__name__)
def test_an_edit_is_seen(edit):
    gm = fx.symbolic_trace(program)
    before, x = gm.code, torch.tensor([-1.0, 2.0])
    edit(gm)
    assert gm.code != before
    fresh = gm(x)
    assert isinstance(fresh, tuple) or not torch.equal(fresh, program(x))


def test_the_text_of_a_module_that_was_dropped_goes_with_the_next_one_and_not_in_between():
    gm = fx.symbolic_trace(lambda x: torch.relu(x))
    filename = gm.forward.__func__.__code__.co_filename
    assert "torch.relu" in "".join(linecache.getlines(filename))
    del gm
    gc.collect()  # which may happen while a debugger walks through the cache
    assert filename in linecache.cache
    assert fx.symbolic_trace(lambda x: torch.relu(x)).forward is not None
    assert filename not in linecache.cache
