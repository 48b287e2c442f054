"""Tracing with example inputs: traced values are fake tensors, and numbers that know their value."""

from .tracer import ExampleTracer

__all__ = ["ExampleTracer"]
