"""What easeml sees in columns, and which target it proposes."""

from pathlib import Path

import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from easeml.contract.datasets import Column
from easeml.data import ColumnReport, DatasetError, infer

from .tables import people, write


def column(tmp_path: Path, values: list[str], name: str = "v") -> ColumnReport:
    lines = [f'"{value}",{i % 5 * 0.5},{i % 2}' for i, value in enumerate(values)]
    return infer(write(tmp_path, f"{name},x,y\n" + "\n".join(lines) + "\n"), target="y").columns[0]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", "-3e2", "+4", ".5", "7."] * 5, "number"),
        (["1", "NA", "?", "unknown", "-", "None", "nan", "3", "9"] * 4, "number"),
        (["6,0", "k. A.", "1,5", "unbekannt", "-2,25", "-"] * 9, "number"),
        (["0", "1"] * 10, "number"),
        (["01234", "08001", "01234", "08002"] * 9, "category"),
        (["yes", "no", "unknown"] * 9, "category"),
        (["none", "unknown"] * 9, "category"),
        (["True", "False"] * 9, "category"),
        (["Ann lives in a small town", "Ben does not like the rain much"] * 1, "text"),
        ([f"{i} brown foxes jump over the dog" for i in range(40)], "text"),
        (["2020-01-05", "2020-02-06", "2021-12-31"] * 4, "timestamp"),
        (["2020-01-05T10:00:00Z", "2020-02-06 11:30:01.5+02:00"] * 4, "timestamp"),
        (["11/9/07", "3/25/08"] * 9, "timestamp"),
        (["25.12.2020", "01.02.2021"] * 9, "timestamp"),
        (["Jan 5, 2020", "Feb 16, 2021"] * 9, "timestamp"),
        (["99/99/2020", "11/11/2020"] * 9, "category"),
    ],
)
def test_types(tmp_path: Path, values: list[str], kind: str) -> None:
    assert column(tmp_path, values).type == kind


def test_a_word_among_numbers_with_decimal_commas_is_named(tmp_path: Path) -> None:
    values = [f"{number},5" for number in range(40)]
    report = column(tmp_path, [*values, "zerbrochen"] * 2)
    assert "would be a number but for values such as 'zerbrochen'" in report.evidence


@pytest.mark.parametrize(
    ("others", "form", "highest"),
    [("1,25 7,5 12,75", "1.234,5", "59915"), ("1.25 7.5 12.75", "", "907"), ("1 7 12", "", "907")],
)
def test_dots_are_of_thousands_where_other_columns_have_decimal_commas(
    tmp_path: Path, others: str, form: str, highest: str
) -> None:
    sales = ["907", "1.836", "59.915"]
    rows = [
        f"{one};{other};{'ab'[n % 2]}"
        for n in range(8)
        for one, other in zip(sales, others.split(), strict=True)
    ]
    path = write(tmp_path, "\n".join(["sales;width;kind", *rows]))
    found = infer(path, "kind").columns[0]
    assert (found.type, found.format) == ("number", form)
    assert f" to {highest}" in found.evidence


def test_unknown_is_missing_only_among_numbers(tmp_path: Path) -> None:
    assert column(tmp_path, ["1", "unknown", "2", "3"]).missing == 0.25
    report = column(tmp_path, ["yes", "unknown", "no", ""])
    assert (report.missing, report.classes) == (0.25, ["no", "unknown", "yes"])


@pytest.mark.parametrize(
    ("name", "values", "evidence"),
    [
        ("PassengerId", [str(7 * i) for i in range(30)], "identifier"),
        ("number", [str(i) for i in range(1, 31)], "identifier"),
        ("customer", [f"{i * 37:05d}-XY" for i in range(30)], "identifier"),
        ("Individual ID", [f"N{i // 2}A1" for i in range(30)], "identifier"),
        ("v", ["same"] * 30, "Constant"),
        ("v", ["3"] * 29 + [""], "Constant"),
        ("v", ["", "NA"] * 15, "no value"),
    ],
)
def test_proposed_for_dropping(tmp_path: Path, name: str, values: list[str], evidence: str) -> None:
    report = column(tmp_path, values, name)
    assert report.role == "drop"
    assert evidence in report.evidence


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("price", [str(1000 + 7 * i) for i in range(30)]),
        ("humidity", [str(i * 1.5) for i in range(30)]),
        ("name", [f"Person number {i}" for i in range(30)]),
    ],
)
def test_kept_although_all_different(tmp_path: Path, name: str, values: list[str]) -> None:
    assert column(tmp_path, values, name).role == "input"


def test_a_whole_table(tmp_path: Path) -> None:
    inference = infer(write(tmp_path, people()))
    seen = {report.name: (report.type, report.role) for report in inference.columns}
    assert seen == {
        "id": ("text", "drop"),
        "age": ("number", "input"),
        "job": ("category", "input"),
        "story": ("text", "input"),
        "born": ("timestamp", "input"),
        "country": ("category", "drop"),
        "kind": ("category", "target"),
    }
    assert (inference.rows, inference.target) == (60, "kind")
    assert inference.columns[1].missing == pytest.approx(0.1)
    assert list(inference.input.columns) == ["age", "job", "story", "born"]
    assert inference.input.nodes["age"].optional
    assert inference.output is not None
    assert inference.output.labels("kind") == ("a", "b", "c")
    assert any("'id'" in note for note in inference.notes)


def test_reports_are_the_columns_of_the_contract(tmp_path: Path) -> None:
    for report in infer(write(tmp_path, people())).columns:
        assert Column(**report.to_json()).model_dump() == report.to_json()
        assert ColumnReport.from_json(report.to_json()) == report


@pytest.mark.parametrize(
    ("header", "target"),
    [
        ("a,b,c", "c"),
        ("a,Label,c", "Label"),
        ("y,b,c", "y"),
        ("a,sick_outcome,c", "sick_outcome"),
        ("a,b,text", "b"),
    ],
)
def test_the_proposed_target(tmp_path: Path, header: str, target: str) -> None:
    last = (
        [f"many words in row {i} here" for i in range(30)]
        if header.endswith("text")
        else list(range(5, 35))
    )
    rows = "\n".join(f"{i % 7},{i % 3},{last[i]}" for i in range(30))
    assert infer(write(tmp_path, f"{header}\n{rows}\n")).target == target


def test_no_target_suggests_itself(tmp_path: Path) -> None:
    inference = infer(
        write(tmp_path, "a\n" + "\n".join(f"word {i} and more words" for i in range(20)) + "\n")
    )
    assert (inference.target, inference.output) == ("", None)
    assert list(inference.input.columns) == ["a"]


def test_an_unknown_target_is_refused_with_the_likely_spelling(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="Did you mean 'kind'"):
        infer(write(tmp_path, people()), target="Kinds")


def test_numbers_as_target(tmp_path: Path) -> None:
    few = "x,y\n" + "\n".join(f"{i * 0.5},{i % 3}" for i in range(30))
    many = "x,y\n" + "\n".join(f"{i * 0.5},{i * i}" for i in range(30))
    assert infer(write(tmp_path, few)).columns[1].type == "category"
    assert infer(write(tmp_path, many)).columns[1].type == "number"


@pytest.mark.parametrize(
    ("load", "kind"),
    [(load_breast_cancer, "category"), (load_wine, "category"), (load_diabetes, "number")],
)
def test_tables_bundled_with_scikit_learn(tmp_path: Path, load, kind: str) -> None:
    frame = load(as_frame=True).frame
    frame.to_csv(tmp_path / "t.csv", index=False)
    inference = infer(tmp_path / "t.csv")
    types = {report.name: report.type for report in inference.columns}
    assert inference.target == "target"
    assert types.pop("target") == kind
    assert set(types.values()) == {"number"}
    assert all(report.role == "input" for report in inference.columns[:-1])


def test_one_value_or_nothing_tells_by_being_there(tmp_path: Path) -> None:
    report = column(tmp_path, ["t", ""] * 15)
    assert (report.type, report.role, report.classes) == ("category", "input", ["t"])
    assert "tells by being there" in report.evidence


@pytest.mark.parametrize(
    ("words", "told"), [(1, "1 word on"), (3, "3 words on"), (290, "290 words on")]
)
def test_the_length_of_texts_is_told_in_plain_numbers(
    tmp_path: Path, words: int, told: str
) -> None:
    lines = [" ".join([f"t{number // 2}", *["word"] * (words - 1)]) for number in range(60)]
    found = infer(write(tmp_path, "text,y\n" + "\n".join(f"{one},a" for one in lines) + "\n"))
    evidence = next(one.evidence for one in found.columns if one.name == "text")
    assert told in evidence, evidence
