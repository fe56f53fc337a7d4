"""A rule of an application, seen by what its endpoint answers."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from easeml.client import Client
from service_process import EasemlProcess

pytestmark = pytest.mark.service


def test_what_serves_never_goes_against_a_column(easeml: EasemlProcess, tmp_path: Path) -> None:
    """The rows say the opposite of the rule: a model that is not held to it breaks it."""
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"size": random.normal(size=200), "age": random.normal(size=200)})
    rows["price"] = rows["age"] - 3 * rows["size"] + random.normal(scale=0.1, size=200)
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    told = ["--target", "price", "--monotonic", "size=rising", "--max-tasks", "2"]
    made = easeml.command("app", "create", str(path), *told, "--yes", "--json")
    application = json.loads(made)["id"]
    easeml.wait(application, "converged", 120)

    asked = pd.DataFrame({"size": np.linspace(-3, 3, 41), "age": 0.5})
    with Client(easeml.url, easeml.key) as client:
        said = client.predict(application, asked)["prediction"].to_numpy()
    assert (np.diff(said) >= 0).all()
