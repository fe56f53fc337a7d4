"""Negative numbers as accounts and some programs write them: (1.234,50), and 1.234,50- ."""

from pathlib import Path

import pytest

from easeml.data import declare, infer, parse_rows, read_table
from easeml.data.types.number_forms import number_form, plain_number_of

from .tables import write


@pytest.mark.parametrize(
    ("texts", "form", "numbers"),
    [
        (["1.234,50", "(12,30)", "5"], "(1.234,5)", ["1234.50", "-12.30", "5"]),
        (["12.5", "(3.25)", "(4)"], "(1234.5)", ["12.5", "-3.25", "-4"]),
        (["1.234,50 €", "(12,30 €)", "(5) €"], "(1.234,5 €)", ["1234.50", "-12.30", "-5"]),
        (["$1,234.50", "($12.30)", "$(3.10)"], "($1,234.5)", ["1234.50", "-12.30", "-3.10"]),
        (["12,50-", "3,25", "1.000,00-"], "1.234,5-", ["-12.50", "3.25", "-1000.00"]),
        (["\u221212.5", "3.25"], "\u22121234.5", ["-12.5", "3.25"]),
        (["\u201312,5 %", "3,25 %"], "\u20131234,5 %", ["-12.5", "3.25"]),
        (["12.5 µg/l", "3 µg/l"], "1234.5 µg/l", ["12.5", "3"]),
        (["12.5 Mio.", "3.1 Mio."], "1234.5 Mio.", ["12.5", "3.1"]),
        (["12 a", "3 b"], None, []),
        (["12a", "3a"], None, []),
        (["AB12", "AB13"], None, []),
        (["10\u201312", "20\u201322"], None, []),  # ranges
        (["(1)", "(2)"], None, []),  # notes
        (["1-", "2", "3"], None, []),  # grades
        (["(0351) 12345", "5"], None, []),
    ],
)
def test_forms(texts: list[str], form: str | None, numbers: list[str]) -> None:
    assert number_form(texts) == form
    if form is not None:
        assert [plain_number_of(text, form) for text in texts] == numbers


def test_a_result_with_losses_in_parentheses_is_a_column_of_numbers(tmp_path: Path) -> None:
    """It was taken for an identifier, and left out."""
    cells = [f"{place * 17},5" if place % 3 else f"({place * 13},25)" for place in range(60)]
    rows = [f"{cell};{'ab'[place % 2]}" for place, cell in enumerate(cells)]
    path = write(tmp_path, "\n".join(["Ergebnis;y", *rows]) + "\n")
    found = infer(path, target="y")
    [report, _] = found.columns
    assert (report.type, report.role, report.format) == ("number", "input", "(1234,5)")
    assert "Negative ones are written like (1234,5)." in report.evidence

    version = declare(read_table(path), found.columns, "y")
    assert min(min(frame["Ergebnis"].tolist()) for frame in version.frames.values()) < -700
    schemas = (version.schema_in, version.schema_out)
    asked = parse_rows(b'{"rows": [{"Ergebnis": "(7,25)"}, {"Ergebnis": "3"}]}', "", *schemas)
    assert asked.frame["Ergebnis"].tolist() == [-7.25, 3.0]
    sent = parse_rows(b"Ergebnis;z\n(7,25);1\n3,5;1\n", "text/csv", *schemas)
    assert sent.frame["Ergebnis"].tolist() == [-7.25, 3.5]


def test_values_below_a_limit_of_detection_are_no_identifier(tmp_path: Path) -> None:
    """The column was left out: each value is another, and has digits."""
    cells = [f"{'<' if place % 5 == 0 else ''}{place * 0.37 + 1:.2f}" for place in range(60)]
    rows = [f"{cell},{'ab'[place % 2]}" for place, cell in enumerate(cells)]
    report = infer(write(tmp_path, "\n".join(["Cd,y", *rows]) + "\n"), target="y").columns[0]
    assert report.role == "input"
    assert "It would be a number but for values such as '<1.00'." in report.evidence
