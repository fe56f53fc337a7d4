"""Messages between a worker and a node, through the two pipes of a program that runs there."""

import struct
from typing import IO

_HEAD = struct.Struct(">4sQQ")
Message = tuple[str, int, bytes]
"""Its kind, the number of the attempt that it is about, and its content."""


def send(pipe: IO[bytes], kind: str, content: bytes = b"", attempt: int = 0) -> None:
    """Write a message whose ``kind`` has at most four letters, to a pipe without a buffer.

    ``attempt``: the number of the one that it is about; 0: of none.
    """
    head = _HEAD.pack(kind.encode().ljust(4), attempt, len(content))
    rest = memoryview(head + content)
    while rest:
        rest = rest[pipe.write(rest) :]


def receive(pipe: IO[bytes]) -> Message:
    """Read a message. Raises ``EOFError`` where the pipe has ended."""
    kind, attempt, size = _HEAD.unpack(_exactly(pipe, _HEAD.size))
    return kind.decode().rstrip(), attempt, _exactly(pipe, size)


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    content = bytearray()
    while len(content) < size:
        piece = pipe.read(size - len(content))
        if not piece:
            raise EOFError("The other end of the pipe is gone.")
        content += piece
    return bytes(content)
