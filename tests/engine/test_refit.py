"""A refit learns from train and validation rows, knows them again, and predicts the test rows."""

from pathlib import Path

import pandas as pd

from easeml.contract.tasks import ModuleChoice, Pipeline, WeightedPipeline
from easeml.data import declare, infer_table, read_table, read_version, write_version
from easeml.kinds.refit import RefitSpec, refit
from easeml.kinds.shared.predictions import read_predictions, write_predictions
from easeml.modules import Predictions, known_rows
from easeml.modules.pipeline import load_trained


def test_all_rows_but_the_test_rows_are_learned_from(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [x + 0.5 for x in range(80)], "price": [3.5 * x for x in range(80)]})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    table = read_table(tmp_path / "rows.csv")
    write_version(
        tmp_path / "version", declare(table, infer_table(table, "price").columns, "price")
    )
    version = read_version(tmp_path / "version")
    pipeline = Pipeline(
        transforms=[ModuleChoice(module="table-codes", config={})],
        model=ModuleChoice(module="knn-regressor", config={"k": 1}),
    )
    spec = RefitSpec(
        members=[WeightedPipeline(pipeline=pipeline, weight=1.0)],
        objective="r2",
        quality=0.7,
        schema_in=version.schema_in.to_json(),
        schema_out=version.schema_out.to_json(),
    )
    unseen = version.validation
    first_fit = {"validation": Predictions(unseen["price"].to_numpy() - 2.0, None, None)}
    write_predictions(tmp_path / "predictions", {"validation": unseen["_row"]}, first_fit)
    outputs = tmp_path / "outputs"
    outputs.mkdir()
    result = refit(spec, tmp_path, outputs)

    assert result.value["rows"] == len(version.train) + len(version.validation)
    model = load_trained(outputs / "model")
    assert model.manifest["quality"] == 0.7  # measured before, of the first fit
    assert model.manifest["interval"]["half_width"] == 2.0  # of the first fit, likewise
    # The nearest row of a row that was learned from is that row itself.
    exact = model.predict(version.validation).values == version.validation["price"]
    assert exact.all()
    found = known_rows.read(outputs / "model")
    assert found is not None
    columns = {"x": version.validation["x"].to_numpy()}
    assert found.are_known(columns, version.validation["price"].to_numpy()).all()
    rows, _ = read_predictions(outputs / "predictions", "test")
    assert sorted(rows) == sorted(version.test["_row"])
