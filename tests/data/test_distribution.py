"""How the values of a column are told to be spread."""

import pyarrow as pa
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
