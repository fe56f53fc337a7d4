"""What columns seem to be: forms of numbers and dates, codes, missing codes, groups, time order,
leaks, and samples.
"""

import json
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeml.data import (
    ColumnReport,
    DatasetError,
    Inference,
    declare,
    infer,
    infer_table,
    parse_rows,
    read_table,
)

from .tables import write

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
RNG = np.random.default_rng(3)


def seen(tmp_path: Path, target: str = "y", **columns: list) -> dict[str, ColumnReport]:
    return {report.name: report for report in inferred(tmp_path, target, **columns).columns}


def inferred(tmp_path: Path, target: str = "y", **columns: list) -> Inference:
    rows = len(next(iter(columns.values())))
    frame = pd.DataFrame({"y": RNG.permutation(["a", "b"] * rows)[:rows], **columns})
    return infer(write(tmp_path, frame.to_csv(index=False, sep=";"), "table.csv"), target)


def typed(tmp_path: Path, values: list[str]) -> np.ndarray:
    frame = pd.DataFrame(
        {"v": values, "y": RNG.permutation(["a", "b"] * len(values))[: len(values)]}
    )
    table = read_table(write(tmp_path, frame.to_csv(index=False, sep=";")))
    made = declare(table, infer_table(table, "y").columns, "y")
    return pd.concat(made.frames.values()).sort_values("_row")["v"].to_numpy()


@pytest.mark.parametrize(
    ("texts", "form", "numbers"),
    [
        (["3,5", "12", "-0,25"], "1234,5", [3.5, 12, -0.25]),
        (["0,5", "1,1e-05", "-4,3E+02", "2e3"], "1234,5", [0.5, 1.1e-05, -430, 2000]),
        (["$1,234.50", "$1.5e6", "$7"], "$1,234.5", [1234.5, 1.5e6, 7]),
        (["1.234,5", "7", "12.345.678,25"], "1.234,5", [1234.5, 7, 12345678.25]),
        (["1,234", "15", "2,345,678.5"], "1,234.5", [1234, 15, 2345678.5]),
        (["1 234,5", "7,5", "-20 000"], "1 234,5", [1234.5, 7.5, -20000]),
        (["1'234.5", "7.5", "20'000"], "1'234.5", [1234.5, 7.5, 20000]),
        (["$1,234.50", "$7.00", "-$3"], "$1,234.5", [1234.5, 7, -3]),
        (["12%", "7.5%", "100%"], "1234.5%", [12, 7.5, 100]),
        (["3,5 €", "1 €", "-2,25 €"], "1234,5 €", [3.5, 1, -2.25]),
        ([f"{hour}:08:30" for hour in range(12)], "20:34:30", [60 * h + 8.5 for h in range(12)]),
        ([f"{hour:02}:08" for hour in range(24)], "20:34:30", [60 * h + 8 for h in range(24)]),
        (
            [f"{hour}:08 {half}" for half in ("AM", "p.m.") for hour in (12, *range(1, 12))],
            "8:34:30 PM",
            [60 * h + 8 for h in range(24)],
        ),
    ],
)
def test_forms_of_numbers(
    tmp_path: Path, texts: list[str], form: str, numbers: list[float]
) -> None:
    report = seen(tmp_path, v=texts * 5)["v"]
    assert (report.type, report.format) == ("number", form)
    np.testing.assert_array_equal(typed(tmp_path, texts * 5), numbers * 5)


@pytest.mark.parametrize(
    "texts", [["3 kg", "4 m", "5 kg"], ["1.2.3", "1.3.0"], ["A12", "B13"], ["12:30", "13:45"]]
)
def test_what_only_looks_like_numbers(tmp_path: Path, texts: list[str]) -> None:
    assert seen(tmp_path, v=texts * 6)["v"].type == "category"


def test_a_declared_form_holds_at_the_endpoint(tmp_path: Path) -> None:
    table = read_table(
        write(tmp_path, "v;y\n" + "\n".join(f"{i}.5;{'ab'[i % 2]}" for i in range(20)))
    )
    made = declare(
        table, infer_table(table, "y").columns, "y", {"v": "number", "v.format": "1.234,5"}
    )
    rows = parse_rows(
        json.dumps([{"v": "1.234,5"}, {"v": 2.5}]).encode(), "", made.schema_in, made.schema_out
    )
    assert rows.frame["v"].tolist() == [1234.5, 2.5]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("v.format", "x", "not a form"),
        ("s.format", "1.2", "not how a"),
        ("w.missing", "1", "no column 'w.missing'"),
    ],
)
def test_refused_settings(tmp_path: Path, key: str, value: str, message: str) -> None:
    table = read_table(
        write(
            tmp_path,
            "v;s;y\n" + "\n".join(f"{i * 7 % 5};{'qr'[i % 2]};{'ab'[i % 2]}" for i in range(20)),
        )
    )
    with pytest.raises(DatasetError, match=message):
        declare(table, infer_table(table, "y").columns, "y", {key: value})


def test_day_and_month_that_cannot_be_told_apart_are_said(tmp_path: Path) -> None:
    report = seen(tmp_path, when=["01/02/2020", "03/04/2020", "05/06/2020"] * 5)["when"]
    assert report.type == "timestamp"
    assert report.confidence < 0.8
    assert "cannot be told apart" in report.evidence


def test_eight_digits_are_days_where_the_name_says_so(tmp_path: Path) -> None:
    found = seen(tmp_path, date=["20200131", "20210228"] * 5, amount=["20200131", "20210228"] * 5)
    assert found["date"].type == "timestamp"
    assert found["amount"].type == "number"


def test_numbers_that_are_codes(tmp_path: Path) -> None:
    codes = [20, 30, 40, 60, 190] * 30
    found = seen(
        tmp_path,
        SubClass=codes,
        zip=[8001, 8004, 1200] * 50,
        size=codes,
        store_id=list(range(11, 41)) * 5,
    )
    assert {name: report.type for name, report in found.items()} == {
        "y": "category", "SubClass": "category", "zip": "category", "size": "number", "store_id": "category"
    }  # fmt: skip
    assert found["store_id"].nature == "group"
    assert "codes" in found["zip"].evidence


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([*range(20), 999, 999, 999], ["999"]),
        ([*range(-5, 20), -9999, -9999], ["-9999"]),
        ([1.5, 2.5, 3.5, 4.5, -1, -1, -1], ["-1"]),
        (["yes", "no", "unknown", "no"] * 4, ["unknown"]),
        ([*range(1000), 3], []),
        ([-2, -1, 0, 1, 2] * 4, []),
        (["none", "some"] * 9, []),
        (["so good that I came again", "cold and slow", "#NAME?", "#NAME?"] * 4, ["#NAME?"]),
    ],
)
def test_missing_codes_are_proposed_and_used_when_declared(
    tmp_path: Path, values: list, codes: list[str]
) -> None:
    frame = pd.DataFrame({"v": values, "w": 0.5, "y": (["a", "b"] * len(values))[: len(values)]})
    frame.loc[::2, "w"] = 1.5
    table = read_table(write(tmp_path, frame.to_csv(index=False)))
    found = infer_table(table, "y").columns
    assert found[0].suspected_codes == codes
    assert found[0].missing == 0
    if codes:
        assert f"'{codes[-1]}' may stand for a missing value" in found[0].evidence
        made = declare(table, found, "y", {"v.missing": codes[0]})
        assert made.columns[0].missing == pytest.approx(
            sum(str(value) in (codes[0], f"{codes[0]}.0") for value in frame["v"]) / len(frame)
        )
        answer = parse_rows(
            json.dumps([{"v": codes[0], "w": 1}]).encode(), "", made.schema_in, made.schema_out
        )
        assert answer.frame["v"].isna().to_numpy().all()
        assert made.schema_in == type(made.schema_in).from_json(made.schema_in.to_json())


def test_time_order_and_groups(tmp_path: Path) -> None:
    days = pd.date_range("2020-01-01", periods=60).strftime("%Y-%m-%d").tolist()
    found = seen(
        tmp_path,
        when=days,
        patient=[f"p{i // 4}x" for i in range(60)],
        unix_time=list(range(1000, 1060)),
    )
    assert {name: report.nature for name, report in found.items()} == {
        "y": "target", "when": "time", "patient": "group", "unix_time": "time"
    }  # fmt: skip


def test_leaks_by_sum_by_copy_and_by_name(tmp_path: Path) -> None:
    a, b, noise = (RNG.integers(0, 1000, 200) for _ in range(3))
    found = seen(
        tmp_path, "count", count=list(a + b), casual=list(a), registered=list(b), other=list(noise)
    )
    assert {name: report.nature for name, report in found.items()} == {
        "y": "input", "count": "target", "casual": "leak", "registered": "leak", "other": "input"
    }  # fmt: skip
    answer = RNG.permutation(["yes", "no"] * 100)
    copied = np.where(answer == "yes", "Y", "N")
    found = seen(
        tmp_path,
        "bought",
        bought=list(answer),
        copied=list(copied),
        pred=list(noise),
        other=list(noise),
    )
    assert [name for name, report in found.items() if report.nature == "leak"] == ["copied", "pred"]
    assert "100.0% of rows" in found["copied"].evidence


def test_leaks_are_not_said_of_another_target(tmp_path: Path) -> None:
    a, b = (RNG.integers(0, 1000, 200) for _ in range(2))
    frame = pd.DataFrame({"a": a, "b": b, "z": RNG.permutation(["u", "v"] * 100), "target": a + b})
    table = read_table(write(tmp_path, frame.to_csv(index=False)))
    reports = infer_table(table).columns
    made = declare(table, reports, "z")
    assert not [report.name for report in made.columns if report.nature == "leak"]
    [note] = declare(table, reports).notes
    assert note.startswith("May know 'target': 'a' (the target is a sum of 'a' and 'b'), 'b'")


def test_what_a_sample_suggests_is_checked_in_all_rows(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"a": [*range(4998), "x", "y"], "k": ["p", "q"] * 2499 + ["r", "p"], "c": [1] * 4999 + [2]}
    )
    frame["y"] = RNG.permutation(["a", "b"] * 2500)
    frame["id"] = [*range(4999), 7]
    frame["size"] = RNG.normal(size=5000)
    table = read_table(write(tmp_path, frame.to_csv(index=False)))
    whole, sampled = (infer_table(table, "y", sample=sample) for sample in (10_000, 100))
    assert "100 evenly spaced rows" in sampled.notes[0]
    assert sampled.columns[-1].evidence.startswith("In 100 rows looked at: Numbers from ")
    for one, other in zip(whole.columns, sampled.columns, strict=True):
        assert (one.type, one.role, one.missing) == (other.type, other.role, other.missing), (
            one.name
        )
        assert (one.distinct, one.classes) == (other.distinct, other.classes), one.name
        assert one.distribution == other.distribution, one.name


def test_confidence_is_a_probability_and_evidence_a_sentence(tmp_path: Path) -> None:
    for report in inferred(
        tmp_path, a=[1, 2] * 20, b=[f"n{i}" for i in range(40)], c=["x"] * 40, d=[1.5] * 40
    ).columns:
        assert 0 < report.confidence <= 1
        assert 0 < report.nature_confidence <= 1
        assert report.evidence.endswith(".")


@settings(max_examples=60, deadline=None)
@given(
    st.floats(-1e12, 1e12).map(lambda x: round(x, 4)),
    st.sampled_from(["1.234,5", "1 234,5", "1'234.5", "$1,234.5", "1234,5 €"]),
)
def test_one_value_and_a_column_are_read_alike(value: float, form: str) -> None:
    import pyarrow as pa

    from easeml.data.types.number_forms import NumberForm, plain_number_of, plain_numbers

    marks = NumberForm.from_example(form)
    text = (
        f"{abs(value):,.4f}".replace(",", "T")
        .replace(".", marks.decimal)
        .replace("T", marks.thousands)
    )
    text = f"{'-' if value < 0 else ''}{marks.prefix}{text}{marks.suffix}"
    assert float(plain_number_of(text, form)) == value
    assert plain_numbers(pa.array([text]), form)[0].as_py() == plain_number_of(text, form)


@pytest.mark.parametrize("clock", ["20:34:30", "8:34:30 PM"])
def test_every_minute_of_a_day_is_read_alike(clock: str) -> None:
    import pyarrow as pa

    from easeml.data.types.number_forms import number_form, plain_number_of, plain_numbers

    moments = [datetime(2026, 1, 1) + timedelta(minutes=minute) for minute in range(24 * 60)]
    layout = "%I:%M %p" if clock.endswith("PM") else "%H:%M"
    texts = [moment.strftime(layout) for moment in moments]
    assert number_form(texts) == clock
    one_by_one = [float(plain_number_of(text, clock)) for text in texts]
    column = plain_numbers(pa.chunked_array([texts[:700], [None, *texts[700:]]]), clock)
    assert one_by_one == list(range(24 * 60))
    assert [float(text) for text in column.to_pylist() if text is not None] == one_by_one
    assert plain_number_of(clock, clock) == "1234.5"


def test_times_of_day_are_read_at_the_endpoint(tmp_path: Path) -> None:
    cells = [f"{hour}:{minute:02};{'ab'[hour % 2]}" for hour in range(24) for minute in (0, 30)]
    table = read_table(write(tmp_path, "v;y\n" + "\n".join(cells)))
    made = declare(table, infer_table(table, "y").columns, "y")
    told = json.dumps([{"v": "13:08"}, {"v": "24:00"}, {"v": 10}]).encode()
    with pytest.raises(DatasetError, match="24:00"):
        parse_rows(told, "", made.schema_in, made.schema_out)
    rows = parse_rows(b'[{"v": "13:08"}, {"v": 10}]', "", made.schema_in, made.schema_out)
    assert rows.frame["v"].tolist() == [788.0, 10.0]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public tables are not here")
@pytest.mark.parametrize(
    ("file", "natures"),
    [
        (
            "bike_sharing_hourly/bike_sharing_hourly.csv",
            {"datetime": "time", "casual": "leak", "count": "input"},
        ),
        (
            "penguins_raw/penguins_raw.csv",
            {"Region": "constant", "Individual ID": "group", "Species": "target"},
        ),
    ],
)
def test_public_tables(file: str, natures: dict[str, str]) -> None:
    found = {
        report.name: report
        for report in infer(SHARED / file, "count" if "count" in natures else None).columns
    }
    natures = {name: "target" if name == "count" else nature for name, nature in natures.items()}
    assert {name: found[name].nature for name in natures} == natures


@pytest.mark.parametrize(
    ("more", "told"), [([], True), (["shop"], True), (["visitors"], False), (["shuffled"], False)]
)
def test_a_series_of_numbers_is_said_to_need_its_earlier_values(
    tmp_path: Path, more: list[str], told: bool
) -> None:
    months = [f"{2001 + place // 12}-{place % 12 + 1:02}" for place in range(72)]
    columns = {
        "month": list(RNG.permutation(months)) if more == ["shuffled"] else months,
        "shop": list("nsw" * 24),
        "visitors": list(RNG.normal(size=72)),
        "sales": list(RNG.normal(size=72)),
    }
    kept = ["month", "sales", *set(more) & set(columns)]
    frame = pd.DataFrame({name: columns[name] for name in kept})
    notes = infer(write(tmp_path, frame.to_csv(index=False), "table.csv"), "sales").notes
    assert any("'sales' follows its own past" in note for note in notes) is told


@pytest.mark.parametrize("name", ["series", "participant", "recording"])
def test_numbers_of_what_several_rows_are_of_are_groups(tmp_path: Path, name: str) -> None:
    steps = {name: [place // 10 for place in range(200)], "x": list(RNG.normal(size=200))}
    report = seen(tmp_path, **steps)[name]
    assert (report.type, report.nature) == ("category", "group")
    assert f"Rows of the same '{name}' belong together" in report.evidence


def test_the_target_is_no_group(tmp_path: Path) -> None:
    content = pd.DataFrame({"x": RNG.normal(size=200), "product": list("abcdefghij" * 20)})
    found = infer(write(tmp_path, content.to_csv(index=False)), "product")
    assert "belong together" not in found.columns[1].evidence
