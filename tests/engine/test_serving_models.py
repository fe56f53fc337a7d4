"""What a serving child holds, and what a predictor fetches for it."""

import asyncio
import socket
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from easeml.contract.states import RolloutState, RolloutWay
from easeml.engine.predictor import Predictor
from easeml.engine.serving import child
from easeml.engine.serving.answers import Answer, Request
from easeml.engine.serving.fetching import fetch, forget
from easeml.engine.serving.shelf import Assigned, Shelf
from easeml.engine.serving.tenant import TenantChild
from easeml.errors import Damaged, EasemlError, NotReady, Unreachable
from easeml.service.rollouts import kept
from easeml.settings import Settings
from easeml.store import Store, Tenant, TrainedModel
from easeml.store.records import Application, Candidate, DatasetVersion, Job, Rollout, Task
from easeml.store.shapes import (
    CandidatePipeline,
    ModuleConfig,
    Operation,
    OperationName,
    RolloutEvidence,
    RolloutPlan,
)


def test_a_model_waits_for_its_turn_while_another_application_is_assigned_first():
    shelf: Shelf[str] = Shelf()
    shelf.put("m1", "first")
    shelf.put("m2", "second")
    assert shelf.assign("app1", Assigned("m1"))
    assert shelf.assign("app2", Assigned("m2"))
    assert (shelf.of("app1"), shelf.of("app2")) == ("first", "second")


def test_the_replaced_model_is_forgotten_unless_it_serves_elsewhere():
    shelf: Shelf[str] = Shelf()
    for model in ("m1", "m2", "m3"):
        shelf.put(model, model)
    shelf.assign("app1", Assigned("m1"))
    shelf.assign("app2", Assigned("m1"))
    shelf.assign("app1", Assigned("m2"))
    assert shelf.of("app2") == "m1"
    shelf.assign("app2", Assigned("m3"))
    assert not shelf.assign("app1", Assigned("m1"))
    assert (shelf.of("app1"), shelf.of("app2"), shelf.of("app3")) == ("m2", "m3", None)
    shelf.withdraw("app2")
    shelf.withdraw("app3")  # which had none
    assert (shelf.of("app1"), shelf.of("app2")) == ("m2", None)
    assert not shelf.assign("app2", Assigned("m3"))


def test_a_fetch_is_whole_or_nothing(store: Store, tmp_path: Path):
    digest = _stored(store, tmp_path)
    missing = store.artefacts.members("t1", digest)["b.bin"]
    content = missing.read_bytes()
    missing.unlink()
    folder = tmp_path / "serving"
    with pytest.raises(Damaged, match="gone"):
        fetch(store, _model(digest), folder)
    assert list(folder.iterdir()) == []
    missing.write_bytes(content)
    fetched = fetch(store, _model(digest), folder)
    assert sorted(path.name for path in fetched.iterdir()) == ["a.json", "b.bin"]
    forget(fetched)
    assert list(folder.iterdir()) == []


def test_a_store_that_is_away_is_no_fault_of_a_model(store: Store, tmp_path: Path):
    digest = _stored(store, tmp_path)
    (tmp_path / "artefacts" / "t1").rename(tmp_path / "away")
    with pytest.raises(Unreachable, match="empty"):
        fetch(store, _model(digest), tmp_path / "serving")


class _Child(TenantChild):
    """Loads what is whole; ``deaths``: how often it ends instead."""

    deaths = 0
    served = ""
    assigned = Assigned("")

    def __init__(self, memory: int, models: Path, isolation: str):
        self.ended = False

    @property
    def alive(self) -> bool:
        return not self.ended

    async def start(self) -> None:
        """Nothing is forked."""

    async def load(
        self,
        model_id: str,
        name: str,
        objective: str,
        folder: Path,
        objective_source: str = "",
        environments: Mapping[str, str] | None = None,
    ) -> None:
        if _Child.deaths:
            _Child.deaths -= 1
            self.ended = True
            raise NotReady("The serving process ended.")
        if "bad" in (folder / "b.bin").read_text():
            raise EasemlError(f"Model {model_id} could not be loaded.")

    async def serve(self, application: str, assigned: Assigned) -> None:
        _Child.served = assigned.model_id
        _Child.assigned = assigned

    async def withdraw(self, application: str) -> None:
        assert _Child.served  # once
        _Child.served = ""

    async def stop(self) -> None:
        """Nothing runs."""


@pytest.fixture
def predictor(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Predictor:
    monkeypatch.setattr("easeml.engine.predictor.TenantChild", _Child)
    monkeypatch.setattr(_Child, "deaths", 0)
    monkeypatch.setattr(_Child, "served", "")
    return Predictor(store, Settings(home=tmp_path), tmp_path / "serving")


def test_the_best_that_can_be_loaded_serves_and_the_api_says_so(
    store: Store, tmp_path: Path, predictor: Predictor
):
    contents = {"best": "damaged", "next": "bad", "last": "good"}
    models = _serving(store, tmp_path, contents)
    damaged = store.artefacts.members("t1", models["best"].artefact)["b.bin"]
    damaged.unlink()
    damaged.write_text("damage!")
    asyncio.run(predictor.set_up("t1", "app_1"))
    assert _Child.served == models["last"].id
    with store.read() as tx:
        assert tx.unscoped().applications.get("app_1").live_model_id == models["last"].id
        lost = {model.name: model.error for model in tx.unscoped().models.list() if model.error}
        told = tx.events.newest("t1", ["model.lost"])
    assert sorted(lost) == ["best", "next"]
    assert "match their digest" in lost["best"]
    assert [event.data["name"] for event in told] == ["next", "best"]
    assert len(list((tmp_path / "serving" / "t1" / "models").iterdir())) == 1


def test_another_machine_gives_up_no_model_and_answers_with_no_old_one(
    store: Store, tmp_path: Path, predictor: Predictor
) -> None:
    models = _serving(store, tmp_path, {"old": "good", "new": "bad"})
    elsewhere = Predictor(store, Settings(home=tmp_path), tmp_path / "other", serves_all=False)

    async def promote() -> None:
        await elsewhere.set_up("t1", "app_1")
        assert _Child.served == models["old"].id
        with store.write() as tx:
            tx.unscoped().applications.update("app_1", live_model_id=models["new"].id)
        assert await elsewhere._try_set_up("t1", "app_1")

    asyncio.run(promote())
    assert _Child.served == ""
    with store.read() as tx:
        assert tx.unscoped().applications.get("app_1").live_model_id == models["new"].id


def test_what_serves_no_more_is_let_go_at_once(
    store: Store, tmp_path: Path, predictor: Predictor
) -> None:
    _serving(store, tmp_path, {"live": "good"})

    async def erase() -> None:
        await predictor.set_up("t1", "app_1")
        with store.write() as tx:
            tx.unscoped().applications.update("app_1", live_model_id="")
        for _ in range(2):  # as its event tells it, and as somebody asks
            with pytest.raises(NotReady, match="no model yet"):
                await predictor.set_up("t1", "app_1")

    asyncio.run(erase())
    assert _Child.served == ""
    assert not list((tmp_path / "serving").rglob("*.bin"))  # nor does its copy stay


def test_a_model_that_is_rolled_out_is_loaded_beside_the_live_one(
    store: Store, tmp_path: Path, predictor: Predictor
):
    models = _serving(store, tmp_path, {"live": "good", "new": "fine"})
    live, new = models["live"].id, models["new"].id
    rollout = _rolled_out(store, new, live, share=0.25)
    asyncio.run(predictor.set_up("t1", "app_1"))
    assert _Child.assigned == Assigned(live, new, 0.25)
    with store.write() as tx:
        tx.unscoped().rollouts.update(rollout.id, share=0.5)
    asyncio.run(predictor.set_up("t1", "app_1"))
    assert _Child.assigned == Assigned(live, new, 0.5)
    with store.write() as tx:
        kept.end(tx, rollout, RolloutState.STOPPED, "a test")
    asyncio.run(predictor.set_up("t1", "app_1"))
    assert _Child.assigned == Assigned(live)
    assert len(list((tmp_path / "serving" / "t1" / "models").iterdir())) == 1


def test_a_model_that_is_rolled_out_and_cannot_be_loaded_is_taken_back(
    store: Store, tmp_path: Path, predictor: Predictor
):
    models = _serving(store, tmp_path, {"live": "good", "new": "bad"})
    rollout = _rolled_out(store, models["new"].id, models["live"].id, share=0.25)
    asyncio.run(predictor.set_up("t1", "app_1"))
    assert _Child.assigned == Assigned(models["live"].id)
    with store.read() as tx:
        tables = tx.unscoped()
        assert tables.applications.get("app_1").live_model_id == models["live"].id
        ended = tables.rollouts.get(rollout.id)
    assert ended.state == RolloutState.TAKEN_BACK
    assert "cannot be loaded" in ended.reason


def test_a_challenger_is_kept_as_long_as_it_answers_somewhere():
    shelf: Shelf[str] = Shelf()
    for model in ("m1", "m2"):
        shelf.put(model, model)
    assert not shelf.assign("app1", Assigned("m1", "m3", 0.5))
    assert shelf.assign("app1", Assigned("m1", "m2", 0.5))
    assert shelf.challenger_of("app1") == ("m2", 0.5)
    assert shelf.assign("app1", Assigned("m2"))
    assert (shelf.of("app1"), shelf.challenger_of("app1")) == ("m2", None)
    assert not shelf.assign("app2", Assigned("m1"))


def _rolled_out(store: Store, model_id: str, against_id: str, share: float) -> Rollout:
    with store.write() as tx:
        plan = RolloutPlan([share], 0.02, 0.95)
        return tx.unscoped().rollouts.add(
            Rollout(
                "roll_1",
                "t1",
                "app_1",
                model_id,
                against_id,
                RolloutWay.SHARE,
                plan,
                RolloutEvidence(),
                share=share,
            )
        )


def test_a_child_that_ends_while_it_is_set_up_is_replaced_once(
    store: Store, tmp_path: Path, predictor: Predictor
):
    models = _serving(store, tmp_path, {"best": "good"})
    _Child.deaths = 1
    asyncio.run(predictor.set_up("t1", "app_1"))
    assert _Child.served == models["best"].id
    _Child.deaths = 2
    with pytest.raises(NotReady):
        asyncio.run(Predictor(store, Settings(home=tmp_path), tmp_path).set_up("t1", "app_1"))
    with store.read() as tx:
        assert tx.unscoped().applications.get("app_1").live_model_id == models["best"].id


def _serving(store: Store, tmp_path: Path, contents: dict[str, str]) -> dict[str, TrainedModel]:
    """Write an application with a stopped search and a model a content, the best first and live."""
    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "ann"))
        tables = tx.scoped("t1")
        tables.applications.add(
            Application("app_1", "t1", "a", "d", "v", "y", "accuracy", state="serving")
        )
        version = DatasetVersion("v", "t1", "d", 1, Operation(OperationName.DECLARE), state="ready")
        tables.versions.add(version)
        tables.jobs.add(Job("job_1", "t1", "app_1", "v", state="stopped"))
        tables.candidates.add(
            Candidate(
                "cnd_1", "t1", "job_1", 0, "m", "m", CandidatePipeline([], ModuleConfig("m")), 1.0
            )
        )
        models = {}
        for place, (name, content) in enumerate(contents.items()):
            artefact = _stored(store, tmp_path / name, content)
            model = replace(_model(artefact), id=f"mdl_{place}", name=name, task_id=f"t{place}")
            tables.tasks.add(Task(f"t{place}", "t1", "train", "search", {}, state="done"))
            models[name] = tables.models.add(replace(model, quality=0.9 - 0.1 * place))
        tables.applications.update("app_1", live_model_id="mdl_0")
    return models


def _stored(store: Store, folder: Path, content: str = "weights") -> str:
    source = folder / "source"
    source.mkdir(parents=True)
    (source / "a.json").write_text("{}")
    (source / "b.bin").write_text(content)
    return store.artefacts.put("t1", source)


def _model(artefact: str) -> TrainedModel:
    return TrainedModel("mdl_1", "t1", "app_1", "job_1", "tsk_1", "cnd_1", "m", artefact, "", 0.9)


def test_where_a_challenger_fails_the_model_that_serves_answers(monkeypatch: pytest.MonkeyPatch):
    def answer_each(served: str, requests: Sequence[Request]) -> list[Answer]:
        answer = Answer(500, b"failed") if served == "new" else Answer(200, b"answered")
        return [answer] * len(requests)

    monkeypatch.setattr(child, "answer_each", answer_each)
    here, _ = socket.socketpair()
    with here:
        serving = child._Child(here, here)
        for model in ("old", "new"):
            serving._shelf.put(model, model)  # pyright: ignore[reportArgumentType]
        serving._shelf.assign("app1", Assigned("old", "new", 1.0))
        waiting = [child._Waiting(here, "app1", "", Request("text/csv", b""))]
        told = serving._asked("app1", waiting * 2)
        assert told == [({"share": 1.0, "failed": True, "status": 200}, b"answered")] * 2
        serving._shelf.assign("app1", Assigned("old", "new", 0.0))
        assert serving._asked("app1", waiting)[0][0] == {"share": 0.0, "status": 200}
