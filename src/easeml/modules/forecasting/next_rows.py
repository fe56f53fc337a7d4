"""The rows that follow what is known, as an endpoint takes them."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from easeml.errors import InvalidInput
from easeml.modules.forecasting.past import Past

_MOST_KNOWN = 2000  # values that are told beside a forecast
_SEASONS_SHOWN = 3
_LAST_TIME = np.datetime64("9999-12-31", "s")  # that dates can be written of


def next_rows(past: Past, steps: int, schema_in: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the next rows of each series as JSON objects: time and series, in order.

    Times are written as the schema (JSON) says. Raises ``InvalidInput`` where they end after the
    year 9999.
    """
    known = past.known
    is_last = np.append(known.series[1:] != known.series[:-1], True)
    series = np.repeat(known.series[is_last], steps)
    ahead = np.tile(np.arange(1, steps + 1), int(is_last.sum()))
    places = np.repeat(known.places[is_last], steps) + ahead
    return _rows(past, series, places, schema_in)


def last_rows(past: Past, steps: int, schema_in: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the last known rows of each series, with their values: what is shown beside a
    forecast of so many steps.
    """
    known = past.known
    ends = np.searchsorted(known.series, known.series, side="right")
    from_end = ends - np.arange(len(ends))
    season = max(past.seasons, default=0)
    wanted = max(_SEASONS_SHOWN * steps, min(season, 2 * steps))
    are_shown = np.flatnonzero(from_end <= wanted)[:_MOST_KNOWN]
    rows = _rows(past, known.series[are_shown], known.places[are_shown], schema_in)
    for row, value in zip(rows, known.values[are_shown].tolist(), strict=True):
        row[past.rule.target] = value
    return rows


def _rows(
    past: Past, series: NDArray[np.int64], places: NDArray[np.int64], schema_in: Mapping[str, Any]
) -> list[dict[str, Any]]:
    rule = past.rule
    times = _written(past.steps.times(places), _node_of(rule.time, schema_in).get("format", ""))
    are_numbers = [_node_of(column, schema_in).get("type") == "tensor" for column in rule.series]
    names = []
    for texts in past.names_of_series():
        told = map(_name, texts, are_numbers)
        names.append(dict(zip(rule.series, told, strict=True)))
    rows = []
    for number, time in zip(series.tolist(), times, strict=True):
        rows.append({rule.time: time, **names[number]})
    return rows


def _node_of(column: str, schema_in: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the schema says of a column."""
    nodes = schema_in["nodes"]
    by_column = {node.get("column", name): node for name, node in nodes.items()}
    return by_column.get(column, {})


def _name(text: str | None, is_number: bool) -> Any:
    """Return the name of a series as rows have it; None where it has none."""
    if text is None or not is_number:
        return text
    return _number(float(text))


def _written(times: NDArray[Any], form: str) -> Iterable[Any]:
    """Return times as they are sent: numbers, or texts of a form; ISO 8601 where it is empty."""
    if times.dtype.kind != "M":
        return list(map(_number, times.tolist()))
    if (times > _LAST_TIME).any():
        raise InvalidInput(
            f"So many steps end after {_LAST_TIME}.",
            where="steps",
            remedy="Ask for fewer, and look at the newest time that is known.",
        )
    if form:
        return [time.strftime(form) for time in times.astype(object)]
    are_days = (times == times.astype("datetime64[D]")).all()
    return np.datetime_as_string(times, unit="D" if are_days else "s").tolist()


def _number(time: float) -> float:
    """Return a number as people write it: a whole one as such, another without what sums leave."""
    if time.is_integer():
        return int(time)
    return float(f"{time:.14g}")
