"""Adding a model to a running easeml: what is refused, what is checked, and who gets it."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from furnish import furnish
from inline_worker import claim, do, work_off

from described_model import DISCRIMINANT
from easeml.contract.tasks import TaskResult
from easeml.engine import task_main
from easeml.modules.pipeline import load_trained
from easeml.search import Decision as Choice
from easeml.service.knowledge import knowledge_base
from easeml.service.search import training_tasks
from easeml.service.tasks import results
from easeml.store import Store

MODULES = "/api/v1/modules"


def add(client: TestClient, person, toml: str = DISCRIMINANT) -> dict:
    answer = client.post(MODULES, json={"toml": toml}, headers=person.headers)
    assert answer.status_code == 201, answer.text
    return answer.json()


def checks(client: TestClient, person, name: str = "discriminant") -> dict:
    return client.get(f"{MODULES}/{name}/checks", headers=person.headers).json()


def test_a_model_is_checked_and_every_search_that_it_fits_goes_on_with_it(
    client: TestClient, store: Store, provider, ann, tmp_path: Path
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    before = client.get(f"/api/v1/jobs/{made.job_id}", headers=ann.headers).json()["candidates"]
    assert add(client, provider)["state"] == "checking"
    assert (
        client.get(MODULES, headers=provider.headers).json()["arriving"][0]["name"]
        == "discriminant"
    )
    assert client.get(MODULES, headers=ann.headers).json()["arriving"] == []
    (task,) = work_off(store, tmp_path)
    assert task.state == "done", task.error

    found = checks(client, provider)
    assert found["state"] == "ready", found
    assert [one["state"] for one in found["checks"]] == ["passed"] * len(found["checks"])
    assert len(found["checks"]) >= 10
    assert found["joined"] == 1
    base = client.get(MODULES, headers=ann.headers).json()
    (module,) = [one for one in base["modules"] if one["name"] == "discriminant"]
    assert module["added"]
    assert module["reference"] == "R. A. Fisher, 1936"
    assert [one["id"] for one in module["fits"]] == [made.application_id]

    assert (
        client.get(f"/api/v1/jobs/{made.job_id}", headers=ann.headers).json()["candidates"]
        == before + 4
    )
    (note,) = client.get("/api/v1/notifications", headers=ann.headers).json()["items"][:1]
    assert (note["kind"], note["data"]["model"]) == ("application.new-model", "discriminant")

    # What it trains holds all that is needed to load it.
    client.post(f"/api/v1/jobs/{made.job_id}/resume", headers=ann.headers)
    with store.write() as tx:
        registry = knowledge_base.current(tx)
        written = training_tasks.write_decision(
            tx, registry, Choice(made.job_id, before, "test", dict), "test", 1
        )
    assert written
    trained = next(task for task in work_off(store, tmp_path, "search") if task.id == written.id)
    assert trained.state == "done", trained.error
    with store.read() as tx:
        model = tx.unscoped().models.find(task_id=trained.id)
    assert model is not None
    store.artefacts.fetch(ann.caller.tenant_id, model.artefact, tmp_path / "model")
    load_trained(tmp_path / "model").check_parity()

    # No new search tries it once it is archived.
    assert (
        client.post(f"{MODULES}/discriminant/archive", headers=provider.headers).status_code == 200
    )
    with store.read() as tx:
        assert "discriminant" in knowledge_base.current(tx).archived


def test_what_fails_is_said_with_a_remedy_and_may_be_corrected(
    client: TestClient, store: Store, provider, tmp_path: Path
) -> None:
    add(
        client,
        provider,
        DISCRIMINANT.replace('"classification"', '"classification"\ntransforms = ["table-codes"]'),
    )
    work_off(store, tmp_path)
    found = checks(client, provider)
    assert found["state"] == "failed"
    failed = [one for one in found["checks"] if one["state"] == "failed"]
    assert "NaN" in failed[0]["error"]
    assert "transforms" in failed[0]["remedy"]
    assert "NaN" in found["error"]
    add(client, provider)
    work_off(store, tmp_path)
    assert checks(client, provider)["state"] == "ready"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("LinearDiscriminantAnalysis", "NoSuchThing", "cannot be loaded"),
        ("LinearDiscriminantAnalysis", "linalg", "not a class"),
        ("LinearDiscriminantAnalysis", "Real", "not trusted"),
        ("LinearDiscriminantAnalysis", "StandardScaler", "not an estimator"),
        ('solver = "lsqr"', 'solver = "lsqr"\ncolour = 1', "no parameter 'colour'"),
        ("shrinkage =", "shrink =", "no parameter 'shrink'"),
    ],
    ids=["missing", "not-a-class", "imported-there", "no-estimator", "fixed", "space"],
)
def test_a_class_that_cannot_be_used(
    client: TestClient, store: Store, provider, tmp_path: Path, old: str, new: str, said: str
) -> None:
    add(client, provider, DISCRIMINANT.replace(old, new))
    work_off(store, tmp_path)
    found = checks(client, provider)
    assert found["state"] == "failed"
    assert said in found["checks"][0]["error"]
    assert {one["state"] for one in found["checks"][1:]} == {"waiting"}


def test_checks_show_while_they_run(
    client: TestClient, store: Store, settings, provider, monkeypatch
) -> None:
    add(client, provider)
    claimed = claim(store)
    assert claimed
    _, attempt = claimed
    place = settings.home / "work" / attempt.process_id / attempt.id
    place.mkdir(parents=True)
    lines = [
        '{"name":"a","title":"A","state":"waiting"}',
        '{"name":"b","title":"B"}',
        '{"name":"a","title":"A","state":"running"}',
        "what the class prints",
        '{"name":"a","title":"A","state":"passed"}',
    ]
    (place / task_main.LOG).write_text("\n".join(lines))
    assert [(one["name"], one["state"]) for one in checks(client, provider)["checks"]] == [
        ("a", "passed"),
        ("b", "waiting"),
    ]


def test_a_class_that_hangs_or_crashes_fails(
    client: TestClient, store: Store, provider, tmp_path: Path
) -> None:
    add(client, provider)
    claimed = claim(store)
    assert claimed
    with store.read() as tx:
        assert results.task_spec(tx, claimed[0]).seconds
    with store.write() as tx:
        results.accept(
            tx, claimed[1], TaskResult(ok=False, error="The task ran longer than its limit."), {}
        )
    found = checks(client, provider)
    assert (found["state"], found["error"]) == ("failed", "The task ran longer than its limit.")
    assert client.get(MODULES, headers=provider.headers).json()["arriving"][0]["error"]
    assert (
        client.post(f"{MODULES}/discriminant/archive", headers=provider.headers).status_code == 200
    )
    assert client.get(MODULES, headers=provider.headers).json()["arriving"] == []


@pytest.mark.parametrize(
    ("old", "new", "status", "said"),
    [
        ('name = "discriminant"', "name = ", 422, "not TOML"),
        ('name = "discriminant"', 'name = "logistic"', 409, "already"),
        ('name = "discriminant"', 'name = "Ä/../x"', 422, "lower-case"),
        ('kind = "model"', 'kind = "transform"', 422, "of this kind of module"),
        ("sklearn.discriminant_analysis", "os.path", 422, "not trusted"),
        ("sklearn.discriminant_analysis", "sklearnx.y", 422, "not trusted"),
        ("sklearn.discriminant_analysis", "xgboost.nothing", 422, "not installed"),
        ("sklearn.discriminant_analysis:", "sklearn.utils:os.", 422, "not a python class"),
        ('accepts = "classification"', 'accepts = "wishes"', 422, "classification, regression"),
        ('accepts = "classification"', "", 422, "schema_in is missing"),
        ('about = "', 'transforms = ["no-such"]\nabout = "', 422, "no transform 'no-such'"),
        ('about = "', 'transforms = 5\nabout = "', 422, "transforms is not a list"),
        ('about = "', 'rank = "first"\nabout = "', 422, "rank is not a whole number"),
        ("[space]", "[cost]\nseconds = -1\n[space]", 422, "cost.seconds"),
        ("[space]", "[cost]\nseconds = nan\n[space]", 422, "cost.seconds"),
        ("[0.0, 1.0]", "[1.0, 0.0]", 422, "lower bound"),
        ("[space]", "[wishes]", 422, "wishes"),
    ],
    ids=lambda value: None if isinstance(value, str) else str(value),
)
def test_what_is_no_model_is_refused(
    client: TestClient, provider, old: str, new: str, status: int, said: str
) -> None:
    answer = client.post(
        MODULES, json={"toml": DISCRIMINANT.replace(old, new)}, headers=provider.headers
    )
    assert answer.status_code == status, answer.text
    assert said in answer.json()["detail"] + answer.json()["remedy"]


def test_the_same_name_twice_and_files_too_large(client: TestClient, provider) -> None:
    add(client, provider)
    again = client.post(
        MODULES, json={"toml": DISCRIMINANT.replace("1.0", "2.0", 1)}, headers=provider.headers
    )
    assert again.status_code == 409
    assert "being checked" in again.json()["detail"]
    large = {"toml": DISCRIMINANT + "#" * 70_000}
    assert client.post(MODULES, json=large, headers=provider.headers).status_code in (413, 422)
    wide = {"toml": DISCRIMINANT + "#" + "ä" * 40_000}
    assert client.post(MODULES, json=wide, headers=provider.headers).status_code == 413


def test_only_providers_add_and_look(client: TestClient, provider, ann) -> None:
    assert client.post(MODULES, json={"toml": DISCRIMINANT}, headers=ann.headers).status_code == 403
    assert client.post(MODULES, json={"toml": DISCRIMINANT}).status_code == 401
    add(client, provider)
    assert client.get(f"{MODULES}/discriminant/checks", headers=ann.headers).status_code == 403
    assert client.get(f"{MODULES}/logistic/checks", headers=provider.headers).status_code == 404


def test_a_lost_worker_is_followed_by_another_and_old_results_change_nothing(
    client: TestClient, store: Store, provider, tmp_path: Path
) -> None:
    add(client, provider)
    first = claim(store)
    assert first
    with store.write() as tx:
        tx.queue.release("proc_inline")
    second = claim(store)
    assert second
    assert second[1].number == 2
    assert do(store, tmp_path, *second).state == "done"
    assert checks(client, provider)["state"] == "ready"
