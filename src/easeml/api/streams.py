"""A request's body as the chunks that a use case takes in a thread."""

from collections.abc import AsyncIterator, Iterator

from anyio import fail_after, from_thread
from fastapi import Request

from easeml.errors import TimedOut

_PATIENCE = 60.0  # seconds that an upload may stand still
BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


def chunks(request: Request) -> Iterator[bytes]:
    """Give a thread the chunks of a body as it asks for them: never more than one is held."""
    stream = request.stream()
    while chunk := from_thread.run(_next, stream):
        yield chunk


async def _next(stream: AsyncIterator[bytes]) -> bytes:
    """Return the next chunk, empty at the end. Raises ``TimedOut`` if none comes for long."""
    try:
        with fail_after(_PATIENCE):
            return await anext(stream, b"")
    except TimeoutError as error:
        raise TimedOut(f"No bytes came for {_PATIENCE:.0f} s.", remedy="Upload the file again.") from error
