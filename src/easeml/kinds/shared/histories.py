"""The history of a forecast: all rows of a version whose values are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from easeml.contract.tasks import Pipeline
    from easeml.data import VersionTables


def history_of(version: VersionTables, pipelines: Sequence[Pipeline]) -> pd.DataFrame | None:
    """Return times, series and known values of all rows; None where no pipeline forecasts.

    Values of test rows are among them: a forecast of a row may know what came before its origin,
    and learns from training rows alone.
    """
    rules = [one.forecast for one in pipelines if one.forecast is not None]
    if not rules:
        return None
    known: Any = known_rows(version)
    rule = rules[0]
    return known[[rule.time, *rule.series, *rule.past_only, version.target]]


def known_rows(version: VersionTables) -> pd.DataFrame:
    """Return the rows of a version whose values are known, as they came.

    Of two values of one time the last counts: a row that came later corrects an earlier one,
    whatever it is used for.
    """
    import pandas as pd

    rows: Any = pd.concat([version.train, version.validation, version.test], ignore_index=True)
    return rows.sort_values("_row", ignore_index=True)
