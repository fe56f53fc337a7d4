"""A timeline in Chrome's trace format.

It opens in ui.perfetto.dev, chrome://tracing and speedscope. The format: Trace Event Format
(Duvall, Sholes and others, Google, 2016), JSON object form, complete events.
"""

import json
from typing import Any

from easeml.tracing.timeline import Bar, Timeline

_MICRO = 1e6


def chrome_trace(timeline: Timeline, **facts: Any) -> bytes:
    """Return the JSON of a file; ``facts`` stand beside the events, as what is known of them.

    Times are microseconds since the first event.
    """
    events: list[dict[str, Any]] = []
    origin = timeline.begin
    # Two machines may have processes of one number, so that processes get others here.
    processes = list(dict.fromkeys((track.process, track.pid) for track in timeline.tracks))
    for number, track in enumerate(timeline.tracks, start=1):
        process = (track.process, track.pid)
        place = {"pid": 1 + processes.index(process), "tid": number}
        name = f"{track.process} ({track.pid})" if track.pid else track.process
        events.append(_named("process_name", name, place))
        events.append(_named("thread_name", track.name, place))
        events.append({**_named("thread_sort_index", "", place), "args": {"sort_index": number}})
        events += [_complete(bar, origin, place) for bar in track.bars]
    document = {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {**facts, "origin": origin, "clock_error": timeline.error},
    }
    return json.dumps(document, allow_nan=False, separators=(",", ":")).encode()


def _named(what: str, name: str, place: dict[str, int]) -> dict[str, Any]:
    return {"ph": "M", "name": what, "args": {"name": name}, **place}


def _complete(bar: Bar, origin: float, place: dict[str, int]) -> dict[str, Any]:
    begin = round(_MICRO * (bar.begin - origin))
    end = round(_MICRO * (bar.end - origin))
    event: dict[str, Any] = {
        "ph": "X",
        "name": bar.name,
        "cat": "code" if bar.module else "step",
        "ts": begin,
        "dur": end - begin,
        **place,
    }
    if bar.module:
        event["args"] = {"module": bar.module, "line": bar.line}
    return event
