"""Train rows that are made of others."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import easeml
from easeml import Relation
from easeml.errors import EasemlError
from easeml.lifecycle.augmentation.arrays import other_picture, other_series
from easeml.lifecycle.augmentation.texts import with_other_words
from easeml.relation import Source

ROLES = ["train"] * 40 + ["validation"] * 10 + ["test"] * 10


def table(rows: int = 60, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    kind = np.where(rng.random(rows) < 0.25, "rare", "usual")
    return pd.DataFrame(
        {
            "size": rng.normal(size=rows) + 4 * (kind == "rare"),
            "count": rng.integers(0, 50, rows),
            "colour": rng.choice(["red", "green", "blue"], rows),
            "kind": kind,
        }
    )


def relation(**columns: object) -> Relation:
    return Relation.from_frame(table().assign(**columns), target="kind", roles=ROLES)


def made(augmented: Relation) -> pd.DataFrame:
    """Return the rows that were made, with their origins."""
    content = augmented.content
    frame = augmented.to_frame()[content.is_made]
    return frame.assign(origin=content.origins_at(np.flatnonzero(content.is_made)))


@settings(max_examples=20, deadline=None)
@given(copies=st.integers(1, 3), seed=st.integers(0, 1000))
def test_made_rows_train_have_their_origins_labels_and_lie_between_two_rows(copies: int, seed: int):
    plain = relation()
    augmented = plain.augment(copies, seed=seed)
    rows = made(augmented)
    before = plain.to_frame()
    pd.testing.assert_frame_equal(augmented.observed().to_frame(), before)
    assert len(rows) == 40 * copies
    assert set(np.array(augmented.roles)[augmented.content.is_made]) == {"train"}
    assert set(rows["origin"]) == set(range(40))
    of = before.loc[rows["origin"].astype(int)]
    assert (rows["kind"].to_numpy() == of["kind"].to_numpy()).all()
    train = before.head(40)
    for _, row in rows.iterrows():
        same = train[train["kind"] == row["kind"]]
        assert same["size"].min() <= row["size"] <= same["size"].max()
        assert same["count"].min() <= row["count"] <= same["count"].max()
        assert row["colour"] in set(same["colour"])
    assert rows["count"].dtype == before["count"].dtype


def test_the_same_seed_makes_the_same_rows():
    first = relation().augment(seed=3).to_frame()
    pd.testing.assert_frame_equal(relation().augment(seed=3).to_frame(), first)
    assert not relation().augment(seed=4).to_frame().equals(first)


def test_classes_are_made_of_equal_size():
    augmented = relation().augment("balance")
    train = augmented.to_frame()[np.array(augmented.roles) == "train"]
    assert train["kind"].value_counts().nunique() == 1
    assert set(made(augmented)["kind"]) == {"rare"}


def test_numbers_to_predict_are_mixed_as_the_inputs_are():
    frame = table().drop(columns="kind")
    frame["price"] = 3 * frame["size"]
    augmented = Relation.from_frame(frame[["size", "price"]], "price", ROLES).augment(2)
    rows = made(augmented)
    assert np.allclose(rows["price"], 3 * rows["size"])


def test_missing_cells_names_and_dates_stay():
    frame = table()
    frame.loc[3, "size"] = np.nan
    frame["name"] = [f"p{number}" for number in range(60)]
    frame["day"] = pd.date_range("2026-01-01", periods=60)
    rows = made(Relation.from_frame(frame, "kind", ROLES).augment())
    assert rows.loc[rows["origin"] == 3, "size"].isna().all()
    assert (rows["name"] == [f"p{origin}" for origin in rows["origin"]]).all()
    assert (rows["day"] == frame.loc[rows["origin"].astype(int), "day"].to_numpy()).all()


def test_texts_change_by_a_few_words_and_by_synonyms():
    texts = [f"this is the good text number {place} of many others here" for place in range(60)]
    rows = made(relation(text=texts).augment(synonyms={"good": ["fine"]}, seed=1))
    assert all("fine" in text.split() for text in rows["text"])
    others = made(relation(text=texts).augment(seed=1))
    lengths = {len(text.split()) for text in others["text"]}
    assert lengths == {10, 11}
    assert not set(others["text"]) & set(texts)


def test_a_short_text_without_synonyms_stays():
    rng = np.random.default_rng(0)
    assert with_other_words("so it is", {}, rng) == "so it is"
    assert with_other_words("so Good it", {"good": ["fine"]}, rng) == "so fine it"
    assert with_other_words("", {}, rng) == ""


@settings(max_examples=30, deadline=None)
@given(steps=st.integers(1, 60), channels=st.integers(1, 3), seed=st.integers(0, 99))
def test_a_series_keeps_its_shape_and_roughly_its_course(steps: int, channels: int, seed: int):
    course = np.sin(np.linspace(0, 6, steps))[:, None] * np.ones(channels)
    other = other_series(course, np.random.default_rng(seed))
    assert other.shape == course.shape
    assert np.abs(other).max() <= 1.1 * np.abs(course).max() + 0.2
    if steps > 20:
        assert np.corrcoef(other[:, 0], course[:, 0])[0, 1] > 0.8


def test_a_picture_is_moved_by_a_tenth_and_mirrored_only_where_asked():
    picture = np.zeros((20, 20, 3))
    picture[8:12, 2:5] = 1.0
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = other_picture(picture, rng, flips=False)
        assert other.shape == picture.shape
        assert 0 <= other.min() <= other.max() <= 1
        assert np.flatnonzero(other.sum(axis=(0, 2))).max() <= 6
    mirrored = [other_picture(picture, rng, flips=True) for _ in range(20)]
    assert any(np.flatnonzero(other.sum(axis=(0, 2))).min() >= 13 for other in mirrored)


def test_pictures_and_series_of_a_relation_are_changed():
    rng = np.random.default_rng(0)
    pictures = [rng.random((8, 8)).tolist() for _ in range(60)]
    series = [rng.random(30).tolist() for _ in range(60)]
    rows = made(relation(picture=pictures, series=series).augment(ways=["series", "flip"]))
    picture = np.array(rows["picture"].iloc[0].tolist(), dtype=object)
    assert np.stack(list(map(np.asarray, picture))).shape == (8, 8)
    assert len(rows["series"].iloc[0]) == 30
    of = relation().to_frame().loc[rows["origin"].astype(int)]
    assert (rows["size"].to_numpy() == of["size"].to_numpy()).all()  # "mix" was not asked for


def test_doubts_of_a_label_are_those_of_its_copy():
    doubtful = relation().with_candidates(
        5, "kind", {"rare": 0.3, "usual": 0.7}, Source("people", "1")
    )
    augmented = doubtful.augment()
    told = augmented.candidates()
    (copy,) = made(augmented).query("origin == 5").index
    weights = told[told["row"] == copy].set_index("value")["weight"].to_dict()
    assert weights == pytest.approx({"rare": 0.3, "usual": 0.7})
    assert augmented.entropy() == pytest.approx(doubtful.entropy())  # both rows have one truth


def test_made_rows_go_where_their_origins_go():
    augmented = relation().augment(2)
    again = augmented.split(0.5, 0.25, 0.25, seed=7)
    rows = made(again)
    roles = pd.Series(np.array(again.roles), index=again.row_ids)
    assert 0 < len(rows) < 80
    assert (roles[rows.index] == "train").all()
    assert (roles[rows["origin"].tolist()] == "train").all()
    kept = set(rows["origin"])
    assert kept == {row for row in range(40) if roles[row] == "train"}


def test_made_rows_are_nobodys_advice():
    plain = relation()
    augmented = plain.augment(3)
    for ask in ("feasibility", "plan_cleaning", "check_labels"):
        first = getattr(plain, ask)().eval()
        second = getattr(augmented, ask)().eval()
        assert str(first) == str(second)
    assert str(plain.suggest()) == str(augmented.suggest())


def test_made_rows_survive_files_joins_and_updates(tmp_path: Path):
    augmented = relation().augment()
    augmented.save(tmp_path / "rows.parquet")
    loaded = Relation.load(tmp_path / "rows.parquet")
    assert loaded.content.origins is not None
    assert loaded.content.origins.tolist() == augmented.content.origins.tolist()
    assert len(loaded.filter("size > 1").observed()) < len(loaded.filter("size > 1"))
    fewer = loaded.update(gone=[0])
    assert len(made(fewer)) == 40
    colours = pd.DataFrame({"colour": ["red", "green", "blue"], "warm": [1, 0, 0]})
    joined = loaded.join(Relation.from_frame(colours), on="colour")
    assert len(made(joined)) == 40


def test_rows_that_are_named_give_their_names():
    frame = table().set_index(pd.Index([f"p{number}" for number in range(60)]))
    augmented = Relation.from_frame(frame, "kind", ROLES).augment(2)
    assert {"p0~1", "p0~2", "p39~2"} <= set(augmented.row_ids)


def test_a_flow_makes_the_same_rows(tmp_path: Path):
    frame = table()
    frame.to_csv(tmp_path / "rows.csv", index=False)
    start = easeml.Relation.from_frame(frame, target="kind").split(seed=1)
    staged = start.augment("balance", synonyms={"a": ["b"]})
    staged.save_flow(tmp_path / "flow.toml")
    again = easeml.Relation.from_flow(tmp_path / "flow.toml")
    (found,) = [each for each in again.values() if each.node.operator.name == "augment"]
    pd.testing.assert_frame_equal(found.to_frame(), staged.to_frame())


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"copies": 0}, "cannot be made"),
        ({"copies": "equal"}, "cannot be made"),
        ({"ways": ["mirror"]}, "no way to make rows"),
        ({"ways": ["words"]}, "No column suits"),
    ],
)
def test_what_cannot_be_made_is_refused(wishes: dict, message: str):
    with pytest.raises(EasemlError, match=message):
        relation().augment(**wishes).eval()


def test_rows_without_roles_are_refused_with_what_to_do():
    plain = Relation.from_frame(table(), target="kind")
    with pytest.raises(EasemlError, match="no roles") as caught:
        plain.augment().eval()
    assert "split()" in str(caught.value)
    with pytest.raises(EasemlError, match="no classes to balance"):
        Relation.from_frame(table()[["size"]], "size", ROLES).augment("balance").eval()
    with pytest.raises(EasemlError, match="made of others"):
        relation().augment().clean().eval()
