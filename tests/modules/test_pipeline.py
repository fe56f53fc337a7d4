"""Candidates as a whole: errors, folders and what a manifest protects."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easeml.errors import Damaged, InvalidInput, NotFound
from easeml.modules import Context, load_registry
from easeml.modules.conformance import schemas, table
from easeml.modules.pipeline import fit, load_trained, save

REGISTRY = load_registry()
MODULE = REGISTRY.get("logistic")
LOGISTIC: dict[str, Any] = {
    "transforms": [{"module": "table-onehot", "config": {}}, {"module": "scale", "config": {}}],
    "model": {"module": "logistic", "config": {"C": 0.5}},
}
LIGHTGBM: dict[str, Any] = {
    "transforms": [{"module": "table-codes"}],
    "model": {"module": "lightgbm-classifier"},
}


def saved(folder: Path) -> Path:
    save(
        fit(LOGISTIC, table(MODULE), *schemas(MODULE, REGISTRY)),
        folder / "m",
        quality=0.9,
        dataset_version="ver_1",
    )
    return folder / "m"


def test_the_manifest_tells_what_it_is(tmp_path: Path) -> None:
    document = json.loads((saved(tmp_path) / "manifest.json").read_text())
    assert document["quality"] == 0.9
    assert document["classes"] == ["no", "yes", "rare", "unseen"]
    assert document["pipeline"]["model"]["config"] == {"C": 0.5, "class_weight": "none"}
    libraries = set(document["libraries"])
    assert libraries >= {"easeml", "scikit-learn", "numpy"}
    assert "lightgbm" not in libraries  # this pipeline does not use it
    assert len(document["parity"]["predictions"]) == 40


def test_a_changed_model_fails_its_parity_sample(tmp_path: Path) -> None:
    folder = saved(tmp_path)
    scale = next(folder.rglob("scale.npz"))
    with np.load(scale) as file:
        arrays = dict(file)
    np.savez(scale, **{**arrays, "centre": arrays["centre"] + 1})
    with pytest.raises(Damaged, match="does not predict"):
        load_trained(folder).check_parity()


@pytest.mark.parametrize("name", ["manifest.json", "estimator.skops", "onehot.npz", "table.json"])
def test_damage_is_told(tmp_path: Path, name: str) -> None:
    folder = saved(tmp_path)
    path = next(folder.rglob(name))
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(Damaged):
        load_trained(folder)


def test_a_damaged_booster_is_told(tmp_path: Path) -> None:
    save(fit(LIGHTGBM, table(MODULE), *schemas(MODULE, REGISTRY)), tmp_path / "m")
    next(tmp_path.rglob("booster.txt")).write_text("no trees")
    with pytest.raises(Damaged, match="booster"):
        load_trained(tmp_path / "m")


def test_another_format_or_schema_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path) / "manifest.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "format": 99}))
    with pytest.raises(Damaged, match="format 99"):
        load_trained(path.parent)
    path.write_text(json.dumps({**document, "schema_in": {"nodes": {}}}))
    with pytest.raises(Damaged, match="digest"):
        load_trained(path.parent)


def test_an_unexpected_type_in_a_file_is_not_loaded(tmp_path: Path) -> None:
    from skops.io import dump

    folder = saved(tmp_path)
    dump(pd.Timedelta, next(folder.rglob("estimator.skops")))
    with pytest.raises(Damaged):
        load_trained(folder)


@pytest.mark.parametrize(
    ("pipeline", "error"),
    [
        ({"model": {"module": "nothing"}}, NotFound),
        ({"model": {"module": "scale"}}, InvalidInput),
        ({"transforms": [{"module": "ridge"}], "model": {"module": "logistic"}}, InvalidInput),
        ({"model": {"module": "logistic", "config": {"D": 1}}}, InvalidInput),
    ],
)
def test_wrong_candidates(pipeline: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        fit(pipeline, table(MODULE), *schemas(MODULE, REGISTRY))


def test_targets_that_cannot_be_learnt() -> None:
    frame = table(MODULE)
    schema_in, schema_out = schemas(MODULE, REGISTRY)
    with pytest.raises(InvalidInput, match="constant"):
        fit(LOGISTIC, frame[frame["target"] == "no"], schema_in, schema_out)
    with pytest.raises(InvalidInput, match=r"target, row 3.*missing"):
        fit(
            LOGISTIC,
            frame.assign(target=frame["target"].where(np.arange(len(frame)) != 3)),
            schema_in,
            schema_out,
        )
    with pytest.raises(InvalidInput, match="no training rows"):
        fit(LOGISTIC, frame[:0], schema_in, schema_out)
    with pytest.raises(InvalidInput, match="not there"):
        fit(LOGISTIC, frame.drop(columns="target"), schema_in, schema_out)


def test_reports_reach_the_context_and_may_end_a_fit() -> None:
    steps: list[int] = []
    fit(
        LIGHTGBM,
        table(MODULE),
        *schemas(MODULE, REGISTRY),
        Context(report=lambda step, quality: steps.append(step)),
    )
    assert steps == list(range(1, 151))

    class Stop(Exception):
        pass

    def stop(step: int, quality: float | None) -> None:
        raise Stop

    with pytest.raises(Stop):
        fit(LIGHTGBM, table(MODULE), *schemas(MODULE, REGISTRY), Context(report=stop))
