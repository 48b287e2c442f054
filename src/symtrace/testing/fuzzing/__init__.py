"""Random programs as source text: made, captured, compared with the original, shrunk."""

from .compare import Verdict, compare
from .generate import random_source
from .program import Block, Program, Statement
from .shrink import shrink

__all__ = ["Block", "Program", "Statement", "Verdict", "compare", "random_source", "shrink"]
