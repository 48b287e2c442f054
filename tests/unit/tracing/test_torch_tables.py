"""What torch makes at its first use works afterwards, where that use is in a program that is captured."""

import subprocess
import sys

import pytest

COMPILER = """
import torch
import symtrace as fx

def loads_the_compiler(x):
    torch.compile(lambda y: y, backend="eager")
    import torch._dynamo.trace_rules as rules
    rules._builtin_function_ids()
    return x + 1

fx.symbolic_trace(loads_the_compiler)
import sys
assert not any("symtrace" in type(finder).__module__ for finder in sys.meta_path)

@torch.compile(backend="eager", fullgraph=True)
def program(x):
    assert callable(len) and isinstance(x, torch.Tensor)
    return x * max(len([1, 2]), min(3, 4))

assert torch.equal(program(torch.ones(2)), torch.full((2,), 3.0))
print("well")
"""


DEVICE = """
import torch
import symtrace as fx

def first_uses_a_device(x):
    with torch.device("meta"):
        made = torch.empty(3)
    return x.to(made.dtype), made

state = torch.get_rng_state()
module = fx.symbolic_trace(first_uses_a_device)
assert module(torch.ones(2))[1].is_meta
for make in (torch.empty, torch.ones, torch.zeros, torch.rand, torch.randn, torch.full):
    with torch.device("meta"):
        assert (make((3,), 1.0) if make is torch.full else make(3)).is_meta, make
with torch.device("meta"):
    torch.nn.Linear(3, 3)
assert torch.equal(torch.get_rng_state(), state)
print("well")
"""

OVERRIDES = """
import torch
import symtrace as fx

def asks_what_can_be_overridden(x):
    torch.overrides.is_tensor_method_or_property(torch.Tensor.add)
    torch.overrides.get_testing_overrides()
    return x + 1

fx.symbolic_trace(asks_what_can_be_overridden)
functions = [*torch.overrides.get_testing_overrides(), *torch.overrides.get_ignored_functions()]
functions += [one for group in torch.overrides.get_overridable_functions().values() for one in group]
assert not [one for one in functions if "symtrace" in str(getattr(one, "__module__", ""))]
print("well")
"""


@pytest.mark.parametrize("program", [COMPILER, DEVICE, OVERRIDES], ids=["compiler", "device", "overrides"])
def test_first_use_inside_a_capture(program):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "well", done.stderr[-2000:]
