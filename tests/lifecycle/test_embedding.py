"""Texts of a relation as numbers, which are learned from its train rows alone."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import easeml
from easeml import Relation
from easeml.errors import EasemlError

ROLES = ["train"] * 40 + ["validation"] * 10 + ["test"] * 10
PAIR = ["text_1", "text_2"]


def table() -> pd.DataFrame:
    spam = np.arange(60) % 3 == 0
    texts = [
        f"win cash prizes now call {row}" if is_spam else f"see you at home tonight {row}"
        for row, is_spam in enumerate(spam)
    ]
    kinds = np.where(spam, "spam", "ham")
    return pd.DataFrame({"text": texts, "words": np.arange(60.0), "kind": kinds})


def relation(**columns: object) -> Relation:
    return Relation.from_frame(table().assign(**columns), target="kind", roles=ROLES)


def test_numbers_that_tell_texts_apart_stand_in_their_place() -> None:
    texts = [None, *table()["text"][1:]]
    found = relation(text=texts).embed(dimensions=2).to_frame()
    assert set(found.columns) == {"words", "kind", *PAIR}
    assert found[PAIR].loc[0].isna().all()
    known = found.loc[1:]
    means = known.groupby("kind")[PAIR].mean()
    inside = known.groupby("kind")[PAIR].std().max(axis=None)
    assert np.linalg.norm(means.loc["spam"] - means.loc["ham"]) > 5 * inside
    kept = relation().embed(keep=True).to_frame()
    assert kept["text"].tolist() == table()["text"].tolist()


@settings(max_examples=15)
@given(row=st.integers(40, 59), text=st.text(max_size=40))
def test_rows_that_do_not_train_change_no_other_row(row: int, text: str) -> None:
    texts = table()["text"].tolist()
    texts[row] = text
    before, after = relation().embed(["text"], 4), relation(text=texts).embed(["text"], 4)
    pd.testing.assert_frame_equal(before.to_frame().drop(row), after.to_frame().drop(row))


def test_the_order_of_rows_does_not_matter() -> None:
    shuffled = np.random.default_rng(0).permutation(60)
    roles = np.array(ROLES)[shuffled].tolist()
    again = Relation.from_frame(table().iloc[shuffled], "kind", roles).embed(dimensions=2)
    usual = relation().embed(dimensions=2).to_frame()
    assert np.allclose(again.to_frame().loc[usual.index, PAIR], usual[PAIR], atol=1e-3)


def test_every_candidate_has_the_numbers_that_its_text_would_have() -> None:
    doubtful = relation().with_candidates(45, "text", {"win cash": 0.6, "see you": 0.4})
    found = doubtful.embed(dimensions=2).candidates().set_index(["candidate", "column"])["value"]
    for place, text in enumerate(["win cash", "see you"]):
        texts = table()["text"].tolist()
        texts[45] = text
        certain = relation(text=texts).embed(dimensions=2).to_frame()
        told = [found[(place, column)] for column in PAIR]
        assert told == pytest.approx(certain.loc[45, PAIR].tolist())


def test_made_rows_are_not_learned_from() -> None:
    usual = relation().embed(dimensions=3).to_frame()
    made = relation().augment(2, synonyms={"cash": ["gold"]}).embed(dimensions=3).to_frame()
    pd.testing.assert_frame_equal(made.loc[usual.index], usual, check_dtype=False)
    assert made.filter(like="text_").notna().all(axis=None)


def test_rows_are_left_out_after_texts_were_learned() -> None:
    """Moved above, the filter would have left other rows to learn from."""
    late = relation().embed(dimensions=2).filter("words > 30").to_frame()
    usual = relation().embed(dimensions=2).to_frame()
    pd.testing.assert_frame_equal(late, usual[usual["words"] > 30])


def test_tools_work_with_the_numbers() -> None:
    embedded = relation().embed(dimensions=3)
    assert embedded.feasibility(goal=0.9).eval()["upper"] < 0.1
    wrong = table()["kind"].tolist()
    wrong[4] = "spam"
    checked = relation(kind=wrong).embed(dimensions=3).check_labels().eval()
    assert list(checked["row_ids"]) == [4]
    assert embedded.suggest()


def test_a_flow_gives_the_same_numbers(tmp_path: Path) -> None:
    table().to_csv(tmp_path / "rows.csv", index=False)
    staged = easeml.Relation.from_frame(table(), target="kind").split(seed=1).embed(["text"], 5)
    staged.save_flow(tmp_path / "flow.toml")
    again = easeml.Relation.from_flow(tmp_path / "flow.toml")
    (found,) = [each for each in again.values() if each.node.operator.name == "embed"]
    pd.testing.assert_frame_equal(found.to_frame(), staged.to_frame())


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        ({"columns": ["txet"]}, "no such column"),
        ({"columns": ["words"]}, "no texts"),
        ({"columns": ["kind"]}, "the target"),
        ({"dimensions": 0}, "say nothing"),
    ],
)
def test_what_cannot_be_embedded_is_refused(wishes: dict, message: str) -> None:
    with pytest.raises(EasemlError, match=message):
        relation().embed(**wishes).eval()


def test_relations_without_roles_texts_or_words_are_refused() -> None:
    with pytest.raises(EasemlError, match="no roles") as refused:
        Relation.from_frame(table(), target="kind").embed().eval()
    assert "split()" in str(refused.value)
    with pytest.raises(EasemlError, match="No column holds texts"):
        Relation.from_frame(table()[["words", "kind"]], "kind", ROLES).embed().eval()
    with pytest.raises(EasemlError, match="no text to learn from"):
        relation(text=[None] * 40 + ["so it is"] * 20).embed(["text"]).eval()
    with pytest.raises(EasemlError, match="a column 'text_2' already"):
        relation(text_2=1.0).embed().eval()
