"""Gates: what has to be proven of a model before it may serve an application."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.models import gates
from easeml.service.work import worn_out

_PATH = "/applications/{application_id}/gates"

OPERATIONS = (
    Operation("gates", "GET", _PATH, gates.list_gates),
    Operation("set_gate", "POST", _PATH, gates.set_gate, whole=True),
    Operation("remove_gate", "POST", f"{_PATH}/remove", gates.remove_gate),
    Operation("retire_test_rows", "POST", f"{_PATH}/retire", worn_out.retire_test_rows, whole=True),
)

router = APIRouter(tags=["applications"])
add_routes(router, OPERATIONS)
