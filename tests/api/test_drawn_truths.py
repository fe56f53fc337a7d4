"""An owner says that rows whose truth came were drawn at random: who says it is kept, and tested."""

import random
from pathlib import Path

from fastapi.testclient import TestClient
from test_gated_applications import application  # noqa: F401 a fixture
from test_reports import APPLICATIONS
from test_truths_after_a_look import look, tell
from test_watching import missed_rows, seen, watch

from easeml.store import Store
from easeml.web import create_pages, session

OTHER = {"big": "small", "small": "big"}


def some_wrong(store: Store, person, app_id: str, first: int, share: float) -> list[dict]:
    """Let an endpoint have been asked about 400 rows, and have missed a share; their truths."""
    draws = random.Random(first)
    kinds = seen(store, person, app_id, 400, first)
    return [
        {
            "request_id": f"req_{first}",
            "row": row,
            "value": OTHER[kind] if draws.random() < share else kind,
        }
        for row, kind in enumerate(kinds)
    ]


def drawn(truths: list[dict]) -> list[dict]:
    return [{**one, "at_random": True} for one in truths]


def test_few_truths_of_rows_drawn_at_random_prove_a_fall_by_their_owners_word(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    truths = some_wrong(store, ann, application, 1000, share=0.35)
    look(client, store, ann, application, tmp_path)
    sample = random.Random(0).sample(truths, 80)
    tell(client, ann, application, sample)
    look(client, store, ann, application, tmp_path)
    unsaid = watch(client, ann, application)
    assert unsaid["tests"]["concept"]["alarm"] is False
    assert unsaid["claims"] == []
    # Said afterwards, it holds as well; their truths count once.
    tell(client, ann, application, drawn(sample))
    assert watch(client, ann, application)["late"] == 80
    task = look(client, store, ann, application, tmp_path)
    assert task.payload["late_looks"] == {"1": 80 + 240}
    found = watch(client, ann, application)
    assert found["tests"]["concept"]["alarm"] is True
    assert found["status"] == "alert"
    (claim,) = found["claims"]
    assert claim["by"].startswith("ann, 20")
    assert (claim["rows"], claim["counts"]) == (80, True)
    assert any("said to be drawn at random" in one for one in found["assumes"])
    assert found["late"] == 0
    tell(client, ann, application, drawn(sample))  # and again: nothing is left to learn
    assert watch(client, ann, application)["late"] == 0


def test_rows_that_look_unlike_the_others_are_no_sample_whatever_is_said(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    truths = some_wrong(store, ann, application, 1000, share=0.0)
    look(client, store, ann, application, tmp_path)
    wrong = [{**one, "value": OTHER[one["value"]]} for one in truths if one["value"] == "big"]
    tell(client, ann, application, drawn(wrong[:60]))
    look(client, store, ann, application, tmp_path)
    found = watch(client, ann, application)
    (claim,) = found["claims"]
    assert claim["counts"] is False
    assert claim["p_value"] <= claim["level"] < 0.05
    assert claim["where"] in ("size", "prediction", "confidence", "chance to be right")
    assert found["tests"]["concept"]["alarm"] is False
    assert found["status"] != "alert"
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})  # type: ignore[arg-type]
    shown = browser.get(f"/applications/{application}/history").text
    assert "60 rows drawn at random, according to ann, 20" in shown
    assert "so they do not count as random." in shown


def test_new_rows_may_be_drawn_before_they_are_looked_at(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    truths = some_wrong(store, ann, application, 1000, share=0.35)
    tell(client, ann, application, drawn(random.Random(1).sample(truths, 80)))
    look(client, store, ann, application, tmp_path)
    found = watch(client, ann, application)
    assert (found["claims"][0]["rows"], found["claims"][0]["counts"]) == (80, True)
    assert found["status"] == "alert"
    assert found["late"] == 0


def test_an_owner_takes_back_that_rows_were_drawn_at_random(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    truths = random.Random(1).sample(some_wrong(store, ann, application, 1000, share=0.35), 80)
    tell(client, ann, application, drawn(truths))
    place = f"{APPLICATIONS}/{application}/feedback"
    taken_back = [{**one, "at_random": False} for one in truths]
    told = client.post(place, json=taken_back, headers=ann.headers).json()
    assert (told["drawn"], told["withdrawn"]) == (0, 80)
    look(client, store, ann, application, tmp_path)
    found = watch(client, ann, application)
    assert found["claims"] == []
    assert found["tests"]["concept"]["alarm"] is False


def test_the_page_takes_the_word_for_a_file_and_names_who_gave_it(
    client: TestClient,
    store: Store,
    ann,
    application: str,  # noqa: F811
) -> None:
    truths = missed_rows(store, ann, application, first=1000)[:3]
    lines = [f"{one['request_id']},{one['row']},{one['value']}" for one in truths]
    file = ("truth.csv", "\n".join(["request_id,row,value", *lines]).encode(), "text/csv")
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})  # type: ignore[arg-type]
    token = {"csrf": session.csrf_token(ann.key)}
    place = f"/applications/{application}/truth"
    shown = browser.post(place, data={**token, "at_random": "yes"}, files={"file": file})
    assert "3 of them are said to be of rows that were drawn at random" in shown.text
    shown = browser.post(place, data={**token, "at_random": "no"}, files={"file": file})
    assert "3 of them are not said to be drawn at random any more" in shown.text
    one = {**token, "request_id": "req_1000", "row": "7", "value": "big"}
    shown = browser.post(place, data=one)
    assert "drawn at random: that is kept" not in shown.text
    with store.read() as tx:
        words = tx.scoped(ann.caller.tenant_id).feedback.list(application_id=application)
    assert [word.drawn for word in words] == [ann.caller.user_id] * 3 + ["nobody"] * 3 + [""]
