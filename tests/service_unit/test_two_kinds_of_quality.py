"""Models that folds have judged compete by that; with others, on the validation rows alone."""

from dataclasses import replace

from easeml.contract.tasks import TaskResult
from easeml.ids import new_id
from easeml.modules import load_registry
from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.knowledge.trials import work_of
from easeml.service.models import promotion
from easeml.store import Store
from easeml.store.shapes import VersionSummary

from .test_story import decide, searching, train
from .world import bring, claim

FOLDS = {"rows": 240, "folds": 4}


def train_by_folds(store: Store, app, arm: int, quality: float, held_out: float) -> None:
    """Choose, train by folds, and consider a promotion."""
    assert decide(store, app, arm) is not None
    _, attempt = claim(store, "search")
    measure = {"value": quality, "lower_is_better": False, "in_unit_of_target": False, **FOLDS}
    value = {"quality": quality, "held_out": held_out, "measures": {"accuracy": measure}}
    outputs = ["model", "predictions"]
    bring(store, attempt, TaskResult(ok=True, value=value, outputs=outputs, cost=2.0))
    with store.write() as tx:
        promotion.consider(tx, app.id)


def served(store: Store, caller: Caller, app_id: str) -> float:
    live = applications.get(store, caller, app_id).live_model
    assert live is not None
    return live.quality


def bring_from_elsewhere(store: Store, app_id: str, quality: float) -> None:
    """Keep a model like one that was imported: the validation rows alone have judged it."""
    with store.write() as tx:
        tables = tx.unscoped()
        like = tables.models.get(tables.applications.get(app_id).live_model_id)
        task = tables.tasks.add(replace(tables.tasks.get(like.task_id), id=new_id("task")))
        own = {"id": new_id("mod"), "task_id": task.id, "quality": quality, "held_out": None}
        tables.models.add(replace(like, **own))
        promotion.consider(tx, app_id)


def test_folds_decide_between_models_of_a_search(store: Store, ann: Caller) -> None:
    app = searching(store, ann)
    train_by_folds(store, app, 0, quality=0.7, held_out=0.9)
    train_by_folds(store, app, 1, quality=0.8, held_out=0.6)
    assert served(store, ann, app.id) == 0.8
    last = applications.promotions(store, ann, app.id).items[-1]
    assert last.reason == "accuracy 0.8 on 240 rows by 4 folds, over accuracy 0.7"


def test_a_model_from_elsewhere_has_to_be_better_on_validation_rows(
    store: Store, ann: Caller
) -> None:
    app = searching(store, ann)
    train_by_folds(store, app, 0, quality=0.7, held_out=0.85)
    bring_from_elsewhere(store, app.id, 0.8)  # above .7, which is of other rows
    assert served(store, ann, app.id) == 0.7
    bring_from_elsewhere(store, app.id, 0.88)
    assert served(store, ann, app.id) == 0.88
    train_by_folds(store, app, 1, quality=0.75, held_out=0.86)
    assert served(store, ann, app.id) == 0.88
    train_by_folds(store, app, 2, quality=0.78, held_out=0.95)
    assert served(store, ann, app.id) == 0.78
    last = applications.promotions(store, ann, app.id).items[-1]
    assert last.reason.endswith("on the validation rows alone score 0.9500, over 0.8800")


def test_a_search_without_folds_goes_on_as_it_was(store: Store, ann: Caller) -> None:
    app = searching(store, ann)
    train(store, app, 0, 0.6)
    train(store, app, 1, 0.7)
    last = applications.promotions(store, ann, app.id).items[-1]
    assert last.reason == "accuracy 0.7 on validation rows, over accuracy 0.6"


def test_the_cost_of_four_fits_is_believed_to_be_that_of_four_times_the_rows(
    store: Store, ann: Caller
) -> None:
    app = searching(store, ann)
    with store.read() as tx:
        version = tx.unscoped().versions.get(app.version_id)
        candidate = tx.unscoped().candidates.list(job_id=app.job.id)[0]
    once = work_of(load_registry(), candidate, version)
    summary = VersionSummary({**version.summary.told, "folds": 4})
    by_folds = work_of(load_registry(), candidate, replace(version, summary=summary))
    assert by_folds.rows == 4 * once.rows == 240
