"""What people's work brought: told by rows that no model learns from."""

from dataclasses import replace
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from furnish import furnish
from inline_worker import train, work_off
from test_asking_tools import rows_of
from test_reports import APPLICATIONS
from test_work import declared, give, partly_labelled, right, take

from easeml.contract.states import JobState
from easeml.ids import new_id
from easeml.service.work import answers
from easeml.store import Store
from easeml.store.records import Suggestion
from easeml.web import create_pages


@pytest.fixture
def application(client: TestClient, store: Store, ann, tmp_path: Path) -> str:
    made = declared(client, store, ann, tmp_path, partly_labelled())
    take(client, ann, made)
    work_off(store, tmp_path)
    return made


def search(client: TestClient, store: Store, person, application: str, folder: Path) -> str:
    """Train a model of the search on the application's version; return the search."""
    shown = client.get(f"{APPLICATIONS}/{application}", headers=person.headers).json()
    train(store, folder, shown["job"]["id"])
    return shown["job"]["id"]


def judge(store: Store, person, job: str, by_folds: float, held_out: float) -> None:
    """Let the models of a search be so good by folds, and so good on validation rows alone."""
    with store.write() as tx:
        tables = tx.scoped(person.caller.tenant_id)
        for model in tables.models.list(job_id=job, limit=None):
            tables.models.update(model.id, quality=by_folds, held_out=held_out)
        tables.jobs.update(job, best_quality=by_folds)


def label(client: TestClient, store: Store, person, application: str, folder: Path) -> None:
    """Give a batch of right answers, and let the version be made."""
    for _ in range(answers.BATCH):
        item = take(client, person, application)["item"]
        give(client, person, item, value=right(item)).raise_for_status()
    work_off(store, folder)


def test_what_a_batch_brought_is_told_by_validation_rows_alone(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    """Rows that people were asked about are the hard ones: by folds they make models look worse."""
    first = search(client, store, ann, application, tmp_path)
    label(client, store, ann, application, tmp_path)
    second = search(client, store, ann, application, tmp_path)
    assert second != first
    judge(store, ann, first, by_folds=0.9, held_out=0.5)
    judge(store, ann, second, by_folds=0.7, held_out=0.8)
    told = take(client, ann, application)["brought"]
    assert (told["score_before"], told["score"]) == (0.5, 0.8)
    shown = client.get(f"{APPLICATIONS}/{application}/versions", headers=ann.headers).json()
    assert told["rows"] == shown["items"][0]["rows"]["validation"]
    assert not told["within_chance"]

    judge(store, ann, second, by_folds=0.7, held_out=0.55)
    assert take(client, ann, application)["brought"]["within_chance"]
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = browser.get(f"/applications/{application}/work").text
    assert "scores 0.55" in page
    assert "the best model before it scores 0.5" in page
    assert "so small a difference may be chance" in page
    assert "In all" not in page  # there is one version of answers yet


@pytest.mark.parametrize("of", [0, 1])
def test_who_worked_is_told_that_what_serves_has_not_learned_from_it(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path, of: int
) -> None:
    jobs = [search(client, store, ann, application, tmp_path)]
    label(client, store, ann, application, tmp_path)
    jobs.append(search(client, store, ann, application, tmp_path))
    with store.write() as tx:
        tables = tx.scoped(ann.caller.tenant_id)
        (model, *_) = tables.models.list(job_id=jobs[of], limit=None)
        tables.applications.update(application, live_model_id=model.id)
        tables.jobs.update(jobs[1], state=JobState.RESTING)
    told = take(client, ann, application)["brought"]
    assert told["serves"] == told["version"] - 1 + of
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = browser.get(f"/applications/{application}/work").text
    assert ("no later model was better on these rows" in page) == (of == 0)


def test_what_all_answers_brought_is_told_from_before_the_first(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    sizes = [(37 * row) % 1000 / 10 for row in range(160)]
    kinds = ["big" if size > 50 else "small" for size in sizes]
    kinds[:60] = [""] * 60
    application = declared(client, store, ann, tmp_path, rows_of(sizes, kinds))
    take(client, ann, application)
    work_off(store, tmp_path)
    for held_out in (0.5, 0.6, 0.7):
        job = search(client, store, ann, application, tmp_path)
        judge(store, ann, job, by_folds=0.9, held_out=held_out)
        if held_out < 0.7:
            label(client, store, ann, application, tmp_path)
    told = take(client, ann, application)["brought"]
    assert (told["score_at_first"], told["score_before"], told["score"]) == (0.5, 0.6, 0.7)
    assert (told["versions"], told["labels_in_all"]) == (2, 2 * answers.BATCH)
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = browser.get(f"/applications/{application}/work").text
    assert "In all, people’s answers made 2 versions: 40 labels and 0 cells changed." in page
    assert "Before the first of them, the best model scored 0.5 on the same rows." in page


@pytest.mark.parametrize(
    ("is_newest", "state", "came"),
    [
        (True, JobState.RESTING, 0.2),
        (True, JobState.STOPPED, 0.2),
        (True, JobState.RUNNING, None),
        (False, JobState.RESTING, 0.2),
        (False, JobState.STOPPED, None),  # cut short by the next batch
    ],
)
def test_what_came_of_people_is_told_by_validation_rows_of_searches_that_ended(
    client: TestClient, store: Store, ann, is_newest: bool, state: JobState, came: float | None
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    later = new_id("job")
    with store.write() as tx:
        tables = tx.scoped(ann.caller.tenant_id)
        job = tables.jobs.get(made.job_id)
        tables.jobs.add(replace(job, id=later, state=state, best_quality=0.7))
        if not is_newest:
            tables.jobs.add(replace(job, id=new_id("job"), state=JobState.RUNNING))
        model = tables.models.get(made.model_id)
        for id in made.model_ids:
            tables.models.update(id, quality=0.9, held_out=0.6)
        task = tables.tasks.add(replace(tables.tasks.get(made.task_id), id=new_id("task")))
        own = {"id": new_id("mod"), "job_id": later, "task_id": task.id}
        tables.models.add(replace(model, **own, quality=0.7, held_out=0.8))
        tables.suggestions.add(
            Suggestion(
                new_id("sug"),
                tenant_id=ann.caller.tenant_id,
                application_id=made.application_id,
                version_id=made.version_id,
                job_id=made.job_id,
                kind="label",
                gain=0.1,
                low=0.0,
                high=0.3,
                score=0.9,
                human_minutes=5.0,
                device_seconds=0.0,
            )
        )
    place = f"{APPLICATIONS}/{made.application_id}/suggestions"
    (shown,) = client.get(place, headers=ann.headers).json()["items"]
    assert shown["came"] == (came if came is None else pytest.approx(came))
