"""Remedies of a report are buttons: each does what it says, or leads to where it is done."""

import json
import re
from dataclasses import replace

import pytest
from fastapi.testclient import TestClient
from furnish import Furniture, furnish

from easeml.ids import new_id
from easeml.service.advice import followed
from easeml.service.advice.tools import Answered
from easeml.service.production import labelled_rows
from easeml.service.versions import changes
from easeml.store import Store
from easeml.store.records import Gate, Job, Report
from easeml.store.shapes import JobLimits, Rules
from easeml.web import create_pages, session

KINDS = ("search", "collect", "repair-source", "check-labels")


@pytest.fixture
def made(store: Store, ann) -> Furniture:
    return furnish(store, ann.caller.tenant_id)


@pytest.fixture
def pages(client: TestClient, ann) -> TestClient:
    return TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})


def reported(store: Store, made: Furniture, tenant_id: str, kinds: tuple[str, ...] = KINDS) -> str:
    """Keep a report with a remedy of each kind; return its id."""
    remedy = {"title": "t", "reason": "r", "about": "a", "corrected": 3.0, "low": 1.0, "high": 5.0}
    slices = {"conditions": [], "items": [], "human_minutes": 1.0, "device_seconds": 1.0}
    remedies = [{"kind": kind, **remedy, **slices} for kind in kinds]
    answer = {"advice": "", "numbers": [], "assumes": [], "remedies": remedies}
    digest, _ = store.artefacts.put_stream(tenant_id, [json.dumps(answer).encode()], 10_000)
    told = Answered(made.task_id, {}, made.model_id, {}, digest, "", "", 0.0, "", "")
    with store.write() as tx:
        report = Report(
            new_id("rep"),
            kind="debug",
            subject=made.application_id,
            version_id=made.version_id,
            value=told.to_json(),
            tenant_id=tenant_id,
        )
        return tx.scoped(tenant_id).reports.add(report).id


def follow(pages: TestClient, made: Furniture, report: str, kind: str) -> str:
    """Press the button of a remedy; return the page that follows."""
    number = KINDS.index(kind) + 1
    wish = {"csrf": session.csrf_token(pages.cookies["easeml_session"]), "report": report}
    place = f"/applications/{made.application_id}/remedy"
    answer = pages.post(place, data={**wish, "number": str(number)})
    assert answer.status_code == 200, answer.text
    found = re.search(r'id="followed-remedy" role="status">([^<]+)<', answer.text)
    assert found
    return f"{answer.url.path}: {found[1]}"


def test_each_remedy_does_what_it_says_or_leads_there(
    pages: TestClient, store: Store, ann, made: Furniture
) -> None:
    report = reported(store, made, ann.caller.tenant_id)
    here = f"/applications/{made.application_id}"
    searched = follow(pages, made, report, "search")
    assert searched.startswith(f"{here}: Nothing was changed. More time would not help now. Little")
    assert follow(pages, made, report, "collect").startswith(f"{here}/data: No rows without")
    assert follow(pages, made, report, "repair-source").startswith(f"{here}/data: Repair the")
    assert follow(pages, made, report, "check-labels").startswith(f"{here}/work: The questions")
    with store.read() as tx:
        tables = tx.scoped(ann.caller.tenant_id)
        application = tables.applications.get(made.application_id)
        known = followed.newest(store, tables, application, "debug", made.model_id)
    assert [one["kind"] for one in known] == list(KINDS)  # the next answer judges them
    assert {one["is_same_model"] for one in known} == {True}


def job_of(store: Store, ann, made: Furniture) -> Job:
    with store.read() as tx:
        return tx.scoped(ann.caller.tenant_id).jobs.get(made.job_id)


def limit(store: Store, ann, made: Furniture, limits: JobLimits) -> None:
    with store.write() as tx:
        tx.scoped(ann.caller.tenant_id).jobs.update(made.job_id, limits=limits, state="running")


def test_searching_on_moves_a_deadline_that_has_passed_and_no_other(
    pages: TestClient, store: Store, ann, made: Furniture
) -> None:
    report = reported(store, made, ann.caller.tenant_id)
    with store.read() as tx:
        now = tx.now()
    limit(store, ann, made, JobLimits(deadline=now - 60))
    assert "10 min from now at the latest" in follow(pages, made, report, "search")
    moved = job_of(store, ann, made).limits.deadline
    assert moved is not None
    assert now + 600 <= moved <= now + 660
    limit(store, ann, made, JobLimits(deadline=2e9))
    told = follow(pages, made, report, "search")
    assert "Nothing was changed" in told
    assert job_of(store, ann, made).limits == JobLimits(deadline=2e9)


def test_searching_on_raises_what_limits_the_search(
    pages: TestClient, store: Store, ann, made: Furniture
) -> None:
    report = reported(store, made, ann.caller.tenant_id)
    with store.write() as tx:
        limits = JobLimits(12, 60.0, 2e9)
        tx.scoped(ann.caller.tenant_id).jobs.update(made.job_id, limits=limits, state="paused")
    told = follow(pages, made, report, "search")
    assert "32 tasks in all, 11 min of device time in all" in told
    assert "set its limits back" in told
    job = job_of(store, ann, made)
    assert job.limits == JobLimits(32, 660.0, 2e9)
    assert job.state == "running"
    with store.write() as tx:
        unlimited = {"limits": JobLimits(), "state": "paused"}
        tx.scoped(ann.caller.tenant_id).jobs.update(made.job_id, **unlimited)
    assert "goes on: it has no limits. To undo it, " in follow(pages, made, report, "search")
    assert job_of(store, ann, made).state == "running"
    with store.write() as tx:
        tx.scoped(ann.caller.tenant_id).jobs.update(made.job_id, state="stopped")
    assert "ended for good" in follow(pages, made, report, "search")


def test_models_that_the_search_may_not_try_are_offered(
    pages: TestClient, store: Store, ann, made: Furniture
) -> None:
    report = reported(store, made, ann.caller.tenant_id)
    limit(store, ann, made, JobLimits(tasks=1))
    with store.write() as tx:
        applications = tx.scoped(ann.caller.tenant_id).applications
        applications.update(made.application_id, rules=Rules(exclude=["logistic"]))
    told = follow(pages, made, report, "search")
    assert told.startswith(f"/applications/{made.application_id}/models: The search goes on: ")
    assert "let them in below" in told


@pytest.mark.parametrize("gated", [False, True])
def test_rows_that_are_learned_from_are_judged_by_but_no_gate_is(
    store: Store, ann, made: Furniture, gated: bool
) -> None:
    tenant = ann.caller.tenant_id
    digest, _ = store.artefacts.put_stream(tenant, [b"a,b\n1,2\n"], 100)
    with store.write() as tx:
        tables = tx.scoped(tenant)
        if gated:
            tables.gates.add(Gate(new_id("gat"), tenant, made.application_id, {}, 0, 10))
        version = changes.learn_from(tx, made.application_id, digest, [], tenant, instead=True)
        (task,) = tables.tasks.list(subject=version.id, limit=None)
    roles = ["train", "validation"] if gated else ["train", "validation", "test"]
    assert task.payload["learned"] == roles
    assert task.payload["instead"]


def test_rows_that_were_learned_from_join_once(
    client: TestClient, store: Store, ann, made: Furniture
) -> None:
    """Twice, they would teach and judge at once. An owner who went back may have them again."""
    tenant = ann.caller.tenant_id
    report = reported(store, made, tenant, kinds=("retrain",))
    here = f"/api/v1/applications/{made.application_id}/reports/{report}/remedies/1"
    first = versioned(store, tenant, made, followed=f"{report} 1")
    again = client.post(here, headers=ann.headers).json()
    assert again["version_id"] == first
    assert "has these rows already" in again["told"]
    with store.write() as tx:
        tx.scoped(tenant).applications.update(made.application_id, version_id=made.version_id)
    assert client.post(here, headers=ann.headers).json()["version_id"] != first


def test_a_remedy_that_was_undone_is_not_judged(store: Store, ann, made: Furniture) -> None:
    """Who goes back to the data of before took it back: what comes is not its doing."""
    tenant = ann.caller.tenant_id
    report = reported(store, made, tenant, kinds=("retrain",))
    version = versioned(store, tenant, made, followed=f"{report} 1")

    def judged() -> list[str]:
        with store.write() as tx:
            tables = tx.scoped(tenant)
            followed.mark(tx, tables.reports.get(report), 1)
            application = tables.applications.get(made.application_id)
            return [
                one["kind"]
                for one in followed.newest(store, tables, application, "debug", made.model_id)
            ]

    assert judged() == ["retrain"]
    with store.write() as tx:
        tx.scoped(tenant).applications.update(made.application_id, version_id=made.version_id)
    assert judged() == []
    with store.write() as tx:
        tx.scoped(tenant).applications.update(made.application_id, version_id=version)
    assert judged() == ["retrain"]


def test_what_was_refused_or_cannot_be_read_is_not_judged(
    client: TestClient,
    store: Store,
    ann,
    made: Furniture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tenant = ann.caller.tenant_id
    monkeypatch.setattr(labelled_rows, "newest", lambda *_: b"a,b\n1,2\n")
    lost = reported(store, made, tenant, kinds=("search",))
    report = reported(store, made, tenant, kinds=("retrain", "search"))
    here = f"/api/v1/applications/{made.application_id}/reports"
    for place in (f"{lost}/remedies/1", f"{report}/remedies/2"):
        client.post(f"{here}/{place}", headers=ann.headers).raise_for_status()
    with store.write() as tx:
        tables = tx.scoped(tenant)
        value = Answered.from_json(tables.reports.get(lost).value)
        tables.reports.update(lost, value=replace(value, artefact="0" * 64).to_json())
        digest = store.artefacts.put_stream(tenant, [b"a,b\n1,2\n"], 100)[0]
        changes.learn_from(tx, made.application_id, digest, [], tenant)  # the data is being changed
    answer = client.post(f"{here}/{report}/remedies/1", headers=ann.headers)
    assert answer.json()["code"] == "not-ready"
    with store.read() as tx:
        tables = tx.scoped(tenant)
        application = tables.applications.get(made.application_id)
        known = followed.newest(store, tables, application, "debug", made.model_id)
    assert [one["kind"] for one in known] == ["search"]


def versioned(store: Store, tenant_id: str, made: Furniture, followed: str) -> str:
    """Let an application go on with a version that a remedy has made; return its id."""
    digest, _ = store.artefacts.put_stream(tenant_id, [b"a,b\n1,2\n"], 100)
    with store.write() as tx:
        tables = tx.scoped(tenant_id)
        made_of_it = changes.learn_from(
            tx, made.application_id, digest, [], tenant_id, remedy=followed
        )
        tables.versions.update(made_of_it.id, state="ready")
        tables.applications.update(made.application_id, version_id=made_of_it.id)
    return made_of_it.id
