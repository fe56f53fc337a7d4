"""Targets with several answers a row: how they are known, declared and read again."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.data import (
    ROW,
    DatasetError,
    Declared,
    declare,
    export_version,
    feed,
    infer_table,
    parse_rows,
    read_easeml,
    read_table,
    replaced,
    write_version,
)
from easeml.data.types.declared_columns import with_one_answer
from easeml.data.types.label_lists import JSON, array_of, labels_in, told
from easeml.data.versions.fitting import fit_table
from easeml.schema import Schema


def table_of(folder: Path, column: list[str], name: str = "rows.csv") -> Path:
    path = folder / name
    lines = [f'{number % 7},"{cell}"' for number, cell in enumerate(column)]
    path.write_text("\n".join(["a,tags", *lines]) + "\n")
    return path


def declared(path: Path, target: str = "tags", **how):
    read = read_table(path)
    return declare(read, infer_table(read, target).columns, target, **how)


COMMON = ["red", "red{}blue", "green{}blue", "green", "blue{}red{}green", ""]


@pytest.mark.parametrize("between", ["; ", ";", "|", " | ", ", ", ","])
def test_a_separator_is_found_with_its_blanks(tmp_path: Path, between: str) -> None:
    cells = [cell.replace("{}", between) for cell in COMMON] * 5
    version = declared(table_of(tmp_path, cells))
    node = version.schema_out.columns["tags"]
    assert (node.labels, node.separator) == (("blue", "green", "red"), between)
    assert version.columns[-1].content["empty"] == 5
    rows = np.concatenate([np.stack(list(one["tags"])) for one in version.frames.values()])
    assert rows.sum(axis=0).tolist() == [15, 15, 15]
    assert "pool" not in version.frames


@pytest.mark.parametrize("between", ["; ", "|"])
def test_labels_may_be_numbers(tmp_path: Path, between: str) -> None:
    cells = [cell.replace("{}", between) for cell in ("3", "12{}3", "7{}12", "7", "3{}7{}12")] * 6
    version = declared(table_of(tmp_path, cells))
    node = version.schema_out.columns["tags"]
    assert (node.labels, node.separator) == (("3", "7", "12"), between)
    rows = np.concatenate([np.stack(list(one["tags"])) for one in version.frames.values()])
    assert rows.sum(axis=0).tolist() == [18, 18, 18]


def test_lists_in_json_lines_are_labels(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    lists = [["red"], ["red", "blue"], [], ["blue", "green, dark"]] * 6
    lines = [json.dumps({"a": place % 5, "tags": one}) for place, one in enumerate(lists)]
    path.write_text("\n".join(lines))
    version = declared(path)
    node = version.schema_out.columns["tags"]
    assert (node.labels, node.separator) == (("blue", "green, dark", "red"), JSON)


@pytest.mark.parametrize(
    "cells",
    [
        ["1,5", "2,5", "3,5", "4,5"] * 8,  # numbers with commas
        ["Smith, John", "Miller, Ann", "Brown, Tom"] * 8,  # names, always the same
        [f"word {place}, another {place % 40}, and so on" for place in range(200)],  # prose
        ["red", "blue", "green"] * 8,
        ["1;2", "2;3", "3;1"] * 12,  # points
        ["1;1", "2", "3;2;1", "2;2"] * 12,  # scores, some of them the same
        ["1.5;2", "2", "3;2;1", "2;3"] * 12,  # measurements
    ],
)
def test_other_texts_are_not_taken_for_lists_of_labels(tmp_path: Path, cells: list[str]) -> None:
    read = read_table(table_of(tmp_path, cells))
    report = next(one for one in infer_table(read).columns if one.name == "tags")
    assert not report.content


def test_as_an_input_or_by_wish_such_a_column_stays_what_it_was(tmp_path: Path) -> None:
    cells = [cell.replace("{}", ";") for cell in COMMON] * 8
    path = table_of(tmp_path, cells)
    read = read_table(path)
    as_input = declare(read, infer_table(read, "a").columns, "a")
    assert as_input.schema_in.columns["tags"].type == "category"
    by_wish = declared(path, set={"tags": "category"})
    assert by_wish.schema_out.columns["tags"].type == "category"
    with pytest.raises(DatasetError, match="only a target can have several labels"):
        declare(read, infer_table(read, "a").columns, "a", set={"tags": "labels"})


@pytest.mark.parametrize("role", ["pool", "production"])
def test_rows_with_several_answers_are_not_kept_without_them(tmp_path: Path, role: str) -> None:
    cells = [cell.replace("{}", "; ") for cell in COMMON] * 5
    path = table_of(tmp_path, cells)
    version = declared(path)
    with pytest.raises(DatasetError, match=f"{role.capitalize()} rows are kept without") as refused:
        feed(version, read_table(path), "more.csv", role)
    assert "easeml predict" in refused.value.remedy


def test_rows_with_known_labels_fit_and_others_are_named(tmp_path: Path) -> None:
    cells = [cell.replace("{}", ";") for cell in COMMON] * 5
    version = declared(table_of(tmp_path, cells))
    schemas = version.schema_in, version.schema_out
    good = fit_table(
        read_table(table_of(tmp_path, ["red;blue", ""], "2.csv")), *schemas, answers=True
    )
    assert not good.differences
    assert [cell.tolist() for cell in good.columns["tags"]] == [[1, 0, 1], [0, 0, 0]]
    bad = fit_table(read_table(table_of(tmp_path, ["red;pink"], "3.csv")), *schemas, answers=True)
    assert "the label 'pink', which is none of the known ones" in bad.differences[0]
    (tmp_path / "4.csv").write_text("a\n1\n")
    absent = fit_table(read_table(tmp_path / "4.csv"), *schemas, answers=False)
    assert "rows come with their labels" in absent.differences[0]


def test_answers_come_along_with_rows_of_a_request(tmp_path: Path) -> None:
    cells = [cell.replace("{}", ";") for cell in COMMON] * 5
    version = declared(table_of(tmp_path, cells))
    schemas = version.schema_in, version.schema_out
    body = json.dumps({"rows": [{"a": 1, "tags": ["red"]}, {"a": 2, "tags": "blue;green"}]})
    rows = parse_rows(body.encode(), "application/json", *schemas)
    assert rows.labels is not None
    assert [cell.tolist() for cell in rows.labels] == [[0, 0, 1], [1, 1, 0]]
    with pytest.raises(DatasetError, match="'pink'"):
        parse_rows(b'[{"a": 1, "tags": ["pink"]}]', "application/json", *schemas)
    assert parse_rows(b'[{"a": 1}]', "application/json", *schemas).labels is None


@given(st.lists(st.sampled_from(["red", "blue", "dark green"]), unique=True))
def test_labels_that_are_written_are_read_again(labels: list[str]) -> None:
    for separator in ("; ", "|", JSON):
        assert labels_in(told(labels, separator), separator) == labels
    known = ["blue", "dark green", "red"]
    assert array_of(labels, known).tolist() == [float(one in labels) for one in known]


def together(folder: Path) -> Path:
    path = folder / "together.csv"
    lines = ["a,sick,tired,price,days"]
    for number in range(40):
        yes = "yes" if number % 3 else "no"
        lines.append(f"{number},{yes},{number % 2 or ''},{1000 * number},{number / 10}")
    path.write_text("\n".join(lines) + "\n")
    return path


def test_columns_of_yes_and_no_together_are_labels(tmp_path: Path) -> None:
    version = declared(
        together(tmp_path), "sick", together=["tired"], keep=["a"], drop=["price", "days"]
    )
    node = version.schema_out.columns["sick + tired"]
    assert node.labels == node.parts == ("sick", "tired")
    rows = version.frames["train"]
    for number, cell in zip(rows["a"], rows["sick + tired"], strict=True):
        assert cell.tolist() == [number % 3 > 0, number % 2]
    assert list(version.schema_in.columns) == ["a"]
    assert Schema.from_json(version.schema_out.to_json()) == version.schema_out


def test_numbers_together_are_a_tensor_and_their_cells_are_read(tmp_path: Path) -> None:
    path = together(tmp_path)
    version = declared(path, "price", together=["days"], keep=["a"], drop=["sick", "tired"])
    schemas = version.schema_in, version.schema_out
    assert version.schema_out.columns["price + days"].parts == ("price", "days")
    fitted = fit_table(read_table(path), *schemas, answers=True)
    assert not fitted.differences
    assert fitted.columns["price + days"][3].tolist() == pytest.approx([3000, 0.3])
    body = b'[{"a": 1, "price": 5, "days": 6}]'
    rows = parse_rows(body, "application/json", *schemas)
    assert rows.labels is not None
    assert rows.labels[0].tolist() == [5, 6]
    assert not rows.notes


@pytest.mark.parametrize(
    ("target", "others", "said"),
    [
        ("price", ["sick"], "is a number, or yes or no in all; it is category"),
        ("price", ["price"], "2 to 200 different columns"),
        ("price", ["nothing"], "there is no column 'nothing'"),
    ],
)
def test_what_cannot_be_together_is_refused(
    tmp_path: Path, target: str, others: list[str], said: str
) -> None:
    with pytest.raises(DatasetError, match=said):
        declared(together(tmp_path), target, together=others)


def test_a_gap_among_numbers_together_is_refused(tmp_path: Path) -> None:
    path = together(tmp_path)
    path.write_text(path.read_text() + "41,yes,1,,2\n")
    with pytest.raises(DatasetError, match="there in each row"):
        declared(path, "price", together=["days"])


@pytest.mark.parametrize(
    ("target", "others", "out"),
    [("sick", ["tired"], ["price", "days"]), ("price", ["days"], ["sick", "tired"])],
)
def test_all_rows_of_columns_together_can_make_place_for_others(
    tmp_path: Path, target: str, others: list[str], out: list[str]
) -> None:
    path = together(tmp_path)
    version = declared(path, target, together=others, keep=["a"], drop=out)
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:31]) + "\n")
    read = read_table(path)
    made = replaced(version, read, infer_table(read).columns, "rows")
    assert made.target == version.target
    assert made.schema_out == version.schema_out
    assert made.summary["rows"] == 30
    assert not any("Columns that were not there" in note for note in made.notes)


def test_labels_that_came_and_went_with_other_rows_are_told(tmp_path: Path) -> None:
    cells = [cell.replace("{}", ";") for cell in COMMON]
    version = declared(table_of(tmp_path, cells * 5))
    path = table_of(tmp_path, [cell.replace("red", "pink") for cell in cells] * 5, "2.csv")
    read = read_table(path)
    made = replaced(version, read, infer_table(read).columns, "rows")
    assert "'tags' has labels that it had not: pink." in made.notes
    assert "'tags' has not any more: red." in made.notes


def test_who_looks_at_one_answer_takes_each_combination_as_a_class(tmp_path: Path) -> None:
    cells = [cell.replace("{}", ";") for cell in COMMON[:-1]] * 8
    reports = infer_table(read_table(table_of(tmp_path, cells)), "tags").columns
    assert with_one_answer(reports, "tags") == {"tags": "category"}
    assert with_one_answer(reports, "a") == {}
    classes = declared(tmp_path / "rows.csv", set=with_one_answer(reports, "tags"))
    assert classes.schema_out.columns["tags"].type == "category"


def written(version: Declared, path: Path) -> pd.DataFrame:
    """Return the rows of a version as a file has them, in their order."""
    folder = path.parent / "version"
    write_version(folder, version)
    export_version(folder, path)
    return pd.read_csv(path, dtype=str, keep_default_na=False)


@pytest.mark.parametrize("cells", [COMMON, ['["red"]', '["red", "a ; b"]', "[]"]])
def test_a_version_is_written_with_the_labels_of_each_row_in_their_order(
    tmp_path: Path, cells: list[str]
) -> None:
    if cells is COMMON:
        column = [cell.replace("{}", "; ") for cell in cells] * 5
        version = declared(table_of(tmp_path, column))
    else:
        column = cells * 10
        lines = [f'{{"a": {number % 7}, "tags": {cell}}}' for number, cell in enumerate(column)]
        path = tmp_path / "rows.jsonl"
        path.write_text("\n".join(lines) + "\n")
        version = declared(path)
    node = version.schema_out.columns["tags"]
    expected = []
    for cell in column:
        labels = labels_in(cell, node.separator)
        expected.append(told(sorted(labels, key=node.labels.index), node.separator))
    assert written(version, tmp_path / "out.csv")["tags"].tolist() == expected


def test_columns_that_are_one_answer_are_written_as_themselves(tmp_path: Path) -> None:
    path = together(tmp_path)
    before = pd.read_csv(path)
    of_numbers = declared(path, "price", together=["days"], keep=["a"], drop=["sick", "tired"])
    rows = written(of_numbers, tmp_path / "numbers.csv")
    assert rows["price"].astype(float).tolist() == before["price"].tolist()
    assert rows["days"].astype(float).tolist() == before["days"].tolist()
    assert "price + days" not in rows
    of_labels = declared(path, "sick", together=["tired"], keep=["a"], drop=["price", "days"])
    rows = written(of_labels, tmp_path / "labels.csv")
    assert rows["tired"].tolist() == [str(number % 2) for number in before["a"]]


def test_labels_are_written_as_tensors_into_an_easeml_dataset(tmp_path: Path) -> None:
    version = declared(table_of(tmp_path, [cell.replace("{}", ";") for cell in COMMON] * 5))
    write_version(tmp_path / "version", version)
    export_version(tmp_path / "version", tmp_path / "out.zip")
    found = read_easeml(tmp_path / "out.zip").output
    assert found is not None
    rows = version.frames["train"].set_index(ROW)["tags"]
    assert len(found.samples) == len(rows)
    for name, sample in found.samples.items():
        (cell,) = sample.values.values()
        assert np.asarray(cell).tolist() == rows[int(name.removeprefix("row"))].tolist()
