"""One decision in pictures: what was believed of all candidates, what each offered, the devices."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from easeml.contract.scheduling import Believed, DecisionView, DeviceTask, Searching
from easeml.contract.states import BelievedState
from easeml.figures import Axis, Figure, Reference, Series, tone_of
from easeml.web.charts import Point, points_series

_ROWS = 48  # of a picture
_OF_EACH = 3  # candidates of a search that are drawn beside others'
_ALONE = 30
_LEAST_WIDTH = 0.4  # percent of the timeline


class Row(NamedTuple):
    """A candidate of a search, a row of the pictures."""

    search: Searching
    candidate: Believed
    label: str

    @property
    def rate(self) -> float:
        """The improvement that is expected for each device second."""
        return self.candidate.gain / self.candidate.cost


class Run(NamedTuple):
    """A task on the line of its device, in percent of its width."""

    task: DeviceTask
    x: float
    width: float
    tone: str


def rows_of(view: DecisionView, alone: str, called: Callable[[str], str]) -> list[Row]:
    """Return the candidates that are drawn, each called by its title, and by its search's beside
    others.

    ``alone``: only those of this search, "" for all; ``called`` returns a candidate's title.
    """
    searches = view.searches
    if alone:
        searches = [search for search in searches if name_of(search) == alone]
    is_single = len(searches) == 1
    most = _ALONE if is_single else _OF_EACH
    rows = []
    for search in searches:
        before = "" if is_single else f"{search.application or search.tenant}: "
        chosen_first = sorted(search.candidates, key=_is_not_chosen)
        for candidate in chosen_first[:most]:
            rows.append(Row(search, candidate, before + called(candidate.name)))
    return rows[:_ROWS]


def _is_not_chosen(candidate: Believed) -> bool:
    return candidate.state != BelievedState.CHOSEN


def name_of(search: Searching) -> str:
    """Return what a search is called beside the others."""
    return search.application or f"{search.tenant}, search {search.place + 1}"


def beliefs(rows: Sequence[Row]) -> Figure | None:
    """Return the beliefs as intervals on one axis, None where there is nothing to show.

    A line of marks is the best so far of each search; rings are the beliefs with the result of the
    decision.
    """
    if not rows:
        return None
    series = []
    for search, places in _places_of_searches(rows):
        series += _believed(rows, places, name_of(search), tone_of(search.place))
    series += _best_so_far(rows)
    series += _with_result(rows)
    return Figure(
        "What was believed",
        Axis("score (1 is best)"),
        _candidates(rows),
        tuple(series),
        references=_chosen(rows),
    )


def _chosen(rows: Sequence[Row]) -> tuple[Reference, ...]:
    """Return a band over each candidate that the decision chose."""
    marks = []
    for place, row in enumerate(rows):
        if row.candidate.state == BelievedState.CHOSEN:
            band = Reference(place - 0.5, "chosen", end=place + 0.5, tone="second")
            marks.append(band)
    return tuple(marks)


def _best_so_far(rows: Sequence[Row]) -> list[Series]:
    """Return the best of each row's search, where there is one."""
    points = [
        Point(float(row.search.best), float(place))
        for place, row in enumerate(rows)
        if row.search.best is not None
    ]
    return points_series("best so far", points, "text", "tick")


def offers(rows: Sequence[Row]) -> Figure | None:
    """Return what each candidate offered for a device second, None where there is nothing."""
    if not rows:
        return None
    series = []
    for search, own in _places_of_searches(rows):
        rates = tuple(rows[place].rate for place in own)
        places = tuple(map(float, own))
        series.append(Series(name_of(search), rates, places, "bars", tone_of(search.place)))
    return Figure(
        "What a device second offered",
        Axis("expected improvement for each device second", low=0.0),
        _candidates(rows),
        tuple(series),
    )


def device_lines(view: DecisionView) -> list[list[Run]]:
    """Return for each device what it did around the decision."""
    lines: list[list[Run]] = [[] for _ in view.devices]
    span = view.until - view.since
    for task in view.timeline:
        start = max(task.started, view.since)
        end = min(task.finished or view.until, view.until)
        width = max(_LEAST_WIDTH, 100 * (end - start) / span)
        run = Run(task, 100 * (start - view.since) / span, width, tone_of(task.place))
        lines[task.device].append(run)
    return lines


def moment_of(view: DecisionView) -> float:
    """Return where the decision lies on the lines of the devices, in percent of their width."""
    return 100 * (view.step.moment - view.since) / (view.until - view.since)


def _places_of_searches(rows: Sequence[Row]) -> list[tuple[Searching, list[int]]]:
    """Return each search with the places of its rows, in the order in which they come."""
    found: dict[int, tuple[Searching, list[int]]] = {}
    for place, row in enumerate(rows):
        _, places = found.setdefault(id(row.search), (row.search, []))
        places.append(place)
    return list(found.values())


def _candidates(rows: Sequence[Row]) -> Axis:
    return Axis("candidate", scale="category", categories=tuple(row.label for row in rows))


def _believed(rows: Sequence[Row], places: Sequence[int], name: str, tone: str) -> list[Series]:
    """Return what was believed of the candidates of some rows."""
    points = []
    for place in places:
        one = rows[place].candidate
        low = one.mean - one.sd
        high = one.mean + one.sd
        points.append(Point(one.mean, float(place), low, high, _note(one)))
    return points_series(name, points, tone)


def _with_result(rows: Sequence[Row]) -> list[Series]:
    """Return the beliefs with the result of the decision, beside those before it."""
    points = []
    for place, row in enumerate(rows):
        mean = row.candidate.mean_after
        if mean is None:
            continue
        deviation = row.candidate.sd_after or 0.0
        points.append(Point(float(mean), place + 0.25, mean - deviation, mean + deviation))
    return points_series("with the result", points, "text", "ring")


def _note(one: Believed) -> str:
    return f"{one.name}, {one.state}: {one.mean:.3f} ± {one.sd:.3f}, {one.cost:.2g} s"
