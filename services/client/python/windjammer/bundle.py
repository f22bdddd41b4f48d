"""Files of a model, to be sent to a server that does not see them."""

from __future__ import annotations

import hashlib
import json
import os
import posixpath
from dataclasses import dataclass
from typing import Dict, Iterator, List, Mapping, Tuple, Union

PIECE = 1 << 20
MOST_BYTES = 512 * 1024 * 1024
MOST_FILES = 10_001

# What is beside a model and none of it.
IGNORED = frozenset(["__pycache__", "node_modules"])


@dataclass(frozen=True)
class Bundle:
    """Files of a model by their names in the bundle, the one that names the others first: a path each, or bytes."""

    files: Tuple[Tuple[str, Union[str, bytes]], ...]

    def __post_init__(self) -> None:
        if not self.files:
            raise ValueError("a bundle has at least one file")
        for name, _content in self.files:
            if not name or name.startswith("/") or "\\" in name or any(part in ("", ".", "..") for part in name.split("/")):
                raise ValueError(f"a file of a bundle is called {name!r}: names are paths below one folder, with slashes")
        if len(self.files) > MOST_FILES or self.size > MOST_BYTES:
            mib = -(-self.size // 2**20)
            raise ValueError(f"{len(self.files)} files of {mib} MiB; a bundle has at most {MOST_FILES} files and {MOST_BYTES >> 20} MiB")

    @property
    def size(self) -> int:
        return sum(_size(content) for _name, content in self.files)

    @property
    def content_hash(self) -> str:
        """As the server names it."""
        home = posixpath.dirname(self.files[0][0])
        digest = hashlib.sha256()
        for name, content in self.files:
            seen = posixpath.relpath(name, home) if home else name
            digest.update(f"{seen}\0{_size(content)}\0".encode())
            for piece in _pieces(content):
                digest.update(piece)
        return digest.hexdigest()

    def body(self) -> Iterator[bytes]:
        """What is sent: a line of JSON that lists the files, and their bytes behind it."""
        sizes = [(name, _size(content)) for name, content in self.files]
        yield json.dumps({"files": [{"name": name, "size": size} for name, size in sizes]}).encode() + b"\n"
        for (_name, content), (name, size) in zip(self.files, sizes):
            sent = 0
            for piece in _pieces(content):
                sent += len(piece)
                yield piece
            if sent != size:
                raise OSError(f"{name}: it changes while it is read")


def bundle_of_file(path: str, beside: Mapping[str, str] = {}) -> Bundle:
    """A module, with other files under names from its folder. Raises OSError on what cannot be read."""
    files: Dict[str, Union[str, bytes]] = {os.path.basename(path): path}
    files.update(beside)
    return Bundle(tuple(files.items()))


def bundle_of_folder(folder: str, first: str) -> Bundle:
    """All files of a folder but hidden ones and caches. first: the name of the one that names the others."""
    if not os.path.isfile(os.path.join(folder, first)):
        raise FileNotFoundError(f"{folder} has no {first}")
    found: List[Tuple[str, str]] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith(".") and one not in IGNORED)
        for name in sorted(names):
            path = os.path.join(place, name)
            shown = os.path.relpath(path, folder).replace(os.sep, "/")
            if not name.startswith(".") and shown != first and os.path.isfile(path):
                found.append((shown, path))
    return Bundle(((first, os.path.join(folder, first)), *found))


def _size(content: Union[str, bytes]) -> int:
    return len(content) if isinstance(content, bytes) else os.path.getsize(content)


def _pieces(content: Union[str, bytes]) -> Iterator[bytes]:
    if isinstance(content, bytes):
        if content:
            yield content
        return
    with open(content, "rb") as file:
        while True:
            piece = file.read(PIECE)
            if not piece:
                return
            yield piece


__all__ = ["Bundle", "bundle_of_file", "bundle_of_folder"]
