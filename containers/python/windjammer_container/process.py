"""The user's end of a line to a server: loads the model, says hello, answers one batch after the other."""

import json
import os
import socket
import sys
import time
from collections import deque

from . import frames
from .answers import Answers
from .model import Model, ModelError
from .outputs import failed, message_of

# One end of a socket pair: frames.
LINE_FD = 3
# To whoever has started this process: what the model has read is compared once more with what was registered.
KEEPER_FD = 4
# One batch computes while the next one is on its way.
CREDITS = 2
PIECE_BYTES = 1 << 20
# While a batch is asked in parts: who still waits is looked up as often as that.
POLL_NS = 1e6


class LineClosed(Exception):
    """The server has closed the line, or is gone."""


class Line:
    def __init__(self):
        self._socket = socket.socket(fileno=LINE_FD)
        self._socket.setblocking(True)
        os.set_inheritable(LINE_FD, False)
        self._reader = frames.FrameReader(self._on_frame)
        # Batches that were not begun, and what was cancelled of the others.
        self.batches = deque()
        self._cancelled = {}
        self._polled_ns = 0
        # A child of a model is no second model: it must not answer.
        os.register_at_fork(after_in_child=self._socket.close)

    def send(self, frame):
        try:
            self._socket.sendall(frame)
        except OSError as error:
            raise LineClosed() from error

    def receive(self):
        """Waits for a piece. Raises LineClosed."""
        self._take(0)

    def poll(self):
        """Takes what is there. Raises LineClosed."""
        self._polled_ns = time.perf_counter_ns()
        try:
            while True:
                self._take(socket.MSG_DONTWAIT)
        except BlockingIOError:
            return

    def begin(self):
        """The next batch."""
        return self.batches.popleft()

    def done(self, batch):
        self._cancelled.pop(batch.batch_id, None)

    def is_cancelled(self, batch, item_id):
        """Looks for news now and then. Raises LineClosed."""
        now_ns = time.perf_counter_ns()
        if now_ns - self._polled_ns > POLL_NS:
            self.poll()
        return item_id in self._cancelled.get(batch.batch_id, ())

    def _take(self, flags):
        try:
            piece = self._socket.recv(PIECE_BYTES, flags)
        except BlockingIOError:
            raise
        except OSError as error:
            raise LineClosed() from error
        if not piece:
            raise LineClosed()
        self._reader.push(piece)

    def _on_frame(self, frame):
        if isinstance(frame, frames.Predict):
            self.batches.append(frame)
            self._cancelled[frame.batch_id] = set()
        elif frame.batch_id in self._cancelled:
            self._cancelled[frame.batch_id].update(frame.ids)


def main(argument):
    start = json.loads(argument)
    # What is printed is seen when it is printed.
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    os.set_inheritable(KEEPER_FD, False)
    pid = os.getpid()
    line = Line()
    model = None
    try:
        model = Model(start["path"], start.get("inputType"))
        change = _ask_keeper()
        if change is not None:
            raise ModelError(change)
        line.send(
            frames.hello(
                start["model"],
                start["version"],
                start["replica"],
                model.input_type,
                model.input_length,
                model.max_batch_size,
                CREDITS,
            )
        )
        _serve(line, Answers(model), pid)
    except ModelError as error:
        line.send(frames.down(str(error)))
    except LineClosed:
        if os.getpid() != pid:
            os._exit(0)
        if model is not None:
            model.close()


def _serve(line, answers, pid):
    while True:
        if line.batches:
            line.poll()
        else:
            line.receive()
            continue
        batch = line.begin()
        started_ns = time.perf_counter_ns()

        def is_cancelled(item_id, batch=batch):
            return line.is_cancelled(batch, item_id)

        results, calls = answers.answer(batch.items, batch.is_suspect, is_cancelled)
        if os.getpid() != pid:
            # The model has forked, and this is the child.
            os._exit(0)
        service_ns = time.perf_counter_ns() - started_ns
        try:
            frame = frames.result(batch.batch_id, service_ns, calls, results)
        except frames.ProtocolError as error:
            message = message_of(error)
            frame = frames.result(batch.batch_id, service_ns, None, [failed(one.id, message) for one in batch.items])
        line.send(frame)
        line.done(batch)
        answers.tell_raised()


def _ask_keeper():
    """What has changed of the module's files since they were registered; None when nothing has."""
    with socket.socket(fileno=KEEPER_FD) as keeper:
        keeper.sendall(b"loaded\n")
        answer = b""
        while not answer.endswith(b"\n"):
            piece = keeper.recv(4096)
            if not piece:
                raise LineClosed()
            answer += piece
    return json.loads(answer)
