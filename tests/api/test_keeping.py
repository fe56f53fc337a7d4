"""Applications over the years: renamed."""

from fastapi.testclient import TestClient
from furnish import furnish

from easeml.store import Store


def test_a_new_name_changes_no_address(client: TestClient, store: Store, ann) -> None:
    here = f"/api/v1/applications/{furnish(store, ann.caller.tenant_id).application_id}"
    before = client.get(here, headers=ann.headers).json()
    answer = client.post(f"{here}/rename", json={"name": "flowers"}, headers=ann.headers)
    assert answer.status_code == 200, answer.text
    after = client.get(here, headers=ann.headers).json()
    assert after == {**before, "name": "flowers"}
    assert after["endpoint"] == before["endpoint"]
    assert client.post(f"{here}/predict", json=[{}], headers=ann.headers).status_code == 200
    for name in ("", " ", "two\nlines", "x" * 201):
        refused = client.post(f"{here}/rename", json={"name": name}, headers=ann.headers)
        assert refused.status_code == 422, name
