"""A collector of OpenTelemetry, which is told of traces."""

from collections.abc import Sequence
from urllib.parse import urlsplit

import httpx

from easeml.errors import InvalidInput, Unreachable
from easeml.settings import Settings
from easeml.tracing import Span, otlp_request
from easeml.version import __version__

_SECONDS = 10.0  # for one answer
_PATH = "/v1/traces"


class Collector:
    """A collector that takes OTLP over HTTP."""

    def __init__(self, endpoint: str, transport: httpx.BaseTransport | None = None):
        """``endpoint``: its address, without the path of traces.

        Raises ``InvalidInput`` for another address.
        """
        parts = urlsplit(endpoint)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InvalidInput(
                "A collector has an address such as http://otel.lab.org:4318.",
                where="otlp_endpoint",
            )
        self.host = parts.hostname
        address = endpoint.rstrip("/")
        self._client = httpx.Client(base_url=address, timeout=_SECONDS, transport=transport)

    def send(self, about: str, spans: Sequence[Span]) -> None:
        """Send the spans of the trace about something. Raises ``Unreachable``."""
        try:
            answer = self._client.post(_PATH, json=otlp_request(about, spans, __version__))
            answer.raise_for_status()
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            raise Unreachable(f"The collector took no trace: {why}", where=self.host) from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def collector_of(settings: Settings) -> Collector | None:
    """Return the collector that settings name, if they do; raises ``InvalidInput``."""
    if not settings.otlp_endpoint:
        return None
    return Collector(settings.otlp_endpoint)
