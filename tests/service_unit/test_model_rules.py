"""Rules that every model has to keep: what breaks them never serves, and is told."""

import pytest

from easeml.contract.applications import Application
from easeml.contract.model_rules import ModelRules, NewModelRules
from easeml.contract.states import JobState
from easeml.contract.tasks import TaskResult
from easeml.errors import InvalidInput
from easeml.modules import load_registry
from easeml.search import CostBelief
from easeml.service.access.caller import Caller
from easeml.service.applications import applications, model_rules
from easeml.service.models import promotion
from easeml.service.search import job_states, jobs
from easeml.store import Store

from .test_refitting import request, set_state
from .test_story import decide, progress, searching
from .world import bring, claim


def train(store: Store, app: Application, arm: int, quality: float, latency: float) -> str:
    """Train, and return the id of the model."""
    assert decide(store, app, arm) is not None
    task, attempt = claim(store, "search")
    value = {"quality": quality, "metrics": {}, "measures": {}, "latency": latency}
    result = TaskResult(ok=True, value=value, outputs=["model", "predictions"], cost=2.0)
    bring(store, attempt, result, model=b"x" * (100 * (arm + 1)))
    with store.write() as tx:
        promotion.consider(tx, app.id)
        return tx.unscoped().models.list(task_id=task.id, limit=1)[0].id


def live(store: Store, caller: Caller, app: Application) -> str:
    found = applications.get(store, caller, app.id).live_model
    return found.id if found else ""


def ask(store: Store, caller: Caller, app: Application, **wish: object) -> ModelRules:
    return model_rules.set_rules(store, caller, app.id, NewModelRules.model_validate(wish))


def test_what_breaks_a_limit_never_serves_however_good(store: Store, ann: Caller) -> None:
    app = searching(store, ann, max_latency=0.02, max_size=300)
    slow = train(store, app, 0, 0.99, 0.5)
    assert live(store, ann, app) == ""
    quick = train(store, app, 1, 0.6, 0.01)
    large = train(store, app, 3, 0.95, 0.01)
    assert live(store, ann, app) == quick
    assert progress(store, app).job.best_quality == 0.6  # type: ignore[union-attr]

    found = model_rules.get(store, ann, app.id)
    assert (found.trained, found.keeping) == (3, 1)
    reasons = {one.id: one.reason for one in found.left_out if one.what == "trained"}
    assert set(reasons) == {slow, large}
    assert reasons[slow] == "It takes 500 ms for a row; the limit is 20 ms."
    assert "400 bytes; the limit is 300" in reasons[large]


def test_other_rules_change_what_serves_at_once(store: Store, ann: Caller) -> None:
    app = searching(store, ann)
    slow = train(store, app, 0, 0.99, 0.5)
    quick = train(store, app, 1, 0.6, 0.01)
    assert live(store, ann, app) == slow
    ask(store, ann, app, max_latency=0.02)
    assert live(store, ann, app) == quick
    assert (
        applications.promotions(store, ann, app.id)
        .items[-1]
        .reason.endswith("what served before breaks a rule of the application")
    )
    ask(store, ann, app)
    assert live(store, ann, app) == slow


def test_what_serves_goes_on_where_nothing_keeps_the_rules(store: Store, ann: Caller) -> None:
    app = searching(store, ann)
    slow = train(store, app, 0, 0.99, 0.5)
    found = ask(store, ann, app, max_latency=0.02)
    assert (found.trained, found.keeping) == (1, 0)
    assert live(store, ann, app) == slow


def test_columns_that_are_followed_from_now_on_begin_a_new_search(
    store: Store, ann: Caller
) -> None:
    app = searching(store, ann)
    before = train(store, app, 0, 0.99, 0.01)
    ask(store, ann, app, monotonic={"size": "rising"})
    with store.write() as tx:
        tables = tx.unscoped()
        job = jobs.current(tables, app.id)
        assert job is not None and app.job is not None
        assert (job.state, tables.jobs.get(app.job.id).state) == (
            JobState.PREPARING,
            JobState.STOPPED,
        )
        assert job_states.start_ready_jobs(tx, load_registry(), CostBelief.of(())) != []
        candidates = tables.candidates.list(job_id=job.id, limit=None)
    assert {one.pipeline.monotonic["size"] for one in candidates} == {"rising"}
    assert all(load_registry().get(one.model).monotonic for one in candidates)
    assert live(store, ann, app) == before  # till there is one that keeps it
    app = applications.get(store, ann, app.id)
    after = train(store, app, 0, 0.5, 0.01)
    assert live(store, ann, app) == after
    with store.read() as tx:
        trained = tx.unscoped().tasks.list(job_id=job.id, kind="train", limit=None)
    assert [task.payload["pipeline"]["monotonic"] for task in trained] == [{"size": "rising"}]
    names = {one.name for one in model_rules.get(store, ann, app.id).left_out}
    assert "logistic" in names


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ({"monotonic": {"weight": "rising"}}, "no input column 'weight'"),
        ({"monotonic": {"colour": "rising"}}, "no input column 'colour'"),
    ],
)
def test_what_cannot_be_kept_is_refused(
    store: Store, ann: Caller, wish: dict[str, object], message: str
) -> None:
    app = searching(store, ann)
    with pytest.raises(InvalidInput, match=message):
        ask(store, ann, app, **wish)
    with pytest.raises(InvalidInput, match=message):
        searching(store, ann, **wish)


def test_a_search_whose_models_cannot_follow_a_column_is_refused(store: Store, ann: Caller) -> None:
    with pytest.raises(InvalidInput, match="logistic does not fit: It cannot be held"):
        searching(store, ann, monotonic={"size": "rising"}, models=["logistic"])
    app = searching(store, ann, models=["logistic"])
    with pytest.raises(InvalidInput, match="No model is left"):
        ask(store, ann, app, monotonic={"size": "rising"})


def test_a_refit_that_breaks_a_rule_does_not_serve(store: Store, ann: Caller) -> None:
    app = searching(store, ann, max_latency=0.02)
    model = train(store, app, 0, 0.9, 0.01)
    set_state(store, app, JobState.RESTING)
    assert request(store, app) is not None
    _, attempt = claim(store, lane="search")
    value = {"rows": 48, "latency": 0.03}
    outputs = ["model", "predictions"]
    bring(store, attempt, TaskResult(ok=True, value=value, outputs=outputs, cost=0.5))
    shown = applications.get(store, ann, app.id)
    assert live(store, ann, app) == model
    assert shown.live_model is not None and not shown.live_model.refitted
    assert any("It takes 30 ms" in note for note in shown.notes)
