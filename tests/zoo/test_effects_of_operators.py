"""Effects as stated against effects as seen, on torch's own list of operators with sample inputs."""

import itertools
import warnings

import pytest
import torch
import torch.utils._pytree as pytree

from symtrace.ops import effects

# torch keeps its list of operators with samples in a private package; it needs `expecttest`.
pytest.importorskip("expecttest")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db

pytestmark = [pytest.mark.zoo, pytest.mark.filterwarnings("ignore")]


def tensors(value):
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def storages(value):
    strided = [t for t in tensors(value) if t.layout == torch.strided and t.numel()]
    return {t.untyped_storage()._cdata for t in strided}


def calls(info):
    dtype = torch.float32 if torch.float32 in info.dtypes else sorted(info.dtypes, key=str)[0]
    for sample in itertools.islice(info.sample_inputs("cpu", dtype), 4):
        for op, target in (
            ("call_function", info.op),
            ("call_method", info.method_variant),
            ("call_method", info.inplace_variant),
        ):
            if getattr(target, "__name__", "<lambda>") != "<lambda>":
                yield op, target, sample


def faults(op, target, sample):
    """Return what a call does that its effect does not say."""
    args, kwargs = pytree.tree_map(
        lambda v: v.detach().clone() if isinstance(v, torch.Tensor) else v,
        ((sample.input, *sample.args), dict(sample.kwargs)),
    )
    effect = effects(op, target if op == "call_function" else target.__name__, args, kwargs)
    if effect.impure:
        return []
    versions = [(t, t._version) for t in tensors((args, kwargs))]
    state = torch.get_rng_state()
    try:
        result = target(*args, **kwargs)
    except Exception:
        return []  # a sample that this build of torch does not run
    written = {id(t) for t in tensors(effect.written(args, kwargs))}
    found = ["write" for t, version in versions if t._version != version and id(t) not in written]
    if not effect.random and not torch.equal(state, torch.get_rng_state()):
        found.append("random draw")
    if not effect.returns_alias and storages(result) & storages((args, kwargs)):
        found.append("alias")
    return found


def test_every_operator_does_what_its_effect_says():
    wrong = set()
    count = 0
    for info in op_db:
        try:
            samples = list(calls(info))
        except Exception:
            continue  # samples that need another device or package
        for op, target, sample in samples:
            count += 1
            wrong.update((info.name, op, fault) for fault in faults(op, target, sample))
    assert not wrong
    assert count > 2000
