"""Real models through `optimize`: equal to eager, and how fast against eager and torch.fx.

python benchmarks/optimize.py [--models resnet18,timm:vit_tiny_patch16_224,transformers] [--size 64]

A model is a name of torchvision, `suite:name` of the zoo, or a whole suite. One run, one thread, in evaluation mode:
eager, `torch.fx.experimental.optimization.fuse` where it takes the model, and `symtrace.optimize`. They take turns in
an order that changes from round to round, processor time is what counts, and the ratio is the median of the ratios of
the rounds: other work on the machine falls on all of them alike. A copy of the eager model runs along, and what it
differs from the first by is what the machine can't tell apart. A model that comes out slower is measured twice more,
with fresh copies of everything; it counts as slower where all three ratios say so and their median is below the least
ratio of the copy. Prints milliseconds, ratios, and the geometric means.
"""

from __future__ import annotations

import argparse
import copy
import gc
import math
import random
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.fx.experimental.optimization import fuse
from zoo_models import SUITES

import symtrace
from zoo import tensors_of

MODELS = (
    "alexnet,convnext_tiny,densenet121,efficientnet_b0,efficientnet_v2_s,googlenet,inception_v3,maxvit_t,mnasnet1_0,"
    "mobilenet_v2,mobilenet_v3_small,mobilenet_v3_large,regnet_y_400mf,regnet_x_400mf,resnet18,resnet34,resnet50,"
    "resnext50_32x4d,shufflenet_v2_x1_0,squeezenet1_0,squeezenet1_1,swin_t,swin_v2_t,vgg11,vgg11_bn,vit_b_32,"
    "wide_resnet50_2"
)
SIZES = {"inception_v3": 299, "vit_b_32": 224, "maxvit_t": 224, "alexnet": 128}


def build(name: str) -> nn.Module:
    """Return a model in evaluation mode."""
    import torchvision

    torch.manual_seed(0)
    options = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    model: nn.Module = getattr(torchvision.models, name)(weights=None, **options).eval()
    return with_statistics(model)


def with_statistics(model: nn.Module) -> nn.Module:
    """Give the normalisations of a model statistics that are not the trivial ones."""
    for module in model.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.running_mean is not None:
            module.running_mean.uniform_(-0.1, 0.1)
            module.running_var.uniform_(0.8, 1.2)  # type: ignore[union-attr]
    return model


LEAST = 0.02
"""Seconds that one turn takes at least: a short call is made several times."""


def rounds(runs: list[Callable[[], Any]], repeat: int, limit: float) -> list[list[float]]:
    """Run all in each round, in an order that changes; return the processor time of each call, round by round.

    There are `repeat` rounds, or as many as fit into `limit` seconds, but at least five.
    """
    order = list(range(len(runs)))
    choices = random.Random(0)
    times: list[list[float]] = []
    with torch.no_grad():
        start = time.process_time()
        for run in runs:
            run()
        spent = max(time.process_time() - start, 1e-6)
        calls = max(1, round(LEAST * len(runs) / spent))
        repeat = max(5, min(repeat, int(limit / (spent * (calls + 1)))))
        for _ in range(repeat):
            choices.shuffle(order)
            row = [0.0] * len(runs)
            for index in order:
                runs[index]()  # brings its weights into the caches, from which the others have pushed them
                start = time.process_time()
                for _ in range(calls):
                    runs[index]()
                row[index] = (time.process_time() - start) / calls
            times.append(row)
    return times


@dataclass(frozen=True)
class Result:
    """What was measured of one model.

    Attributes:
        eager: Least time of eager.
        ours: Least time of what `optimize` makes.
        against_eager: How many times faster than eager that is.
        noise: How many times faster than eager a copy of it is.
        fx: Least time of torch.fx, if it takes the model.
        against_fx: How many times faster than torch.fx ours is.
        fx_against_eager: How many times faster than eager torch.fx is.
        is_slower: Whether ours is slower than eager by more than a copy of eager is.
    """

    eager: float
    ours: float
    against_eager: float
    noise: float
    fx: float | None = None
    against_fx: float | None = None
    fx_against_eager: float | None = None
    is_slower: bool = False


class NotMeasuredError(Exception):
    """A model that eager does not run, or that is not captured."""


def case_of(name: str, size: int) -> tuple[nn.Module, tuple[Any, ...], dict[str, Any]]:
    """Return a model with arguments: a name of torchvision, or `suite:name` of the zoo."""
    suite, _, rest = name.partition(":")
    if rest:
        torch.manual_seed(0)
        case = SUITES[suite][1](rest)
        args, kwargs = case.inputs(2, None, 0)
        return with_statistics(case.model.eval()), args, kwargs
    wanted = SIZES.get(name, size)
    return build(name), (torch.rand(2, 3, wanted, wanted),), {}


def captured(model: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return a model as captured, without examples if that will do."""
    try:
        with torch.no_grad():
            model(*args, **kwargs)
    except Exception as error:
        raise NotMeasuredError("eager does not run it") from error
    try:
        gm = symtrace.symbolic_trace(model)
        with torch.no_grad():
            gm(*args, **kwargs)
        return gm
    except Exception:
        pass
    try:
        return symtrace.capture(model, args, kwargs)
    except symtrace.TraceError as error:
        raise NotMeasuredError(f"not captured: {error.code}") from error


def check_equal(model: nn.Module, ours: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Fail where the results differ by more than rounding.

    Models that sort and cut off, such as those for detection, turn what rounding does to nearly equal scores into
    other results. They are compared in double precision, captured and optimised anew.
    """
    try:
        compare_results(model, ours, args, kwargs, 1e-3)
    except AssertionError:
        double = copy.deepcopy(model).double()
        args, kwargs = torch.utils._pytree.tree_map(as_double, (args, kwargs))
        try:
            again = symtrace.optimize(captured(double, args, kwargs))
        except NotMeasuredError:
            again = None
        if again is None:
            raise
        compare_results(double, again, args, kwargs, 1e-6)


def as_double(value: Any) -> Any:
    return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value


def compare_results(
    model: nn.Module, ours: Any, args: tuple[Any, ...], kwargs: dict[str, Any], rtol: float
) -> None:
    with torch.no_grad():
        expected, actual = (tensors_of(run(*args, **kwargs)) for run in (model, ours))
    for one, other in zip(actual, expected, strict=True):
        size = max(1.0, float(other.abs().max())) if other.is_floating_point() and other.numel() else 1.0
        torch.testing.assert_close(one, other, rtol=rtol, atol=0.1 * rtol * size, equal_nan=True)


def measure(name: str, size: int, repeat: int, limit: float, largest: float) -> Result:
    """Check one model and measure eager, `optimize` and torch.fx."""
    model, args, kwargs = case_of(name, size)
    if sum(value.numel() for value in model.parameters()) > largest * 1e6:
        raise NotMeasuredError("too large")
    ours = symtrace.optimize(captured(model, args, kwargs))
    theirs: Any = None
    try:
        theirs = fuse(model)
        theirs(*args, **kwargs)
    except Exception:
        theirs = None
    check_equal(model, ours, args, kwargs)

    def timed() -> list[list[float]]:
        modules = [model, ours, copy.deepcopy(model), *([theirs] if theirs is not None else [])]
        runs = [lambda module=module: module(*args, **kwargs) for module in modules]
        gc.collect()
        return rounds(runs, repeat, limit)

    times = timed()
    found = [against(times, 0, 1)], [against(times, 0, 2)]
    while found[0][-1] < 1 and len(found[0]) < 3:
        model, ours = copy.deepcopy(model), copy.deepcopy(ours)
        again = timed()
        times += again
        for column, ratios in zip((1, 2), found, strict=True):
            ratios.append(against(again, 0, column))
    ratio, noise = (statistics.median(ratios) for ratios in found)
    is_slower = max(found[0]) < 1 and ratio < min(found[1])
    least = [min(column) for column in zip(*times, strict=True)]
    if theirs is None:
        return Result(*least[:2], ratio, noise, is_slower=is_slower)
    return Result(
        *least[:2], ratio, noise, least[3], against(times, 3, 1), against(times, 0, 3), is_slower=is_slower
    )


def against(times: list[list[float]], one: int, other: int) -> float:
    """Return how many times faster the other is than the one, over rounds."""
    return statistics.median(row[one] / row[other] for row in times)


def mean(ratios: list[float]) -> float:
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def names_of(text: str) -> list[str]:
    """Return the models that a text names; a suite stands for all of it."""
    names = []
    for name in text.split(","):
        names += [f"{name}:{model}" for model in SUITES[name][0]()] if name in SUITES else [name]
    return names


def line_of(name: str, found: Result) -> str:
    """Return one line of the table."""
    ending = "  slower" if found.is_slower else ""
    text = f"{name:<46}{found.eager * 1e3:>10.2f}{found.ours * 1e3:>13.2f}"
    if found.fx is None or found.against_fx is None:
        return text + f"{'-':>12}{found.against_eager:>10.3f}{found.noise:>8.3f}{'-':>8}" + ending
    text += f"{found.fx * 1e3:>12.2f}{found.against_eager:>10.3f}{found.noise:>8.3f}{found.against_fx:>8.3f}"
    return text + ending


def summarise(results: list[Result], failed: list[str], skipped: int) -> float:
    """Print what all models have in common; return the worst ratio to eager."""
    ratios, noise = [found.against_eager for found in results], [found.noise for found in results]
    by_fx = [found for found in results if found.against_fx is not None]
    print(f"geometric mean against eager: {mean(ratios):.3f} ({len(results)} models)")
    against_fx = mean([found.against_fx or 1 for found in by_fx])
    print(f"geometric mean against torch.fx fuse: {against_fx:.3f} ({len(by_fx)} models)")
    print(f"torch.fx fuse against eager: {mean([found.fx_against_eager or 1 for found in by_fx]):.3f}")
    slowest = min(ratios, default=1.0)
    print(f"slowest against eager: {slowest:.3f}")
    least, most = min(noise, default=1), max(noise, default=1)
    print(f"a copy of eager against eager: {mean(noise):.3f}, from {least:.3f} to {most:.3f}")
    below = sum(ratio < 1 for ratio in ratios)
    slower = sum(found.is_slower for found in results)
    print(f"below 1: {below} models, of which slower than a copy of eager ever was: {slower}")
    print(f"not measured: {skipped}; failed: {failed or 'none'}")
    return slowest


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", default=MODELS)
    parser.add_argument("--size", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one model")
    parser.add_argument(
        "--largest", type=float, default=1e6, help="leave out models with more million parameters"
    )
    parser.add_argument(
        "--check", action="store_true", help="exit with 1 where a model is slower than 0.97 of eager"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    results: list[Result] = []
    failed: list[str] = []
    skipped = 0
    print(
        f"{'model':<46}{'eager ms':>10}{'optimize ms':>13}{'fx fuse ms':>12}{'vs eager':>10}{'noise':>8}{'vs fx':>8}"
    )
    for name in names_of(options.models):
        try:
            results.append(measure(name, options.size, options.repeat, options.limit, options.largest))
        except NotMeasuredError as error:
            print(f"{name:<46} {error}", flush=True)
            skipped += 1
        except Exception as error:
            print(f"{name:<46} {type(error).__name__}: {' '.join(str(error).split())[:60]}", flush=True)
            failed.append(name)
        else:
            print(line_of(name, results[-1]), flush=True)
        gc.collect()
    slowest = summarise(results, failed, skipped)
    return 1 if options.check and (failed or slowest < 0.97) else 0


if __name__ == "__main__":
    sys.exit(main())
