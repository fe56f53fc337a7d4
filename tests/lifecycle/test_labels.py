"""Labels of two sources: the same class is the same, whatever wrote it; strangers are refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.lifecycle.labels import as_number, check_vocabularies, class_name, class_names

ONES = [1, 1.0, True, np.int64(1), np.float32(1), np.bool_(True), "1", " 1.0 ", "01", "1e0", "+1."]


@pytest.mark.parametrize("value", ONES, ids=repr)
def test_a_number_has_one_name(value):
    assert class_name(value) == "1"


def test_what_is_no_number_stays_text():
    words = ["yes", "1_0", "0x1", "nan", "inf", "1 2", "-", ".", "", "9" * 2000]
    assert class_names(words).tolist() == words
    assert class_names([None, math.nan, np.nan]).tolist() == [None, None, None]


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_the_same_as_text_and_their_names_are_names(number):
    assert class_name(number) == class_name(str(number)) == class_name(class_name(number))


@given(st.integers(-(2**70), 2**70), st.integers(-(2**70), 2**70))
def test_different_whole_numbers_have_different_names(one, other):
    assert (class_name(one) == class_name(str(other))) == (one == other)


def test_vocabularies_that_meet_or_are_empty_pass():
    check_vocabularies(["a", None], ["b", "a"])
    check_vocabularies([None, None], ["b"])
    check_vocabularies(["a"], [])


def test_vocabularies_that_do_not_meet_are_shown():
    with pytest.raises(InvalidInput, match=r"'no', 'yes', the predictions '0', '1'") as refused:
        check_vocabularies(["yes", "no", None], ["1", "0", "1"], where="a.csv, b.csv")
    assert refused.value.where == "a.csv, b.csv"
    with pytest.raises(InvalidInput, match="and 12 more"):
        check_vocabularies([str(k) for k in range(20)], ["yes"])


def test_numbers_that_name_classes():
    assert (as_number("1.50"), as_number("a"), as_number(None)) == (1.5, None, None)
