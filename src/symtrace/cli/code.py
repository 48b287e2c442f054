"""`symtrace code TARGET -o FILE`."""

from __future__ import annotations

import tempfile
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._base.files import replace_files
from ..errors import UsageError
from .capturing import capture_target
from .inputs import Inputs
from .options import TargetOptions, target_options
from .output import console, progress

if TYPE_CHECKING:
    from .standalone import Standalone

__all__ = ["command"]


@click.command("code")
@click.argument("target")
@click.option("-o", "--output", required=True, metavar="FILE", help="The .py file to write.")
@target_options
def command(target: str, output: str, options: TargetOptions) -> None:
    """Write the captured TARGET as a Python FILE that can be imported on its own.

    The file defines the module's class and an object `model` of it. Larger tensors go into a
    .safetensors file beside it. The file is checked before it is put in place: it is imported, its
    tensors are compared and, when there are inputs, its results too.
    """
    from .standalone import standalone

    path = Path(output)
    if path.suffix != ".py" or not path.stem.isidentifier():
        reason = "a file that can be imported has a name such as `model.py`"
        raise UsageError("ST405", path=output, reason=reason)
    gm, inputs = capture_target(target, options)
    with progress(f"writing {output}"):
        written = standalone(gm)
        files = _files(written, path)
        _check(gm, files, path.name, written.model, inputs)
        try:
            replace_files(files)
        except OSError as error:
            raise UsageError("ST405", path=output, reason=error.strerror or str(error)) from None
    out = console()
    for name, data in files.items():
        out.print(f"wrote {name}: {len(data):,} bytes", markup=False)


def _files(written: Standalone, path: Path) -> dict[Path, bytes]:
    """Return the contents of the files to write; the text comes last, so that its tensors are there first."""
    files = {}
    if written.weights:
        from safetensors.torch import save

        files[path.with_suffix(".safetensors")] = save(
            {k: v.contiguous() for k, v in written.weights.items()}
        )
    files[path] = written.source.encode()
    return files


def _check(gm: Any, files: dict[Path, bytes], name: str, attribute: str, inputs: Inputs) -> None:
    """Import the file in a folder of its own and compare what it makes with `gm`."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        for path, data in files.items():
            (Path(folder) / path.name).write_bytes(data)
        module = types.ModuleType("symtrace_written")
        module.__file__ = str(Path(folder) / name)
        try:
            exec(
                compile(files[next(p for p in files if p.name == name)], module.__file__, "exec"),
                vars(module),
            )
        except Exception as error:
            raise UsageError("ST409", what=name, reason=f"{type(error).__name__}: {error}") from error
    model = vars(module)[attribute]
    _compare("tensors", gm.state_dict(), model.state_dict())
    if inputs:
        with torch.random.fork_rng(devices=[]):
            expected = _run(gm, inputs)
            _compare("results", expected, _run(model, inputs))


def _run(model: Any, inputs: Inputs) -> Any:
    import copy

    import torch

    torch.manual_seed(0)
    fresh = copy.deepcopy(inputs)
    with torch.no_grad():
        return copy.deepcopy(model)(*fresh.args, **fresh.kwargs)


def _compare(what: str, expected: Any, actual: Any) -> None:
    from torch.utils import _pytree as pytree

    wanted, spec = pytree.tree_flatten(expected)
    found, found_spec = pytree.tree_flatten(actual)
    same = spec == found_spec and all(_same(a, b) for a, b in zip(wanted, found, strict=True))
    if not same:
        raise UsageError("ST409", what="the module", reason=f"the written file would have other {what}")


def _same(expected: Any, actual: Any) -> bool:
    """Tell whether two values are equal bit for bit."""
    import torch

    if not isinstance(expected, torch.Tensor) or not isinstance(actual, torch.Tensor):
        return bool(expected == actual)
    if (expected.shape, expected.dtype) != (actual.shape, actual.dtype):
        return False
    bits = [tensor.detach().reshape(-1).contiguous().view(torch.uint8) for tensor in (expected, actual)]
    return torch.equal(*bits)
