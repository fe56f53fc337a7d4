"""A trained model knows its train rows again, in the form in which an endpoint reads them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from easeml.data import (
    ColumnTable,
    declare,
    infer_table,
    parse_rows,
    read_table,
    read_version,
    write_version,
)
from easeml.modules import known_rows

HEADER = "size,colour,when,said,price"


def line(number: int) -> str:
    colour = ("red", "blue", "")[number % 3]
    said = f"word {number} is one of many here"
    return f"{number}.5,{colour},2024-01-{1 + number % 28:02d},{said},{10 * number}.25"


def csv(lines: list[str]) -> bytes:
    return "\n".join([HEADER, *lines, ""]).encode()


@pytest.fixture(params=["price", "colour"])
def version(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    (tmp_path / "rows.csv").write_bytes(csv([line(number) for number in range(90)]))
    table = read_table(tmp_path / "rows.csv")
    declared = declare(table, infer_table(table, request.param).columns, request.param)
    write_version(tmp_path / "version", declared)
    return read_version(tmp_path / "version")


def kept(version: Any, folder: Path) -> known_rows.KnownRows:
    folder.mkdir()
    known_rows.write(folder, version.train, version.target, version.schema_in.to_json())
    found = known_rows.read(folder)
    assert found is not None
    return found


def test_train_rows_are_known_again_and_no_others(version: Any, tmp_path: Path) -> None:
    found = kept(version, tmp_path / "model")
    given = [number for number in range(90) if version.target != "colour" or number % 3 != 2]
    body = csv([line(number) for number in given])
    rows = parse_rows(body, "text/csv", version.schema_in, version.schema_out)
    told = found.are_known(rows.table.columns, rows.labels)
    assert told.sum() == len(version.train)
    sizes = np.asarray(rows.table.columns["size"], dtype=float)
    assert set(sizes[told]) == set(version.train["size"])


def test_a_train_row_with_another_answer_is_not_known(version: Any, tmp_path: Path) -> None:
    found = kept(version, tmp_path / "model")
    train = version.train
    columns = {name: train[name] for name in train.columns if name not in ("_row", version.target)}
    assert found.are_known(columns, train[version.target]).all()
    assert not found.are_known(columns, train[version.target].to_numpy()[::-1]).all()


@pytest.mark.parametrize("value", [1e30, 9_000.0, -9_000.0])
def test_a_number_far_from_all_train_rows_is_said(
    version: Any, tmp_path: Path, value: float
) -> None:
    found = kept(version, tmp_path / "model")
    columns = {name: version.train[name].copy() for name in version.train.columns}
    table = ColumnTable(columns, len(version.train))
    assert found.far_values(table) == []
    columns["size"].iloc[3] = value
    (said,) = found.far_values(table)
    assert said.startswith(f"1 row has values of 'size' such as {value:.6g}, far from all")


def test_a_model_of_before_knows_nothing(tmp_path: Path) -> None:
    assert known_rows.read(tmp_path) is None
