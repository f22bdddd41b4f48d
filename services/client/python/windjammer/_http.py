"""Asks one server over HTTP, on connections that are kept."""

from __future__ import annotations

import http.client
import json
import os
import random
import select
import socket
import ssl
import threading
import time
from typing import Any, Iterable, Iterator, Mapping, Optional, Union
from urllib.parse import urlsplit

from ._deadline import DeadlineSocket
from .errors import Insecure, RefusedError, TimedOut, UnexpectedAnswer, Unreachable, refusal_of

DEFAULT_TIMEOUT = 30.0

Body = Union[bytes, Iterable[bytes], None]

# What another try a little later may get, of requests that may be sent twice.
PASSING = frozenset(
    [
        "too_many_connections",
        "too_much_buffered",
        "too_many_open_files",
        "too_many_uploads",
        "feedback_not_kept",
        "holder_silent",
        "redis_away",
        "store_failed",
        "shutting_down",
        "not_ready",
    ]
)
MOST_TRIES = 3
FIRST_PAUSE = 0.05
MOST_IDLE = 8
# The server closes a connection after 65 s.
IDLE_SECONDS = 50.0
PIECE = 65536
# Of an answer that is read as a whole.
MOST_ANSWER_BYTES = 256 * 1024 * 1024


class Address:
    """Where a server is, whom it is asked as, and whom it must be."""

    def __init__(
        self,
        url: str,
        api_key: Optional[str] = None,
        ca: Optional[str] = None,
        client_cert: Optional[str] = None,
        client_key: Optional[str] = None,
    ):
        """ca: file with authorities in PEM. Raises ValueError on what is no address, no key or no certificate."""
        parts = urlsplit(url)
        try:
            host, port = parts.hostname, parts.port
        except ValueError:
            host, port = None, None
        if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
            raise ValueError(f"{url!r} is no address of a server: http://HOST:PORT is")
        if parts.username is not None:
            raise ValueError("an address has no user and no password: give api_key")
        self.is_secure = parts.scheme == "https"
        self.host = host
        self.port = port or (443 if self.is_secure else 80)
        self.prefix = parts.path.rstrip("/")
        shown = f"[{host}]" if ":" in host else host
        self.origin = f"{parts.scheme}://{shown}:{self.port}"
        self.headers = _key_headers(api_key)
        self.context = _context(ca, client_cert, client_key) if self.is_secure else None


def _key_headers(api_key: Optional[str]) -> Mapping[str, str]:
    if api_key is None:
        return {}
    if not api_key or not all("\x21" <= one <= "\x7e" for one in api_key):
        raise ValueError("the API key is empty, or has white space or other characters that no key has")
    return {"Authorization": f"Bearer {api_key}"}


def _context(ca: Optional[str], cert: Optional[str], key: Optional[str]) -> ssl.SSLContext:
    if (cert is None) != (key is None):
        raise ValueError("client_cert and client_key go together")
    try:
        context = ssl.create_default_context(cafile=ca)
        if cert is not None:
            context.load_cert_chain(cert, key)
    except (OSError, ssl.SSLError) as error:
        named = ", ".join(one for one in (ca, cert, key) if one is not None)
        raise ValueError(f"{named}: {error}") from error
    return context


class _Connection(http.client.HTTPConnection):
    def __init__(self, address: Address, until: Optional[float]):
        super().__init__(address.host, address.port)
        self._address = address
        self._until = until
        self.idle_since = 0.0

    def connect(self) -> None:
        left = None if self._until is None else max(0.001, self._until - time.monotonic())
        plain = socket.create_connection((self.host, self.port), left)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        context = self._address.context
        try:
            sock = plain if context is None else context.wrap_socket(plain, server_hostname=self.host)
        except BaseException:
            plain.close()
            raise
        self.sock = DeadlineSocket(sock)
        self.sock.until = self._until

    def allow(self, until: Optional[float]) -> None:
        self._until = until
        if self.sock is not None:
            self.sock.until = until

    def is_stale(self) -> bool:
        """The server has closed it, or said what nobody asked for."""
        if time.monotonic() - self.idle_since > IDLE_SECONDS:
            return True
        try:
            return bool(select.select([self.sock.sock], [], [], 0)[0])
        except (OSError, ValueError):
            return True


class Answer:
    """Of a request whose answer was read."""

    def __init__(self, status: int, content_type: str, body: bytes):
        self.status = status
        self.content_type = content_type
        self.body = body

    def value(self) -> Any:
        """JSON as what it is, anything else as text."""
        text = self.body.decode("utf-8", "replace")
        if not self.content_type.startswith("application/json"):
            return text
        try:
            return json.loads(text)
        except ValueError as error:
            raise UnexpectedAnswer("the answer says that it is JSON and is none") from error


class Http:
    """Threads may share one."""

    def __init__(self, address: Address, timeout: float = DEFAULT_TIMEOUT):
        self.address = address
        self.timeout = checked_timeout(timeout)
        self._idle: list = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for one in idle:
            one.close()

    def post(self, path: str, value: Any, *, safe: bool, timeout: Optional[float] = None, headers: Mapping[str, str] = {}) -> Any:
        """JSON. safe: the request may be sent again where it is unknown whether it was taken."""
        body = json_bytes(value)
        more = {"Content-Type": "application/json", **headers}
        return self.ask("POST", path, body=body, headers=more, safe=safe, timeout=timeout)

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: Body = None,
        headers: Mapping[str, str] = {},
        safe: bool,
        timeout: Optional[float] = None,
    ) -> Any:
        """The answer's JSON, or its text. Raises WindjammerError."""
        limit = self.timeout if timeout is None else checked_timeout(timeout)
        until = time.monotonic() + limit
        may_repeat = safe and (body is None or isinstance(body, bytes))
        tried = 0
        while True:
            tried += 1
            try:
                return self._told(path, self._exchange(method, path, body, headers, until, limit, may_repeat))
            except (Unreachable, RefusedError) as error:
                passing = isinstance(error, Unreachable) or error.code in PASSING
                if not may_repeat or not passing or tried >= MOST_TRIES:
                    raise
                pause = FIRST_PAUSE * 2**tried * (0.5 + random.random())
                if isinstance(error, RefusedError) and error.retry_after is not None:
                    pause = max(pause, error.retry_after)
                # Whoever would wait in vain is told the reason at once.
                if time.monotonic() + pause >= until:
                    raise
                time.sleep(pause)

    def stream(
        self,
        method: str,
        path: str,
        *,
        content_type: str,
        body: Optional[bytes] = None,
        headers: Mapping[str, str] = {},
        silence: float = DEFAULT_TIMEOUT,
    ) -> Iterator[bytes]:
        """An answer as it comes, for as long as it takes. silence: a server that says nothing for so long is given up."""
        limit = checked_timeout(silence)
        connection = _Connection(self.address, time.monotonic() + limit)
        try:
            try:
                self._send(connection, method, path, body, headers)
                response = connection.getresponse()
                if response.status != 200:
                    self._told(path, self._whole(response))
                    raise UnexpectedAnswer(f"{self.address.origin}{path} answers {response.status}")
            except Exception as error:
                raise self._failure(error, limit) from error
            if not response.headers.get("Content-Type", "").startswith(content_type):
                raise UnexpectedAnswer(f"what answers {self.address.origin}{path} is no Windjammer; is the address right?")
            while True:
                try:
                    connection.allow(time.monotonic() + limit)
                    piece = response.read1(PIECE)
                except Exception as error:
                    raise self._failure(error, limit) from error
                if not piece:
                    # http.client takes an end in mid chunk for an end.
                    if response.length not in (None, 0) or getattr(response, "chunk_left", None) not in (None, 0):
                        raise Unreachable(f"the answer of {self.address.origin}{path} broke off")
                    return
                yield piece
        finally:
            connection.close()

    def _exchange(self, method, path, body, headers, until, limit, may_reuse) -> Answer:
        connection = self._take(until, may_reuse)
        is_kept = False
        try:
            try:
                self._send(connection, method, path, body, headers)
            except (BrokenPipeError, ConnectionResetError):
                # A server that refuses does not read to the end: its answer counts, if there is one.
                if connection.sock is None:
                    raise
            response = connection.getresponse()
            answer = self._whole(response)
            is_kept = not response.will_close and connection.sock is not None
            return answer
        except Exception as error:
            raise self._failure(error, limit) from error
        finally:
            if is_kept:
                self._keep(connection)
            else:
                connection.close()

    def _send(self, connection: _Connection, method: str, path: str, body: Body, headers: Mapping[str, str]) -> None:
        is_chunked = body is not None and not isinstance(body, bytes)
        every = {"Accept-Encoding": "identity", **self.address.headers, **headers}
        if is_chunked:
            every["Transfer-Encoding"] = "chunked"
        try:
            connection.request(method, self.address.prefix + path, body, every, encode_chunked=is_chunked)
        except http.client.CannotSendRequest as error:
            raise ConnectionResetError(str(error)) from error

    def _whole(self, response: http.client.HTTPResponse) -> Answer:
        body = response.read(MOST_ANSWER_BYTES)
        if len(body) == MOST_ANSWER_BYTES:
            raise UnexpectedAnswer(f"{self.address.origin} answers with more than {MOST_ANSWER_BYTES >> 20} MiB")
        if response.length not in (None, 0):
            raise http.client.IncompleteRead(body)
        return Answer(response.status, response.headers.get("Content-Type", ""), body)

    def _told(self, path: str, answer: Answer) -> Any:
        value = answer.value()
        if 200 <= answer.status < 300:
            return value
        refusal = refusal_of(value, answer.status)
        if refusal is not None:
            raise refusal
        raise UnexpectedAnswer(f"{self.address.origin}{path} answers {answer.status} without an error of ours")

    def _failure(self, error: Exception, limit: float) -> Exception:
        """What the platform says, as an error of this package."""
        origin = self.address.origin
        if isinstance(error, (UnexpectedAnswer, RefusedError, Unreachable, TimedOut)):
            return error
        if isinstance(error, (socket.timeout, TimeoutError)):
            return TimedOut(f"{origin} did not answer within {limit:g} s")
        if isinstance(error, ssl.SSLCertVerificationError):
            return Insecure(
                f"the certificate of {origin} is not trusted ({error.verify_message}): give its authority (ca, or WINDJAMMER_CA) if you trust it"
            )
        if isinstance(error, ssl.SSLError):
            return Insecure(f"{origin} does not speak TLS as this client does: ask http:// if it speaks none ({error.reason})")
        if isinstance(error, (http.client.RemoteDisconnected, ConnectionError, http.client.IncompleteRead)):
            return Unreachable(f"{origin}: the connection broke off or was refused ({error or type(error).__name__})")
        if isinstance(error, OSError):
            return Unreachable(f"no server answers at {origin}: {error}")
        if isinstance(error, http.client.HTTPException):
            hint = "" if self.address.is_secure else "; if it speaks TLS, ask https://"
            return UnexpectedAnswer(f"what {origin} answers is no HTTP{hint} ({type(error).__name__})")
        return error

    def _take(self, until: float, may_reuse: bool) -> _Connection:
        # One that has just been closed by the server would look like a request that was taken, or not.
        while may_reuse:
            with self._lock:
                if self._process != os.getpid():
                    # A fork has the same sockets: they are the parent's.
                    self._idle, self._process = [], os.getpid()
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                break
            if not connection.is_stale():
                connection.allow(until)
                return connection
            connection.close()
        return _Connection(self.address, until)

    def _keep(self, connection: _Connection) -> None:
        connection.idle_since = time.monotonic()
        with self._lock:
            if len(self._idle) < MOST_IDLE:
                self._idle.append(connection)
                return
        connection.close()


def checked_timeout(seconds: float) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not 0 < seconds < float("inf"):
        raise ValueError(f"a timeout is a number of seconds above 0, {seconds!r} is none")
    return float(seconds)


def json_bytes(value: Any) -> bytes:
    """Raises ValueError on what JSON has not: NaN, Infinity, values of other types."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain).encode("utf-8", "surrogatepass")
    except ValueError as error:
        if "JSON compliant" in str(error):
            raise ValueError("NaN and infinities are no JSON: send None for a missing value") from error
        raise
    except TypeError as error:
        raise ValueError(str(error)) from error


def _plain(value: Any) -> Any:
    """Arrays and numbers of numpy, and others that know themselves as lists."""
    for name in ("tolist", "item"):
        convert = getattr(value, name, None)
        if callable(convert):
            return convert()
    if isinstance(value, (tuple, range)):
        return list(value)
    raise TypeError(f"a {type(value).__name__} cannot be sent as JSON")
