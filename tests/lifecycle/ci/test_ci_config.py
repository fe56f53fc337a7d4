"""The configuration file: published form, flat form, and what is refused."""

import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.ci import Adaptivity, Metric, Mode, parse_config, read_config, uses_old

PUBLISHED = """
ml:
  - script     : ./test_model.py
  - condition  : n - o > 0.02 +/- 0.01
  - reliability: 0.9999
  - mode       : fp-free
  - adaptivity : none -> team@example.org
  - steps      : 32
"""


def test_published_form() -> None:
    config = parse_config(PUBLISHED)
    assert (config.adaptivity, config.mail, config.steps) == (
        Adaptivity.NONE,
        "team@example.org",
        32,
    )
    assert (config.mode, config.script, config.metric) == (
        Mode.FP_FREE,
        "./test_model.py",
        Metric.ACCURACY,
    )
    assert config.delta == pytest.approx(1e-4)
    assert uses_old(config.condition)


def test_flat_form_and_round_trip() -> None:
    config = parse_config(
        "condition: n > 0.8 +/- 0.1\nreliability: 9.9e-1\nadaptivity: hybrid\nmode: FN-free\n"
    )
    assert (config.adaptivity, config.mode) == (Adaptivity.FIRST_CHANGE, Mode.FN_FREE)
    assert not uses_old(config.condition)
    again = read_config(
        {key: value for key, value in config.to_json().items() if value is not None}
    )
    assert again.digest == config.digest
    assert again.to_json() == config.to_json()


@pytest.mark.parametrize(
    "word", ["firstChange", "first-change", "First Change", "hybrid", "FIRSTCHANGE"]
)
def test_words_of_adaptivity(word: str) -> None:
    config = parse_config(f"condition: n > 0.8 +/- 0.1\nreliability: 0.99\nadaptivity: {word}")
    assert config.adaptivity is Adaptivity.FIRST_CHANGE


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"adaptivity": "some"}, "adaptivity"),
        ({"mode": "free"}, "mode"),
        ({"reliability": 1}, "reliability"),
        ({"reliability": 0}, "reliability"),
        ({"reliability": "high"}, "reliability"),
        ({"reliability": float("nan")}, "reliability"),
        ({"reliability": True}, "reliability"),
        ({"steps": 0}, "steps"),
        ({"steps": 2.5}, "steps"),
        ({"steps": 10**9}, "steps"),
        ({"steps": float("inf")}, "steps"),
        ({"colour": "red"}, "colour"),
        ({"metric": "auc"}, "metric"),
        ({"scale": 2}, "scale"),
        ({"difference": 0}, "difference"),
        ({"batch": 0}, "batch"),
        ({"condition": None}, "condition"),
        ({"condition": 5}, "condition"),
    ],
)
def test_what_is_wrong_is_named(change: dict, where: str) -> None:
    with pytest.raises(InvalidInput) as error:
        read_config({"condition": "n > 0.8 +/- 0.1", "reliability": 0.99, **change})
    assert error.value.where == where


@pytest.mark.parametrize(
    "document", [None, [], 5, "text", [1], {"ml": None}, [{"steps": 1}, {"steps": 2}]]
)
def test_no_configuration(document) -> None:
    with pytest.raises(InvalidInput):
        read_config(document)


@pytest.mark.parametrize(
    "text", ["a: [", "x" * 200_000, "a: !!python/object:os.system 1", "a: \x00"]
)
def test_no_yaml(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_config(text)


def test_the_backslash_that_yaml_drops_is_explained() -> None:
    text = 'condition: "n > 0.8 +/- 0.1 /\\ d < 0.1 +/- 0.01"\nreliability: 0.99'
    with pytest.raises(InvalidInput, match="quotes"):
        parse_config(text)
