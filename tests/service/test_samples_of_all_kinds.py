"""Pictures, texts, tensors, series and graphs go all the way: from a file to predictions, by
command and by REST.
"""

import base64
import csv
import io
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from data import sample_files
from service_process import EasemlProcess

pytestmark = pytest.mark.service


def learnt(easeml: EasemlProcess, path: Path, model: str = "logistic", tasks: int = 1) -> str:
    """Return the id of an application of a file that serves the best model of so many."""
    made = easeml.command(
        "app", "create", str(path), "--yes", "--json", "--models", model, "--max-tasks", str(tasks)
    )
    application = json.loads(made)["id"]
    easeml.wait(application, "first-model", 120)
    easeml.wait(application, "converged", 120)
    return application


def predicted(easeml: EasemlProcess, application: str, path: Path) -> list[dict[str, str]]:
    """Return what the command writes."""
    return list(csv.DictReader(io.StringIO(easeml.command("predict", application, str(path)))))


def refusal(easeml: EasemlProcess, application: str, rows: list[Any]) -> str:
    """Return place and message of the answer to rows that do not fit."""
    with pytest.raises(urllib.error.HTTPError) as raised:
        easeml.call("POST", f"/api/v1/applications/{application}/predict", {"rows": rows})
    assert raised.value.code == 422
    said = json.load(raised.value)
    return f"{said['where']}: {said['detail']}"


def test_pictures_by_class(easeml: EasemlProcess, tmp_path: Path) -> None:
    path = sample_files.pictures(tmp_path / "pictures.zip")
    application = learnt(easeml, path)
    rows = predicted(easeml, application, path)
    assert rows[0]["sample"] == "blobs/00.png"
    assert sum(row["prediction"] == row["sample"].split("/")[0] for row in rows) > 0.9 * len(rows)
    one = sample_files.picture("stripes", 99)
    (tmp_path / "one.png").write_bytes(one)
    assert predicted(easeml, application, tmp_path / "one.png")[0]["prediction"] == "stripes"
    address, text = f"/api/v1/applications/{application}/predict", base64.b64encode(one).decode()
    answer = easeml.call(
        "POST", address, {"rows": [{"image": text}, {"image": f"data:image/png;base64,{text}"}]}
    )
    assert answer["predictions"] == ["stripes", "stripes"]
    headers = {"Content-Type": "image/png", "Authorization": f"Bearer {easeml.key}"}
    with urllib.request.urlopen(
        urllib.request.Request(easeml.url + address, one, headers)
    ) as reply:
        assert json.load(reply)["predictions"] == ["stripes"]
    large = base64.b64encode(sample_files.picture("blobs", 1, (20, 12))).decode()
    assert refusal(easeml, application, [{"image": text}, {"image": large}]) == (
        "row 1, column 'image': the value has the shape [20, 12, 1], expected [12, 12, 1]."
    )
    assert "row 0, column 'image': the value is not a picture" in refusal(
        easeml, application, [{"image": "aGVsbG8="}]
    )


def test_texts_by_class(easeml: EasemlProcess, tmp_path: Path) -> None:
    folder = sample_files.texts(tmp_path / "reviews")
    application = learnt(easeml, folder)
    rows = predicted(easeml, application, folder)
    assert sum(row["prediction"] == row["sample"].split("/")[0] for row in rows) > 0.9 * len(rows)
    answer = easeml.call(
        "POST", f"/api/v1/applications/{application}/predict", {"rows": [{"text": "dull and poor"}]}
    )
    assert answer["predictions"] == ["blame"]
    (tmp_path / "one.txt").write_text("It was dull and poor,\nand awful.\n")
    [row] = predicted(easeml, application, tmp_path / "one.txt")
    assert (row["sample"], row["prediction"]) == ("one.txt", "blame")
    (tmp_path / "table.txt").write_text("text\nlovely and fine\ncold\n")
    rows = predicted(easeml, application, tmp_path / "table.txt")
    assert [row["prediction"] for row in rows] == ["praise", "blame"]
    (tmp_path / "other.csv").write_text("said\nlovely and fine\n")
    assert "column 'text'" in easeml.command(
        "predict", application, str(tmp_path / "other.csv"), expect=2
    )


def test_tensors_to_tensors(easeml: EasemlProcess, tmp_path: Path) -> None:
    X, y = sample_files.arrays(tmp_path / "arrays.npz")
    application = learnt(easeml, tmp_path / "arrays.npz", model="ridge", tasks=5)
    np.save(tmp_path / "X.npy", X)
    found = np.array(
        [
            json.loads(row["prediction"])
            for row in predicted(easeml, application, tmp_path / "X.npy")
        ]
    )
    assert found.shape == y.shape
    assert np.abs(found - y).mean() < 0.2
    address = f"/api/v1/applications/{application}/predict"
    answer = easeml.call("POST", address, {"rows": [{"X": X[0].tolist(), "y": y[0].tolist()}] * 2})
    np.testing.assert_allclose(answer["predictions"][0], found[0])
    assert answer["quality"]["objective"] == "r2"
    assert "row 0, column 'X': the value holds no number" in refusal(
        easeml, application, [{"X": np.where(X[0] == X[0, 0, 0], None, X[0]).tolist()}]
    )
    assert "row 0, column 'X': the value is not nested lists" in refusal(
        easeml, application, [{"X": [["a"]]}]
    )


def test_series(easeml: EasemlProcess, tmp_path: Path) -> None:
    path = sample_files.series(tmp_path / "waves.ts")
    application = learnt(easeml, path)
    rows = predicted(easeml, application, path)
    assert sum(
        row["prediction"] == ("slow", "quick")[i % 2] for i, row in enumerate(rows)
    ) > 0.9 * len(rows)
    one = "\n".join(["x,y", *(f"{np.sin(0.9 * step):.3f},0" for step in range(25))])
    (tmp_path / "one.csv").write_text(one)
    [row] = predicted(easeml, application, tmp_path / "one.csv")
    assert (row["sample"], row["prediction"]) == ("one.csv", "quick")
    wave = [np.sin(0.9 * np.arange(25)).tolist(), [0.0] * 25]
    answer = easeml.call(
        "POST", f"/api/v1/applications/{application}/predict", {"rows": [{"series": wave}]}
    )
    assert answer["predictions"] == ["quick"]
    assert "shape [1, 25], expected [2, d2]" in refusal(easeml, application, [{"series": wave[:1]}])


def test_graphs(easeml: EasemlProcess, tmp_path: Path) -> None:
    application = learnt(easeml, sample_files.molecules(tmp_path / "molecules.zip"))
    atoms = {"element": ["C"] * 5, "place": [[0.0, 0.0]] * 5}
    chain = [["atom", a, "atom", b] for i in range(4) for a, b in ((i, i + 1), (i + 1, i))]
    ring = [*chain, ["atom", 4, "atom", 0], ["atom", 0, "atom", 4]]
    rows = [{"graph": {"atom": atoms, "links": links}} for links in (chain, ring)]
    answer = easeml.call("POST", f"/api/v1/applications/{application}/predict", {"rows": rows})
    assert answer["predictions"] == ["chain", "ring"]
    wrong = {"graph": {"atom": {**atoms, "element": ["C", "C", "C", "C", "Xe"]}, "links": chain}}
    assert refusal(easeml, application, [rows[0], wrong]) == (
        "row 1, column 'graph': the value is wrong in node 'atom': field 'element' holds 'Xe', "
        "which is none of its labels: C, O."
    )
    told = easeml.command("data", "erase", application, "--where", "shape=ring")
    assert "Labels of nodes within graphs" in told  # nothing is erased without --yes


def test_what_no_model_can_predict_is_said(easeml: EasemlProcess, tmp_path: Path) -> None:
    path = sample_files.pictures(tmp_path / "pictures.zip", each=3)
    said = easeml.command("app", "create", str(path), "--target", "image", "--yes", expect=2)
    assert "the target is an image; no model predicts that" in said
