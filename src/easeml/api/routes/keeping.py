"""Applications over the years."""

from fastapi import APIRouter

from easeml.api.operations import Operation, add_routes
from easeml.service.applications import keeping

_HERE = "/applications/{application_id}"

OPERATIONS = (Operation("rename_application", "POST", f"{_HERE}/rename", keeping.rename),)

router = APIRouter(tags=["applications"])
add_routes(router, OPERATIONS)
