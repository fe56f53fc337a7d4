"""Gates: what has to be proven of a model before it may serve an application."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.models import gates

_PATH = "/applications/{application_id}/gates"

OPERATIONS = (
    Operation("gates", "GET", _PATH, gates.list_gates),
    Operation("set_gate", "POST", _PATH, gates.set_gate, whole=True),
    Operation("remove_gate", "POST", f"{_PATH}/remove", gates.remove_gate),
)

router = APIRouter(tags=["applications"])
add_routes(router, OPERATIONS)
