"""Answers that say which columns moved them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easeml.data import parse_rows
from easeml.engine.serving import explained
from easeml.engine.serving.answers import Request, Served, answer_each
from easeml.kinds.shared.facts import MAKERS, Sources
from easeml.modules.pipeline import fit, load_trained, save
from easeml.schema import Schema

NODES: dict[str, Any] = {
    "size": {"singleton": True, "type": "tensor", "dim": [1], "optional": True},
    "kind": {"singleton": True, "type": "category", "class": "kinds", "optional": True},
    "words": {"singleton": True, "type": "text"},
    "day": {"singleton": True, "type": "timestamp"},
}
IN = {"nodes": NODES, "classes": {"kinds": {"dim": 2, "labels": ["a", "b"]}}}
CLASS = {
    "nodes": {"y": {"singleton": True, "type": "category", "class": "ys"}},
    "classes": {"ys": {"dim": 2, "labels": ["n", "p"]}},
}
NUMBER = {"nodes": {"y": {"singleton": True, "type": "tensor", "dim": [1]}}}
ROW = {"size": 2.0, "kind": "b", "words": "late again", "day": "2026-03-02"}


def trained_on(folder: Path, out: dict[str, Any], inputs: dict[str, Any] = IN) -> Served:
    """Return a model of 80 rows, in which the size decides, and the kind a little."""
    rng = np.random.default_rng(0)
    size, kind = rng.normal(size=80), rng.choice(["a", "b"], 80)
    told = size + 0.2 * (kind == "b")
    frame = pd.DataFrame(
        {
            "size": size,
            "kind": pd.Categorical(kind, ["a", "b"]),
            "words": pd.Series(rng.choice(["late", "in time", ""], 80), dtype=object),
            "day": pd.to_datetime(pd.Series(["2026-01-01", "2026-02-03"] * 40)),
            "y": pd.Categorical(np.where(told > 0, "p", "n"), ["n", "p"]) if out is CLASS else told,
        }
    )
    kind_of = "classifier" if out is CLASS else "regressor"
    model = {"module": f"extra-trees-{kind_of}"}
    pipeline = {"transforms": [{"module": "table-codes"}], "model": model}
    save(fit(pipeline, frame, inputs, out), folder, objective="accuracy")
    schemas = Schema.from_json(inputs), Schema.from_json(out)
    return Served("m", "model", "accuracy", load_trained(folder), *schemas)


def asked(*rows: dict[str, Any], explain: bool = True) -> Request:
    content_type = "application/json; explain=true" if explain else "application/json"
    return Request(content_type, json.dumps({"rows": rows}).encode())


def told(served: Served, request: Request) -> dict[str, Any]:
    (answer,) = answer_each(served, [request])
    assert answer.status == 200, answer.content
    return json.loads(answer.content)


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Served:
    return trained_on(tmp_path_factory.mktemp("model") / "model", CLASS)


def test_columns_lead_from_the_usual_probability_to_that_of_the_predicted_class(classes: Served):
    reply = told(classes, asked(ROW, {**ROW, "size": -1.0}))
    assert [one["of"] for one in reply["attributions"]] == ["p", "n"]
    for place, one in enumerate(reply["attributions"]):
        assert one["compared_with"] == 40
        assert one["columns"][0]["column"] == "size"
        assert sorted(column["column"] for column in one["columns"]) == sorted(NODES)
        added = sum(column["value"] for column in one["columns"])
        probability = reply["probabilities"][place][one["of"]]
        assert one["base"] + added == pytest.approx(probability)
        assert all(column["error"] >= 0 for column in one["columns"])


def test_a_missing_value_counts_as_what_it_is(classes: Served):
    reply = told(classes, asked({**ROW, "size": None, "kind": None}))
    (one,) = reply["attributions"]
    added = sum(column["value"] for column in one["columns"])
    assert one["base"] + added == pytest.approx(reply["probabilities"][0][one["of"]])


def test_of_numbers_it_is_the_number(tmp_path: Path):
    served = trained_on(tmp_path / "model", NUMBER)
    reply = told(served, asked(ROW))
    (one,) = reply["attributions"]
    assert one["of"] == ""
    added = sum(column["value"] for column in one["columns"])
    assert one["base"] + added == pytest.approx(reply["predictions"][0])


def test_lifecycle_tools_are_told_alike_which_columns_moved_a_prediction(tmp_path: Path):
    served = trained_on(tmp_path / "model", CLASS)
    rows = parse_rows(
        asked(ROW).body, "application/json", served.schema_in, served.schema_out, json.loads
    )
    (one,) = MAKERS["explain"](Sources(None, tmp_path / "model", "accuracy"), None)(rows.frame)
    (answered,) = told(served, asked(ROW))["attributions"]
    assert (one.value, one.of) == ("p", "p")
    assert next(iter(one.moved)) == answered["columns"][0]["column"] == "size"
    added = sum(column["value"] for column in answered["columns"])
    assert sum(one.moved.values()) == pytest.approx(added, abs=0.05)


def test_the_same_row_is_explained_alike_and_nobody_else_is_told(classes: Served):
    plain = told(classes, asked(ROW, explain=False))
    assert "attributions" not in plain
    together = answer_each(classes, [asked(ROW), asked(ROW, explain=False), asked(ROW)])
    replies = [json.loads(answer.content) for answer in together]
    assert replies[0] == replies[2]
    assert replies[1] == plain


def test_too_many_rows_are_refused_with_the_limit(classes: Served):
    (answer,) = answer_each(classes, [asked(*[ROW] * (explained.MOST_ROWS + 1))])
    problem = json.loads(answer.content)
    assert answer.status == 422
    assert "At most 20 rows are explained at a time; these are 21." in problem["detail"]


def test_a_model_of_one_column_says_why_there_is_nothing_to_tell(tmp_path: Path):
    inputs = {"nodes": {"size": NODES["size"]}}
    served = trained_on(tmp_path / "model", CLASS, inputs)
    reply = told(served, asked({"size": 1.0}))
    assert "attributions" not in reply
    assert reply["notes"] == ["Only predictions from 2 to 500 columns are explained; here it is 1."]
