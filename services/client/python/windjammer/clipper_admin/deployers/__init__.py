"""Deployers by the names of Clipper's."""

from . import python

__all__ = ["python"]
