"""Rows of one table as records, of one tenant or of all."""

import builtins
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Generic, TypeVar

import sqlalchemy as sa

from easeml.errors import Conflict, NotAllowed, NotFound
from easeml.store import records, tables
from easeml.store.session import Session

R = TypeVar("R")


def values(record: Any) -> dict[str, Any]:
    """A record's fields as the values of its row."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _changed_meanwhile(found: Any, expected: dict[str, Any]) -> Conflict:
    wanted = ", ".join(f"{name} {value}" for name, value in expected.items())
    seen = ", ".join(f"{name} {getattr(found, name)}" for name in expected)
    return Conflict(f"It was changed meanwhile: expected {wanted}, found {seen}.", where=found.id)


class Rows(Generic[R]):
    """The rows of a table. With a tenant, other tenants' rows do not exist here.

    ``equals`` are fields and the values they must have; a list or tuple means any of its members.
    """

    __slots__ = ("_record", "_session", "_table", "_tenant")

    def __init__(
        self, session: Session, table: sa.Table, record: type[R], tenant_id: str | None = None
    ):
        self._session = session
        self._table = table
        self._record = record
        self._tenant = tenant_id

    def get(self, id: str) -> R:
        """The row with this id. Raises ``NotFound``."""
        row = self._session.first(sa.select(self._table).where(*self._conditions({"id": id})))
        if row is None:
            raise self._missing(id)
        return self._record(*row)

    def find(self, **equals: Any) -> R | None:
        """The oldest row with these values, if any."""
        found = self.list(limit=1, **equals)
        return found[0] if found else None

    def count(self, **equals: Any) -> int:
        """How many rows have these values."""
        query = sa.select(sa.func.count()).select_from(self._table).where(*self._conditions(equals))
        row = self._session.first(query)
        return row[0] if row else 0

    def count_by(self, name: str, **equals: Any) -> dict[Any, int]:
        """How many rows have these values, by what they have in the field ``name``."""
        column = self._table.c[name]
        query = sa.select(column, sa.func.count()).where(*self._conditions(equals))
        found = self._session.all(query.group_by(column))
        return dict(tuple(row) for row in found)

    def add(self, record: R) -> R:
        """Add a row; an unset ``created`` becomes now.

        Raises ``Conflict`` if it, or a unique value, is there.
        """
        return self.add_all([record])[0]

    def add_all(self, records: Sequence[R]) -> builtins.list[R]:
        """Add rows as ``add`` does, in one statement.

        Raises ``Conflict``; then roll the transaction back.
        """
        if not records:
            return []
        added = [self._completed(record) for record in records]
        statement = self._session.insert(self._table).on_conflict_do_nothing()
        if self._session.change(statement, [values(record) for record in added]) < len(added):
            raise Conflict(
                f"One of these {self._table.name} is already there.", where=self._table.name
            )
        return added

    def update(self, id: str, *, where: dict[str, Any] | None = None, **changes: Any) -> R:
        """Change a row if it has the values ``where`` (compare-and-set); returns the row as it is
        then.

        Raises ``NotFound`` if there is no such row, ``Conflict`` if ``where`` does not hold,
        ``NotAllowed`` if the change would give the row to another tenant.
        """
        self._check_owner(changes.get("tenant_id", self._tenant))
        conditions = self._conditions({**(where or {}), "id": id})
        statement = (
            sa.update(self._table).where(*conditions).values(**changes).returning(*self._table.c)
        )
        rows = self._session.change_returning(statement)
        if not rows:
            raise _changed_meanwhile(self.get(id), where or {})
        return self._record(*rows[0])

    def set_each(self, name: str, values: Mapping[str, Any]) -> None:
        """Give the field ``name`` of each row its own value, by id, in one statement.

        Rows that are gone are left out.
        """
        if not values:
            return
        key = sa.bindparam("of_row")
        conditions = [*self._conditions({}), self._table.c.id == key]
        statement = (
            sa.update(self._table).where(*conditions).values({name: sa.bindparam("new_value")})
        )
        given = [{"of_row": id, "new_value": value} for id, value in values.items()]
        self._session.change(statement, given)

    def forget(self, before: float, **equals: Any) -> int:
        """Delete the rows with these values that were created before a time; return how many."""
        conditions = [*self._conditions(equals), self._table.c.created < before]
        return self._session.change(sa.delete(self._table).where(*conditions))

    def list(
        self,
        *,
        after: str | None = None,
        limit: int | None = 50,
        skip: int = 0,
        newest_first: bool = False,
        **equals: Any,
    ) -> builtins.list[R]:
        """Rows with these values in order of id, at most ``limit`` (``None``: all), beyond the id
        ``after``.

        ``skip``: how many to leave out first; it reads them, so ``after`` is the way through long
        lists.
        """
        key = self._table.c.id
        query = sa.select(self._table).where(*self._conditions(equals))
        if after is not None:
            query = query.where(key < after if newest_first else key > after)
        query = (
            query.order_by(key.desc() if newest_first else key).limit(limit).offset(skip or None)
        )
        return [self._record(*row) for row in self._session.all(query)]

    def pick(self, *names: str, **equals: Any) -> builtins.list[tuple[Any, ...]]:
        """These fields of all rows with these values, in order of id: much less to read than whole
        rows.
        """
        columns = [self._table.c[name] for name in names]
        query = sa.select(*columns).where(*self._conditions(equals)).order_by(self._table.c.id)
        return [tuple(row) for row in self._session.all(query)]

    def _conditions(self, equals: dict[str, Any]) -> "builtins.list[sa.ColumnElement[bool]]":
        conditions = [self._equal(name, value) for name, value in equals.items()]
        if self._tenant is not None:
            conditions.append(self._table.c.tenant_id == self._tenant)
        return conditions

    def _equal(self, name: str, value: Any) -> "sa.ColumnElement[bool]":
        if name not in self._table.c:
            raise TypeError(f"{self._record.__name__} has no field {name!r}.")
        column = self._table.c[name]
        return column.in_(value) if isinstance(value, builtins.list | tuple) else column == value

    def _completed(self, record: Any) -> R:
        self._check_owner(getattr(record, "tenant_id", None))
        return (
            replace(record, created=self._session.now())
            if getattr(record, "created", None) == 0
            else record
        )

    def _check_owner(self, tenant_id: str | None) -> None:
        if self._tenant is not None and tenant_id != self._tenant:
            raise NotAllowed(
                f"A row of {self._table.name} must belong to the tenant it is written for."
            )

    def _missing(self, id: str) -> NotFound:
        noun = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self._record.__name__).lower()
        return NotFound(f"There is no such {noun}, or it is not yours.", where=id)


class Tables:
    """All tables of what tenants own, seen by one tenant, or by all when ``tenant_id`` is ``None``."""

    def __init__(self, session: Session, tenant_id: str | None):
        def rows(table: sa.Table, record: type[R]) -> Rows[R]:
            return Rows(session, table, record, tenant_id)

        self.memberships = rows(tables.memberships, records.Membership)
        self.invitations = rows(tables.invitations, records.Invitation)
        self.api_keys = rows(tables.api_keys, records.ApiKey)
        self.idempotency = rows(tables.idempotency, records.IdempotencyKey)
        self.datasets = rows(tables.datasets, records.Dataset)
        self.versions = rows(tables.versions, records.DatasetVersion)
        self.applications = rows(tables.applications, records.Application)
        self.shares = rows(tables.shares, records.Share)
        self.goals = rows(tables.goals, records.Goal)
        self.suggestions = rows(tables.suggestions, records.Suggestion)
        self.jobs = rows(tables.jobs, records.Job)
        self.candidates = rows(tables.candidates, records.Candidate)
        self.tasks = rows(tables.tasks, records.Task)
        self.attempts = rows(tables.attempts, records.Attempt)
        self.models = rows(tables.models, records.TrainedModel)
        self.promotions = rows(tables.promotions, records.Promotion)
        self.gates = rows(tables.gates, records.Gate)
        self.request_logs = rows(tables.request_logs, records.RequestLog)
        self.production_rows = rows(tables.production_rows, records.ProductionRow)
        self.feedback = rows(tables.feedback, records.Feedback)
        self.rollout_rules = rows(tables.rollout_rules, records.RolloutRule)
        self.rollouts = rows(tables.rollouts, records.Rollout)
        self.decisions = rows(tables.decisions, records.Decision)
        self.reports = rows(tables.reports, records.Report)
        self.work_items = rows(tables.work_items, records.WorkItem)
        self.work_answers = rows(tables.work_answers, records.WorkAnswer)
        self.artefacts = rows(tables.artefacts, records.Artefact)
