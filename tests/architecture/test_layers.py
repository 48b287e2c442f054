"""What may import what, read from the syntax trees."""

import ast

import pytest

from .source import LAYERS, PACKAGE, files, imported_layer, imports, layer, name, tree

FILES = [pytest.param(path, id=name(path)) for path in files()]
TORCH_FREE = ("_base", "diagnostics", "errors", "ir")
PRIVATE_TORCH = ("values/", "ops/", "interop/", "tracing/hooks.py")
# Containers have no public library of the kind; `torch._assert` is documented for traced programs.
PUBLIC_ENOUGH = ("torch.utils._pytree", "torch._assert")


def is_private(dotted):
    if dotted.startswith(PUBLIC_ENOUGH):
        return False
    return any(part.startswith("_") and not part.startswith("__") for part in dotted.split("."))


def attribute_chain(node):
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


@pytest.mark.parametrize("path", FILES)
def test_imports_go_downwards(path):
    mine = layer(path)
    if mine is None:
        return
    upward = []
    for item in imports(path):
        theirs = imported_layer(item.target)
        if theirs is None or item.target == "symtrace":
            continue
        if theirs == "" or LAYERS.index(theirs) > LAYERS.index(mine):
            upward.append(f"line {item.line}: {item.target}")
    assert not upward, f"{name(path)} is in layer `{mine}` and imports from above it"


@pytest.mark.parametrize("path", [p for p in FILES if layer(p.values[0]) in TORCH_FREE])
def test_the_lowest_layers_import_no_torch(path):
    found = [
        f"line {item.line}: {item.target}" for item in imports(path) if item.target.split(".")[0] == "torch"
    ]
    assert not found


@pytest.mark.parametrize("path", FILES)
def test_private_names_of_torch_stay_in_few_files(path):
    relative = str(path.relative_to(PACKAGE))
    if relative.startswith(PRIVATE_TORCH):
        return
    found = [
        f"line {i.line}: {i.target}"
        for i in imports(path)
        if i.target.startswith("torch.") and is_private(i.target)
    ]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute):
            chain = attribute_chain(node)
            if chain.startswith("torch.") and is_private(chain):
                found.append(f"line {node.lineno}: {chain}")
    assert not found


@pytest.mark.parametrize("path", FILES)
def test_only_interop_knows_torch_fx(path):
    if layer(path) == "interop":
        return
    found = [f"line {i.line}: {i.target}" for i in imports(path) if (i.target + ".").startswith("torch.fx.")]
    found += [
        f"line {node.lineno}: torch.fx"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and attribute_chain(node) == "torch.fx"
    ]
    assert not found


@pytest.mark.parametrize("path", FILES)
def test_environment_variables_steer_nothing(path):
    found = [
        f"line {node.lineno}"
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and attribute_chain(node) in ("os.environ", "os.getenv")
    ]
    assert not found
