"""What of an application is kept, as its owner says on the page of settings."""

import re

from fastapi.testclient import TestClient
from furnish import Furniture, furnish

from easeml.store import Store
from easeml.web import create_pages


def test_an_owner_says_what_is_kept_and_leaves_it_to_the_provider_again(
    client: TestClient, store: Store, ann
) -> None:
    made, visitor = _visiting(client, store, ann)
    base = f"/applications/{made.application_id}"
    sent = {"csrf": _token(visitor.get(f"{base}/settings").text)}
    shown = visitor.post(f"{base}/retention", data={**sent, "models": "3", "model_days": "1.5"})
    assert _value(shown.text, "kept-models") == "3"
    assert _value(shown.text, "kept-days") == "1.5"
    assert _rule(client, ann, made)["result_days"] == 30  # as the provider says
    shown = visitor.post(f"{base}/retention", data={**sent, "models": "", "model_days": ""})
    assert _value(shown.text, "kept-models") == ""
    assert _rule(client, ann, made)["asked"] == dict.fromkeys(
        ("models", "model_days", "result_days")
    )


def test_what_is_no_number_is_refused_with_its_field(client: TestClient, store: Store, ann) -> None:
    made, visitor = _visiting(client, store, ann)
    base = f"/applications/{made.application_id}"
    sent = {"csrf": _token(visitor.get(f"{base}/settings").text)}
    for field, value in (("models", "two"), ("models", "0"), ("model_days", "-1")):
        answer = visitor.post(f"{base}/retention", data={**sent, field: value})
        assert answer.status_code == 422, (field, value)
        assert field in answer.text
    assert visitor.post(f"{base}/retention").status_code == 403  # without the token


def test_a_model_is_kept_and_left_to_the_rules_again(client: TestClient, store: Store, ann) -> None:
    made, visitor = _visiting(client, store, ann)
    base = f"/applications/{made.application_id}"
    sent = {"csrf": _token(visitor.get(f"{base}/settings").text)}
    kept = visitor.post(f"{base}/keep-model", data={**sent, "model": made.model_id})
    assert "kept regardless of the rules" in kept.text
    assert _rule(client, ann, made)["kept"] == [made.model_id]
    visitor.post(f"{base}/keep-model", data={**sent, "model": made.model_id, "release": "1"})
    assert _rule(client, ann, made)["kept"] == []
    assert visitor.post(f"{base}/keep-model", data=sent).status_code == 422


def _visiting(client: TestClient, store: Store, ann) -> tuple[Furniture, TestClient]:
    made = furnish(store, ann.caller.tenant_id)
    return made, TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})


def _rule(client: TestClient, ann, made: Furniture) -> dict:
    path = f"/api/v1/applications/{made.application_id}/retention"
    return client.get(path, headers=ann.headers).json()


def _token(page: str) -> str:
    return re.findall(r'name="csrf" value="([^"]+)"', page)[0]


def _value(page: str, field: str) -> str:
    return re.findall(rf'id="{field}"[^>]* value="([^"]*)"', page)[0]
