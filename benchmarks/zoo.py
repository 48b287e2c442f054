"""Captures real models with example inputs and compares each with the original.

    python benchmarks/zoo.py SUITE [NAME ...] [--export] [--jobs N] [--output FILE]

A model is built in a process of its own. A model that eager does not run on the inputs made up for it is left out, and
counted. Verdicts: captured; equal on the same input, on other values, on another batch size, on another length; equal
in training mode and back in eval mode; gradients equal; the original untouched.
"""

from __future__ import annotations

import argparse
import collections
import concurrent.futures
import copy
import gc
import inspect
import json
import multiprocessing
import os
import random
import resource
import signal
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any

import torch
from zoo_models import SUITES, Case

import symtrace
from symtrace.errors import GuardError

CHECKS = ("same", "values", "batch", "length", "train", "eval", "gradients", "untouched")
_OTHER_LENGTH = {"input_ids": 11}


def tensors_of(value: Any, found: list[torch.Tensor] | None = None, depth: int = 0) -> list[torch.Tensor]:
    """Return all tensors in a result, whatever they are packed in."""
    found = [] if found is None else found
    if isinstance(value, torch.Tensor):
        found.append(value)
    elif isinstance(value, dict):
        for key in value:
            tensors_of(value[key], found, depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            tensors_of(item, found, depth + 1)
    elif hasattr(value, "__dict__") and depth < 8 and not isinstance(value, type):
        for item in vars(value).values():
            tensors_of(item, found, depth + 1)
    return found


def same(first: Any, second: Any) -> bool:
    """Tell whether two results have the same type and equal tensors."""
    one, two = tensors_of(first), tensors_of(second)
    return (
        type(first) is type(second)
        and len(one) == len(two)
        and all(
            a.shape == b.shape
            and a.dtype == b.dtype
            and torch.allclose(a.double(), b.double(), rtol=1e-4, atol=1e-5, equal_nan=True)
            if not a.is_complex()
            else torch.allclose(a, b)
            for a, b in zip(one, two, strict=True)
        )
    )


def _run(module: Any, inputs: Any, *, training: bool = False) -> Any:
    args, kwargs = copy.deepcopy(inputs)
    torch.manual_seed(0)
    random.seed(0)
    module.train(training)
    with torch.no_grad():
        return module(*args, **kwargs)


def _verdict(original: Any, captured: Any, inputs: Any, *, training: bool = False) -> str:
    """Return `equal`, `different`, `guard`, `error: ...`, or `-` where the original does not accept the inputs."""
    try:
        expected = _run(original, inputs, training=training)
    except Exception:
        return "-"
    try:
        actual = _run(captured, inputs, training=training)
    except GuardError as error:
        return f"guard: {str(error).splitlines()[0]}"
    except Exception as error:
        return f"error: {type(error).__name__}: {str(error)[:200]}"
    return "equal" if same(expected, actual) else "different"


def _gradients(module: Any, inputs: Any) -> list[torch.Tensor | None]:
    module.eval()
    module.zero_grad()
    torch.manual_seed(0)
    args, kwargs = copy.deepcopy(inputs)
    floats = [item for item in tensors_of(module(*args, **kwargs)) if item.requires_grad]
    torch.stack([item.double().sum() for item in floats]).sum().backward()
    return [parameter.grad for parameter in module.parameters()]


def _gradient_verdict(original: Any, captured: Any, inputs: Any) -> str:
    try:
        expected = [None if grad is None else grad.clone() for grad in _gradients(original, inputs)]
    except Exception:
        return "-"
    try:
        actual = _gradients(captured, inputs)
    except Exception as error:
        return f"error: {type(error).__name__}: {str(error)[:200]}"
    equal = all(
        (one is None) == (two is None)
        and (one is None or torch.allclose(one, two, rtol=1e-3, atol=1e-4, equal_nan=True))
        for one, two in zip(expected, actual, strict=True)
    )
    return "equal" if equal else "different"


def _other_length(inputs: Any) -> int:
    tensors = tensors_of(inputs)
    last = tensors[0].shape[-1] if tensors else 8
    return 11 if last < 16 else (6000 if last > 1000 else last + 32)


def examine(suite: str, name: str, with_export: bool) -> dict[str, Any]:
    """Capture one model and compare it with the original."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    result: dict[str, Any] = {"suite": suite, "name": name}
    try:
        case: Case = SUITES[suite][1](name)
        inputs = case.inputs(2, None, 1)
        _run(case.model, inputs)
    except Exception as error:
        return {**result, "left_out": f"{type(error).__name__}: {str(error)[:200]}"}
    case.model.eval()
    before = {key: value.clone() for key, value in case.model.state_dict().items()}
    attributes = _attributes(case.model)
    if with_export:
        result.update(_timings(case, inputs))
    start = time.process_time()
    try:
        with torch.no_grad():
            captured = symtrace.capture(case.model, *copy.deepcopy(inputs))
    except BaseException as error:
        trace = "".join(traceback.format_exception(error)[-6:])
        return {
            **result,
            "captured": False,
            "error": f"{type(error).__name__}: {error}"[:1500],
            "trace": trace[-1500:],
        }
    result["captured"] = True
    result["seconds"] = time.process_time() - start
    result["nodes"] = len(captured.graph.nodes)
    result["guards"] = sum(node.target is symtrace.ops.program.guard for node in captured.graph.nodes)
    untouched = attributes == _attributes(case.model) and all(
        torch.equal(value, before[key]) or bool(value.isnan().any())
        for key, value in case.model.state_dict().items()
    )
    result["untouched"] = "equal" if untouched else "different"
    original = copy.deepcopy(case.model)
    result["same"] = _verdict(original, captured, inputs)
    result["values"] = _verdict(original, captured, case.inputs(2, None, 2))
    result["batch"] = _verdict(original, captured, case.inputs(3, None, 3))
    result["length"] = (
        _verdict(original, captured, case.inputs(2, _other_length(inputs), 4)) if case.has_length else "-"
    )
    result["gradients"] = _gradient_verdict(original, captured, inputs)
    states = copy.deepcopy(original.state_dict()), copy.deepcopy(captured.state_dict())
    result["train"] = _verdict(original, captured, inputs, training=True)
    if result["train"] != "equal":  # one of them may have stopped half way
        original.load_state_dict(states[0])
        captured.load_state_dict(states[1])
    result["eval"] = _verdict(original, captured, inputs)
    return result


def _attributes(model: Any) -> list[tuple[str, int]]:
    """Return what every module of a model has, by identity."""
    return [
        (f"{path}.{key}", id(value))
        for path, module in model.named_modules()
        for key, value in vars(module).items()
        if key not in ("training",)
    ]


def seconds_apart(work: Callable[[], Any]) -> list[float] | None:
    """Return the processor times of some work, done twice in a copy of this process: it warms up nothing here."""
    here, there = multiprocessing.Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        times = [time.process_time()]
        try:
            for _ in range(2):
                with torch.no_grad():
                    work()
                times.append(time.process_time())
            there.send([times[1] - times[0], times[2] - times[1]])
        except BaseException:
            there.send(None)
        os._exit(0)
    there.close()
    try:
        return here.recv()  # type: ignore[no-any-return]
    except EOFError:
        return None
    finally:
        os.waitpid(child, 0)


def _timings(case: Case, inputs: Any) -> dict[str, list[float] | None]:
    """Measure a capture and an export, each by itself, after both tools have seen a small model.

    What is on the heap by then is kept out of garbage collection, which would fall on either by chance.
    """
    small, example = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()), (torch.ones(3, 2),)
    symtrace.capture(small, example)
    torch.export.export(small, example, strict=False)

    args, kwargs = copy.deepcopy(inputs)
    if "use_cache" in inspect.signature(case.model.forward).parameters:
        kwargs["use_cache"] = False  # a cache is an output that torch.export refuses
    gc.collect()
    gc.freeze()
    return {
        "capture_alone": seconds_apart(lambda: symtrace.capture(case.model, args, kwargs)),
        "export_alone": seconds_apart(lambda: torch.export.export(case.model, args, kwargs, strict=False)),
    }


def _child(connection: Any, suite: str, name: str, with_export: bool, seconds: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 10))
    signal.signal(signal.SIGXCPU, lambda *_: (_ for _ in ()).throw(TimeoutError("processor time")))
    connection.send(examine(suite, name, with_export))


def run_one(suite: str, name: str, with_export: bool, seconds: int) -> dict[str, Any]:
    """Examine a model in a process of its own."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_child, args=(there, suite, name, with_export, seconds))
    process.start()
    there.close()
    try:
        result = here.recv()
    except EOFError:
        result = {"suite": suite, "name": name, "captured": False, "error": "the process died"}
    process.join()
    return result


def _summary(results: list[dict[str, Any]]) -> str:
    ran = [result for result in results if "left_out" not in result]
    captured = [result for result in ran if result["captured"]]
    lines = [
        f"{len(results)} models, {len(results) - len(ran)} left out; captured {len(captured)} of {len(ran)}"
    ]
    for check in CHECKS:
        counts = collections.Counter(result[check].partition(":")[0] for result in captured)
        lines.append(f"  {check:10} " + ", ".join(f"{count} {what}" for what, count in counts.most_common()))
    seconds = sorted(result["seconds"] for result in captured)
    if seconds:
        lines.append(f"  median processor time of a capture: {seconds[len(seconds) // 2]:.2f} s")
    timed = [result for result in captured if result.get("capture_alone") and result.get("export_alone")]
    for index, which in enumerate(("first", "second") if timed else ()):
        pairs = [(result["capture_alone"][index], result["export_alone"][index]) for result in timed]
        capture, export = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(export / capture for capture, export in pairs)
        lines.append(
            f"  {which} time, median of {len(pairs)}: capture {capture:.2f} s, torch.export {export:.2f} s; "
            f"ratio {ratio:.1f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Run the zoo."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("suite", choices=SUITES)
    parser.add_argument("names", nargs="*")
    parser.add_argument(
        "--export", action="store_true", help="time torch.export.export(strict=False) as well"
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=120, help="processor time that a model may take")
    parser.add_argument("--output", help="write the verdicts as JSON lines")
    options = parser.parse_args()
    names = options.names or SUITES[options.suite][0]()
    results = []
    with (
        concurrent.futures.ThreadPoolExecutor(options.jobs) as pool,
        open(options.output or os.devnull, "w") as output,
    ):
        futures = [
            pool.submit(run_one, options.suite, name, options.export, options.seconds) for name in names
        ]
        for future in concurrent.futures.as_completed(futures):
            result = future.result()
            results.append(result)
            print(json.dumps(result), file=output, flush=True)
            wrong = {key: result[key] for key in CHECKS if result.get(key, "equal") not in ("equal", "-")}
            state = result.get("left_out") or result.get("error") or wrong or "equal"
            print(f"{result['name']}: {str(state).splitlines()[0][:160]}", flush=True)
    print(_summary(results))


if __name__ == "__main__":
    sys.exit(main())
