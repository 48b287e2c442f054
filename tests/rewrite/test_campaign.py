"""A share of the random programs that `tests.rewrite.campaign` runs through passes and pipelines."""

import pytest

from .campaign import check


@pytest.mark.parametrize("block", range(12))
def test_passes_and_pipelines_keep_the_meaning(block):
    assert [changed for seed in range(block * 15, block * 15 + 15) for changed in check(seed)]
