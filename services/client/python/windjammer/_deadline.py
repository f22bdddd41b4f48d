"""Sockets whose reads and writes end at one moment, however many there are and however little each brings."""

from __future__ import annotations

import io
import socket
import time
from typing import Optional


class DeadlineSocket:
    """As a socket for http.client. `until`: of time.monotonic(); None: for ever."""

    def __init__(self, sock: socket.socket):
        self.sock = sock
        self.until: Optional[float] = None

    def makefile(self, mode: str = "rb", *_more: object) -> io.BufferedReader:
        return io.BufferedReader(_Reads(self), 65536)

    def sendall(self, data: bytes) -> None:
        self.allow_left()
        self.sock.sendall(data)

    def close(self) -> None:
        self.sock.close()

    def allow_left(self) -> None:
        """Raises TimeoutError once the time is over."""
        if self.until is None:
            self.sock.settimeout(None)
            return
        left = self.until - time.monotonic()
        if left <= 0:
            raise socket.timeout("the time is over")
        self.sock.settimeout(left)

    def __getattr__(self, name: str) -> object:
        return getattr(self.sock, name)


class _Reads(io.RawIOBase):
    def __init__(self, owner: DeadlineSocket):
        self._owner = owner

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        self._owner.allow_left()
        return self._owner.sock.recv_into(buffer)
