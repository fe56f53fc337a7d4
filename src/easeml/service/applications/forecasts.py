"""Declarations of forecasts: a target that follows its own past."""

from collections.abc import Mapping, Sequence

from easeml.contract.applications import Declaration, Forecast
from easeml.contract.tasks import ForecastRule
from easeml.data import Columns, Split, without_columns
from easeml.data.types.column_report import ColumnReport
from easeml.errors import InvalidInput
from easeml.service.knowledge import knowledge_base
from easeml.store.records import DatasetVersion, Json
from easeml.store.shapes import Rules

_TIMES = ("timestamp", "number")  # types of columns in whose order rows can be


def split_by_time(declaration: Declaration, upload: DatasetVersion) -> Declaration:
    """Return the declaration of a forecast with the split by its time; another as it is.

    Where no time is named, it is the only column of times. Raises ``InvalidInput`` where there are
    none or several, and for another split.
    """
    if declaration.forecast is None:
        return declaration
    way = declaration.split.partition(":")[0]
    if way == "time":
        return declaration
    if way != "random":
        raise InvalidInput(
            "The latest rows test a forecast.",
            where="split",
            remedy="Name the column of the times (time:COLUMN), or leave the split out.",
        )
    times = _times_of(upload, declaration)
    if len(times) != 1:
        raise InvalidInput(
            f"{_found(times)}: it is not known by which the target is forecast.",
            where="split",
            remedy="Name the column: time:COLUMN.",
        )
    return declaration.model_copy(update={"split": f"time:{times[0]}"})


def _times_of(upload: DatasetVersion, declaration: Declaration) -> list[str]:
    """Return the columns that hold times, and are no target."""
    found = []
    for column in upload.columns:
        name = column["name"]
        kind = declaration.set.get(name, column["type"])
        if kind == "timestamp" and name != declaration.target:
            found.append(name)
    return found


def _found(times: Sequence[str]) -> str:
    if not times:
        return "No column holds times"
    names = " and ".join(map(repr, times))
    return f"Several columns hold times ({names})"


def check(declaration: Declaration, columns: Columns, rows: int) -> None:
    """Check what a declaration says of a forecast.

    Raises ``InvalidInput`` where the target is no number, a named column is none of the inputs, or
    several of the ``rows`` have the same time and nothing tells series apart.
    """
    if declaration.forecast is None:
        return
    if declaration.together:
        raise InvalidInput(
            "A forecast is of one number.",
            where="together",
            remedy="Forecast each target by an application of its own.",
        )
    by_name = {report.name: report for report in columns.columns}
    _check_type(by_name[columns.target], ("number",), "the target of a forecast")
    time = Split.from_text(declaration.split, list(by_name)).column
    _check_type(by_name[time], _TIMES, "the time of a forecast")
    inputs = [report.name for report in columns.columns if report.role == "input"]
    for name in (time, *declaration.forecast.series, *declaration.forecast.past_only):
        said = f"There is no input column {name!r}."
        knowledge_base.check_known(name, inputs, said, "forecast")
    for name in declaration.forecast.series:
        _check_type(by_name[name], ("category", "text", "number"), "a name of series")
    _check_past_only(declaration.forecast, time, by_name)
    _check_times(by_name[time], rows, declaration.forecast.series, by_name)


def _check_past_only(asked: Forecast, time: str, columns: Mapping[str, ColumnReport]) -> None:
    """Raise ``InvalidInput`` for a column that is to be looked at in the past only, and is no number
    or what rows are named by.
    """
    for name in asked.past_only:
        if name in (time, *asked.series):
            raise InvalidInput(
                f"The column {name!r} says which row is forecast, so it is known ahead.",
                where="past_only",
                remedy="Name it once.",
            )
        if columns[name].type != "number":
            raise InvalidInput(
                f"The column {name!r} is a {columns[name].type}: of the past only numbers are "
                "looked at.",
                where="past_only",
                remedy="Leave it out (--drop), or write numbers in place of its values.",
            )


def _check_times(
    time: ColumnReport, rows: int, series: Sequence[str], columns: Mapping[str, ColumnReport]
) -> None:
    """Raise ``InvalidInput`` where one series has fewer times than rows; likely names are told."""
    timed = round(rows * (1 - time.missing))
    if series or not 0 < time.distinct < timed:
        return
    each = -(-timed // time.distinct)  # series that there must be at least
    likely = []
    for report in columns.values():
        is_name = report.type == "category" and report.role == "input"
        if is_name and each <= report.distinct < time.distinct:
            likely.append(repr(report.name))
    perhaps = f" It may be {' or '.join(likely)}." if likely else ""
    raise InvalidInput(
        f"{timed:,} rows have {time.distinct:,} times, so they are of several series.",
        where=f"column '{time.name}'",
        remedy=f"Name the column that tells them apart (--series COLUMN).{perhaps}",
    )


def _check_type(column: ColumnReport, kinds: Sequence[str], use: str) -> None:
    if column.type in kinds:
        return
    raise InvalidInput(
        f"The column {column.name!r} is a {column.type}, and {use} is a {' or a '.join(kinds)}.",
        where="forecast",
        remedy=f"Name another column, or declare its type (--set '{column.name}={kinds[0]}').",
    )


def rule_of(declaration: Declaration) -> Json:
    """Return the rule by which candidates forecast; empty where nothing is forecast."""
    if declaration.forecast is None:
        return {}
    time = declaration.split.partition(":")[2]
    asked = declaration.forecast
    rule = ForecastRule(
        time=time, ahead=asked.ahead, series=asked.series, past_only=asked.past_only
    )
    return rule.model_dump()


def shown(rules: Rules) -> ForecastRule | None:
    """Return how an application forecasts; None where it does not."""
    if not rules.forecast:
        return None
    return ForecastRule.model_validate(rules.forecast)


def asked_schema(schema_in: Json, rules: Rules) -> Json:
    """Return the schema of rows that an endpoint is asked about, of that of the data: a forecast is
    not sent what is not known ahead.
    """
    rule = shown(rules)
    if rule is None:
        return schema_in
    return without_columns(schema_in, rule.past_only)


def told(declaration: Declaration) -> Json:
    """Return what the ingest task is told of a forecast; nothing where there is none."""
    if declaration.forecast is None:
        return {}
    asked = declaration.forecast
    return {"series": list(asked.series), "past_only": list(asked.past_only)}
