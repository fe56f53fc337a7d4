"""Which columns moved an answer: asked for by the page and by REST, and shown."""

import json

from fastapi.testclient import TestClient
from furnish import furnish

from easeml.contract.applications import Prediction
from easeml.contract.predictions import as_columns
from easeml.store import Store
from easeml.web import create_pages, session

COLUMNS = [
    {"column": "size", "value": 0.25, "error": 0.01},
    *({"column": f"more{place}", "value": -0.01, "error": 0.0} for place in range(11)),
]
ANSWER = {
    "model_id": "m",
    "model_name": "n",
    "predictions": ["yes"],
    "probabilities": [{"no": 0.2, "yes": 0.8}],
    "attributions": [{"of": "yes", "base": 0.66, "compared_with": 40, "columns": COLUMNS}],
}


def test_the_page_shows_what_moved_an_answer_in_its_own_words(
    client: TestClient, store: Store, predictor, ann
) -> None:
    made = furnish(store, ann.caller.tenant_id)
    predictor.content = json.dumps(ANSWER).encode()
    pages = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})
    path = f"/applications/{made.application_id}/try"
    assert 'name="explain" value="1" checked' in pages.get(path).text
    asked = {"csrf": session.csrf_token(ann.key), "value0": "1"}
    shown = pages.post(path, data={**asked, "explain": "1"}).text
    assert predictor.seen[-1][2] == "application/json; explain=true"
    assert "On average over 40 training rows, the probability of yes is 66 %." in shown
    assert 'aria-label="size +25 %"' in shown
    assert 'aria-label="more0 −1.0 %"' in shown
    assert "2 other columns moved it by −2.0 % together." in shown
    shown = pages.post(path, data=asked).text
    assert predictor.seen[-1][2] == "application/json"
    assert 'name="explain" value="1">' in shown


def test_rest_asks_for_it_by_the_query(client: TestClient, store: Store, predictor, ann) -> None:
    made = furnish(store, ann.caller.tenant_id)
    predictor.content = json.dumps(ANSWER).encode()
    path = f"/api/v1/applications/{made.application_id}/predict"
    answer = client.post(f"{path}?explain=true", json=[{"size": 1}], headers=ann.headers)
    assert answer.json()["attributions"] == ANSWER["attributions"]
    assert predictor.seen[-1][2] == "application/json; explain=true"


def test_files_have_a_column_for_what_each_column_added() -> None:
    two = [
        {"of": "yes", "base": 0.5, "compared_with": 9, "columns": columns}
        for columns in (
            [
                {"column": "a", "value": 0.2, "error": 0.0},
                {"column": "b", "value": 0.1, "error": 0},
            ],
            [{"column": "b", "value": -0.3, "error": 0}, {"column": "a", "value": 0.0, "error": 0}],
        )
    ]
    facts = {"model_id": "m", "model_name": "n", "predictions": ["yes", "no"]}
    prediction = Prediction.model_validate({**facts, "attributions": two})
    columns = as_columns(prediction)
    assert columns["because_a"] == [0.2, 0.0]
    assert columns["because_b"] == [0.1, -0.3]
