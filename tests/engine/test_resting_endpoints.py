"""Of many applications a predictor keeps those loaded that are asked; the others rest until they are."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest

from easeml.engine import predictor as predicting
from easeml.engine.predictor import Predictor
from easeml.engine.serving.shelf import Assigned, Shelf
from easeml.engine.serving.tenant import TenantChild
from easeml.settings import Settings
from easeml.store import Store, Tenant, TrainedModel
from easeml.store.records import Application


class FakeChild(TenantChild):
    """Notes what it would do."""

    def __init__(self, memory: int, models: Path, isolation: str):
        self.alive_ = True
        self.loads: list[str] = []
        self.served: dict[str, str] = {}
        self.quiet: dict[str, float] = {}

    @property
    def alive(self) -> bool:
        return self.alive_

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
        self.loads.append(model_id)

    async def serve(self, application: str, assigned: Assigned) -> None:
        self.served[application] = assigned.model_id
        self.quiet[application] = 0.0

    async def withdraw(self, application: str) -> None:
        del self.served[application]

    async def quiet_seconds(self) -> dict[str, float]:
        return {one: self.quiet[one] for one in self.served}

    async def stop(self) -> None:
        self.alive_ = False


@pytest.fixture
def predictor(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Predictor:
    monkeypatch.setattr(predicting, "TenantChild", FakeChild)
    _live(store, tmp_path, count=4)
    return Predictor(store, Settings(home=tmp_path, loaded_endpoints=2), tmp_path / "serving")


def _live(store: Store, folder: Path, count: int) -> None:
    """Write applications ``app_0``, ... with a live model each, ``mdl_0``, ..., of one tenant."""
    source = folder / "source"
    source.mkdir()
    (source / "a.json").write_text("{}")
    artefact = store.artefacts.put("t1", source)
    with store.write() as tx:
        tx.tenants.add(Tenant("t1", "ann"))
        tables = tx.unscoped()
        for number in range(count):
            app = f"app_{number}"
            tables.applications.add(
                Application(app, "t1", app, "d", "v", "y", "accuracy", state="serving")
            )
            tables.models.add(_model(number, app, artefact))
            tables.applications.update(app, live_model_id=f"mdl_{number}")


def _model(number: int, app: str, artefact: str) -> TrainedModel:
    ids = (f"mdl_{number}", "t1", app, f"job_{number}", f"tsk_{number}", f"cnd_{number}")
    return TrainedModel(*ids, "m", artefact, "", 0.9)


def child_of(predictor: Predictor, number: int) -> FakeChild:
    found = asyncio.run(predictor.child_of("t1", f"app_{number}"))
    assert isinstance(found, FakeChild)
    return found


def test_the_one_that_was_quiet_for_longest_rests_and_is_back_when_it_is_asked(
    predictor: Predictor,
) -> None:
    for number in (0, 1):
        child = child_of(predictor, number)
    child.quiet = {"app_0": 61.0, "app_1": 90.0}
    assert child_of(predictor, 2) is child
    assert child.served == {"app_0": "mdl_0", "app_2": "mdl_2"}
    assert child_of(predictor, 1) is child
    assert child.served == {"app_2": "mdl_2", "app_1": "mdl_1"}
    assert child.loads == ["mdl_0", "mdl_1", "mdl_2", "mdl_1"]


def test_what_was_asked_within_a_minute_stays(predictor: Predictor) -> None:
    for number in (0, 1):
        child = child_of(predictor, number)
    child.quiet = {"app_0": 59.0, "app_1": 1.0}
    child_of(predictor, 2)
    assert sorted(child.served) == ["app_0", "app_1", "app_2"]


def test_a_tenant_whose_last_application_rests_has_no_process(predictor: Predictor) -> None:
    child = child_of(predictor, 0)
    asyncio.run(predictor.let_go("t1", "app_0"))
    assert not child.alive
    assert child_of(predictor, 0) is not child


def test_one_that_is_asked_while_it_is_let_go_serves_afterwards(predictor: Predictor) -> None:
    async def both() -> FakeChild:
        await predictor.child_of("t1", "app_0")
        await predictor.child_of("t1", "app_1")  # so that their process stays
        letting_go = asyncio.create_task(predictor.let_go("t1", "app_0"))
        await asyncio.sleep(0)
        found = await predictor.child_of("t1", "app_0")
        await letting_go
        found = await predictor.child_of("t1", "app_0")
        assert isinstance(found, FakeChild)
        return found

    assert asyncio.run(both()).served["app_0"] == "mdl_0"


def test_who_asks_does_not_wait_for_a_child_that_is_busy(
    predictor: Predictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def is_busy(_: FakeChild) -> dict[str, float]:
        return await asyncio.get_running_loop().create_future()

    for number in (0, 1):
        child = child_of(predictor, number)
    monkeypatch.setattr(FakeChild, "quiet_seconds", is_busy)

    async def within_seconds() -> None:
        async with asyncio.timeout(5):
            await predictor.child_of("t1", "app_2")

    asyncio.run(within_seconds())
    assert sorted(child.served) == ["app_0", "app_1", "app_2"]


def test_a_child_that_starts_is_not_asked_yet(
    predictor: Predictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = asyncio.Event()

    async def slowly(child: FakeChild) -> None:
        child.alive_ = False
        await started.wait()
        child.alive_ = True

    async def only_if_started(child: FakeChild) -> dict[str, float]:
        assert child.alive_
        return {}

    monkeypatch.setattr(FakeChild, "start", slowly)
    monkeypatch.setattr(FakeChild, "quiet_seconds", only_if_started)
    monkeypatch.setattr(predictor, "_loaded", lambda: [("t2", str(one)) for one in range(3)])

    async def meanwhile() -> None:
        asking = asyncio.create_task(predictor.child_of("t1", "app_0"))
        while not predictor._starting or not predictor._starting["t1"].locked():
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        await predictor._let_rest()
        started.set()
        await asking

    asyncio.run(meanwhile())


def test_the_applications_of_a_child_that_died_are_not_loaded(predictor: Predictor) -> None:
    child_of(predictor, 0).alive_ = False
    child = child_of(predictor, 1)
    child.quiet = {"app_1": 90.0}
    assert child_of(predictor, 2) is child
    assert sorted(child.served) == ["app_1", "app_2"]


def test_a_process_that_loads_another_application_does_not_end(
    predictor: Predictor, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = child_of(predictor, 0)
    loads = asyncio.Event()
    goes_on = asyncio.Event()

    async def slowly(*_: object) -> None:
        loads.set()
        await goes_on.wait()

    monkeypatch.setattr(FakeChild, "load", slowly)

    async def both() -> None:
        asking = asyncio.create_task(predictor.child_of("t1", "app_1"))
        await loads.wait()
        await predictor.let_go("t1", "app_0")
        goes_on.set()
        assert await asking is child

    asyncio.run(both())
    assert child.alive
    assert child.served == {"app_1": "mdl_1"}


def test_who_asks_for_what_is_deleted_meanwhile_gets_the_child_which_answers_nothing(
    predictor: Predictor, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def deleted() -> None:
        await predictor.let_go("t1", "app_0")

    monkeypatch.setattr(predictor, "_let_rest", deleted)
    assert child_of(predictor, 0).served == {}


def test_a_start_loads_the_newest_and_no_more_than_may_be(
    predictor: Predictor, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with store.write() as tx:
        for number, created in enumerate((4.0, 1.0, 3.0, 2.0)):
            tx.unscoped().applications.update(f"app_{number}", created=created)

    async def no_more(*_: object) -> bool:
        raise asyncio.CancelledError

    monkeypatch.setattr(predictor, "_wait_for_commit", no_more)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(predictor.follow_promotions())
    assert sorted(child_of(predictor, 0).served) == ["app_0", "app_2"]


def test_a_shelf_tells_for_how_long_nobody_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("easeml.engine.serving.shelf.time.monotonic", lambda: now)
    shelf: Shelf[str] = Shelf()
    shelf.put("m", "m")
    shelf.assign("one", Assigned("m"))
    shelf.assign("two", Assigned("m"))
    now = 130.0
    shelf.of("two")
    now = 140.0
    assert shelf.quiet_seconds() == {"one": 40.0, "two": 10.0}
    shelf.withdraw("one")
    assert shelf.quiet_seconds() == {"two": 10.0}
