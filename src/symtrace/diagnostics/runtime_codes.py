"""ST3xx: running a captured module."""

from __future__ import annotations

from .registry import define

define(
    "ST301",
    "guard failed",
    "this call breaks an assumption made at capture: {condition}",
    help=("capture again with arguments like these",),
    explain="""\
A decision that the program made on a size, a dtype, an option or an example value was followed at
capture and written down as a guard. This call would have decided otherwise, so the captured program may
not be right for it; nothing has been run or changed. Capture again for such arguments, or decide inside
the graph (`torch.where`, `torch.cond`).
""",
)
