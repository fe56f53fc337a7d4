"""Another objective counts: what was trained is judged by it, and a new search begins with that."""

import pytest

from easeml.contract.applications import Application
from easeml.contract.objectives import NewObjective, ObjectiveChoice
from easeml.contract.states import JobState, TaskState
from easeml.contract.tasks import TaskResult
from easeml.errors import InvalidInput
from easeml.modules import load_registry
from easeml.service.access.caller import Caller
from easeml.service.applications import applications, changing_objective
from easeml.service.journey import goals
from easeml.service.knowledge.trials import cost_belief, finished_trials
from easeml.service.models import promotion
from easeml.service.search import job_states, jobs, kept_results, training_tasks
from easeml.store import Store
from easeml.store.records import Job, Task

from .test_refitting import end_short_tasks, live, resting
from .test_story import decide, progress, train
from .world import bring, claim

__all__ = ["resting"]

F1 = "f1-macro"


def change(store: Store, caller: Caller, app: Application, name: str) -> ObjectiveChoice:
    return changing_objective.change(
        store, caller, app.id, NewObjective.model_validate({"objective": name})
    )


def judge(store: Store, app: Application, *qualities: float, changed: int = 0) -> Task:
    """Judge the models in their order, as a worker does; so many of them say other labels."""
    task = next_of(store, kept_results.KIND)
    judged = {}
    for model_id, quality in zip(task.payload["models"], qualities, strict=True):
        measure = {"value": quality, "lower_is_better": False, "in_unit_of_target": False}
        judged[model_id] = {
            "quality": quality,
            "low": None,
            "high": None,
            "metrics": {F1: quality},
            "measures": {task.objective: {**measure, "objective": task.objective}},
            "notes": ["Labels are chosen for it."],
        }
    names = [f"{name}-{i}" for i in range(changed) for name in ("model", "predictions")]
    names += [f"evaluation-{i}" for i in range(changed)]
    with store.write() as tx:
        attempt = tx.unscoped().attempts.newest(task_id=task.id)
    assert attempt is not None
    bring(store, attempt, TaskResult(ok=True, value={"judged": judged}, outputs=names, cost=0.1))
    begin(store)
    return task


def next_of(store: Store, kind: str) -> Task:
    """Claim short tasks until one is of a kind; the others fail."""
    while True:
        task, attempt = claim(store)
        if task.spec_kind == kind:
            return task
        bring(store, attempt, TaskResult(ok=False, error="no such file"))


def begin(store: Store) -> list[Job]:
    """Start what is ready, as the scheduler does."""
    with store.write() as tx:
        costs = cost_belief(load_registry(), finished_trials(tx))
        return job_states.start_ready_jobs(tx, load_registry(), costs)


def consider(store: Store, app: Application) -> None:
    with store.write() as tx:
        promotion.consider(tx, app.id)


def rescore(store: Store, quality: float) -> None:
    """Score what serves by the objective that counts now."""
    task = next_of(store, "rescore")
    with store.read() as tx:
        attempt = tx.unscoped().attempts.newest(task_id=task.id)
    assert attempt is not None
    bring(store, attempt, TaskResult(ok=True, value={"quality": quality, "rows": 12}, cost=0.1))


def test_every_model_is_judged_and_none_is_trained_again(
    store: Store, ann: Caller, resting: Application
) -> None:
    assert resting.job is not None
    end_short_tasks(store)
    said = change(store, ann, resting, F1)
    assert (said.objective, said.kept, said.judging) == (F1, 3, True)
    assert begin(store) == []  # the new search waits for its first results
    judge(store, resting, 0.5, 0.4, 0.8, changed=1)
    found = progress(store, applications.get(store, ann, resting.id))
    job = found.job
    assert job is not None
    assert job.id != resting.job.id
    assert (job.state, job.tasks_done, job.best_quality, job.cost) == ("running", 3, 0.8, 0.0)
    assert [one.quality for one in job.improvements] == [0.5, 0.8]
    assert job.candidates == resting.job.candidates
    assert jobs.get(store, ann, resting.job.id).state == JobState.STOPPED
    assert decide(store, found, 0) is None  # that candidate has its result
    assert decide(store, found, 3) is not None
    with store.read() as tx:
        assert len(finished_trials(tx)) == 3  # of what runs cost nothing new is known


def test_the_best_by_the_new_objective_serves(
    store: Store, ann: Caller, resting: Application
) -> None:
    end_short_tasks(store)
    before = live(store, resting)
    change(store, ann, resting, F1)
    with store.read() as tx:
        [asked] = tx.unscoped().tasks.list(subject=before.id, state=TaskState.WAITING)
    assert (asked.spec_kind, asked.objective) == ("rescore", F1)
    judge(store, resting, 0.5, 0.4, 0.8)
    consider(store, resting)
    rescore(store, 0.4)
    consider(store, resting)
    found = applications.get(store, ann, resting.id)
    assert found.live_model is not None
    assert (found.live_model.quality, found.live_model.comparable) == (0.8, True)
    assert found.live_model.notes[0] == "Labels are chosen for it."
    newest = list(applications.promotions(store, ann, resting.id).items)[-1]
    assert (newest.previous_model_id, newest.kind) == (before.id, "better")
    models = applications.models(store, ann, resting.id).items
    assert [one.former_objective for one in models] == ["", "", "", *["accuracy"] * 3]
    assert models[3].measure is None  # by the new objective nothing is known of it


@pytest.mark.parametrize("said", ["macro F1", "f1_macro", "F1-macro"])
def test_an_objective_may_be_named_as_people_call_it(
    store: Store, ann: Caller, resting: Application, said: str
) -> None:
    assert change(store, ann, resting, said).objective == F1


def test_a_pinned_model_serves_on_and_limits_count_what_is_trained(
    store: Store, ann: Caller, resting: Application
) -> None:
    assert resting.job is not None
    applications.pin(store, ann, resting.id)
    with store.write() as tx:
        limits = jobs.limits(3, None, None)
        tx.unscoped().jobs.update(resting.job.id, limits=limits)
    before = live(store, resting)
    said = change(store, ann, resting, F1)
    assert "pinned" in said.remarks[0]
    judge(store, resting, 0.5, 0.4, 0.8)
    consider(store, resting)
    assert live(store, resting).id == before.id
    with store.read() as tx:
        tables = tx.scoped(ann.tenant_id)
        job = jobs.current(tables, resting.id)
        assert job is not None
        assert training_tasks.within_limits(tx, job)  # three were trained by the search before


def test_a_goal_stays_by_its_objective_and_a_new_one_is_by_the_new(
    store: Store, ann: Caller, resting: Application
) -> None:
    goals.set_goal(store, ann, resting.id, "0.9")
    assert "stays so" in changing_objective.get(store, ann, resting.id).remarks[0]
    said = change(store, ann, resting, F1)
    assert said.remarks == ["The goal '0.9' is by accuracy, not by f1-macro."]
    found = goals.get(store, ann, resting.id)
    assert (found.text, found.objective) == ("0.9", "accuracy")
    assert goals.set_goal(store, ann, resting.id, "0.8").objective == F1


def test_where_judging_fails_the_search_begins_from_nothing(
    store: Store, ann: Caller, resting: Application
) -> None:
    end_short_tasks(store)
    change(store, ann, resting, F1)
    end_short_tasks(store)
    [job] = begin(store)
    assert job.state == JobState.RUNNING
    assert jobs.get(store, ann, job.id).tasks_done == 0


def test_going_back_judges_by_the_first_again(
    store: Store, ann: Caller, resting: Application
) -> None:
    end_short_tasks(store)
    change(store, ann, resting, F1)
    judge(store, resting, 0.5, 0.4, 0.8)
    change(store, ann, resting, "accuracy")
    task = judge(store, resting, 0.6, 0.9, 0.7)
    assert task.objective == "accuracy"
    consider(store, resting)
    assert live(store, resting).quality == 0.9  # its own search is by accuracy: nothing changes
    assert len(list(applications.promotions(store, ann, resting.id).items)) == 2


def test_what_does_not_fit_is_refused_and_the_same_changes_nothing(
    store: Store, ann: Caller, resting: Application
) -> None:
    with pytest.raises(InvalidInput, match="does not fit"):
        change(store, ann, resting, "r2")
    with pytest.raises(InvalidInput, match="Name the objective"):
        changing_objective.change(store, ann, resting.id, NewObjective.model_validate({}))
    change(store, ann, resting, "accuracy")
    assert applications.get(store, ann, resting.id).job == resting.job


def test_a_task_that_ran_under_the_former_objective_is_cancelled(
    store: Store, ann: Caller, resting: Application
) -> None:
    assert decide(store, resting, 3) is None  # it rests
    with store.write() as tx:
        assert resting.job is not None
        tx.unscoped().jobs.update(resting.job.id, state=JobState.RUNNING)
    waiting = decide(store, resting, 3)
    assert waiting is not None
    change(store, ann, resting, F1)
    with store.read() as tx:
        assert tx.unscoped().tasks.get(waiting.id).state == TaskState.CANCELLED


def test_models_of_two_searches_are_judged_once(
    store: Store, ann: Caller, resting: Application
) -> None:
    end_short_tasks(store)
    change(store, ann, resting, F1)
    judge(store, resting, 0.5, 0.4, 0.8)
    found = applications.get(store, ann, resting.id)
    train(store, found, 3, 0.6)
    assert changing_objective.get(store, ann, resting.id).kept == 4
