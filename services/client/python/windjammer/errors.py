"""Why a call failed. Every error has a stable `code`, meant for programs."""

from __future__ import annotations

from typing import Any, Optional

from .error_codes import FIXES


class WindjammerError(Exception):
    """What every error of this package is."""

    code = "error"


class RefusedError(WindjammerError):
    """The server answered with an error of its catalogue (docs/reference/errors.md)."""

    def __init__(
        self,
        code: str,
        status: int,
        message: str,
        field: Optional[str] = None,
        retry_after: Optional[float] = None,
    ):
        super().__init__(message)
        self.code = code
        #: Of HTTP, also for a refusal on a WebSocket.
        self.status = status
        self.message = message
        #: The part of the request at fault.
        self.field = field
        #: Seconds after which another try is worth it, where the server knows.
        self.retry_after = retry_after

    @property
    def fix(self) -> Optional[str]:
        """What to do about it; None of a code that this version of the client does not know."""
        return FIXES.get(self.code)

    def __str__(self) -> str:
        where = "" if self.field is None else f" ({self.field})"
        fix = "" if self.fix is None else f" {self.fix}"
        return f"{self.status} {self.code}{where}: {self.message}.{fix}"


class InvalidRequest(RefusedError):
    """The request is not as it must be: `field` and `fix` say what to change."""


class NotAllowed(RefusedError):
    """The key is missing, wrong or not for this."""


class NotFound(RefusedError):
    """What the request names is not there."""


class Conflict(RefusedError):
    """What is there does not go with the request."""


class Unavailable(RefusedError):
    """The server cannot do it now; `retry_after` says when another try is worth it, where that is known."""


class NoPrediction(RefusedError):
    """A strict query got no prediction: codes that begin with `default_`."""


class ServerDefect(RefusedError):
    """The server failed on the request; its log says more."""


class Unreachable(WindjammerError):
    """No connection, or one that broke before the answer came: whether the request was taken is unknown."""

    code = "unreachable"


class Insecure(WindjammerError):
    """The server's certificate is not trusted, or it does not speak TLS as the client does."""

    code = "insecure"


class TimedOut(WindjammerError):
    """No answer within the client's time limit: whether the request was taken is unknown."""

    code = "timeout"


class UnexpectedAnswer(WindjammerError):
    """The answer is not what this server would say: something else listens there."""

    code = "unexpected_answer"


class DeployError(WindjammerError):
    """A version is registered and does not come up, or there is nothing to be deployed."""

    code = "deploy_failed"


def refusal_of(body: Any, status: int) -> Optional[RefusedError]:
    """An error of the catalogue, from the body of an answer; None of anything else."""
    error = body.get("error") if isinstance(body, dict) else None
    if not isinstance(error, dict):
        return None
    code, message = error.get("code"), error.get("message")
    if not isinstance(code, str) or not isinstance(message, str):
        return None
    field, wait_ms = error.get("field"), error.get("retry_after_ms")
    return _kind(code, status)(
        code,
        status,
        message,
        field if isinstance(field, str) else None,
        wait_ms / 1000 if isinstance(wait_ms, (int, float)) else None,
    )


def _kind(code: str, status: int) -> type:
    if code.startswith("default_"):
        return NoPrediction
    if status in (401, 403):
        return NotAllowed
    if status == 404:
        return NotFound
    if status == 409:
        return Conflict
    if status in (429, 503, 507):
        return Unavailable
    return ServerDefect if status >= 500 else InvalidRequest
