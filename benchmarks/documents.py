"""How well the cells of tables in generated PDFs are read back.

Rows of real tables are laid out by fpdf2 and ReportLab, in every style that these have for lines:
around all cells, between rows or columns only, around none, on backgrounds. Prose stands above and
below. What is read has to be the same text in the same row and column; F1 counts cells. fpdf2 breaks
long cells into several lines, in the middle of their rows, and spaces words out to the margin.

    pip install fpdf2 reportlab
    python benchmarks/documents.py
"""

import io
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from common import arguments, machine_line, read_options, write_table
from easeml.data.readers.pdf_pages import pdf_document
from easeml.data.readers.source import Source

TABLES = {
    "auto": "auto_mpg/auto_mpg.csv",
    "beers": "dirty_beers/dirty.csv",
    "heart": "heart_disease/heart_disease.csv",
    "penguins": "penguins_raw/penguins_raw.csv",
    "titanic": "titanic/titanic.csv",
}
COLUMNS = {"penguins": [2, 4, 8, 9, 12, 13]}  # of tables of which the first seven do not fit a page
LONGEST = 30  # letters of a cell
PROSE = (
    "The rows below were taken at several places in the year, by two people, and checked once more "
    "by a third one who did not know them. What was not readable is left empty. "
)
FPDF = (
    "ALL", "INTERNAL", "MINIMAL", "HORIZONTAL_LINES", "NO_HORIZONTAL_LINES", "SINGLE_TOP_LINE",
    "NONE",
)  # fmt: skip
_ALL, _FIRST = ((0, 0), (-1, -1)), ((0, 0), (-1, 0))
REPORTLAB = {
    "grid": [("GRID", *_ALL, 0.5, "black")],
    "centred": [("GRID", *_ALL, 0.3, "grey"), ("ALIGN", *_ALL, "CENTER")],
    "boxed columns": [("BOX", *_ALL, 1, "black"), ("LINEAFTER", *_ALL, 0.5, "black")],
    "rules": [("LINEBELOW", *_ALL, 0.5, "black")],
    "three rules": [
        ("LINEABOVE", *_FIRST, 1, "black"),
        ("LINEBELOW", *_FIRST, 0.5, "black"),
        ("LINEBELOW", (0, -1), (-1, -1), 1, "black"),
    ],
    "backgrounds": [("ROWBACKGROUNDS", *_ALL, ["lightgrey", "white"])],
    "right, no lines": [("ALIGN", *_ALL, "RIGHT")],
    "no lines": [],
}
Rows = list[list[str]]


def rows_of(data: Path, name: str, count: int) -> Rows:
    """Return names and rows of a table as the text of cells."""
    frame = pd.read_csv(data / TABLES[name], dtype=str, keep_default_na=False)
    frame = frame.iloc[:count, COLUMNS.get(name, list(range(7)))]
    rows = [list(frame.columns), *frame.to_numpy().tolist()]
    return [[_printable(cell) for cell in row] for row in rows]


def _printable(cell: str) -> str:
    short = str(cell)[:LONGEST].encode("latin-1", "replace").decode("latin-1")
    return " ".join(short.split())


def by_fpdf(rows: Rows, layout: str, align: str) -> bytes:
    """Return a PDF by fpdf2; ``align``: JUSTIFY, which is its default, or LEFT."""
    import fpdf

    document = fpdf.FPDF()
    document.add_page()
    document.set_font("helvetica", size=9)
    document.multi_cell(0, 5, PROSE * 4, new_x="LMARGIN", new_y="NEXT")
    document.ln(4)
    with document.table(rows, borders_layout=layout, line_height=5, text_align=align):
        pass
    document.ln(4)
    document.multi_cell(0, 5, PROSE * 3)
    return bytes(document.output())


def by_reportlab(rows: Rows, style: list[tuple]) -> bytes:
    """Return a PDF by ReportLab, whose tables repeat their names on each page."""
    from reportlab.lib import colors
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer, Table

    def coloured(part: object) -> object:
        if isinstance(part, list):
            return [coloured(each) for each in part]
        return getattr(colors, part) if isinstance(part, str) and hasattr(colors, part) else part

    text = getSampleStyleSheet()["BodyText"]
    table = Table(rows, repeatRows=1)
    table.setStyle([tuple(coloured(part) for part in command) for command in style])
    written = io.BytesIO()
    above, below = Paragraph(PROSE * 4, text), Paragraph(PROSE * 3, text)
    SimpleDocTemplate(written).build([above, Spacer(1, 8), table, Spacer(1, 8), below])
    return written.getvalue()


def layouts() -> Iterator[tuple[str, Callable[[Rows], bytes]]]:
    """Yield every layout with what makes a PDF of rows."""
    for layout in FPDF:
        for align in ("LEFT", "JUSTIFY"):
            name = f"fpdf2 {layout}, {align}"
            yield name, lambda rows, layout=layout, align=align: by_fpdf(rows, layout, align)
    for name, style in REPORTLAB.items():
        yield f"ReportLab {name}", lambda rows, style=style: by_reportlab(rows, style)


def f1(true: Rows, read: Rows) -> float:
    """Return how many cells are right: the same text in the same row and column."""
    wanted, found = _cells(true), _cells(read)
    return 2 * sum((wanted & found).values()) / (wanted.total() + found.total())


def _cells(rows: Rows) -> Counter:
    return Counter(
        (place, column, cell) for place, row in enumerate(rows) for column, cell in enumerate(row)
    )


def main() -> None:
    parser = arguments(__file__, __doc__, data=True)
    parser.add_argument("--rows", type=int, default=60)
    options = read_options(parser, rows=10)
    print(machine_line("pdfplumber", "pdfminer.six", "fpdf2", "reportlab"))
    tables = {name: rows_of(options.data, name, options.rows) for name in TABLES}
    lines = []
    began = time.process_time()
    for layout, make in layouts():
        scores = []
        for rows in tables.values():
            found = pdf_document(Source("made.pdf", data=make(rows))).tables
            largest = max(found, key=lambda table: table.size, default=None)
            scores.append(f1(rows, largest.rows) if largest else 0.0)
        lines.append([layout, *np.round([*scores, np.mean(scores)], 3)])
        print(*lines[-1], flush=True)
    lines.append(["all", *np.round(np.mean([line[1:] for line in lines], axis=0), 3)])
    print(*lines[-1], f"{time.process_time() - began:.1f} s of processor")
    write_table(options.out / "cells.csv", ["layout", *TABLES, "mean"], lines)


if __name__ == "__main__":
    main()
