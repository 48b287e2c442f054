"""The examples in docstrings do what they show."""

import doctest
import importlib

import pytest

from .blocks import ROOT

PACKAGE = ROOT / "src" / "symtrace"
FILES = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


def module_name(path):
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize("path", FILES, ids=module_name)
def test_examples(path):
    module = importlib.import_module(module_name(path))
    found = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert found.attempted > 0
    assert found.failed == 0
