"""The proposed target, and what is asked where it is a guess."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from easeml.data import DatasetError, Inference, declare_columns, infer

from .tables import write

RNG = np.random.default_rng(11)


def proposed(tmp_path: Path, frame: pd.DataFrame, target: str | None = None) -> Inference:
    return infer(write(tmp_path, frame.to_csv(index=False)), target)


def numbers(*names: str, rows: int = 120) -> pd.DataFrame:
    return pd.DataFrame({name: RNG.normal(size=rows).round(4) for name in names})


def test_a_guess_names_its_reason_and_its_rivals(tmp_path: Path) -> None:
    frame = numbers("xbox", "width", "yegvx")
    frame.insert(0, "lettr", RNG.choice(list("ABCDE"), 120))
    found = proposed(tmp_path, frame)
    assert (found.target, found.sure) == ("lettr", False)
    assert found.reason == "the only category beside numbers"
    assert "yegvx" in found.rivals
    assert any("not sure" in note and "'yegvx'" in note for note in found.notes)


def test_two_signs_that_agree_are_sure(tmp_path: Path) -> None:
    frame = numbers("alcohol", "ash", "hue")
    frame["cultivar"] = RNG.choice(["barolo", "grignolino", "barbera"], 120)
    found = proposed(tmp_path, frame)
    assert (found.target, found.sure, found.rivals) == ("cultivar", True, ())


def test_the_only_column_with_classes_is_sure_beside_texts(tmp_path: Path) -> None:
    words = [" ".join(RNG.choice(list("abcdefghij"), 9)) for _ in range(120)]
    topic = RNG.choice(["sport", "science", "art"], 120)
    found = proposed(tmp_path, pd.DataFrame({"topic": topic, "told": words}))
    assert (found.target, found.sure) == ("topic", True)
    assert found.reason == "the only column that could be one"


def test_classes_written_as_numbers_are_sure_beside_texts(tmp_path: Path) -> None:
    words = [" ".join(RNG.choice(list("abcdefghij"), 9)) for _ in range(120)]
    found = proposed(tmp_path, pd.DataFrame({"told": words, "liked": RNG.choice([0, 1], 120)}))
    assert (found.target, found.sure) == ("liked", True)


@pytest.mark.parametrize("values", [["N", "P"] * 20, [f"{i}.5" for i in range(40)]])
def test_a_single_column_is_not_asked_for(tmp_path: Path, values: list[str]) -> None:
    found = proposed(tmp_path, pd.DataFrame({"outcome": values}))
    assert not found.target
    with pytest.raises(DatasetError, match="there is one column only, 'outcome'"):
        declare_columns(found.columns)


def test_a_guess_is_not_declared_without_being_asked_for(tmp_path: Path) -> None:
    found = proposed(tmp_path, numbers("a", "b", "c"))
    with pytest.raises(DatasetError, match="not sure which column is to be predicted") as raised:
        declare_columns(found.columns)
    assert "Name one: c, a, b" in raised.value.remedy
    assert declare_columns(found.columns, "c").target == "c"


@pytest.mark.parametrize("name", ["target", "Churn", "final_class", "price"])
def test_a_name_that_tells_is_sure(tmp_path: Path, name: str) -> None:
    frame = numbers("a", name, "z")
    found = proposed(tmp_path, frame)
    assert (found.target, found.sure, found.rivals) == (name, True, ())
    assert declare_columns(found.columns).target == name


@pytest.mark.parametrize(
    "names", [("x", "y", "z"), ("rating", "price", "b"), ("a_class", "b_class", "c")]
)
def test_names_that_tell_of_several_are_no_answer(tmp_path: Path, names: tuple[str, ...]) -> None:
    assert not proposed(tmp_path, numbers(*names)).sure


def test_a_target_that_is_given_is_not_questioned(tmp_path: Path) -> None:
    found = proposed(tmp_path, numbers("a", "b", "c"), "a")
    assert (found.target, found.sure, found.notes) == ("a", True, [])


def test_arff_has_its_target_last(tmp_path: Path) -> None:
    rows = "\n".join(f"{i % 7},{i % 11},{i % 5}.5" for i in range(60))
    attributes = "".join(f"@attribute {name} numeric\n" for name in ("a", "b", "c"))
    found = infer(write(tmp_path, f"@relation r\n{attributes}@data\n{rows}\n", "table.arff"))
    assert (found.target, found.sure) == ("c", True)


def test_a_proposal_is_not_told_beside_a_target_that_was_given(tmp_path: Path) -> None:
    frame = numbers("a", "b", "c")
    found = proposed(tmp_path, frame)
    assert any("Proposed as the target" in column.evidence for column in found.columns)
    declared = declare_columns(found.columns, "a")
    assert not any("Proposed" in column.evidence for column in declared.columns)


def test_a_proposal_is_not_told_where_the_target_that_was_given_is_the_same(tmp_path: Path) -> None:
    found = proposed(tmp_path, numbers("a", "b", "c"))
    declared = declare_columns(found.columns, found.target)
    assert not any("Proposed" in column.evidence for column in declared.columns)


def test_a_category_in_the_midst_is_no_target(tmp_path: Path) -> None:
    frame = numbers("enrolled", "teachers", "meals", "points")
    frame.insert(2, "span", RNG.choice(["KK-06", "KK-08"], 120))
    found = proposed(tmp_path, frame)
    assert (found.target, found.sure) == ("points", False)
    assert "span" in found.rivals


def test_where_things_come_from_and_parts_of_dates_are_no_targets(tmp_path: Path) -> None:
    frame = numbers("mass", "power", "consumption")
    frame["origin"] = RNG.choice(["Europe", "Asia"], 120)
    frame.insert(0, "hour", RNG.integers(0, 24, 120))
    found = proposed(tmp_path, frame)
    assert (found.target, found.sure) == ("consumption", False)
    assert "hour" not in found.rivals
    frame["mpg"] = RNG.normal(size=120).round(3)
    assert proposed(tmp_path, frame[["mpg", *frame.columns[:-1]]]).target == "mpg"


@pytest.mark.parametrize("code", ["dist_cod", "countyCode", "zip"])
def test_codes_are_no_rivals(tmp_path: Path, code: str) -> None:
    frame = numbers("income", "expenses", "score1")
    frame.insert(0, code, RNG.integers(60_000, 70_000, 120))
    found = proposed(tmp_path, frame)
    assert not found.sure
    assert code not in found.rivals
    frame = frame[["income", "expenses", code]]  # nor a guess, though last
    assert proposed(tmp_path, frame).target == "expenses"


def test_several_columns_of_two_values_are_rivals(tmp_path: Path) -> None:
    frame = numbers("a", "b", "c")
    for name in ("toxic", "slow", "rude"):
        frame[name] = RNG.integers(0, 2, 120)
    found = proposed(tmp_path, frame)
    assert found.target == "rude"
    assert {"toxic", "slow"} <= set(found.rivals)
    assert "perhaps 'rude' (the last column that could be one)." in found.notes[0]


def test_numbers_that_count_many_rows_from_anywhere_are_no_inputs(tmp_path: Path) -> None:
    frame = numbers("a", "b", "y", rows=400)
    frame.insert(0, "Auftrag", range(5000, 5400))
    frame.insert(1, "day", range(5000, 5400))
    roles = {one.name: one.role for one in proposed(tmp_path, frame).columns}
    assert roles["Auftrag"] == "drop"
    assert roles["day"] == "input"


def test_the_only_column_beside_times_is_sure(tmp_path: Path) -> None:
    frame = numbers("value")
    frame.insert(0, "date", pd.date_range("2020-01-01", periods=len(frame)).strftime("%Y-%m-%d"))
    found = proposed(tmp_path, frame)
    assert (found.target, found.sure) == ("value", True)


def many_numbered() -> pd.DataFrame:
    columns = {f"gene{place:03d}": RNG.normal(size=120).round(3) for place in range(30)}
    return pd.DataFrame(columns)


def test_the_only_column_that_is_not_numbered_is_the_target(tmp_path: Path) -> None:
    frame = many_numbered()
    frame["state"] = RNG.choice(["ill", "well"], 120)  # else the name of a place
    found = proposed(tmp_path, frame)
    assert (found.target, found.sure) == ("state", True)


def test_a_target_is_guessed_among_the_columns_that_are_not_numbered(tmp_path: Path) -> None:
    frame = many_numbered()
    frame.insert(0, "age", RNG.integers(20, 90, 120))
    frame.insert(1, "weight", RNG.normal(70, 10, 120).round(1))
    found = proposed(tmp_path, frame)
    assert not found.sure
    assert {found.target, *found.rivals} == {"age", "weight"}
