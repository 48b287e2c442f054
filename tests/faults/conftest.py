"""Each test starts in the same modes, whatever the test before it left behind."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def _same_modes() -> Iterator[None]:
    yield
    torch.set_grad_enabled(True)
    torch.set_autocast_enabled("cpu", False)
