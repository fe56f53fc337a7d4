# Made from ../_async/transport.py by scripts/unasync.py: change that file, then run the script.
"""Requests to the service: addresses, authentication, retries, and errors as exceptions."""

import ssl
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from easeml.client.apart import note
from easeml.client.problems import error_of
from easeml.client.timing import backoff, sleep
from easeml.errors import EasemlError, InvalidInput, TimedOut, Unreachable
from easeml.folders import whole_file
from easeml.version import __version__

_TRY_AGAIN = frozenset({429, 502, 503, 504})
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
_TRUSTS_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_QUIET_SECONDS = 60.0  # a stream of events silent for this long is taken to be broken

NOTHING: Mapping[str, Any] = MappingProxyType({})

Content = bytes | Callable[[], Iterator[bytes]]


class Transport:
    """An httpx client that retries what may be repeated and raises ``easeml.errors``."""

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout: float,
        retries: int,
        transport: httpx.BaseTransport | None,
    ) -> None:
        self.url = url
        self.key = key
        self._retries = retries
        self._timeout = timeout
        address = urlsplit(url)
        loopback = address.hostname in {"127.0.0.1", "::1", "localhost"}
        plain = loopback and address.scheme == "http"
        self._http = httpx.Client(
            base_url=url,
            timeout=_timeouts(timeout),
            transport=transport,
            trust_env=not loopback,  # no proxy stands between this machine and itself
            verify=_TRUSTS_NOBODY if plain else True,  # reading whom to trust takes 15 ms
            headers={"user-agent": f"easeml/{__version__}"},
        )

    def request(
        self,
        method: str,
        path: str,
        *,
        repeatable: bool,
        params: Mapping[str, Any] = NOTHING,
        json: Any = None,
        content: Content | None = None,
        headers: Mapping[str, str] = NOTHING,
        timeout: float | None = None,
    ) -> httpx.Response:
        """Send a request and return its answer, which is always a success.

        ``timeout``: seconds to wait for the answer instead of the client's.
        A request that never left is tried again; one that may have arrived only if it is
        ``repeatable``. Raises Unreachable, TimedOut, InvalidInput for what no request can hold, or
        what the service's problem document stands for.
        """
        patience = timeout or self._timeout
        named = _told(params)
        for attempt in range(self._retries + 1):
            is_last = attempt == self._retries
            try:
                response = self._http.request(
                    method,
                    path,
                    params=named,
                    json=json,
                    content=content() if callable(content) else content,
                    headers={**self._authorization(), **headers},
                    timeout=_timeouts(patience),
                )
            except (EasemlError, httpx.TransportError) as error:
                if is_last or not _may_repeat(error, repeatable):
                    raise self._meant(error, patience) from error
                delay = backoff(attempt)
            except (httpx.InvalidURL, ValueError) as error:
                # A control character in an id, a number without end.
                raise InvalidInput(f"This cannot be sent: {error}.", where=path) from error
            else:
                note(response)
                if response.is_success:
                    return response
                may_change = repeatable and response.status_code in _TRY_AGAIN
                if is_last or not may_change:
                    raise error_of(response)
                delay = _retry_after(response) or backoff(attempt)
            sleep(delay)
        raise AssertionError("The last attempt returns or raises.")

    def lines(
        self, path: str, *, params: Mapping[str, Any], headers: Mapping[str, str]
    ) -> Iterator[str]:
        """Give the lines of a streamed answer as they come.

        Raises like ``request``, without retries.
        """
        try:
            with self._http.stream(
                "GET",
                path,
                params=params,
                headers={**self._authorization(), "accept": "text/event-stream", **headers},
                timeout=httpx.Timeout(5.0, read=_QUIET_SECONDS),
            ) as response:
                if not response.is_success:
                    response.read()
                    raise error_of(response)
                yield from response.iter_lines()
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def save(self, path: str, destination: Path, *, params: Mapping[str, Any] = NOTHING) -> None:
        """Write a streamed answer into a file, piece by piece; it is there when all has come.

        Raises like ``request``, without retries, and InvalidInput where there is no folder to
        write into.
        """
        if not destination.parent.is_dir():
            raise InvalidInput("There is no such folder.", where=str(destination.parent))
        headers = self._authorization()
        try:
            with self._http.stream("GET", path, params=_told(params), headers=headers) as response:
                if not response.is_success:
                    response.read()
                    raise error_of(response)
                with whole_file(destination) as part, part.open("wb") as file:
                    for piece in response.iter_bytes():
                        file.write(piece)
        except httpx.TransportError as error:
            raise self._unreachable(error) from error

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _authorization(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.key}"} if self.key else {}

    def _meant(self, error: EasemlError | httpx.TransportError, patience: float) -> EasemlError:
        """Return what an error means for the caller; those of the content mean what they say."""
        if isinstance(error, EasemlError):
            return error
        if isinstance(error, httpx.ReadTimeout):
            return TimedOut(
                f"The service took more than {patience:g} s to answer.",
                where=self.url,
                remedy="It may be busy. Wait longer (timeout=SECONDS), or send less at once.",
            )
        return self._unreachable(error)

    def _unreachable(self, error: httpx.TransportError) -> Unreachable:
        reason = str(error) or type(error).__name__
        return Unreachable(
            f"The easeml service does not answer: {reason}.",
            where=self.url,
            remedy="Start it with `easeml up`, or set EASEML_URL to its address.",
        )


def _told(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that are said."""
    return {name: value for name, value in params.items() if value is not None}


def _timeouts(seconds: float) -> httpx.Timeout:
    return httpx.Timeout(seconds, connect=min(seconds, 5.0))


def _may_repeat(error: EasemlError | httpx.TransportError, repeatable: bool) -> bool:
    """Tell whether a request that ended so may be sent again: it never left, or may arrive twice.

    One that was too slow would only be slow again.
    """
    if isinstance(error, EasemlError | httpx.ReadTimeout):
        return False
    return repeatable or isinstance(error, _NOT_SENT)


def _retry_after(response: httpx.Response) -> float | None:
    """Return the wait that the service asks for, in seconds, at most ten."""
    value = response.headers.get("retry-after", "")
    return min(float(value), 10.0) if value.isdigit() else None
