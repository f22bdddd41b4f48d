"""WebSocket's wire for a client (RFC 6455): handshake, frames, messages. Nothing here reads or writes sockets."""

from __future__ import annotations

import base64
import hashlib
import os
import struct
from typing import Iterator, List, Mapping, Optional, Tuple

from .errors import UnexpectedAnswer

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
_CONTINUATION = 0
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_MOST_HEAD_BYTES = 65536
_MOST_CONTROL_BYTES = 125
#: Of a message that a server may send, in however many fragments.
MOST_MESSAGE_BYTES = 64 * 1024 * 1024
_MOST_FRAGMENTS = 65536


class Violation(UnexpectedAnswer):
    """What came is no WebSocket as the RFC has it. `close_code` is what the other side is to be told."""

    def __init__(self, message: str, close_code: int = 1002):
        super().__init__(message)
        self.close_code = close_code


class Handshake:
    """Asks for a WebSocket, and reads what is answered."""

    def __init__(self, host: str, path: str, headers: Mapping[str, str]):
        key = base64.b64encode(os.urandom(16))
        lines = [
            f"GET {path} HTTP/1.1",
            f"Host: {host}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key.decode()}",
            "Sec-WebSocket-Version: 13",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        self.request = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
        self._accept = base64.b64encode(hashlib.sha1(key + _GUID).digest()).decode()
        self._read = b""

    def feed(self, data: bytes) -> Optional[Tuple[int, Mapping[str, str], bytes]]:
        """Status, headers in lower case, and what came behind the head, once all of it is there. Raises Violation on what is no HTTP."""
        self._read += data
        end = self._read.find(b"\r\n\r\n")
        if end < 0:
            if len(self._read) > _MOST_HEAD_BYTES:
                raise Violation("what answers is no HTTP: its head does not end")
            if not b"HTTP/1.1 ".startswith(self._read[:9]):
                raise Violation("what answers is no HTTP/1.1")
            return None
        first, *lines = self._read[:end].decode("latin-1").split("\r\n")
        words = first.split(" ", 2)
        if words[0] != "HTTP/1.1" or len(words) < 2 or not (len(words[1]) == 3 and words[1].isdigit()):
            raise Violation(f"what answers is no HTTP/1.1: {first[:80]!r}")
        headers: dict = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon:
                raise Violation(f"what answers is no HTTP/1.1: {line[:80]!r}")
            headers[name.strip().lower()] = value.strip()
        return int(words[1]), headers, self._read[end + 4 :]

    def check(self, headers: Mapping[str, str]) -> None:
        """Of an answer 101: whether it takes what was asked for. Raises Violation."""
        if headers.get("upgrade", "").lower() != "websocket":
            raise Violation("the server switches to something else than WebSocket")
        if "upgrade" not in [one.strip().lower() for one in headers.get("connection", "").split(",")]:
            raise Violation("the server does not say that the connection is upgraded")
        if headers.get("sec-websocket-accept") != self._accept:
            raise Violation("the server has not understood the handshake: Sec-WebSocket-Accept is another one")
        for name in ("sec-websocket-extensions", "sec-websocket-protocol"):
            if headers.get(name):
                raise Violation(f"the server chose {headers[name]!r}, which nobody asked for ({name})")


def frame(opcode: int, payload: bytes) -> bytes:
    """A whole message, or a control frame, masked as every client's."""
    size = len(payload)
    if size < 126:
        head = struct.pack("!BB", 0x80 | opcode, 0x80 | size)
    elif size < 65536:
        head = struct.pack("!BBH", 0x80 | opcode, 0x80 | 126, size)
    else:
        head = struct.pack("!BBQ", 0x80 | opcode, 0x80 | 127, size)
    mask = os.urandom(4)
    return head + mask + masked(mask, payload)


def masked(mask: bytes, payload: bytes) -> bytes:
    """As one large number: byte by byte is a hundred times slower."""
    size = len(payload)
    whole = (mask * (size // 4 + 1))[:size]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(whole, "big")).to_bytes(size, "big")


def close_payload(code: int, reason: str = "") -> bytes:
    return struct.pack("!H", code) + reason.encode("utf-8")[: _MOST_CONTROL_BYTES - 2]


def close_reason(payload: bytes) -> Tuple[int, str]:
    """Code and reason of a close frame; 1005 where it has none. Raises Violation."""
    if not payload:
        return 1005, ""
    if len(payload) == 1:
        raise Violation("a close frame of one byte")
    code = struct.unpack("!H", payload[:2])[0]
    if not (1000 <= code <= 1014 and code not in (1004, 1005, 1006)) and not 3000 <= code <= 4999:
        raise Violation(f"a connection is not closed with {code}")
    return code, _text(payload[2:])


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Violation("a text is not UTF-8", 1007) from error


class Messages:
    """Messages and control frames of a server, from its bytes."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._parts: List[bytes] = []
        self._size = 0
        #: Of the message whose fragments come; None between messages.
        self._opcode: Optional[int] = None

    def feed(self, data: bytes) -> Iterator[Tuple[int, bytes]]:
        """Opcode and payload of what has become whole. Raises Violation."""
        self._bytes += data
        while True:
            found = self._frame()
            if found is None:
                return
            is_final, opcode, payload = found
            if opcode >= CLOSE:
                yield opcode, payload
                continue
            if (opcode == _CONTINUATION) != (self._opcode is not None):
                raise Violation("a fragment that belongs to no message, or a message amid another's fragments")
            if opcode != _CONTINUATION:
                self._opcode = opcode
            self._parts.append(payload)
            self._size += len(payload)
            if self._size > MOST_MESSAGE_BYTES or len(self._parts) > _MOST_FRAGMENTS:
                raise Violation("a message is larger than any answer", 1009)
            if is_final:
                whole, kind = b"".join(self._parts), self._opcode
                self._parts, self._size, self._opcode = [], 0, None
                yield kind, whole

    def _frame(self) -> Optional[Tuple[bool, int, bytes]]:
        held = self._bytes
        if len(held) < 2:
            return None
        first, second = held[0], held[1]
        opcode, size = first & 15, second & 127
        if first & 0x70 or opcode not in (_CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG):
            raise Violation(f"a frame that begins with {first:#04x}, which nobody agreed on")
        if second & 0x80:
            raise Violation("a masked frame: a server's are plain")
        if opcode >= CLOSE and (not first & 0x80 or size > _MOST_CONTROL_BYTES):
            raise Violation("a control frame in fragments, or of more than 125 bytes")
        at = 2
        if size >= 126:
            wide, form, least = (2, "!H", 126) if size == 126 else (8, "!Q", 65536)
            if len(held) < 2 + wide:
                return None
            at = 2 + wide
            size = struct.unpack(form, held[2:at])[0]
            if size < least:
                raise Violation("the length of a frame is longer than it must be")
            # Before its bytes are waited for.
            if size > MOST_MESSAGE_BYTES:
                raise Violation("a message is larger than any answer", 1009)
        if len(held) < at + size:
            return None
        payload = bytes(held[at : at + size])
        del held[: at + size]
        return bool(first & 0x80), opcode, payload


def text_of(payload: bytes) -> str:
    return _text(payload)
