"""The operators of torch's own database: captured and compared, a sample each; the whole sweep is marked `zoo`."""

import warnings

import pytest
from tests.operators.sweep import EXCEPTIONS, check, operators

EVERY = operators()
"""All entries that take float32 on the CPU."""


def test_the_database_is_the_one_that_was_swept():
    assert len(EVERY) > 600


def unexpected(op, most):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            outcome
            for outcome in check(op, most)
            if outcome.kind != "equal" and (outcome.operator, outcome.variant) not in EXCEPTIONS
        ]


@pytest.mark.parametrize("part", range(16))
def test_first_samples(part):
    found = [outcome for op in EVERY[part::16] for outcome in unexpected(op, 2)]
    assert found == []


@pytest.mark.zoo
@pytest.mark.parametrize("part", range(16))
def test_every_sample(part):
    found = [outcome for op in EVERY[part::16] for outcome in unexpected(op, None)]
    assert found == []
