"""What the models of an application are judged by."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.applications import changing_objective

_PATH = "/applications/{application_id}/objective"

OPERATIONS = (
    Operation("objective", "GET", _PATH, changing_objective.get),
    Operation("change_objective", "PUT", _PATH, changing_objective.change, whole=True),
)

router = APIRouter(tags=["applications"])
add_routes(router, OPERATIONS)
