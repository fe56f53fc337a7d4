"""What a running task does, seen without changing it: steps, samples of its code, one clock.

Processes write lines (``lines``); ``recorder`` notes steps, ``sampler`` looks at the code that
runs; ``clocks`` puts all on the database's clock; ``timeline`` and ``chrome`` show it. ``otlp`` is
the form in which collectors of OpenTelemetry take spans.
"""

from easeml.tracing.chrome import chrome_trace
from easeml.tracing.clocks import Exchange, exchange
from easeml.tracing.lines import LARGEST_TRACE, Trace, read_trace
from easeml.tracing.otlp import Span, SpanKind, otlp_request
from easeml.tracing.recorder import Recorder
from easeml.tracing.timeline import Bar, Timeline, Track, timeline_of
from easeml.tracing.watching import SWITCH, TRACE, watch

__all__ = [
    "LARGEST_TRACE",
    "SWITCH",
    "TRACE",
    "Bar",
    "Exchange",
    "Recorder",
    "Span",
    "SpanKind",
    "Timeline",
    "Trace",
    "Track",
    "chrome_trace",
    "exchange",
    "otlp_request",
    "read_trace",
    "timeline_of",
    "watch",
]
