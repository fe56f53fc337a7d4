"""How often a predicted number was right, once its truth came: up to the error that watching allows."""

from typing import Any

from easeml.contract.production import Feedback
from easeml.ids import new_id
from easeml.service.access.caller import Caller
from easeml.service.models import watching
from easeml.service.production import feedback
from easeml.store import Store
from easeml.store.records import ProductionRow, Report

from .test_story import searching, train

TOLERANCE = {"name": "tolerance", "title": "Error up to which a number is right", "value": 5.0}
COUNTED = [
    {"name": "quality", "title": "Quality on the newer rows", "value": 0.9},
    {"name": "reference", "title": "Quality on the reference rows", "value": 0.9},
    {"name": "rows", "title": "Newer rows", "value": 4.0},
]


def test_numbers_are_right_up_to_what_watching_allows(store: Store, ann: Caller) -> None:
    app = searching(store, ann)
    train(store, app, 0, 0.8)
    with store.write() as tx:
        tables = tx.scoped(ann.tenant_id)
        live = tables.applications.get(app.id).live_model_id
        for number in range(4):
            answer = {"prediction": 10.0, "probabilities": None}
            id, request = f"req_1.{number:06}", "req_1"
            row = ProductionRow(id, ann.tenant_id, app.id, request, number, "", live, {}, answer)
            tables.production_rows.add(row)
    truths = [12.0, 15.0, 15.1, 40.0]
    said = [{"request_id": "req_1", "row": row, "value": one} for row, one in enumerate(truths)]
    feedback.give(store, ann, app.id, Feedback.model_validate(said))
    assert watching.report(store, ann, app.id).labelled is None  # nobody has looked

    look(store, ann, app.id, live)
    found = watching.report(store, ann, app.id)
    assert found.tolerance == 5.0
    assert found.labelled is not None
    assert (found.labelled.rows, found.labelled.quality) == (4, 0.5)


def look(store: Store, ann: Caller, application_id: str, model_id: str) -> None:
    """Keep what a look at production said."""
    told: dict[str, Any] = {
        "advice": "As before.",
        "verdict": "ok",
        "numbers": [*COUNTED, TOLERANCE],
    }
    told["tables"] = [{"title": "Drift", "columns": [], "rows": []}]
    with store.write() as tx:
        tables = tx.scoped(ann.tenant_id)
        version_id = tables.applications.get(application_id).version_id
        value = {"answer": told, "model_id": model_id}
        tables.reports.add(
            Report(new_id("rep"), ann.tenant_id, "monitor", application_id, version_id, value)
        )
