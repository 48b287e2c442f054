"""What is known of a value without computing it."""

from .direct import DirectMode
from .fake import DATA_DEPENDENT, FakeTensor, FakeTensorMode, fake_on, outside_modes

__all__ = ["DATA_DEPENDENT", "DirectMode", "FakeTensor", "FakeTensorMode", "fake_on", "outside_modes"]
