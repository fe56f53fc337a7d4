"""When a search rests, the models that together predict best are one more model of it."""

import pytest

from easeml.contract.applications import Application
from easeml.contract.states import JobState
from easeml.contract.tasks import TaskResult
from easeml.modules import load_registry
from easeml.service.access.caller import Caller
from easeml.service.advice import importance
from easeml.service.applications import applications
from easeml.service.models import ensembling, lost_models, promotion
from easeml.store import Store
from easeml.store.records import Task, TrainedModel

from .test_refitting import live, request, resting, set_state
from .test_story import searching, train
from .world import bring, claim

__all__ = ["resting"]


def ask(store: Store, app: Application) -> Task | None:
    """Ask for an ensemble as the scheduler does."""
    assert app.job is not None
    with store.write() as tx:
        return ensembling.request(tx, tx.unscoped().jobs.get(app.job.id))


def put_together(store: Store, app: Application, gain: float, members: int = 2) -> Task:
    """Ask for an ensemble, and have a worker bring it."""
    assert ask(store, app) is not None
    task, attempt = claim(store, lane="search")
    assert task.spec_kind == "ensemble"
    chosen = []
    for one in task.payload["models"][:members]:
        chosen.append({"model_id": one["model_id"], "name": one["name"], "weight": 1 / members})
    quality = 0.85  # below the best single model's, which is flattered
    measure = {"value": quality, "lower_is_better": False, "in_unit_of_target": False}
    value = {
        "quality": quality,
        "metrics": {"accuracy": quality},
        "measures": {"accuracy": measure},
        "members": chosen,
        "gain": gain,
    }
    outputs = ["model", "predictions", "evaluation"]
    bring(store, attempt, TaskResult(ok=True, value=value, outputs=outputs, cost=0.5))
    with store.write() as tx:
        promotion.consider(tx, app.id)
    return task


def test_a_better_ensemble_serves_and_names_its_members(
    store: Store, ann: Caller, resting: Application
) -> None:
    task = put_together(store, resting, 0.05)
    assert [one["latency"] for one in task.payload["models"]] == [0.0, 0.0, 0.0]
    found = applications.get(store, ann, resting.id)
    assert found.live is not None
    assert found.live.model == "ensemble-1"
    assert [member.weight for member in found.live.ensemble] == [0.5, 0.5]
    assert found.live_model is not None
    assert found.live_model.measure is not None
    assert found.live_model.measure.value == 0.85


def test_its_columns_are_weighed_for_as_long_as_its_members_allow(
    store: Store, resting: Application
) -> None:
    task = put_together(store, resting, 0.05)
    members = [one["model_id"] for one in task.payload["models"][:2]]
    with store.write() as tx:
        tables = tx.scoped(task.tenant_id)
        for model in tables.models.list(id=members):
            tables.tasks.update(model.task_id, cost=4.0)
        ensemble = tables.models.find(task_id=task.id)
        assert ensemble is not None
        asked = importance.request(tx, ensemble)
    assert asked is not None
    assert asked.payload["seconds"] == pytest.approx(0.2 * (0.5 + 4.0 + 4.0))


def test_its_members_are_fitted_again_with_their_weights(
    store: Store, resting: Application
) -> None:
    put_together(store, resting, 0.05)
    task = request(store, resting)
    assert task is not None
    members = task.payload["members"]
    assert [member["weight"] for member in members] == [0.5, 0.5]
    assert len({str(member["pipeline"]) for member in members}) == 2


def test_nothing_is_fitted_again_while_models_are_put_together(
    store: Store, resting: Application
) -> None:
    assert ask(store, resting) is not None
    assert request(store, resting) is None


@pytest.mark.parametrize(("gain", "members"), [(0.0, 2), (0.05, 1)])
def test_what_is_no_better_or_no_ensemble_does_not_serve(
    store: Store, resting: Application, gain: float, members: int
) -> None:
    before = live(store, resting)
    put_together(store, resting, gain, members)
    assert live(store, resting).id == before.id


def test_models_are_put_together_once_until_there_are_more(
    store: Store, resting: Application
) -> None:
    put_together(store, resting, 0.05)
    assert ask(store, resting) is None
    set_state(store, resting, JobState.RUNNING)
    train(store, resting, 3, 0.97)
    assert ask(store, resting) is None  # too few while the search goes on
    set_state(store, resting, JobState.RESTING)
    again = put_together(store, resting, 0.05)
    assert again.payload["name"] == "ensemble-2"
    assert len(again.payload["models"]) == 4  # an ensemble is no member of another
    assert live(store, resting).name == "ensemble-2"


def test_what_a_user_has_pinned_stays(store: Store, ann: Caller, resting: Application) -> None:
    applications.pin(store, ann, resting.id)
    assert ask(store, resting) is None


def test_an_ensemble_that_is_lost_gives_way_to_the_best_single_model(
    store: Store, resting: Application
) -> None:
    put_together(store, resting, 0.05)
    with store.write() as tx:
        application = tx.unscoped().applications.get(resting.id)
        lost = live_in(tx.unscoped().models.list(limit=None), application.live_model_id)
        lost_models.give_up(tx, application, lost, "a byte is wrong", load_registry())
    now = live(store, resting)
    assert now.candidate_id
    assert now.quality == 0.9


def live_in(models: list[TrainedModel], model_id: str) -> TrainedModel:
    (found,) = [model for model in models if model.id == model_id]
    return found


def test_a_search_that_goes_on_has_an_ensemble_of_eight_models(
    store: Store, resting: Application
) -> None:
    set_state(store, resting, JobState.RUNNING)
    for arm in range(3, 7):
        train(store, resting, arm, 0.5)
    assert ask(store, resting) is None
    train(store, resting, 7, 0.5)
    assert ask(store, resting) is not None


def test_refits_wait_only_for_what_is_under_way(store: Store, resting: Application) -> None:
    put_together(store, resting, 0.0)
    assert request(store, resting) is not None


def test_the_latency_that_the_owner_declared_is_told(store: Store, ann: Caller) -> None:
    app = searching(store, ann, max_latency=0.25)
    for arm in range(2):
        train(store, app, arm, 0.9)
    set_state(store, app, JobState.RESTING)
    task = ask(store, app)
    assert task is not None
    assert task.payload["latency"] == 0.25
