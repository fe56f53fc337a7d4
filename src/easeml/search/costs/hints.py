"""What a module says of its device seconds, before any run."""

from collections.abc import Mapping
from typing import Any

from easeml.search.checks import require
from easeml.search.numbers import is_number

_LINEAR = {"base": 1.0, "per_cell": 1e-6}
_POWER = {"seconds": 1.0, "rows": 1.0, "columns": 1.0, "classes": 0.0}
ROWS, COLUMNS = 1000, 10  # the size to which ``seconds`` belongs
LEAST = 1e-3  # seconds


def hinted_cost(
    hints: Mapping[str, Any],
    rows: int,
    columns: int,
    classes: int = 0,
    shares: Mapping[str, float] | None = None,
) -> float:
    """Return the device seconds of a run on ``rows`` x ``columns`` cells, by a module's ``hints``.

    They are either ``base`` seconds and seconds ``per_cell``, or ``seconds`` at 1,000 rows x 10
    columns and two classes, with the exponents by which they grow with ``rows``, ``columns`` and
    ``classes``; none means the former's defaults. ``powers``: such exponents by parameter, whose
    values are given as ``shares`` of their defaults. Raises ``InvalidInput`` for an unknown hint,
    or a hint or size that is negative or not finite.
    """
    known = checked_hints(hints)
    require(
        min(rows, columns) >= 0,
        f"{rows} rows x {columns} columns is not a size.",
        where="cost",
    )
    configured = 1.0
    given = shares or {}
    for name, power in known.pop("powers").items():
        configured *= given.get(name, 1.0) ** power
    if "seconds" not in known:
        linear = known["base"] + known["per_cell"] * rows * columns
        return max(LEAST, configured * linear)

    growth = (max(1, rows) / ROWS) ** known["rows"]
    growth *= (max(1, columns) / COLUMNS) ** known["columns"]
    growth *= (max(2, classes) / 2) ** known["classes"]
    return max(LEAST, configured * known["seconds"] * growth)


def checked_hints(hints: Mapping[str, Any]) -> dict[str, Any]:
    """Return hints with what they leave out. Raises ``InvalidInput`` like ``hinted_cost``."""
    form = _POWER if "seconds" in hints else _LINEAR
    numbers = dict(hints)
    powers = numbers.pop("powers", {})
    _check_powers(powers)
    for name, value in numbers.items():
        require(
            name in form,
            f"The cost hint {name!r} has no place here.",
            where="cost",
            remedy=f"Use {[*form, 'powers']}.",
        )
        require(
            is_number(value) and value >= 0,
            f"{value!r} is not a number of at least 0.",
            where=f"cost.{name}",
        )
    return {**form, **numbers, "powers": dict(powers)}


def _check_powers(powers: Any) -> None:
    require(
        isinstance(powers, Mapping),
        "cost.powers is not a table of exponents.",
        where="cost",
    )
    for name, power in powers.items():
        require(is_number(power), f"{power!r} is not a number.", where=f"cost.powers.{name}")
