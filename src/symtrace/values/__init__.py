"""What is known of a value without computing it."""

from .fake import FakeTensor, FakeTensorMode, outside_modes

__all__ = ["FakeTensor", "FakeTensorMode", "outside_modes"]
