"""When a search rests, what serves is fitted once more on all rows but the test rows."""

from dataclasses import replace

import pytest

from easeml.contract.applications import Application
from easeml.contract.states import JobState
from easeml.contract.tasks import TaskResult
from easeml.modules import load_registry
from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.events import notifications
from easeml.service.models import lost_models, refitting
from easeml.service.search import job_states
from easeml.store import Store
from easeml.store.records import Task, TrainedModel

from .test_story import searching, train
from .world import bring, claim

REFITTED = TaskResult(ok=True, value={"rows": 48}, outputs=["model", "predictions"], cost=0.5)


@pytest.fixture
def resting(store: Store, ann: Caller) -> Application:
    """An application that serves the second of three models, and whose search rests."""
    app = searching(store, ann)
    for arm, quality in enumerate((0.6, 0.9, 0.7)):
        train(store, app, arm, quality)
    set_state(store, app, JobState.RESTING)
    return applications.get(store, ann, app.id)


def set_state(store: Store, app: Application, state: JobState) -> None:
    assert app.job is not None
    with store.write() as tx:
        tx.unscoped().jobs.update(app.job.id, state=state)


def request(store: Store, app: Application) -> Task | None:
    """Ask for a refit as the scheduler does."""
    assert app.job is not None
    with store.write() as tx:
        job = tx.unscoped().jobs.get(app.job.id)
        return refitting.request(tx, load_registry(), job)


def refit(store: Store, app: Application) -> None:
    assert request(store, app) is not None
    task, attempt = claim(store, lane="search")
    assert task.spec_kind == "refit"
    bring(store, attempt, REFITTED)


def is_settled(store: Store, app: Application) -> bool:
    """Let it be noted, as the scheduler does after it asked for a refit."""
    assert app.job is not None
    with store.write() as tx:
        job_states.note_whether_settled(tx, tx.unscoped().jobs.get(app.job.id))
        return tx.unscoped().jobs.get(app.job.id).settled


def end_short_tasks(store: Store) -> list[str]:
    """Have all short tasks fail, as far as they wait; return their kinds."""
    ended = []
    with store.read() as tx:
        waiting = tx.unscoped().tasks.count(lane="short", state="waiting")
    for _ in range(waiting):
        task, attempt = claim(store)
        bring(store, attempt, TaskResult(ok=False, error="no such file"))
        ended.append(task.spec_kind)
    return ended


def live(store: Store, app: Application) -> TrainedModel:
    with store.read() as tx:
        tables = tx.unscoped()
        return tables.models.get(tables.applications.get(app.id).live_model_id)


def test_the_best_model_is_fitted_once_more_and_serves(
    store: Store, ann: Caller, resting: Application
) -> None:
    first = live(store, resting)
    refit(store, resting)
    now = live(store, resting)
    assert now.id == first.id
    assert now.served not in ("", first.artefact)
    assert now.artefact == first.artefact  # by which it is compared
    assert now.quality == first.quality == 0.9
    shown = applications.get(store, ann, resting.id).live_model
    assert shown is not None
    assert shown.refitted
    assert request(store, resting) is None


def test_the_test_quality_is_read_of_what_serves(store: Store, resting: Application) -> None:
    refit(store, resting)
    with store.read() as tx:
        tasks = tx.unscoped().tasks.list(subject=live(store, resting).id, limit=None)
    asked = [task.payload["refitted"] for task in tasks if task.spec_kind == "test-quality"]
    assert asked == [True]  # not as it was chosen, while the search ran


def test_a_search_has_settled_when_what_serves_was_fitted_and_measured(
    store: Store, resting: Application
) -> None:
    end_short_tasks(store)
    assert is_settled(store, resting)
    assert request(store, resting) is not None
    assert not is_settled(store, resting)
    _, attempt = claim(store, lane="search")
    bring(store, attempt, REFITTED)
    assert not is_settled(store, resting)  # its test quality is being read
    assert "test-quality" in end_short_tasks(store)
    assert is_settled(store, resting)
    set_state(store, resting, JobState.RUNNING)
    assert not is_settled(store, resting)


def test_a_refit_is_no_better_model_that_people_are_told_of(
    store: Store, ann: Caller, resting: Application
) -> None:
    before = len(notifications.get(store, ann).items)
    refit(store, resting)
    assert len(notifications.get(store, ann).items) == before
    kinds = [one.kind for one in applications.promotions(store, ann, resting.id).items]
    assert kinds.count("refit") == 1


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.STOPPED, JobState.PAUSED])
def test_nothing_is_fitted_while_the_search_does_not_rest(
    store: Store, resting: Application, state: JobState
) -> None:
    set_state(store, resting, state)
    assert request(store, resting) is None


def test_what_a_user_has_pinned_stays_as_it_is(
    store: Store, ann: Caller, resting: Application
) -> None:
    applications.pin(store, ann, resting.id)
    assert request(store, resting) is None


def test_a_refit_that_is_lost_gives_way_to_the_first_fit(
    store: Store, ann: Caller, resting: Application
) -> None:
    refit(store, resting)
    model = live(store, resting)
    with store.write() as tx:
        application = tx.unscoped().applications.get(resting.id)
        registry = load_registry()
        lost_models.give_up(tx, application, model, "One byte is wrong.", registry)
    now = live(store, resting)
    assert (now.id, now.served, now.error) == (model.id, model.artefact, "")


def test_a_better_model_that_came_meanwhile_goes_on_serving(
    store: Store, resting: Application
) -> None:
    assert request(store, resting) is not None
    _, attempt = claim(store, lane="search")
    set_state(store, resting, JobState.RUNNING)
    better = train_another(store, resting)
    bring(store, attempt, REFITTED)
    assert live(store, resting).id == better


def train_another(store: Store, app: Application) -> str:
    train(store, app, 3, 0.95)
    return live(store, app).id


def test_a_refit_that_ends_after_newer_values_came_does_not_serve_a_forecast(
    store: Store, resting: Application
) -> None:
    """What serves was told them meanwhile, and the refit does not know them."""
    assert request(store, resting) is not None
    _, attempt = claim(store, lane="search")
    with store.write() as tx:
        tables = tx.unscoped()
        application = tables.applications.get(resting.id)
        rules = replace(application.rules, forecast={"time": "day", "ahead": 7, "series": []})
        newer = replace(tables.versions.get(application.version_id), id="ver_newer", number=9)
        tables.versions.add(newer)
        tables.applications.update(application.id, rules=rules, version_id=newer.id)
    bring(store, attempt, REFITTED)
    assert not live(store, resting).refitted
