"""Administration of a server: Clipper's verbs and those beside them, docs/reference/rest.md has all of their fields."""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union
from urllib.parse import urlencode

from ._http import Http
from .bundle import Bundle
from .deploy import PYTHON, Deployment, deploy, deploy_bundle
from .errors import UnexpectedAnswer
from .source import bundle_of_function

Record = Dict[str, Any]

# Nothing slower is waited for: 64 KiB a second, and time for the answer.
LEAST_BYTES_PER_SECOND = 65536
ANSWER_SECONDS = 60.0


class Management:
    """
    Verbs that change something answer with a sentence, and are durable once they return. They are never sent twice: one whose connection
    broke off (Unreachable, TimedOut) is done or not, and a question tells.
    """

    def __init__(self, http: Http):
        self._http = http

    # Applications.

    def add_application(
        self, name: str, input_type: str, default_output: str, latency_slo_micros: int, *, timeout: Optional[float] = None, **fields: Any
    ) -> str:
        """fields: max_in_flight, policy ({"name": …, "parameters": …}), strict, launch_class, context_ttl_days, loss, loss_of_late."""
        given = {"name": name, "input_type": input_type, "default_output": default_output, "latency_slo_micros": latency_slo_micros}
        return self._change("add_app", {**given, **fields}, timeout)

    def set_application(self, name: str, *, timeout: Optional[float] = None, **fields: Any) -> str:
        """
        Changes what fields name; what is left out stays, and so does what was learned. None takes max_in_flight, launch_class,
        context_ttl_days, loss or loss_of_late away.
        """
        return self._change("set_app", {"name": name, **fields}, timeout, keeps_none=True)

    def delete_application(self, name: str, *, timeout: Optional[float] = None) -> str:
        return self._change("delete_app", {"name": name}, timeout)

    def application(self, name: str, *, timeout: Optional[float] = None) -> Record:
        return self._record("get_application", {"name": name}, timeout, "name")

    def applications(self, *, timeout: Optional[float] = None) -> List[Record]:
        return self._records("get_all_applications", {"verbose": True}, timeout)

    # Models.

    def add_model(
        self,
        name: str,
        version: str,
        input_type: str,
        container_name: str,
        *,
        timeout: Optional[float] = None,
        **fields: Any,
    ) -> str:
        """
        Registers a version; it becomes the current one, or with canary is tried beside that. fields: model_data_path, which the server
        reads, or content_hash of files that add_bundle has sent; output, labels, num_replicas, batch_size, batching and the others. `deploy` does more.
        """
        given = {"model_name": name, "model_version": str(version), "input_type": input_type, "container_name": container_name}
        return self._change("add_model", {**given, **fields}, timeout)

    def delete_model(self, name: str, version: str, *, timeout: Optional[float] = None) -> str:
        return self._change("delete_versioned_model", _version(name, version), timeout)

    def set_model_version(self, name: str, version: str, *, timeout: Optional[float] = None) -> str:
        """Rolls back or forward."""
        return self._change("set_model_version", _version(name, version), timeout)

    def set_replicas(
        self,
        name: str,
        version: str,
        replicas: Optional[int] = None,
        *,
        minimum: Optional[int] = None,
        maximum: Optional[int] = None,
        timeout: Optional[float] = None,
    ) -> str:
        """How many replicas run, or between which numbers the load decides."""
        scale = {"num_replicas": replicas, "min_replicas": minimum, "max_replicas": maximum}
        return self._change("set_num_replicas", {**_version(name, version), **scale}, timeout)

    def start_canary(
        self, name: str, version: str, parameters: Optional[Mapping[str, Any]] = None, *, timeout: Optional[float] = None
    ) -> str:
        """Tries a registered version beside the current one, with a share of the queries that grows. parameters: of the policy canary."""
        return self._change("start_canary", {**_version(name, version), "canary": _parameters(parameters)}, timeout)

    def promote_canary(self, name: str, *, timeout: Optional[float] = None) -> str:
        """The version that is tried becomes the current one."""
        return self._change("promote_canary", {"model_name": name}, timeout)

    def abort_canary(self, name: str, *, timeout: Optional[float] = None) -> str:
        return self._change("abort_canary", {"model_name": name}, timeout)

    def canary(self, name: str, *, timeout: Optional[float] = None) -> Record:
        """The version of a model that is tried, or was last."""
        return self._record("get_canary", {"model_name": name}, timeout, "phase")

    def canaries(self, *, timeout: Optional[float] = None) -> List[Record]:
        return self._records("get_all_canaries", {}, timeout)

    def model(self, name: str, version: str, *, timeout: Optional[float] = None) -> Record:
        return self._record("get_model", _version(name, version), timeout, "model_name")

    def models(self, *, timeout: Optional[float] = None) -> List[Record]:
        return self._records("get_all_models", {"verbose": True}, timeout)

    def replicas(self, *, timeout: Optional[float] = None) -> List[Record]:
        """Of every model version: `state`, and `last_failure` of those that were lost."""
        return self._records("get_all_containers", {"verbose": True}, timeout)

    def replica(self, name: str, version: str, replica_id: int, *, timeout: Optional[float] = None) -> Record:
        return self._record("get_container", {**_version(name, version), "replica_id": replica_id}, timeout, "replica_id")

    def has_bundle(self, content_hash: str, *, timeout: Optional[float] = None) -> bool:
        """Whether the server has files with this hash."""
        return self._record("get_bundle", {"content_hash": content_hash}, timeout, "is_there")["is_there"] is True

    def add_bundle(self, bundle: Bundle, *, timeout: Optional[float] = None) -> str:
        """Sends files of a model unless the server has them. Returns their content_hash, for add_model."""
        content_hash = bundle.content_hash
        if self.has_bundle(content_hash):
            return content_hash
        limit = ANSWER_SECONDS + bundle.size / LEAST_BYTES_PER_SECOND if timeout is None else timeout
        path = f"/admin/add_bundle?{urlencode({'content_hash': content_hash})}"
        headers = {"Content-Type": "application/octet-stream"}
        answer = self._http.ask("POST", path, body=bundle.body(), headers=headers, safe=False, timeout=limit)
        if not isinstance(answer, dict) or answer.get("is_there") is not True:
            raise _strange("add_bundle")
        return content_hash

    def deploy(self, path: str, name: str, version: str, **options: Any) -> Deployment:
        """Sends a model's files, registers the version, waits until it is up, and links it: deploy.py has the options."""
        return deploy(self, path, name, version, **options)

    def deploy_function(
        self,
        function: Callable[[Any], Any],
        name: str,
        version: str,
        *,
        application: Optional[str] = None,
        input_type: Optional[str] = None,
        files: Mapping[str, str] = {},
        **options: Any,
    ) -> Deployment:
        """
        As deploy, of a function that takes a list of inputs and gives a list of answers. Its source is sent, with what it uses: source.py
        says what can be.
        """
        bundle = bundle_of_function(function, files)
        taken = input_type or (None if application is None else self.application(application)["input_type"])
        if taken is None:
            raise ValueError("say what its inputs are: input_type, or the application that it is for")
        return deploy_bundle(self, bundle, name, version, PYTHON, taken, application=application, **options)

    # Links.

    def add_links(self, application: str, models: Sequence[str], *, timeout: Optional[float] = None) -> str:
        """All of them or, on an error, none."""
        return self._change("add_model_links", _links(application, models), timeout)

    def delete_links(self, application: str, models: Sequence[str], *, timeout: Optional[float] = None) -> str:
        return self._change("delete_model_links", _links(application, models), timeout)

    def linked_models(self, application: str, *, timeout: Optional[float] = None) -> List[str]:
        """Names in order of linking."""
        return self._list("get_linked_models", {"app_name": application}, timeout)

    # What was learned.

    def state(self, application: str, context: Union[str, int, None] = None, *, timeout: Optional[float] = None) -> Record:
        """The share of queries that each model gets, for the application or one selection context."""
        return self._record("get_state", _context(application, context), timeout, "shares")

    def export_state(self, application: str, context: Union[str, int, None] = None, *, timeout: Optional[float] = None) -> Record:
        """The state as it is kept, and earlier versions."""
        return self._record("export_state", _context(application, context), timeout, "version")

    def reset_state(self, application: str, context: Union[str, int, None] = None, *, timeout: Optional[float] = None) -> str:
        """Forgets what was learned; earlier versions stay."""
        return self._change("reset_state", _context(application, context), timeout)

    def rollback_state(
        self,
        application: str,
        context: Union[str, int, None] = None,
        version: Optional[int] = None,
        *,
        timeout: Optional[float] = None,
    ) -> str:
        """version: one that export_state lists; the last one unless given."""
        return self._change("rollback_state", {**_context(application, context), "version": version}, timeout)

    def pin_state(self, application: str, context: Union[str, int, None] = None, *, timeout: Optional[float] = None) -> str:
        """It learns nothing until it is unpinned."""
        return self._change("pin_state", _context(application, context), timeout)

    def unpin_state(self, application: str, context: Union[str, int, None] = None, *, timeout: Optional[float] = None) -> str:
        return self._change("unpin_state", _context(application, context), timeout)

    # Feedback on its way.

    def queue(self, states: Optional[Sequence[str]] = None, limit: Optional[int] = None, *, timeout: Optional[float] = None) -> Record:
        """Feedback that is accepted and not learned yet, and what has failed."""
        fields = {"states": None if states is None else list(states), "limit": limit}
        return self._record("list_feedback", fields, timeout, "counts")

    def queued_feedback(self, id: str, *, timeout: Optional[float] = None) -> Record:
        return self._record("show_feedback", {"id": id}, timeout, "state")

    def retry_feedback(self, id: Optional[str] = None, *, timeout: Optional[float] = None) -> str:
        """Tries again what has failed; all of it unless one is named."""
        return self._change("retry_feedback", {"all": True} if id is None else {"id": id}, timeout)

    def drop_feedback(self, id: Optional[str] = None, *, timeout: Optional[float] = None) -> str:
        """Gives up what has failed; all of it unless one is named."""
        return self._change("drop_feedback", {"all": True} if id is None else {"id": id}, timeout)

    # What was changed.

    def events(
        self,
        *,
        after: Optional[int] = None,
        before: Optional[int] = None,
        since: Optional[str] = None,
        application: Optional[str] = None,
        model: Optional[str] = None,
        limit: Optional[int] = None,
        wait_seconds: Optional[float] = None,
        timeout: Optional[float] = None,
    ) -> Record:
        """
        What was changed and what happened by itself, the oldest first, with `last`: the last ones, or those that follow the event of the
        number `after`, for the first of which the answer waits `wait_seconds`.
        """
        fields = {
            "after": after,
            "before": before,
            "since": since,
            "app_name": application,
            "model_name": model,
            "limit": limit,
            "wait_seconds": wait_seconds,
        }
        if timeout is None and wait_seconds is not None:
            timeout = wait_seconds + self._http.timeout
        return self._record("list_events", fields, timeout, "events")

    def follow_events(self, after: Optional[int] = None, *, wait_seconds: float = 20.0) -> Iterator[Record]:
        """Events as they come, for ever. after: from the one that follows this number on; those to come unless given."""
        last = self.events(limit=1)["last"] if after is None else after
        while True:
            answer = self.events(after=last, wait_seconds=wait_seconds)
            for event in answer["events"]:
                last = event["seq"]
                yield event

    def note_alerts(self, notification: Record, *, timeout: Optional[float] = None) -> Record:
        """What Alertmanager's webhook sends, version 4: alerts that begin and end become events. Returns how many did."""
        return self._record("note_alerts", notification, timeout, "firing")

    # The server and its GPUs.

    def ping(self, *, timeout: Optional[float] = None) -> bool:
        """Whether a management interface answers. Raises WindjammerError where nothing does."""
        return self._http.ask("GET", "/admin/ping", safe=True, timeout=timeout) == "PONG"

    def gpus(self, *, timeout: Optional[float] = None) -> List[Record]:
        return self._records("get_gpus", {}, timeout)

    def record_gpu_timeline(
        self,
        *,
        seconds: Optional[float] = None,
        max_mib: Optional[float] = None,
        node: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Record:
        """What the GPUs of a node do in the time that begins now, as a trace in Chrome's trace event format."""
        if timeout is None and seconds is not None:
            timeout = seconds + self._http.timeout
        return self._record("record_gpu_timeline", {"seconds": seconds, "max_mib": max_mib, "node": node}, timeout, "traceEvents")

    def record_arrivals(
        self,
        *,
        seconds: Optional[float] = None,
        inputs: Optional[bool] = None,
        feedback: Optional[bool] = None,
        application: Optional[str] = None,
    ) -> Iterator[Record]:
        """Queries as they come, or with `feedback` as they are judged, a minute long unless given; the last one has `end`."""
        fields = {"seconds": seconds, "inputs": inputs, "feedback": feedback, "application": application}
        body = json.dumps(_given(fields)).encode()
        rest = b""
        pieces = self._http.stream(
            "POST", "/admin/record_arrivals", content_type="application/jsonl", body=body, headers={"Content-Type": "application/json"}
        )
        for piece in pieces:
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                record = json.loads(line) if line.strip() else {}
                # A line with nothing in it shows that the server is there.
                if record:
                    yield record

    def backup(self, path: str, *, on_bytes: Callable[[int], None] = lambda _count: None) -> int:
        """Writes all that the server keeps to a file, which has its name once it is whole. Returns its size in bytes."""
        unfinished = f"{path}.part"
        size = 0
        digest = hashlib.sha256()
        last = b""
        try:
            with open(unfinished, "xb") as file:
                for piece in self._http.stream("GET", "/admin/backup", content_type="application/x-ndjson"):
                    file.write(piece)
                    size += len(piece)
                    on_bytes(size)
                    # The last line has the checksum of those before it.
                    last += piece
                    cut = last.rfind(b"\n", 0, len(last) - 1) + 1
                    digest.update(last[:cut])
                    last = last[cut:]
                file.flush()
                os.fsync(file.fileno())
            if not last.endswith(b"\n") or json.loads(last).get("sha256") != digest.hexdigest():
                raise UnexpectedAnswer("the backup came damaged, or not whole: try again")
            os.replace(unfinished, path)
            return size
        except BaseException:
            if os.path.exists(unfinished):
                os.remove(unfinished)
            raise

    # Keys.

    def add_key(self, name: str, scopes: Sequence[str], *, timeout: Optional[float] = None, **fields: Any) -> Record:
        """The key is in this answer and nowhere else. fields: applications, models, lifetime_seconds."""
        answer = self._http.post(
            "/admin/add_key", _given({"name": name, "scopes": list(scopes), **fields}), safe=False, timeout=timeout
        )
        if not isinstance(answer, dict) or "key" not in answer:
            raise _strange("add_key")
        return answer

    def keys(self, *, timeout: Optional[float] = None) -> List[Record]:
        """Oldest first, without secrets."""
        return self._records("get_all_keys", {}, timeout)

    def delete_key(self, id: str, *, timeout: Optional[float] = None) -> str:
        """Requests with the key are refused at once."""
        return self._change("delete_key", {"id": id}, timeout)

    # Clusters.

    def cluster_status(self, *, timeout: Optional[float] = None) -> Record:
        return self._record("cluster_status", {}, timeout, "frontends")

    def drain_node(self, node: str, *, timeout: Optional[float] = None) -> str:
        """Places no replicas on a node, and those that it has on others."""
        return self._change("drain_node", {"node": node}, timeout)

    def undrain_node(self, node: str, *, timeout: Optional[float] = None) -> str:
        return self._change("undrain_node", {"node": node}, timeout)

    def repair_store(self, *, timeout: Optional[float] = None) -> str:
        """Makes what this frontend knows the truth, after the shared store has lost changes."""
        return self._change("repair_store", {}, timeout)

    # How they are asked.

    def _change(self, verb: str, fields: Record, timeout: Optional[float], keeps_none: bool = False) -> str:
        body = fields if keeps_none else _given(fields)
        answer = self._http.post(f"/admin/{verb}", body, safe=False, timeout=timeout)
        if not isinstance(answer, str) or not answer.startswith("Success!"):
            raise _strange(verb)
        return answer

    def _record(self, verb: str, fields: Record, timeout: Optional[float], proof: str) -> Record:
        answer = self._http.post(f"/admin/{verb}", _given(fields), safe=True, timeout=timeout)
        if not isinstance(answer, dict) or proof not in answer:
            raise _strange(verb)
        return answer

    def _list(self, verb: str, fields: Record, timeout: Optional[float]) -> List[Any]:
        answer = self._http.post(f"/admin/{verb}", _given(fields), safe=True, timeout=timeout)
        if not isinstance(answer, list):
            raise _strange(verb)
        return answer

    def _records(self, verb: str, fields: Record, timeout: Optional[float]) -> List[Record]:
        answer = self._list(verb, fields, timeout)
        if not all(isinstance(one, dict) for one in answer):
            raise _strange(verb)
        return answer


def _given(fields: Record) -> Record:
    return {name: value for name, value in fields.items() if value is not None}


def _version(name: str, version: str) -> Record:
    return {"model_name": name, "model_version": str(version)}


def _parameters(parameters: Optional[Mapping[str, Any]]) -> Record:
    if parameters is None:
        return {}
    if not isinstance(parameters, Mapping):
        raise ValueError(f"parameters is {parameters!r}, and no mapping such as {{'loss': 0.01}}")
    return dict(parameters)


def _links(application: str, models: Sequence[str]) -> Record:
    if isinstance(models, str):
        raise ValueError(f"models is a list of names: [{models!r}]")
    return {"app_name": application, "model_names": list(models)}


def _context(application: str, context: Union[str, int, None]) -> Record:
    return {"app_name": application, "uid": context}


def _strange(verb: str) -> UnexpectedAnswer:
    return UnexpectedAnswer(f"what answers {verb} is no management interface of Windjammer; is the address right?")
