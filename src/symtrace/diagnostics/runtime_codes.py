"""ST3xx: running a captured module."""

from __future__ import annotations

from .registry import define

define("ST301", "guard failed", "this call breaks an assumption made at capture: {condition}",
       help=("capture again with arguments like these",))
