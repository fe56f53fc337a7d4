"""People are asked about rows of production that easeml has drawn at random, to watch a model."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from test_drawn_truths import OTHER, some_wrong
from test_gated_applications import application  # noqa: F401 a fixture
from test_reports import APPLICATIONS
from test_truths_after_a_look import look, tell
from test_watching import a_day_goes_by, watch
from test_work import give

from easeml.service.models import watching
from easeml.store import Store
from easeml.web import create_pages, session


@pytest.fixture
def kept(client: TestClient, ann, application: str) -> str:  # noqa: F811
    """An application whose requests are kept with all their columns."""
    place = f"{APPLICATIONS}/{application}/requests"
    client.put(place, json={"share": 1.0}, headers=ann.headers).raise_for_status()
    return application


def ask(client: TestClient, person, app_id: str, rows: int):
    place = f"{APPLICATIONS}/{app_id}/watch/labels"
    return client.post(place, json={"rows": rows}, headers=person.headers)


def asked(client: TestClient, person, app_id: str) -> list[dict]:
    found = client.get(f"{APPLICATIONS}/{app_id}/work", headers=person.headers).json()["items"]
    return [item for item in found if item["kind"] == "watch-label"]


def answer_all(client: TestClient, person, app_id: str, truths: list[dict]) -> int:
    """Answer what is asked by what is true; return how many rows that were."""
    by_row = {one["row"]: one["value"] for one in truths}
    number = 0
    while items := asked(client, person, app_id):
        for item in items:
            give(client, person, item, value=by_row[item["row"]]).raise_for_status()
        number += len(items)
    return number


def test_few_answers_of_people_prove_a_fall_without_anybodys_word(
    client: TestClient, store: Store, ann, kept: str, tmp_path: Path
) -> None:
    refused = ask(client, ann, kept, 10)
    assert refused.status_code == 409
    assert "watch-report" in refused.text
    truths = some_wrong(store, ann, kept, 1000, share=0.35)
    look(client, store, ann, kept, tmp_path)
    assert ask(client, ann, kept, 200).json()["asked"] == 200
    assert watch(client, ann, kept)["asked"] == 200
    assert answer_all(client, ann, kept, truths) == 200
    found = watch(client, ann, kept)
    assert (found["asked"], found["late"]) == (0, 200)
    look(client, store, ann, kept, tmp_path)
    found = watch(client, ann, kept)
    assert found["status"] == "alert"
    assert found["tests"]["concept"]["alarm"] is True
    (claim,) = found["claims"]
    assert claim["by"].startswith("easeml, 20")
    assert (claim["rows"], claim["counts"]) == (200, True)
    budget = client.get(f"{APPLICATIONS}/{kept}/label-budget", headers=ann.headers).json()
    assert (budget["bought"], budget["by_watching"]) == (200, 200)


def test_what_is_known_is_not_asked_and_no_row_is_drawn_twice(
    client: TestClient, store: Store, ann, kept: str, tmp_path: Path
) -> None:
    truths = some_wrong(store, ann, kept, 1000, share=0.0)
    look(client, store, ann, kept, tmp_path)
    mistakes = [{**one, "value": OTHER[one["value"]]} for one in truths[:200]]
    tell(client, ann, kept, mistakes)
    look(client, store, ann, kept, tmp_path)  # which counts them as they came
    drawn = ask(client, ann, kept, 300).json()
    assert drawn["asked"] + drawn["known"] == 300
    assert 100 < drawn["known"] < 200
    assert drawn["left"] == 100
    assert ask(client, ann, kept, 300).json()["left"] == 0
    refused = ask(client, ann, kept, 1)
    assert refused.status_code == 409
    assert "drawn by now" in refused.text
    assert answer_all(client, ann, kept, truths) == 200
    look(client, store, ann, kept, tmp_path)
    found = watch(client, ann, kept)
    assert found["claims"][0]["rows"] == 400
    assert found["labelled"]["quality"] == 0.5
    assert found["status"] == "alert"


def test_mistakes_that_somebody_called_a_sample_are_drawn_like_all_rows(
    client: TestClient, store: Store, ann, kept: str, tmp_path: Path
) -> None:
    """A draw that left them out would find a model too good."""
    truths = some_wrong(store, ann, kept, 1000, share=0.0)
    look(client, store, ann, kept, tmp_path)
    wrong = [{**one, "value": OTHER[one["value"]]} for one in truths if one["value"] == "big"][:90]
    tell(client, ann, kept, [{**one, "at_random": True} for one in wrong])
    look(client, store, ann, kept, tmp_path)
    (claim,) = watch(client, ann, kept)["claims"]
    assert claim["counts"] is False
    tell(client, ann, kept, [{**one, "at_random": True} for one in wrong])
    assert watch(client, ann, kept)["late"] == 0  # it is not judged again
    drawn = ask(client, ann, kept, 400).json()
    assert (drawn["asked"], drawn["known"], drawn["left"]) == (310, 90, 0)
    answer_all(client, ann, kept, truths)
    look(client, store, ann, kept, tmp_path)
    found = watch(client, ann, kept)
    (claim,) = found["claims"]
    assert (claim["by"][:6], claim["rows"], claim["counts"]) == ("easeml", 400, True)
    assert found["estimate"] < 0.8  # 310 of 400 are right, or fewer
    assert found["status"] == "alert"


def test_answers_are_looked_at_by_day_once_all_are_there_and_within_the_budget(
    client: TestClient, store: Store, ann, kept: str, tmp_path: Path
) -> None:
    truths = some_wrong(store, ann, kept, 1000, share=0.0)
    look(client, store, ann, kept, tmp_path)
    budget = f"{APPLICATIONS}/{kept}/label-budget"
    client.put(budget, json={"labels": 5, "days": 30}, headers=ann.headers).raise_for_status()
    refused = ask(client, ann, kept, 6)
    assert refused.status_code == 409
    assert "5 left" in refused.text
    ask(client, ann, kept, 5).raise_for_status()
    by_row = {one["row"]: one["value"] for one in truths}
    first, *others = asked(client, ann, kept)
    give(client, ann, first, value=by_row[first["row"]]).raise_for_status()
    a_day_goes_by(store)
    watching.look_daily(store)
    assert watch(client, ann, kept)["late"] == 1  # the others are waited for
    for item in others:
        give(client, ann, item, value=by_row[item["row"]]).raise_for_status()
    watching.look_daily(store)
    assert watch(client, ann, kept)["late"] == 0
    undone = give(client, ann, first, way="undo")
    assert undone.status_code == 409
    assert "A look at production has this answer" in undone.text


def test_the_page_asks_and_says_how_many_are_asked(
    client: TestClient, store: Store, ann, kept: str, tmp_path: Path
) -> None:
    some_wrong(store, ann, kept, 1000, share=0.0)
    look(client, store, ann, kept, tmp_path)
    browser = TestClient(create_pages(client.app), cookies={"easeml_session": ann.key})  # type: ignore[arg-type]
    form = {"csrf": session.csrf_token(ann.key), "rows": "100"}
    shown = browser.post(f"/applications/{kept}/watch-labels", data=form)
    assert "100 rows asked for now" in shown.text
    assert "was drawn at random" in browser.get(f"/applications/{kept}/work").text
