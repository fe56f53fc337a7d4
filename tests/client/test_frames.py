"""Tables in memory as they travel: what is one, its parts, and the answer in its own form."""

import json

import numpy as np
import pandas as pd
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from easeml.client import frames
from easeml.contract.applications import Prediction
from easeml.errors import InvalidInput

FRAME = pd.DataFrame(
    {
        "age": [30.0, None, 51.0],
        "city": pd.Categorical(["Basel", "Zug", None]),
        "seen": pd.to_datetime(["2024-01-01", None, "2024-03-05"]),
        "member": [True, False, True],
    },
    index=["a", "b", "c"],
)


class Polished:
    """Like a frame of Polars: all that is known of it is that it gives an Arrow stream."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return pa.table({"x": [1, 2]}).__arrow_c_stream__()


def answer(rows: int) -> Prediction:
    return Prediction(
        model_id="mod_1",
        model_name="forest",
        predictions=["yes"] * rows,
        probabilities=[{"no": 0.25, "yes": 0.75}] * rows,
    )


def test_what_a_frame_is():
    for one in (FRAME, pa.table({"x": [1]}), np.zeros((2, 2)), Polished()):
        assert frames.is_frame(one)
    for other in ([{"x": 1}], "table.csv", None, {"x": [1]}):
        assert not frames.is_frame(other)


def test_types_and_gaps_survive(tmp_path):
    frames.write_parquet(FRAME, tmp_path / "table.parquet")
    table = pq.read_table(tmp_path / "table.parquet")
    assert table.column_names == ["age", "city", "seen", "member"]
    assert [column.null_count for column in table.columns] == [1, 1, 1, 0]
    assert pa.types.is_timestamp(table.schema.field("seen").type)
    assert frames.to_arrow(Polished()).to_pylist() == [{"x": 1}, {"x": 2}]
    assert frames.to_arrow(np.arange(6).reshape(3, 2)).to_pydict() == {
        "x0": [0, 2, 4],
        "x1": [1, 3, 5],
    }


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros(3), "1 dimensions"),
        (pd.DataFrame({"x": [1, "one", {}]}), "cannot be sent"),
    ],
)
def test_what_cannot_travel_is_refused(data, message):
    with pytest.raises(InvalidInput, match=message):
        frames.to_arrow(data)


def test_long_tables_travel_in_parts(monkeypatch):
    monkeypatch.setattr(frames, "ROWS_AT_ONCE", 4)
    table = pa.table({"x": list(range(10))})
    parts = list(frames.parts_of(table))
    assert [start for start, _ in parts] == [0, 4, 8]
    read = [pa.ipc.open_stream(body).read_all() for _, body in parts]
    assert pa.concat_tables(read).equals(table)
    assert len(list(frames.parts_of(table.slice(0, 0)))) == 1


def test_answers_come_in_the_form_of_the_question():
    found = frames.like(FRAME, [answer(2), answer(1)])
    assert found.index.tolist() == ["a", "b", "c"]
    assert list(found) == ["prediction", "probability_no", "probability_yes"]
    assert found["probability_yes"].tolist() == [0.75] * 3
    assert frames.like(np.zeros((3, 2)), [answer(3)]).index.tolist() == [0, 1, 2]
    table = frames.like(Polished(), [answer(2)])
    assert isinstance(table, pa.Table)
    assert table.num_rows == 2


def test_what_is_said_of_an_answer_comes_with_it():
    told = answer(2).model_copy(update={"notes": ["one row is known"]})
    assert frames.like(FRAME, [told, answer(1)]).attrs == {"notes": ["one row is known"]}
    table = frames.like(Polished(), [told])
    assert json.loads(table.schema.metadata[b"notes"]) == ["one row is known"]


def test_frames_of_polars_are_answered_with_such():
    asked = polars.DataFrame({"x": [1.0, 2.0]})
    told = answer(2).model_copy(update={"notes": ["one row is known"]})
    with pytest.warns(UserWarning, match="one row is known"):
        found = frames.like(asked, [told])
    assert isinstance(found, polars.DataFrame)
    assert found.columns == ["prediction", "probability_no", "probability_yes"]
