"""What a confined process and the keeper of its containers tell each other: JSON and files.

A message is the length of its header (4 bytes, big-endian), the header as JSON, and the bytes of the
files that its key ``files`` lists as ``[name, size]``.
"""

import json
import os
import socket
import stat
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from easeml.errors import EasemlError

_LENGTH = struct.Struct("!I")
_LARGEST_HEADER = 32 * 2**20
_CHUNK = 2**20
DEEPEST = 8  # parts of a file's name: its folders and its own

Message = dict[str, Any]


def send(connection: socket.socket, header: Message, folder: Path, names: Iterable[str]) -> None:
    """Send a message with files of ``folder``."""
    listed = [(name, (folder / name).lstat().st_size) for name in names]
    packed = json.dumps({**header, "files": listed}).encode()
    connection.sendall(_LENGTH.pack(len(packed)) + packed)
    for name, size in listed:
        descriptor = _open_plain(folder / name)
        try:
            _send_file(connection, descriptor, size)
        finally:
            os.close(descriptor)


def tell(connection: socket.socket, header: Message) -> None:
    """Send a message without files."""
    send(connection, header, Path(), ())


def receive(connection: socket.socket, folder: Path) -> Message:
    """Return the next message; its files are written below ``folder``.

    Raises ``EOFError`` when the other end has gone, ``EasemlError`` for names that lead elsewhere.
    """
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if length > _LARGEST_HEADER:
        raise EasemlError("A message about a container is too long.")
    header: Message = json.loads(_exactly(connection, length))
    for name, size in header["files"]:
        _receive_file(connection, _inside(folder, name), int(size))
    return header


def _open_plain(path: Path) -> int:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise EasemlError("This is not a file.", where=path.name)
    return descriptor


def _send_file(connection: socket.socket, descriptor: int, size: int) -> None:
    left = size
    while left:
        chunk = os.read(descriptor, min(_CHUNK, left))
        if not chunk:
            raise EasemlError("A file was cut while it was sent.")
        connection.sendall(chunk)
        left -= len(chunk)


def _inside(folder: Path, name: str) -> Path:
    parts = name.split("/")
    is_plain = len(parts) <= DEEPEST and not {"", ".", ".."} & set(parts) and "\0" not in name
    if not is_plain:
        raise EasemlError("A message about a container names a file elsewhere.")
    return folder / name


def _receive_file(connection: socket.socket, path: Path, size: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # a checkpoint is sent again and again
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    mode = 0o755 if path.parent.name == "module" else 0o644
    descriptor = os.open(path, flags, mode)
    with os.fdopen(descriptor, "wb") as file:
        left = size
        while left:
            chunk = connection.recv(min(_CHUNK, left))
            if not chunk:
                raise EOFError
            file.write(chunk)
            left -= len(chunk)


def _exactly(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = connection.recv(size - len(found))
        if not part:
            raise EOFError
        found += part
    return found
