"""A few cells among numbers or dates that are none: the column stays one of numbers, and they are told."""

from pathlib import Path

import pytest

from easeml.data import ColumnReport, DatasetError, declare, infer, read_table

from .tables import write

NUMBERS = [f"{12 + place * 0.37:.2f}" for place in range(119)]
COMMAS = [number.replace(".", ",") for number in NUMBERS]
DAYS = [f"{1 + place % 28:02d}.{1 + place % 12:02d}.2024" for place in range(119)]
COUNTS = [str(37 * place % 1009) for place in range(119)]


def table(tmp_path: Path, cells: list[str], name: str = "v") -> Path:
    rows = [f'"{cell}";{place * 5 % 7};{"ab"[place % 2]}' for place, cell in enumerate(cells)]
    return write(tmp_path, "\n".join([f"{name};x;y", *rows]) + "\n")


def column(tmp_path: Path, cells: list[str], name: str = "v") -> ColumnReport:
    return infer(table(tmp_path, cells, name), target="y").columns[0]


@pytest.mark.parametrize(
    ("usual", "odd", "kind", "said"),
    [
        (COMMAS, "18.25", "number", "'18.25' (row 57) is read as 18.25."),
        (NUMBERS, "12 kg", "number", "'12 kg' (row 57) is read as 12."),
        (NUMBERS, "1O.5", "number", "'1O.5' (row 57) cannot be read as a number and counts"),
        (NUMBERS, "18,25", "number", "'18,25' (row 57) cannot be read as a number and counts"),
        (NUMBERS, "<0.1", "number", "'<0.1' (row 57) cannot be read as a number"),
        (NUMBERS, "#DIV/0!", "number", "'#DIV/0!' (row 57) cannot be read as a number"),
        (COMMAS, "n.b.", "number", "'n.b.' (row 57) cannot be read as a number"),
        (COUNTS, "l2", "number", "'l2' (row 57) cannot be read as a number"),
        (DAYS, "im Mai", "timestamp", "'im Mai' (row 57) cannot be read as a timestamp"),
        (DAYS, "31.02.2024", "timestamp", "'31.02.2024' (row 57) cannot be read as a timestamp"),
    ],
)
def test_an_odd_cell_is_told_with_its_row_and_what_becomes_of_it(
    tmp_path: Path, usual: list[str], odd: str, kind: str, said: str
) -> None:
    report = column(tmp_path, [*usual[:57], odd, *usual[57:]])
    assert report.type == kind
    assert said in report.evidence
    assert "(--set v=text)" in report.evidence


def test_the_way_out_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    report = column(tmp_path, [*NUMBERS, "1O.5"], "Length (mm)")
    assert "(--set 'Length (mm)=text')" in report.evidence


@pytest.mark.parametrize("word", ["n.v.", "?", "n/a"])
def test_a_usual_word_for_no_value_is_missing_without_a_word(tmp_path: Path, word: str) -> None:
    report = column(tmp_path, [*NUMBERS, word])
    assert (report.type, report.missing_codes, "Odd" in report.evidence) == ("number", [], False)


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        ([*COUNTS, "12a"], "customer_id"),
        ([*COUNTS, "12a"], "product code"),
        ([str(10_000 + place % 100) for place in range(300)] + ["SW1A 1AA"], "zip"),
        ([str(1000 + place) for place in range(119)] + ["A1119"], "v"),
        ([str(1 + place % 6) for place in range(119)] + ["X"], "v"),
        ([f"{place:04d}" for place in range(119)] + ["12a"], "v"),
        ([*NUMBERS[:10], "x"], "v"),
        (NUMBERS + ["x"] * 5, "v"),
    ],
)
def test_codes_and_columns_with_more_than_a_few_odd_cells_stay_texts(
    tmp_path: Path, cells: list[str], name: str
) -> None:
    report = column(tmp_path, cells, name)
    assert report.type in ("text", "category")
    assert report.missing_codes == []


def test_the_note_names_the_cell_and_the_version_has_it_missing(tmp_path: Path) -> None:
    path = table(tmp_path, [*COMMAS[:57], "18.25", "1O,5", *COMMAS[57:]])
    found = infer(path, target="y")
    assert any("'1O,5' (row 58)" in note for note in found.notes)

    version = declare(read_table(path), found.columns, "y")
    assert any("'1O,5' (row 58)" in note for note in version.notes)
    rows = {
        int(row): value
        for frame in version.frames.values()
        for row, value in frame[["_row", "v"]].to_numpy()
    }
    assert rows[57] == 18.25
    assert rows[58] != rows[58]


def test_another_type_or_codes_of_ones_own_take_the_odd_cells_as_values(tmp_path: Path) -> None:
    path = table(tmp_path, [*NUMBERS, "1O,5"])
    found = infer(path, target="y")
    texts = declare(read_table(path), found.columns, "y", {"v": "text"})
    assert (texts.columns[0].missing_codes, texts.columns[0].missing) == ([], 0.0)
    assert "Odd cells" not in texts.columns[0].evidence

    with pytest.raises(DatasetError, match="'1O,5' is not a number"):
        declare(read_table(path), found.columns, "y", {"v.missing": ""})
    coded = declare(read_table(path), found.columns, "y", {"v.missing": '"1O,5"'})
    assert coded.columns[0].missing_codes == ["1O,5"]


def test_rows_with_an_odd_answer_can_be_labelled(tmp_path: Path) -> None:
    path = table(tmp_path, [*NUMBERS, "1O.5"])
    version = declare(read_table(path), infer(path, target="v").columns, "v")
    assert len(version.frames["pool"]) == 1


def test_an_odd_cell_beyond_the_rows_that_are_looked_at_closely_is_told(tmp_path: Path) -> None:
    from easeml.data.inference.tables import infer_table

    cells = [f"{place * 0.37:.2f}" for place in range(900)]
    path = table(tmp_path, [*cells[:501], "1O.5", *cells[501:]])
    report = infer_table(read_table(path), "y", sample=100).columns[0]
    assert "'1O.5' (row 501)" in report.evidence
