"""Columns computed by SQL: a function of the row, in every world, and nothing else."""

import datetime
import math
import subprocess
import sys
from contextlib import closing
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.lineage import StagedRelation
from easeml.relation import Relation
from easeml.relation.row_sql import mentioned, row_sql
from easeml.sqlite import driver
from relation.worlds import ANSWERS, Doubtful, agree, doubtful, known, probabilities

SQL = 'CASE WHEN "x" > y THEN x * 2 ELSE y - x END'
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")


def computed(sql: str, /, **columns: list) -> list:
    """Return what SQL gives for rows of some columns."""
    table = pa.table(columns) if columns else pa.table({"n": [1, 2]})
    return Relation.from_frame(table).with_column("made", sql=sql).to_arrow()["made"].to_pylist()


def chosen(row: dict) -> float | None:
    if row["x"] is None:
        return None
    return row["x"] * 2 if row["x"] > row["y"] else row["y"] - row["x"]


@settings(max_examples=50)
@given(doubtful())
def test_a_column_of_uncertain_cells_is_uncertain_as_in_all_worlds(found: Doubtful):
    made = found.relation().with_column("z", sql=SQL)
    worlds = []
    for weight, rows in found.worlds():
        worlds.append((weight, [{**row, "z": chosen(row)} for row in rows]))
    for name, answer in ANSWERS.items():
        expected = probabilities(worlds, lambda rows: answer(known(rows, "z")))  # noqa: B023
        agree(getattr(made, name)("z"), expected)


@settings(max_examples=30)
@given(doubtful(), st.sampled_from(["x", "y", "z"]))
def test_a_graph_with_sql_gives_the_same_planned_and_plain(found: Doubtful, read: str):
    staged = StagedRelation(found.relation().content)
    asked = staged.with_column("z", sql="y / 2").with_column("w", sql=SQL).filter(f"{read} > 1")
    asked = asked.select(["z", "w"])
    plain = found.relation().with_column("z", sql="y / 2").with_column("w", sql=SQL)
    plain = plain.filter(f"{read} > 1").select(["z", "w"])
    assert asked.to_arrow().equals(plain.to_arrow())
    for column in ("z", "w"):
        assert asked.sum(column).distribution == plain.sum(column).distribution


@settings(max_examples=100)
@given(st.lists(st.text(LETTERS, min_size=1, max_size=8), min_size=1, max_size=5, unique=True))
@example(['we"ird', "order", "sélect", "SÉLECT", "--", "a b", "c0", "c1", "rowid"])
@example(["price", "Price"])
def test_any_name_can_be_read_unless_it_differs_by_case_only(names: list[str]):
    columns = {name: [number, 7] for number, name in enumerate(names)}
    for number, name in enumerate(names):
        sql = '"' + name.replace('"', '""') + '" + 1'
        alike = [other for other in names if other.encode().lower() == name.encode().lower()]
        assert name in mentioned(sql, names)
        if len(alike) > 1:
            with pytest.raises(InvalidInput, match="one name in SQL"):
                computed(sql, **columns)
        else:
            assert computed(sql, **columns) == [number + 1, 8]


@settings(max_examples=200)
@given(st.text(st.sampled_from("ab1'\"`[]()-+*/,;. \nxn\0é") | LETTERS, max_size=30))
@example("n) STORED, evil AS (n")
@example("n); DROP TABLE cells; --")
@example("n /* )")
@example("n -- )")
@example("')'")
@example('")"')
@example("\ud800")
def test_any_text_gives_a_value_a_row_or_is_refused(text: str):
    columns = {"n": pa.array([1, 2, 3]), "a": pa.array(["x", None, "1"])}
    try:
        parsed = row_sql(text, ["n", "a"])
        values = parsed.evaluate(columns, 3)
    except InvalidInput as error:
        assert error.where
        assert error.remedy
        return
    assert len(values) == 3
    # What was taken is one expression: the library, asked of each row alone, says the same.
    with closing(driver.connect(":memory:")) as link:
        link.execute("CREATE TABLE cells (n, a)")
        for row in range(3):
            link.execute("DELETE FROM cells")
            cells = [columns["n"][row].as_py(), columns["a"][row].as_py()]
            link.execute("INSERT INTO cells VALUES (?, ?)", cells)
            asked = f"SELECT (\n{text}\n), 'end' FROM cells"
            (value, end), *more = link.execute(asked).fetchall()
            assert (end, more) == ("end", [])
            assert values[row].as_py() == value


@pytest.mark.parametrize(
    "sql",
    [
        "random()",
        "randomblob(3)",
        "date('now')",
        "datetime()",
        "current_timestamp",
        "strftime('%s', 'now')",
        "date('2024-01-01', 'localtime')",
        "(SELECT 1)",
        "n IN (SELECT 1)",
        "EXISTS (SELECT 1)",
        "sum(n)",
        "max(n)",
        "count(*)",
        "row_number() OVER ()",
        "rowid",
        "changes()",
        "sqlite_version()",
        "load_extension('x')",
        "readfile('/etc/passwd')",
        "sqlite_log(1, 'x')",
        "zeroblob(1000000000)",
        "?",
        ":name",
        "1; ATTACH 'x.db' AS x",
        "n, n",
        "*",
        "",
        "n AS m",
        '"text"',
        "absent",
        "[" * 100_000,
        '"n' * 40_000,
        "n + " + "(" * 40_000,
        "'" * 99_999,
        "-" * 100_001 + "\n1",
        "+".join(["1"] * 2000),
        "(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000000)"
        " SELECT max(x) FROM c)",
        "abs(-9223372036854775808)",
        "CAST(x'ff' AS TEXT)",
    ],
)
def test_what_is_no_function_of_the_row_is_refused(sql: str):
    with pytest.raises(InvalidInput) as found:
        computed(sql)
    assert found.value.remedy


def test_a_column_that_decides_nothing_is_not_read():
    assert computed("n AND 0", n=[1, None]) == [0, 0]
    relation = Relation.from_frame(pd.DataFrame({"n": [1, 2]}))
    relation = relation.with_candidates(0, "n", {1: 0.5, 3: 0.5})
    assert relation.with_column("m", sql="n AND 0").select(["m"]).entropy() == 0


def test_a_list_of_many_cases_is_read():
    sql = "CASE n " + "".join(f"WHEN {number} THEN 'number {number}' " for number in range(2500))
    assert computed(f"{sql}END") == ["number 1", "number 2"]


def test_cells_come_as_sqlite_has_them():
    when = [
        datetime.datetime(2024, 5, 31, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    ]
    assert computed("strftime('%Y-%W', d)", d=[datetime.date(2024, 5, 31)]) == ["2024-22"]
    assert computed("d", d=pa.array(when, pa.timestamp("us", "Europe/Zurich"))) == [
        "2024-05-31 10:00:00"
    ]
    assert computed("n", n=pa.array([datetime.timedelta(minutes=2)])) == [120.0]
    assert computed("n / 2", n=pa.array([Decimal("3.00"), None])) == [1.5, None]
    assert computed("n", n=pa.array([math.nan, math.inf, -math.inf, None])) == [
        None,
        math.inf,
        -math.inf,
        None,
    ]
    assert computed("n", n=pa.array(["b", "a", "b"]).dictionary_encode()) == ["b", "a", "b"]
    assert computed("n AND 1", n=[True, False, None]) == [1, 0, None]
    assert computed("n", n=[b"\x00\xff"]) == [b"\x00\xff"]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([10**12], pa.timestamp("s")),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        pa.array([b"ab"], pa.binary(2)),
        pa.array([{"x": 1}]),
    ],
)
def test_cells_that_sqlite_has_no_form_for_are_refused_with_the_column(cells: pa.Array):
    with pytest.raises(InvalidInput) as found:
        row_sql("n", ["n"]).evaluate({"n": cells}, 1)
    assert found.value.where == "column 'n'"


def test_text_that_looks_like_numbers_stays_text():
    assert computed("n", n=["007", "1e3", " 1", None]) == ["007", "1e3", " 1", None]
    assert computed("n = 7", n=["7"]) == [0]
    assert computed("n + 0", n=["007", "1.5"]) == [7.0, 1.5]


def test_whole_numbers_keep_their_digits_or_are_refused():
    largest = 2**63 - 1
    assert computed("n", n=[largest, -largest - 1]) == [largest, -largest - 1]
    assert computed("n + 1", n=[largest]) == [float(largest)]
    with pytest.raises(InvalidInput, match="cannot read"):
        computed("n", n=pa.array([2**64 - 1], pa.uint64()))
    with pytest.raises(InvalidInput, match="cannot read"):
        computed("n", n=pa.array([Decimal(2**70)], pa.decimal128(38, 0)))
    with pytest.raises(InvalidInput, match="loses digits"):
        computed("CASE n WHEN 1 THEN 9007199254740993 ELSE 0.5 END", n=[1, 2])


def test_a_division_by_zero_is_missing():
    assert computed("n / 0", n=[1]) == [None]
    assert computed("n % 0", n=[1.5]) == [None]
    assert computed("n / 2", n=[3, 4]) == [1, 2]


def test_types_have_to_agree_in_all_rows_and_candidates():
    with pytest.raises(InvalidInput, match="numbers in some rows and text in others"):
        computed("CASE n WHEN 1 THEN 'one' ELSE n END", n=[1, 2])
    relation = Relation.from_frame(pd.DataFrame({"n": [1, 2]}))
    relation = relation.with_candidates(0, "n", {1: 0.5, 3: 0.5})
    with pytest.raises(InvalidInput, match="numbers in some rows and text in others"):
        relation.with_column("m", sql="CASE n WHEN 3 THEN 'three' ELSE n END")
    halves = relation.with_column("m", sql="CASE n WHEN 3 THEN 1.5 ELSE n END")
    assert halves.sum("m").distribution == {3.0: 0.5, 3.5: 0.5}


def test_what_a_list_of_some_numbers_holds_is_not_read():
    with pytest.raises(InvalidInput, match="cannot read"):
        computed("n", n=[[1, 2], [3]])
    assert computed("m", n=[[1, 2], [3]], m=[1, 2]) == [1, 2]


def test_tables_of_more_columns_than_sqlite_has_are_read():
    wide = {f"column {number}": [number] for number in range(3000)}
    assert computed('"column 2999" + "column 1"', **wide) == [3000]


def test_rows_keep_their_order_over_many_batches():
    numbers = np.arange(5001)
    assert computed("rowid * 2", rowid=numbers.tolist()) == (numbers * 2).tolist()


@pytest.mark.parametrize("given_both", [{}, {"formula": "n", "sql": "n"}])
def test_a_column_has_one_of_formula_and_sql(given_both: dict):
    relation = Relation.from_frame(pd.DataFrame({"n": [1]}))
    with pytest.raises(InvalidInput, match="by a formula or by SQL"):
        relation.with_column("m", **given_both)


def test_an_expression_that_takes_very_much_memory_is_refused():
    # Run apart: the library's limit stays with its process.
    program = """
from easeml import Relation
from easeml.relation import row_sql
row_sql._HEAP = 64 << 20
import pyarrow as pa
relation = Relation.from_frame(pa.table({"a": ["x" * 10_000]}))
relation.with_column("long", sql="replace(replace(a, 'x', a), 'x', a)").eval()
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert "it needs too much memory" in ended.stderr
