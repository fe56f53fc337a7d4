"""Models that were fitted elsewhere are candidates of an application: judged, served, taken home."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures

from service_process import LOOK_EVERY, EasemlProcess

pytestmark = pytest.mark.service
LOADER = """
import pandas as pd
from load import model
rows = pd.read_csv("rows.csv")
model.predict(rows).to_csv("found.csv", index=False)
"""


def circles(rows: int = 600) -> pd.DataFrame:
    """Return rows whose answer no line tells: a logistic model alone is far from the best."""
    random = np.random.default_rng(3)
    frame = pd.DataFrame({"east": random.normal(size=rows), "north": random.normal(size=rows)})
    frame["ground"] = random.choice(["clay", "sand"], size=rows)
    reach = 1.0 + 0.5 * (frame["ground"] == "sand")
    is_near = frame["east"] ** 2 + frame["north"] ** 2 < reach
    frame["place"] = np.where(is_near, "near", "far")
    return frame


def fitted(frame: Any) -> Any:
    columns = make_column_transformer(
        (PolynomialFeatures(2), ["east", "north"]), (OneHotEncoder(), ["ground"])
    )
    pipeline = make_pipeline(columns, LogisticRegression(C=100, max_iter=2000))
    return pipeline.fit(frame.drop(columns="place"), frame["place"])


def test_a_pipeline_and_a_graph_are_served(easeml: EasemlProcess, tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    skl2onnx = pytest.importorskip("skl2onnx")
    frame = circles()
    frame.to_csv(tmp_path / "circles.csv", index=False)
    options = ["--target", "place", "--yes", "--json", "--models", "logistic", "--max-tasks", "1"]
    made = easeml.command("app", "create", str(tmp_path / "circles.csv"), *options)
    application = json.loads(made)["id"]
    easeml.wait(application, "converged", 120)
    address = f"/api/v1/applications/{application}"
    before = easeml.call("GET", address)["live"]["model_id"]

    pipeline = fitted(frame[:300])
    (tmp_path / "mine.skops").write_bytes(skops.dumps(pipeline))
    easeml.command("model", "import", application, str(tmp_path / "mine.skops"))
    served(easeml, address, "mine")
    rows = frame.drop(columns="place")[:20]
    rows.to_csv(tmp_path / "rows.csv", index=False)
    easeml.command(
        "predict", application, str(tmp_path / "rows.csv"), "--out", str(tmp_path / "o.csv")
    )
    found = pd.read_csv(tmp_path / "o.csv")
    assert found["prediction"].tolist() == pipeline.predict(rows).tolist()

    folder = tmp_path / "taken"
    easeml.command("model", "export", application, "--out", str(folder))
    rows.to_csv(folder / "rows.csv", index=False)
    subprocess.run([sys.executable, "-c", LOADER], cwd=folder, check=True, timeout=120)
    taken = pd.read_csv(folder / "found.csv")
    near = pipeline.predict_proba(rows)[:, list(pipeline.classes_).index("near")]
    np.testing.assert_allclose(taken["probability_near"], near, atol=1e-9)
    said = easeml.command(
        "model", "export", application, "--format", "onnx", "--out", str(tmp_path / "g"), expect=2
    )
    assert "imported-estimator" in said

    types = skl2onnx.common.data_types
    inputs = [(name, types.FloatTensorType([None, 1])) for name in ("east", "north")]
    inputs.append(("ground", types.StringTensorType([None, 1])))
    graph = skl2onnx.convert_sklearn(fitted(frame), initial_types=inputs)
    (tmp_path / "graph.onnx").write_bytes(graph.SerializeToString())
    told = easeml.command(
        "model", "import", application, str(tmp_path / "graph.onnx"), "--name", "my graph", "--json"
    )
    assert json.loads(told)["state"] == "done"
    models = {one["name"]: one for one in easeml.call("GET", f"{address}/models")["items"]}
    assert models["my graph"]["quality"] >= 0.9

    easeml.call("POST", f"{address}/rollback", {"model_id": models["my graph"]["id"]})
    served(easeml, address, "my graph")
    # It knows no mud, and fails there; the next request finds it as it was.
    place = {"east": 0.1, "north": 0.0, "ground": "clay"}
    with pytest.raises(HTTPError) as caught:
        easeml.call("POST", f"{address}/predict", [{**place, "ground": "mud"}])
    assert caught.value.code == 500
    assert "The model fails on these rows" in json.loads(caught.value.read())["detail"]
    found = easeml.call("POST", f"{address}/predict", [place])
    assert found["predictions"] == ["near"]
    easeml.call("POST", f"{address}/rollback", {"model_id": before})
    served(easeml, address, "logistic")

    (tmp_path / "bad.onnx").write_bytes(b"no graph")
    said = easeml.command("model", "import", application, str(tmp_path / "bad.onnx"), expect=1)
    assert "cannot be read as ONNX" in said

    # By another objective all three are judged by what they predicted, and the best goes on.
    easeml.call("POST", f"{address}/unpin", {})
    said = easeml.command("app", "objective", application, "balanced-accuracy")
    assert "3 trained models are judged by what they predicted" in said
    judged = by_the_objective(easeml, address)
    assert judged["live_model"]["name"] in ("mine", "my graph")
    assert judged["live_model"]["measure"]["objective"] == "balanced-accuracy"
    assert judged["live_model"]["cost"] == 0.0
    assert judged["job"]["tasks_done"] >= 1
    assert easeml.call("POST", f"{address}/predict", [place])["predictions"] == ["near"]


def by_the_objective(easeml: EasemlProcess, address: str) -> dict[str, Any]:
    """Return an application as soon as what serves was chosen by its objective."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = easeml.call("GET", address)
        if found["live_model"]["comparable"]:
            return found
        time.sleep(LOOK_EVERY)
    raise AssertionError("what serves was chosen by the former objective")


def served(easeml: EasemlProcess, address: str, name: str) -> None:
    """Return when a model of this name serves, which the scheduler decides."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        live = easeml.call("GET", address)["live"]["model_id"]
        models = easeml.call("GET", f"{address}/models")["items"]
        if {one["id"]: one["name"] for one in models}[live].startswith(name):
            return
        time.sleep(LOOK_EVERY)
    raise AssertionError(f"{name} does not serve")
