"""What a module says of its device seconds, before any run."""

import math
from collections.abc import Mapping

from easeml.errors import InvalidInput

_LINEAR = {"base": 1.0, "per_cell": 1e-6}
_POWER = {"seconds": 1.0, "rows": 1.0, "columns": 1.0}
ROWS, COLUMNS = 1000, 10  # the size to which ``seconds`` belongs
LEAST = 1e-3  # seconds


def hinted_cost(hints: Mapping[str, float], rows: int, columns: int) -> float:
    """Return the device seconds of a run on ``rows`` x ``columns`` cells, by a module's ``hints``.

    They are either ``base`` seconds and seconds ``per_cell``, or ``seconds`` at 1,000 rows x 10
    columns with the exponents by which they grow with ``rows`` and ``columns``; none means the
    former's defaults. Raises ``InvalidInput`` for an unknown hint, or a hint or size that is
    negative or not finite.
    """
    known = _checked(hints)
    if rows < 0 or columns < 0:
        raise InvalidInput(
            f"{rows} rows x {columns} columns is no size.",
            where="cost",
        )
    if "seconds" in known:
        growth = (max(1, rows) / ROWS) ** known["rows"] * (max(1, columns) / COLUMNS) ** known[
            "columns"
        ]
        return max(LEAST, known["seconds"] * growth)
    return max(LEAST, known["base"] + known["per_cell"] * rows * columns)


def _checked(hints: Mapping[str, float]) -> dict[str, float]:
    form = _POWER if "seconds" in hints else _LINEAR
    for name, value in hints.items():
        if name not in form:
            raise InvalidInput(
                f"The cost hint {name!r} has no place here.",
                where="cost",
                remedy=f"Use {list(form)}.",
            )
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not 0 <= value < math.inf
        ):
            raise InvalidInput(
                f"{value!r} is not a number of at least 0.",
                where=f"cost.{name}",
            )
    return {**form, **hints}
