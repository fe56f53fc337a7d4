"""People are asked about the rows that judge models, too: a wrong answer there lets a worse one serve."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from fastapi.testclient import TestClient
from inline_worker import consider, train, work_off
from test_asking_tools import upload
from test_reports import APPLICATIONS
from test_work import give, take

from easeml import data
from easeml.contract.states import WorkKind
from easeml.ids import new_id
from easeml.kinds.shared.predictions import read_predictions
from easeml.modules import load_registry
from easeml.search import CostBelief
from easeml.service.advice import test_quality
from easeml.service.search import job_states
from easeml.store import Store
from easeml.store.records import Application, DatasetVersion, TrainedModel, WorkItem
from easeml.store.shapes import WorkQuestion
from easeml.web import create_pages

ROWS = 300
SLIPPED = 12  # every so many-th price slipped by ten


def price_of(row: int) -> float:
    """Return what a house truly costs: 100 to 200."""
    return 100.0 + (37 * row) % 1000 / 10 + (row % 7) / 10


def houses() -> str:
    """Return houses whose price follows from their size; some slipped by ten."""
    lines = ["size,price"]
    for row in range(ROWS):
        size = (37 * row) % 1000 / 10
        price = price_of(row)
        if row % SLIPPED == 5:
            price = price / 10.0
        lines.append(f"{size},{price:.1f}")
    return "\n".join(lines) + "\n"


def declared(client: TestClient, store: Store, person, folder: Path, content: str, to: str) -> str:
    dataset = upload(client, store, person, folder, content)
    wish = {"dataset_id": dataset["id"], "target": to}
    made = client.post(APPLICATIONS, json=wish, headers=person.headers)
    assert made.status_code == 201, made.text
    work_off(store, folder)
    return made.json()["id"]


def job_of(client: TestClient, person, application: str) -> str:
    told = client.get(f"{APPLICATIONS}/{application}", headers=person.headers).json()
    return told["job"]["id"]


def read(store: Store, person, application_id: str) -> tuple[Application, DatasetVersion]:
    with store.read() as tx:
        tables = tx.scoped(person.caller.tenant_id)
        application = tables.applications.get(application_id)
        return application, tables.versions.get(application.version_id)


def frames_of(store: Store, version: DatasetVersion) -> dict[str, pd.DataFrame]:
    with TemporaryDirectory() as folder:
        place = Path(folder, "version")
        store.artefacts.fetch(version.tenant_id, version.artefact, place)
        found = data.read_declared(place).frames
    return {role: frame.set_index(data.ROW) for role, frame in found.items()}


def asked(client: TestClient, person, application: str) -> list[dict]:
    place = f"{APPLICATIONS}/{application}/work"
    return client.get(place, headers=person.headers).json()["items"]


@pytest.fixture
def desk(client: TestClient, store: Store, ann, tmp_path: Path) -> str:
    """An application of house prices, some of which slipped, that serves a model."""
    made = declared(client, store, ann, tmp_path, houses(), "price")
    train(store, tmp_path, job_of(client, ann, made), arm=1)
    work_off(store, tmp_path)
    take(client, ann, made)
    work_off(store, tmp_path)
    return made


def slipped(frame: pd.DataFrame) -> set[int]:
    return {row for row in frame.index if row % SLIPPED == 5}


def test_answers_of_rows_that_judge_are_asked_corrected_and_read_anew(
    client: TestClient, store: Store, ann, desk: str, tmp_path: Path
) -> None:
    _, version = read(store, ann, desk)
    frames = frames_of(store, version)
    before = quality(client, store, ann, desk, tmp_path)
    assert before["corrected"] == 0
    doubted = slipped(frames["validation"]), slipped(frames["test"])
    assert all(doubted)
    items = {item["row"]: item for item in asked(client, ann, desk)}
    assert doubted[0] <= set(items)
    assert set(items) & set(frames["test"].index) == doubted[1]  # by their values, by no model
    for row in doubted[0] | doubted[1]:
        assert items[row]["given"]
        assert items[row]["options"] == []  # no model says what to answer, nor how sure it is
        give(client, ann, items[row], value=f"{price_of(row):.1f}").raise_for_status()
    client.post(f"{APPLICATIONS}/{desk}/work/use", headers=ann.headers)
    work_off(store, tmp_path)

    application, version = read(store, ann, desk)
    assert version.summary.corrected("validation") == len(doubted[0])
    assert version.summary.corrected("test") == len(doubted[1])
    after = frames_of(store, version)
    for role in ("validation", "test"):
        right = [round(price_of(row), 1) for row in after[role].index]
        assert after[role]["price"].round(1).tolist() == right
        assert list(after[role].index) == list(frames[role].index)

    consider(store, job_of(client, ann, desk))
    work_off(store, tmp_path)
    consider(store, job_of(client, ann, desk))
    work_off(store, tmp_path)
    now = quality(client, store, ann, desk, tmp_path)
    assert now["corrected"] == len(doubted[1])
    assert now["value"] > before["value"] + 0.2
    with store.read() as tx:
        reports = tx.scoped(ann.caller.tenant_id).reports
        rescored = reports.newest(kind="rescore", subject=desk)
    assert rescored is not None
    assert rescored.value["model_id"] == application.live_model_id
    assert rescored.version_id == version.id


def quality(client: TestClient, store: Store, person, application: str, folder: Path) -> dict:
    """Return the quality on test rows of what serves, read where that is due."""
    found, _ = read(store, person, application)
    with store.write() as tx:
        live = tx.scoped(person.caller.tenant_id).models.get(found.live_model_id)
        test_quality.request_test_quality(tx, live)
    work_off(store, folder)
    told = client.get(f"{APPLICATIONS}/{application}", headers=person.headers).json()
    return told["test_quality"]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("far-answer", "This row judges models that have not learned from it."),
        ("far-test-answer", "no model had a part in asking about it"),
    ],
)
def test_a_page_says_that_models_are_judged_by_a_row(
    client: TestClient, ann, desk: str, source: str, said: str
) -> None:
    item = take(client, ann, desk)["item"]
    while item["source"] != source:
        give(client, ann, item, way="skip").raise_for_status()
        item = take(client, ann, desk)["item"]
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = browser.get(f"/applications/{desk}/work").text
    assert f"really {item['given']}?" in page
    assert said in page
    form = page.partition('id="work-form"')[2].partition("</form>")[0]
    assert f'value="{item["given"]}"' in form  # one key says that it is right
    assert "%" not in form  # nothing says how likely a model holds that


def test_nobody_is_asked_about_test_rows_on_which_a_gate_counts(
    client: TestClient, store: Store, ann, desk: str, tmp_path: Path
) -> None:
    _, version = read(store, ann, desk)
    tests = set(frames_of(store, version)["test"].index)
    items = asked(client, ann, desk)
    assert tests & {item["row"] for item in items}
    first = next(item for item in items if item["row"] in tests)
    give(client, ann, first, value="123.4").raise_for_status()
    wish = {"condition": "o - n > 0.1 +/- 0.4", "metric": "absolute-error", "scale": 50.0}
    wish |= {"reliability": 0.9, "steps": 2}
    told = client.post(f"{APPLICATIONS}/{desk}/gates", json=wish, headers=ann.headers)
    assert told.status_code in (200, 201), told.text
    assert not tests & {item["row"] for item in asked(client, ann, desk)}
    client.post(f"{APPLICATIONS}/{desk}/work/use", headers=ann.headers)
    work_off(store, tmp_path)
    _, version = read(store, ann, desk)
    assert version.summary.corrected("test") == 0


@pytest.mark.parametrize("flattery", [0.0, 0.9])
def test_a_model_of_before_serves_where_corrected_answers_show_it_is_better(
    client: TestClient, store: Store, ann, tmp_path: Path, flattery: float
) -> None:
    """By more than the best of many is flattered, where an ensemble serves, which is not."""
    made = declared(client, store, ann, tmp_path, mixed(), "kind")
    job = job_of(client, ann, made)
    for arm in arms_of_each_model(store, ann, job)[:4]:
        train(store, tmp_path, job, arm=arm)
    work_off(store, tmp_path)
    application, version = read(store, ann, made)
    with store.read() as tx:
        models = tx.scoped(ann.caller.tenant_id).models.list(application_id=made, limit=None)
    live = application.live_model_id
    ranked = named(models, live).quality + flattery
    with store.write() as tx:
        tx.scoped(ann.caller.tenant_id).models.update(live, compared_by=ranked)
    said = most_unlike(store, models, live)
    given: Any = frames_of(store, version)["validation"]["kind"].astype(str)
    differs: Any = (said != predicted(store, named(models, live))) & (said != given)
    wrong = said.index[differs]
    assert len(wrong) > 2
    for row in wrong[:15]:
        item = item_about(store, application, int(row), given[row])
        give(client, ann, {"id": item.id}, value=said[row]).raise_for_status()
    client.post(f"{APPLICATIONS}/{made}/work/use", headers=ann.headers).raise_for_status()
    work_off(store, tmp_path)
    consider(store, job_of(client, ann, made))

    application, version = read(store, ann, made)
    assert version.summary.corrected("validation") == len(wrong[:15])
    right = frames_of(store, version)["validation"]["kind"].astype(str)
    shares = {one.id: (predicted(store, one) == right).mean() for one in models}
    assert max(shares.values()) > shares[live]  # brute force over what each model said
    if flattery:
        assert application.live_model_id == live
        return
    assert shares[application.live_model_id] == max(shares.values())
    assert application.live_model_id in shares  # none was trained meanwhile
    with store.read() as tx:
        last = tx.scoped(ann.caller.tenant_id).promotions.newest(application_id=made)
    assert last is not None
    assert "with the answers that people corrected" in last.reason


def test_models_of_a_small_table_are_judged_again_by_the_rows_that_are_left(
    client: TestClient, store: Store, ann, desk: str, tmp_path: Path
) -> None:
    """Folds have judged them on train rows, too, one of which was switched off since."""
    arms = arms_of_each_model(store, ann, job_of(client, ann, desk))
    train(store, tmp_path, job_of(client, ann, desk), arm=arms[1])
    work_off(store, tmp_path)
    _, version = read(store, ann, desk)
    assert version.summary.folds
    frames = frames_of(store, version)
    off = {"off": [int(frames["train"].index[0])]}
    client.post(f"{APPLICATIONS}/{desk}/refine", json=off, headers=ann.headers).raise_for_status()
    work_off(store, tmp_path)
    row = min(slipped(frames["validation"]))
    application, _ = read(store, ann, desk)
    item = item_about(store, application, row, f"{frames['validation'].loc[row, 'price']:.10g}")
    give(client, ann, {"id": item.id}, value=f"{price_of(row):.1f}").raise_for_status()
    client.post(f"{APPLICATIONS}/{desk}/work/use", headers=ann.headers).raise_for_status()
    ended = work_off(store, tmp_path)
    assert [task.error for task in ended] == [""] * len(ended)
    with store.read() as tx:
        tables = tx.scoped(ann.caller.tenant_id)
        rescored = tables.reports.newest(kind="rescore", subject=desk)
        models = {model.id for model in tables.models.list(application_id=desk, limit=None)}
    assert rescored is not None
    assert rescored.value["rival"]["model_id"] in models
    assert rescored.value["rival"]["quality"] >= rescored.value["rival"]["live"]


def mixed() -> str:
    """Return a table whose kind follows from two columns, and often from neither."""
    rng = np.random.default_rng(5)
    size, age = rng.random(1_200), rng.random(1_200)
    chance = 1.0 / (1.0 + np.exp(-4.0 * (np.sin(6.0 * size) + age - 0.5)))
    is_big = rng.random(1_200) < chance
    lines = ["size,age,kind"]
    for row in range(1_200):
        kind = "big" if is_big[row] else "small"
        lines.append(f"{size[row]:.3f},{age[row]:.3f},{kind}")
    return "\n".join(lines) + "\n"


def arms_of_each_model(store: Store, person, job_id: str) -> list[int]:
    """Return the first arm of each model that a search tries."""
    with store.write() as tx:
        job_states.start_ready_jobs(tx, load_registry(), CostBelief.of(()))
        found = tx.scoped(person.caller.tenant_id).candidates.list(job_id=job_id, limit=None)
    arms: dict[str, int] = {}
    for candidate in sorted(found, key=lambda one: one.arm):
        arms.setdefault(candidate.pipeline.model.module, candidate.arm)
    return list(arms.values())


def named(models: list[TrainedModel], id: str) -> TrainedModel:
    return next(model for model in models if model.id == id)


def predicted(store: Store, model: TrainedModel) -> pd.Series:
    """Return what a model said of validation rows, by id."""
    path = store.artefacts.path(model.tenant_id, model.predictions)
    rows, said = read_predictions(path, "validation")
    return pd.Series(said.values.astype(str), index=rows)


def most_unlike(store: Store, models: list[TrainedModel], live: str) -> pd.Series:
    """Return what the model says that says most unlike what serves."""
    of_live = predicted(store, named(models, live))
    others = [predicted(store, model) for model in models if model.id != live]
    return max(others, key=lambda said: (said != of_live).sum())


def item_about(store: Store, application: Application, row: int, given: str) -> WorkItem:
    """Return a question about the answer of a row, as the queue has it."""
    with store.write() as tx:
        version = tx.scoped(application.tenant_id).versions.get(application.version_id)
        column = version.summary.target
        return tx.scoped(application.tenant_id).work_items.add(
            WorkItem(
                id=new_id("item"),
                tenant_id=application.tenant_id,
                application_id=application.id,
                version_id=application.version_id,
                kind=WorkKind.CHECK_LABEL,
                row=row,
                column=column,
                information=0.1,
                question=WorkQuestion(given=given),
            )
        )
