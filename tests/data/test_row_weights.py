"""How much each row counts: read with its place, and kept by row whatever happens to the version."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from easeml.data import (
    ROW,
    DatasetError,
    Declared,
    Wanted,
    answered,
    declare,
    export_version,
    feed,
    infer_table,
    read_declared,
    refine,
    renewed,
    replaced,
    train_rows,
    with_usual_weight,
    without_ids,
    write_version,
)
from easeml.data.versions.pushed import pushed

CYCLE = ("1", "2.5", "0", "4")


def text_table(rows: int, **more: list[str]) -> pa.Table:
    """Rows whose weights follow ``CYCLE``; every twelfth has no answer."""
    places = range(rows)
    answers = ["" if row % 12 == 1 else "xy"[row % 2] for row in places]
    columns = {
        "size": [f"{row}.5" for row in places],
        "weight": [CYCLE[row % 4] for row in places],
        "kind": answers,
        **more,
    }
    return pa.table({name: pa.array(cells, pa.string()) for name, cells in columns.items()})


def declared(table: pa.Table, **told: object) -> Declared:
    columns = infer_table(table, "kind").columns
    return declare(table, columns, "kind", **{"weight": "weight", **told})


def check(version: Declared, first: int, rows: int) -> None:
    """Each row that counts has the weight that its place in its file says, and the others are gone."""
    wanted = {first + row: float(CYCLE[row % 4]) for row in range(rows) if row % 4 != 2}
    ids = [row for frame in version.frames.values() for row in frame[ROW]]
    assert version.weights is not None
    own = version.weights.loc[[row for row in ids if row >= first]]
    assert own.to_dict() == wanted


def test_weights_follow_their_rows_through_all_versions(tmp_path: Path) -> None:
    table = text_table(60)
    version = declared(table)
    assert list(version.schema_in.columns) == ["size"]
    assert "weight" in version.schema_in.dropped  # rows may come with it, to be predicted
    assert "15 rows of weight 0: left out." in version.notes
    check(version, 0, 60)

    write_version(tmp_path / "version", version)
    version = read_declared(tmp_path / "version")
    check(version, 0, 60)

    version = feed(version, text_table(24), "more.csv")
    check(version, 60, 24)
    version = renewed(version, table, text_table(72), "again.csv")
    assert version.next_row == 96
    labelled = version.frames["pool"][ROW].tolist()
    version = refine(answered(version, {labelled[0]: "x"}, []), off=[0])
    check(version, 60, 36)
    assert version.columns[1].role == "weight"
    assert version.columns[1].distinct == 3

    write_version(tmp_path / "last", version)
    export_version(tmp_path / "last", tmp_path / "rows.parquet")
    told = pd.read_parquet(tmp_path / "rows.parquet").set_index("easeml.row")
    assert told["weight"].to_dict() == version.weights.drop(0).to_dict()
    shown, _ = train_rows(files(tmp_path / "last"), Wanted(), 0, 3)
    assert [row.values["weight"] for row in shown] == [version.weights[row.row] for row in shown]
    with pytest.raises(DatasetError, match="cannot hold weights"):
        export_version(tmp_path / "last", tmp_path / "rows.zip")

    rows = told.drop(columns=["weight", "easeml.role"]).reset_index().astype(object)
    texts = rows.where(rows.notna(), "").astype(str)
    flow = pa.Table.from_pandas(texts, preserve_index=False)
    assert pushed(version, flow, "flow").weights.to_dict() == version.weights.to_dict()
    assert 3 not in without_ids(version, {3}, {}).weights.index
    new = text_table(80)
    other = replaced(version, new, infer_table(new).columns, "new.csv")
    check(other, 96, 80)


def files(folder: Path) -> Mapping[str, Path]:
    return {path.name: path for path in folder.iterdir()}


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("-3", "the weight '-3' is negative"),
        ("", "the weight is missing"),
        ("many", "'many' is not a finite number"),
        ("inf", "'inf' is not a finite number"),
    ],
)
def test_a_cell_that_is_no_weight_is_named(cell: str, words: str) -> None:
    counts = [CYCLE[row % 4] for row in range(60)]
    counts[7] = cell
    with pytest.raises(DatasetError) as refused:
        declared(text_table(60, weight=counts))
    assert refused.value.message.startswith(words)
    assert refused.value.where.startswith("column 'weight', row 7 ")
    version = declared(text_table(60))
    with pytest.raises(DatasetError, match=words):
        feed(version, text_table(60, weight=counts), "more.csv")


def test_large_whole_numbers_are_said_to_be_counts() -> None:
    version = declared(text_table(60, weight=[f"{500 + row}" for row in range(60)]))
    assert any("taken as counts: a row stands for 530 on average" in note for note in version.notes)
    shares = declared(text_table(60, weight=[f"{500 + row}.5" for row in range(60)]))
    assert not any("taken as counts" in note for note in shares.notes)


def test_rows_that_come_without_the_column_are_refused_unless_they_teach_nothing() -> None:
    version = declared(text_table(60))
    without = text_table(24).drop_columns(["weight"])
    with pytest.raises(DatasetError, match="column 'weight', the weight of rows, is missing"):
        feed(version, without, "more.csv")
    watched = feed(version, without, "more.csv", role="production")
    assert len(watched.frames["production"]) == 24
    assert watched.weights.index.tolist() == version.weights.index.tolist()
    learnt = feed(version, with_usual_weight(without, version.weights), "production.csv")
    assert learnt.weights[60] == pytest.approx(version.weights.mean())


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"weight": "kind"}, "the target cannot be the weight"),
        ({"drop": ["weight"]}, "the weight of rows cannot be dropped"),
        ({"weight": "weights"}, "there is no column 'weights'"),
        ({"weight": "word"}, "weights of rows are numbers"),
        ({"set": {"weight": "text"}}, "weights of rows are numbers"),
        ({"weight": "nothing"}, "no row has a weight above 0"),
    ],
)
def test_a_column_that_cannot_be_the_weight_is_refused(told: dict, words: str) -> None:
    table = text_table(60, word=["a", "b", "c"] * 20, nothing=["0"] * 60)
    with pytest.raises(DatasetError, match=words):
        declared(table, **told)
