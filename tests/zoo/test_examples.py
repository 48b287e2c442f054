"""Real models, captured with example inputs: equal on other values, sizes and modes."""

import importlib.util
import sys
from pathlib import Path

import pytest
import torch

import symtrace

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
MODELS = {
    "torchvision": ("deeplabv3_mobilenet_v3_large", "efficientnet_b0", "r3d_18", "raft_small", "swin_t", "vit_b_16"),
    "timm": ("beit_base_patch16_224", "coat_lite_tiny", "levit_128s", "test_byobnet", "test_convnext"),
    "transformers": (
        "albert", "bart", "bert", "blip", "clip", "distilbert", "dpr", "gemma2", "gpt2", "llama", "mamba", "mixtral",
        "paligemma", "t5", "vit", "whisper",
    ),
}  # fmt: skip
MAY_REFUSE = {"length"}
"""Verdicts for which a guard may refuse: the program decides on the size itself."""


def examine(suite, name):
    sys.path.insert(0, str(BENCHMARKS))
    try:
        zoo = importlib.import_module("zoo")
    finally:
        sys.path.remove(str(BENCHMARKS))
    return zoo.CHECKS, zoo.examine(suite, name, False)


@pytest.mark.zoo
@pytest.mark.parametrize(
    ("suite", "name"), [(suite, name) for suite, names in MODELS.items() for name in names]
)
def test_captured_and_equal(suite, name):
    if importlib.util.find_spec(suite) is None:
        pytest.skip(f"{suite} is not installed")
    checks, verdicts = examine(suite, name)
    assert "left_out" not in verdicts, verdicts
    assert verdicts["captured"], verdicts["error"]
    for check in checks:
        allowed = ("equal", "-", "guard") if check in MAY_REFUSE else ("equal", "-")
        # A mode that a layer can't be switched to is refused by a guard, never computed wrongly.
        if check == "train":
            allowed = ("equal", "guard")
        assert verdicts[check].partition(":")[0] in allowed, (check, verdicts[check])


@pytest.mark.zoo
def test_a_wrapped_function_may_share_a_variable_of_its_own_with_a_comprehension_in_it():
    timm = pytest.importorskip("timm")
    model = timm.create_model("qwen3_vit_306m", depth=1).eval()
    x = torch.randn(1, *model.default_cfg["input_size"])
    module = symtrace.capture(model, (x,))
    with torch.no_grad():
        assert torch.equal(module(x), model(x))
