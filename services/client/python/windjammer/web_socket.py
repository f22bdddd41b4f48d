"""Many predictions and feedbacks under way on one WebSocket (docs/reference/websocket.md)."""

from __future__ import annotations

import heapq
import itertools
import json
import os
import random
import selectors
import socket
import ssl
import threading
import time
from collections import deque
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as FutureTimeout
from typing import TYPE_CHECKING, Any, Callable, Deque, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from . import _frames
from ._http import DEFAULT_TIMEOUT, FIRST_PAUSE, MOST_TRIES, PASSING, Address, checked_timeout, json_bytes
from ._values import (
    FeedbackResult,
    Input,
    Prediction,
    features_json,
    feedback_fields,
    feedback_of,
    input_json,
    prediction_of,
    query_fields,
)
from .errors import Insecure, RefusedError, TimedOut, UnexpectedAnswer, Unreachable, WindjammerError, refusal_of

if TYPE_CHECKING:
    PredictionFuture = Future[Prediction]
    FeedbackFuture = Future[FeedbackResult]

#: What a server takes of one connection, without an answer.
SERVER_IN_FLIGHT = 1024
_CONNECT_SECONDS = 10.0
_LONGEST_PAUSE = 5.0
# A server pings every 30 s: one of which nothing comes for so long is gone.
_SILENCE_SECONDS = 75.0
_GOODBYE_SECONDS = 2.0
_PIECE = 262144
_MOST_REFUSAL_BYTES = 1 << 20
_TOO_LARGE = 1009
# Codes with which a server closes that say that the same messages on another connection may do: it drains, has no room now, or broke.
_PASSING_CLOSES = frozenset([1000, 1001, 1005, 1006, 1011, 1012, 1013])


class _Call:
    """One message until its answer."""

    def __init__(self, message: Mapping[str, Any], read: Callable[[Any], Any], limit: float):
        self.text = json_bytes(message)[1:]
        self.is_query = message["type"] == "predict"
        self.read = read
        self.limit = limit
        self.until = time.monotonic() + limit
        self.tries = 0
        self.id: Optional[int] = None
        self.future: Future = Future()

    def bytes_with(self, number: int) -> bytes:
        return b'{"id":%d,%s' % (number, self.text)

    def fail(self, error: BaseException) -> None:
        _settle(self.future, lambda: self.future.set_exception(error))


def _settle(future: Future, settle: Callable[[], None]) -> None:
    try:
        settle()
    except InvalidStateError:
        # Its caller has cancelled it.
        pass


class WebSocket:
    """
    Predictions and feedback over one connection, which carries up to `max_in_flight` messages at once; more wait for their turn. Threads
    may share it. The connection is opened with the first call and again when it is lost: what was under way is then asked again, up to
    twice and within its time, which changes nothing (feedback has a key, by which it is learned from once).

    Calls raise WindjammerError (errors.py), and ValueError on arguments that no server would take.
    """

    def __init__(self, address: Address, timeout: float = DEFAULT_TIMEOUT, max_in_flight: int = SERVER_IN_FLIGHT):
        if isinstance(max_in_flight, bool) or not isinstance(max_in_flight, int) or max_in_flight < 1:
            raise ValueError(f"max_in_flight is a whole number above 0, {max_in_flight!r} is none")
        self.timeout = checked_timeout(timeout)
        self._address = address
        self._max_in_flight = max_in_flight
        self._lock = threading.Lock()
        self._loop: Optional[_Loop] = None
        self._is_closed = False

    def __enter__(self) -> "WebSocket":
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def predict(self, application: str, input: Input, *, timeout: Optional[float] = None, **query: Any) -> Prediction:
        """As Client.predict, without `votes`. What else it takes, predict_later names."""
        return self._result(self.predict_later(application, input, timeout=timeout, **query), timeout)

    def predict_later(
        self,
        application: str,
        input: Input,
        *,
        context: Union[str, int, None] = None,
        version: Optional[str] = None,
        latency_slo_micros: Optional[int] = None,
        deadline_ms: Optional[float] = None,
        strict: Optional[bool] = None,
        priority: Optional[int] = None,
        launch_class: Optional[str] = None,
        features: Optional[Mapping[str, float]] = None,
        timeout: Optional[float] = None,
    ) -> "PredictionFuture":
        """
        The same without waiting: `result()` of what is returned has the prediction, or raises. `cancel()` withdraws the query where it is
        still under way. It fails with TimedOut once its time is over, whether anybody waits for it or not.
        """
        if deadline_ms is not None:
            # A message arrives whole: the deadline is an objective like the other.
            own = _micros(deadline_ms)
            latency_slo_micros = own if latency_slo_micros is None else min(own, latency_slo_micros)
        fields = query_fields(context, version, latency_slo_micros, strict, priority, launch_class, features_json(features))
        message = {"type": "predict", "application": _name(application), "input": input_json(input), **fields}
        return self._call(message, prediction_of, timeout)

    def feedback(self, application: str, label: Any = None, *, timeout: Optional[float] = None, **what: Any) -> FeedbackResult:
        """As Client.feedback."""
        return self._result(self.feedback_later(application, label, timeout=timeout, **what), timeout)

    def feedback_later(
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
    ) -> "FeedbackFuture":
        """The same without waiting. Feedback that is under way cannot be withdrawn."""
        fields = feedback_fields(label, query_id, input, loss, reward, losses, features, idempotency_key, context)
        return self._call({"type": "feedback", "application": _name(application), **fields}, feedback_of, timeout)

    def close(self) -> None:
        """Ends the connection; calls under way fail with Unreachable."""
        with self._lock:
            self._is_closed = True
            loop, self._loop = self._loop, None
        if loop is not None:
            loop.end()

    def _call(self, message: Mapping[str, Any], read: Callable[[Any], Any], timeout: Optional[float]) -> Future:
        call = _Call(message, read, self.timeout if timeout is None else checked_timeout(timeout))
        with self._lock:
            if self._is_closed:
                raise ValueError("the WebSocket is closed")
            if self._loop is None or not self._loop.is_there:
                self._loop = _Loop(self._address, self._max_in_flight)
            self._loop.take(call)
        return call.future

    def _result(self, future: Future, timeout: Optional[float]) -> Any:
        limit = self.timeout if timeout is None else timeout
        try:
            return future.result(limit)
        except FutureTimeout as error:
            # The thread may be busy with connecting, and tells it later.
            future.cancel()
            raise _timed_out(self._address, limit) from error


class _Loop:
    """One thread that has the connection, and knows what is under way on it."""

    def __init__(self, address: Address, max_in_flight: int):
        self._process = os.getpid()
        self._address = address
        self._max_in_flight = max_in_flight
        self._lock = threading.Lock()
        #: Guarded by the lock: what callers have brought, and what they want no more.
        self._brought: Deque[_Call] = deque()
        self._withdrawn: Deque[_Call] = deque()
        self._is_ending = False
        self._is_woken = False
        #: To be sent, in order; those that rest before another try, by when that is; and all by when their time is over.
        self._waiting: Deque[_Call] = deque()
        self._resting: List[Tuple[float, int, _Call]] = []
        self._expiries: List[Tuple[float, int, _Call]] = []
        #: Sent, by id.
        self._pending: Dict[int, _Call] = {}
        self._next_id = 0
        self._order = itertools.count()
        self._failures = 0
        self._dial_at = 0.0
        self._wire: Optional[_Wire] = None
        self._selector = selectors.DefaultSelector()
        self._bell, self._ringer = socket.socketpair()
        for one in (self._bell, self._ringer):
            one.setblocking(False)
        self._selector.register(self._bell, selectors.EVENT_READ)
        self._thread = threading.Thread(target=self._run, name="windjammer-websocket", daemon=True)
        self._thread.start()

    @property
    def is_there(self) -> bool:
        """A fork has the same sockets, which are the parent's, and no thread."""
        return self._process == os.getpid() and self._thread.is_alive()

    def take(self, call: _Call) -> None:
        call.future.add_done_callback(lambda future: self._withdraw(call) if future.cancelled() else None)
        with self._lock:
            self._brought.append(call)
        self._ring()

    def end(self) -> None:
        with self._lock:
            self._is_ending = True
        self._ring()
        if threading.current_thread() is not self._thread:
            self._thread.join(_GOODBYE_SECONDS + 1)

    def _withdraw(self, call: _Call) -> None:
        with self._lock:
            self._withdrawn.append(call)
        self._ring()

    def _ring(self) -> None:
        with self._lock:
            if self._is_woken:
                return
            self._is_woken = True
        try:
            self._ringer.send(b"!")
        except OSError:
            # It has ended.
            pass

    def _run(self) -> None:
        try:
            while self._collect():
                self._expire()
                self._connect()
                self._send_waiting()
                self._exchange()
        finally:
            self._fail_all(Unreachable(f"{self._address.origin}: the WebSocket was closed"))
            self._goodbye()
            for one in (self._bell, self._ringer):
                one.close()
            self._selector.close()

    def _collect(self) -> bool:
        """Takes over what callers have brought. False: it is to end."""
        with self._lock:
            brought, self._brought = self._brought, deque()
            withdrawn, self._withdrawn = self._withdrawn, deque()
            is_ending = self._is_ending
        for call in brought:
            self._waiting.append(call)
            heapq.heappush(self._expiries, (call.until, next(self._order), call))
        for call in withdrawn:
            self._leave(call)
        return not is_ending

    def _expire(self) -> None:
        now = time.monotonic()
        while self._expiries and self._expiries[0][0] <= now:
            call = heapq.heappop(self._expiries)[2]
            if not call.future.done():
                self._leave(call)
                call.fail(_timed_out(self._address, call.limit))
        # Most were answered long before their time: those are not kept until then.
        if len(self._expiries) > 4 * (len(self._pending) + len(self._waiting) + len(self._resting)) + 1024:
            self._expiries = [one for one in self._expiries if not one[2].future.done()]
            heapq.heapify(self._expiries)
        while self._resting and self._resting[0][0] <= now:
            self._waiting.append(heapq.heappop(self._resting)[2])

    def _leave(self, call: _Call) -> None:
        """Nobody wants its answer any more. One that is not sent yet is passed over when its turn comes."""
        if call.id is None or self._pending.get(call.id) is not call:
            return
        del self._pending[call.id]
        if self._wire is not None and call.is_query:
            self._wire.write(_frames.TEXT, b'{"type":"cancel","id":%d}' % call.id)

    def _connect(self) -> None:
        if self._wire is not None:
            return
        self._waiting = deque(call for call in self._waiting if not call.future.done())
        now = time.monotonic()
        if not self._waiting or now < self._dial_at:
            return
        until = max(call.until for call in self._waiting)
        try:
            self._wire = _Wire(self._address, min(until, now + _CONNECT_SECONDS))
            self._failures = 0
            self._selector.register(self._wire.sock, selectors.EVENT_READ)
        except WindjammerError as error:
            self._failures += 1
            pause = _pause(self._failures, error)
            self._dial_at = time.monotonic() + pause
            is_over = not _is_passing(error) or self._failures >= MOST_TRIES
            for call in self._waiting:
                # Whoever would wait in vain is told the reason at once.
                if is_over or self._dial_at >= call.until:
                    call.fail(error)

    def _send_waiting(self) -> None:
        wire = self._wire
        if wire is None:
            return
        while self._may_send(wire):
            call = self._waiting.popleft()
            if call.future.done():
                continue
            while self._next_id in self._pending:
                self._next_id = (self._next_id + 1) % 2**32
            call.id = self._next_id
            self._next_id = (call.id + 1) % 2**32
            self._pending[call.id] = call
            call.tries += 1
            wire.write(_frames.TEXT, call.bytes_with(call.id))

    def _may_send(self, wire: "_Wire") -> bool:
        return bool(self._waiting) and len(self._pending) < self._max_in_flight and wire.has_room

    def _exchange(self) -> None:
        """Waits for something to happen, and reads and writes what can be."""
        wire = self._wire
        try:
            if wire is not None:
                wire.flush()
                self._selector.modify(wire.sock, selectors.EVENT_READ | (selectors.EVENT_WRITE if wire.is_writing else 0))
            for key, _events in self._selector.select(self._until_next()):
                if key.fileobj is self._bell:
                    self._bell.recv(64)
                    # Behind it: who rings in between is heard by the next collection all the same.
                    with self._lock:
                        self._is_woken = False
            if wire is None:
                return
            for opcode, payload in wire.read():
                self._on_frame(wire, opcode, payload)
            if time.monotonic() - wire.heard_at > _SILENCE_SECONDS:
                raise Unreachable(f"{self._address.origin} has said nothing for {_SILENCE_SECONDS:g} s")
        except WindjammerError as error:
            self._lose(error)
        except OSError as error:
            self._lose(_failure(self._address, error))

    def _until_next(self) -> Optional[float]:
        """Seconds until something is due."""
        with self._lock:
            if self._brought or self._withdrawn or self._is_ending:
                return 0.0
        wire = self._wire
        if wire is not None and (wire.has_early or self._may_send(wire)):
            return 0.0
        due = [heap[0][0] for heap in (self._expiries, self._resting) if heap]
        if wire is not None:
            due.append(wire.heard_at + _SILENCE_SECONDS)
        elif self._waiting:
            due.append(self._dial_at)
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _on_frame(self, wire: "_Wire", opcode: int, payload: bytes) -> None:
        if opcode == _frames.PING:
            # Only the last of several must be answered: a server that takes no pongs does not fill the memory with them.
            if wire.has_room:
                wire.write(_frames.PONG, payload)
        elif opcode == _frames.CLOSE:
            code, reason = _frames.close_reason(payload)
            wire.write(_frames.CLOSE, payload[:2])
            said = f"{self._address.origin} has closed the connection with {code}" + (f": {reason}" if reason else "")
            raise _Closed(said, code)
        elif opcode != _frames.PONG:
            self._on_answer(payload)

    def _on_answer(self, payload: bytes) -> None:
        try:
            value = json.loads(_frames.text_of(payload))
        except ValueError as error:
            raise _frames.Violation(f"{self._address.origin}: an answer is no JSON", 1003) from error
        number = value.get("id") if isinstance(value, dict) else None
        if isinstance(number, bool) or not isinstance(number, int):
            raise _frames.Violation(f"{self._address.origin}: an answer without the id of a message", 1003)
        call = self._pending.pop(number, None)
        # One that was given up.
        if call is None:
            return
        if value.get("type") != "error":
            _answer(call, value)
            return
        status = value.get("status")
        refusal = refusal_of(value, status if isinstance(status, int) else 500)
        if refusal is None:
            call.fail(UnexpectedAnswer(f"{self._address.origin} refuses without an error of ours"))
        else:
            self._retry(call, refusal)

    def _lose(self, error: Exception) -> None:
        """The connection is over: what was under way is asked again on another one where that may do."""
        wire, self._wire = self._wire, None
        if wire is not None:
            self._selector.unregister(wire.sock)
            if isinstance(error, _frames.Violation):
                wire.write(_frames.CLOSE, _frames.close_payload(error.close_code))
            wire.drop()
        pending, self._pending = list(self._pending.values()), {}
        largest = max(pending, key=lambda call: len(call.text), default=None)
        for call in pending:
            # Of a message that was too large only that one is told, which may be the largest alone.
            is_anothers = isinstance(error, _Closed) and error.close_code == _TOO_LARGE and call is not largest
            self._retry(call, Unreachable(str(error)) if is_anothers else error)

    def _retry(self, call: _Call, error: Exception) -> None:
        """Lets a call rest before another try, where it has one left."""
        call.id = None
        pause = _pause(call.tries, error)
        at = time.monotonic() + pause
        if not _is_passing(error) or call.tries >= MOST_TRIES or at >= call.until:
            call.fail(error)
        else:
            heapq.heappush(self._resting, (at, next(self._order), call))

    def _fail_all(self, error: WindjammerError) -> None:
        self._collect()
        for call in [*self._pending.values(), *self._waiting, *(one[2] for one in self._resting)]:
            call.fail(error)

    def _goodbye(self) -> None:
        """Says that it ends, and waits a little for the other side to say so, too."""
        wire, self._wire = self._wire, None
        if wire is None:
            return
        until = time.monotonic() + _GOODBYE_SECONDS
        try:
            wire.write(_frames.CLOSE, _frames.close_payload(1000))
            while time.monotonic() < until:
                wire.flush()
                self._selector.modify(wire.sock, selectors.EVENT_READ | (selectors.EVENT_WRITE if wire.is_writing else 0))
                self._selector.select(until - time.monotonic())
                if any(opcode == _frames.CLOSE for opcode, _payload in wire.read()):
                    break
        except (OSError, WindjammerError):
            pass
        wire.drop()


class _Closed(Unreachable):
    """By the server, which says why."""

    def __init__(self, message: str, close_code: int):
        super().__init__(message)
        self.close_code = close_code


def _is_passing(error: Exception) -> bool:
    """Whether another try a little later may do."""
    if isinstance(error, _Closed):
        return error.close_code in _PASSING_CLOSES
    return isinstance(error, Unreachable) or (isinstance(error, RefusedError) and error.code in PASSING)


class _Wire:
    """One connection whose handshake is done, which never blocks. With TLS the records are made beside the socket, as an SSLSocket blocks."""

    def __init__(self, address: Address, until: float):
        self._messages = _frames.Messages()
        self._out = bytearray()
        self._tls: Optional[ssl.SSLObject] = None
        self._origin = address.origin
        try:
            self.sock = socket.create_connection((address.host, address.port), max(0.001, until - time.monotonic()))
        except OSError as error:
            raise Unreachable(f"no server answers at {self._origin}: {error}") from error
        try:
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if address.context is not None:
                self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
                self._tls = address.context.wrap_bio(self._incoming, self._outgoing, server_hostname=address.host)
            self._early = self._shake_hands(address, until)
            self.sock.setblocking(False)
        except BaseException as error:
            self.sock.close()
            raise _failure(address, error) from error
        self.heard_at = time.monotonic()

    @property
    def has_early(self) -> bool:
        """Frames came with the answer to the handshake."""
        return bool(self._early)

    @property
    def is_writing(self) -> bool:
        return bool(self._out)

    @property
    def has_room(self) -> bool:
        """What is not written yet is no more than a socket takes in one go or so."""
        return len(self._out) < _PIECE

    def write(self, opcode: int, payload: bytes) -> None:
        self._put(_frames.frame(opcode, payload))

    def flush(self) -> None:
        """Writes what the socket takes."""
        while self._out:
            try:
                sent = self.sock.send(self._out[:_PIECE])
            except BlockingIOError:
                return
            del self._out[:sent]

    def read(self) -> Iterator[Tuple[int, bytes]]:
        """Frames that have come, and are whole. Raises Unreachable at the end of the connection."""
        early, self._early = self._early, b""
        if early:
            yield from self._messages.feed(early)
        try:
            data = self.sock.recv(_PIECE)
        except BlockingIOError:
            return
        self.heard_at = time.monotonic()
        if not data:
            raise Unreachable(f"{self._origin}: the connection was closed without a word")
        yield from self._messages.feed(self._plain(data))

    def drop(self) -> None:
        try:
            self.flush()
        except OSError:
            pass
        self.sock.close()

    def _put(self, data: bytes) -> None:
        if self._tls is None:
            self._out += data
            return
        left = memoryview(data)
        while left:
            left = left[self._tls.write(left) :]
        self._out += self._outgoing.read()

    def _plain(self, data: bytes) -> bytes:
        if self._tls is None:
            return data
        self._incoming.write(data)
        parts = []
        while True:
            try:
                part = self._tls.read(_PIECE)
            except ssl.SSLWantReadError:
                break
            except ssl.SSLError as error:
                raise Unreachable(f"{self._origin}: the connection broke off ({error.reason})") from error
            if not part:
                break
            parts.append(part)
        self._out += self._outgoing.read()
        return b"".join(parts)

    def _shake_hands(self, address: Address, until: float) -> bytes:
        """Returns what came behind the answer. The socket waits, until the time is over."""

        def allow() -> None:
            left = until - time.monotonic()
            if left <= 0:
                raise socket.timeout("the time is over")
            self.sock.settimeout(left)

        def send() -> None:
            allow()
            self.sock.sendall(bytes(self._out))
            self._out.clear()

        def received() -> bytes:
            allow()
            data = self.sock.recv(65536)
            if not data:
                raise ConnectionResetError("the connection was closed amid the handshake")
            return data

        while self._tls is not None:
            try:
                self._tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                self._out += self._outgoing.read()
                send()
                self._incoming.write(received())
        shown = f"[{address.host}]" if ":" in address.host else address.host
        shake = _frames.Handshake(f"{shown}:{address.port}", f"{address.prefix}/ws", address.headers)
        self._put(shake.request)
        send()
        while True:
            found = shake.feed(self._plain(received()))
            if found is not None:
                break
        status, headers, rest = found
        if status == 101:
            shake.check(headers)
            return rest
        length = headers.get("content-length", "0")
        wanted = min(int(length), _MOST_REFUSAL_BYTES) if length.isdigit() else 0
        while len(rest) < wanted:
            rest += self._plain(received())
        try:
            refusal = refusal_of(json.loads(rest[:wanted]), status)
        except ValueError:
            refusal = None
        raise refusal or UnexpectedAnswer(f"{self._origin}/ws answers {status} to the handshake of a WebSocket")


def _failure(address: Address, error: BaseException) -> BaseException:
    origin = address.origin
    if isinstance(error, WindjammerError):
        return error
    if isinstance(error, ssl.SSLCertVerificationError):
        return Insecure(
            f"the certificate of {origin} is not trusted ({error.verify_message}): give its authority (ca, or WINDJAMMER_CA) if you trust it"
        )
    if isinstance(error, ssl.SSLError):
        return Insecure(f"{origin} does not speak TLS as this client does: ask http:// if it speaks none ({error.reason})")
    if isinstance(error, (socket.timeout, TimeoutError)):
        return Unreachable(f"{origin} did not answer the handshake of a WebSocket in time")
    if isinstance(error, OSError):
        return Unreachable(f"{origin}: the connection broke off or was refused ({error or type(error).__name__})")
    return error


def _answer(call: _Call, value: Any) -> None:
    try:
        result = call.read(value)
    except UnexpectedAnswer as error:
        call.fail(error)
        return
    _settle(call.future, lambda: call.future.set_result(result))


def _pause(tries: int, error: Exception) -> float:
    pause = min(_LONGEST_PAUSE, FIRST_PAUSE * 2**tries) * (0.5 + random.random())
    after = error.retry_after if isinstance(error, RefusedError) else None
    return pause if after is None else max(pause, after)


def _timed_out(address: Address, limit: float) -> TimedOut:
    return TimedOut(f"{address.origin} did not answer within {limit:g} s")


def _micros(deadline_ms: float) -> int:
    if isinstance(deadline_ms, bool) or not isinstance(deadline_ms, (int, float)) or not deadline_ms > 0:
        raise ValueError(f"deadline_ms is a number above 0, {deadline_ms!r} is none")
    return int(-(-min(deadline_ms, 86_400_000) * 1000 // 1))


def _name(application: str) -> str:
    if not isinstance(application, str) or not application:
        raise ValueError(f"application must be a name, and {application!r} is none")
    return application
