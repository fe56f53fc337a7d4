"""What a serving child holds, and what a predictor fetches for it."""

from pathlib import Path

import pytest

from easeml.engine.predictor import fetched_whole
from easeml.engine.serving.shelf import Shelf
from easeml.errors import NotFound
from easeml.store import Store, TrainedModel


def test_a_model_waits_for_its_turn_while_another_application_is_assigned_first():
    shelf: Shelf[str] = Shelf()
    shelf.put("m1", "first")
    shelf.put("m2", "second")
    assert shelf.assign("app1", "m1")
    assert shelf.assign("app2", "m2")
    assert (shelf.of("app1"), shelf.of("app2")) == ("first", "second")


def test_the_replaced_model_is_forgotten_unless_it_serves_elsewhere():
    shelf: Shelf[str] = Shelf()
    for model in ("m1", "m2", "m3"):
        shelf.put(model, model)
    shelf.assign("app1", "m1")
    shelf.assign("app2", "m1")
    shelf.assign("app1", "m2")
    assert shelf.of("app2") == "m1"
    shelf.assign("app2", "m3")
    assert not shelf.assign("app1", "m1")
    assert (shelf.of("app1"), shelf.of("app2"), shelf.of("app3")) == ("m2", "m3", None)


def test_an_interrupted_fetch_is_not_taken_for_a_model(store: Store, tmp_path: Path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.json").write_text("{}")
    (source / "b.bin").write_bytes(b"weights")
    digest = store.artefacts.put("t1", source)
    missing = store.artefacts.members("t1", digest)["b.bin"]
    content = missing.read_bytes()
    missing.unlink()
    model = _model(digest)
    folder = tmp_path / "serving"
    folder.mkdir()
    with pytest.raises(NotFound):
        fetched_whole(store, model, folder)
    assert list(folder.iterdir()) == []
    missing.write_bytes(content)
    fetched = fetched_whole(store, model, folder)
    assert sorted(path.name for path in fetched.iterdir()) == ["a.json", "b.bin"]
    assert fetched_whole(store, model, folder) == fetched


def _model(artefact: str) -> TrainedModel:
    return TrainedModel("mdl_1", "t1", "app_1", "job_1", "tsk_1", "cnd_1", "m", artefact, "", 0.9)
