"""Metrics in the text form of Prometheus: what the database tells, and how requests were answered."""

import time
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from easeml.service.administration.metrics import Family
from easeml.version import __version__

MEDIA_TYPE = CONTENT_TYPE_LATEST
_PREFIX = "easeml_"
_BOUNDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)  # seconds


class RequestMetrics:
    """How the requests of this controller were answered, since it started."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._seconds = Histogram(
            "http_request_duration_seconds",
            "Time to the first byte of an answer, by route.",
            ("method", "route", "status"),
            namespace="easeml",
            registry=self.registry,
            buckets=_BOUNDS,
        )
        self._of_route: dict[tuple[str, str, int], Histogram] = {}
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)

    def note(self, scope: Scope, status: int, seconds: float) -> None:
        """Count an answered request. Paths that have no route are one: strangers choose them."""
        path = getattr(scope.get("route"), "path", "none")
        answered = scope["method"], path, status
        histogram = self._of_route.get(answered)
        if histogram is None:
            method, route = scope["method"], path.removeprefix("/api/v1")
            histogram = self._of_route[answered] = self._seconds.labels(method, route, status)
        histogram.observe(seconds)


class Measured:
    """Middleware that notes when each request was answered, and how."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        metrics: RequestMetrics = scope["app"].state.context.requests
        began = time.perf_counter()

        async def note_start(message: Message) -> None:
            if message["type"] == "http.response.start":
                metrics.note(scope, message["status"], time.perf_counter() - began)
            await send(message)

        return await self._app(scope, receive, note_start)


class _Families(Collector):
    """What the database tells, as Prometheus has it."""

    def __init__(self, families: list[Family]):
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield InfoMetricFamily("easeml", "The program.", {"version": __version__})
        for family in self._families:
            kind = CounterMetricFamily if family.is_total else GaugeMetricFamily
            metric = kind(_PREFIX + family.name, family.about, labels=family.labels)
            for labels, value in family.values.items():
                metric.add_metric(labels, value)
            yield metric


def render(families: list[Family], requests: RequestMetrics) -> bytes:
    """Return all metrics as text (``MEDIA_TYPE``)."""
    registry = CollectorRegistry()
    registry.register(_Families(families))
    return generate_latest(registry) + generate_latest(requests.registry)
