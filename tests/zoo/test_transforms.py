"""The table encoders and scaling."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from easeml.modules import Context, load_registry
from easeml.search import spaces
from easeml.zoo.transforms.date_features import FEATURES, date_features

REGISTRY = load_registry()
COLOURS = ["red", "green", "blue", "never"]
SCHEMA: dict[str, Any] = {
    "nodes": {
        "x": {"type": "tensor", "dim": [1], "column": "X"},
        "colour": {"type": "category", "class": "colour"},
        "story": {"type": "text"},
    },
    "classes": {"colour": {"dim": 4, "labels": COLOURS}},
}
FRAME = pd.DataFrame(
    {
        "X": [1.0, np.nan, 3.0, 5.0, 100.0, 3.0],
        "colour": pd.Categorical(["red", "red", "green", None, "blue", "red"], categories=COLOURS),
        "story": pd.Series(
            ["a red car", "the red bus", None, "a green tree", "blue sky", "red"], dtype=object
        ),
    }
)


def fitted(name: str, data: Any, schema: dict[str, Any] | None = None, **config: Any) -> Any:
    module = REGISTRY.get(name)
    return module.make().fit(
        data, schema or SCHEMA, spaces.complete(module.space, config), Context()
    )


def without_text() -> dict[str, Any]:
    return {
        **SCHEMA,
        "nodes": {name: node for name, node in SCHEMA["nodes"].items() if name != "story"},
    }


def test_codes() -> None:
    made = fitted("table-codes", FRAME, without_text()).transform(FRAME)
    np.testing.assert_array_equal(made[:, 0], FRAME["X"])
    np.testing.assert_array_equal(made[:, 1], [0, 0, 1, np.nan, 2, 0])


def test_a_gap_that_training_had_not_is_the_median(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1990.0, 2000.0, 2010.0], "b": [1.0, np.nan, 3.0]})
    nodes = {name: {"type": "tensor", "dim": [1], "optional": name == "b"} for name in frame}
    transform = fitted("table-codes", frame, {"nodes": nodes})
    transform.save(tmp_path)
    gaps = pd.DataFrame({"a": [np.nan, 5.0], "b": [np.nan, 5.0]})
    for made in (transform, REGISTRY.get("table-codes").make().load(tmp_path)):
        np.testing.assert_array_equal(made.transform(gaps), [[2000.0, np.nan], [5.0, 5.0]])


def test_one_hot_with_marks() -> None:
    made = fitted("table-onehot", FRAME, without_text()).transform(FRAME)
    np.testing.assert_array_equal(made[:, 0], [1, 3, 3, 5, 100, 3])  # the median is 3
    np.testing.assert_array_equal(made[:, 1], [0, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(made[:, 2:].sum(axis=1), 1)
    assert made.shape == (6, 6)  # number, mark, and missing, red, green, blue


def test_the_rarest_categories_share_an_indicator() -> None:
    transform = fitted("table-onehot", FRAME, without_text(), most_categories=2)
    made = transform.transform(FRAME)[:, 2:]
    np.testing.assert_array_equal(made, [[1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [1, 0]])
    assert any("3 rarest" in note for note in transform.notes)


def test_unseen_and_unknown_categories_have_no_indicator() -> None:
    transform = fitted("table-onehot", FRAME[FRAME["colour"].notna()], without_text())
    strange = pd.DataFrame(
        {"X": [1.0, 1.0, 1.0], "colour": ["never", "purple", None]}, dtype=object
    )
    assert (transform.transform(strange)[:, 2:] == 0).all()


def test_labels_in_another_order_or_as_text_are_the_same() -> None:
    transform = fitted("table-codes", FRAME, without_text())
    wanted = transform.transform(FRAME)
    turned = FRAME.assign(colour=FRAME["colour"].cat.reorder_categories(COLOURS[::-1]))
    np.testing.assert_array_equal(transform.transform(turned), wanted)
    np.testing.assert_array_equal(
        transform.transform(FRAME.assign(colour=FRAME["colour"].astype(object))), wanted
    )


@pytest.mark.parametrize("name", ["table-codes", "table-onehot"])
def test_text_is_learnt_and_kept(name: str, tmp_path: Path) -> None:
    transform = fitted(name, FRAME, text_components=2)
    made = transform.transform(FRAME)
    assert made.shape[1] == fitted(name, FRAME, without_text()).transform(FRAME).shape[1] + 2
    assert np.isfinite(made[:, -2:]).all()
    transform.save(tmp_path)
    loaded = REGISTRY.get(name).make().load(tmp_path)
    np.testing.assert_array_equal(loaded.transform(FRAME), made)


@pytest.mark.parametrize("name", ["table-codes", "table-onehot"])
def test_long_texts_are_learnt_by_their_words_and_kept(name: str, tmp_path: Path) -> None:
    words = ["good", "bad", "long", "film", "end", "plot", "score", "cast", "light", "sound"]
    random = np.random.default_rng(0)
    stories = [" ".join(random.choice(words, 15)) for _ in FRAME.index]
    frame = FRAME.assign(story=stories)
    transform = fitted(name, frame, text_components=2)
    made = transform.transform(frame)
    assert made.shape[1] == fitted(name, frame, without_text()).transform(frame).shape[1] + 2
    transform.save(tmp_path)
    assert (tmp_path / "text-0.terms.npz").exists()
    loaded = REGISTRY.get(name).make().load(tmp_path)
    np.testing.assert_array_equal(loaded.transform(frame), made)
    alone = [loaded.transform(frame.iloc[[row]])[0] for row in range(len(frame))]
    np.testing.assert_allclose(alone, made)


def test_empty_text_is_ignored() -> None:
    transform = fitted("table-codes", FRAME.assign(story=None))
    assert any("'story' is constant" in note for note in transform.notes)
    assert transform.transform(FRAME.assign(story=None)).shape == (6, 2)


def test_dates_are_those_of_skrub() -> None:
    from skrub import DatetimeEncoder  # which imports Matplotlib

    times = pd.Series(
        pd.to_datetime(["1969-12-31 23:59:59", "2000-02-29 01:02:03", "2024-12-30 00:00:00"]),
        name="d",
    )
    wanted = DatetimeEncoder(add_weekday=True).fit_transform(times)
    made = date_features(times.to_numpy())
    for position, feature in enumerate(FEATURES):
        np.testing.assert_allclose(
            made[:, position], wanted[f"d_{feature}"].to_numpy(dtype=float), rtol=1e-7
        )
    assert np.isnan(date_features(np.array(["NaT"], dtype="datetime64[ns]"))).all()


@pytest.mark.parametrize("method", ["standard", "robust", "squash"])
def test_scaling(method: str, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(50, [1, 10, 0], (200, 3))
    X[0, 0] = 1e6
    scaled = fitted("scale", X, method=method).transform(X)
    assert np.isfinite(scaled).all()
    assert (scaled[:, 2] == 0).all()
    assert (np.abs(scaled).max() < 3) == (method == "squash")
    if method == "standard":
        np.testing.assert_allclose(scaled[:, :2].std(axis=0), 1)
    else:
        np.testing.assert_allclose(np.median(scaled[:, :2], axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("name", ["table-codes", "table-onehot"])
@pytest.mark.parametrize(("columns", "notes"), [(1, 1), (3, 3), (40, 1)])
def test_missing_values_of_many_columns_are_one_note(name: str, columns: int, notes: int) -> None:
    names = [f"n{number}" for number in range(columns)]
    nodes = {one: {"type": "tensor", "dim": [1]} for one in names}
    frame = pd.DataFrame({one: [1.0, 2.0, np.nan, 3.0, 5.0] for one in names})
    frame.loc[0, "n0"] = np.nan
    found = fitted(name, frame, {"nodes": nodes}).notes
    assert len(found) == notes
    if columns > 3:
        assert found[0].startswith("40 columns have missing values, most in 'n0' (2): ")


@pytest.mark.parametrize("name", ["table-codes", "table-onehot"])
def test_a_missing_date_is_one_missing_value(name: str) -> None:
    days = pd.to_datetime(
        ["2024-01-31 08:30", None, "2025-05-02 01:10", "2026-12-24 23:00", "2023-07-07 12:00"]
    )
    nodes = {"d": {"type": "timestamp", "optional": True}}
    found = fitted(name, pd.DataFrame({"d": days}), {"nodes": nodes}).notes
    assert len(found) == 1
    assert found[0].startswith("Column 'd': 1 missing value, ")


def test_one_missing_value_is_one() -> None:
    frame = FRAME.assign(X=[1.0, np.nan, 3.0, 5.0, 100.0, 3.0])
    assert any(
        "'X': 1 missing value, kept as such" in n for n in fitted("table-codes", frame).notes
    )


@pytest.mark.parametrize("name", ["table-codes", "table-onehot"])
def test_constant_columns_of_a_wide_table_are_one_note(name: str) -> None:
    names = [f"n{number}" for number in range(40)]
    nodes = {one: {"type": "tensor", "dim": [1]} for one in ["x", *names]}
    frame = pd.DataFrame({"x": [1.0, 2.0, 5.0], **dict.fromkeys(names, 0.0)})
    told = "40 columns are constant in the training rows and are ignored: 'n0', 'n1', 'n2', ..."
    assert fitted(name, frame, {"nodes": nodes}).notes == (told,)


def test_categories_without_rows_are_one_note_where_columns_are_many() -> None:
    names = [f"k{number}" for number in range(5)]
    nodes = {one: {"type": "category", "class": "colour"} for one in names}
    frame = pd.DataFrame(dict.fromkeys(names, FRAME["colour"]))
    found = fitted("table-codes", frame, {"nodes": nodes, "classes": SCHEMA["classes"]}).notes
    assert found[0].startswith("5 columns have categories without a training row: 'k0', 'k1'")
    assert len(found) == 2  # and one on missing values
