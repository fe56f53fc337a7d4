"""The user's decisions applied to the proposals: types, roles, target, and the schemas that follow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from easeml.data.errors import DatasetError, did_you_mean
from easeml.data.types.cells import CELLS
from easeml.data.types.column_report import (
    PROPOSED,
    SURE_OF_TARGET,
    SUSPICION,
    TYPES,
    ColumnReport,
)
from easeml.data.types.number_forms import checked_form, number_form
from easeml.data.types.table_schemas import schema_of
from easeml.data.types.values import numeric_labels, timestamp_format, to_numbers
from easeml.schema import Schema

_SURE_OF_LEAK = 0.8


@dataclass(frozen=True)
class Columns:
    """Columns with their final roles, the target, the schemas, and what is to be said about them.

    ``leak_notes``: of inputs that may know the target.
    """

    columns: list[ColumnReport]
    target: str
    schema_in: Schema
    schema_out: Schema
    notes: list[str]
    leak_notes: list[str]


def declare_columns(
    reports: Sequence[ColumnReport],
    target: str | None = None,
    set: Mapping[str, str] | None = None,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
) -> Columns:
    """Apply a declaration to the reports alone, without data.

    ``target`` None means the proposed one. ``set`` maps columns to types, ``COLUMN.missing`` to the
    values that stand for a missing one, with commas, and ``COLUMN.format`` to how its numbers or
    timestamps are written. Dropped are the columns proposed for dropping and those in ``drop``,
    without those in ``keep``. A whole-number target with few values becomes a category unless
    ``set`` says number.

    Raises:
        DatasetError: for unknown names or types, a target that is not possible, or no input left.
    """
    by_name = {report.name: report for report in reports}
    reports, types = _with_settings(by_name, set or {})
    _check_names(by_name, types, drop, keep, target)
    _check_types(by_name, types)
    chosen = target or _proposed_target(reports)
    if chosen in drop:
        raise DatasetError(
            "the target cannot be dropped.",
            where=f"column '{chosen}'",
        )
    if by_name[chosen].nature != "target":
        reports = [_of_another_target(report) for report in reports]
    elif target is not None:
        reports = [_without_proposal(report) for report in reports]

    columns = []
    for report in reports:
        kind = types.get(report.name)
        told = _with_leak(report, chosen)
        columns.append(_decide(told, chosen, kind, drop, keep))
    return assemble(columns, chosen)


def _check_names(
    by_name: Mapping[str, ColumnReport],
    types: Mapping[str, str],
    drop: Collection[str],
    keep: Collection[str],
    target: str | None,
) -> None:
    named = [*types, *drop, *keep]
    if target is not None:
        named.append(target)
    for name in named:
        if name not in by_name:
            raise DatasetError(
                f"there is no column '{name}'.",
                remedy=did_you_mean(name, by_name),
            )


def _check_types(by_name: Mapping[str, ColumnReport], types: Mapping[str, str]) -> None:
    for name, kind in types.items():
        if kind not in TYPES:
            raise DatasetError(
                f"'{kind}' is not a type.",
                where=f"column '{name}'",
                remedy=f"Use one of: {', '.join(TYPES)}.",
            )
    for name in types:
        if by_name[name].type in CELLS:
            raise DatasetError(
                f"each row holds {_an(by_name[name].type)}.",
                where=f"column '{name}'",
                remedy="Its type cannot be set; leave that out.",
            )
        _check_examples(by_name[name], types[name])


def _check_examples(report: ColumnReport, kind: str) -> None:
    """Refuse a type that not even the examples of a column have, before anything is begun."""
    if kind == report.type or report.format or not report.examples:
        return
    if kind == "timestamp":
        is_of_kind = timestamp_format(report.examples, compact=True) is not None
    elif kind == "number":
        import pyarrow as pa

        is_plain = not to_numbers(pa.array(report.examples, pa.string())).bad.any()
        is_of_kind = is_plain or number_form(report.examples) is not None
    else:
        return
    if not is_of_kind:
        raise DatasetError(
            f"its values are no {kind}s, such as {report.examples[0]!r}.",
            where=f"column '{report.name}'",
            remedy=f"Let it be another type (--set {report.name}=text), or correct the values.",
        )


def _proposed_target(reports: Sequence[ColumnReport]) -> str:
    """The target that was proposed, where that is sure enough to be taken without asking."""
    proposed = next((report for report in reports if report.role == "target"), None)
    if proposed is None:
        _check_there_are_inputs(reports)
        raise DatasetError(
            "no column suggests itself as the target.",
            remedy=_name_one(reports, ""),
        )
    if proposed.nature_confidence < SURE_OF_TARGET:
        raise DatasetError(
            f"it is not sure which column is to be predicted: perhaps '{proposed.name}'.",
            where="target",
            remedy=_name_one(reports, proposed.name),
        )
    return proposed.name


def _check_there_are_inputs(reports: Sequence[ColumnReport]) -> None:
    if len(reports) > 1:
        return
    raise DatasetError(
        f"there is one column only, '{reports[0].name}', and nothing to predict it from.",
        remedy="Give a table that has the inputs and the target, a row for each example.",
    )


def _name_one(reports: Sequence[ColumnReport], first: str) -> str:
    """A remedy that lists the columns, the first one at the beginning."""
    used = [report.name for report in reports if report.role != "drop"]
    names = dict.fromkeys([first, *used] if first else used)
    return f"Name one: {', '.join(list(names)[:20])}."


def assemble(columns: list[ColumnReport], target: str) -> Columns:
    """Check decided columns and derive schemas and notes."""
    answer = next(column for column in columns if column.name == target)
    _check_target(answer)
    inputs = [column for column in columns if column.role == "input"]
    dropped = [column for column in columns if column.role == "drop"]
    unused = []
    for column in dropped:
        unused.append(f"Column '{column.name}' is not used. {column.evidence}".strip())

    _check_inputs(inputs, unused)
    schema_in = schema_of(inputs, tuple(column.name for column in dropped))
    schema_out = schema_of([replace(answer, missing=0.0)], ())
    return Columns(
        columns,
        target,
        schema_in,
        schema_out,
        notes=unused,
        leak_notes=_leak_notes(inputs, target),
    )


def _leak_notes(inputs: Sequence[ColumnReport], target: str) -> list[str]:
    """What is said of columns that may know the target: one note, with the reason of each."""
    leaks = [column for column in inputs if column.nature == "leak"]
    if not leaks:
        return []
    said = ", ".join(f"'{one.name}' ({one.leaks.get(target, one.evidence)})" for one in leaks)
    return [
        f"May know '{target}': {said}. If they are not known yet when you predict, quality looks "
        "far better than it will be: leave them out."
    ]


def _check_inputs(inputs: Sequence[ColumnReport], unused: Sequence[str]) -> None:
    """Refuse a table without an input, or with one that is empty."""
    if not inputs:
        raise DatasetError(
            " ".join(["no input column is left.", *unused[:3]]),
            remedy="Add a column that tells rows apart, "
            "or keep one of these where columns can be kept (--keep NAME).",
        )
    for column in inputs:
        if column.missing == 1.0:
            raise DatasetError(
                "has no value in any row.",
                where=f"column '{column.name}'",
                remedy="Drop it (--drop).",
            )


def _with_settings(
    by_name: Mapping[str, ColumnReport], set: Mapping[str, str]
) -> tuple[list[ColumnReport], dict[str, str]]:
    """The reports with missing codes and formats as set, and what else is set: types."""
    types = {}
    made = dict(by_name)
    for key, value in set.items():
        name, _, what = key.rpartition(".")
        is_setting = name in by_name and what in ("missing", "format")
        if key in by_name or not is_setting:
            types[key] = value
        elif what == "missing":
            made[name] = _with_missing_codes(made[name], value)
        else:
            kind = set.get(name, made[name].type)
            made[name] = replace(made[name], format=_checked_format(name, kind, value))
    return list(made.values()), types


def _with_missing_codes(report: ColumnReport, said: str) -> ColumnReport:
    """The report with the codes that stand for missing values, given with commas between."""
    codes = [code.strip() for code in said.split(",")]
    codes = [code for code in codes if code]
    labels = [label for label in report.classes if label not in codes]
    return replace(
        report,
        missing_codes=codes,
        suspected_codes=[],
        classes=labels,
    )


def _of_another_target(report: ColumnReport) -> ColumnReport:
    """The report without what was said for the sake of the proposed target."""
    if report.nature not in ("leak", "target"):
        return report
    evidence = report.evidence.partition(SUSPICION)[0].partition(PROPOSED)[0]
    return replace(report, nature="input", evidence=evidence.rstrip())


def _without_proposal(report: ColumnReport) -> ColumnReport:
    """The report without the reason for a proposal; who names the target needs none."""
    return replace(report, evidence=report.evidence.partition(PROPOSED)[0].rstrip())


def _with_leak(report: ColumnReport, target: str) -> ColumnReport:
    """The report as a suspect, where it seems to know the target too well."""
    why = report.leaks.get(target)
    if why is None or report.name == target or SUSPICION in report.evidence:
        return report
    remedy = "Drop it if it is not known when you predict."
    evidence = f"{report.evidence}{SUSPICION} '{target}': {why}. {remedy}"
    return replace(
        report,
        nature="leak",
        nature_confidence=_SURE_OF_LEAK,
        evidence=evidence,
    )


def _checked_format(name: str, kind: str, form: str) -> str:
    if kind == "number":
        return checked_form(form)
    if kind != "timestamp" or "%" not in form:
        raise DatasetError(
            f"{form!r} is not how a {kind} is written.",
            where=f"column '{name}'",
            remedy="Write the form of a number as 1.234,5 and that of a date as %d.%m.%Y.",
        )
    return form


def _decide(
    report: ColumnReport,
    target: str,
    kind: str | None,
    drop: Collection[str],
    keep: Collection[str],
) -> ColumnReport:
    """A column with its final role and type."""
    if report.name == target:
        return _as_target(report, kind)

    natural = report.type
    was_target = report.role == "target" and natural == "category"
    if was_target and numeric_labels(tuple(report.classes)):
        natural = "number"  # it was a category only as the proposed target

    dropped = report.role == "drop" or report.name in drop
    unused = dropped and report.name not in keep
    return replace(report, role="drop" if unused else "input", type=kind or natural)


def _as_target(report: ColumnReport, kind: str | None) -> ColumnReport:
    """The column as the target: few whole numbers are classes, unless it is said otherwise."""
    natural = report.type
    if natural == "number" and report.classes:
        natural = "category"
    return replace(
        report,
        nature="target",
        role="target",
        type=kind or natural,
    )


def _check_target(answer: ColumnReport) -> None:
    where = f"column '{answer.name}'"
    if answer.distinct == 0:
        raise DatasetError(
            "the target has no value in any row.",
            where=where,
            remedy="Name another target.",
        )
    if answer.distinct == 1:
        value = answer.examples[0] if answer.examples else ""
        raise DatasetError(
            f"the target is constant: every row has {value!r}.",
            where=where,
            remedy="Name another target.",
        )
    if answer.type == "tensor":
        _check_tensor_target(answer, where)
        return
    if answer.type in CELLS:
        raise DatasetError(
            f"the target is {_an(answer.type)}; no model predicts that.",
            where=where,
            remedy="A number, a category or a tensor can be predicted: name another target.",
        )
    if answer.type not in ("number", "category"):
        raise DatasetError(
            f"the target is {answer.type}; only a number or a category can be predicted.",
            where=where,
            remedy=f"Name another target, or set it (--set {answer.name}=category).",
        )


def _check_tensor_target(answer: ColumnReport, where: str) -> None:
    one_size = all(isinstance(size, int) for size in answer.content["dim"])
    if not one_size:
        raise DatasetError(
            f"the target's size differs from row to row: {answer.content['dim']}.",
            where=where,
            remedy="Models predict tensors of one size; bring the rows to one.",
        )
    if answer.missing:
        raise DatasetError(
            "the target holds missing numbers.",
            where=where,
            remedy="Leave those rows out.",
        )


def _an(kind: str) -> str:
    return f"{'an' if kind == 'image' else 'a'} {kind}"
