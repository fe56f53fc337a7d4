"""The chart of a life: what went live and what was refused, what was believed of it and what was true."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from easeml.contract.application_views import ServingHistory
from easeml.contract.applications import Promotion
from easeml.contract.models import TrainedModel
from easeml.contract.states import PromotionKind, PromotionState
from easeml.contract.watching import Look
from easeml.figures import Axis, Figure, Mark, Reference, Series
from easeml.web.charts import time_unit

_ACCURACY = "accuracy"  # what looks at production estimate
_TONES = {"ok": "good", "inputs as before": "3", "watch": "warn", "alert": "bad"}
_DAY = 86_400.0
_DRAWN: tuple[tuple[PromotionState, str, str, Mark], ...] = (  # state, name, tone, mark
    (PromotionState.LIVE, "went live", "accent", "square"),
    (PromotionState.REFUSED, "refused", "bad", "ring"),
    (PromotionState.TAKEN_BACK, "taken back", "warn", "ring"),
)


def release_figure(view: ServingHistory, called: Callable[[str], str] = str) -> Figure | None:
    """Return the quality of what served over time; None where nothing has served.

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
    ends = [one.created for one in (*changes, *view.looks)]
    length, unit = _time_unit(max(ends) - began)
    is_accuracy = all(_ACCURACY in model.measures for model in models.values())

    def at(moment: float) -> float:
        return (moment - began) / length

    def quality(model: TrainedModel) -> float:
        return model.measures[_ACCURACY].value if is_accuracy else model.quality

    by_state: defaultdict[str, list[Promotion]] = defaultdict(list)
    for change in changes:
        is_pin = change.state == PromotionState.LIVE and change.kind == PromotionKind.PIN
        if not is_pin:
            by_state[change.state].append(change)
    series = [_served(by_state[PromotionState.LIVE], models, at, quality, max(ends))]
    for state, name, tone, mark in _DRAWN:
        series += _changes(name, tone, mark, by_state[state], models, at, quality, called)
    if is_accuracy:
        series += _looks(view.looks, at)
        series += _truth(view, at)
    title = _ACCURACY if is_accuracy else "score"
    return Figure(
        "Quality of what served",
        Axis("since the first model", unit, low=0.0),
        Axis(title),
        tuple(series),
        references=_versions(changes, models, at),
    )


def _time_unit(seconds: float) -> tuple[float, str]:
    return (_DAY, "days") if seconds >= 2 * _DAY else time_unit(seconds)


def _served(
    live: Sequence[Promotion],
    models: dict[str, TrainedModel],
    at: Callable[[float], float],
    quality: Callable[[TrainedModel], float],
    end: float,
) -> Series:
    """Return the line of what was believed of the model that served, until the end."""
    moments = [at(one.created) for one in live]
    values = [quality(models[one.model_id]) for one in live]
    if live:
        moments.append(at(end))
        values.append(values[-1])
    return Series("", tuple(moments), tuple(values), kind="steps", tone="accent", silent=True)


def _changes(
    name: str,
    tone: str,
    mark: Mark,
    changes: Sequence[Promotion],
    models: dict[str, TrainedModel],
    at: Callable[[float], float],
    quality: Callable[[TrainedModel], float],
    called: Callable[[str], str],
) -> list[Series]:
    if not changes:
        return []
    notes = []
    for one in changes:
        notes.append(f"{called(models[one.model_id].name)}: {one.reason}")
    series = Series(
        f"{name}, on validation rows",
        tuple(at(one.created) for one in changes),
        tuple(quality(models[one.model_id]) for one in changes),
        kind="points",
        tone=tone,
        mark=mark,
        notes=tuple(notes),
        links=tuple(f"/tasks/{models[one.model_id].task_id}" for one in changes),
    )
    return [series]


def _looks(looks: Sequence[Look], at: Callable[[float], float]) -> list[Series]:
    """Return the estimates without labels, a series for each status."""
    told = [look for look in looks if look.estimate is not None]
    series = []
    for status in dict.fromkeys(look.status for look in told):
        of_status = [look for look in told if look.status == status]
        lows, highs, values = [], [], []
        for look in of_status:
            value = look.estimate or 0.0
            low, high = look.interval or (value, value)
            values.append(value)
            lows.append(low)
            highs.append(high)
        one = Series(
            f"estimated in production: {status}",
            tuple(at(look.created) for look in of_status),
            tuple(values),
            kind="points",
            tone=_TONES.get(status, "muted"),
            low=tuple(lows),
            high=tuple(highs),
            notes=tuple(look.reason for look in of_status),
        )
        series.append(one)
    return series


def _truth(view: ServingHistory, at: Callable[[float], float]) -> list[Series]:
    """Return how often the model that serves was right of late, at the newest look."""
    known = view.watch.labelled
    if known is None or not view.looks:
        return []
    series = Series(
        "right, where the truth came",
        (at(view.looks[-1].created),),
        (known.quality,),
        kind="points",
        tone="4",
        mark="square",
        low=(known.low,),
        high=(known.high,),
        notes=(f"the newest {known.rows} rows whose truth came",),
    )
    return [series]


def _versions(
    changes: Sequence[Promotion],
    models: dict[str, TrainedModel],
    at: Callable[[float], float],
) -> tuple[Reference, ...]:
    """Return a line for each version of the data, where its first model came."""
    lines = []
    seen: set[int] = set()
    for one in changes:
        version = models[one.model_id].version
        if version and version not in seen and seen:
            lines.append(Reference(at(one.created), f"data version {version}", axis="x"))
        seen.add(version)
    return tuple(lines)
