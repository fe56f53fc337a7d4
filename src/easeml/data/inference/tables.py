"""Look at a table and propose what each column is, which one is the target, and the schemas."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from easeml.data.errors import DatasetError, did_you_mean
from easeml.data.inference.column_types import look
from easeml.data.inference.copies import copies_note
from easeml.data.inference.distribution import distribution
from easeml.data.inference.entities import EntityFinder
from easeml.data.inference.far_targets import far_target_notes
from easeml.data.inference.leaks import LeakFinder
from easeml.data.inference.natures import as_target, with_natures
from easeml.data.inference.nearly_numbers import nearly_number_notes
from easeml.data.inference.spellings import spelling_notes
from easeml.data.inference.target import TargetProposal, propose_target
from easeml.data.types import values as v
from easeml.data.types.arrow import arrow_compute
from easeml.data.types.cells import report_of
from easeml.data.types.column_report import PROPOSED, UNSURE_TARGET, ColumnReport
from easeml.data.types.comma_files import decimal_of
from easeml.data.types.declared_columns import declare_columns
from easeml.data.types.table_schemas import schema_of
from easeml.data.types.text_tables import column_text, noted
from easeml.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLE = 50_000  # rows that are looked at closely; all are checked
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_MOST_PAIRS = 600  # of columns, one of them as the target, that are looked at for leaks


@dataclass(frozen=True)
class Inference:
    """What a table looks like.

    ``target`` is empty, and ``output`` None, where no column suggests itself. ``sure``: whether the
    target can be taken without asking; ``reason``: why it is proposed; ``rivals``: other columns
    that it could be. ``leak_notes``: of columns that may know this target; ``group_notes``: of rows
    of the same somebody, which are alike in it.
    """

    columns: list[ColumnReport]
    rows: int
    target: str
    input: Schema
    output: Schema | None
    notes: list[str]
    sure: bool = True
    reason: str = ""
    rivals: tuple[str, ...] = ()
    leak_notes: tuple[str, ...] = ()
    group_notes: tuple[str, ...] = ()

    @property
    def told(self) -> list[str]:
        """All that people should know before they start."""
        return [*self.leak_notes, *self.group_notes, *self.notes]


def infer_table(table: pa.Table, target: str | None = None, *, sample: int = SAMPLE) -> Inference:
    """Infer the columns of a table that ``read_table`` gave; ``target`` None: propose one.

    Of a table with more than ``sample`` rows, evenly spaced ones are looked at, and what they
    suggest is checked against all.

    Raises:
        DatasetError: if the target is not one of its columns or not possible.
    """
    names = table.column_names
    if target not in (None, *names):
        raise DatasetError(
            f"there is no column '{target}'.",
            remedy=did_you_mean(target, names),
        )
    looked = _sampled(table, sample)
    texts, cells = _by_content(looked)
    reports = _looked_at(table, looked, texts, cells)
    notes = [*_reading_notes(table), *_sampling_notes(table, looked)]
    notes += copies_note(table, reports)
    notes += spelling_notes(reports)
    notes += nearly_number_notes(reports)
    proposal = _proposal(reports, table, target)
    reports = _with_leaks(reports, texts, proposal)
    reports = _with_alike(reports, texts, proposal, table.num_rows)
    if proposal is None or _is_alone(proposal.name, reports):
        if target is not None:
            declare_columns(reports, target)  # raises what is wrong
        return _without_target(reports, table.num_rows, notes)
    place = names.index(proposal.name)
    reports[place] = as_target(reports[place], proposal.confidence)
    if reports[place].type == "number":
        notes += far_target_notes(table, proposal.name)
    decided = declare_columns(reports, proposal.name)
    return Inference(
        columns=[_with_reason(one, proposal) for one in decided.columns],
        rows=table.num_rows,
        target=proposal.name,
        input=decided.schema_in,
        output=decided.schema_out,
        notes=[*notes, *_doubts(proposal), *decided.notes, *decided.time_notes],
        sure=proposal.sure,
        reason=proposal.reason,
        rivals=proposal.rivals,
        leak_notes=tuple(decided.leak_notes),
        group_notes=tuple(decided.group_notes),
    )


def told_type(table: pa.Table, name: str) -> str:
    """The type that the file itself states for a column, empty where it says none."""
    return noted(table.schema.field(name), b"type")


def _by_content(table: pa.Table) -> tuple[dict[str, pa.Array], dict[str, ColumnReport]]:
    """The columns of text; and what the readers report of pictures, tensors and graphs."""
    texts = {}
    cells = {}
    for field in table.schema:
        report = report_of(field)
        if report is None:
            texts[field.name] = column_text(table, field.name)
        else:
            cells[field.name] = report
    return texts, cells


def _looked_at(
    table: pa.Table,
    looked: pa.Table,
    texts: dict[str, pa.Array],
    cells: dict[str, ColumnReport],
) -> list[ColumnReport]:
    """A report a column, in the order of the table."""
    found = []
    judge = partial(look, decimal=decimal_of(texts.values()))
    for name, array in texts.items():
        told = told_type(table, name)
        report = judge(name, array, told)
        whole = array
        if looked is not table:
            whole = column_text(table, name)
            report = _checked(report, whole, looked.num_rows, partial(judge, told=told))
        found.append(replace(report, distribution=distribution(whole, report)))

    by_name = dict(cells)
    for report in with_natures(found, texts, table.num_rows):
        by_name[report.name] = report
    return [by_name[name] for name in table.column_names]


def _proposal(
    reports: Sequence[ColumnReport], table: pa.Table, target: str | None
) -> TargetProposal | None:
    """What the caller says, what the file says, or what the columns suggest."""
    if target is not None:
        return TargetProposal(target, 1.0, "")

    told = noted(table.schema, b"target")
    if told:
        return TargetProposal(told, 1.0, "")
    return propose_target(reports, noted(table.schema, b"usual target"))


def _with_leaks(
    reports: Sequence[ColumnReport], texts: dict[str, pa.Array], proposal: TargetProposal | None
) -> list[ColumnReport]:
    """The reports with what would leak each column that could be the target."""
    finder = LeakFinder(reports, texts)
    leaks: dict[str, dict[str, str]] = defaultdict(dict)
    for target in _likely_targets(reports, texts, proposal):
        for name, why in finder.leaks(target).items():
            leaks[name][target] = why
    return [replace(report, leaks=leaks[report.name]) for report in reports]


def _with_alike(
    reports: Sequence[ColumnReport],
    texts: dict[str, pa.Array],
    proposal: TargetProposal | None,
    rows: int,
) -> list[ColumnReport]:
    """The reports with how alike rows of somebody are, in each column that could be the target."""
    finder = EntityFinder(reports, texts, rows)
    alike: dict[str, dict[str, str]] = defaultdict(dict)
    for target in _likely_targets(reports, texts, proposal):
        for name, fact in finder.likest(target).items():
            alike[name][target] = fact
    return [replace(report, alike=alike[report.name]) for report in reports]


def _likely_targets(
    reports: Sequence[ColumnReport], texts: Collection[str], proposal: TargetProposal | None
) -> list[str]:
    """The columns that are looked at as targets: the likely ones, and as many others as time allows."""
    likely = []
    if proposal is not None:
        likely = [proposal.name, *proposal.rivals]

    others = [one.name for one in reversed(reports) if one.type in ("number", "category")]
    targets = dict.fromkeys([*likely, *others])
    pairs_allow = _MOST_PAIRS // max(1, len(reports))
    most = max(1 + len(likely), pairs_allow)
    return list(filter(texts.__contains__, targets))[:most]


def _is_alone(target: str, reports: Sequence[ColumnReport]) -> bool:
    """Whether no other column is left to learn from."""
    roles_of_others = {report.role for report in reports if report.name != target}
    return roles_of_others <= {"drop"}


def _without_target(reports: list[ColumnReport], rows: int, notes: list[str]) -> Inference:
    usable = list(filter(attrgetter("distinct"), reports)) or reports
    said = [*notes, "No column suggests itself as target."]
    return Inference(reports, rows, "", schema_of(usable, ()), None, said, sure=False)


def _with_reason(report: ColumnReport, proposal: TargetProposal) -> ColumnReport:
    """The report, which says why it is proposed where it is the target."""
    if report.name != proposal.name or not proposal.reason:
        return report
    evidence = f"{report.evidence} {PROPOSED} {proposal.reason}.".strip()
    return replace(report, evidence=evidence)


def _doubts(proposal: TargetProposal) -> list[str]:
    """What to say where the target is a guess."""
    if proposal.sure:
        return []
    said = f"{UNSURE_TARGET}: perhaps '{proposal.name}' ({proposal.reason})."
    if proposal.rivals:
        rivals = ", ".join(map(repr, proposal.rivals))
        said += f" It could also be {rivals}."
    return [f"{said} Choose the target."]


def _sampled(table: pa.Table, sample: int) -> pa.Table:
    import numpy as np

    if table.num_rows <= sample:
        return table
    rows = np.linspace(0, table.num_rows - 1, sample)
    return table.take(rows.astype(np.int64))


def _checked(
    report: ColumnReport,
    array: pa.Array,
    looked: int,
    judge: Callable[[str, pa.Array], ColumnReport],
) -> ColumnReport:
    """What ``looked`` rows suggest, if it holds for all; else what all rows suggest to ``judge``."""
    # What matters for these is which values there are.
    are_labels = report.type in ("category", "text")
    needs_all = any((report.role == "drop", are_labels, report.missing_codes))
    if needs_all:
        return judge(report.name, array)

    plain = v.plain(array, report.type, report.format)
    made = v.convert(plain, report.type, (), report.format)
    distinct = arrow_compute().count_distinct(array.filter(~made.missing)).as_py()
    has_more_classes = bool(report.classes) and distinct != report.distinct
    if made.bad.any() or has_more_classes:
        return judge(report.name, array)
    missing = float(made.missing.mean())
    evidence = f"In {looked:,} rows looked at: {report.evidence}"
    return replace(report, missing=missing, distinct=distinct, evidence=evidence)


def _sampling_notes(table: pa.Table, looked: pa.Table) -> list[str]:
    if looked is table:
        return []
    looked_at = f"{looked.num_rows:,} evenly spaced rows"
    return [f"Columns were judged by {looked_at} and checked against all."]


def _reading_notes(table: pa.Table) -> list[str]:
    """What is to be said about how the file was read."""
    notes = list(filter(None, [noted(table.schema, b"note")]))
    encoding = noted(table.schema, b"encoding")
    if encoding in ("cp1252", "latin-1"):
        notes.append(f"The file is not UTF-8; it was read as {encoding}.")

    if all(map(_NUMBER.fullmatch, table.column_names)):
        notes.append(
            "The first row holds only numbers; it was read as column names. Is the header missing?"
        )
    return notes
