"""Fetching from the web, without opening a door to what lies behind it.

Each redirect is a new address with the same checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urljoin

import httpcore

from easeml.errors import InvalidInput, NotAllowed, Unreachable
from easeml.fetching.guard import Guarded
from easeml.fetching.origin import Origin, read_origin

_REDIRECTS = 5
_SECONDS = 20.0  # without a byte
_MOVED = (301, 302, 303, 307, 308)
_ENDINGS = {
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/json": ".json",
    "application/x-ndjson": ".jsonl",
    "application/jsonl": ".jsonl",
    "application/vnd.apache.parquet": ".parquet",
    "application/zip": ".zip",
}


class Answered:
    """A file of the web that begins to come. ``ending``: what its type is called, if that is known."""

    def __init__(self, response: httpcore.Response):
        self._response = response
        headers = _headers(response)
        self.etag = headers.get(b"etag", "")[:200]
        kind = headers.get(b"content-type", "").partition(";")[0].strip().lower()
        self.ending = _ENDINGS.get(kind, "")
        length = headers.get(b"content-length", "")
        self.length = int(length) if length.isdigit() else None
        self.encoding = headers.get(b"content-encoding", "identity").strip().lower()

    def chunks(self) -> Iterator[bytes]:
        """Give the bytes as they come."""
        yield from self._response.iter_stream()


def _headers(response: httpcore.Response) -> dict[bytes, str]:
    return {name.lower(): value.decode("latin-1") for name, value in response.headers}


@contextmanager
def opened(origin: Origin, trusted: frozenset[str], seconds: float) -> Iterator[Answered]:
    """Ask for ``origin``, go where it redirects, and give what answers.

    ``trusted``: names of hosts that may have addresses of the provider's own network. ``seconds``:
    how long one answer may take. Raises
    ``NotAllowed`` for an address that is not of the Internet, ``Unreachable`` for what does not
    answer or answers that there is nothing.
    """
    with httpcore.ConnectionPool(network_backend=Guarded(trusted, seconds), retries=0) as pool:
        for _ in range(_REDIRECTS + 1):
            with _asked(pool, origin) as response:
                if response.status not in _MOVED:
                    _check_answer(response, origin)
                    yield Answered(response)
                    return
                origin = _next(response, origin)
    raise Unreachable(
        f"It redirects more than {_REDIRECTS} times.",
        where=origin.address,
        remedy="Name the address where the file lies.",
    )


@contextmanager
def _asked(pool: httpcore.ConnectionPool, origin: Origin) -> Iterator[httpcore.Response]:
    timeouts = dict.fromkeys(("connect", "read", "write", "pool"), _SECONDS)
    # A file that is packed on the way could be a thousand times as long as what is counted.
    headers = [("accept-encoding", "identity"), ("user-agent", "easeml")]
    try:
        with pool.stream(
            "GET", origin.address, headers=headers, extensions={"timeout": timeouts}
        ) as response:
            yield response
    except (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError) as error:
        why = str(error) or type(error).__name__
        raise Unreachable(
            f"It does not answer as the web does: {why}.",
            where=origin.address,
            remedy="Try the address in a browser.",
        ) from error
    except httpcore.UnsupportedProtocol as error:
        raise InvalidInput("It is not a web address.", where=origin.address) from error


def _check_answer(response: httpcore.Response, origin: Origin) -> None:
    if response.status != 200:
        raise Unreachable(
            f"It answers {response.status} instead of a file.",
            where=origin.address,
            remedy="Try the address in a browser that is not signed in.",
        )


def _next(response: httpcore.Response, origin: Origin) -> Origin:
    """Where a redirect leads; it is read as strictly as what a person writes."""
    target = urljoin(origin.address, _headers(response).get(b"location", ""))
    following = read_origin(target, is_kept=False)
    if not following.is_web:
        raise NotAllowed("It redirects to what is not of the web.", where=origin.address)
    if origin.parts.scheme == "https" and following.parts.scheme != "https":
        raise NotAllowed("It redirects from https to http.", where=origin.address)
    return following
