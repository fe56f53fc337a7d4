"""Answers that say which columns moved them (``easeml.modules.explaining``)."""

from typing import TYPE_CHECKING, Any

from easeml.data import Rows
from easeml.errors import InvalidInput
from easeml.modules import Predictions, explaining

if TYPE_CHECKING:
    from easeml.modules.ensemble import TrainedEnsemble
    from easeml.modules.pipeline import TrainedPipeline

MOST_ROWS = 20  # explained by one request: each takes as long as thousands of predictions


def check(rows: Rows) -> None:
    """Raise ``InvalidInput`` where a request has too many rows to explain."""
    if len(rows.table) > MOST_ROWS:
        raise InvalidInput(
            f"At most {MOST_ROWS} rows are explained at a time; these are {len(rows.table):,}.",
            remedy="Send fewer, or do not ask for attributions.",
        )


def why_not(rows: Rows, predicted: Predictions) -> str:
    """Return why predictions are not explained, in a sentence; empty where they are."""
    return explaining.why_not(len(rows.table.columns), predicted)


def attributions(
    trained: "TrainedPipeline | TrainedEnsemble", rows: Rows, predicted: Predictions
) -> list[dict[str, Any]]:
    """Return for each row what each column added to its prediction, as JSON values."""
    return explaining.attributions(trained, rows.frame, predicted)
