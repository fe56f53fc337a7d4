"""From a declaration to a served model: what each step writes, and who may see it."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from easeml.contract.applications import Application, Declaration
from easeml.contract.notification_texts import sentence
from easeml.contract.states import JobState
from easeml.contract.tasks import TaskResult
from easeml.errors import Conflict, InvalidInput, NotFound, NotReady
from easeml.kinds.train import TrainSpec
from easeml.modules import load_registry
from easeml.search import (
    Arm,
    CostBelief,
    Observation,
    SearchState,
    add_job,
    default_prior,
    policy_named,
    started,
)
from easeml.search import Decision as Choice
from easeml.service.access.caller import Caller
from easeml.service.administration import status
from easeml.service.advice import tools
from easeml.service.applications import applications
from easeml.service.events import notifications
from easeml.service.knowledge.trials import cost_belief, finished_trials
from easeml.service.models import promotion
from easeml.service.modules import catalogue
from easeml.service.search import job_states, jobs, training_tasks
from easeml.service.tasks import results, task_views
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Task

from .world import bring, claim, events, ingested, prepare, upload


def declare(store: Store, caller: Caller, **changes: object) -> Application:
    dataset = ingested(store, caller)
    return applications.declare(store, caller, Declaration(dataset_id=dataset.id, **changes))


def searching(store: Store, caller: Caller, **changes: object) -> Application:
    """An application whose job runs."""
    app = declare(store, caller, **changes)
    prepare(store, caller, app.version_id)
    with store.write() as tx:
        costs = cost_belief(load_registry(), finished_trials(tx))
        assert len(job_states.start_ready_jobs(tx, load_registry(), costs)) == 1
    return applications.get(store, caller, app.id)


def decide(store: Store, app: Application, arm: int) -> Task | None:
    assert app.job is not None
    with store.write() as tx:
        choice = Choice(app.job.id, arm, "test", lambda: {"why": arm})
        return training_tasks.write_decision(tx, load_registry(), choice, "test", 1)


def train(store: Store, app: Application, arm: int, quality: float) -> None:
    """Choose, train and consider a promotion, as scheduler and worker do."""
    assert decide(store, app, arm) is not None
    _, attempt = claim(store, "search")
    measure = {"value": quality, "lower_is_better": False, "in_unit_of_target": False}
    value = {"quality": quality, "metrics": {"accuracy": quality}}
    value["measures"] = {"accuracy": measure}
    outputs = ["model", "predictions"]
    bring(
        store,
        attempt,
        TaskResult(ok=True, value=value, outputs=outputs, notes=["a note"], cost=2.0),
    )
    with store.write() as tx:
        promotion.consider(tx, app.id)


def state_of(store: Store, app: Application) -> SearchState:
    """The search as the scheduler sees it."""
    assert app.job is not None
    with store.read() as tx:
        candidates = tx.unscoped().candidates.list(job_id=app.job.id, limit=None)
        found = tx.unscoped().tasks.list(job_id=app.job.id, kind="train", limit=None)
    candidates.sort(key=lambda c: c.arm)
    arm = {c.id: c.arm for c in candidates}
    arms = [Arm(c.name, c.model, c.predicted_cost) for c in candidates]
    state = add_job(SearchState(), app.job.id, "tenant", arms, default_prior(arms))
    policy = policy_named()
    for task in found:
        state = started(state, app.job.id, arm[task.candidate_id])
        if task.state in ("done", "failed"):
            seen = Observation(app.job.id, arm[task.candidate_id], task.quality, task.cost)
            state = policy.observe(state, seen)
    return state


def progress(store: Store, app: Application) -> Application:
    assert app.job is not None
    state = state_of(store, app)
    with store.write() as tx:
        job_states.update_progress(tx, app.job.id, state)
    with store.read() as tx:
        tenant = tx.unscoped().applications.get(app.id).tenant_id
    return applications.get(store, Caller("", tenant), app.id)


def test_a_proposal_says_what_would_happen_and_writes_nothing(store: Store, ann: Caller) -> None:
    dataset = ingested(store, ann)
    proposal = applications.propose(store, ann, Declaration(dataset_id=dataset.id, drop=["price"]))
    assert proposal.target == "colour"
    assert {c.name: c.role for c in proposal.columns} == {
        "size": "input",
        "colour": "target",
        "price": "drop",
    }
    assert sum(objective.default for objective in proposal.objectives) == 1
    fits = {model.name: model.fits for model in proposal.models}
    assert fits["lightgbm-classifier"]
    assert not fits["lightgbm-regressor"]
    assert all(bool(model.why_not) != model.fits for model in proposal.models)
    assert applications.list_page(store, ann).items == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"target": "color"}, "Did you mean.*colour"),
        ({"objective": "acuracy"}, "Did you mean.*accuracy"),
        ({"models": ["lightgbm-clasifier"]}, "Did you mean.*lightgbm-classifier"),
        ({"exclude": ["nothing-alike-zzz"]}, "There are: "),
        ({"models": ["lightgbm-regressor"]}, "does not fit"),
        ({"models": ["logistic"], "exclude": ["logistic"]}, "No model is left"),
        ({"drop": ["weight"]}, "no column 'weight'"),
        ({"name": "\n"}, "printable"),
        ({"tolerance": 1e308}, "tolerance must be"),
        ({"max_seconds": 1e308}, "max_seconds must be"),
        ({"max_tasks": 10**30}, "max_tasks must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_a_wrong_declaration_is_refused_before_anything_is_written(
    store: Store, ann: Caller, changes: dict, message: str
) -> None:
    dataset = ingested(store, ann)
    with pytest.raises(InvalidInput) as caught:
        applications.declare(store, ann, Declaration(dataset_id=dataset.id, **changes))
    assert caught.match(f"(?i){message}")
    with pytest.raises(InvalidInput, match=f"(?i){message}"):
        applications.propose(store, ann, Declaration(dataset_id=dataset.id, **changes))
    assert applications.list_page(store, ann).items == []
    assert jobs.list_page(store, ann).items == []


def test_an_upload_must_have_been_read(store: Store, ann: Caller) -> None:
    dataset = upload(store, ann)
    with pytest.raises(NotReady):
        applications.declare(store, ann, Declaration(dataset_id=dataset.id))
    _, attempt = claim(store)
    bring(store, attempt, TaskResult(ok=False, error="not a table"))
    with pytest.raises(Conflict, match="not a table"):
        applications.declare(store, ann, Declaration(dataset_id=dataset.id))


def test_a_declaration_makes_everything_once(store: Store, ann: Caller, bob: Caller) -> None:
    dataset = ingested(store, ann)
    deadline = datetime(2030, 1, 1, tzinfo=UTC)
    wish = Declaration(dataset_id=dataset.id, max_tasks=3, deadline=deadline)
    first, again = (applications.declare(store, ann, wish, idempotency_key="k") for _ in range(2))
    assert first.id == again.id
    assert len(task_views.list_page(store, ann, state="waiting").items) == 1
    assert first.job is not None
    assert (first.state, first.job.state, first.job.limits) == (
        "declared",
        "preparing",
        {"tasks": 3, "deadline": deadline.timestamp()},
    )
    assert first.schema_in["nodes"]
    assert first.endpoint == f"/api/v1/applications/{first.id}/predict"
    with pytest.raises(NotFound):
        applications.declare(store, bob, wish)
    for refused in (
        applications.get,
        applications.models,
        applications.promotions,
        applications.roll_back,
    ):
        with pytest.raises(NotFound):
            refused(store, bob, first.id)
    with pytest.raises(NotFound):
        jobs.stop(store, bob, first.job.id)


def test_data_that_cannot_be_prepared_fails_application_and_job(store: Store, ann: Caller) -> None:
    app = declare(store, ann)
    _, attempt = claim(store)
    bring(store, attempt, TaskResult(ok=False, error="every target is missing"))
    app = applications.get(store, ann, app.id)
    assert app.job is not None
    assert (app.state, app.error) == ("failed", "every target is missing")
    assert (app.job.state, app.job.error) == ("failed", "every target is missing")
    told = {kind for kind, _ in events(store, ann)}
    assert {"dataset.failed", "application.failed", "job.failed", "task.failed"} <= told


def test_a_job_starts_with_candidates_once_its_data_is_ready(store: Store, ann: Caller) -> None:
    app = declare(store, ann, exclude=["logistic"])
    with store.write() as tx:
        assert job_states.start_ready_jobs(tx, load_registry(), CostBelief.of(())) == []
    prepare(store, ann, app.version_id)
    with store.write() as tx:
        (job,) = job_states.start_ready_jobs(tx, load_registry(), CostBelief.of(()))
        candidates = tx.unscoped().candidates.list(job_id=job.id, limit=None)
    app = applications.get(store, ann, app.id)
    assert (app.state, job.state) == ("searching", "running")
    assert app.notes == ["two rows had no target"]
    names = [candidate.name for candidate in candidates]
    assert len(set(names)) == len(names)
    assert "logistic" not in {candidate.model for candidate in candidates}
    assert sorted(c.arm for c in candidates) == list(range(len(candidates)))
    assert names.count("lightgbm-classifier") == 1
    assert sum(c.model == "lightgbm-classifier" for c in candidates) == 4
    assert all(candidate.predicted_cost > 0 for candidate in candidates)


def test_a_decision_becomes_one_task_that_can_be_explained(store: Store, ann: Caller) -> None:
    app = searching(store, ann, models=["lightgbm-classifier"], seed=7)
    task = decide(store, app, 1)
    assert task is not None
    assert decide(store, app, 1) is None
    page = task_views.decisions_page(store, ann)
    assert [(d.task_id, d.policy, d.explanation) for d in page.items] == [
        (task.id, "test", {"why": 1})
    ]
    with store.read() as tx:
        spec = results.task_spec(tx, task)
        version = tx.unscoped().versions.get(app.version_id)
    told = TrainSpec.model_validate(spec.body)
    assert (told.seed, told.pipeline.model.module) == (7, "lightgbm-classifier")
    assert spec.inputs == {"version": version.artefact}
    assert applications.get(store, ann, app.id).next == ["lightgbm-classifier-2"]
    claim(store, "search")
    assert applications.get(store, ann, app.id).running == ["lightgbm-classifier-2"]
    assert task_views.get(store, ann, task.id).name == "lightgbm-classifier-2"


def weigh_columns(store: Store, ann: Caller) -> str:
    """Bring what the next task is asked: which columns a model looks at; return the model's id."""
    task, attempt = claim(store)
    with store.read() as tx:
        spec = results.task_spec(tx, task)
    assert (spec.body["kind"], spec.body["tool"]) == ("advise", "importance")
    assert set(spec.inputs) == {"version", "model"}
    answer = {"advice": "It looks at size most.", "verdict": ""}
    brought = TaskResult(ok=True, value=answer, outputs=["answer"], cost=1.0)
    bring(store, attempt, brought, answer=json.dumps(answer).encode())
    with store.read() as tx:
        model = tx.scoped(ann.tenant_id).models.get(spec.body["model_id"])
    (found,) = tools.list_task_page(store, ann, model.task_id).items
    assert (found.model_id, found.advice) == (model.id, answer["advice"])
    assert tools.list_task_page(store, ann, task.id).items == [found]
    return model.id


def end_search(store: Store, app: Application) -> None:
    """Let the search rest, and what serves be looked at, as the scheduler does."""
    assert app.job is not None
    with store.write() as tx:
        job = tx.unscoped().jobs.update(app.job.id, state=JobState.RESTING)
        promotion.look_at_the_end(tx, job)


def searched_for(store: Store, app: Application, seconds: float) -> None:
    """Let the search of an application have used so many device seconds."""
    assert app.job is not None
    with store.write() as tx:
        tx.unscoped().jobs.update(app.job.id, cost=seconds)


def looks(store: Store) -> list[str]:
    """Return the kinds of the tasks that wait to look at a model."""
    with store.read() as tx:
        waiting = tx.unscoped().tasks.list(lane="short", state="waiting", limit=None)
    return sorted(task.spec_kind for task in waiting)


def test_models_that_are_soon_replaced_are_looked_at_little(store: Store, ann: Caller) -> None:
    app = searching(store, ann)
    train(store, app, 0, 0.6)
    assert looks(store) == []
    searched_for(store, app, 10.0)
    train(store, app, 1, 0.7)
    assert looks(store) == ["test-quality"]  # three tenths of a second of 10
    searched_for(store, app, 100.0)
    train(store, app, 2, 0.8)
    assert looks(store) == ["advise", "test-quality"]  # a second takes little of 100
    train(store, app, 3, 0.9)
    assert looks(store) == ["advise", "test-quality"]


def test_what_serves_in_the_end_is_looked_at(store: Store, ann: Caller) -> None:
    app = searching(store, ann)
    for arm, quality in enumerate([0.6, 0.7]):
        train(store, app, arm, quality)
    assert looks(store) == []
    end_search(store, app)
    assert looks(store) == ["advise", "test-quality"]
    task, attempt = claim(store)
    assert task.spec_kind == "test-quality"
    value = {"value": 0.7, "low": 0.5, "high": 0.9, "rows": 12}
    bring(store, attempt, TaskResult(ok=True, value=value))
    live = applications.get(store, ann, app.id).live_model
    assert live is not None
    assert live.id == weigh_columns(store, ann)


def test_nobody_asks_which_column_a_model_of_one_column_looks_at(store: Store, ann: Caller) -> None:
    app = searching(store, ann, drop=["price"])
    train(store, app, 0, 0.7)
    end_search(store, app)
    assert looks(store) == ["test-quality"]


def test_the_best_model_is_served_and_read_once_through_the_ledger(
    store: Store, ann: Caller
) -> None:
    app = searching(store, ann)
    searched_for(store, app, 10.0)
    for arm, quality in enumerate([0.7, 0.6, 0.8]):
        train(store, app, arm, quality)
    board = applications.models(store, ann, app.id).items
    assert [model.quality for model in board] == [0.8, 0.7, 0.6]
    app = applications.get(store, ann, app.id)
    assert app.live_model == board[0]
    assert (app.state, app.test_quality) == ("serving", None)
    changes = applications.promotions(store, ann, app.id).items
    assert [(p.model_id, p.previous_model_id) for p in changes] == [
        (board[1].id, ""),
        (board[0].id, board[1].id),
    ]
    assert changes[-1].reason == "accuracy 0.8 on validation rows, over accuracy 0.7"
    assert board[0].measure is not None
    assert (board[0].measure.value, app.job.improvements[-1].measure.value) == (0.8, 0.8)
    told = [kind for kind, subject in events(store, ann) if subject == app.id]
    assert (told.count("application.first-model"), told.count("promotion.live")) == (1, 2)
    for number in range(2):
        if number == 1:
            end_search(store, app)
        task, attempt = claim(store)
        with store.read() as tx:
            spec = results.task_spec(tx, task)
        assert spec.body["kind"] == "test-quality"
        assert set(spec.inputs) == {"version", "predictions"}
        value = {"value": 0.7 + number / 100, "low": 0.5, "high": 0.9, "rows": 12}
        bring(store, attempt, TaskResult(ok=True, value=value))
    weigh_columns(store, ann)
    read = applications.get(store, ann, app.id).test_quality
    assert read is not None
    assert (read.value, read.low, read.high, read.rows, read.model_id, read.readings) == (
        pytest.approx(0.71), 0.5, 0.9, 12, board[0].id, 2,
    )  # fmt: skip
    applications.roll_back(store, ann, app.id)
    assert looks(store) == ["advise"]  # which columns it needs; its reading is there already


def test_training_is_in_the_background_once_a_model_is_served(store: Store, ann: Caller) -> None:
    app = searching(store, ann)
    told = []
    for arm in (0, 1):
        task = decide(store, app, arm)
        assert task is not None
        with store.read() as tx:
            told.append(results.task_spec(tx, task).in_background)
            told.append(results.task_spec(tx, replace(task, urgent=True)).in_background)
        with store.write() as tx:
            tx.queue.cancel(task.id)
        train(store, app, 2 + arm, 0.7)
    assert told == [False, False, True, False]


def test_a_rollback_holds_until_it_is_unpinned(store: Store, ann: Caller) -> None:
    app = searching(store, ann)
    with pytest.raises(Conflict, match="no live model"):
        applications.pin(store, ann, app.id)
    train(store, app, 0, 0.6)
    with pytest.raises(Conflict, match="No other model"):
        applications.roll_back(store, ann, app.id)
    train(store, app, 1, 0.7)
    with pytest.raises(NotFound):
        applications.roll_back(store, ann, app.id, "mod_unknown")
    back = applications.roll_back(store, ann, app.id)
    assert back.live_model is not None
    assert back.live_model.quality == 0.6
    note = notifications.get(store, ann).items[0]
    told = sentence(note.kind, note.data)  # it is worse, and was called better
    assert told.startswith("serves another model: ")
    assert told.endswith("(asked for by a user; pinned)")
    train(store, app, 2, 0.9)
    live = applications.get(store, ann, app.id).live_model
    assert live is not None
    assert live.quality == 0.6
    live = applications.unpin(store, ann, app.id).live_model
    assert live is not None
    assert live.quality == 0.9
    kinds = [p.kind for p in applications.promotions(store, ann, app.id).items]
    assert kinds == ["better", "better", "rollback", "pin", "better"]


def test_rollback_after_rollback_goes_further_back(store: Store, ann: Caller) -> None:
    app = searching(store, ann)
    for arm, quality in enumerate((0.6, 0.7, 0.8)):
        train(store, app, arm, quality)
    for quality in (0.7, 0.6):
        back = applications.roll_back(store, ann, app.id)
        assert back.live_model is not None
        assert back.live_model.quality == quality
    with pytest.raises(Conflict, match="No other model"):
        applications.roll_back(store, ann, app.id)


def test_a_promotion_that_came_too_late_changes_nothing(store: Store, ann: Caller) -> None:
    app = searching(store, ann)
    train(store, app, 0, 0.6)
    with store.read() as tx:
        stale = tx.unscoped().applications.get(app.id)
        model = tx.unscoped().models.get(stale.live_model_id)
    train(store, app, 1, 0.7)
    with pytest.raises(Conflict), store.write() as tx:
        promotion.make_live(tx, stale, model, "better", "too late")
    live = applications.get(store, ann, app.id).live_model
    assert live is not None
    assert live.quality == 0.7


def test_a_better_model_that_came_after_a_pin_does_not_serve(store: Store, ann: Caller) -> None:
    """On PostgreSQL the two may read the application at the same time."""
    app = searching(store, ann)
    train(store, app, 0, 0.6)
    with store.read() as tx:
        stale = tx.unscoped().applications.get(app.id)
    pinned = applications.pin(store, ann, app.id).live_model
    train(store, app, 1, 0.7)
    with store.read() as tx:
        better = promotion.best_model(tx.unscoped(), stale)
    assert better is not None
    with pytest.raises(Conflict), store.write() as tx:
        promotion.let_serve(tx, stale, better, "too late")
    assert applications.get(store, ann, app.id).live_model == pinned


def test_a_quality_that_is_no_number_is_a_failure(store: Store, ann: Caller) -> None:
    app = searching(store, ann)
    decide(store, app, 0)
    _, attempt = claim(store, "search")
    value = {"quality": float("nan")}
    task = bring(store, attempt, TaskResult(ok=True, value=value, outputs=["model", "predictions"]))
    assert task.state == "failed"
    assert "not a number" in task.error
    assert applications.models(store, ann, app.id).items == []


def test_pausing_cancels_what_waits_and_resuming_lets_it_be_chosen_again(
    store: Store, ann: Caller
) -> None:
    app = searching(store, ann)
    assert app.job is not None
    task = decide(store, app, 0)
    assert task is not None
    assert jobs.pause(store, ann, app.job.id).state == "paused"
    assert jobs.pause(store, ann, app.job.id).state == "paused"
    assert task_views.get(store, ann, task.id).state == "cancelled"
    assert decide(store, app, 0) is None
    assert jobs.resume(store, ann, app.job.id).state == "running"
    assert decide(store, app, 0) is not None
    assert jobs.stop(store, ann, app.job.id).state == "stopped"
    for change in (jobs.pause, jobs.resume):
        with pytest.raises(Conflict, match="stopped"):
            change(store, ann, app.job.id)
    assert [kind for kind, subject in events(store, ann) if subject == app.job.id] == [
        "job.running",
        "job.paused",
        "job.resumed",
        "job.stopped",
    ]


def test_a_job_at_its_limit_of_tasks_rests(store: Store, ann: Caller) -> None:
    app = searching(store, ann, max_tasks=1, tolerance=0)
    train(store, app, 0, 0.6)
    assert decide(store, app, 1) is None
    app = progress(store, app)
    assert app.job is not None
    assert (app.job.state, app.job.best_quality, app.job.cost) == ("resting", 0.6, 2.0)
    assert app.job.expected_improvement is not None
    assert app.job.tasks_done == 1


def test_a_limit_of_seconds_counts_what_is_under_way(store: Store, ann: Caller) -> None:
    app = searching(store, ann, max_seconds=1e-6)
    assert decide(store, app, 0) is not None
    assert decide(store, app, 1) is None  # the first is predicted to take it all


def test_a_job_rests_under_its_tolerance_and_wakes_above_it(store: Store, ann: Caller) -> None:
    app = searching(store, ann, tolerance=0.9)
    app = progress(store, app)
    assert app.job is not None
    assert app.job.state == "running"  # nothing was found yet
    train(store, app, 0, 0.6)
    app = progress(store, app)
    assert app.job is not None
    assert app.job.state == "resting"
    with store.write() as tx:
        tx.unscoped().jobs.update(app.job.id, tolerance=0.0)
    app = progress(store, app)
    assert app.job is not None
    assert app.job.state == "running"


def test_a_job_rests_when_everything_was_tried(store: Store, ann: Caller) -> None:
    app = searching(store, ann, models=["baseline-classifier"], tolerance=0)
    assert app.job is not None
    for arm in range(app.job.candidates):
        train(store, app, arm, 0.5)
    app = progress(store, app)
    assert app.job is not None
    assert (app.job.state, app.job.expected_improvement) == ("resting", 0.0)


def test_costs_are_learned_over_tenants(store: Store, ann: Caller, bob: Caller) -> None:
    def cost_of(app: Application) -> float:
        assert app.job is not None
        with store.read() as tx:
            return tx.unscoped().candidates.list(job_id=app.job.id, arm=0)[0].predicted_cost

    first = searching(store, ann, models=["lightgbm-classifier"])
    for arm in range(4):
        decide(store, first, arm)
        _, attempt = claim(store, "search")
        value = {"quality": 0.5}
        outputs = ["model", "predictions"]
        bring(store, attempt, TaskResult(ok=True, value=value, outputs=outputs, cost=100.0))
    second = searching(store, bob, models=["lightgbm-classifier"])
    assert cost_of(second) > 10 * cost_of(first)


def test_the_status_counts_the_callers_own(
    store: Store, admin: Caller, ann: Caller, bob: Caller
) -> None:
    searching(store, ann)
    of_ann = status.get(store, Settings(isolation="user"), ann)
    of_bob = status.get(store, Settings(isolation="user"), bob)
    assert (of_ann.applications, of_ann.tasks["done"]) == (1, 2)
    assert (of_bob.applications, sum(of_bob.tasks.values())) == (0, 0)
    of_provider = status.get(store, Settings(isolation="user"), admin)
    assert [one.isolation for one in (of_ann, of_provider)] == ["", "user"]


def test_a_model_that_was_left_out_can_come_in(store: Store, ann: Caller, bob: Caller) -> None:
    app = searching(store, ann, exclude=["naive-bayes"])
    assert app.job
    assert app.left_out == ["naive-bayes"]

    def models() -> list[str]:
        with store.read() as tx:
            assert app.job
            return [c.model for c in tx.unscoped().candidates.list(job_id=app.job.id, limit=None)]

    before = models()
    assert "naive-bayes" not in before
    for _ in range(2):  # twice is once
        assert applications.include(store, ann, app.id, "naive-bayes").left_out == []
        assert models()[: len(before)] == before
        assert 1 <= models().count("naive-bayes") <= 4
    assert ("job.candidates", app.job.id) in events(store, ann)
    with pytest.raises(InvalidInput, match="no model"):
        applications.include(store, ann, app.id, "naive-baies")
    with pytest.raises(InvalidInput, match="does not fit"):
        applications.include(store, ann, app.id, "ridge")
    with pytest.raises(NotFound):
        applications.include(store, bob, app.id, "naive-bayes")
    jobs.stop(store, ann, app.job.id)
    with pytest.raises(Conflict):
        applications.include(store, ann, app.id, "naive-bayes")


def test_an_archived_model_is_no_candidate_of_new_searches(
    store: Store, ann: Caller, admin: Caller
) -> None:
    catalogue.archive(store, admin, "naive-bayes")
    app = searching(store, ann)
    assert app.job
    with store.read() as tx:
        tried = {c.model for c in tx.unscoped().candidates.list(job_id=app.job.id, limit=None)}
    assert tried
    assert "naive-bayes" not in tried
    catalogue.restore(store, admin, "naive-bayes")
    shown = applications.propose(store, ann, Declaration(dataset_id=app.dataset_id)).models
    assert next(one for one in shown if one.name == "naive-bayes").fits
