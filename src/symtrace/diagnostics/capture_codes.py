"""ST0xx: capturing a program."""

from __future__ import annotations

from .registry import define

define("ST001", "not a callable root", "root must be an nn.Module or a callable, not {actual}")
define("ST012", "`if` on a traced value", "{construct} on a traced value: symbolically traced variables cannot be used as inputs to control flow",
       help=("symtrace.capture(model) keeps both branches",
             "give example inputs, so that decisions on sizes and types are answered",
             "use torch.where or torch.cond instead of the branch",
             "make the function a leaf: symtrace.wrap, or Tracer.is_leaf_module for a module"))
