"""Configuration spaces."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.errors import InvalidInput
from easeml.search import spaces

SVM = {
    "C": {".float": [0.01, 100], ".scale": "log"},
    "kernel": {
        ".choice": [
            {"name": "rbf", "gamma": {".float": [0.1, 10], ".scale": "log"}},
            {"name": "linear"},
        ]
    },
    "steps": {".int": [1, 5], ".default": 2},
    "solver": {".choice": ["a", "b", "c"], ".default": "b"},
    "tolerance": 0.001,
    "inner": {"on": {".choice": [True, False]}},
}


def test_defaults():
    assert spaces.default(SVM) == {
        "C": pytest.approx(1.0),
        "kernel": {"name": "rbf", "gamma": pytest.approx(1.0)},
        "steps": 2,
        "solver": "b",
        "tolerance": 0.001,
        "inner": {"on": True},
    }


def test_suggestions_are_valid_different_repeatable_and_begin_with_the_default():
    found = spaces.suggest(SVM, 40, seed=3)
    assert found[0] == spaces.default(SVM)
    assert found == spaces.suggest(SVM, 40, seed=3)
    assert found != spaces.suggest(SVM, 40, seed=4)
    assert len({repr(config) for config in found}) == 40
    assert {config["steps"] for config in found} == {1, 2, 3, 4, 5}
    assert {config["kernel"]["name"] for config in found} == {"rbf", "linear"}
    assert len({len(spaces.features(SVM, config)) for config in found}) == 1


def test_log_scales_are_filled_evenly():
    values = [config["C"] for config in spaces.suggest(SVM, 64, seed=0)]
    below = np.mean(np.array(values) < 1.0)
    assert 0.4 < below < 0.6


def test_small_spaces_give_what_they_have():
    assert spaces.suggest({"k": {".int": [1, 3]}}, 10, seed=0)[0] == {"k": 2}
    assert len(spaces.suggest({"k": {".int": [1, 3]}}, 10, seed=0)) == 3
    assert spaces.suggest({"k": 7}, 10, seed=0) == [{"k": 7}]
    assert spaces.suggest({}, 2, seed=0) == [{}]
    assert spaces.suggest(SVM, 0, seed=0) == []


def test_features_tell_scale_choice_and_what_does_not_apply():
    linear = {**spaces.default(SVM), "C": 0.01, "kernel": {"name": "linear"}}
    assert spaces.features(SVM, linear) == pytest.approx((0.0, 1.0, 0.5, 0.25, 0.0, 1.0, 0.0, 0.0))
    assert spaces.features(SVM, {}) == spaces.features(SVM, spaces.default(SVM))


@settings(max_examples=100, deadline=None)
@given(st.integers(-50, 50), st.integers(0, 100), st.integers(0, 99))
def test_integers_stay_within_their_bounds(low, width, seed):
    space = {"k": {".int": [low, low + width]}}
    for config in spaces.suggest(space, 8, seed):
        assert isinstance(config["k"], int)
        assert low <= config["k"] <= low + width
        assert all(0 <= u <= 1 for u in spaces.features(space, config))


@pytest.mark.parametrize(
    ("space", "path"),
    [
        ({"a": {".int": [3, 1]}}, "space.a.int"),
        ({"a": {".int": [1.5, 2]}}, "space.a.int"),
        ({"a": {".float": [0, 1], ".scale": "log"}}, "space.a.float"),
        ({"a": {".float": [0, float("inf")]}}, "space.a.float"),
        ({"a": {".int": [0, 10**400]}}, "space.a.int"),
        ({"a": {".float": [0, 1], ".scale": "cubic"}}, "space.a.scale"),
        ({"a": {".float": [0, 1], ".default": 2}}, "space.a.default"),
        ({"a": {".choice": []}}, "space.a.choice"),
        ({"a": {".choice": [{"b": {".int": 3}}]}}, "space.a.choice[0].b.int"),
        ({"a": {".choice": [1], ".int": [1, 2]}}, "space.a"),
        ({"a": {".int": [1, 2], ".step": 1}}, "space.a"),
        ({".int": [1, 2]}, "space"),
    ],
)
def test_malformed_spaces_name_the_path(space, path):
    with pytest.raises(InvalidInput) as caught:
        spaces.default(space)
    assert caught.value.where == path


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"C": 1000}, "config.C"),
        ({"C": True}, "config.C"),
        ({"steps": 1.5}, "config.steps"),
        ({"solver": "d"}, "config.solver"),
        ({"tolerance": 0.1}, "config.tolerance"),
        ({"inner": {"off": 1}}, "config.inner.off"),
    ],
)
def test_wrong_configurations_name_the_path(config, path):
    with pytest.raises(InvalidInput) as caught:
        spaces.features(SVM, config)
    assert caught.value.where == path


def test_completing_fills_in_what_was_left_out_also_inside_a_choice():
    found = spaces.complete(SVM, {"kernel": {"name": "rbf"}, "C": 7})
    assert found == {**spaces.default(SVM), "C": 7}
    assert spaces.complete(SVM, {"kernel": {"name": "linear"}})["kernel"] == {"name": "linear"}
    with pytest.raises(InvalidInput, match="none of"):
        spaces.complete(SVM, {"solver": "d"}, "svm")
    with pytest.raises(InvalidInput) as caught:
        spaces.complete(SVM, {"inner": {"of": True}}, "svm")
    assert caught.value.where == "svm.inner.of"


def test_a_grid_holds_every_combination_once():
    found = list(spaces.grid(SVM, 3))
    assert len(found) == 3 * (3 + 1) * 3 * 3 * 2
    assert all(spaces.complete(SVM, config) == config for config in found)
    assert len({repr(config) for config in found}) == len(found)
    assert [config["k"] for config in spaces.grid({"k": {".int": [1, 2]}}, 5)] == [1, 2]
    assert list(spaces.grid({}, 3)) == [{}]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**20))
def test_a_configuration_is_built_again_from_its_own_parameters(seed):
    for config in spaces.suggest(SVM, 6, seed):
        known = spaces.parameters(SVM, config)
        assert spaces.build(SVM, lambda path, _, known=known: known[path][1]) == config
        assert (".kernel[0].gamma" in known) == (config["kernel"]["name"] == "rbf")
