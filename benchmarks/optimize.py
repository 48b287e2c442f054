"""The models of torchvision through `optimize`: equal to eager, and how fast against eager and torch.fx.

python benchmarks/optimize.py [--models resnet18,vgg11] [--size 64] [--repeat 7]

One run, one thread, in evaluation mode: eager, `torch.fx.experimental.optimization.fuse` where it takes the model, and
`symtrace.optimize`, in turn. Prints milliseconds, ratios, and the geometric means.
"""

from __future__ import annotations

import argparse
import gc
import math
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.fx.experimental.optimization import fuse

import symtrace

MODELS = (
    "alexnet,convnext_tiny,densenet121,efficientnet_b0,efficientnet_v2_s,googlenet,inception_v3,maxvit_t,mnasnet1_0,"
    "mobilenet_v2,mobilenet_v3_small,mobilenet_v3_large,regnet_y_400mf,regnet_x_400mf,resnet18,resnet34,resnet50,"
    "resnext50_32x4d,shufflenet_v2_x1_0,squeezenet1_0,squeezenet1_1,swin_t,swin_v2_t,vgg11,vgg11_bn,vit_b_32,"
    "wide_resnet50_2"
)
SIZES = {"inception_v3": 299, "vit_b_32": 224, "maxvit_t": 224, "alexnet": 128}


def build(name: str) -> nn.Module:
    """Return a model in evaluation mode, with statistics that are not the trivial ones."""
    import torchvision

    torch.manual_seed(0)
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    model: nn.Module = getattr(torchvision.models, name)(weights=None, **options).eval()
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d) and module.running_mean is not None:
            module.running_mean.uniform_(-0.1, 0.1)
            module.running_var.uniform_(0.8, 1.2)  # type: ignore[union-attr]
    return model


def fastest(runs: list[Callable[[], Any]], repeat: int) -> list[float]:
    """Run each in turn and return the least time of each."""
    times: list[list[float]] = [[] for _ in runs]
    with torch.no_grad():
        for _ in range(repeat + 1):
            for index, run in enumerate(runs):
                start = time.perf_counter()
                run()
                times[index].append(time.perf_counter() - start)
    return [min(each[1:]) for each in times]


def measure(name: str, size: int, repeat: int) -> tuple[float, float, float | None]:
    """Check one model and return the times of eager, `optimize` and torch.fx."""
    model = build(name)
    x = torch.rand(2, 3, SIZES.get(name, size), SIZES.get(name, size))
    try:
        gm = symtrace.symbolic_trace(model)
    except symtrace.TraceError:
        gm = symtrace.capture(model, (x,))
    ours = symtrace.optimize(gm)
    try:
        theirs: Any = fuse(model)
    except Exception:
        theirs = None
    with torch.no_grad():
        torch.testing.assert_close(ours(x), model(x), rtol=1e-3, atol=1e-4)
    runs = [lambda: model(x), lambda: ours(x)] + ([lambda: theirs(x)] if theirs is not None else [])
    gc.collect()
    eager, optimized, *rest = fastest(runs, repeat)
    return eager, optimized, rest[0] if rest else None


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 where a model is slower than 0.97 of eager"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    against_eager, against_fx, both = [], [], []
    print(f"{'model':<22}{'eager ms':>10}{'optimize ms':>13}{'fx fuse ms':>12}{'vs eager':>10}{'vs fx':>8}")
    for name in options.models.split(","):
        eager, ours, theirs = measure(name, options.size, options.repeat)
        against_eager.append(eager / ours)
        text = f"{name:<22}{eager * 1e3:>10.2f}{ours * 1e3:>13.2f}"
        if theirs is None:
            text += f"{'-':>12}{eager / ours:>10.2f}{'-':>8}"
        else:
            against_fx.append(theirs / ours)
            both.append(eager / theirs)
            text += f"{theirs * 1e3:>12.2f}{eager / ours:>10.2f}{theirs / ours:>8.2f}"
        print(text, flush=True)
    print(f"geometric mean against eager: {mean(against_eager):.3f} ({len(against_eager)} models)")
    print(f"geometric mean against torch.fx fuse: {mean(against_fx):.3f} ({len(against_fx)} models)")
    print(f"torch.fx fuse against eager: {mean(both):.3f}")
    print(f"slowest against eager: {min(against_eager):.3f}")
    return 1 if options.check and min(against_eager) < 0.97 else 0


if __name__ == "__main__":
    sys.exit(main())
