"""A gate on the chances of a class, and which classes there are."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from inline_worker import work_off
from test_gated_applications import application, better_model, job_of, promotions, put, rest

from easeml.store import Store
from easeml.web import create_pages, session

__all__ = ["application"]


def test_a_model_serves_once_its_chances_are_proven(
    client: TestClient, store: Store, ann, application: str, tmp_path: Path
) -> None:
    wish = {"metric": "brier", "positive": "big", "steps": 2, "adaptivity": "none"}
    told = put(client, ann, application, "n < 0.9 +/- 0.2", **wish)
    assert told.status_code == 200, told.text
    assert "chance of 'big'" in told.json()["promise"]
    model = better_model(store, tmp_path, job_of(client, ann, application), arm=1)
    rest(store, job_of(client, ann, application))
    work_off(store, tmp_path)
    last = promotions(client, ann, application)[-1]
    assert (last["model_id"], last["state"]) == (model, "live"), last


@pytest.mark.parametrize("metric", ["f1", "brier"])
def test_a_class_that_no_row_has_is_refused_when_the_gate_is_set(
    client: TestClient, ann, application: str, metric: str
) -> None:
    """Each model was refused then, as it could not be tested."""
    refused = put(client, ann, application, "n < 0.9 +/- 0.2", metric=metric, positive="1")
    assert refused.status_code == 422
    assert refused.json()["where"] == "positive"
    assert "Name one of" in refused.json()["remedy"]


def test_a_page_offers_what_n_and_o_may_measure(client: TestClient, ann, application: str) -> None:
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    page = f"/applications/{application}"
    assert '<option value="brier">' in browser.get(f"{page}/history").text
    told = {"csrf": session.csrf_token(ann.key), "condition": "n < 0.9 +/- 0.2", "steps": "3"}
    told |= {"reliability": "0.9", "metric": "brier", "positive": "big", "action": "set"}
    shown = browser.post(f"{page}/gate", data=told).text
    assert "chance of &#39;big&#39;" in shown
    assert '<option value="brier" selected>' in shown
    assert "<option selected>big</option>" in shown
