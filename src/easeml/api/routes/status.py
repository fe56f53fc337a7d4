"""The service in a few numbers, and whether it is well."""

from fastapi import APIRouter, Response

from easeml.api.context import Asker, Here
from easeml.contract.resources import Health, Status
from easeml.service.administration import status

router = APIRouter(tags=["status"])
health = APIRouter(tags=["status"])


@router.get("/status")
def get_status(here: Here, asker: Asker) -> Status:
    """Show the running processes and the counts of the caller's tenant."""
    return status.get(here.store, asker)


@health.get("/healthz", responses={503: {"model": Health}})
def get_health(here: Here, response: Response) -> Health:
    """Tell whether the service can keep what it is told (503 where not, and why); needs no key."""
    found = here.health.ask()
    if found.problems:
        response.status_code = 503
    return found
