"""Frames between a server and a model's process: containers/protocol has the same in TypeScript, and says what they mean.

As bytes, little-endian: u32 length of what follows, u8 protocol version, u8 kind, the kind's fields.
"""

import struct
from collections import namedtuple

VERSION = 2
MAX_FRAME_BYTES = 64 * 1024 * 1024

HELLO, PREDICT, CANCEL, RESULT, CREDIT, PRINTED, DOWN = range(7)
INPUT_TYPES = ("integers", "bytes", "floats", "doubles", "strings")

ANSWER, SCORED_ANSWER, INVALID_INPUT, MODEL_ERROR, KERNEL_FAULT, CANCELLED, UNDECIDED = range(7)

Item = namedtuple("Item", "id budget_ns data")
Predict = namedtuple("Predict", "batch_id is_suspect items")
Cancel = namedtuple("Cancel", "batch_id ids")
# text is bytes of UTF-8; scores are bytes of f32, or None.
Result = namedtuple("Result", "id kind text scores")

_HEAD = struct.Struct("<IBB")
_U32 = struct.Struct("<I")
_F64 = struct.Struct("<d")
_ITEM = struct.Struct("<IdI")
_RESULT = struct.Struct("<IBI")


class ProtocolError(Exception):
    """The other side said what it may not; the line cannot go on."""


class FrameReader:
    """Puts frames together from the pieces that a socket gives."""

    def __init__(self, on_frame):
        self._on_frame = on_frame
        self._held = bytearray()
        self._needed = _HEAD.size

    def push(self, piece):
        held = self._held
        held += piece
        start = 0
        while len(held) - start >= self._needed:
            length, version, kind = _HEAD.unpack_from(held, start)
            if length < 2 or length > MAX_FRAME_BYTES:
                raise ProtocolError("a frame of %d bytes" % length)
            if version != VERSION:
                raise ProtocolError("a frame of protocol version %d; this side speaks version %d" % (version, VERSION))
            end = start + 4 + length
            if len(held) < end:
                self._needed = 4 + length
                break
            body = bytes(memoryview(held)[start + _HEAD.size : end])
            start = end
            self._needed = _HEAD.size
            frame = _decode(kind, body)
            if frame is not None:
                self._on_frame(frame)
        if start > 0:
            del held[:start]


def _decode(kind, body):
    try:
        if kind == PREDICT:
            return _predict(body)
        if kind == CANCEL:
            (batch_id,) = _F64.unpack_from(body)
            (count,) = _U32.unpack_from(body, 8)
            return Cancel(batch_id, struct.unpack_from("<%dI" % count, body, 12))
    except struct.error as error:
        raise ProtocolError("a frame that ends inside a field") from error
    raise ProtocolError("a frame of kind %d, which is not the server's to send" % kind)


def _predict(body):
    (batch_id,) = _F64.unpack_from(body)
    at = 8
    # traceparent
    if body[at : at + 1] == b"\1":
        at += 4 + _U32.unpack_from(body, at + 1)[0]
    at += 1
    # launch class
    at += 2 if body[at : at + 1] == b"\1" else 1
    is_suspect = body[at : at + 1] == b"\1"
    (count,) = _U32.unpack_from(body, at + 1)
    at += 5
    whole = memoryview(body)
    items = []
    for _ in range(count):
        item_id, budget_ns, length = _ITEM.unpack_from(body, at)
        at += _ITEM.size
        if at + length > len(body):
            raise ProtocolError("a frame that ends inside a field")
        items.append(Item(item_id, budget_ns, whole[at : at + length]))
        at += length
    return Predict(batch_id, is_suspect, items)


def hello(model, version, replica, input_type, input_length, max_batch_size, credits):
    body = _U32.pack(VERSION) + _text(model) + _text(version) + _text(replica)
    body += bytes([INPUT_TYPES.index(input_type)])
    body += b"\0" if input_length is None else b"\1" + _U32.pack(input_length)
    # No golden inputs.
    return _frame(HELLO, body + _U32.pack(max_batch_size) + _U32.pack(credits) + b"\0")


def result(batch_id, service_ns, calls, results):
    """Raises ProtocolError when the frame would be too long. calls: None where inputs are asked one by one."""
    body = bytearray(_F64.pack(batch_id) + _F64.pack(service_ns) + b"\0")
    body += b"\0" if calls is None else b"\1" + _U32.pack(calls)
    body += _U32.pack(len(results))
    for item_id, kind, text, scores in results:
        body += _RESULT.pack(item_id, kind, len(text))
        body += text
        if kind == SCORED_ANSWER:
            body += _U32.pack(len(scores) // 4)
            body += scores
    return _frame(RESULT, body)


def down(reason):
    return _frame(DOWN, _text(reason) + b"\0")


def _text(text):
    data = text.encode("utf-8", "replace")
    return _U32.pack(len(data)) + data


def _frame(kind, body):
    length = len(body) + 2
    if length > MAX_FRAME_BYTES:
        raise ProtocolError("a frame of %d bytes is too long for a socket" % length)
    return _HEAD.pack(length, VERSION, kind) + body
