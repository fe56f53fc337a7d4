"""Nothing is lost on the way to pandas, Polars, Arrow and files, and back."""

from pathlib import Path

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from pandas.testing import assert_frame_equal

from easeml.errors import Damaged, InvalidInput, NotFound
from easeml.relation import Candidate, Relation, RowCandidates, Source
from relation.worlds import Doubtful, doubtful


def every_type() -> pd.DataFrame:
    """A frame with a column of each type that tables have."""
    return pd.DataFrame(
        {
            "number": [1.5, np.nan, -0.0],
            "whole": [1, 2, 3],
            "whole or missing": pd.array([1, None, 3], dtype="Int64"),
            "truth": [True, False, True],
            "text": pd.array(["a", None, "ä"], dtype="str"),
            "object": np.array(["x", None, "z"], dtype=object),
            "nothing": np.array([None, None, None], dtype=object),
            "category": pd.Categorical(["b", "a", None], categories=["b", "a", "unused"]),
            "grade": pd.Categorical(["low", "high", "low"], ["low", "high"], ordered=True),
            "time": pd.to_datetime(["2026-01-01", None, "2026-03-01"], utc=True),
            "picture": [b"\x89PNG", b"", b"\x00"],
            "vector": [np.array([1.0, 2.0]), np.array([]), np.array([3.0])],
        },
        index=pd.Index(["one", "two", "three"], name="id"),
    )


def test_a_frame_comes_back_as_it_was():
    assert_frame_equal(Relation.from_frame(every_type()).to_frame(), every_type())


def test_a_frame_comes_back_from_a_file(tmp_path: Path):
    relation = Relation.from_frame(every_type(), "grade", ["train", "test", "pool"])
    relation.save(tmp_path / "rows.parquet")
    loaded = Relation.load(tmp_path / "rows.parquet")
    assert_frame_equal(loaded.to_frame(), every_type())
    assert (loaded.target, loaded.roles) == ("grade", ["train", "test", "pool"])
    assert not (tmp_path / "rows.candidates.parquet").exists()
    assert pq.read_table(tmp_path / "rows.parquet").num_rows == 3


@settings(max_examples=40)
@given(found=doubtful())
def test_doubts_come_back_from_a_file(found: Doubtful, tmp_path_factory: pytest.TempPathFactory):
    relation = found.relation()
    path = tmp_path_factory.mktemp("relations") / "rows.parquet"
    relation.save(path)
    loaded = Relation.load(path)
    assert_frame_equal(loaded.candidates(), relation.candidates())
    assert_frame_equal(loaded.to_frame(), relation.to_frame())
    assert loaded.sum("x").distribution == relation.sum("x").distribution


def test_sources_and_candidates_of_all_types_come_back(tmp_path: Path):
    relation = Relation.from_frame(every_type())
    cells = {
        "text": {"b": 0.5, None: 0.5},
        "nothing": {"something": 1.0},
        "category": {"new": 0.75, "a": 0.25},
        "time": {pd.Timestamp("2026-02-01", tz="UTC"): 1.0},
        "picture": {b"1": 0.5, b"2": 0.5},
        "whole or missing": {7: 1.0},
    }
    for column, weights in cells.items():
        relation = relation.with_candidates("two", column, weights, Source("mean", "2", 7))
    relation.save(tmp_path / "rows.parquet")
    loaded = Relation.load(tmp_path / "rows.parquet")
    assert loaded.content.sources == (Source("mean", "2", 7),)
    assert set(loaded.candidates()["tool"]) == {"mean"}
    assert_frame_equal(loaded.candidates(), relation.candidates())
    shown = loaded.to_frame().loc["two"]
    assert (shown["nothing"], shown["category"], shown["whole or missing"]) == (
        "something",
        "new",
        7,
    )
    assert shown["time"] == pd.Timestamp("2026-02-01", tz="UTC")


def test_arrow_tables_and_other_frames_are_taken(tmp_path: Path):
    table = pa.table({"x": [1, 2], "s": ["a", None]})
    assert Relation.from_frame(table).to_arrow() == table

    class Frame:
        """What Polars offers."""

        def to_arrow(self) -> pa.Table:
            return table

    assert Relation.from_frame(Frame()).to_arrow() == table
    with pytest.raises(InvalidInput, match="list is not a table"):
        Relation.from_frame([1, 2])


def test_polars_frames_come_back():
    frame = polars.DataFrame({"x": [1, None], "s": ["a", "b"]})
    assert Relation.from_frame(frame).to_polars().equals(frame)


def test_rows_that_do_not_exist_in_the_likeliest_world_are_not_shown():
    relation = Relation.from_frame(pd.DataFrame({"x": [1, 2]}, index=[5, 6]))
    shown = relation.with_optional(5, 0.25).to_frame()
    assert shown.index.tolist() == [6]


def test_halves_of_different_relations_are_not_taken_for_one(tmp_path: Path):
    plain = Relation.from_frame(pd.DataFrame({"x": [1, 2]}))
    plain.with_candidates(0, "x", {1: 0.5, 3: 0.5}).save(tmp_path / "a.parquet")
    plain.with_candidates(0, "x", {1: 0.5, 4: 0.5}).save(tmp_path / "b.parquet")
    beside = tmp_path / "a.candidates.parquet"
    beside.write_bytes((tmp_path / "b.candidates.parquet").read_bytes())
    with pytest.raises(Damaged, match="another relation"):
        Relation.load(tmp_path / "a.parquet")
    beside.unlink()
    with pytest.raises(Damaged, match="missing"):
        Relation.load(tmp_path / "a.parquet")


def test_files_that_are_none_are_refused(tmp_path: Path):
    with pytest.raises(NotFound):
        Relation.load(tmp_path / "none.parquet")
    (tmp_path / "text.parquet").write_text("x")
    with pytest.raises(InvalidInput, match="not a Parquet file"):
        Relation.load(tmp_path / "text.parquet")


def test_frames_that_are_no_relations_are_refused():
    with pytest.raises(InvalidInput, match="index"):
        Relation.from_frame(pd.DataFrame({"x": [1, 2]}, index=[0, 0]))
    with pytest.raises(InvalidInput, match="two columns"):
        Relation.from_frame(pd.DataFrame([[1, 2]], columns=["x", "x"]))
    with pytest.raises(InvalidInput, match="no type"):
        Relation.from_frame(pd.DataFrame({"x": [1, "a"]}))
    with pytest.raises(InvalidInput, match="no such column"):
        Relation.from_frame(pd.DataFrame({"x": [1]}), target="y")
    with pytest.raises(InvalidInput, match="'learn' is not a role"):
        Relation.from_frame(pd.DataFrame({"x": [1]}), roles=["learn"])
    with pytest.raises(InvalidInput, match="1 rows have 2 roles"):
        Relation.from_frame(pd.DataFrame({"x": [1]}), roles=["test", "test"])


def test_cells_that_vary_together_are_told_together():
    relation = Relation.from_frame(pd.DataFrame({"city": ["Bern"], "zip": ["8001"]}))
    together = [Candidate({"city": "Bern", "zip": "3011"}, 0.5)]
    together.append(Candidate({"city": "Zürich", "zip": "8001"}, 0.5))
    relation = relation.with_all([RowCandidates(0, together)])
    assert relation.count("city == 'Bern' and zip == '8001'").distribution == {0.0: 1.0}
    with pytest.raises(InvalidInput, match="vary together"):
        relation.with_candidates(0, "zip", {"3011": 1.0})
    with pytest.raises(InvalidInput, match="different columns"):
        relation.with_all([RowCandidates(0, [together[0], Candidate({"zip": "1"}, 0.5)])])
