"""Columns whose rows are of the same somebody, with like answers; and those that only look so."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from easeml.data import declare, infer, infer_table, read_table

from .tables import write

RNG = np.random.default_rng(3)
COUNTRIES, YEARS = 40, 12
LIVES = np.repeat(RNG.normal(70, 9, COUNTRIES), YEARS) + RNG.normal(0, 1, COUNTRIES * YEARS)


def countries() -> pd.DataFrame:
    """Twelve years of each of forty countries, whose lives are long or short."""
    names = [
        f"{'ABCDEFGH'[i % 8]}land {['north', 'south', 'east', 'west', 'mid'][i // 8]}"
        for i in range(40)
    ]
    return pd.DataFrame(
        {
            "Country": np.repeat(names, YEARS),
            "Year": np.tile(np.arange(2000, 2000 + YEARS), COUNTRIES),
            "gdp": RNG.lognormal(8, 1, len(LIVES)).round(1),
            "rich": np.where(LIVES > 70, "yes", "no"),
            "life": LIVES.round(1),
        }
    )


def alike(tmp_path: Path, frame: pd.DataFrame, target: str) -> dict[str, str]:
    found = infer(write(tmp_path, frame.to_csv(index=False)), target)
    return {one.name: one.alike[target] for one in found.columns if target in one.alike}


def test_rows_of_one_country_are_alike_in_a_number(tmp_path: Path) -> None:
    frame = countries()
    found = alike(tmp_path, frame, "life")
    assert list(found) == ["Country"]
    lives = frame["life"].to_numpy()
    gaps = np.abs(lives[:, None] - lives[None, :])
    same = frame["Country"].to_numpy()[:, None] == frame["Country"].to_numpy()[None, :]
    other = ~np.eye(len(lives), dtype=bool)
    within, between = gaps[same & other].mean(), gaps[other].mean()
    assert found["Country"] == (
        f"two of them differ in 'life' by {within:.3g} on average, any two rows by {between:.3g}"
    )


def test_rows_of_one_country_are_alike_in_a_class(tmp_path: Path) -> None:
    frame = countries()
    found = alike(tmp_path, frame, "rich")
    rich = frame["rich"].to_numpy()
    same = frame["Country"].to_numpy()[:, None] == frame["Country"].to_numpy()[None, :]
    other = ~np.eye(len(rich), dtype=bool)
    agree = rich[:, None] == rich[None, :]
    within, between = agree[same & other].mean(), agree[other].mean()
    assert found == {
        "Country": f"two of them have the same 'rich' in {within:.0%} of cases, any two rows "
        f"in {between:.0%}"
    }


@pytest.mark.parametrize("text", ["{}", "{} of the long name that some of them have", "2020-01-{}"])
def test_what_is_no_somebody_is_not_told(tmp_path: Path, text: str) -> None:
    """By chance alike; texts; and times."""
    frame = countries()
    day = np.repeat(np.arange(1, 25), 20)
    frame["Country"] = [text.format(f"{one:02d}") for one in day]
    frame["life"] = (
        day + RNG.normal(0, 0.1, len(day)) if text != "{}" else RNG.normal(size=len(day))
    )
    assert alike(tmp_path, frame, "life") == {}


def test_ordinary_categories_are_not_told(tmp_path: Path) -> None:
    """Few values; frequent ones beside rare ones; and as many values as rows."""
    rows = len(LIVES)
    rank = LIVES.argsort().argsort()
    makes = np.minimum((rows / (1 + rank)).astype(int), 40)
    frame = pd.DataFrame(
        {
            "level": [f"level {'abcdefghij'[one * 10 // rows]}" for one in rank],
            "make": [f"make {'x' * one}" for one in makes],
            "word": [f"w{one}" for one in rank],
            "life": LIVES.round(1),
        }
    )
    assert alike(tmp_path, frame, "life") == {}


def test_a_column_named_like_somebody_may_be_uneven(tmp_path: Path) -> None:
    frame = countries().rename(columns={"Country": "patient"})
    first = frame["patient"].iloc[0]
    frame.loc[: 8 * YEARS - 1, "patient"] = first
    frame.loc[: 8 * YEARS - 1, "life"] = 50 + RNG.normal(0, 1, 8 * YEARS).round(1)
    assert list(alike(tmp_path, frame, "life")) == ["patient"]


def test_both_ways_out_are_told_before_and_after_start(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, countries().to_csv(index=False)))
    seen = infer_table(table, "life")
    fact = next(one.alike["life"] for one in seen.columns if one.name == "Country")
    note = (
        f"Rows of the same 'Country' are alike: {fact}. A random split has them among training and "
        "test rows, so the quality is that for a known 'Country'. Keep it if you will predict for "
        "these; if for others, test on others (--split 'group:Country')."
    )
    assert note in seen.told
    assert note in declare(table, seen.columns, "life").notes
    assert note not in declare(table, seen.columns, "life", split="group:Country").notes


def test_groups_of_large_tables_are_told_by_all_rows(tmp_path: Path) -> None:
    """Of a sample there are fewer rows than values, of all rows there are five a value."""
    frame = countries().rename(columns={"Country": "patient"})
    frame["patient"] = [f"p{one // 4}" for one in range(len(frame))]
    table = read_table(write(tmp_path, frame.to_csv(index=False)))
    seen = infer_table(table, "gdp", sample=100)
    assert next(one.nature for one in seen.columns if one.name == "patient") == "group"
