"""A frame goes all the way: uploaded, learnt from, and predicted, with its types and its index."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from easeml.client import Client
from easeml.contract.applications import Declaration
from easeml.errors import InvalidInput
from service_process import EasemlProcess

pytestmark = pytest.mark.service


def customers(rows: int) -> pd.DataFrame:
    """Return customers of whom those of one city, after a date, buy."""
    random = np.random.default_rng(0)
    city = random.choice(["Basel", "Zug"], rows)
    seen = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300, rows), unit="D")
    frame = pd.DataFrame(
        {
            "age": np.where(random.random(rows) < 0.1, np.nan, random.integers(18, 90, rows)),
            "city": pd.Categorical(city),
            "seen": seen,
            "member": random.random(rows) < 0.5,
        }
    )
    frame["bought"] = np.where((city == "Zug") & (frame["age"].fillna(40) > 35), "yes", "no")
    return frame.set_index(pd.Index([f"c{number}" for number in range(rows)]))


def test_a_frame_is_uploaded_and_predicted(easeml: EasemlProcess) -> None:
    frame = customers(240)
    with Client(easeml.url, easeml.key) as client:
        dataset = client.upload(frame, name="customers")
        version = client.wait_version_ready(dataset.version.id, timeout=60)
        types = {column.name: column.type for column in version.columns}
        assert types["seen"] == "timestamp"
        assert types["city"] == "category"
        told = Declaration(dataset_id=dataset.id, target="bought", models=["logistic"], max_tasks=1)
        application = client.create_application(told)
        client.wait(application.id, until="converged", timeout=120)

        asked = frame.drop(columns="bought").iloc[::-1]
        found = client.predict(application.id, asked)
        assert found.index.tolist() == asked.index.tolist()
        assert (found["prediction"] == frame["bought"].iloc[::-1]).mean() > 0.8
        table = client.predict(application.id, pa.Table.from_pandas(asked, preserve_index=False))
        assert table["prediction"].to_pylist() == found["prediction"].tolist()
        row = {"age": 70, "city": "Zug", "seen": "2024-05-01", "member": True}
        one = client.predict(application.id, [row])
        alike = pd.DataFrame([row]).assign(seen=pd.Timestamp("2024-05-01"))
        chance = client.predict(application.id, alike)["probability_yes"].iloc[0]
        assert one.probabilities is not None
        assert one.probabilities[0]["yes"] == pytest.approx(chance)
        with pytest.raises(InvalidInput, match="city") as refused:
            client.predict(application.id, asked.assign(city=None))
        assert "row 0" in str(refused.value)
