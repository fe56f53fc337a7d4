"""What tenants use of what they may: this month's device seconds, stored bytes, what is under way."""

from calendar import monthrange
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any

from easeml.store import Transaction, day_of
from easeml.store.shapes import TenantLimits


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A quota that is used up, in a sentence. ``until``: when it is there again by itself."""

    text: str
    until: float | None = None


def exhausted(tx: Transaction, limits: Mapping[str, TenantLimits]) -> dict[str, Exhausted]:
    """Return the tenants for which nothing more is computed, by id, and why.

    ``limits``: what each may use. At most two statements for any number of tenants.
    """
    return {**_out_of_storage(tx, limits), **_out_of_time(tx, limits)}


def _out_of_storage(tx: Transaction, limits: Mapping[str, TenantLimits]) -> dict[str, Exhausted]:
    most = {id: own.storage for id, own in limits.items() if own.storage is not None}
    kept = stored(tx, most)
    return {id: Exhausted(full(kept[id], most[id])) for id in _used_up(kept, most)}


def _out_of_time(tx: Transaction, limits: Mapping[str, TenantLimits]) -> dict[str, Exhausted]:
    most = {id: own.month_seconds for id, own in limits.items() if own.month_seconds is not None}
    spent = month_seconds(tx, most)
    return {id: _month_is_over(tx.now(), spent[id], most[id]) for id in _used_up(spent, most)}


def _used_up(amounts: Counter[str], most: Mapping[str, float]) -> list[str]:
    return [id for id, limit in most.items() if amounts[id] >= limit]


def month_seconds(tx: Transaction, tenant_ids: Collection[str]) -> Counter[str]:
    """Return the device seconds that tenants have used in this calendar month (UTC), by id."""
    rows = tx.unscoped().usage
    days = days_of_month(tx.now())
    return totals(rows.pick("tenant_id", "seconds", tenant_id=[*tenant_ids], day=days))


def stored(tx: Transaction, tenant_ids: Collection[str]) -> Counter[str]:
    """Return the bytes that tenants store, by id."""
    return tx.unscoped().artefacts.sum_by("size", "tenant_id", tenant_id=[*tenant_ids])


def full(used: int, most: int) -> str:
    """Return the sentence for storage that is used up; both in bytes."""
    return f"Your data and models take {used:,} of the {most:,} bytes that you may store."


def days_of_month(now: float) -> list[str]:
    """Return the days (UTC, ISO) of the month of a moment, the first to the last."""
    today = datetime.fromtimestamp(now, UTC).date()
    last = monthrange(today.year, today.month)[1]
    return _days(today.replace(day=1), last)


def days_until(now: float, count: int) -> list[str]:
    """Return the last ``count`` days (UTC, ISO) up to the one of a moment, oldest first."""
    today = date.fromisoformat(day_of(now))
    return _days(today - timedelta(days=count - 1), count)


def _days(first: date, count: int) -> list[str]:
    return [(first + timedelta(days=later)).isoformat() for later in range(count)]


def next_month(now: float) -> float:
    """Return when the month after that of a moment begins (UTC); both in seconds of the epoch."""
    last = date.fromisoformat(days_of_month(now)[-1])
    first = last + timedelta(days=1)
    return datetime(first.year, first.month, first.day, tzinfo=UTC).timestamp()


def totals(pairs: Iterable[tuple[Any, ...]]) -> Counter[str]:
    """Return the sum of the amounts of each tenant, given as pairs of an id and an amount."""
    found: Counter[str] = Counter()
    for id, amount in pairs:
        found[id] += amount
    return found


def counted(amount: float, noun: str) -> str:
    """Return an amount with what it is of, such as ``1 upload`` or ``1,000,000 seconds``."""
    ending = "s" * (amount != 1)
    return f"{amount:,.12g} {noun}{ending}"


def _month_is_over(now: float, seconds: float, most: float) -> Exhausted:
    until = next_month(now)
    day = datetime.fromtimestamp(until, UTC)
    quota = counted(most, "device second")
    text = (
        f"The month's quota of {quota} is used up ({seconds:.0f} s). "
        f"It is there again on {day.day} {day:%B} (UTC)."
    )
    return Exhausted(text, until)
