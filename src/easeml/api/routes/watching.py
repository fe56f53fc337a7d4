"""Watching: is what serves still right about what production sees?"""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.models import watching

_PATH = "/applications/{application_id}/watch"

OPERATIONS = (
    Operation("watch_report", "GET", _PATH, watching.report),
    Operation("look_at_production", "POST", _PATH, watching.look, repeatable=False),
)

router = APIRouter(tags=["applications"])
add_routes(router, OPERATIONS)
