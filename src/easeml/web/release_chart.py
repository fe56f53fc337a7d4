"""The chart of a life: what went live and what was refused, what was believed of it and what was true."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from easeml.contract import measures
from easeml.contract.application_views import ServingHistory
from easeml.contract.applications import Promotion
from easeml.contract.models import TrainedModel
from easeml.contract.states import PromotionKind, PromotionState
from easeml.contract.watching import Look
from easeml.figures import Axis, Figure, Mark, Reference, Series
from easeml.web.charts import TIME_UNITS, Point, points_series, time_unit

_ACCURACY = "accuracy"  # what looks at production estimate
_SCORE = "score"
_TONES = {"ok": "good", "inputs as before": "3", "watch": "warn", "alert": "bad"}
_UNITS = ((86_400.0, "days"), *TIME_UNITS)
_DRAWN: tuple[tuple[PromotionState, str, str, Mark], ...] = (  # state, name, tone, mark
    (PromotionState.LIVE, "went live", "accent", "square"),
    (PromotionState.REFUSED, "refused", "bad", "ring"),
    (PromotionState.TAKEN_BACK, "taken back", "warn", "ring"),
)


@dataclass(frozen=True, slots=True)
class _Life:
    """The models of an application, and where they and moments stand in the picture.

    ``began``: the first moment, in seconds of the epoch; ``length``: of the axis' unit, in seconds.
    ``objective``: what all models were measured by; empty where of some only the score is known.
    """

    models: dict[str, TrainedModel]
    began: float
    length: float
    objective: str
    called: Callable[[str], str]

    def at(self, moment: float) -> float:
        return (moment - self.began) / self.length

    def model(self, change: Promotion) -> TrainedModel:
        return self.models[change.model_id]

    def quality(self, change: Promotion) -> float:
        """Return what was believed of a model: by the objective where all have it, else its score."""
        model = self.model(change)
        if not self.objective:
            return model.quality
        return model.measures[self.objective].value

    def interval(self, change: Promotion) -> tuple[float | None, float | None]:
        """Return the ends of the interval of what was believed; None where there is none."""
        model = self.model(change)
        if not self.objective:
            return model.low, model.high
        measure = model.measures[self.objective]
        return measure.low, measure.high


def release_figure(view: ServingHistory, called: Callable[[str], str] = str) -> Figure | None:
    """Return the quality of what served over time; None where nothing has served.

    It is told by the application's objective, in its unit. What looks at production estimates is
    accuracy, and is drawn where that is the objective.

    Squares are models that went live, rings those that a gate refused, or that were taken back, by
    their validation rows; dots are looks at production, with their intervals; a tick is the share
    of right answers among the newest rows whose truth came. Lines across time are new versions of
    the data. ``called``: what to call a model.
    """
    models = {model.id: model for model in view.models}
    changes = [one for one in reversed(view.promotions) if one.model_id in models]
    if not changes:
        return None
    began = changes[0].created
    end = max(one.created for one in (*changes, *view.looks))
    length, unit = time_unit(end - began, _UNITS)
    objective = _objective(view)
    life = _Life(models, began, length, objective, called)

    by_state = _by_state(changes)
    series = [_served(by_state[PromotionState.LIVE], life, end)]
    for state, name, tone, mark in _DRAWN:
        series += _changes(f"{name}, on validation rows", tone, mark, by_state[state], life)
    if objective == _ACCURACY:
        series += _looks(view.looks, life)
        series += _truth(view, life)
    return Figure(
        "Quality of what served",
        Axis("since the first model", unit, low=0.0),
        _axis(view, objective),
        tuple(series),
        references=_versions(changes, life),
    )


def _objective(view: ServingHistory) -> str:
    """Return the application's objective, if all models were measured by it; else nothing."""
    objective = view.application.objective
    is_of_all = all(objective in model.measures for model in view.models)
    return objective if is_of_all else ""


def _axis(view: ServingHistory, objective: str) -> Axis:
    """Return the axis of an objective, with its unit and which way is better."""
    if not objective:
        return Axis(_SCORE)
    measure = view.models[0].measures[objective]
    unit = measure.unit
    if measure.in_unit_of_target:
        unit = unit or view.application.target
    title = measures.called(objective)
    if measure.lower_is_better:
        title = f"{title} (lower is better)"
    return Axis(title, unit)


def _by_state(changes: Sequence[Promotion]) -> defaultdict[str, list[Promotion]]:
    """Return what changed by its state, without models that people pinned."""
    by_state: defaultdict[str, list[Promotion]] = defaultdict(list)
    for change in changes:
        is_pin = (change.state, change.kind) == (PromotionState.LIVE, PromotionKind.PIN)
        if not is_pin:
            by_state[change.state].append(change)
    return by_state


def _served(live: Sequence[Promotion], life: _Life, end: float) -> Series:
    """Return the line of what was believed of the model that served, until the end."""
    moments = []
    values = []
    for one in live:
        moments.append(life.at(one.created))
        values.append(life.quality(one))
    if live:
        moments.append(life.at(end))
        values.append(values[-1])
    return Series("", tuple(moments), tuple(values), kind="steps", tone="accent", silent=True)


def _changes(
    name: str, tone: str, mark: Mark, changes: Sequence[Promotion], life: _Life
) -> list[Series]:
    """Return the models of one kind of change, with the reason and the way to the task's page."""
    points = []
    for one in changes:
        model = life.model(one)
        note = f"{life.called(model.name)}: {one.reason}"
        link = f"/tasks/{model.task_id}"
        low, high = life.interval(one)
        points.append(Point(life.at(one.created), life.quality(one), low, high, note, link))
    return points_series(name, points, tone, mark)


def _looks(looks: Sequence[Look], life: _Life) -> list[Series]:
    """Return the estimates without labels, a series for each status."""
    by_status: defaultdict[str, list[Point]] = defaultdict(list)
    for look in looks:
        if look.estimate is None:
            continue
        low, high = look.interval or (look.estimate, look.estimate)
        point = Point(life.at(look.created), look.estimate, low, high, look.reason)
        by_status[look.status].append(point)

    series = []
    for status, points in by_status.items():
        tone = _TONES.get(status, "muted")
        series += points_series(f"estimated in production: {status}", points, tone)
    return series


def _truth(view: ServingHistory, life: _Life) -> list[Series]:
    """Return how often the model that serves was right of late, at the newest look."""
    known = view.watch.labelled
    if known is None or not view.looks:
        return []
    newest = life.at(view.looks[-1].created)
    note = f"the newest {known.rows} rows whose truth came"
    point = Point(newest, known.quality, known.low, known.high, note)
    return points_series("right, where the truth came", [point], "4", "square")


def _versions(changes: Sequence[Promotion], life: _Life) -> tuple[Reference, ...]:
    """Return a line for each version of the data, where its first model came."""
    first: dict[int, Promotion] = {}
    for one in changes:
        first.setdefault(life.model(one).version, one)
    lines = []
    # The version that all began with needs no line.
    for version in filter(None, list(first)[1:]):
        at = life.at(first[version].created)
        lines.append(Reference(at, f"data version {version}", axis="x"))
    return tuple(lines)
