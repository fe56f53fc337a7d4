"""Classes with few training rows are told, however many there are."""

import pandas as pd
import pytest

from easeml.modules.target import Target


def learned(rows: dict[str, int]) -> tuple[str, ...]:
    """Return the notes on a target with so many training rows of each class."""
    labels = list(rows)
    schema = {
        "nodes": {"y": {"type": "category", "class": "c", "column": "kind"}},
        "classes": {"c": {"labels": labels}},
    }
    values = [label for label, count in rows.items() for _ in range(count)]
    frame = pd.DataFrame({"kind": pd.Categorical(values, labels)})
    return Target.learn(frame, schema).notes


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ({"a": 2, "b": 3}, ()),
        ({"a": 1, "b": 3}, ("Class 'a' has one training row.",)),
        (
            {"a": 1, "b": 0, "c": 1},
            (
                "2 classes ('a', 'c') have one training row.",
                "Class 'b' has no training row and is never predicted.",
            ),
        ),
        (
            {"a": 4, "b": 0, "c": 0, "d": 2},
            ("2 classes ('b', 'c') have no training row and are never predicted.",),
        ),
    ],
)
def test_classes_with_few_rows_are_one_sentence(
    rows: dict[str, int], told: tuple[str, ...]
) -> None:
    assert learned(rows) == told


def test_of_many_classes_the_first_are_named() -> None:
    [note] = learned({f"kind {number:02}": 1 for number in range(60)})
    assert note.startswith("60 classes ('kind 00', 'kind 01', ")
    assert note.endswith("'kind 09', ...) have one training row.")
