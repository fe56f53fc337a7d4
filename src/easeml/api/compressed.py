"""Bodies that came compressed, as clients of the Open Inference Protocol may send them."""

import zlib

from starlette.exceptions import HTTPException
from starlette.requests import Request

from easeml.errors import InvalidInput

_EITHER = 32 + zlib.MAX_WBITS  # zlib's header or gzip's, whichever is there
_CODINGS = ("gzip", "deflate")


async def whole_body(request: Request, limit: int) -> bytes:
    """Return the body of a request, unpacked where its ``Content-Encoding`` says gzip or deflate.

    ``limit``: most bytes of what is unpacked; beyond it the rest is not looked at. Raises
    ``InvalidInput`` for another coding and damaged bytes, ``HTTPException`` (413) for too many.
    """
    body = await request.body()
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding in ("identity", ""):
        return body
    if coding not in _CODINGS:
        known = f"Send it as it is, or by {' or '.join(_CODINGS)}."
        raise InvalidInput(
            f"A body cannot be unpacked by {coding[:50]!r}.", where="body", remedy=known
        )
    unpacking = zlib.decompressobj(_EITHER)
    try:
        unpacked = unpacking.decompress(body, limit + 1)
    except zlib.error as error:
        raise InvalidInput(f"The body is not valid {coding}: {error}", where="body") from error
    if len(unpacked) > limit:
        raise HTTPException(413, f"The unpacked body has more than {limit} bytes.")
    if not unpacking.eof:
        raise InvalidInput(f"The {coding} ends too early.", where="body")
    return unpacked
