"""What nobody needs any more goes, with a day to undo, and nothing else does."""

import os
import random
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.contract.applications import Application
from easeml.contract.retention import KeptKind, NewRetention
from easeml.contract.states import PromotionKind, RolloutState, RolloutWay, TaskState
from easeml.engine.retaining import SteadyClock
from easeml.errors import Conflict, NotAllowed, NotFound
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.applications import applications, deleting
from easeml.service.models import promotion
from easeml.service.retention import looks, retention
from easeml.service.retention.superseded import DAY, Candidate, Rule, superseded
from easeml.service.storage import artefact_references, releasing
from easeml.settings import Settings
from easeml.store import Store
from easeml.store.records import Gate, IdempotencyKey, Retirement, Rollout, TrainedModel
from easeml.store.shapes import ModelFiles, RolloutEvidence, RolloutPlan

from .conftest import Clock
from .test_story import searching, train

QUALITIES = (0.6, 0.9, 0.7, 0.5, 0.4)
"""Of five models; the first and the second served, and the second does."""


@pytest.fixture
def rules(tmp_path: Path) -> Settings:
    """Two models stay, others for 30 days."""
    return Settings(home=tmp_path, keep_models=2)


@pytest.fixture
def served(store: Store, ann: Caller) -> Application:
    app = searching(store, ann)
    for arm, quality in enumerate(QUALITIES):
        train(store, app, arm, quality)
    return applications.get(store, ann, app.id)


def pass_days(store: Store, clock: Clock, days: float) -> None:
    """Let the database's clock and the age of all stored files go on."""
    clock.now += days * DAY
    for path in (store_root(store)).glob("t*/*/*"):
        about = path.stat()
        os.utime(path, (about.st_atime - days * DAY, about.st_mtime - days * DAY))


def store_root(store: Store) -> Path:
    return store.artefacts._files._root


def models(store: Store) -> dict[float, TrainedModel]:
    """By quality."""
    with store.read() as tx:
        return {model.quality: model for model in tx.unscoped().models.list(limit=None)}


def whole(store: Store) -> set[float]:
    """The qualities of the models whose every file is there."""
    found = set()
    for quality, model in models(store).items():
        digests = (model.artefact, model.predictions)
        if all(digest and store.artefacts.exists(model.tenant_id, digest) for digest in digests):
            found.add(quality)
    return found


def amounts(collected) -> dict[KeptKind, int]:
    return {one.kind: one.count for one in collected.amounts}


# The pure core: a brute force says the same, whatever there is.

_model = st.builds(
    Candidate,
    id=st.uuids().map(str),
    application_id=st.sampled_from("ab"),
    job_id=st.sampled_from("123"),
    standing=st.sampled_from([0.1, 0.5, 0.9]),
    created=st.floats(0, 40 * DAY),
    is_sound=st.booleans(),
)


@given(
    st.lists(_model, max_size=12, unique_by=lambda one: one.id),
    st.integers(1, 4),
    st.sampled_from([0.0, 5.0, 30.0]),
    st.randoms(use_true_random=False),
)
def test_only_what_is_old_and_neither_best_nor_needed_goes(
    found: list[Candidate], count: int, days: float, chance: random.Random
) -> None:
    needed = {one.id for one in found if chance.random() < 0.2}
    rule = Rule(count, days, 0.0)
    gone = superseded(found, needed, {"a": rule}, 40 * DAY)
    for one in found:
        peers = [
            other
            for other in found
            if other.application_id == one.application_id
            and other.job_id == one.job_id
            and other.is_sound
        ]
        newest = max(o.job_id for o in found if o.application_id == one.application_id)
        better = [o for o in peers if (-o.standing, o.id) < (-one.standing, one.id)]
        is_best = one.is_sound and one.job_id == newest and len(better) < count
        is_old = days > 0 and 40 * DAY - one.created >= days * DAY
        goes = one.application_id == "a" and is_old and not is_best and one.id not in needed
        assert (one.id in gone) == goes


# The story of models that were superseded.


def test_superseded_models_are_retired_and_removed_a_day_later(
    store: Store, clock: Clock, served: Application, rules: Settings
) -> None:
    assert whole(store) == set(QUALITIES)
    assert looks.look(store, rules).amounts == []  # all are young
    pass_days(store, clock, 31)
    planned = looks.plan(store, rules)
    assert {item.kind for item in planned.items} == {KeptKind.MODELS}
    assert all("not among the best 2" in item.why for item in planned.items)
    assert whole(store) == set(QUALITIES)  # a plan changes nothing
    assert amounts(looks.look(store, rules)) == {KeptKind.MODELS: 2}
    kept = {0.9, 0.7, 0.6}  # what serves, the best two, and what a roll-back would choose
    assert {quality for quality, one in models(store).items() if one.artefact} == kept
    assert looks.look(store, rules).amounts == []  # their bytes have a day
    pass_days(store, clock, 1.1)
    freed = looks.look(store, rules)
    assert amounts(freed)[KeptKind.RETIRED] == 2
    assert freed.size > 0
    assert whole(store) == kept
    assert releasing.strays(store) == []
    assert looks.look(store, rules).amounts == []
    with store.read() as tx:
        last = looks.last(tx)
        assert last is not None
        assert last.size == freed.size
        held = {digest for (digest,) in tx.unscoped().artefacts.pick("digest")}
    assert held <= store.mentioned_digests(but="artefacts")


def test_a_roll_back_has_a_retired_model_back_and_then_no_more(
    store: Store, clock: Clock, ann: Caller, served: Application, rules: Settings
) -> None:
    pass_days(store, clock, 31)
    looks.look(store, rules)
    wanted = models(store)[0.5]
    assert wanted.artefact == ""
    after = applications.roll_back(store, ann, served.id, wanted.id)
    assert after.live_model is not None
    assert after.live_model.quality == 0.5
    pass_days(store, clock, 40)
    looks.look(store, rules)
    pass_days(store, clock, 2)
    looks.look(store, rules)
    assert 0.5 in whole(store)
    with pytest.raises(Conflict, match="nobody needed them"):
        applications.roll_back(store, ann, served.id, models(store)[0.4].id)


def test_who_wants_a_model_keeps_it(
    store: Store, clock: Clock, ann: Caller, bob: Caller, served: Application, rules: Settings
) -> None:
    pass_days(store, clock, 31)
    looks.look(store, rules)
    wanted = models(store)[0.4]
    with pytest.raises(NotFound):
        retention.keep_model(store, bob, wanted.id)
    shown = retention.keep_model(store, ann, wanted.id)
    assert (shown.error, shown.retired) == ("", False)
    retention.keep_model(store, ann, wanted.id)
    pass_days(store, clock, 60)
    looks.look(store, rules)
    assert 0.4 in whole(store)
    assert retention.get_rule(store, rules, ann, served.id).kept == [wanted.id]
    retention.keep_model(store, ann, wanted.id, keep=False)
    looks.look(store, rules)
    assert models(store)[0.4].artefact == ""


def test_an_owner_says_what_is_kept(
    store: Store, clock: Clock, ann: Caller, bob: Caller, served: Application, rules: Settings
) -> None:
    pass_days(store, clock, 400)
    wish = NewRetention(model_days=0)
    with pytest.raises(NotFound):
        retention.set_rule(store, rules, bob, served.id, wish)
    assert retention.set_rule(store, rules, ann, served.id, wish).models == 2
    looks.look(store, rules)
    assert whole(store) == set(QUALITIES)
    retention.set_rule(store, rules, ann, served.id, NewRetention(models=4))
    assert amounts(looks.look(store, rules))[KeptKind.MODELS] == 1


def need(store: Store, way: str, model: TrainedModel, other: TrainedModel) -> None:
    """Let something need a model."""
    with store.write() as tx:
        tables = tx.scoped(model.tenant_id)
        if way == "task":
            task = tables.tasks.get(model.task_id)
            asked = {"kind": "ensemble", "models": [{"model_id": model.id}]}
            again = {"state": TaskState.WAITING, "payload": asked, "created": 0.0}
            tables.tasks.add(replace(task, id=new_id("task"), **again))
        elif way == "challenger":
            tables.rollouts.add(
                Rollout(
                    id=new_id("rol"),
                    tenant_id=model.tenant_id,
                    application_id=model.application_id,
                    model_id=model.id,
                    against_id=other.id,
                    way=RolloutWay.SHADOW,
                    plan=RolloutPlan([0.1], 0.02, 0.95),
                    evidence=RolloutEvidence(),
                    state=RolloutState.RUNNING,
                )
            )
        elif way == "ledger":
            ledger = {"tests": [{"model": model.id}]}
            gate = Gate(new_id("gat"), model.tenant_id, model.application_id, ledger, 0, 10)
            tables.gates.add(gate)
        else:
            tx.events.append("model.exported", model.id, {}, model.tenant_id)


@pytest.mark.parametrize("way", ["task", "challenger", "ledger", "exported"])
def test_what_something_needs_stays(
    store: Store, clock: Clock, served: Application, rules: Settings, way: str
) -> None:
    pass_days(store, clock, 31)
    need(store, way, models(store)[0.4], models(store)[0.9])
    looks.look(store, rules)
    there = {quality for quality, one in models(store).items() if one.artefact}
    assert there == {0.9, 0.7, 0.6, 0.4}


def test_an_ensemble_keeps_the_bytes_of_a_retired_member(
    store: Store, clock: Clock, served: Application, rules: Settings, tmp_path: Path
) -> None:
    member = models(store)[0.4]
    folder = tmp_path / "member"
    folder.mkdir()
    (folder / "weights").write_bytes(b"weights of the member")
    ensemble = tmp_path / "ensemble"
    (ensemble / "0").mkdir(parents=True)
    (ensemble / "0" / "weights").write_bytes(b"weights of the member")
    alone = store.artefacts.put(member.tenant_id, folder)
    together = store.artefacts.put(member.tenant_id, ensemble)
    with store.write() as tx:
        tables = tx.scoped(member.tenant_id)
        for digest in (alone, together):
            artefact_references.keep(tx, member.tenant_id, digest, 21)
        tables.models.update(member.id, artefact=alone)
        tables.models.update(models(store)[0.9].id, artefact=together)
    for days in (31, 2):
        pass_days(store, clock, days)
        looks.look(store, rules)
    assert not store.artefacts.exists(member.tenant_id, alone)
    copy = store.artefacts.fetch(member.tenant_id, together, tmp_path / "copy")
    assert (copy / "0" / "weights").read_bytes() == b"weights of the member"


# Others: logs, events, tenants that leave, clocks that jump, bytes that are named again.


def test_old_logs_and_events_go(
    store: Store, clock: Clock, ann: Caller, served: Application, rules: Settings
) -> None:
    with store.write() as tx:
        tables = tx.unscoped()
        attempt = next(one for one in tables.attempts.list(limit=None) if one.finished)
        digest, size = store.artefacts.put_stream(attempt.tenant_id, [b"it printed"], 100)
        artefact_references.keep(tx, attempt.tenant_id, digest, size)
        tables.attempts.update(attempt.id, log=digest)
        tables.idempotency.add(IdempotencyKey("once", attempt.tenant_id, "", {"id": attempt.id}))
    looks.look(store, rules)
    with store.read() as tx:
        assert tx.unscoped().idempotency.find(id="once")
    pass_days(store, clock, 89)
    looks.look(store, rules)
    with store.read() as tx:
        assert not tx.unscoped().idempotency.find(id="once")
    assert store.artefacts.exists(attempt.tenant_id, digest)
    pass_days(store, clock, 2)
    found = looks.look(store, rules)
    assert amounts(found)[KeptKind.LOGS] == 1
    assert not store.artefacts.exists(attempt.tenant_id, digest)
    with store.read() as tx:
        newest = tx.events.last()
    pass_days(store, clock, 366)
    assert amounts(looks.look(store, rules))[KeptKind.EVENTS] > 5
    with store.read() as tx:
        assert [event.kind for event in tx.events.after(0)][-1] == looks.EVENT
        assert tx.events.last() == newest + 1


def test_a_deleted_application_goes_as_a_whole(
    store: Store, clock: Clock, ann: Caller, served: Application, rules: Settings
) -> None:
    pass_days(store, clock, 31)
    deleting.delete(store, ann, served.id)
    assert looks.look(store, rules).amounts == []  # it can be restored as it was
    deleting.restore(store, ann, served.id)
    looks.look(store, rules)
    deleting.delete(store, ann, served.id)
    pass_days(store, clock, 1.1)
    assert amounts(looks.look(store, rules))[KeptKind.APPLICATIONS] == 1
    assert models(store) == {}
    with store.read() as tx:
        assert tx.unscoped().retirements.count() == 0
    assert whole(store) == set()


def test_bytes_that_are_named_again_stay(
    store: Store, clock: Clock, ann: Caller, served: Application
) -> None:
    tenant = ann.tenant_id
    digest, size = store.artefacts.put_stream(tenant, [b"twice"], 100)
    with store.write() as tx:
        artefact_references.keep(tx, tenant, digest, size)
    pass_days(store, clock, 2)
    aged = store.artefacts.aged(releasing.GRACE_SECONDS)
    assert digest in {file.digest for file in aged}
    strays = [file for file in aged if file.digest == digest]
    store.artefacts.put_stream(tenant, [b"twice"], 100)  # while the look goes on
    assert releasing.remove(store, strays) == (0, 0)
    assert store.artefacts.path(tenant, digest).read_bytes() == b"twice"


def test_a_folder_whose_list_of_files_is_damaged_keeps_all_of_its_tenant(
    store: Store, clock: Clock, ann: Caller, tmp_path: Path
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "weights").write_bytes(b"weights")
    digest = store.artefacts.put(ann.tenant_id, folder)
    with store.write() as tx:
        artefact_references.keep(tx, ann.tenant_id, digest, 7)
        row = tx.scoped(ann.tenant_id)
        row.retirements.add(Retirement("mod_x", ann.tenant_id, "app_x", ModelFiles(digest)))
    listed = next(store_root(store).glob(f"*/*/{digest}.folder"))
    listed.chmod(0o644)
    listed.write_bytes(b"{}")
    pass_days(store, clock, 2)
    assert releasing.strays(store) == []


@pytest.mark.parametrize("steps", range(1, 6))
def test_a_look_that_is_killed_is_gone_on_with(
    store: Store,
    clock: Clock,
    served: Application,
    rules: Settings,
    steps: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ends with the n-th transaction or file of each look; what serves is whole all the time."""

    class Killed(BaseException):
        pass

    pass_days(store, clock, 31)
    write, remove = store.write, store.artefacts.remove
    left = [0]

    def step() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    def write_once():
        step()
        return write()

    def remove_once(file, age):
        step()
        return remove(file, age)

    for _ in range(12):
        left[0] = steps
        with monkeypatch.context() as patched:
            patched.setattr(store, "write", write_once)
            patched.setattr(store.artefacts, "remove", remove_once)
            with suppress(Killed):
                looks.look(store, rules)
        assert {0.9, 0.7, 0.6} <= whole(store)
        clock.now += 0.6 * DAY
    looks.look(store, rules)
    pass_days(store, clock, 2)
    looks.look(store, rules)
    assert whole(store) == {0.9, 0.7, 0.6}
    assert releasing.strays(store) == []


def test_a_clock_that_is_set_is_not_believed() -> None:
    clock = SteadyClock()
    assert not clock.is_steady(1000.0, 0.0)  # the first look only remembers
    assert clock.is_steady(1600.0, 600.0)
    assert not clock.is_steady(1600.0 + 400 * DAY, 1200.0)
    assert clock.is_steady(2200.0 + 400 * DAY, 1800.0)
    assert not clock.is_steady(3400.0, 2400.0)  # set back


def test_a_clock_set_back_removes_nothing_early(
    store: Store, clock: Clock, served: Application, rules: Settings
) -> None:
    pass_days(store, clock, 400)
    looks.look(store, rules)
    clock.now -= 369 * DAY
    looks.look(store, rules)
    with store.read() as tx:
        assert tx.unscoped().retirements.count() == 2


def test_two_looks_at_once_do_what_one_does(
    store: Store, clock: Clock, admin: Caller, ann: Caller, served: Application, rules: Settings
) -> None:
    with retention.alone(store, "one") as first, retention.alone(store, "other") as second:
        assert (first, second) == (True, False)
        with pytest.raises(Conflict, match="under way"):
            retention.collect(store, rules, admin)
    with pytest.raises(NotAllowed):
        retention.collect(store, rules, ann)
    with pytest.raises(NotAllowed):
        retention.plan(store, rules, ann)
    pass_days(store, clock, 31)
    assert amounts(retention.collect(store, rules, admin))[KeptKind.MODELS] == 2


def test_a_model_that_went_live_meanwhile_stays(
    store: Store, clock: Clock, served: Application, rules: Settings, monkeypatch
) -> None:
    """Between the first look at what is due and the transaction that retires it."""
    pass_days(store, clock, 31)
    write, done = store.write, []

    def write_later():
        if not done:
            done.append(True)
            with write() as tx:
                application = tx.unscoped().applications.get(served.id)
                model = next(m for m in tx.unscoped().models.list(limit=None) if m.quality == 0.4)
                promotion.make_live(tx, application, model, PromotionKind.ROLLBACK, "asked for")
        return write()

    monkeypatch.setattr(store, "write", write_later)
    looks.look(store, rules)
    assert models(store)[0.4].artefact
