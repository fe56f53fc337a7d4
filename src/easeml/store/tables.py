"""The tables: one a record, its columns derived from the record's fields, and an index for every
query made.

References are plain ids without foreign keys: many may be empty, and rows are never deleted.
"""

from dataclasses import fields
from enum import StrEnum
from typing import Any, get_args, get_origin, get_type_hints

import sqlalchemy as sa

from easeml.store import records
from easeml.store.columns import Shaped, State
from easeml.store.shapes import Shape

metadata = sa.MetaData()
_BIG = sa.BigInteger().with_variant(
    sa.Integer(), "sqlite"
)  # SQLite counts up only plain INTEGER keys
_KEY = sa.Text().with_variant(
    sa.Text(collation="C"), "postgresql"
)  # ids in order of their bytes, as in SQLite
_TYPES: dict[type, Any] = {
    str: sa.Text(),
    int: _BIG,
    float: sa.Double(),
    bool: sa.Boolean(),
    dict: sa.JSON(),
    list: sa.JSON(),
}


def _table(name: str, record: type, *constraints: sa.Index, **options: Any) -> sa.Table:
    """The table of a record; its first field is the primary key."""
    hints = get_type_hints(record)
    columns = [
        _column(field.name, hints[field.name], key=not place)
        for place, field in enumerate(fields(record))
    ]
    return sa.Table(name, metadata, *columns, *constraints, **options)


def _column(name: str, hint: Any, *, key: bool) -> "sa.Column[Any]":
    options = get_args(hint) if type(None) in get_args(hint) else (hint,)
    plain = next(option for option in options if option is not type(None))
    kind = _KEY if key and plain is str else _type_of(plain)
    return sa.Column(name, kind, primary_key=key, nullable=len(options) > 1)


def _type_of(plain: Any) -> Any:
    if not isinstance(plain, type):
        return _TYPES[get_origin(plain)]
    if issubclass(plain, StrEnum):
        return State(plain)
    if issubclass(plain, Shape):
        return Shaped(plain)
    return _TYPES[plain]


def _index(*columns: str, unique: bool = False, table: str) -> sa.Index:
    return sa.Index(f"{table}_by_{'_'.join(columns)}", *columns, unique=unique)


def _owned(
    name: str,
    record: type,
    *by: str,
    unique: tuple[str, ...] = (),
    overall: tuple[tuple[str, ...], ...] = (),
) -> sa.Table:
    """A table of rows that belong to a tenant.

    Listed by tenant, and by each column of ``by`` within it or over all; ``overall`` are indexes
    over all tenants.
    """
    indexes = [_index("tenant_id", "id", table=name)]
    indexes += [_index(column, "tenant_id", "id", table=name) for column in by]
    indexes += [_index(*columns, table=name) for columns in overall]
    indexes += [_index(*unique, unique=True, table=name)] if unique else []
    return _table(name, record, *indexes)


tenants = _table("tenants", records.Tenant)
users = _table(
    "users",
    records.User,
    _index("name", unique=True, table="users"),
    _index("identity", unique=True, table="users"),
)
processes = _table("processes", records.Process, _index("state", "kind", table="processes"))
leases = _table("leases", records.Lease)
module_marks = _table("module_marks", records.ModuleMark)
gpu_peaks = _table("gpu_peaks", records.GpuPeak)
needs_peaks = _table("needs_peaks", records.NeedsPeak)
search_changes = _table(
    "search_changes", records.SearchChanges, _index("epoch", "id", table="search_changes")
)
kept_settings = _table("kept_settings", records.KeptSetting)
events = _table(
    "events",
    records.Event,
    _index("tenant_id", "seq", table="events"),
    _index("tenant_id", "kind", "seq", table="events"),
    sqlite_autoincrement=True,
)

memberships = _owned("memberships", records.Membership, unique=("user_id", "tenant_id"))
invitations = _owned("invitations", records.Invitation, "application_id", unique=("hash",))
api_keys = _owned("api_keys", records.ApiKey, "user_id", unique=("hash",))
idempotency = _owned("idempotency", records.IdempotencyKey)
datasets = _owned("datasets", records.Dataset, "name")
versions = _owned(
    "versions", records.DatasetVersion, "state", unique=("dataset_id", "tenant_id", "number")
)
applications = _owned(
    "applications", records.Application, "state", "dataset_id", "version_id", "name"
)
shares = _owned("shares", records.Share, "application_id", unique=("application_id", "user_id"))
goals = _owned("goals", records.Goal, "application_id")
suggestions = _owned("suggestions", records.Suggestion, "application_id")
subscriptions = _owned("subscriptions", records.Subscription, "state")
jobs = _owned("jobs", records.Job, "state", "application_id", "version_id")
candidates = _owned("candidates", records.Candidate, unique=("job_id", "tenant_id", "arm"))
tasks = _owned(
    "tasks",
    records.Task,
    "job_id",
    "subject",
    "candidate_id",
    overall=(("state", "lane", "id"), ("job_id", "state")),
)
attempts = _owned(
    "attempts",
    records.Attempt,
    unique=("task_id", "tenant_id", "number"),
    overall=(("state", "lease_expires"), ("process_id", "state"), ("gpu", "finished")),
)
usage = _owned("usage", records.Usage, "day")
models = _owned("models", records.TrainedModel, "application_id", "job_id", unique=("task_id",))
promotions = _owned("promotions", records.Promotion, "application_id")
gates = _owned("gates", records.Gate, "application_id")
request_logs = _owned("request_logs", records.RequestLog)
production_rows = _owned(
    "production_rows", records.ProductionRow, "application_id", "request_id", "key"
)
feedback = _owned("feedback", records.Feedback, "application_id", "request_id", "key")
rollout_rules = _owned("rollout_rules", records.RolloutRule)
rollouts = _owned("rollouts", records.Rollout, "application_id", "state")
retention_rules = _owned("retention_rules", records.RetentionRule)
retirements = _owned("retirements", records.Retirement, "application_id")
schedules = _owned("schedules", records.Schedule, "dataset_id", "application_id")
retrievals = _owned(
    "retrievals", records.Retrieval, "dataset_id", "application_id", "schedule_id", "task_id"
)
decisions = _owned("decisions", records.Decision, "job_id", "task_id")
reports = _owned("reports", records.Report, "subject")
work_items = _owned("work_items", records.WorkItem, "application_id")
work_answers = _owned("work_answers", records.WorkAnswer, "application_id", "item_id")
artefacts = _owned("artefacts", records.Artefact, "digest")
