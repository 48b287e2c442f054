"""`--input` and `--inputs`: what they make, and how refusals read."""

import pytest
import torch

from symtrace.cli.inputs import parse_inputs, parse_tensor
from symtrace.errors import UsageError


@pytest.mark.parametrize(
    ("text", "shape", "dtype"),
    [
        ("1x3x8x8", (1, 3, 8, 8), torch.float32),
        ("7", (7,), torch.float32),
        ("0x4", (0, 4), torch.float32),
        ("scalar", (), torch.float32),
        ("scalar:int64", (), torch.int64),
        ("2x3:bfloat16", (2, 3), torch.bfloat16),
        ("2x3:long", (2, 3), torch.int64),
        ("2:bool", (2,), torch.bool),
        ("2:complex64", (2,), torch.complex64),
        ("4:float8_e4m3fn", (4,), torch.float8_e4m3fn),
    ],
)
def test_sizes_and_dtype(text, shape, dtype):
    made = parse_tensor(text)
    assert (tuple(made.shape), made.dtype) == (shape, dtype)


def test_values_are_the_same_each_time_and_leave_the_random_state_alone():
    state = torch.get_rng_state()
    first, second = parse_tensor("2x3"), parse_tensor("2x3")
    assert torch.equal(first, second)
    assert torch.equal(state, torch.get_rng_state())
    assert first.std() > 0


def test_several_inputs_have_different_values():
    one, two = parse_inputs(["4", "4"], None).args
    assert not torch.equal(one, two)


def test_integers_are_zero_so_that_they_can_be_indices():
    assert not parse_tensor("5:int64").any()


@pytest.mark.parametrize("text", ["", "3xA", "x3", "3x", "-1x3", "3,4", "1.5", "3 x 4", "3:", ":int64"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(UsageError, match="not sizes joined by `x`") as caught:
        parse_tensor(text)
    assert caught.value.code == "ST403"


def test_an_unknown_dtype_is_refused_with_the_nearest_one():
    with pytest.raises(UsageError, match="`flaot32` is not a dtype of torch; did you mean `float32`"):
        parse_tensor("3:flaot32")


@pytest.mark.parametrize("text", ["999999999999x999999999", "99999999999999999999999999"])
def test_a_size_that_can_not_be_allocated_is_one_clear_line(text):
    with pytest.raises(UsageError) as caught:
        parse_tensor(text)
    assert caught.value.code == "ST403"
    assert len(caught.value.diagnostic.message.splitlines()) == 1


def test_an_expression_gives_positional_and_keyword_arguments():
    made = parse_inputs([], "torch.ones(2), [1, 2], scale=3,")
    assert torch.equal(made.args[0], torch.ones(2))
    assert (made.args[1], made.kwargs) == ([1, 2], {"scale": 3})


def test_no_inputs_are_false_and_inputs_are_true():
    assert not parse_inputs([], None)
    assert parse_inputs(["2"], None)
    assert parse_inputs([], "scale=2")


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("torch.onez(2)", "AttributeError"),
        ("1 +", "SyntaxError"),
        ("1/0", "ZeroDivisionError"),
        ("1) + (2", "TypeError"),
    ],
)
def test_a_bad_expression_is_refused(expression, reason):
    with pytest.raises(UsageError, match=reason) as caught:
        parse_inputs([], expression)
    assert caught.value.code == "ST404"
    assert len(caught.value.diagnostic.message.splitlines()) == 1


def test_both_kinds_at_once_are_refused():
    with pytest.raises(UsageError, match="not both"):
        parse_inputs(["2"], "torch.ones(2)")
