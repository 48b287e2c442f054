"""`--config NAME=VALUE` and named inputs."""

import pytest
import torch

from symtrace.cli.inputs import parse_inputs
from symtrace.cli.options import parse_config
from symtrace.errors import UsageError


def test_values_are_literals_and_else_strings():
    texts = ["a=2", "b=0.5", "c=None", "d=[1, 2]", "e=gelu", "f='x=y'", "g=a=b"]
    assert parse_config(texts) == {
        "a": 2, "b": 0.5, "c": None, "d": [1, 2], "e": "gelu", "f": "x=y", "g": "a=b",
    }  # fmt: skip


@pytest.mark.parametrize(("texts", "reason"), [
    (["width"], "not NAME=VALUE"), (["=3"], "not NAME=VALUE"), (["a b=3"], "not NAME=VALUE"), (["a=1", "a=2"], "twice"),
])  # fmt: skip
def test_what_is_no_value_with_a_name_is_refused(texts, reason):
    with pytest.raises(UsageError, match=reason) as caught:
        parse_config(texts)
    assert caught.value.code == "ST410"


def test_inputs_may_have_names():
    inputs = parse_inputs(["2x3", "mask=4:bool"], None)
    assert [tuple(value.shape) for value in inputs.args] == [(2, 3)]
    assert inputs.kwargs["mask"].shape == (4,)
    assert inputs.kwargs["mask"].dtype == torch.bool
