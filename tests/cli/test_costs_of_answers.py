"""Costs and rules as people write them on the command line."""

from pathlib import Path

import pytest

from easeml.cli.costs import read_costs_file
from easeml.cli.model_rules import bytes_of, read_monotonic, seconds_of
from easeml.errors import InvalidInput


def test_a_table_of_costs_is_read(tmp_path: Path) -> None:
    path = tmp_path / "costs.csv"
    path.write_text('true,bad,"good, very"\nbad,0,5\n"good, very", 1 ,0\n\n')
    assert read_costs_file(path) == {
        "bad": {"bad": 0, "good, very": 5},
        "good, very": {"bad": 1, "good, very": 0},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("true,a\n", "empty"),
        ("true,a,b\na,0\nb,1,0\n", "Row 2 has 2 cells"),
        ("true,a,b\na,0,x\nb,1,0\n", "'x' is not a number"),
        ("true,a,b\na,0,1\na,1,0\n", "two rows"),
        ("true,a,b\na,0,1\nc,1,0\n", "same classes"),
        ("true,a,a\na,0,1\n", "same classes"),
    ],
)
def test_another_table_is_refused_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "costs.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match=message):
        read_costs_file(path)


def test_amounts_have_units() -> None:
    assert [seconds_of(text) for text in ("20ms", "0.5 s", "2", ".1")] == [0.02, 0.5, 2, 0.1]
    assert [bytes_of(text) for text in ("5MB", "1.5 kB", "10", "1MiB")] == [5e6, 1500, 10, 2**20]
    for text in ("", "ms", "0ms", "-1", "5 parsecs", "1e3", "nan"):
        with pytest.raises(InvalidInput):
            seconds_of(text)


def test_columns_rise_or_fall() -> None:
    assert read_monotonic(["area=rising", "a = b=falling"]) == {
        "area": "rising",
        "a = b": "falling",
    }
    for text in ("area", "=rising", "area=up"):
        with pytest.raises(InvalidInput):
            read_monotonic([text])
