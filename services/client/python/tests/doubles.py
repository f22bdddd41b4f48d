"""Servers that are none of ours, or do what no server should."""

import json
import socket
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


class Double:
    """
    Answers each request with the next of `answers`, the last one ever after: bytes, or a function of the connection that does as it likes.
    `requests` has what came: head and body, a pair each.
    """

    def __init__(self, *answers, keeps=True):
        self._answers = list(answers)
        self._keeps = keeps
        self.requests = []
        self.connections = 0
        self._sockets = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

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

    def bodies(self):
        return [json.loads(body) for _head, body in self.requests]

    def _accept(self):
        while True:
            try:
                connection, _address = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._sockets.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

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
