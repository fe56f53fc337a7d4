"""What is seen of columns: also of texts, pictures and arrays, and alike of old and new rows."""

import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from easeml.lifecycle import monitoring
from easeml.lifecycle.monitoring import columns
from easeml.lifecycle.monitoring.columns import Cells, Levels, Numbers, Prose
from easeml.lifecycle.monitoring.drift import covariate_test
from easeml.lifecycle.monitoring.features import Encoder
from easeml.lifecycle.monitoring.labels import Labelled

WORDS = np.array([f"word{number}" for number in range(3_000)])
texts = st.lists(st.text("ab cd ä字1", max_size=12), min_size=3, max_size=12)


def prose(rows: int, seed: int, shift: int = 0) -> pd.Series:
    """Texts of words of which few are frequent (Zipf); ``shift``: by so many words others."""
    random = np.random.default_rng(seed)
    written = []
    for length in random.integers(3, 20, rows):
        ranks = np.minimum(random.zipf(1.3, length), 2_000) + shift
        written.append(" ".join(WORDS[ranks % len(WORDS)]))
    return pd.Series(written)


def column_of(values: list) -> Prose:
    column = columns.learn("text", pd.Series(values, dtype=object))
    assert isinstance(column, Prose)
    return column


def share_unknown(text: str, others: list[str]) -> float:
    """Return the share of the words of a text that no other has."""
    known = set()
    for other in others:
        known |= set(columns._words(other))
    own = set(columns._words(text))
    return len(own - known) / max(len(own), 1)


@given(texts, texts)
def test_a_word_is_known_by_other_texts_of_reference_and_new_rows_alike(
    reference: list[str], new: list[str]
) -> None:
    column = columns._prose("text", pd.Series(reference, dtype=object))
    place = column.features.index("text: unknown words")
    seen = column.encode(pd.Series(reference, dtype=object), are_reference=True)[:, place]
    for row, text in enumerate(reference):
        others = reference[:row] + reference[row + 1 :]
        assert seen[row] == pytest.approx(share_unknown(text, others))
    seen = column.encode(pd.Series(new, dtype=object))[:, place]
    assert seen.tolist() == pytest.approx([share_unknown(text, reference) for text in new])


def test_more_words_than_are_kept_are_known_alike_of_reference_and_new_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(columns, "_MOST_WORDS", 100)
    all_texts = prose(2_000, seed=1)
    column = column_of(all_texts[:1_000].tolist())
    assert len(column.known) <= 100
    place = column.features.index("text: unknown words")
    old = column.encode(all_texts[:1_000], are_reference=True)[:, place]
    new = column.encode(all_texts[1_000:])[:, place]
    assert abs(old.mean() - new.mean()) < 0.02


def test_texts_that_stay_raise_no_more_false_alarms_than_stated() -> None:
    alarms = 0
    for seed in range(60):
        frame = pd.DataFrame({"text": prose(400, seed)})
        encoder = Encoder.learn(frame[:200])
        reference = encoder.encode(frame[:200], are_reference=True)
        names = encoder.columns[0].features
        alarms += covariate_test(reference, encoder.encode(frame[200:]), names, 0.05).alarm
    assert alarms <= 7  # of 60 at 5 %: more by chance in 1 of 80 at most


def labelled(values: list, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return predictions, labels and probabilities of a model that is right in 9 of 10."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, len(values))
    predictions = np.where(random.random(len(values)) < 0.9, labels, 1 - labels)
    chances = np.where(predictions == 1, 0.9, 0.1)
    return predictions, labels, np.column_stack([1 - chances, chances])


def picture(brightness: float, random: np.random.Generator) -> bytes:
    pixels = np.clip(random.normal(brightness, 20, (12, 12, 3)), 0, 255).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, format="PNG")
    return out.getvalue()


def pictures(brightness: float, seed: int) -> list[bytes]:
    random = np.random.default_rng(seed)
    return [picture(brightness, random) for _ in range(120)]


def series(level: float, seed: int) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    return [random.normal(level, 1, (30, 2)) for _ in range(120)]


@pytest.mark.parametrize(
    ("before", "same", "after"),
    [
        (prose(300, 1).tolist(), prose(300, 2).tolist(), prose(300, 3, shift=40).tolist()),
        (prose(300, 1).tolist(), prose(300, 2).tolist(), ["全く違う言語の文です"] * 300),
        (pictures(120, 1), pictures(120, 2), pictures(60, 3)),
        (series(0, 1), series(0, 2), series(0.5, 3)),
    ],
    ids=["other words", "another language", "darker pictures", "another level"],
)
def test_inputs_of_many_values_are_not_as_before_where_they_moved(
    before: list, same: list, after: list
) -> None:
    frame = pd.DataFrame({"input": pd.Series(before, dtype=object)})
    fitted = monitoring.fit(frame, *labelled(before, 0), seed=0)
    for values, moved in ((same, False), (after, True)):
        inputs = pd.DataFrame({"input": pd.Series(values, dtype=object)})
        predictions, _, chances = labelled(values, 1)
        report, _ = monitoring.ask(fitted, monitoring.Batch(inputs, predictions, chances))
        (test,) = [one for one in report.drift if one.kind == "covariate"]
        assert test.alarm is moved, test
        if moved:
            assert report.status != "inputs as before"
            assert list(fitted.moved(test)) == ["input"]


def test_columns_are_told_apart_and_kept() -> None:
    frame = pd.DataFrame(
        {
            "number": [1.0, None, *range(18)],
            "kind": ["a", "b"] * 10,
            "text": [f"this is text {number}" for number in range(19)] + [None],
            "array": pd.Series([np.zeros(3), None, *[np.ones(2)] * 18], dtype=object),
            "day": pd.date_range("2024-01-01", periods=20),
        }
    )
    encoder = Encoder.learn(frame)
    kinds = [type(column) for column in encoder.columns]
    assert kinds == [Numbers, Levels, Prose, Cells]
    again = Encoder.from_json(json.loads(json.dumps(encoder.to_json())))
    assert again == encoder
    found = again.encode(frame)
    assert np.isfinite(found).all()
    assert found.shape == (20, sum(len(column.features) for column in encoder.columns))


def test_what_an_earlier_release_kept_is_read() -> None:
    kept = [
        {"name": "size", "median": 2.0, "levels": []},
        {"name": "kind", "median": None, "levels": ["a", "b"]},
    ]
    assert Encoder.from_json(kept).columns == (Numbers("size", 2.0), Levels("kind", ("a", "b")))


def test_where_nothing_but_dates_is_seen_inputs_are_not_said_to_be_as_before() -> None:
    days = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=300)})
    fitted = monitoring.fit(days, *labelled([0] * 300, 0), seed=0)
    later = days + pd.Timedelta(days=300)
    predictions, labels, chances = labelled([0] * 300, 1)
    batch = monitoring.Batch(later, predictions, chances)
    report, _ = monitoring.ask(fitted, batch)
    assert report.status == "cannot tell"
    assert "no column but dates can be compared" in report.advice
    query = monitoring.choose(fitted, batch, budget=250, seed=0)
    answers = Labelled(query, labels[query.rows])
    report, _ = monitoring.ask(fitted, replace(batch, labelled=answers))
    assert report.status == "ok"
