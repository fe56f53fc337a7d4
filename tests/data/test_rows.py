"""Bodies of prediction requests: frames as in training, or an error with row, column and remedy."""

import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.data import (
    FILL_ABSENT,
    DatasetError,
    Rows,
    declare,
    infer_table,
    parse_rows,
    read_table,
)
from easeml.data.types import values
from easeml.data.versions.fitting import fit_table
from easeml.schema import Schema

from .tables import body, declared, number_schema, people, write

GOOD = {"age": 30, "job": "cook", "story": "went home", "born": "3/4/1990"}


def test_json_and_csv_give_the_frame_of_training(tmp_path: Path) -> None:
    made = declared(tmp_path)
    test = made.frames["test"]
    lines = people().splitlines()
    chosen = [lines[row + 1] for row in test["_row"]]
    from_csv = parse_rows(
        "\n".join([lines[0], *chosen]).encode(), "text/csv", made.schema_in, made.schema_out
    )
    cells = (
        test.assign(born=test["born"].dt.strftime("%m/%d/%Y")).drop(columns="_row").astype(object)
    )
    rows = cells.where(cells.notna(), None).to_dict("records")
    from_json = parse_rows(body(*rows), "application/json", made.schema_in, made.schema_out)
    for parsed in (from_csv, from_json):
        pd.testing.assert_frame_equal(
            parsed.frame, test[["age", "job", "story", "born"]], check_column_type=False
        )
        assert parsed.labels is not None
        pd.testing.assert_series_equal(parsed.labels, test["kind"])
        assert parsed.notes == []


def test_a_dot_is_one_of_thousands_beside_decimal_commas(tmp_path: Path) -> None:
    """Also in a column whose numbers had neither in training."""
    rows = "".join(f"{n + 400};{n},25;{'ab'[n % 2]}\n" for n in range(60))
    table = read_table(write(tmp_path, f"size;width;kind\n{rows}"))
    made = declare(table, infer_table(table, "kind").columns, "kind")

    def sizes(*lines: str) -> list[float]:
        content = "\n".join(["size;width", *lines]).encode()
        return (
            parse_rows(content, "text/csv", made.schema_in, made.schema_out).frame["size"].tolist()
        )

    assert sizes("1.836;2,5", "-2.001.836;1,75", "7;3") == [1836, -2001836, 7]
    assert sizes("1.836;2.5", "1.5;3") == [1.836, 1.5]
    assert sizes("1.836;2") == [1.836]
    fed = read_table(write(tmp_path, "size;width;kind\n1.836;2,5;a\n", "fed.csv"))
    found = fit_table(fed, made.schema_in, made.schema_out, answers=True)
    assert found.columns["size"].tolist() == [1836]


@pytest.mark.parametrize("form", ["object", "list"])
def test_both_forms_of_json(form: str) -> None:
    rows = [{"A": 1}, {"A": "2.5"}]
    content = json.dumps({"rows": rows} if form == "object" else rows).encode()
    parsed = parse_rows(content, "application/json; charset=utf-8", *number_schema())
    assert parsed.frame["A"].tolist() == [1.0, 2.5]
    assert parsed.labels is None


def test_what_may_come_along_and_what_may_be_missing(tmp_path: Path) -> None:
    made = declared(tmp_path)
    row = {key: value for key, value in GOOD.items() if key != "age"}
    sides = made.schema_in, made.schema_out
    parsed = parse_rows(body({**row, "age": None, "id": "u1", "country": None}), "", *sides)
    assert parsed.frame["age"].isna().all()
    assert parsed.notes == []
    some = parse_rows(body(row, GOOD), "", *sides)  # an empty cell beside one that is filled
    assert some.frame["age"].isna().tolist() == [True, False]


@pytest.mark.parametrize("csv", [False, True])
def test_an_absent_column_is_another_permission_than_an_empty_cell(
    tmp_path: Path, csv: bool
) -> None:
    made = declared(tmp_path)
    sides = made.schema_in, made.schema_out
    row = {key: value for key, value in GOOD.items() if key != "age"}
    header, cells = ",".join([*row, "Ages"]), ",".join([*map(str, row.values()), "3"])
    content = f"{header}\n{cells}\n".encode() if csv else body(row)
    kind = "text/csv" if csv else "application/json"
    with pytest.raises(DatasetError, match="column 'age': the column is not there") as caught:
        parse_rows(content, kind, *sides)
    assert "fill_absent=true" in caught.value.remedy
    parsed = parse_rows(content, f"{kind}; {FILL_ABSENT}", *sides)
    assert parsed.frame["age"].isna().all()
    assert "'age' is not there" in " ".join(parsed.notes)


def test_a_column_too_many_is_a_note(tmp_path: Path) -> None:
    made = declared(tmp_path)
    parsed = parse_rows(body({**GOOD, "jobb": "cook"}), "", made.schema_in, made.schema_out)
    assert parsed.notes == ["The model knows no column 'jobb'; it is not used."]


def test_a_column_of_the_past_is_not_needed_and_says_how_newer_values_come(tmp_path: Path) -> None:
    made = declared(tmp_path)
    content = body({**GOOD, "warmth": 20})
    sides = made.schema_in, made.schema_out
    [note] = parse_rows(content, "", *sides, past_only=("warmth",)).notes
    assert note.startswith("'warmth' is not used: a forecast looks at what it was before")
    assert "easeml forecast ID --newer FILE" in note


@pytest.mark.parametrize(
    "text", ["2024-03-05 10:00:00", "2024-03-05T10:00:00", "2024-03-05T10:00Z"]
)
def test_times_with_a_blank_may_come_with_a_t(tmp_path: Path, text: str) -> None:
    rows = [f"2024-03-05 {n % 24:02d}:00:00,{n % 7},{'ab'[n % 2]}" for n in range(40)]
    made = declared(tmp_path, "\n".join(["at,size,kind", *rows]) + "\n")
    parsed = parse_rows(body({"at": text, "size": 1}), "", made.schema_in, made.schema_out)
    assert str(parsed.frame["at"][0]) == "2024-03-05 10:00:00"


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    made = declared(tmp_path)
    rows = [{**GOOD, "age": "old"}, {**GOOD, "job": None, "born": "then"}]
    with pytest.raises(DatasetError) as caught:
        parse_rows(body(*rows), "", made.schema_in, made.schema_out)
    message = caught.value.message
    assert message.startswith("the rows have 3 faults (the first row of values is row 0):")
    for place in ("row 0, column 'age'", "row 1, column 'job'", "row 1, column 'born'"):
        assert place in message


def test_very_many_faults_are_bounded() -> None:
    names = [f"n{number}" for number in range(30)]
    nodes = {name: {"singleton": True, "type": "tensor", "dim": [1]} for name in names}
    schema_in = Schema.from_json({"nodes": nodes})
    _, schema_out = number_schema()
    with pytest.raises(DatasetError, match="the rows have 30 faults") as caught:
        parse_rows(body(dict.fromkeys(names, "x")), "", schema_in, schema_out)
    assert len(caught.value.message.splitlines()) < 25


def test_the_same_fault_in_many_rows_is_told_once() -> None:
    for content, kind in (
        (body(*[{"A": "x"}] * 1500), "application/json"),
        (b"A\n" + b"x\n" * 1500, "text/csv"),
    ):
        with pytest.raises(DatasetError) as caught:
            parse_rows(content, kind, *number_schema())
        assert caught.value.where == "row 0, column 'A'"
        told = "'x' is not a number. 1,499 more rows are like it (row 1, row 2, row 3, ...)."
        assert caught.value.message == told


def test_a_fault_of_every_row_hides_no_other(tmp_path: Path) -> None:
    made = declared(tmp_path)
    rows = [{**GOOD, "age": "old"} for _ in range(50)]
    rows[40]["job"] = None
    with pytest.raises(DatasetError) as caught:
        parse_rows(body(*rows), "", made.schema_in, made.schema_out)
    assert caught.value.message.startswith("the rows have 51 faults")
    assert "row 40, column 'job'" in caught.value.message
    assert len(caught.value.message.splitlines()) == 3


def test_missing_values_of_many_rows_are_told_once() -> None:
    with pytest.raises(DatasetError) as caught:
        parse_rows(b"A,x\n" + b",1\n" * 300, "text/csv", *number_schema())
    assert caught.value.message.startswith("the value is missing. 299 more rows are like it (row 1")


@pytest.mark.parametrize("kind", ["application/json", "text/csv"])
def test_a_decimal_comma_is_named(kind: str) -> None:
    content = body({"A": "2,5"}) if kind == "application/json" else b'A\n"2,5"\n'
    with pytest.raises(DatasetError, match=r"Give a number\. Its decimals follow"):
        parse_rows(content, kind, *number_schema())


@pytest.mark.parametrize("value", ["1e300", "-3.5e38"])
def test_numbers_beyond_those_of_models_are_refused(value: str) -> None:
    for content, kind in (
        (body({"A": float(value)}), "application/json"),
        (f"A\n{value}\n".encode(), "text/csv"),
    ):
        with pytest.raises(DatasetError, match="models can compute with"):
            parse_rows(content, kind, *number_schema())


@pytest.mark.parametrize("learnt", [("false", "true"), ("False", "True"), ("FALSE", "TRUE")])
@pytest.mark.parametrize("said", ["true", "True", "TRUE"])
def test_truth_is_one_class_however_it_is_spelled(learnt: tuple[str, str], said: str) -> None:
    """Parquet says ``true``, pandas writes ``True`` into CSV files."""
    nodes = {"member": {"singleton": True, "type": "category", "class": "truth"}}
    classes = {"truth": {"dim": 2, "labels": list(learnt)}}
    schema_in = Schema.from_json({"nodes": nodes, "classes": classes})
    _, schema_out = number_schema()
    for content, kind in (
        (f"member\n{said}\n".encode(), "text/csv"),
        (body({"member": said}), ""),
        (body({"member": True}), ""),
    ):
        parsed = parse_rows(content, kind, schema_in, schema_out)
        assert parsed.notes == []
        assert parsed.frame["member"].tolist() == [learnt[1]]


def test_words_beside_truth_are_classes_of_their_own() -> None:
    find = values.label_finder(("True", "true", "maybe"))
    assert [find("True"), find("true"), find("TRUE")] == [0, 1, None]
    assert values.label_finder(("false", "true", "unknown"))("True") is None


def test_an_unseen_category_is_missing_with_a_note(tmp_path: Path) -> None:
    made = declared(tmp_path)
    parsed = parse_rows(body(GOOD, {**GOOD, "job": "pilot"}), "", made.schema_in, made.schema_out)
    assert parsed.frame["job"].isna().tolist() == [False, True]
    assert parsed.notes == ["row 1: 'pilot' is new in 'job'; it is treated as missing."]
    csv = b"age,job,story,born\n30,pilot,x,3/4/1990\n"
    assert len(parse_rows(csv, "text/csv", made.schema_in, made.schema_out).notes) == 1


def test_unseen_categories_of_many_rows_are_one_note_a_column(tmp_path: Path) -> None:
    made = declared(tmp_path)
    jobs = [f"job {number}" for number in range(300)]
    rows = [{**GOOD, "job": job} for job in jobs]
    lines = "".join(f"30,{job},x,3/4/1990\n" for job in jobs)
    for content, kind in ((body(*rows), ""), (f"age,job,story,born\n{lines}".encode(), "text/csv")):
        parsed = parse_rows(content, kind, made.schema_in, made.schema_out)
        such = "'job 0' (row 0), 'job 1' (row 1), 'job 2' (row 2)"
        told = f"300 rows have values that are new in 'job', such as {such}; they are treated as"
        assert parsed.notes == [f"{told} missing."]


@pytest.mark.parametrize(
    ("change", "where", "message", "remedy"),
    [
        ({"age": "old"}, "row 0, column 'age'", "'old' is not a number", "or null"),
        ({"age": [1]}, "row 0, column 'age'", "not a number", "number"),
        ({"age": 10**400}, "row 0, column 'age'", "not a number", "number"),
        ({"job": None}, "row 0, column 'job'", "the value is missing", "one of its classes"),
        ({"story": ""}, "row 0, column 'story'", "the value is missing", "text"),
        ({"story": {}}, "row 0, column 'story'", "not text", "text"),
        ({"born": "4.3.1990"}, "row 0, column 'born'", "not a date", "month/day/year"),
        (
            {"kind": "z"},
            "row 0, column 'kind'",
            "not one of the classes",
            "There are: 'a', 'b', 'c'",
        ),
    ],
)
def test_bad_cells(tmp_path: Path, change: dict, where: str, message: str, remedy: str) -> None:
    made = declared(tmp_path)
    with pytest.raises(DatasetError) as caught:
        parse_rows(body({**GOOD, **change}), "application/json", made.schema_in, made.schema_out)
    assert caught.value.where == where
    assert message in caught.value.message
    assert remedy in caught.value.remedy


def test_a_required_column_that_is_not_there(tmp_path: Path) -> None:
    made = declared(tmp_path)
    with pytest.raises(DatasetError, match="the rows, column 'job': the column is not there"):
        parse_rows(
            body({"story": "x", "born": "3/4/1990", "age": 1}), "", made.schema_in, made.schema_out
        )
    with pytest.raises(DatasetError, match="the header, column 'job': the column is not there"):
        parse_rows(b"story,born,age\nx,3/4/1990,1\n", "text/csv", made.schema_in, made.schema_out)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"A,id\n1,x\nabc,y\n", "row 1, column 'A': 'abc' is not a number"),
        (b"A,id\n1,x\n,y\n", "row 1, column 'A': the value is missing"),
        (b"B\n2\n", "the header, column 'A': the column is not there"),
        (b"A,id\n1\n", "the header has 2 columns, and this row has 1"),
        (b"", "empty"),
    ],
)
def test_bad_csv(content: bytes, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        parse_rows(content, "text/csv", *number_schema())


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"3", b"{}", b"[]", b'{"rows": {}}', b"[1]", b'{"rows": [null]}', b"\xff"],
)
def test_bodies_that_are_no_rows(content: bytes) -> None:
    with pytest.raises(DatasetError) as caught:
        parse_rows(content, "application/json", *number_schema())
    assert caught.value.remedy


def test_other_content_types_are_refused() -> None:
    with pytest.raises(DatasetError, match="'video/mp4'"):
        parse_rows(b"[]", "video/mp4", *number_schema())


def test_labels_only_where_every_row_has_one() -> None:
    parsed = parse_rows(body({"A": 1, "Y": 2}, {"A": 1}), "", *number_schema())
    assert parsed.labels is None
    assert "1 of 2 rows have no 'Y'" in parsed.notes[0]
    parsed = parse_rows(b"A,Y\n1,2\n2,3.5\n", "text/csv", *number_schema())
    assert parsed.labels is not None
    assert parsed.labels.tolist() == [2.0, 3.5]


@pytest.mark.parametrize(
    ("labels", "value", "code"),
    [
        (["0", "1"], 1, 1),
        (["0", "1"], 1.0, 1),
        (["0", "1"], "1.0", 1),
        (["0", "1"], True, 1),
        (["False", "True"], False, 0),
        (["no", "yes"], " yes ", 1),
        (["0.5", "2"], 0.5, 0),
    ],
)
def test_spellings_of_a_label(labels: list[str], value: object, code: int) -> None:
    node = {"singleton": True, "type": "category", "class": "c"}
    schema = Schema.from_json(
        {"nodes": {"a": node}, "classes": {"c": {"dim": 2, "labels": labels}}}
    )
    parsed = parse_rows(body({"a": value}), "", schema, number_schema()[1])
    assert parsed.frame["a"].cat.codes.tolist() == [code]


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["rows", "A", "Y"]), inner)
    ),
    max_leaves=8,
)


@given(
    st.one_of(JSON.map(lambda value: json.dumps(value).encode()), st.binary(max_size=60)),
    st.booleans(),
)
def test_any_body_is_read_or_refused(content: bytes, as_csv: bool) -> None:
    try:
        parsed = parse_rows(
            content, "text/csv" if as_csv else "application/json", *number_schema(optional=True)
        )
    except DatasetError as error:
        assert error.message
    else:
        assert list(parsed.frame.columns) == ["A"]
        assert parsed.frame["A"].dtype == float


_CELLS = st.one_of(
    st.floats(width=64), st.integers(), st.none(), st.booleans(), st.text(max_size=3)
)


@given(st.lists(st.fixed_dictionaries({"A": _CELLS}, optional={"B": _CELLS}), min_size=1))
def test_numbers_that_are_read_at_once_are_read_as_one_by_one(rows: list[dict]) -> None:
    """Columns are read together where all cells are numbers; as texts they are read one by one."""
    texts = [{name: _spelled(cell) for name, cell in row.items()} for row in rows]
    found = _read(rows)
    assert found == _read(texts)


def _read(rows: list[dict]) -> object:
    content = json.dumps(rows).encode()
    try:
        parsed = parse_rows(content, "application/json", *number_schema())
    except DatasetError as error:
        return error.where
    return parsed.frame["A"].tolist(), len(parsed.notes)


def _spelled(cell: object) -> object:
    is_number = isinstance(cell, int | float) and not isinstance(cell, bool)
    return repr(cell) if is_number else cell


def test_a_table_without_a_header_is_told_so(tmp_path: Path) -> None:
    made = declared(tmp_path)
    with pytest.raises(DatasetError, match="none of the columns is there") as caught:
        parse_rows(
            b"30,cook,once upon,3/4/1990\n31,cook,x,3/4/1991\n",
            "text/csv",
            made.schema_in,
            made.schema_out,
        )
    assert caught.value.where == "the header"
    assert "These are: '30', 'cook', 'once upon', '3/4/1990'." in caught.value.message
    assert "'age', 'job'" in caught.value.remedy


def test_numbers_without_a_header_are_told_so(tmp_path: Path) -> None:
    """The reader sees that there is no header, and numbers the columns."""
    made = declared(tmp_path)
    rows = "".join(f"{number},{number + 2},{number % 7}\n" for number in range(40)).encode()
    with pytest.raises(DatasetError) as caught:
        parse_rows(rows, "text/csv", made.schema_in, made.schema_out)
    assert caught.value.message.startswith("none of the columns is there. These are: 'column 1'")
    assert "'age', 'job'" in caught.value.remedy


@pytest.mark.parametrize("target", ["column 1", "column 3"])
@pytest.mark.parametrize("rows", [1, 2, 40])
def test_rows_without_names_for_a_model_that_learned_from_a_file_without_names(
    tmp_path: Path, target: str, rows: int
) -> None:
    learned = "".join(f"{number % 3}.5,{number}.25,{number % 7}.5\n" for number in range(40))
    table = read_table(write(tmp_path, learned))
    made = declare(table, infer_table(table, target).columns, target)

    def read(text: str) -> Rows:
        return parse_rows(text.encode(), "text/csv", made.schema_in, made.schema_out)

    sent = "".join(learned.splitlines(keepends=True)[:rows])
    named = f"column 1,column 2,column 3\n{sent}"
    for text in (sent, named):
        found = read(text)
        assert len(found.table) == rows
        assert found.labels is not None
        assert float(found.table["column 2"][0]) == 0.25

    without_first = "".join(line.partition(",")[2] + "\n" for line in sent.splitlines())
    without_last = "".join(line.rpartition(",")[0] + "\n" for line in sent.splitlines())
    if target == "column 3":
        assert len(read(without_last).table) == rows
    else:
        # Which of three columns these are is not told by their places.
        with pytest.raises(DatasetError, match="2 columns without names"):
            read(without_first)


def test_names_that_are_nearly_right_are_told_one_by_one(tmp_path: Path) -> None:
    made = declared(tmp_path)
    with pytest.raises(DatasetError, match="Did you mean 'Ages'") as caught:
        parse_rows(b"Ages,Stories\n30,x\n", "text/csv", made.schema_in, made.schema_out)
    assert "none of the columns" not in caught.value.message


@pytest.mark.parametrize("kind", ["text/csv", "application/json"])
def test_names_in_another_case_are_one_fault(tmp_path: Path, kind: str) -> None:
    made = declared(tmp_path)
    given = {"Age": "30", "JOB ": "cook", "Story": "x", "Born": "3/4/1990"}
    content = body(given)
    if kind == "text/csv":
        content = f"{','.join(given)}\n{','.join(given.values())}\n".encode()
    for asked in (kind, f"{kind}; {FILL_ABSENT}"):
        with pytest.raises(DatasetError) as caught:
            parse_rows(content, asked, made.schema_in, made.schema_out)
        assert caught.value.message.startswith("names of columns match only if case")
        assert "'Age' is 'age'" in caught.value.message
        assert "faults" not in caught.value.message
        assert caught.value.remedy == "Write the names as in training."


def test_a_target_in_another_case_is_a_note(tmp_path: Path) -> None:
    made = declared(tmp_path)
    target = made.target
    parsed = parse_rows(body({**GOOD, target.upper(): "1"}), "", made.schema_in, made.schema_out)
    assert f"Did you mean '{target}'?" in " ".join(parsed.notes)


def test_absent_columns_with_one_remedy_are_one_fault(tmp_path: Path) -> None:
    lines = [f"{n * 7 % 11 / 2},{n * 5 % 13 / 4},{n * 3 % 17 / 8},{'ab'[n % 2]}" for n in range(60)]
    table = read_table(write(tmp_path, "\n".join(["one,two,six,y", *lines, ""])))
    made = declare(table, infer_table(table, "y").columns, "y")
    with pytest.raises(DatasetError, match="2 columns are not there: 'two', 'six'") as caught:
        parse_rows(b"one,z\n1,2\n", "text/csv", made.schema_in, made.schema_out)
    assert "faults" not in caught.value.message
    assert caught.value.remedy.startswith("Send them: ")


def test_a_date_is_asked_for_in_words(tmp_path: Path) -> None:
    lines = [f"{n % 28 + 1:02d}.{n % 12 + 1:02d}.2024,{n},{'ab'[n % 2]}" for n in range(60)]
    table = read_table(write(tmp_path, "\n".join(["when,n,y", *lines, ""])))
    made = declare(table, infer_table(table, "y").columns, "y")
    with pytest.raises(DatasetError) as caught:
        parse_rows(body({"when": "May 3", "n": 1}), "", made.schema_in, made.schema_out)
    assert "written as day.month.year, such as 28.11.2026" in caught.value.remedy
    assert "%" not in caught.value.remedy


def test_a_column_that_is_known_is_not_what_an_absent_one_was_meant_as(tmp_path: Path) -> None:
    lines = [f"{n * 7 % 11 / 2},{n * 5 % 13 / 4},{n * 3 % 17 / 8},{'ab'[n % 2]}" for n in range(60)]
    table = read_table(write(tmp_path, "\n".join(["v1,v2,v12,y", *lines, ""])))
    made = declare(table, infer_table(table, "y").columns, "y")
    with pytest.raises(DatasetError, match="column 'v12': the column is not there") as caught:
        parse_rows(b"v1,v2\n1,2\n", "text/csv", made.schema_in, made.schema_out)
    assert "Did you mean" not in caught.value.remedy


@pytest.mark.parametrize("kind", ["application/json", "text/csv"])
def test_dates_are_read_as_the_column_writes_them_or_as_exported_tables_do(
    kind: str, tmp_path: Path
) -> None:
    made = declared(tmp_path)  # its dates are written like 3/4/1990
    row = {"age": 30, "job": "cook", "story": "went home"}
    rows = [{**row, "born": day} for day in ("3/4/1990", "1990-03-04 00:00:00.000000")]
    content = body(*rows)
    if kind == "text/csv":
        lines = [",".join(map(str, cells.values())) for cells in rows]
        content = "\n".join(["age,job,story,born", *lines]).encode()
    read = parse_rows(content, kind, made.schema_in, made.schema_out)
    assert read.frame["born"].nunique() == 1
    wrong = content.replace(b"1990-03-04", b"1990-13-44")
    with pytest.raises(DatasetError, match="is not a date or time") as caught:
        parse_rows(wrong, kind, made.schema_in, made.schema_out)
    assert caught.value.where == "row 1, column 'born'"
