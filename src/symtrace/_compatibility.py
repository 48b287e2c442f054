"""FX's spelling: marks on public names."""

from ._base.compatibility import BACK_COMPAT as _BACK_COMPAT_OBJECTS
from ._base.compatibility import MARKED as _MARKED_WITH_COMPATIBILITY
from ._base.compatibility import compatibility

__all__ = ["_BACK_COMPAT_OBJECTS", "_MARKED_WITH_COMPATIBILITY", "compatibility"]
