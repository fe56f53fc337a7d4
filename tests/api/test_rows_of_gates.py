"""Which test rows a gate tests on: by their ids, without erased ones, as many as its owner wants."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from inline_worker import train, work_off
from test_erasing import HEADER, Desk, table
from test_gated_applications import gates, job_of, promotions, put, rest
from test_retired_test_rows import retire, rows

from easeml.store import Store
from easeml.web import create_pages, session

EASY = "n - o > -0.9 +/- 0.4"
TEST_ROWS = 24


@pytest.fixture
def desk(client: TestClient, store: Store, ann, tmp_path: Path) -> Desk:
    """An application with 24 test rows, each of another person, that serves its first model."""
    desk = Desk(client, store, ann, tmp_path / "work")
    desk.bring(table(range(120)), max_tasks=200)
    desk.train()
    assert desk.live()
    trained(desk)
    assert len(own_rows(desk)) == TEST_ROWS
    return desk


def own_rows(desk: Desk) -> list[int]:
    return rows(desk.client, desk.store, desk.person, desk.id, "test")


def trained(desk: Desk) -> None:
    """Have two more models, which do not serve."""
    for arm in (1, 2):
        train(desk.store, desk.folder, job_of(desk.client, desk.person, desk.id), arm)


def erased(desk: Desk, row: int) -> None:
    desk.erase(f"person{row}@example.org", plan_only=False)
    trained(desk)  # those that had learnt from other rows of that person are gone


def outcome(desk: Desk, arm: int) -> dict:
    """Let a model of the desk's be the best, and be tested; return what came of it."""
    job = job_of(desk.client, desk.person, desk.id)
    with desk.store.write() as tx:
        tables = tx.unscoped()
        tables.jobs.update(job, state="running")
        models = tables.models.list(job_id=job, error="", limit=None)
        model = [one for one in models if one.id != desk.live()][-1]
        best = 1 + arm / 10  # what serves has 1
        tables.models.update(model.id, quality=best, held_out=best)
    rest(desk.store, job)
    work_off(desk.store, desk.folder)
    return promotions(desk.client, desk.person, desk.id)[-1]


def gate_of(desk: Desk) -> dict:
    (gate,) = gates(desk.client, desk.person, desk.id)["gates"]
    return gate


def test_a_gate_tests_on_what_is_left_where_rows_are_erased(desk: Desk) -> None:
    put(desk.client, desk.person, desk.id, EASY, steps=2).raise_for_status()
    erased(desk, own_rows(desk)[3])
    last = outcome(desk, arm=1)
    assert last["state"] == "live", last["reason"]
    assert f"on {TEST_ROWS - 1} test rows" in last["reason"]
    gate = gate_of(desk)
    assert (gate["rows"], gate["rows_left"], gate["steps_spent"]) == (23, 23, 1)


def test_a_gate_never_takes_newer_rows_for_those_that_were_erased(desk: Desk) -> None:
    put(desk.client, desk.person, desk.id, EASY, steps=1).raise_for_status()
    own = own_rows(desk)
    erased(desk, own[0])
    desk.feed(table(range(500, 550)))
    newer = sorted(set(own_rows(desk)) - set(own))
    assert newer
    trained(desk)
    assert "23 test rows" in outcome(desk, arm=1)["reason"]
    assert gate_of(desk)["worn_out"]

    again = put(desk.client, desk.person, desk.id, EASY, steps=2).json()["gates"][0]
    assert again["rows"] == len(newer)  # all that no gate has seen, and nothing else
    last = outcome(desk, arm=2)
    assert f"{len(newer)} test rows" in last["reason"]
    with desk.store.read() as tx:
        kept = tx.unscoped().gates.newest(application_id=desk.id, ended=False)
    assert kept is not None
    assert (kept.first_id, kept.last_id) == (newer[0], newer[-1])


def test_only_worn_out_rows_retire_where_some_of_them_were_erased(desk: Desk) -> None:
    put(desk.client, desk.person, desk.id, EASY, steps=1).raise_for_status()
    own = own_rows(desk)
    outcome(desk, arm=1)
    desk.feed(table(range(500, 550)))
    newer = sorted(set(own_rows(desk)) - set(own))
    erased(desk, own[0])
    retire(desk.client, desk.person, desk.id).raise_for_status()
    work_off(desk.store, desk.folder)
    assert sorted(own_rows(desk)) == newer
    assert gate_of(desk)["rows"] == len(newer)


def test_a_gate_without_any_row_left_says_so(desk: Desk) -> None:
    put(desk.client, desk.person, desk.id, EASY, steps=2, rows=1).raise_for_status()
    erased(desk, own_rows(desk)[0])
    last = outcome(desk, arm=1)
    assert last["state"] == "refused"
    assert "All test rows of the gate were erased" in last["reason"]
    assert gate_of(desk)["steps_spent"] == 0


def test_a_gate_is_set_again_where_rows_that_it_buys_labels_of_are_erased(desk: Desk) -> None:
    unlabelled = "".join(f"person{i}@example.org,{i % 10}.5,red,\n" for i in range(500, 600))
    desk.feed((HEADER + unlabelled).encode())
    wish = {"steps": 2, "labels": 20}
    first = put(desk.client, desk.person, desk.id, EASY, **wish).json()["gates"][0]
    rows_before = first["labels"]["rows"]
    (gone,) = reserved(desk)[:1]
    pool = rows(desk.client, desk.store, desk.person, desk.id, "pool")
    person = 500 + sorted(pool).index(gone)  # rows are numbered in the order of the file
    desk.erase(f"person{person}@example.org", plan_only=False)

    again = put(desk.client, desk.person, desk.id, EASY, **wish).json()["gates"][0]
    assert again["id"] != first["id"]
    assert again["labels"]["rows"] == rows_before - 1
    assert gone not in reserved(desk)
    same = put(desk.client, desk.person, desk.id, EASY, **wish).json()["gates"][0]
    assert same["id"] == again["id"]


def reserved(desk: Desk) -> list[int]:
    """Return the rows without labels of which the gate may buy some."""
    with desk.store.read() as tx:
        gate = tx.unscoped().gates.newest(application_id=desk.id, ended=False)
    assert gate is not None
    assert gate.reserve is not None
    return gate.reserve.rows


def test_few_test_rows_are_called_few_unless_people_are_asked(desk: Desk) -> None:
    gate = put(desk.client, desk.person, desk.id, "n - o > 0.02 +/- 0.01").json()["gates"][0]
    assert gate["rows"] < gate["rows_for_gains"]
    said = f"{gate['rows']} test rows are few for this condition:"
    assert gate["too_few"].startswith(said)
    assert f"{gate['rows_for_gains']:,} test rows would show" in gate["too_few"]
    unlabelled = "".join(f"person{i}@example.org,{i % 10}.5,red,\n" for i in range(500, 600))
    desk.feed((HEADER + unlabelled).encode())
    found = put(desk.client, desk.person, desk.id, "n - o > 0.02 +/- 0.01", labels=20).json()
    assert found["gates"][0]["too_few"] == ""


def test_an_owner_spares_rows_for_later_tests(desk: Desk) -> None:
    wish = {"steps": 1, "rows": 16}
    gate = put(desk.client, desk.person, desk.id, EASY, **wish).json()["gates"][0]
    assert (gate["rows"], gate["most"]) == (16, 16)
    assert 0 < gate["rows_for_gains"] < gate["rows_needed"]
    assert gate["too_few"] == ""
    again = put(desk.client, desk.person, desk.id, EASY, **wish).json()["gates"][0]
    assert again["id"] == gate["id"]
    assert "16 test rows" in outcome(desk, arm=1)["reason"]
    found = gates(desk.client, desk.person, desk.id)
    assert (found["gates"][0]["worn_out"], found["retirable"]) == (True, 16)

    own = own_rows(desk)
    retire(desk.client, desk.person, desk.id).raise_for_status()
    work_off(desk.store, desk.folder)
    assert sorted(own_rows(desk)) == sorted(own)[16:]
    gate = gate_of(desk)
    assert (gate["rows"], gate["most"], gate["worn_out"]) == (8, 16, False)


def test_a_gate_that_is_older_than_ids_goes_by_place(desk: Desk) -> None:
    put(desk.client, desk.person, desk.id, EASY, steps=1).raise_for_status()
    with desk.store.write() as tx:
        tables = tx.unscoped()
        gate = tables.gates.newest(application_id=desk.id, ended=False)
        assert gate is not None
        tables.gates.update(gate.id, first_id=-1, last_id=-1)
    assert f"on {TEST_ROWS} test rows" in outcome(desk, arm=1)["reason"]
    none_left = put(desk.client, desk.person, desk.id, EASY)
    assert none_left.status_code == 409
    assert "worn out" in none_left.text


def test_the_page_says_how_many_rows_show_gains_and_spares_the_rest(desk: Desk) -> None:
    key = desk.person.key
    browser = TestClient(create_pages(desk.client.app), cookies={"easeml_session": key})
    told = {"csrf": session.csrf_token(key), "condition": EASY, "reliability": "0.9"}
    sent = {**told, "steps": "3", "rows": "10", "action": "set"}
    shown = browser.post(f"/applications/{desk.id}/gate", data=sent).text
    assert "show a gain of three tolerances" in shown
    assert gate_of(desk)["rows"] == 10


def test_erased_rows_are_counted_no_more_before_any_test(desk: Desk) -> None:
    own = sorted(own_rows(desk))
    put(desk.client, desk.person, desk.id, EASY, steps=1, rows=10).raise_for_status()
    erased(desk, own[3])  # the gate's
    gate = gate_of(desk)
    assert (gate["rows"], gate["rows_left"]) == (9, 9)
    assert "on 9 test rows" in outcome(desk, arm=1)["reason"]
    assert gates(desk.client, desk.person, desk.id)["retirable"] == 9

    erased(desk, own[20])  # a later one, which no gate has seen
    assert gates(desk.client, desk.person, desk.id)["retirable"] == 9
    desk.feed(table(range(500, 550)))
    found = gates(desk.client, desk.person, desk.id)
    assert (found["retirable"], gate_of(desk)["rows_left"]) == (9, 0)

    desk.post(f"/applications/{desk.id}/gates/remove", 200)
    found = gates(desk.client, desk.person, desk.id)
    assert found["rows_left"] == len(own_rows(desk)) - 9
    again = put(desk.client, desk.person, desk.id, EASY, steps=2).json()
    assert again["rows_left"] == found["rows_left"]


def test_a_gate_without_any_row_left_is_set_anew_on_new_rows(desk: Desk) -> None:
    wish = {"steps": 2, "rows": 1}
    put(desk.client, desk.person, desk.id, EASY, **wish).raise_for_status()
    own = own_rows(desk)
    desk.erase(f"person{min(own)}@example.org", plan_only=False)
    gate = gate_of(desk)
    assert (gate["rows"], gate["rows_left"], gate["worn_out"]) == (0, 0, True)
    assert gates(desk.client, desk.person, desk.id)["retirable"] == 0
    again = put(desk.client, desk.person, desk.id, EASY, **wish).json()["gates"][0]
    assert again["id"] != gate["id"]
    assert (again["rows"], again["worn_out"]) == (1, False)
