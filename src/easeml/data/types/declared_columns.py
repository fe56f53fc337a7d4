"""The user's decisions applied to the proposals: types, roles, target, and the two schemas that
follow.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from easeml.data.errors import DatasetError, did_you_mean
from easeml.data.types.cells import CELLS, GRAPH
from easeml.data.types.column_report import SURE_OF_TARGET, SUSPICION, TYPES, ColumnReport
from easeml.data.types.number_forms import NumberForm
from easeml.data.types.values import numeric_labels
from easeml.schema import CategoryClass, Node, Schema, node_names

_SURE_OF_LEAK = 0.8


@dataclass(frozen=True)
class Columns:
    """Columns with their final roles, the target, the schemas, and what is to be said about them."""

    columns: list[ColumnReport]
    target: str
    schema_in: Schema
    schema_out: Schema
    notes: list[str]


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
    reports = [_with_leak(report, chosen) for report in reports]
    columns = [_decide(report, chosen, types.get(report.name), drop, keep) for report in reports]
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


def _proposed_target(reports: Sequence[ColumnReport]) -> str:
    """The target that was proposed, where that is sure enough to be taken without asking."""
    proposed = next((report for report in reports if report.role == "target"), None)
    if proposed is None:
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


def _name_one(reports: Sequence[ColumnReport], first: str) -> str:
    others = [report.name for report in reports if report.name != first and report.role != "drop"]
    names = [first, *others] if first else others
    return f"Name one: {', '.join(names[:20])}."


def assemble(columns: list[ColumnReport], target: str) -> Columns:
    """Check decided columns and derive schemas and notes."""
    answer = next(column for column in columns if column.name == target)
    _check_target(answer)
    inputs = [column for column in columns if column.role == "input"]
    dropped = [column for column in columns if column.role == "drop"]
    unused = [
        f"Column '{column.name}' is not used. {column.evidence}".strip() for column in dropped
    ]
    if not inputs:
        raise DatasetError(
            " ".join(["no input column is left.", *unused[:3]]),
            remedy="Add a column that tells rows apart, or keep one of these where columns can be kept (--keep NAME).",
        )
    for column in inputs:
        if column.missing == 1.0:
            raise DatasetError(
                "has no value in any row.",
                where=f"column '{column.name}'",
                remedy="Drop it (--drop).",
            )
    schema_in = schema_of(inputs, tuple(column.name for column in dropped))
    schema_out = schema_of([replace(answer, missing=0.0)], ())
    notes = [
        f"Column '{column.name}': {column.evidence}" for column in inputs if column.nature == "leak"
    ]
    return Columns(columns, target, schema_in, schema_out, notes + unused)


def kind_of(node: Node) -> str:
    """The column type of a singleton of a table's schema."""
    if node.type != "tensor":
        return node.type
    return "number" if node.dim == (1,) else "image" if node.format == "image" else "tensor"


def kinds_of(schema: Schema) -> dict[str, str]:
    """The columns of a table's schema and their types; all nodes with instances are one column, a
    graph.
    """
    kinds = {node.label: kind_of(node) for node in schema.nodes.values() if node.singleton}
    return kinds | (
        {GRAPH: "graph"} if any(not node.singleton for node in schema.nodes.values()) else {}
    )


def _with_settings(
    by_name: Mapping[str, ColumnReport], set: Mapping[str, str]
) -> tuple[list[ColumnReport], dict[str, str]]:
    """The reports with missing codes and formats as set, and what else is set: types."""
    types, made = {}, dict(by_name)
    for key, value in set.items():
        name, _, what = key.rpartition(".")
        if key in by_name or name not in by_name or what not in ("missing", "format"):
            types[key] = value
        elif what == "missing":
            codes = [code.strip() for code in value.split(",") if code.strip()]
            made[name] = replace(
                made[name],
                missing_codes=codes,
                suspected_codes=[],
                classes=_without(made[name], codes),
            )
        else:
            made[name] = replace(
                made[name], format=_checked_format(name, set.get(name, made[name].type), value)
            )
    return list(made.values()), types


def _of_another_target(report: ColumnReport) -> ColumnReport:
    """The report without what was said for the sake of the proposed target."""
    if report.nature not in ("leak", "target"):
        return report
    return replace(report, nature="input", evidence=report.evidence.partition(SUSPICION)[0])


def _with_leak(report: ColumnReport, target: str) -> ColumnReport:
    """The report as a suspect, where it seems to know the target too well."""
    why = report.leaks.get(target)
    if why is None or report.name == target or SUSPICION in report.evidence:
        return report
    remedy = f"Drop it if it is not known when you predict (--drop '{report.name}')."
    evidence = f"{report.evidence}{SUSPICION} '{target}': {why}. {remedy}"
    return replace(
        report,
        nature="leak",
        nature_confidence=_SURE_OF_LEAK,
        evidence=evidence,
    )


def _without(report: ColumnReport, codes: Collection[str]) -> list[str]:
    return [label for label in report.classes if label not in codes]


def _checked_format(name: str, kind: str, form: str) -> str:
    if kind == "number":
        return NumberForm.from_example(form).example
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
        report = replace(report, nature="target")
        few = report.type == "number" and report.classes
        return replace(report, role="target", type=kind or ("category" if few else report.type))
    unused = (report.role == "drop" or report.name in drop) and report.name not in keep
    natural = report.type
    if report.role == "target" and natural == "category" and numeric_labels(tuple(report.classes)):
        natural = "number"  # it was a category only as the proposed target
    return replace(report, role="drop" if unused else "input", type=kind or natural)


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
    if answer.type == "tensor" and all(isinstance(size, int) for size in answer.content["dim"]):
        if answer.missing:
            raise DatasetError(
                "the target holds missing numbers.",
                where=where,
                remedy="Leave those rows out.",
            )
        return
    if answer.type == "tensor":
        raise DatasetError(
            f"the target's size differs from row to row: {answer.content['dim']}.", where=where,
            remedy="Models predict tensors of one size; bring the rows to one.",
        )  # fmt: skip
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


def _an(kind: str) -> str:
    return f"{'an' if kind == 'image' else 'a'} {kind}"


def schema_of(columns: list[ColumnReport], dropped: tuple[str, ...]) -> Schema:
    """The schema of these columns; labels are in it where the reports have them all."""
    graph = next(
        (Schema.from_json(column.content) for column in columns if column.type == "graph"),
        Schema({}),
    )
    nodes, classes = {}, dict(graph.classes)
    columns = [column for column in columns if column.type != "graph"]
    names = node_names([*graph.nodes, *classes, *(c.name for c in columns)])[
        len(graph.nodes) + len(classes) :
    ]
    for name, column in zip(names, columns, strict=True):
        more = {
            "optional": column.missing > 0,
            "column": column.name,
            "missing": tuple(column.missing_codes),
        }
        if column.type in CELLS:
            nodes[name] = Node(
                name,
                "tensor",
                dim=tuple(column.content["dim"]),
                format=column.content.get("format", ""),
                **more,
            )
        elif column.type == "number":
            nodes[name] = Node(
                name,
                "tensor",
                dim=(1,),
                format=column.format,
                **more,
            )
        elif column.type == "category":
            nodes[name] = Node(name, "category", class_name=name, **more)
            known = len(column.classes) == column.distinct
            classes[name] = CategoryClass(column.distinct, tuple(column.classes) if known else ())
        else:
            form = column.format if column.type == "timestamp" else ""
            nodes[name] = Node(name, column.type, format=form, **more)
    return Schema({**nodes, **graph.nodes}, classes, dropped, graph.constraints)
