"""How many predictions a second a tenant may ask for."""

import asyncio

import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st

from easeml.api.request_rates import RequestRates
from easeml.errors import TooMany
from easeml.store import Store

HERE = "/api/v1/applications/app_x"


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def limited(clock: Clock, most: float) -> RequestRates:
    rates = RequestRates(None, clock)  # type: ignore[arg-type]
    rates._limits, rates._looked = {"ten_a": most}, float("inf")
    return rates


@given(
    st.floats(0.1, 50.0),
    st.lists(st.floats(0.0, 2.0), min_size=1, max_size=60),
)
def test_never_more_than_the_rate_and_one_second_ahead(most: float, pauses: list[float]) -> None:
    """Against counting: in any span of ``t`` seconds at most ``most * t + max(1, most)`` pass."""
    clock = Clock()
    rates = limited(clock, most)
    passed: list[float] = []

    async def run() -> None:
        for pause in pauses:
            clock.now += pause
            try:
                await rates.admit("ten_a")
            except TooMany as error:
                assert error.seconds > 0
                continue
            passed.append(clock.now)
            await rates.admit("ten_b")  # nobody limits it

    asyncio.run(run())
    for begin, since in enumerate(passed):
        for count, until in enumerate(passed[begin:], 1):
            assert count <= most * (until - since) + max(1.0, most) + 1e-6


def test_who_waits_as_long_as_told_is_let_in() -> None:
    clock = Clock()
    rates = limited(clock, 0.5)

    async def run() -> None:
        await rates.admit("ten_a")
        with pytest.raises(TooMany) as refused:
            await rates.admit("ten_a")
        clock.now += refused.value.seconds
        await rates.admit("ten_a")

    asyncio.run(run())


@pytest.mark.parametrize(
    "path", [f"{HERE}/predict", f"{HERE}/invocations", "/v2/models/app_x/infer"]
)
def test_a_tenant_that_asks_too_often_is_told_when_and_others_are_not_held_up(
    client: TestClient, store: Store, provider, ann, bob, path: str
) -> None:
    wish = {"requests": 0.01, "storage": 10**9}
    limits = f"/api/v1/tenants/{ann.caller.tenant_id}/limits"
    assert client.put(limits, json=wish, headers=provider.headers).status_code == 200
    assert client.post(path, json=[{}], headers=ann.headers).status_code != 429
    refused = client.post(path, json=[{}], headers=ann.headers)
    assert refused.status_code == 429
    assert 90 <= int(refused.headers["retry-after"]) <= 100
    assert "predictions 0.01 times a second" in refused.text
    for _ in range(3):
        assert client.post(path, json=[{}], headers=bob.headers).status_code != 429
    # All else of the tenant goes on.
    assert client.get("/api/v1/applications", headers=ann.headers).status_code == 200


def test_a_full_tenant_is_refused_with_507_and_the_remedy(
    client: TestClient, provider, ann, upload
) -> None:
    limits = f"/api/v1/tenants/{ann.caller.tenant_id}/limits"
    client.put(limits, json={"storage": 5}, headers=provider.headers)
    answer = client.post(
        "/api/v1/datasets",
        params={"name": "t", "filename": "t.csv"},
        content=b"a,b\n1,2\n",
        headers=ann.headers,
    )
    assert answer.status_code == 507
    assert answer.json()["code"] == "over-storage"
    assert "Delete what is not needed" in answer.json()["remedy"]


def test_usage_tells_a_user_of_their_own_tenant_only(client: TestClient, provider, ann) -> None:
    own = client.get("/api/v1/usage", headers=ann.headers).json()
    assert [one["name"] for one in own["tenants"]] == ["ann"]
    everybody = client.get("/api/v1/usage?days=2", headers=provider.headers).json()
    assert {one["name"] for one in everybody["tenants"]} >= {"admin", "ann", "bob"}
    assert len(everybody["days"]) == 2
    assert client.get("/api/v1/usage?days=0", headers=ann.headers).status_code == 422
