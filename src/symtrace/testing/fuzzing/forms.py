"""The statements, blocks, inputs and results that random programs are made of.

In a line, `{a}` and `{b}` are earlier values, `{r}` is the new one, `{k}` a small number, `{child}` a module inside.
Every value is a float32 matrix of four columns, so that any two combine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .flow_tables import FLOW
from .prelude import Box, Pair
from .tables import CALLS, CONTAINERS, DRAWS, FUNCTIONS, MODES, QUESTIONS, REFUSED, STATE, WRITES

__all__ = ["BLOCKS", "FORMS", "GROUPS", "OUTPUTS", "SETUPS", "SIGNATURES", "BlockForm", "Form", "Signature"]


@dataclass(frozen=True)
class Form:
    """One kind of statement.

    Attributes:
        lines: Its source lines.
        setup: Lines of `__init__` that it needs.
        result: Whether it makes a new value.
        inner: Whether it needs a module inside.
    """

    lines: tuple[str, ...]
    setup: tuple[str, ...] = ()
    result: bool = True
    inner: bool = False


@dataclass(frozen=True)
class BlockForm:
    """One kind of block.

    Attributes:
        header: The line that opens it.
        setup: Lines of `__init__` that it needs.
        before: Lines in front of it, which make the value `{r}`.
        first: First lines of the body.
        last: Last lines of the body.
        after: A line behind it for each value made inside.
        behind: Lines behind it.
        scoped: Whether values made inside may not be used behind it.
    """

    header: str
    setup: tuple[str, ...] = ()
    before: str = ""
    first: str = ""
    last: str = ""
    after: str = ""
    behind: str = ""
    scoped: bool = False


@dataclass(frozen=True)
class Signature:
    """How inputs come in.

    Attributes:
        parameters: Parameters of forward after `self`.
        lines: Lines that make `x` and `y` of them.
        make: Gives the arguments of a call.
    """

    parameters: tuple[str, ...]
    lines: tuple[str, ...] = ()
    make: Callable[[Any, Any], tuple[tuple[Any, ...], dict[str, Any]]] = field(
        default=lambda x, y: ((x, y), {})
    )


def _form(text: str) -> Form:
    body, _, setup = text.partition(" | ")
    lines = tuple(line for line in body.split("; ") if line)
    return Form(
        lines,
        tuple(line for line in setup.split("; ") if line),
        any("{r}" in line for line in lines),
        "{child}" in body,
    )


GROUPS: dict[str, tuple[str, ...]] = {}
"""Names of forms by kind."""

FORMS: dict[str, Form] = {}
"""Every form of a statement, by its text."""

for _name, _table in (
    ("function", FUNCTIONS),
    ("write", WRITES),
    ("draw", DRAWS),
    ("state", STATE),
    ("call", CALLS),
    ("container", CONTAINERS),
    ("question", QUESTIONS),
    ("mode", MODES),
    ("refused", REFUSED),
    ("flow", FLOW),
):
    GROUPS[_name] = _table
    FORMS.update({text: _form(text) for text in _table})

_FOLD = "{r} = {r} * 0.5 + {a}"
BLOCKS = {
    "no_grad": BlockForm("with torch.no_grad():"),
    "enable_grad": BlockForm("with torch.enable_grad():"),
    "grad off": BlockForm("with torch.set_grad_enabled(False):"),
    "grad if training": BlockForm("with torch.set_grad_enabled(self.training):"),
    "inference": BlockForm("with torch.inference_mode():", after="{a} = {a}.clone()"),
    "no inference": BlockForm("with torch.inference_mode(False):"),
    "autocast": BlockForm('with torch.autocast("cpu", dtype=torch.bfloat16):', after="{a} = {a}.float() * 1"),
    "autocast off": BlockForm('with torch.autocast("cpu", enabled=False):', after="{a} = {a}.float() * 1"),
    "autocast cuda": BlockForm('with torch.autocast("cuda", enabled=False):'),
    "amp": BlockForm("with torch.amp.autocast(device_type='cpu'):", after="{a} = {a}.float() * 1"),
    "if training": BlockForm(
        "if self.training:", before="{r} = {a} * 1", last="{r} = {r} + {a}", scoped=True
    ),
    "if count": BlockForm(
        "if self.limit > 1:", ("self.limit = 2",), before="{r} = {a} * 1", last=_FOLD, scoped=True
    ),
    "loop": BlockForm("for _ in range(2):", before="{r} = {a} * 1", last=_FOLD, scoped=True),
    "loop over layers": BlockForm(
        "for layer in self.layers:",
        ("self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Tanh()])",),
        before="{r} = {a} * 1",
        last="{r} = layer({r}) + {a}",
        scoped=True,
    ),
    "two modes": BlockForm(
        'with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):', after="{a} = {a}.float() * 1"
    ),
}

SIGNATURES = {
    "two": Signature(("x", "y")),
    "inner": Signature(("x", "y=None"), ("if y is None:", "    y = x * 0.5")),
    "default": Signature(("x", "y", "scale=2.0"), ("x = x * scale",)),
    "keyword": Signature(("x", "*", "y"), (), lambda x, y: ((x,), {"y": y})),
    "keyword default": Signature(("x", "*", "y", "scale=0.5"), ("y = y * scale",), lambda x, y: ((x,), {"y": y})),
    "annotated": Signature(("x: torch.Tensor", "y: torch.Tensor")),
    "dict": Signature(("batch",), ("x = batch['x']", "y = batch['y']"), lambda x, y: (({"x": x, "y": y},), {})),
    "pair": Signature(("pair",), ("x = pair.first", "y = pair.second"), lambda x, y: ((Pair(x, y),), {})),
    "unpacked": Signature(("pair",), ("x, y = pair",), lambda x, y: (((x, y),), {})),
    "list": Signature(("items",), ("x, y = items[0], items[1]",), lambda x, y: (([x, y],), {})),
    "box": Signature(("box",), ("x = box.value * box.factor", "y = box.other"), lambda x, y: ((Box(x, 3.0, y),), {})),
    "nested": Signature(
        ("batch",),
        ("x = batch['items'][0]", "y = batch['items'][1].first"),
        lambda x, y: (({"items": [x, Pair(y, None)]},), {}),
    ),
    "star": Signature(("x", "*rest"), ("y = rest[0]",)),
    "double star": Signature(("x", "**named"), ("y = named['y']",), lambda x, y: ((x,), {"y": y})),
    "positional only": Signature(("x", "/", "y")),
}  # fmt: skip

OUTPUTS = {
    "one": "{a}",
    "tuple": "{a}, {b}",
    "list": "[{a}, {b}]",
    "dict": "{{'a': {a}, 'b': {b}}}",
    "pair": "Pair({a}, {b})",
    "box": "Box({a}, 2.5, {b})",
    "nested": "{{'items': [{a}, ({b}, None)], 'n': 3}}",
    "same twice": "({a}, {a})",
    "size": "{a}, {b}.shape, {b}.size(0)",
    "with constants": "({a}, 1, 'text', None, True, [2.5, {b}])",
    "nothing": "None",
}
"""Text of the result by name."""

SETUPS = (
    "self.register_forward_hook(doubled)",
    "self.register_forward_pre_hook(shifted)",
    "self.ready = True",
    "self.names = ['a', 'b']",
    "self.sizes = dict(width=4)",
    "self.extra = nn.Parameter(torch.rand(2), requires_grad=False)",
    "self.register_buffer('hidden', torch.ones(2), persistent=False)",
    "self.register_buffer('absent', None)",
    "self.tied_a = nn.Linear(4, 4); self.tied_b = nn.Linear(4, 4); self.tied_b.weight = self.tied_a.weight",
)
"""Lines of the root's `__init__` that no statement asks for."""
