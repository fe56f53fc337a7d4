"""One frame: two big-endian 32-bit lengths, a JSON header, a body.

Used on loopback and between processes.
"""

import asyncio
import socket
import struct
import sys
from typing import Any

from pydantic_core import from_json, to_json

_LENGTHS = struct.Struct("!II")
_MOST = 2**30  # no header or body is larger; a stray peer cannot make us reserve more

Header = dict[str, Any]

TAKEN_BACK = 499
"""The status of a request that was taken back before its answer was begun."""

_SWITCH_SECONDS = 0.0005


def answer_before_threads() -> None:
    """Let this process's event loop wait less for its other threads, which write heartbeats: by
    default up to 5 ms.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)


def encode(header: Header, body: bytes = b"") -> bytes:
    """Return the bytes of a frame."""
    head = to_json(header)
    return b"".join((_LENGTHS.pack(len(head), len(body)), head, body))


def _lengths(packed: bytes | memoryview, most: int = _MOST) -> tuple[int, int]:
    head, body = _LENGTHS.unpack(packed)
    if head > most or body > most:
        raise ConnectionError("the peer does not speak in frames")
    return head, body


async def read_frame(reader: asyncio.StreamReader, most: int = _MOST) -> tuple[Header, bytes]:
    """Read one frame, whose header and body have at most so many bytes.

    Raises ``IncompleteReadError`` when the peer has gone, ``ConnectionError`` on nonsense.
    """
    head, body = _lengths(await reader.readexactly(_LENGTHS.size), most)
    packed = await reader.readexactly(head + body)
    return from_json(packed[:head]), packed[head:]


def take_frames(received: bytearray) -> list[tuple[Header, bytes]]:
    """Take the frames that are whole out of what was received, in their order.

    Raises ``ConnectionError`` on nonsense.
    """
    frames: list[tuple[Header, bytes]] = []
    start = 0
    with memoryview(received) as view:
        while len(view) - start >= _LENGTHS.size:
            head, body = _lengths(view[start : start + _LENGTHS.size])
            body_start = start + _LENGTHS.size + head
            end = body_start + body
            if end > len(view):
                break
            header = from_json(view[start + _LENGTHS.size : body_start].tobytes())
            frames.append((header, bytes(view[body_start:end])))
            start = end
    del received[:start]
    return frames


async def receive_frame_soon(connection: socket.socket) -> tuple[Header, bytes]:
    """Read one frame, and not a byte more, from a non-blocking socket.

    Raises ``EOFError`` when the peer has gone.
    """
    head, body = _lengths(await _receive_soon(connection, _LENGTHS.size))
    packed = await _receive_soon(connection, head + body)
    return from_json(packed[:head]), packed[head:]


async def _receive_soon(connection: socket.socket, size: int) -> bytes:
    loop, received = asyncio.get_running_loop(), b""
    while len(received) < size:
        part = await loop.sock_recv(connection, size - len(received))
        if not part:
            raise EOFError
        received += part
    return received


def receive_frame(connection: socket.socket) -> tuple[Header, bytes]:
    """Read one frame from a blocking socket. Raises ``EOFError`` when the peer has gone."""
    head, body = _lengths(_receive(connection, _LENGTHS.size))
    packed = _receive(connection, head + body)
    return from_json(packed[:head]), packed[head:]


def _receive(connection: socket.socket, size: int) -> bytes:
    buffer = bytearray(size)
    view, filled = memoryview(buffer), 0
    while filled < size:
        count = connection.recv_into(view[filled:])
        if count == 0:
            raise EOFError
        filled += count
    return bytes(buffer)
