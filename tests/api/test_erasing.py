"""A person's rows are erased everywhere: by REST, with the real bodies, against a plain search of
every byte that easeml still names.
"""

import json
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from fastapi.testclient import TestClient
from inline_worker import consider, train, work_off

from easeml.contract.states import RolloutWay, WorkKind, WorkState, WorkWay
from easeml.service.production import request_log
from easeml.service.production.request_log import Seen
from easeml.service.retention import erased_late, erasing
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Rollout, WorkAnswer, WorkItem
from easeml.store.shapes import RolloutEvidence, RolloutPlan

HEADER = "email,size,colour,kind\n"
ANN, EVE = "ann.smith@example.org", "eve.jones@example.org"
ZOE, COLOUR, NOTE, KIND = "zoe-id-7731", "zoe-colour-7731", "zoe-note-7731", "zoe-kind-7731"


def table(rows: range, *more: str) -> bytes:
    lines = []
    for i in rows:
        kind = "small" if i % 10 < 5 else "large"
        lines.append(f"person{i}@example.org,{i % 10}.5,{('red', 'blue')[i % 2]},{kind}\n")
    return (HEADER + "".join(lines) + "".join(more)).encode()


class Desk:
    """Somebody with an application whose data knows Ann twice: uploaded, and fed later."""

    def __init__(self, client: TestClient, store: Store, person, folder: Path):
        self.client, self.store, self.person, self.folder = client, store, person, folder

    def bring(self, content: bytes, filename: str = "t.csv", **declared) -> None:
        """Upload a table and declare an application on it."""
        dataset = self.post("/datasets", params={"filename": filename}, content=content)
        work_off(self.store, self.folder)
        self.dataset_id = dataset["id"]
        models = ["decision-tree-classifier"]
        body = {"dataset_id": dataset["id"], "target": "kind", "models": models, "max_tasks": 9}
        body |= declared
        self.id = self.post("/applications", json=body)["id"]
        work_off(self.store, self.folder)

    def post(self, path: str, expect: int = 201, **sent) -> dict:
        answer = self.client.post(f"/api/v1{path}", headers=self.person.headers, **sent)
        assert answer.status_code == expect, answer.text
        return answer.json()

    def get(self, path: str) -> dict:
        answer = self.client.get(f"/api/v1{path}", headers=self.person.headers)
        assert answer.status_code == 200, answer.text
        return answer.json()

    @property
    def application(self) -> dict:
        return self.get(f"/applications/{self.id}")

    def feed(self, content: bytes) -> dict:
        """Return the version that came of it."""
        params = {"filename": "more.csv"}
        made = self.post(f"/applications/{self.id}/feed", params=params, content=content)
        work_off(self.store, self.folder)
        return self.get(f"/versions/{made['id']}")

    def erase(self, email: str, **wish) -> dict:
        """Return the report."""
        body = {"where": {"email": email}, **wish}
        task = self.post(f"/datasets/{self.dataset_id}/erasures", json=body)
        work_off(self.store, self.folder)
        done = self.get(f"/tasks/{task['id']}")
        assert done["state"] == "done", done["error"]
        return done["result"]["report"]

    def serve(self, email: str, request_id: str = "req_1") -> None:
        """Let the endpoint have been asked about a person, and told what was true."""
        self.client.put(
            f"/api/v1/applications/{self.id}/requests",
            json={"share": 1.0, "days": 30},
            headers=self.person.headers,
        )
        row = {"email": email, "size": 3.25, "colour": "red"}
        other = {"email": "person1@example.org", "size": 1.5, "colour": "blue"}
        body = json.dumps({"rows": [row, other]}).encode()
        chances = {"small": 0.75, KIND: 0.25}
        said = {
            "model_id": "mod",
            "predictions": ["small", "small"],
            "probabilities": [chances, chances],
        }
        answer = json.dumps(said).encode()
        tenant_id = self.person.caller.tenant_id
        seen = Seen(request_id, tenant_id, self.id, "application/json", body, answer)
        request_log.keep(self.store, [seen])
        told = [{"request_id": request_id, "row": n, "value": "large"} for n in (0, 1)]
        self.post(f"/applications/{self.id}/feedback", 200, json=told)

    def ask(self, row: int) -> None:
        """Let somebody have been asked, and have answered, what a row is."""
        here = (self.person.caller.tenant_id, self.id)
        version_id = self.application["version_id"]
        item = WorkItem(
            f"wrk_{row}", *here, version_id, WorkKind.LABEL, row, "kind", 1.0, state=WorkState.OPEN
        )
        answer = WorkAnswer(
            f"ans_{row}", *here, item.id, WorkKind.LABEL, "usr", WorkWay.ANSWER, "small"
        )
        with self.store.write() as tx:
            tables = tx.scoped(self.person.caller.tenant_id)
            tables.work_items.add(item)
            tables.work_answers.add(answer)

    def train(self) -> None:
        """Have a model trained, which serves if it is the first or the best."""
        train(self.store, self.folder, self.application["job"]["id"])
        work_off(self.store, self.folder)

    def live(self) -> str:
        """Return the id of what serves; empty where nothing does."""
        model = self.application["live_model"]
        return model["id"] if model else ""


@pytest.fixture
def desk(client: TestClient, store: Store, ann, tmp_path: Path) -> Desk:
    desk = Desk(client, store, ann, tmp_path / "work")
    desk.bring(table(range(60), f"{ANN},3.25,red,small\n", f"{EVE},8.25,blue,large\n"))
    return desk


@pytest.fixture
def named(client: TestClient, store: Store, ann, tmp_path: Path) -> Desk:
    """A desk whose data has a colour, a kind and a note that only Zoe has, in a file of her name."""
    lines = ["email,size,colour,note,kind\n", f"{ZOE},3.25,{COLOUR},see {NOTE} again,{KIND}\n"]
    for i in range(60):
        kind = "small" if i % 10 < 5 else "large"
        lines.append(f"person{i}@example.org,{i % 10}.5,{('red', 'blue')[i % 2]},row {i},{kind}\n")
    desk = Desk(client, store, ann, tmp_path / "work")
    types = {"colour": "category", "note": "text"}
    desk.bring("".join(lines).encode(), f"{ZOE}.csv", set=types)
    return desk


def places_of(store: Store, artefacts: Path, text: str) -> Counter[str]:
    """Return where a text stands: rows by table, and stored bytes that some row names."""
    found = Counter[str]()
    with store.read() as tx:
        connection = tx._session.connection
        names = sa.inspect(connection).get_table_names()
        for name in names:
            for row in connection.execute(sa.text(f'SELECT * FROM "{name}"')):
                found[name] += text in str(tuple(row))
        named = tx.mentioned_digests(but="artefacts")
    kept = store.artefacts.aged(0.0)
    strays = {file.key for file in store.artefacts.strays(kept, named)}
    for file in kept:
        content = (artefacts / file.key).read_bytes()
        found["bytes"] += file.key not in strays and text.encode() in content
    return +found


def test_a_person_is_erased_from_everything_and_the_rest_stays(
    desk: Desk, store: Store, settings: Settings, bob
) -> None:
    places = partial(places_of, store, Path(settings.artefacts))
    desk.feed(table(range(100, 110), f"{ANN},4.25,red,small\n"))
    desk.serve(ANN)
    desk.ask(60)
    desk.ask(5)
    before = desk.application
    assert {"production_rows", "bytes"} <= places(ANN).keys()

    planned = desk.erase(ANN)
    assert planned["plan_only"]
    assert {one["number"]: one["rows"] for one in planned["versions"]} == {1: 1, 2: 1, 3: 2}
    counts = ("production_rows", "told", "questions", "answers")
    assert [planned[name] for name in counts] == [1, 1, 1, 1]
    assert desk.application["version_id"] == before["version_id"]
    assert places(ANN)

    done = desk.erase(ANN, plan_only=False)
    assert done["versions"] == planned["versions"]
    assert places(ANN) == {}
    assert places(EVE)  # others stay
    version = desk.get(f"/versions/{before['version_id']}")
    assert version["summary"]["rows"] == 60 + 1 + 10
    reports = desk.get(f"/datasets/{desk.dataset_id}/erasures")["items"]
    assert [one["by"] for one in reports] == [desk.person.name]
    again = desk.erase(ANN)
    assert (again["versions"], again["models"], again["production_rows"]) == ([], [], 0)

    # Nothing is renumbered: others are found as before, also by what models do not use.
    for email, versions in ((EVE, {1: 1, 2: 1, 3: 1}), ("person105@example.org", {3: 1})):
        one = desk.erase(email, plan_only=False)
        assert {one["number"]: one["rows"] for one in one["versions"]} == versions
        assert places(email) == {}
    assert places("person104@example.org")
    desk.feed(table(range(200, 205)))
    body = {"dataset_id": desk.dataset_id, "target": "kind", "models": ["baseline-classifier"]}
    fresh = desk.post("/applications", json=body)
    work_off(store, desk.folder)
    version = desk.get(f"/versions/{fresh['version_id']}")
    assert version["state"] == "ready", version["error"]
    assert version["summary"]["rows"] == 60
    assert "pool" not in version["summary"]
    stranger = desk.client.post(
        f"/api/v1/datasets/{desk.dataset_id}/erasures",
        json={"where": {"email": EVE}},
        headers=bob.headers,
    )
    assert stranger.status_code == 404


def test_a_person_is_erased_from_data_that_took_the_place_of_other_data(
    desk: Desk, store: Store, settings: Settings
) -> None:
    mia = "mia.mint@example.org"  # whom only the new file knows
    new = table(range(100, 160), f"{mia},4.25,red,small\n")
    params = {"filename": "new.csv"}
    desk.post(f"/applications/{desk.id}/replace", params=params, content=new)
    work_off(store, desk.folder)
    done = desk.erase(mia, plan_only=False)
    assert {one["number"]: one["rows"] for one in done["versions"]} == {3: 1}
    assert places_of(store, Path(settings.artefacts), mia) == {}
    assert desk.get(f"/versions/{desk.application['version_id']}")["summary"]["rows"] == 60


def test_what_only_one_person_had_is_named_nowhere(
    named: Desk, store: Store, settings: Settings
) -> None:
    named.train()
    named.serve(ZOE)
    unread = f"email,size,colour,note,kind\n{ZOE},{NOTE},red,{NOTE},small\n"
    failed = named.feed(unread.encode())
    assert NOTE in failed["error"]  # its file is no part of any version that is ready
    before = named.get(f"/versions/{named.application['version_id']}")

    done = named.erase(ZOE, plan_only=False, models="retire")
    places = partial(places_of, store, Path(settings.artefacts))
    for text in (COLOUR, NOTE, KIND):
        assert places(text) == {}, text
    told = Counter[str]()
    for one in done["remains"]:  # the names that people gave, and the audit
        told[one["place"].partition(".")[0]] += one["rows"]
    assert told == places(ZOE)
    assert told.keys() == {"datasets", "applications", "events"}
    assert store.clean()
    for file in filter(Path.is_file, Path(settings.home).rglob("easeml.db*")):
        assert NOTE.encode() not in file.read_bytes(), file.name

    # Classes keep their places, and others their names: what is left is learnt from.
    version = named.get(f"/versions/{named.application['version_id']}")
    for place, (old, new) in enumerate(zip(before["columns"], version["columns"], strict=True)):
        kept = [name if name not in (COLOUR, KIND) else "(erased)" for name in old["classes"]]
        assert new["classes"] == kept, place
    for side in ("schema_in", "schema_out"):
        assert "(erased)" in json.dumps(version[side])
    body = {"dataset_id": named.dataset_id, "target": "kind", "set": {"colour": "category"}}
    again = named.post("/applications", json=body)
    work_off(store, named.folder)
    version = named.get(f"/versions/{again['version_id']}")
    classes = {column["name"]: column["classes"] for column in version["columns"]}
    assert (classes["colour"], classes["kind"]) == (["blue", "red"], ["large", "small"])


def test_a_short_value_is_searched_for_as_a_whole_one(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    desk = Desk(client, store, ann, tmp_path / "work")
    content = table(range(60), f"{ZOE},3.25,zq,small\n")
    desk.bring(content, "zq.csv", set={"colour": "category"})
    desk.post("/datasets", params={"filename": "zq of others.csv"}, content=table(range(60)))
    done = desk.erase(ZOE, plan_only=False)
    found = {one["place"]: one["rows"] for one in done["remains"]}
    assert found["datasets.name"] == 1
    version = desk.get(f"/versions/{desk.application['version_id']}")
    assert "zq" not in json.dumps(version["columns"])
    assert not any("six digits" in sentence for sentence in done["elsewhere"])


def test_the_report_says_which_values_were_not_searched_for(
    client: TestClient, store: Store, ann, tmp_path: Path
) -> None:
    desk = Desk(client, store, ann, tmp_path / "work")
    desk.bring(table(range(60), f"{ZOE},3.25,7,small\n"), "seven.csv", set={"colour": "category"})
    done = desk.erase(ZOE, plan_only=False)
    (told,) = [sentence for sentence in done["elsewhere"] if "six digits" in sentence]
    assert "7" not in told


def test_the_report_names_other_data_sets_that_may_have_the_rows(desk: Desk) -> None:
    ann_first = HEADER + f"{ANN},7.25,red,large\n" + table(range(60)).decode().removeprefix(HEADER)
    other = desk.post("/datasets", params={"filename": "copy.csv"}, content=ann_first.encode())
    elsewhere = b"name,size\n" + b"ann,1\nbob,2\n" * 30
    desk.post("/datasets", params={"filename": "unlike.csv"}, content=elsewhere)
    work_off(desk.store, desk.folder)
    done = desk.erase(ANN, plan_only=False)
    (told,) = [one for one in done["elsewhere"] if "Other data sets" in one]
    assert f"copy ({other['id']})." in told
    assert "unlike" not in told
    why = {one["place"]: one["why"] for one in done["remains"]}
    assert "another data set" in why["versions.columns"]
    assert "another data set" in why["tasks.result"]


def test_a_request_that_is_written_after_the_erasure_goes_too(desk: Desk, store: Store) -> None:
    desk.serve(EVE, "req_0")  # of another person
    desk.erase(ANN, plan_only=False)
    desk.serve(ANN, "req_1")
    desk.serve(ANN, "req_2")
    with store.write() as tx:
        rows = tx.unscoped().production_rows
        (report,) = tx.unscoped().reports.list(kind=erasing.KIND)
        much_later = report.created + erased_late.LATEST + 1.0
        for number in (0, 1):
            rows.update(f"req_2.{number:06}", created=much_later)  # it was asked since
    assert ANN not in str(report)

    assert erased_late.remove(store, erasing.KIND) == 1
    with store.read() as tx:
        tables = tx.unscoped()
        emails = [(row.request_id, row.inputs["email"]) for row in tables.production_rows.list()]
        told = {(one.request_id, one.row) for one in tables.feedback.list()}
    other = "person1@example.org"
    assert emails == [
        *[("req_0", EVE), ("req_0", other)],
        *[("req_1", other), ("req_2", ANN), ("req_2", other)],
    ]
    assert ("req_1", 0) not in told
    assert ("req_1", 1) in told
    (shown,) = desk.get(f"/datasets/{desk.dataset_id}/erasures")["items"]
    assert (shown["production_rows"], shown["told"]) == (1, 1)
    assert erased_late.remove(store, erasing.KIND) == 0


def test_models_that_learnt_of_a_person_go_when_another_serves(desk: Desk, store: Store) -> None:
    desk.train()
    first = desk.live()
    assert first
    done = desk.erase(ANN, plan_only=False)
    assert [(one["model_id"], one["serves"]) for one in done["models"]] == [(first, True)]
    assert erasing.finish(store) == 0
    assert desk.live() == first

    desk.train()  # the search began anew on what is left
    consider(store, desk.application["job"]["id"])
    with store.write() as tx:  # whatever of the two is better
        models = tx.unscoped().models
        (second,) = [one for one in models.list(limit=None) if one.id != first]
        tx.unscoped().applications.update(desk.id, live_model_id=second.id)
    assert erasing.finish(store) == 1
    with store.read() as tx:
        assert tx.unscoped().models.get(first).artefact == ""
        assert tx.unscoped().models.get(second.id).artefact != ""
    assert erasing.finish(store) == 0
    (report,) = desk.get(f"/datasets/{desk.dataset_id}/erasures")["items"]
    assert [one["serves"] for one in report["models"]] == [False]


@pytest.mark.parametrize("way", [RolloutWay.SHADOW, RolloutWay.SHARE, RolloutWay.AFTER])
def test_a_model_that_is_gone_is_compared_no_more(
    desk: Desk, store: Store, way: RolloutWay
) -> None:
    desk.train()
    train(store, desk.folder, desk.application["job"]["id"], arm=1)
    live = desk.live()
    with store.write() as tx:
        tables = tx.scoped(desk.person.caller.tenant_id)
        models = tables.models.list(limit=None)
        (other,) = [one.id for one in models if one.id != live]
        pair = (live, other) if way == RolloutWay.AFTER else (other, live)
        how = way, RolloutPlan([], 0.1, 0.95), RolloutEvidence()
        rollout = Rollout("roll_1", models[0].tenant_id, desk.id, *pair, *how, share=0.1)
        tables.rollouts.ensure(rollout)
    desk.erase(ANN, plan_only=False)
    assert desk.live() == live
    with store.read() as tx:
        ended = tx.unscoped().rollouts.get("roll_1")
    assert ended.state == "stopped"
    assert "rows were erased" in ended.reason


def test_an_owner_may_rather_have_no_model_than_one_that_knows(desk: Desk, store: Store) -> None:
    desk.train()
    first = desk.live()
    done = desk.erase(ANN, plan_only=False, models="retire")
    assert [(one["model_id"], one["serves"]) for one in done["models"]] == [(first, False)]
    assert desk.live() == ""
    assert desk.application["job"]["state"] == "stopped"
    with store.read() as tx:
        assert tx.unscoped().models.get(first).artefact == ""


def test_what_nobody_has_is_erased_nowhere(desk: Desk, store: Store) -> None:
    before = desk.application
    done = desk.erase("nobody@example.org", plan_only=False)
    assert (done["versions"], done["models"]) == ([], [])
    assert desk.application == before


def test_the_last_rows_cannot_be_erased(desk: Desk) -> None:
    body = {"where": {"colour": "red"}, "plan_only": False}
    task = desk.post(f"/datasets/{desk.dataset_id}/erasures", json=body)
    work_off(desk.store, desk.folder)
    body = {"where": {"colour": "blue"}, "plan_only": False}
    task = desk.post(f"/datasets/{desk.dataset_id}/erasures", json=body)
    work_off(desk.store, desk.folder)
    failed = desk.get(f"/tasks/{task['id']}")
    assert failed["state"] == "failed"
    assert "easeml app delete" in failed["error"]
    assert "blue" not in json.dumps(desk.get(f"/tasks/{task['id']}/detail")["spec"]["where"])
