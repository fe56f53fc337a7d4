"""What looks wrong in a table."""

import numpy as np
import pandas as pd
import pytest

from easeml.errors import InvalidInput
from easeml.lifecycle.cleaning import METHODS, Rule, detect_errors, parse_rules


def cities(count: int = 60) -> pd.DataFrame:
    """A clean table in which the zip code says the city."""
    generator = np.random.default_rng(0)
    place = generator.integers(0, 4, count)
    names = np.array(["springfield", "riverside", "franklin", "greenville"])
    return pd.DataFrame(
        {
            "zip": np.array(["35233", "36301", "36360", "35150"])[place],
            "city": names[place],
            "score": generator.normal(50, 5, count).round(1).astype(str),
            "when": [
                f"{h}:{m:02d} a.m."
                for h, m in zip(
                    generator.integers(1, 12, count), generator.integers(0, 60, count), strict=True
                )
            ],
        }
    )


def found(table: pd.DataFrame, method: str, **more: object) -> set[tuple[int, str]]:
    report = detect_errors(table, methods=[method], **more)  # pyright: ignore[reportArgumentType]
    return {(cell.row, cell.column) for cell in report.cells}


@pytest.mark.parametrize("method", [m for m in METHODS if m != "duplicate"])
def test_a_clean_table_has_no_findings(method: str) -> None:
    assert found(cities(), method, rules=[Rule(("zip",), "city")]) == set()


@pytest.mark.parametrize("word", ["", "N/A", "null", " ? ", "#DIV/0!", None, np.nan])
def test_missing(word: object) -> None:
    table = cities().astype(object)
    table.at[3, "city"] = word
    assert found(table, "missing") == {(3, "city")}


def test_units_beside_numbers_with_the_number_as_suggestion() -> None:
    table = cities()
    table.loc[[1, 2], "score"] = ["48.0 points", "5o"]
    report = detect_errors(table, methods=["format"])
    assert {(cell.row, cell.suggestion) for cell in report.cells} == {(1, "48"), (2, "5")}


def test_a_column_with_one_unit_is_as_it_is_meant() -> None:
    table = pd.DataFrame({"sample": [f"{n} patients" for n in range(30)]})
    assert found(table, "format") == set()
    table.at[4, "sample"] = "4 pxtients"
    report = detect_errors(table, methods=["format"])
    assert [(cell.row, cell.suggestion) for cell in report.cells] == [(4, "4 patients")]


def test_numbered_names_are_no_numbers_with_units() -> None:
    names = ["1. Never Married", "2. Married", "3. Widowed", "4. Divorced"]
    table = pd.DataFrame({"maritl": names * 20})
    assert found(table, "format") == set()


def test_rare_shapes() -> None:
    table = cities(80)
    table.at[7, "when"] = "7:16aDec 1"
    assert found(table, "format") == {(7, "when")}


def test_outliers_but_no_codes() -> None:
    table = cities()
    table.at[5, "score"] = "5000.5"
    assert found(table, "outlier") == {(5, "score")}
    codes = pd.DataFrame({"id": [str(i) for i in range(1000, 1040)] + ["9999999"]})
    assert found(codes, "outlier") == set()


def test_a_second_usual_value_is_no_outlier() -> None:
    generator = np.random.default_rng(0)
    rates = np.concatenate([generator.normal(4.9, 0.02, 70), generator.normal(1.2, 0.02, 30)])
    table = pd.DataFrame({"rate": rates.round(3).astype(str)})
    assert found(table, "outlier") == set()
    table.at[0, "rate"] = "50"
    table = table.drop(index=range(71, 100))
    assert (0, "rate") in found(table, "outlier")


def test_many_far_numbers_are_outliers_behind_a_gap_only() -> None:
    generator = np.random.default_rng(0)
    values = generator.normal(13, 0.8, 110).round(2)
    wrong = generator.choice(110, 12, replace=False)
    broken = np.where(np.isin(np.arange(110), wrong), values + 100, values)
    assert found(pd.DataFrame({"v": broken.astype(str)}), "outlier") == {(r, "v") for r in wrong}
    tail = np.concatenate([values[:99], np.linspace(18, 60, 11)])
    assert found(pd.DataFrame({"v": tail.astype(str)}), "outlier") == set()


def test_misspellings() -> None:
    table = cities()
    table.at[0, "city"] = "sprinxfield"
    report = detect_errors(table, methods=["misspelling"])
    assert [(cell.row, cell.suggestion) for cell in report.cells] == [(0, "springfield")]


def test_short_words_that_are_there_again_and_again_are_other_words() -> None:
    table = pd.DataFrame({"month": ["may"] * 300 + ["mar"] * 10 + ["mxy"]})
    assert found(table, "misspelling") == {(310, "month")}


def test_numbers_in_names_are_no_misspellings() -> None:
    table = pd.DataFrame({"code": ["section 11"] * 20 + ["section 12"]})
    assert found(table, "misspelling") == set()


def test_dependencies_are_found_and_their_breaches_too() -> None:
    table = cities()
    right = table.at[9, "city"]
    table.at[9, "city"] = "salem"
    report = detect_errors(table, methods=["dependency"])
    assert [(cell.row, cell.column, cell.suggestion) for cell in report.cells] == [
        (9, "city", right)
    ]


def test_a_class_that_is_there_again_and_again_breaks_no_dependency() -> None:
    smells = ["plain"] * 200 + ["foul"] * 150 + ["almond"] * 50
    kinds = ["edible"] * 193 + ["poisonous"] * 157 + ["edible"] * 50
    table = pd.DataFrame({"smell": smells, "kind": kinds})
    assert found(table, "dependency") == set()


def test_rules_and_ties() -> None:
    table = pd.DataFrame({"a": ["x"] * 3 + ["y"] * 2, "b": ["1", "1", "2", "3", "4"]})
    report = detect_errors(table, methods=["rule"], rules=[Rule(("a",), "b")])
    cells = {(cell.row, cell.suggestion, round(cell.confidence, 3)) for cell in report.cells}
    assert cells == {(2, "1", 0.667), (3, "", 0.5), (4, "", 0.5)}


def test_duplicates_but_for_case_space_and_numbering() -> None:
    table = pd.DataFrame(
        {"id": ["1", "2", "3"], "name": ["Ann Lee", "ann  lee", "Bob"], "age": ["3", "3", "3"]}
    )
    assert found(table, "duplicate") == {(1, "")}


def test_rows_that_differ_in_a_number_are_no_duplicates() -> None:
    table = pd.DataFrame({"weight": ["1.5", "2.5", "700"], "colour": ["red"] * 3})
    assert found(table, "duplicate") == set()


def test_wrong_labels() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=200)
    labels = np.where(x > 0, "high", "low")
    labels[[3, 90]] = np.where(x[[3, 90]] > 0, "low", "high")
    x[[3, 90]] += np.sign(x[[3, 90]])
    table = pd.DataFrame({"x": x.astype(str), "y": labels})
    assert {(3, "y"), (90, "y")} <= found(table, "label", target="y")


def test_the_report() -> None:
    table = cities()
    table.at[3, "city"] = ""
    report = detect_errors(table)
    assert "'city'" in report.advice
    assert report.mask().sum() == 1
    assert report.to_json()["by_method"] == {"missing": 1}
    assert len(report.to_frame()) == 1
    assert report.figure().series
    assert "Nothing looks wrong" in detect_errors(cities(), methods=["missing"]).advice


def test_tables_of_any_kind() -> None:
    detect_errors(pd.DataFrame({"a": [1.5, np.nan, 3.0]}))
    detect_errors(pd.DataFrame({"a": ["", ""], "b": ["", ""]}))
    detect_errors(pd.DataFrame({"a": ["x"]}), target="a")
    detect_errors(
        pd.DataFrame({"a": ["1", "2"] * 30, "b": ["same"] * 60}, index=[5] * 60), target="b"
    )
    detect_errors(
        pd.DataFrame({0: ["é\u0301" * 300, "1e999"] * 6, "b": pd.to_datetime(["2024-01-01"] * 12)})
    )


@pytest.mark.parametrize(
    ("table", "more"),
    [
        (pd.DataFrame(), {}),
        (pd.DataFrame({"a": []}), {}),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}),
        (pd.DataFrame({"a": [1]}), {"methods": ["magic"]}),
        (pd.DataFrame({"a": [1]}), {"target": "b"}),
        (pd.DataFrame({"a": [1]}), {"rules": [Rule(("a",), "b")]}),
    ],
    ids=["nothing", "no rows", "twice", "method", "target", "rule"],
)
def test_what_does_not_fit_is_refused(table: pd.DataFrame, more: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        detect_errors(table, **more)  # pyright: ignore[reportArgumentType]


def test_rules_are_read() -> None:
    text = "# zip codes\nt1&t2&EQ(t1.zip code,t2.zip code)&IQ(t1.city,t2.city)\n\n"
    text += "t1&t2&EQ(t1.a,t2.a)&EQ(t1.b,t2.b)&IQ(t1.c,t2.c)"
    assert parse_rules(text) == [Rule(("zip code",), "city"), Rule(("a", "b"), "c")]
    assert str(Rule(("a", "b"), "c")) == "a + b -> c"


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "t1&t2",
        "t1&t2&EQ(t1.a,t2.b)&IQ(t1.c,t2.c)",
        "t1&t2&GT(t1.a,t2.a)",
        "t1&t2&EQ(t1.a,t2.a)",
        "t1&EQ(t1.a,1)",
    ],
)
def test_other_rules_are_refused(line: str) -> None:
    with pytest.raises(InvalidInput, match="line 1"):
        parse_rules(line)


STYLES = {"1 Story": 500, "2 Story": 300, "1.5 Fin": 100, "1.5 Unf": 12, "SLvl": 60}
SIZES = {"2 BHK": 500, "3 BHK": 400, "4 BHK": 100, "3 Bedroom": 60, "4 Bedroom": 80}
GRADES = {"VS1": 800, "VS2": 900, "SI1": 700, "IF": 28}


@pytest.mark.parametrize("times", [STYLES, SIZES, GRADES], ids=["styles", "sizes", "grades"])
def test_categories_that_begin_with_numbers_are_not_accused(times: dict[str, int]) -> None:
    table = pd.DataFrame({"kind": [value for value, count in times.items() for _ in range(count)]})
    assert found(table, "format") == set()


def test_a_slip_among_categories_is_found_without_a_guess() -> None:
    values = [value for value, count in STYLES.items() for _ in range(count)]
    report = detect_errors(pd.DataFrame({"kind": [*values, "1.5 Fni"]}), methods=["format"])
    assert [(cell.row, cell.suggestion) for cell in report.cells] == [(len(values), "")]


def test_many_units_of_measured_numbers_are_found() -> None:
    kilograms = [f"{number / 10} kg" for number in range(500, 900)]
    pounds = [f"{number / 10} lb" for number in range(1100, 1140)]
    table = pd.DataFrame({"weight": kilograms + pounds})
    assert found(table, "format") == {(row, "weight") for row in range(400, 440)}


def test_a_unit_is_suggested_as_it_is_written_unless_digits_may_be_wrong() -> None:
    shares = [f"{number}%" for number in range(10, 90)]
    report = detect_errors(pd.DataFrame({"share": [*shares, "95", "3x%"]}), methods=["format"])
    assert [(cell.value, cell.suggestion) for cell in report.cells] == [("95", "95%"), ("3x%", "")]


def test_seconds_may_have_a_fraction_or_not() -> None:
    times = [f"2013-10-18T19:45:43.{number}" for number in range(100, 160)]
    assert found(pd.DataFrame({"at": [*times, "2013-10-18T19:45:43"]}), "format") == set()


def test_names_with_signs_are_free_text() -> None:
    names = [f"Smith, Ann{'a' * number}" for number in range(90)]
    assert found(pd.DataFrame({"name": [*names, 'Watt, Mrs. (Ann "Bee")']}), "format") == set()


@pytest.mark.parametrize(
    "times",
    [
        {"GasA": 2885, "GasW": 27},
        {"gt-norm": 459, "norm": 61, "lt-norm": 74},
        {"grade C": 25, "grade A": 2, "other": 900},
        {"Two Beers Brewing Company": 25, "Two Henrys Brewing Company": 1},
    ],
    ids=["heating", "rain", "grades", "breweries"],
)
def test_other_categories_are_no_misspellings(times: dict[str, int]) -> None:
    table = pd.DataFrame({"kind": [value for value, count in times.items() for _ in range(count)]})
    assert found(table, "misspelling") == set()


def test_a_short_word_that_is_written_carelessly_is_misspelt_often() -> None:
    values = ["yes"] * 700 + ["no"] * 200 + ["yxs"] * 11 + ["yex"] * 9 + ["xes"] * 5
    assert len(found(pd.DataFrame({"urgent": values}), "misspelling")) == 25


def test_texts_that_differ_in_a_word_are_no_misspellings() -> None:
    texts = ["Watch this video, all of you:"] * 6 + ["Watch this video, all of you:)"]
    texts += [f"Text number {'x' * number}" for number in range(40)]
    assert found(pd.DataFrame({"comment": texts}), "misspelling") == set()


def test_columns_that_only_go_together_accuse_no_cell() -> None:
    styles = {
        "two floors": ["2Story"] * 540 + ["split"] * 20 + ["attic"] * 3,
        "one floor": ["1Story"] * 540 + ["foyer"] * 20 + ["loft"] * 3,
        "old": ["1.5"] * 200 + ["half"] * 10,
    }
    rows = [(kind, style) for kind, written in styles.items() for style in written]
    assert found(pd.DataFrame(rows, columns=["kind", "style"]), "dependency") == set()


def test_a_group_too_small_to_show_a_slip_does_not_speak_for_the_cell() -> None:
    """One of four is over a fifth, so a group of four rows could only ever object."""
    flights = [f"F{row // 20}" for row in range(400)]
    leaves = [f"{6 + row // 20}:15" for row in range(400)]
    arrives = [f"{7 + row // 20}:40 gate {row // 4 % 5}" for row in range(400)]
    leaves[7] = "11:15"
    table = pd.DataFrame({"flight": flights, "leaves": leaves, "arrives": arrives})
    assert (7, "leaves") in found(table, "dependency")


def test_the_end_of_a_scale_or_a_tail_is_no_outlier() -> None:
    years = np.repeat(
        np.arange(1, 17), [3, 6, 9, 12, 18, 25, 30, 15, 320, 220, 40, 30, 160, 55, 20, 12]
    )
    assert found(pd.DataFrame({"years": years.astype(str)}), "outlier") == set()
    sizes = np.concatenate([np.linspace(10, 60, 500), 60 * 1.02 ** np.arange(1, 60)])
    table = pd.DataFrame({"size": [f"{size:.1f}" for size in sizes]})
    assert found(table, "outlier") == set()
    table.at[3, "size"] = "1900.0"
    table.at[4, "size"] = "-400.0"
    assert found(table, "outlier") == {(3, "size"), (4, "size")}


@pytest.mark.parametrize(
    ("others", "is_missing"),
    [(["yes", "guarantor"], False), (["12.5", "7"], True), (["2024-03-01", "2024-04-02"], True)],
)
def test_none_is_a_value_among_words_and_no_value_among_numbers(
    others: list[str], is_missing: bool
) -> None:
    table = pd.DataFrame({"telephone": others * 20})
    table.loc[5, "telephone"] = "None"
    assert found(table, "missing") == ({(5, "telephone")} if is_missing else set())


@pytest.mark.parametrize(("odd", "is_found"), [("1.1001", False), ("7.25", True)])
def test_a_measured_number_that_nearly_is_the_usual_one_is_no_slip(
    odd: str, is_found: bool
) -> None:
    kinds = np.repeat(["a", "b", "c", "d"], 25)
    usual = {"a": "1.1", "b": "2.3", "c": "4.2", "d": "7.25"}
    table = pd.DataFrame({"kind": kinds, "weight": [usual[kind] for kind in kinds]})
    table.loc[3, "weight"] = odd
    assert ((3, "weight") in found(table, "dependency")) is is_found
