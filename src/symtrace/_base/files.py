"""Writing files so that a failure leaves what was there."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

__all__ = ["replace_file", "replace_files"]


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Make `data` the contents of the file at `path`, in one step.

    Raises:
        OSError: It can't be written; an older file is as it was.
    """
    replace_files({Path(path): data})


def replace_files(contents: Mapping[Path, bytes]) -> None:
    """Write several files: all are complete on disk before the first one takes its place.

    Raises:
        OSError: One can't be written; those that were not yet in place are as they were.
    """
    ready: list[tuple[str, str]] = []
    try:
        for path, data in contents.items():
            final = os.path.realpath(path)  # a link stays a link
            if os.path.isdir(final):
                raise IsADirectoryError(21, "Is a directory", str(path))
            folder, name = os.path.split(final)
            temporary = os.path.join(folder, f".{name}.{secrets.token_hex(4)}.tmp")
            with open(temporary, "xb") as file:
                ready.append((temporary, final))
                file.write(data)
            if os.path.exists(final):
                os.chmod(temporary, stat.S_IMODE(os.stat(final).st_mode))
        while ready:
            temporary, final = ready[0]
            os.replace(temporary, final)
            ready.pop(0)
    finally:
        for temporary, _ in ready:
            os.unlink(temporary)
