"""Functions as models: by their source, never as a pickle."""

from __future__ import annotations

import logging
from typing import Any, Callable, List, Optional, Union

from ..connection import ClipperConnection, _input_type, _told
from ..exceptions import ClipperException

logger = logging.getLogger(__name__)


def create_endpoint(
    clipper_conn: ClipperConnection,
    name: str,
    input_type: str,
    func: Callable[[List[Any]], Any],
    default_output: str = "None",
    version: Union[str, int] = 1,
    slo_micros: int = 3000000,
    labels: Optional[List[str]] = None,
    registry: Optional[str] = None,
    base_image: Optional[str] = None,
    num_replicas: int = 1,
    batch_size: int = -1,
) -> None:
    """An application, a model of the same name, and the link between them."""
    clipper_conn.register_application(name, input_type, default_output, slo_micros)
    deploy_python_closure(
        clipper_conn, name, version, input_type, func, base_image, labels, registry, num_replicas, batch_size
    )
    clipper_conn.link_model_to_app(name, name)


def deploy_python_closure(
    clipper_conn: ClipperConnection,
    name: str,
    version: Union[str, int],
    input_type: str,
    func: Callable[[List[Any]], Any],
    base_image: Optional[str] = None,
    labels: Optional[List[str]] = None,
    registry: Optional[str] = None,
    num_replicas: int = 1,
    batch_size: int = -1,
    pkgs_to_install: Optional[List[str]] = None,
) -> None:
    """
    A function that takes a list of inputs and gives a list of answers. Its source is sent, with what it uses (windjammer/source.py says
    what can be); base_image and registry are about Docker, and of no use.
    """
    if pkgs_to_install:
        raise ClipperException(
            f"pkgs_to_install: nothing is installed on the server; install {', '.join(pkgs_to_install)} there, for the python3 that runs models"
        )
    management = clipper_conn._management()
    _told(
        management.deploy_function,
        func,
        name,
        str(version),
        input_type=_input_type(input_type),
        labels=labels or [],
        num_replicas=num_replicas,
        batch_size=batch_size,
    )
    logger.info("Done deploying model %s:%s.", name, version)
