"""Annotations that name what is not there at run time are kept as text."""

import inspect
import sys
from typing import ForwardRef

import pytest

import symtrace
from symtrace._base.signatures import as_text, signature_of


def test_plain_signatures_are_those_of_inspect():
    def f(a: int, /, b: "Missing" = 1, *c, d: float = 2.0, **e) -> "Missing":  # noqa: F821
        return a

    assert signature_of(f) == inspect.signature(f)


def test_what_has_no_signature_is_refused_as_by_inspect():
    with pytest.raises(TypeError):
        signature_of(3)


def test_forward_references_become_text():
    assert as_text(ForwardRef("Missing")) == "Missing"
    assert as_text(int) is int
    assert as_text("Missing") == "Missing"


@pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations are evaluated late from Python 3.14 on")
def test_names_for_type_checkers_only():
    namespace = {}
    exec(compile("def f(x: Missing, y: int) -> Missing:\n    return x + y", "f", "exec", 0, True), namespace)
    found = signature_of(namespace["f"])
    assert [item.annotation for item in found.parameters.values()] == ["Missing", int]
    assert found.return_annotation == "Missing"
    assert symtrace.symbolic_trace(namespace["f"])(2, 3) == 5
