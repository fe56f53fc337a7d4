"""Dates with the names of months in the languages of Europe are read alike everywhere: when a
column is inferred and declared, in requests as JSON and CSV, and in what is written.
"""

from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from easeml.data import declare, infer_table, parse_rows, read_table
from easeml.data.types import values as v

NAMES = {
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "it": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
    "pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "en": "January February March April May June July August September October November December",
    "de, short": "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
    "fr, short": "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
    "it, short": "gen feb mar apr mag giu lug ago set ott nov dic",
    "nl, short": "jan feb mrt apr mei jun jul aug sep okt nov dec",
}
FORMS = {
    "de": "{day}. {month} {year}",
    "de, short": "{day}. {month} {year}",
    "es": "{day} de {month} de {year}",
    "pt": "{day} de {month} de {year}",
    "en": "{month} {day}, {year}",
}
ALL = pytest.mark.parametrize("language", NAMES)


def written(day: date, language: str) -> str:
    form = FORMS.get(language, "{day} {month} {year}")
    month = NAMES[language].split()[day.month - 1]
    return form.format(day=day.day, month=month, year=day.year)


def days(count: int, step: int = 23) -> list[date]:
    return [one.date() for one in pd.date_range("2021-01-03", periods=count, freq=f"{step}D")]


@ALL
def test_a_column_of_dates_is_read_as_what_it_says(language: str, tmp_path: Path) -> None:
    given = days(60)
    frame = pd.DataFrame({"when": [written(day, language) for day in given], "y": range(60)})
    frame.to_csv(tmp_path / "rows.csv", index=False)
    table = read_table(tmp_path / "rows.csv")
    report = infer_table(table, "y").columns[0]
    assert report.type == "timestamp", report.evidence
    declared = declare(table, infer_table(table, "y").columns, "y")
    rows = pd.concat(list(declared.frames.values())).sort_values("_row")
    assert [moment.date() for moment in rows["when"]] == given


@ALL
def test_a_month_that_no_training_row_had_is_read(language: str) -> None:
    """A form is learned from January to March; the other months come in requests."""
    first = [day for day in days(400, 1) if day.month <= 3]
    form = v.timestamp_format([written(day, language) for day in first])
    assert form is not None
    later = [day for day in days(400, 1) if day.month > 3]
    texts = [written(day, language) for day in later]
    made = v.convert(pa.array(texts), "timestamp", form=form)
    assert not made.bad.any()
    alone = np.array([v.parse_timestamp(text, form) for text in texts])
    assert (made.values == alone).all()
    assert alone.astype("datetime64[D]").tolist() == later


def test_requests_are_read_as_the_file_was(tmp_path: Path) -> None:
    given = days(60)
    texts = [written(day, "de") for day in given]
    pd.DataFrame({"when": texts, "y": range(60)}).to_csv(tmp_path / "rows.csv", index=False)
    table = read_table(tmp_path / "rows.csv")
    declared = declare(table, infer_table(table, "y").columns, "y")
    sides = declared.schema_in, declared.schema_out
    body = '[{"when": "24. Dezember 2031"}, {"when": "2031-12-24"}, {"when": "24. Dez. 2031"}]'
    from_json = parse_rows(body.encode(), "application/json", *sides).table["when"]
    csv = "when\n24. Dezember 2031\n2031-12-24\n24. Dez. 2031\n"
    from_csv = parse_rows(csv.encode(), "text/csv", *sides).table["when"]
    for found in (from_json, from_csv):
        assert np.asarray(found).astype("datetime64[D]").tolist() == [date(2031, 12, 24)] * 3


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["5. März 2024 14:30", "17. Mai 2023 09:05"], "%d. %B %Y %H:%M"),
        (["1er mars 2024", "14 juillet 1789"], "%d %B %Y"),
        (["März 2024", "Okt. 2023", "Mai 2022"], "%B %Y"),
        (["03-Mär-24", "17-Okt-23"], "%d-%b-%y"),
        # As before:
        (["March 5, 2024", "April 7, 2023"], "%B %d, %Y"),
        (["Mar 5, 2024", "Apr 7, 2023"], "%b %d, %Y"),
        (["05-Mar-2024", "07-Apr-2023"], "%d-%b-%Y"),
        (["2024-03-05", "2023-04-07T10:00:00"], ""),
        # Times that are made are written with a blank, where all are:
        (["2024-03-05 00:00:00", "2023-04-07 10:00:00"], "%Y-%m-%d %H:%M:%S"),
        (["2024-03-05 00:00", "2023-04-07 10:00"], "%Y-%m-%d %H:%M"),
        (["2024-03-05 00:00:00", "2023-04-07T10:00:00"], ""),
    ],
)
def test_a_form_is_that_of_the_column(texts: list[str], form: str) -> None:
    assert v.timestamp_format(texts) == form


@pytest.mark.parametrize("texts", [["Mai 12 km", "Juni 13 km"], ["set 12345", "out 23456"]])
def test_words_like_months_are_no_dates(texts: list[str]) -> None:
    assert v.timestamp_format(texts) is None
