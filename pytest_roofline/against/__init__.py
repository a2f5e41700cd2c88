"""Kernels of another version of a project beside those of the working tree, in one process.

``source`` turns a git ref or a directory into a tree on disk, ``importing`` loads modules from it under names of their
own.
"""

from pytest_roofline.against.importing import OldTree
from pytest_roofline.against.source import AgainstError, Revision, revision

__all__ = ["AgainstError", "OldTree", "Revision", "revision"]
