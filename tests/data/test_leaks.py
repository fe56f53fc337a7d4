"""Columns that know the target too well, each with what shows it."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from easeml.data import ColumnReport, declare_columns, infer, infer_table, read_table

from .tables import write

RNG = np.random.default_rng(5)
ROWS = 600


def leaks(tmp_path: Path, frame: pd.DataFrame, target: str) -> dict[str, str]:
    found = infer(write(tmp_path, frame.to_csv(index=False)), target)
    return {one.name: one.leaks[target] for one in found.columns if target in one.leaks}


def taxis() -> pd.DataFrame:
    fare = (2.5 + RNG.lognormal(2, 0.6, ROWS)).round(2)
    tip = np.where(RNG.random(ROWS) < 0.6, (fare * RNG.uniform(0.1, 0.3, ROWS)).round(2), 0)
    tolls = np.where(RNG.random(ROWS) < 0.07, 6.55, 0)
    extra = RNG.choice([0.3, 0.8, 1.3, 3.3], ROWS)
    return pd.DataFrame(
        {
            "distance": (fare / 3 + RNG.normal(0, 0.8, ROWS)).round(2),
            "fare": fare,
            "tip": tip,
            "tolls": tolls,
            "total": (fare + tip + tolls + extra).round(2),
        }
    )


def test_a_target_that_is_a_part_of_another_column(tmp_path: Path) -> None:
    found = leaks(tmp_path, taxis(), "fare")
    assert "a part of it" in found["total"]
    assert "it makes up 'total'" in found["tip"]
    assert "distance" not in found


def test_a_column_that_is_empty_just_where_a_class_holds(tmp_path: Path) -> None:
    mood = RNG.choice(["negative", "neutral", "positive"], ROWS)
    reason = np.where(mood == "negative", RNG.choice(["late", "lost", "rude"], ROWS), "")
    frame = pd.DataFrame({"mood": mood, "reason": reason, "n": RNG.normal(size=ROWS).round(3)})
    found = leaks(tmp_path, frame, "mood")
    assert set(found) == {"reason"}
    assert "filled just where the target has one value" in found["reason"]


def test_gaps_by_chance_are_no_leak(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"mood": RNG.choice(["a", "b"], ROWS), "x": RNG.normal(size=ROWS).round(3)}
    )
    frame.loc[RNG.random(ROWS) < 0.4, "x"] = np.nan
    assert leaks(tmp_path, frame, "mood") == {}


def test_a_copy_in_another_scale(tmp_path: Path) -> None:
    wage = RNG.lognormal(4.6, 0.4, ROWS).round(3)
    frame = pd.DataFrame(
        {"age": RNG.integers(18, 70, ROWS), "logwage": np.log(wage).round(5), "wage": wage}
    )
    assert set(leaks(tmp_path, frame, "wage")) == {"logwage"}


def test_a_product(tmp_path: Path) -> None:
    size, each = RNG.integers(300, 4000, ROWS), RNG.lognormal(8, 0.4, ROWS)
    frame = pd.DataFrame(
        {
            "sqft": size,
            "rooms": RNG.integers(1, 7, ROWS),
            "price_per_sqft": each.round(),
            "price": (size * each).round(),
        }
    )
    assert set(leaks(tmp_path, frame, "price")) == {"sqft", "price_per_sqft"}


@pytest.mark.parametrize("name", ["tweet_id", "specobjid"])
def test_long_identifiers_that_repeat_are_identifiers(tmp_path: Path, name: str) -> None:
    ids = 570_000_000_000_000_000 + np.repeat(RNG.permutation(ROWS), 1) * 977
    ids[:20] = ids[20:40]
    frame = pd.DataFrame(
        {name: ids, "a": RNG.normal(size=ROWS).round(3), "y": RNG.choice(["u", "v"], ROWS)}
    )
    report = infer(write(tmp_path, frame.to_csv(index=False))).columns[0]
    assert (report.nature, report.role) == ("identifier", "drop")


def test_leaks_of_another_target_than_the_proposed_are_known(tmp_path: Path) -> None:
    table = read_table(
        write(tmp_path, taxis().assign(target=RNG.choice(["a", "b"], ROWS)).to_csv(index=False))
    )
    reports: list[ColumnReport] = infer_table(table).columns
    made = declare_columns(reports, "fare")
    assert {one.name for one in made.columns if one.nature == "leak"} >= {"total", "tip"}
    assert not [one for one in declare_columns(reports).columns if one.nature == "leak"]


def test_independent_numbers_are_no_leaks(tmp_path: Path) -> None:
    frame = pd.DataFrame(RNG.normal(size=(ROWS, 12)).round(3), columns=[f"c{i}" for i in range(12)])
    assert all(leaks(tmp_path, frame, f"c{i}") == {} for i in (0, 11))


def test_a_code_whose_commonest_value_stands_for_no_case(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    surgery = rng.choice(["yes", "no"], 300, p=[0.63, 0.37])
    codes = [f"{rng.integers(1000, 9999)}1" if one == "yes" else "00000" for one in surgery]
    frame = pd.DataFrame({"pulse": rng.normal(70, 9, 300), "lesion": codes, "surgery": surgery})
    assert "commonest value" in leaks(tmp_path, frame, "surgery")["lesion"]
    frame["lesion"] = rng.permutation(codes)
    assert "lesion" not in leaks(tmp_path, frame, "surgery")


def test_numbers_near_the_largest_are_looked_at_without_a_warning(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"a": rng.choice([1e308, -1e308], 80), "t": rng.random(80) * 1e300})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leaks(tmp_path, frame, "t")


def schools() -> pd.DataFrame:
    """Scores in single precision, whose mean is the target; and three columns of one relation."""
    pupils = RNG.integers(80, 9000, ROWS)
    teachers = (pupils / RNG.uniform(14, 26, ROWS)).round(2)
    reading = RNG.normal(655, 20, ROWS).round(1).astype(np.float32)
    maths = (reading + RNG.normal(0, 9, ROWS)).round(1).astype(np.float32)
    return pd.DataFrame(
        {
            "pupils": pupils,
            "teachers": teachers,
            "each": (pupils / teachers).astype(np.float32),
            "reading": reading.astype(float),
            "maths": maths.astype(float),
            "score": ((reading + maths) / np.float32(2)).astype(float),
        }
    )


def test_columns_that_make_up_each_other_are_no_leaks_of_another(tmp_path: Path) -> None:
    assert set(leaks(tmp_path, schools(), "score")) == {"reading", "maths"}
    assert set(leaks(tmp_path, schools(), "each")) == {"pupils", "teachers"}


def test_a_mean_in_single_precision_is_a_sum(tmp_path: Path) -> None:
    assert "the target is 0.5 × " in leaks(tmp_path, schools(), "score")["maths"]


def test_each_of_two_columns_that_can_stand_for_each_other_is_named(tmp_path: Path) -> None:
    kilos, metres = RNG.normal(70, 9, ROWS).round(2), RNG.normal(60, 9, ROWS).round(2)
    frame = pd.DataFrame({"kilos": kilos, "pounds": kilos * 2.2, "metres": metres})
    frame["index"] = frame["kilos"] + frame["metres"]
    assert set(leaks(tmp_path, frame, "index")) == {"kilos", "pounds", "metres"}


def test_factors_are_named_beside_their_product(tmp_path: Path) -> None:
    price, number = RNG.uniform(10, 99, ROWS).round(2), RNG.integers(1, 11, ROWS)
    frame = pd.DataFrame({"price": price, "number": number, "cost": (price * number).round(2)})
    frame["tax"] = (frame["cost"] * 0.05).round(4)
    found = leaks(tmp_path, frame, "tax")
    assert set(found) == {"price", "number", "cost"}
    assert "alone" in found["cost"]
    assert found["price"] == "the target is 0.05 × 'price' × 'number'"


def test_the_fits_that_look_for_a_sum_do_not_read_all_rows_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = pd.DataFrame(RNG.normal(size=(4 * ROWS, 12)).round(3), columns=[*"abcdefghijkl"])
    frame = parts.assign(total=(2.5 * parts["a"] + 0.5 * parts["b"] - 3 * parts["c"]).round(4))
    rows: list[int] = []
    least_squares = np.linalg.lstsq

    def counted(X: np.ndarray, *rest: object, **options: object) -> object:
        rows.append(len(X))
        return least_squares(X, *rest, **options)

    monkeypatch.setattr(np.linalg, "lstsq", counted)
    found = leaks(tmp_path, frame, "total")
    assert set(found) == {"a", "b", "c"}
    assert len(rows) > 12
    assert sum(rows) < 2 * len(frame)


def test_the_formula_of_a_target_is_told(tmp_path: Path) -> None:
    pupils, teachers = RNG.integers(100, 900, ROWS), RNG.integers(5, 60, ROWS)
    reading, maths = RNG.normal(650, 20, ROWS).round(1), RNG.normal(660, 20, ROWS).round(1)
    schools = pd.DataFrame({"pupils": pupils, "teachers": teachers, "each": pupils / teachers})
    assert leaks(tmp_path, schools, "each")["pupils"] == "the target is 'pupils' / 'teachers'"
    marks = pd.DataFrame({"mean": (reading + maths) / 2, "reading": reading, "maths": maths})
    told = leaks(tmp_path, marks, "maths")["mean"]
    assert told == "the target is 2 × 'mean' - 'reading'"


def test_parts_of_a_sum_are_found_though_some_cells_are_empty(tmp_path: Path) -> None:
    marks = pd.DataFrame(RNG.integers(0, 40, (ROWS, 3)).astype(float), columns=["a", "b", "c"])
    frame = marks.assign(total=marks.sum(axis=1), other=RNG.normal(size=ROWS).round(3))
    for name in ("a", "b", "c"):
        frame.loc[RNG.random(ROWS) < 0.05, name] = np.nan
    assert set(leaks(tmp_path, frame, "total")) == {"a", "b", "c"}


def test_a_mean_and_a_ratio_that_are_rounded(tmp_path: Path) -> None:
    marks = pd.DataFrame(RNG.integers(1, 7, (ROWS, 4)), columns=["a", "b", "c", "d"])
    grades = marks.assign(mean=marks.mean(axis=1).round(1), other=RNG.normal(size=ROWS).round(3))
    assert set(leaks(tmp_path, grades, "mean")) == {"a", "b", "c", "d"}
    height, weight = RNG.normal(1.7, 0.1, ROWS).round(2), RNG.normal(72, 13, ROWS).round(1)
    people = pd.DataFrame({"height": height, "weight": weight, "age": RNG.integers(18, 80, ROWS)})
    people["bmi"] = (weight / height**2).round(1)
    assert set(leaks(tmp_path, people, "bmi")) == {"height", "weight"}


@pytest.mark.parametrize("noise", [0.2, 1.0])
def test_a_line_with_noise_is_no_formula(tmp_path: Path, noise: float) -> None:
    """Rounded to whole numbers, it is no farther from a line than twice its last digit."""
    frame = pd.DataFrame(RNG.normal(size=(ROWS, 3)).round(3), columns=["a", "b", "c"])
    line = 4 * frame["a"] + 3 * frame["b"] + noise * RNG.normal(size=ROWS)
    assert leaks(tmp_path, frame.assign(y=line.round()), "y") == {}


def test_the_seconds_between_two_times(tmp_path: Path) -> None:
    seconds = RNG.lognormal(6, 0.7, ROWS).round().astype(int)
    start = pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 7e6, ROWS), unit="s")
    frame = pd.DataFrame({"seconds": seconds, "start": start, "zone": RNG.integers(1, 30, ROWS)})
    frame["end"] = start + pd.to_timedelta(seconds, unit="s")
    found = leaks(tmp_path, frame, "seconds")
    assert found == dict.fromkeys(("start", "end"), "the target is - 'start' + 'end'")


def test_a_line_with_a_few_mistyped_cells(tmp_path: Path) -> None:
    density = RNG.normal(1.05, 0.02, ROWS).round(4)
    fat = (495 / density - 450).round(1)
    fat[:: ROWS // 20] = RNG.uniform(0, 40, len(fat[:: ROWS // 20])).round(1)
    frame = pd.DataFrame({"fat": fat, "density": density, "age": RNG.integers(20, 80, ROWS)})
    assert set(leaks(tmp_path, frame, "fat")) == {"density"}


def test_what_only_one_class_has(tmp_path: Path) -> None:
    """A fee of six in ten debts that were not paid; words that one class alone has are no leaks."""
    is_unpaid = RNG.random(ROWS) < 0.3
    has_fee = is_unpaid & (RNG.random(ROWS) < 0.6)
    frame = pd.DataFrame(
        {
            "paid": np.where(is_unpaid, "no", "yes"),
            "fee": np.where(has_fee, RNG.lognormal(4, 1, ROWS).round(2), 0),
            "reason": np.where(has_fee, RNG.choice(["moved", "ill", "broke"], ROWS), ""),
            "words": np.where(has_fee, RNG.integers(1, 4, ROWS), 0),
            "amount": RNG.lognormal(6, 1, ROWS).round(2),
        }
    )
    found = leaks(tmp_path, frame, "paid")
    assert set(found) == {"fee", "reason"}
    assert "only where the target has one value it is filled" in found["fee"]
