"""What is said of a column and of its classes."""

from pathlib import Path

import pytest

from easeml.data import infer

from .tables import write


def evidence(tmp_path: Path, name: str, cells: list[str]) -> str:
    rows = "".join(f"{cell},{'ab'[place % 2]}\n" for place, cell in enumerate(cells))
    found = infer(write(tmp_path, f"{name},y\n{rows}"))
    return found.columns[0].evidence


def test_codes_with_leading_zeros_are_said_to_be_that(tmp_path: Path) -> None:
    cells = [f"{place % 45:05d}" if place % 3 else str(11300 + place % 45) for place in range(90)]
    found = evidence(tmp_path, "lesion", cells)
    assert "Some begin with 0, such as '00001', as codes do." in found
    assert "would be a number" not in found


def test_ends_of_a_range_have_no_digits_that_say_nothing(tmp_path: Path) -> None:
    found = evidence(tmp_path, "x", [repr(0.1 + place / 7) for place in range(60)])
    assert found.startswith("Numbers from 0.1 to 8.52857, 60 different.")


@pytest.mark.parametrize(("classes", "told"), [("Yes yes no No", True), ("yes no", False)])
def test_classes_that_differ_only_in_capitals_are_said(
    tmp_path: Path, classes: str, told: bool
) -> None:
    names = classes.split()
    rows = "".join(f"{place * 1.5},{names[place % len(names)]}\n" for place in range(60))
    notes = infer(write(tmp_path, "x,answer\n" + rows)).notes
    assert any("differ only in capitals" in note for note in notes) is told


def test_the_only_column_that_could_be_the_target_is_said_to_be_the_only_one(
    tmp_path: Path,
) -> None:
    texts = [f"my line is down since {place} days and nobody comes" for place in range(40)]
    rows = "".join(f"{'ab'[place % 2]},{text}\n" for place, text in enumerate(texts))
    found = infer(write(tmp_path, "kind,what\n" + rows))
    assert (found.target, found.reason) == ("kind", "the only column that could be one")


@pytest.mark.parametrize(
    ("cells", "told"), [(["thirty"] * 14, True), (["thirty"] * 30, True), ([], False)]
)
def test_a_column_of_repeated_numbers_that_words_make_a_category_says_so(
    tmp_path: Path, cells: list[str], told: bool
) -> None:
    ages = [str(20 + place % 50) for place in range(600)]
    found = evidence(tmp_path, "age", [*ages, *cells])
    assert ("It would be a number but for values such as 'thirty'." in found) is told


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (["garden", "garden;toys", "toys; office", "kitchen;garden;toys", "office;garden"], True),
        ([f"a{place // 9};b{place % 9};c{place % 7}" for place in range(81)], True),
        (["garden", "toys", "office", "kitchen", "home; sweet home"], False),
        ([f"word {place}; other {place}" for place in range(60)], False),
    ],
)
def test_several_tags_in_a_cell_are_said_to_be_taken_as_one_value(
    tmp_path: Path, cells: list[str], told: bool
) -> None:
    found = evidence(tmp_path, "tags", cells * 6)
    assert ("look like several tags: each combination is taken as one value." in found) is told
