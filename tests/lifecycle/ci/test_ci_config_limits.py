"""Every value of a configuration: its usual one, the last that is taken, the first that is not."""

import math

import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.ci import Adaptivity, Config, Metric, Mode, parse_config, read_config

LEAST = {"condition": "n > 0.8 +/- 0.1", "reliability": 0.99}
KEYS = "condition, reliability, mode, adaptivity, steps, script, metric, positive, scale"
KNOWN = f"Known keys: {KEYS}, difference, groups, seed, batch."


def refusal(document) -> InvalidInput:
    """What a configuration is refused with."""
    with pytest.raises(InvalidInput) as found:
        read_config(document)
    return found.value


def test_what_is_not_said_has_its_usual_value() -> None:
    config = read_config(LEAST)
    assert config.to_json() == {
        "condition": "n > 0.8 +/- 0.1",
        "reliability": 0.99,
        "mode": "fp-free",
        "adaptivity": "full",
        "steps": 1,
        "metric": "accuracy",
        "positive": "1",
        "scale": 1.0,
        "difference": None,
        "seed": 0,
        "script": "",
        "mail": "",
        "batch": 50,
    }
    assert config == Config(config.condition, 0.99)


def test_what_is_said_is_kept() -> None:
    said = {
        "mode": "fn-free",
        "adaptivity": "firstChange -> team@example.org",
        "steps": 7,
        "metric": "absolute-error",
        "positive": "yes",
        "scale": 2.5,
        "difference": 0.25,
        "seed": 11,
        "script": "./test.py",
        "batch": 3,
        "mail": "other@example.org",
    }
    config = read_config({**LEAST, **said})
    assert (config.mode, config.adaptivity) == (Mode.FN_FREE, Adaptivity.FIRST_CHANGE)
    assert (config.metric, config.positive, config.scale) == (Metric.ABSOLUTE_ERROR, "yes", 2.5)
    assert (config.difference, config.seed, config.batch) == (0.25, 11, 3)
    assert (config.script, config.mail, config.steps) == ("./test.py", "team@example.org", 7)
    assert read_config({**LEAST, "mail": "other@example.org"}).mail == "other@example.org"


@pytest.mark.parametrize(
    ("key", "taken", "refused", "rule"),
    [
        ("reliability", [1 - 2e-15, 1e-9], [1 - 5e-16, 0.0, -0.5], "must lie above 0 and below 1, as 0.9999"),
        ("steps", [1, 1_000_000], [0, 1_000_001], "must be a whole number from 1 to 1,000,000"),
        ("difference", [1e-9, 1, 1.0], [0.0, 1.01, -0.1], "must lie above 0 and at most 1"),
        ("batch", [1, 10**6], [0, -1], "must be at least 1"),
        ("seed", [0, 2**62], [-1, 2**63], "must be a whole number from 0 on"),
        ("steps", [], [1.5], "must be a whole number"),
        ("reliability", [], [math.nan, math.inf], "must be finite"),
    ],
)  # fmt: skip
def test_each_number_has_its_limits(key: str, taken: list, refused: list, rule: str) -> None:
    for value in taken:
        assert getattr(read_config({**LEAST, key: value}), key) == value
    for value in refused:
        error = refusal({**LEAST, key: value})
        assert (error.where, error.args[0].startswith(f"The {key} {rule}.")) == (key, True), error


def test_only_errors_and_scores_have_a_scale() -> None:
    for metric in ("absolute-error", "squared-error", "score"):
        assert read_config({**LEAST, "metric": metric, "scale": 0.1}).scale == 0.1
        error = refusal({**LEAST, "metric": metric, "scale": 0})
        assert "must be a number above 0" in error.args[0]
    for metric in ("accuracy", "f1"):
        assert (
            f"is always 1 for {metric}" in refusal({**LEAST, "metric": metric, "scale": 2}).args[0]
        )


@pytest.mark.parametrize("value", [True, "high", None, [1]])
def test_what_is_no_number_is_named(value) -> None:
    error = refusal({**LEAST, "steps": value})
    assert error.args[0].startswith(f"The steps '{value}' is not a number.")
    assert error.where == "steps"


@pytest.mark.parametrize(
    ("document", "says", "where"),
    [
        ({**LEAST, "colour": 1}, "'colour' is not a key of the configuration.", "colour"),
        ({"reliability": 0.9}, "The key 'condition' is missing.", "condition"),
        ({"condition": "n > 0.8 +/- 0.1"}, "The key 'reliability' is missing.", "reliability"),
        ([1], "The configuration is not a mapping of keys to values.", ""),
    ],
)
def test_faults_of_keys_name_the_known_ones(document, says: str, where: str) -> None:
    error = refusal(document)
    assert error.args[0].startswith(says)
    assert (error.where or "", error.remedy) == (where, KNOWN)


def test_other_faults_say_what_may_stand_there() -> None:
    error = refusal([*({key: value} for key, value in LEAST.items()), {"reliability": 0.5}])
    assert (error.where, "stands there twice" in error.args[0]) == ("reliability", True)
    error = refusal({**LEAST, "adaptivity": "some"})
    assert error.remedy == "Use none, full or firstChange."
    error = refusal({**LEAST, "mode": "free"})
    assert error.remedy == "Use one of fp-free, fn-free."


def test_the_name_is_of_what_the_guarantee_depends_on() -> None:
    plain = read_config(LEAST)
    same = {"script": "./x", "mail": "a@b", "batch": 7}
    assert read_config({**LEAST, **same}).digest == plain.digest
    others = {
        "condition": "n > 0.81 +/- 0.1",
        "reliability": 0.98,
        "mode": "fn-free",
        "adaptivity": "none",
        "steps": 2,
        "metric": "score",
        "positive": "2",
        "difference": 0.5,
        "seed": 1,
    }
    names = {read_config({**LEAST, key: value}).digest for key, value in others.items()}
    names.add(read_config({**LEAST, "metric": "score", "scale": 2}).digest)
    assert len(names | {plain.digest}) == len(others) + 2
    assert len(plain.digest) == 16


def test_where_yaml_is_wrong() -> None:
    with pytest.raises(InvalidInput) as found:
        parse_config("condition: n > 0.8 +/- 0.1\nreliability: [0.9\n")
    assert (found.value.where, found.value.remedy or "") == ("line 3, column 1", "")
    with pytest.raises(InvalidInput, match="longer than 100,000 characters"):
        parse_config("#" * 100_001)
    just = "condition: n > 0.8 +/- 0.1\nreliability: 0.99\n"
    assert parse_config(just + "#" * (100_000 - len(just))) == read_config(LEAST)
    nested = {"ml": LEAST}
    assert read_config(nested) == read_config(LEAST)
    assert refusal({**nested, "steps": 2}).where == "ml"
