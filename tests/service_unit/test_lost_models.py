"""A live model that cannot be loaded gives way to the best that can, and nobody is left in the
dark.
"""

from pathlib import Path

import pytest

from easeml.contract.applications import Application
from easeml.contract.states import JobState
from easeml.errors import Conflict
from easeml.modules import load_registry
from easeml.service.access.caller import Caller
from easeml.service.applications import applications
from easeml.service.events import notifications
from easeml.service.models import lost_models, promotion
from easeml.store import Store

from .test_story import searching, train


@pytest.fixture
def serving(store: Store, ann: Caller) -> Application:
    """An application that serves the second of three models, with qualities .6, .9, .7."""
    app = searching(store, ann)
    for arm, quality in enumerate((0.6, 0.9, 0.7)):
        train(store, app, arm, quality)
    return applications.get(store, ann, app.id)


def give_up(store: Store, app: Application) -> None:
    with store.write() as tx:
        live = tx.unscoped().applications.get(app.id)
        model = tx.unscoped().models.get(live.live_model_id)
        lost_models.give_up(tx, live, model, "One byte is wrong.", load_registry())


def test_the_best_that_is_left_serves_and_all_are_told(
    store: Store, ann: Caller, admin: Caller, serving: Application
) -> None:
    lost = serving.live_model
    assert lost is not None
    assert lost.quality == 0.9
    give_up(store, serving)
    now = applications.get(store, ann, serving.id)
    assert now.live_model is not None
    assert now.live_model.quality == 0.7
    found = applications.models(store, ann, serving.id).items
    assert [(one.quality, one.error) for one in found] == [
        (0.7, ""),
        (0.6, ""),
        (0.9, "One byte is wrong."),
    ]
    told = notifications.get(store, ann).items[0]
    assert (told.kind, told.name, told.data["serves"]) == (
        "model.lost",
        serving.name,
        now.live_model.name,
    )
    of_provider = notifications.get(store, admin).items[0]
    assert (of_provider.kind, of_provider.data["tenant"]) == ("provider.model-lost", "ann")
    with store.write() as tx:
        assert promotion.consider(tx, serving.id) is None  # the better one is lost


def test_a_lost_model_is_trained_again(store: Store, ann: Caller, serving: Application) -> None:
    give_up(store, serving)
    with store.read() as tx:
        (again,) = tx.unscoped().tasks.list(kind="train", state="waiting")
        lost = next(one for one in tx.unscoped().models.list() if one.error)
    assert again.candidate_id == lost.candidate_id


def test_a_pin_ends_with_the_model_that_it_held(
    store: Store, ann: Caller, serving: Application
) -> None:
    applications.pin(store, ann, serving.id)
    give_up(store, serving)
    now = applications.get(store, ann, serving.id)
    assert now.live_model is not None
    assert (now.live_model.quality, now.pinned) == (0.7, False)
    assert notifications.get(store, ann).items[0].data["was_pinned"]


def test_nothing_serves_where_nothing_is_left(
    store: Store, ann: Caller, serving: Application
) -> None:
    with store.write() as tx:
        assert serving.job is not None
        tx.unscoped().jobs.update(serving.job.id, state=JobState.STOPPED)
    for _ in range(3):
        give_up(store, serving)
    now = applications.get(store, ann, serving.id)
    assert (now.live_model, now.state) == (None, "searching")
    with store.read() as tx:
        assert tx.unscoped().tasks.count(kind="train", state="waiting") == 0


def test_a_roll_back_to_files_that_are_gone_or_damaged_is_refused(
    store: Store, ann: Caller, serving: Application
) -> None:
    with store.read() as tx:
        worst = min(tx.unscoped().models.list(), key=lambda one: one.quality)
    file = store.artefacts.path(ann.tenant_id, worst.artefact)
    content = file.read_bytes()
    _replace(file, bytes([content[0] ^ 1]) + content[1:])
    with pytest.raises(Conflict, match="damaged"):
        applications.roll_back(store, ann, serving.id, worst.id)
    file.unlink()
    with pytest.raises(Conflict, match="gone"):
        applications.roll_back(store, ann, serving.id, worst.id)
    assert applications.get(store, ann, serving.id).live_model == serving.live_model
    assert not applications.get(store, ann, serving.id).pinned
    _replace(file, content)
    with store.write() as tx:
        tx.unscoped().models.update(worst.id, error="it was away")
    now = applications.roll_back(store, ann, serving.id, worst.id)
    assert now.live_model is not None
    assert (now.live_model.id, now.live_model.error) == (worst.id, "")


def _replace(file: Path, content: bytes) -> None:
    """Write to a file that is read-only by design."""
    file.unlink(missing_ok=True)
    file.write_bytes(content)
