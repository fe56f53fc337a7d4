"""The service in a few numbers, and whether it is well."""

from fastapi import APIRouter, Response

from easeml.api.context import Asker, Here
from easeml.api.metrics import MEDIA_TYPE, render
from easeml.api.operations import Operation, add_routes
from easeml.contract.status import Health, Readiness
from easeml.engine.membership import this_host
from easeml.service.administration import metrics, readiness, status

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


@health.get("/livez")
async def get_liveness() -> Health:  # needs no thread, of which all may be busy
    """Tell that the controller answers, whatever else is wrong; needs no key."""
    return Health(status="ok")


@health.get("/readyz", responses={503: {"model": Readiness}})
def get_readiness(here: Here, response: Response) -> Readiness:
    """Tell whether storage, scheduler, workers and predictor are there (503 where one is not);
    needs no key.
    """
    silence = here.settings.lease_seconds
    found = readiness.ask(here.store, here.health.ask(), silence, this_host())
    if not found.ready:
        response.status_code = 503
    return found


@health.get("/metrics", response_class=Response)
def get_metrics(here: Here, asker: Asker) -> Response:
    """Give the service in numbers, in the text form of Prometheus (providers only)."""
    families = metrics.read(here.store, asker, here.settings.lease_seconds)
    return Response(render(families, here.requests), media_type=MEDIA_TYPE)
