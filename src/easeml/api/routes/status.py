"""The service in a few numbers, and whether it is well."""

from fastapi import APIRouter

from easeml.api.context import Asker, Here
from easeml.contract.resources import Status
from easeml.service import status

router = APIRouter(tags=["status"])
health = APIRouter(tags=["status"])


@router.get("/status")
def get_status(here: Here, asker: Asker) -> Status:
    """Show the running processes and the counts of the caller's tenant."""
    return status.get(here.store, asker)


@health.get("/healthz")
def get_health(here: Here) -> dict[str, str]:
    """Answer when the controller reaches its database; needs no key."""
    with here.store.read() as tx:
        tx.now()
    return {"status": "ok"}
