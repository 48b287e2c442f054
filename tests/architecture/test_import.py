"""What importing the package loads, and what it costs."""

import subprocess
import sys

import pytest


def loaded_by(statement):
    """Names of the modules that are loaded after `statement` in a fresh interpreter."""
    script = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("module", ["symtrace", "symtrace.ir", "symtrace.errors", "symtrace.diagnostics"])
def test_these_load_no_torch(module):
    heavy = {"torch", "numpy", "rich", "click", "graphviz", "safetensors"}
    assert not heavy & loaded_by(f"import {module}")


def test_the_package_root_loads_names_when_they_are_used():
    assert "symtrace.tracing" not in loaded_by("import symtrace")
    assert "symtrace.tracing" in loaded_by("import symtrace; symtrace.symbolic_trace")


def test_torch_fx_is_not_loaded_by_the_core_itself():
    """torch may load its own fx; symtrace adds nothing to what torch loads of it."""
    with_torch = {m for m in loaded_by("import torch") if m.startswith("torch.fx")}
    with_symtrace = {
        m for m in loaded_by("import symtrace; symtrace.symbolic_trace") if m.startswith("torch.fx")
    }
    assert with_symtrace == with_torch


def test_the_command_line_answers_help_without_torch():
    assert "torch" not in loaded_by("import symtrace.cli.main")


def test_every_public_name_resolves():
    missing = "[n for n in s.__all__ if not hasattr(s, n)]"
    script = f"import symtrace as s; print({missing}, set(s.__all__) - set(dir(s)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "set()"]
