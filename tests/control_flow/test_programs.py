"""Every program equals its capture on all paths, with and without example inputs, or is refused by its code."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from symtrace.errors import TraceError

from .corpus import programs
from .corpus.comparing import captured, check
from .corpus.program import PROGRAMS

for _file in sorted(Path(programs.__file__).parent.glob("[a-z]*.py")):
    importlib.import_module(f"{programs.__name__}.{_file.stem}")

REFUSED = {
    "dict_comprehension": ("ST013", None),
    "list_pop": ("ST033", "ST033"),
    "list_iadd": ("ST033", "ST033"),
    "dict_grows": ("ST013", "ST013"),
    "strings": ("ST033", "ST033"),
    "carried_by_a_loop": (None, "ST033"),
    "while_py_counter_index": ("ST024", "ST013"),
    "global_list": ("ST033", "ST033"),
    "gen_list": ("ST033", "ST033"),
    "ret_shared": ("ST033", "ST033"),
    "chained_default": (None, "ST033"),
    "sets": ("ST033", "ST033"),
    "iterator_branch": ("ST033", "ST033"),
    "try_except_depends": ("ST033", "ST033"),
    "alias_lists": ("ST033", "ST033"),
    "alias_after": ("ST033", "ST033"),
    "alias_in_path": ("ST033", "ST033"),
    "caller_list": ("ST033", "ST033"),
    "closure_rebound": ("ST012", "ST012"),
    "lambda_late": ("ST012", None),
    "loop_alias": ("ST033", "ST033"),
    "loop_shared": ("ST033", "ST033"),
    "isinst_mixed": ("ST033", "ST033"),
    "isinst_total": ("ST033", "ST033"),
    "isinst_total2": ("ST033", "ST033"),
    "ternary_appends": ("ST033", None),
    "and_appends": (None, "ST033"),
    "CacheList": ("ST022", "ST022"),
    "nms_items": (None, "ST033"),
    "asked_by_class": ("ST033", "ST033"),
    "asked_without_text": ("ST033", "ST033"),
    "asked_in_a_generator": ("ST012", "ST012"),
    "none_filtered": ("ST033", None),
    "none_in_a_growing_list": ("ST033", None),
    "message_12": ("ST013", "ST013"),
    "message_16": ("ST033", "ST033"),
    "match_tuple_guard": ("ST020", None),
    "gen_max_default": ("ST020", "ST020"),
    "dict_comp_filter": ("ST033", "ST033"),
    "set_comp": ("ST013", "ST013"),
    "ModIdx": ("ST024", "ST013"),
    "ModArgmax": ("ST024", "ST013"),
    "GreedyFinished": ("ST033", "ST033"),
    "nms_list": ("ST033", "ST033"),
    "dict_get_count": ("ST033", "ST033"),
    "defaultdict_lists": ("ST033", "ST033"),
    "tuple_of_lists": ("ST033", "ST033"),
    "global_write": ("ST033", "ST033"),
    "alias_nested_holds": ("ST033", "ST033"),
    "alias_nested_var": ("ST033", "ST033"),
    "while_dataclass_new": ("ST033", "ST033"),
    "deque_append": ("ST033", "ST033"),
    "nested_alias": ("ST033", "ST033"),
    "nested_alias_two": ("ST033", "ST033"),
    "nested_buckets": ("ST033", "ST033"),
    "none_init_list_append": ("ST033", "ST033"),
    "number_or_tensor_isinst": ("ST033", "ST033"),
    "number_or_tensor_isinst2": ("ST033", "ST033"),
}
"""Programs that capture refuses, with the codes of the errors without and with examples; None where it does not."""

GUARDED = {
    "decision_on_a_size": "x.shape[0] > 2",
    "decision_on_dim": "x.dim() is 2",
    "rows": "len(x.unbind(0))",
    "enumerated_rows": "len(x.unbind(0))",
    "zipped_rows": "len(a.unbind(0))",
    "rows_with_if": "len(x.unbind(0))",
    "rows_with_break": "len(x.unbind(0))",
    "rows_with_continue": "len(x.unbind(0))",
    "rows_with_return": "len(x.unbind(0))",
    "filtered_rows": "len(x.unbind(0))",
    "mapped_rows": "len(x.unbind(0))",
    "nested_rows": "len(x.unbind(0))",
}
"""Programs that decide on the rank or the size of an input, or go through its rows: captured with examples, they are
for inputs like these. Each with what is assumed."""

CHANGES_A_DEFAULT = {"chained_default"}
"""Programs that change the default of a parameter, which an interpreter takes from the graph, where it is frozen."""

CASES = [(name, has_examples) for name in PROGRAMS for has_examples in (False, True)]


def _code(name: str, has_examples: bool) -> str | None:
    return REFUSED.get(name, (None, None))[has_examples]


@pytest.mark.parametrize(("name", "has_examples"), [case for case in CASES if _code(*case) is None])
@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")
def test_equals_eager(name: str, has_examples: bool) -> None:
    guard = GUARDED.get(name) if has_examples else None
    check(PROGRAMS[name], has_examples, guard=guard, interprets=name not in CHANGES_A_DEFAULT)


@pytest.mark.parametrize(("name", "has_examples"), [case for case in CASES if _code(*case) is not None])
def test_is_refused(name: str, has_examples: bool) -> None:
    with pytest.raises(TraceError) as caught:
        captured(PROGRAMS[name], has_examples)
    assert caught.value.code == _code(name, has_examples)
    assert caught.value.location is not None or caught.value.code == "ST022"


def test_there_are_as_many_as_was_asked_for() -> None:
    assert sum(_code(name, False) is None or _code(name, True) is None for name in PROGRAMS) >= 150
