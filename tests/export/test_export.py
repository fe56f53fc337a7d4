"""What is taken elsewhere loads with its own code, and predicts as it did here."""

import io
import json
import subprocess
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from training import CHAINS, FACTS, REGISTRY, ensemble, trained

from easeml import signing
from easeml.data import DatasetError, object_array, parse_rows
from easeml.errors import Damaged, InvalidInput
from easeml.export import check_signed, load_exported, write_export
from easeml.export.facts import card, licence_of
from easeml.export.papers import write_pdf
from easeml.modules.pipeline import fit, save

QUESTION = """
import sys, pandas, json
from load import model
import easeml
rows = pandas.read_pickle(sys.argv[1])
predicted = model.predict(rows)
print(json.dumps([easeml.__file__, predicted.to_dict("list"), list(predicted.index)]))
"""
MLFLOW_QUESTION = """
import sys, pandas, json
from importlib import import_module
sys.path.insert(0, "code")
loader = import_module("easeml.export.mlflow_model")
import easeml
predicted = loader._load_pyfunc("model").predict(pandas.read_pickle(sys.argv[1]))
print(json.dumps([easeml.__file__, predicted.to_dict("list"), list(predicted.index)]))
"""


def test_an_ensemble_leaves_as_one_model(tmp_path: Path) -> None:
    made, rows = ensemble(tmp_path / "m")
    told = write_export(tmp_path / "m", FACTS, "python", tmp_path / "out")
    assert "lightgbm" in told["licences"]  # of a member
    expected = made.predict(rows)
    found = load_exported(tmp_path / "out" / "model").predict(rows)
    assert list(found["prediction"]) == list(expected.values)
    assert expected.classes is not None
    for place, label in enumerate(expected.classes):
        assert np.allclose(found[f"probability_{label}"], expected.probabilities[:, place])


@pytest.mark.parametrize("name", CHAINS)
def test_a_frame_comes_back_with_its_index(tmp_path: Path, name: str) -> None:
    made, rows = trained(name, tmp_path / "m")
    expected = made.predict(rows)
    moved = rows.set_axis([f"row {number}" for number in range(len(rows))], axis=0)
    found = load_exported(tmp_path / "m").predict(moved)
    assert list(found.index) == list(moved.index)
    if expected.probabilities is None:
        assert np.allclose(found["prediction"], expected.values)
        half = (found["upper"] - found["lower"]) / 2
        assert half.to_numpy() == pytest.approx(half.iloc[0])
    else:
        assert list(found["prediction"]) == list(expected.values)
        for place, label in enumerate(expected.classes):
            assert np.allclose(found[f"probability_{label}"], expected.probabilities[:, place])


@pytest.mark.parametrize(("form", "question"), [("python", QUESTION), ("mlflow", MLFLOW_QUESTION)])
def test_an_exported_folder_runs_with_its_own_code(
    tmp_path: Path, form: str, question: str
) -> None:
    _, rows = trained("logistic", tmp_path / "m")
    expected = load_exported(tmp_path / "m").predict(rows)
    out = tmp_path / "taken"
    told = write_export(tmp_path / "m", FACTS, form, out)
    rows.to_pickle(tmp_path / "rows.pickle")
    command = [sys.executable, "-c", question, str(tmp_path / "rows.pickle")]
    answer = subprocess.run(command, cwd=out, capture_output=True, text=True, check=True)
    where, columns, index = json.loads(answer.stdout)
    assert Path(where).is_relative_to(out)
    assert list(columns["prediction"]) == list(expected["prediction"])
    assert np.allclose(columns["probability_yes"], expected["probability_yes"])
    assert index == list(rows.index)
    assert told["facts"]["version"] == 3
    assert set(told["sha256"]) >= {"model/manifest.json", "requirements.txt", "card.md"}
    assert "scikit-learn==" in (out / "requirements.txt").read_text()
    assert "easeml" not in (out / "requirements.txt").read_text()


def test_the_card_tells_what_is_known(tmp_path: Path) -> None:
    trained("logistic", tmp_path / "m")
    write_export(tmp_path / "m", FACTS, "python", tmp_path / "taken")
    said = (tmp_path / "taken" / "card.md").read_text()
    assert "# logistic 0 of Irises" in said
    assert "version 3 of the data data_1" in said
    assert "Test rows: not read for this model." in said
    assert "scikit-learn: BSD" in said
    assert "- a note" in said
    assert licence_of("no-such-library") == ""


def test_the_card_is_a_page_and_the_data_are_told(tmp_path: Path) -> None:
    facts = replace(FACTS, notes=["<b>a & b"])
    trained("logistic", tmp_path / "m")
    write_export(tmp_path / "m", facts, "python", tmp_path / "taken")
    page = (tmp_path / "taken" / "card.html").read_text()
    assert "<title>logistic 0 of Irises</title>" in page
    assert "<h2>Licences</h2>" in page
    assert "<li>&lt;b&gt;a &amp; b</li>" in page
    assert "<b>" not in page
    data = json.loads((tmp_path / "taken" / "data.croissant.json").read_text())
    assert (data["name"], data["version"]) == ("data_1", "3")
    (record_set,) = data["recordSet"]
    types = {one["name"]: one["dataType"] for one in record_set["field"]}
    assert types["Size (cm)"] == "sc:Float"
    assert types["target"] == "sc:Text"
    (file,) = data["distribution"]
    assert all(one["source"]["fileObject"]["@id"] == file["@id"] for one in record_set["field"])


def test_the_card_tells_that_rows_were_test_rows_before(tmp_path: Path) -> None:
    trained("ridge", tmp_path / "m")
    manifest = json.loads((tmp_path / "m" / "manifest.json").read_text())
    told = card(replace(FACTS, retired=1200), manifest, {})
    assert "1,200 of the rows that could be learned from were test rows" in told
    assert "were test rows" not in card(FACTS, manifest, {})


def test_the_card_is_paper_too(tmp_path: Path) -> None:
    trained("ridge", tmp_path / "m")
    manifest = json.loads((tmp_path / "m" / "manifest.json").read_text())
    notes = [f"note {number}: " + "many words " * 20 for number in range(30)]
    written_card = card(replace(FACTS, notes=notes), manifest, {"a library": "MIT"})
    write_pdf(written_card, tmp_path / "card.pdf")
    paper = (tmp_path / "card.pdf").read_bytes()
    assert paper.startswith(b"%PDF-")
    assert paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") > 1
    assert b"/FontFile2" in paper  # its letters are letters, not pictures of these


def test_a_signed_folder_is_known_and_a_changed_one_is_not(tmp_path: Path) -> None:
    trained("logistic", tmp_path / "m")
    key = signing.new_key()
    out = tmp_path / "taken"

    def sign(manifest: str) -> dict:
        digests = json.loads(manifest)["sha256"]
        return signing.sign(
            key, "m", {**digests, "export.json": signing.digest_of(manifest.encode())}
        )

    write_export(tmp_path / "m", FACTS, "python", out, sign=sign)
    assert check_signed(out, signing.public_key(key)) == FACTS
    with pytest.raises(Damaged, match="Another key"):
        check_signed(out, signing.public_key(signing.new_key()))
    (out / "more").write_text("x")
    with pytest.raises(Damaged, match="was not signed"):
        check_signed(out, signing.public_key(key))
    (out / "more").unlink()
    card = (out / "card.md").read_text()
    (out / "card.md").write_text(card.replace("0.9", "1.0"))
    with pytest.raises(Damaged, match="was changed"):
        check_signed(out, signing.public_key(key))
    (out / "card.md").unlink()
    with pytest.raises(Damaged, match="lacks"):
        check_signed(out, signing.public_key(key))


def test_a_modelpack_holds_what_the_folder_does(tmp_path: Path) -> None:
    trained("ridge", tmp_path / "m")
    told = write_export(tmp_path / "m", FACTS, "mlflow", tmp_path / "p.tar", is_pack=True)
    digests = {}
    with tarfile.open(tmp_path / "p.tar") as layout:
        index = json.loads(content(layout, "index.json"))
        manifest = json.loads(blob(layout, index["manifests"][0]))
        config = json.loads(blob(layout, manifest["config"]))
        for layer in manifest["layers"]:
            held = blob(layout, layer)
            name = layer["annotations"]["org.cncf.model.filepath"]
            if layer["mediaType"].endswith(".raw"):
                digests[name] = signing.digest_of(held)
                continue
            with tarfile.open(fileobj=io.BytesIO(held)) as inside:
                for member in inside.getnames():
                    digests[member] = signing.digest_of(content(inside, member))
    assert manifest["artifactType"] == "application/vnd.cncf.model.manifest.v1+json"
    assert config["modelfs"]["diffIds"] == [layer["digest"] for layer in manifest["layers"]]
    assert config["config"] == {"architecture": "logistic 0", "format": "mlflow"}
    assert digests.pop("export.json")
    assert digests == told["sha256"]


def content(tar: tarfile.TarFile, name: str) -> bytes:
    """Return a file of a tar file."""
    file = tar.extractfile(name)
    assert file is not None
    return file.read()


def blob(layout: tarfile.TarFile, descriptor: dict) -> bytes:
    """Return what a descriptor refers to; its digest is that of its content."""
    held = content(layout, "blobs/" + descriptor["digest"].replace(":", "/"))
    assert descriptor["digest"] == f"sha256:{signing.digest_of(held)}"
    return held


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    trained("logistic", tmp_path / "m")
    with pytest.raises(InvalidInput, match="for registries already"):
        write_export(tmp_path / "m", FACTS, "oci", tmp_path / "taken", is_pack=True)
    with pytest.raises(InvalidInput, match="no format 'pickle'"):
        write_export(tmp_path / "m", FACTS, "pickle", tmp_path / "taken")
    (tmp_path / "there").mkdir()
    with pytest.raises(InvalidInput, match="there already"):
        write_export(tmp_path / "m", FACTS, "python", tmp_path / "there")
    manifest = tmp_path / "m" / "manifest.json"
    document = json.loads(manifest.read_text())
    document["parity"]["predictions"][0][0] += 0.1
    manifest.write_text(json.dumps(document))
    with pytest.raises(Damaged, match="does not predict"):
        write_export(tmp_path / "m", FACTS, "python", tmp_path / "taken")
    assert not (tmp_path / "taken").exists()


def test_a_wrong_row_is_named(tmp_path: Path) -> None:
    _, rows = trained("logistic", tmp_path / "m")
    numbers = [name for name in rows.columns if rows[name].dtype == float]
    wrong = rows.astype({numbers[0]: object})
    wrong.iloc[1, wrong.columns.get_loc(numbers[0])] = "many"
    with pytest.raises(DatasetError, match="row 1") as caught:
        load_exported(tmp_path / "m").predict(wrong.astype({numbers[0]: str}))
    assert numbers[0] in caught.value.where


def test_a_frame_may_hold_series(tmp_path: Path) -> None:
    """A cell is an array in a frame, and nested lists in the JSON that the endpoint takes."""
    random = np.random.default_rng(0)
    series = [random.normal(size=(2, 20 + number % 3)) for number in range(30)]
    rows = pd.DataFrame({"x": object_array(series)})
    schema_in = {"nodes": {"x": {"singleton": True, "type": "tensor", "dim": [2, "steps"]}}}
    schema_out = {"nodes": {"y": {"singleton": True, "type": "tensor", "dim": [1]}}}
    module = REGISTRY.get("ridge")
    chain = [transform.choice() for transform in REGISTRY.candidates(module, schema_in)]
    pipeline = {"transforms": chain, "model": module.choice({})}
    train = rows.assign(y=[cell[0].mean() for cell in series])
    made = fit(pipeline, train, schema_in, schema_out)
    save(made, tmp_path / "m", quality=0.9)
    exported = load_exported(tmp_path / "m")
    expected = list(made.predict(rows).values)
    assert list(exported.predict(rows)["prediction"]) == pytest.approx(expected)
    body = json.dumps([{"x": cell.tolist()} for cell in series]).encode()
    read = parse_rows(body, "application/json", exported.schema_in, exported.schema_out)
    assert exported.predict_columns(read.table)["prediction"] == pytest.approx(expected)
