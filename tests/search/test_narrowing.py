"""What may be tried of a space: narrowed, it holds nothing that the whole one does not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.search import spaces

SPACE: dict[str, Any] = {
    "trees": {".int": [20, 500], ".scale": "log", ".default": 150},
    "rate": {".float": [0.01, 0.3], ".scale": "log"},
    "kernel": {".choice": ["rbf", "linear", {"poly": {".int": [2, 5]}}], ".default": "linear"},
    "fixed": 3,
}
NUMBERS = st.integers(10, 520)
RANGES = st.fixed_dictionaries({}, optional={"low": NUMBERS, "high": NUMBERS})
WISHES = st.fixed_dictionaries(
    {},
    optional={
        "trees": NUMBERS | st.lists(NUMBERS, max_size=3) | RANGES,
        "rate": st.floats(0.0, 0.4) | st.fixed_dictionaries({"high": st.floats(0.0, 0.4)}),
        "kernel": st.sampled_from(["rbf", "sigmoid", ["rbf", "linear"], {"poly": 3}]),
        "fixed": st.integers(2, 4),
    },
)


@given(WISHES)
def test_a_narrowed_space_is_part_of_the_whole(wishes: dict[str, Any]) -> None:
    try:
        narrowed = spaces.narrow(SPACE, wishes, "constrain.m")
    except InvalidInput as error:
        assert error.where.startswith("constrain.m.")
        return
    for config in spaces.suggest(narrowed, 8, seed=0):
        assert spaces.complete(SPACE, config) == config
        for name, wish in wishes.items():
            if isinstance(wish, list):
                assert config[name] in wish
            elif isinstance(wish, dict) and "poly" not in wish:
                assert wish.get("low", 0) <= config[name] <= wish.get("high", 1000)
            else:
                assert config[name] == wish


def test_the_default_stays_where_it_is_allowed() -> None:
    def default(**wishes: Any) -> Any:
        return spaces.default(spaces.narrow(SPACE, wishes, "m"))

    assert default(trees={"low": 100})["trees"] == 150
    assert default(trees={"high": 100})["trees"] == 100
    assert default(trees={"low": 50, "high": 50})["trees"] == 50
    assert default(trees=[30, 150, 40])["trees"] == 150
    assert default(kernel=["rbf", "linear"])["kernel"] == "linear"
    assert default(kernel="rbf")["kernel"] == "rbf"


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({"leaves": 3}, "There is no parameter 'leaves'"),
        ({"trees": {"low": 1}}, "from 20 to 500"),
        ({"trees": {"low": 300, "high": 200}}, "lower bound"),
        ({"trees": {"low": 20.5}}, "whole number"),
        ({"trees": "many"}, "from 20 to 500"),
        ({"trees": {"low": float("nan")}}, "from 20 to 500"),
        ({"trees": True}, "from 20 to 500"),
        ({"trees": []}, "No value is left"),
        ({"trees": {}}, "from 20 to 500"),
        ({"trees": {"lowest": 30}}, "from 20 to 500"),
        ({"kernel": {"low": 1}}, "Only a number has a range"),
        ({"kernel": ["rbf", "sigmoid"]}, "none of the 3 choices"),
        ({"fixed": 4}, "constant 3"),
    ],
    ids=str,
)
def test_what_the_space_does_not_hold_is_named(wishes: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as caught:
        spaces.narrow(SPACE, wishes, "constrain.m")
    assert caught.value.where == f"constrain.m.{next(iter(wishes))}"


def test_nothing_to_tune() -> None:
    with pytest.raises(InvalidInput, match="nothing to tune"):
        spaces.narrow({}, {"a": 1}, "m")
