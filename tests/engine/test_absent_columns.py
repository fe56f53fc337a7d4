"""Which rows a model was trained on cannot be told where a column of them is absent."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from easeml.data import (
    FILL_ABSENT,
    FILL_EMPTY,
    declare,
    infer_table,
    read_table,
    read_version,
    write_version,
)
from easeml.engine.serving.answers import Request, Served, answer_each
from easeml.modules import known_rows
from easeml.modules.contract import Predictions

LINES = [f"{number}.5,{('red', 'blue', '')[number % 3]},{number * 2}.25" for number in range(90)]


def always_one(frame: Any) -> Predictions:
    return Predictions(np.ones(len(frame)), None, None)


@pytest.fixture
def served(tmp_path: Path) -> Served:
    (tmp_path / "rows.csv").write_text("\n".join(["size,colour,price", *LINES]))
    table = read_table(tmp_path / "rows.csv")
    write_version(
        tmp_path / "version", declare(table, infer_table(table, "price").columns, "price")
    )
    version = read_version(tmp_path / "version")
    (tmp_path / "model").mkdir()
    known_rows.write(tmp_path / "model", version.train, "price", version.schema_in.to_json())
    trained: Any = SimpleNamespace(manifest={}, predict=always_one, past=None)
    known = known_rows.read(tmp_path / "model")
    sides = (version.schema_in, version.schema_out)
    return Served("mod_1", "constant", "r2", trained, *sides, known)


def notes(served: Served, header: str, lines: list[str]) -> str:
    content = "\n".join([header, *lines]).encode()
    form = f"text/csv; {FILL_ABSENT}; {FILL_EMPTY}"
    (answer,) = answer_each(served, [Request(form, content)])
    assert answer.status == 200, answer.content
    return " ".join(json.loads(answer.content)["notes"])


def test_rows_without_a_column_are_not_taken_for_new_ones(served: Served) -> None:
    assert "of 90 rows are rows that the model was trained on" in notes(
        served, "size,colour,price", LINES
    )
    cells = [line.split(",") for line in LINES]
    without = [f"{size},{price}" for size, _, price in cells]
    said = notes(served, "size,price", without)
    assert (
        "Without 'colour' it cannot be told which of these rows the model was trained on." in said
    )
    assert "On the other" not in said


def test_rows_with_a_filled_cell_are_not_taken_for_new_ones(served: Served) -> None:
    emptied = [
        f",{line.partition(',')[2]}" if place < 5 else line for place, line in enumerate(LINES)
    ]
    said = notes(served, "size,colour,price", emptied)
    assert "Rows with an empty cell in 'size': 5. It cannot be told" in said
    alone = notes(served, "size,colour,price", [*emptied[:5], *LINES])
    assert "On the other 95 rows" not in alone
    (whole,) = re.findall("On the other ([0-9]+) rows", notes(served, "size,colour,price", LINES))
    (left,) = re.findall("On the other ([0-9]+) rows", alone)
    assert left == whole
