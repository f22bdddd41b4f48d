"""Servers that are none of ours, or do what no server should."""

import base64
import hashlib
import json
import socket
import ssl
import struct
import threading


def http(body, status="200 OK", content_type="application/json", more=""):
    data = body if isinstance(body, bytes) else body.encode()
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(data)}\r\n{more}\r\n".encode() + data
    )


def refusal(code, status, **fields):
    return http(json.dumps({"error": {"code": code, "message": "said so", **fields}}), status)


PREDICTION = json.dumps(
    {"query_id": "q", "output": 1, "default": False, "confidence": 1, "cached": False, "models": []}
)


class Listener:
    """Accepts connections until its end, and serves each in a thread of its own: `_serve` gets it, and what `_next` has for it."""

    def __init__(self, tls=None):
        self._tls = tls
        self.requests = []
        self.connections = 0
        self._sockets = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"{'http' if tls is None else 'https'}://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        self._listener.close()
        for one in self._sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            one.close()

    def _accept(self):
        while True:
            try:
                connection, _address = self._listener.accept()
                if self._tls is not None:
                    connection = self._tls.wrap_socket(connection, server_side=True)
            except ssl.SSLError:
                continue
            except OSError:
                return
            more = self._next()
            self.connections += 1
            self._sockets.append(connection)
            threading.Thread(target=self._serve, args=(connection, *more), daemon=True).start()

    def _next(self):
        return ()


class Double(Listener):
    """
    Answers each request with the next of `answers`, the last one ever after: bytes, or a function of the connection that does as it likes.
    `requests` has what came: head and body, a pair each.
    """

    def __init__(self, *answers, keeps=True):
        self._answers = list(answers)
        self._keeps = keeps
        super().__init__()

    def bodies(self):
        return [json.loads(body) for _head, body in self.requests]

    def _serve(self, connection):
        try:
            with connection.makefile("rb") as file:
                while self._one(connection, file) and self._keeps:
                    pass
            connection.shutdown(socket.SHUT_RDWR)
        except (OSError, ValueError):
            pass
        finally:
            connection.close()

    def _one(self, connection, file):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = file.readline()
            if not line:
                return False
            head += line
        text = head.decode("latin-1")
        length = next((int(one.split(":")[1]) for one in text.split("\r\n") if one.lower().startswith("content-length:")), 0)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if "transfer-encoding: chunked" in text.lower():
            # Not read: a server that refuses does not.
            body = b""
        else:
            body = file.read(length)
        self.requests.append((text, body))
        if callable(answer):
            answer(connection)
            return False
        connection.sendall(answer)
        return True


def server_frame(payload, opcode=1, head=None):
    """As a server sends it, unmasked; `head`: in place of its first byte."""
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    first = 0x80 | opcode if head is None else head
    if len(data) < 126:
        return bytes([first, len(data)]) + data
    return bytes([first, 126]) + struct.pack("!H", len(data)) + data if len(data) < 65536 else bytes([first, 127]) + struct.pack("!Q", len(data)) + data


class Peer(Listener):
    """
    Speaks WebSocket as its scripts say: one for each connection, the last one ever after. A script gets the other end once hands are shaken;
    `shake`: what is answered to the handshake in place of that, made of the right answer. `messages` has what came, `closes` the codes of closes.
    """

    def __init__(self, *scripts, shake=None, tls=None):
        self._scripts = list(scripts)
        self._shake = shake
        self.messages = []
        self.closes = []
        self.pongs = []
        super().__init__(tls)

    def _next(self):
        return (self._scripts.pop(0) if len(self._scripts) > 1 else self._scripts[0],)

    def _serve(self, connection, script):
        try:
            with connection.makefile("rb") as file:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    head += file.readline() or b"\r\n\r\n"
                self.requests.append(head.decode("latin-1"))
                key = next(line.split(b": ")[1] for line in head.split(b"\r\n") if line.startswith(b"Sec-WebSocket-Key"))
                accept = base64.b64encode(hashlib.sha1(key + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())
                answer = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n"
                connection.sendall(answer if self._shake is None else self._shake(answer))
                script(End(self, connection, file))
        except (OSError, ValueError, StopIteration, struct.error, IndexError):
            pass
        finally:
            connection.close()


class End:
    """The server's end of one connection."""

    def __init__(self, peer, connection, file):
        self.peer = peer
        self.connection = connection
        self._file = file

    def take(self):
        """The next message that is a query or feedback, or None at a close."""
        while True:
            first, second = self._file.read(2)
            assert second & 0x80, "a client's frames are masked"
            size = second & 127
            if size == 126:
                size = struct.unpack("!H", self._file.read(2))[0]
            elif size == 127:
                size = struct.unpack("!Q", self._file.read(8))[0]
            mask = self._file.read(4)
            payload = bytes(byte ^ mask[at % 4] for at, byte in enumerate(self._file.read(size)))
            if first == 0x88:
                self.peer.closes.append(struct.unpack("!H", payload[:2])[0])
                return None
            if first == 0x8A:
                self.peer.pongs.append(payload)
                continue
            message = json.loads(payload)
            self.peer.messages.append(message)
            if message["type"] != "cancel":
                return message

    def send(self, *values):
        self.raw(b"".join(map(server_frame, values)))

    def raw(self, data):
        self.connection.sendall(data)

    def answer(self, message, output=1):
        self.send(answer_to(message, output))

    def close(self, code, reason=""):
        self.raw(server_frame(struct.pack("!H", code) + reason.encode(), 8))
        self.take()


def answer_to(message, output=1):
    if message["type"] == "feedback":
        return {"type": "feedback", "id": message["id"], "accepted": True, "joined": "query", "durable": True}
    return {"type": "prediction", "id": message["id"], **json.loads(PREDICTION), "output": output}


def answering(end):
    """A script that answers everything with the input's first number."""
    while True:
        message = end.take()
        if message is None:
            return
        end.answer(message, message["input"][0] if "input" in message else 1)
