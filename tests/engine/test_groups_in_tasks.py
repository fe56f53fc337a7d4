"""Where rows are divided by group, tasks tell intervals as wide as so many groups allow."""

from pathlib import Path

import numpy as np
import pandas as pd

from easeml.contract.tasks import ModuleChoice, Pipeline
from easeml.data import declare, infer_table, read_table, read_version, write_version
from easeml.kinds.test_quality import TestQualitySpec, read_test_quality
from easeml.kinds.train import TrainSpec, train
from easeml.sampling_error import wilson

PEOPLE, ROWS = 60, 15


def people() -> pd.DataFrame:
    """Rows of people, of whom some answer at random and some as ``x`` says."""
    random = np.random.default_rng(2)
    person = np.repeat(np.arange(PEOPLE), ROWS)
    x = random.normal(size=len(person))
    sure = np.where(random.random(PEOPLE) < 0.6, 8.0, -8.0)[person]
    says = random.random(len(person)) < 1 / (1 + np.exp(-sure * x))
    answers = np.where(says, "yes", "no")
    return pd.DataFrame({"person": [f"p{one:02}" for one in person], "x": x, "answer": answers})


def test_quality_and_test_quality_are_as_sure_as_so_many_people_allow(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "rows.csv", index=False)
    table = read_table(tmp_path / "rows.csv")
    columns = infer_table(table, "answer").columns
    declared = declare(table, columns, "answer", split="group:person", keep=["person"])
    write_version(tmp_path / "version", declared)
    version = read_version(tmp_path / "version")
    schemas = {
        "schema_in": version.schema_in.to_json(),
        "schema_out": version.schema_out.to_json(),
    }
    transforms = [ModuleChoice(module=name, config={}) for name in ("table-onehot", "scale")]
    pipeline = Pipeline(transforms=transforms, model=ModuleChoice(module="logistic", config={}))
    spec = TrainSpec(pipeline=pipeline, objective="accuracy", measures=["recall(yes)"], **schemas)
    found = train(spec, tmp_path, tmp_path).value
    assert version.groups is not None
    measure = found["measures"]["accuracy"]
    rows = measure.get("rows", len(version.validation))
    low, high = wilson(found["quality"], rows)
    assert found["high"] - found["low"] > 1.5 * (high - low)
    assert (measure["low"], measure["high"]) == (found["low"], found["high"])
    recall = found["measures"]["recall(yes)"]
    assert recall["high"] - recall["low"] > 1.5 * (high - low)

    spec = TestQualitySpec(objective="accuracy", schema_out=schemas["schema_out"])
    told = read_test_quality(spec, tmp_path, tmp_path).value
    low, high = wilson(told["value"], told["rows"])
    assert told["high"] - told["low"] > 1.5 * (high - low)
    assert (told["measure"]["low"], told["measure"]["high"]) == (told["low"], told["high"])
