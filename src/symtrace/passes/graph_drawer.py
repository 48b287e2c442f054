"""Drawings of a module and of the graph modules in it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..rewrite.sources import check_graph_module
from ..runtime import GraphModule
from ..visualize import draw, to_dot

__all__ = ["Drawing", "FxGraphDrawer"]


class Drawing:
    """A drawing of one graph.

    Args:
        gm: Module whose graph is drawn.
        name: Name of the drawing.
    """

    def __init__(self, gm: GraphModule, name: str) -> None:
        self._gm = gm
        self._name = name

    def to_string(self) -> str:
        """Return the drawing in the DOT language."""
        return to_dot(self._gm, self._name)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the drawing to a file whose ending tells the format: `.dot`, `.svg`, `.png`, `.pdf`."""
        return draw(self._gm, path)

    def write_raw(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing in the DOT language."""
        Path(path).write_text(self.to_string(), encoding="utf-8")

    def write_svg(self, path: str | os.PathLike[str]) -> Path:
        """Write the drawing as SVG, whatever the ending of the file."""
        return self._write_as(path, "svg")

    def write_png(self, path: str | os.PathLike[str]) -> Path:
        """Write the drawing as PNG, whatever the ending of the file."""
        return self._write_as(path, "png")

    def _write_as(self, path: str | os.PathLike[str], kind: str) -> Path:
        wanted = Path(path)
        drawn = draw(self._gm, wanted.with_name(f".{wanted.name}.{kind}"))
        return drawn.replace(wanted)


class FxGraphDrawer:
    """Draws a module and the graph modules in it.

    Args:
        graph_module: Module to draw.
        name: Name of the drawing.
        **_: Settings of FX that change how much is shown; the drawings here show them all.

    Raises:
        ArgumentError: `graph_module` is no GraphModule (ST112).
    """

    def __init__(self, graph_module: GraphModule, name: str, **_: Any) -> None:
        check_graph_module(graph_module, "graph_module")
        self._name = name
        self._drawings = {name: Drawing(graph_module, name)}
        for path, module in graph_module.named_modules():
            if path and isinstance(module, GraphModule):
                key = f"{name}_{path.replace('.', '_')}"
                self._drawings[key] = Drawing(module, key)

    def get_dot_graph(self, submod_name: str | None = None) -> Drawing:
        """Return the drawing of the module, or of one in it.

        Args:
            submod_name: Path of the inner module with underscores for dots; None for the module itself.
        """
        return self.get_main_dot_graph() if submod_name is None else self.get_submod_dot_graph(submod_name)

    def get_main_dot_graph(self) -> Drawing:
        """Return the drawing of the module."""
        return self._drawings[self._name]

    def get_submod_dot_graph(self, submod_name: str) -> Drawing:
        """Return the drawing of an inner module."""
        return self._drawings[f"{self._name}_{submod_name}"]

    def get_all_dot_graphs(self) -> dict[str, Drawing]:
        """Return all drawings by name."""
        return dict(self._drawings)
