"""Rows of one table as records, of one tenant or of all."""

import builtins
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, Generic, Protocol, TypeVar

import sqlalchemy as sa

from easeml.errors import Conflict, NotAllowed, NotFound
from easeml.store import records, tables, work_hints
from easeml.store.changing import alteration, new_values
from easeml.store.prepared import Prepared
from easeml.store.selecting import (
    AFTER,
    MOST,
    OWNER,
    SINCE,
    SKIPPED,
    Shape,
    parameters,
    prepared,
    with_values,
)
from easeml.store.session import Session

R = TypeVar("R")
K = TypeVar("K")


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


def id_of(record: _HasId | None) -> str:
    """A record's id, as other rows refer to it: empty for none."""
    return "" if record is None else record.id


def grouped(found: Iterable[R], key: Callable[[R], K]) -> defaultdict[K, list[R]]:
    """What was found by what ``key`` says of each, in its order; nothing for all other keys."""
    groups: defaultdict[K, list[R]] = defaultdict(list)
    for one in found:
        groups[key(one)].append(one)
    return groups


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
        row = self._first(self._shape({"id": id}), {"id": id})
        if row is None:
            raise self._missing(id)
        return self._record(*row)

    def hold(self, id: str) -> R:
        """The row with this id, which nobody else holds or changes until the transaction ends.

        What is counted after it stays so. Raises ``NotFound``.
        """
        query = sa.select(self._table).where(*self._conditions({"id": id})).with_for_update()
        row = self._session.first(query)
        if row is None:
            raise self._missing(id)
        return self._record(*row)

    def find(self, **equals: Any) -> R | None:
        """The oldest row with these values, if any."""
        return next(iter(self.list(limit=1, **equals)), None)

    def newest(self, *, after: str | None = None, **equals: Any) -> R | None:
        """The newest row with these values, if any, of those before the id ``after``."""
        return next(iter(self.list(newest_first=True, after=after, limit=1, **equals)), None)

    def by_id(self, **equals: Any) -> dict[str, R]:
        """All rows with these values by their ids, in order of id."""
        return {row[0]: self._record(*row) for row in self._all(self._shape(equals), equals)}

    def count(self, *, since: float | None = None, **equals: Any) -> int:
        """How many rows have these values, created after ``since`` where that is given."""
        shape = self._shape(equals, counts_by="", is_newer=since is not None)
        row = self._first(shape, {**equals, SINCE: since})
        return row[0] if row else 0

    def count_by(self, name: str, **equals: Any) -> Counter[Any]:
        """How many rows have these values, by what they have in the field ``name``."""
        found = self._all(self._shape(equals, counts_by=name), equals)
        return Counter(dict(map(tuple, found)))

    def sum_by(self, name: str, by: str, **equals: Any) -> Counter[Any]:
        """The sum of the whole numbers in the field ``name`` of the rows with these values, by what
        they have in the field ``by``.
        """
        found = self._all(self._shape(equals, counts_by=by, sums=name), equals)
        return Counter(dict(map(tuple, found)))

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
        added = list(map(self._completed, records))
        rows = list(map(values, added))
        self._session.hints |= work_hints.of_rows(self._table.name, rows)
        if self._session.add(self._table, rows) < len(added):
            raise Conflict(
                f"One of these {self._table.name} is already there.", where=self._table.name
            )
        return added

    def ensure(self, record: R) -> None:
        """Add a row where it is not there yet; one that is there is held until the transaction
        ends, so that nobody removes it meanwhile.
        """
        self._session.hold(self._table, values(self._completed(record)))

    def hold_all(self, ids: Sequence[str]) -> builtins.list[str]:
        """Hold those of these rows that are there, as ``hold`` does; return their ids."""
        wanted = sa.select(self._table.c.id).where(*self._conditions({"id": [*ids]}))
        held = wanted.order_by(self._table.c.id).with_for_update()
        return [row[0] for row in self._session.all(held)]

    def update(self, id: str, *, where: dict[str, Any] | None = None, **changes: Any) -> R:
        """Change a row if it has the values ``where`` (compare-and-set); returns the row as it is
        then.

        Raises ``NotFound`` if there is no such row, ``Conflict`` if ``where`` does not hold,
        ``NotAllowed`` if the change would give the row to another tenant.
        """
        self._check_owner(changes.get("tenant_id", self._tenant))
        rows = self._session.alter(*self._alteration({**(where or {}), "id": id}, changes))
        if not rows:
            raise _changed_meanwhile(self.get(id), where or {})
        self._session.hints |= work_hints.of_change(self._table.name, changes)
        return self._record(*rows[0])

    def note(self, id: str, **changes: Any) -> None:
        """Change a row, and tell nobody: for what nobody waits for, such as a sign of life.

        Raises ``NotFound`` if there is no such row.
        """
        if not self._session.alter(*self._alteration({"id": id}, changes), is_told=False):
            raise self._missing(id)

    def set_each(self, name: str, values: Mapping[str, Any]) -> None:
        """Give the field ``name`` of each row its own value, by id.

        Rows that are gone are left out.
        """
        if not values:
            return
        self._session.hints |= work_hints.of_change(self._table.name, [name])
        self._session.change_each(self._table.c[name], self._conditions({}), values)

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
        since: float | None = None,
        **equals: Any,
    ) -> builtins.list[R]:
        """Rows with these values in order of id, at most ``limit`` (``None``: all), beyond the id
        ``after``, created after ``since``.

        ``skip``: how many to leave out first; it reads them, so ``after`` is the way through long
        lists.
        """
        shape = self._shape(
            equals,
            is_limited=limit is not None,
            skips=skip > 0,
            is_after=after is not None,
            newest_first=newest_first,
            is_newer=since is not None,
        )
        others = {MOST: limit, SKIPPED: skip or None, AFTER: after, SINCE: since}
        rows = self._all(shape, equals, **others)
        return [self._record(*row) for row in rows]

    def pick(self, *names: str, **equals: Any) -> builtins.list[tuple[Any, ...]]:
        """These fields of all rows with these values, in order of id: much less to read than whole
        rows.
        """
        shape = self._shape(equals, columns=names)
        return list(map(tuple, self._all(shape, equals)))

    def column(self, name: str, **equals: Any) -> builtins.list[Any]:
        """This field of all rows with these values, in order of id."""
        return [value for (value,) in self.pick(name, **equals)]

    def newest_ids(self, most: int, equals: Mapping[str, Any]) -> builtins.list[str]:
        """The ids of the newest rows with these values, at most ``most``, newest first."""
        shape = self._shape(equals, columns=("id",), is_limited=True, newest_first=True)
        return [id for (id,) in self._all(shape, equals, **{MOST: most})]

    def _shape(self, equals: Mapping[str, Any], **others: Any) -> Shape:
        """Return what is asked for: rows with these values; ``others``: see ``Shape``."""
        is_owned = self._tenant is not None
        postgres = self._session.postgres
        return with_values(self._table, equals, is_owned=is_owned, postgres=postgres, **others)

    def _first(self, shape: Shape, equals: Mapping[str, Any]) -> Sequence[Any] | None:
        return next(iter(self._all(shape, equals)), None)

    def _all(
        self, shape: Shape, equals: Mapping[str, Any], **others: Any
    ) -> "builtins.list[Sequence[Any]]":
        if any(value in ([], ()) for value in equals.values()):
            return []  # no row is one of none: nobody has to be asked
        values = {**equals, **others, OWNER: self._tenant}
        return prepared(shape).run(self._session.connection, parameters(shape, values))

    def _alteration(
        self, equals: Mapping[str, Any], changes: Mapping[str, Any]
    ) -> tuple[Prepared, Mapping[str, Any]]:
        """What changes the rows with these values, and the values of its parameters."""
        shape = self._shape(equals)
        which = parameters(shape, {**equals, OWNER: self._tenant})
        return alteration(shape, tuple(changes)), {**which, **new_values(changes)}

    def _conditions(self, equals: dict[str, Any]) -> "builtins.list[sa.ColumnElement[bool]]":
        conditions = [self._equal(name, value) for name, value in equals.items()]
        if self._tenant is not None:
            conditions.append(self._table.c.tenant_id == self._tenant)
        return conditions

    def _equal(self, name: str, value: Any) -> "sa.ColumnElement[bool]":
        if name not in self._table.c:
            raise TypeError(f"The table {self._table.name} has no field {name!r}.")
        column = self._table.c[name]
        if isinstance(value, builtins.list | tuple):
            return column.in_(value)
        return column == value

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


class Of(Generic[R]):
    """A table of those that a transaction, or a tenant in it, sees: its rows, made when asked for.

    Most transactions look at three tables of forty.
    """

    __slots__ = ("_record", "_table")

    def __init__(self, table: sa.Table, record: type[R]):
        self._table = table
        self._record = record

    def __get__(self, seen: "_Seen", _owner: type) -> Rows[R]:
        return Rows(seen._session, self._table, self._record, seen._tenant)


class _Seen(Protocol):
    _session: Session
    _tenant: str | None  # None: all tenants'


class Tables:
    """All tables of what tenants own, seen by one tenant, or by all when ``tenant_id`` is ``None``."""

    __slots__ = ("_session", "_tenant")

    def __init__(self, session: Session, tenant_id: str | None):
        self._session = session
        self._tenant = tenant_id

    memberships = Of(tables.memberships, records.Membership)
    invitations = Of(tables.invitations, records.Invitation)
    api_keys = Of(tables.api_keys, records.ApiKey)
    idempotency = Of(tables.idempotency, records.IdempotencyKey)
    datasets = Of(tables.datasets, records.Dataset)
    versions = Of(tables.versions, records.DatasetVersion)
    applications = Of(tables.applications, records.Application)
    shares = Of(tables.shares, records.Share)
    goals = Of(tables.goals, records.Goal)
    suggestions = Of(tables.suggestions, records.Suggestion)
    subscriptions = Of(tables.subscriptions, records.Subscription)
    jobs = Of(tables.jobs, records.Job)
    candidates = Of(tables.candidates, records.Candidate)
    tasks = Of(tables.tasks, records.Task)
    attempts = Of(tables.attempts, records.Attempt)
    usage = Of(tables.usage, records.Usage)
    models = Of(tables.models, records.TrainedModel)
    promotions = Of(tables.promotions, records.Promotion)
    gates = Of(tables.gates, records.Gate)
    request_logs = Of(tables.request_logs, records.RequestLog)
    production_rows = Of(tables.production_rows, records.ProductionRow)
    feedback = Of(tables.feedback, records.Feedback)
    rollout_rules = Of(tables.rollout_rules, records.RolloutRule)
    rollouts = Of(tables.rollouts, records.Rollout)
    retention_rules = Of(tables.retention_rules, records.RetentionRule)
    retirements = Of(tables.retirements, records.Retirement)
    schedules = Of(tables.schedules, records.Schedule)
    retrievals = Of(tables.retrievals, records.Retrieval)
    decisions = Of(tables.decisions, records.Decision)
    reports = Of(tables.reports, records.Report)
    work_items = Of(tables.work_items, records.WorkItem)
    work_answers = Of(tables.work_answers, records.WorkAnswer)
    artefacts = Of(tables.artefacts, records.Artefact)
