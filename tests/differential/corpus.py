"""All programs."""

from __future__ import annotations

from .program import Program
from .programs import (
    arguments,
    contexts,
    functions,
    indexing,
    leaves,
    methods,
    modules,
    networks,
    operators,
    sizes,
)

KINDS = (operators, methods, functions, sizes, indexing, arguments, modules, networks, leaves, contexts)
PROGRAMS: tuple[Program, ...] = tuple(p for kind in KINDS for p in kind.corpus.programs)
AGREEING = tuple(p for p in PROGRAMS if p.differs is None)
DIFFERING = tuple(p for p in PROGRAMS if p.differs is not None)
