"""A server that start_clipper has started."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from typing import List, Optional
from urllib.parse import urlsplit

from ..client import Client
from ..errors import Unreachable, WindjammerError
from .exceptions import ClipperException

START_SECONDS = 120.0
STOP_SECONDS = 60.0
LOCAL = frozenset(["localhost", "127.0.0.1", "::1"])


def is_there(client: Client) -> bool:
    """Raises ClipperException where something else answers, or does not let this client in."""
    try:
        client.management.ping(timeout=10)
        client.is_ready(timeout=10)
        return True
    except Unreachable:
        return False
    except WindjammerError as error:
        raise ClipperException(str(error)) from error


class StartedServer:
    """A process, and where it writes."""

    def __init__(self, process: subprocess.Popen, log: str):
        self.process = process
        self.log = log

    def tail(self) -> str:
        try:
            with open(self.log, encoding="utf-8", errors="replace") as file:
                return file.read()[-2000:].strip()
        except OSError:
            return ""

    def stop(self, graceful: bool = True) -> None:
        if graceful:
            self.process.terminate()
        else:
            self.process.kill()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if os.path.exists(self.log):
            os.remove(self.log)


def start_server(client: Client, cache_size: Optional[int]) -> StartedServer:
    """Returns once it takes queries. Raises ClipperException with what it said, where it does not."""
    query, management = urlsplit(client.url), urlsplit(client.management_url)
    places = {(one.scheme, one.hostname) for one in (query, management)}
    if not all(scheme == "http" and host in LOCAL for scheme, host in places):
        raise ClipperException(f"no server answers at {client.management_url}: start one there with `windjammer serve`")
    words = [*_command(), "serve", "--no-defaults", "--ephemeral"]
    words += ["--host", str(query.hostname), "--port", str(query.port)]
    words += ["--management-host", str(management.hostname), "--management-port", str(management.port)]
    if cache_size is not None:
        words += ["--cache-mib", str(max(1, cache_size // 2**20))]
    handle, log = tempfile.mkstemp(prefix="windjammer-", suffix=".log")
    with os.fdopen(handle, "wb") as file:
        try:
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT)
        except OSError as error:
            os.remove(log)
            raise ClipperException(f"{words[0]} does not start: {error}") from error
    started = StartedServer(process, log)
    until = time.monotonic() + START_SECONDS
    while not (is_there(client) and client.is_ready()):
        if process.poll() is not None or time.monotonic() > until:
            said = started.tail()
            started.stop(graceful=False)
            raise ClipperException(f"{shlex.join(words)} does not serve: {said}")
        time.sleep(0.1)
    return started


def _command() -> List[str]:
    given = os.environ.get("WINDJAMMER_COMMAND")
    if given:
        return shlex.split(given)
    found = shutil.which("windjammer")
    if found is None:
        raise ClipperException(
            "no server answers, and there is no `windjammer` on the path to start one: start it by hand (npm start), or set WINDJAMMER_COMMAND"
        )
    return [found]
