"""Rows that are later than all that a model learned from are told with its predictions."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easeml.data import (
    VersionTables,
    declare,
    infer_table,
    parse_rows,
    read_table,
    read_version,
    write_version,
)
from easeml.engine.serving.answers import Request, Served, answer_each
from easeml.export import ExportedModel
from easeml.modules import row_order
from easeml.modules.contract import Predictions

ROWS = 120
INTERVAL = {"half_width": 1.0, "coverage": 0.9}
CLASSES = np.array(["few", "many"])
DAYS = pd.date_range("2023-01-01", periods=ROWS).strftime("%Y-%m-%d")
SHUFFLED = np.random.default_rng(0).permutation(ROWS)


def version_of(folder: Path, frame: pd.DataFrame, target: str, split: str) -> VersionTables:
    frame.to_csv(folder / "rows.csv", index=False)
    table = read_table(folder / "rows.csv")
    declared = declare(table, infer_table(table, target).columns, target, split=split)
    write_version(folder / "version", declared)
    return read_version(folder / "version")


def table_of(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame({**columns, "size": SHUFFLED + 0.5, "price": 3.5 * SHUFFLED})


class _Model:
    """Says 1 of each row."""

    def __init__(self, manifest: dict[str, Any]):
        self.manifest = manifest
        self.past = None

    def predict(self, frame: Any) -> Predictions:
        if self.manifest.get("classes"):
            return Predictions.of_probabilities(np.full((len(frame), 2), 0.5), CLASSES)
        return Predictions(np.ones(len(frame)), None, None)


def notes(version: VersionTables, rows: list[dict[str, Any]], **manifest: Any) -> list[str]:
    """What an endpoint says of rows, beside its predictions: as JSON and as a table, alike."""
    order = row_order.describe(version.train, version)
    manifest = {"classes": None, "interval": INTERVAL, "order": order, **manifest}
    trained: Any = _Model(manifest)
    served = Served("mod_1", "constant", "r2", trained, version.schema_in, version.schema_out)
    asked = Request("application/json", json.dumps(rows).encode())
    table = Request("text/csv", pd.DataFrame(rows).to_csv(index=False).encode())
    one, other = (json.loads(answer.content) for answer in answer_each(served, [asked, table]))
    assert one["notes"] == other["notes"]
    return one["notes"]


def test_rows_after_all_moments_are_counted_with_column_and_end(tmp_path: Path) -> None:
    version = version_of(tmp_path, table_of(day=DAYS), "price", "random")
    end = version.train["day"].max()
    later = [{"day": str((end + pd.Timedelta(days=k)).date()), "size": 1.5} for k in (-3, 0, 1, 9)]
    assert notes(version, later[:2]) == []
    assert notes(version, later) == [
        f"2 rows are later than all rows that the model learned from ('day' until {end.date()}): "
        "their intervals may be too narrow."
    ]
    (said,) = notes(version, [{"day": "1999-12-31 12:30:00", "size": 1.5}])
    assert said.startswith("1 row is earlier than all rows that the model learned from ('day' from")
    assert notes(version, later, order={}) == []  # a model of before
    assert notes(version, later, pipeline={"forecast": {"time": "day", "ahead": 3}}) == []


def test_of_classes_the_probabilities_may_be_too_sure(tmp_path: Path) -> None:
    kinds = np.where(np.arange(ROWS) % 3, "many", "few")
    version = version_of(tmp_path, table_of(day=DAYS, kind=kinds), "kind", "random")
    row = {"day": "2024-05-01", "size": 1.5, "price": 2.5}
    (said,) = notes(version, [row], classes=["few", "many"], interval=None)
    assert said.endswith("their probabilities may be too sure.")
    (said,) = notes(version, [row], interval=None)
    assert said.endswith("they may be farther off than was measured.")


def test_a_year_counts_where_the_rows_are_in_its_order_and_a_size_does_not(tmp_path: Path) -> None:
    years = [1900 + number for number in range(ROWS)]
    version = version_of(tmp_path, table_of(year=years), "price", "random")
    end = int(version.train["year"].max())
    (said,) = notes(version, [{"year": end + 1, "size": 130.0}])
    assert said.startswith(
        f"1 row is above all rows that the model learned from ('year' until {end})"
    )
    few = version_of(tmp_path, table_of(year=[year // 30 for year in years]), "price", "random")
    assert row_order.describe(few.train, few) == {
        "year": {"low": 63.0, "high": 67.0, "until": 67.0}
    }
    backwards = table_of(year=years)[::-1]
    falling = version_of(tmp_path, backwards, "price", "random")
    assert set(row_order.describe(falling.train, falling)) == {"year"}
    mixed = version_of(tmp_path, table_of(year=np.asarray(years)[SHUFFLED]), "price", "random")
    assert row_order.describe(mixed.train, mixed) == {}


@pytest.mark.parametrize("column", ["day", "year"])
def test_tested_on_later_rows_only_rows_farther_than_those_are_told(
    tmp_path: Path, column: str
) -> None:
    """The intervals were measured on rows that are up to so much later than the train rows."""
    moments = {"day": DAYS, "year": 1900 + np.arange(ROWS)}[column]
    shuffled = table_of(**{column: moments}).iloc[SHUFFLED]
    version = version_of(tmp_path, shuffled, "price", f"time:{column}")
    train, held = version.train[column].max(), version.validation[column].max()
    assert held > train
    whole = pd.concat([version.train, version.validation])
    until = held + (held - train)
    order = row_order.describe(whole, version)

    def of(*values: Any) -> list[str]:
        rows = [{column: value, "size": 1.5} for value in values]
        return notes(version, rows, order=order)

    day = pd.Timedelta(days=1)
    if column == "year":
        assert of(held + 1, until) == []
        (said,) = of(until, until + 1)
        assert f"('year' until {until:g}; it learned from rows until {held:g})" in said
        return
    assert of(str((held + day).date()), str(until.date())) == []
    (said,) = of(str(until.date()), str((until + day).date()))
    assert said.startswith("1 row is later than all rows on which it was measured")
    assert f"('day' until {until.date()}; it learned from rows until {held.date()})" in said


def test_an_exported_model_warns(tmp_path: Path) -> None:
    version = version_of(tmp_path, table_of(day=DAYS), "price", "random")
    order = row_order.describe(version.train, version)
    manifest = {"classes": None, "interval": INTERVAL, "order": order}
    trained: Any = _Model(manifest)
    model = ExportedModel(trained, version.schema_in, version.schema_out)
    rows = pd.DataFrame({"day": ["2023-02-01", "2031-02-01"], "size": [1.5, 2.5]})
    assert model.predict(rows[:1])["prediction"].tolist() == [1.0]
    with pytest.warns(UserWarning, match="1 row is later than all rows that the model learned"):
        model.predict(rows)


def test_parts_of_a_file_are_counted_together(tmp_path: Path) -> None:
    version = version_of(tmp_path, table_of(day=DAYS), "price", "random")
    order = row_order.describe(version.train, version)
    moments = pd.date_range("2023-01-10", periods=300)
    body = pd.DataFrame({"day": moments.strftime("%Y-%m-%d"), "size": 1.5})
    read = [
        parse_rows(part.to_csv(index=False).encode(), "text/csv", *sides(version)).table
        for part in (body, body[:150], body[150:])
    ]
    whole, first, second = (row_order.beyond(order, table) for table in read)
    assert whole == first + second
    assert whole == {("day", "high"): int((moments > version.train["day"].max()).sum())}


def sides(version: VersionTables) -> tuple[Any, Any]:
    return version.schema_in, version.schema_out


def test_rows_without_a_moment_are_not_told(tmp_path: Path) -> None:
    days = [day if number % 7 else "" for number, day in enumerate(DAYS)]
    version = version_of(tmp_path, table_of(day=days), "price", "random")
    assert notes(version, [{"day": None, "size": 1.5}]) == []
    assert len(notes(version, [{"day": "2030-01-01", "size": 1.5}])) == 1
    empty = SimpleNamespace(
        train=version.train.assign(day=pd.NaT),
        validation=version.validation,
        schema_in=version.schema_in,
    )
    assert row_order.describe(version.train, empty) == {}
