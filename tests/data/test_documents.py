"""Documents: a table among others is read, or the text; what would take a machine's memory is not."""

from collections.abc import Callable
from pathlib import Path

import openpyxl
import pyarrow as pa
import pytest

from easeml.data import DatasetError, read_table

from .pdf_files import cells, pdf, text

PAGE = """<!DOCTYPE html><html><head><title>Cellar</title>
<script>let text = "<table><tr><td>no</td></tr></table>"</script></head><body>
<h1>The cellar</h1><p>What we have &amp; what <b>it is</b> like.
<table><caption>Prices<tr><th>colour<th>price<tr><td>red<td>12</table>
<h2>Measurements</h2>
<table><thead>
<tr><th rowspan=2>name</th><th colspan=2>acid</th><th rowspan="2">kind</th></tr>
<tr><th>malic</th><th>ash</th></tr></thead>
<tbody><tr><td>a<td>1.5<td><p>2.5</p></td><td rowspan=2>red</td></tr>
<tr><td>b<td>1.7<td>2.7</tr><tr><td>c<td>1.9</tr></tbody></table></body></html>"""
WORDS = "Rows were taken at several places in the year, by two people, and checked by a third."


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., pa.Table]:
    """Read bytes as a file of some name."""

    def read(content: bytes | str, name: str, table: int | None = None) -> pa.Table:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).write_bytes(data)
        return read_table(tmp_path / name, table=table)

    return read


def note(table: pa.Table) -> str:
    return (table.schema.metadata or {})[b"note"].decode()


def test_the_largest_table_of_a_page_is_read_and_the_others_are_named(read: Callable):
    table = read(PAGE, "wines.html")
    assert table.column_names == ["name", "acid malic", "acid ash", "kind"]
    assert [list(row.values()) for row in table.to_pylist()] == [
        ["a", "1.5", "2.5", "red"],
        ["b", "1.7", "2.7", "red"],
        ["c", "1.9", "", ""],
    ]
    assert "1 (line 4, 2 rows: colour, price)" in note(table)


def test_another_table_or_the_text_is_chosen_by_its_number(read: Callable):
    assert read(PAGE, "wines.html", 1).to_pylist() == [{"colour": "red", "price": "12"}]
    told = read(PAGE, "wines.html", 0).to_pylist()
    assert {"section": "The cellar", "text": "What we have & what it is like."} in told
    assert {"section": "Measurements", "text": "b | 1.7 | 2.7"} in told
    with pytest.raises(
        DatasetError, match=r"no table 3: the document has 2 tables\. Choose .*2 \("
    ):
        read(PAGE, "wines.html", 3)


def test_what_a_page_says_about_its_table_is_no_row_of_it(read: Callable):
    names = "<tr><th>město<th>km<sup>2</sup></tr>"
    mark = '<sup class="reference" id=c><a href="#n">[1]</a></sup>'
    page = (
        '<html><meta charset="iso-8859-2"><table><thead><tr><th colspan=2>Towns</tr>'
        f"{names}</thead><tr><td>Žďár{mark}<td>37{mark}</tr>{names}<tr><td>Łeba<td>16</tr>"
        "<tr><td colspan=100>Source: the offices</tr><tfoot><tr><td>Sum<td>53</tr></tfoot></table>"
    )
    table = read(page.encode("iso-8859-2"), "towns.html")
    assert table.to_pylist() == [
        {"město": "Žďár", "km 2": "37"},
        {"město": "Łeba", "km 2": "16"},
    ]


def test_a_page_without_an_ending_is_known_by_its_bytes(read: Callable):
    assert read(PAGE, "export.xls", 1).column_names == ["colour", "price"]


def test_a_table_without_lines_stands_among_prose(read: Callable):
    names = ["Year", "Island", "Weight (g)"]
    rows = [["2007", "Dream", "3,750"], ["2008", "", "3,800"], ["2009", "Biscoe", "(none)"]]
    prose = [text(44, 700 - 12 * place, WORDS) for place in range(5)]
    table = read(pdf([b"".join(prose) + cells([names, *rows], 600, grid=False)]), "report.pdf")
    assert table.column_names == names
    assert [list(row.values()) for row in table.to_pylist()] == rows

    told = read((pdf([b"".join(prose)])), "prose.pdf")
    assert told.to_pylist() == [{"page": "1", "text": " ".join([WORDS] * 5)}]


def test_tables_of_several_pages_are_told_by_their_page(read: Callable):
    first = cells([["a", "b"], ["1", "2"]], grid=True)
    second = cells([["c", "d", "e"], ["3", "4", "5"], ["6", "7", "8"]], grid=True)
    table = read(pdf([first, second]), "two.pdf")
    assert table.column_names == ["c", "d", "e"]
    assert "1 (page 1, 2 rows: a, b)" in note(table)


def test_names_over_several_columns_have_more_names_below_them(read: Callable):
    titled = [["Birds of 2020", "", ""], ["place", "size", ""], ["", "wing", "leg"]]
    rows = [[f"P{place}", f"{place}", f"{place}.5"] for place in range(20)]
    first = cells([*titled, *rows], grid=True, merged={(0, 1), (0, 2), (1, 2)})
    second = cells([*titled[1:], *rows], grid=True, merged={(0, 2)})
    table = read(pdf([first, second]), "birds.pdf")
    assert table.column_names == ["place", "size wing", "size leg"]
    assert [list(row.values()) for row in table.to_pylist()] == [*rows, *rows]


@pytest.mark.parametrize("turn", [b"0 1 -1 0 595 0", b"0 -1 1 0 0 595", b"-1 0 0 -1 595 595"])
@pytest.mark.parametrize("lines", [True, False])
def test_a_table_that_lies_on_its_side_is_turned(read: Callable, turn: bytes, lines: bool):
    rows = [["kind", "size"], *([f"elm {place}", f"{place}.5"] for place in range(8))]
    drawn = b"q " + turn + b" cm " + cells(rows, 500, grid=lines) + b" Q"
    table = read(pdf([drawn]), "turned.pdf")
    assert table.column_names == rows[0]
    assert [list(row.values()) for row in table.to_pylist()] == rows[1:]


def test_documents_in_a_folder_for_each_class_are_texts(tmp_path: Path):
    for label, content in (("good", PAGE.encode()), ("bad", pdf([text(44, 700, "It is late.")]))):
        (tmp_path / label).mkdir()
        ending = "html" if label == "good" else "pdf"
        (tmp_path / label / f"one.{ending}").write_bytes(content)
    table = read_table(tmp_path)
    assert table["label"].to_pylist() == ["bad", "good"]
    late, page = table["text"].to_pylist()
    assert late == "It is late."
    assert page.startswith("The cellar What we have & what it is like. Prices colour | price")


def test_a_sheet_of_a_workbook_is_chosen_as_well(tmp_path: Path):
    book = openpyxl.Workbook()
    for name, rows in (("first", [["a"], [1]]), ("second", [["b"], [2], [3]])):
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(tmp_path / "book.xlsx")
    assert read_table(tmp_path / "book.xlsx").column_names == ["a"]
    assert read_table(tmp_path / "book.xlsx", table=2).to_pydict() == {"b": ["2", "3"]}
    with pytest.raises(DatasetError, match=r"no table 3.*1 'first', 2 'second'"):
        read_table(tmp_path / "book.xlsx", table=3)


MANY = b"BT /F1 1 Tf " + b"(%s) Tj " % (b"a" * 64) * 1000 + b"ET"
HOSTILE: dict[str, tuple[Callable[[], bytes | str], str]] = {
    "bomb.pdf": (lambda: pdf([b" " * (65 << 20)]), "unpacks to more than 64 MiB"),
    "bombs.pdf": (lambda: pdf([b" " * (65 << 20)], packed=2), "unpacks to more than 64 MiB"),
    "letters.pdf": (
        lambda: pdf([b"", MANY]),
        "letters.pdf, page 2: it has more than 40,000 letters",
    ),
    "pages.pdf": (lambda: pdf([b""] * 501), "501 pages, more than 500"),
    "cut.pdf": (lambda: pdf([b"q"])[:200], "cannot be read"),
    "scanned.pdf": (lambda: pdf([b"q Q"]), "text recognition"),
    "tables.html": (lambda: "<html>" + "<table><tr><td>" * 60, "more than 50 tables are within"),
    "spans.html": (
        lambda: "<table>" + "<tr><td colspan=1000 rowspan=60000>x" * 50 + "</table>",
        "more than 1,000,000 cells",
    ),
    "empty.html": (lambda: "<html><body></body>", "neither a table nor text"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_document_is_refused(read: Callable, name: str):
    made, says = HOSTILE[name]
    with pytest.raises(DatasetError, match=says) as caught:
        read(made(), name)
    assert caught.value.remedy


@pytest.mark.parametrize("opened", ["<!--", "<!-- >", "<a ", "<a b='", "</", "<?", "<div>"])
def test_what_is_never_closed_is_read_at_once(read: Callable, opened: str):
    # Without a limit the parser would take minutes.
    assert read("<html><p>text</p>" + opened * 50_000, "page.html").num_rows == 1
