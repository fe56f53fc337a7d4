"""The chart of what served over time."""

from easeml.contract.application_views import ServingHistory
from easeml.contract.applications import Application, Promotion
from easeml.contract.measures import Measure
from easeml.contract.models import TrainedModel
from easeml.contract.watching import Labelled, Look, WatchReport
from easeml.web.release_chart import release_figure

DAY = 86_400.0


def model(name: str, accuracy: float, version: int) -> TrainedModel:
    measure = Measure(value=accuracy, lower_is_better=False, in_unit_of_target=False)
    measures = {"accuracy": measure}
    return TrainedModel(
        id=name,
        name=name,
        quality=accuracy / 2,
        measures=measures,
        task_id=f"task_{name}",
        version=version,
        created=0.0,
    )


def change(name: str, day: float, state: str = "live") -> Promotion:
    return Promotion(
        id=f"pro_{name}_{day}",
        model_id=name,
        previous_model_id="",
        state=state,
        kind="better",
        reason="because",
        created=day * DAY,
    )


def look(day: float, estimate: float | None, status: str) -> Look:
    interval = None if estimate is None else (estimate - 0.1, estimate + 0.1)
    return Look(
        created=day * DAY,
        model_id="first",
        status=status,
        reason="as it says",
        rows=100,
        estimate=estimate,
        interval=interval,
    )


def view(looks: list[Look], labelled: Labelled | None = None) -> ServingHistory:
    watch = WatchReport(application_id="app", status="ok", reason="", labelled=labelled)
    changes = [change("second", 30.0), change("bad", 20.0, "refused"), change("first", 10.0)]
    models = [model("first", 0.7, 1), model("second", 0.8, 2), model("bad", 0.4, 1)]
    application = Application.model_construct(objective="accuracy", target="price")
    return ServingHistory.model_construct(
        application=application, promotions=changes, models=models, looks=looks, watch=watch
    )


def test_models_looks_and_truth_stand_where_they_were() -> None:
    looks = [look(15.0, 0.65, "ok"), look(25.0, None, "cannot tell"), look(35.0, 0.5, "alert")]
    labelled = Labelled(rows=50, quality=0.55, low=0.4, high=0.7)
    found = release_figure(view(looks, labelled), str.upper)
    assert found is not None
    points = {series.name: series for series in found.series if series.name}
    live = points["went live, on validation rows"]
    assert (live.x, live.y) == ((0.0, 20.0), (0.7, 0.8))
    assert live.notes == ("FIRST: because", "SECOND: because")
    assert points["refused, on validation rows"].x == (10.0,)
    good, alarm = points["estimated in production: ok"], points["estimated in production: alert"]
    assert (good.x, good.y, good.tone, alarm.tone) == ((5.0,), (0.65,), "good", "bad")
    assert "estimated in production: cannot tell" not in points
    truth = points["right, where the truth came"]
    assert (truth.x, truth.y, truth.low, truth.high) == ((25.0,), (0.55,), (0.4,), (0.7,))
    assert (found.x.unit, found.y.title) == ("days", "accuracy")
    assert [(line.name, line.value) for line in found.references] == [("data version 2", 20.0)]


def test_the_line_goes_on_to_the_end() -> None:
    found = release_figure(view([look(35.0, 0.5, "alert")]))
    assert found is not None
    line = next(series for series in found.series if not series.name)
    assert (line.x, line.y) == ((0.0, 20.0, 25.0), (0.7, 0.8, 0.8))


def test_other_measures_have_no_looks_beside_them() -> None:
    shown = view([look(15.0, 0.65, "ok")])
    numbers = [one.model_copy(update={"measures": {}}) for one in shown.models]
    found = release_figure(shown.model_copy(update={"models": numbers}))
    assert found is not None
    assert found.y.title == "score"
    assert not [series for series in found.series if "production" in series.name]


def test_nothing_is_drawn_before_anything_serves() -> None:
    nothing = view([]).model_copy(update={"promotions": []})
    assert release_figure(nothing) is None


def by(objective: str, **of_measure: object) -> ServingHistory:
    """Return a history of models that were measured by another objective as well."""
    shown = view([look(15.0, 0.65, "ok")], Labelled(rows=50, quality=0.55, low=0.4, high=0.7))
    told = {"lower_is_better": False, "in_unit_of_target": False, "low": 0.5, "high": 0.7}
    measure = Measure.model_validate({"objective": objective, "value": 0.6, **told, **of_measure})
    models = [
        one.model_copy(update={"measures": {**one.measures, objective: measure}})
        for one in shown.models
    ]
    application = shown.application.model_copy(update={"objective": objective})
    return shown.model_copy(update={"models": models, "application": application})


def test_models_are_drawn_by_the_objective_of_their_application_with_intervals() -> None:
    found = release_figure(by("balanced-accuracy"))
    assert found is not None
    points = {series.name: series for series in found.series if series.name}
    live = points["went live, on validation rows"]
    assert (live.y, live.low, live.high) == ((0.6, 0.6), (0.5, 0.5), (0.7, 0.7))
    assert found.y.title == "balanced accuracy"
    assert not [name for name in points if "production" in name or "truth" in name]


def test_errors_are_drawn_in_the_unit_of_the_target() -> None:
    errors = by(
        "rmse", value=12.0, low=10.0, high=15.0, lower_is_better=True, in_unit_of_target=True
    )
    found = release_figure(errors)
    assert found is not None
    assert (found.y.title, found.y.unit) == ("rmse (lower is better)", "price")
