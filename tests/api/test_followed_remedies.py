"""Remedies of a report are buttons: each does what it says, or leads to where it is done."""

import json
import re

import pytest
from fastapi.testclient import TestClient
from furnish import Furniture, furnish

from easeml.ids import new_id
from easeml.service.advice.tools import Answered
from easeml.store import Store
from easeml.store.records import Report
from easeml.store.shapes import JobLimits
from easeml.web import create_pages, session

KINDS = ("search", "collect", "repair-source", "check-labels")


@pytest.fixture
def made(store: Store, ann) -> Furniture:
    return furnish(store, ann.caller.tenant_id)


@pytest.fixture
def pages(client: TestClient, ann) -> TestClient:
    return TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})


def reported(store: Store, made: Furniture, tenant_id: str) -> str:
    """Keep a report whose remedies are of each of ``KINDS``; return its id."""
    remedy = {"title": "t", "reason": "r", "about": "a", "corrected": 3.0, "low": 1.0, "high": 5.0}
    slices = {"conditions": [], "items": [], "human_minutes": 1.0, "device_seconds": 1.0}
    remedies = [{"kind": kind, **remedy, **slices} for kind in KINDS]
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
    assert follow(pages, made, report, "search").startswith(f"{here}: The search has no limits")
    assert follow(pages, made, report, "collect").startswith(f"{here}/data: No rows without")
    assert follow(pages, made, report, "repair-source").startswith(f"{here}/data: Repair the")
    assert follow(pages, made, report, "check-labels").startswith(f"{here}/work: The questions")


def test_searching_on_raises_what_limits_the_search(
    pages: TestClient, store: Store, ann, made: Furniture
) -> None:
    report = reported(store, made, ann.caller.tenant_id)
    with store.write() as tx:
        limits = JobLimits(12, 60.0, 2e9)
        tx.scoped(ann.caller.tenant_id).jobs.update(made.job_id, limits=limits, state="paused")
    assert "set its limits back" in follow(pages, made, report, "search")
    with store.read() as tx:
        job = tx.scoped(ann.caller.tenant_id).jobs.get(made.job_id)
    assert job.limits == JobLimits(32, 660.0, 2e9)
    assert job.state == "running"
    with store.write() as tx:
        tx.scoped(ann.caller.tenant_id).jobs.update(made.job_id, state="stopped")
    assert "ended for good" in follow(pages, made, report, "search")
