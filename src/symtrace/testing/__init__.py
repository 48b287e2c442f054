"""Helpers for tests of captured programs: equivalence with the original, random programs, random edits."""

from .equivalence import assert_equivalent, assert_same_value
from .programs import RandomProgram, random_program

__all__ = ["RandomProgram", "assert_equivalent", "assert_same_value", "random_program"]
