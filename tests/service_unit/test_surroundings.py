"""What comes to a machine for the programs of modules, and what does not, whatever a text names."""

import hashlib
import json
import zipfile
from pathlib import Path

import pytest

from easeml.contract.states import ModuleState
from easeml.errors import InvalidInput
from easeml.modules import packed, skeletons
from easeml.modules.containers import images as loading
from easeml.modules.environments import placing, requirements
from easeml.service.access.caller import Caller
from easeml.service.knowledge import knowledge_base
from easeml.service.modules import surroundings
from easeml.service.modules.environments import MachineEnvironments
from easeml.service.modules.images import MachineImages
from easeml.service.storage import artefact_references
from easeml.store import Store
from easeml.store.records import ModuleMark


def stored(store: Store, tenant_id: str, path: Path) -> str:
    """Store a file of a tenant; return its digest."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    with store.write() as tx:
        artefact_references.keep(tx, tenant_id, digest, path.stat().st_size)
    store.artefacts.put(tenant_id, path)
    return digest


def environment(path: Path, word: str) -> Path:
    """Write an environment as one is built."""
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(placing.ABOUT, json.dumps({"interpreter": requirements.interpreter()}))
        file.writestr("packages/own.py", word)
    return path


def source(tmp_path: Path, name: str, comment: str = "") -> str:
    """The text of a model in shell, with a comment in its program."""
    skeletons.make(tmp_path / name, "model", "shell")
    with (tmp_path / name / "train").open("a") as file:
        file.write(f"# {comment}\n")
    return packed.pack(tmp_path / name)


def add(store: Store, text: str, tenant_id: str) -> None:
    name = knowledge_base.read_added(text).name
    with store.write() as tx:
        tx.module_marks.add(
            ModuleMark(name, source=text, state=ModuleState.READY, tenant_id=tenant_id)
        )


def test_only_what_a_module_declares_is_laid_out(
    store: Store, ann: Caller, bob: Caller, tmp_path: Path
) -> None:
    of_ann = stored(store, ann.tenant_id, environment(tmp_path / "ann", "1"))
    of_all = stored(store, ann.tenant_id, environment(tmp_path / "all", "2"))
    upload = stored(store, bob.tenant_id, environment(tmp_path / "upload", "x" * 100))
    names = [f"{placing.BY_DIGEST}{digest}" for digest in (of_ann, of_all, upload)]
    add(store, packed.with_environment(source(tmp_path, "hers"), of_ann), ann.tenant_id)
    add(store, packed.with_environment(source(tmp_path, "ours"), of_all), "")
    text = source(tmp_path, "his", " ".join([*names, "environment-sha256:" + "0" * 64]))
    add(store, text, bob.tenant_id)
    machine = MachineEnvironments(store, tmp_path / "home")

    assert set(machine.provide(bob.tenant_id, text.encode())) == {names[1]}
    assert set(machine.provide(ann.tenant_id, text.encode())) == set(names[:2])
    model = tmp_path / "model"
    model.mkdir()
    (model / "manifest.json").write_text(json.dumps({"source": text}))
    served = tmp_path / "served"
    assert set(machine.of_model(bob.tenant_id, model, text, served)) == {names[1]}
    assert [place.name for place in served.iterdir()] == [of_all]

    with store.write() as tx:
        for name in ("hers", "ours"):  # archived, and nothing was trained
            tx.module_marks.update(name, archived=True)
    machine.remove_unneeded()
    assert not list((tmp_path / "home" / "environments").iterdir())


def test_an_image_in_a_comment_is_not_loaded(
    store: Store, ann: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(loading, "provide", lambda image, own, fetch: asked.append(image))
    text = source(tmp_path, "sly", f"image-name:postgres:16 image-sha256:{'0' * 64}")
    add(store, text, ann.tenant_id)
    assert MachineImages(store, tmp_path).provide(ann.tenant_id, text.encode()) == {}
    assert not asked


@pytest.mark.parametrize("name", ["image-name:postgres:16", f"environment-sha256:{'0' * 64}"])
def test_a_new_module_names_nothing_that_it_runs_in(tmp_path: Path, name: str) -> None:
    text = source(tmp_path, "sly", name)
    with pytest.raises(InvalidInput, match="made by the service") as refused:
        surroundings.check_unnamed(knowledge_base.read_added(text))
    assert name in refused.value.where
    surroundings.check_unnamed(knowledge_base.read_added(text.replace(name, "nothing")))
