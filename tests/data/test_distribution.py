"""How the values of a column are told to be spread."""

import sys

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.data.inference.column_types import look
from easeml.data.inference.distribution import distribution


def told(texts: list[str]) -> dict:
    array = pa.array(texts, pa.string())
    return distribution(array, look("x", array))


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=60))
def test_every_number_is_in_a_bin(values: list[float]):
    found = told([repr(value) for value in values])
    finite = [value for value in values if abs(value) < float("inf")]
    if found.get("counts"):
        assert sum(found["counts"]) == len(finite)
        assert (found["low"], found["high"]) == (min(finite), max(finite))


@pytest.mark.filterwarnings("error")
def test_the_largest_numbers_there_are_make_no_warning():
    largest = repr(sys.float_info.max)
    assert told(["0", largest, largest])["counts"] == [1, *[0] * 14, 2]
    assert told([f"-{largest}", largest, largest]) == {}


@given(st.integers(-1000, 1000), st.integers(2, 200))
def test_whole_numbers_without_gaps_have_none_in_their_histogram(low: int, count: int):
    found = told([str(low + place) for place in range(count)])
    assert 0 not in found["counts"]
    assert len(set(found["counts"][:-1])) <= 1  # the last bin may reach beyond the largest number
    assert len(found["counts"]) <= 16


def test_eleven_whole_numbers_are_eleven_bars():
    found = told([str(place) for place in range(11) for _ in range(5)])
    assert found == {"low": 0.0, "high": 10.0, "counts": [5] * 11}


def test_numbers_written_otherwise_are_numbers():
    found = told([f"1.{n:03d},5" for n in range(100)])
    assert (found["low"], found["high"], sum(found["counts"])) == (1000.5, 1099.5, 100)


@given(st.lists(st.sampled_from(["rot", "blau", "grün", "a", "b", "c", "d", ""]), max_size=60))
def test_the_most_frequent_values_come_first_and_none_is_lost(values: list[str]):
    found = told(values)
    if found:
        counts = [count for _, count in found["values"]]
        assert counts == sorted(counts, reverse=True)
        assert sum(counts) + found["others"] == sum(bool(value) for value in values)


def test_what_occurs_once_tells_nothing():
    assert told([f"some words {n} and more" for n in range(40)]) == {}
    assert told(["", ""]) == {}
