"""Passes: one a file. Modules are loaded when they are first asked for."""
