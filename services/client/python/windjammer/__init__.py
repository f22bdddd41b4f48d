"""
Client and administration of a Windjammer prediction server, of the standard library alone: docs/guides/python.md.

    from windjammer import Client

    with Client() as client:
        print(client.predict("digits", pixels).output)
"""

from ._values import FeedbackResult, Input, ModelAnswer, Prediction
from .bundle import Bundle, bundle_of_file, bundle_of_folder
from .client import DEFAULT_MANAGEMENT_URL, DEFAULT_URL, Client
from .deploy import Deployment
from .errors import (
    Conflict,
    DeployError,
    Insecure,
    InvalidRequest,
    NoPrediction,
    NotAllowed,
    NotFound,
    RefusedError,
    ServerDefect,
    TimedOut,
    Unavailable,
    UnexpectedAnswer,
    Unreachable,
    WindjammerError,
)
from .jobs import Jobs
from .management import Management
from .web_socket import WebSocket

__version__ = "0.1.0"

__all__ = [
    "Bundle",
    "Client",
    "Conflict",
    "DEFAULT_MANAGEMENT_URL",
    "DEFAULT_URL",
    "DeployError",
    "Deployment",
    "FeedbackResult",
    "Input",
    "Insecure",
    "InvalidRequest",
    "Jobs",
    "Management",
    "ModelAnswer",
    "NoPrediction",
    "NotAllowed",
    "NotFound",
    "Prediction",
    "RefusedError",
    "ServerDefect",
    "TimedOut",
    "Unavailable",
    "UnexpectedAnswer",
    "Unreachable",
    "WebSocket",
    "WindjammerError",
    "bundle_of_file",
    "bundle_of_folder",
]
