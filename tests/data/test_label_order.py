"""The order of labels: numbers and ranges of them by size."""

import random

import pytest

from easeml.data.types.column_report import sort_labels

ORDERED = [
    ["1", "2", "10"],
    ["0-4", "5-9", "10-14", "45-49", "50-54"],
    ["<18", "18 to 24", "25 to 34", "100 to 119", "120+"],
    ["[0, 5)", "[5, 10)", "[10, 100)"],
    ["5–9", "10–14", ">= 15"],
    ["$500 - $999", "$1,000 - $1,999", "$10,000 - $19,999"],
    ["0", "1-9", "10-99"],
    ["high 10", "low 9"],  # no ranges: by code point
    ["10-19", "5-9", "none"],  # the last is none
    ["10+", "9+"],  # versions, perhaps: no label has two ends
]


@pytest.mark.parametrize("labels", ORDERED)
def test_labels_have_one_order_however_they_come(labels: list[str]) -> None:
    chance = random.Random(0)
    for _ in range(5):
        mixed = chance.sample(labels, len(labels))
        assert sort_labels(mixed) == labels
