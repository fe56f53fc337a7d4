"""Dirty tables become relations whose candidates hold the truth, with weights that mean something."""

import numpy as np
import pandas as pd
import pytest

import easeml
from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning import candidates_of, plan_table
from easeml.lifecycle.cleaning.detectors import mark_missing
from easeml.lifecycle.cleaning.rough_matrix import RoughColumns
from easeml.lifecycle.doubts import clean, relation_of, table_candidates
from easeml.relation import Relation


@pytest.fixture(scope="module")
def true() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    width = rng.normal(10, 2, 300).round(2)
    frame = pd.DataFrame({"width": width, "height": (width * 2 + rng.normal(0, 0.2, 300)).round(2)})
    frame["city"] = rng.choice(["Basel", "Bern", "Zurich"], 300)
    frame["zip"] = frame["city"].map({"Basel": "4001", "Bern": "3011", "Zurich": "8001"})
    frame["count"] = rng.integers(1, 9, 300)
    frame["label"] = np.where(frame["width"] > 10, "wide", "thin")
    return frame


@pytest.fixture(scope="module")
def dirty(true: pd.DataFrame) -> pd.DataFrame:
    frame = true.copy()
    frame.loc[0:29, "height"] = np.nan
    frame.loc[30, "width"] = 1000.0
    frame.loc[40:45, "zip"] = "9999"
    frame.loc[50, "city"] = "Zurihc"
    return frame


@pytest.fixture(scope="module")
def cleaned(dirty: pd.DataFrame) -> Relation:
    roles = ["train"] * 200 + ["validation"] * 100
    return clean(Relation.from_frame(dirty, target="label", roles=roles))


def test_the_truth_is_among_the_candidates_and_what_is_likeliest_is_near(
    cleaned: Relation, true: pd.DataFrame
):
    likeliest = cleaned.to_frame()
    off = (likeliest["height"] - true["height"]).abs()[:30]
    assert off.mean() < (true["height"].mean() - true["height"]).abs()[:30].mean() / 3
    assert likeliest.loc[50, "city"] == true.loc[50, "city"]
    found = cleaned.candidates()
    zips = found[(found["column"] == "zip") & found["row"].between(40, 45)]
    assert (zips.groupby("row")["value"].agg(set).map(len) >= 2).all()
    right = zips[zips["value"] == zips["row"].map(true["zip"])]
    assert list(right["row"]) == list(range(40, 46))


def test_what_is_only_suspected_keeps_its_value_and_names_its_tool(cleaned: Relation):
    found = cleaned.candidates()
    outlier = found[(found["row"] == 30) & (found["column"] == "width")]
    assert 1000.0 in set(outlier["value"])
    assert set(outlier["tool"]) == {"clean: outlier"}
    assert set(found["column"]) <= {"width", "height", "city", "zip", "count"}


def test_a_cap_is_kept_and_told(dirty: pd.DataFrame):
    found = clean(Relation.from_frame(dirty, target="label"), most=2).candidates()
    assert found.groupby("block").size().max() == 2
    assert found["tool"].str.contains("2 of").any()
    assert np.allclose(found.groupby("block")["weight"].sum(), 1)
    with pytest.raises(InvalidInput, match="at least one"):
        clean(Relation.from_frame(dirty), most=0)


def test_whole_numbers_stay_whole_and_what_is_told_already_stays(dirty: pd.DataFrame):
    frame = dirty.astype({"count": "Int64"})
    frame.loc[3, "count"] = pd.NA
    relation = Relation.from_frame(frame, target="label")
    relation = relation.with_candidates(0, "height", {1.0: 1.0})
    found = clean(relation).candidates()
    assert all(isinstance(value, int) for value in found[found["column"] == "count"]["value"])
    assert list(found[(found["row"] == 0) & (found["column"] == "height")]["value"]) == [1.0]


def test_models_that_repair_a_column_are_not_shown_it(dirty: pd.DataFrame):
    text = dirty.astype(object).where(dirty.notna(), "").map(str)
    rows = RoughColumns(text, mark_missing(text))
    assert rows.without("width").shape[1] == rows.all().shape[1] - 1
    made = candidates_of(text[:200], text[200:], "label")
    off = [
        min(ways, key=lambda way: -way[1])[0]["height"] - float(text.at[row, "width"]) * 2
        for row in range(29)
        for ways in [list(zip(made.options[row], made.rows.weights_of(row), strict=True))]
    ]
    assert np.abs(off).mean() < 1


def test_a_relation_and_a_table_give_one_plan(dirty: pd.DataFrame):
    text = dirty.astype(object).where(dirty.notna(), "").map(str)
    train, valid = text[:200].reset_index(drop=True), text[200:].reset_index(drop=True)
    made = candidates_of(train, valid, "label")
    relation = relation_of(made, train, "label")
    rows = pd.concat([relation.to_frame(), valid], ignore_index=True)
    both = Relation.from_frame(rows, "label", ["train"] * 200 + ["validation"] * 100)
    blocks, sources = relation.content.blocks, relation.content.sources
    content = both.content
    both = Relation(
        type(content)(content.table, content.row_ids, content.roles, "label", blocks, sources)
    )
    back = table_candidates(both)
    assert [len(each) for each in back.options] == [len(each) for each in made.options]
    assert np.allclose(back.rows.weights, made.rows.weights)
    assert plan_table(back, n=5).certain == pytest.approx(plan_table(made, n=5).certain, abs=0.05)


def test_a_plan_of_cleaning_is_a_step(dirty: pd.DataFrame):
    unknown = dirty.copy()
    unknown.loc[0:29, ["width", "height"]] = np.nan  # nothing else says how wide these are
    named = unknown.set_index(pd.Index([f"r{row}" for row in range(300)]))
    relation = easeml.Relation.from_frame(named, "label", ["train"] * 200 + ["validation"] * 100)
    plan = relation.clean().plan_cleaning(n=3).eval()
    assert plan["dirty"] >= 30
    assert plan["planned"][0]["row_id"] == f"r{plan['planned'][0]['row']}"
    assert plan["planned"][0]["cells"]


def test_codes_are_told_row_by_row():
    """Of a code that follows from another column in some rows, these rows are sure, and no others."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"size": rng.normal(size=900), "kind": rng.choice(["a", "b"], 900)})
    follows = np.where(frame["size"] > 0, 3.0, 1.0)
    drawn = rng.choice([1.0, 2.0, 3.0], 900)
    frame["code"] = np.where(frame["kind"] == "a", follows, drawn)
    truth = frame["code"].copy()
    hidden = rng.random(900) < 0.2
    frame.loc[hidden, "code"] = np.nan
    found = clean(Relation.from_frame(frame)).candidates()
    told = found[found["column"] == "code"]
    assert set(told["value"]) <= {1.0, 2.0, 3.0}
    first = told.loc[told.groupby("row")["weight"].idxmax()].set_index("row")
    right = first["value"] == truth[first.index]
    sure = frame.loc[first.index, "kind"] == "a"
    assert first["weight"][sure].mean() > 0.9
    assert first["weight"][~sure].mean() < 0.6
    for part in (sure, ~sure):
        assert first["weight"][part].mean() == pytest.approx(right[part].mean(), abs=0.12)
