"""Configurations and their spaces."""

import pytest

from easeml.errors import InvalidInput
from easeml.modules import complete, default_of
from easeml.modules.configuration import check_space

SPACE = {
    "C": {".float": [0.01, 100.0], ".scale": "log"},
    "k": {".int": [1, 9]},
    "weights": {".choice": ["distance", "uniform"]},
    "fixed": 3,
    "depth": {".int": [1, 20], ".default": 6},
}


def test_defaults() -> None:
    assert complete(SPACE, {}) == {"C": pytest.approx(1.0), "k": 5, "weights": "distance", "fixed": 3, "depth": 6}
    assert default_of({".float": [0.0, 1.0]}) == 0.5


def test_given_values_stay() -> None:
    assert complete(SPACE, {"k": 2, "C": 7})["k"] == 2


@pytest.mark.parametrize(
    "config", [{"q": 1}, {"C": 1000}, {"k": 2.5}, {"k": True}, {"weights": "other"}, {"fixed": 4}, {"C": "1"}]
)
def test_wrong_values_are_named(config: dict) -> None:
    with pytest.raises(InvalidInput) as caught:
        complete(SPACE, config, "svm")
    assert next(iter(config)) in str(caught.value)


@pytest.mark.parametrize(
    "domain",
    [
        {".int": [1, 2], ".float": [1, 2]},
        {".int": [3, 2]},
        {".int": [1]},
        {".float": [0.0, 1.0], ".scale": "log"},
        {".float": [0.1, 1.0], ".scale": "cubic"},
        {".int": [1, 2], ".default": 3},
        {".choice": []},
        {".int": [1, 2], ".step": 1},
        {".default": 1},
    ],
)
def test_wrong_spaces(domain: dict) -> None:
    with pytest.raises(InvalidInput):
        check_space({"x": domain}, "file")
