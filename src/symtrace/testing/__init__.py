"""Helpers for tests of captured programs: equivalence, rewrites, random programs and graphs."""

from .equivalence import assert_equivalent, assert_same_value
from .graphs import random_graph
from .programs import RandomProgram, random_program
from .rewrites import assert_rewrites

__all__ = [
    "RandomProgram",
    "assert_equivalent",
    "assert_rewrites",
    "assert_same_value",
    "random_graph",
    "random_program",
]
