"""torch's compiler, first used while something is captured, works afterwards."""

import subprocess
import sys
import textwrap

PROGRAM = """
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


def test_first_use_inside_a_capture():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(PROGRAM)], capture_output=True, text=True
    )
    assert done.stdout.strip() == "well", done.stderr[-2000:]
