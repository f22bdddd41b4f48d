"""Predictions, feedback and batch jobs of a server."""

from __future__ import annotations

import os
from typing import Any, Iterable, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote

from ._http import DEFAULT_TIMEOUT, Address, Http
from ._values import (
    FeedbackResult,
    Input,
    Prediction,
    features_json,
    feedback_fields,
    feedback_of,
    input_json,
    prediction_of,
    predictions_of,
    query_fields,
)
from .errors import RefusedError
from .jobs import Jobs
from .management import Management
from .web_socket import SERVER_IN_FLIGHT, WebSocket

DEFAULT_URL = "http://127.0.0.1:1337"
DEFAULT_MANAGEMENT_URL = "http://127.0.0.1:1338"


class Client:
    """
    Asks a server. Threads may share one; a thread waits for its own calls only.

    What is not given comes from the environment, as for the command line: WINDJAMMER_URL, WINDJAMMER_MANAGEMENT_URL, WINDJAMMER_API_KEY,
    WINDJAMMER_CA. `timeout`: seconds after which a call is given up, 30 unless given; each call may have its own.

    Calls raise WindjammerError (errors.py), and ValueError on arguments that no server would take. A call that broke off is repeated, up
    to twice and within its time, where that changes nothing: predictions, questions, and feedback, which is learned from once.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        management_url: Optional[str] = None,
        *,
        api_key: Optional[str] = None,
        ca: Optional[str] = None,
        client_cert: Optional[str] = None,
        client_key: Optional[str] = None,
        timeout: float = DEFAULT_TIMEOUT,
    ):
        key = api_key if api_key is not None else os.environ.get("WINDJAMMER_API_KEY")
        authority = ca if ca is not None else os.environ.get("WINDJAMMER_CA")
        trust = (key, authority, client_cert, client_key)
        query = url or os.environ.get("WINDJAMMER_URL") or DEFAULT_URL
        management = management_url or os.environ.get("WINDJAMMER_MANAGEMENT_URL") or DEFAULT_MANAGEMENT_URL
        self._http = Http(Address(query, *trust), timeout)
        self._management = Http(Address(management, *trust), timeout)
        #: Batch jobs.
        self.jobs = Jobs(self._http)
        #: Administration.
        self.management = Management(self._management)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends connections that are kept; later calls open others."""
        self._http.close()
        self._management.close()

    @property
    def url(self) -> str:
        return self._http.address.origin

    @property
    def management_url(self) -> str:
        return self._management.address.origin

    def predict(
        self,
        application: str,
        input: Input,
        *,
        context: Union[str, int, None] = None,
        version: Optional[str] = None,
        latency_slo_micros: Optional[int] = None,
        deadline_ms: Optional[int] = None,
        strict: Optional[bool] = None,
        priority: Optional[int] = None,
        launch_class: Optional[str] = None,
        features: Optional[Mapping[str, float]] = None,
        votes: bool = False,
        timeout: Optional[float] = None,
    ) -> Prediction:
        """
        Asks for one prediction.

        input: a list of numbers, None among them where models take missing values; a text; bytes; an array of numpy.
        context: what one user's feedback taught is applied to that user. latency_slo_micros: shorter than the application's objective.
        deadline_ms: when the server must have answered, what sending takes included. strict: NoPrediction in place of a default output;
        as the application says unless given. priority: 1 (most urgent) to 5. features: named numbers that the policy may choose by. votes: ask every linked model as well.
        """
        fields = query_fields(context, version, latency_slo_micros, strict, priority, launch_class, features_json(features))
        body = {"input": input_json(input), **fields, **({"votes": True} if votes else {})}
        return prediction_of(self._post(application, "predict", body, deadline_ms, timeout))

    def predict_batch(
        self,
        application: str,
        inputs: Iterable[Input],
        *,
        context: Union[str, int, None] = None,
        version: Optional[str] = None,
        latency_slo_micros: Optional[int] = None,
        deadline_ms: Optional[int] = None,
        strict: Optional[bool] = None,
        priority: Optional[int] = None,
        launch_class: Optional[str] = None,
        features: Union[Mapping[str, float], Sequence[Optional[Mapping[str, float]]], None] = None,
        timeout: Optional[float] = None,
    ) -> List[Union[Prediction, RefusedError]]:
        """As predict, of several inputs: an answer for each, in order. One that failed has its RefusedError in its place, and disturbs no other."""
        batch = [input_json(one) for one in inputs]
        given: Union[dict, List[Optional[dict]], None] = features_json(features) if features is None or isinstance(features, Mapping) else [features_json(one) for one in features]
        fields = query_fields(context, version, latency_slo_micros, strict, priority, launch_class, given)
        answer = self._post(application, "predict", {"input_batch": batch, **fields}, deadline_ms, timeout)
        return predictions_of(answer, len(batch))

    def feedback(
        self,
        application: str,
        label: Any = None,
        *,
        query_id: Optional[str] = None,
        input: Optional[Input] = None,
        loss: Optional[float] = None,
        reward: Optional[float] = None,
        losses: Optional[Mapping[str, float]] = None,
        features: Optional[Mapping[str, float]] = None,
        idempotency_key: Optional[str] = None,
        context: Union[str, int, None] = None,
        timeout: Optional[float] = None,
    ) -> FeedbackResult:
        """
        Tells what an output should have been: of a query, by its id, or of an input.

        label: the true output, a number or a text. loss or reward: from 0 to 1, in place of right or wrong; losses: those of single models.
        features: of an input; those of a query are remembered. idempotency_key: your own name for it,
        so that it is learned from once however often you send it; one of its own unless given.
        """
        body = feedback_fields(label, query_id, input, loss, reward, losses, features, idempotency_key, context)
        return feedback_of(self._post(application, "update", body, None, timeout))

    def web_socket(self, *, max_in_flight: int = SERVER_IN_FLIGHT) -> WebSocket:
        """One connection for many predictions and feedbacks at once, which wait for one another on HTTP. Close it when it is no longer needed."""
        return WebSocket(self._http.address, self._http.timeout, max_in_flight)

    def is_ready(self, *, timeout: Optional[float] = None) -> bool:
        """Whether the server takes queries."""
        try:
            # Not safe to be asked again: that it is not ready is the answer.
            self._http.ask("GET", "/readyz", safe=False, timeout=timeout)
            return True
        except RefusedError as error:
            if error.status == 503:
                return False
            raise

    def metrics(self, *, timeout: Optional[float] = None) -> str:
        """Prometheus text."""
        return self._http.ask("GET", "/metrics", safe=True, timeout=timeout)

    def _post(self, application: str, verb: str, body: dict, deadline_ms: Optional[int], timeout: Optional[float]) -> Any:
        headers = {} if deadline_ms is None else {"x-request-timeout-ms": str(deadline_ms)}
        path = f"/{path_part(application, 'application')}/{verb}"
        return self._http.post(path, body, safe=True, timeout=timeout, headers=headers)


def path_part(name: str, what: str) -> str:
    if not isinstance(name, str) or name in ("", ".", ".."):
        raise ValueError(f"{what} must be a name, and {name!r} is none")
    return quote(name, safe="")
