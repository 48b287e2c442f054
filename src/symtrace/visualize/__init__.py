"""Graphs to look at: as a table, as a tree in the terminal, as a drawing."""

from .dot import draw, to_dot
from .graph_diff import GraphDiff, diff
from .table import format_rows, format_table
from .tree import graph_tree

__all__ = ["GraphDiff", "diff", "draw", "format_rows", "format_table", "graph_tree", "to_dot"]
