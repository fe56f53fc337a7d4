"""Finding modules: what ships, what plug-ins bring, and what fits."""

import subprocess
import sys
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from easeml.errors import InvalidInput, NotFound
from easeml.modules import Registry, load_registry, registry
from easeml.modules.accepts import Accepts
from easeml.modules.module import parse
from easeml.schema import Schema

REGISTRY = load_registry()
NUMBER = {"singleton": True, "type": "tensor", "dim": [1]}
OUT_NUMBER = {"nodes": {"y": NUMBER}}
OUT_LABEL = {
    "nodes": {"y": {"singleton": True, "type": "category", "class": "c"}},
    "classes": {"c": {"dim": 2, "labels": ["a", "b"]}},
}
MIXED = {
    "nodes": {
        "a": {**NUMBER, "optional": True},
        "b": {"singleton": True, "type": "category", "class": "c"},
        "t": {"singleton": True, "type": "text"},
        "d": {"singleton": True, "type": "timestamp", "optional": True},
    },
    "classes": {"c": {"dim": 2, "labels": ["x", "y"]}},
}


def tensor(*dim: int | str) -> dict:
    """Return the schema of one tensor."""
    return {"nodes": {"a": {"singleton": True, "type": "tensor", "dim": list(dim)}}}


OBJECTIVE = """
name = "extra"
kind = "objective"
version = "1.0"
contract = 1
title = "Extra"
[runtime]
kind = "python"
entry = "json:JSONDecoder"
[schema_in.nodes.target]
singleton = true
type = "tensor"
dim = [1]
"""


def test_the_zoo_is_whole() -> None:
    assert REGISTRY.problems == ()
    for module in REGISTRY.modules:
        if module.name not in REGISTRY.lacking:
            assert module.takes or module.make() is not None


@pytest.mark.parametrize("schema_in", [MIXED, {"nodes": {"a": NUMBER}}])
def test_models_fit_tables(schema_in: dict) -> None:
    labels = [match for match in REGISTRY.models_for(schema_in, OUT_LABEL) if match.fits]
    numbers = [match for match in REGISTRY.models_for(schema_in, OUT_NUMBER) if match.fits]
    assert len(labels) >= 12
    assert len(numbers) >= 11
    assert not {match.module.name for match in labels} & {match.module.name for match in numbers}


def test_a_model_that_does_not_fit_says_why() -> None:
    graph = {"nodes": {"a": {"singleton": False, "fields": {"x": {"type": "tensor", "dim": [2]}}}}}
    for match in REGISTRY.models_for(MIXED, graph):
        assert not match.fits
        assert match.why_not.startswith("Output: ")


def test_a_model_whose_library_is_not_installed_says_what_to_do() -> None:
    registry = replace(REGISTRY, lacking={"ridge": "some-library", "rmse": "another"})
    ridge = registry.match(registry.get("ridge"), MIXED, OUT_NUMBER)
    assert not ridge.fits
    assert "pip install some-library" in ridge.why_not
    assert "rmse" not in [module.name for module in registry.objectives_for(OUT_NUMBER)]


def test_what_a_module_lacks_is_found_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "lacking_a_library"
    package.mkdir()
    (package / "__init__.py").write_text("")
    needs = '[runtime.libraries]\nnothing = "no-such-library"\n[schema_in'
    (package / "extra.toml").write_text(OBJECTIVE.replace("[schema_in", needs, 1))
    monkeypatch.syspath_prepend(tmp_path)
    points = [EntryPoint("a", "lacking_a_library", "easeml.modules")]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    found: Registry = load_registry.__wrapped__()
    assert found.lacking["extra"] == "no-such-library"
    assert "ridge" not in found.lacking


def test_candidates_are_chains() -> None:
    chain = REGISTRY.candidates(REGISTRY.get("ridge"), MIXED)
    assert [module.name for module in chain] == ["table-onehot", "scale"]
    with pytest.raises(InvalidInput):
        Registry(tuple(m for m in REGISTRY.modules if not m.replaces)).candidates(
            REGISTRY.get("ridge"), tensor(28, 28)
        )


@pytest.mark.parametrize(
    ("schema_in", "first"),
    [
        (tensor(8, 8, 3), "image-features"),
        (tensor("h", "w", 1), "image-features"),
        (tensor(2, "t"), "series-features"),
        (tensor(7), "sample-features"),
        (tensor(8, 8, 30), "sample-features"),
        (tensor(2, 3, 4, 5, 6), "sample-features"),
        (
            {"nodes": {**tensor(3)["nodes"], "t": {"singleton": True, "type": "text"}}},
            "sample-features",
        ),
        (
            {
                "nodes": {
                    "n": {"fields": {"x": {"type": "tensor", "dim": [2]}}, "links": {"n": [0, 3]}}
                }
            },
            "sample-features",
        ),
    ],
    ids=[
        "picture",
        "pictures-of-all-sizes",
        "series",
        "vector",
        "block",
        "five-axes",
        "mixed",
        "graph",
    ],
)
def test_every_input_schema_has_candidates(schema_in: dict, first: str) -> None:
    for out in (OUT_NUMBER, OUT_LABEL):
        fitting = [match.module for match in REGISTRY.models_for(schema_in, out) if match.fits]
        assert len(fitting) >= 11
        assert {REGISTRY.candidates(model, schema_in)[0].name for model in fitting} == {first}


def test_tensors_are_predicted_by_models_of_several_outputs() -> None:
    for dim in ((4,), (4, 5), (2, 3, 4), (2, 2, 2, 2)):
        fitting = [
            match.module.name for match in REGISTRY.models_for(MIXED, tensor(*dim)) if match.fits
        ]
        assert {"ridge", "mlp-regressor", "knn-regressor", "random-forest-regressor"} <= set(
            fitting
        )
        assert "svm-regressor" not in fitting
        assert REGISTRY.objectives_for(tensor(*dim))[0].name == "r2"


def test_objectives_with_the_default_first() -> None:
    assert [module.name for module in REGISTRY.objectives_for(OUT_NUMBER)][:3] == [
        "r2",
        "mean-absolute-error",
        "rmse",
    ]
    assert REGISTRY.objectives_for(OUT_LABEL)[0].name == "accuracy"


def test_unknown_module() -> None:
    with pytest.raises(NotFound, match="no-such"):
        REGISTRY.get("no-such")


def test_plug_ins_and_broken_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "plugged"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "extra.toml").write_text(OBJECTIVE)
    (package / "broken.toml").write_text("name = ")
    (package / "twice.toml").write_text(OBJECTIVE.replace('"extra"', '"r2"'))
    monkeypatch.syspath_prepend(tmp_path)
    points = [
        EntryPoint("a", "plugged", "easeml.modules"),
        EntryPoint("b", "gone", "easeml.modules"),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    found: Registry = load_registry.__wrapped__()
    assert found.get("extra").title == "Extra"
    assert found.get("r2").entry.startswith("easeml.zoo")
    assert len(found.problems) == 3
    assert any("broken.toml" in problem for problem in found.problems)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('kind = "objective"', 'kind = "wish"', "kind"),
        ("contract = 1", "contract = 2", "contract"),
        ('title = "Extra"', "", "title"),
        ('title = "Extra"', 'title = "Extra"\ncolour = 1', "colour"),
        ("json:JSONDecoder", "json", "entry"),
        ('type = "tensor"', 'type = "tensr"', "tensr"),
    ],
)
def test_faults_of_a_module_file_are_named(old: str, new: str, place: str) -> None:
    with pytest.raises(InvalidInput, match=place):
        parse(OBJECTIVE.replace(old, new), "here.toml")


def test_a_missing_class_is_named() -> None:
    with pytest.raises(InvalidInput, match="json:Nothing"):
        parse(OBJECTIVE.replace("JSONDecoder", "Nothing"), "here.toml").make()


def test_reading_the_registry_is_light() -> None:
    code = (
        "import sys; from easeml.modules import load_registry; load_registry();"
        "print([name for name in ('sklearn', 'pandas', 'lightgbm', 'skrub', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_model_of_numbers_says_so_and_not_its_largest_array() -> None:
    output = Accepts.from_document(
        [
            {"nodes": {"y": {"singleton": True, "type": "tensor", "dim": dim}}}
            for dim in (["a"], ["a", "b"], ["a", "b", "c", "d"])
        ]
    )
    assert output.why_not(Schema.from_text("{kind: category(2)}")) == (
        "'kind' is a category of 2 classes, and it takes only: a list of numbers."
    )
    assert output.why_not(Schema.from_text("{kind: tensor[2, 3]}")) == ""
