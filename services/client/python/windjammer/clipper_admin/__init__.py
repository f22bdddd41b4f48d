"""
The names of Clipper's admin package, so that what was written for Clipper goes on with its import changed: docs/guides/clipper.md.

    from windjammer.clipper_admin import ClipperConnection, DockerContainerManager
    from windjammer.clipper_admin.deployers import python as python_deployer

They are thin: `ClipperConnection.client` is the client below, which can more.
"""

from .connection import ClipperConnection
from .exceptions import ClipperException, UnconnectedException
from .managers import ContainerManager, DockerContainerManager, KubernetesContainerManager

__all__ = [
    "ClipperConnection",
    "ClipperException",
    "ContainerManager",
    "DockerContainerManager",
    "KubernetesContainerManager",
    "UnconnectedException",
]
