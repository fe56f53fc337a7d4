"""What still names a value of erased rows in the database, and why it stays."""

from collections.abc import Iterable

from easeml.contract.erasures import Remaining
from easeml.store import Transaction

_LEAST_OF_NUMBERS = 6  # digits; shorter ones stand everywhere, also as whole values
_NAMED = "People gave this name. An application can be renamed."
_AUDIT = "The audit and the news keep it until they go by themselves (keep_event_days)."
_WRITTEN = "Somebody wrote it there, and what people write is not changed."
_REPEATED = "A repeated request gets this answer; it goes after a day."
_OTHER_DATA = "It stands in what is shown of another data set: erase the rows there as well."
_WHY = {
    "versions.columns": _OTHER_DATA,
    "tasks.result": _OTHER_DATA,
    "datasets.name": _NAMED,
    "applications.name": _NAMED,
    "events.data": _AUDIT,
    "idempotency.response": _REPEATED,
}


def telling(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values that can be searched for: others, such as ``7``, mean nothing alone."""
    stripped = {value.strip() for value in values}
    return tuple(sorted(filter(_is_telling, stripped)))


def has_short_number(values: Iterable[str]) -> bool:
    """Return whether there is a value among these that can not be searched for."""
    stripped = filter(None, map(str.strip, values))
    return not all(map(_is_telling, stripped))


def remains(tx: Transaction, tenant_id: str, values: tuple[str, ...]) -> list[Remaining]:
    """Return where a tenant's rows of the database still have any of these values."""
    found = []
    for table, column, rows in tx.mentions(tenant_id, values):
        place = f"{table}.{column}"
        found.append(Remaining(place=place, rows=rows, why=_WHY.get(place, _WRITTEN)))
    return found


def _is_telling(value: str) -> bool:
    return any(map(str.isalpha, value)) or len(value) >= _LEAST_OF_NUMBERS
