"""The bridge to fake tensors: shapes, dtypes and devices without content."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import cast

# The module has an underscore, but is how torch itself shares fake tensors; checked on 2.13 and 2.14.
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils import (
    _python_dispatch,  # the only way to step outside a dispatch mode; checked on 2.13 and 2.14
)

__all__ = ["FakeTensor", "FakeTensorMode", "outside_modes"]


def outside_modes() -> AbstractContextManager[None]:
    """Return a context in which operators run for real, whatever fake mode is in force."""
    return cast("AbstractContextManager[None]", _python_dispatch._disable_current_modes())
