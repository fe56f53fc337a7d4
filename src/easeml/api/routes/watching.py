"""Watching: is what serves still right about what production sees?"""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.models import watched_labels, watching

_PATH = "/applications/{application_id}/watch"

OPERATIONS = (
    Operation("watch_report", "GET", _PATH, watching.report),
    Operation("look_at_production", "POST", _PATH, watching.look, repeatable=False),
    Operation(
        "ask_for_watching",
        "POST",
        f"{_PATH}/labels",
        watched_labels.ask,
        repeatable=False,
        whole=True,
    ),
)

router = APIRouter(tags=["applications"])
add_routes(router, OPERATIONS)
