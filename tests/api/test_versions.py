"""The data of an application by REST: fed, refined, looked at, compared, exported; whole or not at
all.
"""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from fastapi.testclient import TestClient
from inline_worker import claim, consider, do, train, work_off

from easeml.contract.states import JobState
from easeml.errors import Fenced
from easeml.service.search import jobs
from easeml.store import Store

HEADER = "size,colour,kind\n"


def table(rows: range) -> bytes:
    """Rows whose kind follows from their size, a colour, and an answer."""
    lines = [
        f"{i % 10}.5,{('red', 'blue')[i % 2]},{'small' if i % 10 < 5 else 'large'}\n" for i in rows
    ]
    return (HEADER + "".join(lines)).encode()


class Desk:
    """Ann at work on one application."""

    def __init__(self, client: TestClient, store: Store, person, folder: Path):
        self.client, self.store, self.person, self.folder = client, store, person, folder
        sent = {"params": {"filename": "t.csv"}, "content": table(range(60))}
        dataset = self.post("/datasets", **sent)
        work_off(store, folder)
        body = {
            "dataset_id": dataset["id"],
            "target": "kind",
            "models": ["decision-tree-classifier"],
            "max_tasks": 9,
        }
        self.id = self.post("/applications", json=body)["id"]
        work_off(store, folder)

    def post(self, path: str, expect: int = 201, key: str | None = None, **sent) -> dict:
        headers = {**self.person.headers, **({"Idempotency-Key": key} if key else {})}
        answer = self.client.post(f"/api/v1{path}", headers=headers, **sent)
        assert answer.status_code == expect, answer.text
        return answer.json()

    def get(self, path: str, expect: int = 200, **params) -> dict:
        answer = self.client.get(f"/api/v1{path}", params=params, headers=self.person.headers)
        assert answer.status_code == expect, answer.text
        return answer.json()

    @property
    def application(self) -> dict:
        return self.get(f"/applications/{self.id}")

    @property
    def version(self) -> dict:
        return self.get(f"/versions/{self.application['version_id']}")

    def feed(self, content: bytes, expect: int = 201, key: str | None = None, **more) -> dict:
        params = {"filename": "more.csv", **more}
        return self.post(
            f"/applications/{self.id}/feed", expect, key, params=params, content=content
        )

    def replace(self, content: bytes, expect: int = 201, key: str | None = None) -> dict:
        params = {"filename": "other.csv"}
        path = f"/applications/{self.id}/replace"
        return self.post(path, expect, key, params=params, content=content)

    def refine(self, expect: int = 201, key: str | None = None, **wish) -> dict:
        return self.post(f"/applications/{self.id}/refine", expect, key, json=wish)

    def rows(self, **params) -> dict:
        return self.get(f"/applications/{self.id}/rows", **params)

    def train(self, arm: int = 0) -> None:
        train(self.store, self.folder, self.application["job"]["id"], arm)
        work_off(self.store, self.folder)


@pytest.fixture
def desk(client: TestClient, store: Store, ann, tmp_path: Path) -> Desk:
    return Desk(client, store, ann, tmp_path / "work")


def test_feeding_makes_a_new_version_that_is_searched(desk: Desk, store: Store):
    desk.train()
    before, job = desk.version, desk.application["job"]
    made = desk.feed(table(range(60, 90)))
    assert (made["state"], made["number"]) == ("ingesting", before["number"] + 1)
    assert desk.version == before  # until it is ready
    work_off(store, desk.folder)
    after = desk.version
    assert (after["id"], after["state"], after["parents"]) == (made["id"], "ready", [before["id"]])
    assert sum(after["summary"]["added"].values()) == 30
    assert after["summary"]["rows"] == 90
    assert (after["schema_in"], after["schema_out"]) == (before["schema_in"], before["schema_out"])
    assert desk.get(f"/jobs/{job['id']}")["state"] == "stopped"
    new = desk.application["job"]
    assert (new["version_id"], new["limits"]) == (after["id"], job["limits"])
    assert new["id"] != job["id"]
    assert desk.application["live_model"]  # what serves goes on
    desk.train()
    assert desk.application["job"]["tasks_done"] == 1
    models = desk.get(f"/applications/{desk.id}/models")["items"]
    assert [(model["version"], model["comparable"]) for model in models] == [(3, True), (2, False)]


def test_an_earlier_version_is_used_again(desk: Desk, store: Store):
    desk.train()
    first = desk.version
    fed = desk.feed(table(range(60, 90)))
    work_off(store, desk.folder)
    desk.train()
    use = f"/applications/{desk.id}/versions/{{}}/use"
    assert desk.post(use.format(first["id"]), 200) == first
    assert desk.version == first
    job = desk.application["job"]
    assert (job["version_id"], job["tasks_done"]) == (first["id"], 0)
    work_off(store, desk.folder)
    desk.train()
    models = desk.get(f"/applications/{desk.id}/models")["items"]
    assert [one["comparable"] for one in models if one["version"] == 2] == [True, True]
    # Other rows, though as many: qualities on the two are not compared.
    again = desk.feed(table(range(100, 130)))
    work_off(store, desk.folder)
    assert again["parents"] == [first["id"]]
    desk.train()
    models = desk.get(f"/applications/{desk.id}/models")["items"]
    seen = {one["version"]: one["comparable"] for one in models}
    assert seen == {2: False, 3: False, 4: True}
    lines = desk.get(f"/applications/{desk.id}/versions")["items"]
    assert [one["number"] for one in lines] == [4, 3, 2, 1]
    desk.post(use.format(fed["id"]), 200)  # and on again
    assert desk.version["id"] == fed["id"]


def test_a_file_takes_the_place_of_all_rows_behind_the_same_address(desk: Desk, store: Store):
    desk.train()
    before, first = desk.application, desk.version
    made = desk.replace(table(range(100, 160)), key="once")
    assert desk.replace(table(range(100, 160)), key="once")["id"] == made["id"]
    work_off(store, desk.folder)
    now = desk.application
    assert (now["version_id"], now["follows"]) == (made["id"], False)
    assert (now["endpoint"], now["live"]) == (before["endpoint"], before["live"])
    assert desk.version["summary"]["rows"] == 60
    assert desk.version["operation"]["filename"] == "other.csv"
    assert {row["row"] for row in desk.rows(limit=200)["items"]} <= set(range(60, 120))
    assert now["job"]["id"] != before["job"]["id"]
    # As many rows, but others: what serves was scored on them before any model is compared.
    assert now["live_model"]["comparable"] is False
    reports = store_reports(store, "rescore")
    assert [report.version_id for report in reports] == [made["id"]]
    found = desk.get(f"/versions/{made['id']}/comparison")
    assert sum(found["added"].values()) == 60

    desk.post(f"/applications/{desk.id}/versions/{first['id']}/use", 200)  # and back
    assert desk.version == first


def test_another_table_takes_no_place_and_says_every_difference(desk: Desk, store: Store):
    before = desk.version
    made = desk.replace(b"size,shade\n" + b"tall,red\n" * 60)
    work_off(store, desk.folder)
    assert desk.version == before
    failed = desk.get(f"/versions/{made['id']}")
    assert failed["state"] == "failed"
    for said in ("'colour' is missing", "'kind' is missing", "'size' was number"):
        assert said in failed["error"]


def test_rows_that_a_gate_counts_on_are_not_replaced(desk: Desk):
    gate = {"condition": "n > 0.5 +/- 0.4", "reliability": 0.9, "steps": 1}
    desk.post(f"/applications/{desk.id}/gates", 200, json=gate)
    assert "gate" in desk.replace(table(range(60)), 409)["detail"]


def store_reports(store: Store, kind: str) -> list:
    with store.read() as tx:
        return tx.unscoped().reports.list(kind=kind, limit=None)


def test_only_a_version_with_rows_of_the_application_is_used(desk: Desk, store: Store):
    upload = desk.version["parents"][0]
    desk.post(f"/applications/{desk.id}/versions/{upload}/use", 409)
    sent = {"params": {"filename": "t.csv"}, "content": table(range(60))}
    other = desk.post("/datasets", **sent)
    work_off(store, desk.folder)
    desk.post(f"/applications/{desk.id}/versions/{other['version']['id']}/use", 409)
    desk.post(f"/applications/{desk.id}/versions/ver_none/use", 404)
    changing = desk.feed(table(range(60, 70)))
    desk.post(f"/applications/{desk.id}/versions/{changing['id']}/use", 503)


def test_what_did_best_is_tried_again(desk: Desk, store: Store):
    desk.train()
    with store.write() as tx:  # as if an optimizer had proposed it
        first = tx.unscoped().candidates.find(job_id=desk.application["job"]["id"], arm=0)
        model = replace(first.pipeline.model, config={"max_depth": 17})
        pipeline = replace(first.pipeline, model=model)
        tx.unscoped().candidates.update(first.id, pipeline=pipeline)
    desk.feed(table(range(60, 90)))
    work_off(store, desk.folder)
    desk.train()
    with store.read() as tx:
        found = tx.unscoped().candidates.list(job_id=desk.application["job"]["id"], limit=None)
    last = max(found, key=lambda one: one.arm)
    assert (last.arm, last.pipeline) == (len(found) - 1, pipeline)


def test_rows_that_do_not_fit_change_nothing(desk: Desk, store: Store):
    before = desk.application
    made = desk.feed(table(range(3)).replace(b"red", b"green"))
    work_off(store, desk.folder)
    failed = desk.get(f"/versions/{made['id']}")
    assert failed["state"] == "failed"
    assert (
        "row 0, column 'colour': 'green' is not one of its classes (blue, red)" in failed["error"]
    )
    assert desk.application == before
    shown = desk.get(f"/applications/{desk.id}/versions")["items"]
    assert [(one["state"], one["current"]) for one in shown[:2]] == [
        ("failed", False),
        ("ready", True),
    ]
    desk.feed(table(range(60, 70)))  # and the way is free
    work_off(store, desk.folder)
    assert desk.version["summary"]["rows"] == 70


@pytest.mark.parametrize(
    "content", [b"\x00\xff" * 100, b"size,colour,kind\n", b'"'], ids=["binary", "no-row", "quote"]
)
def test_what_is_no_table_changes_nothing(desk: Desk, store: Store, content: bytes):
    before = desk.application
    made = desk.feed(content)
    work_off(store, desk.folder)
    assert desk.get(f"/versions/{made['id']}")["state"] == "failed"
    assert desk.application == before


def test_wrong_requests_are_refused_at_once(desk: Desk):
    assert desk.feed(b"", expect=422)["where"] == "more.csv"
    desk.feed(table(range(3)), expect=422, role="tests")
    train_row = desk.rows()["items"][0]["row"]
    test_rows = sorted(set(range(60)) - {row["row"] for row in desk.rows(limit=200)["items"]})
    assert "only train rows" in desk.refine(expect=422, off=[test_rows[0]])["detail"]
    assert "no row with id 1000" in desk.refine(expect=422, off=[1000])["detail"]
    assert "off and on" in desk.refine(expect=422, off=[train_row], on=[train_row])["detail"]
    desk.refine(expect=409, off=[train_row], version_id="ver_other")
    assert len(desk.get(f"/applications/{desk.id}/versions")["items"]) == 2


def test_one_change_at_a_time(desk: Desk, store: Store):
    desk.feed(table(range(60, 64)))
    assert desk.feed(table(range(64, 68)), expect=503)["code"] == "not-ready"
    assert desk.refine(expect=503, off=[0])["code"] == "not-ready"
    assert desk.rows()["changing"]
    work_off(store, desk.folder)
    assert not desk.rows()["changing"]


def test_a_repeated_key_changes_once(desk: Desk, store: Store):
    first = desk.feed(table(range(60, 64)), key="k")
    assert desk.feed(table(range(60, 64)), key="k")["id"] == first["id"]
    assert desk.feed(table(range(64, 68)), key="k", expect=409)["code"] == "conflict"
    work_off(store, desk.folder)
    assert desk.feed(table(range(60, 64)), key="k")["state"] == "ready"
    row = desk.rows()["items"][0]["row"]
    second = desk.refine(off=[row], key="r")
    work_off(store, desk.folder)
    assert desk.refine(off=[row], key="r")["id"] == second["id"]
    assert desk.version["summary"]["rows"] == 64


def test_rows_are_switched_off_and_on_again(desk: Desk, store: Store):
    one, other = (row["row"] for row in desk.rows()["items"][:2])
    desk.refine(off=[one, other], version_id=desk.version["id"])
    work_off(store, desk.folder)
    assert {row["row"] for row in desk.rows(on=False)["items"]} == {one, other}
    job = desk.application["job"]
    assert job["version_id"] == desk.version["id"]
    assert desk.refine(off=[one])["id"] == desk.version["id"]  # nothing changes, nothing is made
    desk.refine(on=[one], off=[])
    work_off(store, desk.folder)
    assert {row["row"] for row in desk.rows(on=False)["items"]} == {other}
    lines = desk.get(f"/applications/{desk.id}/versions")["items"]
    assert [line["operation"]["name"] for line in lines] == [
        "refine",
        "refine",
        "declare",
        "upload",
    ]
    assert [line["off"] for line in lines] == [1, 2, 0, 0]


def test_unlabelled_rows_do_not_disturb_the_search(desk: Desk, store: Store):
    desk.train()
    job = desk.application["job"]
    unlabelled = (
        b"\n".join(line.rpartition(b",")[0] for line in table(range(8)).splitlines()) + b"\n"
    )
    desk.feed(unlabelled, role="production")
    work_off(store, desk.folder)
    assert desk.version["summary"]["production"] == 8
    after = desk.application["job"]
    assert (after["id"], after["state"]) == (job["id"], job["state"])
    desk.train(1)
    assert desk.application["live_model"]


def test_what_serves_is_scored_on_the_new_rows_before_it_is_compared(desk: Desk, store: Store):
    desk.train()
    live = desk.application["live_model"]
    wrong = (
        table(range(60, 200))
        .replace(b"small", b"x")
        .replace(b"large", b"small")
        .replace(b"x", b"large")
    )
    desk.feed(wrong, role="validation")  # the old model is wrong on all of them
    claimed = claim(store)
    assert claimed
    do(store, desk.folder, *claimed)
    job = desk.application["job"]
    train(store, desk.folder, job["id"])
    assert desk.application["live_model"]["id"] == live["id"]  # not yet comparable
    ended = work_off(store, desk.folder)
    assert "rescore" in {task.payload["kind"] for task in ended}
    consider(store, job["id"])
    promotions = desk.get(f"/applications/{desk.id}/promotions")["items"]
    rescored = next(task for task in ended if task.payload["kind"] == "rescore").result["quality"]
    assert rescored < 0.2
    best = desk.get(f"/applications/{desk.id}/models")["items"]
    if max(model["quality"] for model in best if model["id"] != live["id"]) > rescored:
        assert promotions[-1]["reason"].endswith(f"over {rescored:.4f}")


def test_qualities_on_the_same_validation_rows_need_no_second_look(desk: Desk, store: Store):
    desk.train()
    desk.refine(off=[desk.rows()["items"][0]["row"]])
    kinds = [task.payload["kind"] for task in work_off(store, desk.folder)]
    assert "rescore" not in kinds


def told_quality(store: Store, model_id: str, quality: float) -> None:
    """Let a model have a quality, with a standard error of .02."""
    interval = {"low": quality - 0.0392, "high": quality + 0.0392}
    with store.write() as tx:
        tables = tx.unscoped()
        model = tables.models.update(model_id, quality=quality, held_out=None)
        task = tables.tasks.get(model.task_id)
        measure = {"value": quality, "lower_is_better": False, "in_unit_of_target": False}
        result = {**(task.result or {}), **interval, "measures": {"accuracy": measure}}
        tables.tasks.update(task.id, result=result)


def test_what_learned_from_newer_data_serves_where_it_is_worse_by_chance_alone(
    desk: Desk, store: Store
):
    desk.train()
    live = desk.application["live_model"]["id"]
    desk.refine(off=[desk.rows()["items"][0]["row"]])
    work_off(store, desk.folder)
    told_quality(store, live, 0.9)
    job = desk.application["job"]["id"]
    train(store, desk.folder, job)
    with store.read() as tx:
        (newer,) = tx.unscoped().models.list(job_id=job, limit=None)

    def served(quality: float, state: JobState) -> str:
        told_quality(store, newer.id, quality)
        with store.write() as tx:
            tx.unscoped().applications.update(desk.id, live_model_id=live)
            tx.unscoped().jobs.update(job, state=state)
        consider(store, job)
        return desk.application["live_model"]["id"]

    assert served(0.89, JobState.RUNNING) == live  # a better one may follow
    assert served(0.875, JobState.RESTING) == live
    assert served(0.885, JobState.RESTING) == newer.id
    last = desk.get(f"/applications/{desk.id}/promotions")["items"][-1]
    assert "worse by no more than chance: score 0.8850" in last["reason"]

    told_quality(store, live, 0.88)
    with store.write() as tx:
        tx.unscoped().models.update(live, compared_by=0.9)  # as an ensemble is
    assert served(0.875, JobState.RESTING) == live  # that is counted once
    assert served(0.885, JobState.RESTING) == newer.id
    last = desk.get(f"/applications/{desk.id}/promotions")["items"][-1]
    assert "score 0.8850 on the validation rows, 0.8800 before, ranked as 0.9000" in last["reason"]

    gate = {"condition": "n > 0.5 +/- 0.4", "reliability": 0.9, "steps": 1}
    desk.post(f"/applications/{desk.id}/gates", 200, json=gate)
    assert served(0.885, JobState.RESTING) == live  # a test would be spent on it
    work_off(store, desk.folder)
    assert desk.get(f"/applications/{desk.id}/gates")["gates"][0]["steps_spent"] == 0


def test_a_kill_leaves_the_old_version_or_the_new_one(
    desk: Desk, store: Store, monkeypatch: pytest.MonkeyPatch
):
    before = desk.application
    made = desk.feed(table(range(60, 90)))
    claimed = claim(store)  # this worker dies with what it did
    assert claimed
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "begin_again", lambda *_: (_ for _ in ()).throw(RuntimeError("killed")))
        with pytest.raises(RuntimeError):
            do(store, desk.folder / "killed", *claimed)
    assert desk.application == before
    assert desk.get(f"/versions/{made['id']}")["state"] == "ingesting"
    with store.write() as tx:
        tx.queue.release("proc_inline")
    work_off(store, desk.folder)
    assert desk.application["version_id"] == made["id"]
    after = desk.application
    with pytest.raises(Fenced):
        do(store, desk.folder / "late", *claimed)
    assert desk.application == after


def test_suspicious_rows_come_first(desk: Desk, store: Store):
    place, wish = f"/applications/{desk.id}/reports", {"tool": "label-errors"}
    assert desk.post(place, json=wish, expect=409)["code"] == "conflict"
    noisy = HEADER.encode() + b"2.5,red,large\n" * 2
    desk.feed(noisy, role="train")
    work_off(store, desk.folder)
    desk.train()
    work_off(store, desk.folder)
    first = desk.post(place, json=wish)
    assert desk.post(place, json=wish)["id"] == first["id"]
    assert desk.rows()["looking"]
    work_off(store, desk.folder)
    page = desk.rows(suspicious=True, limit=5)
    assert (page["looking"], page["scored"]) == (False, desk.version["number"])
    assert {60, 61} <= {row["row"] for row in page["items"]}
    assert page["items"][0]["suspicion"] >= page["items"][-1]["suspicion"]


def test_versions_are_compared(desk: Desk, store: Store):
    first = desk.version["id"]
    desk.feed(table(range(60, 70)), role="train")
    work_off(store, desk.folder)
    row = desk.rows()["items"][0]["row"]
    desk.refine(off=[row])
    work_off(store, desk.folder)
    last = desk.version["id"]
    found = desk.get(f"/versions/{last}/comparison", before=first)
    assert (found["added"], found["switched_off"], found["schema_differences"]) == (
        {"train": 10},
        [row],
        [],
    )
    assert found["ranges"] == [{"role": "train", "first": 60, "last": 69}]
    step = desk.get(f"/versions/{last}/comparison")
    assert (step["added"], step["switched_off"]) == ({}, [row])
    upload = desk.get(f"/versions/{first}")["parents"][0]
    assert desk.get(f"/versions/{upload}/comparison", expect=409)["code"] == "conflict"


def test_versions_are_exported(desk: Desk, store: Store, client: TestClient, ann):
    def export(form: str):
        path = f"/api/v1/versions/{desk.version['id']}/export"
        return client.get(path, params={"format": form}, headers=ann.headers)

    frame = pd.read_csv(io.BytesIO(export("csv").content))
    assert len(frame) == 60
    assert frame["easeml.role"].value_counts().to_dict() == {
        role: desk.version["summary"][role] for role in ("train", "validation", "test")
    }
    assert len(pd.read_parquet(io.BytesIO(export("parquet").content))) == 60
    assert len(export("jsonl").text.strip().splitlines()) == 60
    assert json.loads(export("jsonl").text.splitlines()[0])["kind"] in ("small", "large")
    assert export("zip").content[:2] == b"PK"
    assert export("docx").status_code == 422


def test_other_tenants_see_and_change_nothing(desk: Desk, store: Store, client: TestClient, bob):
    before, tasks = desk.application, len(desk.get("/tasks", limit=200)["items"])
    sent: list[Callable] = [
        lambda: client.post(
            f"/api/v1/applications/{desk.id}/feed?filename=x.csv",
            content=table(range(3)),
            headers=bob.headers,
        ),
        lambda: client.post(
            f"/api/v1/applications/{desk.id}/refine", json={"off": [0]}, headers=bob.headers
        ),
        lambda: client.get(f"/api/v1/versions/{before['version_id']}/export", headers=bob.headers),
    ]
    assert [ask().status_code for ask in sent] == [404, 404, 404]
    assert desk.application == before
    assert len(desk.get("/tasks", limit=200)["items"]) == tasks
