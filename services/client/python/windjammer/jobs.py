"""Batch jobs: predictions of many lines that a server keeps and answers by itself."""

from __future__ import annotations

import json
import time
from typing import Any, Dict, Iterable, Iterator, List, Optional, Union
from urllib.parse import quote, urlencode

from ._http import Http, json_bytes
from ._values import Input, input_json
from .errors import TimedOut, UnexpectedAnswer

LINES = "application/x-ndjson"


class Jobs:
    """Of a server, or of all that share a store. A job is a dict, as docs/guides/jobs.md has it: `job_id`, `state`, `lines`, `answered`, `failed`."""

    def __init__(self, http: Http):
        self._http = http

    def create(
        self,
        application: str,
        inputs: Union[bytes, Iterable[Union[Input, Dict[str, Any]]]],
        *,
        launch_class: Optional[str] = None,
        timeout: Optional[float] = None,
    ) -> Dict[str, Any]:
        """
        Hands over inputs, as they come: values, dicts with `input` and other fields of a query, or bytes that are lines of JSON already.
        It is acknowledged once all of it is kept. A call that broke off is not repeated: `list` says whether the job is there.
        """
        query = {"application": application, **({} if launch_class is None else {"class": launch_class})}
        body = inputs if isinstance(inputs, bytes) else _pieces(inputs)
        headers = {"Content-Type": LINES}
        return self._one(self._http.ask("POST", f"/jobs?{urlencode(query)}", body=body, headers=headers, safe=False, timeout=timeout))

    def list(self, *, timeout: Optional[float] = None) -> List[Dict[str, Any]]:
        answer = self._http.ask("GET", "/jobs", safe=True, timeout=timeout)
        if not isinstance(answer, dict) or not isinstance(answer.get("jobs"), list):
            raise UnexpectedAnswer("what answers /jobs is no query interface of Windjammer; is the address right?")
        return answer["jobs"]

    def show(self, job_id: str, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        return self._one(self._http.ask("GET", _path(job_id), safe=True, timeout=timeout))

    def cancel(self, job_id: str, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Asks no further lines; what is answered stays."""
        return self._one(self._http.ask("POST", f"{_path(job_id)}/cancel", safe=True, timeout=timeout))

    def remove(self, job_id: str, *, timeout: Optional[float] = None) -> Dict[str, Any]:
        """Forgets it, with its input and results."""
        return self._one(self._http.ask("DELETE", _path(job_id), safe=False, timeout=timeout))

    def results(self, job_id: str, *, follow: bool = False, silence: float = 3600.0) -> Iterator[Dict[str, Any]]:
        """
        The answers in the order of the lines: dicts with `line`, and the prediction or its `error`.
        follow: until the job is over. silence: seconds after which a server that says nothing is given up; lines may wait long.
        """
        path = f"{_path(job_id)}/results{'?follow=true' if follow else ''}"
        rest = b""
        for piece in self._http.stream("GET", path, content_type=LINES, silence=silence):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if line:
                    yield json.loads(line)
        if rest:
            raise UnexpectedAnswer("the last line of the results is cut short")

    def wait(self, job_id: str, *, timeout: float = 3600.0, every: float = 0.2) -> Dict[str, Any]:
        """The job, once it is over."""
        until = time.monotonic() + timeout
        while True:
            job = self.show(job_id)
            if job["state"] != "running":
                return job
            if time.monotonic() + every >= until:
                raise TimedOut(f"job {job_id} is not over after {timeout:g} s: {job['answered']} of {job['lines']} lines are answered")
            time.sleep(every)

    def _one(self, answer: Any) -> Dict[str, Any]:
        if not isinstance(answer, dict) or "job_id" not in answer:
            raise UnexpectedAnswer("what answers /jobs is no query interface of Windjammer; is the address right?")
        return answer


def _path(job_id: str) -> str:
    if not isinstance(job_id, str) or job_id in ("", ".", ".."):
        raise ValueError(f"{job_id!r} is no id of a job")
    return f"/jobs/{quote(job_id, safe='')}"


def _pieces(inputs: Iterable[Union[Input, Dict[str, Any]]]) -> Iterator[bytes]:
    held: List[bytes] = []
    size = 0
    for value in inputs:
        if isinstance(value, dict) and "input" in value:
            line = json_bytes({**value, "input": input_json(value["input"])})
        else:
            line = json_bytes(input_json(value))
        held.append(line + b"\n")
        size += len(line)
        # A chunk each would cost more than what is in it.
        if size >= 65536:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)



