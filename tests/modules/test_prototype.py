"""Images that were written for ease.ml's prototype: read, called, and hostile ones."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import container_images
import prototype_images
from easeml.contract.tasks import Limits, TaskSpec
from easeml.data.readers.easeml_values import write_samples
from easeml.engine import task_main
from easeml.engine.executors import LocalExecutor
from easeml.errors import InvalidInput
from easeml.kinds.suggest import AskedModel, SuggestSpec
from easeml.modules import Context, Data, Module, load_registry, packed, parse
from easeml.modules.conformance import check_space
from easeml.modules.containers import images, trial
from easeml.modules.programs import ProgramFailed
from easeml.modules.prototype import datasets, description, programs
from easeml.modules.prototype import image as folders
from easeml.schema import Sample, Samples
from easeml.search import spaces
from easeml.search.optimizers import Tried, conformance

DATA = Data(np.array([[0.0, 1.0], [0.2, 0.9], [5.0, 1.1], [5.1, 1.0]]), np.array([0, 0, 1, 1]), 2)
SPACE = {"n_neighbors": {".choice": [5]}}


def module_of(folder: Path, kind: str, image: Path) -> Module:
    """Make the folder of an image, let this process run it, and return its module."""
    container_images.needs_containers()
    folders.make(folder, kind, image)
    source = packed.pack(folder)
    container_images.reference(image)
    return replace(parse(source, "module.toml"), source=source)


def hostile(folder: Path, kind: str, **files: object) -> Module:
    """Return the module of a hostile image, whose folder has some files more."""
    container_images.needs_containers()
    folders.make(folder, kind, prototype_images.hostile())
    for name, document in files.items():
        (folder / f"{name.replace('_', '-')}.json").write_text(json.dumps(document))
    if kind != "optimizer":
        text = (folder / "module.toml").read_text()
        accepts = text.replace("contract", 'accepts = "classification"\ncontract')
        (folder / "module.toml").write_text(accepts.replace('"prototype"', '"prototype-metadata"'))
    source = packed.pack(folder)
    container_images.reference(prototype_images.hostile())
    return replace(parse(source, "module.toml"), source=source)


def test_a_model_of_the_prototype_learns_and_predicts(tmp_path: Path) -> None:
    module = module_of(tmp_path / "old", "model", prototype_images.image("model"))
    assert (module.title, module.runtime) == ("Nearest neighbours of the prototype", "container")
    scaled = {".float": [pytest.approx(1e-4), pytest.approx(0.1)], ".scale": "log"}
    assert module.space["unused"] == {".choice": [None, scaled]}
    trained = module.make().fit(DATA, spaces.default(module.space), Context())
    assert list(trained.memory) == ["model/rows.json"]
    (tmp_path / "saved").mkdir()
    trained.save(tmp_path / "saved")
    loaded = module.make().load(tmp_path / "saved")
    np.testing.assert_array_equal(loaded.predict(DATA.X), np.eye(2)[[0, 0, 1, 1]])


def test_an_objective_of_the_prototype_measures(tmp_path: Path) -> None:
    objective = module_of(tmp_path / "old", "objective", prototype_images.image("objective")).make()
    said = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6]])
    found = objective.values([(np.array([0, 1, 1]), said), (np.array([1, 1, 0]), said)])
    assert found == pytest.approx([2 / 3, 0])
    assert (objective.lower_is_better, objective.needs_probabilities) == (False, False)


def test_the_interval_of_a_mean_takes_one_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objective = module_of(tmp_path / "old", "objective", prototype_images.image("objective")).make()
    calls: list[str] = []
    run = programs.run
    monkeypatch.setattr(programs, "run", lambda *a, **k: (calls.append(a[1]), run(*a, **k)))
    rows = [np.array([0, 1]), np.array([1, 2]), np.array([2, 2, 0])]
    found = objective.values_of_resamples(DATA.y[:3], np.eye(2)[[0, 0, 0]], rows)
    right = DATA.y[:3] == 0
    assert found == pytest.approx([right.mean(), *(right[chosen].mean() for chosen in rows)])
    assert calls == ["eval"]


def test_the_interval_of_another_measure_is_found_by_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objective = module_of(tmp_path / "old", "objective", prototype_images.image("objective")).make()

    def largest(place: Path, *given: Any) -> None:  # no mean of rows, though it tells of each
        labels = sorted((place / "data" / "actual" / "output").glob("*/label.cat.txt"))
        values = [path.read_text().strip() for path in labels]
        lines = [f"{row:06} | {value}" for row, value in enumerate(values)]
        for line in (*lines, max(values)):
            given[3](line.encode())

    monkeypatch.setattr(programs, "run", largest)
    rows = [np.array([0, 1]), np.array([1, 3])] * 15
    found = objective.values_of_resamples(DATA.y, np.eye(2)[[0, 0, 0, 0]], rows)
    assert found == [1, *[0, 1] * 10]


def test_an_optimizer_of_the_prototype_suggests(tmp_path: Path) -> None:
    optimizer = module_of(tmp_path / "old", "optimizer", prototype_images.image("optimizer")).make()
    found = optimizer.propose(conformance.NETWORK, [Tried({}, 0.5)], 3, seed=0)
    assert len(found) == 3
    assert optimizer.propose({"k": {".int": [1, 1]}}, [Tried({"k": 1}, 0.5)], 3, seed=0) == []


def test_a_confined_task_asks_an_optimizer_of_the_prototype(tmp_path: Path) -> None:
    module = module_of(tmp_path / "old", "optimizer", prototype_images.image("optimizer"))
    asked = AskedModel(model="m", space=conformance.NETWORK, history=[])
    spec = SuggestSpec(optimizer="old", source=module.source, asked=[asked], number=2)
    limits = Limits(seconds=60, memory=2**31, threads=1)
    task = TaskSpec(module="easeml.kinds.suggest", body=spec.to_json())
    task_main.prepare(tmp_path / "work", task)
    task_main.name_images(tmp_path / "work", {module.image: images.loaded(module.image)})
    executor = LocalExecutor(limits, isolation="process")
    try:
        result = executor.start(tmp_path / "work", limits).wait().result
    finally:
        executor.close()
    assert result.ok, result.error
    assert result.value["fault"] == ""
    assert len(result.value["proposed"]["m"]) == 2


def test_an_image_that_lies_about_its_space_is_found_out(tmp_path: Path) -> None:
    module = hostile(tmp_path / "liar", "model", config_space=SPACE)
    registry = replace(load_registry(), modules=(*load_registry().modules, module))
    with pytest.raises(AssertionError, match=r"With {'n_neighbors': 5}: .*exit code 9"):
        check_space(module, registry, tmp_path)


def test_a_label_of_endless_digits_is_no_prediction(tmp_path: Path) -> None:
    endless = "9" * 5000
    row = Sample({"out": (endless,)})
    write_samples(tmp_path, Samples({"label": ("0", endless)}, {"000000": row}))
    with pytest.raises(ProgramFailed, match="not a label of the data set"):
        datasets.read_predictions(tmp_path, "mine", rows=1, width=2, classes=2)


def test_links_in_a_data_set_lead_nowhere(tmp_path: Path) -> None:
    model = hostile(tmp_path / "links", "model").make()
    trained = model.fit(DATA, {}, Context())
    with pytest.raises(ProgramFailed, match="predict wrote no whole data set"):
        trained.predict(DATA.X)


def test_what_hangs_or_floods_is_ended(tmp_path: Path) -> None:
    optimizer = replace(hostile(tmp_path / "hangs", "optimizer").make(), seconds=0.3)
    with pytest.raises(ProgramFailed, match="ran longer"):
        optimizer.propose(conformance.NETWORK, [], 2, seed=0)
    objective = hostile(tmp_path / "floods", "objective").make()
    with pytest.raises(ProgramFailed, match="printed more than 16,777,216 bytes"):
        objective.value(DATA.y, np.eye(2)[DATA.y])


def made_of(tmp_path: Path, **files: bytes) -> list[str]:
    """Return the names of what is made of an image with some files in its folder."""
    contents = {f"app/{name.replace('__', '.')}": content for name, content in files.items()}
    trial.write_image(tmp_path / "image.tar", contents, entry=["/bin/x"], folder="/app/")
    return [path.name for path in folders.make(tmp_path / "made", "model", tmp_path / "image.tar")]


def test_the_files_of_an_image_are_read(tmp_path: Path) -> None:
    bomb = b"a: &a [1]\nb: [*a, *a]\n"
    with pytest.raises(InvalidInput, match=r"config-space.yml has aliases"):
        made_of(tmp_path, **{"config-space__yml": bomb})
    with pytest.raises(InvalidInput, match=r"schema-in.json is not a text of up to"):
        made_of(tmp_path, **{"schema-in__json": b" " * 70_000})
    with pytest.raises(InvalidInput, match="not YAML that JSON could say"):
        made_of(tmp_path, **{"config-space__yaml": b"[1, 2"})
    found = made_of(tmp_path, **{"config-space__yaml": b"k: {.int: [1, 3]}", "other__json": b"{}"})
    assert found == ["module.toml", "config-space.json", "image.tar"]
    assert json.loads((tmp_path / "made" / "config-space.json").read_text()) == {
        "k": {".int": [1, 3]}
    }


TOML = """\
name = "old"
kind = "{kind}"
version = "1"
title = "Old"
contract = "prototype"
[runtime]
kind = "{runtime}"
image = "image-name:x"
[image]
ref = "image-name:x"
"""
OF_LENGTH_3 = {"nodes": {"a": {"singleton": True, "type": "tensor", "dim": [3]}}}
MATRIX = {"nodes": {"a": {"singleton": True, "type": "tensor", "dim": ["n", "m"]}}}


@pytest.mark.parametrize(
    ("kind", "runtime", "files", "why"),
    [
        ("model", "process", {}, "runs in its image"),
        ("transform", "container", {}, "had no such kind"),
        ("model", "container", {}, "schema-in.json is missing"),
        ("model", "container", {"schema-in.json": "[" * 9000}, "schema-in.json is missing, or no"),
        ("model", "container", {"schema-in.json": OF_LENGTH_3}, "does not take vectors of numbers"),
        ("model", "container", {"schema-in.json": MATRIX}, "does not take vectors of numbers"),
        ("objective", "container", {"schema-in.json": MATRIX}, "neither of a category nor of a"),
        ("optimizer", "container", {"config-space.json": "{"}, "config-space.json is missing, or"),
        ("optimizer", "container", {"config-space.json": {"a": {".int": 3}}}, "Bounds are two"),
        (
            "optimizer",
            "container",
            {"config-space.json": {"a": {".float": [1, 999], ".scale": "exp"}}},
            "two powers of ten",
        ),
        (
            "optimizer",
            "container",
            {"config-space.json": '{"a": {".int": [0, Infinity], ".scale": "exp"}}'},
            "two powers of ten",
        ),
    ],
)
def test_what_does_not_fit_here_is_refused(
    kind: str, runtime: str, files: dict[str, object], why: str
) -> None:
    lines = [TOML.format(kind=kind, runtime=runtime), "[files]"]
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        lines.append(f"{json.dumps(name)} = {json.dumps(text)}")
    with pytest.raises(InvalidInput, match=why):
        parse("\n".join(lines), "module.toml")


def test_spaces_are_said_in_the_words_of_the_prototype() -> None:
    given = {
        "rate": {".float": [1e-4, 0.1], ".scale": "log", ".default": 0.01},
        "trees": {".int": [10, 1000], ".scale": "log"},
        "how": {".choice": ["a", {"depth": {".int": [1, 3], ".default": 2}}], ".default": "a"},
        "seed": 7,
    }
    assert description.written(given) == {
        "rate": {".float": [1e-4, 0.1], ".scale": "log"},
        "trees": {".int": [10, 1000]},
        "how": {".choice": ["a", {"depth": {".int": [1, 3]}}]},
        "seed": 7,
    }
    powers = {"k": {".int": [0, 2], ".scale": "exp"}, "other": {".float": [0, 1]}}
    assert description.converted(powers, "") == {
        "k": {".int": [1, 100], ".scale": "log"},
        "other": {".float": [0, 1]},
    }
