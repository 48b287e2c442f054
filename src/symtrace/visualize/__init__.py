"""Graphs to look at: as a table, as a tree in the terminal, as a drawing."""

from .dot import draw, to_dot
from .table import format_rows, format_table
from .tree import graph_tree

__all__ = ["draw", "format_rows", "format_table", "graph_tree", "to_dot"]
