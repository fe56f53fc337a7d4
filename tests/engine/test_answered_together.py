"""Requests that wait for the same model are predicted by one call, and each gets its own answer;
how JSON is read and written on the way.
"""

import json
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from easeml.data import ColumnTable, object_array, parse_rows
from easeml.engine.serving import answers
from easeml.engine.serving.answers import Answer, Request, Served, answer_each, dumps, loads
from easeml.engine.serving.child import answer
from easeml.engine.serving.frames import encode, receive_frame
from easeml.modules import Predictions, known_rows
from easeml.modules.pipeline import TrainedPipeline, fit, load_trained, save
from easeml.schema import Schema

IN: dict[str, Any] = {"nodes": {"size": {"singleton": True, "type": "tensor", "dim": [1]}}}
IN["nodes"]["kind"] = {"singleton": True, "type": "category", "class": "kinds"}
IN["classes"] = {"kinds": {"dim": 2, "labels": ["a", "b"]}}
OUT: dict[str, Any] = {"nodes": {"y": {"singleton": True, "type": "category", "class": "ys"}}}
OUT["classes"] = {"ys": {"dim": 2, "labels": ["n", "p"]}}
PIPELINE = {"transforms": [{"module": "table-onehot"}], "model": {"module": "logistic"}}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a trained model."""
    random = np.random.default_rng(0)
    size = random.normal(size=60)
    frame = pd.DataFrame(
        {
            "size": size,
            "kind": pd.Categorical(random.choice(["a", "b"], 60), ["a", "b"]),
            "y": pd.Categorical(np.where(size > 0, "p", "n"), ["n", "p"]),
        }
    )
    folder = tmp_path_factory.mktemp("model") / "model"
    save(fit(PIPELINE, frame, IN, OUT), folder, objective="accuracy")
    known_rows.write(folder, frame, "y", IN)
    return folder


class Counting:
    """A model that counts its calls, and breaks on numbers above a bound."""

    def __init__(self, trained: TrainedPipeline, breaks_above: float = np.inf):
        self._trained = trained
        self._bound = breaks_above
        self.calls: list[int] = []
        self.manifest = trained.manifest
        self.past = trained.past

    def predict(self, table: ColumnTable) -> Predictions:
        self.calls.append(len(table))
        if (table["size"] > self._bound).any():
            raise ZeroDivisionError
        return self._trained.predict(table)


def served(folder: Path, breaks_above: float = np.inf) -> tuple[Served, Counting]:
    counting = Counting(load_trained(folder), breaks_above)
    schemas = Schema.from_json(IN), Schema.from_json(OUT)
    known = known_rows.read(folder)
    return Served("m", "model", "accuracy", counting, *schemas, known), counting  # pyright: ignore[reportArgumentType]


def asked(*rows: dict[str, Any]) -> Request:
    return Request("application/json", json.dumps({"rows": rows}).encode())


def test_what_waits_together_is_predicted_by_one_call_and_answered_as_alone(model: Path):
    requests = [
        asked({"size": 1.0, "kind": "a"}),
        asked({"size": -2.0, "kind": "b"}, {"size": 0.5, "kind": "new"}),
        Request("text/csv", b"size,kind,y\n-1.5,a,n\n"),
        asked({"size": 1e9, "kind": "a"}),
    ]
    one, counting = served(model)
    together = answer_each(one, requests)
    assert counting.calls == [5]
    alone = [answer_each(one, [request])[0] for request in requests]
    for shared, own in zip(map(read, together), map(read, alone), strict=True):
        probabilities = zip(shared.pop("probabilities"), own.pop("probabilities"), strict=True)
        assert all(row == pytest.approx(other, abs=1e-12) for row, other in probabilities)
        assert shared == own
    notes = [read(answer)["notes"] for answer in together]
    assert [len(said) for said in notes] == [0, 1, 0, 1]
    assert read(together[2])["quality"]["rows"] == 1


def test_a_bad_request_is_refused_alone(model: Path):
    one, counting = served(model)
    requests = [asked({"size": "x", "kind": "a"}), asked({"size": 1.0, "kind": "a"})]
    requests += [Request("image/png", b"no picture"), asked({"size": 2.0, "kind": "b"})]
    found = answer_each(one, requests)
    assert [answer.status for answer in found] == [422, 200, 422, 200]
    assert "column 'size'" in read(found[0])["where"]
    assert counting.calls == [2]


def test_rows_that_break_the_model_break_the_answer_to_their_sender_alone(model: Path):
    one, counting = served(model, breaks_above=10.0)
    requests = [asked({"size": size, "kind": "a"}) for size in (1.0, 11.0, 2.0)]
    found = answer_each(one, requests)
    assert [answer.status for answer in found] == [200, 500, 200]
    assert "ZeroDivisionError" in read(found[1])["detail"]
    assert counting.calls == [3, 1, 1, 1]


def test_too_little_memory_for_all_is_enough_for_each(model: Path, monkeypatch: pytest.MonkeyPatch):
    def joined(tables: object) -> ColumnTable:
        raise MemoryError

    monkeypatch.setattr(answers.ColumnTable, "joined", joined)
    one, _ = served(model)
    found = answer_each(one, [asked({"size": 1.0, "kind": "a"})] * 2)
    assert [answer.status for answer in found] == [200, 200]


def test_a_child_answers_what_came_while_it_was_busy(model: Path, monkeypatch: pytest.MonkeyPatch):
    """Over real sockets: a first request is held back in the model until others have come."""
    has_begun, may_end = threading.Event(), threading.Event()
    held_back = row(0)
    groups: list[int] = []

    def answer_slowly(served: Served, requests: list[Request]) -> list[Answer]:
        groups.append(len(requests))
        if requests[0] == asked(held_back):
            has_begun.set()
            may_end.wait(10)
        return answer_each(served, requests)

    monkeypatch.setattr("easeml.engine.serving.child.answer_each", answer_slowly)
    ours, control = socket.socketpair()
    handing, handed = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    threading.Thread(target=answer, args=(control, handed), daemon=True).start()
    load = {"id": 1, "do": "load", "model_id": "m", "name": "m", "objective": "accuracy"}
    of_model = {"folder": str(model), "objective_source": "", "environments": {}}
    ours.sendall(encode({**load, **of_model}))
    assert receive_frame(ours)[0] == {"id": 1, "error": ""}
    assign = {"do": "serve", "application": "app", "model_id": "m", "challenger_id": "", "share": 0}
    ours.sendall(encode({"id": 2, **assign}))
    assert receive_frame(ours)[0] == {"id": 2, "error": ""}

    callers = [caller(handing) for _ in range(4)]
    for ask in callers:
        ask.sendall(encode({"content_type": "application/json"}, asked(row(5)).body))
        assert receive_frame(ask)[0] == {"status": 200}
    groups.clear()
    for size, ask in enumerate(callers):
        ask.sendall(encode({"content_type": "application/json"}, asked(row(size)).body))
        if size == 0:
            assert has_begun.wait(10)
    may_end.set()
    found = [receive_frame(ask) for ask in callers]
    assert [head["status"] for head, _ in found] == [200] * 4
    one, _ = served(model)
    for size, (_, reply) in enumerate(found):
        alone = read(answer_each(one, [asked(row(size))])[0])
        found_row, row_alone = json.loads(reply)["probabilities"][0], alone["probabilities"][0]
        assert found_row == pytest.approx(row_alone, abs=1e-12)
    assert groups == [1, 3]
    ours.close()


def test_columns_of_every_kind_are_joined():
    times = pd.array(np.array(["2020-01-01", "NaT"], dtype="datetime64[us]"))
    kinds = pd.Categorical.from_codes([0, -1], ["a", "b"])
    words = pd.array(["x", None], dtype="str")
    made: Callable[..., ColumnTable] = lambda: ColumnTable(  # noqa: E731
        {
            "number": np.array([1.0, np.nan]),
            "time": times,
            "kind": kinds,
            "word": words,
            "cell": object_array([b"1", b"2"]),
        },
        2,
    )
    joined = ColumnTable.joined([made(), made(), made()])
    assert len(joined) == 6
    for name, column in made().columns.items():
        assert type(joined[name]) is type(column)
        assert joined[name].dtype == column.dtype
        pd.testing.assert_series_equal(
            pd.Series(joined[name]), pd.Series(pd.concat([pd.Series(column)] * 3).array)
        )


def test_numbers_that_were_read_at_once_are_given_as_one_array(model: Path):
    trained = load_trained(model)
    schema_in, schema_out = Schema.from_json(IN), Schema.from_json(OUT)
    schema_in = Schema.from_json({**IN, "nodes": {**IN["nodes"], "weight": IN["nodes"]["size"]}})
    rows = [{"size": 1, "kind": "a", "weight": 0.5}, {"size": -2.5, "kind": "b", "weight": 3}]

    def read(part: list[dict[str, Any]]) -> ColumnTable:
        return parse_rows(json.dumps(part).encode(), "", schema_in, schema_out).table

    together = read(rows)
    for table in (together, ColumnTable.joined([read(rows[:1]), read(rows[1:])])):
        chosen = table.numbers_of(("weight", "size"))
        assert chosen is not None
        assert chosen.tolist() == [[0.5, 1.0], [3.0, -2.5]]
        chosen[:] = 0  # a model may write into what it is given
        assert table["size"].tolist() == [1.0, -2.5]
        assert table.numbers_of(("size", "kind")) is None
        plain = ColumnTable(dict(table.columns), len(table))
        assert plain.numbers_of(("size",)) is None
        np.testing.assert_array_equal(
            trained.predict(table).probabilities, trained.predict(plain).probabilities
        )
    text = read([{**rows[0], "size": "1"}])  # then it is looked what each cell says
    assert text.numbers_of(("size",)) is None
    joined = ColumnTable.joined([text, together])
    assert joined.numbers_of(("size",)) is None
    assert joined["size"].tolist() == [1.0, 1.0, -2.5]


@given(
    st.binary(max_size=12)
    | st.text('{}[]",:0123456789.eE+-truefalsnINy \\u/\n\td8').map(str.encode)
)
@example(b'"\\ud800"')
@example('{"a": 1e400, "a": -0.0}'.encode("utf-16"))
@example(b"1" * 5000)
@example(b"[" * 300 + b"]" * 300)
@example(b"[" * 100_000)
def test_any_bytes_are_json_as_for_the_standard_library(body: bytes):
    """NaN is unlike itself, so what was read is compared as it is written."""

    def read(reader: Callable[[bytes], Any]) -> str:
        try:
            return repr(reader(body))
        except (ValueError, RecursionError) as error:
            return type(error).__name__

    assert read(loads) == read(json.loads)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.text(), part),
    max_leaves=8,
)


@given(_JSON, st.booleans())
def test_any_json_is_read_as_by_the_standard_library(value: Any, is_ascii: bool):
    body = json.dumps(value, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    assert repr(loads(body)) == repr(value)


def test_the_name_of_a_file_that_is_not_unicode_is_told_all_the_same():
    told = {"names": ["\udcff.png", "é.png"], "lower": [float("inf"), -0.0]}
    assert json.loads(dumps(told)) == told
    assert json.loads(dumps({"lower": told["lower"]})) == {"lower": told["lower"]}


def caller(handing: socket.socket) -> socket.socket:
    """A connection that was handed to the child."""
    mine, theirs = socket.socketpair()
    socket.send_fds(handing, [b"app"], [theirs.fileno()])
    theirs.close()
    return mine


def row(size: float) -> dict[str, Any]:
    return {"size": size, "kind": "b"}


def read(answer: Answer) -> dict[str, Any]:
    return json.loads(answer.content)
