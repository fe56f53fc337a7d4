"""What was taken elsewhere serves: in a process of its own it answers as the endpoint does."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pandas as pd
import pytest
from serving import running
from training import FACTS, trained

from easeml.export import load_exported, write_export


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    _, rows = trained("logistic", folder(tmp_path_factory) / "model")
    return rows.reset_index(drop=True)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, rows) -> Iterator[httpx.Client]:
    out = folder(tmp_path_factory) / "taken"
    write_export(folder(tmp_path_factory) / "model", FACTS, "python", out)
    with running([sys.executable, "serve.py", "--port", "0"], out, {}) as (client, _):
        yield client


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, rows) -> pd.DataFrame:
    return load_exported(folder(tmp_path_factory) / "model").predict(rows)


def folder(factory: pytest.TempPathFactory) -> Path:
    return factory.getbasetemp() / "exported-server"


def test_it_answers_as_the_endpoint_does(server, rows, expected) -> None:
    assert server.get("/health").json() == {"status": "ok", "model_id": "mod_1"}
    body = json.dumps({"rows": json.loads(rows.to_json(orient="records", date_format="iso"))})
    answer = server.post("/predict", content=body).json()
    assert answer["predictions"] == list(expected["prediction"])
    shares = [row["yes"] for row in answer["probabilities"]]
    assert shares == pytest.approx(list(expected["probability_yes"]), abs=1e-9)
    csv = {"content-type": "text/csv"}
    table = server.post("/predict", content=rows.to_csv(index=False), headers=csv).json()
    assert table["predictions"] == answer["predictions"]


def test_it_speaks_the_protocols(server, rows, expected) -> None:
    path = "/v2/models/app_1"
    metadata = server.get(path).json()
    assert (metadata["name"], metadata["versions"]) == ("app_1", ["mod_1"])
    assert server.get(f"{path}/ready").json() == {"name": "app_1", "ready": True}
    assert server.get("/v2/health/live").json() == {"live": True}
    assert server.get("/v2/health/ready").json() == {"ready": True}
    assert server.get("/v2").json()["name"] == "easeml"
    inputs = []
    cells = json.loads(rows.to_json(orient="columns", date_format="iso"))
    for entry in metadata["inputs"]:
        data = list(cells[entry["name"]].values())
        inputs.append({**entry, "shape": [len(rows)], "data": data})
    asked = {"inputs": inputs, "outputs": [{"name": "probabilities"}]}
    (told,) = server.post(f"{path}/infer", json=asked).json()["outputs"]
    columns = [f"probability_{name}" for name in json.loads(told["parameters"]["classes"])]
    found = np.reshape(told["data"], told["shape"])
    assert found == pytest.approx(expected[columns].to_numpy(), abs=1e-9)
    records = json.loads(rows.to_json(orient="records", date_format="iso"))
    answer = server.post("/invocations", json={"dataframe_records": records}).json()
    assert answer["predictions"] == list(expected["prediction"])


def test_what_it_refuses(server) -> None:
    answer = server.post("/predict", json={"rows": [{"nothing": 1}]})
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid-input"
    assert "error" in server.get("/v2/models/app_2").json()
    assert server.post("/v2/models/app_2/infer", json={}).status_code == 404
    assert server.post("/invocations", json={}).json()["error_code"] == "BAD_REQUEST"
    assert server.get("/predict").status_code == 405
