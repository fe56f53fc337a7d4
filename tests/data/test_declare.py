"""Declarations, roles of rows, and versions on disk."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from easeml.data import (
    DatasetError,
    declare,
    declare_columns,
    infer,
    infer_table,
    parse_rows,
    read_table,
    read_upload,
    read_version,
    write_upload,
    write_version,
)
from easeml.schema import match

from .tables import declared, people, write


def test_defaults_and_frames(tmp_path: Path) -> None:
    made = declared(tmp_path)
    train = made.frames["train"]
    assert list(train.columns) == ["_row", "age", "job", "story", "born", "kind"]
    assert [str(dtype) for dtype in train.dtypes] == [
        *("int64", "float64", "category", "str", "datetime64[us]", "category")
    ]
    assert list(train["job"].cat.categories) == ["clerk", "cook", "smith"]
    assert made.summary == {
        "rows": 60,
        "train": 36,
        "validation": 12,
        "test": 12,
        "target": "kind",
        "seed": 0,
        "split": "random",
        "folds": 4,
    }
    assert made.schema_in.dropped == ("id", "country")
    assert made.schema_in.nodes["born"].format == "%m/%d/%Y"
    rows = np.concatenate([frame["_row"] for frame in made.frames.values()])
    assert sorted(rows) == list(range(60))


def test_a_random_split_of_rows_in_order_or_in_groups_says_that_it_flatters(tmp_path: Path) -> None:
    days = pd.date_range("2024-01-01", periods=40).strftime("%Y-%m-%d")
    lines = [f"{day},P{i % 8},{i % 7},{i * 1.5}" for i, day in enumerate(days)]
    text = "\n".join(["day,patient,x,y", *lines])
    told = " ".join(declared(tmp_path, text, target="y").notes)
    assert "tested on the latest (--split 'time:day')" in told
    assert "tested on others (--split 'group:patient')" in told
    for way in ("time:day", "group:patient"):
        assert "flatters" not in " ".join(declared(tmp_path, text, target="y", split=way).notes)
    other_order = "\n".join(["day,x,y", *(f"{days[i * 7 % 40]},{i % 7},{i}.5" for i in range(40))])
    assert declared(tmp_path, other_order, target="y").notes == []


def test_roles_are_stratified_and_follow_the_seed(tmp_path: Path) -> None:
    first, again, other = (declared(tmp_path, seed=seed) for seed in (1, 1, 2))
    for role, share in (("train", 12), ("validation", 4), ("test", 4)):
        assert (first.frames[role]["kind"].value_counts() - share).abs().max() <= 1
        pd.testing.assert_frame_equal(first.frames[role], again.frames[role])
    assert list(first.frames["test"]["_row"]) != list(other.frames["test"]["_row"])


def test_the_users_changes(tmp_path: Path) -> None:
    made = declared(tmp_path, target="age", set={"job": "text"}, drop=["story"], keep=["id"])
    roles = {report.name: (report.type, report.role) for report in made.columns}
    assert roles["id"] == ("text", "input")
    assert roles["job"] == ("text", "input")
    assert roles["story"] == ("text", "drop")
    assert roles["age"] == ("number", "target")
    assert roles["kind"] == ("category", "input")
    assert (made.summary["rows"], made.summary["pool"]) == (54, 6)
    assert "6 rows without a value of 'age' can be labelled (the pool)." in made.notes


def test_a_whole_number_is_a_category_only_as_the_target(tmp_path: Path) -> None:
    text = "a,b,y\n" + "\n".join(f"{i % 3},{i * 0.5},{i % 2}" for i in range(40))
    reports = infer(write(tmp_path, text)).columns
    assert declare_columns(reports).schema_out.labels("y") == ("0", "1")
    other = declare_columns(reports, target="a")
    assert {report.name: report.type for report in other.columns} == {
        "a": "category",
        "b": "number",
        "y": "number",
    }
    assert declare_columns(reports, set={"y": "number"}).schema_out.nodes["y"].type == "tensor"


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ({"target": "knd"}, "Did you mean 'kind'"),
        ({"set": {"Age": "number"}}, "Did you mean 'age'"),
        ({"drop": ["storry"]}, "Did you mean 'story'"),
        ({"keep": ["xyz"]}, "There are: 'id'"),
        ({"set": {"age": "float"}}, "Use one of: number, category"),
        (
            {"set": {"job": "number"}},
            "column 'job'.* are no numbers",
        ),
        ({"set": {"story": "timestamp"}}, "column 'story'.* are no timestamps"),
        ({"target": "country"}, "constant: every row has 'CH'"),
        ({"target": "story"}, "the target is text"),
        ({"target": "born"}, "the target is timestamp"),
        ({"target": "kind", "drop": ["kind"]}, "cannot be dropped"),
        (
            {"drop": ["age", "job", "story", "born"]},
            r"no input column is left\. Column '\w+' is not used",
        ),
    ],
)
def test_refused_declarations(tmp_path: Path, declaration: dict, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        declared(tmp_path, **declaration)


def test_an_empty_column_is_refused_as_target_and_as_input(tmp_path: Path) -> None:
    text = "a,e,y\n" + "\n".join(f"{i * i},,{i % 2}" for i in range(20))
    with pytest.raises(DatasetError, match="the target has no value"):
        declared(tmp_path, text, target="e")
    with pytest.raises(DatasetError, match="column 'e': has no value"):
        declared(tmp_path, text, keep=["e"])


def test_a_class_with_one_row_is_for_training(tmp_path: Path) -> None:
    labels = ["x", "z"] * 15 + ["lonely"]
    made = declared(
        tmp_path, "a,y\n" + "\n".join(f"{i * i},{label}" for i, label in enumerate(labels))
    )
    assert "lonely" in set(made.frames["train"]["y"])
    assert any("lonely" in note for note in made.notes)
    assert made.schema_out.labels("y") == ("lonely", "x", "z")


def test_five_rows_are_enough_and_four_are_not(tmp_path: Path) -> None:
    text = "a,y\n1,2.5\n2,3.5\n4,1.5\n8,0.5\n"
    with pytest.raises(DatasetError, match="4 rows with a value of 'y': too few"):
        declared(tmp_path, text)
    assert {
        role: len(frame) for role, frame in declared(tmp_path, text + "9,7.5\n").frames.items()
    } == {
        "train": 3,
        "validation": 1,
        "test": 1,
    }


def test_versions_and_uploads_come_back_as_they_were(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, people()))
    write_upload(tmp_path / "upload", table, infer_table(table).columns)
    again, reports = read_upload(tmp_path / "upload")
    assert again.equals(table)
    made = declare(again, reports, "kind", seed=3)
    write_version(tmp_path / "version", made)
    version = read_version(tmp_path / "version")
    assert (version.schema_in, version.schema_out) == (made.schema_in, made.schema_out)
    assert (version.target, version.notes) == ("kind", made.notes)
    for role, frame in made.frames.items():
        pd.testing.assert_frame_equal(getattr(version, role), frame)


def test_a_folder_that_is_no_version(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="cannot be read"):
        read_version(tmp_path)


def test_wine(tmp_path: Path) -> None:
    wine = load_wine(as_frame=True).frame
    wine.to_csv(tmp_path / "wine.csv", index=False)
    table = read_table(tmp_path / "wine.csv")
    made = declare(table, infer_table(table).columns)
    whole = pd.concat(made.frames.values()).sort_values("_row")
    np.testing.assert_array_equal(whole["target"].astype(int), wine["target"])
    np.testing.assert_array_equal(whole[wine.columns[:-1]], wine[wine.columns[:-1]])


def test_a_split_by_time_tests_on_the_latest_rows(tmp_path: Path) -> None:
    days = [
        f"{1 + i % 28:02}.{1 + i // 28:02}.2020" for i in np.random.default_rng(0).permutation(100)
    ]
    text = "day;x;y\n" + "\n".join(
        f"{day};{i * 7 % 11};{'ab'[i % 2]}" for i, day in enumerate(days)
    )
    made = declared(tmp_path, text, target="y", split="time:day")
    first, middle, last = (made.frames[role]["day"] for role in ("train", "validation", "test"))
    assert first.max() < middle.min()
    assert middle.max() < last.min()
    assert (len(first), len(middle), len(last)) == (60, 20, 20)


def test_a_split_by_group_keeps_groups_whole(tmp_path: Path) -> None:
    text = "who,x,y\n" + "\n".join(f"p{i % 23},{i * 7 % 11},{'ab'[i % 2]}" for i in range(200))
    made = declared(tmp_path, text, target="y", split="group:who", keep=["who"])
    groups = [set(frame["who"]) for frame in made.frames.values()]
    assert not groups[0] & groups[1] | groups[0] & groups[2] | groups[1] & groups[2]
    assert made.summary["train"] > made.summary["test"] > 20


def test_given_roles_are_used_and_not_learned_from(tmp_path: Path) -> None:
    roles = ["train", "Val", "test", "training"] * 10
    text = "part,x,y\n" + "\n".join(
        f"{role},{i * 7 % 11},{'ab'[i % 3 % 2]}" for i, role in enumerate(roles)
    )
    made = declared(tmp_path, text, target="y", split="given:part")
    assert [made.summary[role] for role in ("train", "validation", "test")] == [20, 10, 10]
    assert list(made.schema_in.columns) == ["x"]
    assert list(made.frames["test"]["_row"]) == [
        i for i, role in enumerate(roles) if role == "test"
    ]


@pytest.mark.parametrize(
    ("split", "message"),
    [
        ("time", "'time' is not a split"),
        ("weekly:born", "is not a split"),
        ("group:jop", "Did you mean 'job'"),
        ("time:job", "column 'job': it is category"),
        ("given:job", "is not a role of a row"),
    ],
)
def test_refused_splits(tmp_path: Path, split: str, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        declared(tmp_path, split=split)


CELLS = st.one_of(
    st.integers(-50, 50).map(str),
    st.floats(allow_nan=False, allow_infinity=False, width=32).map(str),
    st.sampled_from(
        [
            "",
            "NA",
            "?",
            "red",
            "green",
            "a longer text, really",
            "2020-01-31",
            "0",
            "None",
            "Infinity",
        ]
    ),
)


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=6)
    )
)
@example([["3.4000001549684603e+38"]] + [["1.5"]] * 5)  # nearly the largest number of 32 bits
def test_any_table_satisfies_the_schema_inferred_from_it(
    tmp_path: Path, rows: list[list[str]]
) -> None:
    frame = pd.DataFrame(rows, columns=[f"c{i}" for i in range(len(rows[0]))]).assign(
        extra=range(7, 7 + len(rows))
    )
    frame["y"] = [i % 2 for i in range(len(rows))]
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    table = read_table(path)
    made = declare(table, infer_table(table, target="y").columns)
    assert match(made.schema_in, made.schema_in) is not None
    for part in made.frames.values():
        for name, node in made.schema_in.columns.items():
            assert node.optional or part[name].notna().all()
    parsed = parse_rows(path.read_bytes(), "text/csv", made.schema_in, made.schema_out)
    assert parsed.notes == []
    whole = pd.concat(made.frames.values()).sort_values("_row").reset_index(drop=True)
    pd.testing.assert_frame_equal(
        parsed.frame, whole[list(parsed.frame.columns)], check_column_type=False
    )


@pytest.mark.parametrize(
    ("column", "kind"), [("age", "timestamp"), ("job", "number"), ("job", "timestamp")]
)
def test_a_type_that_no_value_has_is_refused_with_the_first_look(column: str, kind: str) -> None:
    texts = {"age": ["67", "22", "49"], "job": ["cook", "clerk", "cook"], "y": ["a", "b", "a"]}
    reports = infer_table(pa.table(texts)).columns
    with pytest.raises(DatasetError, match=f"no {kind}s, such as"):
        declare_columns(reports, "y", set={column: kind})


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["20240131", "20240201", "20231224"], "timestamp"),
        (["31.12.2023", "01.01.2024", "24.12.2022"], "timestamp"),
        (["1,200", "3,400", "5,600"], "number"),
        (["$ 1.50", "$ 2.75", "$ 3.10"], "number"),
        (["7", "8", "9"], "text"),
    ],
)
def test_a_type_that_values_may_have_can_be_set(texts: list[str], kind: str) -> None:
    reports = infer_table(pa.table({"x": texts * 4, "y": ["a", "b", "a"] * 4})).columns
    assert declare_columns(reports, "y", set={"x": kind}, keep=["x"]).target == "y"


def test_a_single_value_that_is_not_of_the_type_is_named_with_its_row(tmp_path: Path) -> None:
    texts = [*map(str, range(40)), "about forty", *map(str, range(41, 60))]
    table = pa.table({"x": texts, "y": ["a", "b"] * 30})
    reports = infer_table(table).columns
    with pytest.raises(DatasetError, match=r"column 'x', row 40 .*'about forty' is not a number"):
        declare(table, reports, "y", set={"x": "number"}, keep=["x"])


@pytest.mark.parametrize("cell", ["1e39", "-4e38"])
def test_a_target_that_no_model_can_compute_with_is_refused_with_its_row(
    tmp_path: Path, cell: str
) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{row % 7},{row * 1.5}" for row in range(60)]
    path.write_text("\n".join(["x,y", *rows[:40], f"1,{cell}", *rows[40:]]))
    table = read_table(path)
    with pytest.raises(DatasetError, match=f"'{cell}' is too large to be learned") as caught:
        declare(table, infer_table(table, "y").columns, "y")
    assert caught.value.where.startswith("column 'y', row 40 ")
    path.write_text("\n".join(["x,y", *rows, "1,3.4e38"]))
    table = read_table(path)
    declare(table, infer_table(table, "y").columns, "y")


def test_a_column_that_is_left_out_is_told_so_and_not_by_its_type(tmp_path: Path) -> None:
    made = declared(tmp_path, target="age", drop=["story"])
    assert "Column 'story' is not used. You left it out." in made.notes
