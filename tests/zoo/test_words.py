"""Words as sparse numbers: against TF-IDF done by hand, kept in files, and offered for texts only."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from easeml.errors import InvalidInput
from easeml.modules import Context, load_registry, score
from easeml.modules.pipeline import fit
from easeml.search import spaces
from easeml.zoo.transforms.terms import Terms
from easeml.zoo.transforms.text_features import TextColumn

REGISTRY = load_registry()
TEXT = {"singleton": True, "type": "text", "optional": True, "column": "review"}
NUMBER = {"singleton": True, "type": "tensor", "dim": [1], "optional": True, "column": "stars"}
SCHEMA: dict[str, Any] = {"nodes": {"review": TEXT, "stars": NUMBER}}
TARGET: dict[str, Any] = {
    "nodes": {"target": {"singleton": True, "type": "category", "class": "t"}},
    "classes": {"t": {"dim": 2, "labels": ["bad", "good"]}},
}
FRAME = pd.DataFrame(
    {
        "review": ["good good film", "bad film", None, "good end"],
        "stars": [1.0, 2.0, 3.0, 4.0],
    }
)


def words(frame: pd.DataFrame, **config: Any) -> Any:
    module = REGISTRY.get("table-words")
    whole = spaces.complete(module.space, config, module.name)
    return module.make().fit(frame, SCHEMA, whole, Context())


def test_terms_are_weighted_by_how_often_and_how_rare_they_are():
    made = words(FRAME, least_rows=2).transform(FRAME).toarray()
    # "film" and "good" are in two of four rows: idf = ln((1 + 4) / (1 + 2)) + 1
    idf = math.log(5 / 3) + 1
    film, good = idf, (1 + math.log(2)) * idf
    length = math.hypot(film, good)
    stars = (FRAME["stars"] - 2.5) / FRAME["stars"].std(ddof=0)
    np.testing.assert_allclose(made[:, 0], stars)
    np.testing.assert_allclose(
        made[:, 1:], [[film / length, good / length], [1, 0], [0, 0], [0, 1]]
    )


@given(
    st.lists(st.text("ab c", max_size=20), min_size=1, max_size=8),
    st.lists(st.text("abc ", max_size=20), min_size=1, max_size=8),
    st.integers(1, 3),
)
def test_terms_are_those_of_scikit_learn(learnt: list[str], asked: list[str], least_rows: int):
    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, min_df=min(least_rows, len(learnt))
    )
    terms = Terms.learn("t", pd.Series(learnt, dtype=object), min(least_rows, len(learnt)))
    try:
        vectorizer.fit(learnt)
    except ValueError:  # no term is left
        assert len(terms.rarity) == 0
        return
    pairs = [divmod(code, len(terms.words)) for code in terms.pairs]
    word = list(terms.words)
    names = word + [f"{word[first]} {word[second]}" for first, second in pairs]
    wanted = pd.DataFrame(
        vectorizer.transform(asked).toarray(), columns=vectorizer.get_feature_names_out()
    )
    made = terms.transform(pd.Series(asked, dtype=object)).toarray()
    assert sorted(names) == sorted(wanted.columns)
    np.testing.assert_allclose(made, wanted[names].to_numpy(), atol=1e-12)


def test_what_was_kept_transforms_alike(tmp_path: Path):
    transform = words(FRAME, least_rows=1)
    transform.save(tmp_path)
    loaded = REGISTRY.get("table-words").make().load(tmp_path)
    difference = loaded.transform(FRAME) - transform.transform(FRAME)
    assert difference.nnz == 0


def test_a_column_without_words_in_common_is_told():
    frame = FRAME.assign(review=["a1", "b2", "c3", None])
    transform = words(frame, least_rows=2)
    assert any("'review' has no words" in note for note in transform.notes)
    assert transform.transform(frame).shape == (4, 1)


def test_an_absent_text_column_is_named():
    with pytest.raises(InvalidInput, match="review"):
        words(FRAME, least_rows=1).transform(FRAME[["stars"]])


def test_models_of_words_are_offered_for_tables_with_a_text_only():
    without = {"nodes": {"stars": NUMBER}}
    assert REGISTRY.match(REGISTRY.get("words-logistic"), SCHEMA, TARGET).fits
    match = REGISTRY.match(REGISTRY.get("words-logistic"), without, TARGET)
    assert not match.fits
    assert match.why_not


def test_two_words_that_only_together_tell_are_learnt():
    random = np.random.default_rng(0)
    moods = random.choice(["good", "bad"], 400)
    negated = random.random(400) < 0.5
    texts = [f"it was {'not ' if n else ''}{m} to see" for n, m in zip(negated, moods, strict=True)]
    is_good = (moods == "good") != negated
    frame = pd.DataFrame({"review": texts, "stars": random.normal(size=400)})
    frame["target"] = pd.Categorical.from_codes(is_good.astype(int), ["bad", "good"])
    pipeline = {"transforms": [{"module": "table-words"}], "model": {"module": "words-logistic"}}
    trained = fit(pipeline, frame[:200], SCHEMA, TARGET)
    assert score("accuracy", frame["target"][200:], trained.predict(frame[200:])) == 1.0


@pytest.mark.parametrize("texts", [["a pear", None, "an apple", "a pea"], ["ab", "cd", "ab", ""]])
def test_short_texts_are_encoded_as_by_skrub(texts: list[str | None], tmp_path: Path) -> None:
    from skrub import StringEncoder  # which imports Matplotlib

    column = pd.Series(texts, dtype="str", name="text")
    fitted = TextColumn.fit("text", column, components=3, seed=0)
    assert fitted is not None
    filled = column.fillna("")
    by_skrub = StringEncoder(n_components=3, random_state=0).fit(filled)
    expected = by_skrub.transform(filled).to_numpy(dtype=float)
    np.testing.assert_allclose(fitted.transform({"text": column}), expected, atol=1e-6)
    fitted.save(tmp_path / "text.skops")
    read = TextColumn.load("text", fitted.width, tmp_path / "text.skops")
    made = [one.transform({"text": column}) for one in (fitted, read)]
    np.testing.assert_array_equal(*made)
