"""The service in a few numbers, and whether it is well."""

from fastapi import APIRouter, Response

from easeml.api.context import Here
from easeml.api.operations import Operation, add_routes
from easeml.contract.status import Health
from easeml.service.administration import status

OPERATIONS = (Operation("status", "GET", "/status", status.get),)

router = APIRouter(tags=["status"])
add_routes(router, OPERATIONS)
health = APIRouter(tags=["status"])


@health.get("/healthz", responses={503: {"model": Health}})
def get_health(here: Here, response: Response) -> Health:
    """Tell whether the service can keep what it is told (503 where not, and why); needs no key."""
    found = here.health.ask()
    if found.problems:
        response.status_code = 503
    return found
