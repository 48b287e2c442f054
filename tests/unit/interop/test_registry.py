"""What other packages tell torch.fx is read, not written."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch.fx

from symtrace.interop import (
    torch_fx_side_effectful_functions,
    torch_fx_wrapped_functions,
    torch_fx_wrapped_methods,
)


def leaf(x):
    return x


torch.fx.wrap("leaf")


def test_functions_registered_by_name():
    assert any(scope is globals() and name == "leaf" for scope, name in torch_fx_wrapped_functions())


def test_torchvision_registers_its_leaves():
    ops = pytest.importorskip("torchvision.ops")
    found = {scope[name] for scope, name in torch_fx_wrapped_functions() if name in scope}
    assert ops.stochastic_depth in found


def test_methods_and_side_effects():
    assert isinstance(torch_fx_wrapped_methods(), tuple)
    assert torch._assert in torch_fx_side_effectful_functions()


def test_reading_changes_nothing():
    before = torch_fx_wrapped_functions()
    assert torch_fx_wrapped_functions() == before
    assert torch.fx.node._side_effectful_functions == torch_fx_side_effectful_functions()


def test_the_reader_alone_does_not_import_the_registry():
    program = (
        "import importlib.util, sys, pathlib\n"
        "import symtrace\n"
        "path = pathlib.Path(symtrace.__file__).parent / 'interop' / 'torch_fx_registry.py'\n"
        "spec = importlib.util.spec_from_file_location('registry', path)\n"
        "module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)\n"
        "print(module.torch_fx_wrapped_functions(), 'torch.fx' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["()", "False"]
