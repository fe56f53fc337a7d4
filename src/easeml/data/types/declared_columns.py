"""The user's decisions applied to the proposals: types, roles, target, and the schemas that follow."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress, filterfalse
from operator import attrgetter

from easeml.data.errors import DatasetError, did_you_mean, first_of, told_setting
from easeml.data.types.cells import CELLS
from easeml.data.types.column_report import (
    FEW_OF_CLASS,
    PROPOSED,
    SURE_OF_TARGET,
    SUSPICION,
    TYPES,
    WEIGHT,
    ColumnReport,
    class_counts,
)
from easeml.data.types.label_lists import LABELS, in_words
from easeml.data.types.number_forms import checked_form, number_form
from easeml.data.types.odd_cells import codes_in, odd_notes, without_odd
from easeml.data.types.table_schemas import schema_of
from easeml.data.types.together import joined_report, without_parts
from easeml.data.types.values import numeric_labels, timestamp_format, to_numbers
from easeml.schema import Schema

_SURE_OF_LEAK = 0.8
_SURE_OF_TIME = 0.8  # in whose order the rows are
_NAMED_CLASSES = 3
_LEFT_OUT = "You left it out."


@dataclass(frozen=True)
class Columns:
    """Columns with their final roles, the target, the schemas, and what is to be said about them.

    ``leak_notes``: of inputs that may know the target. ``time_notes``: of rows that have little but
    their time. ``group_notes``: of rows of the same somebody, whose answers are alike.
    ``rare_notes``: of classes with few rows.
    """

    columns: list[ColumnReport]
    target: str
    schema_in: Schema
    schema_out: Schema
    notes: list[str]
    leak_notes: list[str]
    time_notes: list[str]
    group_notes: list[str]
    rare_notes: list[str]


def declare_columns(
    reports: Sequence[ColumnReport],
    target: str | None = None,
    set: Mapping[str, str] | None = None,
    drop: Collection[str] = (),
    keep: Collection[str] = (),
    weight: str | None = None,
    together: Collection[str] = (),
) -> Columns:
    """Apply a declaration to the reports alone, without data.

    ``target`` None means the proposed one. ``set`` maps columns to types, ``COLUMN.missing`` to the
    values that stand for a missing one, with commas, and ``COLUMN.format`` to how its numbers or
    timestamps are written. Dropped are the columns proposed for dropping and those in ``drop``,
    without those in ``keep``. A whole-number target with few values becomes a category unless
    ``set`` says number. ``weight``: the column that says how much each row counts; it is no input.
    ``together``: columns that are one answer with the target.

    Raises:
        DatasetError: for unknown names or types, a target that is not possible, or no input left.
    """
    by_name = {report.name: report for report in reports}
    reports, types = _with_settings(by_name, set or {})
    _check_names(by_name, [*types, *drop, *keep, target, weight])
    _check_types(by_name, types)
    chosen = _proposed_target(reports) if target is None else target
    if together:
        joined = joined_report(reports, [chosen, *together])
        chosen = joined.name
        reports = without_parts(reports, joined)
        by_name = dict(zip(map(attrgetter("name"), reports), reports, strict=True))
    if chosen in drop:
        raise DatasetError(
            "the target cannot be dropped.",
            where=f"column '{chosen}'",
        )
    if weight is not None:
        _check_weight(by_name[weight], types, chosen, drop)
    _check_labels(by_name, types, chosen)
    reports = _told_of_target(reports, by_name[chosen], is_named=target is not None)

    proposed_drops = [report.name for report in reports if report.role == "drop"]
    unused = {*proposed_drops, *drop} - {*keep}
    left_out = {*drop} - {*proposed_drops}
    roles = dict.fromkeys(by_name, "input") | dict.fromkeys(unused, "drop") | {chosen: "target"}
    if weight is not None:
        roles[weight] = WEIGHT
    columns = []
    for report in reports:
        role = roles[report.name]
        kind = types.get(report.name, _natural_type(report, role))
        told = _with_nature(report, chosen)
        if kind == LABELS:
            told = replace(told, missing=0.0, evidence=in_words(report.name, report.content))
        if report.name in left_out:
            told = replace(told, evidence=_LEFT_OUT)
        columns.append(replace(told, role=role, type=kind))
    return assemble(columns, chosen)


def with_one_answer(reports: Sequence[ColumnReport], target: str) -> dict[str, str]:
    """Return what to ``set`` for who looks at one answer a row: several labels are one class."""
    several = [report.name for report in reports if report.content.get("labels")]
    if target not in several:
        return {}
    return {target: "category"}


def _check_names(by_name: Mapping[str, ColumnReport], named: Iterable[str | None]) -> None:
    """Refuse a name of no column; None names nothing."""
    unknown = next(filterfalse({None, *by_name}.__contains__, named), None)
    if unknown is not None:
        raise DatasetError(
            f"there is no column '{unknown}'.",
            remedy=did_you_mean(unknown, by_name),
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


def _check_labels(
    by_name: Mapping[str, ColumnReport], types: Mapping[str, str], target: str
) -> None:
    """Refuse several labels a row of an input, and of a column in which none were found."""
    for name in compress(types, map(LABELS.__eq__, types.values())):
        refusals = {
            "only a target can have several labels a row.": name != target,
            "its cells do not look like lists of labels that come again and again.": (
                not by_name[name].content
            ),
        }
        said = next(compress(refusals, refusals.values()), None)
        if said is not None:
            raise DatasetError(
                said,
                where=f"column '{name}'",
                remedy="Divide the labels of a cell by ; or |, as in 'politics; economy', or write "
                "lists in JSON lines. As an input, leave the type out.",
            )


def _check_examples(report: ColumnReport, kind: str) -> None:
    """Refuse a type that not even the examples of a column have, before anything is begun."""
    are_of_type = _ARE_OF_TYPE.get(kind, bool)
    is_told_by_all_rows = kind == report.type or report.format or not report.examples
    if is_told_by_all_rows or are_of_type(report.examples):
        return
    raise DatasetError(
        f"its values are no {kind}s, such as {report.examples[0]!r}.",
        where=f"column '{report.name}'",
        remedy=f"Let it be another type ({told_setting(report.name, 'text')}), or correct the values.",
    )


def _check_weight(
    report: ColumnReport, types: Mapping[str, str], target: str, drop: Collection[str]
) -> None:
    """Refuse a column that cannot say how much rows count; its values are looked at later."""
    refusals = {
        "the target cannot be the weight of rows.": report.name == target,
        "the weight of rows cannot be dropped.": report.name in drop,
        "weights of rows are numbers, and its values are not.": not _can_be_number(report, types),
    }
    for said, is_true in refusals.items():
        if is_true:
            raise DatasetError(
                said,
                where=f"column '{report.name}'",
                remedy="Name another column: one that has a number of 0 or more in each row.",
            )


def _can_be_number(report: ColumnReport, types: Mapping[str, str]) -> bool:
    if types.get(report.name, "number") != "number":
        return False
    if report.type == "number":
        return True
    return report.type not in CELLS and _are_numbers(report.examples)


def _are_timestamps(texts: list[str]) -> bool:
    return timestamp_format(texts, compact=True) is not None


def _are_numbers(texts: list[str]) -> bool:
    import pyarrow as pa

    unreadable = to_numbers(pa.array(texts, pa.string())).bad
    return not unreadable.any() or number_form(texts) is not None


_ARE_OF_TYPE = {"timestamp": _are_timestamps, "number": _are_numbers}
"""Whether texts are of a type, for the types that not every text has; others have any."""


def _proposed_target(reports: Sequence[ColumnReport]) -> str:
    """The target that was proposed, where that is sure enough to be taken without asking."""
    proposed = next((report for report in reports if report.role == "target"), None)
    if proposed is None:
        _check_there_are_inputs(reports)
        raise DatasetError(
            "no column suggests itself as the target.",
            remedy=_name_one(reports, []),
        )
    if proposed.nature_confidence < SURE_OF_TARGET:
        raise DatasetError(
            f"it is not sure which column is to be predicted: perhaps '{proposed.name}'.",
            where="target",
            remedy=_name_one(reports, [proposed.name]),
        )
    return proposed.name


def _check_there_are_inputs(reports: Sequence[ColumnReport]) -> None:
    if len(reports) > 1:
        return
    raise DatasetError(
        f"there is one column only, '{reports[0].name}', and nothing to predict it from.",
        remedy="Give a table that has the inputs and the target, a row for each example.",
    )


def _name_one(reports: Sequence[ColumnReport], first: Sequence[str]) -> str:
    """A remedy that lists the columns, the ``first`` ones at the beginning."""
    used = [report.name for report in reports if report.role != "drop"]
    names = dict.fromkeys([*first, *used])
    return f"Name one: {', '.join(list(names)[:20])}."


def assemble(columns: list[ColumnReport], target: str) -> Columns:
    """Check decided columns and derive schemas and notes."""
    answer = next(column for column in columns if column.name == target)
    _check_target(answer)
    by_role = defaultdict(list)
    for column in columns:
        by_role[column.role].append(column)

    inputs, dropped = by_role["input"], by_role["drop"]
    unused = [f"Column '{one.name}' is not used. {one.evidence}".strip() for one in dropped]
    _check_inputs(inputs, unused)
    weights = by_role[WEIGHT]
    odd = chain.from_iterable(map(odd_notes, [*inputs, answer, *weights]))
    counting = [f"Column '{one.name}' says how much each row counts." for one in weights]
    # Rows may come with columns that no model reads, such as their weight.
    # So may the columns that are the answer together.
    alone = tuple(column.name for column in (*dropped, *weights))
    schema_in = schema_of(inputs, (*alone, *answer.content.get("parts", ())))
    schema_out = schema_of([replace(answer, missing=0.0)], ())
    return Columns(
        columns,
        target,
        schema_in,
        schema_out,
        notes=[*unused, *counting, *odd],
        leak_notes=_leak_notes(inputs, target),
        time_notes=_time_notes(inputs, answer),
        group_notes=_group_notes(columns, target),
        rare_notes=_rare_notes(answer),
    )


def _is_sure_time(column: ColumnReport) -> bool:
    return column.nature == "time" and column.nature_confidence >= _SURE_OF_TIME


def _time_notes(inputs: Sequence[ColumnReport], answer: ColumnReport) -> list[str]:
    """What is said where a number has little to be told from but the time that sorts the rows."""
    times = list(filter(_is_sure_time, inputs))
    kinds = Counter(map(attrgetter("type"), inputs))
    others = kinds - Counter(timestamp=1, category=2)
    if (answer.type, len(times), len(others)) != ("number", 1, 0):
        return []
    time = times[0].name
    return [
        f"Little but the time of a row is known ('{time}'), and no model looks at the rows before "
        f"it. If '{answer.name}' follows its own past, forecast it (--forecast STEPS)."
    ]


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


def _group_notes(columns: Sequence[ColumnReport], target: str) -> list[str]:
    """What is said of rows of one value that are alike in the target, where any are."""
    alike = [(one.name, one.alike[target]) for one in columns if target in one.alike]
    return [
        f"Rows of the same '{name}' are alike: {fact}. A random split has them among training and "
        f"test rows, so the quality is that for a known '{name}'. Keep it if you will predict for "
        f"these; if for others, test on others (--split 'group:{name}')."
        for name, fact in alike
    ]


def _rare_notes(answer: ColumnReport) -> list[str]:
    """What is said of classes with so few rows that hardly anything is learned or measured of them."""
    counts = class_counts(answer)
    few = [f"{name} ({rows})" for name, rows in counts.items() if rows < FEW_OF_CLASS]
    if not few:
        return []
    return [
        f"Classes of '{answer.name}' with fewer than {FEW_OF_CLASS} rows: "
        f"{first_of(few, _NAMED_CLASSES)}. Models hardly learn them, and what they reach on them "
        "can hardly be measured. Add rows of them, or join them with other classes."
    ]


def _check_inputs(inputs: Sequence[ColumnReport], unused: Sequence[str]) -> None:
    """Refuse a table without an input, or with one that is empty."""
    if not inputs:
        raise DatasetError(
            " ".join(["no input column is left.", *unused[:3]]),
            remedy="Add a column that tells rows apart, "
            "or keep one of these where columns can be kept (--keep NAME).",
        )
    empty = next(filter(_is_empty, inputs), None)
    if empty is not None:
        raise DatasetError(
            "has no value in any row.",
            where=f"column '{empty.name}'",
            remedy="Drop it (--drop).",
        )


def _is_empty(report: ColumnReport) -> bool:
    return report.missing == 1.0


def _with_settings(
    by_name: Mapping[str, ColumnReport], set: Mapping[str, str]
) -> tuple[list[ColumnReport], dict[str, str]]:
    """The reports with missing codes and formats as set, and what else is set: types."""
    types = {}
    made = dict(by_name)
    for key, value in set.items():
        name, what = _setting(key, by_name)
        if what == "missing":
            made[name] = _with_missing_codes(made[name], value)
        elif what == "format":
            kind = set.get(name, made[name].type)
            made[name] = replace(made[name], format=_checked_format(name, kind, value))
        else:
            types[name] = value
    for name, kind in types.items():
        if name not in made or f"{name}.missing" in set:
            continue
        if kind != made[name].type:
            made[name] = without_odd(made[name])
    return list(made.values()), types


def _setting(key: str, by_name: Mapping[str, ColumnReport]) -> tuple[str, str]:
    """The column that a key of ``set`` names, and what is set of it: type, missing or format."""
    name, _, what = key.rpartition(".")
    # The name of a column may itself end so.
    is_name = key in by_name or name not in by_name or what not in ("missing", "format")
    return (key, "type") if is_name else (name, what)


def _with_missing_codes(report: ColumnReport, said: str) -> ColumnReport:
    """The report with the codes that stand for missing values, given with commas between."""
    report = without_odd(report)
    codes = codes_in(said)
    labels = list(filterfalse(codes.__contains__, report.classes))
    return replace(
        report,
        missing_codes=codes,
        suspected_codes=[],
        classes=labels,
    )


def _told_of_target(
    reports: Sequence[ColumnReport], chosen: ColumnReport, *, is_named: bool
) -> Sequence[ColumnReport]:
    """The reports, now that a target is chosen, without what speaks of the proposed one."""
    if chosen.nature != "target":
        return list(map(_of_another_target, reports))
    if is_named:
        return list(map(_without_proposal, reports))
    return reports


def _of_another_target(report: ColumnReport) -> ColumnReport:
    """The report without what was said for the sake of the proposed target."""
    if report.nature not in ("leak", "target"):
        return report
    evidence = report.evidence.partition(SUSPICION)[0].partition(PROPOSED)[0]
    return replace(report, nature="input", evidence=evidence.rstrip())


def _without_proposal(report: ColumnReport) -> ColumnReport:
    """The report without the reason for a proposal; a target that was named needs none."""
    return replace(report, evidence=report.evidence.partition(PROPOSED)[0].rstrip())


def _with_nature(report: ColumnReport, target: str) -> ColumnReport:
    """The report as that of the target, or of a suspect where it seems to know it too well."""
    if report.name == target:
        return replace(report, nature="target")
    why = report.leaks.get(target)
    if why is None or SUSPICION in report.evidence:
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
            remedy="Write the form of a number as 1.234,5. "
            "That of a date is %d.%m.%Y for day.month.year.",
        )
    return form


def _natural_type(report: ColumnReport, role: str) -> str:
    """The type of a column in its role, where none is set.

    Few whole numbers are classes as the target, and numbers in any other role. Weights are numbers.
    """
    if role == WEIGHT:
        return "number"
    if role == "target":
        return _type_of_target(report)

    was_target = report.role == "target"
    if was_target and numeric_labels(tuple(report.classes)):
        return "number"
    return report.type


def _type_of_target(report: ColumnReport) -> str:
    if report.content.get("labels"):
        return LABELS
    has_few_values = report.type == "number" and report.classes
    return "category" if has_few_values else report.type


def _check_target(answer: ColumnReport) -> None:
    where = f"column '{answer.name}'"
    if answer.distinct == 0:
        raise DatasetError(
            "the target has no value in any row.",
            where=where,
            remedy="Name another target.",
        )
    if answer.distinct == 1:
        value = next(iter(answer.examples), "")
        raise DatasetError(
            f"the target is constant: every row has {value!r}.",
            where=where,
            remedy="Name another target.",
        )
    if answer.type in _TARGET_CHECKS:
        _TARGET_CHECKS[answer.type](answer, where)


def _refuse_cells_as_target(answer: ColumnReport, where: str) -> None:
    raise DatasetError(
        f"the target is {_an(answer.type)}; no model predicts that.",
        where=where,
        remedy="A number, a category or a tensor can be predicted: name another target.",
    )


def _refuse_values_as_target(answer: ColumnReport, where: str) -> None:
    raise DatasetError(
        f"the target is {answer.type}; only a number or a category can be predicted.",
        where=where,
        remedy=f"Name another target, or set it ({told_setting(answer.name, 'category')}).",
    )


def _check_tensor_target(answer: ColumnReport, where: str) -> None:
    one_size = set(map(type, answer.content["dim"])) <= {int}  # others are variables
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


_TARGET_CHECKS = {
    "tensor": _check_tensor_target,
    "image": _refuse_cells_as_target,
    "graph": _refuse_cells_as_target,
    "text": _refuse_values_as_target,
    "timestamp": _refuse_values_as_target,
}
"""What is asked of a target, by its type; any number or category can be one."""


def _an(kind: str) -> str:
    article = "an" if kind == "image" else "a"
    return f"{article} {kind}"
