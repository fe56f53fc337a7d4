"""Spans in the form of OpenTelemetry: OTLP 1.x over HTTP, encoded as JSON.

https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

_FAILED = 2


class SpanKind(IntEnum):
    """Who waits for a span: nobody outside, or who asked a server."""

    INTERNAL = 1
    SERVER = 2


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took time. ``begin`` and ``end``: seconds of the epoch. Of ``attributes`` the
    empty ones are left out.

    ``key``: tells it from all others, so that it has the same id when it is sent again; ``parent``:
    the key of the span that it is part of, empty for the whole. ``error``: why it failed; empty
    where it did not.
    """

    key: str
    name: str
    begin: float
    end: float
    parent: str = ""
    attributes: Mapping[str, str | int] = field(default_factory=dict)
    kind: SpanKind = SpanKind.INTERNAL
    error: str = ""


def trace_id(about: str) -> str:
    """Return the id of the trace that is about something, such as an application."""
    return hashlib.sha256(about.encode()).hexdigest()[:32]


def otlp_request(about: str, spans: Sequence[Span], version: str) -> dict[str, Any]:
    """Return the body of a request that exports the ``spans`` of the trace about ``about``.

    ``version``: of the easeml that sends it.
    """
    trace = trace_id(about)
    resource = {"service.name": "easeml", "service.version": version}
    scope = {"name": "easeml", "version": version}
    told = [_told(trace, span) for span in spans]
    of_scope = [{"scope": scope, "spans": told}]
    of_resource = {"resource": {"attributes": _pairs(resource)}, "scopeSpans": of_scope}
    return {"resourceSpans": [of_resource]}


def _told(trace: str, span: Span) -> dict[str, Any]:
    told: dict[str, Any] = {
        "traceId": trace,
        "spanId": _span_id(span.key),
        "name": span.name,
        "kind": int(span.kind),
        "startTimeUnixNano": _nanoseconds(span.begin),
        "endTimeUnixNano": _nanoseconds(span.end),
        "attributes": _pairs(span.attributes),
    }
    if span.parent:
        told["parentSpanId"] = _span_id(span.parent)
    if span.error:
        told["status"] = {"code": _FAILED, "message": span.error}
    return told


def _span_id(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def _nanoseconds(seconds: float) -> str:
    return str(round(seconds * 1e9))


def _pairs(values: Mapping[str, str | int]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value != ""]


def _value(value: str | int) -> dict[str, str]:
    if isinstance(value, int):
        return {"intValue": str(value)}  # a 64-bit number, which is text in protobuf's JSON
    return {"stringValue": value}
