"""Where a server is. Nothing here starts containers: a server runs its models itself."""

from __future__ import annotations

import logging
from typing import Any, Optional

logger = logging.getLogger(__name__)


class ContainerManager:
    """Addresses of a server. What is not given comes from the environment: WINDJAMMER_URL, WINDJAMMER_MANAGEMENT_URL."""

    def __init__(self, url: Optional[str] = None, management_url: Optional[str] = None, cluster_name: str = "default-cluster"):
        self.url = url
        self.management_url = management_url
        self.cluster_name = cluster_name

    @property
    def cluster_identifier(self) -> str:
        return self.cluster_name


class DockerContainerManager(ContainerManager):
    """As Clipper's, of whose arguments those count that say where a server is."""

    def __init__(
        self,
        cluster_name: str = "default-cluster",
        docker_ip_address: str = "localhost",
        clipper_query_port: Optional[int] = None,
        clipper_management_port: Optional[int] = None,
        **ignored: Any,
    ):
        if ignored:
            logger.info("of no use without Docker: %s", ", ".join(sorted(ignored)))

        def at(port: Optional[int], usual: int) -> Optional[str]:
            if port is None and docker_ip_address == "localhost":
                return None
            return f"http://{docker_ip_address}:{usual if port is None else port}"

        super().__init__(at(clipper_query_port, 1337), at(clipper_management_port, 1338), cluster_name)


class KubernetesContainerManager(ContainerManager):
    """As Clipper's: a server that runs in Kubernetes is found by its addresses."""

    def __init__(self, cluster_name: str = "default-cluster", **ignored: Any):
        if ignored:
            logger.info("of no use here, set WINDJAMMER_URL and WINDJAMMER_MANAGEMENT_URL: %s", ", ".join(sorted(ignored)))
        super().__init__(None, None, cluster_name)
