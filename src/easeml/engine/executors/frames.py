"""Messages between a worker and a node, through the two pipes of a program that runs there."""

import struct
from typing import IO

_HEAD = struct.Struct(">4sQ")


def send(pipe: IO[bytes], kind: str, content: bytes = b"") -> None:
    """Write a message whose ``kind`` has at most four letters, to a pipe without a buffer."""
    rest = memoryview(_HEAD.pack(kind.encode().ljust(4), len(content)) + content)
    while rest:
        rest = rest[pipe.write(rest) :]


def receive(pipe: IO[bytes]) -> tuple[str, bytes]:
    """Read a message: its kind and its content. Raises ``EOFError`` where the pipe has ended."""
    kind, size = _HEAD.unpack(_exactly(pipe, _HEAD.size))
    return kind.decode().rstrip(), _exactly(pipe, size)


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    content = bytearray()
    while len(content) < size:
        piece = pipe.read(size - len(content))
        if not piece:
            raise EOFError("The other end of the pipe is gone.")
        content += piece
    return bytes(content)
