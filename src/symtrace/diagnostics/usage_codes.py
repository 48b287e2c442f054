"""ST4xx: the command line."""

from __future__ import annotations

from .registry import define

define("ST401", "bad target", "can't load `{target}`: {reason}")
