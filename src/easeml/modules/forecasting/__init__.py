"""Forecasts: what a model of a series is told of the past, in training and when it serves."""

from easeml.modules.forecasting.next_rows import last_rows, next_rows
from easeml.modules.forecasting.past import Past, Seen
from easeml.modules.forecasting.past_files import load, save
from easeml.modules.forecasting.rule import Rule
from easeml.modules.forecasting.seen_columns import of_own_columns, schema_with, with_seen

__all__ = [
    "Past",
    "Rule",
    "Seen",
    "last_rows",
    "load",
    "next_rows",
    "of_own_columns",
    "save",
    "schema_with",
    "with_seen",
]
