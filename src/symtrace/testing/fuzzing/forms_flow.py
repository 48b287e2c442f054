"""Blocks under a decision that data makes; see `forms`."""

from __future__ import annotations

from .forms import BLOCKS, BlockForm

__all__ = ["FLOW_BLOCKS"]

_FOLD = "{r} = {r} * 0.5 + {a}"
_COPY = "{r} = {a} * 1"

_FLOW: dict[str, BlockForm] = {
    "if data": BlockForm("if {a}.sum() > 0:", before=_COPY, last=_FOLD, scoped=True),
    "else data": BlockForm(
        "if {a}.sum() > 0:;     {r} = {r} - 1; else:", before=_COPY, last=_FOLD, scoped=True
    ),
    "if data else": BlockForm(
        "if {a}.mean() > 0.1:", before=_COPY, last=_FOLD, behind="else:;     {r} = {r} * torch.rand(4)", scoped=True
    ),
    "elif data": BlockForm(
        "if {a}.sum() > 3:;     {r} = {r} - 1; elif {a}.sum() > -2:",
        before=_COPY,
        last=_FOLD,
        behind="else:;     {r} = {r} + 3",
        scoped=True,
    ),
    "early return": BlockForm("if {a}.sum() > 4:", last="return {result}", scoped=True),
    "return in else": BlockForm(
        "if {a}.sum() < 4:", before=_COPY, last=_FOLD, behind="else:;     return {result}", scoped=True
    ),
    "return under no_grad": BlockForm(
        "with torch.no_grad():", first="if {a}.sum() > 4:;     return {result}", scoped=True
    ),
    "while data": BlockForm(
        "while {r}.abs().sum() > 6 and n_{r} < 4:",
        before="{r} = {a} * 1; n_{r} = 0",
        last=_FOLD + "; n_{r} += 1",
        scoped=True,
    ),
    "while true": BlockForm(
        "while True:",
        before="{r} = {a} * 1; n_{r} = 0",
        first="n_{r} += 1; if n_{r} > 3 or {r}.sum() > 8:;     break",
        last=_FOLD,
        scoped=True,
    ),
    "for rows": BlockForm("for row in {a}:", before=_COPY, last=_FOLD + " + row", scoped=True),
    "for chosen rows": BlockForm(
        "for row in {a}[{a}[:, 0] > 0]:", before=_COPY, last=_FOLD + " + row", scoped=True
    ),
    "for counted": BlockForm(
        "for i in range(int({a}.abs().sum()) % 3):", before=_COPY, last=_FOLD + " + i", scoped=True
    ),
    "for until": BlockForm(
        "for i in range(3):", before=_COPY, first="if {r}.sum() > 4:;     break", last=_FOLD, scoped=True
    ),
    "for some": BlockForm(
        "for i in range(3):", before=_COPY, first="if {r}.sum() > i:;     continue", last=_FOLD, scoped=True
    ),
    "for else": BlockForm(
        "for i in range(2):",
        before=_COPY,
        last=_FOLD + "; if {r}.sum() > 4:;     break",
        behind="else:;     {r} = {r} - 1",
        scoped=True,
    ),
    "for returns": BlockForm(
        "for i in range(2):", before=_COPY, last=_FOLD + "; if {r}.sum() > 6:;     return {result}", scoped=True
    ),
    "finally": BlockForm(
        "try:", before=_COPY, last="if {a}.sum() > 0:;     {r} = {r} + {a}", behind="finally:;     {r} = {r} * 2",
        scoped=True,
    ),
}  # fmt: skip
"""Blocks by name."""

FLOW_BLOCKS = tuple(_FLOW)
"""Their names."""

BLOCKS.update(_FLOW)
