"""A captured module is an ordinary `nn.Module`: what torch offers for modules takes it, equal results."""

from __future__ import annotations

import copy
import importlib.util
import io
import shutil
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import symtrace as fx

torchvision = pytest.importorskip("torchvision")

pytestmark = pytest.mark.interop


@pytest.fixture(scope="module")
def model() -> nn.Module:
    torch.manual_seed(0)
    return torchvision.models.resnet18(num_classes=10).eval()


@pytest.fixture(scope="module")
def captured(model: nn.Module) -> Any:
    return fx.symbolic_trace(model)


@pytest.fixture(scope="module")
def x() -> torch.Tensor:
    return torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(1))


def assert_equal_results(
    run: Callable[..., Any], model: nn.Module, x: torch.Tensor, **tolerance: float
) -> None:
    with torch.no_grad():
        torch.testing.assert_close(run(x), model(x), **(tolerance or {"rtol": 0, "atol": 0}))


def test_captured_alone(model, captured, x):
    assert_equal_results(captured, model, x)


def test_jit_script(model, captured, x):
    assert_equal_results(torch.jit.script(captured), model, x, rtol=1e-5, atol=1e-5)


def test_jit_script_saved_and_loaded(model, captured, x):
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(captured), file)
    file.seek(0)
    assert_equal_results(torch.jit.load(file), model, x, rtol=1e-5, atol=1e-5)


def test_jit_trace(model, captured, x):
    assert_equal_results(torch.jit.trace(captured, (x,)), model, x, rtol=1e-5, atol=1e-5)


def test_compile_eager(model, captured, x):
    torch._dynamo.reset()
    assert_equal_results(
        torch.compile(captured, backend="eager", fullgraph=True), model, x, rtol=1e-5, atol=1e-5
    )


@pytest.mark.skipif(shutil.which("g++") is None, reason="inductor needs a C++ compiler")
def test_compile_inductor(model, captured, x):
    torch._dynamo.reset()
    assert_equal_results(torch.compile(captured, fullgraph=True), model, x, rtol=1e-3, atol=1e-3)


def test_export(model, captured, x):
    program = torch.export.export(captured, (x,))
    assert set(program.state_dict) == set(model.state_dict())
    assert_equal_results(program.module(), model, x, rtol=1e-5, atol=1e-5)


def test_export_with_a_dynamic_batch(model, captured, x):
    batch = torch.export.Dim("batch", min=2, max=16)
    program = torch.export.export(captured, (x,), dynamic_shapes={"x": {0: batch}})
    more = torch.cat([x, x])
    assert_equal_results(program.module(), model, more, rtol=1e-5, atol=1e-5)


def test_onnx(model, captured, x):
    for needed in ("onnx", "onnxscript", "onnxruntime"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    import onnxruntime

    file = io.BytesIO()
    torch.onnx.export(captured, (x,), dynamo=True).save(file)
    session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])

    def run(value: torch.Tensor) -> torch.Tensor:
        (out,) = session.run(None, {session.get_inputs()[0].name: value.numpy()})
        return torch.from_numpy(out)

    assert_equal_results(run, model, x, rtol=1e-3, atol=1e-3)


def test_data_parallel(model, captured, x):
    assert_equal_results(nn.DataParallel(captured), model, x)


def test_a_replica_for_data_parallel(model, captured, x):
    """What DataParallel makes for each device: the same module with its parameters as plain attributes."""
    modules = list(captured.modules())
    place = {module: index for index, module in enumerate(modules)}
    replicas = [module._replicate_for_data_parallel() for module in modules]
    for module, replica in zip(modules, replicas, strict=True):
        for name, child in module._modules.items():
            replica._modules[name] = None if child is None else replicas[place[child]]
        for name, value in [*module._parameters.items(), *module._buffers.items()]:
            setattr(replica, name, value)
    assert_equal_results(replicas[0], model, x)


def test_a_deep_copy_trains_on_its_own(model, captured, x):
    dup = copy.deepcopy(captured)
    dup(x).sum().backward()
    assert all(p.grad is not None for p in dup.parameters())
    assert all(p.grad is None for p in captured.parameters())


def test_optimiser_and_checkpoint_of_the_original(model, captured, x):
    fresh = torchvision.models.resnet18(num_classes=10).eval()
    fresh.load_state_dict(captured.state_dict(), strict=True)
    assert_equal_results(captured, fresh, x)
    assert [name for name, _ in captured.named_parameters()] == [name for name, _ in model.named_parameters()]


def test_functional_call(model, captured, x):
    state = {key: value.clone() for key, value in model.state_dict().items()}
    assert_equal_results(lambda value: torch.func.functional_call(captured, state, (value,)), model, x)
