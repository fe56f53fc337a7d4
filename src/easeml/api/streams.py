"""A request's body as the chunks that a use case takes in a thread."""

from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

from anyio import from_thread
from fastapi import Query, Request

from easeml.service.storage.uploads import Source


def binary(content_type: str) -> dict[str, Any]:
    """Return what the OpenAPI document says of a route whose body is bytes."""
    schema = {"schema": {"type": "string", "format": "binary"}}
    return {"requestBody": {"required": True, "content": {content_type: schema}}}


BODY = binary("application/octet-stream")
FromUpload = Annotated[
    str | None, Query(max_length=100, description="id of a whole upload, instead of a body")
]
WhichTable = Annotated[
    int | None, Query(ge=0, description="which of several in the file; 0: the text of a document")
]


def source(request: Request, upload: str | None) -> Source:
    """Return where the bytes of a file come from: the upload that is named, or else this request's
    body.
    """
    return upload or chunks(request)


def chunks(request: Request) -> Iterator[bytes]:
    """Give a thread the chunks of a body as it asks for them: never more than one is held."""
    stream = request.stream()
    while chunk := from_thread.run(_next, stream):
        yield chunk


async def _next(stream: AsyncIterator[bytes]) -> bytes:
    """Return the next chunk, empty at the end."""
    return await anext(stream, b"")
